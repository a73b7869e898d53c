/* Writing ratings as text in any of the formats that io/ratings reads, in the order in which they are given.
 *
 * Nothing is kept but a buffer. Ids are positive integers, ratings decimal numbers in fixed point, so that
 * the text does not depend on the machine or the locale. */
#ifndef GCG_IO_RATING_WRITER_H
#define GCG_IO_RATING_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include "io/ratings.h"
#include "io/sink.h"

typedef struct {
    gcg_format format;    /* not AUTO */
    int decimals;         /* digits after the point in every rating, 0..9 */
    int32_t users, items; /* MatrixMarket's size line */
    int64_t ratings;      /* the same */
} gcg_rating_layout;

typedef struct {
    int64_t user, item; /* >= 0 */
    int64_t value;      /* the rating times 10^decimals */
    int64_t time;       /* seconds since 1970, >= 0; movielens, netflix and kdd show it */
} gcg_rating;

typedef struct gcg_rating_writer gcg_rating_writer;

/* Writes the header, where the format has one. */
gcg_status gcg_rating_writer_new(gcg_rating_writer **writer, const gcg_rating_layout *layout, gcg_sink sink,
                                 gcg_err *err);
/* The next count ratings are those of one movie (netflix) or one user (kdd): writes the line that says so.
 * Nothing in the other formats, nor when count is 0. */
gcg_status gcg_rating_writer_block(gcg_rating_writer *writer, int64_t id, int64_t count, gcg_err *err);
gcg_status gcg_rating_writer_put(gcg_rating_writer *writer, const gcg_rating *rating, gcg_err *err);
/* Hands the rest of the buffer to the sink. */
gcg_status gcg_rating_writer_finish(gcg_rating_writer *writer, gcg_err *err);
void gcg_rating_writer_free(gcg_rating_writer *writer); /* NULL is fine */

#endif
