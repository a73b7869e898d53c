#!/bin/bash
# Gap, error of F and test RMSE against time, as curve-PROBLEM-SOLVER.tsv and curve-PROBLEM.png in BENCH_OUT (make
# bench-curves). A fit is run twice: without test ratings for the times, with them for the RMSE, which takes time to score; the
# iterates are the same. CURVES names the problems, as DATA:LAMBDA:CENTER; SOLVERS and COMPARE_SECONDS as in bench_compare.sh.
# shellcheck disable=SC1091,SC2154 # they stand beside, and set variables
. "$(dirname "$0")/lib.sh"
. "$HERE/problems.sh"
head=$(machine)
LIMIT=${COMPARE_SECONDS:-60}
which_solvers

# The columns "iter NAME..." of the log.
columns() {
    awk -F '\t' -v names="iter $*" '
    /^#/ { next }
    !count { count = split(names, name, " "); for (i = 1; i <= NF; i++) place[$i] = i; next }
    { for (i = 1; i <= count; i++) printf "%s%s", $place[name[i]], i < count ? "\t" : "\n" }' "$T/log"
}

# curve-ID-SOLVER.tsv
curve() { # ID LAMBDA CENTER SOLVER
    local options=(--lambda "$2" --center "$3" --threads "$THREADS" --gap 1e-5)
    [ "$4" = gcg ] || options+=(--solver "$4" --rank "$rank" --gap 1e-12 --max-iter 100000 --max-time "$LIMIT")
    fit "${options[@]}" --test "$TEST" "$TRAIN"
    columns test_rmse >"$T/rmse"
    fit "${options[@]}" "$TRAIN"
    columns time_s gap objective >"$T/times"
    {
        echo "$head"
        cat "$T/notes"
        echo "# $NAME, lambda $2, center $3, solver $4, $THREADS threads; true_error = (F - F*) / F*, F* = $best"
        printf 'iter\ttime_s\tgap\ttrue_error\ttest_rmse\n'
        awk -F '\t' -v best="$best" 'NR == FNR { rmse[$1] = $2; next }
            $1 in rmse { printf "%s\t%s\t%s\t%s\t%s\n", $1, $2, $3, ($4 - best) / best, rmse[$1] }' "$T/rmse" "$T/times"
    } >"$BENCH_OUT/curve-$1-$4.tsv"
    echo "curve-$1-$4.tsv"
}

cd "$BENCH_OUT" || exit 1
printf '%s' "$skipped"
command -v gnuplot >/dev/null || echo "# gnuplot is not installed: no plots (make deps installs it)"
for problem in ${CURVES:-ml-100k:10:none ml-1m:50:none ml-1m:20:none ml-1m:22:both}; do
    IFS=: read -r set lambda center <<<"$problem"
    [ -z "${SHAPE-}" ] || [ "$set" = "$SHAPE" ] || continue
    data "$set" "$set"
    know "$lambda" "$center"
    id=$set-$lambda-$center
    for solver in "${solvers[@]}"; do curve "$id" "$lambda" "$center" "$solver"; done
    if command -v gnuplot >/dev/null; then
        gnuplot -e "id='$id'; names='$NAME, lambda $lambda, center $center'; solvers='${solvers[*]}'" "$HERE/curves.gp" && echo "curve-$id.png"
    fi
done
