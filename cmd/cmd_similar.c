/* gcg-mc similar: the items (or users) whose factor rows point most nearly in the direction of a given one's.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/ranking.h"
#include "cmd/report.h"
#include "cmd/scoring.h"
#include "cmd/threads.h"
#include "io/model_io.h"

typedef struct {
    const char *item, *user;
    int64_t n;
    int threads, quiet;
} similar_settings;

#define FIELD(name) .offset = offsetof(similar_settings, name)
static const opt_entry table[] = {
    OPT_HEADING("neighbours"),
    {.name = "item",
     .kind = OPT_TEXT,
     FIELD(item),
     .argument = "ID",
     .help = "the items nearest to this one"},
    {.name = "user",
     .kind = OPT_TEXT,
     FIELD(user),
     .argument = "ID",
     .help = "the users nearest to this one"},
    {.name = "top",
     .letter = 'n',
     .kind = OPT_COUNT,
     FIELD(n),
     .argument = "N",
     .min = 1,
     .max = 1e15,
     .help = "how many (10)"},
    OPT_HEADING("running"),
    THREADS_OPTION(similar_settings, "threads (auto: the processors that are allowed)"),
    OPT_QUIET(similar_settings),
};

enum { STRIP = 1024 /* rows that one task compares */ };

/* One side of the model, and the row that the others are compared with. */
typedef struct {
    const char *what; /* "item" or "user" */
    const gcg_factors *factors;
    const gcg_idmap *ids;
    const int64_t *count; /* training ratings */
    int32_t row;
    gcg_top_entry *entry; /* of every row */
} side;

/* 1 for a row that points nowhere. Without ratings it is zero but for rounding. */
static int is_zero(const side *s, int32_t i)
{
    return s->count[i] == 0 || !(gcg_factors_dot(s->factors, i, s->factors, i) > 0);
}

/* Cosine with the row that was asked for; NaN for a row of zeros. */
static double cosine(const side *s, int32_t other)
{
    const gcg_factors *f = s->factors;
    if (is_zero(s, other)) return NAN;
    double squares = gcg_factors_dot(f, other, f, other), own = gcg_factors_dot(f, s->row, f, s->row);
    double c = gcg_factors_dot(f, s->row, f, other) / (sqrt(squares) * sqrt(own));
    return c > 1 ? 1 : c < -1 ? -1 : c; /* the last digit may be rounded up */
}

static void compare_strip(int64_t strip, void *ctx)
{
    const side *s = ctx;
    int64_t end = (strip + 1) * STRIP < s->factors->rows ? (strip + 1) * STRIP : s->factors->rows;
    for (int64_t i = strip * STRIP; i < end; i++)
        s->entry[i] = (gcg_top_entry){cosine(s, (int32_t)i), (int32_t)i};
}

static gcg_status find_row(side *s, const char *model, const char *id, gcg_err *err)
{
    char quoted[256];
    gcg_quote(quoted, id, (int64_t)strlen(id));
    s->row = gcg_idmap_find(s->ids, id, strlen(id));
    if (s->row < 0) return gcg_fail(err, GCG_ERR_DATA, model, 0, 0, "has no %s '%s'", s->what, quoted);
    if (!is_zero(s, s->row)) return GCG_OK;
    return gcg_fail(
        err, GCG_ERR_DATA, model, 0, 0,
        "the factors of %s '%s' are all zero: it is like no other one (too few ratings for this lambda, "
        "or none in training)",
        s->what, quoted);
}

/* Compares with all rows, and moves those that have a cosine to the front, in order; returns how many. */
static int32_t rank(side *s)
{
    int32_t count = 0;
    gcg_par_blocks(((int64_t)s->factors->rows + STRIP - 1) / STRIP, compare_strip, s);
    for (int32_t i = 0; i < s->factors->rows; i++)
        if (i != s->row && !isnan(s->entry[i].score)) s->entry[count++] = s->entry[i];
    qsort(s->entry, (size_t)count, sizeof *s->entry, gcg_top_by_rank);
    return count;
}

static void print(const side *s, int64_t n, const char *id)
{
    char name[GCG_ID_TEXT], number[32];
    printf("%s\trank\tother\tscore\n", s->what);
    for (int64_t k = 0; k < n; k++) {
        gcg_idmap_name(s->ids, s->entry[k].item, name);
        printf("%s\t%" PRId64 "\t%s\t%s\n", id, k + 1, name, report_number(number, s->entry[k].score));
    }
}

/* Without the column of biases, which says nothing of taste. */
static gcg_factors without_biases(const gcg_model *m, const gcg_factors *f)
{
    double ridge = 0;
    gcg_factors out = *f;
    out.k -= gcg_model_number(m, "user_bias", &ridge) && ridge > 0 && f->k > 0;
    return out;
}

static int similar(const similar_settings *s, const char *name, const gcg_model *m)
{
    gcg_err err = {0};
    const gcg_factors u = without_biases(m, &m->u), v = without_biases(m, &m->v);
    const char *id = s->item ? s->item : s->user;
    side d = s->item ? (side){"item", &v, m->items, m->item_count, -1, NULL}
                     : (side){"user", &u, m->users, m->user_count, -1, NULL};
    gcg_status status = find_row(&d, name, id, &err);
    if (!status && !(d.entry = gcg_mem_alloc_array(d.factors->rows, sizeof *d.entry)))
        status = gcg_fail_memory(&err, "cosines");
    if (status) return report_error(&err, NULL);
    int32_t count = rank(&d);
    print(&d, s->n < count ? s->n : count, id);
    gcg_mem_free(d.entry);
    return report_close_stdout();
}

static int cmd_similar(int argc, char **argv)
{
    similar_settings s = {.n = RANKING_N};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_similar, &s, &words, &word_count);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    if (word_count != 1) return report_usage("similar wants one name, MODEL, not %d", word_count);
    if (!s.item == !s.user) return report_usage("similar to what? Give one of --item ID and --user ID");
    if ((code = scoring_check_name(words[0])) != 0) return code;
    gcg_par_set_threads(threads_choose(s.threads));
    gcg_model model;
    if ((code = scoring_read_model(words[0], &model)) != 0) return code;
    code = similar(&s, words[0], &model);
    gcg_model_release(&model);
    return code;
}

const opt_command command_similar = {
    .name = "similar",
    .summary = "items like an item, users like a user",
    .usage = "similar [OPTION]... MODEL --item ID | --user ID",
    .about = "Prints the nearest items (users) by the cosine of their factors: item, rank, other, score.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_similar,
};
