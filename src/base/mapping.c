/* Mapped files: see mapping.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"

/* Smaller files are kept resident: giving their pages back and touching them again costs more than it saves.
 */
enum { KEPT_BYTES = 256 << 20 };

struct gcg_mapping {
    const char *bytes;
    int64_t size;
    int mapped; /* 0: the caller's memory */
    int keep;
};

gcg_status gcg_mapping_of_memory(const void *bytes, int64_t size, gcg_mapping **map, gcg_err *err)
{
    gcg_mapping *m = *map = gcg_mem_alloc_array(1, sizeof *m);
    if (!m) return gcg_fail_memory(err, "mapped file");
    *m = (gcg_mapping){.bytes = bytes, .size = size, .keep = 1};
    return GCG_OK;
}

/* Maps what fd holds into m, which is zeroed. */
static gcg_status map_file(gcg_mapping *m, int fd, const char *name, gcg_err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return gcg_fail(err, GCG_ERR_IO, name, 0, 0, "cannot read: %s", strerror(errno));
    if (!S_ISREG(info.st_mode) || (uintmax_t)info.st_size > SIZE_MAX)
        return gcg_fail(err, GCG_ERR_IO, name, 0, 0,
                        "cannot be mapped into memory: it is not a regular file");
    m->size = info.st_size;
    m->keep = m->size < KEPT_BYTES;
    if (m->size == 0) return GCG_OK;
    void *bytes = mmap(NULL, (size_t)m->size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return gcg_fail(err, errno == ENOMEM ? GCG_ERR_NOMEM : GCG_ERR_IO, name, 0, 0,
                        "cannot be mapped into memory: %s", strerror(errno));
    m->bytes = bytes;
    m->mapped = 1;
    madvise(bytes, (size_t)m->size, MADV_SEQUENTIAL); /* advice only: failing changes no result */
    return GCG_OK;
}

gcg_status gcg_mapping_open(const char *path, gcg_mapping **map, gcg_err *err)
{
    int is_stdin = strcmp(path, "-") == 0;
    gcg_mapping *m = *map = gcg_mem_zalloc_array(1, sizeof *m);
    if (!m) return gcg_fail_memory(err, "mapped file");
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    gcg_status status = fd < 0 ? gcg_fail(err, GCG_ERR_IO, path, 0, 0, "cannot open: %s", strerror(errno))
                               : map_file(m, fd, is_stdin ? "stdin" : path, err);
    if (fd >= 0 && !is_stdin) close(fd);
    if (status == GCG_OK) return GCG_OK;
    gcg_mapping_close(m);
    *map = NULL;
    return status;
}

void gcg_mapping_close(gcg_mapping *map)
{
    if (!map) return;
    if (map->mapped) munmap((void *)(uintptr_t)map->bytes, (size_t)map->size);
    gcg_mem_free(map);
}

const void *gcg_mapping_bytes(const gcg_mapping *map)
{
    return map->bytes;
}

int64_t gcg_mapping_size(const gcg_mapping *map)
{
    return map->size;
}

int gcg_mapping_holds(const gcg_mapping *map, const void *place)
{
    uintptr_t start = (uintptr_t)map->bytes, p = (uintptr_t)place;
    return p >= start && p - start < (uintptr_t)map->size;
}

void gcg_mapping_keep(gcg_mapping *map, int keep)
{
    map->keep = keep;
}

int gcg_mapping_is_kept(const gcg_mapping *map)
{
    return map->keep;
}

void gcg_mapping_done(const gcg_mapping *map, const void *from, const void *to)
{
    if (!map->keep) gcg_mapping_drop(map, from, to);
}

void gcg_mapping_drop(const gcg_mapping *map, const void *from, const void *to)
{
    if (!map->mapped) return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)from / page * page,
              end = (uintptr_t)to / page * page;
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
}
