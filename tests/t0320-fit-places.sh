#!/bin/bash
# Where fit writes: full disks, links, names, pipes; and what the log of two threads has in common with that of one.
# shellcheck disable=SC1091,SC2016 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

awk 'BEGIN { s = 5; for (u = 1; u <= 120; u++) for (i = 1; i <= 80; i++) {
    s = (s * 16807) % 2147483647; if (s % 10 < 3) printf "%d\t%d\t%d\n", u, i, 1 + s % 5 } }' >noise.tsv
printf '1,1,2\n1,2,3\n1,3,6\n' >row.csv

fit() { "$GCG" fit --lambda 2 "$@" 2>err; }
says() { grep -q -e "$1" err || { cat err; return 1; }; }
nothing_left() { local left; left=$(find . -name '*.tmp'); [ -z "$left" ] || { echo "$left"; return 1; }; }

# ---- a disk that fills up ----
fit --log none -o m row.csv
cp m old
cp m.done old.done
limited() ( ulimit -f 1; fit --log none -o m noise.tsv; ) # 1 KiB; the model needs more
exits 5 "a model over the limit of ulimit -f ends with 5" limited
ok "naming the model" says '^gcg-mc: m: error: cannot write'
ok "the old model stays" cmp m old
ok "its MODEL.done does not" test ! -e m.done
ok "no temporary file is left" nothing_left
mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=16k none disk 2>/dev/null; then
    filled() { fit --log none -o disk/m noise.tsv; }
    exits 5 "a full disk ends with 5" filled
    ok "with the reason" says '^gcg-mc: disk/m: error: .*No space left'
    ok "and leaves nothing" test -z "$(ls -A disk)"
    fit --log none -o disk/m row.csv
    cp disk/m old
    exits 5 "also when a model is replaced" filled
    ok "the old model stays" cmp disk/m old
    umount disk
else
    skip "a full disk ends with 5" "cannot mount a small disk here"
fi

# ---- address space that is limited ----
# OpenBLAS by itself tries for ever; under a sanitizer nothing runs in so little.
space() ( ulimit -v "$1" && shift && timeout -s KILL 60 "$@" 2>err; )
if space 2000000 "$GCG" --version >/dev/null; then
    for kib in 80000 150000 240000 300000; do
        ends() { local status=0; space $kib "$GCG" fit --lambda 2 --log none --threads 1 -o small row.csv || status=$?; test $status = 0 || { test $status = 6 && says 'out of memory'; }; }
        ok "a fit in $kib KiB ends, if only with 6" ends
    done
    ok "and predict needs no room for BLAS" space 150000 "$GCG" predict --quiet m row.csv
else
    skip "a fit in little address space ends" "this build needs more of it"
fi

# ---- links and names ----
mkdir place
ln -s place/real link
ln -s place/none/gone dangling
touch place/real
ok "-o a link writes the file it leads to" fit --log none -o link row.csv
ok "the link stays a link" test -L link -a -s place/real
ok "and the model is whole" "$GCG" predict --quiet link row.csv
exits 5 "-o a link that leads nowhere ends with 5" fit --log none -o dangling row.csv
ok "blanks in names are fine" fit --log none -o 'my model' row.csv
ok "MODEL.done is beside it" test -s 'my model.done'
printf '1,1,2\n' >"$(printf 'a\033[31m\n.csv')"
exits 5 "a strange name of the model is fine until its folder is missing" fit --log none -o "$(printf 'none\033[31m/m')" row.csv
not_ok_if "and no raw byte of it reaches the terminal" grep -q "$(printf '\033')" err
ok "a strange input name is read" fit --log strange.log -o m "$(printf 'a\033[31m\n.csv')"
not_ok_if "without raw bytes in messages" grep -q "$(printf '\033')" err
not_ok_if "nor in the log" grep -q "$(printf '\033')" strange.log
ok "where it stays on its line" grep -Fqx '# train	a\x1B[31m\x0A.csv' strange.log
masked() ( umask 027; rm -f m m.done; fit --log none -o m row.csv && test "$(stat -c %a m m.done)" = $'640\n640'; )
ok "model and MODEL.done have the mode that umask gives" masked
before() { # a usage error touches nothing
    fit --log none -o m row.csv
    cp m.done kept
    local status=0
    fit --log kept.log --columns 1,1,2 -o m row.csv || status=$?
    test "$status" = 2 && cmp m.done kept && test ! -e kept.log
}
ok "a usage error leaves MODEL.done and the log alone" before

# ---- pipes ----
mkfifo pipe
fifo() {
    head -n 2 pipe >/dev/null &
    fit --log pipe --gap 1e-9 -o m noise.tsv
    local status=$?
    wait
    test "$status" = 0 && "$GCG" predict --quiet m row.csv
}
ok "a log pipe whose reader goes away does not cost the model" fifo
not_ok_if "and is no error" grep -q error err
one_line() { fit --gap 1e-9 -o m noise.tsv | head -n 1 | grep -q '^# version'; }
ok "the first line of the log can be taken" one_line

# ---- the log ----
plain_log() { sed -e '/^# \(read_s\|threads\)	/d' "$1" | awk -F '\t' -v OFS='\t' '/^[0-9]/ { $2 = "" } { print }'; }
for threads in 1 2; do fit --log "log$threads" --threads $threads --holdout 0.2 --gap 1e-6 --center both -o "m$threads" noise.tsv; done
same_log() { diff <(plain_log log1) <(plain_log log2); }
ok "two threads write the log of one, but for times" same_log
ok "and the same model" cmp m1 m2
ok "MODEL.done differs in its seconds only" bash -c 'diff <(grep -v "\"seconds\"" m1.done) <(grep -v "\"seconds\"" m2.done)'
digits() { # every real number is what %.17g makes of it
    grep -v -e '^#' -e '^iter' log1 | cut -f 3-6,8,10 | tr '\t' '\n' |
        awk '{ n++; if (sprintf("%.17g", $1 + 0) != $1) { print; bad = 1 } } END { exit bad || n < 12 }'
}
ok "its numbers have 17 significant digits" digits
ok "meta lines are a key and a value" awk -F '\t' '/^#/ && (NF != 2 || $1 !~ /^# [a-z_]+$/ || $2 == "") { print; exit 1 }' log1
ok "the log is plain ASCII without carriage returns" bash -c '! LC_ALL=C grep -q "[^	 -~]" log1'
if command -v python3 >/dev/null; then
    ok "MODEL.done is JSON" python3 -c 'import json; d = json.load(open("m1.done")); assert d["exit"] == 0 and d["status"] == "converged" and d["gap"] <= 1e-6 and d["valid_rmse"] is None'
    ok "model.json is JSON, with nothing about test sets or threads" python3 -c '
import json, zipfile
d = json.loads(zipfile.ZipFile("m1").read("model.json"))["fit"]
assert d["lambda"] == 2 and d["center"] == "both" and d["holdout"] == 0.2 and d["users"] == 120 and d["items"] == 80
assert not [k for k in d if "test" in k or "thread" in k or "second" in k or "time" in k]'
else
    skip "MODEL.done is JSON" "no python3 here"
fi
done_testing
