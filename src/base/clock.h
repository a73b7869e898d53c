/* Wall-clock seconds from a fixed point in the past (monotonic). */
#ifndef GCG_BASE_CLOCK_H
#define GCG_BASE_CLOCK_H

double gcg_clock_now(void);

/* Tests: from now on `now` tells the time; NULL: the real one again. */
void gcg_clock_replace(double (*now)(void));

#endif
