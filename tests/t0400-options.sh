#!/bin/bash
# The command line of every subcommand: help, mistakes, standard streams. What each option does is tested elsewhere.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

gcg() { "$GCG" "$@" >out 2>err; }
says() { grep -q -e "$1" err || { cat err; return 1; }; }
one_error() { test ! -s out && test "$(wc -l <err)" = 1 && grep -q '^gcg-mc: error: ' err || { cat out err; return 1; }; }
silent() { test ! -s err && test -s out; }

printf 'user,item,rating\n1,1,5\n1,2,3\n2,1,4\n3,2,1\n' >train.csv
"$GCG" fit --quiet --log none --lambda 1 -o m train.csv
commands=$("$GCG" --help | awk '/^  [a-z]/ { print $1 }')

# ---- the program ----
exits 2 "no argument at all is a usage error" gcg
ok "with the usage on standard error" bash -c 'test ! -s out && grep -q "^usage: gcg-mc SUBCOMMAND" err'
ok "--help is not" gcg --help
ok "and goes to standard output alone" silent
ok "it lists fit, predict, eval and check" test "$(printf '%s\n' fit predict eval check | grep -cxF "$commands")" = 4
ok "--version goes to standard output alone" bash -c '"$GCG" --version >out 2>err && test ! -s err && grep -Eq "^gcg-mc [0-9]" out'
for key in compiler flags threads 'instruction set' BLAS ARPACK zlib; do
    ok "--version tells the $key" grep -Eq "^$key	." out
done
exits 2 "an unknown subcommand is a usage error" gcg train train.csv
ok "in one line" one_error
for command in $commands; do
    ok "that lists $command" says "there are .*\b$command\b"
done
exits 2 "a mistyped one, too" gcg pedict
ok "with the nearest name" says 'did you mean predict?'
exits 2 "options before the subcommand are a usage error" gcg --lambda 5 fit
ok "that says the order" says 'a subcommand comes first'
exits 2 "an empty subcommand is a usage error" gcg ''
ok "that suggests nothing" bash -c 'grep -q "unknown subcommand .*; there are" err'
ok "--vers is --version, as options of subcommands may be cut short" gcg --vers
ok "and prints it" grep -q '^gcg-mc [0-9]' out
ok "--h is --help" bash -c '"$GCG" --h | cmp - <("$GCG" --help)'
exits 2 "version is no subcommand" gcg version
ok "and --version is suggested" says 'did you mean --version?'

# ---- every subcommand ----
for command in $commands; do
    ok "$command --help ends with 0" gcg "$command" --help
    ok "and goes to standard output alone" silent
    ok "with a usage line first" bash -c 'head -n 1 out | grep -q "^usage: gcg-mc '"$command"' "'
    ok "no line of it is wider than 100 columns" awk 'length > 100 { print; exit 1 }' out
    ok "no option stands in it twice" bash -c 'test -z "$(grep -o -e "^  \(-., \|    \)--[a-z-]*" out | sort | uniq -d)"'
    exits 2 "$command without arguments is a usage error" gcg "$command"
    ok "in one line" one_error
    exits 2 "$command refuses an unknown option" gcg "$command" --no-such-option x y
    ok "in one line that repeats it" bash -c 'grep -q -e "--no-such-option" err && test "$(wc -l <err)" = 1'
    exits 5 "$command --help on a full disk ends with 5" bash -c '"$GCG" "$0" --help >/dev/full 2>err' "$command"
    ok "naming stdout" says '^gcg-mc: stdout: error:'
    ok "a reader of --help that goes away is fine" bash -c '"$GCG" "$0" --help 2>err | true; test "${PIPESTATUS[0]}" = 0 && test ! -s err' "$command"
done
for command in fit predict eval check; do
    exits 2 "$command refuses a mistyped option before any file is read" gcg "$command" none.csv nowhere.csv --formt csv
    ok "and the nearest name is told" says 'did you mean --format?'
    exits 2 "$command refuses an unknown format" gcg "$command" m train.csv --format cvs
    ok "with the known ones" says "--format 'cvs': .*csv.*netflix.*yahoo-r1"
    exits 2 "$command refuses an empty word" gcg "$command" ''
done

# ---- fit: what contradicts itself or lacks something ----
refused() { # WORDS-OF-THE-MESSAGE OPTION...
    local status=0
    gcg fit "${@:2}" || status=$?
    test "$status" = 2 && one_error && says "$1"
}
base=(-o m train.csv)
ok "no lambda: both ways are offered" refused '--lambda L .*--lambda-ratio R' "${base[@]}"
ok "a model to standard output" refused '-o -: a model' --lambda 1 -o - train.csv
ok "a checkpoint to standard output" refused '--checkpoint -: ' --lambda 1 --checkpoint - "${base[@]}"
ok "two lambdas" refused 'give one' --lambda 1 --lambda-ratio 0.1 "${base[@]}"
ok "lambda 0 without a rank" refused 'add --rank' --lambda 0 "${base[@]}"
for text in -1 nan inf 5x 1e 0x1 '' 1,5 ' 1'; do
    ok "lambda '$text'" refused "--lambda '$text': " --lambda "$text" "${base[@]}"
done
for pair in lambda-ratio=0 lambda-ratio=1.01 gap=0 gap=-1 max-iter=0 max-iter=2.5 max-time=0 rank=0 holdout=0 holdout=1 \
    seed=-1 seed=1.5 threads=0 threads=-1 max-memory=5x atoms=0 atoms=1e3 clip=5,1 clip=5 precision=half center=row \
    keep=first solver=als header=maybe duplicates=keep value-map=255 value-map=a=b; do
    option=${pair%%=*} text=${pair#*=}
    ok "--$option $text" refused "--$option '$text': " --lambda 1 --"$option" "$text" "${base[@]}"
done
for option in lambda gap rank test log threads output; do
    ok "--$option without its argument" refused "--$option wants an argument" "${base[@]}" --$option
done
ok "no -o" refused 'no -o MODEL' --lambda 1 train.csv
ok "no TRAIN" refused 'no TRAIN' --lambda 1 -o m
ok "standard input twice" refused 'only once' --lambda 1 -o m - --test -
ok "--plain with several atoms" refused '--atoms' --lambda 1 --plain --atoms 3 "${base[@]}"
ok "a flag with an argument" refused '--plain takes no argument' --lambda 1 --plain=yes "${base[@]}"
ok "an ambiguous prefix" refused '--lambda or --lambda-ratio' --lam 1 "${base[@]}"
ok "columns that are not" refused '--columns 0,1,2' --lambda 1 --columns 0,1,2 "${base[@]}"
ok "names of columns without a header" refused '--columns' --lambda 1 --columns a,b,c --header no "${base[@]}"

# ---- and what is fine ----
cp train.csv ./-x.csv
"$GCG" fit --quiet --log none --lambda 1 -o want train.csv
same() { rm -f got; "$GCG" fit --quiet --log none "$@" && cmp want got; }
ok "options may follow the files" same train.csv --lambda 1 -o got
ok "also under POSIXLY_CORRECT" bash -c 'POSIXLY_CORRECT=1 "$GCG" fit --quiet train.csv --log none --lambda 1 -o got && cmp want got'
ok "after -- a file may begin with a dash" same --lambda 1 -o got -- -x.csv
ok "prefixes and = are taken" same --lambda=1 --out=got train.csv
ok "-oMODEL is taken" same --lambda 1 -ogot train.csv
ok "the last of two counts" same --lambda 9 --lambda 1 -o got train.csv
ok "a plus sign and an exponent are taken" same --lambda +10e-1 -o got train.csv
done_testing
