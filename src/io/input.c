/* Text input: see input.h.
 *
 * buffer[pos..end) is text not handed out yet. zlib's inflate is used with our own state, not gzread, because
 * gzread reports a stream that is cut short as a plain end of file. */
#define _POSIX_C_SOURCE 200809L
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "base/mem.h"

/* Bytes whose next place in the buffer is known, so that most lines are never searched for them. */
enum { MARK_CR, MARK_QUOTE, MARK_NUL, MARKS };
static const char MARK_BYTE[MARKS] = {'\r', '"', '\0'};

enum { GZIP_WINDOW = 15 + 16 /* zlib: largest window, gzip wrapper only */, SMALLEST_BUFFER = 64 };

typedef enum { SOURCE_PLAIN, SOURCE_MEMBER, SOURCE_BETWEEN, SOURCE_PADDING } source_state;

struct gcg_input {
    char *name;
    int fd;                      /* -1: memory */
    int owns_fd;                 /* 0: standard input, which stays open */
    const unsigned char *memory; /* the rest of it */
    size_t memory_left;
    int64_t block;

    unsigned char *raw; /* bytes as stored, not yet unpacked: raw[raw_pos..raw_end) */
    int64_t raw_pos, raw_end;
    int raw_ended;
    source_state state;
    z_stream z;
    int z_ready;

    char *buffer;
    int64_t capacity, pos, end;
    int64_t scan;        /* no LF in buffer[pos..scan) */
    int64_t mark[MARKS]; /* first place >= pos of MARK_BYTE, or end */
    int64_t lines, bytes, stored;
    int ended;       /* nothing more comes */
    gcg_err failure; /* why, when that is an error: told after the last complete line */
};

static voidpf z_alloc(voidpf opaque, uInt items, uInt size)
{
    (void)opaque;
    return gcg_mem_alloc_array(items, size);
}

static void z_free(voidpf opaque, voidpf block)
{
    (void)opaque;
    gcg_mem_free(block);
}

/* Remembers a failure; what was read before it is handed out first. */
static void fail_later(gcg_input *in, gcg_status status, const char *text)
{
    gcg_fail(&in->failure, status, in->name, 0, 0, "%s", text);
    in->ended = 1;
}

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
    if (errno == EBADF) {
        fail_later(in, GCG_ERR_IO, "cannot read: it is closed");
    } else {
        gcg_fail(&in->failure, GCG_ERR_IO, in->name, 0, 0, "cannot read: %s", strerror(errno));
        in->ended = 1;
    }
    return 0;
}

/* Makes at least want (1 or 2) stored bytes available, unless the source ends. */
static void raw_need(gcg_input *in, int64_t want)
{
    if (in->raw_end - in->raw_pos >= want) return;
    memmove(in->raw, in->raw + in->raw_pos, (size_t)(in->raw_end - in->raw_pos));
    in->raw_end -= in->raw_pos;
    in->raw_pos = 0;
    while (in->raw_end < want && !in->raw_ended) {
        int64_t n = source_read(in, in->raw + in->raw_end, in->block);
        in->raw_end += n;
        in->raw_ended = n == 0;
    }
}

/* Looks at the first two bytes and gets ready to unpack. */
static gcg_status source_start(gcg_input *in, gcg_err *err)
{
    in->raw = gcg_mem_alloc_array(in->block + 2, 1);
    if (!in->raw) return gcg_fail_memory(err, "input buffer");
    raw_need(in, 2);
    if (in->raw_end < 2 || in->raw[0] != 0x1f || in->raw[1] != 0x8b) return GCG_OK;
    in->z.zalloc = z_alloc;
    in->z.zfree = z_free;
    if (inflateInit2(&in->z, GZIP_WINDOW) != Z_OK) return gcg_fail_memory(err, "gzip");
    in->z_ready = 1;
    in->state = SOURCE_MEMBER;
    return GCG_OK;
}

/* After a member: another one, zero padding or the end. */
static void between_members(gcg_input *in)
{
    raw_need(in, 2);
    const unsigned char *next = in->raw + in->raw_pos;
    int64_t n = in->raw_end - in->raw_pos;
    if (n == 0) {
        in->ended = 1;
    } else if (next[0] == 0) {
        in->state = SOURCE_PADDING;
    } else if (n >= 2 && next[0] == 0x1f && next[1] == 0x8b) {
        inflateReset(&in->z);
        in->state = SOURCE_MEMBER;
    } else {
        fail_later(in, GCG_ERR_DATA, "bytes follow the gzip data that are neither gzip nor zero padding");
    }
}

static void skip_padding(gcg_input *in)
{
    raw_need(in, 1);
    if (in->raw_pos == in->raw_end) in->ended = 1;
    while (in->raw_pos < in->raw_end && in->raw[in->raw_pos] == 0) in->raw_pos++;
    if (in->raw_pos < in->raw_end)
        fail_later(in, GCG_ERR_DATA, "bytes other than zero padding follow the gzip data");
}

/* Unpacks into to[0..room); *got may stay 0. At the end of the input zlib may still hold text that did not
 * fit before: only when it can do nothing at all (Z_BUF_ERROR) the data is cut short. */
static gcg_status inflate_some(gcg_input *in, char *to, int64_t room, int64_t *got, gcg_err *err)
{
    raw_need(in, 1);
    in->z.next_in = in->raw + in->raw_pos;
    in->z.avail_in = (uInt)(in->raw_end - in->raw_pos);
    in->z.next_out = (Bytef *)to;
    in->z.avail_out = (uInt)room;
    int result = inflate(&in->z, Z_NO_FLUSH);
    in->raw_pos = in->raw_end - in->z.avail_in;
    *got = room - in->z.avail_out;
    if (result == Z_STREAM_END)
        in->state = SOURCE_BETWEEN;
    else if (result == Z_MEM_ERROR)
        return gcg_fail_memory(err, "gzip");
    else if (result == Z_BUF_ERROR && !in->ended)
        fail_later(in, GCG_ERR_DATA, "the gzip data is cut short");
    else if (result != Z_OK && result != Z_BUF_ERROR) {
        gcg_fail(&in->failure, GCG_ERR_DATA, in->name, 0, 0, "the gzip data is damaged (%s)",
                 in->z.msg ? in->z.msg : "unknown kind");
        in->ended = 1;
    }
    return GCG_OK;
}

static gcg_status unpack(gcg_input *in, char *to, int64_t room, int64_t *got, gcg_err *err)
{
    gcg_status status = GCG_OK;
    while (status == GCG_OK && *got == 0 && !in->ended) {
        if (in->state == SOURCE_BETWEEN)
            between_members(in);
        else if (in->state == SOURCE_PADDING)
            skip_padding(in);
        else
            status = inflate_some(in, to, room, got, err);
    }
    return status;
}

/* Plain text: what source_start read first, then straight into the buffer. */
static void copy_plain(gcg_input *in, char *to, int64_t room, int64_t *got)
{
    int64_t ready = in->raw_end - in->raw_pos;
    if (ready > 0) {
        *got = ready < room ? ready : room;
        memcpy(to, in->raw + in->raw_pos, (size_t)*got);
        in->raw_pos += *got;
        return;
    }
    if (!in->raw_ended) *got = source_read(in, to, room);
    if (*got == 0) in->ended = 1;
}

static int64_t find_byte(const gcg_input *in, int64_t from, char byte)
{
    const char *at = from < in->end ? memchr(in->buffer + from, byte, (size_t)(in->end - from)) : NULL;
    return at ? at - in->buffer : in->end;
}

/* Room for block more bytes behind end. */
static gcg_status make_room(gcg_input *in, gcg_err *err)
{
    if (in->capacity - in->end >= in->block) return GCG_OK;
    if (in->pos > 0) {
        memmove(in->buffer, in->buffer + in->pos, (size_t)(in->end - in->pos));
        for (int m = 0; m < MARKS; m++) in->mark[m] -= in->pos;
        in->scan -= in->pos;
        in->end -= in->pos;
        in->pos = 0;
    }
    if (in->capacity - in->end >= in->block) return GCG_OK;
    int64_t capacity = 2 * (in->end + in->block) + SMALLEST_BUFFER;
    char *buffer = gcg_mem_resize_array(in->buffer, in->end, capacity, 1);
    if (!buffer) return gcg_fail_memory(err, "input buffer");
    in->buffer = buffer;
    in->capacity = capacity;
    return GCG_OK;
}

/* Appends text to the buffer; nothing is appended when the input ended. */
static gcg_status fill(gcg_input *in, gcg_err *err)
{
    gcg_status status = make_room(in, err);
    if (status != GCG_OK) return status;
    int64_t got = 0, old_end = in->end;
    if (in->state == SOURCE_PLAIN)
        copy_plain(in, in->buffer + in->end, in->block, &got);
    else
        status = unpack(in, in->buffer + in->end, in->block, &got, err);
    in->end += got;
    in->bytes += got;
    for (int m = 0; m < MARKS; m++)
        if (in->mark[m] == old_end) in->mark[m] = find_byte(in, old_end, MARK_BYTE[m]);
    return status;
}

static void skip(gcg_input *in, int64_t to)
{
    in->pos = to;
    if (in->scan < to) in->scan = to;
    for (int m = 0; m < MARKS; m++)
        if (in->mark[m] < to) in->mark[m] = find_byte(in, to, MARK_BYTE[m]);
}

static gcg_status skip_byte_order_mark(gcg_input *in, gcg_err *err)
{
    const char *text;
    int64_t length;
    gcg_status status = gcg_input_peek(in, 3, &text, &length, err);
    if (status == GCG_OK && length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) skip(in, in->pos + 3);
    return status;
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
static gcg_status input_start(gcg_status status, gcg_input **in, gcg_err *err)
{
    if (status == GCG_OK) status = source_start(*in, err);
    if (status == GCG_OK) status = skip_byte_order_mark(*in, err);
    if (status == GCG_OK) return GCG_OK;
    gcg_input_close(*in);
    *in = NULL;
    return status;
}

gcg_status gcg_input_open(const char *path, int64_t block, gcg_input **in, gcg_err *err)
{
    int is_stdin = strcmp(path, "-") == 0;
    gcg_status status = input_new(is_stdin ? "stdin" : path, block, in, err);
    if (status == GCG_OK) {
        if (is_stdin)
            (*in)->fd = STDIN_FILENO;
        else
            status = open_file(*in, path, err);
    }
    return input_start(status, in, err);
}

gcg_status gcg_input_memory(const void *bytes, size_t length, const char *name, int64_t block, gcg_input **in,
                            gcg_err *err)
{
    gcg_status status = input_new(name, block, in, err);
    if (status == GCG_OK) {
        (*in)->memory = bytes;
        (*in)->memory_left = length;
    }
    return input_start(status, in, err);
}

void gcg_input_close(gcg_input *in)
{
    if (!in) return;
    if (in->owns_fd) close(in->fd);
    if (in->z_ready) inflateEnd(&in->z);
    gcg_mem_free(in->name);
    gcg_mem_free(in->raw);
    gcg_mem_free(in->buffer);
    gcg_mem_free(in);
}

const char *gcg_input_name(const gcg_input *in)
{
    return in->name;
}

int64_t gcg_input_bytes(const gcg_input *in)
{
    return in->bytes;
}

int64_t gcg_input_stored(const gcg_input *in)
{
    return in->stored;
}

gcg_status gcg_input_peek(gcg_input *in, int64_t want, const char **text, int64_t *length, gcg_err *err)
{
    gcg_status status = GCG_OK;
    while (status == GCG_OK && in->end - in->pos < want && !in->ended) status = fill(in, err);
    *text = in->buffer ? in->buffer + in->pos : "";
    *length = in->end - in->pos;
    return status;
}

/* Hands out buffer[pos..stop); terminated: an LF stands at stop. */
static void take_line(gcg_input *in, int64_t stop, int terminated, gcg_line *line)
{
    int64_t start = in->pos, text_end = stop;
    if (terminated && stop > start && in->buffer[stop - 1] == '\r') text_end--;
    *line = (gcg_line){.text = in->buffer + start, .length = text_end - start, .number = ++in->lines};
    line->has_quote = in->mark[MARK_QUOTE] < text_end;
    if (in->mark[MARK_CR] < text_end) {
        line->bad = '\r';
        line->bad_col = in->mark[MARK_CR] - start + 1;
    }
    if (in->mark[MARK_NUL] < text_end && (!line->bad_col || in->mark[MARK_NUL] < in->mark[MARK_CR])) {
        line->bad = '\0';
        line->bad_col = in->mark[MARK_NUL] - start + 1;
    }
    skip(in, stop + terminated);
}

static gcg_status tell_failure(const gcg_input *in, gcg_err *err)
{
    const gcg_err *f = &in->failure;
    if (f->status != GCG_ERR_DATA) return gcg_fail(err, f->status, in->name, 0, 0, "%s", f->text);
    return gcg_fail(err, f->status, in->name, 0, 0, "%s; of the %lld lines before nothing is used", f->text,
                    (long long)in->lines);
}

gcg_status gcg_input_line(gcg_input *in, gcg_line *line, int *found, gcg_err *err)
{
    *found = 0;
    for (;;) {
        const char *lf =
            in->scan < in->end ? memchr(in->buffer + in->scan, '\n', (size_t)(in->end - in->scan)) : NULL;
        if (lf) {
            take_line(in, lf - in->buffer, 1, line);
            *found = 1;
            return GCG_OK;
        }
        in->scan = in->end;
        if (in->ended) break;
        gcg_status status = fill(in, err);
        if (status != GCG_OK) return status;
    }
    if (in->failure.status != GCG_OK) return tell_failure(in, err);
    if (in->pos < in->end) {
        take_line(in, in->end, 0, line);
        *found = 1;
    }
    return GCG_OK;
}

const char *gcg_zlib_version(void)
{
    return zlibVersion();
}
