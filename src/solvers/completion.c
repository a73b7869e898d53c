/* Matrix completion: start, end and precision of a run, and lambda_max. The lines of the algorithm are in the
 * completion_*.c files. */
#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "solvers/completion.h"
#include "solvers/gcg.h"

static void release(completion *m)
{
    gcg_pass_free(m->pass);
    gcg_scales_release(&m->scales);
    mc_bias_release(m);
    gcg_mem_free(m->point);
    gcg_mem_free(m->s);
    gcg_mem_free(m->r);
    gcg_mem_free(m->b);
    gcg_mem_free(m->c);
    gcg_factors_release(&m->rv);
    gcg_factors_release(&m->spare);
    gcg_triplets_release(&m->atoms);
}

gcg_status mc_rating_arrays(completion *m, gcg_dtype type, gcg_err *err)
{
    static const int kept[] = {[GCG_KEEP_ALL] = 3, [GCG_KEEP_RESIDUAL] = 1, [GCG_KEEP_NONE] = 0};
    void **arrays[3] = {&m->r, &m->b, &m->c};
    for (int i = 0; i < kept[m->set->ratings_kept]; i++) {
        gcg_mem_free(*arrays[i]);
        *arrays[i] = gcg_mem_alloc_array(m->x->nnz, type);
        if (!*arrays[i]) return gcg_fail_memory(err, "residual");
    }
    return GCG_OK;
}

static gcg_status widen(void *self, int *widened, gcg_err *err)
{
    completion *m = self;
    *widened = m->type == GCG_FLOAT && m->set->precision == GCG_PRECISION_AUTO;
    if (!*widened) return GCG_OK;
    gcg_factors_release(&m->rv);
    gcg_factors_release(&m->spare);
    gcg_triplets_release(&m->atoms);
    gcg_status status = mc_rating_arrays(m, GCG_DOUBLE, err);
    return status ? status : mc_lay_out(m, m->u.k, GCG_DOUBLE, err);
}

static gcg_status finish(void *self, gcg_point_value *value, gcg_err *err)
{
    completion *m = self;
    gcg_status status = m->balanced ? GCG_OK : mc_balance(m, err);
    if (!status) status = mc_value(m, &m->value, err);
    *value = m->value;
    return status;
}

static void describe(void *self, gcg_progress *progress)
{
    completion *m = self;
    progress->train_rmse = sqrt(2 * m->value.loss / m->weights);
    progress->matvecs = m->block_matvecs + m->op.matvecs;
    progress->passes = gcg_pass_count(m->pass);
    progress->u = mc_all_u(m);
    progress->v = mc_all_v(m);
    progress->row_scale = m->scales.row;
    progress->col_scale = m->scales.col;
}

/* The weights of loss and norm, where there are any, and the curvature that they give to the loss. */
static gcg_status weigh(completion *m, gcg_err *err)
{
    gcg_csr_stats stats = gcg_csr_value_stats(m->x);
    m->x_x = stats.weighted_squares;
    m->weights = stats.weights;
    m->unit_length = m->length = (double)m->x->nnz / stats.weights;
    m->safe_length = 1 / stats.most_weight;
    m->scaled = m->x->weight || gcg_norm_is_weighted(&m->set->norm);
    if (!gcg_norm_is_weighted(&m->set->norm)) return GCG_OK;
    gcg_status status = gcg_scales_init(&m->scales, m->x, &m->set->norm, err);
    if (status) return status;
    gcg_pass_set_scales(m->pass, &m->scales);
    m->safe_length = 1 / m->scales.most_curvature;
    return GCG_OK;
}

/* The start that was given, as far as it fits under the rank limit: the largest singular values. */
static gcg_status take_start(completion *m, gcg_err *err)
{
    const gcg_factors *u = m->set->start_u, *v = m->set->start_v;
    int32_t most = m->set->rank > 0 && m->set->rank < mc_smaller(m) ? m->set->rank : mc_smaller(m);
    if (!u || u->k == 0) return GCG_OK;
    int has_biases = mc_biased(m) && mc_bias_read(m, u, v);
    gcg_status status = mc_lay_out(m, u->k - has_biases, m->type, err);
    mc_bias_take(m);
    if (status || m->u.k == 0) return status;
    gcg_factors_put(&m->u, 0, u, 0, m->u.k, NULL);
    gcg_factors_put(&m->v, 0, v, 0, m->u.k, NULL);
    if (m->scales.row) {
        gcg_factors_unscale_rows(&m->u, m->scales.row);
        gcg_factors_unscale_rows(&m->v, m->scales.col);
    }
    status = mc_balance(m, err);
    if (status || m->u.k <= most) return status;
    status = mc_lay_out(m, most, m->type, err);
    return status ? status : mc_balance(m, err); /* the inverses of s, too */
}

static gcg_status init(completion *m, const gcg_csr *x, const gcg_solver_settings *set, gcg_watch *watch,
                       gcg_err *err)
{
    *m = (completion){.x = x,
                      .set = set,
                      .lambda = set->lambda,
                      .watch = watch,
                      .balanced = 1,
                      .block = set->sizes.block < MC_BLOCK_FIRST ? set->sizes.block : MC_BLOCK_FIRST};
    gcg_rng_init(&m->rng, set->seed, 0);
    m->op = (gcg_linop){x->rows, x->cols, m, mc_times, mc_times_t, 0, watch};
    gcg_status status = gcg_pass_new(x, &m->pass, err);
    if (!status) status = weigh(m, err);
    m->type = gcg_solver_first_type(x, set);
    if (!status && set->norm.user_bias > 0) status = mc_bias_init(m, err);
    if (!status) status = mc_rating_arrays(m, m->type, err);
    if (!status) status = mc_lay_out(m, 0, m->type, err);
    return status ? status : take_start(m, err);
}

/* One call of gcg_complete, for the session. */
typedef struct {
    const gcg_csr *x;
    const gcg_solver_settings *settings;
    gcg_solver_result *result;
    gcg_err *err;
    gcg_status status;
} job;

/* From the factors of Z to those of W. */
static void unscale(gcg_solver_result *result, const gcg_scales *scales)
{
    if (!scales->row) return;
    gcg_factors_scale_rows(&result->u, scales->row);
    gcg_factors_scale_rows(&result->v, scales->col);
    result->last.row_scale = result->last.col_scale = NULL;
}

static void run_job(void *ctx)
{
    job *j = ctx;
    double start = gcg_clock_now();
    completion m;
    gcg_watch watch = gcg_solver_watch(j->settings);
    watch.deadline = start + j->settings->max_time;
    *j->result = (gcg_solver_result){0};
    j->status = init(&m, j->x, j->settings, &watch, j->err);
    gcg_problem problem = {&m,      j->settings->lambda, mc_evaluate, mc_polar, mc_bound,
                           mc_step, mc_improve,          widen,       finish,   describe,
                           mc_state};
    if (!j->status)
        j->status = gcg_run(&problem, j->settings, start, &watch, &j->result->stop, &j->result->last, j->err);
    int is_left = gcg_solver_left(j->settings, j->result->stop);
    if (!j->status && !is_left)
        j->status = mc_biased(&m) ? mc_bias_result(&m, j->result, j->err)
                                  : gcg_solver_result_take(j->result, &m.u, &m.v, m.s, j->err);
    if (!j->status && !is_left) unscale(j->result, &m.scales);
    if (is_left) j->result->last.u = j->result->last.v = NULL;
    release(&m);
    if (j->status) gcg_solver_result_release(j->result);
}

gcg_status gcg_complete(const gcg_csr *x, const gcg_solver_settings *settings, gcg_solver_result *result,
                        gcg_err *err)
{
    job j = {x, settings, result, err, GCG_OK};
    gcg_par_session(run_job, &j);
    return j.status;
}

/* ---- lambda_max ---- */

typedef struct {
    gcg_pass *pass;
    gcg_factors u, v; /* without columns; or the biases */
    gcg_residual x;   /* at W = 0: the ratings themselves, or what the biases leave of them */
} data_op;

static void data_times(void *ctx, const double *x, double *y)
{
    data_op *d = ctx;
    gcg_pass_matvec(d->pass, &d->x, x, y);
}

static void data_times_t(void *ctx, const double *y, double *x)
{
    data_op *d = ctx;
    gcg_pass_matvec_t(d->pass, &d->x, y, x);
}

/* The best biases at W = 0, as a column of u and one of v. */
static gcg_status biases_at_zero(data_op *d, const gcg_csr *x, const gcg_scales *scales, double ridge,
                                 gcg_err *err)
{
    double *item = gcg_mem_alloc_array(x->cols, sizeof *item),
           *curvature = gcg_mem_alloc_array(x->rows, sizeof *curvature),
           *product = gcg_mem_alloc_array(x->rows, sizeof *product);
    gcg_status status = item && curvature && product ? GCG_OK : gcg_fail_memory(err, "biases");
    if (!status) status = mc_bias_shape(d->pass, x, scales, 1, item, curvature, err);
    if (!status) data_times(d, item, product);
    if (!status) status = gcg_factors_init(&d->u, x->rows, 1, GCG_DOUBLE, err);
    if (!status) status = gcg_factors_init(&d->v, x->cols, 1, GCG_DOUBLE, err);
    for (int32_t i = 0; i < x->rows && !status; i++)
        gcg_factors_set(&d->u, i, 0, product[i] / (curvature[i] + ridge));
    for (int32_t j = 0; j < x->cols && !status; j++) gcg_factors_set(&d->v, j, 0, item[j]);
    gcg_mem_free(item);
    gcg_mem_free(curvature);
    gcg_mem_free(product);
    d->x.values = NULL;
    return status;
}

gcg_status gcg_lambda_max_weighted(const gcg_csr *x, const gcg_norm *norm, uint64_t seed, gcg_watch *watch,
                                   double *lambda_max, gcg_err *err)
{
    const double tolerance = 1e-12; /* of sigma^2 */
    const int biased = norm->user_bias > 0;
    gcg_dtype type = gcg_csr_is_float(x) && !x->weight && !biased ? GCG_FLOAT : GCG_DOUBLE;
    data_op d = {.u = {.rows = x->rows, .type = type}, .v = {.rows = x->cols, .type = type}};
    d.x = (gcg_residual){.type = type, .u = &d.u, .v = &d.v};
    if (!x->shift.row && !x->weight && !biased) d.x.values = gcg_csr_stored(x, 0);
    gcg_scales scales = {0};
    gcg_status status = gcg_pass_new(x, &d.pass, err);
    if (!status && gcg_norm_is_weighted(norm)) {
        status = gcg_scales_init(&scales, x, norm, err);
        if (!status) gcg_pass_set_scales(d.pass, &scales);
    }
    if (!status && biased) status = biases_at_zero(&d, x, &scales, norm->user_bias, err);
    gcg_linop op = {x->rows, x->cols, &d, data_times, data_times_t, 0, watch};
    if (!status) status = gcg_polar_top(&op, tolerance, seed, lambda_max, NULL, NULL, err);
    gcg_pass_free(d.pass);
    gcg_factors_release(&d.u);
    gcg_factors_release(&d.v);
    gcg_scales_release(&scales);
    return status;
}

gcg_status gcg_lambda_max(const gcg_csr *x, uint64_t seed, gcg_watch *watch, double *lambda_max, gcg_err *err)
{
    const gcg_norm plain = {0};
    return gcg_lambda_max_weighted(x, &plain, seed, watch, lambda_max, err);
}
