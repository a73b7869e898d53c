/* The training set and test data from files: see ratings.h. What it takes per rating: fill.h. */
#include "io/ratings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "io/fill.h"
#include "io/gcs.h"
#include "io/points.h"
#include "io/rows.h"
#include "io/stream.h"

typedef struct {
    gcg_points points;
    gcg_idmap *users, *items;
} builder;

/* Adds the ids 1..n. */
static gcg_status add_declared(gcg_idmap *map, int64_t n, gcg_err *err)
{
    char text[32];
    int32_t index;
    gcg_status status = GCG_OK;
    for (int64_t k = 1; k <= n && status == GCG_OK; k++) {
        int length = snprintf(text, sizeof text, "%lld", (long long)k);
        status = gcg_idmap_add(map, text, (size_t)length, &index, err);
    }
    return status;
}

/* Canonical ids: number receives the new number of each old one (to be freed). */
static gcg_status renumber(gcg_idmap *map, int32_t **number, gcg_err *err)
{
    *number = gcg_mem_alloc_array(gcg_idmap_count(map), sizeof **number);
    if (!*number) return gcg_fail_memory(err, "sorting ids");
    return gcg_idmap_sort(map, *number, err);
}

/* A pair's later occurrence: point number and position in x of it and of the first one. */
typedef struct {
    int64_t later, later_at, first, first_at;
} repeat;

/* Goes through the points again. For the first max points whose position is marked 1, fills found and marks
 * the first occurrence of their pair 2 (look_for_first = 0); or finds the numbers of those first occurrences
 * (1). */
static int replay(const gcg_points *points, gcg_csr *x, unsigned char *mark, repeat *found, int count,
                  int look_for_first)
{
    for (int64_t k = 0; k < points->user.count; k++) {
        const int32_t *user = points->user.chunk[k];
        int64_t n = gcg_points_in_chunk(points, k);
        for (int64_t i = 0; i < n; i++) {
            int64_t p = x->row_ptr[user[i]]++, s = k * GCG_POINTS_CHUNK + i;
            if (!look_for_first && mark[p] == 1 && count < GCG_DIAG_MAX_ERRORS)
                found[count++] = (repeat){.later = s, .later_at = p};
            for (int j = 0; look_for_first && mark[p] == 2 && j < count; j++)
                if (found[j].first_at == p) found[j].first = s;
        }
    }
    memmove(x->row_ptr + 1, x->row_ptr, (size_t)x->rows * sizeof *x->row_ptr); /* back to the starts */
    x->row_ptr[0] = 0;
    return count;
}

static void tell_repeat(const builder *b, const gcg_csr *x, const repeat *r, gcg_diag *diag, gcg_err *err)
{
    char user[256], item[256], name[GCG_ID_TEXT], where[320];
    const char *file, *first_file;
    int64_t line, first_line;
    gcg_points_place(&b->points, r->later, &file, &line);
    gcg_points_place(&b->points, r->first, &first_file, &first_line);
    gcg_quote(user, name, (int64_t)gcg_idmap_name(b->users, gcg_csr_row_of(x, r->later_at), name));
    gcg_quote(item, name, (int64_t)gcg_idmap_name(b->items, x->col[r->later_at], name));
    if (strcmp(file, first_file) == 0)
        snprintf(where, sizeof where, "line %lld", (long long)first_line);
    else
        snprintf(where, sizeof where, "line %lld of %.255s", (long long)first_line, first_file);
    if (err)
        gcg_fail(
            err, GCG_ERR_DATA, file, line, 1,
            "user '%s' rates item '%s' again (first on %s); --duplicates first, last, mean or sum allows it",
            user, item, where);
    gcg_report(
        diag, GCG_ERROR, file, line, 1,
        "user '%s' rates item '%s' again (first on %s); --duplicates first, last, mean or sum allows it",
        user, item, where);
}

/* Reports the first duplicates in input order and counts the rest. */
static gcg_status tell_repeats(const builder *b, gcg_csr *x, int64_t duplicates, gcg_diag *diag, gcg_err *err)
{
    repeat found[GCG_DIAG_MAX_ERRORS];
    unsigned char *mark = gcg_mem_zalloc_array(x->nnz, 1);
    if (!mark) return gcg_fail_memory(err, "looking for duplicates");
    gcg_status status = gcg_rows_mark_repeats(x, mark, err);
    if (status == GCG_OK) {
        int count = replay(&b->points, x, mark, found, 0, 0);
        for (int j = 0; j < count; j++) {
            int64_t q = x->row_ptr[gcg_csr_row_of(x, found[j].later_at)];
            while (x->col[q] != x->col[found[j].later_at]) q++;
            found[j].first_at = q;
            mark[q] = 2;
        }
        replay(&b->points, x, mark, found, count, 1);
        for (int j = 0; j < count; j++) tell_repeat(b, x, &found[j], diag, j == 0 ? err : NULL);
        if (diag) {
            diag->errors += duplicates - count;
            gcg_report_rest(diag, NULL);
        }
        status = GCG_ERR_DATA;
    }
    gcg_mem_free(mark);
    return status;
}

/* Sorts the rows and deals with duplicates. */
static gcg_status settle(builder *b, const gcg_read_options *options, gcg_diag *diag, gcg_ratings *out,
                         gcg_err *err)
{
    static const char *const name[] = {"error", "first", "last", "mean", "sum"};
    int refuse = options->duplicates == GCG_DUP_ERROR;
    gcg_status told = GCG_OK;
    int64_t *duplicates = &out->report.duplicates, again;
    gcg_status status = gcg_rows_sort(&out->x, refuse, duplicates, err);
    if (status != GCG_OK || *duplicates == 0) return status;
    if (refuse) {
        told = tell_repeats(b, &out->x, *duplicates, diag, err);
        if (told != GCG_ERR_DATA || !options->keep_duplicates) return told;
        status = gcg_rows_sort(&out->x, 0, &again, err);
    }
    if (status == GCG_OK)
        status = gcg_rows_merge(&out->x, options->duplicates, &out->report.merged_pairs, err);
    if (status != GCG_OK) return status;
    if (!refuse && !options->pairs)
        gcg_report(diag, GCG_NOTE, NULL, 0, 0,
                   "%lld pairs occurred more than once and were merged (--duplicates %s)",
                   (long long)out->report.merged_pairs, name[options->duplicates]);
    return told;
}

static gcg_status no_ratings(const char *path, int path_count, const gcg_read_report *report, gcg_diag *diag,
                             gcg_err *err)
{
    const char *file = gcg_read_display_name(path);
    const char *text = report->dropped > 0 ? "no ratings are left after the value maps"
                       : path_count > 1    ? "no ratings in this file and those after it"
                                           : "no ratings in it";
    gcg_report(diag, GCG_ERROR, file, 0, 0, "%s", text);
    return gcg_fail(err, GCG_ERR_DATA, file, 0, 0, "%s", text);
}

/* Everything after reading. */
static gcg_status build(builder *b, const gcg_read_options *options, gcg_diag *diag, gcg_ratings *out,
                        gcg_err *err)
{
    int32_t *user_number = NULL, *item_number = NULL;
    gcg_status status = renumber(b->users, &user_number, err);
    if (status == GCG_OK) status = renumber(b->items, &item_number, err);
    if (status == GCG_OK)
        status = gcg_fill_rows(&b->points, user_number, item_number, gcg_idmap_count(b->users),
                               gcg_idmap_count(b->items), b->points.keep_lines, &out->x, err);
    gcg_mem_free(user_number);
    gcg_mem_free(item_number);
    if (status == GCG_OK) status = settle(b, options, diag, out, err);
    return status;
}

gcg_status gcg_ratings_read(const char *const *paths, int path_count, const gcg_read_options *options,
                            gcg_diag *diag, gcg_ratings *out, gcg_err *err)
{
    builder b = {0};
    gcg_sink sink = {.points = &b.points};
    *out = (gcg_ratings){0};
    if (path_count == 1 && gcg_gcs_is_store(paths[0])) {
        int done;
        gcg_status mapped = gcg_gcs_read_ratings(paths[0], options, diag, out, &done, err);
        if (mapped != GCG_OK || done) return mapped;
    }
    gcg_points_init(&b.points, options->duplicates == GCG_DUP_ERROR, options->weights != NULL);
    gcg_status status = gcg_idmap_new(&b.users, err);
    if (status == GCG_OK) status = gcg_idmap_new(&b.items, err);
    sink.users = b.users;
    sink.items = b.items;
    if (status == GCG_OK) status = gcg_read_files(paths, path_count, options, diag, &sink, &out->report, err);
    int empty = status == GCG_OK && b.points.n == 0;
    if (empty && !options->may_be_empty) status = no_ratings(paths[0], path_count, &out->report, diag, err);
    if (status == GCG_OK && !empty) status = add_declared(b.users, sink.rows, err);
    if (status == GCG_OK && !empty) status = add_declared(b.items, sink.cols, err);
    if (status == GCG_OK && !empty) status = build(&b, options, diag, out, err);
    gcg_points_release(&b.points);
    out->users = b.users;
    out->items = b.items;
    int kept = status == GCG_ERR_DATA && options->keep_duplicates && out->report.duplicates > 0;
    if ((status != GCG_OK && !kept) || empty) {
        gcg_read_report report = out->report;
        gcg_ratings_release(out);
        out->report = report;
    }
    return status;
}

void gcg_ratings_release(gcg_ratings *r)
{
    gcg_csr_release(&r->x);
    gcg_idmap_free(r->users);
    gcg_idmap_free(r->items);
    *r = (gcg_ratings){0};
}

gcg_status gcg_pairs_add(gcg_pairs *p, int64_t *room, int32_t user, int32_t item, double value, gcg_err *err)
{
    enum { FIRST_ROOM = 1024 };
    if (p->n == *room) {
        int64_t more = *room ? 2 * *room : FIRST_ROOM;
        int32_t *users = gcg_mem_resize_array(p->user, p->n, more, sizeof *users);
        if (users) p->user = users;
        int32_t *items = users ? gcg_mem_resize_array(p->item, p->n, more, sizeof *items) : NULL;
        if (items) p->item = items;
        double *values = items ? gcg_mem_resize_array(p->value, p->n, more, sizeof *values) : NULL;
        if (!values) return gcg_fail_memory(err, "test data");
        p->value = values;
        *room = more;
    }
    p->user[p->n] = user;
    p->item[p->n] = item;
    p->value[p->n++] = value;
    return GCG_OK;
}

typedef struct {
    gcg_pairs *pairs;
    int64_t room;
    const gcg_idmap *users, *items;
} pairs_builder;

static gcg_status add_pair(const gcg_point *point, void *user, gcg_err *err)
{
    pairs_builder *b = user;
    return gcg_pairs_add(b->pairs, &b->room, gcg_idmap_find(b->users, point->user, point->user_length),
                         gcg_idmap_find(b->items, point->item, point->item_length),
                         point->has_value ? point->value : NAN, err);
}

gcg_status gcg_pairs_read(const char *const *paths, int path_count, const gcg_read_options *options,
                          const gcg_idmap *users, const gcg_idmap *items, gcg_diag *diag, gcg_pairs *out,
                          gcg_read_report *report, gcg_err *err)
{
    pairs_builder b = {.pairs = out, .users = users, .items = items};
    *out = (gcg_pairs){0};
    gcg_status status = gcg_read_stream(paths, path_count, options, diag, add_pair, &b, report, err);
    if (status != GCG_OK) gcg_pairs_release(out);
    return status;
}

void gcg_pairs_release(gcg_pairs *p)
{
    gcg_mem_free(p->user);
    gcg_mem_free(p->item);
    gcg_mem_free(p->value);
    *p = (gcg_pairs){0};
}
