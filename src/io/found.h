/* The points of one piece of text, on their way to whoever reads.
 *
 * For the training store they are columns of numbers. Ids that the store's maps know have their number there;
 * the others get numbers of the piece, ~0, ~1, ..., in order of appearance, until the pieces before have been
 * taken in. The maps do not change while pieces are read, so that all threads may look ids up. For callbacks
 * the points are kept as they are. */
#ifndef GCG_IO_FOUND_H
#define GCG_IO_FOUND_H

#include <stdint.h>
#include "io/points.h"
#include "io/ratings.h"
#include "store/idmap.h"

/* Users or items of a piece. */
typedef struct {
    const gcg_idmap *known;
    gcg_idmap *fresh;      /* ids that are not among the known ones */
    int32_t *fresh_number; /* their numbers in the store, once taken in */
    int64_t fresh_capacity;
    const int32_t *direct; /* known's numbers of the ids 0..direct_size-1 */
    uint64_t direct_size, last;
    int32_t last_code;
    int32_t *code; /* per point */
} gcg_found_side;

typedef struct {
    int64_t n, capacity;
    int records; /* 1: for callbacks */
    gcg_point *record;
    gcg_found_side user, item;
    double *value;
    float *weight; /* NULL: none are read */
    int weighted;  /* they are */
    int wide;      /* 1: a value is no float */
    int keep_lines;
    gcg_line_run *run; /* where the points stand; file is not set */
    int64_t runs, run_capacity;
    int64_t run_offset; /* line - number of the next point while the last run goes on */
    int64_t base;       /* number of the first point in the store, once taken in */
} gcg_found;

/* The maps are NULL for records. */
void gcg_found_init(gcg_found *f, const gcg_idmap *users, const gcg_idmap *items, int keep_lines,
                    int weighted);
void gcg_found_release(gcg_found *f); /* twice is fine */
/* Empties f and makes room for n points. */
gcg_status gcg_found_start(gcg_found *f, int64_t n, gcg_err *err);

/* The code of an id. */
gcg_status gcg_found_code(gcg_found_side *s, const char *id, size_t length, int32_t *code, gcg_err *err);
/* The same for an id that is the digits of value and no more; value is not last. */
static inline gcg_status gcg_found_integer(gcg_found_side *s, uint64_t value, const char *id, size_t length,
                                           int32_t *code, gcg_err *err)
{
    if (value == s->last) {
        *code = s->last_code;
        return GCG_OK;
    }
    gcg_status status = GCG_OK;
    if (value < s->direct_size && s->direct[value] >= 0)
        *code = s->direct[value];
    else
        status = gcg_found_code(s, id, length, code, err);
    s->last = value;
    s->last_code = *code;
    return status;
}

/* Point f->n begins another run, or not (two points of one line). */
gcg_status gcg_found_run(gcg_found *f, int64_t line, gcg_err *err);

/* Adds a point of line; there must be room. */
static inline gcg_status gcg_found_put(gcg_found *f, int32_t user, int32_t item, double value, int64_t line,
                                       gcg_err *err)
{
    int64_t n = f->n;
    if (f->keep_lines && line - n != f->run_offset) {
        gcg_status status = gcg_found_run(f, line, err);
        if (status != GCG_OK) return status;
    }
    f->user.code[n] = user;
    f->item.code[n] = item;
    f->value[n] = value;
    f->wide |= !gcg_csr_fits_float(value);
    f->n = n + 1;
    return GCG_OK;
}

/* Adds the new ids of a piece to the store's map (known): their turn has come. */
gcg_status gcg_found_take_in(gcg_found_side *s, gcg_idmap *map, gcg_err *err);

#endif
