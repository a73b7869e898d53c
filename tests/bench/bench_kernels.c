/* The passes of maths/kernels.h against what the machine can do: bench_kernels FILE RUNS THREADS K...
 *
 * First table: multiply-adds (GFLOP/s) and reads from each level of memory (GB/s) by one thread and by
 * THREADS. Second table: each pass at each K in both precisions: seconds, GFLOP/s (2 N k cost / time, with
 * the costs of kernels.h), per cent of the multiply-adds measured with as many threads, and the rows gathered
 * by column number in GB/s (V once, in the line search dV too; what is scattered into is not counted again).
 * "naive" passes take whole rows, one dot product at a time. Medians of RUNS; in a run every case is timed
 * once, so that a slow moment of the machine meets all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "tests/bench/common.h"
#include "tests/bench/loops.h"
#include "tests/bench/machine.h"

enum { MOST_RUNS = 1000, MOST_THREADS = 256, MOST_K = 4096, NAIVE_BLOCKS = 64 };
static const double LEAST_SECONDS = 0.005; /* a shorter pass is timed several times in a row */

static const gcg_dtype types[2] = {GCG_FLOAT, GCG_DOUBLE}; /* BENCH_FMA_FLOAT, BENCH_FMA_DOUBLE */
static const char *const type_names[2] = {"float", "double"};

/* ---- the data ---- */

typedef struct {
    gcg_dtype type;
    const bench_loops *loops;
    gcg_factors u, v, du, dv, gu, gv;
    void *r, *b, *c;
    gcg_residual residual;
    double *x_vector, *y_vector, *naive_sums;
} arrays;

typedef struct {
    const gcg_csr *x;
    gcg_csr xt;      /* transpose */
    int64_t *rating; /* entry e of xt is rating[e] of x */
    gcg_pass *pass;
    int32_t row_start[NAIVE_BLOCKS + 1], col_start[NAIVE_BLOCKS + 1];
    arrays of[2];
} bench;

/* Blocks of rows with about the same number of ratings. */
static void cut(const gcg_csr *x, int32_t start[NAIVE_BLOCKS + 1])
{
    int32_t row = 0;
    for (int b = 0; b <= NAIVE_BLOCKS; b++) {
        while (row < x->rows && x->row_ptr[row] < x->nnz / NAIVE_BLOCKS * b) row++;
        start[b] = b == NAIVE_BLOCKS ? x->rows : row;
    }
}

static void prepare_pattern(bench *s, const gcg_csr *x)
{
    gcg_err err = {0};
    s->x = x;
    bench_must(gcg_csr_transpose(x, &s->xt, &err), &err);
    bench_must(gcg_pass_new(x, &s->pass, &err), &err);
    s->rating = bench_alloc(x->nnz, sizeof *s->rating);
    int64_t *next = bench_alloc(x->cols, sizeof *next);
    for (int32_t i = 0; i < x->rows; i++)
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++)
            s->rating[s->xt.row_ptr[x->col[p]] + next[x->col[p]]++] = p;
    gcg_mem_free(next);
    cut(x, s->row_start);
    cut(&s->xt, s->col_start);
}

static void fill_factors(gcg_factors *f, int32_t rows, int32_t k, gcg_dtype type, gcg_rng *rng)
{
    gcg_err err = {0};
    bench_must(gcg_factors_init(f, rows, k, type, &err), &err);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t q = 0; q < k; q++) gcg_factors_set(f, i, q, gcg_rng_uniform(rng) - 0.5);
}

static void prepare_arrays(const bench *s, arrays *a, gcg_dtype type, int32_t k)
{
    gcg_rng rng;
    gcg_rng_init(&rng, 1, (uint64_t)k);
    a->type = type;
    a->loops = bench_loops_of(type);
    gcg_factors *of_rows[3] = {&a->u, &a->du, &a->gu}, *of_cols[3] = {&a->v, &a->dv, &a->gv};
    for (int f = 0; f < 3; f++) {
        fill_factors(of_rows[f], s->x->rows, k, type, &rng);
        fill_factors(of_cols[f], s->x->cols, k, type, &rng);
    }
    void **per_rating[3] = {&a->r, &a->b, &a->c};
    for (int i = 0; i < 3; i++) *per_rating[i] = bench_alloc(s->x->nnz, (size_t)type);
    gcg_pass_residual(s->pass, &a->u, &a->v, a->r);
    a->residual = (gcg_residual){.type = type, .values = a->r};
    a->x_vector = bench_alloc(s->x->cols, sizeof *a->x_vector);
    a->y_vector = bench_alloc(s->x->rows, sizeof *a->y_vector);
    a->naive_sums = bench_alloc(4 * NAIVE_BLOCKS, sizeof *a->naive_sums);
    for (int32_t j = 0; j < s->x->cols; j++) a->x_vector[j] = gcg_rng_uniform(&rng);
}

static void release_arrays(arrays *a)
{
    gcg_factors *factors[6] = {&a->u, &a->v, &a->du, &a->dv, &a->gu, &a->gv};
    for (int f = 0; f < 6; f++) gcg_factors_release(factors[f]);
    gcg_mem_free(a->r);
    gcg_mem_free(a->b);
    gcg_mem_free(a->c);
    gcg_mem_free(a->x_vector);
    gcg_mem_free(a->y_vector);
    gcg_mem_free(a->naive_sums);
}

/* ---- the passes ---- */

static void line(bench *s, arrays *a)
{
    double sums[4];
    gcg_pass_line(s->pass, &a->u, &a->v, &a->du, &a->dv, &a->residual, a->b, a->c, sums);
}

static void gradient(bench *s, arrays *a)
{
    gcg_pass_gradient(s->pass, &a->residual, &a->u, &a->v, 1, &a->gu, &a->gv);
}

static void squares(bench *s, arrays *a)
{
    gcg_pass_squares(s->pass, &a->u, &a->v, 1, &a->gu, &a->gv);
}

static void residual(bench *s, arrays *a)
{
    gcg_pass_residual(s->pass, &a->u, &a->v, a->b);
}

static void residual_fast(bench *s, arrays *a)
{
    gcg_pass_residual_fast(s->pass, &a->u, &a->v, a->b);
}

static void product(bench *s, arrays *a)
{
    double sums[3];
    gcg_pass_product(s->pass, &a->u, &a->v, &a->residual, a->b, sums);
}

/* As the solver works when it keeps nothing for each rating. */
static gcg_residual anew(const arrays *a)
{
    return (gcg_residual){.type = a->type, .u = &a->u, .v = &a->v};
}

static void line_anew(bench *s, arrays *a)
{
    double sums[4];
    gcg_residual r = anew(a);
    gcg_pass_line(s->pass, &a->u, &a->v, &a->du, &a->dv, &r, NULL, NULL, sums);
}

static void gradient_anew(bench *s, arrays *a)
{
    gcg_residual r = anew(a);
    gcg_pass_gradient(s->pass, &r, &a->u, &a->v, 1, &a->gu, &a->gv);
}

static void times(bench *s, arrays *a)
{
    gcg_pass_times(s->pass, &a->residual, &a->v, &a->gu);
}

static void times_t(bench *s, arrays *a)
{
    gcg_pass_times_t(s->pass, &a->residual, &a->u, &a->gv);
}

static void matvec(bench *s, arrays *a)
{
    gcg_pass_matvec(s->pass, &a->residual, a->x_vector, a->y_vector);
}

static void matvec_t(bench *s, arrays *a)
{
    gcg_pass_matvec_t(s->pass, &a->residual, a->y_vector, a->x_vector);
}

/* A naive pass as blocks of rows. */
typedef struct {
    bench *s;
    arrays *a;
} naive;

static void naive_dots_block(int64_t block, void *ctx)
{
    const naive *n = ctx;
    n->a->loops->dots(n->s->x, n->s->row_start[block], n->s->row_start[block + 1], &n->a->u, &n->a->v,
                      n->a->b);
}

static void naive_line_block(int64_t block, void *ctx)
{
    const naive *n = ctx;
    n->a->loops->line(n->s->x, n->s->row_start[block], n->s->row_start[block + 1], &n->a->u, &n->a->v,
                      &n->a->du, &n->a->dv, n->a->r, n->a->b, n->a->c, n->a->naive_sums + 4 * block);
}

/* Blocks of rows for gU, then blocks of columns for gV. */
static void naive_gradient_block(int64_t block, void *ctx)
{
    const naive *n = ctx;
    const bench *s = n->s;
    arrays *a = n->a;
    if (block < NAIVE_BLOCKS)
        a->loops->gradient(s->x, NULL, s->row_start[block], s->row_start[block + 1], a->r, &a->u, &a->v, 1,
                           &a->gu);
    else
        a->loops->gradient(&s->xt, s->rating, s->col_start[block - NAIVE_BLOCKS],
                           s->col_start[block - NAIVE_BLOCKS + 1], a->r, &a->v, &a->u, 1, &a->gv);
}

static void naive_dots(bench *s, arrays *a)
{
    naive n = {s, a};
    gcg_par_blocks(NAIVE_BLOCKS, naive_dots_block, &n);
}

static void naive_line(bench *s, arrays *a)
{
    naive n = {s, a};
    gcg_par_blocks(NAIVE_BLOCKS, naive_line_block, &n);
}

static void naive_gradient(bench *s, arrays *a)
{
    naive n = {s, a};
    gcg_par_blocks(2 * NAIVE_BLOCKS, naive_gradient_block, &n);
}

typedef struct {
    const char *name;
    int cost, gathered; /* multiply-adds of length k, and rows of V, for each rating */
    int one;            /* a product with one vector of doubles: k does not matter */
    void (*run)(bench *s, arrays *a);
} pass_case;

static const pass_case cases[] = {
    {"line", 3, 2, 0, line},
    {"naive line", 3, 2, 0, naive_line},
    {"gradient", 2, 1, 0, gradient},
    {"line anew", 4, 2, 0, line_anew},
    {"gradient anew", 3, 1, 0, gradient_anew},
    {"naive gradient", 2, 1, 0, naive_gradient},
    {"squares", 2, 1, 0, squares},
    {"residual", 1, 1, 0, residual},
    {"residual_fast", 1, 1, 0, residual_fast},
    {"product", 1, 1, 0, product},
    {"naive dots", 1, 1, 0, naive_dots},
    {"times", 1, 1, 0, times},
    {"times_t", 1, 1, 0, times_t},
    {"matvec", 1, 1, 1, matvec},
    {"matvec_t", 1, 1, 1, matvec_t},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- timing ---- */

typedef struct {
    bench *s;
    int run, runs, threads_index, with_one;
    double *sample; /* [threads][type][case][run] */
} timing;

static double *slot(const timing *t, int threads_index, int type, int which)
{
    return t->sample + ((threads_index * 2 + type) * CASES + which) * t->runs;
}

static double time_case(bench *s, arrays *a, const pass_case *c)
{
    double start = gcg_clock_now(), seconds;
    int count = 0;
    do {
        c->run(s, a);
        count++;
        seconds = gcg_clock_now() - start;
    } while (seconds < LEAST_SECONDS);
    return seconds / count;
}

static void time_all(void *ctx)
{
    timing *t = ctx;
    for (int type = 0; type < 2; type++)
        for (int w = 0; w < CASES; w++)
            if (t->with_one || !cases[w].one)
                slot(t, t->threads_index, type, w)[t->run] = time_case(t->s, &t->s->of[type], &cases[w]);
}

static void print_case(const timing *t, int w, int type, int threads_index, int threads, int32_t k,
                       double peak)
{
    const pass_case *c = &cases[w];
    double seconds = bench_median(slot(t, threads_index, type, w), t->runs);
    double ratings = (double)t->s->x->nnz, length = c->one ? 1 : k;
    double gflops = 2 * ratings * length * c->cost / seconds / 1e9;
    double entry = c->one ? sizeof(double) : (double)types[type];
    printf("%s\t%d\t%s\t%d\t%.3f\t%.2f\t%.1f\t%.1f\n", c->name, (int)length, type_names[type], threads,
           seconds * 1e3, gflops, 100 * gflops / peak,
           ratings * length * c->gathered * entry / seconds / 1e9);
}

static void measure_passes(bench *s, int runs, const int threads[2], double rate[2][BENCH_PROBES], int32_t k,
                           int first)
{
    int most = threads[1] > threads[0] ? 2 : 1;
    timing t = {.s = s, .runs = runs, .with_one = first};
    t.sample = bench_alloc((int64_t)2 * 2 * CASES * runs, sizeof *t.sample);
    for (int type = 0; type < 2; type++) prepare_arrays(s, &s->of[type], types[type], k);
    for (t.run = 0; t.run < runs; t.run++)
        for (t.threads_index = 0; t.threads_index < most; t.threads_index++) {
            gcg_par_set_threads(threads[t.threads_index]);
            gcg_par_session(time_all, &t);
        }
    for (int w = 0; w < CASES; w++)
        for (int type = 0; type < 2; type++)
            for (int i = 0; i < most; i++)
                if (first || !cases[w].one) print_case(&t, w, type, i, threads[i], k, rate[i][type]);
    fflush(stdout);
    for (int type = 0; type < 2; type++) release_arrays(&s->of[type]);
    gcg_mem_free(t.sample);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: bench_kernels FILE RUNS THREADS K...\n");
        return 2;
    }
    int runs = bench_count("RUNS", argv[2], MOST_RUNS);
    int threads[2] = {1, bench_count("THREADS", argv[3], MOST_THREADS)};
    double rate[2][BENCH_PROBES];
    gcg_ratings ratings;
    bench s = {0};
    for (int i = 4; i < argc; i++) bench_count("K", argv[i], MOST_K);
    bench_read(argv[1], &ratings);
    prepare_pattern(&s, &ratings.x);
    printf("# vectors of %d bytes\n", bench_loops_of(GCG_FLOAT)->vector_bytes);
    bench_machine(runs, threads, rate);
    printf("\npass\tk\tprecision\tthreads\tms\tGFLOP_per_s\tpeak_percent\tgathered_GB_per_s\n");
    for (int i = 4; i < argc; i++)
        measure_passes(&s, runs, threads, rate, bench_count("K", argv[i], MOST_K), i == 4);
    gcg_pass_free(s.pass);
    gcg_csr_release(&s.xt);
    gcg_mem_free(s.rating);
    gcg_ratings_release(&ratings);
    return 0;
}
