/* Writes the seeds of fuzz_model.c, to be run again when the model format changes: seed_model FOLDER. */
#include <stdio.h>
#include "base/mem.h"
#include "io/model_io.h"

unsigned long crc32(unsigned long crc, const unsigned char *bytes, unsigned int length);

/* The constant of fuzz_model.c. */
unsigned long crc32(unsigned long crc, const unsigned char *bytes, unsigned int length)
{
    (void)crc, (void)bytes, (void)length;
    return 0;
}

static gcg_idmap *make_ids(int32_t count, const char *format)
{
    gcg_idmap *ids;
    if (gcg_idmap_new(&ids, NULL)) return NULL;
    for (int32_t i = 0; i < count; i++) {
        char id[32];
        int32_t index;
        int length = snprintf(id, sizeof id, "%s%d", format, i);
        if (gcg_idmap_add(ids, id, (size_t)length, &index, NULL)) break;
    }
    return ids;
}

static gcg_status write_seed(const char *folder, const char *name, int32_t users, int32_t items, int32_t k,
                             gcg_dtype type, const char *prefix)
{
    char path[4096];
    gcg_model m = {.users = make_ids(users, prefix),
                   .items = make_ids(items, ""),
                   .mean = 3.5,
                   .center = GCG_CENTER_BOTH};
    gcg_status status = gcg_factors_init(&m.u, users, k, type, NULL);
    if (!status) status = gcg_factors_init(&m.v, items, k, type, NULL);
    m.singular_values = gcg_mem_zalloc_array(k, 8);
    m.user_count = gcg_mem_zalloc_array(users, 8);
    m.item_count = gcg_mem_zalloc_array(items, 8);
    m.user_sum = gcg_mem_zalloc_array(users, 8);
    m.item_sum = gcg_mem_zalloc_array(items, 8);
    m.user_bias = gcg_mem_zalloc_array(users, 8);
    m.item_bias = gcg_mem_zalloc_array(items, 8);
    m.options_json = gcg_mem_strdup("{\"lambda\": 2}");
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!status) status = gcg_model_write(path, &m, NULL);
    gcg_model_release(&m);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    return write_seed(argv[1], "float.npz", 3, 2, 2, GCG_FLOAT, "") ||
           write_seed(argv[1], "double-names.npz", 2, 2, 1, GCG_DOUBLE, "Zo\xc3\xab ") ||
           write_seed(argv[1], "rank0.npz", 2, 1, 0, GCG_FLOAT, "u");
}
