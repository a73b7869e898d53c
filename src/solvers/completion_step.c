/* Lines 4 and 5 of Algorithm 3 for completion: the (eta, theta) step of the paper, and the proximal step with
 * a block of atoms that takes its place when it is lower (SOLVER.md sec. 1, steps 5 and 6). */
#include <math.h>

#include "base/mem.h"
#include "solvers/completion.h"
#include "steps/rotate.h"
#include "steps/two_dim.h"

static const double ATOM_MARGIN = 1e-7; /* sigma_i > lambda (1 + this) makes an atom */

/* out = the first k columns of f times scale. */
static gcg_status scaled_columns(const gcg_factors *f, const double *scale, int32_t k, gcg_factors *out,
                                 gcg_err *err)
{
    gcg_status status = gcg_factors_init(out, f->rows, k, f->type, err);
    for (int32_t i = 0; !status && i < f->rows; i++)
        for (int32_t q = 0; q < k; q++) gcg_factors_set(out, i, q, scale[q] * gcg_factors_get(f, i, q));
    return status;
}

/* Line 4 for the first atom: the step and F at the stepped point. */
static gcg_status line4(completion *m, gcg_two_dim_step *step, double *value, gcg_err *err)
{
    const double one = 1;
    gcg_factors u = {0}, v = {0};
    gcg_status status = scaled_columns(&m->atoms.u, &one, 1, &u, err);
    if (!status) status = scaled_columns(&m->atoms.v, &one, 1, &v, err);
    if (!status) {
        gcg_pass_dots(m->pass, &u, &v, m->b);
        /* a = P(W) = x - r: every inner product from those of b with x and r, and of r and x */
        double b_b = gcg_pass_inner(m->pass, m->type, m->b, m->b),
               b_r = gcg_pass_inner(m->pass, m->type, m->b, m->r),
               b_x = gcg_pass_inner_x(m->pass, m->type, m->b);
        double A = m->x_x - 2 * m->r_x + m->r_r, C = b_x - b_r, a_x = m->x_x - m->r_x;
        *step = gcg_two_dim(A, b_b, C, a_x - m->lambda * m->value.rho, b_x - m->lambda);
        *value = 0.5 * m->x_x + step->phi;
    }
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    return status;
}

/* Appends the columns of u and v behind the point's. */
static gcg_status append(completion *m, const gcg_factors *u, const gcg_factors *v, gcg_err *err)
{
    int32_t k = m->u.k;
    gcg_status status = mc_lay_out(m, k + u->k, m->type, err);
    if (status) return status;
    for (int side = 0; side < 2; side++) {
        const gcg_factors *from = side ? v : u;
        gcg_factors *to = side ? &m->v : &m->u;
        for (int32_t i = 0; i < to->rows; i++)
            for (int32_t q = 0; q < from->k; q++) gcg_factors_set(to, i, k + q, gcg_factors_get(from, i, q));
    }
    return GCG_OK;
}

/* Line 5 to the letter: U <- [sqrt(1-eta) U, sqrt(theta) u], V likewise. An atom with theta = 0 would be a
 * saddle: left out. */
static gcg_status extend_by_line4(completion *m, const gcg_two_dim_step *step, int32_t *added, gcg_err *err)
{
    gcg_factors u = {0}, v = {0};
    double root = sqrt(step->theta), keep = sqrt(1 - step->eta);
    gcg_vector_ops ops = gcg_kernels_vector_ops(m->type);
    ops.scale(mc_entries(m, m->u.stride), keep, m->point, m->point);
    *added = 0;
    if (!(step->theta > 0)) return GCG_OK;
    gcg_status status = scaled_columns(&m->atoms.u, &root, 1, &u, err);
    if (!status) status = scaled_columns(&m->atoms.v, &root, 1, &v, err);
    if (!status) status = append(m, &u, &v, err);
    if (!status) *added = 1;
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    return status;
}

/* Step 6 of SOLVER.md: the first `count` atoms as D = sum (sigma_i - lambda) u_i v_i', appended with the
 * weight t >= 0 that minimises 1/2 ||R - t P(D)||^2 + lambda (rho + t sum (sigma_i - lambda)), R the residual
 * at the point as it is now (after the proximal step): t = (<R, P(D)> - lambda sum (sigma_i - lambda)) /
 * ||P(D)||^2. F does not rise. */
static gcg_status append_atoms(completion *m, int32_t count, int32_t *added, gcg_err *err)
{
    *added = 0;
    if (count == 0) return GCG_OK;
    gcg_factors u = {0}, v = {0};
    double *scale = gcg_mem_alloc_array(count, sizeof *scale), weight = 0;
    gcg_status status = scale ? GCG_OK : gcg_fail_memory(err, "atoms");
    for (int32_t q = 0; q < count && !status; q++) {
        double excess = m->atoms.sigma[q] - m->lambda;
        scale[q] = sqrt(excess);
        weight += excess;
    }
    if (!status) status = scaled_columns(&m->atoms.u, scale, count, &u, err);
    if (!status) status = scaled_columns(&m->atoms.v, scale, count, &v, err);
    if (!status) {
        gcg_pass_dots(m->pass, &u, &v, m->b);
        double d_d = gcg_pass_inner(m->pass, m->type, m->b, m->b);
        double slope = gcg_pass_inner(m->pass, m->type, m->b, m->r) - m->lambda * weight;
        double t = slope > 0 && d_d > 0 ? slope / d_d : 0;
        gcg_vector_ops ops = gcg_kernels_vector_ops(m->type);
        ops.scale((int64_t)u.rows * u.stride, sqrt(t), u.data, u.data);
        ops.scale((int64_t)v.rows * v.stride, sqrt(t), v.data, v.data);
        if (t > 0) status = append(m, &u, &v, err); /* with t = 0 the columns would be a saddle */
        if (!status && t > 0) *added = count;
    }
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    gcg_mem_free(scale);
    return status;
}

/* Unused Ritz vectors start the next block. */
static gcg_status keep_spare(completion *m, int32_t used, gcg_err *err)
{
    gcg_factors_release(&m->spare);
    int32_t left = m->atoms.count - used;
    gcg_status status = gcg_factors_init(&m->spare, m->x->cols, left, m->type, err);
    for (int32_t j = 0; !status && j < m->spare.rows; j++)
        for (int32_t q = 0; q < left; q++)
            gcg_factors_set(&m->spare, j, q, gcg_factors_get(&m->atoms.v, j, used + q));
    return status;
}

static int32_t room_for_atoms(const completion *m)
{
    int32_t cap = m->set->rank > 0 ? m->set->rank : mc_smaller(m);
    return cap > m->u.k ? cap - m->u.k : 0;
}

/* Proximal step and a block of atoms, or line 4's point when that is lower. */
static gcg_status step_block(completion *m, int32_t *added, gcg_err *err)
{
    gcg_two_dim_step step4 = {0};
    gcg_point_value value;
    double before = m->value.objective, value4 = INFINITY;
    int have4 = m->atoms.count > 0 && m->atoms.sigma[0] > m->lambda && room_for_atoms(m) > 0;
    gcg_factors old_u = {0}, old_v = {0};
    gcg_status status = GCG_OK;
    if (have4) {
        status = line4(m, &step4, &value4, err);
        if (!status) status = gcg_factors_copy(&m->u, m->type, &old_u, err);
        if (!status) status = gcg_factors_copy(&m->v, m->type, &old_v, err);
    }
    if (!status) status = gcg_rotate_prox(&m->u, &m->v, &m->rv, m->lambda, m->s, err);
    if (!status) status = mc_shrink(m, err);
    if (!status) status = mc_value(m, &value, err);
    int32_t count = 0, room = room_for_atoms(m);
    if (!status) {
        while (count < m->atoms.count && count < room &&
               m->atoms.sigma[count] > m->lambda * (1 + ATOM_MARGIN) && m->atoms.sigma[count] > 0)
            count++;
        status = append_atoms(m, count, added, err);
    }
    if (!status && *added > 0) status = mc_value(m, &value, err);
    if (!status) status = keep_spare(m, *added, err);
    if (!status && have4 && value.objective > value4 + 1e-7 * before) {
        m->u.k = m->v.k = 0; /* back to the old point, and by line 4 */
        status = append(m, &old_u, &old_v, err);
        if (!status) status = extend_by_line4(m, &step4, added, err);
        if (!status) status = mc_value(m, &value, err);
    }
    gcg_factors_release(&old_u);
    gcg_factors_release(&old_v);
    return status;
}

gcg_status mc_step(void *self, int32_t *added, gcg_err *err)
{
    completion *m = self;
    if (!m->set->plain) return step_block(m, added, err);
    gcg_two_dim_step step4 = {0};
    gcg_point_value value;
    double value4;
    gcg_status status = line4(m, &step4, &value4, err);
    if (!status && room_for_atoms(m) == 0) step4.theta = step4.eta = 0;
    if (!status) status = extend_by_line4(m, &step4, added, err);
    return status ? status : mc_value(m, &value, err);
}
