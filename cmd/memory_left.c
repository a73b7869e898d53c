/* What the machine leaves: see memory_left.h. */
#define _POSIX_C_SOURCE 200809L
#include "cmd/memory_left.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LINE = 4096 };

/* The number after `key` at the start of a line of the file, times unit; -1 when there is none. key "" takes
 * the first line, where "max" is INT64_MAX. */
static int64_t number_in(const char *path, const char *key, int64_t unit)
{
    char line[LINE];
    int64_t value = -1;
    size_t length = strlen(key);
    FILE *file = fopen(path, "r");
    while (file && value < 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, length) != 0) continue;
        const char *text = line + length + strspn(line + length, " \t:");
        if (strncmp(text, "max", 3) == 0) value = INT64_MAX;
        if (*text >= '0' && *text <= '9') value = strtoll(text, NULL, 10);
        if (length == 0) break;
    }
    if (file) fclose(file);
    return value > 0 && value <= INT64_MAX / unit ? value * unit : value;
}

/* The three files of a memory limit, and the pages of files that the system can take back, by version. */
typedef struct {
    const char *limit, *usage, *inactive, *active;
} cgroup_files;

static const cgroup_files v2 = {"memory.max", "memory.current", "inactive_file ", "active_file "};
static const cgroup_files v1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
                                "total_active_file "};

static int64_t number_of(const char *folder, const char *name, const char *key)
{
    char path[LINE + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return number_in(path, key, 1);
}

/* What one folder's limit leaves to a process that uses `own` already; INT64_MAX when there is no limit. */
static int64_t left_in(const char *folder, const cgroup_files *f, int64_t own)
{
    const int64_t none = INT64_MAX / 2; /* v1 writes no limit as a number near this */
    int64_t limit = number_of(folder, f->limit, ""), usage = number_of(folder, f->usage, "");
    if (limit < 0 || limit >= none) return INT64_MAX;
    int64_t inactive = number_of(folder, "memory.stat", f->inactive),
            active = number_of(folder, "memory.stat", f->active);
    int64_t others = usage - (inactive > 0 ? inactive : 0) - (active > 0 ? active : 0) - own;
    return others > 0 ? (others < limit ? limit - others : 0) : limit;
}

/* The least that group and those above it leave, in the tree at base. */
static int64_t left_above(const char *base, const char *group, const cgroup_files *f, int64_t own)
{
    char folder[LINE];
    int64_t least = left_in(base, f, own);
    if (snprintf(folder, sizeof folder, "%s%s", base, group) >= (int)sizeof folder) return least;
    while (strlen(folder) > strlen(base)) {
        int64_t left = left_in(folder, f, own);
        if (left < least) least = left;
        *strrchr(folder, '/') = '\0';
    }
    return least;
}

/* Lines of /proc/self/cgroup are ID:CONTROLLERS:GROUP, without controllers for v2. */
static int64_t left_by_cgroups(const char *root, int64_t own)
{
    char line[LINE], path[LINE + 32], base[LINE + 32];
    int64_t least = INT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        controllers++;
        int old = strcmp(controllers, "memory") == 0;
        if (!old && *controllers) continue;
        snprintf(base, sizeof base, "%s/sys/fs/cgroup%s", root, old ? "/memory" : "");
        int64_t left = left_above(base, group, old ? &v1 : &v2, own);
        if (left < least) least = left;
    }
    if (file) fclose(file);
    return least;
}

/* Own limits are on addresses, of which libraries take more than they use. */
static int64_t left_by_ulimit(const char *root, int64_t own)
{
    char path[LINE];
    struct rlimit limit;
    int64_t least = INT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/status", root);
    const struct {
        int resource;
        const char *key;
    } limits[] = {{RLIMIT_AS, "VmSize:"}, {RLIMIT_DATA, "VmData:"}};
    for (int i = 0; i < 2; i++) {
        int64_t used = number_in(path, limits[i].key, 1024);
        if (getrlimit(limits[i].resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
        int64_t most = limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
        int64_t left = most - (used > own ? used - own : 0);
        if (left < least) least = left > 0 ? left : 0;
    }
    return least;
}

int64_t memory_left(const char *root, const char **what)
{
    const int64_t margin = 16;
    char path[LINE];
    snprintf(path, sizeof path, "%s/proc/self/status", root);
    int64_t own = number_in(path, "RssAnon:", 1024);
    if (own < 0) own = 0;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    int64_t machine = number_in(path, "MemAvailable:", 1024);
    const struct {
        const char *what;
        int64_t left;
    } limits[] = {{"machine", machine < 0 ? INT64_MAX : machine + own},
                  {"cgroup", left_by_cgroups(root, own)},
                  {"ulimit", left_by_ulimit(root, own)}};
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (limits[i].left < limits[least].left) least = i;
    if (what) *what = limits[least].what;
    return limits[least].left == INT64_MAX ? INT64_MAX : limits[least].left - limits[least].left / margin;
}
