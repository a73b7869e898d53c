/* LD_PRELOAD shim for tests: the n-th allocation that the program itself, libzip or zlib asks for fails, n
 * from the environment variable FAILMALLOC. Calls from elsewhere (the C library, OpenMP, BLAS) pass. Writes a
 * line to the file FAILMALLOC_COUNT names at exit: how many calls there were. Not part of the program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long calls;

/* 1 when the caller is one whose allocations are counted. */
static int counts(const void *caller)
{
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname) return 0;
    const char *base = strrchr(info.dli_fname, '/');
    base = base ? base + 1 : info.dli_fname;
    return strncmp(base, "gcg-mc", 6) == 0 || strncmp(base, "libzip.so", 9) == 0 ||
           strncmp(base, "libz.so", 7) == 0;
}

static int must_fail(const void *caller)
{
    static _Thread_local int inside; /* dladdr may allocate */
    if (inside) return 0;
    inside = 1;
    int fail = 0;
    if (counts(caller)) {
        const char *text = getenv("FAILMALLOC");
        fail = atomic_fetch_add(&calls, 1) + 1 == (text ? atol(text) : 0);
    }
    inside = 0;
    if (fail) errno = ENOMEM;
    return fail;
}

__attribute__((destructor)) static void tell(void)
{
    const char *name = getenv("FAILMALLOC_COUNT");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", atomic_load(&calls));
    fclose(file);
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}

int posix_memalign(void **block, size_t align, size_t size)
{
    if (must_fail(__builtin_return_address(0))) return ENOMEM;
    *block = __libc_memalign(align, size);
    return *block ? 0 : ENOMEM;
}
