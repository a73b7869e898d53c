/* Raw deflate data to bytes: the one door to the libraries that unpack, zlib and, where the program was built
 * with it, libisal (three to six times as fast). Headers, check sums and members are gunzip.h's. */
#ifndef GCG_IO_INFLATE_H
#define GCG_IO_INFLATE_H

#include <stddef.h>
#include <stdint.h>

typedef struct gcg_inflate gcg_inflate;

typedef enum {
    GCG_INFLATE_MORE, /* the input is used up or the output is full */
    GCG_INFLATE_END,  /* of the deflate data */
    GCG_INFLATE_DAMAGED,
    GCG_INFLATE_NOMEM
} gcg_inflate_result;

enum { GCG_INFLATE_SURPLUS = 8 /* bytes */ };

/* with_zlib: zlib even where libisal is there (tests compare the two). NULL when out of memory. */
gcg_inflate *gcg_inflate_new(int with_zlib);
void gcg_inflate_free(gcg_inflate *f); /* NULL is fine */
/* Ready for another stream. */
void gcg_inflate_reset(gcg_inflate *f);

/* Unpacks from *in to *out and moves both on. */
gcg_inflate_result gcg_inflate_run(gcg_inflate *f, const unsigned char **in, const unsigned char *in_end,
                                   unsigned char **out, const unsigned char *out_end);
/* After GCG_INFLATE_END: bytes that were taken but lie behind the data; returns how many. */
int gcg_inflate_surplus(const gcg_inflate *f, unsigned char bytes[GCG_INFLATE_SURPLUS]);

/* The check sum of gzip, continued over bytes[0..length). */
uint32_t gcg_inflate_crc(const gcg_inflate *f, uint32_t crc, const unsigned char *bytes, int64_t length);

/* Versions for --version; live forever. The second is NULL when built without libisal. */
const char *gcg_zlib_version(void);
const char *gcg_isal_version(void);

#endif
