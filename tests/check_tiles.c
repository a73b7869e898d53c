/* store/tiles: the order of the entries against a sort, and back. */
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

/* The entries of rows in storage order, sorted to where they belong. */
static entry *sorted(const gcg_csr *x, int32_t blocks, int32_t tiles)
{
    int32_t *start = naive_alloc((size_t)blocks + 1, sizeof *start), block = 0;
    entry *e = naive_alloc((size_t)x->nnz, sizeof *e);
    gcg_csr_cut_rows(x, blocks, start);
    for (int32_t i = 0; i < x->rows; i++) {
        while (i >= start[block + 1]) block++;
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++) {
            int32_t tile = 0;
            while (x->col[p] >= (tile + 1) * x->cols / tiles) tile++;
            e[p] = (entry){block, tile, i, x->col[p], gcg_csr_value(x, p), x->weight ? x->weight[p] : 1};
        }
    }
    qsort(e, (size_t)x->nnz, sizeof *e, by_place);
    free(start);
    return e;
}

static void *copy_of(const void *array, int64_t n, size_t size)
{
    void *copy = naive_alloc((size_t)n, size);
    if (array) memcpy(copy, array, (size_t)n * size);
    return copy;
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
            ck_assert_int_eq(want[at].col, x->col[at]);
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

static void check_there_and_back(int m, int n, int32_t blocks, int32_t tiles, int mode)
{
    gcg_csr x = make(m, n, mode % 2, mode / 2);
    entry *want = sorted(&x, blocks, tiles);
    size_t value = x.val_f ? sizeof(float) : sizeof(double);
    int32_t *col = copy_of(x.col, x.nnz, sizeof *col);
    void *values = copy_of(x.val_f ? (void *)x.val_f : x.val_d, x.nnz, value);
    float *weights = copy_of(x.weight, x.nnz, sizeof *weights);
    ck_assert_int_eq(gcg_csr_tile(&x, blocks, tiles, NULL), GCG_OK);
    check_order(&x, want);
    ck_assert_int_eq(gcg_csr_untile(&x, NULL), GCG_OK);
    ck_assert_ptr_null(x.tiling.ptr);
    ck_assert_mem_eq(x.col, col, (size_t)x.nnz * sizeof *col);
    ck_assert_mem_eq(x.val_f ? (void *)x.val_f : x.val_d, values, (size_t)x.nnz * value);
    if (x.weight) ck_assert_mem_eq(x.weight, weights, (size_t)x.nnz * sizeof *weights);
    ck_assert_int_eq(gcg_csr_untile(&x, NULL), GCG_OK); /* nothing to do */
    gcg_csr_release(&x);
    free(want);
    free(col);
    free(values);
    free(weights);
}

START_TEST(entries_are_sorted_by_block_tile_row_and_column_and_come_back)
{
    static const int sizes[][4] = {/* rows, columns, blocks, tiles */
                                   {40, 30, 4, 3},
                                   {40, 30, 1, 1},
                                   {3, 50, 8, 7},
                                   {50, 3, 2, 3},
                                   {60, 9, 7, 11}};
    gcg_par_set_threads(_i % 3 + 1);
    for (int s = 0; s < 5; s++) check_there_and_back(sizes[s][0], sizes[s][1], sizes[s][2], sizes[s][3], _i);
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

static gcg_status there_and_back(void *ctx)
{
    gcg_csr *x = ctx;
    int32_t first = x->col[0];
    gcg_status status = gcg_csr_tile(x, 4, 3, NULL);
    ck_assert((status == GCG_OK) == (x->tiling.ptr != NULL));
    if (status) {
        ck_assert_int_eq(x->col[0], first);
        return status;
    }
    status = gcg_csr_untile(x, NULL);
    ck_assert((status == GCG_OK) == (x->tiling.ptr == NULL));
    if (status) ck_assert_int_eq(gcg_csr_untile(x, NULL), GCG_OK); /* only the one allocation fails */
    return status;
}

START_TEST(a_store_that_cannot_be_put_into_tiles_stays_as_it_was)
{
    gcg_csr x = make(40, 30, 1, 1), same = make(40, 30, 1, 1);
    ck_assert_int_ge(naive_fail_each_allocation(there_and_back, &x), 4);
    ck_assert_mem_eq(x.col, same.col, (size_t)x.nnz * sizeof *x.col);
    ck_assert_mem_eq(x.val_d, same.val_d, (size_t)x.nnz * sizeof *x.val_d);
    gcg_csr_release(&x);
    gcg_csr_release(&same);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tiles");
    TCase *tests = tcase_create("tiles");
    tcase_add_loop_test(tests, entries_are_sorted_by_block_tile_row_and_column_and_come_back, 0, 4);
    tcase_add_test(tests, runs_without_tiles_are_the_rows);
    tcase_add_test(tests, a_store_that_cannot_be_put_into_tiles_stays_as_it_was);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
