/* gcg-mc eval: RMSE and MAE of a model on test ratings, by whether user and item were seen in training. The
 * test file is streamed; the sums are exact, so neither the order of its lines nor the batches matter. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/reading.h"
#include "cmd/report.h"
#include "cmd/scoring.h"
#include "cmd/threads.h"
#include "io/ratings.h"

typedef struct {
    reading_settings reading;
    const char *train;
    int unknown;
    double shrink;
    scoring_clip clip;
    int threads;
    int quiet;
} eval_settings;

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
    {.name = "shrink",
     .kind = OPT_REAL,
     .offset = offsetof(eval_settings, shrink),
     .argument = "N",
     .min = 0,
     .max = 1e100,
     .help = "ratings that the overall mean counts for in the fall-back (5)"},
    {.name = "clip",
     .kind = OPT_CUSTOM,
     .offset = offsetof(eval_settings, clip),
     .argument = "LO,HI",
     .parse = scoring_parse_clip,
     .help = "cut predictions to this range"},
    OPT_HEADING("reading"),
    READING_LAYOUT(eval_settings, reading),
    READING_VALUES(eval_settings, reading),
    OPT_HEADING("running"),
    {.name = "threads",
     .kind = OPT_CUSTOM,
     .offset = offsetof(eval_settings, threads),
     .argument = "N|auto",
     .parse = threads_parse,
     .help = "threads that score (auto: the processors that are allowed)"},
    {.name = "quiet",
     .kind = OPT_FLAG,
     .offset = offsetof(eval_settings, quiet),
     .help = "only warnings and errors on stderr"},
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
    const gcg_model *model;
    gcg_scorer scorer;
    int unknown;
    int64_t pairs, batched;
    int32_t *user, *item; /* BATCH entries */
    double *value;
    gcg_score_sums sums;
    overlap overlap;
} eval_run;

/* Is (i, j) in x? Columns of a row ascend. */
static int contains(const gcg_csr *x, int32_t i, int32_t j)
{
    int64_t low = x->row_ptr[i], high = x->row_ptr[i + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (x->col[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < x->row_ptr[i + 1] && x->col[low] == j;
}

static void note_overlap(overlap *o, const gcg_point *p)
{
    char user[256], item[256];
    int32_t i = gcg_idmap_find(o->train.users, p->user, p->user_length);
    int32_t j = gcg_idmap_find(o->train.items, p->item, p->item_length);
    if (i < 0 || j < 0 || !contains(&o->train.x, i, j) || ++o->count > SHOWN) return;
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
    run->user[run->batched] = i;
    run->item[run->batched] = j;
    run->value[run->batched++] = p->value;
    run->pairs++;
    return run->batched < BATCH ? GCG_OK : score_batch(run, err);
}

static void print_row(const char *subset, gcg_score_row row)
{
    char rmse[32], mae[32];
    printf("%s\t%" PRId64 "\t%s\t%s\n", subset, row.n, report_number(rmse, row.rmse),
           report_number(mae, row.mae));
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
    puts("subset\tn\trmse\tmae");
    print_row("all", gcg_score_all_row(&sums));
    for (int kind = 0; kind < GCG_SCORE_KINDS; kind++)
        print_row(gcg_score_kind_name((gcg_score_kind)kind), gcg_score_kind_row(&sums, (gcg_score_kind)kind));
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
    if (!status) status = gcg_read_stream(&test, 1, &options, diag, eval_point, run, &report, err);
    return status ? status : score_batch(run, err);
}

static int evaluate(const eval_settings *s, const gcg_model *model, const char *test)
{
    gcg_err err = {0};
    gcg_diag diag = report_diag();
    int code;
    eval_run run = {.model = model,
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
        print_table(&run);
        code = report_close_stdout();
    }
    gcg_ratings_release(&run.overlap.train);
    gcg_mem_free(run.user);
    gcg_mem_free(run.item);
    gcg_mem_free(run.value);
    return code;
}

static int cmd_eval(int argc, char **argv)
{
    eval_settings s = {.shrink = GCG_SCORE_SHRINK, .clip = SCORING_NO_CLIP};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_eval, &s, &words, &word_count);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    if (word_count != 2) return report_usage("eval wants two names, MODEL and TEST, not %d", word_count);
    if (!strcmp(words[0], "-"))
        return report_usage("a model cannot be read from standard input: name its file");
    if (s.train && !strcmp(s.train, "-") && !strcmp(words[1], "-"))
        return report_usage("standard input can be read only once: --train and TEST are both -");
    gcg_par_set_threads(threads_choose(s.threads));
    gcg_model model;
    gcg_err err = {0};
    if (gcg_model_read(words[0], &model, &err)) return report_error(&err, NULL);
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
