/* From points to the rows of the training store: a counting sort by user, in parallel.
 *
 * The points are cut into parts of whole chunks. Each part counts its ratings of each user, so that it knows
 * where in the rows its own begin; then all parts place their ratings at the same time and give their chunks
 * back as they go. Rows are left in input order; rows.h sorts them. Inside src/io only.
 *
 * Memory per rating, ids apart: 12 bytes of points, then columns (4) come while the items' chunks (4) go,
 * then values (4) while the values' chunks (4) go: at most 16, or 24 with doubles. Weights take 4 more.
 * The counts take at most one byte more. */
#ifndef GCG_IO_FILL_H
#define GCG_IO_FILL_H

#include <stdint.h>
#include "base/status.h"
#include "io/points.h"
#include "store/csr.h"

/* Makes x of points, whose users and items get the numbers user_number[u] and item_number[i]. Of points, the
 * user column stays (with the new numbers) when keep_users, the rest is dropped. x is to be released whatever
 * comes back. */
gcg_status gcg_fill_rows(gcg_points *points, const int32_t *user_number, const int32_t *item_number,
                         int32_t users, int32_t items, int keep_users, gcg_csr *x, gcg_err *err);

#endif
