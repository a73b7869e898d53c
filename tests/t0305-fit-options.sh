#!/bin/bash
# The options of fit one by one, on small data with known optima; t0300 has the log, the model and what may not
# change a byte.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

fit() { "$GCG" fit "$@" >log 2>err; }
near() { awk -v x="$1" -v y="$2" -v tol="${3:-1e-9}" 'BEGIN { d = x - y; if (d < 0) d = -d; m = y < 0 ? -y : y; exit !(x == x && d <= tol * (m > 1 ? m : 1)) }'; }
# A member of MODEL.done or model.json.
member() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1"; }
says() { grep -Eq -- "$1" err; }
solves() { # OBJECTIVE NUC_NORM OPTION-OR-FILE...
    fit --gap 1e-10 -o m "${@:3}" || { cat err; return 1; }
    if ! near "$(last objective)" "$1" || ! near "$(last nuc_norm)" "$2" 1e-6; then
        tail -n 3 log
        return 1
    fi
}

printf 'a,i,3\nb,i,6\n' >column.csv
printf '1 1 1\n1 2 2\n2 1 2\n2 2 4\n3 1 3\n3 2 6\n' >rank1.txt
printf '1 1 1\n2 2 -2\n3 3 3\n4 4 4\n' >diagonal.txt
printf 'only\tone\t4\n' >one.tsv
cat >base.csv <<'CSV'
user,item,rating
1,1,5
1,2,3
1,4,1
2,1,4
2,4,1
3,1,1
3,2,1
3,4,5
4,2,1
4,3,5
4,4,4
CSV
cat >test.csv <<'CSV'
1,3,4
2,2,2
9,1,3
1,77,2
8,88,5
CSV
# 30 x 20, about half of it observed: rank 2 and some noise, the same on every machine.
awk 'BEGIN { s = 1; for (i = 1; i <= 30; i++) for (j = 1; j <= 20; j++) {
    s = (s * 16807) % 2147483647; if (s % 2) { s = (s * 16807) % 2147483647
    printf "%d\t%d\t%.2f\n", i, j, 3 + (i % 5 - 2) * (j % 3 - 1) / 2 + (i % 3 - 1) * (j % 7 - 3) / 4 + (s % 100) / 200 } } }' >data.tsv

# ---- closed forms ----
ok "one item: F = lambda |x| - lambda^2 / 2" solves 6.20820393249936942 5.70820393249936942 --lambda 1 column.csv
ok "lambda_max is |x| then" near "$(meta lambda_max)" 6.70820393249936941515
ok "one rating" solves 3.5 3 --lambda 1 one.tsv
ok "a full table of rank one" solves 14.7332005306815109596 6.36660026534075548 --lambda 2 rank1.txt
ok "only the diagonal: each rating for itself" solves 10.625 4.5 --lambda 1.5 diagonal.txt
ok "lambda_max of a diagonal is its largest entry" near "$(meta lambda_max)" 4
awk '{ printf "%s %s %.17g\n", $1, $2, 1000 * $3 }' rank1.txt >rank1k.txt
ok "ratings and lambda times 1000: F times a million" solves 14733200.5306815109596 6366.60026534075548 --lambda 2000 rank1k.txt
ok "--lambda-ratio is a part of lambda_max" solves 14.7332005306815109596 6.36660026534075548 --lambda-ratio 0.23904572186687872728 rank1.txt
ok "and the log has the lambda that came of it" near "$(meta lambda)" 2

# ---- lambda at its largest value ----
fit --lambda 8.3 --gap 0.5 -o m rank1.txt
not_ok_if "a zero model that is only within the gap is not called the optimum" says 'zero matrix'

# ---- the certificate ----
fit --lambda 1 --gap 1e-3 -o m data.tsv
coarse=$(last objective) dual=$(last dual)
fit --lambda 1 --gap 1e-9 -o m data.tsv
ok "the optimum lies between dual and objective of a coarse run" awk -v f="$(last objective)" -v lo="$dual" -v hi="$coarse" 'BEGIN { exit !(lo <= f && f <= hi) }'
fine=$(last objective)

# ---- solver options reach the same optimum ----
for options in "--plain" "--plain --max-iter 2000" "--atoms 1" "--atoms 5" "--precision double" "--certify" "--seed 7" "--threads 1"; do
    # shellcheck disable=SC2086 # the words are options
    ok "fit $options reaches the gap" fit --lambda 1 --gap 1e-4 $options -o m data.tsv
    ok "and its dual bound and objective enclose the optimum" awk -v f="$fine" -v lo="$(last dual)" -v hi="$(last objective)" \
        'BEGIN { exit !(lo <= f * (1 + 1e-9) && hi >= f * (1 - 1e-9) && hi - lo <= 1e-4 * hi * (1 + 1e-9)) }'
done
exits 3 "floats cannot reach 1e-12" fit --lambda 1 --precision float --gap 1e-12 -o m data.tsv
ok "which is said" says 'warning: no further progress in this precision'
ok "and is stalled in MODEL.done" test "$(member m.done status)" = stalled

# ---- early stops ----
fit --lambda 0.1 --gap 1e-9 --max-iter 2 -o m data.tsv
ok "the model of an early stop is whole" "$GCG" eval m data.tsv
ok "a warning says what to do" says 'warning: stopped by --max-iter 2 .*wanted 1e-09.*raise it'
ok "also under --quiet" bash -c '"$GCG" fit --quiet --lambda 0.1 --gap 1e-9 --max-iter 2 --log none -o m data.tsv 2>err; grep -q "max-iter 2" err'
ok "the bound of an early stop is a bound" awk -v lo="$(last dual)" -v rule="$(meta certificate)" 'BEGIN { exit !(rule == "cholesky" && lo > 0) }'
fit --lambda 1 --rank 1 -o m data.tsv
ok "a rank limit that binds is a warning that names it" says 'warning: --rank 1 keeps it from converging'
ok "the gap is above the one wanted" awk -v g="$(last gap)" 'BEGIN { exit !(g > 1e-3) }'
ok "and its bound is below the optimum" awk -v f="$fine" -v lo="$(last dual)" 'BEGIN { exit !(lo <= f) }'
fit --lambda 20 -o m data.tsv
objective=$(last objective)
ok "a rank limit that does not bind is no reason to stop" fit --lambda 20 --rank 15 -o m data.tsv
ok "and changes no digit" test "$(last objective)" = "$objective"

# ---- lambda 0 ----
fit --lambda 0 --rank 2 -o m rank1.txt
ok "--lambda 0 has no bound and no gap" test "$(last gap)$(last dual)$(meta certificate)" = nannannone
ok "it fits exactly, where the rank suffices" awk -v r="$(last train_rmse)" 'BEGIN { exit !(r < 1e-3) }'
ok "MODEL.done is JSON without nan" test "$(member m.done gap)" = null
exits 2 "--lambda 0 alone is refused" fit --lambda 0 -o m rank1.txt
ok "with what to do" says 'add --rank'

# ---- test sets ----
fit --lambda 2 --test test.csv --valid base.csv -o m base.csv
ok "validation pairs that occur in training are a warning, too" says 'warning: 11 of 11 validation pairs occur in training'
not_ok_if "but not test pairs that do not" says 'test pairs occur'
evaluated() { # OPTION... : the last test_rmse of the log is what eval says, digit for digit
    fit --lambda 0.7 --gap 1e-2 --test test.csv "$@" -o m base.csv || return 1
    local clip=()
    [ "${1-}" = --clip ] && clip=(--clip "$2")
    test "$(last test_rmse)" = "$("$GCG" eval --quiet "${clip[@]}" m test.csv | awk -F '\t' '$1 == "all" { print $3 }')"
}
ok "the log's test error is eval's to the last digit" evaluated
for kind in global user item both; do
    ok "also with --center $kind" evaluated --center $kind
done
ok "also with floats" evaluated --precision float
ok "also with --clip given to both" evaluated --clip 1,3
clipped=$(last test_rmse) objective=$(last objective)
fit --lambda 0.7 --gap 1e-2 --test test.csv -o m base.csv
ok "--clip changes the error" test "$(last test_rmse)" != "$clipped"
ok "and not the objective" test "$(last objective)" = "$objective"
exits 2 "--test and --holdout together are refused" fit --lambda 1 --test test.csv --holdout 0.5 -o m base.csv
exits 2 "--test and --test-pairs together are refused" fit --lambda 1 --test test.csv --test-pairs test.csv -o m base.csv
exits 4 "a damaged test file is found before the fit starts" bash -c 'printf "1,1,2\n1,2,x\n" >bad.csv; "$GCG" fit --lambda 1 --test bad.csv -o m base.csv >log 2>err'
ok "and no row is logged" test ! -s log

# ---- hold-out ----
held() { fit --lambda 1 --holdout "$1" --seed "$2" -o "$3" "$4"; }
tac data.tsv >reversed.tsv
awk 'NR % 2' data.tsv >half1.tsv
awk 'NR % 2 == 0' data.tsv >half2.tsv
ok "a fit with a hold-out" held 0.3 1 h1 data.tsv
n=$(meta test_n) rmse=$(last test_rmse)
ok "training and test add up" test $((n + $(meta ratings))) = "$(wc -l <data.tsv)"
ok "the draw does not depend on line order" bash -c '"$GCG" fit --lambda 1 --holdout 0.3 --log log2 -o h2 reversed.tsv 2>err && cmp h1 h2'
ok "nor does its error" test "$(meta test_n log2)$(last test_rmse log2)" = "$n$rmse"
ok "nor on the cut into files" bash -c '"$GCG" fit --lambda 1 --holdout 0.3 --log none -o h2 half2.tsv half1.tsv 2>err && cmp h1 h2'
ok "a larger fraction holds out more" held 0.6 1 h2 data.tsv
ok "by count" test "$(meta test_n)" -gt "$n"
exits 4 "a hold-out that takes everything is refused" held 0.99 1 h4 one.tsv
ok "and says why" says 'error: every rating would go to the test set'

# ---- test pairs ----
printf '1,1\n3,4\n9,9\n' >pairs.csv
grep -v -e '^1,1,' -e '^3,4,' base.csv >rest.csv
printf '1,1,5\n3,4,5\n' >two.csv
fit --lambda 1 --test-pairs pairs.csv -o m base.csv
ok "the model is, to the byte, that of a fit without the pairs" bash -c '"$GCG" fit --lambda 1 --log log2 --test two.csv -o m2 rest.csv 2>err && cmp m m2'
ok "and so is the test error" test "$(last test_rmse)" = "$(last test_rmse log2)"
printf '1:\n1\n4:\n3\n' >probe.txt
ok "a Netflix probe file does the same" bash -c '"$GCG" fit --lambda 1 --log none --test-pairs probe.txt -o m3 base.csv 2>err && cmp m m3'

# ---- keep ----
# Mostly noise: an early iterate predicts better than the optimum of a small lambda.
awk '{ s = (s * 16807 + NR) % 2147483647; printf "%s\t%s\t%.3f\n", $1, $2, s % 4000 / 1000 }' data.tsv >noise.tsv
awk 'NR % 4 == 0' noise.tsv >valid.tsv
awk 'NR % 4' noise.tsv >train.tsv
ok "a fit that keeps the best" fit --lambda 0.02 --gap 1e-5 --valid valid.tsv --keep best -o b train.tsv
smallest() { grep -v '^#' "$1" | awk -F '\t' 'NR > 1 && (!n || $9 < best) { best = $9; n = 1 } END { print best }'; }
ok "its model has the smallest validation error of the log" test "$("$GCG" eval --quiet b valid.tsv | awk -F '\t' '$1 == "all" { print $3 }')" = "$(smallest log)"
ok "which is not the last one here" test "$(smallest log)" != "$(last valid_rmse)"
ok "MODEL.done has it too" test "$(member b.done valid_rmse)" = "$(smallest log)"
ok "and the bound of the whole run" test "$(member b.done dual)" = "$(last dual)"
ok "a note says which iterate it is" says "note: the model is that of iteration $(member b.done iterations), best by validation"
ok "--keep last is the default" bash -c '"$GCG" fit --lambda 0.02 --gap 1e-5 --valid valid.tsv --log none -o l1 train.tsv 2>err && "$GCG" fit --lambda 0.02 --gap 1e-5 --keep last --log none -o l2 train.tsv 2>err && cmp l1 l2'
: >empty.csv
ok "an empty validation set keeps the last" bash -c '"$GCG" fit --lambda 0.02 --gap 1e-5 --valid empty.csv --log log2 --keep best -o l3 train.tsv 2>err'
ok "not the zero matrix" test "$(member l3.done iterations)" = "$(last iter log2)"

# ---- centring ----
centred() { fit --lambda 1e6 --center "$1" -o "c.$1" base.csv && "$GCG" predict --quiet "c.$1" base.csv | awk -F '\t' 'NR == 2 { print $3 }'; }
mean=2.81818181818181818
ok "the mean is logged, subtracted or not" near "$(fit --lambda 1 -o m base.csv; meta mean)" $mean 1e-15
ok "center is 0 without centring" test "$(meta center)" = 0
ok "center is the mean with it" near "$(centred global >/dev/null; meta center)" $mean 1e-15
ok "--center global predicts the mean under a huge lambda" near "$(centred global)" $mean 1e-15
ok "--center user adds the shrunk user mean" near "$(centred user)" "$(awk -v m=$mean 'BEGIN { printf "%.17g", m + (9 - 3 * m) / 8 }')" 1e-14
ok "--center item adds the shrunk item mean" near "$(centred item)" "$(awk -v m=$mean 'BEGIN { printf "%.17g", m + (10 - 3 * m) / 6 }')" 1e-14
ok "the objective is that of the centred problem" near "$(centred global >/dev/null; last objective)" \
    "$(awk -F , -v m=$mean 'NR > 1 { s += ($3 - m) ^ 2 } END { printf "%.17g", s / 2 }' base.csv)" 1e-12

# ---- memory, threads, words ----
fit --lambda 1 --dry-run base.csv
ok "--dry-run needs no -o and prints the bytes first" test "$(head -n 1 log | cut -f 1)" = memory_bytes
bytes=$(head -n 1 log | cut -f 2)
ok "just enough memory is enough" fit --lambda 1 --max-memory "$bytes" -o m base.csv
ok "and nothing is given up" test "$(meta memory_plan)" = full
exits 6 "far less is not" fit --lambda 1 --max-memory $((bytes / 2)) -o never base.csv
ok "and nothing is left" test ! -e never -a ! -e never.done
fit --lambda 1 --threads 100000 -o m base.csv
ok "more threads than allowed are cut, with a note" says 'note: --threads 100000: .*using [0-9]'
ok "a note says how the file was read" says '^gcg-mc: base.csv: note: read as csv, with a header line'

# ---- against the shared oracles ----
if [ -n "$SHARED" ] && command -v python3 >/dev/null; then
    ok "the shared cases of fit hold" python3 "$SHARED/cases/run_cases.py" --bin "$GCG" --only '^(G|O)' --skip '^(G16[ghij]|O13)'
else
    skip "the shared cases of fit hold" "no ../shared or no python3"
fi
done_testing
