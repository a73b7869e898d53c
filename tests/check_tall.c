/* maths/tall against naive sums. */
#include "tests/naive.h"

#include "base/blas.h"
#include "base/parallel.h"
#include "maths/tall.h"

static const int ROWS[] = {1, 2, 511, 513, 4097, 9001}; /* 256 rows a BLAS call, 16 partial sums */
static const int COLS[] = {0, 1, 3, 17};
static const double BETAS[] = {0, 1, -0.5};
enum { COUNT_ROWS = sizeof ROWS / sizeof *ROWS, COUNT_COLS = sizeof COLS / sizeof *COLS };

/* Relative to the sum of absolute terms. */
static double tolerance(gcg_dtype type, int exact)
{
    return type == GCG_DOUBLE || exact ? 1e-13 : 5e-6;
}

static void check_gram(const gcg_factors *a, const gcg_factors *b, int exact)
{
    double *g = naive_alloc((size_t)a->k * (size_t)b->k, sizeof *g), *da = naive_dense(a),
           *db = naive_dense(b);
    for (int e = 0; e < a->k * b->k; e++) g[e] = 7; /* is overwritten */
    ck_assert_int_eq(gcg_tall_gram(a, b, exact, g, NULL), GCG_OK);
    double most = 0;
    for (int p = 0; p < a->k; p++)
        for (int q = 0; q < b->k; q++) {
            double sum = 0, size = 1e-300;
            for (int i = 0; i < a->rows; i++) {
                double term = da[(int64_t)i * a->k + p] * db[(int64_t)i * b->k + q];
                sum += term;
                size += fabs(term);
            }
            most = fmax(most, fabs(g[p * b->k + q] - sum) / size);
        }
    ck_assert_double_le(most, tolerance(a->type, exact));
    free(g);
    free(da);
    free(db);
}

START_TEST(gram_matrices_equal_naive_sums)
{
    gcg_dtype type = _i < 2 ? GCG_FLOAT : GCG_DOUBLE;
    naive_rng g = naive_seed(1);
    for (int r = 0; r < COUNT_ROWS; r++)
        for (int p = 0; p < COUNT_COLS; p++)
            for (int q = 0; q < COUNT_COLS; q++) {
                gcg_factors a = naive_factors(&g, ROWS[r], COLS[p], type, 1);
                gcg_factors b = naive_factors(&g, ROWS[r], COLS[q], type, 1);
                check_gram(&a, &b, _i % 2);
                if (p == q) check_gram(&a, &a, _i % 2);
                gcg_factors_release(&a);
                gcg_factors_release(&b);
            }
}
END_TEST

static void check_times(naive_rng *g, int rows, int ka, int ko, gcg_dtype type, int exact, double beta)
{
    gcg_factors a = naive_factors(g, rows, ka, type, 1), out = naive_factors(g, rows, ko, type, 1);
    double *c = naive_normals(g, (int64_t)ka * ko), *da = naive_dense(&a), *before = naive_dense(&out);
    if (beta == 0)
        for (int i = 0; i < rows; i++)
            for (int q = 0; q < ko; q++) gcg_factors_set(&out, i, q, NAN); /* is not read */
    ck_assert_int_eq(gcg_tall_times(&a, c, beta, exact, &out, NULL), GCG_OK);
    double most = 0;
    for (int i = 0; i < rows; i++)
        for (int q = 0; q < ko; q++) {
            double sum = beta == 0 ? 0 : beta * before[(int64_t)i * ko + q], size = fabs(sum) + 1e-300;
            for (int p = 0; p < ka; p++) {
                double term = da[(int64_t)i * ka + p] * c[p * ko + q];
                sum += term;
                size += fabs(term);
            }
            double error = fabs(gcg_factors_get(&out, i, q) - sum) / size;
            most = error <= most ? most : error; /* keeps NaN */
        }
    double rounding = type == GCG_FLOAT ? exact ? 6e-8 : 2e-6 : 1e-14;
    ck_assert_msg(most <= rounding, "%d x %d times %d: error %g", rows, ka, ko, most);
    ck_assert(naive_padding_is_zero(&out));
    gcg_factors_release(&a);
    gcg_factors_release(&out);
    free(c);
    free(da);
    free(before);
}

START_TEST(products_equal_naive_sums)
{
    gcg_dtype type = _i < 2 ? GCG_FLOAT : GCG_DOUBLE;
    naive_rng g = naive_seed(2);
    for (int r = 0; r < COUNT_ROWS; r++)
        for (int p = 0; p < COUNT_COLS; p++)
            for (int q = 0; q < COUNT_COLS; q++) {
                check_times(&g, ROWS[r], COLS[p], COLS[q], type, _i % 2, BETAS[(r + p + q) % 3]);
            }
}
END_TEST

START_TEST(a_product_may_overwrite_its_factor)
{
    enum { ROWS_HERE = 1300 }; /* several blocks */
    gcg_dtype type = _i < 2 ? GCG_FLOAT : GCG_DOUBLE;
    double tiny = type == GCG_FLOAT ? 1e-5 : 1e-13;
    for (int ka = 1; ka <= 19; ka += 6)
        for (int ko = 0; ko <= ka; ko += ka > 3 ? 3 : 1) {
            naive_rng g = naive_seed(3);
            gcg_factors a = naive_factors(&g, ROWS_HERE, ka, type, 1), out = a;
            double *c = naive_normals(&g, ka * ko), *da = naive_dense(&a),
                   *want = naive_multiply(ROWS_HERE, ko, ka, da, 0, c, 0);
            out.k = ko;
            ck_assert_int_eq(gcg_tall_times(&a, c, 0, _i % 2, &out, NULL), GCG_OK);
            double *got = naive_dense(&out);
            ck_assert_double_le(naive_difference(ROWS_HERE * ko, got, want), tiny * ka);
            gcg_factors_release(&a);
            free(c);
            free(da);
            free(want);
            free(got);
        }
}
END_TEST

/* max |B'X| */
static double overlap(const gcg_factors *b, const gcg_factors *x)
{
    double *db = naive_dense(b), *dx = naive_dense(x), most = 0;
    double *g = naive_multiply(b->k, x->k, b->rows, db, 1, dx, 0);
    for (int e = 0; e < b->k * x->k; e++) most = fmax(most, fabs(g[e]));
    free(db);
    free(dx);
    free(g);
    return most;
}

/* max |X'X - I| */
static double distance_from_orthonormal(const gcg_factors *x)
{
    double *d = naive_dense(x), most = 0, *g = naive_multiply(x->k, x->k, x->rows, d, 1, d, 0);
    for (int e = 0; e < x->k * x->k; e++) most = fmax(most, fabs(g[e] - (e % (x->k + 1) == 0)));
    free(d);
    free(g);
    return most;
}

START_TEST(a_projection_leaves_nothing_of_the_basis)
{
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
        double tiny = type == GCG_FLOAT ? 1e-5 : 1e-13, weight[6];
        naive_rng g = naive_seed(4);
        gcg_factors b = naive_factors(&g, 700, 6, type, 1), x = naive_factors(&g, 700, 4, type, 1);
        ck_assert_int_eq(gcg_tall_orthonormalise(&b, 0, NULL, NULL), GCG_OK);
        double *before = naive_dense(&x), *basis = naive_dense(&b);
        ck_assert_int_eq(gcg_tall_project(&b, NULL, 2, &x, NULL), GCG_OK);
        ck_assert_double_le(overlap(&b, &x), tiny);
        double *c = naive_multiply(6, 4, 700, basis, 1, before, 0),
               *part = naive_multiply(700, 4, 6, basis, 0, c, 0);
        double *after = naive_dense(&x);
        for (int e = 0; e < 2800; e++) before[e] -= part[e];
        ck_assert_double_le(naive_difference(2800, before, after), tiny);
        /* the same with columns of length sqrt(s) and weights 1 / s */
        for (int q = 0; q < 6; q++) {
            weight[q] = 1 / (0.25 + q);
            for (int i = 0; i < 700; i++) gcg_factors_set(&b, i, q, basis[i * 6 + q] * sqrt(0.25 + q));
        }
        for (int i = 0; i < 700; i++)
            for (int q = 0; q < 4; q++) gcg_factors_set(&x, i, q, after[i * 4 + q] + part[i * 4 + q]);
        ck_assert_int_eq(gcg_tall_project(&b, weight, 2, &x, NULL), GCG_OK);
        ck_assert_double_le(overlap(&b, &x), 3 * tiny);
        free(before);
        free(basis);
        free(c);
        free(part);
        free(after);
        gcg_factors_release(&b);
        gcg_factors_release(&x);
    }
}
END_TEST

/* X is mostly in B's span: rounding of the old X is left by one round, of the new one by two. */
START_TEST(each_round_of_a_projection_leaves_rounding_of_what_it_began_with)
{
    const double size = 1e4;
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
        double unit = type == GCG_FLOAT ? 6e-8 : 1.2e-16, left[3], *first = NULL;
        for (int rounds = 0; rounds < 3; rounds++) {
            naive_rng g = naive_seed(10);
            gcg_factors b = naive_factors(&g, 700, 6, type, 1), x = naive_factors(&g, 700, 4, type, 1);
            ck_assert_int_eq(gcg_tall_orthonormalise(&b, 0, NULL, NULL), GCG_OK);
            for (int i = 0; i < 700; i++)
                for (int q = 0; q < 4; q++)
                    gcg_factors_set(&x, i, q,
                                    gcg_factors_get(&x, i, q) + size * gcg_factors_get(&b, i, (q + 1) % 6));
            double *before = naive_dense(&x);
            ck_assert_int_eq(gcg_tall_project(&b, NULL, rounds, &x, NULL), GCG_OK);
            double *after = naive_dense(&x);
            left[rounds] = overlap(&b, &x);
            if (rounds == 0) ck_assert_mem_eq(before, after, 2800 * sizeof *before);
            if (rounds == 1) first = after;
            if (rounds == 2) /* the second one changes rounding only */
                ck_assert_double_le(naive_difference(2800, first, after), 100 * unit * size);
            free(before);
            if (rounds != 1) free(after);
            gcg_factors_release(&b);
            gcg_factors_release(&x);
        }
        free(first);
        ck_assert_double_ge(left[0], size / 2);
        ck_assert(left[1] > 0 && left[1] <= 100 * unit * size);
        ck_assert_double_le(left[2], 1000 * unit);
        ck_assert_double_le(left[2], 0.1 * left[1]);
    }
}
END_TEST

/* QR with a positive diagonal is unique: Cholesky's basis is Gram's and Schmidt's. */
START_TEST(independent_columns_become_those_of_gram_and_schmidt)
{
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4)
        for (int k = 1; k <= 33; k += 8) {
            double tiny = type == GCG_FLOAT ? 2e-6 : 1e-13, smallest, least = INFINITY;
            naive_rng g = naive_seed((uint64_t)(11 + k));
            gcg_factors x = naive_factors(&g, 800, k, type, 0.01);
            double *a = naive_dense(&x);
            for (int q = 0; q < k; q++)
                for (int round = 0; round < 2; round++) {
                    double norm = 0;
                    for (int p = 0; p < q; p++) {
                        double dot = 0;
                        for (int i = 0; i < 800; i++) dot += a[i * k + p] * a[i * k + q];
                        for (int i = 0; i < 800; i++) a[i * k + q] -= dot * a[i * k + p];
                    }
                    for (int i = 0; i < 800; i++) norm += a[i * k + q] * a[i * k + q];
                    for (int i = 0; i < 800; i++) a[i * k + q] /= sqrt(norm);
                    if (round == 0) least = fmin(least, norm);
                }
            ck_assert_int_eq(gcg_tall_orthonormalise(&x, 0.2 * least, &smallest, NULL), GCG_OK);
            ck_assert_int_eq(x.k, k);
            double *got = naive_dense(&x);
            ck_assert_double_le(naive_difference(800 * k, a, got), tiny);
            ck_assert_double_eq_tol(smallest, least, 10 * tiny * least);
            ck_assert_double_le(distance_from_orthonormal(&x), tiny);
            free(a);
            free(got);
            gcg_factors_release(&x);
        }
}
END_TEST

/* The last of 5 columns is the sum of the others and `part` times something new: from where Cholesky does to
 * where eigenvectors have to. */
static void check_nearly_dependent(gcg_dtype type, double part, double least_part)
{
    enum { N = 900, K = 5 };
    double unit = type == GCG_FLOAT ? 6e-8 : 1.2e-16, smallest, values[K];
    naive_rng g = naive_seed(12);
    gcg_factors x = naive_factors(&g, N, K, type, 1), original;
    for (int i = 0; i < N; i++) {
        double sum = part * gcg_factors_get(&x, i, K - 1);
        for (int q = 0; q + 1 < K; q++) sum += gcg_factors_get(&x, i, q);
        gcg_factors_set(&x, i, K - 1, sum);
    }
    double *a = naive_dense(&x);
    naive_svd(N, K, a, values, NULL, NULL);
    double least = least_part * values[K - 1] * values[K - 1];
    ck_assert_int_eq(gcg_factors_copy(&x, type, &original, NULL), GCG_OK);
    ck_assert_int_eq(gcg_tall_orthonormalise(&x, least, &smallest, NULL), GCG_OK);
    int kept = x.k; /* just below `least` Cholesky's pivots may say that there is more */
    ck_assert_msg(least_part < 1 ? kept == K : kept == K - 1 || (least_part < 5 && smallest > least),
                  "part %g, least %g: %d columns", part, least_part, kept);
    ck_assert_double_le(distance_from_orthonormal(&x), 100 * unit);
    ck_assert(naive_padding_is_zero(&x));
    double exact = values[kept - 1] * values[kept - 1], column = 1.2 * N; /* a column's squared norm */
    ck_assert_double_ge(smallest, exact * (1 - 1e-4));
    ck_assert_double_le(smallest, column);
    /* what is left of the old columns: the dropped direction, and rounding */
    double norm;
    ck_assert_int_eq(gcg_tall_project(&x, NULL, 2, &original, NULL), GCG_OK);
    ck_assert_int_eq(gcg_tall_square_norm(&original, &norm, NULL), GCG_OK);
    double dropped = kept < K ? values[K - 1] : 0;
    ck_assert_double_le(sqrt(norm), dropped * (1 + 1e-4) + 1000 * unit * values[0]);
    free(a);
    gcg_factors_release(&x);
    gcg_factors_release(&original);
}

START_TEST(nearly_dependent_columns_become_orthonormal_with_the_same_span)
{
    static const double least_parts[] = {0, 0.1, 0.3, 0.9, 1.1, 10};
    for (int l = 0; l < 6; l++)
        for (double part = l < 5 ? 1 : 0.1; part > 1e-5; part /= 3) {
            check_nearly_dependent(GCG_DOUBLE, part, least_parts[l]);
            if (part > 1e-3) check_nearly_dependent(GCG_FLOAT, part, least_parts[l]);
        }
}
END_TEST

START_TEST(an_orthonormal_basis_has_the_same_span)
{
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4) {
        double tiny = type == GCG_FLOAT ? 2e-6 : 1e-12, smallest;
        naive_rng g = naive_seed(5);
        gcg_factors x = naive_factors(&g, 900, 7, type, 1), original;
        for (int i = 0; i < 900; i++) { /* 0, 1, 2 at very different scales, 5 = 3 + 4, 6 = 0 */
            gcg_factors_set(&x, i, 1, 1e-2 * gcg_factors_get(&x, i, 1));
            gcg_factors_set(&x, i, 5, gcg_factors_get(&x, i, 3) + gcg_factors_get(&x, i, 4));
            gcg_factors_set(&x, i, 6, 0);
        }
        ck_assert_int_eq(gcg_factors_copy(&x, type, &original, NULL), GCG_OK);
        ck_assert_int_eq(gcg_tall_orthonormalise(&x, 0, &smallest, NULL), GCG_OK);
        ck_assert_int_eq(x.k, 5);
        ck_assert(naive_padding_is_zero(&x));
        ck_assert_double_le(distance_from_orthonormal(&x), tiny);
        ck_assert_double_eq_tol(smallest, 0.09, 0.02); /* 900 * 1e-4 */
        ck_assert_int_eq(gcg_tall_project(&x, NULL, 2, &original, NULL), GCG_OK);
        double norm;
        ck_assert_int_eq(gcg_tall_square_norm(&original, &norm, NULL), GCG_OK);
        ck_assert_double_le(norm, 5000 * tiny * tiny * 100);
        gcg_factors_release(&x);
        gcg_factors_release(&original);
    }
}
END_TEST

START_TEST(short_directions_are_dropped_on_request)
{
    naive_rng g = naive_seed(6);
    gcg_factors x = naive_factors(&g, 100, 3, GCG_DOUBLE, 1);
    double smallest;
    for (int i = 0; i < 100; i++) gcg_factors_set(&x, i, 2, 1e-4 * gcg_factors_get(&x, i, 2));
    ck_assert_int_eq(gcg_tall_orthonormalise(&x, 1e-3, &smallest, NULL), GCG_OK);
    ck_assert_int_eq(x.k, 2);
    ck_assert_double_gt(smallest, 10);
    ck_assert_int_eq(gcg_tall_orthonormalise(&x, 2, &smallest, NULL), GCG_OK);
    ck_assert_int_eq(x.k, 0);
    ck_assert_int_eq(gcg_tall_orthonormalise(&x, 0, &smallest, NULL), GCG_OK);
    ck_assert_int_eq(x.k, 0);
    gcg_factors_release(&x);
    gcg_factors zero = naive_factors(&g, 100, 3, GCG_FLOAT, 0);
    ck_assert_int_eq(gcg_tall_orthonormalise(&zero, 0, NULL, NULL), GCG_OK);
    ck_assert_int_eq(zero.k, 0);
    ck_assert_int_eq(gcg_tall_project(&zero, NULL, 2, &zero, NULL), GCG_OK); /* no columns: nothing to do */
    gcg_factors_release(&zero);
}
END_TEST

START_TEST(square_norms_and_cuts)
{
    naive_rng g = naive_seed(7);
    gcg_factors x = naive_factors(&g, 5000, 20, GCG_FLOAT, 1);
    double norm, want = 0;
    ck_assert_int_eq(gcg_tall_square_norm(&x, &norm, NULL), GCG_OK);
    for (int i = 0; i < 5000; i++)
        for (int q = 0; q < 20; q++) want += pow(gcg_factors_get(&x, i, q), 2);
    ck_assert_double_eq_tol(norm, want, 1e-5 * want);
    double kept = gcg_factors_get(&x, 17, 2);
    gcg_tall_cut(&x, 3);
    ck_assert_int_eq(x.k, 3);
    ck_assert_int_eq(x.stride, 32);
    ck_assert(naive_padding_is_zero(&x));
    ck_assert_double_eq(gcg_factors_get(&x, 17, 2), kept);
    gcg_factors_release(&x);
}
END_TEST

START_TEST(results_are_the_same_bytes_at_1_and_7_threads)
{
    for (gcg_dtype type = GCG_FLOAT; type <= GCG_DOUBLE; type += 4)
        for (int exact = 0; exact < 2; exact++) {
            double gram[2][9 * 9];
            gcg_factors out[2];
            for (int t = 0; t < 2; t++) {
                naive_rng g = naive_seed(8);
                gcg_par_set_threads(t ? 7 : 1);
                gcg_factors a = naive_factors(&g, 20011, 9, type, 1);
                ck_assert_int_eq(gcg_tall_gram(&a, &a, exact, gram[t], NULL), GCG_OK);
                ck_assert_int_eq(gcg_factors_init(&out[t], 20011, 9, type, NULL), GCG_OK);
                ck_assert_int_eq(gcg_tall_times(&a, gram[t], 0, exact, &out[t], NULL), GCG_OK);
                gcg_factors_release(&a);
            }
            ck_assert_mem_eq(gram[0], gram[1], sizeof gram[0]);
            ck_assert_mem_eq(out[0].data, out[1].data, 20011u * 16 * type);
            gcg_factors_release(&out[0]);
            gcg_factors_release(&out[1]);
        }
}
END_TEST

/* Each call with small factors, by number. */
static gcg_status call_one(void *ctx)
{
    int which = *(int *)ctx;
    naive_rng g = naive_seed(9);
    double c[16];
    gcg_status status = GCG_OK;
    gcg_factors a = {0}, b = {0};
    gcg_dtype type = which < 6 ? GCG_FLOAT : GCG_DOUBLE;
    status = gcg_factors_init(&a, 20, 4, type, NULL);
    if (!status) status = gcg_factors_init(&b, 20, 4, type, NULL);
    for (int i = 0; i < 20 && !status; i++)
        for (int q = 0; q < 4; q++) {
            gcg_factors_set(&a, i, q, naive_normal(&g));
            gcg_factors_set(&b, i, q, naive_normal(&g));
        }
    for (int e = 0; e < 16; e++) c[e] = e;
    if (!status) switch (which % 6) {
        case 0:
            status = gcg_tall_gram(&a, &b, 1, c, NULL);
            break;
        case 1:
            status = gcg_tall_times(&a, c, 0, 1, &b, NULL);
            break;
        case 2:
            status = gcg_tall_times(&a, c, 0, 0, &b, NULL);
            break;
        case 3:
            status = gcg_tall_project(&a, NULL, 2, &b, NULL);
            break;
        case 4:
            status = gcg_tall_orthonormalise(&a, 0, NULL, NULL);
            break;
        default:
            status = gcg_tall_square_norm(&a, c, NULL);
            break;
        }
    gcg_factors_release(&a);
    gcg_factors_release(&b);
    return status;
}

START_TEST(out_of_memory_is_told_at_every_allocation)
{
    for (int which = 0; which < 12; which++)
        ck_assert_int_ge(naive_fail_each_allocation(call_one, &which), 2);
}
END_TEST

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("tall");
    TCase *tests = tcase_create("tall matrices");
    tcase_add_loop_test(tests, gram_matrices_equal_naive_sums, 0, 4);
    tcase_add_loop_test(tests, products_equal_naive_sums, 0, 4);
    tcase_add_loop_test(tests, a_product_may_overwrite_its_factor, 0, 4);
    tcase_add_test(tests, a_projection_leaves_nothing_of_the_basis);
    tcase_add_test(tests, each_round_of_a_projection_leaves_rounding_of_what_it_began_with);
    tcase_add_test(tests, independent_columns_become_those_of_gram_and_schmidt);
    tcase_add_test(tests, nearly_dependent_columns_become_orthonormal_with_the_same_span);
    tcase_add_test(tests, an_orthonormal_basis_has_the_same_span);
    tcase_add_test(tests, short_directions_are_dropped_on_request);
    tcase_add_test(tests, square_norms_and_cuts);
    tcase_add_test(tests, results_are_the_same_bytes_at_1_and_7_threads);
    tcase_add_test(tests, out_of_memory_is_told_at_every_allocation);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
