/* Shared options of the subcommands that predict: see scoring.h. */
#include "cmd/scoring.h"

#include <stdio.h>
#include <string.h>
#include "cmd/options.h"
#include "cmd/report.h"

const char *const scoring_unknown_names[] = {"mean", "skip", "nan", "error", NULL};

int scoring_parse_clip(const char *text, void *field, char *message, size_t size)
{
    scoring_clip *clip = field;
    char low[64];
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : 0;
    if (!comma || length >= sizeof low) {
        snprintf(message, size, "wants two numbers LO,HI");
        return -1;
    }
    memcpy(low, text, length);
    low[length] = '\0';
    if (opt_number(low, &clip->low) != 0 || opt_number(comma + 1, &clip->high) != 0) {
        snprintf(message, size, "wants two numbers LO,HI");
        return -1;
    }
    if (clip->low < clip->high) return 0;
    snprintf(message, size, "LO must be below HI");
    return -1;
}

int scoring_check_name(const char *model)
{
    if (strcmp(model, "-") != 0) return 0;
    return report_usage("a model cannot be read from standard input: name its file");
}

int scoring_read_model(const char *path, gcg_model *m)
{
    gcg_err err = {0};
    return gcg_model_read(path, m, &err) ? report_error(&err, NULL) : 0;
}

gcg_scorer scoring_of_model(const gcg_model *m, double shrink, scoring_clip clip)
{
    return (gcg_scorer){.u = &m->u,
                        .v = &m->v,
                        .mu = m->mu,
                        .user_bias = m->user_bias,
                        .item_bias = m->item_bias,
                        .user_count = m->user_count,
                        .item_count = m->item_count,
                        .user_sum = m->user_sum,
                        .item_sum = m->item_sum,
                        .mean = m->mean,
                        .shrink = shrink,
                        .low = clip.low,
                        .high = clip.high};
}

gcg_status scoring_refuse(const gcg_point *p, gcg_score_kind kind, gcg_err *err)
{
    char quoted[256];
    int user = kind != GCG_SCORE_NEW_ITEM;
    return gcg_fail(err, GCG_ERR_DATA, p->file, p->line, user ? p->user_col : p->item_col,
                    "%s '%s' has no training ratings; --unknown mean gives it the fall-back mean",
                    user ? "user" : "item",
                    user ? gcg_quote(quoted, p->user, (int64_t)p->user_length)
                         : gcg_quote(quoted, p->item, (int64_t)p->item_length));
}
