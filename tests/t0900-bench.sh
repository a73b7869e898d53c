#!/bin/bash
# The benchmarks run, with data as small as possible; no time is judged.
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
export BENCH_OUT=$T/out RUNS=1 THREADS=2 SHAPE=ml-100k
export BUILD=${BUILD:-$ROOT/build}
cd "$ROOT" || exit 1

calibrates() { "$BUILD/tests/bench/calibrate" 1 | grep -Ex '[0-9]+\.[0-9]+'; }
ok "the calibration loop tells its seconds" calibrates
not_ok_if "it refuses a number of passes that is none" "$BUILD/tests/bench/calibrate" 1x

columns() { awk -F '\t' -v n="$1" '!/^#/ && NF != n && NF != 0 { print "line " NR ": " $0; bad = 1 } END { exit bad }'; }
kernels() {
    K=16 tests/bench/bench_kernels.sh && grep -q '^# machine: .' "$T/out/kernels.tsv" &&
        sed -n '/^what/,/^$/p' "$T/out/kernels.tsv" | columns 5 && sed -n '/^pass/,$p' "$T/out/kernels.tsv" | columns 8 &&
        test "$(grep -c '^gradient	16	' "$T/out/kernels.tsv")" = 4
}
ok "bench-kernels writes both its tables" kernels
solver() {
    GAPS=1e-2 ONLY='\|10\|' CALIBRATION_PASSES=1 tests/bench/bench_solver.sh && columns 20 <"$T/out/solver.tsv" &&
        test "$(grep -c '^synth ml-100k	10	none	1e-2	[12]	.*	converged$' "$T/out/solver.tsv")" = 2
}
ok "bench-solver has a row for each number of threads" solver
reading() { tests/bench/bench_reading.sh && test "$(grep -c '^ratings.tsv' "$T/out/reading.tsv")" = 2; }
ok "bench-reading times plain text and gzip" reading
done_testing
