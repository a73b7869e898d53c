/* maths/normal_rows against the obvious loops, for both precisions and every instruction set of this machine.
 */
#include "tests/naive.h"

#include "maths/kernels.h"
#include "maths/normal_rows.h"

static const char *const ISAS[] = {"base", "avx2", "avx512"};

typedef enum { NO_X, FLOAT_X, DOUBLE_X } x_kind;

/* A case: n rows out of a factor of `rows`, k columns. */
typedef struct {
    int64_t n;
    int rows, k, indexed;
    x_kind x;
    gcg_dtype type;
} shape;

static void expect(const shape *s, double *out, double *squares, const gcg_factors *f, const gcg_factors *p,
                   const int32_t *col, const double *x)
{
    *squares = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int32_t row = s->indexed ? col[i] : (int32_t)i;
        double t = 0;
        for (int q = 0; q < s->k; q++) t += gcg_factors_get(f, row, q) * gcg_factors_get(p, 0, q);
        if (s->x != NO_X) t = x[i] - t;
        *squares += t * t;
        for (int q = 0; q < s->k; q++) out[q] += t * gcg_factors_get(f, row, q);
    }
}

static void check_shape(const shape *s, uint64_t seed)
{
    naive_rng g = naive_seed(seed);
    double tiny = s->type == GCG_FLOAT ? 1e-5 : 1e-13, scale = (double)(s->n + 1) * (s->k + 1), squares;
    gcg_factors f = naive_factors(&g, s->rows, s->k, s->type, 1), p = naive_factors(&g, 1, s->k, s->type, 1),
                out = naive_factors(&g, 1, s->k, s->type, 1);
    double *x = naive_normals(&g, s->n), *want = naive_dense(&out);
    float *xf = naive_alloc((size_t)s->n, sizeof *xf);
    int32_t *col = naive_alloc((size_t)s->n, sizeof *col);
    for (int64_t i = 0; i < s->n; i++) {
        xf[i] = (float)x[i];
        if (s->x == FLOAT_X) x[i] = (double)xf[i];
        col[i] = naive_below(&g, s->rows);
    }
    expect(s, want, &squares, &f, &p, col, x);
    double got = gcg_normal_rows_of(s->type)(s->n, f.stride, f.data, f.stride, s->indexed ? col : NULL,
                                             s->x == FLOAT_X ? xf : NULL, s->x == DOUBLE_X ? x : NULL, p.data,
                                             out.data);
    ck_assert_double_eq_tol(got, squares, tiny * scale * scale);
    for (int q = 0; q < s->k; q++)
        ck_assert_double_eq_tol(gcg_factors_get(&out, 0, q), want[q], tiny * scale * 10);
    ck_assert(naive_padding_is_zero(&out));
    gcg_factors_release(&f);
    gcg_factors_release(&p);
    gcg_factors_release(&out);
    free(x);
    free(xf);
    free(want);
    free(col);
}

START_TEST(sums_equal_those_of_plain_loops)
{
    static const int64_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 37};
    static const int ranks[] = {1, 8, 16, 17, 33, 64, 100};
    if (!gcg_kernels_force(ISAS[_i])) return; /* not on this machine */
    ck_assert_str_eq(gcg_kernels_isa(), ISAS[_i]);
    for (int c = 0; c < 10; c++)
        for (int r = 0; r < 7; r++)
            for (int mode = 0; mode < 12; mode++) {
                shape s = {counts[c],
                           40,
                           ranks[r],
                           mode % 2,
                           (x_kind)(mode / 2 % 3),
                           mode < 6 ? GCG_FLOAT : GCG_DOUBLE};
                check_shape(&s, (uint64_t)(100 * c + 10 * r + mode));
            }
    gcg_kernels_force(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("normal_rows");
    TCase *tests = tcase_create("normal_rows");
    tcase_add_loop_test(tests, sums_equal_those_of_plain_loops, 0, 3);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
