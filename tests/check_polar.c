/* steps/polar: singular values and pairs against dense decompositions; the probabilistic bound; the block. */
#include "tests/naive.h"

#include "base/blas.h"
#include "base/parallel.h"
#include "maths/tall.h"
#include "steps/polar.h"

/* ---- a dense matrix as an operator ---- */

typedef struct {
    int m, n;
    const double *a;
    int64_t products;
} dense;

static void times(void *ctx, const double *x, double *y)
{
    dense *d = ctx;
    d->products++;
    for (int i = 0; i < d->m; i++) {
        y[i] = 0;
        for (int j = 0; j < d->n; j++) y[i] += d->a[i * d->n + j] * x[j];
    }
}

static void times_t(void *ctx, const double *y, double *x)
{
    dense *d = ctx;
    d->products++;
    memset(x, 0, (size_t)d->n * sizeof *x);
    for (int i = 0; i < d->m; i++)
        for (int j = 0; j < d->n; j++) x[j] += d->a[i * d->n + j] * y[i];
}

static gcg_linop operator_of(dense *d)
{
    return (gcg_linop){d->m, d->n, d, times, times_t, 0, NULL};
}

/* sigma, and A v = sigma u, A'u = sigma v, unit vectors, the sign rule. */
static void check_top(int m, int n, const double *a, double tol, double allowed)
{
    dense d = {m, n, a, 0};
    gcg_linop op = operator_of(&d);
    double sigma, alone, want = naive_spectral_norm(m, n, a), *u = naive_alloc((size_t)m, sizeof *u),
                         *v = naive_alloc((size_t)n, sizeof *v), *au = naive_alloc((size_t)n, sizeof *au),
                         *av = naive_alloc((size_t)m, sizeof *av), uu = 0, vv = 0;
    ck_assert_int_eq(gcg_polar_top(&op, tol, 1, &sigma, u, v, NULL), GCG_OK);
    ck_assert_int_eq(op.matvecs, d.products);
    ck_assert_double_eq_tol(sigma, want, allowed * want);
    ck_assert_double_le(sigma, want * (1 + 1e-13)); /* from below */
    times(&d, v, av);
    times_t(&d, u, au);
    double off_u = 0, off_v = 0;
    int best = 0;
    for (int i = 0; i < m; i++) uu += u[i] * u[i], off_u = fmax(off_u, fabs(av[i] - sigma * u[i]));
    for (int j = 0; j < n; j++) {
        vv += v[j] * v[j], off_v = fmax(off_v, fabs(au[j] - sigma * v[j]));
        if (fabs(v[j]) > fabs(v[best])) best = j;
    }
    ck_assert_double_eq_tol(uu, 1, 1e-10);
    ck_assert_double_eq_tol(vv, 1, 1e-10);
    ck_assert_double_le(off_u, sqrt(allowed) * want + 1e-12 * want);
    ck_assert_double_le(off_v, sqrt(allowed) * want + 1e-12 * want);
    ck_assert_double_gt(v[best], 0);
    gcg_linop again = operator_of(&d);
    ck_assert_int_eq(gcg_polar_top(&again, tol, 1, &alone, NULL, NULL, NULL), GCG_OK);
    ck_assert_double_eq(alone, sigma); /* the same with no vectors wanted */
    free(u);
    free(v);
    free(au);
    free(av);
}

START_TEST(the_top_pair_equals_the_dense_one)
{
    static const int shapes[][2] = {{1, 1},   {1, 9},   {9, 1},   {2, 2},   {20, 30},
                                    {64, 70}, {65, 65}, {66, 80}, {80, 66}, {90, 120}};
    naive_rng g = naive_seed(1);
    for (size_t t = 0; t < sizeof shapes / sizeof *shapes; t++) {
        double *a = naive_normals(&g, shapes[t][0] * shapes[t][1]);
        check_top(shapes[t][0], shapes[t][1], a, 1e-13, 1e-11);
        free(a);
    }
}
END_TEST

START_TEST(repeated_top_values_are_no_trouble)
{
    for (int n = 1; n <= 100; n += 33) {
        double *a = naive_alloc((size_t)(n * (n + 2)), sizeof *a);
        for (int i = 0; i < n; i++) a[i * (n + 2) + i] = i < 90 ? -2.5 : 1;
        check_top(n, n + 2, a, 1e-13, 1e-12);
        free(a);
    }
}
END_TEST

START_TEST(a_matrix_of_rank_one_is_found_at_once)
{
    naive_rng g = naive_seed(2);
    double *x = naive_normals(&g, 70), *y = naive_normals(&g, 90), *a = naive_multiply(70, 90, 1, x, 0, y, 1);
    check_top(70, 90, a, 1e-13, 1e-12);
    free(x);
    free(y);
    free(a);
}
END_TEST

START_TEST(the_zero_matrix_gives_zero)
{
    static const int sizes[] = {1, 5, 64, 65, 200};
    for (int t = 0; t < 5; t++) {
        int m = sizes[t], n = m + 3;
        double *a = naive_alloc((size_t)(m * n), sizeof *a), *u = naive_alloc((size_t)m, sizeof *u),
               *v = naive_alloc((size_t)n, sizeof *v), sigma = 7, bound = 7;
        dense d = {m, n, a, 0};
        gcg_linop op = operator_of(&d);
        for (int i = 0; i < m; i++) u[i] = 9;
        for (int j = 0; j < n; j++) v[j] = 9;
        ck_assert_int_eq(gcg_polar_top(&op, 1e-9, 1, &sigma, u, v, NULL), GCG_OK);
        ck_assert_double_eq(sigma, 0);
        for (int i = 0; i < m; i++) ck_assert_double_eq(u[i], 0);
        for (int j = 0; j < n; j++) ck_assert_double_eq(v[j], 0);
        ck_assert_int_eq(gcg_polar_bound(&op, 0.01, 1e-6, 1, GCG_POLAR_BASIS, &bound, v, NULL), GCG_OK);
        ck_assert_double_eq(bound, 0);
        free(a);
        free(u);
        free(v);
    }
}
END_TEST

/* A spectrum that squares to a wide range: many small values, a slow gap at the top. */
START_TEST(close_top_values_reach_the_tolerance_that_was_asked)
{
    enum { N = 150 };
    double *a = naive_alloc((size_t)N * N, sizeof *a);
    for (int i = 0; i < N; i++) a[i * N + (i * 7) % N] = i == 0 ? 1 : 1 - 1e-4 * i;
    check_top(N, N, a, 1e-14, 1e-12);
    check_top(N, N, a, 1e-6, 1e-6);
    free(a);
}
END_TEST

START_TEST(the_pair_depends_on_the_seed_only)
{
    naive_rng g = naive_seed(3);
    double *a = naive_normals(&g, 100 * 110), v[2][110], sigma[2];
    dense d = {100, 110, a, 0};
    for (int t = 0; t < 2; t++) {
        gcg_linop op = operator_of(&d);
        ck_assert_int_eq(gcg_polar_top(&op, 1e-4, 5, &sigma[t], NULL, v[t], NULL), GCG_OK);
        gcg_linop other = operator_of(&d);
        double between;
        ck_assert_int_eq(gcg_polar_top(&other, 1e-10, 6, &between, NULL, NULL, NULL), GCG_OK);
    }
    ck_assert_double_eq(sigma[0], sigma[1]);
    ck_assert_mem_eq(v[0], v[1], sizeof v[0]);
    free(a);
}
END_TEST

/* ---- the bound ---- */

START_TEST(the_steps_of_the_bound_follow_the_theorem)
{
    static const double epsilons[] = {0.5, 0.1, 1e-2, 1e-3, 1e-5}, chances[] = {1e-2, 1e-6, 1e-12};
    static const int32_t sizes[] = {1, 2, 50, 1000, 100000, 2000000};
    for (int e = 0; e < 5; e++)
        for (int c = 0; c < 3; c++)
            for (int s = 0; s < 6; s++) {
                double eps = epsilons[e], p = chances[c], n = sizes[s];
                int32_t steps = gcg_polar_bound_steps(sizes[s], eps, p);
                ck_assert_int_ge(steps, 1);
                ck_assert_int_le(steps, sizes[s]);
                double failure = 1.648 * sqrt(n) * exp(-sqrt(eps) * (2 * steps - 1));
                ck_assert(steps == sizes[s] || failure <= p * (1 + 1e-9));
                double fewer = 1.648 * sqrt(n) * exp(-sqrt(eps) * (2 * steps - 3));
                ck_assert(steps == 1 || fewer > p * (1 - 1e-9)); /* and no more than needed */
            }
    ck_assert_int_eq(gcg_polar_bound_steps(100000, 1e-3, 1e-6), 318); /* SOLVER.md: about 320 */
}
END_TEST

START_TEST(the_bound_is_never_below_the_spectral_norm_and_within_its_factor)
{
    naive_rng g = naive_seed(4);
    static const int shapes[][2] = {{30, 40}, {40, 30}, {1, 4}, {60, 60}};
    static const double epsilons[] = {0.3, 0.05, 0.01};
    for (int s = 0; s < 4; s++) {
        int m = shapes[s][0], n = shapes[s][1];
        double *a = naive_normals(&g, m * n), sigma = naive_spectral_norm(m, n, a);
        dense d = {m, n, a, 0};
        for (uint64_t seed = 0; seed < 60; seed++)
            for (int e = 0; e < 3; e++) {
                gcg_linop op = operator_of(&d);
                double bound;
                gcg_status status =
                    gcg_polar_bound(&op, epsilons[e], 1e-3, seed, GCG_POLAR_BASIS, &bound, NULL, NULL);
                if (status || bound < sigma || bound > sigma / sqrt(1 - epsilons[e]) * (1 + 1e-12))
                    ck_abort_msg("seed %d, eps %g: bound %.17g, sigma %.17g", (int)seed, epsilons[e], bound,
                                 sigma);
            }
        free(a);
    }
}
END_TEST

START_TEST(the_ritz_vector_of_the_bound_attains_it)
{
    naive_rng g = naive_seed(5);
    for (int wide = 0; wide < 2; wide++) {
        int m = wide ? 30 : 50, n = wide ? 50 : 30;
        double *a = naive_normals(&g, m * n), v[50], av[50], bound, norm = 0, length = 0;
        dense d = {m, n, a, 0};
        gcg_linop op = operator_of(&d);
        ck_assert_int_eq(gcg_polar_bound(&op, 1e-3, 1e-6, 1, GCG_POLAR_BASIS, &bound, v, NULL), GCG_OK);
        times(&d, v, av);
        for (int i = 0; i < m; i++) norm += av[i] * av[i];
        for (int j = 0; j < n; j++) length += v[j] * v[j];
        ck_assert_double_eq_tol(length, 1, 1e-10);
        ck_assert_double_eq_tol(sqrt(norm), bound * sqrt(1 - 1e-3), 1e-9 * bound);
        free(a);
    }
}
END_TEST

/* A diagonal of a million entries: no room for the whole basis. */
enum { LARGE = 1000000 };

static void large_times(void *ctx, const double *x, double *y)
{
    (void)ctx;
    for (int i = 0; i < LARGE; i++) y[i] = (1 + (double)i / LARGE) * x[i];
}

START_TEST(a_large_bound_goes_without_the_basis)
{
    gcg_linop op = {LARGE, LARGE, NULL, large_times, large_times, 0, NULL};
    double top = 2 - 1.0 / LARGE, bound, *v = naive_alloc(LARGE, sizeof *v);
    v[5] = 3;
    ck_assert_int_eq(gcg_polar_bound(&op, 0.02, 1e-6, 1, GCG_POLAR_BASIS, &bound, v, NULL), GCG_OK);
    ck_assert_int_ge((int64_t)gcg_polar_bound_steps(LARGE, 0.02, 1e-6) * LARGE * 8, 1 << 29);
    ck_assert(bound >= top && bound <= top / sqrt(1 - 0.02) * (1 + 1e-12));
    ck_assert_double_eq(v[5], 0); /* no vector is to be had */
    free(v);
}
END_TEST

/* ---- the block ---- */

typedef struct {
    int m, n;
    const double *a;
} block_of;

static void block_times(void *ctx, const gcg_factors *z, gcg_factors *y)
{
    const block_of *b = ctx;
    for (int i = 0; i < b->m; i++)
        for (int q = 0; q < z->k; q++) {
            double sum = 0;
            for (int j = 0; j < b->n; j++) sum += b->a[i * b->n + j] * gcg_factors_get(z, j, q);
            gcg_factors_set(y, i, q, sum);
        }
}

static void block_times_t(void *ctx, const gcg_factors *y, gcg_factors *z)
{
    const block_of *b = ctx;
    for (int j = 0; j < b->n; j++)
        for (int q = 0; q < y->k; q++) {
            double sum = 0;
            for (int i = 0; i < b->m; i++) sum += b->a[i * b->n + j] * gcg_factors_get(y, i, q);
            gcg_factors_set(z, j, q, sum);
        }
}

/* max |A'B - (equal ? I : 0)| */
static double off_orthogonal(const gcg_factors *a, const gcg_factors *b, int equal)
{
    double *da = naive_dense(a), *db = naive_dense(b), *g = naive_multiply(a->k, b->k, a->rows, da, 1, db, 0),
           most = 0;
    for (int p = 0; p < a->k; p++)
        for (int q = 0; q < b->k; q++) most = fmax(most, fabs(g[p * b->k + q] - (equal && p == q)));
    free(da);
    free(db);
    free(g);
    return most;
}

/* A with singular values spectrum[0..r), and balanced deflation bases of k columns. */
typedef struct {
    int m, n, k;
    double *a, *deflated; /* A and (I - PP') A (I - QQ') */
    gcg_factors u, v;
    double inverse_s[8];
} setting;

static void orthonormal(naive_rng *g, int rows, int k, gcg_factors *f)
{
    *f = naive_factors(g, rows, k, GCG_DOUBLE, 1);
    ck_assert_int_eq(gcg_tall_orthonormalise(f, 0, NULL, NULL), GCG_OK);
    ck_assert_int_eq(f->k, k);
}

static setting setting_make(uint64_t seed, int m, int n, int k, int r, const double *spectrum, gcg_dtype type)
{
    naive_rng g = naive_seed(seed);
    setting s = {.m = m, .n = n, .k = k};
    gcg_factors p, q, left, right;
    orthonormal(&g, m, r, &left);
    orthonormal(&g, n, r, &right);
    double *l = naive_dense(&left), *t = naive_dense(&right);
    for (int i = 0; i < m; i++)
        for (int c = 0; c < r; c++) l[i * r + c] *= spectrum[c];
    s.a = naive_multiply(m, n, r, l, 0, t, 1);
    s.deflated = naive_alloc((size_t)(m * n), sizeof *s.deflated);
    memcpy(s.deflated, s.a, (size_t)(m * n) * sizeof *s.a);
    ck_assert_int_eq(gcg_factors_init(&s.u, m, k, type, NULL), GCG_OK);
    ck_assert_int_eq(gcg_factors_init(&s.v, n, k, type, NULL), GCG_OK);
    if (k > 0) {
        orthonormal(&g, m, k, &p);
        orthonormal(&g, n, k, &q);
        double *dp = naive_dense(&p), *dq = naive_dense(&q);
        double *pa = naive_multiply(k, n, m, dp, 1, s.a, 0), *ppa = naive_multiply(m, n, k, dp, 0, pa, 0);
        for (int e = 0; e < m * n; e++) s.deflated[e] -= ppa[e];
        double *aq = naive_multiply(m, k, n, s.deflated, 0, dq, 0),
               *aqq = naive_multiply(m, n, k, aq, 0, dq, 1);
        for (int e = 0; e < m * n; e++) s.deflated[e] -= aqq[e];
        for (int c = 0; c < k; c++) { /* U = P sqrt(s), V = Q sqrt(s) */
            double size = 10.0 / (1 + c);
            s.inverse_s[c] = 1 / size;
            for (int i = 0; i < m; i++) gcg_factors_set(&s.u, i, c, sqrt(size) * dp[i * k + c]);
            for (int j = 0; j < n; j++) gcg_factors_set(&s.v, j, c, sqrt(size) * dq[j * k + c]);
        }
        double *all[] = {dp, dq, pa, ppa, aq, aqq};
        for (int i = 0; i < 6; i++) free(all[i]);
        gcg_factors_release(&p);
        gcg_factors_release(&q);
    }
    free(l);
    free(t);
    gcg_factors_release(&left);
    gcg_factors_release(&right);
    return s;
}

static void setting_release(setting *s)
{
    free(s->a);
    free(s->deflated);
    gcg_factors_release(&s->u);
    gcg_factors_release(&s->v);
}

static gcg_status block(const setting *s, const gcg_factors *start, int32_t size, int32_t depth,
                        gcg_triplets *out)
{
    block_of ctx = {s->m, s->n, s->a};
    gcg_block_op op = {s->m, s->n, s->u.type, &ctx, block_times, block_times_t, NULL};
    gcg_rng rng;
    gcg_rng_init(&rng, 1, 0);
    return gcg_polar_block(&op, &s->u, &s->v, s->inverse_s, start, size, depth, &rng, out, NULL);
}

/* Orthonormal, orthogonal to the bases, sigma = |deflated v|, each value below its exact counterpart. */
static void check_block(const setting *s, const gcg_triplets *t, int sure, double accuracy, double tiny)
{
    int r = s->m < s->n ? s->m : s->n;
    double *want = naive_alloc((size_t)r, sizeof *want);
    naive_svd(s->m, s->n, s->deflated, want, NULL, NULL);
    ck_assert_double_le(off_orthogonal(&t->v, &t->v, 1), tiny);
    ck_assert_double_le(off_orthogonal(&t->u, &t->u, 1), 100 * tiny);
    ck_assert_double_le(off_orthogonal(&s->v, &t->v, 0), 10 * tiny);
    ck_assert_double_le(off_orthogonal(&s->u, &t->u, 0), 10 * tiny);
    double *v = naive_dense(&t->v), *u = naive_dense(&t->u);
    double *av = naive_multiply(s->m, t->count, s->n, s->deflated, 0, v, 0);
    for (int c = 0; c < t->count; c++) {
        ck_assert(c == 0 || t->sigma[c] <= t->sigma[c - 1]);
        ck_assert_double_le(t->sigma[c], want[c] + tiny * want[0]);
        if (c < sure) ck_assert_double_ge(t->sigma[c], want[c] * (1 - accuracy));
        double off = 0;
        for (int i = 0; i < s->m; i++)
            off = fmax(off, fabs(av[i * t->count + c] - t->sigma[c] * u[i * t->count + c]));
        ck_assert_double_le(off, 10 * tiny * want[0]); /* A v = sigma u holds for every triplet */
    }
    free(want);
    free(v);
    free(u);
    free(av);
}

START_TEST(the_block_finds_the_deflated_triplets)
{
    static const double spectrum[] = {9, 8, 7, 6, 5, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02};
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4)
        for (int k = 0; k <= 4; k += 2)
            for (int tall = 0; tall < 2; tall++) {
                setting s =
                    setting_make((uint64_t)(k + tall), tall ? 60 : 40, tall ? 40 : 60, k, 12, spectrum, type);
                gcg_triplets t;
                ck_assert_int_eq(block(&s, NULL, 6, 4, &t), GCG_OK);
                ck_assert_int_eq(t.count, 6);
                check_block(&s, &t, 5, 1e-4, type == GCG_FLOAT ? 1e-4 : 1e-11);
                gcg_triplets_release(&t);
                gcg_triplets_release(&t);
                setting_release(&s);
            }
}
END_TEST

START_TEST(a_good_start_is_used)
{
    static const double spectrum[] = {3, 2.9, 2.8, 2.7, 2.6, 2.5, 2.4, 2.3, 2.2, 2.1};
    setting s = setting_make(7, 50, 45, 0, 10, spectrum, GCG_DOUBLE);
    double sv[45], *v = naive_alloc(45 * 45, sizeof *v);
    naive_svd(50, 45, s.a, sv, NULL, v);
    gcg_factors start;
    ck_assert_int_eq(gcg_factors_init(&start, 45, 2, GCG_DOUBLE, NULL), GCG_OK);
    for (int j = 0; j < 45; j++)
        for (int q = 0; q < 2; q++) gcg_factors_set(&start, j, q, v[j * 45 + q]);
    gcg_triplets t;
    ck_assert_int_eq(block(&s, &start, 3, 1, &t),
                     GCG_OK); /* one product deep: what is not given cannot be found */
    ck_assert_double_eq_tol(t.sigma[0], 3, 1e-10);
    ck_assert_double_eq_tol(t.sigma[1], 2.9, 1e-10);
    ck_assert_double_lt(t.sigma[2], 2.8);
    gcg_triplets_release(&t);
    ck_assert_int_eq(block(&s, &start, 1, 1, &t), GCG_OK); /* a start with more columns than the block */
    ck_assert_double_eq_tol(t.sigma[0], 3, 1e-10);
    gcg_triplets_release(&t);
    gcg_factors_release(&start);
    free(v);
    setting_release(&s);
}
END_TEST

START_TEST(a_small_space_gives_fewer_triplets)
{
    static const double spectrum[] = {4, 3, 2, 1};
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
        setting s = setting_make(8, 12, 6, 2, 4, spectrum, type); /* 4 columns are left of 6 */
        gcg_triplets t;
        ck_assert_int_eq(block(&s, NULL, 6, 4, &t), GCG_OK);
        ck_assert_int_le(t.count, 4);
        ck_assert_int_ge(t.count, 3);
        double want[6];
        naive_svd(12, 6, s.deflated, want, NULL, NULL);
        for (int c = 0; c < 3; c++)
            ck_assert_double_eq_tol(t.sigma[c], want[c], type == GCG_FLOAT ? 1e-4 : 1e-9);
        ck_assert_double_le(off_orthogonal(&t.v, &t.v, 1), type == GCG_FLOAT ? 1e-5 : 1e-12);
        ck_assert_double_le(off_orthogonal(&s.v, &t.v, 0), type == GCG_FLOAT ? 1e-4 : 1e-11);
        gcg_triplets_release(&t);
        setting_release(&s);
    }
}
END_TEST

START_TEST(nothing_left_gives_no_false_triplets)
{
    static const double spectrum[] = {4, 3, 2};
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
        setting s = setting_make(9, 5, 3, 3, 3, spectrum, type); /* the basis is all of the columns */
        gcg_triplets t;
        ck_assert_int_eq(block(&s, NULL, 2, 4, &t), GCG_OK);
        for (int c = 0; c < t.count; c++) ck_assert_double_le(t.sigma[c], type == GCG_FLOAT ? 1e-4 : 1e-12);
        gcg_triplets_release(&t);
        setting_release(&s);
        static const double zero[] = {0, 0, 0};
        s = setting_make(9, 8, 7, 0, 3, zero, type); /* the zero matrix */
        ck_assert_int_eq(block(&s, NULL, 2, 4, &t), GCG_OK);
        for (int c = 0; c < t.count; c++) ck_assert_double_eq(t.sigma[c], 0);
        gcg_triplets_release(&t);
        setting_release(&s);
    }
}
END_TEST

START_TEST(more_depth_is_never_worse_and_is_limited)
{
    double spectrum[30];
    for (int c = 0; c < 30; c++) spectrum[c] = pow(0.95, c);
    setting s = setting_make(10, 50, 40, 3, 30, spectrum, GCG_DOUBLE);
    double last = 0;
    for (int depth = 1; depth <= 12; depth++) {
        gcg_triplets t;
        ck_assert_int_eq(block(&s, NULL, 3, depth, &t), GCG_OK);
        ck_assert_double_ge(t.sigma[0], last * (1 - 1e-12));
        last = t.sigma[0];
        gcg_triplets_release(&t);
    }
    setting_release(&s);
}
END_TEST

/* ---- out of memory ---- */

static gcg_status call_one(void *ctx)
{
    static const double spectrum[] = {4, 3, 2, 1};
    int which = *(int *)ctx;
    naive_rng g = naive_seed(11);
    int n = which == 1 ? 70 : 10;
    double *a = naive_normals(&g, n * n), sigma, *v = naive_alloc((size_t)n, sizeof *v);
    dense d = {n, n, a, 0};
    gcg_linop op = operator_of(&d);
    gcg_status status;
    if (which < 2) {
        status = gcg_polar_top(&op, 1e-6, 1, &sigma, v, NULL, NULL);
    } else if (which == 2) {
        status = gcg_polar_bound(&op, 0.1, 1e-3, 1, GCG_POLAR_BASIS, &sigma, v, NULL);
    } else {
        static setting s;
        if (!s.a) { /* once, with no allocation failing */
            gcg_mem_fail_at(0);
            s = setting_make(12, 9, 8, 2, 4, spectrum, GCG_FLOAT);
            free(a);
            free(v);
            return GCG_ERR_USAGE;
        }
        gcg_triplets t;
        status = block(&s, NULL, 3, 2, &t);
        gcg_triplets_release(&t);
    }
    free(a);
    free(v);
    return status;
}

START_TEST(out_of_memory_is_told_at_every_allocation)
{
    int which = 3;
    ck_assert_int_eq(call_one(&which), GCG_ERR_USAGE); /* makes the block's setting */
    for (which = 0; which < 4; which++) ck_assert_int_ge(naive_fail_each_allocation(call_one, &which), 4);
}
END_TEST

START_TEST(a_matrix_that_is_not_finite_is_an_error)
{
    static const int sizes[] = {5, 80};
    int64_t blocks = gcg_mem_blocks();
    for (int t = 0; t < 2; t++) {
        int n = sizes[t];
        double *a = naive_alloc((size_t)(n * n), sizeof *a), sigma;
        for (int e = 0; e < n * n; e++) a[e] = e == 7 ? NAN : 1;
        dense d = {n, n, a, 0};
        gcg_linop op = operator_of(&d);
        ck_assert_int_eq(gcg_polar_top(&op, 1e-6, 1, &sigma, NULL, NULL, NULL), GCG_ERR_INTERNAL);
        ck_assert_int_eq(gcg_polar_bound(&op, 0.1, 1e-6, 1, GCG_POLAR_BASIS, &sigma, NULL, NULL),
                         GCG_ERR_INTERNAL);
        free(a);
    }
    ck_assert_int_eq(gcg_mem_blocks(), blocks);
}
END_TEST

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("polar");
    TCase *tests = tcase_create("polar");
    tcase_add_test(tests, the_top_pair_equals_the_dense_one);
    tcase_add_test(tests, repeated_top_values_are_no_trouble);
    tcase_add_test(tests, a_matrix_of_rank_one_is_found_at_once);
    tcase_add_test(tests, the_zero_matrix_gives_zero);
    tcase_add_test(tests, close_top_values_reach_the_tolerance_that_was_asked);
    tcase_add_test(tests, the_pair_depends_on_the_seed_only);
    tcase_add_test(tests, the_steps_of_the_bound_follow_the_theorem);
    tcase_add_test(tests, the_bound_is_never_below_the_spectral_norm_and_within_its_factor);
    tcase_add_test(tests, the_ritz_vector_of_the_bound_attains_it);
    tcase_add_test(tests, a_large_bound_goes_without_the_basis);
    tcase_add_test(tests, the_block_finds_the_deflated_triplets);
    tcase_add_test(tests, a_good_start_is_used);
    tcase_add_test(tests, a_small_space_gives_fewer_triplets);
    tcase_add_test(tests, nothing_left_gives_no_false_triplets);
    tcase_add_test(tests, more_depth_is_never_worse_and_is_limited);
    tcase_add_test(tests, out_of_memory_is_told_at_every_allocation);
    tcase_add_test(tests, a_matrix_that_is_not_finite_is_an_error);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
