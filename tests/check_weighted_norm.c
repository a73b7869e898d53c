/* The weighted trace norm and the weighted loss: gcg_complete and gcg_lambda_max_weighted against an
 * accelerated proximal gradient on the dense Z = diag(sqrt p) W diag(sqrt q), the scales against their
 * definition; and both with biases of users. The passes with scales and weights are in check_kernels. */
#include "tests/naive.h"

#include "base/parallel.h"
#include "maths/kernels.h"
#include "solvers/solver.h"

/* A dense matrix, its mask, the same as ratings, sqrt p_i q_j of its entries by the definition, and their
 * weights in the loss. */
typedef struct {
    int m, n;
    double *x, *root, *c;
    double *ridge; /* of each row's bias, T p_i; INFINITY: it has none */
    char *mask;
    gcg_csr csr;
} problem;

/* p_i as the definition has it, from the counts along one side. */
static double weight(const problem *p, int row, int col, double exponent, double smooth)
{
    double own = 0, mean = 0, ratings = 0;
    for (int e = 0; e < p->m * p->n; e++) {
        double n = 0;
        if (!p->mask[e]) continue;
        for (int f = 0; f < p->m * p->n; f++)
            n += p->mask[f] && (row >= 0 ? f / p->n == e / p->n : f % p->n == e % p->n);
        if (row >= 0 ? e / p->n == row : e % p->n == col) own = n;
        mean += pow(n, exponent);
        ratings++;
    }
    return own > 0 ? (1 - smooth) * pow(own, exponent) / (mean / ratings) + smooth : 0;
}

static void weigh(problem *p, const gcg_norm *norm)
{
    double *rows = naive_alloc((size_t)p->m, sizeof *rows);
    for (int i = 0; i < p->m; i++) {
        rows[i] = weight(p, i, -1, norm->exponent_user, norm->smooth);
        p->ridge[i] = norm->user_bias > 0 && rows[i] > 0 ? norm->user_bias * rows[i] : INFINITY;
    }
    for (int j = 0; j < p->n; j++) {
        double col = weight(p, -1, j, norm->exponent_item, norm->smooth);
        for (int i = 0; i < p->m; i++) p->root[i * p->n + j] = sqrt(rows[i] * col);
    }
    free(rows);
}

/* Low rank plus noise. Users and items have from 1 to nearly all of the ratings they could have; some none.
 */
static problem problem_make(uint64_t seed, int m, int n)
{
    naive_rng g = naive_seed(seed);
    size_t size = (size_t)(m * n);
    double *u = naive_normals(&g, m * 2), *v = naive_normals(&g, n * 2);
    problem p = {m,
                 n,
                 naive_multiply(m, n, 2, u, 0, v, 1),
                 naive_alloc(size, sizeof(double)),
                 naive_alloc(size, sizeof(double)),
                 naive_alloc((size_t)m, sizeof(double)),
                 naive_alloc(size, 1),
                 {0}};
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int e = i * n + j, empty = i == m / 2 || j == n / 3;
            p.mask[e] = !empty && (e == 0 || naive_uniform(&g) < 1.3 / (1 + 0.15 * i * (1 + 0.3 * j)));
            p.x[e] = p.mask[e] ? 2 + p.x[e] + 0.3 * naive_normal(&g) : 0;
        }
    for (size_t e = 0; e < size; e++) p.c[e] = 1;
    for (int i = 0; i < m; i++) p.ridge[i] = INFINITY;
    p.csr = naive_csr(m, n, p.x, p.mask, 1);
    free(u);
    free(v);
    return p;
}

static void problem_release(problem *p)
{
    free(p->x);
    free(p->root);
    free(p->c);
    free(p->ridge);
    free(p->mask);
    gcg_csr_release(&p->csr);
}

/* Weights in the loss from 1/8 to 8; uniform > 0: all that one. */
static void weigh_loss(problem *p, uint64_t seed, double uniform)
{
    naive_rng g = naive_seed(seed);
    int64_t to = 0;
    ck_assert_int_eq(gcg_csr_add_weights(&p->csr, NULL), GCG_OK);
    for (int e = 0; e < p->m * p->n; e++) {
        float c = (float)(uniform > 0 ? uniform : pow(2, 6 * naive_uniform(&g) - 3));
        p->c[e] = (double)c;
        if (p->mask[e]) p->csr.weight[to++] = c;
    }
}

static const gcg_norm PLAIN = {0, 0, 0, 0};
static const gcg_norm NORMS[] = {{1, 1, 0, 0},     {0.8, 0.8, 0, 0}, {0.5, 1, 0.1, 0}, {0, 1, 0, 0},
                                 {1, 0.3, 0.5, 0}, {0, 0, 0, 2},     {0.8, 0.8, 0, 1}, {1, 0.5, 0.2, 0.1}};
enum { COUNT_NORMS = sizeof NORMS / sizeof *NORMS };

static gcg_solver_settings settings(const gcg_norm *norm, double lambda, double gap)
{
    gcg_solver_settings s = gcg_solver_settings_defaults();
    s.norm = *norm;
    s.lambda = lambda;
    s.gap = gap;
    return s;
}

static gcg_solver_result solve(const gcg_csr *x, const gcg_solver_settings *set)
{
    gcg_solver_result r;
    gcg_err err = {0};
    gcg_status status = gcg_complete(x, set, &r, &err);
    ck_assert_msg(status == GCG_OK, "status %d: %s", (int)status, err.text);
    return r;
}

/* ---- the naive solver: 1/2 sum c (x - b - z / root)^2 + 1/2 sum ridge b^2 + lambda ||Z||_tr, b the best for
 * Z, by steps of 1 / L, with restarts ---- */

/* The best b_i for what W leaves of row i. */
static double best_bias(const problem *p, int i, const double *left)
{
    double sum = 0, curvature = p->ridge[i];
    for (int e = i * p->n; e < (i + 1) * p->n; e++) {
        sum += p->mask[e] ? p->c[e] * left[e] : 0;
        curvature += p->mask[e] ? p->c[e] : 0;
    }
    return p->ridge[i] < INFINITY ? sum / curvature : 0;
}

/* r = c (x - b - z / root), minus the gradient in W. */
static double loss_of(const problem *p, const double *z, double *r)
{
    double sum = 0;
    for (int e = 0; e < p->m * p->n; e++) r[e] = p->mask[e] ? p->x[e] - z[e] / p->root[e] : 0;
    for (int i = 0; i < p->m; i++) {
        double b = best_bias(p, i, r);
        sum += b < 0 || b > 0 ? 0.5 * p->ridge[i] * b * b : 0;
        for (int e = i * p->n; e < (i + 1) * p->n; e++) {
            double d = p->mask[e] ? r[e] - b : 0;
            r[e] = p->c[e] * d;
            sum += 0.5 * r[e] * d;
        }
    }
    return sum;
}

/* R / root at W = 0: lambda_max is its spectral norm. */
static double lambda_max_of(const problem *p)
{
    size_t size = (size_t)(p->m * p->n);
    double *zero = naive_alloc(size, sizeof *zero), *y = naive_alloc(size, sizeof *y);
    loss_of(p, zero, y);
    for (size_t e = 0; e < size; e++) y[e] = p->mask[e] ? y[e] / p->root[e] : 0;
    double top = naive_spectral_norm(p->m, p->n, y);
    free(zero);
    free(y);
    return top;
}

/* D(Y) = <Y, X> - 1/2 sum Y^2 / c - 1/2 sum_i (Y 1)_i^2 / ridge_i at Y = s R, the best s for which
 * ||s R / root||_sp <= lambda. */
static double dual_of(const problem *p, const double *r, double lambda)
{
    size_t size = (size_t)(p->m * p->n);
    double *y = naive_alloc(size, sizeof *y), rx = 0, rr = 0;
    for (size_t e = 0; e < size; e++) {
        y[e] = p->mask[e] ? r[e] / p->root[e] : 0;
        rx += r[e] * p->x[e];
        rr += r[e] * r[e] / p->c[e];
    }
    for (int i = 0; i < p->m; i++) {
        double sum = 0;
        for (int e = i * p->n; e < (i + 1) * p->n; e++) sum += r[e];
        rr += sum * sum / p->ridge[i];
    }
    double s = fmax(0, fmin(rx / rr, lambda / naive_spectral_norm(p->m, p->n, y)));
    free(y);
    return s * rx - 0.5 * s * s * rr;
}

/* Returns F to a relative gap; *lower gets the dual value. */
static double naive_weighted(const problem *p, double lambda, double gap, double *lower)
{
    size_t size = (size_t)(p->m * p->n);
    double *z = naive_alloc(size, sizeof *z), *y = naive_alloc(size, sizeof *y),
           *r = naive_alloc(size, sizeof *r), *next = naive_alloc(size, sizeof *next), curvature = 0, t = 1,
           objective = INFINITY;
    for (size_t e = 0; e < size; e++)
        if (p->mask[e]) curvature = fmax(curvature, p->c[e] / (p->root[e] * p->root[e]));
    *lower = -INFINITY;
    for (int it = 0; it < 200000 && objective - *lower > gap * objective; it++) {
        loss_of(p, y, r);
        for (size_t e = 0; e < size; e++) r[e] = y[e] + (p->mask[e] ? r[e] / (p->root[e] * curvature) : 0);
        double norm = naive_shrink(p->m, p->n, r, lambda / curvature, next), uphill = 0;
        for (size_t e = 0; e < size; e++) uphill += (y[e] - next[e]) * (next[e] - z[e]);
        if (uphill > 0) t = 1;
        double t_next = 0.5 * (1 + sqrt(1 + 4 * t * t));
        for (size_t e = 0; e < size; e++) y[e] = next[e] + (t - 1) / t_next * (next[e] - z[e]);
        memcpy(z, next, size * sizeof *z);
        t = t_next;
        objective = loss_of(p, z, r) + lambda * norm;
        if (it % 20 == 0) *lower = fmax(*lower, dual_of(p, r, lambda));
    }
    free(z);
    free(y);
    free(r);
    free(next);
    return objective;
}

/* ---- results ---- */

/* Takes b out of W + b 1' = U V', whose last column is that of b: constant in V. Returns the penalty of b. */
static double take_biases(const problem *p, const gcg_solver_result *r, double *b)
{
    int biased = r->u.k == r->last.rank + 1;
    double sum = 0, g = 0;
    for (int j = 0; j < p->n && biased; j++) {
        double v = gcg_factors_get(&r->v, j, r->last.rank);
        ck_assert(v == 0 || g == 0 || fabs(v - g) <= (r->u.type == GCG_FLOAT ? 1e-6 : 1e-14) * g);
        if (v > 0) g = v;
    }
    for (int i = 0; i < p->m; i++) {
        b[i] = biased ? g * gcg_factors_get(&r->u, i, r->last.rank) : 0;
        ck_assert(p->ridge[i] < INFINITY || b[i] == 0);
        sum += p->ridge[i] < INFINITY ? 0.5 * p->ridge[i] * b[i] * b[i] : 0;
    }
    if (biased) ck_assert(r->singular_values[r->last.rank] == 0);
    return sum;
}

/* The figures are those of W = U V', and the singular values those of Z. */
static void check_figures(const problem *p, double lambda, const gcg_solver_result *r)
{
    double tiny = r->u.type == GCG_FLOAT ? 2e-5 : 1e-9, norm = 0, loss = 0, x_x = 0, weights = 0;
    double *w = naive_product(&r->u, &r->v), *s = naive_alloc((size_t)(p->m + p->n), sizeof *s),
           *b = naive_alloc((size_t)p->m, sizeof *b), penalty = take_biases(p, r, b);
    for (int e = 0; e < p->m * p->n; e++) {
        loss += p->mask[e] ? 0.5 * p->c[e] * pow(p->x[e] - w[e], 2) : 0;
        x_x += p->c[e] * p->x[e] * p->x[e];
        weights += p->mask[e] ? p->c[e] : 0;
        w[e] = (w[e] - (p->mask[e] ? b[e / p->n] : 0)) * p->root[e];
        if (b[e / p->n] != 0 && !p->mask[e])
            w[e] -= gcg_factors_get(&r->v, e % p->n, r->last.rank) > 0 ? b[e / p->n] * p->root[e] : 0;
    }
    naive_svd(p->m, p->n, w, s, NULL, NULL);
    for (int q = 0; q < r->last.rank; q++) {
        ck_assert_double_eq_tol(r->singular_values[q], s[q], tiny * s[0]);
        norm += s[q];
    }
    ck_assert_double_eq_tol(r->last.nuc_norm, norm, tiny * (norm + 1e-300));
    ck_assert_double_eq_tol(r->last.objective, loss + penalty + lambda * norm, tiny * x_x);
    ck_assert_double_eq_tol(r->last.train_rmse, sqrt(2 * loss / weights), sqrt(tiny * x_x / weights));
    /* the scale of an empty row is 0; without scales it is lost in rounding */
    double left_out = r->last.nuc_norm * (p->root[0] == 1 ? tiny : 0);
    for (int q = 0; q < r->last.rank; q++) {
        ck_assert_double_le(fabs(gcg_factors_get(&r->u, p->m / 2, q)), left_out);
        ck_assert_double_le(fabs(gcg_factors_get(&r->v, p->n / 3, q)), left_out);
    }
    free(w);
    free(s);
    free(b);
}

static void check_optimum(const problem *p, const gcg_solver_settings *set, double lower, double upper)
{
    double rounding = 1e-11 * upper;
    gcg_solver_result r = solve(&p->csr, set);
    ck_assert_str_eq(gcg_stop_name(r.stop), "converged");
    ck_assert_int_eq(r.last.rule, GCG_CERT_CHOLESKY);
    ck_assert_double_le(r.last.gap, set->gap);
    ck_assert_double_ge(r.last.objective, lower - rounding);
    ck_assert_double_le(r.last.objective, upper * (1 + set->gap) + rounding);
    ck_assert_double_le(r.last.dual, upper + rounding);
    ck_assert_ptr_null(r.last.row_scale);
    check_figures(p, set->lambda, &r);
    gcg_solver_result_release(&r);
}

START_TEST(optima_equal_those_of_the_naive_solver)
{
    static const int shapes[][2] = {{9, 7}, {7, 12}, {16, 10}};
    static const double ratios[] = {0.5, 0.1, 0.02};
    for (int t = 0; t < 3; t++) {
        problem p = problem_make((uint64_t)(50 + t), shapes[t][0], shapes[t][1]);
        double lower;
        const gcg_norm *norm = _i < COUNT_NORMS ? &NORMS[_i] : _i % 3 ? &NORMS[_i % 3 == 1 ? 1 : 6] : &PLAIN;
        weigh(&p, norm);
        if (_i >= COUNT_NORMS) weigh_loss(&p, (uint64_t)_i, 0);
        double lambda = ratios[(t + _i) % 3] * lambda_max_of(&p),
               upper = naive_weighted(&p, lambda, 1e-9, &lower);
        ck_assert_double_le(upper - lower, 1e-9 * upper);
        gcg_solver_settings set = settings(norm, lambda, 1e-8);
        check_optimum(&p, &set, lower, upper);
        problem_release(&p);
    }
}
END_TEST

START_TEST(every_mode_reaches_the_optimum)
{
    problem p = problem_make(60, 14, 11);
    double lower;
    const gcg_norm *norm = _i == 1 ? &PLAIN : _i == 3 ? &NORMS[6] : &NORMS[1];
    weigh(&p, norm);
    if (_i > 0) weigh_loss(&p, 61, 0);
    double lambda = 0.1 * lambda_max_of(&p), upper = naive_weighted(&p, lambda, 1e-9, &lower);
    for (int mode = 0; mode < 6; mode++) {
        gcg_solver_settings set = settings(norm, lambda, mode == 1 ? 1e-5 : 1e-7);
        set.precision = mode == 1 ? GCG_PRECISION_FLOAT : GCG_PRECISION_AUTO;
        set.plain = mode == 2;
        set.atoms = mode == 3;
        set.ratings_kept = mode == 4 ? GCG_KEEP_RESIDUAL : mode == 5 ? GCG_KEEP_NONE : GCG_KEEP_ALL;
        set.max_iter = 3000;
        if (set.plain) set.gap = 1e-4;
        if (set.plain && norm->user_bias > 0) continue;
        if (mode == 5) continue; /* no proof by Cholesky: below */
        check_optimum(&p, &set, lower, upper);
    }
    gcg_solver_settings set = settings(norm, lambda, 1e-7);
    set.ratings_kept = GCG_KEEP_NONE;
    gcg_solver_result r = solve(&p.csr, &set);
    ck_assert_double_le(r.last.objective, upper * (1 + 1e-7));
    ck_assert_double_le(r.last.dual, upper * (1 + 1e-11));
    check_figures(&p, lambda, &r);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

START_TEST(lambda_max_is_that_of_the_scaled_ratings)
{
    for (int t = 0; t < 2 * COUNT_NORMS; t++) {
        problem p = problem_make((uint64_t)(70 + t), 12, 15);
        const gcg_norm *norm = t == 2 * COUNT_NORMS - 1 ? &PLAIN : &NORMS[t % COUNT_NORMS];
        weigh(&p, norm);
        if (t >= COUNT_NORMS) weigh_loss(&p, (uint64_t)t, 0);
        double want = lambda_max_of(&p), got;
        ck_assert_int_eq(gcg_lambda_max_weighted(&p.csr, norm, 1, NULL, &got, NULL), GCG_OK);
        ck_assert_double_eq_tol(got, want, 1e-10 * want);
        for (int above = 0; above < 2; above++) {
            gcg_solver_settings set = settings(norm, want * (above ? 1.000001 : 0.99), 1e-9);
            gcg_solver_result r = solve(&p.csr, &set);
            ck_assert_int_eq(r.last.rank == 0, above);
            gcg_solver_result_release(&r);
        }
        problem_release(&p);
    }
}
END_TEST

/* ---- the scales themselves ---- */

START_TEST(scales_are_those_of_the_definition)
{
    problem p = problem_make(80, 13, 17);
    for (int t = 0; t < COUNT_NORMS; t++) {
        gcg_scales s;
        double most = 0;
        weigh(&p, &NORMS[t]);
        ck_assert_int_eq(gcg_scales_init(&s, &p.csr, &NORMS[t], NULL), GCG_OK);
        for (int i = 0; i < p.m; i++)
            for (int j = 0; j < p.n; j++) {
                double root = p.root[i * p.n + j], product = s.row[i] * s.col[j];
                ck_assert_double_eq_tol(product, root > 0 ? 1 / root : 0, 1e-13 * (1 + product));
                if (p.mask[i * p.n + j]) most = fmax(most, product * product);
                ck_assert_float_eq(s.row_f[i], (float)s.row[i]);
                ck_assert_float_eq(s.col_f[j], (float)s.col[j]);
            }
        ck_assert_double_eq_tol(s.most_curvature, most, 1e-13 * most);
        gcg_scales_release(&s);
        gcg_scales_release(&s);
    }
    problem_release(&p);
}
END_TEST

START_TEST(weights_have_mean_1_over_the_ratings)
{
    problem p = problem_make(81, 20, 20);
    for (int t = 0; t < COUNT_NORMS; t++) {
        gcg_scales s;
        double sum = 0;
        ck_assert_int_eq(gcg_scales_init(&s, &p.csr, &NORMS[t], NULL), GCG_OK);
        for (int e = 0; e < 400; e++)
            if (p.mask[e]) sum += 1 / (s.row[e / 20] * s.row[e / 20]);
        ck_assert_double_eq_tol(sum / (double)p.csr.nnz, 1, 1e-12);
        gcg_scales_release(&s);
    }
    problem_release(&p);
}
END_TEST

START_TEST(only_an_exponent_makes_a_norm_weighted)
{
    ck_assert(!gcg_norm_is_weighted(&(gcg_norm){0, 0, 0, 0}));
    ck_assert(!gcg_norm_is_weighted(&(gcg_norm){0, 0, 0.5, 0}));
    ck_assert(!gcg_norm_is_weighted(&(gcg_norm){1, 1, 1, 0}));
    ck_assert(gcg_norm_is_weighted(&(gcg_norm){0.1, 0, 0, 0}));
    ck_assert(gcg_norm_is_weighted(&(gcg_norm){0, 0.1, 0.9, 0}));
}
END_TEST

/* ---- derivatives ---- */

static double surrogate(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, double lambda)
{
    double sum = 0;
    for (int i = 0; i < u->rows; i++)
        for (int q = 0; q < u->k; q++) sum += pow(gcg_factors_get(u, i, q), 2);
    for (int j = 0; j < v->rows; j++)
        for (int q = 0; q < v->k; q++) sum += pow(gcg_factors_get(v, j, q), 2);
    return 0.5 * gcg_pass_residual(pass, u, v, NULL) + 0.5 * lambda * sum;
}

START_TEST(the_gradient_equals_differences)
{
    enum { K = 3 };
    problem p = problem_make(82, 9, 8);
    naive_rng g = naive_seed(5);
    gcg_scales s;
    gcg_pass *pass;
    ck_assert_int_eq(gcg_scales_init(&s, &p.csr, &NORMS[2], NULL), GCG_OK);
    ck_assert_int_eq(gcg_pass_new(&p.csr, &pass, NULL), GCG_OK);
    gcg_pass_set_scales(pass, &s);
    gcg_factors u = naive_factors(&g, 9, K, GCG_DOUBLE, 0.5), v = naive_factors(&g, 8, K, GCG_DOUBLE, 0.5),
                gu = naive_factors(&g, 9, K, GCG_DOUBLE, 1), gv = naive_factors(&g, 8, K, GCG_DOUBLE, 1);
    const gcg_residual r = {GCG_DOUBLE, NULL, &u, &v};
    const double lambda = 0.7, h = 1e-5;
    gcg_pass_gradient(pass, &r, &u, &v, lambda, &gu, &gv);
    for (int side = 0; side < 2; side++)
        for (int e = 0; e < (side ? 8 : 9) * K; e++) {
            gcg_factors *f = side ? &v : &u;
            double old = gcg_factors_get(f, e / K, e % K), value[2];
            for (int up = 0; up < 2; up++) {
                gcg_factors_set(f, e / K, e % K, old + (up ? h : -h));
                value[up] = surrogate(pass, &u, &v, lambda);
            }
            gcg_factors_set(f, e / K, e % K, old);
            double want = (value[1] - value[0]) / (2 * h),
                   got = gcg_factors_get(side ? &gv : &gu, e / K, e % K);
            ck_assert_double_eq_tol(got, want, 1e-6 * (1 + fabs(want)));
        }
    gcg_factors *all[] = {&u, &v, &gu, &gv};
    for (int i = 0; i < 4; i++) gcg_factors_release(all[i]);
    gcg_pass_free(pass);
    gcg_scales_release(&s);
    problem_release(&p);
}
END_TEST

/* ---- same bytes, same optimum ---- */

static void check_same_bytes(const gcg_solver_result *a, const gcg_solver_result *b)
{
    size_t row = (size_t)a->u.stride * a->u.type;
    ck_assert_int_eq(a->last.rank, b->last.rank);
    ck_assert_int_eq(a->last.matvecs, b->last.matvecs);
    ck_assert_double_eq(a->last.objective, b->last.objective);
    ck_assert_double_eq(a->last.dual, b->last.dual);
    ck_assert_mem_eq(a->u.data, b->u.data, (size_t)a->u.rows * row);
    ck_assert_mem_eq(a->v.data, b->v.data, (size_t)a->v.rows * row);
    ck_assert_mem_eq(a->singular_values, b->singular_values, (size_t)a->last.rank * sizeof(double));
}

START_TEST(the_result_is_the_same_bytes_at_1_2_3_and_7_threads)
{
    static const int threads[] = {1, 2, 3, 7};
    problem p = problem_make(90, 130, 110);
    for (int wide = 0; wide < 2; wide++) {
        gcg_solver_settings set = settings(&NORMS[_i ? 6 : 1], 3, wide ? 1e-6 : 1e-4);
        set.precision = wide ? GCG_PRECISION_DOUBLE : GCG_PRECISION_FLOAT;
        gcg_solver_result first = {0};
        for (int t = 0; t < 4; t++) {
            gcg_par_set_threads(threads[t]);
            gcg_solver_result r = solve(&p.csr, &set);
            ck_assert_int_gt(r.last.rank, 1);
            if (t > 0) check_same_bytes(&first, &r);
            if (t > 0)
                gcg_solver_result_release(&r);
            else
                first = r;
        }
        gcg_solver_result_release(&first);
    }
    problem_release(&p);
}
END_TEST

START_TEST(exponents_of_0_are_the_plain_norm_to_the_byte)
{
    problem p = problem_make(91, 30, 25);
    gcg_solver_settings plain = gcg_solver_settings_defaults();
    plain.lambda = 2;
    gcg_solver_settings zero = settings(&(gcg_norm){0, 0, 0.25, 0}, 2, plain.gap);
    gcg_solver_result a = solve(&p.csr, &plain), b = solve(&p.csr, &zero);
    check_same_bytes(&a, &b);
    gcg_solver_result_release(&a);
    gcg_solver_result_release(&b);
    problem_release(&p);
}
END_TEST

START_TEST(equal_counts_are_the_plain_norm_whatever_the_exponent)
{
    enum { N = 20 };
    problem p = problem_make(92, N, N);
    for (int e = 0; e < N * N; e++) p.mask[e] = (e / N + e % N) % 3 != 0 || e % N == e / N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) /* a circulant pattern: 7 in each row and column */
            p.mask[i * N + j] = (j - i + N) % N < 7, p.x[i * N + j] = p.mask[i * N + j] ? 1 + (i * j) % 5 : 0;
    gcg_csr_release(&p.csr);
    p.csr = naive_csr(N, N, p.x, p.mask, 1);
    gcg_solver_settings plain = gcg_solver_settings_defaults();
    plain.lambda = 3;
    plain.gap = 1e-9;
    gcg_solver_settings counts = settings(&NORMS[0], 3, 1e-9);
    gcg_solver_result a = solve(&p.csr, &plain), b = solve(&p.csr, &counts);
    ck_assert_double_eq_tol(a.last.objective, b.last.objective, 2e-9 * a.last.objective);
    gcg_solver_result_release(&a);
    gcg_solver_result_release(&b);
    problem_release(&p);
}
END_TEST

static gcg_solver_result solve_kept(const problem *p, const gcg_norm *norm, double lambda, int mode)
{
    gcg_solver_settings set = settings(norm, lambda, 1e-4);
    set.precision = mode % 2 ? GCG_PRECISION_FLOAT : GCG_PRECISION_DOUBLE;
    set.ratings_kept = (gcg_rating_arrays)(mode / 2);
    return solve(&p->csr, &set);
}

/* But for the rounding of the preconditioner, whose sums of squares are fused where there are no weights. */
START_TEST(weights_of_1_are_none)
{
    for (int narrow = 0; narrow < 2; narrow++)
        for (int mode = 0; mode < 6; mode++) {
            problem p = problem_make(94, 60, 50);
            const gcg_norm *norm = mode == 2 ? &NORMS[1] : &PLAIN;
            for (int64_t q = 0; q < p.csr.nnz && narrow; q++) p.csr.val_d[q] = (double)(float)p.csr.val_d[q];
            if (narrow) ck_assert_int_eq(gcg_csr_narrow(&p.csr, NULL), GCG_OK);
            gcg_solver_result a = solve_kept(&p, norm, 2, mode);
            weigh_loss(&p, 1, 1);
            gcg_solver_result b = solve_kept(&p, norm, 2, mode);
            ck_assert_int_gt(a.last.rank, 1);
            double tiny = mode % 2 ? 1e-5 : 1e-9;
            ck_assert_int_eq(a.last.rank, b.last.rank);
            ck_assert_double_eq_tol(a.last.objective, b.last.objective, tiny * a.last.objective);
            ck_assert_double_eq_tol(a.last.train_rmse, b.last.train_rmse, tiny);
            for (int q = 0; q < a.last.rank; q++)
                ck_assert_double_eq_tol(a.singular_values[q], b.singular_values[q],
                                        100 * tiny * a.singular_values[0]);
            gcg_solver_result_release(&a);
            gcg_solver_result_release(&b);
            problem_release(&p);
        }
}
END_TEST

/* F is 4^k times what it was: exact in binary, so that every step is the same. */
START_TEST(weights_and_lambda_times_a_power_of_4_give_the_same_matrix_to_the_byte)
{
    for (int mode = 0; mode < 6; mode++)
        for (int k = -3; k <= 5; k += 8) {
            problem p = problem_make(97, 40, 50);
            const gcg_norm *norm = mode == 3 ? &NORMS[2] : &PLAIN;
            weigh_loss(&p, 2, 0);
            gcg_solver_result a = solve_kept(&p, norm, 2, mode);
            for (int64_t q = 0; q < p.csr.nnz; q++) p.csr.weight[q] *= (float)pow(4, k);
            gcg_solver_result b = solve_kept(&p, norm, 2 * pow(4, k), mode);
            ck_assert_int_gt(a.last.rank, 1);
            b.last.objective *= pow(4, -k);
            b.last.dual *= pow(4, -k);
            check_same_bytes(&a, &b);
            gcg_solver_result_release(&a);
            gcg_solver_result_release(&b);
            problem_release(&p);
        }
}
END_TEST

/* Every user twice: the optimum has the same row twice, and ||[W; W]||_tr = sqrt 2 ||W||_tr. */
START_TEST(a_weight_of_2_is_a_rating_twice)
{
    enum { M = 12, N = 9 };
    problem p = problem_make(98, M, N);
    double *twice = naive_alloc(2 * M * N, sizeof *twice);
    char *mask = naive_alloc(2 * M * N, 1);
    for (int e = 0; e < M * N; e++) {
        mask[e] = mask[M * N + e] = p.mask[e];
        twice[e] = twice[M * N + e] = p.x[e];
    }
    gcg_csr x = naive_csr(2 * M, N, twice, mask, 1);
    weigh_loss(&p, 1, 2);
    gcg_solver_settings one = settings(&PLAIN, 2, 1e-9), two = settings(&PLAIN, 2 / sqrt(2), 1e-9);
    gcg_solver_result a = solve(&p.csr, &one), b = solve(&x, &two);
    ck_assert_int_gt(a.last.rank, 1);
    ck_assert_double_eq_tol(a.last.objective, b.last.objective, 2e-9 * a.last.objective);
    double *w = naive_product(&a.u, &a.v), *v = naive_product(&b.u, &b.v);
    for (int e = 0; e < 2 * M * N; e++) ck_assert_double_eq_tol(v[e], w[e % (M * N)], 1e-3);
    free(w);
    free(v);
    free(twice);
    free(mask);
    gcg_csr_release(&x);
    gcg_solver_result_release(&a);
    gcg_solver_result_release(&b);
    problem_release(&p);
}
END_TEST

/* ---- starting from an earlier result ---- */

static gcg_status note_start(const gcg_progress *p, void *user, gcg_err *err)
{
    (void)err;
    if (p->iter == 0) *(gcg_progress *)user = *p;
    return GCG_OK;
}

START_TEST(a_start_is_taken_as_factors_of_w)
{
    problem p = problem_make(93, 30, 25);
    gcg_solver_settings set = settings(&NORMS[_i ? 5 + _i : 2], 2, 1e-8);
    gcg_solver_result cold = solve(&p.csr, &set);
    gcg_progress at;
    set.start_u = &cold.u;
    set.start_v = &cold.v;
    set.progress = note_start;
    set.progress_user = &at;
    gcg_solver_result warm = solve(&p.csr, &set);
    ck_assert_double_le(at.objective, cold.last.objective * (1 + 1e-12));
    ck_assert_int_lt(warm.last.iter, cold.last.iter);
    ck_assert_double_eq_tol(warm.last.objective, cold.last.objective, 2e-8 * cold.last.objective);
    gcg_solver_result_release(&cold);
    gcg_solver_result_release(&warm);
    problem_release(&p);
}
END_TEST

/* ---- larger ones: heavy tails, bounds without Cholesky ---- */

/* Row i has some 400 / (1 + i / 8) ratings and at least one, mostly of the first columns. */
static gcg_csr heavy(int rows, int cols, uint64_t seed)
{
    enum { RANK = 3 };
    naive_rng g = naive_seed(seed);
    char *taken = naive_alloc((size_t)cols, 1);
    double *u = naive_normals(&g, rows * RANK), *v = naive_normals(&g, cols * RANK);
    int64_t room = (int64_t)rows * 400, n = 0;
    int32_t *row = naive_alloc((size_t)room, sizeof *row), *col = naive_alloc((size_t)room, sizeof *col);
    double *value = naive_alloc((size_t)room, sizeof *value);
    for (int i = 0; i < rows; i++) {
        int wanted = 1 + 400 / (1 + i / 8);
        memset(taken, 0, (size_t)cols);
        for (int e = 0; e < wanted && e < 399; e++) {
            double at = naive_uniform(&g);
            int j = (int)(at * at * at * cols);
            if (taken[j]) continue;
            taken[j] = 1;
            row[n] = i;
            col[n] = j;
            value[n] = 3 + 0.5 * naive_normal(&g);
            for (int q = 0; q < RANK; q++) value[n] += u[i * RANK + q] * v[j * RANK + q];
            n++;
        }
    }
    gcg_csr x;
    ck_assert_int_eq(gcg_csr_from_triples(&x, rows, cols, n, row, col, value, NULL), GCG_OK);
    free(taken);
    free(u);
    free(v);
    free(row);
    free(col);
    free(value);
    return x;
}

/* The bound at a coarse gap is below the objective at a fine one, by whatever proof. */
START_TEST(heavy_tails_reach_small_gaps_and_every_bound_is_true)
{
    gcg_csr x = heavy(2100, 2040, 4); /* more than is proved by Cholesky without being asked */
    double lambda_max;
    const gcg_norm *norm = &NORMS[_i == 2 ? 6 : _i % 2];
    ck_assert_int_eq(gcg_lambda_max_weighted(&x, norm, 1, NULL, &lambda_max, NULL), GCG_OK);
    gcg_solver_settings set = settings(norm, 0.4 * lambda_max, _i % 2 ? 1e-4 : 1e-6);
    gcg_solver_result fine = solve(&x, &set);
    ck_assert_str_eq(gcg_stop_name(fine.stop), "converged");
    ck_assert_int_ge(fine.last.rule, GCG_CERT_PROBABILITY);
    ck_assert_double_le(fine.last.gap, set.gap);
    for (int mode = 0; mode < 3; mode++) {
        if (mode == 1 + _i % 2) continue; /* each once */
        set.gap = 1e-2;
        set.certify = mode == 1;
        set.ratings_kept = mode == 2 ? GCG_KEEP_NONE : GCG_KEEP_ALL;
        gcg_solver_result coarse = solve(&x, &set);
        ck_assert_str_eq(gcg_stop_name(coarse.stop), "converged");
        ck_assert_int_ge(coarse.last.rule, mode == 1 ? GCG_CERT_CHOLESKY : GCG_CERT_PROBABILITY);
        ck_assert_double_le(coarse.last.dual, fine.last.objective);
        ck_assert_double_ge(coarse.last.objective, fine.last.dual);
        gcg_solver_result_release(&coarse);
    }
    gcg_solver_result_release(&fine);
    gcg_csr_release(&x);
}
END_TEST

/* ---- memory ---- */

typedef struct {
    problem p;
    gcg_solver_settings set;
} job;

static gcg_status complete_once(void *ctx)
{
    job *j = ctx;
    gcg_solver_result r;
    gcg_status status = gcg_complete(&j->p.csr, &j->set, &r, NULL);
    gcg_solver_result_release(&r);
    return status;
}

static gcg_status lambda_max_once(void *ctx)
{
    double lambda_max;
    return gcg_lambda_max_weighted(&((job *)ctx)->p.csr, &((job *)ctx)->set.norm, 1, NULL, &lambda_max, NULL);
}

START_TEST(out_of_memory_is_told_at_every_allocation)
{
    job j = {problem_make(95, 8, 7), settings(&NORMS[0], 1, 1e-3)};
    j.set.max_iter = 3;
    ck_assert_int_ge(naive_fail_each_allocation(complete_once, &j), 40);
    ck_assert_int_ge(naive_fail_each_allocation(lambda_max_once, &j), 12);
    weigh_loss(&j.p, 1, 0);
    ck_assert_int_ge(naive_fail_each_allocation(complete_once, &j), 40);
    j.set.norm = PLAIN;
    ck_assert_int_ge(naive_fail_each_allocation(complete_once, &j), 40);
    j.set.norm = NORMS[6];
    ck_assert_int_ge(naive_fail_each_allocation(complete_once, &j), 50);
    ck_assert_int_ge(naive_fail_each_allocation(lambda_max_once, &j), 16);
    problem_release(&j.p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("weighted norm");
    TCase *c = tcase_create("weighted norm");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, optima_equal_those_of_the_naive_solver, 0, 2 * COUNT_NORMS);
    tcase_add_loop_test(c, every_mode_reaches_the_optimum, 0, 4);
    tcase_add_test(c, lambda_max_is_that_of_the_scaled_ratings);
    tcase_add_test(c, scales_are_those_of_the_definition);
    tcase_add_test(c, weights_have_mean_1_over_the_ratings);
    tcase_add_test(c, only_an_exponent_makes_a_norm_weighted);
    tcase_add_test(c, the_gradient_equals_differences);
    tcase_add_loop_test(c, the_result_is_the_same_bytes_at_1_2_3_and_7_threads, 0, 2);
    tcase_add_test(c, exponents_of_0_are_the_plain_norm_to_the_byte);
    tcase_add_test(c, equal_counts_are_the_plain_norm_whatever_the_exponent);
    tcase_add_test(c, weights_of_1_are_none);
    tcase_add_test(c, weights_and_lambda_times_a_power_of_4_give_the_same_matrix_to_the_byte);
    tcase_add_test(c, a_weight_of_2_is_a_rating_twice);
    tcase_add_loop_test(c, a_start_is_taken_as_factors_of_w, 0, 3);
    tcase_add_loop_test(c, heavy_tails_reach_small_gaps_and_every_bound_is_true, 0, 3);
    tcase_add_test(c, out_of_memory_is_told_at_every_allocation);
    suite_add_tcase(suite, c);
    return naive_run(suite);
}
