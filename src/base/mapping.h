/* Files mapped into memory, read-only: the one door for mapped files.
 *
 * A mapping is the file itself, not a copy: pages come from the disk when they are touched and the system
 * takes them back when memory is short, so a file may be larger than memory. Who has just streamed a part
 * says so with gcg_mapping_done; its pages then no longer count as resident. That is skipped for a mapping
 * that is to be kept (gcg_mapping_keep), which is the default for small files.
 *
 * A file that is cut short while it is mapped ends the program with SIGBUS at the next touch of a lost page;
 * a file that is replaced by rename stays as it was. */
#ifndef GCG_BASE_MAPPING_H
#define GCG_BASE_MAPPING_H

#include <stdint.h>
#include "base/status.h"

typedef struct gcg_mapping gcg_mapping;

/* Maps the whole of path ("-": standard input, which must then be a file). GCG_ERR_IO when it cannot be
 * opened or mapped. */
gcg_status gcg_mapping_open(const char *path, gcg_mapping **map, gcg_err *err);
/* A mapping in name only: bytes[0..size) of the caller, which must outlive it. For tests. */
gcg_status gcg_mapping_of_memory(const void *bytes, int64_t size, gcg_mapping **map, gcg_err *err);
void gcg_mapping_close(gcg_mapping *map); /* NULL is fine */

const void *gcg_mapping_bytes(const gcg_mapping *map);
int64_t gcg_mapping_size(const gcg_mapping *map);
/* 1 when place lies in the mapping. */
int gcg_mapping_holds(const gcg_mapping *map, const void *place);

/* Whether pages stay resident once they were touched. */
void gcg_mapping_keep(gcg_mapping *map, int keep);
int gcg_mapping_is_kept(const gcg_mapping *map);
/* The bytes from..to-1 were read and are not needed soon. Their pages are given back, the one that to stands
 * in excepted: whoever reads on needs it. They can be read again at any time. A system call: for a megabyte
 * and more. */
void gcg_mapping_done(const gcg_mapping *map, const void *from, const void *to);
/* The same whether the mapping is kept or not: the bytes are not needed at all. */
void gcg_mapping_drop(const gcg_mapping *map, const void *from, const void *to);

#endif
