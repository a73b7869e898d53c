#!/bin/bash
# The benchmarks run, with data as small as possible; no time is judged.
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
export BENCH_OUT=$T/out RUNS=1 THREADS=2 SHAPE=ml-100k
unset SCALE SHAPES
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
polar() {
    POINTS=10:2 tests/bench/bench_polar.sh && columns 7 <"$T/out/polar.tsv" &&
        awk -F '\t' '$1 == "top" && $2 == "1e-08" { top = $6 } $1 == "bound" && $6 < 0 { low = 1 } $1 == "block" { blocks++ }
            END { exit !(top < 1e-8 && top > -1e-8 && !low && blocks > 3) }' "$T/out/polar.tsv"
}
ok "bench-polar: ARPACK finds what it finds at a tight tolerance, bounds are above" polar
compare() {
    LAMBDAS=10 COMPARE_SECONDS=2 tests/bench/bench_compare.sh && columns 9 <"$T/out/compare.tsv" &&
        grep -Eq '^synth ml-100k	10	gcg	2	[0-9]+(	[0-9.]+){3}	' "$T/out/compare.tsv"
}
ok "bench-compare tells gcg's seconds to three errors" compare
curves() {
    CURVES=ml-100k:10:none COMPARE_SECONDS=2 tests/bench/bench_curves.sh && columns 5 <"$T/out/curve-ml-100k-10-none-gcg.tsv" &&
        test "$(grep -vc '^#' "$T/out/curve-ml-100k-10-none-gcg.tsv")" -gt 3
}
ok "bench-curves writes a curve" curves
if command -v gnuplot >/dev/null; then
    ok "and a plot" test -s "$T/out/curve-ml-100k-10-none.png"
else
    skip "and a plot" "gnuplot is not installed"
fi
table() { tests/bench/table.sh "$T/out/solver.tsv" >"$T/table" && grep -Eq '^\| synth ml-100k, lambda 10 \| 1e-2 \| [0-9.]+ s' "$T/table"; }
ok "table.sh makes a table for the README of it" table
not_ok_if "table.sh wants the table of bench-solver" tests/bench/table.sh "$T/out/reading.tsv"
reading() {
    tests/bench/bench_reading.sh && sed -n '/^what/,/^$/p' "$T/out/reading.tsv" | columns 6 && sed -n '/^target/,$p' "$T/out/reading.tsv" | columns 4 &&
        grep -Eq '^fscanf	plain	1	' "$T/out/reading.tsv" && grep -Eq '^store	gzip, zlib	2	' "$T/out/reading.tsv" &&
        grep -Eq '^store gzip by zlib / gzip -dc	[0-9.]+	<= 1.1	(yes|no)$' "$T/out/reading.tsv"
}
ok "bench-reading times plain text and gzip, and says which targets are met" reading

# LARGE_SCALE=100 runs all of bench-large at that scale; otherwise, for the sanitizers' sake, what is small anyway.
shapes=6
[ -n "${LARGE_SCALE-}" ] || shapes=2
large() {
    if [ $shapes = 6 ]; then SCALE=$LARGE_SCALE tests/bench/bench_large.sh; else SCALE=1000 SHAPES="ml-100k ml-10m" tests/bench/bench_large.sh; fi
}
ok "bench-large ends" large
certified() { # every shape, from text at least; both gaps reached and certified
    awk -F '\t' -v shapes="$shapes" '/^#/ { next } !head { for (i = 1; i <= NF; i++) at[$i] = i; head = 1; next }
        { rows += $at["source"] == "text"; n++
          if (!($at["to_1e-1_s"] > 0 && $at["to_1e-2_s"] > 0 && $at["gap"] <= 1e-2 && $at["peak_GB"] > 0 && $at["rank"] >= 1) ||
              $at["certificate"] !~ /^(cholesky|probability)/) { print; bad = 1 } }
        END { print rows " shapes"; exit bad || rows != shapes || n < rows }' "$T/out/large.tsv"
}
ok "with a row for each shape, both gaps reached and certified" certified
large_table() { tests/bench/large_table.sh "$T/out/large.tsv" >"$T/table" && grep -Eq '^\| ml-10m \| text \| [0-9]+ \| [0-9.]+ s' "$T/table"; }
ok "large_table.sh makes a table for the README of it" large_table
if [ $shapes = 6 ]; then
    passes() { test "$(grep -c '	iteration	' "$T/out/large-passes.tsv")" = 16 && test "$(grep -c '^# .*	\(yes\|no\)$' "$T/out/large-passes.tsv")" = 6; }
    ok "and the passes of each size by one thread and two" passes
else
    kept() { SHAPES=none SCALE=1000 tests/bench/bench_large.sh && certified; }
    ok "rows of other runs are kept" kept
fi
done_testing
