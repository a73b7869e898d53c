/* Id maps: see idmap.h.
 *
 * As long as every id is a canonical 64-bit integer the map holds int64_t only (8 bytes an id); the first
 * other id turns it into a pool of byte strings. Both kinds share one open-addressing table of (tag, index)
 * slots with linear probing. While all ids are integers below DENSE times the capacity, a table by id takes
 * its place: no larger, one access instead of two. The last id added is remembered: rating files come in runs
 * of one user or one item. */
#include "store/idmap.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"

enum {
    FIRST_CAPACITY = 64 /* ids */,
    FIRST_POOL = 1024 /* bytes */,
    INTEGER_TEXT = 24 /* holds any int64_t */,
    DENSE = 8 /* entries of the table by id for each id there is room for: twice the bytes of the slots */
};

typedef struct {
    uint32_t tag;  /* upper half of the hash */
    int32_t index; /* -1: free */
} slot;

struct gcg_idmap {
    int32_t count, last; /* last: index of the id looked up last, -1 = none */
    int64_t capacity;    /* of integer or start, ids */
    int strings;         /* 0: integer[] holds the ids; 1: pool and start do */
    int64_t *integer;
    char *pool;
    int64_t *start; /* count + 1 offsets into pool */
    int64_t pool_size;
    slot *table;     /* NULL: direct is used */
    uint64_t mask;   /* slots - 1 */
    int32_t *direct; /* index of each id below direct_size, -1: none; NULL: table is used */
    uint64_t direct_size;
    int64_t low, high; /* smallest and largest id while they are integers */
};

/* 1 when id is a canonical integer: optional minus, no leading zeros, no "-0", fits int64_t. */
static int canonical_integer(const char *id, size_t length, int64_t *value)
{
    size_t digits = length, i = 0;
    int negative = length > 0 && id[0] == '-';
    if (negative) digits--, i++;
    if (digits == 0 || digits > 19 || (id[i] == '0' && length > 1)) return 0;
    uint64_t sum = 0;
    for (; i < length; i++) {
        unsigned digit = (unsigned)(unsigned char)id[i] - '0';
        if (digit > 9) return 0;
        sum = sum * 10 + digit; /* 19 digits fit in 64 bits */
    }
    if (sum > (uint64_t)INT64_MAX + (uint64_t)negative) return 0;
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return 1;
}

/* Decimal text of value without a final NUL; returns its length. */
static size_t integer_text(int64_t value, char *text)
{
    char reversed[INTEGER_TEXT];
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t n = 0, length = 0;
    do reversed[n++] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0) text[length++] = '-';
    while (n > 0) text[length++] = reversed[--n];
    return length;
}

static uint64_t hash_of(const gcg_idmap *map, int32_t index)
{
    if (!map->strings) return gcg_hash_mix((uint64_t)map->integer[index]);
    return gcg_hash_bytes(map->pool + map->start[index], (size_t)(map->start[index + 1] - map->start[index]),
                          0);
}

static void table_insert(gcg_idmap *map, uint64_t hash, int32_t index)
{
    uint64_t i = hash & map->mask;
    while (map->table[i].index >= 0) i = (i + 1) & map->mask;
    map->table[i] = (slot){(uint32_t)(hash >> 32), index};
}

static void table_fill(gcg_idmap *map)
{
    if (map->direct) {
        memset(map->direct, 0xff, map->direct_size * sizeof *map->direct);
        for (int32_t k = 0; k < map->count; k++) map->direct[map->integer[k]] = k;
        return;
    }
    for (uint64_t i = 0; i <= map->mask; i++) map->table[i].index = -1;
    for (int32_t k = 0; k < map->count; k++) table_insert(map, hash_of(map, k), k);
}

/* Replaces the table by one of the kind and the size that the ids, which lie in low..high, and the capacity
 * want. */
static gcg_status table_new(gcg_idmap *map, int64_t capacity, int strings, int64_t low, int64_t high,
                            gcg_err *err)
{
    int dense = !strings && low >= 0 && high < DENSE * capacity;
    slot *table = NULL;
    int32_t *direct = NULL;
    uint64_t size = 2 * FIRST_CAPACITY;
    while (dense && (int64_t)size <= high) size *= 2;
    if (dense)
        direct = gcg_mem_alloc_array((int64_t)size, sizeof *direct);
    else
        table = gcg_mem_alloc_array(2 * capacity, sizeof *table);
    if (!direct && !table) return gcg_fail_memory(err, "ids");
    gcg_mem_free(map->table);
    gcg_mem_free(map->direct);
    map->table = table;
    map->mask = dense ? 0 : (uint64_t)(2 * capacity - 1);
    map->direct = direct;
    map->direct_size = dense ? size : 0;
    table_fill(map);
    return GCG_OK;
}

gcg_status gcg_idmap_new(gcg_idmap **map, gcg_err *err)
{
    gcg_idmap *m = gcg_mem_zalloc_array(1, sizeof *m);
    *map = NULL;
    if (!m) return gcg_fail_memory(err, "ids");
    m->last = -1;
    m->capacity = FIRST_CAPACITY;
    m->integer = gcg_mem_alloc_array(m->capacity, sizeof *m->integer);
    if (!m->integer || table_new(m, m->capacity, 0, 0, 0, NULL) != GCG_OK) {
        gcg_idmap_free(m);
        return gcg_fail_memory(err, "ids");
    }
    *map = m;
    return GCG_OK;
}

void gcg_idmap_free(gcg_idmap *map)
{
    if (!map) return;
    gcg_mem_free(map->integer);
    gcg_mem_free(map->pool);
    gcg_mem_free(map->start);
    gcg_mem_free(map->table);
    gcg_mem_free(map->direct);
    gcg_mem_free(map);
}

/* Index of an integer id, or -1. */
static int32_t find_integer(const gcg_idmap *map, int64_t value)
{
    if (map->direct) return (uint64_t)value < map->direct_size ? map->direct[value] : -1;
    uint64_t hash = gcg_hash_mix((uint64_t)value);
    for (uint64_t i = hash & map->mask;; i = (i + 1) & map->mask) {
        slot s = map->table[i];
        if (s.index < 0) return -1;
        if (s.tag == (uint32_t)(hash >> 32) && map->integer[s.index] == value) return s.index;
    }
}

static int same_string(const gcg_idmap *map, int32_t index, const char *id, size_t length)
{
    int64_t start = map->start[index];
    return (size_t)(map->start[index + 1] - start) == length && memcmp(map->pool + start, id, length) == 0;
}

static int32_t find_string(const gcg_idmap *map, const char *id, size_t length, uint64_t hash)
{
    for (uint64_t i = hash & map->mask;; i = (i + 1) & map->mask) {
        slot s = map->table[i];
        if (s.index < 0) return -1;
        if (s.tag == (uint32_t)(hash >> 32) && same_string(map, s.index, id, length)) return s.index;
    }
}

int32_t gcg_idmap_find(const gcg_idmap *map, const char *id, size_t length)
{
    int64_t value;
    if (map->strings) return find_string(map, id, length, gcg_hash_bytes(id, length, 0));
    if (!canonical_integer(id, length, &value)) return -1;
    return find_integer(map, value);
}

/* Doubles the room for ids, of which the next one may widen low..high, and renews the table. */
static gcg_status grow(gcg_idmap *map, int64_t low, int64_t high, gcg_err *err)
{
    int64_t capacity = 2 * map->capacity, extra = map->strings; /* start has one entry more */
    int64_t *ids = map->strings ? map->start : map->integer;
    ids = gcg_mem_resize_array(ids, map->count + extra, capacity + extra, sizeof *ids);
    if (!ids) return gcg_fail_memory(err, "ids");
    if (map->strings)
        map->start = ids;
    else
        map->integer = ids;
    gcg_status status = table_new(map, capacity, map->strings, low, high, err);
    if (status == GCG_OK) map->capacity = capacity;
    return status;
}

/* Makes room for length more bytes in the pool, which holds used. */
static gcg_status pool_reserve(gcg_idmap *map, int64_t used, size_t length, gcg_err *err)
{
    int64_t size = map->pool_size ? map->pool_size : FIRST_POOL;
    while (size < used + (int64_t)length) size *= 2;
    if (size == map->pool_size) return GCG_OK;
    char *pool = gcg_mem_resize_array(map->pool, used, size, 1);
    if (!pool) return gcg_fail_memory(err, "ids");
    map->pool = pool;
    map->pool_size = size;
    return GCG_OK;
}

/* Turns the integers into strings. */
static gcg_status to_strings(gcg_idmap *map, gcg_err *err)
{
    char text[INTEGER_TEXT];
    int64_t used = 0;
    gcg_mem_free(map->start);
    map->start = gcg_mem_alloc_array(map->capacity + 1, sizeof *map->start);
    if (!map->start) return gcg_fail_memory(err, "ids");
    for (int32_t k = 0; k < map->count; k++) {
        size_t length = integer_text(map->integer[k], text);
        gcg_status status = pool_reserve(map, used, length, err);
        if (status != GCG_OK) return status;
        map->start[k] = used;
        memcpy(map->pool + used, text, length);
        used += (int64_t)length;
    }
    map->start[map->count] = used;
    map->strings = 1;
    gcg_status status = table_new(map, map->capacity, 1, 0, 0, err);
    if (status != GCG_OK) {
        map->strings = 0;
        return status;
    }
    gcg_mem_free(map->integer);
    map->integer = NULL;
    return GCG_OK;
}

static gcg_status room_for_one(gcg_idmap *map, int64_t low, int64_t high, gcg_err *err)
{
    if (map->count == INT32_MAX)
        return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0, "more than 2147483647 different ids");
    if (map->count == map->capacity) return grow(map, low, high, err);
    int fits = !map->direct || (low >= 0 && (uint64_t)high < map->direct_size);
    return fits ? GCG_OK : table_new(map, map->capacity, map->strings, low, high, err);
}

static gcg_status add_integer(gcg_idmap *map, int64_t value, int32_t *index, gcg_err *err)
{
    *index = find_integer(map, value);
    if (*index < 0) {
        int64_t low = value < map->low ? value : map->low, high = value > map->high ? value : map->high;
        gcg_status status = room_for_one(map, low, high, err);
        if (status != GCG_OK) return status;
        map->low = low;
        map->high = high;
        *index = map->count++;
        map->integer[*index] = value;
        if (map->direct)
            map->direct[value] = *index;
        else
            table_insert(map, hash_of(map, *index), *index);
    }
    map->last = *index;
    return GCG_OK;
}

static gcg_status add_string(gcg_idmap *map, const char *id, size_t length, int32_t *index, gcg_err *err)
{
    uint64_t hash = gcg_hash_bytes(id, length, 0);
    *index = find_string(map, id, length, hash);
    if (*index < 0) {
        gcg_status status = room_for_one(map, 0, 0, err);
        if (status == GCG_OK) status = pool_reserve(map, map->start[map->count], length, err);
        if (status != GCG_OK) return status;
        *index = map->count++;
        if (length > 0) memcpy(map->pool + map->start[*index], id, length);
        map->start[map->count] = map->start[*index] + (int64_t)length;
        table_insert(map, hash, *index);
    }
    map->last = *index;
    return GCG_OK;
}

gcg_status gcg_idmap_add(gcg_idmap *map, const char *id, size_t length, int32_t *index, gcg_err *err)
{
    int64_t value;
    if (!map->strings) {
        if (canonical_integer(id, length, &value)) {
            if (map->last >= 0 && map->integer[map->last] == value) {
                *index = map->last;
                return GCG_OK;
            }
            return add_integer(map, value, index, err);
        }
        gcg_status status = to_strings(map, err);
        if (status != GCG_OK) return status;
    }
    if (map->last >= 0 && same_string(map, map->last, id, length)) {
        *index = map->last;
        return GCG_OK;
    }
    return add_string(map, id, length, index, err);
}

gcg_status gcg_idmap_merge(gcg_idmap *map, const gcg_idmap *other, int32_t *number, gcg_err *err)
{
    char text[INTEGER_TEXT];
    gcg_status status = GCG_OK;
    for (int32_t k = 0; k < other->count && status == GCG_OK; k++) {
        if (other->strings)
            status = gcg_idmap_add(map, other->pool + other->start[k],
                                   (size_t)(other->start[k + 1] - other->start[k]), &number[k], err);
        else if (map->strings)
            status = gcg_idmap_add(map, text, integer_text(other->integer[k], text), &number[k], err);
        else
            status = add_integer(map, other->integer[k], &number[k], err);
    }
    return status;
}

const int32_t *gcg_idmap_direct(const gcg_idmap *map, uint64_t *size)
{
    *size = map->direct_size;
    return map->direct;
}

int32_t gcg_idmap_count(const gcg_idmap *map)
{
    return map->count;
}

size_t gcg_idmap_name(const gcg_idmap *map, int32_t index, char *text)
{
    size_t length;
    if (map->strings) {
        length = (size_t)(map->start[index + 1] - map->start[index]);
        if (length > 0) memcpy(text, map->pool + map->start[index], length);
    } else {
        length = integer_text(map->integer[index], text);
    }
    text[length] = '\0';
    return length;
}

int gcg_idmap_is_integer(const gcg_idmap *map)
{
    return !map->strings;
}

typedef struct {
    int64_t value;
    int32_t old;
} integer_key;

typedef struct {
    const char *text;
    uint32_t length;
    int32_t old;
} string_key;

static int compare_integers(const void *a, const void *b)
{
    int64_t x = ((const integer_key *)a)->value, y = ((const integer_key *)b)->value;
    return (x > y) - (x < y);
}

static int compare_strings(const void *a, const void *b)
{
    const string_key *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* In a table by id they stand sorted. */
static void sort_direct(gcg_idmap *map, int32_t *new_of_old)
{
    int32_t k = 0;
    for (uint64_t v = 0; v < map->direct_size; v++) {
        if (map->direct[v] < 0) continue;
        new_of_old[map->direct[v]] = k;
        map->integer[k] = (int64_t)v;
        map->direct[v] = k++;
    }
}

static gcg_status sort_integers(gcg_idmap *map, int32_t *new_of_old, gcg_err *err)
{
    integer_key *key = gcg_mem_alloc_array(map->count, sizeof *key);
    if (!key) return gcg_fail_memory(err, "sorting ids");
    for (int32_t k = 0; k < map->count; k++) key[k] = (integer_key){map->integer[k], k};
    qsort(key, (size_t)map->count, sizeof *key, compare_integers);
    for (int32_t k = 0; k < map->count; k++) {
        map->integer[k] = key[k].value;
        new_of_old[key[k].old] = k;
    }
    gcg_mem_free(key);
    return GCG_OK;
}

static gcg_status sort_strings(gcg_idmap *map, int32_t *new_of_old, gcg_err *err)
{
    string_key *key = gcg_mem_alloc_array(map->count, sizeof *key);
    char *pool = gcg_mem_alloc_array(map->pool_size, 1);
    if (!key || !pool) {
        gcg_mem_free(key);
        gcg_mem_free(pool);
        return gcg_fail_memory(err, "sorting ids");
    }
    for (int32_t k = 0; k < map->count; k++)
        key[k] = (string_key){map->pool + map->start[k], (uint32_t)(map->start[k + 1] - map->start[k]), k};
    qsort(key, (size_t)map->count, sizeof *key, compare_strings);
    int64_t used = 0;
    for (int32_t k = 0; k < map->count; k++) {
        memcpy(pool + used, key[k].text, key[k].length);
        map->start[k] = used;
        used += key[k].length;
        new_of_old[key[k].old] = k;
    }
    gcg_mem_free(map->pool);
    gcg_mem_free(key);
    map->pool = pool;
    return GCG_OK;
}

gcg_status gcg_idmap_sort(gcg_idmap *map, int32_t *new_of_old, gcg_err *err)
{
    if (map->count == 0) return GCG_OK;
    map->last = -1;
    if (map->direct) {
        sort_direct(map, new_of_old);
        return GCG_OK;
    }
    gcg_status status =
        map->strings ? sort_strings(map, new_of_old, err) : sort_integers(map, new_of_old, err);
    if (status == GCG_OK) table_fill(map);
    return status;
}

int64_t gcg_idmap_bytes(const gcg_idmap *map)
{
    return (int64_t)sizeof *map + 8 * map->capacity + map->pool_size +
           (int64_t)(map->table ? (map->mask + 1) * sizeof(slot) : map->direct_size * sizeof *map->direct);
}
