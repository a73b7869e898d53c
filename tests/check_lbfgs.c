/* steps/lbfgs: known minima, and the direction against the textbook two-loop recursion. */
#include "tests/naive.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "steps/lbfgs.h"

/* A smooth function of n entries and what L-BFGS did with it. Where `recorded` is set, every direction is
 * compared with the two-loop recursion on the pairs that the moves so far have made. */
typedef struct function {
    int n;
    gcg_dtype type;
    double *x;
    double (*value)(const struct function *f, const double *x);
    void (*slope)(const struct function *f, const double *x, double *g);
    double *h, *b; /* a quadratic 1/2 x'Hx - b'x; H diagonal when dense = 0 */
    int dense;
    double *inverse; /* D^-1 as of the last call, 1 without */
    int by_value;    /* the change is a difference of values: rounding ends it */
    int recorded, memory, pairs, moves, searches, gradients, refreshes, preconditions, stop_after;
    double worst; /* relative distance of a direction from the textbook's */
    gcg_watch watch;
    double *s[200], *y[200], *last_g, *last_x;
} function;

static double get(const function *f, const void *v, int i)
{
    return f->type == GCG_FLOAT ? (double)((const float *)v)[i] : ((const double *)v)[i];
}

static void set(const function *f, void *v, int i, double value)
{
    if (f->type == GCG_FLOAT)
        ((float *)v)[i] = (float)value;
    else
        ((double *)v)[i] = value;
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static double quadratic(const function *f, const double *x)
{
    double sum = 0;
    for (int i = 0; i < f->n; i++) {
        double hx = 0;
        if (f->dense)
            for (int j = 0; j < f->n; j++) hx += f->h[i * f->n + j] * x[j];
        else
            hx = f->h[i] * x[i];
        sum += x[i] * (0.5 * hx - f->b[i]);
    }
    return sum;
}

static void quadratic_slope(const function *f, const double *x, double *g)
{
    for (int i = 0; i < f->n; i++) {
        g[i] = -f->b[i];
        if (f->dense)
            for (int j = 0; j < f->n; j++) g[i] += f->h[i * f->n + j] * x[j];
        else
            g[i] += f->h[i] * x[i];
    }
}

/* sum of 100 (x_2i+1 - x_2i^2)^2 + (1 - x_2i)^2 */
static double rosenbrock(const function *f, const double *x)
{
    double sum = 0;
    for (int i = 0; i + 1 < f->n; i += 2) sum += 100 * pow(x[i + 1] - x[i] * x[i], 2) + pow(1 - x[i], 2);
    return sum;
}

static void rosenbrock_slope(const function *f, const double *x, double *g)
{
    for (int i = 0; i + 1 < f->n; i += 2) {
        double d = x[i + 1] - x[i] * x[i];
        g[i] = -400 * x[i] * d - 2 * (1 - x[i]);
        g[i + 1] = 200 * d;
    }
}

/* ---- the textbook ---- */

static void two_loop(const function *f, const double *g, double *d)
{
    int n = f->n, first = f->pairs > f->memory ? f->pairs - f->memory : 0;
    double alpha[200], c = 1;
    memcpy(d, g, (size_t)n * sizeof *d);
    for (int p = f->pairs - 1; p >= first; p--) {
        alpha[p] = dot(n, f->s[p], d) / dot(n, f->s[p], f->y[p]);
        for (int i = 0; i < n; i++) d[i] -= alpha[p] * f->y[p][i];
    }
    if (f->pairs > first) {
        const double *s = f->s[f->pairs - 1], *y = f->y[f->pairs - 1];
        double yy = 0;
        for (int i = 0; i < n; i++) yy += y[i] * y[i] * f->inverse[i];
        c = dot(n, s, y) / yy;
    }
    for (int i = 0; i < n; i++) d[i] *= c * f->inverse[i];
    for (int p = first; p < f->pairs; p++) {
        double beta = dot(n, f->y[p], d) / dot(n, f->s[p], f->y[p]);
        for (int i = 0; i < n; i++) d[i] += (alpha[p] - beta) * f->s[p][i];
    }
    for (int i = 0; i < n; i++) d[i] = -d[i];
}

/* ---- what L-BFGS calls ---- */

static void gradient(void *self, void *g)
{
    function *f = self;
    double *slope = naive_alloc((size_t)f->n, sizeof *slope);
    f->slope(f, f->x, slope);
    for (int i = 0; i < f->n; i++) set(f, g, i, slope[i]);
    if (f->recorded && f->last_g) {
        double *s = f->s[f->pairs] = naive_alloc((size_t)f->n, sizeof *s);
        double *y = f->y[f->pairs++] = naive_alloc((size_t)f->n, sizeof *y);
        for (int i = 0; i < f->n; i++) s[i] = f->x[i] - f->last_x[i], y[i] = slope[i] - f->last_g[i];
    }
    free(f->last_g);
    free(f->last_x);
    f->last_g = slope;
    f->last_x = naive_alloc((size_t)f->n, sizeof *f->last_x);
    memcpy(f->last_x, f->x, (size_t)f->n * sizeof *f->x);
    f->gradients++;
}

static void precondition(void *self, void *inverse)
{
    function *f = self;
    f->preconditions++;
    for (int i = 0; i < f->n; i++) { /* changes at every call: no pair may keep an old one */
        f->inverse[i] =
            1 / (f->dense ? f->h[i * f->n + i] : f->h[i]) * (1 + 0.3 * sin(i + 7 * f->preconditions));
        set(f, inverse, i, f->inverse[i]);
    }
}

/* Exact for quadratics; else the first minimum by bisection on the slope. */
static double search(void *self, void *direction, double g_d, double d_d, double *change)
{
    function *f = self;
    int n = f->n;
    double *d = naive_alloc((size_t)n, sizeof *d), *p = naive_alloc((size_t)n, sizeof *p),
           *g = naive_alloc((size_t)n, sizeof *g), low = 0, high = 1e-6;
    for (int i = 0; i < n; i++) d[i] = get(f, direction, i);
    ck_assert_double_eq_tol(g_d, dot(n, d, f->last_g), 1e-5 * sqrt(d_d * dot(n, f->last_g, f->last_g)));
    ck_assert_double_eq_tol(d_d, dot(n, d, d), 1e-5 * d_d);
    ck_assert_double_lt(g_d, 0);
    if (f->recorded) {
        two_loop(f, f->last_g, p);
        double off = 0;
        for (int i = 0; i < n; i++) off += pow(p[i] - d[i], 2);
        f->worst = fmax(f->worst, sqrt(off / dot(n, p, p)));
    }
#define SLOPE_AT(a)                                                                                          \
    (memcpy(p, f->x, (size_t)n * sizeof *p), naive_axpy(n, a, d, p), f->slope(f, p, g), dot(n, d, g))
    if (f->value == quadratic) {
        f->slope(f, d, p); /* Hd - b */
        low = -g_d / (dot(n, d, p) + dot(n, d, f->b));
        /* after exact steps s.g = 0 on a quadratic, and most of the recursion would be multiplied by it */
        if (f->recorded) low *= 0.8 + 0.5 * sin(f->searches);
    } else {
        while (SLOPE_AT(high) < 0 && high < 1e10) low = high, high *= 1.7;
        for (int i = 0; i < 200; i++) {
            double middle = 0.5 * (low + high);
            if (SLOPE_AT(middle) < 0)
                low = middle;
            else
                high = middle;
        }
    }
    memcpy(p, f->x, (size_t)n * sizeof *p);
    naive_axpy(n, low, d, p);
    *change = f->by_value ? f->value(f, p) - f->value(f, f->x)
                          : 0.5 * low * g_d; /* at the minimum of a quadratic the same */
    f->searches++;
    free(d);
    free(p);
    free(g);
    return *change < 0 ? low : 0;
}

static void move(void *self, const void *direction, double step)
{
    function *f = self;
    for (int i = 0; i < f->n; i++) f->x[i] += step * get(f, direction, i);
    f->moves++;
    if (f->moves == f->stop_after) f->watch.over = 1;
}

static void refresh(void *self)
{
    ((function *)self)->refreshes++;
}

/* ---- running ---- */

static function make(int n, gcg_dtype type)
{
    function f = {.n = n, .type = type, .value = quadratic, .slope = quadratic_slope};
    f.watch = gcg_watch_defaults();
    f.x = naive_alloc((size_t)n, sizeof *f.x);
    f.h = naive_alloc((size_t)n, sizeof *f.h);
    f.b = naive_alloc((size_t)n, sizeof *f.b);
    f.inverse = naive_alloc((size_t)n, sizeof *f.inverse);
    naive_rng g = naive_seed((uint64_t)n);
    for (int i = 0; i < n; i++) {
        f.h[i] = pow(10, -2 * naive_uniform(&g));
        f.b[i] = naive_normal(&g);
        f.inverse[i] = 1;
    }
    return f;
}

static void make_dense(function *f)
{
    naive_rng g = naive_seed(9);
    int n = f->n;
    double *a = naive_normals(&g, n * n);
    free(f->h);
    f->h = naive_multiply(n, n, n, a, 1, a, 0);
    for (int i = 0; i < n; i++) f->h[i * n + i] += 0.5 * (1 + i);
    f->dense = 1;
    free(a);
}

static void discard(function *f)
{
    for (int p = 0; p < f->pairs; p++) {
        free(f->s[p]);
        free(f->y[p]);
    }
    free(f->x);
    free(f->h);
    free(f->b);
    free(f->inverse);
    free(f->last_g);
    free(f->last_x);
}

static gcg_lbfgs_result run(function *f, gcg_lbfgs_settings set, int preconditioned, gcg_status want)
{
    gcg_smooth smooth = {f->n,   f->type, f,       gradient, preconditioned ? precondition : NULL,
                         search, move,    refresh, &f->watch};
    int64_t bytes = gcg_lbfgs_bytes(f->n, f->type, set.memory);
    char *workspace = gcg_mem_alloc_array(bytes, 1); /* under sanitizers: its end is the end */
    gcg_lbfgs_result result;
    gcg_err err;
    memset(workspace, 0xff, (size_t)bytes); /* NaN: contents are arbitrary */
    f->memory = set.memory;
    ck_assert_int_eq(gcg_lbfgs(&smooth, &set, workspace, &result, &err), want);
    gcg_mem_free(workspace);
    return result;
}

START_TEST(a_quadratic_is_minimised_in_both_precisions)
{
    static const int sizes[] = {1, 7, 2048, 2049, 70001}; /* chunks are 2048 long, blocks 32768 */
    for (int t = 0; t < 5; t++)
        for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
            function f = make(sizes[t], type);
            double rounding = type == GCG_FLOAT ? 1e-4 : 1e-8, optimum = 0;
            for (int i = 0; i < f.n; i++) optimum -= 0.5 * f.b[i] * f.b[i] / f.h[i];
            gcg_lbfgs_result r =
                run(&f, (gcg_lbfgs_settings){.memory = 5, .max_iterations = 400, .reduction = rounding}, 0,
                    GCG_OK);
            ck_assert_double_le(r.last_norm, rounding * r.first_norm);
            ck_assert_double_eq_tol(r.decrease, -optimum, 2 * rounding * -optimum);
            ck_assert_double_eq_tol(r.first_norm, sqrt(dot(f.n, f.b, f.b)), 1e-6 * r.first_norm);
            ck_assert_int_eq(r.iterations, f.moves);
            ck_assert_int_eq(f.preconditions, 0);
            discard(&f);
        }
}
END_TEST

START_TEST(directions_equal_the_two_loop_recursion)
{
    for (int memory = 0; memory <= GCG_LBFGS_MEMORY_MAX; memory += memory < 6 ? 1 : 5)
        for (int preconditioned = 0; preconditioned < 2; preconditioned++) {
            function f = make(40, GCG_DOUBLE);
            make_dense(&f);
            f.recorded = 1;
            run(&f,
                (gcg_lbfgs_settings){
                    .memory = memory, .max_iterations = 30, .refresh_every = preconditioned ? 4 : 0},
                preconditioned, GCG_OK);
            ck_assert_int_ge(f.searches, 20);
            ck_assert_double_le(f.worst, 1e-9);
            ck_assert_int_eq(f.refreshes, preconditioned ? f.moves / 4 : 0);
            ck_assert_int_eq(f.preconditions, preconditioned ? 1 + f.moves / 4 : 0);
            discard(&f);
        }
}
END_TEST

START_TEST(rosenbrock_is_minimised)
{
    function f = make(10, GCG_DOUBLE);
    f.value = rosenbrock;
    f.by_value = 1;
    f.slope = rosenbrock_slope;
    for (int i = 0; i < 10; i++) f.x[i] = i % 2 ? 1 : -1.2;
    gcg_lbfgs_result r =
        run(&f, (gcg_lbfgs_settings){.memory = 6, .max_iterations = 200, .reduction = 1e-9}, 0, GCG_OK);
    ck_assert_int_lt(r.iterations, 200);
    for (int i = 0; i < 10; i++) ck_assert_double_eq_tol(f.x[i], 1, 1e-6);
    ck_assert_double_eq_tol(r.decrease, 5 * 24.2, 1e-9);
    discard(&f);
}
END_TEST

START_TEST(the_optimum_is_left_alone)
{
    function f = make(5, GCG_DOUBLE);
    for (int i = 0; i < 5; i++) f.b[i] = 0;
    gcg_lbfgs_result r = run(&f, (gcg_lbfgs_settings){.memory = 3, .max_iterations = 10}, 0, GCG_OK);
    ck_assert(r.iterations == 0 && r.first_norm == 0 && r.last_norm == 0 && r.decrease == 0 &&
              f.searches == 0);
    discard(&f);
}
END_TEST

START_TEST(each_stop_is_kept)
{
    function f = make(300, GCG_DOUBLE);
    gcg_lbfgs_result r = run(&f, (gcg_lbfgs_settings){.memory = 4, .max_iterations = 7}, 0, GCG_OK);
    ck_assert_int_eq(r.iterations, 7);
    discard(&f);
    f = make(300, GCG_DOUBLE); /* the gradient has to fall to a half, but not before 5 iterations */
    r = run(&f,
            (gcg_lbfgs_settings){.memory = 4, .max_iterations = 50, .min_iterations = 5, .reduction = 0.9}, 0,
            GCG_OK);
    ck_assert_int_eq(r.iterations, 5);
    discard(&f);
    f = make(300, GCG_DOUBLE); /* two small decreases in a row */
    r = run(&f, (gcg_lbfgs_settings){.memory = 4, .max_iterations = 50, .least_decrease = 1e9}, 0, GCG_OK);
    ck_assert_int_eq(r.iterations, 2);
    discard(&f);
    f = make(300, GCG_DOUBLE);
    f.stop_after = 3;
    r = run(&f, (gcg_lbfgs_settings){.memory = 4, .max_iterations = 50}, 0, GCG_OK);
    ck_assert_int_eq(r.iterations, 3);
    ck_assert_int_eq(f.gradients, 3); /* none after the third move */
    discard(&f);
    f = make(300, GCG_DOUBLE);
    f.watch.over = 1;
    r = run(&f, (gcg_lbfgs_settings){.memory = 4, .max_iterations = 50}, 1, GCG_OK);
    ck_assert_int_eq(r.iterations, 0);
    ck_assert_int_eq(f.gradients, 0);
    discard(&f);
    f = make(300, GCG_DOUBLE); /* none set: the line search finds no descent in the end */
    f.by_value = 1;
    r = run(&f, (gcg_lbfgs_settings){.memory = 4, .max_iterations = 2000}, 0, GCG_OK);
    ck_assert_int_lt(r.iterations, 2000);
    ck_assert_double_le(r.last_norm, 1e-6 * r.first_norm);
    discard(&f);
}
END_TEST

/* 1/4 x^4 - 1/2 x^2: curvature is negative near 0 */
static double wells(const function *f, const double *x)
{
    double sum = 0;
    for (int i = 0; i < f->n; i++) sum += pow(x[i], 4) / 4 - x[i] * x[i] / 2;
    return sum;
}

static void wells_slope(const function *f, const double *x, double *g)
{
    for (int i = 0; i < f->n; i++) g[i] = pow(x[i], 3) - x[i];
}

START_TEST(negative_curvature_is_survived)
{
    function f = make(6, GCG_DOUBLE);
    f.value = wells;
    f.by_value = 1;
    f.slope = wells_slope;
    for (int i = 0; i < 6; i++) f.x[i] = 1e-3 * (i + 1) * (i % 2 ? -1 : 1);
    run(&f, (gcg_lbfgs_settings){.memory = 5, .max_iterations = 100, .reduction = 1e-8}, 0, GCG_OK);
    for (int i = 0; i < 6; i++) ck_assert_double_eq_tol(fabs(f.x[i]), 1, 1e-4);
    discard(&f);
}
END_TEST

/* A line: no pair has curvature. */
static double slope_only(const function *f, const double *x)
{
    return -dot(f->n, f->b, x);
}

static void constant_slope(const function *f, const double *x, double *g)
{
    (void)x;
    for (int i = 0; i < f->n; i++) g[i] = -f->b[i];
}

START_TEST(pairs_without_curvature_are_forgotten)
{
    function f = make(6, GCG_DOUBLE);
    f.value = slope_only;
    f.by_value = 1;
    f.slope = constant_slope;
    gcg_lbfgs_result r = run(&f, (gcg_lbfgs_settings){.memory = 5, .max_iterations = 3}, 0, GCG_OK);
    ck_assert_int_eq(r.iterations, 3);
    ck_assert(isfinite(r.decrease) && r.decrease > 0);
    discard(&f);
}
END_TEST

static void broken_slope(const function *f, const double *x, double *g)
{
    quadratic_slope(f, x, g);
    g[f->n - 1] = f->b[0] > 0 ? NAN : INFINITY;
}

START_TEST(a_gradient_that_is_not_finite_is_an_error)
{
    for (int nan = 0; nan < 2; nan++) {
        function f = make(6, GCG_DOUBLE);
        f.slope = broken_slope;
        f.b[0] = nan ? 1 : -1;
        run(&f, (gcg_lbfgs_settings){.memory = 5, .max_iterations = 3}, 0, GCG_ERR_INTERNAL);
        ck_assert_int_eq(f.searches, 0);
        discard(&f);
    }
}
END_TEST

START_TEST(the_point_is_the_same_at_1_and_7_threads)
{
    double *x[2];
    for (int t = 0; t < 2; t++) {
        gcg_par_set_threads(t ? 7 : 1);
        function f = make(200001, GCG_FLOAT);
        run(&f, (gcg_lbfgs_settings){.memory = 3, .max_iterations = 5, .refresh_every = 2}, 1, GCG_OK);
        x[t] = f.x;
        f.x = NULL;
        discard(&f);
    }
    ck_assert_mem_eq(x[0], x[1], 200001 * sizeof *x[0]);
    free(x[0]);
    free(x[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lbfgs");
    TCase *tests = tcase_create("L-BFGS");
    tcase_add_test(tests, a_quadratic_is_minimised_in_both_precisions);
    tcase_add_test(tests, directions_equal_the_two_loop_recursion);
    tcase_add_test(tests, rosenbrock_is_minimised);
    tcase_add_test(tests, the_optimum_is_left_alone);
    tcase_add_test(tests, each_stop_is_kept);
    tcase_add_test(tests, negative_curvature_is_survived);
    tcase_add_test(tests, pairs_without_curvature_are_forgotten);
    tcase_add_test(tests, a_gradient_that_is_not_finite_is_an_error);
    tcase_add_test(tests, the_point_is_the_same_at_1_and_7_threads);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
