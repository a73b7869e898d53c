/* The Netflix Prize's blocks: a line "movie:", then lines "user,rating[,date]" of that movie.
 *
 * Lines with the user alone (probe.txt) or with user and date (qualifying.txt) are pairs without a rating. */
#define _GNU_SOURCE /* memrchr */
#include "io/formats.h"
#include "io/swift.h"

static const gcg_separator COMMA = {',', 1};

static void end_movie(gcg_reader *r)
{
    if (r->carry.id_length > 0 && r->carry.found == 0) r->tally.empty_blocks++;
}

/* A line without blanks around it. */
static gcg_field trimmed(const char *start, const char *end)
{
    while (start < end && (*start == ' ' || *start == '\t')) start++;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t')) end--;
    return (gcg_field){.start = start, .text = start, .length = end - start};
}

static void start_movie(gcg_reader *r, gcg_field line)
{
    end_movie(r);
    line.length--; /* the colon */
    gcg_reader_set_block(r, &line, gcg_reader_check_id(r, &line, "movie"));
    r->carry.found = 0;
}

static gcg_status read_user(gcg_reader *r)
{
    const char *at = r->line.text, *end = at + r->line.length;
    gcg_field user, rating, movie = gcg_reader_block(r);
    double value;
    int has_value;
    r->carry.found = 1;
    gcg_field_result result = gcg_field_next(COMMA, &at, end, &user);
    if (result != GCG_FIELD_OK) {
        gcg_reader_quote_error(r, result, &user);
        return GCG_OK;
    }
    result = gcg_field_next(COMMA, &at, end, &rating);
    int present = result == GCG_FIELD_OK;
    /* qualifying.txt: "user,2005-12-19" */
    if (present && r->options->pairs && gcg_reader_is_date(rating.text, rating.length)) present = 0;
    if (!gcg_reader_check_id(r, &user, "user") ||
        !gcg_reader_rating(r, present ? &rating : NULL, &value, &has_value) || !r->carry.usable)
        return GCG_OK;
    return gcg_reader_point(r, &user, &movie, value, has_value);
}

/* A line of a short plain user and rating at p: the next line, or NULL when it needs to be read the long way.
 */
static const char *swift_user(const char *p, gcg_field *user, uint64_t *number, double *value)
{
    user->start = user->text = p;
    p = gcg_swift_integer(p, number);
    if (!p || *p != ',') return NULL;
    user->length = p - user->text;
    p = gcg_swift_decimal(p + 1, value);
    if (!p) return NULL;
    const char *next = gcg_swift_line_end(p);
    if (next) return next;
    next = *p == ',' ? gcg_swift_skip(p + 1, 0) : NULL;
    if (!next) return NULL;
    p = next[-2] == '\r' ? next - 3 : next - 2; /* last byte of the line: a colon would make it a movie's */
    return *p == ':' || *p == ' ' || *p == '\t' ? NULL : next;
}

/* Reads lines of a movie as long as they are of the usual kind. */
static gcg_status swift_users(gcg_reader *r)
{
    gcg_field user;
    uint64_t number;
    double value;
    gcg_status status = GCG_OK;
    while (r->at < r->end && status == GCG_OK) {
        const char *next = swift_user(r->at, &user, &number, &value);
        if (!next) break;
        r->line.text = r->at;
        r->at = next;
        r->line.number = ++r->carry.line;
        r->tally.lines++;
        r->carry.found = 1;
        status = gcg_reader_block_point(r, 0, &user, number, value);
    }
    return status;
}

gcg_status gcg_netflix_lines(gcg_reader *r)
{
    int found, swift = gcg_reader_may_be_swift(r);
    for (;;) {
        gcg_status status = r->status;
        if (status == GCG_OK && swift && r->carry.usable) status = swift_users(r);
        if (status == GCG_OK) status = gcg_reader_line(r, &found);
        if (status != GCG_OK || !found) return status;
        gcg_field line = trimmed(r->line.text, r->line.text + r->line.length);
        if (line.text[line.length - 1] == ':')
            start_movie(r, line);
        else if (r->carry.id_length == 0)
            return gcg_reader_fatal(
                r, GCG_ERR_DATA, r->line.number, 1,
                "a rating before any movie; the netflix format begins with a line \"movie:\"");
        else
            status = read_user(r);
        if (status != GCG_OK) return status;
    }
}

void gcg_netflix_end(gcg_reader *r)
{
    end_movie(r);
}

const char *gcg_netflix_last_block(const char *text, const char *end)
{
    for (const char *colon = end; (colon = memrchr(text, ':', (size_t)(colon - text))) != NULL;) {
        const char *p = colon + 1, *lf;
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
        if (p < end && *p != '\n') continue;
        lf = memrchr(text, '\n', (size_t)(colon - text));
        return lf ? lf + 1 : text;
    }
    return NULL;
}

void gcg_netflix_skip(gcg_carry *c, int64_t lines)
{
    if (lines > 0) c->found = 1;
}
