/* How good a list of best items is, by the items known to be relevant to its user. With N the length asked
 * for, R the number of relevant items, and hits the relevant ones among the first N:
 *
 *   precision = hits / N,   recall = hits / R,   NDCG = sum over hits 1 / log2(rank + 1) / sum_{r <= min(N,
 * R)} 1 / log2(r + 1)
 */
#ifndef GCG_MATHS_HITS_H
#define GCG_MATHS_HITS_H

#include <stdint.h>
#include "maths/top.h"

typedef struct {
    int64_t hits;
    double gain; /* sum over hits of 1 / log2(rank + 1) */
} gcg_hits;

/* best[0..found) against relevant[0..count), distinct item numbers, ascending. */
gcg_hits gcg_hits_count(const gcg_top_entry *best, int64_t found, const int32_t *relevant, int64_t count);
/* The gain of n hits in the first n places. */
double gcg_hits_ideal(int64_t n);

#endif
