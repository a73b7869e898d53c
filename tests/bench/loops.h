/* Loops that the benchmarks measure a machine with, and whole-row passes without any tiling to compare the
 * library's with. loops.c fills this table once per precision and instruction set, with the flags of the
 * kernels. */
#ifndef TESTS_BENCH_LOOPS_H
#define TESTS_BENCH_LOOPS_H

#include <stdint.h>

#include "maths/kernels.h"

enum { READ_CHUNK = 1024 /* bytes; what is read is a multiple */ };

/* void pointers are arrays of the table's precision. */
typedef struct {
    int vector_bytes; /* of the loops fma and read */
    /* rounds of multiply-adds in independent accumulators; returns their floating-point operations. */
    double (*fma)(int64_t rounds);
    /* Reads bytes (aligned to a cache line) from first to last, times over. */
    void (*read)(const void *buffer, int64_t bytes, int64_t times);
    /* Sum of u_i . v_j over n pairs (i, j) of whole rows of k entries. */
    double (*pairs)(int64_t n, const int32_t *i, const int32_t *j, int32_t k, const void *u, const void *v);

    /* The passes of the same names in kernels.h, rows [row0, row1), u_i . v_j one at a time. */
    void (*dots)(const gcg_csr *x, int32_t row0, int32_t row1, const gcg_factors *u, const gcg_factors *v,
                 void *out);
    void (*line)(const gcg_csr *x, int32_t row0, int32_t row1, const gcg_factors *u, const gcg_factors *v,
                 const gcg_factors *du, const gcg_factors *dv, const void *r, void *b, void *c, double s[4]);
    /* g_i = lambda f_i - sum over j of r_p h_j; p = rating[e] for entry e of x (NULL: p = e). */
    void (*gradient)(const gcg_csr *x, const int64_t *rating, int32_t row0, int32_t row1, const void *r,
                     const gcg_factors *f, const gcg_factors *h, double lambda, gcg_factors *g);
} bench_loops;

/* Of the instruction set that the library's passes use now. */
const bench_loops *bench_loops_of(gcg_dtype type);

#endif
