/* One file that a subcommand writes: standard output, or a file that appears under its name when it is whole;
 * compressed when the name ends in .gz. A signal stops the writing. */
#ifndef GCG_CMD_TARGET_H
#define GCG_CMD_TARGET_H

#include "io/gzip_sink.h"
#include "io/output.h"
#include "io/sink.h"

enum { TARGET_EXIT_SIGNAL = 130 };

typedef struct {
    const char *name; /* for messages */
    gcg_output output;
    FILE *file;
    gcg_gzip_sink *gzip;
    int write_error; /* errno of a failed write */
} target;

/* The first SIGINT, SIGTERM or SIGHUP stops the run at its next write, so that no temporary file stays
 * behind. */
void target_catch_signals(void);

/* t is zeroed before; sink is where to write. */
gcg_status target_open(target *t, const char *path, gcg_sink *sink, gcg_err *err);
/* Puts the file in its place. Standard output is left to report_close_stdout. */
gcg_status target_finish(target *t, gcg_err *err);
/* The exit code of a run that failed: the error is reported; TARGET_EXIT_SIGNAL when a signal was the cause.
 */
int target_report(const gcg_err *err, gcg_diag *diag);
void target_release(target *t); /* without target_finish nothing has changed */

#endif
