/* From points to rows: sorting each row of the store by column and merging pairs that occur twice.
 *
 * Before gcg_rows_sort a row of x holds its ratings in input order. Inside src/io only. */
#ifndef GCG_IO_ROWS_H
#define GCG_IO_ROWS_H

#include <stdint.h>
#include "base/status.h"
#include "io/ratings.h"
#include "store/csr.h"

/* Sorts each row by column, equal columns in input order; *duplicates counts entries beyond the first of
 * their column. With leave_repeats, rows that have some stay in input order. Rows have at most UINT32_MAX
 * entries. */
gcg_status gcg_rows_sort(gcg_csr *x, int leave_repeats, int64_t *duplicates, gcg_err *err);

/* later[p] = 1 for each entry p of x, in input order, that repeats a column of its row; else untouched. Only
 * rows that gcg_rows_sort left alone have such entries. */
gcg_status gcg_rows_mark_repeats(const gcg_csr *x, unsigned char *later, gcg_err *err);

/* Merges equal columns of sorted rows by policy (GCG_DUP_ERROR: the first stays); *pairs counts the merged
 * pairs. The values become float or double storage, whichever the result needs. With weights, MEAN is
 * the weighted mean; of a merged pair MEAN and SUM keep the mean of the weights, the others the weight of the
 * rating that stays. */
gcg_status gcg_rows_merge(gcg_csr *x, gcg_duplicates policy, int64_t *pairs, gcg_err *err);

#endif
