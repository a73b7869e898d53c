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

/* ---- the proximal step for any factors ---- */

/* What is peculiar about U and V. */
typedef enum {
    UNBALANCED, /* one much larger than the other */
    SCALED,     /* columns of very different lengths, each other way round in V */
    SAME,       /* two columns of U equal */
    SAME_BOTH,  /* and of V */
    ZERO_U,     /* a column of U is 0, of V not */
    ZERO_V,
    CANCEL,      /* two columns of U equal, of V opposite: W has less rank than both */
    NEARLY_SAME, /* two columns of U equal but for a thousandth */
    SCALED_SAME, /* columns of very different lengths, two of U parallel */
    KINDS
} kind;

static void make_peculiar(naive_rng *g, kind what, gcg_factors *u, gcg_factors *v)
{
    int k = u->k, last = k - 1, scaled = what == SCALED || what == SCALED_SAME;
    double lift = pow(10, naive_below(g, 5) - 2);
    for (int side = 0; side < 2; side++) {
        gcg_factors *f = side ? v : u;
        for (int i = 0; i < f->rows; i++) {
            for (int q = 0; q < k; q++) {
                double scale = what == UNBALANCED ? lift : scaled ? pow(10, q - 1) * lift : 1;
                gcg_factors_set(f, i, q, gcg_factors_get(f, i, q) * (side ? 1 / scale : scale));
            }
            double first = gcg_factors_get(f, i, 0), old = gcg_factors_get(f, i, last), value = old;
            if (what == SAME_BOTH || (what == SAME && !side)) value = first;
            if (what == CANCEL) value = side ? -first : first;
            if (what == NEARLY_SAME && !side) value = first + 1e-3 * old;
            if (what == SCALED_SAME && !side) value = 1000 * first;
            if (what == (side ? ZERO_V : ZERO_U)) value = 0;
            gcg_factors_set(f, i, last, value);
        }
    }
}

/* Orthonormal columns that span those of a (rows x k): rows x k, zeros behind the rank. */
static double *range_of(const gcg_factors *f)
{
    int rows = f->rows, k = f->k, r = rows < k ? rows : k;
    double *a = naive_dense(f), *norm = naive_alloc((size_t)k, sizeof *norm),
           *s = naive_alloc((size_t)r, sizeof *s), *p = naive_alloc((size_t)(rows * k), sizeof *p);
    for (int e = 0; e < rows * k; e++) norm[e % k] += a[e] * a[e];
    for (int e = 0; e < rows * k; e++) a[e] /= norm[e % k] > 0 ? sqrt(norm[e % k]) : 1;
    ck_assert_int_eq(r, k);
    naive_svd(rows, k, a, s, p, NULL);
    for (int e = 0; e < rows * k; e++) p[e] *= s[e % k] > 1e-10 * s[0];
    free(a);
    free(norm);
    free(s);
    return p;
}

/* W + length PP'RQQ' */
static double *stepped(const gcg_factors *u, const gcg_factors *v, const double *w, const double *r,
                       double length)
{
    int m = u->rows, n = v->rows, k = u->k;
    double *p = range_of(u), *q = range_of(v), *pr = naive_multiply(k, n, m, p, 1, r, 0),
           *e = naive_multiply(k, k, n, pr, 0, q, 0), *pe = naive_multiply(m, k, k, p, 0, e, 0),
           *full = naive_multiply(m, n, k, pe, 0, q, 1);
    for (int i = 0; i < m * n; i++) full[i] = w[i] + length * full[i];
    double *all[] = {p, q, pr, e, pe};
    for (int i = 0; i < 5; i++) free(all[i]);
    return full;
}

/* ||P(D)||^2 <= ||D||^2 / length for the step D from `from` to `to`: F has not risen then. */
static int short_enough(int size, const double *from, const double *to, const char *mask, double length)
{
    double all = 0, observed = 0;
    for (int e = 0; e < size; e++) {
        double d = to[e] - from[e];
        all += d * d;
        observed += mask[e] ? d * d : 0;
    }
    return observed <= all / length;
}

/* Relative to the largest singular value. A direction that is a small part of two columns is known as much
 * less exactly. */
static double allowed_error(kind what, gcg_dtype type)
{
    if (type == GCG_FLOAT) return what == NEARLY_SAME ? 1e-3 : 2e-5;
    return what == NEARLY_SAME ? 1e-8 : what == SCALED_SAME ? 1e-9 : 1e-11;
}

static void check_any(uint64_t seed, kind what, gcg_dtype type, double length, double lambda_ratio)
{
    naive_rng g = naive_seed(seed);
    int m = 6 + naive_below(&g, 10), n = 6 + naive_below(&g, 10), k = 2 + naive_below(&g, 4), size = m * n;
    double tiny = allowed_error(what, type), s[5];
    gcg_factors u = naive_factors(&g, m, k, type, 1), v = naive_factors(&g, n, k, type, 1);
    make_peculiar(&g, what, &u, &v);
    double *x = naive_normals(&g, size), *w = naive_product(&u, &v), *dv = naive_dense(&v),
           *r = naive_alloc((size_t)size, sizeof *r);
    char *mask = naive_alloc((size_t)size, 1);
    for (int e = 0; e < size; e++) mask[e] = naive_uniform(&g) < 0.6, x[e] += w[e];
    double loss = naive_loss(m, n, x, mask, w, r), *dense_rv = naive_multiply(m, k, n, r, 0, dv, 0);
    double *full = stepped(&u, &v, w, r, length), *want = naive_alloc((size_t)size, sizeof *want),
           top = naive_spectral_norm(m, n, full), lambda = lambda_ratio * top / length,
           norm = naive_shrink(m, n, full, length * lambda, want), sum = 0;
    gcg_factors rv = naive_factors_from(m, k, dense_rv, type);
    ck_assert_int_eq(gcg_rotate_prox(&u, &v, &rv, lambda, length, s, NULL), GCG_OK);
    double *got = naive_product(&u, &v), off = naive_difference(size, got, want);
    ck_assert_msg(off <= tiny * top, "seed %d, %d x %d, rank %d, length %g: off by %g of %g", (int)seed, m, n,
                  k, length, off, top);
    for (int q = 0; q < k; q++) sum += s[q];
    ck_assert_double_eq_tol(sum, norm, tiny * top * k);
    for (int q = u.k; q < k; q++) ck_assert_double_eq(s[q], 0);
    check_balanced(&u, &v, s, u.k > 0 ? tiny * top / s[0] : 0);
    double before = loss + lambda * naive_trace_norm(m, n, w),
           after = naive_loss(m, n, x, mask, got, NULL) + lambda * naive_trace_norm(m, n, got);
    if (short_enough(size, w, got, mask, length)) ck_assert_double_le(after, before * (1 + tiny));
    double *all[] = {x, r, w, dv, dense_rv, full, want, got};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(mask);
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    gcg_factors_release(&rv);
}

START_TEST(the_proximal_step_of_any_length_takes_any_factors)
{
    static const double lengths[] = {1, 2.5, 10}, ratios[] = {0.01, 0.3, 0.9};
    for (int t = 0; t < 60; t++)
        for (int l = 0; l < 3; l++) {
            check_any((uint64_t)(300 + t), (kind)_i, GCG_DOUBLE, lengths[l], ratios[t % 3]);
            if ((kind)_i == SCALED_SAME) continue; /* in float nearly parallel: what is left is rounding */
            check_any((uint64_t)(400 + t), (kind)_i, GCG_FLOAT, lengths[l], ratios[t % 3]);
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
        for (int i = 0; i < M && _i; i++)
            gcg_factors_set(&u[t], i, 1, gcg_factors_get(&u[t], i, 0)); /* dependent */
        gcg_factors rv = naive_factors(&g, M, K, GCG_FLOAT, 1);
        memset(s[t], 0, sizeof s[t]);
        ck_assert_int_eq(gcg_rotate_prox(&u[t], &v[t], &rv, 1, 2.5, s[t], NULL), GCG_OK);
        ck_assert_int_eq(gcg_rotate_balance(&u[t], &v[t], 1e-7, s[t], NULL), GCG_OK);
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
    tcase_add_loop_test(tests, the_proximal_step_of_any_length_takes_any_factors, 0, KINDS);
    tcase_add_test(tests, the_proximal_step_with_a_large_lambda_leaves_no_columns);
    tcase_add_loop_test(tests, both_are_the_same_bytes_at_1_and_7_threads, 0, 2);
    tcase_add_test(tests, out_of_memory_is_told_at_every_allocation);
    tcase_add_test(tests, factors_that_are_not_finite_are_an_error);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
