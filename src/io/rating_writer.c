/* Text output of ratings: see rating_writer.h. The layouts are those of gcg-mc-data(5). */
#include "io/rating_writer.h"

#include <string.h>
#include "base/mem.h"
#include "io/number.h"

enum {
    BUFFER = 1 << 20, /* bytes: large writes are what makes a stream of short lines fast */
    LINE = 256,       /* no line that is made here is longer */
    DAY = 86400       /* seconds */
};

struct gcg_rating_writer {
    gcg_rating_layout layout;
    gcg_sink sink;
    int64_t one; /* 10^decimals */
    char *(*line)(char *p, const gcg_rating_writer *w, const gcg_rating *r);
    const char *separator;
    size_t used;
    char buffer[BUFFER];
};

static char *put_text(char *p, const char *text)
{
    size_t length = strlen(text);
    memcpy(p, text, length);
    return p + length;
}

/* n with at least width digits, zeros in front. */
static char *put_padded(char *p, uint64_t n, int width)
{
    for (int i = width; i-- > 0; n /= 10) p[i] = (char)('0' + n % 10);
    return p + width;
}

static char *put_value(char *p, const gcg_rating_writer *w, int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, one = (uint64_t)w->one;
    if (value < 0) *p++ = '-';
    if (w->layout.decimals == 0) return gcg_count_put(p, size);
    p = gcg_count_put(p, size / one);
    *p++ = '.';
    return put_padded(p, size % one, w->layout.decimals);
}

/* user SEPARATOR item SEPARATOR rating */
static char *plain_line(char *p, const gcg_rating_writer *w, const gcg_rating *r)
{
    p = put_text(gcg_count_put(p, (uint64_t)r->user), w->separator);
    p = put_text(gcg_count_put(p, (uint64_t)r->item), w->separator);
    return put_value(p, w, r->value);
}

static char *movielens_line(char *p, const gcg_rating_writer *w, const gcg_rating *r)
{
    p = put_text(plain_line(p, w, r), w->separator);
    return gcg_count_put(p, (uint64_t)r->time);
}

/* R1 writes 255 ("never play again") where it means the lowest rating, 0. */
static char *yahoo_r1_line(char *p, const gcg_rating_writer *w, const gcg_rating *r)
{
    gcg_rating shown = *r;
    if (shown.value == 0) shown.value = 255 * w->one;
    return plain_line(p, w, &shown);
}

/* The civil date of a day number (days since 1970-01-01), by counting in 400-year cycles that start in March.
 */
static char *put_date(char *p, int64_t days)
{
    uint64_t z = (uint64_t)days + 719468, era = z / 146097, day = z % 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    uint64_t day_of_year = day - (365 * year + year / 4 - year / 100);
    uint64_t march_month = (5 * day_of_year + 2) / 153,
             month = march_month < 10 ? march_month + 3 : march_month - 9;
    p = put_padded(p, year + era * 400 + (month <= 2), 4);
    *p++ = '-';
    p = put_padded(p, month, 2);
    *p++ = '-';
    return put_padded(p, day_of_year - (153 * march_month + 2) / 5 + 1, 2);
}

/* user,rating,YYYY-MM-DD below "movie:" */
static char *netflix_line(char *p, const gcg_rating_writer *w, const gcg_rating *r)
{
    p = gcg_count_put(p, (uint64_t)r->user);
    *p++ = ',';
    p = put_value(p, w, r->value);
    *p++ = ',';
    return put_date(p, r->time / DAY);
}

/* item TAB score TAB day TAB HH:MM:SS below "user|count" */
static char *kdd_line(char *p, const gcg_rating_writer *w, const gcg_rating *r)
{
    p = gcg_count_put(p, (uint64_t)r->item);
    *p++ = '\t';
    p = put_value(p, w, r->value);
    *p++ = '\t';
    p = gcg_count_put(p, (uint64_t)(r->time / DAY));
    *p++ = '\t';
    p = put_padded(p, (uint64_t)(r->time % DAY / 3600), 2);
    *p++ = ':';
    p = put_padded(p, (uint64_t)(r->time % 3600 / 60), 2);
    return put_text(p, ":00"); /* that set gives times to the minute */
}

static const struct {
    char *(*line)(char *p, const gcg_rating_writer *w, const gcg_rating *r);
    const char *separator;
} layouts[GCG_FORMAT_COUNT] = {
    [GCG_FORMAT_CSV] = {plain_line, ","},
    [GCG_FORMAT_TSV] = {plain_line, "\t"},
    [GCG_FORMAT_SEMICOLON] = {plain_line, ";"},
    [GCG_FORMAT_PIPE] = {plain_line, "|"},
    [GCG_FORMAT_MOVIELENS] = {movielens_line, "::"},
    [GCG_FORMAT_SPACE] = {plain_line, " "},
    [GCG_FORMAT_MTX] = {plain_line, " "},
    [GCG_FORMAT_NETFLIX] = {netflix_line, NULL},
    [GCG_FORMAT_KDD] = {kdd_line, NULL},
    [GCG_FORMAT_YAHOO_R1] = {yahoo_r1_line, "\t"},
};

static gcg_status flush(gcg_rating_writer *w, gcg_err *err)
{
    size_t length = w->used;
    w->used = 0;
    return length ? w->sink.write(w->sink.user, w->buffer, length, err) : GCG_OK;
}

/* Room for one more line at the returned place, or NULL with *status. */
static char *room(gcg_rating_writer *w, gcg_status *status, gcg_err *err)
{
    *status = w->used > BUFFER - LINE ? flush(w, err) : GCG_OK;
    return *status ? NULL : w->buffer + w->used;
}

static gcg_status end_line(gcg_rating_writer *w, char *end)
{
    *end++ = '\n';
    w->used = (size_t)(end - w->buffer);
    return GCG_OK;
}

static void put_header(gcg_rating_writer *w)
{
    char *p = w->buffer;
    if (w->layout.format == GCG_FORMAT_CSV) {
        end_line(w, put_text(p, "user,item,rating"));
    } else if (w->layout.format == GCG_FORMAT_MTX) {
        p = put_text(p, "%%MatrixMarket matrix coordinate ");
        p = put_text(p, w->layout.decimals ? "real general\n" : "integer general\n");
        *(p = gcg_count_put(p, (uint64_t)w->layout.users)) = ' ';
        *(p = gcg_count_put(p + 1, (uint64_t)w->layout.items)) = ' ';
        end_line(w, gcg_count_put(p + 1, (uint64_t)w->layout.ratings));
    }
}

gcg_status gcg_rating_writer_new(gcg_rating_writer **writer, const gcg_rating_layout *layout, gcg_sink sink,
                                 gcg_err *err)
{
    gcg_rating_writer *w = *writer = gcg_mem_alloc_array(1, sizeof *w);
    if (!w) return gcg_fail_memory(err, "output buffer");
    w->layout = *layout;
    w->sink = sink;
    w->one = 1;
    for (int i = 0; i < layout->decimals; i++) w->one *= 10;
    w->line = layouts[layout->format].line;
    w->separator = layouts[layout->format].separator;
    w->used = 0;
    put_header(w);
    return GCG_OK;
}

gcg_status gcg_rating_writer_block(gcg_rating_writer *writer, int64_t id, int64_t count, gcg_err *err)
{
    int movie = writer->layout.format == GCG_FORMAT_NETFLIX;
    if (count == 0 || (!movie && writer->layout.format != GCG_FORMAT_KDD)) return GCG_OK;
    gcg_status status;
    char *p = room(writer, &status, err);
    if (!p) return status;
    p = gcg_count_put(p, (uint64_t)id);
    *p++ = movie ? ':' : '|';
    return end_line(writer, movie ? p : gcg_count_put(p, (uint64_t)count));
}

gcg_status gcg_rating_writer_put(gcg_rating_writer *writer, const gcg_rating *rating, gcg_err *err)
{
    gcg_status status;
    char *p = room(writer, &status, err);
    return p ? end_line(writer, writer->line(p, writer, rating)) : status;
}

gcg_status gcg_rating_writer_finish(gcg_rating_writer *writer, gcg_err *err)
{
    return flush(writer, err);
}

void gcg_rating_writer_free(gcg_rating_writer *writer)
{
    gcg_mem_free(writer);
}
