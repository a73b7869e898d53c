/* The best N items of many users, exactly: ranked by the scoring routine (score.h), equal scores in item
 * order.
 *
 * A block of users times a tile of items is one matrix product in the model's own precision. What it gives
 * for user i and item j differs from the score by less than
 *
 *   m_i = 2 (K + 2) eps |u'_i| max_j |v'_j| + rounding of the double sums,   u' = (u, 1), v' = (v, b_j), K =
 * k + 1
 *
 * in any order of summation. So what lies more than 2 m_i below the N-th best product cannot be among the
 * best N and is dropped; the few items that are left are scored again by gcg_score_predict. Items without
 * training ratings are never listed. Users without training ratings (-1, or a row of the model) are ranked by
 * the fall-back for a new user: the shrunk mean of each item. */
#ifndef GCG_MATHS_TOP_H
#define GCG_MATHS_TOP_H

#include <stdint.h>
#include "base/status.h"
#include "maths/score.h"

typedef struct {
    int64_t n;        /* items wanted for each user, at most `items` */
    int32_t items;    /* those with training ratings */
    int32_t *item;    /* their numbers, ascending */
    int32_t k, width; /* width = k + 1, rounded up */
    gcg_dtype type;
    void *packed;        /* items x width: (v_j, b_j, 0...) in the model's precision */
    double longest;      /* max_j |v'_j| */
    int32_t *mean_order; /* the items by their fall-back score, or NULL: when no user is new */
} gcg_top;

typedef struct {
    double score; /* as gcg_score_predict gives it; the order is that of the scores before clipping */
    int32_t item;
} gcg_top_entry;

/* For qsort: higher scores first, then the order of the items. */
int gcg_top_by_rank(const void *left, const void *right);

/* n >= 0; new_users: 1 when gcg_top_best is to rank for new users too. The scorer's items, biases, counts,
 * sums and shrink are used; its u is not looked at. */
gcg_status gcg_top_init(gcg_top *t, const gcg_scorer *s, int64_t n, int new_users, gcg_err *err);
void gcg_top_release(gcg_top *t); /* twice is fine */

/* How many users one call takes best. */
int32_t gcg_top_group(const gcg_top *t);

/* 1 when item is not to be listed for the k-th user of the call. */
typedef int (*gcg_top_excluded_fn)(int32_t k, int32_t item, void *ctx);

/* The best items of user[0..count): found[k] <= n entries from best + k * n on. s has the items that t was
 * made from. excluded may be NULL. Runs on the calling thread; calls may run at the same time. */
gcg_status gcg_top_best(const gcg_top *t, const gcg_scorer *s, int32_t count, const int32_t *user,
                        gcg_top_excluded_fn excluded, void *ctx, gcg_top_entry *best, int64_t *found,
                        gcg_err *err);

#endif
