/* The door for text: a file, standard input or a block of memory, plain or gzip, line by line.
 *
 * gzip is recognised by its first two bytes, never by a name. Every member is unpacked and checked; data that
 * is cut short, has a wrong check sum or is followed by anything but zero padding is refused, after the
 * complete lines before the damage were handed out. Knows nothing of formats: see reader.h for what a line
 * may hold. */
#ifndef GCG_IO_INPUT_H
#define GCG_IO_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

typedef struct gcg_input gcg_input;

typedef struct {
    const char *text; /* not NUL-terminated; valid until the next call */
    int64_t length;   /* bytes, without LF or CRLF */
    int64_t number;   /* from 1 */
    int has_quote;    /* 1 when a '"' is in it */
    int64_t bad_col;  /* column of the first NUL byte or of the first CR that is not part of the line end; 0 =
                         none */
    char bad;         /* '\0' or '\r' */
} gcg_line;

enum { GCG_INPUT_BLOCK = 1 << 20 /* bytes read at once */ };

/* Opens path ("-" is standard input). block = bytes read at once, 0 = GCG_INPUT_BLOCK; it never changes what
 * is read. GCG_ERR_IO when path cannot be opened or is a folder. A UTF-8 byte order mark is skipped. */
gcg_status gcg_input_open(const char *path, int64_t block, gcg_input **in, gcg_err *err);
/* The same over bytes[0..length), which must outlive the input; name is for messages. */
gcg_status gcg_input_memory(const void *bytes, size_t length, const char *name, int64_t block, gcg_input **in,
                            gcg_err *err);
void gcg_input_close(gcg_input *in); /* NULL is fine */

/* As the user named it; "stdin" for "-". */
const char *gcg_input_name(const gcg_input *in);
/* Text read so far, after unpacking. */
int64_t gcg_input_bytes(const gcg_input *in);

/* Bytes read so far as stored (gzip: packed). */
int64_t gcg_input_stored(const gcg_input *in);

/* The next bytes without consuming them: at least want, fewer only before the end of the text or before
 * damage. */
gcg_status gcg_input_peek(gcg_input *in, int64_t want, const char **text, int64_t *length, gcg_err *err);

/* The next line; *found = 0 at the end. A last line without LF is a line. Damage gives GCG_ERR_DATA, a read
 * error GCG_ERR_IO, both after the last complete line before it. */
gcg_status gcg_input_line(gcg_input *in, gcg_line *line, int *found, gcg_err *err);

/* Version of zlib in use; lives forever. */
const char *gcg_zlib_version(void);

#endif
