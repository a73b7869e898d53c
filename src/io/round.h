/* Reading one file after another: threads read pieces of it in rounds, one thread takes in what they found.
 *
 * A round: the text at hand is cut into pieces; threads look what is in them, then read them, while one of
 * them fills the next text (reading and unpacking). Then the pieces are taken in, in order: messages are
 * told, callbacks called, new ids numbered. Last, threads put the points where they belong. So everything
 * that can be seen happens in the order of the lines, whatever the number of threads and the size of the
 * pieces. */
#ifndef GCG_IO_ROUND_H
#define GCG_IO_ROUND_H

#include <stdint.h>
#include "base/status.h"
#include "io/input.h"
#include "io/points.h"
#include "io/ratings.h"
#include "io/reader.h"
#include "io/text.h"

/* Where the points go: to a callback, or (point = NULL) into points, their ids numbered by users and items.
 */
typedef struct {
    gcg_point_fn point;
    void *user;
    gcg_idmap *users, *items;
    gcg_points *points;
    int64_t rows, cols; /* the ids 1..rows and 1..cols exist, with or without ratings (MatrixMarket) */
} gcg_sink;

typedef struct gcg_piece gcg_piece;

/* One gcg_reading serves all files of a call. Every failure that concerns a file is told to the diag, the
 * first one is kept in err. */
typedef struct {
    const gcg_read_options *options;
    gcg_sink *sink;
    gcg_diag *diag;
    gcg_err *err;
    gcg_read_report *report;
    int64_t errors; /* data errors so far */
    int64_t never_again, above_100;
    int64_t stored, stored_total; /* bytes of the files before this one, of all (0: unknown) */

    const char *file; /* the one being read */
    gcg_layout layout;
    gcg_carry carry; /* after the pieces taken in */
    gcg_text text[2];
    gcg_piece *piece;
    int pieces;         /* the most in a round */
    int64_t piece_size; /* bytes that one is meant to have */
} gcg_reading;

/* Reads in, whose display name is s->file, to its end. */
gcg_status gcg_reading_file(gcg_reading *s, gcg_input *in);
/* For a file that is no text: fill hands out at most n points, lines 1, 2, ... as they are in the file;
 * stored is how much of it was read. Until all are handed out. */
gcg_status gcg_reading_points(gcg_reading *s, int64_t n, int64_t stored,
                              gcg_status (*fill)(gcg_reader *r, void *ctx), void *ctx);
void gcg_reading_release(gcg_reading *s); /* twice is fine */

/* An error about a file as a whole: told to the diag, kept in err when it is the first. Returns status. */
gcg_status gcg_reading_fail(gcg_reading *s, gcg_status status, const char *text);

#endif
