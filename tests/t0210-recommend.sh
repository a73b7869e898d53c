#!/bin/bash
# gcg-mc recommend: against predict and sort, excluded pairs, new users, lists of users, streams and places.
# shellcheck disable=SC1091,SC2317 # lib.sh stands beside; functions are called by name
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

recommend() { "$GCG" recommend "$@" 2>err; }
"$GCG" synth --quiet --users 300 --items 200 --ratings 6000 -o tr.csv
"$GCG" fit --quiet --log none --center both --lambda 3 -o m tr.csv
sed 1d tr.csv | cut -d , -f 1 | sort -un >users
sed 1d tr.csv | cut -d , -f 2 | sort -un >items # the model's order: numbers by value

# The definition: every pair predicted, the excluded ones dropped, sorted by score, then by item.
naive() { # MODEL N EXCLUDE USERS [OPTION...]
    awk 'NR == FNR { user[++n] = $1; next } { for (i = 1; i <= n; i++) print user[i] "\t" $1 }' "$4" items |
        "$GCG" predict --quiet "${@:5}" "$1" - | awk -F '\t' -v exclude="$3" -v users="$4" '
            BEGIN { while ((getline line <exclude) > 0) { split(line, f, ","); gone[f[1], f[2]] = 1 }
                while ((getline line <users) > 0) place[line] = ++n }
            FNR > 1 && !(($1, $2) in gone) { printf "%d\t%s\t%s\t%s\n", place[$1], $1, $2, $3 }' |
        LC_ALL=C sort -t "$(printf '\t')" -k 1,1n -k 4,4gr -k 3,3n |
        awk -F '\t' -v n="$2" 'BEGIN { print "user\trank\titem\tscore" } $1 != last { rank = 0; last = $1 }
            ++rank <= n { print $2 "\t" rank "\t" $3 "\t" $4 }'
}
same() { recommend --users all --exclude tr.csv -n "$1" "${@:2}" m | diff - <(naive m "$1" tr.csv users); }
ok "the best items are those of predict, sorted, without the pairs of --exclude" same 12
ok "also all of them" same 200
ok "for any number of threads" same 7 --threads 1
: >none
without() { recommend --users all -n 5 m | diff - <(naive m 5 none users); }
ok "without --exclude every item may come" without
ok "and a note says so" grep -q 'note: items that a user has rated already' err
ok "--top is -n, by default 10" test "$(recommend --user 7 m)" = "$(recommend --user 7 --top 10 m)"
ok "ten rows" test "$(recommend --user 7 m | wc -l)" = 11

# ---- what is left out ----
gzip -c tr.csv >tr.csv.gz
"$GCG" convert --quiet tr.csv -o tr.gcs
sed 1d tr.csv | cut -d , -f 1,2 >pairs.csv
sed 1d tr.csv | awk -F , '{ print $2 ":"; print $1 "," $3 ",2005-01-01" }' >tr.netflix
recommend --users all --exclude tr.csv m >r
excluding() { recommend --users all "$@" m | cmp - r; }
ok "pairs may be a gzip file" excluding --exclude tr.csv.gz
ok "a binary store" excluding --exclude tr.gcs
ok "pairs without ratings" excluding --exclude pairs.csv
ok "another format" excluding --exclude tr.netflix
from_stdin() { recommend --users all --exclude - m <pairs.csv | cmp - r; }
ok "or standard input" from_stdin
head -n 3000 pairs.csv >p1.csv
tail -n +2000 pairs.csv >p2.csv
ok "several files are read as one, pairs may repeat" excluding --exclude p1.csv --exclude p2.csv
twice() { recommend --user 1 --exclude pairs.csv --exclude tr.csv m >out && ! grep -q duplicates err; }
ok "which nobody needs to be told" twice
: >nothing.csv
without_pairs() { recommend --users all --exclude nothing.csv m >out && recommend --users all m | cmp - out; }
ok "an empty file leaves nothing out" without_pairs
recommend --user 1 --exclude nothing.csv m >out
ok "with a warning" grep -q '^gcg-mc: nothing.csv: warning: no pairs in it' err
printf '1,no-such-item\nno-such-user,1\n' >foreign.csv
ok "unknown ids in it do not matter" excluding --exclude tr.csv --exclude foreign.csv
printf '1,2,3\n1,2,x\n' >bad.csv
exits 4 "a bad line in it is an error" recommend --users all --exclude bad.csv m
ok "with its place" grep -q '^gcg-mc: bad.csv:2:5: error' err
few() { # all items but two are excluded
    tail -n +3 items | sed 's/^/5,/' >most.csv && test "$(recommend --user 5 --exclude most.csv m | cut -f 3 | sed 1d | sort -n)" = "$(head -n 2 items)"; }
ok "fewer items left: fewer rows" few

# ---- users ----
sort -n -r users >backwards
listed() { recommend --users "$1" --exclude tr.csv m | diff - <(naive m 10 tr.csv backwards); }
ok "a list of users keeps its order" listed backwards
gzip -c backwards >backwards.gz
ok "it may be compressed" listed backwards.gz
sed 's/$/\tmore\r/' backwards | { printf '\xef\xbb\xbf# comment\n\n'; cat; } >odd
ok "comments, blank lines, further columns, CRLF and a mark at the start are skipped" listed odd
on_stdin() { recommend --users - --exclude tr.csv m <backwards | diff - <(naive m 10 tr.csv backwards); }
ok "- is standard input" on_stdin
printf '5\n7\n' >two
repeated() { test "$(recommend --user 5 --user 7 m)" = "$(recommend --users two m)"; }
ok "--user may be repeated" repeated
printf '5\nnobody\n7\n' >three
exits 4 "a new user ends the run" recommend --users three m
ok "with file, line, column and id" grep -q "^gcg-mc: three:2:1: error: user 'nobody' has no training ratings" err
exits 4 "also one of the command line" recommend --user nobody m
ok "with its id" grep -q "^gcg-mc: error: user 'nobody'" err
nothing() { test -z "$(recommend --user nobody m)"; }
ok "and nothing is printed" nothing
skipped() { recommend --unknown skip --users three m | cmp - <(recommend --users two m) && recommend --unknown skip --users three m >/dev/null && grep -q '1 of 3 users left out' err; }
ok "--unknown skip leaves it out and says so" skipped
only_header() { test "$(recommend --unknown skip --user nobody m)" = "$(printf 'user\trank\titem\tscore')"; }
ok "a header is left when nobody is" only_header
echo nobody >nobody
by_mean() { recommend --unknown mean --user nobody --exclude foreign.csv "$@" m | diff - <(naive m 10 foreign.csv nobody "$@"); }
ok "--unknown mean ranks by the items' means" by_mean
ok "with --shrink as in predict" by_mean --shrink 0
mixed() { recommend --unknown mean --users three --exclude tr.csv m | diff - <(naive m 10 tr.csv three); }
ok "between other users, too" mixed
printf '5\n"a\n' >quote
exits 4 "a bad list of users is refused" recommend --users quote m
ok "with its place" grep -q '^gcg-mc: quote:2:1: error' err
head -c 60 backwards.gz >cut.gz
exits 4 "a list that was cut short, too" recommend --users cut.gz m

# ---- clipping: scores are cut, the order stays ----
clipped() { recommend --users all --clip 3,4 --exclude tr.csv m >c && diff <(cut -f 1-3 c) <(cut -f 1-3 r) &&
    paste c r | awk -F '\t' 'NR > 1 { want = $8 > 4 ? 4 : $8 < 3 ? 3 : $8; if ($4 + 0 != want + 0) exit 1 }'; }
ok "--clip cuts scores and keeps the order" clipped

# ---- items without ratings, equal scores, a zero model ----
printf '%%%%MatrixMarket matrix coordinate real general\n4 6 5\n1 1 5\n1 3 4\n2 1 3\n2 5 1\n4 3 2\n' >holes.mtx
"$GCG" fit --quiet --log none --lambda 1 -o holes holes.mtx
new_items() { test "$(recommend --user 1 holes | cut -f 3 | sed 1d | sort -n | xargs)" = "1 3 5" && grep -q '3 of 6 items have no training ratings' err; }
ok "items without ratings are never listed" new_items
new_rows() { test "$(recommend --users all holes | cut -f 1 | sed 1d | uniq | xargs)" = "1 2 4" && grep -q '1 of 4 users left out' err; }
ok "all users are those with ratings" new_rows
exits 4 "a user of the model without ratings is new" recommend --user 3 holes
"$GCG" fit --quiet --log none --lambda 1e6 -o zero tr.csv 2>/dev/null
ties() { test "$(recommend --user 9 -n 15 zero | cut -f 3 | sed 1d)" = "$(head -n 15 items)"; }
ok "equal scores are in the model's order" ties

# ---- streams and places ----
packed() { recommend --users all --exclude tr.csv -o out.tsv.gz m && gzip -dc out.tsv.gz | cmp - r; }
ok "-o NAME.gz is compressed" packed
to_file() { recommend --users all --exclude tr.csv -o out.tsv m && cmp out.tsv r; }
ok "-o writes the same" to_file
stays() { recommend --users three -o out.tsv m; test $? = 4 && cmp out.tsv r && test -z "$(find . -name '.out.tsv*')"; }
ok "a failed run leaves the old file and nothing else" stays
long_list() { yes 5 | head -n 20000 | recommend --users - -n 3 m | awk 'END { exit NR != 60001 }'; }
ok "many users are a stream" long_list
no_reader() { yes 5 | recommend --users - m | head -n 1 >/dev/null && test -z "$(grep error err)"; }
ok "a reader that goes away ends the run quietly" no_reader
full() { "$GCG" recommend --users all m >/dev/full; }
exits 5 "a full disk is reported" full
exits 5 "a folder that is not there is told before anything is read" recommend --users all -o none/x m

signalled() { # while users come without end
    mkdir place && echo old >place/o.tsv && { yes 5 2>/dev/null | "$GCG" recommend --quiet --users - -o place/o.tsv m 2>err & }
    local pid=$! tries=0 status=0
    until [ "$(find place -name '.o*' -size +0 | wc -l)" = 1 ] || [ $tries = 1000 ]; do sleep 0.01; tries=$((tries + 1)); done
    kill -TERM $pid
    wait $pid 2>/dev/null || status=$?
    test $status = 130 && test "$(ls -A place)" = o.tsv && echo old | cmp - place/o.tsv
}
ok "a signal stops it and leaves the old file, and no other" signalled

# ---- usage ----
exits 2 "no user is refused" recommend m
exits 2 "both kinds of users are refused" recommend --user 1 --users all m
exits 2 "no model is refused" recommend --users all
exits 2 "n must be at least 1" recommend --user 1 -n 0 m
exits 2 "standard input twice is refused" recommend --users - --exclude - m
exits 2 "-o over an input is refused" recommend --users all --exclude tr.csv -o tr.csv m
exits 4 "a ratings file is not a model" recommend --users all tr.csv
done_testing
