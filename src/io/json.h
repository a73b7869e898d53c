/* A small writer of JSON text into memory. It does not read JSON.
 *
 * Values are added in order; in an object each has a key, in an array the key is NULL. A failed allocation is
 * kept and comes out of gcg_json_finish. Numbers have 17 significant digits and a point in every locale. */
#ifndef GCG_IO_JSON_H
#define GCG_IO_JSON_H

#include <stdint.h>
#include "base/status.h"

typedef struct {
    char *text;
    int64_t length, room;
    int depth;  /* of open objects and arrays */
    int comma;  /* the next value follows another one */
    int failed; /* out of memory */
} gcg_json;

void gcg_json_init(gcg_json *json); /* no object is open yet */
void gcg_json_release(gcg_json *json);

void gcg_json_open(gcg_json *json, const char *key, char bracket); /* '{' or '[' */
void gcg_json_close(gcg_json *json, char bracket);                 /* '}' or ']' */
/* Bytes that are not UTF-8 become U+FFFD. */
void gcg_json_string(gcg_json *json, const char *key, const char *value);
void gcg_json_number(gcg_json *json, const char *key, double value); /* null for NaN and infinities */
void gcg_json_integer(gcg_json *json, const char *key, int64_t value);
void gcg_json_unsigned(gcg_json *json, const char *key, uint64_t value);
void gcg_json_boolean(gcg_json *json, const char *key, int value);
/* A value that is JSON text already (what gcg_json_finish gave). */
void gcg_json_raw(gcg_json *json, const char *key, const char *value);

/* Hands the NUL-terminated text to *text (gcg_mem_free it) and zeroes json. */
gcg_status gcg_json_finish(gcg_json *json, char **text, gcg_err *err);

#endif
