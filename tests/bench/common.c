/* See common.h; and the choice among the objects made from loops.c. */
#include "tests/bench/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/bench/loops.h"

void bench_must(gcg_status status, const gcg_err *err)
{
    if (!status) return;
    fprintf(stderr, "bench: %s%s%s\n", err->file, err->file[0] ? ": " : "", err->text);
    exit(1);
}

void *bench_alloc(int64_t count, size_t size)
{
    void *block = gcg_mem_zalloc_array(count, size);
    if (!block) {
        fprintf(stderr, "bench: out of memory: %" PRId64 " times %zu bytes\n", count, size);
        exit(1);
    }
    return block;
}

int bench_count(const char *name, const char *text, int most)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text != '\0' && *end == '\0' && value >= 1 && value <= most) return (int)value;
    fprintf(stderr, "bench: %s must be a whole number from 1 to %d, not '%s'\n", name, most, text);
    exit(2);
}

void bench_read(const char *path, gcg_ratings *ratings)
{
    gcg_err err = {0};
    gcg_diag diag = {0};
    gcg_read_options options = gcg_read_options_defaults();
    bench_must(gcg_ratings_read(&path, 1, &options, &diag, ratings, &err), &err);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *value, int n)
{
    qsort(value, (size_t)n, sizeof *value, ascending);
    return n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

extern const bench_loops bench_loops_float_base, bench_loops_double_base;
#if defined(__x86_64__)
extern const bench_loops bench_loops_float_avx2, bench_loops_double_avx2;
extern const bench_loops bench_loops_float_avx512, bench_loops_double_avx512;
#endif

const bench_loops *bench_loops_of(gcg_dtype type)
{
    const char *isa = gcg_kernels_isa();
#if defined(__x86_64__)
    if (strcmp(isa, "avx512") == 0)
        return type == GCG_FLOAT ? &bench_loops_float_avx512 : &bench_loops_double_avx512;
    if (strcmp(isa, "avx2") == 0)
        return type == GCG_FLOAT ? &bench_loops_float_avx2 : &bench_loops_double_avx2;
#endif
    if (strcmp(isa, "base") == 0)
        return type == GCG_FLOAT ? &bench_loops_float_base : &bench_loops_double_base;
    fprintf(stderr, "bench: no loops for the instruction set %s: add it to common.c\n", isa);
    exit(1);
}
