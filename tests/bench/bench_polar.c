/* The three roads of steps/polar.h on the residual of an iterate: bench_polar FILE RUNS THREADS LAMBDA
 * ITERATIONS
 *
 * R = P(X - W) for the W that gcg_complete() has after ITERATIONS outer iterations. Each road is asked for
 * several accuracies; the table has its products with R or R', its seconds (medians of RUNS, interleaved) and
 * how far its value is from ARPACK's at a tight tolerance:
 *   top      sigma_1(R), ARPACK at the tolerance (of sigma^2) in the column setting, from below
 *   bound    an upper bound of sigma_1(R) that fails with probability 1e-6; eps is the setting
 *   block    the largest value of R deflated by the basis of W, block Krylov; the setting is BLOCK x DEPTH.
 *            atoms_error is the share that is missing of sum over sigma > lambda of (sigma - lambda)^2, what
 * a step over these atoms gains, relative to the deepest block of all. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "maths/kernels.h"
#include "solvers/solver.h"
#include "steps/polar.h"
#include "tests/bench/common.h"

static const double TIGHT = 1e-12, PROBABILITY = 1e-6;
enum { MOST_RUNS = 1000, MOST_THREADS = 256, MOST_ITERATIONS = 10000, DEEPEST_BLOCK = 128, DEEPEST = 10 };

typedef struct {
    const gcg_csr *x;
    gcg_pass *pass;
    gcg_solver_result at;
    gcg_dtype type;
    void *r;
    gcg_residual residual;
    double *inverse_s, lambda;
    int64_t products;
} residual;

static void times(void *ctx, const double *x, double *y)
{
    residual *s = ctx;
    s->products++;
    gcg_pass_matvec(s->pass, &s->residual, x, y);
}

static void times_t(void *ctx, const double *y, double *x)
{
    residual *s = ctx;
    s->products++;
    gcg_pass_matvec_t(s->pass, &s->residual, y, x);
}

static void block_times(void *ctx, const gcg_factors *z, gcg_factors *y)
{
    residual *s = ctx;
    s->products += z->k;
    gcg_pass_times(s->pass, &s->residual, z, y);
}

static void block_times_t(void *ctx, const gcg_factors *y, gcg_factors *z)
{
    residual *s = ctx;
    s->products += y->k;
    gcg_pass_times_t(s->pass, &s->residual, y, z);
}

/* ---- (I - PP') R (I - QQ') as an operator on vectors: only for the reference ---- */

/* x -= Q Q'x, Q = F diag(s)^(-1/2). */
static void deflate(const residual *s, const gcg_factors *f, double *x)
{
    for (int32_t q = 0; q < f->k; q++) {
        double sum = 0;
        for (int32_t i = 0; i < f->rows; i++) sum += gcg_factors_get(f, i, q) * x[i];
        sum *= s->inverse_s[q];
        for (int32_t i = 0; i < f->rows; i++) x[i] -= sum * gcg_factors_get(f, i, q);
    }
}

static void deflated_times(void *ctx, const double *x, double *y)
{
    residual *s = ctx;
    double *z = bench_alloc(s->x->cols, sizeof *z);
    for (int32_t j = 0; j < s->x->cols; j++) z[j] = x[j];
    deflate(s, &s->at.v, z);
    times(s, z, y);
    deflate(s, &s->at.u, y);
    gcg_mem_free(z);
}

static void deflated_times_t(void *ctx, const double *y, double *x)
{
    residual *s = ctx;
    double *z = bench_alloc(s->x->rows, sizeof *z);
    for (int32_t i = 0; i < s->x->rows; i++) z[i] = y[i];
    deflate(s, &s->at.u, z);
    times_t(s, z, x);
    deflate(s, &s->at.v, x);
    gcg_mem_free(z);
}

/* ---- one road ---- */

typedef enum { TOP, BOUND, BLOCK } road;
static const char *const road_names[] = {"top", "bound", "block"};

typedef struct {
    road road;
    double accuracy;     /* tolerance or eps */
    int32_t size, depth; /* of a block */
} setting;

static const setting settings[] = {
    {TOP, 1e-1, 0, 0},  {TOP, 1e-2, 0, 0},   {TOP, 1e-3, 0, 0},   {TOP, 1e-4, 0, 0},   {TOP, 1e-6, 0, 0},
    {TOP, 1e-8, 0, 0},  {BOUND, 1e-1, 0, 0}, {BOUND, 1e-2, 0, 0}, {BOUND, 1e-3, 0, 0}, {BOUND, 3e-4, 0, 0},
    {BLOCK, 0, 16, 4},  {BLOCK, 0, 32, 2},   {BLOCK, 0, 32, 3},   {BLOCK, 0, 32, 4},   {BLOCK, 0, 64, 2},
    {BLOCK, 0, 64, 3},  {BLOCK, 0, 64, 4},   {BLOCK, 0, 64, 6},   {BLOCK, 0, 128, 2},  {BLOCK, 0, 128, 3},
    {BLOCK, 0, 128, 4},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

typedef struct {
    double value, gain, *seconds;
    int64_t products;
} outcome;

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The largest value found by a block, and sum over sigma > lambda of (sigma - lambda)^2. */
static void run_block(residual *s, int32_t size, int32_t depth, double *value, double *gain)
{
    gcg_err err = {0};
    gcg_rng rng;
    gcg_triplets found = {0};
    gcg_block_op op = {s->x->rows, s->x->cols, s->type, s, block_times, block_times_t, NULL};
    int32_t left = smaller(s->x->rows, s->x->cols) - s->at.u.k;
    gcg_rng_init(&rng, 1, 0);
    bench_must(gcg_polar_block(&op, &s->at.u, &s->at.v, s->inverse_s, NULL, smaller(size, left), depth, &rng,
                               &found, &err),
               &err);
    *value = found.count ? found.sigma[0] : 0;
    *gain = 0;
    for (int32_t i = 0; i < found.count; i++)
        if (found.sigma[i] > s->lambda) *gain += pow(found.sigma[i] - s->lambda, 2);
    gcg_triplets_release(&found);
}

static void run_setting(residual *s, const setting *c, outcome *o, int run)
{
    gcg_err err = {0};
    gcg_linop op = {s->x->rows, s->x->cols, s, times, times_t, 0, NULL};
    double start = gcg_clock_now();
    s->products = 0;
    if (c->road == TOP)
        bench_must(gcg_polar_top(&op, c->accuracy, 1, &o->value, NULL, NULL, &err), &err);
    else if (c->road == BOUND)
        bench_must(gcg_polar_bound(&op, c->accuracy, PROBABILITY, 1, GCG_POLAR_BASIS, &o->value, NULL, &err),
                   &err);
    else
        run_block(s, c->size, c->depth, &o->value, &o->gain);
    o->seconds[run] = gcg_clock_now() - start;
    o->products = s->products;
}

/* ---- the table ---- */

/* A solve that stops at once when the iterations are done. */
static void solve(residual *s, int iterations)
{
    gcg_err err = {0};
    gcg_solver_settings set = gcg_solver_settings_defaults();
    set.lambda = s->lambda;
    set.max_iter = iterations;
    set.gap = 1e-12;
    set.precision = GCG_PRECISION_FLOAT;
    bench_must(gcg_complete(s->x, &set, &s->at, &err), &err);
    s->type = s->at.u.type;
    s->r = bench_alloc(s->x->nnz, (size_t)s->type);
    s->inverse_s = bench_alloc(s->at.u.k, sizeof *s->inverse_s);
    for (int32_t q = 0; q < s->at.u.k; q++) s->inverse_s[q] = 1 / s->at.singular_values[q];
    bench_must(gcg_pass_new(s->x, &s->pass, &err), &err);
    gcg_pass_residual(s->pass, &s->at.u, &s->at.v, s->r);
    s->residual = (gcg_residual){.type = s->type, .values = s->r};
}

typedef struct {
    residual *s;
    int runs, iterations;
} job;

static void print(const job *j, const setting *c, outcome *o, double top, double deflated, double gain)
{
    double right = c->road == BLOCK ? deflated : top;
    char text[32], missing[32] = "-";
    if (c->road == BLOCK) {
        snprintf(text, sizeof text, "%" PRId32 " x %" PRId32, c->size, c->depth);
        if (gain > 0) snprintf(missing, sizeof missing, "%.1e", (gain - o->gain) / gain);
    } else {
        snprintf(text, sizeof text, "%.0e", c->accuracy);
    }
    printf("%s\t%s\t%" PRId64 "\t%.4f\t%.9g\t%.2e\t%s\n", road_names[c->road], text, o->products,
           bench_median(o->seconds, j->runs), o->value, o->value / right - 1, missing);
}

static void run_all(void *ctx)
{
    const job *j = ctx;
    residual *s = j->s;
    gcg_err err = {0};
    outcome outcomes[SETTINGS] = {{0}};
    double top, deflated, value, gain;
    solve(s, j->iterations);
    gcg_linop op = {s->x->rows, s->x->cols, s, times, times_t, 0, NULL};
    gcg_linop without = {s->x->rows, s->x->cols, s, deflated_times, deflated_times_t, 0, NULL};
    bench_must(gcg_polar_top(&op, TIGHT, 2, &top, NULL, NULL, &err), &err);
    bench_must(gcg_polar_top(&without, TIGHT, 2, &deflated, NULL, NULL, &err), &err);
    run_block(s, DEEPEST_BLOCK, DEEPEST, &value, &gain);
    printf("# lambda %g, %" PRId64 " iterations: rank %" PRId32
           ", gap %.1e; sigma_1(R) / lambda = %.9g, deflated "
           "%.9g\n",
           s->lambda, s->at.last.iter, s->at.u.k, s->at.last.gap, top / s->lambda, deflated / s->lambda);
    for (int c = 0; c < SETTINGS; c++) outcomes[c].seconds = bench_alloc(j->runs, sizeof(double));
    for (int run = 0; run < j->runs; run++)
        for (int c = 0; c < SETTINGS; c++) run_setting(s, &settings[c], &outcomes[c], run);
    printf("road\tsetting\tproducts\tseconds\tvalue\terror\tatoms_error\n");
    for (int c = 0; c < SETTINGS; c++) {
        print(j, &settings[c], &outcomes[c], top, deflated, gain);
        gcg_mem_free(outcomes[c].seconds);
    }
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: bench_polar FILE RUNS THREADS LAMBDA ITERATIONS\n");
        return 2;
    }
    gcg_ratings ratings;
    residual s = {.lambda = strtod(argv[4], NULL)};
    job j = {&s, bench_count("RUNS", argv[2], MOST_RUNS),
             bench_count("ITERATIONS", argv[5], MOST_ITERATIONS)};
    if (!(s.lambda > 0)) {
        fprintf(stderr, "bench: LAMBDA must be a number above 0, not '%s'\n", argv[4]);
        return 2;
    }
    gcg_par_set_threads(bench_count("THREADS", argv[3], MOST_THREADS));
    bench_read(argv[1], &ratings);
    s.x = &ratings.x;
    gcg_par_session(run_all, &j);
    gcg_pass_free(s.pass);
    gcg_mem_free(s.r);
    gcg_mem_free(s.inverse_s);
    gcg_solver_result_release(&s.at);
    gcg_ratings_release(&ratings);
    return 0;
}
