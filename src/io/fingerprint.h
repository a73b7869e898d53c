/* Fingerprints of data: two that differ are of different data, two that are equal of equal data (but for one
 * chance in 2^64). They do not depend on the number of threads, nor on what the files looked like. */
#ifndef GCG_IO_FINGERPRINT_H
#define GCG_IO_FINGERPRINT_H

#include <stdint.h>
#include "base/status.h"
#include "io/ratings.h"

/* Of ids, pattern and values as they are stored, without weights. */
gcg_status gcg_ratings_fingerprint(const gcg_ratings *r, uint64_t *hash, gcg_err *err);
/* Of the weights; 0 when there are none. */
gcg_status gcg_weights_fingerprint(const gcg_csr *x, uint64_t *hash, gcg_err *err);
/* Of pairs and their values. */
uint64_t gcg_pairs_fingerprint(const gcg_pairs *p);

#endif
