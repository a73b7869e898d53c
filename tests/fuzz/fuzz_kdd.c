/* Fuzzer of KDD Cup blocks. */
#include "fuzz_reading.h"

FUZZ_FORMATS(GCG_FORMAT_AUTO, GCG_FORMAT_KDD)
