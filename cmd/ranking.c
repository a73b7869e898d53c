/* Lists of best items: see ranking.h. */
#include "cmd/ranking.h"

#include <stdio.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/report.h"
#include "io/number.h"

enum { GROUPS_A_THREAD = 4, ROW = 2 * GCG_ID_MAX + 64 /* no line is longer */ };

struct ranking_user {
    int64_t name; /* where its id begins in names */
    int32_t name_length, row;
    int32_t pairs[RANKING_EXCLUSIONS]; /* its rows in the exclusions */
};

/* The lines of one group. */
struct ranking_piece {
    char *text;
    int64_t length, room;
    gcg_status status;
    gcg_err err;
};

int ranking_add_text(const char *text, void *field, char *message, size_t size)
{
    ranking_texts *list = field;
    if (*text && list->count < RANKING_MAX_TEXTS) {
        list->text[list->count++] = text;
        return 0;
    }
    if (*text)
        snprintf(message, size, "is one too many (%d at most)", RANKING_MAX_TEXTS);
    else
        snprintf(message, size, "is empty");
    return -1;
}

gcg_status ranking_begin(ranking *r, int64_t n, int new_users, gcg_err *err)
{
    gcg_status status = gcg_blas_reserve(gcg_par_threads(), err);
    if (!status) status = gcg_top_init(&r->top, &r->scorer, n, new_users, err);
    if (status) return status;
    r->group = gcg_top_group(&r->top);
    r->pieces = (int64_t)GROUPS_A_THREAD * gcg_par_threads();
    r->user = gcg_mem_alloc_array(r->pieces * r->group, sizeof *r->user);
    r->piece = gcg_mem_zalloc_array(r->pieces, sizeof *r->piece);
    return r->user && r->piece ? GCG_OK : gcg_fail_memory(err, "users");
}

void ranking_release(ranking *r)
{
    for (int64_t g = 0; r->piece && g < r->pieces; g++) gcg_mem_free(r->piece[g].text);
    gcg_mem_free(r->piece);
    gcg_mem_free(r->user);
    gcg_mem_free(r->names);
    gcg_top_release(&r->top);
    *r = (ranking){0};
}

/* ---- a group ---- */

typedef struct {
    const ranking *r;
    const ranking_user *user;
} group_ctx;

static int is_excluded(int32_t k, int32_t item, void *ctx)
{
    const group_ctx *g = ctx;
    for (int e = 0; e < RANKING_EXCLUSIONS; e++)
        if (g->r->exclusion[e] && gcg_exclusion_has(g->r->exclusion[e], g->user[k].pairs[e], item)) return 1;
    return 0;
}

static char *put_bytes(char *p, const char *bytes, size_t length)
{
    memcpy(p, bytes, length);
    return p + length;
}

static gcg_status put_row(const ranking *r, ranking_piece *piece, const ranking_user *u, int64_t rank,
                          const gcg_top_entry *entry)
{
    char number[32];
    if (piece->room - piece->length < ROW) {
        int64_t room = 2 * piece->room + ROW;
        char *text = gcg_mem_resize_array(piece->text, piece->length, room, 1);
        if (!text) return gcg_fail_memory(&piece->err, "text of the best items");
        piece->text = text;
        piece->room = room;
    }
    char *p = put_bytes(piece->text + piece->length, r->names + u->name, (size_t)u->name_length);
    *p++ = '\t';
    p = gcg_count_put(p, (uint64_t)rank);
    *p++ = '\t';
    p += gcg_idmap_name(r->model->items, entry->item, p);
    *p++ = '\t';
    report_number(number, entry->score);
    p = put_bytes(p, number, strlen(number));
    *p++ = '\n';
    piece->length = p - piece->text;
    return GCG_OK;
}

static gcg_status rank_users(const ranking *r, ranking_piece *piece, const ranking_user *user, int32_t count)
{
    group_ctx ctx = {r, user};
    const int64_t n = r->top.n;
    gcg_top_entry *best = gcg_mem_alloc_array(count * n, sizeof *best);
    int32_t *row = gcg_mem_alloc_array(count, sizeof *row);
    int64_t *found = gcg_mem_alloc_array(count, sizeof *found);
    gcg_status status = best && row && found ? GCG_OK : gcg_fail_memory(&piece->err, "best items");
    for (int32_t k = 0; k < count && !status; k++) row[k] = user[k].row;
    if (!status)
        status = gcg_top_best(&r->top, &r->scorer, count, row, is_excluded, &ctx, best, found, &piece->err);
    for (int32_t k = 0; k < count && !status; k++)
        for (int64_t c = 0; c < found[k] && !status; c++)
            status = put_row(r, piece, &user[k], c + 1, &best[k * n + c]);
    gcg_mem_free(best);
    gcg_mem_free(row);
    gcg_mem_free(found);
    return status;
}

static void rank_group(int64_t g, void *ctx)
{
    const ranking *r = ctx;
    int64_t first = g * r->group, left = r->users - first;
    ranking_piece *piece = &r->piece[g];
    piece->length = 0;
    piece->status = rank_users(r, piece, r->user + first, left < r->group ? (int32_t)left : r->group);
}

/* ---- all of them ---- */

static gcg_status flush(ranking *r, gcg_err *err)
{
    static const char names[] = "user\trank\titem\tscore\n";
    int64_t groups = (r->users + r->group - 1) / r->group;
    gcg_par_blocks(groups, rank_group, r);
    gcg_status status = GCG_OK;
    for (int64_t g = 0; g < groups && !status; g++) {
        status = r->piece[g].status;
        if (status && err) *err = r->piece[g].err;
    }
    if (!status && !r->header) status = r->sink.write(r->sink.user, names, sizeof names - 1, err);
    r->header = 1;
    for (int64_t g = 0; g < groups && !status; g++)
        if (r->piece[g].length > 0)
            status = r->sink.write(r->sink.user, r->piece[g].text, (size_t)r->piece[g].length, err);
    r->users = 0;
    r->names_length = 0;
    return status;
}

static gcg_status keep_name(ranking *r, const char *id, size_t length, gcg_err *err)
{
    if (r->names_room - r->names_length < (int64_t)length) {
        int64_t room = 2 * r->names_room + GCG_ID_MAX;
        char *names = gcg_mem_resize_array(r->names, r->names_length, room, 1);
        if (!names) return gcg_fail_memory(err, "users");
        r->names = names;
        r->names_room = room;
    }
    memcpy(r->names + r->names_length, id, length);
    r->names_length += (int64_t)length;
    return GCG_OK;
}

gcg_status ranking_add(ranking *r, const char *id, size_t length, int32_t row, gcg_err *err)
{
    ranking_user *u = &r->user[r->users];
    *u = (ranking_user){.name = r->names_length, .name_length = (int32_t)length, .row = row};
    gcg_status status = keep_name(r, id, length, err);
    if (status) return status;
    for (int e = 0; e < RANKING_EXCLUSIONS; e++)
        u->pairs[e] = r->exclusion[e] ? gcg_exclusion_row(r->exclusion[e], id, length) : -1;
    r->users++;
    return r->users < r->pieces * r->group ? GCG_OK : flush(r, err);
}

gcg_status ranking_finish(ranking *r, gcg_err *err)
{
    return r->users > 0 || !r->header ? flush(r, err) : GCG_OK;
}
