#!/bin/bash
# The program under valgrind: one small run of each subcommand (make valgrind). VALGRIND and GCG are set.
set -u
T=$(mktemp -d "${TMPDIR:-/tmp}/gcg-mc-valgrind.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
awk 'BEGIN { srand(1); for (i = 1; i <= 40; i++) for (j = 1; j <= 30; j++) if (rand() < 0.5) print i "," j "," 1 + int(5 * rand()) }' >train.csv
head -n 50 train.csv >test.csv
awk '{ print $0 "," 0.5 + NR % 7 / 2 }' train.csv >weights.csv
sed -n 's/^7,/new,/p' weights.csv >new.csv
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
run fit --lambda 3 --weights 4 --checkpoint-every 0 --log none -o weighted weights.csv
"$GCG" fit --quiet --lambda 3 --gap 1e-6 --max-iter 1 --log none -o half train.csv 2>/dev/null # status 3, and a checkpoint
run fit --resume half.ckpt --max-iter 50 -o half train.csv
run predict model test.csv
run eval model test.csv
run eval --top 5 --exclude train.csv --by user model test.csv
run recommend --users all --exclude train.csv model
run similar --item 3 model
run fold-in -o model3 model test.csv
run fold-in --weights 4 -n 3 weighted new.csv
run check --lambda-max train.csv
run convert --weights 4 weights.csv -o store.gcs
run path --lambdas 5,2 --holdout 0.2 --keep-all -o path train.csv
run cv --folds 2 --lambdas 5,2 train.csv
run fit --lambda auto --center both --norm-weights 0.5 -o auto train.csv
run export --to tsv -o factors model
run synth --shape ml-100k --ratings 2000 --users 200 --items 100 -o synth.csv
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
