#!/bin/bash
# gcg-mc synth on the command line: what it writes is read back by check; places, pipes, signals.
# shellcheck disable=SC1091,SC2317 # lib.sh stands beside; functions are called by name
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

synth() { "$GCG" synth --quiet "$@"; }
small=(--users 60 --items 40 --ratings 500)
# counts FILE FORMAT USERS ITEMS RATINGS MIN MAX
counts() {
    "$GCG" check --quiet --format "$2" "$1" | awk -F '\t' '{ v[$1] = $2 }
        END { print v["format"], v["users"], v["items"], v["ratings"], v["min"], v["max"], v["duplicates"], v["empty_users"], v["empty_items"] }' >found
    echo "$2 $3 $4 $5 $6 $7 0 0 0" | diff - found
}

for format in csv tsv semicolon pipe movielens space mtx netflix kdd yahoo-r1; do
    written() { synth "${small[@]}" --format $format -o "f.$format" && counts "f.$format" $format 60 40 500 "$@"; }
    case $format in
    kdd | yahoo-r1) ok "$format holds what was asked for" written 9 100 ;;
    *) ok "$format holds what was asked for" written 1 5 ;;
    esac
done
# yahoo-r1 is tsv to whoever does not know it
for format in csv tsv semicolon pipe movielens space mtx netflix kdd; do
    is_recognised() { "$GCG" check --quiet "f.$format" | grep -x "format	$format"; }
    ok "$format is recognised by its content" is_recognised
done
layouts() {
    sed -n 1p f.csv | grep -x 'user,item,rating' &&
        grep -qEx '[0-9]+::[0-9]+::[1-5]::[0-9]{9,10}' f.movielens &&
        grep -qEx '[0-9]+,[1-5],200[0-3]-[01][0-9]-[0-3][0-9]' f.netflix &&
        grep -qEx '[0-9]+	[0-9]+	[0-9]+	[0-2][0-9]:[0-5][0-9]:00' f.kdd &&
        sed -n 1p f.mtx | grep -x '%%MatrixMarket matrix coordinate integer general' &&
        sed -n 2p f.mtx | grep -x '60 40 500'
}
ok "the layouts are those of the publishers" layouts
dates() { # of a movielens and a netflix file with the same single pair
    synth --users 1 --items 1 --ratings 1 --seed "$1" --format movielens -o one.dat
    synth --users 1 --items 1 --ratings 1 --seed "$1" --format netflix -o one.txt
    test "$(TZ=UTC0 date -d "@$(sed 's/.*:://' one.dat)" +%F)" = "$(sed -n '2s/.*,//p' one.txt)"
}
all_dates() { local seed; for seed in 1 2 3 4 5 6 7 8; do dates $seed || return 1; done; }
ok "dates are those of the time stamps" all_dates

shape() { synth --shape "$1" -o - | counts - csv "${@:2}" 1 5; }
ok "ml-100k has its sizes" shape ml-100k 943 1682 100000
ok "ml-1m has its sizes" shape ml-1m 6040 3706 1000209
split() { synth --shape ml-1m --test v -o w && counts w csv 6040 3706 750070 1 5 && test "$(wc -l <v)" = 250025; }
ok "with --test ml-1m is split as in the paper" split
half() { synth --half-stars -o h && counts h csv 943 1682 100000 0.5 5 && "$GCG" check --quiet h | grep -c "^value:" | grep -x 10; }
ok "--half-stars gives ten different ratings" half
decimals() { synth "${small[@]}" --decimals 3 -o d && sed 1d d | { ! grep -vE ',[1-5]\.[0-9]{3}$'; }; }
ok "--decimals 3 gives three digits" decimals

gzipped() { synth "${small[@]}" -o z.gz && gzip -dc z.gz | cmp - f.csv && synth "${small[@]}" -o z2.gz && cmp z.gz z2.gz; }
ok "NAME.gz is compressed, the same bytes each time" gzipped
same() { synth "${small[@]}" -o - | cmp - f.csv && ! synth "${small[@]}" --seed 2 -o - | cmp -s - f.csv; }
ok "a seed is a file, another seed another file" same
locale() { LC_ALL=de_DE.UTF-8 synth "${small[@]}" --decimals 3 -o l && cmp l d; }
ok "the locale changes nothing" locale
test_file() {
    synth "${small[@]}" --test te --test-ratings 200 -o tr && counts tr csv 60 40 500 1 5 &&
        "$GCG" check --quiet --test te tr | grep -E '^test_(n|overlap|new_users|new_items)' >found &&
        printf 'test_n\t200\ntest_overlap\t0\ntest_new_users\t0\ntest_new_items\t0\n' | diff - found
}
ok "--test holds other pairs of the same users and items" test_file
learnable() { # signal 1, noise 0.5 and rounding: the fit must come far below the spread of the ratings
    synth --users 500 --items 300 --ratings 30000 --rank 3 --noise 0.5 --test le --test-ratings 3000 -o lr &&
        "$GCG" fit --quiet --log none --lambda 10 --center global -o lm lr && "$GCG" eval --quiet lm le |
        awk -F '\t' '$1 == "all" { print $3; exit !($3 < 0.6) } END { if (!NR) exit 1 }'
}
ok "a fit finds the low rank under the noise" learnable

nothing_left() { ls -A place >left; test ! -s left; }
mkdir place
refused() { "$GCG" synth "${@:3}" >out 2>err; test $? = "$1" && test ! -s out && grep -q -- "$2" err && nothing_left; }
ok "more ratings than pairs are refused" refused 2 'do not fit' --users 3 --items 2 --ratings 7 -o place/x
ok "test ratings count for that" refused 2 'do not fit' --users 3 --items 2 --ratings 5 --test place/y --test-ratings 2 -o place/x
ok "one file for both is refused" refused 2 'same file' --test place/x -o place/x
ok "standard output for both is refused" refused 2 'same file' --test - -o -
ok "--test-ratings without --test is refused" refused 2 '--test FILE' --test-ratings 5 -o place/x
ok "no -o is refused" refused 2 '-o FILE' --shape ml-100k
ok "file names are refused" refused 2 '-o FILE' place/x -o place/x
ok "an unknown shape is refused with the names there are" refused 2 'yahoo252m' --shape ml -o place/x
ok "--half-stars with --decimals is refused" refused 2 'give one of them' --half-stars --decimals 1 -o place/x
ok "a folder that is not there is refused" refused 5 'place/no/x' -o place/no/x
ok "a folder is no file" refused 5 'folder' -o place
ok "a test file that cannot be made leaves nothing" refused 5 'no/y' --test place/no/y -o place/x

closed_pipe() { local status; synth --shape ml-1m -o - 2>err | head -n 1 | grep -qx user,item,rating; status=("${PIPESTATUS[@]}"); test "${status[0]}" = 0 && test ! -s err; }
ok "a closed pipe ends it quietly" closed_pipe
closed_pipe_test() { synth --shape ml-1m --test place/t -o - 2>err | head -n 1 >/dev/null; test "${PIPESTATUS[0]}" = 5 && grep -q 'stdout.*cannot write' err && nothing_left; }
ok "but not when a test file was to be written" closed_pipe_test
if [ -w /dev/full ]; then
    full() { "$GCG" synth --quiet "${small[@]}" -o - >/dev/full 2>err; test $? = 5 && grep -q '^gcg-mc: stdout: error: cannot write: ' err; }
    ok "a full disk is told" full
else
    skip "a full disk is told" "no /dev/full"
fi
limit() { echo old >place/o; (ulimit -f 1000 && synth --shape ml-1m -o place/o) 2>err; test $? = 5 && grep -q 'place/o: error: cannot write' err && echo old | cmp - place/o && rm place/o && nothing_left; }
ok "a file that cannot grow leaves the old one" limit
interrupted() {
    echo old >place/o
    # 25 million ratings take seconds; the signal comes when the temporary file is there
    "$GCG" synth --shape ml-25m -o place/o 2>err &
    local pid=$! tries=0
    until [ "$(ls -A place | wc -l)" -gt 1 ]; do
        sleep 0.05
        tries=$((tries + 1))
        [ $tries -lt 200 ] || return 1
    done
    kill -USR1 $pid # no checkpoint here, and no end
    kill "-$1" $pid
    wait $pid
    test $? = 130 && grep -q 'place/o: error: interrupted' err && echo old | cmp - place/o && rm place/o && nothing_left
}
ok "a signal stops it and leaves the old file" interrupted TERM
ok "so does the end of a terminal" interrupted HUP
fits_memory() { (ulimit -v 400000 && synth --shape ml-10m -o - | wc -l | grep -x 10000055); }
case $("$GCG" --version) in
*sanitize*) skip "ten million ratings need little memory" "sanitizers need more" ;;
*) ok "ten million ratings need little memory" fits_memory ;;
esac
done_testing
