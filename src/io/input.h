/* The door for text: a file, standard input or a block of memory, plain or gzip, as one stream of bytes.
 *
 * gzip is recognised by its first two bytes, never by a name. Every member is unpacked and checked; data that
 * is cut short, has a wrong check sum or is followed by anything but zero padding is refused, after the text
 * before the damage was handed out. Knows nothing of lines: see text.h. */
#ifndef GCG_IO_INPUT_H
#define GCG_IO_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

typedef struct gcg_input gcg_input;

enum { GCG_INPUT_BLOCK = 1 << 19 /* packed bytes read at once */ };

/* Opens path ("-" is standard input). block = packed bytes read at once, 0 = GCG_INPUT_BLOCK; with_zlib as in
 * inflate.h: they never change what is read. GCG_ERR_IO when path cannot be opened or is a folder. */
gcg_status gcg_input_open(const char *path, int64_t block, int with_zlib, gcg_input **in, gcg_err *err);
/* The same over bytes[0..length), which must outlive the input; name is for messages. */
gcg_status gcg_input_memory(const void *bytes, size_t length, const char *name, int64_t block, int with_zlib,
                            gcg_input **in, gcg_err *err);
void gcg_input_close(gcg_input *in); /* NULL is fine */

/* As the user named it; "stdin" for "-". */
const char *gcg_input_name(const gcg_input *in);
/* Bytes read so far as stored (gzip: packed). */
int64_t gcg_input_stored(const gcg_input *in);

/* The next room bytes of text; *got is smaller only when they were the last. Then, and only then, the text
 * may have ended in damage (GCG_ERR_DATA) or a read error (GCG_ERR_IO): gcg_input_end tells. Fails itself
 * with GCG_ERR_NOMEM only. */
gcg_status gcg_input_read(gcg_input *in, char *to, int64_t room, int64_t *got, gcg_err *err);
gcg_status gcg_input_end(const gcg_input *in, gcg_err *err);

#endif
