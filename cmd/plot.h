/* gcg-mc plot: what its files share.
 *
 * cmd_plot.c     options, running gnuplot
 * plot_log.c     logs of fit and path as rows
 * plot_script.c  the gnuplot script, with the data in it */
#ifndef GCG_CMD_PLOT_H
#define GCG_CMD_PLOT_H

#include <stdio.h>
#include "base/status.h"

enum { PLOT_TEST, PLOT_VALID, PLOT_TRAIN, PLOT_SETS };

typedef struct {
    double time; /* seconds since the first block began */
    double gap;
    double rmse[PLOT_SETS]; /* NAN where there is no such set */
    int is_zero;            /* W = 0, the start: its RMSE is far from all others */
    int block;              /* of the log, from 0 */
} plot_row;

typedef struct {
    const char *name; /* as the user gave it; stdin for - */
    plot_row *rows;
    int64_t count, capacity;
    int blocks;
    int ended;    /* the last block has a status line */
    int is_cut;   /* the last line was incomplete, and is left out */
    double start; /* time of the last row of earlier blocks */
} plot_log;

/* GCG_ERR_DATA, naming the line, for what is no log; also where there is no row to plot. */
gcg_status plot_log_read(const char *path, plot_log *log, gcg_err *err);
void plot_log_release(plot_log *log); /* twice is fine */

/* Where the plot goes: it decides the terminal and the layout. PLOT_SCRIPT leaves the terminal to the user.
 */
typedef enum { PLOT_SCRIPT, PLOT_TEXT, PLOT_PNG, PLOT_SVG } plot_kind;

enum { PLOT_MOST_LOGS = 100 };
/* The script of all logs; columns: width of PLOT_TEXT. */
void plot_script_write(FILE *out, plot_kind kind, int columns, const plot_log *logs, int count);

#endif
