/* Option tables: see options.h. Not here: what the options mean. */
#define _GNU_SOURCE
#include "cmd/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cmd/report.h"

enum { HELP_CODE = 1000, FIRST_CODE = 1001 };
static const char help_name[] = "help"; /* every table has it */

/* ---- strict numbers ---- */

static const char *digits(const char *p)
{
    while (isdigit((unsigned char)*p)) p++;
    return p;
}

/* The program never leaves the C locale, so strtod's decimal point is a point. */
int opt_number(const char *text, double *value)
{
    const char *p = text + (*text == '+' || *text == '-'), *whole = digits(p), *end = whole;
    if (*end == '.') end = digits(end + 1);
    if (end - p - (*whole == '.') < 1) return -1; /* no digit */
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        end = digits(exponent);
        if (end == exponent) return -1;
    }
    if (*end) return -1;
    *value = strtod(text, NULL);
    return isfinite(*value) ? 0 : -1;
}

int opt_integer(const char *text, int64_t *value)
{
    const char *p = text + (*text == '+' || *text == '-');
    if (digits(p) == p || *digits(p)) return -1;
    errno = 0;
    *value = strtoll(text, NULL, 10);
    return errno ? -1 : 0;
}

static int parse_uint64(const char *text, uint64_t *value)
{
    if (digits(text) == text || *digits(text)) return -1;
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return errno ? -1 : 0;
}

/* Bytes: a number with K, M, G or T (powers of 1024) behind it, or nothing. */
static int parse_size(const char *text, int64_t *value)
{
    static const char units[] = "KMGT";
    char number[32];
    size_t length = strlen(text);
    double factor = 1, amount;
    if (length == 0 || length >= sizeof number) return -1;
    memcpy(number, text, length + 1);
    const char *unit = strchr(units, toupper((unsigned char)text[length - 1]));
    if (unit) {
        for (const char *u = units; u <= unit; u++) factor *= 1024;
        number[length - 1] = '\0';
    }
    if (opt_number(number, &amount) != 0 || amount < 0 || amount * factor > 0x1p62) return -1;
    *value = (int64_t)(amount * factor);
    return 0;
}

/* ---- one option ---- */

static int bad(const opt_entry *e, const char *text, const char *what)
{
    char quoted[256];
    return report_usage("--%s '%s': %s", e->name, gcg_quote(quoted, text, (int64_t)strlen(text)), what);
}

/* The range of a number in words; both ends may be open-ended. */
static const char *range(const opt_entry *e, char text[96])
{
    const char *more = e->open_min ? "more than" : "at least";
    if (e->wants)
        snprintf(text, 96, "wants %s", e->wants);
    else if (e->max > e->min && isfinite(e->max))
        snprintf(text, 96, "wants %s %g and at most %g", more, e->min, e->max);
    else
        snprintf(text, 96, "wants %s %g", more, e->min);
    return text;
}

/* 1 when the entry has no range or value lies in it. min = max = 0 means no range. */
static int in_range(const opt_entry *e, double value)
{
    if (e->min == 0 && e->max == 0) return 1;
    return (e->open_min ? value > e->min : value >= e->min) && value <= e->max;
}

static int set_choice(const opt_entry *e, const char *text, int *field)
{
    char list[256];
    size_t n = 0;
    for (int i = 0; e->choices[i]; i++) {
        if (strcmp(text, e->choices[i]) == 0) {
            *field = i;
            return 0;
        }
        n += (size_t)snprintf(list + n, n < sizeof list ? sizeof list - n : 0, "%s%s",
                              i ? ", " : "wants one of ", e->choices[i]);
        if (n >= sizeof list) break;
    }
    return bad(e, text, list);
}

static int set_option(const opt_entry *e, const char *text, void *settings)
{
    char *field = (char *)settings + e->offset, message[256];
    double number = 0;
    if (e->seen_offset) *(int *)((char *)settings + e->seen_offset) = 1;
    switch (e->kind) {
    case OPT_FLAG:
        *(int *)field = 1;
        return 0;
    case OPT_TEXT:
    case OPT_FILE:
        if (!*text) return bad(e, text, "is empty");
        *(const char **)field = text;
        return 0;
    case OPT_REAL:
        if (opt_number(text, &number) != 0) return bad(e, text, "is not a number (or too large)");
        if (!in_range(e, number)) return bad(e, text, range(e, message));
        *(double *)field = number;
        return 0;
    case OPT_COUNT:
        if (opt_integer(text, (int64_t *)field) != 0)
            return bad(e, text, "is not a whole number (or too large)");
        return in_range(e, (double)*(int64_t *)field) ? 0 : bad(e, text, range(e, message));
    case OPT_UINT64:
        return parse_uint64(text, (uint64_t *)field) == 0
                   ? 0
                   : bad(e, text, "wants a whole number from 0 to 2^64 - 1");
    case OPT_SIZE:
        return parse_size(text, (int64_t *)field) == 0
                   ? 0
                   : bad(e, text, "wants a number of bytes, or one with K, M, G or T behind it");
    case OPT_CHOICE:
        return set_choice(e, text, (int *)field);
    case OPT_CUSTOM:
        return e->parse(text, field, message, sizeof message) == 0 ? 0 : bad(e, text, message);
    case OPT_GROUP:
        break; /* getopt does not know it */
    }
    return GCG_ERR_INTERNAL;
}

int opt_set(const opt_command *c, size_t entry, const char *text, void *settings)
{
    if (c->given_offset) ((const char **)(void *)((char *)settings + c->given_offset))[entry] = text;
    return set_option(&c->table[entry], text, settings);
}

const char *opt_given(const opt_command *c, size_t entry, const void *settings)
{
    return ((const char *const *)(const void *)((const char *)settings + c->given_offset))[entry];
}

size_t opt_find(const opt_command *c, const char *name)
{
    size_t i = 0;
    while (i < c->entries &&
           (c->table[i].kind == OPT_GROUP || !opt_has(c, i) || strcmp(c->table[i].name, name) != 0))
        i++;
    return i;
}

/* As short as it can be. */
static void real_text(double value, char text[OPT_VALUE_TEXT])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, OPT_VALUE_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

void opt_value(const opt_command *c, size_t entry, const void *settings, char text[OPT_VALUE_TEXT])
{
    const opt_entry *e = &c->table[entry];
    const char *field = (const char *)settings + e->offset, *given = opt_given(c, entry, settings),
               *words = given ? given : "";
    *text = '\0';
    if (e->kind != OPT_CHOICE && e->seen_offset && !*(const int *)((const char *)settings + e->seen_offset))
        return;
    switch (e->kind) {
    case OPT_FLAG:
        snprintf(text, OPT_VALUE_TEXT, "%s", *(const int *)field ? "yes" : "");
        break;
    case OPT_REAL:
        real_text(*(const double *)field, text);
        break;
    case OPT_COUNT:
    case OPT_SIZE:
        snprintf(text, OPT_VALUE_TEXT, "%" PRId64, *(const int64_t *)field);
        break;
    case OPT_UINT64:
        snprintf(text, OPT_VALUE_TEXT, "%" PRIu64, *(const uint64_t *)field);
        break;
    case OPT_CHOICE:
        snprintf(text, OPT_VALUE_TEXT, "%s", e->choices[*(const int *)field]);
        break;
    case OPT_TEXT:
    case OPT_FILE:
    case OPT_CUSTOM:
        snprintf(text, OPT_VALUE_TEXT, "%s", words);
        break;
    case OPT_GROUP:
        break;
    }
}

/* ---- help ---- */

static void print_entry(const opt_entry *e)
{
    char left[64];
    if (e->kind == OPT_GROUP) {
        printf("%s:\n", e->name);
        return;
    }
    int n = e->letter ? snprintf(left, sizeof left, "  -%c, --%s", e->letter, e->name)
                      : snprintf(left, sizeof left, "      --%s", e->name);
    if (e->argument) snprintf(left + n, sizeof left - (size_t)n, " %s", e->argument);
    if (strlen(left) < 30)
        printf("%-30s %s\n", left, e->help);
    else
        printf("%s\n%31s%s\n", left, "", e->help);
}

/* 0 for a heading with nothing below it, which happens where commands share a table. */
static int is_shown(const opt_command *c, size_t i)
{
    if (c->table[i].kind != OPT_GROUP || !opt_has(c, i)) return opt_has(c, i);
    while (++i < c->entries && c->table[i].kind != OPT_GROUP)
        if (opt_has(c, i)) return 1;
    return 0;
}

static void print_help(const opt_command *c)
{
    printf("usage: gcg-mc %s\n\n%s\n\n", c->usage, c->about);
    if (c->entries == 0 || c->table[0].kind != OPT_GROUP) puts("options:");
    for (size_t i = 0; i < c->entries; i++)
        if (is_shown(c, i)) print_entry(&c->table[i]);
    printf("%-30s %s\n", "      --help", "print this and stop");
}

/* ---- nearest name ---- */

int opt_distance(const char *a, const char *b)
{
    enum { MOST = 64 };
    size_t n = strlen(a), m = strlen(b);
    int row[MOST + 1];
    if (m > MOST || n > MOST) return MOST;
    for (size_t j = 0; j <= m; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int keep = diagonal + (a[i - 1] != b[j - 1]), drop = row[j] + 1, add = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = keep < drop ? (keep < add ? keep : add) : (drop < add ? drop : add);
        }
    }
    return row[m];
}

/* The option whose name is near word, or NULL. A short word has few letters that may be wrong. */
static const char *nearest_name(const char *word, const opt_command *c)
{
    enum { MOST_EDITS = 3 };
    int length = (int)strlen(word), allowed = length / 2 < MOST_EDITS ? length / 2 : MOST_EDITS;
    const char *nearest = NULL;
    for (size_t i = 0; i < c->entries; i++) {
        int distance = opt_distance(word, c->table[i].name);
        if (distance > allowed || c->table[i].kind == OPT_GROUP || !opt_has(c, i)) continue;
        allowed = distance - 1;
        nearest = c->table[i].name;
    }
    return nearest;
}

/* Appends a name to "--a or --b". */
static void list_name(char *list, size_t size, const char *name)
{
    size_t n = strlen(list);
    snprintf(list + n, size - n, "%s--%s", n ? " or " : "", name);
}

/* A message about an option that getopt did not take. */
static int unknown(const char *word, int letter, const opt_command *c)
{
    char quoted[256], name[64], list[1024] = "";
    int is_short = word[1] != '-';
    const char *start = word + (is_short ? 1 : 2);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(start, "="), start);
    size_t length = strlen(name), matches = 0;
    for (size_t i = 0; i <= c->entries && !is_short; i++) {
        const char *known = i < c->entries ? c->table[i].name : help_name;
        if (strncmp(name, known, length) != 0) continue;
        if (i < c->entries && (c->table[i].kind == OPT_GROUP || !opt_has(c, i))) continue;
        list_name(list, sizeof list, known);
        matches++;
    }
    if (matches > 1)
        return report_usage("option --%s could be %s", gcg_quote(quoted, name, (int64_t)length), list);
    const char *nearest = length > 2 ? nearest_name(name, c) : NULL;
    if (is_short)
        gcg_quote(quoted, (char[]){(char)letter}, 1);
    else
        gcg_quote(quoted, name, (int64_t)length);
    if (nearest)
        return report_usage("unknown option %s%s; did you mean --%s?", is_short ? "-" : "--", quoted,
                            nearest);
    return report_usage("unknown option %s%s (gcg-mc %s --help lists them)", is_short ? "-" : "--", quoted,
                        c->name);
}

static const opt_entry *entry_of(int code, const opt_command *c)
{
    if (code >= FIRST_CODE) return &c->table[code - FIRST_CODE];
    if (code == '?') return NULL;
    for (size_t i = 0; i < c->entries; i++)
        if (c->table[i].letter && c->table[i].letter == code && opt_has(c, i)) return &c->table[i];
    return NULL;
}

/* getopt's view of the table: "-" keeps words in order wherever they stand, ":" tells a missing argument
 * apart. */
static void build(const opt_command *c, struct option *longs, char *shorts)
{
    size_t n = 0, options = 0;
    shorts[n++] = '-';
    shorts[n++] = ':';
    for (size_t i = 0; i < c->entries; i++) {
        const opt_entry *e = &c->table[i];
        int has_argument = e->kind != OPT_FLAG;
        if (e->kind == OPT_GROUP || !opt_has(c, i)) continue;
        longs[options++] = (struct option){e->name, has_argument, NULL, FIRST_CODE + (int)i};
        if (e->letter) {
            shorts[n++] = (char)e->letter;
            if (has_argument) shorts[n++] = ':';
        }
    }
    longs[options] = (struct option){help_name, 0, NULL, HELP_CODE};
    longs[options + 1] = (struct option){0};
    shorts[n] = '\0';
}

/* A message about an argument that getopt missed, or that is one too many. */
static int bad_argument(int code, const char *word, const opt_entry *e)
{
    char quoted[256];
    gcg_quote(quoted, word, (int64_t)strlen(word));
    if (code == ':') return report_usage("%s wants an argument: %s", quoted, e->argument);
    return report_usage("%s: --%s takes no argument", quoted, e ? e->name : help_name);
}

/* One result of getopt_long for the word argv[at]: 0, or the exit code after a message. */
static int take(int code, const char *word, const opt_command *c, void *settings)
{
    int is_bad = code == ':' || (code == '?' && optopt >= HELP_CODE);
    const opt_entry *e = entry_of(is_bad ? optopt : code, c);
    if (is_bad) return bad_argument(code, word, e);
    return e ? opt_set(c, (size_t)(e - c->table), optarg ? optarg : "", settings) : unknown(word, optopt, c);
}

int opt_parse(int argc, char **argv, const opt_command *command, void *settings, char ***words,
              int *word_count)
{
    struct option longs[OPT_MOST + 2];
    char shorts[2 * OPT_MOST + 3];
    if (command->entries > OPT_MOST) return GCG_ERR_INTERNAL;
    build(command, longs, shorts);
    *words = argv + 1; /* words are moved to the front as they come */
    *word_count = 0;
    opterr = 0;
    optind = 0; /* glibc: start anew, whatever was parsed before */
    for (;;) {
        int at = optind ? optind : 1, code = getopt_long(argc, argv, shorts, longs, NULL), failed = 0;
        if (code == -1) break;
        if (code == HELP_CODE) {
            print_help(command);
            return report_close_stdout() ? GCG_ERR_IO : -1;
        }
        if (code == 1)
            (*words)[(*word_count)++] = optarg;
        else
            failed = take(code, argv[at], command, settings);
        if (failed) return failed;
    }
    while (optind < argc) (*words)[(*word_count)++] = argv[optind++]; /* after "--" */
    for (int i = 0; i < *word_count; i++)
        if (!*(*words)[i]) return report_usage("an empty word ('') among the file names");
    return 0;
}
