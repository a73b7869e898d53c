#!/bin/bash
# The progress line: on a terminal, for everything that takes long, and never a control character anywhere else.
# shellcheck disable=SC1091,SC2016,SC2317 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

"$GCG" synth --quiet --users 3000 --items 1500 --ratings 600000 -o ratings.csv
"$GCG" fit --quiet --log none --lambda-ratio 0.5 -o model ratings.csv
runs=("check ratings.csv" "convert ratings.csv -o out.gcs" "eval model ratings.csv" "predict model ratings.csv"
    "synth --shape ml-1m -o out.csv" "fit --log none --lambda-ratio 0.9 -o m ratings.csv"
    "recommend --users all --exclude ratings.csv model" "recommend --users all --exclude ratings.csv -o top.tsv model")
controls() { tr -d '\n\t' | LC_ALL=C grep -q '[[:cntrl:]]'; }

# ---- into files ----
for run in "${runs[@]}"; do
    # shellcheck disable=SC2086 # words of the command
    ok "$run, redirected" bash -c '"$GCG" '"$run"' >out 2>err'
    ok "has no control character on either stream" bash -c "$(declare -f controls)"'; ! controls <out && ! controls <err'
done
# shellcheck disable=SC2016
ok "NO_COLOR changes nothing" bash -c '"$GCG" check ratings.csv >a 2>b; NO_COLOR=1 "$GCG" check ratings.csv >c 2>d; cmp a c && cmp b d'

# ---- on a terminal ----
if ! command -v script >/dev/null || ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    skip "the line on a terminal" "no script(1) here"
    done_testing
    exit
fi
# Reading must last longer than the first tenth of a second, also where it is fast.
case $("$GCG" --version) in *sanitize*) many=4000000 ;; *) many=12000000 ;; esac
"$GCG" synth --quiet --shape ml-10m --ratings $many -o big.csv
on_terminal() { script -qec "TERM=vt100 '$GCG' $1" /dev/null </dev/null | tr '\r' '\n' >screen; }
bar='\[#* *\] [0-9]* %'
for run in "check --threads 1 big.csv" "convert --threads 1 big.csv -o out.gcs" "eval --threads 1 model big.csv" \
    "fit --threads 1 --log none --lambda-ratio 0.99 --max-iter 1 -o m big.csv" "predict model ratings.csv >/dev/null"; do
    on_terminal "$run"
    ok "$run shows a bar while it reads" grep -q "reading $bar" screen
    ok "which is gone before anything else is printed" bash -c 'e=$(printf "\033"); grep -q "^$e\[K" screen && ! grep -v "^$e\[K" screen | grep -q "reading \["'
done
on_terminal "synth --shape ml-10m --ratings 3000000 -o out.csv"
ok "synth shows one while it writes" grep -q "writing $bar" screen
on_terminal "recommend --users all -n 300 -o top.tsv model"
ok "recommend shows one while it ranks" grep -q "recommending $bar" screen
on_terminal "predict model ratings.csv"
ok "predict shows none between its rows" bash -c '! grep -q "reading \[" screen && grep -q "seen" screen'
on_terminal "check --quiet ratings.csv"
ok "--quiet shows none" bash -c '! grep -q "reading \[" screen && grep -q "^ratings" screen'
script -qec "TERM=vt100 '$GCG' check ratings.csv 2>err" /dev/null </dev/null >screen
ok "nor is it in a file when only standard output is a terminal" bash -c "$(declare -f controls)"'; ! controls <err && ! grep -q "reading \[" screen'
done_testing
