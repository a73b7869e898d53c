/* The options of fit and what must hold between them: see fit.h. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/fit.h"
#include "cmd/report.h"
#include "cmd/threads.h"
#include "io/output.h"
#include "io/paths.h"

/* In the order of gcg_precision, gcg_center_kind and the enums of fit.h. */
const char *const fit_precision_names[] = {"auto", "float", "double", NULL};
const char *const fit_center_names[] = {"none", "global", "user", "item", "both", NULL};
const char *const fit_keep_names[] = {"last", "best", NULL};
const char *const fit_select_names[] = {"min", "1se", NULL};
const char *const fit_solver_names[] = {"gcg", "als-cg", "soft-impute", NULL};

/* none, counts, or the exponent of the numbers of ratings: A, or one for users and one for items. */
static int parse_norm_weights(const char *text, void *field, char *message, size_t size)
{
    gcg_norm *norm = field;
    char first[64];
    size_t length = strcspn(text, ",");
    int is_pair = text[length] == ',';
    double user = 0, item = 0;
    if (strcmp(text, "counts") == 0) {
        user = item = 1;
    } else if (strcmp(text, "none") != 0) {
        snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : 0), text);
        int bad = opt_number(first, &user) != 0;
        item = user;
        if (is_pair) bad |= opt_number(text + length + 1, &item) != 0;
        if (bad || !(user >= 0 && user <= 1 && item >= 0 && item <= 1)) {
            snprintf(message, size,
                     "wants none, counts, or an exponent from 0 to 1 (one for users and one "
                     "for items: A,A)");
            return -1;
        }
    }
    norm->exponent_user = user;
    norm->exponent_item = item;
    return 0;
}

#define FIELD(name) .offset = offsetof(fit_settings, name)
#define SEEN(name) .seen_offset = offsetof(fit_settings, name)

/* --lambda L or auto; the field is fit_settings.lambda. */
static int parse_lambda(const char *text, void *field, char *message, size_t size)
{
    fit_settings *s = (fit_settings *)((char *)field - offsetof(fit_settings, lambda));
    double value;
    s->lambda_auto = strcmp(text, "auto") == 0;
    s->lambda = 1; /* auto: comes later */
    if (s->lambda_auto) return 0;
    if (opt_number(text, &value) != 0)
        snprintf(message, size, "wants a number, or auto");
    else if (!(value >= 0) || !isfinite(value))
        snprintf(message, size, "wants more than 0 (0 only with --rank)");
    else
        s->lambda = value;
    return opt_number(text, &value) == 0 && value >= 0 && isfinite(value) ? 0 : -1;
}

/* Adds value to the falling list; -1 when it is there already. */
static int add_lambda(fit_lambdas *list, double value)
{
    int k = list->count;
    while (k > 0 && list->at[k - 1] < value) k--;
    if (k > 0 && list->at[k - 1] <= value) return -1;
    memmove(&list->at[k + 1], &list->at[k], (size_t)(list->count - k) * sizeof *list->at);
    list->at[k] = value;
    list->count++;
    return 0;
}

/* --lambdas L1,L2,...: see fit_lambdas. */
static int parse_lambdas(const char *text, void *field, char *message, size_t size)
{
    fit_lambdas *list = field;
    char item[64];
    list->count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        double value;
        if (length >= sizeof item || list->count == FIT_LAMBDAS) {
            snprintf(message, size, "at most %d numbers, none of them that long", FIT_LAMBDAS);
            return -1;
        }
        memcpy(item, at, length);
        item[length] = '\0';
        if (opt_number(item, &value) != 0 || !(value > 0) || !isfinite(value)) {
            snprintf(message, size, "wants numbers of more than 0 with commas between, not '%.40s'", item);
            return -1;
        }
        if (add_lambda(list, value) != 0) {
            snprintf(message, size, "%.40s is given twice", item);
            return -1;
        }
        at += length;
        if (!*at) return 0;
    }
}

static const opt_entry table[] = {
    OPT_HEADING("problem"),
    {.name = "lambda",
     .kind = OPT_CUSTOM,
     FIELD(lambda),
     SEEN(has_lambda),
     .argument = "L|auto",
     .parse = parse_lambda,
     .resume = OPT_RESUMED,
     .help = "weight of the trace norm, > 0 (0 only with --rank)",
     .not_in = FIT_PATH | FIT_CV},
    {.name = "lambda-ratio",
     .kind = OPT_REAL,
     FIELD(lambda_ratio),
     SEEN(has_ratio),
     .argument = "R",
     .min = 0,
     .open_min = 1,
     .max = 1,
     .resume = OPT_RESUMED,
     .help = "lambda as a fraction of lambda_max, 0 < R <= 1",
     .not_in = FIT_PATH | FIT_CV},
    {.name = "lambdas",
     .kind = OPT_CUSTOM,
     FIELD(lambdas),
     .argument = "L1,L2,...",
     .parse = parse_lambdas,
     .resume = OPT_RESUMED,
     .help = "weights of the trace norm; the largest comes first",
     .not_in = FIT_FIT},
    {.name = "n-lambdas",
     .kind = OPT_COUNT,
     FIELD(n_lambdas),
     SEEN(has_n_lambdas),
     .argument = "N",
     .min = 2,
     .max = FIT_LAMBDAS,
     .resume = OPT_RESUMED,
     .help = "or so many, from lambda_max down (20)",
     .not_in = FIT_FIT},
    {.name = "min-ratio",
     .kind = OPT_REAL,
     FIELD(min_ratio),
     SEEN(has_min_ratio),
     .argument = "R",
     .min = 0,
     .open_min = 1,
     .max = 0.999,
     .resume = OPT_RESUMED,
     .help = "the last as a fraction of lambda_max (0.01)",
     .not_in = FIT_FIT},
    {.name = "folds",
     .kind = OPT_COUNT,
     FIELD(folds),
     .argument = "K",
     .min = 2,
     .max = 1000,
     .resume = OPT_RESUMED,
     .help = "parts, each held out in turn (5)",
     .not_in = FIT_FIT | FIT_PATH},
    {.name = "select",
     .kind = OPT_CHOICE,
     FIELD(select),
     .argument = "min|1se",
     .choices = fit_select_names,
     .resume = OPT_RESUMED,
     .help = "which lambda -o fits: smallest mean, or one standard error up (min)",
     .not_in = FIT_FIT | FIT_PATH},
    {.name = "rank",
     .kind = OPT_COUNT,
     FIELD(rank),
     SEEN(has_rank),
     .argument = "K",
     .min = 1,
     .max = INFINITY,
     .resume = OPT_RESUMED,
     .help = "upper limit of the rank (none)"},
    {.name = "center",
     .kind = OPT_CHOICE,
     FIELD(center),
     SEEN(has_center),
     .argument = "KIND",
     .choices = fit_center_names,
     .resume = OPT_RESUMED,
     .help = "subtract means before: none (default), global, user, item, both"},
    {.name = "init",
     .kind = OPT_FILE,
     FIELD(init),
     .argument = "MODEL",
     .help = "start from this model, rows by id (from 0)",
     .not_in = FIT_CV},
    {.name = "norm-weights",
     .kind = OPT_CUSTOM,
     FIELD(norm),
     SEEN(has_norm_weights),
     .argument = "none|counts|A",
     .parse = parse_norm_weights,
     .resume = OPT_RESUMED,
     .help = "weight users and items in the norm by their ratings ^ A (none)"},
    {.name = "norm-smooth",
     .kind = OPT_REAL,
     FIELD(norm.smooth),
     SEEN(has_norm_smooth),
     .argument = "B",
     .min = 0,
     .max = 1,
     .resume = OPT_RESUMED,
     .help = "mix equal weights in, this share of all: 0 (default) to 1"},
    {.name = "user-bias",
     .kind = OPT_REAL,
     FIELD(norm.user_bias),
     SEEN(has_user_bias),
     .argument = "T",
     .min = 0,
     .max = 1e9,
     .resume = OPT_RESUMED,
     .help = "fit a bias of each user, too, with this ridge (0: none)"},
    READING_WEIGHTS(fit_settings, reading, "column of weights (> 0) of the ratings in the loss (none)"),
    OPT_HEADING("stop"),
    {.name = "gap",
     .kind = OPT_REAL,
     FIELD(gap),
     .argument = "T",
     .min = 0,
     .open_min = 1,
     .max = 1,
     .resume = OPT_RESUMED,
     .help = "stop at this certified relative gap (1e-3)"},
    {.name = "max-iter",
     .kind = OPT_COUNT,
     FIELD(max_iter),
     .argument = "N",
     .min = 1,
     .max = INFINITY,
     .resume = OPT_CHANGEABLE,
     .help = "stop after N outer iterations (500)"},
    {.name = "max-time",
     .kind = OPT_REAL,
     FIELD(max_time),
     .argument = "S",
     .min = 0,
     .open_min = 1,
     .max = INFINITY,
     .help = "stop after S seconds of solving (no limit)"},
    OPT_HEADING("test and validation"),
    {.name = "test", .kind = OPT_FILE, FIELD(test), .argument = "FILE", .help = "test ratings, logged"},
    {.name = "holdout",
     .kind = OPT_REAL,
     FIELD(holdout),
     SEEN(has_holdout),
     .argument = "F",
     .min = 0,
     .open_min = 1,
     .max = 0.99,
     .resume = OPT_RESUMED,
     .help = "draw this fraction of TRAIN as test set",
     .not_in = FIT_PATH | FIT_CV},
    {.name = "holdout",
     .kind = OPT_REAL,
     FIELD(holdout),
     SEEN(has_holdout),
     .argument = "F",
     .min = 0,
     .open_min = 1,
     .max = 0.99,
     .resume = OPT_RESUMED,
     .help = "draw this fraction of TRAIN as validation set",
     .not_in = FIT_FIT | FIT_CV},
    {.name = "test-pairs",
     .kind = OPT_FILE,
     FIELD(test_pairs),
     .argument = "FILE",
     .help = "pairs that leave TRAIN and become the test set (Netflix probe)"},
    {.name = "valid",
     .kind = OPT_FILE,
     FIELD(valid),
     .argument = "FILE",
     .help = "validation ratings, logged",
     .not_in = FIT_CV},
    {.name = "keep",
     .kind = OPT_CHOICE,
     FIELD(keep),
     .argument = "last|best",
     .choices = fit_keep_names,
     .resume = OPT_RESUMED,
     .help = "which iterate to write; best = smallest validation RMSE",
     .not_in = FIT_PATH | FIT_CV},
    {.name = "clip",
     .kind = OPT_CUSTOM,
     FIELD(clip),
     .argument = "LO,HI",
     .parse = scoring_parse_clip,
     .resume = OPT_RESUMED,
     .help = "cut predictions in valid and test RMSE to this range"},
    OPT_HEADING("output"),
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FILE,
     FIELD(output),
     .argument = "MODEL",
     .help = "write the model here",
     .not_in = FIT_PATH | FIT_CV},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FILE,
     FIELD(output),
     .argument = "PREFIX",
     .help = "write the best model here",
     .not_in = FIT_FIT | FIT_CV},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FILE,
     FIELD(output),
     .argument = "MODEL",
     .help = "fit all ratings at the chosen lambda, write the model here",
     .not_in = FIT_FIT | FIT_PATH},
    {.name = "keep-all",
     .kind = OPT_FLAG,
     FIELD(keep_all),
     .resume = OPT_RESUMED,
     .help = "also write every model: PREFIX.1, PREFIX.2, ...",
     .not_in = FIT_FIT | FIT_CV},
    {.name = "log",
     .kind = OPT_FILE,
     FIELD(log),
     .argument = "FILE|-|none",
     .help = "where the log goes (standard output)",
     .not_in = FIT_CV},
    {.name = "log",
     .kind = OPT_FILE,
     FIELD(log),
     .argument = "FILE|none",
     .help = "log of that last fit (none)",
     .not_in = FIT_FIT | FIT_PATH},
    OPT_QUIET(fit_settings),
    {.name = "verbose",
     .kind = OPT_FLAG,
     FIELD(verbose),
     .help = "memory plan, phases and their times on stderr"},
    OPT_HEADING("checkpoints"),
    {.name = "checkpoint",
     .kind = OPT_FILE,
     FIELD(checkpoint),
     .argument = "FILE|none",
     .help = "where a run that is cut short can go on from (MODEL.ckpt)"},
    {.name = "checkpoint-every",
     .kind = OPT_REAL,
     FIELD(checkpoint_every),
     .argument = "S",
     .min = 0,
     .max = INFINITY,
     .help = "seconds between two checkpoints (600)"},
    {.name = "resume",
     .kind = OPT_FILE,
     FIELD(resume),
     .argument = "FILE",
     .help = "go on from this checkpoint, with its options"},
    OPT_HEADING("resources"),
    THREADS_OPTION(fit_settings, "threads (auto = the processors allowed)"),
    {.name = "max-memory",
     .kind = OPT_SIZE,
     FIELD(max_memory),
     SEEN(has_memory),
     .argument = "SIZE",
     .help = "use no more memory, at the price of speed (what is left); K, M, G"},
    {.name = "dry-run", .kind = OPT_FLAG, FIELD(dry_run), .help = "read, print the memory plan, stop"},
    {.name = "seed",
     .kind = OPT_UINT64,
     FIELD(seed),
     .argument = "N",
     .resume = OPT_RESUMED,
     .help = "of hold-out and random starts (1)"},
    OPT_HEADING("solver"),
    {.name = "solver",
     .kind = OPT_CHOICE,
     FIELD(solver),
     .argument = "NAME",
     .choices = fit_solver_names,
     .resume = OPT_RESUMED,
     .help = "gcg (default); comparators, with --rank: als-cg, soft-impute",
     .not_in = FIT_PATH | FIT_CV},
    {.name = "atoms",
     .kind = OPT_COUNT,
     FIELD(atoms),
     .argument = "N",
     .min = 1,
     .max = 1024,
     .resume = OPT_RESUMED,
     .help = "atoms per outer iteration (automatic)"},
    {.name = "plain",
     .kind = OPT_FLAG,
     FIELD(plain),
     .resume = OPT_RESUMED,
     .help = "the paper's Algorithm 3 to the letter (one atom)"},
    {.name = "precision",
     .kind = OPT_CHOICE,
     FIELD(precision),
     .argument = "auto|float|double",
     .choices = fit_precision_names,
     .resume = OPT_RESUMED,
     .help = "storage of the factors (auto); sums are always double"},
    {.name = "certify",
     .kind = OPT_FLAG,
     FIELD(certify),
     .resume = OPT_RESUMED,
     .help = "prove the bound by Cholesky up to 8000 rows or columns"},
    OPT_HEADING("reading"),
    READING_LAYOUT(fit_settings, reading),
    READING_VALUES(fit_settings, reading),
    READING_DUPLICATES(fit_settings, reading),
};

const opt_command command_fit = {
    .name = "fit",
    .summary = "solve a matrix completion problem, write a model",
    .usage = "fit --lambda L -o MODEL [options] TRAIN...",
    .about = "Minimises 1/2 sum over ratings of (W_ij - X_ij)^2 + lambda * (trace norm of W)\n"
             "to a certified gap. Writes MODEL, MODEL.done, and a log to standard output.\n"
             "TRAIN: rating files, a folder of Netflix files, or - for standard input.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .bit = FIT_FIT,
    .run = cmd_fit,
    .given_offset = offsetof(fit_settings, given),
};

const opt_command command_path = {
    .name = "path",
    .summary = "fits at falling lambdas, the best by validation kept",
    .usage = "path -o PREFIX [options] TRAIN...",
    .about = "Fits as gcg-mc fit does at each lambda, from the largest, each from the model before. The\n"
             "best by validation (--valid or --holdout; without them the last) becomes PREFIX.\n"
             "Stops when the validation RMSE has risen three times in a row.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .bit = FIT_PATH,
    .run = cmd_path,
    .given_offset = offsetof(fit_settings, given),
};

const opt_command command_cv = {
    .name = "cv",
    .summary = "error by lambda on held-out parts of the ratings",
    .usage = "cv [options] TRAIN...",
    .about = "Cross-validation: holds each of K parts of the ratings out in turn, fits the others at\n"
             "falling lambdas as gcg-mc path does, and prints the RMSE on the part held out, then the\n"
             "means by lambda. With -o MODEL, all ratings are fitted at the lambda chosen.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .bit = FIT_CV,
    .run = cmd_cv,
    .given_offset = offsetof(fit_settings, given),
};

static int check_lambda(const fit_settings *s)
{
    if (s->command != FIT_FIT)
        return s->lambdas.count > 0 && (s->has_n_lambdas || s->has_min_ratio)
                   ? report_usage("--lambdas names them all: leave --n-lambdas and --min-ratio out")
                   : 0;
    if (s->has_lambda && s->has_ratio) return report_usage("--lambda and --lambda-ratio: give one of them");
    if (!s->has_lambda && !s->has_ratio)
        return report_usage(
            "no lambda: give --lambda L (> 0), or --lambda-ratio R (a fraction of lambda_max)");
    if (s->has_lambda && s->lambda == 0 && !s->has_rank)
        return report_usage("--lambda 0: without a penalty the rank must be limited; add --rank K");
    return 0;
}

/* What the reading options ask for must be possible: found out before any file is touched. */
static int check_reading(const fit_settings *s)
{
    gcg_read_options options = reading_options(&s->reading);
    gcg_err err;
    return gcg_read_options_check(&options, &err) == GCG_OK ? 0 : report_error(&err, NULL);
}

/* Standard input can be read once. */
static int check_stdin(const fit_settings *s)
{
    const char *const others[] = {s->valid, s->test, s->test_pairs};
    int n = 0;
    for (int i = 0; i < s->train_count; i++) n += strcmp(s->train[i], "-") == 0;
    for (int i = 0; i < 3; i++) n += others[i] && strcmp(others[i], "-") == 0;
    return n > 1 ? report_usage("standard input (-) can be read only once") : 0;
}

/* The files that fit writes and what each is called in messages. */
typedef struct {
    const char *path[4], *option[4];
    int count;
} output_list;

/* done and checkpoint: room for PATH_MAX + 8 bytes each. */
static void list_outputs(const fit_settings *s, char *done, char *checkpoint, output_list *list)
{
    list->count = 0;
    if (s->output) {
        snprintf(done, PATH_MAX + 8, "%s.done", s->output);
        list->option[0] = "-o";
        list->path[0] = s->output;
        list->option[1] = "MODEL.done";
        list->path[1] = done;
        list->count = 2;
    }
    if (fit_checkpoint_name(s, checkpoint, PATH_MAX + 8)) {
        list->option[list->count] = "--checkpoint";
        list->path[list->count++] = checkpoint;
    }
    if (!s->log || !strcmp(s->log, "-") || !strcmp(s->log, "none")) return;
    list->option[list->count] = "--log";
    list->path[list->count++] = s->log;
}

static int check_input(const output_list *outputs, const char *input)
{
    if (!input || strcmp(input, "-") == 0) return 0;
    for (int k = 0; k < outputs->count; k++)
        if (gcg_output_same_file(outputs->path[k], input))
            return report_usage("%s %s is also an input: it would be overwritten", outputs->option[k],
                                outputs->path[k]);
    return 0;
}

/* --keep-all: PREFIX.1, PREFIX.2, ... */
static int check_numbered(const fit_settings *s, const char *input)
{
    int64_t most = s->lambdas.count > 0 ? s->lambdas.count : s->n_lambdas;
    char name[PATH_MAX + 24];
    if (!s->keep_all || !input || strcmp(input, "-") == 0) return 0;
    for (int64_t k = 1; k <= most; k++) {
        snprintf(name, sizeof name, "%s.%" PRId64, s->output, k);
        if (gcg_output_same_file(name, input))
            return report_usage("--keep-all would overwrite an input, %s", name);
    }
    return 0;
}

/* A folder stands for the files in it. */
static int check_train(const fit_settings *s, const output_list *outputs, const char *train)
{
    gcg_paths paths = {0};
    gcg_err err;
    int code = 0;
    if (strcmp(train, "-") == 0) return 0;
    if (gcg_paths_add(&paths, train, &err) != GCG_OK) code = report_error(&err, NULL);
    for (int i = 0; i < paths.count && !code; i++) code = check_input(outputs, paths.path[i]);
    for (int i = 0; i < paths.count && !code; i++) code = check_numbered(s, paths.path[i]);
    gcg_paths_release(&paths);
    return code;
}

static int same_name(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || gcg_output_same_file(a, b);
}

/* No output may name another one. */
static int check_each_other(const output_list *outputs)
{
    for (int k = 0; k < outputs->count; k++)
        for (int i = 0; i < k; i++)
            if (same_name(outputs->path[k], outputs->path[i]))
                return report_usage("%s %s is also the file of %s", outputs->option[k], outputs->path[k],
                                    outputs->option[i]);
    return 0;
}

/* Nor an input; but the checkpoint that a fit goes on from may be where it writes the next one. */
static int check_outputs(const fit_settings *s)
{
    const char *const others[] = {s->valid, s->test, s->test_pairs};
    char done[PATH_MAX + 8], checkpoint[PATH_MAX + 8];
    output_list outputs;
    if (s->output && strcmp(s->output, "-") == 0)
        return report_usage("-o -: a model cannot go to standard output");
    if (s->checkpoint && strcmp(s->checkpoint, "-") == 0)
        return report_usage("--checkpoint -: a checkpoint cannot go to standard output");
    if (s->output && strlen(s->output) >= PATH_MAX) return report_usage("-o: the name is too long");
    list_outputs(s, done, checkpoint, &outputs);
    int code = check_each_other(&outputs);
    if (!code && s->init && outputs.count > 0 && outputs.path[outputs.count - 1] == s->log &&
        gcg_output_same_file(s->log, s->init))
        return report_usage("--log %s is also an input: it would be overwritten", s->log);
    for (int i = 0; i < s->train_count && !code; i++) code = check_train(s, &outputs, s->train[i]);
    for (int i = 0; i < 3 && !code; i++) code = check_input(&outputs, others[i]);
    for (int i = 0; i < 3 && !code; i++) code = check_numbered(s, others[i]);
    for (int k = 0; k < outputs.count && !code && s->resume; k++)
        if (outputs.path[k] != checkpoint && gcg_output_same_file(outputs.path[k], s->resume))
            code = report_usage("%s %s is also the checkpoint of --resume: it would be overwritten",
                                outputs.option[k], outputs.path[k]);
    return code;
}

/* A comparator works at a given rank, and has no atoms and no proof to choose. */
static int check_solver(const fit_settings *s)
{
    const char *name = fit_solver_names[s->solver];
    const char *foreign = s->lambda_auto                   ? "lambda auto"
                          : s->plain                       ? "plain"
                          : s->atoms > 0                   ? "atoms"
                          : s->certify                     ? "certify"
                          : s->init                        ? "init"
                          : gcg_norm_is_weighted(&s->norm) ? "norm-weights"
                          : s->norm.user_bias > 0          ? "user-bias"
                          : s->reading.weights             ? "weights"
                                                           : NULL;
    if (s->solver == FIT_SOLVER_GCG) return 0;
    if (foreign)
        return report_usage("--%s belongs to --solver gcg: leave it out with --solver %s", foreign, name);
    if (!s->has_rank) return report_usage("--solver %s does not find the rank: add --rank K", name);
    return 0;
}

static int check_rest(const fit_settings *s)
{
    int is_fit = s->command == FIT_FIT;
    if ((s->test != NULL) + (s->test_pairs != NULL) + (is_fit && s->has_holdout) > 1)
        return report_usage("--test%s --test-pairs%s: give one of them", is_fit ? "," : " and",
                            is_fit ? " and --holdout" : "");
    if (s->command == FIT_CV && !s->output && (s->log || s->test || s->select != FIT_SELECT_MIN))
        return report_usage("--%s is about the model of -o: name one", s->log    ? "log"
                                                                       : s->test ? "test"
                                                                                 : "select");
    if (s->command == FIT_CV && s->log && strcmp(s->log, "-") == 0)
        return report_usage("--log -: the table goes to standard output; name a file");
    if (!is_fit && s->valid && s->has_holdout)
        return report_usage("--valid and --holdout both make the validation set: give one of them");
    if (s->keep == FIT_KEEP_BEST && !s->valid)
        return report_usage("--keep best needs --valid FILE to choose by");
    if (s->plain && s->atoms > 1)
        return report_usage("--plain adds one atom per iteration: leave --atoms out");
    if (s->norm.user_bias > 0 && s->plain)
        return report_usage("--plain knows no biases: leave --user-bias out");
    if (s->norm.user_bias > 0 && fit_has_no_penalty(s))
        return report_usage("--user-bias needs a lambda above 0");
    if (s->init && s->lambda_auto)
        return report_usage("--lambda auto starts from the models that it tries: leave --init out");
    if (s->init && strcmp(s->init, "-") == 0)
        return report_usage("--init -: a model cannot be read from standard input; name its file");
    if (s->has_norm_smooth && s->norm.smooth > 0 && s->norm.exponent_user == 0 && s->norm.exponent_item == 0)
        return report_usage("--norm-smooth %g changes nothing without --norm-weights counts or A > 0",
                            s->norm.smooth);
    if (s->init && s->resume) return report_usage("--init and --resume: give one of them");
    if (s->quiet && s->verbose) return report_usage("--quiet and --verbose: give one of them");
    return 0;
}

int fit_parse(int argc, char **argv, const opt_command *command, fit_settings *s)
{
    *s = (fit_settings){.command = command->bit,
                        .n_lambdas = 20,
                        .min_ratio = 0.01,
                        .folds = 5,
                        .gap = 1e-3,
                        .max_iter = 500,
                        .max_time = INFINITY,
                        .seed = 1,
                        .clip = SCORING_NO_CLIP,
                        .checkpoint_every = 600};
    int code = opt_parse(argc, argv, command, s, &s->train, &s->train_count);
    if (!code && s->resume) code = fit_resume_options(s);
    if (!code) code = check_lambda(s);
    if (!code && s->train_count == 0)
        code = report_usage("no TRAIN: name rating files, a folder, or - for standard input");
    if (!code && !s->output && !s->dry_run && s->command != FIT_CV)
        code =
            report_usage("no -o %s: where should the model go?", s->command == FIT_PATH ? "PREFIX" : "MODEL");
    if (!code) code = check_reading(s);
    if (!code) code = check_stdin(s);
    if (!code) code = check_solver(s);
    if (!code) code = check_rest(s);
    if (!code) code = check_outputs(s);
    if (code) { /* nobody goes on with s */
        gcg_mem_free(s->resumed);
        s->resumed = NULL;
    }
    return code;
}
