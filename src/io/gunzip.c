/* gzip framing (RFC 1952): see gunzip.h.
 *
 * Everything but the deflate data is read byte by byte: it is a few bytes a member. */
#include "io/gunzip.h"

#include <string.h>
#include "base/mem.h"
#include "io/inflate.h"

enum { FIXED = 10, TRAILER = 8 }; /* bytes */
enum { FLAG_HCRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_UNKNOWN = 0xe0 };
static const unsigned char MAGIC[2] = {0x1f, 0x8b};

/* What the next byte belongs to. */
typedef enum {
    IN_FIXED,
    IN_EXTRA_SIZE,
    IN_EXTRA,
    IN_NAME,
    IN_COMMENT,
    IN_HCRC,
    IN_BODY,
    IN_TRAILER,
    BETWEEN,
    PADDING
} place;

struct gcg_gunzip {
    gcg_inflate *inflate;
    place place;
    unsigned char bytes[FIXED]; /* of the fixed header or the trailer */
    int64_t count;              /* bytes of this place so far */
    int64_t extra;              /* bytes of the extra field */
    int flags;
    uint32_t header_crc, crc, length; /* of this member so far; length modulo 2^32 */
};

gcg_status gcg_gunzip_new(int with_zlib, gcg_gunzip **g, gcg_err *err)
{
    *g = gcg_mem_zalloc_array(1, sizeof **g);
    if (*g) (*g)->inflate = gcg_inflate_new(with_zlib);
    if (*g && (*g)->inflate) return GCG_OK;
    gcg_mem_free(*g);
    *g = NULL;
    return gcg_fail_memory(err, "gzip");
}

void gcg_gunzip_free(gcg_gunzip *g)
{
    if (!g) return;
    gcg_inflate_free(g->inflate);
    gcg_mem_free(g);
}

static gcg_status bad_header(gcg_err *err, const char *what)
{
    return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0, "the gzip data is damaged (its header: %s)", what);
}

/* Wrong check sums too: whether damage is seen before depends on the library that unpacks. */
static gcg_status damaged(gcg_err *err)
{
    return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0, "the gzip data is damaged");
}

static gcg_status something_follows(gcg_err *err)
{
    return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0,
                    "bytes follow the gzip data that are neither gzip nor zero padding");
}

static void enter(gcg_gunzip *g, place next)
{
    g->place = next;
    g->count = 0;
}

static void enter_body(gcg_gunzip *g)
{
    gcg_inflate_reset(g->inflate);
    g->crc = g->length = 0;
    enter(g, IN_BODY);
}

/* The next part of the header behind this one. */
static void enter_optional(gcg_gunzip *g)
{
    static const struct {
        int flag;
        place place;
    } part[] = {
        {FLAG_EXTRA, IN_EXTRA_SIZE}, {FLAG_NAME, IN_NAME}, {FLAG_COMMENT, IN_COMMENT}, {FLAG_HCRC, IN_HCRC}};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        if (part[k].place > g->place && (g->flags & part[k].flag)) {
            enter(g, part[k].place);
            return;
        }
    enter_body(g);
}

static gcg_status check_fixed(gcg_gunzip *g, gcg_err *err)
{
    g->flags = g->bytes[3];
    if (g->bytes[2] != 8) return bad_header(err, "unknown compression method");
    if (g->flags & FLAGS_UNKNOWN) return bad_header(err, "unknown flags");
    enter_optional(g);
    return GCG_OK;
}

static uint32_t little_endian(const unsigned char *b)
{
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static gcg_status check_trailer(gcg_gunzip *g, gcg_err *err)
{
    if (little_endian(g->bytes) != g->crc || little_endian(g->bytes + 4) != g->length) return damaged(err);
    enter(g, BETWEEN);
    return GCG_OK;
}

/* One byte of a header. */
static gcg_status take_header(gcg_gunzip *g, unsigned char byte, gcg_err *err)
{
    int64_t k = g->count++;
    if (g->place == IN_HCRC) {
        g->bytes[k] = byte;
        if (g->count < 2) return GCG_OK;
        if ((g->bytes[0] | g->bytes[1] << 8) != (int)(g->header_crc & 0xffff))
            return bad_header(err, "wrong check sum");
        enter_body(g);
        return GCG_OK;
    }
    g->header_crc = gcg_inflate_crc(g->inflate, k == 0 && g->place == IN_FIXED ? 0 : g->header_crc, &byte, 1);
    if (g->place == IN_FIXED) {
        g->bytes[k] = byte;
        if (k < 2 && byte != MAGIC[k]) return something_follows(err);
        return g->count == FIXED ? check_fixed(g, err) : GCG_OK;
    }
    if (g->place == IN_EXTRA_SIZE) {
        g->extra = k == 0 ? byte : g->extra | byte << 8;
        if (k == 1) enter(g, IN_EXTRA);
        if (k == 1 && g->extra == 0) enter_optional(g);
    } else if (g->place == IN_EXTRA ? g->count == g->extra : byte == 0) {
        enter_optional(g);
    }
    return GCG_OK;
}

/* One byte outside the deflate data. */
static gcg_status take_byte(gcg_gunzip *g, unsigned char byte, gcg_err *err)
{
    if (g->place == BETWEEN) enter(g, byte == 0 ? PADDING : IN_FIXED);
    if (g->place == PADDING)
        return byte == 0 ? GCG_OK
                         : gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0,
                                    "bytes other than zero padding follow the gzip data");
    if (g->place != IN_TRAILER) return take_header(g, byte, err);
    g->bytes[g->count++] = byte;
    return g->count == TRAILER ? check_trailer(g, err) : GCG_OK;
}

static gcg_status take_body(gcg_gunzip *g, const unsigned char **in, const unsigned char *in_end,
                            unsigned char **out, const unsigned char *out_end, gcg_err *err)
{
    unsigned char *start = *out, surplus[GCG_INFLATE_SURPLUS];
    gcg_inflate_result result = gcg_inflate_run(g->inflate, in, in_end, out, out_end);
    gcg_status status = GCG_OK;
    g->crc = gcg_inflate_crc(g->inflate, g->crc, start, *out - start);
    g->length += (uint32_t)(*out - start);
    if (result == GCG_INFLATE_NOMEM) return gcg_fail_memory(err, "gzip");
    if (result == GCG_INFLATE_DAMAGED) return damaged(err);
    if (result != GCG_INFLATE_END) return GCG_OK;
    enter(g, IN_TRAILER);
    int count = gcg_inflate_surplus(g->inflate, surplus);
    for (int k = 0; k < count && status == GCG_OK; k++) status = take_byte(g, surplus[k], err);
    return status;
}

gcg_status gcg_gunzip_run(gcg_gunzip *g, const unsigned char **in, const unsigned char *in_end, char *to,
                          int64_t room, int64_t *got, gcg_err *err)
{
    unsigned char *out = (unsigned char *)to;
    const unsigned char *out_end = out + room;
    gcg_status status = GCG_OK;
    for (int moved = 1; moved && status == GCG_OK;) {
        const unsigned char *in_before = *in, *out_before = out;
        if (g->place != IN_BODY && *in < in_end)
            status = take_byte(g, *(*in)++, err);
        else if (g->place == IN_BODY && out < out_end)
            status = take_body(g, in, in_end, &out, out_end, err);
        moved = *in > in_before || out > out_before;
    }
    *got = (char *)out - to;
    return status;
}

gcg_status gcg_gunzip_end(const gcg_gunzip *g, gcg_err *err)
{
    if (g->place == BETWEEN || g->place == PADDING) return GCG_OK;
    if (g->place == IN_FIXED && g->count < 2) return something_follows(err); /* half a magic number */
    return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0, "the gzip data is cut short");
}
