/* The input door and the buffers of whole lines: plain, gzip by each library, damage, at every block size. */
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
#include "io/inflate.h"
#include "io/input.h"
#include "io/text.h"

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

/* Appends the lines of a text as "number:text|". */
static size_t put_lines(const gcg_text *t, size_t *number, char *out, size_t n, size_t size)
{
    for (const char *p = t->bytes + t->from, *end = t->bytes + t->cut; p < end;) {
        const char *lf = memchr(p, '\n', (size_t)(end - p)), *stop = lf ? lf : end;
        int crlf = lf && stop > p && stop[-1] == '\r';
        ++*number;
        if (n + (size_t)(stop - p) + 32 < size)
            n += (size_t)snprintf(out + n, size - n, "%zu:%.*s|", *number, (int)(stop - p - crlf), p);
        p = lf ? lf + 1 : end;
    }
    return n;
}

/* All lines of an input, read want bytes at a time; the status of the whole. */
static gcg_status read_all(gcg_input *in, int64_t want, char *out, size_t size)
{
    static const char padding[GCG_TEXT_PADDING];
    gcg_text text[2] = {{0}, {0}};
    size_t n = 0, number = 0;
    out[0] = '\0';
    gcg_status status = gcg_text_fill(&text[0], NULL, in, want, &err);
    for (int k = 0; status == GCG_OK; k = !k) {
        if (memcmp(text[k].bytes + text[k].end, padding, sizeof padding) != 0) ck_abort_msg("no padding");
        n = put_lines(&text[k], &number, out, n, size);
        if (text[k].ended) break;
        status = gcg_text_fill(&text[!k], &text[k], in, want, &err);
    }
    gcg_text_release(&text[0]);
    gcg_text_release(&text[1]);
    return status == GCG_OK ? gcg_input_end(in, &err) : status;
}

static int with_zlib; /* 0: libisal where it was built in */

static gcg_status read_bytes(const void *data, size_t length, int64_t size_of_block, char *out, size_t size)
{
    gcg_input *in;
    gcg_status status = gcg_input_memory(data, length, "memory", size_of_block, with_zlib, &in, &err);
    if (status == GCG_OK) status = read_all(in, size_of_block ? size_of_block : 4096, out, size);
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
    with_zlib = _i;
    EXPECT_LINES("", "");
    EXPECT_LINES("a", "1:a|");
    EXPECT_LINES("a\n", "1:a|");
    EXPECT_LINES("a\r\nbc\n\n\r\nd", "1:a|2:bc|3:|4:|5:d|");
    EXPECT_LINES("\n", "1:|");
}
END_TEST

START_TEST(random_text_comes_out_as_it_went_in)
{
    static char text[60000], out[200000], want[200000];
    static const char alphabet[] = "ab,\"\n\n5 ";
    gcg_rng rng;
    with_zlib = _i / 2;
    gcg_rng_init(&rng, 3, (uint64_t)_i);
    size_t n = 0, w = 0, number = 1;
    while (n < sizeof text) text[n++] = alphabet[gcg_rng_below(&rng, _i % 2 ? sizeof alphabet - 1 : 4)];
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
    gcg_text first = {0}, second = {0};
    memset(text, 'x', LENGTH);
    memcpy(text + LENGTH, "\ny", 3);
    ck_assert_int_eq(gcg_input_memory(text, LENGTH + 2, "m", 0, 0, &in, &err), GCG_OK);
    ck_assert_int_eq(gcg_text_fill(&first, NULL, in, 1000, &err), GCG_OK);
    ck_assert_int_ge(first.cut, LENGTH + 1);
    ck_assert_int_eq(gcg_input_stored(in), LENGTH + 2);
    ck_assert_int_lt(first.capacity, 3 * LENGTH);
    if (!first.ended) ck_assert_int_eq(gcg_text_fill(&second, &first, in, 1000, &err), GCG_OK);
    ck_assert_int_eq(first.ended ? first.end : second.end, first.ended ? LENGTH + 2 : 1);
    gcg_text_release(&first);
    gcg_text_release(&second);
    gcg_input_close(in);
    free(text);
}
END_TEST

START_TEST(gzip_members_follow_each_other_and_may_be_empty_or_padded)
{
    with_zlib = _i;
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
    with_zlib = _i;
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
}
END_TEST

START_TEST(one_flipped_bit_of_a_gzip_file_is_never_read_as_good)
{
    with_zlib = _i;
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
    with_zlib = _i;
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

/* What reading says: the status, the message and the lines. */
static void tell(const bytes *b, size_t length, int64_t size_of_block, char *out, size_t size)
{
    static char lines[8000];
    memset(&err, 0, sizeof err);
    gcg_status status = read_bytes(b->byte, length, size_of_block, lines, sizeof lines);
    snprintf(out, size, "%d %s\n%s", (int)status, err.text, lines);
}

static const char *both(const bytes *b, size_t length, int64_t size_of_block, int zlib)
{
    static char said[2][9000];
    with_zlib = zlib;
    tell(b, length, size_of_block, said[zlib], sizeof said[zlib]);
    with_zlib = 0;
    return said[zlib];
}

START_TEST(both_libraries_say_the_same)
{
    static char text[900];
    gcg_rng rng;
    gcg_rng_init(&rng, 8, 0);
    for (size_t k = 0; k < sizeof text; k++) text[k] = "01234567890\t\n.ab"[gcg_rng_below(&rng, 16)];
    zipped.length = 0;
    add_member(&zipped, text, 300);
    size_t trailer = zipped.length - 8;
    add_member(&zipped, text + 300, sizeof text - 300);
    for (size_t length = 2; length <= zipped.length; length++)
        for (int k = 1; k < BLOCKS; k += 3)
            ck_assert_str_eq(both(&zipped, length, block[k], 0), both(&zipped, length, block[k], 1));
    for (size_t at = 2; at < zipped.length; at++) {
        zipped.byte[at] ^= (unsigned char)(1 << at % 8);
        const char *isal = both(&zipped, zipped.length, at % 3 ? 0 : 5, 0),
                   *zlib = both(&zipped, zipped.length, at % 3 ? 0 : 5, 1);
        if (at < 10 || (at >= trailer && at < trailer + 18))
            ck_assert_str_eq(isal, zlib);
        else /* of damaged deflate data they may make more or less before they notice */
            ck_assert_int_eq(isal[0], zlib[0]);
        zipped.byte[at] ^= (unsigned char)(1 << at % 8);
    }
}
END_TEST

/* A header with every optional part. */
START_TEST(every_part_of_a_gzip_header_is_read)
{
    static const char text[] = "a\nb\n";
    char found[64];
    bytes plain = {.length = 0};
    add_member(&plain, text, sizeof text - 1);
    for (int flags = 0; flags < 32; flags++) {
        unsigned char head[64] = {0x1f, 0x8b, 8, (unsigned char)flags};
        size_t n = 10;
        if (flags & 4) {
            memcpy(head + n, "\3\0xyz", 5);
            n += 5;
        }
        if (flags & 8) n += (size_t)sprintf((char *)head + n, "name") + 1;
        if (flags & 16) n += (size_t)sprintf((char *)head + n, "comment") + 1;
        if (flags & 2) {
            uint32_t crc = (uint32_t)crc32(0, head, (uInt)n);
            head[n++] = (unsigned char)crc;
            head[n++] = (unsigned char)(crc >> 8);
        }
        memcpy(zipped.byte, head, n);
        memcpy(zipped.byte + n, plain.byte + 10, plain.length - 10);
        for (int k = 0; k < BLOCKS; k++) {
            ck_assert_int_eq(read_bytes(zipped.byte, n + plain.length - 10, block[k], found, sizeof found),
                             GCG_OK);
            ck_assert_str_eq(found, "1:a|2:b|");
        }
        if (!(flags & 2)) continue;
        zipped.byte[4] ^= 1; /* the time stamp: only the check sum of the header knows */
        ck_assert_int_eq(read_bytes(zipped.byte, n + plain.length - 10, 0, found, sizeof found),
                         GCG_ERR_DATA);
        ck_assert_ptr_nonnull(strstr(err.text, "header"));
    }
    memcpy(zipped.byte, "\x1f\x8b\x07\0\0\0\0\0\0\0", 10);
    ck_assert_int_eq(read_bytes(zipped.byte, 10, 0, found, sizeof found), GCG_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.text, "compression method"));
}
END_TEST

START_TEST(a_look_at_text_counts_its_lines_and_finds_its_special_bytes)
{
    static char text[20000];
    gcg_rng rng;
    gcg_rng_init(&rng, 9, (uint64_t)_i);
    for (int k = 0; k < 300; k++) {
        size_t length = gcg_rng_below(&rng, k < 250 ? 70 : sizeof text);
        gcg_text_scan want = {0};
        for (size_t i = 0; i < length; i++) {
            text[i] = gcg_rng_below(&rng, 30) ? '\n' : "x\r\"\0\x8a"[gcg_rng_below(&rng, k % 2 ? 1 : 5)];
            want.lines += text[i] == '\n';
            want.cr |= text[i] == '\r';
            want.quote |= text[i] == '"';
            want.nul |= text[i] == '\0';
        }
        gcg_text_scan found = gcg_text_look(text, (int64_t)length);
        ck_assert_int_eq(found.lines, want.lines);
        ck_assert(found.cr == want.cr && found.quote == want.quote && found.nul == want.nul);
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
        ck_assert_int_eq(gcg_input_open(path, block[k], 0, &in, &err), GCG_OK);
        ck_assert_str_eq(gcg_input_name(in), path);
        ck_assert_int_eq(read_all(in, 1 << 16, found, sizeof found), GCG_OK);
        ck_assert_str_eq(found, "1:a|2:b|");
        gcg_input_close(in);
    }
    unlink(path);
    ck_assert_int_eq(gcg_input_open(path, 0, 0, &in, &err), GCG_ERR_IO);
    ck_assert_str_eq(err.file, path);
    ck_assert_ptr_null(in);
    ck_assert_int_eq(gcg_input_open("/tmp", 0, 0, &in, &err), GCG_ERR_IO);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(a_closed_standard_input_is_an_io_error_that_names_it)
{
    gcg_input *in;
    char found[64];
    int kept = dup(STDIN_FILENO); /* Check's own files must not take its number (CK_FORK=no) */
    close(STDIN_FILENO);
    ck_assert_int_eq(gcg_input_open("-", 0, 0, &in, &err), GCG_OK);
    ck_assert_int_eq(read_all(in, 1 << 16, found, sizeof found), GCG_ERR_IO);
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
    ck_assert_int_eq(gcg_input_open("-", 0, 0, &in, &err), GCG_OK);
    ck_assert_int_eq(read_all(in, 1 << 16, found, sizeof found), GCG_OK);
    ck_assert_str_eq(found, "1:x|");
    gcg_input_close(in);
    ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
}
END_TEST

START_TEST(failing_memory_is_reported)
{
    with_zlib = _i;
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
    tcase_add_loop_test(t, lines_end_in_lf_or_crlf_or_at_the_end, 0, 2);
    tcase_add_loop_test(t, random_text_comes_out_as_it_went_in, 0, 4);
    tcase_add_test(t, a_line_may_be_megabytes_long);
    tcase_add_loop_test(t, gzip_members_follow_each_other_and_may_be_empty_or_padded, 0, 2);
    tcase_add_loop_test(t, gzip_cut_anywhere_is_refused_after_its_complete_lines, 0, 2);
    tcase_add_loop_test(t, one_flipped_bit_of_a_gzip_file_is_never_read_as_good, 0, 2);
    tcase_add_loop_test(t, bytes_after_the_gzip_data_are_refused, 0, 2);
    tcase_add_test(t, both_libraries_say_the_same);
    tcase_add_test(t, every_part_of_a_gzip_header_is_read);
    tcase_add_loop_test(t, a_look_at_text_counts_its_lines_and_finds_its_special_bytes, 0, 2);
    tcase_add_test(t, files_are_read_and_missing_ones_and_folders_are_io_errors);
    tcase_add_test(t, a_closed_standard_input_is_an_io_error_that_names_it);
    tcase_add_test(t, standard_input_stays_open);
    tcase_add_loop_test(t, failing_memory_is_reported, 0, 2);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
