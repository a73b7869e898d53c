/* The Netflix Prize's blocks: a line "movie:", then lines "user,rating[,date]" of that movie.
 *
 * Lines with the user alone (probe.txt) or with user and date (qualifying.txt) are pairs without a rating. */
#include "io/formats.h"

static const gcg_separator COMMA = {',', 1};

typedef struct {
    gcg_reader *r;
    char movie_text[GCG_ID_TEXT]; /* the line that held it is gone by the time it is used */
    gcg_field movie;              /* length 0: none yet */
    int usable;                   /* its id was fine */
    int64_t ratings;              /* lines of this movie */
} netflix;

static void end_movie(netflix *n)
{
    if (n->movie.length > 0 && n->ratings == 0) n->r->report->empty_blocks++;
}

/* The current line without blanks around it. */
static gcg_field trimmed(const gcg_reader *r)
{
    const char *start = r->line.text, *end = start + r->line.length;
    while (start < end && (*start == ' ' || *start == '\t')) start++;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t')) end--;
    return (gcg_field){.start = start, .text = start, .length = end - start};
}

static void start_movie(netflix *n, gcg_field line)
{
    end_movie(n);
    line.length--; /* the colon */
    n->usable = gcg_reader_check_id(n->r, &line, "movie");
    n->ratings = 0;
    n->movie =
        (gcg_field){.start = n->movie_text, .text = n->movie_text, .length = n->usable ? line.length : 1};
    if (n->usable) memcpy(n->movie_text, line.text, (size_t)line.length);
}

static gcg_status read_user(netflix *n)
{
    gcg_reader *r = n->r;
    const char *at = r->line.text, *end = at + r->line.length;
    gcg_field user, rating;
    double value;
    int has_value;
    n->ratings++;
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
        !gcg_reader_rating(r, present ? &rating : NULL, &value, &has_value) || !n->usable)
        return GCG_OK;
    return gcg_reader_point(r, &user, &n->movie, value, has_value);
}

gcg_status gcg_read_netflix(gcg_reader *r)
{
    netflix n = {.r = r};
    int found;
    for (;;) {
        gcg_status status = gcg_reader_line(r, &found);
        if (status != GCG_OK) return status;
        if (!found) break;
        gcg_field line = trimmed(r);
        if (line.text[line.length - 1] == ':') {
            start_movie(&n, line);
        } else if (n.movie.length == 0) {
            return gcg_reader_fatal(
                r, GCG_ERR_DATA, r->line.number, 1,
                "a rating before any movie; the netflix format begins with a line \"movie:\"");
        } else {
            status = read_user(&n);
            if (status != GCG_OK) return status;
        }
    }
    end_movie(&n);
    return GCG_OK;
}
