/* Synthetic ratings: see synth.h.
 *
 * One side of the matrix is walked (the rows: users, in the netflix layout movies), the other is drawn from
 * (the columns). Rows get their numbers of ratings beforehand, by rank r: in proportion to (r +
 * users/128)^(-3/4) or (r + items/64)^(-1). A row draws that many distinct columns, whose weights follow the
 * other law. Its pairs depend on the seed, the row and on running sums only. A value is mean + biases + u_i .
 * v_j + noise. */
#include "io/synth.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "io/rating_writer.h"

const gcg_synth_shape gcg_synth_shapes[] = {
    {"ml-100k", 943, 1682, 100000, 80000, 20000},
    {"ml-1m", 6040, 3706, 1000209, 750070, 250024},
    {"ml-10m", 69878, 10677, 10000054, 9301174, 698599},
    {"ml-25m", 162541, 59047, 25000095, 20000076, 5000019},
    {"netflix", 2549429, 17770, 99072112, 99072112, 1408395},
    {"yahoo60m", 1738442, 98130, 60021577, 60021577, 20872219},
    {"yahoo252m", 1000990, 624961, 252800275, 252800275, 4003960},
    {NULL, 0, 0, 0, 0, 0},
};

enum {
    FACTOR_BITS = 12, /* factors are multiples of 2^-12: their products are exact in integers */
    VALUE_BITS = 40,  /* values are multiples of 2^-40 until they are rounded */
    ROUND_BITS = 24   /* of these, kept for the rounding, so that a million steps per unit fit */
};

/* Of the scale: the mean, and one standard deviation of the signal. Two of them reach the top. */
static const double MEAN = 0.68, DEVIATION = 0.17;

/* First numbers of the streams of random numbers that one seed gives. */
enum {
    STREAM_DEGREES = 1,
    STREAM_POPULARITY,
    STREAM_COVER,
    STREAM_USER,
    STREAM_ITEM,
    STREAM_ROW,
    STREAM_KINDS
};

static const int64_t FIRST_TIME = 956703932, TIME_SPAN = 89749716; /* 2000 to 2003, as in MovieLens 1M */

static uint64_t stream_of(int kind, int64_t number)
{
    return (uint64_t)number * STREAM_KINDS + (uint64_t)kind;
}

/* ---- who has how many ---- */

/* The weight of the user, or the item, that has the rank-th most ratings. Square roots and quotients are
 * rounded alike everywhere, powers are not. With these constants the busiest of many has 10 (user) or 15
 * (item) times the mean, the median half of it: MovieLens 1M has 14, 13 and 0.5. */
static double user_weight(int32_t rank, int32_t count)
{
    double x = (double)rank + (double)count / 128 + 1, root = sqrt(x);
    return 1 / (root * sqrt(root)); /* x^(-3/4) */
}

static double item_weight(int32_t rank, int32_t count)
{
    return 1 / ((double)rank + (double)count / 64 + 1);
}

typedef double (*weight_fn)(int32_t rank, int32_t count);

/* Shares total among count, 1 or more each where total allows, at most limit each, in proportion to the
 * weights (total <= count * limit), and shuffles. */
static void share_ratings(int32_t *degree, int32_t count, int64_t total, int32_t limit, weight_fn weight_of,
                          gcg_rng *rng)
{
    int32_t least = total >= count;
    int64_t left = least ? total - count : total;
    double weight_left = 0;
    for (int32_t r = 0; r < count; r++) weight_left += weight_of(r, count);
    for (int32_t r = 0; r < count; r++) {
        int64_t room = limit - least, weight_room = (int64_t)(count - 1 - r) * room;
        double weight = weight_of(r, count);
        int64_t share = llround((double)left * (weight / weight_left));
        if (share > room) share = room;
        if (share > left) share = left;
        if (share < left - weight_room) share = left - weight_room; /* the rest must fit into the others */
        degree[r] = (int32_t)share + least;
        left -= share;
        weight_left -= weight;
    }
    for (int32_t r = count - 1; r > 0; r--) {
        int32_t other = (int32_t)gcg_rng_below(rng, (uint64_t)r + 1), kept = degree[r];
        degree[r] = degree[other];
        degree[other] = kept;
    }
}

/* Cuts whole numbers off a stream of amounts so that after every one the sum taken is part/whole of the sum
 * seen, rounded down. */
typedef struct {
    int64_t part, whole, carry; /* part <= whole */
} proportion;

static int32_t proportion_take(proportion *p, int32_t amount)
{
    __int128 sum = (__int128)amount * p->part + p->carry;
    p->carry = (int64_t)(sum % p->whole);
    return (int32_t)(sum / p->whole);
}

/* ---- columns: drawn by popularity ---- */

/* Walker's table: a uniform place p is column p, or its alias when a second number is not below keep / 2^32.
 */
typedef struct {
    uint32_t keep;
    int32_t alias;
} alias_cell;

/* All arrays are by popularity rank, so that the popular ones share cache lines. */
typedef struct {
    int32_t count;
    alias_cell *alias;
    int32_t *id;    /* from 0 */
    int32_t *cover; /* ranks in random order: the order in which columns get a rating that is surely theirs */
    uint64_t *taken; /* bits: does the row at hand have the column? All 0 between rows. */
    int16_t *factor; /* count x width: the entries of u or v, then the bias */
} columns;

static void columns_release(columns *c)
{
    gcg_mem_free(c->alias);
    gcg_mem_free(c->id);
    gcg_mem_free(c->cover);
    gcg_mem_free(c->taken);
    gcg_mem_free(c->factor);
}

static void fill_permutation(int32_t *order, int32_t count, gcg_rng *rng)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t other = (int32_t)gcg_rng_below(rng, (uint64_t)i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

/* Fills cell[] by Vose's method. share[r] = weight of rank r * count / sum of weights; work has count
 * entries. */
static void fill_alias(alias_cell *cell, double *share, int32_t *work, int32_t count)
{
    int32_t small = 0, large = count; /* two stacks, from both ends of work */
    for (int32_t r = 0; r < count; r++) work[share[r] < 1 ? small++ : --large] = r;
    while (small > 0 && large < count) {
        int32_t poor = work[--small], rich = work[large];
        cell[poor].keep = (uint32_t)(share[poor] * 0x1p32);
        cell[poor].alias = rich;
        share[rich] = share[rich] + share[poor] - 1;
        if (share[rich] < 1) {
            large++;
            work[small++] = rich;
        }
    }
    /* what is left is 1 up to rounding */
    for (; small > 0; small--) cell[work[small - 1]] = (alias_cell){UINT32_MAX, work[small - 1]};
    for (; large < count; large++) cell[work[large]] = (alias_cell){UINT32_MAX, work[large]};
}

static gcg_status build_alias(columns *c, weight_fn weight_of, gcg_err *err)
{
    double *share = gcg_mem_alloc_array(c->count, sizeof *share), sum = 0;
    int32_t *work = gcg_mem_alloc_array(c->count, sizeof *work);
    gcg_status status = share && work ? GCG_OK : gcg_fail_memory(err, "popularity of synthetic ratings");
    if (!status) {
        for (int32_t r = 0; r < c->count; r++) sum += share[r] = weight_of(r, c->count);
        for (int32_t r = 0; r < c->count; r++) share[r] = share[r] * c->count / sum;
        fill_alias(c->alias, share, work, c->count);
    }
    gcg_mem_free(share);
    gcg_mem_free(work);
    return status;
}

/* Draws for one row. The columns of many users fill no cache: their cells are fetched some draws ahead. */
enum { AHEAD = 16 };
typedef struct {
    const columns *c;
    gcg_rng rng;
    uint64_t word[AHEAD];
    unsigned at;
} draws;

static int32_t place_of(const columns *c, uint64_t word)
{
    return (int32_t)(((word >> 32) * (uint64_t)c->count) >> 32);
}

static void draws_refill(draws *d)
{
    d->word[d->at] = gcg_rng_next(&d->rng);
    __builtin_prefetch(&d->c->alias[place_of(d->c, d->word[d->at])]);
    d->at = (d->at + 1) % AHEAD;
}

static void draws_init(draws *d, const columns *c, uint64_t seed, uint64_t stream)
{
    d->c = c;
    d->at = 0;
    gcg_rng_init(&d->rng, seed, stream);
    for (int i = 0; i < AHEAD; i++) draws_refill(d);
}

static int32_t draw_rank(draws *d)
{
    uint64_t word = d->word[d->at];
    int32_t place = place_of(d->c, word);
    alias_cell cell = d->c->alias[place];
    draws_refill(d);
    return (uint32_t)word < cell.keep ? place : cell.alias;
}

/* Marks column r; 0 when the row has it already. */
static int take(columns *c, int32_t r)
{
    uint64_t *word = &c->taken[r / 64], bit = (uint64_t)1 << (r % 64);
    if (*word & bit) return 0;
    *word |= bit;
    return 1;
}

static int is_taken(const columns *c, int32_t r)
{
    return c->taken[r / 64] >> (r % 64) & 1;
}

/* ---- values ---- */

/* Sum of the four 16-bit parts of x less its mean: near normal, standard deviation PARTS_DEVIATION. */
static int32_t near_normal(uint64_t x)
{
    return (int32_t)((x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48)) - 2 * 0xffff;
}

static const int32_t PARTS_DEVIATION = 37837; /* 65536 sqrt(4/12) */

/* count numbers, near standard normal, in units of 2^-FACTOR_BITS: u_i or v_j and the bias. */
static void make_factor(int16_t *factor, int32_t count, uint64_t seed, int kind, int32_t id)
{
    gcg_rng rng;
    gcg_rng_init(&rng, seed, stream_of(kind, id));
    for (int32_t q = 0; q < count; q++) {
        /* the sum of two reaches further out: 4.9 deviations */
        int32_t twice = near_normal(gcg_rng_next(&rng)) + near_normal(gcg_rng_next(&rng));
        factor[q] = (int16_t)((int64_t)twice * (1 << FACTOR_BITS) * 1000 / ((int64_t)PARTS_DEVIATION * 1414));
    }
}

/* How numbers become ratings. In units of 2^-VALUE_BITS: the mean, and what one unit of u . v, of a bias and
 * of near_normal adds. */
typedef struct {
    int64_t mean, product, bias, noise;
    int64_t low, high; /* in steps */
    int64_t steps_per_unit, one /* 10^decimals */;
    uint64_t salt; /* keeps noise apart from the other random numbers */
} value_rule;

static value_rule value_rule_of(const gcg_synth_settings *s)
{
    double width = s->high - s->low, deviation = DEVIATION * width, above = MEAN * width;
    value_rule rule = {
        .mean = llround((s->low + above) * 0x1p40),
        .product = llround(deviation * sqrt(0.5 / s->rank) * 0x1p16), /* u . v is in units of 2^-24 */
        .bias = llround(deviation * 0.5 * 0x1p28),
        .noise = llround(s->noise * deviation / PARTS_DEVIATION * 0x1p40),
        .low = llround(s->low * (double)s->steps_per_unit),
        .high = llround(s->high * (double)s->steps_per_unit),
        .steps_per_unit = s->steps_per_unit,
        .one = 1,
        .salt = gcg_hash_mix(s->seed ^ 0x726174696e67u),
    };
    for (int d = 0; d < s->decimals; d++) rule.one *= 10;
    return rule;
}

/* The rating in units of 10^-decimals; shifts round down, also below zero. */
static int64_t round_value(const value_rule *rule, int64_t value)
{
    int64_t half = (int64_t)1 << (ROUND_BITS - 1);
    int64_t steps = ((value >> (VALUE_BITS - ROUND_BITS)) * rule->steps_per_unit + half) >> ROUND_BITS;
    if (steps < rule->low) steps = rule->low;
    if (steps > rule->high) steps = rule->high;
    return steps * rule->one / rule->steps_per_unit;
}

/* ---- the run ---- */

typedef struct {
    const gcg_synth_settings *s;
    int by_item;         /* 1: rows are items, columns users */
    int32_t rows, width; /* width = rank + 1 */
    int32_t *degree;     /* of each row, training and test */
    columns c;
    value_rule rule;
    int16_t *row_factor; /* width */
    int32_t *picked;     /* ranks of the columns of the row at hand */
    proportion test, cover;
    int64_t covered; /* columns that have got their sure rating */
    gcg_rating_writer *train_out, *test_out;
} synth;

static void synth_release(synth *g)
{
    columns_release(&g->c);
    gcg_mem_free(g->degree);
    gcg_mem_free(g->row_factor);
    gcg_mem_free(g->picked);
    gcg_rating_writer_free(g->train_out);
    gcg_rating_writer_free(g->test_out);
}

static gcg_status allocate(synth *g, gcg_err *err)
{
    columns *c = &g->c;
    g->degree = gcg_mem_alloc_array(g->rows, sizeof *g->degree);
    g->row_factor = gcg_mem_alloc_array(g->width, sizeof *g->row_factor);
    g->picked = gcg_mem_alloc_array(c->count, sizeof *g->picked);
    c->alias = gcg_mem_alloc_array(c->count, sizeof *c->alias);
    c->id = gcg_mem_alloc_array(c->count, sizeof *c->id);
    c->cover = gcg_mem_alloc_array(c->count, sizeof *c->cover);
    c->taken = gcg_mem_zalloc_array(((int64_t)c->count + 63) / 64, sizeof *c->taken);
    c->factor = gcg_mem_alloc_array((int64_t)c->count * g->width, sizeof *c->factor);
    int all =
        g->degree && g->row_factor && g->picked && c->alias && c->id && c->cover && c->taken && c->factor;
    return all ? GCG_OK : gcg_fail_memory(err, "synthetic ratings");
}

static gcg_status prepare(synth *g, gcg_err *err)
{
    const gcg_synth_settings *s = g->s;
    gcg_status status = allocate(g, err);
    if (!status) status = build_alias(&g->c, g->by_item ? user_weight : item_weight, err);
    if (status) return status;
    int64_t total = s->ratings + s->test_ratings;
    gcg_rng rng;
    gcg_rng_init(&rng, s->seed, STREAM_DEGREES);
    share_ratings(g->degree, g->rows, total, g->c.count, g->by_item ? item_weight : user_weight, &rng);
    gcg_rng_init(&rng, s->seed, STREAM_POPULARITY);
    fill_permutation(g->c.id, g->c.count, &rng);
    gcg_rng_init(&rng, s->seed, STREAM_COVER);
    fill_permutation(g->c.cover, g->c.count, &rng);
    for (int32_t r = 0; r < g->c.count; r++)
        make_factor(g->c.factor + (int64_t)r * g->width, g->width, s->seed,
                    g->by_item ? STREAM_USER : STREAM_ITEM, g->c.id[r]);
    /* A row keeps its first rating for training, where rows have one each. */
    int64_t spare = s->ratings >= g->rows ? total - g->rows : total;
    g->test = (proportion){.part = s->test_ratings, .whole = spare ? spare : 1};
    g->cover = (proportion){.part = s->ratings < g->c.count ? s->ratings : g->c.count, .whole = s->ratings};
    g->rule = value_rule_of(s);
    return GCG_OK;
}

/* More than half of the columns are wanted: draws those that are left out, unpopular ones first, else the
 * draws go on and on. n of degree are picked already. */
static void pick_all_but(synth *g, draws *d, int32_t degree, int32_t n)
{
    columns *c = &g->c;
    for (int32_t out = c->count - degree; out > 0;) out -= take(c, c->count - 1 - draw_rank(d));
    for (int32_t r = 0; r < c->count; r++)
        if (!is_taken(c, r)) g->picked[n++] = r;
    memset(c->taken, 0, ((size_t)c->count + 63) / 64 * sizeof *c->taken);
}

/* Fills picked[0..degree) with distinct columns of the row, those that get their sure rating here first;
 * returns how many these are. They are never more than the row's training ratings. */
static int32_t pick_columns(synth *g, draws *d, int32_t degree, int32_t train)
{
    columns *c = &g->c;
    int32_t sure = proportion_take(&g->cover, train), n = 0;
    for (; n < sure; n++) {
        g->picked[n] = c->cover[g->covered++];
        take(c, g->picked[n]);
    }
    if (degree > c->count / 2) {
        pick_all_but(g, d, degree, n);
        return sure;
    }
    while (n < degree) {
        int32_t r = draw_rank(d);
        if (take(c, r)) g->picked[n++] = r;
    }
    for (n = 0; n < degree; n++) c->taken[g->picked[n] / 64] = 0;
    return sure;
}

static gcg_rating make_rating(const synth *g, int32_t row, int32_t rank)
{
    const value_rule *rule = &g->rule;
    int32_t k = g->width - 1, column = g->c.id[rank];
    const int16_t *a = g->row_factor, *b = g->c.factor + (int64_t)rank * g->width;
    int64_t dot = 0;
    for (int32_t q = 0; q < k; q++) dot += (int32_t)a[q] * b[q];
    int64_t user = g->by_item ? column : row, item = g->by_item ? row : column;
    uint64_t hash = gcg_hash_mix(rule->salt + ((uint64_t)user << 32) + (uint64_t)item);
    uint64_t second = gcg_hash_mix(hash + rule->salt) >> 32;
    int64_t value =
        rule->mean + dot * rule->product + (a[k] + b[k]) * rule->bias + near_normal(hash) * rule->noise;
    return (gcg_rating){.user = user + 1,
                        .item = item + 1,
                        .value = round_value(rule, value),
                        .time = FIRST_TIME + (int64_t)((second * (uint64_t)TIME_SPAN) >> 32)};
}

static void fetch(const columns *c, int32_t rank, int32_t width)
{
    __builtin_prefetch(&c->id[rank]);
    __builtin_prefetch(&c->factor[(int64_t)rank * width]);
}

/* Writes the row's picked columns; test of those that are not sure go to the test file, each equally likely.
 */
static gcg_status write_row(synth *g, draws *d, int32_t row, int32_t degree, int32_t sure, int32_t test,
                            gcg_err *err)
{
    gcg_status status = gcg_rating_writer_block(g->train_out, row + 1, degree - test, err);
    if (!status && test > 0) status = gcg_rating_writer_block(g->test_out, row + 1, test, err);
    for (int32_t n = 0; n < degree && !status; n++) {
        int to_test =
            n >= sure && test > 0 && gcg_rng_below(&d->rng, (uint64_t)(degree - n)) < (uint64_t)test;
        if (n + AHEAD < degree) fetch(&g->c, g->picked[n + AHEAD], g->width);
        gcg_rating rating = make_rating(g, row, g->picked[n]);
        status = gcg_rating_writer_put(to_test ? g->test_out : g->train_out, &rating, err);
        test -= to_test;
    }
    return status;
}

enum { TELL = 16 /* rows between two calls of progress */ };

static gcg_status write_rows(synth *g, gcg_err *err)
{
    const gcg_synth_settings *s = g->s;
    int32_t kept = s->ratings >= g->rows;
    for (int32_t row = 0; row < g->rows; row++) {
        int32_t degree = g->degree[row], test = proportion_take(&g->test, degree - kept);
        draws d;
        draws_init(&d, &g->c, s->seed, stream_of(STREAM_ROW, row));
        int32_t sure = pick_columns(g, &d, degree, degree - test);
        make_factor(g->row_factor, g->width, s->seed, g->by_item ? STREAM_ITEM : STREAM_USER, row);
        gcg_status status = write_row(g, &d, row, degree, sure, test, err);
        if (status) return status;
        if (s->progress && row % TELL == 0) s->progress((double)row / g->rows);
    }
    gcg_status status = gcg_rating_writer_finish(g->train_out, err);
    return status || !g->test_out ? status : gcg_rating_writer_finish(g->test_out, err);
}

gcg_status gcg_synth_check(const gcg_synth_settings *s, gcg_err *err)
{
    int64_t cells = (int64_t)s->users * s->items;
    if (s->ratings <= cells && s->test_ratings <= cells - s->ratings) return GCG_OK;
    return gcg_fail(err, GCG_ERR_USAGE, NULL, 0, 0, "%lld ratings do not fit in %d users times %d items",
                    (long long)(s->ratings + s->test_ratings), s->users, s->items);
}

gcg_status gcg_synth(const gcg_synth_settings *s, gcg_sink train, const gcg_sink *test, gcg_err *err)
{
    gcg_rating_layout layout = {s->format, s->decimals, s->users, s->items, s->ratings};
    synth g = {.s = s, .by_item = s->format == GCG_FORMAT_NETFLIX, .width = s->rank + 1};
    g.rows = g.by_item ? s->items : s->users;
    g.c.count = g.by_item ? s->users : s->items;
    gcg_status status = gcg_synth_check(s, err);
    if (!status) status = prepare(&g, err);
    if (!status) status = gcg_rating_writer_new(&g.train_out, &layout, train, err);
    layout.ratings = s->test_ratings;
    if (!status && test) status = gcg_rating_writer_new(&g.test_out, &layout, *test, err);
    if (!status) status = write_rows(&g, err);
    synth_release(&g);
    return status;
}
