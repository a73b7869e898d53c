/* What the course of a completion depends on between two iterations. The residual is not in it: mc_evaluate()
 * computes it afresh, with or without a checkpoint between. */
#include "solvers/completion.h"

/* Room for what comes in. */
static gcg_status make_room(completion *m, int32_t k, gcg_dtype type, gcg_err *err)
{
    gcg_status status = type == m->type ? GCG_OK : mc_rating_arrays(m, type, err);
    return status ? status : mc_lay_out(m, k, type, err);
}

static gcg_status pass_point(completion *m, const gcg_state_stream *s, gcg_err *err)
{
    int32_t k = m->u.k;
    gcg_dtype type = m->type;
    gcg_status status = gcg_state_int32(s, &k, 0, mc_smaller(m), err);
    if (!status) status = gcg_state_type(s, &type, err);
    if (!status && !s->saving) status = make_room(m, k, type, err);
    if (!status) status = gcg_state_int32(s, &m->balanced, 0, 1, err);
    if (!status) status = s->pass(s->user, m->s, (int64_t)sizeof *m->s * k, err);
    if (!status && !s->saving && m->balanced) mc_invert_s(m);
    if (status) return status;
    status = s->pass(s->user, m->point, mc_entries(m, m->u.stride) * (int64_t)m->type, err);
    if (!status && !s->saving) mc_bias_take(m);
    return status;
}

gcg_status mc_state(void *self, const gcg_state_stream *s, gcg_err *err)
{
    completion *m = self;
    double passes = gcg_pass_count(m->pass);
    gcg_status status = pass_point(m, s, err);
    if (!status) status = gcg_state_factors(s, m->x->cols, mc_smaller(m), &m->spare, err);
    if (!status) status = gcg_state_int32(s, &m->block, 1, m->set->sizes.block, err);
    if (!status) status = gcg_state_int32(s, &m->saturated, 0, 1, err);
    if (!status) status = gcg_state_real(s, &m->length, err);
    if (!status) status = gcg_state_rng(s, &m->rng, err);
    if (!status) status = gcg_state_integer(s, &m->block_matvecs, err);
    if (!status) status = gcg_state_integer(s, &m->op.matvecs, err);
    if (!status) status = gcg_state_real(s, &passes, err);
    if (!status && !s->saving) gcg_pass_recount(m->pass, passes);
    return status;
}
