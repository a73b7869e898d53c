/* Writing the binary store: see gcs_write.h. */
#include "io/gcs_write.h"

#include <string.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "io/gcs_layout.h"
#include "io/number.h"

typedef struct {
    const gcg_ratings *r;
    gcg_gcs_header header;
    const char *part[GCG_GCS_SECTIONS]; /* what goes into each section */
    char *users, *items;                /* text of the ids */
    uint64_t *sums;
} writer;

static void release(writer *w)
{
    gcg_mem_free(w->users);
    gcg_mem_free(w->items);
    gcg_mem_free(w->sums);
}

/* All ids, each followed by LF; *bytes = length. NULL: out of memory. */
static char *ids_text(const gcg_idmap *map, int64_t *bytes)
{
    char name[GCG_ID_TEXT];
    int32_t count = gcg_idmap_count(map);
    *bytes = count;
    for (int32_t k = 0; k < count; k++) *bytes += (int64_t)gcg_idmap_name(map, k, name);
    char *text = gcg_mem_alloc_array(*bytes, 1), *at = text;
    for (int32_t k = 0; text && k < count; k++) {
        size_t length = gcg_idmap_name(map, k, name);
        memcpy(at, name, length);
        at[length] = '\n';
        at += length + 1;
    }
    return text;
}

/* The largest number among the ids without ratings. They come from the size line of a MatrixMarket file,
 * which declares the ids 1, 2, ... up to it. */
static int64_t largest_empty(const gcg_idmap *map, const int64_t *counts)
{
    int64_t largest = 0;
    for (int32_t k = 0; k < gcg_idmap_count(map); k++) {
        char name[GCG_ID_TEXT];
        int64_t number;
        if (counts[k] > 0) continue;
        size_t length = gcg_idmap_name(map, k, name);
        if (gcg_count_parse(name, (int64_t)length, &number) && number > largest) largest = number;
    }
    return largest;
}

static gcg_status find_known(writer *w, gcg_err *err)
{
    const gcg_csr *x = &w->r->x;
    int64_t *users = gcg_mem_alloc_array(x->rows, sizeof *users),
            *items = gcg_mem_alloc_array(x->cols, sizeof *items);
    if (users && items) {
        for (int32_t i = 0; i < x->rows; i++) users[i] = x->row_ptr[i + 1] - x->row_ptr[i];
        gcg_csr_col_counts(x, items);
        w->header.known_users = largest_empty(w->r->users, users);
        w->header.known_items = largest_empty(w->r->items, items);
    }
    int failed = !users || !items;
    gcg_mem_free(users);
    gcg_mem_free(items);
    return failed ? gcg_fail_memory(err, "counts by user and item") : GCG_OK;
}

static gcg_status plan(writer *w, gcg_err *err)
{
    const gcg_csr *x = &w->r->x;
    int64_t user_bytes, item_bytes;
    w->header = (gcg_gcs_header){.users = x->rows,
                                 .items = x->cols,
                                 .ratings = x->nnz,
                                 .value_bytes = x->val_f ? sizeof(float) : sizeof(double),
                                 .has_weights = x->weight != NULL,
                                 .duplicates = w->r->report.duplicates};
    gcg_status status = find_known(w, err);
    if (status != GCG_OK) return status;
    w->users = ids_text(w->r->users, &user_bytes);
    w->items = ids_text(w->r->items, &item_bytes);
    if (!w->users || !w->items) return gcg_fail_memory(err, "text of the ids");
    if (!gcg_gcs_place(&w->header, user_bytes, item_bytes))
        return gcg_fail_memory(err, "a file of 2^63 bytes");
    w->sums = gcg_mem_alloc_array(w->header.section[GCG_GCS_SUMS].bytes, 1);
    if (!w->sums) return gcg_fail_memory(err, "check sums");
    w->part[GCG_GCS_USERS] = w->users;
    w->part[GCG_GCS_ITEMS] = w->items;
    w->part[GCG_GCS_ROW_PTR] = (const char *)x->row_ptr;
    w->part[GCG_GCS_COL] = (const char *)x->col;
    w->part[GCG_GCS_VALUES] = x->val_f ? (const char *)x->val_f : (const char *)x->val_d;
    w->part[GCG_GCS_WEIGHTS] = (const char *)x->weight;
    w->part[GCG_GCS_SUMS] = (const char *)w->sums;
    return GCG_OK;
}

/* bytes of a section were read: they may be pages of a mapped store. */
static void done_with(const writer *w, const char *from, int64_t bytes)
{
    const gcg_mapping *map = w->r->x.map;
    if (map && gcg_mapping_holds(map, from)) gcg_mapping_done(map, from, from + bytes);
}

static int64_t piece(const gcg_gcs_extent *section, int64_t at)
{
    return section->bytes - at < GCG_GCS_CHUNK ? section->bytes - at : GCG_GCS_CHUNK;
}

static void sum_chunk(int64_t chunk, void *ctx)
{
    writer *w = ctx;
    int64_t number = chunk;
    int section = 0;
    while (number >= gcg_gcs_chunks(w->header.section[section].bytes))
        number -= gcg_gcs_chunks(w->header.section[section++].bytes);
    int64_t at = number * GCG_GCS_CHUNK, bytes = piece(&w->header.section[section], at);
    w->sums[chunk] = gcg_gcs_hash(w->part[section] + at, bytes);
    done_with(w, w->part[section] + at, bytes);
}

static gcg_status put_section(const writer *w, int section, gcg_sink sink, gcg_err *err)
{
    static const char zeros[GCG_GCS_PAGE];
    const gcg_gcs_extent *s = &w->header.section[section], *last = s - 1;
    int64_t gap = section == 0 ? 0 : s->offset - (last->offset + last->bytes);
    gcg_status status = sink.write(sink.user, zeros, (size_t)gap, err);
    for (int64_t at = 0; at < s->bytes && status == GCG_OK; at += GCG_GCS_CHUNK) {
        int64_t bytes = piece(s, at);
        status = sink.write(sink.user, w->part[section] + at, (size_t)bytes, err);
        done_with(w, w->part[section] + at, bytes);
    }
    return status;
}

gcg_status gcg_gcs_write(const gcg_ratings *r, gcg_sink sink, gcg_err *err)
{
    writer w = {.r = r};
    unsigned char page[GCG_GCS_PAGE];
    gcg_status status = gcg_gcs_check_host(NULL, err);
    if (status == GCG_OK) status = plan(&w, err);
    if (status == GCG_OK) {
        const gcg_gcs_extent *sums = &w.header.section[GCG_GCS_SUMS];
        gcg_par_blocks(sums->bytes / (int64_t)sizeof *w.sums, sum_chunk, &w);
        w.header.sums_hash = gcg_gcs_hash(w.sums, sums->bytes);
        gcg_gcs_encode(&w.header, page);
        status = sink.write(sink.user, page, sizeof page, err);
    }
    for (int section = 0; section < GCG_GCS_SECTIONS && status == GCG_OK; section++)
        status = put_section(&w, section, sink, err);
    release(&w);
    return status;
}
