/* What the readers of all formats share: lines in, points out, errors with their place.
 *
 * One gcg_reader serves all files of one gcg_read_stream. Every failure that concerns a file goes through
 * gcg_reader_error or gcg_reader_fatal, which tell the diag and keep the first one for err. Formats are in
 * read_<format>.c, their table in formats.h. */
#ifndef GCG_IO_READER_H
#define GCG_IO_READER_H

#include <stdint.h>
#include "base/status.h"
#include "io/fields.h"
#include "io/input.h"
#include "io/ratings.h"

/* Where the points go. */
typedef struct {
    gcg_point_fn point;
    /* The ids 1..rows and 1..cols exist, with or without ratings (MatrixMarket). May be NULL. */
    gcg_status (*size)(int64_t rows, int64_t cols, void *user, gcg_err *err);
    void *user;
} gcg_sink;

typedef struct {
    const gcg_read_options *options;
    const gcg_sink *sink;
    gcg_diag *diag;
    gcg_err *err;
    gcg_read_report *report;
    int64_t errors; /* data errors so far */

    gcg_input *in; /* the file being read */
    const char *file;
    gcg_format format;
    gcg_format told; /* format and header of the last note */
    int told_header;
    gcg_line line; /* the current line */

    int64_t stored, stored_total; /* bytes of the files before this one, of all (0: unknown) */

    int64_t never_again, above_100; /* ratings of 255, other ratings above 100 (Yahoo! R1) */
} gcg_reader;

/* The format and the header of the file are known: told as a note unless the file before was of the same
 * kind. */
void gcg_reader_begin(gcg_reader *r, int header);

/* The next line, whatever it is; a line with a stray CR is reported, but still handed out. */
gcg_status gcg_reader_any_line(gcg_reader *r, int *found);
/* The next line with data: blank lines and comments are skipped and counted, lines with a stray CR are
 * reported. */
gcg_status gcg_reader_line(gcg_reader *r, int *found);

/* A data error at a place; reading goes on, but no further point is handed out. */
void gcg_reader_error(gcg_reader *r, int64_t line, int64_t col, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, and reading stops: returns status. line and col may be 0. */
gcg_status gcg_reader_fatal(gcg_reader *r, gcg_status status, int64_t line, int64_t col, const char *format,
                            ...) __attribute__((format(printf, 5, 6)));

/* Reports a field whose quotes are wrong. */
void gcg_reader_quote_error(gcg_reader *r, gcg_field_result result, const gcg_field *f);

/* Column of a place in the current line. */
int64_t gcg_reader_col(const gcg_reader *r, const char *place);

/* 1 when f can be an id; else the error is reported. what is "user" or "item". */
int gcg_reader_check_id(gcg_reader *r, const gcg_field *f, const char *what);

/* The rating in f (NULL: the line has none): 1 and *value, *has_value, or 0 after reporting what is wrong. */
int gcg_reader_rating(gcg_reader *r, const gcg_field *f, double *value, int *has_value);
/* 1 when text looks like a date (2005-09-06, 6.9.2005, 06/09/05, 01-Jan-1995). */
int gcg_reader_is_date(const char *text, int64_t length);
/* 1 when text, a sign aside and in any case, is nan, inf, infinity, na, n/a, null or none. */
int gcg_reader_is_missing(const char *text, int64_t length);

/* Hands a point of the current line out, after the value maps; nothing after the first error. */
gcg_status gcg_reader_point(gcg_reader *r, const gcg_field *user, const gcg_field *item, double value,
                            int has_value);

#endif
