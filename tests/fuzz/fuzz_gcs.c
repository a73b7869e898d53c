/* Fuzzer of the binary store: any bytes must give a sound matrix or an error.
 *
 * An input that begins with the store's first byte is taken as a file. From any other the sections are cut
 * and the header made, with right check sums, so that wrong content gets past them: sizes (16 bits each) of
 * users, items, ratings, user ids, item ids, then a place in the header and what is added there, then the
 * sections. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "io/gcs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

typedef struct {
    const uint8_t *at, *end;
} source;

static unsigned take_16(source *s)
{
    unsigned value = 0;
    for (int k = 0; k < 2 && s->at < s->end; k++) value |= (unsigned)*s->at++ << (8 * k);
    return value;
}

static void put_64(unsigned char *to, uint64_t value)
{
    for (int k = 0; k < 8; k++) to[k] = (unsigned char)(value >> (8 * k));
}

/* Check sums of all chunks into the last section of file. */
static void seal(unsigned char *file, gcg_gcs_header *h)
{
    unsigned char *sum = file + h->section[GCG_GCS_SUMS].offset;
    for (int k = 0; k < GCG_GCS_SUMS; k++)
        for (int64_t at = 0; at < h->section[k].bytes; at += GCG_GCS_CHUNK, sum += 8) {
            int64_t rest = h->section[k].bytes - at;
            put_64(sum, gcg_gcs_hash(file + h->section[k].offset + at,
                                     rest < GCG_GCS_CHUNK ? rest : GCG_GCS_CHUNK));
        }
    h->sums_hash = gcg_gcs_hash(file + h->section[GCG_GCS_SUMS].offset, h->section[GCG_GCS_SUMS].bytes);
}

static unsigned char *build(source *s, size_t *size)
{
    gcg_gcs_header h = {0};
    h.users = (int32_t)take_16(s);
    h.items = (int32_t)take_16(s);
    unsigned ratings = take_16(s);
    h.ratings = ratings >> 1;
    h.value_bytes = ratings & 1 ? 8 : 4;
    unsigned user_bytes = take_16(s), item_bytes = take_16(s), place = take_16(s), change = take_16(s);
    if (!gcg_gcs_place(&h, user_bytes, item_bytes)) abort();
    *size = (size_t)h.file_bytes;
    unsigned char *file = calloc(*size, 1);
    for (int k = 0; k < GCG_GCS_SUMS; k++) {
        size_t n = (size_t)h.section[k].bytes, left = (size_t)(s->end - s->at);
        if (n > left) n = left;
        if (n > 0) memcpy(file + h.section[k].offset, s->at, n);
        s->at += n;
    }
    seal(file, &h);
    gcg_gcs_encode(&h, file);
    file[place % (GCG_GCS_PAGE - 8)] = (unsigned char)(file[place % (GCG_GCS_PAGE - 8)] + change);
    put_64(file + GCG_GCS_PAGE - 8, gcg_gcs_hash(file, GCG_GCS_PAGE - 8));
    return file;
}

/* What every pass relies on. */
static void check(const gcg_ratings *r)
{
    char id[GCG_ID_TEXT];
    const gcg_csr *x = &r->x;
    if (x->row_ptr[0] != 0 || x->row_ptr[x->rows] != x->nnz) abort();
    for (int32_t i = 0; i < x->rows; i++) {
        if (x->row_ptr[i] > x->row_ptr[i + 1]) abort();
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++)
            if (x->col[p] < 0 || x->col[p] >= x->cols || !isfinite(gcg_csr_value(x, p)) ||
                (p > x->row_ptr[i] && x->col[p] <= x->col[p - 1]))
                abort();
        size_t length = gcg_idmap_name(r->users, i, id);
        if (length == 0 || length > GCG_ID_MAX || gcg_idmap_find(r->users, id, length) != i) abort();
    }
    if (gcg_idmap_count(r->users) != x->rows || gcg_idmap_count(r->items) != x->cols) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    source s = {bytes, bytes + length};
    size_t size = length;
    gcg_mapping *map;
    gcg_gcs g = {0};
    gcg_err err;
    unsigned char *file;
    if (length > 0 && bytes[0] == gcg_gcs_magic[0]) {
        file = malloc(length); /* exact, and aligned as a mapping is */
        memcpy(file, bytes, length);
    } else {
        file = build(&s, &size);
    }
    if (gcg_mapping_of_memory(file, (int64_t)size, &map, &err) != GCG_OK) abort();
    gcg_status status = gcg_gcs_open_mapping(&g, map, "input", &err);
    if (status == GCG_OK) {
        gcg_ratings r = {0};
        status = gcg_gcs_take(&g, &r, &err);
        if (status == GCG_OK) check(&r);
        gcg_ratings_release(&r);
        gcg_gcs_close(&g);
    }
    if ((status != GCG_OK && status != GCG_ERR_DATA) || gcg_mem_blocks() != 0) abort();
    free(file);
    return 0;
}
