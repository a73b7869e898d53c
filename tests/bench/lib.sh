# shellcheck shell=bash
# Sourced by the bench_*.sh scripts: what they share. RUNS (5) is the number of repetitions, THREADS (2)
# the most threads, SHAPE a shape of gcg-mc synth to use instead of real data, BENCH_OUT the folder of the tables, SHARED the
# folder with data/ and oracles/.
set -u
LC_ALL=C
export LC_ALL
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
ROOT=$(cd "$HERE/../.." && pwd -P)
GCG=$(realpath "${GCG:-$ROOT/gcg-mc}")
BIN=$(realpath "${BUILD:-$ROOT/build}")/tests/bench
SHARED=${SHARED-$ROOT/../shared}
SHARED=$(cd "${SHARED:-/nonexistent}" 2>/dev/null && pwd -P) || SHARED=
RUNS=${RUNS:-5}
THREADS=${THREADS:-2}
BENCH_OUT=${BENCH_OUT:-$PWD/bench-out}
mkdir -p "$BENCH_OUT" && BENCH_OUT=$(cd "$BENCH_OUT" && pwd -P) || exit 1
T=$(mktemp -d "${TMPDIR:-/tmp}/gcg-mc-bench.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT TERM

# The machine, the program and the moment, as comment lines.
machine() {
    local commit
    commit=$(git -C "$ROOT" describe --always --dirty --exclude '*' 2>/dev/null) || commit="none, version $(cat "$ROOT/VERSION")"
    echo "# machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(uname -m), $(nproc) processors"
    "$GCG" --version | awk -F '\t' '$1 == "compiler" || $1 == "flags" || $1 == "instruction set" || $1 == "BLAS" { print "# " $1 ": " $2 }'
    echo "# commit: $commit"
    echo "# load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
}

# Threads of the bench_* programs stay on processors of their own: a scheduler that puts two on one for some
# milliseconds would be all that they measure. (The program itself is timed as users run it.)
bound() { OMP_PROC_BIND=spread OMP_PLACES=threads "$@"; }

# Sets FILE to training ratings of MovieLens 1M, or of its shape where the data is missing (or SHAPE names a shape), and
# FILE_NAME to what it is.
ml_1m() {
    if [ -z "${SHAPE-}" ] && [ -r "$SHARED/data/ml-1m/train.tsv.gz" ]; then
        FILE=$SHARED/data/ml-1m/train.tsv.gz
        FILE_NAME="ML-1M train.tsv.gz"
    else
        FILE=$T/synth.csv
        FILE_NAME="synth ${SHAPE:-ml-1m}"
        local ratings=()
        [ "${SHAPE:-ml-1m}" != ml-1m ] || ratings=(--ratings 750157)
        "$GCG" synth --quiet --shape "${SHAPE:-ml-1m}" "${ratings[@]}" -o "$FILE" || exit
    fi
}

# Standard input to standard output and to BENCH_OUT/NAME.
keep() { tee "$BENCH_OUT/$1"; }

median() { sort -g | awk '{ a[NR] = $1 } END { if (NR) print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2; else print "nan" }'; }
