#!/bin/bash
# gcg-mc fold-in: training users get their rows back, new users' rows solve their problem, lists, the new model.
# shellcheck disable=SC1091,SC2317 # lib.sh stands beside; functions are called by name
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

fold() { "$GCG" fold-in "$@" 2>err; }
fit() { "$GCG" fit --quiet --log none "$@"; }
"$GCG" synth --quiet --users 200 --items 120 --ratings 5000 -o all.csv
awk -F , 'NR > 1 && $1 > 180' all.csv >late.csv # users 181 to 200 come later
awk -F , 'NR == 1 || $1 <= 180' all.csv >tr.csv

# ---- rows ----
# Largest difference of the predictions of two models on the pairs of FILE.
apart() { paste <("$GCG" predict --quiet "$1" "$3") <("$GCG" predict --quiet "$2" "$3") |
    awk -F '\t' -v most="$4" 'NR > 1 { d = $3 - $7; if (d < 0) d = -d; if (d > m) m = d } END { print m; exit !(NR > 1 && m <= most) }'; }
own_rows() { # CENTER TOLERANCE: all training users, folded in with what they were trained on
    fit --center "$1" --precision double --gap 1e-11 --lambda 3 -o "m.$1" tr.csv && fold -n 0 -o again "m.$1" tr.csv && apart "m.$1" again tr.csv "$2"
}
ok "a training user with its own ratings gets its own row" own_rows none 1e-5
ok "also with user biases" own_rows user 1e-5
ok "and with item biases" own_rows item 1e-5
ok "with both, whose sweeps end before the biases settle, nearly" own_rows both 1e-2
weighted_rows() {
    fit --norm-weights 0.8,0.5 --norm-smooth 0.1 --precision double --gap 1e-11 --lambda 3 -o m.weighted tr.csv &&
        fold -n 0 -o again m.weighted tr.csv && apart m.weighted again tr.csv 1e-5 && ! apart m.none again tr.csv 1e-2
}
ok "and where the norm is weighted" weighted_rows
biased_rows() { # the last factor of the items is the same for all
    fit --norm-weights 0.8 --user-bias 2 --precision double --gap 1e-11 --lambda 3 -o m.biased tr.csv &&
        fold -n 0 -o again m.biased tr.csv && apart m.biased again tr.csv 1e-5 && ! apart m.weighted again tr.csv 1e-2
}
ok "and where biases were fitted" biased_rows
still() { fold -n 0 -o new m.weighted late.csv && fold -n 0 -o back new late.csv && cmp new back; }
ok "whose weights stay those of the fit when users come" still
# The row problem, from the exported factors: lambda u = sum_j (x - mu - b_u - b_j - u . v_j) v_j.
stationary() { # CENTER
    fold -n 0 -o new "m.$1" late.csv && "$GCG" export --quiet new --to tsv -o e && awk -F '\t' -v OFS=, -v lambda=3 '
        FILENAME == "e.center_mean.tsv" { mu = $1; next }
        FILENAME ~ /items/ { for (q = 2; q < NF; q++) v[$1, q] = $q; bj[$1] = $NF; k = NF - 1; next }
        FILENAME ~ /users/ { for (q = 2; q < NF; q++) u[$1, q] = $q; bi[$1] = $NF; next }
        { split($0, f, ","); r = f[3] - mu - bi[f[1]] - bj[f[2]]; for (q = 2; q <= k; q++) r -= u[f[1], q] * v[f[2], q]
          for (q = 2; q <= k; q++) g[f[1], q] += r * v[f[2], q]; seen[f[1]] }
        END { for (i in seen) for (q = 2; q <= k; q++) { d = g[i, q] - lambda * u[i, q]; if (d < 0) d = -d; if (d > m) m = d; n++ }
          print m, n; exit !(n > 50 && m < 1e-9) }' e.center_mean.tsv e.items.tsv e.users.tsv late.csv
}
ok "new users' rows solve their problem" stationary none
ok "with user biases" stationary user
ok "with both" stationary both
bias() { awk -F , -v mu="$(sed -n 2p e.center_mean.tsv)" 'NR == FNR { split($0, f, "\t"); b[f[1]] = f[length(f)]; next }
        $1 == 190 { s += $3 - mu - b[$2]; n++ } END { printf "%.12f\n", s / (n + 5) }' e.items.tsv late.csv; }
bias_is() { test "$(awk -F '\t' '$1 == 190 { printf "%.12f\n", $NF }' e.users.tsv)" = "$(bias)"; }
ok "a user bias is the shrunk mean of the contract" bias_is
few() { fit --lambda 0.5 -o m.few tr.csv && grep '^19[0-9],' late.csv | awk -F , 'c[$1]++ < 2' >two.csv && fold -n 0 -o new m.few two.csv && fold -n 0 -o back new two.csv && cmp new back; }
ok "few ratings and many factors: folding in again changes nothing" few
better() { fold -n 0 -o new m.both late.csv && "$GCG" eval --quiet new late.csv >e1 && "$GCG" eval --quiet m.both late.csv >e2 &&
    awk -F '\t' '$1 == "all" { r[++n] = $3 } END { exit !(r[1] < r[2]) }' e1 e2; }
ok "folded-in users are predicted better than new ones" better

# ---- the new model ----
ids() { unzip -p "$1" users.txt; }
order() { diff <(seq 180; awk -F , '{ print $1 }' late.csv | sort -un) <(ids new); }
counts() { "$GCG" eval --quiet new late.csv | awk -F '\t' '$1 == "all" { a = $2 } $1 == "seen" { exit !($2 == a) }'; }
old_users() { apart m.both new tr.csv 0; }
if command -v unzip >/dev/null; then
    ok "new users stand behind the old ones" order
    says() { unzip -p new model.json | grep -q '"folded_in": 20$' && fold -n 0 -o newer new all.csv && unzip -p newer model.json | grep -q '"folded_in": 20$' &&
        printf 'x,1,3\n' >x.csv && fold -n 0 -o newest new x.csv && unzip -p newest model.json | grep -c folded_in | grep -qx 1 && unzip -p newest model.json | grep -q '"folded_in": 21$'; }
    ok "model.json says how many came later" says
else
    skip "new users stand behind the old ones" "no unzip here"
fi
ok "they are seen from now on" counts
ok "the others' predictions stay" old_users
untouched() { cp m.both before && fold m.both late.csv && cmp before m.both; }
ok "MODEL is not touched" untouched
same_bytes() { fold -n 0 --threads 1 -o t1 m.both late.csv && fold -n 0 --threads 2 -o t2 m.both late.csv && cmp t1 t2; }
ok "the same bytes for any number of threads" same_bytes
shuffled() { shuf --random-source=all.csv late.csv >s.csv && fold -n 0 -o t2 m.both s.csv && cmp t1 t2; }
ok "and any order of lines" shuffled
store() { "$GCG" convert --quiet late.csv -o late.gcs && fold -n 0 -o t2 m.both late.gcs && cmp t1 t2; }
ok "ratings may be a binary store" store
parts() { head -n 100 late.csv >p1.csv && tail -n +101 late.csv | gzip >p2.csv.gz && fold -n 0 -o t2 m.both p1.csv p2.csv.gz && cmp t1 t2; }
ok "or several files" parts
warm() { "$GCG" fit --quiet --log none --center both --precision double --gap 1e-6 --lambda 3 --init new -o warm all.csv; }
ok "a fit can start from it" warm

# ---- lists ----
lists() { fold m.both late.csv >l && "$GCG" recommend --users all --exclude late.csv new | awk -F '\t' 'NR == 1 || $1 > 180' | diff l -; }
ok "the lists are those of recommend with the new model, without the ratings just given" lists
also() { awk -F , '{ print $1 ",7" }' late.csv | sort -u >seven.csv && fold --exclude seven.csv m.both late.csv | awk -F '\t' '$3 == 7 { exit 1 }'; }
ok "--exclude leaves out more" also
clip() { fold --clip 3,4 m.both late.csv | awk -F '\t' 'NR > 1 && ($4 < 3 || $4 > 4) { exit 1 }'; }
ok "--clip cuts scores" clip
stdin() { fold m.both - <late.csv | cmp - l; }
ok "- is standard input" stdin
none_listed() { test "$(fold -n 0 m.both late.csv)" = "$(printf 'user\trank\titem\tscore')"; }
ok "-n 0 lists nothing" none_listed
strangers() { printf 'a,1,5\na,nothing,4\nb,nothing,2\n' >str.csv && fold -o new m.both str.csv >l && grep -q '2 of 3 ratings left out' err && grep -q '1 of 2 users have no rating' err &&
    diff <(awk -F '\t' '$1 == "b"' l) <("$GCG" recommend --quiet --unknown mean --user b m.both | sed 1d) && printf 'b,5\n' | "$GCG" predict --quiet new - | grep -q new_user; }
ok "items that the model does not know are left out; who has no others gets the items by their mean" strangers

# ---- usage and places ----
exits 4 "a rating given twice is refused" fold m.both <(cat late.csv late.csv)
ok "--duplicates last takes it" fold --duplicates last m.both <(cat late.csv late.csv)
exits 2 "ratings are wanted" fold m.both
exits 2 "-o over an input is refused" fold -o m.both m.both late.csv
exits 2 "a model does not go to standard output" fold -o - m.both late.csv
exits 2 "standard input twice is refused" fold --exclude - m.both -
exits 5 "a folder that is not there is told" fold -o none/x m.both late.csv
exits 4 "a ratings file is not a model" fold tr.csv late.csv
full() { "$GCG" fold-in -o kept m.both late.csv >/dev/full; }
exits 5 "a full disk behind standard output is reported" full
ok "but the model is there" cmp kept t1
signalled() { # while ratings come slowly
    { { cat late.csv; sleep 1; } | "$GCG" fold-in --quiet -o stopped m.both - >/dev/null 2>err & }
    local pid=$! status=0
    sleep 0.4
    kill -TERM $pid
    wait $pid 2>/dev/null || status=$?
    test $status = 130 && test -z "$(find . -name '*stopped*')"
}
ok "a signal before the model is written leaves none" signalled
zero() { fit --lambda 1e6 -o zero tr.csv 2>/dev/null; fold zero late.csv >/dev/null; }
ok "a model without factors takes users, too" zero
capped() { fit --lambda 0 --rank 4 --max-iter 5 -o capped tr.csv; fold -n 0 -o new capped late.csv && "$GCG" predict --quiet new late.csv | awk -F '\t' 'NR > 1 && $3 + 0 != $3 { exit 1 }'; }
ok "so does one of lambda 0" capped
done_testing
