/* Hits of a ranking: see hits.h. */
#include "maths/hits.h"

#include <math.h>

static int contains(const int32_t *sorted, int64_t count, int32_t item)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sorted[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && sorted[low] == item;
}

gcg_hits gcg_hits_count(const gcg_top_entry *best, int64_t found, const int32_t *relevant, int64_t count)
{
    gcg_hits h = {0};
    for (int64_t k = 0; k < found; k++) {
        if (!contains(relevant, count, best[k].item)) continue;
        h.hits++;
        h.gain += 1 / log2((double)k + 2);
    }
    return h;
}

double gcg_hits_ideal(int64_t n)
{
    double gain = 0;
    for (int64_t r = 1; r <= n; r++) gain += 1 / log2((double)r + 1);
    return gain;
}
