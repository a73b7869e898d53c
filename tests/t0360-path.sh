#!/bin/bash
# gcg-mc path: each model is that of a fit at its lambda; the best is kept; the log; early stops; what is refused.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

path() { "$GCG" path "$@" >log 2>err; }
says() { grep -Eq -- "$1" err; }
near() { awk -v x="$1" -v y="$2" -v tol="$3" 'BEGIN { d = x - y; if (d < 0) d = -d; exit !(x == x && d <= tol * y) }'; }
# The table behind the blocks, one of its columns, and the same from the "# summary" lines.
table() { sed -n '/^lambda/,$p' "${1-log}"; }
column() { table "${2-log}" | awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }'; }
summaries() { sed -n 's/^# summary\t//p' "${1-log}"; }
member() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1"; }
rmse() { "$GCG" eval --quiet "$1" "$2" | awk -F '\t' '$1 == "all" { print $3 }'; }

# 60 x 40, half of it observed: rank 3 and noise, the same on every machine; a tenth of it for validation.
awk 'BEGIN { s = 1; for (i = 1; i <= 60; i++) for (j = 1; j <= 40; j++) {
    s = (s * 16807) % 2147483647; if (s % 2) { s = (s * 16807) % 2147483647
    printf "u%d\t%d\t%.2f\n", i, j, 3 + (i % 5 - 2) * (j % 3 - 1) / 2 + (i % 3 - 1) * (j % 7 - 3) / 4 + (s % 100) / 25 } } }' >all.tsv
awk 'NR % 10 == 0' all.tsv >valid.tsv
awk 'NR % 10 != 0' all.tsv >train.tsv
awk 'NR % 10 == 5' all.tsv >test.tsv

# ---- the models ----
ok "a path of given lambdas, every model kept" path --gap 1e-6 --lambdas 60,20,10,5,2.5 --keep-all --valid valid.tsv --test test.tsv -o p train.tsv
ok "a model for each lambda, PREFIX and PREFIX.done" test -s p -a -s p.1 -a -s p.5 -a ! -e p.6 -a -s p.done
as_fitted() { # each model is within the gap of the one that fit finds from 0
    local k=0 lambda cold warm
    for lambda in 60 20 10 5 2.5; do
        k=$((k + 1))
        "$GCG" fit --quiet --gap 1e-9 --lambda "$lambda" -o cold train.tsv >/dev/null || return 1
        cold=$(member cold.done objective)
        warm=$(column objective | sed -n ${k}p)
        near "$warm" "$cold" 1e-6 || { echo "lambda $lambda: $warm, not $cold"; return 1; }
        near "$(rmse p.$k train.tsv)" "$(rmse cold train.tsv)" 1e-4 || return 1
        near "$(rmse p.$k valid.tsv)" "$(column valid_rmse | sed -n ${k}p)" 1e-15 || return 1
        near "$(rmse p.$k test.tsv)" "$(column test_rmse | sed -n ${k}p)" 1e-15 || return 1
    done
}
ok "each is that of fit, and has the errors that the log names" as_fitted
ok "every gap is that asked for" bash -c '! sed -n "/^lambda/,\$p" log | awk -F "\t" "NR > 1 && !(\$6 <= 1e-6)" | grep .'
best_row() { column valid_rmse | awk '{ if (NR == 1 || $1 < m) { m = $1; k = NR } } END { print k }'; }
ok "PREFIX is the one that is best by validation" cmp p "p.$(best_row)"
ok "neither the first nor the last here" test "$(best_row)" -gt 1 -a "$(best_row)" -lt 5
ok "PREFIX.done is about it" near "$(member p.done valid_rmse)" "$(column valid_rmse | sed -n "$(best_row)p")" 1e-15
ok "a note names it" says "note: p is model $(best_row) of 5: lambda "
ok "the test ratings choose nothing" bash -c '"$GCG" path --quiet --gap 1e-6 --keep-all --lambdas 60,20,10,5,2.5 --valid valid.tsv -o q train.tsv >/dev/null && cmp p q'
any_order() { path --gap 1e-6 --keep-all --lambdas 10,2.5,60,20,5 --valid valid.tsv -o any train.tsv && cmp p any; }
ok "the lambdas may be given in any order" any_order
ok "without --keep-all" path --gap 1e-6 --lambdas 60,20,10,5,2.5 --valid valid.tsv -o s train.tsv
ok "there is PREFIX alone" test -s s -a ! -e s.1
ok "of the same lambda, within the gap that was asked for" near "$(member s.done objective)" "$(member p.done objective)" 1e-6
ok "its own" awk -v g="$(member s.done gap)" 'BEGIN { exit !(g <= 1e-6) }'
ok "the others only have to choose, and say so" test "$(grep -c '^# gap	0.01' log)" = 5 -a "$(grep '^# gap' log | tail -n 1 | cut -f 2 | cut -c 1-6)" = 9.9999
ok "the table has the gap of each" bash -c 'test "$(sed -n "/^lambda/,\$p" log | awk -F "\t" "NR > 1 && \$6 <= 0.01" | wc -l)" = 5'
ok "the same bytes for other threads and order of lines" bash -c 'sort -r train.tsv >turned.tsv &&
    "$GCG" path --quiet --threads 2 --gap 1e-6 --keep-all --lambdas 60,20,10,5,2.5 --valid valid.tsv -o r turned.tsv >/dev/null && cmp p r'
ok "without validation the last is kept" path --keep-all --lambdas 60,20,10 -o q train.tsv
ok "which a note says" says 'note: .* it is the last'
ok "and it is" near "$(member q.done objective)" "$(column objective | tail -n 1)" 1e-15

# ---- the log ----
ok "blocks and the table are apart by two blank lines" bash -c 'awk "BEGIN { RS = \"\n\n\n\" } END { exit NR != 4 }" log'
ok "each block has its lambda and column names" bash -c 'test "$(grep -c "^iter" log)" = 3 && grep "^# lambda	" log | cut -f 2 | tr "\n" " " | grep -qx "60 20 10 "'
ok "and a summary, the rows of the table" bash -c 'diff <(sed -n "s/^# summary\t//p" log) <(sed -n "/^lambda/,\$p" log | tail -n +2)'
last_rows() { awk -F '\t' '/^iter/ { inside = 1; next } /^#/ && inside { print row; inside = 0 } inside { row = $3 "\t" $5 "\t" $7 }' log; }
said_twice() { diff <(last_rows) <(table | tail -n +2 | cut -f 4,6,8); }
ok "which say what the last row of each block says" said_twice
if command -v gnuplot >/dev/null; then
    ok "gnuplot takes the blocks by index, and the table" gnuplot -e 'set terminal dumb; set datafile separator "\t"; plot "log" index 1 using "time_s":"objective", "log" index 3 using "lambda":"train_rmse"'
else
    skip "gnuplot takes the blocks by index, and the table" "no gnuplot here"
fi

# ---- the grid ----
ok "lambdas by themselves" path --n-lambdas 5 --min-ratio 0.1 -o p train.tsv
grid() { column lambda | awk -v top="$(sed -n 's/^# lambda_max\t//p' log)" '
    { d = $1 / (top * 0.1 ^ ((NR - 1) / 4)) - 1; if (d > 1e-12 || d < -1e-12) bad = 1 } END { exit bad || NR != 5 }'; }
ok "from lambda_max, falling by a constant factor, to the ratio" grid
ok "the first model is the zero matrix" test "$(column rank | head -n 1)" = 0
sooner() { # fewer passes for all lambdas together than fits from 0
    local lambda cold=0
    for lambda in $(column lambda | tail -n +2); do
        "$GCG" fit --quiet --lambda "$lambda" -o cold train.tsv >cold.log || return 1
        cold=$((cold + $(grep -v '^#' cold.log | tail -n 1 | cut -f 12)))
    done
    echo "passes: $cold from 0, $(column passes | awk '{ n += $1 } END { print n }') on the path"
    test "$(column passes | awk '{ n += $1 } END { print n }')" -lt $cold
}
ok "each from the model before: fewer passes than from 0" sooner
ok "--init starts the first one" bash -c '"$GCG" path --quiet --lambdas 8,4 --init p -o q train.tsv >log && test "$(grep -A 1 "^iter" log | sed -n 2p | cut -f 7)" -gt 0'

# ---- validation ----
ok "--holdout is the validation set, beside --test" path --holdout 0.2 --seed 3 --test test.tsv --n-lambdas 4 -o p train.tsv
"$GCG" fit --quiet --holdout 0.2 --seed 3 --lambda 5 -o m train.tsv >m.log
ok "the set that fit draws as test set" test "$(sed -n 's/^# valid_n\t//p' log)" = "$(sed -n 's/^# test_n\t//p' m.log)"
ok "and it chooses" bash -c 'test "$(sed -n "s/^# test_n\t//p" log)" -gt 0 && ! grep -q "nothing says which is best" err'
rising() { # validation far from the truth: the RMSE rises from the zero matrix on
    awk -F '\t' '{ print $1 "\t" $2 "\t-" $3 }' valid.tsv >wrong.tsv
    path --n-lambdas 12 --valid wrong.tsv -o p train.tsv
}
ok "a validation RMSE that only rises" rising
ok "stops the path after three steps up" test "$(column lambda | wc -l)" = 4
ok "which a note says" says 'note: the validation RMSE has risen 3 times in a row: stopped after 4 of 12 lambdas'
ok "and the first model is kept" test "$(member p.done rank)" = 0
ok "a smaller lambda that may be better is told" bash -c '"$GCG" path --lambdas 60,50 --valid valid.tsv -o p train.tsv 2>&1 >/dev/null | grep -q "smallest lambda"'

# ---- early ends ----
exits 3 "a rank limit that binds" path --rank 1 --keep-all --lambdas 20,2 -o p train.tsv
ok "the warning counts the fits" says 'warning: [12] of 2 fits did not reach their gap'
exits 3 "no time" path --max-time 1e-9 --lambdas 20,2 -o p train.tsv
ok "leaves one model, and says so" bash -c 'test -s p && grep -q "warning: stopped by --max-time after 1 of 2 lambdas" err'
after_fits() { # COUNT LOG: comes back when so many fits have ended, or after 6 seconds
    for _ in $(seq 600); do
        test "$(grep -c '^# summary' "$2" 2>/dev/null)" -ge "$1" && break
        sleep 0.01
    done
}
interrupted() { # SIGINT after the second of many lambdas
    local list code=0
    list=$(seq -s, 40 -0.5 1)
    rm -f slow.log
    "$GCG" path --gap 1e-9 --lambdas "$list" --valid valid.tsv --checkpoint none --log slow.log -o slow train.tsv 2>err &
    local pid=$!
    after_fits 2 slow.log
    kill -INT $pid
    wait $pid || code=$?
    test $code = 3 || { echo "exit $code"; cat err; return 1; }
}
ok "without checkpoints a signal ends the path after what it was doing" interrupted
finished() { test "$(table slow.log | tail -n +2 | wc -l)" -ge 2 && test "$(table slow.log | tail -n +2 | wc -l)" -lt 79 && "$GCG" eval --quiet slow valid.tsv >/dev/null && test -s slow.done; }
ok "what it had finished is there" finished
killed() {
    rm -f slow slow.done slow.log
    "$GCG" path --quiet --gap 1e-9 --lambdas "$(seq -s, 40 -0.5 1)" --log slow.log --keep-all -o slow train.tsv &
    local pid=$!
    after_fits 3 slow.log
    kill -KILL $pid
    wait $pid
    test -s slow.1 && test -s slow.2 && "$GCG" eval --quiet slow.3 valid.tsv >/dev/null && "$GCG" eval --quiet slow valid.tsv >/dev/null && test ! -e slow.done
} 2>/dev/null
ok "a kill leaves the models of the lambdas that were finished, and no PREFIX.done" killed
left() { # SIGTERM: 75, a checkpoint, and what there is at PREFIX says that it is not done
    rm -f slow slow.* && cp train.tsv other.tsv && echo 'u1	40	3' >>other.tsv
    "$GCG" path --gap 1e-9 --lambdas "$(seq -s, 40 -0.5 1)" --valid valid.tsv --log slow.log -o slow train.tsv 2>err &
    local pid=$! code=0
    after_fits 2 slow.log
    kill -TERM $pid
    wait $pid || code=$?
    test $code = 75 && test -s slow.ckpt && test ! -e slow.done && says 'stopped by a signal after [0-9]* fits and' && grep -aq '"status": "coarse"' slow
}
ok "with them SIGTERM ends it with 75, and the best so far says that it was only to choose by" left
list=$(seq -s, 40 -2 2)
killed_path() { # fails when the path was sooner
    rm -f kept kept.* && cp p kept.1 && echo "no model" >kept.15 || return 1
    "$GCG" path --quiet --gap 1e-9 --lambdas "$list" --keep-all --checkpoint-every 0 --log kept.log -o kept train.tsv &
    local pid=$!
    after_fits 3 kept.log
    kill -KILL $pid
    wait $pid
    cp kept.ckpt cut.ckpt
} 2>/dev/null
numbered() { # a path with --keep-all that is killed, over the numbered models of an older one
    "$GCG" path --quiet --gap 1e-9 --lambdas "$list" --keep-all --log whole.log -o whole train.tsv || return 1
    killed_path || killed_path || killed_path || return 1
    rm -f kept && mkdir -p elsewhere && "$GCG" path --quiet --resume cut.ckpt --log kept.log -o kept train.tsv || return 1
    local k
    for k in '' .{1..20}; do cmp "kept$k" "whole$k" || return 1; done
}
ok "--keep-all goes on to the same models, over those that stand there" numbered
moved() { "$GCG" path --resume cut.ckpt --log none -o elsewhere/kept train.tsv 2>err && test ! -e elsewhere/kept.1 && cmp elsewhere/kept.20 whole.20 && cmp elsewhere/kept whole; }
ok "under another PREFIX it goes on, too" moved
ok "and a warning names the models that are missing there" says 'warning: elsewhere/kept.1 is not there: it was written before the checkpoint'
refused() { local code=0; "$GCG" "${@:3}" --log none 2>err || code=$?; test $code = "$1" && says "$2" || { echo "status $code"; cat err; return 1; }; }
ok "another subcommand refuses the checkpoint" refused 2 'slow.ckpt is a checkpoint of gcg-mc path: go on' fit --resume slow.ckpt -o f train.tsv
ok "another gap is refused" refused 2 '--gap 1e-05: the fit that slow.ckpt is of had 1e-09' path --resume slow.ckpt --gap 1e-5 --valid valid.tsv -o slow train.tsv
ok "and so are other lambdas" refused 2 '--lambdas 3,2: the fit that slow.ckpt is of had' path --resume slow.ckpt --lambdas 3,2 --valid valid.tsv -o slow train.tsv
ok "other ratings" refused 4 'slow.ckpt: error: is of [0-9]* ratings' path --resume slow.ckpt --valid valid.tsv -o slow other.tsv
ok "and other validation ratings" refused 4 'is of other validation ratings' path --resume slow.ckpt --valid test.tsv -o slow train.tsv

# ---- what is refused ----
for list in 2,2 3,1,3 2,,1 ,2 '2,' -1 0 2,-1 nan inf 2x '' ' 2' 1e999; do
    exits 2 "--lambdas '$list' is refused" path --lambdas "$list" -o p train.tsv
done
ok "the message names option and text" bash -c '"$GCG" path --lambdas 3,1,3 -o p train.tsv 2>&1 | grep -q -- "error: --lambdas .3,1,3.: 3 is given twice"'
exits 2 "--lambdas with --n-lambdas" path --lambdas 2,1 --n-lambdas 3 -o p train.tsv
exits 2 "a grid of one" path --n-lambdas 1 -o p train.tsv
exits 2 "a ratio of 1" path --min-ratio 1 -o p train.tsv
exits 2 "two validation sets" path --holdout 0.1 --valid valid.tsv -o p train.tsv
exits 2 "no PREFIX" path --lambdas 2,1 train.tsv
ok "is told so" says 'no -o PREFIX'
exits 2 "PREFIX.1 may be no input" bash -c 'cp train.tsv in.1 && "$GCG" path --keep-all --lambdas 2,1 -o in in.1'
exits 5 "a folder that is not there" path --lambdas 2,1 -o nowhere/p train.tsv
ok "--dry-run plans and stops" bash -c '"$GCG" path --dry-run train.tsv | grep -q ^memory_bytes'
ok "without a word on standard error under --quiet" bash -c '"$GCG" path --quiet --holdout 0.1 --n-lambdas 3 -o p train.tsv 2>&1 >/dev/null | { ! grep .; }'

done_testing
