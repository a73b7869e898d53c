/* Lines 4 and 5 of Algorithm 3 for completion: the (eta, theta) step of the paper, and the block of atoms
 * that takes its place when it is lower (SOLVER.md sec. 1, step 6). */
#include <math.h>

#include "base/mem.h"
#include "solvers/completion.h"
#include "steps/two_dim.h"

static const double ATOM_MARGIN = 1e-7; /* sigma_i > lambda (1 + this) makes an atom */

/* Columns scale[q] of the first k atoms, as factors. */
static gcg_status scaled_atoms(const completion *m, const double *scale, int32_t k, gcg_factors *u,
                               gcg_factors *v, gcg_err *err)
{
    gcg_status status = gcg_factors_init(u, m->x->rows, k, m->type, err);
    if (!status) status = gcg_factors_init(v, m->x->cols, k, m->type, err);
    if (status) return status;
    gcg_factors_put(u, 0, &m->atoms.u, 0, k, scale);
    gcg_factors_put(v, 0, &m->atoms.v, 0, k, scale);
    return GCG_OK;
}

/* Line 4 for the first atom: the step and F at the stepped point. */
static gcg_status line4(completion *m, gcg_two_dim_step *step, double *value, gcg_err *err)
{
    const double one = 1;
    gcg_factors u = {0}, v = {0};
    gcg_status status = scaled_atoms(m, &one, 1, &u, &v, err);
    if (!status) {
        double sums[3];
        gcg_residual r = mc_residual(m);
        gcg_pass_product(m->pass, &u, &v, &r, NULL, sums);
        /* a = P(W) = x - r: every inner product from those of b with x and r, and of r and x */
        double b_b = sums[0], b_r = sums[1], b_x = sums[2], r_r = m->moments[0], r_x = m->moments[1];
        double A = m->x_x - 2 * r_x + r_r, C = b_x - b_r, a_x = m->x_x - r_x;
        *step = gcg_two_dim(A, b_b, C, a_x - m->lambda * m->value.rho, b_x - m->lambda);
        *value = 0.5 * m->x_x + step->phi;
    }
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    return status;
}

/* Appends `count` atoms with weights scale[q]^2. */
static gcg_status append(completion *m, const double *scale, int32_t count, gcg_err *err)
{
    int32_t k = m->u.k;
    gcg_status status = mc_lay_out(m, k + count, m->type, err);
    if (status) return status;
    gcg_factors_put(&m->u, k, &m->atoms.u, 0, count, scale);
    gcg_factors_put(&m->v, k, &m->atoms.v, 0, count, scale);
    return GCG_OK;
}

/* Line 5 to the letter: U <- [sqrt(1-eta) U, sqrt(theta) u], V likewise. An atom with theta = 0 would be a
 * saddle: left out. */
static gcg_status extend_by_line4(completion *m, const gcg_two_dim_step *step, int32_t *added, gcg_err *err)
{
    double root = sqrt(step->theta), keep = sqrt(1 - step->eta);
    gcg_vector_ops ops = gcg_kernels_vector_ops(m->type);
    ops.scale(mc_entries(m, m->u.stride), keep, m->point, m->point);
    gcg_status status = GCG_OK;
    if (step->theta > 0) status = append(m, &root, 1, err);
    *added = !status && step->theta > 0;
    if (!status) mc_renew_residual(m);
    return status;
}

/* Step 6 of SOLVER.md: the first `count` atoms as D = sum (sigma_i - lambda) u_i v_i' with the weight t >= 0
 * that minimises 1/2 ||R - t P(D)||^2 + lambda (rho + t sum (sigma_i - lambda)): t = (<R, P(D)> - lambda sum
 * (sigma_i
 * - lambda)) / ||P(D)||^2. F does not rise. */
typedef struct {
    int32_t count;
    double *scale;   /* of each atom's u and v: sqrt(sigma_i - lambda) */
    double t, value; /* the weight, and the minimum */
} block_step;

/* Finds the step; P(D) is left in b, if that is kept. */
static gcg_status block_of_atoms(completion *m, int32_t count, block_step *step, gcg_err *err)
{
    gcg_factors u = {0}, v = {0};
    double weight = 0;
    *step = (block_step){.count = count, .value = m->value.objective};
    step->scale = gcg_mem_alloc_array(count, sizeof *step->scale);
    if (!step->scale) return gcg_fail_memory(err, "atoms");
    for (int32_t q = 0; q < count; q++) {
        double excess = m->atoms.sigma[q] - m->lambda;
        step->scale[q] = sqrt(excess);
        weight += excess;
    }
    gcg_status status = scaled_atoms(m, step->scale, count, &u, &v, err);
    if (!status) {
        double sums[3];
        gcg_residual r = mc_residual(m);
        gcg_pass_product(m->pass, &u, &v, &r, m->b, sums);
        double d_d = sums[0], slope = sums[1] - m->lambda * weight;
        if (slope > 0 && d_d > 0) {
            step->t = slope / d_d;
            step->value -= 0.5 * slope * step->t;
        }
    }
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    return status;
}

/* Takes it: with t = 0 the columns would be a saddle. */
static gcg_status extend_by_block(completion *m, const block_step *step, int32_t *added, gcg_err *err)
{
    *added = 0;
    if (step->count == 0 || !(step->t > 0)) return GCG_OK;
    for (int32_t q = 0; q < step->count; q++) step->scale[q] *= sqrt(step->t);
    gcg_status status = append(m, step->scale, step->count, err);
    if (status) return status;
    if (m->b)
        gcg_pass_add(m->pass, m->type, -step->t, m->b, m->r);
    else
        mc_renew_residual(m);
    *added = step->count;
    return GCG_OK;
}

/* Unused Ritz vectors start the next block, beside a few new columns: without any the space would dry up. The
 * atoms have done their work. */
enum { FRESH = 8 };

static gcg_status keep_spare(completion *m, int32_t used, gcg_err *err)
{
    gcg_factors_release(&m->spare);
    int32_t left = m->atoms.count - used, fresh = m->block < 2 * FRESH ? m->block / 2 : FRESH;
    if (left > m->block - fresh) left = m->block - fresh;
    gcg_status status = gcg_factors_init(&m->spare, m->x->cols, left, m->type, err);
    if (!status) gcg_factors_put(&m->spare, 0, &m->atoms.v, used, left, NULL);
    gcg_triplets_release(&m->atoms);
    return status;
}

/* The next block: twice as large when all atoms of this one were above lambda, else with some room beside as
 * many again. It does not fall below what the proof by deflation lives on: singular vectors that got better
 * each round. */
static void next_block(completion *m, int32_t used)
{
    const int32_t room = 24, most = m->set->sizes.block, proof = m->set->sizes.proof_block;
    int32_t floor = mc_smaller(m) > MC_CHOLESKY_DEFAULT && m->block >= proof ? proof : MC_BLOCK_FIRST;
    if (floor > most) floor = most;
    m->saturated = used > 0 && used == m->atoms.count; /* at full rank there are none to be had */
    int32_t next = used == m->atoms.count ? 2 * used : used + room;
    m->block = next < floor ? floor : next > most ? most : next;
}

static int32_t room_for_atoms(const completion *m)
{
    int32_t cap = m->set->rank > 0 ? m->set->rank : mc_smaller(m);
    return cap > m->u.k ? cap - m->u.k : 0;
}

/* A block of atoms, or line 4's point when that is lower; with biases, which line 4 knows nothing of, the
 * block. */
static gcg_status step_block(completion *m, int32_t *added, gcg_err *err)
{
    gcg_two_dim_step step4 = {0};
    block_step block;
    double value4 = INFINITY;
    int32_t count = 0, room = room_for_atoms(m);
    *added = 0;
    while (count < m->atoms.count && count < room && m->atoms.sigma[count] > 0 &&
           m->atoms.sigma[count] > m->lambda * (1 + ATOM_MARGIN))
        count++;
    next_block(m, count);
    if (count == 0) return keep_spare(m, 0, err);
    gcg_status status = mc_biased(m) ? GCG_OK : line4(m, &step4, &value4, err);
    if (status) return status;
    if (gcg_watch_over(m->watch)) return GCG_OK;
    status = block_of_atoms(m, count, &block, err);
    if (!status && block.value > value4 + 1e-7 * m->value.objective)
        status = extend_by_line4(m, &step4, added, err);
    else if (!status)
        status = extend_by_block(m, &block, added, err);
    gcg_mem_free(block.scale);
    return status ? status : keep_spare(m, *added, err);
}

gcg_status mc_step(void *self, int32_t *added, gcg_err *err)
{
    completion *m = self;
    m->balanced = 0;
    if (!m->set->plain) return step_block(m, added, err);
    gcg_two_dim_step step4 = {0};
    double value4;
    gcg_status status = line4(m, &step4, &value4, err);
    if (!status && room_for_atoms(m) == 0) step4.theta = step4.eta = 0;
    return status ? status : extend_by_line4(m, &step4, added, err);
}
