/* solvers: a run that goes on from any of its checkpoints meets the same bytes. */
#include "tests/naive.h"

#include "base/blas.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "maths/kernels.h"
#include "solvers/als_cg.h"
#include "solvers/soft_impute.h"

/* Rank 4 and noise, about `degree` ratings a row. */
static gcg_csr make(int rows, int cols, int degree)
{
    naive_rng g = naive_seed((uint64_t)(rows * cols));
    double *u = naive_normals(&g, rows * 4), *v = naive_normals(&g, cols * 4),
           *x = naive_multiply(rows, cols, 4, u, 0, v, 1);
    char *mask = naive_alloc((size_t)rows * (size_t)cols, 1);
    for (int e = 0; e < rows * cols; e++) {
        mask[e] = naive_uniform(&g) < (double)degree / cols || e == 0;
        x[e] += naive_normal(&g);
    }
    gcg_csr csr = naive_csr(rows, cols, x, mask, 1);
    void *all[] = {u, v, x, mask};
    for (int i = 0; i < 4; i++) free(all[i]);
    return csr;
}

/* ---- states in memory, and what was reported ---- */

enum { MOST = 64 };

typedef struct {
    char *bytes;
    int64_t length, room, at;
    int short_of; /* loading asked for more than there is */
} store;

static gcg_status put(void *user, void *bytes, int64_t n, gcg_err *err)
{
    store *s = user;
    (void)err;
    if (s->length + n > s->room) {
        s->room = 2 * (s->length + n);
        s->bytes = realloc(s->bytes, (size_t)s->room);
    }
    memcpy(s->bytes + s->length, bytes, (size_t)n);
    s->length += n;
    return GCG_OK;
}

static gcg_status get(void *user, void *bytes, int64_t n, gcg_err *err)
{
    store *s = user;
    if (s->at + n > s->length) return gcg_fail(err, GCG_ERR_IO, NULL, 0, 0, "the state ends early");
    memcpy(bytes, s->bytes + s->at, (size_t)n);
    s->at += n;
    return GCG_OK;
}

typedef struct {
    store at[MOST];
    int writes;
    int64_t due_from; /* iterations from which checkpoints are due */
    gcg_progress seen[MOST];
    int reports, interrupt_at; /* report after which somebody asks to stop; -1: nobody */
    gcg_status fail;           /* of write() */
} recorder;

static int due(void *user, int64_t iter)
{
    const recorder *rec = user;
    return iter >= rec->due_from;
}

static gcg_status write_state(const gcg_solver_state *state, void *user, gcg_err *err)
{
    recorder *rec = user;
    ck_assert_int_lt(state->iter, MOST);
    store *to = &rec->at[state->iter];
    gcg_state_stream out = {1, put, to};
    to->length = 0;
    rec->writes++;
    if (rec->fail) return gcg_fail(err, rec->fail, NULL, 0, 0, "no checkpoint");
    return state->state(state->self, &out, err);
}

static gcg_status report(const gcg_progress *now, void *user, gcg_err *err)
{
    recorder *rec = user;
    (void)err;
    ck_assert_int_lt(now->iter, MOST);
    rec->seen[now->iter] = *now;
    if (rec->reports++ == rec->interrupt_at) gcg_interrupt_request();
    return GCG_OK;
}

static void recorder_release(recorder *rec)
{
    for (int i = 0; i < MOST; i++) free(rec->at[i].bytes);
}

/* ---- kinds of runs ---- */

typedef struct {
    const char *what;
    int rows, cols, degree;
    double ratio, gap;
    gcg_precision precision;
    gcg_rating_arrays kept;
    int plain, atoms, rank, pairs, solver;
} kind;

static const kind kinds[] = {
    {"usual", 300, 260, 25, 0.2, 1e-4, GCG_PRECISION_FLOAT, GCG_KEEP_ALL, 0, 0, 0, 3, 0},
    {"in double", 300, 260, 25, 0.2, 1e-7, GCG_PRECISION_DOUBLE, GCG_KEEP_ALL, 0, 0, 0, 3, 0},
    {"widened", 1200, 900, 90, 0.3, 1e-8, GCG_PRECISION_AUTO, GCG_KEEP_ALL, 0, 0, 0, 3, 0},
    {"by deflation", 2300, 2100, 12, 0.4, 1e-3, GCG_PRECISION_FLOAT, GCG_KEEP_ALL, 0, 0, 0, 3, 0},
    {"residual only", 300, 260, 25, 0.2, 1e-4, GCG_PRECISION_FLOAT, GCG_KEEP_RESIDUAL, 0, 0, 0, 1, 0},
    {"nothing kept", 300, 260, 25, 0.2, 1e-4, GCG_PRECISION_FLOAT, GCG_KEEP_NONE, 0, 0, 0, 0, 0},
    {"plain", 120, 100, 30, 0.5, 1e-2, GCG_PRECISION_DOUBLE, GCG_KEEP_ALL, 1, 0, 0, 3, 0},
    {"few atoms", 120, 100, 30, 0.3, 1e-4, GCG_PRECISION_FLOAT, GCG_KEEP_ALL, 0, 3, 0, 3, 0},
    {"rank cap", 120, 100, 30, 0.1, 1e-4, GCG_PRECISION_FLOAT, GCG_KEEP_ALL, 0, 0, 3, 3, 0},
    {"lambda 0", 120, 100, 30, 0, 1e-4, GCG_PRECISION_DOUBLE, GCG_KEEP_ALL, 0, 0, 3, 3, 0},
    {"als-cg", 300, 260, 25, 0.2, 1e-3, GCG_PRECISION_FLOAT, GCG_KEEP_ALL, 0, 0, 8, 3, 1},
    {"als-cg in double", 120, 100, 30, 0.3, 1e-4, GCG_PRECISION_DOUBLE, GCG_KEEP_ALL, 0, 0, 5, 3, 1},
    {"soft-impute", 300, 260, 25, 0.3, 1e-2, GCG_PRECISION_FLOAT, GCG_KEEP_ALL, 0, 0, 8, 3, 2},
    {"soft-impute in double", 120, 100, 30, 0.3, 1e-3, GCG_PRECISION_DOUBLE, GCG_KEEP_ALL, 0, 0, 5, 3, 2},
    {"soft-impute, lambda 0", 120, 100, 30, 0, 1e-2, GCG_PRECISION_DOUBLE, GCG_KEEP_ALL, 0, 0, 3, 3, 2},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* In the order of kind.solver, and a kind of each: of the larger problem, of the smaller one. */
static gcg_status (*const solvers[])(const gcg_csr *x, const gcg_solver_settings *set,
                                     gcg_solver_result *result,
                                     gcg_err *err) = {gcg_complete, gcg_als_cg, gcg_soft_impute};
enum { GCG, ALS_CG, SOFT_IMPUTE, SOLVERS };
static const kind *const larger[] = {&kinds[0], &kinds[10], &kinds[12]}, *const smaller[] = {&kinds[7],
                                                                                             &kinds[11],
                                                                                             &kinds[13]};

static gcg_solver_settings settings_of(const kind *k, const gcg_csr *x)
{
    gcg_solver_settings set = gcg_solver_settings_defaults();
    double lambda_max;
    ck_assert_int_eq(gcg_lambda_max(x, 1, NULL, &lambda_max, NULL), GCG_OK);
    set.lambda = k->ratio * lambda_max;
    set.gap = k->gap;
    set.precision = k->precision;
    set.ratings_kept = k->kept;
    set.plain = k->plain;
    set.atoms = k->atoms;
    set.rank = k->rank;
    set.sizes.pairs = k->pairs;
    set.max_iter = MOST - 2;
    return set;
}

static gcg_status solve(const kind *k, const gcg_csr *x, gcg_solver_settings set, recorder *rec, int copy,
                        store *from, gcg_solver_result *result, gcg_err *err)
{
    gcg_state_stream in = {0, get, from};
    gcg_checkpoints checkpoints = {copy, due, write_state, rec, from ? &in : NULL};
    if (from) from->at = 0;
    set.progress = report;
    set.progress_user = rec;
    set.checkpoints = &checkpoints;
    return solvers[k->solver](x, &set, result, err);
}

static void same_progress(const gcg_progress *a, const gcg_progress *b)
{
    ck_assert_int_eq(a->iter, b->iter);
    ck_assert_double_eq(a->objective, b->objective);
    ck_assert(a->dual == b->dual || (isnan(a->dual) && isnan(b->dual)));
    ck_assert(a->gap == b->gap || (isnan(a->gap) && isnan(b->gap)));
    ck_assert_double_eq(a->nuc_norm, b->nuc_norm);
    ck_assert_double_eq(a->train_rmse, b->train_rmse);
    ck_assert_double_eq(a->passes, b->passes);
    ck_assert_double_eq(a->probability, b->probability);
    ck_assert_int_eq(a->matvecs, b->matvecs);
    ck_assert_int_eq(a->rank, b->rank);
    ck_assert_int_eq(a->rule, b->rule);
}

static void same_factors(const gcg_factors *a, const gcg_factors *b)
{
    ck_assert_int_eq(a->k, b->k);
    ck_assert_int_eq(a->type, b->type);
    ck_assert_mem_eq(a->data, b->data, (size_t)a->rows * (size_t)a->stride * (size_t)a->type);
}

static void same_result(const gcg_solver_result *a, const gcg_solver_result *b)
{
    ck_assert_int_eq(a->stop, b->stop);
    same_progress(&a->last, &b->last);
    same_factors(&a->u, &b->u);
    same_factors(&a->v, &b->v);
    ck_assert_mem_eq(a->singular_values, b->singular_values, (size_t)a->u.k * sizeof(double));
}

/* ---- runs that go on ---- */

START_TEST(a_run_that_goes_on_from_any_checkpoint_meets_the_same_bytes)
{
    const kind *k = &kinds[_i];
    gcg_csr x = make(k->rows, k->cols, k->degree);
    gcg_solver_settings set = settings_of(k, &x);
    recorder whole = {.interrupt_at = -1};
    gcg_solver_result want, have;
    gcg_dtype first = gcg_solver_first_type(&x, &set);
    ck_assert_int_eq(solve(k, &x, set, &whole, 0, NULL, &want, NULL), GCG_OK);
    if (k->precision == GCG_PRECISION_AUTO) ck_assert_int_ne(first, want.u.type);
    ck_assert_int_ge(want.last.iter, 3);
    ck_assert_int_eq(whole.writes, want.last.iter + 1);
    for (int64_t from = 0; from <= want.last.iter; from++) {
        recorder rest = {.interrupt_at = -1};
        ck_assert_int_eq(solve(k, &x, set, &rest, 0, &whole.at[from], &have, NULL), GCG_OK);
        ck_assert_msg(whole.at[from].at == whole.at[from].length, "%s: the state is read whole", k->what);
        same_result(&want, &have);
        for (int64_t i = from; i <= want.last.iter; i++) same_progress(&whole.seen[i], &rest.seen[i]);
        gcg_solver_result_release(&have);
        recorder_release(&rest);
    }
    gcg_solver_result_release(&want);
    recorder_release(&whole);
    gcg_csr_release(&x);
}
END_TEST

/* The last state that was written. */
static store *last_written(recorder *rec)
{
    int i = MOST - 1;
    while (i >= 0 && rec->at[i].length == 0) i--;
    ck_assert_int_ge(i, 0);
    return &rec->at[i];
}

/* A run from there comes to the result that is wanted. */
static void goes_on(const kind *k, const gcg_csr *x, gcg_solver_settings set, store *from,
                    const gcg_solver_result *want)
{
    recorder rest = {.interrupt_at = -1, .due_from = INT64_MAX};
    gcg_solver_result have;
    ck_assert_int_gt(from->length, 0);
    ck_assert_int_eq(solve(k, x, set, &rest, 0, from, &have, NULL), GCG_OK);
    same_result(want, &have);
    gcg_solver_result_release(&have);
    recorder_release(&rest);
}

START_TEST(checkpoints_change_no_byte)
{
    const kind *k = larger[_i];
    gcg_csr x = make(k->rows, k->cols, k->degree);
    gcg_solver_settings set = settings_of(k, &x);
    recorder with = {.interrupt_at = -1};
    gcg_solver_result want, have;
    ck_assert_int_eq(solvers[k->solver](&x, &set, &want, NULL), GCG_OK);
    for (int copy = 0; copy < 2; copy++) {
        ck_assert_int_eq(solve(k, &x, set, &with, copy, NULL, &have, NULL), GCG_OK);
        same_result(&want, &have);
        gcg_solver_result_release(&have);
    }
    gcg_solver_result_release(&want);
    recorder_release(&with);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(a_signal_ends_in_a_checkpoint_between_iterations)
{
    const kind *k = larger[_i];
    gcg_csr x = make(k->rows, k->cols, k->degree);
    gcg_solver_settings set = settings_of(k, &x);
    recorder whole = {.interrupt_at = -1, .due_from = INT64_MAX};
    gcg_solver_result want, have;
    ck_assert_int_eq(solve(k, &x, set, &whole, 0, NULL, &want, NULL), GCG_OK);
    ck_assert_int_eq(whole.writes, 0);
    for (int t = 0; t < 6; t++) { /* with and without a copy, after reports 0, 1, 2 */
        recorder part = {.interrupt_at = t / 2, .due_from = INT64_MAX};
        ck_assert_int_eq(solve(k, &x, set, &part, t % 2, NULL, &have, NULL), GCG_OK);
        gcg_interrupt_clear();
        ck_assert_int_eq(have.stop, GCG_STOP_SIGNAL);
        ck_assert_ptr_null(have.u.data);
        ck_assert_int_eq(part.writes, 1);
        /* a copy is of the iteration's beginning; without one the iteration is finished first */
        goes_on(k, &x, set, &part.at[t / 2 + !(t % 2)], &want);
        recorder_release(&part);
    }
    gcg_solver_result_release(&want);
    recorder_release(&whole);
    gcg_csr_release(&x);
}
END_TEST

static double pass_clock(void)
{
    return 1000.0 * (double)gcg_kernels_sweeps();
}

START_TEST(a_time_limit_at_any_moment_leaves_a_checkpoint_of_the_unbroken_run)
{
    const kind *k = larger[GCG];
    gcg_csr x = make(k->rows, k->cols, k->degree);
    gcg_solver_settings set = settings_of(k, &x);
    recorder whole = {.interrupt_at = -1, .due_from = INT64_MAX};
    gcg_solver_result want, have;
    gcg_clock_replace(pass_clock);
    int64_t begin = gcg_kernels_sweeps();
    ck_assert_int_eq(solve(k, &x, set, &whole, 0, NULL, &want, NULL), GCG_OK);
    int64_t all = gcg_kernels_sweeps() - begin;
    for (int64_t limit = 0; limit < all - 8; limit += 11) {
        recorder part = {.interrupt_at = -1, .due_from = INT64_MAX};
        gcg_solver_settings limited = set;
        limited.max_time = 1000.0 * ((double)limit + 0.5);
        ck_assert_int_eq(solve(k, &x, limited, &part, 1, NULL, &have, NULL), GCG_OK);
        ck_assert_int_eq(have.stop, GCG_STOP_MAX_TIME);
        ck_assert_ptr_nonnull(have.u.data);
        ck_assert_int_eq(part.writes, 1);
        gcg_solver_result_release(&have);
        goes_on(k, &x, set, last_written(&part), &want);
        recorder_release(&part);
    }
    gcg_clock_replace(NULL);
    gcg_solver_result_release(&want);
    recorder_release(&whole);
    gcg_csr_release(&x);
}
END_TEST

static double ticks; /* calls of tick() */
static double tick(void)
{
    return ticks++;
}

START_TEST(a_time_limit_at_any_moment_of_a_comparator_does_so_too)
{
    const kind *k = smaller[_i];
    gcg_csr x = make(k->rows, k->cols, k->degree);
    gcg_solver_settings set = settings_of(k, &x), limited = set;
    recorder whole = {.interrupt_at = -1, .due_from = INT64_MAX};
    gcg_solver_result want, have;
    int runs = 0, step = k->solver == ALS_CG ? 97 : 1; /* it looks at the clock before each row */
    ck_assert_int_eq(solve(k, &x, set, &whole, 0, NULL, &want, NULL), GCG_OK);
    gcg_par_set_threads(1);
    gcg_clock_replace(tick);
    for (limited.max_time = 0.5;; limited.max_time += step, runs++) {
        recorder part = {.interrupt_at = -1, .due_from = INT64_MAX};
        ck_assert_int_eq(solve(k, &x, limited, &part, 1, NULL, &have, NULL), GCG_OK);
        int over = have.stop != GCG_STOP_MAX_TIME;
        if (over) same_result(&want, &have);
        ck_assert_ptr_nonnull(have.u.data);
        ck_assert_int_eq(part.writes, !over);
        gcg_solver_result_release(&have);
        if (over) break;
        goes_on(k, &x, set, last_written(&part), &want);
        recorder_release(&part);
    }
    ck_assert_int_gt(runs, 10);
    gcg_clock_replace(NULL);
    gcg_solver_result_release(&want);
    recorder_release(&whole);
    gcg_csr_release(&x);
}
END_TEST

/* ---- a signal in the bound of a comparator, which comes when all else is done ---- */

static void interrupt_proof(const char *phase, double done, void *user)
{
    (void)done;
    (void)user;
    if (strcmp(phase, "certify") == 0) gcg_interrupt_request();
}

START_TEST(a_signal_in_the_bound_of_a_comparator_is_heard_where_its_state_is_kept)
{
    const kind *k = smaller[_i];
    gcg_csr x = make(k->rows, k->cols, k->degree);
    gcg_solver_settings set = settings_of(k, &x), signalled = set;
    recorder none = {.interrupt_at = -1, .due_from = INT64_MAX}, part = none;
    gcg_solver_result want, have;
    signalled.phase = interrupt_proof;
    ck_assert_int_eq(solve(k, &x, set, &none, 0, NULL, &want, NULL), GCG_OK);
    ck_assert_int_eq(want.last.rule, GCG_CERT_CHOLESKY);
    ck_assert_int_eq(solve(k, &x, signalled, &none, 0, NULL, &have, NULL), GCG_OK);
    same_result(&want, &have);
    ck_assert_int_eq(none.writes, 0);
    gcg_solver_result_release(&have);
    gcg_interrupt_clear();

    ck_assert_int_eq(solve(k, &x, signalled, &part, 1, NULL, &have, NULL), GCG_OK);
    gcg_interrupt_clear();
    ck_assert_int_eq(have.stop, GCG_STOP_SIGNAL);
    ck_assert_ptr_null(have.u.data);
    ck_assert_int_eq(part.writes, 1);
    ck_assert_int_eq(solve(k, &x, set, &none, 0, &part.at[want.last.iter], &have, NULL), GCG_OK);
    same_result(&want, &have);
    gcg_solver_result_release(&have);

    ck_assert_int_eq(solvers[k->solver](&x, &signalled, &have, NULL), GCG_OK); /* without checkpoints */
    gcg_interrupt_clear();
    ck_assert_int_eq(have.stop, GCG_STOP_SIGNAL);
    same_factors(&want.u, &have.u);
    ck_assert_int_eq(have.last.rule, GCG_CERT_NONE);
    ck_assert(isnan(have.last.dual) && isnan(have.last.gap) && have.last.probability == 0);
    gcg_solver_result_release(&want);
    gcg_solver_result_release(&have);
    recorder_release(&none);
    recorder_release(&part);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(the_seconds_of_a_resumed_run_go_on)
{
    const kind *k = smaller[_i ? SOFT_IMPUTE : GCG]; /* the rows of als-cg are no passes */
    gcg_csr x = make(k->rows, k->cols, k->degree);
    gcg_solver_settings set = settings_of(k, &x);
    recorder whole = {.interrupt_at = -1}, rest = whole;
    gcg_solver_result want, have;
    gcg_clock_replace(pass_clock);
    ck_assert_int_eq(solve(k, &x, set, &whole, 0, NULL, &want, NULL), GCG_OK);
    ck_assert_int_eq(solve(k, &x, set, &rest, 0, &whole.at[2], &have, NULL), GCG_OK);
    gcg_clock_replace(NULL);
    ck_assert_double_gt(want.last.time_s, 0);
    ck_assert_double_eq(have.last.time_s, want.last.time_s);
    gcg_solver_result_release(&want);
    gcg_solver_result_release(&have);
    recorder_release(&whole);
    recorder_release(&rest);
    gcg_csr_release(&x);
}
END_TEST

/* ---- what fails ---- */

START_TEST(an_error_of_the_writer_ends_the_run)
{
    const kind *k = smaller[_i];
    gcg_csr x = make(k->rows, k->cols, k->degree);
    gcg_solver_settings set = settings_of(k, &x);
    recorder rec = {.interrupt_at = -1, .due_from = 1, .fail = GCG_ERR_IO};
    gcg_solver_result result;
    gcg_err err;
    ck_assert_int_eq(solve(k, &x, set, &rec, 0, NULL, &result, &err), GCG_ERR_IO);
    ck_assert_str_eq(err.text, "no checkpoint");
    ck_assert_ptr_null(result.u.data);
    recorder_release(&rec);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(a_state_that_is_cut_or_cannot_be_right_is_refused)
{
    const kind *k = smaller[_i];
    gcg_csr x = make(k->rows, k->cols, k->degree);
    gcg_solver_settings set = settings_of(k, &x);
    recorder whole = {.interrupt_at = -1}, rest = whole;
    gcg_solver_result result;
    gcg_err err;
    ck_assert_int_eq(solve(k, &x, set, &whole, 0, NULL, &result, NULL), GCG_OK);
    gcg_solver_result_release(&result);
    int64_t length = whole.at[2].length, blocks = gcg_mem_blocks();
    for (int64_t cut = 0; cut < length; cut += cut < 300 ? 1 : 997) {
        store part = whole.at[2];
        part.length = cut;
        ck_assert_int_eq(solve(k, &x, set, &rest, 0, &part, &result, &err), GCG_ERR_IO);
    }
    for (int64_t at = 8; at < 300; at += 4) { /* behind the number of iterations */
        store part = {.bytes = naive_alloc((size_t)length, 1), .length = length};
        memcpy(part.bytes, whole.at[2].bytes, (size_t)length);
        memset(part.bytes + at, 0x7f, 4);
        set.max_iter = 1;
        gcg_status status = solve(k, &x, set, &rest, 0, &part, &result, &err);
        ck_assert_msg(status == GCG_OK || status == GCG_ERR_DATA || status == GCG_ERR_IO ||
                          status == GCG_ERR_INTERNAL,
                      "%d", status);
        gcg_solver_result_release(&result);
        free(part.bytes);
    }
    ck_assert_int_eq(gcg_mem_blocks(), blocks);
    recorder_release(&whole);
    recorder_release(&rest);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(a_failing_allocation_leaves_nothing_behind)
{
    const kind *k = smaller[_i];
    gcg_csr x = make(60, 50, 20);
    gcg_solver_settings set = settings_of(k, &x);
    recorder whole = {.interrupt_at = -1}, rest = {.interrupt_at = -1, .due_from = INT64_MAX};
    gcg_solver_result result;
    gcg_err err;
    set.max_iter = 4;
    ck_assert_int_eq(solve(k, &x, set, &whole, 0, NULL, &result, NULL), GCG_OK);
    gcg_solver_result_release(&result);
    int64_t blocks = gcg_mem_blocks();
    for (int64_t n = 1;; n++) {
        gcg_mem_fail_at(n);
        gcg_status status = solve(k, &x, set, &rest, 1, &whole.at[2], &result, &err);
        int over = status == GCG_OK;
        gcg_mem_fail_at(0);
        gcg_solver_result_release(&result);
        ck_assert_int_eq(gcg_mem_blocks(), blocks);
        if (over) break;
        ck_assert_int_eq(status, GCG_ERR_NOMEM);
    }
    recorder_release(&whole);
    recorder_release(&rest);
    gcg_csr_release(&x);
}
END_TEST

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("resume");
    TCase *tests = tcase_create("resume");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, a_run_that_goes_on_from_any_checkpoint_meets_the_same_bytes, 0, KINDS);
    tcase_add_loop_test(tests, checkpoints_change_no_byte, 0, SOLVERS);
    tcase_add_loop_test(tests, a_signal_ends_in_a_checkpoint_between_iterations, 0, SOLVERS);
    tcase_add_test(tests, a_time_limit_at_any_moment_leaves_a_checkpoint_of_the_unbroken_run);
    tcase_add_loop_test(tests, a_time_limit_at_any_moment_of_a_comparator_does_so_too, ALS_CG, SOLVERS);
    tcase_add_loop_test(tests, a_signal_in_the_bound_of_a_comparator_is_heard_where_its_state_is_kept, ALS_CG,
                        SOLVERS);
    tcase_add_loop_test(tests, the_seconds_of_a_resumed_run_go_on, 0, 2);
    tcase_add_loop_test(tests, an_error_of_the_writer_ends_the_run, 0, SOLVERS);
    tcase_add_loop_test(tests, a_state_that_is_cut_or_cannot_be_right_is_refused, 0, SOLVERS);
    tcase_add_loop_test(tests, a_failing_allocation_leaves_nothing_behind, 0, SOLVERS);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
