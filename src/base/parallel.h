/* Threads, and how results stay the same for any number of them.
 *
 * Work is cut into blocks whose boundaries depend on the data alone. A block is run by one thread and writes
 * only what belongs to it (its rows, its slot in an array of partial sums); partial sums are added in block
 * order afterwards. The number of threads then changes who computes a block, never what is computed.
 *
 * The threads are OpenMP's: a session is one parallel region, in which thread 0 runs the program and the
 * others wait for blocks. A thread that has no processor just now is not waited for: whoever calls
 * gcg_par_blocks() works too, and waits only for blocks that somebody has begun. A region per loop, with its
 * barrier, would be shorter; with one busy neighbour on two processors it took ten times as long (ml-100k,
 * lambda 10: 0.7 s became 7 s). This is the only file that includes omp.h; without OpenMP everything runs on
 * one thread. */
#ifndef GCG_BASE_PARALLEL_H
#define GCG_BASE_PARALLEL_H

#include <stdint.h>

/* Threads of the sessions that begin from now on, n >= 1. The default is 1. */
void gcg_par_set_threads(int n);
int gcg_par_threads(void);
/* 1 when built with OpenMP. */
int gcg_par_available(void);
/* Processors that this process may run on (affinity mask), at least 1. */
int gcg_par_cpus(void);

/* Runs fn(ctx) on this thread with the others at hand. Inside a session it is a plain call. */
void gcg_par_session(void (*fn)(void *ctx), void *ctx);

/* Calls fn(block, ctx) once for every block in 0..blocks-1, in any order, on the session's threads (a session
 * of its own when there is none). From inside a block it runs on the calling thread. */
void gcg_par_blocks(int64_t blocks, void (*fn)(int64_t block, void *ctx), void *ctx);

/* Sum of partial[0..n), in this order. */
double gcg_par_sum(const double *partial, int64_t n);

#endif
