/* Filling rows: see fill.h. */
#include "io/fill.h"

#include <string.h>
#include "base/mem.h"
#include "base/parallel.h"

enum {
    PARTS_PER_THREAD = 2,
    COUNT_SHARE = 4, /* a part's counts: at most one for so many ratings, a byte a rating */
    MOST_PARTS = 64
};

typedef struct {
    gcg_points *points;
    const int32_t *user_number, *item_number;
    int keep_users;
    gcg_csr *x;
    int64_t parts;
    /* [part][user]: ratings of the user in this part; then where in the user's row the part's next one goes
     */
    uint32_t *count[MOST_PARTS];
} fill_job;

static int64_t first_chunk(const fill_job *job, int64_t part)
{
    return job->points->user.count * part / job->parts;
}

static void count_part(int64_t part, void *ctx)
{
    const fill_job *job = ctx;
    uint32_t *count = job->count[part];
    memset(count, 0, (size_t)job->x->rows * sizeof *count);
    for (int64_t k = first_chunk(job, part); k < first_chunk(job, part + 1); k++) {
        int32_t *user = job->points->user.chunk[k];
        int64_t n = gcg_points_in_chunk(job->points, k);
        for (int64_t i = 0; i < n; i++) count[user[i] = job->user_number[user[i]]]++;
    }
}

/* Row starts from the counts, and the counts become places within the rows. */
static gcg_status place_parts(fill_job *job, gcg_err *err)
{
    gcg_csr *x = job->x;
    for (int32_t u = 0; u < x->rows; u++) {
        int64_t sum = 0;
        for (int64_t part = 0; part < job->parts; part++) {
            uint32_t n = job->count[part][u];
            job->count[part][u] = (uint32_t)sum;
            sum += n;
        }
        if (sum > UINT32_MAX)
            return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0, "more than %lld ratings of one user",
                            (long long)UINT32_MAX);
        x->row_ptr[u + 1] = x->row_ptr[u] + sum;
    }
    return GCG_OK;
}

static void place_columns(int64_t part, void *ctx)
{
    const fill_job *job = ctx;
    const int64_t *start = job->x->row_ptr;
    uint32_t *place = job->count[part];
    for (int64_t k = first_chunk(job, part); k < first_chunk(job, part + 1); k++) {
        const int32_t *user = job->points->user.chunk[k], *item = job->points->item.chunk[k];
        int64_t n = gcg_points_in_chunk(job->points, k);
        for (int64_t i = 0; i < n; i++)
            job->x->col[start[user[i]] + place[user[i]]++] = job->item_number[item[i]];
        gcg_chunks_drop(&job->points->item, k);
    }
}

/* After placing, a part's places are those where the next part began: back to its own. */
static void rewind_places(fill_job *job)
{
    uint32_t *last = job->count[job->parts - 1];
    for (int64_t part = job->parts - 1; part > 0; part--) job->count[part] = job->count[part - 1];
    job->count[0] = last;
    memset(last, 0, (size_t)job->x->rows * sizeof *last);
}

static void place_values(int64_t part, void *ctx)
{
    const fill_job *job = ctx;
    gcg_csr *x = job->x;
    uint32_t *place = job->count[part];
    for (int64_t k = first_chunk(job, part); k < first_chunk(job, part + 1); k++) {
        const int32_t *user = job->points->user.chunk[k];
        int64_t n = gcg_points_in_chunk(job->points, k);
        for (int64_t i = 0; i < n; i++) {
            int64_t p = x->row_ptr[user[i]] + place[user[i]]++;
            if (x->val_d)
                x->val_d[p] = gcg_points_value(job->points, k, i);
            else
                x->val_f[p] = ((const float *)job->points->value.chunk[k])[i];
        }
        gcg_chunks_drop(&job->points->value, k);
        if (!job->keep_users && !job->points->weighted) gcg_chunks_drop(&job->points->user, k);
    }
}

static void place_weights(int64_t part, void *ctx)
{
    const fill_job *job = ctx;
    gcg_csr *x = job->x;
    uint32_t *place = job->count[part];
    for (int64_t k = first_chunk(job, part); k < first_chunk(job, part + 1); k++) {
        const int32_t *user = job->points->user.chunk[k];
        const float *weight = job->points->weight.chunk[k];
        int64_t n = gcg_points_in_chunk(job->points, k);
        for (int64_t i = 0; i < n; i++) x->weight[x->row_ptr[user[i]] + place[user[i]]++] = weight[i];
        gcg_chunks_drop(&job->points->weight, k);
        if (!job->keep_users) gcg_chunks_drop(&job->points->user, k);
    }
}

static gcg_status fill(fill_job *job, gcg_err *err)
{
    gcg_csr *x = job->x;
    gcg_par_blocks(job->parts, count_part, job);
    gcg_status status = place_parts(job, err);
    if (status != GCG_OK) return status;
    gcg_par_blocks(job->parts, place_columns, job);
    rewind_places(job);
    /* only now, when the items' chunks are gone */
    if (job->points->first_double < INT64_MAX)
        x->val_d = gcg_mem_alloc_array(x->nnz, sizeof *x->val_d);
    else
        x->val_f = gcg_mem_alloc_array(x->nnz, sizeof *x->val_f);
    if (!x->val_d && !x->val_f) return gcg_fail_memory(err, "ratings");
    gcg_par_blocks(job->parts, place_values, job);
    if (!job->points->weighted) return GCG_OK;
    status = gcg_csr_add_weights(x, err);
    if (status != GCG_OK) return status;
    rewind_places(job);
    gcg_par_blocks(job->parts, place_weights, job);
    return GCG_OK;
}

/* As many as the threads can use, the counts may take and, above all, count in 32 bits. */
static int64_t choose_parts(const gcg_points *points, int32_t users)
{
    int64_t parts = gcg_par_threads() > 1 ? PARTS_PER_THREAD * gcg_par_threads() : 1;
    int64_t affordable = points->n / COUNT_SHARE / users, least = points->n / INT32_MAX + 1;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    if (parts > affordable) parts = affordable;
    if (parts > points->user.count) parts = points->user.count;
    return parts < least ? least : parts;
}

gcg_status gcg_fill_rows(gcg_points *points, const int32_t *user_number, const int32_t *item_number,
                         int32_t users, int32_t items, int keep_users, gcg_csr *x, gcg_err *err)
{
    fill_job job = {.points = points,
                    .user_number = user_number,
                    .item_number = item_number,
                    .keep_users = keep_users,
                    .x = x,
                    .parts = choose_parts(points, users)};
    *x = (gcg_csr){.rows = users, .cols = items, .nnz = points->n};
    x->row_ptr = gcg_mem_zalloc_array((int64_t)users + 1, sizeof *x->row_ptr);
    x->col = gcg_mem_alloc_array(x->nnz, sizeof *x->col);
    int enough = x->row_ptr && x->col;
    for (int64_t part = 0; part < job.parts && enough; part++) {
        job.count[part] = gcg_mem_alloc_array(users, sizeof *job.count[part]);
        enough = job.count[part] != NULL;
    }
    gcg_status status = enough ? fill(&job, err) : gcg_fail_memory(err, "ratings");
    for (int64_t part = 0; part < job.parts; part++) gcg_mem_free(job.count[part]);
    return status;
}
