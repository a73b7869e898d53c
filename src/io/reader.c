/* Shared parts of the readers: see reader.h. */
#include "io/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "io/formats.h"
#include "io/number.h"

static const double NEVER_AGAIN = 255; /* Yahoo! R1: "never play again", not a rating */
static const double R1_LARGEST = 100;  /* its largest rating */

static void tell(gcg_reader *r, gcg_status status, int64_t line, int64_t col, const char *text)
{
    if (r->errors++ == 0) gcg_fail(r->err, status, r->file, line, col, "%s", text);
    gcg_report(r->diag, GCG_ERROR, r->file, line, col, "%s", text);
}

void gcg_reader_error(gcg_reader *r, int64_t line, int64_t col, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell(r, GCG_ERR_DATA, line, col, text);
}

gcg_status gcg_reader_fatal(gcg_reader *r, gcg_status status, int64_t line, int64_t col, const char *format,
                            ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell(r, status, line, col, text);
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
    if (r->told == r->format && r->told_header == header) return;
    if (r->told == GCG_FORMAT_AUTO) {
        r->report->format = r->format;
        r->report->header = header;
    }
    r->told = r->format;
    r->told_header = header;
    const char *asked = r->options->format == GCG_FORMAT_AUTO ? "" : " (asked for)";
    const char *first = gcg_format_find(r->format)->separator.byte == 0 ? ""
                        : header                                        ? ", with a header line"
                                                                        : ", without a header line";
    gcg_report(r->diag, GCG_NOTE, r->file, 0, 0, "read as %s%s%s", gcg_format_name(r->format), asked, first);
}

/* Every so many lines. */
static gcg_status tell_progress(const gcg_reader *r)
{
    enum { EVERY = 1 << 16 };
    const gcg_read_options *o = r->options;
    if (!o->progress || r->report->lines % EVERY != 0) return GCG_OK;
    if (!o->progress(r->stored + gcg_input_stored(r->in), r->stored_total, o->progress_user)) return GCG_OK;
    return gcg_fail(r->err, GCG_ERR_IO, r->file, 0, 0, "interrupted while reading");
}

gcg_status gcg_reader_any_line(gcg_reader *r, int *found)
{
    gcg_err why;
    if (tell_progress(r) != GCG_OK) return GCG_ERR_IO;
    gcg_status status = gcg_input_line(r->in, &r->line, found, &why);
    if (status == GCG_ERR_NOMEM) return gcg_fail(r->err, status, NULL, 0, 0, "%s", why.text);
    if (status != GCG_OK) return gcg_reader_fatal(r, status, 0, 0, "%s", why.text);
    if (!*found) return GCG_OK;
    r->report->lines++;
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
            r->report->comment++;
        else if (is_blank_line(&r->line))
            r->report->blank++;
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

/* Applies the value maps: 0 when the rating is dropped. */
static int map_value(gcg_reader *r, double *value)
{
    const gcg_read_options *o = r->options;
    for (int k = 0; k < o->value_map_count; k++) {
        if (o->value_maps[k].from != *value) continue;
        if (o->value_maps[k].drop) {
            r->report->dropped++;
            return 0;
        }
        r->report->mapped++;
        *value = o->value_maps[k].to;
        return 1;
    }
    if (*value == NEVER_AGAIN && r->format == GCG_FORMAT_YAHOO_R1) {
        r->report->mapped++;
        *value = 0;
    } else if (*value > R1_LARGEST) {
        if (*value == NEVER_AGAIN)
            r->never_again++;
        else
            r->above_100++;
    }
    return 1;
}

gcg_status gcg_reader_point(gcg_reader *r, const gcg_field *user, const gcg_field *item, double value,
                            int has_value)
{
    if (r->errors > 0 || (has_value && !map_value(r, &value))) return GCG_OK;
    r->report->points++;
    gcg_point point = {.user = user->text,
                       .item = item->text,
                       .user_length = (size_t)user->length,
                       .item_length = (size_t)item->length,
                       .value = value,
                       .has_value = has_value,
                       .file = r->file,
                       .line = r->line.number};
    return r->sink->point(&point, r->sink->user, r->err);
}
