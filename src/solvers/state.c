/* States of runs as bytes: see state.h. */
#include "solvers/state.h"

#include <string.h>

#include "base/mem.h"

static gcg_status refuse(gcg_err *err, const char *what)
{
    return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0, "the state of the run cannot be right: its %s", what);
}

gcg_status gcg_state_integer(const gcg_state_stream *s, int64_t *value, gcg_err *err)
{
    return s->pass(s->user, value, sizeof *value, err);
}

gcg_status gcg_state_int32(const gcg_state_stream *s, int32_t *value, int32_t low, int32_t high, gcg_err *err)
{
    int64_t wide = *value;
    gcg_status status = gcg_state_integer(s, &wide, err);
    if (!status && (wide < low || wide > high)) status = refuse(err, "sizes are out of range");
    if (!status) *value = (int32_t)wide;
    return status;
}

gcg_status gcg_state_real(const gcg_state_stream *s, double *value, gcg_err *err)
{
    return s->pass(s->user, value, sizeof *value, err);
}

gcg_status gcg_state_rng(const gcg_state_stream *s, gcg_rng *rng, gcg_err *err)
{
    return s->pass(s->user, rng->s, sizeof rng->s, err);
}

gcg_status gcg_state_type(const gcg_state_stream *s, gcg_dtype *type, gcg_err *err)
{
    int32_t bytes = (int32_t)*type;
    gcg_status status = gcg_state_int32(s, &bytes, GCG_FLOAT, GCG_DOUBLE, err);
    if (!status && bytes != GCG_FLOAT && bytes != GCG_DOUBLE) status = refuse(err, "precision is none");
    if (!status) *type = (gcg_dtype)bytes;
    return status;
}

gcg_status gcg_state_entries(const gcg_state_stream *s, const gcg_factors *f, gcg_err *err)
{
    return s->pass(s->user, f->data, (int64_t)f->rows * f->stride * (int64_t)f->type, err);
}

gcg_status gcg_state_factors(const gcg_state_stream *s, int32_t rows, int32_t most_k, gcg_factors *f,
                             gcg_err *err)
{
    int32_t k = f->k;
    gcg_dtype type = f->data ? f->type : GCG_FLOAT;
    gcg_status status = gcg_state_int32(s, &k, 0, most_k, err);
    if (!status) status = gcg_state_type(s, &type, err);
    if (!status && !s->saving) {
        gcg_factors_release(f);
        status = gcg_factors_init(f, rows, k, type, err);
    }
    return status || !f->data ? status : gcg_state_entries(s, f, err);
}

/* ---- in memory ---- */

static gcg_status count_bytes(void *user, void *bytes, int64_t n, gcg_err *err)
{
    gcg_state_copy *copy = user;
    (void)bytes;
    (void)err;
    copy->length += n;
    return GCG_OK;
}

static gcg_status append_bytes(void *user, void *bytes, int64_t n, gcg_err *err)
{
    gcg_state_copy *copy = user;
    (void)err;
    memcpy(copy->bytes + copy->length, bytes, (size_t)n);
    copy->length += n;
    return GCG_OK;
}

gcg_status gcg_state_keep(gcg_state_copy *copy, gcg_state_fn fn, void *self, gcg_err *err)
{
    gcg_state_stream counter = {1, count_bytes, copy}, writer = {1, append_bytes, copy};
    gcg_state_copy_release(copy);
    gcg_status status = fn(self, &counter, err);
    if (status) return status;
    copy->bytes = gcg_mem_alloc_array(copy->length, 1);
    copy->length = 0;
    return copy->bytes ? fn(self, &writer, err) : gcg_fail_memory(err, "copy of the state");
}

gcg_status gcg_state_pass_copy(void *self, const gcg_state_stream *s, gcg_err *err)
{
    gcg_state_copy *copy = self;
    return s->pass(s->user, copy->bytes, copy->length, err);
}

void gcg_state_copy_release(gcg_state_copy *copy)
{
    gcg_mem_free(copy->bytes);
    *copy = (gcg_state_copy){0};
}
