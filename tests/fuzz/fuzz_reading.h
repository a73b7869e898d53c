/* What the fuzzers of the readers share: any bytes must give points or a data error, the same ones whatever
 * the block size. Each target feeds one family of formats; which options are set depends on the length, so
 * that a corpus of plain data files reaches all of them. */
#ifndef FUZZ_READING_H
#define FUZZ_READING_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "io/ratings.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

typedef struct {
    uint64_t hash;
    int64_t points;
} fuzz_seen;

static gcg_status fuzz_point(const gcg_point *p, void *user, gcg_err *err)
{
    fuzz_seen *seen = user;
    (void)err;
    if (p->user_length == 0 || p->user_length > GCG_ID_MAX || p->item_length == 0 ||
        p->item_length > GCG_ID_MAX)
        abort();
    if (p->has_value != !isnan(p->value) || (p->has_value && !(fabs(p->value) <= 1e100)) || p->line < 1)
        abort();
    seen->hash = gcg_hash_bytes(p->user, p->user_length, seen->hash);
    seen->hash = gcg_hash_bytes(p->item, p->item_length, seen->hash);
    seen->hash = gcg_hash_bytes(&p->value, p->has_value ? sizeof p->value : 0, seen->hash);
    seen->points++;
    return GCG_OK;
}

static void fuzz_message(void *user, gcg_severity severity, const char *file, int64_t line, int64_t col,
                         const char *text)
{
    (void)severity, (void)file;
    if (line < 0 || col < 0) abort();
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f) abort();
    ++*(int64_t *)user;
}

static gcg_status fuzz_once(const uint8_t *bytes, size_t length, gcg_read_options options, int64_t block,
                            fuzz_seen *seen, gcg_err *err)
{
    gcg_read_report report;
    int64_t messages = 0;
    gcg_diag diag = {.emit = fuzz_message, .user = &messages};
    *seen = (fuzz_seen){0};
    memset(err, 0, sizeof *err);
    options.block = block;
    gcg_status status =
        gcg_read_memory(bytes, length, "input", &options, &diag, fuzz_point, seen, &report, err);
    if (status != GCG_OK && status != GCG_ERR_DATA && status != GCG_ERR_NOMEM) abort();
    if ((status == GCG_ERR_DATA) != (diag.errors > 0) || messages > GCG_DIAG_MAX_ERRORS + 16) abort();
    if (seen->points != report.points || gcg_mem_blocks() != 0) abort();
    return status;
}

static int fuzz_reading(const uint8_t *bytes, size_t length, const gcg_format *formats, size_t format_count)
{
    static const gcg_value_map map[] = {{.from = 5, .to = 1}, {.from = 2, .drop = 1}};
    gcg_read_options o = gcg_read_options_defaults();
    size_t variant = length;
    fuzz_seen whole, pieces;
    gcg_err whole_err, pieces_err;
    o.format = formats[variant % format_count];
    variant /= format_count;
    o.pairs = variant % 3 == 1;
    o.implicit = variant % 7 == 3;
    o.no_ratings = variant % 7 == 4;
    o.value_maps = map;
    o.value_map_count = variant % 5 == 2 ? 2 : 0;
    int fixed = o.format == GCG_FORMAT_MTX || o.format == GCG_FORMAT_NETFLIX || o.format == GCG_FORMAT_KDD;
    if (!fixed && variant % 11 == 5) o.columns = "2,1,3";
    if (!fixed && variant % 11 == 6) o.columns = "user,item,rating";
    if (!fixed && variant % 11 == 7) o.header = GCG_HEADER_YES;
    /* one block for the whole input; the default would spend all time on megabytes of buffer */
    o.zlib = 1;
    gcg_status a = fuzz_once(bytes, length, o, (int64_t)length + 16, &whole, &whole_err);
    gcg_status b = fuzz_once(bytes, length, o, 1 + (int64_t)(length % 61), &pieces, &pieces_err);
    if (a != b || whole.hash != pieces.hash || whole.points != pieces.points) abort();
    if (a != GCG_OK && (whole_err.line != pieces_err.line || whole_err.col != pieces_err.col)) abort();
    /* before it notices damage, libisal may hand out more or less than zlib */
    o.zlib = 0;
    o.long_way = 1;
    b = fuzz_once(bytes, length, o, 1 + (int64_t)(length % 61), &pieces, &pieces_err);
    if (a != b || (a == GCG_OK && (whole.hash != pieces.hash || whole.points != pieces.points))) abort();
    return 0;
}

#define FUZZ_FORMATS(...)                                                                                    \
    int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)                                          \
    {                                                                                                        \
        static const gcg_format formats[] = {__VA_ARGS__};                                                   \
        return fuzz_reading(bytes, length, formats, sizeof formats / sizeof *formats);                       \
    }

#endif
