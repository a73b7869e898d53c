/* Output files (whole or not there) and JSON text. */
#define _XOPEN_SOURCE 700
#include <check.h>
#include <dirent.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "io/json.h"
#include "io/output.h"

static char folder[64], path[96];
static gcg_err err;

static void setup(void)
{
    strcpy(folder, "/tmp/check_output.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    memset(&err, 0, sizeof err);
}

/* Names in the folder, "." and ".." apart. */
static int entries(void)
{
    int count = 0;
    DIR *d = opendir(folder);
    ck_assert_ptr_nonnull(d);
    while (readdir(d)) count++;
    closedir(d);
    return count - 2;
}

static void teardown(void)
{
    unlink(path);
    ck_assert_msg(rmdir(folder) == 0, "a file was left in the folder");
}

static void expect_content(const char *name, const char *text)
{
    char found[64] = "";
    FILE *f = fopen(name, "r");
    ck_assert_ptr_nonnull(f);
    found[fread(found, 1, sizeof found - 1, f)] = '\0';
    fclose(f);
    ck_assert_str_eq(found, text);
}

static void write_file(const char *name, const char *text)
{
    gcg_output o;
    ck_assert_msg(gcg_output_open(&o, name, &err) == GCG_OK, "%s", err.text);
    fputs(text, o.file);
    ck_assert_msg(gcg_output_commit(&o, &err) == GCG_OK, "%s", err.text);
    ck_assert_ptr_null(o.path);
}

START_TEST(a_file_appears_under_its_name_only_when_it_is_committed)
{
    gcg_output o;
    ck_assert_int_eq(gcg_output_open(&o, path, &err), GCG_OK);
    ck_assert_int_ne(access(path, F_OK), 0);
    const char *name = strrchr(o.temporary, '/') + 1;
    ck_assert_int_eq(strlen(name), strlen(".out.XXXXXX.tmp"));
    ck_assert_int_eq(strncmp(name, ".out.", 5), 0);
    ck_assert_str_eq(name + 11, ".tmp");
    fputs("new", o.file);
    ck_assert_int_eq(gcg_output_commit(&o, &err), GCG_OK);
    expect_content(path, "new");
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(an_aborted_file_leaves_the_old_one_and_no_other)
{
    gcg_output o;
    write_file(path, "old");
    ck_assert_int_eq(gcg_output_open(&o, path, &err), GCG_OK);
    fputs("new", o.file);
    gcg_output_abort(&o);
    gcg_output_abort(&o);
    expect_content(path, "old");
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(the_mode_is_what_the_umask_leaves)
{
    struct stat st;
    mode_t old = umask(027);
    write_file(path, "x");
    umask(old);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(a_symbolic_link_is_written_through)
{
    char link[128], real[128];
    struct stat st;
    snprintf(real, sizeof real, "%s/real", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    write_file(real, "old");
    ck_assert_int_eq(symlink("real", link), 0);
    write_file(link, "new");
    ck_assert_int_eq(lstat(link, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    expect_content(real, "new");
    ck_assert_int_eq(entries(), 2);
    unlink(real);
    ck_assert_int_eq(gcg_output_test(link, &err), GCG_ERR_IO); /* now it leads nowhere */
    ck_assert_str_eq(err.file, link);
    unlink(link);
}
END_TEST

static void expect_refused(const char *name)
{
    memset(&err, 0, sizeof err);
    ck_assert_msg(gcg_output_test(name, &err) == GCG_ERR_IO, "%s was accepted", name);
    ck_assert_str_eq(err.file, name);
    ck_assert_int_gt(strlen(err.text), 0);
}

START_TEST(what_is_not_a_file_is_refused)
{
    char name[128];
    expect_refused("/dev/full");
    expect_refused("/dev/null");
    expect_refused(folder);
    expect_refused("");
    snprintf(name, sizeof name, "%s/", folder);
    expect_refused(name);
    snprintf(name, sizeof name, "%s/none/m", folder);
    expect_refused(name);
    write_file(path, "x");
    snprintf(name, sizeof name, "%s/m", path);
    expect_refused(name);
    char fifo[128];
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    expect_refused(fifo);
    unlink(fifo);
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_refused)
{
    if (geteuid() == 0) return; /* root may write everywhere */
    ck_assert_int_eq(chmod(folder, 0555), 0);
    expect_refused(path);
    chmod(folder, 0755);
}
END_TEST

START_TEST(testing_a_destination_changes_nothing)
{
    ck_assert_int_eq(gcg_output_test(path, &err), GCG_OK);
    ck_assert_int_eq(entries(), 0);
    write_file(path, "old");
    ck_assert_int_eq(gcg_output_test(path, &err), GCG_OK);
    expect_content(path, "old");
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_name_of_255_bytes_is_fine_and_one_of_256_is_not)
{
    char name[400];
    int n = snprintf(name, sizeof name, "%s/", folder);
    memset(name + n, 'n', 256);
    name[n + 255] = '\0';
    write_file(name, "long");
    expect_content(name, "long");
    unlink(name);
    name[n + 255] = 'n';
    name[n + 256] = '\0';
    ck_assert_int_eq(gcg_output_test(name, &err), GCG_ERR_IO);
}
END_TEST

START_TEST(a_bare_name_is_written_to_the_working_folder)
{
    ck_assert_int_eq(chdir(folder), 0);
    write_file("out", "bare");
    expect_content(path, "bare");
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_full_disk_leaves_the_old_file_and_no_other)
{
    struct rlimit limit;
    gcg_output o;
    write_file(path, "old");
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(gcg_output_open(&o, path, &err), GCG_OK);
    rlim_t soft = limit.rlim_cur;
    limit.rlim_cur = 4096;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 100000; i++) fputs("new", o.file);
    gcg_status status = gcg_output_commit(&o, &err);
    limit.rlim_cur = soft;
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(status, GCG_ERR_IO);
    ck_assert_str_eq(err.file, path);
    expect_content(path, "old");
    ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_folder_that_goes_away_is_reported)
{
    char sub[96], name[128];
    gcg_output o;
    snprintf(sub, sizeof sub, "%s/sub", folder);
    snprintf(name, sizeof name, "%s/m", sub);
    ck_assert_int_eq(mkdir(sub, 0700), 0);
    ck_assert_int_eq(gcg_output_open(&o, name, &err), GCG_OK);
    unlink(o.temporary);
    rmdir(sub);
    ck_assert_int_eq(gcg_output_commit(&o, &err), GCG_ERR_IO);
    ck_assert_str_eq(err.file, name);
}
END_TEST

START_TEST(output_survives_every_failing_allocation)
{
    int64_t blocks = gcg_mem_blocks(), n = 1;
    for (gcg_status status = GCG_ERR_NOMEM; status != GCG_OK; n++) {
        gcg_mem_fail_at(n);
        status = gcg_output_test(path, &err);
        gcg_mem_fail_at(0);
        ck_assert(status == GCG_OK || status == GCG_ERR_NOMEM);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
        ck_assert_int_eq(entries(), 0);
    }
    ck_assert_int_gt(n, 3);
}
END_TEST

START_TEST(two_names_of_one_file_are_recognised)
{
    char other[128];
    snprintf(other, sizeof other, "%s/other", folder);
    write_file(path, "x");
    ck_assert(gcg_output_same_file(path, path));
    ck_assert(!gcg_output_same_file(path, other));
    ck_assert(!gcg_output_same_file(other, other)); /* not there */
    ck_assert_int_eq(symlink(path, other), 0);
    ck_assert(gcg_output_same_file(path, other));
    unlink(other);
    ck_assert_int_eq(link(path, other), 0);
    ck_assert(gcg_output_same_file(path, other));
    unlink(other);
    write_file(other, "x");
    ck_assert(!gcg_output_same_file(path, other));
    unlink(other);
}
END_TEST

static void expect_json(gcg_json *json, const char *expected)
{
    char *text;
    ck_assert_int_eq(gcg_json_finish(json, &text, NULL), GCG_OK);
    ck_assert_str_eq(text, expected);
    gcg_mem_free(text);
}

START_TEST(json_nests_and_indents)
{
    gcg_json json;
    gcg_json_init(&json);
    gcg_json_open(&json, NULL, '{');
    gcg_json_integer(&json, "a", INT64_MIN);
    gcg_json_unsigned(&json, "b", UINT64_MAX);
    gcg_json_open(&json, "c", '[');
    gcg_json_boolean(&json, NULL, 1);
    gcg_json_boolean(&json, NULL, 0);
    gcg_json_close(&json, ']');
    gcg_json_open(&json, "d", '{');
    gcg_json_close(&json, '}');
    gcg_json_raw(&json, "e", "{}");
    gcg_json_close(&json, '}');
    expect_json(&json,
                "{\n  \"a\": -9223372036854775808,\n  \"b\": 18446744073709551615,\n  \"c\": [\n    true,\n"
                "    false\n  ],\n  \"d\": {},\n  \"e\": {}\n}");
    gcg_json_init(&json);
    expect_json(&json, "");
}
END_TEST

START_TEST(json_strings_are_escaped)
{
    gcg_json json;
    gcg_json_init(&json);
    gcg_json_string(&json, NULL, "q\" b\\ n\n t\t \x01 \x7f Zo\xc3\xab \xf0\x9f\x98\x80");
    expect_json(&json, "\"q\\\" b\\\\ n\\u000a t\\u0009 \\u0001 \\u007f Zo\xc3\xab \xf0\x9f\x98\x80\"");
    gcg_json_init(&json);
    gcg_json_string(&json, NULL, "\xff|\xc3|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe0\x80\x80");
    char *text;
    ck_assert_int_eq(gcg_json_finish(&json, &text, NULL), GCG_OK);
    for (const char *p = text; *p; p++) ck_assert_msg((unsigned char)*p < 0x80, "not UTF-8 in: %s", text);
    ck_assert_int_eq(strncmp(text, "\"\\ufffd|\\ufffd|", 15), 0);
    gcg_mem_free(text);
}
END_TEST

START_TEST(json_numbers_have_17_digits_and_a_point_in_every_locale)
{
    static const char *const locales[] = {"C", "de_DE.UTF-8", "ps_AF.UTF-8"};
    for (int i = 0; i < 3; i++) {
        gcg_json json;
        setlocale(LC_ALL, locales[i]); /* has no effect where it is not installed */
        gcg_json_init(&json);
        gcg_json_open(&json, NULL, '[');
        gcg_json_number(&json, NULL, 0.1);
        gcg_json_number(&json, NULL, -1e300);
        gcg_json_number(&json, NULL, 5);
        gcg_json_number(&json, NULL, NAN);
        gcg_json_number(&json, NULL, -INFINITY);
        gcg_json_close(&json, ']');
        expect_json(&json,
                    "[\n  0.10000000000000001,\n  -1.0000000000000001e+300,\n  5,\n  null,\n  null\n]");
    }
    setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(json_reports_a_failed_allocation_at_the_end)
{
    int64_t blocks = gcg_mem_blocks(), n = 1;
    for (gcg_status status = GCG_ERR_NOMEM; status != GCG_OK; n++) {
        gcg_json json;
        char *text;
        gcg_mem_fail_at(n);
        gcg_json_init(&json);
        gcg_json_open(&json, NULL, '[');
        for (int i = 0; i < 100; i++) gcg_json_string(&json, NULL, "some text");
        gcg_json_close(&json, ']');
        status = gcg_json_finish(&json, &text, NULL);
        gcg_mem_fail_at(0);
        ck_assert_int_eq(text != NULL, status == GCG_OK);
        gcg_mem_free(text);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
    }
    ck_assert_int_gt(n, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("output");
    TCase *t = tcase_create("output");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_file_appears_under_its_name_only_when_it_is_committed);
    tcase_add_test(t, an_aborted_file_leaves_the_old_one_and_no_other);
    tcase_add_test(t, the_mode_is_what_the_umask_leaves);
    tcase_add_test(t, a_symbolic_link_is_written_through);
    tcase_add_test(t, what_is_not_a_file_is_refused);
    tcase_add_test(t, a_folder_that_cannot_be_written_is_refused);
    tcase_add_test(t, testing_a_destination_changes_nothing);
    tcase_add_test(t, a_name_of_255_bytes_is_fine_and_one_of_256_is_not);
    tcase_add_test(t, a_bare_name_is_written_to_the_working_folder);
    tcase_add_test(t, a_full_disk_leaves_the_old_file_and_no_other);
    tcase_add_test(t, a_folder_that_goes_away_is_reported);
    tcase_add_test(t, output_survives_every_failing_allocation);
    tcase_add_test(t, two_names_of_one_file_are_recognised);
    suite_add_tcase(suite, t);
    t = tcase_create("json");
    tcase_add_test(t, json_nests_and_indents);
    tcase_add_test(t, json_strings_are_escaped);
    tcase_add_test(t, json_numbers_have_17_digits_and_a_point_in_every_locale);
    tcase_add_test(t, json_reports_a_failed_allocation_at_the_end);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
