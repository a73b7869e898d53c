/* Fuzzer of triples with one separator. */
#include "fuzz_reading.h"

FUZZ_FORMATS(GCG_FORMAT_AUTO, GCG_FORMAT_CSV, GCG_FORMAT_SPACE, GCG_FORMAT_MOVIELENS, GCG_FORMAT_AUTO)
