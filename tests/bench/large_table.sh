#!/bin/bash
# The README's table of data sets from the one of bench-large: tests/bench/large_table.sh BENCH_OUT/large.tsv
set -u
if [ $# != 1 ] || ! grep -q '^shape	.*	to_1e-2_s	' "$1"; then
    echo "usage: tests/bench/large_table.sh BENCH_OUT/large.tsv (make bench-large writes it)" >&2
    exit 2
fi
awk -F '\t' '
/^# (machine|compiler|instruction set|commit):/ { about = about (about == "" ? "" : "; ") substr($0, 3); next }
/^#/ { next }
!head { for (i = 1; i <= NF; i++) at[$i] = i; head = 1; print "| shape | from | ratings | read | to gap 1e-1 | to gap 1e-2 | peak memory (target) | rank | test RMSE |"; print "|---|---|---|---|---|---|---|---|---|"; next }
{
    printf "| %s | %s | %d | %.1f s | %.1f s | %.1f s | %.2f GB%s | %d | %.4f |\n", $at["shape"], $at["source"], $at["ratings"], $at["read_s"],
        $at["to_1e-1_s"], $at["to_1e-2_s"], $at["peak_GB"], $at["target_GB"] == "-" ? "" : " (" $at["target_GB"] ")", $at["rank"], $at["test_rmse"]
}
END { print ""; print about "." }' "$1"
