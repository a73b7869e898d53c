/* base/mem: sizes, alignment, counting, failing on request. */
#include "tests/naive.h"

#include "base/mem.h"

static int aligned(const void *block)
{
    return (uintptr_t)block % GCG_MEM_ALIGN == 0;
}

START_TEST(blocks_are_aligned_and_zeroed_where_promised)
{
    for (int64_t n = 0; n < 300; n += 7) {
        char *dirty = gcg_mem_alloc_array(n, 3), *clean = gcg_mem_zalloc_array(n, 3);
        ck_assert(dirty && clean && aligned(dirty) && aligned(clean));
        int64_t sum = 0;
        for (int64_t i = 0; i < 3 * n; i++) sum += clean[i] != 0;
        ck_assert_int_eq(sum, 0);
        memset(dirty, 1, 3 * (size_t)n);
        gcg_mem_free(dirty);
        gcg_mem_free(clean);
    }
}
END_TEST

START_TEST(sizes_that_overflow_are_refused)
{
    ck_assert_ptr_null(gcg_mem_alloc_array(INT64_MAX, 8));
    ck_assert_ptr_null(gcg_mem_alloc_array(INT64_MAX / 4, 8));
    ck_assert_ptr_null(gcg_mem_alloc_array((int64_t)1 << 62, 4));
    ck_assert_ptr_null(gcg_mem_alloc_array(-1, 1));
    ck_assert_ptr_null(gcg_mem_zalloc_array(INT64_MAX, 2));
    ck_assert_ptr_null(gcg_mem_zalloc_array(-1, 1));
    char *block = gcg_mem_alloc_array(4, 1);
    ck_assert_ptr_null(gcg_mem_resize_array(block, 4, INT64_MAX, 3));
    ck_assert_ptr_null(gcg_mem_resize_array(block, 4, -1, 1));
    gcg_mem_free(block);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(resizing_keeps_what_fits)
{
    int32_t *block = gcg_mem_resize_array(NULL, 0, 3, sizeof *block);
    for (int32_t i = 0; i < 3; i++) block[i] = i + 10;
    block = gcg_mem_resize_array(block, 3, 100, sizeof *block);
    ck_assert(aligned(block));
    ck_assert(block[0] == 10 && block[1] == 11 && block[2] == 12);
    block[99] = 5;
    block = gcg_mem_resize_array(block, 100, 2, sizeof *block);
    ck_assert(block[0] == 10 && block[1] == 11);
    ck_assert_int_eq(gcg_mem_blocks(), 1);
    gcg_mem_fail_at(1);
    ck_assert_ptr_null(gcg_mem_resize_array(block, 2, 4, sizeof *block));
    ck_assert(block[0] == 10 && block[1] == 11); /* it stays */
    gcg_mem_free(block);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(blocks_and_calls_are_counted)
{
    int64_t calls = gcg_mem_calls();
    void *a = gcg_mem_alloc_array(1, 1), *b = gcg_mem_zalloc_array(0, 8);
    char *c = gcg_mem_strdup("text");
    ck_assert_str_eq(c, "text");
    ck_assert_int_eq(gcg_mem_blocks(), 3);
    ck_assert_int_eq(gcg_mem_calls() - calls, 3);
    gcg_mem_free(NULL);
    ck_assert_int_eq(gcg_mem_blocks(), 3);
    gcg_mem_free(a);
    gcg_mem_free(b);
    gcg_mem_free(c);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(exactly_the_nth_allocation_fails)
{
    for (int n = 1; n <= 5; n++) {
        gcg_mem_fail_at(n);
        for (int i = 1; i <= 8; i++) {
            void *block = i % 2 ? gcg_mem_alloc_array(8, 8) : (void *)gcg_mem_strdup("x");
            ck_assert_msg((block == NULL) == (i == n), "allocation %d, number %d should fail", i, n);
            gcg_mem_free(block);
        }
    }
    gcg_mem_fail_at(1);
    gcg_mem_fail_at(0);
    void *block = gcg_mem_alloc_array(1, 1);
    ck_assert_ptr_nonnull(block);
    gcg_mem_free(block);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(more_memory_than_there_is_gives_null)
{
    ck_assert_ptr_null(gcg_mem_alloc_array((int64_t)1 << 46, 4096));
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(bytes_in_use_and_their_peak_are_counted)
{
    const int64_t before = gcg_mem_in_use(), head = GCG_MEM_ALIGN;
    gcg_mem_forget_peak();
    ck_assert_int_eq(gcg_mem_peak(), before);
    void *a = gcg_mem_alloc_array(1000, 8), *b = gcg_mem_alloc_array(3, 1);
    ck_assert_int_eq(gcg_mem_in_use(), before + 8003 + 2 * head);
    a = gcg_mem_resize_array(a, 1000, 100, 8); /* both are there for a moment */
    ck_assert_int_eq(gcg_mem_in_use(), before + 803 + 2 * head);
    ck_assert_int_eq(gcg_mem_peak(), before + 8803 + 3 * head);
    gcg_mem_free(a);
    gcg_mem_free(b);
    ck_assert_int_eq(gcg_mem_in_use(), before);
    ck_assert_int_eq(gcg_mem_peak(), before + 8803 + 3 * head);
}
END_TEST

START_TEST(no_more_is_given_than_the_limit)
{
    gcg_mem_limit(gcg_mem_in_use() + 5000);
    void *a = gcg_mem_alloc_array(2000, 1), *b = gcg_mem_alloc_array(2000, 1);
    ck_assert(a && b);
    ck_assert_ptr_null(gcg_mem_alloc_array(2000, 1));
    gcg_mem_free(b);
    b = gcg_mem_alloc_array(2000, 1);
    ck_assert_ptr_nonnull(b);
    gcg_mem_limit(0);
    void *c = gcg_mem_alloc_array(1 << 20, 1);
    ck_assert_ptr_nonnull(c);
    gcg_mem_free(a);
    gcg_mem_free(b);
    gcg_mem_free(c);
}
END_TEST

enum { MEGA = 1 << 20 };

START_TEST(large_blocks_are_kept_and_used_again_within_the_bound)
{
    gcg_mem_keep(gcg_mem_in_use() + 40 * MEGA);
    char *a = gcg_mem_alloc_array(10 * MEGA, 1), *small = gcg_mem_alloc_array(100, 1);
    memset(a, 7, 10 * MEGA);
    gcg_mem_free(a);
    char *again = gcg_mem_alloc_array(9 * MEGA, 1); /* a little smaller: the same one, with what it held */
    ck_assert_ptr_eq(again, a);
    ck_assert(again[0] == 7 && again[9 * MEGA - 1] == 7);
    ck_assert(((uintptr_t)again) % GCG_MEM_ALIGN == 0);
    gcg_mem_free(again);
    char *other = gcg_mem_alloc_array(5 * MEGA, 1); /* too small for it */
    ck_assert_ptr_ne(other, a);
    char *zeroed = gcg_mem_zalloc_array(10 * MEGA, 1);
    ck_assert_ptr_eq(zeroed, a);
    for (int i = 0; i < 10 * MEGA; i += MEGA) ck_assert_int_eq(zeroed[i], 0);
    gcg_mem_free(zeroed);
    gcg_mem_free(other);
    gcg_mem_free(small);
    gcg_mem_keep(0);
}
END_TEST

START_TEST(kept_blocks_make_way_for_new_ones)
{
    const int64_t before = gcg_mem_in_use();
    gcg_mem_keep(before + 20 * MEGA);
    char *block[4];
    for (int i = 0; i < 4; i++) block[i] = gcg_mem_alloc_array(8 * MEGA, 1); /* more than what may be kept */
    for (int i = 0; i < 4; i++) gcg_mem_free(block[i]);
    ck_assert_int_eq(gcg_mem_in_use(), before);
    char *large = gcg_mem_alloc_array(19 * MEGA, 1), *small = gcg_mem_alloc_array(2 * MEGA, 1);
    ck_assert(large && small);
    memset(large, 1, 19 * MEGA);
    memset(small, 2, 2 * MEGA);
    gcg_mem_free(large);
    gcg_mem_free(small);
    gcg_mem_keep(0);
    ck_assert_int_eq(gcg_mem_in_use(), before);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mem");
    TCase *tests = tcase_create("memory");
    tcase_add_test(tests, blocks_are_aligned_and_zeroed_where_promised);
    tcase_add_test(tests, sizes_that_overflow_are_refused);
    tcase_add_test(tests, resizing_keeps_what_fits);
    tcase_add_test(tests, blocks_and_calls_are_counted);
    tcase_add_test(tests, exactly_the_nth_allocation_fails);
    tcase_add_test(tests, more_memory_than_there_is_gives_null);
    tcase_add_test(tests, bytes_in_use_and_their_peak_are_counted);
    tcase_add_test(tests, no_more_is_given_than_the_limit);
    tcase_add_test(tests, large_blocks_are_kept_and_used_again_within_the_bound);
    tcase_add_test(tests, kept_blocks_make_way_for_new_ones);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
