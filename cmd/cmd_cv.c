/* gcg-mc cv: cross-validation. The folds are fitted as gcg-mc path fits: see fit.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/fit.h"
#include "cmd/report.h"

typedef struct {
    fit_run run;
    fit_lambdas lambdas;
    double *rmse;                       /* [fold * lambdas.count + k] */
    int fold;                           /* that is held out now */
    int reached;                        /* lambdas that every fold has come to */
    int count, rises, cut, not_reached; /* of the fold */
    fit_part part;                      /* of this fold */
    int best, largest; /* lambdas: smallest mean; the largest within one standard error of it */
} cv;

static gcg_status take_fit(fit_run *f, int *stop, void *user)
{
    cv *c = user;
    char lambda[32], rmse[32];
    double *now = c->rmse + (int64_t)c->fold * c->lambdas.count + c->count;
    c->cut = fit_was_cut(&f->result);
    if (c->cut) return GCG_OK;
    *now = fit_walk_row(f)->valid_rmse;
    c->not_reached += !fit_reached(&f->result);
    c->rises = c->count > 0 && *now > now[-1] ? c->rises + 1 : 0;
    c->count++;
    *stop = f->s.lambdas.count == 0 && c->rises >= FIT_RISES; /* the program's own lambdas */
    fit_log_clear(&f->log);
    printf("%s\t%d\t%" PRId64 "\t%s\n", report_number(lambda, f->set.lambda), c->fold + 1, c->part.pairs.n,
           report_number(rmse, *now));
    fflush(stdout); /* what is lost is found at the end */
    return GCG_OK;
}

/* The grid is that of all ratings. */
static gcg_status find_lambdas(cv *c)
{
    fit_run *f = &c->run;
    fit_part all;
    double lambda_max = 0;
    int cut = 0;
    gcg_status status = GCG_OK;
    if (f->s.lambdas.count == 0) {
        status = fit_part_init(f, (gcg_center_kind)f->s.center, 0, 0, &all, &f->err);
        if (!status) status = fit_walk_lambda_max(f, &all.d.ratings.x, &lambda_max, &cut);
        fit_part_release(&all);
    }
    c->lambdas = fit_lambdas_of(&f->s, lambda_max);
    c->reached = c->lambdas.count;
    c->rmse = gcg_mem_alloc_array(f->s.folds * c->lambdas.count, sizeof *c->rmse);
    return status || c->rmse ? status : gcg_fail_memory(&f->err, "folds");
}

static gcg_status fit_fold(cv *c)
{
    fit_run *f = &c->run;
    double k = (double)f->s.folds;
    gcg_status status =
        fit_part_init(f, (gcg_center_kind)f->s.center, c->fold / k, (c->fold + 1) / k, &c->part, &f->err);
    if (!status && c->part.pairs.n == 0)
        status = gcg_fail(&f->err, GCG_ERR_DATA, NULL, 0, 0,
                          "fold %d of %" PRId64 " has no ratings: fewer --folds", c->fold + 1, f->s.folds);
    c->count = c->rises = 0;
    if (!status) status = fit_walk(f, &c->part.d, &c->lambdas, take_fit, c);
    c->cut |= f->walk.left;
    if (c->count < c->reached) c->reached = c->count;
    gcg_solver_result_release(&f->result);
    fit_part_release(&c->part);
    return status;
}

/* Mean over the folds at lambda k, and its standard error. */
static double mean_of(const cv *c, int k, double *error)
{
    double folds = (double)c->run.s.folds, mean = 0, squares = 0;
    for (int i = 0; i < c->run.s.folds; i++) mean += c->rmse[(int64_t)i * c->lambdas.count + k] / folds;
    for (int i = 0; i < c->run.s.folds; i++) {
        double away = c->rmse[(int64_t)i * c->lambdas.count + k] - mean;
        squares += away * away;
    }
    *error = sqrt(squares / (folds - 1) / folds);
    return mean;
}

static void choose(cv *c)
{
    double least = INFINITY, within = INFINITY, error;
    for (int k = 0; k < c->reached; k++) {
        double mean = mean_of(c, k, &error);
        if (!(mean < least)) continue;
        c->best = k;
        least = mean;
        within = mean + error;
    }
    while (c->largest < c->best && mean_of(c, c->largest, &error) > within) c->largest++;
}

static void print_means(const cv *c)
{
    char lambda[32], mean[32], se[32];
    double error;
    int64_t n = c->run.d.ratings.x.nnz;
    printf("\n\nlambda\tn\trmse\tse\n");
    for (int k = 0; k < c->reached; k++) {
        report_number(mean, mean_of(c, k, &error));
        printf("%s\t%" PRId64 "\t%s\t%s\n", report_number(lambda, c->lambdas.at[k]), n, mean,
               report_number(se, error));
    }
}

static void tell(const cv *c, const char *what, int k)
{
    double error, mean = mean_of(c, k, &error);
    report_note("%s: lambda %.10g, RMSE %.6g, standard error %.2g", what, c->lambdas.at[k], mean, error);
}

/* All ratings at the lambda chosen. */
static gcg_status refit(cv *c)
{
    fit_run *f = &c->run;
    int64_t n = f->d.ratings.x.nnz;
    int chosen = f->s.select == FIT_SELECT_1SE ? c->largest : c->best;
    gcg_status status = fit_prepare(f);
    if (status) return status;
    f->log.silent = 0;
    f->set.lambda = fit_lambda_for(c->lambdas.at[chosen], n, n - n / f->s.folds);
    report_note("all ratings: lambda %.10g", f->set.lambda);
    fit_log_head_data(&f->log);
    fit_log_head(&f->log, &f->plan, f->lambda_max, f->threads);
    fit_log_begin(&f->log, f->set.lambda, f->set.gap);
    return fit_solve(f, &f->d.ratings.x);
}

/* The work that uses threads, in one session. */
static void work(void *ctx)
{
    cv *c = ctx;
    fit_run *f = &c->run;
    fit_checkpoint_begin(f);
    f->log.silent = 1;
    fit_start_clock(f);
    f->status = find_lambdas(c);
    puts("lambda\tfold\tn\trmse");
    for (c->fold = 0; c->fold < f->s.folds && !f->status && !c->cut; c->fold++) f->status = fit_fold(c);
    if (f->status || c->cut) return;
    choose(c);
    print_means(c);
    fit_log_clear(&f->log);
    tell(c, "smallest mean RMSE", c->best);
    tell(c, "largest lambda within one standard error", c->largest);
    if (f->s.output) f->status = refit(c);
}

/* The rows that there are stay on standard output; the run that goes on prints all of them. */
static int leave(cv *c)
{
    int lost = report_close_stdout(), code = fit_leave(&c->run);
    return lost ? lost : code;
}

static int run(cv *c)
{
    fit_run *f = &c->run;
    if (fit_checkpoint_enable(f)) return report_error(&f->err, NULL);
    int code = fit_begin(f);
    if (code || f->s.dry_run) return code;
    gcg_par_session(work, c);
    fit_log_clear(&f->log);
    if (f->status) return report_error(&f->err, NULL);
    if (f->walk.left) return leave(c);
    if (c->cut) report_warning("stopped before every fold was fitted: no lambda is chosen");
    if (c->not_reached > 0) report_warning("%d fits did not reach the gap %g", c->not_reached, f->s.gap);
    code = c->cut || c->not_reached > 0 ? FIT_NOT_REACHED : 0;
    if (f->s.output && !c->cut) {
        int written = fit_write_all(f);
        if (written) code = written;
    }
    int lost = report_close_stdout();
    return lost ? lost : code;
}

int cmd_cv(int argc, char **argv)
{
    cv c = {0};
    int code = fit_parse(argc, argv, &command_cv, &c.run.s);
    if (code) return code < 0 ? 0 : code;
    report_say = (report_level){.quiet = c.run.s.quiet, .verbose = c.run.s.verbose};
    code = run(&c);
    gcg_mem_free(c.rmse);
    fit_end(&c.run);
    return code;
}
