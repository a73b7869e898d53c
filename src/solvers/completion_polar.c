/* Line 3 of Algorithm 3 for completion: the leading singular pairs of R, and an estimate of sigma_1(R). */
#include <math.h>

#include "base/blas.h"
#include "base/mem.h"
#include "maths/tall.h"
#include "solvers/completion.h"

void mc_times(void *ctx, const double *x, double *y)
{
    completion *m = ctx;
    gcg_residual r = mc_residual(m);
    gcg_pass_matvec(m->pass, &r, x, y);
}

void mc_times_t(void *ctx, const double *y, double *x)
{
    completion *m = ctx;
    gcg_residual r = mc_residual(m);
    gcg_pass_matvec_t(m->pass, &r, y, x);
}

static void block_times(void *ctx, const gcg_factors *z, gcg_factors *y)
{
    completion *m = ctx;
    gcg_residual r = mc_residual(m);
    gcg_pass_times(m->pass, &r, z, y);
    m->block_matvecs += z->k;
}

static void block_times_t(void *ctx, const gcg_factors *y, gcg_factors *z)
{
    completion *m = ctx;
    gcg_residual r = mc_residual(m);
    gcg_pass_times_t(m->pass, &r, y, z);
    m->block_matvecs += y->k;
}

/* The one atom of the paper. */
static gcg_status polar_plain(completion *m, gcg_err *err)
{
    const double tolerance = 1e-6; /* of sigma^2: eps_t in (38) */
    double *u = gcg_mem_alloc_array(m->x->rows, sizeof *u), *v = gcg_mem_alloc_array(m->x->cols, sizeof *v);
    gcg_status status = u && v ? GCG_OK : gcg_fail_memory(err, "polar");
    gcg_triplets_release(&m->atoms);
    if (!status) status = gcg_polar_top(&m->op, tolerance, m->set->seed, &m->sigma, u, v, err);
    int found = !status && !gcg_watch_over(m->watch);
    if (!status) status = gcg_factors_init(&m->atoms.u, m->x->rows, 1, m->type, err);
    if (!status) status = gcg_factors_init(&m->atoms.v, m->x->cols, 1, m->type, err);
    m->atoms.sigma = gcg_mem_zalloc_array(1, sizeof *m->atoms.sigma);
    if (!status && !m->atoms.sigma) status = gcg_fail_memory(err, "polar");
    if (!status && found) {
        m->atoms.count = 1;
        m->atoms.sigma[0] = m->sigma;
        for (int32_t i = 0; i < m->x->rows; i++) gcg_factors_set(&m->atoms.u, i, 0, u[i]);
        for (int32_t j = 0; j < m->x->cols; j++) gcg_factors_set(&m->atoms.v, j, 0, v[j]);
    }
    gcg_mem_free(u);
    gcg_mem_free(v);
    return status;
}

/* sigma_1(R) from below: Ritz value on span[Q, atoms' V] (SOLVER.md sec. 4, rule 1). R Q comes from rv. */
static gcg_status ritz_estimate(completion *m, gcg_err *err)
{
    int32_t k = m->u.k, b = m->atoms.count;
    int64_t n = (int64_t)k + b;
    m->sigma = 0;
    if (n == 0) return GCG_OK;
    gcg_factors rz = {0};
    double *gram = gcg_mem_alloc_array(n * n, sizeof *gram), *part = gcg_mem_alloc_array(n * n, sizeof *part),
           *values = gcg_mem_alloc_array(n, sizeof *values);
    gcg_status status = gram && part && values ? GCG_OK : gcg_fail_memory(err, "spectral norm");
    if (!status) status = gcg_factors_init(&rz, m->x->rows, b, m->type, err);
    if (!status) block_times(m, &m->atoms.v, &rz);
    const gcg_factors *parts[2] = {&m->rv, &rz};
    for (int s = 0; s < 2 && !status; s++)
        for (int t = 0; t <= s && !status; t++) {
            status = gcg_tall_gram(parts[s], parts[t], 0, part, err);
            int32_t row = s ? k : 0, col = t ? k : 0;
            for (int32_t i = 0; i < parts[s]->k; i++)
                for (int32_t j = 0; j < parts[t]->k; j++) {
                    double scale = sqrt((s ? 1 : m->inverse_s[i]) * (t ? 1 : m->inverse_s[j]));
                    double value = part[(int64_t)i * parts[t]->k + j] * scale;
                    gram[(row + i) * n + col + j] = gram[(col + j) * n + row + i] = value;
                }
        }
    if (!status) status = gcg_blas_eigenvalues((int32_t)n, gram, values, err);
    if (!status) m->sigma = sqrt(fmax(values[n - 1], 0));
    gcg_factors_release(&rz);
    gcg_mem_free(gram);
    gcg_mem_free(part);
    gcg_mem_free(values);
    return status;
}

gcg_status mc_triplets(completion *m, int32_t block, gcg_triplets *out, gcg_err *err)
{
    int32_t left = mc_smaller(m) - m->u.k;
    gcg_block_op op = {m->x->rows, m->x->cols, m->type, m, block_times, block_times_t, m->watch};
    gcg_status status = GCG_OK;
    if (block > left) block = left;
    *out = (gcg_triplets){0};
    if (block > 0)
        status = gcg_polar_block(&op, &m->u, &m->v, m->inverse_s, m->spare.k ? &m->spare : NULL, block,
                                 m->set->sizes.depth, &m->rng, out, err);
    if (!status && !out->u.data) status = gcg_factors_init(&out->u, m->x->rows, 0, m->type, err);
    if (!status && !out->v.data) status = gcg_factors_init(&out->v, m->x->cols, 0, m->type, err);
    return status;
}

gcg_status mc_polar(void *self, double *estimate, gcg_err *err)
{
    completion *m = self;
    gcg_status status;
    if (m->set->plain) {
        status = polar_plain(m, err);
    } else {
        gcg_triplets_release(&m->atoms);
        status = mc_triplets(m, m->set->atoms ? m->set->atoms : m->block, &m->atoms, err);
        if (!status && !gcg_watch_over(m->watch)) status = ritz_estimate(m, err);
        gcg_factors_release(&m->rv);
    }
    *estimate = m->sigma;
    return status;
}
