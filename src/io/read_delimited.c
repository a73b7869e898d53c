/* Triples a line, separated by one separator: csv, tsv, semicolon, pipe, movielens (::), space, yahoo-r1.
 *
 * Which columns hold user, item and rating is --columns, by number or by the names of a header line. */
#include <string.h>
#include "base/mem.h"
#include "io/formats.h"
#include "io/number.h"

enum { USER, ITEM, RATING, PARTS };

typedef struct {
    gcg_reader *r;
    gcg_separator separator;
    int64_t column[PARTS]; /* from 0; -1: not given */
    int64_t last;          /* largest of them */
    int check_rest;        /* an open quote in an ignored column is an error */
    gcg_field field[PARTS];
    int present[PARTS];
    int64_t fields; /* fields seen on the line, at most last + 1 */
    char *scratch;  /* unescaped fields */
    int64_t scratch_size;
} delimited;

/* Room for the fields of the current line without their doubled quotes. */
static gcg_status scratch_reserve(delimited *d)
{
    if (d->scratch_size >= d->r->line.length) return GCG_OK;
    char *scratch = gcg_mem_resize_array(d->scratch, 0, 2 * d->r->line.length, 1);
    if (!scratch) return gcg_fail_memory(d->r->err, "line buffer");
    d->scratch = scratch;
    d->scratch_size = 2 * d->r->line.length;
    return GCG_OK;
}

static gcg_status unescape_fields(delimited *d)
{
    int64_t used = 0;
    for (int k = 0; k < PARTS; k++) {
        gcg_field *f = &d->field[k];
        if (!d->present[k] || !f->escaped) continue;
        gcg_status status = scratch_reserve(d);
        if (status != GCG_OK) return status;
        f->length = gcg_field_unescape(f, d->scratch + used);
        f->text = d->scratch + used;
        used += f->length;
        f->escaped = 0;
    }
    return GCG_OK;
}

/* Cuts the current line; *good = 0 when a quote is wrong (reported). */
static gcg_status split(delimited *d, int *good)
{
    const char *at = d->r->line.text, *end = at + d->r->line.length;
    gcg_field f;
    gcg_field_result result = GCG_FIELD_OK;
    int escaped = 0;
    memset(d->present, 0, sizeof d->present);
    for (d->fields = 0; d->fields <= d->last; d->fields++) {
        result = gcg_field_next(d->separator, &at, end, &f);
        if (result != GCG_FIELD_OK) break;
        for (int k = 0; k < PARTS; k++)
            if (d->fields == d->column[k]) {
                d->field[k] = f;
                d->present[k] = 1;
                escaped |= f.escaped;
            }
    }
    if (d->r->line.has_quote && d->check_rest)
        while (result == GCG_FIELD_OK) result = gcg_field_next(d->separator, &at, end, &f);
    *good = result == GCG_FIELD_OK || result == GCG_FIELD_NONE;
    if (!*good) gcg_reader_quote_error(d->r, result, &f);
    return escaped ? unescape_fields(d) : GCG_OK;
}

/* 1 when a two-column line can only be a header: both fields are usual names of id columns. */
static int is_id_name(const gcg_field *f)
{
    static const char *const name[] = {
        "user",       "userid",  "uid",       "users",  "item",     "itemid",     "iid",
        "items",      "movie",   "movieid",   "mid",    "customer", "customerid", "reviewer",
        "reviewerid", "product", "productid", "artist", "artistid", "song",       "songid",
        "track",      "trackid", "book",      "bookid", "isbn",     "asin",
    };
    char text[16];
    size_t n = 0;
    for (int64_t i = 0; i < f->length; i++) {
        if (f->text[i] == '_' || f->text[i] == '-' || f->text[i] == ' ') continue;
        if (n + 1 == sizeof text) return 0;
        text[n++] = gcg_lower(f->text[i]);
    }
    text[n] = '\0';
    for (size_t k = 0; k < sizeof name / sizeof *name; k++)
        if (strcmp(text, name[k]) == 0) return 1;
    return 0;
}

/* A letter (of any alphabet: the first byte of a UTF-8 letter is 0xc3 or above) or _. */
static int starts_like_a_name(const gcg_field *f)
{
    return f->length > 0 && (gcg_is_letter(*f->text) || *f->text == '_' || (unsigned char)*f->text >= 0xc3);
}

/* The rule of --header auto for the first line, which is split. */
static int looks_like_header(const delimited *d)
{
    const gcg_read_options *o = d->r->options;
    if (d->present[RATING] && !o->implicit && !o->no_ratings)
        return starts_like_a_name(&d->field[RATING]) &&
               !gcg_reader_is_missing(d->field[RATING].text, d->field[RATING].length);
    return d->present[USER] && d->present[ITEM] && is_id_name(&d->field[USER]) && is_id_name(&d->field[ITEM]);
}

static int same_name(delimited *d, const gcg_field *f, const gcg_column *c)
{
    if (!f->escaped) return f->length == c->length && memcmp(f->text, c->text, (size_t)c->length) == 0;
    return gcg_field_unescape(f, d->scratch) == c->length &&
           memcmp(d->scratch, c->text, (size_t)c->length) == 0;
}

/* Finds the columns that --columns names in the header, the current line. */
static gcg_status resolve_names(delimited *d, const gcg_column *part, int parts)
{
    gcg_reader *r = d->r;
    gcg_status status = scratch_reserve(d);
    if (status != GCG_OK) return status;
    for (int k = 0; k < parts; k++) {
        const char *at = r->line.text;
        gcg_field f;
        int64_t n = 0, hit = -1;
        while (part[k].number == 0 &&
               gcg_field_next(d->separator, &at, r->line.text + r->line.length, &f) == GCG_FIELD_OK) {
            if (hit < 0 && same_name(d, &f, &part[k])) hit = n;
            n++;
        }
        char shown[256], header[256];
        if (part[k].number > 0)
            d->column[k] = part[k].number - 1;
        else if (hit >= 0)
            d->column[k] = hit;
        else
            return gcg_reader_fatal(r, GCG_ERR_DATA, r->line.number, 1,
                                    "--columns: the header line '%s' has no column named '%s'",
                                    gcg_quote(header, r->line.text, r->line.length),
                                    gcg_quote(shown, part[k].text, part[k].length));
    }
    return GCG_OK;
}

static void find_last(delimited *d)
{
    d->last = 0;
    for (int k = 0; k < PARTS; k++)
        if (d->column[k] > d->last) d->last = d->column[k];
}

/* Sets the columns; *named = 1 when the first line, a header, is needed for it. */
static int set_columns(delimited *d, gcg_column part[3], int *named)
{
    const gcg_read_options *o = d->r->options;
    int parts = o->columns ? gcg_columns_parse(o->columns, part) : 0;
    *named = 0;
    for (int k = 0; k < PARTS; k++) d->column[k] = parts == 0 ? k : -1;
    for (int k = 0; k < parts; k++) {
        d->column[k] = part[k].number - 1;
        *named |= part[k].number == 0;
    }
    if (o->implicit || o->no_ratings) d->column[RATING] = -1;
    find_last(d);
    return parts;
}

/* Deals with the first line, which was read: *is_header = 1 when it holds no point. */
static gcg_status first_line(delimited *d, int *is_header)
{
    const gcg_read_options *o = d->r->options;
    gcg_column part[3];
    int named, good = 1, parts = set_columns(d, part, &named);
    gcg_status status = GCG_OK;
    *is_header = named || o->header == GCG_HEADER_YES;
    if (named) {
        status = resolve_names(d, part, parts);
        if (o->implicit || o->no_ratings) d->column[RATING] = -1;
        find_last(d);
    } else if (o->header == GCG_HEADER_AUTO) {
        const char *at = d->r->line.text, *end = at + d->r->line.length;
        gcg_field f;
        while (gcg_field_next(d->separator, &at, end, &f) == GCG_FIELD_OK) continue;
        good = at ==
               NULL; /* a line with a wrong quote is no header; it is reported when it is read as a point */
        if (good) status = split(d, &good);
        if (status == GCG_OK && good) *is_header = looks_like_header(d);
    }
    return status;
}

static gcg_status read_point(delimited *d)
{
    gcg_reader *r = d->r;
    int good, has_value;
    double value;
    gcg_status status = split(d, &good);
    if (status != GCG_OK || !good) return status;
    for (int k = USER; k <= ITEM; k++) {
        if (d->present[k] && d->field[k].length <= GCG_ID_MAX) continue;
        if (!d->present[k])
            gcg_reader_error(r, r->line.number, r->line.length + 1, "no %s: the line has %lld column%s",
                             k == USER ? "user" : "item", (long long)d->fields, d->fields == 1 ? "" : "s");
        else
            gcg_reader_check_id(r, &d->field[k], k == USER ? "user" : "item");
        return GCG_OK;
    }
    if (!gcg_reader_check_id(r, &d->field[USER], "user") ||
        !gcg_reader_check_id(r, &d->field[ITEM], "item") ||
        !gcg_reader_rating(r, d->present[RATING] ? &d->field[RATING] : NULL, &value, &has_value))
        return GCG_OK;
    return gcg_reader_point(r, &d->field[USER], &d->field[ITEM], value, has_value);
}

/* A dense table (Jester: one row per user, one column per item) read as triples would give nonsense. Refused
 * when the columns are the default ones and the first lines have many numbers and items that are no whole
 * numbers. */
static gcg_status refuse_dense(delimited *d)
{
    enum { MANY = 6, LINES = 20 };
    gcg_reader *r = d->r;
    const char *at, *start = r->line.text, *end;
    gcg_field f;
    double value;
    int64_t columns = 0;
    int whole = 1;
    if (r->options->columns) return GCG_OK;
    end = start + r->line.length;
    for (at = start; gcg_field_next(d->separator, &at, end, &f) == GCG_FIELD_OK; columns++) {
        if (gcg_number_parse(f.text, f.length, &value) != GCG_NUMBER_OK) return GCG_OK;
        if (columns == ITEM) whole = memchr(f.text, '.', (size_t)f.length) == NULL;
    }
    if (columns < MANY || whole) return GCG_OK;
    return gcg_reader_fatal(
        r, GCG_ERR_DATA, r->line.number, 1,
        "%lld numbers on a line: a dense table? Ratings must be triples, one user, item and rating a "
        "line (if these are, say which columns with --columns)",
        (long long)columns);
}

gcg_status gcg_read_delimited(gcg_reader *r)
{
    delimited d = {.r = r, .separator = gcg_format_find(r->format)->separator};
    d.check_rest = d.separator.byte == ',' || d.separator.byte == ';' || d.separator.byte == '|';
    int found, is_header = 0;
    gcg_status status = gcg_reader_line(r, &found);
    if (status == GCG_OK && found) {
        status = first_line(&d, &is_header);
        if (status == GCG_OK) gcg_reader_begin(r, is_header);
        if (status == GCG_OK && !is_header) status = refuse_dense(&d);
        if (status == GCG_OK && !is_header) status = read_point(&d);
    }
    while (status == GCG_OK && found) {
        status = gcg_reader_line(r, &found);
        if (status == GCG_OK && found) status = read_point(&d);
    }
    gcg_mem_free(d.scratch);
    return status;
}
