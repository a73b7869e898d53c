/* Points in chunks: see points.h. */
#include "io/points.h"

#include <string.h>
#include "base/mem.h"
#include "store/csr.h"

void gcg_points_init(gcg_points *p, int keep_lines, int weighted)
{
    *p = (gcg_points){.first_double = INT64_MAX, .keep_lines = keep_lines, .weighted = weighted};
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
    release_chunks(&p->weight);
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

/* Chunks up to number k. */
static gcg_status room_in_chunk(gcg_points *p, int64_t k, gcg_err *err)
{
    size_t value_size = k >= p->first_double ? sizeof(double) : sizeof(float);
    gcg_status status = GCG_OK;
    /* a failure may leave the columns of different lengths: each is asked on its own */
    if (p->user.count == k) status = add_chunk(&p->user, sizeof(int32_t), err);
    if (status == GCG_OK && p->item.count == k) status = add_chunk(&p->item, sizeof(int32_t), err);
    if (status == GCG_OK && p->value.count == k) status = add_chunk(&p->value, value_size, err);
    if (status == GCG_OK && p->weighted && p->weight.count == k)
        status = add_chunk(&p->weight, sizeof(float), err);
    return status;
}

/* The first value that is not a float arrives: chunk k becomes one of doubles. */
static gcg_status widen_chunk(gcg_points *p, int64_t k, gcg_err *err)
{
    const float *narrow = p->value.chunk[k];
    double *wide = gcg_mem_alloc_array(GCG_POINTS_CHUNK, sizeof *wide);
    if (!wide) return gcg_fail_memory(err, "ratings being read");
    for (int64_t i = 0; i < p->n - k * GCG_POINTS_CHUNK; i++) wide[i] = narrow[i];
    gcg_mem_free(p->value.chunk[k]);
    p->value.chunk[k] = wide;
    return GCG_OK;
}

gcg_status gcg_points_extend(gcg_points *p, int64_t n, int wide, gcg_err *err)
{
    gcg_status status = GCG_OK;
    if (n == 0) return GCG_OK;
    if (wide && p->first_double == INT64_MAX) {
        int64_t k = p->n / GCG_POINTS_CHUNK;
        if (p->n % GCG_POINTS_CHUNK != 0) status = widen_chunk(p, k, err);
        if (status != GCG_OK) return status;
        p->first_double = k;
    }
    int64_t last = (p->n + n - 1) / GCG_POINTS_CHUNK;
    for (int64_t k = p->n / GCG_POINTS_CHUNK; k <= last && status == GCG_OK; k++)
        status = room_in_chunk(p, k, err);
    if (status == GCG_OK) p->n += n;
    return status;
}

static void put_codes(const gcg_chunks *column, int64_t first, int64_t n, const int32_t *code,
                      const int32_t *fresh)
{
    int32_t *to = (int32_t *)column->chunk[first / GCG_POINTS_CHUNK] + first % GCG_POINTS_CHUNK;
    for (int64_t i = 0; i < n; i++) to[i] = code[i] >= 0 ? code[i] : fresh[~code[i]];
}

static void put_values(const gcg_points *p, int64_t first, int64_t n, const double *value)
{
    int64_t k = first / GCG_POINTS_CHUNK, at = first % GCG_POINTS_CHUNK;
    if (k >= p->first_double) {
        memcpy((double *)p->value.chunk[k] + at, value, (size_t)n * sizeof *value);
    } else {
        float *to = (float *)p->value.chunk[k] + at;
        for (int64_t i = 0; i < n; i++) to[i] = (float)value[i];
    }
}

void gcg_points_put(gcg_points *p, int64_t first, int64_t n, const int32_t *user, const int32_t *fresh_user,
                    const int32_t *item, const int32_t *fresh_item, const double *value, const float *weight)
{
    for (int64_t done = 0, now; done < n; done += now) {
        int64_t at = first + done, left = GCG_POINTS_CHUNK - at % GCG_POINTS_CHUNK;
        now = n - done < left ? n - done : left;
        put_codes(&p->user, at, now, user + done, fresh_user);
        put_codes(&p->item, at, now, item + done, fresh_item);
        put_values(p, at, now, value + done);
        if (weight)
            memcpy((float *)p->weight.chunk[at / GCG_POINTS_CHUNK] + at % GCG_POINTS_CHUNK, weight + done,
                   (size_t)now * sizeof *weight);
    }
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

gcg_status gcg_line_runs_add(gcg_line_run **run, int64_t *runs, int64_t *capacity, gcg_line_run next,
                             gcg_err *err)
{
    enum { FIRST_CAPACITY = 64 };
    if (*runs == *capacity) {
        int64_t more = *capacity ? 2 * *capacity : FIRST_CAPACITY;
        gcg_line_run *grown = gcg_mem_resize_array(*run, *runs, more, sizeof *grown);
        if (!grown) return gcg_fail_memory(err, "line numbers");
        *run = grown;
        *capacity = more;
    }
    (*run)[(*runs)++] = next;
    return GCG_OK;
}

/* 1 when the run that begins at point first on line goes on where the last run ends. */
static int continues(const gcg_points *p, int64_t first, const gcg_line_run *next)
{
    const gcg_line_run *last = &p->run[p->runs - 1];
    return last->file == p->files - 1 && last->per_line == 1 && next->per_line == 1 &&
           next->line - last->line == first - last->first;
}

gcg_status gcg_points_place_runs(gcg_points *p, int64_t first, const gcg_line_run *run, int64_t runs,
                                 const char *file, gcg_err *err)
{
    gcg_status status = GCG_OK;
    if (runs > 0 && file != p->last_file) status = new_file(p, file, err);
    for (int64_t k = 0; k < runs && status == GCG_OK; k++) {
        gcg_line_run next = run[k];
        next.first += first;
        next.file = p->files - 1;
        if (p->runs > 0 && continues(p, next.first, &next)) continue;
        status = gcg_line_runs_add(&p->run, &p->runs, &p->run_capacity, next, err);
    }
    return status;
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
