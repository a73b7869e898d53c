#!/bin/bash
# fit where its files cannot be written: a full disk, a limit on file sizes, a folder that vanishes, one that is
# read-only. The old model stays whole, nothing half written is left, and the message names the file.
# shellcheck disable=SC1091 # lib.sh stands beside
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

awk 'BEGIN { srand(11); for (u = 1; u <= 100; u++) for (i = 1; i <= 80; i++) {
    r = 3 + 2 * sin(u / 7) * cos(i / 9) + 2 * rand() - 1; if (rand() < 0.35) printf "%d\t%d\t%.2f\n", u, i, r } }' >train.tsv
says() { grep -q -e "$1" err || { cat err; return 1; }; }
nothing_left() { local left; left=$(find . -name '*.tmp'); [ -z "$left" ] || { echo "$left"; return 1; }; }
"$GCG" fit --quiet --lambda 5 --log none -o old train.tsv
status_of() { local status=0; "$@" 2>err || status=$?; echo $status; }

limited() { # the model has 50 kB, the checkpoint more
    mkdir -p small && cp old small/m || return 1
    (
        ulimit -f 20
        [ "$(status_of "$GCG" fit --quiet --lambda 1 --log none --checkpoint-every 0 -o small/m train.tsv)" = 5 ]
    ) && cmp small/m old && nothing_left
}
ok "a limit on file sizes costs the new model, not the old one" limited
ok "the model is named" says 'small/m: error: cannot write'
ok "checkpoints that cannot be written are told, and the fit goes on" says 'warning: no checkpoint: small/m.ckpt: cannot write: .*; the fit goes on'
without() { # room for the model alone
    (
        ulimit -f 100
        [ "$(status_of "$GCG" fit --quiet --lambda 1 --log none --checkpoint-every 0 -o small/m train.tsv)" = 0 ]
    ) && "$GCG" fit --quiet --lambda 1 --log none -o want train.tsv && cmp small/m want && nothing_left
}
ok "a fit whose checkpoints find no room still writes its model" without

mkdir disk
if mount -t tmpfs -o size=256k tmpfs disk 2>/dev/null; then
    full() {
        cp old disk/m
        dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null
        [ "$(status_of "$GCG" fit --quiet --lambda 1 --log none --checkpoint-every 0 -o disk/m train.tsv)" = 5 ] &&
            cmp disk/m old && nothing_left && says 'disk/m: error: cannot write: No space left on device'
    }
    ok "a full disk costs the new model, not the old one" full
    umount disk
else
    skip "a full disk costs the new model, not the old one" "no file system can be mounted here"
fi

slow() { # OUTPUT: in the background; comes back when it iterates
    rm -f log
    "$GCG" fit --quiet --lambda 1 --gap 1e-13 --plain --max-iter 1000000 --log log -o "$1" train.tsv 2>err &
    pid=$!
    iterating log
}
vanished() {
    mkdir -p gone
    slow gone/m && rm -r gone && kill -USR1 $pid || return 1
    for _ in {1..200}; do
        grep -q 'no checkpoint' err && break
        sleep 0.05
    done
    says 'warning: no checkpoint: gone/m.ckpt: cannot create a file here' && kill -TERM $pid || return 1
    local status=0
    wait $pid || status=$?
    [ "$status" = 5 ] && says 'gone/m.ckpt: error: cannot create a file here' && [ ! -e gone ]
}
ok "a folder that vanishes is told, and ends a fit that is to save itself with 5" vanished

read_only() { # as somebody who is not root
    mkdir -p locked && cp old locked/m && chmod 755 . && chmod a+r train.tsv && chmod 555 locked || return 1
    [ "$(status_of "${nobody[@]}" "$GCG" fit --quiet --lambda 1 --log none -o locked/m train.tsv)" = 5 ] &&
        says 'locked/m: error: cannot create a file here: Permission denied' && cmp locked/m old
}
nobody=()
[ "$(id -u)" = 0 ] && nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${nobody[@]}" "$GCG" --version >/dev/null 2>&1; then
    ok "a folder that may only be read is told before the fit" read_only
else
    skip "a folder that may only be read is told before the fit" "nobody else can run the program here"
fi

done_testing
