/* The memory plan: what a solve allocates, by what it is for, and the sizes that keep it within a limit.
 *
 * The solver takes its sizes from the same settings (solver.h: sizes, ratings_kept, rank) that the needs are
 * computed from. Needs depend on the data's shape and the settings alone: not on the number of threads, nor
 * on the memory that happens to be free. */
#ifndef GCG_SOLVERS_PLAN_H
#define GCG_SOLVERS_PLAN_H

#include "solvers/solver.h"

/* What is there during the whole solve comes first; of the others, which belong to one phase each, only the
 * largest counts. */
typedef enum {
    GCG_NEED_RESIDUALS, /* arrays with one real per rating */
    GCG_NEED_PASSES,    /* scratch of the passes over the ratings */
    GCG_NEED_FACTORS,   /* the iterate */
    GCG_NEED_METHOD,    /* a comparator's own */
    GCG_NEED_KEPT,      /* vectors for the next polar, and copies of the factors */
    GCG_NEED_PHASES,    /* the first that belongs to one phase */
    GCG_NEED_LAMBDA_MAX = GCG_NEED_PHASES,
    GCG_NEED_BASIS,  /* change of basis, proximal step */
    GCG_NEED_POLAR,  /* Krylov space and atoms */
    GCG_NEED_PROOF,  /* of the bound */
    GCG_NEED_STEP,   /* taking the atoms in */
    GCG_NEED_LBFGS,  /* local improvement */
    GCG_NEED_RESULT, /* copies of the factors */
    GCG_NEED_COUNT
} gcg_need;

typedef struct {
    int64_t bytes[GCG_NEED_COUNT];
} gcg_needs;

/* "residuals", "passes", ... as the tables of fit name them. */
const char *gcg_need_name(gcg_need need);
/* The most that is there at a time. */
int64_t gcg_needs_total(const gcg_needs *n);

/* What the needs depend on, beside the settings. */
typedef struct {
    int32_t rows, cols;
    int64_t nnz;
    int value_bytes; /* of a rating in the store */
    int weights;     /* 1: the loss has some */
    gcg_dtype type;  /* of the factors, where they are largest */
    int64_t passes;  /* gcg_pass_bytes() of the store */
    int copies;      /* of the factors, that the caller keeps */
    int states;      /* of the run, that are kept (gcg_checkpoints.copy) */
} gcg_plan_data;
gcg_plan_data gcg_plan_data_of(const gcg_csr *x, const gcg_solver_settings *settings);

/* The needs of a solver at a rank of at most `rank` (0: any). */
typedef gcg_needs gcg_needs_of(const gcg_plan_data *d, const gcg_solver_settings *settings, int32_t rank);
gcg_needs_of gcg_complete_needs;

/* Gives up speed for memory in the settings until the needs at this rank are at most `most`, in a fixed
 * order: each of these in turn where it lowers the needs, from the top again after each: L-BFGS pairs 3 to 2,
 * 2 to 1; narrower panels in the proof; blocks of 64 atoms; of the per-rating arrays only the residual;
 * blocks of 48, 32; Krylov depth 3; no pairs; no per-rating arrays; blocks of 16, 8. Then, backwards, what
 * later ones made needless is taken back. Returns 1 when they fit. For gcg_complete: comparators have nothing
 * to give up. */
int gcg_plan_shrink(const gcg_plan_data *d, int64_t most, int32_t rank, gcg_solver_settings *settings);
/* The room for proofs (sizes.proof_bytes) that does not raise the most that is needed at this rank, but for
 * what a proof takes at least. */
void gcg_plan_proof(const gcg_plan_data *d, int32_t rank, gcg_solver_settings *settings);
/* The largest rank whose needs are at most `most`, 0 when there is none. */
int32_t gcg_plan_rank(const gcg_plan_data *d, gcg_needs_of *needs, int64_t most,
                      const gcg_solver_settings *settings);

/* What gcg_tall_gram takes for matrices with so many columns. */
int64_t gcg_plan_tall(int64_t columns, int64_t others);
/* The arrays of users' biases. */
int64_t gcg_plan_bias(int64_t rows, int64_t cols);
/* Rows of k reals, padded as factors are. */
int64_t gcg_plan_rows(int64_t rows, int64_t k, gcg_dtype type);
/* The change of basis of U and V (steps/rotate.h) with k columns. */
int64_t gcg_plan_rotate(int64_t k);
#endif
