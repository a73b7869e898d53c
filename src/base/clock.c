#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"

#include <stddef.h>
#include <time.h>

static double (*replacement)(void);

double gcg_clock_now(void)
{
    struct timespec t;
    if (replacement) return replacement();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void gcg_clock_replace(double (*now)(void))
{
    replacement = now;
}
