/* Reading rating files: any format, plain or gzip, files, folders or standard input, one pass, streaming.
 *
 * Three doors: gcg_read_stream hands each point to a callback (predict, eval); gcg_ratings_read builds the
 * training store; gcg_pairs_read reads test data against known ids. All of them share formats.c's table. */
#ifndef GCG_IO_RATINGS_H
#define GCG_IO_RATINGS_H

#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "store/csr.h"
#include "store/idmap.h"

typedef enum {
    GCG_FORMAT_AUTO,
    GCG_FORMAT_CSV,
    GCG_FORMAT_TSV,
    GCG_FORMAT_SEMICOLON,
    GCG_FORMAT_PIPE,
    GCG_FORMAT_MOVIELENS, /* "::" */
    GCG_FORMAT_SPACE,
    GCG_FORMAT_MTX,
    GCG_FORMAT_NETFLIX,
    GCG_FORMAT_KDD,
    GCG_FORMAT_YAHOO_R1,              /* tsv with 255 = 0 */
    GCG_FORMAT_COUNT,                 /* of text */
    GCG_FORMAT_GCS = GCG_FORMAT_COUNT /* the binary store, known by its first bytes; cannot be asked for */
} gcg_format;

/* "auto", "csv", ... as in the CLI contract, and "gcs". */
const char *gcg_format_name(gcg_format format);

typedef enum { GCG_HEADER_AUTO, GCG_HEADER_YES, GCG_HEADER_NO } gcg_header;
typedef enum { GCG_DUP_ERROR, GCG_DUP_FIRST, GCG_DUP_LAST, GCG_DUP_MEAN, GCG_DUP_SUM } gcg_duplicates;

typedef struct {
    double from, to;
    int drop; /* 1: ratings equal to from are dropped; else they become to */
} gcg_value_map;

/* Told now and then while files are read, on the calling thread: bytes read as stored (gzip: packed), over
 * all files of the call, and how many there are (0: unknown, since one is no regular file). Nonzero stops. */
typedef int (*gcg_read_progress_fn)(int64_t bytes_read, int64_t bytes_total, void *user);

typedef struct {
    gcg_format format;
    gcg_header header;
    const char *columns; /* "U,I,R": numbers or header names; NULL = 1,2,3 */
    const char
        *weights;     /* the column of weights, likewise; any name for a binary store. NULL: none are read */
    int implicit;     /* two columns, every rating 1 */
    int no_ratings;   /* the file has pairs only, further columns are not ratings */
    int pairs;        /* a rating is optional (predict); set by the caller, not by the user */
    int may_be_empty; /* gcg_ratings_read: files without ratings are fine: then all but the report is zero;
                         likewise */
    gcg_duplicates duplicates;
    const gcg_value_map *value_maps;
    int value_map_count;
    int keep_duplicates; /* with GCG_DUP_ERROR: gcg_ratings_read reports them, returns GCG_ERR_DATA, but still
                          * fills out with the first rating of each pair (set by check) */
    int zlib;            /* 1: unpack with zlib even where libisal is there (tests) */
    int long_way;        /* 1: no line is read by the functions of swift.h (tests compare) */
    int64_t
        block; /* bytes read at once, 0 = a good number; never changes what is read (tests make it small) */
    gcg_read_progress_fn progress; /* NULL: none. When it stops the reading, the call fails with GCG_ERR_IO
                                    * and "interrupted while reading", the diag is told nothing */
    void *progress_user;
} gcg_read_options;

gcg_read_options gcg_read_options_defaults(void);
/* GCG_ERR_USAGE when an option is malformed or two of them contradict each other. */
gcg_status gcg_read_options_check(const gcg_read_options *options, gcg_err *err);

/* What was read. Counts are over all files of one call. */
typedef struct {
    gcg_format format;       /* of the first file with lines */
    int header;              /* 1: the first file had a header line */
    int64_t lines;           /* lines read, all kinds */
    int64_t blank, comment;  /* skipped lines */
    int64_t points;          /* ratings (or pairs) read */
    int64_t duplicates;      /* points beyond the first of their pair */
    int64_t merged_pairs;    /* pairs that occurred more than once and were merged */
    int64_t mapped, dropped; /* by value maps */
    int64_t empty_blocks;    /* Netflix movies or KDD users without ratings */
    int64_t bytes;           /* of text, after decompression */
    double seconds;
} gcg_read_report;

/* One point of the input. Ids are not NUL-terminated and live until the callback returns. */
typedef struct {
    const char *user, *item;
    size_t user_length, item_length;
    double value; /* NaN when the input has no rating here */
    float weight; /* 1 when options.weights is NULL */
    int has_value;
    const char *file;           /* display name */
    int64_t line;               /* in a binary store: the number of the rating, from 1 */
    int64_t user_col, item_col; /* where the ids begin in the line, from 1; 0: they are not in it */
} gcg_point;

/* Calls fn for each point in order. A data error stops after at most GCG_DIAG_MAX_ERRORS reported messages
 * (all errors are counted) and gives GCG_ERR_DATA; fn is not called after the first error. Folders are
 * expanded. "-" is standard input. err receives the first error; the errors also went to diag, each with its
 * place. */
typedef gcg_status (*gcg_point_fn)(const gcg_point *point, void *user, gcg_err *err);
gcg_status gcg_read_stream(const char *const *paths, int path_count, const gcg_read_options *options,
                           gcg_diag *diag, gcg_point_fn fn, void *user, gcg_read_report *report,
                           gcg_err *err);

/* The same for one file that is already in memory; name is for messages. */
gcg_status gcg_read_memory(const void *bytes, size_t length, const char *name,
                           const gcg_read_options *options, gcg_diag *diag, gcg_point_fn fn, void *user,
                           gcg_read_report *report, gcg_err *err);

/* The training set. Empty rows and columns occur where a MatrixMarket size line declares them or where a
 * hold-out took every rating. */
typedef struct {
    gcg_csr x;
    gcg_idmap *users, *items; /* canonical order = row and column numbers of x */
    gcg_read_report report;
} gcg_ratings;

gcg_status gcg_ratings_read(const char *const *paths, int path_count, const gcg_read_options *options,
                            gcg_diag *diag, gcg_ratings *out, gcg_err *err);
void gcg_ratings_release(gcg_ratings *r);

/* Test data: n points in file order; user and item are numbers in the given maps, -1 for unknown ids. */
typedef struct {
    int64_t n;
    int32_t *user, *item;
    double *value;
} gcg_pairs;

gcg_status gcg_pairs_read(const char *const *paths, int path_count, const gcg_read_options *options,
                          const gcg_idmap *users, const gcg_idmap *items, gcg_diag *diag, gcg_pairs *out,
                          gcg_read_report *report, gcg_err *err);
/* Adds one; *room is what the arrays have room for, 0 at first. */
gcg_status gcg_pairs_add(gcg_pairs *p, int64_t *room, int32_t user, int32_t item, double value, gcg_err *err);
void gcg_pairs_release(gcg_pairs *p);

/* Moves ratings out of r->x into test (canonical order): each rating for which the hash of (seed, user id,
 * item id) is below fraction, so the choice does not depend on line order. */
gcg_status gcg_ratings_hold_out(gcg_ratings *r, double fraction, uint64_t seed, gcg_pairs *test,
                                gcg_err *err);

/* The ratings whose hash, in [0, 1), is in [from, below): part has them, in canonical order, and rest, of the
 * same shape, has copies of all others. It is the hash of gcg_ratings_hold_out, which moves those in [0,
 * fraction). GCG_ERR_DATA when part would have them all. */
gcg_status gcg_ratings_part(const gcg_ratings *r, double from, double below, uint64_t seed, gcg_csr *rest,
                            gcg_pairs *part, gcg_err *err);

/* Moves the given pairs out of r->x; test receives them, in canonical order, with their training ratings.
 * Pairs that are not in r->x are counted in *missing. */
gcg_status gcg_ratings_take_pairs(gcg_ratings *r, const gcg_pairs *pairs, gcg_pairs *test, int64_t *missing,
                                  gcg_err *err);

#endif
