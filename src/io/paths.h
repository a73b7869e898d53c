/* Input paths: a folder stands for the Netflix files in it. */
#ifndef GCG_IO_PATHS_H
#define GCG_IO_PATHS_H

#include <stddef.h>
#include "base/status.h"

typedef struct {
    char **path;
    int count, capacity;
} gcg_paths;

/* Appends path, or, when it is a folder, its mv_*.txt and combined_data_*.txt (also .gz) in byte order of the
 * names. GCG_ERR_IO when a folder has none or cannot be read. A path that does not exist is kept: opening it
 * tells. */
gcg_status gcg_paths_add(gcg_paths *paths, const char *path, gcg_err *err);
void gcg_paths_release(gcg_paths *paths); /* twice is fine */

/* 1 when name[0..length) ends with `end`, with something before it. */
int gcg_path_ends_with(const char *name, size_t length, const char *end);

#endif
