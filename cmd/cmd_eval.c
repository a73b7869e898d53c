/* gcg-mc eval: RMSE and MAE of a model on test ratings, by whether user and item were seen in training, or by
 * user or item; with --top, rankings too. The test file is streamed (and kept, for --top and --by); the sums
 * are exact, so neither the order of its lines nor the batches matter. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/eval_lists.h"
#include "cmd/ranking.h"
#include "cmd/reading.h"
#include "cmd/report.h"
#include "cmd/scoring.h"
#include "cmd/threads.h"
#include "io/ratings.h"

typedef struct {
    reading_settings reading;
    const char *train;
    int64_t top; /* 0: no rankings */
    double relevant;
    ranking_texts exclude;
    int by, unknown;
    double shrink;
    scoring_clip clip;
    int threads;
    int quiet;
} eval_settings;

static const char *const by_names[] = {"subset", "user", "item", NULL};
enum { BY_SUBSET, BY_USER, BY_ITEM };

static const opt_entry table[] = {
    OPT_HEADING("errors"),
    {.name = "train",
     .kind = OPT_FILE,
     .offset = offsetof(eval_settings, train),
     .argument = "FILE",
     .help = "training ratings: warn of test pairs that occur in them"},
    {.name = "unknown",
     .kind = OPT_CHOICE,
     .offset = offsetof(eval_settings, unknown),
     .argument = "mean|skip|nan|error",
     .choices = scoring_unknown_names,
     .help = "new ids: fall-back mean (default), not counted, nan, or end the run"},
    SCORING_OPTIONS(eval_settings, "cut predictions to this range"),
    {.name = "by",
     .kind = OPT_CHOICE,
     .offset = offsetof(eval_settings, by),
     .argument = "subset|user|item",
     .choices = by_names,
     .help = "rows: seen pairs, new users, ... (default), or each user or item"},
    OPT_HEADING("rankings"),
    {.name = "top",
     .letter = 'n',
     .kind = OPT_COUNT,
     .offset = offsetof(eval_settings, top),
     .argument = "N",
     .min = 1,
     .max = 1e15,
     .help = "precision, recall and NDCG of each user's N best items, too"},
    {.name = "relevant",
     .kind = OPT_REAL,
     .offset = offsetof(eval_settings, relevant),
     .argument = "R",
     .help = "with --top: test ratings of at least R are relevant (all are)"},
    {.name = "exclude",
     .kind = OPT_CUSTOM,
     .offset = offsetof(eval_settings, exclude),
     .argument = "FILE",
     .parse = ranking_add_text,
     .help = "with --top: leave out the pairs of this file; may be repeated"},
    OPT_HEADING("reading"),
    READING_LAYOUT(eval_settings, reading),
    READING_VALUES(eval_settings, reading),
    OPT_HEADING("running"),
    THREADS_OPTION(eval_settings, "threads that score (auto: the processors that are allowed)"),
    OPT_QUIET(eval_settings),
};

enum {
    BATCH = 1 << 16, /* pairs scored at a time: enough for the threads, 1 MB */
    SHOWN = 3        /* training pairs named in the warning (CLI contract) */
};

/* Test pairs that are training pairs too. */
typedef struct {
    gcg_ratings train; /* empty without --train */
    int64_t count;
    char shown[SHOWN * 2 * 256 + 16]; /* the first of them, as text */
} overlap;

typedef struct {
    const eval_settings *s;
    const gcg_model *model;
    gcg_scorer scorer;
    int unknown;
    int64_t pairs, batched;
    int32_t *user, *item; /* BATCH entries */
    double *value;
    gcg_score_sums sums;
    overlap overlap;
    int keep; /* pairs are kept */
    eval_pairs kept;
    eval_groups groups; /* of the kept pairs, by user or item */
    gcg_exclusion exclusion;
    eval_list *list; /* of each user; NULL without --top */
} eval_run;

static void note_overlap(overlap *o, const gcg_point *p)
{
    char user[256], item[256];
    int32_t i = gcg_idmap_find(o->train.users, p->user, p->user_length);
    int32_t j = gcg_idmap_find(o->train.items, p->item, p->item_length);
    if (i < 0 || j < 0 || gcg_csr_find(&o->train.x, i, j) < 0 || ++o->count > SHOWN) return;
    size_t length = strlen(o->shown);
    snprintf(o->shown + length, sizeof o->shown - length, "%s%s,%s", length ? " " : "",
             gcg_quote(user, p->user, (int64_t)p->user_length),
             gcg_quote(item, p->item, (int64_t)p->item_length));
}

static gcg_status score_batch(eval_run *run, gcg_err *err)
{
    int64_t n = run->batched;
    run->batched = 0;
    return gcg_score_add(&run->scorer, n, run->user, run->item, run->value, &run->sums, err);
}

static gcg_status eval_point(const gcg_point *p, void *user, gcg_err *err)
{
    eval_run *run = user;
    int32_t i = gcg_idmap_find(run->model->users, p->user, p->user_length);
    int32_t j = gcg_idmap_find(run->model->items, p->item, p->item_length);
    gcg_score_kind kind = gcg_score_kind_of(&run->scorer, i, j);
    if (kind != GCG_SCORE_SEEN && run->unknown == SCORING_ERROR) return scoring_refuse(p, kind, err);
    if (run->overlap.train.users) note_overlap(&run->overlap, p);
    gcg_status status = run->keep ? eval_pairs_add(&run->kept, p, i, j, err) : GCG_OK;
    if (status) return status;
    run->user[run->batched] = i;
    run->item[run->batched] = j;
    run->value[run->batched++] = p->value;
    run->pairs++;
    return run->batched < BATCH ? GCG_OK : score_batch(run, err);
}

static void print_figures(eval_figures f)
{
    char precision[32], recall[32], ndcg[32];
    printf("\t%s\t%s\t%s", report_number(precision, f.precision), report_number(recall, f.recall),
           report_number(ndcg, f.ndcg));
}

/* kind: GCG_SCORE_KINDS for all. */
static void print_row(const eval_run *run, const char *subset, gcg_score_row row, int kind)
{
    char rmse[32], mae[32];
    printf("%s\t%" PRId64 "\t%s\t%s", subset, row.n, report_number(rmse, row.rmse),
           report_number(mae, row.mae));
    if (run->list) {
        eval_lists_row lists = eval_lists_subset(run->s->top, &run->scorer, &run->groups, run->list, kind);
        printf("\t%" PRId64 "\t%" PRId64, lists.users, lists.relevant);
        print_figures(lists.mean);
    }
    putchar('\n');
}

/* --unknown skip: new pairs do not count; nan: they have no prediction, so no error either. */
static void print_table(const eval_run *run)
{
    gcg_score_sums sums = run->sums;
    int64_t unknown = run->pairs - sums.of[GCG_SCORE_SEEN].n;
    if (run->unknown == SCORING_SKIP) {
        sums = (gcg_score_sums){.of[GCG_SCORE_SEEN] = run->sums.of[GCG_SCORE_SEEN]};
        if (unknown)
            report_note("%" PRId64 " of %" PRId64 " pairs left out: new user or item", unknown, run->pairs);
    }
    for (int kind = GCG_SCORE_SEEN + 1; run->unknown == SCORING_NAN && kind < GCG_SCORE_KINDS; kind++)
        if (sums.of[kind].n) sums.of[kind].squares.special = sums.of[kind].magnitudes.special = NAN;
    printf("subset\tn\trmse\tmae%s\n", run->list ? "\tusers\trelevant\tprecision\trecall\tndcg" : "");
    print_row(run, "all", gcg_score_all_row(&sums), GCG_SCORE_KINDS);
    for (int kind = 0; kind < GCG_SCORE_KINDS; kind++)
        print_row(run, gcg_score_kind_name((gcg_score_kind)kind),
                  gcg_score_kind_row(&sums, (gcg_score_kind)kind), kind);
}

/* ---- --by user, --by item ---- */

/* Error of one user's (item's) pairs. */
static gcg_score_row group_row(const eval_run *run, int32_t group)
{
    const eval_groups *g = &run->groups;
    gcg_exact_sum squares = {0}, magnitudes = {0};
    int64_t n = 0;
    for (int64_t at = g->start[group]; at < g->start[group + 1]; at++) {
        int64_t k = g->pair[at];
        int32_t i = eval_pairs_user(&run->kept, k), j = eval_pairs_item(&run->kept, k);
        int unknown = gcg_score_kind_of(&run->scorer, i, j) != GCG_SCORE_SEEN;
        if (unknown && run->unknown == SCORING_SKIP) continue;
        double error = unknown && run->unknown == SCORING_NAN
                           ? NAN
                           : gcg_score_predict(&run->scorer, i, j) - run->kept.pairs.value[k];
        gcg_exact_add(&squares, error * error);
        gcg_exact_add(&magnitudes, fabs(error));
        n++;
    }
    if (n == 0) return (gcg_score_row){0, NAN, NAN};
    return (gcg_score_row){n, sqrt(gcg_exact_value(&squares) / (double)n),
                           gcg_exact_value(&magnitudes) / (double)n};
}

static void print_group(const eval_run *run, int32_t group, const char *id)
{
    char rmse[32], mae[32];
    int by_item = run->s->by == BY_ITEM;
    int32_t rows = by_item ? run->model->v.rows : run->model->u.rows;
    const int64_t *count = by_item ? run->model->item_count : run->model->user_count;
    gcg_score_row row = group_row(run, group);
    if (row.n == 0) return; /* --unknown skip */
    printf("%s\t%" PRId64 "\t%" PRId64 "\t%s\t%s", id, group < rows ? count[group] : 0, row.n,
           report_number(rmse, row.rmse), report_number(mae, row.mae));
    if (run->list) {
        const eval_list *l = &run->list[group];
        printf("\t%" PRId64, l->known + l->fresh);
        print_figures(eval_list_figures(run->s->top, l->known + l->fresh, l->hits));
    }
    putchar('\n');
}

static void print_groups(const eval_run *run)
{
    char id[GCG_ID_TEXT];
    const eval_groups *g = &run->groups;
    printf("%s\ttrain\tn\trmse\tmae%s\n", by_names[run->s->by],
           run->list ? "\trelevant\tprecision\trecall\tndcg" : "");
    for (int32_t group = 0; group < g->count && !ferror(stdout); group++) {
        if (g->start[group] == g->start[group + 1]) continue;
        eval_groups_name(&run->kept, run->s->by == BY_ITEM, group, id);
        print_group(run, group, id);
    }
}

/* What --top and --by want of the pairs that were kept. */
static gcg_status study(eval_run *run, gcg_err *err)
{
    const eval_settings *s = run->s;
    eval_lists_settings lists = {.n = s->top,
                                 .threshold = s->relevant,
                                 .known_only = s->unknown == SCORING_SKIP || s->unknown == SCORING_NAN,
                                 .excluded = s->exclude.count > 0 ? &run->exclusion : NULL};
    gcg_status status = eval_pairs_settle(&run->kept, err);
    if (!status) status = eval_groups_make(&run->groups, &run->kept, s->by == BY_ITEM, err);
    if (status || !s->top) return status;
    run->list = gcg_mem_zalloc_array(run->groups.count, sizeof *run->list);
    if (!run->list) return gcg_fail_memory(err, "test users");
    return eval_lists_make(&lists, &run->kept, &run->groups, &run->scorer, run->list, err);
}

static void warn(const eval_run *run, const char *test, gcg_diag *diag)
{
    const overlap *o = &run->overlap;
    if (run->pairs == 0) gcg_report(diag, GCG_WARNING, test, 0, 0, "no test ratings");
    if (run->pairs > 0 && run->sums.of[GCG_SCORE_NEW_BOTH].n == run->pairs)
        report_warning(
            "none of the test users or items is known to the model: are the ids of the same kind?");
    if (o->count > 0)
        report_warning("%" PRId64 " of %" PRId64
                       " test pairs occur in training (%s%s): their error says little",
                       o->count, run->pairs, o->shown, o->count > SHOWN ? " ..." : "");
}

static gcg_status eval_files(const eval_settings *s, const char *test, eval_run *run, gcg_diag *diag,
                             gcg_err *err)
{
    gcg_status status = GCG_OK;
    gcg_read_report report;
    gcg_read_options options = reading_options(&s->reading);
    options.duplicates = GCG_DUP_LAST; /* only whether a pair occurs matters */
    if (s->train) status = gcg_ratings_read(&s->train, 1, &options, diag, &run->overlap.train, err);
    if (!status && s->exclude.count > 0)
        status = gcg_exclusion_read(s->exclude.text, s->exclude.count, &options, run->model->items, diag,
                                    &run->exclusion, err);
    if (!status && run->keep) status = eval_pairs_init(&run->kept, run->model, err);
    if (!status) status = gcg_read_stream(&test, 1, &options, diag, eval_point, run, &report, err);
    if (!status) status = score_batch(run, err);
    return status || !run->keep ? status : study(run, err);
}

static int evaluate(const eval_settings *s, const gcg_model *model, const char *test)
{
    gcg_err err = {0};
    gcg_diag diag = report_diag();
    int code;
    eval_run run = {.s = s,
                    .model = model,
                    .keep = s->top > 0 || s->by != BY_SUBSET,
                    .scorer = scoring_of_model(model, s->shrink, s->clip),
                    .unknown = s->unknown,
                    .user = gcg_mem_alloc_array(BATCH, sizeof(int32_t)),
                    .item = gcg_mem_alloc_array(BATCH, sizeof(int32_t)),
                    .value = gcg_mem_alloc_array(BATCH, sizeof(double))};
    gcg_status status = run.user && run.item && run.value ? eval_files(s, test, &run, &diag, &err)
                                                          : gcg_fail_memory(&err, "test pairs");
    if (status) {
        code = report_error(&err, &diag);
    } else {
        warn(&run, strcmp(test, "-") ? test : "stdin", &diag);
        if (s->by == BY_SUBSET)
            print_table(&run);
        else
            print_groups(&run);
        code = report_close_stdout();
    }
    gcg_ratings_release(&run.overlap.train);
    gcg_exclusion_release(&run.exclusion);
    eval_groups_release(&run.groups);
    eval_pairs_release(&run.kept);
    gcg_mem_free(run.list);
    gcg_mem_free(run.user);
    gcg_mem_free(run.item);
    gcg_mem_free(run.value);
    return code;
}

static int check(const eval_settings *s, const char *test)
{
    int stdins = strcmp(test, "-") == 0;
    stdins += s->train && strcmp(s->train, "-") == 0;
    for (int k = 0; k < s->exclude.count; k++) stdins += strcmp(s->exclude.text[k], "-") == 0;
    if (stdins > 1) return report_usage("standard input can be read only once: - is named twice");
    if (!s->top && (s->exclude.count > 0 || isfinite(s->relevant)))
        return report_usage("--exclude and --relevant are about rankings: give --top N, too");
    if (s->top && s->by == BY_ITEM)
        return report_usage("--top ranks items for users: it does not go with --by item");
    return 0;
}

static int cmd_eval(int argc, char **argv)
{
    eval_settings s = {.relevant = -INFINITY, .shrink = GCG_SCORE_SHRINK, .clip = SCORING_NO_CLIP};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_eval, &s, &words, &word_count);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    if (word_count != 2) return report_usage("eval wants two names, MODEL and TEST, not %d", word_count);
    if ((code = scoring_check_name(words[0])) != 0) return code;
    if ((code = check(&s, words[1])) != 0) return code;
    gcg_par_set_threads(threads_choose(s.threads));
    gcg_model model;
    if ((code = scoring_read_model(words[0], &model)) != 0) return code;
    code = evaluate(&s, &model, words[1]);
    gcg_model_release(&model);
    return code;
}

const opt_command command_eval = {
    .name = "eval",
    .summary = "error of a model on test ratings",
    .usage = "eval [OPTION]... MODEL TEST",
    .about = "Prints the error of a model's predictions on the ratings of TEST (- is standard input).",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_eval,
};
