/* Threads: see parallel.h.
 *
 * The blocks of a job are cut into shares, one for each thread. A thread takes the blocks of its own share
 * first, so that it meets the same part of the data in every job and finds it in its own cache, then those
 * that others have left. A block is claimed from the share's word, which holds the job's number and how many
 * blocks are left. A claim can only succeed while its job runs, because the job cannot end before the claimed
 * block is done: so a thread that comes late finds either the current job or nothing. Threads without work
 * spin for a fraction of a millisecond, then sleep. */
#define _GNU_SOURCE
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static int threads = 1;

enum {
    LEFT_BITS = 40,
    SPINS = 20000,   /* about 0.2 milliseconds: a thread that sleeps is missed at the next loop */
    YIELD = 500,     /* spins after which a thread that waits makes room for one on the same processor */
    MOST_SHARES = 64 /* further threads take what is left */
};
static const uint64_t LEFT_MASK = ((uint64_t)1 << LEFT_BITS) - 1;

/* The one session that runs, if any. */
static struct {
    void (*fn)(int64_t block, void *ctx);
    void *ctx;
    int64_t blocks;
    uint64_t job;
    int shares;
    struct {
        atomic_uint_least64_t ticket; /* job << LEFT_BITS | blocks left */
        char line[56];                /* a cache line each */
    } share[MOST_SHARES];
    atomic_int_least64_t done;
    atomic_int stop, asleep, owner_waits;
    pthread_mutex_t mutex;
    pthread_cond_t work, finished;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .finished = PTHREAD_COND_INITIALIZER};

static _Thread_local enum { OUTSIDE, OWNER, IN_BLOCK } place;

void gcg_par_set_threads(int n)
{
    threads = n < 1 ? 1 : n;
}

int gcg_par_threads(void)
{
    return gcg_par_available() ? threads : 1;
}

int gcg_par_available(void)
{
#ifdef _OPENMP
    return 1;
#else
    return 0;
#endif
}

int gcg_par_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n;
}

static void pause_briefly(int spins)
{
    if (spins % YIELD == YIELD - 1) sched_yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* First block of a share. */
static int64_t share_start(int64_t blocks, int share)
{
    return blocks / pool.shares * share + blocks % pool.shares * share / pool.shares;
}

/* Claims and runs blocks of one share until none is left. */
static void work_on(int share)
{
    for (;;) {
        uint64_t ticket = atomic_load(&pool.share[share].ticket);
        int64_t left = (int64_t)(ticket & LEFT_MASK);
        if (left == 0) return;
        if (!atomic_compare_exchange_weak(&pool.share[share].ticket, &ticket, ticket - 1)) continue;
        int64_t blocks = pool.blocks;
        pool.fn(share_start(blocks, share + 1) - left, pool.ctx);
        if (atomic_fetch_add(&pool.done, 1) + 1 < blocks || !atomic_load(&pool.owner_waits)) continue;
        pthread_mutex_lock(&pool.mutex);
        pthread_cond_signal(&pool.finished);
        pthread_mutex_unlock(&pool.mutex);
    }
}

/* Its own share, then the others'. */
static void work(int thread)
{
    for (int i = 0; i < pool.shares; i++) work_on((thread + i) % pool.shares);
}

#ifdef _OPENMP
static int has_work(void)
{
    for (int i = 0; i < pool.shares; i++)
        if (atomic_load(&pool.share[i].ticket) & LEFT_MASK) return 1;
    return 0;
}

static void sleep_until_work(void)
{
    pthread_mutex_lock(&pool.mutex);
    atomic_fetch_add(&pool.asleep, 1);
    while (!has_work() && !atomic_load(&pool.stop)) pthread_cond_wait(&pool.work, &pool.mutex);
    atomic_fetch_sub(&pool.asleep, 1);
    pthread_mutex_unlock(&pool.mutex);
}

/* What threads other than the owner do in a session. */
static void serve(int thread)
{
    place = IN_BLOCK;
    for (int spins = 0; !atomic_load(&pool.stop); spins++) {
        if (has_work()) {
            work(thread);
            spins = 0;
        } else if (spins < SPINS) {
            pause_briefly(spins);
        } else {
            sleep_until_work();
            spins = 0;
        }
    }
    place = OUTSIDE;
}
#endif

static void wake_all(void)
{
    if (atomic_load(&pool.asleep) == 0) return;
    pthread_mutex_lock(&pool.mutex);
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.mutex);
}

/* Waits for the blocks that others have begun. */
static void wait_for_others(int64_t blocks)
{
    for (int spins = 0; spins < SPINS; spins++) {
        if (atomic_load(&pool.done) == blocks) return;
        pause_briefly(spins);
    }
    pthread_mutex_lock(&pool.mutex);
    atomic_store(&pool.owner_waits, 1);
    while (atomic_load(&pool.done) < blocks) pthread_cond_wait(&pool.finished, &pool.mutex);
    atomic_store(&pool.owner_waits, 0);
    pthread_mutex_unlock(&pool.mutex);
}

void gcg_par_session(void (*fn)(void *ctx), void *ctx)
{
#ifdef _OPENMP
    if (place == OUTSIDE && threads > 1) {
        atomic_store(&pool.stop, 0);
        pool.shares = threads < MOST_SHARES ? threads : MOST_SHARES;
#pragma omp parallel num_threads(threads)
        {
            if (omp_get_thread_num() == 0) {
                place = OWNER;
                fn(ctx);
                place = OUTSIDE;
                atomic_store(&pool.stop, 1);
                wake_all();
            } else {
                serve(omp_get_thread_num());
            }
        }
        return;
    }
#endif
    fn(ctx);
}

/* A call of gcg_par_blocks outside any session. */
typedef struct {
    int64_t blocks;
    void (*fn)(int64_t block, void *ctx);
    void *ctx;
} lone_call;

static void run_lone_call(void *ctx)
{
    const lone_call *c = ctx;
    gcg_par_blocks(c->blocks, c->fn, c->ctx);
}

void gcg_par_blocks(int64_t blocks, void (*fn)(int64_t block, void *ctx), void *ctx)
{
    if (gcg_par_threads() > 1 && blocks > 1 && place == OUTSIDE) {
        lone_call c = {blocks, fn, ctx};
        gcg_par_session(run_lone_call, &c);
        return;
    }
    if (blocks <= 1 || place != OWNER) {
        for (int64_t b = 0; b < blocks; b++) fn(b, ctx);
        return;
    }
    pool.fn = fn;
    pool.ctx = ctx;
    pool.blocks = blocks;
    atomic_store(&pool.done, 0);
    pool.job++;
    for (int i = 0; i < pool.shares; i++)
        atomic_store(&pool.share[i].ticket,
                     pool.job << LEFT_BITS | (uint64_t)(share_start(blocks, i + 1) - share_start(blocks, i)));
    wake_all();
    place = IN_BLOCK;
    work(0);
    place = OWNER;
    wait_for_others(blocks);
}

double gcg_par_sum(const double *partial, int64_t n)
{
    double sum = 0;
    for (int64_t b = 0; b < n; b++) sum += partial[b];
    return sum;
}
