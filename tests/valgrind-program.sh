#!/bin/bash
# The program under valgrind: one small run of each subcommand (make valgrind). VALGRIND and GCG are set.
set -u
T=$(mktemp -d "${TMPDIR:-/tmp}/gcg-mc-valgrind.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
awk 'BEGIN { srand(1); for (i = 1; i <= 40; i++) for (j = 1; j <= 30; j++) if (rand() < 0.5) print i "," j "," 1 + int(5 * rand()) }' >train.csv
head -n 50 train.csv >test.csv
passed=0 failed=0
run() {
    # shellcheck disable=SC2086 # the wrapper is a command with its options
    if $VALGRIND "$GCG" "$@" >out 2>err; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED under valgrind: gcg-mc $*"
        tail -n 40 err
    fi
}
run fit --lambda 3 --threads 2 --test test.csv -o model train.csv
run fit --lambda 3 --plain --precision float -o model2 train.csv
run predict model test.csv
run eval model test.csv
run eval --top 5 --exclude train.csv --by user model test.csv
run recommend --users all --exclude train.csv model
run similar --item 3 model
run fold-in -o model3 model test.csv
run check --lambda-max train.csv
run synth --shape ml-100k --ratings 2000 --users 200 --items 100 -o synth.csv
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
