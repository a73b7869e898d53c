/* Compressed output: see gzip_sink.h. */
#include "io/gzip_sink.h"

#include <limits.h>
#include <zlib.h>
#include "base/mem.h"
#include "io/zlib_mem.h"

enum {
    BUFFER = 256 * 1024,
    LEVEL = 6,            /* zlib's own default: level 9 takes twice the time for 1 % less */
    GZIP_WINDOW = 15 + 16 /* the largest window, with a gzip header */
};

struct gcg_gzip_sink {
    z_stream stream;
    int started;
    gcg_sink target;
    unsigned char buffer[BUFFER];
};

gcg_status gcg_gzip_sink_new(gcg_gzip_sink **gzip, gcg_sink target, gcg_err *err)
{
    gcg_gzip_sink *g = *gzip = gcg_mem_zalloc_array(1, sizeof *g);
    if (!g) return gcg_fail_memory(err, "compressor");
    g->target = target;
    gcg_zlib_use_mem(&g->stream);
    if (deflateInit2(&g->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        gcg_gzip_sink_free(g);
        *gzip = NULL;
        return gcg_fail_memory(err, "compressor");
    }
    g->started = 1;
    return GCG_OK;
}

/* Compresses the input that stands in the stream and hands on what comes out. */
static gcg_status deflate_all(gcg_gzip_sink *g, int flush, gcg_err *err)
{
    do {
        g->stream.next_out = g->buffer;
        g->stream.avail_out = BUFFER;
        deflate(&g->stream, flush); /* cannot fail: the stream is sound and there is room */
        size_t made = BUFFER - g->stream.avail_out;
        if (made == 0) continue;
        gcg_status status = g->target.write(g->target.user, g->buffer, made, err);
        if (status) return status;
    } while (g->stream.avail_out == 0);
    return GCG_OK;
}

static gcg_status gzip_write(void *user, const void *bytes, size_t length, gcg_err *err)
{
    gcg_gzip_sink *g = user;
    const unsigned char *p = bytes;
    while (length > 0) {
        uInt part = length > UINT_MAX ? UINT_MAX : (uInt)length;
        g->stream.next_in = (Bytef *)(uintptr_t)p; /* zlib does not write there but has no const */
        g->stream.avail_in = part;
        gcg_status status = deflate_all(g, Z_NO_FLUSH, err);
        if (status) return status;
        p += part;
        length -= part;
    }
    return GCG_OK;
}

gcg_sink gcg_gzip_sink_get(gcg_gzip_sink *gzip)
{
    return (gcg_sink){.write = gzip_write, .user = gzip};
}

gcg_status gcg_gzip_sink_finish(gcg_gzip_sink *gzip, gcg_err *err)
{
    gzip->stream.avail_in = 0;
    return deflate_all(gzip, Z_FINISH, err);
}

void gcg_gzip_sink_free(gcg_gzip_sink *gzip)
{
    if (!gzip) return;
    if (gzip->started) deflateEnd(&gzip->stream);
    gcg_mem_free(gzip);
}
