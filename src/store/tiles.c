/* Tiles: see tiles.h. */
#include "store/tiles.h"

#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"

/* Entries of x on their way between rows and tiles. */
typedef struct {
    const gcg_csr *x;
    const gcg_csr_tiling *tiling;
    int back;
    int64_t workers, room; /* bytes of an array of the largest block */
    char *spare;           /* so many for each worker */
} move;

static int32_t tile_end(const gcg_csr *x, int32_t tiles, int32_t tile)
{
    return (int32_t)(((int64_t)tile + 1) * x->cols / tiles);
}

/* Where each row's entries of each tile will begin, for one block. */
static void place(const gcg_csr *x, const gcg_csr_tiling *t, int32_t block)
{
    int64_t row0 = t->start[block], rows = t->start[block + 1] - row0, *ptr = t->ptr + row0 * t->tiles;
    for (int64_t i = 0; i < rows; i++) {
        int64_t p = x->row_ptr[row0 + i], end = x->row_ptr[row0 + i + 1];
        for (int32_t tile = 0; tile < t->tiles; tile++) {
            int64_t first = p;
            int32_t last = tile_end(x, t->tiles, tile);
            while (p < end && x->col[p] < last) p++;
            ptr[tile * rows + i] = p - first;
        }
    }
    int64_t at = x->row_ptr[row0];
    for (int64_t k = 0; k < rows * t->tiles; k++) {
        int64_t count = ptr[k];
        ptr[k] = at;
        at += count;
    }
}

/* One array of one block, of entries of size bytes. */
static void move_array(const move *m, int32_t block, void *array, size_t size, char *spare)
{
    const gcg_csr_tiling *t = m->tiling;
    int64_t row0 = t->start[block], rows = t->start[block + 1] - row0, base = m->x->row_ptr[row0];
    const int64_t *ptr = t->ptr + row0 * t->tiles;
    if (!array) return;
    char *to = (char *)array + (size_t)base * size;
    memcpy(spare, to, (size_t)(m->x->row_ptr[row0 + rows] - base) * size);
    for (int64_t i = 0; i < rows; i++) {
        int64_t in_row = m->x->row_ptr[row0 + i] - base;
        for (int32_t tile = 0; tile < t->tiles; tile++) {
            int64_t k = tile * rows + i, in_tile = ptr[k] - base, n = ptr[k + 1] - ptr[k];
            if (m->back)
                memcpy(to + (size_t)in_row * size, spare + (size_t)in_tile * size, (size_t)n * size);
            else
                memcpy(to + (size_t)in_tile * size, spare + (size_t)in_row * size, (size_t)n * size);
            in_row += n;
        }
    }
}

static void place_task(int64_t block, void *ctx)
{
    const move *m = ctx;
    place(m->x, m->tiling, (int32_t)block);
}

/* Every worker has blocks of its own. */
static void move_task(int64_t worker, void *ctx)
{
    const move *m = ctx;
    char *spare = m->spare + worker * m->room;
    for (int64_t block = worker; block < m->tiling->blocks; block += m->workers) {
        move_array(m, (int32_t)block, m->x->col, sizeof *m->x->col, spare);
        move_array(m, (int32_t)block, m->x->val_f, sizeof *m->x->val_f, spare);
        move_array(m, (int32_t)block, m->x->val_d, sizeof *m->x->val_d, spare);
        move_array(m, (int32_t)block, m->x->weight, sizeof *m->x->weight, spare);
    }
}

static gcg_status move_begin(move *m, gcg_err *err)
{
    const gcg_csr_tiling *t = m->tiling;
    const int64_t size = m->x->val_d ? sizeof(double) : sizeof(float); /* an index takes 4 bytes, too */
    for (int32_t b = 0; b < t->blocks; b++) {
        int64_t bytes = (m->x->row_ptr[t->start[b + 1]] - m->x->row_ptr[t->start[b]]) * size;
        if (bytes > m->room) m->room = bytes;
    }
    m->workers = gcg_par_threads() < t->blocks ? gcg_par_threads() : t->blocks;
    m->spare = gcg_mem_alloc_array(m->workers, (size_t)m->room);
    return m->spare ? GCG_OK : gcg_fail_memory(err, "tiles");
}

static void release(gcg_csr_tiling *t)
{
    gcg_mem_free(t->start);
    gcg_mem_free(t->ptr);
    *t = (gcg_csr_tiling){0};
}

gcg_status gcg_csr_tile(gcg_csr *x, int32_t blocks, int32_t tiles, gcg_err *err)
{
    gcg_csr_tiling t = {.blocks = blocks, .tiles = tiles};
    int64_t count = (int64_t)x->rows * tiles + 1;
    t.start = gcg_mem_alloc_array((int64_t)blocks + 1, sizeof *t.start);
    t.ptr = gcg_mem_alloc_array(count, sizeof *t.ptr);
    move m = {.x = x, .tiling = &t};
    gcg_status status = t.start && t.ptr ? GCG_OK : gcg_fail_memory(err, "tiles");
    if (!status) {
        gcg_csr_cut_rows(x, blocks, t.start);
        status = move_begin(&m, err);
    }
    if (status) {
        release(&t);
        return status;
    }
    gcg_par_blocks(blocks, place_task, &m);
    t.ptr[count - 1] = x->nnz;
    gcg_par_blocks(m.workers, move_task, &m);
    gcg_mem_free(m.spare);
    x->tiling = t;
    return GCG_OK;
}

gcg_status gcg_csr_untile(gcg_csr *x, gcg_err *err)
{
    move m = {.x = x, .tiling = &x->tiling, .back = 1};
    if (!x->tiling.ptr) return GCG_OK;
    gcg_status status = move_begin(&m, err);
    if (status) return status;
    gcg_par_blocks(m.workers, move_task, &m);
    gcg_mem_free(m.spare);
    release(&x->tiling);
    return GCG_OK;
}

int64_t gcg_csr_tiling_bytes(int32_t rows, int32_t tiles)
{
    return tiles > 1 ? (int64_t)rows * tiles * (int64_t)sizeof(int64_t) : 0;
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
