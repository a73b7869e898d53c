/* Best items against sorting all scores, and what could make the short cut wrong: ties, huge and tiny
 * factors, clipping, excluded pairs, new users and items. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "maths/top.h"

typedef struct {
    gcg_factors u, v;
    gcg_scorer s;
    double *user_bias, *item_bias, *user_sum, *item_sum;
    int64_t *user_count, *item_count;
} model;

/* Every seventh item and the last user have no training ratings. steps > 0: factors and biases are multiples
 * of 1 / steps, so that scores tie. */
static model make_model(int32_t users, int32_t items, int32_t k, gcg_dtype type, double scale, int steps)
{
    model m = {0};
    gcg_rng rng;
    gcg_rng_init(&rng, 17, (uint64_t)k);
    ck_assert_int_eq(gcg_factors_init(&m.u, users, k, type, NULL), GCG_OK);
    ck_assert_int_eq(gcg_factors_init(&m.v, items, k, type, NULL), GCG_OK);
    m.user_bias = gcg_mem_zalloc_array(users, 8), m.user_sum = gcg_mem_zalloc_array(users, 8);
    m.item_bias = gcg_mem_zalloc_array(items, 8), m.item_sum = gcg_mem_zalloc_array(items, 8);
    m.user_count = gcg_mem_zalloc_array(users, 8), m.item_count = gcg_mem_zalloc_array(items, 8);
    for (int32_t i = 0; i < users + items; i++) {
        gcg_factors *f = i < users ? &m.u : &m.v;
        int32_t row = i < users ? i : i - users;
        for (int32_t q = 0; q < k; q++) {
            double x = gcg_rng_normal(&rng);
            gcg_factors_set(f, row, q, scale * (steps ? floor(x * steps) / steps : x));
        }
        double bias = steps ? (double)gcg_rng_below(&rng, 3) / 2 : gcg_rng_normal(&rng) / 3;
        int64_t count = i < users ? row < users - 1 : row % 7 == 3 ? 0 : 1 + (int64_t)gcg_rng_below(&rng, 5);
        if (i < users)
            m.user_bias[row] = bias, m.user_count[row] = count, m.user_sum[row] = 3.0 * (double)count;
        else
            m.item_bias[row] = bias, m.item_count[row] = count,
            m.item_sum[row] = (double)(count * (1 + (int64_t)gcg_rng_below(&rng, 5)));
    }
    m.s = (gcg_scorer){.mu = 3.25,
                       .user_bias = m.user_bias,
                       .item_bias = m.item_bias,
                       .user_count = m.user_count,
                       .item_count = m.item_count,
                       .user_sum = m.user_sum,
                       .item_sum = m.item_sum,
                       .mean = 3.5,
                       .shrink = GCG_SCORE_SHRINK,
                       .low = -INFINITY,
                       .high = INFINITY};
    return m;
}

static gcg_scorer *scorer(model *m)
{
    m->s.u = &m->u;
    m->s.v = &m->v;
    return &m->s;
}

static void release(model *m)
{
    gcg_factors_release(&m->u);
    gcg_factors_release(&m->v);
    gcg_mem_free(m->user_bias), gcg_mem_free(m->item_bias), gcg_mem_free(m->user_sum);
    gcg_mem_free(m->item_sum), gcg_mem_free(m->user_count), gcg_mem_free(m->item_count);
}

static int odd_one_out(int32_t k, int32_t item, void *ctx)
{
    (void)ctx;
    return (item + k) % 5 == 0;
}

static int naive_rank(const void *a, const void *b)
{
    const gcg_top_entry *x = a, *y = b;
    return x->score > y->score ? -1 : x->score < y->score ? 1 : x->item - y->item;
}

/* Every score, sorted. */
static int64_t naive(const gcg_scorer *s, int32_t user, int32_t k, int exclude, int64_t n, gcg_top_entry *out)
{
    gcg_scorer raw = *s;
    int64_t count = 0;
    raw.low = -INFINITY, raw.high = INFINITY;
    for (int32_t j = 0; j < s->v->rows; j++)
        if (s->item_count[j] > 0 && !(exclude && odd_one_out(k, j, NULL)))
            out[count++] = (gcg_top_entry){gcg_score_predict(&raw, user, j), j};
    qsort(out, (size_t)count, sizeof *out, naive_rank);
    count = count < n ? count : n;
    for (int64_t c = 0; c < count; c++) out[c].score = gcg_score_predict(s, user, out[c].item);
    return count;
}

static void agree(const gcg_scorer *s, int64_t n, int exclude)
{
    gcg_top t;
    ck_assert_int_eq(gcg_top_init(&t, s, n, 1, NULL), GCG_OK);
    ck_assert(gcg_top_group(&t) >= 1);
    int32_t users = s->u->rows + 1, user[64];
    gcg_top_entry *best = gcg_mem_alloc_array(users * (t.n + 1), sizeof *best),
                  *all = gcg_mem_alloc_array(s->v->rows, sizeof *all);
    int64_t found[64];
    ck_assert(users <= 64 && best && all);
    for (int32_t i = 0; i < users; i++) user[i] = i < users - 1 ? users - 2 - i : -1;
    ck_assert_int_eq(gcg_top_best(&t, s, users, user, exclude ? odd_one_out : NULL, NULL, best, found, NULL),
                     GCG_OK);
    for (int32_t i = 0; i < users; i++) {
        ck_assert_int_eq(found[i], naive(s, user[i], i, exclude, n, all));
        for (int64_t c = 0; c < found[i]; c++) {
            ck_assert_int_eq(best[i * t.n + c].item, all[c].item);
            ck_assert_double_eq(best[i * t.n + c].score, all[c].score);
        }
    }
    gcg_mem_free(best);
    gcg_mem_free(all);
    gcg_top_release(&t);
    gcg_top_release(&t);
}

START_TEST(the_best_items_are_those_of_sorting_all_scores)
{
    static const int32_t ranks[] = {0, 1, 7, 16, 40};
    static const int64_t counts[] = {0, 1, 10, 300, 5000};
    for (int wide = 0; wide < 2; wide++)
        for (int r = 0; r < 5; r++) {
            model m = make_model(20, 2500, ranks[r], wide ? GCG_DOUBLE : GCG_FLOAT, 0.4, 0);
            for (int c = 0; c < 5; c++) agree(scorer(&m), counts[c], c % 2);
            release(&m);
        }
}
END_TEST

START_TEST(equal_scores_are_in_item_order)
{
    for (int wide = 0; wide < 2; wide++) {
        model m = make_model(12, 3000, 3, wide ? GCG_DOUBLE : GCG_FLOAT, 1, 1);
        agree(scorer(&m), 5, 0);
        agree(scorer(&m), 700, 1);
        release(&m);
        m = make_model(5, 2000, 0, wide ? GCG_DOUBLE : GCG_FLOAT, 1, 1);
        memset(m.item_bias, 0, 2000 * sizeof(double)); /* all scores of a user are equal */
        agree(scorer(&m), 10, 1);
        release(&m);
    }
}
END_TEST

START_TEST(scores_that_differ_in_the_last_digits_are_told_apart)
{
    model m = make_model(4, 2200, 9, GCG_FLOAT, 1, 0);
    for (int32_t j = 1; j < 2200; j++)
        for (int32_t q = 0; q < 9; q++) { /* one direction, lengths a few units in the last place apart */
            double x = gcg_factors_get(&m.v, 0, q);
            gcg_factors_set(&m.v, j, q, x * (1 + ((j * 7919) % 2003) * 0x1p-24));
        }
    memset(m.item_bias, 0, 2200 * sizeof(double));
    agree(scorer(&m), 25, 1);
    release(&m);
}
END_TEST

START_TEST(factors_too_large_or_too_small_for_floats_are_ranked_all_the_same)
{
    static const double scales[] = {1e-30, 1e25, 3e37};
    for (int k = 0; k < 3; k++) {
        model m = make_model(6, 1500, 4, GCG_FLOAT, scales[k], 0);
        if (k == 0) memset(m.item_bias, 0, 1500 * sizeof(double));
        if (k == 0) memset(m.user_bias, 0, 6 * sizeof(double)), m.s.mu = 0;
        agree(scorer(&m), 20, 0);
        release(&m);
    }
    model m = make_model(6, 1500, 4, GCG_DOUBLE, 3e152, 0);
    agree(scorer(&m), 20, 0);
    release(&m);
}
END_TEST

START_TEST(clipping_cuts_scores_and_keeps_the_order)
{
    model m = make_model(10, 900, 8, GCG_FLOAT, 1, 0);
    m.s.low = 3, m.s.high = 4;
    agree(scorer(&m), 100, 1);
    release(&m);
}
END_TEST

START_TEST(out_of_memory_is_reported_at_every_allocation)
{
    model m = make_model(3, 300, 5, GCG_FLOAT, 1, 0);
    gcg_scorer *s = scorer(&m);
    gcg_top_entry best[3 * 4];
    int64_t found[3];
    int done = 0;
    for (int n = 1; !done && n < 50; n++) {
        gcg_top t;
        gcg_mem_fail_at(n);
        gcg_status status = gcg_top_init(&t, s, 4, 1, NULL);
        if (!status) status = gcg_top_best(&t, s, 3, (int32_t[]){0, 1, 2}, NULL, NULL, best, found, NULL);
        done = status == GCG_OK;
        ck_assert(done || status == GCG_ERR_NOMEM);
        gcg_mem_fail_at(0);
        gcg_top_release(&t);
    }
    ck_assert(done);
    release(&m);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("top");
    TCase *t = tcase_create("top");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, the_best_items_are_those_of_sorting_all_scores);
    tcase_add_test(t, equal_scores_are_in_item_order);
    tcase_add_test(t, scores_that_differ_in_the_last_digits_are_told_apart);
    tcase_add_test(t, factors_too_large_or_too_small_for_floats_are_ranked_all_the_same);
    tcase_add_test(t, clipping_cuts_scores_and_keeps_the_order);
    tcase_add_test(t, out_of_memory_is_reported_at_every_allocation);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
