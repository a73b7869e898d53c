/* Centring against formulas written out on a dense matrix. */
#include <check.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "maths/center.h"

enum { ROWS = 7, COLS = 6, EMPTY_ROW = 3, EMPTY_COL = 4 };

static double dense[ROWS][COLS]; /* NAN where nothing was observed */
static int32_t row[ROWS * COLS], col[ROWS * COLS];
static double value[ROWS * COLS];
static int64_t n;

/* scale 1: values that are floats; 0.1: values that are not. */
static void make_data(gcg_csr *x, double scale)
{
    gcg_rng rng;
    gcg_rng_init(&rng, 2, 9);
    n = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            dense[i][j] = NAN;
            if (i == EMPTY_ROW || j == EMPTY_COL || gcg_rng_below(&rng, 3) == 0) continue;
            dense[i][j] = scale * (double)(1 + gcg_rng_below(&rng, 5));
            row[n] = i, col[n] = j, value[n++] = dense[i][j];
        }
    ck_assert_int_eq(gcg_csr_from_triples(x, ROWS, COLS, n, row, col, value, NULL), GCG_OK);
    ck_assert_int_eq(x->val_f != NULL, scale == 1);
}

static void naive_user(double mu, const double *bj, double *bi)
{
    for (int i = 0; i < ROWS; i++) {
        double sum = 0, count = 0;
        for (int j = 0; j < COLS; j++)
            if (!isnan(dense[i][j])) sum += dense[i][j] - mu - bj[j], count++;
        bi[i] = sum / (count + 5);
    }
}

static void naive_item(double mu, const double *bi, double *bj)
{
    for (int j = 0; j < COLS; j++) {
        double sum = 0, count = 0;
        for (int i = 0; i < ROWS; i++)
            if (!isnan(dense[i][j])) sum += dense[i][j] - mu - bi[i], count++;
        bj[j] = sum / (count + 3);
    }
}

static void naive_center(gcg_center_kind kind, double *mu, double *bi, double *bj)
{
    *mu = 0;
    for (int i = 0; i < ROWS; i++) bi[i] = 0;
    for (int j = 0; j < COLS; j++) bj[j] = 0;
    if (kind == GCG_CENTER_NONE) return;
    for (int64_t p = 0; p < n; p++) *mu += value[p] / (double)n;
    if (kind == GCG_CENTER_USER) naive_user(*mu, bj, bi);
    if (kind == GCG_CENTER_ITEM) naive_item(*mu, bi, bj);
    for (int sweep = 0; kind == GCG_CENTER_BOTH && sweep < 20; sweep++) {
        naive_user(*mu, bj, bi);
        naive_item(*mu, bi, bj);
    }
}

static void expect_center(gcg_center_kind kind, double scale, int as_double)
{
    gcg_csr x;
    gcg_center c;
    double mu, bi[ROWS], bj[COLS];
    make_data(&x, scale);
    naive_center(kind, &mu, bi, bj);
    ck_assert_int_eq(gcg_center_compute(&x, kind, &c, NULL), GCG_OK);
    ck_assert_double_eq_tol(c.mu, mu, 1e-13);
    for (int i = 0; i < ROWS; i++) ck_assert_double_eq_tol(c.user_bias[i], bi[i], 1e-13);
    for (int j = 0; j < COLS; j++) ck_assert_double_eq_tol(c.item_bias[j], bj[j], 1e-13);
    ck_assert_int_eq(gcg_center_subtract(&c, as_double, &x, NULL), GCG_OK);
    if (kind != GCG_CENTER_NONE) ck_assert_int_eq(x.val_d != NULL, as_double);
    ck_assert_int_eq((x.val_d != NULL) + (x.val_f != NULL), 1);
    for (int i = 0; i < ROWS; i++)
        for (int64_t p = x.row_ptr[i]; p < x.row_ptr[i + 1]; p++)
            ck_assert_double_eq_tol(gcg_csr_value(&x, p), dense[i][x.col[p]] - mu - bi[i] - bj[x.col[p]],
                                    x.val_f ? 1e-6 : 1e-13);
    gcg_csr_release(&x);
    gcg_center_release(&c);
    gcg_center_release(&c);
}

START_TEST(every_kind_of_centring_is_that_of_its_formula)
{
    int64_t blocks = gcg_mem_blocks();
    for (int kind = GCG_CENTER_NONE; kind <= GCG_CENTER_BOTH; kind++)
        for (int as_double = 0; as_double < 2; as_double++) {
            expect_center((gcg_center_kind)kind, 1, as_double);
            expect_center((gcg_center_kind)kind, 0.1, as_double);
        }
    ck_assert_int_eq(gcg_mem_blocks(), blocks);
}
END_TEST

/* More than a million ratings, which are swept by blocks: 1,100 users of 1,000 items each, a user's items
 * being those that are not u modulo 11. The sweeps are written out with plain loops. */
START_TEST(many_ratings_are_centred_alike_by_any_number_of_threads)
{
    enum { USERS = 1100, ITEMS = 1100 };
    static double bi[USERS], bj[ITEMS];
    gcg_csr x;
    gcg_center c[3];
    int64_t p = 0, count[ITEMS] = {0};
    double mu = 0;
    ck_assert_int_eq(gcg_csr_init(&x, USERS, ITEMS, USERS * (ITEMS / 11 * 10), 0, NULL), GCG_OK);
    for (int i = 0; i < USERS; i++) {
        for (int j = 0; j < ITEMS; j++)
            if (j % 11 != i % 11) {
                x.col[p] = j;
                x.val_f[p++] = (float)(i % 7 + j % 13 + (i * j) % 5);
                count[j]++;
            }
        x.row_ptr[i + 1] = p;
    }
    ck_assert_int_eq(p, x.nnz);
    for (p = 0; p < x.nnz; p++) mu += x.val_f[p]; /* exact: small whole numbers */
    mu /= (double)x.nnz;
    for (int sweep = 0; sweep < 20; sweep++) {
        double sum[ITEMS] = {0};
        for (int i = 0; i < USERS; i++) {
            bi[i] = 0;
            for (p = x.row_ptr[i]; p < x.row_ptr[i + 1]; p++)
                bi[i] += (x.val_f[p] - mu - bj[x.col[p]]) / (double)(x.row_ptr[i + 1] - x.row_ptr[i] + 5);
            for (p = x.row_ptr[i]; p < x.row_ptr[i + 1]; p++) sum[x.col[p]] += x.val_f[p] - mu - bi[i];
        }
        for (int j = 0; j < ITEMS; j++) bj[j] = sum[j] / (double)(count[j] + 3);
    }
    for (int t = 0; t < 3; t++) {
        gcg_par_set_threads(1 + 2 * t);
        ck_assert_int_eq(gcg_center_compute(&x, GCG_CENTER_BOTH, &c[t], NULL), GCG_OK);
        ck_assert_mem_eq(c[t].user_bias, c[0].user_bias, sizeof bi);
        ck_assert_mem_eq(c[t].item_bias, c[0].item_bias, sizeof bj);
    }
    for (int i = 0; i < USERS; i++) ck_assert_double_eq_tol(c[0].user_bias[i], bi[i], 1e-11);
    for (int j = 0; j < ITEMS; j++) ck_assert_double_eq_tol(c[0].item_bias[j], bj[j], 1e-11);
    double first = x.val_f[0], last = x.val_f[x.nnz - 1];
    ck_assert_int_eq(gcg_center_subtract(&c[0], 1, &x, NULL), GCG_OK);
    ck_assert_double_eq_tol(x.val_d[0], first - mu - bi[0] - bj[1], 1e-11);
    ck_assert_double_eq_tol(x.val_d[x.nnz - 1], last - mu - bi[USERS - 1] - bj[x.col[x.nnz - 1]], 1e-11);
    for (int t = 0; t < 3; t++) gcg_center_release(&c[t]);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(empty_rows_and_columns_have_no_bias)
{
    gcg_csr x;
    gcg_center c;
    make_data(&x, 1);
    ck_assert_int_eq(gcg_center_compute(&x, GCG_CENTER_BOTH, &c, NULL), GCG_OK);
    ck_assert_double_eq(c.user_bias[EMPTY_ROW], 0);
    ck_assert_double_eq(c.item_bias[EMPTY_COL], 0);
    gcg_center_release(&c);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(no_centring_keeps_the_values_to_the_bit)
{
    gcg_csr x;
    gcg_center c;
    make_data(&x, 1);
    ck_assert_int_eq(gcg_center_compute(&x, GCG_CENTER_NONE, &c, NULL), GCG_OK);
    ck_assert_int_eq(gcg_center_subtract(&c, 1, &x, NULL), GCG_OK);
    ck_assert_ptr_nonnull(x.val_f);
    for (int64_t p = 0; p < n; p++) ck_assert_double_eq(gcg_csr_value(&x, p), value[p]);
    gcg_center_release(&c);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(margins_count_and_sum_each_row_and_column)
{
    gcg_csr x;
    gcg_margins m;
    double total = 0;
    make_data(&x, 0.1);
    ck_assert_int_eq(gcg_margins_compute(&x, &m, NULL), GCG_OK);
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        int count = 0;
        for (int j = 0; j < COLS; j++)
            if (!isnan(dense[i][j])) sum += dense[i][j], count++;
        ck_assert_int_eq(m.user_count[i], count);
        ck_assert_double_eq_tol(m.user_sum[i], sum, 1e-13);
        total += sum;
    }
    for (int j = 0; j < COLS; j++) {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < ROWS; i++)
            if (!isnan(dense[i][j])) sum += dense[i][j], count++;
        ck_assert_int_eq(m.item_count[j], count);
        ck_assert_double_eq_tol(m.item_sum[j], sum, 1e-13);
    }
    ck_assert_double_eq_tol(m.mean, total / (double)n, 1e-13);
    gcg_margins_release(&m);
    gcg_margins_release(&m);
    gcg_csr_release(&x);
}
END_TEST

/* Runs everything once; the status is the first that is not OK. */
static gcg_status run_all(gcg_csr *x, int as_double)
{
    gcg_center c = {0};
    gcg_margins m = {0};
    gcg_status status = gcg_margins_compute(x, &m, NULL);
    if (!status) status = gcg_center_compute(x, GCG_CENTER_BOTH, &c, NULL);
    if (!status) status = gcg_center_subtract(&c, as_double, x, NULL);
    gcg_center_release(&c);
    gcg_margins_release(&m);
    return status;
}

START_TEST(every_failing_allocation_is_reported_and_nothing_leaks)
{
    int64_t blocks = gcg_mem_blocks();
    for (int as_double = 0; as_double < 2; as_double++) {
        gcg_status status = GCG_ERR_NOMEM;
        int64_t at = 1;
        for (; status != GCG_OK; at++) {
            gcg_csr x;
            make_data(&x, as_double ? 1 : 0.1);
            gcg_mem_fail_at(at);
            status = run_all(&x, as_double);
            gcg_mem_fail_at(0);
            ck_assert(status == GCG_OK || status == GCG_ERR_NOMEM);
            gcg_csr_release(&x);
            ck_assert_int_eq(gcg_mem_blocks(), blocks);
        }
        ck_assert_int_ge(at, 9);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("center");
    TCase *t = tcase_create("center");
    tcase_add_test(t, every_kind_of_centring_is_that_of_its_formula);
    tcase_add_test(t, many_ratings_are_centred_alike_by_any_number_of_threads);
    tcase_add_test(t, empty_rows_and_columns_have_no_bias);
    tcase_add_test(t, no_centring_keeps_the_values_to_the_bit);
    tcase_add_test(t, margins_count_and_sum_each_row_and_column);
    tcase_add_test(t, every_failing_allocation_is_reported_and_nothing_leaks);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
