/* The loop of normal_rows.h. The Makefile compiles this file once per precision (GCG_REAL_FLOAT or
 * GCG_REAL_DOUBLE) and instruction set (GCG_ISA), like kernels_pass.c.
 *
 * GROUP ratings at a time: their dot products with p go on side by side, and their rows are still in L1 when
 * they are added to out. */
#include "maths/normal_rows_loop.h"

#include <string.h>

#include "maths/vector.h"

typedef real part __attribute__((vector_size(16)));

enum { LANES = VECTOR_LANES, PARTS = VECTOR_BYTES / 16, GROUP = 4 };

/* Sum of the lanes. */
static inline real sum(vec v)
{
    part p[PARTS];
    memcpy(p, &v, sizeof v);
    for (int half = PARTS / 2; half > 0; half /= 2)
        for (int e = 0; e < half; e++) p[e] += p[e + half];
#if defined(GCG_REAL_FLOAT)
    return (p[0][0] + p[0][2]) + (p[0][1] + p[0][3]);
#else
    return p[0][0] + p[0][1];
#endif
}

static inline void dots(const real *const g[GROUP], int32_t width, const real *p, real out[GROUP])
{
    vec a[GROUP];
    memset(a, 0, sizeof a);
    for (int32_t q = 0; q < width; q += LANES) {
        vec b = load(p + q);
        for (int e = 0; e < GROUP; e++) a[e] += load(g[e] + q) * b;
    }
    for (int e = 0; e < GROUP; e++) out[e] = sum(a[e]);
}

static inline void add(const real *const g[GROUP], int32_t width, const real t[GROUP], real *out)
{
    for (int32_t q = 0; q < width; q += LANES) {
        vec o = load(out + q);
        for (int e = 0; e < GROUP; e++) o += t[e] * load(g[e] + q);
        memcpy(out + q, &o, sizeof o);
    }
}

#define JOIN(real, isa) gcg_normal_rows_##real##_##isa
#define NAME(real, isa) JOIN(real, isa)

double NAME(PRECISION, GCG_ISA)(int64_t n, int32_t width, const void *f, int64_t ld, const int32_t *col,
                                const float *xf, const double *xd, const void *p, void *out)
{
    double squares = 0;
    for (int64_t i = 0; i < n; i += GROUP) {
        int count = n - i < GROUP ? (int)(n - i) : GROUP;
        const real *g[GROUP];
        real t[GROUP];
        for (int e = 0; e < GROUP; e++) { /* behind the last one: its row again, with t = 0 */
            int64_t at = e < count ? i + e : n - 1;
            g[e] = (const real *)f + (col ? col[at] : at) * ld;
        }
        dots(g, width, p, t);
        for (int e = 0; e < GROUP; e++) {
            if (e >= count)
                t[e] = 0;
            else if (xf)
                t[e] = (real)xf[i + e] - t[e];
            else if (xd)
                t[e] = (real)(xd[i + e] - (double)t[e]);
            squares += (double)t[e] * (double)t[e];
        }
        add(g, width, t, out);
    }
    return squares;
}
