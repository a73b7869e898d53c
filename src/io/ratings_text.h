/* A training set as text that io/ratings reads back unchanged: any ids, any ratings, in canonical order. For
 * synthetic data, which is never held as a whole, there is rating_writer.h. */
#ifndef GCG_IO_RATINGS_TEXT_H
#define GCG_IO_RATINGS_TEXT_H

#include "io/ratings.h"
#include "io/sink.h"

enum { GCG_VALUE_TEXT = 32 };

/* The shortest decimal number that reads back as value, which is finite; its length. No final NUL. */
int gcg_value_text(double value, char text[GCG_VALUE_TEXT]);

/* The shortest that reads back as the float, not more: 0.1 for 0.1f. */
int gcg_weight_text(float value, char text[GCG_VALUE_TEXT]);

/* Writes r as csv or tsv, with a fourth column where it has weights, with a header line and quotes where an
 * id needs them, or as mtx. Lines are made by all threads, some megabytes at a time. GCG_ERR_DATA when the
 * ids are not 1, 2, ... as MatrixMarket wants them, or there are weights, for which it has no place. Rows and
 * columns without ratings have no place in csv and tsv. */
gcg_status gcg_ratings_write_text(const gcg_ratings *r, gcg_format format, gcg_sink sink, gcg_err *err);

#endif
