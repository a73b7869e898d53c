#!/bin/bash
# gcg-mc export: every form holds the same numbers, and they are those that predict uses; numpy and R read them with the
# README's lines; all files or none.
# shellcheck disable=SC1091,SC2016,SC2317 # lib.sh stands beside; programs in quotes are for other shells
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1

gcg() { "$GCG" "$@" >out 2>err; }
says() { grep -q -e "$1" err || { cat err; return 1; }; }

# Ids that need care: quotes, blanks, leading zeros, what R takes for missing, for a comment or for a number.
"$GCG" synth --quiet --users 40 --items 30 --ratings 500 -o plain.csv
awk -F , 'BEGIN { split("NA|it'"'"'s|a b|007|7|#1|1e5|TRUE|caf\303\251", odd, "|") }
    NR > 1 { print "u" ($1 in odd ? odd[$1] : $1) "\t" ($2 in odd ? odd[$2] : "i" $2) "\t" $3 }' plain.csv >r.tsv
"$GCG" fit --quiet --log none --lambda 3 --center both --format tsv -o model r.tsv
"$GCG" fit --quiet --log none --lambda 3 --precision float --format tsv -o plain r.tsv
cut -f 1,2 r.tsv >pairs.tsv
"$GCG" predict --quiet --format tsv model pairs.tsv >predicted.tsv

for form in npy tsv mtx; do
    ok "export --to $form ends with 0" gcg export model --to $form -o model
    ok "and says how much it was" says 'note: model: 40 users, 30 items, [0-9]* factors, [37] files'
    ok "and nothing on standard output" test ! -s out
    gcg export plain --to $form -o plain
done

# ---- the numbers ----
agrees() { # MODEL PREDICTIONS: U V' and what is added, from the tables, is what predict says
    awk -F '\t' '
        FILENAME ~ /center_mean/ { mean = $1; next }
        FILENAME ~ /users.tsv/ { for (k = 2; k < NF; k++) u[$1, k] = $k; ub[$1] = $NF; n = NF; next }
        FILENAME ~ /items.tsv/ { for (k = 2; k < NF; k++) v[$1, k] = $k; vb[$1] = $NF; next }
        $1 == "user" { next }
        { w = mean + ub[$1] + vb[$2]; for (k = 2; k < n; k++) w += u[$1, k] * v[$2, k]
          seen++; d = w - $3; if (d < -1e-12 || d > 1e-12) { print $0, w; bad = 1 } }
        END { exit bad || seen != 500 || n < 4 }' "$1.center_mean.tsv" "$1.users.tsv" "$1.items.tsv" "$2"
}
ok "the tables give what predict gives" agrees model predicted.tsv
"$GCG" predict --quiet --format tsv plain pairs.tsv >plain.predicted
ok "without centring and from float, too" agrees plain plain.predicted
"$GCG" fit --quiet --log none --lambda 3 --norm-weights 0.8 --center both --format tsv -o weighted r.tsv
gcg export weighted --to tsv -o weighted
"$GCG" predict --quiet --format tsv weighted pairs.tsv >weighted.predicted
ok "and with weights in the norm" agrees weighted weighted.predicted
ok "without centring the mean is 0" diff <(printf 'center_mean\n0\n') plain.center_mean.tsv
ok "the header names id, factors, bias" bash -c 'head -n 1 model.users.tsv | grep -Eqx "user	f1	(f[0-9]+	)*bias"'

columns() { # FILE.tsv: ids on a line each, then the factors column by column, then the bias
    awk -F '\t' 'NR > 1 { id[NR - 1] = $1; for (k = 2; k <= NF; k++) x[NR - 1, k] = $k; n = NF }
        END { for (i = 1; i < NR; i++) print id[i] >"'"$T"'/ids"; for (k = 2; k <= n; k++) for (i = 1; i < NR; i++) print x[i, k] }' "$1"
}
same_mtx() { # SIDE
    columns "model.${1}s.tsv" >want
    diff ids "model.${1}s.txt" && diff want <(grep -hv '^%' "model.${1}s.mtx" | tail -n +2; tail -n +3 "model.${1}_bias.mtx")
}
for side in user item; do
    ok "MatrixMarket has the $side numbers of the tables, column by column, and the ids" same_mtx $side
    ok "its first lines are those of a dense array" bash -c '
        head -n 1 model.'$side's.mtx | grep -qx "%%MatrixMarket matrix array real general" &&
        read -r rows columns < <(sed -n 2p model.'$side's.mtx) &&
        test "$rows" = "$(wc -l <model.'$side's.txt)" && test "$(tail -n +3 model.'$side's.mtx | wc -l)" = $((rows * columns))'
done
numbers() { od -An -v -t f8 -j 128 -w8 "$1" | awk '{ printf "%.17g\n", $1 }'; }
rows() { # FILE.tsv: factors row by row
    awk -F '\t' 'NR > 1 { for (k = 2; k < NF; k++) printf "%.17g\n", $k }' "$1"
}
same_npy() {
    diff <(rows "model.${1}s.tsv") <(numbers "model.${1}s.npy") >/dev/null &&
        diff <(awk -F '\t' 'NR > 1 { printf "%.17g\n", $NF }' "model.${1}s.tsv") <(numbers "model.${1}_bias.npy") >/dev/null &&
        head -c 128 "model.${1}s.npy" | grep -aq "'<f8', 'fortran_order': False, 'shape': ($(wc -l <"model.${1}s.txt"), "
}
for side in user item; do
    ok "npy has the $side numbers of the tables, row by row" same_npy $side
done
ok "and the mean" diff <(numbers model.center_mean.npy) <(tail -n 1 model.center_mean.tsv)

# ---- the README's lines ----
block() { # BEGINNING-OF-LINE: the indented lines after it
    awk -v start="$1" 'index($0, start) == 1 { on = 1; next } on && /^    / { print substr($0, 5); some = 1; next } some { exit }' "$ROOT/README"
}
first=$(sed -n 1p pairs.tsv) user=$(cut -f 1 <<<"$first") item=$(cut -f 2 <<<"$first")
same_number() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && d < 1e-9 && d > -1e-9) }' || { echo "$1, not $2"; return 1; }; }
wanted=$(sed -n 2p predicted.tsv | cut -f 3)
for python in python3 /usr/bin/python3 ''; do
    [ -z "$python" ] || ! "$python" -c 'import numpy' 2>/dev/null || break
done
if [ -n "$python" ]; then
    {
        block 'numpy opens'
        echo 'users, items = (m[x].decode().split("\n") for x in ("users.txt", "items.txt"))'
        echo 'import sys; print(repr(float(W[users.index(sys.argv[1]), items.index(sys.argv[2])])))'
        echo 'assert W.shape == (40, 30) and (numpy.load("model.users.npy") == m["U"]).all() and (numpy.load("model.items.npy") == m["V"]).all()'
        echo 'assert numpy.load("model.center_mean.npy") == m["center_mean"] and (numpy.load("model.user_bias.npy") == m["user_bias"]).all()'
    } >read.py
    ok "numpy opens the model with the README's lines" bash -c 'test "$(grep -c . read.py)" = 7 && "$2" read.py "$0" "$1" >got' "$user" "$item" "$python"
    ok "and predicts as predict does" same_number "$(cat got)" "$wanted"
else
    skip "numpy opens the model with the README's lines" "no numpy here"
fi
if command -v Rscript >/dev/null; then
    {
        block 'R reads'
        echo 'a <- commandArgs(TRUE); cat(format(W[a[1], a[2]], digits = 17), "\n")'
        echo 'stopifnot(dim(W) == c(40, 30), !anyNA(W), rownames(u) == readLines("model.users.txt"), rownames(v) == readLines("model.items.txt"))'
    } >read.R
    ok "R reads the tables with the README's lines" bash -c 'test "$(grep -c . read.R)" = 5 && Rscript read.R "$0" "$1" >got 2>err' "$user" "$item"
    ok "and predicts as predict does" same_number "$(cat got)" "$wanted"
else
    skip "R reads the tables with the README's lines" "no R here"
fi

# ---- refused ----
usage() { local status=0; gcg export "${@:2}" || status=$?; test $status = 2 && says "$1"; }
ok "a form must be named" usage 'no --to' model -o x
ok "and be a known one" usage "wants one of npy, tsv, mtx" model --to hdf5 -o x
ok "a prefix must be given" usage 'no -o PREFIX: the files are PREFIX.users.tsv' model --to tsv
ok "which is not standard output" usage 'several files' model --to tsv -o -
ok "nor a folder" usage 'a folder' model --to tsv -o "$T/"
ok "one model" usage 'one name, MODEL, not 2' model plain --to tsv -o x
ok "a model on standard input is refused" usage 'standard input' - --to tsv -o x
cp model model2.users.tsv
ok "a file that would replace the model is refused" usage 'is the model itself' model2.users.tsv --to tsv -o model2
ok "and it is still there" cmp model model2.users.tsv
ln model model3.items.npy
ok "under another name, too" usage 'model3.items.npy is the model itself' model --to npy -o model3
head -c 5000 model >short
exits 4 "a model that is cut short is refused" gcg export short --to npy -o c
exits 4 "and a file that is none" gcg export r.tsv --to npy -o c
exits 5 "and one that is not there" gcg export nowhere --to npy -o c
ok "and nothing was written" bash -c '! ls c.* .c.* 2>/dev/null | grep .'
exits 5 "a folder that is not there is a message" gcg export model --to npy -o nowhere/x
ok "that names the file" says 'nowhere/x.users.npy: error: '

# ---- all or nothing ----
mkdir d && cp model.users.tsv d/x.users.tsv && cp model.items.tsv d/x.items.tsv && mkdir d/x.center_mean.tsv
exits 5 "where the last file cannot be written the export fails" gcg export plain --to tsv -o d/x
ok "the files that were there stay" bash -c 'cmp model.users.tsv d/x.users.tsv && cmp model.items.tsv d/x.items.tsv'
ok "and no temporary file" test -z "$(find d -name '.*.tmp')"
full() { rm -rf d; mkdir d; (ulimit -f 1 && gcg export model --to tsv -o d/x); }
exits 5 "a file that cannot grow any more is an error" full
ok "and leaves nothing" test -z "$(ls -A d)"

# ---- odd models ----
"$GCG" fit --quiet --log none --lambda 1e6 --center global --format tsv -o zero r.tsv 2>/dev/null
for form in npy tsv mtx; do ok "a zero model is exported to $form" gcg export zero --to $form -o zero; done
ok "it has no factors" bash -c 'head -n 1 zero.users.tsv | grep -qx "user	bias" && sed -n 2p zero.users.mtx | grep -qx "40 0" && head -c 128 zero.users.npy | grep -aq "(40, 0)"'
gcg export model --to tsv -o again
ok "equal models give equal files" bash -c 'for f in users items center_mean; do cmp model.$f.tsv again.$f.tsv || exit 1; done'
done_testing
