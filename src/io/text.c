/* Buffers of whole lines: see text.h. */
#define _GNU_SOURCE /* memrchr */
#include "io/text.h"

#include <string.h>
#include "base/mem.h"

void gcg_text_release(gcg_text *t)
{
    gcg_mem_free(t->bytes);
    *t = (gcg_text){0};
}

static gcg_status reserve(gcg_text *t, int64_t size, gcg_err *err)
{
    if (t->capacity >= size + GCG_TEXT_PADDING) return GCG_OK;
    char *bytes = gcg_mem_resize_array(t->bytes, t->end, size + GCG_TEXT_PADDING, 1);
    if (!bytes) return gcg_fail_memory(err, "input buffer");
    t->bytes = bytes;
    t->capacity = size + GCG_TEXT_PADDING;
    return GCG_OK;
}

/* Reads want bytes more and looks for the end of the last whole line among them. */
static gcg_status append(gcg_text *t, gcg_input *in, int64_t want, gcg_err *err)
{
    int64_t got = 0, old_end = t->end;
    gcg_status status = reserve(t, t->end + want, err);
    if (status == GCG_OK) status = gcg_input_read(in, t->bytes + t->end, want, &got, err);
    if (status != GCG_OK) return status;
    t->end += got;
    t->ended = got < want;
    const char *lf = memrchr(t->bytes + old_end, '\n', (size_t)got);
    if (lf) t->cut = lf + 1 - t->bytes;
    if (t->ended && gcg_input_end(in, NULL) == GCG_OK) t->cut = t->end;
    return GCG_OK;
}

gcg_status gcg_text_fill(gcg_text *t, const gcg_text *before, gcg_input *in, int64_t want, gcg_err *err)
{
    int64_t rest = before ? before->end - before->cut : 0;
    t->from = t->cut = t->end = 0;
    t->ended = 0;
    gcg_status status = reserve(t, rest + want, err);
    if (status != GCG_OK) return status;
    if (rest > 0) memcpy(t->bytes, before->bytes + before->cut, (size_t)rest);
    t->end = rest;
    do {
        status = append(t, in, want, err);
        while (want < t->end) want *= 2; /* a long line */
    } while (status == GCG_OK && t->cut == 0 && !t->ended);
    if (status == GCG_OK) memset(t->bytes + t->end, 0, GCG_TEXT_PADDING);
    return status;
}

enum { LANES = 16, MOST = 255 /* steps after which a lane of counts may overflow */ };
typedef uint8_t lanes __attribute__((vector_size(LANES)));

gcg_text_scan gcg_text_look(const char *text, int64_t length)
{
    gcg_text_scan s = {0};
    lanes cr = {0}, quote = {0}, nul = {0};
    int64_t at = 0;
    while (length - at >= LANES) {
        lanes lf = {0};
        for (int k = 0; k < MOST && length - at >= LANES; k++, at += LANES) {
            lanes v;
            memcpy(&v, text + at, sizeof v);
            lf -= (lanes)(v == '\n');
            cr |= (lanes)(v == '\r');
            quote |= (lanes)(v == '"');
            nul |= (lanes)(v == 0);
        }
        for (int k = 0; k < LANES; k++) s.lines += lf[k];
    }
    for (; at < length; at++) {
        s.lines += text[at] == '\n';
        s.cr |= text[at] == '\r';
        s.quote |= text[at] == '"';
        s.nul |= text[at] == 0;
    }
    for (int k = 0; k < LANES; k++) {
        s.cr |= cr[k] != 0;
        s.quote |= quote[k] != 0;
        s.nul |= nul[k] != 0;
    }
    return s;
}

const char *gcg_text_cut(const char *text, const char *end, int64_t size)
{
    if (end - text <= size) return end;
    const char *lf = memchr(text + size - 1, '\n', (size_t)(end - (text + size - 1)));
    return lf ? lf + 1 : end;
}
