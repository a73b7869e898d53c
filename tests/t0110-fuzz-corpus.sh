#!/bin/bash
# The kept inputs of the fuzzers, through the same code: none may crash, leak or give two answers.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; the quoted commands are for bash -c
. "$(dirname "$0")/lib.sh"

replay() { "${BUILD:-$ROOT/build}/tests/fuzz/replay_$1" "$ROOT/tests/fuzz/corpus/$1"/*; }

for target in "$ROOT"/tests/fuzz/fuzz_*.c; do
    name=$(basename "$target" .c)
    name=${name#fuzz_}
    ok "the kept inputs of the $name fuzzer are read or refused, as before" replay "$name"
done
done_testing
