#!/bin/bash
# Reading rating files on the command line: check, formats, standard input, damage, the shared cases and data.
# shellcheck disable=SC1091,SC2016,SC2059 # lib.sh stands beside; quoted commands are for bash -c; formats are arguments
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

cat >train.csv <<'END'
userId,movieId,rating
1,1,5
1,2,3
1,4,1
2,1,4
2,4,1
2,5,2
3,2,1
3,3,5
3,5,4
4,3,4
4,4,2.5
END

# value KEY: what check printed for it last.
check() { "$GCG" check "$@" >out 2>err; }
value() { awk -F '\t' -v key="$1" '$1 == key { print $2 }' out; }
is() { [ "$(value "$1")" = "$2" ] || { echo "$1 is $(value "$1"), not $2"; return 1; }; }
all_are() {
    local pair
    for pair in "$@"; do is "${pair%%=*}" "${pair#*=}" || return 1; done
}
says() { grep -q -e "$1" err || { cat err; return 1; }; }

ok "check reads a csv file" check train.csv
ok "check prints the counts" all_are format=csv header=yes users=4 items=5 ratings=11 zeros=0 min=1 max=5 \
    duplicates=0 empty_users=0 empty_items=0
ok "check prints every value with its count" all_are value:1=3 value:2=1 value:2.5=1 value:3=1 value:4=3 value:5=2
ok "check prints quantiles of the degrees" all_are degree_user:0=2 degree_user:0.5=3 degree_user:1=3 degree_item:1=3
ok "check estimates the memory of a fit" test "$(value memory_bytes)" -gt 1000
ok "check has only key TAB value lines" bash -c '! grep -vP "^[a-z_]+(:[-+.0-9e]+)?\t\S+$" out'
ok "the choice of format is told on stderr" says 'train.csv: note: read as csv, with a header line'
ok "--quiet drops the note" bash -c '"$GCG" check --quiet train.csv 2>err >out && test ! -s err'

printf 'u,i,r\n1,1,4\n1,3,2\n9,1,1\n1,77,2\n88,99,5\n' >test.csv
ok "check --test reads both files" check --test test.csv train.csv
ok "check --test counts overlap and new ids" all_are test_n=5 test_overlap=1 test_new_users=2 test_new_items=2
ok "check --lambda-max computes it" check --lambda-max train.csv
ok "lambda_max is a positive number" awk -F '\t' '$1 == "lambda_max" && $2 > 5 && $2 < 10 { ok = 1 } END { exit !ok }' out

awk 'BEGIN { for (u = 1; u <= 30; u++) for (i = 1; i <= 20; i++) printf "%d\t%d\t%.3f\n", u, i, (u * 37 + i * 101) % 997 / 100 }' >many.tsv
ok "check reads a file with many different values" check many.tsv
ok "more than 200 values are counted in 20 bins" test "$(grep -c '^value:' out)" = 20
ok "the bins hold every rating" test "$(awk -F '\t' '/^value:/ { n += $2 } END { print n }' out)" = 600

printf '1,1,5\n1,2,3\n1,1,2\n' >twice.csv
exits 4 "a pair that occurs twice ends check with 4" check twice.csv
ok "and the counts are printed all the same" all_are ratings=2 duplicates=1
ok "the message names both lines and the option" says 'twice.csv:3:1: error: .*first on line 1.*--duplicates'
ok "with --duplicates mean check accepts it" check --duplicates mean twice.csv
ok "and the mean is stored" all_are max=3.5 duplicates=1
ok "and the merged pairs are told" says '1 pairs occurred more than once and were merged'

# ---- the same ratings in every layout, order and wrapping give the same model, byte for byte ----
fit() { "$GCG" fit --quiet --log none --lambda 1 "$@"; }
ok "a fit of the csv file" fit -o csv.m train.csv
tail -n +2 train.csv >plain.csv
tr , '\t' <plain.csv >plain.tsv
sed 's/,/::/g' plain.csv | tac >reverse.dat
{ echo '%%MatrixMarket matrix coordinate real general'; echo '4 5 11'; tr , ' ' <plain.csv; } >file.mtx
sort -t , -k 2,2n -k 1,1n plain.csv | awk -F , '$2 != last { print $2 ":"; last = $2 } { print $1 "," $3 ",2005-01-01" }' >netflix.txt
awk -F , '{ n[$1]++; line[$1] = line[$1] $2 "\t" $3 "\n" } END { for (u = 1; u <= 4; u++) printf "%d|%d\n%s", u, n[u], line[u] }' plain.csv >kdd.txt
shuf --random-source=train.csv plain.csv | sed 's/$/\r/' >shuffled.csv
for file in plain.tsv reverse.dat file.mtx netflix.txt kdd.txt shuffled.csv; do
    ok "a fit of $file gives the same bytes" bash -c '"$GCG" fit --quiet --log none --lambda 1 -o m "$0" && cmp csv.m m' "$file"
done
ok "so does gzip piped in through -" bash -c 'gzip -c reverse.dat | "$GCG" fit --quiet --log none --lambda 1 -o m - && cmp csv.m m'
ok "so do two files read as one" bash -c 'head -n 4 plain.csv >a.csv; tail -n +5 plain.tsv >b.tsv
    "$GCG" fit --quiet --log none --lambda 1 -o m b.tsv a.csv && cmp csv.m m'

printf '1:\n1\n2\n77:\n1\n' >probe.txt
ok "the pairs of a probe file become the test set" bash -c '"$GCG" fit --quiet --lambda 1 --test-pairs probe.txt -o m netflix.txt >log 2>err && grep -qP "^# test_n\t2$" log'
ok "the pairs that are not in training are counted" says '1 of 3 pairs of --test-pairs'
ok "also where the training file has no ratings" fit --implicit --test-pairs probe.txt -o m plain.csv

# ---- folders, standard input, damage ----
mkdir folder empty
csplit -s -z -f folder/mv_ -b '%07d.txt' netflix.txt '/:/' '{*}'
gzip folder/mv_0000002.txt
echo junk >folder/readme
ok "a folder of mv_ files, plain and gzip, gives the same bytes" bash -c '"$GCG" fit --quiet --log none --lambda 1 -o m folder && cmp csv.m m'
exits 5 "a folder without such files is an I/O error" check empty
ok "that names the folder" says '^gcg-mc: empty: error: '
exits 5 "a missing file is an I/O error" check nowhere.csv
exits 5 "a closed standard input is an I/O error" bash -c '"$GCG" check - <&- >out 2>err'
ok "that names stdin" says '^gcg-mc: stdin: error: '
exits 2 "standard input cannot be both training and test file" check --test - -
exits 2 "check without a file is a usage error" check
exits 2 "a malformed --columns is a usage error" check --columns 1,1,2 train.csv

gzip -c many.tsv >good.gz
head -c 700 good.gz >cut.gz
exits 4 "a gzip file cut short is refused" check cut.gz
ok "with the number of lines read so far" says '^gcg-mc: cut.gz: error: .*cut short; of the [1-9][0-9]* lines before nothing is used'
ok "and nothing is printed as if it were good" test ! -s out
{ cat good.gz; echo tail; } >tail.gz
exits 4 "bytes after the gzip data are refused" check tail.gz
{ cat good.gz; head -c 1000 /dev/zero; } >padded.gz
ok "zero padding is fine" check padded.gz
printf 'u,i,r\n1,2,\033[31m\n' >evil.csv
exits 4 "a rating of terminal codes is refused" check evil.csv
ok "without a raw escape on stderr" bash -c '! grep -q $'"'\\033'"' err'
ok "a locale with decimal commas changes nothing" bash -c 'LC_ALL=de_DE.UTF-8 "$GCG" check train.csv >de 2>/dev/null && "$GCG" check train.csv >c 2>/dev/null && cmp de c'

# ---- what the first lines are taken for ----
# a minus sign of Unicode, a dash, stars, a wide digit
for rating in $'\xe2\x88\x92'3 $'\xe2\x80\x94' $'\xe2\x98\x85' $'\xef\xbc\x93'; do
    printf '1,1,%s\n2,3,4\n' "$rating" >line1.csv
    exits 4 "a line with rating $(printf '%q' "$rating") is no header" check line1.csv
    ok "it is refused at its place" says "^gcg-mc: line1.csv:1:5: error: rating"
done
for name in Bewertung $'\xc3\xa9valuation' $'\xd0\xbe\xd1\x86' $'\xe8\xa9\x95\xe4\xbe\xa1'; do
    printf 'u,i,%s\n2,3,4\n' "$name" >line1.csv
    ok "a header line may say $(printf '%q' "$name")" check line1.csv
    ok "and is one" all_are header=yes ratings=1
done
pairs_are() { # TEXT USER ITEM: PAIRS of predict is read so
    printf "$1" | "$GCG" predict csv.m - 2>err | sed -n 2p | grep -qF "$2	$3	"
}
ok "in pairs with a comma, blanks belong to the ids" pairs_are 'ann,The Good Film\n' ann 'The Good Film'
ok "and make no rating of an id's last word" pairs_are 'ann,Film 2\n' ann 'Film 2'
ok "nor a header of the first line" pairs_are 'Jo A Lee,Film\n' 'Jo A Lee' Film
ok "nor hide a header with blanks" pairs_are 'User ID,Item ID\n1,2\n' 1 2
ok "the same with semicolons" pairs_are 'ann;The Good, Great Film\n' ann 'The Good, Great Film'
ok "blanks still are separators without a comma" pairs_are '1 2 4\n' 1 2
exits 4 "and with a decimal comma" bash -c 'printf "1 2 3,5\n" | "$GCG" predict csv.m - 2>err'
ok "which is told" says ':1:5: error: .*decimal comma'

# ---- the shared cases ----
if [ -n "$SHARED" ] && command -v python3 >/dev/null; then
    ok "the shared cases of reading hold" python3 "$SHARED/cases/run_cases.py" --bin "$GCG" --only '^(F|B|G01|G09b|G12|O09)'
else
    skip "the shared cases of reading hold" "no ../shared or no python3"
fi

# ---- public data: counts as its README gives them ----
counts() { # FILE FORMAT RATINGS USERS ITEMS MIN MAX [OPTION]...
    local file=$1 format=$2 ratings=$3 users=$4 items=$5 min=$6 max=$7
    shift 7
    check "$@" "$SHARED/data/$file" || { cat err; return 1; }
    all_are format="$format" ratings="$ratings" users="$users" items="$items" min="$min" max="$max"
}
data="the public data sets in the layouts of their publishers are counted right"
if [ -n "$SHARED" ] && [ -d "$SHARED/data" ]; then
    while read -r line; do
        # shellcheck disable=SC2086 # the words of the line are the arguments
        ok "${line%% *} is counted right" counts $line
    done <<'END'
ml-100k/u.data tsv 100000 943 1682 1 5
ml-100k/u1.base tsv 80000 943 1650 1 5
ml-100k/u1.test tsv 20000 459 1410 1 5
ml-100k/u2.base.gz tsv 80000 943 1648 1 5
ml-100k/u3.test.gz tsv 20000 869 1423 1 5
ml-100k/ua.base tsv 90570 943 1680 1 5
ml-100k/ub.test.gz tsv 9430 943 1145 1 5
ml-1m/ratings.dat.gz movielens 1000209 6040 3706 1 5
ml-1m/ratings.first200users.dat movielens 29415 200 2833 1 5
ml-1m/train.tsv.gz tsv 750157 6040 3671 1 5
ml-1m/test.tsv.gz tsv 250052 6039 3506 1 5
ml-latest-small/ratings.csv csv 100836 610 9724 0.5 5
ml-latest-small/ratings.crlf.csv.gz csv 100836 610 9724 0.5 5
ml-latest-small/ratings-2016.csv.gz csv 100004 671 9066 0.5 5
netflix/netflix-user-ratings-10k.csv csv 10000 9687 3451 1 5 --columns UserID,MovieID,Rating
netflix/combined_data.sample10k.txt netflix 10000 9687 3451 1 5
netflix/combined_data.head19.txt netflix 19 19 2 2 5
netflix/training_set netflix 21629 20537 15 1 5
netflix/triples/mv_0000008.txt csv 14910 14910 1 1 5
yahoo/r1.synthetic.txt yahoo-r1 13733 400 150 0 100 --format yahoo-r1
yahoo/r2-train_0.synthetic.txt tsv 7011 200 150 1 5
yahoo/r2-train_1.synthetic.txt tsv 6722 200 150 1 5
yahoo/r3-train.synthetic.txt tsv 13733 400 150 1 5
yahoo/r3-test.synthetic.crlf.txt tsv 4000 400 150 1 5
yahoo/trainIdx1.synthetic.txt kdd 13733 400 150 0 100
yahoo/validationIdx1.synthetic.txt kdd 1600 400 150 0 100
others/movietweetings/ratings.10K.dat movielens 10000 3794 3096 1 10
others/movietweetings/ratings.100K.dat.gz movielens 100000 16554 10506 0 10
others/book-crossing/BX-Book-Ratings.quoted20000.csv semicolon 20000 459 13104 0 10
others/book-crossing/BX-Book-Ratings.reexport.csv.gz csv 100726 5157 44133 0 10
others/filmtrust/ratings.txt space 35494 1508 2071 0.5 4 --duplicates last
others/amazon/ratings_Beauty.shipped-head.csv csv 499 452 170 1 5
others/amazon/ratings_Beauty.excel-head.csv csv 499 452 170 1 5
others/lastfm/user_artists.dat tsv 92834 1892 17632 1 352698
others/matrixmarket/ml-100k.u1.base.mtx mtx 80000 943 1682 1 5
others/matrixmarket/ml-100k.u1.test.mtx mtx 20000 943 1682 1 5
others/ml-10m/ratings.head220.dat movielens 220 6 191 1 5
END
    ok "the conversions of MovieLens 1M hold the same ratings as the split" bash -c 'd=$SHARED/data/ml-1m
        "$GCG" check --quiet "$d/train.tsv.gz" "$d/test.tsv.gz" | sed 1d >a
        "$GCG" check --quiet "$d/ratings.dat.gz" | sed 1d >b; cmp a b'
    exits 4 "the repeated pairs of FilmTrust are reported" check "$SHARED/data/others/filmtrust/ratings.txt"
    ok "all three of them" is duplicates 3
    exits 4 "the dense table of Jester is refused" check "$SHARED/data/others/jester/jester-73421x10.tsv.gz"
    ok "as what it is" says ':1:1: error: .*dense table'
    exits 4 "a KDD Cup test file is no training data" check "$SHARED/data/yahoo/testIdx1.synthetic.txt"
    ok "and no day is read as a score" says ':2:[0-9]*: error: no rating'
    exits 4 "a MATLAB file is refused" check "$SHARED/data/ml-1m/movielens_1m.mat"
    exits 4 "a probe file is no training data" check "$SHARED/data/netflix/probe.excerpt.txt"
    for file in u.item u.user u.info u.genre u.occupation README; do
        exits 4 "ml-100k/$file is not read as ratings" check "$SHARED/data/ml-100k/$file"
    done
else
    skip "$data" "no ../shared/data"
fi
done_testing
