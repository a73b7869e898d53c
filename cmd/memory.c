/* Memory of a fit: see memory.h. What the solver allocates is the solver's to say. */
#include "cmd/memory.h"

#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <sys/resource.h>

enum { PROGRAM_BYTES = 17 << 20 /* measured: code, libraries, stacks, what BLAS touches of its buffers */ };

void memory_return_freed(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

void memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

int32_t memory_rank(const gcg_csr *x, int64_t limit)
{
    int32_t least = x->rows < x->cols ? x->rows : x->cols;
    int64_t rank = limit > 0 ? limit : MEMORY_RANK;
    return rank < least ? (int32_t)rank : least;
}

memory_table memory_of_data(const gcg_ratings *r)
{
    const gcg_csr *x = &r->x;
    const int64_t reading_float = 16, reading_double = 24; /* bytes a rating: io/fill.h */
    const int64_t weights = x->weight ? sizeof *x->weight : 0;
    int64_t sides = (int64_t)x->rows + x->cols;
    return (memory_table){
        .program = PROGRAM_BYTES,
        .store = gcg_csr_resident_bytes(x),
        .ids = gcg_idmap_bytes(r->users) + gcg_idmap_bytes(r->items),
        .means = sides * (int64_t)(sizeof(int64_t) + sizeof(double)),
        .reading = x->map ? 0 : x->nnz * ((x->val_f ? reading_float : reading_double) + weights),
    };
}

int64_t memory_without_solver(const memory_table *t)
{
    return t->program + t->ids + t->means + t->pairs + t->store;
}

int64_t memory_total(const memory_table *t)
{
    int64_t before = t->reading > t->centring ? t->reading : t->centring,
            solving = t->store + gcg_needs_total(&t->solver);
    return memory_without_solver(t) - t->store + (before > solving ? before : solving);
}

void memory_list(const memory_table *t, void (*put)(const char *key, int64_t bytes, void *user), void *user)
{
    put("program", t->program, user);
    put("store", t->store, user);
    put("ids", t->ids, user);
    put("means", t->means, user);
    put("pairs", t->pairs, user);
    put("reading", t->reading, user);
    put("centring", t->centring, user);
    for (int i = 0; i < GCG_NEED_COUNT; i++) put(gcg_need_name((gcg_need)i), t->solver.bytes[i], user);
}

int64_t memory_peak(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
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
