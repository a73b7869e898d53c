/* KDD Cup 2011 (Yahoo! Music): a line "user|count", then count lines "item TAB score [TAB day TAB time]".
 *
 * In the contest's test files the score is missing: "item TAB day TAB time". Such lines are recognised by the
 * time in the third field; --no-ratings says that no line has a score. */
#include "io/formats.h"
#include "io/number.h"

static const gcg_separator TAB = {'\t', 1};

typedef struct {
    gcg_reader *r;
    char user_text[GCG_ID_TEXT];
    gcg_field user; /* length 0: none yet */
    int usable;     /* its id was fine */
    int64_t promised, found, overfull;
    int64_t line, col; /* where the promise stands */
} kdd;

static void end_user(kdd *k)
{
    if (k->user.length == 0) return;
    if (k->promised == 0) k->r->report->empty_blocks++;
    if (k->found < k->promised)
        gcg_reader_error(k->r, k->line, k->col, "%lld ratings promised, %lld found", (long long)k->promised,
                         (long long)k->found);
}

/* The bar of a line "user|count", or NULL for a rating line. */
static const char *find_bar(const gcg_reader *r)
{
    if (memchr(r->line.text, '\t', (size_t)r->line.length)) return NULL;
    return memchr(r->line.text, '|', (size_t)r->line.length);
}

static void start_user(kdd *k, const char *bar)
{
    gcg_reader *r = k->r;
    const char *count_end = r->line.text + r->line.length;
    gcg_field user = {.start = r->line.text, .text = r->line.text, .length = bar - r->line.text};
    end_user(k);
    while (count_end > bar && count_end[-1] == ' ') count_end--;
    k->usable = gcg_reader_check_id(r, &user, "user");
    k->user = (gcg_field){.start = k->user_text, .text = k->user_text, .length = k->usable ? user.length : 1};
    if (k->usable) memcpy(k->user_text, user.text, (size_t)user.length);
    k->line = r->line.number;
    k->col = gcg_reader_col(r, bar + 1);
    k->found = 0;
    k->overfull = 0;
    if (!gcg_count_parse(bar + 1, count_end - (bar + 1), &k->promised)) {
        gcg_reader_error(r, k->line, k->col, "the count of ratings after the bar must be a whole number");
        k->promised = -1; /* unknown: not checked */
    }
}

/* 1 when the field at p is a time, HH:MM:SS: the field before it is then a day, not a score. */
static int is_time(const char *p, const char *end)
{
    gcg_field f;
    return p && gcg_field_next(TAB, &p, end, &f) == GCG_FIELD_OK &&
           memchr(f.text, ':', (size_t)f.length) != NULL;
}

static gcg_status read_item(kdd *k)
{
    gcg_reader *r = k->r;
    const char *at = r->line.text, *end = at + r->line.length;
    gcg_field item, score;
    double value;
    int has_value;
    if (k->promised >= 0 && k->found == k->promised) {
        if (!k->overfull++)
            gcg_reader_error(r, r->line.number, 1, "line %lld promises %lld ratings, this is one more",
                             (long long)k->line, (long long)k->promised);
        return GCG_OK;
    }
    k->found++;
    gcg_field_result result = gcg_field_next(TAB, &at, end, &item);
    if (result != GCG_FIELD_OK) {
        gcg_reader_quote_error(r, result, &item);
        return GCG_OK;
    }
    result = gcg_field_next(TAB, &at, end, &score);
    if (result == GCG_FIELD_OK && !r->options->no_ratings && !r->options->implicit && is_time(at, end)) {
        if (!r->options->pairs) {
            gcg_reader_error(r, r->line.number, gcg_reader_col(r, score.start),
                             "no rating on this line: item, day and time, as in the contest's test files");
            return GCG_OK;
        }
        result = GCG_FIELD_NONE;
    }
    if (!gcg_reader_check_id(r, &item, "item") ||
        !gcg_reader_rating(r, result == GCG_FIELD_OK ? &score : NULL, &value, &has_value) || !k->usable)
        return GCG_OK;
    return gcg_reader_point(r, &k->user, &item, value, has_value);
}

gcg_status gcg_read_kdd(gcg_reader *r)
{
    kdd k = {.r = r};
    int found;
    for (;;) {
        gcg_status status = gcg_reader_line(r, &found);
        if (status != GCG_OK) return status;
        if (!found) break;
        const char *bar = find_bar(r);
        if (bar) {
            start_user(&k, bar);
        } else if (k.user.length == 0) {
            return gcg_reader_fatal(
                r, GCG_ERR_DATA, r->line.number, 1,
                "a rating before any user; the kdd format begins with a line \"user|count\"");
        } else {
            status = read_item(&k);
            if (status != GCG_OK) return status;
        }
    }
    end_user(&k);
    return GCG_OK;
}
