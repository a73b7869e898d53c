/* MatrixMarket coordinate files: real, integer or pattern, general or symmetric.
 *
 * The banner, comments, the size line "rows cols entries", then exactly that many lines "row col [value]"
 * counted from
 * 1. A symmetric file lists each pair of mirrored entries once. The ids are 1..rows and 1..cols; those
 * without entries exist too (gcg_sink.size). */
#include <math.h>
#include <string.h>
#include "io/formats.h"
#include "io/number.h"
#include "io/swift.h"

static const gcg_separator BLANKS = {' ', 1};

static int same_word(const gcg_field *f, const char *word)
{
    int64_t i = 0;
    while (i < f->length && word[i] && gcg_lower(f->text[i]) == word[i]) i++;
    return i == f->length && !word[i];
}

/* The four words after %%MatrixMarket. */
static gcg_status read_banner(gcg_reader *r)
{
    static const char *const accepted[4][4] = {
        {"matrix"}, {"coordinate"}, {"real", "integer", "pattern"}, {"general", "symmetric"}};
    static const char *const named[4] = {"matrix", "coordinate (one entry a line)",
                                         "real, integer or pattern", "general or symmetric"};
    const char *at = r->line.text, *end = at + r->line.length;
    gcg_field f;
    int chosen[4];
    if (gcg_field_next(BLANKS, &at, end, &f) != GCG_FIELD_OK || !same_word(&f, "%%matrixmarket"))
        return gcg_reader_fatal(r, GCG_ERR_DATA, r->line.number, 1,
                                "a MatrixMarket file begins with %%%%MatrixMarket matrix coordinate");
    for (int k = 0; k < 4; k++) {
        int found = gcg_field_next(BLANKS, &at, end, &f) == GCG_FIELD_OK, i = 0;
        while (found && accepted[k][i] && !same_word(&f, accepted[k][i])) i++;
        if (!found || !accepted[k][i])
            return gcg_reader_fatal(r, GCG_ERR_DATA, r->line.number,
                                    found ? gcg_reader_col(r, f.start) : r->line.length + 1,
                                    "this word of the MatrixMarket banner must be %s", named[k]);
        chosen[k] = i;
    }
    r->layout->has_banner = 1;
    r->layout->pattern = chosen[2] == 2;
    r->layout->symmetric = chosen[3] == 1;
    return GCG_OK;
}

static gcg_status read_size(gcg_reader *r)
{
    gcg_layout *m = r->layout;
    const char *at = r->line.text, *end = at + r->line.length;
    int64_t *number[3] = {&m->rows, &m->cols, &m->entries};
    gcg_field f;
    for (int k = 0; k < 3; k++) {
        int found = gcg_field_next(BLANKS, &at, end, &f) == GCG_FIELD_OK;
        if (!found || !gcg_count_parse(f.text, f.length, number[k]))
            return gcg_reader_fatal(r, GCG_ERR_DATA, r->line.number,
                                    found ? gcg_reader_col(r, f.start) : r->line.length + 1,
                                    "the size line must be three whole numbers: rows, columns, entries");
        if (k < 2 && *number[k] > INT32_MAX)
            return gcg_reader_fatal(r, GCG_ERR_DATA, r->line.number, gcg_reader_col(r, f.start),
                                    "more than 2147483647 %s", k == 0 ? "rows" : "columns");
    }
    m->size_line = r->line.number;
    m->count_col = gcg_reader_col(r, f.start);
    if (at)
        return gcg_reader_fatal(r, GCG_ERR_DATA, r->line.number, gcg_reader_col(r, at),
                                "the size line has more than three numbers");
    if (m->symmetric && m->rows != m->cols)
        return gcg_reader_fatal(r, GCG_ERR_DATA, r->line.number, 1, "a symmetric matrix must be square");
    return GCG_OK;
}

/* Reads a row or column number into f (leading zeros dropped); 0 after reporting. */
static int read_index(gcg_reader *r, gcg_field_result result, gcg_field *f, int64_t limit, const char *what)
{
    char shown[256];
    int64_t index;
    if (result != GCG_FIELD_OK) {
        gcg_reader_error(r, r->line.number, r->line.length + 1, "no %s number", what);
        return 0;
    }
    int is_number = gcg_count_parse(f->text, f->length, &index);
    if (is_number && index >= 1 && index <= limit) {
        while (*f->text == '0') f->text++, f->length--;
        return 1;
    }
    gcg_quote(shown, f->text, f->length);
    if (is_number && index == 0)
        gcg_reader_error(r, r->line.number, gcg_reader_col(r, f->start), "%s 0: MatrixMarket counts from 1",
                         what);
    else if (is_number)
        gcg_reader_error(r, r->line.number, gcg_reader_col(r, f->start), "%s %s, but the size line says %lld",
                         what, shown, (long long)limit);
    else
        gcg_reader_error(r, r->line.number, gcg_reader_col(r, f->start),
                         "'%s' is not a %s number; they are 1..%lld", shown, what, (long long)limit);
    return 0;
}

static gcg_status hand_out(gcg_reader *r, const gcg_field *row, const gcg_field *col, double value,
                           int has_value)
{
    gcg_status status = gcg_reader_point(r, row, col, value, has_value);
    int diagonal = row->length == col->length && memcmp(row->text, col->text, (size_t)row->length) == 0;
    if (status == GCG_OK && r->layout->symmetric && !diagonal)
        status = gcg_reader_point(r, col, row, value, has_value);
    return status;
}

static gcg_status read_entry(gcg_reader *r)
{
    const gcg_layout *m = r->layout;
    const char *at = r->line.text, *end = at + r->line.length;
    gcg_field row, col, f;
    double value = r->options->no_ratings ? NAN : 1;
    int has_value = !r->options->no_ratings;
    if (!read_index(r, gcg_field_next(BLANKS, &at, end, &row), &row, m->rows, "row") ||
        !read_index(r, gcg_field_next(BLANKS, &at, end, &col), &col, m->cols, "column"))
        return GCG_OK;
    if (!m->pattern) {
        gcg_field_result result = gcg_field_next(BLANKS, &at, end, &f);
        if (!gcg_reader_rating(r, result == GCG_FIELD_OK ? &f : NULL, &value, &has_value)) return GCG_OK;
    }
    if (at) {
        gcg_reader_error(r, r->line.number, gcg_reader_col(r, at),
                         "more fields than a MatrixMarket entry has");
        return GCG_OK;
    }
    return hand_out(r, &row, &col, value, has_value);
}

gcg_status gcg_mtx_begin(gcg_reader *r)
{
    gcg_status status = GCG_OK;
    int found = 1;
    if (!r->layout->has_banner) {
        status = gcg_reader_any_line(r, &found);
        if (status == GCG_OK && found) status = read_banner(r);
    }
    if (status == GCG_OK && found) status = gcg_reader_line(r, &found);
    if (status != GCG_OK || !found) return status;
    status = read_size(r);
    r->layout->begun = status == GCG_OK;
    return status;
}

/* An entry of short plain numbers at p: the next line, or NULL when it needs to be read the long way. */
static const char *swift_entry(const gcg_reader *r, const char *p, gcg_field *row, gcg_field *col,
                               double *value)
{
    const gcg_layout *m = r->layout;
    uint64_t i, j;
    row->start = row->text = p;
    p = gcg_swift_integer(p, &i);
    if (!p || *p != ' ' || i < 1 || i > (uint64_t)m->rows) return NULL;
    row->length = p - row->text;
    col->start = col->text = ++p;
    p = gcg_swift_integer(p, &j);
    if (!p || j < 1 || j > (uint64_t)m->cols) return NULL;
    col->length = p - col->text;
    *value = 1;
    if (!m->pattern && (*p != ' ' || !(p = gcg_swift_decimal(p + 1, value)))) return NULL;
    return gcg_swift_line_end(p);
}

/* Reads lines as long as they are of the usual kind. */
static gcg_status swift_entries(gcg_reader *r)
{
    gcg_field row, col;
    double value;
    gcg_status status = GCG_OK;
    while (r->at < r->end && r->carry.found < r->layout->entries && status == GCG_OK) {
        const char *next = swift_entry(r, r->at, &row, &col, &value);
        if (!next) break;
        r->line.text = r->at;
        r->at = next;
        r->line.number = ++r->carry.line;
        r->tally.lines++;
        r->carry.found++;
        status = hand_out(r, &row, &col, value, 1);
    }
    return status;
}

gcg_status gcg_mtx_lines(gcg_reader *r)
{
    int found, swift = gcg_reader_may_be_swift(r);
    for (;;) {
        gcg_status status = r->status;
        if (status == GCG_OK && swift) status = swift_entries(r);
        if (status == GCG_OK) status = gcg_reader_line(r, &found);
        if (status != GCG_OK || !found) return status;
        if (r->carry.found++ == r->layout->entries)
            return gcg_reader_fatal(r, GCG_ERR_DATA, r->line.number, 1,
                                    "the size line promises %lld entries, this is one more",
                                    (long long)r->layout->entries);
        status = read_entry(r);
        if (status != GCG_OK) return status;
    }
}

void gcg_mtx_skip(gcg_carry *c, int64_t lines)
{
    c->found += lines;
}

void gcg_mtx_end(gcg_reader *r)
{
    const gcg_layout *m = r->layout;
    if (!m->begun)
        gcg_reader_fatal(r, GCG_ERR_DATA, 0, 0, "no size line: rows, columns, entries");
    else if (r->carry.found < m->entries)
        gcg_reader_error(r, m->size_line, m->count_col, "%lld entries promised, %lld found",
                         (long long)m->entries, (long long)r->carry.found);
}
