/* Synthetic ratings: see synth.h.
 *
 * Row degrees are shares of the total by weights (u/w)^(1/2), column popularities u w^(-3/4), u and w
 * uniform: many small ones, tails about as heavy as those of the public data sets. The columns of a row are
 * drawn by popularity (alias table) without repetition. */
#include "io/synth.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "io/rating_writer.h"

const gcg_synth_shape gcg_synth_shapes[] = {
    {"ml-100k", 943, 1682, 100000, 20000},
    {"ml-1m", 6040, 3706, 1000209, 250024},
    {"ml-10m", 69878, 10677, 10000054, 698599},
    {"ml-25m", 162541, 59047, 25000095, 5000019},
    {"netflix", 2549429, 17770, 99072112, 1408395},
    {"yahoo60m", 1738442, 98130, 60021577, 20872219},
    {"yahoo252m", 1000990, 624961, 252800275, 4003960},
    {NULL, 0, 0, 0, 0},
};

enum {
    STREAM_ROW_WEIGHT = 1,
    STREAM_COL_WEIGHT,
    STREAM_COL_FACTOR,
    STREAM_ROW, /* + row number */
    TRIES = 40  /* draws per wanted column before the rest is taken as it comes */
};

typedef struct {
    const gcg_synth_settings *s;
    int by_item; /* rows are items */
    int32_t rows, cols;
    int64_t *train_degree, *test_degree; /* per row */
    float *col_factor;                   /* cols x rank */
    float *col_bias;
    double *accept; /* alias table */
    int32_t *alias;
    int32_t *stamp;  /* last row that took this column, + 1 */
    int32_t *picked; /* columns of the row at hand */
    float *row_factor;
    int64_t stride, offset; /* the order in which columns are shared out, so that each has a row */
    gcg_rating_writer *train, *test;
} generator;

/* ---- sums that are the same everywhere ---- */

/* Standard normal, nearly: 12 uniforms less 6. */
static double near_normal(gcg_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += gcg_rng_uniform(rng);
    return sum;
}

/* (u/w)^(1/2) or, heavier, u w^(-3/4), for u and w in (0, 1]. */
static double tail_weight(gcg_rng *rng, int heavier)
{
    double u = 1 - gcg_rng_uniform(rng), root = sqrt(1 - gcg_rng_uniform(rng));
    return heavier ? u / (root * sqrt(root)) : sqrt(u) / root;
}

/* ---- degrees ---- */

/* Columns first..last of the shared-out order belong to this row. */
static int64_t share_start(const generator *g, int64_t row)
{
    return row * g->cols / g->rows; /* below 2^62 */
}

/* What a row must have: its share of the columns, at least one. */
static int64_t least_degree(const generator *g, int64_t row)
{
    int64_t share = share_start(g, row + 1) - share_start(g, row);
    return share > 0 ? share : 1;
}

/* degree[i] += a part of `total` by weight, never above most - taken[i]; the parts add to total exactly. */
static void share_out(int64_t total, const double *weight, int32_t rows, int64_t most, const int64_t *taken,
                      int64_t *degree)
{
    double sum = 0;
    for (int32_t i = 0; i < rows; i++) sum += weight[i];
    int64_t left = total;
    for (int32_t i = 0; i < rows && left > 0; i++) {
        int64_t room = most - degree[i] - (taken ? taken[i] : 0),
                part = (int64_t)((double)total * (weight[i] / sum));
        part = part < room ? part : room;
        part = part < left ? part : left;
        degree[i] += part;
        left -= part;
    }
    while (left > 0) /* what rounding and full rows left over, evenly */
        for (int32_t i = 0; i < rows && left > 0; i++)
            if (degree[i] + (taken ? taken[i] : 0) < most) {
                int64_t room = most - degree[i] - (taken ? taken[i] : 0), part = 1 + left / rows;
                part = part < room ? part : room;
                degree[i] += part;
                left -= part;
            }
}

static gcg_status make_degrees(generator *g, gcg_err *err)
{
    double *weight = gcg_mem_alloc_array(g->rows, sizeof *weight);
    if (!weight) return gcg_fail_memory(err, "degrees");
    gcg_rng rng;
    gcg_rng_init(&rng, g->s->seed, STREAM_ROW_WEIGHT);
    int64_t given = 0;
    for (int32_t i = 0; i < g->rows; i++) {
        weight[i] = tail_weight(&rng, g->by_item);
        int64_t least = least_degree(g, i), left = g->s->ratings - given;
        g->train_degree[i] = least < left ? least : left;
        given += g->train_degree[i];
    }
    /* half of the columns at most, while there is room: nobody rates nearly everything */
    int64_t all = g->s->ratings + g->s->test_ratings, most = g->cols / 2;
    if (most * g->rows < 2 * all) most = g->cols;
    share_out(g->s->ratings - given, weight, g->rows, most, NULL, g->train_degree);
    share_out(g->s->test_ratings, weight, g->rows, g->cols, g->train_degree, g->test_degree);
    gcg_mem_free(weight);
    return GCG_OK;
}

/* ---- columns ---- */

/* Alias table (Walker, Vose) of the popularities: a column in two draws. */
static gcg_status make_alias(generator *g, gcg_err *err)
{
    int32_t n = g->cols, small = 0, large = n;
    int32_t *queue =
        gcg_mem_alloc_array(n, sizeof *queue); /* below 1 from the front, the others from the back */
    if (!queue) return gcg_fail_memory(err, "columns");
    gcg_rng rng;
    gcg_rng_init(&rng, g->s->seed, STREAM_COL_WEIGHT);
    double sum = 0;
    for (int32_t j = 0; j < n; j++) sum += g->accept[j] = tail_weight(&rng, !g->by_item);
    /* the most popular column is in about half of the rows at most */
    double most = 0.5 * g->rows * sum / (double)(g->s->ratings + g->s->test_ratings);
    sum = 0;
    for (int32_t j = 0; j < n; j++) sum += g->accept[j] = fmin(g->accept[j], fmax(most, 1));
    for (int32_t j = 0; j < n; j++) {
        g->accept[j] *= n / sum;
        g->alias[j] = j;
        if (g->accept[j] < 1)
            queue[small++] = j;
        else
            queue[--large] = j;
    }
    while (small > 0 && large < n) {
        int32_t low = queue[--small], high = queue[large];
        g->alias[low] = high;
        g->accept[high] -= 1 - g->accept[low];
        if (g->accept[high] < 1) {
            large++;
            queue[small++] = high;
        }
    }
    gcg_mem_free(queue);
    return GCG_OK;
}

static int32_t draw_column(const generator *g, gcg_rng *rng)
{
    int32_t j = (int32_t)gcg_rng_below(rng, (uint64_t)g->cols);
    return gcg_rng_uniform(rng) < g->accept[j] ? j : g->alias[j];
}

static int take(generator *g, int32_t row, int32_t column, int64_t *count)
{
    if (g->stamp[column] == row + 1) return 0;
    g->stamp[column] = row + 1;
    g->picked[(*count)++] = column;
    return 1;
}

/* The columns of a row: its share first, then by popularity, then (in dense rows) whatever is left. */
static void pick_columns(generator *g, int32_t row, gcg_rng *rng)
{
    int64_t wanted = g->train_degree[row] + g->test_degree[row], count = 0;
    for (int64_t k = share_start(g, row); k < share_start(g, row + 1) && count < g->train_degree[row]; k++)
        take(g, row, (int32_t)((k * g->stride + g->offset) % g->cols), &count);
    for (int64_t tries = TRIES * wanted; tries > 0 && count < wanted; tries--)
        take(g, row, draw_column(g, rng), &count);
    for (int32_t j = (int32_t)gcg_rng_below(rng, (uint64_t)g->cols); count < wanted;
         j = j + 1 < g->cols ? j + 1 : 0)
        take(g, row, j, &count);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- values ---- */

/* Signal of variance 1: a bias of each side and a product of factors; then noise; then the scale. */
static int64_t rating_of(const generator *g, int32_t column, double row_bias, gcg_rng *rng)
{
    const gcg_synth_settings *s = g->s;
    const float *v = g->col_factor + (int64_t)column * s->rank;
    double product = 0;
    for (int32_t q = 0; q < s->rank; q++) product += (double)g->row_factor[q] * (double)v[q];
    double signal = 0.5 * (row_bias + (double)g->col_bias[column]) + product * sqrt(0.5 / s->rank);
    double value = signal + s->noise * near_normal(rng);
    /* mean at seven tenths of the scale, two standard deviations to its top */
    double scaled = s->low + (s->high - s->low) * (0.68 + 0.17 * value);
    double step = 1 / (double)s->steps_per_unit;
    scaled = scaled < s->low ? s->low : scaled > s->high ? s->high : scaled;
    int64_t steps = (int64_t)(scaled / step + 0.5), ten = 1; /* scales start at 0 or above */
    for (int d = 0; d < s->decimals; d++) ten *= 10;
    return steps * ten / s->steps_per_unit;
}

static gcg_status put(const generator *g, gcg_rating_writer *writer, int32_t row, int32_t column,
                      int64_t value, gcg_rng *rng, gcg_err *err)
{
    const int64_t first = 956703932, span = 89749716; /* the years 2000 to 2003, as in MovieLens 1M */
    int64_t a = (int64_t)row + 1, b = (int64_t)column + 1;
    gcg_rating r = {.user = g->by_item ? b : a, .item = g->by_item ? a : b, .value = value};
    r.time = first + (int64_t)gcg_rng_below(rng, (uint64_t)span);
    return gcg_rating_writer_put(writer, &r, err);
}

static gcg_status write_row(generator *g, int32_t row, gcg_err *err)
{
    gcg_rng rng;
    gcg_rng_init(&rng, g->s->seed, (uint64_t)STREAM_ROW + (uint64_t)row);
    double bias = near_normal(&rng);
    for (int32_t q = 0; q < g->s->rank; q++) g->row_factor[q] = (float)near_normal(&rng);
    pick_columns(g, row, &rng);
    int64_t train = g->train_degree[row], test = g->test_degree[row];
    gcg_status status = gcg_rating_writer_block(g->train, (int64_t)row + 1, train, err);
    if (!status && g->test) status = gcg_rating_writer_block(g->test, (int64_t)row + 1, test, err);
    for (int64_t k = 0; !status && k < train + test; k++) {
        int64_t value = rating_of(g, g->picked[k], bias, &rng);
        status = put(g, k < train ? g->train : g->test, row, g->picked[k], value, &rng, err);
    }
    return status;
}

/* ---- all of it ---- */

static void release(generator *g)
{
    gcg_mem_free(g->train_degree);
    gcg_mem_free(g->test_degree);
    gcg_mem_free(g->col_factor);
    gcg_mem_free(g->col_bias);
    gcg_mem_free(g->accept);
    gcg_mem_free(g->alias);
    gcg_mem_free(g->stamp);
    gcg_mem_free(g->picked);
    gcg_mem_free(g->row_factor);
    gcg_rating_writer_free(g->train);
    gcg_rating_writer_free(g->test);
}

static gcg_status allocate(generator *g, gcg_err *err)
{
    int64_t rank = g->s->rank;
    g->train_degree = gcg_mem_zalloc_array(g->rows, sizeof *g->train_degree);
    g->test_degree = gcg_mem_zalloc_array(g->rows, sizeof *g->test_degree);
    g->col_factor = gcg_mem_alloc_array(g->cols * rank, sizeof *g->col_factor);
    g->col_bias = gcg_mem_alloc_array(g->cols, sizeof *g->col_bias);
    g->accept = gcg_mem_alloc_array(g->cols, sizeof *g->accept);
    g->alias = gcg_mem_alloc_array(g->cols, sizeof *g->alias);
    g->stamp = gcg_mem_zalloc_array(g->cols, sizeof *g->stamp);
    g->picked = gcg_mem_alloc_array(g->cols, sizeof *g->picked);
    g->row_factor = gcg_mem_alloc_array(rank, sizeof *g->row_factor);
    int all = g->train_degree && g->test_degree && g->col_factor && g->col_bias && g->accept && g->alias &&
              g->stamp && g->picked && g->row_factor;
    return all ? GCG_OK : gcg_fail_memory(err, "synthetic data");
}

static void make_columns(generator *g)
{
    gcg_rng rng;
    gcg_rng_init(&rng, g->s->seed, STREAM_COL_FACTOR);
    for (int64_t e = 0; e < (int64_t)g->cols * g->s->rank; e++) g->col_factor[e] = (float)near_normal(&rng);
    for (int32_t j = 0; j < g->cols; j++) g->col_bias[j] = (float)near_normal(&rng);
    g->offset = (int64_t)gcg_rng_below(&rng, (uint64_t)g->cols);
    do g->stride = 1 + (int64_t)gcg_rng_below(&rng, (uint64_t)g->cols);
    while (common_divisor(g->stride, g->cols) != 1);
}

gcg_status gcg_synth_check(const gcg_synth_settings *s, gcg_err *err)
{
    double cells = (double)s->users * (double)s->items;
    if ((double)s->ratings + (double)s->test_ratings <= cells) return GCG_OK;
    return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0, "%lld ratings do not fit in %d users times %d items",
                    (long long)(s->ratings + s->test_ratings), s->users, s->items);
}

gcg_status gcg_synth(const gcg_synth_settings *s, gcg_sink train, const gcg_sink *test, gcg_err *err)
{
    generator g = {.s = s, .by_item = s->format == GCG_FORMAT_NETFLIX};
    g.rows = g.by_item ? s->items : s->users;
    g.cols = g.by_item ? s->users : s->items;
    gcg_rating_layout layout = {s->format, s->decimals, s->users, s->items, s->ratings};
    gcg_status status = gcg_synth_check(s, err);
    if (!status) status = allocate(&g, err);
    if (!status) status = gcg_rating_writer_new(&g.train, &layout, train, err);
    layout.ratings = s->test_ratings;
    if (!status && test) status = gcg_rating_writer_new(&g.test, &layout, *test, err);
    if (!status) status = make_degrees(&g, err);
    if (!status) status = make_alias(&g, err);
    if (!status) make_columns(&g);
    for (int32_t row = 0; row < g.rows && !status; row++) status = write_row(&g, row, err);
    if (!status) status = gcg_rating_writer_finish(g.train, err);
    if (!status && test) status = gcg_rating_writer_finish(g.test, err);
    release(&g);
    return status;
}
