/* Exact quartic line search: see line_search.h. The squared loss along U + a dU, V + a dV is such a quartic
 * (SOLVER.md sec. 5). */
#include "steps/line_search.h"

#include <math.h>

/* Real roots of x^3 + b x^2 + c x + d, in any order; returns how many. */
static int cubic_roots(double b, double c, double d, double x[3])
{
    double shift = b / 3, p = c - b * shift, q = shift * (2 * shift * shift - c) + d;
    double half = q / 2, third = p / 3, discriminant = half * half + third * third * third;
    if (discriminant > 0) { /* one real root, by the branch without cancellation */
        double root = cbrt(-half - copysign(sqrt(discriminant), half));
        x[0] = (root != 0 ? root - third / root : 0) - shift;
        return 1;
    }
    double radius = sqrt(-third > 0 ? -third : 0), r3 = radius * radius * radius;
    double angle = r3 > 0 ? acos(fmax(-1, fmin(1, -half / r3))) : 0;
    const double turn = 2.0943951023931953; /* 2 pi / 3 */
    for (int i = 0; i < 3; i++) x[i] = 2 * radius * cos(angle / 3 - i * turn) - shift;
    return 3;
}

static double phi(const double c[5], double a)
{
    return c[0] + a * (c[1] + a * (c[2] + a * (c[3] + a * c[4])));
}

/* Newton's method on phi' from a; stays where it is when a step would leave the positive axis. */
static double polish(const double c[5], double a)
{
    for (int i = 0; i < 4; i++) {
        double slope = c[1] + a * (2 * c[2] + a * (3 * c[3] + a * 4 * c[4]));
        double curvature = 2 * c[2] + a * (6 * c[3] + a * 12 * c[4]);
        if (!(curvature > 0)) break;
        double next = a - slope / curvature;
        if (!(next > 0) || fabs(next - a) > 0.5 * a) break;
        a = next;
    }
    return a;
}

double gcg_line_search_quartic(const double c[5], double *value)
{
    double roots[3], best = 0;
    int count = 0;
    *value = c[0];
    double c1 = c[1], c2 = 2 * c[2], c3 = 3 * c[3], c4 = 4 * c[4];
    /* scaled so that the step is about 1: the size of d must not matter */
    double unit = c2 > 0 ? -c1 / c2 : c4 > 0 ? cbrt(-c1 / c4) : 1;
    if (!(unit > 0) || !isfinite(unit)) return 0;
    double s2 = c2 * unit, s3 = c3 * unit * unit, s4 = c4 * unit * unit * unit;
    double largest = fmax(fabs(c1), fmax(fabs(s2), fabs(s3)));
    if (s4 > 1e-12 * largest) {
        count = cubic_roots(s3 / s4, s2 / s4, c1 / s4, roots);
    } else if (fabs(s3) > 1e-12 * largest) {
        double discriminant = s2 * s2 - 4 * s3 * c1;
        if (discriminant >= 0) {
            double t = -0.5 * (s2 + copysign(sqrt(discriminant), s2));
            roots[count++] = t / s3;
            if (t != 0) roots[count++] = c1 / t;
        }
    } else if (s2 > 0) {
        roots[count++] = -c1 / s2;
    }
    for (int i = 0; i < count; i++)
        if (roots[i] > 0 && (best == 0 || roots[i] < best)) best = roots[i];
    if (best == 0) return 0;
    best = polish(c, best * unit);
    double there = phi(c, best);
    if (!(there <= c[0])) return 0;
    *value = there;
    return best;
}
