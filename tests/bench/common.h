/* What the benchmark programs share: arguments, the ratings, medians. They print tables on standard output
 * and end with a message when something is wrong. */
#ifndef TESTS_BENCH_COMMON_H
#define TESTS_BENCH_COMMON_H

#include <stdint.h>

#include "base/status.h"
#include "io/ratings.h"

/* Ends the program with the message of err unless status is GCG_OK. */
void bench_must(gcg_status status, const gcg_err *err);
/* Memory, zeroed; ends the program when there is none. */
void *bench_alloc(int64_t count, size_t size);
/* A whole number from 1 to most; name is for the message. */
int bench_count(const char *name, const char *text, int most);
/* Reads a rating file of any format. */
void bench_read(const char *path, gcg_ratings *ratings);
/* Of n numbers, which are sorted. */
double bench_median(double *value, int n);

#endif
