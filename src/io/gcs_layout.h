/* The binary store, byte by byte: header, sections, check sums. Inside src/io only; see gcs.h for reading and
 * gcs_write.h for writing, gcg-mc-data(5) for the description.
 *
 * A store is a header of one page and six sections, each at the next multiple of a page; zeros between them.
 * All sections but the last are cut into chunks of 4 MiB, and the last holds a 64-bit hash of each chunk in
 * that order. The header holds the hash of the last section and its own. All numbers are little-endian.
 *
 * Version 2 has a seventh section, the weights, before the last. A store without weights is of version 1, and
 * its section of weights, which is in no table there, is empty. */
#ifndef GCG_IO_GCS_LAYOUT_H
#define GCG_IO_GCS_LAYOUT_H

#include <stdint.h>
#include "base/status.h"

enum {
    GCG_GCS_PAGE = 4096,
    GCG_GCS_CHUNK = 4 << 20,
    GCG_GCS_VERSION = 2 /* the newest */,
    GCG_GCS_MAGIC = 8
};

typedef enum {
    GCG_GCS_USERS,   /* user ids in row order, each followed by LF */
    GCG_GCS_ITEMS,   /* item ids in column order */
    GCG_GCS_ROW_PTR, /* int64_t, users + 1 */
    GCG_GCS_COL,     /* int32_t, ratings */
    GCG_GCS_VALUES,  /* float or double, ratings */
    GCG_GCS_WEIGHTS, /* float, ratings, or none */
    GCG_GCS_SUMS,    /* uint64_t, one for each chunk of the sections before */
    GCG_GCS_SECTIONS
} gcg_gcs_section;

typedef struct {
    int64_t offset, bytes;
} gcg_gcs_extent;

typedef struct {
    int32_t users, items;
    int64_t ratings;
    int value_bytes; /* 4: float, 8: double */
    int has_weights;
    int64_t duplicates; /* ratings that were merged into others when the store was made */
    /* The ids 1..known_users and 1..known_items are there even without ratings (MatrixMarket). */
    int64_t known_users, known_items;
    uint64_t sums_hash; /* of section GCG_GCS_SUMS */
    gcg_gcs_extent section[GCG_GCS_SECTIONS];
    int64_t file_bytes;
} gcg_gcs_header;

extern const unsigned char gcg_gcs_magic[GCG_GCS_MAGIC];
/* "user ids", ... for messages. */
extern const char *const gcg_gcs_section_names[GCG_GCS_SECTIONS];

/* A change of any one aligned 8-byte word of the input, and all but one in 2^64 of the other changes, changes
 * it. */
uint64_t gcg_gcs_hash(const void *bytes, int64_t length);
/* How many chunks a section of this size has. */
int64_t gcg_gcs_chunks(int64_t bytes);

/* Lays the sections of h out, given its counts and the sizes of the two id sections. 0 when the file would
 * have 2^63 bytes and more. */
int gcg_gcs_place(gcg_gcs_header *h, int64_t user_bytes, int64_t item_bytes);

/* The header page of h; its own hash comes last. */
void gcg_gcs_encode(const gcg_gcs_header *h, unsigned char page[GCG_GCS_PAGE]);
/* Reads and checks the header of a file of size bytes; h's sections then lie within the file. GCG_ERR_DATA
 * says what is wrong with it. */
gcg_status gcg_gcs_decode(const unsigned char *file, int64_t size, const char *name, gcg_gcs_header *h,
                          gcg_err *err);

/* GCG_ERR_DATA on a big-endian machine, whose numbers are not those of the file. */
gcg_status gcg_gcs_check_host(const char *name, gcg_err *err);

#endif
