#!/bin/bash
# fit --lambda auto: the choice is that of the lines "# tried", the model that of fit at the choice.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

fit() { "$GCG" fit "$@" >log 2>err; }
says() { grep -Eq -- "$1" err; }
near() { awk -v x="$1" -v y="$2" -v tol="$3" 'BEGIN { d = x - y; if (d < 0) d = -d; exit !(x == x && d <= tol * y) }'; }
member() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1"; }
# The best of the lines "# tried": center, exponents of users and items, smooth, lambda, gap, rank, RMSE, user bias.
best() { sed -n 's/^# tried\t//p' log | awk -F '\t' -v c="$1" '{ if (NR == 1 || $8 < m) { m = $8; x = $c } } END { print x }'; }

# 80 x 50, 60 % observed: rank 3, noise, and users and items of their own levels; the same on every machine.
awk 'BEGIN { s = 1; for (i = 1; i <= 80; i++) for (j = 1; j <= 50; j++) {
    s = (s * 16807) % 2147483647; if (s % 5 < 3) { s = (s * 16807) % 2147483647
    printf "u%d\t%d\t%.2f\n", i, j, 3 + i % 4 / 2 + j % 9 / 8 + (i % 5 - 2) * (j % 3 - 1) / 2 + (i % 3 - 1) * (j % 7 - 3) / 4 + (s % 100) / 25 } } }' >all.tsv

ok "lambda is chosen" fit --lambda auto --gap 1e-4 -o m all.tsv
ok "the centring is that of the best try" test "$(meta center_kind)" = "$(best 1)"
ok "and so are the weights of the norm" test "$(meta norm_exponent_user)" = "$(best 2)"
ok "and the biases" test "$(meta user_bias)" = "$(best 9)"
ok "lambda is that of the best try, for as many more ratings" near "$(meta lambda)" \
    "$(awk -v l="$(best 5)" -v n="$(meta ratings)" -v m="$(sed -n 's/.*lambda [^ ]* on \([0-9]*\) of .*/\1/p' err)" 'BEGIN { printf "%.17g", l * sqrt(n / m) }')" 1e-12
ok "all ratings are fitted" test "$(meta ratings)" = "$(wc -l <all.tsv)"
tenth() { awk -v n="$(meta ratings)" -v m="$(sed -n 's/.*lambda [^ ]* on \([0-9]*\) of .*/\1/p' err)" 'BEGIN { r = 1 - m / n; print r; exit !(r > 0.07 && r < 0.13) }'; }
ok "a tenth was held out" tenth
ok "to the gap that was asked for" awk -v g="$(member m.done gap)" 'BEGIN { exit !(g <= 1e-4) }'
every() { for c in none global user item both; do grep -q "^# tried	$c	" log || { echo "no $c"; return 1; }; done; test "$(grep '^# tried' log | cut -f 3 | sort -u | wc -l)" -ge 2 && grep "^# tried" log | cut -f 10 | grep -qx 7; }
ok "every centring was tried, several norms, and biases" every
# in its last try it comes back to one of them
once() { sed -n 's/^# tried\t//p' log | sed '$d' | cut -f 1-4,9 | uniq | sort | uniq -d | { ! grep .; }; }
ok "no centring is walked twice with one norm" once
# the path of that centring and norm that has the best RMSE: the last try lies within a step of its best lambda
parabola() { sed -n 's/^# tried\t//p' log | awk -F '\t' '{ c[NR] = $1 $2 "-" $9; l[NR] = $5; r[NR] = $8; if (NR == 1 || $8 < least) { before = b; least = $8; b = NR } }
    END { if (b == NR) b = before; a = l[b - 1]; z = l[b + 1]; exit !(c[NR] == c[b] && l[NR] < a && l[NR] > z && l[NR] != l[b] && c[b + 1] == c[b]) }'; }
ok "the last try is between the lambdas beside the best before it" parabola
ok "the log is one table for plotting" test "$(grep -c '^iter' log)" = 1 -a "$(grep -c '^$' log)" = 0
ok "standard error says what was chosen" says "note: lambda [0-9.]* on [0-9]* of [0-9]* ratings, --center $(best 1) --norm-weights [0-9.]* --user-bias $(best 9): validation RMSE"
if python=$(command -v python3); then
    in_model() { "$python" -c '
import json, sys, zipfile
d = json.loads(zipfile.ZipFile("m").read("model.json"))["fit"]
c = d["chosen_by_validation"]
assert d["center"] == sys.argv[1] and abs(c["lambda"] / float(sys.argv[2]) - 1) < 1e-12 and c["tried"] == int(sys.argv[3])
assert abs(c["valid_rmse"] / float(sys.argv[4]) - 1) < 1e-12' "$(best 1)" "$(best 5)" "$(grep -c '^# tried' log)" "$(best 8)"; }
    ok "and so does model.json" in_model
else
    skip "and so does model.json" "no python3 here"
fi
by_hand() { # the same fit from 0
    "$GCG" fit --quiet --gap 1e-8 --lambda "$(meta lambda)" --center "$(meta center_kind)" --norm-weights "$(meta norm_exponent_user)" --user-bias "$(meta user_bias)" -o c all.tsv >c.log &&
        near "$(member m.done objective)" "$(member c.done objective)" 1e-4
}
ok "the model is that of fit at this choice" by_hand
ok "the same bytes for other threads and order of lines" bash -c 'sort -r all.tsv >turned.tsv && "$GCG" fit --quiet --threads 2 --lambda auto --gap 1e-4 -o n turned.tsv >/dev/null && cmp m n'

# ---- what the user chose stays ----
ok "a centring and a norm of the user's" fit --lambda auto --center item --norm-weights 0.3 --norm-smooth 0.1 -o m all.tsv
ok "are not changed, and there are no biases" bash -c '! grep "^# tried" log | grep -v "^# tried	item	0.29999999999999999	0.29999999999999999	0.10000000000000001	.*	0$"'
ok "biases of the user's" fit --lambda auto --user-bias 2 -o m all.tsv
ok "are not changed" bash -c '! grep "^# tried" log | grep -v "	2$"'
awk 'NR % 7 == 0' all.tsv >valid.tsv
awk 'NR % 7 != 0' all.tsv >train.tsv
ok "a validation set of the user's" fit --lambda auto --center both --norm-weights none --valid valid.tsv -o m train.tsv
ok "is what the choice is by: nothing is held out" test "$(meta lambda)" = "$(best 5)"
path_agrees() { # the path of the same lambdas finds the same one
    "$GCG" path --quiet --gap 1e-2 --lambdas "$(grep '^# tried' log | cut -f 6 | sort -gr | paste -sd ,)" --center both --valid valid.tsv --log p.log -o p train.tsv &&
        test "$(sed -n '/^lambda/,$p' p.log | awk -F '\t' 'NR > 1 && (m == "" || $10 < m) { m = $10; l = $1 } END { print l }')" = "$(meta lambda)"
}
ok "path chooses the same lambda" path_agrees
ok "test ratings change nothing" bash -c '"$GCG" fit --quiet --lambda auto --center both --norm-weights none --valid valid.tsv --test valid.tsv -o n train.tsv >/dev/null && cmp m n'
ok "--holdout draws the test set beside" fit --lambda auto --center both --norm-weights none --holdout 0.2 -o m all.tsv
rest() { awk -v n="$(meta ratings)" -v m="$(sed -n 's/.*lambda [^ ]* on \([0-9]*\) of .*/\1/p' err)" 'BEGIN { r = 1 - m / n; exit !(r > 0.07 && r < 0.13) }'; }
ok "and leaves a tenth of the others" rest

# ---- what is refused ----
exits 2 "a comparator" fit --lambda auto --solver als-cg --rank 3 -o m all.tsv
exits 2 "a start" fit --lambda auto --init m -o m all.tsv
exits 2 "a word that is none" fit --lambda automatic -o m all.tsv
exits 2 "auto and a ratio" fit --lambda auto --lambda-ratio 0.1 -o m all.tsv
exits 4 "too few ratings to hold one out" bash -c 'head -n 2 all.tsv >few && "$GCG" fit --lambda auto -o m few'
ok "what helps is said" bash -c '"$GCG" fit --lambda auto -o m few 2>&1 >/dev/null | grep -q -- "--valid"'
exits 3 "no time" fit --lambda auto --max-time 1e-9 -o m all.tsv
ok "leaves a model" "$GCG" eval --quiet m all.tsv

done_testing
