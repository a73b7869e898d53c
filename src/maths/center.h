/* Centring (--center): what is subtracted from the ratings before the fit and added back in every output; and
 * the counts and sums by user and item, before centring, on which the fall-back for new ids rests.
 *
 *   global: mu                                    mu = mean of the ratings
 *   user:   mu, b_i = sum_j (x_ij - mu) / (n_i + 5)
 *   item:   mu, b_j = sum_i (x_ij - mu) / (n_j + 3)
 *   both:   20 sweeps from b = 0 of b_i = sum_j (x_ij - mu - b_j) / (n_i + 5), then b_j = sum_i (x_ij - mu -
 * b_i) / (n_j + 3)
 *
 * Sums run in storage order, where there are many ratings by blocks of rows: the same for any number of
 * threads. */
#ifndef GCG_MATHS_CENTER_H
#define GCG_MATHS_CENTER_H

#include <stdint.h>
#include "base/status.h"
#include "store/center_kind.h"
#include "store/csr.h"

typedef struct {
    gcg_center_kind kind;
    double mu;                     /* 0 when kind is none */
    double *user_bias, *item_bias; /* rows, cols entries; 0 where not used and for empty rows and columns */
} gcg_center;

gcg_status gcg_center_compute(const gcg_csr *x, gcg_center_kind kind, gcg_center *center, gcg_err *err);
void gcg_center_release(gcg_center *center); /* twice is fine */

/* x_ij -= mu + b_i + b_j in place, stored as float (rounded) or as double. Kind none changes nothing. */
gcg_status gcg_center_subtract(const gcg_center *center, int as_double, gcg_csr *x, gcg_err *err);

/* The same, to the last bit, whenever a rating is read (csr.h): center must live as long as x. For ratings in
 * a mapped file, which then need no copy. */
void gcg_center_subtract_reading(const gcg_center *center, int as_double, gcg_csr *x);

/* The bias b_i of one more user, from its n ratings x of the given items, items' biases being known: the
 * formulas above; 0 for kinds without user biases. */
double gcg_center_user_bias(gcg_center_kind kind, double mu, const double *item_bias, int64_t n,
                            const int32_t *item, const double *x);

typedef struct {
    double mean;                      /* of all ratings */
    int64_t *user_count, *item_count; /* ratings per row, column */
    double *user_sum, *item_sum;
} gcg_margins;

gcg_status gcg_margins_compute(const gcg_csr *x, gcg_margins *margins, gcg_err *err);
void gcg_margins_release(gcg_margins *margins); /* twice is fine */

#endif
