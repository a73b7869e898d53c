/* What this machine can do: see machine.h. */
#include "tests/bench/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "tests/bench/common.h"
#include "tests/bench/loops.h"

static const char *const probe_names[BENCH_PROBES] = {
    "multiply-add float", "multiply-add double", "read L1", "read L2", "read L3", "read DRAM"};

/* What each thread does. Several blocks for each: all threads have work from the first moment on. */
enum { BLOCKS_PER_THREAD = 8 };

typedef struct {
    int probe, threads;
    const char *buffer;
    int64_t bytes; /* for each thread */
    int64_t times; /* rounds or repetitions in a block */
    double work;   /* floating-point operations or bytes in a block */
    double seconds;
} probe;

static void probe_block(int64_t block, void *ctx)
{
    const probe *p = ctx;
    if (p->probe <= BENCH_FMA_DOUBLE)
        bench_loops_of(p->probe == BENCH_FMA_FLOAT ? GCG_FLOAT : GCG_DOUBLE)->fma(p->times);
    else
        bench_loops_of(GCG_FLOAT)->read(p->buffer + block % p->threads * p->bytes, p->bytes, p->times);
}

static void run_probe(void *ctx)
{
    probe *p = ctx;
    int64_t blocks = (int64_t)p->threads * BLOCKS_PER_THREAD;
    gcg_par_blocks(blocks, probe_block, p); /* wakes the other threads */
    double start = gcg_clock_now();
    gcg_par_blocks(blocks, probe_block, p);
    p->seconds = gcg_clock_now() - start;
}

/* Bytes that stay in a level, for all threads together; half of it, as far as the system knows its size. */
static int64_t level_bytes(int level, int threads)
{
    const int64_t KB = 1024, L3_MOST = 8192 * KB; /* virtual machines claim their host's whole L3 */
    int64_t size = 0;
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
    static const int names[3] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    if (level < BENCH_READ_DRAM) size = sysconf(names[level - BENCH_READ_L1]);
#endif
    if (level == BENCH_READ_L1) return threads * (size > 0 ? size : 32 * KB) / 2;
    if (level == BENCH_READ_L2) return threads * (size > 0 ? size : 512 * KB) / 2;
    if (level == BENCH_READ_L3) return size > 0 && size / 2 < L3_MOST ? size / 2 : L3_MOST;
    return 256 * 1024 * KB;
}

static double probe_rate(int which, int threads, const char *buffer)
{
    const double work = 2e8; /* bytes or operations of a block: some milliseconds */
    probe p = {.probe = which, .threads = threads, .buffer = buffer};
    if (which <= BENCH_FMA_DOUBLE) {
        p.work = bench_loops_of(which == BENCH_FMA_FLOAT ? GCG_FLOAT : GCG_DOUBLE)->fma(1);
        p.times = (int64_t)(work / p.work) + 1;
    } else {
        p.bytes = level_bytes(which, threads) / threads / READ_CHUNK * READ_CHUNK;
        p.work = (double)p.bytes;
        p.times = which == BENCH_READ_DRAM ? 1 : (int64_t)(work / p.work) + 1;
    }
    gcg_par_set_threads(threads);
    gcg_par_session(run_probe, &p);
    return p.work * (double)p.times * threads * BLOCKS_PER_THREAD / p.seconds / 1e9;
}

void bench_machine(int runs, const int threads[2], double rate[2][BENCH_PROBES])
{
    double *sample = bench_alloc((int64_t)2 * BENCH_PROBES * runs, sizeof *sample);
    char *buffer = bench_alloc(level_bytes(BENCH_READ_DRAM, 1), 1);
    memset(buffer, 0, (size_t)level_bytes(BENCH_READ_DRAM, 1)); /* pages of its own, not one of zeros */
    for (int run = 0; run < runs; run++)
        for (int t = 0; t < 2; t++)
            for (int w = 0; w < BENCH_PROBES; w++)
                sample[(t * BENCH_PROBES + w) * runs + run] = probe_rate(w, threads[t], buffer);
    printf("what\tthreads\trate\tunit\tworking_set_KB\n");
    for (int t = 0; t < (threads[1] > threads[0] ? 2 : 1); t++)
        for (int w = 0; w < BENCH_PROBES; w++) {
            rate[t][w] = bench_median(sample + (t * BENCH_PROBES + w) * runs, runs);
            printf("%s\t%d\t%.1f\t%s\t%.0f\n", probe_names[w], threads[t], rate[t][w],
                   w <= BENCH_FMA_DOUBLE ? "GFLOP/s" : "GB/s",
                   w <= BENCH_FMA_DOUBLE ? 0 : (double)level_bytes(w, threads[t]) / 1024);
        }
    gcg_mem_free(buffer);
    gcg_mem_free(sample);
}
