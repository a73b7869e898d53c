/* Fingerprints of data: see fingerprint.h. */
#include "io/fingerprint.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "io/gcs_layout.h"

/* The hash of what came before, and these bytes. */
static uint64_t join(uint64_t before, const void *bytes, int64_t length)
{
    return gcg_hash_mix(gcg_hash_mix(before + 1) ^ gcg_gcs_hash(bytes, length));
}

/* An array in pieces, on the threads; piece k's pages are given back where x is mapped and streams by. */
typedef struct {
    const char *bytes;
    int64_t length;
    const gcg_mapping *map; /* or NULL */
    uint64_t *sum;
} hash_ctx;

static void hash_piece(int64_t k, void *ctx)
{
    const hash_ctx *c = ctx;
    int64_t at = k * GCG_GCS_CHUNK, n = c->length - at < GCG_GCS_CHUNK ? c->length - at : GCG_GCS_CHUNK;
    c->sum[k] = gcg_gcs_hash(c->bytes + at, n);
    if (c->map && gcg_mapping_holds(c->map, c->bytes))
        gcg_mapping_done(c->map, c->bytes + at, c->bytes + at + n);
}

static gcg_status hash_array(const void *bytes, int64_t length, const gcg_mapping *map, uint64_t *hash,
                             gcg_err *err)
{
    int64_t pieces = gcg_gcs_chunks(length);
    hash_ctx c = {bytes, length, map, gcg_mem_alloc_array(pieces, sizeof *c.sum)};
    if (!c.sum) return gcg_fail_memory(err, "check sums");
    gcg_par_blocks(pieces, hash_piece, &c);
    *hash = join(*hash, c.sum, pieces * (int64_t)sizeof *c.sum);
    gcg_mem_free(c.sum);
    return GCG_OK;
}

static uint64_t hash_ids(const gcg_idmap *map, uint64_t hash)
{
    char name[GCG_ID_TEXT];
    for (int32_t k = 0; k < gcg_idmap_count(map); k++)
        hash = gcg_hash_bytes(name, gcg_idmap_name(map, k, name), hash);
    return hash;
}

gcg_status gcg_ratings_fingerprint(const gcg_ratings *r, uint64_t *hash, gcg_err *err)
{
    const gcg_csr *x = &r->x;
    const void *values = gcg_csr_stored(x, 0);
    int64_t value_bytes = x->val_f ? sizeof(float) : sizeof(double);
    *hash = hash_ids(r->items, hash_ids(r->users, 0));
    gcg_status status =
        hash_array(x->row_ptr, ((int64_t)x->rows + 1) * (int64_t)sizeof *x->row_ptr, x->map, hash, err);
    if (!status) status = hash_array(x->col, x->nnz * (int64_t)sizeof *x->col, x->map, hash, err);
    return status ? status : hash_array(values, x->nnz * value_bytes, x->map, hash, err);
}

gcg_status gcg_weights_fingerprint(const gcg_csr *x, uint64_t *hash, gcg_err *err)
{
    *hash = 0;
    return x->weight ? hash_array(x->weight, x->nnz * (int64_t)sizeof *x->weight, x->map, hash, err) : GCG_OK;
}

uint64_t gcg_pairs_fingerprint(const gcg_pairs *p)
{
    uint64_t hash = join((uint64_t)p->n, p->user, p->n * (int64_t)sizeof *p->user);
    hash = join(hash, p->item, p->n * (int64_t)sizeof *p->item);
    return join(hash, p->value, p->n * (int64_t)sizeof *p->value);
}
