/* Formats and how they are recognised: see formats.h. */
#include "io/formats.h"

#include <string.h>
#include "io/number.h"

#define DELIMITED(NAME, BYTE, WIDTH)                                                                         \
    {                                                                                                        \
        .name = NAME, .begin = gcg_delimited_begin, .lines = gcg_delimited_lines, .separator = {             \
            BYTE,                                                                                            \
            WIDTH                                                                                            \
        }                                                                                                    \
    }

static const gcg_format_entry formats[GCG_FORMAT_COUNT + 1] = {
    [GCG_FORMAT_AUTO] = {.name = "auto"},
    [GCG_FORMAT_CSV] = DELIMITED("csv", ',', 1),
    [GCG_FORMAT_TSV] = DELIMITED("tsv", '\t', 1),
    [GCG_FORMAT_SEMICOLON] = DELIMITED("semicolon", ';', 1),
    [GCG_FORMAT_PIPE] = DELIMITED("pipe", '|', 1),
    [GCG_FORMAT_MOVIELENS] = DELIMITED("movielens", ':', 2),
    [GCG_FORMAT_SPACE] = DELIMITED("space", ' ', 1),
    [GCG_FORMAT_MTX] = {.name = "mtx",
                        .begin = gcg_mtx_begin,
                        .lines = gcg_mtx_lines,
                        .end = gcg_mtx_end,
                        .skip = gcg_mtx_skip},
    [GCG_FORMAT_NETFLIX] = {.name = "netflix",
                            .lines = gcg_netflix_lines,
                            .end = gcg_netflix_end,
                            .last_block = gcg_netflix_last_block,
                            .skip = gcg_netflix_skip},
    [GCG_FORMAT_KDD] = {.name = "kdd",
                        .lines = gcg_kdd_lines,
                        .end = gcg_kdd_end,
                        .last_block = gcg_kdd_last_block,
                        .skip = gcg_kdd_skip},
    [GCG_FORMAT_YAHOO_R1] = DELIMITED("yahoo-r1", '\t', 1),
    [GCG_FORMAT_GCS] = {.name = "gcs"}, /* no lines: read by gcg_read_gcs */
};

/* Tried in this order: the first of the equally good ones wins. */
static const gcg_format delimited[] = {GCG_FORMAT_TSV, GCG_FORMAT_MOVIELENS, GCG_FORMAT_SEMICOLON,
                                       GCG_FORMAT_CSV, GCG_FORMAT_PIPE,      GCG_FORMAT_SPACE};

enum { SAMPLE_LINES = 64, SEPARATORS = sizeof delimited / sizeof *delimited };

typedef struct {
    const char *text, *end;
} text_line;

/* The first lines that are neither blank nor comments. */
typedef struct {
    text_line line[SAMPLE_LINES];
    int count;
} sample;

const char *gcg_format_name(gcg_format format)
{
    return formats[format].name;
}

const gcg_format_entry *gcg_format_find(gcg_format format)
{
    return &formats[format];
}

/* The next line of text at *at; 0 when none is left (a last line without LF counts when whole, or when it is
 * alone). */
static int next_line(const char **at, const char *end, int whole, int alone, text_line *line)
{
    const char *p = *at;
    if (p >= end) return 0;
    const char *lf = memchr(p, '\n', (size_t)(end - p));
    if (!lf && !whole && !alone) return 0;
    line->text = p;
    line->end = lf ? lf : end;
    *at = lf ? lf + 1 : end;
    while (line->end > p && (line->end[-1] == '\r' || line->end[-1] == ' ')) line->end--;
    while (line->text < line->end && *line->text == ' ') line->text++;
    return 1;
}

static void take_sample(sample *s, const char *text, int64_t length, int whole)
{
    const char *at = text, *end = text + length;
    text_line line;
    s->count = 0;
    while (s->count < SAMPLE_LINES && next_line(&at, end, whole, s->count == 0, &line)) {
        if (line.text == line.end || *line.text == '#' || *line.text == '%') continue;
        s->line[s->count++] = line;
    }
}

static int all_digits(const char *p, const char *end)
{
    if (p == end) return 0;
    while (p < end && gcg_is_digit(*p)) p++;
    return p == end;
}

/* "movie:" first. */
static int is_netflix(const sample *s)
{
    return s->count > 0 && s->line[0].end > s->line[0].text && s->line[0].end[-1] == ':' &&
           all_digits(s->line[0].text, s->line[0].end - 1);
}

/* "user|count" */
static int is_kdd_user(text_line line)
{
    const char *bar = memchr(line.text, '|', (size_t)(line.end - line.text));
    return bar && bar > line.text && all_digits(bar + 1, line.end) &&
           !memchr(line.text, '\t', (size_t)(bar - line.text));
}

/* "user|count" lines, the first other line has a tab. */
static int is_kdd(const sample *s)
{
    if (s->count == 0 || !is_kdd_user(s->line[0])) return 0;
    for (int i = 1; i < s->count; i++)
        if (!is_kdd_user(s->line[i]))
            return memchr(s->line[i].text, '\t', (size_t)(s->line[i].end - s->line[i].text)) != NULL;
    return 0;
}

/* How well a separator explains the sample: first by lines whose rating is a number, then by lines with three
 * fields, then by lines with two, then by whether the first line has two. */
static int64_t score(const sample *s, gcg_separator separator, int64_t rating_column)
{
    enum { RADIX = SAMPLE_LINES + 1 };
    int64_t numbers = 0, triples = 0, pairs = 0, first = 0;
    for (int i = 0; i < s->count; i++) {
        const char *at = s->line[i].text;
        gcg_field f;
        double value;
        int64_t fields = 0;
        while (gcg_field_next(separator, &at, s->line[i].end, &f) == GCG_FIELD_OK)
            if (++fields == rating_column && fields > 2)
                numbers += gcg_number_parse(f.text, f.length, &value) == GCG_NUMBER_OK;
        triples += fields >= 3;
        pairs += fields >= 2;
        if (i == 0) first = fields >= 2;
    }
    return ((numbers * RADIX + triples) * RADIX + pairs) * 2 + first;
}

/* 1 when text, up to the first blank, is a number with a decimal comma. */
static int is_comma_number(const char *text, const char *end)
{
    char number[64];
    double value;
    int64_t length = 0;
    for (; text < end && *text != ' ' && *text != '\t'; text++) {
        if (length == sizeof number) return 0;
        number[length++] = *text == ',' ? '.' : *text;
    }
    return gcg_number_parse(number, length, &value) == GCG_NUMBER_OK;
}

/* Where pairs are enough, blanks in ids must not be taken for separators: 1 when the separator stands in
 * every line, and not just as the decimal comma of a rating that would be the third field between blanks. */
static int rules_blanks_out(const sample *s, gcg_separator separator)
{
    static const gcg_separator blanks = {' ', 1};
    int out = 0;
    for (int i = 0; i < s->count; i++) {
        const char *at = s->line[i].text, *rating = at, *end = s->line[i].end;
        gcg_field f;
        if (gcg_field_next(separator, &at, end, &f) != GCG_FIELD_OK || !at) return 0;
        for (int k = 0; k < 2 && rating; k++)
            if (gcg_field_next(blanks, &rating, end, &f) != GCG_FIELD_OK) rating = NULL;
        out |= !rating || at <= rating || !is_comma_number(rating, end);
    }
    return out;
}

static gcg_format best_separator(const sample *s, const gcg_read_options *options)
{
    gcg_column column[3];
    int64_t rating = 3, best_score = 0;
    gcg_format best = GCG_FORMAT_CSV;
    int pairs = options->pairs || options->implicit || options->no_ratings;
    if (options->columns && gcg_columns_parse(options->columns, column) == 3) rating = column[2].number;
    for (int k = 0; k < SEPARATORS; k++) {
        gcg_separator separator = formats[delimited[k]].separator;
        if (separator.byte == ' ' && pairs && best_score > 0 && rules_blanks_out(s, formats[best].separator))
            break;
        int64_t this_score = score(s, separator, rating);
        if (this_score > best_score) {
            best = delimited[k];
            best_score = this_score;
        }
    }
    return best;
}

gcg_format gcg_format_detect(const char *text, int64_t length, int whole, const gcg_read_options *options)
{
    static const char banner[] = "%%matrixmarket";
    size_t n = 0;
    while (n < sizeof banner - 1 && (int64_t)n < length && gcg_lower(text[n]) == banner[n]) n++;
    if (n == sizeof banner - 1) return GCG_FORMAT_MTX;
    sample s;
    take_sample(&s, text, length, whole);
    if (s.count == 0) return GCG_FORMAT_AUTO;
    if (is_netflix(&s)) return GCG_FORMAT_NETFLIX;
    if (is_kdd(&s)) return GCG_FORMAT_KDD;
    return best_separator(&s, options);
}

static int starts_with(const char *text, int64_t length, const char *magic, size_t size)
{
    return length >= (int64_t)size && memcmp(text, magic, size) == 0;
}

/* First bytes of files that people hand in by mistake. */
static const struct {
    const char *bytes;
    size_t size;
    const char *what;
} magic[] = {
    {"\xff\xfe", 2, "UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", 2, "UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8"},
    {"PK\3\4", 4, "a zip archive (or a gcg-mc model), not a rating file; unpack it first"},
    {"BZh", 3, "bzip2 data; unpack it first"},
    {"\xfd"
     "7zXZ",
     5, "xz data; unpack it first"},
    {"\x28\xb5\x2f\xfd", 4, "zstd data; unpack it first"},
    {"\x89GCS", 4, "a binary store of gcg-mc in a pipe or compressed, or damaged; name the file itself"},
    {"\x89PNG", 4, "an image, not a rating file"},
    {"\x89HDF", 4, "an HDF5 file, not text; export it as text first"},
    {"\x93NUMPY", 6, "a NumPy array, not text; export it as text first"},
    {"MATLAB 5.0", 10, "a MATLAB file, not text; export it as text first"},
    {"\xd0\xcf\x11\xe0", 4, "an old Office file, not text; export it as csv first"},
    {"PAR1", 4, "a Parquet file, not text; export it as text first"},
    {"%PDF-", 5, "a PDF file, not a rating file"},
    {"\x1f\x8b", 2, "gzip data inside gzip data; unpack it once first"},
};

static int is_control(char c)
{
    unsigned char u = (unsigned char)c;
    return (u < 0x20 && u != '\t' && u != '\r' && u != '\n' && u != '\f') || u == 0x7f;
}

const char *gcg_format_not_text(const char *text, int64_t length)
{
    enum { LOOKED_AT = 512, TAR_MAGIC = 257 };
    for (size_t k = 0; k < sizeof magic / sizeof *magic; k++)
        if (starts_with(text, length, magic[k].bytes, magic[k].size)) return magic[k].what;
    if (length > TAR_MAGIC && starts_with(text + TAR_MAGIC, length - TAR_MAGIC, "ustar", 5))
        return "a tar archive; unpack it first";
    int64_t n = length < LOOKED_AT ? length : LOOKED_AT, controls = 0, nuls = 0;
    const char *lf = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
    int64_t first_line = lf ? lf - text : n;
    int in_first_line = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!is_control(text[i])) continue;
        controls++;
        nuls += text[i] == '\0';
        in_first_line |= i < first_line;
    }
    if (3 * nuls > n)
        return "UTF-16 text without a byte order mark, or binary data; ratings must be UTF-8 text";
    return in_first_line || 10 * controls > n ? "binary data, not a rating file" : NULL;
}

int gcg_column_parse(const char *text, int64_t length, gcg_column *column)
{
    *column = (gcg_column){.text = text, .length = length};
    if (length == 0) return 0;
    return !all_digits(text, text + length) ||
           (gcg_count_parse(text, length, &column->number) && column->number > 0);
}

int gcg_columns_parse(const char *text, gcg_column parts[3])
{
    for (int count = 0; count < 3; text++) {
        const char *comma = strchr(text, ',');
        int64_t length = comma ? comma - text : (int64_t)strlen(text);
        if (!gcg_column_parse(text, length, &parts[count++])) return 0;
        text += length;
        if (!comma) return count >= 2 ? count : 0;
    }
    return 0;
}
