/* gcg-mc recommend: the best items of some users or of all, as a stream. The ranking is maths/top's; what it
 * leaves out is io/exclusion's. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/ranking.h"
#include "cmd/reading.h"
#include "cmd/report.h"
#include "cmd/scoring.h"
#include "cmd/target.h"
#include "cmd/threads.h"
#include "io/id_list.h"

typedef struct {
    reading_settings reading;
    ranking_texts user, exclude;
    const char *users, *output;
    int64_t n;
    int unknown;
    double shrink;
    scoring_clip clip;
    int threads, quiet;
} recommend_settings;

static const char *const unknown_names[] = {"error", "skip", "mean", NULL};
enum { UNKNOWN_ERROR, UNKNOWN_SKIP, UNKNOWN_MEAN };

#define FIELD(name) .offset = offsetof(recommend_settings, name)
static const opt_entry table[] = {
    OPT_HEADING("users and items"),
    {.name = "user",
     .kind = OPT_CUSTOM,
     FIELD(user),
     .argument = "ID",
     .parse = ranking_add_text,
     .help = "a user to recommend for; may be repeated"},
    {.name = "users",
     .kind = OPT_FILE,
     FIELD(users),
     .argument = "FILE|all",
     .help = "users, one id a line (- is standard input), or all of the model"},
    {.name = "top",
     .letter = 'n',
     .kind = OPT_COUNT,
     FIELD(n),
     .argument = "N",
     .min = 1,
     .max = 1e15,
     .help = "items for each user (10)"},
    {.name = "exclude",
     .kind = OPT_CUSTOM,
     FIELD(exclude),
     .argument = "FILE",
     .parse = ranking_add_text,
     .help = "leave out the pairs of this file, usually TRAIN; may be repeated"},
    {.name = "unknown",
     .kind = OPT_CHOICE,
     FIELD(unknown),
     .argument = "error|skip|mean",
     .choices = unknown_names,
     .help = "new users: end the run (default), no lines, or items by their mean"},
    OPT_HEADING("scores"),
    SCORING_OPTIONS(recommend_settings, "cut the scores to this range; the ranking stays"),
    OPT_HEADING("reading --exclude"),
    READING_LAYOUT(recommend_settings, reading),
    READING_VALUES(recommend_settings, reading),
    OPT_HEADING("running"),
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FILE,
     FIELD(output),
     .argument = "FILE",
     .help = "write here, compressed if it ends in .gz; default: standard output"},
    THREADS_OPTION(recommend_settings, "threads (auto: the processors that are allowed)"),
    OPT_QUIET(recommend_settings),
};

typedef struct {
    const recommend_settings *s;
    const gcg_model *model;
    ranking ranking;
    int64_t users, skipped;
} recommend_run;

/* list is NULL for a user of the command line. */
static gcg_status refuse(const char *id, size_t length, const gcg_id_list *list, gcg_err *err)
{
    char quoted[256];
    return gcg_fail(err, GCG_ERR_DATA, list ? gcg_id_list_name(list) : NULL,
                    list ? gcg_id_list_line(list) : 0, list ? gcg_id_list_col(list) : 0,
                    "user '%s' has no training ratings; --unknown skip leaves such users out, --unknown mean "
                    "ranks the items by their mean, fold-in takes their ratings",
                    gcg_quote(quoted, id, (int64_t)length));
}

static gcg_status add_user(recommend_run *run, const char *id, size_t length, const gcg_id_list *list,
                           gcg_err *err)
{
    int32_t i = gcg_idmap_find(run->model->users, id, length);
    run->users++;
    if (i < 0 || run->model->user_count[i] == 0) {
        if (run->s->unknown == UNKNOWN_ERROR) return refuse(id, length, list, err);
        run->skipped += run->s->unknown == UNKNOWN_SKIP;
        if (run->s->unknown == UNKNOWN_SKIP) return GCG_OK;
    }
    return ranking_add(&run->ranking, id, length, i, err);
}

static gcg_status add_list(recommend_run *run, gcg_err *err)
{
    gcg_id_list *list;
    const char *id;
    size_t length;
    int found = 1;
    gcg_status status = gcg_id_list_open(run->s->users, &list, err);
    while (!status && found) {
        status = gcg_id_list_next(list, &id, &length, &found, err);
        if (!status && found) status = add_user(run, id, length, list, err);
    }
    gcg_id_list_close(list);
    return status;
}

/* Rows without training ratings are users nobody asked for by name: only --unknown mean lists them. */
static gcg_status add_all(recommend_run *run, gcg_err *err)
{
    char id[GCG_ID_TEXT];
    gcg_status status = GCG_OK;
    for (int32_t i = 0; i < run->model->u.rows && !status; i++) {
        size_t length = gcg_idmap_name(run->model->users, i, id);
        run->users++;
        progress_tell("recommending", (double)i / run->model->u.rows);
        if (run->model->user_count[i] > 0 || run->s->unknown == UNKNOWN_MEAN)
            status = ranking_add(&run->ranking, id, length, i, err);
        else
            run->skipped++;
    }
    return status;
}

static gcg_status add_users(recommend_run *run, gcg_err *err)
{
    const recommend_settings *s = run->s;
    gcg_status status = GCG_OK;
    for (int k = 0; k < s->user.count && !status; k++)
        status = add_user(run, s->user.text[k], strlen(s->user.text[k]), NULL, err);
    if (!status && s->users) status = strcmp(s->users, "all") == 0 ? add_all(run, err) : add_list(run, err);
    return status;
}

static void tell(const recommend_run *run)
{
    int32_t items = run->model->v.rows, listed = run->ranking.top.items;
    if (run->s->exclude.count == 0)
        report_note("items that a user has rated already are listed too; --exclude TRAIN leaves them out");
    if (listed < items)
        report_note("%" PRId32 " of %" PRId32 " items have no training ratings and are never listed",
                    items - listed, items);
    if (run->skipped)
        report_note("%" PRId64 " of %" PRId64 " users left out: no training ratings", run->skipped,
                    run->users);
}

static gcg_status rank(recommend_run *run, target *t, gcg_diag *diag, gcg_exclusion *exclusion, gcg_err *err)
{
    const recommend_settings *s = run->s;
    gcg_read_options options = reading_options(&s->reading);
    ranking *r = &run->ranking;
    gcg_status status = GCG_OK;
    if (s->exclude.count > 0)
        status = gcg_exclusion_read(s->exclude.text, s->exclude.count, &options, run->model->items, diag,
                                    exclusion, err);
    if (!status) status = target_open(t, s->output, &r->sink, err);
    if (status) return status;
    r->model = run->model;
    r->scorer = scoring_of_model(run->model, s->shrink, s->clip);
    r->exclusion[0] = s->exclude.count > 0 ? exclusion : NULL;
    if (strcmp(s->output, "-") == 0) progress_yields_to_rows();
    status = ranking_begin(r, s->n, s->unknown == UNKNOWN_MEAN, err);
    if (!status) status = add_users(run, err);
    if (!status) status = ranking_finish(r, err);
    progress_tell("recommending", 1);
    return status ? status : target_finish(t, err);
}

static int recommend(const recommend_settings *s, const gcg_model *model)
{
    recommend_run run = {.s = s, .model = model};
    gcg_exclusion exclusion = {0};
    gcg_diag diag = report_diag();
    gcg_err err = {0};
    target t = {0};
    int code = 0, to_file = strcmp(s->output, "-") != 0;
    if (to_file) target_catch_signals();
    gcg_status status = to_file ? gcg_output_test(s->output, &err) : GCG_OK;
    if (!status) status = rank(&run, &t, &diag, &exclusion, &err);
    target_release(&t);
    if (!status) {
        tell(&run);
        code = report_close_stdout();
    } else if (t.write_error != EPIPE) { /* a closed pipe: its reader has seen enough */
        fflush(stdout);
        code = target_report(&err, &diag);
    }
    ranking_release(&run.ranking);
    gcg_exclusion_release(&exclusion);
    return code;
}

/* -o must not name an input, and standard input can be read once. */
static int check_names(const recommend_settings *s, const char *model)
{
    int stdins = s->users && strcmp(s->users, "-") == 0;
    const char *o = s->output;
    int same = gcg_output_same_file(o, model) || (s->users && gcg_output_same_file(o, s->users));
    for (int k = 0; k < s->exclude.count; k++) {
        stdins += strcmp(s->exclude.text[k], "-") == 0;
        same |= gcg_output_same_file(o, s->exclude.text[k]);
    }
    int code = scoring_check_name(model);
    if (code) return code;
    if (stdins > 1) return report_usage("standard input (-) is named twice");
    if (same && strcmp(o, "-") != 0) return report_usage("-o names one of the inputs");
    return 0;
}

static int cmd_recommend(int argc, char **argv)
{
    recommend_settings s = {
        .n = RANKING_N, .output = "-", .shrink = GCG_SCORE_SHRINK, .clip = SCORING_NO_CLIP};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_recommend, &s, &words, &word_count);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    if (word_count != 1) return report_usage("recommend wants one name, MODEL, not %d", word_count);
    if (s.user.count == 0 && !s.users) return report_usage("for whom? Give --user ID or --users FILE|all");
    if (s.user.count > 0 && s.users) return report_usage("--user and --users: one of them");
    if ((code = check_names(&s, words[0])) != 0) return code;
    gcg_par_set_threads(threads_choose(s.threads));
    gcg_model model;
    if ((code = scoring_read_model(words[0], &model)) != 0) return code;
    code = recommend(&s, &model);
    gcg_model_release(&model);
    return code;
}

const opt_command command_recommend = {
    .name = "recommend",
    .summary = "the best items of users",
    .usage = "recommend [OPTION]... MODEL --user ID | --users FILE|all",
    .about = "Prints the best items of each user: user, rank, item, score.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_recommend,
};
