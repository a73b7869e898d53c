#!/bin/bash
# fit --norm-weights and --norm-smooth: what is accepted, what the outputs say, what may not change a byte. The
# mathematics is in check_weighted_norm.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

fit() { "$GCG" fit "$@" >log 2>err; }
near() { awk -v x="$1" -v y="$2" -v tol="${3:-1e-9}" 'BEGIN { d = x - y; if (d < 0) d = -d; exit !(x == x && d <= tol * (y < 0 ? -y : y)) }'; }
refuses() { # PATTERN OPTION...
    fit "${@:2}" -o m data.tsv && return 1
    [ $? = 2 ] && grep -Eq -- "$1" err && [ "$(wc -l <err)" = 1 ]
}
json() { unzip -p m model.json | sed -n "s/^ *\"$1\": \(.*[^,]\),\{0,1\}\$/\1/p"; }

# Users and items with 1 to 40 ratings: rank 2 and some noise, the same on every machine; a test set beside it.
awk 'BEGIN { s = 1; for (i = 1; i <= 60; i++) for (j = 1; j <= 40; j++) {
    s = (s * 16807) % 2147483647; if (s % 1000 * (1 + i * j / 60) > 900 && j != i % 40 + 1) continue
    s = (s * 16807) % 2147483647
    v = sprintf("%d\t%d\t%.2f", i, j, 3 + (i % 5 - 2) * (j % 3 - 1) / 2 + (i % 3 - 1) * (j % 7 - 3) / 4 + (s % 100) / 200)
    if (s % 9 == 0) print v >"test.tsv"; else print v >"data.tsv" } }'
sort -r data.tsv >reversed.tsv
"$GCG" convert data.tsv -o data.gcs 2>/dev/null

# ---- what is refused ----
for bad in 2 -0.1 some 0.5x '0.5,' ',0.5' '0.5,0.5,0.5' nan ''; do
    ok "--norm-weights '$bad' is refused" refuses 'norm-weights' --lambda 1 --norm-weights "$bad"
done
for bad in 1.5 -1 much; do
    ok "--norm-smooth $bad is refused" refuses 'norm-smooth' --lambda 1 --norm-weights 1 --norm-smooth "$bad"
done
ok "--norm-smooth needs weights to smooth" refuses 'norm-smooth 0.5 changes nothing' --lambda 1 --norm-smooth 0.5
for solver in als-cg soft-impute; do
    ok "--solver $solver has no weighted norm" refuses "norm-weights belongs to --solver gcg" --lambda 1 --rank 3 --norm-weights 0.5 --solver $solver
done
ok "but takes --norm-weights none" fit --lambda 1 --rank 3 --norm-weights none --solver als-cg -o m data.tsv

# ---- what it means ----
solve() { fit --lambda 2 --gap 1e-9 --test test.tsv "${@:2}" -o "$1" data.tsv; }
ok "without weights" solve plain
ok "none" solve none --norm-weights none
ok "is the default, to the byte" cmp plain none
ok "and so is 0, whatever is smoothed" solve zero --norm-weights 0
ok "to the byte" cmp plain zero
ok "counts" solve counts --norm-weights counts
ok "is 1" solve one --norm-weights 1
ok "to the byte" cmp counts one
ok "and 1 for either side" solve pair --norm-weights 1,1
ok "to the byte" cmp counts pair
not_ok_if "but another problem than the plain one" cmp plain counts
ok "smoothing" solve smooth --norm-weights 1 --norm-smooth 0.2
not_ok_if "is another one still" cmp smooth counts

ok "one exponent for each side" solve m --norm-weights 0.25,0.75 --norm-smooth 0.125
ok "the log has them" test "$(meta norm_exponent_user) $(meta norm_exponent_item) $(meta norm_smooth)" = "0.25 0.75 0.125"
ok "and the model" test "$(json norm_exponent_user) $(json norm_exponent_item) $(json norm_smooth)" = "0.25 0.75 0.125"
objective=$(last objective)
ok "the objective is the loss and lambda times nuc_norm" near "$(awk -v n="$(meta ratings)" -v r="$(last train_rmse)" -v t="$(last nuc_norm)" 'BEGIN { printf "%.17g", n * r * r / 2 + 2 * t }')" "$objective"
"$GCG" eval m test.tsv 2>/dev/null >scores
ok "the test RMSE of the log is that of eval, to the last digit" test "$(awk '$1 == "all" { print $3 }' scores)" = "$(last test_rmse)"
ok "a coarse run" fit --lambda 2 --gap 1e-2 --norm-weights 0.25,0.75 --norm-smooth 0.125 -o coarse data.tsv
ok "encloses the optimum" awk -v f="$objective" -v lo="$(last dual)" -v hi="$(last objective)" 'BEGIN { exit !(lo <= f && f <= hi) }'

# ---- lambda_max ----
fit --lambda-ratio 0.5 --norm-weights 1 -o m data.tsv
top=$(meta lambda_max)
ok "--lambda-ratio is of the weighted lambda_max" near "$(meta lambda)" "$(awk -v t="$top" 'BEGIN { printf "%.17g", t / 2 }')"
ok "at which the zero matrix is the optimum" fit --lambda "$top" --norm-weights 1 -o m data.tsv
ok "and a warning says so" grep -q 'the optimum is the zero matrix' err
ok "just below it is not" fit --lambda "$(awk -v t="$top" 'BEGIN { printf "%.17g", 0.95 * t }')" --gap 1e-6 --norm-weights 1 -o m data.tsv
ok "and the rank is more than 0" test "$(last rank)" -gt 0
fit --lambda 1 -o m data.tsv
ok "check --lambda-max is that of the plain norm" test "$("$GCG" check --lambda-max data.tsv 2>/dev/null | awk '$1 == "lambda_max" { print $2 }')" = "$(meta lambda_max)"

# ---- same bytes ----
weighted() { "$GCG" fit --quiet --log none --lambda 2 --norm-weights 0.8 --norm-smooth 0.1 "${@:2}" -o "$1"; }
same_bytes weighted
ok "from the binary store" weighted m2 data.gcs
ok "the same bytes" cmp m1 m2
for options in "--center both" "--precision float" "--certify" "--plain --max-iter 1000 --gap 0.01" "--seed 5"; do
    # shellcheck disable=SC2086 # the words are options
    ok "it works with $options" weighted m2 $options data.tsv
done

# ---- --keep best ----
fit --lambda 0.5 --gap 1e-8 --norm-weights 1 --valid test.tsv --keep best -o m data.tsv
"$GCG" eval m test.tsv 2>/dev/null >scores
ok "the best iterate is written with the factors of W" test "$(awk '$1 == "all" { print $3 }' scores)" = "$(best_valid)"
done_testing
