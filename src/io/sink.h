/* Where a writer of text or bytes sends what it makes: a file, standard output, a compressor, a test's
 * buffer. The sink decides what an error is called; the writer only passes it on. */
#ifndef GCG_IO_SINK_H
#define GCG_IO_SINK_H

#include <stddef.h>
#include "base/status.h"

typedef struct {
    gcg_status (*write)(void *user, const void *bytes, size_t length, gcg_err *err);
    void *user;
} gcg_sink;

#endif
