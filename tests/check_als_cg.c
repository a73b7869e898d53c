/* solvers/als_cg: sweeps against dense conjugate gradients that form every matrix, its fixed point against
 * ridge regressions in closed form, and what holds for every comparator. */
#include "solvers/als_cg.h"

#define SOLVE gcg_als_cg
#include "tests/comparator_tests.h"

#include "base/rng.h"

/* H = G'G + lambda and b = G'x of row i (of column i when turned) with respect to the other side's factors.
 */
static void normal_equations(const problem *p, int turned, int i, int k, const double *f, double lambda,
                             double *h, double *b)
{
    int others = turned ? p->m : p->n;
    memset(h, 0, (size_t)(k * k) * sizeof *h);
    memset(b, 0, (size_t)k * sizeof *b);
    for (int q = 0; q < k; q++) h[q * k + q] = lambda;
    for (int j = 0; j < others; j++) {
        int e = turned ? j * p->n + i : i * p->n + j;
        if (!p->mask[e]) continue;
        for (int q = 0; q < k; q++) {
            b[q] += p->x[e] * f[j * k + q];
            for (int c = 0; c < k; c++) h[q * k + c] += f[j * k + q] * f[j * k + c];
        }
    }
}

/* The textbook method on H u = b. */
static void dense_cg(int k, const double *h, const double *b, int steps, double *u)
{
    double *r = naive_alloc((size_t)k, sizeof *r), *d = naive_alloc((size_t)k, sizeof *d),
           *hd = naive_alloc((size_t)k, sizeof *hd), rr = 0;
    for (int q = 0; q < k; q++) {
        r[q] = b[q];
        for (int c = 0; c < k; c++) r[q] -= h[q * k + c] * u[c];
        d[q] = r[q];
        rr += r[q] * r[q];
    }
    for (int step = 0; step < steps && rr > 0; step++) {
        double curvature = 0, next = 0;
        for (int q = 0; q < k; q++) {
            hd[q] = 0;
            for (int c = 0; c < k; c++) hd[q] += h[q * k + c] * d[c];
            curvature += d[q] * hd[q];
        }
        for (int q = 0; q < k; q++) {
            u[q] += rr / curvature * d[q];
            r[q] -= rr / curvature * hd[q];
            next += r[q] * r[q];
        }
        for (int q = 0; q < k; q++) d[q] = r[q] + next / rr * d[q];
        rr = next;
    }
    free(r);
    free(d);
    free(hd);
}

static void dense_half(const problem *p, int turned, int k, double lambda, const double *fixed, double *moved)
{
    double *h = naive_alloc((size_t)(k * k), sizeof *h), *b = naive_alloc((size_t)k, sizeof *b);
    for (int i = 0; i < (turned ? p->n : p->m); i++) {
        normal_equations(p, turned, i, k, fixed, lambda, h, b);
        dense_cg(k, h, b, GCG_ALS_CG_STEPS, moved + i * k);
    }
    free(h);
    free(b);
}

/* The start that als_cg.h promises. */
static double *first_v(const problem *p, int k, uint64_t seed)
{
    gcg_rng rng;
    double *v = naive_alloc((size_t)(p->n * k), sizeof *v);
    double size = sqrt(sqrt(2 * half_square_sum(p) / (double)p->csr.nnz) / k);
    gcg_rng_init(&rng, seed, 0);
    for (int e = 0; e < p->n * k; e++) v[e] = size * gcg_rng_normal(&rng);
    return v;
}

static void compare_sweeps(const problem *p, int k, double lambda, int sweeps, gcg_precision precision,
                           double tiny)
{
    double *u = naive_alloc((size_t)(p->m * k), sizeof *u), *v = first_v(p, k, 5);
    for (int t = 1; t <= sweeps; t++) {
        dense_half(p, 0, k, lambda, v, u);
        dense_half(p, 1, k, lambda, u, v);
        gcg_solver_settings set = settings(lambda, 1e-12);
        set.precision = precision;
        set.rank = k;
        set.max_iter = t;
        set.seed = 5;
        gcg_solver_result r = solve(p, &set);
        double *want = naive_multiply(p->m, p->n, k, u, 0, v, 1), *got = naive_product(&r.u, &r.v), most = 0;
        for (int e = 0; e < p->m * p->n; e++) most = fmax(most, fabs(want[e]));
        ck_assert_double_le(naive_difference(p->m * p->n, want, got), tiny * most);
        ck_assert_double_gt(most, 0);
        gcg_solver_result_release(&r);
        free(want);
        free(got);
    }
    free(u);
    free(v);
}

START_TEST(sweeps_are_those_of_dense_conjugate_gradients)
{
    static const int shapes[][3] = {{12, 9, 4}, {9, 14, 1}, {40, 30, 17}, {25, 60, 20}, {5, 4, 4}};
    for (int s = 0; s < 5; s++) {
        problem p = problem_make((uint64_t)(70 + s), shapes[s][0], shapes[s][1], 0.4);
        double lambda = 0.1 * top(&p);
        compare_sweeps(&p, shapes[s][2], lambda, 3, GCG_PRECISION_DOUBLE, 1e-9);
        compare_sweeps(&p, shapes[s][2], lambda, 3, GCG_PRECISION_FLOAT, 1e-3);
        compare_sweeps(&p, shapes[s][2], 0.5, 2, GCG_PRECISION_DOUBLE, 1e-8);
        problem_release(&p);
    }
}
END_TEST

/* 16 doubles a row: 1024 of them are gathered at most. */
START_TEST(rows_with_more_ratings_than_the_buffer_holds_are_read_in_place)
{
    for (int turned = 0; turned < 2; turned++) {
        problem p = problem_make(80, turned ? 1500 : 3, turned ? 3 : 1500, 0.9);
        compare_sweeps(&p, 2, 0.1 * top(&p), 2, GCG_PRECISION_DOUBLE, 1e-9);
        compare_sweeps(&p, 2, 0.1 * top(&p), 2, GCG_PRECISION_FLOAT, 1e-4);
        problem_release(&p);
    }
}
END_TEST

/* Gauss elimination with pivots: h u = b, h and b are overwritten, b becomes u. */
static void eliminate(int k, double *h, double *b)
{
    for (int q = 0; q < k; q++) {
        int best = q;
        for (int i = q + 1; i < k; i++)
            if (fabs(h[i * k + q]) > fabs(h[best * k + q])) best = i;
        for (int c = 0; c < k; c++) {
            double t = h[q * k + c];
            h[q * k + c] = h[best * k + c];
            h[best * k + c] = t;
        }
        double t = b[q];
        b[q] = b[best];
        b[best] = t;
        for (int i = 0; i < k; i++) {
            double factor = i == q ? 0 : h[i * k + q] / h[q * k + q];
            for (int c = 0; c < k; c++) h[i * k + c] -= factor * h[q * k + c];
            b[i] -= factor * b[q];
        }
    }
    for (int q = 0; q < k; q++) b[q] /= h[q * k + q];
}

START_TEST(the_limit_is_the_ridge_regression_of_each_row_on_the_other_side)
{
    for (int seed = 0; seed < 3; seed++) {
        problem p = problem_make((uint64_t)(90 + seed), 18, 15, 0.6);
        gcg_solver_settings set = settings(0.1 * top(&p), 1e-11);
        set.rank = 5;
        gcg_solver_result r = solve(&p, &set);
        int k = r.last.rank;
        ck_assert_int_ge(k, 2);
        double *u = naive_dense(&r.u), *v = naive_dense(&r.v), *h = naive_alloc((size_t)(k * k), sizeof *h),
               *b = naive_alloc((size_t)k, sizeof *b);
        for (int turned = 0; turned < 2; turned++)
            for (int i = 0; i < (turned ? p.n : p.m); i++) {
                normal_equations(&p, turned, i, k, turned ? u : v, set.lambda, h, b);
                eliminate(k, h, b);
                ck_assert_double_le(naive_difference(k, b, (turned ? v : u) + i * k), 1e-4);
            }
        free(u);
        free(v);
        free(h);
        free(b);
        gcg_solver_result_release(&r);
        problem_release(&p);
    }
}
END_TEST

START_TEST(a_sweep_is_counted_as_sixteen_passes)
{
    problem p = problem_make(95, 20, 15, 0.5);
    gcg_solver_settings set = settings(0.1 * top(&p), 1e-9);
    set.max_iter = 3;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_double_eq(r.last.passes, 3 * 16); /* 2 sides, 1 + 3 products with G and G' */
    ck_assert_int_eq(r.last.matvecs, 0);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("als_cg");
    TCase *tests = tcase_create("als_cg");
    tcase_add_test(tests, sweeps_are_those_of_dense_conjugate_gradients);
    tcase_add_test(tests, rows_with_more_ratings_than_the_buffer_holds_are_read_in_place);
    tcase_add_test(tests, the_limit_is_the_ridge_regression_of_each_row_on_the_other_side);
    tcase_add_test(tests, a_sweep_is_counted_as_sixteen_passes);
    comparator_tests(tests);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
