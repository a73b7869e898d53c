/* How many threads to use: --threads N or auto. */
#ifndef GCG_CMD_THREADS_H
#define GCG_CMD_THREADS_H

#include <stddef.h>

/* For OPT_CUSTOM: the field is an int, 0 = auto. */
int threads_parse(const char *text, void *field, char *message, size_t size);
/* The table's entry, for a settings struct S. */
#define THREADS_OPTION(S, HELP)                                                                              \
    {                                                                                                        \
        .name = "threads", .kind = OPT_CUSTOM, .offset = offsetof(S, threads), .argument = "N|auto",         \
        .parse = threads_parse, .help = HELP                                                                 \
    }
/* The number to use for a wish (0 = auto): auto is the least of affinity mask, cgroup quota,
 * SLURM_CPUS_PER_TASK, OMP_NUM_THREADS and OMP_THREAD_LIMIT; a wish above the processors allowed is cut to
 * them, said on stderr. */
int threads_choose(int wish);

#endif
