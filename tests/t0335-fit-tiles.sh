#!/bin/bash
# gcg-mc fit on ratings that the passes put into tiles (store/tiles.h): many users and items, not too few ratings each.
# shellcheck disable=SC1091,SC2317 # lib.sh stands beside; functions are called by name
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

"$GCG" synth --quiet --users 34000 --items 36000 --ratings 700000 -o tr.csv && "$GCG" convert --quiet -o tr.gcs tr.csv || exit
iterations=3
fit() { # NAME OPTION...
    "$GCG" fit --quiet --center both --lambda-ratio 0.6 --gap 0.01 --max-iter $iterations --log "$1.log" -o "$1" "${@:2}"
}
limited() { # rank or iterations may keep it from its gap
    local status=0
    fit "$@" || status=$?
    [ $status = 0 ] || [ $status = 3 ]
}
value() { awk -F '\t' -v name="$2" '/^#/ { next } !n { for (i = 1; i <= NF; i++) if ($i == name) n = i; next } { v = $n } END { print v }' "$1.log"; }

ok "ratings in tiles are fitted" limited one --threads 1 tr.csv
threads() { limited three --threads 3 tr.csv && cmp one three; }
ok "to the same bytes on three threads" threads
case $("$GCG" --version) in *sanitize*) done_testing; exit ;; esac # these take minutes there
store() { limited store --threads 2 tr.gcs && cmp one store; }
ok "and from a store" store

# What is read from the disk in every pass stays in rows: another order of the same sums.
iterations=20 most=76M
on_disk() { # OPTION...
    limited tiles "$@" tr.gcs && limited rows "$@" --max-memory "$most" tr.gcs && grep -q '^# memory_plan.*mapped' rows.log || return
    awk -v a="$(value tiles objective)" -v b="$(value rows objective)" -v c="$(value tiles dual)" -v d="$(value rows dual)" 'BEGIN {
        print a, b, c, d
        exit !(a > 0 && (a - b) ^ 2 <= 1e-8 * a * a && c <= b * (1 + 1e-9) && d <= a * (1 + 1e-9) && c > 0.9 * b) }'
}
ok "a store that stays on disk, in rows, gives the same objective and bound" on_disk --rank 8
ok "so it does in a weighted norm" on_disk --rank 8 --norm-weights 0.5
most=79M # an array or two more
ok "and with biases of users" on_disk --rank 8 --user-bias 2
done_testing
