/* steps/two_dim against exact fractions (../shared) and dense sampling. */
#include "tests/naive.h"

#include "steps/two_dim.h"

static double value(const double c[5], double al, double th)
{
    return 0.5 * (c[0] * al * al + 2 * c[2] * al * th + c[1] * th * th) - c[3] * al - c[4] * th;
}

static gcg_two_dim_step solve(const double c[5])
{
    return gcg_two_dim(c[0], c[1], c[2], c[3], c[4]);
}

/* No point of a fine grid is lower, the step is feasible, and phi is its value. */
static void check_minimum(const double c[5])
{
    gcg_two_dim_step s = solve(c);
    double size = 1 + fabs(c[0]) + fabs(c[1]) + fabs(c[3]) + fabs(c[4]);
    ck_assert(s.eta >= 0 && s.eta <= 1 && s.theta >= 0 && isfinite(s.theta));
    ck_assert_double_eq_tol(s.phi, value(c, 1 - s.eta, s.theta), 1e-12 * size * (1 + s.theta * s.theta));
    double reach = 2 * s.theta + 3, least = INFINITY;
    for (int i = 0; i <= 100; i++)
        for (int j = 0; j <= 200; j++) least = fmin(least, value(c, i / 100.0, reach * j / 200.0));
    for (int i = -20; i <= 20; i++) /* and closer by */
        for (int j = -20; j <= 20; j++)
            least =
                fmin(least, value(c, fmin(1, fmax(0, 1 - s.eta + i * 1e-4)), fmax(0, s.theta + j * 1e-4)));
    ck_assert_double_le(s.phi, least + 1e-12 * size * (1 + s.theta * s.theta));
}

static void inner_products(naive_rng *g, int n, int parallel, double c[5])
{
    double *a = naive_normals(g, n), *b = naive_normals(g, n), *x = naive_normals(g, n);
    memset(c, 0, 5 * sizeof *c);
    for (int e = 0; e < n; e++) {
        if (parallel) b[e] = -0.7 * a[e];
        c[0] += a[e] * a[e];
        c[1] += b[e] * b[e];
        c[2] += a[e] * b[e];
        c[3] += a[e] * x[e] * 3;
        c[4] += b[e] * x[e] * 3;
    }
    c[3] -= naive_uniform(g);
    c[4] -= naive_uniform(g);
    free(a);
    free(b);
    free(x);
}

START_TEST(no_sampled_point_is_lower)
{
    naive_rng g = naive_seed(1);
    double c[5];
    for (int t = 0; t < 300; t++) {
        inner_products(&g, 2 + t % 5, 0, c);
        check_minimum(c);
    }
}
END_TEST

START_TEST(parallel_directions_are_no_trouble)
{
    naive_rng g = naive_seed(2);
    double c[5];
    for (int t = 0; t < 100; t++) {
        inner_products(&g, 1 + t % 4, 1, c);
        check_minimum(c);
    }
}
END_TEST

START_TEST(the_first_step_from_zero_has_its_closed_form)
{
    const double c[5] = {0, 2, 0, 0, 3}; /* W = 0: theta = (b.x - lambda) / b.b */
    gcg_two_dim_step s = solve(c);
    ck_assert_double_eq(s.theta, 1.5);
    ck_assert_double_eq(s.phi, -2.25);
    const double none[5] = {0, 2, 0, 0, -1}; /* the polar is below lambda: stay */
    ck_assert_double_eq(solve(none).theta, 0);
    ck_assert_double_eq(solve(none).phi, 0);
}
END_TEST

START_TEST(degenerate_quadratics_stay_finite)
{
    const double nothing[5] = {0};
    ck_assert_double_eq(solve(nothing).phi, 0);
    const double flat[5] = {0, 1, 0, 2, -1}; /* linear in al, falling */
    gcg_two_dim_step s = solve(flat);
    ck_assert(s.eta == 0 && s.theta == 0 && s.phi == -2);
    const double no_atom[5] = {4, 0, 0, 2, 0};
    s = solve(no_atom);
    ck_assert(s.eta == 0.5 && s.theta == 0 && s.phi == -0.5);
}
END_TEST

/* ---- ../shared/oracles/step2d.tsv ---- */

static const char ORACLE[] = "../shared/oracles/step2d.tsv";

static int split(char *line, char *field[], int most)
{
    int n = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *p = line; n < most; p++) {
        field[n++] = p;
        p += strcspn(p, "\t");
        if (!*p) break;
        *p = '\0';
    }
    return n;
}

static int vector(const char *text, double out[16])
{
    int n = 0;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) out[n++] = strtod(text, &end);
    return n;
}

START_TEST(the_step_equals_the_exact_fractions)
{
    FILE *file = fopen(ORACLE, "r");
    char line[4096], *f[20];
    int rows = 0;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || strncmp(line, "id", 2) == 0) continue;
        ck_assert_int_ge(split(line, f, 20), 18);
        double a[16], b[16], x[16], lambda = strtod(f[2], NULL), rho = strtod(f[3], NULL), c[5] = {0}, xx = 0;
        int n = vector(f[4], a);
        vector(f[5], b);
        vector(f[6], x);
        for (int e = 0; e < n; e++) {
            c[0] += a[e] * a[e], c[1] += b[e] * b[e], c[2] += a[e] * b[e];
            c[3] += a[e] * x[e], c[4] += b[e] * x[e], xx += x[e] * x[e];
        }
        c[3] -= lambda * rho;
        c[4] -= lambda;
        gcg_two_dim_step s = solve(c);
        ck_assert_msg(fabs(s.phi + 0.5 * xx - strtod(f[12], NULL)) <= 1e-13 * (1 + xx), "%s: phi %.17g", f[0],
                      s.phi + 0.5 * xx);
        if (strcmp(f[17], "yes") == 0) {
            ck_assert_double_eq_tol(s.eta, strtod(f[10], NULL), 1e-13);
            ck_assert_double_eq_tol(s.theta, strtod(f[11], NULL), 1e-13);
        }
        rows++;
    }
    ck_assert_int_ge(rows, 11);
    fclose(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("two_dim");
    TCase *tests = tcase_create("step");
    tcase_add_test(tests, no_sampled_point_is_lower);
    tcase_add_test(tests, parallel_directions_are_no_trouble);
    tcase_add_test(tests, the_first_step_from_zero_has_its_closed_form);
    tcase_add_test(tests, degenerate_quadratics_stay_finite);
    if (naive_has_file(ORACLE)) tcase_add_test(tests, the_step_equals_the_exact_fractions);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
