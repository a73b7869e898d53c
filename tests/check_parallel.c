/* base/parallel, clock, interrupt: blocks run once each, sums keep their order. */
#define _GNU_SOURCE
#include "tests/naive.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

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

/* A job of a session: blocks of uneven length, each writes its own place. */
typedef struct {
    int64_t blocks;
    atomic_int running, most, wrong;
    int *count;
} job;

static void spin(double seconds)
{
    double start = gcg_clock_now();
    while (gcg_clock_now() - start < seconds) continue;
}

static void uneven_block(int64_t block, void *ctx)
{
    job *j = ctx;
    int now = atomic_fetch_add(&j->running, 1) + 1, most = atomic_load(&j->most);
    while (now > most && !atomic_compare_exchange_weak(&j->most, &most, now)) continue;
    if (block % 5 == 1) spin(20e-6);
    j->count[block]++;
    atomic_fetch_sub(&j->running, 1);
}

/* Many jobs, some right after the last, some when the other threads have gone to sleep. When a call returns,
 * every block is done. */
static void many_jobs(void *ctx)
{
    job *j = ctx;
    for (int64_t round = 0; round < 250; round++) {
        j->blocks = round % 13;
        memset(j->count, 0, 16 * sizeof *j->count);
        gcg_par_blocks(j->blocks, uneven_block, j);
        if (atomic_load(&j->running) != 0) atomic_fetch_add(&j->wrong, 1);
        for (int64_t b = 0; b < 16; b++)
            if (j->count[b] != (b < j->blocks)) atomic_fetch_add(&j->wrong, 1);
        if (round % 50 == 0) spin(200e-6);
    }
}

START_TEST(a_call_returns_when_all_its_blocks_are_done)
{
    static const int threads[] = {1, 2, 7};
    int count[16];
    for (int t = 0; t < 3; t++) {
        job j = {.count = count};
        gcg_par_set_threads(threads[t]);
        gcg_par_session(many_jobs, &j);
        ck_assert_int_eq(atomic_load(&j.wrong), 0);
        ck_assert_int_le(atomic_load(&j.most), gcg_par_threads());
        many_jobs(&j); /* without a session around it */
        ck_assert_int_eq(atomic_load(&j.wrong), 0);
    }
}
END_TEST

/* The second thread of a job waits until it has been seen. */
static void meeting_block(int64_t block, void *ctx)
{
    atomic_int *there = ctx;
    double start = gcg_clock_now();
    (void)block;
    atomic_fetch_add(there, 1);
    while (atomic_load(there) < 2 && gcg_clock_now() - start < 20) sched_yield();
}

START_TEST(two_threads_work_at_once)
{
    atomic_int there = 0;
    if (!gcg_par_available()) return;
    gcg_par_set_threads(2);
    double start = gcg_clock_now();
    gcg_par_blocks(2, meeting_block, &there);
    ck_assert_double_lt(gcg_clock_now() - start, 19); /* each saw the other */
}
END_TEST

/* Blocks that call gcg_par_blocks, sessions inside sessions. */
static void nested_block(int64_t block, void *ctx)
{
    int *count = (int *)ctx + 4 * block;
    gcg_par_blocks(4, count_block, count);
}

static void inner_session(void *ctx)
{
    gcg_par_blocks(5, nested_block, ctx);
}

static void outer_session(void *ctx)
{
    gcg_par_session(inner_session, ctx);
    gcg_par_session(inner_session, ctx);
}

START_TEST(sessions_and_blocks_may_be_nested)
{
    for (int threads = 1; threads <= 3; threads++) {
        int count[20] = {0};
        gcg_par_set_threads(threads);
        gcg_par_session(outer_session, count);
        for (int i = 0; i < 20; i++) ck_assert_int_eq(count[i], 2);
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
    tcase_add_test(
        tests, the_number_of_threads_is_at_least_one); /* first: the default is seen before it is changed */
    tcase_add_test(tests, every_block_runs_once);
    tcase_add_test(tests, a_call_returns_when_all_its_blocks_are_done);
    tcase_add_test(tests, two_threads_work_at_once);
    tcase_add_test(tests, sessions_and_blocks_may_be_nested);
    tcase_add_test(tests, processors_follow_the_affinity_mask);
    tcase_add_test(tests, sums_are_taken_in_order);
    tcase_add_test(tests, the_clock_goes_forward);
    tcase_add_test(tests, a_signal_handler_can_ask_to_stop);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
