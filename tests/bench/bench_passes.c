/* What a pass costs as the ratings grow: bench_passes RUNS THREADS K FILE...
 *
 * After the table of the machine (machine.h), for each file, pass and number of threads (1 and THREADS),
 * floats of K columns: nanoseconds for each rating and pass (a pass of cost c counts c times, see kernels.h),
 * GFLOP/s, and the GB/s of what has to come from memory or go there at least once: arrays of one real or
 * index a rating, and the factors; both also in per cent of what the machine does with as many threads.
 * "iteration" is one of L-BFGS without its vectors: line and gradient. Medians of RUNS; in a run every file
 * and case is timed once, so that a slow moment of the machine meets all of them. All files are in memory at
 * once. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "tests/bench/common.h"
#include "tests/bench/loops.h"
#include "tests/bench/machine.h"

enum { MOST_RUNS = 1000, MOST_THREADS = 256, MOST_K = 4096, MOST_FILES = 16 };
enum { WARM_RATINGS = 10000000 /* so many are warmed up */ };
static const double LEAST_SECONDS = 0.005; /* a shorter pass is timed several times in a row */

/* One file: ratings, factors, arrays of one real a rating. */
typedef struct {
    const char *name;
    gcg_ratings ratings;
    gcg_pass *pass;
    gcg_factors u, v, du, dv, gu, gv;
    float *r, *b, *c;
    double *x, *y;
} data;

/* Kept. */
static gcg_residual residual_of(const data *d)
{
    return (gcg_residual){GCG_FLOAT, d->r, &d->u, &d->v};
}

static void line(data *d)
{
    double sums[4];
    gcg_residual r = residual_of(d);
    gcg_pass_line(d->pass, &d->u, &d->v, &d->du, &d->dv, &r, d->b, d->c, sums);
}

static void gradient(data *d)
{
    gcg_residual r = residual_of(d);
    gcg_pass_gradient(d->pass, &r, &d->u, &d->v, 1, &d->gu, &d->gv);
}

static void squares(data *d)
{
    gcg_pass_squares(d->pass, &d->u, &d->v, 1, &d->gu, &d->gv);
}

static void residual(data *d)
{
    gcg_pass_residual(d->pass, &d->u, &d->v, d->b);
}

static void residual_fast(data *d)
{
    gcg_pass_residual_fast(d->pass, &d->u, &d->v, d->b);
}

static void times(data *d)
{
    gcg_residual r = residual_of(d);
    gcg_pass_times(d->pass, &r, &d->v, &d->gu);
}

static void times_t(data *d)
{
    gcg_residual r = residual_of(d);
    gcg_pass_times_t(d->pass, &r, &d->u, &d->gv);
}

static void matvec(data *d)
{
    gcg_residual r = residual_of(d);
    gcg_pass_matvec(d->pass, &r, d->x, d->y);
}

static void matvec_t(data *d)
{
    gcg_residual r = residual_of(d);
    gcg_pass_matvec_t(d->pass, &r, d->y, d->x);
}

/* cost: multiply-adds of length K a rating; arrays: reals and indices a rating; of_rows, of_cols: factors
 * read or written. one: a product with one vector of doubles. */
typedef struct {
    const char *name;
    int cost, arrays, of_rows, of_cols, one;
    void (*run)(data *d);
} pass_case;

enum { LINE, GRADIENT };
static const pass_case cases[] = {
    [LINE] = {"line", 3, 4, 2, 2, 0, line},
    [GRADIENT] = {"gradient", 2, 2, 2, 2, 0, gradient},
    {"squares", 2, 1, 2, 2, 0, squares},
    {"residual", 1, 3, 1, 1, 0, residual},
    {"residual_fast", 1, 3, 1, 1, 0, residual_fast},
    {"times", 1, 2, 1, 1, 0, times},
    {"times_t", 1, 2, 1, 1, 0, times_t},
    {"matvec", 1, 2, 1, 1, 1, matvec},
    {"matvec_t", 1, 2, 1, 1, 1, matvec_t},
};
enum { CASES = sizeof cases / sizeof *cases };

static void fill(gcg_factors *f, int32_t rows, int32_t k, gcg_rng *rng)
{
    gcg_err err = {0};
    bench_must(gcg_factors_init(f, rows, k, GCG_FLOAT, &err), &err);
    for (int64_t i = 0; i < rows; i++)
        for (int32_t q = 0; q < k; q++)
            ((float *)f->data)[i * f->stride + q] = (float)(gcg_rng_uniform(rng) - 0.5);
}

static void prepare(data *d, const char *name, int32_t k)
{
    gcg_err err = {0};
    gcg_rng rng;
    gcg_rng_init(&rng, 1, (uint64_t)k);
    d->name = name;
    bench_read(name, &d->ratings);
    bench_must(gcg_csr_own(&d->ratings.x, &err), &err);
    bench_must(gcg_pass_tile(&d->ratings.x, 0, &err), &err);
    const gcg_csr *x = &d->ratings.x;
    bench_must(gcg_pass_new(x, &d->pass, &err), &err);
    gcg_factors *of_rows[3] = {&d->u, &d->du, &d->gu}, *of_cols[3] = {&d->v, &d->dv, &d->gv};
    for (int f = 0; f < 3; f++) {
        fill(of_rows[f], x->rows, k, &rng);
        fill(of_cols[f], x->cols, k, &rng);
    }
    float **arrays[3] = {&d->r, &d->b, &d->c};
    for (int i = 0; i < 3; i++) *arrays[i] = bench_alloc(x->nnz, sizeof(float));
    d->x = bench_alloc(x->cols, sizeof *d->x);
    d->y = bench_alloc(x->rows, sizeof *d->y);
    for (int32_t j = 0; j < x->cols; j++) d->x[j] = gcg_rng_uniform(&rng);
    gcg_pass_residual_fast(d->pass, &d->u, &d->v, d->r);
}

static void release(data *d)
{
    gcg_factors *factors[6] = {&d->u, &d->v, &d->du, &d->dv, &d->gu, &d->gv};
    void *arrays[5] = {d->r, d->b, d->c, d->x, d->y};
    for (int f = 0; f < 6; f++) gcg_factors_release(factors[f]);
    for (int i = 0; i < 5; i++) gcg_mem_free(arrays[i]);
    gcg_pass_free(d->pass);
    gcg_ratings_release(&d->ratings);
}

/* ---- timing ---- */

typedef struct {
    data *d;
    int files, run, runs, threads_index;
    double *sample; /* [file][threads][case][run] */
} timing;

static double *slot(const timing *t, int file, int threads_index, int which)
{
    return t->sample + ((file * 2 + threads_index) * CASES + which) * t->runs;
}

/* What fits in cache is there: the other files' passes took it away. */
static double time_case(data *d, const pass_case *c)
{
    double start = gcg_clock_now(), seconds;
    int count = 0;
    if (d->ratings.x.nnz <= WARM_RATINGS) {
        c->run(d);
        start = gcg_clock_now();
    }
    do {
        c->run(d);
        count++;
        seconds = gcg_clock_now() - start;
    } while (seconds < LEAST_SECONDS);
    return seconds / count;
}

static void time_all(void *ctx)
{
    const timing *t = ctx;
    for (int w = 0; w < CASES; w++)
        for (int f = 0; f < t->files; f++)
            slot(t, f, t->threads_index, w)[t->run] = time_case(&t->d[f], &cases[w]);
}

static void print_row(const data *d, const char *name, int threads, double seconds, double cost, double k,
                      double bytes, const double *rate)
{
    const gcg_csr *x = &d->ratings.x;
    double ratings = (double)x->nnz, gflops = 2 * ratings * k * cost / seconds / 1e9,
           gb = bytes / seconds / 1e9;
    printf("%s\t%" PRId32 "\t%" PRId32 "\t%" PRId64 "\t%s\t%d\t%.3f\t%.2f\t%.1f\t%.2f\t%.1f\n", d->name,
           x->rows, x->cols, x->nnz, name, threads, seconds / ratings / cost * 1e9, gflops,
           100 * gflops / rate[BENCH_FMA_FLOAT], gb, 100 * gb / rate[BENCH_READ_DRAM]);
}

/* What has to be moved at least once. */
static double least_bytes(const data *d, const pass_case *c, int32_t k)
{
    const gcg_csr *x = &d->ratings.x;
    double row = c->one ? sizeof(double) : (double)k * sizeof(float);
    return 4.0 * c->arrays * (double)x->nnz +
           row * (c->of_rows * (double)x->rows + c->of_cols * (double)x->cols);
}

static void print_file(const timing *t, int file, const int threads[2], double rate[2][BENCH_PROBES],
                       int32_t k)
{
    const data *d = &t->d[file];
    double seconds[CASES];
    for (int i = 0; i < (threads[1] > threads[0] ? 2 : 1); i++) {
        for (int w = 0; w < CASES; w++) {
            seconds[w] = bench_median(slot(t, file, i, w), t->runs);
            print_row(d, cases[w].name, threads[i], seconds[w], cases[w].cost, cases[w].one ? 1 : k,
                      least_bytes(d, &cases[w], k), rate[i]);
        }
        print_row(d, "iteration", threads[i], seconds[LINE] + seconds[GRADIENT],
                  cases[LINE].cost + cases[GRADIENT].cost, k,
                  least_bytes(d, &cases[LINE], k) + least_bytes(d, &cases[GRADIENT], k), rate[i]);
    }
}

int main(int argc, char **argv)
{
    if (argc < 5 || argc > 4 + MOST_FILES) {
        fprintf(stderr, "usage: bench_passes RUNS THREADS K FILE... (at most %d)\n", MOST_FILES);
        return 2;
    }
    data d[MOST_FILES] = {0};
    double rate[2][BENCH_PROBES] = {{0}};
    timing t = {.d = d, .files = argc - 4, .runs = bench_count("RUNS", argv[1], MOST_RUNS)};
    int threads[2] = {1, bench_count("THREADS", argv[2], MOST_THREADS)},
        k = bench_count("K", argv[3], MOST_K);
    for (int f = 0; f < t.files; f++) prepare(&d[f], argv[4 + f], k);
    bench_machine(t.runs, threads, rate);
    t.sample = bench_alloc((int64_t)t.files * 2 * CASES * t.runs, sizeof *t.sample);
    for (t.run = 0; t.run < t.runs; t.run++)
        for (t.threads_index = 0; t.threads_index < (threads[1] > 1 ? 2 : 1); t.threads_index++) {
            gcg_par_set_threads(threads[t.threads_index]);
            gcg_par_session(time_all, &t);
        }
    printf("\nfile\tusers\titems\tratings\tpass\tthreads\tns_per_rating\tGFLOP_per_s\tpeak_percent\tGB_per_"
           "s\tDRAM_percent\n");
    for (int f = 0; f < t.files; f++) print_file(&t, f, threads, rate, k);
    for (int f = 0; f < t.files; f++) release(&d[f]);
    gcg_mem_free(t.sample);
    return 0;
}
