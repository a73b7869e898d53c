/* Points in chunks: see points.h. */
#include "io/points.h"

#include "base/mem.h"
#include "store/csr.h"

void gcg_points_init(gcg_points *p, int keep_lines)
{
    *p = (gcg_points){.first_double = INT64_MAX, .keep_lines = keep_lines};
}

static void release_chunks(gcg_chunks *c)
{
    for (int64_t k = 0; k < c->count; k++) gcg_mem_free(c->chunk[k]);
    gcg_mem_free(c->chunk);
    *c = (gcg_chunks){0};
}

void gcg_points_release(gcg_points *p)
{
    release_chunks(&p->user);
    release_chunks(&p->item);
    release_chunks(&p->value);
    for (int32_t k = 0; k < p->files; k++) gcg_mem_free(p->file[k]);
    gcg_mem_free(p->file);
    gcg_mem_free(p->run);
    *p = (gcg_points){.first_double = INT64_MAX};
}

void gcg_chunks_drop(gcg_chunks *c, int64_t k)
{
    gcg_mem_free(c->chunk[k]);
    c->chunk[k] = NULL;
}

/* Appends a chunk of GCG_POINTS_CHUNK entries. */
static gcg_status add_chunk(gcg_chunks *c, size_t size, gcg_err *err)
{
    enum { FIRST_CAPACITY = 16 };
    if (c->count == c->capacity) {
        int64_t capacity = c->capacity ? 2 * c->capacity : FIRST_CAPACITY;
        void **grown = gcg_mem_resize_array(c->chunk, c->count, capacity, sizeof *grown);
        if (!grown) return gcg_fail_memory(err, "ratings being read");
        c->chunk = grown;
        c->capacity = capacity;
    }
    c->chunk[c->count] = gcg_mem_alloc_array(GCG_POINTS_CHUNK, size);
    if (!c->chunk[c->count]) return gcg_fail_memory(err, "ratings being read");
    c->count++;
    return GCG_OK;
}

static gcg_status room_for_one(gcg_points *p, int64_t k, gcg_err *err)
{
    size_t value_size = k >= p->first_double ? sizeof(double) : sizeof(float);
    gcg_status status = GCG_OK;
    /* a failure may leave the columns of different lengths: each is asked on its own */
    if (p->user.count == k) status = add_chunk(&p->user, sizeof(int32_t), err);
    if (status == GCG_OK && p->item.count == k) status = add_chunk(&p->item, sizeof(int32_t), err);
    if (status == GCG_OK && p->value.count == k) status = add_chunk(&p->value, value_size, err);
    return status;
}

/* The first value that is not a float arrives: chunk k, filled entries so far, becomes one of doubles. */
static gcg_status widen_chunk(gcg_points *p, int64_t k, int64_t filled, gcg_err *err)
{
    const float *narrow = p->value.chunk[k];
    double *wide = gcg_mem_alloc_array(GCG_POINTS_CHUNK, sizeof *wide);
    if (!wide) return gcg_fail_memory(err, "ratings being read");
    for (int64_t i = 0; i < filled; i++) wide[i] = narrow[i];
    gcg_mem_free(p->value.chunk[k]);
    p->value.chunk[k] = wide;
    p->first_double = k;
    return GCG_OK;
}

static gcg_status new_file(gcg_points *p, const char *file, gcg_err *err)
{
    enum { FIRST_CAPACITY = 16 };
    if (p->files == p->file_capacity) {
        int32_t capacity = p->file_capacity ? 2 * p->file_capacity : FIRST_CAPACITY;
        char **grown = gcg_mem_resize_array(p->file, p->files, capacity, sizeof *grown);
        if (!grown) return gcg_fail_memory(err, "file names");
        p->file = grown;
        p->file_capacity = capacity;
    }
    p->file[p->files] = gcg_mem_strdup(file);
    if (!p->file[p->files]) return gcg_fail_memory(err, "file names");
    p->files++;
    p->last_file = file;
    return GCG_OK;
}

/* Point number p->n stands on line of the last file: extends the last run or starts one. */
static gcg_status note_line(gcg_points *p, int is_new_file, int64_t line, gcg_err *err)
{
    enum { FIRST_CAPACITY = 64 };
    if (p->runs > 0 && !is_new_file) {
        gcg_line_run *last = &p->run[p->runs - 1];
        int64_t since = p->n - last->first;
        if (line == last->line + since / last->per_line) return GCG_OK;
        if (since == 1 && line == last->line) {
            last->per_line = 2;
            return GCG_OK;
        }
    }
    if (p->runs == p->run_capacity) {
        int64_t capacity = p->run_capacity ? 2 * p->run_capacity : FIRST_CAPACITY;
        gcg_line_run *grown = gcg_mem_resize_array(p->run, p->runs, capacity, sizeof *grown);
        if (!grown) return gcg_fail_memory(err, "line numbers");
        p->run = grown;
        p->run_capacity = capacity;
    }
    p->run[p->runs++] = (gcg_line_run){.first = p->n, .line = line, .file = p->files - 1, .per_line = 1};
    return GCG_OK;
}

gcg_status gcg_points_add(gcg_points *p, int32_t user, int32_t item, double value, const char *file,
                          int64_t line, gcg_err *err)
{
    int64_t k = p->n / GCG_POINTS_CHUNK, i = p->n % GCG_POINTS_CHUNK;
    gcg_status status = i == 0 ? room_for_one(p, k, err) : GCG_OK;
    if (status == GCG_OK && p->keep_lines) {
        int is_new_file = file != p->last_file;
        if (is_new_file) status = new_file(p, file, err);
        if (status == GCG_OK) status = note_line(p, is_new_file, line, err);
    }
    if (status == GCG_OK && p->first_double > k && !gcg_csr_fits_float(value))
        status = widen_chunk(p, k, i, err);
    if (status != GCG_OK) return status;
    ((int32_t *)p->user.chunk[k])[i] = user;
    ((int32_t *)p->item.chunk[k])[i] = item;
    if (k >= p->first_double)
        ((double *)p->value.chunk[k])[i] = value;
    else
        ((float *)p->value.chunk[k])[i] = (float)value;
    p->n++;
    return GCG_OK;
}

int64_t gcg_points_in_chunk(const gcg_points *p, int64_t k)
{
    int64_t rest = p->n - k * GCG_POINTS_CHUNK;
    return rest < 0 ? 0 : rest < GCG_POINTS_CHUNK ? rest : GCG_POINTS_CHUNK;
}

double gcg_points_value(const gcg_points *p, int64_t k, int64_t i)
{
    return k >= p->first_double ? ((const double *)p->value.chunk[k])[i]
                                : ((const float *)p->value.chunk[k])[i];
}

void gcg_points_place(const gcg_points *p, int64_t s, const char **file, int64_t *line)
{
    int64_t low = 0, high = p->runs; /* the last run with first <= s */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (p->run[middle].first <= s)
            low = middle;
        else
            high = middle;
    }
    *file = p->file[p->run[low].file];
    *line = p->run[low].line + (s - p->run[low].first) / p->run[low].per_line;
}
