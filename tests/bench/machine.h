/* What this machine can do: multiply-adds, and reads from each level of memory. */
#ifndef TESTS_BENCH_MACHINE_H
#define TESTS_BENCH_MACHINE_H

enum {
    BENCH_FMA_FLOAT,
    BENCH_FMA_DOUBLE, /* GFLOP/s */
    BENCH_READ_L1,
    BENCH_READ_L2,
    BENCH_READ_L3,
    BENCH_READ_DRAM, /* GB/s */
    BENCH_PROBES
};

/* Medians of so many runs by threads[0] and threads[1] threads; prints them as a table. */
void bench_machine(int runs, const int threads[2], double rate[2][BENCH_PROBES]);

#endif
