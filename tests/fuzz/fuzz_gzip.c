/* Fuzzer of the gzip door. */
#include "fuzz_reading.h"

FUZZ_FORMATS(GCG_FORMAT_AUTO, GCG_FORMAT_CSV, GCG_FORMAT_NETFLIX)
