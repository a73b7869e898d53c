/* solvers/plan: what the needs say is what solves take, and sizes are given up in order until they fit. */
#include "tests/naive.h"

#include "base/mem.h"
#include "maths/kernels.h"
#include "solvers/als_cg.h"
#include "solvers/plan.h"
#include "solvers/soft_impute.h"

/* Low rank and noise, `each` ratings in every row. */
static gcg_csr ratings(int rows, int cols, int each, uint64_t seed)
{
    enum { RANK = 6 };
    naive_rng g = naive_seed(seed);
    size_t n = (size_t)rows * (size_t)each;
    double *u = naive_normals(&g, rows * RANK), *v = naive_normals(&g, cols * RANK),
           *value = naive_alloc(n, sizeof *value);
    int32_t *row = naive_alloc(n, sizeof *row), *col = naive_alloc(n, sizeof *col);
    for (int i = 0; i < rows; i++)
        for (int e = 0; e < each; e++) { /* one column of each stretch */
            size_t at = (size_t)i * (size_t)each + (size_t)e;
            int first = (int)((int64_t)cols * e / each), end = (int)((int64_t)cols * (e + 1) / each);
            row[at] = i;
            col[at] = first + naive_below(&g, end - first);
            value[at] = 0.5 * naive_normal(&g);
            for (int q = 0; q < RANK; q++) value[at] += u[i * RANK + q] * v[col[at] * RANK + q];
            value[at] = (float)value[at];
        }
    gcg_csr x;
    ck_assert_int_eq(gcg_csr_from_triples(&x, rows, cols, (int64_t)n, row, col, value, NULL), GCG_OK);
    free(u);
    free(v);
    free(value);
    free(row);
    free(col);
    return x;
}

typedef gcg_status solver(const gcg_csr *x, const gcg_solver_settings *set, gcg_solver_result *result,
                          gcg_err *err);

/* Planned bytes over those that a solve took at most. */
static double ratio(solver *solve, gcg_needs_of *of, const gcg_csr *x, gcg_solver_settings *set, int32_t rank)
{
    gcg_solver_result r;
    gcg_plan_data d = gcg_plan_data_of(x, set);
    d.states = set->checkpoints != NULL;
    if (of == gcg_complete_needs) gcg_plan_proof(&d, rank, set);
    gcg_needs needs = of(&d, set, rank);
    const int64_t before = gcg_mem_in_use();
    gcg_mem_forget_peak();
    ck_assert_int_eq(solve(x, set, &r, NULL), GCG_OK);
    double peak = (double)(gcg_mem_peak() - before), planned = (double)gcg_needs_total(&needs);
    ck_assert_int_eq(r.last.rank, rank);
    gcg_solver_result_release(&r);
    return planned / peak;
}

static gcg_solver_settings settings(double lambda, int32_t rank, gcg_precision precision)
{
    gcg_solver_settings s = gcg_solver_settings_defaults();
    s.lambda = lambda;
    s.rank = rank;
    s.max_iter = 8;
    s.precision = precision;
    return s;
}

static const double LEAST = 1 / 1.1, MOST = 1.1;

/* A lambda so small that the rank limit binds: then the rank is known beforehand. */
static const struct {
    const char *what;
    int rows, cols, each, rank;
    gcg_precision precision;
    int plain, certify, pairs, block, panel;
    double exponent; /* of the norm's weights */
    double user_bias;
} cases[] = {
    {"float, rank 40", 4000, 2500, 20, 40, GCG_PRECISION_FLOAT, 0, 0, 3, 96, 32, 0, 0},
    {"double, rank 40", 4000, 2500, 20, 40, GCG_PRECISION_DOUBLE, 0, 0, 3, 96, 32, 0, 0},
    {"low rank", 4000, 2500, 20, 6, GCG_PRECISION_FLOAT, 0, 0, 3, 96, 32, 0, 0},
    {"more columns than rows", 2500, 6000, 30, 30, GCG_PRECISION_FLOAT, 0, 0, 3, 96, 32, 0, 0},
    {"few columns, a Cholesky proof", 12000, 300, 12, 24, GCG_PRECISION_FLOAT, 0, 0, 3, 96, 32, 0, 0},
    {"few rows, a Cholesky proof", 300, 8000, 200, 24, GCG_PRECISION_FLOAT, 0, 0, 3, 96, 32, 0, 0},
    {"a Cholesky proof on request", 3000, 2500, 20, 24, GCG_PRECISION_FLOAT, 0, 1, 3, 96, 32, 0, 0},
    {"plain", 4000, 2500, 20, 8, GCG_PRECISION_DOUBLE, 1, 0, 3, 96, 32, 0, 0},
    {"one pair", 6000, 2500, 12, 40, GCG_PRECISION_FLOAT, 0, 0, 1, 96, 32, 0, 0},
    {"no pairs, small blocks", 6000, 2500, 12, 40, GCG_PRECISION_FLOAT, 0, 0, 0, 16, 16, 0, 0},
    {"blocks of 8", 6000, 2500, 10, 20, GCG_PRECISION_DOUBLE, 0, 0, 0, 8, 16, 0, 0},
    {"a weighted norm", 4000, 2500, 20, 40, GCG_PRECISION_FLOAT, 0, 0, 3, 96, 32, 0.8, 0},
    {"a weighted norm, a Cholesky proof", 12000, 300, 12, 24, GCG_PRECISION_FLOAT, 0, 0, 3, 96, 32, 1, 0},
    {"a weighted norm, few rows", 300, 8000, 200, 24, GCG_PRECISION_FLOAT, 0, 0, 3, 96, 32, 1, 0},
    {"biases", 4000, 2500, 20, 40, GCG_PRECISION_FLOAT, 0, 0, 3, 96, 32, 0.8, 5},
    {"biases, a column more than fits beside", 4000, 2500, 20, 32, GCG_PRECISION_DOUBLE, 0, 0, 3, 96, 32, 0,
     5},
};

START_TEST(what_is_planned_for_gcg_is_what_it_takes)
{
    gcg_csr x = ratings(cases[_i].rows, cases[_i].cols, cases[_i].each, 7);
    gcg_solver_settings set = settings(0.5, cases[_i].rank, cases[_i].precision);
    set.plain = cases[_i].plain;
    set.certify = cases[_i].certify;
    set.norm = (gcg_norm){cases[_i].exponent, cases[_i].exponent, 0, cases[_i].user_bias};
    set.sizes.pairs = cases[_i].pairs;
    set.sizes.block = cases[_i].block;
    if (set.sizes.proof_block > set.sizes.block) set.sizes.proof_block = set.sizes.block;
    set.sizes.proof_panel = cases[_i].panel;
    set.max_iter = set.plain ? cases[_i].rank : 3;
    double of_peak = ratio(gcg_complete, gcg_complete_needs, &x, &set, cases[_i].rank);
    ck_assert_msg(of_peak >= LEAST && of_peak <= MOST, "%s: planned / taken = %.3f", cases[_i].what, of_peak);
    gcg_csr_release(&x);
}
END_TEST

static int never_due(void *user, int64_t iter)
{
    (void)user;
    (void)iter;
    return 0;
}

static gcg_status write_nothing(const gcg_solver_state *state, void *user, gcg_err *err)
{
    (void)state;
    (void)user;
    (void)err;
    return GCG_OK;
}

/* Without and with a copy of the state. */
START_TEST(what_is_planned_for_comparators_is_what_they_take)
{
    const gcg_checkpoints copies = {.copy = 1, .due = never_due, .write = write_nothing};
    for (int shape = 0; shape < 3; shape++) {
        static const int rows[] = {6000, 3000, 9000}, cols[] = {3000, 6000, 400};
        gcg_csr x = ratings(rows[shape], cols[shape], 30, 3);
        for (gcg_precision p = GCG_PRECISION_FLOAT; p <= GCG_PRECISION_DOUBLE; p++) {
            gcg_solver_settings set = settings(0.5, 20, p);
            set.max_iter = 2;
            set.checkpoints = _i ? &copies : NULL;
            double als = ratio(gcg_als_cg, gcg_als_cg_needs, &x, &set, 20);
            double soft = ratio(gcg_soft_impute, gcg_soft_impute_needs, &x, &set, 20);
            ck_assert_msg(als >= LEAST && als <= MOST, "als-cg, shape %d: %.3f", shape, als);
            ck_assert_msg(soft >= LEAST && soft <= MOST, "soft-impute, shape %d: %.3f", shape, soft);
        }
        gcg_csr_release(&x);
    }
}
END_TEST

/* A store of the Netflix shape, of which nothing but the shape is looked at. */
static gcg_plan_data netflix(void)
{
    return (gcg_plan_data){.rows = 2549429,
                           .cols = 17770,
                           .nnz = 99072112,
                           .value_bytes = 4,
                           .type = GCG_FLOAT,
                           .passes = 23 << 20};
}

static int64_t total(const gcg_plan_data *d, const gcg_solver_settings *set, int32_t rank)
{
    gcg_needs n = gcg_complete_needs(d, set, rank);
    return gcg_needs_total(&n);
}

START_TEST(the_needs_grow_with_the_rank)
{
    gcg_plan_data d = netflix();
    gcg_solver_settings set = settings(1, 0, GCG_PRECISION_AUTO);
    int64_t last = 0;
    for (int32_t rank = 1; rank <= 17770; rank *= 3) {
        int64_t bytes = total(&d, &set, rank);
        ck_assert_int_ge(bytes, last);
        last = bytes;
    }
    ck_assert_int_ge(total(&d, &set, 0), last); /* no limit: the smaller side */
    ck_assert_int_eq(total(&d, &set, 20000), total(&d, &set, 0));
}
END_TEST

START_TEST(sizes_are_given_up_only_as_far_as_it_takes)
{
    gcg_plan_data d = netflix();
    gcg_solver_settings full = settings(1, 0, GCG_PRECISION_AUTO), set = full;
    int64_t most = total(&d, &full, 32), last = most + 1;
    ck_assert_int_eq(gcg_plan_shrink(&d, most, 32, &set), 1);
    ck_assert(set.sizes.pairs == 3 && set.sizes.block == 96 && set.sizes.depth == 4);
    ck_assert_int_eq(set.ratings_kept, GCG_KEEP_ALL);
    for (int step = 0; step < 100; step++) { /* a byte less than the last plan each time */
        set = full;
        int fits = gcg_plan_shrink(&d, last - 1, 32, &set);
        int64_t now = total(&d, &set, 32);
        ck_assert_int_eq(fits, now < last);
        ck_assert_int_le(set.sizes.pairs, 3);
        ck_assert_int_ge(set.sizes.block, 8);
        if (!fits) break;
        last = now;
    }
    ck_assert_int_lt(last, most / 3 * 2);
}
END_TEST

/* The targets of Table 1's shapes, whole program: store, and 100 bytes for each user and item (ids, means).
 */
START_TEST(the_large_public_shapes_fit_into_what_is_promised)
{
    static const struct {
        int32_t rows, cols;
        int64_t nnz;
        double gigabytes;
        int32_t rank;
        int full;
    } shapes[] = {{69878, 10677, 10000054, 0.6, 50, 1},
                  {2549429, 17770, 99072112, 5, 32, 0},
                  {1000990, 624961, 252800275, 8, 16, 1}};
    for (int i = 0; i < 3; i++) {
        gcg_csr x = {.rows = shapes[i].rows, .cols = shapes[i].cols, .nnz = shapes[i].nnz};
        gcg_plan_data d = {.rows = x.rows,
                           .cols = x.cols,
                           .nnz = x.nnz,
                           .value_bytes = 4,
                           .type = GCG_FLOAT,
                           .passes = gcg_pass_bytes(&x)};
        gcg_solver_settings full = settings(1, 0, GCG_PRECISION_AUTO), set = full;
        int64_t sides = (int64_t)x.rows + x.cols, rest = 8 * x.nnz + 100 * sides + (20 << 20);
        int64_t most = (int64_t)(shapes[i].gigabytes * 1e9);
        ck_assert_int_eq(gcg_plan_shrink(&d, most - rest, shapes[i].rank, &set), 1);
        ck_assert_int_ge(set.sizes.block, 32); /* nothing dear was given up */
        ck_assert_int_ge(set.sizes.pairs, 1);
        ck_assert_int_ne(set.ratings_kept, GCG_KEEP_NONE);
        ck_assert_int_eq(total(&d, &full, shapes[i].rank) + rest <= most, shapes[i].full);
    }
}
END_TEST

START_TEST(the_largest_rank_that_fits_is_found)
{
    gcg_plan_data d = netflix();
    gcg_solver_settings set = settings(1, 0, GCG_PRECISION_AUTO);
    for (int32_t rank = 16; rank < 500; rank = rank * 3 / 16 * 16) {
        int64_t most = total(&d, &set, rank);
        int32_t found = gcg_plan_rank(&d, gcg_complete_needs, most, &set);
        ck_assert_int_ge(found, rank);
        ck_assert_int_le(total(&d, &set, found), most);
        ck_assert_int_gt(total(&d, &set, found + 1), most);
    }
    ck_assert_int_eq(gcg_plan_rank(&d, gcg_complete_needs, 1000, &set), 0);
    ck_assert_int_eq(gcg_plan_rank(&d, gcg_complete_needs, INT64_MAX, &set), 17770);
}
END_TEST

START_TEST(every_need_has_a_name_and_the_largest_phase_counts)
{
    gcg_needs n = {{0}};
    for (int i = 0; i < GCG_NEED_COUNT; i++) {
        ck_assert_int_gt((int)strlen(gcg_need_name((gcg_need)i)), 3);
        n.bytes[i] = i < GCG_NEED_PHASES ? 10 : 100 + i;
    }
    ck_assert_int_eq(gcg_needs_total(&n), 10 * GCG_NEED_PHASES + 100 + GCG_NEED_COUNT - 1);
    n.bytes[GCG_NEED_LAMBDA_MAX] = 1000; /* then only the passes are there beside it */
    ck_assert_int_eq(gcg_needs_total(&n), 1010);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *tests = tcase_create("plan");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, what_is_planned_for_gcg_is_what_it_takes, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(tests, what_is_planned_for_comparators_is_what_they_take, 0, 2);
    tcase_add_test(tests, the_needs_grow_with_the_rank);
    tcase_add_test(tests, sizes_are_given_up_only_as_far_as_it_takes);
    tcase_add_test(tests, the_large_public_shapes_fit_into_what_is_promised);
    tcase_add_test(tests, the_largest_rank_that_fits_is_found);
    tcase_add_test(tests, every_need_has_a_name_and_the_largest_phase_counts);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
