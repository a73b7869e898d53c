/* The memory plan of a fit: what it may use, what it will need, and what it gives up to stay within. See
 * fit.h; the needs are solvers/plan.h's. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mapping.h"
#include "base/mem.h"
#include "cmd/fit.h"
#include "cmd/memory_left.h"
#include "cmd/report.h"
#include "solvers/als_cg.h"
#include "solvers/soft_impute.h"

/* In the order of fit_solver_names. */
static gcg_needs_of *const needs_of[] = {gcg_complete_needs, gcg_als_cg_needs, gcg_soft_impute_needs};

void fit_plan_reading(const fit_settings *s)
{
    const int64_t least = 64 << 20; /* buffers of reading, which the plan does not count */
    if (s->has_memory) gcg_mem_limit(s->max_memory > least ? s->max_memory : least);
}

static void add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    if (length > 0 && length + 2 < size) {
        memcpy(text + length, ", ", 3);
        length += 2;
    }
    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

/* What was given up, in words; "full" when nothing was. */
static void describe(const gcg_solver_settings *set, char *text, size_t size)
{
    static const char *const kept[] = {
        [GCG_KEEP_ALL] = "", [GCG_KEEP_RESIDUAL] = "residual", [GCG_KEEP_NONE] = "none"};
    const gcg_solver_sizes *now = &set->sizes, full = gcg_solver_sizes_full();
    *text = '\0';
    if (now->pairs < full.pairs) add(text, size, "pairs %d", now->pairs);
    if (now->proof_panel < full.proof_panel) add(text, size, "proof panel %" PRId32, now->proof_panel);
    if (set->ratings_kept) add(text, size, "arrays %s", kept[set->ratings_kept]);
    if (now->block < full.block) add(text, size, "block %" PRId32, now->block);
    if (now->depth < full.depth) add(text, size, "depth %" PRId32, now->depth);
    if (!*text) add(text, size, "full");
}

/* Values that centring turns into doubles, or copies from a mapped store; old and new ones are there at once.
 */
static void count_centring(const fit_settings *s, const gcg_csr *x, memory_table *t, gcg_plan_data *d)
{
    int mapped = gcg_csr_values_are_mapped(x), wide = fit_wants_double(s, x);
    if (s->center == GCG_CENTER_NONE || (!mapped && (!wide || !x->val_f))) return;
    d->value_bytes = wide ? sizeof(double) : sizeof(float);
    if (fit_centers_reading(s, x)) return;
    int64_t old = x->nnz * (int64_t)(x->val_f ? sizeof(float) : sizeof(double)),
            new = x->nnz *(int64_t)d->value_bytes;
    t->centring = t->store + new;
    t->store += mapped && !gcg_mapping_is_kept(x->map) ? new : new - old;
}

/* The rank that the solver cannot do without: comparators work at it, and so does lambda = 0. */
static int rank_is_given(const fit_settings *s)
{
    return s->solver != FIT_SOLVER_GCG || fit_has_no_penalty(s);
}

/* Float factors that could not go on in double stay what they are. */
static void stay_in_float(const gcg_plan_data *d, int64_t room, int32_t rank, gcg_solver_settings *set)
{
    gcg_plan_data wide = *d;
    wide.type = GCG_DOUBLE;
    gcg_needs needs = gcg_complete_needs(&wide, set, rank);
    if (set->precision == GCG_PRECISION_AUTO && d->type == GCG_FLOAT && gcg_needs_total(&needs) > room)
        set->precision = GCG_PRECISION_FLOAT;
}

static void choose(const fit_settings *s, const gcg_plan_data *d, int64_t room, gcg_solver_settings *set,
                   fit_plan *p)
{
    int32_t least = d->rows < d->cols ? d->rows : d->cols;
    if (s->solver != FIT_SOLVER_GCG) return;
    gcg_plan_shrink(d, room, p->rank, set);
    if (!rank_is_given(s)) {
        p->cap = gcg_plan_rank(d, gcg_complete_needs, room, set);
        if (p->cap == 0) p->rank = 1; /* not even that */
    }
    if (p->cap >= (set->rank > 0 ? set->rank : least)) p->cap = 0;
    if (p->cap > 0) set->rank = p->cap;
    if (p->cap > 0 && p->cap < p->rank) p->rank = p->cap;
    stay_in_float(d, room, p->rank, set);
    gcg_plan_proof(d, p->rank, set);
}

static gcg_status refuse(const fit_plan *p, gcg_err *err)
{
    char whole[32], part[32];
    int64_t bytes = memory_total(&p->table);
    return gcg_fail(err, GCG_ERR_NOMEM, NULL, 0, 0,
                    "out of memory: needs about %s (%" PRId64 " bytes) at rank %" PRId32
                    ", %s allows %s: raise it, or lower --rank",
                    memory_text(whole, bytes), bytes, p->rank, p->limiter, memory_text(part, p->limit));
}

/* Sizes and needs within the limit; the store counts as it stands in the table. */
static void plan(const fit_settings *s, const gcg_csr *x, gcg_solver_settings *set, fit_plan *p)
{
    char name[8];
    gcg_plan_data data = gcg_plan_data_of(x, set);
    data.copies = (s->keep == FIT_KEEP_BEST) + (set->start_u != NULL) + (s->command != FIT_FIT) +
                  (s->command == FIT_PATH) + 2 * s->lambda_auto; /* the model before; the best one */
    data.states = s->max_time < INFINITY && fit_checkpoint_name(s, name, sizeof name);
    count_centring(s, x, &p->table, &data);
    if (!p->resumed) choose(s, &data, p->limit - memory_without_solver(&p->table), set, p);
    p->table.solver = needs_of[s->solver](&data, set, p->rank);
    if (!p->resumed) describe(set, p->text, sizeof p->text);
}

/* What a mapped store's pages cost that are given back behind each pass, and read again in the next: twice
 * the time. What is given up instead must cost less (plan.h, in this order). */
static int costs_less_than_reading_again(const fit_plan *p, int32_t rank, const gcg_solver_settings *set)
{
    return memory_total(&p->table) <= p->limit && p->rank == rank && set->sizes.pairs > 0 &&
           set->ratings_kept != GCG_KEEP_NONE;
}

/* A mapped store stays in memory where there is room for it. */
static void plan_mapped(const fit_settings *s, const gcg_csr *x, gcg_solver_settings *set, fit_plan *p)
{
    const gcg_solver_settings full = *set;
    const fit_plan before = *p;
    gcg_mapping_keep(x->map, 1);
    p->table.store = gcg_csr_resident_bytes(x);
    plan(s, x, set, p);
    if (p->resumed ? memory_total(&p->table) <= p->limit : costs_less_than_reading_again(p, before.rank, set))
        return;
    gcg_mapping_keep(x->map, 0);
    *set = full;
    *p = before;
    p->table.store = gcg_csr_resident_bytes(x);
    plan(s, x, set, p);
    if (p->resumed) return;
    if (strcmp(p->text, "full") == 0) *p->text = '\0';
    add(p->text, sizeof p->text, "mapped");
}

/* The rank to plan for from a start: at least its own. */
static int32_t start_rank(const gcg_csr *x, const gcg_solver_settings *set)
{
    int32_t usual = memory_rank(x, 0), own = memory_rank(x, set->start_u->k);
    return own > usual ? own : usual;
}

/* The part of the ratings that is fitted beside all of them, and what it leaves out. */
static void count_part(const fit_settings *s, const gcg_csr *x, memory_table *t)
{
    int64_t pair = 2 * (int64_t)sizeof(int32_t) + (int64_t)sizeof(double),
            value = fit_wants_double(s, x) ? sizeof(double) : sizeof(float);
    if (s->command != FIT_CV && !s->lambda_auto) return;
    t->pairs +=
        x->nnz * (value + (int64_t)sizeof(int32_t)) + ((int64_t)x->rows + 1) * (int64_t)sizeof(int64_t);
    if (x->weight) t->pairs += x->nnz * (int64_t)sizeof *x->weight;
    t->pairs += x->nnz / (s->command == FIT_CV ? s->folds : 1) * pair;
}

gcg_status fit_plan_memory(const fit_settings *s, const fit_data *d, gcg_solver_settings *set, fit_plan *p,
                           gcg_err *err)
{
    const gcg_csr *x = &d->ratings.x;
    p->limit = s->max_memory;
    p->limiter = "--max-memory";
    if (!p->resumed) p->rank = memory_rank(x, s->rank);
    if (!s->has_rank && set->start_u) p->rank = start_rank(x, set);
    gcg_mem_limit(0);
    if (!s->has_memory) p->limit = memory_left("", &p->limiter);
    p->table = memory_of_data(&d->ratings);
    p->table.pairs = (d->test.pairs.n + d->valid.pairs.n) * (int64_t)(2 * sizeof(int32_t) + sizeof(double));
    count_part(s, x, &p->table);
    if (x->map)
        plan_mapped(s, x, set, p);
    else
        plan(s, x, set, p);
    return memory_total(&p->table) > p->limit ? refuse(p, err) : GCG_OK;
}

static void print_line(const char *key, int64_t bytes, void *user)
{
    (void)user;
    printf("memory_%s\t%" PRId64 "\n", key, bytes);
}

static void note_line(const char *key, int64_t bytes, void *user)
{
    char text[32];
    (void)user;
    if (bytes > 0) report_note("memory for %s: %s", key, memory_text(text, bytes));
}

void fit_plan_tell(const fit_settings *s, const fit_plan *p)
{
    char whole[32], part[32], limit[32];
    int64_t bytes = memory_total(&p->table);
    if (s->dry_run) {
        printf("memory_bytes\t%" PRId64 "\nmemory_plan\t%s\nmemory_rank\t%" PRId32 "\n", bytes, p->text,
               p->rank);
        memory_list(&p->table, print_line, NULL);
    }
    if (s->verbose || s->dry_run || s->has_memory)
        report_note("memory: about %s at rank %" PRId32 ", of these %s for the ratings",
                    memory_text(whole, bytes), p->rank, memory_text(part, p->table.store));
    if (s->verbose) memory_list(&p->table, note_line, NULL);
    memory_text(limit, p->limit);
    if (strcmp(p->text, "full") != 0)
        report_note("memory: %s allows %s: slower, with %s", p->limiter, limit, p->text);
    if (p->cap > 0 && (p->cap < MEMORY_RANK || s->has_rank))
        report_warning("memory: %s allows %s, which is enough for rank %" PRId32 " at most", p->limiter,
                       limit, p->cap);
}
