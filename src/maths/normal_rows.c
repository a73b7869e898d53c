/* Choice of the instruction set for normal_rows.h; the loop is in normal_rows_loop.c. */
#include "maths/normal_rows.h"

#include <string.h>

#include "maths/kernels.h"
#include "maths/normal_rows_loop.h"

gcg_normal_rows *gcg_normal_rows_of(gcg_dtype type)
{
    int single = type == GCG_FLOAT;
#if defined(__x86_64__)
    const char *isa = gcg_kernels_isa();
    if (strcmp(isa, "avx512") == 0)
        return single ? gcg_normal_rows_float_avx512 : gcg_normal_rows_double_avx512;
    if (strcmp(isa, "avx2") == 0) return single ? gcg_normal_rows_float_avx2 : gcg_normal_rows_double_avx2;
#endif
    return single ? gcg_normal_rows_float_base : gcg_normal_rows_double_base;
}
