/* What the subcommands that predict share: --clip, --shrink, --unknown, and the scorer of a model. */
#ifndef GCG_CMD_SCORING_H
#define GCG_CMD_SCORING_H

#include <math.h>
#include <stddef.h>
#include "io/model_io.h"
#include "io/ratings.h"
#include "maths/score.h"

/* --clip LO,HI; SCORING_NO_CLIP = predictions are not cut. */
typedef struct {
    double low, high;
} scoring_clip;
#define SCORING_NO_CLIP                                                                                      \
    {                                                                                                        \
        -INFINITY, INFINITY                                                                                  \
    }
/* For OPT_CUSTOM: the field is a scoring_clip. */
int scoring_parse_clip(const char *text, void *field, char *message, size_t size);

/* Table entries for a settings struct S with fields shrink and clip. */
#define SCORING_OPTIONS(S, CLIP_HELP)                                                                        \
    {.name = "shrink",                                                                                       \
     .kind = OPT_REAL,                                                                                       \
     .offset = offsetof(S, shrink),                                                                          \
     .argument = "N",                                                                                        \
     .min = 0,                                                                                               \
     .max = 1e100,                                                                                           \
     .help = "ratings that the overall mean counts for in the fall-back (5)"},                               \
    {                                                                                                        \
        .name = "clip", .kind = OPT_CUSTOM, .offset = offsetof(S, clip), .argument = "LO,HI",                \
        .parse = scoring_parse_clip, .help = CLIP_HELP                                                       \
    }

typedef enum { SCORING_MEAN, SCORING_SKIP, SCORING_NAN, SCORING_ERROR } scoring_unknown;
extern const char *const scoring_unknown_names[]; /* for OPT_CHOICE */

/* 0, or the exit code of a usage error: MODEL is not standard input. */
int scoring_check_name(const char *model);
/* 0 with the model, or the exit code. */
int scoring_read_model(const char *path, gcg_model *m);
gcg_scorer scoring_of_model(const gcg_model *m, double shrink, scoring_clip clip);

/* --unknown error: GCG_ERR_DATA that names the user or item of the point, which is not of kind seen. */
gcg_status scoring_refuse(const gcg_point *p, gcg_score_kind kind, gcg_err *err);

#endif
