/* What the subcommands share when they speak: errors, warnings, the exit code, checked standard output. */
#ifndef GCG_CMD_REPORT_H
#define GCG_CMD_REPORT_H

#include "base/status.h"

/* --quiet and --verbose of the running subcommand; and whether a progress line stands on the terminal, which
 * is cleared before a message. */
typedef struct {
    int quiet, verbose, line;
} report_level;
extern report_level report_say;

/* A gcg_diag that prints "gcg-mc: FILE:LINE:COL: error: text" (or warning, note) on stderr; notes are dropped
 * under --quiet. */
gcg_diag report_diag(void);
/* Prints err in the same form (unless diag already printed errors: pass it, may be NULL) and returns the exit
 * code. */
int report_error(const gcg_err *err, gcg_diag *diag);
/* "gcg-mc: error: text" for usage; returns 2. */
int report_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes the progress line away. */
void report_clear_line(void);

/* Flushes and closes stdout; exit code 0, or 5 with a message naming stdout. A closed pipe is quiet: returns
 * 0. */
int report_close_stdout(void);

/* Prints a double with 17 significant digits (shortest form not required), "nan" for NaN. */
const char *report_number(char out[32], double value);

#endif
