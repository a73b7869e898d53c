/* Seconds to read a rating file, by the clock and by the processors, on standard output: bench_reading HOW
 * FILE [THREADS [zlib]]
 *
 *   fscanf   a loop of fscanf over "user SEPARATOR item SEPARATOR rating" lines that adds the ratings up: the
 *            baseline; ids are numbers to it, nothing is looked up and nothing checked
 *   parse    lines to points: unpacked, parsed, ids numbered
 *   store    the whole way to the training store, rows sorted, duplicates looked for
 *
 * With zlib, gzip is unpacked by zlib even where the program has libisal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/parallel.h"
#include "io/stream.h"
#include "tests/bench/common.h"

static int64_t ratings;
static gcg_read_options options;

static void by_fscanf(const char *path)
{
    int user, item;
    double rating, sum = 0;
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(1);
    }
    for (; fscanf(f, "%d%*c%d%*c%lf", &user, &item, &rating) == 3; ratings++) sum += rating;
    fclose(f);
    if (sum < 0) puts("");
}

static void by_parsing(const char *path)
{
    gcg_err err = {0};
    gcg_read_report report;
    gcg_points points;
    gcg_sink sink = {.points = &points};
    gcg_points_init(&points, 1, 0);
    bench_must(gcg_idmap_new(&sink.users, &err), &err);
    bench_must(gcg_idmap_new(&sink.items, &err), &err);
    bench_must(gcg_read_files(&path, 1, &options, NULL, &sink, &report, &err), &err);
    ratings = points.n;
    gcg_points_release(&points);
    gcg_idmap_free(sink.users);
    gcg_idmap_free(sink.items);
}

static void to_the_store(const char *path)
{
    gcg_err err = {0};
    gcg_ratings r;
    bench_must(gcg_ratings_read(&path, 1, &options, NULL, &r, &err), &err);
    ratings = r.x.nnz;
    gcg_ratings_release(&r);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*read)(const char *path);
    } how[] = {{"fscanf", by_fscanf}, {"parse", by_parsing}, {"store", to_the_store}};
    for (size_t k = 0; argc >= 3 && k < sizeof how / sizeof *how; k++) {
        if (strcmp(argv[1], how[k].name) != 0) continue;
        gcg_par_set_threads(argc > 3 ? bench_count("THREADS", argv[3], 1024) : 1);
        options = gcg_read_options_defaults();
        options.zlib = argc > 4 && strcmp(argv[4], "zlib") == 0;
        double start = gcg_clock_now();
        clock_t cpu = clock();
        how[k].read(argv[2]);
        printf("%.4f %.4f\n", gcg_clock_now() - start, (double)(clock() - cpu) / CLOCKS_PER_SEC);
        return ratings > 0 ? 0 : 1;
    }
    fprintf(stderr, "usage: bench_reading fscanf|parse|store FILE [THREADS [zlib]]\n");
    return 2;
}
