#!/bin/bash
# Seconds to an objective within 1e-2, 1e-3 and 1e-4 of the optimum, relatively, for each solver of the program on MovieLens
# 1M (make bench-compare; many minutes). A comparator is told the rank of the optimum and is given COMPARE_SECONDS (60); in later
# runs a little more than it took to 1e-4. No certificate is asked of anyone: gcg's seconds to one are bench-solver's. SOLVERS names some.
# shellcheck disable=SC1091 # they stand beside
. "$(dirname "$0")/lib.sh"
. "$HERE/problems.sh"
head=$(machine)
LIMIT=${COMPARE_SECONDS:-60}

# Which of them this program has.
solvers=()
for solver in ${SOLVERS:-gcg als-cg soft-impute}; do
    if "$GCG" fit --help | grep -qw -- "$solver"; then
        solvers+=("$solver")
    else
        echo "# fit --solver $solver: this program has no such solver, skipped" >>"$T/skipped"
    fi
done

# Seconds to within the relative error $2 of the optimum $1, in the log; nothing when it is not reached.
seconds_to() {
    awk -F '\t' -v best="$1" -v error="$2" '/^#/ { next } !n { for (i = 1; i <= NF; i++) { if ($i == "objective") n = i; if ($i == "time_s") t = i }; next }
        $n <= best * (1 + error) { print $t; exit }' "$T/log"
}

# gcg to a gap of 1e-5 says what the optimum is where the oracles do not, and of which rank.
know() { # LAMBDA
    fit --lambda "$1" --gap 1e-5 --threads "$THREADS" "$TRAIN"
    rank=$(log_last rank)
    best=$(optimum "$ORACLE" "$1" none)
    : "${best:=$(log_last objective)}"
}

run_solver() { # LAMBDA SOLVER
    local id="$1-$2" options=(--gap 1e-5)
    [ "$2" = gcg ] || options=(--solver "$2" --rank "$rank" --gap 1e-12 --max-iter 100000 --max-time "$(cat "$T/$id.limit" 2>/dev/null || echo "$LIMIT")")
    fit --lambda "$1" --threads "$THREADS" "${options[@]}" "$TRAIN"
    for error in 1e-2 1e-3 1e-4; do seconds_to "$best" $error >>"$T/$id.$error"; done
    awk -v F="$(log_last objective)" -v best="$best" 'BEGIN { printf "%.1e\n", (F - best) / best }' >"$T/$id.error"
    seconds_to "$best" 1e-4 | awk '{ print 1.3 * $1 + 0.5 }' >"$T/$id.limit"
    [ -s "$T/$id.limit" ] || rm -f "$T/$id.limit"
}

data "${SHAPE:-ml-1m}" "ML-1M"
lambdas=${LAMBDAS:-50 20}
for lambda in $lambdas; do
    know "$lambda"
    echo "$rank" >"$T/$lambda.rank"
    for _ in $(seq "$RUNS"); do
        for solver in "${solvers[@]}"; do run_solver "$lambda" "$solver"; done
    done
done
{
    echo "$head"
    cat "$T/skipped" 2>/dev/null
    printf 'problem\tlambda\tsolver\tthreads\trank\tto_1e-2_s\tto_1e-3_s\tto_1e-4_s\tlast_error\n'
    for lambda in $lambdas; do
        for solver in "${solvers[@]}"; do
            printf '%s\t%s\t%s\t%d\t%d' "$NAME" "$lambda" "$solver" "$THREADS" "$(cat "$T/$lambda.rank")"
            for error in 1e-2 1e-3 1e-4; do printf '\t%.2f' "$(median <"$T/$lambda-$solver.$error")"; done
            printf '\t%s\n' "$(cat "$T/$lambda-$solver.error")"
        done
    done
} | keep compare.tsv
