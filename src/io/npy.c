/* The .npy header: see npy.h. */
#include "io/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are written as they lie in memory, as '<' types");

static const char magic[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, GCG_NPY_HEADER - 10, 0};

void gcg_npy_header(char header[GCG_NPY_HEADER], const gcg_npy *array)
{
    char shape[48] = "", text[GCG_NPY_HEADER];
    if (array->dims == 1) snprintf(shape, sizeof shape, "%" PRId64 ",", array->shape[0]);
    if (array->dims == 2)
        snprintf(shape, sizeof shape, "%" PRId64 ", %" PRId64, array->shape[0], array->shape[1]);
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                          array->type, shape);
    memset(header, ' ', GCG_NPY_HEADER);
    memcpy(header, magic, sizeof magic);
    memcpy(header + sizeof magic, text, (size_t)length);
    header[GCG_NPY_HEADER - 1] = '\n';
}

/* Reads digits at *at, moving it on; -1 when there are none or too many. */
static int64_t parse_size(const char **at)
{
    enum { DIGITS = 18 }; /* fits int64_t */
    int64_t size = 0;
    int digits = 0;
    for (; **at >= '0' && **at <= '9' && digits < DIGITS; digits++) size = 10 * size + (*(*at)++ - '0');
    return digits > 0 ? size : -1;
}

int gcg_npy_parse(const char header[GCG_NPY_HEADER], gcg_npy *array)
{
    static const char before_type[] = "{'descr': '", before_shape[] = "', 'fortran_order': False, 'shape': (";
    char again[GCG_NPY_HEADER];
    const char *at = header + sizeof magic + sizeof before_type - 1;
    *array = (gcg_npy){.shape = {1, 1}};
    memcpy(array->type, at, 3);
    if (strcmp(array->type, "<f4") != 0 && strcmp(array->type, "<f8") != 0 && strcmp(array->type, "<i8") != 0)
        return -1;
    at += 3 + sizeof before_shape - 1;
    for (; array->dims < 2 && *at != ')'; array->dims++) {
        array->shape[array->dims] = parse_size(&at);
        if (array->shape[array->dims] < 0) return -1;
        if (*at == ',') at += at[1] == ' ' ? 2 : 1;
    }
    gcg_npy_header(again, array); /* what was skipped above is checked here */
    return memcmp(header, again, GCG_NPY_HEADER) == 0 ? 0 : -1;
}
