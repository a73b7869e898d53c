/* Best items: see top.h. */
#include "maths/top.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"

enum {
    TILE = 1024,   /* items of one product: with GROUP users it stays in the cache */
    GROUP = 128,   /* users of one product */
    LANES = 16,    /* products looked at together */
    SPARE = 256,   /* candidates that may wait beyond the N best */
    MOST = 1 << 18 /* candidates of a call, 4 MB */
};

/* ---- the items ---- */

static double item_norm(const gcg_scorer *s, int32_t j)
{
    return sqrt(gcg_factors_dot(s->v, j, s->v, j) + s->item_bias[j] * s->item_bias[j]);
}

static void pack_row(const gcg_scorer *s, gcg_top *t, int32_t row)
{
    int32_t j = t->item[row];
    for (int32_t q = 0; q < t->width; q++) {
        double value = q < t->k ? gcg_factors_get(s->v, j, q) : q == t->k ? s->item_bias[j] : 0;
        if (t->type == GCG_FLOAT)
            ((float *)t->packed)[(int64_t)row * t->width + q] = (float)value;
        else
            ((double *)t->packed)[(int64_t)row * t->width + q] = value;
    }
}

int gcg_top_by_rank(const void *left, const void *right)
{
    const gcg_top_entry *a = left, *b = right;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

static gcg_scorer unclipped(const gcg_scorer *s)
{
    gcg_scorer free = *s;
    free.low = -INFINITY;
    free.high = INFINITY;
    return free;
}

static gcg_status order_by_mean(gcg_top *t, const gcg_scorer *s, gcg_err *err)
{
    gcg_scorer raw = unclipped(s);
    gcg_top_entry *entry = gcg_mem_alloc_array(t->items, sizeof *entry);
    t->mean_order = gcg_mem_alloc_array(t->items, sizeof *t->mean_order);
    if (!entry || !t->mean_order) {
        gcg_mem_free(entry);
        return gcg_fail_memory(err, "items by mean");
    }
    for (int32_t r = 0; r < t->items; r++)
        entry[r] = (gcg_top_entry){gcg_score_predict(&raw, -1, t->item[r]), t->item[r]};
    qsort(entry, (size_t)t->items, sizeof *entry, gcg_top_by_rank);
    for (int32_t r = 0; r < t->items; r++) t->mean_order[r] = entry[r].item;
    gcg_mem_free(entry);
    return GCG_OK;
}

gcg_status gcg_top_init(gcg_top *t, const gcg_scorer *s, int64_t n, int new_users, gcg_err *err)
{
    enum { ALIGN = 4 };
    *t = (gcg_top){.k = s->v->k, .type = s->v->type, .width = (s->v->k + ALIGN) / ALIGN * ALIGN};
    gcg_status status = GCG_OK;
    t->item = gcg_mem_alloc_array(s->v->rows, sizeof *t->item);
    if (!t->item) return gcg_fail_memory(err, "items");
    for (int32_t j = 0; j < s->v->rows; j++)
        if (s->item_count[j] > 0) t->item[t->items++] = j;
    t->n = n < t->items ? n : t->items;
    t->packed = gcg_mem_alloc_array((int64_t)t->items * t->width, t->type);
    if (!t->packed) status = gcg_fail_memory(err, "item factors");
    for (int32_t r = 0; r < t->items && !status; r++) {
        pack_row(s, t, r);
        t->longest = fmax(t->longest, item_norm(s, t->item[r]));
    }
    if (!status && new_users) status = order_by_mean(t, s, err);
    if (status) gcg_top_release(t);
    return status;
}

void gcg_top_release(gcg_top *t)
{
    gcg_mem_free(t->item);
    gcg_mem_free(t->packed);
    gcg_mem_free(t->mean_order);
    *t = (gcg_top){0};
}

/* Candidates of a user that may wait at a time. */
static int64_t room_of(const gcg_top *t)
{
    int64_t room = t->n + (t->n > SPARE ? t->n : SPARE);
    return room < t->items ? room : t->items;
}

int32_t gcg_top_group(const gcg_top *t)
{
    int64_t room = room_of(t), users = room > 0 ? MOST / room : GROUP;
    return users < 1 ? 1 : users < GROUP ? (int32_t)users : GROUP;
}

/* ---- one user ---- */

/* The candidates of one user. Scores are within margin of the true ones. */
typedef struct {
    const gcg_top *t;
    const gcg_scorer *s; /* not clipped */
    int32_t user, k;
    gcg_top_excluded_fn excluded;
    void *ctx;
    double base, margin, floor; /* base = mu + b_i; what is below floor cannot be among the best */
    int64_t count, room;
    gcg_top_entry *entry;
} list;

/* A bound of |base + product - score|, twice what is needed; INFINITY where a product may overflow. */
static double margin_of(const gcg_top *t, const gcg_scorer *s, int32_t i)
{
    const int wide = t->type == GCG_DOUBLE;
    const double largest = wide ? 1e300 : 1e37, unit = wide ? DBL_EPSILON / 2 : FLT_EPSILON / 2,
                 terms = t->k + 10.0;
    double product = sqrt(gcg_factors_dot(s->u, i, s->u, i) + 1) * t->longest;
    if (!(product < largest)) return INFINITY;
    return 2 * terms *
           (unit * product + DBL_EPSILON * (fabs(s->mu) + fabs(s->user_bias[i]) + product) + FLT_MIN);
}

/* Moves the n largest scores to the front. */
static void select_largest(gcg_top_entry *e, int64_t count, int64_t n)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = e[low + (high - low) / 2].score;
        int64_t i = low, j = high;
        while (i <= j) {
            while (e[i].score > pivot) i++;
            while (e[j].score < pivot) j--;
            if (i > j) break;
            gcg_top_entry swap = e[i];
            e[i++] = e[j];
            e[j--] = swap;
        }
        if (n - 1 <= j)
            high = j;
        else if (n - 1 >= i)
            low = i;
        else
            return;
    }
}

/* Drops what is too far below the n-th best to be among the n best. */
static void drop_low(list *l)
{
    int64_t n = l->t->n, kept = n;
    select_largest(l->entry, l->count, n);
    double least = l->entry[0].score;
    for (int64_t c = 1; c < n; c++) least = fmin(least, l->entry[c].score);
    l->floor = least - 2 * l->margin;
    for (int64_t c = n; c < l->count; c++)
        if (l->entry[c].score >= l->floor) l->entry[kept++] = l->entry[c];
    l->count = kept;
}

/* Scores all candidates exactly and keeps the n best, in order. */
static void settle(list *l)
{
    for (int64_t c = 0; c < l->count; c++)
        l->entry[c].score = gcg_score_predict(l->s, l->user, l->entry[c].item);
    qsort(l->entry, (size_t)l->count, sizeof *l->entry, gcg_top_by_rank);
    if (l->count < l->t->n) return;
    l->count = l->t->n;
    l->floor = l->entry[l->count - 1].score - 2 * l->margin;
}

/* Makes room: where dropping by the products does not, equal or nearly equal scores are many. */
static void make_room(list *l)
{
    if (isfinite(l->margin)) drop_low(l);
    if (l->count > l->t->n + (l->room - l->t->n) / 2) settle(l);
}

static void add(list *l, int32_t row, double product)
{
    int32_t item = l->t->item[row];
    if (l->excluded && l->excluded(l->k, item, l->ctx)) return;
    if (l->count == l->room) {
        make_room(l);
        if (l->base + product < l->floor) return;
    }
    l->entry[l->count++] = (gcg_top_entry){l->base + product, item};
}

/* The products of one user with items first, first + 1, ...; NaN is no reason to leave an item out. */
#define SCAN(real, down)                                                                                     \
    static void scan_##real(list *l, int32_t first, int32_t width, const real *product)                      \
    {                                                                                                        \
        for (int32_t c = 0; c < width; c += LANES) {                                                         \
            int any = 0, end = c + LANES < width ? c + LANES : width;                                        \
            real floor = down(l->floor - l->base);                                                           \
            if (end == c + LANES)                                                                            \
                for (int e = 0; e < LANES; e++) any |= !(product[c + e] < floor);                            \
            for (int e = c; e < end && (any || end < c + LANES); e++)                                        \
                if (!((double)product[e] < l->floor - l->base)) add(l, first + e, (double)product[e]);       \
        }                                                                                                    \
    }

/* A float that is not above x. */
static float float_below(double x)
{
    float f = (float)x;
    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

static double same(double x)
{
    return x;
}

SCAN(float, float_below)
SCAN(double, same)

/* ---- a group of users ---- */

typedef struct {
    void *u, *product; /* known users x width, known users x TILE */
    gcg_top_entry *entry;
    list *lists;
} work;

static void work_release(work *w)
{
    gcg_mem_free(w->u);
    gcg_mem_free(w->product);
    gcg_mem_free(w->entry);
    gcg_mem_free(w->lists);
}

static gcg_status work_init(work *w, const gcg_top *t, int32_t count, gcg_err *err)
{
    *w = (work){gcg_mem_zalloc_array((int64_t)count * t->width, t->type),
                gcg_mem_alloc_array((int64_t)count * TILE, t->type),
                gcg_mem_alloc_array(count * room_of(t), sizeof *w->entry),
                gcg_mem_alloc_array(count, sizeof *w->lists)};
    if (w->u && w->product && w->entry && w->lists) return GCG_OK;
    work_release(w);
    return gcg_fail_memory(err, "best items");
}

static void pack_user(const list *l, void *u, int32_t at)
{
    const gcg_top *t = l->t;
    for (int32_t q = 0; q <= t->k; q++) {
        double value = q < t->k ? gcg_factors_get(l->s->u, l->user, q) : 1;
        if (t->type == GCG_FLOAT)
            ((float *)u)[(int64_t)at * t->width + q] = (float)value;
        else
            ((double *)u)[(int64_t)at * t->width + q] = value;
    }
}

static void scan_tile(const gcg_top *t, work *w, int32_t known, int32_t first)
{
    int32_t width = t->items - first < TILE ? t->items - first : TILE;
    if (t->type == GCG_FLOAT)
        gcg_blas_sgemm(0, 1, known, width, t->width, 1, w->u, t->width,
                       (const float *)t->packed + (int64_t)first * t->width, t->width, 0, w->product, TILE);
    else
        gcg_blas_dgemm(0, 1, known, width, t->width, 1, w->u, t->width,
                       (const double *)t->packed + (int64_t)first * t->width, t->width, 0, w->product, TILE);
    for (int32_t a = 0; a < known; a++)
        if (t->type == GCG_FLOAT)
            scan_float(&w->lists[a], first, width, (const float *)w->product + (int64_t)a * TILE);
        else
            scan_double(&w->lists[a], first, width, (const double *)w->product + (int64_t)a * TILE);
}

static int64_t best_by_mean(const gcg_top *t, const gcg_scorer *s, int32_t k, gcg_top_excluded_fn excluded,
                            void *ctx, gcg_top_entry *best)
{
    int64_t found = 0;
    for (int32_t r = 0; r < t->items && found < t->n; r++) {
        int32_t item = t->mean_order[r];
        if (!excluded || !excluded(k, item, ctx))
            best[found++] = (gcg_top_entry){gcg_score_predict(s, -1, item), item};
    }
    return found;
}

gcg_status gcg_top_best(const gcg_top *t, const gcg_scorer *s, int32_t count, const int32_t *user,
                        gcg_top_excluded_fn excluded, void *ctx, gcg_top_entry *best, int64_t *found,
                        gcg_err *err)
{
    gcg_scorer raw = unclipped(s);
    work w;
    int32_t known = 0;
    memset(found, 0, (size_t)count * sizeof *found);
    if (t->n == 0 || count == 0) return GCG_OK;
    gcg_status status = work_init(&w, t, count, err);
    if (status) return status;
    for (int32_t k = 0; k < count; k++) {
        if (user[k] < 0 || s->user_count[user[k]] == 0) {
            found[k] = best_by_mean(t, s, k, excluded, ctx, best + k * t->n);
            continue;
        }
        w.lists[known] = (list){.t = t,
                                .s = &raw,
                                .user = user[k],
                                .k = k,
                                .excluded = excluded,
                                .ctx = ctx,
                                .base = s->mu + s->user_bias[user[k]],
                                .margin = margin_of(t, s, user[k]),
                                .floor = -INFINITY,
                                .room = room_of(t),
                                .entry = w.entry + known * room_of(t)};
        pack_user(&w.lists[known], w.u, known);
        known++;
    }
    for (int32_t first = 0; first < t->items && known > 0; first += TILE) scan_tile(t, &w, known, first);
    for (int32_t a = 0; a < known; a++) {
        list *l = &w.lists[a];
        if (l->count > t->n && isfinite(l->margin)) drop_low(l);
        settle(l);
        found[l->k] = l->count;
        for (int64_t c = 0; c < l->count; c++)
            best[l->k * t->n + c] = (gcg_top_entry){gcg_score_clip(s, l->entry[c].score), l->entry[c].item};
    }
    work_release(&w);
    return GCG_OK;
}
