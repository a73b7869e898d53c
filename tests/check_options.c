/* Option tables, strict numbers, nearest names, threads, printed numbers. */
#define _POSIX_C_SOURCE 200809L
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "cmd/options.h"
#include "cmd/report.h"
#include "cmd/threads.h"

/* ---- a table with every kind ---- */

typedef struct {
    int flag, choice, seen, custom;
    const char *text;
    double real, free;
    int64_t count, size;
    uint64_t wide;
} settings;

static const char *const colours[] = {"red", "green", "blue", NULL};

static int parse_even(const char *text, void *field, char *message, size_t size)
{
    int64_t n;
    if (opt_integer(text, &n) == 0 && n % 2 == 0) {
        *(int *)field = (int)n;
        return 0;
    }
    snprintf(message, size, "wants an even number");
    return -1;
}

static const opt_entry table[] = {
    {.name = "flag", .letter = 'f', .kind = OPT_FLAG, .offset = offsetof(settings, flag), .help = "a flag"},
    {.name = "text",
     .letter = 't',
     .kind = OPT_TEXT,
     .offset = offsetof(settings, text),
     .argument = "FILE",
     .help = "a text"},
    {.name = "ratio",
     .kind = OPT_REAL,
     .offset = offsetof(settings, real),
     .argument = "R",
     .open_min = 1,
     .max = 1,
     .seen_offset = offsetof(settings, seen),
     .help = "a number"},
    {.name = "real", .kind = OPT_REAL, .offset = offsetof(settings, free), .argument = "X", .help = "any"},
    {.name = "count",
     .kind = OPT_COUNT,
     .offset = offsetof(settings, count),
     .argument = "N",
     .min = 1,
     .max = 9e18,
     .help = "a count"},
    {.name = "seed", .kind = OPT_UINT64, .offset = offsetof(settings, wide), .argument = "N", .help = "wide"},
    {.name = "size",
     .kind = OPT_SIZE,
     .offset = offsetof(settings, size),
     .argument = "SIZE",
     .help = "bytes"},
    {.name = "choice",
     .kind = OPT_CHOICE,
     .offset = offsetof(settings, choice),
     .argument = "COLOUR",
     .choices = colours,
     .help = "a choice"},
    {.name = "even",
     .kind = OPT_CUSTOM,
     .offset = offsetof(settings, custom),
     .argument = "N",
     .parse = parse_even,
     .help = "an even number"},
};

enum { MOST_WORDS = 32, MESSAGE = 4096 };

static const opt_command command = {.name = "fit",
                                    .usage = "fit --ratio R FILE...",
                                    .about = "Fits.",
                                    .table = table,
                                    .entries = sizeof table / sizeof *table};

/* Two commands that share a table. */
enum { FIRST = 1, SECOND = 2 };
static const opt_entry shared[] = {
    {.name = "group of the second", .kind = OPT_GROUP, .not_in = FIRST},
    {.name = "count",
     .letter = 'c',
     .kind = OPT_COUNT,
     .offset = offsetof(settings, count),
     .argument = "N",
     .min = 1,
     .max = 9,
     .help = "a count of the first",
     .not_in = SECOND},
    {.name = "count",
     .letter = 'c',
     .kind = OPT_COUNT,
     .offset = offsetof(settings, count),
     .argument = "M",
     .min = 10,
     .max = 99,
     .help = "a count of the second",
     .not_in = FIRST},
    {.name = "flag", .kind = OPT_FLAG, .offset = offsetof(settings, flag), .help = "of both"},
    {.name = "lonely", .kind = OPT_FLAG, .offset = offsetof(settings, seen), .help = "x", .not_in = SECOND},
};
static const opt_command command_first = {
    .name = "first", .usage = "", .about = "", .table = shared, .entries = 5, .bit = FIRST};
static const opt_command command_second = {
    .name = "second", .usage = "", .about = "", .table = shared, .entries = 5, .bit = SECOND};

static const opt_command *parsing = &command;
static settings parsed;
static char **words;
static int word_count;
static char message[MESSAGE], help[MESSAGE];
static char *argument[MOST_WORDS + 1]; /* opt_parse's words point into it */

/* Sends fd to a fresh file; returns the file, and in *kept what fd was. */
static FILE *redirect(int fd, int *kept)
{
    FILE *file = tmpfile();
    fflush(NULL);
    *kept = dup(fd);
    dup2(fileno(file), fd);
    return file;
}

static void restore(FILE *file, int fd, int kept, char *text)
{
    fflush(NULL);
    dup2(kept, fd);
    close(kept);
    rewind(file);
    text[fread(text, 1, MESSAGE - 1, file)] = '\0';
    fclose(file);
}

/* Parses the words of line, separated by '|', as arguments of "fit"; what it says goes to message and help.
 */
static int parse(const char *line)
{
    static char copy[1024];
    int kept_out, kept_err, argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    argument[0] = (char[]){"fit"};
    char *next = copy;
    while (next && *line) {
        char *word = next;
        next = strchr(word, '|');
        if (next) *next++ = '\0';
        ck_assert_int_lt(argc, MOST_WORDS);
        argument[argc++] = word;
    }
    argument[argc] = NULL;
    parsed = (settings){0};
    FILE *out = redirect(STDOUT_FILENO, &kept_out), *err = redirect(STDERR_FILENO, &kept_err);
    int code = opt_parse(argc, argument, parsing, &parsed, &words, &word_count);
    restore(err, STDERR_FILENO, kept_err, message);
    restore(out, STDOUT_FILENO, kept_out, help);
    return code;
}

/* 2, one line, and the message holds both texts. */
static void refuses(const char *line, const char *first, const char *second)
{
    ck_assert_msg(parse(line) == 2, "%s is taken", line);
    ck_assert_msg(strstr(message, first) && strstr(message, second), "%s: no '%s' and '%s' in: %s", line,
                  first, second, message);
    ck_assert_msg(strncmp(message, "gcg-mc: error: ", 15) == 0, "%s", message);
    ck_assert_ptr_eq(strchr(message, '\n'), message + strlen(message) - 1);
    ck_assert_str_eq(help, "");
}

START_TEST(every_kind_of_option_is_taken)
{
    ck_assert_int_eq(
        parse("-f|--text|a b|--ratio|.5|--real|-1e3|--count|7|--seed|18446744073709551615|--size|"
              "2K|--choice|blue|--even|4"),
        0);
    ck_assert_int_eq(parsed.flag, 1);
    ck_assert_str_eq(parsed.text, "a b");
    ck_assert_double_eq(parsed.real, 0.5);
    ck_assert_int_eq(parsed.seen, 1);
    ck_assert_double_eq(parsed.free, -1000);
    ck_assert_int_eq(parsed.count, 7);
    ck_assert_uint_eq(parsed.wide, UINT64_MAX);
    ck_assert_int_eq(parsed.size, 2048);
    ck_assert_int_eq(parsed.choice, 2);
    ck_assert_int_eq(parsed.custom, 4);
    ck_assert_int_eq(word_count, 0);
    ck_assert_str_eq(message, "");
}
END_TEST

START_TEST(an_option_that_was_not_given_leaves_its_field_alone)
{
    ck_assert_int_eq(parse("x"), 0);
    ck_assert_int_eq(parsed.seen, 0);
    ck_assert_ptr_null(parsed.text);
}
END_TEST

START_TEST(options_stand_anywhere_and_words_keep_their_order)
{
    ck_assert_int_eq(parse("one|--flag|two|--count|3|-|three|--text=x"), 0);
    ck_assert_int_eq(word_count, 4);
    ck_assert_str_eq(words[0], "one");
    ck_assert_str_eq(words[1], "two");
    ck_assert_str_eq(words[2], "-");
    ck_assert_str_eq(words[3], "three");
    ck_assert_int_eq(parsed.flag, 1);
    ck_assert_int_eq(parsed.count, 3);
    ck_assert_str_eq(parsed.text, "x");
}
END_TEST

START_TEST(options_stand_anywhere_under_posixly_correct_too)
{
    setenv("POSIXLY_CORRECT", "1", 1);
    ck_assert_int_eq(parse("one|--flag|two|--count|3"), 0);
    ck_assert_int_eq(word_count, 2);
    ck_assert_str_eq(words[1], "two");
    ck_assert_int_eq(parsed.flag, 1);
    ck_assert_int_eq(parsed.count, 3);
}
END_TEST

START_TEST(an_argument_may_look_like_an_option)
{
    ck_assert_int_eq(parse("--text|--flag"), 0);
    ck_assert_str_eq(parsed.text, "--flag");
    ck_assert_int_eq(parsed.flag, 0);
    ck_assert_int_eq(parse("-t--"), 0);
    ck_assert_str_eq(parsed.text, "--");
    refuses("--real|--flag", "--real '--flag'", "not a number");
}
END_TEST

START_TEST(a_long_option_behind_one_dash_is_told_its_name)
{
    refuses("-ration|3", "-r", "did you mean --ratio?");
    refuses("-real=3", "-r", "did you mean --real?");
}
END_TEST

START_TEST(ranges_hold_at_their_ends)
{
    ck_assert_int_eq(parse("--count|1|--ratio|1"), 0);
    ck_assert_int_eq(parse("--ratio|1e-300"), 0);
    refuses("--ratio|1.0000000000000002", "--ratio '1.0000000000000002'", "at most 1");
    refuses("--count|-3", "--count '-3'", "at least 1");
}
END_TEST

START_TEST(messages_hold_no_raw_bytes_and_stay_short)
{
    char line[1000] = "--count|";
    refuses("--real|\033[31m\n", "--real '\\x1B[31m\\x0A'", "not a number");
    memset(line + strlen(line), '7', sizeof line - strlen(line) - 1);
    refuses(line, "--count '7777777", "too large");
    ck_assert_uint_lt(strlen(message), 200);
    memset(line, '-', 8);
    refuses(line, "unknown option --------777", "fit --help");
    ck_assert_uint_lt(strlen(message), 200);
}
END_TEST

START_TEST(two_dashes_end_the_options)
{
    ck_assert_int_eq(parse("one|--flag|--|--count|-t|--"), 0);
    ck_assert_int_eq(word_count, 4);
    ck_assert_str_eq(words[0], "one");
    ck_assert_str_eq(words[1], "--count");
    ck_assert_str_eq(words[2], "-t");
    ck_assert_str_eq(words[3], "--");
    ck_assert_int_eq(parsed.flag, 1);
}
END_TEST

START_TEST(a_prefix_that_fits_one_option_is_that_option)
{
    ck_assert_int_eq(parse("--fl|--co|5|--te=y"), 0);
    ck_assert_int_eq(parsed.flag, 1);
    ck_assert_int_eq(parsed.count, 5);
    ck_assert_str_eq(parsed.text, "y");
    refuses("--se=1|--s=1", "--s ", "--seed or --size");
    refuses("--c|3", "--c ", "--count or --choice");
}
END_TEST

START_TEST(the_last_of_two_wins)
{
    ck_assert_int_eq(parse("--count|1|--count|2"), 0);
    ck_assert_int_eq(parsed.count, 2);
}
END_TEST

START_TEST(an_unknown_option_is_refused_with_the_nearest_name)
{
    refuses("--cuont|3", "--cuont", "did you mean --count?");
    refuses("--ration=3", "--ration", "did you mean --ratio?");
    refuses("--zzzzzzzzzz", "--zzzzzzzzzz", "gcg-mc fit --help");
    refuses("x|-z", "-z", "gcg-mc fit --help");
    refuses("-fz", "-z", "gcg-mc fit --help");
    refuses("--\x01\x7f", "\\x01", "unknown option");
}
END_TEST

START_TEST(a_missing_or_needless_argument_is_refused)
{
    refuses("--count", "--count", "N");
    refuses("-t", "-t", "FILE");
    refuses("--text|", "--text ''", "empty");
    refuses("a||b", "''", "empty");
    refuses("--flag=yes", "--flag", "no argument");
    refuses("--help=yes", "--help", "no argument");
}
END_TEST

START_TEST(numbers_are_strict)
{
    static const char *const bad[] = {"",      " 1",    "1 ",  "5x",  "1e", "1e+",     "1,5",
                                      "nan",   "inf",   "0x1", "--1", "+",  ".",       "-.",
                                      "1.2.3", "1e400", "1_0", "1d0", "e5", "Infinity"};
    static const char *const good[] = {"1", "+1", "-1", "1.", ".5", "1e3", "1E+3", "1.5e-3", "007", "1e-400"};
    double value;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(opt_number(bad[i], &value) != 0, "%s is taken", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(opt_number(good[i], &value) == 0, "%s is refused", good[i]);
        ck_assert_double_eq(value, strtod(good[i], NULL));
    }
}
END_TEST

START_TEST(whole_numbers_are_strict)
{
    static const char *const bad[] = {"", "2.5", "1e3", "0x10", " 1", "9223372036854775808", "-", "1K"};
    int64_t value;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(opt_integer(bad[i], &value) != 0, "%s is taken", bad[i]);
    ck_assert_int_eq(opt_integer("-9223372036854775808", &value), 0);
    ck_assert_int_eq(value, INT64_MIN);
    ck_assert_int_eq(opt_integer("+12", &value), 0);
    ck_assert_int_eq(value, 12);
}
END_TEST

START_TEST(a_bad_value_is_refused_with_the_option_and_the_text)
{
    refuses("--ratio|5x", "--ratio", "5x");
    refuses("--ratio|", "--ratio", "not a number");
    refuses("--ratio|0", "--ratio '0'", "more than 0");
    refuses("--ratio|1.5", "--ratio '1.5'", "at most 1");
    refuses("--ratio|-1", "--ratio '-1'", "more than 0");
    refuses("--count|0", "--count '0'", "at least 1");
    refuses("--count|2.5", "--count '2.5'", "whole number");
    refuses("--count|99999999999999999999", "--count", "99999999999999999999");
    refuses("--seed|-1", "--seed '-1'", "2^64 - 1");
    refuses("--seed|18446744073709551616", "--seed", "18446744073709551616");
    refuses("--choice|pink", "--choice 'pink'", "red, green, blue");
    refuses("--choice|re", "--choice 're'", "red, green, blue");
    refuses("--even|3", "--even '3'", "even number");
    refuses("--real|\x1b[31m", "--real", "\\x1B[31m");
}
END_TEST

START_TEST(sizes_take_the_letters_k_m_g)
{
    ck_assert_int_eq(parse("--size|12"), 0);
    ck_assert_int_eq(parsed.size, 12);
    ck_assert_int_eq(parse("--size|1.5M"), 0);
    ck_assert_int_eq(parsed.size, 3 << 19);
    ck_assert_int_eq(parse("--size|3g"), 0);
    ck_assert_int_eq(parsed.size, (int64_t)3 << 30);
    refuses("--size|K", "--size 'K'", "bytes");
    refuses("--size|-1M", "--size '-1M'", "bytes");
    refuses("--size|1MB", "--size '1MB'", "bytes");
    refuses("--size|1e300", "--size '1e300'", "bytes");
    refuses("--size|", "--size", "bytes");
}
END_TEST

START_TEST(help_names_every_option_on_standard_output)
{
    ck_assert_int_eq(parse("--count|3|--help|--nonsense"), -1);
    ck_assert_str_eq(message, "");
    ck_assert_ptr_nonnull(strstr(help, "usage: gcg-mc fit --ratio R FILE..."));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char name[64];
        snprintf(name, sizeof name, "--%s%s%s", table[i].name, table[i].argument ? " " : "",
                 table[i].argument ? table[i].argument : "");
        ck_assert_ptr_nonnull(strstr(help, name));
        ck_assert_ptr_nonnull(strstr(help, table[i].help));
    }
    ck_assert_ptr_nonnull(strstr(help, "-f, --flag"));
}
END_TEST

START_TEST(commands_that_share_a_table_have_their_own_options_only)
{
    parsing = &command_first;
    ck_assert_int_eq(parse("-c|5|--lonely|--flag"), 0);
    ck_assert_int_eq(parsed.count, 5);
    refuses("--count|50", "--count", "1");
    ck_assert_int_eq(parse("--help"), -1);
    ck_assert(strstr(help, "of the first") && !strstr(help, "of the second"));
    parsing = &command_second;
    ck_assert_int_eq(parse("-c|50|--flag"), 0);
    ck_assert_int_eq(parsed.count, 50);
    ck_assert_int_eq(parse("--co|60"), 0); /* no second option begins so */
    ck_assert_int_eq(parsed.count, 60);
    refuses("--count|5", "--count", "10");
    refuses("--lonely", "unknown option", "--lonely");
    ck_assert_ptr_null(strstr(message, "did you mean"));
    ck_assert_int_eq(parse("--help"), -1);
    ck_assert(strstr(help, "group of the second:") && !strstr(help, "of the first"));
    parsing = &command;
}
END_TEST

/* The definition: by recursion on the last letters. */
static int naive_distance(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0) return (int)(n + m);
    int keep = naive_distance(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]),
        drop = naive_distance(a, n - 1, b, m) + 1, add = naive_distance(a, n, b, m - 1) + 1;
    int least = keep < drop ? keep : drop;
    return least < add ? least : add;
}

START_TEST(the_distance_of_words_is_the_least_number_of_edits)
{
    static const char *const list[] = {"", "fit", "fti", "lambda", "lamda", "gamma", "rank", "ranks", "tan"};
    enum { N = sizeof list / sizeof *list };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            ck_assert_int_eq(opt_distance(list[i], list[j]),
                             naive_distance(list[i], strlen(list[i]), list[j], strlen(list[j])));
    char wide[200] = "";
    memset(wide, 'a', sizeof wide - 1);
    ck_assert_int_gt(opt_distance(wide, "a"), 10);
}
END_TEST

/* ---- threads ---- */

static void clear_environment(void)
{
    unsetenv("SLURM_CPUS_PER_TASK");
    unsetenv("OMP_NUM_THREADS");
    unsetenv("OMP_THREAD_LIMIT");
}

START_TEST(threads_are_auto_or_a_number_from_1)
{
    static const char *const bad[] = {"0", "-1", "2.5", "", "Auto", "1e3", "99999999999999999999"};
    char text[256];
    int n = -1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(threads_parse(bad[i], &n, text, sizeof text) != 0, "%s is taken", bad[i]);
        ck_assert_ptr_nonnull(strstr(text, "auto"));
    }
    ck_assert_int_eq(threads_parse("auto", &n, text, sizeof text), 0);
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(threads_parse("3", &n, text, sizeof text), 0);
    ck_assert_int_eq(n, 3);
    ck_assert_int_eq(threads_parse("3000000000", &n, text, sizeof text), 0);
    ck_assert_int_gt(n, 1000);
}
END_TEST

START_TEST(automatic_threads_follow_the_environment_downwards_only)
{
    static const char *const names[] = {"SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT"};
    clear_environment();
    int all = threads_choose(0);
    ck_assert_int_ge(all, 1);
    ck_assert_int_le(all, gcg_par_cpus());
    for (int i = 0; i < 3; i++) {
        setenv(names[i], "1", 1);
        ck_assert_int_eq(threads_choose(0), 1);
        setenv(names[i], "1,4", 1);
        ck_assert_int_eq(threads_choose(0), 1);
        setenv(names[i], "100000", 1);
        ck_assert_int_eq(threads_choose(0), all);
        setenv(names[i], "nonsense", 1);
        ck_assert_int_eq(threads_choose(0), all);
        clear_environment();
    }
}
END_TEST

START_TEST(a_wish_is_cut_to_the_processors_and_not_by_the_environment)
{
    clear_environment();
    int all = threads_choose(0);
    report_say.quiet = 1;
    setenv("OMP_NUM_THREADS", "1", 1);
    ck_assert_int_eq(threads_choose(100000), all);
    ck_assert_int_eq(threads_choose(all), all);
    ck_assert_int_eq(threads_choose(1), 1);
}
END_TEST

/* ---- numbers that are printed ---- */

START_TEST(printed_numbers_read_back_to_the_last_bit)
{
    static const double values[] = {0, -0.0, 1, 0.1, 1.0 / 3, 1e-308, 5e-324, 1.7976931348623157e308, -2.5};
    char text[32];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double back = strtod(report_number(text, values[i]), NULL);
        ck_assert_int_eq(memcmp(&back, &values[i], sizeof back), 0);
    }
    ck_assert_str_eq(report_number(text, NAN), "nan");
    ck_assert_str_eq(report_number(text, -NAN), "nan");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *options = tcase_create("options"), *threads = tcase_create("threads");
    tcase_add_test(options, every_kind_of_option_is_taken);
    tcase_add_test(options, an_option_that_was_not_given_leaves_its_field_alone);
    tcase_add_test(options, options_stand_anywhere_and_words_keep_their_order);
    tcase_add_test(options, options_stand_anywhere_under_posixly_correct_too);
    tcase_add_test(options, an_argument_may_look_like_an_option);
    tcase_add_test(options, a_long_option_behind_one_dash_is_told_its_name);
    tcase_add_test(options, ranges_hold_at_their_ends);
    tcase_add_test(options, messages_hold_no_raw_bytes_and_stay_short);
    tcase_add_test(options, two_dashes_end_the_options);
    tcase_add_test(options, a_prefix_that_fits_one_option_is_that_option);
    tcase_add_test(options, the_last_of_two_wins);
    tcase_add_test(options, an_unknown_option_is_refused_with_the_nearest_name);
    tcase_add_test(options, a_missing_or_needless_argument_is_refused);
    tcase_add_test(options, numbers_are_strict);
    tcase_add_test(options, whole_numbers_are_strict);
    tcase_add_test(options, a_bad_value_is_refused_with_the_option_and_the_text);
    tcase_add_test(options, sizes_take_the_letters_k_m_g);
    tcase_add_test(options, help_names_every_option_on_standard_output);
    tcase_add_test(options, commands_that_share_a_table_have_their_own_options_only);
    tcase_add_test(options, the_distance_of_words_is_the_least_number_of_edits);
    tcase_add_test(options, printed_numbers_read_back_to_the_last_bit);
    tcase_add_test(threads, threads_are_auto_or_a_number_from_1);
    tcase_add_test(threads, automatic_threads_follow_the_environment_downwards_only);
    tcase_add_test(threads, a_wish_is_cut_to_the_processors_and_not_by_the_environment);
    suite_add_tcase(suite, options);
    suite_add_tcase(suite, threads);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
