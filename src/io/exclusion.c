/* Pairs that are not to be recommended: see exclusion.h. */
#include "io/exclusion.h"

#include "base/mem.h"
#include "io/stream.h"

gcg_status gcg_exclusion_view(const gcg_ratings *r, const gcg_idmap *items, gcg_exclusion *out, gcg_err *err)
{
    char name[GCG_ID_TEXT];
    int32_t count = gcg_idmap_count(items);
    *out =
        (gcg_exclusion){.x = &r->x, .users = r->users, .column = gcg_mem_alloc_array(count, sizeof(int32_t))};
    if (!out->column) {
        *out = (gcg_exclusion){0};
        return gcg_fail_memory(err, "items of the excluded pairs");
    }
    for (int32_t j = 0; j < count; j++) {
        size_t length = gcg_idmap_name(items, j, name);
        out->column[j] = gcg_idmap_find(r->items, name, length);
    }
    return GCG_OK;
}

/* Drops what a pattern does not need. */
static void forget_values(gcg_ratings *r)
{
    gcg_csr_free_array(&r->x, r->x.val_f);
    gcg_csr_free_array(&r->x, r->x.val_d);
    r->x.val_f = NULL;
    r->x.val_d = NULL;
}

gcg_status gcg_exclusion_read(const char *const *paths, int path_count, const gcg_read_options *options,
                              const gcg_idmap *items, gcg_diag *diag, gcg_exclusion *out, gcg_err *err)
{
    gcg_read_options o = *options;
    gcg_ratings r;
    o.pairs = 1;
    o.may_be_empty = 1;
    o.duplicates = GCG_DUP_LAST;
    o.weights = NULL;
    *out = (gcg_exclusion){0};
    gcg_status status = gcg_ratings_read(paths, path_count, &o, diag, &r, err);
    if (status) return status;
    if (!r.users) {
        gcg_report(diag, GCG_WARNING, gcg_read_display_name(paths[0]), 0, 0, "%s: nothing is left out",
                   path_count > 1 ? "no pairs in this file and those after it" : "no pairs in it");
        return GCG_OK;
    }
    forget_values(&r);
    status = gcg_exclusion_view(&r, items, out, err);
    out->own = r;
    out->x = &out->own.x;
    gcg_idmap_free(out->own.items);
    out->own.items = NULL;
    if (status) gcg_exclusion_release(out);
    return status;
}

void gcg_exclusion_release(gcg_exclusion *e)
{
    gcg_ratings_release(&e->own);
    gcg_mem_free(e->column);
    *e = (gcg_exclusion){0};
}

int32_t gcg_exclusion_row(const gcg_exclusion *e, const char *user, size_t length)
{
    return e->x ? gcg_idmap_find(e->users, user, length) : -1;
}
