/* Passes over the ratings: blocks of rows, panels of columns, threads. The inner loops are in kernels_pass.c.
 *
 * For each panel of columns the gathered factor is copied to a packed buffer that stays in L2 (a factor of
 * one panel is used where it lies); then the blocks of rows stream by, a chunk of some thousand ratings at a
 * time, so that what a pass computes for each rating is used while it is in cache, and need not be kept.
 * Where a pass adds into columns (R'U), each block has a packed buffer of its own, and the buffers are added
 * in block order. */
#include "maths/kernels.h"

#include <string.h>

#include "base/mapping.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "maths/kernels_pass.h"
#include "store/tiles.h"

enum {
    MAX_SCATTER_BLOCKS = 8,       /* each has a packed buffer of cols x GCG_PANEL_BYTES */
    ROW_BLOCKS_PER_SCATTER = 8,   /* finer blocks for passes that only write rows */
    TILED_BLOCKS_PER_SCATTER = 2, /* coarser ones, so that a tile of V is met by many rows */
    CACHED_COLS = 1 << 12,        /* so many packed rows L2 holds without tiles: two panels take 1 MB */
    TILE_COLS = 1 << 11,          /* two packed panels of a tile take half of that */
    TILE_ROW_RATINGS = 16,        /* a row should have that many in a tile */
    MANY_TILE_COLS = 1 << 15,     /* half as many where so many columns come: more leave L3 */
    CHUNK_RATINGS = 4096,         /* what is computed of a chunk's ratings stays in L1 or L2 */
    STRIP = 256,                  /* rows of a factor that one task packs or collects */
    CACHED_PACK = 1 << 22         /* bytes; larger packed buffers live in memory */
};

/* Scratch of a chunk: R recomputed, two more, and (the last, where they may be) columns of a store in tiles,
 * and ratings that are centred or weighted when they are read. */
enum { SLOT_R, SLOT_OTHER, SLOT_THIRD, SLOT_COL, SLOT_X, SLOTS };

struct gcg_pass {
    const gcg_csr *x;
    const gcg_scales *scales; /* NULL: none */
    int32_t scatter_blocks, row_blocks;
    int32_t *row_start;     /* first rows, one more at the end */
    int64_t *scratch_start; /* of each row block, bytes of one slot, one more at the end */
    char *scratch;          /* slots() slots for each row block: a real for each rating of a chunk */
    void *vpack;            /* cols x 2 GCG_PANEL_BYTES: a panel of V, in the line search dV's beside it */
    void *packs;            /* scatter_blocks times the same */
    double *col_scale;      /* the scales of the columns in the order of a store in tiles; else empty */
    float *col_scale_f;
    double *partial; /* 4 per row block */
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

static int64_t pack_bytes(const gcg_csr *x)
{
    return (int64_t)x->cols * GCG_PANEL_BYTES;
}

/* Clearing and adding a block's buffer must cost little beside its ratings. */
static int32_t count_scatter_blocks(const gcg_csr *x)
{
    const int64_t cached = 8, in_memory = 100; /* ratings per column and block */
    int64_t least = pack_bytes(x) <= CACHED_PACK ? cached : in_memory;
    int64_t wanted = x->nnz / (least * (x->cols > 0 ? x->cols : 1));
    int32_t blocks = 2; /* a power of two shares evenly */
    while (blocks < MAX_SCATTER_BLOCKS && 2 * blocks <= wanted) blocks *= 2;
    return blocks;
}

/* Rows with too few ratings would cost more by being met once a tile. As many as there can be. */
static int32_t count_tiles(const gcg_csr *x)
{
    int64_t tiles = x->cols / TILE_COLS, most = x->nnz / TILE_ROW_RATINGS / (x->rows > 0 ? x->rows : 1);
    if (most > 0) most += x->cols / MANY_TILE_COLS / 2;
    int given_back = x->map && !gcg_mapping_is_kept(x->map);
    if (x->cols <= CACHED_COLS || x->rows <= CACHED_COLS || given_back || x->shift.row) return 1;
    if (tiles > most) tiles = most;
    return tiles > 1 ? (int32_t)tiles : 1;
}

gcg_status gcg_pass_tile(gcg_csr *x, int32_t tiles, gcg_err *err)
{
    gcg_tile_size least = {TILE_COLS, (int64_t)x->rows * TILE_ROW_RATINGS, MANY_TILE_COLS};
    if (tiles > 0)
        least = (gcg_tile_size){1, x->nnz / tiles, 0};
    else if (count_tiles(x) <= 1)
        return GCG_OK;
    gcg_status status = gcg_csr_own(x, err);
    return status ? status : gcg_csr_tile(x, count_scatter_blocks(x) * TILED_BLOCKS_PER_SCATTER, least, err);
}

static int32_t blocks_per_scatter(const gcg_csr *x)
{
    return x->tiling.ptr ? TILED_BLOCKS_PER_SCATTER : ROW_BLOCKS_PER_SCATTER;
}

/* Ratings of the largest chunk of rows row0..row1. */
static int64_t largest_chunk(const gcg_csr *x, int32_t row0, int32_t row1)
{
    int64_t largest = x->row_ptr[row1] - x->row_ptr[row0];
    if (largest <= CHUNK_RATINGS) return largest;
    largest = CHUNK_RATINGS;
    for (int32_t i = row0; i < row1; i++) {
        int64_t n = x->row_ptr[i + 1] - x->row_ptr[i];
        if (n > largest) largest = n;
    }
    return largest;
}

/* start[b] = where the scratch of row block b begins, for one slot; slots begin on cache lines. */
static void place_scratch(const gcg_csr *x, int32_t blocks, const int32_t *row_start, int64_t *start)
{
    start[0] = 0;
    for (int32_t b = 0; b < blocks; b++) {
        int64_t bytes = largest_chunk(x, row_start[b], row_start[b + 1]) * (int64_t)sizeof(double);
        start[b + 1] = start[b] + (bytes + GCG_MEM_ALIGN - 1) / GCG_MEM_ALIGN * GCG_MEM_ALIGN;
    }
}

/* A mapped store may get its shift later. */
static int64_t slots(const gcg_csr *x)
{
    if (x->map || x->shift.row || x->weight) return SLOTS;
    return x->tiling.ptr ? SLOT_X : SLOT_COL;
}

int64_t gcg_pass_bytes(const gcg_csr *x)
{
    int32_t blocks = count_scatter_blocks(x);
    int64_t chunks = (int64_t)blocks * ROW_BLOCKS_PER_SCATTER * CHUNK_RATINGS;
    int64_t scratch = slots(x) * (x->nnz < chunks ? x->nnz : chunks) * (int64_t)sizeof(double);
    int32_t tiles = count_tiles(x);
    int64_t in_tiles =
        gcg_csr_tiling_bytes(x->rows, x->cols, tiles) + x->cols * (int64_t)(sizeof(double) + sizeof(float));
    return (2 + blocks) * pack_bytes(x) + scratch + (tiles > 1 ? in_tiles : 0);
}

gcg_status gcg_pass_new(const gcg_csr *x, gcg_pass **out, gcg_err *err)
{
    gcg_pass *pass = gcg_mem_zalloc_array(1, sizeof *pass);
    *out = NULL;
    if (!pass) return gcg_fail_memory(err, "passes");
    pass->x = x;
    pass->scatter_blocks = count_scatter_blocks(x);
    pass->row_blocks = pass->scatter_blocks * blocks_per_scatter(x);
    pass->row_start = gcg_mem_alloc_array(pass->row_blocks + 1, sizeof *pass->row_start);
    pass->scratch_start = gcg_mem_alloc_array(pass->row_blocks + 1, sizeof *pass->scratch_start);
    pass->vpack = gcg_mem_zalloc_array(pack_bytes(x), 2);
    pass->packs = gcg_mem_zalloc_array(pass->scatter_blocks, (size_t)pack_bytes(x));
    pass->partial = gcg_mem_alloc_array(pass->row_blocks, 4 * sizeof *pass->partial);
    int32_t in_order = x->tiling.ptr ? x->cols : 0;
    pass->col_scale = gcg_mem_alloc_array(in_order, sizeof *pass->col_scale);
    pass->col_scale_f = gcg_mem_alloc_array(in_order, sizeof *pass->col_scale_f);
    if (pass->row_start && pass->scratch_start) {
        gcg_csr_cut_rows(x, pass->row_blocks, pass->row_start);
        place_scratch(x, pass->row_blocks, pass->row_start, pass->scratch_start);
        pass->scratch = gcg_mem_alloc_array(pass->scratch_start[pass->row_blocks], (size_t)slots(x));
    }
    if (!pass->scratch || !pass->vpack || !pass->packs || !pass->partial || !pass->col_scale ||
        !pass->col_scale_f) {
        gcg_pass_free(pass);
        return gcg_fail_memory(err, "passes");
    }
    *out = pass;
    return GCG_OK;
}

void gcg_pass_free(gcg_pass *pass)
{
    if (!pass) return;
    gcg_mem_free(pass->row_start);
    gcg_mem_free(pass->scratch_start);
    gcg_mem_free(pass->scratch);
    gcg_mem_free(pass->vpack);
    gcg_mem_free(pass->packs);
    gcg_mem_free(pass->partial);
    gcg_mem_free(pass->col_scale);
    gcg_mem_free(pass->col_scale_f);
    gcg_mem_free(pass);
}

void gcg_pass_set_scales(gcg_pass *pass, const gcg_scales *scales)
{
    const gcg_csr *x = pass->x;
    pass->scales = scales;
    for (int32_t q = 0; q < x->cols && scales && x->tiling.ptr; q++) {
        pass->col_scale[q] = scales->col[x->tiling.column[q]];
        pass->col_scale_f[q] = scales->col_f[x->tiling.column[q]];
    }
}

double gcg_pass_count(const gcg_pass *pass)
{
    return pass->passes;
}

void gcg_pass_recount(gcg_pass *pass, double passes)
{
    pass->passes = passes;
}

/* ---- one call of a pass, as its tasks see it ---- */

typedef struct call call;

/* Some rows of a row block and, in a tile, those of their ratings, with few enough ratings that what is
 * computed of each stays in cache. */
typedef struct {
    gcg_pass_rows rows;
    int last;      /* no more ratings of these rows come */
    int64_t block; /* the row block */
    int64_t n;     /* ratings */
    void *pack;    /* what a scatter adds to */
    double *sums;  /* 4, of the row block */
} chunk;

struct call {
    gcg_pass *pass;
    const gcg_pass_table *table;
    gcg_dtype type;
    int32_t column; /* first of the panel */
    int width, half, squared, packed, last;
    const gcg_factors *u, *v, *du, *dv;
    gcg_factors *gu, *gv;
    const gcg_residual *r_in;
    const void *b_in, *c_in;
    void *r, *b, *c;
    double a, s;
    const double *x_vector;
    double *y_vector;
    void (*work)(const call *c, const chunk *part);
};

static call light_call(gcg_pass *pass, gcg_dtype type)
{
    return (call){.pass = pass, .table = table_of(type), .type = type};
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
    return (const char *)f->data + (size_t)c->column * (size_t)c->type;
}

static void *at_out(gcg_factors *f, const call *c)
{
    return (char *)f->data + (size_t)c->column * (size_t)c->type;
}

/* A per-rating array from the chunk's first rating on; NULL stays NULL. */
static const void *from_first(const call *c, const chunk *part, const void *array)
{
    return array ? (const char *)array + (size_t)part->rows.first * (size_t)c->type : NULL;
}

static void *from_first_out(const call *c, const chunk *part, void *array)
{
    return array ? (char *)array + (size_t)part->rows.first * (size_t)c->type : NULL;
}

/* Scratch for one real per rating of the chunk. */
static void *scratch(const call *c, const chunk *part, int slot)
{
    const gcg_pass *pass = c->pass;
    int64_t start = pass->scratch_start[part->block], length = pass->scratch_start[part->block + 1] - start;
    return pass->scratch + slots(pass->x) * start + slot * length;
}

/* Advances to the next chunk of `rows` rows from row on, whose ratings begin at row_ptr; 0 when there is
 * none. */
static int next_chunk(const gcg_csr *x, int32_t row, int32_t rows, const int64_t *row_ptr, chunk *part)
{
    int32_t i0 = part->rows.row1 - row, i1 = i0;
    if (i0 >= rows) return 0;
    int64_t first = row_ptr[i0];
    do i1++;
    while (i1 < rows && row_ptr[i1 + 1] - first <= CHUNK_RATINGS);
    part->rows = (gcg_pass_rows){row + i0, row + i1,       row_ptr + i0,  x->col + first,
                                 first,    x->nnz - first, part->rows.add};
    part->n = row_ptr[i1] - first;
    return 1;
}

static void run_block(const call *c, int64_t block, void *pack)
{
    const gcg_pass *pass = c->pass;
    const gcg_csr *x = pass->x;
    chunk part = {.block = block, .pack = pack, .sums = pass->partial + 4 * block};
    int32_t row = pass->row_start[block], end = pass->row_start[block + 1];
    int32_t tiles = x->tiling.ptr ? x->tiling.tiles : 1;
    memset(part.sums, 0, 4 * sizeof *part.sums);
    int64_t done = x->row_ptr[row];
    for (int32_t t = 0; t < tiles; t++) {
        const int64_t *row_ptr = x->tiling.ptr ? gcg_csr_tile_ptr(x, (int32_t)block, t) : x->row_ptr + row;
        part.rows.row1 = row;
        part.rows.add = t > 0;
        part.last = t == tiles - 1;
        while (next_chunk(x, row, end - row, row_ptr, &part)) {
            c->work(c, &part);
            done = gcg_csr_pass_step(x, done, part.rows.first + part.n);
        }
    }
    gcg_csr_pass_done(x, done, x->row_ptr[end]);
}

static void row_task(int64_t block, void *ctx)
{
    run_block(ctx, block, NULL);
}

/* Calls work for every chunk; s (NULL: not wanted) receives the sums of what it left in its chunks' sums. */
static void run_rows(call *c, void (*work)(const call *c, const chunk *part), double *s, int count)
{
    c->work = work;
    gcg_par_blocks(c->pass->row_blocks, row_task, c);
    for (int i = 0; i < count; i++) {
        s[i] = 0;
        for (int32_t block = 0; block < c->pass->row_blocks; block++) s[i] += c->pass->partial[4 * block + i];
    }
}

static int64_t pack_distance(const call *c) /* in entries */
{
    return (int64_t)c->pass->x->cols * c->width;
}

static void scatter_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    size_t bytes = (size_t)pack_distance(c) * (size_t)c->type;
    char *pack = (char *)c->pass->packs + (size_t)block * bytes;
    memset(pack, 0, bytes);
    int32_t blocks = blocks_per_scatter(c->pass->x);
    for (int32_t b = 0; b < blocks; b++) run_block(c, block * blocks + b, pack);
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

static void collect_task(int64_t strip, void *ctx)
{
    const call *c = ctx;
    int add = c->a != 0;
    c->table->collect((int32_t)(strip * STRIP), strip_end(strip, c->gv->rows), c->pass->x->tiling.column,
                      c->width, c->pass->scatter_blocks, c->pass->packs, pack_distance(c), c->a,
                      add ? at(c->v, c) : NULL, add ? c->v->stride : 0, c->s, at_out(c->gv, c),
                      c->gv->stride);
}

/* The same for work that adds into columns: gv's panel = a v + s (what was added). */
static void run_scatter(call *c, void (*work)(const call *c, const chunk *part))
{
    c->work = work;
    gcg_par_blocks(c->pass->scatter_blocks, scatter_task, c);
    gcg_par_blocks(strips(c->gv->rows), collect_task, c);
}

/* ---- panels ---- */

static const void *gathered(const call *c)
{
    return c->packed ? c->pass->vpack : c->v->data;
}

/* Rows of V and dV that are used together lie together. */
static int64_t gathered_distance(const call *c)
{
    if (!c->packed) return c->v->stride;
    return c->dv ? 2 * c->width : c->width;
}

static void *packed_dv(const call *c)
{
    return (char *)c->pass->vpack + (size_t)c->width * (size_t)c->type;
}

static void pack_task(int64_t strip, void *ctx)
{
    const call *c = ctx;
    int32_t q0 = (int32_t)(strip * STRIP), q1 = strip_end(strip, c->v->rows);
    const int32_t *column = c->pass->x->tiling.column;
    int64_t distance = gathered_distance(c);
    c->table->pack(q0, q1, column, c->width, c->squared, at(c->v, c), c->v->stride, c->pass->vpack, distance);
    if (c->dv)
        c->table->pack(q0, q1, column, c->width, 0, at(c->dv, c), c->dv->stride, packed_dv(c), distance);
}

static void size_panel(const gcg_pass_table *table, int32_t left, int *half, int *width)
{
    *half = left <= table->panel / 2 && table->panel > GCG_FACTORS_PAD;
    *width = *half ? table->panel / 2 : table->panel;
}

/* Sets the panel that starts at column, for factors of k columns, and packs v's (and dv's); 0 when there is
 * none. Rows reach to k rounded up to GCG_FACTORS_PAD at least, whatever their stride. A single panel that is
 * in the order of the columns is used where it lies. */
static int set_panel(call *c, int32_t column, int32_t k)
{
    if (column >= k) return 0;
    c->column = column;
    size_panel(c->table, k - column, &c->half, &c->width);
    c->last = column + c->table->panel >= k;
    if (!c->v) return 1;
    c->packed = c->squared || c->dv || c->v->stride > c->table->panel || c->pass->x->tiling.ptr;
    if (c->packed) gcg_par_blocks(strips(c->v->rows), pack_task, c);
    return 1;
}

/* ---- scales ---- */

/* 1 when not every s_p is 1. */
static int is_scaled(const gcg_pass *pass)
{
    return pass->scales || pass->x->weight;
}

static const float *weights_of(const gcg_pass *pass, const chunk *part)
{
    return pass->x->weight ? pass->x->weight + part->rows.first : NULL;
}

/* out = s_p r of one chunk, in this precision (r NULL: s_p^2); nothing without scales and weights. */
static void scale_ratings(const call *c, const chunk *part, gcg_dtype type, const void *r, void *out)
{
    const gcg_scales *s = c->pass->scales;
    int in_order = c->pass->x->tiling.ptr != NULL;
    if (s && type == GCG_FLOAT)
        table_of(type)->scale_ratings(&part->rows, s->row_f, in_order ? c->pass->col_scale_f : s->col_f, r,
                                      out);
    else if (s)
        table_of(type)->scale_ratings(&part->rows, s->row, in_order ? c->pass->col_scale : s->col, r, out);
    const float *w = weights_of(c->pass, part);
    if (w) table_of(type)->weigh(part->n, w, r && s ? out : r, !s, out);
}

/* ---- R, kept or recomputed ---- */

/* The chunk's ratings, times the roots of their weights: one of the two pointers is set. */
typedef struct {
    const float *f;
    const double *d;
} ratings;

/* For work in this precision: weighted floats are rounded to floats where it is float. */
static ratings ratings_of(const call *c, const chunk *part, gcg_dtype type)
{
    const gcg_csr *x = c->pass->x;
    void *to = scratch(c, part, SLOT_X);
    int is_float = gcg_csr_is_float(x) && !(x->weight && type == GCG_DOUBLE);
    const void *values = to;
    if (x->weight && x->shift.row)
        gcg_csr_read_weighted(x, part->rows.row0, part->rows.row1, !is_float, to);
    else if (x->weight)
        table_of(is_float ? GCG_FLOAT : GCG_DOUBLE)
            ->weigh_ratings(part->n, weights_of(c->pass, part), x->val_f ? x->val_f + part->rows.first : NULL,
                            x->val_d ? x->val_d + part->rows.first : NULL, to);
    else if (x->shift.row)
        gcg_csr_read(x, part->rows.row0, part->rows.row1, to);
    else
        values = gcg_csr_stored(x, part->rows.first);
    return (ratings){is_float ? values : NULL, is_float ? NULL : values};
}

static void subtract_from_ratings(const call *c, gcg_dtype type, const chunk *part, void *r)
{
    ratings x = ratings_of(c, part, type);
    table_of(type)->from_ratings(part->n, r, x.f, x.d);
}

/* The chunk's pattern for what uses V where it lies. */
static gcg_pass_rows in_columns(const call *c, const chunk *part)
{
    const int32_t *column = c->pass->x->tiling.column;
    gcg_pass_rows rows = part->rows;
    if (!column) return rows;
    int32_t *col = scratch(c, part, SLOT_COL);
    for (int64_t p = 0; p < part->n; p++) col[p] = column[part->rows.col[p]];
    rows.col = col;
    rows.left = part->n;
    return rows;
}

/* out = s_p u_i . v_j, all panels of one chunk, V where it lies. */
static void whole_dots(const call *c, const chunk *part, const gcg_factors *u, const gcg_factors *v,
                       void *out)
{
    const gcg_pass_table *table = table_of(u->type);
    gcg_pass_rows rows = in_columns(c, part);
    if (u->k == 0) memset(out, 0, (size_t)part->n * (size_t)u->type);
    for (int32_t column = 0; column < u->k; column += table->panel) {
        int half, width;
        size_t offset = (size_t)column * (size_t)u->type;
        size_panel(table, u->k - column, &half, &width);
        table->dots(&rows, half, (const char *)u->data + offset, u->stride, (const char *)v->data + offset,
                    v->stride, out, column == 0);
    }
    scale_ratings(c, part, u->type, out, out);
}

/* r = x - s_p u_i . v_j */
static void recompute(const call *c, const chunk *part, const gcg_factors *u, const gcg_factors *v, void *r)
{
    whole_dots(c, part, u, v, r);
    subtract_from_ratings(c, u->type, part, r);
}

/* R's reals of the chunk, in the precision of the call. */
static const void *residual_of(const call *c, const chunk *part)
{
    const gcg_residual *r = c->r_in;
    const void *own;
    if (r->values) {
        own = (const char *)r->values + (size_t)part->rows.first * (size_t)r->type;
    } else {
        void *to = scratch(c, part, SLOT_R);
        recompute(c, part, r->u, r->v, to);
        own = to;
    }
    if (r->type == c->type) return own;
    gcg_vector_ops of_float = table_of(GCG_FLOAT)->vector;
    void *other = scratch(c, part, SLOT_OTHER);
    if (c->type == GCG_DOUBLE)
        of_float.to_double(part->n, own, other);
    else
        of_float.from_double(part->n, own, other);
    return other;
}

/* The same times the scales: what stands between U and V. */
static const void *gradient_of(const call *c, const chunk *part)
{
    const void *r = residual_of(c, part);
    if (!is_scaled(c->pass)) return r;
    void *out = scratch(c, part, SLOT_THIRD);
    scale_ratings(c, part, c->type, r, out);
    return out;
}

static void count_passes(gcg_pass *pass, const gcg_residual *r, double cost)
{
    pass->passes += cost + (r && !r->values);
}

/* <a, X> over the chunk, in double. */
static double inner_x(const call *c, const chunk *part, const void *a)
{
    ratings x = ratings_of(c, part, c->type);
    double sum = 0;
    if (c->type == GCG_FLOAT && x.f) return c->table->vector.dot(part->n, a, x.f);
    if (c->type == GCG_DOUBLE && x.d) return c->table->vector.dot(part->n, a, x.d);
    for (int64_t i = 0; i < part->n; i++)
        sum += (c->type == GCG_FLOAT ? (double)((const float *)a)[i] : ((const double *)a)[i]) *
               (x.f ? (double)x.f[i] : x.d[i]);
    return sum;
}

static void moments_work(const call *c, const chunk *part)
{
    const void *r = residual_of(c, part);
    part->sums[0] += c->table->vector.dot(part->n, r, r);
    part->sums[1] += inner_x(c, part, r);
}

void gcg_pass_moments(gcg_pass *pass, const gcg_residual *r, double s[2])
{
    call c = light_call(pass, r->type);
    c.r_in = r;
    run_rows(&c, moments_work, s, 2);
    count_passes(pass, r, 0);
}

/* ---- residuals and products ---- */

static void residual_work(const call *c, const chunk *part)
{
    ratings x = ratings_of(c, part, GCG_DOUBLE);
    const gcg_scales *s = c->pass->scales;
    gcg_pass_rows rows = in_columns(c, part);
    part->sums[0] += c->table->residual(&rows, c->u->k, c->u->data, c->u->stride, c->v->data, c->v->stride,
                                        s ? s->row : NULL, s ? s->col : NULL, weights_of(c->pass, part), x.f,
                                        x.d, from_first_out(c, part, c->r));
}

double gcg_pass_residual(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, void *r)
{
    call c = make_call(pass, u->type);
    double sum;
    c.u = u;
    c.v = v;
    c.r = r;
    pass->passes += 1;
    run_rows(&c, residual_work, &sum, 1);
    return sum;
}

/* The sums of a new residual, and of it with the old one and X. */
static void compare(const call *c, const chunk *part, const void *r)
{
    part->sums[0] += c->table->vector.dot(part->n, r, r);
    if (!c->r_in) return;
    part->sums[1] += c->table->vector.dot(part->n, r, residual_of(c, part));
    part->sums[2] += inner_x(c, part, r);
}

static void panel_dots(const call *c, const chunk *part, void *out)
{
    c->table->dots(&part->rows, c->half, at(c->u, c), c->u->stride, gathered(c), gathered_distance(c), out,
                   c->column == 0);
    if (c->last) scale_ratings(c, part, c->type, out, out);
}

static void panel_work(const call *c, const chunk *part)
{
    void *r = from_first_out(c, part, c->r);
    panel_dots(c, part, r);
    if (!c->last) return;
    subtract_from_ratings(c, c->type, part, r);
    compare(c, part, r);
}

/* For a residual that must not be written before it is whole: it takes the old one's place, or none. */
static void whole_work(const call *c, const chunk *part)
{
    void *r = scratch(c, part, SLOT_THIRD), *to = from_first_out(c, part, c->r);
    recompute(c, part, c->u, c->v, r);
    compare(c, part, r);
    if (to) memcpy(to, r, (size_t)part->n * (size_t)c->type);
}

void gcg_pass_residual_next(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v,
                            const gcg_residual *old, void *r, double s[3])
{
    call c = make_call(pass, u->type);
    c.u = u;
    c.v = v;
    c.r_in = old;
    c.r = r;
    if (r && u->k > 0 && !(old && r == old->values)) {
        for (int32_t column = 0; set_panel(&c, column, u->k); column += c.table->panel)
            run_rows(&c, panel_work, s, 3);
    } else {
        run_rows(&c, whole_work, s, 3);
    }
    count_passes(pass, old, 1);
}

double gcg_pass_residual_fast(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, void *r)
{
    double s[3];
    gcg_pass_residual_next(pass, u, v, NULL, r, s);
    return s[0];
}

static void product_sums(const call *c, const chunk *part, const void *b)
{
    part->sums[0] += c->table->vector.dot(part->n, b, b);
    part->sums[1] += c->table->vector.dot(part->n, b, residual_of(c, part));
    part->sums[2] += inner_x(c, part, b);
}

static void panel_product_work(const call *c, const chunk *part)
{
    void *b = from_first_out(c, part, c->b);
    panel_dots(c, part, b);
    if (c->last) product_sums(c, part, b);
}

static void whole_product_work(const call *c, const chunk *part)
{
    void *b = scratch(c, part, SLOT_THIRD);
    whole_dots(c, part, c->u, c->v, b);
    product_sums(c, part, b);
}

void gcg_pass_product(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, const gcg_residual *r,
                      void *out, double s[3])
{
    call c = make_call(pass, u->type);
    c.u = u;
    c.v = v;
    c.r_in = r;
    c.b = out;
    if (out)
        for (int32_t column = 0; set_panel(&c, column, u->k); column += c.table->panel)
            run_rows(&c, panel_product_work, s, 3);
    else
        run_rows(&c, whole_product_work, s, 3);
    count_passes(pass, r, 1);
}

static void add_work(const call *c, const chunk *part)
{
    c->table->vector.axpy(part->n, c->a, from_first(c, part, c->b_in), from_first_out(c, part, c->r));
}

void gcg_pass_add(gcg_pass *pass, gcg_dtype type, double a, const void *b, void *r)
{
    call c = light_call(pass, type);
    c.a = a;
    c.b_in = b;
    c.r = r;
    run_rows(&c, add_work, NULL, 0);
}

/* ---- line search ---- */

/* After the last panel: b and c as they are kept, and their sums. */
static void finish_line(const call *c, const chunk *part, void *b, void *c_part)
{
    double s[4];
    scale_ratings(c, part, c->type, b, b);
    scale_ratings(c, part, c->type, c_part, c_part);
    c->table->line_sums(part->n, residual_of(c, part), b, c_part, s);
    for (int i = 0; i < 4; i++) part->sums[i] += s[i];
}

static void panel_line_work(const call *c, const chunk *part)
{
    void *b = from_first_out(c, part, c->b), *c_part = from_first_out(c, part, c->c);
    c->table->line(&part->rows, c->half, at(c->u, c), at(c->du, c), c->u->stride, gathered(c), packed_dv(c),
                   gathered_distance(c), b, c_part, c->column == 0);
    if (c->last) finish_line(c, part, b, c_part);
}

/* b and c are not kept. */
static void whole_line_work(const call *c, const chunk *part)
{
    call panel = *c;
    gcg_pass_rows rows = in_columns(c, part);
    void *b = scratch(c, part, SLOT_OTHER), *c_part = scratch(c, part, SLOT_THIRD);
    for (int32_t column = 0; column < c->u->k; column += c->table->panel) {
        panel.column = column;
        size_panel(c->table, c->u->k - column, &panel.half, &panel.width);
        c->table->line(&rows, panel.half, at(c->u, &panel), at(c->du, &panel), c->u->stride, at(c->v, &panel),
                       at(c->dv, &panel), c->v->stride, b, c_part, column == 0);
    }
    finish_line(c, part, b, c_part);
}

void gcg_pass_line(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, const gcg_factors *du,
                   const gcg_factors *dv, const gcg_residual *r, void *b, void *c_out, double s[4])
{
    call c = make_call(pass, u->type);
    c.u = u;
    c.v = v;
    c.du = du;
    c.dv = dv;
    c.r_in = r;
    c.b = b;
    c.c = c_out;
    memset(s, 0, 4 * sizeof *s);
    if (b)
        for (int32_t column = 0; set_panel(&c, column, u->k); column += c.table->panel)
            run_rows(&c, panel_line_work, s, 4);
    else
        run_rows(&c, whole_line_work, s, 4);
    count_passes(pass, r, 3);
}

static void line_move_work(const call *c, const chunk *part)
{
    c->table->line_move(part->n, c->a, from_first_out(c, part, c->r), from_first(c, part, c->b_in),
                        from_first(c, part, c->c_in));
}

void gcg_pass_line_move(gcg_pass *pass, gcg_dtype type, double a, void *r, const void *b, const void *c_in)
{
    call c = light_call(pass, type);
    c.a = a;
    c.r = r;
    c.b_in = b;
    c.c_in = c_in;
    run_rows(&c, line_move_work, NULL, 0);
}

/* ---- products with R and with the pattern ---- */

static void scaled_work(const call *c, const chunk *part)
{
    memcpy(from_first_out(c, part, c->r), gradient_of(c, part), (size_t)part->n * (size_t)c->type);
}

void gcg_pass_scaled(gcg_pass *pass, const gcg_residual *r, void *out)
{
    call c = light_call(pass, r->type);
    c.r_in = r;
    c.r = out;
    run_rows(&c, scaled_work, NULL, 0);
    count_passes(pass, r, 0);
}

static void spread_work(const call *c, const chunk *part)
{
    const gcg_pass_rows *rows = &part->rows;
    c->table->spread(rows, c->half, gradient_of(c, part), at(c->u, c), c->u->stride, gathered(c),
                     gathered_distance(c), at_out(c->gu, c), c->gu->stride, part->pack);
    if (!part->last) return;
    c->table->combine(rows->row0, rows->row1, c->width, c->a, at(c->u, c), c->u->stride, c->s,
                      at_out(c->gu, c), c->gu->stride);
}

static void squares_work(const call *c, const chunk *part)
{
    void *weight = is_scaled(c->pass) ? scratch(c, part, SLOT_THIRD) : NULL;
    scale_ratings(c, part, c->type, NULL, weight);
    c->table->squares(&part->rows, c->half, weight, at(c->u, c), c->u->stride, gathered(c),
                      gathered_distance(c), at_out(c->gu, c), c->gu->stride, part->pack);
}

static void run_panels(call *c, void (*work)(const call *c, const chunk *part))
{
    for (int32_t column = 0; set_panel(c, column, c->u->k); column += c->table->panel) {
        run_scatter(c, work);
        count_passes(c->pass, c->r_in, 0);
    }
}

void gcg_pass_gradient(gcg_pass *pass, const gcg_residual *r, const gcg_factors *u, const gcg_factors *v,
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
    run_panels(&c, spread_work);
    pass->passes += 2;
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
    run_panels(&c, squares_work);
    pass->passes += 2;
    shift_ctx su = {du, lambda}, sv = {dv, lambda};
    gcg_par_blocks(strips(du->rows), shift_task, &su);
    gcg_par_blocks(strips(dv->rows), shift_task, &sv);
}

static void times_work(const call *c, const chunk *part)
{
    c->table->gather(&part->rows, c->half, gradient_of(c, part), gathered(c), gathered_distance(c),
                     at_out(c->gu, c), c->gu->stride);
}

void gcg_pass_times(gcg_pass *pass, const gcg_residual *r, const gcg_factors *z, gcg_factors *y)
{
    call c = make_call(pass, z->type);
    c.r_in = r;
    c.v = z;
    c.gu = y;
    for (int32_t column = 0; set_panel(&c, column, z->k); column += c.table->panel) {
        run_rows(&c, times_work, NULL, 0);
        count_passes(pass, r, 0);
    }
}

static void times_t_work(const call *c, const chunk *part)
{
    c->table->scatter(&part->rows, c->half, gradient_of(c, part), at(c->u, c), c->u->stride, part->pack);
}

void gcg_pass_times_t(gcg_pass *pass, const gcg_residual *r, const gcg_factors *y, gcg_factors *z)
{
    call c = make_call(pass, y->type);
    c.r_in = r;
    c.u = y;
    c.gv = z;
    c.a = 0;
    c.s = 1;
    run_panels(&c, times_t_work);
}

/* Scaled by doubles, as the products of blocks in double are: proofs use both. */
static gcg_dtype product_type(const gcg_pass *pass, const gcg_residual *r)
{
    return is_scaled(pass) ? GCG_DOUBLE : r->type;
}

static void matvec_work(const call *c, const chunk *part)
{
    c->table->row_product(&part->rows, gradient_of(c, part), c->x_vector, c->y_vector);
}

/* x in the order of a store in tiles. */
static const double *pack_vector(gcg_pass *pass, const double *x)
{
    double *out = pass->vpack; /* a double fits in a packed row */
    const int32_t *column = pass->x->tiling.column;
    if (!column) return x;
    for (int32_t q = 0; q < pass->x->cols; q++) out[q] = x[column[q]];
    return out;
}

void gcg_pass_matvec(gcg_pass *pass, const gcg_residual *r, const double *x, double *y)
{
    call c = make_call(pass, product_type(pass, r));
    c.r_in = r;
    c.x_vector = pack_vector(pass, x);
    c.y_vector = y;
    run_rows(&c, matvec_work, NULL, 0);
    count_passes(pass, r, 0);
}

static void matvec_t_work(const call *c, const chunk *part)
{
    c->table->col_product(&part->rows, gradient_of(c, part), c->x_vector, part->pack);
}

static void matvec_t_task(int64_t block, void *ctx)
{
    const call *c = ctx;
    double *sums = (double *)c->pass->packs + block * c->pass->x->cols; /* a double fits in a packed row */
    memset(sums, 0, (size_t)c->pass->x->cols * sizeof *sums);
    int32_t blocks = blocks_per_scatter(c->pass->x);
    for (int32_t b = 0; b < blocks; b++) run_block(c, block * blocks + b, sums);
}

static void matvec_t_sum_task(int64_t strip, void *ctx)
{
    const call *c = ctx;
    int32_t cols = c->pass->x->cols;
    const int32_t *column = c->pass->x->tiling.column;
    for (int32_t q = (int32_t)(strip * STRIP); q < strip_end(strip, cols); q++) {
        double sum = 0;
        for (int64_t b = 0; b < c->pass->scatter_blocks; b++)
            sum += ((const double *)c->pass->packs)[b * cols + q];
        c->y_vector[column ? column[q] : q] = sum;
    }
}

void gcg_pass_matvec_t(gcg_pass *pass, const gcg_residual *r, const double *y, double *x)
{
    call c = make_call(pass, product_type(pass, r));
    c.r_in = r;
    c.x_vector = y;
    c.y_vector = x;
    c.work = matvec_t_work;
    gcg_par_blocks(pass->scatter_blocks, matvec_t_task, &c);
    gcg_par_blocks(strips(pass->x->cols), matvec_t_sum_task, &c);
    count_passes(pass, r, 0);
}
