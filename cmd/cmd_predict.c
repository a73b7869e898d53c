/* gcg-mc predict: one prediction for each pair of a file, in its order; streaming, so the file may be of any
 * size. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/reading.h"
#include "cmd/report.h"
#include "cmd/scoring.h"
#include "io/ratings.h"

typedef struct {
    reading_settings reading;
    int unknown;
    double shrink;
    scoring_clip clip;
    int quiet;
} predict_settings;

static const opt_entry table[] = {
    OPT_HEADING("predictions"),
    {.name = "unknown",
     .kind = OPT_CHOICE,
     .offset = offsetof(predict_settings, unknown),
     .argument = "mean|skip|nan|error",
     .choices = scoring_unknown_names,
     .help = "new ids: fall-back mean (default), no line, nan, or end the run"},
    SCORING_OPTIONS(predict_settings, "cut predictions to this range"),
    OPT_HEADING("reading"),
    READING_LAYOUT(predict_settings, reading),
    READING_PAIRS(predict_settings, reading),
    OPT_HEADING("running"),
    OPT_QUIET(predict_settings),
};

static const char header[] = "user\titem\tprediction\tstatus";

/* What the callback needs and counts. */
typedef struct {
    const gcg_model *model;
    gcg_scorer scorer;
    int unknown;
    int64_t pairs, new_both, skipped;
    int write_error; /* errno of a failed write */
} predict_run;

static gcg_status predict_point(const gcg_point *p, void *user, gcg_err *err)
{
    predict_run *run = user;
    char number[32];
    int32_t i = gcg_idmap_find(run->model->users, p->user, p->user_length);
    int32_t j = gcg_idmap_find(run->model->items, p->item, p->item_length);
    gcg_score_kind kind = gcg_score_kind_of(&run->scorer, i, j);
    int unknown = kind != GCG_SCORE_SEEN;
    if (run->pairs++ == 0) puts(header);
    run->new_both += kind == GCG_SCORE_NEW_BOTH;
    if (unknown && run->unknown == SCORING_ERROR) return scoring_refuse(p, kind, err);
    if (unknown && run->unknown == SCORING_SKIP) {
        run->skipped++;
        return GCG_OK;
    }
    double value = unknown && run->unknown == SCORING_NAN ? NAN : gcg_score_predict(&run->scorer, i, j);
    fwrite(p->user, 1, p->user_length, stdout);
    putchar('\t');
    fwrite(p->item, 1, p->item_length, stdout);
    if (printf("\t%s\t%s\n", report_number(number, value), gcg_score_kind_name(kind)) >= 0 && !ferror(stdout))
        return GCG_OK;
    run->write_error = errno;
    return gcg_fail(err, GCG_ERR_IO, "stdout", 0, 0, "cannot write: %s", strerror(errno));
}

static int predict_stream(const predict_settings *s, const gcg_model *model, const char *path)
{
    predict_run run = {
        .model = model, .scorer = scoring_of_model(model, s->shrink, s->clip), .unknown = s->unknown};
    gcg_read_options options = reading_options(&s->reading);
    gcg_diag diag = report_diag();
    gcg_read_report report;
    gcg_err err = {0};
    options.pairs = 1;
    progress_yields_to_rows();
    gcg_status status = gcg_read_stream(&path, 1, &options, &diag, predict_point, &run, &report, &err);
    if (status && run.write_error == EPIPE) return 0;
    if (status) {
        fflush(stdout);
        return report_error(&err, &diag);
    }
    if (run.pairs == 0) {
        puts(header);
        gcg_report(&diag, GCG_WARNING, strcmp(path, "-") ? path : "stdin", 0, 0, "no pairs");
    }
    if (run.skipped)
        report_note("%" PRId64 " of %" PRId64 " pairs left out: new user or item", run.skipped, run.pairs);
    if (run.pairs > 0 && run.new_both == run.pairs)
        report_warning("none of the users or items is known to the model: are the ids of the same kind?");
    return report_close_stdout();
}

static int cmd_predict(int argc, char **argv)
{
    predict_settings s = {.shrink = GCG_SCORE_SHRINK, .clip = SCORING_NO_CLIP};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_predict, &s, &words, &word_count);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    if (word_count != 2) return report_usage("predict wants two names, MODEL and PAIRS, not %d", word_count);
    if ((code = scoring_check_name(words[0])) != 0) return code;
    gcg_model model;
    if ((code = scoring_read_model(words[0], &model)) != 0) return code;
    code = predict_stream(&s, &model, words[1]);
    gcg_model_release(&model);
    return code;
}

const opt_command command_predict = {
    .name = "predict",
    .summary = "predict ratings for pairs of user and item",
    .usage = "predict [OPTION]... MODEL PAIRS",
    .about = "Predicts the rating of each pair of PAIRS (- is standard input), in the same order.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_predict,
};
