/* The progress line of fit and the times by phase: see fit.h. The line is for a terminal only and stands in
 * no file. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/fit.h"
#include "cmd/progress.h"
#include "cmd/report.h"

static const double REDRAW = 0.1; /* seconds between two lines */

/* ---- the line ---- */

double fit_progress_left(const fit_pace *pace, double wanted_gap, double now)
{
    const double most = 30 * 86400.0; /* longer is a guess of nothing */
    int last = pace->count - 1;
    double left = pace->deadline < INFINITY ? fmax(pace->deadline - now, 0) : NAN;
    if (last < 2 || !(pace->log_gap[last] < pace->log_gap[last - 1])) return left;
    double fall = (pace->log_gap[0] - pace->log_gap[last]) / (pace->at[last] - pace->at[0]);
    double by_gap = (pace->log_gap[last] - log(wanted_gap)) / fall - (now - pace->at[last]);
    if (!(fall > 0 && by_gap > 0 && by_gap < most)) return left;
    return fmin(by_gap, left); /* fmin: the number, where the other is NAN */
}

/* Reading has its own pace; later it is the gap's. */
static double time_left(const fit_log *log, double done, double now)
{
    if (log->pace.iter < 0 && strcmp(log->times.now, "reading") == 0)
        return progress_left(now - log->times.start, done);
    return fit_progress_left(&log->pace, log->s->gap, now);
}

/* In the order of what matters: what finds no room is left out. */
static void show(fit_log *log, double done)
{
    char line[PROGRESS_COLUMNS] = "";
    double now = gcg_clock_now();
    if (!log->progress_line || !log->times.now) return;
    if (log->pace.iter >= 0) progress_add(line, "iteration %" PRId64 ", ", log->pace.iter);
    progress_add(line, "%s", log->times.now);
    progress_add_bar(line, done);
    progress_add_left(line, time_left(log, done, now));
    for (const char *p = log->pace.figures; *p; p += strcspn(p, "\t") + 1)
        progress_add(line, "  %.*s", (int)strcspn(p, "\t"), p);
    progress_draw(line);
    log->shown = now;
}

void fit_log_clear(const fit_log *log)
{
    if (log->progress_line) report_clear_line();
}

void fit_log_deadline(fit_log *log, double seconds)
{
    log->pace.deadline = gcg_clock_now() + seconds;
}

void fit_progress_take(fit_log *to, const gcg_progress *p)
{
    fit_pace *pace = &to->pace;
    char valid[32] = "", test[32] = "";
    if (pace->count == FIT_PACE) {
        memmove(pace->at, pace->at + 1, (FIT_PACE - 1) * sizeof *pace->at);
        memmove(pace->log_gap, pace->log_gap + 1, (FIT_PACE - 1) * sizeof *pace->log_gap);
        pace->count--;
    }
    if (p->gap > 0) { /* not NAN, not reached */
        pace->at[pace->count] = gcg_clock_now();
        pace->log_gap[pace->count++] = log(p->gap);
    }
    pace->iter = p->iter;
    if (to->d->valid.given) snprintf(valid, sizeof valid, "valid %.5f\t", to->valid_rmse);
    if (to->d->test.given) snprintf(test, sizeof test, "test %.5f\t", to->test_rmse);
    snprintf(pace->figures, sizeof pace->figures, "gap %.1e\trank %" PRId32 "\t%s%sRMSE %.5f\t", p->gap,
             p->rank, valid, test, p->train_rmse);
    show(to, NAN);
}

/* ---- times by phase ---- */

static void add_time(fit_times *times, double now)
{
    for (int i = 0; times->now && i < FIT_PHASES; i++) {
        if (times->phase[i].name && strcmp(times->phase[i].name, times->now) != 0) continue;
        times->phase[i].name = times->now;
        times->phase[i].seconds += now - times->start;
        break;
    }
    times->start = now;
}

void fit_log_phase(const char *phase, double done, void *user)
{
    fit_log *log = user;
    double now = gcg_clock_now();
    if (phase != log->times.now) add_time(&log->times, now);
    log->times.now = phase;
    if (now - log->shown >= REDRAW) show(log, done);
}
