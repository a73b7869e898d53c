/* How much memory this process may use: the default of --max-memory. */
#ifndef GCG_CMD_MEMORY_LEFT_H
#define GCG_CMD_MEMORY_LEFT_H

#include <stdint.h>

/* The least of what the machine has left (MemAvailable), what the memory limits of this process's cgroups (v1
 * and v2) leave, and its own limits of address space and data, with what it uses already counted in; a
 * sixteenth of it is kept as a margin. INT64_MAX when nothing limits it. root stands before every path: "" is
 * the system, a folder that looks like it serves tests. *what (if not NULL) says which: "machine", "cgroup",
 * "ulimit". */
int64_t memory_left(const char *root, const char **what);

#endif
