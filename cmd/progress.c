/* The progress line: see progress.h. */
#define _POSIX_C_SOURCE 200809L
#include "cmd/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "cmd/report.h"

static const double REDRAW = 0.1;   /* seconds between two lines */
static const double FIRST_LOOK = 1; /* seconds of work before its speed is taken for what is left */

/* The work that is told now; there is one at a time. */
static struct {
    const char *what;
    double start, shown;
    int has_rows; /* on standard output, which is a terminal */
} now;

int progress_is_wanted(void)
{
    return !report_say.quiet && !now.has_rows && isatty(STDERR_FILENO);
}

void progress_yields_to_rows(void)
{
    now.has_rows = isatty(STDOUT_FILENO);
}

/* One less than the terminal has, for a line that wraps cannot be rewritten. */
static int room(void)
{
    struct winsize size;
    int known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (known && size.ws_col < PROGRESS_COLUMNS ? size.ws_col : PROGRESS_COLUMNS) - 1;
}

void progress_add(char line[PROGRESS_COLUMNS], const char *format, ...)
{
    char text[PROGRESS_COLUMNS];
    size_t length = strlen(line);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= 0 && n < PROGRESS_COLUMNS && length + (size_t)n <= (size_t)room())
        memcpy(line + length, text, (size_t)n + 1);
}

void progress_add_bar(char line[PROGRESS_COLUMNS], double done)
{
    enum { WIDTH = 20 };
    static const char full[WIDTH + 1] = "####################", empty[WIDTH + 1] = "                    ";
    if (!(done >= 0 && done <= 1)) return;
    int filled = (int)(done * WIDTH);
    progress_add(line, " [%.*s%.*s]", filled, full, WIDTH - filled, empty);
    progress_add(line, " %.0f %%", 100 * done);
}

void progress_add_left(char line[PROGRESS_COLUMNS], double seconds)
{
    const double minute = 60, hour = 3600;
    if (isnan(seconds)) return;
    if (seconds < 2 * minute)
        progress_add(line, ", %.0f s left", ceil(seconds));
    else if (seconds < 2 * hour)
        progress_add(line, ", %.0f min left", seconds / minute);
    else
        progress_add(line, ", %.1f h left", seconds / hour);
}

double progress_left(double elapsed, double done)
{
    const double least = 0.01;
    return done >= least && done <= 1 && elapsed >= FIRST_LOOK ? elapsed / done * (1 - done) : NAN;
}

void progress_draw(const char *line)
{
    fprintf(stderr, "\r\033[K%s", line);
    report_say.line = 1;
}

void progress_tell(const char *what, double done)
{
    char line[PROGRESS_COLUMNS] = "";
    double at = gcg_clock_now();
    if (what != now.what) {
        now.what = what;
        now.start = now.shown = at;
    }
    if (done >= 1) {
        report_clear_line();
        now.what = NULL;
    }
    if (done >= 1 || at - now.shown < REDRAW || !progress_is_wanted()) return;
    progress_add(line, "%s", what);
    progress_add_bar(line, done);
    progress_add_left(line, progress_left(at - now.start, done));
    progress_draw(line);
    now.shown = at;
}

int progress_reading(int64_t bytes_read, int64_t bytes_total, void *unused)
{
    (void)unused;
    if (bytes_total > 0) progress_tell("reading", (double)bytes_read / (double)bytes_total);
    return gcg_interrupt_requested();
}
