/* Rankings against a test set: see eval_lists.h. */
#include "cmd/eval_lists.h"

#include <math.h>
#include <stdlib.h>

#include "base/blas.h"
#include "base/mem.h"
#include "base/parallel.h"

typedef struct {
    const eval_lists_settings *s;
    const eval_pairs *p;
    const eval_groups *users;
    const gcg_scorer *scorer;
    gcg_top top;
    int32_t *group; /* users with relevant items */
    int32_t count;
    eval_list *list;
    gcg_status *status; /* of each block */
} lists;

/* ---- which items are relevant ---- */

static int compare_items(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A user of the model with training ratings. */
static int is_known_user(const gcg_scorer *s, int32_t group)
{
    return group < s->u->rows && s->user_count[group] > 0;
}

/* The relevant items of a user, each once and in order, in item (room for all its pairs); returns how many.
 * Counts them in list. */
static int64_t relevant_items(const lists *l, int32_t group, int32_t *item, eval_list *list)
{
    const int64_t *start = l->users->start;
    int64_t n = 0, distinct = 0;
    for (int64_t k = start[group]; k < start[group + 1]; k++)
        if (l->p->pairs.value[l->users->pair[k]] >= l->s->threshold)
            item[n++] = l->p->pairs.item[l->users->pair[k]];
    qsort(item, (size_t)n, sizeof *item, compare_items);
    *list = (eval_list){0};
    if (l->s->known_only && !is_known_user(l->scorer, group)) return 0;
    for (int64_t k = 0; k < n; k++) {
        if (k > 0 && item[k] == item[k - 1]) continue;
        int known = item[k] < l->scorer->v->rows && l->scorer->item_count[item[k]] > 0;
        list->known += known;
        list->fresh += !known && !l->s->known_only;
    }
    for (int64_t k = 0; k < n; k++)
        if (distinct == 0 || item[k] != item[distinct - 1]) item[distinct++] = item[k];
    return distinct;
}

/* ---- a block of users ---- */

typedef struct {
    const gcg_exclusion *excluded;
    const int32_t *row; /* of each user, in excluded */
} block_ctx;

static int is_excluded(int32_t k, int32_t item, void *ctx)
{
    const block_ctx *b = ctx;
    return gcg_exclusion_has(b->excluded, b->row[k], item);
}

/* Counts the hits in the list of one user. */
static gcg_status judge(const lists *l, int32_t group, const gcg_top_entry *best, int64_t found)
{
    int64_t pairs = l->users->start[group + 1] - l->users->start[group];
    int32_t *item = gcg_mem_alloc_array(pairs, sizeof *item);
    if (!item) return GCG_ERR_NOMEM;
    int64_t count = relevant_items(l, group, item, &l->list[group]);
    l->list[group].hits = gcg_hits_count(best, found, item, count);
    gcg_mem_free(item);
    return GCG_OK;
}

/* Where each user of the block stands in the model and in what is excluded. */
static void find_rows(const lists *l, int64_t first, int32_t count, int32_t *user, int32_t *row)
{
    char id[GCG_ID_TEXT];
    for (int32_t k = 0; k < count; k++) {
        int32_t group = l->group[first + k];
        user[k] = group < l->scorer->u->rows ? group : -1;
        size_t length = eval_groups_name(l->p, 0, group, id);
        row[k] = l->s->excluded ? gcg_exclusion_row(l->s->excluded, id, length) : -1;
    }
}

static void rank_block(int64_t block, void *ctx)
{
    const lists *l = ctx;
    const int64_t size = gcg_top_group(&l->top), first = block * size, n = l->top.n;
    int32_t count = l->count - first < size ? (int32_t)(l->count - first) : (int32_t)size;
    gcg_top_entry *best = gcg_mem_alloc_array(count * n, sizeof *best);
    int64_t *found = gcg_mem_alloc_array(count, sizeof *found);
    int32_t *user = gcg_mem_alloc_array(count, sizeof *user), *row = gcg_mem_alloc_array(count, sizeof *row);
    block_ctx b = {l->s->excluded, row};
    gcg_status status = best && found && user && row ? GCG_OK : GCG_ERR_NOMEM;
    if (!status) {
        find_rows(l, first, count, user, row);
        status = gcg_top_best(&l->top, l->scorer, count, user, b.excluded ? is_excluded : NULL, &b, best,
                              found, NULL);
    }
    for (int32_t k = 0; k < count && !status; k++)
        status = judge(l, l->group[first + k], best + k * n, found[k]);
    l->status[block] = status;
    gcg_mem_free(best);
    gcg_mem_free(found);
    gcg_mem_free(user);
    gcg_mem_free(row);
}

/* ---- all of them ---- */

static gcg_status choose_users(lists *l, gcg_err *err)
{
    int64_t most = 0;
    for (int32_t g = 0; g < l->users->count; g++) {
        int64_t pairs = l->users->start[g + 1] - l->users->start[g];
        if (pairs > most) most = pairs;
    }
    int32_t *item = gcg_mem_alloc_array(most, sizeof *item);
    l->group = gcg_mem_alloc_array(l->users->count, sizeof *l->group);
    if (!item || !l->group) {
        gcg_mem_free(item);
        return gcg_fail_memory(err, "test users");
    }
    for (int32_t g = 0; g < l->users->count; g++) {
        relevant_items(l, g, item, &l->list[g]);
        if (l->list[g].known + l->list[g].fresh > 0) l->group[l->count++] = g;
    }
    gcg_mem_free(item);
    return GCG_OK;
}

gcg_status eval_lists_make(const eval_lists_settings *s, const eval_pairs *p, const eval_groups *users,
                           const gcg_scorer *scorer, eval_list *list, gcg_err *err)
{
    lists l = {.s = s, .p = p, .users = users, .scorer = scorer, .list = list};
    gcg_status status = gcg_blas_reserve(gcg_par_threads(), err);
    if (!status) status = choose_users(&l, err);
    if (!status) status = gcg_top_init(&l.top, scorer, s->n, 1, err);
    int64_t size = status ? 1 : gcg_top_group(&l.top), blocks = (l.count + size - 1) / size;
    if (!status && !(l.status = gcg_mem_zalloc_array(blocks, sizeof *l.status)))
        status = gcg_fail_memory(err, "test users");
    if (!status) gcg_par_blocks(blocks, rank_block, &l);
    for (int64_t b = 0; b < blocks && !status; b++)
        if (l.status[b]) status = gcg_fail_memory(err, "best items");
    gcg_top_release(&l.top);
    gcg_mem_free(l.group);
    gcg_mem_free(l.status);
    return status;
}

eval_figures eval_list_figures(int64_t n, int64_t relevant, gcg_hits hits)
{
    if (relevant == 0) return (eval_figures){NAN, NAN, NAN};
    return (eval_figures){(double)hits.hits / (double)n, (double)hits.hits / (double)relevant,
                          hits.gain / gcg_hits_ideal(n < relevant ? n : relevant)};
}

eval_lists_row eval_lists_subset(int64_t n, const gcg_scorer *scorer, const eval_groups *users,
                                 const eval_list *list, int kind)
{
    const gcg_hits none = {0}; /* items without training ratings are never listed */
    const int all = kind == GCG_SCORE_KINDS, fresh = kind == GCG_SCORE_NEW_ITEM || kind == GCG_SCORE_NEW_BOTH,
              new_user = kind == GCG_SCORE_NEW_USER || kind == GCG_SCORE_NEW_BOTH;
    eval_lists_row row = {0};
    for (int32_t g = 0; g < users->count; g++) {
        int64_t relevant = all ? list[g].known + list[g].fresh : fresh ? list[g].fresh : list[g].known;
        if (relevant == 0 || (!all && new_user == is_known_user(scorer, g))) continue;
        eval_figures f = eval_list_figures(n, relevant, fresh ? none : list[g].hits);
        row.users++;
        row.relevant += relevant;
        row.mean.precision += f.precision;
        row.mean.recall += f.recall;
        row.mean.ndcg += f.ndcg;
    }
    row.mean.precision /= (double)row.users; /* 0 / 0 is NAN */
    row.mean.recall /= (double)row.users;
    row.mean.ndcg /= (double)row.users;
    return row;
}
