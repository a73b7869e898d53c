/* Synthetic ratings of a given shape: heavy-tailed degrees, low rank plus noise, no repeated pair.
 *
 * Generated row by row and handed on at once: memory goes with users + items, not with ratings. A row is a
 * user; in the netflix layout, which is written by movie, it is an item (so that layout has other pairs for
 * the same seed). What a pair's rating is follows from the seed, the user and the item alone, in integers:
 * equal settings give equal bytes on every machine. */
#ifndef GCG_IO_SYNTH_H
#define GCG_IO_SYNTH_H

#include <stdint.h>
#include "base/status.h"
#include "io/ratings.h"
#include "io/sink.h"

enum { GCG_SYNTH_MAX_RANK = 10000, GCG_SYNTH_MAX_NOISE = 1000 };

typedef struct {
    int32_t users, items;          /* ids are 1..users and 1..items */
    int64_t ratings, test_ratings; /* in all at most users * items */
    int32_t rank;                  /* of the signal less its biases, 1..GCG_SYNTH_MAX_RANK */
    double noise;           /* standard deviation, as a multiple of the signal's; 0..GCG_SYNTH_MAX_NOISE */
    gcg_format format;      /* not AUTO */
    double low, high;       /* the scale; 0 <= low < high <= 100 */
    int64_t steps_per_unit; /* ratings are multiples of 1 / this: 1 whole stars, 2 half stars, 10^d, d <= 6 */
    int decimals;           /* digits after the point */
    uint64_t seed;
    void (*progress)(double done); /* told now and then, from 0 to 1; NULL: nobody is told */
} gcg_synth_settings;

/* A data set's numbers, by name. ratings: of the file as published; train and test: the parts that it is
 * split into, as in the paper's Table 1 where it is there. */
typedef struct {
    const char *name;
    int32_t users, items;
    int64_t ratings, train, test;
} gcg_synth_shape;
/* Ends with a NULL name. */
extern const gcg_synth_shape gcg_synth_shapes[];

/* GCG_ERR_USAGE when the numbers do not fit together. */
gcg_status gcg_synth_check(const gcg_synth_settings *s, gcg_err *err);
/* Writes the training ratings to train and, when test_ratings > 0, the test ratings (disjoint from them) to
 * *test, a random part of each user's (or movie's) ratings. Every user and every item gets a training rating
 * as far as the number of ratings allows. */
gcg_status gcg_synth(const gcg_synth_settings *s, gcg_sink train, const gcg_sink *test, gcg_err *err);

#endif
