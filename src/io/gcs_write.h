/* Writing the binary store (.gcs): see gcs.h for reading, gcg-mc-data(5) for the layout. */
#ifndef GCG_IO_GCS_WRITE_H
#define GCG_IO_GCS_WRITE_H

#include "io/ratings.h"
#include "io/sink.h"

/* Writes r, which has at least one rating, from front to back. Beside r it takes the text of the ids and
 * 1/500000 of the size of the file. GCG_ERR_DATA on a big-endian machine. */
gcg_status gcg_gcs_write(const gcg_ratings *r, gcg_sink sink, gcg_err *err);

#endif
