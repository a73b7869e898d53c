/* Checkpoint files: see checkpoint.h. */
#include "io/checkpoint.h"

#include <errno.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "io/gcs_layout.h"

/* As gcg_gcs_magic. */
static const unsigned char magic[8] = {0x89, 'G', 'C', 'K', '\r', '\n', 0x1a, '\n'};
static const uint64_t BYTE_ORDER_MARK = 0x0102030405060708;

enum { HEADER_WORDS = 4 /* name, byte order, version, check sum of these */ };

static gcg_status fail_io(gcg_err *err, const char *path, const char *what)
{
    return gcg_fail(err, GCG_ERR_IO, path, 0, 0, "%s: %s", what, strerror(errno));
}

static void fill_header(uint64_t word[HEADER_WORDS], uint64_t version)
{
    memcpy(&word[0], magic, sizeof magic);
    word[1] = BYTE_ORDER_MARK;
    word[2] = version;
    word[3] = gcg_gcs_hash(word, 3 * sizeof *word);
}

/* The check sum behind a block, when the one before it was `before`. */
static uint64_t next_sum(uint64_t before, const void *block, int64_t length)
{
    return gcg_hash_mix(gcg_hash_mix(before + 1) ^ gcg_gcs_hash(block, length));
}

/* ---- writing ---- */

static gcg_status write_bytes(gcg_checkpoint_writer *w, const void *bytes, size_t n, gcg_err *err)
{
    return fwrite(bytes, 1, n, w->out.file) == n ? GCG_OK : fail_io(err, w->out.path, "cannot write");
}

static gcg_status write_block(gcg_checkpoint_writer *w, gcg_err *err)
{
    uint64_t length = (uint64_t)w->used;
    w->sum = next_sum(w->sum, w->block, w->used);
    gcg_status status = write_bytes(w, &length, sizeof length, err);
    if (!status) status = write_bytes(w, w->block, (size_t)w->used, err);
    w->used = 0;
    return status ? status : write_bytes(w, &w->sum, sizeof w->sum, err);
}

gcg_status gcg_checkpoint_create(gcg_checkpoint_writer *w, const char *path, gcg_err *err)
{
    uint64_t header[HEADER_WORDS];
    *w = (gcg_checkpoint_writer){0};
    gcg_status status = gcg_gcs_check_host(path, err);
    if (!status) status = gcg_output_open(&w->out, path, err);
    if (status) return status;
    fill_header(header, GCG_CHECKPOINT_VERSION);
    w->block = gcg_mem_alloc_array(GCG_CHECKPOINT_BLOCK, 1);
    status = w->block ? write_bytes(w, header, sizeof header, err) : gcg_fail_memory(err, "checkpoint");
    if (status) gcg_checkpoint_abort(w);
    return status;
}

gcg_status gcg_checkpoint_put(gcg_checkpoint_writer *w, const void *bytes, int64_t n, gcg_err *err)
{
    const char *from = bytes;
    gcg_status status = GCG_OK;
    while (n > 0 && !status) {
        int64_t room = GCG_CHECKPOINT_BLOCK - w->used, part = n < room ? n : room;
        memcpy(w->block + w->used, from, (size_t)part);
        w->used += part;
        from += part;
        n -= part;
        if (w->used == GCG_CHECKPOINT_BLOCK) status = write_block(w, err);
    }
    return status;
}

gcg_status gcg_checkpoint_commit(gcg_checkpoint_writer *w, gcg_err *err)
{
    gcg_status status = w->used > 0 ? write_block(w, err) : GCG_OK;
    if (!status) status = write_block(w, err); /* the empty one */
    gcg_mem_free(w->block);
    w->block = NULL;
    if (status)
        gcg_output_abort(&w->out);
    else
        status = gcg_output_commit(&w->out, err);
    return status;
}

void gcg_checkpoint_abort(gcg_checkpoint_writer *w)
{
    gcg_mem_free(w->block);
    gcg_output_abort(&w->out);
    *w = (gcg_checkpoint_writer){0};
}

/* ---- reading ---- */

static gcg_status damaged(const gcg_checkpoint_reader *r, gcg_err *err)
{
    return gcg_fail(err, GCG_ERR_DATA, r->name, 0, 0,
                    "is damaged: a check sum does not fit; go on from another checkpoint, or begin anew");
}

/* n bytes of the file. */
static gcg_status read_bytes(gcg_checkpoint_reader *r, void *bytes, size_t n, gcg_err *err)
{
    if (fread(bytes, 1, n, r->file) == n) return GCG_OK;
    if (ferror(r->file)) return fail_io(err, r->name, "cannot read");
    return gcg_fail(err, GCG_ERR_DATA, r->name, 0, 0,
                    "is cut short; go on from another checkpoint, or begin anew");
}

static gcg_status read_header(gcg_checkpoint_reader *r, gcg_err *err)
{
    uint64_t is[HEADER_WORDS] = {0}, want[HEADER_WORDS];
    size_t n = fread(is, 1, sizeof is, r->file);
    if (ferror(r->file)) return fail_io(err, r->name, "cannot read");
    if (n < sizeof magic || memcmp(is, magic, sizeof magic) != 0)
        return gcg_fail(err, GCG_ERR_DATA, r->name, 0, 0, "is not a checkpoint of gcg-mc");
    if (n == sizeof is && is[1] == BYTE_ORDER_MARK && is[2] > GCG_CHECKPOINT_VERSION)
        return gcg_fail(err, GCG_ERR_DATA, r->name, 0, 0,
                        "is a checkpoint of version %llu, this gcg-mc reads version %d: use a newer gcg-mc",
                        (unsigned long long)is[2], GCG_CHECKPOINT_VERSION);
    if (n == sizeof is && is[1] == BYTE_ORDER_MARK && is[2] < GCG_CHECKPOINT_VERSION)
        return gcg_fail(
            err, GCG_ERR_DATA, r->name, 0, 0,
            "is a checkpoint of version %llu, this gcg-mc reads version %d: go on with the gcg-mc "
            "that wrote it, or begin anew",
            (unsigned long long)is[2], GCG_CHECKPOINT_VERSION);
    fill_header(want, GCG_CHECKPOINT_VERSION);
    if (n < sizeof is) return read_bytes(r, is, 1, err);
    return memcmp(is, want, sizeof is) == 0 ? GCG_OK : damaged(r, err);
}

static gcg_status read_block(gcg_checkpoint_reader *r, gcg_err *err)
{
    uint64_t length, sum;
    r->used = r->length = 0;
    gcg_status status = read_bytes(r, &length, sizeof length, err);
    if (status) return status;
    if (length > GCG_CHECKPOINT_BLOCK) return damaged(r, err);
    status = read_bytes(r, r->block, (size_t)length, err);
    if (!status) status = read_bytes(r, &sum, sizeof sum, err);
    if (status) return status;
    r->sum = next_sum(r->sum, r->block, (int64_t)length);
    if (r->sum != sum) return damaged(r, err);
    r->length = (int64_t)length;
    r->ended = length == 0;
    return GCG_OK;
}

static gcg_status check_all(gcg_checkpoint_reader *r, gcg_err *err)
{
    gcg_status status = read_header(r, err);
    while (!status && !r->ended) status = read_block(r, err);
    if (status) return status;
    if (getc(r->file) != EOF)
        return gcg_fail(err, GCG_ERR_DATA, r->name, 0, 0, "is damaged: bytes follow its end");
    if (fseek(r->file, HEADER_WORDS * sizeof(uint64_t), SEEK_SET) != 0)
        return fail_io(err, r->name, "cannot read");
    r->sum = 0;
    r->ended = 0;
    return GCG_OK;
}

gcg_status gcg_checkpoint_open(gcg_checkpoint_reader *r, const char *path, gcg_err *err)
{
    *r = (gcg_checkpoint_reader){.name = gcg_mem_strdup(path),
                                 .block = gcg_mem_alloc_array(GCG_CHECKPOINT_BLOCK, 1)};
    gcg_status status =
        r->name && r->block ? gcg_gcs_check_host(path, err) : gcg_fail_memory(err, "checkpoint");
    if (!status) {
        r->file = fopen(path, "rb");
        status = r->file ? check_all(r, err) : fail_io(err, path, "cannot open");
    }
    if (status) gcg_checkpoint_close(r);
    return status;
}

gcg_status gcg_checkpoint_get(gcg_checkpoint_reader *r, void *bytes, int64_t n, gcg_err *err)
{
    char *to = bytes;
    while (n > 0) {
        if (r->used == r->length) {
            gcg_status status = r->ended ? GCG_OK : read_block(r, err);
            if (status) return status;
            if (r->ended)
                return gcg_fail(err, GCG_ERR_DATA, r->name, 0, 0, "cannot be right: it ends too early");
        }
        int64_t left = r->length - r->used, part = n < left ? n : left;
        memcpy(to, r->block + r->used, (size_t)part);
        r->used += part;
        to += part;
        n -= part;
    }
    return GCG_OK;
}

void gcg_checkpoint_close(gcg_checkpoint_reader *r)
{
    if (r->file) fclose(r->file);
    gcg_mem_free(r->name);
    gcg_mem_free(r->block);
    *r = (gcg_checkpoint_reader){0};
}
