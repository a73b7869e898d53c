/* The gnuplot script of plot: see plot.h. The numbers stand in the script itself, so it needs no file, and no
 * name of a file is ever read by gnuplot; names are titles only, in single quotes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cmd/plot.h"

static const char *const set_names[PLOT_SETS] = {"test", "validation", "training"};

/* The first set that the log has ratings of; a log always has training ratings. */
static int best_set(const plot_log *log)
{
    for (int set = 0; set < PLOT_SETS; set++)
        for (int64_t k = 0; k < log->count; k++)
            if (isfinite(log->rows[k].rmse[set])) return set;
    return PLOT_TRAIN;
}

/* ---- the curves ---- */

enum { CURVE_GAP, CURVE_RMSE, CURVES };
static const char *const curve_names[CURVES] = {"gap", "rmse"};

static const double NOTHING_LEFT = 1e-12; /* a gap below it is rounding */

/* What the row shows on a curve, NAN for nothing. The start at W = 0 has an error that would squeeze the
 * rest. */
static double value_of(const plot_log *log, int64_t k, int curve, int set)
{
    const plot_row *row = &log->rows[k];
    if (curve == CURVE_GAP) return row->gap > NOTHING_LEFT ? row->gap : NAN; /* the scale is logarithmic */
    return row->is_zero && !log->rows[log->count - 1].is_zero ? NAN : row->rmse[set];
}

typedef struct {
    double low, high;
    int64_t points;
} extent;

static void widen(extent *e, double value)
{
    if (e->points == 0 || value < e->low) e->low = value;
    if (e->points == 0 || value > e->high) e->high = value;
    e->points++;
}

/* Writes a curve's data, a blank line between blocks. */
static extent write_data(FILE *out, const plot_log *log, int number, int curve, extent *values)
{
    extent times = {0};
    int set = best_set(log), block = -1;
    fprintf(out, "$%s%d << end_of_data\n", curve_names[curve], number);
    for (int64_t k = 0; k < log->count; k++) {
        double value = value_of(log, k, curve, set);
        if (!isfinite(value) || !isfinite(log->rows[k].time)) continue;
        if (times.points && log->rows[k].block != block) fputs("\n", out);
        block = log->rows[k].block;
        fprintf(out, "%.10g %.10g\n", log->rows[k].time, value);
        widen(&times, log->rows[k].time);
        widen(values, value);
    }
    fputs("end_of_data\n", out);
    return times;
}

/* Text as a string of gnuplot. In single quotes nothing is special but they themselves; they are joined on in
 * double quotes, for a doubled one is not understood everywhere. */
static void write_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'.\"'\".'", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

static void write_title(FILE *out, const plot_log *log, int curve)
{
    char quoted[256], title[300];
    gcg_quote(quoted, log->name, (int64_t)strlen(log->name));
    snprintf(title, sizeof title, "%s%s%s", quoted, curve == CURVE_RMSE ? ", " : "",
             curve == CURVE_RMSE ? set_names[best_set(log)] : "");
    write_quoted(out, title);
}

/* One picture: a curve of each log that has points. */
static void write_panel(FILE *out, int curve, const plot_log *logs, int count, const extent *times,
                        extent values)
{
    const char *separator = "plot ";
    double last = 0;
    if (values.points == 0) {
        fprintf(out, "set xrange [0:1]\nset yrange [0:1]\nplot NaN notitle\nset autoscale\n");
        return;
    }
    if (values.low == values.high) /* gnuplot would warn of an empty range */
        fprintf(out, "set yrange [%.10g:%.10g]\n", values.low - 0.1 * fabs(values.low) - (values.low == 0),
                values.high + 0.1 * fabs(values.high) + (values.high == 0));
    for (int k = 0; k < count; k++)
        if (times[k].points && times[k].high > last) last = times[k].high;
    fprintf(out, "set xrange [0:%.10g]\n", last > 0 ? last : 1);
    for (int k = 0; k < count; k++) {
        if (times[k].points == 0) continue;
        fprintf(out, "%s$%s%d using 1:2 with linespoints title ", separator, curve_names[curve], k + 1);
        write_title(out, &logs[k], curve);
        separator = ", \\\n  ";
    }
    fputs("\nset autoscale\n", out);
}

/* ---- the script ---- */

static void write_terminal(FILE *out, plot_kind kind, int columns)
{
    if (kind == PLOT_SCRIPT)
        fputs("# in a window: gnuplot -p SCRIPT\n"
              "# to a file:   gnuplot -e 'set terminal png size 1000,420' SCRIPT >plot.png\n"
              "# as text:     gnuplot -e 'set terminal dumb size 79,40' SCRIPT\n",
              out);
    if (kind == PLOT_TEXT) fprintf(out, "set terminal dumb noenhanced mono size %d,40\n", columns);
    if (kind == PLOT_PNG)
        fputs("if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {\n"
              "    set terminal pngcairo noenhanced size 1000,420\n"
              "} else {\n"
              "    set terminal png noenhanced size 1000,420\n"
              "}\n",
              out);
    if (kind == PLOT_SVG) fputs("set terminal svg noenhanced size 1000,420\n", out);
}

void plot_script_write(FILE *out, plot_kind kind, int columns, const plot_log *logs, int count)
{
    fputs("# RMSE and gap of gcg-mc logs against time, written by gcg-mc plot\n", out);
    write_terminal(out, kind, columns);
    fprintf(out, "set encoding utf8\nset multiplot layout %s\n", kind == PLOT_TEXT ? "2,1" : "1,2");
    fputs("set key noenhanced below\nset xlabel 'seconds'\n", out);
    for (int curve = 0; curve < CURVES; curve++) {
        extent values = {0}, times[PLOT_MOST_LOGS];
        for (int k = 0; k < count; k++) times[k] = write_data(out, &logs[k], k + 1, curve, &values);
        if (curve == CURVE_GAP)
            fputs("set title 'relative gap'\nset logscale y\nset format y '%.0e'\n", out);
        else
            fputs("set title 'RMSE'\nunset logscale y\nset format y '%g'\n", out);
        write_panel(out, curve, logs, count, times, values);
    }
    fputs("unset multiplot\n", out);
}
