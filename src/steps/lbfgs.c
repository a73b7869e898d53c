/* L-BFGS on inner products: see lbfgs.h. */
#include "steps/lbfgs.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "maths/kernels.h"

enum {
    M = GCG_LBFGS_MEMORY_MAX,
    CHUNK = 1024,       /* entries that stay in L1 while all inner products with them are taken */
    BLOCK = 32 * CHUNK, /* entries of one task */
    FIXED_VECTORS = 3   /* g, d, inverse */
};

/* Per block: s_i.g, y_i.D^-1 g, s_i.y_new, s_new.y_i, y_i.D^-1 y_new for each pair, then g.D^-1 g. */
enum { S_G, Y_G, S_YNEW, Y_YNEW, KINDS };
enum { SUMS = KINDS * M + 1 };

typedef struct {
    const gcg_smooth *f;
    gcg_vector_ops ops;
    size_t size;
    int64_t blocks;
    char *g, *d, *inverse;
    char *s[M],
        *y[M]; /* oldest first; s_i is stored as the direction that it came from: s_i = length_i times it */
    double length[M];
    int memory, pairs;
    int has_inverse;
    double sy[M][M]; /* s_i.y_j for i <= j */
    double yy[M][M]; /* y_i.D^-1 y_j */
    double sg[M], yg[M], gg;
    double *partial; /* SUMS per block */
    /* the combination */
    double a[M], b[M], c;
    int new_pair; /* the last pair is being made: y_new holds the old gradient */
    int row;      /* of yy, for rebuild() */
} lbfgs;

static int64_t vector_bytes(int64_t n, gcg_dtype type)
{
    int64_t bytes = n * (int64_t)type;
    return (bytes + GCG_MEM_ALIGN - 1) / GCG_MEM_ALIGN * GCG_MEM_ALIGN;
}

static int64_t count_blocks(int64_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

int64_t gcg_lbfgs_bytes(int64_t n, gcg_dtype type, int memory)
{
    return (FIXED_VECTORS + 2 * (int64_t)memory) * vector_bytes(n, type) +
           count_blocks(n) * SUMS * (int64_t)sizeof(double);
}

static int64_t stretch(int64_t start, int64_t end, int64_t most)
{
    return end - start < most ? end - start : most;
}

/* D^-1 x for one chunk: into work, or x itself when D = 1. */
static const void *preconditioned(const lbfgs *l, int64_t n, int64_t e, const char *x, double *work)
{
    size_t at = (size_t)e * l->size;
    if (!l->has_inverse) return x + at;
    l->ops.multiply(n, x + at, l->inverse + at, work);
    return work;
}

static const void *const *at(const lbfgs *l, char *const *vectors, int64_t e, const void **out)
{
    for (int i = 0; i < l->pairs; i++) out[i] = vectors[i] + (size_t)e * l->size;
    return out;
}

/* Sweep 1: all inner products with g (and, when a pair is made, y_new = g - (old g in y_new) and those with
 * it). */
static void products_task(int64_t block, void *ctx)
{
    const lbfgs *l = ctx;
    double *sum = l->partial + block * SUMS, dg_work[CHUNK], dy_work[CHUNK];
    const void *s[M], *y[M];
    memset(sum, 0, SUMS * sizeof *sum);
    int64_t end = (block + 1) * BLOCK < l->f->n ? (block + 1) * BLOCK : l->f->n;
    for (int64_t e = block * BLOCK; e < end; e += CHUNK) {
        int64_t n = stretch(e, end, CHUNK);
        const void *g = l->g + (size_t)e * l->size, *dg = preconditioned(l, n, e, l->g, dg_work);
        at(l, l->s, e, s);
        at(l, l->y, e, y);
        if (l->new_pair) {
            char *y_new = l->y[l->pairs - 1];
            l->ops.subtract_vectors(n, g, y_new + (size_t)e * l->size, y_new + (size_t)e * l->size);
            l->ops.dots(n, y[l->pairs - 1], l->pairs, s, sum + S_YNEW * M);
            l->ops.dots(n, preconditioned(l, n, e, y_new, dy_work), l->pairs, y, sum + Y_YNEW * M);
        }
        l->ops.dots(n, g, 1, &dg, sum + KINDS * M);
        l->ops.dots(n, g, l->pairs, s, sum + S_G * M);
        l->ops.dots(n, dg, l->pairs, y, sum + Y_G * M);
    }
}

static double total(const lbfgs *l, int index)
{
    double sum = 0;
    for (int64_t b = 0; b < l->blocks; b++) sum += l->partial[b * SUMS + index];
    return sum;
}

static void products(lbfgs *l)
{
    int newest = l->pairs - 1;
    gcg_par_blocks(l->blocks, products_task, l);
    l->gg = total(l, KINDS * M);
    for (int i = 0; i < l->pairs; i++) {
        l->sg[i] = l->length[i] * total(l, S_G * M + i);
        l->yg[i] = total(l, Y_G * M + i);
        if (!l->new_pair) continue;
        l->sy[i][newest] = l->length[i] * total(l, S_YNEW * M + i);
        l->yy[i][newest] = l->yy[newest][i] = total(l, Y_YNEW * M + i);
    }
}

/* After a new preconditioner: y_i.D^-1 y_j for all pairs, one row of them at a time. */
static void rebuild_task(int64_t block, void *ctx)
{
    const lbfgs *l = ctx;
    double *sum = l->partial + block * SUMS, work[CHUNK];
    memset(sum, 0, SUMS * sizeof *sum);
    int64_t end = (block + 1) * BLOCK < l->f->n ? (block + 1) * BLOCK : l->f->n;
    for (int64_t e = block * BLOCK; e < end; e += CHUNK) {
        int64_t n = stretch(e, end, CHUNK);
        const void *y[M];
        at(l, l->y, e, y);
        l->ops.dots(n, preconditioned(l, n, e, l->y[l->row], work), l->row + 1, y, sum);
    }
}

static void rebuild(lbfgs *l)
{
    for (int j = 0; j < l->pairs; j++) {
        l->row = j;
        gcg_par_blocks(l->blocks, rebuild_task, l);
        for (int i = 0; i <= j; i++) l->yy[i][j] = l->yy[j][i] = total(l, i);
    }
}

/* The two loops on inner products: coefficients of the direction. */
static void recursion(lbfgs *l)
{
    double alpha[M];
    int k = l->pairs;
    l->c = k > 0 ? l->sy[k - 1][k - 1] / l->yy[k - 1][k - 1] : 1;
    for (int i = k - 1; i >= 0; i--) { /* q = g - sum alpha_j y_j */
        double s_q = l->sg[i];
        for (int j = i + 1; j < k; j++) s_q -= alpha[j] * l->sy[i][j];
        alpha[i] = s_q / l->sy[i][i];
    }
    for (int i = 0; i < k; i++) { /* z = c D^-1 q + sum (alpha_j - beta_j) s_j; d = -z */
        double y_q = l->yg[i];
        for (int j = 0; j < k; j++) y_q -= alpha[j] * l->yy[i][j];
        double y_z = l->c * y_q;
        for (int j = 0; j < i; j++) y_z -= l->a[j] * l->sy[j][i];
        l->a[i] = -(alpha[i] - y_z / l->sy[i][i]);
    }
    for (int i = 0; i < k; i++) l->b[i] = l->c * alpha[i];
}

/* Sweep 2: d = D^-1 (sum b_i y_i - c g) + sum a_i s_i; partial: g.d, d.d. */
static void direction_task(int64_t block, void *ctx)
{
    const lbfgs *l = ctx;
    double *sum = l->partial + block * SUMS, b[M + 1], a[M];
    const void *s[M], *y_g[M + 1];
    int k = l->pairs;
    sum[0] = sum[1] = 0;
    for (int i = 0; i < k; i++) {
        b[i] = l->b[i];
        a[i] = l->a[i] * l->length[i];
    }
    b[k] = -l->c;
    int64_t end = (block + 1) * BLOCK < l->f->n ? (block + 1) * BLOCK : l->f->n;
    for (int64_t e = block * BLOCK; e < end; e += CHUNK) {
        int64_t n = stretch(e, end, CHUNK);
        char *d = l->d + (size_t)e * l->size;
        at(l, l->s, e, s);
        at(l, l->y, e, y_g);
        y_g[k] = l->g + (size_t)e * l->size;
        l->ops.combine(n, k + 1, b, y_g, 0, d);
        if (l->has_inverse) l->ops.multiply(n, d, l->inverse + (size_t)e * l->size, d);
        if (k > 0) l->ops.combine(n, k, a, s, 1, d);
        const void *g_d[2] = {y_g[k], d};
        l->ops.dots(n, d, 2, g_d, sum);
    }
}

static void direction(lbfgs *l, double *g_d, double *d_d)
{
    recursion(l);
    gcg_par_blocks(l->blocks, direction_task, l);
    *g_d = total(l, 0);
    *d_d = total(l, 1);
    if (*g_d < 0 || l->pairs == 0) return;
    l->pairs = 0; /* not a descent direction: forget, and go down the preconditioned gradient */
    recursion(l);
    gcg_par_blocks(l->blocks, direction_task, l);
    *g_d = total(l, 0);
    *d_d = total(l, 1);
}

/* Makes room for one more pair: the oldest goes, its buffers become the newest's. */
static void drop_oldest(lbfgs *l)
{
    char *s = l->s[0], *y = l->y[0];
    memmove(l->s, l->s + 1, (size_t)(l->memory - 1) * sizeof *l->s);
    memmove(l->y, l->y + 1, (size_t)(l->memory - 1) * sizeof *l->y);
    memmove(l->length, l->length + 1, (size_t)(l->memory - 1) * sizeof *l->length);
    l->s[l->memory - 1] = s;
    l->y[l->memory - 1] = y;
    for (int i = 0; i + 1 < l->memory; i++)
        for (int j = 0; j + 1 < l->memory; j++) {
            l->sy[i][j] = l->sy[i + 1][j + 1];
            l->yy[i][j] = l->yy[i + 1][j + 1];
        }
    l->pairs--;
}

/* New gradient after a move by step d, and the pair that it makes, if pairs are kept. */
static void next_pair(lbfgs *l, double step)
{
    if (l->memory == 0) {
        l->f->gradient(l->f->self, l->g);
        products(l);
        return;
    }
    if (l->pairs == l->memory) drop_oldest(l);
    int newest = l->pairs++;
    char *old_g = l->g, *d = l->d; /* become y_new, which the sweep turns into g - old g, and s_new */
    l->d = l->s[newest];
    l->s[newest] = d;
    l->length[newest] = step;
    l->g = l->y[newest];
    l->y[newest] = old_g;
    l->f->gradient(l->f->self, l->g);
    l->new_pair = 1;
    products(l);
    l->new_pair = 0;
    if (!(l->sy[newest][newest] > 0) || !(l->yy[newest][newest] > 0))
        l->pairs = 0; /* rounding: no curvature to be had */
}

static void new_preconditioner(lbfgs *l)
{
    if (!l->f->precondition) return;
    l->f->precondition(l->f->self, l->inverse);
    rebuild(l);
}

static void lbfgs_init(lbfgs *l, const gcg_smooth *f, int memory, char *workspace)
{
    *l = (lbfgs){.f = f, .ops = gcg_kernels_vector_ops(f->type), .size = (size_t)f->type, .memory = memory};
    size_t bytes = (size_t)vector_bytes(f->n, f->type);
    char **vectors[FIXED_VECTORS] = {&l->g, &l->d, &l->inverse};
    for (int i = 0; i < FIXED_VECTORS; i++, workspace += bytes) *vectors[i] = workspace;
    for (int i = 0; i < memory; i++, workspace += 2 * bytes) {
        l->s[i] = workspace;
        l->y[i] = workspace + bytes;
    }
    l->partial = (double *)workspace;
    l->blocks = count_blocks(f->n);
    l->has_inverse = f->precondition != NULL;
}

gcg_status gcg_lbfgs(const gcg_smooth *f, const gcg_lbfgs_settings *set, void *workspace,
                     gcg_lbfgs_result *result, gcg_err *err)
{
    lbfgs l;
    int small = 0; /* decreases in a row below the least */
    *result = (gcg_lbfgs_result){0};
    lbfgs_init(&l, f, set->memory, workspace);
    new_preconditioner(&l);
    if (gcg_watch_step(f->watch, 0)) return GCG_OK;
    f->gradient(f->self, l.g);
    products(&l);
    result->first_norm = result->last_norm = sqrt(l.gg);
    while (result->iterations < set->max_iterations && l.gg != 0 && /* NaN goes on, and is told below */
           !gcg_watch_step(f->watch, (double)result->iterations / set->max_iterations)) {
        double g_d, d_d, change;
        direction(&l, &g_d, &d_d);
        if (!isfinite(g_d) || !isfinite(d_d))
            return gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0, "the gradient is not finite");
        double step = g_d < 0 ? f->search(f->self, l.d, g_d, d_d, &change) : 0;
        if (step == 0) break;
        f->move(f->self, l.d, step);
        result->iterations++;
        result->decrease -= change;
        int afresh = set->refresh_every && result->iterations % set->refresh_every == 0;
        if (afresh && !gcg_watch_over(f->watch)) f->refresh(f->self);
        if (afresh && !gcg_watch_over(f->watch)) new_preconditioner(&l);
        if (gcg_watch_over(f->watch)) break;
        next_pair(&l, step);
        result->last_norm = sqrt(l.gg);
        small = -change < set->least_decrease ? small + 1 : 0;
        if (small >= 2) break;
        if (result->iterations >= set->min_iterations &&
            l.gg <= set->reduction * set->reduction * result->first_norm * result->first_norm)
            break;
    }
    return GCG_OK;
}
