/* A matrix known by its products with vectors (double), and the count of them. */
#ifndef GCG_MATHS_LINOP_H
#define GCG_MATHS_LINOP_H

#include <stdint.h>

#include "base/watch.h"

typedef struct {
    int32_t rows, cols;
    void *ctx;
    void (*times)(void *ctx, const double *x, double *y);   /* y (rows) = A x */
    void (*times_t)(void *ctx, const double *y, double *x); /* x (cols) = A'y */
    int64_t matvecs;                                        /* products so far, of either kind */
    gcg_watch *watch; /* asked between two products by those who need many; may be NULL */
} gcg_linop;

static inline void gcg_linop_times(gcg_linop *a, const double *x, double *y)
{
    a->times(a->ctx, x, y);
    a->matvecs++;
}

static inline void gcg_linop_times_t(gcg_linop *a, const double *y, double *x)
{
    a->times_t(a->ctx, y, x);
    a->matvecs++;
}

#endif
