/* gcg-mc check: reads rating files as fit would and says what is in them, one "key TAB value" a line. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/blas.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/memory.h"
#include "cmd/commands.h"
#include "cmd/reading.h"
#include "cmd/report.h"
#include "cmd/threads.h"
#include "io/ratings.h"
#include "solvers/solver.h"

enum {
    MAX_VALUES = 200, /* distinct values listed one by one; more are binned */
    BINS = 20
};
static const double quantiles[] = {0, 0.25, 0.5, 0.75, 0.9, 0.99, 1};

typedef struct {
    reading_settings reading;
    const char *test;
    int lambda_max, threads, quiet;
} check_settings;

static const opt_entry table[] = {
    OPT_HEADING("what to count"),
    {.name = "test",
     .kind = OPT_FILE,
     .offset = offsetof(check_settings, test),
     .argument = "FILE",
     .help = "also count its pairs that occur in training or have new ids"},
    {.name = "lambda-max",
     .kind = OPT_FLAG,
     .offset = offsetof(check_settings, lambda_max),
     .help = "also compute lambda_max, the smallest lambda whose solution is zero"},
    OPT_HEADING("reading"),
    READING_LAYOUT(check_settings, reading),
    READING_VALUES(check_settings, reading),
    READING_DUPLICATES(check_settings, reading),
    READING_WEIGHTS(check_settings, reading, "column of weights (> 0) of the ratings in the loss"),
    OPT_HEADING("running"),
    THREADS_OPTION(check_settings, "threads that read (auto: the processors that are allowed)"),
    OPT_QUIET(check_settings),
};

static void print_count(const char *key, int64_t count)
{
    printf("%s\t%" PRId64 "\n", key, count);
}

static void print_real(const char *key, double value)
{
    char text[32];
    printf("%s\t%s\n", key, report_number(text, value));
}

/* The shortest text that reads back as value. */
static const char *short_number(char text[32], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

typedef struct {
    double value;
    int64_t count;
} value_count;

/* Distinct values in ascending order; returns how many, or MAX_VALUES + 1 when there are more than can be
 * listed. */
static int count_values(const gcg_csr *x, value_count *list)
{
    int n = 0;
    for (int64_t p = 0; p < x->nnz; p++) {
        double v = gcg_csr_value(x, p);
        int low = 0, high = n;
        while (low < high) {
            int middle = (low + high) / 2;
            if (list[middle].value < v)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == n || list[low].value != v) {
            if (n == MAX_VALUES) return MAX_VALUES + 1;
            memmove(list + low + 1, list + low, (size_t)(n - low) * sizeof *list);
            list[low] = (value_count){.value = v};
            n++;
        }
        list[low].count++;
    }
    return n;
}

/* Equal bins from min to max, the last one closed. */
static void print_bins(const gcg_csr *x, double min, double max)
{
    int64_t count[BINS] = {0};
    char low[32], high[32];
    for (int64_t p = 0; p < x->nnz; p++) {
        int bin = (int)((gcg_csr_value(x, p) / 2 - min / 2) / (max / 2 - min / 2) * BINS);
        count[bin < BINS ? bin : BINS - 1]++;
    }
    for (int b = 0; b < BINS; b++)
        printf("value:%s..%s\t%" PRId64 "\n", short_number(low, min + (max / BINS - min / BINS) * b),
               short_number(high, b == BINS - 1 ? max : min + (max / BINS - min / BINS) * (b + 1)), count[b]);
}

static void print_values(const gcg_csr *x, const gcg_csr_stats *stats)
{
    value_count list[MAX_VALUES];
    char text[32];
    int n = count_values(x, list);
    if (n > MAX_VALUES)
        print_bins(x, stats->min, stats->max);
    else
        for (int k = 0; k < n; k++)
            printf("value:%s\t%" PRId64 "\n", short_number(text, list[k].value), list[k].count);
}

static int compare_counts(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the degrees; the quantile q is the smallest degree that at least a share q of them do not exceed. */
static void print_degrees(const char *key, int64_t *degree, int64_t n)
{
    qsort(degree, (size_t)n, sizeof *degree, compare_counts);
    for (size_t k = 0; k < sizeof quantiles / sizeof *quantiles; k++) {
        int64_t rank = (int64_t)ceil(quantiles[k] * (double)n);
        printf("%s:%g\t%" PRId64 "\n", key, quantiles[k], degree[rank > 0 ? rank - 1 : 0]);
    }
}

static int64_t count_zeros(const int64_t *count, int64_t n)
{
    int64_t zeros = 0;
    for (int64_t k = 0; k < n; k++) zeros += count[k] == 0;
    return zeros;
}

/* What fit --dry-run says without further options. */
static void print_memory(const gcg_ratings *r)
{
    gcg_solver_settings settings = gcg_solver_settings_defaults();
    settings.lambda = 1;
    memory_table memory = memory_of_data(r);
    gcg_plan_data data = gcg_plan_data_of(&r->x, &settings);
    memory.solver = gcg_complete_needs(&data, &settings, memory_rank(&r->x, 0));
    print_count("memory_bytes", memory_total(&memory));
}

static gcg_status print_ratings(const gcg_ratings *r, gcg_err *err)
{
    const gcg_csr *x = &r->x;
    gcg_csr_stats stats = gcg_csr_value_stats(x);
    int64_t *users = gcg_mem_alloc_array(x->rows, sizeof *users),
            *items = gcg_mem_alloc_array(x->cols, sizeof *items);
    if (!users || !items) {
        gcg_mem_free(users);
        gcg_mem_free(items);
        return gcg_fail_memory(err, "degrees");
    }
    for (int32_t i = 0; i < x->rows; i++) users[i] = x->row_ptr[i + 1] - x->row_ptr[i];
    gcg_csr_col_counts(x, items);
    printf("format\t%s\nheader\t%s\n", gcg_format_name(r->report.format), r->report.header ? "yes" : "no");
    print_count("users", x->rows);
    print_count("items", x->cols);
    print_count("ratings", x->nnz);
    print_count("zeros", stats.zeros);
    print_real("min", stats.min);
    print_real("max", stats.max);
    print_real("mean", stats.sum / (double)x->nnz);
    if (x->weight) {
        print_real("weight_min", stats.least_weight);
        print_real("weight_max", stats.most_weight);
        print_real("weight_mean", stats.weights / (double)x->nnz);
    }
    print_count("duplicates", r->report.duplicates);
    print_count("empty_users", count_zeros(users, x->rows));
    print_count("empty_items", count_zeros(items, x->cols));
    print_real("density", (double)x->nnz / ((double)x->rows * (double)x->cols));
    print_values(x, &stats);
    print_degrees("degree_user", users, x->rows);
    print_degrees("degree_item", items, x->cols);
    print_memory(r);
    gcg_mem_free(users);
    gcg_mem_free(items);
    return GCG_OK;
}

static gcg_status print_test(const gcg_ratings *r, const gcg_pairs *test, gcg_err *err)
{
    const int64_t *start = r->x.row_ptr;
    int64_t overlap = 0, new_users = 0, new_items = 0;
    int64_t *items = gcg_mem_alloc_array(r->x.cols, sizeof *items);
    if (!items) return gcg_fail_memory(err, "degrees");
    gcg_csr_col_counts(&r->x, items);
    for (int64_t k = 0; k < test->n; k++) {
        int32_t i = test->user[k], j = test->item[k];
        overlap += gcg_csr_find(&r->x, i, j) >= 0;
        new_users += i < 0 || start[i] == start[i + 1];
        new_items += j < 0 || items[j] == 0;
    }
    gcg_mem_free(items);
    print_count("test_n", test->n);
    print_count("test_overlap", overlap);
    print_count("test_new_users", new_users);
    print_count("test_new_items", new_items);
    return GCG_OK;
}

/* Everything after TRAIN was read. */
static gcg_status check_rest(const check_settings *s, const gcg_read_options *options, const gcg_ratings *r,
                             gcg_diag *diag, gcg_err *err)
{
    gcg_pairs test = {0};
    gcg_read_report report;
    gcg_status status = GCG_OK;
    double lambda_max;
    gcg_read_options plain = *options;
    plain.weights = NULL;
    if (s->test) status = gcg_pairs_read(&s->test, 1, &plain, r->users, r->items, diag, &test, &report, err);
    if (status == GCG_OK) status = print_ratings(r, err);
    if (status == GCG_OK && s->test) status = print_test(r, &test, err);
    if (status == GCG_OK && s->lambda_max) {
        status = gcg_blas_reserve(gcg_par_threads(), err);
        if (status == GCG_OK) status = gcg_lambda_max(&r->x, 1, NULL, &lambda_max, err);
        if (status == GCG_OK) print_real("lambda_max", lambda_max);
    }
    gcg_pairs_release(&test);
    return status;
}

static int check_files(const check_settings *s, char **paths, int path_count)
{
    gcg_read_options options = reading_options(&s->reading);
    gcg_diag diag = report_diag();
    gcg_err err = {0};
    gcg_ratings r;
    options.keep_duplicates = 1;
    gcg_status told = gcg_ratings_read((const char *const *)paths, path_count, &options, &diag, &r, &err);
    int code = told == GCG_OK ? 0 : report_error(&err, &diag);
    if (r.x.row_ptr) { /* read, at most with duplicates */
        gcg_status status = check_rest(s, &options, &r, &diag, &err);
        gcg_ratings_release(&r);
        if (status != GCG_OK) {
            fflush(stdout);
            return report_error(&err, told == GCG_OK ? &diag : NULL);
        }
    }
    int closed = report_close_stdout();
    return code ? code : closed;
}

static int cmd_check(int argc, char **argv)
{
    check_settings s = {0};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_check, &s, &words, &word_count);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    if (word_count == 0) return report_usage("check wants at least one rating file (- is standard input)");
    int stdins = s.test && strcmp(s.test, "-") == 0;
    for (int k = 0; k < word_count; k++) stdins += strcmp(words[k], "-") == 0;
    if (stdins > 1) return report_usage("standard input (-) is named twice");
    gcg_par_set_threads(threads_choose(s.threads));
    return check_files(&s, words, word_count);
}

const opt_command command_check = {
    .name = "check",
    .summary = "read rating files and say what is in them",
    .usage = "check [OPTION]... FILE...",
    .about = "Reads rating files as fit would and says what is in them (- is standard input).",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_check,
};
