/* Moving ratings from the training set into a test set: see ratings.h. */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "io/ratings.h"

static gcg_status pairs_init(gcg_pairs *p, int64_t n, gcg_err *err)
{
    *p = (gcg_pairs){0};
    p->user = gcg_mem_alloc_array(n, sizeof *p->user);
    p->item = gcg_mem_alloc_array(n, sizeof *p->item);
    p->value = gcg_mem_alloc_array(n, sizeof *p->value);
    if (p->user && p->item && p->value) return GCG_OK;
    gcg_pairs_release(p);
    return gcg_fail_memory(err, "test data");
}

/* Moves the entries at the ascending positions at[0..n) of x to test. */
static gcg_status move_entries(gcg_csr *x, const int64_t *at, int64_t n, gcg_pairs *test, gcg_err *err)
{
    int64_t p = 0, to = 0, next = 0;
    if (n == x->nnz)
        return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0,
                        "every rating would go to the test set; none is left to fit");
    gcg_status status = gcg_csr_own(x, err);
    if (status == GCG_OK) status = pairs_init(test, n, err);
    if (status != GCG_OK) return status;
    for (int32_t i = 0; i < x->rows; i++) {
        int64_t row_end = x->row_ptr[i + 1];
        x->row_ptr[i] = to;
        for (; p < row_end; p++) {
            if (next < n && at[next] == p) {
                test->user[next] = i;
                test->item[next] = x->col[p];
                test->value[next++] = gcg_csr_value(x, p);
                continue;
            }
            x->col[to] = x->col[p];
            if (x->val_d)
                x->val_d[to] = x->val_d[p];
            else
                x->val_f[to] = x->val_f[p];
            if (x->weight) x->weight[to] = x->weight[p];
            to++;
        }
    }
    x->row_ptr[x->rows] = to;
    x->nnz = to;
    test->n = n;
    return GCG_OK;
}

static uint64_t id_hash(const gcg_idmap *map, int32_t index, uint64_t seed)
{
    char text[GCG_ID_TEXT];
    size_t length = gcg_idmap_name(map, index, text);
    return gcg_hash_bytes(text, length, seed);
}

/* In [0, 1) from the hashes of a user and an item. */
static double pair_uniform(uint64_t user_hash, uint64_t item_hash)
{
    return (double)(gcg_hash_mix(user_hash ^ gcg_hash_mix(item_hash)) >> 11) * 0x1p-53;
}

/* Positions of the ratings whose hash is in [from, below), ascending; at may be NULL: they are counted only.
 */
static int64_t draw(const gcg_ratings *r, double from, double below, uint64_t seed, const uint64_t *item_hash,
                    int64_t *at)
{
    int64_t n = 0;
    for (int32_t i = 0; i < r->x.rows; i++) {
        if (r->x.row_ptr[i] == r->x.row_ptr[i + 1]) continue;
        uint64_t user_hash = id_hash(r->users, i, seed);
        for (int64_t p = r->x.row_ptr[i]; p < r->x.row_ptr[i + 1]; p++) {
            double hash = pair_uniform(user_hash, item_hash[r->x.col[p]]);
            if (hash < from || hash >= below) continue;
            if (at) at[n] = p;
            n++;
        }
    }
    return n;
}

/* The same in an array of its own, to be freed. */
static gcg_status draw_new(const gcg_ratings *r, double from, double below, uint64_t seed, int64_t **at,
                           int64_t *n, gcg_err *err)
{
    uint64_t *item_hash = gcg_mem_alloc_array(r->x.cols, sizeof *item_hash);
    if (!item_hash) return gcg_fail_memory(err, "hold-out");
    for (int32_t j = 0; j < r->x.cols; j++) item_hash[j] = id_hash(r->items, j, seed);
    *n = draw(r, from, below, seed, item_hash, NULL);
    *at = gcg_mem_alloc_array(*n, sizeof **at);
    if (*at) draw(r, from, below, seed, item_hash, *at);
    gcg_mem_free(item_hash);
    return *at ? GCG_OK : gcg_fail_memory(err, "hold-out");
}

gcg_status gcg_ratings_hold_out(gcg_ratings *r, double fraction, uint64_t seed, gcg_pairs *test, gcg_err *err)
{
    int64_t *at = NULL, n = 0;
    *test = (gcg_pairs){0};
    gcg_status status = draw_new(r, 0, fraction, seed, &at, &n, err);
    if (status == GCG_OK) status = move_entries(&r->x, at, n, test, err);
    gcg_mem_free(at);
    return status;
}

static gcg_status copy_store(const gcg_csr *x, gcg_csr *copy, gcg_err *err)
{
    gcg_status status = gcg_csr_init(copy, x->rows, x->cols, x->nnz, x->val_d != NULL, err);
    if (status == GCG_OK && x->weight) status = gcg_csr_add_weights(copy, err);
    if (status != GCG_OK) return status;
    memcpy(copy->row_ptr, x->row_ptr, ((size_t)x->rows + 1) * sizeof *x->row_ptr);
    memcpy(copy->col, x->col, (size_t)x->nnz * sizeof *x->col);
    if (x->val_d)
        memcpy(copy->val_d, x->val_d, (size_t)x->nnz * sizeof *x->val_d);
    else
        memcpy(copy->val_f, x->val_f, (size_t)x->nnz * sizeof *x->val_f);
    if (x->weight) memcpy(copy->weight, x->weight, (size_t)x->nnz * sizeof *x->weight);
    return GCG_OK;
}

gcg_status gcg_ratings_part(const gcg_ratings *r, double from, double below, uint64_t seed, gcg_csr *rest,
                            gcg_pairs *part, gcg_err *err)
{
    int64_t *at = NULL, n = 0;
    *part = (gcg_pairs){0};
    *rest = (gcg_csr){0};
    gcg_status status = draw_new(r, from, below, seed, &at, &n, err);
    if (status == GCG_OK) status = copy_store(&r->x, rest, err);
    if (status == GCG_OK) status = move_entries(rest, at, n, part, err);
    gcg_mem_free(at);
    if (status != GCG_OK) gcg_csr_release(rest);
    return status;
}

static int compare_positions(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

gcg_status gcg_ratings_take_pairs(gcg_ratings *r, const gcg_pairs *pairs, gcg_pairs *test, int64_t *missing,
                                  gcg_err *err)
{
    *test = (gcg_pairs){0};
    *missing = 0;
    int64_t *at = gcg_mem_alloc_array(pairs->n, sizeof *at), n = 0, distinct = 0;
    if (!at) return gcg_fail_memory(err, "test pairs");
    for (int64_t k = 0; k < pairs->n; k++) {
        int64_t p = gcg_csr_find(&r->x, pairs->user[k], pairs->item[k]);
        if (p < 0)
            ++*missing;
        else
            at[n++] = p;
    }
    if (n > 0) qsort(at, (size_t)n, sizeof *at, compare_positions);
    for (int64_t k = 0; k < n; k++)
        if (k == 0 || at[k] != at[k - 1]) at[distinct++] = at[k];
    gcg_status status = move_entries(&r->x, at, distinct, test, err);
    gcg_mem_free(at);
    return status;
}
