#!/bin/bash
# Runs tests and counts them: tests/run.sh TEST...  TEST is a Check program (its TAP log is read) or a script that
# prints TAP. Ends with "N passed, N failed" (", N skipped" when there were some) and fails when one failed, crashed,
# ran too long or ran nothing.
#
# Environment: TEST_JOBS (2) at a time; TEST_TIMEOUT (1800) seconds for one TEST; TEST_WRAPPER, a command put before
# Check programs (valgrind).
set -u
LC_ALL=C
export LC_ALL
export CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT:-600} # Check's own 4 s are too few under sanitizers
here=$(cd "$(dirname "$0")" && pwd)

# Reads TAP; prints "passed failed skipped finished"; a plan that was not kept is not finished.
count='
/^ok /     { seen++; if (/# SKIP/) skipped++; else passed++ }
/^not ok / { seen++; failed++ }
/^1\.\.0 # SKIP/ { skipped = 1; planned = 0; finished = 1 }
/^1\.\.[0-9]+$/  { planned = substr($0, 4) + 0; finished = 1 }
END {
    if (finished && planned != seen) finished = 0
    printf "%d %d %d %d\n", passed, failed, skipped, finished
}'

run_one() { # FOLDER TEST
    local dir=$1 test=$2 name status=0 passed failed skipped finished why='' start=$SECONDS
    name=$(basename "$test" .sh)
    : >"$dir/$name.tap"
    case $test in
    *.sh) timeout -k 10 "${TEST_TIMEOUT:-1800}" bash "$test" >"$dir/$name.tap" 2>"$dir/$name.out" </dev/null || status=$? ;;
    *)
        # shellcheck disable=SC2086 # the wrapper is a command with its options
        CK_TAP_LOG_FILE_NAME=$dir/$name.tap timeout -k 10 "${TEST_TIMEOUT:-1800}" ${TEST_WRAPPER-} "$test" \
            >"$dir/$name.out" 2>&1 </dev/null || status=$?
        ;;
    esac
    read -r passed failed skipped finished < <(awk "$count" "$dir/$name.tap")
    if [ "$status" = 124 ] || [ "$status" = 137 ]; then
        why="ran longer than ${TEST_TIMEOUT:-1800} s (or was killed)"
    elif [ "$finished" = 0 ]; then
        why="ended early, status $status"
    elif [ "$status" != 0 ] && [ "$failed" = 0 ]; then
        why="status $status although every test passed"
    elif [ $((passed + failed + skipped)) = 0 ]; then
        why="ran nothing"
    fi
    [ -z "$why" ] || failed=$((failed + 1))
    echo "$passed $failed $skipped" >"$dir/$name.count"
    {
        printf '%-28s %d passed' "$name" "$passed"
        [ "$failed" = 0 ] || printf ', %d failed' "$failed"
        [ "$skipped" = 0 ] || printf ', %d skipped' "$skipped"
        printf ' (%d s)\n' $((SECONDS - start))
        [ "$skipped" = 0 ] || sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/    skipped: \1 (\2)/p
            s/^1\.\.0 # SKIP \(.*\)/    skipped: all (\1)/p' "$dir/$name.tap"
        if [ "$failed" != 0 ]; then
            [ -z "$why" ] || echo "    FAILED: $name $why"
            sed -n -e '/^not ok/,/^\(ok\|1\.\.\)/{/^\(ok\|1\.\.\)/!p}' -e '/^Bail out/p' "$dir/$name.tap" | sed 's/^/    /'
            tail -n 60 "$dir/$name.out" | sed 's/^/    | /'
        fi
    } >"$dir/$name.report"
    cat "$dir/$name.report" # in one piece: two tests may end at once
}

if [ "${1-}" = --one ]; then
    run_one "$2" "$3"
    exit 0
fi
if [ $# = 0 ]; then
    echo "usage: tests/run.sh TEST..." >&2
    exit 2
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/gcg-mc-run.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
printf '%s\0' "$@" | xargs -0 -n 1 -P "${TEST_JOBS:-2}" bash "$here/run.sh" --one "$dir"
for test in "$@"; do
    cat "$dir/$(basename "$test" .sh).count" 2>/dev/null || echo "0 1 0"
done | awk '
{ passed += $1; failed += $2; skipped += $3 }
END {
    printf "%d passed, %d failed", passed, failed
    if (skipped) printf ", %d skipped", skipped
    printf "\n"
    exit failed > 0
}'
