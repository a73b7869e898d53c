# shellcheck shell=bash
# Sourced by the scripts that time whole fits: the problems, and one fit.

# The table of targets: name, data, lambda, centre, and the targets at gap 1e-3 and 1e-5 as multiples of the calibration
# loop, at two threads.
PROBLEMS='ml-100k u1|ml-100k|10|none|0.3|0.6
ml-100k u1|ml-100k|5|none|0.5|1.0
ML-1M|ml-1m|50|none|0.4|0.8
ML-1M|ml-1m|20|none|3.0|7
ML-1M|ml-1m|15|none|7|20
ML-1M centred|ml-1m|22|both|4|10'

: >"$T/notes"

# Sets TRAIN, TEST, ORACLE and NAME for a data set (ml-100k, ml-1m) and the name that it has in the table. Where the data is
# missing, or SHAPE is set, they are synthetic ratings of its shape, and ORACLE is empty; $T/notes says so.
data() {
    local sizes=()
    NAME=$2
    case $1 in
    ml-100k) TRAIN=$SHARED/data/ml-100k/u1.base TEST=$SHARED/data/ml-100k/u1.test ORACLE=ml-100k-u1 ;;
    ml-1m) TRAIN=$SHARED/data/ml-1m/train.tsv.gz TEST=$SHARED/data/ml-1m/test.tsv.gz ORACLE=ml-1m-split ;;
    esac
    [ -n "${SHAPE-}" ] || [ ! -r "$TRAIN" ] || [ ! -r "$TEST" ] || return 0
    [ -n "${SHAPE-}" ] || [ -e "$T/$1.csv" ] || echo "# $2: ../shared/data/$1 is missing: synthetic ratings of its shape instead" >>"$T/notes"
    TRAIN=$T/$1.csv TEST=$T/$1.test.csv ORACLE='' NAME="synth $1"
    case $1 in
    ml-100k) sizes=(--ratings 80000 --test-ratings 20000) ;;
    ml-1m) sizes=(--ratings 750157 --test-ratings 250052) ;;
    esac
    [ -e "$TRAIN" ] || "$GCG" synth --quiet --shape "$1" "${sizes[@]}" --test "$TEST" -o "$TRAIN" || exit
}

# The objective at the optimum (from above) of a problem of the oracles; nothing when it is not there.
optimum() { # ORACLE LAMBDA CENTER
    local centre=$3 file=$SHARED/oracles/matrix-completion.tsv
    [ -n "$1" ] && [ -r "$file" ] || return 0
    case $3 in
    global) centre=mean ;;
    both) centre=mean+biases ;;
    esac
    awk -F '\t' -v problem="$1" -v centre="$centre" -v lambda="$2" \
        '$1 == problem && $2 == centre && $3 == lambda { print $6; exit }' "$file"
}

# One fit: log and model are $T/log and $T/model. A fit that stops before its gap (status 3) is fine, too.
fit() { # OPTION...
    local status=0
    "$GCG" fit --quiet --log "$T/log" -o "$T/model" --max-time "${MAX_TIME:-300}" "$@" || status=$?
    [ $status = 0 ] || [ $status = 3 ] || exit $status
}

# The value of a line "# KEY" of the log, and of a column of its last row.
log_key() { awk -F '\t' -v key="# $1" '$1 == key { print $2; exit }' "$T/log"; }
log_last() { awk -F '\t' -v name="$1" '/^#/ { next } !n { for (i = 1; i <= NF; i++) if ($i == name) n = i; next } { v = $n } END { print v }' "$T/log"; }

# gcg to a gap of 1e-5 sets rank, of the optimum, and best, its objective where the oracles do not have it.
know() { # LAMBDA CENTER
    fit --lambda "$1" --center "$2" --gap 1e-5 --threads "$THREADS" "$TRAIN"
    rank=$(log_last rank)
    best=$(optimum "$ORACLE" "$1" "$2")
    : "${best:=$(log_last objective)}"
}

# Sets solvers, those of SOLVERS that this program has, and skipped, lines about the others.
which_solvers() {
    local solver
    solvers=() skipped=''
    for solver in ${SOLVERS:-gcg als-cg soft-impute}; do
        if "$GCG" fit --help | grep -qw -- "$solver"; then
            solvers+=("$solver")
        else
            skipped+="# fit --solver $solver: this program has no such solver, skipped"$'\n'
        fi
    done
}
