/* Files that subcommands write: see target.h. */
#define _POSIX_C_SOURCE 200809L
#include "cmd/target.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "cmd/report.h"
#include "cmd/signals.h"
#include "io/paths.h"

static void on_signal(int number)
{
    (void)number;
    gcg_interrupt_request();
}

void target_catch_signals(void)
{
    signals_catch_end(on_signal, (int)SA_RESETHAND);
}

static gcg_status write_file(void *user, const void *bytes, size_t length, gcg_err *err)
{
    target *t = user;
    if (gcg_interrupt_requested())
        return gcg_fail(err, GCG_ERR_IO, t->name, 0, 0, "interrupted, not written");
    if (fwrite(bytes, 1, length, t->file) == length) return GCG_OK;
    t->write_error = errno;
    return gcg_fail(err, GCG_ERR_IO, t->name, 0, 0, "cannot write: %s", strerror(errno));
}

gcg_status target_open(target *t, const char *path, gcg_sink *sink, gcg_err *err)
{
    gcg_status status = GCG_OK;
    int to_stdout = strcmp(path, "-") == 0;
    t->name = to_stdout ? "stdout" : path;
    t->file = stdout;
    if (!to_stdout) {
        status = gcg_output_open(&t->output, path, err);
        t->file = t->output.file;
    }
    *sink = (gcg_sink){write_file, t};
    if (!status && gcg_path_ends_with(path, strlen(path), ".gz")) {
        status = gcg_gzip_sink_new(&t->gzip, *sink, err);
        if (!status) *sink = gcg_gzip_sink_get(t->gzip);
    }
    return status;
}

gcg_status target_finish(target *t, gcg_err *err)
{
    gcg_status status = t->gzip ? gcg_gzip_sink_finish(t->gzip, err) : GCG_OK;
    return !status && t->file != stdout ? gcg_output_commit(&t->output, err) : status;
}

int target_report(const gcg_err *err, gcg_diag *diag)
{
    int code = report_error(err, diag);
    return gcg_interrupt_requested() ? TARGET_EXIT_SIGNAL : code;
}

void target_release(target *t)
{
    gcg_gzip_sink_free(t->gzip);
    gcg_output_abort(&t->output);
}
