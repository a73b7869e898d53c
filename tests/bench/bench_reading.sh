#!/bin/bash
# Seconds to read a rating file, plain and gzip, against a loop of fscanf and against gzip and igzip that only unpack
# (make bench-reading); and whether the targets are met, as ratios of medians from one interleaved run.
# parse: lines to points with ids looked up; store: the whole way to sorted rows; check: the program.
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
shape=${SHAPE:-ml-25m}
"$GCG" synth --quiet --shape "$shape" --format tsv -o ratings.tsv || exit
gzip -k ratings.tsv
size=$(stat -c %s ratings.tsv)
isal=$("$GCG" --version | awk -F '\t' '$1 == "libisal" && $2 !~ /^no/')
command -v igzip >/dev/null || echo "bench-reading: igzip is not installed (package isal): not compared with it" >&2

TIMEFORMAT='%R %U %S'
seconds() { # NAME COMMAND...: one measurement of the clock and of the processors
    { time "${@:2}" >/dev/null 2>&1; } 2>"$T/time" || exit
    awk '{ print $1 >>name ".seconds"; print $2 + $3 >>name ".cpu" }' name="$1" "$T/time"
}
own() { # the same, measured by itself
    "$BIN/bench_reading" "${@:2}" >"$T/time" || exit
    awk '{ print $1 >>name ".seconds"; print $2 >>name ".cpu" }' name="$1" "$T/time"
}

for _ in $(seq "$RUNS"); do
    own fscanf:plain:1 fscanf ratings.tsv
    for threads in 1 "$THREADS"; do
        for how in parse store; do
            own "$how:plain:$threads" $how ratings.tsv "$threads"
            own "$how:gzip, zlib:$threads" $how ratings.tsv.gz "$threads" zlib
            [ -z "$isal" ] || own "$how:gzip, libisal:$threads" $how ratings.tsv.gz "$threads"
        done
    done
    seconds check:plain:"$THREADS" "$GCG" check --quiet --threads "$THREADS" ratings.tsv
    seconds check:gzip:"$THREADS" "$GCG" check --quiet --threads "$THREADS" ratings.tsv.gz
    seconds "gzip -dc:gzip:1" gzip -dc ratings.tsv.gz
    if command -v igzip >/dev/null; then seconds "igzip -dc:gzip:1" igzip -dc ratings.tsv.gz; fi
done

{
    machine
    echo "# synth $shape, $size bytes, $(stat -c %s ratings.tsv.gz) as gzip; medians of $RUNS"
    printf 'what\tfile\tthreads\tseconds\tprocessor_s\tMB_per_s\n'
    for file in *.seconds; do
        IFS=: read -r what kind threads <<<"${file%.seconds}"
        paste <(median <"$file") <(median <"${file%.seconds}.cpu") | awk -v what="$what" -v kind="$kind" -v threads="$threads" \
            -v size="$size" '{ printf "%s\t%s\t%s\t%.3f\t%.3f\t%.0f\n", what, kind, threads, $1, $2, size / $1 / 1e6 }'
    done
    echo
    of() { median <"$1"; }
    target() { # NAME FIGURE WANTED
        awk -v name="$1" -v figure="$2" -v wanted="$3" 'BEGIN {
            met = wanted ~ /^>/ ? figure >= substr(wanted, 4) + 0 : figure <= substr(wanted, 4) + 0
            printf "%s\t%.2f\t%s\t%s\n", name, figure, wanted, met ? "yes" : "no" }'
    }
    printf 'target\tfigure\twanted\tmet\n'
    # by the processor's seconds, which others on the machine change least
    target "parse, MB per second of a processor" "$(of parse:plain:1.cpu | awk -v size="$size" '{ print size / $1 / 1e6 }')" ">= 300"
    ratio() { paste <(of "$1") <(of "$2") | awk '{ print $1 / $2 }'; }
    target "fscanf / parse, seconds of a processor" "$(ratio fscanf:plain:1.cpu parse:plain:1.cpu)" ">= 10"
    for how in parse store; do
        target "$how gzip by zlib / gzip -dc" "$(ratio "$how:gzip, zlib:$THREADS.seconds" "gzip -dc:gzip:1.seconds")" "<= 1.1"
        if [ -n "$isal" ] && [ -e "igzip -dc:gzip:1.seconds" ]; then
            target "$how gzip by libisal / igzip -dc" "$(ratio "$how:gzip, libisal:$THREADS.seconds" "igzip -dc:gzip:1.seconds")" "<= 1.3"
        fi
    done
} | keep reading.tsv
