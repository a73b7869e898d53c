/* The table of formats: names, readers, and which format a text is. */
#ifndef GCG_IO_FORMATS_H
#define GCG_IO_FORMATS_H

#include "io/fields.h"
#include "io/reader.h"

typedef struct {
    const char *name;
    gcg_status (*read)(gcg_reader *r); /* reads r->in to its end */
    gcg_separator separator;           /* of the delimited formats; byte 0: another grammar */
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
gcg_status gcg_read_delimited(gcg_reader *r);
gcg_status gcg_read_mtx(gcg_reader *r);
gcg_status gcg_read_netflix(gcg_reader *r);
gcg_status gcg_read_kdd(gcg_reader *r);

/* --columns as numbers or names: parts[0..count) point into text. 0 when text is not two or three of them. */
typedef struct {
    const char *text;
    int64_t length;
    int64_t number; /* from 1; 0: it is a name */
} gcg_column;
int gcg_columns_parse(const char *text, gcg_column parts[3]);

#endif
