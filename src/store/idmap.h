/* Names (user or item ids) to numbers 0..count-1 and back.
 *
 * Ids are byte strings, kept exactly: '007', '7' and '+7' are three ids. While reading, numbers are given in
 * order of first appearance; gcg_idmap_sort then renumbers canonically, so that the order of input lines does
 * not matter: by numeric value when EVERY id is a canonical decimal 64-bit integer (optional minus, no
 * leading zeros, no plus), else by byte order. */
#ifndef GCG_STORE_IDMAP_H
#define GCG_STORE_IDMAP_H

#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

typedef struct gcg_idmap gcg_idmap;

enum { GCG_ID_MAX = 1024 /* bytes, the longest id (CLI contract) */, GCG_ID_TEXT = GCG_ID_MAX + 1 };

gcg_status gcg_idmap_new(gcg_idmap **map, gcg_err *err);
void gcg_idmap_free(gcg_idmap *map); /* NULL is fine */

/* Looks id[0..length) up, adds it when new. */
gcg_status gcg_idmap_add(gcg_idmap *map, const char *id, size_t length, int32_t *index, gcg_err *err);
/* Adds every id of other, in its order; number[k] is the number here of other's id k. */
gcg_status gcg_idmap_merge(gcg_idmap *map, const gcg_idmap *other, int32_t *number, gcg_err *err);
/* Its number, or -1. */
int32_t gcg_idmap_find(const gcg_idmap *map, const char *id, size_t length);
int32_t gcg_idmap_count(const gcg_idmap *map);
/* The id with this number, written to text (GCG_ID_TEXT bytes) with a final NUL; returns its length. */
size_t gcg_idmap_name(const gcg_idmap *map, int32_t index, char *text);
/* Where the ids are small integers: a table whose entry v is the number of the id v or -1, for 0 <= v <
 * *size; other ids may exist. *size = 0 where there is none. Good until the map changes. */
const int32_t *gcg_idmap_direct(const gcg_idmap *map, uint64_t *size);
/* 1 when every id is a canonical integer. */
int gcg_idmap_is_integer(const gcg_idmap *map);
/* Renumbers canonically. new_of_old (count entries) receives the new number of each old one. */
gcg_status gcg_idmap_sort(gcg_idmap *map, int32_t *new_of_old, gcg_err *err);
/* Bytes that the map holds (for the memory plan). */
int64_t gcg_idmap_bytes(const gcg_idmap *map);

#endif
