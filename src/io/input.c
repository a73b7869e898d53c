/* Text input: see input.h. */
#define _POSIX_C_SOURCE 200809L
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "io/gunzip.h"

enum { MAGIC = 2 /* bytes that tell gzip from text */ };

/* gzip is unpacked in steps that end at multiples of this many bytes of text, whatever the caller's room (a
 * multiple of it too, at its defaults): how much libisal hands out before it notices damage depends on where
 * its steps end, and must not depend on the number of threads. */
enum { STEP = 1 << 18 };

struct gcg_input {
    char *name;
    int fd;                      /* -1: memory */
    int owns_fd;                 /* 0: standard input, which stays open */
    const unsigned char *memory; /* the rest of it */
    size_t memory_left;
    int64_t block, stored;

    unsigned char *raw; /* bytes as stored, not handed out yet: raw[raw_pos..raw_end) */
    int64_t raw_pos, raw_end;
    int raw_ended;
    gcg_gunzip *gunzip; /* NULL: plain */
    int64_t unpacked;   /* bytes of text so far */
    gcg_err failure;    /* why the text ended, when that is an error */
};

/* Reads up to size bytes as stored; 0 at the end or after a failure. */
static int64_t source_read(gcg_input *in, void *to, int64_t size)
{
    if (in->fd < 0) {
        size_t n = in->memory_left < (size_t)size ? in->memory_left : (size_t)size;
        if (n > 0) memcpy(to, in->memory, n);
        in->memory += n;
        in->memory_left -= n;
        in->stored += (int64_t)n;
        return (int64_t)n;
    }
    ssize_t n;
    do n = read(in->fd, to, (size_t)size);
    while (n < 0 && errno == EINTR);
    if (n >= 0) {
        in->stored += n;
        return n;
    }
    if (errno == EBADF)
        gcg_fail(&in->failure, GCG_ERR_IO, in->name, 0, 0, "cannot read: it is closed");
    else
        gcg_fail(&in->failure, GCG_ERR_IO, in->name, 0, 0, "cannot read: %s", strerror(errno));
    return 0;
}

/* Reads a block into raw, whole unless it is the last: a pipe gives less at a time. */
static void raw_fill(gcg_input *in)
{
    int64_t want = in->block, n;
    for (; want > 0 && !in->raw_ended; want -= n) {
        n = source_read(in, in->raw + in->raw_end, want);
        in->raw_end += n;
        in->raw_ended = n == 0;
    }
}

/* Looks at the first two bytes and gets ready to unpack. */
static gcg_status source_start(gcg_input *in, int with_zlib, gcg_err *err)
{
    in->raw = gcg_mem_alloc_array(in->block + MAGIC, 1);
    if (!in->raw) return gcg_fail_memory(err, "input buffer");
    while (in->raw_end < MAGIC && !in->raw_ended) raw_fill(in);
    if (in->raw_end < MAGIC || in->raw[0] != 0x1f || in->raw[1] != 0x8b) return GCG_OK;
    return gcg_gunzip_new(with_zlib, &in->gunzip, err);
}

static gcg_status open_file(gcg_input *in, const char *path, gcg_err *err)
{
    struct stat info;
    in->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0) return gcg_fail(err, GCG_ERR_IO, path, 0, 0, "cannot open: %s", strerror(errno));
    in->owns_fd = 1;
    if (fstat(in->fd, &info) == 0 && S_ISDIR(info.st_mode))
        return gcg_fail(err, GCG_ERR_IO, path, 0, 0, "is a folder, not a file");
    return GCG_OK;
}

static gcg_status input_new(const char *name, int64_t block, gcg_input **out, gcg_err *err)
{
    gcg_input *in = gcg_mem_zalloc_array(1, sizeof *in);
    *out = in;
    if (!in) return gcg_fail_memory(err, "input");
    in->fd = -1;
    in->block = block > 0 && block <= GCG_INPUT_BLOCK ? block : GCG_INPUT_BLOCK;
    in->name = gcg_mem_strdup(name);
    return in->name ? GCG_OK : gcg_fail_memory(err, "input");
}

/* Last step of both ways to open; closes the input when something failed. */
static gcg_status input_start(gcg_status status, int with_zlib, gcg_input **in, gcg_err *err)
{
    if (status == GCG_OK) status = source_start(*in, with_zlib, err);
    if (status == GCG_OK) return GCG_OK;
    gcg_input_close(*in);
    *in = NULL;
    return status;
}

gcg_status gcg_input_open(const char *path, int64_t block, int with_zlib, gcg_input **in, gcg_err *err)
{
    int is_stdin = strcmp(path, "-") == 0;
    gcg_status status = input_new(is_stdin ? "stdin" : path, block, in, err);
    if (status == GCG_OK) {
        if (is_stdin)
            (*in)->fd = STDIN_FILENO;
        else
            status = open_file(*in, path, err);
    }
    return input_start(status, with_zlib, in, err);
}

gcg_status gcg_input_memory(const void *bytes, size_t length, const char *name, int64_t block, int with_zlib,
                            gcg_input **in, gcg_err *err)
{
    gcg_status status = input_new(name, block, in, err);
    if (status == GCG_OK) {
        (*in)->memory = bytes;
        (*in)->memory_left = length;
    }
    return input_start(status, with_zlib, in, err);
}

void gcg_input_close(gcg_input *in)
{
    if (!in) return;
    if (in->owns_fd) close(in->fd);
    gcg_gunzip_free(in->gunzip);
    gcg_mem_free(in->name);
    gcg_mem_free(in->raw);
    gcg_mem_free(in);
}

const char *gcg_input_name(const gcg_input *in)
{
    return in->name;
}

int64_t gcg_input_stored(const gcg_input *in)
{
    return in->stored;
}

/* Some plain text: what source_start read first, then straight to where it is wanted. 0 at the end. */
static int64_t read_plain(gcg_input *in, char *to, int64_t room)
{
    int64_t ready = in->raw_end - in->raw_pos, got = ready < room ? ready : room;
    if (ready > 0) {
        memcpy(to, in->raw + in->raw_pos, (size_t)got);
        in->raw_pos += got;
        return got;
    }
    if (in->raw_ended) return 0;
    got = source_read(in, to, room);
    in->raw_ended = got == 0;
    return got;
}

/* Some unpacked text; *got = 0 only at the end, of whatever kind. */
static gcg_status read_packed(gcg_input *in, char *to, int64_t room, int64_t *got, gcg_err *err)
{
    int64_t step = STEP - in->unpacked % STEP;
    *got = 0;
    if (room > step) room = step;
    for (;;) {
        const unsigned char *at = in->raw + in->raw_pos;
        gcg_err why;
        gcg_status status = gcg_gunzip_run(in->gunzip, &at, in->raw + in->raw_end, to, room, got, &why);
        in->raw_pos = at - in->raw;
        in->unpacked += *got;
        if (status == GCG_ERR_NOMEM) return gcg_fail(err, status, NULL, 0, 0, "%s", why.text);
        if (status != GCG_OK) gcg_fail(&in->failure, status, in->name, 0, 0, "%s", why.text);
        if (*got > 0 || in->failure.status != GCG_OK) return GCG_OK;
        in->raw_pos = in->raw_end = 0;
        raw_fill(in);
        if (in->raw_end > 0) continue;
        if (in->failure.status == GCG_OK && gcg_gunzip_end(in->gunzip, &why) != GCG_OK)
            gcg_fail(&in->failure, why.status, in->name, 0, 0, "%s", why.text);
        return GCG_OK;
    }
}

gcg_status gcg_input_read(gcg_input *in, char *to, int64_t room, int64_t *got, gcg_err *err)
{
    int64_t more = 1;
    gcg_status status = GCG_OK;
    for (*got = 0; *got < room && more > 0 && in->failure.status == GCG_OK; *got += more) {
        if (in->gunzip)
            status = read_packed(in, to + *got, room - *got, &more, err);
        else
            more = read_plain(in, to + *got, room - *got);
        if (status != GCG_OK) return status;
    }
    return GCG_OK;
}

gcg_status gcg_input_end(const gcg_input *in, gcg_err *err)
{
    if (in->failure.status == GCG_OK) return GCG_OK;
    return gcg_fail(err, in->failure.status, in->name, 0, 0, "%s", in->failure.text);
}
