/* What each format reads as, and where what is wrong is reported; every text at several block sizes. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "io/formats.h"
#include "io/ratings.h"

static const int64_t block[] = {1, 3, 64, 0};
enum { BLOCKS = sizeof block / sizeof *block };

/* What came out of one text. */
static char points[8192], messages[16384];
static gcg_read_report report;
static gcg_err err;
static gcg_diag diag;
static gcg_read_options options;

static gcg_status add_point(const gcg_point *p, void *user, gcg_err *e)
{
    size_t n = strlen(points);
    (void)user;
    (void)e;
    ck_assert(p->has_value == !isnan(p->value));
    snprintf(points + n, sizeof points - n, p->has_value ? "%.*s,%.*s,%.15g;" : "%.*s,%.*s;",
             (int)p->user_length, p->user, (int)p->item_length, p->item, p->value);
    return GCG_OK;
}

static void keep_message(void *user, gcg_severity severity, const char *file, int64_t line, int64_t col,
                         const char *text)
{
    static const char *const name[] = {"note", "warning", "error"};
    size_t n = strlen(messages);
    (void)user;
    ck_assert_str_eq(file, "data");
    for (const char *c = text; *c; c++)
        ck_assert_msg((unsigned char)*c >= 0x20, "a control byte in '%s'", text);
    snprintf(messages + n, sizeof messages - n, "%d:%d: %s: %s\n", (int)line, (int)col, name[severity], text);
}

static gcg_status read_text(const char *text, size_t length, int64_t size_of_block)
{
    points[0] = messages[0] = '\0';
    diag = (gcg_diag){.emit = keep_message};
    memset(&err, 0, sizeof err);
    options.block = size_of_block;
    return gcg_read_memory(text, length, "data", &options, &diag, add_point, NULL, &report, &err);
}

static void setup(void)
{
    options = gcg_read_options_defaults();
}

static void teardown(void)
{
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}

static void expect_points(const char *text, size_t length, gcg_format format, int header, const char *want)
{
    for (int k = 0; k < BLOCKS; k++) {
        gcg_status status = read_text(text, length, block[k]);
        ck_assert_msg(status == GCG_OK, "'%s' was refused: %s", text, messages);
        ck_assert_str_eq(points, want);
        ck_assert_msg(report.format == format, "'%s' was taken for %s", text, gcg_format_name(report.format));
        ck_assert_int_eq(report.header, header);
    }
}

/* The text is refused; the first error stands at line:col and holds part. */
static void expect_error(const char *text, size_t length, int line, int col, const char *part)
{
    char place[64];
    snprintf(place, sizeof place, "%d:%d: error: ", line, col);
    for (int k = 0; k < BLOCKS; k++) {
        gcg_status status = read_text(text, length, block[k]);
        ck_assert_msg(status == GCG_ERR_DATA, "'%s' gave status %d", text, status);
        const char *first = strstr(messages, ": error: ");
        ck_assert_msg(first && strstr(messages, place), "'%s': no error at %d:%d in\n%s", text, line, col,
                      messages);
        ck_assert_msg(strstr(first, part) != NULL, "'%s': '%s' is not in\n%s", text, part, messages);
        ck_assert_str_eq(err.file, "data");
        ck_assert_int_eq(err.line, line);
        ck_assert_int_eq(err.col, col);
        ck_assert_int_ge(diag.errors, 1);
    }
}

#define POINTS(text, format, header, want)                                                                   \
    expect_points(text, sizeof text - 1, GCG_FORMAT_##format, header, want)
#define ERROR(text, line, col, part) expect_error(text, sizeof text - 1, line, col, part)

START_TEST(each_separator_is_recognised)
{
    POINTS("1,2,3\n4,5,6\n", CSV, 0, "1,2,3;4,5,6;");
    POINTS("1\t2\t3\n", TSV, 0, "1,2,3;");
    POINTS("1;2;3\n", SEMICOLON, 0, "1,2,3;");
    POINTS("1|2|3\n", PIPE, 0, "1,2,3;");
    POINTS("1::2::3::978300760\n", MOVIELENS, 0, "1,2,3;");
    POINTS("  1   2 3  \n\t4\t 5 6\n", SPACE, 0, "1,2,3;4,5,6;");
    POINTS("u 1,i 2,3\nu 1,i 3,4\n", CSV, 0, "u 1,i 2,3;u 1,i 3,4;");
    POINTS("a:b::c:d::4\n", MOVIELENS, 0, "a:b,c:d,4;");
    POINTS("1,2,4,a;b;c\n1,3,4,d;e;f\n", CSV, 0, "1,2,4;1,3,4;");
    POINTS("1\t2\t5\thello, world, again\n", TSV, 0, "1,2,5;");
    POINTS("# c\n\n% d\n1|2|3.5", PIPE, 0, "1,2,3.5;");
}
END_TEST

START_TEST(a_format_that_is_asked_for_is_used)
{
    options.format = GCG_FORMAT_CSV;
    POINTS("1;2,3|4,5\n", CSV, 0, "1;2,3|4,5;");
    options.format = GCG_FORMAT_SPACE;
    POINTS("a,b c,d 5\n", SPACE, 0, "a,b,c,d,5;");
    options.format = GCG_FORMAT_TSV;
    POINTS("1\t2\t255\n", TSV, 0, "1,2,255;");
    options.format = GCG_FORMAT_YAHOO_R1;
    POINTS("1\t2\t255\n1\t3\t100\n", YAHOO_R1, 0, "1,2,0;1,3,100;");
    ck_assert_int_eq(report.mapped, 1);
    ck_assert_ptr_nonnull(strstr(messages, "1 ratings changed"));
}
END_TEST

START_TEST(a_header_is_a_first_line_whose_rating_begins_like_a_name)
{
    POINTS("userId,movieId,rating\n1,2,3\n", CSV, 1, "1,2,3;");
    POINTS("a,b,_r\n1,2,3\n", CSV, 1, "1,2,3;");
    POINTS("a,b,\xd0\xbe\xd1\x86\n1,2,3\n", CSV, 1, "1,2,3;");
    POINTS("\"user\",\"item\",\"rating\"\n\"1\",\"2\",\"3\"\n", CSV, 1, "1,2,3;");
    POINTS("x,y,4\n1,2,3\n", CSV, 0, "x,y,4;1,2,3;");
    ERROR("1,1,nan\n1,2,3\n", 1, 5, "not a finite number");
    ERROR("a,b,NA\n", 1, 5, "not a finite number");
    ERROR("a,b,Null\n", 1, 5, "not a finite number");
    ERROR("1,1,5\na,b,rating\n", 2, 5, "not a number");
    ERROR("a,b,-r\n", 1, 5, "not a number");
}
END_TEST

START_TEST(a_header_may_be_forced_or_denied)
{
    options.header = GCG_HEADER_YES;
    POINTS("9,9,9\n1,2,3\n", CSV, 1, "1,2,3;");
    options.header = GCG_HEADER_NO;
    ERROR("a,b,rating\n1,2,3\n", 1, 5, "not a number");
}
END_TEST

START_TEST(two_columns_need_implicit_or_a_command_that_wants_pairs)
{
    ERROR("user,item\n1,2\n", 2, 4, "--implicit");
    ERROR("1,2\n", 1, 4, "--implicit");
    options.implicit = 1;
    POINTS("user_id,Movie-ID\n1,2\n3,4,9\n", CSV, 1, "1,2,1;3,4,1;");
    POINTS("alice,bob\n1,2\n", CSV, 0, "alice,bob,1;1,2,1;");
    options.implicit = 0;
    options.pairs = 1;
    POINTS("user,item\n1,2\n3,4,5\n6,7,\n", CSV, 1, "1,2;3,4,5;6,7;");
    ERROR("1,2,3\n1,2,x\n", 2, 5, "not a number");
    options.no_ratings = 1;
    POINTS("1,2,x\n3,4,5\n", CSV, 0, "1,2;3,4;");
}
END_TEST

START_TEST(columns_are_chosen_by_number_or_name)
{
    options.columns = "3,2,1";
    POINTS("5,10,20\n4,11,21\n", CSV, 0, "20,10,5;21,11,4;");
    options.columns = "user,item,rating";
    POINTS("when,rating,item,user\n0,5,10,20\n", CSV, 1, "20,10,5;");
    POINTS("\"rating\",\"item\",\"user\"\n5,10,20\n", CSV, 1, "20,10,5;");
    ERROR("a,b,c\n1,2,3\n", 1, 1, "no column named 'user'");
    options.columns = "user,2,4";
    POINTS("x,i,user,r\n1,2,3,4\n", CSV, 1, "3,2,4;");
    options.columns = "a\"b,2,3";
    POINTS("\"a\"\"b\",i,r\n1,2,3\n", CSV, 1, "1,2,3;");
    options.columns = "2,1";
    options.implicit = 1;
    POINTS("1,2,99\n", CSV, 0, "2,1,1;");
    options.columns = "7,8,9";
    options.implicit = 0;
    ERROR("1,2,3\n", 1, 6, "no user: the line has 3 columns");
}
END_TEST

START_TEST(options_that_make_no_sense_are_usage_errors)
{
    static const char *const bad[] = {
        "", "1", "1,", "0,1,2", "1,2,3,4", "1,,3", "1,2,2", "a,b,a", "1,99999999999999999999,3", "1,2"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        options.columns = bad[k];
        ck_assert_msg(read_text("1,2,3\n", 6, 0) == GCG_ERR_USAGE, "--columns '%s' was accepted", bad[k]);
        ck_assert_ptr_nonnull(strstr(err.text, "--columns"));
        ck_assert_int_eq(gcg_read_options_check(&options, NULL), GCG_ERR_USAGE);
    }
    options.columns = "a,b,c";
    options.header = GCG_HEADER_NO;
    ck_assert_int_eq(gcg_read_options_check(&options, NULL), GCG_ERR_USAGE);
    setup();
    options.implicit = options.no_ratings = 1;
    ck_assert_int_eq(gcg_read_options_check(&options, NULL), GCG_ERR_USAGE);
    setup();
    options.columns = "1,2,3";
    options.format = GCG_FORMAT_MTX;
    ck_assert_int_eq(gcg_read_options_check(&options, NULL), GCG_ERR_USAGE);
    setup();
    options.header = GCG_HEADER_YES;
    options.format = GCG_FORMAT_KDD;
    ck_assert_int_eq(gcg_read_options_check(&options, NULL), GCG_ERR_USAGE);
    setup();
    options.columns = "1,2,3";
    ERROR("1:\n2,3\n", 0, 0, "--columns does not go with the netflix format");
}
END_TEST

START_TEST(quoted_fields_are_read_as_in_csv)
{
    POINTS("\"a,b\",\"c\"\"d\",\"5\"\n", CSV, 0, "a,b,c\"d,5;");
    POINTS(" \"a\" , \"b\"\t,4\n", CSV, 0, "a,b,4;");
    POINTS("\" a \",b,4\n", CSV, 0, " a ,b,4;");
    POINTS("a\"b,c,4\n", CSV, 0, "a\"b,c,4;");
    POINTS("\"\"\"\",\"\"\"x\"\"\",4\n", CSV, 0, "\",\"x\",4;");
    POINTS("1,2,3,\"so \"\"so\"\", a\"\n", CSV, 0, "1,2,3;");
    POINTS("\"a b\" \"c d\" 4\n", SPACE, 0, "a b,c d,4;");
    POINTS("1\t2\t3\t\"open\n", TSV, 0, "1,2,3;"); /* an ignored column of a tab file */
    ERROR("1,2,3\n\"2,3,4\n", 2, 1, "not closed");
    ERROR("1,2,3\n1,\"2\"x,4\n", 2, 3, "closing quote");
    ERROR("1,2,3\n1,3,4,\"open\n", 2, 7, "not closed");
    ERROR("\"\",2,3\n", 1, 1, "the user id is empty");
}
END_TEST

START_TEST(ids_are_kept_byte_for_byte)
{
    POINTS("007,7.0,1\n+7,Zo\xc3\xab,2\n 9 , a b ,3\n", CSV, 0, "007,7.0,1;+7,Zo\xc3\xab,2;9,a b,3;");
    POINTS("1,2,3\n#4,5,6\n\"#4\",5,6\n", CSV, 0, "1,2,3;#4,5,6;");
    ERROR("1,2,3\n,3,4\n", 2, 1, "the user id is empty");
    ERROR("1,2,3\n3, ,4\n", 2, 4, "the item id is empty");
    ERROR("1,2,3\n3,a\001b,4\n", 2, 3, "control character");
    ERROR("1,2,3\n3,a\tb,4\n", 2, 3, "control character");
}
END_TEST

START_TEST(ids_of_1024_bytes_are_read_and_longer_ones_refused)
{
    static char text[3000];
    options.header = GCG_HEADER_NO;
    for (int extra = 0; extra < 2; extra++) {
        memset(text, 'x', 1024 + (size_t)extra);
        strcpy(text + 1024 + extra, ",2,3\n");
        ck_assert_int_eq(read_text(text, strlen(text), 0), extra ? GCG_ERR_DATA : GCG_OK);
    }
    ck_assert_int_eq(err.line, 1);
    ck_assert_int_eq(err.col, 1);
    ck_assert_uint_lt(strlen(err.text), 200);
}
END_TEST

START_TEST(ratings_are_plain_decimals)
{
    POINTS("1,1,.5\n1,2,5.\n1,3,+3\n1,4,-1e1\n1,5,0\n1,6,-0\n", CSV, 0,
           "1,1,0.5;1,2,5;1,3,3;1,4,-10;1,5,0;1,6,0;");
    ERROR("1,1,1\n1,2,0x10\n", 2, 5, "not a number");
    ERROR("1,1,1\n1,2,\n", 2, 5, "empty");
    ERROR("1,1,1\n1,2,1e400\n", 2, 5, "1e100");
    ERROR("1,1,1\n1,2,-inf\n", 2, 5, "finite");
    ERROR("1;1;1\n1;2;3,5\n", 2, 5, "decimal comma");
    ERROR("1,1,1\n1,2,2005-09-06\n", 2, 5, "date");
    ERROR("1,1,1\n1,2,06/09/2005\n", 2, 5, "date");
    ERROR("1,1,1\n1,2,01-Jan-1995\n", 2, 5, "date");
    ERROR("1,1,1\n2,3\n", 2, 4, "--implicit");
    ERROR("1,1,1\n2\t3\t4\n", 2, 6, "no item: the line has 1 column");
}
END_TEST

START_TEST(ten_errors_are_shown_and_the_rest_counted)
{
    char text[1024] = "1,1,1\n", *end = text + strlen(text);
    for (int k = 1; k <= 25; k++) end += sprintf(end, "1,%d,x\n", k);
    ck_assert_int_eq(read_text(text, strlen(text), 0), GCG_ERR_DATA);
    ck_assert_int_eq(diag.errors, 25);
    int lines = 0;
    for (const char *m = messages; (m = strstr(m, "error: ")) != NULL; m++) lines++;
    ck_assert_int_eq(lines, 11);
    ck_assert_ptr_nonnull(strstr(messages, "15 more errors"));
    ck_assert_str_eq(points, "1,1,1;"); /* nothing after the first error */
    ck_assert_int_eq(err.line, 2);
}
END_TEST

START_TEST(what_is_no_text_is_refused_at_once)
{
    ERROR("\xff\xfe"
          "1\0,\0",
          1, 1, "UTF-16");
    ERROR("\xfe\xff\0"
          "1\0,",
          1, 1, "UTF-16");
    ERROR("1\0,\0001\0,\0005\0\n\0", 1, 1, "UTF-16");
    ERROR("\x89PNG\r\n\x1a\n", 1, 1, "image");
    ERROR("PK\3\4xxxx", 1, 1, "zip");
    ERROR("\x7f"
          "ELF\2\1\1",
          1, 1, "binary");
    ERROR("1,1,1\n1,2,\0003\n1,3,x", 2, 5, "NUL");
    ck_assert_int_eq(diag.errors, 1);
}
END_TEST

START_TEST(line_ends_are_lf_or_crlf)
{
    POINTS("\xef\xbb\xbfuser,item,rating\r\n1,2,3\r\n\r\n4,5,6", CSV, 1, "1,2,3;4,5,6;");
    ck_assert_int_eq(report.blank, 1);
    ck_assert_int_eq(report.lines, 4);
    ERROR("1,2,3\r4,5,6\r", 1, 6, "carriage return");
    ERROR("1,2,3\n4,5,6\r\r\n", 2, 6, "carriage return");
}
END_TEST

START_TEST(value_maps_change_or_drop_ratings)
{
    const gcg_value_map map[] = {{.from = 99, .drop = 1}, {.from = -1, .to = 0}, {.from = 0, .to = 5}};
    options.value_maps = map;
    options.value_map_count = 3;
    POINTS("1,1,99\n1,2,-1\n1,3,0\n1,4,4\n", CSV, 0, "1,2,0;1,3,5;1,4,4;");
    ck_assert_int_eq(report.dropped, 1);
    ck_assert_int_eq(report.mapped, 2);
    ck_assert_int_eq(report.points, 3);
    const gcg_value_map r1[] = {{.from = 255, .drop = 1}};
    options.value_maps = r1;
    options.value_map_count = 1;
    options.format = GCG_FORMAT_YAHOO_R1;
    POINTS("1\t1\t255\n1\t2\t100\n", YAHOO_R1, 0, "1,2,100;"); /* the user's map comes first */
}
END_TEST

START_TEST(only_lone_255s_give_the_yahoo_r1_warning)
{
    POINTS("1\t1\t255\n1\t2\t100\n", TSV, 0, "1,1,255;1,2,100;");
    ck_assert_ptr_nonnull(strstr(messages, "warning: 1 ratings are 255"));
    POINTS("1\t1\t255\n1\t2\t101\n", TSV, 0, "1,1,255;1,2,101;");
    ck_assert_ptr_null(strstr(messages, "warning"));
    POINTS("1\t1\t100\n", TSV, 0, "1,1,100;");
    ck_assert_ptr_null(strstr(messages, "warning"));
}
END_TEST

START_TEST(a_dense_table_is_refused_unless_columns_are_named)
{
    ERROR("74\t-7.82\t8.79\t-9.66\t-8.16\t-7.52\n", 1, 1, "dense table");
    POINTS("74\t7\t8.79\t-9.66\t-8.16\t-7.52\n", TSV, 0, "74,7,8.79;");
    options.columns = "1,2,3";
    POINTS("74\t-7.82\t8.79\t-9.66\t-8.16\t-7.52\n", TSV, 0, "74,-7.82,8.79;");
}
END_TEST

START_TEST(netflix_blocks_are_read)
{
    POINTS("1:\n5,3,2005-09-06\n6,4\n2:\n3:\n 5 , 1 ,2005-09-06\n", NETFLIX, 0, "5,1,3;6,1,4;5,3,1;");
    ck_assert_int_eq(report.empty_blocks, 1);
    ck_assert_ptr_nonnull(strstr(messages, "1 movies without ratings"));
    ERROR("1:\n3\n", 2, 2, "--implicit");
    ERROR("1:\n3,2005-12-19\n", 2, 3, "date");
    ERROR("1:\n3,x\n,4\n", 2, 3, "not a number");
    options.pairs = 1;
    POINTS("10:\n3\n4\n2:\n1,2005-12-19\n1,4\n", NETFLIX, 0, "3,10;4,10;1,2;1,2,4;");
    options.pairs = 0;
    options.implicit = 1;
    POINTS("10:\n3\n4\n", NETFLIX, 0, "3,10,1;4,10,1;");
    options.implicit = 0;
    options.format = GCG_FORMAT_NETFLIX;
    ERROR("3,5,2005-09-06\n1:\n2,3\n", 1, 1, "before any movie");
    ERROR(":\n1,2\n", 1, 1, "the movie id is empty");
    ERROR("1:\n\"3,4\n", 2, 1, "not closed");
    POINTS("tt01:\n3,4\n", NETFLIX, 0, "3,tt01,4;");
}
END_TEST

START_TEST(kdd_blocks_keep_their_promises)
{
    POINTS("1|2\n7\t90\t5000\t00:00:00\n8\t0\n2|0\n3|1\n7\t10\n", KDD, 0, "1,7,90;1,8,0;3,7,10;");
    ck_assert_int_eq(report.empty_blocks, 1);
    ERROR("1|3\n1\t5\n2\t3\n2|1\n1\t4\n", 1, 3, "3 ratings promised, 2 found");
    ERROR("1|1\n1\t5\n2\t3\n3\t3\n2|1\n1\t4\n", 3, 1, "one more");
    ck_assert_int_eq(diag.errors, 1);
    ERROR("1|2\n1\t5\n", 1, 3, "2 ratings promised, 1 found");
    ERROR("1|1\n1\tx\n", 2, 3, "not a number");
    ERROR("1|1\n7\t5001\t01:00:00\n", 2, 3, "test files");
    options.pairs = 1;
    POINTS("1|2\n7\t5001\t01:00:00\n8\t30\t5001\t01:00:00\n", KDD, 0, "1,7;1,8,30;");
    options.no_ratings = 1;
    POINTS("1|2\n7\t5001\t01:00:00\n8\t30\t5001\t01:00:00\n", KDD, 0, "1,7;1,8;");
    setup();
    options.format = GCG_FORMAT_KDD;
    ERROR("7\t5\n", 1, 1, "before any user");
    ERROR("1|x\n7\t5\n", 1, 3, "whole number");
    ERROR("|1\n7\t5\n", 1, 1, "the user id is empty");
    ERROR("1|1\n\"7\t5\n", 2, 1, "not closed");
    ERROR("1|2\n7\t5\n\t6\n", 3, 1, "the item id is empty");
    setup();
    POINTS("1|2|3\n4|5|6\n", PIPE, 0, "1,2,3;4,5,6;");
    options.pairs = 1;
    POINTS("1|2\n4|5\n", PIPE, 0, "1,2;4,5;");
}
END_TEST

#define BANNER "%%MatrixMarket matrix coordinate "

START_TEST(matrixmarket_files_are_read)
{
    POINTS(BANNER "real general\n% c\n\n2 3 2\n1 3 4.5\n 2  1 -1 \n", MTX, 0, "1,3,4.5;2,1,-1;");
    POINTS("%%matrixMARKET Matrix COORDINATE Integer General\r\n2 3 1\r\n01 003 4\r\n", MTX, 0, "1,3,4;");
    POINTS(BANNER "pattern general\n2 3 1\n1 3\n", MTX, 0, "1,3,1;");
    POINTS(BANNER "real symmetric\n3 3 2\n2 1 5\n3 3 1\n", MTX, 0, "2,1,5;1,2,5;3,3,1;");
    POINTS("\xef\xbb\xbf" BANNER "real general\n1 1 1\n1 1 5", MTX, 0, "1,1,5;");
    POINTS(BANNER "real general\n3 3 0\n", MTX, 0, "");
}
END_TEST

START_TEST(matrixmarket_files_that_break_a_promise_are_refused)
{
    ERROR(BANNER "real general\n% nothing\n", 0, 0, "no size line");
    ERROR("%%MatrixMarket matrix array real general\n", 1, 23, "coordinate");
    ERROR("%%MatrixMarket vector coordinate real general\n", 1, 16, "matrix");
    ERROR(BANNER "complex general\n", 1, 34, "real, integer or pattern");
    ERROR(BANNER "real hermitian\n", 1, 39, "general or symmetric");
    ERROR(BANNER "real\n", 1, 38, "general or symmetric");
    ERROR(BANNER "real general\n3 3\n", 2, 4, "three whole numbers");
    ERROR(BANNER "real general\n3 -3 1\n", 2, 3, "three whole numbers");
    ERROR(BANNER "real general\n3 3 1 1\n", 2, 7, "more than three");
    ERROR(BANNER "real general\n2147483648 3 1\n", 2, 1, "more than 2147483647 rows");
    ERROR(BANNER "real symmetric\n3 4 1\n1 1 1\n", 2, 1, "square");
    ERROR(BANNER "real general\n3 3 4\n1 1 5\n2 2 3\n", 2, 5, "4 entries promised, 2 found");
    ERROR(BANNER "real general\n3 3 1\n1 1 5\n2 2 3\n3 3 3\n", 4, 1, "one more");
    ERROR(BANNER "real general\n3 3 1\n-1 2 5\n", 3, 1, "not a row number");
    ERROR(BANNER "real general\n3 3 1\n2 0 5\n", 3, 3, "counts from 1");
    ERROR(BANNER "real general\n3 3 1\n2 4 5\n", 3, 3, "the size line says 3");
    ERROR(BANNER "real general\n3 3 1\n2\n", 3, 2, "no column number");
    ERROR(BANNER "real general\n3 3 1\n2 2\n", 3, 4, "no rating");
    ERROR(BANNER "real general\n3 3 1\n2 2 nan\n", 3, 5, "finite");
    ERROR(BANNER "real general\n3 3 1\n2 2 5 6\n", 3, 7, "more fields");
    ERROR(BANNER "pattern general\n3 3 1\n2 2 5\n", 3, 5, "more fields");
    options.format = GCG_FORMAT_MTX;
    ERROR("2 2 1\n1 1 5\n", 1, 1, "%%MatrixMarket");
}
END_TEST

START_TEST(a_text_without_data_gives_no_points)
{
    static const char *const text[] = {"", "\n\n", "# only\n% comments\n", "\xef\xbb\xbf"};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        ck_assert_int_eq(read_text(text[k], strlen(text[k]), 0), GCG_OK);
        ck_assert_int_eq(report.format, GCG_FORMAT_AUTO);
        ck_assert_int_eq(report.points, 0);
    }
    ck_assert_int_eq(read_text("user,item,rating\n", 17, 0), GCG_OK);
    ck_assert_int_eq(report.points, 0);
    ck_assert_int_eq(report.header, 1);
}
END_TEST

START_TEST(detection_looks_at_the_beginning_only)
{
    static char text[400000];
    size_t n = 0;
    while (n < 200000) n += (size_t)sprintf(text + n, "%zu,7,3\n", n);
    strcpy(text + n, "1:\n");
    ck_assert_int_eq(gcg_format_detect(text, (int64_t)n, 0, &options), GCG_FORMAT_CSV);
    ck_assert_int_eq(read_text(text, n + 3, 0), GCG_ERR_DATA);
    ck_assert_int_eq(err.col, 3);
    memset(text, '7', 300000); /* one long line */
    strcpy(text + 300000, ",1,2\n");
    ck_assert_int_eq(read_text(text, 300005, 0), GCG_ERR_DATA);
    ck_assert_int_eq(err.line, 1);
    ck_assert_int_eq(err.col, 1);
}
END_TEST

START_TEST(failing_memory_is_reported)
{
    static const char *const text[] = {"\"a\"\"b\",\"c\"\"d\",5\n1,2,3\n", "1:\n2,3\n",
                                       BANNER "real general\n1 1 1\n1 1 5\n", "1|1\n2\t3\n"};
    options.block = 8;
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        for (int64_t n = 1;; n++) {
            points[0] = messages[0] = '\0';
            gcg_mem_fail_at(n);
            gcg_status status = gcg_read_memory(text[k], strlen(text[k]), "data", &options, NULL, add_point,
                                                NULL, &report, &err);
            gcg_mem_fail_at(0);
            ck_assert_int_eq(gcg_mem_blocks(), 0);
            if (status == GCG_OK) break;
            ck_assert_int_eq(status, GCG_ERR_NOMEM);
            ck_assert_ptr_nonnull(strstr(err.text, "out of memory"));
            ck_assert_int_lt(n, 100);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("formats");
    TCase *t = tcase_create("formats");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, each_separator_is_recognised);
    tcase_add_test(t, a_format_that_is_asked_for_is_used);
    tcase_add_test(t, a_header_is_a_first_line_whose_rating_begins_like_a_name);
    tcase_add_test(t, a_header_may_be_forced_or_denied);
    tcase_add_test(t, two_columns_need_implicit_or_a_command_that_wants_pairs);
    tcase_add_test(t, columns_are_chosen_by_number_or_name);
    tcase_add_test(t, options_that_make_no_sense_are_usage_errors);
    tcase_add_test(t, quoted_fields_are_read_as_in_csv);
    tcase_add_test(t, ids_are_kept_byte_for_byte);
    tcase_add_test(t, ids_of_1024_bytes_are_read_and_longer_ones_refused);
    tcase_add_test(t, ratings_are_plain_decimals);
    tcase_add_test(t, ten_errors_are_shown_and_the_rest_counted);
    tcase_add_test(t, what_is_no_text_is_refused_at_once);
    tcase_add_test(t, line_ends_are_lf_or_crlf);
    tcase_add_test(t, value_maps_change_or_drop_ratings);
    tcase_add_test(t, only_lone_255s_give_the_yahoo_r1_warning);
    tcase_add_test(t, a_dense_table_is_refused_unless_columns_are_named);
    tcase_add_test(t, netflix_blocks_are_read);
    tcase_add_test(t, kdd_blocks_keep_their_promises);
    tcase_add_test(t, matrixmarket_files_are_read);
    tcase_add_test(t, matrixmarket_files_that_break_a_promise_are_refused);
    tcase_add_test(t, a_text_without_data_gives_no_points);
    tcase_add_test(t, detection_looks_at_the_beginning_only);
    tcase_add_test(t, failing_memory_is_reported);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
