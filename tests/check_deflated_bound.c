/* steps/deflated_bound against dense singular values: matrices of a known spectrum, with a cluster on top and
 * no gap below it, and bases Z that are good, less good and of no use. */
#include "tests/naive.h"

#include "base/blas.h"
#include "base/parallel.h"
#include "steps/deflated_bound.h"
#include "steps/polar.h"

static const double SURE = 1e-6;  /* the probability p, where none should be seen to fail */
static const double TINY = 1e-10; /* relative: what the bound may add for rounding, with room */

/* ---- a dense matrix of known singular values and vectors ---- */

typedef struct {
    int m, n, r;       /* r = min(m, n) */
    double *a, *s, *v; /* m x n; r, descending; n x r */
} dense;

static void times(void *ctx, const double *x, double *y)
{
    const dense *d = ctx;
    for (int i = 0; i < d->m; i++) {
        y[i] = 0;
        for (int j = 0; j < d->n; j++) y[i] += d->a[i * d->n + j] * x[j];
    }
}

static void times_t(void *ctx, const double *y, double *x)
{
    const dense *d = ctx;
    memset(x, 0, (size_t)d->n * sizeof *x);
    for (int i = 0; i < d->m; i++)
        for (int j = 0; j < d->n; j++) x[j] += d->a[i * d->n + j] * y[i];
}

/* Columns made orthonormal, twice by Gram and Schmidt. */
static void orthonormalise(int n, int k, double *a)
{
    for (int q = 0; q < k; q++)
        for (int round = 0; round < 2; round++) {
            for (int p = 0; p < q; p++) {
                double dot = 0;
                for (int i = 0; i < n; i++) dot += a[i * k + p] * a[i * k + q];
                for (int i = 0; i < n; i++) a[i * k + q] -= dot * a[i * k + p];
            }
            double norm = 0;
            for (int i = 0; i < n; i++) norm += a[i * k + q] * a[i * k + q];
            for (int i = 0; i < n; i++) a[i * k + q] /= sqrt(norm);
        }
}

static double *orthonormal(naive_rng *g, int n, int k)
{
    double *a = naive_normals(g, (int64_t)n * k);
    orthonormalise(n, k, a);
    return a;
}

/* A = sum of s_q u_q v_q'; rows of A below `filled` are 0. */
static dense dense_make(naive_rng *g, int m, int n, int filled, const double *s)
{
    int r = filled < n ? filled : n;
    dense d = {m,
               n,
               r,
               naive_alloc((size_t)(m * n), sizeof(double)),
               naive_alloc((size_t)r, sizeof(double)),
               orthonormal(g, n, r)};
    double *u = orthonormal(g, filled, r);
    memcpy(d.s, s, (size_t)r * sizeof *s);
    for (int i = 0; i < filled; i++)
        for (int q = 0; q < r; q++)
            for (int j = 0; j < n; j++) d.a[i * n + j] += u[i * r + q] * s[q] * d.v[j * r + q];
    free(u);
    return d;
}

static void dense_release(dense *d)
{
    free(d->a);
    free(d->s);
    free(d->v);
}

enum { CLUSTER = 6, MOST = 64 };

/* `top` times: a cluster within 1e-4 of 1, then an edge from 0.98 down to 0.3 without gaps. */
static void clustered(int r, double top, double *s)
{
    for (int q = 0; q < r; q++)
        s[q] = top * (q < CLUSTER ? 1 - 2e-5 * q : 0.98 - 0.68 * (q - CLUSTER) / (double)r);
}

/* ---- a basis and what belongs to it ---- */

typedef struct {
    gcg_factors z;
    double *dense_z, *g, *h;
} basis;

/* Takes over z (n x k, orthonormal). */
static basis basis_make(const dense *d, int k, double *z)
{
    double *y = naive_multiply(d->m, k, d->n, d->a, 0, z, 0),
           *w = naive_multiply(d->n, k, d->m, d->a, 1, y, 0);
    basis b = {naive_factors_from(d->n, k, z, GCG_DOUBLE), z, naive_multiply(k, k, d->m, y, 1, y, 0),
               naive_multiply(k, k, d->n, w, 1, w, 0)};
    free(y);
    free(w);
    return b;
}

static void basis_release(basis *b)
{
    gcg_factors_release(&b->z);
    free(b->dense_z);
    free(b->g);
    free(b->h);
}

/* Singular vectors first, first + 1, ... of A, plus `off` times random columns, orthonormal. */
static basis basis_near(naive_rng *g, const dense *d, int first, int k, double off)
{
    double *z = naive_alloc((size_t)(d->n * k), sizeof *z);
    for (int j = 0; j < d->n; j++)
        for (int q = 0; q < k; q++) z[j * k + q] = d->v[j * d->r + first + q] + off * naive_normal(g);
    orthonormalise(d->n, k, z);
    return basis_make(d, k, z);
}

/* ||A (I - ZZ')|| */
static double remainder_norm(const dense *d, const basis *b)
{
    int k = b->z.k;
    double *y = naive_multiply(d->m, k, d->n, d->a, 0, b->dense_z, 0),
           *left = naive_multiply(d->m, d->n, k, y, 0, b->dense_z, 1);
    for (int e = 0; e < d->m * d->n; e++) left[e] = d->a[e] - left[e];
    double norm = naive_spectral_norm(d->m, d->n, left);
    free(y);
    free(left);
    return norm;
}

/* Is the symmetric A (k x k, overwritten) positive definite: elimination. */
static int positive(int k, double *a)
{
    for (int p = 0; p < k; p++) {
        if (!(a[p * k + p] > 0)) return 0;
        for (int i = p + 1; i < k; i++) {
            double t = a[i * k + p] / a[p * k + p];
            for (int j = p; j < k; j++) a[i * k + j] -= t * a[p * k + j];
        }
    }
    return 1;
}

/* The least s > e, from `low` on, for which s^2 I - G - slack (H - G^2) / (s^2 - e^2) is positive definite.
 */
static double least_proved(const basis *b, double e, double low, double slack)
{
    int k = b->z.k;
    double *gg = naive_multiply(k, k, k, b->g, 0, b->g, 0), *m = naive_alloc((size_t)(k * k), sizeof *m),
           high = 2 * low;
    for (int round = 0; round < 60; round++) {
        double s = 0.5 * (low + high);
        for (int x = 0; x < k * k; x++)
            m[x] = (x % (k + 1) == 0) * s * s - b->g[x] - slack * (b->h[x] - gg[x]) / (s * s - e * e);
        if (s > e && positive(k, m))
            high = s;
        else
            low = s;
    }
    free(gg);
    free(m);
    return high;
}

static gcg_status bound_of(const dense *d, const basis *b, double p, uint64_t seed, double most,
                           double *least, double *bound)
{
    gcg_linop op = {d->m, d->n, (void *)(uintptr_t)d, times, times_t, 0, NULL};
    return gcg_deflated_bound(&op, &b->z, b->g, b->h, p, seed, GCG_POLAR_BASIS, most, least, bound, NULL);
}

static double top_of_g(const basis *b)
{
    return sqrt(naive_spectral_norm(b->z.k, b->z.k, b->g)); /* G is positive semidefinite */
}

/* A true bound; *least true, and the better of what was given and what Z knows. Returns the bound. */
static double check_bound(const dense *d, const basis *b, double given, uint64_t seed)
{
    double least = given, bound = -1, sigma = naive_spectral_norm(d->m, d->n, d->a);
    ck_assert_double_eq_tol(sigma, d->s[0], 1e-12 * sigma);
    ck_assert_int_eq(bound_of(d, b, SURE, seed, 0.1, &least, &bound), GCG_OK);
    ck_assert_double_ge(bound, sigma);
    ck_assert_double_eq_tol(least, fmax(given, top_of_g(b)), 1e-13 * sigma);
    ck_assert_double_le(least, sigma * (1 + 1e-13));
    return bound;
}

/* As tight as promised: the remainder's norm is overstated so that s^2 - e^2 keeps at least half of its size,
 * and the guard is within a tenth. */
static void check_tight(const dense *d, const basis *b, double given, uint64_t seed)
{
    double bound = check_bound(d, b, given, seed), least = fmax(given, top_of_g(b)), e = remainder_norm(d, b);
    ck_assert_double_lt(e, least);
    double enough = least_proved(b, e, least, 2);
    ck_assert_double_le(bound, least * (1 + 1.1 * (enough / least - 1)) * (1 + TINY));
}

static const int SHAPES[][2] = {{40, 40}, {60, 33}, {33, 60}, {64, 20}, {20, 64}};
enum { COUNT_SHAPES = sizeof SHAPES / sizeof *SHAPES };

/* ---- tests ---- */

START_TEST(with_exact_singular_vectors_the_bound_is_sigma_1_to_rounding)
{
    static const double tops[] = {1, 1e-9, 1e9};
    for (int t = 0; t < 3; t++) {
        naive_rng g = naive_seed((uint64_t)(10 * _i + t));
        double s[MOST];
        clustered(MOST, tops[t], s);
        dense d = dense_make(&g, SHAPES[_i][0], SHAPES[_i][1], SHAPES[_i][0], s);
        for (int k = CLUSTER; k <= CLUSTER + 5; k += 5) {
            basis b = basis_near(&g, &d, 0, k, 0);
            ck_assert_double_le(check_bound(&d, &b, 0.5 * tops[t], 1), d.s[0] * (1 + TINY));
            check_tight(&d, &b, 0.99 * tops[t], 2);
            basis_release(&b);
        }
        dense_release(&d);
    }
}
END_TEST

START_TEST(with_perturbed_singular_vectors_the_bound_is_as_tight_as_the_complement_allows)
{
    static const double off[] = {1e-6, 1e-4, 1e-3, 4e-3};
    for (int t = 0; t < 4; t++) {
        naive_rng g = naive_seed((uint64_t)(20 * _i + t));
        double s[MOST];
        clustered(MOST, 3, s);
        dense d = dense_make(&g, SHAPES[_i][0], SHAPES[_i][1], SHAPES[_i][0], s);
        basis b = basis_near(&g, &d, 0, CLUSTER + 6, off[t]);
        check_tight(&d, &b, 1, (uint64_t)t);
        check_tight(&d, &b, d.s[0], (uint64_t)t); /* sigma_1 itself is given */
        basis_release(&b);
        dense_release(&d);
    }
}
END_TEST

START_TEST(with_a_basis_of_no_use_the_bound_is_loose_or_infinite_but_true)
{
    int loose = 0, infinite = 0;
    for (int t = 0; t < 12; t++) {
        naive_rng g = naive_seed((uint64_t)(30 * _i + t));
        double s[MOST];
        clustered(MOST, 1, s);
        dense d = dense_make(&g, SHAPES[_i][0], SHAPES[_i][1], SHAPES[_i][0], s);
        basis b = basis_make(&d, 8, orthonormal(&g, d.n, 8));
        double bound = check_bound(&d, &b, t % 3 == 0 ? 0.1 : t % 3 == 1 ? 0.9 : d.s[0], (uint64_t)t);
        ck_assert_double_gt(bound, d.s[0] * (1 + 1e-4));
        loose += bound < INFINITY;
        infinite += !(bound < INFINITY);
        basis_release(&b);
        dense_release(&d);
    }
    ck_assert_int_gt(infinite, loose);
}
END_TEST

/* Each vector of the cluster in turn, the first one most of all. */
START_TEST(a_singular_vector_that_the_basis_lacks_is_not_overlooked)
{
    naive_rng g = naive_seed((uint64_t)(40 + _i));
    double s[MOST];
    clustered(MOST, 1, s);
    dense d = dense_make(&g, SHAPES[_i][0], SHAPES[_i][1], SHAPES[_i][0], s);
    for (int first = 1; first <= CLUSTER + 2; first++) {
        basis b = basis_near(&g, &d, first, 8, 0);
        for (uint64_t seed = 0; seed < 5; seed++) {
            ck_assert_double_gt(check_bound(&d, &b, 0.5, seed), d.s[0]);
            ck_assert_double_gt(check_bound(&d, &b, d.s[1], seed), d.s[0]);
        }
        basis_release(&b);
    }
    dense_release(&d);
}
END_TEST

START_TEST(one_column_and_a_full_basis_are_fine)
{
    naive_rng g = naive_seed((uint64_t)(50 + _i));
    double s[MOST];
    clustered(MOST, 1, s);
    s[0] = 1.5; /* alone on top */
    dense d = dense_make(&g, SHAPES[_i][0], SHAPES[_i][1], SHAPES[_i][0], s);
    basis one = basis_near(&g, &d, 0, 1, 0), near = basis_near(&g, &d, 0, 1, 1e-3),
          full = basis_make(&d, d.n, orthonormal(&g, d.n, d.n));
    check_tight(&d, &one, 1, 1);
    check_tight(&d, &near, 1, 1);
    ck_assert_double_le(check_bound(&d, &one, 1, 1), 1.5 * (1 + TINY));
    ck_assert_double_le(check_bound(&d, &full, 1e-3, 1), 1.5 * (1 + TINY));
    basis_release(&one);
    basis_release(&near);
    basis_release(&full);
    dense_release(&d);
}
END_TEST

START_TEST(matrices_of_one_row_or_one_column_are_fine)
{
    naive_rng g = naive_seed(60);
    double two = 2;
    for (int t = 0; t < 3; t++) {
        dense d = dense_make(&g, t == 0 ? 1 : 7, t == 1 ? 1 : 7, t == 0 ? 1 : 7,
                             (const double[]){two, 1, 1, 1, 1, 0.5, 0});
        basis b = basis_near(&g, &d, 0, 1, 0);
        ck_assert_double_le(check_bound(&d, &b, 0.1, 3), two * (1 + TINY));
        basis_release(&b);
        dense_release(&d);
    }
}
END_TEST

START_TEST(rows_and_singular_values_that_are_zero_are_fine)
{
    naive_rng g = naive_seed(61);
    double s[MOST] = {0};
    clustered(12, 1, s); /* rank 12 */
    for (int wide = 0; wide < 2; wide++) {
        dense d = dense_make(&g, wide ? 30 : 50, wide ? 50 : 30, 21, s);
        basis b = basis_near(&g, &d, 0, CLUSTER + 2, 1e-4), all = basis_near(&g, &d, 0, 12, 0);
        check_tight(&d, &b, 0.7, 5);
        ck_assert_double_le(check_bound(&d, &all, 0.7, 5), 1 + TINY); /* nothing is left */
        basis_release(&b);
        basis_release(&all);
        dense_release(&d);
    }
}
END_TEST

START_TEST(no_bound_above_the_most_that_is_wanted_comes_out)
{
    naive_rng g = naive_seed(62);
    double s[MOST], least = 0.5, wide, narrow;
    clustered(MOST, 1, s);
    dense d = dense_make(&g, 40, 36, 40, s);
    basis b = basis_near(&g, &d, 0, 12, 3e-3);
    ck_assert_int_eq(bound_of(&d, &b, SURE, 1, 0.1, &least, &wide), GCG_OK);
    double guard = wide / least - 1;
    ck_assert(guard > 1e-8 && guard < 0.1);
    ck_assert_int_eq(bound_of(&d, &b, SURE, 1, 0.3 * guard, &least, &narrow), GCG_OK);
    ck_assert(narrow == INFINITY);
    ck_assert_int_eq(bound_of(&d, &b, SURE, 1, 10 * guard, &least, &narrow), GCG_OK);
    ck_assert_double_eq(narrow, wide);
    basis_release(&b);
    dense_release(&d);
}
END_TEST

/* sigma_1 is alone above an even spectrum and missing in Z, which knows sigma_2: a Ritz value taken for a
 * bound would often lie below sigma_2, and prove what is false. */
START_TEST(false_bounds_are_no_more_frequent_than_p)
{
    enum { SEEDS = 400 };
    const double p = 0.1;
    naive_rng g = naive_seed(63);
    double s[MOST], first = 0;
    for (int q = 0; q < MOST; q++) s[q] = q == 0 ? 1 : q == 1 ? 0.97 : 0.95 - 0.95 * q / (double)MOST;
    dense d = dense_make(&g, 64, 64, 64, s);
    basis missing = basis_near(&g, &d, 1, 1, 0), there = basis_near(&g, &d, 0, 2, 1e-3);
    int failed = 0, differ = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double least = 0.5, bound;
        ck_assert_int_eq(bound_of(&d, &missing, p, seed, 0.1, &least, &bound), GCG_OK);
        failed += bound < d.s[0];
        least = 0.5;
        ck_assert_int_eq(bound_of(&d, &there, p, seed, 0.1, &least, &bound), GCG_OK);
        failed += bound < d.s[0];
        if (seed == 0) first = bound;
        differ += bound != first;
    }
    ck_assert_int_le(failed, (int)(p * SEEDS)); /* of twice as many */
    ck_assert_int_gt(differ, 0);                /* the seed is used */
    basis_release(&missing);
    basis_release(&there);
    dense_release(&d);
}
END_TEST

START_TEST(what_is_not_finite_proves_nothing)
{
    naive_rng g = naive_seed(64);
    double s[MOST], least = 0.5, bound = 0;
    clustered(MOST, 1, s);
    dense d = dense_make(&g, 30, 30, 30, s);
    basis b = basis_near(&g, &d, 0, 8, 0);
    double saved = b.h[9];
    b.h[9] = NAN;
    ck_assert_int_eq(bound_of(&d, &b, SURE, 1, 0.1, &least, &bound), GCG_OK);
    ck_assert(bound == INFINITY);
    b.h[9] = INFINITY;
    ck_assert_int_eq(bound_of(&d, &b, SURE, 1, 0.1, &least, &bound), GCG_OK);
    ck_assert(bound == INFINITY);
    b.h[9] = saved;
    b.g[9] = NAN;
    ck_assert_int_eq(bound_of(&d, &b, SURE, 1, 0.1, &least, &bound), GCG_ERR_INTERNAL);
    ck_assert(bound == INFINITY);
    basis_release(&b);
    dense_release(&d);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

/* [0, A] with `before` columns of zeros: the last blocks of rows of Z are those that count. */
static dense dense_shifted(const dense *d, int before)
{
    int n = before + d->n;
    dense out = {d->m,
                 n,
                 d->r,
                 naive_alloc((size_t)(d->m * n), sizeof(double)),
                 naive_alloc((size_t)d->r, sizeof(double)),
                 naive_alloc((size_t)(n * d->r), sizeof(double))};
    memcpy(out.s, d->s, (size_t)d->r * sizeof(double));
    for (int i = 0; i < d->m; i++)
        memcpy(out.a + i * n + before, d->a + i * d->n, (size_t)d->n * sizeof(double));
    memcpy(out.v + before * d->r, d->v, (size_t)(d->n * d->r) * sizeof(double));
    return out;
}

START_TEST(every_block_of_rows_of_the_basis_counts)
{
    naive_rng g = naive_seed(67);
    double s[MOST];
    clustered(40, 1, s);
    dense d = dense_make(&g, 40, 300, 40, s), shifted = dense_shifted(&d, 1100);
    basis b = basis_near(&g, &shifted, 0, 10, 0);
    check_tight(&shifted, &b, 0.5, 1);
    basis_release(&b);
    dense_release(&d);
    dense_release(&shifted);
}
END_TEST

/* Z has more than one block of rows. */
START_TEST(the_bound_is_the_same_bytes_at_1_2_and_7_threads)
{
    static const int threads[] = {1, 2, 7};
    for (int wide = 0; wide < 2; wide++) {
        naive_rng g = naive_seed(65);
        double s[MOST], bound[3], least[3];
        clustered(40, 1, s);
        dense d = dense_make(&g, wide ? 40 : 1600, wide ? 1600 : 40, wide ? 40 : 1600, s);
        basis b = basis_near(&g, &d, 0, 10, 1e-5);
        for (int t = 0; t < 3; t++) {
            gcg_par_set_threads(threads[t]);
            least[t] = 0.5;
            ck_assert_int_eq(bound_of(&d, &b, SURE, 1, 0.1, &least[t], &bound[t]), GCG_OK);
            ck_assert_double_lt(bound[t], 1.01);
            ck_assert_mem_eq(&bound[t], &bound[0], sizeof *bound);
            ck_assert_mem_eq(&least[t], &least[0], sizeof *least);
        }
        gcg_par_set_threads(1);
        basis_release(&b);
        dense_release(&d);
    }
}
END_TEST

typedef struct {
    const dense *d;
    const basis *b;
} pair;

static gcg_status once(void *ctx)
{
    const pair *p = ctx;
    double least = 0.5, bound;
    return bound_of(p->d, p->b, SURE, 1, 0.1, &least, &bound);
}

START_TEST(out_of_memory_is_told_at_every_allocation)
{
    naive_rng g = naive_seed(66);
    double s[MOST];
    clustered(MOST, 1, s);
    dense d = dense_make(&g, 30, 26, 30, s);
    basis b = basis_near(&g, &d, 0, 8, 1e-4);
    pair p = {&d, &b};
    ck_assert_int_ge(naive_fail_each_allocation(once, &p), 12); /* two Lanczos runs */
    basis_release(&b);
    dense_release(&d);
}
END_TEST

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("deflated bound");
    TCase *tests = tcase_create("deflated bound");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, with_exact_singular_vectors_the_bound_is_sigma_1_to_rounding, 0, COUNT_SHAPES);
    tcase_add_loop_test(tests, with_perturbed_singular_vectors_the_bound_is_as_tight_as_the_complement_allows,
                        0, COUNT_SHAPES);
    tcase_add_loop_test(tests, with_a_basis_of_no_use_the_bound_is_loose_or_infinite_but_true, 0,
                        COUNT_SHAPES);
    tcase_add_loop_test(tests, a_singular_vector_that_the_basis_lacks_is_not_overlooked, 0, COUNT_SHAPES);
    tcase_add_loop_test(tests, one_column_and_a_full_basis_are_fine, 0, COUNT_SHAPES);
    tcase_add_test(tests, matrices_of_one_row_or_one_column_are_fine);
    tcase_add_test(tests, rows_and_singular_values_that_are_zero_are_fine);
    tcase_add_test(tests, no_bound_above_the_most_that_is_wanted_comes_out);
    tcase_add_test(tests, false_bounds_are_no_more_frequent_than_p);
    tcase_add_test(tests, what_is_not_finite_proves_nothing);
    tcase_add_test(tests, every_block_of_rows_of_the_basis_counts);
    tcase_add_test(tests, the_bound_is_the_same_bytes_at_1_2_and_7_threads);
    tcase_add_test(tests, out_of_memory_is_told_at_every_allocation);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
