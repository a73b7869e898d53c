/* The model file: one uncompressed .npz with everything that predict needs (gcg-mc-model(5)).
 *
 * Written beside its final name, synced, renamed in one step. No time, path, host or user name in it: equal
 * models give equal bytes. */
#ifndef GCG_IO_MODEL_IO_H
#define GCG_IO_MODEL_IO_H

#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "store/center_kind.h"
#include "store/factors.h"
#include "store/idmap.h"

enum { GCG_MODEL_FORMAT = 1 };

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
    char *options_json; /* the member "fit" of model.json: a JSON value as text that describes the fit */
} gcg_model;

/* Releases everything but does not free the struct. Twice is fine. */
void gcg_model_release(gcg_model *m);

/* GCG_ERR_INTERNAL, and nothing written, when a number in m is not finite. */
gcg_status gcg_model_write(const char *path, const gcg_model *m, gcg_err *err);
/* GCG_ERR_DATA for a damaged, cut or foreign file or a newer format version, GCG_ERR_IO when it cannot be
 * read. On failure m is zeroed. */
gcg_status gcg_model_read(const char *path, gcg_model *m, gcg_err *err);
/* The same from memory; name is for messages. */
gcg_status gcg_model_read_buffer(const void *bytes, size_t length, const char *name, gcg_model *m,
                                 gcg_err *err);

/* The number that the description of the fit has under key: 1 and *value, or 0 when it has none. */
int gcg_model_number(const gcg_model *m, const char *key, double *value);
/* 1 when it says true under key; 0 when it says false, something else or nothing. */
int gcg_model_flag(const gcg_model *m, const char *key);

/* Version of libzip in use; lives forever. */
const char *gcg_zip_version(void);

#endif
