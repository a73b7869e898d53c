/* Passes over the ratings: blocks of rows, panels of columns, threads. The inner loops are in kernels_pass.c.
 *
 * For each panel of columns the gathered factor is copied to a packed buffer that stays in L2; then the
 * blocks of rows stream by. Where a pass adds into columns (R'U), each block has a packed buffer of its own,
 * and the buffers are added in block order. */
#include "maths/kernels.h"

#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "maths/kernels_pass.h"

enum {
    MAX_SCATTER_BLOCKS = 8,         /* each has a packed buffer of cols x GCG_PANEL_BYTES */
    SCATTER_RATINGS_PER_COLUMN = 8, /* adding a block's buffer must cost little beside its ratings */
    ROW_BLOCKS_PER_SCATTER = 8,     /* finer blocks for passes that only write rows */
    STRIP = 256                     /* rows of a factor that one task packs or collects */
};

struct gcg_pass {
    const gcg_csr *x;
    int32_t scatter_blocks, row_blocks;
    int32_t *scatter_start, *row_start; /* first rows, one more at the end */
    void *vpack, *dvpack;               /* cols x GCG_PANEL_BYTES */
    void *packs;                        /* scatter_blocks times the same */
    double *partial;                    /* 4 per row block */
    double passes;
};

/* ---- choice of the instruction set ---- */

typedef struct {
    const char *name;
    const gcg_pass_table *of_float, *of_double;
} isa;

static const isa *forced;

static const isa *available(int index)
{
    static const isa base = {"base", &gcg_pass_float_base, &gcg_pass_double_base};
#if defined(__x86_64__)
    static const isa avx2 = {"avx2", &gcg_pass_float_avx2, &gcg_pass_double_avx2};
    static const isa avx512 = {"avx512", &gcg_pass_float_avx512, &gcg_pass_double_avx512};
    const isa *list[3];
    int n = 0;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
        list[n++] = &avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        list[n++] = &avx2;
    list[n++] = &base;
    return index < n ? list[index] : NULL;
#else
    return index == 0 ? &base : NULL;
#endif
}

const char *gcg_kernels_isa(void)
{
    return (forced ? forced : available(0))->name;
}

int gcg_kernels_force(const char *name)
{
    forced = NULL;
    if (!name) return 1;
    for (int i = 0; available(i); i++)
        if (strcmp(available(i)->name, name) == 0) forced = available(i);
    return forced != NULL;
}

static const gcg_pass_table *table_of(gcg_dtype type)
{
    const isa *best = forced ? forced : available(0);
    return type == GCG_FLOAT ? best->of_float : best->of_double;
}

gcg_vector_ops gcg_kernels_vector_ops(gcg_dtype type)
{
    return table_of(type)->vector;
}

/* ---- blocks and scratch ---- */

static int32_t count_scatter_blocks(const gcg_csr *x)
{
    int64_t wanted = x->nnz / ((int64_t)SCATTER_RATINGS_PER_COLUMN * (x->cols > 0 ? x->cols : 1));
    int32_t blocks = 2; /* a power of two shares evenly */
    while (blocks < MAX_SCATTER_BLOCKS && 2 * blocks <= wanted) blocks *= 2;
    return blocks;
}

/* start[b] = first row whose ratings begin at or after b / blocks of all. */
static void cut_rows(const gcg_csr *x, int32_t blocks, int32_t *start)
{
    int32_t row = 0;
    for (int32_t b = 0; b < blocks; b++) {
        int64_t first = x->nnz / blocks * b + x->nnz % blocks * b / blocks;
        while (row < x->rows && x->row_ptr[row] < first) row++;
        start[b] = b == 0 ? 0 : row;
    }
    start[blocks] = x->rows;
}

static int64_t pack_bytes(const gcg_csr *x)
{
    return (int64_t)x->cols * GCG_PANEL_BYTES;
}

int64_t gcg_pass_bytes(const gcg_csr *x)
{
    return (2 + count_scatter_blocks(x)) * pack_bytes(x);
}

gcg_status gcg_pass_new(const gcg_csr *x, gcg_pass **out, gcg_err *err)
{
    gcg_pass *pass = gcg_mem_zalloc_array(1, sizeof *pass);
    *out = NULL;
    if (!pass) return gcg_fail_memory(err, "passes");
    pass->x = x;
    pass->scatter_blocks = count_scatter_blocks(x);
    pass->row_blocks = pass->scatter_blocks * ROW_BLOCKS_PER_SCATTER;
    pass->scatter_start = gcg_mem_alloc_array(pass->scatter_blocks + 1, sizeof *pass->scatter_start);
    pass->row_start = gcg_mem_alloc_array(pass->row_blocks + 1, sizeof *pass->row_start);
    pass->vpack = gcg_mem_zalloc_array(pack_bytes(x), 1);
    pass->dvpack = gcg_mem_zalloc_array(pack_bytes(x), 1);
    pass->packs = gcg_mem_zalloc_array(pass->scatter_blocks, (size_t)pack_bytes(x));
    pass->partial = gcg_mem_alloc_array(pass->row_blocks, 4 * sizeof *pass->partial);
    if (!pass->scatter_start || !pass->row_start || !pass->vpack || !pass->dvpack || !pass->packs ||
        !pass->partial) {
        gcg_pass_free(pass);
        return gcg_fail_memory(err, "passes");
    }
    cut_rows(x, pass->scatter_blocks, pass->scatter_start);
    cut_rows(x, pass->row_blocks, pass->row_start);
    *out = pass;
    return GCG_OK;
}

void gcg_pass_free(gcg_pass *pass)
{
    if (!pass) return;
    gcg_mem_free(pass->scatter_start);
    gcg_mem_free(pass->row_start);
    gcg_mem_free(pass->vpack);
    gcg_mem_free(pass->dvpack);
    gcg_mem_free(pass->packs);
    gcg_mem_free(pass->partial);
    gcg_mem_free(pass);
}

double gcg_pass_count(const gcg_pass *pass)
{
    return pass->passes;
}

/* ---- one call of a pass, as its tasks see it ---- */

typedef struct {
    gcg_pass *pass;
    const gcg_pass_table *table;
    size_t size;    /* of a real */
    int32_t column; /* first of the panel */
    int width, half, squared;
    const gcg_factors *u, *v, *du, *dv;
    gcg_factors *gu, *gv;
    const void *r_in;
    const void *b_in, *c_in;
    void *r, *b, *c;
    double a, s;
    const double *x_vector;
    double *y_vector;
} call;

static call light_call(gcg_pass *pass, gcg_dtype type)
{
    return (call){.pass = pass, .table = table_of(type), .size = (size_t)type};
}

static int64_t sweeps;

int64_t gcg_kernels_sweeps(void)
{
    return sweeps;
}

static call make_call(gcg_pass *pass, gcg_dtype type)
{
    sweeps++;
    return light_call(pass, type);
}

static const void *at(const gcg_factors *f, const call *c)
{
    return (const char *)f->data + (size_t)c->column * c->size;
}

static void *at_out(gcg_factors *f, const call *c)
{
    return (char *)f->data + (size_t)c->column * c->size;
}

static gcg_pass_rows row_block(const gcg_pass *pass, const int32_t *start, int64_t block)
{
    return (gcg_pass_rows){start[block], start[block + 1], pass->x->row_ptr, pass->x->col};
}

/* Sets the panel that starts at column, for factors of k columns; 0 when there is none. Rows reach to k
 * rounded up to GCG_FACTORS_PAD at least, whatever their stride. */
static int set_panel(call *c, int32_t column, int32_t k)
{
    if (column >= k) return 0;
    c->column = column;
    c->half = k - column <= c->table->panel / 2 && c->table->panel > GCG_FACTORS_PAD;
    c->width = c->half ? c->table->panel / 2 : c->table->panel;
    return 1;
}

static int64_t strips(int32_t rows)
{
    return ((int64_t)rows + STRIP - 1) / STRIP;
}

static int32_t strip_end(int64_t strip, int32_t rows)
{
    int64_t end = (strip + 1) * STRIP;
    return end < rows ? (int32_t)end : rows;
}

static void pack_task(int64_t strip, void *ctx)
{
    const call *c = ctx;
    int32_t j0 = (int32_t)(strip * STRIP), j1 = strip_end(strip, c->v->rows);
    c->table->pack(j0, j1, c->width, c->squared, at(c->v, c), c->v->stride, c->pass->vpack);
    if (c->dv) c->table->pack(j0, j1, c->width, 0, at(c->dv, c), c->dv->stride, c->pass->dvpack);
}

static void pack_panel(call *c)
{
    gcg_par_blocks(strips(c->v->rows), pack_task, c);
}

static void collect_task(int64_t strip, void *ctx)
{
    const call *c = ctx;
    int add = c->a != 0;
    c->table->collect((int32_t)(strip * STRIP), strip_end(strip, c->gv->rows), c->width,
                      c->pass->scatter_blocks, c->pass->packs, (int64_t)c->pass->x->cols * c->table->panel,
                      c->a, add ? at(c->v, c) : NULL, add ? c->v->stride : 0, c->s, at_out(c->gv, c),
                      c->gv->stride);
}

static void clear_pack(const call *c, int64_t block, void **pack)
{
    size_t bytes = (size_t)pack_bytes(c->pass->x);
    *pack = (char *)c->pass->packs + (size_t)block * bytes;
    memset(*pack, 0, bytes);
}

/* ---- residuals and dots ---- */

static void residual_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    gcg_pass_rows rows = row_block(c->pass, c->pass->row_start, block);
    c->pass->partial[block] = c->table->residual(&rows, c->u->k, c->u->data, c->u->stride, c->v->data,
                                                 c->v->stride, c->pass->x->val_f, c->pass->x->val_d, c->r);
}

double gcg_pass_residual(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, void *r)
{
    call c = make_call(pass, u->type);
    c.u = u;
    c.v = v;
    c.r = r;
    pass->passes += 1;
    gcg_par_blocks(pass->row_blocks, residual_task, &c);
    return gcg_par_sum(pass->partial, pass->row_blocks);
}

static void dots_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    gcg_pass_rows rows = row_block(c->pass, c->pass->row_start, block);
    c->table->dots(&rows, c->half, at(c->u, c), c->u->stride, c->pass->vpack, c->r, c->column == 0);
}

void gcg_pass_dots(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, void *out)
{
    call c = make_call(pass, u->type);
    c.u = u;
    c.v = v;
    c.r = out;
    if (u->k == 0) memset(out, 0, (size_t)pass->x->nnz * c.size);
    for (int32_t column = 0; set_panel(&c, column, u->k); column += c.table->panel) {
        pack_panel(&c);
        gcg_par_blocks(pass->row_blocks, dots_task, &c);
    }
    pass->passes += 1;
}

/* The ratings of a row block. */
static int64_t block_ratings(const gcg_pass *pass, int64_t block, int64_t *first)
{
    *first = pass->x->row_ptr[pass->row_start[block]];
    return pass->x->row_ptr[pass->row_start[block + 1]] - *first;
}

static void from_ratings_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    const gcg_csr *x = c->pass->x;
    int64_t p, n = block_ratings(c->pass, block, &p);
    c->table->from_ratings(n, (char *)c->r + (size_t)p * c->size, x->val_f ? x->val_f + p : NULL,
                           x->val_d ? x->val_d + p : NULL);
}

void gcg_pass_residual_fast(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, void *r)
{
    call c = light_call(pass, u->type);
    gcg_pass_dots(pass, u, v, r);
    c.r = r;
    gcg_par_blocks(pass->row_blocks, from_ratings_task, &c);
}

/* ---- line search ---- */

static void line_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    gcg_pass_rows rows = row_block(c->pass, c->pass->row_start, block);
    c->table->line(&rows, c->half, at(c->u, c), at(c->du, c), c->u->stride, c->pass->vpack, c->pass->dvpack,
                   c->b, c->c, c->column == 0);
}

static void line_sums_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    int64_t p, n = block_ratings(c->pass, block, &p);
    size_t offset = (size_t)p * c->size;
    c->table->line_sums(n, (const char *)c->r_in + offset, (char *)c->b + offset, (char *)c->c + offset,
                        c->pass->partial + 4 * block);
}

void gcg_pass_line(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, const gcg_factors *du,
                   const gcg_factors *dv, const void *r, void *b, void *c_out, double s[4])
{
    call c = make_call(pass, u->type);
    c.u = u;
    c.v = v;
    c.du = du;
    c.dv = dv;
    c.r_in = r;
    c.b = b;
    c.c = c_out;
    if (u->k == 0) { /* no panel sets them */
        memset(b, 0, (size_t)pass->x->nnz * c.size);
        memset(c_out, 0, (size_t)pass->x->nnz * c.size);
    }
    for (int32_t column = 0; set_panel(&c, column, u->k); column += c.table->panel) {
        pack_panel(&c);
        gcg_par_blocks(pass->row_blocks, line_task, &c);
    }
    gcg_par_blocks(pass->row_blocks, line_sums_task, &c);
    memset(s, 0, 4 * sizeof *s);
    for (int32_t block = 0; block < pass->row_blocks; block++)
        for (int i = 0; i < 4; i++) s[i] += pass->partial[4 * block + i];
    pass->passes += 3;
}

static void line_move_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    int64_t p, n = block_ratings(c->pass, block, &p);
    size_t offset = (size_t)p * c->size;
    c->table->line_move(n, c->a, (char *)c->r + offset, (const char *)c->b_in + offset,
                        (const char *)c->c_in + offset);
}

void gcg_pass_line_move(gcg_pass *pass, gcg_dtype type, double a, void *r, const void *b, const void *c_in)
{
    call c = light_call(pass, type);
    c.a = a;
    c.r = r;
    c.b_in = b;
    c.c_in = c_in;
    gcg_par_blocks(pass->row_blocks, line_move_task, &c);
}

static void add_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    int64_t p, n = block_ratings(c->pass, block, &p);
    size_t offset = (size_t)p * c->size;
    c->table->vector.axpy(n, c->a, (const char *)c->b_in + offset, (char *)c->r + offset);
}

void gcg_pass_add(gcg_pass *pass, gcg_dtype type, double a, const void *b, void *r)
{
    call c = light_call(pass, type);
    c.a = a;
    c.b_in = b;
    c.r = r;
    gcg_par_blocks(pass->row_blocks, add_task, &c);
}

/* ---- products with R and with the pattern ---- */

static void spread_task(int64_t block, void *ctx)
{
    call *c = ctx;
    gcg_pass_rows rows = row_block(c->pass, c->pass->scatter_start, block);
    void *pack;
    clear_pack(c, block, &pack);
    if (c->squared)
        c->table->squares(&rows, c->half, at(c->u, c), c->u->stride, c->pass->vpack, at_out(c->gu, c),
                          c->gu->stride, pack);
    else
        c->table->spread(&rows, c->half, c->r_in, at(c->u, c), c->u->stride, c->pass->vpack, at_out(c->gu, c),
                         c->gu->stride, pack);
    if (!c->squared)
        c->table->combine(rows.row0, rows.row1, c->width, c->a, at(c->u, c), c->u->stride, c->s,
                          at_out(c->gu, c), c->gu->stride);
}

static void spread_panels(call *c)
{
    for (int32_t column = 0; set_panel(c, column, c->u->k); column += c->table->panel) {
        pack_panel(c);
        gcg_par_blocks(c->pass->scatter_blocks, spread_task, c);
        gcg_par_blocks(strips(c->gv->rows), collect_task, c);
    }
    c->pass->passes += 2;
}

void gcg_pass_gradient(gcg_pass *pass, const void *r, const gcg_factors *u, const gcg_factors *v,
                       double lambda, gcg_factors *gu, gcg_factors *gv)
{
    call c = make_call(pass, u->type);
    c.r_in = r;
    c.u = u;
    c.v = v;
    c.gu = gu;
    c.gv = gv;
    c.a = lambda;
    c.s = -1;
    spread_panels(&c);
}

typedef struct {
    gcg_factors *f;
    double value;
} shift_ctx;

/* f += value in the k columns; the padding stays 0 (rows of floats or doubles). */
static void shift_task(int64_t strip, void *ctx)
{
    const shift_ctx *s = ctx;
    const gcg_factors *f = s->f;
    for (int32_t i = (int32_t)(strip * STRIP); i < strip_end(strip, f->rows); i++)
        for (int64_t e = (int64_t)i * f->stride; e < (int64_t)i * f->stride + f->k; e++) {
            if (f->type == GCG_FLOAT)
                ((float *)f->data)[e] += (float)s->value;
            else
                ((double *)f->data)[e] += s->value;
        }
}

void gcg_pass_squares(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, double lambda,
                      gcg_factors *du, gcg_factors *dv)
{
    call c = make_call(pass, u->type);
    c.u = u;
    c.v = v;
    c.gu = du;
    c.gv = dv;
    c.a = 0;
    c.s = 1;
    c.squared = 1;
    spread_panels(&c);
    shift_ctx su = {du, lambda}, sv = {dv, lambda};
    gcg_par_blocks(strips(du->rows), shift_task, &su);
    gcg_par_blocks(strips(dv->rows), shift_task, &sv);
}

static void times_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    gcg_pass_rows rows = row_block(c->pass, c->pass->row_start, block);
    c->table->gather(&rows, c->half, c->r_in, c->pass->vpack, at_out(c->gu, c), c->gu->stride);
}

void gcg_pass_times(gcg_pass *pass, const void *r, const gcg_factors *z, gcg_factors *y)
{
    call c = make_call(pass, z->type);
    c.r_in = r;
    c.v = z;
    c.gu = y;
    for (int32_t column = 0; set_panel(&c, column, z->k); column += c.table->panel) {
        pack_panel(&c);
        gcg_par_blocks(pass->row_blocks, times_task, &c);
    }
}

static void times_t_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    gcg_pass_rows rows = row_block(c->pass, c->pass->scatter_start, block);
    void *pack;
    clear_pack(c, block, &pack);
    c->table->scatter(&rows, c->half, c->r_in, at(c->u, c), c->u->stride, pack);
}

void gcg_pass_times_t(gcg_pass *pass, const void *r, const gcg_factors *y, gcg_factors *z)
{
    call c = make_call(pass, y->type);
    c.r_in = r;
    c.u = y;
    c.gv = z;
    c.a = 0;
    c.s = 1;
    for (int32_t column = 0; set_panel(&c, column, y->k); column += c.table->panel) {
        gcg_par_blocks(pass->scatter_blocks, times_t_task, &c);
        gcg_par_blocks(strips(z->rows), collect_task, &c);
    }
}

static void matvec_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    gcg_pass_rows rows = row_block(c->pass, c->pass->row_start, block);
    c->table->row_product(&rows, c->r_in, c->x_vector, c->y_vector);
}

void gcg_pass_matvec(gcg_pass *pass, gcg_dtype type, const void *r, const double *x, double *y)
{
    call c = make_call(pass, type);
    c.r_in = r;
    c.x_vector = x;
    c.y_vector = y;
    gcg_par_blocks(pass->row_blocks, matvec_task, &c);
}

static void matvec_t_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    gcg_pass_rows rows = row_block(c->pass, c->pass->scatter_start, block);
    double *sums = (double *)c->pass->packs + block * c->pass->x->cols; /* a double fits in a packed row */
    memset(sums, 0, (size_t)c->pass->x->cols * sizeof *sums);
    c->table->col_product(&rows, c->r_in, c->x_vector, sums);
}

static void matvec_t_sum_task(int64_t strip, void *ctx)
{
    const call *c = ctx;
    int32_t cols = c->pass->x->cols;
    for (int32_t j = (int32_t)(strip * STRIP); j < strip_end(strip, cols); j++) {
        double sum = 0;
        for (int64_t b = 0; b < c->pass->scatter_blocks; b++)
            sum += ((const double *)c->pass->packs)[b * cols + j];
        c->y_vector[j] = sum;
    }
}

void gcg_pass_matvec_t(gcg_pass *pass, gcg_dtype type, const void *r, const double *y, double *x)
{
    call c = make_call(pass, type);
    c.r_in = r;
    c.x_vector = y;
    c.y_vector = x;
    gcg_par_blocks(pass->scatter_blocks, matvec_t_task, &c);
    gcg_par_blocks(strips(pass->x->cols), matvec_t_sum_task, &c);
}

static void inner_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    int64_t p, n = block_ratings(c->pass, block, &p);
    size_t offset = (size_t)p * c->size;
    c->pass->partial[block] =
        c->table->vector.dot(n, (const char *)c->r_in + offset, (const char *)c->b_in + offset);
}

double gcg_pass_inner(gcg_pass *pass, gcg_dtype type, const void *a, const void *b)
{
    call c = light_call(pass, type);
    c.r_in = a;
    c.b_in = b;
    gcg_par_blocks(pass->row_blocks, inner_task, &c);
    return gcg_par_sum(pass->partial, pass->row_blocks);
}

static void inner_x_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    int64_t p, n = block_ratings(c->pass, block, &p);
    double sum = 0;
    for (int64_t i = p; i < p + n; i++) {
        double a =
            c->size == sizeof(float) ? (double)((const float *)c->r_in)[i] : ((const double *)c->r_in)[i];
        sum += a * gcg_csr_value(c->pass->x, i);
    }
    c->pass->partial[block] = sum;
}

double gcg_pass_inner_x(gcg_pass *pass, gcg_dtype type, const void *a)
{
    call c = light_call(pass, type);
    c.r_in = a;
    gcg_par_blocks(pass->row_blocks, inner_x_task, &c);
    return gcg_par_sum(pass->partial, pass->row_blocks);
}
