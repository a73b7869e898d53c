#!/bin/bash
# Runs that are killed again and again, at random moments, and go on from their checkpoints: the same bytes as undisturbed
# ones, every time. KILLS = how often; KILLS=1000 make check TESTS=tests/t0375-kill.sh takes minutes.
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
few=60
"$GCG" --version | grep -q fsanitize && few=12 # a run takes seconds there
kills=${KILLS:-$few} tries=0
RANDOM=${KILL_SEED:-20240229}

awk 'BEGIN { srand(11); for (u = 1; u <= 100; u++) for (i = 1; i <= 80; i++) {
    r = 3 + 2 * sin(u / 7) * cos(i / 9) + 2 * rand() - 1; if (rand() < 0.35) printf "%d\t%d\t%.2f\t%.1f\n", u, i, r, 0.5 + 2 * rand() } }' >all.tsv
awk 'NR % 9 == 4' all.tsv >valid.tsv
awk 'NR % 9 != 4' all.tsv >train.tsv
# Of a log or a table, what does not depend on time, threads and interruptions.
figures() { awk -F '\t' -v OFS='\t' '
    /^# (tried|lambda|gap|status|certificate)\t/ { print; next }
    /^# summary\t/ { $4 = ""; print; next }
    /^#/ { next }
    /^(iter|lambda)\t/ { time = 0; for (i = 1; i <= NF; i++) if ($i == "time_s") time = i; print; next }
    { if (time && NF > 1) $time = ""; print }' "$1"; }

# Kinds of runs, in turn: the subcommand, options that the checkpoint remembers, and files that it does not.
kinds=(
    "fit --lambda 2 --gap 1e-7 --atoms 1"
    "path --n-lambdas 7 --min-ratio 0.05 --gap 1e-6"
    "fit --lambda 2 --gap 1e-7 --keep best"
    "fit --lambda auto --gap 1e-6"
    "fit --lambda 2 --gap 1e-3 --plain"
    "cv --folds 3 --lambdas 30,12,5,2 --gap 1e-6 --center both --select 1se"
    "fit --lambda-ratio 0.05 --gap 1e-8 --center both --atoms 2"
    "path --lambdas 20,8,3 --gap 1e-5 --keep-all --norm-weights 0.5 --holdout 0.2"
    "fit --lambda 2 --gap 1e-4 --norm-weights 0.7 --precision float"
    "fit --lambda auto --center none --norm-weights counts --norm-smooth 0.1 --keep best"
    "cv --folds 2 --n-lambdas 6"
    "path --lambdas 20,6,2 --gap 1e-6 --keep-all"
    "fit --lambda 1.5 --gap 1e-7"
    "path --n-lambdas 4 --gap 1e-7 --norm-weights 0.8 --user-bias 2"
    "fit --solver als-cg --rank 8 --lambda 2 --gap 1e-5 --max-iter 5000"
    "fit --solver soft-impute --rank 8 --lambda 4 --gap 1e-3 --max-iter 5000 --keep best"
)
files=("" "--valid valid.tsv" "--valid valid.tsv" "" "" "" "" "" "" "--valid valid.tsv" "" "--valid valid.tsv --weights 4" "--weights 4" "--valid valid.tsv" "" "--valid valid.tsv")
starts=([12]="--init start") # what a run begins with, and one that goes on does without
prepare() {
    local k
    "$GCG" fit --quiet --lambda 5 --center item --log none -o start valid.tsv || return 1
    for k in "${!kinds[@]}"; do
        # shellcheck disable=SC2086 # several words
        "$GCG" ${kinds[k]} --quiet ${files[k]} ${starts[k]-} --log "want$k.log" -o "want$k" train.tsv >"want$k.out" || return 1
    done
}
before=$(date +%s%3N)
ok "undisturbed runs of every kind converge" prepare
usual=$((($(date +%s%3N) - before) / ${#kinds[@]})) # milliseconds of a run

killed=0 finished=0 term=0 reading=0 left=0
complain() { # why
    echo "run $finished (${kinds[k]}), kill $killed: $1"
    cat err
    return 1
}
# Starts or goes on; kills it after some time if it has not ended. 0: it ended; 1: it was killed; 2: something is wrong.
once() {
    local status=0 options signal=KILL delay
    read -ra options <<<"${kinds[k]} ${starts[k]-}"
    [ ! -e m.ckpt ] || options=("${options[0]}" --resume m.ckpt)
    # shellcheck disable=SC2206 # several words
    options+=(${files[k]})
    [ $((RANDOM % 2)) = 0 ] && signal=TERM
    [ $((RANDOM % 8)) = 0 ] && options+=(--max-time 1000) # with a copy of the state
    local ms=$((10 + RANDOM % (usual + 1 + usual * tries / 10))) # longer each time, so that a slow machine gets on
    tries=$((tries + 1))
    delay=$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))
    "$GCG" "${options[@]}" --quiet --checkpoint-every 0 --threads $((1 + RANDOM % 2)) --log m.log -o m train.tsv >m.out 2>err &
    local pid=$!
    sleep "$delay"
    kill -$signal $pid 2>/dev/null || signal=
    wait $pid 2>/dev/null || status=$?
    case $status in
    0) return 0 ;;
    75)
        if [ "$signal" != TERM ] || [ ! -s m.ckpt ]; then
            complain "75 without signal or checkpoint"
            return 2
        fi
        ;;
    130) reading=$((reading + 1)) ;; # before there was anything to save
    137) [ "$signal" = KILL ] || { complain "killed by another"; return 2; } ;;
    143) ;; # the signal came before the program had begun
    *) complain "status $status"; return 2 ;;
    esac
    killed=$((killed + 1))
    if [ "$signal" = TERM ]; then
        term=$((term + 1))
        left=$((left + $(find . -name '*.tmp' | wc -l)))
    fi
    find . -name '*.tmp' -delete # what kill -9 may leave
    return 1
}
same() { # every file of the run, but for the times in them
    local want
    for want in "want$k" "want$k".[0-9]*; do
        [ ! -e "$want" ] || cmp "m${want#want"$k"}" "$want" || { complain "a model differs"; return 1; }
    done
    diff <(figures m.log) <(figures "want$k.log") || { complain "the log differs"; return 1; }
    [[ ${kinds[k]} != cv* ]] || cmp m.out "want$k.out" || { complain "the table differs"; return 1; }
    diff <(grep -v seconds m.done) <(grep -v seconds "want$k.done") || { complain "m.done differs"; return 1; }
    [ ! -e m.ckpt ] || { complain "a checkpoint is left"; return 1; }
}
same_every_time() {
    local result k=0
    while [ $killed -lt "$kills" ]; do
        rm -f m m.*
        tries=0
        while :; do
            result=0
            once || result=$?
            [ $result = 2 ] && return 1
            [ $result = 0 ] && break
        done
        same || return 1
        finished=$((finished + 1))
        k=$(((k + 1) % ${#kinds[@]}))
    done
}
ok "killed $kills times and more, runs go on to the same models and the same logs, every time" same_every_time
ok "a signal leaves no temporary file" test $left = 0
echo "# $killed kills ($term SIGTERM, $((killed - term)) SIGKILL, $reading while reading), $finished runs finished"
done_testing
