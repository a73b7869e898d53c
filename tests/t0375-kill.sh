#!/bin/bash
# A fit that is killed again and again, at random moments, and goes on from its checkpoints: the same bytes as an
# undisturbed one, every time. KILLS = how often; KILLS=1000 make check TESTS=tests/t0375-kill.sh takes minutes.
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
few=30
"$GCG" --version | grep -q fsanitize && few=8 # a fit takes seconds there
kills=${KILLS:-$few} tries=0
RANDOM=${KILL_SEED:-20240229}

awk 'BEGIN { srand(11); for (u = 1; u <= 100; u++) for (i = 1; i <= 80; i++) {
    r = 3 + 2 * sin(u / 7) * cos(i / 9) + 2 * rand() - 1; if (rand() < 0.35) printf "%d\t%d\t%.2f\n", u, i, r } }' >all.tsv
awk 'NR % 9 == 4' all.tsv >valid.tsv
awk 'NR % 9 != 4' all.tsv >train.tsv
figures() { grep -v '^#' "$1" | cut -f 1,3-; }

# Kinds of fits, in turn; what each needs beside its files.
kinds=(
    "--lambda 2 --gap 1e-7 --atoms 1"
    "--lambda 2 --gap 1e-7 --keep best --valid valid.tsv"
    "--lambda 2 --gap 1e-3 --plain"
    "--lambda-ratio 0.05 --gap 1e-8 --center both --atoms 2"
    "--lambda 2 --gap 1e-4 --norm-weights 0.7 --precision float"
)
prepare() {
    local k
    for k in "${!kinds[@]}"; do
        # shellcheck disable=SC2086 # several words
        "$GCG" fit --quiet ${kinds[k]} --log "want$k.log" -o "want$k" train.tsv || return 1
    done
}
before=$(date +%s%3N)
ok "undisturbed fits of every kind converge" prepare
usual=$((($(date +%s%3N) - before) / ${#kinds[@]})) # milliseconds of a fit

killed=0 finished=0 term=0 reading=0 left=0
complain() { # why
    echo "fit $finished (${kinds[k]}), kill $killed: $1"
    cat err
    return 1
}
# Starts or goes on; kills it after some time if it has not ended. 0: it ended; 1: it was killed; 2: something is wrong.
once() {
    local status=0 resume=() options=() signal=KILL delay
    if [ -e m.ckpt ]; then
        resume=(--resume m.ckpt)
    else
        read -ra options <<<"${kinds[k]}"
    fi
    [ "$k" = 1 ] && options+=(--valid valid.tsv)
    [ $((RANDOM % 2)) = 0 ] && signal=TERM
    [ $((RANDOM % 8)) = 0 ] && options+=(--max-time 1000) # with a copy of the state
    local ms=$((10 + RANDOM % (usual + 1 + usual * tries / 10))) # longer each time, so that a slow machine gets on
    tries=$((tries + 1))
    delay=$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))
    "$GCG" fit --quiet "${options[@]}" "${resume[@]}" --checkpoint-every 0 --threads $((1 + RANDOM % 2)) --log m.log -o m \
        train.tsv 2>err &
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
same_every_time() {
    local result k=0
    while [ $killed -lt "$kills" ]; do
        rm -f m m.log m.done m.ckpt
        tries=0
        while :; do
            result=0
            once || result=$?
            [ $result = 2 ] && return 1
            [ $result = 0 ] && break
        done
        cmp m "want$k" || { complain "the model differs"; return 1; }
        diff <(figures m.log) <(figures "want$k.log") || { complain "the log differs"; return 1; }
        [ ! -e m.ckpt ] || { complain "a checkpoint is left"; return 1; }
        finished=$((finished + 1))
        k=$(((k + 1) % ${#kinds[@]}))
    done
}
ok "killed $kills times and more, fits go on to the same model and the same log, every time" same_every_time
ok "a signal leaves no temporary file" test $left = 0
echo "# $killed kills ($term SIGTERM, $((killed - term)) SIGKILL, $reading while reading), $finished fits finished"
done_testing
