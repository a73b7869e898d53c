/* Lists of ids: see id_list.h. */
#include "io/id_list.h"

#include <string.h>

#include "base/mem.h"
#include "io/fields.h"
#include "io/input.h"
#include "io/text.h"
#include "store/idmap.h"

enum { WANT = 1 << 16 /* bytes read at once */ };

struct gcg_id_list {
    gcg_input *in;
    gcg_text text[2]; /* they take turns */
    int current, started;
    int64_t line, col;
    char id[GCG_ID_TEXT]; /* of a field with doubled quotes */
};

gcg_status gcg_id_list_open(const char *path, gcg_id_list **list, gcg_err *err)
{
    gcg_id_list *l = *list = gcg_mem_zalloc_array(1, sizeof *l);
    if (!l) return gcg_fail_memory(err, "list of ids");
    gcg_status status = gcg_input_open(path, 0, 0, &l->in, err);
    if (status) {
        gcg_id_list_close(l);
        *list = NULL;
    }
    return status;
}

void gcg_id_list_close(gcg_id_list *list)
{
    if (!list) return;
    gcg_input_close(list->in);
    gcg_text_release(&list->text[0]);
    gcg_text_release(&list->text[1]);
    gcg_mem_free(list);
}

const char *gcg_id_list_name(const gcg_id_list *list)
{
    return gcg_input_name(list->in);
}

int64_t gcg_id_list_line(const gcg_id_list *list)
{
    return list->line;
}

int64_t gcg_id_list_col(const gcg_id_list *list)
{
    return list->col;
}

static void skip_byte_order_mark(gcg_text *t)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (t->cut >= 3 && memcmp(t->bytes, mark, 3) == 0) t->from = 3;
}

/* The next line, without LF or CRLF; *found = 0 after the last. */
static gcg_status next_line(gcg_id_list *l, const char **start, const char **end, int *found, gcg_err *err)
{
    gcg_text *t = &l->text[l->current];
    while (t->from == t->cut) {
        gcg_text *next = &l->text[!l->current];
        *found = 0;
        if (t->ended) return gcg_input_end(l->in, err);
        gcg_status status = gcg_text_fill(next, l->started ? t : NULL, l->in, WANT, err);
        if (status) return status;
        if (!l->started) skip_byte_order_mark(next);
        l->started = 1;
        l->current = !l->current;
        t = next;
    }
    char *from = t->bytes + t->from, *lf = memchr(from, '\n', (size_t)(t->cut - t->from));
    *start = from;
    *end = lf ? lf : t->bytes + t->cut;
    t->from = lf ? lf + 1 - t->bytes : t->cut;
    if (*end > *start && (*end)[-1] == '\r') (*end)--;
    l->line++;
    *found = 1;
    return GCG_OK;
}

static gcg_status bad(const gcg_id_list *l, const char *what, gcg_err *err)
{
    return gcg_fail(err, GCG_ERR_DATA, gcg_id_list_name(l), l->line, l->col, "%s", what);
}

/* The id of a line that is neither blank nor a comment. */
static gcg_status take_id(gcg_id_list *l, const char *start, const char *end, const char **id, size_t *length,
                          gcg_err *err)
{
    const gcg_separator tab = {'\t', 1};
    const char *at = start;
    gcg_field f = {.start = start, .text = start};
    gcg_field_result result = gcg_field_next(tab, &at, end, &f);
    l->col = f.start - start + 1;
    if (result != GCG_FIELD_OK)
        return bad(l,
                   result == GCG_FIELD_OPEN_QUOTE ? "a quoted id without its closing quote"
                                                  : "text after the closing quote of an id",
                   err);
    if (f.length == 0) return bad(l, "the id is empty", err);
    if (f.length > GCG_ID_MAX) return bad(l, "an id has more than 1024 bytes", err);
    for (int64_t i = 0; i < f.length; i++)
        if ((unsigned char)f.text[i] < 0x20 || f.text[i] == 0x7f)
            return bad(l, "an id with a control character: this is no list of ids, one a line", err);
    *id = f.escaped ? l->id : f.text;
    *length = (size_t)(f.escaped ? gcg_field_unescape(&f, l->id) : f.length);
    return GCG_OK;
}

gcg_status gcg_id_list_next(gcg_id_list *list, const char **id, size_t *length, int *found, gcg_err *err)
{
    for (;;) {
        const char *start = NULL, *end = NULL, *p;
        gcg_status status = next_line(list, &start, &end, found, err);
        if (status || !*found) return status;
        for (p = start; p < end && (*p == ' ' || *p == '\t');) p++;
        if (p < end && *start != '#' && *start != '%') return take_id(list, start, end, id, length, err);
    }
}
