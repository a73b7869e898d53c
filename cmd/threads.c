/* Number of threads: see threads.h. */
#include "cmd/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "cmd/options.h"
#include "cmd/report.h"

int threads_parse(const char *text, void *field, char *message, size_t size)
{
    int64_t n;
    if (strcmp(text, "auto") == 0) {
        *(int *)field = 0;
        return 0;
    }
    if (opt_integer(text, &n) == 0 && n >= 1) {
        *(int *)field = n > 1 << 20 ? 1 << 20 : (int)n;
        return 0;
    }
    snprintf(message, size, "wants a whole number from 1, or auto");
    return -1;
}

static int least(int a, int b)
{
    return b >= 1 && b < a ? b : a;
}

/* Two numbers from the first line of a file; "max" counts as -1. Returns how many there were. */
static int read_numbers(const char *path, long long *a, long long *b)
{
    char first[32] = "", second[32] = "";
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    int n = fscanf(file, "%31s %31s", first, second);
    fclose(file);
    *a = strcmp(first, "max") == 0 ? -1 : strtoll(first, NULL, 10);
    *b = strtoll(second, NULL, 10);
    return n < 0 ? 0 : n;
}

/* Processors by the quota of this cgroup (v2, then v1), rounded up; 0 when there is none. */
static int cgroup_quota(void)
{
    long long quota, period, unused;
    if (read_numbers("/sys/fs/cgroup/cpu.max", &quota, &period) < 2) {
        if (read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota, &unused) < 1 ||
            read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period, &unused) < 1)
            return 0;
    }
    return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

/* A whole number from the environment (the first of a list such as OMP_NUM_THREADS=4,2), 0 when there is
 * none. */
static int from_environment(const char *name)
{
    const char *text = getenv(name);
    char number[16];
    int64_t n;
    if (!text) return 0;
    snprintf(number, sizeof number, "%.*s", (int)strcspn(text, ","), text);
    return opt_integer(number, &n) == 0 && n >= 1 && n <= 1 << 20 ? (int)n : 0;
}

int threads_choose(int wish)
{
    int allowed = least(gcg_par_cpus(), cgroup_quota());
    if (!gcg_par_available()) {
        if (wish > 1) report_note("--threads %d: built without OpenMP, using 1", wish);
        return 1;
    }
    if (wish == 0) {
        static const char *const names[] = {"SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT"};
        int n = allowed;
        for (int i = 0; i < 3; i++) n = least(n, from_environment(names[i]));
        return n;
    }
    if (wish > allowed)
        report_note("--threads %d: %d processors are allowed, using %d", wish, allowed, allowed);
    return wish < allowed ? wish : allowed;
}
