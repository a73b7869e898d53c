/* base/watch: deadlines on a clock of the test's own, requests to stop, what is told. */
#include "tests/naive.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/watch.h"

static double now;

static double told_now(void)
{
    return now;
}

static void setup(void)
{
    now = 100;
    gcg_interrupt_clear();
    gcg_clock_replace(told_now);
}

static void teardown(void)
{
    gcg_clock_replace(NULL);
    gcg_interrupt_clear();
}

START_TEST(work_is_over_at_its_deadline_and_stays_so)
{
    gcg_watch w = gcg_watch_defaults();
    ck_assert_int_eq(gcg_watch_over(&w), 0);
    ck_assert(isinf(gcg_watch_left(&w)));
    w.deadline = 110;
    ck_assert_double_eq(gcg_watch_left(&w), 10);
    now = 109.9;
    ck_assert_int_eq(gcg_watch_over(&w), 0);
    now = 110;
    ck_assert_int_eq(gcg_watch_passed(&w), 1);
    ck_assert_int_eq(w.over, 0); /* asked by a block: nothing is changed */
    ck_assert_int_eq(gcg_watch_over(&w), 1);
    ck_assert_int_eq(w.over, 1);
    now = 0;
    ck_assert_int_eq(gcg_watch_over(&w), 1);
}
END_TEST

START_TEST(a_request_to_stop_ends_it_unless_it_is_deaf)
{
    gcg_watch w = gcg_watch_defaults();
    w.deaf = 1;
    gcg_interrupt_request();
    ck_assert_int_eq(gcg_watch_over(&w), 0);
    w.deaf = 0;
    ck_assert_int_eq(gcg_watch_over(&w), 1);
    gcg_interrupt_clear();
    ck_assert_int_eq(gcg_watch_over(&w), 1);
}
END_TEST

START_TEST(an_extension_counts_from_now_and_hears_no_requests)
{
    gcg_watch w = gcg_watch_defaults();
    w.deadline = 101;
    now = 105;
    ck_assert_int_eq(gcg_watch_over(&w), 1);
    gcg_interrupt_request();
    gcg_watch_extend(&w, 2);
    ck_assert_int_eq(gcg_watch_over(&w), 0);
    ck_assert_double_eq(gcg_watch_left(&w), 2);
    now = 107;
    ck_assert_int_eq(gcg_watch_over(&w), 1);
}
END_TEST

typedef struct {
    int calls;
    const char *phase;
    double done;
} ear;

static void hear(const char *phase, double done, void *user)
{
    ear *e = user;
    e->calls++;
    e->phase = phase;
    e->done = done;
}

START_TEST(phases_begin_unknown_and_parts_are_scaled)
{
    gcg_watch w = gcg_watch_defaults();
    ear e = {0};
    w.tell = hear;
    w.user = &e;
    ck_assert_int_eq(gcg_watch_step(&w, 0.5), 0); /* of no phase: not told */
    ck_assert_int_eq(e.calls, 0);
    gcg_watch_phase(&w, "polar");
    ck_assert_str_eq(e.phase, "polar");
    ck_assert(isnan(e.done));
    gcg_watch_step(&w, 0.25);
    ck_assert_double_eq(e.done, 0.25);
    gcg_watch_part(&w, 0.5, 1);
    gcg_watch_step(&w, 0.5);
    ck_assert_double_eq(e.done, 0.75);
    gcg_watch_step(&w, NAN);
    ck_assert(isnan(e.done));
    gcg_watch_phase(&w, "improve");
    gcg_watch_step(&w, 0.5);
    ck_assert_double_eq(e.done, 0.5); /* a new phase is whole */
    now = w.deadline = 200;
    ck_assert_int_eq(gcg_watch_step(&w, 1), 1); /* told also at the end */
    ck_assert_double_eq(e.done, 1);
}
END_TEST

START_TEST(nobody_has_to_watch)
{
    gcg_interrupt_request();
    gcg_watch_phase(NULL, "polar");
    gcg_watch_part(NULL, 0, 1);
    gcg_watch_extend(NULL, 1);
    ck_assert_int_eq(gcg_watch_step(NULL, 0), 0);
    ck_assert_int_eq(gcg_watch_over(NULL), 0);
    ck_assert_int_eq(gcg_watch_passed(NULL), 0);
    ck_assert(isinf(gcg_watch_left(NULL)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("watch");
    TCase *tests = tcase_create("watch");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, work_is_over_at_its_deadline_and_stays_so);
    tcase_add_test(tests, a_request_to_stop_ends_it_unless_it_is_deaf);
    tcase_add_test(tests, an_extension_counts_from_now_and_hears_no_requests);
    tcase_add_test(tests, phases_begin_unknown_and_parts_are_scaled);
    tcase_add_test(tests, nobody_has_to_watch);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
