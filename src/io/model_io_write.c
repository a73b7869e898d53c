/* Writing model files: see model_io.h. The members are streamed row by row: no second copy of the factors is
 * made. */
#define _POSIX_C_SOURCE 200809L
#include "io/model_io.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zip.h>
#include "base/mem.h"
#include "io/npy.h"
#include "io/output.h"

/* One member of the archive: an optional .npy header, then chunks (an array, the rows of a factor, the ids).
 */
typedef struct member {
    const char *name;
    char header[GCG_NPY_HEADER];
    size_t header_length;
    int64_t chunks; /* after the header */
    const char *(*chunk)(struct member *m, int64_t index, size_t *length);
    const char *bytes; /* an array or a text: one chunk */
    size_t length;
    const gcg_factors *factors;
    const gcg_idmap *ids;
    char line[GCG_ID_TEXT + 1];
    uint64_t size; /* of everything */
    int64_t next;  /* chunk to be fetched when the current one is used up */
    const char *at;
    size_t left;
} member;

enum { MEMBERS = 15 };

typedef struct {
    FILE *file;
    int error; /* errno of the first failed write */
    zip_error_t zip_error;
    member members[MEMBERS];
    int count;
} archive;

static const char *array_chunk(member *m, int64_t index, size_t *length)
{
    (void)index;
    *length = m->length;
    return m->bytes;
}

static const char *row_chunk(member *m, int64_t index, size_t *length)
{
    const gcg_factors *f = m->factors;
    *length = (size_t)f->k * f->type;
    return (const char *)f->data + (size_t)index * (size_t)f->stride * f->type;
}

static const char *id_chunk(member *m, int64_t index, size_t *length)
{
    size_t n = gcg_idmap_name(m->ids, (int32_t)index, m->line);
    m->line[n] = '\n';
    *length = n + 1;
    return m->line;
}

/* Copies the next bytes of m to out; fewer than wanted only at the end. */
static size_t member_read(member *m, char *out, size_t wanted)
{
    size_t done = 0;
    while (done < wanted) {
        if (m->left == 0) {
            if (m->next >= m->chunks) break;
            m->at = m->chunk(m, m->next++, &m->left);
            continue;
        }
        size_t n = m->left < wanted - done ? m->left : wanted - done;
        memcpy(out + done, m->at, n);
        m->at += n;
        m->left -= n;
        done += n;
    }
    return done;
}

/* libzip's view of a member. It cannot fail. */
static zip_int64_t member_source(void *user, void *data, zip_uint64_t length, zip_source_cmd_t command)
{
    member *m = user;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        m->next = 0;
        m->at = m->header;
        m->left = m->header_length;
        return 0;
    case ZIP_SOURCE_READ:
        return (zip_int64_t)member_read(m, data, length);
    case ZIP_SOURCE_STAT: {
        zip_stat_t *st = data;
        zip_stat_init(st);
        st->size = m->size;
        st->valid = ZIP_STAT_SIZE;
        return sizeof *st;
    }
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
    default:
        return -1;
    }
}

/* Notes why the file could not be written. */
static zip_int64_t target_failed(archive *a)
{
    if (!a->error) a->error = errno ? errno : EIO;
    zip_error_set(&a->zip_error, ZIP_ER_WRITE, a->error);
    return -1;
}

static zip_int64_t target_seek(archive *a, const void *data, zip_uint64_t length)
{
    const zip_source_args_seek_t *seek = data;
    if (length < sizeof *seek) return -1;
    return fseeko(a->file, seek->offset, seek->whence) == 0 ? 0 : target_failed(a);
}

/* libzip's view of the file that it writes. To libzip the file is not there yet (STAT), so it is never read.
 */
static zip_int64_t target_source(void *user, void *data, zip_uint64_t length, zip_source_cmd_t command)
{
    archive *a = user;
    switch (command) {
    case ZIP_SOURCE_STAT:
        zip_error_set(&a->zip_error, ZIP_ER_READ, ENOENT);
        return -1;
    case ZIP_SOURCE_WRITE:
        return fwrite(data, 1, length, a->file) == length ? (zip_int64_t)length : target_failed(a);
    case ZIP_SOURCE_SEEK_WRITE:
        return target_seek(a, data, length);
    case ZIP_SOURCE_TELL_WRITE: {
        off_t at = ftello(a->file);
        return at >= 0 ? (zip_int64_t)at : target_failed(a);
    }
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&a->zip_error, data, length);
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
    default:
        zip_error_set(&a->zip_error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

static void add_bytes(archive *a, const char *name, const void *bytes, size_t length)
{
    a->members[a->count++] = (member){
        .name = name, .chunks = 1, .chunk = array_chunk, .bytes = bytes, .length = length, .size = length};
}

/* A vector of count entries, or a single number for count -1. */
static void add_array(archive *a, const char *name, const char *type, const void *entries, int64_t count)
{
    add_bytes(a, name, entries, (size_t)(count < 0 ? 1 : count) * 8);
    member *m = &a->members[a->count - 1];
    gcg_npy npy = {.dims = count < 0 ? 0 : 1, .shape = {count, 1}};
    memcpy(npy.type, type, sizeof npy.type);
    gcg_npy_header(m->header, &npy);
    m->header_length = GCG_NPY_HEADER;
    m->size += GCG_NPY_HEADER;
}

static void add_factors(archive *a, const char *name, const gcg_factors *f)
{
    member *m = &a->members[a->count++];
    gcg_npy npy = {.dims = 2, .shape = {f->rows, f->k}};
    *m = (member){
        .name = name, .chunks = f->rows, .chunk = row_chunk, .factors = f, .header_length = GCG_NPY_HEADER};
    memcpy(npy.type, f->type == GCG_FLOAT ? "<f4" : "<f8", sizeof npy.type);
    gcg_npy_header(m->header, &npy);
    m->size = GCG_NPY_HEADER + (uint64_t)f->rows * (uint64_t)f->k * f->type;
}

static void add_ids(archive *a, const char *name, const gcg_idmap *ids)
{
    member *m = &a->members[a->count++];
    *m = (member){.name = name, .chunks = gcg_idmap_count(ids), .chunk = id_chunk, .ids = ids};
    for (int32_t i = 0; i < m->chunks; i++) m->size += gcg_idmap_name(ids, i, m->line) + 1;
}

static void list_members(archive *a, const gcg_model *m, const int64_t *center, const char *json)
{
    add_bytes(a, "model.json", json, strlen(json));
    add_factors(a, "U.npy", &m->u);
    add_factors(a, "V.npy", &m->v);
    add_array(a, "singular_values.npy", "<f8", m->singular_values, m->u.k);
    add_ids(a, "users.txt", m->users);
    add_ids(a, "items.txt", m->items);
    add_array(a, "mean.npy", "<f8", &m->mean, -1);
    add_array(a, "user_counts.npy", "<i8", m->user_count, m->u.rows);
    add_array(a, "item_counts.npy", "<i8", m->item_count, m->v.rows);
    add_array(a, "user_sums.npy", "<f8", m->user_sum, m->u.rows);
    add_array(a, "item_sums.npy", "<f8", m->item_sum, m->v.rows);
    add_array(a, "center.npy", "<i8", center, -1);
    add_array(a, "center_mean.npy", "<f8", &m->mu, -1);
    add_array(a, "user_bias.npy", "<f8", m->user_bias, m->u.rows);
    add_array(a, "item_bias.npy", "<f8", m->item_bias, m->v.rows);
}

/* Adds one member to the open archive: stored, dated 1980-01-01 00:00, the zip format's zero. */
static int add_member(zip_t *zip, member *m)
{
    enum { DATE = 1 << 5 | 1, TIME = 0 };
    zip_source_t *source = zip_source_function(zip, member_source, m);
    if (!source) return -1;
    zip_int64_t index = zip_file_add(zip, m->name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return -1;
    }
    if (zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0) return -1;
    return zip_file_set_dostime(zip, (zip_uint64_t)index, TIME, DATE, 0);
}

static gcg_status zip_failed(const archive *a, zip_error_t *error, const char *path, gcg_err *err)
{
    if (a->error) return gcg_fail(err, GCG_ERR_IO, path, 0, 0, "cannot write: %s", strerror(a->error));
    int code = zip_error_code_zip(error);
    if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK) /* some of libzip's failing allocations leave no error */
        return gcg_fail_memory(err, "model file");
    return gcg_fail(err, GCG_ERR_IO, path, 0, 0, "cannot write: %s", zip_error_strerror(error));
}

/* Writes the listed members to a->file. */
static gcg_status write_archive(archive *a, const char *path, gcg_err *err)
{
    zip_error_t error;
    gcg_status status = GCG_OK;
    zip_error_init(&error);
    zip_source_t *target = zip_source_function_create(target_source, a, &error);
    zip_t *zip = target ? zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error) : NULL;
    if (!zip) {
        status = zip_failed(a, &error, path, err);
        zip_source_free(target);
        zip_error_fini(&error);
        return status;
    }
    int bad = 0;
    for (int i = 0; i < a->count && !bad; i++) bad = add_member(zip, &a->members[i]);
    if (bad || zip_close(zip) != 0) {
        status = zip_failed(a, zip_get_error(zip), path, err);
        zip_discard(zip);
    }
    zip_error_fini(&error);
    return status;
}

static int all_finite(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

static int factors_finite(const gcg_factors *f)
{
    for (int32_t i = 0; i < f->rows; i++)
        for (int32_t q = 0; q < f->k; q++)
            if (!isfinite(gcg_factors_get(f, i, q))) return 0;
    return 1;
}

static int model_finite(const gcg_model *m)
{
    return isfinite(m->mean) && isfinite(m->mu) && factors_finite(&m->u) && factors_finite(&m->v) &&
           all_finite(m->singular_values, m->u.k) && all_finite(m->user_sum, m->u.rows) &&
           all_finite(m->item_sum, m->v.rows) && all_finite(m->user_bias, m->u.rows) &&
           all_finite(m->item_bias, m->v.rows);
}

/* model.json: the reader wants exactly this layout. */
static char *make_json(const gcg_model *m)
{
    static const char layout[] = "{\n  \"format\": \"gcg-mc model\",\n  \"version\": %d,\n  \"fit\": %s\n}\n";
    const char *fit = m->options_json ? m->options_json : "{}";
    size_t room = sizeof layout + strlen(fit) + 16;
    char *json = gcg_mem_alloc_array((int64_t)room, 1);
    if (json) snprintf(json, room, layout, GCG_MODEL_FORMAT, fit);
    return json;
}

gcg_status gcg_model_write(const char *path, const gcg_model *m, gcg_err *err)
{
    gcg_output output;
    const int64_t center = m->center;
    if (!model_finite(m))
        return gcg_fail(err, GCG_ERR_INTERNAL, path, 0, 0, "the model has numbers that are not finite");
    archive *a = gcg_mem_zalloc_array(1, sizeof *a);
    char *json = make_json(m);
    gcg_status status = a && json ? GCG_OK : gcg_fail_memory(err, "model file");
    if (!status) status = gcg_output_open(&output, path, err);
    if (!status) {
        a->file = output.file;
        list_members(a, m, &center, json);
        status = write_archive(a, path, err);
        if (status)
            gcg_output_abort(&output);
        else
            status = gcg_output_commit(&output, err);
    }
    gcg_mem_free(json);
    gcg_mem_free(a);
    return status;
}

const char *gcg_zip_version(void)
{
    return zip_libzip_version();
}
