/* steps/rotate: the balanced basis and the restricted proximal step against dense matrices. */
#include "tests/naive.h"

#include "base/blas.h"
#include "base/parallel.h"
#include "steps/rotate.h"

/* U'U and V'V are diag(s). */
static void check_balanced(const gcg_factors *u, const gcg_factors *v, const double *s, double tolerance)
{
    ck_assert_int_eq(u->k, v->k);
    ck_assert(naive_padding_is_zero(u) && naive_padding_is_zero(v));
    for (int side = 0; side < 2; side++) {
        const gcg_factors *f = side ? v : u;
        double *d = naive_dense(f), *g = naive_multiply(f->k, f->k, f->rows, d, 1, d, 0);
        for (int p = 0; p < f->k; p++) {
            ck_assert(p == 0 || s[p] <= s[p - 1]);
            for (int q = 0; q < f->k; q++)
                ck_assert_double_eq_tol(g[p * f->k + q], p == q ? s[p] : 0, tolerance * s[0]);
        }
        free(d);
        free(g);
    }
}

static double half_square_norms(const gcg_factors *u, const gcg_factors *v)
{
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const gcg_factors *f = side ? v : u;
        for (int i = 0; i < f->rows; i++)
            for (int q = 0; q < f->k; q++) sum += 0.5 * pow(gcg_factors_get(f, i, q), 2);
    }
    return sum;
}

START_TEST(balancing_keeps_w_and_gives_its_singular_values)
{
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4)
        for (int t = 0; t < 24; t++) {
            naive_rng g = naive_seed((uint64_t)t);
            int m = 1 + naive_below(&g, 30), n = 1 + naive_below(&g, 30), least = m < n ? m : n;
            int k = 1 + naive_below(&g, least < 18 ? least : 18);
            double lift = pow(10, t % 3); /* U large, V small */
            gcg_factors u = naive_factors(&g, m, k, type, lift), v = naive_factors(&g, n, k, type, 1 / lift);
            double *w = naive_product(&u, &v), s[18], want[30], before = half_square_norms(&u, &v);
            double tiny = type == GCG_FLOAT ? 3e-6 : 3e-12;
            naive_svd(m, n, w, want, NULL, NULL);
            ck_assert_int_eq(gcg_rotate_balance(&u, &v, type == GCG_FLOAT ? 1e-7 : 1e-14, s, NULL), GCG_OK);
            ck_assert_int_eq(u.k, k);
            check_balanced(&u, &v, s, tiny);
            ck_assert_double_le(naive_difference(k, s, want), tiny * want[0]);
            double *after = naive_product(&u, &v), norm = 0;
            ck_assert_double_le(naive_difference(m * n, w, after), tiny * want[0]);
            for (int q = 0; q < k; q++) norm += s[q];
            ck_assert_double_le(norm, before * (1 + tiny)); /* rho is minimal */
            ck_assert_double_eq_tol(half_square_norms(&u, &v), norm, tiny * norm);
            gcg_factors_release(&u);
            gcg_factors_release(&v);
            free(w);
            free(after);
        }
}
END_TEST

START_TEST(balancing_drops_what_is_not_in_w)
{
    naive_rng g = naive_seed(50);
    gcg_factors u = naive_factors(&g, 20, 5, GCG_DOUBLE, 1), v = naive_factors(&g, 15, 5, GCG_DOUBLE, 1);
    for (int i = 0; i < 20; i++) { /* column 3 = 0; columns 1 and 2 equal in U, opposite in V: they cancel */
        gcg_factors_set(&u, i, 3, 0);
        gcg_factors_set(&u, i, 2, gcg_factors_get(&u, i, 1));
    }
    for (int j = 0; j < 15; j++) gcg_factors_set(&v, j, 2, -gcg_factors_get(&v, j, 1));
    double *w = naive_product(&u, &v), s[5];
    ck_assert_int_eq(gcg_rotate_balance(&u, &v, 1e-14, s, NULL), GCG_OK);
    ck_assert_int_eq(u.k, 2);
    check_balanced(&u, &v, s, 1e-12);
    double *after = naive_product(&u, &v);
    ck_assert_double_le(naive_difference(300, w, after), 1e-11);
    /* a wish to drop more */
    ck_assert_int_eq(gcg_rotate_balance(&u, &v, 0.999999, s, NULL), GCG_OK);
    ck_assert_int_eq(u.k, 1);
    ck_assert_double_eq_tol(s[0], naive_spectral_norm(20, 15, w), 1e-11);
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    free(w);
    free(after);
}
END_TEST

START_TEST(balancing_zero_leaves_no_columns)
{
    naive_rng g = naive_seed(51);
    for (int side = 0; side < 3; side++) { /* U = 0, V = 0, both */
        gcg_factors u = naive_factors(&g, 6, 3, GCG_DOUBLE, side == 1),
                    v = naive_factors(&g, 5, 3, GCG_DOUBLE, side == 0);
        double s[3];
        ck_assert_int_eq(gcg_rotate_balance(&u, &v, 1e-14, s, NULL), GCG_OK);
        ck_assert_int_eq(u.k, 0);
        ck_assert_int_eq(v.k, 0);
        ck_assert_int_eq(gcg_rotate_balance(&u, &v, 1e-14, s, NULL), GCG_OK); /* of none: nothing */
        gcg_factors_release(&u);
        gcg_factors_release(&v);
    }
}
END_TEST

/* Everything about one proximal step on a random masked problem. */
static void check_prox(uint64_t seed, gcg_dtype type, double lambda_ratio)
{
    naive_rng g = naive_seed(seed);
    int m = 4 + naive_below(&g, 10), n = 4 + naive_below(&g, 10), k = 1 + naive_below(&g, 4), size = m * n;
    double tiny = type == GCG_FLOAT ? 2e-5 : 1e-11, s[4];
    gcg_factors u = naive_factors(&g, m, k, type, 1), v = naive_factors(&g, n, k, type, 1), rv;
    ck_assert_int_eq(gcg_rotate_balance(&u, &v, 1e-7, s, NULL), GCG_OK);
    ck_assert_int_eq(u.k, k);
    double *x = naive_normals(&g, size), *w = naive_product(&u, &v),
           *r = naive_alloc((size_t)size, sizeof *r);
    char *mask = naive_alloc((size_t)size, 1);
    for (int e = 0; e < size; e++) mask[e] = naive_uniform(&g) < 0.6, x[e] = w[e] + 2 * x[e];
    double loss = naive_loss(m, n, x, mask, w, r), *dv = naive_dense(&v), *du = naive_dense(&u);
    double *dense_rv = naive_multiply(m, k, n, r, 0, dv, 0);
    rv = naive_factors_from(m, k, dense_rv, type);
    /* naive: W + PP'RQQ', its singular values lowered by lambda */
    for (int q = 0; q < k; q++) {
        for (int i = 0; i < m; i++) du[i * k + q] /= sqrt(s[q]);
        for (int j = 0; j < n; j++) dv[j * k + q] /= sqrt(s[q]);
    }
    double *pr = naive_multiply(k, n, m, du, 1, r, 0), *e = naive_multiply(k, k, n, pr, 0, dv, 0),
           *pe = naive_multiply(m, k, k, du, 0, e, 0), *full = naive_multiply(m, n, k, pe, 0, dv, 1),
           *want = naive_alloc((size_t)size, sizeof *want);
    for (int i = 0; i < size; i++) full[i] += w[i];
    double top = naive_spectral_norm(m, n, full), lambda = lambda_ratio * top,
           before = loss + lambda * naive_trace_norm(m, n, w);
    double norm = naive_shrink(m, n, full, lambda, want), sum = 0;
    ck_assert_int_eq(gcg_rotate_prox(&u, &v, &rv, lambda, 1, s, NULL), GCG_OK);
    double *got = naive_product(&u, &v);
    ck_assert_double_le(naive_difference(size, got, want), tiny * top);
    for (int q = 0; q < k; q++) sum += s[q];
    ck_assert_double_eq_tol(sum, norm, tiny * top * k);
    for (int q = u.k; q < k; q++) ck_assert_double_eq(s[q], 0);
    check_balanced(&u, &v, s, u.k > 0 ? tiny * top / s[0] : 0);
    double after = naive_loss(m, n, x, mask, got, NULL) + lambda * naive_trace_norm(m, n, got);
    ck_assert_double_le(after, before * (1 + tiny)); /* never raises F */
    double *all[] = {x, w, r, dv, du, dense_rv, pr, e, pe, full, want, got};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(mask);
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    gcg_factors_release(&rv);
}

START_TEST(the_proximal_step_equals_the_dense_one_and_never_raises_f)
{
    static const double ratios[] = {0, 0.01, 0.3, 0.9};
    for (int t = 0; t < 60; t++) {
        check_prox((uint64_t)(100 + t), GCG_DOUBLE, ratios[t % 4]);
        check_prox((uint64_t)(200 + t), GCG_FLOAT, ratios[t % 4]);
    }
}
END_TEST

START_TEST(the_proximal_step_with_a_large_lambda_leaves_no_columns)
{
    naive_rng g = naive_seed(60);
    gcg_factors u = naive_factors(&g, 6, 2, GCG_DOUBLE, 1), v = naive_factors(&g, 5, 2, GCG_DOUBLE, 1),
                rv = naive_factors(&g, 6, 2, GCG_DOUBLE, 0);
    double s[2];
    ck_assert_int_eq(gcg_rotate_balance(&u, &v, 1e-14, s, NULL), GCG_OK);
    ck_assert_int_eq(gcg_rotate_prox(&u, &v, &rv, 100, 1, s, NULL), GCG_OK);
    ck_assert(u.k == 0 && v.k == 0 && s[0] == 0 && s[1] == 0);
    ck_assert_int_eq(gcg_rotate_prox(&u, &v, &rv, 100, 1, s, NULL), GCG_OK);
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    gcg_factors_release(&rv);
}
END_TEST

START_TEST(both_are_the_same_bytes_at_1_and_7_threads)
{
    enum { M = 9000, N = 5000, K = 3 };
    gcg_factors u[2], v[2];
    double s[2][K];
    for (int t = 0; t < 2; t++) {
        naive_rng g = naive_seed(70);
        gcg_par_set_threads(t ? 7 : 1);
        u[t] = naive_factors(&g, M, K, GCG_FLOAT, 1);
        v[t] = naive_factors(&g, N, K, GCG_FLOAT, 1);
        gcg_factors rv = naive_factors(&g, M, K, GCG_FLOAT, 1);
        ck_assert_int_eq(gcg_rotate_balance(&u[t], &v[t], 1e-7, s[t], NULL), GCG_OK);
        ck_assert_int_eq(gcg_rotate_prox(&u[t], &v[t], &rv, 1, 1, s[t], NULL), GCG_OK);
        gcg_factors_release(&rv);
    }
    ck_assert_mem_eq(s[0], s[1], sizeof s[0]);
    ck_assert_mem_eq(u[0].data, u[1].data, (size_t)M * 16 * 4);
    ck_assert_mem_eq(v[0].data, v[1].data, (size_t)N * 16 * 4);
    for (int t = 0; t < 2; t++) {
        gcg_factors_release(&u[t]);
        gcg_factors_release(&v[t]);
    }
}
END_TEST

static gcg_status both(void *ctx)
{
    naive_rng g = naive_seed(80);
    gcg_factors f[3] = {{0}};
    double s[2];
    gcg_status status = GCG_OK;
    (void)ctx;
    for (int x = 0; x < 3 && !status; x++) {
        status = gcg_factors_init(&f[x], x == 1 ? 5 : 6, 2, GCG_DOUBLE, NULL);
        for (int i = 0; !status && i < f[x].rows; i++)
            for (int q = 0; q < 2; q++) gcg_factors_set(&f[x], i, q, naive_normal(&g));
    }
    if (!status) status = gcg_rotate_balance(&f[0], &f[1], 1e-14, s, NULL);
    if (!status) status = gcg_rotate_prox(&f[0], &f[1], &f[2], 0.1, 1, s, NULL);
    for (int x = 0; x < 3; x++) gcg_factors_release(&f[x]);
    return status;
}

START_TEST(out_of_memory_is_told_at_every_allocation)
{
    ck_assert_int_ge(naive_fail_each_allocation(both, NULL), 10);
}
END_TEST

START_TEST(factors_that_are_not_finite_are_an_error)
{
    naive_rng g = naive_seed(81);
    gcg_factors u = naive_factors(&g, 6, 2, GCG_DOUBLE, 1), v = naive_factors(&g, 5, 2, GCG_DOUBLE, 1);
    double s[2];
    gcg_factors_set(&u, 3, 1, NAN);
    ck_assert_int_eq(gcg_rotate_balance(&u, &v, 1e-14, s, NULL), GCG_ERR_INTERNAL);
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("rotate");
    TCase *tests = tcase_create("basis changes");
    tcase_add_test(tests, balancing_keeps_w_and_gives_its_singular_values);
    tcase_add_test(tests, balancing_drops_what_is_not_in_w);
    tcase_add_test(tests, balancing_zero_leaves_no_columns);
    tcase_add_test(tests, the_proximal_step_equals_the_dense_one_and_never_raises_f);
    tcase_add_test(tests, the_proximal_step_with_a_large_lambda_leaves_no_columns);
    tcase_add_test(tests, both_are_the_same_bytes_at_1_and_7_threads);
    tcase_add_test(tests, out_of_memory_is_told_at_every_allocation);
    tcase_add_test(tests, factors_that_are_not_finite_are_an_error);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
