/* Decimal numbers: see number.h.
 *
 * A decimal m * 10^e with m < 2^53 and |e| <= 22 is one exact multiplication or division of two exact
 * doubles, so it comes out correctly rounded (Clinger 1990). All others go through strtod as an integer with
 * an exponent: without a decimal point in the text the locale cannot matter. */
#include "io/number.h"

#include <math.h>
#include <stdlib.h>
#include "io/fields.h"

enum {
    EXACT_POWER = 22,      /* largest e with 10^e exactly a double */
    MAX_DIGITS = 800,      /* significant digits that can decide how a double is rounded: 767 */
    MAX_EXPONENT = 1 << 20 /* beyond this only 0 and overflow are left */
};
static const double LARGEST = 1e100;
static const uint64_t EXACT_INTEGER = (uint64_t)1 << 53;

static const double power_of_ten[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Slow path: digits (with at most one point among them) times 10^exponent. */
static double round_digits(const char *text, const char *end, int64_t exponent)
{
    char copy[MAX_DIGITS + 32];
    int n = 0, seen_point = 0, sticky = 0;
    for (const char *p = text; p < end; p++) {
        if (*p == '.') {
            seen_point = 1;
            continue;
        }
        if (n == 0 && *p == '0') {
            exponent -= seen_point;
            continue;
        }
        if (n < MAX_DIGITS) {
            copy[n++] = *p;
            exponent -= seen_point;
        } else {
            sticky |= *p != '0';
            exponent += !seen_point;
        }
    }
    if (n == 0) return 0;
    if (sticky) copy[n - 1] = copy[n - 1] == '0' ? '1' : copy[n - 1]; /* keeps "just above a tie" above it */
    if (exponent > MAX_EXPONENT) exponent = MAX_EXPONENT;
    if (exponent < -MAX_EXPONENT) exponent = -MAX_EXPONENT;
    int64_t rest = exponent < 0 ? -exponent : exponent;
    char digits[8];
    int k = 0;
    do digits[k++] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    copy[n++] = 'e';
    copy[n++] = exponent < 0 ? '-' : '+';
    while (k > 0) copy[n++] = digits[--k];
    copy[n] = '\0';
    return strtod(copy, NULL);
}

/* Reads e[+-]digits at p; NULL when it is malformed. */
static const char *read_exponent(const char *p, const char *end, int64_t *exponent)
{
    int64_t sum = 0;
    p++;
    int negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end) return NULL;
    for (; p < end && gcg_is_digit(*p); p++)
        if (sum < MAX_EXPONENT * (int64_t)1000) sum = sum * 10 + (*p - '0');
    *exponent = negative ? -sum : sum;
    return p;
}

gcg_number_result gcg_number_parse(const char *text, int64_t length, double *value)
{
    const char *p = text, *end = text + length;
    if (length == 0) return GCG_NUMBER_EMPTY;
    int negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    const char *first = p;
    uint64_t mantissa = 0;
    int64_t exponent = 0, digits = 0, fraction = 0;
    for (; p < end && gcg_is_digit(*p); p++, digits++) mantissa = mantissa * 10 + (uint64_t)(*p - '0');
    if (p < end && *p == '.') {
        p++;
        for (; p < end && gcg_is_digit(*p); p++, fraction++) mantissa = mantissa * 10 + (uint64_t)(*p - '0');
    }
    digits += fraction;
    const char *last = p;
    if (digits == 0) return GCG_NUMBER_SYNTAX;
    if (p < end && (*p == 'e' || *p == 'E')) p = read_exponent(p, end, &exponent);
    if (p != end) return GCG_NUMBER_SYNTAX;
    double v;
    int64_t scale = exponent - fraction;
    if (digits <= 19 && mantissa <= EXACT_INTEGER && scale >= -EXACT_POWER && scale <= EXACT_POWER)
        v = scale < 0 ? (double)mantissa / power_of_ten[-scale] : (double)mantissa * power_of_ten[scale];
    else
        v = round_digits(first, last, exponent);
    if (!(v <= LARGEST)) return GCG_NUMBER_RANGE;
    *value = negative && v != 0 ? -v : v;
    return GCG_NUMBER_OK;
}

int gcg_count_parse(const char *text, int64_t length, int64_t *value)
{
    int64_t sum = 0;
    if (length == 0) return 0;
    for (int64_t i = 0; i < length; i++) {
        int digit = text[i] - '0';
        if (digit < 0 || digit > 9 || sum > (INT64_MAX - digit) / 10) return 0;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return 1;
}
