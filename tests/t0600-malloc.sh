#!/bin/bash
# Memory running out at any moment: the n-th allocation fails, for every n up to 30 and a sample above (the unit tests go through all
# n). Then the program says so and exits with 6, or does
# without; it never crashes, and it leaves neither half a file nor a changed model.
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

case ${BUILD:-} in
*/address* | */thread*) skip_all "sanitizers have an allocator of their own" ;;
*/coverage) skip_all "gcov's own allocations, made in the program, are not checked" ;;
esac
"${CC:-gcc}" -shared -fPIC -O1 -Wno-missing-prototypes -o failmalloc.so "$ROOT/tests/failmalloc.c" -ldl 2>err || skip_all "no compiler for the shim"

awk 'BEGIN { for (i = 1; i <= 12; i++) for (j = 1; j <= 9; j++) if ((i * j) % 3) print i "," j "," 1 + (i * i + j) % 5 }' >train.csv
head -n 20 train.csv | gzip >test.csv.gz
"$GCG" fit --quiet --log none --lambda 3 -o model train.csv || exit 1
cp model model.before

# Runs a command for n = 1, 2, ... until n is past its allocations. Prints what went wrong.
every_n() { # COMMAND...
    local n=0 count=0 status
    while [ "$count" -ge "$n" ]; do # a run that made fewer calls than n had no failure in it
        n=$((n < 30 ? n + 1 : n + n / 8))
        timeout 20 env FAILMALLOC=$n FAILMALLOC_COUNT="$T/count" LD_PRELOAD="$T/failmalloc.so" "$GCG" "$@" >out 2>err </dev/null
        status=$?
        read -r count <"$T/count"
        case $status in
        0 | 3) ;;
        6)
            [ "$(grep -c 'error:' err)" = 1 ] || { echo "n = $n: not one message:"; cat err; return 1; }
            grep -q 'out of memory' err || { echo "n = $n: another message:"; cat err; return 1; }
            ;;
        *) echo "n = $n: exit $status"; cat err; return 1 ;;
        esac
        cmp -s model model.before || { echo "n = $n: the model was changed"; return 1; }
        # shellcheck disable=SC2010 # names of our own
        if ls -A | grep -q '^\.'; then ls -A; echo "n = $n: a temporary file is left"; return 1; fi
        if [ $status = 6 ] && [ -e fresh ]; then # what failed came after it: then it is whole
            [[ $1 = fit || $1 = fold-in ]] && "$GCG" predict --quiet fresh test.csv.gz >/dev/null || { echo "n = $n: half a file is left"; return 1; }
            grep -q '"exit": 6' fresh.done 2>/dev/null || [ ! -e fresh.done ] || { echo "n = $n: failed, but fresh.done says otherwise"; return 1; }
        fi
        if [ "$1" = export ] && [ $status = 6 ] && ls fresh.* 2>/dev/null; then echo "n = $n: a part of the export is left"; return 1; fi
        rm -f fresh fresh.*
    done
    [ "$count" -gt 5 ] || { echo "only $count allocations"; return 1; }
    echo "$count allocations"
}
every_n_quietly() { (rm -rf box && mkdir box && cd box && cp ../train.csv ../test.csv.gz ../model ../model.before . && every_n "$@"); }

ok "check" every_n_quietly check --test test.csv.gz train.csv
ok "fit, one thread" every_n_quietly fit --threads 1 --lambda 3 --log none -o fresh train.csv
ok "fit with test set, centring, gzip, float" every_n_quietly fit --threads 1 --lambda 3 --center both --precision float \
    --test test.csv.gz --max-iter 2 -o fresh train.csv
ok "fit, plain" every_n_quietly fit --threads 1 --lambda 3 --plain --max-iter 2 --log none -o fresh train.csv
ok "fit, als-cg" every_n_quietly fit --threads 1 --lambda 3 --solver als-cg --rank 3 --max-iter 2 --log none -o fresh train.csv
ok "fit, soft-impute" every_n_quietly fit --threads 1 --lambda 3 --solver soft-impute --rank 3 --max-iter 2 --log none -o fresh train.csv
ok "predict" every_n_quietly predict model test.csv.gz
ok "eval" every_n_quietly eval --train train.csv model test.csv.gz
ok "eval, rankings" every_n_quietly eval --threads 1 --top 3 --by user --exclude train.csv model test.csv.gz
ok "recommend" every_n_quietly recommend --threads 1 --users all --exclude train.csv -o fresh model
ok "recommend, a list of users" every_n_quietly recommend --threads 1 --unknown mean --users test.csv.gz -n 2 model
ok "similar" every_n_quietly similar --threads 1 --item 1 model
ok "fold-in" every_n_quietly fold-in --threads 1 --duplicates last -n 2 -o fresh model test.csv.gz
ok "export" every_n_quietly export --to npy -o fresh model
ok "synth" every_n_quietly synth --users 20 --items 10 --ratings 100 -o fresh
ok "synth, compressed" every_n_quietly synth --users 20 --items 10 --ratings 100 --test fresh --test-ratings 5 -o -
done_testing
