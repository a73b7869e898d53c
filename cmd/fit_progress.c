/* The progress line of fit and the times by phase: see fit.h. The line is for a terminal only and stands in
 * no file. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/fit.h"
#include "cmd/report.h"

static const double REDRAW = 0.1; /* seconds between two lines */

/* ---- the line ---- */

enum { COLUMNS = 80 };

/* One less than the terminal has, for a line that wraps cannot be rewritten. */
static int room(void)
{
    struct winsize size;
    int known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (known && size.ws_col < COLUMNS ? size.ws_col : COLUMNS) - 1;
}

/* Appends as a whole, or not at all where there is no room left. */
static void add(char line[COLUMNS], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char line[COLUMNS], const char *format, ...)
{
    char text[COLUMNS];
    size_t length = strlen(line);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= 0 && n < COLUMNS && length + (size_t)n <= (size_t)room())
        memcpy(line + length, text, (size_t)n + 1);
}

static void add_left(char line[COLUMNS], double seconds)
{
    const double minute = 60, hour = 3600;
    if (isnan(seconds)) return;
    if (seconds < 2 * minute)
        add(line, ", %.0f s left", ceil(seconds));
    else if (seconds < 2 * hour)
        add(line, ", %.0f min left", seconds / minute);
    else
        add(line, ", %.1f h left", seconds / hour);
}

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

/* In the order of what matters: what finds no room is left out. */
static void show(fit_log *log, double done)
{
    char line[COLUMNS] = "";
    double now = gcg_clock_now();
    if (!log->progress_line || !log->times.now) return;
    if (log->pace.iter >= 0) add(line, "iteration %" PRId64 ", ", log->pace.iter);
    add(line, "%s", log->times.now);
    if (done >= 0 && done <= 1) add(line, " %.0f %%", 100 * done);
    add_left(line, fit_progress_left(&log->pace, log->s->gap, now));
    for (const char *p = log->pace.figures; *p; p += strcspn(p, "\t") + 1)
        add(line, "  %.*s", (int)strcspn(p, "\t"), p);
    fprintf(stderr, "\r\033[K%s", line);
    report_say.line = 1;
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
