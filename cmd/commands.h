/* The subcommands, in one list: the program picks from it, --help and completion print it. A new one defines
 * its command_<name> in cmd_<name>.c, is declared here and gets a line in commands.c. */
#ifndef GCG_CMD_COMMANDS_H
#define GCG_CMD_COMMANDS_H

#include "cmd/options.h"

extern const opt_command command_check, command_convert, command_eval, command_export, command_fit,
    command_predict, command_recommend, command_similar, command_synth;

typedef struct {
    const char *heading; /* of --help, above this subcommand; NULL: as the one before */
    const opt_command *command;
} commands_entry;

extern const commands_entry commands[]; /* the last one has no command */

/* The subcommand of that name, or NULL. */
const opt_command *commands_find(const char *name);
/* The one whose name is near word, or NULL. */
const opt_command *commands_nearest(const char *word);

#endif
