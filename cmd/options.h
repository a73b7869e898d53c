/* One table per subcommand makes parsing, range checks, defaults, --help and completion. getopt_long
 * underneath.
 */
#ifndef GCG_CMD_OPTIONS_H
#define GCG_CMD_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    OPT_FLAG,   /* int, set to 1 */
    OPT_TEXT,   /* const char *, not empty */
    OPT_FILE,   /* the same, and a file name: completion offers files */
    OPT_REAL,   /* double, strict; min..max inclusive, open_min excludes min; min = max = 0: no range */
    OPT_COUNT,  /* int64_t, strict; min..max */
    OPT_UINT64, /* uint64_t, strict */
    OPT_SIZE,   /* int64_t, bytes with optional K, M, G, T (powers of 1024) */
    OPT_CHOICE, /* int, index into choices (NULL-terminated) */
    OPT_CUSTOM, /* parse(text, field, message, size): 0 when fine, else fills message with what is wrong */
    OPT_GROUP   /* no option: a heading of --help for those below it; see OPT_HEADING */
} opt_kind;

/* Whether a resumed fit takes an option from its checkpoint. */
typedef enum {
    OPT_NOT_RESUMED, /* it changes no result, or names a file: given again or not, as one likes */
    OPT_RESUMED,     /* and it must not be given otherwise */
    OPT_CHANGEABLE   /* unless it is given again */
} opt_resume;

enum { OPT_MOST = 96 /* entries of a table */ };

typedef struct {
    const char *name; /* without dashes */
    int letter;       /* short option, 0 = none */
    opt_kind kind;
    size_t offset;        /* of the field in the settings struct */
    const char *argument; /* name of the argument in --help; NULL for flags. Completion offers the
                           * alternatives between | that are in lower case, or - */
    const char *help;     /* one line */
    double min, max;      /* for REAL and COUNT */
    int open_min;         /* REAL: min itself is not allowed */
    const char *wants;    /* the range in words, for messages; NULL: made from min and max */
    const char *const *choices;
    int (*parse)(const char *text, void *field, char *message, size_t size);
    size_t seen_offset; /* where an int is set to 1 when the option was given; 0 = nowhere */
    opt_resume resume;
    unsigned not_in; /* bits of the commands that share the table but have not this option */
} opt_entry;

#define OPT_HEADING(text)                                                                                    \
    {                                                                                                        \
        .name = text, .kind = OPT_GROUP                                                                      \
    }

/* What every subcommand has; S is its settings struct. */
#define OPT_QUIET(S)                                                                                         \
    {                                                                                                        \
        .name = "quiet", .kind = OPT_FLAG, .offset = offsetof(S, quiet),                                     \
        .help = "only warnings and errors on stderr"                                                         \
    }

/* A subcommand, as its users see it. Each cmd_<name>.c defines one; cmd/commands.c has them all. */
typedef struct {
    const char *name;
    const char *summary; /* a line of gcg-mc --help */
    const char *usage;   /* e.g. "fit --lambda L -o MODEL [options] TRAIN..." */
    const char *about;   /* what --help says first; may have several lines */
    const opt_entry *table;
    size_t entries;
    unsigned bit;             /* where commands share a table: which this is; 0: it has every option */
    const char *const *words; /* what the first word may be (NULL-terminated); NULL: words are file names */
    int (*run)(int argc, char **argv);
    size_t given_offset; /* of a const char *[OPT_MOST] in the settings: the last argument that was given for
                          * each entry ("" for a flag), NULL where none was; 0 = nowhere */
} opt_command;

/* 1 when entry i of its table is an option of the command, or a heading of some. */
static inline int opt_has(const opt_command *c, size_t i)
{
    return !(c->table[i].not_in & c->bit);
}

/* Parses argv[1..] by the command's table; options anywhere, "--" ends them. On success returns 0 and *words
 * / *word_count are the other arguments (pointing into argv). --help prints the table on stdout. Returns -1
 * when done with exit code 0 (help), else the exit code after a message on stderr ("gcg-mc: error: ..."). */
int opt_parse(int argc, char **argv, const opt_command *command, void *settings, char ***words,
              int *word_count);

/* One option's value as text that opt_set() takes back; "" where it was not given (where that is told apart:
 * seen_offset but for choices, flags, custom options). Needs given_offset. */
enum { OPT_VALUE_TEXT = 1024 };
void opt_value(const opt_command *command, size_t entry, const void *settings, char text[OPT_VALUE_TEXT]);
/* Sets entry as if it was given on the command line; text lives as long as the settings. */
int opt_set(const opt_command *command, size_t entry, const char *text, void *settings);
/* What was given for the entry; NULL: nothing. */
const char *opt_given(const opt_command *command, size_t entry, const void *settings);
/* The entry of this name, or command->entries. */
size_t opt_find(const opt_command *command, const char *name);

/* Edits (one letter changed, dropped or added) between two words. */
int opt_distance(const char *a, const char *b);

/* Strict numbers, independent of the locale: 0 when text is exactly one number. */
int opt_number(const char *text, double *value);
int opt_integer(const char *text, int64_t *value);

#endif
