/* The calibration loop: how fast is this machine, as one number of seconds? calibrate [PASSES]
 *
 * 25 passes of 750157 dot products of length 160 in float, over whole rows of seeded random pairs from 6040 x
 * 3952, on one thread: MovieLens 1M in size, without any of the library's tiling. Compiled like the kernels,
 * for the same instruction set, the dot product vectorised by the compiler. About 1 s on the machine that the
 * prototype ran on. */
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tests/bench/common.h"
#include "tests/bench/loops.h"

enum { ROWS = 6040, COLS = 3952, RATINGS = 750157, LENGTH = 160, PASSES = 25 };

static float *factor(int32_t rows, gcg_rng *rng)
{
    float *f = bench_alloc((int64_t)rows * LENGTH, sizeof *f);
    for (int64_t e = 0; e < (int64_t)rows * LENGTH; e++) f[e] = (float)(gcg_rng_uniform(rng) - 0.5);
    return f;
}

static int32_t *numbers(int32_t below, gcg_rng *rng)
{
    int32_t *number = bench_alloc(RATINGS, sizeof *number);
    for (int64_t p = 0; p < RATINGS; p++) number[p] = (int32_t)gcg_rng_below(rng, (uint64_t)below);
    return number;
}

int main(int argc, char **argv)
{
    int passes = argc > 1 ? bench_count("PASSES", argv[1], 1000) : PASSES;
    gcg_rng rng;
    gcg_rng_init(&rng, 1, 0);
    float *u = factor(ROWS, &rng), *v = factor(COLS, &rng);
    int32_t *i = numbers(ROWS, &rng), *j = numbers(COLS, &rng);
    const bench_loops *loops = bench_loops_of(GCG_FLOAT);
    double sum = 0, start = gcg_clock_now();
    for (int pass = 0; pass < passes; pass++) sum += loops->pairs(RATINGS, i, j, LENGTH, u, v);
    double seconds = (gcg_clock_now() - start) * PASSES / passes;
    printf("%.4f\n", seconds);
    gcg_mem_free(u);
    gcg_mem_free(v);
    gcg_mem_free(i);
    gcg_mem_free(j);
    return sum == 0; /* never: the sums are used */
}
