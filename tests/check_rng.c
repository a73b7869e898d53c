/* base/rng: the published generators, and the statistics of what is made of them. */
#include "tests/naive.h"

#include "base/rng.h"

/* First outputs of xoshiro256** from the state 1, 2, 3, 4 and of splitmix64 from the seed 1234567, as
 * published with the generators. */
START_TEST(the_generators_are_xoshiro256_and_splitmix64)
{
    static const uint64_t xoshiro[] = {11520u,
                                       0u,
                                       1509978240u,
                                       1215971899390074240u,
                                       1216172134540287360u,
                                       607988272756665600u,
                                       16172922978634559625u,
                                       8476171486693032832u,
                                       10595114339597558777u,
                                       2904607092377533576u};
    static const uint64_t splitmix[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                        4593380528125082431u, 16408922859458223821u};
    gcg_rng rng = {{1, 2, 3, 4}};
    for (int i = 0; i < 10; i++) ck_assert_uint_eq(gcg_rng_next(&rng), xoshiro[i]);
    uint64_t x = 1234567;
    for (int i = 0; i < 5; i++) ck_assert_uint_eq(gcg_hash_mix(x += 0x9e3779b97f4a7c15u), splitmix[i]);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_sequence_and_others_differ)
{
    gcg_rng a, b, c, d;
    gcg_rng_init(&a, 42, 0);
    gcg_rng_init(&b, 42, 0);
    gcg_rng_init(&c, 42, 1);
    gcg_rng_init(&d, 43, 0);
    int same_c = 0, same_d = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = gcg_rng_next(&a);
        if (x != gcg_rng_next(&b)) ck_abort_msg("the sequences part at %d", i);
        same_c += x == gcg_rng_next(&c);
        same_d += x == gcg_rng_next(&d);
    }
    ck_assert_int_eq(same_c, 0);
    ck_assert_int_eq(same_d, 0);
}
END_TEST

/* Models and logs depend on these numbers: they must never change. */
START_TEST(the_seeded_sequence_never_changes)
{
    gcg_rng rng;
    gcg_rng_init(&rng, 1, 0);
    uint64_t state = gcg_hash_mix(1) ^ gcg_hash_mix(1);
    ck_assert_uint_eq(state, 0);
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(rng.s[i], gcg_hash_mix(state += 0x9e3779b97f4a7c15u));
    ck_assert_uint_eq(rng.s[0], 16294208416658607535u); /* splitmix64's first output from 0, as published */
    ck_assert_uint_eq(rng.s[1], 7960286522194355700u);
    ck_assert_uint_eq(gcg_hash_bytes("user 42", 7, 9), gcg_hash_bytes("user 42", 7, 9));
}
END_TEST

START_TEST(uniform_numbers_are_uniform)
{
    enum { N = 200000, BINS = 20 };
    gcg_rng rng;
    gcg_rng_init(&rng, 3, 1);
    int64_t bins[BINS] = {0};
    double sum = 0, squares = 0, lagged = 0, last = 0.5, chi = 0;
    for (int i = 0; i < N; i++) {
        double x = gcg_rng_uniform(&rng);
        if (!(x >= 0 && x < 1)) ck_abort_msg("%g is not in [0, 1)", x);
        bins[(int)(x * BINS)]++;
        sum += x;
        squares += x * x;
        lagged += (x - 0.5) * (last - 0.5);
        last = x;
    }
    for (int b = 0; b < BINS; b++) chi += pow((double)bins[b] - N / BINS, 2) / (N / BINS);
    ck_assert_double_eq_tol(sum / N, 0.5, 5 * sqrt(1.0 / 12 / N));
    ck_assert_double_eq_tol(squares / N, 1.0 / 3, 5 * sqrt(4.0 / 45 / N));
    ck_assert_double_eq_tol(lagged / N, 0, 5.0 / 12 / sqrt(N));
    ck_assert_double_lt(chi, 60); /* 19 degrees of freedom: less than once in a million */
}
END_TEST

START_TEST(normal_numbers_have_the_moments_of_the_normal_distribution)
{
    enum { N = 200000 };
    gcg_rng rng;
    gcg_rng_init(&rng, 4, 2);
    double moment[5] = {0};
    int64_t within = 0;
    for (int i = 0; i < N; i++) {
        double x = gcg_rng_normal(&rng);
        if (!isfinite(x)) ck_abort_msg("not finite");
        for (int e = 1; e <= 4; e++) moment[e] += pow(x, e) / N;
        within += fabs(x) < 1;
    }
    ck_assert_double_eq_tol(moment[1], 0, 5 / sqrt(N));
    ck_assert_double_eq_tol(moment[2], 1, 5 * sqrt(2.0 / N));
    ck_assert_double_eq_tol(moment[3], 0, 5 * sqrt(15.0 / N));
    ck_assert_double_eq_tol(moment[4], 3, 5 * sqrt(96.0 / N));
    ck_assert_double_eq_tol((double)within / N, 0.682689492, 5 * sqrt(0.2166 / N));
}
END_TEST

START_TEST(below_stays_below_and_is_even)
{
    enum { N = 70000, BOUND = 7 };
    gcg_rng rng;
    gcg_rng_init(&rng, 5, 0);
    int64_t count[BOUND] = {0};
    for (int i = 0; i < N; i++) {
        uint64_t x = gcg_rng_below(&rng, BOUND);
        if (x >= BOUND) ck_abort_msg("%d is too large", (int)x);
        count[x]++;
    }
    for (int x = 0; x < BOUND; x++) ck_assert_int_lt(labs((long)count[x] - N / BOUND), 500);
    for (int i = 0; i < 100; i++) ck_assert_uint_eq(gcg_rng_below(&rng, 1), 0);
    /* 3 * 2^62: a remainder alone would give the first third twice as often as the others */
    uint64_t bound = 3u * ((uint64_t)1 << 62);
    int64_t first = 0;
    for (int i = 0; i < 30000; i++) {
        uint64_t x = gcg_rng_below(&rng, bound);
        if (x >= bound) ck_abort_msg("too large");
        first += x < ((uint64_t)1 << 62);
    }
    ck_assert_int_lt(labs((long)first - 10000), 500);
    ck_assert_uint_lt(gcg_rng_below(&rng, UINT64_MAX), UINT64_MAX);
}
END_TEST

static int bits(uint64_t x)
{
    return __builtin_popcountll(x);
}

START_TEST(every_bit_of_the_input_moves_half_the_bits_of_a_hash)
{
    const char text[] = "the quick brown fox jumps over the lazy dog";
    for (size_t length = 1; length < sizeof text; length++) {
        char copy[sizeof text];
        uint64_t hash = gcg_hash_bytes(text, length, 1);
        int64_t moved = 0;
        for (size_t bit = 0; bit < 8 * length; bit++) {
            memcpy(copy, text, sizeof text);
            copy[bit / 8] = (char)(copy[bit / 8] ^ (1 << bit % 8));
            int change = bits(hash ^ gcg_hash_bytes(copy, length, 1));
            if (change < 8) ck_abort_msg("bit %d of %d bytes moves %d bits", (int)bit, (int)length, change);
            moved += change;
        }
        ck_assert_double_eq_tol((double)moved / (8.0 * (double)length), 32, 6);
        ck_assert_int_ge(bits(hash ^ gcg_hash_bytes(text, length, 2)), 8);
        ck_assert_int_ge(bits(hash ^ gcg_hash_bytes(text, length - 1, 1)), 8);
    }
    ck_assert_uint_ne(gcg_hash_bytes("\0", 1, 0), gcg_hash_bytes("", 0, 0)); /* the length counts */
    ck_assert_uint_ne(gcg_hash_bytes("\0\0\0\0\0\0\0\0", 8, 0), gcg_hash_bytes("", 0, 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rng");
    TCase *tests = tcase_create("random numbers");
    tcase_add_test(tests, the_generators_are_xoshiro256_and_splitmix64);
    tcase_add_test(tests, the_same_seed_gives_the_same_sequence_and_others_differ);
    tcase_add_test(tests, the_seeded_sequence_never_changes);
    tcase_add_test(tests, uniform_numbers_are_uniform);
    tcase_add_test(tests, normal_numbers_have_the_moments_of_the_normal_distribution);
    tcase_add_test(tests, below_stays_below_and_is_even);
    tcase_add_test(tests, every_bit_of_the_input_moves_half_the_bits_of_a_hash);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
