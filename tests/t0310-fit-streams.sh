#!/bin/bash
# fit when things go away: signals, kills, closed and full streams, output places, the progress line.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

awk 'BEGIN { srand(7); for (u = 1; u <= 300; u++) for (i = 1; i <= 200; i++) { p = rand(); r = 1 + int(5 * rand())
    if (p < 0.3) printf "%d\t%d\t%d\n", u, i, r } }' >noise.tsv
printf '1,1,2\n1,2,3\n1,3,6\n' >row.csv

done_value() { sed -n 's/^ *"'"$1"'": "\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' m.done; }
is_model() { "$GCG" predict --quiet "$1" row.csv | grep -q 'seen$'; }
nothing_left() { local left; left=$(find . -name '*.tmp'); [ -z "$left" ] || { echo "$left"; return 1; }; }
says() { grep -q -e "$1" err || { cat err; return 1; }; }
# A fit that takes minutes, in the background; comes back when it is iterating.
start() { # OPTION...
    rm -f m m.done m.ckpt log
    "$GCG" fit --lambda 1 --gap 1e-13 --plain --max-iter 1000000 --threads 1 --log log "$@" -o m noise.tsv >out 2>err &
    pid=$!
    iterating log
}

# ---- signals ----
stops() { # SIGNAL
    start || return 1
    kill -"$1" $pid
    local status=0
    wait $pid || status=$?
    test "$status" = 75 && test -s m.ckpt && test ! -e m && test ! -e m.done && grep -qx '# status	signal' log &&
        nothing_left
}
ok "SIGTERM ends the fit with 75: a checkpoint, no model" stops TERM
ok "so does SIGINT" stops INT
stops_at_once() { # OPTION...
    start "$@" || return 1
    kill -TERM $pid
    local status=0
    wait $pid || status=$?
    test "$status" = 3 && is_model m && test "$(done_value exit)/$(done_value status)" = 3/signal &&
        grep -qx '# status	signal' log && test ! -e m.ckpt
}
ok "without checkpoints it ends with 3: model, MODEL.done" stops_at_once --checkpoint none
twice() {
    local status
    for _ in {1..20}; do # the fit may be gone before the second one comes: then again
        start || return 1
        kill -TERM $pid
        kill -INT $pid
        status=0
        wait $pid || status=$?
        [ "$status" = 75 ] || break
    done
    test "$status" = 130 && test ! -e m && test ! -e m.done && nothing_left
}
ok "a second signal ends it at once with 130 and writes nothing" twice
reading() { # SIGNAL: while TRAIN is read there is nothing to be written
    cp row.csv old && cp old m && mkfifo train || return 1
    "$GCG" fit --lambda 2 --log none -o m train 2>err &
    pid=$!
    exec 7>train # comes back when fit has opened it
    printf '1,1,2\n' >&7
    kill -"$1" $pid
    local status=0
    wait $pid || status=$?
    exec 7>&-
    rm train
    test "$status" = 130 && cmp m old && test ! -e m.done && nothing_left
}
ok "SIGINT while TRAIN is read ends it at once with 130 and writes nothing" reading INT
ok "so does SIGTERM" reading TERM
killed() {
    "$GCG" fit --quiet --log none --lambda 2 -o m row.csv && cp m old || return 1
    "$GCG" fit --quiet --log none --lambda 2 --max-iter 1 -o new noise.tsv
    local moment
    for moment in 0.005 0.01 0.02 0.03 0.04 0.05 0.06 0.08 0.1; do
        cp old m
        "$GCG" fit --quiet --log none --lambda 2 --max-iter 1 -o m noise.tsv &
        pid=$!
        sleep $moment
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        cmp -s m old || cmp m new || return 1
    done
    find . -name '.m.*.tmp' -delete # a killed program may leave its temporary file
}
ok "kill -9 leaves the old model or the new one" killed

# ---- the log's stream ----
reader_gone() {
    rm -f m
    "$GCG" fit --lambda 2 -o m noise.tsv 2>err | true
    test "${PIPESTATUS[0]}" = 0 && is_model m
}
ok "a dead reader of the log does not cost the model" reader_gone
not_ok_if "and is no error" grep -q error err
closed() { rm -f m; "$GCG" fit --lambda 2 -o m row.csv 2>err >&-; }
exits 5 "a closed standard output ends with 5" closed
ok "naming it" says '^gcg-mc: stdout: error:'
ok "after the model was written" is_model m
full() { rm -f m; "$GCG" fit --lambda 2 -o m row.csv 2>err >/dev/full; }
if [ -w /dev/full ]; then
    exits 5 "a full disk behind standard output ends with 5" full
    ok "after the model was written" is_model m
    full_log() { rm -f m; "$GCG" fit --lambda 2 --log /dev/full -o m row.csv 2>err; }
    exits 5 "a log file that is lost ends with 5" full_log
    ok "naming it" says '^gcg-mc: /dev/full: error:'
    ok "after the model was written" is_model m
    ok "and MODEL.done says so" test "$(done_value exit)" = 5
else
    skip "a full disk behind the log" "no /dev/full here"
fi
exits 5 "standard input that is closed ends with 5" bash -c '"$GCG" fit --lambda 2 -o m - <&- 2>err'
ok "naming it" says '^gcg-mc: stdin: error:'
no_stderr() { rm -f m; "$GCG" fit --lambda 2 -o m row.csv 2>&- >out && is_model m && "$GCG" fit --quiet --lambda 2 -o m2 row.csv >out && cmp m m2; }
ok "a closed standard error is fine" no_stderr
tail_log() { "$GCG" fit --quiet --lambda 2 -o m noise.tsv | head -n 3 | grep -q version; }
ok "the head of the log can be taken" tail_log

# ---- output places ----
fit() { "$GCG" fit --quiet --lambda 2 --log none "$@" 2>err; }
exits 5 "a folder that does not exist is told before TRAIN is read" fit -o none/m no-such-train.csv
ok "and named" says '^gcg-mc: none/m: error:'
exits 5 "a folder is no model" fit -o . row.csv
exits 5 "a device is no model" fit -o /dev/null row.csv
exits 5 "a file is no folder" fit -o row.csv/m row.csv
exits 5 "a log in a folder that does not exist is refused" fit --log none/log -o m row.csv
if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod a-w locked
    exits 5 "a folder without write permission is told" fit -o locked/m row.csv
else
    skip "a folder without write permission is told" "root may write anywhere"
fi
refuses() { # its options and files must end with 2 and leave the input whole
    cp row.csv input.csv && mkdir -p netflix && printf '1:\n7,3\n' >netflix/mv_1.txt
    local status=0
    fit "$@" || status=$?
    test "$status" = 2 && cmp row.csv input.csv && test "$(wc -l <netflix/mv_1.txt)" = 2
}
ok "-o may not name an input" refuses -o input.csv input.csv
ln -s input.csv link.csv
ok "nor a link to it" refuses -o link.csv input.csv
ok "nor the test file" refuses -o input.csv --test input.csv noise.tsv
ok "nor a file of the folder that is read" refuses -o netflix/mv_1.txt netflix
ok "--log may not, either" refuses --log input.csv -o m input.csv
ok "nor MODEL.done" bash -c 'cp row.csv in.done; "$GCG" fit --lambda 2 -o in in.done 2>err; test $? = 2 && cmp row.csv in.done'
ok "--log and -o may not be one file" refuses --log m -o m input.csv
fit -o m row.csv
cp m old
exits 4 "bad data ends with 4" bash -c 'echo "1,1,x" >>row.csv; "$GCG" fit --lambda 2 --log none -o m row.csv 2>err'
ok "and leaves the old model" cmp m old
ok "but not its MODEL.done" test ! -e m.done
ok "no temporary file is left" nothing_left
printf '1,1,2\n1,2,3\n1,3,6\n' >row.csv

# ---- the progress line ----
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    terminal() { script -qec "'$GCG' fit --lambda 3 --test noise.tsv --log none -o m noise.tsv" /dev/null </dev/null; }
    terminal | tr '\r' '\n' >screen
    ok "on a terminal a line tells the progress" grep -q 'iteration 1, [a-z]*  gap .*  rank .*  test .*  RMSE ' screen
    cleared() { terminal | tr -d '\n' | grep -q $'iteration [^\r]*\r\033\\[Kgcg-mc: note: converged'; }
    ok "it is cleared before the last words" cleared
    both() { script -qec "'$GCG' fit --lambda 3 --gap 1e-6 -o m noise.tsv" /dev/null </dev/null; }
    both | tr -d '\r' | sed "s/.*$(printf '\033')\[K//" >screen
    ok "a log on the same terminal is not broken by it" bash -c 'test "$(grep -v "^#" screen | grep -c "^[0-9]*	.*	.*	.*	.*	.*	.*	.*	nan	nan	")" = "$("$GCG" fit --quiet --lambda 3 --gap 1e-6 -o m noise.tsv | grep -c "^[0-9]")"'
    not_ok_if "--quiet shows none" bash -c "script -qec \"'\$GCG' fit --quiet --lambda 3 --log none -o m noise.tsv\" /dev/null </dev/null | grep -q ."
else
    skip "on a terminal a line tells the progress" "no script(1) here"
fi
ok "elsewhere there is none" bash -c '"$GCG" fit --lambda 3 --log none -o m noise.tsv 2>err; ! grep -q "iteration [0-9]*, " err && ! grep -q "$(printf "\r")" err'

done_testing
