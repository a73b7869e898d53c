/* Pairs that are not to be recommended: rating files of any format, of which only the pattern is kept, 4
 * bytes a pair (nothing for a binary store, which stays mapped). Users are those of the files; items are
 * looked up by their number in a model. */
#ifndef GCG_IO_EXCLUSION_H
#define GCG_IO_EXCLUSION_H

#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "io/ratings.h"

typedef struct {
    gcg_ratings own;        /* empty for a view */
    const gcg_csr *x;       /* NULL: nothing is excluded */
    const gcg_idmap *users; /* of x's rows */
    int32_t *column;        /* of each item of the model, -1 where it has none */
} gcg_exclusion;

/* Reads the files as one, pairs with or without ratings; a pair may occur several times. items are the
 * model's. Without a pair nothing is excluded, and a warning says so. */
gcg_status gcg_exclusion_read(const char *const *paths, int path_count, const gcg_read_options *options,
                              const gcg_idmap *items, gcg_diag *diag, gcg_exclusion *out, gcg_err *err);
/* The pairs of r, which must outlive out. */
gcg_status gcg_exclusion_view(const gcg_ratings *r, const gcg_idmap *items, gcg_exclusion *out, gcg_err *err);
void gcg_exclusion_release(gcg_exclusion *e); /* twice is fine */

/* The row of a user, -1 for one without pairs. */
int32_t gcg_exclusion_row(const gcg_exclusion *e, const char *user, size_t length);
/* 1 when the user with that row is not to get the item. */
static inline int gcg_exclusion_has(const gcg_exclusion *e, int32_t row, int32_t item)
{
    return row >= 0 && e->column[item] >= 0 && gcg_csr_find(e->x, row, e->column[item]) >= 0;
}

#endif
