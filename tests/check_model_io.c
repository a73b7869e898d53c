/* Model files: round trips, equal bytes, damaged files, memory running out. */
#define _POSIX_C_SOURCE 200809L
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zip.h>
#include "base/mem.h"
#include "base/rng.h"
#include "io/model_io.h"
#include "io/npy.h"

static char folder[64], path[96];
static gcg_err err;

static void make_folder(void)
{
    strcpy(folder, "/tmp/check_model_io.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m", folder);
}

static void remove_folder(void)
{
    unlink(path);
    ck_assert_msg(rmdir(folder) == 0, "a file was left in the folder");
}

static double *numbers(int64_t n, double first)
{
    double *x = gcg_mem_alloc_array(n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = first + (double)i / 8;
    return x;
}

static int64_t *counts(int64_t n)
{
    int64_t *x = gcg_mem_alloc_array(n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = i;
    return x;
}

static gcg_idmap *ids(int32_t n, const char *letter)
{
    gcg_idmap *map;
    ck_assert_int_eq(gcg_idmap_new(&map, NULL), GCG_OK);
    for (int32_t i = 0; i < n; i++) {
        char id[32];
        int32_t index;
        int length = snprintf(id, sizeof id, "%s%d", letter, n - i);
        ck_assert_int_eq(gcg_idmap_add(map, id, (size_t)length, &index, NULL), GCG_OK);
    }
    return map;
}

static void fill_factors(gcg_factors *f, int32_t rows, int32_t k, gcg_dtype type)
{
    ck_assert_int_eq(gcg_factors_init(f, rows, k, type, NULL), GCG_OK);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t q = 0; q < k; q++) gcg_factors_set(f, i, q, 1.0 / (1 + i + 3 * q));
}

static gcg_model make_model(int32_t users, int32_t items, int32_t k, gcg_dtype type)
{
    gcg_model m = {0};
    fill_factors(&m.u, users, k, type);
    fill_factors(&m.v, items, k, type);
    m.singular_values = numbers(k, 2);
    m.users = ids(users, "u \xc3\xbc");
    m.items = ids(items, "");
    m.mean = 2.5;
    m.user_count = counts(users);
    m.item_count = counts(items);
    m.user_sum = numbers(users, -3);
    m.item_sum = numbers(items, 7);
    m.center = GCG_CENTER_BOTH;
    m.mu = 0.1;
    m.user_bias = numbers(users, -0.5);
    m.item_bias = numbers(items, 0.25);
    m.options_json = gcg_mem_strdup("{\n  \"lambda\": 2\n}");
    return m;
}

static int same_numbers(const void *a, const void *b, int64_t n)
{
    return memcmp(a, b, (size_t)n * 8) == 0;
}

static int same_ids(const gcg_idmap *a, const gcg_idmap *b)
{
    char x[GCG_ID_TEXT], y[GCG_ID_TEXT];
    if (gcg_idmap_count(a) != gcg_idmap_count(b)) return 0;
    for (int32_t i = 0; i < gcg_idmap_count(a); i++) {
        gcg_idmap_name(a, i, x);
        gcg_idmap_name(b, i, y);
        if (strcmp(x, y) != 0) return 0;
    }
    return 1;
}

static int same_factors(const gcg_factors *a, const gcg_factors *b)
{
    return a->rows == b->rows && a->k == b->k && a->type == b->type &&
           memcmp(a->data, b->data, (size_t)a->rows * (size_t)a->stride * a->type) == 0;
}

static int same_model(const gcg_model *a, const gcg_model *b)
{
    return same_factors(&a->u, &b->u) && same_factors(&a->v, &b->v) && same_ids(a->users, b->users) &&
           same_ids(a->items, b->items) && same_numbers(a->singular_values, b->singular_values, a->u.k) &&
           a->mean == b->mean && a->mu == b->mu && a->center == b->center &&
           same_numbers(a->user_count, b->user_count, a->u.rows) &&
           same_numbers(a->item_count, b->item_count, a->v.rows) &&
           same_numbers(a->user_sum, b->user_sum, a->u.rows) &&
           same_numbers(a->item_sum, b->item_sum, a->v.rows) &&
           same_numbers(a->user_bias, b->user_bias, a->u.rows) &&
           same_numbers(a->item_bias, b->item_bias, a->v.rows) &&
           strcmp(a->options_json, b->options_json) == 0;
}

static unsigned char *slurp(size_t *length)
{
    static unsigned char bytes[1 << 16];
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    *length = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    ck_assert_uint_lt(*length, sizeof bytes);
    return bytes;
}

static void expect_round_trip(int32_t users, int32_t items, int32_t k, gcg_dtype type)
{
    gcg_model m = make_model(users, items, k, type), back;
    ck_assert_msg(gcg_model_write(path, &m, &err) == GCG_OK, "%s", err.text);
    ck_assert_msg(gcg_model_read(path, &back, &err) == GCG_OK, "%s", err.text);
    ck_assert(same_model(&m, &back));
    gcg_model_release(&m);
    gcg_model_release(&back);
    gcg_model_release(&back);
}

START_TEST(a_model_comes_back_as_it_was_written)
{
    int64_t blocks = gcg_mem_blocks();
    make_folder();
    expect_round_trip(5, 3, 2, GCG_FLOAT);
    expect_round_trip(5, 3, 2, GCG_DOUBLE);
    expect_round_trip(1, 1, 0, GCG_FLOAT);
    expect_round_trip(3, 4000, 17, GCG_FLOAT);
    ck_assert_int_eq(gcg_mem_blocks(), blocks);
    remove_folder();
}
END_TEST

START_TEST(the_longest_id_and_an_id_across_a_buffer_edge_come_back)
{
    make_folder();
    gcg_model m = make_model(40, 1, 1, GCG_FLOAT), back;
    gcg_idmap_free(m.users);
    ck_assert_int_eq(gcg_idmap_new(&m.users, NULL), GCG_OK);
    for (int i = 0; i < 40; i++) {
        char id[GCG_ID_TEXT];
        int32_t index;
        memset(id, 'a' + i % 26, sizeof id);
        id[0] = (char)('A' + i / 26);
        ck_assert_int_eq(gcg_idmap_add(m.users, id, GCG_ID_MAX, &index, NULL), GCG_OK);
    }
    ck_assert_int_eq(gcg_model_write(path, &m, NULL), GCG_OK);
    ck_assert_msg(gcg_model_read(path, &back, &err) == GCG_OK, "%s", err.text);
    ck_assert(same_model(&m, &back));
    gcg_model_release(&m);
    gcg_model_release(&back);
    remove_folder();
}
END_TEST

START_TEST(the_bytes_do_not_depend_on_the_time_zone_or_the_time)
{
    static const char *const zones[] = {"UTC",          "America/New_York", "Asia/Kolkata",
                                        "Pacific/Apia", "XYZ+12",           "XYZ-14"};
    static unsigned char first[1 << 16];
    size_t first_length = 0;
    make_folder();
    gcg_model m = make_model(5, 3, 2, GCG_FLOAT);
    for (size_t z = 0; z < sizeof zones / sizeof *zones; z++) {
        size_t length;
        setenv("TZ", zones[z], 1);
        tzset();
        ck_assert_int_eq(gcg_model_write(path, &m, NULL), GCG_OK);
        const unsigned char *bytes = slurp(&length);
        if (z == 0) memcpy(first, bytes, first_length = length);
        ck_assert_uint_eq(length, first_length);
        ck_assert_msg(memcmp(bytes, first, length) == 0, "other bytes in %s", zones[z]);
    }
    gcg_model_release(&m);
    remove_folder();
}
END_TEST

/* DATA with a message that names the file, or (for bytes that mean nothing, such as dates) the same model. */
static void expect_refused_or_same(const void *bytes, size_t length, const gcg_model *m, int64_t at)
{
    gcg_model back;
    memset(&err, 0, sizeof err);
    gcg_status status = gcg_model_read_buffer(bytes, length, "m", &back, &err);
    if (status == GCG_OK) {
        ck_assert_msg(m && same_model(m, &back), "another model after a change at byte %lld", (long long)at);
        gcg_model_release(&back);
        return;
    }
    ck_assert_msg(status == GCG_ERR_DATA, "status %d after a change at byte %lld: %s", status, (long long)at,
                  err.text);
    ck_assert_str_eq(err.file, "m");
    ck_assert_ptr_nonnull(strstr(err.text, "gcg-mc model"));
    ck_assert_ptr_null(back.users);
}

START_TEST(no_changed_byte_passes_as_another_model)
{
    size_t length;
    int64_t blocks = gcg_mem_blocks();
    make_folder();
    gcg_model m = make_model(3, 2, 2, GCG_FLOAT);
    ck_assert_int_eq(gcg_model_write(path, &m, NULL), GCG_OK);
    unsigned char *bytes = slurp(&length);
    for (size_t i = 0; i < length; i++) {
        static const unsigned char flips[] = {0x01, 0x80, 0xff};
        for (size_t j = 0; j < sizeof flips; j++) {
            bytes[i] ^= flips[j];
            expect_refused_or_same(bytes, length, &m, (int64_t)i);
            bytes[i] ^= flips[j];
        }
    }
    gcg_model_release(&m);
    ck_assert_int_eq(gcg_mem_blocks(), blocks);
    remove_folder();
}
END_TEST

START_TEST(a_model_cut_at_any_length_is_refused)
{
    size_t length;
    make_folder();
    gcg_model m = make_model(3, 2, 2, GCG_FLOAT);
    ck_assert_int_eq(gcg_model_write(path, &m, NULL), GCG_OK);
    unsigned char *bytes = slurp(&length);
    for (size_t i = 0; i < length; i++) expect_refused_or_same(bytes, i, NULL, (int64_t)i);
    gcg_model_release(&m);
    remove_folder();
}
END_TEST

/* Writes m with one member replaced by bytes, or left out when bytes is NULL, and reads it back. */
static gcg_status read_with(const gcg_model *m, const char *member, const void *bytes, size_t length)
{
    gcg_model back;
    ck_assert_int_eq(gcg_model_write(path, m, NULL), GCG_OK);
    zip_t *zip = zip_open(path, 0, NULL);
    ck_assert_ptr_nonnull(zip);
    zip_int64_t index = zip_name_locate(zip, member, 0);
    ck_assert_int_ge(index, 0);
    if (bytes) {
        ck_assert_int_eq(
            zip_file_replace(zip, (zip_uint64_t)index, zip_source_buffer(zip, bytes, length, 0), 0), 0);
        ck_assert_int_eq(zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0), 0);
    } else {
        ck_assert_int_eq(zip_delete(zip, (zip_uint64_t)index), 0);
    }
    ck_assert_int_eq(zip_close(zip), 0);
    gcg_status status = gcg_model_read(path, &back, &err);
    gcg_model_release(&back);
    return status;
}

static void expect_refused(const gcg_model *m, const char *member, const void *bytes, size_t length,
                           const char *text)
{
    memset(&err, 0, sizeof err);
    ck_assert_msg(read_with(m, member, bytes, length) == GCG_ERR_DATA, "%s with %s was accepted", member,
                  text);
    ck_assert_str_eq(err.file, path);
    ck_assert_msg(strstr(err.text, text) != NULL, "%s: message is: %s", member, err.text);
}

static void expect_array_refused(const gcg_model *m, const char *member, const char *type, int64_t rows,
                                 double entry, const char *text)
{
    char bytes[GCG_NPY_HEADER + 64 * 8];
    gcg_npy npy = {.dims = 1, .shape = {rows, 1}};
    memcpy(npy.type, type, 4);
    gcg_npy_header(bytes, &npy);
    for (int64_t i = 0; i < rows; i++) memcpy(bytes + GCG_NPY_HEADER + 8 * i, &entry, 8);
    expect_refused(m, member, bytes, GCG_NPY_HEADER + 8 * (size_t)rows, text);
}

START_TEST(members_that_do_not_fit_are_refused)
{
    static const char *const members[] = {
        "U.npy",      "V.npy",           "singular_values.npy", "users.txt",     "items.txt",
        "mean.npy",   "user_counts.npy", "item_counts.npy",     "user_sums.npy", "item_sums.npy",
        "center.npy", "center_mean.npy", "user_bias.npy",       "item_bias.npy"};
    make_folder();
    gcg_model m = make_model(3, 2, 2, GCG_FLOAT);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        expect_refused(&m, members[i], NULL, 0, members[i]);
        expect_refused(&m, members[i], "", 0, members[i]);
        expect_refused(&m, members[i], "junk", 4, members[i]);
    }
    expect_refused(&m, "model.json", NULL, 0, "not a gcg-mc model");
    expect_refused(&m, "users.txt", "a\nb\n", 4, "differ");
    expect_refused(&m, "users.txt", "a\nb\nc\nd\n", 8, "differ");
    expect_refused(&m, "users.txt", "a\nb\na\n", 6, "twice");
    expect_refused(&m, "users.txt", "a\nb\n\n", 5, "not an id");
    expect_refused(&m, "users.txt", "a\nb\nc\t\n", 7, "not an id");
    expect_refused(&m, "users.txt", "a\nb\nc", 5, "no end");
    expect_array_refused(&m, "user_sums.npy", "<f8", 2, 1, "does not fit");
    expect_array_refused(&m, "user_sums.npy", "<f8", 3, NAN, "out of range");
    expect_array_refused(&m, "user_bias.npy", "<f8", 3, INFINITY, "out of range");
    expect_array_refused(&m, "user_counts.npy", "<i8", 3, -1.0, "out of range");
    expect_array_refused(&m, "user_counts.npy", "<f8", 3, 1, "does not fit");
    expect_array_refused(&m, "U.npy", "<f8", 3, 1, "not a matrix");
    gcg_model_release(&m);
    remove_folder();
}
END_TEST

START_TEST(an_absurd_shape_asks_for_no_memory)
{
    char bytes[GCG_NPY_HEADER];
    static const gcg_npy shapes[] = {{"<f4", 2, {INT32_MAX, INT32_MAX}},
                                     {"<f4", 2, {999999999999999999, 99999999999999999}},
                                     {"<f8", 2, {INT32_MAX, 0}},
                                     {"<f4", 2, {(int64_t)1 << 40, 0}},
                                     {"<f4", 2, {0, 0}},
                                     {"<f4", 2, {0, (int64_t)1 << 40}},
                                     {"<f8", 2, {(int64_t)1 << 31, (int64_t)1 << 30}}};
    make_folder();
    gcg_model m = make_model(3, 2, 2, GCG_FLOAT);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        gcg_npy_header(bytes, &shapes[i]);
        expect_refused(&m, "U.npy", bytes, sizeof bytes, "damaged gcg-mc model");
    }
    gcg_model_release(&m);
    remove_folder();
}
END_TEST

START_TEST(factors_of_different_rank_or_type_are_refused)
{
    char bytes[GCG_NPY_HEADER + 64] = "";
    make_folder();
    gcg_model m = make_model(3, 2, 2, GCG_FLOAT);
    gcg_npy_header(bytes, &(gcg_npy){"<f4", 2, {2, 1}});
    expect_refused(&m, "V.npy", bytes, GCG_NPY_HEADER + 8, "another rank or type");
    gcg_npy_header(bytes, &(gcg_npy){"<f8", 2, {2, 2}});
    expect_refused(&m, "V.npy", bytes, GCG_NPY_HEADER + 32, "another rank or type");
    float nan[4] = {NAN};
    gcg_npy_header(bytes, &(gcg_npy){"<f4", 2, {2, 2}});
    memcpy(bytes + GCG_NPY_HEADER, nan, sizeof nan);
    expect_refused(&m, "V.npy", bytes, GCG_NPY_HEADER + 16, "not finite");
    gcg_model_release(&m);
    remove_folder();
}
END_TEST

START_TEST(a_newer_format_is_refused_with_both_versions)
{
    static const char json[] = "{\n  \"format\": \"gcg-mc model\",\n  \"version\": 23,\n  \"news\": 1\n}\n";
    make_folder();
    gcg_model m = make_model(3, 2, 2, GCG_FLOAT);
    expect_refused(&m, "model.json", json, sizeof json - 1, "model format version 23 is newer than 1,");
    static const char layout[] =
        "{\"format\" : \"gcg-mc model\", \"version\": 23}"; /* as others lay JSON out */
    expect_refused(&m, "model.json", layout, sizeof layout - 1, "model format version 23 is newer than 1,");
    expect_refused(&m, "model.json", "{}", 2, "not a gcg-mc model");
    static const char other[] = "{\n  \"format\": \"gcg-mc model\",\n  \"version\": 1, \"fit\": {}}";
    expect_refused(&m, "model.json", other, sizeof other - 1, "damaged");
    expect_refused(&m, "model.json", "a\0b", 3, "NUL");
    gcg_model_release(&m);
    remove_folder();
}
END_TEST

START_TEST(a_foreign_file_a_folder_and_a_missing_file_are_told_apart)
{
    gcg_model m;
    make_folder();
    FILE *f = fopen(path, "w");
    fputs("user,item,rating\n1,1,5\n", f);
    fclose(f);
    ck_assert_int_eq(gcg_model_read(path, &m, &err), GCG_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.text, "not a gcg-mc model"));
    ck_assert_str_eq(err.file, path);
    ck_assert_int_eq(gcg_model_read(folder, &m, &err), GCG_ERR_IO);
    ck_assert_str_eq(err.file, folder);
    unlink(path);
    ck_assert_int_eq(gcg_model_read(path, &m, &err), GCG_ERR_IO);
    ck_assert_int_eq(gcg_model_read("/dev/null", &m, &err), GCG_ERR_IO);
    remove_folder();
}
END_TEST

START_TEST(a_model_with_numbers_that_are_not_finite_is_not_written)
{
    make_folder();
    gcg_model m = make_model(3, 2, 2, GCG_FLOAT);
    gcg_factors_set(&m.v, 1, 1, NAN);
    ck_assert_int_eq(gcg_model_write(path, &m, &err), GCG_ERR_INTERNAL);
    gcg_factors_set(&m.v, 1, 1, 0);
    m.user_bias[2] = INFINITY;
    ck_assert_int_eq(gcg_model_write(path, &m, &err), GCG_ERR_INTERNAL);
    ck_assert_int_ne(access(path, F_OK), 0);
    gcg_model_release(&m);
    remove_folder();
}
END_TEST

START_TEST(a_full_disk_leaves_the_old_model_and_no_other_file)
{
    struct rlimit limit;
    make_folder();
    gcg_model m = make_model(5, 3, 2, GCG_FLOAT), big = make_model(3000, 3000, 200, GCG_DOUBLE), back;
    ck_assert_int_eq(gcg_model_write(path, &m, NULL), GCG_OK);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const rlim_t soft = limit.rlim_cur, sizes[] = {100, 5000, 3000000, 9000000};
    for (int i = 0; i < 4; i++) {
        limit.rlim_cur = sizes[i];
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        gcg_status status = gcg_model_write(path, &big, &err);
        limit.rlim_cur = soft;
        setrlimit(RLIMIT_FSIZE, &limit);
        ck_assert_int_eq(status, GCG_ERR_IO);
        ck_assert_str_eq(err.file, path);
        ck_assert_str_eq(err.text, "cannot write: File too large");
    }
    ck_assert_int_eq(gcg_model_read(path, &back, NULL), GCG_OK);
    ck_assert(same_model(&m, &back));
    gcg_model_release(&m);
    gcg_model_release(&big);
    gcg_model_release(&back);
    remove_folder();
}
END_TEST

START_TEST(writing_survives_every_failing_allocation)
{
    make_folder();
    gcg_model m = make_model(5, 3, 2, GCG_DOUBLE);
    int64_t blocks = gcg_mem_blocks(), n = 1;
    for (gcg_status status = GCG_ERR_NOMEM; status != GCG_OK; n++) {
        gcg_mem_fail_at(n);
        status = gcg_model_write(path, &m, &err);
        gcg_mem_fail_at(0);
        ck_assert(status == GCG_OK || status == GCG_ERR_NOMEM);
        ck_assert_int_eq(access(path, F_OK) == 0, status == GCG_OK);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
    }
    ck_assert_int_gt(n, 4);
    gcg_model_release(&m);
    remove_folder();
}
END_TEST

START_TEST(reading_survives_every_failing_allocation)
{
    make_folder();
    gcg_model m = make_model(5, 3, 2, GCG_DOUBLE), back;
    ck_assert_int_eq(gcg_model_write(path, &m, NULL), GCG_OK);
    int64_t blocks = gcg_mem_blocks(), n = 1;
    for (gcg_status status = GCG_ERR_NOMEM; status != GCG_OK; n++) {
        gcg_mem_fail_at(n);
        status = gcg_model_read(path, &back, &err);
        gcg_mem_fail_at(0);
        ck_assert(status == GCG_OK || status == GCG_ERR_NOMEM);
        if (status == GCG_OK) gcg_model_release(&back);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
    }
    ck_assert_int_gt(n, 12);
    gcg_model_release(&m);
    remove_folder();
}
END_TEST

/* Reads the model while it is being replaced by a child that may be killed; removes what the killed child
 * left. */
static void expect_one_of(const gcg_model *a, const gcg_model *b)
{
    gcg_model m;
    ck_assert_msg(gcg_model_read(path, &m, &err) == GCG_OK, "%s", err.text);
    ck_assert(same_model(&m, a) || same_model(&m, b));
    gcg_model_release(&m);
    DIR *d = opendir(folder);
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d));) {
        char left[400];
        size_t length = strlen(e->d_name);
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strcmp(e->d_name, "m")) continue;
        ck_assert_msg(length == 13 && !strncmp(e->d_name, ".m.", 3) && !strcmp(e->d_name + 9, ".tmp"),
                      "left: %s", e->d_name);
        snprintf(left, sizeof left, "%s/%s", folder, e->d_name);
        unlink(left);
    }
    closedir(d);
}

START_TEST(a_kill_at_any_moment_leaves_the_old_model_or_the_new_one)
{
    enum { KILLS = 60, LONGEST_MS = 15 };
    gcg_rng rng;
    make_folder();
    gcg_rng_init(&rng, 1, 1);
    gcg_model a = make_model(300, 200, 20, GCG_FLOAT), b = make_model(200, 300, 20, GCG_DOUBLE);
    ck_assert_int_eq(gcg_model_write(path, &a, NULL), GCG_OK);
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            for (int j = 0;; j++)
                if (gcg_model_write(path, j % 2 ? &a : &b, NULL) != GCG_OK) _exit(1);
        }
        struct timespec wait = {0, (long)gcg_rng_below(&rng, LONGEST_MS * 1000000)};
        nanosleep(&wait, NULL);
        int status;
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        expect_one_of(&a, &b);
    }
    gcg_model_release(&a);
    gcg_model_release(&b);
    remove_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model_io");
    TCase *t = tcase_create("model_io");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, a_model_comes_back_as_it_was_written);
    tcase_add_test(t, the_longest_id_and_an_id_across_a_buffer_edge_come_back);
    tcase_add_test(t, the_bytes_do_not_depend_on_the_time_zone_or_the_time);
    tcase_add_test(t, no_changed_byte_passes_as_another_model);
    tcase_add_test(t, a_model_cut_at_any_length_is_refused);
    tcase_add_test(t, members_that_do_not_fit_are_refused);
    tcase_add_test(t, an_absurd_shape_asks_for_no_memory);
    tcase_add_test(t, factors_of_different_rank_or_type_are_refused);
    tcase_add_test(t, a_newer_format_is_refused_with_both_versions);
    tcase_add_test(t, a_foreign_file_a_folder_and_a_missing_file_are_told_apart);
    tcase_add_test(t, a_model_with_numbers_that_are_not_finite_is_not_written);
    tcase_add_test(t, a_full_disk_leaves_the_old_model_and_no_other_file);
    tcase_add_test(t, writing_survives_every_failing_allocation);
    tcase_add_test(t, reading_survives_every_failing_allocation);
    tcase_add_test(t, a_kill_at_any_moment_leaves_the_old_model_or_the_new_one);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
