/* Decimal numbers against strtod in the C locale, bit for bit. */
#include <check.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "io/number.h"

static gcg_number_result parse(const char *text, double *value)
{
    *value = -1;
    return gcg_number_parse(text, (int64_t)strlen(text), value);
}

/* Equal to strtod to the last bit. */
static void check_value(const char *text)
{
    double value, want = strtod(text, NULL);
    ck_assert_msg(parse(text, &value) == GCG_NUMBER_OK, "'%.80s' was refused", text);
    if (want == 0) want = 0; /* -0 reads as 0 */
    ck_assert_msg(memcmp(&value, &want, sizeof value) == 0, "'%.80s' is %a, not %a", text, value, want);
}

START_TEST(usual_ratings_are_read)
{
    static const char *const text[] = {
        "0",     "5",    "4.5",   ".5",    "5.",      "+3.5",  "-9.95",           "1e0",
        "1E+2",  "2e-3", "007",   "-0",    "-0.0e-9", "0e999", "1e100",           "-1e100",
        "1e-99", "0.1",  "0.2e1", "100.0", "0.30",    "00.1",  "3.14159265358979"};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) check_value(text[k]);
}
END_TEST

START_TEST(hard_roundings_are_right)
{
    static const char *const text[] = {
        "9007199254740993",                     /* 2^53 + 1: a tie, to even */
        "9007199254740993.0000000000000000001", /* just above it */
        "9007199254740992.9999999999999999999",
        "0.500000000000000166533453693773481063544750213623046875", /* a tie below 1 */
        "1.00000000000000011102230246251565404236316680908203125",
        "2.2250738585072011e-308",
        "4.9e-324",
        "2.4e-324",
        "1e-400",
        "8.988465674311579e+99",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000000000123456789012345678",
        "1e23",
        "8.5e22",
        "99999999999999999999e-5",
        "18446744073709551616",
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) check_value(text[k]);
}
END_TEST

START_TEST(thousands_of_digits_are_read_exactly)
{
    static char text[6000];
    memset(text, '0', sizeof text);
    strcpy(text, "9007199254740993.");
    memset(text + 17, '0', 4000);
    strcpy(text + 17 + 4000, "1"); /* a tie but for the 4000th digit after the point */
    check_value(text);
    strcpy(text + 17 + 4000, "0");
    check_value(text);
    memset(text, '9', 50);
    text[50] = '\0';
    check_value(text);
    memset(text, '0', 5000);
    strcpy(text + 5000, "12.5");
    check_value(text);
    strcpy(text, "0.");
    memset(text + 2, '0', 3000);
    strcpy(text + 3002, "25e3000");
    check_value(text);
    memset(text, '1', 3000);
    strcpy(text + 3000, "e-2990");
    check_value(text);
}
END_TEST

START_TEST(random_decimals_agree_with_strtod)
{
    gcg_rng rng;
    char text[128];
    gcg_rng_init(&rng, 11, (uint64_t)_i);
    for (int k = 0; k < 20000; k++) {
        int n = 0, digits = 1 + (int)gcg_rng_below(&rng, 1 + 12 * (uint64_t)_i + 5),
            point = (int)gcg_rng_below(&rng, 30);
        if (gcg_rng_below(&rng, 2)) text[n++] = '-';
        for (int d = 0; d < digits; d++) {
            if (d == point) text[n++] = '.';
            text[n++] = (char)('0' + gcg_rng_below(&rng, 10));
        }
        text[n] = '\0';
        if (gcg_rng_below(&rng, 2)) sprintf(text + n, "e%d", (int)gcg_rng_below(&rng, 80) - 60);
        if (fabs(strtod(text, NULL)) <= 1e100) check_value(text);
    }
}
END_TEST

START_TEST(shortest_and_longest_forms_of_random_doubles_read_back)
{
    gcg_rng rng;
    char text[64];
    gcg_rng_init(&rng, 12, 0);
    for (int k = 0; k < 20000; k++) {
        double v = gcg_rng_normal(&rng) * pow(10, (double)gcg_rng_below(&rng, 60) - 30), back;
        snprintf(text, sizeof text, "%.17g", v);
        ck_assert_int_eq(parse(text, &back), GCG_NUMBER_OK);
        ck_assert(back == v);
        snprintf(text, sizeof text, "%.6g", v);
        check_value(text);
    }
}
END_TEST

START_TEST(all_else_is_refused)
{
    static const char *const text[] = {
        "nan",   "NaN", "inf", "-inf",   "0x10",  "1,5",      "1_000", "5x",  "x5",      "1e",
        "1e+",   "e5",  ".",   "-",      "+",     "--1",      "+-1",   " 1",  "1 ",      "1.2.3",
        "1e5.0", "..",  ".e1", "4stars", "1e5e5", "\xd9\xa3", "1'000", "1d5", "infinity"};
    double value;
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        ck_assert_msg(parse(text[k], &value) == GCG_NUMBER_SYNTAX, "'%s' was not refused", text[k]);
    ck_assert_int_eq(parse("", &value), GCG_NUMBER_EMPTY);
    static const char *const large[] = {"1e400", "-1e101", "1.000000000000001e100", "1e99999999999999999999",
                                        "2e100"};
    for (size_t k = 0; k < sizeof large / sizeof *large; k++)
        ck_assert_int_eq(parse(large[k], &value), GCG_NUMBER_RANGE);
}
END_TEST

START_TEST(only_the_given_bytes_are_read)
{
    double value;
    ck_assert_int_eq(gcg_number_parse("12345", 2, &value), GCG_NUMBER_OK);
    ck_assert(value == 12);
    ck_assert_int_eq(gcg_number_parse("1e5", 2, &value), GCG_NUMBER_SYNTAX);
}
END_TEST

START_TEST(the_locale_does_not_matter)
{
    double value;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is not installed, this proves little */
    ck_assert_int_eq(parse("4.5", &value), GCG_NUMBER_OK);
    ck_assert(value == 4.5);
    ck_assert_int_eq(parse("1234567890.12345678901234567890", &value), GCG_NUMBER_OK);
    ck_assert(value == 1234567890.12345678901234567890);
    ck_assert_int_eq(parse("4,5", &value), GCG_NUMBER_SYNTAX);
    setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(counts_are_digits_only_and_fit_63_bits)
{
    int64_t n;
    ck_assert(gcg_count_parse("0", 1, &n) && n == 0);
    ck_assert(gcg_count_parse("0012", 4, &n) && n == 12);
    ck_assert(gcg_count_parse("9223372036854775807", 19, &n) && n == INT64_MAX);
    ck_assert(!gcg_count_parse("9223372036854775808", 19, &n));
    ck_assert(!gcg_count_parse("99999999999999999999", 20, &n));
    ck_assert(!gcg_count_parse("", 0, &n));
    ck_assert(!gcg_count_parse("-1", 2, &n));
    ck_assert(!gcg_count_parse("1.0", 3, &n));
    ck_assert(!gcg_count_parse("\xff", 1, &n));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("parse");
    TCase *t = tcase_create("parse");
    tcase_add_test(t, usual_ratings_are_read);
    tcase_add_test(t, hard_roundings_are_right);
    tcase_add_test(t, thousands_of_digits_are_read_exactly);
    tcase_add_loop_test(t, random_decimals_agree_with_strtod, 0, 4);
    tcase_add_test(t, shortest_and_longest_forms_of_random_doubles_read_back);
    tcase_add_test(t, all_else_is_refused);
    tcase_add_test(t, only_the_given_bytes_are_read);
    tcase_add_test(t, the_locale_does_not_matter);
    tcase_add_test(t, counts_are_digits_only_and_fit_63_bits);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
