/* Raw deflate data: see inflate.h. GCG_ISAL, libisal's version as text, is defined where it was found. */
#include "io/inflate.h"

#include <string.h>
#include <zlib.h>
#include "base/mem.h"
#include "io/zlib_mem.h"
#ifdef GCG_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#endif

enum { RAW_WINDOW = -15 /* zlib: largest window, no wrapper */, MOST = 1 << 30 /* bytes a call */ };

struct gcg_inflate {
    z_stream z;
    int z_ready;
#ifdef GCG_ISAL
    struct inflate_state *isal; /* NULL: zlib */
#endif
};

gcg_inflate *gcg_inflate_new(int with_zlib)
{
    gcg_inflate *f = gcg_mem_zalloc_array(1, sizeof *f);
    if (!f) return NULL;
#ifdef GCG_ISAL
    if (!with_zlib) {
        f->isal = gcg_mem_zalloc_array(1, sizeof *f->isal); /* damaged data may use tables that nobody set */
        if (f->isal) {
            isal_inflate_init(f->isal);
            return f;
        }
        gcg_mem_free(f);
        return NULL;
    }
#endif
    (void)with_zlib;
    gcg_zlib_use_mem(&f->z);
    f->z_ready = inflateInit2(&f->z, RAW_WINDOW) == Z_OK;
    if (f->z_ready) return f;
    gcg_mem_free(f);
    return NULL;
}

void gcg_inflate_free(gcg_inflate *f)
{
    if (!f) return;
    if (f->z_ready) inflateEnd(&f->z);
#ifdef GCG_ISAL
    gcg_mem_free(f->isal);
#endif
    gcg_mem_free(f);
}

void gcg_inflate_reset(gcg_inflate *f)
{
    if (f->z_ready) inflateReset(&f->z);
#ifdef GCG_ISAL
    if (f->isal) isal_inflate_init(f->isal);
#endif
}

static uint32_t at_most(const unsigned char *start, const unsigned char *end)
{
    return end - start > MOST ? MOST : (uint32_t)(end - start);
}

static gcg_inflate_result run_zlib(z_stream *z, const unsigned char **in, const unsigned char *in_end,
                                   unsigned char **out, const unsigned char *out_end)
{
    z->next_in = (Bytef *)(uintptr_t)*in;
    z->avail_in = at_most(*in, in_end);
    z->next_out = *out;
    z->avail_out = at_most(*out, out_end);
    int result = inflate(z, Z_NO_FLUSH);
    *in = z->next_in;
    *out = z->next_out;
    if (result == Z_OK || result == Z_BUF_ERROR) return GCG_INFLATE_MORE;
    if (result == Z_STREAM_END) return GCG_INFLATE_END;
    return result == Z_MEM_ERROR ? GCG_INFLATE_NOMEM : GCG_INFLATE_DAMAGED;
}

#ifdef GCG_ISAL
static gcg_inflate_result run_isal(struct inflate_state *s, const unsigned char **in,
                                   const unsigned char *in_end, unsigned char **out,
                                   const unsigned char *out_end)
{
    s->next_in = (uint8_t *)(uintptr_t)*in;
    s->avail_in = at_most(*in, in_end);
    s->next_out = *out;
    s->avail_out = at_most(*out, out_end);
    int result = isal_inflate(s);
    *in = s->next_in;
    *out = s->next_out;
    if (result != ISAL_DECOMP_OK) return GCG_INFLATE_DAMAGED;
    return s->block_state == ISAL_BLOCK_FINISH ? GCG_INFLATE_END : GCG_INFLATE_MORE;
}
#endif

gcg_inflate_result gcg_inflate_run(gcg_inflate *f, const unsigned char **in, const unsigned char *in_end,
                                   unsigned char **out, const unsigned char *out_end)
{
#ifdef GCG_ISAL
    if (f->isal) return run_isal(f->isal, in, in_end, out, out_end);
#endif
    return run_zlib(&f->z, in, in_end, out, out_end);
}

int gcg_inflate_surplus(const gcg_inflate *f, unsigned char bytes[GCG_INFLATE_SURPLUS])
{
#ifdef GCG_ISAL
    if (f->isal) { /* it reads ahead, up to 64 bits; the first of them fill up the last byte */
        int count = f->isal->read_in_length / 8;
        uint64_t bits = f->isal->read_in >> f->isal->read_in_length % 8;
        for (int k = 0; k < count; k++, bits >>= 8) bytes[k] = (unsigned char)bits;
        return count;
    }
#endif
    (void)f, (void)bytes;
    return 0;
}

uint32_t gcg_inflate_crc(const gcg_inflate *f, uint32_t crc, const unsigned char *bytes, int64_t length)
{
#ifdef GCG_ISAL
    if (f->isal) return crc32_gzip_refl(crc, bytes, (uint64_t)length);
#endif
    (void)f;
    for (; length > 0; bytes += MOST, length -= MOST)
        crc = (uint32_t)crc32(crc, bytes, (uInt)(length > MOST ? MOST : length));
    return crc;
}

const char *gcg_zlib_version(void)
{
    return zlibVersion();
}

const char *gcg_isal_version(void)
{
#ifdef GCG_ISAL
    return GCG_ISAL;
#else
    return NULL;
#endif
}
