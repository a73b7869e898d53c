/* Cutting a line into fields: one cursor for all separators, with quoting as in csv.
 *
 * Blanks around unquoted fields are dropped. A field that starts with a quote runs to the closing one; ""
 * inside stands for one quote. Inline, because every byte of every rating file passes here. */
#ifndef GCG_IO_FIELDS_H
#define GCG_IO_FIELDS_H

#include <stdint.h>
#include <string.h>

/* Letters and digits of ASCII, whatever the locale. */
static inline int gcg_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char gcg_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline int gcg_is_letter(char c)
{
    return gcg_lower(c) >= 'a' && gcg_lower(c) <= 'z';
}

typedef struct {
    char byte;  /* separator; ' ' = a run of blanks and tabs */
    char width; /* 2: the separator is the byte twice ("::") */
} gcg_separator;

typedef struct {
    const char *start; /* where the field begins in its line, at the quote when there is one */
    const char *text;
    int64_t length;
    int escaped; /* text holds "" pairs, see gcg_field_unescape */
} gcg_field;

typedef enum {
    GCG_FIELD_NONE, /* no further field */
    GCG_FIELD_OK,
    GCG_FIELD_OPEN_QUOTE, /* the quote at start is not closed */
    GCG_FIELD_AFTER_QUOTE /* text follows the closing quote */
} gcg_field_result;

static inline int gcg_field_is_blank(gcg_separator s, char c)
{
    return c == ' ' || (c == '\t' && s.byte != '\t');
}

static inline int gcg_field_ends(gcg_separator s, const char *p, const char *end)
{
    if (s.byte == ' ') return *p == ' ' || *p == '\t';
    return *p == s.byte && (s.width == 1 || (p + 1 < end && p[1] == s.byte));
}

/* p stands at a separator or at end: the start of the next field, NULL after the last. */
static inline const char *gcg_field_after(gcg_separator s, const char *p, const char *end)
{
    if (s.byte == ' ')
        while (p < end && gcg_field_is_blank(s, *p)) p++;
    else if (p < end)
        return p + s.width;
    return p < end ? p : NULL;
}

static inline gcg_field_result gcg_field_quoted(gcg_separator s, const char **at, const char *p,
                                                const char *end, gcg_field *f)
{
    *f = (gcg_field){.start = p, .text = p + 1};
    const char *close = p + 1;
    for (;; close += 2) {
        close = memchr(close, '"', (size_t)(end - close));
        if (!close) return GCG_FIELD_OPEN_QUOTE;
        if (close + 1 == end || close[1] != '"') break;
        f->escaped = 1;
    }
    f->length = close - f->text;
    p = close + 1;
    if (s.byte != ' ')
        while (p < end && gcg_field_is_blank(s, *p)) p++;
    if (p < end && !gcg_field_ends(s, p, end)) return GCG_FIELD_AFTER_QUOTE;
    *at = gcg_field_after(s, p, end);
    return GCG_FIELD_OK;
}

/* The field at *at (the start of the line at first, NULL after the last field); *at moves on. end is the
 * line's end. */
static inline gcg_field_result gcg_field_next(gcg_separator s, const char **at, const char *end, gcg_field *f)
{
    const char *p = *at;
    if (!p) return GCG_FIELD_NONE;
    while (p < end && gcg_field_is_blank(s, *p)) p++;
    if (p < end && *p == '"') return gcg_field_quoted(s, at, p, end, f);
    const char *q = p;
    if (s.byte == ' ' || s.width == 2)
        while (q < end && !gcg_field_ends(s, q, end)) q++;
    else
        while (q < end && *q != s.byte) q++;
    *at = gcg_field_after(s, q, end);
    while (q > p && gcg_field_is_blank(s, q[-1])) q--;
    *f = (gcg_field){.start = p, .text = p, .length = q - p};
    return GCG_FIELD_OK;
}

/* Copies f's text to out (at least f->length bytes) with each "" made one quote; returns the length. */
static inline int64_t gcg_field_unescape(const gcg_field *f, char *out)
{
    int64_t n = 0;
    for (int64_t i = 0; i < f->length; i++) {
        out[n++] = f->text[i];
        if (f->text[i] == '"') i++;
    }
    return n;
}

#endif
