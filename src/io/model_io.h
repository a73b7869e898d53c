/* The model file: one uncompressed .npz with everything that predict needs (gcg-mc-model(5)).
 *
 * Written beside its final name, synced, renamed in one step. No time, path, host or user name in it: equal
 * models give equal bytes. */
#ifndef GCG_IO_MODEL_IO_H
#define GCG_IO_MODEL_IO_H

#include <stdint.h>
#include "base/status.h"
#include "store/factors.h"
#include "store/idmap.h"

enum { GCG_MODEL_FORMAT = 1 };

typedef enum {
    GCG_CENTER_NONE,
    GCG_CENTER_GLOBAL,
    GCG_CENTER_USER,
    GCG_CENTER_ITEM,
    GCG_CENTER_BOTH
} gcg_center_kind;

/* W = U V' + centre; prediction of a seen pair = mu + user_bias + item_bias + u_i . v_j. */
typedef struct {
    gcg_factors u, v;        /* users x k, items x k, one type, balanced: U'U = V'V = diag(singular_values) */
    double *singular_values; /* k */
    gcg_idmap *users, *items;         /* row order */
    double mean;                      /* mean of the training ratings, before centring */
    int64_t *user_count, *item_count; /* training ratings per row, column */
    double *user_sum, *item_sum;      /* sum of them, before centring */
    gcg_center_kind center;
    double mu;                     /* subtracted global mean; 0 when center is none */
    double *user_bias, *item_bias; /* subtracted; all 0 where not used */
    char *options_json; /* the members of model.json that describe the fit: a JSON object as text */
} gcg_model;

/* Releases everything but does not free the struct. Twice is fine. */
void gcg_model_release(gcg_model *m);

gcg_status gcg_model_write(const char *path, const gcg_model *m, gcg_err *err);
/* GCG_ERR_DATA for a damaged, cut or foreign file or a newer format version, GCG_ERR_IO when it cannot be
 * read. */
gcg_status gcg_model_read(const char *path, gcg_model *m, gcg_err *err);

#endif
