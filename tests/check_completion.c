/* solvers: gcg_complete and gcg_lambda_max against an accelerated proximal gradient with dense singular value
 * decompositions, closed forms and the values of ../shared/oracles. */
#include "tests/naive.h"

#include "base/blas.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "maths/center.h"
#include "solvers/completion.h"
#include "solvers/solver.h"

/* A dense matrix, its mask and the same as ratings. */
typedef struct {
    int m, n;
    double *x;
    char *mask;
    gcg_csr csr;
} problem;

static problem problem_from(int m, int n, double *x, char *mask)
{
    return (problem){m, n, x, mask, naive_csr(m, n, x, mask, 1)};
}

/* Low rank plus noise; the share `density` of the entries is observed, the first one always. */
static problem problem_make(uint64_t seed, int m, int n, double density)
{
    naive_rng g = naive_seed(seed);
    double *u = naive_normals(&g, m * 2), *v = naive_normals(&g, n * 2),
           *x = naive_multiply(m, n, 2, u, 0, v, 1);
    char *mask = naive_alloc((size_t)(m * n), 1);
    for (int e = 0; e < m * n; e++) {
        mask[e] = e == 0 || naive_uniform(&g) < density;
        x[e] = mask[e] ? x[e] + 0.3 * naive_normal(&g) : 0;
    }
    free(u);
    free(v);
    return problem_from(m, n, x, mask);
}

static void problem_release(problem *p)
{
    free(p->x);
    free(p->mask);
    gcg_csr_release(&p->csr);
}

static double top(const problem *p)
{
    return naive_spectral_norm(p->m, p->n, p->x);
}

static gcg_solver_settings settings(double lambda, double gap)
{
    gcg_solver_settings s = gcg_solver_settings_defaults();
    s.lambda = lambda;
    s.gap = gap;
    return s;
}

static gcg_solver_result solve(const problem *p, const gcg_solver_settings *set)
{
    gcg_solver_result r;
    gcg_err err = {0};
    gcg_status status = gcg_complete(&p->csr, set, &r, &err);
    ck_assert_msg(status == GCG_OK, "status %d: %s", (int)status, err.text);
    return r;
}

static double half_square_sum(const problem *p)
{
    double sum = 0;
    for (int e = 0; e < p->m * p->n; e++) sum += 0.5 * p->x[e] * p->x[e];
    return sum;
}

/* What has to hold for every result: its figures are those of its factors, which are balanced. */
static void check_figures(const problem *p, double lambda, const gcg_solver_result *r)
{
    double tiny = r->u.type == GCG_FLOAT ? 2e-5 : 1e-10, norm = 0;
    double *w = naive_product(&r->u, &r->v), *s = naive_alloc((size_t)(p->m + p->n), sizeof *s);
    double scale = 1e-300 + half_square_sum(p);
    naive_svd(p->m, p->n, w, s, NULL, NULL);
    ck_assert(r->u.k == r->last.rank && r->v.k == r->last.rank && r->u.rows == p->m && r->v.rows == p->n);
    for (int q = 0; q < r->last.rank; q++) {
        double uu = 0, vv = 0;
        for (int i = 0; i < p->m; i++) uu += pow(gcg_factors_get(&r->u, i, q), 2);
        for (int j = 0; j < p->n; j++) vv += pow(gcg_factors_get(&r->v, j, q), 2);
        ck_assert_double_eq_tol(r->singular_values[q], s[q], tiny * s[0]);
        ck_assert_double_eq_tol(uu, s[q], tiny * s[0]);
        ck_assert_double_eq_tol(vv, s[q], tiny * s[0]);
        norm += s[q];
    }
    double loss = naive_loss(p->m, p->n, p->x, p->mask, w, NULL);
    ck_assert_double_eq_tol(r->last.nuc_norm, norm, tiny * (norm + 1e-300));
    ck_assert_double_eq_tol(r->last.objective, loss + lambda * norm, tiny * scale);
    ck_assert_double_eq_tol(r->last.train_rmse, sqrt(2 * loss / (double)p->csr.nnz), sqrt(tiny * scale));
    if (lambda > 0 && r->last.objective > 0)
        ck_assert_double_eq_tol(r->last.gap, fmax(0, 1 - r->last.dual / r->last.objective), 1e-14);
    free(w);
    free(s);
}

/* lower <= F* <= upper is known: the result keeps its promises. */
static void check_bracket(const gcg_solver_result *r, double lower, double upper, double gap)
{
    double rounding = 1e-11 * fabs(upper) + 1e-300;
    ck_assert_double_ge(r->last.objective, lower - rounding);
    ck_assert_double_le(r->last.objective, upper + gap * upper + rounding);
    ck_assert_double_le(r->last.dual, upper + rounding);
    ck_assert_double_ge(r->last.gap * r->last.objective, r->last.objective - upper - rounding);
}

/* Solves to the gap and compares with the naive optimum. */
static void check_optimum(const problem *p, const gcg_solver_settings *set)
{
    double *w = naive_alloc((size_t)(p->m * p->n), sizeof *w), lower;
    double upper =
        naive_complete(p->m, p->n, p->x, p->mask, set->lambda, 1e-13 * half_square_sum(p), w, &lower);
    ck_assert_double_le(upper - lower, 1e-10 * upper);
    gcg_solver_result r = solve(p, set);
    ck_assert_str_eq(gcg_stop_name(r.stop), "converged");
    ck_assert_int_eq(r.last.rule, GCG_CERT_CHOLESKY);
    ck_assert_double_le(r.last.gap, set->gap);
    check_bracket(&r, lower, upper, set->gap);
    check_figures(p, set->lambda, &r);
    if (set->gap <= 1e-10) { /* fitted values are unique */
        double *got = naive_product(&r.u, &r.v), off = 0;
        for (int e = 0; e < p->m * p->n; e++) off += p->mask[e] ? pow(got[e] - w[e], 2) : 0;
        ck_assert_double_le(sqrt(off), sqrt(4 * set->gap * upper) + 1e-6);
        free(got);
    }
    gcg_solver_result_release(&r);
    free(w);
}

/* ---- against the naive solver ---- */

static const int SHAPES[][2] = {{6, 5}, {5, 8}, {12, 4}, {10, 10}, {3, 14}};
static const double RATIOS[] = {0.6, 0.2, 0.05};

START_TEST(optima_equal_those_of_the_naive_solver)
{
    for (int s = 0; s < 5; s++) {
        problem p = problem_make((uint64_t)(10 * _i + s), SHAPES[s][0], SHAPES[s][1], _i % 2 ? 0.5 : 0.8);
        for (int l = 0; l < 3; l++) {
            gcg_solver_settings set = settings(RATIOS[l] * top(&p), 1e-10);
            check_optimum(&p, &set);
        }
        problem_release(&p);
    }
}
END_TEST

START_TEST(every_mode_reaches_the_optimum)
{
    problem p = problem_make(50, 12, 9, 0.6);
    double lambda = 0.2 * top(&p);
    for (int mode = 0; mode < 5; mode++) {
        gcg_solver_settings set = settings(lambda, 1e-5);
        set.atoms = mode == 1 ? 1 : mode == 2 ? 3 : mode == 4 ? 1 : 0;
        set.plain = mode >= 3;
        set.max_iter = 5000;
        check_optimum(&p, &set);
    }
    problem_release(&p);
}
END_TEST

/* Without R there is no proof by Cholesky, but the bound stands all the same. */
START_TEST(what_is_kept_for_each_rating_changes_no_optimum)
{
    for (int t = 0; t < 3; t++) {
        problem p = problem_make((uint64_t)(52 + t), 45, t == 2 ? 60 : 38, 0.5);
        gcg_solver_settings set = settings(0.1 * top(&p), 1e-4);
        double *w = naive_alloc((size_t)(p.m * p.n), sizeof *w), lower;
        double upper =
            naive_complete(p.m, p.n, p.x, p.mask, set.lambda, 1e-9 * half_square_sum(&p), w, &lower);
        for (int kept = GCG_KEEP_ALL; kept <= GCG_KEEP_NONE; kept++)
            for (int plain = 0; plain < 2; plain++) {
                set.ratings_kept = (gcg_rating_arrays)kept;
                set.plain = plain;
                set.precision = t == 1 ? GCG_PRECISION_FLOAT : GCG_PRECISION_AUTO;
                set.max_iter = 2000;
                gcg_solver_result r = solve(&p, &set);
                ck_assert_str_eq(gcg_stop_name(r.stop), "converged");
                ck_assert_int_eq(r.last.rule,
                                 kept == GCG_KEEP_NONE ? GCG_CERT_PROBABILITY : GCG_CERT_CHOLESKY);
                ck_assert_double_le(r.last.gap, set.gap);
                ck_assert_double_le(r.last.dual, upper * (1 + 1e-9));
                ck_assert_double_ge(r.last.objective, lower * (1 - 1e-9));
                ck_assert_double_le(r.last.objective, upper * (1 + 1.1e-4));
                check_figures(&p, set.lambda, &r);
                gcg_solver_result_release(&r);
            }
        free(w);
        problem_release(&p);
    }
}
END_TEST

START_TEST(float_storage_gives_float_factors_and_true_bounds)
{
    for (int plain = 0; plain < 2; plain++) {
        problem p = problem_make(51, 14, 11, 0.6);
        gcg_solver_settings set = settings(0.15 * top(&p), 1e-4);
        set.precision = GCG_PRECISION_FLOAT;
        set.plain = plain;
        double *w = naive_alloc(14 * 11, sizeof *w), lower;
        double upper = naive_complete(14, 11, p.x, p.mask, set.lambda, 1e-12, w, &lower);
        gcg_solver_result r = solve(&p, &set);
        ck_assert(r.u.type == GCG_FLOAT && r.v.type == GCG_FLOAT);
        ck_assert_double_le(r.last.gap, 1e-4);
        ck_assert_double_ge(r.last.objective, lower * (1 - 1e-6));
        ck_assert_double_le(r.last.dual, upper * (1 + 1e-6));
        check_figures(&p, set.lambda, &r);
        gcg_solver_result_release(&r);
        free(w);
        problem_release(&p);
    }
}
END_TEST

START_TEST(float_storage_stalls_honestly_where_it_can_do_no_more)
{
    problem p = problem_make(52, 30, 25, 0.6);
    gcg_solver_settings set = settings(0.05 * top(&p), 1e-12);
    set.precision = GCG_PRECISION_FLOAT;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_STALLED);
    ck_assert(r.last.gap > 1e-12 && r.last.gap < 1e-3);
    ck_assert_int_eq(r.u.type, GCG_FLOAT);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

/* ---- closed forms ---- */

/* One vector of ratings x: lambda |x| - lambda^2 / 2, or |x|^2 / 2 when lambda >= |x|. */
static double one_vector(double size, double lambda)
{
    return lambda < size ? lambda * size - 0.5 * lambda * lambda : 0.5 * size * size;
}

static void expect_optimum(const problem *p, double lambda, double want)
{
    gcg_solver_settings set = settings(lambda, 1e-10);
    gcg_solver_result r = solve(p, &set);
    ck_assert_str_eq(gcg_stop_name(r.stop), "converged");
    check_bracket(&r, want, want, 1e-10);
    check_figures(p, lambda, &r);
    gcg_solver_result_release(&r);
}

START_TEST(one_row_and_one_column_have_their_closed_form)
{
    for (int t = 0; t < 4; t++) {
        int m = t % 2 ? 1 : 7, n = t % 2 ? 7 : 1;
        if (t == 2) m = n = 1;
        problem p = problem_make((uint64_t)t, m, n, 0.6);
        double size = sqrt(2 * half_square_sum(&p)), lambda_max;
        ck_assert_int_eq(gcg_lambda_max(&p.csr, 1, NULL, &lambda_max, NULL), GCG_OK);
        ck_assert_double_eq_tol(lambda_max, size, 1e-12 * size);
        expect_optimum(&p, 0.3 * size, one_vector(size, 0.3 * size));
        expect_optimum(&p, 0.999 * size, one_vector(size, 0.999 * size));
        expect_optimum(&p, 2 * size, one_vector(size, 2 * size));
        problem_release(&p);
    }
}
END_TEST

START_TEST(a_fully_observed_matrix_has_its_singular_values_lowered)
{
    for (int rank = 1; rank <= 3; rank += 2) {
        naive_rng g = naive_seed(20);
        double *u = naive_normals(&g, 8 * rank), *v = naive_normals(&g, 6 * rank), s[6], want = 0;
        double *x = naive_multiply(8, 6, rank, u, 0, v, 1);
        char *mask = naive_alloc(48, 1);
        memset(mask, 1, 48);
        problem p = problem_from(8, 6, x, mask);
        naive_svd(8, 6, x, s, NULL, NULL);
        double lambda = rank == 1 ? 0.4 * s[0] : 0.5 * (s[1] + s[2]);
        for (int q = 0; q < 6; q++) want += one_vector(s[q], lambda);
        expect_optimum(&p, lambda, want);
        gcg_solver_settings set = settings(lambda, 1e-10);
        gcg_solver_result r = solve(&p, &set);
        ck_assert_int_eq(r.last.rank, rank == 1 ? 1 : 2);
        for (int q = 0; q < r.last.rank; q++)
            ck_assert_double_eq_tol(r.singular_values[q], s[q] - lambda, 1e-5);
        gcg_solver_result_release(&r);
        free(u);
        free(v);
        problem_release(&p);
    }
}
END_TEST

START_TEST(an_observed_diagonal_splits_into_its_entries)
{
    double *x = naive_alloc(64, sizeof *x), want = 0, lambda = 1.5;
    char *mask = naive_alloc(64, 1);
    for (int i = 0; i < 8; i++) {
        x[9 * i] = (i % 2 ? -1 : 1) * (0.5 + i);
        mask[9 * i] = 1;
        want += one_vector(fabs(x[9 * i]), lambda);
    }
    problem p = problem_from(8, 8, x, mask);
    expect_optimum(&p, lambda, want);
    problem_release(&p);
}
END_TEST

START_TEST(equal_entries_act_as_one)
{
    double *x = naive_alloc(4, sizeof *x);
    char *mask = naive_alloc(4, 1);
    for (int e = 0; e < 4; e++) x[e] = 3, mask[e] = 1;
    problem p = problem_from(2, 2, x, mask);
    expect_optimum(&p, 2, one_vector(6, 2));
    problem_release(&p);
}
END_TEST

START_TEST(from_lambda_max_on_the_zero_matrix_is_the_optimum)
{
    problem p = problem_make(21, 9, 7, 0.5);
    double lambda_max;
    ck_assert_int_eq(gcg_lambda_max(&p.csr, 1, NULL, &lambda_max, NULL), GCG_OK);
    ck_assert_double_eq_tol(lambda_max, top(&p), 1e-12 * lambda_max);
    for (int t = 0; t < 3; t++) {
        gcg_solver_settings set = settings(lambda_max * (t == 0 ? 1 + 1e-9 : t == 1 ? 1.5 : 1e6), 1e-6);
        gcg_solver_result r = solve(&p, &set);
        ck_assert_int_eq(r.stop, GCG_STOP_ZERO);
        ck_assert_str_eq(gcg_stop_name(r.stop), "converged");
        ck_assert_int_eq(r.last.rank, 0);
        ck_assert_int_eq(r.last.iter, 0);
        ck_assert_double_eq(r.last.nuc_norm, 0);
        ck_assert_double_eq_tol(r.last.objective, half_square_sum(&p), 1e-12 * r.last.objective);
        ck_assert_double_le(r.last.gap, 1e-6);
        gcg_solver_result_release(&r);
    }
    gcg_solver_settings set = settings(lambda_max * 0.999, 1e-9);
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.last.rank, 1);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

/* At full rank there are no atoms left, and only the local improvement goes on. */
START_TEST(a_small_lambda_whose_optimum_has_full_rank_takes_few_rounds)
{
    naive_rng g = naive_seed(22);
    double *x = naive_normals(&g, 200 * 40);
    char *mask = naive_alloc(200 * 40, 1);
    for (int e = 0; e < 200 * 40; e++) mask[e] = naive_uniform(&g) < 0.5;
    problem p = problem_from(200, 40, x, mask);
    double lambda_max;
    ck_assert_int_eq(gcg_lambda_max(&p.csr, 1, NULL, &lambda_max, NULL), GCG_OK);
    gcg_solver_settings set = settings(0.003 * lambda_max, 1e-6);
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(r.last.rank, 40);
    ck_assert_int_le(r.last.iter, 50);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

START_TEST(ratings_that_are_all_zero_are_solved)
{
    for (int plain = 0; plain < 2; plain++) {
        double *x = naive_alloc(12, sizeof *x), lambda_max = 7;
        char *mask = naive_alloc(12, 1);
        mask[3] = mask[7] = 1;
        problem p = problem_from(4, 3, x, mask);
        gcg_solver_settings set = settings(1, 1e-3);
        set.plain = plain;
        gcg_solver_result r = solve(&p, &set);
        ck_assert_int_eq(r.stop, GCG_STOP_ZERO);
        ck_assert(r.last.objective == 0 && r.last.dual == 0 && r.last.gap == 0 && r.last.rank == 0);
        ck_assert_int_eq(gcg_lambda_max(&p.csr, 1, NULL, &lambda_max, NULL), GCG_OK);
        ck_assert_double_eq(lambda_max, 0);
        gcg_solver_result_release(&r);
        problem_release(&p);
    }
}
END_TEST

/* ---- lambda = 0, rank ---- */

START_TEST(lambda_zero_with_a_rank_fits_that_rank)
{
    problem p = problem_make(22, 20, 15, 2); /* fully observed: the best fit is the truncated decomposition */
    double s[15], want = 0;
    naive_svd(20, 15, p.x, s, NULL, NULL);
    for (int q = 2; q < 15; q++) want += 0.5 * s[q] * s[q];
    gcg_solver_settings set = settings(0, 1e-9);
    set.rank = 2;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(r.last.rank, 2);
    ck_assert_double_eq_tol(r.last.objective, want, 1e-6 * want);
    ck_assert(isnan(r.last.gap) && isnan(r.last.dual));
    ck_assert_int_eq(r.last.rule, GCG_CERT_NONE);
    check_figures(&p, 0, &r);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

START_TEST(lambda_zero_completes_a_matrix_of_low_rank)
{
    naive_rng g = naive_seed(23);
    double *u = naive_normals(&g, 30 * 2), *v = naive_normals(&g, 25 * 2),
           *x = naive_multiply(30, 25, 2, u, 0, v, 1);
    double *full = naive_alloc(750, sizeof *full);
    memcpy(full, x, 750 * sizeof *x);
    char *mask = naive_alloc(750, 1);
    for (int e = 0; e < 750; e++) {
        mask[e] = naive_uniform(&g) < 0.6;
        if (!mask[e]) x[e] = 0;
    }
    problem p = problem_from(30, 25, x, mask);
    gcg_solver_settings set = settings(0, 1e-6);
    set.rank = 2;
    gcg_solver_result r = solve(&p, &set);
    double *w = naive_product(&r.u, &r.v);
    ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
    ck_assert_double_le(naive_difference(750, w, full), 1e-4); /* the unobserved entries too */
    gcg_solver_result_release(&r);
    free(w);
    free(u);
    free(v);
    free(full);
    problem_release(&p);
}
END_TEST

START_TEST(the_rank_limit_is_kept_and_told)
{
    for (int plain = 0; plain < 2; plain++) {
        problem p = problem_make(24, 20, 18, 0.7);
        double *w = naive_alloc(360, sizeof *w), lower, lambda = 0.02 * top(&p);
        double upper = naive_complete(20, 18, p.x, p.mask, lambda, 1e-9, w, &lower);
        gcg_solver_settings set = settings(lambda, 1e-6);
        set.rank = 2;
        set.plain = plain;
        gcg_solver_result r = solve(&p, &set);
        ck_assert_int_eq(r.stop, GCG_STOP_RANK_CAP);
        ck_assert_str_eq(gcg_stop_name(r.stop), "rank_cap");
        ck_assert_int_le(r.last.rank, 2);
        ck_assert_double_gt(r.last.objective, upper);
        ck_assert_double_le(r.last.dual, upper * (1 + 1e-10));
        ck_assert_double_gt(r.last.gap, 1e-6);
        check_figures(&p, lambda, &r);
        gcg_solver_result_release(&r);
        set.rank = 18; /* a limit that does not bind changes nothing */
        set.gap = 1e-5;
        r = solve(&p, &set);
        if (!plain) ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
        gcg_solver_result_release(&r);
        free(w);
        problem_release(&p);
    }
}
END_TEST

/* ---- stops ---- */

START_TEST(a_run_that_stops_early_says_why_and_keeps_a_true_bound)
{
    problem p = problem_make(25, 30, 20, 0.5);
    double *w = naive_alloc(600, sizeof *w), lower, lambda = 0.05 * top(&p);
    double upper = naive_complete(30, 20, p.x, p.mask, lambda, 1e-9, w, &lower);
    static const gcg_stop want[] = {GCG_STOP_MAX_ITER, GCG_STOP_MAX_TIME, GCG_STOP_SIGNAL};
    static const char *const names[] = {"max_iter", "max_time", "signal"};
    for (int t = 0; t < 6; t++) {
        gcg_solver_settings set = settings(lambda, 1e-12);
        set.plain = t >= 3;
        if (t % 3 == 0) set.max_iter = 2;
        if (t % 3 == 1) set.max_time = 0;
        if (t % 3 == 2) gcg_interrupt_request();
        gcg_solver_result r = solve(&p, &set);
        gcg_interrupt_clear();
        ck_assert_int_eq(r.stop, want[t % 3]);
        ck_assert_str_eq(gcg_stop_name(r.stop), names[t % 3]);
        ck_assert_int_eq(r.last.iter, t % 3 == 0 ? 2 : 0);
        ck_assert_int_gt(r.last.rule, GCG_CERT_ESTIMATE);
        ck_assert_double_le(r.last.dual, upper * (1 + 1e-10));
        ck_assert_double_ge(r.last.objective, upper * (1 - 1e-10));
        check_figures(&p, lambda, &r);
        gcg_solver_result_release(&r);
    }
    free(w);
    problem_release(&p);
}
END_TEST

/* ---- progress ---- */

typedef struct {
    int calls, fail_at, phases, fractions, bad;
    const char *phase;
    double done;
    gcg_progress last;
    double upper;
    char what[64];
} watcher;

static void complain(watcher *w, int right, const char *what)
{
    if (right || w->bad++) return;
    snprintf(w->what, sizeof w->what, "%s (call %d)", what, w->calls);
}

static gcg_status watch(const gcg_progress *now, void *user, gcg_err *err)
{
    watcher *w = user;
    const gcg_progress *last = &w->last;
    double rounding = 1e-12 * now->objective;
    complain(w, now->iter == w->calls, "iter");
    complain(w, now->rule == GCG_CERT_NONE || now->dual <= now->objective + rounding,
             "dual above the objective");
    complain(w, now->rule <= GCG_CERT_ESTIMATE || now->dual <= w->upper + 1e-9 * w->upper,
             "dual above the optimum");
    complain(w, now->gap == fmax(0, (now->objective - now->dual) / now->objective), "gap");
    complain(w, now->u->k == now->rank && now->v->k == now->rank, "rank");
    if (w->calls > 0) {
        complain(w, now->objective <= last->objective + rounding, "objective rises");
        complain(w, now->time_s >= last->time_s, "time");
        complain(w, now->matvecs > last->matvecs && now->passes > last->passes, "counters");
    }
    w->last = *now;
    w->calls++;
    if (w->calls == w->fail_at) return gcg_fail(err, GCG_ERR_IO, "log.tsv", 0, 0, "disk full");
    return GCG_OK;
}

static void note_phase(const char *phase, double done, void *user)
{
    static const char *const names[] = {"evaluate", "polar", "improve", "certify"};
    watcher *w = user;
    int known = 0;
    for (int i = 0; i < 4; i++) known |= strcmp(phase, names[i]) == 0;
    complain(w, known, "phase");
    if (!w->phase || strcmp(phase, w->phase) != 0) {
        w->phases++;
        w->done = 0;
    }
    w->phase = phase;
    if (isnan(done)) return; /* begins, or how far it is cannot be known */
    complain(w, done >= w->done && done <= 1, "done");
    w->done = done;
    w->fractions++;
}

START_TEST(progress_is_told_once_an_iteration_in_order)
{
    for (int mode = 0; mode < 3; mode++) {
        problem p = problem_make(26, 25, 20, 0.5);
        double *w = naive_alloc(500, sizeof *w), lower;
        gcg_solver_settings set = settings(0.03 * top(&p), 1e-6);
        watcher seen = {0};
        seen.upper = naive_complete(25, 20, p.x, p.mask, set.lambda, 1e-9, w, &lower);
        set.plain = mode == 1;
        set.atoms = mode == 2;
        set.progress = watch;
        set.progress_user = &seen;
        set.phase = note_phase;
        gcg_solver_result r = solve(&p, &set);
        ck_assert_msg(!seen.bad, "mode %d: %s", mode, seen.what);
        ck_assert_int_eq(seen.calls, r.last.iter + 1);
        ck_assert_int_ge(seen.phases, 3 * seen.calls - 2);
        ck_assert_int_ge(seen.fractions, seen.calls);
        ck_assert_double_eq(seen.last.objective, r.last.objective);
        ck_assert_double_eq(seen.last.dual, r.last.dual);
        ck_assert_int_eq(seen.last.rank, r.last.rank);
        gcg_solver_result_release(&r);
        free(w);
        problem_release(&p);
    }
}
END_TEST

START_TEST(a_callback_that_fails_ends_the_solve_with_its_status)
{
    problem p = problem_make(27, 25, 20, 0.5);
    int64_t blocks = gcg_mem_blocks();
    for (int at = 1; at <= 3; at++) {
        watcher seen = {.fail_at = at, .upper = INFINITY};
        gcg_solver_settings set = settings(0.03 * top(&p), 1e-9);
        gcg_solver_result r;
        gcg_err err = {0};
        set.progress = watch;
        set.progress_user = &seen;
        ck_assert_int_eq(gcg_complete(&p.csr, &set, &r, &err), GCG_ERR_IO);
        ck_assert_str_eq(err.text, "disk full");
        ck_assert_int_eq(seen.calls, at);
        ck_assert(r.u.data == NULL && r.v.data == NULL && r.singular_values == NULL);
        gcg_solver_result_release(&r);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
    }
    problem_release(&p);
}
END_TEST

/* ---- invariance ---- */

START_TEST(the_result_is_the_same_bytes_at_1_2_and_7_threads)
{
    static const int threads[] = {1, 2, 7};
    problem p = problem_make(28, 150, 120, 0.3);
    for (int mode = 0; mode < 3; mode++) { /* float, double, plain */
        gcg_solver_settings set = settings(0.05 * top(&p), mode ? 1e-5 : 1e-4);
        set.precision = mode == 0 ? GCG_PRECISION_FLOAT : GCG_PRECISION_DOUBLE;
        set.plain = mode == 2;
        set.max_iter = 12;
        gcg_solver_result r[3];
        for (int t = 0; t < 3; t++) {
            gcg_par_set_threads(threads[t]);
            r[t] = solve(&p, &set);
            if (t == 0) continue;
            ck_assert_int_eq(r[t].last.rank, r[0].last.rank);
            ck_assert_int_eq(r[t].last.iter, r[0].last.iter);
            ck_assert_int_eq(r[t].last.matvecs, r[0].last.matvecs);
            ck_assert_double_eq(r[t].last.objective, r[0].last.objective);
            ck_assert_double_eq(r[t].last.dual, r[0].last.dual);
            size_t row = (size_t)r[0].u.stride * r[0].u.type;
            ck_assert_mem_eq(r[t].u.data, r[0].u.data, 150 * row);
            ck_assert_mem_eq(r[t].v.data, r[0].v.data, 120 * row);
            ck_assert_mem_eq(r[t].singular_values, r[0].singular_values,
                             (size_t)r[0].last.rank * sizeof(double));
        }
        for (int t = 0; t < 3; t++) gcg_solver_result_release(&r[t]);
    }
    problem_release(&p);
}
END_TEST

/* Centred in place, or whenever a rating is read. */
START_TEST(centring_while_reading_gives_the_same_bytes_as_centring_before)
{
    gcg_err err = {0};
    problem p = problem_make(77, 40, 25, 0.4);
    for (int variant = 0; variant < 8; variant++) {
        int from_float = variant & 1, as_double = variant >> 1 & 1;
        gcg_solver_settings set = settings(0.3, 1e-3);
        set.ratings_kept = variant >> 2 ? GCG_KEEP_NONE : GCG_KEEP_ALL;
        set.precision = as_double ? GCG_PRECISION_AUTO : GCG_PRECISION_FLOAT;
        gcg_solver_result r[2];
        double lambda_max[2];
        for (int reading = 0; reading < 2; reading++) {
            gcg_csr x = naive_csr(p.m, p.n, p.x, p.mask, 1);
            gcg_center center;
            if (from_float) {
                for (int64_t e = 0; e < x.nnz; e++) x.val_d[e] = (float)x.val_d[e];
                ck_assert_int_eq(gcg_csr_narrow(&x, &err), GCG_OK);
            }
            ck_assert_int_eq(gcg_center_compute(&x, GCG_CENTER_BOTH, &center, &err), GCG_OK);
            if (reading)
                gcg_center_subtract_reading(&center, as_double, &x);
            else
                ck_assert_int_eq(gcg_center_subtract(&center, as_double, &x, &err), GCG_OK);
            ck_assert_int_eq(gcg_csr_is_float(&x), !as_double);
            ck_assert_int_eq(gcg_lambda_max(&x, 1, NULL, &lambda_max[reading], &err), GCG_OK);
            ck_assert_int_eq(gcg_complete(&x, &set, &r[reading], &err), GCG_OK);
            gcg_center_release(&center);
            gcg_csr_release(&x);
        }
        ck_assert(lambda_max[0] == lambda_max[1]);
        ck_assert_int_gt(r[0].u.k, 1);
        ck_assert(r[0].last.objective == r[1].last.objective && r[0].last.dual == r[1].last.dual);
        size_t row = (size_t)r[0].u.stride * r[0].u.type;
        ck_assert_int_eq(r[1].u.k, r[0].u.k);
        ck_assert_mem_eq(r[1].u.data, r[0].u.data, 40 * row);
        ck_assert_mem_eq(r[1].v.data, r[0].v.data, 25 * row);
        for (int k = 0; k < 2; k++) gcg_solver_result_release(&r[k]);
    }
    problem_release(&p);
}
END_TEST

START_TEST(the_order_of_users_and_items_does_not_matter)
{
    problem p = problem_make(29, 18, 14, 0.5);
    gcg_solver_settings set = settings(0.1 * top(&p), 1e-10);
    gcg_solver_result straight = solve(&p, &set);
    double *x = naive_alloc(18 * 14, sizeof *x);
    char *mask = naive_alloc(18 * 14, 1);
    for (int i = 0; i < 18; i++)
        for (int j = 0; j < 14; j++) {
            int e = (i * 7 + 3) % 18 * 14 + (j * 5 + 1) % 14;
            x[e] = p.x[i * 14 + j];
            mask[e] = p.mask[i * 14 + j];
        }
    problem q = problem_from(18, 14, x, mask);
    gcg_solver_result permuted = solve(&q, &set);
    ck_assert_double_eq_tol(permuted.last.objective, straight.last.objective,
                            2e-10 * straight.last.objective);
    ck_assert_double_eq_tol(permuted.last.nuc_norm, straight.last.nuc_norm, 1e-4 * straight.last.nuc_norm);
    gcg_solver_result_release(&straight);
    gcg_solver_result_release(&permuted);
    problem_release(&p);
    problem_release(&q);
}
END_TEST

START_TEST(scaled_ratings_have_scaled_optima)
{
    static const double scales[] = {1e-60, 1e-20, 1e-5, 1e5, 1e20, 1e60};
    problem p = problem_make(30, 12, 10, 0.6);
    gcg_solver_settings set = settings(0.2 * top(&p), 1e-9);
    gcg_solver_result one = solve(&p, &set);
    for (int t = 0; t < 6; t++) {
        double c = scales[t], *x = naive_alloc(120, sizeof *x);
        char *mask = naive_alloc(120, 1);
        memcpy(mask, p.mask, 120);
        for (int e = 0; e < 120; e++) x[e] = c * p.x[e];
        problem q = problem_from(12, 10, x, mask);
        gcg_solver_settings scaled = settings(c * set.lambda, 1e-9);
        gcg_solver_result r;
        gcg_err err;
        ck_assert_msg(gcg_complete(&q.csr, &scaled, &r, &err) == GCG_OK, "scale %g: %s", c, err.text);
        ck_assert_str_eq(gcg_stop_name(r.stop), "converged");
        ck_assert_double_eq_tol(r.last.objective / (c * c), one.last.objective, 2e-9 * one.last.objective);
        ck_assert_double_eq_tol(r.last.nuc_norm / c, one.last.nuc_norm, 1e-3 * one.last.nuc_norm);
        gcg_solver_result_release(&r);
        problem_release(&q);
    }
    gcg_solver_result_release(&one);
    problem_release(&p);
}
END_TEST

START_TEST(float_and_double_ratings_of_the_same_values_are_the_same_problem)
{
    problem p = problem_make(31, 12, 10, 0.6);
    for (int e = 0; e < 120; e++) p.x[e] = round(2 * p.x[e]) / 2;
    gcg_csr_release(&p.csr);
    gcg_solver_result r[2];
    double lambda_max[2];
    for (int wide = 0; wide < 2; wide++) {
        p.csr = naive_csr(12, 10, p.x, p.mask, wide);
        gcg_solver_settings set = settings(0.2 * top(&p), 1e-9);
        r[wide] = solve(&p, &set);
        ck_assert_int_eq(gcg_lambda_max(&p.csr, 3, NULL, &lambda_max[wide], NULL), GCG_OK);
        gcg_csr_release(&p.csr);
    }
    ck_assert_double_eq(r[0].last.objective, r[1].last.objective);
    ck_assert_double_eq(lambda_max[0], lambda_max[1]);
    gcg_solver_result_release(&r[0]);
    gcg_solver_result_release(&r[1]);
    problem_release(&p);
}
END_TEST

START_TEST(empty_rows_and_columns_get_zero_factors)
{
    problem p = problem_make(32, 12, 10, 0.6);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 10; j++)
            if (i == 0 || i == 5 || i == 11 || j == 3 || j == 9) p.mask[i * 10 + j] = 0, p.x[i * 10 + j] = 0;
    gcg_csr_release(&p.csr);
    p.csr = naive_csr(12, 10, p.x, p.mask, 1);
    gcg_solver_settings set = settings(0.2 * top(&p), 1e-10);
    check_optimum(&p, &set);
    gcg_solver_result r = solve(&p, &set);
    for (int q = 0; q < r.last.rank; q++) {
        ck_assert_double_eq_tol(gcg_factors_get(&r.u, 5, q), 0, 1e-12);
        ck_assert_double_eq_tol(gcg_factors_get(&r.v, 9, q), 0, 1e-12);
    }
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

/* ---- larger ones ---- */

/* Fully observed with prescribed singular values, so that the optimum is known: cosine bases. */
static problem prescribed(int m, int n, int r, const double *s)
{
    double *x = naive_alloc((size_t)(m * n), sizeof *x);
    char *mask = naive_alloc((size_t)(m * n), 1);
    const double pi = 3.141592653589793;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int q = 0; q < r; q++)
                x[i * n + j] += s[q] * (2 / sqrt((double)m * n)) * cos(pi * (i + 0.5) * (q + 1) / m) *
                                cos(pi * (j + 0.5) * (q + 1) / n);
            mask[i * n + j] = 1;
        }
    return problem_from(m, n, x, mask);
}

START_TEST(small_gaps_go_on_in_double_by_themselves)
{
    static const double s[] = {900, 500, 200, 90, 60, 30, 20, 10};
    problem p = prescribed(300, 180, 8, s); /* 54000 ratings: auto begins in float */
    double lambda = 50, want = 0;
    for (int q = 0; q < 8; q++) want += one_vector(s[q], lambda);
    gcg_solver_settings set = settings(lambda, 1e-3);
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.u.type, GCG_FLOAT);
    ck_assert_double_eq_tol(r.last.objective, want, 1e-3 * want);
    gcg_solver_result_release(&r);
    set.gap = 1e-9;
    r = solve(&p, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(r.u.type, GCG_DOUBLE);
    check_bracket(&r, want, want, 1e-9);
    ck_assert_int_eq(r.last.rank, 5);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

/* 3 ratings a row at random places. */
static gcg_csr sparse(int n, uint64_t seed)
{
    naive_rng g = naive_seed(seed);
    int32_t *row = naive_alloc((size_t)(3 * n), sizeof *row),
            *col = naive_alloc((size_t)(3 * n), sizeof *col);
    double *value = naive_alloc((size_t)(3 * n), sizeof *value);
    for (int e = 0; e < 3 * n; e++) {
        row[e] = e / 3;
        col[e] = (e % 3) * (n / 3) + naive_below(&g, n / 3);
        value[e] = 1 + naive_below(&g, 5);
    }
    gcg_csr x;
    ck_assert_int_eq(gcg_csr_from_triples(&x, n, n, 3 * n, row, col, value, NULL), GCG_OK);
    free(row);
    free(col);
    free(value);
    return x;
}

/* Where a Cholesky proof is not usual, the bound is one of Lanczos; both agree. */
START_TEST(large_problems_are_bounded_by_lanczos_or_on_request_by_cholesky)
{
    problem p = {.csr = sparse(2100, 1)};
    double lambda_max;
    ck_assert_int_eq(gcg_lambda_max(&p.csr, 1, NULL, &lambda_max, NULL), GCG_OK);
    gcg_solver_settings set = settings(0.8 * lambda_max, 1e-2);
    set.precision = GCG_PRECISION_FLOAT;
    gcg_solver_result lanczos = solve(&p, &set);
    ck_assert_int_eq(lanczos.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(lanczos.last.rule, GCG_CERT_PROBABILITY);
    ck_assert_double_eq(lanczos.last.probability, 1e-6);
    set.certify = 1;
    gcg_solver_result proved = solve(&p, &set);
    ck_assert_int_eq(proved.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(proved.last.rule, GCG_CERT_CHOLESKY);
    ck_assert_double_eq(proved.last.probability, 0);
    ck_assert_double_le(proved.last.dual, lanczos.last.objective);
    ck_assert_double_le(lanczos.last.dual, proved.last.objective);
    gcg_solver_result_release(&lanczos);
    gcg_solver_result_release(&proved);
    set.certify = 0;
    set.max_iter = 1;
    set.gap = 1e-8;
    gcg_solver_result early = solve(&p, &set); /* its last bound is a true one too */
    ck_assert_int_eq(early.stop, GCG_STOP_MAX_ITER);
    ck_assert_int_gt(early.last.rule, GCG_CERT_ESTIMATE);
    ck_assert_double_le(early.last.dual, proved.last.objective);
    gcg_solver_result_release(&early);
    gcg_csr_release(&p.csr);
}
END_TEST

/* Too large for Cholesky: the bound of a run that is cut short is the best that Lanczos gives in its time,
 * and the same in every run. */
START_TEST(a_short_run_on_a_large_problem_ends_with_a_bound_that_does_not_depend_on_threads)
{
    problem p = {.csr = sparse(8100, 1)};
    double lambda_max, dual[2];
    ck_assert_int_eq(gcg_lambda_max(&p.csr, 1, NULL, &lambda_max, NULL), GCG_OK);
    for (int t = 0; t < 2; t++) {
        gcg_par_set_threads(1 + t);
        gcg_solver_settings set = settings(0.9 * lambda_max, 1e-9);
        set.max_iter = 1;
        set.atoms = 2;
        gcg_solver_result r = solve(&p, &set);
        ck_assert_int_eq(r.stop, GCG_STOP_MAX_ITER);
        ck_assert_int_eq(r.last.rule, GCG_CERT_PROBABILITY);
        ck_assert_double_gt(r.last.dual, 0.5 * r.last.objective);
        ck_assert_double_lt(r.last.dual, r.last.objective);
        dual[t] = r.last.dual;
        gcg_solver_result_release(&r);
    }
    ck_assert_double_eq(dual[0], dual[1]);
    gcg_csr_release(&p.csr);
}
END_TEST

START_TEST(ratings_whose_squares_overflow_are_an_error)
{
    problem p = problem_make(37, 4, 3, 0.9);
    for (int64_t e = 0; e < p.csr.nnz; e++) p.csr.val_d[e] = 1e200;
    gcg_solver_settings set = settings(1, 1e-3);
    gcg_solver_result r;
    gcg_err err;
    ck_assert_int_eq(gcg_complete(&p.csr, &set, &r, &err), GCG_ERR_INTERNAL);
    ck_assert_str_eq(err.text, "the objective is not finite");
    problem_release(&p);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(balancing_that_drops_columns_keeps_their_inverses)
{
    problem p = problem_make(33, 40, 30, 0.5);
    gcg_solver_settings set = settings(1, 1e-3);
    completion m = {.x = &p.csr, .set = &set, .type = GCG_DOUBLE};
    naive_rng g = naive_seed(34);
    ck_assert_int_eq(mc_lay_out(&m, 18, GCG_DOUBLE, NULL), GCG_OK);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < (side ? 30 : 40); i++)
            for (int q = 0; q < 12; q++) gcg_factors_set(side ? &m.v : &m.u, i, q, naive_normal(&g));
    ck_assert_int_eq(mc_balance(&m, NULL),
                     GCG_OK); /* 18 columns, 6 of them zero: 32 entries a row become 16 */
    ck_assert_int_eq(m.u.k, 12);
    ck_assert_int_eq(m.u.stride, 16);
    for (int q = 0; q < 12; q++) ck_assert_double_eq_tol(m.s[q] * m.inverse_s[q], 1, 1e-14);
    gcg_mem_free(m.point);
    gcg_mem_free(m.s);
    problem_release(&p);
}
END_TEST

/* The lines of the algorithm one by one, without the driver. */
static void begin(completion *m, const problem *p, const gcg_solver_settings *set, gcg_dtype type)
{
    *m = (completion){.x = &p->csr, .set = set, .lambda = set->lambda, .type = type};
    m->length = m->safe_length = m->unit_length = 1;
    m->weights = (double)p->csr.nnz;
    m->block = MC_BLOCK_FIRST;
    gcg_rng_init(&m->rng, 1, 0);
    m->op = (gcg_linop){p->csr.rows, p->csr.cols, m, mc_times, mc_times_t, 0, NULL};
    ck_assert_int_eq(gcg_pass_new(&p->csr, &m->pass, NULL), GCG_OK);
    void **arrays[] = {&m->r, &m->b, &m->c};
    int kept = set->ratings_kept == GCG_KEEP_ALL ? 3 : set->ratings_kept == GCG_KEEP_RESIDUAL;
    for (int i = 0; i < kept; i++) *arrays[i] = gcg_mem_alloc_array(p->csr.nnz, type);
    m->x_x = 0;
    for (int64_t e = 0; e < p->csr.nnz; e++) m->x_x += pow(gcg_csr_value(&p->csr, e), 2);
    ck_assert_int_eq(mc_lay_out(m, 0, type, NULL), GCG_OK);
    mc_renew_residual(m);
}

static void end(completion *m)
{
    gcg_pass_free(m->pass);
    void *blocks[] = {m->point, m->s, m->r, m->b, m->c};
    for (int i = 0; i < 5; i++) gcg_mem_free(blocks[i]);
    gcg_factors_release(&m->rv);
    gcg_factors_release(&m->spare);
    gcg_triplets_release(&m->atoms);
}

START_TEST(no_line_of_the_algorithm_raises_the_objective)
{
    for (int run = 0; run < 18; run++) {
        int mode = run % 6;
        gcg_dtype type = mode % 2 ? GCG_FLOAT : GCG_DOUBLE;
        double rounding = type == GCG_FLOAT ? 2e-7 : 1e-13, polar;
        problem p = problem_make((uint64_t)(60 + mode), 40, 35, 0.4);
        gcg_solver_settings set = settings(0.1 * top(&p), 1e-9);
        set.plain = mode >= 4;
        set.atoms = mode / 2 == 1 ? 2 : 0;
        set.ratings_kept = (gcg_rating_arrays)(run / 6);
        completion m;
        gcg_point_value at, last = {.objective = INFINITY};
        int32_t added;
        begin(&m, &p, &set, type);
        for (int iter = 0; iter < 6; iter++) {
            ck_assert_int_eq(mc_evaluate(&m, &at, NULL), GCG_OK);
            ck_assert_double_le(at.objective, last.objective * (1 + rounding)); /* balancing */
            double before = at.objective;
            ck_assert_int_eq(mc_polar(&m, &polar, NULL), GCG_OK);
            ck_assert_int_eq(mc_step(&m, &added, NULL), GCG_OK);
            ck_assert_int_eq(mc_value(&m, &at, NULL), GCG_OK);
            ck_assert_double_le(at.objective, before * (1 + rounding));
            ck_assert(iter > 0 || at.objective < 0.95 * before); /* and the first step is a real one */
            before = at.objective;
            ck_assert_int_eq(mc_improve(&m, 1e-6 * before, NULL), GCG_OK);
            ck_assert_int_eq(mc_value(&m, &at, NULL), GCG_OK);
            ck_assert_double_le(at.objective, before * (1 + rounding));
            last = at;
        }
        end(&m);
        problem_release(&p);
        ck_assert_int_eq(gcg_mem_blocks(), 0);
    }
}
END_TEST

/* From W = 0: D = sum over sigma_i > lambda of (sigma_i - lambda) u_i v_i', and the best t of F(t D) <= 1/2
 * ||X - t P(D)||^2 + lambda t sum (sigma_i - lambda). */
START_TEST(the_first_block_of_atoms_has_the_best_weight)
{
    enum { M = 12, N = 9 };
    problem p = problem_make(70, M, N, 0.6);
    gcg_solver_settings set = settings(0.2 * top(&p), 1e-9);
    double s[N], u[M * N], v[N * N], d[M * N] = {0}, slope = 0, d_d = 0, polar;
    naive_svd(M, N, p.x, s, u, v);
    for (int q = 0; q < N && s[q] > set.lambda; q++) {
        slope -= set.lambda * (s[q] - set.lambda);
        for (int e = 0; e < M * N; e++) d[e] += (s[q] - set.lambda) * u[e / N * N + q] * v[e % N * N + q];
    }
    for (int e = 0; e < M * N; e++) {
        slope += p.x[e] * d[e];
        d_d += p.mask[e] ? d[e] * d[e] : 0;
    }
    completion m;
    gcg_point_value at;
    int32_t added;
    begin(&m, &p, &set, GCG_DOUBLE);
    ck_assert_int_eq(mc_evaluate(&m, &at, NULL), GCG_OK);
    ck_assert_int_eq(mc_polar(&m, &polar, NULL), GCG_OK);
    ck_assert_double_eq_tol(polar, s[0], 1e-9 * s[0]);
    ck_assert_int_eq(mc_step(&m, &added, NULL), GCG_OK);
    ck_assert_int_gt(added, 1);
    ck_assert_int_eq(mc_value(&m, &at, NULL), GCG_OK);
    double want = half_square_sum(&p) - 0.5 * slope * slope / d_d;
    ck_assert_double_eq_tol(at.objective, want, 1e-9 * want);
    end(&m);
    problem_release(&p);
}
END_TEST

/* 1/2 ||P(X - UV')||^2 + lambda / 2 (||U||^2 + ||V||^2) at the point a + t (b - a), all entries in one
 * vector. */
static double surrogate(const problem *p, double lambda, const completion *m, const double *a,
                        const double *b, double t)
{
    int k = m->u.k, stride = m->u.stride;
    double sum = 0;
    double *x = naive_alloc((size_t)((p->m + p->n) * stride), sizeof *x);
    for (int e = 0; e < (p->m + p->n) * stride; e++) {
        x[e] = a[e] + t * (b[e] - a[e]);
        sum += 0.5 * lambda * x[e] * x[e];
    }
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            double w = 0;
            for (int q = 0; q < k; q++) w += x[i * stride + q] * x[(p->m + j) * stride + q];
            if (p->mask[i * p->n + j]) sum += 0.5 * pow(p->x[i * p->n + j] - w, 2);
        }
    free(x);
    return sum;
}

/* One iteration, and the end. */
static void stop_when_begun(const char *phase, double done, void *user)
{
    (void)phase;
    if (done > 0) ((gcg_watch *)user)->over = 1;
}

START_TEST(a_step_of_the_local_improvement_ends_at_a_minimum_along_its_line)
{
    for (int plain = 0; plain < 2; plain++) {
        problem p = problem_make(71, 20, 15, 0.5);
        gcg_solver_settings set = settings(0.15 * top(&p), 1e-9);
        set.plain = plain;
        completion m;
        gcg_point_value at;
        int32_t added;
        double polar, *before, *after;
        begin(&m, &p, &set, GCG_DOUBLE);
        ck_assert_int_eq(mc_evaluate(&m, &at, NULL), GCG_OK);
        ck_assert_int_eq(mc_polar(&m, &polar, NULL), GCG_OK);
        ck_assert_int_eq(mc_step(&m, &added, NULL), GCG_OK);
        size_t entries = (size_t)mc_entries(&m, m.u.stride);
        before = naive_alloc(entries, sizeof *before);
        after = naive_alloc(entries, sizeof *after);
        memcpy(before, m.point, entries * sizeof *before);
        gcg_watch one = gcg_watch_defaults();
        one.tell = stop_when_begun;
        one.user = &one;
        one.phase = "improve";
        m.watch = &one;
        ck_assert_int_eq(mc_improve(&m, 1, NULL), GCG_OK);
        m.watch = NULL;
        memcpy(after, m.point, entries * sizeof *after);
        const double h = 1e-4;
#define SLOPE(t)                                                                                             \
    ((surrogate(&p, set.lambda, &m, before, after, (t) + h) -                                                \
      surrogate(&p, set.lambda, &m, before, after, (t)-h)) /                                                 \
     (2 * h))
        ck_assert_double_lt(SLOPE(0), 0);
        ck_assert_double_le(fabs(SLOPE(1)), 1e-6 * fabs(SLOPE(0)));
        free(before);
        free(after);
        end(&m);
        problem_release(&p);
    }
}
END_TEST

/* r is the residual of the point: dense. */
static void check_residual(const completion *m, const problem *p, const char *after)
{
    double unit = m->type == GCG_FLOAT ? 6e-8 : 1.2e-16, *w = naive_product(&m->u, &m->v), size = 1;
    int64_t at = 0;
    const void *r_values = m->r;
    void *anew = naive_alloc((size_t)p->csr.nnz, m->type);
    if (!m->r) { /* what the passes work with then */
        gcg_pass_residual_fast(m->pass, &m->u, &m->v, anew);
        r_values = anew;
    }
    for (int e = 0; e < p->m * p->n; e++) size = fmax(size, fmax(fabs(p->x[e]), fabs(w[e])));
    for (int e = 0; e < p->m * p->n; e++) {
        if (!p->mask[e]) continue;
        double r =
            m->type == GCG_FLOAT ? (double)((const float *)r_values)[at] : ((const double *)r_values)[at];
        if (!(fabs(r - (p->x[e] - w[e])) <= 100 * unit * size))
            ck_abort_msg("after %s: residual %lld is %g, should be %g", after, (long long)at, r,
                         p->x[e] - w[e]);
        at++;
    }
    free(anew);
    free(w);
}

/* Everything that evaluate() says of the point, and leaves for the lines to come. */
static void check_evaluated(const completion *m, const problem *p, const gcg_point_value *at)
{
    double tiny = m->type == GCG_FLOAT ? 1e-5 : 1e-11, scale = m->x_x, r_x = 0;
    int k = m->u.k;
    double *w = naive_product(&m->u, &m->v), *r = naive_alloc((size_t)(p->m * p->n), sizeof *r),
           loss = naive_loss(p->m, p->n, p->x, p->mask, w, r), norm = naive_trace_norm(p->m, p->n, w);
    for (int e = 0; e < p->m * p->n; e++) r_x += r[e] * p->x[e];
    check_residual(m, p, "evaluate");
    ck_assert_int_eq(at->rank, k);
    ck_assert_double_eq_tol(at->loss, loss, tiny * scale);
    if (!m->set->plain) { /* balanced */
        ck_assert_double_eq_tol(at->rho, norm, tiny * (1 + norm));
        ck_assert_double_eq_tol(at->objective, loss + m->lambda * norm, tiny * scale);
        double *v = naive_dense(&m->v), *rv = naive_multiply(p->m, k, p->n, r, 0, v, 0),
               *got = naive_dense(&m->rv);
        ck_assert(m->rv.k == k && naive_difference(p->m * k, rv, got) <= tiny * scale);
        for (int q = 0; q < k; q++) {
            double vv = 0;
            for (int j = 0; j < p->n; j++) vv += v[j * k + q] * v[j * k + q];
            ck_assert_double_eq_tol(m->s[q], vv, tiny * (1 + norm));
            ck_assert_double_eq_tol(m->s[q] * m->inverse_s[q], 1, 1e-14);
        }
        free(v);
        free(rv);
        free(got);
    }
    ck_assert_double_eq_tol(m->moments[0], 2 * loss, tiny * scale);
    ck_assert_double_eq_tol(m->moments[1], r_x, tiny * scale);
    free(w);
    free(r);
}

/* With few atoms at a time and with blocks, to the letter of the paper, and where no more rank is allowed. */
START_TEST(the_residual_belongs_to_the_point_after_every_line)
{
    for (int run = 0; run < 24; run++) {
        int mode = run % 8;
        gcg_dtype type = mode % 2 ? GCG_FLOAT : GCG_DOUBLE;
        problem p = problem_make((uint64_t)(80 + mode), 40, 35, mode / 2 == 1 ? 1 : 0.4);
        gcg_solver_settings set = settings(0.1 * top(&p), 1e-9);
        set.plain = mode / 2 == 2;
        set.atoms = mode / 2 == 1 ? 2 : 0;
        set.rank = mode / 2 == 3 ? 3 : 0;
        set.ratings_kept = (gcg_rating_arrays)(run / 8);
        completion m;
        gcg_point_value at;
        int32_t added, steps = 0;
        double polar;
        begin(&m, &p, &set, type);
        check_residual(&m, &p, "the beginning");
        for (int iter = 0; iter < 6; iter++) {
            ck_assert_int_eq(mc_evaluate(&m, &at, NULL), GCG_OK);
            check_evaluated(&m, &p, &at);
            ck_assert_int_eq(mc_polar(&m, &polar, NULL), GCG_OK);
            check_residual(&m, &p, "polar");
            ck_assert_int_eq(mc_step(&m, &added, NULL), GCG_OK);
            check_residual(&m, &p, "step");
            steps += added > 0;
            ck_assert_int_eq(mc_improve(&m, 1e-3 * at.objective, NULL), GCG_OK);
            check_residual(&m, &p, "improve");
        }
        ck_assert_int_gt(steps, 0);
        end(&m);
        problem_release(&p);
    }
}
END_TEST

/* Every entry is observed, so that ||P(D)|| = ||D||, and any step longer than 2 from a point that is not the
 * optimum can raise F. */
static void check_taken_back(uint64_t seed, gcg_dtype type, double lambda_ratio, gcg_rating_arrays kept)
{
    enum { M = 20, N = 16, K = 5, SIZE = M * N };
    double tiny = type == GCG_FLOAT ? 1e-5 : 1e-11;
    problem p = problem_make(seed, M, N, 1);
    gcg_solver_settings set = settings(lambda_ratio * top(&p), 1e-9);
    set.ratings_kept = kept;
    completion m;
    gcg_point_value at;
    naive_rng g = naive_seed(seed);
    double rho = 0;
    begin(&m, &p, &set, type);
    ck_assert_int_eq(mc_lay_out(&m, K, type, NULL), GCG_OK);
    for (int side = 0; side < 2; side++) /* not balanced */
        for (int i = 0; i < (side ? N : M); i++)
            for (int q = 0; q < K; q++) {
                gcg_factors_set(side ? &m.v : &m.u, i, q, naive_normal(&g) * (side ? 0.7 : 0.9));
                rho += 0.5 * pow(gcg_factors_get(side ? &m.v : &m.u, i, q), 2);
            }
    mc_renew_residual(&m);
    /* naive: W + PP'RQQ', its singular values lowered by lambda, with P and Q from an SVD of W */
    double *w = naive_product(&m.u, &m.v), r[SIZE], s[N], u[M * N], v[N * N], want[SIZE];
    double before = naive_loss(M, N, p.x, p.mask, w, r) + set.lambda * naive_trace_norm(M, N, w);
    naive_svd(M, N, w, s, u, v);
    for (int e = 0; e < M * N; e++) u[e] *= e % N < K;
    for (int e = 0; e < N * N; e++) v[e] *= e % N < K;
    double *pr = naive_multiply(N, N, M, u, 1, r, 0), *prq = naive_multiply(N, N, N, pr, 0, v, 0),
           *back = naive_multiply(M, N, N, u, 0, prq, 0), *full = naive_multiply(M, N, N, back, 0, v, 1);
    for (int e = 0; e < SIZE; e++) full[e] += w[e];
    double slope = -set.lambda * (naive_shrink(M, N, full, set.lambda, want) - rho), d_d = 0;
    for (int e = 0; e < SIZE; e++) {
        slope += r[e] * (want[e] - w[e]);
        d_d += (want[e] - w[e]) * (want[e] - w[e]);
    }
    double length =
        fmin(fmax(slope / d_d, 1), 2); /* of the next step: the best along this one, of length 1 */
    m.length = 64;
    ck_assert_int_eq(mc_evaluate(&m, &at, NULL), GCG_OK);
    ck_assert_double_le(at.objective, before * (1 + tiny));
    ck_assert_double_eq_tol(m.length, length, 1000 * tiny); /* 32 at least, had it not been taken back */
    check_evaluated(&m, &p, &at);
    double *got = naive_product(&m.u, &m.v);
    ck_assert_double_le(naive_difference(SIZE, got, want), tiny * naive_spectral_norm(M, N, full));
    for (int again = 0; again < 5; again++) { /* and on from there, at any length */
        before = at.objective;
        m.length = again % 2 ? 64 : 3;
        ck_assert_int_eq(mc_evaluate(&m, &at, NULL), GCG_OK);
        ck_assert_double_le(at.objective, before * (1 + (type == GCG_FLOAT ? 2e-7 : 1e-13)));
        check_evaluated(&m, &p, &at);
    }
    double *all[] = {w, pr, prq, back, full, got};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    end(&m);
    problem_release(&p);
}

START_TEST(a_proximal_step_that_is_too_long_is_taken_back)
{
    static const double ratios[] = {0.02, 0.1, 0.3};
    for (int t = 0; t < 12; t++)
        for (int kept = GCG_KEEP_ALL; kept <= GCG_KEEP_NONE; kept++)
            check_taken_back((uint64_t)(90 + t), t % 2 ? GCG_FLOAT : GCG_DOUBLE, ratios[t % 3],
                             (gcg_rating_arrays)kept);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

/* ---- the proof by deflation ---- */

static double rating(const completion *m, int64_t p)
{
    return m->type == GCG_FLOAT ? (double)((const float *)m->r)[p] : ((const double *)m->r)[p];
}

static void residual_times(void *ctx, const double *x, double *y)
{
    const completion *m = ctx;
    for (int32_t i = 0; i < m->x->rows; i++) {
        y[i] = 0;
        for (int64_t p = m->x->row_ptr[i]; p < m->x->row_ptr[i + 1]; p++)
            y[i] += rating(m, p) * x[m->x->col[p]];
    }
}

static void residual_times_t(void *ctx, const double *y, double *x)
{
    const completion *m = ctx;
    memset(x, 0, (size_t)m->x->cols * sizeof *x);
    for (int32_t i = 0; i < m->x->rows; i++)
        for (int64_t p = m->x->row_ptr[i]; p < m->x->row_ptr[i + 1]; p++)
            x[m->x->col[p]] += rating(m, p) * y[i];
}

/* sigma_1(R) by ARPACK and naive products. */
static double top_of_residual(completion *m)
{
    gcg_linop op = {m->x->rows, m->x->cols, m, residual_times, residual_times_t, 0, NULL};
    double sigma;
    ck_assert_int_eq(gcg_polar_top(&op, 1e-12, 7, &sigma, NULL, NULL, NULL), GCG_OK);
    return sigma;
}

/* Low rank and noise, 30 ratings a row at distinct places. */
static gcg_csr low_rank(int rows, int cols, uint64_t seed)
{
    enum { DEGREE = 30, RANK = 4 };
    naive_rng g = naive_seed(seed);
    int64_t n = (int64_t)rows * DEGREE;
    int32_t *row = naive_alloc((size_t)n, sizeof *row), *col = naive_alloc((size_t)n, sizeof *col);
    double *value = naive_alloc((size_t)n, sizeof *value), *u = naive_normals(&g, rows * RANK),
           *v = naive_normals(&g, cols * RANK);
    for (int64_t e = 0; e < n; e++) {
        row[e] = (int32_t)(e / DEGREE);
        col[e] = (int32_t)(e % DEGREE) * (cols / DEGREE) + naive_below(&g, cols / DEGREE);
        value[e] = 0.5 * naive_normal(&g);
        for (int q = 0; q < RANK; q++) value[e] += u[row[e] * RANK + q] * v[col[e] * RANK + q];
    }
    gcg_csr x;
    ck_assert_int_eq(gcg_csr_from_triples(&x, rows, cols, n, row, col, value, NULL), GCG_OK);
    free(row);
    free(col);
    free(value);
    free(u);
    free(v);
    return x;
}

/* More rows than columns, and the other way round, in both precisions. */
START_TEST(a_proof_by_deflation_is_a_true_bound_and_tight)
{
    const double wanted = 1e-3;
    gcg_dtype type = _i % 2 ? GCG_FLOAT : GCG_DOUBLE;
    problem p = {.csr = _i / 2 ? low_rank(2040, 2250, 1) : low_rank(2250, 2040, 1)};
    double lambda_max, polar;
    ck_assert_int_eq(gcg_lambda_max(&p.csr, 1, NULL, &lambda_max, NULL), GCG_OK);
    gcg_solver_settings set = settings(0.3 * lambda_max, wanted);
    completion m;
    gcg_point_value at;
    gcg_bound bound;
    int32_t added;
    begin(&m, &p, &set, type);
    for (int iter = 0; iter < 7; iter++) {
        ck_assert_int_eq(mc_evaluate(&m, &at, NULL), GCG_OK);
        ck_assert_int_eq(mc_polar(&m, &polar, NULL), GCG_OK);
        double sigma = top_of_residual(&m), dual;
        ck_assert_double_le(polar, sigma * (1 + (type == GCG_FLOAT ? 1e-6 : 1e-12)));
        ck_assert_int_eq(mc_bound(&m, GCG_BOUND_PROOF, wanted, &bound, NULL), GCG_OK);
        double s = fmin(set.lambda / sigma, m.moments[1] / m.moments[0]); /* the best multiple of R */
        dual = s * m.moments[1] - 0.5 * s * s * m.moments[0];
        if (bound.rule != GCG_CERT_ESTIMATE) {
            ck_assert_double_ge(m.sigma, sigma);
            ck_assert_double_le(bound.dual, dual * (1 + 1e-13));
        }
        ck_assert_double_eq(bound.probability, bound.rule == GCG_CERT_PROBABILITY ? 1e-6 : 0);
        if (iter >= 5) { /* near the optimum: Lanczos alone would be content with 1e-3 */
            ck_assert_int_eq(bound.rule, GCG_CERT_PROBABILITY);
            ck_assert_double_le(m.sigma, sigma * (1 + 1e-6));
            ck_assert_double_ge(bound.dual, at.objective * (1 - wanted));
        }
        ck_assert_int_eq(mc_step(&m, &added, NULL), GCG_OK);
        ck_assert_int_eq(mc_improve(&m, at.objective - bound.dual, NULL), GCG_OK);
    }
    end(&m);
    gcg_csr_release(&p.csr);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

/* ---- memory ---- */

typedef struct {
    problem p;
    gcg_solver_settings set;
} job;

static double passes_from(const problem *p, gcg_solver_settings *set, const gcg_factors *u,
                          const gcg_factors *v, double *objective)
{
    set->start_u = u;
    set->start_v = v;
    gcg_solver_result r = solve(p, set);
    double passes = r.last.passes;
    ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
    ck_assert(r.last.gap <= set->gap);
    check_figures(p, set->lambda, &r);
    *objective = r.last.objective;
    gcg_solver_result_release(&r);
    return passes;
}

START_TEST(a_start_near_the_optimum_reaches_it_in_fewer_passes)
{
    problem p = problem_make(5, 30, 24, 0.5);
    gcg_solver_settings near = settings(0.06 * top(&p), 1e-7), set = settings(0.05 * top(&p), 1e-7);
    gcg_solver_result r = solve(&p, &near), same = solve(&p, &set);
    double cold, warm, again, f_cold, f_warm, f_again;
    cold = passes_from(&p, &set, NULL, NULL, &f_cold);
    warm = passes_from(&p, &set, &r.u, &r.v, &f_warm);
    again = passes_from(&p, &set, &same.u, &same.v, &f_again);
    ck_assert_double_eq_tol(f_warm, f_cold, 1e-7 * f_cold);
    ck_assert_double_eq_tol(f_again, f_cold, 1e-7 * f_cold);
    ck_assert_msg(warm < cold && again < 0.5 * cold, "cold %g, near %g, at the optimum %g", cold, warm,
                  again);
    gcg_solver_result_release(&r);
    gcg_solver_result_release(&same);
    problem_release(&p);
}
END_TEST

/* Columns that are no basis, far too many, in the other precision, zero rows. */
START_TEST(any_start_leads_to_the_same_optimum)
{
    problem p = problem_make(8, 12, 9, 0.6);
    gcg_solver_settings set = settings(0.1 * top(&p), 1e-6);
    gcg_solver_result want = solve(&p, &set);
    static const int columns[] = {0, 1, 5, 25};
    for (int i = 0; i < 4; i++)
        for (int type = GCG_FLOAT; type <= GCG_DOUBLE; type += GCG_DOUBLE - GCG_FLOAT) {
            gcg_factors u, v;
            double objective;
            naive_rng g = naive_seed((uint64_t)i);
            ck_assert_int_eq(gcg_factors_init(&u, p.m, columns[i], (gcg_dtype)type, NULL), GCG_OK);
            ck_assert_int_eq(gcg_factors_init(&v, p.n, columns[i], (gcg_dtype)type, NULL), GCG_OK);
            for (int q = 0; q < columns[i]; q++) {
                for (int row = 1; row < p.m; row++) gcg_factors_set(&u, row, q, naive_normal(&g));
                for (int row = 0; row < p.n; row++) gcg_factors_set(&v, row, q, naive_normal(&g));
            }
            set.precision = GCG_PRECISION_AUTO;
            passes_from(&p, &set, &u, &v, &objective);
            ck_assert_double_eq_tol(objective, want.last.objective, 2e-6 * objective);
            set.plain = i == 2; /* no proximal step there */
            set.max_iter = 5000;
            passes_from(&p, &set, &u, &v, &objective);
            set.plain = 0;
            ck_assert_double_eq_tol(objective, want.last.objective, 2e-6 * objective);
            gcg_factors_release(&u);
            gcg_factors_release(&v);
        }
    gcg_solver_result_release(&want);
    problem_release(&p);
}
END_TEST

START_TEST(a_start_above_the_rank_limit_is_cut)
{
    problem p = problem_make(9, 20, 15, 0.7);
    gcg_solver_settings set = settings(0.02 * top(&p), 1e-4);
    gcg_solver_result full = solve(&p, &set);
    ck_assert_int_gt(full.u.k, 4);
    set.rank = 4;
    set.start_u = &full.u;
    set.start_v = &full.v;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_le(r.u.k, 4);
    ck_assert_int_eq(r.stop, GCG_STOP_RANK_CAP);
    check_figures(&p, set.lambda, &r);
    gcg_solver_result_release(&r);
    gcg_solver_result_release(&full);
    problem_release(&p);
}
END_TEST

static gcg_status complete_once(void *ctx)
{
    job *j = ctx;
    gcg_solver_result r;
    gcg_status status = gcg_complete(&j->p.csr, &j->set, &r, NULL);
    if (status) ck_assert(r.u.data == NULL && r.singular_values == NULL);
    gcg_solver_result_release(&r);
    gcg_solver_result_release(&r);
    return status;
}

START_TEST(out_of_memory_is_told_at_every_allocation_of_a_solve)
{
    job j = {problem_make(35, 7, 6, 0.7), settings(0, 1e-3)};
    double lambda = 0.2 * top(&j.p);
    j.set.lambda = _i == 2 ? 0 : lambda;
    j.set.rank = _i == 2 ? 2 : 0;
    j.set.plain = _i == 1;
    j.set.max_iter = 4;
    j.set.precision = _i == 3 ? GCG_PRECISION_FLOAT : GCG_PRECISION_AUTO;
    j.set.ratings_kept = _i == 4 ? GCG_KEEP_RESIDUAL : _i == 5 ? GCG_KEEP_NONE : GCG_KEEP_ALL;
    gcg_solver_result start = {0};
    if (_i == 6) {
        start = solve(&j.p, &j.set);
        ck_assert_int_gt(start.u.k, 1);
        j.set.start_u = &start.u;
        j.set.start_v = &start.v;
        j.set.rank = 1; /* it is cut, too */
    }
    ck_assert_int_ge(naive_fail_each_allocation(complete_once, &j), 40);
    gcg_solver_result_release(&start);
    problem_release(&j.p);
}
END_TEST

START_TEST(out_of_memory_is_told_while_going_on_in_double)
{
    static const double s[] = {900, 500};
    job j = {prescribed(260, 200, 2, s), settings(600, 1e-9)}; /* 52000 ratings */
    int64_t before = gcg_mem_calls();
    ck_assert_int_eq(complete_once(&j), GCG_OK);
    int64_t calls = gcg_mem_calls() - before, blocks = gcg_mem_blocks();
    for (int64_t n = 1; n <= calls; n += 1 + calls / 60) { /* a sample: each is a solve */
        gcg_mem_fail_at(n);
        ck_assert_int_eq(complete_once(&j), GCG_ERR_NOMEM);
        gcg_mem_fail_at(0);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
    }
    problem_release(&j.p);
}
END_TEST

static gcg_status lambda_max_once(void *ctx)
{
    double lambda_max;
    return gcg_lambda_max(ctx, 1, NULL, &lambda_max, NULL);
}

START_TEST(out_of_memory_is_told_at_every_allocation_of_lambda_max)
{
    gcg_csr small = sparse(30, 3), large = sparse(90, 4); /* dense, ARPACK */
    ck_assert_int_ge(naive_fail_each_allocation(lambda_max_once, &small), 8);
    ck_assert_int_ge(naive_fail_each_allocation(lambda_max_once, &large), 8);
    gcg_csr_release(&small);
    gcg_csr_release(&large);
}
END_TEST

/* The last allocations of a larger run: those of its last bound. */
START_TEST(out_of_memory_is_told_in_the_certificate_of_a_large_problem)
{
    job j = {{.csr = sparse(2001, 5)}, settings(1, 1e-9)};
    double lambda_max;
    ck_assert_int_eq(gcg_lambda_max(&j.p.csr, 1, NULL, &lambda_max, NULL), GCG_OK);
    j.set.lambda = 0.9 * lambda_max;
    j.set.max_iter = 1;
    j.set.atoms = 2;
    int64_t before = gcg_mem_calls();
    ck_assert_int_eq(complete_once(&j), GCG_OK);
    int64_t calls = gcg_mem_calls() - before, blocks = gcg_mem_blocks();
    for (int64_t n = calls - 12; n <= calls; n++) {
        gcg_mem_fail_at(n);
        ck_assert_int_eq(complete_once(&j), GCG_ERR_NOMEM);
        gcg_mem_fail_at(0);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
    }
    gcg_csr_release(&j.p.csr);
}
END_TEST

START_TEST(the_result_carries_its_own_factors)
{
    problem p = problem_make(36, 8, 6, 0.7);
    gcg_solver_settings set = settings(0.2 * top(&p), 1e-3);
    gcg_solver_result r;
    ck_assert_int_eq(gcg_complete(&p.csr, &set, &r, NULL), GCG_OK);
    ck_assert(r.last.u == &r.u && r.last.v == &r.v && r.last.rank == r.u.k);
    gcg_solver_result_release(&r);
    ck_assert(r.u.data == NULL && r.v.data == NULL && r.singular_values == NULL);
    gcg_solver_result_release(&r);
    problem_release(&p);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

/* ---- names ---- */

START_TEST(stops_rules_and_defaults_are_as_documented)
{
    ck_assert_str_eq(gcg_stop_name(GCG_STOP_CONVERGED), "converged");
    ck_assert_str_eq(gcg_stop_name(GCG_STOP_STALLED), "stalled");
    ck_assert_str_eq(gcg_stop_name(GCG_STOP_ZERO), "converged");
    ck_assert_str_eq(gcg_certificate_name(GCG_CERT_NONE), "none");
    ck_assert_str_eq(gcg_certificate_name(GCG_CERT_ESTIMATE), "estimate");
    ck_assert_str_eq(gcg_certificate_name(GCG_CERT_PROBABILITY), "probability");
    ck_assert_str_eq(gcg_certificate_name(GCG_CERT_CHOLESKY), "cholesky");
    gcg_solver_settings s = gcg_solver_settings_defaults();
    ck_assert(s.gap == 1e-3 && s.max_iter == 500 && isinf(s.max_time) && s.rank == 0 && s.atoms == 0);
    ck_assert(!s.plain && !s.certify && s.precision == GCG_PRECISION_AUTO && !s.progress && !s.phase);
}
END_TEST

/* ---- ../shared ---- */

static const char ORACLES[] = "../shared/oracles/oracles.tsv";
static const char MOVIELENS[] = "../shared/data/ml-100k/u1.base";

static problem read_mtx(const char *name)
{
    char path[256], line[256];
    snprintf(path, sizeof path, "../shared/oracles/%s", name);
    FILE *file = fopen(path, "r");
    int m = 0, n = 0, i, j;
    double *x = NULL, value;
    char *mask = NULL;
    long nnz;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '%') continue;
        if (!x) {
            ck_assert_int_eq(sscanf(line, "%d %d %ld", &m, &n, &nnz), 3);
            x = naive_alloc((size_t)(m * n), sizeof *x);
            mask = naive_alloc((size_t)(m * n), 1);
        } else {
            ck_assert_int_eq(sscanf(line, "%d %d %lf", &i, &j, &value), 3);
            x[(i - 1) * n + j - 1] = value;
            mask[(i - 1) * n + j - 1] = 1;
        }
    }
    fclose(file);
    return problem_from(m, n, x, mask);
}

START_TEST(the_shared_optima_are_reached)
{
    FILE *file = fopen(ORACLES, "r");
    char line[4096], name[64], params[64], quantity[64];
    double value, tolerance;
    int rows = 0;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        char *tab = strchr(line, '\t');
        if (!tab || strncmp(tab, "\tmc\t", 4) != 0) continue;
        params[0] = '\0';
        if (sscanf(tab + 4, "%63[^\t]\t%63[^\t]\t%63[^\t]\t%lf\t%lf", name, params, quantity, &value,
                   &tolerance) != 5)
            ck_assert_int_eq(
                sscanf(tab + 4, "%63[^\t]\t\t%63[^\t]\t%lf\t%lf", name, quantity, &value, &tolerance), 4);
        problem p = read_mtx(name);
        double got;
        if (strcmp(quantity, "lambda_max") == 0) {
            ck_assert_int_eq(gcg_lambda_max(&p.csr, 1, NULL, &got, NULL), GCG_OK);
            ck_assert_double_eq_tol(got, value, tolerance);
        } else {
            gcg_solver_settings set = settings(strtod(params + strlen("lambda="), NULL), 1e-11);
            gcg_solver_result r = solve(&p, &set);
            ck_assert_str_eq(gcg_stop_name(r.stop), "converged");
            if (strcmp(quantity, "F*") == 0) {
                ck_assert_double_ge(r.last.objective, value - tolerance);
                ck_assert_double_le(r.last.objective, value + 1e-11 * value + tolerance);
                ck_assert_double_le(r.last.dual, value + tolerance);
            } else {
                ck_assert_str_eq(quantity, "trace_norm_of_W*");
                double g = 2e-11 * r.last.objective,
                       n = (double)p.csr.nnz; /* how far a gap g lets it be: cases/README */
                double allowed = (sqrt(n) * r.last.train_rmse * sqrt(2 * g) + g) / set.lambda;
                ck_assert_double_eq_tol(r.last.nuc_norm, value, tolerance + allowed);
            }
            gcg_solver_result_release(&r);
        }
        problem_release(&p);
        rows++;
    }
    ck_assert_int_ge(rows, 17);
    fclose(file);
}
END_TEST

START_TEST(movielens_100k_is_bracketed)
{
    enum { N = 80000, USERS = 943, ITEMS = 1682 };
    const double lower = 98393.045768, upper = 98393.047141; /* matrix-completion.tsv, lambda 20 */
    FILE *file = fopen(MOVIELENS, "r");
    int32_t *row = naive_alloc(N, sizeof *row), *col = naive_alloc(N, sizeof *col);
    double *value = naive_alloc(N, sizeof *value);
    char line[100];
    for (int p = 0; p < N; p++) {
        ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
        if (sscanf(line, "%d %d %lf", &row[p], &col[p], &value[p]) != 3) ck_abort_msg("line %d", p + 1);
        row[p]--;
        col[p]--;
    }
    fclose(file);
    problem q = {0};
    ck_assert_int_eq(gcg_csr_from_triples(&q.csr, USERS, ITEMS, N, row, col, value, NULL), GCG_OK);
    gcg_solver_settings set = settings(20, 1e-3);
    gcg_solver_result r = solve(&q, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(r.last.rule, GCG_CERT_CHOLESKY);
    ck_assert_double_le(r.last.gap, 1e-3);
    ck_assert_double_ge(r.last.objective, lower - 1e-9 * upper);
    ck_assert_double_le(r.last.objective, upper * (1 + 1e-3));
    ck_assert_double_le(r.last.dual, upper * (1 + 1e-9));
    gcg_solver_result_release(&r);
    gcg_csr_release(&q.csr);
    free(row);
    free(col);
    free(value);
}
END_TEST

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("completion");
    TCase *tests = tcase_create("completion");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, optima_equal_those_of_the_naive_solver, 0, 4);
    tcase_add_test(tests, every_mode_reaches_the_optimum);
    tcase_add_test(tests, what_is_kept_for_each_rating_changes_no_optimum);
    tcase_add_test(tests, float_storage_gives_float_factors_and_true_bounds);
    tcase_add_test(tests, float_storage_stalls_honestly_where_it_can_do_no_more);
    tcase_add_test(tests, one_row_and_one_column_have_their_closed_form);
    tcase_add_test(tests, a_fully_observed_matrix_has_its_singular_values_lowered);
    tcase_add_test(tests, an_observed_diagonal_splits_into_its_entries);
    tcase_add_test(tests, equal_entries_act_as_one);
    tcase_add_test(tests, from_lambda_max_on_the_zero_matrix_is_the_optimum);
    tcase_add_test(tests, a_small_lambda_whose_optimum_has_full_rank_takes_few_rounds);
    tcase_add_test(tests, ratings_that_are_all_zero_are_solved);
    tcase_add_test(tests, lambda_zero_with_a_rank_fits_that_rank);
    tcase_add_test(tests, lambda_zero_completes_a_matrix_of_low_rank);
    tcase_add_test(tests, the_rank_limit_is_kept_and_told);
    tcase_add_test(tests, a_run_that_stops_early_says_why_and_keeps_a_true_bound);
    tcase_add_test(tests, progress_is_told_once_an_iteration_in_order);
    tcase_add_test(tests, a_callback_that_fails_ends_the_solve_with_its_status);
    tcase_add_test(tests, a_start_near_the_optimum_reaches_it_in_fewer_passes);
    tcase_add_test(tests, any_start_leads_to_the_same_optimum);
    tcase_add_test(tests, a_start_above_the_rank_limit_is_cut);
    tcase_add_test(tests, the_result_is_the_same_bytes_at_1_2_and_7_threads);
    tcase_add_test(tests, centring_while_reading_gives_the_same_bytes_as_centring_before);
    tcase_add_test(tests, the_order_of_users_and_items_does_not_matter);
    tcase_add_test(tests, scaled_ratings_have_scaled_optima);
    tcase_add_test(tests, float_and_double_ratings_of_the_same_values_are_the_same_problem);
    tcase_add_test(tests, empty_rows_and_columns_get_zero_factors);
    tcase_add_test(tests, small_gaps_go_on_in_double_by_themselves);
    tcase_add_test(tests, large_problems_are_bounded_by_lanczos_or_on_request_by_cholesky);
    tcase_add_test(tests, a_short_run_on_a_large_problem_ends_with_a_bound_that_does_not_depend_on_threads);
    tcase_add_test(tests, ratings_whose_squares_overflow_are_an_error);
    tcase_add_test(tests, balancing_that_drops_columns_keeps_their_inverses);
    tcase_add_test(tests, no_line_of_the_algorithm_raises_the_objective);
    tcase_add_test(tests, the_first_block_of_atoms_has_the_best_weight);
    tcase_add_test(tests, a_step_of_the_local_improvement_ends_at_a_minimum_along_its_line);
    tcase_add_test(tests, the_residual_belongs_to_the_point_after_every_line);
    tcase_add_test(tests, a_proximal_step_that_is_too_long_is_taken_back);
    tcase_add_loop_test(tests, a_proof_by_deflation_is_a_true_bound_and_tight, 0, 4);
    tcase_add_loop_test(tests, out_of_memory_is_told_at_every_allocation_of_a_solve, 0, 7);
    tcase_add_test(tests, out_of_memory_is_told_while_going_on_in_double);
    tcase_add_test(tests, out_of_memory_is_told_at_every_allocation_of_lambda_max);
    tcase_add_test(tests, out_of_memory_is_told_in_the_certificate_of_a_large_problem);
    tcase_add_test(tests, the_result_carries_its_own_factors);
    tcase_add_test(tests, stops_rules_and_defaults_are_as_documented);
    if (naive_has_file(ORACLES)) tcase_add_test(tests, the_shared_optima_are_reached);
    if (naive_has_file(MOVIELENS)) tcase_add_test(tests, movielens_100k_is_bracketed);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
