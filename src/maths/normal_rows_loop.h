/* The loop of normal_rows.h by precision and instruction set; normal_rows.c is the only user. */
#ifndef GCG_MATHS_NORMAL_ROWS_LOOP_H
#define GCG_MATHS_NORMAL_ROWS_LOOP_H

#include "maths/normal_rows.h"

gcg_normal_rows gcg_normal_rows_float_base, gcg_normal_rows_double_base;
#if defined(__x86_64__)
gcg_normal_rows gcg_normal_rows_float_avx2, gcg_normal_rows_double_avx2;
gcg_normal_rows gcg_normal_rows_float_avx512, gcg_normal_rows_double_avx512;
#endif

#endif
