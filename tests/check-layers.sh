#!/bin/bash
# Who may include and call whom: tests/check-layers.sh [TREE]. Prints each breach as FILE:LINE: why; exit 1 when there
# is one. The rules are those of src/README: a layer includes itself and the layers below it, a foreign library has one
# door, and only cmd/ speaks, exits and reads the environment.
set -u
LC_ALL=C
export LC_ALL
cd "${1:-$(dirname "$0")/..}" || exit 2

# Sets below: the layers that a file may include (io and maths stand side by side).
set_below() {
    case $1 in
    src/base/*) below="base" ;;
    src/store/*) below="base store" ;;
    src/io/*) below="base store io" ;;
    src/maths/*) below="base store maths" ;;
    src/steps/*) below="base store maths steps" ;;
    src/solvers/*) below="base store maths steps solvers" ;;
    cmd/*) below="base store io maths steps solvers cmd" ;;
    *) below= ;;
    esac
}

# Sets door: the files that may include a foreign header, as a pattern.
set_door() {
    case $1 in
    cblas.h | lapacke.h | openblas*) door='src/base/blas*' ;;
    arpack*) door='src/steps/polar*' ;;
    omp.h) door='src/base/parallel*' ;;
    zlib.h) door='src/io/*' ;;
    isa-l/*) door='src/io/inflate.c' ;;
    zip.h) door='src/io/model_io*' ;;
    *) door='*' ;;
    esac
}

breaches=0
breach() {
    echo "$1: $2"
    breaches=$((breaches + 1))
}

while IFS=: read -r file line text; do
    header=${text#*[<\"]}
    header=${header%%[>\"]*}
    case $text in
    *\"*)
        layer=${header%%/*}
        set_below "$file"
        case " $below " in
        *" $layer "*) ;;
        *) breach "$file:$line" "a file of ${file%/*} may not include \"$header\"" ;;
        esac
        ;;
    *)
        set_door "$header"
        # shellcheck disable=SC2254 # the door is a pattern
        case $file in
        $door) ;;
        *) breach "$file:$line" "only $door may include <$header>" ;;
        esac
        ;;
    esac
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include' src cmd --include='*.[ch]')

# Calls that the library does not make; comments are taken out first (each keeps its lines).
for file in $(find src -name '*.[ch]' | sort); do
    while IFS=: read -r line text; do
        breach "$file:$line" "only cmd/ may do this: $text"
    done < <(sed -e 's@//.*@@' -e 's@/\*[^*]*\*/@@g' "$file" | awk '
        /\/\*/ { inside = 1; sub(/\/\*.*/, "") ; print; next }
        inside { if (/\*\//) { inside = 0; sub(/.*\*\//, ""); print } else print ""; next }
        { print }' | grep -nE '(^|[^_[:alnum:]])((exit|_exit|_Exit|abort|quick_exit|printf|vprintf|puts|putchar|perror|getenv|secure_getenv|setenv|system)[[:space:]]*\(|stdout\>|stderr\>)')
done

[ "$breaches" = 0 ]
