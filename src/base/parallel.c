/* Threads: see parallel.h. */
#define _GNU_SOURCE
#include "base/parallel.h"

#include <sched.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static int threads = 1;

void gcg_par_set_threads(int n)
{
    threads = n < 1 ? 1 : n;
#ifdef _OPENMP
    omp_set_dynamic(0);
#endif
}

int gcg_par_threads(void)
{
#ifdef _OPENMP
    return threads;
#else
    return 1;
#endif
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

void gcg_par_blocks(int64_t blocks, void (*fn)(int64_t block, void *ctx), void *ctx)
{
#ifdef _OPENMP
    if (threads > 1 && blocks > 1) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int64_t b = 0; b < blocks; b++) fn(b, ctx);
        return;
    }
#endif
    for (int64_t b = 0; b < blocks; b++) fn(b, ctx);
}

double gcg_par_sum(const double *partial, int64_t n)
{
    double sum = 0;
    for (int64_t b = 0; b < n; b++) sum += partial[b];
    return sum;
}
