/* Test pairs by user and item: see eval_pairs.h. */
#include "cmd/eval_pairs.h"

#include "base/mem.h"

gcg_status eval_pairs_init(eval_pairs *p, const gcg_model *model, gcg_err *err)
{
    *p = (eval_pairs){.model = model};
    gcg_status status = gcg_idmap_new(&p->new_users, err);
    return status ? status : gcg_idmap_new(&p->new_items, err);
}

void eval_pairs_release(eval_pairs *p)
{
    gcg_pairs_release(&p->pairs);
    gcg_idmap_free(p->new_users);
    gcg_idmap_free(p->new_items);
    *p = (eval_pairs){0};
}

/* row, or the number of a new id behind the rows. */
static gcg_status code_of(gcg_idmap *fresh, int32_t rows, const char *id, size_t length, int32_t row,
                          int32_t *code, gcg_err *err)
{
    *code = row;
    if (row >= 0) return GCG_OK;
    gcg_status status = gcg_idmap_add(fresh, id, length, code, err);
    if (!status && *code > INT32_MAX - rows - 1)
        return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0, "more than 2147483647 users or items");
    *code += rows;
    return status;
}

gcg_status eval_pairs_add(eval_pairs *p, const gcg_point *point, int32_t user, int32_t item, gcg_err *err)
{
    int32_t u, i;
    gcg_status status =
        code_of(p->new_users, p->model->u.rows, point->user, point->user_length, user, &u, err);
    if (!status)
        status = code_of(p->new_items, p->model->v.rows, point->item, point->item_length, item, &i, err);
    return status ? status : gcg_pairs_add(&p->pairs, &p->room, u, i, point->value, err);
}

static gcg_status renumber(gcg_idmap *fresh, int32_t rows, int64_t n, int32_t *code, gcg_err *err)
{
    int32_t *new_of_old = gcg_mem_alloc_array(gcg_idmap_count(fresh), sizeof *new_of_old);
    if (!new_of_old) return gcg_fail_memory(err, "new ids");
    gcg_status status = gcg_idmap_sort(fresh, new_of_old, err);
    for (int64_t k = 0; k < n && !status; k++)
        if (code[k] >= rows) code[k] = rows + new_of_old[code[k] - rows];
    gcg_mem_free(new_of_old);
    return status;
}

gcg_status eval_pairs_settle(eval_pairs *p, gcg_err *err)
{
    gcg_status status = renumber(p->new_users, p->model->u.rows, p->pairs.n, p->pairs.user, err);
    return status ? status : renumber(p->new_items, p->model->v.rows, p->pairs.n, p->pairs.item, err);
}

int32_t eval_pairs_user(const eval_pairs *p, int64_t k)
{
    return p->pairs.user[k] < p->model->u.rows ? p->pairs.user[k] : -1;
}

int32_t eval_pairs_item(const eval_pairs *p, int64_t k)
{
    return p->pairs.item[k] < p->model->v.rows ? p->pairs.item[k] : -1;
}

gcg_status eval_groups_make(eval_groups *g, const eval_pairs *p, int by_item, gcg_err *err)
{
    const int32_t *code = by_item ? p->pairs.item : p->pairs.user;
    g->count = by_item ? p->model->v.rows + gcg_idmap_count(p->new_items)
                       : p->model->u.rows + gcg_idmap_count(p->new_users);
    g->start = gcg_mem_zalloc_array((int64_t)g->count + 2, sizeof *g->start);
    g->pair = gcg_mem_alloc_array(p->pairs.n, sizeof *g->pair);
    if (!g->start || !g->pair) return gcg_fail_memory(err, "test pairs by user or item");
    for (int64_t k = 0; k < p->pairs.n; k++) g->start[code[k] + 2]++;
    for (int32_t c = 0; c < g->count; c++) g->start[c + 2] += g->start[c + 1];
    for (int64_t k = 0; k < p->pairs.n; k++) g->pair[g->start[code[k] + 1]++] = k;
    return GCG_OK;
}

void eval_groups_release(eval_groups *g)
{
    gcg_mem_free(g->start);
    gcg_mem_free(g->pair);
    *g = (eval_groups){0};
}

size_t eval_groups_name(const eval_pairs *p, int by_item, int32_t group, char *text)
{
    int32_t rows = by_item ? p->model->v.rows : p->model->u.rows;
    const gcg_idmap *known = by_item ? p->model->items : p->model->users,
                    *fresh = by_item ? p->new_items : p->new_users;
    return group < rows ? gcg_idmap_name(known, group, text) : gcg_idmap_name(fresh, group - rows, text);
}
