/* Test pairs kept for eval --top and --by, 16 bytes each, and grouped by user or by item. Ids that the model
 * does not have are numbered behind its own, in canonical order, so that the order of the lines changes
 * nothing. */
#ifndef GCG_CMD_EVAL_PAIRS_H
#define GCG_CMD_EVAL_PAIRS_H

#include "io/model_io.h"
#include "io/ratings.h"

typedef struct {
    const gcg_model *model;
    gcg_pairs pairs; /* numbers: row of the model, or rows of the model + number among the new ones */
    int64_t room;
    gcg_idmap *new_users, *new_items;
} eval_pairs;

gcg_status eval_pairs_init(eval_pairs *p, const gcg_model *model, gcg_err *err);
void eval_pairs_release(eval_pairs *p); /* twice is fine */
/* user and item are rows of the model or -1. */
gcg_status eval_pairs_add(eval_pairs *p, const gcg_point *point, int32_t user, int32_t item, gcg_err *err);
/* After the last one: numbers the new ids canonically. */
gcg_status eval_pairs_settle(eval_pairs *p, gcg_err *err);

/* Row of the model, -1 for a new id. */
int32_t eval_pairs_user(const eval_pairs *p, int64_t k);
int32_t eval_pairs_item(const eval_pairs *p, int64_t k);

/* The pairs of each user (or item): pair[start[g]..start[g + 1]). */
typedef struct {
    int32_t count;
    int64_t *start, *pair;
} eval_groups;

gcg_status eval_groups_make(eval_groups *g, const eval_pairs *p, int by_item, gcg_err *err);
void eval_groups_release(eval_groups *g); /* twice is fine */
/* The id of a group, as gcg_idmap_name gives it. */
size_t eval_groups_name(const eval_pairs *p, int by_item, int32_t group, char *text);

#endif
