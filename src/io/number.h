/* Decimal numbers as text, read exactly and whatever the locale. */
#ifndef GCG_IO_NUMBER_H
#define GCG_IO_NUMBER_H

#include <stdint.h>
#include <string.h>

typedef enum {
    GCG_NUMBER_OK,
    GCG_NUMBER_EMPTY,
    GCG_NUMBER_SYNTAX, /* not [+-] digits . digits e[+-]digits with at least one digit before the e */
    GCG_NUMBER_RANGE   /* absolute value above 1e100 */
} gcg_number_result;

/* Reads all of text[0..length) as a double, correctly rounded; -0 gives 0. */
gcg_number_result gcg_number_parse(const char *text, int64_t length, double *value);

/* Reads all of text[0..length) as digits only (leading zeros allowed): 1 and *value, or 0 when it is
 * something else or above INT64_MAX. */
int gcg_count_parse(const char *text, int64_t length, int64_t *value);

enum { GCG_COUNT_DIGITS = 20 /* holds any count */ };

/* Writes n in digits at p; returns where they end. */
static inline char *gcg_count_put(char *p, uint64_t n)
{
    char digits[GCG_COUNT_DIGITS];
    int i = GCG_COUNT_DIGITS;
    do digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    memcpy(p, digits + i, (size_t)(GCG_COUNT_DIGITS - i));
    return p + GCG_COUNT_DIGITS - i;
}

#endif
