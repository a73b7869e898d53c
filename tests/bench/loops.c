/* See loops.h. Compiled with -DGCG_REAL_FLOAT or -DGCG_REAL_DOUBLE and -DGCG_ISA=NAME. */
#include "tests/bench/loops.h"

#if defined(GCG_REAL_FLOAT)
typedef float real;
#define TYPE_NAME float
#else
typedef double real;
#define TYPE_NAME double
#endif
#define JOIN_(a, b, c) a##_##b##_##c
#define JOIN(a, b, c) JOIN_(a, b, c)

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
typedef real vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
enum { LANES = VECTOR_BYTES / sizeof(real), CHAINS = 12 };

/* Results go where the compiler must believe that they are used. */
static volatile real sink;

static real sum_of(vector v)
{
    real sum = 0;
    for (int l = 0; l < (int)LANES; l++) sum += v[l];
    return sum;
}

static double fma_chains(int64_t rounds)
{
    vector x, y, a[CHAINS];
    for (int l = 0; l < (int)LANES; l++) x[l] = (real)0.999, y[l] = (real)0.001;
    __asm__ volatile("" : "+m"(x), "+m"(y)); /* not constants */
    for (int i = 0; i < CHAINS; i++) a[i] = x + (real)i;
    for (int64_t t = 0; t < rounds; t++)
        for (int i = 0; i < CHAINS; i++) a[i] = a[i] * x + y;
    for (int i = 1; i < CHAINS; i++) a[0] += a[i];
    sink = sum_of(a[0]);
    return 2.0 * CHAINS * LANES * (double)rounds;
}

static void read_all(const void *buffer, int64_t bytes, int64_t times)
{
    enum { STREAMS = 8 };
    vector a[STREAMS] = {{0}};
    for (int64_t t = 0; t < times; t++) {
        const vector *from = buffer, *end = from + bytes / VECTOR_BYTES;
        for (; from < end; from += STREAMS)
            for (int i = 0; i < STREAMS; i++) a[i] += from[i];
        __asm__ volatile("" ::: "memory"); /* the next time is not the same sum again */
    }
    for (int i = 1; i < STREAMS; i++) a[0] += a[i];
    sink = sum_of(a[0]);
}

static inline real dot(int32_t k, const real *u, const real *v)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int32_t q = 0; q < k; q++) sum += u[q] * v[q];
    return sum;
}

static double pairs(int64_t n, const int32_t *i, const int32_t *j, int32_t k, const void *u, const void *v)
{
    double sum = 0;
    for (int64_t p = 0; p < n; p++)
        sum += (double)dot(k, (const real *)u + (int64_t)i[p] * k, (const real *)v + (int64_t)j[p] * k);
    return sum;
}

static inline const real *row(const gcg_factors *f, int32_t i)
{
    return (const real *)f->data + (int64_t)i * f->stride;
}

static void dots(const gcg_csr *x, int32_t row0, int32_t row1, const gcg_factors *u, const gcg_factors *v,
                 void *out)
{
    for (int32_t i = row0; i < row1; i++)
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++)
            ((real *)out)[p] = dot(u->k, row(u, i), row(v, x->col[p]));
}

static void line(const gcg_csr *x, int32_t row0, int32_t row1, const gcg_factors *u, const gcg_factors *v,
                 const gcg_factors *du, const gcg_factors *dv, const void *r, void *b_out, void *c_out,
                 double s[4])
{
    double bb = 0, rc = 0, bc = 0, cc = 0;
    for (int32_t i = row0; i < row1; i++)
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++) {
            int32_t j = x->col[p];
            real b = dot(u->k, row(u, i), row(dv, j)) + dot(u->k, row(du, i), row(v, j));
            real c = dot(u->k, row(du, i), row(dv, j));
            ((real *)b_out)[p] = b;
            ((real *)c_out)[p] = c;
            bb += (double)b * (double)b;
            rc += (double)((const real *)r)[p] * (double)c;
            bc += (double)b * (double)c;
            cc += (double)c * (double)c;
        }
    s[0] = bb, s[1] = rc, s[2] = bc, s[3] = cc;
}

static void gradient(const gcg_csr *x, const int64_t *rating, int32_t row0, int32_t row1, const void *r,
                     const gcg_factors *f, const gcg_factors *h, double lambda, gcg_factors *g)
{
    for (int32_t i = row0; i < row1; i++) {
        real *restrict to = (real *)g->data + (int64_t)i * g->stride;
        const real *from = row(f, i);
        for (int32_t q = 0; q < f->k; q++) to[q] = (real)lambda * from[q];
        for (int64_t e = x->row_ptr[i]; e < x->row_ptr[i + 1]; e++) {
            real value = ((const real *)r)[rating ? rating[e] : e];
            const real *restrict other = row(h, x->col[e]);
            for (int32_t q = 0; q < f->k; q++) to[q] -= value * other[q];
        }
    }
}

extern const bench_loops JOIN(bench_loops, TYPE_NAME, GCG_ISA);
const bench_loops JOIN(bench_loops, TYPE_NAME, GCG_ISA) = {VECTOR_BYTES, fma_chains, read_all, pairs,
                                                           dots,         line,       gradient};
