/* The binary store among the files of a gcg_reading. */
#ifndef GCG_IO_READ_GCS_H
#define GCG_IO_READ_GCS_H

#include "io/round.h"

/* Its ratings one by one, in the order of the file; s->file is its display name. */
gcg_status gcg_read_gcs(gcg_reading *s, const char *path);

#endif
