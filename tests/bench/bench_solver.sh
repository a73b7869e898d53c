#!/bin/bash
# Seconds of whole fits beside the targets (make bench-solver; minutes). A target is a multiple of the calibration loop, which
# is timed before each problem of each run. Columns:
#   solve_s      seconds from the first step to the certified gap; nothing is read or scored in them
#   all_s        the whole program without reading: also lambda_max and writing the model
#   multiple     solve_s / calibration_s; target, and whether multiple is within it, at THREADS threads
#   speedup      solve_s at one thread / solve_s
#   true_error   (F - F*) / F*, F* from the oracles
# GAPS ("1e-3 1e-5"), ONLY (a pattern of rows "NAME|DATA|LAMBDA|CENTER|...") and MAX_TIME (300 s a fit) make it shorter.
# shellcheck disable=SC1091,SC2154 # they stand beside, and set variables
. "$(dirname "$0")/lib.sh"
. "$HERE/problems.sh"
head=$(machine)

run_problem() { # NAME DATA LAMBDA CENTER TARGET TARGET
    local calibration gap threads start all
    data "$2" "$1"
    calibration=$("$BIN/calibrate" "${CALIBRATION_PASSES:-25}") || exit
    for gap in ${GAPS:-1e-3 1e-5}; do
        for threads in $(seq "$THREADS" -1 1); do
            start=$EPOCHREALTIME
            fit --lambda "$3" --center "$4" --gap "$gap" --threads "$threads" "$TRAIN"
            all=$(echo "$start $EPOCHREALTIME $(log_key read_s)" | awk '{ print $2 - $1 - $3 }')
            printf '%s\t' "$1|$3|$4|$gap" "$NAME" "$threads" "$(log_last time_s)" "$all" "$calibration" "$(log_last iter)" \
                "$(log_last rank)" "$(log_last passes)" "$(log_last gap)" "$(log_last objective)" "$(optimum "$ORACLE" "$3" "$4")" \
                "$("$GCG" eval --quiet "$T/model" "$TEST" | awk -F '\t' '$1 == "all" { print $3 }')" \
                "$(log_key certificate | tr ' ' '_')" "$(log_key status)" "$5" "$6"
            echo
        done
    done >>"$T/fits"
}

for run in $(seq "$RUNS"); do
    while IFS='|' read -r name set lambda center target3 target5; do
        [ -z "${SHAPE-}" ] || [ "$set" = "$SHAPE" ] || continue
        run_problem "$name" "$set" "$lambda" "$center" "$target3" "$target5"
        [ ! -t 2 ] || printf '\rrun %d of %d: %s, lambda %s    ' "$run" "$RUNS" "$name" "$lambda" >&2
    done < <(echo "$PROBLEMS" | grep -E -- "${ONLY:-.}")
done
[ ! -t 2 ] || echo >&2

# Medians over the runs; everything but seconds is the same in each of them.
{
    echo "$head"
    cat "$T/notes"
    echo "# targets: at $THREADS threads, in multiples of the calibration loop; medians of $RUNS"
    awk -F '\t' -v most="$THREADS" '
    function median(list,   a, n, i, j, t) {
        n = split(list, a, " ")
        for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] + 0 < a[j - 1] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
        return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
    }
    {
        key = $1 "|" $3
        if (!(key in solve)) keys[++count] = key
        solve[key] = solve[key] " " $4; all[key] = all[key] " " $5; line[key] = $0
        split($1, id, "|")
        loop[id[1], id[2], id[3]] = loop[id[1], id[2], id[3]] " " $6
    }
    END {
        print "problem\tlambda\tcenter\tgap\tthreads\tsolve_s\tall_s\tcalibration_s\tmultiple\ttarget\twithin\tspeedup\titerations\trank\tpasses\tgap_reached\tcertificate\ttrue_error\ttest_rmse\tstatus"
        judged = good = 0
        for (c = 1; c <= count; c++) {
            $0 = line[keys[c]]
            split($1, id, "|")
            s = median(solve[keys[c]]); one = median(solve[$1 "|1"]); k = median(loop[id[1], id[2], id[3]])
            target = "-"; within = "-"
            if ($3 == most && $12 != "" && (id[4] == "1e-3" || id[4] == "1e-5")) {
                target = id[4] == "1e-3" ? $16 : $17
                within = $15 == "converged" && s / k <= target ? "yes" : "no"
                judged++
                good += within == "yes"
            }
            printf "%s\t%s\t%s\t%s\t%d\t%.3f\t%.3f\t%.3f\t%.2f\t%s\t%s\t%.2f\t%d\t%d\t%.1f\t%.2e\t%s\t%s\t%.5f\t%s\n", $2, id[2], id[3], id[4], $3, s,
                median(all[keys[c]]), k, s / k, target, within, one / s, $7, $8, $9, $10, $14, $12 == "" ? "nan" : sprintf("%.1e", ($11 - $12) / $12), $13, $15
        }
        if (judged) print "# " good " of " judged " within their target"
    }' "$T/fits"
} | keep solver.tsv
