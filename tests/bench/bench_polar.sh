#!/bin/bash
# Products and seconds per accuracy of the roads to singular values, in the middle of a solve (make bench-polar). POINTS names
# the points, as LAMBDA:ITERATIONS.
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
ml_1m
{
    machine
    echo "# ratings: $FILE_NAME; $THREADS threads; medians of $RUNS"
    for point in ${POINTS:-50:3 20:3 20:6}; do
        bound "$BIN/bench_polar" "$FILE" "$RUNS" "$THREADS" "${point%:*}" "${point#*:}" || exit
    done
} | keep polar.tsv
exit "${PIPESTATUS[0]}"
