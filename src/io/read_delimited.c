/* Triples a line, separated by one separator: csv, tsv, semicolon, pipe, movielens (::), space, yahoo-r1.
 *
 * Which columns hold user, item and rating is --columns, by number or by the names of a header line. */
#include <math.h>
#include <string.h>
#include "io/formats.h"
#include "io/number.h"
#include "io/swift.h"

enum { USER, ITEM, RATING, WEIGHT, PARTS = GCG_PARTS };

typedef struct {
    gcg_reader *r;
    const gcg_layout *l;
    gcg_field field[PARTS];
    int present[PARTS];
    int64_t fields; /* fields seen on the line, at most last + 1 */
} delimited;

static gcg_status unescape_fields(delimited *d)
{
    gcg_status status = GCG_OK;
    for (int k = 0; k < PARTS && status == GCG_OK; k++)
        if (d->present[k] && d->field[k].escaped) status = gcg_reader_unescape(d->r, &d->field[k]);
    return status;
}

/* Cuts the current line; *good = 0 when a quote is wrong (reported). */
static gcg_status split(delimited *d, int *good)
{
    const char *at = d->r->line.text, *end = at + d->r->line.length;
    gcg_field f;
    gcg_field_result result = GCG_FIELD_OK;
    int escaped = 0;
    memset(d->present, 0, sizeof d->present);
    for (d->fields = 0; d->fields <= d->l->last; d->fields++) {
        result = gcg_field_next(d->l->separator, &at, end, &f);
        if (result != GCG_FIELD_OK) break;
        for (int k = 0; k < PARTS; k++)
            if (d->fields == d->l->column[k]) {
                d->field[k] = f;
                d->present[k] = 1;
                escaped |= f.escaped;
            }
    }
    if (d->r->line.has_quote && d->l->check_rest)
        while (result == GCG_FIELD_OK) result = gcg_field_next(d->l->separator, &at, end, &f);
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

/* A letter or _. Letters of other alphabets begin with 0xc3 or above in UTF-8; what begins with 0xe2 are
 * dashes, the minus sign, stars and the like, and 0xef 0xbc is followed by wide digits and signs: a rating is
 * meant. */
static int starts_like_a_name(const gcg_field *f)
{
    const unsigned char *text = (const unsigned char *)f->text;
    if (f->length == 0) return 0;
    if (text[0] < 0x80) return gcg_is_letter(*f->text) || *f->text == '_';
    return text[0] >= 0xc3 && text[0] != 0xe2 && !(f->length > 1 && text[0] == 0xef && text[1] == 0xbc);
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

static gcg_status same_name(delimited *d, gcg_field *f, const gcg_column *c, int *same)
{
    gcg_status status = f->escaped ? gcg_reader_unescape(d->r, f) : GCG_OK;
    *same = status == GCG_OK && f->length == c->length && memcmp(f->text, c->text, (size_t)c->length) == 0;
    return status;
}

/* Finds the columns that --columns and --weights name in the header, the current line. */
static gcg_status resolve_names(delimited *d, const gcg_column *part)
{
    gcg_reader *r = d->r;
    for (int k = 0; k < PARTS; k++) {
        if (part[k].length == 0) continue;
        const char *at = r->line.text;
        gcg_field f;
        int64_t n = 0, hit = -1;
        while (part[k].number == 0 && hit < 0 &&
               gcg_field_next(d->l->separator, &at, r->line.text + r->line.length, &f) == GCG_FIELD_OK) {
            int same;
            gcg_status status = same_name(d, &f, &part[k], &same);
            if (status != GCG_OK) return status;
            if (same) hit = n;
            n++;
        }
        char shown[256], header[256];
        if (part[k].number > 0)
            r->layout->column[k] = part[k].number - 1;
        else if (hit >= 0)
            r->layout->column[k] = hit;
        else
            return gcg_reader_fatal(
                r, GCG_ERR_DATA, r->line.number, 1, "%s: the header line '%s' has no column named '%s'",
                k == WEIGHT ? "--weights" : "--columns", gcg_quote(header, r->line.text, r->line.length),
                gcg_quote(shown, part[k].text, part[k].length));
    }
    return GCG_OK;
}

static void find_last(gcg_layout *l)
{
    l->last = 0;
    for (int k = 0; k < PARTS; k++)
        if (l->column[k] > l->last) l->last = l->column[k];
}

/* Sets the columns; *named = 1 when the first line, a header, is needed for it. */
static void set_columns(gcg_layout *l, const gcg_read_options *o, gcg_column part[PARTS], int *named)
{
    for (int k = 0; k < PARTS; k++) part[k] = (gcg_column){0};
    int parts = o->columns ? gcg_columns_parse(o->columns, part) : 0;
    if (o->weights) gcg_column_parse(o->weights, (int64_t)strlen(o->weights), &part[WEIGHT]);
    *named = 0;
    for (int k = 0; k < PARTS; k++) {
        l->column[k] = part[k].length > 0 ? part[k].number - 1 : parts == 0 && k != WEIGHT ? k : -1;
        *named |= part[k].length > 0 && part[k].number == 0;
    }
    if (o->implicit || o->no_ratings) l->column[RATING] = -1;
    find_last(l);
}

/* Deals with the first line, which was read: *is_header = 1 when it holds no point. */
static gcg_status first_line(delimited *d, int *is_header)
{
    gcg_reader *r = d->r;
    const gcg_read_options *o = r->options;
    gcg_column part[PARTS];
    int named, good = 1;
    gcg_status status = GCG_OK;
    set_columns(r->layout, o, part, &named);
    *is_header = named || o->header == GCG_HEADER_YES;
    if (named) {
        status = resolve_names(d, part);
        if (o->implicit || o->no_ratings) r->layout->column[RATING] = -1;
        find_last(r->layout);
    } else if (o->header == GCG_HEADER_AUTO) {
        const char *at = r->line.text, *end = at + r->line.length;
        gcg_field f;
        while (gcg_field_next(d->l->separator, &at, end, &f) == GCG_FIELD_OK) continue;
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
        !gcg_reader_rating(r, d->present[RATING] ? &d->field[RATING] : NULL, &value, &has_value) ||
        (d->l->column[WEIGHT] >= 0 && !gcg_reader_weight(r, d->present[WEIGHT] ? &d->field[WEIGHT] : NULL)))
        return GCG_OK;
    return gcg_reader_point(r, &d->field[USER], &d->field[ITEM], value, has_value);
}

/* A dense table (Jester: one row per user, one column per item) read as triples would give nonsense. Refused
 * when the columns are the default ones and the first line has many numbers and an item that is no whole
 * number. */
static gcg_status refuse_dense(delimited *d)
{
    enum { MANY = 6 };
    gcg_reader *r = d->r;
    const char *at, *start = r->line.text, *end;
    gcg_field f;
    double value;
    int64_t columns = 0;
    int whole = 1;
    if (r->options->columns) return GCG_OK;
    end = start + r->line.length;
    for (at = start; gcg_field_next(d->l->separator, &at, end, &f) == GCG_FIELD_OK; columns++) {
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

gcg_status gcg_delimited_begin(gcg_reader *r)
{
    gcg_layout *l = r->layout;
    delimited d = {.r = r, .l = l};
    int found, is_header = 0;
    l->separator = gcg_format_find(l->format)->separator;
    l->check_rest = l->separator.byte == ',' || l->separator.byte == ';' || l->separator.byte == '|';
    gcg_status status = gcg_reader_line(r, &found);
    if (status != GCG_OK || !found) return status;
    status = first_line(&d, &is_header);
    if (status != GCG_OK) return status;
    gcg_reader_begin(r, is_header);
    l->begun = 1;
    if (is_header) return GCG_OK;
    status = refuse_dense(&d);
    return status == GCG_OK ? read_point(&d) : status;
}

/* The separator at p: returns the byte behind it, or NULL. */
static inline const char *swift_separator(gcg_separator s, const char *p)
{
    if (s.byte == ' ') return *p == ' ' || *p == '\t' ? p + 1 : NULL;
    return *p == s.byte && (s.width == 1 || p[1] == s.byte) ? p + s.width : NULL;
}

/* A line of two or three short plain fields. */
typedef struct {
    const char *user, *user_end, *item, *item_end;
    uint64_t user_number, item_number;
    double value;
    int has_value;
} swift_line;

/* The fields at p, then the rest of the line: returns the next line, or NULL when this one needs to be read
 * the long way. */
static inline const char *swift_fields(const gcg_reader *r, gcg_separator s, const char *p, swift_line *f)
{
    const gcg_layout *l = r->layout;
    f->user = p;
    f->user_end = p = gcg_swift_integer(p, &f->user_number);
    if (!p || !(p = swift_separator(s, p))) return NULL;
    f->item = p;
    f->item_end = p = gcg_swift_integer(p, &f->item_number);
    if (!p) return NULL;
    f->value = r->options->implicit ? 1 : NAN;
    f->has_value = r->options->implicit;
    if (l->column[RATING] >= 0) {
        const char *next = r->options->pairs ? gcg_swift_line_end(p) : NULL;
        if (next) return next;
        if (!(p = swift_separator(s, p)) || !(p = gcg_swift_decimal(p, &f->value))) return NULL;
        f->has_value = 1;
    }
    const char *next = gcg_swift_line_end(p);
    if (next) return next;
    p = swift_separator(s, p);
    return p ? gcg_swift_skip(p, l->check_rest) : NULL;
}

static gcg_status swift_record(gcg_reader *r, const swift_line *f)
{
    r->found.record[r->found.n++] = (gcg_point){.user = f->user,
                                                .item = f->item,
                                                .user_length = (size_t)(f->user_end - f->user),
                                                .item_length = (size_t)(f->item_end - f->item),
                                                .value = f->value,
                                                .weight = 1,
                                                .has_value = f->has_value,
                                                .file = r->file,
                                                .line = r->carry.line,
                                                .user_col = 1,
                                                .item_col = f->item - f->user + 1};
    return GCG_OK;
}

static inline gcg_status swift_point(gcg_reader *r, const swift_line *f)
{
    gcg_found *found = &r->found;
    int32_t user, item;
    if (found->records) return swift_record(r, f);
    gcg_status status = gcg_found_integer(&found->user, f->user_number, f->user,
                                          (size_t)(f->user_end - f->user), &user, &r->err);
    if (status == GCG_OK)
        status = gcg_found_integer(&found->item, f->item_number, f->item, (size_t)(f->item_end - f->item),
                                   &item, &r->err);
    if (status == GCG_OK) status = gcg_found_put(found, user, item, f->value, r->carry.line, &r->err);
    return status;
}

/* Reads lines as long as they are of the usual kind. */
static inline gcg_status swift_lines(gcg_reader *r, gcg_separator s)
{
    gcg_status status = GCG_OK;
    int64_t before = r->carry.line, dropped = 0;
    while (r->at < r->end && status == GCG_OK) {
        swift_line f;
        const char *next = swift_fields(r, s, r->at, &f);
        if (!next) break;
        r->at = next;
        r->carry.line++;
        if (f.has_value && (r->options->value_map_count > 0 || gcg_reader_is_watched(f.value)) &&
            !gcg_reader_map_value(r, &f.value))
            dropped++;
        else
            status = swift_point(r, &f);
    }
    r->tally.lines += r->carry.line - before;
    r->tally.points += r->carry.line - before - dropped;
    return r->status = status;
}

/* The columns are the first ones. */
static int is_usual(const gcg_layout *l)
{
    return l->column[USER] == 0 && l->column[ITEM] == 1 &&
           (l->column[RATING] == 2 || l->column[RATING] < 0) && l->column[WEIGHT] < 0;
}

gcg_status gcg_delimited_lines(gcg_reader *r)
{
    static const gcg_separator blanks = {' ', 1}, colons = {':', 2};
    const gcg_layout *l = r->layout;
    delimited d = {.r = r, .l = l};
    int found = 1, swift = gcg_swift_works && !r->options->long_way && is_usual(l);
    gcg_status status = r->status;
    while (status == GCG_OK && found) {
        if (swift && r->errors == 0) { /* compiled once for each kind of separator */
            if (l->separator.byte == ' ')
                status = swift_lines(r, blanks);
            else if (l->separator.width == 2)
                status = swift_lines(r, colons);
            else
                status = swift_lines(r, (gcg_separator){l->separator.byte, 1});
        }
        if (status == GCG_OK) status = gcg_reader_line(r, &found);
        if (status == GCG_OK && found) status = read_point(&d);
    }
    return status;
}
