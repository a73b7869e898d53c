/* Rounds of reading: see round.h. */
#include "io/round.h"

#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/parallel.h"
#include "io/formats.h"

enum {
    DETECT_BYTES = 1 << 16, /* looked at to recognise a format */
    PIECE_BYTES = 1 << 18,  /* of a piece: small enough for a cache, large enough to be worth a thread */
    PIECES_PER_THREAD = 8,  /* in a round, so that no thread waits long for the last */
    MOST_PIECES = 128       /* 32 MB of text */
};

struct gcg_piece {
    gcg_reader reader;
    const char *text;
    int64_t length;
    gcg_text_scan scan;
    const char *block;     /* the last line that begins a block, or NULL */
    const char *block_end; /* its end */
    int64_t behind;        /* lines behind it */
    gcg_carry guess;       /* what the piece was read after */
};

void gcg_reading_release(gcg_reading *s)
{
    gcg_text_release(&s->text[0]);
    gcg_text_release(&s->text[1]);
    for (int k = 0; s->piece && k < s->pieces; k++) gcg_reader_release(&s->piece[k].reader);
    gcg_mem_free(s->piece);
    s->piece = NULL;
}

/* Before the first file. */
static gcg_status prepare(gcg_reading *s)
{
    if (s->piece) return GCG_OK;
    int64_t pieces = (int64_t)PIECES_PER_THREAD * gcg_par_threads();
    s->pieces = (int)(pieces < MOST_PIECES ? pieces : MOST_PIECES);
    s->piece_size =
        s->options->block > 0 && s->options->block < PIECE_BYTES ? s->options->block : PIECE_BYTES;
    s->piece = gcg_mem_alloc_array(s->pieces, sizeof *s->piece);
    if (!s->piece) return gcg_fail_memory(s->err, "readers");
    for (int k = 0; k < s->pieces; k++)
        gcg_reader_init(&s->piece[k].reader, s->options, s->sink->users, s->sink->items, &s->layout);
    return GCG_OK;
}

static void tell(gcg_reading *s, gcg_severity severity, gcg_status status, int64_t line, int64_t col,
                 const char *text)
{
    if (severity == GCG_ERROR && s->errors++ == 0) gcg_fail(s->err, status, s->file, line, col, "%s", text);
    gcg_report(s->diag, severity, s->file, line, col, "%s", text);
}

gcg_status gcg_reading_fail(gcg_reading *s, gcg_status status, const char *text)
{
    tell(s, GCG_ERROR, status, 0, 0, text);
    return status;
}

/* ---- taking in what was read ---- */

static void count(gcg_reading *s, const gcg_tally *t)
{
    gcg_read_report *p = s->report;
    p->lines += t->lines;
    p->blank += t->blank;
    p->comment += t->comment;
    p->empty_blocks += t->empty_blocks;
    if (s->errors > 0) return;
    p->points += t->points;
    p->mapped += t->mapped;
    p->dropped += t->dropped;
    s->never_again += t->never_again;
    s->above_100 += t->above_100;
}

static gcg_status take_points(gcg_reading *s, gcg_found *f)
{
    gcg_sink *sink = s->sink;
    gcg_status status = GCG_OK;
    f->base = -1; /* nothing to put */
    if (s->errors > 0) return GCG_OK;
    if (sink->point) {
        for (int64_t k = 0; k < f->n && status == GCG_OK; k++)
            status = sink->point(&f->record[k], sink->user, s->err);
        return status;
    }
    int64_t base = sink->points->n;
    status = gcg_found_take_in(&f->user, sink->users, s->err);
    if (status == GCG_OK) status = gcg_found_take_in(&f->item, sink->items, s->err);
    if (status == GCG_OK)
        status = gcg_points_place_runs(sink->points, base, f->run, f->runs, s->file, s->err);
    if (status == GCG_OK) status = gcg_points_extend(sink->points, f->n, f->wide, s->err);
    if (status == GCG_OK) f->base = base;
    return status;
}

/* Messages of a piece, in order; notes come before its points, errors behind them. */
static void take_messages(gcg_reading *s, const gcg_reader *r, gcg_severity severity)
{
    int64_t errors = 0;
    for (int k = 0; k < r->messages; k++) {
        const gcg_message *m = &r->message[k];
        gcg_status status = r->status == GCG_OK ? GCG_ERR_DATA : r->status;
        errors += m->severity == GCG_ERROR;
        if (m->severity == severity) tell(s, severity, status, m->line, m->col, m->text);
    }
    if (severity != GCG_ERROR) return;
    s->errors += r->errors - errors; /* those that nobody kept */
    if (s->diag) s->diag->errors += r->errors - errors;
}

static gcg_status take(gcg_reading *s, gcg_reader *r, const char *start)
{
    if (r->status == GCG_ERR_NOMEM) return gcg_fail(s->err, r->status, NULL, 0, 0, "%s", r->err.text);
    count(s, &r->tally);
    s->report->bytes += r->at - start;
    take_messages(s, r, GCG_NOTE);
    gcg_status status = take_points(s, &r->found);
    take_messages(s, r, GCG_ERROR);
    gcg_carry_copy(&s->carry, &r->carry);
    return status == GCG_OK ? r->status : status;
}

static void put_points(const gcg_reading *s, const gcg_found *f)
{
    if (f->base >= 0 && f->n > 0)
        gcg_points_put(s->sink->points, f->base, f->n, f->user.code, f->user.fresh_number, f->item.code,
                       f->item.fresh_number, f->value, f->weight);
}

/* ---- the first lines, on one thread ---- */

static gcg_status start_first(gcg_reading *s, gcg_reader *r, const gcg_text *t)
{
    const char *text = t->bytes + t->from;
    r->file = s->file;
    gcg_reader_start(r, &s->carry, text, t->cut - t->from, gcg_text_look(text, t->cut - t->from));
    return r->status;
}

static gcg_status end_first(gcg_reading *s, gcg_reader *r, gcg_text *t)
{
    gcg_status status = take(s, r, t->bytes + t->from);
    t->from = r->at - t->bytes;
    if (status == GCG_OK) put_points(s, &r->found);
    return status;
}

/* Skips blank lines and comments; stops before the first other line. When it is there already, a guess of the
 * format has seen nothing in that line: it is read as what was asked for, or as csv. */
static gcg_status skim(gcg_reading *s, gcg_text *t)
{
    gcg_reader *r = &s->piece[0].reader;
    int found = 0;
    if (start_first(s, r, t) == GCG_OK) gcg_reader_line(r, &found);
    if (found) {
        r->at = r->line.text;
        r->carry.line--;
        r->tally.lines--;
        if (r->at == t->bytes + t->from)
            s->layout.format = s->options->format == GCG_FORMAT_AUTO ? GCG_FORMAT_CSV : s->options->format;
    }
    return end_first(s, r, t);
}

/* A format of fixed columns: told before its first line, and refused when the options speak of columns. */
static gcg_status begin_fixed(gcg_reader *r)
{
    const gcg_read_options *o = r->options;
    gcg_reader_begin(r, 0);
    if (o->weights)
        return gcg_reader_fatal(r, GCG_ERR_DATA, 0, 0,
                                "--weights does not go with the %s format, which has no column for weights",
                                gcg_format_name(r->layout->format));
    if (!o->columns && o->header != GCG_HEADER_YES) return GCG_OK;
    return gcg_reader_fatal(r, GCG_ERR_DATA, 0, 0,
                            "%s does not go with the %s format, whose columns are fixed",
                            o->columns ? "--columns" : "--header yes", gcg_format_name(r->layout->format));
}

static gcg_status begin(gcg_reading *s, gcg_text *t)
{
    gcg_reader *r = &s->piece[0].reader;
    const gcg_format_entry *format = gcg_format_find(s->layout.format);
    gcg_status status = start_first(s, r, t);
    if (status == GCG_OK && format->separator.byte == 0 && !s->layout.noted) status = begin_fixed(r);
    if (status == GCG_OK && format->begin) format->begin(r);
    s->layout.begun |= !format->begin;
    if (s->report->format == GCG_FORMAT_AUTO && s->layout.noted) {
        s->report->format = s->layout.format;
        s->report->header = s->layout.header;
    }
    return end_first(s, r, t);
}

/* Refuses what is no text and settles the format (AUTO when no line says what it is). */
static gcg_status recognise(gcg_reading *s, const gcg_text *t)
{
    const char *text = t->bytes + t->from;
    int64_t length = t->end - t->from;
    int whole = t->ended && length < DETECT_BYTES;
    if (length > DETECT_BYTES) length = DETECT_BYTES;
    const char *wrong = s->carry.line == 0 ? gcg_format_not_text(text, length) : NULL;
    if (wrong) {
        tell(s, GCG_ERROR, GCG_ERR_DATA, 1, 1, wrong);
        return GCG_ERR_DATA;
    }
    gcg_format asked = s->options->format, format = gcg_format_detect(text, length, whole, s->options);
    s->layout.format = asked == GCG_FORMAT_AUTO || format == GCG_FORMAT_AUTO ? format : asked;
    return GCG_OK;
}

/* ---- a round ---- */

typedef struct {
    gcg_reading *s;
    gcg_text *now;
    int n;          /* pieces */
    gcg_text *next; /* to be filled from in meanwhile; NULL: not now */
    gcg_input *in;
    gcg_status fill_status;
    gcg_err fill_err;
} gcg_round;

/* Cuts the text at hand. */
static void cut(gcg_round *c)
{
    const gcg_reading *s = c->s;
    const char *at = c->now->bytes + c->now->from, *end = c->now->bytes + c->now->cut;
    for (c->n = 0; c->n < s->pieces && at < end; c->n++) {
        const char *stop = gcg_text_cut(at, end, s->piece_size);
        s->piece[c->n].text = at;
        s->piece[c->n].length = stop - at;
        at = stop;
    }
    c->now->from = at - c->now->bytes;
}

static void look_at(int64_t k, void *ctx)
{
    const gcg_round *c = ctx;
    gcg_piece *p = &c->s->piece[k];
    const gcg_format_entry *format = gcg_format_find(c->s->layout.format);
    const char *end = p->text + p->length;
    p->scan = gcg_text_look(p->text, p->length);
    p->block = format->last_block ? format->last_block(p->text, end) : NULL;
    if (!p->block) return;
    const char *lf = memchr(p->block, '\n', (size_t)(end - p->block));
    p->block_end = lf ? lf + 1 : end;
    p->behind = gcg_text_look(p->block_end, end - p->block_end).lines;
}

/* What the pieces before k will probably leave to it: as if each of their lines had data. */
static void guess(const gcg_reading *s, int k, gcg_carry *carry)
{
    const gcg_format_entry *format = gcg_format_find(s->layout.format);
    int64_t lines = s->carry.line, data = 0;
    int block = k - 1;
    for (int j = 0; j < k; j++) lines += s->piece[j].scan.lines;
    while (block >= 0 && !s->piece[block].block) data += s->piece[block--].scan.lines;
    gcg_carry_copy(carry, &s->carry);
    if (block >= 0) { /* read the block's first line */
        const gcg_piece *p = &s->piece[block];
        gcg_reader *r = &s->piece[k].reader;
        data += p->behind;
        carry->line = lines - data - 1;
        gcg_reader_start(r, carry, p->block, p->block_end - p->block, p->scan);
        if (r->status == GCG_OK) format->lines(r);
        gcg_carry_copy(carry, &r->carry);
    }
    if (format->skip) format->skip(carry, data);
    carry->line = lines;
}

static void read_piece(gcg_reading *s, gcg_piece *p, const gcg_carry *carry)
{
    p->reader.file = s->file;
    gcg_reader_start(&p->reader, carry, p->text, p->length, p->scan);
    if (p->reader.status == GCG_OK) gcg_format_find(s->layout.format)->lines(&p->reader);
}

/* Block 0 fills the next text, block k + 1 reads piece k. */
static void fill_or_read(int64_t block, void *ctx)
{
    gcg_round *c = ctx;
    gcg_reading *s = c->s;
    if (block == 0) {
        if (c->next)
            c->fill_status = gcg_text_fill(c->next, c->now, c->in, s->pieces * s->piece_size, &c->fill_err);
        return;
    }
    gcg_piece *p = &s->piece[block - 1];
    guess(s, (int)block - 1, &p->guess);
    read_piece(s, p, &p->guess);
}

static void put_piece(int64_t k, void *ctx)
{
    const gcg_round *c = ctx;
    put_points(c->s, &c->s->piece[k].reader.found);
}

static gcg_status take_pieces(gcg_round *c)
{
    gcg_reading *s = c->s;
    gcg_status status = GCG_OK;
    for (int k = 0; k < c->n && status == GCG_OK; k++) {
        gcg_piece *p = &s->piece[k];
        if (!gcg_carry_equal(&p->guess, &s->carry)) read_piece(s, p, &s->carry);
        status = take(s, &p->reader, p->text);
    }
    return status;
}

static gcg_status do_round(gcg_reading *s, gcg_text *now, gcg_text *next, gcg_input *in)
{
    gcg_round c = {.s = s, .now = now, .next = next, .in = in};
    cut(&c);
    gcg_par_blocks(c.n, look_at, &c);
    gcg_par_blocks(c.n + 1, fill_or_read, &c);
    gcg_status status = take_pieces(&c);
    if (status == GCG_OK && !s->sink->point) gcg_par_blocks(c.n, put_piece, &c);
    if (status == GCG_OK && c.fill_status != GCG_OK)
        status = gcg_fail(s->err, c.fill_status, NULL, 0, 0, "%s", c.fill_err.text);
    return status;
}

/* ---- a file ---- */

/* stored: bytes of this file. */
static gcg_status tell_progress(const gcg_reading *s, int64_t stored)
{
    const gcg_read_options *o = s->options;
    if (!o->progress || !o->progress(s->stored + stored, s->stored_total, o->progress_user)) return GCG_OK;
    return gcg_fail(s->err, GCG_ERR_IO, s->file, 0, 0, "interrupted while reading");
}

/* After the last line: damage, or promises that were not kept. */
static gcg_status end_file(gcg_reading *s, const gcg_input *in)
{
    gcg_err why;
    gcg_reader *r = &s->piece[0].reader;
    const gcg_format_entry *format = gcg_format_find(s->layout.format);
    gcg_status status = gcg_input_end(in, &why);
    if (status == GCG_ERR_DATA) {
        char text[sizeof why.text + 64];
        snprintf(text, sizeof text, "%s; of the %lld lines before nothing is used", why.text,
                 (long long)s->carry.line);
        return gcg_reading_fail(s, status, text);
    }
    if (status != GCG_OK) return gcg_reading_fail(s, status, why.text);
    if (!format->end) return GCG_OK;
    gcg_reader_start(r, &s->carry, "", 0, (gcg_text_scan){0});
    if (r->status == GCG_OK) format->end(r);
    return take(s, r, r->at);
}

/* The lines of text t: the first ones until the layout is known, then a round. next is filled meanwhile, or
 * not: then its end stays 0. */
static gcg_status read_text(gcg_reading *s, gcg_text *t, gcg_text *next, gcg_input *in)
{
    gcg_status status = GCG_OK;
    while (status == GCG_OK && t->from < t->cut) {
        status = tell_progress(s, gcg_input_stored(in));
        if (status != GCG_OK) return status;
        if (s->layout.format == GCG_FORMAT_AUTO) status = recognise(s, t);
        if (status != GCG_OK) return status;
        if (s->layout.format == GCG_FORMAT_AUTO) {
            status = skim(s, t);
        } else if (!s->layout.begun) {
            status = begin(s, t);
        } else {
            status = do_round(s, t, t->ended || next->end > 0 ? NULL : next, in);
        }
    }
    return status;
}

/* A UTF-8 byte order mark is no part of the first line. */
static void skip_byte_order_mark(gcg_text *t)
{
    if (t->cut >= 3 && memcmp(t->bytes, "\xef\xbb\xbf", 3) == 0) t->from = 3;
}

gcg_status gcg_reading_file(gcg_reading *s, gcg_input *in)
{
    gcg_text *now = &s->text[0], *next = &s->text[1];
    gcg_status status = prepare(s);
    int64_t want = s->pieces * s->piece_size;
    s->layout = (gcg_layout){.told = s->layout.told, .told_header = s->layout.told_header};
    s->carry = (gcg_carry){0};
    if (status == GCG_OK)
        status = gcg_text_fill(now, NULL, in, want > DETECT_BYTES ? want : DETECT_BYTES, s->err);
    if (status == GCG_OK) skip_byte_order_mark(now);
    for (;;) {
        next->end = 0;
        if (status == GCG_OK) status = read_text(s, now, next, in);
        if (status != GCG_OK || now->ended) break;
        if (next->end == 0) status = gcg_text_fill(next, now, in, want, s->err);
        gcg_text *swap = now;
        now = next;
        next = swap;
    }
    s->stored += gcg_input_stored(in);
    if (status == GCG_OK) status = end_file(s, in);
    if (status == GCG_OK && s->errors == 0 && s->layout.format == GCG_FORMAT_MTX) {
        if (s->layout.rows > s->sink->rows) s->sink->rows = s->layout.rows;
        if (s->layout.cols > s->sink->cols) s->sink->cols = s->layout.cols;
    }
    return status;
}

gcg_status gcg_reading_points(gcg_reading *s, int64_t n, int64_t stored,
                              gcg_status (*fill)(gcg_reader *r, void *ctx), void *ctx)
{
    gcg_status status = prepare(s);
    if (status == GCG_OK) status = tell_progress(s, stored);
    if (status != GCG_OK) return status;
    gcg_reader *r = &s->piece[0].reader;
    r->file = s->file;
    gcg_reader_start(r, &s->carry, "", 0, (gcg_text_scan){.lines = n});
    if (r->status == GCG_OK) r->status = fill(r, ctx);
    status = take(s, r, r->at);
    if (status == GCG_OK) put_points(s, &r->found);
    return status;
}
