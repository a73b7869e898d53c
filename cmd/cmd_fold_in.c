/* gcg-mc fold-in: users join a fitted model with their ratings, the items staying as they are; their best
 * items, and the model with them. A row is maths/fold_in's, the ranking cmd/ranking's. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/blas.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/ranking.h"
#include "cmd/reading.h"
#include "cmd/report.h"
#include "cmd/scoring.h"
#include "cmd/target.h"
#include "cmd/threads.h"
#include "maths/center.h"
#include "maths/fold_in.h"
#include "maths/scales.h"

typedef struct {
    reading_settings reading;
    ranking_texts exclude;
    const char *output;
    int64_t n;
    double shrink;
    scoring_clip clip;
    int threads, quiet;
} fold_settings;

#define FIELD(name) .offset = offsetof(fold_settings, name)
static const opt_entry table[] = {
    OPT_HEADING("users and items"),
    {.name = "top",
     .letter = 'n',
     .kind = OPT_COUNT,
     FIELD(n),
     .argument = "N",
     .min = 0,
     .max = 1e15,
     .help = "items for each user (10); 0: no list, for use with -o"},
    {.name = "exclude",
     .kind = OPT_CUSTOM,
     FIELD(exclude),
     .argument = "FILE",
     .parse = ranking_add_text,
     .help = "leave out the pairs of this file, too; may be repeated"},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FILE,
     FIELD(output),
     .argument = "NEW",
     .help = "write the model with these users here"},
    OPT_HEADING("scores"),
    SCORING_OPTIONS(fold_settings, "cut the scores to this range; the ranking stays"),
    OPT_HEADING("reading"),
    READING_LAYOUT(fold_settings, reading),
    READING_VALUES(fold_settings, reading),
    READING_DUPLICATES(fold_settings, reading),
    READING_WEIGHTS(fold_settings, reading, "column of weights (> 0) of the ratings in the loss"),
    OPT_HEADING("running"),
    THREADS_OPTION(fold_settings, "threads (auto: the processors that are allowed)"),
    OPT_QUIET(fold_settings),
};

enum { USERS = 64 /* folded in by one task */ };

/* The users of RATINGS on their way into the model. */
typedef struct {
    gcg_model *model;
    double lambda;
    double exponent, smooth, mean; /* of the users' weights in the norm */
    gcg_ratings ratings;
    int32_t *row;  /* in the model, of each user of ratings */
    int32_t *item; /* in the model, of each column; -1: none that has training ratings */
    gcg_status *status;
    int32_t added, without; /* users that are new to the model; that have no rating of a known item */
    int64_t left_out;       /* ratings of other items */
} fold;

/* ---- one user ---- */

/* lambda times the weight of a row of n ratings in the norm. */
static double ridge_of(const fold *f, int64_t n)
{
    return f->lambda * gcg_norm_weight(n, f->exponent, f->mean, f->smooth);
}

/* Items, values and weights of user's ratings that can be used; returns how many. */
static int64_t collect(const fold *f, int32_t user, int32_t *item, double *value, double *weight)
{
    const gcg_csr *x = &f->ratings.x;
    int64_t n = 0;
    for (int64_t p = x->row_ptr[user]; p < x->row_ptr[user + 1]; p++) {
        if (f->item[x->col[p]] < 0) continue;
        item[n] = f->item[x->col[p]];
        weight[n] = x->weight ? (double)x->weight[p] : 1;
        value[n++] = gcg_csr_value(x, p);
    }
    return n;
}

/* Sets bias, counts and factors of the user's row in the model. */
static gcg_status fold_row(const fold *f, int32_t i, int64_t n, const int32_t *item, double *value,
                           const double *weight, double *u)
{
    gcg_model *m = f->model;
    double sum = 0, bias = gcg_center_user_bias(m->center, m->mu, m->item_bias, n, item, value);
    for (int64_t c = 0; c < n; c++) sum += value[c];
    for (int64_t c = 0; c < n; c++) value[c] -= m->mu + bias + m->item_bias[item[c]];
    gcg_status status =
        gcg_fold_in_row(&m->v, ridge_of(f, n), n, item, value, f->ratings.x.weight ? weight : NULL, u, NULL);
    if (status) return status;
    for (int32_t q = 0; q < m->u.k; q++) gcg_factors_set(&m->u, i, q, u[q]);
    m->user_bias[i] = bias;
    m->user_count[i] = n;
    m->user_sum[i] = sum;
    return GCG_OK;
}

static gcg_status fold_user(const fold *f, int32_t user)
{
    const gcg_csr *x = &f->ratings.x;
    int64_t room = x->row_ptr[user + 1] - x->row_ptr[user];
    int32_t *item = gcg_mem_alloc_array(room, sizeof *item);
    double *value = gcg_mem_alloc_array(room, sizeof *value),
           *weight = gcg_mem_alloc_array(room, sizeof *weight),
           *u = gcg_mem_alloc_array(f->model->u.k, sizeof *u);
    gcg_status status = GCG_ERR_NOMEM;
    if (item && value && weight && u) {
        int64_t n = collect(f, user, item, value, weight);
        status = fold_row(f, f->row[user], n, item, value, weight, u);
    }
    gcg_mem_free(item);
    gcg_mem_free(value);
    gcg_mem_free(weight);
    gcg_mem_free(u);
    return status;
}

static void fold_block(int64_t block, void *ctx)
{
    const fold *f = ctx;
    int64_t end = (block + 1) * USERS < f->ratings.x.rows ? (block + 1) * USERS : f->ratings.x.rows;
    for (int64_t i = block * USERS; i < end && !f->status[block]; i++)
        f->status[block] = fold_user(f, (int32_t)i);
}

/* ---- all of them ---- */

static gcg_status map_items(fold *f, gcg_err *err)
{
    char name[GCG_ID_TEXT];
    const gcg_csr *x = &f->ratings.x;
    f->item = gcg_mem_alloc_array(x->cols, sizeof *f->item);
    if (!f->item) return gcg_fail_memory(err, "items");
    for (int32_t j = 0; j < x->cols; j++) {
        int32_t item = gcg_idmap_find(f->model->items, name, gcg_idmap_name(f->ratings.items, j, name));
        f->item[j] = item >= 0 && f->model->item_count[item] > 0 ? item : -1;
    }
    for (int64_t p = 0; p < x->nnz; p++) f->left_out += f->item[x->col[p]] < 0;
    return GCG_OK;
}

/* Users that are new to the model go behind those that it has. */
static gcg_status map_users(fold *f, gcg_err *err)
{
    char name[GCG_ID_TEXT];
    int32_t users = f->ratings.x.rows, before = f->model->u.rows;
    gcg_status status = GCG_OK;
    f->row = gcg_mem_alloc_array(users, sizeof *f->row);
    if (!f->row) return gcg_fail_memory(err, "users");
    for (int32_t i = 0; i < users && !status; i++)
        status =
            gcg_idmap_add(f->model->users, name, gcg_idmap_name(f->ratings.users, i, name), &f->row[i], err);
    f->added = gcg_idmap_count(f->model->users) - before;
    return status;
}

/* *array gets room for more entries, which are zero. */
static gcg_status extend_array(void *array, int32_t count, int32_t more, gcg_err *err)
{
    void **a = array;
    char *longer = gcg_mem_resize_array(*a, count, (int64_t)count + more, 8);
    if (!longer) return gcg_fail_memory(err, "users");
    memset(longer + (size_t)count * 8, 0, (size_t)more * 8);
    *a = longer;
    return GCG_OK;
}

static gcg_status extend(gcg_model *m, int32_t more, gcg_err *err)
{
    gcg_factors u;
    int32_t rows = m->u.rows;
    gcg_status s;
    if (more == 0) return GCG_OK;
    if ((s = extend_array(&m->user_count, rows, more, err)) ||
        (s = extend_array(&m->user_sum, rows, more, err)) ||
        (s = extend_array(&m->user_bias, rows, more, err)) ||
        (s = gcg_factors_init(&u, rows + more, m->u.k, m->u.type, err)))
        return s;
    memcpy(u.data, m->u.data, (size_t)rows * (size_t)u.stride * u.type);
    gcg_factors_release(&m->u);
    m->u = u;
    return GCG_OK;
}

/* The users' rows, in the model. */
static gcg_status fold_all(fold *f, gcg_err *err)
{
    int64_t blocks = ((int64_t)f->ratings.x.rows + USERS - 1) / USERS;
    gcg_status status = gcg_blas_reserve(gcg_par_threads(), err);
    if (!status) status = map_items(f, err);
    if (!status) status = map_users(f, err);
    if (!status) status = extend(f->model, f->added, err);
    if (!status && !(f->status = gcg_mem_zalloc_array(blocks, sizeof *f->status)))
        status = gcg_fail_memory(err, "users");
    if (status) return status;
    gcg_par_blocks(blocks, fold_block, f);
    for (int64_t b = 0; b < blocks; b++) {
        if (f->status[b] == GCG_ERR_NOMEM) return gcg_fail_memory(err, "folding in");
        if (f->status[b])
            return gcg_fail(err, f->status[b], NULL, 0, 0,
                            "a folded-in row is not finite: ratings out of range?");
    }
    for (int32_t i = 0; i < f->ratings.x.rows; i++) f->without += f->model->user_count[f->row[i]] == 0;
    return GCG_OK;
}

/* model.json says how many users came after the fit: the last member of its description. */
static gcg_status describe(gcg_model *m, int32_t added, gcg_err *err)
{
    static const char key[] = "folded_in", start[] = ",\n    \"folded_in\": ";
    double before = 0;
    if (added == 0) return GCG_OK;
    gcg_model_number(m, key, &before);
    char *old = m->options_json, *end = before > 0 ? strstr(old, start) : strrchr(old, '\n');
    if (!end) return GCG_OK; /* not a description as fit writes it */
    size_t length = (size_t)(end - old), room = length + sizeof start + 32;
    char *text = gcg_mem_alloc_array((int64_t)room, 1);
    if (!text) return gcg_fail_memory(err, "model");
    snprintf(text, room, "%.*s%s%.0f\n  }", (int)length, old, start, before + added);
    gcg_mem_free(old);
    m->options_json = text;
    return GCG_OK;
}

/* ---- the lists ---- */

static gcg_status list_users(const fold_settings *s, const fold *f, const gcg_exclusion *more, gcg_err *err)
{
    char id[GCG_ID_TEXT];
    target t = {0};
    gcg_exclusion own;
    ranking r = {.model = f->model, .scorer = scoring_of_model(f->model, s->shrink, s->clip)};
    r.exclusion[0] = s->exclude.count > 0 ? more : NULL;
    r.exclusion[1] = &own;
    gcg_status status = gcg_exclusion_view(&f->ratings, f->model->items, &own, err);
    if (!status) status = target_open(&t, "-", &r.sink, err);
    if (!status) status = ranking_begin(&r, s->n, f->without > 0, err);
    for (int32_t i = 0; i < f->ratings.x.rows && !status; i++)
        status = ranking_add(&r, id, gcg_idmap_name(f->ratings.users, i, id), f->row[i], err);
    if (!status) status = ranking_finish(&r, err);
    ranking_release(&r);
    gcg_exclusion_release(&own);
    target_release(&t);
    return t.write_error == EPIPE ? GCG_OK : status;
}

static void tell(const fold_settings *s, const fold *f)
{
    const gcg_csr *x = &f->ratings.x;
    report_note("%" PRId32 " users folded in, %" PRId32 " of them new to the model", x->rows, f->added);
    if (f->left_out > 0)
        report_warning("%" PRId64 " of %" PRId64 " ratings left out: their items have no training ratings",
                       f->left_out, x->nnz);
    if (f->without > 0)
        report_warning("%" PRId32 " of %" PRId32
                       " users have no rating of an item that the model knows: they get the "
                       "items by their mean",
                       f->without, x->rows);
    if (!x->weight && gcg_model_flag(f->model, "weights"))
        report_note("the fit had weights, these ratings weigh 1 each; --weights COL reads theirs");
    if (s->exclude.count == 0 && s->n > 0)
        report_note("only the pairs of RATINGS are left out; --exclude FILE leaves out more");
}

/* What the model says of its fit, and the ratings. */
static gcg_status read_all(const fold_settings *s, const char *name, char **paths, int path_count, fold *f,
                           gcg_exclusion *more, gcg_diag *diag, gcg_err *err)
{
    gcg_read_options options = reading_options(&s->reading);
    gcg_status status = s->output ? gcg_output_test(s->output, err) : GCG_OK;
    if (!status && !gcg_model_number(f->model, "lambda", &f->lambda))
        status =
            gcg_fail(err, GCG_ERR_DATA, name, 0, 0, "does not say its lambda: fold-in needs a model of fit");
    gcg_model_number(f->model, "norm_exponent_user", &f->exponent);
    gcg_model_number(f->model, "norm_smooth", &f->smooth);
    gcg_model_number(f->model, "norm_mean_user", &f->mean);
    if (!status && s->exclude.count > 0)
        status =
            gcg_exclusion_read(s->exclude.text, s->exclude.count, &options, f->model->items, diag, more, err);
    return status
               ? status
               : gcg_ratings_read((const char *const *)paths, path_count, &options, diag, &f->ratings, err);
}

static gcg_status write_model(const fold_settings *s, const fold *f, gcg_err *err)
{
    if (gcg_interrupt_requested())
        return gcg_fail(err, GCG_ERR_IO, s->output, 0, 0, "interrupted, not written");
    gcg_status status = describe(f->model, f->added, err);
    return status ? status : gcg_model_write(s->output, f->model, err);
}

static int fold_in(const fold_settings *s, const char *name, gcg_model *model, char **paths, int path_count)
{
    fold f = {.model = model, .mean = 1};
    gcg_exclusion more = {0};
    gcg_diag diag = report_diag();
    gcg_err err = {0};
    if (s->output) target_catch_signals(); /* so that no temporary file stays behind */
    gcg_status status = read_all(s, name, paths, path_count, &f, &more, &diag, &err);
    if (!status) status = fold_all(&f, &err);
    if (!status && s->output) status = write_model(s, &f, &err);
    if (!status) tell(s, &f);
    if (!status) status = list_users(s, &f, &more, &err);
    int code = status ? target_report(&err, &diag) : report_close_stdout();
    gcg_exclusion_release(&more);
    gcg_ratings_release(&f.ratings);
    gcg_mem_free(f.row);
    gcg_mem_free(f.item);
    gcg_mem_free(f.status);
    return code;
}

static int check_names(const fold_settings *s, char **words, int word_count)
{
    int stdins = 0, same = s->output && gcg_output_same_file(s->output, words[0]);
    int code = scoring_check_name(words[0]);
    if (code) return code;
    if (s->output && strcmp(s->output, "-") == 0)
        return report_usage("-o -: a model cannot go to standard output");
    for (int k = 1; k < word_count + s->exclude.count; k++) {
        const char *path = k < word_count ? words[k] : s->exclude.text[k - word_count];
        stdins += strcmp(path, "-") == 0;
        same |= s->output && gcg_output_same_file(s->output, path);
    }
    if (stdins > 1) return report_usage("standard input (-) is named twice");
    return same ? report_usage("-o names one of the inputs") : 0;
}

static int cmd_fold_in(int argc, char **argv)
{
    fold_settings s = {.n = RANKING_N, .shrink = GCG_SCORE_SHRINK, .clip = SCORING_NO_CLIP};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_fold_in, &s, &words, &word_count);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    if (word_count < 2) return report_usage("fold-in wants MODEL and RATINGS, not %d names", word_count);
    if ((code = check_names(&s, words, word_count)) != 0) return code;
    gcg_par_set_threads(threads_choose(s.threads));
    gcg_model model;
    if ((code = scoring_read_model(words[0], &model)) != 0) return code;
    code = fold_in(&s, words[0], &model, words + 1, word_count - 1);
    gcg_model_release(&model);
    return code;
}

const opt_command command_fold_in = {
    .name = "fold-in",
    .summary = "add users to a model without refitting; their best items",
    .usage = "fold-in [OPTION]... MODEL RATINGS... [-o NEW]",
    .about = "Takes users' full rating histories, keeps the items, and prints each user's best items.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_fold_in,
};
