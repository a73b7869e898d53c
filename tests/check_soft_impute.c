/* solvers/soft_impute: iterations against dense matrices that are filled in entry by entry, and what holds
 * for every comparator. */
#include "solvers/soft_impute.h"

#define SOLVE gcg_soft_impute
#include "tests/comparator_tests.h"

#include "base/rng.h"

/* Algorithm 3.1 on dense matrices, W = P diag(d2) Q'. */
typedef struct {
    int m, n, k;
    double *p, *q, *d2; /* m x k, n x k, k */
} dense;

/* The first k singular triplets of the m x n matrix w. */
static void dense_svd(dense *d, const double *w)
{
    int r = d->m < d->n ? d->m : d->n;
    double *s = naive_alloc((size_t)r, sizeof *s), *u = naive_alloc((size_t)(d->m * r), sizeof *u),
           *v = naive_alloc((size_t)(d->n * r), sizeof *v);
    naive_svd(d->m, d->n, w, s, u, v);
    for (int q = 0; q < d->k; q++) {
        d->d2[q] = s[q];
        for (int i = 0; i < d->m; i++) d->p[i * d->k + q] = u[i * r + q];
        for (int j = 0; j < d->n; j++) d->q[j * d->k + q] = v[j * r + q];
    }
    free(s);
    free(u);
    free(v);
}

static double *dense_product(const dense *d, int with_q)
{
    double *a = naive_alloc((size_t)(d->m * d->k), sizeof *a);
    for (int i = 0; i < d->m; i++)
        for (int q = 0; q < d->k; q++) a[i * d->k + q] = d->p[i * d->k + q] * d->d2[q];
    double *w = with_q ? naive_multiply(d->m, d->n, d->k, a, 0, d->q, 1) : a;
    if (with_q) free(a);
    return w;
}

/* X* = the ratings where there are some, W elsewhere. */
static double *filled_in(const problem *p, const dense *d)
{
    double *w = dense_product(d, 1);
    for (int e = 0; e < p->m * p->n; e++)
        if (p->mask[e]) w[e] = p->x[e];
    return w;
}

/* W <- P D C' with C = X*'P D / (D^2 + lambda), or its mirror image. w: where W does not come from d yet. */
static void dense_regress(const problem *p, dense *d, int side, double lambda, int start)
{
    double *x = filled_in(p, d);
    if (start)
        for (int e = 0; e < p->m * p->n; e++) x[e] = p->mask[e] ? p->x[e] : 0;
    int rows = side ? d->n : d->m;
    double *c = side ? naive_multiply(d->n, d->k, d->m, x, 1, d->p, 0)
                     : naive_multiply(d->m, d->k, d->n, x, 0, d->q, 0);
    for (int i = 0; i < rows; i++)
        for (int q = 0; q < d->k; q++) c[i * d->k + q] *= d->d2[q] / (d->d2[q] + lambda);
    double *w = side ? naive_multiply(d->m, d->n, d->k, d->p, 0, c, 1)
                     : naive_multiply(d->m, d->n, d->k, c, 0, d->q, 1);
    dense_svd(d, w);
    free(x);
    free(c);
    free(w);
}

/* The start that soft_impute.h promises: an orthonormal basis of Gaussian columns. Any basis of their span is
 * the same start, for D = 1. */
static void dense_start(dense *d, uint64_t seed)
{
    gcg_rng rng;
    gcg_rng_init(&rng, seed, 0);
    double *g = naive_alloc((size_t)(d->m * d->k), sizeof *g);
    for (int e = 0; e < d->m * d->k; e++) g[e] = gcg_rng_normal(&rng);
    for (int q = 0; q < d->k; q++)
        for (int round = 0; round < 2; round++) { /* Gram and Schmidt, twice */
            for (int c = 0; c < q; c++) {
                double dot = 0;
                for (int i = 0; i < d->m; i++) dot += g[i * d->k + c] * g[i * d->k + q];
                for (int i = 0; i < d->m; i++) g[i * d->k + q] -= dot * g[i * d->k + c];
            }
            double norm = 0;
            for (int i = 0; i < d->m; i++) norm += g[i * d->k + q] * g[i * d->k + q];
            for (int i = 0; i < d->m; i++) g[i * d->k + q] /= sqrt(norm);
        }
    memcpy(d->p, g, (size_t)(d->m * d->k) * sizeof *g);
    for (int q = 0; q < d->k; q++) d->d2[q] = 1;
    free(g);
}

/* The singular values of X*Q, lowered by lambda. */
static void dense_finish(const problem *p, dense *d, double lambda)
{
    dense_regress(p, d, 0, 0, 0);
    for (int q = 0; q < d->k; q++) d->d2[q] = fmax(d->d2[q] - lambda, 0);
}

static void compare_iterations(const problem *p, int k, double lambda, gcg_precision precision, double tiny)
{
    dense d = {p->m,
               p->n,
               k,
               naive_alloc((size_t)(p->m * k), sizeof(double)),
               naive_alloc((size_t)(p->n * k), sizeof(double)),
               naive_alloc((size_t)k, sizeof(double))};
    for (int sweeps = 1; sweeps <= 4; sweeps++) {
        dense_start(&d, 6);
        for (int t = 0; t < sweeps; t++) {
            dense_regress(p, &d, 1, lambda, t == 0);
            dense_regress(p, &d, 0, lambda, 0);
        }
        dense_finish(p, &d, lambda);
        gcg_solver_settings set = settings(lambda, 1e-12);
        set.precision = precision;
        set.rank = k;
        set.max_iter = sweeps;
        set.seed = 6;
        gcg_solver_result r = solve(p, &set);
        double *want = dense_product(&d, 1), *got = naive_product(&r.u, &r.v);
        ck_assert_double_gt(d.d2[0], 0);
        ck_assert_double_le(naive_difference(p->m * p->n, want, got), tiny * d.d2[0]);
        gcg_solver_result_release(&r);
        free(want);
        free(got);
    }
    free(d.p);
    free(d.q);
    free(d.d2);
}

START_TEST(iterations_are_those_of_the_algorithm_on_dense_matrices)
{
    static const int shapes[][3] = {{12, 9, 4}, {9, 14, 1}, {30, 25, 17}, {5, 4, 4}, {8, 20, 3}};
    for (int s = 0; s < 5; s++) {
        problem p = problem_make((uint64_t)(70 + s), shapes[s][0], shapes[s][1], 0.6);
        compare_iterations(&p, shapes[s][2], 0.1 * top(&p), GCG_PRECISION_DOUBLE, 1e-9);
        compare_iterations(&p, shapes[s][2], 0.3 * top(&p), GCG_PRECISION_FLOAT, 1e-5);
        compare_iterations(&p, shapes[s][2], 0, GCG_PRECISION_DOUBLE, 1e-9);
        problem_release(&p);
    }
}
END_TEST

/* At the optimum the filled-in matrix has W as its soft-thresholded decomposition. */
START_TEST(the_limit_is_a_fixed_point_of_soft_thresholding)
{
    problem p = problem_make(90, 18, 15, 0.6);
    gcg_solver_settings set = settings(0.15 * top(&p), 1e-11);
    gcg_solver_result r = solve(&p, &set);
    double *w = naive_product(&r.u, &r.v), *x = naive_alloc(18 * 15, sizeof *x),
           *again = naive_alloc(18 * 15, sizeof *again);
    for (int e = 0; e < 18 * 15; e++) x[e] = p.mask[e] ? p.x[e] : w[e];
    naive_shrink(18, 15, x, set.lambda, again);
    ck_assert_double_le(naive_difference(18 * 15, w, again), 1e-4);
    free(w);
    free(x);
    free(again);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

START_TEST(passes_and_products_are_counted)
{
    problem p = problem_make(95, 20, 15, 0.5);
    gcg_solver_settings set = settings(0.1 * top(&p), 1e-9);
    set.rank = 4;
    set.max_iter = 3;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_double_eq(r.last.passes,
                        3 * 4 + 2); /* a residual and a product per regression, and the last one */
    ck_assert_int_eq(r.last.matvecs, 3 * 2 * 4 + 4);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("soft_impute");
    TCase *tests = tcase_create("soft_impute");
    tcase_add_test(tests, iterations_are_those_of_the_algorithm_on_dense_matrices);
    tcase_add_test(tests, the_limit_is_a_fixed_point_of_soft_thresholding);
    tcase_add_test(tests, passes_and_products_are_counted);
    comparator_tests(tests);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
