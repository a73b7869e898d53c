#!/bin/bash
# fit --init MODEL: the same optimum as from 0, sooner; users and items that come and go; models that are none.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

fit() { "$GCG" fit "$@" >log 2>err; }
near() { awk -v x="$1" -v y="$2" -v tol="$3" 'BEGIN { d = x - y; if (d < 0) d = -d; exit !(x == x && d <= tol * y) }'; }
says() { grep -Eq -- "$1" err; }

# 60 x 40, half of it observed: rank 3 and noise, the same on every machine. Users are named u7, items 7.
awk 'BEGIN { s = 1; for (i = 1; i <= 60; i++) for (j = 1; j <= 40; j++) {
    s = (s * 16807) % 2147483647; if (s % 2) { s = (s * 16807) % 2147483647
    printf "u%d\t%d\t%.2f\n", i, j, 3 + (i % 5 - 2) * (j % 3 - 1) / 2 + (i % 3 - 1) * (j % 7 - 3) / 4 + (s % 100) / 50 } } }' >all.tsv
awk -F '\t' '{ n = substr($1, 2) + 0 } n <= 57 && $2 <= 39' all.tsv >before.tsv  # users 58 to 60 and item 40 come,
awk -F '\t' '{ n = substr($1, 2) + 0 } n > 3 && $2 > 1' all.tsv >after.tsv      # users 1 to 3 and item 1 go

# ---- the same optimum, sooner ----
same_optimum() { # TRAIN INIT OPTION...: from INIT within the gap of the optimum from 0; passes are left in $cold, $warm
    local gap=1e-7
    fit --lambda 6 --gap $gap -o cold "${@:3}" "$1" || return 1
    cold=$(last passes)
    cp log cold.log
    fit --lambda 6 --gap $gap --init "$2" -o warm "${@:3}" "$1" || { cat err; return 1; }
    near "$(last objective)" "$(last objective cold.log)" $gap || return 1
    warm=$(last passes)
    awk -v g="$(last gap)" 'BEGIN { exit !(g <= 1e-7) }'
}
sooner() { echo "passes: $cold from 0, $warm from the model" && test "$warm" -lt "$cold"; }
"$GCG" fit --quiet --lambda 6.5 --gap 1e-7 -o near all.tsv >/dev/null
"$GCG" fit --quiet --lambda 6 --gap 1e-7 -o old before.tsv >/dev/null
ok "from the model of a lambda nearby" same_optimum all.tsv near
ok "in fewer passes" sooner
ok "it says how much starts from the model" says 'note: --init near: 60 of 60 users and 40 of 40 items start from it'
ok "row 0 of the log is that start, not W = 0" bash -c '! grep -v "^#" log | sed -n 2p | cut -f 7 | grep -qx 0'
ok "from the model of fewer users and items" same_optimum all.tsv old
ok "in fewer passes" sooner
ok "it counts the users and items that are known" says 'note: --init old: 57 of 60 users and 39 of 40 items'
ok "from the model of other users and items" same_optimum after.tsv old
ok "it counts them, too" says 'note: --init old: 54 of 57 users and 38 of 39 items'
ok "with another centring" same_optimum all.tsv near --center both
ok "a note says that the centring differs" says 'note: --init near was fitted with --center none'
ok "from a model of float factors" bash -c '"$GCG" fit --quiet --precision float --lambda 7 -o single all.tsv >/dev/null'
ok "and on" same_optimum all.tsv single
sort -r all.tsv >turned.tsv
ok "the same bytes for any order of lines and number of threads" bash -c '
    "$GCG" fit --quiet --threads 1 --lambda 6 --gap 1e-5 --init old -o w1 all.tsv >/dev/null &&
    "$GCG" fit --quiet --threads 2 --lambda 6 --gap 1e-5 --init old -o w2 turned.tsv >/dev/null && cmp w1 w2'
ok "the model may be renewed in its place" bash -c 'cp old here && "$GCG" fit --quiet --lambda 6 --gap 1e-5 --init here -o here all.tsv >/dev/null && cmp here w1'
ok "nothing in common: it starts at 0, with a warning" bash -c '
    sed "s/^u/x/" before.tsv >foreign.tsv && "$GCG" fit --quiet --lambda 6 -o foreign foreign.tsv >/dev/null &&
    "$GCG" fit --lambda 6 --init foreign -o w all.tsv >/dev/null 2>err && grep -q "warning: --init foreign: none of its users" err'
ok "a hold-out takes the rows of users it leaves no ratings" bash -c '
    printf "u1\t1\t3\nu2\t1\t4\nu2\t2\t1\nu3\t2\t2\n" >few.tsv && printf "u1 1\n" >pair && "$GCG" fit --quiet --lambda 0.5 -o few few.tsv >/dev/null &&
    "$GCG" fit --quiet --gap 1e-8 --lambda 0.5 --test-pairs pair -o c few.tsv >c.log &&
    "$GCG" fit --quiet --gap 1e-8 --lambda 0.5 --test-pairs pair --init few -o w few.tsv >w.log'
ok "to the same optimum" near "$(last objective w.log)" "$(last objective c.log)" 1e-7
ok "a rank limit cuts the start" bash -c '"$GCG" fit --quiet --lambda 6 --rank 2 --init near -o w all.tsv >log 2>/dev/null; test $? = 3'
ok "to that rank" test "$(last rank)" = 2

# ---- going on from a checkpoint ----
cut_start() { "$GCG" fit --quiet --lambda 6 --gap 1e-9 --init old --max-iter 1 --log r.log -o r all.tsv 2>err; }
goes_on() { # without --init: where it started from is in the state
    "$GCG" fit --quiet --lambda 6 --gap 1e-9 --init old --log u.log -o u all.tsv || return 1
    [ "$(last iter u.log)" -gt 2 ] || { echo "only $(last iter u.log) iterations"; return 1; }
    cp r.ckpt kept.ckpt && "$GCG" fit --quiet --resume kept.ckpt --max-iter 500 --log r.log -o r all.tsv && cmp r u &&
        diff <(grep -v '^#' r.log | cut -f 1,3-) <(grep -v '^#' u.log | cut -f 1,3-)
}
exits 3 "a fit with --init that is cut" cut_start
ok "goes on to the bytes of the fit that was not" goes_on
exits 2 "and takes no other start" fit --resume kept.ckpt --init near -o w all.tsv
ok "which it says" says '--init and --resume: give one of them'

# ---- what is refused ----
head -c 300 near >short
exits 4 "a model that was cut is refused" fit --lambda 6 --init short -o w all.tsv
ok "by its name" says '^gcg-mc: short: error: '
exits 4 "ratings are no model" fit --lambda 6 --init all.tsv -o w all.tsv
exits 5 "a model that is not there" fit --lambda 6 --init nowhere -o w all.tsv
exits 2 "a model on standard input" fit --lambda 6 --init - -o w all.tsv
exits 2 "a comparator starts on its own" fit --lambda 6 --rank 3 --solver als-cg --init near -o w all.tsv
ok "a message says so" says '--init belongs to --solver gcg'
exits 2 "the log may not overwrite the model" fit --lambda 6 --init near --log near -o w all.tsv
ok "which is still there" "$GCG" eval near all.tsv

done_testing
