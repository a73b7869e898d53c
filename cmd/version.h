/* gcg-mc --version, and the version for logs and models. */
#ifndef GCG_CMD_VERSION_H
#define GCG_CMD_VERSION_H

extern const char *const version_number;
/* Version, compiler and flags, libraries, instruction set, threads: on stdout. */
void version_print(void);

#endif
