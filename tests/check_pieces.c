/* Reading in pieces: whatever their size, the number of threads, the library that unpacks and the way a line
 * is read, everything that can be seen is the same. */
#define _XOPEN_SOURCE 700
#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "io/ratings.h"
#include "io/reader.h"
#include "io/swift.h"

enum { TEXT = 6000, SAID = 1 << 19 };

static gcg_rng rng;
static char text[TEXT + 200];
static size_t length;
static gcg_read_options options;

static int below(int n)
{
    return (int)gcg_rng_below(&rng, (uint64_t)n);
}

static void put(const char *bytes, size_t n)
{
    if (length + n > TEXT) return;
    memcpy(text + length, bytes, n);
    length += n;
}

static void put_text(const char *bytes)
{
    put(bytes, strlen(bytes));
}

/* ---- what was read, as text ---- */

typedef struct {
    char *text;
    size_t n;
} record;

static void say(record *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(record *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    s->n += (size_t)vsnprintf(s->text + s->n, SAID - s->n, format, args);
    va_end(args);
    if (s->n >= SAID)
        ck_abort_msg("more was said than there is room for"); /* ck_assert writes a file: slow */
}

static gcg_status say_point(const gcg_point *p, void *user, gcg_err *err)
{
    (void)err;
    say(user, "%d: '%.*s' '%.*s' ", (int)p->line, (int)p->user_length, p->user, (int)p->item_length, p->item);
    if (p->has_value) say(user, "%a", p->value);
    if (p->has_value == isnan(p->value)) ck_abort_msg("a value that is none");
    say(user, "\n");
    return GCG_OK;
}

static void say_message(void *user, gcg_severity severity, const char *file, int64_t line, int64_t col,
                        const char *said)
{
    say(user, "%s:%d:%d: %d %s\n", file ? "data" : "-", (int)line, (int)col, severity, said);
}

static void say_report(record *s, const gcg_read_report *r)
{
    say(s,
        "format %d header %d lines %d blank %d comment %d points %d duplicates %d merged %d mapped %d "
        "dropped %d ",
        r->format, r->header, (int)r->lines, (int)r->blank, (int)r->comment, (int)r->points,
        (int)r->duplicates, (int)r->merged_pairs, (int)r->mapped, (int)r->dropped);
    say(s, "empty %d bytes %d\n", (int)r->empty_blocks, (int)r->bytes);
}

/* Points by callback, then messages and counts: owned by the caller. */
static char *stream(const void *bytes, size_t size)
{
    record points = {malloc(SAID), 0}, messages = {malloc(SAID), 0};
    gcg_read_report report;
    gcg_err err = {0};
    gcg_diag diag = {.emit = say_message, .user = &messages};
    gcg_status status =
        gcg_read_memory(bytes, size, "data", &options, &diag, say_point, &points, &report, &err);
    say(&messages, "status %d, %d errors, first %d:%d %s\n", status, (int)diag.errors, (int)err.line,
        (int)err.col, err.text);
    say_report(&messages, &report);
    say(&points, "%s", messages.text);
    free(messages.text);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
    return points.text;
}

/* The training store from a file, with its messages. */
static char *store(const char *path)
{
    record s = {malloc(SAID), 0};
    char user[GCG_ID_TEXT], item[GCG_ID_TEXT];
    gcg_ratings r;
    gcg_err err = {0};
    gcg_diag diag = {.emit = say_message, .user = &s};
    gcg_status status = gcg_ratings_read(&path, 1, &options, &diag, &r, &err);
    say(&s, "status %d, %d errors, first %d:%d %s\n", status, (int)diag.errors, (int)err.line, (int)err.col,
        err.text);
    say_report(&s, &r.report);
    say(&s, "%d x %d %s\n", r.x.rows, r.x.cols, r.x.val_d ? "double" : "float");
    for (int32_t i = 0; i < r.x.rows; i++)
        for (int64_t p = r.x.row_ptr[i]; p < r.x.row_ptr[i + 1]; p++) {
            gcg_idmap_name(r.users, i, user);
            gcg_idmap_name(r.items, r.x.col[p], item);
            say(&s, "'%s' '%s' %a\n", user, item, gcg_csr_value(&r.x, p));
        }
    gcg_ratings_release(&r);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
    return s.text;
}

/* ---- random files, most of them good, some nasty ---- */

static const char *any(const char *const *list, int n)
{
    return list[below(n)];
}
#define ANY(...)                                                                                             \
    any((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static int nasty; /* one field in so many is unusual; 0: none */

static int is_nasty(void)
{
    return nasty > 0 && below(nasty) == 0;
}

static void put_id(void)
{
    char id[64];
    if (is_nasty()) {
        put_text(ANY("0", "00", "007", "-3", "+3", "1234567", "12345678", "123456789", "99999999999999999999",
                     "0123456", "a", "a b", "\"a,b\"", "\"4\"", "\"x\"\"y\"", "", " 7", "7 ", "1.5",
                     "\xc3\xa9", "#1", "9223372036854775807", "9223372036854775808", "\"open", "\"q\"z",
                     "1:2", "5|6", "\x01"));
        return;
    }
    snprintf(id, sizeof id, "%d", 1 + below(ANY("", "x")[0] ? 12 : 2000));
    put_text(id);
}

static void put_rating(void)
{
    char rating[64];
    if (is_nasty()) {
        put_text(ANY(".5", "5.", ".", "-1", "+2", "1e1", "1e", "4.50", "00.5", "0.1", "1234567", "12345678",
                     "1.23456", "12.34567", "1.234567", "0.0000001", "nan", "", " 4", "4 ", "\"4\"", "3,5",
                     "255", "101", "100", "2005-09-06", "1e101", "4\r", "5..", "1.2.3", "4.a", "0x1",
                     "3.1415926535897932"));
        return;
    }
    snprintf(rating, sizeof rating, below(3) ? "%d" : "%d.5", below(6));
    put_text(rating);
}

static void put_rest(const char *separator)
{
    if (below(3)) return;
    put_text(separator);
    put_text(is_nasty()
                 ? ANY("x\"y", "\"open", "\"q\" ", "1:", "a\rb", "two words", "\xf0\x9f\x8e\xac", "!",
                       "12:30", "\t", ",", "::", " : ", "a very long field that goes on and on, and on")
                 : ANY("978300760", "1", "2005-01-01", "00:00:00"));
}

static void put_end(void)
{
    if (is_nasty()) put_text(ANY(" ", "\r", "\t", "\r\r", "x"));
    put_text(below(8) ? "\n" : "\r\n");
}

static void put_other_line(void)
{
    if (nasty > 0 && below(3 * nasty) == 0)
        put_text(ANY("\n", "# comment\n", "% x,y\n", "  \t\n", "\r\n", "junk\n", ",,,\n"));
    if (nasty > 0 && below(200 * nasty) == 0) put("1,\0,2\n", 6);
}

static void put_triples(const char *separator, int columns)
{
    while (length < TEXT - 200) {
        put_id();
        put_text(separator);
        put_id();
        if (columns > 2 || below(10) == 0) {
            put_text(is_nasty() ? ANY(",", ";", " ", "::", "\t", "", ":") : separator);
            put_rating();
        }
        put_rest(separator);
        put_end();
        put_other_line();
    }
    if (below(2)) put_text("7,7");
}

static void put_mtx(void)
{
    char head[128];
    int symmetric = below(2), pattern = below(4) == 0;
    size_t start = length;
    snprintf(head, sizeof head, "%%%%MatrixMarket matrix coordinate %s %s\n%% c\n2000 2000 %03d\n",
             pattern ? "pattern" : "real", symmetric ? "symmetric" : "general", 0);
    put_text(head);
    size_t count_at = length - 4;
    int lines = 0;
    while (length < TEXT - 5000) {
        size_t before = length;
        put_id();
        put_text(is_nasty() ? "  " : " ");
        put_id();
        if (!pattern || is_nasty()) put_text(" "), put_rating();
        put_end();
        lines += memchr(text + before, '#', 1) == NULL;
        put_other_line();
    }
    if (is_nasty()) lines += below(3) - 1;
    snprintf(head, sizeof head, "%03d", lines);
    memcpy(text + count_at, head, 3);
    (void)start;
}

static void put_netflix(void)
{
    while (length < TEXT - 300) {
        put_id();
        put_text(":");
        put_end();
        for (int k = below(5) ? below(40) : 0; k > 0 && length < TEXT - 100; k--) {
            put_id();
            put_text(",");
            put_rating();
            put_rest(",");
            put_end();
            put_other_line();
        }
    }
}

static void put_kdd(void)
{
    char head[64];
    while (length < TEXT - 300) {
        int n = below(5) ? below(40) : 0;
        put_id();
        snprintf(head, sizeof head, "|%d", is_nasty() ? n + below(3) - 1 : n);
        put_text(head);
        put_end();
        for (int k = n; k > 0; k--) {
            put_id();
            put_text("\t");
            put_rating();
            if (below(2)) put_text(is_nasty() ? "\t12:30:00" : below(2) ? "\t5000" : "\t5000\t00:00:00");
            put_end();
            put_other_line();
        }
    }
}

/* A file of kind 0..9, and options that may go with it. */
static void make(int kind, uint64_t seed)
{
    static const char *const separator[] = {",", "\t", ";", "|", "::", " "};
    static const gcg_format format[] = {GCG_FORMAT_CSV,  GCG_FORMAT_TSV,       GCG_FORMAT_SEMICOLON,
                                        GCG_FORMAT_PIPE, GCG_FORMAT_MOVIELENS, GCG_FORMAT_SPACE};
    static const gcg_value_map map[] = {{.from = 5, .to = 1}, {.from = 2, .drop = 1}};
    gcg_rng_init(&rng, seed, (uint64_t)kind);
    options = gcg_read_options_defaults();
    options.pairs = below(4) == 0;
    options.implicit = below(6) == 0;
    options.no_ratings = !options.implicit && below(6) == 0;
    options.value_maps = map;
    options.value_map_count = below(4) ? 0 : 2;
    options.duplicates = below(3) ? (gcg_duplicates)below(5) : GCG_DUP_ERROR;
    nasty = (int[]){0, 3000, 300, 20}[below(4)];
    length = 0;
    if (below(4) == 0) put_text("\xef\xbb\xbf");
    if (below(4) == 0) put_text("# first\n\n");
    if (kind < 6) {
        options.format = below(2) ? format[kind] : GCG_FORMAT_AUTO;
        options.header = below(4) ? GCG_HEADER_AUTO : GCG_HEADER_YES;
        if (below(4) == 0) {
            put_text("user");
            put_text(separator[kind]);
            put_text("item");
            put_text(separator[kind]);
            put_text("rating\n");
        }
        put_triples(separator[kind], options.implicit || options.no_ratings || options.pairs ? 2 : 3);
    } else if (kind == 6) {
        length = 0;
        put_mtx();
    } else if (kind == 7) {
        options.format = GCG_FORMAT_NETFLIX;
        put_netflix();
    } else {
        options.format = kind == 8 ? GCG_FORMAT_KDD : GCG_FORMAT_AUTO;
        put_kdd();
    }
    memset(text + length, 0, sizeof text - length);
}

enum { KINDS = 10, FILES = 24 /* of each kind */ };

static void expect(const char *found, const char *want, const char *what)
{
    if (strcmp(found, want) == 0) return;
    size_t k = 0;
    while (found[k] == want[k]) k++;
    while (k > 0 && found[k - 1] != '\n') k--;
    ck_abort_msg("%s: '%.300s' instead of '%.300s'", what, found + k, want + k);
}

START_TEST(lines_read_eight_bytes_at_a_time_are_read_as_the_long_way)
{
    for (uint64_t seed = 0; seed < 4 * FILES; seed++) {
        make(_i, seed);
        char *swift = stream(text, length);
        options.long_way = 1;
        char *long_way = stream(text, length);
        expect(swift, long_way, "swift");
        free(swift);
        free(long_way);
    }
}
END_TEST

START_TEST(pieces_of_any_size_and_any_number_of_threads_read_the_same)
{
    static const int64_t block[] = {1, 7, 100, 1000};
    static const int threads[] = {1, 2, 7};
    for (uint64_t seed = 0; seed < FILES; seed++) {
        make(_i, seed);
        gcg_par_set_threads(1);
        char *want = stream(text, length);
        for (int k = 0; k < 4; k++) {
            options.block = block[k];
            gcg_par_set_threads(threads[(k + (int)seed) % 3]);
            char *found = stream(text, length);
            expect(found, want, "pieces");
            free(found);
        }
        free(want);
    }
    gcg_par_set_threads(1);
}
END_TEST

/* Writes the text, packed or not, under a name of its own. */
static void write_file(char *path, int packed)
{
    strcpy(path, "/tmp/check_pieces.XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    gzFile f = gzdopen(fd, packed ? "wb" : "wbT");
    ck_assert_int_eq(gzwrite(f, text, (unsigned)length), (int)length);
    gzclose(f);
}

START_TEST(the_store_is_the_same_for_any_pieces_threads_and_packing)
{
    static const int64_t block[] = {1, 50, 900, 0};
    static const int threads[] = {7, 2, 1};
    char path[64];
    for (uint64_t seed = 0; seed < FILES; seed++) {
        make(_i, seed);
        options.pairs = options.no_ratings = 0;
        write_file(path, 0);
        gcg_par_set_threads(1);
        char *want = store(path);
        unlink(path);
        for (int k = 0; k < 4; k++) {
            options.block = block[k];
            options.zlib = k % 2;
            options.long_way = k == 2;
            gcg_par_set_threads(threads[(k + (int)seed) % 3]);
            write_file(path, k != 1);
            char *found = store(path);
            unlink(path);
            expect(found, want, "store");
            free(found);
        }
        free(want);
    }
    gcg_par_set_threads(1);
}
END_TEST

START_TEST(comments_before_the_first_line_may_be_longer_than_what_is_looked_at)
{
    static char big[200000];
    size_t n = 0;
    options = gcg_read_options_defaults();
    while (n < 150000) n += (size_t)sprintf(big + n, "# comment %zu\n", n);
    strcpy(big + n, "1|2|3\n4|5|6\n");
    char *found = stream(big, strlen(big));
    ck_assert_ptr_nonnull(strstr(found, ": '1' '2' 0x1.8p+1\n"));
    ck_assert_ptr_nonnull(strstr(found, "read as pipe"));
    ck_assert_ptr_nonnull(strstr(found, "points 2 "));
    free(found);
}
END_TEST

START_TEST(damaged_gzip_data_gives_the_same_message_for_any_number_of_threads)
{
    char path[] = "/tmp/check_pieces.XXXXXX", line[64];
    int fd = mkstemp(path);
    gcg_rng_init(&rng, 77, 0);
    gzFile f = gzdopen(fd, "wb1");
    for (int k = 0; k < 400000; k++)
        gzwrite(f, line, (unsigned)sprintf(line, "%d\t%d\t%d\n", k, below(9000), below(6)));
    gzclose(f);
    FILE *file = fopen(path, "r+b");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    options = gcg_read_options_defaults();
    for (int k = 0; k < 12; k++) {
        long at = size / 13 * (k + 1);
        fseek(file, at, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ (1 << k % 8), file);
        fflush(file);
        gcg_par_set_threads(1);
        char *want = store(path);
        ck_assert_ptr_nonnull(strstr(want, "status 4, "));
        gcg_par_set_threads(k % 2 ? 2 : 7);
        char *found = store(path);
        expect(found, want, "damage");
        free(found);
        free(want);
        fseek(file, at, SEEK_SET);
        fputc(byte, file);
    }
    fclose(file);
    unlink(path);
    gcg_par_set_threads(1);
}
END_TEST

START_TEST(a_first_line_that_no_format_explains_is_an_error)
{
    static char long_line[100000];
    static const char *const lines[] = {" %", " # x\n", "\n  %\n", long_line};
    memset(long_line, ' ', sizeof long_line - 2);
    long_line[sizeof long_line - 2] = 'x';
    options = gcg_read_options_defaults();
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        char *found = stream(lines[k], strlen(lines[k]));
        ck_assert_ptr_nonnull(strstr(found, "no item: the line has 1 column"));
        free(found);
    }
}
END_TEST

START_TEST(stray_carriage_returns_nul_bytes_and_quotes_of_a_line_are_marked)
{
    static const char lines[] = "plain\r\na\rb\r\nx\0y\n\"q\"\r\ncr\r\r\nlast\r";
    static const struct {
        int64_t col;
        char bad;
        int quote;
        int64_t length;
    } want[] = {{0, 0, 0, 5}, {2, '\r', 0, 3}, {2, '\0', 0, 3},
                {0, 0, 1, 3}, {3, '\r', 0, 3}, {5, '\r', 0, 5}};
    gcg_layout layout = {0};
    gcg_carry carry = {0};
    gcg_reader r;
    int found;
    options = gcg_read_options_defaults();
    gcg_reader_init(&r, &options, NULL, NULL, &layout);
    gcg_reader_start(&r, &carry, lines, sizeof lines - 1, gcg_text_look(lines, sizeof lines - 1));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        gcg_reader_any_line(&r, &found);
        ck_assert_int_eq(found, 1);
        ck_assert_int_eq(r.line.number, (int64_t)i + 1);
        ck_assert_int_eq(r.line.bad_col, want[i].col);
        if (want[i].col) ck_assert_int_eq(r.line.bad, want[i].bad);
        ck_assert_int_eq(r.line.has_quote, want[i].quote);
        ck_assert_int_eq(r.line.length, want[i].length);
    }
    gcg_reader_any_line(&r, &found);
    ck_assert_int_eq(found, 0);
    gcg_reader_release(&r);
}
END_TEST

typedef struct {
    int64_t calls, last, total, stop_at;
} progress_seen;

static int note_progress(int64_t read, int64_t total, void *user)
{
    progress_seen *seen = user;
    ck_assert_int_ge(read, seen->last);
    ck_assert(total == 0 || read <= total);
    seen->last = read;
    seen->total = total;
    return ++seen->calls == seen->stop_at;
}

START_TEST(progress_is_told_and_may_stop_the_reading)
{
    char path[64], *said;
    progress_seen seen = {0};
    make(0, 3);
    nasty = 0;
    options = gcg_read_options_defaults();
    options.duplicates = GCG_DUP_FIRST;
    length = 0;
    put_triples(",", 3);
    write_file(path, 0);
    options.progress = note_progress;
    options.progress_user = &seen;
    options.block = 100;
    said = store(path);
    ck_assert_ptr_nonnull(strstr(said, "status 0,"));
    free(said);
    ck_assert_int_gt(seen.calls, 5);
    ck_assert_int_eq(seen.total, (int64_t)length);
    ck_assert_int_eq(seen.last, (int64_t)length);
    seen = (progress_seen){.stop_at = 3};
    said = store(path);
    ck_assert_ptr_nonnull(strstr(said, "status 5, 0 errors, first 0:0 interrupted while reading"));
    free(said);
    ck_assert_int_eq(seen.calls, 3);
    unlink(path);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pieces");
    TCase *t = tcase_create("pieces");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, lines_read_eight_bytes_at_a_time_are_read_as_the_long_way, 0, KINDS);
    tcase_add_loop_test(t, pieces_of_any_size_and_any_number_of_threads_read_the_same, 0, KINDS);
    tcase_add_loop_test(t, the_store_is_the_same_for_any_pieces_threads_and_packing, 0, KINDS);
    tcase_add_test(t, comments_before_the_first_line_may_be_longer_than_what_is_looked_at);
    tcase_add_test(t, damaged_gzip_data_gives_the_same_message_for_any_number_of_threads);
    tcase_add_test(t, a_first_line_that_no_format_explains_is_an_error);
    tcase_add_test(t, stray_carriage_returns_nul_bytes_and_quotes_of_a_line_are_marked);
    tcase_add_test(t, progress_is_told_and_may_stop_the_reading);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
