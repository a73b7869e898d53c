/* Memory: see mem.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    /* Blocks from LARGE bytes on stand on huge pages where the system has them: 512 times fewer page faults
     * (12 % of a solve before), and the gathered rows of a factor need few TLB entries. */
    HUGE_PAGE = 1 << 21,
    LARGE = 1 << 22,
    KEPT_LEAST = 1 << 20 /* blocks that gcg_mem_keep() is about */
};

/* Stands in the GCG_MEM_ALIGN bytes before a block. */
typedef struct header {
    int64_t bytes; /* of the block and this */
    struct header *next;
} header;

static atomic_int_least64_t calls, blocks, fail_at, in_use, peak, limit;

/* Freed blocks, newest first. */
static struct {
    pthread_mutex_t mutex;
    header *first;
    int64_t bytes;
    atomic_int_least64_t most; /* of those in use and these */
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* 1 when this allocation is the one that has to fail. */
static int must_fail(void)
{
    int64_t n = atomic_fetch_add(&calls, 1) + 1;
    return n == atomic_load(&fail_at);
}

static void count(int64_t bytes)
{
    int64_t now = atomic_fetch_add(&in_use, bytes) + bytes, most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {
    }
}

/* Takes a kept block that is as large as wanted, or little more: the smallest of them. NULL when there is
 * none. */
static header *take_kept(int64_t bytes)
{
    header **best = NULL, *found = NULL;
    int64_t room = atomic_load(&kept.most) - atomic_load(&in_use), most = bytes + bytes / 4;
    if (most > room && room >= bytes) most = room;
    for (header **h = &kept.first; *h; h = &(*h)->next)
        if ((*h)->bytes >= bytes && (*h)->bytes <= most && (!best || (*h)->bytes < (*best)->bytes)) best = h;
    if (best) {
        found = *best;
        *best = found->next;
        kept.bytes -= found->bytes;
    }
    return found;
}

/* Gives kept blocks back, oldest first, until there is room for so many bytes more. */
static void make_room(int64_t bytes)
{
    while (kept.first && atomic_load(&in_use) + kept.bytes + bytes > atomic_load(&kept.most)) {
        header **last = &kept.first;
        while ((*last)->next) last = &(*last)->next;
        kept.bytes -= (*last)->bytes;
        free(*last);
        *last = NULL;
    }
}

static header *from_kept(int64_t bytes)
{
    if (bytes < KEPT_LEAST || atomic_load(&kept.most) == 0) return NULL;
    pthread_mutex_lock(&kept.mutex);
    header *h = take_kept(bytes);
    if (!h) make_room(bytes);
    pthread_mutex_unlock(&kept.mutex);
    return h;
}

static header *from_system(size_t bytes)
{
    void *block = NULL;
    if (posix_memalign(&block, bytes < LARGE ? GCG_MEM_ALIGN : HUGE_PAGE, bytes) != 0) return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= LARGE) madvise(block, bytes - bytes % HUGE_PAGE, MADV_HUGEPAGE); /* a hint: may fail */
#endif
    ((header *)block)->bytes = (int64_t)bytes;
    return block;
}

static void *alloc_bytes(size_t bytes)
{
    if (must_fail()) return NULL;
    bytes = (bytes == 0 ? 1 : bytes) + GCG_MEM_ALIGN;
    int64_t most = atomic_load(&limit);
    if (most > 0 && atomic_load(&in_use) + (int64_t)bytes > most) return NULL;
    header *h = from_kept((int64_t)bytes);
    if (!h) h = from_system(bytes);
    if (!h) return NULL;
    count(h->bytes);
    atomic_fetch_add(&blocks, 1);
    return (char *)h + GCG_MEM_ALIGN;
}

/* Sets *bytes to count * size; 0 when that does not fit. */
static int product(int64_t count, size_t size, size_t *bytes)
{
    return count >= 0 && !__builtin_mul_overflow((size_t)count, size, bytes) &&
           *bytes <= PTRDIFF_MAX - GCG_MEM_ALIGN;
}

void *gcg_mem_alloc_array(int64_t count, size_t size)
{
    size_t bytes;
    return product(count, size, &bytes) ? alloc_bytes(bytes) : NULL;
}

void *gcg_mem_zalloc_array(int64_t count, size_t size)
{
    size_t bytes;
    if (!product(count, size, &bytes)) return NULL;
    void *block = alloc_bytes(bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

void *gcg_mem_resize_array(void *block, int64_t old_count, int64_t count, size_t size)
{
    size_t old_bytes, bytes;
    if (!product(count, size, &bytes) || !product(old_count, size, &old_bytes)) return NULL;
    void *grown = alloc_bytes(bytes);
    if (!grown) return NULL;
    if (block) memcpy(grown, block, old_bytes < bytes ? old_bytes : bytes);
    gcg_mem_free(block);
    return grown;
}

/* 1 when the block is kept. */
static int keep(header *h)
{
    if (h->bytes < KEPT_LEAST || atomic_load(&kept.most) == 0) return 0;
    pthread_mutex_lock(&kept.mutex);
    int room = atomic_load(&in_use) + kept.bytes + h->bytes <= atomic_load(&kept.most);
    if (room) {
        h->next = kept.first;
        kept.first = h;
        kept.bytes += h->bytes;
    }
    pthread_mutex_unlock(&kept.mutex);
    return room;
}

void gcg_mem_free(void *block)
{
    if (!block) return;
    header *h = (header *)((char *)block - GCG_MEM_ALIGN);
    atomic_fetch_sub(&blocks, 1);
    atomic_fetch_sub(&in_use, h->bytes);
    if (!keep(h)) free(h);
}

char *gcg_mem_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = alloc_bytes(bytes);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

int64_t gcg_mem_in_use(void)
{
    return atomic_load(&in_use);
}

int64_t gcg_mem_peak(void)
{
    return atomic_load(&peak);
}

void gcg_mem_forget_peak(void)
{
    atomic_store(&peak, atomic_load(&in_use));
}

void gcg_mem_limit(int64_t most)
{
    atomic_store(&limit, most);
}

void gcg_mem_keep(int64_t most)
{
    pthread_mutex_lock(&kept.mutex);
    atomic_store(&kept.most, most);
    make_room(0);
    pthread_mutex_unlock(&kept.mutex);
}

void gcg_mem_fail_at(int64_t n)
{
    atomic_store(&fail_at, n > 0 ? atomic_load(&calls) + n : 0);
}

int64_t gcg_mem_calls(void)
{
    return atomic_load(&calls);
}

int64_t gcg_mem_blocks(void)
{
    return atomic_load(&blocks);
}
