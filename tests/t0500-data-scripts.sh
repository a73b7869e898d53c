#!/bin/bash
# The scripts in data-scripts/ on stand-ins, written here in the layouts of the publishers, and on ../shared/data. No
# network: curl and wget are replaced.
# shellcheck disable=SC1091,SC2016,SC2086 # lib.sh stands beside; the quoted commands are for bash -c; names are words
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
export GCG_MC=$GCG S=$ROOT/data-scripts
unset CURL_DOES

# Stand-ins for curl and wget: they note that they were called, and do what CURL_DOES says with the output file.
mkdir bin
cat >bin/curl <<'END_CURL'
#!/bin/sh
echo "$0 $*" >>"$T/network"
while [ $# -gt 1 ]; do
    case $1 in -o | -O) out=$2 ;; esac
    shift
done
case ${CURL_DOES-} in
send) cp "$T/served.zip" "$out" ;;
cut) head -c 100 "$T/served.zip" >"$out"; exit 18 ;;
stop) head -c 100 "$T/served.zip" >"$out"; kill -TERM $PPID; exit 1 ;;
*) exit 6 ;;
esac
END_CURL
chmod +x bin/curl
cp bin/curl bin/wget
PATH=$T/bin:$PATH

# ---- the stand-ins: 40 users, 25 items, about 19 ratings for each user ----
ratings() { # SEPARATOR RATING-FORMAT SCALE
    awk -v s="$1" -v f="$2" -v scale="$3" 'BEGIN { for (u = 1; u <= 40; u++) for (i = 1; i <= 25; i++)
        if ((u * 7 + i * 3) % 4) printf "%d%s%d%s" f "%s%d\n", u, s, i * 11, s, (u * i % 5 + 1) * scale, s, 978300000 + u * 60 + i }'
}
counts_of() { # FILE SEPARATOR: users,items,ratings by sort
    printf '%d,%d,%d\n' "$(awk -F "$2" '{ print $1 }' "$1" | sort -u | wc -l)" \
        "$(awk -F "$2" '{ print $2 }' "$1" | sort -u | wc -l)" "$(wc -l <"$1")"
}
kdd() { awk '{ n[$1]++; l[$1] = l[$1] $2 "\t" $3 "\t12\t10:00:00\n"; if (n[$1] == 1) u[++k] = $1 }
    END { for (j = 1; j <= k; j++) printf "%s|%d\n%s", u[j], n[u[j]], l[u[j]] }' "$@"; }
netflix() { sort -k 2,2n -k 1,1n "$@" | awk '$2 != last { print $2 ":"; last = $2 } { print $1 "," $3 ",2005-01-01" }'; }

mkdir 100k 1m 10m 20m 25m small netflix r1 r2 r3 kdd
ratings '\t' %d 1 >all
awk 'NR % 5' all >base
awk 'NR % 5 == 0' all >held
cp all 100k/u.data; cp base 100k/u1.base; cp held 100k/u1.test
ratings :: %d 1 >1m/ratings.dat
ratings :: %g 0.5 >10m/ratings.dat
for set in 20m 25m small; do { echo userId,movieId,rating,timestamp; ratings , %.1f 0.5; } | sed 's/$/\r/' >$set/ratings.csv; done
mkdir netflix/training_set
(cd netflix/training_set && netflix ../../all | csplit -s -z -f mv_ -b '%07d.txt' - '/:/' '{*}')
netflix held | sed 's/,.*//' >netflix/probe.txt
ratings '\t' %d 20 | awk -v OFS='\t' '{ print $1, $2, NR % 9 ? $3 : 255 }' >r1/ydata-ymusic-user-artist-ratings-v1_0.txt
cut -f 1-3 base >r3/ydata-ymusic-rating-study-v1_0-train.txt
cut -f 1-3 held | sed 's/$/\r/' >r3/ydata-ymusic-rating-study-v1_0-test.txt
for part in 0 1 2 3 4 5 6 7 8 9; do
    awk -v p=$part '$1 % 10 == p' base | cut -f 1-3 >r2/train_$part.txt
    awk -v p=$part '$1 % 10 == p' held | cut -f 1-3 >r2/test_$part.txt
done
kdd base >kdd/trainIdx1.txt
kdd held >kdd/validationIdx1.txt
ALL=$(counts_of all '\t') BASE=$(counts_of base '\t')

lay_out() { # SCRIPT ARGUMENT...
    local script=$1
    shift
    sh "$S/$script.sh" "$@" >out 2>err || { local status=$?; cat err; return $status; }
}
says() { grep -q -e "$@" err || { cat err; return 1; }; }
one_line_with() { if [ "$(wc -l <out)" != 1 ] || ! grep -qF -e "$1" out; then cat out; return 1; fi; }
line_runs() { sh -c "$(cat out) --quiet --log none --threads 1" && "$GCG" eval --quiet "$1" "$T/all" >eval.out; } # MODEL
no_network() { [ ! -e "$T/network" ] || { cat "$T/network"; return 1; }; }
nothing_left() { [ -z "$(ls -A "$1" 2>/dev/null)" ] || { ls -A "$1"; return 1; }; }

while IFS='|' read -r script folder counts wanted needed; do
    ok "$script accepts its stand-in" lay_out $script --from $folder --to to/$script --expect "$counts"
    ok "$script prints one fit line: $wanted" one_line_with "$wanted"
    ok "that line makes a model" line_runs to/$script/$script.npz
    exits 4 "$script refuses another count" lay_out $script --from $folder --to to/$script --expect 40,25,9999
    ok "says what was found and what to do" says "ratings, should be 9999; .*--expect [0-9]*,[0-9]*,[0-9]* if"
    exits 4 "$script refuses the stand-in without --expect" lay_out $script --from $folder --to to/$script
    ok "as it is not what the publisher ships" says 'error: .*should be'
    ok "$script accepts the folder that it made" lay_out $script --from to/$script --to to/$script --expect "$counts"
    mkdir cut
    cp -r $folder/. cut
    rm -r "cut/$needed"
    exits 5 "$script misses $needed" lay_out $script --from cut --to to/cut
    ok "says what is missing, and where" says "cut: error: has no.* ${needed//./\\.}"
    rm -r cut to/cut
done <<END_TABLE
movielens-100k|100k|$ALL|--lambda 10 --test to/movielens-100k/u1.test to/movielens-100k/u1.base|u1.test
movielens-1m|1m|$ALL|--lambda 50 --holdout 0.25 to/movielens-1m/ratings.dat|ratings.dat
movielens-10m|10m|$ALL|--lambda 100 --test to/movielens-10m/ra.test to/movielens-10m/ra.train|ratings.dat
movielens-20m|20m|$ALL|--lambda 100 --holdout 0.1 to/movielens-20m/ratings.csv|ratings.csv
movielens-25m|25m|$ALL|--lambda 100 --holdout 0.1 to/movielens-25m/ratings.csv|ratings.csv
movielens-latest-small|small|$ALL|--lambda 10 --holdout 0.1 to/movielens-latest-small/ratings.csv|ratings.csv
netflix|netflix|$ALL|--lambda 1 --test-pairs to/netflix/probe.txt to/netflix/training_set|probe.txt
netflix|netflix|$ALL|--lambda 1 --test-pairs to/netflix/probe.txt to/netflix/training_set|training_set
yahoo-r1|r1|$ALL|--lambda 300 --format tsv --value-map 255=drop --holdout 0.25|ydata-ymusic-user-artist-ratings-v1_0.txt
yahoo-r2|r2|$BASE|--lambda 100 --test to/yahoo-r2/test.txt to/yahoo-r2/train_0.txt|test_7.txt
yahoo-r3|r3|$BASE|--lambda 10 --test|ydata-ymusic-rating-study-v1_0-test.txt
kddcup2011|kdd|$BASE|--lambda 100 --test to/kddcup2011/validationIdx1.txt to/kddcup2011/trainIdx1.txt|validationIdx1.txt
END_TABLE

ok "the train and test files of MovieLens 10M are its ratings" bash -c 'cat to/movielens-10m/ra.train to/movielens-10m/ra.test | sort | cmp - <(sort 10m/ratings.dat)'
ok "with ten ratings of each user for testing" bash -c 'test "$(cut -d : -f 1 to/movielens-10m/ra.test | uniq -c | sort -u -k 1,1n | wc -l)" = 1 && test "$(wc -l <to/movielens-10m/ra.test)" = 400'
ok "the parts of R2's test set are put together" bash -c 'sort to/yahoo-r2/test.txt | cmp - <(cut -f 1-3 held | sort)'
ok "the original files are untouched" bash -c 'cmp all 100k/u.data && test "$(find 100k -links +1 -type f | wc -l)" = 0'
ok "laying out from a folder of links into their own folder" lay_out movielens-100k --from to/movielens-100k --to 100k --expect "$ALL"
ok "leaves the files there" cmp all 100k/u.data
sed '1s/\t[0-9]*\t/\t9999\t/' base >100k/u1.base
exits 4 "a split that is not a split of u.data is refused" lay_out movielens-100k --from 100k --to to/altered --expect "$ALL"
ok "by name" says '/u1.test: error: .*items, should be'
cp base 100k/u1.base

# ---- archives ----
mkdir -p pack/ml-1m zip
cp 1m/ratings.dat pack/ml-1m
if command -v zip >/dev/null && command -v unzip >/dev/null; then
    (cd pack && zip -q -r ../zip/ml-1m.zip ml-1m)
    cp zip/ml-1m.zip served.zip
    ok "an archive is unpacked" lay_out movielens-1m --from zip --to to/zip --expect "$ALL"
    ok "and its ratings are the publisher's" cmp 1m/ratings.dat to/zip/ratings.dat
    exits 4 "an archive with the wrong check sum is refused" lay_out movielens-1m --from zip --to to/sum
    ok "with both check sums" says 'zip/ml-1m.zip: error: md5 [0-9a-f]*, the publisher.s is c4d9eecfca2ab87c1945afe126590906'
    head -c 300 zip/ml-1m.zip >cut.zip
    mkdir cut
    mv cut.zip cut/ml-1m.zip
    exits 5 "an archive cut short is refused" lay_out movielens-1m --from cut --to to/cut --expect "$ALL"
    ok "by name" says 'cut/ml-1m.zip: warning: .*cut short'
    rm -r cut to/cut

    # ---- downloads ----
    ok "until here nothing asked the network" no_network
    export CURL_DOES=send
    ok "without --from the archive is downloaded" lay_out movielens-1m --to to/net --expect "$ALL"
    ok "from the publisher" grep -q 'curl.* https://files.grouplens.org/datasets/movielens/ml-1m.zip$' network
    ok "and kept" cmp served.zip to/net/ml-1m.zip
    ok "for the next time" bash -c 'rm network; sh "$S/movielens-1m.sh" --to to/net --expect "$0" >out 2>err && test ! -e network' "$ALL"
    exits 4 "a download that is not the publisher's file is refused" lay_out movielens-1m --to to/wrong
    ok "and not kept" nothing_left to/wrong
    exits 4 "so is one of the wrong size" lay_out movielens-20m --to to/wrong
    ok "with both sizes" says 'ml-20m.zip: error: [0-9]* bytes, should be 198702078'
    CURL_DOES='cut'
    exits 5 "an interrupted download is an error" lay_out movielens-1m --to to/wrong --expect "$ALL"
    ok "that says what to do" says 'download failed (curl ended with 18) and nothing was kept; run this again'
    ok "and leaves nothing" nothing_left to/wrong
    CURL_DOES=stop
    exits 143 "a signal during the download ends the script" lay_out movielens-1m --to to/wrong --expect "$ALL"
    ok "which leaves nothing" nothing_left to/wrong
    CURL_DOES=send
    # A PATH with the tools that the scripts need, and no curl or wget.
    mkdir tools
    for tool in sh awk basename cat chmod cp dirname grep gzip head ln ls md5sum mkdir mv printf pwd rm rmdir sed tar unzip wc; do
        path=$(type -P $tool) && ln -s "$path" tools/$tool
    done
    with_tools() { (export PATH="$T/tools" && lay_out "$@"); }
    exits 5 "without curl and wget it cannot be downloaded" with_tools movielens-1m --to to/none
    ok "which is said" says 'neither curl nor wget is installed; install one'
    ln -s "$T/bin/wget" tools/wget
    ok "wget serves as well as curl" with_tools movielens-1m --to to/wget --expect "$ALL"
    rm tools/unzip
    exits 5 "without unzip the files are missing" with_tools movielens-1m --from zip --to to/none --expect "$ALL"
    ok "and unzip is named" says 'unzip is not installed'
    rm -f network
else
    skip "archives and downloads" "no zip or no unzip"
fi

gzip -c r1/ydata* >pack/ydata-ymusic-user-artist-ratings-v1_0.txt.gz
mkdir tgz
tar -C pack -czf tgz/dataset.tgz ./ydata-ymusic-user-artist-ratings-v1_0.txt.gz
ok "R1 is taken from a gzip file in an archive" lay_out yahoo-r1 --from tgz --to to/tgz --expect "$ALL"
ok "and stays gzip" line_runs to/tgz/yahoo-r1.npz
R2=ydata-ymusic-user-song-ratings-meta-v1_0
cp -r r2 $R2
tar -czf tgz/part-1.tgz $R2/test_?.txt $R2/train_[0-4].txt
exits 5 "R2 misses the second archive" lay_out yahoo-r2 --from tgz --to to/tgz --expect "$BASE"
ok "naming its files" says 'has no train_5.txt train_6.txt train_7.txt train_8.txt train_9.txt,'
tar -czf tgz/part-2.tgz $R2/train_[5-9].txt
ok "R2 is taken from two archives" lay_out yahoo-r2 --from tgz --to to/tgz --expect "$BASE"
mkdir -p pack/download prize
tar -C netflix -cf pack/download/training_set.tar training_set
cp netflix/probe.txt pack/download
tar -C pack -czf prize/nf_prize_dataset.tar.gz download
ok "the Netflix archive is unpacked, and the archive in it" lay_out netflix --from prize --to to/prize --expect "$ALL"
ok "into the folder of movies" diff -r netflix/training_set to/prize/training_set
ok "and the fit line runs" line_runs to/prize/netflix.npz
ok "the inner archive is not left" test ! -e to/prize/training_set.tar
ok "an unpacked archive does as well" lay_out netflix --from pack --to to/unpacked --expect "$ALL"
ok "and keeps its own" test -f pack/download/training_set.tar
mkdir combined
netflix all | csplit -s -f combined/combined_data_ -b '%d.txt' - '/^55:/' '/^110:/' '/^165:/'
for part in 3 2 1 0; do mv combined/combined_data_$part.txt combined/combined_data_$((part + 1)).txt; done
cp netflix/probe.txt combined
ok "so do the four combined files" lay_out netflix --from combined --to to/combined --expect "$ALL"
ok "with a fit line that runs" line_runs to/combined/netflix.npz
ok "to the same model" cmp to/prize/netflix.npz to/combined/netflix.npz
rm combined/combined_data_3.txt
exits 5 "three of the four are not enough" lay_out netflix --from combined --to to/three --expect "$ALL"
ok "and the fourth is named" says 'not combined_data_3.txt'

# ---- command line ----
for script in movielens-100k movielens-1m movielens-10m movielens-20m movielens-25m movielens-latest-small netflix \
    yahoo-r1 yahoo-r2 yahoo-r3 kddcup2011; do
    ok "$script --help tells the options and the source" bash -c 'cd / && "$S/$0.sh" --help >"$T/help" &&
        grep -q -e "--expect USERS" "$T/help" && grep -q "GroupLens\|Webscope\|withdrawn" "$T/help"' $script
done
exits 2 "an unknown option is a usage error" lay_out movielens-1m --form 1m
ok "that names it and the help" says '\-\-form: error: unknown option.*--help'
exits 2 "so is an argument" lay_out movielens-1m 1m
exits 2 "so is an option without its value" lay_out movielens-1m --from
exits 2 "and an empty value" lay_out movielens-1m --from=
exits 2 "and counts that are none" lay_out movielens-1m --from 1m --expect 5,6
exits 5 "--from without such a folder is an error" lay_out movielens-1m --from nowhere
ok "naming the folder" says 'nowhere: error: no such folder'
exits 5 "a folder that cannot be made is an error" lay_out movielens-1m --from 1m --to all/there
ok "naming the folder and --to" says 'all/there: error: cannot make this folder; give --to'
if [ "$(id -u)" != 0 ]; then
    mkdir locked
    chmod a-w locked
    exits 5 "a folder without write permission is an error" lay_out movielens-1m --from 1m --to locked
    ok "naming the folder and the cure" says 'locked: error: cannot write to this folder; give --to'
else
    skip "a folder without write permission is an error" "root may write everywhere"
fi
exits 5 "a missing program is an error" bash -c 'GCG_MC=/nowhere/gcg-mc sh "$S/movielens-1m.sh" --from 1m --to to/none 2>err'
ok "naming GCG_MC" says '/nowhere/gcg-mc: error: program not found; .*GCG_MC'
printf '1::2::x::4\n' >>1m/ratings.dat
exits 4 "damaged ratings are refused" lay_out movielens-1m --from 1m --to to/damaged --expect "$ALL"
ok "with file and line" says 'to/damaged/ratings.dat:[0-9]*:[0-9]*: error: '
sed -i '$d' 1m/ratings.dat
ok "folders with blanks and quotes do" lay_out movielens-1m --from 1m --to "it's \$here \"now\"" --expect "$ALL"
ok "also in the fit line" line_runs "it's \$here \"now\"/movielens-1m.npz"
for script in netflix yahoo-r1 yahoo-r2 yahoo-r3 kddcup2011; do
    exits 5 "$script is not downloaded" lay_out $script
    ok "and says where to ask" says 'cannot be downloaded: .*; then run this again with --from FOLDER'
done
ok "no test with --from asked the network" no_network

# ---- the real thing ----
if [ -n "$SHARED" ] && [ -d "$SHARED/data" ]; then
    ok "MovieLens 100K has the official counts and sizes" lay_out movielens-100k --from "$SHARED/data/ml-100k" --to to/real
    ok "and a fit line that runs" bash -c 'sh -c "$(cat out) --quiet --log none" && test -s to/real/movielens-100k.npz'
    ok "MovieLens 1M has the official counts" lay_out movielens-1m --from "$SHARED/data/ml-1m" --to to/real
    ok "MovieLens latest-small has the official counts" lay_out movielens-latest-small --from "$SHARED/data/ml-latest-small" --to to/small
    mkdir rule
    sed 's/\t/::/g' "$SHARED/data/ml-100k/u.data" >rule/ratings.dat
    ok "the rule of MovieLens 10M's split, on the 100K" lay_out movielens-10m --from rule --to to/rule --expect 943,1682,100000
    ok "gives the publisher's ua" bash -c 'sed "s/::/\t/g" to/rule/ra.test | sort -k 1,1n -k 2,2n | cmp - "$SHARED/data/ml-100k/ua.test"'
else
    skip "the real MovieLens sets have the official counts" "no ../shared/data"
fi
done_testing
