/* Tiles: entries of a store in an order in which few columns at a time are met.
 *
 * The rows are cut into blocks (gcg_csr_cut_rows), the columns into tiles, by falling degree: columns of many
 * entries share a tile with their like, so that rows have many entries in the first tiles, and few tiles hold
 * the rest. An entry's col is its column's position in this order, so that a tile's rows of a factor that is
 * in this order, too, lie together; gcg_csr_col() is the column. A block's entries lie together as before,
 * but tile by tile, and in a tile row by row: what gathers rows of the factor finds them in cache, and arrays
 * with one entry a rating are still streamed. row_ptr keeps what it had: how many entries a row has, not
 * where they are. Only passes (maths/kernels.h), counts and statistics may meet a store in tiles; there is no
 * way back to rows. */
#ifndef GCG_STORE_TILES_H
#define GCG_STORE_TILES_H

#include "store/csr.h"

/* A tile is closed when it has as much of both, and the rest, too; one of many_cols (0: none has so many)
 * when it has half as many ratings. */
typedef struct {
    int32_t cols;
    int64_t ratings;
    int32_t many_cols;
} gcg_tile_size;

/* Puts the entries of x, which owns its arrays and is not in tiles, into this order; on the session's
 * threads. Takes a block's arrays once more for each thread while it works. On failure x is as it was. */
gcg_status gcg_csr_tile(gcg_csr *x, int32_t blocks, gcg_tile_size least, gcg_err *err);
/* Bytes that a store in tiles takes more. */
int64_t gcg_csr_tiling_bytes(int32_t rows, int32_t cols, int32_t tiles);

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
