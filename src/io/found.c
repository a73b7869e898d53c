/* Points of a piece: see found.h. */
#include "io/found.h"

#include "base/mem.h"

static const uint64_t NONE = UINT64_MAX; /* no id */

void gcg_found_init(gcg_found *f, const gcg_idmap *users, const gcg_idmap *items, int keep_lines,
                    int weighted)
{
    *f = (gcg_found){.records = users == NULL, .keep_lines = keep_lines, .weighted = weighted};
    f->user.known = users;
    f->item.known = items;
}

static void release_side(gcg_found_side *s)
{
    gcg_idmap_free(s->fresh);
    gcg_mem_free(s->fresh_number);
    gcg_mem_free(s->code);
}

void gcg_found_release(gcg_found *f)
{
    release_side(&f->user);
    release_side(&f->item);
    gcg_mem_free(f->value);
    gcg_mem_free(f->weight);
    gcg_mem_free(f->record);
    gcg_mem_free(f->run);
    *f = (gcg_found){0};
}

/* Another piece begins. */
static gcg_status start_side(gcg_found_side *s, gcg_err *err)
{
    s->direct = gcg_idmap_direct(s->known, &s->direct_size);
    s->last = NONE;
    if (s->fresh && gcg_idmap_count(s->fresh) == 0) return GCG_OK;
    gcg_idmap_free(s->fresh);
    return gcg_idmap_new(&s->fresh, err);
}

static gcg_status columns_reserve(gcg_found *f, int64_t n, gcg_err *err)
{
    gcg_mem_free(f->user.code);
    gcg_mem_free(f->item.code);
    gcg_mem_free(f->value);
    gcg_mem_free(f->weight);
    f->weight = NULL;
    f->capacity = 0;
    f->user.code = gcg_mem_alloc_array(n, sizeof *f->user.code);
    f->item.code = gcg_mem_alloc_array(n, sizeof *f->item.code);
    f->value = gcg_mem_alloc_array(n, sizeof *f->value);
    if (f->weighted) f->weight = gcg_mem_alloc_array(n, sizeof *f->weight);
    if (!f->user.code || !f->item.code || !f->value || (f->weighted && !f->weight))
        return gcg_fail_memory(err, "ratings being read");
    f->capacity = n;
    return GCG_OK;
}

static gcg_status records_reserve(gcg_found *f, int64_t n, gcg_err *err)
{
    gcg_mem_free(f->record);
    f->capacity = 0;
    f->record = gcg_mem_alloc_array(n, sizeof *f->record);
    if (!f->record) return gcg_fail_memory(err, "ratings being read");
    f->capacity = n;
    return GCG_OK;
}

gcg_status gcg_found_start(gcg_found *f, int64_t n, gcg_err *err)
{
    gcg_status status = GCG_OK;
    f->n = f->runs = 0;
    f->wide = 0;
    f->run_offset = INT64_MIN;
    if (n > f->capacity) status = f->records ? records_reserve(f, n, err) : columns_reserve(f, n, err);
    if (status == GCG_OK && !f->records) status = start_side(&f->user, err);
    if (status == GCG_OK && !f->records) status = start_side(&f->item, err);
    return status;
}

gcg_status gcg_found_code(gcg_found_side *s, const char *id, size_t length, int32_t *code, gcg_err *err)
{
    *code = gcg_idmap_find(s->known, id, length);
    if (*code >= 0) return GCG_OK;
    gcg_status status = gcg_idmap_add(s->fresh, id, length, code, err);
    *code = ~*code;
    return status;
}

gcg_status gcg_found_run(gcg_found *f, int64_t line, gcg_err *err)
{
    gcg_line_run *last = f->runs > 0 ? &f->run[f->runs - 1] : NULL;
    int64_t since = last ? f->n - last->first : 0;
    if (last && line == last->line + since / last->per_line) return GCG_OK;
    if (last && since == 1 && line == last->line) {
        last->per_line = 2;
        f->run_offset = INT64_MIN;
        return GCG_OK;
    }
    f->run_offset = line - f->n;
    gcg_line_run run = {.first = f->n, .line = line, .per_line = 1};
    return gcg_line_runs_add(&f->run, &f->runs, &f->run_capacity, run, err);
}

gcg_status gcg_found_take_in(gcg_found_side *s, gcg_idmap *map, gcg_err *err)
{
    int64_t n = gcg_idmap_count(s->fresh);
    if (n == 0) return GCG_OK;
    if (n > s->fresh_capacity) {
        gcg_mem_free(s->fresh_number);
        s->fresh_number = gcg_mem_alloc_array(n, sizeof *s->fresh_number);
        s->fresh_capacity = s->fresh_number ? n : 0;
        if (!s->fresh_number) return gcg_fail_memory(err, "ids");
    }
    return gcg_idmap_merge(map, s->fresh, s->fresh_number, err);
}
