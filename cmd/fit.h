/* gcg-mc fit: what its files share, with each other and with path and cv.
 *
 * cmd_fit.c       the flow of fit
 * fit_run.c       its steps, which path and cv share: reading, planning, centring, solving
 * fit_options.c   the option table and its cross checks
 * fit_resume.c    the options of a checkpoint, and those of a fit that goes on from it
 * fit_checkpoint.c  checkpoints: when, and what is in them
 * fit_data.c      training and test data, centring
 * fit_start.c     --init: where the solver starts
 * fit_memory.c    the memory plan
 * fit_log.c       the log, scores of the iterates
 * fit_progress.c  the progress line, times by phase
 * fit_walk.c      fits at falling lambdas, each from the one before; going on in the midst of them
 * fit_auto.c      --lambda auto
 * fit_outcome.c   the model, MODEL.done, the closing report */
#ifndef GCG_CMD_FIT_H
#define GCG_CMD_FIT_H

#include <stdio.h>

#include "cmd/memory.h"
#include "cmd/reading.h"
#include "cmd/scoring.h"
#include "io/checkpoint.h"
#include "io/ratings.h"
#include "maths/center.h"
#include "maths/score.h"
#include "solvers/solver.h"

enum { FIT_LAMBDAS = 500 /* the most of a path */ };
typedef struct {
    double at[FIT_LAMBDAS]; /* falling */
    int count;
} fit_lambdas;

typedef struct {
    unsigned command; /* FIT_FIT, FIT_PATH, FIT_CV */
    reading_settings reading;
    fit_lambdas lambdas; /* none: n_lambdas of them, from lambda_max down to min_ratio of it */
    int64_t n_lambdas;
    double min_ratio;
    int has_n_lambdas, has_min_ratio, keep_all, select;
    int64_t folds;
    double lambda, lambda_ratio, gap, max_time, holdout;
    int lambda_auto, has_center, has_lambda, has_ratio, has_holdout, has_rank, has_memory;
    int64_t max_iter, rank, atoms, max_memory;
    int precision, center, keep, solver, threads;
    uint64_t seed;
    const char *valid, *test, *test_pairs, *init, *output, *log, *checkpoint, *resume;
    double checkpoint_every;
    const char *given[OPT_MOST]; /* what was given for each option */
    char *resumed;               /* the options of the checkpoint, that they may point into */
    scoring_clip clip;
    gcg_norm norm; /* --norm-weights, --norm-smooth, --user-bias */
    int has_norm_weights, has_norm_smooth, has_user_bias;
    int plain, certify, quiet, verbose, dry_run;
    char **train;
    int train_count;
} fit_settings;

enum { FIT_FIT = 1, FIT_PATH = 2, FIT_CV = 4 };
enum { FIT_SELECT_MIN, FIT_SELECT_1SE };
enum { FIT_KEEP_LAST, FIT_KEEP_BEST };
/* The comparators come after gcg. */
enum { FIT_SOLVER_GCG, FIT_SOLVER_ALS_CG, FIT_SOLVER_SOFT_IMPUTE };
extern const char *const fit_precision_names[],
    *const fit_center_names[], *const fit_keep_names[], *const fit_solver_names[], *const fit_select_names[];

int cmd_fit(int argc, char **argv);
int cmd_path(int argc, char **argv);
int cmd_cv(int argc, char **argv);
/* 0 when the command can go on; else the exit code, -1 for --help. */
int fit_parse(int argc, char **argv, const opt_command *command, fit_settings *s);

/* lambda = 0: the rank alone is what limits the model. */
static inline int fit_has_no_penalty(const fit_settings *s)
{
    return s->has_lambda && s->lambda == 0;
}

/* Test or validation ratings, by row and column of the training store. */
typedef struct {
    const char *what; /* "test", "valid" */
    gcg_pairs pairs;
    int given;
} fit_set;

typedef struct {
    gcg_ratings ratings; /* centred after fit_arrange() */
    gcg_csr_stats stats; /* of the ratings before centring */
    gcg_margins margins;
    gcg_center center;
    fit_set test, valid;
    double read_seconds;
    struct fit_log *log; /* hears how far reading is */
} fit_data;

/* Reads everything, splits off the hold-out, warns. */
gcg_status fit_read(const fit_settings *s, fit_data *d, gcg_diag *diag, gcg_err *err);
/* 1 when centred ratings are kept as doubles: they are seldom exactly floats, and rounding them would show in
 * a small gap. */
int fit_wants_double(const fit_settings *s, const gcg_csr *x);
/* 1 when the ratings lie in a file that is not to stay in memory: they are centred whenever they are read. */
int fit_centers_reading(const fit_settings *s, const gcg_csr *x);
/* Subtracts the centre; for solver gcg the ratings are then in the order that passes go over fastest
 * (gcg_pass_tile), in which rows are not found any more. */
gcg_status fit_arrange(const fit_settings *s, fit_data *d, gcg_err *err);
void fit_data_release(fit_data *d);

/* Factors in the row order of the training store that the solver starts from; no data: it starts at 0. */
typedef struct {
    gcg_factors u, v;
} fit_start;

/* --init: the model's rows by id, of this type; rows without training ratings, and those it has not, are 0.
 * GCG_ERR_DATA for a file that is no model. */
gcg_status fit_start_read(const fit_settings *s, const fit_data *d, gcg_dtype type, fit_start *start,
                          gcg_err *err);
/* Views of it into the settings. */
void fit_start_use(const fit_start *start, gcg_solver_settings *set);
void fit_start_release(fit_start *start); /* twice is fine */

/* The iterate that will be written: the last one, or the best by validation. */
typedef struct {
    gcg_factors u, v; /* a copy, W = U V'; empty when it is the solver's last iterate */
    double *singular_values;
    gcg_progress at;
    double valid_rmse, test_rmse;
    int taken;
} fit_best;

/* How a fit uses memory. */
typedef struct {
    memory_table table;
    int64_t limit;
    const char *limiter; /* "--max-memory", "machine", "cgroup", "ulimit" */
    int32_t rank;        /* that is planned for */
    int32_t cap;         /* of the rank, by memory alone; 0 = none */
    char text[128];      /* what was given up: "pairs 2, block 64"; "full" */
    int resumed;         /* the sizes are those of a checkpoint */
} fit_plan;

/* Before reading: --max-memory holds there, too. */
void fit_plan_reading(const fit_settings *s);
/* After reading: the sizes, and a cap of the rank, go into the solver's settings; a plan that is resumed
 * keeps those of the checkpoint, on which the bytes of the result depend. GCG_ERR_NOMEM when nothing fits. */
gcg_status fit_plan_memory(const fit_settings *s, const fit_data *d, gcg_solver_settings *set, fit_plan *plan,
                           gcg_err *err);
/* --dry-run, --verbose, and what a user has to know. */
void fit_plan_tell(const fit_settings *s, const fit_plan *plan);

/* Times by phase, for --verbose. */
enum { FIT_PHASES = 10 };
typedef struct {
    const char *now;
    double start;
    struct {
        const char *name;
        double seconds;
    } phase[FIT_PHASES];
} fit_times;

/* What the progress line knows of the run: where it is, and how fast the gap falls. */
enum { FIT_PACE = 5 /* iterations that the gap's fall is taken from */ };
typedef struct {
    int64_t iter;    /* iterations done; -1: none yet */
    double deadline; /* gcg_clock_now() at which --max-time is over; INFINITY without */
    int count;       /* of the last iterations, oldest first: */
    double at[FIT_PACE], log_gap[FIT_PACE]; /* when each was told, and the logarithm of its gap */
    char figures[128];                      /* of the last iteration */
} fit_pace;

/* The log while the solver runs. */
typedef struct {
    int64_t lines;
    uint64_t sum;   /* of all bytes up to there */
    int32_t silent; /* iterations are not logged, and not scored */
} fit_log_place;

typedef struct fit_log {
    const fit_settings *s;
    const fit_data *d;
    FILE *file;       /* NULL: none, or lost */
    const char *name; /* for messages */
    int is_stdout, lost, lost_errno;
    int blocks;                   /* begun */
    fit_log_place at, mark;       /* its end; where the rows of the running solve begin */
    int silent;                   /* iterations are not logged, and not scored */
    int muted;                    /* a log that is gone on with has these lines already: nothing is written */
    int progress_line;            /* stderr is a terminal */
    int shares_terminal;          /* and the log goes there, too */
    double valid_rmse, test_rmse; /* of the last iterate */
    fit_best best;
    fit_times times;
    fit_pace pace;
    double shown; /* when the progress line was last written */
} fit_log;

/* RMSE of the iterate on a set; NAN when the set is empty or was not given. */
gcg_status fit_score(const fit_settings *s, const fit_data *d, const fit_set *set, const gcg_progress *p,
                     double *rmse, gcg_err *err);

gcg_status fit_log_open(fit_log *log, const fit_settings *s, const fit_data *d, gcg_err *err);
/* The lines that say what the ratings are; what is solved. */
void fit_log_head_data(fit_log *log);
void fit_log_head(fit_log *log, const fit_plan *plan, double lambda_max, int threads);
/* Before each solve: a new block, its lambda, the gap to reach, the column names. */
void fit_log_begin(fit_log *log, double lambda, double gap);
/* With --resume: a log that is there and begins with what is before log->mark is cut after the row of
 * iteration iter - 1 behind that, and muted until fit_log_mark(). Any other begins anew. */
void fit_log_resume(fit_log *log, int64_t iter);
/* Before each solve: its rows begin here. */
void fit_log_mark(fit_log *log, int64_t iter);
enum { FIT_COARSE = 100 /* 1 / the gap of fits that only have to choose: RMSEs have settled there */ };
/* For gcg_solver_settings: user is the fit_log. */
gcg_status fit_log_progress(const gcg_progress *progress, void *user, gcg_err *err);
void fit_log_phase(const char *phase, double done, void *user);
/* The progress line counts down to --max-time from now on. */
void fit_log_deadline(fit_log *log, double seconds);
/* Takes the progress line away: other messages may follow. */
void fit_log_clear(const fit_log *log);
/* An iteration was reported: its figures are shown from now on. */
void fit_progress_take(fit_log *to, const gcg_progress *p);
/* Seconds until the run ends, by the gap's fall or by --max-time; NAN where neither says anything. */
double fit_progress_left(const fit_pace *pace, double wanted_gap, double now);
/* After each solve: how its bound was guarded, why it stopped. */
void fit_log_end(fit_log *log, const gcg_solver_result *result);
/* GCG_ERR_IO when the log was lost to a write error (a closed pipe is none). */
gcg_status fit_log_close(fit_log *log, gcg_err *err);
void fit_log_release(fit_log *log);

void fit_best_release(fit_best *best);

/* A line about one solve of a walk. */
typedef struct {
    double lambda, valid_rmse, test_rmse;
    gcg_stop stop;
    gcg_progress at;
    double lambda_max; /* of its walk */
} fit_log_row;

/* Where a run of several solves is. One that goes on from a checkpoint goes through the solves that had ended
 * again, by their rows, so that all that follows from them need not be in the checkpoint. */
typedef struct {
    fit_log_row *row; /* the solves that have ended */
    int count, room, next;
    int replayed; /* the last one was a row of the checkpoint: result.last is known, its factors are not */
    int walking, left; /* inside fit_walk(); the last solve was left for a signal, with a checkpoint */
    double lambda_max; /* of the running walk; NAN where it is not known */
    fit_best best;     /* the model that the walk keeps, and the row that it is of */
    int best_row;
} fit_walk_state;

/* What --lambda auto chose. */
typedef struct {
    int made;
    int64_t held_out, tried; /* ratings, solves */
    double lambda;           /* of the best solve on the part */
    double valid_rmse;
} fit_choice;

/* Checkpoints of a run, and the one that it goes on from. Without a path there are none. */
typedef struct {
    char *path, *options;
    gcg_checkpoint_reader reader; /* --resume; it stands where the next function goes on reading */
    gcg_state_stream in;
    gcg_checkpoints hooks;
    /* fingerprints of the training ratings, of their weights, and of what the model is chosen by */
    uint64_t data, weights, valid;
    int64_t iter;        /* that the run goes on from */
    double last;         /* when the last one was written, or the solver began */
    int written, failed; /* of this run; the last one was not written, for the reason in err */
    gcg_err err;
} fit_checkpoint;

/* Everything of one run. */
typedef struct {
    fit_settings s;
    fit_data d;
    fit_log log;
    fit_start start;
    gcg_solver_settings set; /* after fit_begin(), but for a lambda that comes from lambda_max */
    fit_plan plan;
    fit_choice choice;
    fit_walk_state walk;
    gcg_solver_result result; /* of the last fit_solve() */
    gcg_diag diag;
    gcg_err err;
    double lambda_max; /* after fit_prepare(); NAN where it is not known */
    double deadline;   /* gcg_clock_now() at which --max-time is over; 0: it has not begun to count */
    int threads;
    gcg_status status; /* of the work inside the session */
    fit_checkpoint checkpoint;
} fit_run;

enum { FIT_NOT_REACHED = 3, FIT_CHECKPOINT_WRITTEN = 75, FIT_NOTHING_WRITTEN = 130 /* exit codes */ };

/* The name that --checkpoint has or MODEL gives; 0 when there are to be none. */
int fit_checkpoint_name(const fit_settings *s, char *name, size_t size);
/* What was not given comes from the checkpoint of --resume; 2 where it was given otherwise, 4 for no
 * checkpoint. */
int fit_resume_options(fit_settings *s);
/* The options that a checkpoint remembers, as lines; gcg_mem_free it. NULL: out of memory. */
char *fit_resume_text(const fit_settings *s);
/* 1 once after each SIGUSR1. */
int fit_checkpoint_wanted(void);

/* Before fit_begin(): this run has checkpoints. */
gcg_status fit_checkpoint_enable(fit_run *f);
/* Before reading: can it be written? */
gcg_status fit_checkpoint_test(const fit_run *f, gcg_err *err);
/* After reading: the fingerprints; with --resume all of the checkpoint but the solver's state: GCG_ERR_DATA
 * when the ratings are others. */
gcg_status fit_checkpoint_data(fit_run *f, gcg_err *err);
/* Inside the session, before anything is logged: from now on there are checkpoints, and the first solve that
 * has not ended goes on. */
void fit_checkpoint_begin(fit_run *f);
/* After a run that ended by itself, with its model written: its checkpoint is removed. */
void fit_checkpoint_remove(const fit_run *f);
void fit_checkpoint_release(fit_checkpoint *c); /* twice is fine */

/* Everything before the session of threads: outputs are tested, signals caught, the ratings read, the memory
 * planned. 0, or the exit code after a message; with --dry-run nothing is left to do. */
int fit_begin(fit_run *f);
/* Inside the session: centres the ratings, finds lambda_max, and lambda where it is a fraction of that. */
gcg_status fit_prepare(fit_run *f);
/* --max-time counts from now on, not from fit_prepare(). */
void fit_start_clock(fit_run *f);
/* lambda_max of x; *cut = 1 when time was up: then it is what is known from below. */
gcg_status fit_lambda_max(fit_run *f, const gcg_csr *x, double *lambda_max, int *cut);
/* The solver on x, with f->set. f->walk.left = 1 when a signal ended it and all there is, is in the
 * checkpoint. */
gcg_status fit_solve(fit_run *f, const gcg_csr *x);
/* The same for one of several: the row of f->walk.next - 1 is about it. */
gcg_status fit_solve_next(fit_run *f, const fit_data *d);
/* The row of the last fit_solve_next(). */
const fit_log_row *fit_walk_row(const fit_run *f);
/* The model of that solve is the one that the walk keeps; nothing to do where it is replayed. */
gcg_status fit_walk_keep(fit_run *f);
/* lambda_max of the walk that begins: that of the checkpoint, or of x; *cut as in fit_lambda_max(). */
gcg_status fit_walk_lambda_max(fit_run *f, const gcg_csr *x, double *lambda_max, int *cut);
void fit_walk_release(fit_walk_state *w); /* twice is fine */
enum { FIT_RISES = 3 /* of the validation RMSE, in a row, that end a walk along falling lambdas */ };
/* The gap was reached. */
int fit_reached(const gcg_solver_result *result);
/* 1 when the time was over, or a signal came: what follows has no time either. */
int fit_was_cut(const gcg_solver_result *result);
void fit_end(fit_run *f);

/* The lambdas of s, or its grid: lambda_k = lambda_max min_ratio^(k / (n - 1)). */
fit_lambdas fit_lambdas_of(const fit_settings *s, double lambda_max);

/* The ratings without some, centred by themselves; the some are its validation set. Ids are the run's. */
typedef struct {
    fit_data d;
    gcg_pairs pairs;
} fit_part;

/* Those with a hash in [from, below) are left out: gcg_ratings_part(). Before fit_prepare(). */
gcg_status fit_part_init(const fit_run *f, gcg_center_kind kind, double from, double below, fit_part *part,
                         gcg_err *err);
void fit_part_release(fit_part *part); /* twice is fine */

/* After each solve of a walk: f->set.lambda, f->result, fit_walk_row(). *stop = 1 ends the walk. */
typedef gcg_status fit_walked(fit_run *f, int *stop, void *user);
/* Inside the session: solves on d at each lambda in turn, the first from f->set's start, the others from the
 * model before; --max-time is for all of them. A solve that was cut short by time or a signal is the last
 * one; of one that was left, walked does not hear. f->result is that of the last solve. */
gcg_status fit_walk(fit_run *f, const fit_data *d, const fit_lambdas *lambdas, fit_walked *walked,
                    void *user);

/* What was solved, for the outputs. */
typedef struct {
    const fit_settings *s;
    const fit_data *d;
    const fit_plan *plan;
    const fit_choice *choice;
    double lambda, lambda_max;
    double gap; /* that the solve had to reach */
    gcg_stop stop;
    gcg_progress last;    /* of the solve */
    gcg_progress written; /* the iterate that becomes the model: u, v */
    const gcg_factors *u, *v;
    double *singular_values;
    double valid_rmse, test_rmse; /* of that one */
} fit_outcome;

fit_log_row fit_log_row_of(const fit_outcome *o);
/* It ends the block of the solve, when the model is written. */
void fit_log_summary(fit_log *log, const fit_log_row *row);
/* One line about a solve of --lambda auto. */
void fit_log_tried(fit_log *log, const fit_log_row *row, const char *center, const gcg_norm *norm);
/* All of them as a table of their own, behind the blocks. */
void fit_log_table(fit_log *log, const fit_log_row *rows, int count);

/* Of the last fit_solve(), after the end of its log. */
fit_outcome fit_outcome_of(const fit_run *f);
/* Writes the model under this name, in one step. */
gcg_status fit_write_model(const fit_outcome *o, const char *path, gcg_err *err);
/* Writes MODEL.done. */
gcg_status fit_write_done(const fit_outcome *o, int exit_code, gcg_err *err);
/* Removes an old MODEL.done. */
gcg_status fit_remove_done(const fit_settings *s, gcg_err *err);
/* The last words on stderr. */
void fit_say_outcome(const fit_outcome *o);
/* --verbose: memory and times. */
void fit_say_costs(const fit_run *f);
/* After a solve that was left: the last words, and the exit code. */
int fit_leave(fit_run *f);
/* After the solve of fit or cv: the model, what became of the log, MODEL.done, the last words. The exit code.
 */
int fit_write_all(fit_run *f);

/* --lambda auto, inside the session, before fit_prepare(): chooses lambda, and the centring where the user
 * did not, by the RMSE on ratings that are held out (fit_auto.c). The best model is where the fit starts. */
gcg_status fit_choose(fit_run *f);
/* The lambda for n ratings of one that was good for m of them. */
double fit_lambda_for(double lambda, int64_t n, int64_t m);

#endif
