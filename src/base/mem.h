/* Memory: every allocation of the library goes through here.
 *
 * Sizes are checked before they are multiplied, blocks are aligned to GCG_MEM_ALIGN bytes (a cache line, so
 * that vector loads and the order of BLAS's sums never depend on where a block happens to lie). */
#ifndef GCG_BASE_MEM_H
#define GCG_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

enum { GCG_MEM_ALIGN = 64 };

/* count * size bytes, NOT zeroed. NULL when out of memory or when the product overflows. A zero size gives a
 * block that can be freed. */
void *gcg_mem_alloc_array(int64_t count, size_t size);
/* The same, zeroed. */
void *gcg_mem_zalloc_array(int64_t count, size_t size);
/* Grows or shrinks block (which may be NULL), keeping min(old, new) elements; on failure NULL, and block
 * stays. */
void *gcg_mem_resize_array(void *block, int64_t old_count, int64_t count, size_t size);
void gcg_mem_free(void *block); /* NULL is fine */
char *gcg_mem_strdup(const char *text);

/* Bytes of the blocks alive now, and the most there were since the start or the last gcg_mem_forget_peak().
 */
int64_t gcg_mem_in_use(void);
int64_t gcg_mem_peak(void);
void gcg_mem_forget_peak(void);
/* From now on an allocation that would take more than this many bytes in all fails; 0 = no limit. */
void gcg_mem_limit(int64_t most);
/* Freed blocks of a megabyte and more are kept for the next ones that are about as large, as long as those in
 * use and those kept take no more than `most` bytes together; 0 gives them back and keeps none. A solver
 * takes the same blocks each round: giving pages back and taking new ones was a tenth of a solve. */
void gcg_mem_keep(int64_t most);

/* Tests: the n-th allocation from now (1 = the next one) and only that one fails; 0 switches this off. */
void gcg_mem_fail_at(int64_t n);
/* Allocations asked for since the program began. */
int64_t gcg_mem_calls(void);
/* Blocks alive now (a test for leaks). */
int64_t gcg_mem_blocks(void);

#endif
