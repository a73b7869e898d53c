/* The header of numpy's .npy arrays, format 1.0, C order, one or two dimensions or a single number.
 *
 * Only what model files need: the header has a fixed length, and reading accepts exactly what writing makes.
 */
#ifndef GCG_IO_NPY_H
#define GCG_IO_NPY_H

#include <stdint.h>

enum { GCG_NPY_HEADER = 128 /* bytes; numpy too pads small headers to this */ };

typedef struct {
    char type[4];     /* "<f4", "<f8" or "<i8" */
    int dims;         /* 0 (a single number), 1 or 2 */
    int64_t shape[2]; /* rows, columns; those past dims are 1 */
} gcg_npy;

void gcg_npy_header(char header[GCG_NPY_HEADER], const gcg_npy *array);
/* 0 when header is one that gcg_npy_header makes. */
int gcg_npy_parse(const char header[GCG_NPY_HEADER], gcg_npy *array);

#endif
