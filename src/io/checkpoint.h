/* Checkpoint files: a sequence of bytes, whole or not there, with check sums. What the bytes mean is their
 * owner's business (cmd/fit_checkpoint.c); gcg-mc-data(5) describes the layout.
 *
 * A header of 32 bytes (name, byte order, version, check sum), then blocks: the length of the block in 8
 * bytes, 1 to GCG_CHECKPOINT_BLOCK bytes, a check sum in 8 bytes that goes over this block and all before it.
 * A block of length 0 ends the file. Numbers are little-endian. */
#ifndef GCG_IO_CHECKPOINT_H
#define GCG_IO_CHECKPOINT_H

#include <stdint.h>
#include <stdio.h>
#include "base/status.h"
#include "io/output.h"

enum { GCG_CHECKPOINT_VERSION = 3, GCG_CHECKPOINT_BLOCK = 1 << 20 };

/* ---- writing ---- */

typedef struct {
    gcg_output out;
    char *block; /* what waits to be written */
    int64_t used;
    uint64_t sum;
} gcg_checkpoint_writer;

/* Begins the file beside its final name. On failure there is nothing to abort. */
gcg_status gcg_checkpoint_create(gcg_checkpoint_writer *w, const char *path, gcg_err *err);
gcg_status gcg_checkpoint_put(gcg_checkpoint_writer *w, const void *bytes, int64_t n, gcg_err *err);
/* Syncs and puts the file in place. Releases w in every case; on failure the old file stays. */
gcg_status gcg_checkpoint_commit(gcg_checkpoint_writer *w, gcg_err *err);
void gcg_checkpoint_abort(gcg_checkpoint_writer *w); /* twice is fine */

/* ---- reading ---- */

typedef struct {
    FILE *file;
    char *name;
    char *block; /* the one that is being given out */
    int64_t used, length;
    uint64_t sum;
    int ended; /* the last block was read */
} gcg_checkpoint_reader;

/* Opens and checks the whole file, then stands at its first byte. GCG_ERR_DATA for a file that is damaged,
 * cut short, of a newer version or no checkpoint; GCG_ERR_IO when it cannot be read. On failure r is zeroed.
 */
gcg_status gcg_checkpoint_open(gcg_checkpoint_reader *r, const char *path, gcg_err *err);
/* The next n bytes; GCG_ERR_DATA when there are fewer. */
gcg_status gcg_checkpoint_get(gcg_checkpoint_reader *r, void *bytes, int64_t n, gcg_err *err);
void gcg_checkpoint_close(gcg_checkpoint_reader *r); /* twice is fine */

#endif
