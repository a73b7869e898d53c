/* The manual pages, as they stand in man/: the Makefile turns them into build/cmd/pages.c. */
#ifndef GCG_CMD_PAGES_H
#define GCG_CMD_PAGES_H

typedef struct {
    const char *name; /* "gcg-mc-fit.1" */
    const char *text;
} pages_entry;

extern const pages_entry pages[]; /* the last one has no name */

#endif
