/* base/parallel, clock, interrupt: blocks run once each, sums keep their order. */
#define _GNU_SOURCE
#include "tests/naive.h"

#include <sched.h>
#include <signal.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/parallel.h"

static void count_block(int64_t block, void *ctx)
{
    ((int *)ctx)[block]++;
}

START_TEST(every_block_runs_once)
{
    static const int threads[] = {1, 2, 3, 7};
    static const int64_t blocks[] = {0, 1, 2, 6, 1000};
    for (int t = 0; t < 4; t++)
        for (int b = 0; b < 5; b++) {
            int *count = naive_alloc(1001, sizeof *count);
            gcg_par_set_threads(threads[t]);
            gcg_par_blocks(blocks[b], count_block, count);
            for (int64_t i = 0; i < 1001; i++)
                if (count[i] != (i < blocks[b])) ck_abort_msg("block %d ran %d times", (int)i, count[i]);
            free(count);
        }
}
END_TEST

START_TEST(the_number_of_threads_is_at_least_one)
{
    ck_assert_int_eq(gcg_par_threads(), 1); /* the default */
    gcg_par_set_threads(3);
    ck_assert_int_eq(gcg_par_threads(), gcg_par_available() ? 3 : 1);
    gcg_par_set_threads(0);
    ck_assert_int_eq(gcg_par_threads(), 1);
    gcg_par_set_threads(-5);
    ck_assert_int_eq(gcg_par_threads(), 1);
}
END_TEST

START_TEST(processors_follow_the_affinity_mask)
{
    int all = gcg_par_cpus();
    ck_assert_int_ge(all, 1);
    cpu_set_t set, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    ck_assert_int_eq(all, CPU_COUNT(&set));
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &set)) {
            CPU_SET(c, &one);
            break;
        }
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(gcg_par_cpus(), 1);
}
END_TEST

START_TEST(sums_are_taken_in_order)
{
    const double partial[] = {1e16, 1, -1e16, 1, 0.5};
    ck_assert_double_eq(gcg_par_sum(partial, 0), 0);
    ck_assert_double_eq(gcg_par_sum(partial, 2), 1e16); /* the 1 is lost */
    ck_assert_double_eq(gcg_par_sum(partial, 3), 0);
    ck_assert_double_eq(gcg_par_sum(partial, 5), 1.5);
}
END_TEST

START_TEST(the_clock_goes_forward)
{
    double start = gcg_clock_now(), last = start;
    for (int i = 0; i < 1000; i++) {
        double now = gcg_clock_now();
        if (now < last) ck_abort_msg("the clock went back");
        last = now;
    }
    while (gcg_clock_now() - start < 1e-3) continue;
    ck_assert_double_lt(gcg_clock_now() - start, 10); /* seconds, not other units */
}
END_TEST

static void on_signal(int number)
{
    (void)number;
    gcg_interrupt_request();
}

START_TEST(a_signal_handler_can_ask_to_stop)
{
    ck_assert_int_eq(gcg_interrupt_requested(), 0);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    ck_assert_int_eq(gcg_interrupt_requested(), 1);
    gcg_interrupt_clear();
    ck_assert_int_eq(gcg_interrupt_requested(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parallel");
    TCase *tests = tcase_create("threads");
    tcase_add_test(tests, every_block_runs_once);
    tcase_add_test(tests, the_number_of_threads_is_at_least_one);
    tcase_add_test(tests, processors_follow_the_affinity_mask);
    tcase_add_test(tests, sums_are_taken_in_order);
    tcase_add_test(tests, the_clock_goes_forward);
    tcase_add_test(tests, a_signal_handler_can_ask_to_stop);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
