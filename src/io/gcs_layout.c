/* Layout of the binary store: see gcs_layout.h. */
#include "io/gcs_layout.h"

#include <string.h>
#include "base/rng.h"
#include "store/idmap.h"

/* The first byte is not ASCII, then come the name and what a transfer as text would change (as PNG does). */
const unsigned char gcg_gcs_magic[GCG_GCS_MAGIC] = {0x89, 'G', 'C', 'S', '\r', '\n', 0x1a, '\n'};
const char *const gcg_gcs_section_names[GCG_GCS_SECTIONS] = {"user ids", "item ids", "row starts", "columns",
                                                             "ratings",  "weights",  "check sums"};

static const uint32_t BYTE_ORDER_MARK = 0x01020304, FOREIGN_MARK = 0x04030201;

/* Places in the header page. */
enum {
    AT_MARK = 8,
    AT_VERSION = 12,
    AT_FILE_BYTES = 16,
    AT_USERS = 24,
    AT_ITEMS = 28,
    AT_RATINGS = 32,
    AT_VALUE_BYTES = 40,
    AT_SECTIONS = 48, /* offset and size of each but the weights, 16 bytes */
    AT_SUMS_HASH = AT_SECTIONS + 16 * (GCG_GCS_SECTIONS - 1),
    AT_DUPLICATES = AT_SUMS_HASH + 8,
    AT_KNOWN_USERS = AT_DUPLICATES + 8,
    AT_KNOWN_ITEMS = AT_KNOWN_USERS + 8,
    AT_WEIGHTS = AT_KNOWN_ITEMS + 8, /* offset and size, from version 2 on */
    AT_HASH = GCG_GCS_PAGE - 8
};

static int at_section(int section)
{
    if (section == GCG_GCS_WEIGHTS) return AT_WEIGHTS;
    return AT_SECTIONS + 16 * (section < GCG_GCS_WEIGHTS ? section : section - 1);
}

enum { LANES = 4, TURN = 29 };
static const uint64_t FACTOR = 0x9fb21c651e98df25u; /* odd: multiplying by it loses nothing */

static void hash_group(uint64_t lane[LANES], const unsigned char *bytes)
{
    for (int k = 0; k < LANES; k++) {
        uint64_t word, x;
        memcpy(&word, bytes + 8 * k, 8);
        x = lane[k] ^ word;
        lane[k] = (x << TURN | x >> (64 - TURN)) * FACTOR;
    }
}

uint64_t gcg_gcs_hash(const void *bytes, int64_t length)
{
    uint64_t lane[LANES] = {1, 2, 3, 4};
    const unsigned char *p = bytes, *end = p + length;
    for (; end - p >= 8 * LANES; p += 8 * LANES) hash_group(lane, p);
    if (p < end) {
        unsigned char rest[8 * LANES] = {0};
        memcpy(rest, p, (size_t)(end - p));
        hash_group(lane, rest);
    }
    uint64_t hash = gcg_hash_mix((uint64_t)length);
    for (int k = 0; k < LANES; k++) hash = gcg_hash_mix(hash ^ lane[k]);
    return hash;
}

int64_t gcg_gcs_chunks(int64_t bytes)
{
    return bytes / GCG_GCS_CHUNK + (bytes % GCG_GCS_CHUNK != 0);
}

int gcg_gcs_place(gcg_gcs_header *h, int64_t user_bytes, int64_t item_bytes)
{
    const int64_t most = INT64_MAX / 64; /* of one section: their sum cannot overflow */
    if (user_bytes > most || item_bytes > most || h->ratings > most / 8) return 0;
    gcg_gcs_extent *s = h->section;
    s[GCG_GCS_USERS].bytes = user_bytes;
    s[GCG_GCS_ITEMS].bytes = item_bytes;
    s[GCG_GCS_ROW_PTR].bytes = ((int64_t)h->users + 1) * 8;
    s[GCG_GCS_COL].bytes = h->ratings * 4;
    s[GCG_GCS_VALUES].bytes = h->ratings * h->value_bytes;
    s[GCG_GCS_WEIGHTS].bytes = h->has_weights ? h->ratings * 4 : 0;
    s[GCG_GCS_SUMS].bytes = 0;
    int64_t at = GCG_GCS_PAGE;
    for (int k = 0; k < GCG_GCS_SECTIONS; k++) {
        s[k].offset = at;
        at += s[k].bytes;
        h->file_bytes = at;
        at += (GCG_GCS_PAGE - at % GCG_GCS_PAGE) % GCG_GCS_PAGE;
        if (k < GCG_GCS_SUMS) s[GCG_GCS_SUMS].bytes += 8 * gcg_gcs_chunks(s[k].bytes);
    }
    return 1;
}

static void put(unsigned char *page, int at, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++) page[at + k] = (unsigned char)(value >> (8 * k));
}

static uint64_t get(const unsigned char *page, int at, int bytes)
{
    uint64_t value = 0;
    for (int k = 0; k < bytes; k++) value |= (uint64_t)page[at + k] << (8 * k);
    return value;
}

void gcg_gcs_encode(const gcg_gcs_header *h, unsigned char page[GCG_GCS_PAGE])
{
    memset(page, 0, GCG_GCS_PAGE);
    memcpy(page, gcg_gcs_magic, GCG_GCS_MAGIC);
    put(page, AT_MARK, BYTE_ORDER_MARK, 4);
    put(page, AT_VERSION, h->has_weights ? 2 : 1, 4);
    put(page, AT_FILE_BYTES, (uint64_t)h->file_bytes, 8);
    put(page, AT_USERS, (uint64_t)h->users, 4);
    put(page, AT_ITEMS, (uint64_t)h->items, 4);
    put(page, AT_RATINGS, (uint64_t)h->ratings, 8);
    put(page, AT_VALUE_BYTES, (uint64_t)h->value_bytes, 4);
    for (int k = 0; k < GCG_GCS_SECTIONS; k++) {
        if (k == GCG_GCS_WEIGHTS && !h->has_weights) continue;
        put(page, at_section(k), (uint64_t)h->section[k].offset, 8);
        put(page, at_section(k) + 8, (uint64_t)h->section[k].bytes, 8);
    }
    put(page, AT_SUMS_HASH, h->sums_hash, 8);
    put(page, AT_DUPLICATES, (uint64_t)h->duplicates, 8);
    put(page, AT_KNOWN_USERS, (uint64_t)h->known_users, 8);
    put(page, AT_KNOWN_ITEMS, (uint64_t)h->known_items, 8);
    put(page, AT_HASH, gcg_gcs_hash(page, AT_HASH), 8);
}

/* The id section of count ids: each has 1 to GCG_ID_MAX bytes and an LF. */
static int can_hold_ids(int64_t bytes, int64_t count)
{
    return bytes >= 2 * count && bytes <= (GCG_ID_MAX + 1) * count;
}

/* 1 when the numbers of a header can be true; its sections then follow from its counts. */
static int is_sound(const gcg_gcs_header *h)
{
    gcg_gcs_header again = *h;
    const gcg_gcs_extent *s = h->section;
    if (h->users < 1 || h->items < 1 || h->ratings < 1 || (h->value_bytes != 4 && h->value_bytes != 8))
        return 0;
    if (h->duplicates < 0 || h->known_users < 0 || h->known_users > h->users || h->known_items < 0 ||
        h->known_items > h->items)
        return 0;
    if (!can_hold_ids(s[GCG_GCS_USERS].bytes, h->users) || !can_hold_ids(s[GCG_GCS_ITEMS].bytes, h->items))
        return 0;
    return gcg_gcs_place(&again, s[GCG_GCS_USERS].bytes, s[GCG_GCS_ITEMS].bytes) &&
           again.file_bytes == h->file_bytes && memcmp(again.section, s, sizeof again.section) == 0;
}

gcg_status gcg_gcs_check_host(const char *name, gcg_err *err)
{
    const uint32_t mark = BYTE_ORDER_MARK;
    unsigned char first;
    memcpy(&first, &mark, 1);
    if (first == (unsigned char)(BYTE_ORDER_MARK & 0xff)) return GCG_OK;
    return gcg_fail(err, GCG_ERR_DATA, name, 0, 0,
                    "a binary store has little-endian numbers, this machine has not: use the text");
}

/* What stands before anything that may differ between versions. */
static gcg_status check_kind(const unsigned char *file, int64_t size, const char *name, gcg_err *err)
{
    if (size < GCG_GCS_MAGIC || memcmp(file, gcg_gcs_magic, GCG_GCS_MAGIC) != 0)
        return gcg_fail(err, GCG_ERR_DATA, name, 0, 0, "is not a binary store of gcg-mc");
    if (size < GCG_GCS_PAGE)
        return gcg_fail(err, GCG_ERR_DATA, name, 0, 0,
                        "is cut short: a binary store begins with %d bytes of header, %lld are there",
                        GCG_GCS_PAGE, (long long)size);
    if (get(file, AT_MARK, 4) == FOREIGN_MARK)
        return gcg_fail(
            err, GCG_ERR_DATA, name, 0, 0,
            "has big-endian numbers; a binary store is little-endian: make it again with gcg-mc convert");
    uint64_t version = get(file, AT_VERSION, 4);
    if (get(file, AT_MARK, 4) == BYTE_ORDER_MARK && version > GCG_GCS_VERSION)
        return gcg_fail(
            err, GCG_ERR_DATA, name, 0, 0,
            "is a binary store of version %llu, this gcg-mc reads version %d: use a newer gcg-mc, "
            "or make the store again with this one",
            (unsigned long long)version, GCG_GCS_VERSION);
    if (get(file, AT_HASH, 8) != gcg_gcs_hash(file, AT_HASH) || get(file, AT_MARK, 4) != BYTE_ORDER_MARK ||
        version < 1 || version > GCG_GCS_VERSION)
        return gcg_fail(
            err, GCG_ERR_DATA, name, 0, 0,
            "is damaged: the check sum of its header does not fit; make it again with gcg-mc convert");
    return gcg_gcs_check_host(name, err);
}

gcg_status gcg_gcs_decode(const unsigned char *file, int64_t size, const char *name, gcg_gcs_header *h,
                          gcg_err *err)
{
    gcg_status status = check_kind(file, size, name, err);
    if (status != GCG_OK) return status;
    *h = (gcg_gcs_header){.users = (int32_t)get(file, AT_USERS, 4),
                          .items = (int32_t)get(file, AT_ITEMS, 4),
                          .ratings = (int64_t)get(file, AT_RATINGS, 8),
                          .value_bytes = (int)get(file, AT_VALUE_BYTES, 4),
                          .has_weights = get(file, AT_VERSION, 4) >= 2,
                          .duplicates = (int64_t)get(file, AT_DUPLICATES, 8),
                          .known_users = (int64_t)get(file, AT_KNOWN_USERS, 8),
                          .known_items = (int64_t)get(file, AT_KNOWN_ITEMS, 8),
                          .sums_hash = get(file, AT_SUMS_HASH, 8),
                          .file_bytes = (int64_t)get(file, AT_FILE_BYTES, 8)};
    for (int k = 0; k < GCG_GCS_SECTIONS; k++) {
        int there = k != GCG_GCS_WEIGHTS || h->has_weights;
        h->section[k].offset = there ? (int64_t)get(file, at_section(k), 8) : 0;
        h->section[k].bytes = there ? (int64_t)get(file, at_section(k) + 8, 8) : 0;
    }
    if (!h->has_weights) /* nothing, where the last section begins */
        h->section[GCG_GCS_WEIGHTS].offset = h->section[GCG_GCS_SUMS].offset;
    unsigned char again[GCG_GCS_PAGE]; /* tells whether bytes without a meaning are zero, too */
    gcg_gcs_encode(h, again);
    if (!is_sound(h) || memcmp(again, file, GCG_GCS_PAGE) != 0)
        return gcg_fail(err, GCG_ERR_DATA, name, 0, 0,
                        "is damaged: the numbers of its header contradict each other");
    if (size < h->file_bytes)
        return gcg_fail(err, GCG_ERR_DATA, name, 0, 0, "is cut short: %lld of %lld bytes are there",
                        (long long)size, (long long)h->file_bytes);
    if (size > h->file_bytes)
        return gcg_fail(err, GCG_ERR_DATA, name, 0, 0, "is damaged: %lld bytes follow its end",
                        (long long)(size - h->file_bytes));
    return GCG_OK;
}
