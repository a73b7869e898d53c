/* KDD Cup 2011 (Yahoo! Music): a line "user|count", then count lines "item TAB score [TAB day TAB time]".
 *
 * In the contest's test files the score is missing: "item TAB day TAB time". Such lines are recognised by the
 * time in the third field; --no-ratings says that no line has a score. */
#define _GNU_SOURCE /* memrchr */
#include "io/formats.h"
#include "io/number.h"
#include "io/swift.h"

static const gcg_separator TAB = {'\t', 1};

static void end_user(gcg_reader *r)
{
    const gcg_carry *c = &r->carry;
    if (c->id_length == 0) return;
    if (c->promised == 0) r->tally.empty_blocks++;
    if (c->found < c->promised)
        gcg_reader_error(r, c->block_line, c->block_col, "%lld ratings promised, %lld found",
                         (long long)c->promised, (long long)c->found);
}

/* The bar of a line "user|count", or NULL for a rating line. */
static const char *find_bar(const char *text, const char *end)
{
    if (memchr(text, '\t', (size_t)(end - text))) return NULL;
    return memchr(text, '|', (size_t)(end - text));
}

static void start_user(gcg_reader *r, const char *bar)
{
    const char *count_end = r->line.text + r->line.length;
    gcg_field user = {.start = r->line.text, .text = r->line.text, .length = bar - r->line.text};
    end_user(r);
    while (count_end > bar && count_end[-1] == ' ') count_end--;
    gcg_reader_set_block(r, &user, gcg_reader_check_id(r, &user, "user"));
    gcg_carry *c = &r->carry;
    c->block_line = r->line.number;
    c->block_col = gcg_reader_col(r, bar + 1);
    c->found = 0;
    c->overfull = 0;
    if (!gcg_count_parse(bar + 1, count_end - (bar + 1), &c->promised)) {
        gcg_reader_error(r, c->block_line, c->block_col,
                         "the count of ratings after the bar must be a whole number");
        c->promised = -1; /* unknown: not checked */
    }
}

/* 1 when the field at p is a time, HH:MM:SS: the field before it is then a day, not a score. */
static int is_time(const char *p, const char *end)
{
    gcg_field f;
    return p && gcg_field_next(TAB, &p, end, &f) == GCG_FIELD_OK &&
           memchr(f.text, ':', (size_t)f.length) != NULL;
}

static gcg_status read_item(gcg_reader *r)
{
    gcg_carry *c = &r->carry;
    const char *at = r->line.text, *end = at + r->line.length;
    gcg_field item, score, user = gcg_reader_block(r);
    double value;
    int has_value;
    if (c->promised >= 0 && c->found == c->promised) {
        if (!c->overfull)
            gcg_reader_error(r, r->line.number, 1, "line %lld promises %lld ratings, this is one more",
                             (long long)c->block_line, (long long)c->promised);
        c->overfull = 1;
        return GCG_OK;
    }
    c->found++;
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
        !gcg_reader_rating(r, result == GCG_FIELD_OK ? &score : NULL, &value, &has_value) || !c->usable)
        return GCG_OK;
    return gcg_reader_point(r, &user, &item, value, has_value);
}

/* A line of a short plain item and score at p, then the end or a field of digits: the next line, or NULL when
 * it needs to be read the long way. */
static const char *swift_item(const char *p, gcg_field *item, uint64_t *number, double *value)
{
    uint64_t day;
    item->start = item->text = p;
    p = gcg_swift_integer(p, number);
    if (!p || *p != '\t') return NULL;
    item->length = p - item->text;
    p = gcg_swift_decimal(p + 1, value);
    if (!p) return NULL;
    const char *next = gcg_swift_line_end(p);
    if (next) return next;
    if (*p != '\t' || !(p = gcg_swift_integer(p + 1, &day))) return NULL;
    next = gcg_swift_line_end(p);
    if (next) return next;
    return *p == '\t' ? gcg_swift_skip(p + 1, 0) : NULL;
}

/* Reads lines of a user as long as they are of the usual kind. */
static gcg_status swift_items(gcg_reader *r)
{
    gcg_field item;
    uint64_t number;
    double value;
    gcg_status status = GCG_OK;
    while (r->at < r->end && r->carry.found != r->carry.promised && status == GCG_OK) {
        const char *next = swift_item(r->at, &item, &number, &value);
        if (!next) break;
        r->line.text = r->at;
        r->at = next;
        r->line.number = ++r->carry.line;
        r->tally.lines++;
        r->carry.found++;
        status = gcg_reader_block_point(r, 1, &item, number, value);
    }
    return status;
}

gcg_status gcg_kdd_lines(gcg_reader *r)
{
    int found, swift = gcg_reader_may_be_swift(r);
    for (;;) {
        gcg_status status = r->status;
        if (status == GCG_OK && swift && r->carry.usable) status = swift_items(r);
        if (status == GCG_OK) status = gcg_reader_line(r, &found);
        if (status != GCG_OK || !found) return status;
        const char *bar = find_bar(r->line.text, r->line.text + r->line.length);
        if (bar)
            start_user(r, bar);
        else if (r->carry.id_length == 0)
            return gcg_reader_fatal(
                r, GCG_ERR_DATA, r->line.number, 1,
                "a rating before any user; the kdd format begins with a line \"user|count\"");
        else
            status = read_item(r);
        if (status != GCG_OK) return status;
    }
}

void gcg_kdd_end(gcg_reader *r)
{
    end_user(r);
}

const char *gcg_kdd_last_block(const char *text, const char *end)
{
    for (const char *bar = end; (bar = memrchr(text, '|', (size_t)(bar - text))) != NULL;) {
        const char *before = memrchr(text, '\n', (size_t)(bar - text)), *start = before ? before + 1 : text;
        const char *behind = memchr(bar, '\n', (size_t)(end - bar));
        if (find_bar(start, behind ? behind : end)) return start;
    }
    return NULL;
}

void gcg_kdd_skip(gcg_carry *c, int64_t lines)
{
    c->found += lines;
}
