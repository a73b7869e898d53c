/* Logs of fit and path as rows: see plot.h and gcg-mc-log(5). A path's log has a block of rows for each
 * lambda, whose time begins at 0 each; here they follow each other. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/options.h"
#include "cmd/plot.h"
#include "io/input.h"

void plot_log_release(plot_log *log)
{
    gcg_mem_free(log->rows);
    *log = (plot_log){0};
}

/* ---- the text ---- */

typedef struct {
    char *bytes;
    int64_t length;
} text;

static gcg_status read_all(const char *path, text *t, gcg_err *err)
{
    gcg_input *in;
    int64_t room = 1 << 16, got;
    gcg_status status = gcg_input_open(path, 0, 0, &in, err);
    if (status) return status;
    do {
        char *bytes = gcg_mem_resize_array(t->bytes, t->length, t->length + room + 1, 1);
        if (!bytes) {
            status = gcg_fail_memory(err, "log");
            break;
        }
        t->bytes = bytes;
        status = gcg_input_read(in, t->bytes + t->length, room, &got, err);
        if (status) break;
        t->length += got;
        if (got < room) {
            status = gcg_input_end(in, err);
            break;
        }
        room = t->length;
    } while (1);
    gcg_input_close(in);
    if (!status) t->bytes[t->length] = '\0';
    return status;
}

/* ---- lines ---- */

enum { FIELDS = 64 };
enum { TIME, GAP, RANK, TEST, VALID, TRAIN, COLUMNS };
static const char *const column_names[COLUMNS] = {"time_s",    "gap",        "rank",
                                                  "test_rmse", "valid_rmse", "train_rmse"};

/* Reading one log. */
typedef struct {
    plot_log *log;
    int64_t line;
    int in_table;        /* rows of iterations follow */
    int in_summary;      /* rows of lambdas follow, which are not plotted */
    int fields;          /* of a row */
    int column[COLUMNS]; /* where each stands in a row */
    gcg_err *err;
} reader;

static gcg_status fail(const reader *r, int64_t column, const char *what, const char *bytes)
{
    char quoted[256];
    return gcg_fail(r->err, GCG_ERR_DATA, r->log->name, r->line, column, "%s: '%s'", what,
                    gcg_quote(quoted, bytes, (int64_t)strlen(bytes)));
}

/* Cuts a line at its tabs. */
static int split(char *line, char *field[FIELDS])
{
    int n = 0;
    field[n++] = line;
    for (char *tab = strchr(line, '\t'); tab && n < FIELDS; tab = strchr(field[n - 1], '\t')) {
        *tab = '\0';
        field[n++] = tab + 1;
    }
    return n;
}

static gcg_status take_header(reader *r, char *line)
{
    char *field[FIELDS];
    r->fields = split(line, field);
    for (int c = 0; c < COLUMNS; c++) {
        r->column[c] = -1;
        for (int k = 0; k < r->fields; k++)
            if (strcmp(field[k], column_names[c]) == 0) r->column[c] = k;
        if (r->column[c] < 0) return fail(r, 1, "a line of column names without this one", column_names[c]);
    }
    if (r->log->count > 0) r->log->start = r->log->rows[r->log->count - 1].time;
    r->log->blocks++;
    r->log->ended = 0;
    r->in_table = 1;
    r->in_summary = 0;
    return GCG_OK;
}

static gcg_status add_row(reader *r, const plot_row *row)
{
    plot_log *log = r->log;
    if (log->count == log->capacity) {
        int64_t capacity = log->capacity ? 2 * log->capacity : 256;
        plot_row *rows = gcg_mem_resize_array(log->rows, log->count, capacity, sizeof *rows);
        if (!rows) return gcg_fail_memory(r->err, "log");
        log->rows = rows;
        log->capacity = capacity;
    }
    log->rows[log->count++] = *row;
    return GCG_OK;
}

static gcg_status take_row(reader *r, char *line)
{
    char *field[FIELDS];
    double value[COLUMNS];
    int n = split(line, field);
    if (n != r->fields)
        return fail(r, 1, "a row that has not as many fields as there are column names", line);
    for (int c = 0; c < COLUMNS; c++) {
        const char *word = field[r->column[c]];
        value[c] = NAN;
        if (strcmp(word, "nan") != 0 && opt_number(word, &value[c]) != 0)
            return fail(r, word - line + 1, "not a number", word);
    }
    plot_row row = {.time = r->log->start + value[TIME],
                    .gap = value[GAP],
                    .rmse = {value[TEST], value[VALID], value[TRAIN]},
                    .is_zero = value[RANK] == 0,
                    .block = r->log->blocks - 1};
    return add_row(r, &row);
}

static gcg_status take_line(reader *r, char *line)
{
    size_t length = strlen(line);
    if (length && line[length - 1] == '\r') line[--length] = '\0';
    if (length == 0) return GCG_OK;
    if (strncmp(line, "# ", 2) == 0) {
        if (strncmp(line, "# status\t", 9) == 0) r->log->ended = 1;
        r->in_table = 0; /* what follows belongs to the end of a block, or to a new one */
        return GCG_OK;
    }
    if (strncmp(line, "iter\t", 5) == 0) return take_header(r, line);
    if (strncmp(line, "lambda\t", 7) == 0) r->in_summary = 1;
    if (r->in_summary) return GCG_OK;
    if (r->in_table) return take_row(r, line);
    return fail(r, 1, "no line of a log: it is '# key', tab, value, or the names or numbers of columns",
                line);
}

gcg_status plot_log_read(const char *path, plot_log *log, gcg_err *err)
{
    text t = {0};
    *log = (plot_log){.name = strcmp(path, "-") ? path : "stdin"};
    reader r = {.log = log, .err = err};
    gcg_status status = read_all(path, &t, err);
    for (char *line = t.bytes, *end; !status && line < t.bytes + t.length; line = end + 1) {
        end = memchr(line, '\n', (size_t)(t.bytes + t.length - line));
        if (!end) {
            log->is_cut = 1;
            break;
        }
        *end = '\0';
        r.line++;
        status = take_line(&r, line);
    }
    if (!status && log->count == 0)
        status =
            gcg_fail(err, GCG_ERR_DATA, log->name, r.line + log->is_cut, 0,
                     t.length == 0 ? "is empty: not a log of gcg-mc fit (yet)"
                                   : "ends without a row of numbers: no log of gcg-mc fit, or the run was "
                                     "stopped before its first iteration");
    gcg_mem_free(t.bytes);
    if (status) plot_log_release(log);
    return status;
}
