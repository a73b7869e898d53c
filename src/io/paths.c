/* Input paths: see paths.h. */
#define _POSIX_C_SOURCE 200809L
#include "io/paths.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/mem.h"

static gcg_status append(gcg_paths *paths, const char *folder, const char *name, gcg_err *err)
{
    enum { FIRST_CAPACITY = 16 };
    if (paths->count == paths->capacity) {
        if (paths->capacity > INT_MAX / 2) return gcg_fail_memory(err, "file names");
        int capacity = paths->capacity ? 2 * paths->capacity : FIRST_CAPACITY;
        char **grown = gcg_mem_resize_array(paths->path, paths->count, capacity, sizeof *grown);
        if (!grown) return gcg_fail_memory(err, "file names");
        paths->path = grown;
        paths->capacity = capacity;
    }
    size_t folder_length = strlen(folder), size = folder_length + strlen(name) + 2;
    char *path = gcg_mem_alloc_array((int64_t)size, 1);
    if (!path) return gcg_fail_memory(err, "file names");
    const char *slash = folder_length > 0 && folder[folder_length - 1] != '/' ? "/" : "";
    snprintf(path, size, "%s%s%s", folder, slash, name);
    paths->path[paths->count++] = path;
    return GCG_OK;
}

int gcg_path_ends_with(const char *name, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length > n && memcmp(name + length - n, end, n) == 0;
}

static int is_netflix_name(const char *name)
{
    size_t length = strlen(name);
    if (gcg_path_ends_with(name, length, ".gz")) length -= 3;
    return (strncmp(name, "mv_", 3) == 0 || strncmp(name, "combined_data_", 14) == 0) &&
           gcg_path_ends_with(name, length, ".txt");
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static gcg_status add_folder(gcg_paths *paths, const char *folder, gcg_err *err)
{
    int before = paths->count;
    DIR *dir = opendir(folder);
    if (!dir) return gcg_fail(err, GCG_ERR_IO, folder, 0, 0, "cannot open the folder: %s", strerror(errno));
    gcg_status status = GCG_OK;
    const struct dirent *entry;
    while (status == GCG_OK && (entry = readdir(dir)) != NULL)
        if (is_netflix_name(entry->d_name)) status = append(paths, folder, entry->d_name, err);
    closedir(dir);
    if (status != GCG_OK) return status;
    if (paths->count == before)
        return gcg_fail(
            err, GCG_ERR_IO, folder, 0, 0,
            "a folder without mv_*.txt or combined_data_*.txt files; name the rating files themselves");
    qsort(paths->path + before, (size_t)(paths->count - before), sizeof *paths->path, compare_names);
    return GCG_OK;
}

gcg_status gcg_paths_add(gcg_paths *paths, const char *path, gcg_err *err)
{
    struct stat info;
    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return add_folder(paths, path, err);
    return append(paths, "", path, err);
}

void gcg_paths_release(gcg_paths *paths)
{
    for (int i = 0; i < paths->count; i++) gcg_mem_free(paths->path[i]);
    gcg_mem_free(paths->path);
    *paths = (gcg_paths){0};
}
