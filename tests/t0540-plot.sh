#!/bin/bash
# gcg-mc plot: logs of fit and path as text, PNG, SVG and script; logs that are none; names that must not become commands;
# and the README's pipes into gnuplot and feedgnuplot.
# shellcheck disable=SC1091,SC2016,SC2317 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

gcg() { "$GCG" "$@" >out 2>err; }
says() { grep -q -e "$1" err || { cat err; return 1; }; }
has() { grep -q -e "$1" out || { cat out; return 1; }; }

"$GCG" synth --quiet --users 60 --items 40 --ratings 900 -o ratings.csv
"$GCG" fit --quiet --lambda 4 --gap 1e-6 --holdout 0.2 --log fit.log -o m ratings.csv
"$GCG" fit --quiet --lambda 4 --plain --log plain.log -o m ratings.csv
rows=$(grep -c '^[0-9]' fit.log)

# ---- the script ----
ok "plot --script ends with 0" gcg plot --script fit.log plain.log
ok "and says nothing" test ! -s err
data() { awk -v name="\$$1" '$1 == name { on = 1; next } /^end_of_data/ { on = 0 } on' out; }
columns() { # NAMES...: of the rows of fit.log whose first column is a number above 0
    awk -F '\t' -v one="$1" -v two="$2" -v least="$3" '/^iter/ { for (k = 1; k <= NF; k++) at[$k] = k } /^[0-9]/ && $(at["rank"]) >= least {
        printf "%.10g %.10g\n", $(at[one]), $(at[two]) }' fit.log
}
ok "the gap of each row is in it" diff <(columns time_s gap 0) <(data gap1)
ok "and the test RMSE, without the row of W = 0" diff <(columns time_s test_rmse 1) <(data rmse1)
ok "that was not the whole log" test "$(data rmse1 | wc -l)" -lt "$rows"
ok "each log has its curves" has "^  .*gap2 using 1:2 with linespoints title 'plain.log'"
ok "with the ratings that the RMSE is of" has "rmse2 using 1:2 with linespoints title 'plain.log, training'"
ok "a log on standard input is the same" bash -c '"$GCG" plot --script - <fit.log | sed "s/stdin/fit.log/" >piped && "$GCG" plot --script fit.log | cmp - piped'
ok "and a gzipped one" bash -c 'gzip -c fit.log >fit.log.gz && "$GCG" plot --script fit.log.gz | sed "s/fit.log.gz/fit.log/" | cmp - piped'
ok "-o takes the script" gcg plot --script fit.log -o fit.gp
ok "as it was" cmp fit.gp piped
sed 's/\t[^\t]*$/\tnan/' fit.log >odd.log && ok "missing numbers are fine" gcg plot --script odd.log

# A path has a block for each lambda, and a table at its end.
awk 'BEGIN { FS = OFS = "\t" } { print } /^# status/ { exit }' fit.log >path.log
printf '# summary\t4\t1\n\n\n# lambda\t2\n' >>path.log
sed -n '/^iter/,$p' fit.log >>path.log
printf '\n\nlambda\titerations\tstatus\n4\t3\tconverged\n2\t3\tconverged\n' >>path.log
ok "a log with several blocks is taken" gcg plot --script path.log
ok "all of its rows" test "$(data gap1 | grep -c .)" = $((2 * rows))
ok "one block behind the other, with a gap between" bash -c "$(declare -f data)"'; data gap1 | awk "NF == 0 { gap++; next } \$1 < last { exit 1 } { last = \$1 } END { exit gap != 1 }"'

# ---- logs that are none, or not whole ----
refused() { # CODE WORDS FILE
    local status=0
    gcg plot "$3" || status=$?
    test "$status" = "$1" && says "$2" && test ! -s out
}
: >empty.log
ok "an empty log is refused" refused 4 'empty.log: error: is empty' empty.log
ok "and a file that is none, with the line" refused 4 "ratings.csv:1:1: error: no line of a log.*'user,item,rating'" ratings.csv
ok "and a model" refused 4 'm:1:1: error: ' m
ok "one that is not there" refused 5 'nowhere.log: error: ' nowhere.log
ok "a folder" refused 5 'error: ' "$T"
sed -n '1,/^iter/p' fit.log >short.log
ok "a log without a row yet is refused" refused 4 'short.log:[0-9]*: error: ends without a row' short.log
sed '/^1\t/s/\t[0-9.]*/\tsoon/' fit.log >bad.log
ok "a word for a number is refused, with line and column" refused 4 "bad.log:[0-9]*:3: error: not a number: 'soon'" bad.log
sed '/^1\t/s/\t[^\t]*$//' fit.log >bad.log
ok "a row that lacks a field is refused, with its line" refused 4 "bad.log:$(grep -n '^1	' bad.log | cut -d : -f 1):1: error: a row that has not as many" bad.log
sed 's/\ttest_rmse//' fit.log >bad.log
ok "a header that lacks a column is refused" refused 4 "without this one: 'test_rmse'" bad.log
cut_log() { # BYTES: off the end
    head -c -"$1" fit.log >killed.log
    gcg plot --script killed.log
}
end=$(sed -n '/^# certificate/,$p' fit.log | wc -c)
ok "a log whose last row is cut is taken" cut_log $((end + 9))
ok "a note says so" says 'killed.log: the last line is incomplete and left out'
ok "without that row" diff <(columns time_s gap 0 | head -n -1) <(data gap1)
ok "one that has no end yet is taken, too" cut_log "$end"
ok "with a note" says 'killed.log: no status line: the run goes on, or was killed'
ok "with all rows" diff <(columns time_s gap 0) <(data gap1)
ok "--quiet leaves notes out" bash -c '"$GCG" plot --quiet --script killed.log 2>&1 >/dev/null | test -z "$(cat)"'

# ---- usage ----
usage() { local status=0; gcg plot "${@:2}" || status=$?; test $status = 2 && says "$1"; }
ok "a log is needed" usage 'at least one log'
ok "an unknown ending is refused" usage '.png or .svg' fit.log -o fit.pdf
ok "standard input can be read once" usage 'named twice' - -
cp fit.log fit.png
ok "a picture must not replace a log" usage 'names one of the logs' fit.png -o fit.png

# ---- without gnuplot ----
mkdir bin
ok "without gnuplot the script is written" bash -c 'PATH=$PWD/bin "$GCG" plot fit.log >out 2>err && cmp out piped'
ok "with a warning" says 'gnuplot is not installed'
exits 5 "but not under the name of a picture" bash -c 'PATH=$PWD/bin "$GCG" plot fit.log -o x.png 2>err'
ok "and what to do is said" bash -c 'grep -q -e "--script" err && test ! -e x.png'
printf '#!/bin/sh\nexit 3\n' >bin/gnuplot && chmod +x bin/gnuplot
exits 5 "a gnuplot that fails is an error" bash -c 'PATH=$PWD/bin:$PATH "$GCG" plot fit.log -o x.png 2>err'
ok "and leaves no picture" bash -c 'grep -q "gnuplot failed" err && test ! -e x.png && ! ls .x.png.* 2>/dev/null'
if ! command -v gnuplot >/dev/null; then
    skip "pictures" "no gnuplot here"
    done_testing
    exit
fi

# ---- with gnuplot ----
ok "text is the default" gcg plot fit.log plain.log
ok "without a warning" test ! -s err
ok "two pictures, two curves" bash -c 'grep -q "relative gap" out && grep -q "RMSE" out && grep -q "plain.log, training [*#]*B" out'
ok "in 79 columns and no control characters" bash -c 'awk "length > 79 { exit 1 }" out && ! tr -d "\n" <out | LC_ALL=C grep -q "[[:cntrl:]]"'
ok "a PNG" gcg plot fit.log plain.log -o two.png
ok "is one" bash -c 'head -c 8 two.png | od -An -tx1 | grep -q "89 50 4e 47 0d 0a 1a 0a" && test "$(wc -c <two.png)" -gt 4000 && test ! -s err'
ok "an SVG" gcg plot path.log plain.log -o two.svg
ok "is one, with the names of the logs" bash -c 'grep -q "<svg" two.svg && grep -q "path.log, test" two.svg && grep -q "plain.log, training" two.svg'
"$GCG" fit --quiet --lambda 1e6 --log zero.log -o m ratings.csv 2>/dev/null
ok "a log of one row is drawn without a warning" bash -c '"$GCG" plot zero.log -o zero.png 2>err && test ! -s err && test -s zero.png'
"$GCG" fit --quiet --lambda 0 --rank 2 --log rank.log -o m ratings.csv
ok "and one without a gap" bash -c '"$GCG" plot rank.log >out 2>err && test ! -s err && grep -q "rank.log, training" out'
exits 5 "a folder that is not there is an error" gcg plot fit.log -o nowhere/x.png

# Names are never read by gnuplot, only shown.
hostile=('a'\''b.log' 'a "b".log' '$HOME `touch pwned`.log' '; system("touch pwned"); .log' "'; system('touch pwned') #.log"
    '<touch pwned.log' '-x' $'two\nlines'\''\nsystem("touch pwned")\n.log' '@x %s %d {=99 y}_2^3 \n.log' '+.log' 'ü.log')
for name in "${hostile[@]}"; do
    cp fit.log "./$name"
    shown=$(tr -c '[:print:]' '?' <<<"$name" | head -c 40)
    ok "a log named $shown" bash -c '"$GCG" plot -- "$0" >out 2>err && test ! -s err && test ! -e pwned && "$GCG" plot -o x.svg -- "$0" && test -s x.svg && test ! -e pwned' "$name"
done
ok "the name is what the key shows" bash -c '"$GCG" plot -- "a'\''b.log" | grep -q "a'\''b.log, test"'
ok "a picture may have such a name" bash -c '"$GCG" plot fit.log -o "; system(\"touch pwned\") '\''.png" && test -s "; system(\"touch pwned\") '\''.png" && test ! -e pwned'

# ---- the README's pipes ----
pipe() { # WORD: the command of the README that ends in it, to be run here
    awk -v word="$1" '/^## / { on = /Plots while it runs/ } on && /^    / { text = text substr($0, 5) "\n"; if (text !~ /[|'\'']\n$/ || text ~ /gap" with linespoints'\''\n$/) {
        if (index(text, word)) printf "%s", text; text = "" } }' "$ROOT/README"
}
ln -s "$GCG" bin/gcg-mc
rm bin/gnuplot
pipe 'gnuplot -p' | sed "s/gnuplot -p -e '/gnuplot -e 'set terminal dumb noenhanced;/" >gnuplot.sh
ok "fit --log - pipes into gnuplot as the README says" bash -c 'grep -q "fit .* --log - | gnuplot" gnuplot.sh && PATH=$PWD/bin:$PATH bash gnuplot.sh >out 2>err && grep -q "gap\"" out && test ! -s err'
if command -v feedgnuplot >/dev/null; then
    pipe feedgnuplot | sed 's/--stream/--terminal "dumb noenhanced" --exit/' >feed.sh
    ok "and into feedgnuplot" bash -c 'grep -q "fit .* --log - |" feed.sh && PATH=$PWD/bin:$PATH bash feed.sh >out 2>err && grep -q seconds out && grep -q "gap  " out || { cat out err; exit 1; }'
else
    skip "and into feedgnuplot" "no feedgnuplot here"
fi
done_testing
