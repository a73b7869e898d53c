/* What the readers of all formats share: lines of a piece of text in, points out, errors with their place.
 *
 * A file is cut into pieces of whole lines, which threads read at the same time, each with a gcg_reader of
 * its own; round.c does that. What a line means may depend on lines before it (a block's user, a promised
 * count): all of that is in gcg_carry, which a piece begins with and leaves behind. Messages are kept until
 * the pieces before have been heard. Formats are in read_<format>.c, their table in formats.h. */
#ifndef GCG_IO_READER_H
#define GCG_IO_READER_H

#include <stdint.h>
#include "base/status.h"
#include "io/fields.h"
#include "io/found.h"
#include "io/ratings.h"
#include "io/text.h"

typedef struct {
    const char *text; /* not NUL-terminated */
    int64_t length;   /* bytes, without LF or CRLF */
    int64_t number;   /* from 1 */
    int has_quote;    /* 1 when a '"' is in it */
    int64_t bad_col;  /* column of the first NUL byte or of the first CR that is not part of the line end; 0 =
                         none */
    char bad;         /* '\0' or '\r' */
} gcg_line;

enum { GCG_PARTS = 4 }; /* user, item, rating, weight */

/* What is fixed by the first lines of a file: set by a format's begin, the same for all pieces. */
typedef struct {
    gcg_format format;
    int noted; /* 1: format and header are told */
    int begun; /* 1: nothing more to find out */
    int header;
    gcg_format told; /* format and header of the last note */
    int told_header;
    /* delimited */
    gcg_separator separator;
    int64_t column[GCG_PARTS]; /* from 0; -1: not given */
    int64_t last;              /* largest of them */
    int check_rest;            /* an open quote in an ignored column is an error */
    /* MatrixMarket */
    int has_banner, pattern, symmetric;
    int64_t rows, cols, entries;  /* as declared */
    int64_t size_line, count_col; /* where the declared count stands */
} gcg_layout;

/* What the lines before leave to the next one. */
typedef struct {
    int64_t line;         /* their number */
    int64_t found;        /* lines of this block (netflix: 1 when there are some), MatrixMarket: entries */
    int64_t promised;     /* kdd: as the block's first line says, -1 unknown */
    int overfull, usable; /* kdd: told that there are more; kdd, netflix: the block's id is fine */
    int64_t block_line, block_col; /* kdd: where the promise stands */
    int64_t id_length;             /* of the block's id; 0: no block yet */
    char id[GCG_ID_TEXT];
} gcg_carry;

/* Counts of a piece. The first four are of all lines, the others end at the first error. */
typedef struct {
    int64_t lines, blank, comment, empty_blocks;
    int64_t points, mapped, dropped;
    int64_t never_again, above_100; /* ratings of 255, other ratings above 100 (Yahoo! R1) */
} gcg_tally;

typedef struct {
    gcg_severity severity;
    int64_t line, col;
    char text[512];
} gcg_message;

enum { GCG_READER_MESSAGES = GCG_DIAG_MAX_ERRORS + 1 /* a note */ };

/* Unescaped fields, as long as their piece. */
typedef struct gcg_scrap gcg_scrap;

typedef struct {
    const gcg_read_options *options;
    gcg_layout *layout; /* changed by begin only */
    const char *file;

    const char *at, *end; /* rest of the piece */
    gcg_text_scan scan;   /* bytes that occur in it */
    gcg_line line;        /* the current line */
    gcg_carry carry;      /* after it */
    const char *block;    /* text of the block's id */
    float weight;         /* of the next point, where weights are read */
    int32_t block_code;   /* code of it, if has_block_code */
    int has_block_code;
    char first_block[GCG_ID_TEXT]; /* the block that the piece began in */

    gcg_found found;
    gcg_tally tally;
    gcg_message message[GCG_READER_MESSAGES];
    int messages;
    int64_t errors;    /* data errors so far, kept or not */
    gcg_status status; /* not GCG_OK: reading stopped at the last message, or for lack of memory */
    gcg_err err;       /* why, when no message says so */
    gcg_scrap *scrap;
} gcg_reader;

/* layout and file are those of every piece that follows. The maps are NULL when points are for a callback. */
void gcg_reader_init(gcg_reader *r, const gcg_read_options *options, const gcg_idmap *users,
                     const gcg_idmap *items, gcg_layout *layout);
void gcg_reader_release(gcg_reader *r); /* twice is fine */
/* Ready for the piece text[0..length), of which scan tells what is in it, after what carry says. */
void gcg_reader_start(gcg_reader *r, const gcg_carry *carry, const char *text, int64_t length,
                      gcg_text_scan scan);
/* 1 when lines mean the same after a as after b. */
int gcg_carry_equal(const gcg_carry *a, const gcg_carry *b);
void gcg_carry_copy(gcg_carry *to, const gcg_carry *from);

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
/* The weight in f (NULL: the line has none), for the next point: 1, or 0 after reporting what is wrong. */
int gcg_reader_weight(gcg_reader *r, const gcg_field *f);
/* 1 when text looks like a date (2005-09-06, 6.9.2005, 06/09/05, 01-Jan-1995). */
int gcg_reader_is_date(const char *text, int64_t length);
/* 1 when text, a sign aside and in any case, is nan, inf, infinity, na, n/a, null or none. */
int gcg_reader_is_missing(const char *text, int64_t length);

/* f without doubled quotes, good until the next piece. */
gcg_status gcg_reader_unescape(gcg_reader *r, gcg_field *f);

/* Applies the value maps: 0 when the rating is dropped. */
int gcg_reader_map_value(gcg_reader *r, double *value);
/* 1 when a value is so large that the reader watches it (Yahoo! R1 goes to 100). */
static inline int gcg_reader_is_watched(double value)
{
    return value > 100;
}

/* 1 when lines with ratings may be read by swift.h. */
int gcg_reader_may_be_swift(const gcg_reader *r);

/* Hands a point of the current line out, after the value maps; nothing after the first error. */
gcg_status gcg_reader_point(gcg_reader *r, const gcg_field *user, const gcg_field *item, double value,
                            int has_value);

/* The same for an id that is the digits of number (swift.h) and the id of the block, which is a user's or an
 * item's. */
gcg_status gcg_reader_block_point(gcg_reader *r, int block_is_user, const gcg_field *id, uint64_t number,
                                  double value);

/* The block that the lines belong to: its id, kept for the lines and the pieces that follow. */
gcg_field gcg_reader_block(const gcg_reader *r);
void gcg_reader_set_block(gcg_reader *r, const gcg_field *id, int usable);

#endif
