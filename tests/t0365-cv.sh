#!/bin/bash
# gcg-mc cv: the folds, their errors by hand, the means, the choices, the last fit; what is refused.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

cv() { "$GCG" cv "$@" >table 2>err; }
says() { grep -Eq -- "$1" err; }
near() { awk -v x="$1" -v y="$2" -v tol="$3" 'BEGIN { d = x - y; if (d < 0) d = -d; exit !(x == x && d <= tol * y) }'; }
folds() { awk -F '\t' '/^$/ { exit } NR > 1' table; }
means() { awk -F '\t' 'seen == 1 && NF == 4 && !/^lambda/ { print } /^$/ { seen = 1 }' table; }
member() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1"; }

# 60 x 40, half of it observed: rank 3 and noise, the same on every machine.
awk 'BEGIN { s = 1; for (i = 1; i <= 60; i++) for (j = 1; j <= 40; j++) {
    s = (s * 16807) % 2147483647; if (s % 2) { s = (s * 16807) % 2147483647
    printf "user %d\t%d\t%.2f\n", i, j, 3 + (i % 5 - 2) * (j % 3 - 1) / 2 + (i % 3 - 1) * (j % 7 - 3) / 4 + (s % 100) / 25 } } }' >all.tsv

ok "four folds, three lambdas" cv --folds 4 --seed 7 --gap 1e-6 --lambdas 40,10,4 all.tsv
ok "a row for each fold and lambda" bash -c 'diff <(awk -F "\t" "/^\$/ { exit } NR > 1 { print \$1, \$2 }" table) <(for f in 1 2 3 4; do for l in 40 10 4; do echo $l $f; done; done)'
ok "under their names" test "$(head -n 1 table)" = "$(printf 'lambda\tfold\tn\trmse')"
sums() { test "$(folds | awk -F '\t' '$1 == 10 { n += $3 } END { print n }')" = "$(wc -l <all.tsv)"; }
ok "the folds have all ratings between them" sums
ok "the same bytes for other threads and order of lines" bash -c 'sort -r all.tsv >turned.tsv && "$GCG" cv --quiet --threads 2 --folds 4 --seed 7 --gap 1e-6 --lambdas 40,10,4 turned.tsv | cmp - table'
ok "another seed makes other folds" bash -c '! "$GCG" cv --quiet --folds 4 --seed 8 --gap 1e-6 --lambdas 40,10,4 all.tsv | cmp -s - table'
ok "the first of four folds is what fit --holdout 0.25 draws" bash -c '
    "$GCG" fit --quiet --gap 1e-8 --lambda 4 --holdout 0.25 --seed 7 -o m all.tsv >m.log && test "$(sed -n "s/^# test_n\t//p" m.log)" = "$(awk -F "\t" "\$2 == 1 { print \$3; exit }" table)"'
near_hold_out() { near "$(folds | awk -F '\t' '$1 == 4 && $2 == 1 { print $4 }')" "$(member m.done test_rmse)" 1e-4; }
ok "with its error" near_hold_out

# The hash of base/rng.h and the rule of io/ratings.h, written down once more.
if python=$(command -v python3); then
    cat >folds.py <<'PY'
import sys
M = 2**64 - 1
G = 0x9e3779b97f4a7c15
def mix(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & M
    x = (x ^ x >> 27) * 0x94d049bb133111eb & M
    return x ^ x >> 31
def words(text):
    b = text.encode()
    h = mix((seed + G * (len(b) + 1)) & M)
    for k in range(0, len(b) - len(b) % 8 + 1, 8):
        h = mix(((h ^ int.from_bytes(b[k:k + 8], "little")) + G) & M)
    return h
seed, folds = int(sys.argv[2]), int(sys.argv[3])
out = [[open("fold%d.%s" % (k + 1, what), "w") for what in ("train", "test")] for k in range(folds)]
for line in open(sys.argv[1]):
    user, item, _ = line.split("\t")
    at = int((mix(words(user) ^ mix(words(item))) >> 11) * 2.0**-53 * folds)
    for k in range(folds):
        out[k][k == at].write(line)
PY
    by_hand() {
        local fold lambda
        "$python" folds.py all.tsv 7 4 || return 1
        for fold in 1 2 3 4; do
            for lambda in 40 10 4; do
                "$GCG" fit --quiet --gap 1e-9 --lambda $lambda --test fold$fold.test -o m fold$fold.train >/dev/null || return 1
                near "$(folds | awk -F '\t' -v l=$lambda -v f=$fold '$1 == l && $2 == f { print $4 }')" "$(member m.done test_rmse)" 1e-4 || { echo $fold $lambda; return 1; }
                test "$(folds | awk -F '\t' -v f=$fold '$2 == f { print $3; exit }')" = "$(wc -l <fold$fold.test)" || return 1
            done
        done
    }
    ok "sizes and errors are those of folds and fits made by hand" by_hand
else
    skip "sizes and errors are those of folds and fits made by hand" "no python3 here"
fi

# ---- means and choices ----
averages() { # of the folds, with the standard error sd / sqrt(K)
    folds | awk -F '\t' '{ n[$1]++; s[$1] += $4; q[$1] += $4 * $4; if (n[$1] == 1) order[++k] = $1 }
        END { for (i = 1; i <= k; i++) { l = order[i]; m = s[l] / n[l]; v = (q[l] / n[l] - m * m) * n[l] / (n[l] - 1)
            printf "%s %.9f %.6f\n", l, m, sqrt(v / n[l]) } }'
}
given() { means | awk -F '\t' '{ printf "%s %.9f %.6f\n", $1, $3, $4 }'; }
same_means() { diff <(averages) <(given); }
ok "the means and their standard errors follow from the folds" same_means
ok "two blank lines before them" bash -c 'awk "BEGIN { RS = \"\n\n\n\" } END { exit NR != 2 }" table'
best() { means | awk -F '\t' '{ if (NR == 1 || $3 < m) { m = $3; l = $1 } } END { print l }'; }
simple() { means | awk -F '\t' '{ l[NR] = $1; r[NR] = $3; if (NR == 1 || $3 < m) { m = $3; e = $4 } } END { for (i = 1; i <= NR; i++) if (r[i] <= m + e) { print l[i]; exit } }'; }
ok "standard error has the smallest mean" says "note: smallest mean RMSE: lambda $(best), "
ok "and the largest lambda within one standard error of it" says "note: largest lambda within one standard error: lambda $(simple), "
cv --folds 5 --gap 1e-4 --n-lambdas 30 --center both --log r.log -o r all.tsv
ok "-o fits all ratings" test "$(sed -n 's/^# ratings\t//p' r.log)" = "$(wc -l <all.tsv)"
ok "the grid ends where the error has risen three times" test "$(folds | awk '$2 == 1' | wc -l)" -lt 30
scaled() { awk -v l="$1" 'BEGIN { printf "%.10g\n", l * sqrt(5 / 4) }'; }
ok "near the chosen lambda, for as many more ratings" near "$(sed -n 's/^# lambda\t//p' r.log)" "$(scaled "$(best)")" 0.001
cv --folds 5 --gap 1e-4 --n-lambdas 30 --center both --select 1se -o s all.tsv
ok "--select 1se: near the other one" bash -c 'test -s s.done' -a "$(simple)"
ok "a simpler model" test "$(member s.done rank)" -le "$(member r.done rank)"

# ---- early ends, refusals ----
exits 3 "a rank limit that binds" cv --folds 2 --rank 1 --lambdas 2 all.tsv
ok "with a warning" says 'warning: 2 fits did not reach the gap'
exits 3 "no time" cv --folds 2 --max-time 1e-9 --lambdas 2 all.tsv
ok "chooses nothing" says 'warning: stopped before every fold was fitted'
exits 4 "a fold without ratings" bash -c 'head -n 4 all.tsv >few && "$GCG" cv --folds 9 --lambdas 1 few'
exits 2 "one fold" cv --folds 1 --lambdas 2 all.tsv
exits 2 "a lambda given twice" cv --lambdas 1,2,1 all.tsv
exits 2 "a log without a model" cv --lambdas 2 --log l all.tsv
exits 2 "a choice without a model" cv --lambdas 2 --select 1se all.tsv
exits 2 "a log on standard output" cv --lambdas 2 --log - -o m all.tsv
exits 2 "a validation set" cv --lambdas 2 --valid all.tsv all.tsv
exits 2 "a hold-out" cv --lambdas 2 --holdout 0.1 all.tsv
exits 2 "no TRAIN" cv --lambdas 2
exits 5 "a folder that is not there" cv --lambdas 2 -o nowhere/m all.tsv
ok "a reader that goes away" bash -c '"$GCG" cv --quiet --folds 3 --lambdas 9,8,7 all.tsv | head -n 1 >first; test "${PIPESTATUS[0]}" = 0'
ok "a full disk is told" bash -c 'test ! -e /dev/full && exit; "$GCG" cv --quiet --folds 2 --lambdas 9 all.tsv >/dev/full 2>err; test $? = 5'
ok "--dry-run plans and stops" bash -c '"$GCG" cv --dry-run all.tsv | grep -q ^memory_bytes'

done_testing
