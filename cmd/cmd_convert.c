/* gcg-mc convert: writes ratings anew, as the binary store or as clean text. What the files hold is read as
 * fit would; how a store is laid out is io/gcs_layout's business. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/reading.h"
#include "cmd/report.h"
#include "cmd/target.h"
#include "cmd/threads.h"
#include "io/gcs_write.h"
#include "io/paths.h"
#include "io/ratings_text.h"

typedef struct {
    reading_settings reading;
    const char *output;
    int threads, quiet;
    gcg_format format; /* of the output */
} convert_settings;

#define FIELD(name) .offset = offsetof(convert_settings, name)
static const opt_entry table[] = {
    OPT_HEADING("output"),
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FILE,
     FIELD(output),
     .argument = "FILE",
     .help = "NAME.gcs, or text: .csv, .tsv, .mtx, also .gz; - is tsv to stdout"},
    OPT_HEADING("reading"),
    READING_LAYOUT(convert_settings, reading),
    READING_VALUES(convert_settings, reading),
    READING_DUPLICATES(convert_settings, reading),
    READING_WEIGHTS(convert_settings, reading, "column of weights (> 0), to be written too"),
    OPT_HEADING("running"),
    THREADS_OPTION(convert_settings, "threads (auto: the processors that are allowed)"),
    OPT_QUIET(convert_settings),
};

/* What to write, by the name. 0, or the exit code when it says nothing. */
static int choose_format(convert_settings *s)
{
    static const struct {
        const char *end;
        gcg_format format;
    } kinds[] = {{".gcs", GCG_FORMAT_GCS},
                 {".csv", GCG_FORMAT_CSV},
                 {".tsv", GCG_FORMAT_TSV},
                 {".mtx", GCG_FORMAT_MTX}};
    char quoted[256];
    size_t length = strlen(s->output);
    if (strcmp(s->output, "-") == 0) {
        s->format = GCG_FORMAT_TSV;
        return 0;
    }
    int packed = gcg_path_ends_with(s->output, length, ".gz");
    if (packed) length -= 3;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (gcg_path_ends_with(s->output, length, kinds[k].end)) s->format = kinds[k].format;
    gcg_quote(quoted, s->output, (int64_t)strlen(s->output));
    if (packed && s->format == GCG_FORMAT_GCS)
        return report_usage("-o %s: a binary store is not compressed, it is mapped into memory as it is",
                            quoted);
    if (s->format == GCG_FORMAT_AUTO)
        return report_usage(
            "-o %s: the name says what to write: .gcs (binary store), .csv, .tsv or .mtx, these "
            "also with .gz; - is tsv on standard output",
            quoted);
    return 0;
}

static int check(convert_settings *s, char **paths, int path_count)
{
    int stdins = 0;
    if (path_count == 0) return report_usage("convert wants at least one rating file (- is standard input)");
    if (!s->output) return report_usage("no -o FILE: where should the ratings go? (- is standard output)");
    int code = choose_format(s);
    for (int k = 0; k < path_count && !code; k++) {
        stdins += strcmp(paths[k], "-") == 0;
        if (strcmp(s->output, "-") != 0 && gcg_output_same_file(s->output, paths[k]))
            code = report_usage("-o names one of the inputs");
    }
    if (!code && stdins > 1) code = report_usage("standard input (-) is named twice");
    return code;
}

/* Ids without ratings have no line in csv and tsv. */
static void tell_left_out(const gcg_ratings *r, const char *name)
{
    int64_t users = 0, items = 0;
    const gcg_csr *x = &r->x;
    for (int32_t i = 0; i < x->rows; i++) users += x->row_ptr[i] == x->row_ptr[i + 1];
    int64_t *count = gcg_mem_alloc_array(x->cols, sizeof *count);
    if (!count) return; /* a note less */
    gcg_csr_col_counts(x, count);
    for (int32_t j = 0; j < x->cols; j++) items += count[j] == 0;
    gcg_mem_free(count);
    if (users + items > 0)
        report_note("%s: %" PRId64 " users and %" PRId64
                    " items without ratings left out; .mtx and .gcs keep them",
                    name, users, items);
}

static gcg_status write_ratings(const convert_settings *s, const gcg_ratings *r, target *t, gcg_err *err)
{
    gcg_sink sink;
    gcg_status status = target_open(t, s->output, &sink, err);
    if (!status)
        status = s->format == GCG_FORMAT_GCS ? gcg_gcs_write(r, sink, err)
                                             : gcg_ratings_write_text(r, s->format, sink, err);
    return status ? status : target_finish(t, err);
}

static int convert(const convert_settings *s, char **paths, int path_count)
{
    gcg_read_options options = reading_options(&s->reading);
    gcg_diag diag = report_diag();
    gcg_err err = {0};
    gcg_ratings r = {0};
    target t = {0};
    target_catch_signals();
    gcg_status status = strcmp(s->output, "-") ? gcg_output_test(s->output, &err) : GCG_OK;
    if (!status) status = gcg_ratings_read((const char *const *)paths, path_count, &options, &diag, &r, &err);
    if (!status) status = write_ratings(s, &r, &t, &err);
    target_release(&t);
    int code = 0;
    if (status && t.write_error != EPIPE) { /* a closed pipe: its reader has seen enough */
        code = target_report(&err, &diag);
    } else if (!status) {
        if (s->format == GCG_FORMAT_CSV || s->format == GCG_FORMAT_TSV) tell_left_out(&r, t.name);
        report_note("%s: %" PRId64 " ratings of %" PRId32 " users and %" PRId32 " items", t.name, r.x.nnz,
                    r.x.rows, r.x.cols);
        code = report_close_stdout();
    }
    gcg_ratings_release(&r);
    return code;
}

static int cmd_convert(int argc, char **argv)
{
    convert_settings s = {0};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_convert, &s, &words, &word_count);
    if (!code) code = check(&s, words, word_count);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    gcg_par_set_threads(threads_choose(s.threads));
    return convert(&s, words, word_count);
}

const opt_command command_convert = {
    .name = "convert",
    .summary = "write ratings anew: binary store or clean text",
    .usage = "convert [OPTION]... RATINGS... -o FILE",
    .about = "Writes rating files anew: as a binary store, which is read without delay, or as clean text.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_convert,
};
