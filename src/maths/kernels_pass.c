/* Inner kernels over the ratings: one source for float and double and for each instruction set.
 *
 * The Makefile compiles this file once per combination: GCG_REAL_FLOAT or GCG_REAL_DOUBLE names the
 * precision, GCG_ISA (base, avx2, avx512) the table that is defined. Vectors are the compiler's generic ones,
 * as wide as the instruction set has them. Formulas stand in kernels_pass.h; SOLVER.md sec. 7 measured the
 * tilings.
 *
 * Dot products: the accumulators of LANES ratings are summed by one transposing reduction (LANES - 1
 * additions for LANES sums) instead of LANES separate ones. */
#include "maths/kernels_pass.h"

#include <math.h>
#include <string.h>

#include "maths/vector.h"

/* doubles, and as many reals as there are doubles in a vector */
typedef double vec_d __attribute__((vector_size(VECTOR_BYTES)));
typedef real vec_n __attribute__((vector_size(VECTOR_BYTES / 8 * sizeof(real))));

enum {
    LANES = VECTOR_LANES,
    LANES_D = VECTOR_BYTES / sizeof(double),
    PANEL = GCG_PANEL_BYTES / sizeof(real),
    PANEL_VECTORS = GCG_PANEL_BYTES / VECTOR_BYTES
};

/* Where row i begins in the arrays of rows' ratings. */
static inline int64_t row_start(const gcg_pass_rows *rows, int32_t i)
{
    return rows->row_ptr[i - rows->row0] - rows->first;
}

static inline void store(real *p, vec v)
{
    memcpy(p, &v, sizeof v);
}

static inline vec_d load_d(const real *p) /* LANES_D reals as doubles */
{
    vec_n v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, vec_d);
}

static inline double sum_d(vec_d v)
{
    double s = 0;
    for (int i = 0; i < LANES_D; i++) s += v[i];
    return s;
}

/* Loops over a group of ratings are unrolled where the count is a constant: the accumulators then stay in
 * registers. */
#if defined(__clang__) /* does so by itself */
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* One stage of the reduction: segments of 2h lanes of x and y folded to h lanes, x's and y's segments in
 * turn. */
#if VECTOR_LANES == 16
#define LOW8 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define HIGH8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#define LOW4 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define HIGH4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define LOW2 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HIGH2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define LOW1 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define HIGH1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#elif VECTOR_LANES == 8
#define LOW4 0, 1, 2, 3, 8, 9, 10, 11
#define HIGH4 4, 5, 6, 7, 12, 13, 14, 15
#define LOW2 0, 1, 8, 9, 4, 5, 12, 13
#define HIGH2 2, 3, 10, 11, 6, 7, 14, 15
#define LOW1 0, 8, 2, 10, 4, 12, 6, 14
#define HIGH1 1, 9, 3, 11, 5, 13, 7, 15
#elif VECTOR_LANES == 4
#define LOW2 0, 1, 4, 5
#define HIGH2 2, 3, 6, 7
#define LOW1 0, 4, 2, 6
#define HIGH1 1, 5, 3, 7
#else
#define LOW1 0, 2
#define HIGH1 1, 3
#endif
#define STAGE(h, low, high)                                                                                  \
    UNROLL for (int g = 0; g < h; g++) a[g] =                                                                \
        __builtin_shufflevector(a[g], a[g + h], low) + __builtin_shufflevector(a[g], a[g + h], high)

/* Lane g of the result = sum of the lanes of a[g], g < LANES. a is overwritten. */
static inline vec reduce(vec *a)
{
#if VECTOR_LANES >= 16
    STAGE(8, LOW8, HIGH8);
#endif
#if VECTOR_LANES >= 8
    STAGE(4, LOW4, HIGH4);
#endif
#if VECTOR_LANES >= 4
    STAGE(2, LOW2, HIGH2);
#endif
    STAGE(1, LOW1, HIGH1);
    return a[0];
}

/* Sets or adds count <= LANES sums at out. */
static inline void put(real *out, vec sums, int count, int first)
{
    if (count == LANES) {
        store(out, first ? sums : load(out) + sums);
        return;
    }
    for (int g = 0; g < count; g++) out[g] = first ? sums[g] : out[g] + sums[g];
}

/* The same for count <= LANES / 2 sums; loops of constant length become vector instructions. */
static inline void put_half(real *out, const real *sums, int count, int first)
{
    enum { GROUP = LANES / 2 };
    if (count < GROUP)
        for (int g = 0; g < count; g++) out[g] = first ? sums[g] : out[g] + sums[g];
    else if (first)
        memcpy(out, sums, GROUP * sizeof *sums);
    else
        for (int g = 0; g < GROUP; g++) out[g] += sums[g];
}

/* The last count < size columns of a row, filled up with the last of them. */
static inline void last_cols(const int32_t *col, int count, int size, int32_t *last)
{
    for (int g = 0; g < size; g++) last[g] = col[g < count ? g : count - 1];
}

/* nv (vectors a panel row) and count are constants in each caller, so that u and the sums stay in registers.
 *
 * Rows are cut into groups of ratings. What is set, not added to, may be set up to `end`, where the last of
 * the rows ends: a row's last group then reaches into the rows behind, which come next and set theirs again.
 * That is worth 20 % where rows have some 16 ratings (a store in tiles): the last group of a row costs as
 * much as a whole one and no more. */
static inline __attribute__((always_inline)) void
dots_group(int nv, const int32_t *col, const vec *us, const real *v0, int64_t ldv, real *out, int first)
{
    vec a[LANES];
    UNROLL for (int g = 0; g < LANES; g++)
    {
        const real *v = v0 + col[g] * ldv;
        a[g] = us[0] * load(v);
        for (int x = 1; x < nv; x++) a[g] += us[x] * load(v + x * LANES);
    }
    put(out, reduce(a), LANES, first);
}

static inline void dots_row(int nv, int64_t p0, int64_t p1, int64_t end, const int32_t *col, const real *u,
                            const real *v, int64_t ldv, real *out, int first)
{
    vec us[PANEL_VECTORS];
    real sums[LANES];
    for (int x = 0; x < nv; x++) us[x] = load(u + x * LANES);
    int64_t p = p0, reach = first ? end : p1;
    for (; p < p1 && p + LANES <= reach; p += LANES) dots_group(nv, col + p, us, v, ldv, out + p, first);
    if (p < p1) {
        int32_t last[LANES];
        last_cols(col + p, (int)(p1 - p), LANES, last);
        dots_group(nv, last, us, v, ldv, sums, 1);
        put(out + p, load(sums), (int)(p1 - p), first);
    }
}

static void dots(const gcg_pass_rows *rows, int half, const void *u, int64_t ldu, const void *v, int64_t ldv,
                 void *out, int first)
{
    int64_t end = row_start(rows, rows->row1);
    for (int32_t i = rows->row0; i < rows->row1; i++) {
        const real *ui = (const real *)u + i * ldu;
        int64_t p0 = row_start(rows, i), p1 = row_start(rows, i + 1);
        if (half)
            dots_row(PANEL_VECTORS / 2, p0, p1, end, rows->col, ui, v, ldv, out, first);
        else
            dots_row(PANEL_VECTORS, p0, p1, end, rows->col, ui, v, ldv, out, first);
    }
}

/* b in the low half of the lanes, c in the high half: LANES / 2 ratings a reduction. */
static inline __attribute__((always_inline)) void line_group(int nv, int count, const int32_t *col,
                                                             const vec *us, const vec *dus, const real *v,
                                                             const real *dv0, int64_t ldv, real *b, real *c,
                                                             int first)
{
    enum { GROUP = LANES / 2 };
    vec a[LANES];
    real sums[LANES];
    if (count < GROUP) memset(a, 0, sizeof a);
    UNROLL for (int g = 0; g < count; g++)
    {
        int64_t at = col[g] * ldv;
        vec dv = load(dv0 + at);
        vec ab = us[0] * dv + dus[0] * load(v + at), ac = dus[0] * dv;
        for (int x = 1; x < nv; x++) {
            dv = load(dv0 + at + x * LANES);
            ab += us[x] * dv + dus[x] * load(v + at + x * LANES);
            ac += dus[x] * dv;
        }
        a[g] = ab;
        a[g + GROUP] = ac;
    }
    store(sums, reduce(a));
    put_half(b, sums, count, first);
    put_half(c, sums + GROUP, count, first);
}

static inline void line_row(int nv, int64_t p0, int64_t p1, int64_t end, const int32_t *col, const real *u,
                            const real *du, const real *v, const real *dv, int64_t ldv, real *b, real *c,
                            int first)
{
    enum { GROUP = LANES / 2 };
    vec us[PANEL_VECTORS], dus[PANEL_VECTORS];
    for (int x = 0; x < nv; x++) {
        us[x] = load(u + x * LANES);
        dus[x] = load(du + x * LANES);
    }
    int64_t p = p0, reach = first ? end : p1;
    for (; p < p1 && p + GROUP <= reach; p += GROUP)
        line_group(nv, GROUP, col + p, us, dus, v, dv, ldv, b + p, c + p, first);
    if (p < p1) {
        int32_t last[GROUP];
        real bs[GROUP], cs[GROUP];
        int size = p1 - p > GROUP / 2 ? GROUP : GROUP / 2;
        last_cols(col + p, (int)(p1 - p), size, last);
        if (size == GROUP)
            line_group(nv, GROUP, last, us, dus, v, dv, ldv, bs, cs, 1);
        else
            line_group(nv, GROUP / 2, last, us, dus, v, dv, ldv, bs, cs, 1);
        put_half(b + p, bs, (int)(p1 - p), first);
        put_half(c + p, cs, (int)(p1 - p), first);
    }
}

static void line(const gcg_pass_rows *rows, int half, const void *u, const void *du, int64_t ldu,
                 const void *v, const void *dv, int64_t ldv, void *b, void *c, int first)
{
    int64_t end = row_start(rows, rows->row1);
    for (int32_t i = rows->row0; i < rows->row1; i++) {
        const real *ui = (const real *)u + i * ldu, *dui = (const real *)du + i * ldu;
        int64_t p0 = row_start(rows, i), p1 = row_start(rows, i + 1);
        if (half)
            line_row(PANEL_VECTORS / 2, p0, p1, end, rows->col, ui, dui, v, dv, ldv, b, c, first);
        else
            line_row(PANEL_VECTORS, p0, p1, end, rows->col, ui, dui, v, dv, ldv, b, c, first);
    }
}

/* A row of a factor is on its way to the cache before it is needed: worth 30 % where rows are added to and
 * the factor lies in memory (1.7 million x 98,000), 5 % where it fits in L2, and nothing in the other passes
 * but residual().
 */
enum { AHEAD = 16 /* ratings */ };
static inline void fetch(int nv, const real *v)
{
    for (int x = 0; x < nv; x++) __builtin_prefetch(v + x * LANES);
}

/* u_i and gu_i stay in registers, gv_j is added to in place. squared: u_i is; ones: r_p = 1. */
static inline void spread_row(int nv, int squared, int ones, int add, int64_t p0, int64_t p1, int64_t left,
                              const int32_t *col, const real *r, const real *u, const real *v, int64_t ldv,
                              real *gu, real *gv)
{
    vec us[PANEL_VECTORS], gus[PANEL_VECTORS];
    for (int x = 0; x < nv; x++) {
        us[x] = load(u + x * LANES);
        if (squared) us[x] *= us[x];
        gus[x] = add ? load(gu + x * LANES) : (vec){0};
    }
    for (int64_t p = p0; p < p1; p++) {
        const real *vj = v + col[p] * ldv;
        int64_t ahead = col[p + AHEAD < left ? p + AHEAD : p];
        fetch(nv, v + ahead * ldv);
        fetch(nv, gv + ahead * nv * LANES);
        real *gvj = gv + (int64_t)col[p] * nv * LANES, rp = ones ? 1 : r[p];
        for (int x = 0; x < nv; x++) {
            gus[x] += rp * load(vj + x * LANES);
            store(gvj + x * LANES, load(gvj + x * LANES) + rp * us[x]);
        }
    }
    for (int x = 0; x < nv; x++) store(gu + x * LANES, gus[x]);
}

static void spread(const gcg_pass_rows *rows, int half, const void *r, const void *u, int64_t ldu,
                   const void *v, int64_t ldv, void *gu, int64_t ldgu, void *gv)
{
    for (int32_t i = rows->row0; i < rows->row1; i++) {
        const real *ui = (const real *)u + i * ldu;
        real *gui = (real *)gu + i * ldgu;
        int64_t p0 = row_start(rows, i), p1 = row_start(rows, i + 1);
        if (half)
            spread_row(PANEL_VECTORS / 2, 0, 0, rows->add, p0, p1, rows->left, rows->col, r, ui, v, ldv, gui,
                       gv);
        else
            spread_row(PANEL_VECTORS, 0, 0, rows->add, p0, p1, rows->left, rows->col, r, ui, v, ldv, gui, gv);
    }
}

static void squares(const gcg_pass_rows *rows, int half, const void *r, const void *u, int64_t ldu,
                    const void *v, int64_t ldv, void *gu, int64_t ldgu, void *gv)
{
    for (int32_t i = rows->row0; i < rows->row1; i++) {
        const real *ui = (const real *)u + i * ldu;
        real *gui = (real *)gu + i * ldgu;
        int64_t p0 = row_start(rows, i), p1 = row_start(rows, i + 1);
        if (half && r)
            spread_row(PANEL_VECTORS / 2, 1, 0, rows->add, p0, p1, rows->left, rows->col, r, ui, v, ldv, gui,
                       gv);
        else if (half)
            spread_row(PANEL_VECTORS / 2, 1, 1, rows->add, p0, p1, rows->left, rows->col, NULL, ui, v, ldv,
                       gui, gv);
        else if (r)
            spread_row(PANEL_VECTORS, 1, 0, rows->add, p0, p1, rows->left, rows->col, r, ui, v, ldv, gui, gv);
        else
            spread_row(PANEL_VECTORS, 1, 1, rows->add, p0, p1, rows->left, rows->col, NULL, ui, v, ldv, gui,
                       gv);
    }
}

static inline void gather_row(int nv, int add, int64_t p0, int64_t p1, const int32_t *col, const real *r,
                              const real *v, int64_t ldv, real *gu)
{
    vec even[PANEL_VECTORS], odd[PANEL_VECTORS]; /* two chains hide the latency of the additions */
    memset(even, 0, sizeof even);
    memset(odd, 0, sizeof odd);
    int64_t p = p0;
    for (; p + 1 < p1; p += 2) {
        const real *vj = v + col[p] * ldv, *w = v + col[p + 1] * ldv;
        for (int x = 0; x < nv; x++) {
            even[x] += r[p] * load(vj + x * LANES);
            odd[x] += r[p + 1] * load(w + x * LANES);
        }
    }
    if (p < p1)
        for (int x = 0; x < nv; x++) even[x] += r[p] * load(v + col[p] * ldv + x * LANES);
    for (int x = 0; x < nv; x++) {
        vec sum = even[x] + odd[x];
        store(gu + x * LANES, add ? load(gu + x * LANES) + sum : sum);
    }
}

static void gather(const gcg_pass_rows *rows, int half, const void *r, const void *v, int64_t ldv, void *gu,
                   int64_t ldgu)
{
    for (int32_t i = rows->row0; i < rows->row1; i++) {
        real *gui = (real *)gu + i * ldgu;
        int64_t p0 = row_start(rows, i), p1 = row_start(rows, i + 1);
        if (half)
            gather_row(PANEL_VECTORS / 2, rows->add, p0, p1, rows->col, r, v, ldv, gui);
        else
            gather_row(PANEL_VECTORS, rows->add, p0, p1, rows->col, r, v, ldv, gui);
    }
}

static inline void scatter_row(int nv, int64_t p0, int64_t p1, const int32_t *col, const real *r,
                               const real *u, real *gv)
{
    vec us[PANEL_VECTORS];
    for (int x = 0; x < nv; x++) us[x] = load(u + x * LANES);
    for (int64_t p = p0; p < p1; p++) {
        real *gvj = gv + (int64_t)col[p] * nv * LANES;
        for (int x = 0; x < nv; x++) store(gvj + x * LANES, load(gvj + x * LANES) + r[p] * us[x]);
    }
}

static void scatter(const gcg_pass_rows *rows, int half, const void *r, const void *u, int64_t ldu, void *gv)
{
    for (int32_t i = rows->row0; i < rows->row1; i++) {
        const real *ui = (const real *)u + i * ldu;
        int64_t p0 = row_start(rows, i), p1 = row_start(rows, i + 1);
        if (half)
            scatter_row(PANEL_VECTORS / 2, p0, p1, rows->col, r, ui, gv);
        else
            scatter_row(PANEL_VECTORS, p0, p1, rows->col, r, ui, gv);
    }
}

/* sum of x_i y_i in double */
static inline double dot_inline(int64_t n, const real *x, const real *y)
{
    vec_d s0 = {0}, s1 = {0};
    int64_t i = 0;
    for (; i + 2 * LANES_D <= n; i += 2 * LANES_D) {
        s0 += load_d(x + i) * load_d(y + i);
        s1 += load_d(x + i + LANES_D) * load_d(y + i + LANES_D);
    }
    double s = sum_d(s0 + s1);
    for (; i < n; i++) s += (double)x[i] * (double)y[i];
    return s;
}

static double dot(int64_t n, const void *x, const void *y)
{
    return dot_inline(n, x, y);
}

enum { CACHE_LINE = 64 / sizeof(real) };

static double residual(const gcg_pass_rows *rows, int32_t k, const void *u, int64_t ldu, const void *v,
                       int64_t ldv, const double *row, const double *col, const float *w, const float *xf,
                       const double *xd, void *r)
{
    double sum = 0;
    for (int32_t i = rows->row0; i < rows->row1; i++) {
        const real *ui = (const real *)u + i * ldu;
        for (int64_t p = row_start(rows, i); p < row_start(rows, i + 1); p++) {
            double x = xf ? (double)xf[p] : xd[p];
            const real *ahead = (const real *)v + rows->col[p + AHEAD < rows->left ? p + AHEAD : p] * ldv;
            for (int32_t q = 0; q < k; q += CACHE_LINE) __builtin_prefetch(ahead + q);
            double dot = dot_inline(k, ui, (const real *)v + rows->col[p] * ldv);
            if (row) dot *= row[i] * col[rows->col[p]];
            if (w) dot *= sqrt((double)w[p]);
            double d = x - dot;
            if (r) ((real *)r)[p] = (real)d;
            sum += d * d;
        }
    }
    return sum;
}

static void scale_ratings(const gcg_pass_rows *rows, const void *row, const void *col, const void *r,
                          void *out)
{
    const real *b = col;
    for (int32_t i = rows->row0; i < rows->row1; i++) {
        real a = ((const real *)row)[i];
        int64_t p0 = row_start(rows, i), p1 = row_start(rows, i + 1);
        if (r)
            for (int64_t p = p0; p < p1; p++) ((real *)out)[p] = a * b[rows->col[p]] * ((const real *)r)[p];
        else
            for (int64_t p = p0; p < p1; p++) {
                real s = a * b[rows->col[p]];
                ((real *)out)[p] = s * s;
            }
    }
}

static inline real root(float w)
{
#if defined(GCG_REAL_FLOAT)
    return sqrtf(w);
#else
    return sqrt((double)w);
#endif
}

static void weigh_ratings(int64_t n, const float *w, const float *xf, const double *xd, void *out)
{
    real *o = out;
    if (xf)
        for (int64_t p = 0; p < n; p++) o[p] = root(w[p]) * (real)xf[p];
    else
        for (int64_t p = 0; p < n; p++) o[p] = root(w[p]) * (real)xd[p];
}

static void weigh(int64_t n, const float *w, const void *r, int first, void *out)
{
    real *o = out;
    for (int64_t p = 0; p < n && r; p++) o[p] = root(w[p]) * ((const real *)r)[p];
    for (int64_t p = 0; p < n && !r; p++) o[p] = first ? (real)w[p] : (real)w[p] * o[p];
}

static void row_product(const gcg_pass_rows *rows, const void *r, const double *x, double *y)
{
    const real *rr = r;
    for (int32_t i = rows->row0; i < rows->row1; i++) {
        double s = 0, t = 0; /* two chains hide the latency */
        int64_t p = row_start(rows, i), p1 = row_start(rows, i + 1);
        for (; p + 1 < p1; p += 2) {
            s += (double)rr[p] * x[rows->col[p]];
            t += (double)rr[p + 1] * x[rows->col[p + 1]];
        }
        if (p < p1) s += (double)rr[p] * x[rows->col[p]];
        y[i] = rows->add ? y[i] + (s + t) : s + t;
    }
}

static void col_product(const gcg_pass_rows *rows, const void *r, const double *x, double *y)
{
    for (int32_t i = rows->row0; i < rows->row1; i++)
        for (int64_t p = row_start(rows, i); p < row_start(rows, i + 1); p++)
            y[rows->col[p]] += (double)((const real *)r)[p] * x[i];
}

static void line_sums(int64_t n, const void *r, const void *b, const void *c, double s[4])
{
    const real *rr = r, *bb = b, *cc = c;
    vec_d sbb = {0}, src = {0}, sbc = {0}, scc = {0};
    int64_t p = 0;
    for (; p + LANES_D <= n; p += LANES_D) {
        vec_d vr = load_d(rr + p), vb = load_d(bb + p), vc = load_d(cc + p);
        sbb += vb * vb;
        src += vr * vc;
        sbc += vb * vc;
        scc += vc * vc;
    }
    s[0] = sum_d(sbb);
    s[1] = sum_d(src);
    s[2] = sum_d(sbc);
    s[3] = sum_d(scc);
    for (; p < n; p++) {
        double vr = (double)rr[p], vb = (double)bb[p], vc = (double)cc[p];
        s[0] += vb * vb;
        s[1] += vr * vc;
        s[2] += vb * vc;
        s[3] += vc * vc;
    }
}

static void line_move(int64_t n, double a, void *r, const void *b, const void *c)
{
    real a1 = (real)a, a2 = (real)(a * a);
    for (int64_t p = 0; p < n; p++) ((real *)r)[p] -= a1 * ((const real *)b)[p] + a2 * ((const real *)c)[p];
}

static void from_ratings(int64_t n, void *r, const float *xf, const double *xd)
{
    real *rr = r;
    if (xf)
        for (int64_t p = 0; p < n; p++) rr[p] = (real)xf[p] - rr[p];
    else
        for (int64_t p = 0; p < n; p++) rr[p] = (real)(xd[p] - (double)rr[p]);
}

static void pack(int32_t q0, int32_t q1, const int32_t *column, int width, int squared, const void *v,
                 int64_t ldv, void *vpack, int64_t ldp)
{
    for (int32_t q = q0; q < q1; q++) {
        const real *from = (const real *)v + (column ? column[q] : q) * ldv;
        real *to = (real *)vpack + q * ldp;
        if (squared)
            for (int e = 0; e < width; e++) to[e] = from[e] * from[e];
        else
            memcpy(to, from, (size_t)width * sizeof(real));
    }
}

static void collect(int32_t q0, int32_t q1, const int32_t *column, int width, int packs_count,
                    const void *packs, int64_t distance, double a, const void *v, int64_t ldv, double s,
                    void *gv, int64_t ldgv)
{
    real ar = (real)a, sr = (real)s;
    for (int32_t q = q0; q < q1; q++) {
        int64_t j = column ? column[q] : q;
        const real *pack0 = (const real *)packs + (int64_t)q * width,
                   *vj = v ? (const real *)v + j * ldv : NULL;
        real *gvj = (real *)gv + j * ldgv, sum[PANEL] = {0};
        for (int b = 0; b < packs_count; b++)
            for (int e = 0; e < width; e++) sum[e] += pack0[b * distance + e];
        if (v)
            for (int e = 0; e < width; e++) gvj[e] = ar * vj[e] + sr * sum[e];
        else
            for (int e = 0; e < width; e++) gvj[e] = sr * sum[e];
    }
}

static void combine(int32_t i0, int32_t i1, int width, double a, const void *x, int64_t ldx, double s,
                    void *y, int64_t ldy)
{
    real ar = (real)a, sr = (real)s;
    for (int32_t i = i0; i < i1; i++) {
        const real *xi = (const real *)x + i * ldx;
        real *yi = (real *)y + i * ldy;
        for (int q = 0; q < width; q++) yi[q] = ar * xi[q] + sr * yi[q];
    }
}

/* x . y over n <= CHAINS * TERMS * LANES entries: short sums in the precision itself, the rest in double. */
enum { CHAINS = 4, TERMS = 8 };
static inline double short_dot(int64_t n, const real *x, const real *y)
{
    vec a[CHAINS];
    memset(a, 0, sizeof a);
    int64_t i = 0;
    for (; i + CHAINS * LANES <= n; i += CHAINS * LANES)
        for (int c = 0; c < CHAINS; c++) a[c] += load(x + i + c * LANES) * load(y + i + c * LANES);
    vec_d s = {0};
    for (int c = 0; c < CHAINS; c++)
        for (int h = 0; h < LANES; h += LANES_D) s += load_d((const real *)&a[c] + h);
    double sum = sum_d(s);
    for (; i < n; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

static void dots_many(int64_t n, const void *x, int count, const void *const *y, double *sum)
{
    enum { SHORT = CHAINS * TERMS * LANES };
    const real *xx = x;
    for (int64_t e = 0; e < n; e += SHORT) /* x's stretch stays in L1 */
        for (int i = 0; i < count; i++)
            sum[i] += short_dot(n - e < SHORT ? n - e : SHORT, xx + e, (const real *)y[i] + e);
}

static void combine_many(int64_t n, int count, const double *a, const void *const *x, int add, void *out)
{
    enum { WIDE = 4 };
    real *o = out;
    int64_t e = 0;
    for (; e + WIDE * LANES <= n; e += WIDE * LANES) {
        vec v[WIDE];
        for (int w = 0; w < WIDE; w++) v[w] = add ? load(o + e + w * LANES) : (vec){0};
        for (int i = 0; i < count; i++)
            for (int w = 0; w < WIDE; w++) v[w] += (real)a[i] * load((const real *)x[i] + e + w * LANES);
        for (int w = 0; w < WIDE; w++) store(o + e + w * LANES, v[w]);
    }
    for (; e < n; e++) {
        real v = add ? o[e] : 0;
        for (int i = 0; i < count; i++) v += (real)a[i] * ((const real *)x[i])[e];
        o[e] = v;
    }
}

static void axpy(int64_t n, double a, const void *x, void *y)
{
    real ar = (real)a;
    for (int64_t i = 0; i < n; i++) ((real *)y)[i] += ar * ((const real *)x)[i];
}

static void scale(int64_t n, double a, const void *x, void *y)
{
    real ar = (real)a;
    for (int64_t i = 0; i < n; i++) ((real *)y)[i] = ar * ((const real *)x)[i];
}

static void multiply(int64_t n, const void *x, const void *y, void *out)
{
    for (int64_t i = 0; i < n; i++) ((real *)out)[i] = ((const real *)x)[i] * ((const real *)y)[i];
}

static void subtract_vectors(int64_t n, const void *x, const void *y, void *out)
{
    for (int64_t i = 0; i < n; i++) ((real *)out)[i] = ((const real *)x)[i] - ((const real *)y)[i];
}

static void to_double(int64_t n, const void *x, double *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (double)((const real *)x)[i];
}

static void from_double(int64_t n, const double *x, void *out)
{
    for (int64_t i = 0; i < n; i++) ((real *)out)[i] = (real)x[i];
}

#define NAME3(precision, isa) gcg_pass_##precision##_##isa
#define NAME2(precision, isa) NAME3(precision, isa)
const gcg_pass_table NAME2(PRECISION, GCG_ISA) = {
    .panel = PANEL,
    .dots = dots,
    .line = line,
    .spread = spread,
    .squares = squares,
    .gather = gather,
    .scatter = scatter,
    .residual = residual,
    .scale_ratings = scale_ratings,
    .weigh = weigh,
    .weigh_ratings = weigh_ratings,
    .row_product = row_product,
    .col_product = col_product,
    .line_sums = line_sums,
    .line_move = line_move,
    .from_ratings = from_ratings,
    .pack = pack,
    .collect = collect,
    .combine = combine,
    .vector = {.dot = dot,
               .dots = dots_many,
               .combine = combine_many,
               .axpy = axpy,
               .scale = scale,
               .multiply = multiply,
               .subtract_vectors = subtract_vectors,
               .to_double = to_double,
               .from_double = from_double},
};
