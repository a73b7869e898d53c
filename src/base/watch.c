/* Time limits, requests to stop, progress: see watch.h. */
#include "base/watch.h"

#include <math.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/interrupt.h"

gcg_watch gcg_watch_defaults(void)
{
    return (gcg_watch){.deadline = INFINITY, .to = 1};
}

static void tell(const gcg_watch *w, double done)
{
    if (w->tell && w->phase) w->tell(w->phase, done, w->user);
}

void gcg_watch_phase(gcg_watch *w, const char *phase)
{
    if (!w) return;
    w->phase = phase;
    gcg_watch_part(w, 0, 1);
    tell(w, NAN);
}

void gcg_watch_part(gcg_watch *w, double from, double to)
{
    if (!w) return;
    w->from = from;
    w->to = to;
}

int gcg_watch_step(gcg_watch *w, double done)
{
    if (!w) return 0;
    tell(w, w->from + (w->to - w->from) * done);
    return gcg_watch_over(w);
}

int gcg_watch_over(gcg_watch *w)
{
    if (!w) return 0;
    if (gcg_watch_passed(w)) w->over = 1;
    return w->over;
}

int gcg_watch_passed(const gcg_watch *w)
{
    if (!w) return 0;
    return w->over || (!w->deaf && gcg_interrupt_requested()) ||
           (w->deadline < INFINITY && gcg_clock_now() >= w->deadline);
}

double gcg_watch_left(const gcg_watch *w)
{
    return w && w->deadline < INFINITY ? w->deadline - gcg_clock_now() : INFINITY;
}

void gcg_watch_extend(gcg_watch *w, double seconds)
{
    if (!w) return;
    w->deadline = gcg_clock_now() + seconds;
    w->deaf = 1;
    w->over = 0;
}
