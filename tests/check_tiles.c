/* store/tiles: the order of the entries against a sort. */
#include "tests/naive.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "store/tiles.h"

/* Where an entry belongs. */
typedef struct {
    int32_t block, tile, row, col;
    double value;
    float weight;
} entry;

static int by_place(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    int32_t differ[] = {a->block - b->block, a->tile - b->tile, a->row - b->row, a->col - b->col};
    for (int i = 0; i < 4; i++)
        if (differ[i]) return differ[i];
    return 0;
}

/* Rows of 0 to n ratings, empty ones at both ends; with weights when weighted. */
static gcg_csr make(int m, int n, int wide, int weighted)
{
    naive_rng g = naive_seed((uint64_t)(m + n));
    size_t size = (size_t)m * (size_t)n;
    char *mask = naive_alloc(size, 1);
    double *x = naive_alloc(size, sizeof *x);
    for (int i = 1; i + 1 < m; i++)
        for (int d = 0; d < (i * 7) % (n + 1); d++)
            mask[(size_t)i * (size_t)n + (size_t)naive_below(&g, n)] = 1;
    for (size_t e = 0; e < size; e++) x[e] = wide ? naive_uniform(&g) : naive_below(&g, 9) / 2.0;
    gcg_csr out = naive_csr(m, n, x, mask, wide);
    if (weighted) {
        ck_assert_int_eq(gcg_csr_add_weights(&out, NULL), GCG_OK);
        for (int64_t p = 0; p < out.nnz; p++) out.weight[p] = (float)naive_uniform(&g);
    }
    free(mask);
    free(x);
    return out;
}

/* The columns by falling degree, then by number. */
static int32_t *by_degree(const gcg_csr *x, const int64_t *count)
{
    int32_t *column = naive_alloc((size_t)x->cols, sizeof *column);
    for (int32_t j = 0; j < x->cols; j++) {
        int32_t before = 0;
        for (int32_t i = 0; i < x->cols; i++)
            before += count[i] > count[j] || (count[i] == count[j] && i < j);
        column[before] = j;
    }
    return column;
}

static int is_enough(int32_t cols, int64_t ratings, gcg_tile_size least)
{
    if (cols < least.cols) return 0;
    if (least.many_cols > 0 && cols >= least.many_cols && ratings >= least.ratings / 2) return 1;
    return ratings >= least.ratings;
}

/* The tile of each column: as few columns as are enough, unless the rest is not. */
static int32_t *tiles_of(const gcg_csr *x, gcg_tile_size least, int32_t *tiles)
{
    int64_t *count = naive_alloc((size_t)x->cols, sizeof *count);
    for (int64_t p = 0; p < x->nnz; p++) count[x->col[p]]++;
    int32_t *column = by_degree(x, count), *tile = naive_alloc((size_t)x->cols, sizeof *tile);
    for (int32_t first = 0, end = 0; first < x->cols; first = end, ++*tiles) {
        int64_t in = 0, left = 0;
        while (end < x->cols && !is_enough(end - first, in, least)) in += count[column[end++]];
        for (int32_t q = end; q < x->cols; q++) left += count[column[q]];
        if (!is_enough(x->cols - end, left, least)) end = x->cols;
        for (int32_t q = first; q < end; q++) tile[column[q]] = *tiles;
    }
    free(count);
    free(column);
    return tile;
}

/* The entries of rows in storage order, sorted to where they belong. */
static entry *sorted(const gcg_csr *x, int32_t blocks, gcg_tile_size least, int32_t *tiles)
{
    int32_t *start = naive_alloc((size_t)blocks + 1, sizeof *start), block = 0;
    int32_t *tile = tiles_of(x, least, tiles);
    entry *e = naive_alloc((size_t)x->nnz, sizeof *e);
    gcg_csr_cut_rows(x, blocks, start);
    for (int32_t i = 0; i < x->rows; i++) {
        while (i >= start[block + 1]) block++;
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++)
            e[p] = (entry){block,     tile[x->col[p]],     i,
                           x->col[p], gcg_csr_value(x, p), x->weight ? x->weight[p] : 1};
    }
    qsort(e, (size_t)x->nnz, sizeof *e, by_place);
    free(start);
    free(tile);
    return e;
}

static void check_order(const gcg_csr *x, const entry *want)
{
    int64_t at = 0;
    gcg_csr_run run = {.row = -1};
    while (gcg_csr_next_run(x, &run)) {
        ck_assert_int_eq(run.p0, at);
        for (; at < run.p1; at++) {
            ck_assert_int_eq(want[at].row, run.row);
            ck_assert_int_eq(want[at].block, run.block);
            ck_assert_int_eq(want[at].tile, run.tile);
            ck_assert_int_eq(want[at].col, gcg_csr_col(x, at));
            ck_assert(want[at].value == gcg_csr_value(x, at));
            ck_assert(!x->weight || want[at].weight == x->weight[at]);
        }
    }
    ck_assert_int_eq(at, x->nnz);
    for (int32_t block = 0; block < x->tiling.blocks; block++)
        for (int32_t tile = 0; tile < x->tiling.tiles; tile++) {
            const int64_t *ptr = gcg_csr_tile_ptr(x, block, tile);
            for (int32_t i = x->tiling.start[block]; i < x->tiling.start[block + 1]; i++, ptr++)
                for (int64_t p = ptr[0]; p < ptr[1]; p++)
                    ck_assert(want[p].block == block && want[p].tile == tile && want[p].row == i);
        }
}

static void check_tiles(int m, int n, int32_t blocks, gcg_tile_size least, int mode)
{
    gcg_csr x = make(m, n, mode % 2, mode / 2);
    int32_t tiles = 0;
    entry *want = sorted(&x, blocks, least, &tiles);
    int64_t *before = naive_alloc((size_t)n, sizeof *before), *after = naive_alloc((size_t)n, sizeof *after);
    gcg_csr_col_counts(&x, before);
    ck_assert_int_eq(gcg_csr_tile(&x, blocks, least, NULL), GCG_OK);
    ck_assert_int_eq(x.tiling.tiles, tiles);
    check_order(&x, want);
    gcg_csr_col_counts(&x, after);
    ck_assert_mem_eq(before, after, (size_t)n * sizeof *before);
    for (int32_t q = 0; q + 1 < n; q++)
        ck_assert_int_ge(before[x.tiling.column[q]], before[x.tiling.column[q + 1]]);
    gcg_csr_release(&x);
    free(want);
    free(before);
    free(after);
}

START_TEST(entries_are_sorted_by_block_tile_row_and_column)
{
    static const struct {
        int rows, cols;
        int32_t blocks;
        gcg_tile_size least;
    } sizes[] = {{40, 30, 4, {5, 1, 0}}, {40, 30, 1, {31, 0, 0}},  {40, 30, 3, {1, 100, 0}},
                 {3, 50, 8, {7, 0, 0}},  {50, 3, 2, {1, 1, 0}},    {60, 9, 7, {2, 50, 0}},
                 {60, 9, 7, {1, 0, 0}},  {40, 30, 4, {2, 101, 7}}, {40, 30, 3, {2, 101, 3}}};
    gcg_par_set_threads(_i % 3 + 1);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        check_tiles(sizes[s].rows, sizes[s].cols, sizes[s].blocks, sizes[s].least, _i);
}
END_TEST

START_TEST(runs_without_tiles_are_the_rows)
{
    gcg_csr x = make(20, 10, 0, 0);
    gcg_csr_run run = {.row = -1};
    for (int32_t i = 0; i < x.rows; i++) {
        ck_assert_int_eq(gcg_csr_next_run(&x, &run), 1);
        ck_assert(run.row == i && run.p0 == x.row_ptr[i] && run.p1 == x.row_ptr[i + 1]);
    }
    ck_assert_int_eq(gcg_csr_next_run(&x, &run), 0);
    gcg_csr_release(&x);
}
END_TEST

typedef struct {
    gcg_csr x, same;
} twins;

static gcg_status into_tiles(void *ctx)
{
    twins *t = ctx;
    gcg_csr_tiling *in = &t->x.tiling;
    gcg_status status = gcg_csr_tile(&t->x, 4, (gcg_tile_size){8, 0, 0}, NULL);
    ck_assert((status == GCG_OK) == (in->ptr != NULL));
    if (status) {
        ck_assert_mem_eq(t->x.col, t->same.col, (size_t)t->x.nnz * sizeof *t->x.col);
        ck_assert_mem_eq(t->x.val_d, t->same.val_d, (size_t)t->x.nnz * sizeof *t->x.val_d);
        return status;
    }
    ck_assert_int_eq(in->tiles, 3);
    gcg_mem_free(in->start);
    gcg_mem_free(in->ptr);
    gcg_mem_free(in->column);
    *in = (gcg_csr_tiling){0};
    return GCG_OK;
}

START_TEST(a_store_that_cannot_be_put_into_tiles_stays_as_it_was)
{
    twins t = {make(40, 30, 1, 1), make(40, 30, 1, 1)};
    ck_assert_int_ge(naive_fail_each_allocation(into_tiles, &t), 8);
    gcg_csr_release(&t.x);
    gcg_csr_release(&t.same);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tiles");
    TCase *tests = tcase_create("tiles");
    tcase_add_loop_test(tests, entries_are_sorted_by_block_tile_row_and_column, 0, 4);
    tcase_add_test(tests, runs_without_tiles_are_the_rows);
    tcase_add_test(tests, a_store_that_cannot_be_put_into_tiles_stays_as_it_was);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
