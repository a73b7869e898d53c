/* gcg-mc synth: writes a synthetic rating file, and a test file beside it. Not here: how ratings are drawn
 * (io/synth). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "cmd/reading.h"
#include "cmd/report.h"
#include "cmd/target.h"
#include "io/synth.h"

typedef struct {
    const char *output, *test;
    int shape, format, half_stars, quiet, has_decimals, has_test_ratings;
    int64_t users, items, ratings, test_ratings, rank, decimals;
    double noise;
    uint64_t seed;
} synth_settings;

/* In the order of gcg_synth_shapes. */
static const char *const shape_names[] = {"ml-100k", "ml-1m",    "ml-10m",    "ml-25m",
                                          "netflix", "yahoo60m", "yahoo252m", NULL};

#define FIELD(name) .offset = offsetof(synth_settings, name)
static const opt_entry table[] = {
    OPT_HEADING("output"),
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FILE,
     FIELD(output),
     .argument = "FILE",
     .help = "training ratings go here; .gz is compressed, - is standard output"},
    {.name = "test",
     .kind = OPT_FILE,
     FIELD(test),
     .argument = "FILE",
     .help = "test ratings go here; the shape's ratings are split as it is usual"},
    {.name = "format",
     .kind = OPT_CHOICE,
     FIELD(format),
     .argument = "NAME",
     .choices = reading_formats,
     .help = "layout, as fit reads it (csv)"},
    OPT_QUIET(synth_settings),
    OPT_HEADING("shape"),
    {.name = "shape",
     .kind = OPT_CHOICE,
     FIELD(shape),
     .argument = "NAME",
     .choices = shape_names,
     .help = "ml-100k (usual), ml-1m, ml-10m, ml-25m, netflix, yahoo60m, yahoo252m"},
    {.name = "users",
     .kind = OPT_COUNT,
     FIELD(users),
     .argument = "N",
     .min = 1,
     .max = INT32_MAX - 1,
     .help = "other than the shape's"},
    {.name = "items",
     .kind = OPT_COUNT,
     FIELD(items),
     .argument = "N",
     .min = 1,
     .max = INT32_MAX - 1,
     .help = "other than the shape's"},
    {.name = "ratings",
     .kind = OPT_COUNT,
     FIELD(ratings),
     .argument = "N",
     .min = 1,
     .max = 9e15,
     .help = "other than the shape's"},
    {.name = "test-ratings",
     .kind = OPT_COUNT,
     FIELD(test_ratings),
     .argument = "N",
     .min = 1,
     .max = 9e15,
     .seen_offset = offsetof(synth_settings, has_test_ratings),
     .help = "other than the shape's, with --test"},
    OPT_HEADING("ratings"),
    {.name = "rank",
     .kind = OPT_COUNT,
     FIELD(rank),
     .argument = "K",
     .min = 1,
     .max = GCG_SYNTH_MAX_RANK,
     .help = "of the signal (10)"},
    {.name = "noise",
     .kind = OPT_REAL,
     FIELD(noise),
     .argument = "S",
     .min = 0,
     .max = GCG_SYNTH_MAX_NOISE,
     .help = "standard deviation of the noise, the signal's being 1 (0.8)"},
    {.name = "half-stars",
     .kind = OPT_FLAG,
     FIELD(half_stars),
     .help = "round to half stars, 0.5 to 5, not to whole ones, 1 to 5"},
    {.name = "decimals",
     .kind = OPT_COUNT,
     FIELD(decimals),
     .argument = "D",
     .min = 1,
     .max = 6,
     .seen_offset = offsetof(synth_settings, has_decimals),
     .help = "round to D decimals instead"},
    {.name = "seed",
     .kind = OPT_UINT64,
     FIELD(seed),
     .argument = "N",
     .help = "another seed, other ratings (1)"},
};

static int check(const synth_settings *s, int word_count)
{
    if (word_count > 0) return report_usage("synth takes no file names: -o FILE says where the ratings go");
    if (!s->output) return report_usage("no -o FILE: where should the ratings go? (- is standard output)");
    if (s->has_test_ratings && !s->test)
        return report_usage("--test-ratings: say where they go with --test FILE");
    if (s->half_stars && s->has_decimals)
        return report_usage("--half-stars and --decimals: give one of them");
    if (s->test && strcmp(s->test, s->output) == 0) return report_usage("--test and -o name the same file");
    if (s->test && gcg_output_same_file(s->test, s->output))
        return report_usage("--test and -o name the same file");
    return 0;
}

static int32_t either(int64_t wish, int32_t usual)
{
    return wish > 0 ? (int32_t)wish : usual;
}

static void tell_progress(double done)
{
    progress_tell("writing", done);
}

/* The shape's numbers, the user's where given. */
static gcg_synth_settings settings_of(const synth_settings *s)
{
    const gcg_synth_shape *shape = &gcg_synth_shapes[s->shape];
    int format = s->format == GCG_FORMAT_AUTO ? GCG_FORMAT_CSV : s->format;
    int percent =
        format == GCG_FORMAT_KDD || format == GCG_FORMAT_YAHOO_R1; /* those sets rate from 0 to 100 */
    gcg_synth_settings g = {.users = either(s->users, shape->users),
                            .items = either(s->items, shape->items),
                            .ratings = s->ratings > 0 ? s->ratings
                                       : s->test      ? shape->train
                                                      : shape->ratings,
                            .rank = (int32_t)s->rank,
                            .noise = s->noise,
                            .format = (gcg_format)format,
                            .low = percent         ? 0
                                   : s->half_stars ? 0.5
                                                   : 1,
                            .high = percent ? 100 : 5,
                            .steps_per_unit = s->half_stars ? 2 : 1,
                            .decimals = s->half_stars ? 1 : (int)s->decimals,
                            .seed = s->seed,
                            .progress = tell_progress};
    for (int d = 0; d < s->decimals; d++) g.steps_per_unit *= 10;
    if (s->test) g.test_ratings = s->has_test_ratings ? s->test_ratings : shape->test;
    return g;
}

static int write_all(const synth_settings *s, const gcg_synth_settings *g)
{
    target train = {0}, test = {0};
    gcg_sink train_sink, test_sink;
    gcg_err err = {0};
    target_catch_signals();
    if (strcmp(s->output, "-") == 0 || (s->test && strcmp(s->test, "-") == 0)) progress_yields_to_rows();
    gcg_status status = target_open(&train, s->output, &train_sink, &err);
    if (!status && s->test) status = target_open(&test, s->test, &test_sink, &err);
    if (!status) status = gcg_synth(g, train_sink, s->test ? &test_sink : NULL, &err);
    tell_progress(1);
    if (!status && s->test) status = target_finish(&test, &err);
    if (!status) status = target_finish(&train, &err);
    target_release(&train);
    target_release(&test);
    /* whoever reads standard output has seen enough; fine, unless another file was to be written */
    if (train.write_error == EPIPE && !s->test) return 0;
    if (status) {
        int code = report_error(&err, NULL);
        return gcg_interrupt_requested() ? TARGET_EXIT_SIGNAL : code;
    }
    report_note("%s: %" PRId64 " ratings of %" PRId32 " users and %" PRId32 " items", train.name, g->ratings,
                g->users, g->items);
    return report_close_stdout();
}

static int cmd_synth(int argc, char **argv)
{
    synth_settings s = {.rank = 10, .noise = 0.8, .seed = 1};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_synth, &s, &words, &word_count);
    if (!code) code = check(&s, word_count);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    gcg_synth_settings g = settings_of(&s);
    gcg_err err;
    if (gcg_synth_check(&g, &err)) return report_error(&err, NULL);
    return write_all(&s, &g);
}

const opt_command command_synth = {
    .name = "synth",
    .summary = "write a synthetic rating file",
    .usage = "synth --shape NAME -o FILE [options]",
    .about =
        "Writes synthetic ratings of a named data set's shape: heavy-tailed degrees, low rank plus noise,\n"
        "no repeated pair, the same for the same seed.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_synth,
};
