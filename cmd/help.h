/* What the program says of itself: the guide, the list of subcommands, help TOPIC from the manual pages. */
#ifndef GCG_CMD_HELP_H
#define GCG_CMD_HELP_H

#include <stdio.h>

/* A topic of help beside the subcommands: a page, or a section of one. */
typedef struct {
    const char *name, *summary;
    const char *page;    /* "gcg-mc-data.5" */
    const char *section; /* NULL: the whole page */
} help_entry;

extern const help_entry help_topics[]; /* the last one has no name */

/* For gcg-mc alone. */
void help_guide(FILE *out);
/* For gcg-mc --help, on standard output. */
void help_list(void);
/* gcg-mc help [TOPIC]: the exit code. */
int help_topic(int argc, char **argv);
/* A message about a first word that is no subcommand; returns 2. */
int help_unknown_command(const char *word);

#endif
