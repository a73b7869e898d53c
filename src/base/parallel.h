/* Threads, and how results stay the same for any number of them.
 *
 * Work is cut into blocks whose boundaries depend on the data alone. A block is run by one thread and writes
 * only what belongs to it (its rows, its slot in an array of partial sums); partial sums are added in block
 * order afterwards. The number of threads then changes who computes a block, never what is computed. This is
 * the only file that includes omp.h; without OpenMP everything runs on one thread. */
#ifndef GCG_BASE_PARALLEL_H
#define GCG_BASE_PARALLEL_H

#include <stdint.h>

/* Threads used by gcg_par_blocks from now on, n >= 1. The default is 1. */
void gcg_par_set_threads(int n);
int gcg_par_threads(void);
/* 1 when built with OpenMP. */
int gcg_par_available(void);
/* Processors that this process may run on (affinity mask), at least 1. */
int gcg_par_cpus(void);

/* Calls fn(block, ctx) once for every block in 0..blocks-1, in any order, on the threads. */
void gcg_par_blocks(int64_t blocks, void (*fn)(int64_t block, void *ctx), void *ctx);

/* Sum of partial[0..n), in this order. */
double gcg_par_sum(const double *partial, int64_t n);

#endif
