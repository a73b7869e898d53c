/* Checkpoint files and fingerprints: whole or not there, refused when one bit is wrong. */
#define _XOPEN_SOURCE 700
#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "io/checkpoint.h"
#include "io/fingerprint.h"

static char folder[64], path[96];
static gcg_err err;

static void setup(void)
{
    strcpy(folder, "/tmp/check_checkpoint.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c", folder);
    memset(&err, 0, sizeof err);
}

static void teardown(void)
{
    unlink(path);
    ck_assert_msg(rmdir(folder) == 0, "a file was left in the folder");
}

/* n bytes that follow from the seed. */
static char *bytes_of(int64_t n, unsigned seed)
{
    char *bytes = malloc((size_t)n + 1);
    for (int64_t i = 0; i < n; i++) bytes[i] = (char)((seed = seed * 1103515245u + 12345u) >> 16);
    return bytes;
}

/* A checkpoint of these bytes, put in pieces of this size. */
static gcg_status write_all(const char *bytes, int64_t n, int64_t piece)
{
    gcg_checkpoint_writer w;
    gcg_status status = gcg_checkpoint_create(&w, path, &err);
    if (status) return status;
    for (int64_t at = 0; at < n && !status; at += piece)
        status = gcg_checkpoint_put(&w, bytes + at, n - at < piece ? n - at : piece, &err);
    if (!status) return gcg_checkpoint_commit(&w, &err);
    gcg_checkpoint_abort(&w);
    return status;
}

static long size_of_file(void)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    fclose(f);
    return size;
}

static gcg_status open_it(void)
{
    gcg_checkpoint_reader r;
    gcg_status status = gcg_checkpoint_open(&r, path, &err);
    gcg_checkpoint_close(&r);
    gcg_checkpoint_close(&r);
    return status;
}

START_TEST(what_was_put_comes_out_however_it_is_cut)
{
    static const int64_t sizes[] = {
        0, 1, 31, 4096, GCG_CHECKPOINT_BLOCK - 1, GCG_CHECKPOINT_BLOCK, 3 * GCG_CHECKPOINT_BLOCK + 5};
    for (int k = 0; k < 7; k++) {
        char *bytes = bytes_of(sizes[k], 1), *back = malloc((size_t)sizes[k] + 1);
        ck_assert_int_eq(write_all(bytes, sizes[k], 1 + sizes[k] / 7), GCG_OK);
        gcg_checkpoint_reader r;
        ck_assert_int_eq(gcg_checkpoint_open(&r, path, &err), GCG_OK);
        for (int64_t at = 0, step = 1 + sizes[k] / 3; at < sizes[k]; at += step)
            ck_assert_int_eq(
                gcg_checkpoint_get(&r, back + at, sizes[k] - at < step ? sizes[k] - at : step, &err), GCG_OK);
        ck_assert_mem_eq(back, bytes, (size_t)sizes[k]);
        char more;
        ck_assert_int_eq(gcg_checkpoint_get(&r, &more, 1, &err), GCG_ERR_DATA);
        gcg_checkpoint_close(&r);
        free(bytes);
        free(back);
    }
}
END_TEST

START_TEST(a_file_that_is_cut_anywhere_is_refused)
{
    char *bytes = bytes_of(5000, 2);
    ck_assert_int_eq(write_all(bytes, 5000, 5000), GCG_OK);
    for (long size = size_of_file() - 1; size >= 0; size--) {
        ck_assert_int_eq(truncate(path, size), 0);
        ck_assert_int_eq(open_it(), GCG_ERR_DATA);
        ck_assert_msg(strstr(err.text, size < 8 ? "is not a checkpoint" : "is cut short") != NULL, "%ld: %s",
                      size, err.text);
        ck_assert_str_eq(err.file, path);
    }
    free(bytes);
}
END_TEST

START_TEST(a_file_with_any_bit_wrong_is_refused)
{
    char *bytes = bytes_of(600, 3);
    ck_assert_int_eq(write_all(bytes, 600, 600), GCG_OK);
    for (long at = 0; at < size_of_file(); at++) {
        FILE *f = fopen(path, "r+b");
        fseek(f, at, SEEK_SET);
        int was = getc(f), bit = 1 << (at % 8);
        fseek(f, at, SEEK_SET);
        putc(was ^ bit, f);
        fclose(f);
        ck_assert_msg(open_it() == GCG_ERR_DATA, "byte %ld", at);
        f = fopen(path, "r+b");
        fseek(f, at, SEEK_SET);
        putc(was, f);
        fclose(f);
    }
    ck_assert_int_eq(open_it(), GCG_OK);
    free(bytes);
}
END_TEST

START_TEST(blocks_in_another_order_are_refused)
{
    int64_t n = 2 * GCG_CHECKPOINT_BLOCK, block = GCG_CHECKPOINT_BLOCK + 16;
    char *bytes = bytes_of(n, 4), *file = malloc((size_t)(2 * block));
    ck_assert_int_eq(write_all(bytes, n, n), GCG_OK);
    FILE *f = fopen(path, "r+b");
    fseek(f, 32, SEEK_SET);
    ck_assert_uint_eq(fread(file, 1, (size_t)(2 * block), f), (size_t)(2 * block));
    fseek(f, 32, SEEK_SET);
    fwrite(file + block, 1, (size_t)block, f);
    fwrite(file, 1, (size_t)block, f);
    fclose(f);
    ck_assert_int_eq(open_it(), GCG_ERR_DATA);
    free(bytes);
    free(file);
}
END_TEST

START_TEST(a_disk_that_fills_up_leaves_the_old_checkpoint)
{
    char *bytes = bytes_of(3 << 20, 5), back[16];
    struct rlimit limit = {1 << 20, RLIM_INFINITY};
    ck_assert_int_eq(write_all(bytes, 16, 16), GCG_OK);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(write_all(bytes + 100, 3 << 20, 1 << 16), GCG_ERR_IO);
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_str_eq(err.file, path);
    gcg_checkpoint_reader r;
    ck_assert_int_eq(gcg_checkpoint_open(&r, path, &err), GCG_OK);
    ck_assert_int_eq(gcg_checkpoint_get(&r, back, 16, &err), GCG_OK);
    ck_assert_mem_eq(back, bytes, 16);
    gcg_checkpoint_close(&r);
    free(bytes);
}
END_TEST

START_TEST(a_signal_handler_can_take_the_temporary_file_away)
{
    gcg_checkpoint_writer w;
    ck_assert_int_eq(gcg_checkpoint_create(&w, path, &err), GCG_OK);
    ck_assert_int_eq(access(w.out.temporary, F_OK), 0);
    gcg_output_drop_all();
    ck_assert_int_ne(access(w.out.temporary, F_OK), 0);
    gcg_checkpoint_abort(&w);
    ck_assert_int_eq(write_all("x", 1, 1), GCG_OK);
    gcg_output_drop_all(); /* nothing is open: the file stays */
    ck_assert_int_eq(open_it(), GCG_OK);
}
END_TEST

START_TEST(a_failing_allocation_leaves_nothing_behind)
{
    int64_t blocks = gcg_mem_blocks();
    for (int64_t n = 1;; n++) {
        gcg_mem_fail_at(n);
        gcg_status status = write_all("some bytes", 10, 3);
        if (!status) status = open_it();
        gcg_mem_fail_at(0);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
        if (status == GCG_OK) break;
        ck_assert_int_eq(status, GCG_ERR_NOMEM);
    }
}
END_TEST

/* ---- fingerprints ---- */

static uint64_t fingerprint(const char *text)
{
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    const char *paths[] = {path};
    gcg_read_options options = gcg_read_options_defaults();
    gcg_ratings r;
    uint64_t hash;
    ck_assert_int_eq(gcg_ratings_read(paths, 1, &options, NULL, &r, &err), GCG_OK);
    ck_assert_int_eq(gcg_ratings_fingerprint(&r, &hash, &err), GCG_OK);
    gcg_ratings_release(&r);
    return hash;
}

START_TEST(a_fingerprint_tells_ratings_apart_and_knows_the_same_again)
{
    static const char *const others[] = {"a,x,1\na,y,2\nb,x,4\n", "a,x,1\na,y,2\nb,y,3\n",
                                         "a,x,1\na,z,2\nb,x,3\n", "c,x,1\nc,y,2\nb,x,3\n",
                                         "a,x,2\na,y,1\nb,x,3\n", "a,x,1\na,y,2\nb,x,3.1\n",
                                         "a,x,1\nb,x,3\n",        "a,x,1\na,y,2\nb,x,3\nb,y,0\n"};
    uint64_t own = fingerprint("a,x,1\na,y,2\nb,x,3\n");
    ck_assert(own == fingerprint("b;x;3\n\na;y;2.0\na;x;+1\n"));
    for (int i = 0; i < 8; i++) ck_assert_msg(own != fingerprint(others[i]), "%s", others[i]);
    gcg_par_set_threads(3);
    ck_assert(own == fingerprint("a,x,1\na,y,2\nb,x,3\n"));
    gcg_par_set_threads(1);
}
END_TEST

START_TEST(so_does_that_of_weights)
{
    float weight[] = {1, 2, 0.5f}, others[] = {1, 2, 0.25f};
    gcg_csr x = {.rows = 2, .cols = 2, .nnz = 3, .weight = weight}, y = x, none = x;
    uint64_t own, again, other, without;
    y.weight = others;
    none.weight = NULL;
    ck_assert_int_eq(gcg_weights_fingerprint(&x, &own, &err), GCG_OK);
    ck_assert_int_eq(gcg_weights_fingerprint(&y, &other, &err), GCG_OK);
    ck_assert_int_eq(gcg_weights_fingerprint(&none, &without, &err), GCG_OK);
    ck_assert(own != 0 && own != other && without == 0);
    others[2] = 0.5f;
    ck_assert_int_eq(gcg_weights_fingerprint(&y, &again, &err), GCG_OK);
    ck_assert(own == again);
}
END_TEST

START_TEST(so_does_that_of_pairs)
{
    int32_t user[] = {0, 1, -1}, item[] = {2, 2, 0}, other[] = {2, 1, 0};
    double value[] = {1, 2, 3}, others[] = {1, 2, 4};
    gcg_pairs a = {3, user, item, value}, b = a, c = a, d = a;
    b.item = other;
    c.value = others;
    d.n = 2;
    uint64_t own = gcg_pairs_fingerprint(&a);
    ck_assert(own != gcg_pairs_fingerprint(&b));
    ck_assert(own != gcg_pairs_fingerprint(&c));
    ck_assert(own != gcg_pairs_fingerprint(&d));
    value[0] = 1;
    ck_assert(own == gcg_pairs_fingerprint(&a));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tests = tcase_create("checkpoint");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, what_was_put_comes_out_however_it_is_cut);
    tcase_add_test(tests, a_file_that_is_cut_anywhere_is_refused);
    tcase_add_test(tests, a_file_with_any_bit_wrong_is_refused);
    tcase_add_test(tests, blocks_in_another_order_are_refused);
    tcase_add_test(tests, a_disk_that_fills_up_leaves_the_old_checkpoint);
    tcase_add_test(tests, a_signal_handler_can_take_the_temporary_file_away);
    tcase_add_test(tests, a_failing_allocation_leaves_nothing_behind);
    tcase_add_test(tests, a_fingerprint_tells_ratings_apart_and_knows_the_same_again);
    tcase_add_test(tests, so_does_that_of_weights);
    tcase_add_test(tests, so_does_that_of_pairs);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
