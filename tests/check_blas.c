/* base/blas against naive loops. */
#include "tests/naive.h"

#include "base/blas.h"

START_TEST(products_equal_naive_ones_in_every_transposition)
{
    enum { M = 5, N = 4, K = 3, PAD = 2 };
    naive_rng g = naive_seed(1);
    for (int ta = 0; ta < 2; ta++)
        for (int tb = 0; tb < 2; tb++) {
            int lda = (ta ? M : K) + PAD, ldb = (tb ? K : N) + PAD, ldc = N + PAD;
            double *a = naive_normals(&g, 64), *b = naive_normals(&g, 64), *c = naive_normals(&g, 64);
            float af[64], bf[64], cf[64];
            double want[64];
            for (int e = 0; e < 64; e++) af[e] = (float)a[e], bf[e] = (float)b[e], cf[e] = (float)c[e];
            memcpy(want, c, sizeof want);
            for (int i = 0; i < M; i++)
                for (int j = 0; j < N; j++) {
                    double sum = 0;
                    for (int q = 0; q < K; q++)
                        sum +=
                            (ta ? a[q * lda + i] : a[i * lda + q]) * (tb ? b[j * ldb + q] : b[q * ldb + j]);
                    want[i * ldc + j] = 1.5 * sum + 0.5 * c[i * ldc + j];
                }
            gcg_blas_dgemm(ta, tb, M, N, K, 1.5, a, lda, b, ldb, 0.5, c, ldc);
            gcg_blas_sgemm(ta, tb, M, N, K, 1.5f, af, lda, bf, ldb, 0.5f, cf, ldc);
            ck_assert_double_le(naive_difference(64, c, want), 1e-14);
            for (int e = 0; e < 64; e++) ck_assert_double_eq_tol((double)cf[e], want[e], 1e-5);
            free(a);
            free(b);
            free(c);
        }
}
END_TEST

START_TEST(products_without_rows_or_inner_columns_are_fine)
{
    double one = 1, c[2] = {3, 4};
    float one_f = 1, c_f[2] = {3, 4};
    gcg_blas_dgemm(0, 0, 0, 2, 1, 1, &one, 1, &one, 2, 0, c, 2);
    gcg_blas_sgemm(0, 0, 1, 0, 1, 1, &one_f, 1, &one_f, 1, 0, c_f, 1);
    ck_assert(c[0] == 3 && c_f[0] == 3);
    gcg_blas_dgemm(0, 0, 1, 2, 0, 1, &one, 0, &one, 2, 2, c, 2); /* C = 2 C */
    gcg_blas_sgemm(0, 0, 1, 2, 0, 1, &one_f, 0, &one_f, 2, 0, c_f, 2);
    ck_assert(c[0] == 6 && c[1] == 8 && c_f[0] == 0 && c_f[1] == 0);
}
END_TEST

START_TEST(symmetric_products_write_the_upper_triangle_only)
{
    enum { N = 7, PAD = 3 };
    naive_rng g = naive_seed(6);
    for (int k = 0; k <= 9; k += 3)
        for (int n = 0; n <= N; n++)
            for (int b = 0; b < 3; b++) {
                int lda = n + PAD;
                double beta = b == 2 ? -1.5 : b, c[N * N], *a = naive_normals(&g, k * lda + 1);
                float af[9 * (N + PAD) + 1], cf[N * N];
                for (int e = 0; e < k * lda; e++) af[e] = (float)a[e];
                for (int e = 0; e < n * n; e++) cf[e] = (float)(c[e] = beta == 0 ? NAN : e + 0.5);
                gcg_blas_dsyrk(n, k, 1, a, lda, beta, c, n);
                gcg_blas_ssyrk(n, k, af, lda, (float)beta, cf);
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++) {
                        double old = i * n + j + 0.5, want = beta * old;
                        for (int q = 0; q < k; q++) want += a[q * lda + i] * a[q * lda + j];
                        if (j < i && beta == 0) { /* below nothing is written */
                            ck_assert(isnan(c[i * n + j]) && isnan(cf[i * n + j]));
                        } else if (j < i) {
                            ck_assert(c[i * n + j] == old && (double)cf[i * n + j] == old);
                        } else {
                            ck_assert_double_eq_tol(c[i * n + j], want, 1e-13);
                            ck_assert_double_eq_tol((double)cf[i * n + j], want, 1e-4);
                        }
                    }
                free(a);
            }
}
END_TEST

START_TEST(vector_functions_equal_naive_ones)
{
    naive_rng g = naive_seed(2);
    double *a = naive_normals(&g, 12), x[4] = {1, -2, 3, 0.5}, y[4] = {1, 1, 1, 1}, z[3] = {2, 2, 2};
    gcg_blas_dgemv(0, 3, 4, 2, a, 4, x, 0.5, z);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(
            z[i], 1 + 2 * (a[4 * i] - 2 * a[4 * i + 1] + 3 * a[4 * i + 2] + 0.5 * a[4 * i + 3]), 1e-13);
    double w[3] = {1, 2, -1};
    gcg_blas_dgemv(1, 3, 4, 1, a, 4, w, 1, y);
    for (int j = 0; j < 4; j++) ck_assert_double_eq_tol(y[j], 1 + a[j] + 2 * a[4 + j] - a[8 + j], 1e-13);
    ck_assert_double_eq_tol(gcg_blas_ddot(4, x, x), 14.25, 1e-14);
    ck_assert_double_eq_tol(gcg_blas_dnrm2(4, x), sqrt(14.25), 1e-14);
    gcg_blas_daxpy(3, 2, w, z);
    gcg_blas_dscal(3, -1, w);
    ck_assert(w[0] == -1 && w[1] == -2 && w[2] == 1);
    free(a);
}
END_TEST

static double *symmetric(naive_rng *g, int n)
{
    double *a = naive_normals(g, n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
    return a;
}

START_TEST(eigenvectors_stand_in_rows_with_ascending_values)
{
    naive_rng g = naive_seed(3);
    for (int n = 1; n <= 30; n += 7) {
        double *a = symmetric(&g, n), *z = naive_alloc((size_t)(n * n), sizeof *z),
               *values = naive_normals(&g, n);
        memcpy(z, a, (size_t)(n * n) * sizeof *z);
        ck_assert_int_eq(gcg_blas_eigen(n, z, values, NULL), GCG_OK);
        for (int e = 0; e < n; e++) {
            if (e > 0) ck_assert_double_ge(values[e], values[e - 1]);
            for (int i = 0; i < n; i++) {
                double az = 0;
                for (int j = 0; j < n; j++) az += a[i * n + j] * z[e * n + j];
                ck_assert_double_eq_tol(az, values[e] * z[e * n + i], 1e-12);
            }
        }
        double *gram = naive_multiply(n, n, n, z, 0, z, 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) ck_assert_double_eq_tol(gram[i * n + j], i == j, 1e-12);
        free(a);
        free(z);
        free(values);
        free(gram);
    }
    ck_assert_int_eq(gcg_blas_eigen(0, NULL, NULL, NULL), GCG_OK);
}
END_TEST

START_TEST(singular_values_equal_jacobis)
{
    static const int shapes[][2] = {{1, 1}, {7, 3}, {3, 7}, {6, 6}, {1, 5}, {5, 1}};
    naive_rng g = naive_seed(4);
    for (int x = 0; x < 6; x++) {
        int m = shapes[x][0], n = shapes[x][1], r = m < n ? m : n;
        double *a = naive_normals(&g, m * n), *copy = naive_alloc((size_t)(m * n), sizeof *copy), s[7],
               want[7], u[49], vt[49];
        memcpy(copy, a, (size_t)(m * n) * sizeof *copy);
        naive_svd(m, n, a, want, NULL, NULL);
        ck_assert_int_eq(gcg_blas_svd(m, n, copy, s, u, vt, NULL), GCG_OK);
        ck_assert_double_le(naive_difference(r, s, want), 1e-13);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int q = 0; q < r; q++) sum += u[i * r + q] * s[q] * vt[q * n + j];
                ck_assert_double_eq_tol(sum, a[i * n + j], 1e-13);
            }
        free(a);
        free(copy);
    }
    ck_assert_int_eq(gcg_blas_svd(0, 3, NULL, NULL, NULL, NULL, NULL), GCG_OK);
}
END_TEST

START_TEST(cholesky_says_whether_a_matrix_is_positive_definite)
{
    naive_rng g = naive_seed(5);
    for (int n = 1; n <= 20; n++) {
        double *a = symmetric(&g, n), *z = naive_alloc((size_t)(n * n), sizeof *z),
               *values = naive_normals(&g, n);
        memcpy(z, a, (size_t)(n * n) * sizeof *z);
        ck_assert_int_eq(gcg_blas_eigen(n, z, values, NULL), GCG_OK);
        for (int sign = -1; sign <= 1; sign += 2) { /* least eigenvalue -1e-6, then 1e-6 */
            for (int i = 0; i < n * n; i++) z[i] = a[i] + (i % (n + 1) == 0) * (sign * 1e-6 - values[0]);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < i; j++) z[i * n + j] = 1e300; /* the lower triangle is not read */
            ck_assert_int_eq(gcg_blas_cholesky(n, z, n), sign > 0);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < i; j++) ck_assert_double_eq(z[i * n + j], 1e300);
        }
        free(a);
        free(z);
        free(values);
    }
    ck_assert_int_eq(gcg_blas_cholesky(0, NULL, 0), 1);
}
END_TEST

/* Cholesky by hand of a 2 x 2 block matrix: A = U'U, from its blocks in place. */
START_TEST(a_block_is_factored_and_solved_with_in_place)
{
    enum { N = 9, M = 4 };
    naive_rng g = naive_seed(6);
    double *b = naive_normals(&g, N * N), *a = naive_multiply(N, N, N, b, 1, b, 0), u[N * N];
    memcpy(u, a, sizeof u);
    ck_assert_int_eq(gcg_blas_cholesky(M, u, N), 1);
    gcg_blas_dtrsm(M, N - M, u, N, u + M, N);
    gcg_blas_dsyrk(N - M, M, -1, u + M, N, 1, u + M * N + M, N);
    ck_assert_int_eq(gcg_blas_cholesky(N - M, u + M * N + M, N), 1);
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j++) {
            double sum = 0;
            for (int q = 0; q <= i; q++) sum += u[q * N + i] * u[q * N + j];
            ck_assert_double_eq_tol(sum, a[i * N + j], 1e-12 * a[0]);
            if (j > i) ck_assert_double_eq(u[j * N + i], a[j * N + i]); /* below: as it was */
        }
    free(a);
    free(b);
}
END_TEST

START_TEST(what_lapack_cannot_count_is_refused)
{
    gcg_err err;
    ck_assert_int_eq(gcg_blas_eigen(32767, NULL, NULL, &err), GCG_ERR_NOMEM);
    ck_assert_int_eq(gcg_blas_svd(23170, 1000000, NULL, NULL, NULL, NULL, &err), GCG_ERR_NOMEM);
    ck_assert_ptr_nonnull(strstr(err.text, "23170"));
}
END_TEST

START_TEST(a_matrix_that_is_not_finite_is_not_positive_definite)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int n = 1; n <= 100; n += 33)
        for (int b = 0; b < 3; b++)
            for (int where = 0; where < 4; where++) {
                double *a = naive_alloc((size_t)(n * n), sizeof *a);
                for (int i = 0; i < n; i++) a[i * n + i] = 2;
                a[where == 0 ? 0 : where == 1 ? n - 1 : where == 2 ? n / 2 * (n + 1) : n * n - 1] = bad[b];
                ck_assert_int_eq(gcg_blas_cholesky(n, a, n), 0);
                free(a);
            }
}
END_TEST

START_TEST(an_upper_triangle_times_its_inverse_is_the_identity)
{
    naive_rng g = naive_seed(7);
    for (int n = 0; n <= 40; n += n < 6 ? 1 : 17) {
        double *a = naive_normals(&g, n * n), *x = naive_alloc((size_t)(n * n), sizeof *x);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) a[i * n + j] *= j < i ? 0 : pow(10, i % 5 - 2) / (j > i ? n : 1);
            a[i * n + i] = fabs(a[i * n + i]) + pow(10, i % 5 - 2);
        }
        memcpy(x, a, (size_t)(n * n) * sizeof *x);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) x[i * n + j] = NAN; /* is not read, and becomes 0 */
        gcg_blas_invert_upper(n, x);
        double *left = naive_multiply(n, n, n, x, 0, a, 0);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                ck_assert_double_eq_tol(left[i * n + j], i == j, 1e-11);
                if (j < i) ck_assert_double_eq(x[i * n + j], 0);
            }
        free(a);
        free(x);
        free(left);
    }
}
END_TEST

/* For A + c I, positive definite, the eigenvalues are Jacobi's singular values. */
START_TEST(eigenvalues_alone_equal_jacobis)
{
    naive_rng g = naive_seed(8);
    for (int n = 1; n <= 40; n += 13) {
        double *a = symmetric(&g, n), *shifted = naive_alloc((size_t)(n * n), sizeof *shifted),
               *want = naive_normals(&g, n), *values = naive_normals(&g, n), shift = 4 * n;
        for (int e = 0; e < n * n; e++) shifted[e] = a[e] + (e % (n + 1) == 0) * shift;
        naive_svd(n, n, shifted, want, NULL, NULL);
        ck_assert_int_eq(gcg_blas_eigenvalues(n, a, values, NULL), GCG_OK);
        for (int q = 0; q < n; q++)
            ck_assert_double_eq_tol(values[q], want[n - 1 - q] - shift, 1e-13 * shift * n);
        free(a);
        free(shifted);
        free(want);
        free(values);
    }
    double zero[9] = {0}, values[3] = {7, 7, 7};
    ck_assert_int_eq(gcg_blas_eigenvalues(3, zero, values, NULL), GCG_OK);
    ck_assert(values[0] == 0 && values[1] == 0 && values[2] == 0);
    ck_assert_int_eq(gcg_blas_eigenvalues(0, NULL, NULL, NULL), GCG_OK);
}
END_TEST

START_TEST(tridiagonal_eigenvalues_have_their_closed_form)
{
    enum { N = 12 };
    for (int vectors = 0; vectors < 2; vectors++) {
        double d[N], e[N], z[N * N];
        for (int i = 0; i < N; i++) d[i] = 2, e[i] = -1;
        ck_assert_int_eq(gcg_blas_tridiagonal(N, d, e, vectors ? z : NULL, NULL), GCG_OK);
        for (int q = 0; q < N; q++) {
            double angle = 3.141592653589793 * (q + 1) / (N + 1), size = 0;
            ck_assert_double_eq_tol(d[q], 2 - 2 * cos(angle), 1e-13);
            for (int i = 0; vectors && i < N; i++) size += z[q * N + i] * sin((i + 1) * angle);
            if (vectors) ck_assert_double_eq_tol(fabs(size), sqrt((N + 1) / 2.0), 1e-12);
        }
    }
    ck_assert_int_eq(gcg_blas_tridiagonal(0, NULL, NULL, NULL, NULL), GCG_OK);
}
END_TEST

START_TEST(a_matrix_that_is_not_finite_is_an_error)
{
    double a[4] = {1, NAN, NAN, 1}, s[2], u[4], vt[4];
    gcg_err err;
    ck_assert_int_eq(gcg_blas_eigen(2, a, s, &err), GCG_ERR_INTERNAL);
    ck_assert_ptr_nonnull(strstr(err.text, "eigenproblem failed"));
    a[1] = a[2] = NAN;
    ck_assert_int_eq(gcg_blas_eigenvalues(2, a, s, &err), GCG_ERR_INTERNAL);
    ck_assert_ptr_nonnull(strstr(err.text, "eigenproblem failed"));
    a[1] = a[2] = NAN;
    ck_assert_int_eq(gcg_blas_svd(2, 2, a, s, u, vt, &err), GCG_ERR_INTERNAL);
    double d[2] = {NAN, 1}, e[2] = {1, 0};
    ck_assert_int_eq(gcg_blas_tridiagonal(2, d, e, NULL, &err), GCG_ERR_INTERNAL);
}
END_TEST

START_TEST(work_memory_is_reserved_or_its_lack_told)
{
    gcg_err err;
    ck_assert_int_eq(gcg_blas_reserve(1, &err), GCG_OK);
    ck_assert_int_eq(gcg_blas_reserve(3, &err), GCG_OK);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
    gcg_mem_fail_at(1);
    ck_assert_int_eq(gcg_blas_reserve(2, &err), GCG_ERR_NOMEM);
    ck_assert_ptr_nonnull(strstr(err.text, "work memory of BLAS"));
    gcg_mem_fail_at(0);
    double a[4] = {1, 2, 3, 4}, c[4]; /* and is usable after it */
    gcg_blas_dgemm(0, 0, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2);
    ck_assert(c[0] == 7 && c[3] == 22);
}
END_TEST

START_TEST(the_version_names_the_library)
{
    ck_assert_uint_gt(strlen(gcg_blas_version()), 3);
}
END_TEST

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("blas");
    TCase *tests = tcase_create("blas");
    tcase_add_test(tests, products_equal_naive_ones_in_every_transposition);
    tcase_add_test(tests, products_without_rows_or_inner_columns_are_fine);
    tcase_add_test(tests, symmetric_products_write_the_upper_triangle_only);
    tcase_add_test(tests, vector_functions_equal_naive_ones);
    tcase_add_test(tests, eigenvectors_stand_in_rows_with_ascending_values);
    tcase_add_test(tests, singular_values_equal_jacobis);
    tcase_add_test(tests, cholesky_says_whether_a_matrix_is_positive_definite);
    tcase_add_test(tests, a_block_is_factored_and_solved_with_in_place);
    tcase_add_test(tests, what_lapack_cannot_count_is_refused);
    tcase_add_test(tests, a_matrix_that_is_not_finite_is_not_positive_definite);
    tcase_add_test(tests, an_upper_triangle_times_its_inverse_is_the_identity);
    tcase_add_test(tests, eigenvalues_alone_equal_jacobis);
    tcase_add_test(tests, tridiagonal_eigenvalues_have_their_closed_form);
    tcase_add_test(tests, a_matrix_that_is_not_finite_is_an_error);
    tcase_add_test(tests, work_memory_is_reserved_or_its_lack_told);
    tcase_add_test(tests, the_version_names_the_library);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
