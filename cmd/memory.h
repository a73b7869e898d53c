/* How much memory a fit will need: fit says it before it starts, check prints it. */
#ifndef GCG_CMD_MEMORY_H
#define GCG_CMD_MEMORY_H

#include <stdint.h>
#include "io/ratings.h"

/* While files are read: blocks of a megabyte and more go back to the system when they are freed. glibc would
 * raise this limit with the size of what is freed; what reading gives back while the store takes shape would
 * then stay (28 bytes a rating, not 24). */
void memory_return_freed(void);
/* While solving: freed blocks up to 32 MiB (glibc's most) are kept, since the solver takes the same ones
 * again each round. Giving them back and taking new pages was a tenth of a solve. */
void memory_keep_freed(void);

enum { MEMORY_RANK = 50 /* the rank that is assumed where no limit is given: a guess */ };

/* The rank to plan for: limit (0 = none), but never above min(rows, cols). */
int32_t memory_rank(const gcg_csr *x, int64_t limit);
/* Bytes of the ratings alone. */
int64_t memory_of_ratings(const gcg_csr *x);
/* Bytes of a fit: ratings, ids, and what the solver says of its arrays. */
int64_t memory_of_fit(const gcg_ratings *r, int64_t solver);
/* bytes in words: "57.1 KiB". The units of --max-memory. */
const char *memory_text(char text[32], int64_t bytes);

#endif
