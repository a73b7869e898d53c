/* The input door: lines, gzip, damage, at every block size. */
#define _XOPEN_SOURCE 700
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "base/mem.h"
#include "base/rng.h"
#include "io/input.h"

static const int64_t block[] = {1, 2, 3, 7, 64, 4096, 0};
enum { BLOCKS = sizeof block / sizeof *block };

static gcg_err err;

typedef struct {
    unsigned char byte[1 << 20];
    size_t length;
} bytes;

static bytes zipped;

/* Appends text as one gzip member. */
static void add_member(bytes *b, const char *text, size_t length)
{
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)length;
    z.next_out = b->byte + b->length;
    z.avail_out = (uInt)(sizeof b->byte - b->length);
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    b->length = (size_t)(z.next_out - b->byte);
    deflateEnd(&z);
}

/* All lines of an input as "number:text|"; the status of the last call. */
static gcg_status read_all(gcg_input *in, char *out, size_t size)
{
    gcg_line line;
    int found = 1;
    size_t n = 0;
    gcg_status status = GCG_OK;
    out[0] = '\0';
    while (status == GCG_OK && found) {
        status = gcg_input_line(in, &line, &found, &err);
        if (status == GCG_OK && found && n + (size_t)line.length + 32 < size)
            n += (size_t)snprintf(out + n, size - n, "%d:%.*s|", (int)line.number, (int)line.length,
                                  line.text);
    }
    return status;
}

static gcg_status read_bytes(const void *data, size_t length, int64_t size_of_block, char *out, size_t size)
{
    gcg_input *in;
    gcg_status status = gcg_input_memory(data, length, "memory", size_of_block, &in, &err);
    if (status == GCG_OK) status = read_all(in, out, size);
    gcg_input_close(in);
    return status;
}

/* text (and its gzip) gives these lines at every block size. */
static void expect_lines(const char *text, size_t length, const char *want)
{
    static char found[4096];
    zipped.length = 0;
    add_member(&zipped, text, length);
    for (int k = 0; k < BLOCKS; k++) {
        ck_assert_int_eq(read_bytes(text, length, block[k], found, sizeof found), GCG_OK);
        ck_assert_str_eq(found, want);
        ck_assert_int_eq(read_bytes(zipped.byte, zipped.length, block[k], found, sizeof found), GCG_OK);
        ck_assert_str_eq(found, want);
    }
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}

#define EXPECT_LINES(text, want) expect_lines(text, sizeof text - 1, want)

START_TEST(lines_end_in_lf_or_crlf_or_at_the_end)
{
    EXPECT_LINES("", "");
    EXPECT_LINES("a", "1:a|");
    EXPECT_LINES("a\n", "1:a|");
    EXPECT_LINES("a\r\nbc\n\n\r\nd", "1:a|2:bc|3:|4:|5:d|");
    EXPECT_LINES("\n", "1:|");
}
END_TEST

START_TEST(a_byte_order_mark_is_skipped_at_the_start_only)
{
    EXPECT_LINES("\xef\xbb\xbfx,y\n\xef\xbb\xbfz", "1:x,y|2:\xef\xbb\xbfz|");
    EXPECT_LINES("\xef\xbb\xbf", "");
    EXPECT_LINES("\xef\xbb", "1:\xef\xbb|");
}
END_TEST

START_TEST(stray_carriage_returns_nul_bytes_and_quotes_are_marked)
{
    static const char text[] = "plain\r\na\rb\r\nx\0y\n\"q\"\r\ncr\r\r\nlast\r";
    static const struct {
        int64_t col;
        char bad;
        int quote;
        int64_t length;
    } want[] = {{0, 0, 0, 5}, {2, '\r', 0, 3}, {2, '\0', 0, 3},
                {0, 0, 1, 3}, {3, '\r', 0, 3}, {5, '\r', 0, 5}};
    for (int k = 0; k < BLOCKS; k++) {
        gcg_input *in;
        gcg_line line;
        int found;
        ck_assert_int_eq(gcg_input_memory(text, sizeof text - 1, "m", block[k], &in, &err), GCG_OK);
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            ck_assert_int_eq(gcg_input_line(in, &line, &found, &err), GCG_OK);
            ck_assert_int_eq(found, 1);
            ck_assert_int_eq(line.bad_col, want[i].col);
            if (want[i].col) ck_assert_int_eq(line.bad, want[i].bad);
            ck_assert_int_eq(line.has_quote, want[i].quote);
            ck_assert_int_eq(line.length, want[i].length);
        }
        gcg_input_close(in);
    }
}
END_TEST

START_TEST(random_text_comes_out_as_it_went_in)
{
    static char text[60000], out[200000], want[200000];
    static const char alphabet[] = "ab,\"\n\n5 ";
    gcg_rng rng;
    gcg_rng_init(&rng, 3, (uint64_t)_i);
    size_t n = 0, w = 0, number = 1;
    while (n < sizeof text) text[n++] = alphabet[gcg_rng_below(&rng, _i ? sizeof alphabet - 1 : 4)];
    for (size_t p = 0; p < n;) { /* naive */
        size_t q = p;
        while (q < n && text[q] != '\n') q++;
        w += (size_t)sprintf(want + w, "%zu:%.*s|", number++, (int)(q - p), text + p);
        p = q + 1;
    }
    zipped.length = 0;
    add_member(&zipped, text, n / 3);
    add_member(&zipped, text + n / 3, n - n / 3);
    for (int k = 0; k < BLOCKS; k++) {
        ck_assert_int_eq(read_bytes(text, n, block[k], out, sizeof out), GCG_OK);
        ck_assert(strcmp(out, want) == 0);
        ck_assert_int_eq(read_bytes(zipped.byte, zipped.length, block[k], out, sizeof out), GCG_OK);
        ck_assert(strcmp(out, want) == 0);
    }
}
END_TEST

START_TEST(a_line_may_be_megabytes_long)
{
    enum { LENGTH = 5000000 };
    char *text = malloc(LENGTH + 3);
    gcg_input *in;
    gcg_line line;
    int found;
    memset(text, 'x', LENGTH);
    memcpy(text + LENGTH, "\ny", 3);
    ck_assert_int_eq(gcg_input_memory(text, LENGTH + 2, "m", 0, &in, &err), GCG_OK);
    ck_assert_int_eq(gcg_input_line(in, &line, &found, &err), GCG_OK);
    ck_assert_int_eq(line.length, LENGTH);
    ck_assert_int_eq(gcg_input_line(in, &line, &found, &err), GCG_OK);
    ck_assert_int_eq(line.length, 1);
    ck_assert_int_eq(gcg_input_bytes(in), LENGTH + 2);
    gcg_input_close(in);
    free(text);
}
END_TEST

START_TEST(gzip_members_follow_each_other_and_may_be_empty_or_padded)
{
    char found[256];
    for (int padding = 0; padding < 2; padding++) {
        zipped.length = 0;
        add_member(&zipped, "", 0);
        add_member(&zipped, "a\nb", 3);
        add_member(&zipped, "", 0);
        add_member(&zipped, "c\n", 2);
        if (padding) {
            memset(zipped.byte + zipped.length, 0, 600);
            zipped.length += 600;
        }
        for (int k = 0; k < BLOCKS; k++) {
            ck_assert_int_eq(read_bytes(zipped.byte, zipped.length, block[k], found, sizeof found), GCG_OK);
            ck_assert_str_eq(found, "1:a|2:bc|");
        }
    }
}
END_TEST

START_TEST(gzip_cut_anywhere_is_refused_after_its_complete_lines)
{
    static const char text[] = "first line\nsecond line\nthird";
    static char found[256];
    zipped.length = 0;
    add_member(&zipped, text, sizeof text - 1);
    for (size_t length = 2; length < zipped.length; length++)
        for (int k = 0; k < BLOCKS; k++) {
            ck_assert_int_eq(read_bytes(zipped.byte, length, block[k], found, sizeof found), GCG_ERR_DATA);
            ck_assert_ptr_nonnull(strstr(err.text, "cut short"));
            ck_assert_str_eq(err.file, "memory");
            ck_assert(!strstr(found, "third")); /* a line that may be cut is not handed out */
        }
    ck_assert_str_eq(found, "1:first line|2:second line|");
    ck_assert_ptr_nonnull(strstr(err.text, "2 lines before"));
}
END_TEST

START_TEST(one_flipped_bit_of_a_gzip_file_is_never_read_as_good)
{
    static char text[3000], found[8000], whole[8000];
    for (size_t k = 0; k < sizeof text; k++) text[k] = k % 11 == 10 ? '\n' : (char)('a' + k * k % 26);
    zipped.length = 0;
    add_member(&zipped, text, sizeof text);
    ck_assert_int_eq(read_bytes(zipped.byte, zipped.length, 0, whole, sizeof whole), GCG_OK);
    int refused = 0;
    for (size_t at = 10; at < zipped.length; at++) { /* the header's time and system may differ */
        zipped.byte[at] ^= 1 << at % 8;
        if (read_bytes(zipped.byte, zipped.length, at % 2 ? 5 : 0, found, sizeof found) == GCG_ERR_DATA)
            refused++;
        else
            ck_assert_str_eq(found, whole); /* an unused bit */
        zipped.byte[at] ^= 1 << at % 8;
    }
    ck_assert_int_gt(refused, (int)zipped.length - 20);
}
END_TEST

START_TEST(bytes_after_the_gzip_data_are_refused)
{
    static const char *const tail[] = {"x", "<html>", "\x1f", "\x1f\x8c"};
    char found[64];
    for (size_t t = 0; t < sizeof tail / sizeof *tail; t++)
        for (int k = 0; k < BLOCKS; k++) {
            zipped.length = 0;
            add_member(&zipped, "a\n", 2);
            strcpy((char *)zipped.byte + zipped.length, tail[t]);
            zipped.length += strlen(tail[t]);
            ck_assert_int_eq(read_bytes(zipped.byte, zipped.length, block[k], found, sizeof found),
                             GCG_ERR_DATA);
            ck_assert_ptr_nonnull(strstr(err.text, "follow the gzip data"));
        }
    zipped.length = 0;
    add_member(&zipped, "a\n", 2);
    memcpy(zipped.byte + zipped.length, "\0\0z", 3); /* padding that is not all zero */
    ck_assert_int_eq(read_bytes(zipped.byte, zipped.length + 3, 0, found, sizeof found), GCG_ERR_DATA);
}
END_TEST

START_TEST(peeking_consumes_nothing)
{
    for (int k = 0; k < BLOCKS; k++) {
        gcg_input *in;
        const char *text;
        int64_t length;
        char found[64];
        ck_assert_int_eq(gcg_input_memory("\xef\xbb\xbf"
                                          "ab\ncd",
                                          8, "m", block[k], &in, &err),
                         GCG_OK);
        ck_assert_int_eq(gcg_input_peek(in, 4, &text, &length, &err), GCG_OK);
        ck_assert_int_ge(length, 4);
        ck_assert(memcmp(text, "ab\nc", 4) == 0);
        ck_assert_int_eq(gcg_input_peek(in, 100, &text, &length, &err), GCG_OK);
        ck_assert_int_eq(length, 5);
        ck_assert_int_eq(read_all(in, found, sizeof found), GCG_OK);
        ck_assert_str_eq(found, "1:ab|2:cd|");
        gcg_input_close(in);
    }
}
END_TEST

START_TEST(files_are_read_and_missing_ones_and_folders_are_io_errors)
{
    char path[] = "/tmp/check_input.XXXXXX", found[64];
    gcg_input *in;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "a\nb\n", 4), 4);
    close(fd);
    for (int k = 0; k < BLOCKS; k++) {
        ck_assert_int_eq(gcg_input_open(path, block[k], &in, &err), GCG_OK);
        ck_assert_str_eq(gcg_input_name(in), path);
        ck_assert_int_eq(read_all(in, found, sizeof found), GCG_OK);
        ck_assert_str_eq(found, "1:a|2:b|");
        gcg_input_close(in);
    }
    unlink(path);
    ck_assert_int_eq(gcg_input_open(path, 0, &in, &err), GCG_ERR_IO);
    ck_assert_str_eq(err.file, path);
    ck_assert_ptr_null(in);
    ck_assert_int_eq(gcg_input_open("/tmp", 0, &in, &err), GCG_ERR_IO);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(a_closed_standard_input_is_an_io_error_that_names_it)
{
    gcg_input *in;
    char found[64];
    int kept = dup(STDIN_FILENO); /* Check's own files must not take its number (CK_FORK=no) */
    close(STDIN_FILENO);
    ck_assert_int_eq(gcg_input_open("-", 0, &in, &err), GCG_OK);
    ck_assert_int_eq(read_all(in, found, sizeof found), GCG_ERR_IO);
    ck_assert_str_eq(err.file, "stdin");
    gcg_input_close(in);
    dup2(kept, STDIN_FILENO);
    close(kept);
}
END_TEST

START_TEST(standard_input_stays_open)
{
    gcg_input *in;
    char found[64];
    int pipe_ends[2];
    ck_assert_int_eq(pipe(pipe_ends), 0);
    ck_assert_int_eq(write(pipe_ends[1], "x\n", 2), 2);
    close(pipe_ends[1]);
    dup2(pipe_ends[0], STDIN_FILENO);
    ck_assert_int_eq(gcg_input_open("-", 0, &in, &err), GCG_OK);
    ck_assert_int_eq(read_all(in, found, sizeof found), GCG_OK);
    ck_assert_str_eq(found, "1:x|");
    gcg_input_close(in);
    ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
}
END_TEST

START_TEST(failing_memory_is_reported)
{
    static char text[20000], found[40000];
    memset(text, 'x', sizeof text - 1);
    zipped.length = 0;
    add_member(&zipped, text, sizeof text);
    for (int gzip = 0; gzip < 2; gzip++)
        for (int64_t n = 1;; n++) {
            gcg_mem_fail_at(n);
            gcg_status status = gzip ? read_bytes(zipped.byte, zipped.length, 128, found, sizeof found)
                                     : read_bytes(text, sizeof text, 128, found, sizeof found);
            gcg_mem_fail_at(0);
            ck_assert_int_eq(gcg_mem_blocks(), 0);
            if (status == GCG_OK) break;
            ck_assert_int_eq(status, GCG_ERR_NOMEM);
            ck_assert_int_lt(n, 200);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("input");
    TCase *t = tcase_create("input");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, lines_end_in_lf_or_crlf_or_at_the_end);
    tcase_add_test(t, a_byte_order_mark_is_skipped_at_the_start_only);
    tcase_add_test(t, stray_carriage_returns_nul_bytes_and_quotes_are_marked);
    tcase_add_loop_test(t, random_text_comes_out_as_it_went_in, 0, 2);
    tcase_add_test(t, a_line_may_be_megabytes_long);
    tcase_add_test(t, gzip_members_follow_each_other_and_may_be_empty_or_padded);
    tcase_add_test(t, gzip_cut_anywhere_is_refused_after_its_complete_lines);
    tcase_add_test(t, one_flipped_bit_of_a_gzip_file_is_never_read_as_good);
    tcase_add_test(t, bytes_after_the_gzip_data_are_refused);
    tcase_add_test(t, peeking_consumes_nothing);
    tcase_add_test(t, files_are_read_and_missing_ones_and_folders_are_io_errors);
    tcase_add_test(t, a_closed_standard_input_is_an_io_error_that_names_it);
    tcase_add_test(t, standard_input_stays_open);
    tcase_add_test(t, failing_memory_is_reported);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
