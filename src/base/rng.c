/* Random numbers: see rng.h. */
#include "base/rng.h"

#include <math.h>
#include <string.h>

uint64_t gcg_hash_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static const uint64_t GOLDEN = 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio, splitmix64's step */

uint64_t gcg_hash_bytes(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = gcg_hash_mix(seed + GOLDEN * (uint64_t)(length + 1));
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t w = 0;
        for (int i = 0; i < 8; i++) w |= (uint64_t)p[i] << (8 * i); /* the same on any byte order */
        h = gcg_hash_mix((h ^ w) + GOLDEN);
    }
    uint64_t w = 0;
    for (size_t i = 0; i < length; i++) w |= (uint64_t)p[i] << (8 * i);
    return gcg_hash_mix((h ^ w) + GOLDEN);
}

void gcg_rng_init(gcg_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t x = gcg_hash_mix(seed) ^ gcg_hash_mix(stream * GOLDEN + 1);
    for (int i = 0; i < 4; i++) rng->s[i] = gcg_hash_mix(x += GOLDEN);
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t gcg_rng_next(gcg_rng *rng)
{
    uint64_t *s = rng->s, result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double gcg_rng_uniform(gcg_rng *rng)
{
    return (double)(gcg_rng_next(rng) >> 11) * 0x1p-53;
}

uint64_t gcg_rng_below(gcg_rng *rng, uint64_t bound)
{
    uint64_t threshold = -bound % bound, x; /* 2^64 mod bound: reject below it, then the rest is even */
    do x = gcg_rng_next(rng);
    while (x < threshold);
    return x % bound;
}

double gcg_rng_normal(gcg_rng *rng)
{
    const double two_pi = 6.283185307179586;
    double radius = sqrt(-2 * log(1 - gcg_rng_uniform(rng)));
    return radius * cos(two_pi * gcg_rng_uniform(rng));
}
