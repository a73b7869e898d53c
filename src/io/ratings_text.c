/* Training sets as text: see ratings_text.h. */
#include "io/ratings_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "io/number.h"

enum {
    BUFFER = 4 << 20,           /* bytes of text in a block, but one line in any case */
    QUOTED = 2 * GCG_ID_MAX + 2 /* bytes of the longest id in quotes */
};

/* ---- ratings ---- */

/* At most three decimals, as nearly all ratings have; NULL: more are needed. A quotient of two exact numbers
 * is what reading the text gives. */
static char *put_short(char *p, double value)
{
    static const double power[] = {1, 10, 100, 1000};
    const double largest = 1e9;
    double size = fabs(value);
    if (!(size <= largest)) return NULL;
    for (int decimals = 0; decimals <= 3; decimals++) {
        double whole = rint(size * power[decimals]);
        if (whole / power[decimals] != size) continue;
        uint64_t n = (uint64_t)whole, one = (uint64_t)power[decimals];
        if (value < 0) *p++ = '-';
        p = gcg_count_put(p, n / one);
        if (decimals > 0) *p++ = '.';
        for (uint64_t rest = n % one, unit = one / 10; unit > 0; rest %= unit, unit /= 10)
            *p++ = (char)('0' + rest / unit);
        return p;
    }
    return NULL;
}

/* The shortest text that reads back as value, or (is_float) as the same float. */
static int number_text(double value, int is_float, char text[GCG_VALUE_TEXT])
{
    char printed[64];
    char *end = put_short(text, value);
    if (end) return (int)(end - text);
    for (int digits = 6; digits <= 17; digits++) {
        double again;
        int n = 0;
        snprintf(printed, sizeof printed, "%.*g", digits, value);
        for (const char *p = printed; *p;
             p++) { /* the locale's decimal point, of any length, becomes a point */
            if (strchr("0123456789+-e", *p))
                text[n++] = *p;
            else if (n == 0 || text[n - 1] != '.')
                text[n++] = '.';
        }
        if (digits == 17 || (gcg_number_parse(text, n, &again) == GCG_NUMBER_OK &&
                             (again == value || (is_float && (double)(float)again == value))))
            return n;
    }
    return 0; /* not reached: 17 digits always do */
}

int gcg_value_text(double value, char text[GCG_VALUE_TEXT])
{
    return number_text(value, 0, text);
}

int gcg_weight_text(float value, char text[GCG_VALUE_TEXT])
{
    return number_text((double)value, 1, text);
}

/* ---- ids ---- */

/* Would id, as it is, be read as something else? In csv, ids with the separator of another format are quoted,
 * too, so that the format is not mistaken. */
static int needs_quotes(const char *id, size_t length, gcg_format format)
{
    if (*id == ' ' || id[length - 1] == ' ' || *id == '#' || *id == '%') return 1;
    return strpbrk(id, format == GCG_FORMAT_CSV ? ",;:|\"" : "\"") != NULL;
}

/* The id as a field: length of what stands in field. */
static size_t id_field(const gcg_idmap *map, int32_t k, gcg_format format, char field[QUOTED])
{
    char id[GCG_ID_TEXT];
    size_t length = gcg_idmap_name(map, k, id), n = 0;
    if (!needs_quotes(id, length, format)) {
        memcpy(field, id, length);
        return length;
    }
    field[n++] = '"';
    for (size_t i = 0; i < length; i++) {
        if (id[i] == '"') field[n++] = '"';
        field[n++] = id[i];
    }
    field[n++] = '"';
    return n;
}

/* ---- lines ---- */

typedef struct {
    const gcg_ratings *r;
    gcg_format format;
    char separator;
    int64_t *item_start; /* fields of all items, one after another */
    char *item_text;
    int64_t per_block;           /* ratings */
    int64_t first;               /* rating of this round's first block */
    int64_t buffers, line_bytes; /* blocks of a round; the longest line */
    char *buffer;                /* per_block * line_bytes for each */
    int64_t *used;
} writer;

static void release(writer *w)
{
    gcg_mem_free(w->item_start);
    gcg_mem_free(w->item_text);
    gcg_mem_free(w->buffer);
    gcg_mem_free(w->used);
}

/* The longest field of map's ids, and the sum of their lengths. */
static int64_t measure(const gcg_idmap *map, gcg_format format, int64_t *sum)
{
    char field[QUOTED];
    int64_t longest = 0;
    *sum = 0;
    for (int32_t k = 0; k < gcg_idmap_count(map); k++) {
        int64_t length = (int64_t)id_field(map, k, format, field);
        *sum += length;
        if (length > longest) longest = length;
    }
    return longest;
}

static gcg_status prepare(writer *w, gcg_err *err)
{
    const gcg_idmap *items = w->r->items;
    int64_t users_sum, items_sum, at = 0;
    int64_t longest = measure(w->r->users, w->format, &users_sum) + measure(items, w->format, &items_sum);
    w->line_bytes = longest + 2 * GCG_VALUE_TEXT + 4; /* rating, weight, three separators, LF */
    w->per_block = BUFFER / w->line_bytes;
    w->buffers = 2 * (int64_t)gcg_par_threads();
    w->item_start = gcg_mem_alloc_array((int64_t)gcg_idmap_count(items) + 1, sizeof *w->item_start);
    w->item_text = gcg_mem_alloc_array(items_sum + QUOTED, 1);
    w->buffer = gcg_mem_alloc_array(w->buffers, (size_t)(w->per_block * w->line_bytes));
    w->used = gcg_mem_alloc_array(w->buffers, sizeof *w->used);
    if (!w->item_start || !w->item_text || !w->buffer || !w->used)
        return gcg_fail_memory(err, "output buffers");
    for (int32_t j = 0; j < gcg_idmap_count(items); j++) {
        w->item_start[j] = at;
        at += (int64_t)id_field(items, j, w->format, w->item_text + at);
    }
    w->item_start[gcg_idmap_count(items)] = at;
    return GCG_OK;
}

static char *put_bytes(char *p, const char *bytes, size_t length)
{
    memcpy(p, bytes, length);
    return p + length;
}

static void make_lines(int64_t block, void *ctx)
{
    writer *w = ctx;
    const gcg_csr *x = &w->r->x;
    char *start = w->buffer + block * w->per_block * w->line_bytes, *at = start, user[QUOTED];
    int64_t p = w->first + block * w->per_block, end = p + w->per_block < x->nnz ? p + w->per_block : x->nnz;
    for (int32_t i = p < end ? gcg_csr_row_of(x, p) : 0; p < end; i++) {
        int64_t stop = x->row_ptr[i + 1] < end ? x->row_ptr[i + 1] : end;
        if (p >= stop) continue;
        size_t user_length = id_field(w->r->users, i, w->format, user);
        for (; p < stop; p++) {
            const int64_t *item = w->item_start + x->col[p];
            at = put_bytes(at, user, user_length);
            *at++ = w->separator;
            at = put_bytes(at, w->item_text + item[0], (size_t)(item[1] - item[0]));
            *at++ = w->separator;
            at += gcg_value_text(gcg_csr_value(x, p), at);
            if (x->weight) {
                *at++ = w->separator;
                at += gcg_weight_text(x->weight[p], at);
            }
            *at++ = '\n';
        }
    }
    w->used[block] = at - start;
}

static gcg_status put_lines(writer *w, gcg_sink sink, gcg_err *err)
{
    const gcg_csr *x = &w->r->x;
    gcg_status status = GCG_OK;
    for (w->first = 0; w->first < x->nnz && status == GCG_OK; w->first += w->buffers * w->per_block) {
        gcg_par_blocks(w->buffers, make_lines, w);
        for (int64_t b = 0; b < w->buffers && status == GCG_OK; b++)
            status =
                sink.write(sink.user, w->buffer + b * w->per_block * w->line_bytes, (size_t)w->used[b], err);
        int64_t next = w->first + w->buffers * w->per_block;
        gcg_csr_pass_done(x, w->first, next < x->nnz ? next : x->nnz);
    }
    return status;
}

/* MatrixMarket has no names: id k must be k + 1. */
static gcg_status check_numbered(const gcg_idmap *map, const char *what, gcg_err *err)
{
    char id[GCG_ID_TEXT], shown[256];
    for (int32_t k = 0; k < gcg_idmap_count(map); k++) {
        int64_t number;
        size_t length = gcg_idmap_name(map, k, id);
        if (*id != '0' && gcg_count_parse(id, (int64_t)length, &number) && number == (int64_t)k + 1) continue;
        return gcg_fail(
            err, GCG_ERR_DATA, NULL, 0, 0,
            "MatrixMarket has numbers 1, 2, ... for ids: %s '%s' does not fit; write .tsv or .csv", what,
            gcg_quote(shown, id, (int64_t)length));
    }
    return GCG_OK;
}

static gcg_status put_head(const writer *w, gcg_sink sink, gcg_err *err)
{
    char head[128];
    const gcg_csr *x = &w->r->x;
    const char *fourth = !x->weight ? "" : w->separator == ',' ? ",weight" : "\tweight";
    int length =
        w->format == GCG_FORMAT_MTX
            ? snprintf(head, sizeof head, "%%%%MatrixMarket matrix coordinate real general\n%d %d %lld\n",
                       x->rows, x->cols, (long long)x->nnz)
            : snprintf(head, sizeof head, "user%citem%crating%s\n", w->separator, w->separator, fourth);
    return sink.write(sink.user, head, (size_t)length, err);
}

gcg_status gcg_ratings_write_text(const gcg_ratings *r, gcg_format format, gcg_sink sink, gcg_err *err)
{
    writer w = {.r = r,
                .format = format,
                .separator = format == GCG_FORMAT_CSV   ? ','
                             : format == GCG_FORMAT_MTX ? ' '
                                                        : '\t'};
    gcg_status status = GCG_OK;
    if (format == GCG_FORMAT_MTX && r->x.weight)
        return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0,
                        "MatrixMarket has no column for weights: write .tsv, .csv or .gcs");
    if (format == GCG_FORMAT_MTX) {
        status = check_numbered(r->users, "user", err);
        if (status == GCG_OK) status = check_numbered(r->items, "item", err);
    }
    if (status == GCG_OK) status = prepare(&w, err);
    if (status == GCG_OK) status = put_head(&w, sink, err);
    if (status == GCG_OK) status = put_lines(&w, sink, err);
    release(&w);
    return status;
}
