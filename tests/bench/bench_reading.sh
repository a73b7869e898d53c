#!/bin/bash
# Seconds to read a rating file, plain text and gzip, in megabytes of text a second (make bench-reading).
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
shape=${SHAPE:-ml-10m}
"$GCG" synth --quiet --shape "$shape" --format tsv -o ratings.tsv || exit
gzip -k1 ratings.tsv
size=$(stat -c %s ratings.tsv)
for _ in $(seq "$RUNS"); do
    for file in ratings.tsv ratings.tsv.gz; do
        start=$(date +%s.%N)
        "$GCG" check --quiet "$file" >/dev/null || exit
        date +%s.%N | awk -v start="$start" '{ print $1 - start }' >>"$file.seconds"
    done
done
{
    machine
    echo "# synth $shape; medians of $RUNS"
    printf 'file\tMB\tseconds\tMB_per_s\n'
    for file in ratings.tsv ratings.tsv.gz; do
        median <"$file.seconds" | awk -v file="$file" -v size="$size" '{ printf "%s\t%.0f\t%.3f\t%.0f\n", file, size / 1e6, $1, size / $1 / 1e6 }'
    done
} | keep reading.tsv
