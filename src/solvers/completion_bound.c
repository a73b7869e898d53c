/* The certificate of completion: which proof, how tight, and what it costs (SOLVER.md sec. 4). */
#include <math.h>

#include "maths/certificate.h"
#include "solvers/completion.h"

enum { PROVE_ALWAYS = 256 /* min(rows, cols) up to which every bound is proved: it costs nothing */ };
static const double FALSE_BOUND = 1e-6; /* probability that is stated for rule 4 */
static const double LAST_SECONDS = 0.5; /* for the bound of a run that stops early */

/* The relative amount by which sigma_1 may be guarded before the gap rises above `wanted`; 0 when it is above
 * already. */
static double guard_room(const completion *m, double wanted)
{
    double low = 0, high = 0.1; /* more is never worth having */
    for (int i = 0; i < 50; i++) {
        double middle = 0.5 * (low + high);
        double dual = gcg_certificate_dual(m->lambda, m->sigma * (1 + middle), m->r_x, m->r_r);
        if (gcg_certificate_gap(m->value.objective, dual) <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A proof that needs no better estimate than the one at hand: any bound within the room will do. Otherwise
 * (exact) sigma_1 is computed first, and the tightest bound wanted. *sigma is INFINITY when nothing was
 * proved. */
static gcg_status prove_cholesky(completion *m, double room, int exact, double *sigma, gcg_err *err)
{
    const double usual = 1e-8; /* SOLVER.md sec. 4, rule 3 */
    double found = 0, guard = exact ? fmin(usual, 0.25 * room) : room / 9.1, most = exact ? 0.1 : room;
    gcg_csr residual = *m->x;
    residual.val_f = m->type == GCG_FLOAT ? m->r : NULL;
    residual.val_d = m->type == GCG_DOUBLE ? m->r : NULL;
    gcg_status status = GCG_OK;
    if (exact) status = gcg_polar_top(&m->op, fmax(guard, 1e-15), m->set->seed, &found, NULL, NULL, err);
    if (!status) status = gcg_certificate_cholesky(&residual, fmax(found, m->sigma), guard, most, sigma, err);
    return status;
}

/* Seconds of a Lanczos run for eps on one thread (SOLVER.md sec. 4, rule 4). What is chosen by it depends on
 * the data alone, not on times measured, so that it is the same in every run and for any number of threads.
 */
static double lanczos_seconds(const completion *m, double eps)
{
    const double product = 1e-9,    /* per rating */
        reorthogonalising = 0.5e-9; /* per entry of the basis and step, measured */
    double steps = gcg_polar_bound_steps(mc_smaller(m), eps, FALSE_BOUND);
    return steps * 2 * product * (double)m->x->nnz + reorthogonalising * steps * steps * mc_smaller(m);
}

/* Seconds of the Cholesky proof: the sums of the Gram matrix and one factorisation. */
static double cholesky_seconds(const completion *m)
{
    const double adding = 0.5e-9, factoring = 0.05e-9; /* seconds per multiply-add, measured */
    double n = mc_smaller(m), pairs = (double)m->x->nnz * ((double)m->x->nnz / n);
    return adding * pairs + factoring * n * n * n / 3;
}

/* The least eps whose Lanczos run takes no longer than LAST_SECONDS; 1 when none does. */
static double affordable_eps(const completion *m)
{
    double eps = 1;
    for (double e = 0.1; e >= 1e-6; e /= 2)
        if (lanczos_seconds(m, e) <= LAST_SECONDS) eps = e;
    return eps;
}

/* Which proof of a bound within eps on sigma^2: Cholesky where it is asked for, usual, or cheaper. */
static int by_cholesky(const completion *m, double eps)
{
    int32_t n = mc_smaller(m);
    if (n <= MC_CHOLESKY_DEFAULT || n > MC_CHOLESKY_MOST) return n <= MC_CHOLESKY_DEFAULT;
    return m->set->certify || cholesky_seconds(m) < lanczos_seconds(m, eps);
}

gcg_status mc_bound(void *self, gcg_bound_effort effort, double wanted_gap, gcg_bound *out, gcg_err *err)
{
    completion *m = self;
    gcg_status status = GCG_OK;
    double sigma = m->sigma, room = guard_room(m, wanted_gap);
    /* s^2 = theta / (1 - eps) uses half of the room, what the estimate may be short of the other half */
    double eps = fmin(room, 0.05), least = 0.1 * wanted_gap;
    int last = effort == GCG_BOUND_LAST;
    *out = (gcg_bound){.rule = GCG_CERT_ESTIMATE};
    if (m->r_r == 0) { /* R = 0: Y = 0 is the best dual point, and F = lambda rho */
        out->rule = GCG_CERT_CHOLESKY;
        return GCG_OK;
    }
    if (mc_smaller(m) <= PROVE_ALWAYS || (effort != GCG_BOUND_ESTIMATE && by_cholesky(m, fmax(eps, least)) &&
                                          (!last || cholesky_seconds(m) <= LAST_SECONDS))) {
        int exact = last || room == 0 || mc_smaller(m) <= PROVE_ALWAYS;
        status = prove_cholesky(m, room > 0 ? room : wanted_gap, exact, &sigma, err);
        if (sigma < INFINITY)
            out->rule = GCG_CERT_CHOLESKY;
        else
            sigma = m->sigma * (1 + room); /* so much is known now */
    } else if (effort != GCG_BOUND_ESTIMATE) {
        if (last) {
            least = affordable_eps(m);
            eps = fmax(least, eps);
        }
        if (eps >= least && eps < 1) {
            status = gcg_polar_bound(&m->op, eps, FALSE_BOUND, m->set->seed, &sigma, NULL, err);
            out->rule = GCG_CERT_PROBABILITY;
            out->probability = FALSE_BOUND;
        }
    }
    if (sigma > m->sigma) m->sigma = sigma;
    out->dual = gcg_certificate_dual(m->lambda, sigma, m->r_x, m->r_r);
    return status;
}
