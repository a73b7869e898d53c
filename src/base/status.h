/* Status codes, error values and the sink for diagnostics.
 *
 * A function that can fail returns gcg_status and fills an optional gcg_err. The library never prints and
 * never exits: messages leave through gcg_err (the one reason why a call failed) or through a gcg_diag
 * (warnings, notes, and the several data errors that a reader may report before it gives up). */
#ifndef GCG_BASE_STATUS_H
#define GCG_BASE_STATUS_H

#include <stdint.h>

/* The numbers are the program's exit codes (see gcg-mc(1)). */
typedef enum {
    GCG_OK = 0,
    GCG_ERR_INTERNAL = 1, /* a bug, or a result that is not finite */
    GCG_ERR_USAGE = 2,    /* an argument out of its range */
    GCG_ERR_DATA = 4,     /* bad data, bad model */
    GCG_ERR_IO = 5,       /* cannot open, read or write */
    GCG_ERR_NOMEM = 6     /* out of memory, or over the limit that was set */
} gcg_status;

typedef struct {
    gcg_status status;
    char file[256];    /* as the user named it; stdin or stdout for "-"; empty when no file is concerned */
    int64_t line, col; /* from 1, col in bytes; 0 when unknown */
    char text[512];    /* what was wrong and what to do; no newline, printable */
} gcg_err;

/* Fills err (which may be NULL) and returns status. file may be NULL, line and col 0. A file name longer than
 * the field keeps its end. Bytes that do not print are shown as \xNN. */
gcg_status gcg_fail(gcg_err *err, gcg_status status, const char *file, int64_t line, int64_t col,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Shorthand for GCG_ERR_NOMEM with the message "out of memory (WHAT)". */
gcg_status gcg_fail_memory(gcg_err *err, const char *what);

/* Writes at most 60 bytes of text[0..length) to out (at least 256 bytes), non-printing bytes as \xNN and a
 * longer text cut with "...". UTF-8 is kept. Returns out. For use in messages. */
const char *gcg_quote(char out[256], const char *text, int64_t length);

typedef enum { GCG_NOTE, GCG_WARNING, GCG_ERROR } gcg_severity;

/* Where diagnostics go. emit may be NULL (then they are only counted); it gets file and text in printable
 * form, file may be NULL. */
typedef struct gcg_diag {
    void (*emit)(void *user, gcg_severity severity, const char *file, int64_t line, int64_t col,
                 const char *text);
    void *user;
    int64_t errors; /* errors reported so far, shown or not */
    int64_t shown;  /* of these, handed to emit */
    int64_t warnings;
} gcg_diag;

enum { GCG_DIAG_MAX_ERRORS = 10 }; /* errors shown; the rest are counted (CLI contract) */

/* Reports one diagnostic. diag may be NULL. Errors past GCG_DIAG_MAX_ERRORS are counted only. */
void gcg_report(gcg_diag *diag, gcg_severity severity, const char *file, int64_t line, int64_t col,
                const char *format, ...) __attribute__((format(printf, 6, 7)));

/* After the last error: if some were not shown, emits one line that counts them. */
void gcg_report_rest(gcg_diag *diag, const char *file);

#endif
