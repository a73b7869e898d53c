/* gcg-mc completion: prints what bash, zsh and fish need to complete subcommands, options, their arguments
 * and file names. All of it is made from the tables of options; nothing is listed by hand. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/help.h"
#include "cmd/report.h"

/* ---- what an option's argument may be ---- */

enum { WORD = 64, LIST = 1024 };

/* Adds a word to a list with blanks between. */
static void add_word(char list[LIST], const char *word, size_t length)
{
    size_t n = strlen(list);
    snprintf(list + n, LIST - n, "%s%.*s", n ? " " : "", (int)length, word);
}

/* An alternative of .argument that is meant literally: in lower case, or - for a standard stream. */
static int is_literal(const char *word, size_t length)
{
    if (length == 1 && *word == '-') return 1;
    for (size_t k = 0; k < length; k++)
        if (!islower((unsigned char)word[k]) && word[k] != '-') return 0;
    return length > 0;
}

/* The words that an option takes: its choices, or the literal alternatives of .argument. */
static void list_words(const opt_entry *e, char list[LIST])
{
    list[0] = '\0';
    for (int k = 0; e->kind == OPT_CHOICE && e->choices[k]; k++)
        add_word(list, e->choices[k], strlen(e->choices[k]));
    for (const char *p = e->argument; p && e->kind != OPT_CHOICE && *p; p += strspn(p, "|")) {
        size_t length = strcspn(p, "|");
        if (is_literal(p, length)) add_word(list, p, length);
        p += length;
    }
}

static int is_option(const opt_command *c, size_t k)
{
    return c->table[k].kind != OPT_GROUP && opt_has(c, k);
}

static void list_topics(char list[LIST])
{
    list[0] = '\0';
    for (const help_entry *e = help_topics; e->name; e++) add_word(list, e->name, strlen(e->name));
    for (const commands_entry *e = commands; e->command; e++)
        add_word(list, e->command->name, strlen(e->command->name));
}

static void list_first_words(const opt_command *c, char list[LIST])
{
    list[0] = '\0';
    for (int k = 0; c->words && c->words[k]; k++) add_word(list, c->words[k], strlen(c->words[k]));
}

/* ---- bash ---- */

static void bash_arguments(const opt_command *c)
{
    char words[LIST];
    for (size_t k = 0; k < c->entries; k++) {
        const opt_entry *e = &c->table[k];
        if (!is_option(c, k) || e->kind == OPT_FLAG) continue;
        list_words(e, words);
        printf("    %s:--%s", c->name, e->name);
        if (e->letter) printf(" | %s:-%c", c->name, e->letter);
        printf(") words='%s' files=%d ;;\n", words, e->kind == OPT_FILE);
    }
}

static void bash_options(const opt_command *c)
{
    char words[LIST];
    list_first_words(c, words);
    printf("    %s) options='", c->name);
    for (size_t k = 0; k < c->entries; k++) {
        if (!is_option(c, k)) continue;
        printf("--%s ", c->table[k].name);
        if (c->table[k].letter) printf("-%c ", c->table[k].letter);
    }
    printf("--help' words='%s' ;;\n", words);
}

static void print_bash(void)
{
    char list[LIST];
    puts("# Completion of gcg-mc for bash, printed by: gcg-mc completion bash\n"
         "_gcg_mc()\n"
         "{\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
         "command=${COMP_WORDS[1]}\n"
         "    local options='' words='' files=1 match k\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" = 1 ]; then");
    list_topics(list);
    fputs("        COMPREPLY=($(compgen -W '", stdout);
    for (const commands_entry *e = commands; e->command; e++) printf("%s ", e->command->name);
    puts("help --help --version' -- \"$current\"))\n"
         "        return\n"
         "    fi\n"
         "    # bash takes --option=argument for three words\n"
         "    if [ \"$current\" = = ]; then\n"
         "        current=''\n"
         "    elif [ \"$before\" = = ] && [ \"$COMP_CWORD\" -gt 3 ]; then\n"
         "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
         "    fi\n"
         "    case $command in");
    for (const commands_entry *e = commands; e->command; e++) bash_options(e->command);
    printf("    help) words='%s' ;;\n    esac\n", list);
    puts("    for ((k = 2; k < COMP_CWORD; k++)); do # -- ends the options\n"
         "        if [ \"${COMP_WORDS[k]}\" = -- ]; then before='' options=''; fi\n"
         "    done\n"
         "    [ -z \"$words\" ] || files=0\n"
         "    case $command:$before in");
    for (const commands_entry *e = commands; e->command; e++) bash_arguments(e->command);
    puts("    *)\n"
         "        if [[ $current == -* ]] && [ -n \"$options\" ]; then words=$options files=0; fi ;;\n"
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "    if [ $files = 0 ]; then\n"
         "        compopt +o default +o bashdefault 2>/dev/null\n"
         "        return\n"
         "    fi\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    while IFS= read -r match; do COMPREPLY+=(\"$match\"); done < <(compgen -f -- \"$current\")\n"
         "}\n"
         "complete -o bashdefault -o default -F _gcg_mc gcg-mc");
}

/* ---- zsh ---- */

/* Text inside '...' of a specification of _arguments. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_option(const opt_entry *e)
{
    char words[LIST];
    fputs("            '", stdout);
    const char *plus = e->kind == OPT_FLAG ? "" : "+", *equals = e->kind == OPT_FLAG ? "" : "=";
    if (e->letter)
        printf("(-%c --%s)'{-%c%s,--%s%s}'[", e->letter, e->name, e->letter, plus, e->name, equals);
    else
        printf("*--%s%s[", e->name, equals);
    zsh_text(e->help);
    putchar(']');
    if (e->kind != OPT_FLAG) {
        list_words(e, words);
        putchar(':');
        zsh_text(e->argument);
        putchar(':');
        if (e->kind == OPT_FILE && *words)
            printf(" _gcg-mc_files %s", words);
        else if (e->kind == OPT_FILE)
            printf("_files");
        else
            printf("%s%s%s", *words ? "(" : " ", words, *words ? ")" : "");
    }
    puts("' \\");
}

static void zsh_command(const opt_command *c)
{
    char words[LIST];
    printf("    %s)\n        _arguments -S \\\n", c->name);
    for (size_t k = 0; k < c->entries; k++)
        if (is_option(c, k)) zsh_option(&c->table[k]);
    list_first_words(c, words);
    printf("            '--help[print this and stop]' \\\n");
    if (*words)
        printf("            '1:word:(%s)' ;;\n", words);
    else
        printf("            '*:file:_files' ;;\n");
}

static void print_zsh(void)
{
    char list[LIST];
    puts("#compdef gcg-mc\n"
         "# Completion of gcg-mc for zsh, printed by: gcg-mc completion zsh\n"
         "_gcg-mc_files() # WORD...: files or one of the words\n"
         "{\n"
         "    _alternative \"words:word:($*)\" 'files:file:_files'\n"
         "}\n"
         "_gcg-mc()\n"
         "{\n"
         "    local -a subcommands\n"
         "    subcommands=(");
    for (const commands_entry *e = commands; e->command; e++) {
        printf("        '%s:", e->command->name);
        zsh_text(e->command->summary);
        puts("'");
    }
    puts("        'help:explain a subcommand or a topic'\n"
         "    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe subcommand subcommands\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $words[1] in");
    for (const commands_entry *e = commands; e->command; e++) zsh_command(e->command);
    list_topics(list);
    printf("    help)\n        _arguments '1:topic:(%s)' ;;\n", list);
    puts("    esac\n"
         "}\n"
         "if [[ $funcstack[1] == _gcg-mc ]]; then _gcg-mc \"$@\"; else compdef _gcg-mc gcg-mc; fi");
}

/* ---- fish ---- */

static void fish_text(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (strchr("'\\", *text)) putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void fish_command(const opt_command *c)
{
    char words[LIST];
    printf("complete -c gcg-mc -n __gcg_mc_first -f -a %s -d ", c->name);
    fish_text(c->summary);
    putchar('\n');
    list_first_words(c, words);
    if (*words) printf("complete -c gcg-mc -n '__gcg_mc_is %s' -f -a '%s'\n", c->name, words);
    for (size_t k = 0; k < c->entries; k++) {
        const opt_entry *e = &c->table[k];
        if (!is_option(c, k)) continue;
        printf("complete -c gcg-mc -n '__gcg_mc_is %s' -l %s", c->name, e->name);
        if (e->letter) printf(" -s %c", e->letter);
        if (e->kind != OPT_FLAG) {
            list_words(e, words);
            printf(e->kind == OPT_FILE ? " -rF" : " -x");
            if (*words) printf(" -a '%s'", words);
        }
        fputs(" -d ", stdout);
        fish_text(e->help);
        putchar('\n');
    }
    printf("complete -c gcg-mc -n '__gcg_mc_is %s' -l help -d 'print this and stop'\n", c->name);
}

static void print_fish(void)
{
    char list[LIST];
    puts("# Completion of gcg-mc for fish, printed by: gcg-mc completion fish\n"
         "function __gcg_mc_first\n"
         "    test (count (commandline -opc)) = 1\n"
         "end\n"
         "function __gcg_mc_is\n"
         "    set -l words (commandline -opc)\n"
         "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
         "end");
    for (const commands_entry *e = commands; e->command; e++) fish_command(e->command);
    list_topics(list);
    puts("complete -c gcg-mc -n __gcg_mc_first -f -a help -d 'explain a subcommand or a topic'");
    printf("complete -c gcg-mc -n '__gcg_mc_is help' -f -a '%s'\n", list);
}

/* ---- the subcommand ---- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static void (*const printers[])(void) = {print_bash, print_zsh, print_fish};

static int cmd_completion(int argc, char **argv)
{
    char **words, quoted[256];
    int word_count, none;
    int code = opt_parse(argc, argv, &command_completion, &none, &words, &word_count);
    if (code) return code < 0 ? 0 : code;
    if (word_count != 1) return report_usage("completion wants the name of a shell: bash, zsh or fish");
    for (int k = 0; shells[k]; k++)
        if (strcmp(words[0], shells[k]) == 0) {
            printers[k]();
            return report_close_stdout();
        }
    return report_usage("completion %s: there are bash, zsh and fish",
                        gcg_quote(quoted, words[0], (int64_t)strlen(words[0])));
}

const opt_command command_completion = {
    .name = "completion",
    .summary = "print the completion of a shell",
    .usage = "completion bash|zsh|fish",
    .about = "Prints a script that completes subcommands, options, their arguments and file names.",
    .words = shells,
    .run = cmd_completion,
};
