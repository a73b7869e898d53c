/* Output files: see output.h. */
#define _XOPEN_SOURCE 700
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"

enum {
    NAME_TRIES = 100, /* temporary names tried before giving up; each has 36^6 possibilities */
    RANDOM_LETTERS = 6,
    BUFFER = 1 << 20 /* bytes: stdio's own 4096 cost half the time of a large model */
};

static gcg_status fail_io(gcg_err *err, const char *path, const char *what)
{
    return gcg_fail(err, GCG_ERR_IO, path, 0, 0, "%s: %s", what, strerror(errno));
}

/* ---- what a signal handler may find ---- */

enum {
    SLOTS = 8 /* outputs open at a time that are known; the others' files stay when the program is ended */
};
static struct {
    volatile sig_atomic_t used;
    char name[PATH_MAX];
} slots[SLOTS];

static int take_slot(const char *name)
{
    size_t length = strlen(name);
    for (int k = 0; k < SLOTS && length < PATH_MAX; k++) {
        if (slots[k].used) continue;
        memcpy(slots[k].name, name, length + 1);
        slots[k].used = 1;
        return k;
    }
    return -1;
}

static void give_slot(gcg_output *o)
{
    if (o->slot >= 0) slots[o->slot].used = 0;
    o->slot = -1;
}

void gcg_output_drop_all(void)
{
    for (int k = 0; k < SLOTS; k++)
        if (slots[k].used) unlink(slots[k].name);
}

/* ---- opening ---- */

/* Sets o->target: path itself, or the file that a symbolic link leads to. */
static gcg_status find_target(gcg_output *o, gcg_err *err)
{
    struct stat link, found;
    const char *base = strrchr(o->path, '/');
    base = base ? base + 1 : o->path;
    if (!*base) return gcg_fail(err, GCG_ERR_IO, o->path, 0, 0, "cannot write here: not the name of a file");
    if (lstat(o->path, &link) != 0) {
        if (errno != ENOENT) return fail_io(err, o->path, "cannot write here");
        o->target = gcg_mem_strdup(o->path);
        return o->target ? GCG_OK : gcg_fail_memory(err, "output name");
    }
    if (stat(o->path, &found) != 0) return fail_io(err, o->path, "cannot follow this symbolic link");
    if (S_ISDIR(found.st_mode))
        return gcg_fail(err, GCG_ERR_IO, o->path, 0, 0, "cannot write here: it is a folder");
    if (!S_ISREG(found.st_mode))
        return gcg_fail(err, GCG_ERR_IO, o->path, 0, 0, "cannot write here: it is not a regular file");
    char resolved[PATH_MAX];
    if (S_ISLNK(link.st_mode) && !realpath(o->path, resolved))
        return fail_io(err, o->path, "cannot follow this symbolic link");
    o->target = gcg_mem_strdup(S_ISLNK(link.st_mode) ? resolved : o->path);
    return o->target ? GCG_OK : gcg_fail_memory(err, "output name");
}

/* Length of the folder part of target, with its last slash; 0 for a bare name. */
static size_t folder_length(const char *target)
{
    const char *slash = strrchr(target, '/');
    return slash ? (size_t)(slash - target) + 1 : 0;
}

/* Opens a new file beside the target under a name that nothing has. */
static gcg_status create_temporary(gcg_output *o, gcg_err *err)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    size_t folder = folder_length(o->target), room = strlen(o->target) + RANDOM_LETTERS + sizeof "...tmp";
    const char *name = o->target + folder;
    int shown = (int)strlen(name), most = NAME_MAX - RANDOM_LETTERS - (int)(sizeof "...tmp" - 1);
    if (shown > NAME_MAX)
        return gcg_fail(err, GCG_ERR_IO, o->path, 0, 0, "cannot write here: the name is too long");
    if (shown > most) shown = most;
    o->temporary = gcg_mem_alloc_array((int64_t)room, 1);
    o->buffer = gcg_mem_alloc_array(BUFFER, 1);
    if (!o->temporary || !o->buffer) return gcg_fail_memory(err, "output name");
    gcg_rng rng;
    gcg_rng_init(&rng, (uint64_t)(gcg_clock_now() * 1e9), (uint64_t)getpid());
    for (int attempt = 0; attempt < NAME_TRIES; attempt++) {
        char random[RANDOM_LETTERS + 1] = "";
        for (int i = 0; i < RANDOM_LETTERS; i++) random[i] = letters[gcg_rng_below(&rng, sizeof letters - 1)];
        snprintf(o->temporary, room, "%.*s.%.*s.%s.tmp", (int)folder, o->target, shown, name, random);
        o->slot = take_slot(o->temporary); /* before: a signal may come as soon as there is a file */
        int fd = open(o->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0) give_slot(o);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd < 0) break;
        o->file = fdopen(fd, "w+b");
        if (o->file) {
            setvbuf(o->file, o->buffer, _IOFBF, BUFFER);
            return GCG_OK;
        }
        close(fd);
        unlink(o->temporary);
        give_slot(o);
        return gcg_fail_memory(err, "output buffer");
    }
    return fail_io(err, o->path, "cannot create a file here");
}

static void release(gcg_output *o)
{
    gcg_mem_free(o->path);
    gcg_mem_free(o->target);
    gcg_mem_free(o->temporary);
    gcg_mem_free(o->buffer);
    *o = (gcg_output){0};
}

gcg_status gcg_output_open(gcg_output *o, const char *path, gcg_err *err)
{
    *o = (gcg_output){.path = gcg_mem_strdup(path), .slot = -1};
    gcg_status status = o->path ? find_target(o, err) : gcg_fail_memory(err, "output name");
    if (!status) status = create_temporary(o, err);
    if (status) release(o);
    return status;
}

/* Makes the rename last: syncs the folder. File systems that cannot sync a folder say EINVAL: nothing to do
 * there. */
static int sync_folder(const gcg_output *o)
{
    size_t folder = folder_length(o->target);
    char kept = o->target[folder];
    o->target[folder] = '\0';
    int fd = open(folder ? o->target : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    o->target[folder] = kept;
    if (fd < 0) return errno == EACCES ? 0 : -1; /* a folder may be writable and not readable */
    int result = fsync(fd);
    int error = errno;
    close(fd);
    errno = error;
    return result == 0 || error == EINVAL || error == ENOTSUP ? 0 : -1;
}

gcg_status gcg_output_sync(gcg_output *o, gcg_err *err)
{
    if (ferror(o->file) || fflush(o->file) != 0 || fsync(fileno(o->file)) != 0)
        return fail_io(err, o->path, "cannot write");
    return GCG_OK;
}

gcg_status gcg_output_commit(gcg_output *o, gcg_err *err)
{
    gcg_status status = gcg_output_sync(o, err);
    if (fclose(o->file) != 0 && !status) status = fail_io(err, o->path, "cannot write");
    o->file = NULL;
    if (!status && rename(o->temporary, o->target) != 0)
        status = fail_io(err, o->path, "cannot put the file in place");
    if (status) unlink(o->temporary);
    give_slot(o);
    if (!status && sync_folder(o) != 0) status = fail_io(err, o->path, "cannot sync its folder");
    release(o);
    return status;
}

void gcg_output_abort(gcg_output *o)
{
    if (o->file) {
        fclose(o->file);
        unlink(o->temporary);
        give_slot(o);
    }
    release(o);
}

gcg_status gcg_output_test(const char *path, gcg_err *err)
{
    gcg_output o;
    gcg_status status = gcg_output_open(&o, path, err);
    if (!status) gcg_output_abort(&o);
    return status;
}

int gcg_output_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}
