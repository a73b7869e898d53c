/* The vectors of a kernel source, by what the Makefile compiles it for: GCG_REAL_FLOAT or GCG_REAL_DOUBLE
 * names the precision, the instruction set the width. Only for files that are compiled so. */
#ifndef GCG_MATHS_VECTOR_H
#define GCG_MATHS_VECTOR_H

#include <string.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#if defined(GCG_REAL_FLOAT)
typedef float real;
#define PRECISION float
#define VECTOR_LANES (VECTOR_BYTES / 4)
#else
typedef double real;
#define PRECISION double
#define VECTOR_LANES (VECTOR_BYTES / 8)
#endif

typedef real vec __attribute__((vector_size(VECTOR_BYTES)));

static inline vec load(const real *p)
{
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

#endif
