/* The binary store: what is written is read back, and nothing that is damaged is taken. */
#define _XOPEN_SOURCE 700
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "io/gcs.h"
#include "io/gcs_write.h"
#include "io/ratings_text.h"

static gcg_err err;
static char folder[64];

/* ---- a file in memory ---- */

typedef struct {
    unsigned char *bytes;
    size_t size;
} file;

static gcg_status append(void *user, const void *bytes, size_t length, gcg_err *e)
{
    file *f = user;
    (void)e;
    f->bytes = realloc(f->bytes, f->size + length + 1);
    if (length > 0) memcpy(f->bytes + f->size, bytes, length);
    f->size += length;
    return GCG_OK;
}

static gcg_sink to_file(file *f)
{
    return (gcg_sink){append, f};
}

static void file_release(file *f)
{
    free(f->bytes);
    *f = (file){0};
}

/* An exact copy, so that a sanitizer sees one byte too far. */
static unsigned char *exact_copy(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    return copy;
}

/* Opens the first size bytes of f; out may be NULL. The ratings' memory is freed by the caller. */
static gcg_status open_bytes(const unsigned char *bytes, size_t size, gcg_ratings *out)
{
    gcg_mapping *map;
    gcg_gcs g = {0};
    gcg_status status = gcg_mapping_of_memory(bytes, (int64_t)size, &map, &err);
    if (status != GCG_OK) return status;
    status = gcg_gcs_open_mapping(&g, map, "f.gcs", &err);
    if (status != GCG_OK) return status;
    gcg_ratings r = {0};
    status = gcg_gcs_take(&g, &r, &err);
    gcg_gcs_close(&g);
    if (out)
        *out = r;
    else
        gcg_ratings_release(&r);
    return status;
}

/* ---- ratings ---- */

typedef struct {
    int32_t rows, cols;
    int64_t n;
    int as_double, names;
} shape;

static void add_ids(gcg_idmap *map, int32_t count, int names)
{
    int32_t index;
    for (int32_t k = 0; k < count; k++) {
        char id[32];
        int length = snprintf(id, sizeof id, names ? "n%06d \xc3\xa9\"" : "%d", (int)k + 1);
        ck_assert_int_eq(gcg_idmap_add(map, id, (size_t)length, &index, NULL), GCG_OK);
        ck_assert_int_eq(index, k);
    }
}

/* n ratings (fewer where a pair is drawn twice) of random pairs; the last row and column stay empty. */
static void make(gcg_ratings *r, shape s)
{
    gcg_rng rng;
    gcg_rng_init(&rng, 5, (uint64_t)s.n);
    int64_t cells = (int64_t)(s.rows - 1) * (s.cols - 1), step = cells / s.n, n = 0;
    int32_t *row = malloc((size_t)s.n * 4), *col = malloc((size_t)s.n * 4);
    double *value = malloc((size_t)s.n * 8);
    for (int64_t k = 0; k < s.n; k++, n++) {
        int64_t cell = k * step + (int64_t)gcg_rng_below(&rng, (uint64_t)step);
        row[n] = (int32_t)(cell / (s.cols - 1));
        col[n] = (int32_t)(cell % (s.cols - 1));
        value[n] = s.as_double ? gcg_rng_normal(&rng) : (double)gcg_rng_below(&rng, 11) / 2 - 1;
    }
    *r = (gcg_ratings){.report.duplicates = 3};
    ck_assert_int_eq(gcg_csr_from_triples(&r->x, s.rows, s.cols, n, row, col, value, &err), GCG_OK);
    ck_assert_int_eq(gcg_idmap_new(&r->users, NULL), GCG_OK);
    ck_assert_int_eq(gcg_idmap_new(&r->items, NULL), GCG_OK);
    add_ids(r->users, s.rows, s.names);
    add_ids(r->items, s.cols, 0);
    free(row);
    free(col);
    free(value);
}

static void same_ids(const gcg_idmap *a, const gcg_idmap *b)
{
    char x[GCG_ID_TEXT], y[GCG_ID_TEXT];
    ck_assert_int_eq(gcg_idmap_count(a), gcg_idmap_count(b));
    for (int32_t k = 0; k < gcg_idmap_count(a); k++) {
        size_t length = gcg_idmap_name(a, k, x);
        ck_assert_uint_eq(gcg_idmap_name(b, k, y), length);
        ck_assert_mem_eq(x, y, length);
        ck_assert_int_eq(gcg_idmap_find(b, x, length), k);
    }
}

static void same_ratings(const gcg_ratings *a, const gcg_ratings *b)
{
    ck_assert_int_eq(a->x.rows, b->x.rows);
    ck_assert_int_eq(a->x.cols, b->x.cols);
    ck_assert_int_eq(a->x.nnz, b->x.nnz);
    ck_assert_mem_eq(a->x.row_ptr, b->x.row_ptr, ((size_t)a->x.rows + 1) * 8);
    ck_assert_mem_eq(a->x.col, b->x.col, (size_t)a->x.nnz * 4);
    ck_assert_int_eq(a->x.val_f != NULL, b->x.val_f != NULL);
    if (a->x.val_f)
        ck_assert_mem_eq(a->x.val_f, b->x.val_f, (size_t)a->x.nnz * 4);
    else
        ck_assert_mem_eq(a->x.val_d, b->x.val_d, (size_t)a->x.nnz * 8);
    same_ids(a->users, b->users);
    same_ids(a->items, b->items);
}

static const shape small = {.rows = 30, .cols = 20, .n = 100};

static void write_small(file *f)
{
    gcg_ratings r;
    make(&r, small);
    ck_assert_int_eq(gcg_gcs_write(&r, to_file(f), &err), GCG_OK);
    gcg_ratings_release(&r);
}

/* ---- putting right the check sums of a changed file ---- */

static uint64_t number_at(const file *f, size_t at)
{
    uint64_t value = 0;
    for (int k = 7; k >= 0; k--) value = value << 8 | f->bytes[at + (size_t)k];
    return value;
}

static void put_number(file *f, size_t at, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++) f->bytes[at + (size_t)k] = (unsigned char)(value >> (8 * k));
}

/* Places as gcg-mc-data(5) gives them. */
enum { PAGE = 4096, TABLE = 48, SUMS_HASH = 144, HEADER_HASH = 4088 };

static size_t section_at(const file *f, int section)
{
    return (size_t)number_at(f, TABLE + 16 * (size_t)section);
}

static void seal_header(file *f)
{
    put_number(f, HEADER_HASH, gcg_gcs_hash(f->bytes, HEADER_HASH), 8);
}

/* For sections of one chunk each. */
static void seal(file *f)
{
    for (int k = 0; k < 5; k++)
        put_number(
            f, section_at(f, 5) + 8 * (size_t)k,
            gcg_gcs_hash(f->bytes + section_at(f, k), (int64_t)number_at(f, TABLE + 16 * (size_t)k + 8)), 8);
    put_number(f, SUMS_HASH, gcg_gcs_hash(f->bytes + section_at(f, 5), 40), 8);
    seal_header(f);
}

/* ---- tests ---- */

START_TEST(a_store_is_read_back_as_it_was_written)
{
    for (int kind = 0; kind < 4; kind++) {
        gcg_ratings r, again;
        file f = {0};
        shape s = {.rows = 40, .cols = 25, .n = 300, .as_double = kind & 1, .names = kind >> 1};
        make(&r, s);
        ck_assert_int_eq(gcg_gcs_write(&r, to_file(&f), &err), GCG_OK);
        unsigned char *copy = exact_copy(f.bytes, f.size);
        ck_assert_msg(open_bytes(copy, f.size, &again) == GCG_OK, "%s", err.text);
        same_ratings(&r, &again);
        ck_assert_int_eq(again.report.format, GCG_FORMAT_GCS);
        ck_assert_int_eq(again.report.duplicates, 3);
        ck_assert_ptr_nonnull(again.x.map);
        gcg_ratings_release(&again);
        gcg_ratings_release(&r);
        free(copy);
        file_release(&f);
        ck_assert_int_eq(gcg_mem_blocks(), 0);
    }
}
END_TEST

/* The definition in gcg-mc-data(5), word for word. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t documented_hash(const unsigned char *bytes, size_t length)
{
    uint64_t s[4] = {1, 2, 3, 4};
    for (size_t word = 0; word < (length + 31) / 32 * 4; word++) {
        uint64_t w = 0;
        for (size_t k = 0; k < 8; k++)
            if (8 * word + k < length) w |= (uint64_t)bytes[8 * word + k] << (8 * k);
        uint64_t x = s[word % 4] ^ w;
        s[word % 4] = (x << 29 | x >> 35) * 0x9fb21c651e98df25u;
    }
    uint64_t h = mix(length);
    for (int k = 0; k < 4; k++) h = mix(h ^ s[k]);
    return h;
}

START_TEST(the_hash_is_the_documented_one)
{
    unsigned char bytes[200];
    for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)(k * 37 + 11);
    for (size_t length = 0; length <= sizeof bytes; length++)
        ck_assert(gcg_gcs_hash(bytes, (int64_t)length) == documented_hash(bytes, length));
}
END_TEST

START_TEST(the_layout_is_the_documented_one)
{
    file f = {0};
    gcg_ratings r;
    make(&r, small);
    ck_assert_int_eq(gcg_gcs_write(&r, to_file(&f), &err), GCG_OK);
    ck_assert_mem_eq(f.bytes, "\x89GCS\r\n\x1a\n\4\3\2\1\1\0\0", 16);
    ck_assert_uint_eq(number_at(&f, 16), f.size);
    ck_assert_uint_eq(number_at(&f, 24), 30 | (uint64_t)20 << 32);
    ck_assert_uint_eq(number_at(&f, 32), 100);
    ck_assert_uint_eq(number_at(&f, 40), 4);
    ck_assert_uint_eq(number_at(&f, 152), 3);  /* duplicates */
    ck_assert_uint_eq(number_at(&f, 160), 30); /* the last user and item have no rating */
    ck_assert_uint_eq(number_at(&f, 168), 20);
    ck_assert(number_at(&f, HEADER_HASH) == documented_hash(f.bytes, HEADER_HASH));
    for (int k = 0; k < 6; k++) ck_assert_uint_eq(section_at(&f, k) % PAGE, 0);
    ck_assert_mem_eq(f.bytes + section_at(&f, 0), "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", 24);
    ck_assert_mem_eq(f.bytes + section_at(&f, 2), r.x.row_ptr, 31 * 8);
    ck_assert_mem_eq(f.bytes + section_at(&f, 3), r.x.col, 100 * 4);
    ck_assert_mem_eq(f.bytes + section_at(&f, 4), r.x.val_f, 100 * 4);
    ck_assert_uint_eq(section_at(&f, 5) + 40, f.size);
    gcg_ratings_release(&r);
    file_release(&f);
}
END_TEST

START_TEST(no_changed_byte_goes_unnoticed)
{
    file f = {0};
    write_small(&f);
    for (size_t at = 0; at < f.size; at++) {
        unsigned char kept = f.bytes[at];
        f.bytes[at] ^= (unsigned char)(1 << at % 8);
        ck_assert_msg(open_bytes(f.bytes, f.size, NULL) == GCG_ERR_DATA, "byte %zu", at);
        f.bytes[at] = kept;
    }
    ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), GCG_OK);
    file_release(&f);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(a_damaged_section_is_named)
{
    static const char *const name[] = {"user ids", "item ids", "row starts", "columns", "ratings"};
    for (int section = 0; section < 5; section++) {
        file f = {0};
        write_small(&f);
        f.bytes[section_at(&f, section)] ^= 1;
        ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), GCG_ERR_DATA);
        ck_assert_msg(strstr(err.text, name[section]) && strstr(err.text, "check sum"), "%s", err.text);
        ck_assert_str_eq(err.file, "f.gcs");
        file_release(&f);
    }
}
END_TEST

START_TEST(a_file_that_is_cut_short_is_refused_at_any_length)
{
    file f = {0};
    write_small(&f);
    for (size_t size = 0; size < f.size; size++) {
        if (size % 41 && size % PAGE > 1 && f.size - size > 50)
            continue; /* all near a page's start, some others */
        unsigned char *copy = exact_copy(f.bytes, size);
        ck_assert_int_eq(open_bytes(copy, size, NULL), GCG_ERR_DATA);
        ck_assert_msg(strstr(err.text, size < 8 ? "not a binary store" : "cut short"), "%zu: %s", size,
                      err.text);
        free(copy);
    }
    append(&f, "x", 1, NULL);
    ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), GCG_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.text, "1 bytes follow"));
    file_release(&f);
}
END_TEST

static void header_is_refused(size_t at, uint64_t value, int bytes, const char *says)
{
    file f = {0};
    write_small(&f);
    put_number(&f, at, value, bytes);
    seal_header(&f);
    ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), GCG_ERR_DATA);
    ck_assert_msg(strstr(err.text, says), "%s", err.text);
    file_release(&f);
}

START_TEST(other_byte_orders_and_newer_versions_are_refused)
{
    header_is_refused(8, 0x04030201, 4, "big-endian");
    header_is_refused(8, 0x02010403, 4, "check sum of its header");
    header_is_refused(12, 3, 4, "version 3, this gcg-mc reads version 2");
    header_is_refused(12, 2, 4, "contradict"); /* no weights */
    header_is_refused(12, 0xffffffff, 4, "version 4294967295");
    header_is_refused(12, 0, 4, "check sum of its header");
    header_is_refused(0, 'P', 1, "not a binary store");
}
END_TEST

START_TEST(a_header_that_contradicts_itself_is_refused)
{
    static const uint64_t value[] = {0,
                                     1,
                                     7,
                                     29,
                                     31,
                                     101,
                                     1 << 20,
                                     INT32_MAX,
                                     UINT32_MAX,
                                     INT64_MAX,
                                     UINT64_MAX,
                                     INT64_MAX / 4,
                                     INT64_MAX / 8,
                                     (uint64_t)1 << 61};
    static const struct {
        size_t at;
        int bytes;
    } field[] = {{24, 4}, {28, 4}, {32, 8}, {40, 4}, {44, 4}, {176, 8}, {2000, 8}, {4080, 8}};
    file f = {0};
    write_small(&f);
    for (size_t k = 0; k < sizeof field / sizeof *field + 13; k++)
        for (size_t v = 0; v < sizeof value / sizeof *value; v++) {
            /* counts, then file size, offsets and sizes */
            size_t more = k - sizeof field / sizeof *field, at = more == 0 ? 16 : TABLE + 8 * (more - 1);
            int bytes = 8;
            if (k < sizeof field / sizeof *field) at = field[k].at, bytes = field[k].bytes;
            file changed = {exact_copy(f.bytes, f.size), f.size};
            put_number(&changed, at, value[v], bytes);
            if (memcmp(changed.bytes, f.bytes, f.size) != 0) {
                seal_header(&changed);
                ck_assert_msg(open_bytes(changed.bytes, f.size, NULL) == GCG_ERR_DATA, "%zu at %zu", v, at);
            }
            file_release(&changed);
        }
    header_is_refused(152, UINT64_MAX, 8, "contradict");
    header_is_refused(160, 31, 8, "contradict");
    header_is_refused(168, 21, 8, "contradict");
    file_release(&f);
}
END_TEST

/* A change inside a section under right check sums. */
static void content_is_refused(int section, size_t at, const void *bytes, size_t length, const char *says)
{
    file f = {0};
    write_small(&f);
    memcpy(f.bytes + section_at(&f, section) + at, bytes, length);
    seal(&f);
    ck_assert_msg(open_bytes(f.bytes, f.size, NULL) == GCG_ERR_DATA, "%s", says);
    ck_assert_msg(strstr(err.text, says), "%s", err.text);
    file_release(&f);
}

START_TEST(content_that_is_no_matrix_is_refused_under_right_check_sums)
{
    const int64_t one = 1, many = 101, negative = -1;
    const int32_t none = -1, beyond = 20, huge = INT32_MAX;
    const uint32_t infinite = 0x7f800000, nan_bits = 0xffc00001;
    content_is_refused(2, 0, &one, 8, "row starts");
    content_is_refused(2, 8, &many, 8, "row starts");
    content_is_refused(2, 8, &negative, 8, "row starts");
    content_is_refused(2, 30 * 8, &many, 8, "row starts");
    content_is_refused(3, 0, &none, 4, "columns");
    content_is_refused(3, 99 * 4, &beyond, 4, "columns");
    content_is_refused(3, 4, &huge, 4, "columns");
    content_is_refused(3, 4, "\0\0\0\0", 4, "columns"); /* twice the same, or not ascending */
    content_is_refused(4, 0, &infinite, 4, "ratings");
    content_is_refused(4, 99 * 4, &nan_bits, 4, "ratings");
    content_is_refused(0, 1, "1", 1, "user ids"); /* an LF less */
    content_is_refused(0, 0, "\n", 1, "user ids");
    content_is_refused(1, 0, "\t", 1, "item ids");
    content_is_refused(1, 0, "\0", 1, "item ids");
    content_is_refused(1, 0, "\x7f", 1, "item ids");
    content_is_refused(0, 0, "2", 1, "not distinct and in order"); /* twice */
    content_is_refused(0, 0, "9", 1, "not distinct and in order");
    content_is_refused(1, 0, "a", 1, "not distinct and in order"); /* now names, not ascending as bytes */
}
END_TEST

START_TEST(negative_and_long_numbers_keep_their_order)
{
    static const char *const id[] = {"-9223372036854775808", "-10", "-9", "0", "3", "20",
                                     "9223372036854775807"};
    enum { IDS = sizeof id / sizeof *id };
    const int32_t row[] = {0, 1, 2, 3, 4, 5, 6}, col[] = {0, 0, 0, 0, 0, 0, 0};
    const double value[] = {1, 2, 3, 4, 5, 6, 7};
    int32_t index;
    gcg_ratings r = {0}, again;
    file f = {0};
    ck_assert_int_eq(gcg_csr_from_triples(&r.x, IDS, 1, IDS, row, col, value, &err), GCG_OK);
    ck_assert_int_eq(gcg_idmap_new(&r.users, NULL) | gcg_idmap_new(&r.items, NULL), GCG_OK);
    for (int k = 0; k < IDS; k++)
        ck_assert_int_eq(gcg_idmap_add(r.users, id[k], strlen(id[k]), &index, NULL), GCG_OK);
    ck_assert_int_eq(gcg_idmap_add(r.items, "", 0, &index, NULL), GCG_OK); /* never made by a reader */
    ck_assert_int_eq(gcg_gcs_write(&r, to_file(&f), &err), GCG_OK);
    ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), GCG_ERR_DATA); /* an empty id */
    file_release(&f);
    gcg_idmap_free(r.items);
    ck_assert_int_eq(gcg_idmap_new(&r.items, NULL), GCG_OK);
    ck_assert_int_eq(gcg_idmap_add(r.items, "x", 1, &index, NULL), GCG_OK);
    ck_assert_int_eq(gcg_gcs_write(&r, to_file(&f), &err), GCG_OK);
    ck_assert_msg(open_bytes(f.bytes, f.size, &again) == GCG_OK, "%s", err.text);
    same_ratings(&r, &again);
    gcg_ratings_release(&again);
    gcg_ratings_release(&r);
    file_release(&f);
}
END_TEST

START_TEST(stores_of_many_chunks_are_checked_chunk_by_chunk)
{
    enum { CHUNK = 4 << 20 };
    const shape s = {.rows = 4000, .cols = 3000, .n = 1100000, .as_double = 1};
    gcg_ratings r, again;
    file f = {0}, one = {0};
    make(&r, s);
    ck_assert_int_eq(gcg_gcs_write(&r, to_file(&one), &err), GCG_OK);
    gcg_par_set_threads(3);
    ck_assert_int_eq(gcg_gcs_write(&r, to_file(&f), &err), GCG_OK);
    ck_assert_uint_eq(f.size, one.size);
    ck_assert_mem_eq(f.bytes, one.bytes, f.size);
    ck_assert_msg(open_bytes(f.bytes, f.size, &again) == GCG_OK, "%s", err.text);
    same_ratings(&r, &again);
    gcg_ratings_release(&again);
    const size_t places[] = {section_at(&f, 3) + CHUNK - 1, section_at(&f, 3) + CHUNK,
                             section_at(&f, 4) + CHUNK, section_at(&f, 4) + 2 * CHUNK + 17,
                             section_at(&f, 5) + 8};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        char bytes[64];
        size_t chunk = (places[k] - section_at(&f, 3)) / CHUNK * CHUNK + section_at(&f, 3);
        if (k >= 2) chunk = (places[k] - section_at(&f, 4)) / CHUNK * CHUNK + section_at(&f, 4);
        f.bytes[places[k]] ^= 0x40;
        ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), GCG_ERR_DATA);
        snprintf(bytes, sizeof bytes, k == 4 ? "check sum of the check sums" : "(bytes %zu to ", chunk);
        ck_assert_msg(strstr(err.text, bytes), "%s: %s", bytes, err.text);
        f.bytes[places[k]] ^= 0x40;
    }
    /* a column equal to the one before, on both sides of a chunk's start */
    gcg_par_set_threads(1);
    gcg_ratings_release(&r);
    file_release(&f);
    file_release(&one);
}
END_TEST

START_TEST(columns_are_compared_across_chunks)
{
    enum { CHUNK_RATINGS = 1 << 20 };
    const shape s = {.rows = 3, .cols = 1200002, .n = 1200000}; /* 600000 in each of two rows */
    gcg_ratings r;
    file f = {0};
    make(&r, s);
    ck_assert(r.x.row_ptr[1] < CHUNK_RATINGS && r.x.row_ptr[2] > CHUNK_RATINGS);
    r.x.col[CHUNK_RATINGS] = r.x.col[CHUNK_RATINGS - 1];
    ck_assert_int_eq(gcg_gcs_write(&r, to_file(&f), &err), GCG_OK);
    ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), GCG_ERR_DATA);
    ck_assert_msg(strstr(err.text, "columns are not those"), "%s", err.text);
    file_release(&f);
    gcg_ratings_release(&r);
}
END_TEST

START_TEST(failing_memory_is_reported_by_writer_and_reader)
{
    gcg_ratings r;
    file f = {0};
    make(&r, (shape){.rows = 30, .cols = 20, .n = 100, .names = 1});
    int64_t blocks = gcg_mem_blocks();
    for (int64_t n = 1;; n++) {
        file_release(&f);
        gcg_mem_fail_at(n);
        gcg_status status = gcg_gcs_write(&r, to_file(&f), &err);
        gcg_mem_fail_at(0);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
        if (status == GCG_OK) break;
        ck_assert_int_eq(status, GCG_ERR_NOMEM);
        ck_assert_int_lt(n, 100);
    }
    for (int64_t n = 1;; n++) {
        gcg_mem_fail_at(n);
        gcg_status status = open_bytes(f.bytes, f.size, NULL);
        gcg_mem_fail_at(0);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
        if (status == GCG_OK) break;
        ck_assert_int_eq(status, GCG_ERR_NOMEM);
        ck_assert_int_lt(n, 100);
    }
    for (int64_t n = 1;; n++) {
        file text = {0};
        gcg_mem_fail_at(n);
        gcg_status status = gcg_ratings_write_text(&r, GCG_FORMAT_TSV, to_file(&text), &err);
        gcg_mem_fail_at(0);
        file_release(&text);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
        if (status == GCG_OK) break;
        ck_assert_int_eq(status, GCG_ERR_NOMEM);
        ck_assert_int_lt(n, 100);
    }
    gcg_ratings_release(&r);
    file_release(&f);
}
END_TEST

/* ---- weights ---- */

enum { WEIGHTS_AT = 176 };

static void make_weighted(gcg_ratings *r, shape s)
{
    make(r, s);
    ck_assert_int_eq(gcg_csr_add_weights(&r->x, NULL), GCG_OK);
    for (int64_t p = 0; p < r->x.nnz; p++) r->x.weight[p] = 0.1f * (float)(1 + p % 70);
}

static void write_weighted(file *f)
{
    gcg_ratings r;
    make_weighted(&r, small);
    ck_assert_int_eq(gcg_gcs_write(&r, to_file(f), &err), GCG_OK);
    gcg_ratings_release(&r);
}

START_TEST(weights_are_kept_in_a_section_of_their_own)
{
    gcg_ratings r, again;
    file f = {0};
    const shape large = {.rows = 3000, .cols = 900, .n = 1200000}; /* two chunks of weights */
    for (int kind = 0; kind < 2; kind++) {
        make_weighted(&r, kind ? large : small);
        ck_assert_int_eq(gcg_gcs_write(&r, to_file(&f), &err), GCG_OK);
        ck_assert_int_eq(f.bytes[12], 2);
        size_t at = (size_t)number_at(&f, WEIGHTS_AT);
        ck_assert_uint_eq(at % PAGE, 0);
        ck_assert_uint_eq(number_at(&f, WEIGHTS_AT + 8), (uint64_t)r.x.nnz * 4);
        ck_assert_uint_gt(at, section_at(&f, 4));
        ck_assert_uint_lt(at, section_at(&f, 5));
        ck_assert_mem_eq(f.bytes + at, r.x.weight, (size_t)r.x.nnz * 4);
        ck_assert_msg(open_bytes(f.bytes, f.size, &again) == GCG_OK, "%s", err.text);
        same_ratings(&r, &again);
        ck_assert_mem_eq(again.x.weight, r.x.weight, (size_t)r.x.nnz * 4);
        ck_assert_int_eq(gcg_csr_own(&again.x, NULL), GCG_OK);
        ck_assert_mem_eq(again.x.weight, r.x.weight, (size_t)r.x.nnz * 4);
        gcg_ratings_release(&again);
        gcg_ratings_release(&r);
        file_release(&f);
    }
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

/* A store with this weight, under right check sums. */
static void weight_is_taken(float weight, int good)
{
    file f = {0};
    write_weighted(&f);
    size_t at = (size_t)number_at(&f, WEIGHTS_AT), sums = section_at(&f, 5);
    memcpy(f.bytes + at + 99 * 4, &weight, 4);
    put_number(&f, sums + 40, gcg_gcs_hash(f.bytes + at, 400), 8);
    put_number(&f, SUMS_HASH, gcg_gcs_hash(f.bytes + sums, 48), 8);
    seal_header(&f);
    ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), good ? GCG_OK : GCG_ERR_DATA);
    if (!good)
        ck_assert_msg(strstr(err.text, "the weights are not those of a rating matrix"), "%s", err.text);
    file_release(&f);
}

START_TEST(weights_that_are_none_are_refused)
{
    static const float bad[] = {0, -1, INFINITY, NAN, -0.0f, 1e-40f};
    weight_is_taken(1, 1);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) weight_is_taken(bad[k], 0);
    file f = {0};
    write_weighted(&f);
    f.bytes[number_at(&f, WEIGHTS_AT)] ^= 1;
    ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), GCG_ERR_DATA);
    ck_assert_msg(strstr(err.text, "check sum of the weights"), "%s", err.text);
    file_release(&f);
    for (size_t at = WEIGHTS_AT; at <= WEIGHTS_AT + 8; at += 8) {
        write_weighted(&f);
        put_number(&f, at, number_at(&f, at) + PAGE, 8);
        seal_header(&f);
        ck_assert_int_eq(open_bytes(f.bytes, f.size, NULL), GCG_ERR_DATA);
        ck_assert_msg(strstr(err.text, "contradict"), "%s", err.text);
        file_release(&f);
    }
}
END_TEST

START_TEST(weights_are_written_as_short_as_the_float_allows)
{
    static const struct {
        float weight;
        const char *text;
    } some[] = {{1, "1"}, {0.1f, "0.1"}, {2.5f, "2.5"}, {1e-30f, "1e-30"}, {16777216, "16777216"}};
    char text[GCG_VALUE_TEXT + 1];
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        text[gcg_weight_text(some[k].weight, text)] = '\0';
        ck_assert_str_eq(text, some[k].text);
    }
    gcg_rng rng;
    gcg_rng_init(&rng, 4, 0);
    for (int k = 0; k < 20000; k++) {
        float weight = (float)exp(20 * gcg_rng_normal(&rng));
        text[gcg_weight_text(weight, text)] = '\0';
        ck_assert_float_eq((float)strtod(text, NULL), weight);
    }
}
END_TEST

/* ---- through the doors of ratings.h ---- */

static char path[2][128];

static void save(int k, const char *name, const void *bytes, size_t size)
{
    snprintf(path[k], sizeof path[k], "%s/%s", folder, name);
    FILE *out = fopen(path[k], "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
    fclose(out);
}

static void save_store(int k, const char *name, const char *text)
{
    gcg_read_options options = gcg_read_options_defaults();
    gcg_ratings r;
    file f = {0};
    save(k, "source", text, strlen(text));
    const char *source = path[k];
    ck_assert_msg(gcg_ratings_read(&source, 1, &options, NULL, &r, &err) == GCG_OK, "%s", err.text);
    unlink(path[k]);
    ck_assert_int_eq(gcg_gcs_write(&r, to_file(&f), &err), GCG_OK);
    save(k, name, f.bytes, f.size);
    file_release(&f);
    gcg_ratings_release(&r);
}

static void remove_files(void)
{
    for (int k = 0; k < 2; k++) unlink(path[k]);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}

/* The ratings of paths as text, which must be the wanted one. */
static void reads_as(int paths, const gcg_read_options *options, const char *wanted)
{
    const char *const list[] = {path[0], path[1]};
    gcg_ratings r;
    file text = {0};
    gcg_diag diag = {0};
    ck_assert_msg(gcg_ratings_read(list, paths, options, &diag, &r, &err) == GCG_OK, "%s", err.text);
    ck_assert_int_eq(gcg_ratings_write_text(&r, GCG_FORMAT_CSV, to_file(&text), &err), GCG_OK);
    text.bytes[text.size] = '\0';
    ck_assert_str_eq((char *)text.bytes, wanted);
    file_release(&text);
    gcg_ratings_release(&r);
}

START_TEST(a_store_is_mapped_as_training_set_and_streamed_with_others)
{
    gcg_read_options options = gcg_read_options_defaults();
    save_store(0, "a.gcs", "1,7,2\n1,8,3\n2,7,4\n");
    save(1, "b.csv", "2,8,1\n3,8,5\n", 12);
    reads_as(1, &options, "user,item,rating\n1,7,2\n1,8,3\n2,7,4\n");
    reads_as(2, &options, "user,item,rating\n1,7,2\n1,8,3\n2,7,4\n2,8,1\n3,8,5\n");
    const char *one = path[0];
    gcg_ratings r;
    ck_assert_int_eq(gcg_ratings_read(&one, 1, &options, NULL, &r, &err), GCG_OK);
    ck_assert_ptr_nonnull(r.x.map);
    gcg_ratings_release(&r);
    remove_files();
}
END_TEST

typedef struct {
    int64_t calls, last, total, stop_at; /* stop_at: the call that ends the reading */
} hearing;

static int hear(int64_t bytes_read, int64_t bytes_total, void *user)
{
    hearing *h = user;
    ck_assert(bytes_read >= h->last && bytes_read <= bytes_total);
    *h = (hearing){h->calls + 1, bytes_read, bytes_total, h->stop_at};
    return h->calls == h->stop_at;
}

START_TEST(progress_is_told_while_a_store_is_checked_and_may_stop_it)
{
    hearing h = {0};
    gcg_read_options options = gcg_read_options_defaults();
    gcg_ratings r;
    gcg_diag diag = {0};
    save_store(0, "a.gcs", "1,1,3\n2,1,4\n2,2,5\n");
    const char *one = path[0];
    options.progress = hear;
    options.progress_user = &h;
    ck_assert_int_eq(gcg_ratings_read(&one, 1, &options, &diag, &r, &err), GCG_OK);
    gcg_ratings_release(&r);
    ck_assert_int_gt(h.calls, 0);
    ck_assert_int_eq(h.last, h.total);
    h = (hearing){.stop_at = h.calls};
    ck_assert_int_eq(gcg_ratings_read(&one, 1, &options, &diag, &r, &err), GCG_ERR_IO);
    ck_assert_msg(strstr(err.text, "interrupted while reading"), "%s", err.text);
    remove_files();
}
END_TEST

START_TEST(options_that_change_values_are_obeyed)
{
    static const gcg_value_map map[] = {{.from = 3, .drop = 1}, {.from = 2, .to = 9}},
                               other = {.from = 77, .to = 1};
    gcg_read_options options = gcg_read_options_defaults();
    save_store(0, "a.gcs", "1,7,2\n1,8,3\n2,7,4\n");
    save(1, "b.csv", "", 0);
    options.value_maps = map;
    options.value_map_count = 2;
    reads_as(1, &options, "user,item,rating\n1,7,9\n2,7,4\n");
    options.value_maps = &other;
    options.value_map_count = 1;
    reads_as(1, &options, "user,item,rating\n1,7,2\n1,8,3\n2,7,4\n");
    options.value_map_count = 0;
    options.implicit = 1;
    reads_as(1, &options, "user,item,rating\n1,7,1\n1,8,1\n2,7,1\n");
    remove_files();
}
END_TEST

START_TEST(a_pair_in_two_stores_is_a_duplicate)
{
    gcg_read_options options = gcg_read_options_defaults();
    const char *const list[] = {path[0], path[1]};
    gcg_ratings r;
    save_store(0, "a.gcs", "1,7,2\n1,8,3\n2,7,4\n");
    save_store(1, "b.gcs", "1,7,5\n2,7,6\n");
    ck_assert_int_eq(gcg_ratings_read(list, 2, &options, NULL, &r, &err), GCG_ERR_DATA);
    ck_assert_msg(strstr(err.text, "user '1' rates item '7' again (first on line 1 of"), "%s", err.text);
    ck_assert_int_eq(err.line, 1);
    options.duplicates = GCG_DUP_SUM;
    reads_as(2, &options, "user,item,rating\n1,7,7\n1,8,3\n2,7,10\n");
    remove_files();
}
END_TEST

START_TEST(empty_rows_of_a_matrix_survive)
{
    gcg_read_options options = gcg_read_options_defaults();
    const char *const list[] = {path[0], path[1]};
    gcg_ratings r;
    save_store(0, "a.gcs", "%%MatrixMarket matrix coordinate real general\n4 5 1\n2 2 7\n");
    save(1, "b.csv", "2,3,1\n", 6);
    for (int paths = 1; paths <= 2; paths++) {
        ck_assert_int_eq(gcg_ratings_read(list, paths, &options, NULL, &r, &err), GCG_OK);
        ck_assert_int_eq(r.x.rows, 4);
        ck_assert_int_eq(r.x.cols, 5);
        ck_assert_int_eq(r.x.nnz, paths);
        gcg_ratings_release(&r);
    }
    remove_files();
}
END_TEST

START_TEST(a_hold_out_from_a_store_is_the_one_from_text)
{
    gcg_read_options options = gcg_read_options_defaults();
    char text[4096] = "";
    for (int k = 0; k < 200; k++) sprintf(text + strlen(text), "u%d,%d,%d\n", k % 20, k / 20, k % 5);
    save_store(0, "a.gcs", text);
    save(1, "b.csv", text, strlen(text));
    gcg_ratings r[2];
    gcg_pairs test[2];
    for (int k = 0; k < 2; k++) {
        const char *one = path[k];
        ck_assert_int_eq(gcg_ratings_read(&one, 1, &options, NULL, &r[k], &err), GCG_OK);
        ck_assert_int_eq(gcg_ratings_hold_out(&r[k], 0.25, 7, &test[k], &err), GCG_OK);
    }
    same_ratings(&r[0], &r[1]);
    ck_assert_int_eq(test[0].n, test[1].n);
    ck_assert_int_gt(test[0].n, 0);
    ck_assert_mem_eq(test[0].user, test[1].user, (size_t)test[0].n * 4);
    ck_assert_mem_eq(test[0].value, test[1].value, (size_t)test[0].n * 8);
    for (int k = 0; k < 2; k++) {
        gcg_ratings_release(&r[k]);
        gcg_pairs_release(&test[k]);
    }
    remove_files();
}
END_TEST

static gcg_status sum_point(const gcg_point *p, void *user, gcg_err *e)
{
    double *sums = user;
    (void)e;
    sums[0] += p->has_value ? p->value : 0;
    sums[1] += p->has_value;
    sums[2] += p->user[0] * (double)p->item[0];
    return GCG_OK;
}

START_TEST(a_store_is_streamed_like_text)
{
    gcg_read_options options = gcg_read_options_defaults();
    gcg_read_report report;
    save_store(0, "a.gcs", "1,7,2\n1,8,3\n2,7,4\n");
    save(1, "b.csv", "1,7,2\n1,8,3\n2,7,4\n", 18);
    for (int no_ratings = 0; no_ratings < 2; no_ratings++) {
        double sums[2][3] = {{0}};
        options.no_ratings = options.pairs = no_ratings;
        for (int k = 0; k < 2; k++) {
            const char *one = path[k];
            ck_assert_int_eq(gcg_read_stream(&one, 1, &options, NULL, sum_point, sums[k], &report, &err),
                             GCG_OK);
            ck_assert_int_eq(report.points, 3);
        }
        ck_assert_mem_eq(sums[0], sums[1], sizeof sums[0]);
        ck_assert(sums[0][1] == (no_ratings ? 0 : 3));
    }
    remove_files();
}
END_TEST

START_TEST(failing_memory_is_reported_when_a_store_is_read_as_ratings)
{
    gcg_read_options options = gcg_read_options_defaults();
    static const gcg_value_map map = {.from = 3, .to = 1};
    save_store(0, "a.gcs", "1,7,2\n1,x,3\n2,7,4\n");
    save(1, "b.csv", "", 0);
    for (options.value_map_count = 0; options.value_map_count < 2; options.value_map_count++) {
        options.value_maps = &map;
        for (int64_t n = 1;; n++) {
            const char *one = path[0];
            gcg_ratings r;
            gcg_mem_fail_at(n);
            gcg_status status = gcg_ratings_read(&one, 1, &options, NULL, &r, &err);
            gcg_mem_fail_at(0);
            gcg_ratings_release(&r);
            ck_assert_int_eq(gcg_mem_blocks(), 0);
            if (status == GCG_OK) break;
            ck_assert_int_eq(status, GCG_ERR_NOMEM);
            ck_assert_int_lt(n, 200);
        }
    }
    remove_files();
}
END_TEST

START_TEST(ratings_are_printed_as_short_as_they_can_be_read_back)
{
    static const struct {
        double value;
        const char *text;
    } known[] = {{0, "0"},
                 {-0.0, "0"},
                 {3, "3"},
                 {-2.5, "-2.5"},
                 {0.1, "0.1"},
                 {4.05, "4.05"},
                 {0.005, "0.005"},
                 {1e100, "1e+100"},
                 {1e9, "1000000000"},
                 {123456789.125, "123456789.125"},
                 {-1e-7, "-1e-07"},
                 {1.0 / 3, "0.3333333333333333"}};
    char text[GCG_VALUE_TEXT];
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int n = gcg_value_text(known[k].value, text);
        ck_assert_msg(n == (int)strlen(known[k].text) && memcmp(text, known[k].text, (size_t)n) == 0, "%.*s",
                      n, text);
    }
    gcg_rng rng;
    gcg_rng_init(&rng, 3, 0);
    for (int k = 0; k < 200000; k++) {
        double value = k % 2 ? gcg_rng_normal(&rng) * pow(10, (double)gcg_rng_below(&rng, 40) - 20)
                             : (double)(int64_t)gcg_rng_below(&rng, 20000000) / 1000 - 7000;
        int n = gcg_value_text(value, text);
        ck_assert_int_lt(n, GCG_VALUE_TEXT);
        text[n] = '\0';
        ck_assert_msg(strtod(text, NULL) == value, "%.17g became %s", value, text);
    }
}
END_TEST

static void setup(void)
{
    strcpy(folder, "/tmp/check_gcs.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    gcg_par_set_threads(1);
    ck_assert_int_eq(rmdir(folder), 0);
}

int main(void)
{
    Suite *s = suite_create("gcs");
    TCase *c = tcase_create("file"), *d = tcase_create("doors");
    tcase_set_timeout(c, 120);
    tcase_set_timeout(d, 120);
    tcase_add_test(c, a_store_is_read_back_as_it_was_written);
    tcase_add_test(c, the_hash_is_the_documented_one);
    tcase_add_test(c, the_layout_is_the_documented_one);
    tcase_add_test(c, no_changed_byte_goes_unnoticed);
    tcase_add_test(c, a_damaged_section_is_named);
    tcase_add_test(c, a_file_that_is_cut_short_is_refused_at_any_length);
    tcase_add_test(c, other_byte_orders_and_newer_versions_are_refused);
    tcase_add_test(c, a_header_that_contradicts_itself_is_refused);
    tcase_add_test(c, content_that_is_no_matrix_is_refused_under_right_check_sums);
    tcase_add_test(c, negative_and_long_numbers_keep_their_order);
    tcase_add_test(c, stores_of_many_chunks_are_checked_chunk_by_chunk);
    tcase_add_test(c, columns_are_compared_across_chunks);
    tcase_add_test(c, failing_memory_is_reported_by_writer_and_reader);
    tcase_add_test(c, weights_are_kept_in_a_section_of_their_own);
    tcase_add_test(c, weights_that_are_none_are_refused);
    tcase_add_test(c, weights_are_written_as_short_as_the_float_allows);
    tcase_add_test(c, ratings_are_printed_as_short_as_they_can_be_read_back);
    tcase_add_checked_fixture(d, setup, teardown);
    tcase_add_test(d, a_store_is_mapped_as_training_set_and_streamed_with_others);
    tcase_add_test(d, progress_is_told_while_a_store_is_checked_and_may_stop_it);
    tcase_add_test(d, options_that_change_values_are_obeyed);
    tcase_add_test(d, a_pair_in_two_stores_is_a_duplicate);
    tcase_add_test(d, empty_rows_of_a_matrix_survive);
    tcase_add_test(d, a_hold_out_from_a_store_is_the_one_from_text);
    tcase_add_test(d, a_store_is_streamed_like_text);
    tcase_add_test(d, failing_memory_is_reported_when_a_store_is_read_as_ratings);
    suite_add_tcase(s, c);
    suite_add_tcase(s, d);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
