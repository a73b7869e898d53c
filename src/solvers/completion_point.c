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
    int32_t stride = mc_padded(k), copied = old.u.k < k ? old.u.k : k;
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
    for (int side = 0; side < 2; side++) {
        const gcg_factors *from = side ? &old.v : &old.u;
        gcg_factors *to = side ? &m->v : &m->u;
        for (int32_t i = 0; i < to->rows; i++)
            if (from->type == type)
                memcpy((char *)to->data + (size_t)i * (size_t)stride * (size_t)type,
                       (char *)from->data + (size_t)i * (size_t)from->stride * (size_t)type,
                       (size_t)copied * (size_t)type);
            else
                for (int32_t q = 0; q < copied; q++) gcg_factors_set(to, i, q, gcg_factors_get(from, i, q));
    }
    if (copied > 0) memcpy(s, old.s, (size_t)copied * sizeof *s);
    gcg_mem_free(old.point);
    gcg_mem_free(old.s);
    m->point = point;
    m->s = s;
    m->inverse_s = s + k;
    return GCG_OK;
}

gcg_status mc_shrink(completion *m, gcg_err *err)
{
    return mc_padded(m->u.k) < m->u.stride ? mc_lay_out(m, m->u.k, m->type, err) : GCG_OK;
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

/* rho = 1/2 (||U||^2 + ||V||^2), in double. */
static gcg_status compute_rho(completion *m, double *rho, gcg_err *err)
{
    int64_t blocks = mc_vector_blocks(m);
    norm_ctx c = {.m = m, .partial = gcg_mem_alloc_array(blocks, sizeof(double))};
    if (!c.partial) return gcg_fail_memory(err, "norm");
    gcg_par_blocks(blocks, norm_task, &c);
    *rho = 0.5 * gcg_par_sum(c.partial, blocks);
    gcg_mem_free(c.partial);
    return GCG_OK;
}

gcg_status mc_value(completion *m, gcg_point_value *value, gcg_err *err)
{
    value->loss = 0.5 * gcg_pass_residual(m->pass, &m->u, &m->v, m->r);
    value->rank = m->u.k;
    gcg_status status = compute_rho(m, &value->rho, err);
    value->objective = value->loss + m->lambda * value->rho;
    return status;
}

gcg_status mc_balance(completion *m, gcg_err *err)
{
    const double drop = m->type == GCG_FLOAT ? 1e-7 : 1e-14; /* relative: below it a column is rounding */
    gcg_status status = gcg_rotate_balance(&m->u, &m->v, drop, m->s, err);
    if (!status) status = mc_shrink(m, err);
    for (int32_t q = 0; !status && q < m->u.k; q++) m->inverse_s[q] = 1 / m->s[q];
    return status;
}

gcg_status mc_evaluate(void *self, gcg_point_value *value, gcg_err *err)
{
    completion *m = self;
    gcg_status status = m->set->plain ? GCG_OK : mc_balance(m, err);
    if (!status) status = mc_value(m, &m->value, err);
    if (status) return status;
    *value = m->value;
    m->r_x = gcg_pass_inner_x(m->pass, m->type, m->r);
    m->r_r = gcg_pass_inner(m->pass, m->type, m->r, m->r);
    if (m->set->plain) return GCG_OK;
    gcg_factors_release(&m->rv);
    status = gcg_factors_init(&m->rv, m->x->rows, m->u.k, m->type, err);
    if (status) return status;
    gcg_pass_times(m->pass, m->r, &m->v, &m->rv);
    m->block_matvecs += m->u.k;
    return GCG_OK;
}
