/* Synthetic ratings: exact counts, no repeated pair, every user and item covered, the same bytes for the same
 * seed, the same points in every layout that is written by user, test ratings disjoint. What is written is
 * read back by io/ratings. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/gzip_sink.h"
#include "io/ratings.h"
#include "io/synth.h"

/* A sink into memory. */
typedef struct {
    char *text;
    size_t length, room;
} buffer;

static gcg_status to_buffer(void *user, const void *bytes, size_t length, gcg_err *err)
{
    buffer *b = user;
    (void)err;
    if (b->length + length > b->room) {
        b->room = 2 * (b->length + length);
        b->text = realloc(b->text, b->room);
        ck_assert_ptr_nonnull(b->text);
    }
    memcpy(b->text + b->length, bytes, length);
    b->length += length;
    return GCG_OK;
}

static gcg_synth_settings usual(void)
{
    return (gcg_synth_settings){.users = 200,
                                .items = 150,
                                .ratings = 3000,
                                .rank = 5,
                                .noise = 0.5,
                                .format = GCG_FORMAT_CSV,
                                .low = 1,
                                .high = 5,
                                .steps_per_unit = 1,
                                .decimals = 0,
                                .seed = 3};
}

static void make(const gcg_synth_settings *s, buffer *train, buffer *test)
{
    gcg_err err = {0};
    gcg_sink second = {to_buffer, test};
    *train = (buffer){0};
    if (test) *test = (buffer){0};
    ck_assert_msg(gcg_synth(s, (gcg_sink){to_buffer, train}, test ? &second : NULL, &err) == GCG_OK, "%s",
                  err.text);
}

/* What was written, by user and item number: 0 = no rating. */
typedef struct {
    int32_t users, items;
    int64_t n, repeated;
    double *value;
} table;

static gcg_status to_table(const gcg_point *p, void *user, gcg_err *err)
{
    table *t = user;
    char text[32];
    (void)err;
    snprintf(text, sizeof text, "%.*s", (int)p->user_length, p->user);
    long i = atol(text);
    snprintf(text, sizeof text, "%.*s", (int)p->item_length, p->item);
    long j = atol(text);
    ck_assert(i >= 1 && i <= t->users && j >= 1 && j <= t->items);
    double *at = &t->value[(i - 1) * t->items + j - 1];
    if (*at != 0) t->repeated++;
    *at = p->value + 1000; /* a rating of 0 must show */
    t->n++;
    return GCG_OK;
}

static table read_back(const gcg_synth_settings *s, const buffer *b, gcg_format format)
{
    table t = {.users = s->users, .items = s->items};
    gcg_read_options options = gcg_read_options_defaults();
    gcg_read_report report;
    gcg_err err = {0};
    options.format = format;
    t.value = calloc((size_t)s->users * (size_t)s->items, sizeof *t.value);
    ck_assert_msg(gcg_read_memory(b->text, b->length, "synth", &options, NULL, to_table, &t, &report, &err) ==
                      GCG_OK,
                  "%s", err.text);
    return t;
}

static void check_counts(const gcg_synth_settings *s, const table *t)
{
    ck_assert_int_eq(t->n, s->ratings);
    ck_assert_int_eq(t->repeated, 0);
    for (int32_t i = 0; i < s->users; i++) {
        int any = 0;
        for (int32_t j = 0; j < s->items; j++) any |= t->value[(int64_t)i * s->items + j] != 0;
        ck_assert_msg(any, "user %d has no rating", i + 1);
    }
    for (int32_t j = 0; j < s->items; j++) {
        int any = 0;
        for (int32_t i = 0; i < s->users; i++) any |= t->value[(int64_t)i * s->items + j] != 0;
        ck_assert_msg(any, "item %d has no rating", j + 1);
    }
}

START_TEST(counts_are_exact_no_pair_repeats_and_all_are_covered)
{
    static const int64_t shapes[][3] = {{200, 150, 3000}, {200, 150, 200}, {150, 200, 200}, {3, 500, 1000},
                                        {500, 3, 900},    {20, 30, 600},   {1, 1, 1},       {1, 50, 50},
                                        {40, 1, 40},      {20, 30, 599}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int format = GCG_FORMAT_CSV; format < GCG_FORMAT_COUNT; format++) {
            gcg_synth_settings s = usual();
            s.users = (int32_t)shapes[k][0];
            s.items = (int32_t)shapes[k][1];
            s.ratings = shapes[k][2];
            s.format = (gcg_format)format;
            buffer b;
            make(&s, &b, NULL);
            table t = read_back(&s, &b, s.format);
            check_counts(&s, &t);
            free(t.value);
            free(b.text);
        }
}
END_TEST

START_TEST(layouts_written_by_user_hold_the_same_points)
{
    gcg_synth_settings s = usual();
    buffer b, c;
    make(&s, &b, NULL);
    table first = read_back(&s, &b, GCG_FORMAT_CSV);
    for (int format = GCG_FORMAT_TSV; format < GCG_FORMAT_COUNT; format++) {
        if (format == GCG_FORMAT_NETFLIX) continue;
        s.format = (gcg_format)format;
        make(&s, &c, NULL);
        table t = read_back(&s, &c, s.format);
        ck_assert_msg(memcmp(first.value, t.value, (size_t)s.users * (size_t)s.items * sizeof *t.value) == 0,
                      "%s", gcg_format_name(s.format));
        free(t.value);
        free(c.text);
    }
    free(first.value);
    free(b.text);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_bytes_and_another_seed_others)
{
    gcg_synth_settings s = usual();
    buffer a, b, c;
    make(&s, &a, NULL);
    make(&s, &b, NULL);
    s.seed = 4;
    make(&s, &c, NULL);
    ck_assert(a.length == b.length && memcmp(a.text, b.text, a.length) == 0);
    ck_assert(a.length != c.length || memcmp(a.text, c.text, a.length) != 0);
    free(a.text);
    free(b.text);
    free(c.text);
}
END_TEST

START_TEST(test_ratings_are_exact_in_number_and_not_in_training)
{
    gcg_synth_settings s = usual();
    s.test_ratings = 1000;
    for (int format = 0; format < 2; format++) {
        s.format = format ? GCG_FORMAT_NETFLIX : GCG_FORMAT_CSV;
        buffer train, test;
        make(&s, &train, &test);
        table a = read_back(&s, &train, s.format), b = read_back(&s, &test, s.format);
        check_counts(&s, &a);
        ck_assert_int_eq(b.n, 1000);
        ck_assert_int_eq(b.repeated, 0);
        for (int64_t e = 0; e < (int64_t)s.users * s.items; e++)
            ck_assert(a.value[e] == 0 || b.value[e] == 0);
        free(a.value);
        free(b.value);
        free(train.text);
        free(test.text);
    }
}
END_TEST

/* Mean, over the ratings of t, of the number of ratings that the item has in counted. */
static double mean_popularity(const table *t, const table *counted)
{
    double sum = 0;
    for (int32_t j = 0; j < t->items; j++) {
        int64_t here = 0, there = 0;
        for (int32_t i = 0; i < t->users; i++) {
            here += t->value[(int64_t)i * t->items + j] != 0;
            there += counted->value[(int64_t)i * t->items + j] != 0;
        }
        sum += (double)here * (double)there;
    }
    return sum / (double)t->n;
}

START_TEST(test_ratings_are_of_items_as_popular_as_those_of_training)
{
    gcg_synth_settings s = usual();
    s.users = 2000;
    s.items = 500;
    s.ratings = 60000;
    s.test_ratings = 20000;
    buffer train, test;
    make(&s, &train, &test);
    table a = read_back(&s, &train, s.format), b = read_back(&s, &test, s.format);
    double seen = mean_popularity(&a, &a), held = mean_popularity(&b, &a);
    ck_assert_msg(fabs(held / seen - 1) < 0.02, "%g in training, %g in the test", seen, held);
    free(a.value);
    free(b.value);
    free(train.text);
    free(test.text);
}
END_TEST

START_TEST(a_pair_has_the_same_rating_in_the_layout_by_movie)
{
    gcg_synth_settings s = usual();
    buffer b, c;
    int64_t common = 0;
    make(&s, &b, NULL);
    s.format = GCG_FORMAT_NETFLIX;
    make(&s, &c, NULL);
    table t = read_back(&s, &b, GCG_FORMAT_CSV), u = read_back(&s, &c, GCG_FORMAT_NETFLIX);
    for (int64_t e = 0; e < (int64_t)s.users * s.items; e++) {
        if (t.value[e] == 0 || u.value[e] == 0) continue;
        ck_assert_double_eq(t.value[e], u.value[e]);
        common++;
    }
    ck_assert_int_gt(common, 100);
    free(t.value);
    free(u.value);
    free(b.text);
    free(c.text);
}
END_TEST

/* The text of one seed, so that a change of it, or another machine's, shows. */
START_TEST(the_bytes_of_a_seed_are_these)
{
    gcg_synth_settings s = usual();
    s.users = 3;
    s.items = 4;
    s.ratings = 7;
    s.format = GCG_FORMAT_MOVIELENS;
    buffer b;
    make(&s, &b, NULL);
    b.text[b.length] = '\0'; /* there is room: the buffer doubles */
    ck_assert_str_eq(b.text,
                     "1::3::3::1014907318\n1::2::3::1010029874\n2::4::5::990953943\n2::2::4::1022195994\n"
                     "3::1::5::999654221\n3::2::5::1000512053\n3::3::4::1039578419\n");
    free(b.text);
}
END_TEST

/* Noise, signal and mean: the moments of what is documented, from ratings that are hardly rounded. */
START_TEST(ratings_have_the_mean_and_the_spread_of_the_model)
{
    gcg_synth_settings s = usual();
    s.users = 800;
    s.items = 600;
    s.ratings = 100000;
    s.high = 100;
    s.low = 0;
    s.steps_per_unit = 1000;
    s.decimals = 3;
    for (int noisy = 0; noisy < 2; noisy++) {
        s.noise = noisy ? 1 : 0;
        buffer b;
        make(&s, &b, NULL);
        table t = read_back(&s, &b, s.format);
        double sum = 0, squares = 0;
        for (int64_t e = 0; e < (int64_t)s.users * s.items; e++) {
            if (t.value[e] == 0) continue;
            sum += t.value[e] - 1000;
            squares += (t.value[e] - 1000) * (t.value[e] - 1000);
        }
        double mean = sum / (double)s.ratings, deviation = sqrt(squares / (double)s.ratings - mean * mean);
        ck_assert_double_eq_tol(mean, 68, 2);
        /* 17 and 17 sqrt(2), a little less for what is cut at the top of the scale */
        ck_assert_double_eq_tol(deviation, noisy ? 22 : 16.6, 1);
        free(t.value);
        free(b.text);
    }
}
END_TEST

static int descending(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

START_TEST(degrees_have_heavy_tails)
{
    gcg_synth_settings s = usual();
    s.users = 2000;
    s.items = 1000;
    s.ratings = 40000;
    buffer b;
    make(&s, &b, NULL);
    table t = read_back(&s, &b, s.format);
    int *degree = calloc((size_t)s.items, sizeof *degree);
    int64_t top = 0;
    for (int32_t i = 0; i < s.users; i++)
        for (int32_t j = 0; j < s.items; j++) degree[j] += t.value[(int64_t)i * s.items + j] != 0;
    qsort(degree, (size_t)s.items, sizeof *degree, descending);
    for (int j = 0; j < 100; j++) top += degree[j];
    ck_assert_msg(top > s.ratings / 4, "a tenth of the items have only %ld of %ld ratings", (long)top,
                  (long)s.ratings);
    ck_assert_int_le(degree[0], s.users * 3 / 4);
    ck_assert_int_lt(degree[s.items - 1], 20); /* half of the mean */
    free(degree);
    free(t.value);
    free(b.text);
}
END_TEST

START_TEST(values_lie_on_the_scale)
{
    static const struct {
        double low, high;
        int64_t steps;
        int decimals;
    } scales[] = {{1, 5, 1, 0}, {0.5, 5, 2, 1}, {1, 5, 100, 2}, {0, 100, 1, 0}};
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        gcg_synth_settings s = usual();
        s.low = scales[k].low;
        s.high = scales[k].high;
        s.steps_per_unit = scales[k].steps;
        s.decimals = scales[k].decimals;
        buffer b;
        make(&s, &b, NULL);
        table t = read_back(&s, &b, s.format);
        double least = INFINITY, most = -INFINITY;
        for (int64_t e = 0; e < (int64_t)s.users * s.items; e++) {
            if (t.value[e] == 0) continue;
            double x = t.value[e] - 1000, steps = x * (double)s.steps_per_unit;
            ck_assert_double_eq_tol(steps, round(steps), 1e-6);
            least = fmin(least, x);
            most = fmax(most, x);
        }
        ck_assert_double_ge(least, s.low - 1e-9);
        ck_assert_double_le(most, s.high + 1e-9);
        ck_assert_double_gt(most - least, 0.6 * (s.high - s.low));
        free(t.value);
        free(b.text);
    }
}
END_TEST

START_TEST(more_ratings_than_cells_are_refused)
{
    gcg_synth_settings s = usual();
    gcg_err err = {0};
    s.ratings = (int64_t)s.users * s.items + 1;
    ck_assert_int_eq(gcg_synth_check(&s, &err), GCG_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "do not fit"));
}
END_TEST

START_TEST(a_full_sink_and_a_failed_allocation_end_it_with_their_status)
{
    gcg_synth_settings s = usual();
    s.test_ratings = 10;
    gcg_status status = GCG_ERR_NOMEM;
    int64_t before = gcg_mem_blocks();
    for (int64_t n = 1; status == GCG_ERR_NOMEM; n++) {
        buffer train = {0}, test = {0};
        gcg_sink second = {to_buffer, &test}, packed;
        gcg_gzip_sink *gzip = NULL;
        gcg_err err = {0};
        gcg_mem_fail_at(n);
        status = gcg_gzip_sink_new(&gzip, (gcg_sink){to_buffer, &train}, &err);
        if (!status) {
            packed = gcg_gzip_sink_get(gzip);
            status = gcg_synth(&s, packed, &second, &err);
        }
        if (!status) status = gcg_gzip_sink_finish(gzip, &err);
        gcg_mem_fail_at(0);
        gcg_gzip_sink_free(gzip);
        ck_assert(status == GCG_OK || status == GCG_ERR_NOMEM);
        ck_assert_int_eq(gcg_mem_blocks(), before);
        if (status == GCG_OK) {
            table t = read_back(&s, &train, s.format); /* gzip, recognised by content */
            ck_assert_int_eq(t.n, s.ratings);
            free(t.value);
            ck_assert_int_gt(n, 10);
        }
        free(train.text);
        free(test.text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("synth");
    TCase *c = tcase_create("synth");
    tcase_add_test(c, counts_are_exact_no_pair_repeats_and_all_are_covered);
    tcase_add_test(c, layouts_written_by_user_hold_the_same_points);
    tcase_add_test(c, the_same_seed_gives_the_same_bytes_and_another_seed_others);
    tcase_add_test(c, test_ratings_are_exact_in_number_and_not_in_training);
    tcase_add_test(c, test_ratings_are_of_items_as_popular_as_those_of_training);
    tcase_add_test(c, a_pair_has_the_same_rating_in_the_layout_by_movie);
    tcase_add_test(c, the_bytes_of_a_seed_are_these);
    tcase_add_test(c, ratings_have_the_mean_and_the_spread_of_the_model);
    tcase_add_test(c, degrees_have_heavy_tails);
    tcase_add_test(c, values_lie_on_the_scale);
    tcase_add_test(c, more_ratings_than_cells_are_refused);
    tcase_add_test(c, a_full_sink_and_a_failed_allocation_end_it_with_their_status);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
