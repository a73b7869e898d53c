/* gcg-mc export: a model's factors, ids and centre as files that other programs read. What is in each file is
 * io/export's business. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/report.h"
#include "cmd/scoring.h"
#include "cmd/target.h"
#include "io/export.h"

typedef struct {
    int form, has_form, quiet;
    const char *prefix;
} export_settings;

static const char *const form_names[] = {"npy", "tsv", "mtx", NULL}; /* in the order of gcg_export_form */

static const opt_entry table[] = {
    {.name = "to",
     .kind = OPT_CHOICE,
     .offset = offsetof(export_settings, form),
     .argument = "npy|tsv|mtx",
     .choices = form_names,
     .seen_offset = offsetof(export_settings, has_form),
     .help = "numpy arrays, tables with ids, or MatrixMarket arrays"},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FILE,
     .offset = offsetof(export_settings, prefix),
     .argument = "PREFIX",
     .help = "the files are PREFIX.users.npy and so on"},
    OPT_QUIET(export_settings),
};

/* The files of one export; all are written before the first is put in its place. */
typedef struct {
    int count;
    char name[GCG_EXPORT_MOST][PATH_MAX];
    target target[GCG_EXPORT_MOST];
} export_files;

static int check(const export_settings *s, char **words, int word_count)
{
    if (word_count != 1) return report_usage("export wants one name, MODEL, not %d", word_count);
    int code = scoring_check_name(words[0]);
    if (code) return code;
    if (!s->has_form) return report_usage("no --to: npy, tsv or mtx?");
    if (!s->prefix)
        return report_usage("no -o PREFIX: the files are PREFIX%s and so on",
                            gcg_export_suffix((gcg_export_form)s->form, 0));
    if (strcmp(s->prefix, "-") == 0)
        return report_usage("-o -: an export is several files; give the beginning of their names");
    if (s->prefix[strlen(s->prefix) - 1] == '/')
        return report_usage("-o %s: a folder; add the beginning of the files' names", s->prefix);
    return 0;
}

/* 0, or the exit code when a file would replace the model itself. */
static int name_files(const export_settings *s, const char *model, export_files *f)
{
    const char *suffix;
    if (strlen(s->prefix) > PATH_MAX - 32) return report_usage("-o: the name is too long");
    while (f->count < GCG_EXPORT_MOST &&
           (suffix = gcg_export_suffix((gcg_export_form)s->form, f->count)) != NULL) {
        char *name = f->name[f->count++];
        snprintf(name, PATH_MAX, "%s%s", s->prefix, suffix);
        if (gcg_output_same_file(name, model))
            return report_usage("-o %s: %s is the model itself", s->prefix, name);
    }
    return 0;
}

static gcg_status write_files(const export_settings *s, const gcg_model *m, export_files *f, gcg_err *err)
{
    gcg_sink sink[GCG_EXPORT_MOST];
    gcg_status status = GCG_OK;
    for (int k = 0; k < f->count && !status; k++)
        status = target_open(&f->target[k], f->name[k], &sink[k], err);
    for (int k = 0; k < f->count && !status; k++)
        status = gcg_export_write(m, (gcg_export_form)s->form, k, sink[k], err);
    for (int k = 0; k < f->count && !status; k++) status = gcg_output_sync(&f->target[k].output, err);
    for (int k = 0; k < f->count && !status; k++) status = target_finish(&f->target[k], err);
    for (int k = 0; k < f->count; k++) target_release(&f->target[k]);
    return status;
}

static int cmd_export(int argc, char **argv)
{
    export_settings s = {0};
    export_files files = {0};
    gcg_model model;
    gcg_err err = {0};
    char **words;
    int word_count;
    int code = opt_parse(argc, argv, &command_export, &s, &words, &word_count);
    if (!code) code = check(&s, words, word_count);
    if (!code) code = name_files(&s, words[0], &files);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    target_catch_signals();
    if (gcg_model_read(words[0], &model, &err)) return report_error(&err, NULL);
    if (write_files(&s, &model, &files, &err))
        code = target_report(&err, NULL);
    else
        report_note("%s: %" PRId32 " users, %" PRId32 " items, %" PRId32 " factors, %d files", s.prefix,
                    model.u.rows, model.v.rows, model.u.k, files.count);
    gcg_model_release(&model);
    return code;
}

const opt_command command_export = {
    .name = "export",
    .summary = "factors and ids for numpy, R and others",
    .usage = "export MODEL --to npy|tsv|mtx -o PREFIX",
    .about = "Writes a model's factors, ids and centre: W = U V' + centre.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_export,
};
