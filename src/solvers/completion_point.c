/* The iterate of completion: its layout in memory, its value, its balanced basis. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "solvers/completion.h"
#include "steps/rotate.h"

void mc_views(const completion *m, void *vector, gcg_factors *u, gcg_factors *v)
{
    *u = m->u;
    *v = m->v;
    u->data = vector;
    v->data = (char *)vector + (size_t)m->u.rows * (size_t)m->u.stride * (size_t)m->type;
}

int64_t mc_entries(const completion *m, int32_t stride)
{
    return ((int64_t)m->x->rows + m->x->cols) * stride;
}

int32_t mc_padded(int32_t k)
{
    return (k + GCG_FACTORS_PAD - 1) / GCG_FACTORS_PAD * GCG_FACTORS_PAD;
}

gcg_status mc_lay_out(completion *m, int32_t k, gcg_dtype type, gcg_err *err)
{
    completion old = *m;
    int32_t stride = mc_padded(k + mc_biased(m)), copied = old.u.k < k ? old.u.k : k;
    char *point = gcg_mem_zalloc_array(mc_entries(m, stride), type);
    double *s = gcg_mem_zalloc_array(2 * (int64_t)k + 1, sizeof *s);
    if (!point || !s) {
        gcg_mem_free(point);
        gcg_mem_free(s);
        return gcg_fail_memory(err, "factors");
    }
    m->type = type;
    m->u = (gcg_factors){.rows = m->x->rows, .k = k, .stride = stride, .type = type};
    m->v = (gcg_factors){.rows = m->x->cols, .k = k, .stride = stride, .type = type};
    mc_views(m, point, &m->u, &m->v);
    gcg_factors_put(&m->u, 0, &old.u, 0, copied, NULL);
    gcg_factors_put(&m->v, 0, &old.v, 0, copied, NULL);
    if (copied > 0) memcpy(s, old.s, (size_t)copied * sizeof *s);
    gcg_mem_free(old.point);
    gcg_mem_free(old.s);
    m->point = point;
    m->s = s;
    m->inverse_s = s + k;
    mc_bias_place(m);
    return GCG_OK;
}

gcg_status mc_shrink(completion *m, gcg_err *err)
{
    if (mc_padded(m->u.k + mc_biased(m)) < m->u.stride) return mc_lay_out(m, m->u.k, m->type, err);
    mc_bias_place(m);
    return GCG_OK;
}

enum { VECTOR_BLOCK = 65536 /* entries of one task */ };

int64_t mc_vector_block(const completion *m, int64_t block, size_t *offset)
{
    int64_t total = mc_entries(m, m->u.stride), start = block * VECTOR_BLOCK;
    *offset = (size_t)start * (size_t)m->type;
    return total - start < VECTOR_BLOCK ? total - start : VECTOR_BLOCK;
}

int64_t mc_vector_blocks(const completion *m)
{
    return (mc_entries(m, m->u.stride) + VECTOR_BLOCK - 1) / VECTOR_BLOCK;
}

typedef struct {
    const completion *m;
    double *partial;
} norm_ctx;

static void norm_task(int64_t block, void *ctx)
{
    const norm_ctx *c = ctx;
    size_t offset;
    int64_t n = mc_vector_block(c->m, block, &offset);
    c->partial[block] = gcg_kernels_vector_ops(c->m->type).dot(n, c->m->point + offset, c->m->point + offset);
}

/* Half the squares of the biases' columns. */
static double bias_part(const completion *m)
{
    double sum = 0;
    if (!mc_biased(m)) return 0;
    for (int32_t j = 0; j < m->x->cols; j++) {
        double h = gcg_factors_get(&m->v, j, m->u.k);
        sum += h * h;
    }
    return 0.5 * sum + m->bias_penalty / m->lambda;
}

/* rho = 1/2 (||U||^2 + ||V||^2), in double. */
static gcg_status compute_rho(completion *m, double *rho, gcg_err *err)
{
    int64_t blocks = mc_vector_blocks(m);
    norm_ctx c = {.m = m, .partial = gcg_mem_alloc_array(blocks, sizeof(double))};
    if (!c.partial) return gcg_fail_memory(err, "norm");
    gcg_par_blocks(blocks, norm_task, &c);
    *rho = fmax(0.5 * gcg_par_sum(c.partial, blocks) - bias_part(m), 0);
    gcg_mem_free(c.partial);
    return GCG_OK;
}

void mc_renew_residual(completion *m)
{
    if (m->r) gcg_pass_residual_fast(m->pass, mc_all_u(m), mc_all_v(m), m->r);
}

gcg_status mc_value(completion *m, gcg_point_value *value, gcg_err *err)
{
    value->loss = 0.5 * gcg_pass_residual(m->pass, mc_all_u(m), mc_all_v(m), m->r);
    value->rank = m->u.k;
    gcg_status status = compute_rho(m, &value->rho, err);
    value->objective = value->loss + m->bias_penalty + m->lambda * value->rho;
    return status;
}

void mc_invert_s(completion *m)
{
    for (int32_t q = 0; q < m->u.k; q++) m->inverse_s[q] = 1 / m->s[q];
}

gcg_status mc_balance(completion *m, gcg_err *err)
{
    const double drop = m->type == GCG_FLOAT ? 1e-7 : 1e-14; /* relative: below it a column is rounding */
    gcg_status status = gcg_rotate_balance(&m->u, &m->v, drop, m->s, err);
    if (!status) status = mc_shrink(m, err);
    if (!status) mc_invert_s(m);
    m->balanced = !status;
    return status;
}

/* F at the point, whose ||R||^2 is known. With floats the rounding of r is 1e-9 of the loss and less, far
 * below the gaps that floats are used for; finish() has the exact value. */
static gcg_status value_of_residual(completion *m, gcg_err *err)
{
    m->value.loss = 0.5 * m->moments[0];
    m->value.rank = m->u.k;
    gcg_status status = compute_rho(m, &m->value.rho, err);
    m->value.objective = m->value.loss + m->bias_penalty + m->lambda * m->value.rho;
    return status;
}

/* RV = R V. */
static gcg_status times_v(completion *m, gcg_err *err)
{
    gcg_factors_release(&m->rv);
    gcg_status status = gcg_factors_init(&m->rv, m->x->rows, m->u.k, m->type, err);
    if (status) return status;
    gcg_residual r = mc_residual(m);
    gcg_pass_times(m->pass, &r, &m->v, &m->rv);
    m->block_matvecs += m->u.k;
    return GCG_OK;
}

static void swap_residual(completion *m)
{
    void *r = m->r;
    m->r = m->b;
    m->b = r;
}

/* The point, with its biases, and what belongs to it before a proximal step. */
typedef struct {
    gcg_factors u, v;
    double moments[2];
    gcg_point_value value;
} saved;

static void saved_release(saved *old)
{
    gcg_factors_release(&old->u);
    gcg_factors_release(&old->v);
}

static gcg_status save(completion *m, saved *old, gcg_err *err)
{
    *old = (saved){.moments = {m->moments[0], m->moments[1]}, .value = m->value};
    gcg_status status = gcg_factors_copy(mc_all_u(m), m->type, &old->u, err);
    return status ? status : gcg_factors_copy(mc_all_v(m), m->type, &old->v, err);
}

/* Back to the old point; its residual is still in b, if that is kept. */
static gcg_status restore(completion *m, const saved *old, gcg_err *err)
{
    int32_t k = old->u.k - mc_biased(m);
    gcg_status status = mc_lay_out(m, k, m->type, err);
    if (status) return status;
    gcg_factors_put(&m->u, 0, &old->u, 0, k, NULL);
    gcg_factors_put(&m->v, 0, &old->v, 0, k, NULL);
    memcpy(m->moments, old->moments, sizeof m->moments);
    m->value = old->value;
    if (m->b)
        swap_residual(m);
    else
        mc_renew_residual(m);
    return GCG_OK;
}

/* From the step D just taken, r_b = <R, R_old>: the length that would have been best along it.
 * 1/2 ||R - t P(D)||^2 + lambda (rho + t (rho' - rho)) is least at t = (<R, P(D)> - lambda (rho' - rho)) /
 * ||P(D)||^2, and is F's bound from above for t in [0, 1]. */
static double better_length(const completion *m, const saved *old, double r_b)
{
    const double most = 64 * m->unit_length, change = 2;
    double old_r_r = old->moments[0], d_d = old_r_r + m->moments[0] - 2 * r_b,
           slope = old_r_r - r_b - m->lambda * (m->value.rho - old->value.rho);
    if (!(d_d > 1e-12 * old_r_r) || !(slope > 0)) return m->length; /* rounding */
    double better = m->length * fmin(fmax(slope / d_d, 1 / change), change);
    return fmin(fmax(better, m->safe_length), most);
}

/* After a step that raised F. The safe length of the plain problem is not far away; that of a weighted norm
 * or loss, whose curvature is that of its rarest user and item or its largest weight, may be a thousandth of
 * what does. */
static double shorter_length(const completion *m, double length)
{
    const double cut = 0.25;
    return m->safe_length < m->unit_length ? fmax(cut * length, m->safe_length) : m->safe_length;
}

/* The restricted proximal step, which balances too. Its length follows the curvature that the last ones met:
 * ratings are few, so that ||P(D)||^2 is a small part of ||D||^2 and a step of length 1 far too short (0.2 on
 * MovieLens). A step that raises F is taken back, and repeated at the safe length. */
static gcg_status prox(completion *m, gcg_err *err)
{
    const double rounding = m->type == GCG_FLOAT ? 1e-8 : 1e-14;
    saved old;
    gcg_status status = save(m, &old, err);
    for (int again = 1; again && !status;) {
        double length = m->length, sums[3];
        gcg_residual before = {m->type, m->r, &old.u, &old.v};
        again = 0;
        status = gcg_rotate_prox(&m->u, &m->v, &m->rv, m->lambda, length, m->s, err);
        if (!status) status = mc_shrink(m, err);
        if (status) break;
        gcg_pass_residual_next(m->pass, mc_all_u(m), mc_all_v(m), &before, m->b ? m->b : m->r, sums);
        if (m->b) swap_residual(m);
        m->moments[0] = sums[0];
        m->moments[1] = sums[2];
        status = value_of_residual(m, err);
        if (status) break;
        m->length = better_length(m, &old, sums[1]);
        m->balanced = 1;
        if (m->value.objective > old.value.objective * (1 + rounding) && length > m->safe_length) {
            status = restore(m, &old, err);
            m->length = shorter_length(m, length);
            m->balanced = 0;
            again = !gcg_watch_over(m->watch);
        }
    }
    saved_release(&old);
    if (!status && m->balanced) mc_invert_s(m);
    return status;
}

/* R, where it is kept, and its moments. Afresh, not as line 6 left it: a run that goes on from a checkpoint
 * begins here, and must meet the same bytes. */
static void fresh_moments(completion *m)
{
    mc_renew_residual(m);
    gcg_residual r = mc_residual(m);
    gcg_pass_moments(m->pass, &r, m->moments);
}

/* The best biases for W, with the residual and the value that they make. */
static gcg_status renew_biases(completion *m, gcg_err *err)
{
    mc_bias_fit(m);
    fresh_moments(m);
    return value_of_residual(m, err);
}

gcg_status mc_evaluate(void *self, gcg_point_value *value, gcg_err *err)
{
    completion *m = self;
    int moves = !m->set->plain && !gcg_watch_over(m->watch);
    fresh_moments(m);
    gcg_status status = value_of_residual(m, err);
    if (!status && moves && mc_biased(m)) status = renew_biases(m, err);
    if (!status && moves) status = times_v(m, err);
    if (!status && moves && m->u.k > 0 && !gcg_watch_over(m->watch)) {
        status = prox(m, err);
        if (!status && mc_biased(m) && !gcg_watch_over(m->watch)) status = renew_biases(m, err);
        if (!status && !gcg_watch_over(m->watch)) status = times_v(m, err);
    }
    *value = m->value;
    return status;
}
