/* Number of threads: see threads.h. */
#include "cmd/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "cmd/options.h"
#include "cmd/report.h"

enum { MOST_THREADS = 1 << 20, CGROUP_PATH = 4096 };

int threads_parse(const char *text, void *field, char *message, size_t size)
{
    int64_t n;
    if (strcmp(text, "auto") == 0) {
        *(int *)field = 0;
        return 0;
    }
    if (opt_integer(text, &n) == 0 && n >= 1) {
        *(int *)field = n > MOST_THREADS ? MOST_THREADS : (int)n;
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

/* Processors by the quota in one folder of a cgroup tree (v2, or v1), rounded up; 0 when there is none. */
static int quota_in(const char *folder)
{
    char path[CGROUP_PATH + 32];
    long long quota, period, unused;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_numbers(path, &quota, &period) < 2) {
        snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
        if (read_numbers(path, &quota, &unused) < 1) return 0;
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
        if (read_numbers(path, &period, &unused) < 1) return 0;
    }
    if (quota <= 0 || period <= 0) return 0;
    long long n = (quota + period - 1) / period;
    return n > MOST_THREADS ? MOST_THREADS : (int)n;
}

/* The least quota of group and the groups above it in the tree at root; n when there is none. */
static int least_quota(int n, const char *root, const char *group)
{
    char folder[CGROUP_PATH];
    size_t base = strlen(root);
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder) return n;
    for (;;) {
        n = least(n, quota_in(folder));
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < base) return n;
        *slash = '\0';
    }
}

/* 1 when the comma-separated list holds the word. */
static int lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += length)
        if ((p == list || p[-1] == ',') && (p[length] == '\0' || p[length] == ',')) return 1;
    return 0;
}

/* n cut by the quotas of this process's cgroups: lines of /proc/self/cgroup are ID:CONTROLLERS:GROUP, no
 * controllers for v2. A container may show its own group as the root of the tree, so the root is asked too.
 */
static int cut_by_cgroups(int n)
{
    static const char tree[] = "/sys/fs/cgroup";
    char line[CGROUP_PATH];
    FILE *file = fopen("/proc/self/cgroup", "r");
    n = least(n, quota_in(tree));
    n = least(n, quota_in("/sys/fs/cgroup/cpu"));
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        controllers++;
        if (!*controllers) n = least_quota(n, tree, group);
        if (lists(controllers, "cpu")) n = least_quota(n, "/sys/fs/cgroup/cpu", group);
    }
    if (file) fclose(file);
    return n;
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
    return opt_integer(number, &n) == 0 && n >= 1 && n <= MOST_THREADS ? (int)n : 0;
}

int threads_choose(int wish)
{
    int allowed = cut_by_cgroups(gcg_par_cpus());
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
