/* Fuzzer of the model reader: any bytes must give a model or an error.
 *
 * crc32 is replaced by a constant (the zip library calls it through the dynamic linker), so that changed
 * members get past the check sum. Seeds must have been written with that constant: corpus/model/. */
#include <stddef.h>
#include <stdint.h>
#include "io/model_io.h"
#include "maths/score.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
unsigned long crc32(unsigned long crc, const unsigned char *bytes, unsigned int length);

unsigned long crc32(unsigned long crc, const unsigned char *bytes, unsigned int length)
{
    (void)crc, (void)bytes, (void)length;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    gcg_model m;
    gcg_err err;
    if (gcg_model_read_buffer(bytes, length, "input", &m, &err) != GCG_OK) return 0;
    gcg_scorer s = {.u = &m.u,
                    .v = &m.v,
                    .mu = m.mu,
                    .user_bias = m.user_bias,
                    .item_bias = m.item_bias,
                    .user_count = m.user_count,
                    .item_count = m.item_count,
                    .user_sum = m.user_sum,
                    .item_sum = m.item_sum,
                    .mean = m.mean,
                    .shrink = 5,
                    .low = -1e300,
                    .high = 1e300};
    volatile double sink = 0;
    for (int32_t i = -1; i < m.u.rows && i < 100; i++)
        for (int32_t j = -1; j < m.v.rows && j < 100; j++) sink = gcg_score_predict(&s, i, j);
    (void)sink;
    gcg_model_release(&m);
    return 0;
}
