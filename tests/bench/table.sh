#!/bin/bash
# The README's table from the one of bench-solver: tests/bench/table.sh BENCH_OUT/solver.tsv
set -u
if [ $# != 1 ] || ! grep -q '^problem	.*	solve_s	' "$1"; then
    echo "usage: tests/bench/table.sh BENCH_OUT/solver.tsv (make bench-solver writes it)" >&2
    exit 2
fi
awk -F '\t' '
/^# (machine|compiler|instruction set|commit):/ { about = about (about == "" ? "" : "; ") substr($0, 3); next }
/^#/ { next }
!head { for (i = 1; i <= NF; i++) at[$i] = i; head = 1; next }
{
    key = $at["problem"] ", lambda " $at["lambda"] ($at["center"] == "none" ? "" : ", --center " $at["center"]) "|" $at["gap"]
    if (!(key in most)) keys[++count] = key
    if ($at["threads"] == 1) one[key] = $at["solve_s"]
    if ($at["threads"] < most[key]) next
    most[key] = $at["threads"]
    seconds[key] = $at["solve_s"]; multiple[key] = $at["multiple"]; target[key] = $at["target"]
    rest[key] = $at["rank"] " | " $at["true_error"] " | " sprintf("%.4f", $at["test_rmse"])
    reached[key] = $at["status"] == "converged" ? "" : " (" $at["status"] ", gap " $at["gap_reached"] ")"
}
END {
    print about "."
    print ""
    print "| problem | gap | " most[keys[1]] " threads | x calibration (target) | 1 thread | rank | true error | test RMSE |"
    print "|---|---|---|---|---|---|---|---|"
    for (c = 1; c <= count; c++) {
        k = keys[c]; split(k, part, "|")
        printf "| %s | %s | %.2f s%s | %s (%s) | %.2f s | %s |\n", part[1], part[2], seconds[k], reached[k], multiple[k], target[k], one[k], rest[k]
    }
}' "$1"
