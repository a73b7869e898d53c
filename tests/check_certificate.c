/* maths/certificate: the dual bound against optima, the proof against exact singular values. */
#include "tests/naive.h"

#include "base/blas.h"
#include "base/parallel.h"
#include "maths/certificate.h"

/* A small random problem: x on a mask. */
typedef struct {
    int m, n;
    double *x, *r;
    char *mask;
} problem;

static problem problem_make(naive_rng *g, int m, int n)
{
    problem p = {m, n, naive_normals(g, m * n), naive_normals(g, m * n), naive_alloc((size_t)(m * n), 1)};
    for (int e = 0; e < m * n; e++) {
        p.mask[e] = naive_uniform(g) < 0.7;
        p.x[e] *= 2 * p.mask[e];
        p.r[e] *= p.mask[e];
    }
    return p;
}

static void problem_free(problem *p)
{
    free(p->x);
    free(p->r);
    free(p->mask);
}

START_TEST(the_dual_bound_never_exceeds_the_optimum)
{
    naive_rng g = naive_seed(1);
    for (int t = 0; t < 12; t++) {
        problem p = problem_make(&g, 3 + t % 4, 2 + t % 3);
        int size = p.m * p.n;
        double *w = naive_alloc((size_t)size, sizeof *w), lower;
        double lambda = (0.05 + 0.9 * naive_uniform(&g)) * naive_spectral_norm(p.m, p.n, p.x);
        double best = naive_complete(p.m, p.n, p.x, p.mask, lambda, 1e-12, w, &lower);
        ck_assert_double_eq_tol(best, lower, 1e-10);
        double most = -INFINITY;
        for (int point = 0; point < 200; point++) { /* residuals of points near the optimum and far from it */
            double rx = 0, rr = 0, step = pow(10, -6 * naive_uniform(&g)), *r = p.r;
            for (int e = 0; e < size; e++) {
                r[e] = p.mask[e] ? p.x[e] - w[e] - (point > 0) * step * naive_normal(&g) : 0;
                rx += r[e] * p.x[e];
                rr += r[e] * r[e];
            }
            double dual = gcg_certificate_dual(lambda, naive_spectral_norm(p.m, p.n, r), rx, rr);
            ck_assert_double_le(dual, best + 1e-12 * best);
            most = fmax(most, dual);
        }
        ck_assert_double_ge(most, best - 1e-9 * best); /* and the optimum's residual attains it */
        free(w);
        problem_free(&p);
    }
}
END_TEST

START_TEST(the_dual_bound_has_its_closed_forms)
{
    ck_assert_double_eq(gcg_certificate_dual(1, 2, 8, 4), 3.5); /* s = 1/2 */
    ck_assert_double_eq(gcg_certificate_dual(100, 2, 8, 4), 8); /* s = 2, the unconstrained best */
    ck_assert_double_eq(gcg_certificate_dual(0, 2, 8, 4), 0);
    ck_assert_double_eq(gcg_certificate_dual(1, 2, -8, 4), 0); /* no s > 0 helps */
    ck_assert_double_eq(gcg_certificate_dual(1, 0, 0, 0), 0);
    ck_assert_double_eq(gcg_certificate_dual(1, INFINITY, 8, 4), 0);
    ck_assert_double_eq(gcg_certificate_gap(10, 9), 0.1);
    ck_assert_double_eq(gcg_certificate_gap(10, 11), 0);
    ck_assert_double_eq(gcg_certificate_gap(0, 0), 0);
    ck_assert_double_eq(gcg_certificate_gap(10, 0), 1);
}
END_TEST

/* More rows than columns, fewer, one; and over a strip of 64 rows of the Gram matrix. */
static const int SHAPES[][2] = {{9, 5}, {5, 9}, {1, 7}, {7, 1}, {1, 1}, {90, 70}, {70, 90}};
enum { COUNT_SHAPES = sizeof SHAPES / sizeof *SHAPES };

START_TEST(the_proved_bound_is_above_the_spectral_norm_and_close)
{
    naive_rng g = naive_seed(2);
    for (int t = 0; t < COUNT_SHAPES; t++)
        for (int wide = 0; wide < 2; wide++) {
            problem p = problem_make(&g, SHAPES[t][0], SHAPES[t][1]);
            p.mask[0] = 1;
            p.r[0] = 1;
            gcg_csr r = naive_csr(p.m, p.n, p.r, p.mask, wide);
            for (int64_t e = 0, q = 0; e < p.m * p.n; e++)
                if (p.mask[e]) p.r[e] = gcg_csr_value(&r, q++); /* as rounded */
            double sigma = naive_spectral_norm(p.m, p.n, p.r), bound;
            for (double low = 0; low < 1e-3; low = low == 0 ? 1e-9 : low * 30) { /* estimates from below */
                ck_assert_int_eq(
                    gcg_certificate_cholesky(&r, sigma * (1 - low), 1e-10, 1, NULL, &bound, NULL), GCG_OK);
                ck_assert_double_ge(bound, sigma * (1 - 1e-15));
                ck_assert_double_le(bound, sigma * (1 + 3.01 * low + 1e-9));
            }
            /* what is not enough is not proved */
            ck_assert_int_eq(gcg_certificate_cholesky(&r, 0.9 * sigma, 1e-8, 0.1, NULL, &bound, NULL),
                             GCG_OK);
            ck_assert(bound == INFINITY || bound > sigma);
            ck_assert_int_eq(gcg_certificate_cholesky(&r, 0.5 * sigma, 1e-8, 0.1, NULL, &bound, NULL),
                             GCG_OK);
            ck_assert_double_eq(bound, INFINITY);
            gcg_csr_release(&r);
            problem_free(&p);
        }
}
END_TEST

START_TEST(repeated_top_singular_values_are_proved_too)
{
    double identity[64] = {0};
    char mask[64] = {0};
    for (int i = 0; i < 8; i++) identity[9 * i] = 3, mask[9 * i] = 1;
    gcg_csr r = naive_csr(8, 8, identity, mask, 0);
    double bound;
    ck_assert_int_eq(gcg_certificate_cholesky(&r, 3, 0, 1, NULL, &bound, NULL), GCG_OK);
    ck_assert(bound >= 3 && bound <= 3 * (1 + 1e-12));
    gcg_csr_release(&r);
}
END_TEST

/* Several panels and tiles, and so many tries that one would spoil the matrix of the next if it could. With a
 * diagonal sigma_1 is known. */
START_TEST(a_large_proof_is_above_the_spectral_norm_and_close)
{
    enum { N = 1000 };
    int32_t row[2 * N], col[2 * N];
    double value[2 * N], bound;
    int64_t n = 0;
    for (int i = 0; i < N;
         i += 2) { /* blocks [a b; -b a]: singular values sqrt(a^2 + b^2) = 1 + i / N, twice */
        double size = 1 + (double)((i * 7) % N) / N, angle = i;
        for (int e = 0; e < 4; e++, n++) {
            row[n] = i + e / 2;
            col[n] = (i + e % 2 + 500) % N;
            value[n] = size * (e == 0 || e == 3 ? cos(angle) : e == 1 ? sin(angle) : -sin(angle));
        }
    }
    gcg_csr r;
    ck_assert_int_eq(gcg_csr_from_triples(&r, N, N, n, row, col, value, NULL), GCG_OK);
    double top = 2 - 2.0 / N;
    ck_assert_int_eq(gcg_certificate_cholesky(&r, top * (1 - 1e-4), 1e-9, 0.1, NULL, &bound, NULL), GCG_OK);
    ck_assert(bound >= top && bound <= top * (1 + 4e-4));
    ck_assert_int_eq(gcg_certificate_cholesky(&r, top * 0.9, 1e-9, 0.1, NULL, &bound, NULL), GCG_OK);
    ck_assert_double_eq(bound, INFINITY);
    gcg_watch over = gcg_watch_defaults();
    over.over = 1;
    ck_assert_int_eq(gcg_certificate_cholesky(&r, top, 1e-9, 0.1, &over, &bound, NULL), GCG_OK);
    ck_assert_double_eq(bound, INFINITY);
    gcg_csr_release(&r);
}
END_TEST

START_TEST(nothing_is_proved_from_a_zero_estimate_of_something)
{
    double one = 1, bound;
    char none = 0;
    gcg_csr r = naive_csr(1, 1, &one, NULL, 0), empty = naive_csr(1, 1, &one, &none, 0);
    ck_assert_int_eq(gcg_certificate_cholesky(&r, 0, 1e-8, 1, NULL, &bound, NULL), GCG_OK);
    ck_assert_double_eq(bound, INFINITY);
    ck_assert_int_eq(gcg_certificate_cholesky(&empty, 0, 1e-8, 1, NULL, &bound, NULL), GCG_OK);
    ck_assert_double_eq(bound, 0);
    gcg_csr_release(&r);
    gcg_csr_release(&empty);
}
END_TEST

START_TEST(the_proof_is_the_same_at_1_and_7_threads)
{
    naive_rng g = naive_seed(3);
    problem p = problem_make(&g, 300, 200);
    gcg_csr r = naive_csr(300, 200, p.r, p.mask, 1);
    double bound[2];
    for (int t = 0; t < 2; t++) {
        gcg_par_set_threads(t ? 7 : 1);
        ck_assert_int_eq(gcg_certificate_cholesky(&r, 20, 1e-8, 1, NULL, &bound[t], NULL), GCG_OK);
    }
    ck_assert_double_eq(bound[0], bound[1]);
    gcg_csr_release(&r);
    problem_free(&p);
}
END_TEST

static gcg_status prove_once(void *ctx)
{
    double bound;
    return gcg_certificate_cholesky(ctx, 10, 1e-8, 10, NULL, &bound, NULL);
}

START_TEST(out_of_memory_is_told_at_every_allocation)
{
    naive_rng g = naive_seed(4);
    problem p = problem_make(&g, 4, 6);
    gcg_csr r = naive_csr(4, 6, p.r, p.mask, 1);
    ck_assert_int_ge(naive_fail_each_allocation(prove_once, &r), 4);
    gcg_csr_release(&r);
    problem_free(&p);
}
END_TEST

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("certificate");
    TCase *tests = tcase_create("certificate");
    tcase_add_test(tests, the_dual_bound_never_exceeds_the_optimum);
    tcase_add_test(tests, the_dual_bound_has_its_closed_forms);
    tcase_add_test(tests, the_proved_bound_is_above_the_spectral_norm_and_close);
    tcase_add_test(tests, repeated_top_singular_values_are_proved_too);
    tcase_add_test(tests, a_large_proof_is_above_the_spectral_norm_and_close);
    tcase_add_test(tests, nothing_is_proved_from_a_zero_estimate_of_something);
    tcase_add_test(tests, the_proof_is_the_same_at_1_and_7_threads);
    tcase_add_test(tests, out_of_memory_is_told_at_every_allocation);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
