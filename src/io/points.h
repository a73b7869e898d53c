/* Points on their way into the training store: three growing columns, 12 bytes a rating (16 with doubles; 4
 * more with weights).
 *
 * Kept in chunks, so that growing never copies and each column can be given back piece by piece while the
 * store takes shape. Remembers on which line each point stood, in runs, for messages about duplicates. Inside
 * src/io only. */
#ifndef GCG_IO_POINTS_H
#define GCG_IO_POINTS_H

#include <stdint.h>
#include "base/status.h"

enum { GCG_POINTS_CHUNK = 1 << 20 /* points */ };

typedef struct {
    void **chunk;
    int64_t count, capacity;
} gcg_chunks;

/* Points first, first + 1, ... stand on lines line, line + 1, ... of a file; two a line in a symmetric
 * matrix. */
typedef struct {
    int64_t first, line;
    int32_t file, per_line;
} gcg_line_run;

typedef struct {
    int64_t n;
    gcg_chunks user, item; /* int32_t */
    gcg_chunks value;      /* float; double from chunk first_double on */
    int64_t first_double;  /* INT64_MAX: all are float */
    gcg_chunks weight;     /* float; empty unless weighted */
    int weighted;
    int keep_lines; /* 0: runs and files stay empty */
    gcg_line_run *run;
    int64_t runs, run_capacity;
    char **file; /* names */
    int32_t files, file_capacity;
    const char *last_file;
} gcg_points;

void gcg_points_init(gcg_points *p, int keep_lines, int weighted);
void gcg_points_release(gcg_points *p); /* twice is fine */

/* Room for n points more, numbers p->n, ...; p->n grows by n. wide: some are no floats. What they are is set
 * by gcg_points_put, before anybody looks. */
gcg_status gcg_points_extend(gcg_points *p, int64_t n, int wide, gcg_err *err);
/* Sets points first..first + n - 1 of one column pair, the values and (NULL: none) the weights. A negative
 * code ~k stands for number fresh_user[k] or fresh_item[k]. Different points may be set by several threads at
 * once. */
void gcg_points_put(gcg_points *p, int64_t first, int64_t n, const int32_t *user, const int32_t *fresh_user,
                    const int32_t *item, const int32_t *fresh_item, const double *value, const float *weight);

/* The points from number first on have the runs given, whose numbers begin at 0. file must stay the same
 * pointer as long as the file is the same. */
gcg_status gcg_points_place_runs(gcg_points *p, int64_t first, const gcg_line_run *run, int64_t runs,
                                 const char *file, gcg_err *err);
/* Appends to a growing array of runs. */
gcg_status gcg_line_runs_add(gcg_line_run **run, int64_t *runs, int64_t *capacity, gcg_line_run next,
                             gcg_err *err);

/* Entries in chunk k of a column of n points. */
int64_t gcg_points_in_chunk(const gcg_points *p, int64_t k);
double gcg_points_value(const gcg_points *p, int64_t k, int64_t i);
void gcg_chunks_drop(gcg_chunks *c, int64_t k); /* frees chunk k */

/* Where point number s stood. */
void gcg_points_place(const gcg_points *p, int64_t s, const char **file, int64_t *line);

#endif
