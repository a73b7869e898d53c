/* The training store: independent of line order, format, block size and threads; duplicates, test sets. */
#define _XOPEN_SOURCE 700
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "io/points.h"
#include "io/ratings.h"

static char folder[64];
static char files[16][128];
static int file_count;
static gcg_read_options options;
static gcg_err err;
static gcg_diag diag;
static char messages[8192];

static void keep_message(void *user, gcg_severity severity, const char *file, int64_t line, int64_t col,
                         const char *text)
{
    size_t n = strlen(messages);
    const char *name = file ? strrchr(file, '/') : NULL;
    (void)user;
    snprintf(messages + n, sizeof messages - n, "%s:%d:%d: %s%s\n", name ? name + 1 : "", (int)line, (int)col,
             severity == GCG_ERROR ? "error: " : "", text);
}

static void setup(void)
{
    strcpy(folder, "/tmp/check_ratings.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    file_count = 0;
    options = gcg_read_options_defaults();
    messages[0] = '\0';
    diag = (gcg_diag){.emit = keep_message};
}

static void teardown(void)
{
    for (int k = 0; k < file_count; k++) unlink(files[k]);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
    gcg_par_set_threads(1);
}

static const char *put(const char *name, const char *text)
{
    snprintf(files[file_count], sizeof files[0], "%s/%s", folder, name);
    FILE *f = fopen(files[file_count], "wb");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    return files[file_count++];
}

static void read_one(const char *path, gcg_ratings *r)
{
    gcg_status status = gcg_ratings_read(&path, 1, &options, &diag, r, &err);
    ck_assert_msg(status == GCG_OK, "%s: %s", path, err.text);
}

/* Everything in a store as text: sizes, type, ids, entries. */
static char *describe(const gcg_ratings *r)
{
    size_t size = 256 + 64 * (size_t)(r->x.nnz + r->x.rows + r->x.cols), n = 0;
    char *text = malloc(size), user[GCG_ID_TEXT], item[GCG_ID_TEXT];
    n += (size_t)snprintf(text, size, "%d x %d, %d, %s\n", r->x.rows, r->x.cols, (int)r->x.nnz,
                          r->x.val_d ? "double" : "float");
    ck_assert_int_eq(gcg_idmap_count(r->users), r->x.rows);
    ck_assert_int_eq(gcg_idmap_count(r->items), r->x.cols);
    ck_assert_int_eq(r->x.row_ptr[0], 0);
    ck_assert_int_eq(r->x.row_ptr[r->x.rows], r->x.nnz);
    for (int32_t i = 0; i < r->x.rows; i++) {
        gcg_idmap_name(r->users, i, user);
        n += (size_t)snprintf(text + n, size - n, "%s:", user);
        for (int64_t p = r->x.row_ptr[i]; p < r->x.row_ptr[i + 1]; p++) {
            if (p > r->x.row_ptr[i]) ck_assert_int_gt(r->x.col[p], r->x.col[p - 1]);
            gcg_idmap_name(r->items, r->x.col[p], item);
            n += (size_t)snprintf(text + n, size - n, " %s=%.17g", item, gcg_csr_value(&r->x, p));
        }
        n += (size_t)snprintf(text + n, size - n, "\n");
    }
    for (int32_t j = 0; j < r->x.cols; j++) {
        gcg_idmap_name(r->items, j, item);
        n += (size_t)snprintf(text + n, size - n, "%s ", item);
    }
    return text;
}

static void expect_store(const char *path, const char *want)
{
    gcg_ratings r;
    read_one(path, &r);
    char *found = describe(&r);
    ck_assert_str_eq(found, want);
    free(found);
    gcg_ratings_release(&r);
}

/* ---- random ratings and their writing in each format ---- */

enum { USERS = 40, ITEMS = 30 };

typedef struct {
    int user, item;
    double value;
} rating;

static rating data[USERS * ITEMS];
static int data_count;

static void random_data(uint64_t seed, int as_double)
{
    gcg_rng rng;
    gcg_rng_init(&rng, seed, 0);
    data_count = 0;
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++)
            if (gcg_rng_uniform(&rng) < 0.3)
                data[data_count++] = (rating){u * 3 + 1, 40 - i,
                                              as_double ? (double)gcg_rng_below(&rng, 90) / 10
                                                        : (double)gcg_rng_below(&rng, 11) / 2};
}

static void shuffle(uint64_t seed)
{
    gcg_rng rng;
    gcg_rng_init(&rng, seed, 1);
    for (int k = data_count - 1; k > 0; k--) {
        int j = (int)gcg_rng_below(&rng, (uint64_t)k + 1);
        rating swap = data[k];
        data[k] = data[j];
        data[j] = swap;
    }
}

static int by_item(const void *a, const void *b)
{
    const rating *x = a, *y = b;
    return x->item != y->item ? x->item - y->item : x->user - y->user;
}

static int by_user(const void *a, const void *b)
{
    const rating *x = a, *y = b;
    return x->user != y->user ? x->user - y->user : y->item - x->item;
}

static char text_buffer[1 << 20];

static const char *write_triples(const char *name, const char *head, const char *separator, const char *tail)
{
    size_t n = (size_t)sprintf(text_buffer, "%s", head);
    for (int k = 0; k < data_count; k++)
        n += (size_t)sprintf(text_buffer + n, "%d%s%d%s%.15g%s", data[k].user, separator, data[k].item,
                             separator, data[k].value, tail);
    return put(name, text_buffer);
}

static const char *write_netflix(const char *name)
{
    size_t n = 0;
    qsort(data, (size_t)data_count, sizeof *data, by_item);
    for (int k = 0; k < data_count; k++) {
        if (k == 0 || data[k].item != data[k - 1].item)
            n += (size_t)sprintf(text_buffer + n, "%d:\n", data[k].item);
        n += (size_t)sprintf(text_buffer + n, "%d,%.15g,2005-01-01\n", data[k].user, data[k].value);
    }
    return put(name, text_buffer);
}

static const char *write_kdd(const char *name)
{
    size_t n = 0;
    qsort(data, (size_t)data_count, sizeof *data, by_user);
    for (int k = 0; k < data_count; k++) {
        int count = 0;
        while (k + count < data_count && data[k + count].user == data[k].user) count++;
        if (k == 0 || data[k].user != data[k - 1].user)
            n += (size_t)sprintf(text_buffer + n, "%d|%d\n", data[k].user, count);
        n += (size_t)sprintf(text_buffer + n, "%d\t%.15g\n", data[k].item, data[k].value);
    }
    return put(name, text_buffer);
}

START_TEST(every_format_and_order_of_lines_gives_the_same_store)
{
    int as_double = _i % 2;
    random_data((uint64_t)_i, as_double);
    gcg_ratings r;
    read_one(write_triples("sorted.csv", "user,item,rating\n", ",", "\n"), &r);
    char *want = describe(&r);
    ck_assert(as_double ? r.x.val_d != NULL : r.x.val_f != NULL);
    int64_t p = 0;
    for (int k = 0; k < data_count; k++) { /* naive: each rating is there */
        char id[16];
        int32_t u = gcg_idmap_find(r.users, id, (size_t)sprintf(id, "%d", data[k].user));
        int32_t i = gcg_idmap_find(r.items, id, (size_t)sprintf(id, "%d", data[k].item));
        ck_assert_int_ge(p = gcg_csr_find(&r.x, u, i), 0);
        ck_assert(gcg_csr_value(&r.x, p) == data[k].value);
    }
    ck_assert_int_eq(r.x.nnz, data_count);
    gcg_ratings_release(&r);
    shuffle(7);
    expect_store(write_triples("a.csv", "", ",", "\r\n"), want);
    shuffle(8);
    expect_store(write_triples("b.tsv", "# comment\n", "\t", "\t9\n\n"), want);
    expect_store(write_triples("c.dat", "", "::", "::978300760\n"), want);
    shuffle(9);
    expect_store(write_triples("d.txt", "\xef\xbb\xbf", " ", "  \n"), want);
    expect_store(write_triples("e.txt", "u;i;r\n", ";", "\n"), want);
    expect_store(write_triples("f.txt", "", "|", "|1\n"), want);
    expect_store(write_netflix("g.txt"), want);
    expect_store(write_kdd("h.txt"), want);
    options.block = 1 + _i;
    gcg_par_set_threads(2);
    shuffle(10);
    expect_store(write_triples("i.csv", "", ",", "\n"), want);
    expect_store(write_kdd("j.txt"), want);
    free(want);
}
END_TEST

START_TEST(a_matrixmarket_file_keeps_its_empty_rows_and_columns)
{
    expect_store(
        put("a.mtx", "%%MatrixMarket matrix coordinate real general\n4 12 3\n2 3 5\n1 10 4\n1 2 3\n"),
        "4 x 12, 3, float\n1: 2=3 10=4\n2: 3=5\n3:\n4:\n1 2 3 4 5 6 7 8 9 10 11 12 ");
    expect_store(put("s.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 5\n3 3 1\n"),
                 "3 x 3, 3, float\n1: 2=5\n2: 1=5\n3: 3=1\n1 2 3 ");
}
END_TEST

START_TEST(several_files_are_read_as_one)
{
    const char *paths[] = {put("a.csv", "1,1,5\n2,1,4\n"), put("b.tsv", "1\t2\t3\n3\t3\t1\n")};
    gcg_ratings r;
    ck_assert_int_eq(gcg_ratings_read(paths, 2, &options, &diag, &r, &err), GCG_OK);
    char *found = describe(&r);
    ck_assert_str_eq(found, "3 x 3, 4, float\n1: 1=5 2=3\n2: 1=4\n3: 3=1\n1 2 3 ");
    free(found);
    ck_assert_int_eq(r.report.format, GCG_FORMAT_CSV);
    ck_assert_int_eq(r.report.lines, 4);
    gcg_ratings_release(&r);
    gcg_ratings_release(&r);
}
END_TEST

START_TEST(a_folder_stands_for_its_netflix_files_in_byte_order)
{
    put("mv_0000002.txt", "2:\n7,4\n");
    put("mv_0000001.txt", "1:\n7,5\n8,3\n");
    put("combined_data_1.txt", "3:\n9,1\n");
    put("readme.txt", "not data\n");
    put("mv_0000003.csv", "not data\n");
    expect_store(folder, "3 x 3, 4, float\n7: 1=5 2=4\n8: 1=3\n9: 3=1\n1 2 3 ");
    ck_assert_str_eq(messages, "combined_data_1.txt:0:0: read as netflix\n");
}
END_TEST

START_TEST(a_folder_without_netflix_files_and_a_missing_file_are_io_errors)
{
    gcg_ratings r;
    const char *path = folder, *missing = "/nonexistent/file";
    ck_assert_int_eq(gcg_ratings_read(&path, 1, &options, &diag, &r, &err), GCG_ERR_IO);
    ck_assert_str_eq(err.file, folder);
    ck_assert_int_eq(diag.errors, 1);
    ck_assert_int_eq(gcg_ratings_read(&missing, 1, &options, NULL, &r, &err), GCG_ERR_IO);
    ck_assert_str_eq(err.file, missing);
}
END_TEST

START_TEST(a_file_without_ratings_is_refused)
{
    gcg_ratings r;
    const char *path = put("empty.csv", "user,item,rating\n");
    ck_assert_int_eq(gcg_ratings_read(&path, 1, &options, &diag, &r, &err), GCG_ERR_DATA);
    ck_assert_str_eq(err.file, path);
    ck_assert_ptr_nonnull(strstr(err.text, "no ratings"));
    ck_assert_int_eq(diag.errors, 1);
    const gcg_value_map map = {.from = 5, .drop = 1};
    options.value_maps = &map;
    options.value_map_count = 1;
    path = put("dropped.csv", "1,1,5\n");
    ck_assert_int_eq(gcg_ratings_read(&path, 1, &options, &diag, &r, &err), GCG_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.text, "value maps"));
}
END_TEST

static const char duplicate_text[] = "u,i,r\n1,1,5\n1,2,3\n2,1,4\n1,1,2\n2,1,4\n1,1,1\n";

START_TEST(duplicates_are_refused_with_both_lines)
{
    gcg_ratings r;
    const char *path = put("d.csv", duplicate_text);
    ck_assert_int_eq(gcg_ratings_read(&path, 1, &options, &diag, &r, &err), GCG_ERR_DATA);
    ck_assert_int_eq(err.line, 5);
    ck_assert_int_eq(err.col, 1);
    ck_assert_ptr_nonnull(strstr(err.text, "line 2"));
    ck_assert_ptr_nonnull(strstr(err.text, "--duplicates"));
    ck_assert_ptr_nonnull(
        strstr(messages, "d.csv:5:1: error: user '1' rates item '1' again (first on line 2)"));
    ck_assert_ptr_nonnull(
        strstr(messages, "d.csv:6:1: error: user '2' rates item '1' again (first on line 4)"));
    ck_assert_ptr_nonnull(
        strstr(messages, "d.csv:7:1: error: user '1' rates item '1' again (first on line 2)"));
    ck_assert_int_eq(diag.errors, 3);
    ck_assert_int_eq(r.report.duplicates, 3);
    ck_assert_ptr_null(r.x.row_ptr);
}
END_TEST

START_TEST(duplicates_across_files_blocks_and_mirrored_entries_name_their_places)
{
    gcg_ratings r;
    const char *paths[] = {
        put("a.txt", "1:\n# c\n7,5\n8,3\n2:\n7,1\n"), put("b.txt", "1:\n\n8,2\n"),
        put("c.mtx", "%%MatrixMarket matrix coordinate real symmetric\n9 9 4\n2 1 5\n3 3 1\n4 1 1\n1 2 5\n")};
    ck_assert_int_eq(gcg_ratings_read(paths, 2, &options, &diag, &r, &err), GCG_ERR_DATA);
    ck_assert_int_eq(err.line, 3);
    ck_assert_str_eq(err.file, paths[1]);
    ck_assert_ptr_nonnull(strstr(err.text, "first on line 4 of "));
    ck_assert_ptr_nonnull(strstr(err.text, "a.txt"));
    messages[0] = '\0';
    diag.errors = diag.shown = 0;
    ck_assert_int_eq(gcg_ratings_read(paths + 2, 1, &options, &diag, &r, &err), GCG_ERR_DATA);
    ck_assert_int_eq(err.line, 6);
    ck_assert_ptr_nonnull(
        strstr(messages, "c.mtx:6:1: error: user '1' rates item '2' again (first on line 3)"));
    ck_assert_ptr_nonnull(
        strstr(messages, "c.mtx:6:1: error: user '2' rates item '1' again (first on line 3)"));
}
END_TEST

START_TEST(check_keeps_the_first_of_each_pair_while_refusing)
{
    gcg_ratings r;
    const char *path = put("d.csv", duplicate_text);
    options.keep_duplicates = 1;
    ck_assert_int_eq(gcg_ratings_read(&path, 1, &options, &diag, &r, &err), GCG_ERR_DATA);
    char *found = describe(&r);
    ck_assert_str_eq(found, "2 x 2, 3, float\n1: 1=5 2=3\n2: 1=4\n1 2 ");
    free(found);
    ck_assert_int_eq(r.report.duplicates, 3);
    gcg_ratings_release(&r);
}
END_TEST

START_TEST(duplicates_are_merged_as_asked)
{
    static const struct {
        gcg_duplicates policy;
        const char *want;
    } by[] = {{GCG_DUP_FIRST, "2 x 2, 3, float\n1: 1=5 2=3\n2: 1=4\n1 2 "},
              {GCG_DUP_LAST, "2 x 2, 3, float\n1: 1=1 2=3\n2: 1=4\n1 2 "},
              {GCG_DUP_MEAN, "2 x 2, 3, double\n1: 1=2.6666666666666665 2=3\n2: 1=4\n1 2 "},
              {GCG_DUP_SUM, "2 x 2, 3, float\n1: 1=8 2=3\n2: 1=8\n1 2 "}};
    const char *path = put("d.csv", duplicate_text);
    for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
        gcg_ratings r;
        options.duplicates = by[k].policy;
        read_one(path, &r);
        char *found = describe(&r);
        ck_assert_str_eq(found, by[k].want);
        free(found);
        ck_assert_int_eq(r.report.duplicates, 3);
        ck_assert_int_eq(r.report.merged_pairs, 2);
        gcg_ratings_release(&r);
    }
    ck_assert_ptr_nonnull(
        strstr(messages, "2 pairs occurred more than once and were merged (--duplicates sum)"));
    options.duplicates = GCG_DUP_FIRST; /* a double that loses leaves floats */
    expect_store(put("e.csv", "1,1,5\n1,1,0.1\n"), "1 x 1, 1, float\n1: 1=5\n1 ");
    options.duplicates = GCG_DUP_LAST;
    expect_store(put("f.csv", "1,1,5\n1,1,0.1\n"), "1 x 1, 1, double\n1: 1=0.10000000000000001\n1 ");
}
END_TEST

START_TEST(more_duplicates_than_are_shown_are_counted)
{
    size_t n = 0;
    for (int k = 0; k < 60; k++) n += (size_t)sprintf(text_buffer + n, "%d,1,%d\n", k % 20, k);
    const char *path = put("many.csv", text_buffer);
    gcg_ratings r;
    ck_assert_int_eq(gcg_ratings_read(&path, 1, &options, &diag, &r, &err), GCG_ERR_DATA);
    ck_assert_int_eq(diag.errors, 40);
    ck_assert_int_eq(err.line, 21);
    ck_assert_ptr_nonnull(strstr(messages, ":30:1: error: user '9' rates item '1' again (first on line 10)"));
    ck_assert_ptr_nonnull(strstr(messages, "30 more errors"));
}
END_TEST

/* Points of a pattern that is easy to check: user u, item i = (u * 37 + k * 101) mod ITEMS_BIG. */
enum { USERS_BIG = 700, ITEMS_BIG = 5003, PER_USER = 3100 };

static gcg_status count_long_rows(const gcg_ratings *r)
{
    for (int32_t u = 0; u < r->x.rows; u++) {
        if (r->x.row_ptr[u + 1] - r->x.row_ptr[u] != PER_USER) return GCG_ERR_INTERNAL;
        for (int64_t p = r->x.row_ptr[u] + 1; p < r->x.row_ptr[u + 1]; p++)
            if (r->x.col[p] <= r->x.col[p - 1]) return GCG_ERR_INTERNAL;
    }
    return GCG_OK;
}

START_TEST(more_points_than_fit_one_chunk_are_stored_as_well)
{
    ck_assert_int_gt((int64_t)USERS_BIG * PER_USER, 2 * GCG_POINTS_CHUNK);
    char path[128];
    gcg_ratings r;
    snprintf(path, sizeof path, "%s/big.csv", folder);
    FILE *f = fopen(path, "wb");
    for (int64_t k = 0; k < PER_USER; k++) /* every user's row is scattered over all chunks */
        for (int u = 0; u < USERS_BIG; u++) {
            int i = (int)((u * 37 + k * 101) % ITEMS_BIG);
            /* the first value that is not a float comes in the second chunk */
            fprintf(f, "%d,%d,%s\n", u, i, k == PER_USER - 1400 && u == 5 ? "0.1" : "3");
        }
    fclose(f);
    gcg_par_set_threads(_i);
    read_one(path, &r);
    ck_assert_int_eq(r.x.nnz, (int64_t)USERS_BIG * PER_USER);
    ck_assert_int_eq(count_long_rows(&r), GCG_OK);
    ck_assert_ptr_nonnull(r.x.val_d);
    int64_t p = gcg_csr_find(&r.x, 5, (int32_t)((5 * 37 + (PER_USER - 1400) * 101) % ITEMS_BIG));
    gcg_csr_stats s = gcg_csr_value_stats(&r.x);
    ck_assert(r.x.val_d[p] == 0.1 && s.min == 0.1 && s.max == 3);
    gcg_ratings_release(&r);
    f = fopen(path, "ab"); /* a duplicate at the very end */
    fprintf(f, "5,%d,3\n", 5 * 37);
    fclose(f);
    const char *name = path;
    ck_assert_int_eq(gcg_ratings_read(&name, 1, &options, &diag, &r, &err), GCG_ERR_DATA);
    ck_assert_int_eq(err.line, (int64_t)USERS_BIG * PER_USER + 1);
    ck_assert_ptr_nonnull(strstr(err.text, "first on line 6)"));
    unlink(path);
}
END_TEST

START_TEST(test_pairs_are_found_in_the_maps_and_unknown_ids_are_minus_one)
{
    gcg_ratings r;
    gcg_pairs p;
    gcg_read_report report;
    read_one(put("train.csv", "1,10,5\n2,20,3\n"), &r);
    const char *path = put("test.csv", "u,i,r\n2,20,1\n9,10,2\n1,99,3\n9,9,4\n2,20,1\n01,10,2\n");
    ck_assert_int_eq(gcg_pairs_read(&path, 1, &options, r.users, r.items, &diag, &p, &report, &err), GCG_OK);
    static const int32_t user[] = {1, -1, 0, -1, 1, -1}, item[] = {1, 0, -1, -1, 1, 0};
    static const double value[] = {1, 2, 3, 4, 1, 2};
    ck_assert_int_eq(p.n, 6);
    for (int k = 0; k < 6; k++) {
        ck_assert_int_eq(p.user[k], user[k]);
        ck_assert_int_eq(p.item[k], item[k]);
        ck_assert(p.value[k] == value[k]);
    }
    gcg_pairs_release(&p);
    path = put("empty.csv", "");
    ck_assert_int_eq(gcg_pairs_read(&path, 1, &options, r.users, r.items, &diag, &p, &report, &err), GCG_OK);
    ck_assert_int_eq(p.n, 0);
    gcg_pairs_release(&p);
    path = put("bad.csv", "1,10,5\n1,10,x\n");
    ck_assert_int_eq(gcg_pairs_read(&path, 1, &options, r.users, r.items, &diag, &p, &report, &err),
                     GCG_ERR_DATA);
    ck_assert_ptr_null(p.user);
    gcg_ratings_release(&r);
}
END_TEST

/* Every rating of data is in exactly one of train and test. */
static void check_split(const gcg_ratings *r, const gcg_pairs *test)
{
    ck_assert_int_eq(r->x.nnz + test->n, data_count);
    ck_assert_int_eq(r->x.row_ptr[r->x.rows], r->x.nnz);
    for (int64_t k = 0; k < test->n; k++) {
        ck_assert_int_lt(gcg_csr_find(&r->x, test->user[k], test->item[k]), 0);
        if (k > 0)
            ck_assert(test->user[k] > test->user[k - 1] ||
                      (test->user[k] == test->user[k - 1] && test->item[k] > test->item[k - 1]));
    }
    for (int d = 0; d < data_count; d++) {
        char id[16];
        int32_t u = gcg_idmap_find(r->users, id, (size_t)sprintf(id, "%d", data[d].user));
        int32_t i = gcg_idmap_find(r->items, id, (size_t)sprintf(id, "%d", data[d].item));
        int64_t p = gcg_csr_find(&r->x, u, i);
        double value = p >= 0 ? gcg_csr_value(&r->x, p) : NAN;
        for (int64_t k = 0; p < 0 && k < test->n; k++)
            if (test->user[k] == u && test->item[k] == i) value = test->value[k];
        ck_assert(value == data[d].value);
    }
}

/* K parts are all ratings between them, and each leaves the others, in order and unchanged. */
START_TEST(parts_are_all_ratings_between_them_and_leave_the_store_alone)
{
    enum { PARTS = 4 };
    gcg_ratings r;
    gcg_pairs part, held;
    gcg_csr rest;
    int64_t total = 0;
    random_data(3, 1);
    read_one(write_triples("a.csv", "", ",", "\n"), &r);
    int *seen = calloc((size_t)r.x.nnz, sizeof *seen);
    for (int k = 0; k < PARTS; k++) {
        ck_assert_int_eq(
            gcg_ratings_part(&r, k / (double)PARTS, (k + 1) / (double)PARTS, 42, &rest, &part, &err), GCG_OK);
        total += part.n;
        ck_assert(part.n > 0 && rest.nnz + part.n == r.x.nnz && rest.rows == r.x.rows &&
                  rest.cols == r.x.cols);
        for (int64_t p = 0; p < part.n; p++) {
            int64_t at = gcg_csr_find(&r.x, part.user[p], part.item[p]);
            ck_assert(at >= 0 && gcg_csr_value(&r.x, at) == part.value[p]);
            ck_assert_int_lt(gcg_csr_find(&rest, part.user[p], part.item[p]), 0);
            seen[at]++;
        }
        for (int32_t i = 0; i < r.x.rows; i++)
            for (int64_t p = rest.row_ptr[i]; p < rest.row_ptr[i + 1]; p++)
                ck_assert(gcg_csr_value(&rest, p) == gcg_csr_value(&r.x, gcg_csr_find(&r.x, i, rest.col[p])));
        gcg_csr_release(&rest);
        gcg_pairs_release(&part);
    }
    ck_assert_int_eq(total, r.x.nnz);
    for (int64_t p = 0; p < r.x.nnz; p++) ck_assert_int_eq(seen[p], 1);
    ck_assert_int_eq(gcg_ratings_part(&r, 0, 0, 42, &rest, &part, &err), GCG_OK);
    ck_assert(part.n == 0 && rest.nnz == r.x.nnz);
    gcg_csr_release(&rest);
    gcg_pairs_release(&part);
    ck_assert_int_eq(gcg_ratings_part(&r, 0, 1, 42, &rest, &part, &err), GCG_ERR_DATA);
    /* the first part is what a hold-out takes */
    ck_assert_int_eq(gcg_ratings_part(&r, 0, 0.25, 42, &rest, &part, &err), GCG_OK);
    ck_assert_int_eq(gcg_ratings_hold_out(&r, 0.25, 42, &held, &err), GCG_OK);
    ck_assert(held.n == part.n && memcmp(held.item, part.item, (size_t)part.n * sizeof *part.item) == 0);
    ck_assert(rest.nnz == r.x.nnz && memcmp(rest.col, r.x.col, (size_t)rest.nnz * sizeof *rest.col) == 0);
    free(seen);
    gcg_csr_release(&rest);
    gcg_pairs_release(&part);
    gcg_pairs_release(&held);
    gcg_ratings_release(&r);
}
END_TEST

START_TEST(a_hold_out_depends_on_the_seed_and_the_ids_not_on_the_lines)
{
    gcg_ratings r;
    gcg_pairs first, again, other;
    random_data(3, _i);
    read_one(write_triples("a.csv", "", ",", "\n"), &r);
    ck_assert_int_eq(gcg_ratings_hold_out(&r, 0.25, 42, &first, &err), GCG_OK);
    check_split(&r, &first);
    ck_assert(first.n > data_count / 8 && first.n < data_count / 2);
    gcg_ratings_release(&r);
    shuffle(5);
    read_one(write_triples("b.csv", "", "\t", "\n"), &r);
    ck_assert_int_eq(gcg_ratings_hold_out(&r, 0.25, 42, &again, &err), GCG_OK);
    ck_assert_int_eq(first.n, again.n);
    ck_assert(memcmp(first.user, again.user, (size_t)first.n * sizeof *first.user) == 0);
    ck_assert(memcmp(first.item, again.item, (size_t)first.n * sizeof *first.item) == 0);
    ck_assert_int_eq(gcg_ratings_hold_out(&r, 0.25, 43, &other, &err), GCG_OK);
    ck_assert(other.n != first.n ||
              memcmp(first.item, other.item, (size_t)first.n * sizeof *first.item) != 0);
    gcg_pairs_release(&first);
    gcg_pairs_release(&again);
    gcg_pairs_release(&other);
    ck_assert_int_eq(gcg_ratings_hold_out(&r, 1, 1, &first, &err), GCG_ERR_DATA);
    gcg_ratings_release(&r);
}
END_TEST

START_TEST(test_pairs_leave_the_training_set_with_their_ratings)
{
    gcg_ratings r;
    gcg_pairs pairs, test;
    gcg_read_report report;
    int64_t missing;
    random_data(6, 1);
    read_one(write_triples("a.csv", "", ",", "\n"), &r);
    int n = sprintf(text_buffer, "777:\n5\n"); /* not in training */
    for (int k = 0; k < data_count; k += 9)
        n += sprintf(text_buffer + n, "%d:\n%d\n", data[k].item, data[k].user);
    sprintf(text_buffer + n, "%d:\n%d\n", data[0].item, data[0].user); /* twice: moved once */
    const char *path = put("probe.txt", text_buffer);
    options.pairs = 1;
    ck_assert_int_eq(gcg_pairs_read(&path, 1, &options, r.users, r.items, &diag, &pairs, &report, &err),
                     GCG_OK);
    ck_assert_int_eq(gcg_ratings_take_pairs(&r, &pairs, &test, &missing, &err), GCG_OK);
    ck_assert_int_eq(missing, 1);
    ck_assert_int_eq(test.n, (data_count + 8) / 9);
    check_split(&r, &test);
    gcg_pairs_release(&pairs);
    gcg_pairs_release(&test);
    gcg_ratings_release(&r);
}
END_TEST

/* Rating and weight of user u and item i: each pair has its own. */
static double rating_of(int u, int i)
{
    return (u * 7 + i) % 11;
}

static float weight_of(int u, int i)
{
    return (float)(1 + u * 50 + i) / 8;
}

static void check_weights(const gcg_ratings *r, const gcg_csr *x)
{
    char name[GCG_ID_TEXT];
    for (int32_t k = 0; k < x->rows; k++)
        for (int64_t p = x->row_ptr[k]; p < x->row_ptr[k + 1]; p++) {
            name[gcg_idmap_name(r->users, k, name)] = '\0';
            int u = atoi(name);
            name[gcg_idmap_name(r->items, x->col[p], name)] = '\0';
            ck_assert_double_eq(gcg_csr_value(x, p), rating_of(u, atoi(name)));
            ck_assert_float_eq(x->weight[p], weight_of(u, atoi(name)));
        }
}

/* In lines of any order, read in pieces of any size; in the parts that a store is cut into; transposed. */
START_TEST(weights_go_with_their_ratings)
{
    enum { M = 40, N = 45 };
    static const int64_t block[] = {0, 1, 700};
    gcg_ratings r;
    gcg_pairs test, part;
    gcg_csr rest, turned, back;
    int n = 0;
    for (int k = 0; k < M * N; k++) { /* 1,111 and 1,800 have no common factor */
        int e = k * 1111 % (M * N), u = e / N, i = e % N;
        n += sprintf(text_buffer + n, "%d,%.6g,%d,%g\n", u, (double)weight_of(u, i), i, rating_of(u, i));
    }
    const char *path = put("weighted.csv", text_buffer);
    options.columns = "1,3,4";
    options.weights = "2";
    options.block = block[_i];
    ck_assert_msg(gcg_ratings_read(&path, 1, &options, &diag, &r, &err) == GCG_OK, "%s", err.text);
    ck_assert_int_eq(r.x.nnz, M * N);
    check_weights(&r, &r.x);
    ck_assert_int_eq(gcg_ratings_part(&r, 0.3, 0.6, 1, &rest, &part, &err), GCG_OK);
    check_weights(&r, &rest);
    ck_assert_int_eq(gcg_csr_transpose(&rest, &turned, &err), GCG_OK);
    ck_assert_int_eq(gcg_csr_transpose(&turned, &back, &err), GCG_OK);
    ck_assert_mem_eq(back.weight, rest.weight, (size_t)rest.nnz * sizeof *rest.weight);
    ck_assert(memcmp(turned.weight, rest.weight, (size_t)rest.nnz * sizeof *rest.weight) != 0);
    ck_assert_int_eq(gcg_ratings_hold_out(&r, 0.3, 1, &test, &err), GCG_OK);
    ck_assert_int_lt(r.x.nnz, M * N);
    check_weights(&r, &r.x);
    gcg_csr_release(&rest);
    gcg_csr_release(&turned);
    gcg_csr_release(&back);
    gcg_pairs_release(&part);
    gcg_pairs_release(&test);
    gcg_ratings_release(&r);
}
END_TEST

/* Reads, merges or refuses, holds out and takes pairs, with the n-th allocation failing. */
static gcg_status whole_way(const char *path, const char *probe)
{
    gcg_ratings r;
    gcg_pairs test = {0}, pairs = {0}, taken = {0}, part = {0};
    gcg_csr rest = {0};
    gcg_read_report report;
    int64_t missing;
    gcg_read_options plain = options;
    plain.weights = NULL;
    gcg_status status = gcg_ratings_read(&path, 1, &options, &diag, &r, &err);
    if (status == GCG_OK) status = gcg_ratings_part(&r, 0.8, 1, 1, &rest, &part, &err);
    if (status == GCG_OK) status = gcg_ratings_hold_out(&r, 0.3, 1, &test, &err);
    if (status == GCG_OK)
        status = gcg_pairs_read(&probe, 1, &plain, r.users, r.items, &diag, &pairs, &report, &err);
    if (status == GCG_OK) status = gcg_ratings_take_pairs(&r, &pairs, &taken, &missing, &err);
    gcg_pairs_release(&test);
    gcg_pairs_release(&pairs);
    gcg_pairs_release(&taken);
    gcg_pairs_release(&part);
    gcg_csr_release(&rest);
    gcg_ratings_release(&r);
    return status;
}

START_TEST(failing_memory_is_reported_everywhere)
{
    static const gcg_duplicates policy[] = {GCG_DUP_MEAN, GCG_DUP_LAST, GCG_DUP_ERROR, GCG_DUP_ERROR,
                                            GCG_DUP_ERROR};
    static const char weighted[] =
        "b,y,1,2\na,x,3,0.5\na,y,2,1\nb,x,4,3\nc,x,1,1\nc,y,2,2\nd,x,4,1\nd,y,3,1\n";
    const char *path = put("d.csv", _i == 4   ? weighted
                                    : _i == 3 ? "a,x,0.5\nb,y,0.1\na,y,4\nb,x,4\nc,x,1\n"
                                              : duplicate_text);
    const char *probe = put("p.csv", "1,1,2\n1,2,2\n");
    gcg_status last = _i == 2 ? GCG_ERR_DATA : GCG_OK;
    options.duplicates = policy[_i];
    options.weights = _i == 4 ? "4" : NULL;
    for (int64_t n = 1;; n++) {
        diag = (gcg_diag){0};
        gcg_mem_fail_at(n);
        gcg_status status = whole_way(path, probe);
        gcg_mem_fail_at(0);
        ck_assert_int_eq(gcg_mem_blocks(), 0);
        if (status == last) break;
        ck_assert_int_eq(status, GCG_ERR_NOMEM);
        ck_assert_ptr_nonnull(strstr(err.text, "out of memory"));
        ck_assert_int_lt(n, 500);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ratings");
    TCase *t = tcase_create("ratings");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, every_format_and_order_of_lines_gives_the_same_store, 0, 4);
    tcase_add_test(t, a_matrixmarket_file_keeps_its_empty_rows_and_columns);
    tcase_add_test(t, several_files_are_read_as_one);
    tcase_add_test(t, a_folder_stands_for_its_netflix_files_in_byte_order);
    tcase_add_test(t, a_folder_without_netflix_files_and_a_missing_file_are_io_errors);
    tcase_add_test(t, a_file_without_ratings_is_refused);
    tcase_add_test(t, duplicates_are_refused_with_both_lines);
    tcase_add_test(t, duplicates_across_files_blocks_and_mirrored_entries_name_their_places);
    tcase_add_test(t, check_keeps_the_first_of_each_pair_while_refusing);
    tcase_add_test(t, duplicates_are_merged_as_asked);
    tcase_add_test(t, more_duplicates_than_are_shown_are_counted);
    tcase_add_loop_test(t, more_points_than_fit_one_chunk_are_stored_as_well, 1, 3);
    tcase_add_test(t, test_pairs_are_found_in_the_maps_and_unknown_ids_are_minus_one);
    tcase_add_test(t, parts_are_all_ratings_between_them_and_leave_the_store_alone);
    tcase_add_loop_test(t, a_hold_out_depends_on_the_seed_and_the_ids_not_on_the_lines, 0, 2);
    tcase_add_test(t, test_pairs_leave_the_training_set_with_their_ratings);
    tcase_add_loop_test(t, weights_go_with_their_ratings, 0, 3);
    tcase_add_loop_test(t, failing_memory_is_reported_everywhere, 0, 5);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
