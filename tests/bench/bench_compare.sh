#!/bin/bash
# Seconds to an objective within 1e-2, 1e-3 and 1e-4 of the optimum, relatively, for each solver of the program on MovieLens
# 1M (make bench-compare; many minutes). A comparator is told the rank of the optimum and is given COMPARE_SECONDS (60); in later
# runs a little more than it took to 1e-4. No certificate is asked of anyone: gcg's seconds to one are bench-solver's. SOLVERS names some.
# shellcheck disable=SC1091,SC2154 # they stand beside, and set variables
. "$(dirname "$0")/lib.sh"
. "$HERE/problems.sh"
head=$(machine)
LIMIT=${COMPARE_SECONDS:-60}
which_solvers

# Seconds to within the relative error $2 of the optimum $1, in the log; NEVER when it is not reached.
NEVER=1000000000
seconds_to() {
    awk -F '\t' -v best="$1" -v error="$2" -v found=$NEVER '/^#/ { next } !n { for (i = 1; i <= NF; i++) { if ($i == "objective") n = i; if ($i == "time_s") t = i }; next }
        $n <= best * (1 + error) { found = $t; exit } END { print found }' "$T/log"
}

run_solver() { # LAMBDA SOLVER
    local id="$1-$2" options=(--gap 1e-5) error
    if [ "$2" != gcg ]; then
        options=(--solver "$2" --rank "$rank" --precision float --gap 1e-12 --max-iter 100000 --max-time "$(cat "$T/$id.limit" 2>/dev/null || echo "$LIMIT")")
    fi
    fit --lambda "$1" --threads "$THREADS" "${options[@]}" "$TRAIN"
    for error in 1e-2 1e-3 1e-4; do seconds_to "$best" $error >>"$T/$id.$error"; done
    [ ! -e "$T/$id.last" ] || return 0
    awk -v F="$(log_last objective)" -v best="$best" 'BEGIN { printf "%.1e\n", (F - best) / best }' >"$T/$id.last"
    awk -v limit="$LIMIT" '{ s = 1.3 * $1 + 0.5; print s < limit ? s : limit }' "$T/$id.1e-4" >"$T/$id.limit"
}

data "${SHAPE:-ml-1m}" "ML-1M"
lambdas=${LAMBDAS:-50 20}
for lambda in $lambdas; do
    know "$lambda" none
    echo "$rank" >"$T/$lambda.rank"
    for _ in $(seq "$RUNS"); do
        for solver in "${solvers[@]}"; do run_solver "$lambda" "$solver"; done
    done
done
{
    echo "$head"
    cat "$T/notes"
    echo "# medians of $RUNS"
    printf '%s' "$skipped"
    printf 'problem\tlambda\tsolver\tthreads\trank\tto_1e-2_s\tto_1e-3_s\tto_1e-4_s\tlast_error\n'
    for lambda in $lambdas; do
        for solver in "${solvers[@]}"; do
            printf '%s\t%s\t%s\t%d\t%d' "$NAME" "$lambda" "$solver" "$THREADS" "$(cat "$T/$lambda.rank")"
            for error in 1e-2 1e-3 1e-4; do median <"$T/$lambda-$solver.$error" | awk -v never=$NEVER '{ printf "\t%s", $1 < never ? sprintf("%.2f", $1) : "not reached" }'; done
            printf '\t%s\n' "$(cat "$T/$lambda-$solver.last")"
        done
    done
} | keep compare.tsv
