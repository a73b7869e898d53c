/* The subcommands, in one list: the program picks from it, --help and completion print it. A new one defines
 * its command_<name> in cmd_<name>.c, is declared here and gets a line in commands.c. */
#ifndef GCG_CMD_COMMANDS_H
#define GCG_CMD_COMMANDS_H

#include "cmd/options.h"

extern const opt_command command_check;
extern const opt_command command_completion;
extern const opt_command command_convert;
extern const opt_command command_cv;
extern const opt_command command_eval;
extern const opt_command command_export;
extern const opt_command command_fit;
extern const opt_command command_fold_in;
extern const opt_command command_path;
extern const opt_command command_plot;
extern const opt_command command_predict;
extern const opt_command command_recommend;
extern const opt_command command_similar;
extern const opt_command command_synth;

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
