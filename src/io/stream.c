/* gcg_read_stream and gcg_read_memory: files in, points out. See ratings.h. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/stat.h>
#include "base/clock.h"
#include "base/parallel.h"
#include "io/formats.h"
#include "io/gcs.h"
#include "io/paths.h"
#include "io/read_gcs.h"
#include "io/stream.h"

enum { DETECT_BYTES = 1 << 16 /* looked at to recognise a format */ };

gcg_read_options gcg_read_options_defaults(void)
{
    return (gcg_read_options){
        .format = GCG_FORMAT_AUTO, .header = GCG_HEADER_AUTO, .duplicates = GCG_DUP_ERROR};
}

static int is_delimited(gcg_format format)
{
    return gcg_format_find(format)->separator.byte != 0;
}

static int same_column(const gcg_column *a, const gcg_column *b)
{
    return a->number == b->number && a->number > 0
               ? 1
               : a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
}

/* --weights, beside the columns of user, item and rating. */
static gcg_status check_weights(const gcg_read_options *o, const gcg_column *part, int parts, gcg_err *err)
{
    static const gcg_column usual[] = {{"1", 1, 1}, {"2", 1, 2}, {"3", 1, 3}};
    gcg_column weight;
    if (!gcg_column_parse(o->weights, (int64_t)strlen(o->weights), &weight))
        return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0,
                        "--weights %s: give the column of weights as a number from 1 or as a header name",
                        o->weights);
    if (parts == 0) {
        part = usual;
        parts = o->implicit || o->no_ratings ? 2 : 3;
    }
    for (int k = 0; k < parts; k++)
        if (same_column(&part[k], &weight))
            return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0, "--weights %s is the column of the %s",
                            o->weights,
                            k == 0   ? "user"
                            : k == 1 ? "item"
                                     : "rating");
    if (weight.number == 0 && o->header == GCG_HEADER_NO)
        return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0,
                        "--weights %s needs a header line, --header no denies it", o->weights);
    if (o->no_ratings)
        return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0, "--weights and --no-ratings contradict each other");
    if (o->format != GCG_FORMAT_AUTO && !is_delimited(o->format))
        return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0,
                        "--weights does not go with --format %s, which has no column for weights",
                        gcg_format_name(o->format));
    return GCG_OK;
}

gcg_status gcg_read_options_check(const gcg_read_options *o, gcg_err *err)
{
    gcg_column part[3];
    int parts = o->columns ? gcg_columns_parse(o->columns, part) : 0, named = 0;
    if (o->columns && parts == 0)
        return gcg_fail(
            err, GCG_ERR_USAGE, NULL, 0, 0,
            "--columns %s: give the columns of user, item and rating as numbers from 1 or as header names",
            o->columns);
    for (int k = 0; k < parts; k++) {
        named |= part[k].number == 0;
        for (int j = 0; j < k; j++)
            if (same_column(&part[j], &part[k]))
                return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0, "--columns %s: a column is given twice",
                                o->columns);
    }
    if (parts == 2 && !o->implicit && !o->no_ratings && !o->pairs)
        return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0,
                        "--columns %s: no rating column; add it, or use --implicit", o->columns);
    if (named && o->header == GCG_HEADER_NO)
        return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0,
                        "--columns %s needs a header line, --header no denies it", o->columns);
    if (o->implicit && o->no_ratings)
        return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0, "--implicit and --no-ratings contradict each other");
    if (o->format != GCG_FORMAT_AUTO && !is_delimited(o->format) &&
        (o->columns || o->header == GCG_HEADER_YES))
        return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0,
                        "%s does not go with --format %s, whose columns are fixed",
                        o->columns ? "--columns" : "--header yes", gcg_format_name(o->format));
    return o->weights ? check_weights(o, part, parts, err) : GCG_OK;
}

/* Bytes of all files, 0 when one is not regular (or cannot be asked: opening it will tell). */
static int64_t stored_bytes(const gcg_paths *list)
{
    struct stat info;
    int64_t sum = 0;
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->path[i], "-") == 0 || stat(list->path[i], &info) != 0 || !S_ISREG(info.st_mode))
            return 0;
        sum += info.st_size;
    }
    return sum;
}

/* What was skipped or changed, after the last file. */
static void tell_counts(gcg_reading *r)
{
    const gcg_read_report *p = r->report;
    if (p->blank + p->comment > 0)
        gcg_report(r->diag, GCG_NOTE, r->file, 0, 0, "lines skipped: %lld blank, %lld comment",
                   (long long)p->blank, (long long)p->comment);
    if (p->empty_blocks > 0)
        gcg_report(r->diag, GCG_NOTE, r->file, 0, 0, "%lld %s without ratings skipped",
                   (long long)p->empty_blocks, p->format == GCG_FORMAT_KDD ? "users" : "movies");
    if (p->mapped > 0)
        gcg_report(r->diag, GCG_NOTE, r->file, 0, 0, "%lld ratings changed by %s", (long long)p->mapped,
                   r->options->value_map_count ? "the value maps"
                                               : "--format yahoo-r1, which reads 255 as 0");
    if (p->dropped > 0)
        gcg_report(r->diag, GCG_NOTE, r->file, 0, 0, "%lld ratings dropped by the value maps",
                   (long long)p->dropped);
    if (r->never_again > 0 && r->above_100 == 0)
        gcg_report(r->diag, GCG_WARNING, r->file, 0, 0,
                   "%lld ratings are 255 and no other is above 100: in Yahoo! R1, 255 means never play "
                   "again; if this is "
                   "such a file, use --format yahoo-r1 or --value-map 255=drop",
                   (long long)r->never_again);
}

/* The status of the whole call. */
static gcg_status finish(gcg_reading *r, gcg_status status, double start)
{
    r->report->seconds = gcg_clock_now() - start;
    if (r->errors > 0) {
        gcg_report_rest(r->diag, r->file);
        return status == GCG_OK ? GCG_ERR_DATA : status;
    }
    if (status == GCG_OK) tell_counts(r);
    return status;
}

const char *gcg_read_display_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "stdin" : path;
}

/* A file that cannot be opened is told like a data error; lack of memory only through err. */
static void tell_open_failure(gcg_reading *r, const gcg_err *why)
{
    if (why->status == GCG_ERR_IO)
        gcg_reading_fail(r, why->status, why->text);
    else
        gcg_fail(r->err, why->status, NULL, 0, 0, "%s", why->text);
}

typedef struct {
    gcg_reading reading;
    gcg_paths list;
    gcg_status status;
} file_job;

static void read_list(void *ctx)
{
    file_job *job = ctx;
    gcg_reading *r = &job->reading;
    const gcg_read_options *o = r->options;
    for (int i = 0; i < job->list.count && job->status == GCG_OK; i++) {
        gcg_err why;
        gcg_input *in;
        r->file = gcg_read_display_name(job->list.path[i]);
        if (gcg_gcs_is_store(job->list.path[i])) {
            job->status = gcg_read_gcs(r, job->list.path[i]);
            continue;
        }
        job->status = gcg_input_open(job->list.path[i], o->block, o->zlib, &in, &why);
        if (job->status == GCG_OK)
            job->status = gcg_reading_file(r, in);
        else
            tell_open_failure(r, &why);
        gcg_input_close(in);
    }
}

gcg_status gcg_read_files(const char *const *paths, int path_count, const gcg_read_options *options,
                          gcg_diag *diag, gcg_sink *sink, gcg_read_report *report, gcg_err *err)
{
    double start = gcg_clock_now();
    file_job job = {
        .reading = {
            .options = options, .sink = sink, .diag = diag, .err = err, .report = report, .file = ""}};
    gcg_reading *r = &job.reading;
    *report = (gcg_read_report){0};
    job.status = gcg_read_options_check(options, err);
    for (int i = 0; i < path_count && job.status == GCG_OK; i++) {
        gcg_err why;
        r->file = gcg_read_display_name(paths[i]);
        job.status = gcg_paths_add(&job.list, paths[i], &why);
        if (job.status != GCG_OK) tell_open_failure(r, &why);
    }
    if (options->progress) r->stored_total = stored_bytes(&job.list);
    gcg_par_session(read_list, &job);
    if (job.list.count > 1) r->file = NULL; /* what follows is about all of them */
    gcg_status status = finish(r, job.status, start);
    gcg_reading_release(r);
    gcg_paths_release(&job.list);
    return status;
}

gcg_status gcg_read_stream(const char *const *paths, int path_count, const gcg_read_options *options,
                           gcg_diag *diag, gcg_point_fn fn, void *user, gcg_read_report *report, gcg_err *err)
{
    gcg_sink sink = {.point = fn, .user = user};
    return gcg_read_files(paths, path_count, options, diag, &sink, report, err);
}

typedef struct {
    gcg_reading reading;
    gcg_input *in;
    gcg_status status;
} memory_job;

static void read_memory(void *ctx)
{
    memory_job *job = ctx;
    job->status = gcg_reading_file(&job->reading, job->in);
}

gcg_status gcg_read_memory(const void *bytes, size_t length, const char *name,
                           const gcg_read_options *options, gcg_diag *diag, gcg_point_fn fn, void *user,
                           gcg_read_report *report, gcg_err *err)
{
    double start = gcg_clock_now();
    gcg_sink sink = {.point = fn, .user = user};
    memory_job job = {
        .reading = {
            .options = options, .sink = &sink, .diag = diag, .err = err, .report = report, .file = name}};
    *report = (gcg_read_report){0};
    gcg_status status = gcg_read_options_check(options, err);
    if (status == GCG_OK)
        status = gcg_input_memory(bytes, length, name, options->block, options->zlib, &job.in, err);
    if (status == GCG_OK) {
        gcg_par_session(read_memory, &job);
        status = job.status;
    }
    gcg_input_close(job.in);
    gcg_reading_release(&job.reading);
    return finish(&job.reading, status, start);
}
