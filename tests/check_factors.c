/* store/factors. */
#include "tests/naive.h"

#include "base/parallel.h"

START_TEST(rows_are_padded_with_zeros_and_aligned)
{
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4)
        for (int k = 0; k <= 33; k++) {
            gcg_factors f;
            ck_assert_int_eq(gcg_factors_init(&f, 5, k, type, NULL), GCG_OK);
            ck_assert_int_eq(f.stride, (k + 15) / 16 * 16);
            ck_assert_uint_eq((uintptr_t)f.data % GCG_MEM_ALIGN, 0);
            ck_assert_uint_eq((size_t)f.stride * type % GCG_MEM_ALIGN, 0);
            for (int e = 0; e < 5 * f.stride * (int)type; e++)
                if (((char *)f.data)[e]) ck_abort_msg("not zero");
            gcg_factors_release(&f);
            ck_assert_ptr_null(f.data);
            gcg_factors_release(&f);
        }
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(entries_stand_where_they_were_put)
{
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
        gcg_factors f;
        ck_assert_int_eq(gcg_factors_init(&f, 4, 18, type, NULL), GCG_OK);
        for (int i = 0; i < 4; i++)
            for (int q = 0; q < 18; q++) gcg_factors_set(&f, i, q, 100 * i + q + 0.1);
        for (int i = 0; i < 4; i++)
            for (int q = 0; q < 18; q++) {
                double want = 100 * i + q + 0.1;
                if (type == GCG_FLOAT) {
                    want = (double)(float)want;
                    ck_assert_double_eq((double)((float *)f.data)[i * 32 + q], want);
                } else {
                    ck_assert_double_eq(((double *)f.data)[i * 32 + q], want);
                }
                ck_assert_double_eq(gcg_factors_get(&f, i, q), want);
            }
        ck_assert(naive_padding_is_zero(&f));
        gcg_factors_release(&f);
    }
}
END_TEST

START_TEST(a_copy_changes_the_precision_only)
{
    naive_rng g = naive_seed(1);
    gcg_factors f = naive_factors(&g, 9, 19, GCG_DOUBLE, 1), narrow, wide;
    ck_assert_int_eq(gcg_factors_copy(&f, GCG_FLOAT, &narrow, NULL), GCG_OK);
    ck_assert_int_eq(gcg_factors_copy(&narrow, GCG_DOUBLE, &wide, NULL), GCG_OK);
    ck_assert(narrow.rows == 9 && narrow.k == 19 && narrow.type == GCG_FLOAT && wide.type == GCG_DOUBLE);
    for (int i = 0; i < 9; i++)
        for (int q = 0; q < 19; q++) {
            double rounded = (double)(float)gcg_factors_get(&f, i, q);
            ck_assert_double_eq(gcg_factors_get(&narrow, i, q), rounded);
            ck_assert_double_eq(gcg_factors_get(&wide, i, q), rounded);
        }
    gcg_factors_release(&f);
    gcg_factors_release(&narrow);
    gcg_factors_release(&wide);
}
END_TEST

/* Columns first.. of one into columns at.. of the other; the rest of `to` stays. */
static void check_put(gcg_dtype to_type, gcg_dtype from_type, int rows, int at, int first, int count,
                      const double *scale)
{
    naive_rng g = naive_seed((uint64_t)(rows + 10 * at + count));
    gcg_factors to = naive_factors(&g, rows, at + count + 3, to_type, 1),
                from = naive_factors(&g, rows, first + count + 2, from_type, 1);
    double *before = naive_dense(&to), *source = naive_dense(&from);
    gcg_factors_put(&to, at, &from, first, count, scale);
    for (int i = 0; i < rows; i++) {
        for (int q = 0; q < to.k; q++) {
            double want = before[i * to.k + q];
            if (q >= at && q < at + count) {
                want = (scale ? scale[q - at] : 1) * source[i * from.k + first + q - at];
                if (to_type == GCG_FLOAT) want = (double)(float)want;
            }
            if (gcg_factors_get(&to, i, q) != want)
                ck_abort_msg("(%d, %d): %g, should be %g", i, q, gcg_factors_get(&to, i, q), want);
        }
        for (int q = 0; q < from.k; q++)
            if (gcg_factors_get(&from, i, q) != source[i * from.k + q]) ck_abort_msg("source changed");
    }
    ck_assert(naive_padding_is_zero(&to));
    gcg_factors_release(&to);
    gcg_factors_release(&from);
    free(before);
    free(source);
}

START_TEST(columns_are_put_where_they_belong_in_any_precision)
{
    static const int rows[] = {1, 511, 512, 513, 1537}, offsets[][2] = {{0, 0}, {0, 5}, {3, 0}, {14, 20}};
    double scale[19];
    for (int q = 0; q < 19; q++) scale[q] = q == 4 ? 0 : 1.0 / (q - 7.5);
    for (int threads = 1; threads <= 7; threads += 3) {
        gcg_par_set_threads(threads);
        for (int types = 0; types < 4; types++)
            for (int r = 0; r < 5; r++)
                for (int o = 0; o < 4; o++)
                    for (int count = 0; count <= 19; count += count < 2 ? 1 : 17)
                        for (int scaled = 0; scaled < 2; scaled++)
                            check_put(types / 2 ? GCG_FLOAT : GCG_DOUBLE, types % 2 ? GCG_FLOAT : GCG_DOUBLE,
                                      rows[r], offsets[o][0], offsets[o][1], count, scaled ? scale : NULL);
    }
    gcg_par_set_threads(1);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(no_columns_are_put_from_factors_without_data)
{
    gcg_factors to, none = {0};
    ck_assert_int_eq(gcg_factors_init(&to, 3, 2, GCG_FLOAT, NULL), GCG_OK);
    gcg_factors_put(&to, 2, &none, 0, 0, NULL);
    ck_assert_double_eq(gcg_factors_get(&to, 2, 1), 0);
    gcg_factors_release(&to);
}
END_TEST

START_TEST(dots_are_summed_in_double_and_in_order)
{
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
        naive_rng g = naive_seed(2);
        gcg_factors u = naive_factors(&g, 6, 37, type, 1), v = naive_factors(&g, 7, 37, type, 1);
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 7; j++) {
                double sum = 0;
                for (int q = 0; q < 37; q++) sum += gcg_factors_get(&u, i, q) * gcg_factors_get(&v, j, q);
                ck_assert_double_eq_tol(gcg_factors_dot(&u, i, &v, j), sum,
                                        1e-13); /* a fused product may round once less */
            }
        gcg_factors_release(&u);
        gcg_factors_release(&v);
    }
}
END_TEST

START_TEST(a_scaled_dot_is_that_of_scaled_rows_to_the_last_digit)
{
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
        naive_rng g = naive_seed(3);
        gcg_factors u = naive_factors(&g, 600, 37, type, 1), v = naive_factors(&g, 7, 37, type, 1), su, sv;
        double *a = naive_normals(&g, 600), *b = naive_normals(&g, 7);
        ck_assert_int_eq(gcg_factors_copy(&u, type, &su, NULL), GCG_OK);
        ck_assert_int_eq(gcg_factors_copy(&v, type, &sv, NULL), GCG_OK);
        gcg_factors_scale_rows(&su, a);
        gcg_factors_scale_rows(&sv, b);
        ck_assert(naive_padding_is_zero(&su));
        for (int i = 0; i < 600; i++)
            for (int j = 0; j < 7; j++)
                ck_assert_double_eq(gcg_factors_dot_scaled(&u, i, a[i], &v, j, b[j]),
                                    gcg_factors_dot(&su, i, &sv, j));
        double want = a[599] * gcg_factors_get(&u, 599, 36);
        ck_assert_double_eq(gcg_factors_get(&su, 599, 36), type == GCG_FLOAT ? (double)(float)want : want);
        gcg_factors *all[] = {&u, &v, &su, &sv};
        for (int i = 0; i < 4; i++) gcg_factors_release(all[i]);
        free(a);
        free(b);
    }
}
END_TEST

START_TEST(a_rank_that_is_too_large_is_refused)
{
    gcg_factors f;
    gcg_err err;
    ck_assert_int_eq(gcg_factors_init(&f, 1, INT32_MAX, GCG_FLOAT, &err), GCG_ERR_INTERNAL);
    ck_assert_ptr_nonnull(strstr(err.text, "2147483647"));
    gcg_factors_release(&f);
    ck_assert_int_eq(gcg_factors_init(&f, INT32_MAX, INT32_MAX - 16, GCG_DOUBLE, &err), GCG_ERR_NOMEM);
    gcg_factors_release(&f);
}
END_TEST

static gcg_status copy_once(void *ctx)
{
    gcg_factors out;
    gcg_status status = gcg_factors_copy(ctx, GCG_FLOAT, &out, NULL);
    gcg_factors_release(&out);
    return status;
}

START_TEST(factors_that_cannot_be_allocated_can_be_released)
{
    gcg_factors f;
    ck_assert_int_eq(gcg_factors_init(&f, 3, 3, GCG_DOUBLE, NULL), GCG_OK);
    ck_assert_int_eq(naive_fail_each_allocation(copy_once, &f), 1);
    gcg_factors_release(&f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("factors");
    TCase *tests = tcase_create("factors");
    tcase_add_test(tests, rows_are_padded_with_zeros_and_aligned);
    tcase_add_test(tests, entries_stand_where_they_were_put);
    tcase_add_test(tests, a_copy_changes_the_precision_only);
    tcase_add_test(tests, columns_are_put_where_they_belong_in_any_precision);
    tcase_add_test(tests, no_columns_are_put_from_factors_without_data);
    tcase_add_test(tests, dots_are_summed_in_double_and_in_order);
    tcase_add_test(tests, a_scaled_dot_is_that_of_scaled_rows_to_the_last_digit);
    tcase_add_test(tests, a_rank_that_is_too_large_is_refused);
    tcase_add_test(tests, factors_that_cannot_be_allocated_can_be_released);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
