#!/bin/bash
# fit's memory plan: what was planned is what was used, and what is given up keeps it within --max-memory.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

fit() { "$GCG" fit --verbose "$@" >log 2>err; }
says() { grep -Eq -- "$1" err || { cat err; return 1; }; }
planned() { "$GCG" fit --quiet --dry-run "$@" | awk -F '\t' '$1 == "memory_bytes" { print $2 }'; }
used() { sed -n 's/.*memory: .* at most (\([0-9]*\) bytes).*/\1/p' err; }
# A lambda so small that the rank limit binds: then the rank is known beforehand. The status is 3.
within_a_tenth() {
    local bytes status=0
    bytes=$(planned "$@")
    fit -o m "$@" || status=$?
    test $status = 3 || test $status = 0 || { cat err; return 1; }
    awk -v p="$bytes" -v u="$(used)" 'BEGIN { print p, u, p / u; exit !(p <= 1.1 * u && u <= 1.1 * p) }'
}

"$GCG" synth --quiet --shape ml-100k --users 40000 --items 2500 --ratings 250000 -o tall.csv
"$GCG" synth --quiet --shape ml-100k --users 3000 --items 30000 --ratings 300000 -o wide.csv
case $("$GCG" --version) in
*sanitize*) skip "memory that was planned is memory that was used" "sanitizers need more" ;;
*)
    ok "memory that was planned is memory that was used" within_a_tenth --lambda 0.5 --rank 40 --max-iter 3 tall.csv
    ok "also with more items than users" within_a_tenth --lambda 0.5 --rank 40 --max-iter 3 wide.csv
    ok "also in double" within_a_tenth --lambda 0.5 --rank 20 --precision double --max-iter 3 tall.csv
    ok "also centred, with the best iterate kept" within_a_tenth --lambda 0.5 --rank 40 --center both --valid wide.csv --keep best --max-iter 3 tall.csv
    ok "also with one thread" within_a_tenth --lambda 0.5 --rank 40 --max-iter 3 --threads 1 tall.csv
    ok "also of als-cg" within_a_tenth --solver als-cg --lambda 2 --rank 150 --max-iter 2 tall.csv
    ok "also of soft-impute" within_a_tenth --solver soft-impute --lambda 2 --rank 150 --max-iter 2 tall.csv
    for solver in als-cg soft-impute; do
        ok "with the copy of the state that $solver keeps where the time is limited" within_a_tenth --solver $solver --lambda 2 --rank 150 --max-iter 2 --max-time 600 --checkpoint m.ckpt tall.csv
    done
    awk -F , '{ print $0 "," (NR == 1 ? "weight" : 1 + NR % 7) }' tall.csv >weighted.csv
    ok "also with weights" within_a_tenth --lambda 0.5 --rank 40 --weights weight --max-iter 3 weighted.csv
    "$GCG" convert --quiet tall.csv -o tall.gcs
    ok "also of a mapped store" within_a_tenth --lambda 0.5 --rank 40 --max-iter 3 tall.gcs
    ok "also of one whose ratings are centred" within_a_tenth --lambda 0.5 --rank 40 --center both --max-iter 3 tall.gcs
    full=$(planned --lambda 0.5 --rank 40 tall.csv)
    for percent in 80 60; do
        ok "also with $percent % of what full speed takes" within_a_tenth --lambda 0.5 --rank 40 --max-iter 3 --max-memory $((full * percent / 100)) tall.csv
        ok "which is not exceeded" test "$(used)" -le $((full * percent * 11 / 1000))
        ok "and something was given up" test "$(meta memory_plan)" != full
        ok "which is said" says "note: memory: --max-memory allows .*: slower, with $(meta memory_plan)\$"
        ok "and stands in the model" grep -aq "\"memory_plan\": \"$(meta memory_plan)\"" m
    done
    ;;
esac

solved() { # OPTION... : as good a solution, whatever was given up
    fit --lambda 20 --gap 1e-2 -o m "$@" && awk -v f="$(last objective)" -v lo="$dual" -v hi="$objective" 'BEGIN { exit !(f >= lo && f <= hi * 1.011) }'
}
fit --lambda 20 --gap 1e-2 -o full tall.csv
objective=$(last objective) dual=$(last dual)
ok "without a limit that binds the plan is full" test "$(meta memory_plan)" = full
full=$(planned --lambda 20 tall.csv)
ok "the same optimum is reached with 75 %" solved --max-memory $((full * 75 / 100)) tall.csv
ok "a plan does not depend on the number of threads" bash -c 'for t in 1 2; do "$GCG" fit --quiet --log none --lambda 20 --max-iter 3 --threads $t --max-memory $0 -o t$t tall.csv;  test -s t$t || exit 1; done; cmp t1 t2' $((full / 2))

"$GCG" convert --quiet tall.csv -o tall.gcs
ok "a mapped store that fits stays in memory" bash -c '"$GCG" fit --quiet --log log --max-iter 2 --lambda 20 -o m tall.gcs || test $? = 3; grep -q "^# memory_plan.full$" log'
ok "a mapped store that does not fit is given back behind each pass" solved --max-memory $((full * 65 / 100)) tall.gcs
ok "and the plan says so" bash -c 'grep -q "^# memory_plan.*mapped" log'

cap() { fit --lambda 0.5 --max-iter 3 --gap 1e-2 --max-memory 56M -o m tall.csv; }
exits 3 "a rank that memory is not enough for ends the run" cap
ok "with a warning before" says 'warning: memory: --max-memory allows 56 MiB, which is enough for rank [0-9]+ at most'
ok "the cap stands in the log" test "$(meta rank_cap)" -ge 1
ok "and holds" test "$(last rank)" -le "$(meta rank_cap)"
exits 6 "what cannot fit is refused" fit --lambda 20 --max-memory 30M -o never tall.csv
ok "with the numbers" says 'error: out of memory: needs about .* \([0-9]+ bytes\) at rank 1, --max-memory allows 30 MiB'
ok "and nothing is written" test ! -e never
exits 6 "a comparator that does not fit is refused" fit --solver als-cg --rank 60 --lambda 2 --max-memory 48M -o never tall.csv
done_testing
