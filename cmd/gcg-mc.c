/* gcg-mc: the program. Picks the subcommand; each has a file cmd_<name>.c of its own. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/status.h"
#include "cmd/commands.h"
#include "cmd/help.h"
#include "cmd/memory.h"
#include "cmd/report.h"
#include "cmd/version.h"

/* OpenBLAS starts a thread for every further processor while it is loaded, each with 128 MiB of address
 * space; one that cannot have them tries for ever, and is waited for at the end. Where address space is
 * limited (ulimit -v) the program starts anew without those threads, which it does not use anyway. */
static void start_no_blas_threads(char **argv)
{
    static const char name[] = "OPENBLAS_NUM_THREADS";
    const char *threads = getenv(name);
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
    if (threads && strcmp(threads, "1") == 0) return;
    if (setenv(name, "1", 1) == 0) execv("/proc/self/exe", argv); /* where this fails, go on as it is */
}

/* A standard stream that was closed must not become the next file that is opened: reading it or writing to it
 * fails instead. */
static void keep_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0   ? O_WRONLY
                                                          : fd == 1 ? O_RDONLY
                                                                    : O_WRONLY) != fd)
            return;
}

/* A mapped file lost pages: see base/mapping.h. The default would be a crash without a word. */
static void on_lost_page(int number)
{
    static const char text[] =
        "gcg-mc: error: a binary store was cut short, or the disk failed, while it was in use\n";
    (void)number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(GCG_ERR_INTERNAL);
    _exit(GCG_ERR_IO);
}

static int no_command(const char *word)
{
    char quoted[256];
    gcg_quote(quoted, word, (int64_t)strlen(word));
    return report_usage("%s: a subcommand comes first, then its options: gcg-mc fit --lambda 5 ... (gcg-mc "
                        "--help lists them)",
                        quoted);
}

/* 1 when word is the option or begins it, as getopt_long takes the options of subcommands. */
static int begins(const char *word, const char *option)
{
    enum { DASHES = 2 };
    size_t length = strlen(word);
    return length > DASHES && strncmp(word, option, length) == 0;
}

int main(int argc, char **argv)
{
    start_no_blas_threads(argv);
    keep_standard_streams();
    memory_return_freed();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, which each subcommand handles */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that grows over the limit of ulimit -f */
    signal(SIGUSR1, SIG_IGN); /* asks for a checkpoint; only some subcommands have any */
    signal(SIGBUS, on_lost_page);
    gcg_blas_init();
    if (argc < 2) {
        help_guide(stderr);
        return GCG_ERR_USAGE;
    }
    if (strcmp(argv[1], "help") == 0) return help_topic(argc - 1, argv + 1);
    if (begins(argv[1], "--help")) {
        help_list();
        return report_close_stdout();
    }
    if (begins(argv[1], "--version")) {
        version_print();
        return report_close_stdout();
    }
    const opt_command *command = commands_find(argv[1]);
    if (command) return command->run(argc - 1, argv + 1);
    return argv[1][0] == '-' ? no_command(argv[1]) : help_unknown_command(argv[1]);
}
