/* The one scoring routine: predictions, and their error on test pairs. fit's log, predict and eval all use
 * it, so their figures agree to the last digit.
 *
 *   seen pair:  mu + b_i + b_j + u_i . v_j
 *   one side new: (sum of the known side's ratings + shrink * mean) / (their count + shrink)
 *   both new: mean
 *
 * A user or item without training ratings is new, also when the model has a row for it. */
#ifndef GCG_MATHS_SCORE_H
#define GCG_MATHS_SCORE_H

#include <stdint.h>
#include "base/status.h"
#include "maths/exact_sum.h"
#include "store/factors.h"

typedef enum {
    GCG_SCORE_SEEN,
    GCG_SCORE_NEW_USER,
    GCG_SCORE_NEW_ITEM,
    GCG_SCORE_NEW_BOTH,
    GCG_SCORE_KINDS
} gcg_score_kind;
/* "seen", "new_user", "new_item", "new_both" */
const char *gcg_score_kind_name(gcg_score_kind kind);

/* A view of a model, or of a fit that is under way; owns nothing. */
typedef struct {
    const gcg_factors *u, *v; /* one type, one k */
    /* multiply the rows of u and v, rounded to their type; NULL: not. While a fit with a weighted norm runs
     */
    const double *user_scale, *item_scale;
    double mu; /* centre; 0 without centring */
    const double *user_bias, *item_bias;
    const int64_t *user_count, *item_count; /* training ratings of each */
    const double *user_sum, *item_sum;      /* before centring */
    double mean;                            /* of the training ratings, before centring */
    double shrink;    /* ratings that the mean counts for, >= 0; default GCG_SCORE_SHRINK */
    double low, high; /* predictions are cut to this range; -INFINITY, INFINITY = not */
} gcg_scorer;

enum { GCG_SCORE_SHRINK = 5 };

/* user and item are rows of u and v, or -1 for ids that the model does not have. */
gcg_score_kind gcg_score_kind_of(const gcg_scorer *s, int32_t user, int32_t item);
double gcg_score_predict(const gcg_scorer *s, int32_t user, int32_t item);
/* The score cut to low..high, as gcg_score_predict does. */
double gcg_score_clip(const gcg_scorer *s, double score);

/* Errors on test pairs, by kind. A zeroed struct is the empty sum. The sums are exact: the order of the
 * pairs, how they are cut into calls, and the number of threads change nothing. */
typedef struct {
    struct {
        int64_t n;
        gcg_exact_sum squares, magnitudes;
    } of[GCG_SCORE_KINDS];
} gcg_score_sums;

/* Adds n pairs with their true values, on the threads. */
gcg_status gcg_score_add(const gcg_scorer *s, int64_t n, const int32_t *user, const int32_t *item,
                         const double *value, gcg_score_sums *sums, gcg_err *err);

typedef struct {
    int64_t n;
    double rmse, mae; /* NaN when n = 0 */
} gcg_score_row;

gcg_score_row gcg_score_kind_row(const gcg_score_sums *sums, gcg_score_kind kind);
gcg_score_row gcg_score_all_row(const gcg_score_sums *sums);

#endif
