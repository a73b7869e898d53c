/* Opening a binary store: see gcs.h. */
#define _POSIX_C_SOURCE 200809L
#include "io/gcs.h"

#include <fcntl.h>
#include <float.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "io/stream.h"

const char gcg_gcs_no_weights[] =
    "--weights: this store has no weights; make it from the text with gcg-mc convert --weights";
const char gcg_gcs_ignored_weights[] = "its weights are not used; --weights COL (any name) uses them";

int gcg_gcs_is_store(const char *path)
{
    struct stat info;
    unsigned char first[GCG_GCS_MAGIC];
    int is_stdin = strcmp(path, "-") == 0;
    if (is_stdin ? fstat(STDIN_FILENO, &info) : stat(path, &info)) return 0;
    if (!S_ISREG(info.st_mode)) return 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (is_stdin && lseek(fd, 0, SEEK_CUR) != 0)) return 0;
    ssize_t n = pread(fd, first, sizeof first, 0);
    if (!is_stdin) close(fd);
    return n == (ssize_t)sizeof first && memcmp(first, gcg_gcs_magic, sizeof first) == 0;
}

/* ---- checks ---- */

/* Entry k of the row starts is right, for from <= k < from + n. */
static int starts_are_sound(const gcg_gcs *g, int64_t from, int64_t n)
{
    int64_t rows = g->header.users, wrong = 0, to = from + n < rows ? from + n : rows;
    for (int64_t k = from; k < to; k++) wrong |= g->row_ptr[k] > g->row_ptr[k + 1];
    if (from == 0) wrong |= g->row_ptr[0] != 0;
    if (from + n > rows) wrong |= g->row_ptr[rows] != g->header.ratings;
    return !wrong;
}

/* The last row that starts at or before entry p. */
static int64_t row_of(const gcg_gcs *g, int64_t p)
{
    int64_t low = 0, high = g->header.users;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (g->row_ptr[middle] <= p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Columns from..from+n-1 are in range and ascend within their rows, whose starts are sound. */
static int columns_are_sound(const gcg_gcs *g, int64_t from, int64_t n)
{
    int64_t p = from, end = from + n;
    const int32_t *col = g->col;
    for (int64_t i = row_of(g, p); p < end; i++) {
        int64_t stop = g->row_ptr[i + 1] < end ? g->row_ptr[i + 1] : end;
        if (p >= stop) continue; /* an empty row */
        int wrong = p == g->row_ptr[i] ? col[p] < 0 : col[p] <= col[p - 1];
        for (int64_t q = p + 1; q < stop; q++) wrong |= col[q] <= col[q - 1];
        if (wrong || col[stop - 1] >= g->header.items) return 0;
        p = stop;
    }
    return 1;
}

/* Values from..from+n-1 are finite: not all bits of the exponent are set. */
static int values_are_finite(const gcg_gcs *g, int64_t from, int64_t n)
{
    const uint32_t float_exponent = 0x7f800000;
    const uint64_t double_exponent = (uint64_t)0x7ff << 52;
    uint64_t wrong = 0;
    for (int64_t p = from; g->val_f && p < from + n; p++) {
        uint32_t bits;
        memcpy(&bits, g->val_f + p, sizeof bits);
        wrong |= (bits & float_exponent) == float_exponent;
    }
    for (int64_t p = from; g->val_d && p < from + n; p++) {
        uint64_t bits;
        memcpy(&bits, g->val_d + p, sizeof bits);
        wrong |= (bits & double_exponent) == double_exponent;
    }
    return !wrong;
}

/* Weights are finite and above 0, and no denormal numbers. */
static int weights_are_sound(const gcg_gcs *g, int64_t from, int64_t n)
{
    int wrong = 0;
    for (int64_t p = from; p < from + n; p++) wrong |= !(g->weight[p] >= FLT_MIN && g->weight[p] <= FLT_MAX);
    return !wrong;
}

/* count ids of 1 to GCG_ID_MAX bytes without control characters, an LF behind each, fill text[0..bytes). */
static int ids_are_sound(const char *text, int64_t bytes, int64_t count)
{
    const char *p = text, *end = text + bytes;
    for (; count > 0; count--) {
        const char *lf = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
        if (!lf || lf == p || lf - p > GCG_ID_MAX) return 0;
        int wrong = 0;
        for (; p < lf; p++) wrong |= (unsigned char)*p < 0x20 || *p == 0x7f;
        if (wrong) return 0;
        p++;
    }
    return p == end;
}

enum { SOUND, WRONG_SUM, WRONG_CONTENT };

/* A sweep over the chunks first..; fault[c] becomes what is wrong with chunk c. */
typedef struct {
    const gcg_gcs *g;
    int64_t first;
    int64_t chunk_of[GCG_GCS_SECTIONS]; /* number of each section's first chunk */
    unsigned char *fault;
} sweep;

static const char *section_start(const gcg_gcs *g, int section)
{
    return (const char *)gcg_mapping_bytes(g->map) + g->header.section[section].offset;
}

static int section_of(const sweep *s, int64_t chunk)
{
    int section = 0;
    while (chunk >= s->chunk_of[section + 1]) section++;
    return section;
}

static int content_is_sound(const gcg_gcs *g, int section, int64_t from, int64_t bytes)
{
    int value_bytes = g->header.value_bytes;
    switch (section) {
    case GCG_GCS_ROW_PTR:
        return starts_are_sound(g, from / 8, bytes / 8);
    case GCG_GCS_COL:
        return columns_are_sound(g, from / 4, bytes / 4);
    case GCG_GCS_VALUES:
        return values_are_finite(g, from / value_bytes, bytes / value_bytes);
    case GCG_GCS_WEIGHTS:
        return weights_are_sound(g, from / 4, bytes / 4);
    default:
        return 1; /* ids are checked as a whole */
    }
}

static void check_chunk(int64_t block, void *ctx)
{
    const sweep *s = ctx;
    int64_t chunk = s->first + block;
    int section = section_of(s, chunk);
    int64_t from = (chunk - s->chunk_of[section]) * GCG_GCS_CHUNK,
            bytes = s->g->header.section[section].bytes - from;
    if (bytes > GCG_GCS_CHUNK) bytes = GCG_GCS_CHUNK;
    const char *start = section_start(s->g, section) + from;
    uint64_t sum;
    memcpy(&sum, section_start(s->g, GCG_GCS_SUMS) + 8 * chunk, sizeof sum);
    if (gcg_gcs_hash(start, bytes) != sum)
        s->fault[chunk] = WRONG_SUM;
    else if (!content_is_sound(s->g, section, from, bytes))
        s->fault[chunk] = WRONG_CONTENT;
    gcg_mapping_done(s->g->map, start, start + bytes);
}

static gcg_status tell_fault(const sweep *s, int64_t chunk, gcg_err *err)
{
    int section = section_of(s, chunk);
    const gcg_gcs_extent *e = &s->g->header.section[section];
    int64_t from = (chunk - s->chunk_of[section]) * GCG_GCS_CHUNK;
    int64_t to = e->bytes - from > GCG_GCS_CHUNK ? from + GCG_GCS_CHUNK : e->bytes;
    if (s->fault[chunk] == WRONG_CONTENT)
        return gcg_fail(err, GCG_ERR_DATA, s->g->name, 0, 0,
                        "is damaged: the %s are not those of a rating matrix",
                        gcg_gcs_section_names[section]);
    return gcg_fail(
        err, GCG_ERR_DATA, s->g->name, 0, 0,
        "is damaged: the check sum of the %s (bytes %lld to %lld) does not fit; make it again with "
        "gcg-mc convert",
        gcg_gcs_section_names[section], (long long)(e->offset + from), (long long)(e->offset + to - 1));
}

static gcg_status tell_progress(const sweep *s, int64_t chunks, gcg_err *err)
{
    const gcg_gcs *g = s->g;
    int64_t whole = g->header.file_bytes, done = chunks * GCG_GCS_CHUNK;
    if (!g->progress || !g->progress(done < whole ? done : whole, whole, g->progress_user)) return GCG_OK;
    return gcg_fail(err, GCG_ERR_IO, g->name, 0, 0, "interrupted while reading");
}

/* Checks chunks first..end-1, some after others, so that progress can be told. */
static gcg_status check_chunks(sweep *s, int64_t first, int64_t end, gcg_err *err)
{
    const int64_t batch = 64; /* a quarter of a gigabyte */
    gcg_status status = GCG_OK;
    for (int64_t stop; first < end && status == GCG_OK; first = stop) {
        stop = end - first < batch ? end : first + batch;
        s->first = first;
        gcg_par_blocks(stop - first, check_chunk, s);
        for (int64_t c = first; c < stop; c++)
            if (s->fault[c] != SOUND) return tell_fault(s, c, err);
        status = tell_progress(s, stop, err);
    }
    return status;
}

/* The bytes between sections are zero, and the check sums have theirs. */
static gcg_status check_frame(const gcg_gcs *g, gcg_err *err)
{
    const gcg_gcs_extent *s = g->header.section;
    const char *file = gcg_mapping_bytes(g->map);
    for (int k = 1; k < GCG_GCS_SECTIONS; k++)
        for (int64_t at = s[k - 1].offset + s[k - 1].bytes; at < s[k].offset; at++)
            if (file[at] != 0)
                return gcg_fail(err, GCG_ERR_DATA, g->name, 0, 0,
                                "is damaged: byte %lld, between the %s and the %s, is not zero",
                                (long long)at, gcg_gcs_section_names[k - 1], gcg_gcs_section_names[k]);
    if (gcg_gcs_hash(section_start(g, GCG_GCS_SUMS), s[GCG_GCS_SUMS].bytes) != g->header.sums_hash)
        return gcg_fail(
            err, GCG_ERR_DATA, g->name, 0, 0,
            "is damaged: the check sum of the check sums does not fit; make it again with gcg-mc convert");
    return GCG_OK;
}

static gcg_status check_ids(const gcg_gcs *g, gcg_err *err)
{
    const gcg_gcs_extent *s = g->header.section;
    int users = ids_are_sound(g->users, s[GCG_GCS_USERS].bytes, g->header.users);
    if (users && ids_are_sound(g->items, s[GCG_GCS_ITEMS].bytes, g->header.items)) return GCG_OK;
    return gcg_fail(err, GCG_ERR_DATA, g->name, 0, 0, "is damaged: the %s are not lines of ids",
                    gcg_gcs_section_names[users ? GCG_GCS_ITEMS : GCG_GCS_USERS]);
}

/* Row starts first: the columns are checked by rows. */
static gcg_status check_all(const gcg_gcs *g, gcg_err *err)
{
    sweep s = {.g = g};
    for (int k = 1; k < GCG_GCS_SECTIONS; k++)
        s.chunk_of[k] = s.chunk_of[k - 1] + gcg_gcs_chunks(g->header.section[k - 1].bytes);
    gcg_status status = check_frame(g, err);
    if (status != GCG_OK) return status;
    s.fault = gcg_mem_zalloc_array(s.chunk_of[GCG_GCS_SUMS], 1);
    if (!s.fault) return gcg_fail_memory(err, "checking a binary store");
    status = check_chunks(&s, 0, s.chunk_of[GCG_GCS_COL], err);
    if (status == GCG_OK) status = check_chunks(&s, s.chunk_of[GCG_GCS_COL], s.chunk_of[GCG_GCS_SUMS], err);
    if (status == GCG_OK) status = check_ids(g, err);
    gcg_mem_free(s.fault);
    return status;
}

gcg_status gcg_gcs_open_mapping(gcg_gcs *g, gcg_mapping *map, const char *name, gcg_err *err)
{
    *g = (gcg_gcs){.map = map, .name = name, .progress = g->progress, .progress_user = g->progress_user};
    gcg_status status = gcg_gcs_decode(gcg_mapping_bytes(map), gcg_mapping_size(map), name, &g->header, err);
    if (status == GCG_OK) {
        g->users = section_start(g, GCG_GCS_USERS);
        g->items = section_start(g, GCG_GCS_ITEMS);
        g->row_ptr = (const int64_t *)(const void *)section_start(g, GCG_GCS_ROW_PTR);
        g->col = (const int32_t *)(const void *)section_start(g, GCG_GCS_COL);
        const void *values = section_start(g, GCG_GCS_VALUES);
        if (g->header.value_bytes == 4)
            g->val_f = values;
        else
            g->val_d = values;
        if (g->header.has_weights) g->weight = (const float *)(const void *)section_start(g, GCG_GCS_WEIGHTS);
        status = check_all(g, err);
    }
    if (status != GCG_OK) gcg_gcs_close(g);
    return status;
}

gcg_status gcg_gcs_open(gcg_gcs *g, const char *path, const gcg_read_options *options, gcg_err *err)
{
    gcg_mapping *map;
    *g = (gcg_gcs){0};
    if (options) {
        g->progress = options->progress;
        g->progress_user = options->progress_user;
    }
    gcg_status status = gcg_mapping_open(path, &map, err);
    return status == GCG_OK ? gcg_gcs_open_mapping(g, map, gcg_read_display_name(path), err) : status;
}

void gcg_gcs_close(gcg_gcs *g)
{
    gcg_mapping_close(g->map);
    *g = (gcg_gcs){0};
}

/* ---- the training set ---- */

/* One of the two id sections on its way into a map. */
typedef struct {
    const char *text;
    int32_t count;
    gcg_idmap *map;
    gcg_status status;
    gcg_err err;
} id_load;

/* Canonical order of two neighbours (idmap.h): numbers by value, else by bytes. Canonical integers of one
 * sign compare by length first. */
static int comes_before(const char *a, size_t na, const char *b, size_t nb, int integers)
{
    if (integers) {
        int a_negative = *a == '-', b_negative = *b == '-';
        if (a_negative != b_negative) return a_negative;
        if (na != nb) return a_negative ? na > nb : na < nb;
        int order = memcmp(a, b, na);
        return a_negative ? order > 0 : order < 0;
    }
    int order = memcmp(a, b, na < nb ? na : nb);
    return order < 0 || (order == 0 && na < nb);
}

static int is_canonical_order(const char *text, int32_t count, int integers)
{
    const char *last = text, *last_end = strchr(text, '\n');
    for (int32_t k = 1; k < count; k++) {
        const char *id = last_end + 1, *end = strchr(id, '\n');
        if (!comes_before(last, (size_t)(last_end - last), id, (size_t)(end - id), integers)) return 0;
        last = id;
        last_end = end;
    }
    return 1;
}

static void load_ids(int64_t block, void *ctx)
{
    id_load *l = (id_load *)ctx + block;
    const char *p = l->text;
    int32_t index;
    l->status = gcg_idmap_new(&l->map, &l->err);
    for (int32_t k = 0; k < l->count && l->status == GCG_OK; k++) {
        const char *end = strchr(p, '\n');
        l->status = gcg_idmap_add(l->map, p, (size_t)(end - p), &index, &l->err);
        p = end + 1;
    }
    if (l->status == GCG_OK && !is_canonical_order(l->text, l->count, gcg_idmap_is_integer(l->map)))
        l->status = gcg_fail(&l->err, GCG_ERR_DATA, NULL, 0, 0, "ids are not in their order");
}

gcg_status gcg_gcs_take(gcg_gcs *g, gcg_ratings *out, gcg_err *err)
{
    const gcg_gcs_header *h = &g->header;
    id_load load[2] = {{.text = g->users, .count = h->users}, {.text = g->items, .count = h->items}};
    gcg_par_blocks(2, load_ids, load);
    for (int k = 0; k < 2; k++) {
        if (load[k].status == GCG_OK) continue;
        gcg_idmap_free(load[0].map);
        gcg_idmap_free(load[1].map);
        if (load[k].status == GCG_ERR_NOMEM) return gcg_fail_memory(err, "ids");
        return gcg_fail(err, GCG_ERR_DATA, g->name, 0, 0, "is damaged: the %s are not distinct and in order",
                        gcg_gcs_section_names[k]);
    }
    *out = (gcg_ratings){.users = load[0].map, .items = load[1].map};
    out->x = (gcg_csr){.rows = h->users,
                       .cols = h->items,
                       .nnz = h->ratings,
                       .row_ptr = (int64_t *)(uintptr_t)g->row_ptr, /* read only: csr.h */
                       .col = (int32_t *)(uintptr_t)g->col,
                       .val_f = (float *)(uintptr_t)g->val_f,
                       .val_d = (double *)(uintptr_t)g->val_d,
                       .weight = (float *)(uintptr_t)g->weight,
                       .map = g->map};
    out->report = (gcg_read_report){
        .format = GCG_FORMAT_GCS, .points = h->ratings, .duplicates = h->duplicates, .bytes = h->file_bytes};
    *g = (gcg_gcs){0};
    return GCG_OK;
}

/* Weights are taken when they are asked for. */
static gcg_status settle_weights(const char *path, const gcg_read_options *options, gcg_diag *diag,
                                 gcg_csr *x, gcg_err *why)
{
    const char *name = gcg_read_display_name(path);
    if (options->weights && !x->weight)
        return gcg_fail(why, GCG_ERR_DATA, name, 0, 0, "%s", gcg_gcs_no_weights);
    if (!options->weights && x->weight) gcg_report(diag, GCG_NOTE, name, 0, 0, "%s", gcg_gcs_ignored_weights);
    if (!options->weights) x->weight = NULL;
    return GCG_OK;
}

/* Would the options give another value than the one that is there? */
static int changes_a_value(const gcg_csr *x, const gcg_read_options *options)
{
    int changes = 0;
    if (!options->implicit && options->value_map_count == 0) return 0;
    for (int64_t p = 0, done = 0; p < x->nnz && !changes; p++) {
        double value = gcg_csr_value(x, p);
        changes = options->implicit && value != 1;
        for (int k = 0; k < options->value_map_count; k++) changes |= options->value_maps[k].from == value;
        done = gcg_csr_pass_step(x, done, p);
    }
    return changes;
}

gcg_status gcg_gcs_read_ratings(const char *path, const gcg_read_options *options, gcg_diag *diag,
                                gcg_ratings *out, int *done, gcg_err *err)
{
    double start = gcg_clock_now();
    gcg_gcs g;
    gcg_err why;
    *out = (gcg_ratings){0};
    *done = 1;
    gcg_status status = gcg_read_options_check(options, err);
    if (status != GCG_OK) return status;
    status = gcg_gcs_open(&g, path, options, &why);
    if (status == GCG_OK) {
        status = gcg_gcs_take(&g, out, &why);
        gcg_gcs_close(&g);
        if (status == GCG_OK) status = settle_weights(path, options, diag, &out->x, &why);
        if (status != GCG_OK) gcg_ratings_release(out);
    }
    if (status != GCG_OK) {
        if (status != GCG_ERR_NOMEM)
            gcg_report(diag, GCG_ERROR, gcg_read_display_name(path), 0, 0, "%s", why.text);
        if (err) *err = why;
        return status;
    }
    if (changes_a_value(&out->x, options)) {
        gcg_ratings_release(out);
        *done = 0;
        return GCG_OK;
    }
    out->report.seconds = gcg_clock_now() - start;
    gcg_report(diag, GCG_NOTE, gcg_read_display_name(path), 0, 0, "read as %s",
               gcg_format_name(GCG_FORMAT_GCS));
    return GCG_OK;
}
