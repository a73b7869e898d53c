/* Line 6 of Algorithm 3 for completion: L-BFGS on the surrogate (62), with fused passes and the exact quartic
 * line search (SOLVER.md sec. 5). */
#include <math.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "solvers/completion.h"
#include "steps/lbfgs.h"
#include "steps/line_search.h"

enum {
    INNER_ITERATIONS = 100,
    INNER_LEAST = 3,
    LOW_RANK = 32, /* columns with which an inner iteration costs less than a tenth of a round's polar */
    REFRESH = 10,  /* inner iterations between fresh residuals and preconditioners */
    PLAIN_ITERATIONS = 20 /* the paper's cap */
};
static const double LOW_RANK_REDUCTION = 0.1;
static const double INNER_REDUCTION = 0.3; /* of the preconditioned gradient: SOLVER.md sec. 5, gamma */

/* With the columns of the biases. */
static void all_views(const completion *m, void *vector, gcg_factors *u, gcg_factors *v)
{
    mc_views(m, vector, u, v);
    u->k += mc_biased(m);
    v->k += mc_biased(m);
}

static void smooth_gradient(void *self, void *g)
{
    completion *m = self;
    gcg_factors gu, gv;
    all_views(m, g, &gu, &gv);
    gcg_residual r = mc_residual(m);
    gcg_pass_gradient(m->pass, &r, r.u, r.v, m->lambda, &gu, &gv);
    for (int32_t j = 0; j < gv.rows && mc_biased(m); j++) gcg_factors_set(&gv, j, m->u.k, 0); /* h is fixed */
}

typedef struct {
    completion *m;
    const char *d; /* a direction to add */
    char *out;     /* a vector to change */
    double step;
} vector_ctx;

static void invert_task(int64_t block, void *ctx)
{
    const vector_ctx *c = ctx;
    size_t offset;
    int64_t n = mc_vector_block(c->m, block, &offset);
    void *at = c->out + offset;
    for (int64_t e = 0; e < n; e++)
        if (c->m->type == GCG_FLOAT)
            ((float *)at)[e] = ((float *)at)[e] > 0 ? 1 / ((float *)at)[e] : 0;
        else
            ((double *)at)[e] = ((double *)at)[e] > 0 ? 1 / ((double *)at)[e] : 0;
}

/* Diagonal Gauss-Newton: D_iq = lambda + sum_j v_jq^2, likewise for V. */
static void smooth_precondition(void *self, void *inverse)
{
    completion *m = self;
    gcg_factors du, dv;
    all_views(m, inverse, &du, &dv);
    gcg_pass_squares(m->pass, mc_all_u(m), mc_all_v(m), m->lambda, &du, &dv);
    vector_ctx c = {.m = m, .out = inverse};
    gcg_par_blocks(mc_vector_blocks(m), invert_task, &c);
}

/* The surrogate along d is a quartic: SOLVER.md sec. 5. */
static double smooth_search(void *self, void *d, double g_d, double d_d, double *change)
{
    completion *m = self;
    gcg_factors du, dv;
    double sums[4];
    all_views(m, d, &du, &dv);
    gcg_residual r = mc_residual(m);
    gcg_pass_line(m->pass, r.u, r.v, &du, &dv, &r, m->b, m->c, sums);
    const double c[5] = {0, g_d, 0.5 * sums[0] - sums[1] + 0.5 * m->lambda * d_d, sums[2], 0.5 * sums[3]};
    return gcg_line_search_quartic(c, change);
}

static void add_task(int64_t block, void *ctx)
{
    const vector_ctx *c = ctx;
    size_t offset;
    int64_t n = mc_vector_block(c->m, block, &offset);
    gcg_kernels_vector_ops(c->m->type).axpy(n, c->step, c->d + offset, c->m->point + offset);
}

static void smooth_move(void *self, const void *d, double step_length)
{
    completion *m = self;
    vector_ctx c = {.m = m, .d = d, .step = step_length};
    gcg_par_blocks(mc_vector_blocks(m), add_task, &c);
    if (m->b)
        gcg_pass_line_move(m->pass, m->type, step_length, m->r, m->b, m->c);
    else
        mc_renew_residual(m);
}

static void smooth_refresh(void *self)
{
    completion *m = self;
    if (m->b) mc_renew_residual(m); /* else it is fresh */
}

/* An inner iteration that gains less is lost time. F - F* goes with the square of the gap (SOLVER.md sec. 4,
 * table), so at small gaps much smaller gains still matter. */
static double least_decrease(double gap, double objective)
{
    double relative = objective > 0 ? gap / objective : 0;
    return objective * fmin(1e-8 * relative, 1e-4 * relative * relative);
}

/* The gap falls about as fast as the preconditioned gradient: half of what the wanted gap needs is enough,
 * and no more than INNER_REDUCTION is worth having before the next atoms; where an iteration costs little
 * beside a polar, more. */
static double reduction(const completion *m, double gap)
{
    const double most = 0.7;
    double least = m->u.k <= LOW_RANK ? LOW_RANK_REDUCTION : INNER_REDUCTION;
    double needed = gap > 0 ? 0.5 * m->set->gap * m->value.objective / gap : least;
    return fmin(fmax(needed, least), most);
}

gcg_status mc_improve(void *self, double gap, gcg_err *err)
{
    completion *m = self;
    if (m->u.k == 0) return GCG_OK; /* biases alone are fitted exactly, in mc_evaluate() */
    gcg_smooth f = {.n = mc_entries(m, m->u.stride),
                    .type = m->type,
                    .self = m,
                    .gradient = smooth_gradient,
                    .precondition = m->set->plain ? NULL : smooth_precondition,
                    .search = smooth_search,
                    .move = smooth_move,
                    .refresh = smooth_refresh,
                    .watch = m->watch};
    gcg_lbfgs_settings set = {.memory = m->set->sizes.pairs,
                              .max_iterations = INNER_ITERATIONS,
                              .min_iterations = INNER_LEAST,
                              .reduction = reduction(m, gap),
                              .least_decrease = least_decrease(gap, m->value.objective),
                              .refresh_every = REFRESH};
    if (m->set->plain)
        set = (gcg_lbfgs_settings){
            .memory = m->set->sizes.pairs, .max_iterations = PLAIN_ITERATIONS, .refresh_every = REFRESH};
    if (m->saturated && !m->set->plain) set.max_iterations = INNER_LEAST; /* rather more atoms first */
    /* the next polar needs the room */
    void *workspace = gcg_mem_alloc_array(gcg_lbfgs_bytes(f.n, m->type, set.memory), 1);
    if (!workspace) return gcg_fail_memory(err, "L-BFGS");
    gcg_lbfgs_result result;
    m->balanced = 0;
    gcg_status status = gcg_lbfgs(&f, &set, workspace, &result, err);
    gcg_mem_free(workspace);
    mc_bias_take(m);
    return status;
}
