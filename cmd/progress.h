/* The line on a terminal that says how far the work is: what is being done, a bar, the time left. It is drawn
 * on standard error, only where that is a terminal and --quiet is not given, so no control character gets
 * into a file. */
#ifndef GCG_CMD_PROGRESS_H
#define GCG_CMD_PROGRESS_H

#include <stdint.h>

enum { PROGRESS_COLUMNS = 80 };

/* 1 when a line may be drawn. */
int progress_is_wanted(void);

/* Builds a line. Each part is appended as a whole, or not at all where the terminal has no room left. */
void progress_add(char line[PROGRESS_COLUMNS], const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_add_bar(char line[PROGRESS_COLUMNS], double done);     /* 0..1; nothing for NAN */
void progress_add_left(char line[PROGRESS_COLUMNS], double seconds); /* nothing for NAN */
void progress_draw(const char *line);

/* For work that is told by one number: draws "what [####    ] 42 %, 3 s left" now and then; done is from 0 to
 * 1, and 1 takes the line away. Another what begins anew. */
void progress_tell(const char *what, double done);
/* A gcg_read_progress_fn that tells how much is read. Nonzero once a signal was caught (base/interrupt.h). */
int progress_reading(int64_t bytes_read, int64_t bytes_total, void *unused);
/* Rows go to standard output while the work goes on: from now on no line is drawn where that is a terminal.
 */
void progress_yields_to_rows(void);

/* Seconds left of work that took `elapsed` for the share `done`; NAN where that says nothing yet. */
double progress_left(double elapsed, double done);

#endif
