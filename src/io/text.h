/* Text on its way from an input to the readers: a buffer that ends at the end of a line.
 *
 * Two of them take turns: while the lines of one are read, the other is filled, beginning with the incomplete
 * line that the first one ended in. */
#ifndef GCG_IO_TEXT_H
#define GCG_IO_TEXT_H

#include <stdint.h>
#include "base/status.h"
#include "io/input.h"

typedef struct {
    char *bytes; /* GCG_TEXT_PADDING zero bytes follow bytes[end - 1] */
    int64_t capacity;
    int64_t from; /* next byte to be read */
    int64_t cut;  /* bytes[from..cut) are whole lines */
    int64_t end;  /* bytes[cut..end): the beginning of the next line */
    int ended;    /* the input has nothing more; then cut = end unless it ended in damage */
} gcg_text;

enum { GCG_TEXT_PADDING = 64 /* so that words can be read at any byte */ };

void gcg_text_release(gcg_text *t); /* twice is fine */

/* Makes t the text after that of before (NULL: the first of the input): its incomplete line, then at least
 * want bytes more and as many as the end of a line needs. before may be read meanwhile. */
gcg_status gcg_text_fill(gcg_text *t, const gcg_text *before, gcg_input *in, int64_t want, gcg_err *err);

/* What is in a stretch of whole lines. */
typedef struct {
    int64_t lines;      /* line feeds */
    int cr, quote, nul; /* 1: it has such bytes */
} gcg_text_scan;
gcg_text_scan gcg_text_look(const char *text, int64_t length);

/* End of the stretch from text on that holds about size bytes and ends with a line; end when there is none
 * before it. */
const char *gcg_text_cut(const char *text, const char *end, int64_t size);

#endif
