/* Line 4 of Algorithm 3: the (eta, theta) step (PAPER.md sec. 4.4). */
#ifndef GCG_STEPS_TWO_DIM_H
#define GCG_STEPS_TWO_DIM_H

typedef struct {
    double eta, theta; /* W <- (1 - eta) W + theta u v' */
    double phi;        /* value of the quadratic at the minimum, without the constant 1/2 x.x */
} gcg_two_dim_step;

/* Minimises phi(al, th) = 1/2 (A al^2 + 2 C al th + B th^2) - p al - q th over 0 <= al <= 1, th >= 0, al = 1
 * - eta, exactly. With a = P(W), b = P(u v'), x = P(X): A = a.a, B = b.b, C = a.b, p = a.x - lambda rho, q =
 * b.x - lambda. */
gcg_two_dim_step gcg_two_dim(double A, double B, double C, double p, double q);

#endif
