#!/bin/bash
# The layers of the source: who includes whom, and who may speak.
. "$(dirname "$0")/lib.sh"

ok "every file includes only its layer and those below, and foreign libraries have one door" "$ROOT/tests/check-layers.sh"

mkdir -p "$T/src/base" "$T/src/store" "$T/src/maths" "$T/cmd"
breach() { # FILE LINE: a tree with only this line must be refused
    rm -f "$T"/src/*/*.[ch]
    echo "$2" >"$T/$1"
    ! "$ROOT/tests/check-layers.sh" "$T"
}
ok "a lower layer that includes a higher one is found" breach src/base/x.c '#include "store/csr.h"'
ok "a library header outside its door is found" breach src/maths/x.c '#include <omp.h>'
ok "zlib outside io is found" breach src/store/x.c '#include <zlib.h>'
ok "printing from the library is found" breach src/store/x.c 'void f(void) { printf("x"); }'
ok "reading the environment from the library is found" breach src/base/x.c 'char *f(void) { return getenv("X"); }'
ok "a comment that speaks of printf is none" bash -c "
    rm -f '$T'/src/*/*.[ch]; echo '/* printf(3) is not called */' >'$T/src/base/x.c'; '$ROOT/tests/check-layers.sh' '$T'"
done_testing
