#!/bin/bash
# Line coverage of src/ from a build with gcov: tests/coverage.sh BUILD (make coverage).
set -u
find "$1/src" -name '*.gcno' | sort | while IFS= read -r notes; do
    gcov -n -o "$notes" "$notes" 2>/dev/null
done | awk -F "[':% ]+" '
    /^File /  { file = $2 }
    /^Lines executed/ && file ~ /^src\// {
        percent = $3; lines = $5
        if (!(file in best) || percent > best[file]) best[file] = percent
        count[file] = lines
        file = ""
    }
    END {
        for (f in best) {
            printf "%6.2f %% of %5d  %s\n", best[f], count[f], f | "sort -n"
            hit += best[f] / 100 * count[f]; all += count[f]
        }
        close("sort -n")
        printf "%6.2f %% of %5d  src/ in all\n", 100 * hit / all, all
    }'
