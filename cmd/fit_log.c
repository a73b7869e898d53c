/* The log of fit and the scores of the iterates: see fit.h and gcg-mc-log(5). */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/fit.h"
#include "cmd/report.h"
#include "cmd/version.h"
#include "maths/certificate.h"

/* The sum of a log's bytes, byte by byte: FNV-1a. */
static const uint64_t NO_BYTES = 14695981039346656037U, NEXT_BYTE = 1099511628211;

static void count(fit_log_place *at, const char *text)
{
    for (; *text; text++) {
        at->sum = (at->sum ^ (unsigned char)*text) * NEXT_BYTE;
        at->lines += *text == '\n';
    }
}

static int is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

gcg_status fit_log_open(fit_log *log, const fit_settings *s, const fit_data *d, gcg_err *err)
{
    *log = (fit_log){
        .s = s, .d = d, .valid_rmse = NAN, .test_rmse = NAN, .pace = {.iter = -1, .deadline = INFINITY}};
    log->at.sum = NO_BYTES;
    log->progress_line = !s->quiet && isatty(STDERR_FILENO);
    log->is_stdout = s->log ? strcmp(s->log, "-") == 0 : s->command != FIT_CV;
    log->shares_terminal = log->progress_line && log->is_stdout && isatty(STDOUT_FILENO);
    log->name = log->is_stdout ? "stdout" : s->log;
    if (log->is_stdout) {
        log->file = stdout;
    } else if (s->log && strcmp(s->log, "none") != 0) {
        log->file = fopen(s->log, s->resume && is_file(s->log) ? "r+" : "w");
        if (!log->file)
            return gcg_fail(err, GCG_ERR_IO, s->log, 0, 0, "cannot write the log: %s", strerror(errno));
    }
    return GCG_OK;
}

static const char resumed_key[] = "# resumed";
enum { LONGEST = 2048 /* bytes that are written at a time: a row, or some lines of the head */ };

/* Writes and flushes; a log that can no longer be written is given up, the fit goes on. */
static void put(fit_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(fit_log *log, const char *format, ...)
{
    char text[LONGEST];
    if (!log->file || log->muted) return;
    if (log->shares_terminal) fit_log_clear(log);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    count(&log->at, text);
    if (fputs(text, log->file) >= 0 && fflush(log->file) == 0) return;
    log->lost_errno = errno;
    log->lost = errno != EPIPE;
    if (!log->is_stdout) fclose(log->file);
    log->file = NULL;
}

static void put_number(fit_log *log, const char *key, double value)
{
    char text[32];
    put(log, "# %s\t%s\n", key, report_number(text, value));
}

void fit_log_head_data(fit_log *log)
{
    const fit_data *d = log->d;
    const fit_settings *s = log->s;
    char quoted[256];
    put(log, "# version\t%s\n", version_number);
    for (int i = 0; i < s->train_count; i++)
        put(log, "# train\t%s\n", gcg_quote(quoted, s->train[i], (int64_t)strlen(s->train[i])));
    put(log, "# users\t%" PRId32 "\n# items\t%" PRId32 "\n# ratings\t%" PRId64 "\n", d->ratings.x.rows,
        d->ratings.x.cols, d->ratings.x.nnz);
    put_number(log, "min", d->stats.min);
    put_number(log, "max", d->stats.max);
    put_number(log, "mean", d->margins.mean);
}

void fit_log_head(fit_log *log, const fit_plan *plan, double lambda_max, int threads)
{
    char quoted[256];
    const fit_data *d = log->d;
    const fit_settings *s = log->s;
    put_number(log, "center", d->center.mu);
    put(log, "# center_kind\t%s\n", fit_center_names[s->center]);
    put(log, "# weights\t%s\n",
        s->reading.weights ? gcg_quote(quoted, s->reading.weights, (int64_t)strlen(s->reading.weights))
                           : "none");
    put_number(log, "norm_exponent_user", s->norm.exponent_user);
    put_number(log, "norm_exponent_item", s->norm.exponent_item);
    put_number(log, "norm_smooth", s->norm.smooth);
    put_number(log, "user_bias", s->norm.user_bias);
    put_number(log, "lambda_max", lambda_max);
    put(log, "# threads\t%d\n# valid_n\t%" PRId64 "\n# test_n\t%" PRId64 "\n", threads, d->valid.pairs.n,
        d->test.pairs.n);
    put_number(log, "read_s", d->read_seconds);
    put(log, "# solver\t%s%s\n# precision\t%s\n# seed\t%" PRIu64 "\n", fit_solver_names[s->solver],
        s->plain ? " plain" : "", fit_precision_names[s->precision], s->seed);
    put(log, "# memory_plan\t%s\n", plan->text);
    if (plan->cap > 0)
        put(log, "# rank_cap\t%" PRId32 "\n", plan->cap);
    else
        put(log, "# rank_cap\tnone\n");
}

void fit_log_begin(fit_log *log, double lambda, double gap)
{
    if (log->blocks++ > 0) put(log, "\n\n"); /* so gnuplot's index tells them apart */
    put_number(log, "lambda", lambda);
    put_number(log, "gap", gap);
    put(log, "iter\ttime_s\tobjective\tdual\tgap\tnuc_norm\trank\ttrain_rmse\tvalid_rmse\ttest_"
             "rmse\tmatvecs\tpasses\n");
}

/* Where the log that is there is to be cut, when it begins with what is before the mark: -1 when it does not.
 * log->at comes to that place. */
static off_t end_of_row(fit_log *log, int64_t iter)
{
    char line[LONGEST];
    int64_t seen = -1;
    rewind(log->file);
    while (log->at.lines < log->mark.lines && fgets(line, sizeof line, log->file)) count(&log->at, line);
    if (log->mark.lines == 0 || log->at.lines != log->mark.lines || log->at.sum != log->mark.sum) return -1;
    off_t end = ftello(log->file);
    while (fgets(line, sizeof line, log->file) && strchr(line, '\n')) {
        int is_row = *line >= '0' && *line <= '9';
        if (!is_row && strncmp(line, resumed_key, sizeof resumed_key - 1) != 0) break;
        if (is_row && strtoll(line, NULL, 10) >= iter) break;
        if (is_row) seen = strtoll(line, NULL, 10);
        count(&log->at, line);
        end = ftello(log->file);
    }
    return log->mark.silent || seen == iter - 1 ? end : -1;
}

void fit_log_resume(fit_log *log, int64_t iter)
{
    if (!log->s->resume || !log->file || log->is_stdout || !is_file(log->s->log)) return;
    off_t end = end_of_row(log, iter), place = end < 0 ? 0 : end;
    if (end < 0) log->at = (fit_log_place){.sum = NO_BYTES};
    log->muted = end >= 0;
    if (fseeko(log->file, place, SEEK_SET) == 0 && ftruncate(fileno(log->file), place) == 0) return;
    log->lost = 1;
    log->lost_errno = errno;
    fclose(log->file);
    log->file = NULL;
}

void fit_log_mark(fit_log *log, int64_t iter)
{
    if (log->muted) {
        log->muted = 0;
        put(log, "%s\t%" PRId64 "\n", resumed_key, iter);
        return;
    }
    log->mark = log->at;
    log->mark.silent = log->silent;
}

/* ---- scores ---- */

gcg_status fit_score(const fit_settings *s, const fit_data *d, const fit_set *set, const gcg_progress *p,
                     double *rmse, gcg_err *err)
{
    gcg_score_sums sums = {0};
    *rmse = NAN;
    if (!set->given) return GCG_OK;
    gcg_scorer scorer = {.u = p->u,
                         .v = p->v,
                         .user_scale = p->row_scale,
                         .item_scale = p->col_scale,
                         .mu = d->center.mu,
                         .user_bias = d->center.user_bias,
                         .item_bias = d->center.item_bias,
                         .user_count = d->margins.user_count,
                         .item_count = d->margins.item_count,
                         .user_sum = d->margins.user_sum,
                         .item_sum = d->margins.item_sum,
                         .mean = d->margins.mean,
                         .shrink = GCG_SCORE_SHRINK,
                         .low = s->clip.low,
                         .high = s->clip.high};
    gcg_status status =
        gcg_score_add(&scorer, set->pairs.n, set->pairs.user, set->pairs.item, set->pairs.value, &sums, err);
    *rmse = gcg_score_all_row(&sums).rmse;
    return status;
}

/* Of the iterate: squared column norms of the balanced factors; 0 for a column of biases, which is the last.
 */
static gcg_status singular_values(const gcg_factors *u, int biased, double **out, gcg_err *err)
{
    double *s = gcg_mem_zalloc_array(u->k, sizeof *s);
    if (!s) return gcg_fail_memory(err, "model");
    for (int32_t i = 0; i < u->rows; i++)
        for (int32_t q = 0; q < u->k; q++) s[q] += gcg_factors_get(u, i, q) * gcg_factors_get(u, i, q);
    if (biased) s[u->k - 1] = 0;
    *out = s;
    return GCG_OK;
}

void fit_best_release(fit_best *best)
{
    gcg_factors_release(&best->u);
    gcg_factors_release(&best->v);
    gcg_mem_free(best->singular_values);
    best->singular_values = NULL;
}

static gcg_status take_if_best(fit_log *log, const gcg_progress *p, gcg_err *err)
{
    fit_best *best = &log->best;
    if (log->s->keep != FIT_KEEP_BEST) return GCG_OK;
    if (best->taken && log->valid_rmse >= best->valid_rmse) return GCG_OK; /* nan: nothing to choose by */
    fit_best_release(best);
    gcg_status status = gcg_factors_copy(p->u, p->u->type, &best->u, err);
    if (!status) status = gcg_factors_copy(p->v, p->v->type, &best->v, err);
    if (!status) status = singular_values(p->u, log->s->norm.user_bias > 0, &best->singular_values, err);
    if (!status && p->row_scale) {
        gcg_factors_scale_rows(&best->u, p->row_scale);
        gcg_factors_scale_rows(&best->v, p->col_scale);
    }
    best->at = *p;
    best->valid_rmse = log->valid_rmse;
    best->test_rmse = log->test_rmse;
    best->taken = 1;
    return status;
}

/* ---- an iteration ---- */

gcg_status fit_log_progress(const gcg_progress *p, void *user, gcg_err *err)
{
    fit_log *log = user;
    char text[8][32];
    if (log->silent) {
        fit_progress_take(log, p);
        return GCG_OK;
    }
    gcg_status status = fit_score(log->s, log->d, &log->d->valid, p, &log->valid_rmse, err);
    if (!status) status = fit_score(log->s, log->d, &log->d->test, p, &log->test_rmse, err);
    if (!status) status = take_if_best(log, p, err);
    if (status) return status;
    const double values[8] = {p->time_s,   p->objective,  p->dual,         p->gap,
                              p->nuc_norm, p->train_rmse, log->valid_rmse, log->test_rmse};
    for (int i = 0; i < 8; i++) report_number(text[i], values[i]);
    put(log, "%" PRId64 "\t%s\t%s\t%s\t%s\t%s\t%" PRId32 "\t%s\t%s\t%s\t%" PRId64 "\t%.0f\n", p->iter,
        text[0], text[1], text[2], text[3], text[4], p->rank, text[5], text[6], text[7], p->matvecs,
        p->passes);
    fit_progress_take(log, p);
    return GCG_OK;
}

/* The bound of the run's end holds for every iterate. */
static void give_last_bound(gcg_progress *at, const gcg_progress *last)
{
    at->dual = last->dual;
    at->rule = last->rule;
    at->probability = last->probability;
    at->gap = isnan(at->dual) ? NAN : gcg_certificate_gap(at->objective, at->dual);
}

void fit_log_end(fit_log *log, const gcg_solver_result *result)
{
    const gcg_progress *p = &result->last;
    give_last_bound(&log->best.at, p);
    if (p->rule == GCG_CERT_PROBABILITY)
        put(log, "# certificate\tprobability %.1g\n", p->probability);
    else
        put(log, "# certificate\t%s\n", gcg_certificate_name(p->rule));
    put(log, "# status\t%s\n", gcg_stop_name(result->stop));
}

/* ---- a path ---- */

void fit_log_tried(fit_log *log, const fit_log_row *row, const char *center, const gcg_norm *norm)
{
    const double values[7] = {norm->exponent_user, norm->exponent_item, norm->smooth,   row->lambda,
                              row->at.gap,         row->valid_rmse,     norm->user_bias};
    char text[7][32];
    for (int i = 0; i < 7; i++) report_number(text[i], values[i]);
    put(log, "# tried\t%s\t%s\t%s\t%s\t%s\t%s\t%" PRId32 "\t%s\t%s\n", center, text[0], text[1], text[2],
        text[3], text[4], row->at.rank, text[5], text[6]);
}

static const char summary_names[] = "lambda\titerations\ttime_s\tobjective\tdual\tgap\tnuc_norm\trank\t"
                                    "train_rmse\tvalid_rmse\ttest_rmse\tpasses\tstatus";

static void put_row(fit_log *log, const char *before, const fit_log_row *row)
{
    const gcg_progress *p = &row->at;
    const double values[9] = {row->lambda, p->time_s,     p->objective,    p->dual,       p->gap,
                              p->nuc_norm, p->train_rmse, row->valid_rmse, row->test_rmse};
    char text[9][32];
    for (int i = 0; i < 9; i++) report_number(text[i], values[i]);
    put(log, "%s%s\t%" PRId64 "\t%s\t%s\t%s\t%s\t%s\t%" PRId32 "\t%s\t%s\t%s\t%.0f\t%s\n", before, text[0],
        p->iter, text[1], text[2], text[3], text[4], text[5], p->rank, text[6], text[7], text[8], p->passes,
        gcg_stop_name(row->stop));
}

fit_log_row fit_log_row_of(const fit_outcome *o)
{
    fit_log_row row = {.lambda = o->lambda,
                       .valid_rmse = o->valid_rmse,
                       .test_rmse = o->test_rmse,
                       .stop = o->stop,
                       .at = o->written};
    row.at.u = row.at.v = NULL;
    return row;
}

void fit_log_summary(fit_log *log, const fit_log_row *row)
{
    put_row(log, "# summary\t", row);
}

void fit_log_table(fit_log *log, const fit_log_row *rows, int count)
{
    put(log, "\n\n%s\n", summary_names);
    for (int i = 0; i < count; i++) put_row(log, "", &rows[i]);
}

gcg_status fit_log_close(fit_log *log, gcg_err *err)
{
    if (log->file && !log->is_stdout && fclose(log->file) != 0) {
        log->lost = 1;
        log->lost_errno = errno;
    }
    log->file = NULL;
    if (!log->lost) return GCG_OK;
    return gcg_fail(err, GCG_ERR_IO, log->name, 0, 0, "the log was lost: %s", strerror(log->lost_errno));
}

void fit_log_release(fit_log *log)
{
    if (log->file && !log->is_stdout) fclose(log->file);
    log->file = NULL;
    fit_best_release(&log->best);
}
