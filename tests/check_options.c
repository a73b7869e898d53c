/* Option tables: what opt_parse takes, what it refuses, and that each refusal repeats the option and the
 * text. */
#define _POSIX_C_SOURCE 200809L
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmd/options.h"
#include "cmd/scoring.h"
#include "cmd/threads.h"

typedef struct {
    int flag, seen_real, choice, threads;
    const char *text;
    double real, ratio, small;
    int64_t count, size;
    uint64_t seed;
    scoring_clip clip;
} settings;

static const char *const colours[] = {"red", "green", "blue", NULL};

#define AT(name) .offset = offsetof(settings, name)
static const opt_entry table[] = {
    {.name = "flag", .kind = OPT_FLAG, AT(flag), .help = "a flag"},
    {.name = "real",
     .kind = OPT_REAL,
     AT(real),
     .seen_offset = offsetof(settings, seen_real),
     .argument = "X",
     .help = "any number"},
    {.name = "real-ratio",
     .kind = OPT_REAL,
     AT(ratio),
     .argument = "R",
     .min = 0,
     .open_min = 1,
     .max = 1,
     .help = "0 < R <= 1"},
    {.name = "small",
     .kind = OPT_REAL,
     AT(small),
     .argument = "X",
     .min = 0,
     .max = INFINITY,
     .wants = "nothing below nothing",
     .help = "at least 0"},
    {.name = "count",
     .letter = 'n',
     .kind = OPT_COUNT,
     AT(count),
     .argument = "N",
     .min = 1,
     .max = INFINITY,
     .help = "from 1"},
    {.name = "seed", .kind = OPT_UINT64, AT(seed), .argument = "N", .help = "a seed"},
    {.name = "size", .kind = OPT_SIZE, AT(size), .argument = "SIZE", .help = "bytes"},
    {.name = "colour",
     .kind = OPT_CHOICE,
     AT(choice),
     .argument = "NAME",
     .choices = colours,
     .help = "one of three"},
    {.name = "output", .letter = 'o', .kind = OPT_TEXT, AT(text), .argument = "FILE", .help = "a file"},
    {.name = "clip",
     .kind = OPT_CUSTOM,
     AT(clip),
     .argument = "LO,HI",
     .parse = scoring_parse_clip,
     .help = "a range"},
    {.name = "threads",
     .kind = OPT_CUSTOM,
     AT(threads),
     .argument = "N|auto",
     .parse = threads_parse,
     .help = "threads"},
};

static settings s;
static char **words;
static int word_count;
static char said[2048]; /* what went to stderr, or to stdout for --help */

/* Parses up to 15 words (NULL ends them) with fd in a file; its text goes into said. */
static int parse_to(int fd, const char *const *word)
{
    static char *argv[17];
    char name[] = "/tmp/check_options.XXXXXX";
    int argc = 1, keep = dup(fd), file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    unlink(name);
    fflush(NULL);
    dup2(file, fd);
    argv[0] = (char[]){"test"};
    while (argc < 16 && word[argc - 1]) {
        argv[argc] = strdup(word[argc - 1]);
        argc++;
    }
    argv[argc] = NULL;
    s = (settings){.real = -1};
    int code = opt_parse(argc, argv, "test [options]", "A test.", table, sizeof table / sizeof *table, &s,
                         &words, &word_count);
    fflush(NULL);
    dup2(keep, fd);
    ssize_t n = pread(file, said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    close(file);
    close(keep);
    return code;
}
#define PARSE(...) parse_to(STDERR_FILENO, (const char *const[]){__VA_ARGS__, NULL})

/* The option with this text is refused with exit code 2, in one line that repeats both. */
static void refused(const char *option, const char *text)
{
    ck_assert_msg(PARSE(option, text) == 2, "%s '%s' was not refused", option, text);
    char both[300];
    snprintf(both, sizeof both, "gcg-mc: error: %s '%s': ", option, text);
    ck_assert_msg(strncmp(said, both, strlen(both)) == 0, "'%s' does not start with '%s'", said, both);
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}

START_TEST(real_numbers_are_read_whole)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"5", 5},         {"-1.5", -1.5}, {"+2", 2},    {".5", .5}, {"5.", 5},
                {"1e3", 1e3},     {"1E-3", 1e-3}, {"0", 0},     {"007", 7}, {"1e+2", 100},
                {"1e300", 1e300}, {"0.1", 0.1},   {"1e-400", 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(PARSE("--real", good[i].text) == 0, "%s: %s", good[i].text, said);
        ck_assert_double_eq(s.real, good[i].value);
        ck_assert_int_eq(s.seen_real, 1);
    }
    ck_assert_int_eq(PARSE("--flag"), 0);
    ck_assert_int_eq(s.seen_real, 0);
}
END_TEST

START_TEST(what_is_not_quite_a_number_is_refused)
{
    static const char *const bad[] = {"",         "5x", "1e",    "1e+",    "0x1",   "1,5", "nan", "inf",
                                      "infinity", ".",  "-",     "+",      "--1",   "1 ",  " 1",  "1..2",
                                      "1e2.5",    "e5", "1e999", "-1e999", "1_000", "1f"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused("--real", bad[i]);
    ck_assert_double_eq(s.real, -1);
}
END_TEST

START_TEST(whole_numbers_refuse_fractions_and_overflow)
{
    static const char *const bad[] = {"2.5",
                                      "",
                                      "x",
                                      "1e3",
                                      "99999999999999999999",
                                      "-99999999999999999999",
                                      "9223372036854775808",
                                      "0x10",
                                      " 1",
                                      "1 ",
                                      "+",
                                      "1,000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused("--count", bad[i]);
    ck_assert_int_eq(PARSE("--count", "9223372036854775807"), 0);
    ck_assert_int_eq(s.count, INT64_MAX);
    ck_assert_int_eq(PARSE("--count", "+12"), 0);
    ck_assert_int_eq(s.count, 12);
}
END_TEST

START_TEST(ranges_hold_at_their_ends)
{
    ck_assert_int_eq(PARSE("--count", "1"), 0);
    refused("--count", "0");
    ck_assert_ptr_nonnull(strstr(said, "at least 1\n"));
    refused("--count", "-3");
    ck_assert_int_eq(PARSE("--real-ratio", "1"), 0);
    ck_assert_int_eq(PARSE("--real-ratio", "1e-300"), 0);
    refused("--real-ratio", "0");
    refused("--real-ratio", "1.0000000000000002");
    ck_assert_ptr_nonnull(strstr(said, "more than 0 and at most 1\n"));
    ck_assert_int_eq(PARSE("--small", "0"), 0);
    refused("--small", "-1e-300");
    ck_assert_ptr_nonnull(strstr(said, "nothing below nothing"));
}
END_TEST

START_TEST(seeds_have_64_bits)
{
    ck_assert_int_eq(PARSE("--seed", "18446744073709551615"), 0);
    ck_assert(s.seed == UINT64_MAX);
    ck_assert_int_eq(PARSE("--seed", "0"), 0);
    static const char *const bad[] = {"18446744073709551616", "-1", "+1", "1.0", "", "abc"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused("--seed", bad[i]);
}
END_TEST

START_TEST(sizes_take_powers_of_1024)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = {{"0", 0},
                {"1000", 1000},
                {"1K", 1024},
                {"1k", 1024},
                {"1.5K", 1536},
                {"3M", 3 << 20},
                {"2G", INT64_C(2) << 30},
                {"2g", INT64_C(2) << 30},
                {"4T", INT64_C(4) << 40},
                {"1e3", 1000}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_int_eq(PARSE("--size", good[i].text), 0);
        ck_assert_int_eq(s.size, good[i].bytes);
    }
    static const char *const bad[] = {"",
                                      "K",
                                      "-1K",
                                      "1KB",
                                      "1 K",
                                      "5x",
                                      "nan",
                                      "1e30G",
                                      "1KK",
                                      "inf",
                                      "00000000000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused("--size", bad[i]);
}
END_TEST

START_TEST(choices_are_taken_by_their_whole_name)
{
    ck_assert_int_eq(PARSE("--colour", "blue"), 0);
    ck_assert_int_eq(s.choice, 2);
    static const char *const bad[] = {"", "gre", "Green", "greenish", "red,green"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused("--colour", bad[i]);
    ck_assert_ptr_nonnull(strstr(said, "red, green, blue\n"));
}
END_TEST

START_TEST(own_parsers_are_asked)
{
    ck_assert_int_eq(PARSE("--clip", "-1.5,1e1"), 0);
    ck_assert(s.clip.low == -1.5 && s.clip.high == 10);
    static const char *const bad[] = {"", "1", "5,1", "1,1", "1,", ",1", "a,b", "1,2,3", "1;2", "nan,1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused("--clip", bad[i]);
    ck_assert_int_eq(PARSE("--threads", "3"), 0);
    ck_assert_int_eq(s.threads, 3);
    ck_assert_int_eq(PARSE("--threads", "auto"), 0);
    ck_assert_int_eq(s.threads, 0);
    refused("--threads", "0");
    ck_assert_ptr_nonnull(strstr(said, "auto"));
    refused("--threads", "two");
    refused("--threads", "1.5");
}
END_TEST

START_TEST(an_empty_text_is_refused)
{
    refused("--output", "");
    ck_assert_int_eq(PARSE("a", "", "b"), 2);
    ck_assert_int_eq(PARSE("a", "--", ""), 2);
}
END_TEST

/* flag, text and count given between three words. */
static void check_scattered(void)
{
    ck_assert_int_eq(PARSE("one", "--flag", "two", "-o", "out", "--count=7", "three", "-"), 0);
    ck_assert(s.flag == 1 && s.count == 7);
    ck_assert_str_eq(s.text, "out");
    ck_assert_int_eq(word_count, 4);
    ck_assert_str_eq(words[0], "one");
    ck_assert_str_eq(words[1], "two");
    ck_assert_str_eq(words[2], "three");
    ck_assert_str_eq(words[3], "-");
    ck_assert_str_eq(said, "");
}

START_TEST(options_may_stand_anywhere)
{
    check_scattered();
}
END_TEST

START_TEST(options_may_stand_anywhere_under_posixly_correct_too)
{
    setenv("POSIXLY_CORRECT", "1", 1);
    check_scattered();
}
END_TEST

START_TEST(two_dashes_end_the_options)
{
    ck_assert_int_eq(PARSE("one", "--flag", "--", "--real", "-o", "--"), 0);
    ck_assert_int_eq(s.flag, 1);
    ck_assert_int_eq(s.seen_real, 0);
    ck_assert_int_eq(word_count, 4);
    ck_assert_str_eq(words[1], "--real");
    ck_assert_str_eq(words[2], "-o");
    ck_assert_str_eq(words[3], "--");
}
END_TEST

START_TEST(an_argument_may_look_like_an_option)
{
    ck_assert_int_eq(PARSE("--output", "--flag"), 0);
    ck_assert_str_eq(s.text, "--flag");
    ck_assert_int_eq(s.flag, 0);
    ck_assert_int_eq(PARSE("-o--"), 0);
    ck_assert_str_eq(s.text, "--");
    refused("--real", "--flag");
}
END_TEST

START_TEST(the_last_of_a_repeated_option_counts)
{
    ck_assert_int_eq(PARSE("--real", "1", "--real=2", "-n3", "-n", "4"), 0);
    ck_assert_double_eq(s.real, 2);
    ck_assert_int_eq(s.count, 4);
}
END_TEST

START_TEST(a_prefix_that_only_one_option_has_is_taken)
{
    ck_assert_int_eq(PARSE("--fl", "--co", "3", "--se=4"), 2); /* --co: --count or --colour */
    ck_assert_int_eq(PARSE("--fl", "--cou", "3", "--se=4"), 0);
    ck_assert(s.flag == 1 && s.count == 3 && s.seed == 4);
    ck_assert_int_eq(PARSE("--real", "3"), 0); /* the whole name, though --real-ratio begins so too */
    ck_assert_double_eq(s.real, 3);
    ck_assert_int_eq(PARSE("--real-", "1"), 0);
    ck_assert_double_eq(s.ratio, 1);
}
END_TEST

START_TEST(an_ambiguous_prefix_is_refused_with_what_it_could_be)
{
    ck_assert_int_eq(PARSE("--rea", "3"), 2);
    ck_assert_str_eq(said, "gcg-mc: error: option --rea could be --real or --real-ratio\n");
    ck_assert_int_eq(PARSE("--c=3"), 2);
    ck_assert_str_eq(said, "gcg-mc: error: option --c could be --count or --colour or --clip\n");
}
END_TEST

START_TEST(a_missing_argument_is_named)
{
    ck_assert_int_eq(PARSE("x", "--real"), 2);
    ck_assert_str_eq(said, "gcg-mc: error: --real wants an argument: X\n");
    ck_assert_int_eq(PARSE("-o"), 2);
    ck_assert_str_eq(said, "gcg-mc: error: -o wants an argument: FILE\n");
    ck_assert_int_eq(PARSE("--flag=3"), 2);
    ck_assert_str_eq(said, "gcg-mc: error: --flag=3: --flag takes no argument\n");
    ck_assert_int_eq(PARSE("--help=me"), 2);
    ck_assert_str_eq(said, "gcg-mc: error: --help=me: --help takes no argument\n");
}
END_TEST

START_TEST(a_mistyped_option_is_told_the_nearest_name)
{
    static const struct {
        const char *word, *nearest;
    } typed[] = {
        {"--flug", "--flag?"},      {"--colur=red", "--colour?"},
        {"--ouptut", "--output?"},  {"--real_ratio", "--real-ratio?"},
        {"--threds", "--threads?"}, {"-flag", "--flag?"},
    };
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        ck_assert_int_eq(PARSE(typed[i].word), 2);
        ck_assert_msg(strstr(said, typed[i].nearest) != NULL, "%s: %s", typed[i].word, said);
    }
    ck_assert_int_eq(PARSE("--xyz"), 2);
    ck_assert_str_eq(said, "gcg-mc: error: unknown option --xyz (gcg-mc test --help lists them)\n");
    ck_assert_int_eq(PARSE("-x"), 2);
    ck_assert_str_eq(said, "gcg-mc: error: unknown option -x (gcg-mc test --help lists them)\n");
}
END_TEST

START_TEST(messages_hold_no_raw_bytes_and_stay_short)
{
    ck_assert_int_eq(PARSE("--real", "\033[31m\n"), 2);
    ck_assert_str_eq(said, "gcg-mc: error: --real '\\x1B[31m\\x0A': is not a number (or too large)\n");
    ck_assert_int_eq(PARSE("--\001\n"), 2);
    ck_assert_ptr_nonnull(strstr(said, "--\\x01\\x0A"));
    static char text[10001];
    memset(text, '7', sizeof text - 1);
    ck_assert_int_eq(PARSE("--count", text), 2);
    ck_assert_uint_lt(strlen(said), 200);
    memcpy(text, "--", 2);
    ck_assert_int_eq(PARSE(text), 2);
    ck_assert_uint_lt(strlen(said), 200);
}
END_TEST

START_TEST(help_lists_every_option_once_on_standard_output)
{
    ck_assert_int_eq(parse_to(STDOUT_FILENO, (const char *const[]){"x", "--help", "--nonsense", NULL}), -1);
    ck_assert_ptr_nonnull(strstr(said, "usage: gcg-mc test [options]\n"));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char name[64];
        snprintf(name, sizeof name, "--%s%s%s ", table[i].name, table[i].argument ? " " : "",
                 table[i].argument ? table[i].argument : "");
        char *at = strstr(said, name);
        ck_assert_msg(at != NULL, "no %s in %s", name, said);
        ck_assert_ptr_null(strstr(at + 1, name));
        ck_assert_ptr_nonnull(strstr(said, table[i].help));
    }
    ck_assert_ptr_nonnull(strstr(said, "-o, --output FILE"));
    ck_assert_ptr_nonnull(strstr(said, "--help "));
}
END_TEST

START_TEST(distance_counts_changed_dropped_and_added_letters)
{
    ck_assert_int_eq(opt_distance("", ""), 0);
    ck_assert_int_eq(opt_distance("", "abc"), 3);
    ck_assert_int_eq(opt_distance("abc", ""), 3);
    ck_assert_int_eq(opt_distance("lamda", "lambda"), 1);
    ck_assert_int_eq(opt_distance("lambda", "lamda"), 1);
    ck_assert_int_eq(opt_distance("kitten", "sitting"), 3);
    ck_assert_int_eq(opt_distance("gap", "rank"), 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *t = tcase_create("options");
    tcase_add_test(t, real_numbers_are_read_whole);
    tcase_add_test(t, what_is_not_quite_a_number_is_refused);
    tcase_add_test(t, whole_numbers_refuse_fractions_and_overflow);
    tcase_add_test(t, ranges_hold_at_their_ends);
    tcase_add_test(t, seeds_have_64_bits);
    tcase_add_test(t, sizes_take_powers_of_1024);
    tcase_add_test(t, choices_are_taken_by_their_whole_name);
    tcase_add_test(t, own_parsers_are_asked);
    tcase_add_test(t, an_empty_text_is_refused);
    tcase_add_test(t, options_may_stand_anywhere);
    tcase_add_test(t, options_may_stand_anywhere_under_posixly_correct_too);
    tcase_add_test(t, two_dashes_end_the_options);
    tcase_add_test(t, an_argument_may_look_like_an_option);
    tcase_add_test(t, the_last_of_a_repeated_option_counts);
    tcase_add_test(t, a_prefix_that_only_one_option_has_is_taken);
    tcase_add_test(t, an_ambiguous_prefix_is_refused_with_what_it_could_be);
    tcase_add_test(t, a_missing_argument_is_named);
    tcase_add_test(t, a_mistyped_option_is_told_the_nearest_name);
    tcase_add_test(t, messages_hold_no_raw_bytes_and_stay_short);
    tcase_add_test(t, help_lists_every_option_once_on_standard_output);
    tcase_add_test(t, distance_counts_changed_dropped_and_added_letters);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
