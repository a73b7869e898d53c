/* maths/kernels: every pass against code that is slow and obvious, for each precision and instruction set. */
#include "tests/naive.h"

#include "base/parallel.h"
#include "maths/kernels.h"
#include "store/tiles.h"

static const char *const ISAS[] = {"base", "avx2", "avx512"};
static const int RANKS[] = {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 48, 64, 65};
static const int FEW_RANKS[] = {3, 17, 65};
enum { COUNT_RANKS = sizeof RANKS / sizeof *RANKS, COUNT_FEW = sizeof FEW_RANKS / sizeof *FEW_RANKS };

/* ---- data ---- */

typedef enum { MIXED, ONE_ROW, ONE_COLUMN, TALL, WIDE, DENSE, LONG_ROWS, SHAPES } shape;

/* Degrees 0..40, empty rows and columns (the last row and the last column too); values a float cannot hold
 * when wide. */
static gcg_csr make_data(shape which, int wide)
{
    static const int sizes[SHAPES][2] = {{57, 43},   {1, 50},   {50, 1},  {5003, 19},
                                         {23, 5003}, {300, 40}, {5, 9001}};
    int m = sizes[which][0], n = sizes[which][1];
    naive_rng g = naive_seed(7 + which);
    int64_t size = (int64_t)m * n;
    char *mask = naive_alloc((size_t)size, 1);
    double *x = naive_alloc((size_t)size, sizeof *x);
    for (int i = 0; i < m; i++) {
        int degree = which == DENSE ? n : (i * 7) % 41;
        if (i + 1 == m && m > 1 && which != DENSE) degree = 0;
        for (int d = 0; d < degree; d++) mask[(int64_t)i * n + naive_below(&g, n)] = 1;
        if (n > 1 && which != DENSE) mask[(int64_t)i * n + n - 1] = mask[(int64_t)i * n + 2] = 0;
    }
    if (which == LONG_ROWS) /* longer than a chunk of ratings */
        for (int j = 0; j < n; j++) mask[j] = mask[3 * (int64_t)n + j] = j % 5 != 0;
    if (which == ONE_ROW)
        for (int j = 0; j < n; j++) mask[j] = j % 3 != 0;
    for (int64_t e = 0; e < size; e++) x[e] = wide ? 1 + naive_uniform(&g) : 1 + naive_below(&g, 9) / 2.0;
    gcg_csr out = naive_csr(m, n, x, mask, wide);
    free(mask);
    free(x);
    return out;
}

/* Everything that a pass takes, and room for what it gives. */
typedef struct {
    gcg_csr x;
    int32_t *row; /* of each rating */
    gcg_pass *pass;
    gcg_dtype type;
    int k;
    gcg_factors u, v, du, dv, gu, gv;
    void *r, *b, *c;
    double *in_rows, *in_cols, *out_rows, *out_cols;
} fixture;

static double real_at(const fixture *f, const void *a, int64_t p)
{
    return f->type == GCG_FLOAT ? (double)((const float *)a)[p] : ((const double *)a)[p];
}

static void *random_ratings(naive_rng *g, const fixture *f)
{
    void *a = naive_alloc((size_t)f->x.nnz, f->type);
    for (int64_t p = 0; p < f->x.nnz; p++) {
        if (f->type == GCG_FLOAT)
            ((float *)a)[p] = (float)naive_normal(g);
        else
            ((double *)a)[p] = naive_normal(g);
    }
    return a;
}

/* How many tiles the ratings of fixtures are put into; 0: they lie row by row. */
static int32_t tiles;
enum { MANY_TILES = 3 };

/* Outputs start with rubbish: a pass that adds to them instead of setting them is found out. */
static void fixture_init(fixture *f, shape which, int wide, gcg_dtype type, int k)
{
    *f = (fixture){.x = make_data(which, wide), .type = type, .k = k};
    naive_rng g = naive_seed((uint64_t)(1000 + k));
    gcg_csr_run run = {.row = -1};
    ck_assert_int_eq(gcg_pass_tile(&f->x, tiles, NULL), GCG_OK);
    f->row = naive_alloc((size_t)f->x.nnz, sizeof *f->row);
    while (gcg_csr_next_run(&f->x, &run))
        for (int64_t p = run.p0; p < run.p1; p++) f->row[p] = run.row;
    ck_assert_int_eq(gcg_pass_new(&f->x, &f->pass, NULL), GCG_OK);
    f->u = naive_factors(&g, f->x.rows, k, type, 1);
    f->v = naive_factors(&g, f->x.cols, k, type, 1);
    f->du = naive_factors(&g, f->x.rows, k, type, 1);
    f->dv = naive_factors(&g, f->x.cols, k, type, 1);
    f->gu = naive_factors(&g, f->x.rows, k, type, 1);
    f->gv = naive_factors(&g, f->x.cols, k, type, 1);
    f->r = random_ratings(&g, f);
    f->b = random_ratings(&g, f);
    f->c = random_ratings(&g, f);
    f->in_rows = naive_normals(&g, f->x.rows);
    f->in_cols = naive_normals(&g, f->x.cols);
    f->out_rows = naive_normals(&g, f->x.rows);
    f->out_cols = naive_normals(&g, f->x.cols);
}

static void fixture_release(fixture *f)
{
    gcg_pass_free(f->pass);
    gcg_csr_release(&f->x);
    gcg_factors *all[] = {&f->u, &f->v, &f->du, &f->dv, &f->gu, &f->gv};
    for (int i = 0; i < 6; i++) gcg_factors_release(all[i]);
    free(f->row);
    free(f->r);
    free(f->b);
    free(f->c);
    free(f->in_rows);
    free(f->in_cols);
    free(f->out_rows);
    free(f->out_cols);
}

/* ---- sums with the size of their terms, for tolerances ---- */

typedef struct {
    double value, size; /* sum of terms, sum of |terms| */
    int64_t terms;
} sum;

static void add(sum *s, double term)
{
    s->value += term;
    s->size += fabs(term);
    s->terms++;
}

static double unit(gcg_dtype type)
{
    return type == GCG_FLOAT ? 6e-8 : 1.2e-16;
}

/* got is the sum, each operation rounded to the type. */
static void expect(double got, sum want, gcg_dtype type, const char *what)
{
    double allowed = unit(type) * (double)(want.terms + 4) * want.size;
    if (!(fabs(got - want.value) <= allowed)) /* ck_assert writes to a file at each call: too slow here */
        ck_abort_msg("%s: %.17g, should be %.17g within %g", what, got, want.value, allowed);
}

static void expect_near(double got, double want, double allowed)
{
    if (!(fabs(got - want) <= allowed)) ck_abort_msg("%.17g, should be %.17g within %g", got, want, allowed);
}

static void add_dot(sum *s, const gcg_factors *a, int i, const gcg_factors *b, int j)
{
    for (int q = 0; q < a->k; q++) add(s, gcg_factors_get(a, i, q) * gcg_factors_get(b, j, q));
}

/* R as kept in f->r. */
static gcg_residual kept(const fixture *f)
{
    return (gcg_residual){.type = f->type, .values = f->r};
}

#define FOR_RATINGS(f, i, p)                                                                                 \
    for (int64_t p = 0; p < (f)->x.nnz; p++)                                                                 \
        for (int i = (f)->row[p], once = 1; once; once = 0, (void)i)

/* ---- the passes ---- */

static void check_residual(fixture *f)
{
    double squares = gcg_pass_residual(f->pass, &f->u, &f->v, f->r);
    sum total = {0};
    FOR_RATINGS(f, i, p)
    {
        sum d = {0};
        add(&d, gcg_csr_value(&f->x, p));
        for (int q = 0; q < f->k; q++)
            add(&d, -gcg_factors_get(&f->u, i, q) * gcg_factors_get(&f->v, gcg_csr_col(&f->x, p), q));
        add(&total, d.value * d.value);
        /* summed in double, rounded once */
        double allowed = unit(f->type) * fabs(d.value) + 2.3e-16 * (double)d.terms * d.size;
        if (!(fabs(real_at(f, f->r, p) - d.value) <= allowed))
            ck_abort_msg("residual %.17g, should be %.17g", real_at(f, f->r, p), d.value);
    }
    expect(squares, total, GCG_DOUBLE, "sum of squares");
}

static void check_residual_fast(fixture *f)
{
    double squares = gcg_pass_residual_fast(f->pass, &f->u, &f->v, f->r);
    sum total = {0};
    FOR_RATINGS(f, i, p)
    {
        sum d = {0};
        add(&d, gcg_csr_value(&f->x, p));
        for (int q = 0; q < f->k; q++)
            add(&d, -gcg_factors_get(&f->u, i, q) * gcg_factors_get(&f->v, gcg_csr_col(&f->x, p), q));
        expect(real_at(f, f->r, p), d, f->type, "fast residual");
        add(&total, real_at(f, f->r, p) * real_at(f, f->r, p));
    }
    expect(squares, total, GCG_DOUBLE, "squares of the fast residual");
}

/* The next residual beside the old one, in its place, or not kept at all. */
static void check_residual_next(fixture *f)
{
    double s[3], again[3];
    size_t bytes = (size_t)f->x.nnz * f->type;
    void *old_values = naive_alloc((size_t)f->x.nnz, f->type);
    memcpy(old_values, f->r, bytes);
    gcg_residual old = kept(f);
    gcg_pass_residual_next(f->pass, &f->u, &f->v, &old, f->b, s);
    sum squares = {0}, inner = {0}, inner_x = {0};
    FOR_RATINGS(f, i, p)
    {
        add(&inner_x, real_at(f, f->b, p) * gcg_csr_value(&f->x, p));
        add(&squares, real_at(f, f->b, p) * real_at(f, f->b, p));
        add(&inner, real_at(f, f->b, p) * real_at(f, f->r, p));
    }
    expect(s[0], squares, GCG_DOUBLE, "||R||^2 of the next residual");
    expect(s[1], inner, GCG_DOUBLE, "<R, R_old>");
    expect(s[2], inner_x, GCG_DOUBLE, "<R, X> of the next residual");
    gcg_pass_residual_next(f->pass, &f->u, &f->v, &old, NULL, again);
    ck_assert_mem_eq(s, again, sizeof s);
    ck_assert_mem_eq(f->r, old_values, bytes);
    gcg_pass_residual_next(f->pass, &f->u, &f->v, &old, f->r, again);
    ck_assert_mem_eq(s, again, sizeof s);
    ck_assert_mem_eq(f->r, f->b, bytes);
    gcg_pass_residual_fast(f->pass, &f->u, &f->v, f->r);
    ck_assert_mem_eq(f->r, f->b, bytes);
    free(old_values);
}

static void check_product(fixture *f)
{
    if (f->k == 0) return;
    double s[3], again[3];
    sum squares = {0}, inner = {0}, inner_x = {0};
    gcg_residual r = kept(f);
    gcg_pass_product(f->pass, &f->u, &f->v, &r, f->b, s);
    FOR_RATINGS(f, i, p)
    {
        sum d = {0};
        double b = real_at(f, f->b, p);
        add_dot(&d, &f->u, i, &f->v, gcg_csr_col(&f->x, p));
        expect(b, d, f->type, "product");
        add(&squares, b * b);
        add(&inner, b * real_at(f, f->r, p));
        add(&inner_x, b * gcg_csr_value(&f->x, p));
    }
    expect(s[0], squares, GCG_DOUBLE, "<P, P>");
    expect(s[1], inner, GCG_DOUBLE, "<P, R>");
    expect(s[2], inner_x, GCG_DOUBLE, "<P, X>");
    gcg_pass_product(f->pass, &f->u, &f->v, &r, NULL, again);
    ck_assert_mem_eq(s, again, sizeof s);
}

static void check_line(fixture *f)
{
    double s[4];
    sum want[4] = {{0}};
    if (f->k == 0) return;
    gcg_residual residual = kept(f);
    gcg_pass_line(f->pass, &f->u, &f->v, &f->du, &f->dv, &residual, f->b, f->c, s);
    FOR_RATINGS(f, i, p)
    {
        int j = gcg_csr_col(&f->x, p);
        sum b = {0}, c = {0};
        add_dot(&b, &f->u, i, &f->dv, j);
        add_dot(&b, &f->du, i, &f->v, j);
        add_dot(&c, &f->du, i, &f->dv, j);
        double got_b = real_at(f, f->b, p), got_c = real_at(f, f->c, p), r = real_at(f, f->r, p);
        expect(got_b, b, f->type, "b");
        expect(got_c, c, f->type, "c");
        add(&want[0], got_b * got_b);
        add(&want[1], r * got_c);
        add(&want[2], got_b * got_c);
        add(&want[3], got_c * got_c);
    }
    for (int e = 0; e < 4; e++) expect(s[e], want[e], GCG_DOUBLE, "sums along the line");
    double again[4];
    gcg_pass_line(f->pass, &f->u, &f->v, &f->du, &f->dv, &residual, NULL, NULL, again);
    ck_assert_mem_eq(s, again, sizeof s);
}

static void check_line_move(fixture *f)
{
    const double a = 0.7;
    void *old = naive_alloc((size_t)f->x.nnz, f->type);
    memcpy(old, f->r, (size_t)f->x.nnz * f->type);
    gcg_pass_line_move(f->pass, f->type, a, f->r, f->b, f->c);
    FOR_RATINGS(f, i, p)
    {
        sum d = {0};
        add(&d, real_at(f, old, p));
        add(&d, -a * real_at(f, f->b, p));
        add(&d, -a * a * real_at(f, f->c, p));
        expect(real_at(f, f->r, p), d, f->type, "moved residual");
    }
    free(old);
}

static void check_add(fixture *f)
{
    const double a = -0.3;
    void *old = naive_alloc((size_t)f->x.nnz, f->type);
    memcpy(old, f->r, (size_t)f->x.nnz * f->type);
    gcg_pass_add(f->pass, f->type, a, f->b, f->r);
    FOR_RATINGS(f, i, p)
    {
        sum d = {0};
        add(&d, real_at(f, old, p));
        add(&d, a * real_at(f, f->b, p));
        expect(real_at(f, f->r, p), d, f->type, "r + a b");
    }
    free(old);
}

/* want[i, q] for all rows of a factor matrix: base + sign * sum over ratings of weight * other. */
static void check_rows(const fixture *f, const gcg_factors *got, int of_rows, double lambda,
                       const gcg_factors *self, const gcg_factors *other, double sign, int squared,
                       const char *what)
{
    int rows = got->rows, k = got->k;
    sum *want = naive_alloc((size_t)rows * (size_t)k, sizeof *want);
    for (int i = 0; i < rows; i++)
        for (int q = 0; q < k && lambda != 0; q++)
            add(&want[i * k + q], lambda * (self ? gcg_factors_get(self, i, q) : 1));
    FOR_RATINGS(f, i, p)
    for (int q = 0; q < k; q++) {
        double o = gcg_factors_get(other, of_rows ? gcg_csr_col(&f->x, p) : i, q);
        add(&want[(of_rows ? i : gcg_csr_col(&f->x, p)) * k + q],
            squared ? o * o : sign * real_at(f, f->r, p) * o);
    }
    for (int i = 0; i < rows; i++)
        for (int q = 0; q < k; q++) expect(gcg_factors_get(got, i, q), want[i * k + q], f->type, what);
    ck_assert_msg(naive_padding_is_zero(got), "%s: padding", what);
    free(want);
}

static void check_gradient(fixture *f)
{
    const double lambda = 1.25;
    gcg_residual r = kept(f);
    gcg_pass_gradient(f->pass, &r, &f->u, &f->v, lambda, &f->gu, &f->gv);
    check_rows(f, &f->gu, 1, lambda, &f->u, &f->v, -1, 0, "GU");
    check_rows(f, &f->gv, 0, lambda, &f->v, &f->u, -1, 0, "GV");
    gcg_pass_gradient(f->pass, &r, &f->u, &f->v, 0, &f->gu, &f->gv);
    check_rows(f, &f->gu, 1, 0, NULL, &f->v, -1, 0, "GU without lambda");
    check_rows(f, &f->gv, 0, 0, NULL, &f->u, -1, 0, "GV without lambda");
}

static void check_squares(fixture *f)
{
    const double lambda = 0.75;
    gcg_pass_squares(f->pass, &f->u, &f->v, lambda, &f->gu, &f->gv);
    check_rows(f, &f->gu, 1, lambda, NULL, &f->v, 1, 1, "DU");
    check_rows(f, &f->gv, 0, lambda, NULL, &f->u, 1, 1, "DV");
}

static void check_times(fixture *f)
{
    gcg_residual r = kept(f);
    gcg_pass_times(f->pass, &r, &f->v, &f->gu);
    check_rows(f, &f->gu, 1, 0, NULL, &f->v, 1, 0, "R Z");
    gcg_pass_times_t(f->pass, &r, &f->u, &f->gv);
    check_rows(f, &f->gv, 0, 0, NULL, &f->u, 1, 0, "R'Y");
}

static void check_matvec(fixture *f)
{
    sum *rows = naive_alloc((size_t)f->x.rows, sizeof *rows),
        *cols = naive_alloc((size_t)f->x.cols, sizeof *cols);
    sum squares = {0}, inner_x = {0};
    gcg_residual residual = kept(f);
    double moments[2];
    FOR_RATINGS(f, i, p)
    {
        double r = real_at(f, f->r, p);
        add(&rows[i], r * f->in_cols[gcg_csr_col(&f->x, p)]);
        add(&cols[gcg_csr_col(&f->x, p)], r * f->in_rows[i]);
        add(&squares, r * r);
        add(&inner_x, r * gcg_csr_value(&f->x, p));
    }
    gcg_pass_matvec(f->pass, &residual, f->in_cols, f->out_rows);
    gcg_pass_matvec_t(f->pass, &residual, f->in_rows, f->out_cols);
    gcg_pass_moments(f->pass, &residual, moments);
    for (int i = 0; i < f->x.rows; i++) expect(f->out_rows[i], rows[i], GCG_DOUBLE, "R x");
    for (int j = 0; j < f->x.cols; j++) expect(f->out_cols[j], cols[j], GCG_DOUBLE, "R'y");
    expect(moments[0], squares, GCG_DOUBLE, "||R||^2");
    expect(moments[1], inner_x, GCG_DOUBLE, "<R, X>");
    free(rows);
    free(cols);
}

/* R in one precision times factors in the other. */
static void check_times_other(fixture *f)
{
    gcg_dtype other = f->type == GCG_FLOAT ? GCG_DOUBLE : GCG_FLOAT;
    gcg_factors *own[] = {&f->u, &f->v}, in[2], out[2];
    gcg_residual r = kept(f);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(gcg_factors_copy(own[i], other, &in[i], NULL), GCG_OK);
        ck_assert_int_eq(gcg_factors_copy(own[i], other, &out[i], NULL), GCG_OK);
    }
    gcg_pass_times(f->pass, &r, &in[1], &out[0]);
    gcg_pass_times_t(f->pass, &r, &in[0], &out[1]);
    gcg_dtype own_type = f->type;
    for (int i = 0; i < 2; i++) {
        sum *want = naive_alloc((size_t)out[i].rows * (size_t)f->k + 1, sizeof *want);
        FOR_RATINGS(f, row, p)
        for (int q = 0; q < f->k; q++) {
            int to = i == 0 ? row : gcg_csr_col(&f->x, p), from = i == 0 ? gcg_csr_col(&f->x, p) : row;
            add(&want[to * f->k + q], real_at(f, f->r, p) * gcg_factors_get(&in[1 - i], from, q));
        }
        for (int row = 0; row < out[i].rows; row++)
            for (int q = 0; q < f->k; q++) {
                sum w = want[row * f->k + q];
                w.terms += own_type == GCG_DOUBLE; /* r is rounded too */
                expect(gcg_factors_get(&out[i], row, q), w, other, "R times the other precision");
            }
        free(want);
    }
    for (int i = 0; i < 2; i++) {
        gcg_factors_release(&in[i]);
        gcg_factors_release(&out[i]);
    }
}

/* What the passes with R give, as bytes. */
static void run_with(fixture *f, const gcg_residual *r, double sums[9])
{
    memset(sums, 0, 9 * sizeof *sums);
    gcg_pass_matvec(f->pass, r, f->in_cols, f->out_rows);
    gcg_pass_matvec_t(f->pass, r, f->in_rows, f->out_cols);
    gcg_pass_gradient(f->pass, r, &f->u, &f->v, 0.5, &f->gu, &f->gv);
    gcg_pass_moments(f->pass, r, sums);
    if (f->k == 0) return;
    gcg_pass_line(f->pass, &f->u, &f->v, &f->du, &f->dv, r, NULL, NULL, sums + 2);
    gcg_pass_product(f->pass, &f->u, &f->v, r, NULL, sums + 6);
}

static double *copied(const double *x, int64_t n)
{
    double *copy = naive_alloc((size_t)n, sizeof *copy);
    memcpy(copy, x, (size_t)n * sizeof *copy);
    return copy;
}

/* The same numbers; whatever pads a row may differ. */
static void expect_equal(const gcg_factors *a, const gcg_factors *b)
{
    for (int i = 0; i < a->rows; i++)
        for (int q = 0; q < a->k; q++)
            if (gcg_factors_get(a, i, q) != gcg_factors_get(b, i, q))
                ck_abort_msg("row %d, column %d differ", i, q);
}

/* A residual that is computed again in each pass is the one that residual_fast keeps, to the bit. */
static void check_recomputed(fixture *f)
{
    double sums[2][9], old[2][3];
    gcg_residual r = kept(f), anew = {.type = f->type, .u = &f->du, .v = &f->dv};
    gcg_factors gu, gv;
    gcg_pass_residual_fast(f->pass, &f->du, &f->dv, f->r);
    run_with(f, &r, sums[0]);
    gcg_pass_residual_next(f->pass, &f->u, &f->v, &r, f->b, old[0]);
    double *rows = copied(f->out_rows, f->x.rows), *cols = copied(f->out_cols, f->x.cols);
    gcg_factors_copy(&f->gu, f->type, &gu, NULL);
    gcg_factors_copy(&f->gv, f->type, &gv, NULL);
    double before = gcg_pass_count(f->pass);
    run_with(f, &anew, sums[1]);
    ck_assert(gcg_pass_count(f->pass) >= before + 3 + (f->k > 0 ? 6 : 0)); /* what it costs is counted */
    gcg_pass_residual_next(f->pass, &f->u, &f->v, &anew, NULL, old[1]);
    ck_assert_mem_eq(sums[0], sums[1], sizeof sums[0]);
    ck_assert_mem_eq(old[0], old[1], sizeof old[0]);
    ck_assert_mem_eq(rows, f->out_rows, (size_t)f->x.rows * sizeof *rows);
    ck_assert_mem_eq(cols, f->out_cols, (size_t)f->x.cols * sizeof *cols);
    expect_equal(&f->gu, &gu);
    expect_equal(&f->gv, &gv);
    gcg_factors_release(&gu);
    gcg_factors_release(&gv);
    free(rows);
    free(cols);
}

static void check_all(shape which, int wide, gcg_dtype type, int k)
{
    fixture f;
    fixture_init(&f, which, wide, type, k);
    check_matvec(&f);
    check_times(&f);
    check_gradient(&f);
    check_squares(&f);
    check_line(&f);
    check_line_move(&f);
    check_add(&f);
    check_product(&f);
    check_times_other(&f);
    check_recomputed(&f);
    check_residual_next(&f);
    check_residual_fast(&f);
    check_residual(&f);
    fixture_release(&f);
}

/* All loops are over instruction sets: 0 when the machine has not this one. */
static int use_isa(int index)
{
    if (gcg_kernels_force(ISAS[index])) {
        ck_assert_str_eq(gcg_kernels_isa(), ISAS[index]);
        return 1;
    }
    ck_assert_str_ne(ISAS[index], "base");
    return 0;
}

START_TEST(passes_equal_naive_sums_at_every_rank)
{
    if (!use_isa(_i)) return;
    for (int r = 0; r < COUNT_RANKS; r++)
        for (int wide = 0; wide < 2; wide++) {
            check_all(MIXED, wide, GCG_FLOAT, RANKS[r]);
            check_all(MIXED, wide, GCG_DOUBLE, RANKS[r]);
        }
}
END_TEST

START_TEST(passes_equal_naive_sums_for_every_shape)
{
    if (!use_isa(_i % 3)) return;
    tiles = _i < 3 ? 0 : MANY_TILES;
    for (int r = 0; r < COUNT_FEW; r++)
        for (shape which = ONE_ROW; which < SHAPES; which++) {
            check_all(which, which % 2, GCG_FLOAT, FEW_RANKS[r]);
            check_all(which, which % 2, GCG_DOUBLE, FEW_RANKS[r]);
        }
}
END_TEST

/* ---- threads ---- */

/* Runs every pass; keeps all that it wrote. */
static char *all_bytes(shape which, gcg_dtype type, int k, size_t *length)
{
    fixture f;
    fixture_init(&f, which, 1, type, k);
    size_t reals = (size_t)f.x.nnz * type, rows = (size_t)f.x.rows, cols = (size_t)f.x.cols;
    size_t u_bytes = rows * (size_t)f.u.stride * type, v_bytes = cols * (size_t)f.v.stride * type;
    char *out = naive_alloc(5 * reals + 3 * (u_bytes + v_bytes) + (rows + cols + 16) * sizeof(double), 1),
         *p = out;
#define KEEP(data, bytes) (memcpy(p, data, bytes), p += (bytes))
    double s[4], one;
    gcg_residual r = kept(&f);
    gcg_pass_matvec(f.pass, &r, f.in_cols, f.out_rows);
    gcg_pass_matvec_t(f.pass, &r, f.in_rows, f.out_cols);
    KEEP(f.out_rows, rows * sizeof(double));
    KEEP(f.out_cols, cols * sizeof(double));
    gcg_pass_gradient(f.pass, &r, &f.u, &f.v, 0.5, &f.gu, &f.gv);
    KEEP(f.gu.data, u_bytes);
    KEEP(f.gv.data, v_bytes);
    gcg_pass_squares(f.pass, &f.u, &f.v, 0.5, &f.gu, &f.gv);
    KEEP(f.gu.data, u_bytes);
    KEEP(f.gv.data, v_bytes);
    gcg_pass_times(f.pass, &r, &f.v, &f.gu);
    gcg_pass_times_t(f.pass, &r, &f.u, &f.gv);
    KEEP(f.gu.data, u_bytes);
    KEEP(f.gv.data, v_bytes);
    gcg_pass_line(f.pass, &f.u, &f.v, &f.du, &f.dv, &r, f.b, f.c, s);
    KEEP(s, sizeof s);
    KEEP(f.b, reals);
    KEEP(f.c, reals);
    gcg_pass_moments(f.pass, &r, s);
    KEEP(s, 2 * sizeof *s);
    gcg_pass_product(f.pass, &f.u, &f.v, &r, NULL, s);
    KEEP(s, 3 * sizeof *s);
    gcg_pass_line_move(f.pass, type, 0.3, f.r, f.b, f.c);
    KEEP(f.r, reals);
    gcg_pass_add(f.pass, type, -0.4, f.b, f.r);
    KEEP(f.r, reals);
    one = gcg_pass_residual(f.pass, &f.u, &f.v, f.r);
    KEEP(&one, sizeof one);
    KEEP(f.r, reals);
    gcg_pass_residual_fast(f.pass, &f.u, &f.v, f.r);
    *length = (size_t)(p - out);
    fixture_release(&f);
#undef KEEP
    return out;
}

START_TEST(passes_write_the_same_bytes_at_1_2_3_and_7_threads)
{
    tiles = _i * MANY_TILES;
    static const int threads[] = {2, 3, 7};
    for (shape which = TALL; which < SHAPES; which++)
        for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
            size_t length, other;
            gcg_par_set_threads(1);
            char *one = all_bytes(which, type, 17, &length);
            for (int t = 0; t < 3; t++) {
                gcg_par_set_threads(threads[t]);
                char *many = all_bytes(which, type, 17, &other);
                ck_assert_uint_eq(length, other);
                ck_assert_mem_eq(one, many, length);
                free(many);
            }
            free(one);
        }
}
END_TEST

/* ---- the rest ---- */

START_TEST(passes_are_counted_at_their_cost)
{
    fixture f;
    fixture_init(&f, MIXED, 0, GCG_FLOAT, 3);
    double s[4];
    gcg_residual r = kept(&f);
    ck_assert_double_eq(gcg_pass_count(f.pass), 0);
    gcg_pass_residual(f.pass, &f.u, &f.v, f.r);
    ck_assert_double_eq(gcg_pass_count(f.pass), 1);
    gcg_pass_product(f.pass, &f.u, &f.v, &r, f.b, s);
    ck_assert_double_eq(gcg_pass_count(f.pass), 2);
    gcg_pass_residual_fast(f.pass, &f.u, &f.v, f.r);
    ck_assert_double_eq(gcg_pass_count(f.pass), 3);
    gcg_pass_line(f.pass, &f.u, &f.v, &f.du, &f.dv, &r, f.b, f.c, s);
    ck_assert_double_eq(gcg_pass_count(f.pass), 6);
    gcg_pass_gradient(f.pass, &r, &f.u, &f.v, 1, &f.gu, &f.gv);
    ck_assert_double_eq(gcg_pass_count(f.pass), 8);
    gcg_pass_squares(f.pass, &f.u, &f.v, 1, &f.gu, &f.gv);
    ck_assert_double_eq(gcg_pass_count(f.pass), 10);
    gcg_pass_times(f.pass, &r, &f.v, &f.gu);
    ck_assert_double_eq(gcg_pass_count(f.pass), 10);
    fixture_release(&f);
}
END_TEST

/* ---- scales: those of the factors, moved into the passes ---- */

static double *vector_of(naive_rng *g, int n)
{
    double *a = naive_alloc((size_t)n, sizeof *a);
    for (int i = 0; i < n; i++) a[i] = i % 7 == 3 ? 0 : 0.25 + naive_uniform(g);
    return a;
}

static float *rounded(int n, const double *a)
{
    float *f = naive_alloc((size_t)n, sizeof *f);
    for (int i = 0; i < n; i++) f[i] = (float)a[i];
    return f;
}

static gcg_factors scaled_copy(const gcg_factors *f, const double *scale)
{
    gcg_factors out;
    ck_assert_int_eq(gcg_factors_copy(f, f->type, &out, NULL), GCG_OK);
    for (int i = 0; i < f->rows; i++)
        for (int q = 0; q < f->k; q++) gcg_factors_set(&out, i, q, scale[i] * gcg_factors_get(f, i, q));
    return out;
}

/* got = want times the rows' scales to this power. */
static void check_scaled_rows(const gcg_factors *got, const gcg_factors *want, const double *scale, int power,
                              double tiny)
{
    for (int i = 0; i < got->rows; i++)
        for (int q = 0; q < got->k; q++) {
            double w = pow(scale[i], power) * gcg_factors_get(want, i, q);
            expect_near(gcg_factors_get(got, i, q), w, tiny * (1 + fabs(w)));
        }
}

static void check_array(const fixture *f, const void *got, const void *want, double tiny)
{
    for (int64_t p = 0; p < f->x.nnz; p++) {
        double w = real_at(f, want, p);
        expect_near(real_at(f, got, p), w, tiny * (1 + fabs(w)));
    }
}

static void check_sums(int n, const double *got, const double *want, double tiny)
{
    for (int i = 0; i < n; i++) expect_near(got[i], want[i], tiny * (1 + fabs(want[i])));
}

/* The passes whose results are sums and arrays, of f and of g, which has factors of its own: both give the
 * same. */
static void check_alike(fixture *f, const gcg_residual *with, fixture *g, const gcg_residual *other,
                        const gcg_factors *du, const gcg_factors *dv, double tiny)
{
    const int kept = with->values != NULL;
    const gcg_factors *u = other->u, *v = other->v;
    const double sums = tiny * (double)(1 + f->x.nnz);
    double s[4], t[4];
    s[0] = gcg_pass_residual(f->pass, &f->u, &f->v, f->b);
    t[0] = gcg_pass_residual(g->pass, u, v, g->b);
    check_sums(1, s, t, tiny);
    check_array(f, f->b, g->b, tiny);
    gcg_pass_residual_next(f->pass, &f->du, &f->v, with, f->b, s);
    gcg_pass_residual_next(g->pass, du, v, other, g->b, t);
    check_sums(3, s, t, sums);
    check_array(f, f->b, g->b, tiny);
    gcg_pass_moments(f->pass, with, s);
    gcg_pass_moments(g->pass, other, t);
    check_sums(2, s, t, sums);
    gcg_pass_product(f->pass, &f->u, &f->dv, with, kept ? f->b : NULL, s);
    gcg_pass_product(g->pass, u, dv, other, kept ? g->b : NULL, t);
    check_sums(3, s, t, sums);
    check_array(f, f->b, g->b, tiny);
    gcg_pass_line(f->pass, &f->u, &f->v, &f->du, &f->dv, with, kept ? f->b : NULL, kept ? f->c : NULL, s);
    gcg_pass_line(g->pass, u, v, du, dv, other, kept ? g->b : NULL, kept ? g->c : NULL, t);
    check_sums(4, s, t, sums);
    check_array(f, f->b, g->b, tiny);
    check_array(f, f->c, g->c, tiny);
}

/* Each pass with scales equals the one without on scaled factors, its results scaled where they are rows. */
static void check_scaled(shape which, gcg_dtype type, int k, int kept)
{
    fixture f, g; /* with and without scales */
    fixture_init(&f, which, 0, type, k);
    fixture_init(&g, which, 0, type, k);
    double tiny = type == GCG_FLOAT ? 2e-4 : 1e-11;
    naive_rng random = naive_seed(77);
    double *a = vector_of(&random, f.x.rows), *b = vector_of(&random, f.x.cols);
    gcg_scales scales = {a, b, rounded(f.x.rows, a), rounded(f.x.cols, b), 0};
    gcg_pass_set_scales(f.pass, &scales);
    gcg_factors u = scaled_copy(&f.u, a), v = scaled_copy(&f.v, b), du = scaled_copy(&f.du, a),
                dv = scaled_copy(&f.dv, b);
    const gcg_residual with = {type, kept ? f.r : NULL, &f.u, &f.v},
                       without = {type, kept ? g.r : NULL, &u, &v};
    check_alike(&f, &with, &g, &without, &du, &dv, tiny);
    gcg_pass_gradient(f.pass, &with, &f.u, &f.v, 0, &f.gu, &f.gv);
    gcg_pass_gradient(g.pass, &without, &u, &v, 0, &g.gu, &g.gv);
    check_scaled_rows(&f.gu, &g.gu, a, 1, tiny);
    check_scaled_rows(&f.gv, &g.gv, b, 1, tiny);
    gcg_pass_squares(f.pass, &f.u, &f.v, 0, &f.gu, &f.gv);
    gcg_pass_squares(g.pass, &u, &v, 0, &g.gu, &g.gv);
    check_scaled_rows(&f.gu, &g.gu, a, 2, tiny);
    check_scaled_rows(&f.gv, &g.gv, b, 2, tiny);
    gcg_pass_times(f.pass, &with, &f.dv, &f.gu);
    gcg_pass_times(g.pass, &without, &dv, &g.gu);
    check_scaled_rows(&f.gu, &g.gu, a, 1, tiny);
    gcg_pass_times_t(f.pass, &with, &f.du, &f.gv);
    gcg_pass_times_t(g.pass, &without, &du, &g.gv);
    check_scaled_rows(&f.gv, &g.gv, b, 1, tiny);
    for (int i = 0; i < f.x.rows; i++) g.in_rows[i] = a[i] * f.in_rows[i];
    for (int j = 0; j < f.x.cols; j++) g.in_cols[j] = b[j] * f.in_cols[j];
    gcg_pass_matvec(f.pass, &with, f.in_cols, f.out_rows);
    gcg_pass_matvec(g.pass, &without, g.in_cols, g.out_rows);
    gcg_pass_matvec_t(f.pass, &with, f.in_rows, f.out_cols);
    gcg_pass_matvec_t(g.pass, &without, g.in_rows, g.out_cols);
    for (int i = 0; i < f.x.rows; i++) g.out_rows[i] *= a[i];
    for (int j = 0; j < f.x.cols; j++) g.out_cols[j] *= b[j];
    check_sums(f.x.rows, f.out_rows, g.out_rows, tiny);
    check_sums(f.x.cols, f.out_cols, g.out_cols, tiny);
    gcg_pass_scaled(f.pass, &with, f.b);
    gcg_pass_scaled(g.pass, &without, g.b); /* R itself */
    FOR_RATINGS(&f, i, p)
    {
        double want = a[i] * b[gcg_csr_col(&f.x, p)] * real_at(&g, g.b, p);
        expect_near(real_at(&f, f.b, p), want, tiny * (1 + fabs(want)));
    }
    gcg_factors *all[] = {&u, &v, &du, &dv};
    for (int i = 0; i < 4; i++) gcg_factors_release(all[i]);
    free(scales.row_f);
    free(scales.col_f);
    free(a);
    free(b);
    fixture_release(&f);
    fixture_release(&g);
}

START_TEST(passes_with_scales_are_passes_on_scaled_factors)
{
    if (!gcg_kernels_force(ISAS[_i % 3])) return;
    tiles = _i < 3 ? 0 : MANY_TILES;
    for (int t = 0; t < COUNT_FEW; t++)
        for (int mode = 0; mode < 4; mode++)
            check_scaled(t == 1 ? LONG_ROWS : MIXED, mode % 2 ? GCG_FLOAT : GCG_DOUBLE, FEW_RANKS[t],
                         mode / 2);
    gcg_kernels_force(NULL);
}
END_TEST

/* Weights 4^(e_i + e_j), kept by powers of 2 on both sides: each pass equals the one with scales 2^e and
 * ratings times them, which are exact, at most in another order of rounding. */
static void check_weighted(shape which, gcg_dtype type, int k, int kept)
{
    fixture f, g; /* with weights; with scales */
    fixture_init(&f, which, 0, type, k);
    fixture_init(&g, which, 0, type, k);
    double tiny = type == GCG_FLOAT ? 2e-4 : 1e-11;
    double *a = naive_alloc((size_t)f.x.rows, sizeof *a), *b = naive_alloc((size_t)f.x.cols, sizeof *b);
    for (int i = 0; i < f.x.rows; i++) a[i] = ldexp(1, i % 3 - 1);
    for (int j = 0; j < f.x.cols; j++) b[j] = ldexp(1, j % 2);
    gcg_scales scales = {a, b, rounded(f.x.rows, a), rounded(f.x.cols, b), 0};
    gcg_pass_set_scales(g.pass, &scales);
    ck_assert_int_eq(gcg_csr_add_weights(&f.x, NULL), GCG_OK);
    FOR_RATINGS(&f, i, p)
    {
        double root = a[i] * b[gcg_csr_col(&f.x, p)];
        f.x.weight[p] = (float)(root * root);
        if (g.x.val_f)
            g.x.val_f[p] *= (float)root;
        else
            g.x.val_d[p] *= root;
    }
    gcg_pass_free(f.pass); /* it has to know that there are weights */
    ck_assert_int_eq(gcg_pass_new(&f.x, &f.pass, NULL), GCG_OK);
    for (int64_t p = 0; p < f.x.nnz; p++) ck_assert(real_at(&f, f.r, p) == real_at(&g, g.r, p));
    const gcg_residual with = {type, kept ? f.r : NULL, &f.u, &f.v},
                       other = {type, kept ? g.r : NULL, &g.u, &g.v};
    check_alike(&f, &with, &g, &other, &g.du, &g.dv, tiny);
    gcg_factors *rows[2] = {&f.gu, &g.gu}, *cols[2] = {&f.gv, &g.gv};
    for (int pass = 0; pass < 3; pass++) {
        for (int w = 0; w < 2; w++) {
            fixture *h = w ? &g : &f;
            const gcg_residual *r = w ? &other : &with;
            if (pass == 0) gcg_pass_gradient(h->pass, r, &h->u, &h->v, 0.5, rows[w], cols[w]);
            if (pass == 1) gcg_pass_squares(h->pass, &h->u, &h->v, 0.5, rows[w], cols[w]);
            if (pass == 2) gcg_pass_times(h->pass, r, &h->dv, rows[w]);
            if (pass == 2) gcg_pass_times_t(h->pass, r, &h->du, cols[w]);
        }
        check_scaled_rows(rows[0], rows[1], a, 0, tiny);
        check_scaled_rows(cols[0], cols[1], b, 0, tiny);
    }
    gcg_pass_matvec(f.pass, &with, f.in_cols, f.out_rows);
    gcg_pass_matvec(g.pass, &other, f.in_cols, g.out_rows);
    gcg_pass_matvec_t(f.pass, &with, f.in_rows, f.out_cols);
    gcg_pass_matvec_t(g.pass, &other, f.in_rows, g.out_cols);
    check_sums(f.x.rows, f.out_rows, g.out_rows, tiny);
    check_sums(f.x.cols, f.out_cols, g.out_cols, tiny);
    gcg_pass_scaled(f.pass, &with, f.b);
    gcg_pass_scaled(g.pass, &other, g.b);
    check_array(&f, f.b, g.b, tiny);
    free(scales.row_f);
    free(scales.col_f);
    free(a);
    free(b);
    fixture_release(&f);
    fixture_release(&g);
}

START_TEST(passes_with_weights_are_passes_with_their_roots_as_scales)
{
    if (!gcg_kernels_force(ISAS[_i % 3])) return;
    tiles = _i < 3 ? 0 : MANY_TILES;
    for (int t = 0; t < COUNT_FEW; t++)
        for (int mode = 0; mode < 4; mode++)
            check_weighted(t == 1 ? LONG_ROWS : MIXED, mode % 2 ? GCG_FLOAT : GCG_DOUBLE, FEW_RANKS[t],
                           mode / 2);
    gcg_kernels_force(NULL);
}
END_TEST

START_TEST(products_are_adjoint)
{
    fixture f;
    fixture_init(&f, DENSE, 0, GCG_DOUBLE, 5);
    gcg_residual r = kept(&f);
    gcg_pass_times(f.pass, &r, &f.v, &f.gu);
    gcg_pass_times_t(f.pass, &r, &f.u, &f.gv);
    double left = 0, right = 0;
    for (int i = 0; i < f.x.rows; i++) left += gcg_factors_dot(&f.u, i, &f.gu, i);
    for (int j = 0; j < f.x.cols; j++) right += gcg_factors_dot(&f.gv, j, &f.v, j);
    ck_assert_double_eq_tol(left, right, 1e-10);
    fixture_release(&f);
}
END_TEST

/* f(U + a dU, V + a dV) by naive sums equals the quartic from the pass's sums and the gradient. */
START_TEST(the_line_sums_are_the_coefficients_of_the_surrogate_along_the_line)
{
    const double lambda = 0.6, a = -0.37;
    fixture f;
    fixture_init(&f, MIXED, 1, GCG_DOUBLE, 4);
    double s[4], before = 0, after = 0, g_d = 0, d_d = 0;
    gcg_residual r = kept(&f);
    gcg_pass_residual(f.pass, &f.u, &f.v, f.r);
    gcg_pass_gradient(f.pass, &r, &f.u, &f.v, lambda, &f.gu, &f.gv);
    gcg_pass_line(f.pass, &f.u, &f.v, &f.du, &f.dv, &r, f.b, f.c, s);
    for (int side = 0; side < 2; side++) {
        const gcg_factors *point = side ? &f.v : &f.u, *d = side ? &f.dv : &f.du, *g = side ? &f.gv : &f.gu;
        for (int i = 0; i < point->rows; i++)
            for (int q = 0; q < f.k; q++) {
                double w = gcg_factors_get(point, i, q), e = gcg_factors_get(d, i, q);
                g_d += e * gcg_factors_get(g, i, q);
                d_d += e * e;
                before += 0.5 * lambda * w * w;
                after += 0.5 * lambda * (w + a * e) * (w + a * e);
            }
    }
    FOR_RATINGS(&f, i, p)
    {
        double at = 0, moved = 0;
        for (int q = 0; q < f.k; q++) {
            double u = gcg_factors_get(&f.u, i, q), v = gcg_factors_get(&f.v, gcg_csr_col(&f.x, p), q);
            at += u * v;
            moved += (u + a * gcg_factors_get(&f.du, i, q)) *
                     (v + a * gcg_factors_get(&f.dv, gcg_csr_col(&f.x, p), q));
        }
        before += 0.5 * pow(at - gcg_csr_value(&f.x, p), 2);
        after += 0.5 * pow(moved - gcg_csr_value(&f.x, p), 2);
    }
    double quartic = before + a * g_d + a * a * (0.5 * s[0] - s[1] + 0.5 * lambda * d_d) + a * a * a * s[2] +
                     a * a * a * a * 0.5 * s[3];
    ck_assert_double_eq_tol(after, quartic, 1e-10 * before);
    fixture_release(&f);
}
END_TEST

START_TEST(vector_functions_equal_naive_loops)
{
    if (!use_isa(_i)) return;
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4)
        for (int n = 0; n < 200; n += n < 70 ? 1 : 33) {
            gcg_vector_ops ops = gcg_kernels_vector_ops(type);
            naive_rng g = naive_seed((uint64_t)n + 3);
            gcg_factors x = naive_factors(&g, 1, n, type, 1), y = naive_factors(&g, 1, n, type, 1),
                        z = naive_factors(&g, 1, n, type, 1);
            double *wide = naive_alloc((size_t)n + 1, sizeof *wide);
            sum dot = {0};
            add_dot(&dot, &x, 0, &y, 0);
            expect(ops.dot(n, x.data, y.data), dot, GCG_DOUBLE, "dot");
#define EACH(expression, term1, term2, what)                                                                 \
    for (int q = 0; q < n; q++) {                                                                            \
        double xq = gcg_factors_get(&x, 0, q), yq = gcg_factors_get(&y, 0, q);                               \
        sum want = {0};                                                                                      \
        add(&want, term1);                                                                                   \
        add(&want, term2);                                                                                   \
        expect(expression, want, type, what);                                                                \
        (void)xq;                                                                                            \
        (void)yq;                                                                                            \
    }
            ops.multiply(n, x.data, y.data, z.data);
            EACH(gcg_factors_get(&z, 0, q), xq * yq, 0, "multiply")
            ops.subtract_vectors(n, x.data, y.data, z.data);
            EACH(gcg_factors_get(&z, 0, q), xq, -yq, "subtract")
            ops.scale(n, -1.5, x.data, z.data);
            EACH(gcg_factors_get(&z, 0, q), -1.5 * xq, 0, "scale")
            ops.axpy(n, 0.3, y.data, z.data); /* z = -1.5 x + 0.3 y */
            EACH(gcg_factors_get(&z, 0, q), -1.5 * xq, 0.3 * yq, "axpy")
            ops.to_double(n, x.data, wide);
            for (int q = 0; q < n; q++) ck_assert_double_eq(wide[q], gcg_factors_get(&x, 0, q));
            for (int q = 0; q < n; q++) wide[q] = 1.0 / (q + 3);
            ops.from_double(n, wide, z.data);
            for (int q = 0; q < n; q++)
                ck_assert_double_eq(gcg_factors_get(&z, 0, q),
                                    type == GCG_FLOAT ? (double)(float)wide[q] : wide[q]);
#undef EACH
            gcg_factors_release(&x);
            gcg_factors_release(&y);
            gcg_factors_release(&z);
            free(wide);
        }
}
END_TEST

enum { MANY = 7 };

/* sum[i] += x . y_i for the first `count`; the others stay. */
static void check_dots_many(gcg_vector_ops ops, gcg_dtype type, int n, int count, const gcg_factors *x,
                            const gcg_factors *y)
{
    const void *data[MANY];
    double sums[MANY];
    for (int i = 0; i < MANY; i++) data[i] = y[i].data, sums[i] = 10 + i;
    ops.dots(n, x->data, count, data, sums);
    for (int i = 0; i < MANY; i++) {
        sum want = {0}, start = {0};
        add_dot(&want, x, 0, &y[i], 0);
        add(&start, 10 + i);
        if (i >= count) {
            ck_assert_double_eq(sums[i], 10 + i);
            continue;
        }
        /* short sums in the type (8 terms), long ones in double */
        double allowed = unit(type) * 10 * want.size + 1.2e-16 * (double)(n + 4) * (want.size + start.size);
        if (!(fabs(sums[i] - 10 - i - want.value) <= allowed))
            ck_abort_msg("dots of %d: %.17g, should be %.17g", n, sums[i], 10 + i + want.value);
    }
}

static void check_combine(gcg_vector_ops ops, gcg_dtype type, int n, int count, int adds, gcg_factors *out,
                          const gcg_factors *x)
{
    static const double a[MANY] = {-1.5, 0.25, 3, 0, -0.1, 1e3, 7};
    const void *data[MANY];
    double *before = naive_dense(out);
    for (int i = 0; i < MANY; i++) data[i] = x[i].data;
    if (!adds) /* is not read */
        for (int q = 0; q < n; q++) gcg_factors_set(out, 0, q, NAN);
    ops.combine(n, count, a, data, adds, out->data);
    for (int q = 0; q < n; q++) {
        sum want = {0};
        if (adds) add(&want, before[q]);
        for (int i = 0; i < count; i++) add(&want, a[i] * gcg_factors_get(&x[i], 0, q));
        want.terms += count; /* the coefficient is rounded too */
        expect(gcg_factors_get(out, 0, q), want, type, "combine");
    }
    free(before);
}

START_TEST(dots_and_combinations_of_many_vectors_equal_naive_loops)
{
    static const int counts[] = {0, 1, 2, 3, MANY};
    if (!use_isa(_i)) return;
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4)
        for (int n = 0; n < 1700; n += n < 140 ? 1 : 127) {
            gcg_vector_ops ops = gcg_kernels_vector_ops(type);
            naive_rng g = naive_seed((uint64_t)n + 5);
            gcg_factors x = naive_factors(&g, 1, n, type, 1), y[MANY];
            for (int i = 0; i < MANY; i++) y[i] = naive_factors(&g, 1, n, type, 1);
            for (int c = 0; c < 5; c++) {
                check_dots_many(ops, type, n, counts[c], &x, y);
                check_combine(ops, type, n, counts[c], 1, &x, y);
                check_combine(ops, type, n, counts[c], 0, &x, y);
                ck_assert(naive_padding_is_zero(&x)); /* nothing is written behind the end */
            }
            gcg_factors_release(&x);
            for (int i = 0; i < MANY; i++) gcg_factors_release(&y[i]);
        }
}
END_TEST

/* 2^24 + 1 is not a float: in float a long sum of ones would stand still there. */
START_TEST(long_dots_of_floats_are_summed_in_double)
{
    enum { N = (1 << 24) + 77 };
    if (!use_isa(_i)) return;
    float *ones = naive_alloc(N, sizeof *ones);
    for (int e = 0; e < N; e++) ones[e] = 1;
    const void *data = ones;
    double sums = 0;
    gcg_kernels_vector_ops(GCG_FLOAT).dots(N, ones, 1, &data, &sums);
    ck_assert_double_eq(sums, N);
    free(ones);
}
END_TEST

START_TEST(an_unknown_instruction_set_is_refused_and_the_best_comes_back)
{
    const char *best = gcg_kernels_isa();
    ck_assert_int_eq(gcg_kernels_force("base"), 1);
    ck_assert_str_eq(gcg_kernels_isa(), "base");
    ck_assert_int_eq(gcg_kernels_force("sse9"), 0);
    ck_assert_str_eq(gcg_kernels_isa(), best);
    ck_assert_int_eq(gcg_kernels_force(NULL), 1);
    ck_assert_str_eq(gcg_kernels_isa(), best);
}
END_TEST

static gcg_status new_and_free(void *ctx)
{
    gcg_pass *pass;
    gcg_status status = gcg_pass_new(ctx, &pass, NULL);
    ck_assert((status == GCG_OK) == (pass != NULL));
    gcg_pass_free(pass);
    return status;
}

START_TEST(a_pass_that_cannot_be_allocated_leaves_nothing_behind)
{
    gcg_csr x = make_data(MIXED, 0);
    ck_assert_int_gt(naive_fail_each_allocation(new_and_free, &x), 3);
    ck_assert_int_ge(gcg_pass_bytes(&x), 2 * 128 * x.cols);
    gcg_csr_release(&x);
    gcg_pass_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tests = tcase_create("passes");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, passes_equal_naive_sums_at_every_rank, 0, 3);
    tcase_add_loop_test(tests, passes_equal_naive_sums_for_every_shape, 0, 6);
    tcase_add_loop_test(tests, passes_write_the_same_bytes_at_1_2_3_and_7_threads, 0, 2);
    tcase_add_test(tests, passes_are_counted_at_their_cost);
    tcase_add_test(tests, products_are_adjoint);
    tcase_add_loop_test(tests, passes_with_scales_are_passes_on_scaled_factors, 0, 6);
    tcase_add_loop_test(tests, passes_with_weights_are_passes_with_their_roots_as_scales, 0, 6);
    tcase_add_test(tests, the_line_sums_are_the_coefficients_of_the_surrogate_along_the_line);
    tcase_add_loop_test(tests, vector_functions_equal_naive_loops, 0, 3);
    tcase_add_loop_test(tests, dots_and_combinations_of_many_vectors_equal_naive_loops, 0, 3);
    tcase_add_loop_test(tests, long_dots_of_floats_are_summed_in_double, 0, 3);
    tcase_add_test(tests, an_unknown_instruction_set_is_refused_and_the_best_comes_back);
    tcase_add_test(tests, a_pass_that_cannot_be_allocated_leaves_nothing_behind);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
