/* Runs a command and says what it took: peak FILE COMMAND [ARGUMENT]...
 *
 * Writes the largest resident size of the command, in bytes, to FILE, and ends with the command's status. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 127, SIGNALLED = 128 };

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;
    if (argc < 3) {
        fprintf(stderr, "usage: peak FILE COMMAND [ARGUMENT]...\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        fprintf(stderr, "peak: cannot run %s: %s\n", argv[2], strerror(errno));
        _exit(NOT_STARTED);
    }
    FILE *file = fopen(argv[1], "w");
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !file ||
        fprintf(file, "%lld\n", (long long)usage.ru_maxrss * 1024) < 0 || fclose(file) != 0) {
        fprintf(stderr, "peak: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
}
