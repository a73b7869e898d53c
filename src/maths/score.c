/* Scoring: see score.h. */
#include "maths/score.h"

#include <math.h>
#include "base/mem.h"
#include "base/parallel.h"

const char *gcg_score_kind_name(gcg_score_kind kind)
{
    static const char *const names[GCG_SCORE_KINDS] = {"seen", "new_user", "new_item", "new_both"};
    return names[kind];
}

gcg_score_kind gcg_score_kind_of(const gcg_scorer *s, int32_t user, int32_t item)
{
    int new_user = user < 0 || s->user_count[user] == 0, new_item = item < 0 || s->item_count[item] == 0;
    return new_user ? (new_item ? GCG_SCORE_NEW_BOTH : GCG_SCORE_NEW_USER)
                    : (new_item ? GCG_SCORE_NEW_ITEM : GCG_SCORE_SEEN);
}

static double shrunk_mean(const gcg_scorer *s, double sum, int64_t count)
{
    return (sum + s->shrink * s->mean) / ((double)count + s->shrink);
}

static double inner_product(const gcg_scorer *s, int32_t user, int32_t item)
{
    if (!s->user_scale) return gcg_factors_dot(s->u, user, s->v, item);
    return gcg_factors_dot_scaled(s->u, user, s->user_scale[user], s->v, item, s->item_scale[item]);
}

static double predict(const gcg_scorer *s, int32_t user, int32_t item, gcg_score_kind kind)
{
    switch (kind) {
    case GCG_SCORE_SEEN:
        return s->mu + s->user_bias[user] + s->item_bias[item] + inner_product(s, user, item);
    case GCG_SCORE_NEW_USER:
        return shrunk_mean(s, s->item_sum[item], s->item_count[item]);
    case GCG_SCORE_NEW_ITEM:
        return shrunk_mean(s, s->user_sum[user], s->user_count[user]);
    default:
        return s->mean;
    }
}

double gcg_score_clip(const gcg_scorer *s, double score)
{
    return score < s->low ? s->low : score > s->high ? s->high : score;
}

double gcg_score_predict(const gcg_scorer *s, int32_t user, int32_t item)
{
    return gcg_score_clip(s, predict(s, user, item, gcg_score_kind_of(s, user, item)));
}

typedef struct {
    const gcg_scorer *s;
    int64_t n, block;
    const int32_t *user, *item;
    const double *value;
    gcg_score_sums *sums; /* one for each block */
} task;

static void add_block(int64_t b, void *ctx)
{
    const task *t = ctx;
    gcg_score_sums *sums = &t->sums[b];
    int64_t end = (b + 1) * t->block < t->n ? (b + 1) * t->block : t->n;
    for (int64_t p = b * t->block; p < end; p++) {
        gcg_score_kind kind = gcg_score_kind_of(t->s, t->user[p], t->item[p]);
        double error = gcg_score_predict(t->s, t->user[p], t->item[p]) - t->value[p];
        sums->of[kind].n++;
        gcg_exact_add(&sums->of[kind].squares, error * error);
        gcg_exact_add(&sums->of[kind].magnitudes, fabs(error));
    }
}

static void merge(gcg_score_sums *sums, const gcg_score_sums *other)
{
    for (int kind = 0; kind < GCG_SCORE_KINDS; kind++) {
        sums->of[kind].n += other->of[kind].n;
        gcg_exact_merge(&sums->of[kind].squares, &other->of[kind].squares);
        gcg_exact_merge(&sums->of[kind].magnitudes, &other->of[kind].magnitudes);
    }
}

gcg_status gcg_score_add(const gcg_scorer *s, int64_t n, const int32_t *user, const int32_t *item,
                         const double *value, gcg_score_sums *sums, gcg_err *err)
{
    enum { MIN_BLOCK = 2048 /* pairs, some 100 us of work */, MAX_BLOCKS = 256 /* 1.1 MB of sums */ };
    int64_t block = n / MAX_BLOCKS + 1;
    if (block < MIN_BLOCK) block = MIN_BLOCK;
    int64_t blocks = (n + block - 1) / block;
    task t = {s, n, block, user, item, value, gcg_mem_zalloc_array(blocks, sizeof *sums)};
    if (!t.sums) return gcg_fail_memory(err, "scores");
    gcg_par_blocks(blocks, add_block, &t);
    for (int64_t b = 0; b < blocks; b++) merge(sums, &t.sums[b]);
    gcg_mem_free(t.sums);
    return GCG_OK;
}

gcg_score_row gcg_score_kind_row(const gcg_score_sums *sums, gcg_score_kind kind)
{
    int64_t n = sums->of[kind].n;
    if (n == 0) return (gcg_score_row){0, NAN, NAN};
    return (gcg_score_row){n, sqrt(gcg_exact_value(&sums->of[kind].squares) / (double)n),
                           gcg_exact_value(&sums->of[kind].magnitudes) / (double)n};
}

gcg_score_row gcg_score_all_row(const gcg_score_sums *sums)
{
    gcg_score_sums all = *sums;
    for (int kind = 1; kind < GCG_SCORE_KINDS; kind++) {
        all.of[0].n += sums->of[kind].n;
        gcg_exact_merge(&all.of[0].squares, &sums->of[kind].squares);
        gcg_exact_merge(&all.of[0].magnitudes, &sums->of[kind].magnitudes);
    }
    return gcg_score_kind_row(&all, (gcg_score_kind)0);
}
