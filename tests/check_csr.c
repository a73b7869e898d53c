/* Compressed sparse rows against a dense table. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "store/csr.h"

enum { ROWS = 23, COLS = 17, MOST = ROWS * COLS };

typedef struct {
    double dense[ROWS][COLS]; /* NaN: not observed */
    int32_t row[MOST], col[MOST];
    double value[MOST];
    int64_t n;
} table;

static gcg_err err;
static table t;

/* About a share of the entries, in random order; values are floats unless as_double. */
static void random_table(uint64_t seed, double share, int as_double)
{
    gcg_rng rng;
    gcg_rng_init(&rng, seed, 0);
    t.n = 0;
    for (int32_t i = 0; i < ROWS; i++)
        for (int32_t j = 0; j < COLS; j++) {
            t.dense[i][j] = NAN;
            if (i == 3 || j == 4 || gcg_rng_uniform(&rng) >= share) continue; /* an empty row and column */
            double v = as_double ? gcg_rng_normal(&rng) : (double)gcg_rng_below(&rng, 11) / 2 - 1;
            int64_t at = (int64_t)gcg_rng_below(&rng, (uint64_t)t.n + 1), n = t.n++;
            t.row[n] = t.row[at], t.col[n] = t.col[at], t.value[n] = t.value[at];
            t.row[at] = i, t.col[at] = j, t.value[at] = v;
            t.dense[i][j] = v;
        }
}

static void check_against_dense(const gcg_csr *x, int transposed)
{
    int64_t n = 0;
    ck_assert_int_eq(x->rows, transposed ? COLS : ROWS);
    ck_assert_int_eq(x->cols, transposed ? ROWS : COLS);
    for (int32_t i = 0; i < x->rows; i++)
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++, n++) {
            if (p > x->row_ptr[i]) ck_assert_int_lt(x->col[p - 1], x->col[p]);
            double want = transposed ? t.dense[x->col[p]][i] : t.dense[i][x->col[p]];
            ck_assert(gcg_csr_value(x, p) == want);
            ck_assert_int_eq(gcg_csr_find(x, i, x->col[p]), p);
        }
    ck_assert_int_eq(n, t.n);
    ck_assert_int_eq(x->nnz, t.n);
}

START_TEST(triples_in_any_order_give_sorted_rows)
{
    gcg_csr x, xt;
    random_table((uint64_t)_i, 0.3, _i % 2);
    ck_assert_int_eq(gcg_csr_from_triples(&x, ROWS, COLS, t.n, t.row, t.col, t.value, &err), GCG_OK);
    ck_assert(_i % 2 ? x.val_d != NULL : x.val_f != NULL);
    check_against_dense(&x, 0);
    ck_assert_int_eq(gcg_csr_transpose(&x, &xt, &err), GCG_OK);
    check_against_dense(&xt, 1);
    int64_t counts[COLS];
    gcg_csr_col_counts(&x, counts);
    for (int32_t j = 0; j < COLS; j++) ck_assert_int_eq(counts[j], xt.row_ptr[j + 1] - xt.row_ptr[j]);
    gcg_csr_release(&xt);
    gcg_csr_release(&x);
    gcg_csr_release(&x);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(every_entry_knows_its_row_beside_empty_rows)
{
    static const int32_t row[] = {1, 1, 4, 6}, col[] = {0, 2, 1, 2};
    static const double value[] = {1, 2, 3, 4};
    gcg_csr x;
    ck_assert_int_eq(gcg_csr_from_triples(&x, 8, 3, 4, row, col, value, &err), GCG_OK);
    for (int64_t p = 0; p < 4; p++) ck_assert_int_eq(gcg_csr_row_of(&x, p), row[p]);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(an_entry_that_is_not_there_is_not_found)
{
    gcg_csr x;
    random_table(9, 0.4, 0);
    ck_assert_int_eq(gcg_csr_from_triples(&x, ROWS, COLS, t.n, t.row, t.col, t.value, &err), GCG_OK);
    for (int32_t i = 0; i < ROWS; i++)
        for (int32_t j = 0; j < COLS; j++) ck_assert(isnan(t.dense[i][j]) == (gcg_csr_find(&x, i, j) < 0));
    ck_assert_int_eq(gcg_csr_find(&x, -1, 0), -1);
    ck_assert_int_eq(gcg_csr_find(&x, ROWS, 0), -1);
    ck_assert_int_eq(gcg_csr_find(&x, 0, -1), -1);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(a_repeated_pair_or_one_outside_is_refused)
{
    gcg_csr x;
    const int32_t row[] = {0, 1, 0}, col[] = {1, 0, 1}, outside[] = {0, 1, 2}, below[] = {0, -1, 0};
    const double value[] = {1, 2, 3};
    ck_assert_int_eq(gcg_csr_from_triples(&x, 2, 2, 3, row, col, value, &err), GCG_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.text, "twice"));
    ck_assert_int_eq(gcg_csr_from_triples(&x, 2, 2, 3, outside, col, value, &err), GCG_ERR_DATA);
    ck_assert_int_eq(gcg_csr_from_triples(&x, 2, 2, 3, row, below, value, &err), GCG_ERR_DATA);
    ck_assert_ptr_null(x.row_ptr);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(values_widen_and_narrow_without_loss)
{
    gcg_csr x;
    random_table(4, 0.5, 0);
    ck_assert_int_eq(gcg_csr_from_triples(&x, ROWS, COLS, t.n, t.row, t.col, t.value, &err), GCG_OK);
    ck_assert_int_eq(gcg_csr_widen(&x, &err), GCG_OK);
    ck_assert_int_eq(gcg_csr_widen(&x, &err), GCG_OK);
    ck_assert(x.val_d && !x.val_f);
    check_against_dense(&x, 0);
    ck_assert_int_eq(gcg_csr_narrow(&x, &err), GCG_OK);
    ck_assert_int_eq(gcg_csr_narrow(&x, &err), GCG_OK);
    ck_assert(x.val_f && !x.val_d);
    check_against_dense(&x, 0);
    ck_assert_int_eq(gcg_csr_widen(&x, &err), GCG_OK);
    x.val_d[0] = 0.1; /* no float */
    ck_assert_int_eq(gcg_csr_narrow(&x, &err), GCG_OK);
    ck_assert(x.val_d && !x.val_f);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(the_statistics_are_those_of_the_values)
{
    gcg_csr x;
    const int32_t row[] = {0, 0, 1}, col[] = {0, 1, 1};
    const double value[] = {-2, 0, 3.5};
    ck_assert_int_eq(gcg_csr_from_triples(&x, 2, 2, 3, row, col, value, &err), GCG_OK);
    gcg_csr_stats s = gcg_csr_value_stats(&x);
    ck_assert(s.sum == 1.5 && s.sum_squares == 4 + 12.25 && s.min == -2 && s.max == 3.5 && s.zeros == 1);
    gcg_csr_release(&x);
    ck_assert_int_eq(gcg_csr_from_triples(&x, 2, 2, 0, row, col, value, &err), GCG_OK);
    s = gcg_csr_value_stats(&x);
    ck_assert(isnan(s.min) && isnan(s.max) && s.sum == 0);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(only_values_that_a_float_holds_exactly_fit_one)
{
    ck_assert_int_eq(gcg_csr_fits_float(0.5), 1);
    ck_assert_int_eq(gcg_csr_fits_float(-16777216), 1);
    ck_assert_int_eq(gcg_csr_fits_float(16777217), 0);
    ck_assert_int_eq(gcg_csr_fits_float(0.1), 0);
    ck_assert_int_eq(gcg_csr_fits_float(1e100), 0);
}
END_TEST

/* Copies of x's arrays in one block that stands for a mapped file; x then has them there. */
static void *as_mapped(gcg_csr *x)
{
    size_t row = (size_t)(x->rows + 1) * sizeof *x->row_ptr, col = (size_t)x->nnz * sizeof *x->col,
           value = (size_t)x->nnz * (x->val_f ? sizeof *x->val_f : sizeof *x->val_d);
    char *file = malloc(value + row + col);
    gcg_csr mapped = {.rows = x->rows, .cols = x->cols, .nnz = x->nnz};
    mapped.row_ptr = memcpy(file, x->row_ptr, row);
    if (x->val_f)
        mapped.val_f = memcpy(file + row, x->val_f, value);
    else
        mapped.val_d = memcpy(file + row, x->val_d, value);
    mapped.col = memcpy(file + row + value, x->col, col);
    ck_assert_int_eq(gcg_mapping_of_memory(file, (int64_t)(row + col + value), &mapped.map, &err), GCG_OK);
    gcg_csr_release(x);
    *x = mapped;
    return file;
}

START_TEST(a_mapped_matrix_is_copied_before_it_is_changed)
{
    for (int as_double = 0; as_double < 2; as_double++) {
        gcg_csr x;
        random_table(5, 0.5, as_double);
        ck_assert_int_eq(gcg_csr_from_triples(&x, ROWS, COLS, t.n, t.row, t.col, t.value, &err), GCG_OK);
        char *file = as_mapped(&x);
        const int32_t *col = x.col;
        check_against_dense(&x, 0);
        ck_assert_int_eq(gcg_csr_own_values(&x, &err), GCG_OK);
        ck_assert(x.map && x.col == col);
        ck_assert(!gcg_mapping_holds(x.map, as_double ? (void *)x.val_d : (void *)x.val_f));
        check_against_dense(&x, 0);
        ck_assert_int_eq(gcg_csr_own(&x, &err), GCG_OK);
        ck_assert(!x.map && x.col != col);
        memset(file, 0xff, 64);
        free(file);
        check_against_dense(&x, 0);
        gcg_csr_release(&x);
        ck_assert_int_eq(gcg_mem_blocks(), 0);
    }
}
END_TEST

START_TEST(a_mapped_matrix_widens_and_narrows_into_its_own_memory)
{
    gcg_csr x;
    random_table(6, 0.5, 0);
    ck_assert_int_eq(gcg_csr_from_triples(&x, ROWS, COLS, t.n, t.row, t.col, t.value, &err), GCG_OK);
    char *file = as_mapped(&x);
    ck_assert_int_eq(gcg_csr_widen(&x, &err), GCG_OK);
    ck_assert(x.map && x.val_d && !gcg_mapping_holds(x.map, x.val_d));
    check_against_dense(&x, 0);
    ck_assert_int_eq(gcg_csr_narrow(&x, &err), GCG_OK);
    check_against_dense(&x, 0);
    gcg_csr_release(&x);
    gcg_csr_release(&x);
    free(file);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(failing_memory_leaves_a_mapped_matrix_as_it_was)
{
    random_table(7, 0.5, 1);
    for (int64_t n = 1;; n++) {
        gcg_csr x;
        ck_assert_int_eq(gcg_csr_from_triples(&x, ROWS, COLS, t.n, t.row, t.col, t.value, &err), GCG_OK);
        char *file = as_mapped(&x);
        gcg_mem_fail_at(n);
        gcg_status status = gcg_csr_own(&x, &err);
        gcg_mem_fail_at(0);
        check_against_dense(&x, 0);
        gcg_csr_release(&x);
        free(file);
        ck_assert_int_eq(gcg_mem_blocks(), 0);
        if (status == GCG_OK) break;
        ck_assert_int_eq(status, GCG_ERR_NOMEM);
        ck_assert_int_lt(n, 10);
    }
}
END_TEST

START_TEST(failing_memory_is_reported)
{
    random_table(2, 0.3, 1);
    for (int64_t n = 1;; n++) {
        gcg_csr x = {0}, xt = {0};
        gcg_mem_fail_at(n);
        gcg_status status = gcg_csr_from_triples(&x, ROWS, COLS, t.n, t.row, t.col, t.value, &err);
        if (status == GCG_OK) status = gcg_csr_transpose(&x, &xt, &err);
        if (status == GCG_OK)
            for (int64_t p = 0; p < x.nnz; p++) x.val_d[p] = 1;
        if (status == GCG_OK) status = gcg_csr_narrow(&x, &err);
        if (status == GCG_OK) status = gcg_csr_widen(&x, &err);
        gcg_mem_fail_at(0);
        gcg_csr_release(&x);
        gcg_csr_release(&xt);
        ck_assert_int_eq(gcg_mem_blocks(), 0);
        if (status == GCG_OK) break;
        ck_assert_int_eq(status, GCG_ERR_NOMEM);
        ck_assert_int_lt(n, 100);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("csr");
    TCase *c = tcase_create("csr");
    tcase_add_loop_test(c, triples_in_any_order_give_sorted_rows, 0, 6);
    tcase_add_test(c, every_entry_knows_its_row_beside_empty_rows);
    tcase_add_test(c, an_entry_that_is_not_there_is_not_found);
    tcase_add_test(c, a_repeated_pair_or_one_outside_is_refused);
    tcase_add_test(c, values_widen_and_narrow_without_loss);
    tcase_add_test(c, the_statistics_are_those_of_the_values);
    tcase_add_test(c, only_values_that_a_float_holds_exactly_fit_one);
    tcase_add_test(c, a_mapped_matrix_is_copied_before_it_is_changed);
    tcase_add_test(c, a_mapped_matrix_widens_and_narrows_into_its_own_memory);
    tcase_add_test(c, failing_memory_leaves_a_mapped_matrix_as_it_was);
    tcase_add_test(c, failing_memory_is_reported);
    suite_add_tcase(s, c);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
