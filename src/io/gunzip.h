/* gzip data to bytes: members, their headers and check sums, and zero padding behind the last.
 *
 * The same messages whichever library unpacks. Knows nothing of files: bytes come in pieces of any size. */
#ifndef GCG_IO_GUNZIP_H
#define GCG_IO_GUNZIP_H

#include <stdint.h>
#include "base/status.h"

typedef struct gcg_gunzip gcg_gunzip;

/* with_zlib: as in inflate.h. */
gcg_status gcg_gunzip_new(int with_zlib, gcg_gunzip **g, gcg_err *err);
void gcg_gunzip_free(gcg_gunzip *g); /* NULL is fine */

/* Unpacks from *in to to[0..room) until one of them is used up; moves *in on, *got is what was written.
 * GCG_ERR_DATA when the data is damaged or followed by anything but zero bytes. */
gcg_status gcg_gunzip_run(gcg_gunzip *g, const unsigned char **in, const unsigned char *in_end, char *to,
                          int64_t room, int64_t *got, gcg_err *err);
/* After the last byte went in and gcg_gunzip_run wrote nothing more: GCG_ERR_DATA when more had to come. */
gcg_status gcg_gunzip_end(const gcg_gunzip *g, gcg_err *err);

#endif
