/* The list of subcommands: see commands.h. In the order of --help. */
#include "cmd/commands.h"

#include <stddef.h>
#include <string.h>

const commands_entry commands[] = {
    {"look at ratings", &command_check},
    {NULL, &command_convert},
    {NULL, &command_synth},
    {"fit a model", &command_fit},
    {NULL, &command_path},
    {NULL, &command_cv},
    {"use a model", &command_predict},
    {NULL, &command_eval},
    {NULL, &command_recommend},
    {NULL, &command_fold_in},
    {NULL, &command_similar},
    {NULL, &command_export},
    {"more", &command_plot},
    {NULL, &command_completion},
    {0},
};

const opt_command *commands_find(const char *name)
{
    for (const commands_entry *e = commands; e->command; e++)
        if (strcmp(name, e->command->name) == 0) return e->command;
    return NULL;
}

const opt_command *commands_nearest(const char *word)
{
    const opt_command *nearest = NULL;
    int best = 3;
    for (const commands_entry *e = commands; e->command; e++) {
        int distance = opt_distance(word, e->command->name);
        if (distance >= best || distance >= (int)strlen(e->command->name)) continue; /* nothing in common */
        best = distance;
        nearest = e->command;
    }
    return nearest;
}
