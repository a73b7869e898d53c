/* Tiles: entries of a store in an order in which few columns at a time are met.
 *
 * The rows are cut into blocks (gcg_csr_cut_rows), the columns into tiles of the same width. A block's
 * entries lie together as before, but tile by tile, and in a tile row by row with columns ascending: what
 * gathers rows of a factor of the columns finds them in cache, and arrays with one entry a rating are still
 * streamed. row_ptr keeps what it had: how many entries a row has, not where they are. Only passes
 * (maths/kernels.h), counts and statistics may meet a store in tiles; rows are found again after
 * gcg_csr_untile. */
#ifndef GCG_STORE_TILES_H
#define GCG_STORE_TILES_H

#include "store/csr.h"

/* Puts the entries of x, which own its arrays and are not in tiles, into this order; on the session's
 * threads. Takes a block's arrays once more for each thread while it works. On failure x is as it was. */
gcg_status gcg_csr_tile(gcg_csr *x, int32_t blocks, int32_t tiles, gcg_err *err);
/* Back; no change when x is not in tiles. On failure x is as it was. */
gcg_status gcg_csr_untile(gcg_csr *x, gcg_err *err);
/* Bytes that a store in tiles takes more. */
int64_t gcg_csr_tiling_bytes(int32_t rows, int32_t tiles);

/* Where the entries of rows r = start[block].. of one tile begin: entries [i] to [i+1] are those of row r +
 * i. */
static inline const int64_t *gcg_csr_tile_ptr(const gcg_csr *x, int32_t block, int32_t tile)
{
    const gcg_csr_tiling *t = &x->tiling;
    int64_t row0 = t->start[block], rows = t->start[block + 1] - row0;
    return t->ptr + row0 * t->tiles + tile * rows;
}

/* Entries of one row that lie together: the whole row when x is not in tiles. */
typedef struct {
    int32_t row, block, tile;
    int64_t p0, p1;
} gcg_csr_run;
/* Advances in storage order, from a zeroed run whose row is -1; 0 at the end. */
int gcg_csr_next_run(const gcg_csr *x, gcg_csr_run *run);

#endif
