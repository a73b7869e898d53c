/* Exact sums, predictions and errors against a naive oracle. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "maths/score.h"

static double sum_of(int64_t n, const double *x)
{
    gcg_exact_sum sum = {0};
    for (int64_t i = 0; i < n; i++) gcg_exact_add(&sum, x[i]);
    return gcg_exact_value(&sum);
}

START_TEST(an_exact_sum_rounds_once_and_to_nearest)
{
    const double big = 0x1p53, tiny = 0x1p-1074;
    ck_assert_double_eq(sum_of(0, NULL), 0);
    ck_assert_double_eq(sum_of(1, (double[]){0.1}), 0.1);
    ck_assert_double_eq(sum_of(1, (double[]){DBL_MAX}), DBL_MAX);
    ck_assert_double_eq(sum_of(2, (double[]){tiny, tiny}), 2 * tiny);
    ck_assert_double_eq(sum_of(2, (double[]){DBL_MIN, tiny}), DBL_MIN + tiny);
    ck_assert_double_eq(sum_of(2, (double[]){big, 1}), big); /* a tie, to even */
    ck_assert_double_eq(sum_of(2, (double[]){big + 2, 1}), big + 4);
    ck_assert_double_eq(sum_of(3, (double[]){big, 1, tiny}), big + 2); /* just above the tie */
    ck_assert_double_eq(sum_of(3, (double[]){1, 0x1p-53, 0x1p-53}), 1 + 0x1p-52);
    ck_assert_double_eq(sum_of(3, (double[]){1e300, 1, 1e-300}), 1e300);
    ck_assert(isinf(sum_of(2, (double[]){DBL_MAX, DBL_MAX})));
    ck_assert(isinf(sum_of(2, (double[]){1, INFINITY})));
    ck_assert(isnan(sum_of(2, (double[]){1, NAN})));
}
END_TEST

START_TEST(an_exact_sum_agrees_with_integer_arithmetic)
{
    gcg_rng rng;
    gcg_rng_init(&rng, 7, 0);
    for (int round = 0; round < 200; round++) {
        gcg_exact_sum sum = {0};
        unsigned __int128 whole = 0;
        const int scale = (int)gcg_rng_below(&rng, 1900) - 1000;
        for (int i = 0; i < 100; i++) {
            uint64_t term = gcg_rng_next(&rng) >> (11 + gcg_rng_below(&rng, 53));
            whole += term;
            gcg_exact_add(&sum, ldexp((double)term, scale));
        }
        ck_assert_double_eq(gcg_exact_value(&sum), ldexp((double)whole, scale));
    }
}
END_TEST

START_TEST(an_exact_sum_does_not_depend_on_order_or_grouping)
{
    enum { N = 5000 };
    gcg_rng rng;
    gcg_exact_sum forward = {0}, backward = {0}, parts[3] = {0};
    static double x[N];
    gcg_rng_init(&rng, 3, 1);
    for (int i = 0; i < N; i++) x[i] = exp(40 * gcg_rng_normal(&rng));
    for (int i = 0; i < N; i++) {
        gcg_exact_add(&forward, x[i]);
        gcg_exact_add(&backward, x[N - 1 - i]);
        gcg_exact_add(&parts[i % 3], x[i]);
    }
    gcg_exact_merge(&parts[1], &parts[2]);
    gcg_exact_merge(&parts[1], &parts[0]);
    ck_assert_double_eq(gcg_exact_value(&forward), gcg_exact_value(&backward));
    ck_assert_double_eq(gcg_exact_value(&forward), gcg_exact_value(&parts[1]));
}
END_TEST

START_TEST(carries_are_taken_before_a_word_is_full)
{
    const int64_t n = ((int64_t)1 << 28) + 5;
    gcg_exact_sum sum = {0};
    for (int64_t i = 0; i < n; i++) gcg_exact_add(&sum, 0x1.fffffffffffffp-1);
    ck_assert_int_eq(sum.pending, 5);
    ck_assert_double_eq(gcg_exact_value(&sum), ldexp((double)((unsigned __int128)n * 0x1fffffffffffff), -53));
}
END_TEST

enum { USERS = 6, ITEMS = 5, RANK = 3 };

/* A small model with an empty row (user 5) and an empty column (item 4). */
static gcg_factors u, v;
static const double user_bias[USERS] = {0.5, -0.25, 0, 1, 0.125, 0},
                    item_bias[ITEMS] = {0.1, 0, -0.3, 0.2, 0};
static const int64_t user_count[USERS] = {2, 3, 1, 4, 1, 0}, item_count[ITEMS] = {4, 3, 2, 2, 0};
static const double user_sum[USERS] = {7, 11, 2, 15, 5, 0}, item_sum[ITEMS] = {15, 11, 6, 8, 0};

static gcg_scorer make_scorer(gcg_dtype type)
{
    gcg_rng rng;
    gcg_rng_init(&rng, 11, 0);
    ck_assert_int_eq(gcg_factors_init(&u, USERS, RANK, type, NULL), GCG_OK);
    ck_assert_int_eq(gcg_factors_init(&v, ITEMS, RANK, type, NULL), GCG_OK);
    for (int i = 0; i < USERS; i++)
        for (int q = 0; q < RANK; q++) gcg_factors_set(&u, i, q, gcg_rng_normal(&rng));
    for (int j = 0; j < ITEMS; j++)
        for (int q = 0; q < RANK; q++) gcg_factors_set(&v, j, q, gcg_rng_normal(&rng));
    return (gcg_scorer){.u = &u,
                        .v = &v,
                        .mu = 3.25,
                        .user_bias = user_bias,
                        .item_bias = item_bias,
                        .user_count = user_count,
                        .item_count = item_count,
                        .user_sum = user_sum,
                        .item_sum = item_sum,
                        .mean = 40.0 / 11,
                        .shrink = GCG_SCORE_SHRINK,
                        .low = -INFINITY,
                        .high = INFINITY};
}

static void release_scorer(void)
{
    gcg_factors_release(&u);
    gcg_factors_release(&v);
}

/* The definition, written out. */
static double naive(const gcg_scorer *s, int i, int j, int *kind)
{
    int user_known = i >= 0 && user_count[i] > 0, item_known = j >= 0 && item_count[j] > 0;
    double m = s->mean, p = m;
    *kind = user_known && item_known ? 0 : item_known ? 1 : user_known ? 2 : 3;
    if (*kind == 0) {
        p = s->mu + user_bias[i] + item_bias[j];
        double dot = 0;
        for (int q = 0; q < RANK; q++) dot += gcg_factors_get(&u, i, q) * gcg_factors_get(&v, j, q);
        p += dot;
    }
    if (*kind == 1) p = (item_sum[j] + s->shrink * m) / ((double)item_count[j] + s->shrink);
    if (*kind == 2) p = (user_sum[i] + s->shrink * m) / ((double)user_count[i] + s->shrink);
    return fmin(fmax(p, s->low), s->high);
}

START_TEST(predictions_are_those_of_the_definition)
{
    static const gcg_dtype types[] = {GCG_FLOAT, GCG_DOUBLE};
    for (int t = 0; t < 2; t++) {
        gcg_scorer s = make_scorer(types[t]);
        for (int clip = 0; clip < 2; clip++) {
            for (int i = -1; i < USERS; i++)
                for (int j = -1; j < ITEMS; j++) {
                    int kind;
                    double expected = naive(&s, i, j, &kind);
                    ck_assert_double_eq_tol(gcg_score_predict(&s, i, j), expected,
                                            1e-14 * (1 + fabs(expected)));
                    ck_assert_int_eq((int)gcg_score_kind_of(&s, i, j), kind);
                }
            s.low = 3.3;
            s.high = 3.6;
            s.shrink = 0;
        }
        release_scorer();
    }
}
END_TEST

START_TEST(scales_multiply_the_factors_of_seen_pairs_alone)
{
    gcg_scorer s = make_scorer(GCG_FLOAT);
    double a[USERS], b[ITEMS], before[USERS + 1][ITEMS + 1];
    for (int i = 0; i < USERS; i++) a[i] = 1 + 0.25 * i;
    for (int j = 0; j < ITEMS; j++) b[j] = 2 - 0.125 * j;
    gcg_scorer scaled = s;
    scaled.user_scale = a;
    scaled.item_scale = b;
    for (int i = -1; i < USERS; i++)
        for (int j = -1; j < ITEMS; j++) before[i + 1][j + 1] = gcg_score_predict(&scaled, i, j);
    gcg_factors_scale_rows(&u, a);
    gcg_factors_scale_rows(&v, b);
    for (int i = -1; i < USERS; i++)
        for (int j = -1; j < ITEMS; j++)
            ck_assert_double_eq(before[i + 1][j + 1], gcg_score_predict(&s, i, j));
    release_scorer();
}
END_TEST

START_TEST(kinds_have_the_names_of_the_contract)
{
    ck_assert_str_eq(gcg_score_kind_name(GCG_SCORE_SEEN), "seen");
    ck_assert_str_eq(gcg_score_kind_name(GCG_SCORE_NEW_USER), "new_user");
    ck_assert_str_eq(gcg_score_kind_name(GCG_SCORE_NEW_ITEM), "new_item");
    ck_assert_str_eq(gcg_score_kind_name(GCG_SCORE_NEW_BOTH), "new_both");
}
END_TEST

enum { PAIRS = 20000 };
static int32_t user[PAIRS], item[PAIRS];
static double value[PAIRS];

static void make_pairs(void)
{
    gcg_rng rng;
    gcg_rng_init(&rng, 5, 5);
    for (int p = 0; p < PAIRS; p++) {
        user[p] = (int32_t)gcg_rng_below(&rng, USERS + 1) - 1;
        item[p] = (int32_t)gcg_rng_below(&rng, ITEMS + 1) - 1;
        value[p] = 5 * gcg_rng_uniform(&rng);
    }
}

START_TEST(errors_by_kind_are_those_of_a_plain_loop)
{
    gcg_scorer s = make_scorer(GCG_DOUBLE);
    gcg_score_sums sums = {0};
    double squares[5] = {0}, magnitudes[5] = {0};
    int64_t n[5] = {0};
    make_pairs();
    for (int p = 0; p < PAIRS; p++) {
        int kind;
        double e = naive(&s, user[p], item[p], &kind) - value[p];
        n[kind]++, squares[kind] += e * e, magnitudes[kind] += fabs(e);
        n[4]++, squares[4] += e * e, magnitudes[4] += fabs(e);
    }
    ck_assert_int_eq(gcg_score_add(&s, PAIRS, user, item, value, &sums, NULL), GCG_OK);
    for (int kind = 0; kind < 5; kind++) {
        gcg_score_row row =
            kind < 4 ? gcg_score_kind_row(&sums, (gcg_score_kind)kind) : gcg_score_all_row(&sums);
        ck_assert_int_eq(row.n, n[kind]);
        ck_assert_double_eq_tol(row.rmse, sqrt(squares[kind] / (double)n[kind]), 1e-12);
        ck_assert_double_eq_tol(row.mae, magnitudes[kind] / (double)n[kind], 1e-12);
    }
    release_scorer();
}
END_TEST

START_TEST(errors_do_not_depend_on_threads_order_or_calls)
{
    gcg_scorer s = make_scorer(GCG_FLOAT);
    gcg_score_sums first = {0};
    make_pairs();
    ck_assert_int_eq(gcg_score_add(&s, PAIRS, user, item, value, &first, NULL), GCG_OK);
    gcg_score_row expected = gcg_score_all_row(&first);
    for (int threads = 1; threads <= 7; threads += 3) {
        gcg_score_sums sums = {0};
        gcg_par_set_threads(threads);
        for (int p = 0; p < PAIRS / 2; p++) { /* another order each time */
            int o = PAIRS - 1 - (p * threads) % (PAIRS / 2);
            int32_t i = user[p], j = item[p];
            double x = value[p];
            user[p] = user[o], item[p] = item[o], value[p] = value[o];
            user[o] = i, item[o] = j, value[o] = x;
        }
        for (int p = 0; p < PAIRS; p += 5000)
            ck_assert_int_eq(gcg_score_add(&s, 5000, user + p, item + p, value + p, &sums, NULL), GCG_OK);
        gcg_score_row row = gcg_score_all_row(&sums);
        ck_assert_double_eq(row.rmse, expected.rmse);
        ck_assert_double_eq(row.mae, expected.mae);
    }
    gcg_par_set_threads(1);
    release_scorer();
}
END_TEST

START_TEST(no_pairs_have_no_error)
{
    gcg_scorer s = make_scorer(GCG_FLOAT);
    gcg_score_sums sums = {0};
    ck_assert_int_eq(gcg_score_add(&s, 0, NULL, NULL, NULL, &sums, NULL), GCG_OK);
    ck_assert_int_eq(gcg_score_all_row(&sums).n, 0);
    ck_assert(isnan(gcg_score_all_row(&sums).rmse) && isnan(gcg_score_all_row(&sums).mae));
    release_scorer();
}
END_TEST

START_TEST(out_of_memory_is_reported)
{
    gcg_scorer s = make_scorer(GCG_FLOAT);
    gcg_score_sums sums = {0};
    gcg_mem_fail_at(1);
    ck_assert_int_eq(gcg_score_add(&s, PAIRS, user, item, value, &sums, NULL), GCG_ERR_NOMEM);
    gcg_mem_fail_at(0);
    ck_assert_int_eq(gcg_score_all_row(&sums).n, 0);
    release_scorer();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("score");
    TCase *t = tcase_create("score");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, an_exact_sum_rounds_once_and_to_nearest);
    tcase_add_test(t, an_exact_sum_agrees_with_integer_arithmetic);
    tcase_add_test(t, an_exact_sum_does_not_depend_on_order_or_grouping);
    tcase_add_test(t, carries_are_taken_before_a_word_is_full);
    tcase_add_test(t, predictions_are_those_of_the_definition);
    tcase_add_test(t, scales_multiply_the_factors_of_seen_pairs_alone);
    tcase_add_test(t, kinds_have_the_names_of_the_contract);
    tcase_add_test(t, errors_by_kind_are_those_of_a_plain_loop);
    tcase_add_test(t, errors_do_not_depend_on_threads_order_or_calls);
    tcase_add_test(t, no_pairs_have_no_error);
    tcase_add_test(t, out_of_memory_is_reported);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
