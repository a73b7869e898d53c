# shellcheck shell=bash
# Sourced by tests/tNNNN-<topic>.sh: speaks TAP. Counting is tests/run.sh's business, not this file's.
#
#   . "$(dirname "$0")/lib.sh"
#   ok "sentence" command...          passes when the command exits 0
#   not_ok_if "sentence" command...   passes when the command exits with 1..125 (a crash is a failure)
#   exits CODE "sentence" command...  passes when the command exits with CODE
#   skip "sentence" why               says that a test was not run
#   skip_all why                      the whole script was not run; ends it
#   done_testing                      last line of every script
#
# GCG = the program, T = fresh folder (removed at the end), ROOT = the source tree, SHARED = the folder with shared
# data and oracles, or empty. A command is a program, a function of the script, or `bash -c '...'`. Its output is
# shown only when the test fails.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CDPATH
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
GCG=${GCG:-$ROOT/gcg-mc}
case $GCG in /*) ;; *) GCG=$PWD/$GCG ;; esac
SHARED=$(cd "$ROOT/../shared" 2>/dev/null && pwd -P) || SHARED=
T=$(mktemp -d "${TMPDIR:-/tmp}/gcg-mc-test.XXXXXX") || exit 1
export ROOT GCG SHARED T
test_count=0 test_finished=0

test_end() {
    local status=$?
    chmod -R u+w "$T" 2>/dev/null
    rm -rf "$T"
    if [ "$test_finished" = 0 ]; then
        echo "Bail out! the script ended early with status $status"
        exit 1
    fi
}
trap test_end EXIT
trap 'exit 130' INT TERM

# The last status, the wanted test (of $status), the sentence, then the command; the output is in $T/.out.
test_judge() {
    local wanted=$1 sentence=$2 status=0
    shift 2
    "$@" >"$T/.out" 2>&1 </dev/null || status=$?
    test_count=$((test_count + 1))
    if eval "$wanted"; then
        echo "ok $test_count - $sentence"
        return 0
    fi
    echo "not ok $test_count - $sentence"
    printf '%s\n' "command: $*" "exit status: $status" | sed 's/^/# /'
    head -c 20000 "$T/.out" | LC_ALL=C tr -c '\n\t -~' '?' | sed 's/^/# /'
    echo "#"
    return 1
}

ok() { test_judge '[ $status -eq 0 ]' "$@"; }
not_ok_if() { test_judge '[ $status -ge 1 ] && [ $status -le 125 ]' "$@"; }
exits() { test_judge "[ \$status -eq $1 ]" "${@:2}"; }

skip() {
    test_count=$((test_count + 1))
    echo "ok $test_count - $1 # SKIP $2"
}

# Waits until the fit whose log this is iterates; 1 when it does not within half a minute.
iterating() { # LOG
    for _ in {1..600}; do
        grep -q $'^1\t' "$1" 2>/dev/null && return 0
        sleep 0.05
    done
    return 1
}

skip_all() {
    echo "1..0 # SKIP $1"
    test_finished=1
    exit 0
}

done_testing() {
    echo "1..$test_count"
    test_finished=1
}

# Of a log (the file log, or a second argument): the value of a head line "# NAME", and of column NAME in the last row.
meta() { awk -F '\t' -v key="# $1" '$1 == key { print $2 }' "${2:-log}"; }
last() { grep -v '^#' "${2:-log}" | awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } { x = $c } END { print x }'; }
# The least validation RMSE of the rows.
best_valid() { grep -v '^#' log | awk -F '\t' 'NR > 1 && (NR == 2 || $9 < least) { least = $9; text = $9 } END { print text }'; }

# Is the model that COMMAND MODEL OPTION... FILE writes the same for any number of threads, and for data.tsv in any order?
same_bytes() { # COMMAND
    ok "one thread" "$1" m1 --threads 1 data.tsv
    ok "two threads" "$1" m2 --threads 2 data.tsv
    ok "the same bytes" cmp m1 m2
    ok "the lines in another order" "$1" m2 reversed.tsv
    ok "the same bytes" cmp m1 m2
}
