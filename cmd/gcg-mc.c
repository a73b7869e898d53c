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
#include "cmd/memory.h"
#include "cmd/options.h"
#include "cmd/report.h"
#include "cmd/version.h"

static const struct {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"fit", "solve a matrix completion problem, write a model", cmd_fit},
    {"predict", "predict ratings for pairs of user and item", cmd_predict},
    {"eval", "error of a model on test ratings", cmd_eval},
    {"check", "read rating files and say what is in them", cmd_check},
    {"convert", "write ratings anew: binary store or clean text", cmd_convert},
    {"synth", "write a synthetic rating file", cmd_synth},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

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

static void print_usage(FILE *out)
{
    fprintf(out, "usage: gcg-mc SUBCOMMAND [options] [files]\n       gcg-mc --version\n\n");
    for (int i = 0; i < COMMANDS; i++) fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\ngcg-mc SUBCOMMAND --help lists its options; man gcg-mc-SUBCOMMAND explains them.\n");
}

static int unknown_command(const char *word)
{
    char quoted[256], list[128] = "";
    const char *nearest = NULL;
    int best = 3;
    for (int i = 0; i < COMMANDS; i++) {
        int distance = opt_distance(word, commands[i].name);
        if (distance < best) {
            best = distance;
            nearest = commands[i].name;
        }
        strcat(list, i ? ", " : "");
        strcat(list, commands[i].name);
    }
    gcg_quote(quoted, word, (int64_t)strlen(word));
    if (nearest)
        return report_usage("unknown subcommand %s; did you mean %s? There are %s", quoted, nearest, list);
    return report_usage("unknown subcommand %s; there are %s", quoted, list);
}

static int no_command(const char *word)
{
    char quoted[256];
    gcg_quote(quoted, word, (int64_t)strlen(word));
    return report_usage("%s: a subcommand comes first, then its options: gcg-mc fit --lambda 5 ... (gcg-mc "
                        "--help lists them)",
                        quoted);
}

int main(int argc, char **argv)
{
    start_no_blas_threads(argv);
    keep_standard_streams();
    memory_return_freed();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, which each subcommand handles */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that grows over the limit of ulimit -f */
    signal(SIGBUS, on_lost_page);
    gcg_blas_init();
    if (argc < 2) {
        print_usage(stderr);
        return GCG_ERR_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return report_close_stdout();
    }
    if (strcmp(argv[1], "--version") == 0) {
        version_print();
        return report_close_stdout();
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
    return argv[1][0] == '-' ? no_command(argv[1]) : unknown_command(argv[1]);
}
