/* Output files that are whole or not there: written under a temporary name, synced, then renamed in one step.
 *
 * The temporary name is .NAME.XXXXXX.tmp in the folder of the final name, so a program that is killed leaves
 * the old file (and at most that temporary file), never a mix; gcg_output_drop_all() takes that away, too. It
 * is not for the log, which grows in place.
 */
#ifndef GCG_IO_OUTPUT_H
#define GCG_IO_OUTPUT_H

#include <stdio.h>
#include "base/status.h"

/* path as the user named it; target = where it leads (a symbolic link is followed); temporary, beside the
 * target. */
typedef struct {
    char *path, *target, *temporary;
    FILE *file;   /* open for writing between open and commit */
    char *buffer; /* of file */
    int slot;     /* where its temporary name is known to gcg_output_drop_all(); -1: nowhere */
} gcg_output;

/* Creates the temporary file (mode 0666 & ~umask). GCG_ERR_IO when path names a folder, a device, a dangling
 * link, or lies in a folder where nothing can be written. On failure nothing is left behind and o is zeroed.
 */
gcg_status gcg_output_open(gcg_output *o, const char *path, gcg_err *err);
/* For several files that belong together: flushes and syncs, so that commit has only the rename left to do.
 */
gcg_status gcg_output_sync(gcg_output *o, gcg_err *err);
/* Flushes, syncs and renames. On failure the old file stays (GCG_ERR_IO). Releases o in every case. */
gcg_status gcg_output_commit(gcg_output *o, gcg_err *err);
/* Removes the temporary file; the old file stays. For an o that is zeroed, committed or aborted it does
 * nothing. */
void gcg_output_abort(gcg_output *o);

/* Before long work: can path be written? Opens and aborts, so the answer is the file system's own. */
gcg_status gcg_output_test(const char *path, gcg_err *err);

/* For a signal handler that ends the program: removes the temporary files of all outputs that are open.
 * Nothing may be written afterwards. */
void gcg_output_drop_all(void);

/* 1 when both paths lead to one existing file. */
int gcg_output_same_file(const char *a, const char *b);

#endif
