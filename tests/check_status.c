/* base/status: what messages look like, and how many are shown. */
#include "tests/naive.h"

#include "base/status.h"

static const char *quote(const char *text)
{
    static char out[256];
    return gcg_quote(out, text, (int64_t)strlen(text));
}

START_TEST(a_quoted_text_is_kept_when_it_prints)
{
    ck_assert_str_eq(quote("plain text, 42"), "plain text, 42");
    ck_assert_str_eq(quote(""), "");
    ck_assert_str_eq(quote("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xac"),
                     "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xac");
    ck_assert_str_eq(quote("\xc2\xa0\xed\x9f\xbf\xf4\x8f\xbf\xbf\xe0\xa0\x80\xf0\x90\x80\x80"),
                     "\xc2\xa0\xed\x9f\xbf\xf4\x8f\xbf\xbf\xe0\xa0\x80\xf0\x90\x80\x80");
}
END_TEST

START_TEST(bytes_that_do_not_print_are_quoted_in_hexadecimal)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"a\tb\nc\r", "a\\x09b\\x0Ac\\x0D"},
        {"\x1b[31m", "\\x1B[31m"},
        {"\x7f", "\\x7F"},
        {"\xff\xfe", "\\xFF\\xFE"},
        {"\x80", "\\x80"},                   /* continuation without a start */
        {"\xc3", "\\xC3"},                   /* start without a continuation */
        {"\xc3(", "\\xC3("},                 /* the same inside */
        {"\xc2\x85", "\\xC2\\x85"},          /* a control character of two bytes */
        {"\xc0\xaf", "\\xC0\\xAF"},          /* overlong, 2 bytes */
        {"\xe0\x80\xaf", "\\xE0\\x80\\xAF"}, /* overlong, 3 bytes */
        {"\xf0\x8f\xbf\xbf", "\\xF0\\x8F\\xBF\\xBF"},
        {"\xed\xa0\x80", "\\xED\\xA0\\x80"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80"}, /* beyond the last code point */
        {"\xf5\x80\x80\x80", "\\xF5\\x80\\x80\\x80"},
        {"\xe2\x82", "\\xE2\\x82"},
    };
    char out[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(quote(cases[i].text), cases[i].shown);
    ck_assert_str_eq(gcg_quote(out, "a\0b", 3), "a\\x00b");
    /* the length ends the text, also inside a character */
    ck_assert_str_eq(gcg_quote(out, "\xe2\x82\xac", 2), "\\xE2\\x82");
}
END_TEST

START_TEST(a_long_text_is_cut_at_60_bytes)
{
    char text[100], out[256], want[256];
    memset(text, 'x', sizeof text);
    memset(want, 'x', sizeof want);
    ck_assert_str_eq(gcg_quote(out, text, 60), (want[60] = '\0', want));
    memset(want, 'x', 60);
    strcpy(want + 60, "...");
    ck_assert_str_eq(gcg_quote(out, text, 61), want);
    /* a character that would stand across the 60th byte is left out */
    memcpy(text + 59, "\xc3\xa9", 2);
    strcpy(want + 59, "...");
    ck_assert_str_eq(gcg_quote(out, text, 80), want);
    memcpy(text + 58, "\xc3\xa9", 2);
    memcpy(want + 58, "\xc3\xa9...", 6);
    ck_assert_str_eq(gcg_quote(out, text, 80), want);
    memset(text, 1, sizeof text); /* the longest there is */
    gcg_quote(out, text, sizeof text);
    ck_assert_uint_eq(strlen(out), 60 * 4 + 3);
}
END_TEST

START_TEST(an_error_carries_its_place_and_text)
{
    gcg_err err;
    memset(&err, 'x', sizeof err);
    ck_assert_int_eq(gcg_fail(&err, GCG_ERR_DATA, "a.csv", 7, 3, "not a number: %s", "1,5"), GCG_ERR_DATA);
    ck_assert_int_eq(err.status, GCG_ERR_DATA);
    ck_assert_str_eq(err.file, "a.csv");
    ck_assert_int_eq(err.line, 7);
    ck_assert_int_eq(err.col, 3);
    ck_assert_str_eq(err.text, "not a number: 1,5");
    ck_assert_int_eq(gcg_fail(&err, GCG_ERR_IO, NULL, 0, 0, "two\nlines \xff"), GCG_ERR_IO);
    ck_assert_str_eq(err.file, "");
    ck_assert_str_eq(err.text, "two\\x0Alines \\xFF");
    ck_assert_int_eq(gcg_fail(NULL, GCG_ERR_USAGE, "f", 1, 1, "nobody listens"), GCG_ERR_USAGE);
    ck_assert_int_eq(gcg_fail_memory(&err, "ratings"), GCG_ERR_NOMEM);
    ck_assert_str_eq(err.text, "out of memory (ratings)");
}
END_TEST

START_TEST(a_long_file_name_keeps_its_end)
{
    gcg_err err;
    char name[600];
    memset(name, 'd', sizeof name);
    strcpy(name + 400, "/ratings.csv");
    gcg_fail(&err, GCG_ERR_IO, name, 0, 0, "x");
    ck_assert_uint_eq(strlen(err.file), sizeof err.file - 1);
    ck_assert_str_eq(err.file, name + strlen(name) - (sizeof err.file - 1));
    memset(name, 1, 300); /* takes four bytes each in print */
    memset(name + 300, 'e', 100);
    gcg_fail(&err, GCG_ERR_IO, name, 0, 0, "x");
    ck_assert_uint_le(strlen(err.file), sizeof err.file - 1);
    ck_assert_uint_ge(strlen(err.file), sizeof err.file - 4);
    ck_assert_mem_eq(err.file, "\\x01\\x01", 8);
    ck_assert_str_eq(err.file + strlen(err.file) - 112, name + 300);
    for (int i = 0; i < 400; i += 2) memcpy(name + i, "\xc3\xa9", 2); /* is not cut inside a character */
    gcg_fail(&err, GCG_ERR_IO, name, 0, 0, "x");
    ck_assert_mem_eq(err.file, "\xc3\xa9", 2);
    gcg_fail(&err, GCG_ERR_IO, "bad\nname\xfe", 0, 0, "x");
    ck_assert_str_eq(err.file, "bad\\x0Aname\\xFE");
}
END_TEST

START_TEST(a_long_message_is_cut_between_characters)
{
    gcg_err err;
    char text[1200];
    for (int i = 0; i + 1 < (int)sizeof text; i++) text[i] = '\x02';
    text[sizeof text - 1] = '\0';
    gcg_fail(&err, GCG_ERR_IO, NULL, 0, 0, "%s", text);
    ck_assert_uint_eq(strlen(err.text), 508); /* 127 times \x02 */
    ck_assert_str_eq(err.text + 504, "\\x02");
}
END_TEST

/* ---- diagnostics ---- */

typedef struct {
    int calls;
    gcg_severity severity;
    char file[300], text[600];
    int64_t line, col;
} heard;

static void listen(void *user, gcg_severity severity, const char *file, int64_t line, int64_t col,
                   const char *text)
{
    heard *h = user;
    h->calls++;
    h->severity = severity;
    snprintf(h->file, sizeof h->file, "%s", file ? file : "(none)");
    snprintf(h->text, sizeof h->text, "%s", text);
    h->line = line;
    h->col = col;
}

START_TEST(diagnostics_arrive_as_they_were_reported)
{
    heard h = {0};
    gcg_diag diag = {.emit = listen, .user = &h};
    gcg_report(&diag, GCG_WARNING, "dir/\x01.csv", 12, 5, "odd value %d%%", 3);
    ck_assert_int_eq(h.calls, 1);
    ck_assert_int_eq(h.severity, GCG_WARNING);
    ck_assert_str_eq(h.file, "dir/\\x01.csv");
    ck_assert_int_eq(h.line, 12);
    ck_assert_int_eq(h.col, 5);
    ck_assert_str_eq(h.text, "odd value 3%");
    gcg_report(&diag, GCG_NOTE, NULL, 0, 0, "a \x1b note");
    ck_assert_str_eq(h.file, "(none)");
    ck_assert_str_eq(h.text, "a \\x1B note");
    ck_assert_int_eq(diag.warnings, 1);
    ck_assert_int_eq(diag.errors, 0);
    gcg_report_rest(&diag, "f");
    ck_assert_int_eq(h.calls, 2);
}
END_TEST

START_TEST(ten_errors_are_shown_and_the_rest_counted)
{
    heard h = {0};
    gcg_diag diag = {.emit = listen, .user = &h};
    for (int i = 1; i <= 10; i++) gcg_report(&diag, GCG_ERROR, "f", i, 1, "error %d", i);
    ck_assert_int_eq(h.calls, 10);
    gcg_report_rest(&diag, "f");
    ck_assert_int_eq(h.calls, 10);
    gcg_report(&diag, GCG_ERROR, "f", 11, 1, "error 11");
    ck_assert_int_eq(h.calls, 10);
    ck_assert_str_eq(h.text, "error 10");
    gcg_report_rest(&diag, "f");
    ck_assert_str_eq(h.text, "and 1 more error");
    for (int i = 12; i <= 100; i++) gcg_report(&diag, GCG_ERROR, "f", i, 1, "error %d", i);
    gcg_report(&diag, GCG_WARNING, "f", 1, 1, "still heard");
    ck_assert_str_eq(h.text, "still heard");
    gcg_report_rest(&diag, "f");
    ck_assert_str_eq(h.text, "and 90 more errors");
    ck_assert_str_eq(h.file, "f");
    ck_assert_int_eq(h.severity, GCG_ERROR);
    ck_assert_int_eq(diag.errors, 100);
    ck_assert_int_eq(diag.shown, 10);
}
END_TEST

START_TEST(diagnostics_without_a_listener_are_counted)
{
    gcg_diag diag = {0};
    gcg_report(&diag, GCG_ERROR, "f", 1, 1, "x");
    gcg_report(&diag, GCG_WARNING, "f", 1, 1, "x");
    gcg_report_rest(&diag, "f");
    ck_assert_int_eq(diag.errors, 1);
    ck_assert_int_eq(diag.warnings, 1);
    gcg_report(NULL, GCG_ERROR, "f", 1, 1, "x");
    gcg_report_rest(NULL, "f");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("status");
    TCase *tests = tcase_create("messages");
    tcase_add_test(tests, a_quoted_text_is_kept_when_it_prints);
    tcase_add_test(tests, bytes_that_do_not_print_are_quoted_in_hexadecimal);
    tcase_add_test(tests, a_long_text_is_cut_at_60_bytes);
    tcase_add_test(tests, an_error_carries_its_place_and_text);
    tcase_add_test(tests, a_long_file_name_keeps_its_end);
    tcase_add_test(tests, a_long_message_is_cut_between_characters);
    tcase_add_test(tests, diagnostics_arrive_as_they_were_reported);
    tcase_add_test(tests, ten_errors_are_shown_and_the_rest_counted);
    tcase_add_test(tests, diagnostics_without_a_listener_are_counted);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
