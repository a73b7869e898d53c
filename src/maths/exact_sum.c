/* Exact sums: see exact_sum.h. */
#include "maths/exact_sum.h"

#include <math.h>
#include <string.h>

enum {
    DIGIT = 32,            /* bits of a word that count; the rest holds carries */
    LOWEST = -1074,        /* exponent of the smallest double: the weight of bit 0 */
    MOST_PENDING = 1 << 28 /* terms; each adds less than 2^34 to a word, so words stay below 2^63 */
};
static const uint64_t DIGIT_MASK = 0xffffffffu;

static void carry(gcg_exact_sum *sum)
{
    for (int i = 0; i + 1 < GCG_EXACT_WORDS; i++) {
        sum->word[i + 1] += sum->word[i] >> DIGIT;
        sum->word[i] &= DIGIT_MASK;
    }
    sum->pending = 0;
}

void gcg_exact_add(gcg_exact_sum *sum, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & 0xfffffffffffffu;
    if (exponent == 0x7ff) {
        sum->special += x;
        return;
    }
    if (exponent > 0) {
        mantissa |= (uint64_t)1 << 52;
        exponent--; /* x = mantissa * 2^(exponent - 1074), as for the smallest numbers */
    }
    uint64_t *word = sum->word + exponent / DIGIT;
    int shift = exponent % DIGIT;
    uint64_t low = (mantissa & DIGIT_MASK) << shift, high = mantissa >> DIGIT << shift;
    word[0] += low & DIGIT_MASK;
    word[1] += (low >> DIGIT) + (high & DIGIT_MASK);
    word[2] += high >> DIGIT;
    if (++sum->pending >= MOST_PENDING) carry(sum);
}

void gcg_exact_merge(gcg_exact_sum *sum, const gcg_exact_sum *other)
{
    gcg_exact_sum carried = *other;
    carry(&carried);
    for (int i = 0; i < GCG_EXACT_WORDS; i++) sum->word[i] += carried.word[i];
    sum->special += other->special;
    if (++sum->pending >= MOST_PENDING) carry(sum);
}

double gcg_exact_value(const gcg_exact_sum *sum)
{
    gcg_exact_sum s = *sum;
    if (s.special != 0) return s.special; /* true for NaN too */
    carry(&s);
    int top = GCG_EXACT_WORDS - 1;
    while (top > 2 && s.word[top] == 0) top--;
    /* The upper 64 bits from the highest set one on, then one bit for whatever lies below: rounds as the
     * whole would. */
    uint64_t head = s.word[top] << DIGIT | s.word[top - 1], next = s.word[top - 2];
    int shift = 0;
    while (shift < DIGIT && !(head >> 63)) {
        head = head << 1 | (next >> (DIGIT - 1) & 1);
        next = next << 1 & DIGIT_MASK;
        shift++;
    }
    int below = next != 0;
    for (int i = 0; i < top - 2 && !below; i++) below = s.word[i] != 0;
    return ldexp((double)(head | (uint64_t)below), DIGIT * (top - 1) - shift + LOWEST);
}
