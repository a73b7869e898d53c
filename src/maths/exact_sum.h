/* Sums of non-negative numbers without any rounding until the end, so that they depend on neither the order
 * of the terms nor on how the terms are split among threads.
 *
 * A sum is a fixed-point number wide enough for every double (a "superaccumulator"; Kulisch 2008): 32-bit
 * digits in 64-bit words, carries delayed. Adding a term costs a few integer additions. */
#ifndef GCG_MATHS_EXACT_SUM_H
#define GCG_MATHS_EXACT_SUM_H

#include <stdint.h>

enum { GCG_EXACT_WORDS = 68 /* 2 * 1074 bits, and room for 2^64 terms */ };

typedef struct {
    uint64_t word[GCG_EXACT_WORDS]; /* word[i] counts 2^(32 i - 1074) */
    double special;                 /* infinity or NaN once such a term came, else 0 */
    int64_t pending;                /* terms since carries were taken */
} gcg_exact_sum;

/* A zeroed gcg_exact_sum is 0. */
void gcg_exact_add(gcg_exact_sum *sum, double x); /* x >= 0, or NaN */
void gcg_exact_merge(gcg_exact_sum *sum, const gcg_exact_sum *other);
/* The double nearest to the sum. */
double gcg_exact_value(const gcg_exact_sum *sum);

#endif
