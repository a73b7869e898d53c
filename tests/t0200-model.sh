#!/bin/bash
# predict and eval on small models: predictions, subsets, unknown ids, damaged models, streams.
. "$(dirname "$0")/lib.sh"

cat >"$T/train.csv" <<'END'
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
END
cat >"$T/test.csv" <<'END'
4,1,2
1,3,4
nobody,1,3
1,nothing,2
nobody,nothing,5
END
cd "$T" || exit 1
fit() { "$GCG" fit --quiet --log none "$@"; }
predict() { "$GCG" predict "$@" 2>err; }
evaluate() { "$GCG" eval "$@" 2>err; }
# Column COL of the row whose first column is ROW.
field() { awk -F '\t' -v row="$1" -v col="$2" '$1 == row { print $col }'; }
near() { awk -v x="$1" -v y="$2" -v tol="$3" 'BEGIN { d = x - y; exit !(d <= tol && -d <= tol) }'; }

ok "a model is fitted" fit --lambda 2 -o m train.csv

predict m test.csv >p
ok "predict has a header line of the four names" test "$(head -n 1 p)" = $'user\titem\tprediction\tstatus'
ok "predict keeps the order, the ids and says what is new" test "$(cut -f 1,2,4 p | tail -n +2)" = \
    $'4\t1\tseen\n1\t3\tseen\nnobody\t1\tnew_user\n1\tnothing\tnew_item\nnobody\tnothing\tnew_both'
mean=2.8181818181818181
new_user() { near "$(sed -n 4p p | cut -f 3)" "$(awk -v m=$mean 'BEGIN { printf "%.17g", (10 + 5 * m) / 8 }')" 1e-14; }
new_item() { near "$(sed -n 5p p | cut -f 3)" "$(awk -v m=$mean 'BEGIN { printf "%.17g", (9 + 5 * m) / 8 }')" 1e-14; }
ok "a new user gets the item's shrunk mean" new_user
ok "a new item gets the user's shrunk mean" new_item
ok "two new ids get the mean" near "$(sed -n 6p p | cut -f 3)" $mean 1e-14
no_shrink() { near "$(predict --shrink 0 m test.csv | sed -n 4p | cut -f 3)" "$(awk 'BEGIN { printf "%.17g", 10 / 3 }')" 1e-14; }
ok "without shrinking a new user gets the item's mean" no_shrink

# The same pairs in other shapes give the same lines.
same_as_p() { predict "$@" | cmp - p; }
cut -d, -f 1,2 test.csv >pairs.csv
gzip -c test.csv >test.csv.gz
tr , '\t' <test.csv >test.tsv
from_stdin() { predict m - <test.csv | cmp - p; }
ok "pairs without ratings give the same lines" same_as_p m pairs.csv
ok "gzipped pairs give the same lines" same_as_p m test.csv.gz
ok "tab-separated pairs give the same lines" same_as_p m test.tsv
ok "pairs from standard input give the same lines" from_stdin
printf '2009,1,4\n2009,3,1\n' >days.csv
first_user() { test "$(predict --columns 3,2,1 --no-ratings m days.csv | cut -f 1,2)" = $'user\titem\n4\t1\n1\t3'; }
ok "columns can be chosen" first_user

ok "--unknown skip leaves new pairs out" test "$(predict --unknown skip m test.csv | wc -l)" = 3
ok "--unknown skip says how many" grep -q '3 of 5' err
ok "--unknown nan prints nan" test "$(predict --unknown nan m test.csv | grep -c $'\tnan\tnew_')" = 3
exits 4 "--unknown error ends the run" predict --unknown error m test.csv
ok "--unknown error names the place and the id" grep -q "test.csv:3:1: error: user 'nobody'" err
printf '1:\n1,3\n 77 ,3\n' >new.netflix
exits 4 "also in a block format" predict --unknown error m new.netflix
ok "where the id begins" grep -q "new.netflix:3:2: error: user '77'" err
printf '1, "77",3\n' >new.csv
exits 4 "and in a quoted field" predict --unknown error m new.csv
ok "where the quote is" grep -q "new.csv:1:4: error: item '77'" err
clipped() { predict --clip 2,3 m test.csv | awk -F '\t' 'NR > 1 && ($3 < 2 || $3 > 3) { exit 1 }'; }
ok "--clip cuts predictions" clipped
exits 2 "--clip with the limits exchanged is refused" predict --clip 3,2 m test.csv
exits 2 "--clip with one number is refused" predict --clip 3 m test.csv
exits 2 "--shrink below 0 is refused" predict --shrink -1 m test.csv
exits 2 "a missing PAIRS is refused" predict m
exits 2 "a model from standard input is refused" predict - test.csv
: >nothing.csv
ok "an empty PAIRS gives the header line alone" test "$(predict m nothing.csv)" = $'user\titem\tprediction\tstatus'
predict m nothing.csv >/dev/null
ok "and a warning" grep -q '^gcg-mc: nothing.csv: warning: no pairs' err
none() { predict m none.csv >none.out; }
exits 5 "a PAIRS that does not exist is refused" none
ok "before anything is printed" test ! -s none.out
printf 'x,y\ny,z\n' >strangers.csv
predict m strangers.csv >/dev/null
ok "ids of another kind cause a warning" grep -q 'warning: none of the' err

# eval
evaluate m test.csv >e
ok "eval has a header line and five subsets" test "$(cut -f 1,2 e)" = \
    $'subset\tn\nall\t5\nseen\t2\nnew_user\t1\nnew_item\t1\nnew_both\t1'
by_hand() {
    paste -d , <(tail -n +2 p | tr '\t' ,) test.csv |
        awk -F , '{ d = $3 - $7; s += d * d; a += d < 0 ? -d : d } END { printf "%.17g %.17g\n", sqrt(s / NR), a / NR }'
}
read -r rmse mae < <(by_hand)
ok "eval's RMSE is that of predict's output" near "$(field all 3 <e)" "$rmse" 1e-14
ok "eval's MAE is that of predict's output" near "$(field all 4 <e)" "$mae" 1e-14
same_as_e() { evaluate "$@" | cmp - e; }
tac test.csv >reversed.csv
ok "the order of the test lines changes no digit" same_as_e m reversed.csv
ok "the number of threads changes no digit" same_as_e --threads 2 m test.csv
fit_log() { fit --lambda 2 --log log --test test.csv -o m2 train.csv && test "$(grep -v '^#' log | tail -n 1 | cut -f 10)" = "$(field all 3 <e)"; }
ok "the log of fit shows eval's RMSE to the last digit" fit_log
ok "a test set does not change the predictions" same_as_p m2 test.csv
evaluate --train train.csv m train.csv >/dev/null
ok "eval --train counts and names the test pairs that occur in training" \
    grep -q 'warning: 11 of 11 test pairs occur in training (1,1 1,2 1,4 \.\.\.)' err
evaluate --train train.csv m test.csv >/dev/null
not_ok_if "eval --train is silent when none does" grep -q 'occur in training' err
: >empty.csv
ok "an empty TEST has n 0 and nan" test "$(evaluate m empty.csv | field all 2,3)$(evaluate m empty.csv | field all 3)" = 0nan
ok "an empty TEST causes a warning that names it" grep -q 'empty.csv: warning' err
ok "--unknown skip counts only seen pairs" test "$(evaluate --unknown skip m test.csv | field all 2)" = 2
ok "--unknown nan makes the sum nan" test "$(evaluate --unknown nan m test.csv | field all 3)" = nan
exits 4 "eval --unknown error ends the run" evaluate --unknown error m test.csv
exits 4 "eval wants ratings" evaluate m pairs.csv
exits 2 "eval refuses to read standard input twice" evaluate --train - m -

# centring: what was subtracted comes back
for kind in global user item both; do
    fit --lambda 1e6 --center $kind -o "c.$kind" train.csv 2>/dev/null
done
ok "with a zero factor model, global centring predicts the mean" near "$(predict c.global test.csv | sed -n 2p | cut -f 3)" $mean 1e-14
user_mean() { near "$(predict c.user test.csv | sed -n 2p | cut -f 3)" "$(awk -v m=$mean 'BEGIN { printf "%.17g", m + (10 - 3 * m) / 8 }')" 1e-14; }
item_mean() { near "$(predict c.item test.csv | sed -n 2p | cut -f 3)" "$(awk -v m=$mean 'BEGIN { printf "%.17g", m + (10 - 3 * m) / 6 }')" 1e-14; }
ok "with a zero factor model, user centring predicts mean and user bias" user_mean
ok "with a zero factor model, item centring predicts mean and item bias" item_mean
new_raw() { near "$(predict c.both test.csv | sed -n 4p | cut -f 3)" "$(sed -n 4p p | cut -f 3)" 1e-14; }
ok "the fall-back of new ids does not depend on centring" new_raw

# damaged models
exits 4 "a ratings file is not a model" predict train.csv test.csv
ok "the message says so and names the file" grep -q '^gcg-mc: train.csv: error: not a gcg-mc model' err
head -c 100 m >short
exits 4 "a cut model is refused" predict short test.csv
exits 5 "a folder is not a model" predict . test.csv
exits 5 "a model that does not exist is refused" predict none test.csv

# streams
full() { "$GCG" predict m test.csv >/dev/full; }
exits 5 "a full disk behind standard output is reported" full
big() { seq 1 200000 | sed 's/$/,1/' | "$GCG" predict --quiet m - >/dev/full; }
exits 5 "a disk that fills up in the middle is reported" big
quiet_end() { seq 1 200000 | sed 's/$/,1/' 2>/dev/null | "$GCG" predict --quiet m - 2>err | head -n 1 && test ! -s err; }
ok "a reader that goes away ends predict quietly" quiet_end
ignored() { (trap '' PIPE; seq 1 200000 2>/dev/null | sed 's/$/,1/' 2>/dev/null | "$GCG" predict --quiet m - 2>err | head -n 1 && test ! -s err); }
ok "also where SIGPIPE is ignored" ignored

# numpy
python=$(for p in python3 /usr/bin/python3; do "$p" -c 'import numpy' 2>/dev/null && echo "$p" && break; done)
if [ -n "$python" ]; then
    cat >load.py <<'END'
import sys, numpy
m = numpy.load(sys.argv[1])
W = m["U"].astype(float) @ m["V"].astype(float).T + m["center_mean"] + m["user_bias"][:, None] + m["item_bias"]
users, items = (m[x].decode().split("\n")[:-1] for x in ("users.txt", "items.txt"))
assert W.shape == (len(users), len(items)) == (4, 4)
for line in open(sys.argv[2]).read().splitlines()[1:]:
    user, item, prediction, status = line.split("\t")
    if status == "seen": assert abs(W[users.index(user), items.index(item)] - float(prediction)) < 1e-12
s = m["singular_values"]
assert abs(m["U"].T @ m["U"] - numpy.diag(s)).max() < 1e-5 and abs(m["V"].T @ m["V"] - numpy.diag(s)).max() < 1e-5
assert m["user_counts"].sum() == 11 and abs(m["item_sums"].sum() / 11 - m["mean"]) < 1e-12
import json
assert json.loads(m["model.json"])["version"] == 1 and json.loads(m["model.json"])["fit"]["lambda"] == 2
END
    ok "numpy reads the model: U V' is what predict prints, balanced; counts and model.json agree" "$python" load.py m p
else
    skip "numpy reads the model" "no numpy here"
fi
if command -v unzip >/dev/null; then
    ok "unzip finds nothing wrong with the model" unzip -tq m
else
    skip "unzip finds nothing wrong with the model" "no unzip here"
fi
zones() { TZ=Asia/Kolkata fit --lambda 2 -o z1 train.csv && TZ=America/Lima fit --lambda 2 -o z2 train.csv && cmp m z1 && cmp m z2; }
ok "the model has the same bytes in every time zone" zones

if [ -n "$SHARED" ] && command -v python3 >/dev/null; then
    ok "the shared cases of predict, eval and output files hold" \
        python3 "$SHARED/cases/run_cases.py" --bin "$GCG" --only '^(G16[a-fk]|B16[de]|O08[a-e]|O10a|F21c|F22b) '
else
    skip "the shared cases of predict, eval and output files hold" "no ../shared or no python3"
fi
done_testing
