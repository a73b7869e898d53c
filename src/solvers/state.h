/* The state of a run between two iterations, as a sequence of bytes: what a checkpoint is made of.
 *
 * One function of each part of a solver lists what the part's course depends on, and serves both ways: bytes
 * go out when the stream saves, and come in when it does not. What can be computed again from the ratings and
 * the settings is not in it. Where the bytes go to is the stream's business; numbers are those of this
 * machine. */
#ifndef GCG_SOLVERS_STATE_H
#define GCG_SOLVERS_STATE_H

#include <stdint.h>
#include "base/rng.h"
#include "base/status.h"
#include "store/factors.h"

typedef struct {
    int saving;
    /* n bytes out of, or into, bytes. */
    gcg_status (*pass)(void *user, void *bytes, int64_t n, gcg_err *err);
    void *user;
} gcg_state_stream;

gcg_status gcg_state_integer(const gcg_state_stream *s, int64_t *value, gcg_err *err);
/* The same for a value that has to lie in low..high when it comes in: GCG_ERR_DATA otherwise. */
gcg_status gcg_state_int32(const gcg_state_stream *s, int32_t *value, int32_t low, int32_t high,
                           gcg_err *err);
gcg_status gcg_state_real(const gcg_state_stream *s, double *value, gcg_err *err);
gcg_status gcg_state_rng(const gcg_state_stream *s, gcg_rng *rng, gcg_err *err);
/* f->type must be GCG_FLOAT or GCG_DOUBLE when it comes in. */
gcg_status gcg_state_type(const gcg_state_stream *s, gcg_dtype *type, gcg_err *err);
/* The entries of a matrix of this shape. */
gcg_status gcg_state_entries(const gcg_state_stream *s, const gcg_factors *f, gcg_err *err);
/* k, type and entries of a matrix of `rows` rows; one that comes in is made anew, with at most most_k
 * columns, and what f had is released. */
gcg_status gcg_state_factors(const gcg_state_stream *s, int32_t rows, int32_t most_k, gcg_factors *f,
                             gcg_err *err);

/* A state in memory: kept from the beginning of an iteration for the case that the iteration is cut short. */
typedef struct {
    char *bytes;
    int64_t length;
} gcg_state_copy;

typedef gcg_status (*gcg_state_fn)(void *self, const gcg_state_stream *s, gcg_err *err);
/* copy = what fn saves, in place of what it had. */
gcg_status gcg_state_keep(gcg_state_copy *copy, gcg_state_fn fn, void *self, gcg_err *err);
/* For a gcg_state_fn that saves a copy: self is the gcg_state_copy. */
gcg_status gcg_state_pass_copy(void *self, const gcg_state_stream *s, gcg_err *err);
void gcg_state_copy_release(gcg_state_copy *copy);

#endif
