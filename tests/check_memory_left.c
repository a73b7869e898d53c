/* cmd/memory_left: the least of what machine, cgroups and own limits leave, from folders that look like a
 * system.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/naive.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/memory_left.h"

static char root[64];

static void make_folders(const char *path)
{
    char part[512];
    for (const char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        mkdir(part, 0700);
    }
}

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    make_folders(path);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* A machine with 1000 MiB left, 32 MiB used by this process, no limits. */
static void make_root(void)
{
    strcpy(root, "/tmp/memory_left_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    put("proc/meminfo", "MemTotal: 9000000 kB\nMemFree: 10 kB\nMemAvailable:   1024000 kB\n");
    put("proc/self/status", "Name:\tx\nVmSize:\t 65536 kB\nVmData:\t 65536 kB\nRssAnon:\t   32768 kB\n");
    put("proc/self/cgroup", "");
}

static void remove_root(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}

static const int64_t MEGA = 1 << 20;

/* What is left, before the margin of a sixteenth. */
static void expect(int64_t megabytes, const char *limiter)
{
    const char *what;
    int64_t left = memory_left(root, &what), all = megabytes * MEGA;
    ck_assert_str_eq(what, limiter);
    ck_assert_int_eq(left, all - all / 16);
}

START_TEST(the_machine_leaves_what_is_available_and_what_is_used_already)
{
    make_root();
    expect(1032, "machine");
    remove_root();
}
END_TEST

START_TEST(without_proc_there_is_no_limit)
{
    strcpy(root, "/nonexistent");
    ck_assert_int_eq(memory_left(root, NULL), INT64_MAX);
}
END_TEST

START_TEST(limits_of_cgroups_v2_hold_with_those_above)
{
    make_root();
    put("proc/self/cgroup", "0::/user/job\n");
    put("sys/fs/cgroup/user/job/memory.max", "max\n");
    expect(1032, "machine");
    put("sys/fs/cgroup/user/job/memory.max", "524288000\n");     /* 500 MiB */
    put("sys/fs/cgroup/user/job/memory.current", "104857600\n"); /* 100, of which 40 are files and 32 own */
    put("sys/fs/cgroup/user/job/memory.stat", "anon 5\ninactive_file 20971520\nactive_file 20971520\n");
    expect(500 - 28, "cgroup");
    put("sys/fs/cgroup/user/memory.max", "209715200\n"); /* 200 MiB, nothing but this process in it */
    put("sys/fs/cgroup/user/memory.current", "33554432\n");
    expect(200, "cgroup");
    remove_root();
}
END_TEST

START_TEST(limits_of_cgroups_v1_hold)
{
    make_root();
    put("proc/self/cgroup", "9:cpu:/x\n4:memory:/job\n0::/\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "314572800\n"); /* 300 MiB */
    put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "83886080\n");  /* 80 */
    put("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 8388608\ntotal_active_file 0\n"); /* 8 */
    expect(300 - 40, "cgroup");
    remove_root();
}
END_TEST

START_TEST(own_limits_hold)
{
    make_root();
    pid_t child = fork();
    if (child == 0) { /* a limit cannot be raised again */
        struct rlimit limit = {(rlim_t)(400 * MEGA), (rlim_t)(400 * MEGA)};
        const char *what;
        if (setrlimit(RLIMIT_DATA, &limit) != 0) _exit(2);
        int64_t left = memory_left(root, &what), all = (400 - 32) * MEGA; /* 64 MiB of data, 32 resident */
        _exit(left == all - all / 16 && strcmp(what, "ulimit") == 0 ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    remove_root();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_left");
    TCase *tests = tcase_create("memory_left");
    tcase_add_test(tests, the_machine_leaves_what_is_available_and_what_is_used_already);
    tcase_add_test(tests, without_proc_there_is_no_limit);
    tcase_add_test(tests, limits_of_cgroups_v2_hold_with_those_above);
    tcase_add_test(tests, limits_of_cgroups_v1_hold);
    tcase_add_test(tests, own_limits_hold);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
