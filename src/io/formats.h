/* The table of formats: names, readers, and which format a text is. */
#ifndef GCG_IO_FORMATS_H
#define GCG_IO_FORMATS_H

#include "io/fields.h"
#include "io/reader.h"

/* A format is read in three steps. Where a piece begins in the middle of a block, round.c has to guess the
 * carry that the piece before will leave; last_block and skip are how. A wrong guess costs time only. */
typedef struct {
    const char *name;
    /* Reads the first lines; layout->begun = 1 when they were enough. NULL: nothing to find out */
    gcg_status (*begin)(gcg_reader *r);
    gcg_status (*lines)(gcg_reader *r); /* reads the piece to its end */
    void (*end)(gcg_reader *r);         /* after the last piece of a file, which is empty. May be NULL */
    /* Start of the last line in text that begins a block, NULL: there is none. NULL: the format has no blocks
     */
    const char *(*last_block)(const char *text, const char *end);
    void (*skip)(gcg_carry *c, int64_t lines); /* lines with data follow. May be NULL */
    gcg_separator separator;                   /* of the delimited formats; byte 0: another grammar */
} gcg_format_entry;

/* The entry of a format other than GCG_FORMAT_AUTO. */
const gcg_format_entry *gcg_format_find(gcg_format format);

/* The format of text[0..length), the beginning of a file (whole: it is all of it): a guess by its first
 * lines. */
gcg_format gcg_format_detect(const char *text, int64_t length, int whole, const gcg_read_options *options);

/* What makes text unreadable as ratings ("UTF-16 text; ...", "a zip archive; ..."), or NULL when it looks
 * like text. */
const char *gcg_format_not_text(const char *text, int64_t length);

/* The readers. */
gcg_status gcg_delimited_begin(gcg_reader *r);
gcg_status gcg_delimited_lines(gcg_reader *r);

gcg_status gcg_mtx_begin(gcg_reader *r);
gcg_status gcg_mtx_lines(gcg_reader *r);
void gcg_mtx_end(gcg_reader *r);
void gcg_mtx_skip(gcg_carry *c, int64_t lines);

gcg_status gcg_netflix_lines(gcg_reader *r);
void gcg_netflix_end(gcg_reader *r);
const char *gcg_netflix_last_block(const char *text, const char *end);
void gcg_netflix_skip(gcg_carry *c, int64_t lines);

gcg_status gcg_kdd_lines(gcg_reader *r);
void gcg_kdd_end(gcg_reader *r);
const char *gcg_kdd_last_block(const char *text, const char *end);
void gcg_kdd_skip(gcg_carry *c, int64_t lines);

/* --columns as numbers or names: parts[0..count) point into text. 0 when text is not two or three of them. */
typedef struct {
    const char *text;
    int64_t length;
    int64_t number; /* from 1; 0: it is a name */
} gcg_column;
int gcg_columns_parse(const char *text, gcg_column parts[3]);
/* One column, likewise: 0 when text is none. */
int gcg_column_parse(const char *text, int64_t length, gcg_column *column);

#endif
