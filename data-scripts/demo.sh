#!/bin/sh
# The demonstration behind `make demo`: writes a synthetic file of MovieLens 1M's shape, looks at it, fits it to a certified gap
# with a quarter held out, and plots the log. Everything goes to demo/ (or to the folder given). GCG_MC names the program.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
gcg=${GCG_MC:-$root/gcg-mc}
out=${1:-$root/demo}
mkdir -p "$out"
cd "$out"

say() { printf '\n$ %s\n' "$*"; }

say gcg-mc synth --shape ml-1m -o ratings.csv.gz
"$gcg" synth --shape ml-1m -o ratings.csv.gz

say gcg-mc check ratings.csv.gz
"$gcg" check ratings.csv.gz | head -n 12

say gcg-mc fit --lambda 40 --holdout 0.25 --log fit.log -o model ratings.csv.gz
"$gcg" fit --lambda 40 --holdout 0.25 --log fit.log -o model ratings.csv.gz

say 'grep -v "^#" fit.log | cut -f 1-5,7,10'
grep -v '^#' fit.log | cut -f 1-5,7,10 | awk -F '\t' 'NR == 1 { printf "%4s %8s %14s %14s %9s %5s %10s\n", $1, $2, $3, $4, $5, $6, $7; next }
    { printf "%4d %8.2f %14.2f %14.2f %9.2e %5d %10.6f\n", $1, $2, $3, $4, $5, $6, $7 }'

say gcg-mc plot fit.log
if command -v gnuplot >/dev/null; then
    "$gcg" plot fit.log
    "$gcg" plot fit.log -o fit.png
    echo "The same in colour: $out/fit.png"
else
    echo "gnuplot is not installed: no plot (make deps installs it)"
fi

grep -v '^#' fit.log | tail -n 1 | awk -F '\t' '{
    printf "\nAfter %d iterations and %.2f s the objective is %.2f; no matrix can go below %.2f,\n", $1, $2, $3, $4
    printf "a relative gap of %.1e. The rank is %d, the RMSE on the held-out quarter %.4f.\n", $5, $7, $10 }'
awk -F '\t' '$1 == "# certificate" { print "How the last bound is guarded: " $2 " (see gcg-mc-log(5))." }' fit.log
