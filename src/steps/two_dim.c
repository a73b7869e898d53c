/* The (eta, theta) step: see two_dim.h. */
#include "steps/two_dim.h"

static double value(double A, double B, double C, double p, double q, double al, double th)
{
    return 0.5 * (A * al * al + 2 * C * al * th + B * th * th) - p * al - q * th;
}

static double positive(double numerator, double denominator)
{
    return denominator > 0 && numerator > 0 ? numerator / denominator : 0;
}

gcg_two_dim_step gcg_two_dim(double A, double B, double C, double p, double q)
{
    double det = A * B - C * C;
    if (det > 1e-14 * A * B) { /* else a and b are parallel to rounding: an edge holds a minimum */
        double al = (p * B - q * C) / det, th = (q * A - p * C) / det;
        if (al >= 0 && al <= 1 && th >= 0)
            return (gcg_two_dim_step){1 - al, th, value(A, B, C, p, q, al, th)};
    }
    double edge_al = positive(p, A);
    if (A <= 0 && p > 0) edge_al = 1; /* linear and falling */
    if (edge_al > 1) edge_al = 1;
    const double points[3][2] = {{0, positive(q, B)}, {1, positive(q - C, B)}, {edge_al, 0}};
    gcg_two_dim_step best = {1 - points[0][0], points[0][1],
                             value(A, B, C, p, q, points[0][0], points[0][1])};
    for (int i = 1; i < 3; i++) {
        double phi = value(A, B, C, p, q, points[i][0], points[i][1]);
        if (phi < best.phi) best = (gcg_two_dim_step){1 - points[i][0], points[i][1], phi};
    }
    return best;
}
