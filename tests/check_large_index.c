/* Counts and offsets beyond 2^31 and 2^32, where memory of that size is not needed: address space that is
 * reserved and touched in few places, and functions that only compute sizes. Naive counterparts use __int128
 * or small copies. */
#define _GNU_SOURCE
#include "tests/naive.h"

#include <sys/mman.h>

#include "io/npy.h"
#include "io/synth.h"
#include "maths/kernels.h"
#include "maths/score.h"
#include "solvers/completion.h"
#include "steps/lbfgs.h"
#include "steps/polar.h"
#include "store/csr.h"
#include "store/factors.h"

/* How tall.c cuts rows is its own business: its functions as they are, under other names than ours. */
#define call tall_call
#define row tall_row
#include "maths/tall.c"
#undef call
#undef row

/* What the vector functions of base/blas.c hand to a BLAS that counts in 32 bits: stretches one after the
 * other, none of which is looked at. */
static struct pieces {
    const double *base;
    int64_t next;
    int calls;
} pieces;

static void take_piece(int n, const double *x)
{
    ck_assert_int_gt(n, 0);
    ck_assert_ptr_eq(x, pieces.base + pieces.next);
    pieces.next += n;
    pieces.calls++;
}

#define cblas_ddot piece_ddot
#define cblas_dnrm2 piece_dnrm2
#define cblas_daxpy piece_daxpy
#define cblas_dscal piece_dscal
#include "base/blas.c"
#undef cblas_ddot
#undef cblas_dnrm2
#undef cblas_daxpy
#undef cblas_dscal

double piece_ddot(int n, const double *x, int dx, const double *y, int dy)
{
    ck_assert(dx == 1 && dy == 1 && y == x + 1);
    take_piece(n, x);
    return 1;
}

double piece_dnrm2(int n, const double *x, int dx)
{
    ck_assert_int_eq(dx, 1);
    take_piece(n, x);
    return 1;
}

void piece_daxpy(int n, double a, const double *x, int dx, double *y, int dy)
{
    ck_assert(a == 2 && dx == 1 && dy == 1 && y == x + 1);
    take_piece(n, x);
}

void piece_dscal(int n, double a, double *x, int dx)
{
    ck_assert(a == 2 && dx == 1);
    take_piece(n, x);
}

static void call_ddot(int64_t n, double *x, double *y)
{
    ck_assert_double_eq(gcg_blas_ddot(n, x, y), pieces.calls);
}

static void call_dnrm2(int64_t n, double *x, double *y)
{
    (void)y;
    ck_assert_double_eq_tol(gcg_blas_dnrm2(n, x), sqrt(pieces.calls), 1e-14);
}

static void call_daxpy(int64_t n, double *x, double *y)
{
    gcg_blas_daxpy(n, 2, x, y);
}

static void call_dscal(int64_t n, double *x, double *y)
{
    (void)y;
    gcg_blas_dscal(n, 2, x);
}

/* Address space: zeros, of which only the touched pages are memory. NULL where it cannot be had. */
static void *reserve(int64_t bytes)
{
    void *at =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static const int64_t BEFORE = ((int64_t)1 << 32) + 12345; /* ratings before those that are looked at */

/* ---- the passes on ratings far into a store ---- */

enum { ROWS = 7, COLS = 9, K = 20, ARRAYS = 4 };

/* The same ratings twice: alone, and behind BEFORE others that belong to no row. */
typedef struct {
    gcg_csr x;
    int64_t first;
    void *arrays[ARRAYS]; /* of one real a rating: residual, b, c, out */
    gcg_pass *pass;
} store;

static void make_store(store *s, int64_t first, gcg_dtype type)
{
    naive_rng g = naive_seed(3);
    int64_t n = 0, total;
    *s = (store){.first = first};
    s->x = (gcg_csr){.rows = ROWS, .cols = COLS};
    s->x.row_ptr = naive_alloc(ROWS + 1, sizeof *s->x.row_ptr);
    total = first + ROWS * COLS;
    s->x.col = reserve(total * (int64_t)sizeof *s->x.col);
    s->x.val_f = reserve(total * (int64_t)sizeof *s->x.val_f);
    for (int a = 0; a < ARRAYS; a++) s->arrays[a] = reserve(total * (int64_t)type);
    for (int32_t i = 0; i < ROWS; i++) {
        s->x.row_ptr[i] = first + n;
        for (int32_t j = 0; j < COLS; j++)
            if ((i * 5 + j * 3) % 4 != 0) {
                s->x.col[first + n] = j;
                s->x.val_f[first + n++] = (float)(1 + naive_below(&g, 5));
            }
    }
    s->x.row_ptr[ROWS] = s->x.nnz = first + n;
    ck_assert_int_eq(gcg_pass_new(&s->x, &s->pass, NULL), GCG_OK);
}

static void release_store(store *s, gcg_dtype type)
{
    int64_t total = s->first + ROWS * COLS;
    munmap(s->x.col, (size_t)total * sizeof *s->x.col);
    munmap(s->x.val_f, (size_t)total * sizeof *s->x.val_f);
    for (int a = 0; a < ARRAYS; a++) munmap(s->arrays[a], (size_t)total * (size_t)type);
    free(s->x.row_ptr);
    gcg_pass_free(s->pass);
}

static gcg_factors normals(uint64_t seed, int32_t rows, gcg_dtype type)
{
    naive_rng g = naive_seed(seed);
    gcg_factors f;
    ck_assert_int_eq(gcg_factors_init(&f, rows, K, type, NULL), GCG_OK);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t q = 0; q < K; q++) gcg_factors_set(&f, i, q, naive_normal(&g));
    return f;
}

static double entry(const void *array, int64_t p, gcg_dtype type)
{
    return type == GCG_FLOAT ? (double)((const float *)array)[p] : ((const double *)array)[p];
}

/* Blocks are cut elsewhere, so sums differ by rounding. */
static void same(double a, double b, gcg_dtype type, const char *what)
{
    double tiny = type == GCG_FLOAT ? 1e-5 : 1e-12;
    ck_assert_msg(fabs(a - b) <= tiny * (1 + fabs(a)), "%s: %.17g and %.17g", what, a, b);
}

static void same_arrays(const store s[2], int array, gcg_dtype type, const char *what)
{
    for (int64_t p = 0; p < s[0].x.nnz; p++)
        same(entry(s[0].arrays[array], p, type), entry(s[1].arrays[array], s[1].first + p, type), type, what);
}

static void same_factors(const gcg_factors *a, const gcg_factors *b, const char *what)
{
    for (int32_t i = 0; i < a->rows; i++)
        for (int32_t q = 0; q < a->k; q++)
            same(gcg_factors_get(a, i, q), gcg_factors_get(b, i, q), a->type, what);
}

static void same_sums(const double *a, const double *b, int count, gcg_dtype type, const char *what)
{
    for (int i = 0; i < count; i++) same(a[i], b[i], type, what);
}

typedef struct {
    gcg_dtype type;
    gcg_factors u, v, du, dv, gu[2], gv[2];
} factors;

static factors make_factors(gcg_dtype type)
{
    return (factors){type,
                     normals(1, ROWS, type),
                     normals(2, COLS, type),
                     normals(3, ROWS, type),
                     normals(4, COLS, type),
                     {normals(5, ROWS, type), normals(5, ROWS, type)},
                     {normals(6, COLS, type), normals(6, COLS, type)}};
}

static void release_factors(factors *f)
{
    gcg_factors *all[] = {&f->u, &f->v, &f->du, &f->dv, &f->gu[0], &f->gu[1], &f->gv[0], &f->gv[1]};
    for (int i = 0; i < 8; i++) gcg_factors_release(all[i]);
}

/* The passes that make values of ratings: arrays 0 (residual), 1 and 2 (line), 3. */
static void compare_rating_passes(store s[2], factors *f)
{
    double sums[2][4];
    gcg_residual r[2];
    for (int i = 0; i < 2; i++) {
        r[i] = (gcg_residual){f->type, s[i].arrays[0], &f->u, &f->v};
        sums[i][0] = gcg_pass_residual(s[i].pass, &f->u, &f->v, s[i].arrays[3]);
        sums[i][1] = gcg_pass_residual_fast(s[i].pass, &f->u, &f->v, s[i].arrays[0]);
    }
    same_sums(sums[0], sums[1], 2, f->type, "squares");
    same_arrays(s, 3, f->type, "residual");
    same_arrays(s, 0, f->type, "fast residual");
    for (int i = 0; i < 2; i++) gcg_pass_product(s[i].pass, &f->du, &f->dv, &r[i], s[i].arrays[3], sums[i]);
    same_sums(sums[0], sums[1], 3, f->type, "product's sums");
    same_arrays(s, 3, f->type, "product");
    for (int i = 0; i < 2; i++) gcg_pass_moments(s[i].pass, &r[i], sums[i]);
    same_sums(sums[0], sums[1], 2, f->type, "moments");
    for (int i = 0; i < 2; i++)
        gcg_pass_line(s[i].pass, &f->u, &f->v, &f->du, &f->dv, &r[i], s[i].arrays[1], s[i].arrays[2],
                      sums[i]);
    same_sums(sums[0], sums[1], 4, f->type, "line's sums");
    same_arrays(s, 1, f->type, "b");
    same_arrays(s, 2, f->type, "c");
    for (int i = 0; i < 2; i++) {
        gcg_pass_line_move(s[i].pass, f->type, 0.25, s[i].arrays[0], s[i].arrays[1], s[i].arrays[2]);
        gcg_pass_add(s[i].pass, f->type, -0.5, s[i].arrays[3], s[i].arrays[0]);
    }
    same_arrays(s, 0, f->type, "moved residual");
}

/* The passes that make factors and vectors, with the residual kept and computed again. */
static void compare_factor_passes(store s[2], factors *f)
{
    double x[COLS] = {1, -2, 3, -4, 5, -6, 7, -8, 9}, y[2][ROWS], back[2][COLS];
    for (int kept = 0; kept < 2; kept++) {
        gcg_residual r[2];
        for (int i = 0; i < 2; i++)
            r[i] = (gcg_residual){f->type, kept ? s[i].arrays[0] : NULL, &f->u, &f->v};
        for (int i = 0; i < 2; i++)
            gcg_pass_gradient(s[i].pass, &r[i], &f->u, &f->v, 2, &f->gu[i], &f->gv[i]);
        same_factors(&f->gu[0], &f->gu[1], "gradient");
        same_factors(&f->gv[0], &f->gv[1], "gradient");
        for (int i = 0; i < 2; i++) {
            gcg_pass_times(s[i].pass, &r[i], &f->v, &f->gu[i]);
            gcg_pass_times_t(s[i].pass, &r[i], &f->u, &f->gv[i]);
        }
        same_factors(&f->gu[0], &f->gu[1], "R Z");
        same_factors(&f->gv[0], &f->gv[1], "R'Y");
        for (int i = 0; i < 2; i++) {
            gcg_pass_matvec(s[i].pass, &r[i], x, y[i]);
            gcg_pass_matvec_t(s[i].pass, &r[i], y[i], back[i]);
        }
        same_sums(y[0], y[1], ROWS, f->type, "R x");
        same_sums(back[0], back[1], COLS, f->type, "R'y");
    }
    for (int i = 0; i < 2; i++) gcg_pass_squares(s[i].pass, &f->u, &f->v, 2, &f->gu[i], &f->gv[i]);
    same_factors(&f->gu[0], &f->gu[1], "squares");
    same_factors(&f->gv[0], &f->gv[1], "squares");
}

START_TEST(passes_do_the_same_4_billion_ratings_into_a_store)
{
    gcg_dtype type = _i ? GCG_DOUBLE : GCG_FLOAT;
    store s[2];
    make_store(&s[0], 0, type);
    make_store(&s[1], BEFORE, type);
    factors f = make_factors(type);
    compare_rating_passes(s, &f);
    compare_factor_passes(s, &f);
    release_factors(&f);
    for (int i = 0; i < 2; i++) release_store(&s[i], type);
}
END_TEST

START_TEST(a_rating_is_found_4_billion_ratings_into_a_store)
{
    store s[2];
    make_store(&s[0], 0, GCG_FLOAT);
    make_store(&s[1], BEFORE, GCG_FLOAT);
    for (int32_t i = 0; i < ROWS; i++)
        for (int32_t j = 0; j < COLS; j++) {
            int64_t p = gcg_csr_find(&s[0].x, i, j), far = gcg_csr_find(&s[1].x, i, j);
            ck_assert_int_eq(far, p < 0 ? -1 : p + BEFORE);
            if (p >= 0) ck_assert_double_eq(gcg_csr_value(&s[1].x, far), gcg_csr_value(&s[0].x, p));
        }
    for (int i = 0; i < 2; i++) release_store(&s[i], GCG_FLOAT);
}
END_TEST

/* ---- factors with as many rows as there can be ---- */

START_TEST(the_last_of_2_billion_rows_is_where_it_should_be)
{
    gcg_factors u = {.rows = INT32_MAX, .k = 3, .stride = 16, .type = GCG_FLOAT}, v;
    int64_t bytes = (int64_t)u.rows * u.stride * u.type;
    float *data = u.data = reserve(bytes);
    ck_assert_int_eq(gcg_factors_init(&v, 1, 3, GCG_FLOAT, NULL), GCG_OK);
    for (int32_t q = 0; q < 3; q++) {
        gcg_factors_set(&u, INT32_MAX - 1, q, q + 1);
        gcg_factors_set(&v, 0, q, 10);
        ck_assert_double_eq((double)data[bytes / 4 - 16 + q], q + 1);
        ck_assert_double_eq(gcg_factors_get(&u, INT32_MAX - 1, q), q + 1);
    }
    ck_assert_double_eq(gcg_factors_dot(&u, INT32_MAX - 1, &v, 0), 60);
    gcg_scorer scorer = {.u = &u, .v = &v, .low = -INFINITY, .high = INFINITY};
    int64_t *count = reserve((int64_t)INT32_MAX * 8), one = 1;
    double *bias = reserve((int64_t)INT32_MAX * 8), none = 0;
    count[INT32_MAX - 1] = 1;
    bias[INT32_MAX - 1] = 0.5;
    scorer.user_count = count;
    scorer.item_count = &one;
    scorer.user_bias = bias;
    scorer.item_bias = &none;
    ck_assert_double_eq(gcg_score_predict(&scorer, INT32_MAX - 1, 0), 60.5);
    munmap(bias, (size_t)INT32_MAX * 8);
    munmap(count, (size_t)INT32_MAX * 8);
    munmap(u.data, (size_t)bytes);
    gcg_factors_release(&v);
}
END_TEST

START_TEST(rows_are_cut_into_groups_without_gaps_or_overlaps)
{
    static const int32_t sizes[] = {1, 255, 256, 257, 4096, 4097, 70000, 1 << 30, INT32_MAX - 1, INT32_MAX};
    for (int s = 0; s < 10; s++) {
        int64_t next = 0;
        ck_assert_int_le(groups(sizes[s]), MOST_GROUPS);
        for (int64_t group = 0; group < groups(sizes[s]); group++) {
            int32_t first, count = group_rows(group, sizes[s], &first);
            ck_assert_int_eq(first, next);
            ck_assert_int_gt(count, 0);
            next += count;
        }
        ck_assert_int_eq(next, sizes[s]);
    }
}
END_TEST

START_TEST(the_point_of_completion_is_cut_into_blocks_without_gaps)
{
    gcg_csr x = {.rows = INT32_MAX, .cols = INT32_MAX, .nnz = 5000000000};
    completion m = {.x = &x, .type = GCG_DOUBLE};
    m.u = (gcg_factors){.rows = x.rows, .k = 1000, .stride = mc_padded(1000), .type = GCG_DOUBLE};
    m.v = (gcg_factors){.rows = x.cols, .k = 1000, .stride = m.u.stride, .type = GCG_DOUBLE};
    int64_t entries = (int64_t)(2 * (__int128)INT32_MAX * m.u.stride), blocks = mc_vector_blocks(&m);
    size_t offset, before;
    ck_assert_int_eq(mc_entries(&m, m.u.stride), entries);
    int64_t last = mc_vector_block(&m, blocks - 1, &offset);
    ck_assert_int_eq((int64_t)(offset / 8) + last, entries);
    int64_t n = mc_vector_block(&m, blocks - 2, &before);
    ck_assert_uint_eq(before + (size_t)n * 8, offset);
    gcg_factors u, v;
    mc_views(&m, NULL, &u, &v);
    ck_assert_uint_eq((size_t)((char *)v.data - (char *)u.data), (size_t)INT32_MAX * (size_t)m.u.stride * 8);
    ck_assert_int_ge(gcg_lbfgs_bytes(entries, GCG_DOUBLE, 3), 2 * 3 * 8 * entries); /* the pairs alone */
}
END_TEST

/* ---- sizes, and what is too large ---- */

START_TEST(scratch_of_passes_over_2_billion_columns_is_counted_in_64_bits)
{
    gcg_csr x = {.rows = 3, .cols = INT32_MAX, .nnz = 5000000000};
    ck_assert_int_ge(gcg_pass_bytes(&x), 4 * (int64_t)128 * INT32_MAX);
}
END_TEST

static void no_product(void *ctx, const double *x, double *y)
{
    (void)ctx;
    (void)x;
    (void)y;
    ck_abort_msg("nothing is to be multiplied");
}

START_TEST(what_arpack_cannot_count_is_refused)
{
    gcg_linop op = {800000000, 900000000, NULL, no_product, no_product, 0, NULL};
    double sigma;
    gcg_err err;
    ck_assert_int_eq(gcg_polar_top(&op, 1e-6, 1, &sigma, NULL, NULL, &err), GCG_ERR_NOMEM);
    ck_assert_ptr_nonnull(strstr(err.text, "ARPACK"));
    ck_assert_int_gt(gcg_polar_bound_steps(INT32_MAX, 1e-3, 1e-6), 300);
}
END_TEST

START_TEST(vectors_of_5_billion_numbers_go_to_the_blas_in_pieces)
{
    const int64_t n = 5000000000;
    double *x = (double *)&pieces, *y = x + 1; /* never looked at */
    void (*const all[])(int64_t, double *, double *) = {call_ddot, call_dnrm2, call_daxpy, call_dscal};
    for (int f = 0; f < 4; f++) {
        pieces = (struct pieces){.base = x};
        all[f](n, x, y);
        ck_assert_int_eq(pieces.next, n);
        ck_assert_int_eq(pieces.calls, 5);
    }
}
END_TEST

START_TEST(headers_and_shapes_of_large_files_are_right)
{
    gcg_npy large = {"<f8", 2, {INT32_MAX, 1000}}, again;
    char header[GCG_NPY_HEADER];
    gcg_npy_header(header, &large);
    ck_assert_int_eq(gcg_npy_parse(header, &again), 0);
    ck_assert_int_eq(again.shape[0], INT32_MAX);
    gcg_synth_settings s = {.users = 70000, .items = 70000, .ratings = 4900000000, .rank = 1};
    ck_assert_int_eq(gcg_synth_check(&s, NULL), GCG_OK);
    s.ratings++;
    ck_assert_int_eq(gcg_synth_check(&s, NULL), GCG_ERR_USAGE);
    s.users = s.items = INT32_MAX - 1;
    s.ratings = s.test_ratings = 2000000000000000000;
    ck_assert_int_eq(gcg_synth_check(&s, NULL), GCG_OK);
    s.test_ratings = 3000000000000000000;
    ck_assert_int_eq(gcg_synth_check(&s, NULL), GCG_ERR_USAGE);
}
END_TEST

/* Enough of it for the largest of these tests? valgrind and some limits do not give it. */
static int has_address_space(void)
{
    int64_t bytes = (int64_t)INT32_MAX * 16 * 4 + (BEFORE << 5);
    void *at = reserve(bytes);
    if (at) munmap(at, (size_t)bytes);
    return at != NULL;
}

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("large index");
    TCase *tests = tcase_create("large index");
    tcase_set_timeout(tests, 600);
    if (has_address_space()) {
        tcase_add_loop_test(tests, passes_do_the_same_4_billion_ratings_into_a_store, 0, 2);
        tcase_add_test(tests, a_rating_is_found_4_billion_ratings_into_a_store);
        tcase_add_test(tests, the_last_of_2_billion_rows_is_where_it_should_be);
    }
    tcase_add_test(tests, rows_are_cut_into_groups_without_gaps_or_overlaps);
    tcase_add_test(tests, the_point_of_completion_is_cut_into_blocks_without_gaps);
    tcase_add_test(tests, scratch_of_passes_over_2_billion_columns_is_counted_in_64_bits);
    tcase_add_test(tests, vectors_of_5_billion_numbers_go_to_the_blas_in_pieces);
    tcase_add_test(tests, what_arpack_cannot_count_is_refused);
    tcase_add_test(tests, headers_and_shapes_of_large_files_are_right);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
