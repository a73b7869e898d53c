/* Id maps against a naive list. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "store/idmap.h"

static gcg_idmap *map;
static gcg_err err;

static void setup(void)
{
    ck_assert_int_eq(gcg_idmap_new(&map, &err), GCG_OK);
}

static void teardown(void)
{
    gcg_idmap_free(map);
    map = NULL;
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}

static int32_t add(const char *id)
{
    int32_t index;
    ck_assert_int_eq(gcg_idmap_add(map, id, strlen(id), &index, &err), GCG_OK);
    return index;
}

static void sort(void)
{
    int32_t *order = malloc(sizeof *order * (size_t)(gcg_idmap_count(map) + 1));
    ck_assert_int_eq(gcg_idmap_sort(map, order, &err), GCG_OK);
    free(order);
}

/* All names in order, joined by blanks. */
static const char *names(void)
{
    static char all[4096];
    char text[GCG_ID_TEXT];
    size_t n = 0;
    all[0] = '\0';
    for (int32_t k = 0; k < gcg_idmap_count(map); k++) {
        ck_assert_uint_eq(gcg_idmap_name(map, k, text), strlen(text));
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", k ? " " : "", text);
    }
    return all;
}

START_TEST(numbers_are_given_in_order_of_appearance_and_found_again)
{
    ck_assert_int_eq(add("7"), 0);
    ck_assert_int_eq(add("3"), 1);
    ck_assert_int_eq(add("7"), 0);
    ck_assert_int_eq(gcg_idmap_find(map, "3", 1), 1);
    ck_assert_int_eq(gcg_idmap_find(map, "4", 1), -1);
    ck_assert_int_eq(gcg_idmap_find(map, "03", 2), -1);
    ck_assert_int_eq(gcg_idmap_count(map), 2);
}
END_TEST

START_TEST(integers_sort_by_value_up_to_the_limits_of_64_bits)
{
    add("10");
    add("9");
    add("-100");
    add("9223372036854775807");
    add("-9223372036854775808");
    add("0");
    sort();
    ck_assert_int_eq(gcg_idmap_is_integer(map), 1);
    ck_assert_str_eq(names(), "-9223372036854775808 -100 0 9 10 9223372036854775807");
    ck_assert_int_eq(gcg_idmap_find(map, "10", 2), 4);
    ck_assert_int_eq(gcg_idmap_find(map, "-9223372036854775808", 20), 0);
}
END_TEST

START_TEST(one_id_that_is_no_canonical_integer_makes_all_of_them_strings)
{
    static const char *const odd[] = {"007",
                                      "+7",
                                      "-0",
                                      "7.0",
                                      "",
                                      " 7",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551615",
                                      "a",
                                      "-",
                                      "00"};
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        ck_assert_int_eq(add("10"), 0);
        ck_assert_int_eq(add("9"), 1);
        ck_assert_int_eq(add(odd[k]), 2);
        ck_assert_int_eq(gcg_idmap_is_integer(map), 0);
        ck_assert_int_eq(add("9"), 1);
        ck_assert_int_eq(gcg_idmap_find(map, odd[k], strlen(odd[k])), 2);
        sort();
        ck_assert_int_lt(gcg_idmap_find(map, "10", 2), gcg_idmap_find(map, "9", 1)); /* byte order */
        gcg_idmap_free(map);
        setup();
    }
}
END_TEST

START_TEST(strings_sort_by_bytes_and_a_prefix_comes_first)
{
    add("b");
    add("ab");
    add("\xc3\xa9");
    add("a");
    add("B");
    sort();
    ck_assert_str_eq(names(), "B a ab b \xc3\xa9");
}
END_TEST

START_TEST(sorting_tells_the_new_number_of_each_old_one)
{
    int32_t order[3];
    add("30");
    add("10");
    add("20");
    ck_assert_int_eq(gcg_idmap_sort(map, order, &err), GCG_OK);
    ck_assert_int_eq(order[0], 2);
    ck_assert_int_eq(order[1], 0);
    ck_assert_int_eq(order[2], 1);
    ck_assert_int_eq(add("20"), 1); /* still known */
    ck_assert_int_eq(add("5"), 3);  /* and new ones go on behind */
}
END_TEST

START_TEST(random_ids_agree_with_a_naive_list)
{
    enum { DISTINCT = 700, DRAWS = 20000 };
    static char list[DISTINCT][12];
    int n = 0;
    gcg_rng rng;
    gcg_rng_init(&rng, 5, (uint64_t)_i);
    for (int k = 0; k < DRAWS; k++) {
        char id[12];
        int value = (int)gcg_rng_below(&rng, DISTINCT / 2);
        /* the second run is of integers only, the first turns to strings somewhere */
        snprintf(id, sizeof id, _i == 0 && k > DRAWS / 2 && value % 2 ? "x%d" : "%d", value);
        int at = 0;
        while (at < n && strcmp(list[at], id) != 0) at++;
        if (at == n) strcpy(list[n++], id);
        ck_assert_int_eq(add(id), at);
    }
    ck_assert_int_eq(gcg_idmap_count(map), n);
    ck_assert_int_eq(gcg_idmap_is_integer(map), _i == 1);
    for (int at = 0; at < n; at++) ck_assert_int_eq(gcg_idmap_find(map, list[at], strlen(list[at])), at);
    ck_assert_int_ge(gcg_idmap_bytes(map), n);
    sort();
    for (int k = 1; k < n; k++) {
        char a[GCG_ID_TEXT], b[GCG_ID_TEXT];
        gcg_idmap_name(map, k - 1, a);
        gcg_idmap_name(map, k, b);
        ck_assert(_i == 1 ? atoi(a) < atoi(b) : strcmp(a, b) < 0);
    }
}
END_TEST

START_TEST(the_longest_id_is_kept)
{
    char id[GCG_ID_TEXT], text[GCG_ID_TEXT];
    memset(id, 'x', GCG_ID_MAX);
    id[GCG_ID_MAX] = '\0';
    add("y");
    ck_assert_int_eq(add(id), 1);
    ck_assert_uint_eq(gcg_idmap_name(map, 1, text), GCG_ID_MAX);
    ck_assert_str_eq(text, id);
}
END_TEST

START_TEST(failing_memory_is_reported_and_loses_nothing)
{
    char id[16];
    int32_t index, order[400];
    for (int64_t n = 1;; n++) {
        gcg_idmap *m = NULL;
        gcg_mem_fail_at(n);
        gcg_status status = gcg_idmap_new(&m, &err);
        for (int k = 0; k < 200 && status == GCG_OK; k++) {
            int length = snprintf(id, sizeof id, k < 100 ? "%d" : "longer id %d", k);
            int32_t before = gcg_idmap_count(m);
            status = gcg_idmap_add(m, id, (size_t)length, &index, &err);
            if (status == GCG_OK) continue;
            ck_assert_int_eq(gcg_idmap_count(m), before);
            gcg_mem_fail_at(0);
            ck_assert_int_eq(gcg_idmap_add(m, id, (size_t)length, &index, &err),
                             GCG_OK); /* again: it works */
            ck_assert_int_eq(index, before);
            status = GCG_ERR_NOMEM;
        }
        if (status == GCG_OK) status = gcg_idmap_sort(m, order, &err);
        gcg_mem_fail_at(0);
        gcg_idmap_free(m);
        if (status == GCG_OK) break;
        ck_assert_int_eq(status, GCG_ERR_NOMEM);
        ck_assert_int_lt(n, 100);
    }
    gcg_idmap_free(NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("idmap");
    TCase *t = tcase_create("idmap");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, numbers_are_given_in_order_of_appearance_and_found_again);
    tcase_add_test(t, integers_sort_by_value_up_to_the_limits_of_64_bits);
    tcase_add_test(t, one_id_that_is_no_canonical_integer_makes_all_of_them_strings);
    tcase_add_test(t, strings_sort_by_bytes_and_a_prefix_comes_first);
    tcase_add_test(t, sorting_tells_the_new_number_of_each_old_one);
    tcase_add_loop_test(t, random_ids_agree_with_a_naive_list, 0, 2);
    tcase_add_test(t, the_longest_id_is_kept);
    tcase_add_test(t, failing_memory_is_reported_and_loses_nothing);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
