#!/bin/bash
# What the machine can do, and what each pass over the ratings makes of it (make bench-kernels).
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
ml_1m
{
    machine
    echo "# calibration loop: $("$BIN/calibrate") s; ratings: $FILE_NAME; medians of $RUNS"
    # shellcheck disable=SC2086 # a list
    bound "$BIN/bench_kernels" "$FILE" "$RUNS" "$THREADS" ${K:-16 32 64 128 160 256}
} | keep kernels.tsv
exit "${PIPESTATUS[0]}"
