/* gcg_read_stream with any sink. Inside src/io only; see ratings.h. */
#ifndef GCG_IO_STREAM_H
#define GCG_IO_STREAM_H

#include "io/round.h"

gcg_status gcg_read_files(const char *const *paths, int path_count, const gcg_read_options *options,
                          gcg_diag *diag, gcg_sink *sink, gcg_read_report *report, gcg_err *err);

/* "stdin" for "-", else path: how path is named in messages. */
const char *gcg_read_display_name(const char *path);

#endif
