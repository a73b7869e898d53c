/* The usual short forms of ids and ratings, read eight bytes at a time.
 *
 * Each function takes the shape that nearly every line has and says NULL to all others, which are then read
 * the long way (fields.h, number.h): what comes out is the same. Text may be read up to eight bytes too far:
 * see GCG_TEXT_PADDING. Inline, because every byte of every rating file passes here. */
#ifndef GCG_IO_SWIFT_H
#define GCG_IO_SWIFT_H

#include <stdint.h>
#include <string.h>

enum { GCG_SWIFT_DIGITS = 7 /* at most, so that the byte behind is seen too */ };

/* The first byte of text is the lowest of the word. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static const int gcg_swift_works = 1;
#else
static const int gcg_swift_works = 0;
#endif

static const uint64_t gcg_swift_ones = 0x0101010101010101u;

static inline uint64_t gcg_swift_load(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* 0x80 in each byte of word that is no digit. */
static inline uint64_t gcg_swift_non_digits(uint64_t word)
{
    const uint64_t high = 0x80 * gcg_swift_ones;
    uint64_t value = word ^ '0' * gcg_swift_ones; /* a digit's value, else above 9 */
    return (((value & ~high) + (0x80 - 10) * gcg_swift_ones) | value) & high;
}

/* Index of the lowest byte marked. */
static inline int gcg_swift_first(uint64_t marks)
{
    return __builtin_ctzll(marks) / 8;
}

/* Value of the n digits (1..8) in the lowest bytes of word: pairs, fours and eights are joined. */
static inline uint64_t gcg_swift_value(uint64_t word, int n)
{
    word = (word ^ '0' * gcg_swift_ones) << (64 - 8 * n); /* zeros in front */
    word = word * 10 + (word >> 8);
    return (((word & 0x000000ff000000ffu) * (100 + (1000000ull << 32))) +
            (((word >> 16) & 0x000000ff000000ffu) * (1 + (10000ull << 32)))) >>
           32;
}

/* A whole number without leading zeros at p: returns the byte behind it. */
static inline const char *gcg_swift_integer(const char *p, uint64_t *value)
{
    uint64_t word = gcg_swift_load(p), marks = gcg_swift_non_digits(word);
    if (marks == 0) return NULL;
    int n = gcg_swift_first(marks);
    if (n == 0 || (n > 1 && *p == '0')) return NULL;
    *value = gcg_swift_value(word, n);
    return p + n;
}

/* Digits with or without a point among them or behind them at p. */
static inline const char *gcg_swift_decimal(const char *p, double *value)
{
    static const double power[GCG_SWIFT_DIGITS + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    uint64_t word = gcg_swift_load(p), marks = gcg_swift_non_digits(word);
    if (marks == 0) return NULL;
    int whole = gcg_swift_first(marks);
    if (whole == 0) return NULL;
    if (p[whole] != '.') {
        *value = (double)gcg_swift_value(word, whole);
        return p + whole;
    }
    marks &= marks - 1;
    if (marks == 0) return NULL;
    int length = gcg_swift_first(marks), fraction = length - whole - 1;
    uint64_t before = word & (((uint64_t)1 << 8 * whole) - 1), behind = word >> 8 * whole >> 8;
    *value = (double)gcg_swift_value(before | behind << 8 * whole, length - 1) / power[fraction];
    return p + length;
}

/* From p on to the next line: returns its start. NULL when a CR, a NUL byte or (if it matters) a quote is in
 * the way. */
static inline const char *gcg_swift_skip(const char *p, int quote_matters)
{
    for (;;) {
        uint64_t word = gcg_swift_load(p);
        /* bytes below '#': the lowest mark is right, and a wrong one above it does no harm */
        uint64_t marks = (word - '#' * gcg_swift_ones) & ~word & 0x80 * gcg_swift_ones;
        if (marks == 0) {
            p += 8;
            continue;
        }
        p += gcg_swift_first(marks);
        if (*p == '\n') return p + 1;
        if (*p == '\r') return p[1] == '\n' ? p + 2 : NULL;
        if (*p == '\0' || (*p == '"' && quote_matters)) return NULL;
        p++;
    }
}

/* The next line when this one ends at p, else NULL. */
static inline const char *gcg_swift_line_end(const char *p)
{
    if (*p == '\n') return p + 1;
    return *p == '\r' && p[1] == '\n' ? p + 2 : NULL;
}

#endif
