#!/bin/bash
# fit --user-bias: what is accepted, what the outputs say, how models with biases are used. The mathematics is in
# check_weighted_norm.
# shellcheck disable=SC1091,SC2016,SC2317 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

fit() { "$GCG" fit "$@" >log 2>err; }
near() { awk -v x="$1" -v y="$2" -v tol="${3:-1e-9}" 'BEGIN { d = x - y; if (d < 0) d = -d; exit !(x == x && d <= tol * (y < 0 ? -y : y)) }'; }
refuses() { # PATTERN OPTION...
    fit "${@:2}" -o m data.tsv && return 1
    [ $? = 2 ] && grep -Eq -- "$1" err && [ "$(wc -l <err)" = 1 ]
}

# Users of their own levels: rank 2 and some noise, the same on every machine; a test set beside it.
awk 'BEGIN { s = 1; for (i = 1; i <= 60; i++) for (j = 1; j <= 40; j++) {
    s = (s * 16807) % 2147483647; if (s % 1000 * (1 + i * j / 60) > 1500 && j != i % 40 + 1) continue
    s = (s * 16807) % 2147483647
    v = sprintf("%d\t%d\t%.2f", i, j, 3 + i % 7 / 2 + (i % 5 - 2) * (j % 3 - 1) / 2 + (i % 3 - 1) * (j % 7 - 3) / 4 + (s % 100) / 200)
    if (s % 9 == 0) print v >"test.tsv"; else print v >"data.tsv" } }'
sort -r data.tsv >reversed.tsv

# ---- what is refused ----
for bad in -1 much nan ''; do
    ok "--user-bias '$bad' is refused" refuses 'user-bias' --lambda 1 --user-bias "$bad"
done
ok "so it is with --plain" refuses 'plain knows no biases' --lambda 1 --plain --user-bias 1
ok "with lambda 0" refuses 'user-bias needs a lambda' --lambda 0 --rank 3 --user-bias 1
ok "with a comparator" refuses 'user-bias belongs to --solver gcg' --lambda 1 --rank 3 --solver als-cg --user-bias 1

# ---- what it means ----
biased() { fit --lambda 2 --gap 1e-9 --norm-weights 0.8 --test test.tsv "${@:2}" -o "$1" data.tsv; }
ok "without biases" biased none
ok "0" biased zero --user-bias 0
ok "is the default, to the byte" cmp none zero
without=$(last test_rmse)
ok "with biases" biased m --user-bias 0.5
ok "the log has the ridge" test "$(meta user_bias)" = 0.5
ok "they are worth something here" awk -v a="$(last test_rmse)" -v b="$without" 'BEGIN { exit !(a < b) }'
rank=$(last rank)
objective=$(last objective)
ok "the test RMSE of the log is that of eval, to the last digit" test "$("$GCG" eval --quiet m test.tsv | awk '$1 == "all" { print $3 }')" = "$(last test_rmse)"
"$GCG" export --quiet m --to tsv -o x
constant() { awk -F '\t' -v k="$rank" 'NR > 1 && (NF != k + 3 || $(k + 2) <= 0 || (NR > 2 && ($(k + 2) / c - 1) ^ 2 > 1e-28)) { exit bad = 1 } { c = $(k + 2) } END { exit bad }' x.items.tsv; }
ok "the last of rank + 1 factors of the items is constant" constant
# p_i = n_i^0.8 / mean of it over the ratings, b_i = that constant times the user's last factor
penalty() { awk -F '\t' -v k="$rank" 'FILENAME == "data.tsv" { n[$1]++; next } FILENAME == "x.items.tsv" { g = $(k + 2); next } FNR > 1 { b[$1] = $(k + 2) }
    END { for (i in n) { m += n[i] ^ 1.8; all += n[i] } for (i in n) s += 0.25 * n[i] ^ 0.8 / (m / all) * (g * b[i]) ^ 2; printf "%.17g", s }' data.tsv x.items.tsv x.users.tsv; }
ok "the objective is the loss, lambda times nuc_norm, and the ridge" near "$(awk -v n="$(meta ratings)" -v r="$(last train_rmse)" -v t="$(last nuc_norm)" -v b="$(penalty)" 'BEGIN { printf "%.17g", n * r * r / 2 + 2 * t + b }')" "$objective"
ok "a coarse run" fit --lambda 2 --gap 1e-2 --norm-weights 0.8 --user-bias 0.5 -o coarse data.tsv
ok "encloses the optimum" awk -v f="$objective" -v lo="$(last dual)" -v hi="$(last objective)" 'BEGIN { exit !(lo <= f && f <= hi) }'
similar() { # the cosines are of the other factors
    "$GCG" similar --quiet --item 7 -n 100 m | awk -F '\t' 'NR > 1 { printf "%s %.9f\n", $3, $4 }' | sort >got &&
        awk -F '\t' -v k="$rank" 'NR > 1 { for (q = 2; q <= k + 1; q++) { f[$1, q] = $q; n[$1] += $q * $q } }
            END { for (j in n) if (j != 7) { s = 0; for (q = 2; q <= k + 1; q++) s += f[7, q] * f[j, q]; printf "%s %.9f\n", j, s / sqrt(n[j] * n[7]) } }' x.items.tsv | sort | diff - got
}
ok "similar leaves the biases out" similar

# ---- starts ----
ok "a start with biases" fit --lambda 2 --gap 1e-9 --norm-weights 0.8 --user-bias 0.5 --init m -o again data.tsv
ok "is at the optimum" awk -v g="$(grep -v '^#' log | awk -F '\t' 'NR == 2 { print $5 }')" 'BEGIN { exit !(g < 1e-6) }'
ok "a start without" fit --lambda 2 --gap 1e-9 --norm-weights 0.8 --user-bias 0.5 --init none -o again data.tsv
ok "comes to it" near "$(last objective)" "$objective" 2e-9
ok "as does a fit without biases from one with" fit --lambda 2 --gap 1e-9 --norm-weights 0.8 --test test.tsv --init m -o again data.tsv
ok "to its own" near "$(last test_rmse)" "$without" 1e-3

# ---- lambda_max ----
fit --lambda-ratio 0.5 --norm-weights 1 --user-bias 0.5 -o m data.tsv
top=$(meta lambda_max)
ok "at lambda_max biases are all that there is" fit --lambda "$top" --norm-weights 1 --user-bias 0.5 -o m data.tsv
ok "with rank 0" test "$(last rank)" = 0
ok "just below it is more" fit --lambda "$(awk -v t="$top" 'BEGIN { printf "%.17g", 0.95 * t }')" --gap 1e-6 --norm-weights 1 --user-bias 0.5 -o m data.tsv
ok "and the rank is more than 0" test "$(last rank)" -gt 0

# ---- same bytes, other options ----
bytes() { "$GCG" fit --quiet --log none --lambda 2 --norm-weights 0.8 --user-bias 1 "${@:2}" -o "$1"; }
same_bytes bytes
for options in "--center both" "--precision float" "--certify" "--rank 2 --max-iter 1000 --gap 0.9" "--atoms 1"; do
    # shellcheck disable=SC2086 # the words are options
    ok "it works with $options" bytes m2 $options data.tsv
done
fit --lambda 0.5 --gap 1e-8 --norm-weights 1 --user-bias 1 --valid test.tsv --keep best -o m data.tsv
ok "--keep best writes the best iterate with its biases" test "$("$GCG" eval --quiet m test.tsv | awk '$1 == "all" { print $3 }')" = "$(best_valid)"
ok "path" "$GCG" path --quiet --log none --n-lambdas 5 --user-bias 1 --valid test.tsv -o p data.tsv
ok "cv" bash -c '"$GCG" cv --quiet --n-lambdas 4 --folds 3 --user-bias 1 -o c data.tsv >/dev/null'
ok "recommend agrees with predict" bash -c '"$GCG" recommend --quiet --users all -n 1 m >top && cut -f 1,3 top | sed 1d >pairs && "$GCG" predict --quiet m pairs | cut -f 3 | sed 1d >a; cut -f 4 top | sed 1d | diff - a'
done_testing
