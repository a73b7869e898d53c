#!/bin/bash
# data-scripts/batch: what runs fits elsewhere. Slurm is a stub: its environment, and a scontrol that writes down what
# it was told.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
batch=$ROOT/data-scripts/batch
export GCG_MC=$GCG

awk 'BEGIN { srand(11); for (u = 1; u <= 100; u++) for (i = 1; i <= 80; i++) {
    r = 3 + 2 * sin(u / 7) * cos(i / 9) + 2 * rand() - 1; if (rand() < 0.35) printf "%d,%d,%.2f\n", u, i, r } }' >all.csv
awk 'NR % 9 == 4' all.csv >valid.csv
awk 'NR % 9 != 4' all.csv >train.csv
options=(--lambda 2 --gap 1e-3 --plain)
"$GCG" fit --quiet "${options[@]}" --log none -o want train.csv

# ---- Slurm ----
mkdir bin
printf '#!/bin/sh\necho "$*" >>requeued\n' >bin/scontrol
chmod +x bin/scontrol
slow=(--lambda 1 --gap 1e-13 --plain --max-iter 1000000)
start() { # ARGUMENT...: a job, in the background; comes back when it iterates
    rm -f requeued
    PATH=$PWD/bin:$PATH SLURM_JOB_ID=4711 SLURM_CPUS_PER_TASK=1 bash "$batch/fit.sbatch" "$@" 2>err &
    job=$!
    iterating m.log
}
requeued() {
    start "${slow[@]}" -o m train.csv && kill -TERM $job || return 1
    local status=0
    wait $job || status=$?
    cat err
    [ "$status" = 75 ] && [ -s m.ckpt ] && [ ! -e m ] && [ "$(cat requeued)" = 'requeue 4711' ]
}
ok "a Slurm job that is told to end writes its checkpoint, requeues itself and ends with 75" requeued
ok "it takes the processors that Slurm gave it" grep -qx '# threads	1' m.log
usr1() {
    rm -f m*
    start "${slow[@]}" -o m train.csv && kill -USR1 $job || return 1
    for _ in {1..200}; do [ -s m.ckpt ] && break; sleep 0.05; done
    [ -s m.ckpt ] && [ ! -e requeued ] && kill -TERM $job || return 1
    local status=0
    wait $job || status=$?
    [ "$status" = 75 ]
}
ok "SIGUSR1 to the job is a checkpoint of the fit" usr1
goes_on() {
    rm -f m* && "$GCG" fit --quiet "${options[@]}" --max-iter 5 --log m.log -o m train.csv
    [ -s m.ckpt ] || return 1
    PATH=$PWD/bin:$PATH SLURM_JOB_ID=4711 bash "$batch/fit.sbatch" --quiet "${options[@]}" --max-iter 500 -om train.csv 2>err || { cat err; return 1; }
    cmp m want && grep -qx '# resumed	5' m.log && [ ! -e m.ckpt ]
}
ok "started again it goes on from there, to the same bytes" goes_on
fails() { rm -f requeued; PATH=$PWD/bin:$PATH SLURM_JOB_ID=4711 bash "$batch/fit.sbatch" --lambda 2 -o m none.csv 2>err; }
exits 5 "the status of a fit that fails is that of the job" fails
ok "which is not requeued" test ! -e requeued
exits 2 "without -o it says how it is used" bash -c 'bash "$1/fit.sbatch" --lambda 2 train.csv 2>err' - "$batch"

# ---- make ----
# A make of its own, without what the one around it exports.
run_make() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s "$@" >out 2>err; }
printf 'include %s/fit.mk\nGCG_MC_FIT = --quiet %s\n' "$batch" "${options[*]}" >Makefile
if command -v make >/dev/null; then
    made() { rm -f train.model*; run_make train.model && cmp train.model want && [ -s train.model.log ]; }
    ok "make makes a model of a rating file" made
    again() { run_make -q train.model; }
    ok "once" again
    newer() { sleep 0.01; touch train.csv; ! run_make -q train.model; }
    ok "and again when the ratings are newer" newer
    cut_make() {
        rm -f train.model*
        "$GCG" fit --quiet "${options[@]}" --max-iter 5 --log train.model.log -o train.model train.csv
        rm train.model && sed -i 's/ --plain/ --plain --max-iter 500/' Makefile
        run_make train.model && cmp train.model want && grep -qx '# resumed	5' train.model.log
    }
    ok "a fit that was cut goes on from its checkpoint" cut_make
else
    skip "make makes a model of a rating file" "no make here"
fi

# ---- GNU parallel ----
export PARALLEL_HOME=$T/parallel # where it keeps that its notice was read
mkdir "$PARALLEL_HOME"
if parallel --version 2>/dev/null </dev/null | grep -q GNU; then
    sweep() { parallel --citation <<<"will cite" >/dev/null 2>&1; "$batch/sweep.sh" 2 train.csv valid.csv models >table 2>err || { cat err; return 1; }; [ "$(wc -l <table)" = 12 ] && sort -nc table; }
    ok "a sweep fits every pair of settings and lists them, best first" sweep
    same() { "$GCG" fit --quiet --lambda-ratio 0.1 --norm-weights 0.8 --center both --log none -o one train.csv && cmp one models/ratio-0.1.norm-0.8; }
    ok "each model is that of the fit alone" same
    twice() { touch mark && sleep 0.01 && "$batch/sweep.sh" 2 train.csv valid.csv models >table2 2>err && cmp table table2 && [ -z "$(find models -newer mark -name 'ratio*')" ]; }
    ok "a second run leaves out what is done" twice
    # One fit of another sweep has no time.
    printf '#!/bin/sh\ncase $* in *ratio-0.1.norm-0.5*) exec "$GCG" "$@" --max-time 1e-9 ;; esac\nexec "$GCG" "$@"\n' >bin/hasty
    chmod +x bin/hasty
    cut_sweep() { GCG_MC=$PWD/bin/hasty "$batch/sweep.sh" 2 train.csv valid.csv cut >table2 2>err; }
    exits 3 "a sweep ends with the status of a fit that failed" cut_sweep
    ok "which leaves its checkpoint" test -s cut/ratio-0.1.norm-0.5.ckpt -a ! -s table2
    on() { "$batch/sweep.sh" 2 train.csv valid.csv cut >table2 2>err && cmp table table2 && [ ! -e cut/ratio-0.1.norm-0.5.ckpt ] && cmp {models,cut}/ratio-0.1.norm-0.5; }
    ok "started again it goes on from there, to the same models" on
else
    skip "a sweep fits every pair of settings and lists them, best first" "no GNU parallel here"
    one() { mkdir -p models && "$batch/sweep.sh" fit train.csv valid.csv models 0.1 0.8 2>err && "$GCG" fit --quiet --lambda-ratio 0.1 --norm-weights 0.8 --center both --log none -o one train.csv && cmp one models/ratio-0.1.norm-0.8; }
    ok "one fit of a sweep is that of the fit alone" one
    twice() { touch mark && sleep 0.01 && "$batch/sweep.sh" fit train.csv valid.csv models 0.1 0.8 2>err && [ -z "$(find models -newer mark -name 'ratio*')" ]; }
    ok "a second run leaves out what is done" twice
fi
exits 2 "without its files it says how it is used" bash -c '"$1/sweep.sh" 2 2>err' - "$batch"

done_testing
