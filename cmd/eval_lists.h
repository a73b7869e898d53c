/* eval --top: every user's best items against the relevant items of the test set. What the figures mean is in
 * maths/hits.h and gcg-mc-eval(1). */
#ifndef GCG_CMD_EVAL_LISTS_H
#define GCG_CMD_EVAL_LISTS_H

#include "cmd/eval_pairs.h"
#include "io/exclusion.h"
#include "maths/hits.h"

typedef struct {
    int64_t n;                     /* length of the lists */
    double threshold;              /* a rating of at least this is relevant */
    int known_only;                /* pairs with a new user or item do not count */
    const gcg_exclusion *excluded; /* not in the lists; NULL: nothing */
} eval_lists_settings;

/* One user. */
typedef struct {
    int64_t known, fresh; /* relevant items: those of the model with training ratings, the others */
    gcg_hits hits;
} eval_list;

/* list (groups->count entries, zeroed) of all users, on the threads. */
gcg_status eval_lists_make(const eval_lists_settings *s, const eval_pairs *p, const eval_groups *users,
                           const gcg_scorer *scorer, eval_list *list, gcg_err *err);

/* precision, recall and NDCG of a list; relevant = known, fresh, or both. NAN when there is none. */
typedef struct {
    double precision, recall, ndcg;
} eval_figures;
eval_figures eval_list_figures(int64_t n, int64_t relevant, gcg_hits hits);

/* The figures of the users with relevant items in a subset of the pairs (seen, new_user, ...;
 * GCG_SCORE_KINDS: all pairs), averaged; *figures is NAN for none. */
typedef struct {
    int64_t users, relevant;
    eval_figures mean;
} eval_lists_row;
eval_lists_row eval_lists_subset(int64_t n, const gcg_scorer *scorer, const eval_groups *users,
                                 const eval_list *list, int kind);

#endif
