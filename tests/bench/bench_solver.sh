#!/bin/bash
# Times of whole fits and of reading, as a table (make bench; minutes). RUNS (5) runs each, median; says the machine. Real data
# is timed where ../shared/data is. GCG names the program.
set -u
GCG=${GCG:-$(dirname "$0")/../../gcg-mc}
GCG=$(realpath "$GCG")
SHARED=$(cd "$(dirname "$0")/../../../shared/data" 2>/dev/null && pwd -P) || SHARED=
RUNS=${RUNS:-5}
T=$(mktemp -d "${TMPDIR:-/tmp}/gcg-mc-bench.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1

median() { sort -g | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }
printf '# %s, %s processors, %s\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$("$GCG" --version | grep '^instruction')"
printf 'problem\tlambda\tgap\tthreads\tsolve_s\tread_s\titerations\trank\tgap_reached\n'

# The log of each run has the seconds of solving (last row) and of reading.
fit() { # NAME LAMBDA GAP THREADS FILE [OPTION...]
    : >solves
    : >reads
    for _ in $(seq "$RUNS"); do
        "$GCG" fit --quiet --lambda "$2" --gap "$3" --threads "$4" --log log -o model "${@:6}" "$5" || return
        grep -v '^#' log | tail -n 1 | cut -f 2 >>solves
        awk -F '\t' '$1 == "# read_s" { print $2 }' log >>reads
    done
    grep -v '^#' log | tail -n 1 | awk -F '\t' -v name="$1" -v lambda="$2" -v gap="$3" -v threads="$4" -v solve="$(median <solves)" \
        -v read="$(median <reads)" '{ printf "%s\t%s\t%s\t%s\t%.2f\t%.2f\t%d\t%d\t%.1e\n", name, lambda, gap, threads, solve, read, $1, $7, $5 }'
}

"$GCG" synth --quiet --shape ml-1m -o synth.csv
for threads in 1 2; do fit "synth ml-1m" 40 1e-3 $threads synth.csv; done
if [ -n "$SHARED" ]; then
    for threads in 1 2; do
        fit "ml-100k u1" 10 1e-3 $threads "$SHARED/ml-100k/u1.base"
        fit "ml-100k u1" 10 1e-5 $threads "$SHARED/ml-100k/u1.base"
        fit "ML-1M" 50 1e-3 $threads "$SHARED/ml-1m/train.tsv.gz"
        fit "ML-1M" 20 1e-3 $threads "$SHARED/ml-1m/train.tsv.gz"
    done
else
    echo "# no ../shared/data: MovieLens is not timed"
fi
