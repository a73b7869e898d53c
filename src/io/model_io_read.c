/* Reading model files: see model_io.h. Nothing in the file is believed: sizes are compared with the file's
 * own before memory is asked for, check sums and numbers are checked. */
#define _POSIX_C_SOURCE 200809L
#include "io/model_io.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>
#include "base/mem.h"
#include "io/npy.h"
#include "io/number.h"

/* The open archive and the member that is being read. */
typedef struct {
    zip_t *zip;
    const char *name;   /* of the model file, for messages */
    uint64_t length;    /* of the model file: no member is longer */
    const char *member; /* NULL when none is open */
    zip_file_t *file;
    uint64_t left; /* bytes of the member not read yet */
    gcg_err *err;
} reader;

static gcg_status damaged(const reader *r, const char *what)
{
    return gcg_fail(r->err, GCG_ERR_DATA, r->name, 0, 0, "damaged gcg-mc model: %s: %s", r->member, what);
}

static gcg_status foreign(const char *name, const char *why, gcg_err *err)
{
    return gcg_fail(err, GCG_ERR_DATA, name, 0, 0, "not a gcg-mc model, or one that was cut short (%s)", why);
}

static gcg_status out_of_memory(const reader *r)
{
    return gcg_fail(r->err, GCG_ERR_NOMEM, r->name, 0, 0, "out of memory (model)");
}

/* What a libzip error means to us. Some of libzip's failing allocations come out as other errors: errno
 * tells. */
static gcg_status zip_failed(const reader *r, zip_error_t *error)
{
    int code = zip_error_code_zip(error);
    if (code == ZIP_ER_MEMORY || errno == ENOMEM) return out_of_memory(r);
    if (code == ZIP_ER_READ || code == ZIP_ER_OPEN)
        return gcg_fail(r->err, GCG_ERR_IO, r->name, 0, 0, "cannot read: %s",
                        strerror(zip_error_code_system(error)));
    if (!r->member) return foreign(r->name, zip_error_strerror(error), r->err);
    return damaged(r, zip_error_strerror(error));
}

static gcg_status member_open(reader *r, const char *member)
{
    zip_stat_t st;
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    r->member = member;
    if (zip_stat(r->zip, member, 0, &st) != 0) {
        if (zip_error_code_zip(zip_get_error(r->zip)) != ZIP_ER_NOENT)
            return zip_failed(r, zip_get_error(r->zip));
        return damaged(r, "this member is missing");
    }
    if ((st.valid & needed) != needed || st.comp_method != ZIP_CM_STORE || st.size != st.comp_size)
        return damaged(r, "this member is compressed");
    if (st.size > r->length) return damaged(r, "longer than the file");
    r->left = st.size;
    r->file = zip_fopen_index(r->zip, st.index, 0);
    return r->file ? GCG_OK : zip_failed(r, zip_get_error(r->zip));
}

static gcg_status member_read(reader *r, void *out, uint64_t length)
{
    char *to = out;
    if (length > r->left) return damaged(r, "too short");
    while (length > 0) {
        zip_int64_t n = zip_fread(r->file, to, length);
        if (n < 0) return zip_failed(r, zip_file_get_error(r->file));
        if (n == 0) return damaged(r, "cut short");
        to += n;
        length -= (uint64_t)n;
        r->left -= (uint64_t)n;
    }
    return GCG_OK;
}

/* Nothing may be left; reading past the end makes libzip compare the check sum. */
static gcg_status member_end(reader *r)
{
    char byte;
    if (r->left != 0) return damaged(r, "too long");
    zip_int64_t n = zip_fread(r->file, &byte, 1);
    if (n < 0) return zip_failed(r, zip_file_get_error(r->file));
    return n == 0 ? GCG_OK : damaged(r, "too long");
}

static void member_close(reader *r)
{
    if (r->file) zip_fclose(r->file);
    r->file = NULL;
}

/* Reads the header of an array: the body that is left has rows x cols entries of entry bytes. */
static gcg_status read_header(reader *r, gcg_npy *npy)
{
    char header[GCG_NPY_HEADER];
    gcg_status status = member_read(r, header, sizeof header);
    if (status) return status;
    if (gcg_npy_parse(header, npy) != 0) return damaged(r, "not an array of the kind that models have");
    uint64_t entry = npy->type[2] == '4' ? 4 : 8, bytes;
    if (__builtin_mul_overflow((uint64_t)npy->shape[0], (uint64_t)npy->shape[1], &bytes) ||
        __builtin_mul_overflow(bytes, entry, &bytes) || bytes != r->left)
        return damaged(r, "its size does not agree with its shape");
    return GCG_OK;
}

/* Are all entries finite (f8), or not negative (i8)? */
static int entries_fine(const void *entries, const char *type, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (type[1] == 'f' ? !isfinite(((const double *)entries)[i]) : ((const int64_t *)entries)[i] < 0)
            return 0;
    }
    return 1;
}

/* Reads a vector of count entries, or a single number for count -1, into entries. */
static gcg_status read_entries(reader *r, const char *type, int64_t count, void *entries)
{
    gcg_npy npy;
    const int dims = count < 0 ? 0 : 1;
    gcg_status status = read_header(r, &npy);
    if (status) return status;
    if (count < 0) count = 1;
    if (strcmp(npy.type, type) != 0 || npy.dims != dims || npy.shape[0] != count)
        return damaged(r, "its type or length does not fit the model");
    if ((status = member_read(r, entries, (uint64_t)count * 8)) || (status = member_end(r))) return status;
    return entries_fine(entries, type, count) ? GCG_OK : damaged(r, "a number is out of range");
}

static gcg_status read_number(reader *r, const char *member, const char *type, void *number)
{
    gcg_status status = member_open(r, member);
    if (!status) status = read_entries(r, type, -1, number);
    member_close(r);
    return status;
}

/* count is known from U or V, which were as long as the file says: it can be trusted. */
static gcg_status read_vector(reader *r, const char *member, const char *type, int64_t count, void *vector)
{
    void **out = vector;
    gcg_status status = member_open(r, member);
    if (!status && !(*out = gcg_mem_alloc_array(count, 8))) status = out_of_memory(r);
    if (!status) status = read_entries(r, type, count, *out);
    member_close(r);
    return status;
}

/* Fills f, whose rows are padded in memory and not in the file, many rows at a time. */
static gcg_status read_row_blocks(reader *r, gcg_factors *f)
{
    enum { BLOCK = 1 << 20 /* bytes; libzip seeks before each read */ };
    size_t length = (size_t)f->k * f->type, step = (size_t)f->stride * f->type;
    int32_t rows = length < BLOCK ? (int32_t)(BLOCK / length) : 1;
    gcg_status status = GCG_OK;
    char *block = gcg_mem_alloc_array((int64_t)length, (size_t)rows);
    if (!block) return out_of_memory(r);
    for (int32_t first = 0; first < f->rows && !status; first += rows) {
        if (rows > f->rows - first) rows = f->rows - first;
        status = member_read(r, block, length * (size_t)rows);
        for (int32_t i = 0; i < rows && !status; i++)
            memcpy((char *)f->data + (size_t)(first + i) * step, block + (size_t)i * length, length);
    }
    gcg_mem_free(block);
    for (int32_t i = 0; i < f->rows && !status; i++)
        for (int32_t q = 0; q < f->k && !status; q++)
            if (!isfinite(gcg_factors_get(f, i, q))) status = damaged(r, "a number is not finite");
    return status;
}

static gcg_status read_rows(reader *r, gcg_factors *f)
{
    gcg_npy npy;
    gcg_status status = read_header(r, &npy);
    if (status) return status;
    if (npy.dims != 2 || npy.type[1] != 'f') return damaged(r, "not a matrix of floating-point numbers");
    if (npy.shape[0] < 1 || npy.shape[0] > INT32_MAX || npy.shape[1] > INT32_MAX - GCG_FACTORS_PAD)
        return damaged(r, "its shape is not that of a factor");
    gcg_dtype type = npy.type[2] == '4' ? GCG_FLOAT : GCG_DOUBLE;
    status = gcg_factors_init(f, (int32_t)npy.shape[0], (int32_t)npy.shape[1], type, r->err);
    if (!status && f->k > 0) status = read_row_blocks(r, f);
    return status ? status : member_end(r);
}

static gcg_status read_factors(reader *r, const char *member, gcg_factors *f)
{
    gcg_status status = member_open(r, member);
    if (!status) status = read_rows(r, f);
    member_close(r);
    return status;
}

static int id_is_fine(const char *id, size_t length)
{
    if (length == 0 || length > GCG_ID_MAX) return 0;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)id[i] < 0x20 || id[i] == 0x7f) return 0;
    return 1;
}

/* Adds the next id, which must be new. */
static gcg_status add_id(reader *r, gcg_idmap *ids, const char *id, size_t length)
{
    int32_t index, expected = gcg_idmap_count(ids);
    if (!id_is_fine(id, length)) return damaged(r, "a line is not an id");
    gcg_status status = gcg_idmap_add(ids, id, length, &index, r->err);
    if (status) return status;
    return index == expected ? GCG_OK : damaged(r, "an id occurs twice");
}

static gcg_status read_lines(reader *r, gcg_idmap *ids)
{
    char buffer[GCG_ID_TEXT + 8192];
    size_t kept = 0; /* bytes of an unfinished line at the start of buffer */
    while (r->left > 0) {
        size_t room = sizeof buffer - kept, n = r->left < room ? (size_t)r->left : room, start = 0;
        gcg_status status = member_read(r, buffer + kept, n);
        if (status) return status;
        for (size_t i = kept; i < kept + n; i++) {
            if (buffer[i] != '\n') continue;
            if ((status = add_id(r, ids, buffer + start, i - start))) return status;
            start = i + 1;
        }
        kept = kept + n - start;
        if (kept > GCG_ID_MAX) return damaged(r, "a line is not an id");
        memmove(buffer, buffer + start, kept);
    }
    return kept == 0 ? member_end(r) : damaged(r, "the last line has no end");
}

static gcg_status read_ids(reader *r, const char *member, int32_t count, gcg_idmap **ids)
{
    gcg_status status = member_open(r, member);
    if (!status) status = gcg_idmap_new(ids, r->err);
    if (!status) status = read_lines(r, *ids);
    if (!status && gcg_idmap_count(*ids) != count)
        status = damaged(r, "its lines and the rows of the factor differ");
    member_close(r);
    return status;
}

/* Behind the words at the start of text, which may have white space before each, or NULL. */
static const char *after_words(const char *text, const char *const *word)
{
    for (; *word; word++) {
        text += strspn(text, " \t\r\n");
        if (strncmp(text, *word, strlen(*word)) != 0) return NULL;
        text += strlen(*word);
    }
    return text + strspn(text, " \t\r\n");
}

/* Splits model.json in place; *fit is the text of its member "fit". Up to the version any JSON will do, so
 * that a newer one is named; the rest has the layout that the writer gives it. */
static gcg_status parse_json(const reader *r, char *json, const char **fit)
{
    static const char *const start[] = {"{", "\"format\"",  ":", "\"gcg-mc model\"",
                                        ",", "\"version\"", ":", NULL};
    static const char middle[] = ",\n  \"fit\": ", end[] = "\n}\n";
    const char *at = after_words(json, start);
    if (!at)
        return gcg_fail(r->err, GCG_ERR_DATA, r->name, 0, 0,
                        "not a gcg-mc model (model.json does not start like one)");
    int version = 0;
    while (*at >= '0' && *at <= '9' && version < 100000000) version = 10 * version + (*at++ - '0');
    if (version > GCG_MODEL_FORMAT)
        return gcg_fail(r->err, GCG_ERR_DATA, r->name, 0, 0,
                        "gcg-mc model format version %d is newer than %d, the newest that this program "
                        "reads: use a newer gcg-mc",
                        version, GCG_MODEL_FORMAT);
    size_t length = strlen(at);
    if (version < 1 || length < sizeof middle + sizeof end || strncmp(at, middle, sizeof middle - 1) != 0 ||
        strcmp(at + length - (sizeof end - 1), end) != 0)
        return damaged(r, "not as gcg-mc writes it");
    json[strlen(json) - (sizeof end - 1)] = '\0';
    *fit = at + sizeof middle - 1;
    return GCG_OK;
}

/* The first member to be read: says whether this is a model, and of which version. */
static gcg_status read_json(reader *r, char **options)
{
    const char *fit = NULL;
    char *json = NULL;
    if (zip_name_locate(r->zip, "model.json", 0) < 0) return foreign(r->name, "no model.json in it", r->err);
    gcg_status status = member_open(r, "model.json");
    uint64_t length = r->left;
    if (!status && !(json = gcg_mem_zalloc_array((int64_t)length + 1, 1))) status = out_of_memory(r);
    if (!status) status = member_read(r, json, length);
    if (!status) status = member_end(r);
    if (!status && strlen(json) != length) status = damaged(r, "a NUL byte in it");
    if (!status) status = parse_json(r, json, &fit);
    if (!status && !(*options = gcg_mem_strdup(fit))) status = out_of_memory(r);
    gcg_mem_free(json);
    member_close(r);
    return status;
}

/* The factors and what must have their shape. */
static gcg_status read_body(reader *r, gcg_model *m)
{
    gcg_status s;
    if ((s = read_factors(r, "U.npy", &m->u)) || (s = read_factors(r, "V.npy", &m->v))) return s;
    if (m->u.k != m->v.k || m->u.type != m->v.type) return damaged(r, "U.npy has another rank or type");
    (void)((s = read_vector(r, "singular_values.npy", "<f8", m->u.k, &m->singular_values)) ||
           (s = read_ids(r, "users.txt", m->u.rows, &m->users)) ||
           (s = read_ids(r, "items.txt", m->v.rows, &m->items)) ||
           (s = read_vector(r, "user_counts.npy", "<i8", m->u.rows, &m->user_count)) ||
           (s = read_vector(r, "item_counts.npy", "<i8", m->v.rows, &m->item_count)) ||
           (s = read_vector(r, "user_sums.npy", "<f8", m->u.rows, &m->user_sum)) ||
           (s = read_vector(r, "item_sums.npy", "<f8", m->v.rows, &m->item_sum)) ||
           (s = read_vector(r, "user_bias.npy", "<f8", m->u.rows, &m->user_bias)) ||
           (s = read_vector(r, "item_bias.npy", "<f8", m->v.rows, &m->item_bias)));
    return s;
}

static gcg_status read_model(reader *r, gcg_model *m)
{
    gcg_status s;
    int64_t center = 0;
    if ((s = read_json(r, &m->options_json)) || (s = read_body(r, m)) ||
        (s = read_number(r, "mean.npy", "<f8", &m->mean)) ||
        (s = read_number(r, "center_mean.npy", "<f8", &m->mu)) ||
        (s = read_number(r, "center.npy", "<i8", &center)))
        return s;
    if (center > GCG_CENTER_BOTH) return damaged(r, "not a kind of centring");
    m->center = (gcg_center_kind)center;
    return GCG_OK;
}

/* Reads from source, which it takes over (NULL: error says why there is none). */
static gcg_status read_source(zip_source_t *source, reader *r, zip_error_t *error, gcg_model *m)
{
    gcg_status status;
    errno = 0;
    r->zip = source ? zip_open_from_source(source, ZIP_RDONLY, error) : NULL;
    if (r->zip) {
        status = read_model(r, m);
        zip_discard(r->zip);
    } else {
        status = zip_failed(r, error);
        zip_source_free(source);
    }
    zip_error_fini(error);
    if (status) gcg_model_release(m);
    return status;
}

gcg_status gcg_model_read(const char *path, gcg_model *m, gcg_err *err)
{
    struct stat st;
    zip_error_t error;
    reader r = {.name = path, .err = err};
    *m = (gcg_model){0};
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOMEM) return out_of_memory(&r);
    if (!file) return gcg_fail(err, GCG_ERR_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    if (fstat(fileno(file), &st) != 0 || !S_ISREG(st.st_mode)) {
        fclose(file);
        return gcg_fail(err, GCG_ERR_IO, path, 0, 0, "cannot read a model from here: not a regular file");
    }
    r.length = (uint64_t)st.st_size;
    zip_error_init(&error);
    zip_source_t *source = zip_source_filep_create(file, 0, -1, &error);
    if (!source) fclose(file);
    return read_source(source, &r, &error, m);
}

gcg_status gcg_model_read_buffer(const void *bytes, size_t length, const char *name, gcg_model *m,
                                 gcg_err *err)
{
    zip_error_t error;
    reader r = {.name = name, .length = length, .err = err};
    *m = (gcg_model){0};
    zip_error_init(&error);
    return read_source(zip_source_buffer_create(bytes, length, 0, &error), &r, &error, m);
}

/* The description has one member a line, and no line ends inside a string: io/json writes it so. */
/* What the description of the fit has under key, a number or a word: the text and its length; NULL: nothing.
 */
static const char *find_value(const gcg_model *m, const char *key, size_t *value_length)
{
    size_t length = strlen(key);
    for (const char *line = m->options_json; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n ");
        if (*line != '"' || strncmp(line + 1, key, length) != 0 || strncmp(line + 1 + length, "\": ", 3) != 0)
            continue;
        *value_length = strcspn(line + length + 4, ",\n }");
        return line + length + 4;
    }
    return NULL;
}

int gcg_model_number(const gcg_model *m, const char *key, double *value)
{
    size_t length = 0;
    const char *text = find_value(m, key, &length);
    return text && gcg_number_parse(text, (int64_t)length, value) == GCG_NUMBER_OK;
}

int gcg_model_flag(const gcg_model *m, const char *key)
{
    size_t length = 0;
    const char *text = find_value(m, key, &length);
    return text && length == 4 && memcmp(text, "true", 4) == 0;
}

void gcg_model_release(gcg_model *m)
{
    gcg_factors_release(&m->u);
    gcg_factors_release(&m->v);
    gcg_idmap_free(m->users);
    gcg_idmap_free(m->items);
    gcg_mem_free(m->singular_values);
    gcg_mem_free(m->user_count);
    gcg_mem_free(m->item_count);
    gcg_mem_free(m->user_sum);
    gcg_mem_free(m->item_sum);
    gcg_mem_free(m->user_bias);
    gcg_mem_free(m->item_bias);
    gcg_mem_free(m->options_json);
    *m = (gcg_model){0};
}
