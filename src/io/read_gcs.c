/* Reader of the binary store as a stream of points: test data, several inputs, changed values. The training
 * set of one store is mapped instead: gcs_read.c. */
#include "io/read_gcs.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "io/gcs.h"

enum { BATCH = 1 << 16 /* ratings handed out at once */ };

/* Where the reading stands: rating p of row i, whose id is user. */
typedef struct {
    gcg_gcs store;
    const char **items; /* the item ids from j on */
    const char *next;   /* the user ids behind row i */
    gcg_field user;
    int32_t i;
    int64_t p;
} cursor;

/* The id at *at, which moves on behind its LF. */
static gcg_field next_id(const char **at)
{
    const char *start = *at, *end = strchr(start, '\n');
    *at = end + 1;
    return (gcg_field){.start = start, .text = start, .length = end - start};
}

static gcg_status begin(cursor *c, gcg_err *err)
{
    const gcg_gcs *g = &c->store;
    const char *at = g->items;
    c->items = gcg_mem_alloc_array(g->header.items, sizeof *c->items);
    if (!c->items) return gcg_fail_memory(err, "ids");
    for (int32_t j = 0; j < g->header.items; j++) {
        c->items[j] = at;
        next_id(&at);
    }
    c->next = g->users;
    c->user = next_id(&c->next);
    return GCG_OK;
}

/* A rating under the options; 0 when there is none. */
static int value_of(const gcg_reader *r, const gcg_gcs *g, int64_t p, double *value)
{
    *value = r->options->implicit     ? 1
             : r->options->no_ratings ? NAN
             : g->val_f               ? (double)g->val_f[p]
                                      : g->val_d[p];
    return r->options->implicit || !r->options->no_ratings;
}

/* The next ratings. The number of a rating, from 1, takes the place of its line. */
static gcg_status hand_out(gcg_reader *r, void *ctx)
{
    cursor *c = ctx;
    const gcg_gcs *g = &c->store;
    int64_t end = g->header.ratings - c->p < BATCH ? g->header.ratings : c->p + BATCH;
    gcg_status status = GCG_OK;
    if (c->p == 0) gcg_reader_begin(r, 0);
    r->line.text = NULL;                  /* there are no lines, nor columns */
    gcg_reader_set_block(r, &c->user, 1); /* its number is looked up once */
    for (; c->p < end && status == GCG_OK; c->p++) {
        if (c->p == g->row_ptr[c->i + 1]) {
            while (c->p == g->row_ptr[c->i + 1]) {
                c->user = next_id(&c->next);
                c->i++;
            }
            gcg_reader_set_block(r, &c->user, 1);
        }
        const char *at = c->items[g->col[c->p]];
        gcg_field item = next_id(&at);
        double value;
        int has_value = value_of(r, g, c->p, &value);
        r->line.number = c->p + 1;
        if (r->options->weights) r->weight = g->weight[c->p];
        status = gcg_reader_point(r, &c->user, &item, value, has_value);
    }
    return status;
}

static gcg_status hand_all_out(gcg_reading *s, cursor *c)
{
    const gcg_gcs *g = &c->store;
    const gcg_csr x = {.nnz = g->header.ratings,
                       .col = (int32_t *)(uintptr_t)g->col,
                       .val_f = (float *)(uintptr_t)g->val_f,
                       .val_d = (double *)(uintptr_t)g->val_d,
                       .weight = (float *)(uintptr_t)g->weight,
                       .map = g->map};
    int64_t per_rating = 4 + (int64_t)g->header.value_bytes, done = 0;
    gcg_status status = GCG_OK;
    while (status == GCG_OK && c->p < x.nnz) {
        status = gcg_reading_points(s, BATCH, c->p * per_rating, hand_out, c);
        done = gcg_csr_pass_step(&x, done, c->p);
    }
    return status;
}

gcg_status gcg_read_gcs(gcg_reading *s, const char *path)
{
    cursor c = {0};
    gcg_err why;
    gcg_status status = gcg_gcs_open(&c.store, path, NULL, &why);
    if (status == GCG_ERR_NOMEM) return gcg_fail(s->err, status, NULL, 0, 0, "%s", why.text);
    if (status != GCG_OK) return gcg_reading_fail(s, status, why.text);
    if (s->options->weights && !c.store.weight) {
        gcg_gcs_close(&c.store);
        return gcg_reading_fail(s, GCG_ERR_DATA, gcg_gcs_no_weights);
    }
    if (!s->options->weights && c.store.weight && !s->sink->point)
        gcg_report(s->diag, GCG_NOTE, s->file, 0, 0, "%s", gcg_gcs_ignored_weights);
    const gcg_gcs_header *h = &c.store.header;
    s->layout =
        (gcg_layout){.format = GCG_FORMAT_GCS, .told = s->layout.told, .told_header = s->layout.told_header};
    s->carry = (gcg_carry){0};
    if (s->report->format == GCG_FORMAT_AUTO) s->report->format = GCG_FORMAT_GCS;
    status = begin(&c, s->err);
    if (status == GCG_OK) status = hand_all_out(s, &c);
    if (h->known_users > s->sink->rows) s->sink->rows = h->known_users;
    if (h->known_items > s->sink->cols) s->sink->cols = h->known_items;
    s->report->bytes += h->file_bytes;
    s->stored += h->file_bytes;
    gcg_mem_free(c.items);
    gcg_gcs_close(&c.store);
    return status;
}
