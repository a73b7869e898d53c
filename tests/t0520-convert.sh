#!/bin/bash
# gcg-mc convert on the command line: text to store and back, the store wherever ratings are taken, damage, places.
# shellcheck disable=SC1091,SC2317,SC2016 # lib.sh stands beside; functions are called by name
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

convert() { "$GCG" convert --quiet "$@"; }
sorted() { LC_ALL=C sort; }
"$GCG" synth --quiet --users 300 --items 200 --ratings 6000 --test te.csv --test-ratings 500 -o tr.csv
convert tr.csv -o tr.gcs
convert te.csv -o te.gcs

# ---- the same ratings ----
facts() { "$GCG" check --quiet "$@" | sed 1,2d | grep -v '^memory_bytes'; }
ok "a store is checked like the text it came from" diff <(facts --test te.csv --lambda-max tr.csv) <(facts --test te.gcs --lambda-max tr.gcs)
named() { "$GCG" check tr.gcs >out 2>err && grep -x 'format	gcs' out && grep -qx 'gcg-mc: tr.gcs: note: read as gcs' err; }
ok "it is called gcs" named
same_model() { # the options of a fit that reads text.csv and store.gcs
    "$GCG" fit --quiet --lambda 8 --log none --threads "$1" "${@:2}" -o m1 tr.csv && cp m1 m1.text &&
        "$GCG" fit --quiet --lambda 8 --log none --threads 2 "${@:2}" -o m1 tr.gcs && cmp m1 m1.text
}
ok "a fit gives the same model, to the byte" same_model 1
ok "so does a centred one" same_model 2 --center both
ok "also where centred ratings are floats" same_model 1 --center item --precision float
ok "and one in doubles" same_model 1 --precision double --center user
ok "and one with a hold-out" same_model 1 --holdout 0.2 --seed 9
sed 1d tr.csv | head -n 100 | cut -d , -f 1,2 >pairs.csv
ok "and one that gives up test pairs" same_model 1 --test-pairs pairs.csv
test_sets() {
    "$GCG" fit --quiet --lambda 8 --test te.csv --valid te.csv --log l1 -o m tr.csv && "$GCG" fit --quiet --lambda 8 --test te.gcs --valid te.gcs --log l2 -o m tr.gcs &&
        diff <(grep -v '^#' l1 | cut -f 1,3-10) <(grep -v '^#' l2 | cut -f 1,3-10)
}
ok "test and validation ratings come from a store, too" test_sets
scores() { diff <("$GCG" eval --quiet m te.csv) <("$GCG" eval --quiet --train tr.gcs m te.gcs) &&
    diff <("$GCG" predict --quiet m te.csv | sorted) <("$GCG" predict --quiet m te.gcs | sorted); }
ok "eval and predict take one" scores
several() { sed 1d tr.csv >all && sed 1d te.csv >>all && convert all -o all.gcs && convert tr.gcs te.csv -o both.gcs &&
    convert tr.csv te.gcs -o both2.gcs && cmp all.gcs both.gcs && cmp all.gcs both2.gcs; }
ok "stores and text are read as one" several
stdin_file() { "$GCG" check --quiet - <tr.gcs | diff - <("$GCG" check --quiet tr.gcs); }
ok "standard input may be a store" stdin_file
from_pipe() { local status; cat tr.gcs | "$GCG" check - 2>err; status=${PIPESTATUS[1]}; test "$status" = 4 && grep -q 'stdin.*a binary store .* in a pipe' err; }
ok "but not through a pipe" from_pipe
packed() { gzip -c tr.gcs >tr.gcs.gz; "$GCG" check tr.gcs.gz 2>err; test $? = 4 && grep -q 'tr.gcs.gz.*a binary store .* compressed' err; }
ok "nor compressed" packed
threads() { convert --threads 1 tr.csv -o t1.gcs && convert --threads 2 tr.csv -o t2.gcs && cmp t1.gcs t2.gcs && cmp t1.gcs tr.gcs; }
ok "the same bytes for any number of threads" threads
again() { cp tr.gcs x.gcs && convert x.gcs -o y.gcs && cmp x.gcs y.gcs; }
ok "a store of a store is the same" again

# ---- text again ----
back() { convert tr.gcs -o "b.$1" && convert "b.$1" -o b.gcs && cmp b.gcs tr.gcs; }
for kind in csv tsv csv.gz tsv.gz; do
    ok "a store becomes $kind and a store again" back $kind
done
clean() { convert tr.gcs -o c.csv && sed 1d c.csv | sorted | diff - <(sed 1d tr.csv | sorted) && sed -n 1p c.csv | grep -x user,item,rating; }
ok "the text holds the same lines" clean
stdout() { convert tr.gcs -o - | cmp - b.tsv; }
ok "- is tsv on standard output" stdout
matrix() { printf '%%%%MatrixMarket matrix coordinate real general\n4 5 3\n2 2 7\n4 1 -0.5\n1 2 0.1\n' >m.mtx && convert m.mtx -o m.gcs &&
    "$GCG" check --quiet m.gcs | grep -xE 'empty_(users|items)	[13]' | wc -l | grep -x 2 && convert m.gcs -o m2.mtx.gz && gzip -dc m2.mtx.gz |
    diff - <(printf '%%%%MatrixMarket matrix coordinate real general\n4 5 3\n1 2 0.1\n2 2 7\n4 1 -0.5\n') && convert m2.mtx.gz -o m2.gcs && cmp m.gcs m2.gcs; }
ok "a matrix keeps its empty rows and columns" matrix
left_out() { "$GCG" convert m.gcs -o m.tsv 2>err && grep -q 'm.tsv: 1 users and 3 items without ratings left out' err; }
ok "text without a place for them says so" left_out
no_matrix() { "$GCG" convert "$1" -o no.mtx 2>err; test $? = 4 && grep -q "'$2' does not fit" err && test ! -e no.mtx; }
printf 'a,1,2\n' >names.csv
printf '1,1,2\n3,2,4\n' >gap.csv
ok "names do not become a matrix" no_matrix names.csv a
ok "nor do numbers with a gap" no_matrix gap.csv 3
printf '"a,b",x;y;4,1\n"say ""hi""", lead ,2\n" lead",#no comment,0.1\n\xc3\xa9\xff,%%,1e-9\n007,7,-3\n7,a::b,100\n"#1",u|2,1e100\n"1:",1;2;3,5\n' >odd.csv
odd() { convert odd.csv -o odd.gcs && convert odd.gcs -o "o.$1" && convert "o.$1" -o o.gcs && cmp o.gcs odd.gcs && "$GCG" check --quiet "o.$1" | grep -x "ratings	8"; }
ok "ids with unusual bytes survive csv" odd csv
ok "and tsv" odd tsv
long_ids() { awk 'BEGIN { s = sprintf("%1024s", ""); gsub(/ /, "\"", s); for (i = 0; i < 9; i++) { t = s; gsub(/"/, "\"\"", t); printf "\"%s\",%s%d,%d\n", t, "x", i, i } }' >long.csv &&
    convert long.csv -o long.gcs && convert long.gcs -o long2.csv && convert long2.csv -o long2.gcs && cmp long.gcs long2.gcs; }
ok "ids of the greatest length do, too" long_ids

# ---- reading options ----
printf '1,1,5\n1,1,2\n2,1,99\n2,2,4\n' >dup.csv
refused_duplicates() { "$GCG" convert dup.csv -o d.gcs 2>err; test $? = 4 && grep -q "dup.csv:2:1.*rates item '1' again" err && test ! -e d.gcs; }
ok "duplicates are refused as in fit" refused_duplicates
merged() { convert --duplicates mean --value-map 99=drop dup.csv -o d.gcs && convert d.gcs -o - | diff - <(printf 'user\titem\trating\n1\t1\t3.5\n2\t2\t4\n') &&
    "$GCG" check --quiet d.gcs | grep -x 'duplicates	1'; }
ok "or merged, and remembered" merged
remapped() { convert --value-map 4=1 d.gcs -o - | diff - <(printf 'user\titem\trating\n1\t1\t3.5\n2\t2\t1\n'); }
ok "value maps apply to a store" remapped
layout_ignored() { diff <("$GCG" check --quiet --format tsv --columns 3,2,1 --header yes tr.gcs) <("$GCG" check --quiet tr.gcs); }
ok "options of the layout of text do not concern it" layout_ignored

# ---- damage ----
damaged() { "$GCG" "${@:2}" 2>err >out; test $? = 4 && grep -q "bad.gcs: error: $1" err && test ! -s out; }
flip() { cp tr.gcs bad.gcs && printf '\x55' | dd of=bad.gcs bs=1 seek="$1" conv=notrunc 2>/dev/null; }
flip 40000
ok "a changed byte is found by check" damaged 'is damaged: the check sum of the' check bad.gcs
ok "by fit" damaged 'is damaged' fit --lambda 8 --log none -o m bad.gcs
ok "by fit as test data" damaged 'is damaged' fit --lambda 8 --log none --test bad.gcs -o m tr.csv
ok "by convert" damaged 'is damaged' convert bad.gcs -o x.tsv
ok "among several files" damaged 'is damaged' check te.csv bad.gcs
flip 12
ok "a newer version is refused" damaged 'is a binary store of version 85' check bad.gcs
flip 9
ok "so is a header that does not fit" damaged 'is damaged: the check sum of its header' check bad.gcs
cut_short() { head -c "$1" tr.gcs >bad.gcs; damaged "is cut short: $2" check bad.gcs; }
ok "one that is cut short" cut_short 30000 '30000 of '
ok "in its header, too" cut_short 100 'a binary store begins with'
mangled() { sed 's/\r//' tr.gcs >bad.gcs; "$GCG" check bad.gcs 2>err; test $? = 4 && grep -q 'a binary store of gcg-mc .*damaged' err; }
ok "one that was transferred as text" mangled
shrinks() { # while a fit runs on it
    awk 'BEGIN { srand(7); for (u = 1; u <= 300; u++) for (i = 1; i <= 200; i++) if (rand() < 0.3) printf "%d\t%d\t%d\n", u, i, 1 + int(5 * rand()) }' >noise.tsv
    convert noise.tsv -o s.gcs
    rm -f log
    "$GCG" fit --lambda 1 --gap 1e-13 --plain --max-iter 1000000 --threads 1 --precision float --log log -o sm s.gcs >out 2>err &
    local pid=$! status=0
    iterating log
    : >s.gcs
    wait $pid || status=$?
    test $status = 5 && grep -q 'binary store was cut short' err && test ! -e sm
}
case $("$GCG" --version) in
*sanitize*) skip "a store that is cut short while in use ends the fit with a message" "the sanitizer takes that signal" ;;
*) ok "a store that is cut short while in use ends the fit with a message" shrinks ;;
esac

# ---- places ----
nothing_left() { ls -A place >left; test ! -s left; }
mkdir place
refused() { "$GCG" convert "${@:3}" >out 2>err; test $? = "$1" && test ! -s out && grep -q -e "$2" err && nothing_left; }
ok "no -o is refused" refused 2 'no -o FILE' tr.csv
ok "no input is refused" refused 2 'at least one' -o place/x.gcs
ok "a name that says nothing is refused" refused 2 '.csv, .tsv or .mtx' tr.csv -o place/x
ok "so is one that is all ending" refused 2 'the name says' tr.csv -o .gcs
ok "a store is not compressed" refused 2 'not compressed' tr.csv -o place/x.gcs.gz
ok "-o is none of the inputs" refused 2 'one of the inputs' te.csv tr.gcs -o tr.gcs
ok "standard input is named once" refused 2 'twice' - - -o place/x.gcs
ok "a folder that is not there is refused before anything is read" refused 5 'no/x.gcs' missing.csv -o place/no/x.gcs
ok "a file that is not there, too" refused 5 'missing.csv: error: cannot open' missing.csv -o place/x.gcs
printf '1,2,3\n1,3,x\n' >wrong.csv
ok "bad data leave nothing" refused 4 'wrong.csv:2:5: error' wrong.csv -o place/x.gcs
closed_pipe() { convert tr.csv tr.csv --duplicates last -o - 2>err | head -n 1 >/dev/null; test "${PIPESTATUS[0]}" = 0 && test ! -s err; }
ok "a closed pipe ends it quietly" closed_pipe
if [ -w /dev/full ]; then
    full() { convert tr.csv -o - >/dev/full 2>err; test $? = 5 && grep -q 'stdout: error: cannot write' err; }
    ok "a full disk is told" full
else
    skip "a full disk is told" "no /dev/full"
fi
limit() { echo old >place/o.gcs; (ulimit -f 20 && convert tr.csv -o place/o.gcs) 2>err; test $? = 5 && grep -q 'place/o.gcs: error: cannot write' err && echo old | cmp - place/o.gcs && rm place/o.gcs && nothing_left; }
ok "a file that cannot grow leaves the old one" limit
signalled() { # SIGNAL, exit status
    "$GCG" synth --quiet --shape ml-1m -o big.csv || return 1
    echo old >place/o.tsv.gz
    "$GCG" convert --quiet big.csv -o place/o.tsv.gz 2>err &
    local pid=$! tries=0 status=0
    until [ "$(ls -A place | wc -l)" -gt 1 ]; do
        sleep 0.01
        tries=$((tries + 1))
        [ $tries -lt 1000 ] || return 1
    done
    sleep 0.05
    kill -"$1" $pid
    wait $pid 2>/dev/null || status=$?
    test $status = "$2" && echo old | cmp - place/o.tsv.gz && rm place/o.tsv.gz
}
ok "a signal stops it and leaves the old file" signalled TERM 130
ok "and no temporary one" nothing_left
ok "a kill leaves the old file" signalled KILL 137
done_testing
