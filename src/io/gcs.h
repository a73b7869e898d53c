/* The binary store (.gcs), read: a rating file as gcg-mc convert writes it, mapped into memory.
 *
 * Opening checks everything: sizes, every check sum, every row start, column, value and id, so that nothing
 * in the file can lead a later pass astray; the pages are read once for that, by all threads. After that
 * nothing is copied but the ids. Inside src/io, except gcg_gcs_is_store; the doors for everybody are those of
 * ratings.h, which take a store like any other rating file. */
#ifndef GCG_IO_GCS_H
#define GCG_IO_GCS_H

#include <stdint.h>
#include "base/mapping.h"
#include "base/status.h"
#include "io/gcs_layout.h"
#include "io/ratings.h"

/* 1 when path ("-": standard input) is a regular file that begins as a store does. Pipes are left alone. */
int gcg_gcs_is_store(const char *path);

/* An open store; the pointers go into the mapping. */
typedef struct {
    gcg_mapping *map;
    const char *name; /* for messages */
    gcg_gcs_header header;
    const char *users, *items; /* ids, each followed by LF */
    const int64_t *row_ptr;
    const int32_t *col;
    const float *val_f; /* one of the two is NULL */
    const double *val_d;
    const float *weight;           /* NULL: it has none */
    gcg_read_progress_fn progress; /* hears of the checking (options.progress), or NULL */
    void *progress_user;
} gcg_gcs;

/* GCG_ERR_DATA when it is damaged, cut short, foreign or of a newer version; path must outlive g. On failure
 * g is zeroed. The progress of options (NULL: none) is told. */
gcg_status gcg_gcs_open(gcg_gcs *g, const char *path, const gcg_read_options *options, gcg_err *err);
/* The same for a mapping, which becomes g's in any case; of g, progress must be set. */
gcg_status gcg_gcs_open_mapping(gcg_gcs *g, gcg_mapping *map, const char *name, gcg_err *err);
void gcg_gcs_close(gcg_gcs *g); /* twice is fine */

/* What a reader says of a store without weights where they are asked for, and of weights that are not. */
extern const char gcg_gcs_no_weights[], gcg_gcs_ignored_weights[];

/* The training set: the arrays stay where they are, the mapping passes from g to out->x. GCG_ERR_DATA when
 * the ids are not distinct and in canonical order. out is not filled on failure. */
gcg_status gcg_gcs_take(gcg_gcs *g, gcg_ratings *out, gcg_err *err);

/* gcg_ratings_read for one store. *done = 0 (and GCG_OK) when the options would change ratings, which then
 * have to be read one by one. */
gcg_status gcg_gcs_read_ratings(const char *path, const gcg_read_options *options, gcg_diag *diag,
                                gcg_ratings *out, int *done, gcg_err *err);

#endif
