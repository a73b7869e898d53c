/* The guide, the list of subcommands and help TOPIC: see help.h. What is said of a subcommand or a topic
 * stands in the manual pages alone (cmd/pages.h). */
#define _POSIX_C_SOURCE 200809L
#include "cmd/help.h"

#include <string.h>

#include "base/status.h"
#include "cmd/commands.h"
#include "cmd/mdoc.h"
#include "cmd/pages.h"
#include "cmd/report.h"

const help_entry help_topics[] = {
    {"tutorial", "from a downloaded zip to recommendations", "gcg-mc-tutorial.7", NULL},
    {"formats", "rating files that are read", "gcg-mc-data.5", NULL},
    {"log", "columns and lines of a log", "gcg-mc-log.5", NULL},
    {"model", "what a model file holds", "gcg-mc-model.5", NULL},
    {"lambda", "the problem, and the options that choose it", "gcg-mc-fit.1", "The problem"},
    {"memory", "what fit plans and gives up for memory", "gcg-mc-fit.1", "Memory"},
    {"streams", "standard input and output, messages, files", "gcg-mc.1", "Streams"},
    {"threads", "how many, and what depends on it", "gcg-mc.1", "Threads"},
    {"exit-codes", "what the exit status means", "gcg-mc.1", "EXIT STATUS"},
    {0},
};

void help_guide(FILE *out)
{
    fputs("usage: gcg-mc SUBCOMMAND [options] [files]\n\n"
          "Completes a matrix of ratings to a certified optimum, and predicts from it.\n\n"
          "  gcg-mc check ratings.csv                     what is in it?\n"
          "  gcg-mc fit --lambda 20 -o model ratings.csv  solve, write a model\n"
          "  gcg-mc predict model pairs.csv               a rating for each pair\n\n"
          "gcg-mc --help         lists the subcommands\n"
          "gcg-mc help TOPIC     explains one, or a topic: gcg-mc help lists them\n"
          "gcg-mc help tutorial  goes from a downloaded zip to recommendations\n",
          out);
}

void help_list(void)
{
    puts("usage: gcg-mc SUBCOMMAND [options] [files]\n       gcg-mc help TOPIC\n       gcg-mc --version");
    for (const commands_entry *e = commands; e->command; e++) {
        if (e->heading) printf("\n%s:\n", e->heading);
        printf("  %-10s %s\n", e->command->name, e->command->summary);
    }
    puts("\ngcg-mc SUBCOMMAND --help lists options, gcg-mc help SUBCOMMAND explains them.");
}

static void list_topics(void)
{
    puts("usage: gcg-mc help TOPIC\n\nA topic is a subcommand (gcg-mc --help lists them) or one of these:\n");
    for (const help_entry *e = help_topics; e->name; e++) printf("  %-11s %s\n", e->name, e->summary);
}

int help_unknown_command(const char *word)
{
    char quoted[256], list[512] = "";
    const opt_command *command = commands_nearest(word);
    const char *nearest = command ? command->name : NULL;
    size_t n = 0;
    if (opt_distance(word, "help") < (command ? opt_distance(word, nearest) : 3)) nearest = "help";
    for (const commands_entry *e = commands; e->command && n < sizeof list; e++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", e->command->name);
    if (strcmp(word, "version") == 0) nearest = "--version";
    gcg_quote(quoted, *word ? word : "''", *word ? (int64_t)strlen(word) : 2);
    if (nearest)
        return report_usage("unknown subcommand %s; did you mean %s? There are %s", quoted, nearest, list);
    return report_usage("unknown subcommand %s; there are %s", quoted, list);
}

static int unknown_topic(const char *word)
{
    char quoted[256];
    const opt_command *command = commands_nearest(word);
    const char *nearest = command ? command->name : NULL;
    int best = command ? opt_distance(word, nearest) : 3;
    for (const help_entry *e = help_topics; e->name; e++) {
        int distance = opt_distance(word, e->name);
        if (distance >= best) continue;
        best = distance;
        nearest = e->name;
    }
    gcg_quote(quoted, word, (int64_t)strlen(word));
    if (nearest) return report_usage("unknown topic %s; did you mean %s?", quoted, nearest);
    return report_usage("unknown topic %s (gcg-mc help lists them)", quoted);
}

static const char *page_text(const char *name)
{
    for (const pages_entry *e = pages; e->name; e++)
        if (strcmp(e->name, name) == 0) return e->text;
    return NULL;
}

int help_topic(int argc, char **argv)
{
    char name[64] = "";
    const char *page, *section = NULL;
    if (argc > 2) return report_usage("help wants one topic, not %d (gcg-mc help lists them)", argc - 1);
    if (argc == 1 || strcmp(argv[1], "--help") == 0) {
        list_topics();
        return report_close_stdout();
    }
    if (commands_find(argv[1])) snprintf(name, sizeof name, "gcg-mc-%s.1", argv[1]);
    for (const help_entry *e = help_topics; e->name; e++)
        if (strcmp(argv[1], e->name) == 0) {
            snprintf(name, sizeof name, "%s", e->page);
            section = e->section;
        }
    if (!name[0]) return unknown_topic(argv[1]);
    page = page_text(name);
    if (!page || mdoc_print(page, section) != 0) {
        report_warning("%s is not among the manual pages", name);
        return GCG_ERR_INTERNAL;
    }
    return report_close_stdout();
}
