/* steps/line_search: quartics of known critical points, dense sampling. */
#include "tests/naive.h"

#include "steps/line_search.h"

static double phi(const double c[5], double a)
{
    return c[0] + a * (c[1] + a * (c[2] + a * (c[3] + a * c[4])));
}

/* phi' = lead (a - r) (a^2 - sum a + product), phi(0) = 1 */
static void from_roots(double lead, double r, double sum, double product, double c[5])
{
    c[0] = 1;
    c[1] = -lead * r * product;
    c[2] = lead * (product + r * sum) / 2;
    c[3] = -lead * (sum + r) / 3;
    c[4] = lead / 4;
}

static void expect_root(const double c[5], double want, double tolerance)
{
    double there, a = gcg_line_search_quartic(c, &there);
    ck_assert_msg(fabs(a - want) <= tolerance * want, "step %.17g, should be %.17g", a, want);
    ck_assert_double_eq_tol(there, phi(c, a), 1e-13 * (1 + fabs(phi(c, a))));
    ck_assert_double_le(there, c[0]);
}

START_TEST(one_real_root_is_found)
{
    naive_rng g = naive_seed(1);
    for (int t = 0; t < 3000; t++) {
        double r = 0.01 + 3 * naive_uniform(&g), p = 2 * naive_normal(&g), q = 0.01 + naive_uniform(&g), c[5];
        from_roots(0.1 + naive_uniform(&g), r, 2 * p, p * p + q * q, c);
        expect_root(c, r, 1e-9);
    }
}
END_TEST

START_TEST(the_smallest_positive_root_of_three_is_found)
{
    naive_rng g = naive_seed(2);
    for (int t = 0; t < 3000; t++) {
        double r = 0.05 + naive_uniform(&g), c[5];
        if (t % 2) { /* two more beyond it: the first minimum, though the last may be lower */
            double r2 = r + 0.05 + naive_uniform(&g), r3 = r2 + 0.05 + 2 * naive_uniform(&g);
            from_roots(1 + naive_uniform(&g), r, r2 + r3, r2 * r3, c);
        } else { /* two negative ones */
            double r2 = -0.01 - naive_uniform(&g), r3 = r2 - 0.01 - naive_uniform(&g);
            from_roots(1 + naive_uniform(&g), r, r2 + r3, r2 * r3, c);
        }
        expect_root(c, r, 1e-8);
    }
}
END_TEST

START_TEST(a_small_root_beside_large_ones_keeps_its_digits)
{
    naive_rng g = naive_seed(5);
    for (int t = 0; t < 1000; t++) {
        double r = pow(10, -4 * naive_uniform(&g)), r2 = -pow(10, 1 + 3 * naive_uniform(&g)), r3 = 2 * r2,
               c[5];
        from_roots(1, r, r2 + r3, r2 * r3, c);
        expect_root(c, r, 1e-14);
    }
}
END_TEST

/* The coefficients of 1/2 ||r - a b - a^2 c||^2 + lambda/2 ||x + a d||^2: what the solver asks. */
static void random_fit(naive_rng *g, int n, double lambda, double c[5])
{
    memset(c, 0, 5 * sizeof *c);
    for (int e = 0; e < n; e++) {
        double r = naive_normal(g), b = naive_normal(g), q = naive_normal(g), x = naive_normal(g),
               d = naive_normal(g);
        c[0] += 0.5 * r * r + 0.5 * lambda * x * x;
        c[1] += -r * b + lambda * x * d;
        c[2] += 0.5 * b * b - r * q + 0.5 * lambda * d * d;
        c[3] += b * q;
        c[4] += 0.5 * q * q;
    }
}

START_TEST(nothing_before_the_step_is_lower)
{
    naive_rng g = naive_seed(3);
    int tried = 0;
    for (int t = 0; t < 1000; t++) {
        double c[5], there;
        random_fit(&g, 1 + t % 6, t % 3 ? 0.1 : 0, c);
        if (c[1] >= 0) continue;
        double a = gcg_line_search_quartic(c, &there), slope = 0, size = fabs(c[1]);
        tried++;
        if (!(a > 0)) ck_abort_msg("no step");
        slope = c[1] + a * (2 * c[2] + a * (3 * c[3] + a * 4 * c[4]));
        size += a * (fabs(2 * c[2]) + a * (fabs(3 * c[3]) + a * 4 * c[4]));
        if (!(fabs(slope) <= 1e-10 * size)) ck_abort_msg("the slope at the step is %g of %g", slope, size);
        for (int i = 0; i <= 500; i++)
            if (phi(c, a * i / 500) < there - 1e-12 * (fabs(c[0]) + size * a))
                ck_abort_msg("lower at %g of the step", i / 500.0);
    }
    ck_assert_int_gt(tried, 300);
}
END_TEST

START_TEST(quadratics_and_cubics_have_their_closed_forms)
{
    const double quadratic[5] = {5, -3, 2, 0, 0};
    expect_root(quadratic, 0.75, 1e-14);
    const double cubic[5] = {0, -6, 0.5, 1.0 / 3, 0}; /* phi' = (a - 2)(a + 3) */
    expect_root(cubic, 2, 1e-13);
    const double falling_later[5] = {0, -6, 2.5, -1.0 / 3, 0}; /* phi' = -(a - 2)(a - 3) */
    expect_root(falling_later, 2, 1e-13);
    const double pure[5] = {0, -4, 0, 0, 1};
    expect_root(pure, 1, 1e-14);
    const double tiny_quartic[5] = {0, -1, 0.5, 0, 1e-20};
    expect_root(tiny_quartic, 1, 1e-14);
    const double well[5] = {0, -1e-3, -1, 0, 0.5}; /* nonconvex at 0 */
    double there, a = gcg_line_search_quartic(well, &there);
    ck_assert_double_eq_tol(a, 1.00025, 1e-5);
    ck_assert_double_le(there, -0.5);
}
END_TEST

START_TEST(there_is_no_step_where_phi_falls_for_ever_or_does_not_fall)
{
    static const double cases[][5] = {
        {1, -1, 0, 0, 0},    /* a line */
        {1, -1, -1, 0, 0},   /* falls faster */
        {1, -1, 0, -1, 0},   /* likewise */
        {1, 0, 1, 0, 1},     /* no slope */
        {1, 1, 1, 0, 1},     /* rises */
        {1, -1, 0.1, -1, 0}, /* phi' has no root */
        {1, NAN, 1, 0, 0},   {1, -INFINITY, 1, 0, 0},
    };
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        double there = -7;
        ck_assert_msg(gcg_line_search_quartic(cases[t], &there) == 0, "case %d", (int)t);
        ck_assert_double_eq(there, 1);
    }
}
END_TEST

START_TEST(the_size_of_the_direction_does_not_matter)
{
    naive_rng g = naive_seed(4);
    for (int t = 0; t < 300; t++) {
        double c[5], there, other;
        do random_fit(&g, 4, 0.1, c);
        while (c[1] >= 0);
        double a = gcg_line_search_quartic(c, &there);
        for (int e = -60; e <= 60; e += 15) { /* d times 2^e; exact */
            double d[5];
            for (int i = 0; i < 5; i++) d[i] = ldexp(c[i], i * e);
            double b = gcg_line_search_quartic(d, &other);
            if (!(fabs(ldexp(b, e) - a) <= 1e-9 * a))
                ck_abort_msg("scaled by 2^%d: %g, not %g", e, ldexp(b, e), a);
            if (!(fabs(other - there) <= 1e-12 * fabs(c[0])))
                ck_abort_msg("scaled by 2^%d: value %g", e, other);
        }
        for (int e = -60; e <= 60; e += 15) { /* phi times 2^e */
            double d[5];
            for (int i = 0; i < 5; i++) d[i] = ldexp(c[i], e);
            double b = gcg_line_search_quartic(d, &other);
            if (!(fabs(b - a) <= 1e-12 * a)) ck_abort_msg("phi times 2^%d: %g, not %g", e, b, a);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("line_search");
    TCase *tests = tcase_create("quartic");
    tcase_add_test(tests, one_real_root_is_found);
    tcase_add_test(tests, the_smallest_positive_root_of_three_is_found);
    tcase_add_test(tests, a_small_root_beside_large_ones_keeps_its_digits);
    tcase_add_test(tests, nothing_before_the_step_is_lower);
    tcase_add_test(tests, quadratics_and_cubics_have_their_closed_forms);
    tcase_add_test(tests, there_is_no_step_where_phi_falls_for_ever_or_does_not_fall);
    tcase_add_test(tests, the_size_of_the_direction_does_not_matter);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
