#!/bin/bash
# Every command in the manual's EXAMPLES runs. The rule for a page: an example is a line of EXAMPLES that begins with "$ ", in
# .Bd -literal or .Dl; a line that ends in | or \ goes on in the next. They run in order in a folder of the page's own, which
# has the files that make_files makes; every one must end with 0.
# shellcheck disable=SC1091,SC2016,SC2317 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
mkdir bin files && ln -s "$GCG" bin/gcg-mc
export PATH=$T/bin:$PATH

# Small synthetic data under the names that the pages use. Users are 1 to 200, items 1 to 150.
make_files() {
    gcg-mc synth --quiet --users 200 --items 150 --ratings 5000 --test test.csv --test-ratings 500 -o ratings.csv
    gzip -k ratings.csv
    awk -F , '{ print $0 "," (NR == 1 ? "confidence" : 1 + NR % 3) }' ratings.csv >confident.csv
    tail -n +2 ratings.csv | sed 's/,/::/g; s/$/::978300760/' >ratings.dat
    gzip -k ratings.dat
    tail -n +2 ratings.csv | tr , '\t' >u1.base
    tail -n +2 test.csv | tr , '\t' >u1.test
    cut -d , -f 1,2 test.csv >pairs.csv
    { printf 'user,item,rating\n' && sed -n 's/^10,/late1,/p; s/^11,/late2,/p' ratings.csv; } | tee late.csv >new-users.csv
    awk -F , 'NR > 1 { print $1 "\t" $2 "\t" (NR % 7 ? $3 : 99) }' ratings.csv >jester.tsv
    awk -F , 'BEGIN { print "MovieID,UserID,Rating" } NR > 1 { print $2 "," $1 "," $3 }' ratings.csv >netflix.csv
    mkdir training_set
    gcg-mc synth --quiet --users 200 --items 30 --ratings 2000 --format netflix -o - |
        awk '/:$/ { file = sprintf("training_set/mv_%07d.txt", $1); movie = $1; n = 0 }
            { print >file } n++ > 0 && n % 5 == 0 { if (movie != last) print movie >"probe.txt"; last = movie; sub(/,.*/, ""); print >"probe.txt" }'
    cp -r training_set netflix
    gcg-mc fit --quiet --lambda 20 --holdout 0.1 --log log -o m.npz ratings.csv
    cp m.npz model
}
ok "the files that the examples use are made" bash -c "$(declare -f make_files)"'; cd files && make_files && test "$(wc -l <late.csv)" -gt 5 && test -s probe.txt'

examples() { # PAGE: its commands, one a line
    sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$ROOT/man/$1" |
        sed -n -e 's/\\(aq/'"'"'/g' -e 's/\\(dq/"/g' -e 's/\\e/\\/g' -e 's/\\&//g' -e 's/^\.Dl //' \
            -e ':more' -e '/^\$ /{' -e '/[|\\]$/{' -e 'N' -e 's/\\\{0,1\}\n */ /' -e 'b more' -e '}' -e 's/^\$ //p' -e '}'
}
needs_gnuplot() { grep -q 'gnuplot\|plot .*-o' <<<"$1" && ! command -v gnuplot >/dev/null; }
run_example() { (cd box && HOME=$PWD bash -o pipefail -c "$1"); }

for path in "$ROOT"/man/gcg-mc*.[1-5]; do
    page=${path##*/}
    examples "$page" >list
    case $page in
    *.1) ok "$page has an example that can be run" test -s list ;;
    esac
    rm -rf box && cp -r files box
    while IFS= read -r command <&3; do
        if needs_gnuplot "$command"; then
            skip "$page: $command" "no gnuplot here"
        else
            ok "$page: $command" run_example "$command"
        fi
    done 3<list
done
done_testing
