/* Shared parts of the readers: see reader.h. */
#include "io/reader.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "io/formats.h"
#include "io/number.h"
#include "io/swift.h"

static const double NEVER_AGAIN = 255; /* Yahoo! R1: "never play again", not a rating */

struct gcg_scrap {
    gcg_scrap *next;
    char text[];
};

static void release_scrap(gcg_reader *r)
{
    while (r->scrap) {
        gcg_scrap *next = r->scrap->next;
        gcg_mem_free(r->scrap);
        r->scrap = next;
    }
}

void gcg_reader_init(gcg_reader *r, const gcg_read_options *options, const gcg_idmap *users,
                     const gcg_idmap *items, gcg_layout *layout)
{
    *r = (gcg_reader){.options = options, .layout = layout, .weight = 1};
    gcg_found_init(&r->found, users, items, options->duplicates == GCG_DUP_ERROR, options->weights != NULL);
}

void gcg_reader_release(gcg_reader *r)
{
    gcg_found_release(&r->found);
    release_scrap(r);
}

void gcg_carry_copy(gcg_carry *to, const gcg_carry *from)
{
    memcpy(to, from, offsetof(gcg_carry, id));
    memcpy(to->id, from->id, (size_t)from->id_length);
}

int gcg_carry_equal(const gcg_carry *a, const gcg_carry *b)
{
    return a->line == b->line && a->found == b->found && a->promised == b->promised &&
           a->overfull == b->overfull && a->usable == b->usable && a->block_line == b->block_line &&
           a->block_col == b->block_col && a->id_length == b->id_length &&
           memcmp(a->id, b->id, (size_t)a->id_length) == 0;
}

void gcg_reader_start(gcg_reader *r, const gcg_carry *carry, const char *text, int64_t length,
                      gcg_text_scan scan)
{
    r->at = text;
    r->end = text + length;
    r->scan = scan;
    if (carry != &r->carry) gcg_carry_copy(&r->carry, carry);
    memcpy(r->first_block, r->carry.id, (size_t)r->carry.id_length);
    r->block = r->first_block;
    r->has_block_code = 0;
    r->tally = (gcg_tally){0};
    r->messages = 0;
    r->errors = 0;
    r->status = GCG_OK;
    release_scrap(r);
    int64_t most = scan.lines + 1; /* the last line may have no LF */
    r->status = gcg_found_start(&r->found, r->layout->symmetric ? 2 * most : most, &r->err);
}

static void keep_message(gcg_reader *r, gcg_severity severity, int64_t line, int64_t col, const char *text)
{
    if (r->messages == GCG_READER_MESSAGES) return;
    gcg_message *m = &r->message[r->messages++];
    m->severity = severity;
    m->line = line;
    m->col = col;
    snprintf(m->text, sizeof m->text, "%s", text);
}

void gcg_reader_error(gcg_reader *r, int64_t line, int64_t col, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->errors++;
    keep_message(r, GCG_ERROR, line, col, text);
}

gcg_status gcg_reader_fatal(gcg_reader *r, gcg_status status, int64_t line, int64_t col, const char *format,
                            ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->errors++;
    keep_message(r, GCG_ERROR, line, col, text);
    r->status = status;
    return status;
}

int64_t gcg_reader_col(const gcg_reader *r, const char *place)
{
    return place - r->line.text + 1;
}

void gcg_reader_quote_error(gcg_reader *r, gcg_field_result result, const gcg_field *f)
{
    gcg_reader_error(r, r->line.number, gcg_reader_col(r, f->start), "%s",
                     result == GCG_FIELD_OPEN_QUOTE ? "the quoted field is not closed on its line"
                                                    : "text follows the closing quote of this field");
}

static int is_blank_line(const gcg_line *line)
{
    for (int64_t i = 0; i < line->length; i++)
        if (line->text[i] != ' ' && line->text[i] != '\t') return 0;
    return 1;
}

void gcg_reader_begin(gcg_reader *r, int header)
{
    gcg_layout *l = r->layout;
    char text[64];
    l->header = header;
    l->noted = 1;
    if (l->told == l->format && l->told_header == header) return;
    l->told = l->format;
    l->told_header = header;
    const char *asked = r->options->format == l->format ? " (asked for)" : "";
    const char *first = gcg_format_find(l->format)->separator.byte == 0 ? ""
                        : header                                        ? ", with a header line"
                                                                        : ", without a header line";
    snprintf(text, sizeof text, "read as %s%s%s", gcg_format_name(l->format), asked, first);
    keep_message(r, GCG_NOTE, 0, 0, text);
}

/* First place of a byte in the line, or its end. */
static const char *find_in_line(const char *text, const char *end, char byte)
{
    const char *at = memchr(text, byte, (size_t)(end - text));
    return at ? at : end;
}

/* Cuts the next line off the piece; 0 at its end. */
static int next_line(gcg_reader *r)
{
    if (r->at == r->end) return 0;
    const char *text = r->at, *lf = memchr(text, '\n', (size_t)(r->end - text)), *end = lf ? lf : r->end;
    r->at = lf ? lf + 1 : r->end;
    if (lf && end > text && end[-1] == '\r') end--;
    r->line = (gcg_line){.text = text, .length = end - text, .number = ++r->carry.line};
    if (r->scan.quote) r->line.has_quote = find_in_line(text, end, '"') < end;
    const char *cr = r->scan.cr ? find_in_line(text, end, '\r') : end;
    const char *nul = r->scan.nul ? find_in_line(text, end, '\0') : end;
    const char *bad = cr < nul ? cr : nul;
    if (bad < end) {
        r->line.bad = *bad;
        r->line.bad_col = bad - text + 1;
    }
    return 1;
}

gcg_status gcg_reader_any_line(gcg_reader *r, int *found)
{
    *found = next_line(r);
    if (!*found) return GCG_OK;
    r->tally.lines++;
    if (r->line.bad_col && r->line.bad == '\0')
        return gcg_reader_fatal(r, GCG_ERR_DATA, r->line.number, r->line.bad_col,
                                "a NUL byte: this is not a text file");
    if (r->line.bad_col)
        gcg_reader_error(r, r->line.number, r->line.bad_col,
                         "a carriage return inside the line; lines must end in LF or CRLF");
    return GCG_OK;
}

gcg_status gcg_reader_line(gcg_reader *r, int *found)
{
    for (;;) {
        gcg_status status = gcg_reader_any_line(r, found);
        if (status != GCG_OK || !*found) return status;
        if (r->line.bad_col) continue;
        if (r->line.length > 0 && (r->line.text[0] == '#' || r->line.text[0] == '%'))
            r->tally.comment++;
        else if (is_blank_line(&r->line))
            r->tally.blank++;
        else
            return GCG_OK;
    }
}

int gcg_reader_check_id(gcg_reader *r, const gcg_field *f, const char *what)
{
    char shown[256];
    int64_t col = gcg_reader_col(r, f->start), number = r->line.number;
    if (f->length == 0) {
        gcg_reader_error(r, number, col, "the %s id is empty", what);
        return 0;
    }
    if (f->length > GCG_ID_MAX) {
        gcg_reader_error(r, number, col, "the %s id '%s' has %lld bytes; %d is the limit", what,
                         gcg_quote(shown, f->text, f->length), (long long)f->length, GCG_ID_MAX);
        return 0;
    }
    for (int64_t i = 0; i < f->length; i++) {
        unsigned char c = (unsigned char)f->text[i];
        if (c >= 0x20 && c != 0x7f) continue;
        gcg_reader_error(r, number, col, "the %s id '%s' has a control character", what,
                         gcg_quote(shown, f->text, f->length));
        return 0;
    }
    return 1;
}

int gcg_reader_is_date(const char *text, int64_t length)
{
    int64_t digits = 0, cuts = 0;
    char cut = '\0';
    if (length < 6 || length > 11 || !gcg_is_digit(text[0])) return 0;
    for (int64_t i = 0; i < length; i++) {
        char c = text[i];
        if (gcg_is_digit(c)) {
            digits++;
        } else if (c == '-' || c == '/' || c == '.') {
            if (cut && c != cut) return 0;
            cut = c;
            cuts++;
        } else if (!gcg_is_letter(c)) {
            return 0;
        }
    }
    return cuts == 2 && digits >= 4;
}

int gcg_reader_is_missing(const char *text, int64_t length)
{
    static const char *const word[] = {"nan", "inf", "infinity", "na", "n/a", "null", "none"};
    if (length > 0 && (*text == '-' || *text == '+')) text++, length--;
    for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
        int64_t i = 0;
        while (i < length && word[k][i] && gcg_lower(text[i]) == word[k][i]) i++;
        if (i == length && !word[k][i]) return 1;
    }
    return 0;
}

static int has_decimal_comma(const char *text, int64_t length)
{
    const char *comma = memchr(text, ',', (size_t)length);
    return comma && comma + 1 < text + length && gcg_is_digit(comma[1]);
}

/* Reports what is wrong with a rating that gcg_number_parse refused. */
static void bad_rating(gcg_reader *r, const gcg_field *f, gcg_number_result result)
{
    char shown[256];
    const char *why = "is not a number", *hint = "";
    gcg_quote(shown, f->text, f->length);
    if (result == GCG_NUMBER_EMPTY) {
        gcg_reader_error(r, r->line.number, gcg_reader_col(r, f->start), "the rating is empty");
        return;
    }
    if (result == GCG_NUMBER_RANGE)
        why = "is larger than 1e100";
    else if (gcg_reader_is_missing(f->text, f->length))
        why = "is not a finite number";
    else if (has_decimal_comma(f->text, f->length))
        hint = ": a decimal comma? Ratings take a decimal point";
    else if (gcg_reader_is_date(f->text, f->length))
        hint = ": it looks like a date; --columns says which column holds the rating";
    gcg_reader_error(r, r->line.number, gcg_reader_col(r, f->start), "rating '%s' %s%s", shown, why, hint);
}

int gcg_reader_rating(gcg_reader *r, const gcg_field *f, double *value, int *has_value)
{
    *has_value = 0;
    *value = NAN;
    if (r->options->implicit) {
        *value = 1;
        *has_value = 1;
        return 1;
    }
    if (r->options->no_ratings) return 1;
    if (r->options->pairs && (!f || f->length == 0)) return 1;
    if (!f) {
        gcg_reader_error(r, r->line.number, r->line.length + 1,
                         "no rating on this line; if each pair counts as a rating of 1, use --implicit");
        return 0;
    }
    gcg_number_result result = gcg_number_parse(f->text, f->length, value);
    *has_value = result == GCG_NUMBER_OK;
    if (!*has_value) bad_rating(r, f, result);
    return *has_value;
}

int gcg_reader_weight(gcg_reader *r, const gcg_field *f)
{
    char shown[256];
    double value;
    int64_t line = r->line.number;
    if (!f) {
        gcg_reader_error(r, line, r->line.length + 1, "no weight on this line (--weights %s)",
                         gcg_quote(shown, r->options->weights, (int64_t)strlen(r->options->weights)));
        return 0;
    }
    gcg_number_result result = gcg_number_parse(f->text, f->length, &value);
    int64_t col = gcg_reader_col(r, f->start);
    gcg_quote(shown, f->text, f->length);
    if (result == GCG_NUMBER_EMPTY)
        gcg_reader_error(r, line, col, "the weight is empty");
    else if (result != GCG_NUMBER_OK && gcg_reader_is_missing(f->text, f->length))
        gcg_reader_error(r, line, col, "weight '%s' is not a finite number", shown);
    else if (result != GCG_NUMBER_OK && result != GCG_NUMBER_RANGE)
        gcg_reader_error(r, line, col, "weight '%s' is not a number", shown);
    else if (result == GCG_NUMBER_OK && value <= 0)
        gcg_reader_error(r, line, col,
                         "weight '%s' is not above 0; leave the line out for a rating without weight", shown);
    else if (result != GCG_NUMBER_OK || value < (double)FLT_MIN || value > (double)FLT_MAX)
        gcg_reader_error(r, line, col, "weight '%s' is out of range: weights go from 1.2e-38 to 3.4e38",
                         shown);
    else {
        r->weight = (float)value;
        return 1;
    }
    return 0;
}

gcg_status gcg_reader_unescape(gcg_reader *r, gcg_field *f)
{
    gcg_scrap *scrap = gcg_mem_alloc_array((int64_t)sizeof *scrap + f->length, 1);
    if (!scrap) return r->status = gcg_fail_memory(&r->err, "line buffer");
    scrap->next = r->scrap;
    r->scrap = scrap;
    f->length = gcg_field_unescape(f, scrap->text);
    f->text = scrap->text;
    f->escaped = 0;
    return GCG_OK;
}

int gcg_reader_map_value(gcg_reader *r, double *value)
{
    const gcg_read_options *o = r->options;
    for (int k = 0; k < o->value_map_count; k++) {
        if (o->value_maps[k].from != *value) continue;
        if (o->value_maps[k].drop) {
            r->tally.dropped++;
            return 0;
        }
        r->tally.mapped++;
        *value = o->value_maps[k].to;
        return 1;
    }
    if (*value == NEVER_AGAIN && r->layout->format == GCG_FORMAT_YAHOO_R1) {
        r->tally.mapped++;
        *value = 0;
    } else if (!gcg_reader_is_watched(*value)) {
        return 1;
    } else if (*value == NEVER_AGAIN) {
        r->tally.never_again++;
    } else {
        r->tally.above_100++;
    }
    return 1;
}

int gcg_reader_may_be_swift(const gcg_reader *r)
{
    const gcg_read_options *o = r->options;
    return gcg_swift_works && !o->long_way && !o->implicit && !o->no_ratings && !o->weights;
}

/* The code of a field's id; that of the block's id is looked up once. */
static gcg_status code_of(gcg_reader *r, gcg_found_side *side, const gcg_field *f, int32_t *code)
{
    gcg_status status = GCG_OK;
    if (f->text != r->block) return gcg_found_code(side, f->text, (size_t)f->length, code, &r->err);
    if (!r->has_block_code)
        status = gcg_found_code(side, f->text, (size_t)f->length, &r->block_code, &r->err);
    r->has_block_code = status == GCG_OK;
    *code = r->block_code;
    return status;
}

/* Where f begins in the current line; 0 for the block's id and in a binary store. */
static int64_t col_of(const gcg_reader *r, const gcg_field *f)
{
    return r->line.text && f->text != r->block ? gcg_reader_col(r, f->start) : 0;
}

gcg_status gcg_reader_point(gcg_reader *r, const gcg_field *user, const gcg_field *item, double value,
                            int has_value)
{
    gcg_found *f = &r->found;
    int32_t u = 0, i = 0;
    if (r->errors > 0 || (has_value && !gcg_reader_map_value(r, &value))) return GCG_OK;
    r->tally.points++;
    if (f->records) {
        f->record[f->n++] = (gcg_point){.user = user->text,
                                        .item = item->text,
                                        .user_length = (size_t)user->length,
                                        .item_length = (size_t)item->length,
                                        .value = value,
                                        .weight = r->weight,
                                        .has_value = has_value,
                                        .file = r->file,
                                        .line = r->line.number,
                                        .user_col = col_of(r, user),
                                        .item_col = col_of(r, item)};
        return GCG_OK;
    }
    gcg_status status = code_of(r, &f->user, user, &u);
    if (status == GCG_OK) status = code_of(r, &f->item, item, &i);
    if (!has_value) value = 1; /* a store of pairs: the value does not matter, but is to be a float */
    if (f->weight) f->weight[f->n] = r->weight;
    if (status == GCG_OK) status = gcg_found_put(f, u, i, value, r->line.number, &r->err);
    return r->status = status;
}

gcg_status gcg_reader_block_point(gcg_reader *r, int block_is_user, const gcg_field *id, uint64_t number,
                                  double value)
{
    gcg_found *f = &r->found;
    gcg_field block = gcg_reader_block(r);
    int32_t own, other;
    if (f->records || r->errors > 0 || r->options->value_map_count > 0 || gcg_reader_is_watched(value))
        return gcg_reader_point(r, block_is_user ? &block : id, block_is_user ? id : &block, value, 1);
    r->tally.points++;
    gcg_found_side *side = block_is_user ? &f->item : &f->user;
    gcg_status status = gcg_found_integer(side, number, id->text, (size_t)id->length, &own, &r->err);
    if (status == GCG_OK) status = code_of(r, block_is_user ? &f->user : &f->item, &block, &other);
    if (status == GCG_OK)
        status = gcg_found_put(f, block_is_user ? other : own, block_is_user ? own : other, value,
                               r->line.number, &r->err);
    return r->status = status;
}

gcg_field gcg_reader_block(const gcg_reader *r)
{
    return (gcg_field){.start = r->block, .text = r->block, .length = r->carry.id_length};
}

void gcg_reader_set_block(gcg_reader *r, const gcg_field *id, int usable)
{
    r->carry.usable = usable;
    r->carry.id_length = usable ? id->length : 1;
    memcpy(r->carry.id, usable ? id->text : "?", (size_t)r->carry.id_length);
    r->block = usable ? id->text : "?";
    r->has_block_code = 0;
}
