/* Tiles: see tiles.h. */
#include "store/tiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"

/* Where columns go: by falling degree. */
typedef struct {
    int32_t tiles;
    int32_t *column;   /* of each position */
    int32_t *position; /* of each column */
    uint16_t *tile;    /* of each column */
} order;

/* Entries of x on their way into tiles. */
typedef struct {
    const gcg_csr *x;
    const gcg_csr_tiling *tiling;
    const order *to;
    int64_t workers, room; /* bytes of an array of the largest block */
    char *spare;           /* so many for each worker */
    int64_t *next;         /* tiles for each worker */
} move;

typedef struct {
    int64_t count;
    int32_t col;
} degree;

static int by_falling_degree(const void *x, const void *y)
{
    const degree *a = x, *b = y;
    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    return a->col < b->col ? -1 : 1;
}

/* Columns that follow one another, and their ratings. */
typedef struct {
    int32_t cols;
    int64_t ratings;
} stretch;

static int is_enough(stretch s, gcg_tile_size least)
{
    int many = least.many_cols > 0 && s.cols >= least.many_cols;
    return s.cols >= least.cols && s.ratings >= (many ? least.ratings / 2 : least.ratings);
}

/* What is left when a tile is closed must be enough for another. */
static void cut(const degree *d, const gcg_csr *x, gcg_tile_size least, order *o)
{
    stretch now = {0, 0}, left = {x->cols, x->nnz};
    int32_t tile = 0;
    for (int32_t q = 0; q < x->cols; q++) {
        if (is_enough(now, least) && is_enough(left, least) && tile < UINT16_MAX) {
            tile++;
            now = (stretch){0, 0};
        }
        o->column[q] = d[q].col;
        o->position[d[q].col] = q;
        o->tile[d[q].col] = (uint16_t)tile;
        now.cols++;
        now.ratings += d[q].count;
        left.cols--;
        left.ratings -= d[q].count;
    }
    o->tiles = tile + 1;
}

static gcg_status cut_columns(const gcg_csr *x, gcg_tile_size least, order *o, gcg_err *err)
{
    int64_t *count = gcg_mem_alloc_array(x->cols, sizeof *count);
    degree *d = gcg_mem_alloc_array(x->cols, sizeof *d);
    o->column = gcg_mem_alloc_array(x->cols, sizeof *o->column);
    o->position = gcg_mem_alloc_array(x->cols, sizeof *o->position);
    o->tile = gcg_mem_alloc_array(x->cols, sizeof *o->tile);
    int enough = count && d && o->column && o->position && o->tile;
    if (enough) {
        gcg_csr_col_counts(x, count);
        for (int32_t j = 0; j < x->cols; j++) d[j] = (degree){count[j], j};
        qsort(d, (size_t)x->cols, sizeof *d, by_falling_degree);
        cut(d, x, least, o);
    }
    gcg_mem_free(count);
    gcg_mem_free(d);
    return enough ? GCG_OK : gcg_fail_memory(err, "tiles");
}

/* Where each row's entries of each tile will begin, for one block. */
static void place_task(int64_t block, void *ctx)
{
    const move *m = ctx;
    const gcg_csr *x = m->x;
    const gcg_csr_tiling *t = m->tiling;
    int64_t row0 = t->start[block], rows = t->start[block + 1] - row0, *ptr = t->ptr + row0 * t->tiles;
    memset(ptr, 0, (size_t)(rows * t->tiles) * sizeof *ptr);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = x->row_ptr[row0 + i]; p < x->row_ptr[row0 + i + 1]; p++)
            ptr[m->to->tile[x->col[p]] * rows + i]++;
    int64_t at = x->row_ptr[row0];
    for (int64_t k = 0; k < rows * t->tiles; k++) {
        int64_t count = ptr[k];
        ptr[k] = at;
        at += count;
    }
}

/* One worker's part of a block on its way. */
typedef struct {
    const move *m;
    int64_t row0, rows, base, n; /* of the block: rows, entries */
    const int64_t *ptr;
    char *spare;
    int64_t *next; /* of each tile: where the row's next entry goes */
} block_move;

/* One array, of entries of size bytes; from: what stood there. */
static inline void move_entries(const block_move *b, const int32_t *col, const char *from, size_t size,
                                char *to)
{
    const int64_t *row_ptr = b->m->x->row_ptr + b->row0;
    for (int64_t i = 0; i < b->rows; i++) {
        for (int32_t tile = 0; tile < b->m->tiling->tiles; tile++)
            b->next[tile] = b->ptr[tile * b->rows + i] - b->base;
        for (int64_t p = row_ptr[i] - b->base; p < row_ptr[i + 1] - b->base; p++)
            memcpy(to + (size_t)b->next[b->m->to->tile[col[p]]]++ * size, from + (size_t)p * size, size);
    }
}

static void move_array(const block_move *b, void *array, size_t size)
{
    if (!array) return;
    const int32_t *col = b->m->x->col + b->base;
    char *to = (char *)array + (size_t)b->base * size;
    memcpy(b->spare, to, (size_t)b->n * size);
    if (size == sizeof(float)) /* copied as one word each */
        move_entries(b, col, b->spare, sizeof(float), to);
    else
        move_entries(b, col, b->spare, sizeof(double), to);
}

/* After the others, which need to know the columns. */
static void move_columns(const block_move *b)
{
    int32_t *col = b->m->x->col + b->base;
    memcpy(b->spare, col, (size_t)b->n * sizeof *col);
    move_entries(b, (const int32_t *)(const void *)b->spare, b->spare, sizeof *col, (char *)col);
    for (int64_t p = 0; p < b->n; p++) col[p] = b->m->to->position[col[p]];
}

/* Every worker has blocks of its own. */
static void move_task(int64_t worker, void *ctx)
{
    const move *m = ctx;
    const gcg_csr *x = m->x;
    const gcg_csr_tiling *t = m->tiling;
    for (int64_t block = worker; block < t->blocks; block += m->workers) {
        int64_t row0 = t->start[block], rows = t->start[block + 1] - row0, base = x->row_ptr[row0];
        block_move b = {m,
                        row0,
                        rows,
                        base,
                        x->row_ptr[row0 + rows] - base,
                        t->ptr + row0 * t->tiles,
                        m->spare + worker * m->room,
                        m->next + worker * t->tiles};
        move_array(&b, x->val_f, sizeof *x->val_f);
        move_array(&b, x->val_d, sizeof *x->val_d);
        move_array(&b, x->weight, sizeof *x->weight);
        move_columns(&b);
    }
}

static gcg_status move_all(move *m, gcg_err *err)
{
    const gcg_csr_tiling *t = m->tiling;
    const int64_t size = m->x->val_d ? sizeof(double) : sizeof(float); /* a column takes 4 bytes, too */
    for (int32_t b = 0; b < t->blocks; b++) {
        int64_t bytes = (m->x->row_ptr[t->start[b + 1]] - m->x->row_ptr[t->start[b]]) * size;
        if (bytes > m->room) m->room = bytes;
    }
    m->workers = gcg_par_threads() < t->blocks ? gcg_par_threads() : t->blocks;
    m->spare = gcg_mem_alloc_array(m->workers, (size_t)m->room);
    m->next = gcg_mem_alloc_array(m->workers * t->tiles, sizeof *m->next);
    int enough = m->spare && m->next;
    if (enough) {
        gcg_par_blocks(t->blocks, place_task, m);
        t->ptr[(int64_t)m->x->rows * t->tiles] = m->x->nnz;
        gcg_par_blocks(m->workers, move_task, m);
    }
    gcg_mem_free(m->spare);
    gcg_mem_free(m->next);
    return enough ? GCG_OK : gcg_fail_memory(err, "tiles");
}

/* On success the columns of o are x's. */
static gcg_status arrange(gcg_csr *x, int32_t blocks, order *o, gcg_err *err)
{
    gcg_csr_tiling t = {.blocks = blocks, .tiles = o->tiles, .column = o->column};
    t.start = gcg_mem_alloc_array((int64_t)blocks + 1, sizeof *t.start);
    t.ptr = gcg_mem_alloc_array((int64_t)x->rows * t.tiles + 1, sizeof *t.ptr);
    gcg_status status = t.start && t.ptr ? GCG_OK : gcg_fail_memory(err, "tiles");
    if (!status) {
        gcg_csr_cut_rows(x, blocks, t.start);
        status = move_all(&(move){.x = x, .tiling = &t, .to = o}, err);
    }
    if (status) {
        gcg_mem_free(t.start);
        gcg_mem_free(t.ptr);
        return status;
    }
    x->tiling = t;
    o->column = NULL;
    return GCG_OK;
}

gcg_status gcg_csr_tile(gcg_csr *x, int32_t blocks, gcg_tile_size least, gcg_err *err)
{
    order o = {0};
    gcg_status status = cut_columns(x, least, &o, err);
    if (!status) status = arrange(x, blocks, &o, err);
    gcg_mem_free(o.column);
    gcg_mem_free(o.position);
    gcg_mem_free(o.tile);
    return status;
}

int64_t gcg_csr_tiling_bytes(int32_t rows, int32_t cols, int32_t tiles)
{
    return (int64_t)rows * tiles * (int64_t)sizeof(int64_t) + (int64_t)cols * (int64_t)sizeof(int32_t);
}

int gcg_csr_next_run(const gcg_csr *x, gcg_csr_run *run)
{
    const gcg_csr_tiling *t = &x->tiling;
    run->row++;
    if (!t->ptr) {
        if (run->row >= x->rows) return 0;
        run->p0 = x->row_ptr[run->row];
        run->p1 = x->row_ptr[run->row + 1];
        return 1;
    }
    while (run->row >=
           t->start[run->block + 1]) { /* the block's next tile, or the next block that has rows */
        if (run->tile + 1 == t->tiles && run->block + 1 == t->blocks) return 0;
        run->tile = (run->tile + 1) % t->tiles;
        if (run->tile == 0) run->block++;
        run->row = t->start[run->block];
    }
    const int64_t *ptr = gcg_csr_tile_ptr(x, run->block, run->tile) + (run->row - t->start[run->block]);
    run->p0 = ptr[0];
    run->p1 = ptr[1];
    return 1;
}
