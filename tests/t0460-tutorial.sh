#!/bin/bash
# The ten commands of gcg-mc-tutorial(7), which are the README's, on synthetic data laid out like the zip.
# shellcheck disable=SC1091,SC2016,SC2317 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
mkdir bin && ln -s "$GCG" bin/gcg-mc
export PATH=$T/bin:$PATH

joined() { awk '/^\$ / { if (text) print text; text = substr($0, 3); next } text { sub(/^ */, " "); text = text $0 } END { print text }'; }
sed -n '/^\.Bd/,/^\.Ed/p' "$ROOT/man/gcg-mc-tutorial.7" | grep -v '^\.' | sed 's/\\e/\\/g' | joined >list
ok "the tutorial has ten commands" test "$(wc -l <list)" = 10
ok "the README has the same" diff list <(awk '/^## / { on = /Tutorial/ } on && sub(/^    /, "")' "$ROOT/README" | joined)
used() { grep -q "gcg-mc $1" list; }
for command in check convert fit eval predict recommend similar plot; do ok "$command is among them" used "$command"; done
ok "and --lambda auto" grep -q -e '--lambda auto' list

mkdir ml-100k
gcg-mc synth --quiet --users 250 --items 180 --ratings 7000 --format tsv --test-ratings 800 --test ml-100k/u1.test -o ml-100k/u1.base
for file in u1.base u1.test; do sed -i 's/$/\t881250949/' ml-100k/$file; done
awk 'BEGIN { for (i = 1; i <= 180; i++) printf "%d|Film %d (1995)|01-Jan-1995||http://example.org/%d|0|1\n", i, i, i }' >ml-100k/u.item
if command -v zip >/dev/null && command -v unzip >/dev/null; then
    zip -qr ml-100k.zip ml-100k && rm -r ml-100k
fi
n=0
while IFS= read -r command <&3; do
    n=$((n + 1))
    case $command in
    unzip*) [ -e ml-100k.zip ] || { skip "$command" "no zip here" && continue; } ;;
    esac
    ok "$command" bash -o pipefail -c "{ $command; } >$n.out"
done 3<list

field() { awk -F '\t' -v key="$1" '$1 == key { print $2 }' "$2"; }
ok "check saw the data" test "$(field ratings 2.out)" = 7000
ok "the plot is there, or its script" grep -q 'relative gap' 5.out
better() { awk -F '\t' '$1 == "all" { exit !($2 == 800 && $3 < 0.95) }' 7.out; }
ok "the chosen model predicts better than the mean does" better
ok "a prediction for each pair" test "$(wc -l <predictions.tsv)" = 801
ok "ten recommendations with titles" bash -c 'test "$(grep -cE "^[0-9]+ Film [0-9]+ \(1995\) [0-9.]+$" 9.out)" = 10'
ok "none of which the user has rated" bash -c 'gcg-mc convert --quiet u1.gcs -o - | awk "\$1 == 1 { print \$2 }" | sort >rated
    test -s rated && sed -n "s/.* Film \([0-9]*\) .*/\1/p" 9.out | sort | comm -12 - rated | { ! grep .; }'
ok "ten films near item 50, and not itself" bash -c 'test "$(wc -l <10.out)" = 11 && ! cut -f 3 10.out | grep -qx 50'
done_testing
