/* The reading options (CLI contract, "Reading") that fit, predict, eval and check share. */
#ifndef GCG_CMD_READING_H
#define GCG_CMD_READING_H

#include "cmd/options.h"
#include "io/ratings.h"

enum { READING_MAX_VALUE_MAPS = 64 };

typedef struct {
    int format, header, duplicates;
    const char *columns, *weights;
    int implicit, no_ratings;
    struct {
        gcg_value_map map[READING_MAX_VALUE_MAPS];
        int count;
    } value_maps;
} reading_settings;

/* Table entries for a settings struct S whose field M is a reading_settings, so that every subcommand words
 * its options alike. A subcommand takes the groups that mean something to it: READING_LAYOUT (any file),
 * READING_VALUES (files with ratings), READING_DUPLICATES and READING_WEIGHTS (training files), READING_PAIRS
 * (files that may have pairs only). */
extern const char *const reading_formats[], *const reading_headers[], *const reading_duplicates[];
int reading_parse_value_map(const char *text, void *field, char *message, size_t size);

#define READING_LAYOUT(S, M)                                                                                 \
    {.name = "format",                                                                                       \
     .kind = OPT_CHOICE,                                                                                     \
     .offset = offsetof(S, M.format),                                                                        \
     .argument = "NAME",                                                                                     \
     .choices = reading_formats,                                                                             \
     .help = "layout of the files; auto looks at the content"},                                              \
        {.name = "columns",                                                                                  \
         .kind = OPT_TEXT,                                                                                   \
         .offset = offsetof(S, M.columns),                                                                   \
         .argument = "U,I,R",                                                                                \
         .help = "columns of user, item, rating: numbers or header names (1,2,3)"},                          \
    {                                                                                                        \
        .name = "header", .kind = OPT_CHOICE, .offset = offsetof(S, M.header), .argument = "auto|yes|no",    \
        .choices = reading_headers, .help = "is the first line a header"                                     \
    }

#define READING_VALUES(S, M)                                                                                 \
    {.name = "implicit",                                                                                     \
     .kind = OPT_FLAG,                                                                                       \
     .offset = offsetof(S, M.implicit),                                                                      \
     .help = "two columns, every rating is 1"},                                                              \
    {                                                                                                        \
        .name = "value-map", .kind = OPT_CUSTOM, .offset = offsetof(S, M.value_maps),                        \
        .argument = "A=B|A=drop", .parse = reading_parse_value_map,                                          \
        .help = "read rating A as B, or drop it; may be repeated"                                            \
    }

#define READING_DUPLICATES(S, M)                                                                             \
    {                                                                                                        \
        .name = "duplicates", .kind = OPT_CHOICE, .offset = offsetof(S, M.duplicates), .argument = "POLICY", \
        .choices = reading_duplicates, .help = "a pair that occurs twice: error, first, last, mean or sum"   \
    }

#define READING_WEIGHTS(S, M, HELP)                                                                          \
    {                                                                                                        \
        .name = "weights", .kind = OPT_TEXT, .offset = offsetof(S, M.weights), .argument = "COL",            \
        .help = HELP                                                                                         \
    }

#define READING_PAIRS(S, M)                                                                                  \
    {                                                                                                        \
        .name = "no-ratings", .kind = OPT_FLAG, .offset = offsetof(S, M.no_ratings),                         \
        .help = "the pairs file has no rating column"                                                        \
    }

#define READING_OPTIONS(S, M)                                                                                \
    READING_LAYOUT(S, M), READING_VALUES(S, M), READING_DUPLICATES(S, M), READING_PAIRS(S, M)

/* What the options say; reading tells its progress (progress.h) and stops at a signal that was caught. */
gcg_read_options reading_options(const reading_settings *s);

#endif
