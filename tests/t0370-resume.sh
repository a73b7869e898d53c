#!/bin/bash
# Checkpoints of fit: what --resume goes on from, to which bytes, and what it refuses.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

awk 'BEGIN { srand(11); for (u = 1; u <= 100; u++) for (i = 1; i <= 80; i++) {
    r = 3 + 2 * sin(u / 7) * cos(i / 9) + 2 * rand() - 1; if (rand() < 0.35) printf "%d\t%d\t%.2f\n", u, i, r } }' >train.tsv
awk 'NR % 9 == 4' train.tsv >valid.tsv
awk 'NR % 9 != 4' train.tsv >rest.tsv

says() { grep -q -e "$1" err || { cat err; return 1; }; }
nothing_left() { local left; left=$(find . -name '*.tmp'); [ -z "$left" ] || { echo "$left"; return 1; }; }
figures() { grep -v '^#' "$1" | cut -f 1,3-; } # of a log, but for the times
fit() { "$GCG" fit --quiet "$@" 2>err; }
status_of() { local status=0; "$@" || status=$?; echo $status; }
header() { head -c 8 "$1"; }

# ---- the same bytes ----
# A fit with these options, unbroken; then one that --max-iter ends after each number of iterations, and one that goes on.
same() { # OPTION... TRAIN
    rm -f m* w*
    fit --log w.log -o w "$@" || [ $? = 3 ] || { cat err; return 1; }
    local last stop
    last=$(figures w.log | tail -n 1 | cut -f 1)
    [ "$last" -ge 3 ] || { echo "only $last iterations"; return 1; }
    for stop in 1 $((last - 1)); do
        rm -f m*
        [ "$(status_of fit --log m.log -o m --max-iter $stop "$@")" = 3 ] && test -s m.ckpt || return 1
        fit --log m.log -o m --max-iter 500 "$@" --resume m.ckpt || [ $? = 3 ] || { cat err; return 1; }
        if ! cmp m w || ! diff <(figures m.log) <(figures w.log) || [ -e m.ckpt ]; then
            echo "after $stop"
            return 1
        fi
        grep -qx "# resumed	$stop" m.log || return 1
    done
}
ok "a fit that goes on from a checkpoint comes to the same bytes, and the same log" same --lambda 3 --gap 1e-6 train.tsv
ok "with centring and a lambda of lambda_max, too" same --lambda-ratio 0.1 --gap 1e-5 --center both train.tsv
ok "with a weighted norm" same --lambda-ratio 0.1 --gap 1e-5 --norm-weights 0.8 --norm-smooth 0.1 train.tsv
ok "with biases of users" same --lambda-ratio 0.1 --gap 1e-5 --norm-weights 0.8 --user-bias 3 train.tsv
ok "with biases, in float that goes on in double" same --lambda-ratio 0.1 --gap 1e-9 --user-bias 3 train.tsv
ok "in float that goes on in double" same --lambda 3 --gap 1e-9 --precision auto train.tsv
ok "with validation, --keep best and a clip" same --lambda 1 --gap 1e-6 --keep best --valid valid.tsv --clip 1,5 rest.tsv
ok "where the rank is limited" same --lambda 0.5 --rank 4 --gap 1e-4 train.tsv
ok "with lambda 0" same --lambda 0 --rank 5 --gap 1e-4 train.tsv
ok "with a hold-out" same --lambda 3 --gap 1e-6 --holdout 0.2 --seed 5 train.tsv
ok "with the paper's algorithm" same --lambda 3 --gap 1e-2 --plain train.tsv
ok "by als-cg" same --solver als-cg --rank 6 --lambda 2 --gap 1e-3 --keep best --valid valid.tsv rest.tsv
ok "by soft-impute" same --solver soft-impute --rank 6 --lambda-ratio 0.1 --gap 1e-2 --center both train.tsv
planned() { # the plan of a fit that has to save memory is kept by one that has plenty
    local need limit
    need=$("$GCG" fit --dry-run --lambda 3 --gap 1e-6 train.tsv 2>/dev/null | sed -n 's/^memory_bytes	//p')
    for limit in $((need - 100000)) $((need - 700000)); do
        rm -f m* w*
        fit --lambda 3 --gap 1e-6 --max-memory "$limit" --log none -o w train.tsv
        [ "$(status_of fit --lambda 3 --gap 1e-6 --max-memory "$limit" --log none --max-iter 2 -o m train.tsv)" = 3 ] || return 1
        fit --resume m.ckpt --max-iter 500 --log none -o m train.tsv && cmp m w || return 1
    done
    grep -aq '"memory_plan": ".*block' m
}
ok "the memory plan is the checkpoint's" planned

fit --lambda 3 --gap 1e-6 --log w.log -o w train.tsv
cut_fit() { rm -f m*; [ "$(status_of fit --lambda 3 --gap 1e-6 --log m.log --max-iter 2 -o m train.tsv)" = 3 ]; }
ok "a fit that --max-iter ends leaves a checkpoint" cut_fit
cp m.ckpt kept.ckpt
options() { fit --resume kept.ckpt --max-iter 500 --log none -o m train.tsv && cmp m w; }
ok "the options are those of the checkpoint" options
ok "which stays when the fit writes another one" test -s kept.ckpt
again() { fit --lambda 3 --gap 1e-6 --seed 1 --center none --threads 2 --resume kept.ckpt --max-iter 500 --log none -o m train.tsv && cmp m w; }
ok "they may be given again" again
other_order() { sort -R --random-source=train.tsv train.tsv | gzip >shuffled.gz; fit --resume kept.ckpt --max-iter 500 --log none -o m shuffled.gz && cmp m w; }
ok "the same ratings may come in another file, order and packing" other_order
store() { "$GCG" convert train.tsv -o t.gcs 2>err && fit --resume kept.ckpt --max-iter 500 --log none -o m t.gcs && cmp m w; }
ok "or from a binary store" store
stdout_log() { fit --resume kept.ckpt --max-iter 500 -o m train.tsv >out && grep -q '^# version' out && diff <(figures out | tail -n +2) <(figures w.log | tail -n +4); }
ok "a log on standard output has its head, and the rows from there on" stdout_log
foreign_log() {
    echo "not a log" >other.log
    fit --resume kept.ckpt --max-iter 500 --log other.log -o m train.tsv && ! grep -q "not a log" other.log && grep -q '^# version' other.log
}
ok "a log file without those rows is begun anew" foreign_log
chain() { # cut again and again
    rm -f m*
    [ "$(status_of fit --lambda 3 --gap 1e-6 --log m.log --max-iter 1 -o m train.tsv)" = 3 ] || return 1
    local n status=3
    for n in 2 3 500; do
        status=$(status_of fit --resume m.ckpt --max-iter $n --log m.log -o m train.tsv)
        [ "$status" = 3 ] || break
    done
    [ "$status" = 0 ] && cmp m w && diff <(figures m.log) <(figures w.log)
}
ok "it may be cut and go on any number of times" chain
timed() {
    rm -f m*
    [ "$(status_of fit --lambda 3 --gap 1e-6 --log m.log --max-time 0.02 -o m train.tsv)" = 3 ] && test -s m && test -s m.ckpt || return 1
    fit --resume m.ckpt --log m.log -o m train.tsv && cmp m w && diff <(figures m.log) <(figures w.log)
}
ok "a fit that --max-time ends leaves model and checkpoint, and goes on to the same bytes" timed
early() { # no time even for lambda_max
    rm -f m*
    [ "$(status_of fit --lambda-ratio 0.1 --log none --max-time 1e-9 -o m train.tsv)" = 3 ] && test -s m.ckpt || return 1
    fit --resume m.ckpt --log none -o m train.tsv && fit --lambda-ratio 0.1 --log none -o v train.tsv && cmp m v
}
ok "even one that had no time for lambda_max" early
every() { rm -f m*; fit --lambda 3 --gap 1e-6 --log none --checkpoint c.here --checkpoint-every 0 -o m train.tsv && cmp m w && test ! -e c.here && test ! -e m.ckpt && nothing_left; }
ok "writing checkpoints changes no byte; one that has served is removed" every
stalled() { rm -f m*; fit --lambda 3 --gap 1e-14 --precision float --checkpoint-every 0 --log none -o m train.tsv; [ $? = 3 ] && grep -q '"status": "stalled"' m.done && test ! -e m.ckpt; }
ok "so is that of a fit that can come no nearer" stalled
comparator() { # SECONDS OPTION...: the solver is the checkpoint's, too
    rm -f m* u u.*
    fit "${@:2}" --gap 1e-9 --max-iter 5000 --log u.log -o u train.tsv || return 1
    [ "$(status_of fit "${@:2}" --gap 1e-9 --max-iter 5000 --log m.log --max-time "$1" -o m train.tsv)" = 3 ] && test -s m && test -s m.ckpt || return 1
    fit --resume m.ckpt --log m.log -o m train.tsv && cmp m u && diff <(figures m.log) <(figures u.log) && test ! -e m.ckpt
}
for solver in als-cg soft-impute; do
    ok "$solver goes on from where --max-time ended it" comparator 0.003 --solver $solver --rank 6 --lambda 1
    ok "also where it had no time for lambda_max" comparator 1e-9 --solver $solver --rank 6 --lambda-ratio 0.02
done

# ---- signals ----
long=(--lambda 1 --plain)
slow() { # OPTION...: a fit that takes long, in the background; comes back when it is iterating
    rm -f m m.done m.ckpt log
    "$GCG" fit --gap 1e-13 --max-iter 1000000 --log log "${long[@]}" "$@" -o m train.tsv 2>err &
    pid=$!
    iterating log
}
usr1() {
    slow || return 1
    local status=0
    kill -USR1 $pid
    for _ in {1..200}; do test -s m.ckpt && break; sleep 0.05; done
    test -s m.ckpt && kill -0 $pid || return 1
    kill -TERM $pid
    wait $pid || status=$?
    [ "$status" = 75 ] && nothing_left
}
ok "SIGUSR1 writes a checkpoint, and the fit goes on" usr1
ok "the checkpoint of a signal is told" says 'stopped by a signal after [0-9]* iterations*: --resume m.ckpt goes on from there'
hung_up() { # as when the terminal goes away
    slow || return 1
    local status=0
    kill -HUP $pid
    wait $pid || status=$?
    [ "$status" = 75 ] && test -s m.ckpt && test ! -e m && nothing_left
}
ok "SIGHUP ends a fit as SIGTERM does" hung_up
nohup_stays() (
    trap '' HUP # what nohup does
    slow || return 1
    local status=0
    kill -HUP $pid && sleep 0.3 && kill -0 $pid && test ! -e m.ckpt && kill -TERM $pid || return 1
    wait $pid || status=$?
    [ "$status" = 75 ]
)
ok "but not where it is ignored" nohup_stays
copied() {
    slow --max-time 600 || return 1
    local status=0
    kill -TERM $pid
    wait $pid || status=$?
    [ "$status" = 75 ] && test -s m.ckpt && test ! -e m
}
ok "with --max-time, too" copied
for solver in als-cg soft-impute; do
    long=(--solver "$solver" --rank 20 --lambda 0.01 --precision double)
    ok "SIGUSR1 and SIGTERM do the same to $solver" usr1
    ok "and that is told" says 'stopped by a signal after [0-9]* iterations*: --resume m.ckpt goes on from there'
    ok "another solver refuses its checkpoint" bash -c '! "$GCG" fit --quiet --solver gcg --resume m.ckpt -o m train.tsv 2>err && grep -q -e "--solver gcg: the fit that m.ckpt is of had $0;" err' $solver
    ok "with --max-time $solver goes back to where the iteration began" copied
done

# ---- what is refused ----
refused() { # STATUS TEXT OPTION...: and the checkpoint and the old model stay
    local status=0 wanted=$1 text=$2
    shift 2
    cp w m && cp kept.ckpt m.ckpt
    fit --log none -o m "$@" || status=$?
    [ "$status" = "$wanted" ] || { echo "status $status"; cat err; return 1; }
    says "$text" && cmp m w && cmp m.ckpt kept.ckpt
}
ok "another gap is refused" refused 2 '--gap 1e-05: the fit that m.ckpt is of had 1e-06;' --gap 1e-5 --resume m.ckpt train.tsv
ok "another lambda" refused 2 '--lambda 4: the fit that m.ckpt is of had 3;' --lambda 4 --resume m.ckpt train.tsv
ok "a ratio instead of it" refused 2 '--lambda-ratio 0.5: the fit that m.ckpt is of was without it' --lambda-ratio 0.5 --resume m.ckpt train.tsv
ok "a centre" refused 2 '--center both: the fit that m.ckpt is of had none' --center both --resume m.ckpt train.tsv
ok "--plain" refused 2 '--plain yes: the fit that m.ckpt is of was without it' --plain --resume m.ckpt train.tsv
ok "a seed" refused 2 '--seed 2: the fit that m.ckpt is of had 1;' --seed 2 --resume m.ckpt train.tsv
ok "a comparator" refused 2 '--solver als-cg: the fit that m.ckpt is of had gcg;' --solver als-cg --resume m.ckpt train.tsv
ok "a weight of the norm" refused 2 '--norm-weights 0.5: the fit that m.ckpt is of was without it' --norm-weights 0.5 --resume m.ckpt train.tsv
ok "biases" refused 2 '--user-bias 3: the fit that m.ckpt is of was without it' --user-bias 3 --resume m.ckpt train.tsv
ok "a start" refused 2 '--init and --resume' --init w --resume m.ckpt train.tsv
ok "fewer ratings" refused 4 'm.ckpt: error: is of [0-9]* ratings of 100 users and 80 items, TRAIN has' --resume m.ckpt rest.tsv
sed '100s/[0-9.]*$/4.75/' train.tsv >changed.tsv
ok "one other rating" refused 4 'm.ckpt: error: is of other ratings or ids' --resume m.ckpt changed.tsv
sed 's/^7\t/1007\t/' train.tsv >renamed.tsv
ok "one other id" refused 4 'm.ckpt: error: is of other ratings or ids' --resume m.ckpt renamed.tsv
ok "too little memory for its plan" refused 6 'out of memory' --max-memory 1M --resume m.ckpt train.tsv
fit --lambda 1 --keep best --valid valid.tsv --max-iter 2 --log none -o v rest.tsv
ok "other validation ratings, where they choose the model" refused 4 'v.ckpt: error: is of other validation ratings' --valid train.tsv --resume v.ckpt rest.tsv
ok "a checkpoint as MODEL" refused 2 'is also the checkpoint of --resume' --resume kept.ckpt -o kept.ckpt train.tsv
ok "one file for model and checkpoint" refused 2 '--checkpoint m is also the file of -o' --checkpoint m --lambda 3 train.tsv
ok "a checkpoint over an input" refused 2 '--checkpoint train.tsv is also an input' --checkpoint train.tsv --lambda 3 train.tsv
ok "a folder that does not exist" refused 5 'none/c: error:' --checkpoint none/c --lambda 3 train.tsv
ok "no file" refused 5 'nowhere.ckpt: error: cannot open' --resume nowhere.ckpt train.tsv
ok "a folder" refused 5 '\.: error: cannot read' --resume . train.tsv
: >empty
ok "an empty file is no checkpoint" refused 4 'empty: error: is not a checkpoint' --resume empty train.tsv
ok "nor is a table" refused 4 'train.tsv: error: is not a checkpoint' --resume train.tsv train.tsv
ok "nor a model" refused 4 'w: error: is not a checkpoint' --resume w train.tsv
head -c $(($(wc -c <kept.ckpt) - 1)) kept.ckpt >"cut"
ok "one that is cut short is refused" refused 4 'cut: error: is cut short' --resume cut train.tsv
{ cat kept.ckpt; echo; } >long
ok "one with more behind it" refused 4 'long: error: is damaged: bytes follow its end' --resume long train.tsv
flipped() { # at every 97th byte
    local at size
    size=$(wc -c <kept.ckpt)
    for ((at = 8; at < size; at += 1 + size / 25)); do
        cp kept.ckpt bad
        printf '\377' | cmp -s - <(tail -c +$((at + 1)) bad | head -c 1) && continue
        printf '\377' | dd of=bad bs=1 seek=$at conv=notrunc 2>/dev/null
        refused 4 'bad: error: is ' --resume bad train.tsv || { echo "byte $at"; return 1; }
    done
}
ok "one with a changed byte, wherever" flipped
newer() { cp kept.ckpt new; printf '\004' | dd of=new bs=1 seek=16 conv=notrunc 2>/dev/null; refused 4 'is a checkpoint of version 4, this gcg-mc reads version 3' --resume new train.tsv; }
ok "one of a newer version, naming both" newer

# ---- an old checkpoint, and one that cannot be written ----
leftover() { cp kept.ckpt m.ckpt; "$GCG" fit --lambda 3 --gap 1e-6 --log none -o m train.tsv 2>err && says 'there is a checkpoint m.ckpt, of an earlier fit: --resume m.ckpt goes on from it'; }
ok "a fit that begins anew tells of a checkpoint that is there" leftover
unused() { cmp m.ckpt kept.ckpt; }
ok "and leaves it when it writes none" unused

done_testing
