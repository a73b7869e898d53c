/* A sink that compresses: what is written to it arrives as one gzip member in another sink. No time and no
 * name in the header, so equal text gives equal bytes. */
#ifndef GCG_IO_GZIP_SINK_H
#define GCG_IO_GZIP_SINK_H

#include "io/sink.h"

typedef struct gcg_gzip_sink gcg_gzip_sink;

gcg_status gcg_gzip_sink_new(gcg_gzip_sink **gzip, gcg_sink target, gcg_err *err);
/* The sink to write to; valid until gcg_gzip_sink_free. */
gcg_sink gcg_gzip_sink_get(gcg_gzip_sink *gzip);
/* Writes what is left and the member's check sum. Once, at the end. */
gcg_status gcg_gzip_sink_finish(gcg_gzip_sink *gzip, gcg_err *err);
void gcg_gzip_sink_free(gcg_gzip_sink *gzip); /* NULL is fine; without finish the member stays cut short */

#endif
