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

typedef enum { SCORING_MEAN, SCORING_SKIP, SCORING_NAN, SCORING_ERROR } scoring_unknown;
extern const char *const scoring_unknown_names[]; /* for OPT_CHOICE */

gcg_scorer scoring_of_model(const gcg_model *m, double shrink, scoring_clip clip);

/* --unknown error: GCG_ERR_DATA that names the user or item of the point, which is not of kind seen. */
gcg_status scoring_refuse(const gcg_point *p, gcg_score_kind kind, gcg_err *err);

#endif
