/* A folded-in row: its gradient is zero, however many ratings there are; and what happens at the edges. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "maths/fold_in.h"

enum { ITEMS = 900, MOST = 64 };
static int32_t item[ITEMS];
static double x[ITEMS], w[ITEMS], u[MOST];

static gcg_factors make_items(int32_t k, gcg_dtype type)
{
    gcg_factors v;
    gcg_rng rng;
    gcg_rng_init(&rng, 5, (uint64_t)k);
    ck_assert_int_eq(gcg_factors_init(&v, ITEMS, k, type, NULL), GCG_OK);
    for (int32_t j = 0; j < ITEMS; j++)
        for (int32_t q = 0; q < k; q++) gcg_factors_set(&v, j, q, gcg_rng_normal(&rng));
    for (int p = 0; p < ITEMS; p++) {
        item[p] = (p * 7 + 3) % ITEMS; /* distinct: 7 does not divide 900 */
        x[p] = 3 * gcg_rng_normal(&rng);
        w[p] = exp(gcg_rng_normal(&rng));
    }
    return v;
}

/* Largest entry of sum_j w_j (u . v_j - x_j) v_j + ridge u; weights w NULL: all 1. */
static double gradient(const gcg_factors *v, double ridge, int n, const double *weights)
{
    double largest = 0;
    for (int32_t q = 0; q < v->k; q++) {
        double g = ridge * u[q];
        for (int p = 0; p < n; p++) {
            double r = -x[p];
            for (int32_t t = 0; t < v->k; t++) r += u[t] * gcg_factors_get(v, item[p], t);
            g += (weights ? weights[p] : 1) * r * gcg_factors_get(v, item[p], q);
        }
        largest = fmax(largest, fabs(g));
    }
    return largest;
}

START_TEST(the_gradient_of_the_row_problem_is_zero)
{
    static const int32_t ranks[] = {1, 5, 40, 64};
    static const int counts[] = {1, 4, 5, 39, 40, 41, 255, 256, 257, 900};
    for (int wide = 0; wide < 2; wide++)
        for (int r = 0; r < 4; r++) {
            gcg_factors v = make_items(ranks[r], wide ? GCG_DOUBLE : GCG_FLOAT);
            for (int c = 0; c < 10; c++)
                for (double ridge = 0.01; ridge < 1000; ridge *= 30) {
                    const double *weights = _i ? w : NULL;
                    ck_assert_int_eq(gcg_fold_in_row(&v, ridge, counts[c], item, x, weights, u, NULL),
                                     GCG_OK);
                    ck_assert_double_le(gradient(&v, ridge, counts[c], weights), 1e-9);
                }
            gcg_factors_release(&v);
        }
}
END_TEST

START_TEST(without_ratings_or_factors_the_row_is_zero)
{
    gcg_factors v = make_items(4, GCG_FLOAT), none = make_items(0, GCG_FLOAT);
    memset(u, 1, sizeof u);
    ck_assert_int_eq(gcg_fold_in_row(&v, 1, 0, item, x, NULL, u, NULL), GCG_OK);
    for (int q = 0; q < 4; q++) ck_assert_double_eq(u[q], 0);
    ck_assert_int_eq(gcg_fold_in_row(&none, 1, 10, item, x, NULL, u, NULL), GCG_OK);
    gcg_factors_release(&v);
    gcg_factors_release(&none);
}
END_TEST

START_TEST(without_a_ridge_the_ratings_are_met_by_the_shortest_row)
{
    gcg_factors v = make_items(30, GCG_DOUBLE);
    const int n = 8;
    ck_assert_int_eq(gcg_fold_in_row(&v, 0, n, item, x, NULL, u, NULL), GCG_OK);
    ck_assert_double_le(gradient(&v, 0, n, NULL), 1e-9);
    /* shortest: what a vanishing ridge gives */
    double kept[MOST];
    memcpy(kept, u, sizeof u);
    ck_assert_int_eq(gcg_fold_in_row(&v, 1e-9, n, item, x, NULL, u, NULL), GCG_OK);
    for (int q = 0; q < 30; q++) ck_assert_double_eq_tol(u[q], kept[q], 1e-7);
    memset(v.data, 0, (size_t)ITEMS * (size_t)v.stride * sizeof(double)); /* items without factors */
    ck_assert_int_eq(gcg_fold_in_row(&v, 0, 100, item, x, NULL, u, NULL), GCG_OK);
    for (int q = 0; q < 30; q++) ck_assert_double_eq(u[q], 0);
    gcg_factors_release(&v);
}
END_TEST

START_TEST(numbers_that_are_not_finite_are_reported)
{
    gcg_factors v = make_items(3, GCG_DOUBLE);
    gcg_err err = {0};
    gcg_factors_set(&v, item[1], 0, INFINITY);
    ck_assert_int_eq(gcg_fold_in_row(&v, 1, 10, item, x, NULL, u, &err), GCG_ERR_INTERNAL);
    ck_assert_str_ne(err.text, "");
    gcg_factors_release(&v);
}
END_TEST

START_TEST(out_of_memory_is_reported_at_every_allocation)
{
    gcg_factors v = make_items(10, GCG_FLOAT);
    int64_t blocks = gcg_mem_blocks();
    for (int n = 5; n <= 50; n += 45) {
        int done = 0;
        for (int at = 1; !done && at < 20; at++) {
            gcg_mem_fail_at(at);
            gcg_status status = gcg_fold_in_row(&v, 1, n, item, x, NULL, u, NULL);
            done = status == GCG_OK;
            ck_assert(done || status == GCG_ERR_NOMEM);
            gcg_mem_fail_at(0);
        }
        ck_assert(done);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
    }
    gcg_factors_release(&v);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fold_in");
    TCase *t = tcase_create("fold_in");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, the_gradient_of_the_row_problem_is_zero, 0, 2);
    tcase_add_test(t, without_ratings_or_factors_the_row_is_zero);
    tcase_add_test(t, without_a_ridge_the_ratings_are_met_by_the_shortest_row);
    tcase_add_test(t, numbers_that_are_not_finite_are_reported);
    tcase_add_test(t, out_of_memory_is_reported_at_every_allocation);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
