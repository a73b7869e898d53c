/* How much memory a fit needs: fit plans with it and says it, check prints it. */
#ifndef GCG_CMD_MEMORY_H
#define GCG_CMD_MEMORY_H

#include <stdint.h>
#include "io/ratings.h"
#include "solvers/plan.h"

/* Blocks of a megabyte and more go back to the system when they are freed, unless gcg_mem_keep() keeps them;
 * what is left over of smaller ones is little. */
void memory_return_freed(void);
/* Gives back what is left over of smaller ones, in every thread's heap: after reading. */
void memory_trim(void);

enum { MEMORY_RANK = 50 /* the rank that is planned for where no limit is given: a guess */ };

/* Bytes by what they are for. What is mapped from a file is not in it: the system takes such pages back when
 * others need them. */
typedef struct {
    int64_t program; /* itself, its libraries, their buffers */
    int64_t store;   /* the ratings, as they are when the solver begins */
    int64_t ids, means, pairs;
    int64_t reading;  /* the most while the ratings are read, ids apart */
    int64_t centring; /* the same while they are centred */
    gcg_needs solver;
} memory_table;

/* The rank to plan for: limit (0 = none), but never above min(rows, cols). */
int32_t memory_rank(const gcg_csr *x, int64_t limit);
/* Ratings, ids and program; the solver's needs are the caller's to fill in. */
memory_table memory_of_data(const gcg_ratings *r);
/* The most at a time, and the same while solving but for what the solver takes. */
int64_t memory_total(const memory_table *t);
int64_t memory_without_solver(const memory_table *t);
/* Lines "key<TAB>bytes", by put. */
void memory_list(const memory_table *t, void (*put)(const char *key, int64_t bytes, void *user), void *user);
/* The most that this process had in memory so far. */
int64_t memory_peak(void);
/* bytes in words: "57.1 KiB". The units of --max-memory. */
const char *memory_text(char text[32], int64_t bytes);

#endif
