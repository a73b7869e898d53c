/* The table of inner kernels that kernels_pass.c fills once per precision and instruction set.
 *
 * Everything here works on one block of rows [row0, row1) of the ratings and one packed panel of columns, on
 * one thread. Blocks, panels and threads are the business of kernels.c, which is the only user of this
 * header.
 *
 * A panel is GCG_PANEL_BYTES of consecutive columns of a factor matrix (32 floats or 16 doubles), or its
 * first half. Where the factor has more columns than one panel, the panel is packed: 474 KB for the items of
 * MovieLens 1M, which stay in L2 while the ratings stream by. Rows of U are read in place. */
#ifndef GCG_MATHS_KERNELS_PASS_H
#define GCG_MATHS_KERNELS_PASS_H

#include <stdint.h>

#include "maths/kernels.h"

enum { GCG_PANEL_BYTES = 128 };

/* The pattern of a block of rows. row_ptr begins at row row0; col and all arrays with one entry per rating
 * begin at rating `first`: entry p - first, p = row_ptr[i - row0] .. row_ptr[i - row0 + 1], belongs to row i.
 */
typedef struct {
    int32_t row0, row1;
    const int64_t *row_ptr;
    const int32_t *col;
    int64_t first;
    int64_t left; /* entries of col from `first` on, to the end of the pattern */
    int add;      /* what is summed along rows is added to, not set: these are not the rows' first ratings */
} gcg_pass_rows;

/* void pointers are arrays of the table's precision ("real"). half = 1: only the panel's first half is used.
 * ld.. = distance of rows in entries. */
typedef struct {
    int panel; /* columns of a full panel */

    /* out[p] = (first ? 0 : out[p]) + u_i . v_j */
    void (*dots)(const gcg_pass_rows *rows, int half, const void *u, int64_t ldu, const void *v, int64_t ldv,
                 void *out, int first);
    /* b[p] += u_i . dv_j + du_i . v_j,  c[p] += du_i . dv_j  (set, not added, when first) */
    void (*line)(const gcg_pass_rows *rows, int half, const void *u, const void *du, int64_t ldu,
                 const void *v, const void *dv, int64_t ldv, void *b, void *c, int first);
    /* gu_i = sum_j r_p v_j (set, or rows->add),  gv_j += r_p u_i; rows of gv are as far apart as the panel is
     * wide */
    void (*spread)(const gcg_pass_rows *rows, int half, const void *r, const void *u, int64_t ldu,
                   const void *v, int64_t ldv, void *gu, int64_t ldgu, void *gv);
    /* the same with u_i replaced by its squares; v must hold squares; r NULL: r_p = 1 */
    void (*squares)(const gcg_pass_rows *rows, int half, const void *r, const void *u, int64_t ldu,
                    const void *v, int64_t ldv, void *gu, int64_t ldgu, void *gv);
    /* gu_i = sum_j r_p v_j (set, or rows->add) only */
    void (*gather)(const gcg_pass_rows *rows, int half, const void *r, const void *v, int64_t ldv, void *gu,
                   int64_t ldgu);
    /* gv_j += r_p u_i only */
    void (*scatter)(const gcg_pass_rows *rows, int half, const void *r, const void *u, int64_t ldu, void *gv);
    /* r_p = real(d), d = x_p - s_p u_i . v_j summed in double over k columns, s_p = row_i col_j sqrt(w_p)
     * (row NULL: without these; w NULL: 1); x is xf or, when that is NULL, xd; r may be NULL. Returns sum of
     * d^2. */
    double (*residual)(const gcg_pass_rows *rows, int32_t k, const void *u, int64_t ldu, const void *v,
                       int64_t ldv, const double *row, const double *col, const float *w, const float *xf,
                       const double *xd, void *r);
    /* out[p] = s_p r[p], s_p = row_i col_j; r NULL: s_p^2. out may be r. */
    void (*scale_ratings)(const gcg_pass_rows *rows, const void *row, const void *col, const void *r,
                          void *out);
    /* out = sqrt(w) r; r NULL: w times what out has (first: w). out may be r. */
    void (*weigh)(int64_t n, const float *w, const void *r, int first, void *out);
    /* out = sqrt(w) x; x is xf or, when that is NULL, xd */
    void (*weigh_ratings)(int64_t n, const float *w, const float *xf, const double *xd, void *out);
    /* y_i = sum_j r_p x_j in double (set, or rows->add) */
    void (*row_product)(const gcg_pass_rows *rows, const void *r, const double *x, double *y);
    /* y_j += sum_i r_p x_i in double */
    void (*col_product)(const gcg_pass_rows *rows, const void *r, const double *x, double *y);
    /* s[0..3] = sums over p of b^2, r c, b c, c^2 in double */
    void (*line_sums)(int64_t n, const void *r, const void *b, const void *c, double s[4]);
    /* r -= a b + a^2 c */
    void (*line_move)(int64_t n, double a, void *r, const void *b, const void *c);
    /* r = x - r (after dots) */
    void (*from_ratings)(int64_t n, void *r, const float *xf, const double *xd);

    /* column: of each row q of a packed buffer, the row j of v; NULL: q */
    /* vpack_q = width columns of v_j (squared: their squares), rows q0..q1, at vpack + q * ldp */
    void (*pack)(int32_t q0, int32_t q1, const int32_t *column, int width, int squared, const void *v,
                 int64_t ldv, void *vpack, int64_t ldp);
    /* gv_j = a v_j (0 when v is NULL) + s (sum of the packs' rows q, in order), width columns, rows q0..q1;
     * pack b starts at packs + b * distance entries, its row q at q * width */
    void (*collect)(int32_t q0, int32_t q1, const int32_t *column, int width, int packs_count,
                    const void *packs, int64_t distance, double a, const void *v, int64_t ldv, double s,
                    void *gv, int64_t ldgv);
    /* y_i = a x_i + s y_i, width columns, rows i0..i1 */
    void (*combine)(int32_t i0, int32_t i1, int width, double a, const void *x, int64_t ldx, double s,
                    void *y, int64_t ldy);

    gcg_vector_ops vector;
} gcg_pass_table;

/* One per object file; kernels.c picks. */
extern const gcg_pass_table gcg_pass_float_base, gcg_pass_double_base;
#if defined(__x86_64__)
extern const gcg_pass_table gcg_pass_float_avx2, gcg_pass_double_avx2;
extern const gcg_pass_table gcg_pass_float_avx512, gcg_pass_double_avx512;
#endif

#endif
