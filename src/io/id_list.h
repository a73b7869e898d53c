/* A list of ids, one a line, read as a stream: plain or gzip, a file or standard input.
 *
 * What follows a tab is ignored (no id has a tab in it). Blank lines and lines that start with # or % are
 * skipped, blanks around ids dropped, quotes are those of csv. Not a rating file: see ratings.h. */
#ifndef GCG_IO_ID_LIST_H
#define GCG_IO_ID_LIST_H

#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

typedef struct gcg_id_list gcg_id_list;

gcg_status gcg_id_list_open(const char *path, gcg_id_list **list, gcg_err *err);
void gcg_id_list_close(gcg_id_list *list); /* NULL is fine */

/* The next id, good until the next call; *found = 0 after the last. GCG_ERR_DATA with its place for a line
 * that is no id. */
gcg_status gcg_id_list_next(gcg_id_list *list, const char **id, size_t *length, int *found, gcg_err *err);

/* Where the last id stood. */
const char *gcg_id_list_name(const gcg_id_list *list);
int64_t gcg_id_list_line(const gcg_id_list *list);
int64_t gcg_id_list_col(const gcg_id_list *list);

#endif
