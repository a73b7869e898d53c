#!/bin/bash
# fit --solver: the comparators on the command line. Their mathematics is tested in check_als_cg and check_soft_impute.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

fit() { "$GCG" fit "$@" >log 2>err; }
member() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1"; }
says() { grep -Eq -- "$1" err || { cat err; return 1; }; }
refused() { # WORDS-OF-THE-MESSAGE OPTION...
    local status=0
    fit "${@:2}" || status=$?
    test "$status" = 2 && test ! -s log && says "^gcg-mc: error: .*$1"
}
near() { awk -v x="$1" -v y="$2" -v tol="$3" 'BEGIN { d = x - y; if (d < 0) d = -d; exit !(x == x && d <= tol * y) }'; }
falls() { grep -v '^#' log | awk -F '\t' 'NR > 3 && $3 > last { print; exit 1 } { last = $3 }'; }
only_last_has_gap() { grep -v '^#' log | awk -F '\t' 'NR > 1 { if (n && gap != "nan") exit 1; gap = $5; n++ } END { exit gap == "nan" }'; }

"$GCG" synth --quiet --users 300 --items 200 --ratings 12000 --seed 3 --test test.csv --test-ratings 500 -o train.csv || exit 1
ok "gcg is the default" bash -c '"$GCG" fit --quiet --lambda 8 --log log1 -o m1 train.csv && "$GCG" fit --quiet --lambda 8 --solver gcg --log none -o m2 train.csv && cmp m1 m2'
fit --lambda 8 --gap 1e-6 -o gcg train.csv
best=$(last objective) rank=$(last rank) bound=$(last dual)
ok "the optimum of the test has a rank that is small and not 1" test "$rank" -gt 1 -a "$rank" -lt 40

for solver in als-cg soft-impute; do
    ok "fit --solver $solver" fit --solver $solver --lambda 8 --rank $((rank + 5)) --gap 1e-4 --test test.csv -o m train.csv
    ok "reaches the optimum within the gap" near "$(last objective)" "$best" 1e-4
    ok "not below it" awk -v f="$(last objective)" -v lo="$bound" 'BEGIN { exit !(f >= lo) }'
    ok "its objective falls from row to row" falls
    ok "its last row, and no other, has a gap" only_last_has_gap
    ok "with a proved bound below the optimum" awk -v lo="$(last dual)" -v f="$best" -v rule="$(meta certificate)" 'BEGIN { exit !(rule == "cholesky" && lo > 0.5 * f && lo <= f) }'
    ok "the log names it" test "$(meta solver)" = $solver
    ok "so does the model" grep -aq "\"solver\": \"$solver\"" m
    ok "MODEL.done says converged" test "$(member m.done status)" = converged
    ok "predict uses the model" bash -c '"$GCG" predict --quiet m test.csv >predictions && test "$(wc -l <predictions)" = 501 && ! grep -q nan predictions'
    ok "eval gives the error of the log to the last digit" test "$("$GCG" eval --quiet m test.csv | awk -F '\t' '$1 == "all" { print $3 }')" = "$(last test_rmse)"
    "$GCG" fit --quiet --solver $solver --lambda 8 --rank 10 --threads 1 --log none -o one train.csv
    ok "two threads give the same bytes" bash -c '"$GCG" fit --quiet --solver "$0" --lambda 8 --rank 10 --threads 2 --log none -o two train.csv && cmp one two' $solver
    not_ok_if "another seed does not" bash -c '"$GCG" fit --quiet --solver "$0" --lambda 8 --rank 10 --seed 2 --log none -o two train.csv && cmp one two' $solver
    ok "--precision float is taken" fit --solver $solver --lambda 8 --rank $((rank + 5)) --gap 1e-3 --precision float -o m train.csv
    ok "and reaches the optimum, too" near "$(last objective)" "$best" 1e-3

    fit --solver $solver --lambda 8 --rank 2 -o m train.csv
    ok "a rank that is too low is its business: the status is 0" test "$(member m.done exit)" = 0
    ok "and the gap shows it" awk -v g="$(last gap)" 'BEGIN { exit !(g > 1e-2) }'
    ok "which a note explains" says "note: --solver $solver stops when a sweep gains little"
    exits 3 "--max-iter stops it" fit --solver $solver --lambda 8 --rank 10 --gap 1e-9 --max-iter 2 -o m train.csv
    ok "and says so" says 'warning: stopped by --max-iter 2'
    ok "after two iterations" test "$(last iter)" = 2
    exits 3 "--max-time stops it" fit --solver $solver --lambda 8 --rank 10 --gap 1e-9 --max-time 1e-6 -o m train.csv
    ok "without a bound" test "$(meta certificate)$(last gap)" = nonenan
    ok "its model is whole" "$GCG" eval --quiet m test.csv
    ok "lambda above lambda_max gives the zero matrix" fit --solver $solver --lambda 1e6 --rank 5 -o m train.csv
    ok "to the last digit" test "$(last rank)$(last gap)" = 00
    ok "with the warning" says 'warning: lambda .* is not below lambda_max'
    ok "--lambda 0 is a fit of that rank" fit --solver $solver --lambda 0 --rank 2 -o m train.csv
    ok "without a bound" test "$(last gap)$(last dual)$(meta certificate)" = nannannone
    ok "--center both is taken" fit --solver $solver --lambda 3 --rank 10 --center both --test test.csv -o m train.csv
    ok "and eval adds it back" test "$("$GCG" eval --quiet m test.csv | awk -F '\t' '$1 == "all" { print $3 }')" = "$(last test_rmse)"
    ok "--keep best is taken" fit --solver $solver --lambda 3 --rank 10 --valid test.csv --keep best -o m train.csv
    ok "--rank above the number of items is cut, with a note" bash -c '"$GCG" fit --solver "$0" --lambda 50 --rank 1000 --max-iter 1 --log none -o m train.csv 2>err; grep -q "note: --rank 1000: .*using 200" err' $solver

    ok "$solver without --rank is refused" refused 'add --rank' --solver $solver --lambda 8 -o m train.csv
    for option in --plain '--atoms 1' --certify; do
        # shellcheck disable=SC2086 # the words are options
        ok "so is $option" refused "${option% *} belongs to --solver gcg" --solver $solver --rank 5 --lambda 8 $option -o m train.csv
    done
    fit --solver $solver --lambda 8 --rank 10 --dry-run train.csv
    bytes=$(head -n 1 log | cut -f 2)
    exits 6 "a byte less than it needs is refused" fit --solver $solver --lambda 8 --rank 10 --max-memory $((bytes - 1)) -o never train.csv
done
ok "an unknown solver is refused with the known ones" refused "--solver 'als': .*gcg, als-cg, soft-impute" --solver als --lambda 8 -o m train.csv
done_testing
