#!/bin/bash
# The data sets of the paper's Table 1 from text file to certified gap, and what a pass costs as ratings grow (make
# bench-large; hours, 15 GB of memory, 20 GB in TMPDIR). Ratings are synthetic, of these shapes. BENCH_OUT gets
# large.tsv, large-passes.tsv, large-passes.png and .svg.
#
#   SCALE (1)      users, items and ratings are divided by it; by less where more than a quarter of the matrix would be
#                  rated. The same script at 100 takes minutes.
#   SHAPES         which ones (ml-100k ml-1m ml-10m netflix yahoo60m yahoo252m; "passes" for the table of passes, "none"
#                  for no shape). Rows that other runs at this scale left in BENCH_OUT/large are in the table, too: a run
#                  that was cut short goes on with SHAPES.
#   MAX_TIME (none) seconds for each fit; its last point is kept beside the next then, which takes memory
# shellcheck disable=SC1091 # it stands beside
. "$(dirname "$0")/lib.sh"
SCALE=${SCALE:-1}
ROWS=$BENCH_OUT/large/scale-$SCALE
mkdir -p "$ROWS"

# name, Table 1's users, items, training and test ratings; lambda as a part of lambda_max (so that the solution's rank is
# 10 to 50 with --center both, which is how such data is fitted: uncentred, the mean alone is most of W); the rank limit
# and the GB that a fit may take at full size (- where nothing was promised).
TABLE='ml-100k|943|1682|80000|20000|0.5|-|-
ml-1m|6040|3952|750070|250024|0.5|-|-
ml-10m|71567|65133|9301174|698599|0.5|50|0.6
netflix|2549429|17770|99072112|1408395|0.5|32|5
yahoo60m|1738442|98130|60021577|20872219|0.7|-|-
yahoo252m|1000990|624961|252800275|4003960|0.5|16|8'

# The options of synth for these users, items, training and test ratings, all divided by the last argument.
sizes() { # USERS ITEMS TRAIN TEST DIVISOR
    awk -v u="$1" -v i="$2" -v r="$3" -v t="$4" -v s="$5" 'BEGIN {
        most = u * i / 4 / (r + t)
        if (s > most && s > 1) s = most > 1 ? most : 1
        printf "--users %d --items %d --ratings %d", u / s, i / s, r / s
        if (t) printf " --test-ratings %d", t / s
        print "" }'
}

log_key() { awk -F '\t' -v key="# $1" '$1 == key { print $2; exit }' "$T/log"; }
log_last() { awk -F '\t' -v name="$1" '/^#/ { next } !n { for (i = 1; i <= NF; i++) if ($i == name) n = i; next } { v = $n } END { print v }' "$T/log"; }

# One fit of TRAIN to a gap; the log is $T/log, the peak $T/peak. A fit that stops before its gap (status 3) is a row, too.
fit() { # GAP OPTION...
    local status=0
    "$BIN/peak" "$T/peak" "$GCG" fit --quiet --log "$T/log" -o "$T/model" --gap "$1" --center both --threads "$THREADS" \
        ${MAX_TIME:+--max-time "$MAX_TIME"} "${memory[@]}" "${@:2}" || status=$?
    if [ $status = 6 ] && [ ${#memory[@]} -gt 0 ]; then
        echo "bench: $name: refused ${memory[*]}; goes on without" >&2
        memory=()
        fit "$@"
        return
    fi
    [ $status = 0 ] || [ $status = 3 ] || exit $status
    [ "$(log_key status)" = converged ] || echo "bench: $name, gap $1: stopped by $(log_key status)" >&2
}

# seconds of reading, seconds of solving if the gap was reached, peak, ... of the last fit
seconds_of_fit() { if [ "$(log_key status)" = converged ]; then log_last time_s; else echo nan; fi; }
gigabytes() { awk '{ printf "%.3f", $1 / 1e9 }' "$T/peak"; }

HEAD='shape\tsource\tusers\titems\tratings\tlambda_ratio\trank_limit\tread_s\tto_1e-1_s\tto_1e-2_s\tpeak_GB\ttarget_GB\trank\tgap\tcertificate\ttest_rmse'
row() { # SOURCE SECONDS_TO_1e-1
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%s\t%s\t%s\t%.2e\t%s\t%.4f\n' "$name" "$1" "$(log_key users)" "$(log_key items)" \
        "$(log_key ratings)" "$ratio" "$rank" "$(log_key read_s)" "$2" "$(seconds_of_fit)" "$(gigabytes)" "$target" "$(log_last rank)" \
        "$(log_last gap)" "$(log_key certificate)" "$(log_last test_rmse)"
}

# A shape's rows: from text, and from the binary store where the program has one.
run_shape() { # TABLE LINE
    local name users items train test ratio rank target first options=() memory=() train_file="$T/train.csv"
    IFS='|' read -r name users items train test ratio rank target <<<"$1"
    rm -f "$ROWS/$name"
    # shellcheck disable=SC2046 # words
    "$GCG" synth --quiet $(sizes "$users" "$items" "$train" "$test" "$SCALE") --test "$T/test.csv" -o "$train_file" || exit
    options=(--lambda-ratio "$ratio" --test "$T/test.csv")
    [ "$rank" = - ] || options+=(--rank "$rank")
    memory=()
    [ "$target" = - ] || [ "$SCALE" != 1 ] || memory=(--max-memory "$(awk -v g="$target" 'BEGIN { printf "%.0f", g * 1e9 }')")
    fit 1e-1 "${options[@]}" "$train_file"
    first=$(seconds_of_fit)
    fit 1e-2 "${options[@]}" "$train_file"
    row text "$first" >"$T/row"
    if "$GCG" convert --help >/dev/null 2>&1; then
        "$GCG" convert --quiet -o "$T/train.gcs" "$train_file" && rm "$train_file" || exit
        fit 1e-1 "${options[@]}" "$T/train.gcs"
        first=$(seconds_of_fit)
        fit 1e-2 "${options[@]}" "$T/train.gcs"
        row gcs "$first" >>"$T/row"
    fi
    rm -f "$T"/train.* "$T/test.csv" "$T/model"*
    mv "$T/row" "$ROWS/$name"
}

# ---- passes ----

# ML-1M and the Netflix shape; Yahoo's from a 250th to all of it.
PASS_FILES='ml-1m|6040|3952|750070|1
netflix|2549429|17770|99072112|1
ratings-1M|1000990|624961|252800275|252.8
ratings-2.5M|1000990|624961|252800275|101.12
ratings-10M|1000990|624961|252800275|25.28
ratings-25M|1000990|624961|252800275|10.112
ratings-100M|1000990|624961|252800275|2.528
ratings-250M|1000990|624961|252800275|1'

run_passes() {
    local name users items ratings divisor files=()
    while IFS='|' read -r name users items ratings divisor; do
        divisor=$(awk -v d="$divisor" -v s="$SCALE" 'BEGIN { print d * s }')
        # shellcheck disable=SC2046 # words
        "$GCG" synth --quiet $(sizes "$users" "$items" "$ratings" 0 "$divisor") -o "$T/text" || exit
        # The text goes at once: a page cache full of it leaves the passes no huge pages.
        "$GCG" convert --quiet -o "$T/$name.gcs" "$T/text" && rm "$T/text" && mv "$T/$name.gcs" "$T/$name" || exit
        files+=("$name")
    done <<<"$PASS_FILES"
    (cd "$T" && bound "$BIN/bench_passes" "$RUNS" "$THREADS" "${K:-32}" "${files[@]}") >"$T/passes" || exit
    (cd "$T" && rm -f "${files[@]}")
    mv "$T/passes" "$ROWS/passes"
}

# What was promised of the passes, from their table on standard input: value, target, whether it is met.
judge_passes() {
    awk -F '\t' -v most="$THREADS" '
    $1 == "file" { head = 1; next }
    !head || $5 != "iteration" { next }
    { cost[$1, $6] = $7; seconds[$1, $6] = $7 * $4; count[$1] = $4 }
    function line(what, value, target, good) { printf "# %s\t%.2f\t%s\t%s\n", what, value, target, good ? "yes" : "no" }
    END {
        print "# what\tvalue\ttarget\tmet"
        v = cost["netflix", most] / cost["ml-1m", most]; line("netflix against ml-1m, a rating and pass", v, "<= 1.5", v <= 1.5)
        v = cost["netflix", 1] / cost["netflix", most]; line(most " threads against 1, netflix", v, ">= 1.8", v >= 1.8)
        n = split("1M 2.5M 10M 25M", small, " "); split("10M 25M 100M 250M", large, " ")
        for (i = 1; i <= n; i++) {
            a = "ratings-" small[i]; b = "ratings-" large[i]
            v = seconds[b, most] / seconds[a, most] * 10 * count[a] / count[b]
            line("ten times the ratings, " small[i] " to " large[i], v, "<= 11", v <= 11)
        }
    }'
}

plot_passes() {
    command -v gnuplot >/dev/null || return 0
    awk -F '\t' '$1 ~ /^ratings-/ && $5 == "iteration" { print $4 "\t" $6 "\t" $7 }' "$ROWS/passes" >"$T/curve"
    gnuplot -e "data='$T/curve'; most='$THREADS'; out='$BENCH_OUT/large-passes'" "$HERE/passes.gp"
}

wanted=${SHAPES:-ml-100k ml-1m ml-10m netflix yahoo60m yahoo252m passes}
head=$(machine)
while read -r line; do
    case " $wanted " in *" ${line%%|*} "*) run_shape "$line" ;; esac
done <<<"$TABLE"
case " $wanted " in *" passes "*) run_passes ;; esac

{
    echo "$head"
    echo "# 1/$SCALE of the sizes; --center both, $THREADS threads; seconds of solving are those of a fit to that gap"
    printf '%b\n' "$HEAD"
    while IFS='|' read -r name _; do [ ! -e "$ROWS/$name" ] || cat "$ROWS/$name"; done <<<"$TABLE"
} | keep large.tsv
if [ -e "$ROWS/passes" ]; then
    echo
    {
        echo "$head"
        echo "# 1/$SCALE of the sizes (ratings-250M is Yahoo! 252M's shape, the others are parts of it); medians of $RUNS"
        cat "$ROWS/passes"
        echo
        judge_passes <"$ROWS/passes"
    } >"$BENCH_OUT/large-passes.tsv"
    awk -F '\t' '/^#/ || $5 == "" || $5 == "pass" || $5 == "iteration"' "$BENCH_OUT/large-passes.tsv" # the others are in the file
    plot_passes
fi
