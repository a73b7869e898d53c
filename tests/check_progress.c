/* cmd/fit_progress: the time that a run has left. */
#include "tests/naive.h"

#include "cmd/fit.h"
#include "cmd/progress.h"

/* Iterations at 10, 20, ... s whose gaps fall by `factor` each time. */
static fit_pace falling(int count, double factor)
{
    fit_pace p = {.deadline = INFINITY, .count = count};
    for (int i = 0; i < count; i++) {
        p.at[i] = 10 * (i + 1);
        p.log_gap[i] = -i * log(factor);
    }
    return p;
}

START_TEST(a_gap_that_falls_steadily_is_extrapolated)
{
    fit_pace p = falling(4, 10); /* 1e-3 at 40 s */
    ck_assert_double_eq_tol(fit_progress_left(&p, 1e-5, 40), 20, 1e-9);
    ck_assert_double_eq_tol(fit_progress_left(&p, 1e-5, 47), 13, 1e-9);
    ck_assert(isnan(fit_progress_left(&p, 1e-5, 61))); /* should have come by now */
}
END_TEST

START_TEST(few_iterations_or_none_that_gained_say_nothing)
{
    fit_pace p = falling(2, 10);
    ck_assert(isnan(fit_progress_left(&p, 1e-5, 20)));
    p = falling(0, 10);
    ck_assert(isnan(fit_progress_left(&p, 1e-5, 20)));
    p = falling(4, 10);
    p.log_gap[3] = p.log_gap[2];
    ck_assert(isnan(fit_progress_left(&p, 1e-5, 40)));
    p = falling(4, 0.5); /* rises */
    ck_assert(isnan(fit_progress_left(&p, 1e-5, 40)));
    p = falling(4, 1 + 1e-9); /* years */
    ck_assert(isnan(fit_progress_left(&p, 1e-5, 40)));
}
END_TEST

START_TEST(the_sooner_of_gap_and_deadline_counts)
{
    fit_pace p = falling(4, 10);
    p.deadline = 45;
    ck_assert_double_eq(fit_progress_left(&p, 1e-5, 40), 5);
    p.deadline = 450;
    ck_assert_double_eq_tol(fit_progress_left(&p, 1e-5, 40), 20, 1e-9);
    p = falling(1, 10);
    p.deadline = 50;
    ck_assert_double_eq(fit_progress_left(&p, 1e-5, 40), 10);
    ck_assert_double_eq(fit_progress_left(&p, 1e-5, 60), 0);
}
END_TEST

START_TEST(work_that_goes_on_evenly_is_extrapolated)
{
    ck_assert_double_eq_tol(progress_left(10, 0.25), 30, 1e-9);
    ck_assert_double_eq_tol(progress_left(10, 1), 0, 1e-9);
    ck_assert(isnan(progress_left(0.2, 0.5)));  /* too soon */
    ck_assert(isnan(progress_left(10, 0.001))); /* too little */
    ck_assert(isnan(progress_left(10, NAN)));
}
END_TEST

START_TEST(a_line_has_what_there_is_room_for)
{
    char line[PROGRESS_COLUMNS] = "";
    progress_add(line, "reading");
    progress_add_bar(line, 0.5);
    progress_add_left(line, 2.2);
    ck_assert_str_eq(line, "reading [##########          ] 50 %, 3 s left");
    progress_add_left(line, NAN);
    progress_add_bar(line, NAN);
    progress_add(line, "%s", "a text that is far too long for what is left of the line");
    ck_assert_str_eq(line, "reading [##########          ] 50 %, 3 s left");
    line[0] = '\0';
    progress_add_bar(line, 1);
    progress_add_left(line, 600);
    ck_assert_str_eq(line, " [####################] 100 %, 10 min left");
    line[0] = '\0';
    progress_add_bar(line, 0);
    progress_add_left(line, 36000);
    ck_assert_str_eq(line, " [                    ] 0 %, 10.0 h left");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("progress");
    TCase *tests = tcase_create("time left");
    tcase_add_test(tests, a_gap_that_falls_steadily_is_extrapolated);
    tcase_add_test(tests, few_iterations_or_none_that_gained_say_nothing);
    tcase_add_test(tests, the_sooner_of_gap_and_deadline_counts);
    tcase_add_test(tests, work_that_goes_on_evenly_is_extrapolated);
    tcase_add_test(tests, a_line_has_what_there_is_room_for);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
