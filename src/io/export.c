/* Models for other programs: see export.h. */
#include "io/export.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "io/npy.h"

/* ---- a buffer before the sink ---- */

enum { BUFFER = 1 << 16 };

typedef struct {
    gcg_sink sink;
    size_t used;
    gcg_status status; /* of the first write that failed; nothing is written after it */
    gcg_err *err;
    char bytes[BUFFER];
} writer;

static void flush(writer *w)
{
    if (!w->status && w->used) w->status = w->sink.write(w->sink.user, w->bytes, w->used, w->err);
    w->used = 0;
}

static void put(writer *w, const void *bytes, size_t length) /* less than a buffer */
{
    if (BUFFER - w->used < length) flush(w);
    memcpy(w->bytes + w->used, bytes, length);
    w->used += length;
}

static void print(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(writer *w, const char *format, ...) /* numbers and short words */
{
    char text[128];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(w, text, (size_t)n);
}

static void put_id(writer *w, const gcg_idmap *ids, int32_t index)
{
    char text[GCG_ID_TEXT];
    put(w, text, gcg_idmap_name(ids, index, text));
}

/* ---- what is written ---- */

/* Users or items: their factors, and what was subtracted from their ratings. */
typedef struct {
    const char *name; /* of the column of ids */
    const gcg_factors *factors;
    const gcg_idmap *ids;
    const double *bias;
} side;

static side side_of(const gcg_model *m, int items)
{
    return items ? (side){"item", &m->v, m->items, m->item_bias}
                 : (side){"user", &m->u, m->users, m->user_bias};
}

static void npy_head(writer *w, int dims, int64_t rows, int64_t columns)
{
    char header[GCG_NPY_HEADER];
    gcg_npy_header(header, &(gcg_npy){"<f8", dims, {rows, columns}});
    put(w, header, sizeof header);
}

static void npy_factors(writer *w, const gcg_model *m, int items)
{
    const gcg_factors *f = side_of(m, items).factors;
    npy_head(w, 2, f->rows, f->k);
    for (int32_t i = 0; i < f->rows && !w->status; i++)
        for (int32_t q = 0; q < f->k; q++) put(w, &(double){gcg_factors_get(f, i, q)}, sizeof(double));
}

static void npy_bias(writer *w, const gcg_model *m, int items)
{
    side s = side_of(m, items);
    npy_head(w, 1, s.factors->rows, 1);
    for (int32_t i = 0; i < s.factors->rows && !w->status; i++) put(w, &s.bias[i], sizeof(double));
}

static void npy_mean(writer *w, const gcg_model *m, int items)
{
    (void)items;
    npy_head(w, 0, 1, 1);
    put(w, &m->mu, sizeof(double));
}

static void mtx_head(writer *w, int64_t rows, int64_t columns)
{
    print(w, "%%%%MatrixMarket matrix array real general\n%" PRId64 " %" PRId64 "\n", rows, columns);
}

static void mtx_factors(writer *w, const gcg_model *m, int items)
{
    const gcg_factors *f = side_of(m, items).factors;
    mtx_head(w, f->rows, f->k);
    for (int32_t q = 0; q < f->k; q++) /* the format wants columns */
        for (int32_t i = 0; i < f->rows && !w->status; i++) print(w, "%.17g\n", gcg_factors_get(f, i, q));
}

static void mtx_bias(writer *w, const gcg_model *m, int items)
{
    side s = side_of(m, items);
    mtx_head(w, s.factors->rows, 1);
    for (int32_t i = 0; i < s.factors->rows && !w->status; i++) print(w, "%.17g\n", s.bias[i]);
}

static void mtx_mean(writer *w, const gcg_model *m, int items)
{
    (void)items;
    mtx_head(w, 1, 1);
    print(w, "%.17g\n", m->mu);
}

static void tsv_factors(writer *w, const gcg_model *m, int items)
{
    side s = side_of(m, items);
    print(w, "%s", s.name);
    for (int32_t q = 0; q < s.factors->k; q++) print(w, "\tf%" PRId32, q + 1);
    print(w, "\tbias\n");
    for (int32_t i = 0; i < s.factors->rows && !w->status; i++) {
        put_id(w, s.ids, i);
        for (int32_t q = 0; q < s.factors->k; q++) print(w, "\t%.17g", gcg_factors_get(s.factors, i, q));
        print(w, "\t%.17g\n", s.bias[i]);
    }
}

static void tsv_mean(writer *w, const gcg_model *m, int items)
{
    (void)items;
    print(w, "center_mean\n%.17g\n", m->mu);
}

static void write_ids(writer *w, const gcg_model *m, int items)
{
    side s = side_of(m, items);
    for (int32_t i = 0; i < s.factors->rows && !w->status; i++) {
        put_id(w, s.ids, i);
        put(w, "\n", 1);
    }
}

/* ---- the files of each form ---- */

static const struct {
    const char *suffix;
    void (*write)(writer *w, const gcg_model *m, int items);
    int items; /* 1: it is about items, not users */
} parts[][GCG_EXPORT_MOST + 1] = {
    [GCG_EXPORT_NPY] = {{".users.npy", npy_factors, 0},
                        {".items.npy", npy_factors, 1},
                        {".users.txt", write_ids, 0},
                        {".items.txt", write_ids, 1},
                        {".user_bias.npy", npy_bias, 0},
                        {".item_bias.npy", npy_bias, 1},
                        {".center_mean.npy", npy_mean, 0}},
    [GCG_EXPORT_TSV] = {{".users.tsv", tsv_factors, 0},
                        {".items.tsv", tsv_factors, 1},
                        {".center_mean.tsv", tsv_mean, 0}},
    [GCG_EXPORT_MTX] = {{".users.mtx", mtx_factors, 0},
                        {".items.mtx", mtx_factors, 1},
                        {".users.txt", write_ids, 0},
                        {".items.txt", write_ids, 1},
                        {".user_bias.mtx", mtx_bias, 0},
                        {".item_bias.mtx", mtx_bias, 1},
                        {".center_mean.mtx", mtx_mean, 0}},
};

const char *gcg_export_suffix(gcg_export_form form, int part)
{
    return parts[form][part].suffix;
}

gcg_status gcg_export_write(const gcg_model *m, gcg_export_form form, int part, gcg_sink sink, gcg_err *err)
{
    writer *w = gcg_mem_alloc_array(1, sizeof *w);
    if (!w) return gcg_fail_memory(err, "export buffer");
    w->sink = sink;
    w->used = 0;
    w->status = GCG_OK;
    w->err = err;
    parts[form][part].write(w, m, parts[form][part].items);
    flush(w);
    gcg_status status = w->status;
    gcg_mem_free(w);
    return status;
}
