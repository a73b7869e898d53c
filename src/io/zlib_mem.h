/* zlib's memory comes from base/mem like all other. */
#ifndef GCG_IO_ZLIB_MEM_H
#define GCG_IO_ZLIB_MEM_H

#include <zlib.h>
#include "base/mem.h"

static inline voidpf gcg_zlib_alloc(voidpf opaque, uInt count, uInt size)
{
    (void)opaque;
    return gcg_mem_alloc_array(count, size);
}

static inline void gcg_zlib_free(voidpf opaque, voidpf block)
{
    (void)opaque;
    gcg_mem_free(block);
}

/* Before inflateInit2 or deflateInit2. */
static inline void gcg_zlib_use_mem(z_stream *z)
{
    z->zalloc = gcg_zlib_alloc;
    z->zfree = gcg_zlib_free;
}

#endif
