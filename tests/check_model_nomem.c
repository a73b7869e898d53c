/* Model files while malloc itself fails: the zip library and stdio do not go through base/mem. */
#define _XOPEN_SOURCE 700
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "io/model_io.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_MALLOC
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define OTHER_MALLOC /* the sanitizers bring their own */
#endif

static volatile int64_t calls,
    fail_at; /* the fail_at-th call fails, 0: none; volatile: compilers think they know malloc */

#ifndef OTHER_MALLOC
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static int must_fail(void)
{
    if (++calls != fail_at) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return must_fail() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return must_fail() ? NULL : __libc_realloc(block, size);
}
#endif

static void arm(int64_t n)
{
    calls = 0;
    fail_at = n;
}

/* 0 under valgrind and the sanitizers, whose malloc is not the one above. */
static int malloc_is_ours(void)
{
    arm(1);
    void *volatile block = malloc(1);
    arm(0);
    free(block);
    return block == NULL;
}

static gcg_idmap *one_id(void)
{
    gcg_idmap *map;
    int32_t index;
    ck_assert_int_eq(gcg_idmap_new(&map, NULL), GCG_OK);
    ck_assert_int_eq(gcg_idmap_add(map, "x", 1, &index, NULL), GCG_OK);
    return map;
}

static gcg_model small_model(void)
{
    gcg_model m = {.users = one_id(), .items = one_id()};
    ck_assert_int_eq(gcg_factors_init(&m.u, 1, 1, GCG_FLOAT, NULL), GCG_OK);
    ck_assert_int_eq(gcg_factors_init(&m.v, 1, 1, GCG_FLOAT, NULL), GCG_OK);
    m.singular_values = gcg_mem_zalloc_array(1, 8);
    m.user_count = gcg_mem_zalloc_array(1, 8);
    m.item_count = gcg_mem_zalloc_array(1, 8);
    m.user_sum = gcg_mem_zalloc_array(1, 8);
    m.item_sum = gcg_mem_zalloc_array(1, 8);
    m.user_bias = gcg_mem_zalloc_array(1, 8);
    m.item_bias = gcg_mem_zalloc_array(1, 8);
    return m;
}

START_TEST(a_failing_malloc_leaves_no_half_model_and_is_called_out_of_memory)
{
    char folder[] = "/tmp/check_model_nomem.XXXXXX", path[64];
    gcg_model m = small_model(), back;
    gcg_err err;
    int64_t n = 1, written;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m", folder);
    for (int64_t reached = 1; reached; n++) { /* stdio and libzip get by without some allocations */
        unlink(path);
        arm(n);
        gcg_status status = gcg_model_write(path, &m, &err);
        reached = calls >= n;
        arm(0);
        ck_assert_msg(status == GCG_OK || status == GCG_ERR_NOMEM, "malloc %lld: %s", (long long)n, err.text);
        ck_assert_int_eq(access(path, F_OK) == 0, status == GCG_OK);
        if (status) continue;
        ck_assert_msg(gcg_model_read(path, &back, &err) == GCG_OK, "malloc %lld: %s", (long long)n, err.text);
        gcg_model_release(&back);
    }
    written = n;
    n = 1;
    for (int64_t reached = 1; reached; n++) {
        arm(n);
        gcg_status status = gcg_model_read(path, &back, &err);
        reached = calls >= n;
        arm(0);
        ck_assert_msg(status == GCG_OK || status == GCG_ERR_NOMEM, "malloc %lld: %s", (long long)n, err.text);
        if (status == GCG_OK) gcg_model_release(&back);
    }
    ck_assert_int_gt(written, 50);
    ck_assert_int_gt(n, 50);
    gcg_model_release(&m);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(a_written_model_needs_no_malloc_hook)
{
    char folder[] = "/tmp/check_model_nomem.XXXXXX", path[64];
    gcg_model m = small_model(), back;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m", folder);
    ck_assert_int_eq(gcg_model_write(path, &m, NULL), GCG_OK);
    ck_assert_int_eq(gcg_model_read(path, &back, NULL), GCG_OK);
    ck_assert_str_eq(back.options_json, "{}");
    gcg_model_release(&m);
    gcg_model_release(&back);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model_nomem");
    TCase *t = tcase_create("model_nomem");
    if (malloc_is_ours())
        tcase_add_test(t, a_failing_malloc_leaves_no_half_model_and_is_called_out_of_memory);
    tcase_add_test(t, a_written_model_needs_no_malloc_hook);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
