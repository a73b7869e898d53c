/* Memory of a fit: see memory.h. What the solver allocates is the solver's to say. */
#include "cmd/memory.h"

#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>

void memory_return_freed(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void memory_keep_freed(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

int32_t memory_rank(const gcg_csr *x, int64_t limit)
{
    int32_t least = x->rows < x->cols ? x->rows : x->cols;
    int64_t rank = limit > 0 ? limit : MEMORY_RANK;
    return rank < least ? (int32_t)rank : least;
}

int64_t memory_of_ratings(const gcg_csr *x)
{
    int64_t value = x->val_f ? sizeof(float) : sizeof(double);
    return ((int64_t)x->rows + 1) * (int64_t)sizeof *x->row_ptr + x->nnz * ((int64_t)sizeof *x->col + value);
}

int64_t memory_of_fit(const gcg_ratings *r, int64_t solver)
{
    return memory_of_ratings(&r->x) + gcg_idmap_bytes(r->users) + gcg_idmap_bytes(r->items) + solver;
}

const char *memory_text(char text[32], int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double amount = (double)bytes / 1024;
    int unit = 0;
    if (bytes < 1024) {
        snprintf(text, 32, "%" PRId64 " bytes", bytes);
        return text;
    }
    for (; amount >= 1000 && unit < 3; unit++) amount /= 1024;
    snprintf(text, 32, "%.3g %s", amount, units[unit]);
    return text;
}
