/* Exact line search on a quartic. */
#ifndef GCG_STEPS_LINE_SEARCH_H
#define GCG_STEPS_LINE_SEARCH_H

/* phi(a) = c[0] + c[1] a + c[2] a^2 + c[3] a^3 + c[4] a^4 with c[1] < 0 and c[4] >= 0. Returns the smallest
 * positive root of phi' (closed form, polished by Newton), or 0 when there is none (phi falls for ever) or no
 * descent at it. *value becomes phi there. */
double gcg_line_search_quartic(const double c[5], double *value);

#endif
