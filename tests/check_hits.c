/* Hits of rankings against values worked out by hand. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include "maths/hits.h"

START_TEST(hits_are_counted_where_they_stand)
{
    const gcg_top_entry best[] = {{9, 4}, {8, 1}, {7, 8}, {6, 0}, {5, 3}};
    const int32_t relevant[] = {0, 2, 4, 9};
    gcg_hits h = gcg_hits_count(best, 5, relevant, 4); /* ranks 1 and 4 */
    ck_assert_int_eq(h.hits, 2);
    ck_assert_double_eq_tol(h.gain, 1 + 1 / log2(5), 1e-15);
    h = gcg_hits_count(best, 3, relevant, 4);
    ck_assert_int_eq(h.hits, 1);
    ck_assert_double_eq(h.gain, 1);
    h = gcg_hits_count(best, 5, relevant, 0);
    ck_assert(h.hits == 0 && h.gain == 0);
    h = gcg_hits_count(best, 0, relevant, 4);
    ck_assert(h.hits == 0 && h.gain == 0);
}
END_TEST

START_TEST(the_ideal_gain_is_that_of_hits_only)
{
    const gcg_top_entry best[] = {{3, 2}, {2, 0}, {1, 1}};
    ck_assert_double_eq(gcg_hits_ideal(0), 0);
    ck_assert_double_eq(gcg_hits_ideal(1), 1);
    ck_assert_double_eq_tol(gcg_hits_ideal(3), 1 + 1 / log2(3) + 0.5, 1e-15);
    ck_assert_double_eq_tol(gcg_hits_count(best, 3, (const int32_t[]){0, 1, 2}, 3).gain, gcg_hits_ideal(3),
                            1e-15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hits");
    TCase *t = tcase_create("hits");
    tcase_add_test(t, hits_are_counted_where_they_stand);
    tcase_add_test(t, the_ideal_gain_is_that_of_hits_only);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
