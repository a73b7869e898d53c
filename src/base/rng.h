/* Seeded random numbers: the same sequence on every machine.
 *
 * xoshiro256** (Blackman and Vigna 2018) seeded by splitmix64. */
#ifndef GCG_BASE_RNG_H
#define GCG_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t s[4];
} gcg_rng;

void gcg_rng_init(gcg_rng *rng, uint64_t seed, uint64_t stream); /* different streams are independent */
uint64_t gcg_rng_next(gcg_rng *rng);
double gcg_rng_uniform(gcg_rng *rng);                 /* in [0, 1), 53 bits */
uint64_t gcg_rng_below(gcg_rng *rng, uint64_t bound); /* in 0..bound-1, unbiased; bound >= 1 */
double gcg_rng_normal(gcg_rng *rng);                  /* standard normal (Box-Muller) */

/* A good 64-bit mix of one word (splitmix64's finaliser). */
uint64_t gcg_hash_mix(uint64_t x);
/* 64-bit hash of bytes, seeded. Not for adversaries. */
uint64_t gcg_hash_bytes(const void *bytes, size_t length, uint64_t seed);

#endif
