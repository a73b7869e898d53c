/* The certificate of completion: which proof, how tight, and what it costs (SOLVER.md sec. 4). */
#include <math.h>

#include "base/mem.h"
#include "maths/certificate.h"
#include "maths/tall.h"
#include "solvers/completion.h"
#include "steps/deflated_bound.h"

enum { PROVE_ALWAYS = 256 /* min(rows, cols) up to which every bound is proved: it costs nothing */ };
static const double FALSE_BOUND = 1e-6; /* probability that is stated for rule 4 */
static const double FALSE_RUN = 5e-7;   /* ... of each of the two proofs that may be tried for one bound */
static const double WIDE = 0.02; /* eps from which on Lanczos alone costs less than deflation before it */
static const double LAST_SECONDS = 0.5; /* for the bound of a run that stops early */

/* The dual value where sigma_1(R) is at most sigma. */
static double dual_at(const completion *m, double sigma)
{
    return gcg_certificate_dual(m->lambda, sigma, m->moments[1], m->moments[0] + m->bias_squares);
}

/* The relative amount by which sigma_1 may be guarded before the gap rises above `wanted`; 0 when it is above
 * already. */
static double guard_room(const completion *m, double wanted)
{
    double low = 0, high = 0.1; /* more is never worth having */
    for (int i = 0; i < 50; i++) {
        double middle = 0.5 * (low + high);
        double dual = dual_at(m, m->sigma * (1 + middle));
        if (gcg_certificate_gap(m->value.objective, dual) <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* R as it meets U and V, whose sigma_1 counts where norm or loss are weighted; gcg_mem_free it. */
static gcg_status scaled_residual(completion *m, void **out, gcg_err *err)
{
    gcg_residual r = mc_residual(m);
    *out = gcg_mem_alloc_array(m->x->nnz, m->type);
    if (!*out) return gcg_fail_memory(err, "certificate");
    gcg_pass_scaled(m->pass, &r, *out);
    return GCG_OK;
}

/* A proof that needs no better estimate than the one at hand: any bound within the room will do. Otherwise
 * (exact) sigma_1 is computed first, and the tightest bound wanted. *sigma is INFINITY when nothing was
 * proved. */
static gcg_status prove_cholesky(completion *m, double room, int exact, double *sigma, gcg_err *err)
{
    const double usual = 1e-8; /* SOLVER.md sec. 4, rule 3 */
    double found = 0, guard = exact ? fmin(usual, 0.25 * room) : room / 9.1, most = exact ? 0.1 : room;
    void *scaled = NULL;
    gcg_status status = m->scaled ? scaled_residual(m, &scaled, err) : GCG_OK;
    gcg_csr residual = *m->x;
    residual.val_f = m->type == GCG_FLOAT ? (scaled ? scaled : m->r) : NULL;
    residual.val_d = m->type == GCG_DOUBLE ? (scaled ? scaled : m->r) : NULL;
    if (!status && exact)
        status = gcg_polar_top(&m->op, fmax(guard, 1e-15), m->set->seed, &found, NULL, NULL, err);
    if (!status)
        status =
            gcg_certificate_cholesky(&residual, fmax(found, m->sigma), guard, most, m->watch, sigma, err);
    gcg_mem_free(scaled);
    return status;
}

static int64_t bytes_of(const gcg_factors *f)
{
    return (int64_t)f->rows * f->stride * (int64_t)f->type;
}

/* Bytes that the proof may take beside the atoms. */
static int64_t room_for_proof(const completion *m)
{
    return m->set->sizes.proof_bytes - bytes_of(&m->atoms.u) - bytes_of(&m->atoms.v);
}

/* ---- deflation ---- */

/* R or, when it has fewer rows than columns, R', so that Z is on the smaller side. */
typedef struct {
    completion *m;
    gcg_residual r;
    int turned;
    gcg_linop op;
    gcg_factors z, w; /* W = R'R Z; in double */
    double *g, *h;    /* Z'W = (RZ)'(RZ), W'W */
} deflation;

static void op_times(void *ctx, const double *x, double *y)
{
    const deflation *d = ctx;
    (d->turned ? gcg_pass_matvec_t : gcg_pass_matvec)(d->m->pass, &d->r, x, y);
}

static void op_times_t(void *ctx, const double *y, double *x)
{
    const deflation *d = ctx;
    (d->turned ? gcg_pass_matvec : gcg_pass_matvec_t)(d->m->pass, &d->r, y, x);
}

static void deflation_release(deflation *d)
{
    gcg_factors_release(&d->z);
    gcg_factors_release(&d->w);
    gcg_mem_free(d->g);
    gcg_mem_free(d->h);
}

/* W = R'(R Z), some columns at a time: R Z as a whole, on the larger side, may be far larger than anything
 * else. */
static gcg_status gram_times_z(deflation *d, gcg_err *err)
{
    gcg_pass *pass = d->m->pass;
    const int32_t panel = d->m->set->sizes.proof_panel;
    gcg_status status = gcg_factors_init(&d->w, d->op.cols, d->z.k, GCG_DOUBLE, err);
    gcg_watch_part(d->m->watch, 0.25, 0.5);
    for (int32_t q = 0; q < d->z.k && !status && !gcg_watch_step(d->m->watch, (double)q / d->z.k);
         q += panel) {
        int32_t k = d->z.k - q < panel ? d->z.k - q : panel;
        gcg_factors z = {0}, y = {0};
        status = gcg_factors_init(&z, d->op.cols, k, GCG_DOUBLE, err);
        if (!status) status = gcg_factors_init(&y, d->op.rows, k, GCG_DOUBLE, err);
        if (!status) {
            gcg_factors_put(&z, 0, &d->z, q, k, NULL);
            (d->turned ? gcg_pass_times_t : gcg_pass_times)(pass, &d->r, &z, &y);
            (d->turned ? gcg_pass_times : gcg_pass_times_t)(pass, &d->r, &y, &z);
            gcg_factors_put(&d->w, q, &z, 0, k, NULL);
            d->m->block_matvecs += 2 * (int64_t)k;
        }
        gcg_factors_release(&z);
        gcg_factors_release(&y);
    }
    return status;
}

/* Z = basis of the iterate's and these singular vectors. */
static gcg_status deflation_basis(deflation *d, completion *m, const gcg_triplets *more, gcg_err *err)
{
    int32_t k = m->u.k + more->count, rows = m->x->rows, cols = m->x->cols;
    *d = (deflation){.m = m, .r = mc_residual(m), .turned = rows < cols};
    d->op =
        (gcg_linop){d->turned ? cols : rows, d->turned ? rows : cols, d, op_times, op_times_t, 0, m->watch};
    gcg_status status = gcg_factors_init(&d->z, d->op.cols, k, GCG_DOUBLE, err);
    if (status) return status;
    gcg_factors_put(&d->z, 0, d->turned ? &m->u : &m->v, 0, m->u.k, NULL);
    gcg_factors_put(&d->z, m->u.k, d->turned ? &more->u : &more->v, 0, more->count, NULL);
    return gcg_tall_orthonormalise(&d->z, 0, NULL, err);
}

/* G and H. */
static gcg_status deflation_products(deflation *d, gcg_err *err)
{
    gcg_status status = gram_times_z(d, err);
    if (status || gcg_watch_over(d->m->watch)) return status;
    int64_t size = (int64_t)d->z.k * d->z.k;
    d->g = gcg_mem_alloc_array(size, sizeof *d->g);
    d->h = gcg_mem_alloc_array(size, sizeof *d->h);
    if (!status && (!d->g || !d->h)) status = gcg_fail_memory(err, "certificate");
    if (!status) status = gcg_tall_gram(&d->z, &d->w, 0, d->g, err);
    if (!status) status = gcg_tall_gram(&d->w, &d->w, 0, d->h, err);
    gcg_factors_release(&d->w); /* the Lanczos runs need the room */
    return status;
}

/* A bound of sigma_1(R), INFINITY when deflation does not help; m->sigma is raised to what is found of
 * sigma_1 from below. */
static gcg_status prove_deflated(completion *m, double *sigma, gcg_err *err)
{
    const double most = 0.1;
    gcg_triplets found = {0};
    const gcg_triplets *more = &m->atoms;
    deflation d = {.m = m};
    gcg_status status = GCG_OK;
    if (m->atoms.count < m->set->sizes.proof_block) {
        gcg_watch_part(m->watch, 0, 0.25);
        status = mc_triplets(m, m->set->sizes.proof_block, &found, err);
        more = &found;
    }
    *sigma = INFINITY;
    if (!status && !gcg_watch_over(m->watch)) status = deflation_basis(&d, m, more, err);
    gcg_triplets_release(&found);
    if (!status && !gcg_watch_over(m->watch)) status = deflation_products(&d, err);
    if (!status && !gcg_watch_over(m->watch))
        status = gcg_deflated_bound(&d.op, &d.z, d.g, d.h, FALSE_RUN, m->set->seed,
                                    room_for_proof(m) - bytes_of(&d.z), most, &m->sigma, sigma, err);
    m->op.matvecs += d.op.matvecs;
    deflation_release(&d);
    return status;
}

/* ---- which proof ---- */

/* Seconds of a Lanczos run for eps on one thread (SOLVER.md sec. 4, rule 4). What is chosen by it depends on
 * the data alone, not on times measured, so that it is the same in every run and for any number of threads.
 */
static double lanczos_seconds(const completion *m, double eps)
{
    const double product = 1e-9,    /* per rating */
        reorthogonalising = 0.5e-9; /* per entry of the basis and step, measured */
    double steps = gcg_polar_bound_steps(mc_smaller(m), eps, FALSE_RUN);
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

/* Seconds of the proof by deflation: two products with a block in double, and the Lanczos runs. */
static double deflation_seconds(const completion *m)
{
    const double column = 0.15e-9, /* per rating and column, measured */
        usual = 0.04;              /* eps */
    double k = (double)m->u.k + m->atoms.count;
    return 2 * k * column * (double)m->x->nnz + lanczos_seconds(m, usual);
}

/* Is the proof of a bound within eps on sigma^2 to be by Cholesky: where it is asked for, usual, or cheaper
 * and not too large. */
static int by_cholesky(const completion *m, double eps)
{
    int32_t n = mc_smaller(m);
    if (!m->r) return 0;
    if (n <= MC_CHOLESKY_DEFAULT || n > MC_CHOLESKY_MOST) return n <= MC_CHOLESKY_DEFAULT;
    int64_t bytes = gcg_certificate_bytes(m->x->rows, m->x->cols, m->x->nnz, m->type);
    if (m->scaled) bytes += m->x->nnz * (int64_t)m->type;
    return m->set->certify || (cholesky_seconds(m) < lanczos_seconds(m, eps) && bytes <= room_for_proof(m));
}

/* Deflation is tried where Cholesky is neither asked for nor usual, or R is not kept. */
static int by_deflation(const completion *m, int last)
{
    int cholesky = m->r && (m->set->certify || mc_smaller(m) <= MC_CHOLESKY_DEFAULT);
    return !m->set->plain && m->sigma > 0 && !cholesky && (!last || deflation_seconds(m) <= LAST_SECONDS);
}

/* By Lanczos alone, to within eps on sigma^2; *sigma stays where that would take too long. */
static gcg_status prove_lanczos(completion *m, double eps, double least, double *sigma, int *proved,
                                gcg_err *err)
{
    *proved = eps >= least && eps < 1;
    return *proved
               ? gcg_polar_bound(&m->op, eps, FALSE_RUN, m->set->seed, room_for_proof(m), sigma, NULL, err)
               : GCG_OK;
}

/* Whether the watch leaves time for the Cholesky proof. That it does not is the end of the run, not a reason
 * to prove otherwise: with time enough the proof that is taken follows from the data alone. */
static int has_time_for_cholesky(completion *m)
{
    if (cholesky_seconds(m) > gcg_watch_left(m->watch)) m->watch->over = 1;
    return !gcg_watch_over(m->watch);
}

/* The proof itself: *rule says which, ESTIMATE when none succeeded; *sigma is the bound. */
static gcg_status prove(completion *m, int last, double wanted_gap, double room, double *sigma,
                        gcg_certificate_rule *rule, gcg_err *err)
{
    /* s^2 = theta / (1 - eps) uses half of the room, what the estimate may be short of the other half */
    double eps = fmin(room, 0.05), least = 0.1 * wanted_gap;
    double enough = m->sigma * (1 + room);
    int small = m->r && mc_smaller(m) <= PROVE_ALWAYS, proved = 0;
    gcg_status status = GCG_OK;
    if (!small && by_deflation(m, last)) {
        if (eps >= WIDE) status = prove_lanczos(m, eps, least, sigma, &proved, err);
        if (!status && !(proved && *sigma <= enough) && !gcg_watch_over(m->watch))
            status = prove_deflated(m, sigma, err);
        if (status || gcg_watch_over(m->watch)) return status;
        /* another proof would be in vain where sigma_1 is known to be too large, and too dear where there is
         * no room */
        int in_vain = m->sigma > enough || room < least || last;
        if (*sigma <= enough || (*sigma < INFINITY && in_vain)) {
            *rule = GCG_CERT_PROBABILITY;
            return GCG_OK;
        }
        *sigma = m->sigma;
        room = guard_room(m, wanted_gap);
        eps = fmin(room, 0.05);
    }
    if (small || (by_cholesky(m, fmax(eps, least)) && (!last || cholesky_seconds(m) <= LAST_SECONDS))) {
        int exact = last || room == 0 || small;
        if (!small && !has_time_for_cholesky(m)) return GCG_OK;
        status = prove_cholesky(m, room > 0 ? room : wanted_gap, exact, sigma, err);
        if (*sigma < INFINITY)
            *rule = GCG_CERT_CHOLESKY;
        else if (!gcg_watch_over(m->watch))
            *sigma = m->sigma * (1 + room); /* so much is known now */
        return status;
    }
    if (proved) return GCG_OK; /* a third run would raise the probability above what is stated */
    if (last) eps = fmax(least = affordable_eps(m), eps);
    status = prove_lanczos(m, eps, least, sigma, &proved, err);
    if (proved) *rule = GCG_CERT_PROBABILITY;
    return status;
}

gcg_status mc_bound(void *self, gcg_bound_effort effort, double wanted_gap, gcg_bound *out, gcg_err *err)
{
    completion *m = self;
    gcg_status status = GCG_OK;
    mc_bias_bound(m);
    double sigma = m->sigma, room = guard_room(m, wanted_gap);
    *out = (gcg_bound){.rule = GCG_CERT_ESTIMATE};
    if (m->moments[0] == 0) { /* R = 0: Y = 0 is the best dual point, and F = lambda rho */
        out->rule = GCG_CERT_CHOLESKY;
        return GCG_OK;
    }
    if (effort != GCG_BOUND_ESTIMATE || mc_smaller(m) <= PROVE_ALWAYS)
        status = prove(m, effort == GCG_BOUND_LAST, wanted_gap, room, &sigma, &out->rule, err);
    if (sigma == INFINITY) { /* cut short: what is known from below is all */
        sigma = m->sigma;
        out->rule = GCG_CERT_ESTIMATE;
    }
    if (out->rule == GCG_CERT_PROBABILITY) out->probability = FALSE_BOUND;
    if (sigma > m->sigma) m->sigma = sigma;
    out->dual = dual_at(m, sigma);
    return status;
}
