/* Biases of users in completion: the column of U and V beside the iterate's (completion.h has the formulas).
 * They are a variable of L-BFGS and, given W, the exact minimiser once per evaluation. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "solvers/completion.h"
#include "solvers/plan.h"

int64_t gcg_plan_bias(int64_t rows, int64_t cols)
{
    return (3 * rows + cols) * (int64_t)sizeof(double);
}

static double squares(int32_t n, const double *x)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

gcg_status mc_bias_shape(gcg_pass *pass, const gcg_csr *x, const gcg_scales *scales, double g, double *item,
                         double *curvature, gcg_err *err)
{
    gcg_factors u = {0}, v = {0}, du = {0}, dv = {0};
    gcg_status status = gcg_factors_init(&u, x->rows, 1, GCG_DOUBLE, err);
    if (!status) status = gcg_factors_init(&v, x->cols, 1, GCG_DOUBLE, err);
    if (!status) status = gcg_factors_init(&du, x->rows, 1, GCG_DOUBLE, err);
    if (!status) status = gcg_factors_init(&dv, x->cols, 1, GCG_DOUBLE, err);
    for (int32_t j = 0; j < x->cols && !status; j++) {
        item[j] = !scales->col ? g : scales->col[j] > 0 ? g / scales->col[j] : 0;
        gcg_factors_set(&v, j, 0, item[j]);
    }
    if (!status) gcg_pass_squares(pass, &u, &v, 0, &du, &dv);
    for (int32_t i = 0; i < x->rows && !status; i++) curvature[i] = gcg_factors_get(&du, i, 0);
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    gcg_factors_release(&du);
    gcg_factors_release(&dv);
    return status;
}

static double scale_of(const completion *m)
{
    return sqrt(m->lambda / m->set->norm.user_bias);
}

gcg_status mc_bias_init(completion *m, gcg_err *err)
{
    m->bias = gcg_mem_zalloc_array(m->x->rows, sizeof *m->bias);
    m->bias_item = gcg_mem_alloc_array(m->x->cols, sizeof *m->bias_item);
    m->bias_curvature = gcg_mem_alloc_array(m->x->rows, sizeof *m->bias_curvature);
    m->bias_product = gcg_mem_alloc_array(m->x->rows, sizeof *m->bias_product);
    if (!m->bias || !m->bias_item || !m->bias_curvature || !m->bias_product)
        return gcg_fail_memory(err, "biases");
    return mc_bias_shape(m->pass, m->x, &m->scales, scale_of(m), m->bias_item, m->bias_curvature, err);
}

void mc_bias_release(completion *m)
{
    gcg_mem_free(m->bias);
    gcg_mem_free(m->bias_item);
    gcg_mem_free(m->bias_curvature);
    gcg_mem_free(m->bias_product);
    m->bias = NULL;
}

static void place(gcg_factors *f, int32_t at, const double *column)
{
    for (int32_t i = 0; i < f->rows; i++) {
        gcg_factors_set(f, i, at, column[i]);
        for (int32_t q = at + 1; q < f->stride; q++) gcg_factors_set(f, i, q, 0);
    }
}

void mc_bias_place(completion *m)
{
    if (!mc_biased(m)) return;
    place(&m->u, m->u.k, m->bias);
    place(&m->v, m->v.k, m->bias_item);
}

void mc_bias_take(completion *m)
{
    if (!mc_biased(m)) return;
    for (int32_t i = 0; i < m->x->rows; i++) m->bias[i] = gcg_factors_get(&m->u, i, m->u.k);
    m->bias_penalty = 0.5 * m->lambda * squares(m->x->rows, m->bias);
}

void mc_bias_fit(completion *m)
{
    mc_times(m, m->bias_item, m->bias_product);
    for (int32_t i = 0; i < m->x->rows; i++)
        m->bias[i] += (m->bias_product[i] - m->lambda * m->bias[i]) / (m->bias_curvature[i] + m->lambda);
    mc_bias_place(m);
    mc_bias_take(m); /* as the point's precision has them */
}

void mc_bias_bound(completion *m)
{
    if (!mc_biased(m)) return;
    mc_times(m, m->bias_item, m->bias_product);
    m->bias_squares = squares(m->x->rows, m->bias_product) / m->lambda;
}

/* ---- in and out ---- */

/* The number that V's last column is, but for rounding, where it has one for each item with ratings; 0: it is
 * no column of biases. */
static double constant_of(const gcg_factors *v)
{
    const double rounding = v->type == GCG_FLOAT ? 1e-6 : 1e-14;
    double g = 0;
    for (int32_t j = 0; j < v->rows; j++) {
        double value = gcg_factors_get(v, j, v->k - 1);
        if (value < 0 || (g > 0 && value > 0 && fabs(value - g) > rounding * g)) return 0;
        if (!(g > 0)) g = value;
    }
    return g;
}

int mc_bias_read(completion *m, const gcg_factors *u, const gcg_factors *v)
{
    double g = constant_of(v);
    if (!(g > 0)) return 0;
    for (int32_t i = 0; i < u->rows; i++) {
        double a = m->scales.row ? m->scales.row[i] : 1;
        m->bias[i] = a > 0 ? gcg_factors_get(u, i, u->k - 1) * g / (a * scale_of(m)) : 0;
    }
    return 1;
}

gcg_status mc_bias_result(completion *m, gcg_solver_result *result, gcg_err *err)
{
    double *s = gcg_mem_zalloc_array((int64_t)m->u.k + 1, sizeof *s);
    if (!s) return gcg_fail_memory(err, "result");
    if (m->u.k > 0) memcpy(s, m->s, (size_t)m->u.k * sizeof *s);
    gcg_status status = gcg_solver_result_take(result, mc_all_u(m), mc_all_v(m), s, err);
    gcg_mem_free(s);
    return status;
}
