/* Version and build: see version.h. The Makefile defines the GCG_ names for this file alone. */
#include "cmd/version.h"

#include <stdio.h>

#include "base/blas.h"
#include "base/parallel.h"
#include "io/inflate.h"
#include "io/model_io.h"
#include "maths/kernels.h"

const char *const version_number = GCG_VERSION;

void version_print(void)
{
    printf("gcg-mc %s\n", version_number);
    printf("compiler\t%s\n", GCG_BUILD_CC);
    printf("flags\t%s\n", GCG_BUILD_FLAGS);
    printf("threads\t%s\n", gcg_par_available() ? "yes (OpenMP)" : "no (built without OpenMP)");
    printf("instruction set\t%s\n", gcg_kernels_isa());
    printf("BLAS\t%s\n", gcg_blas_version());
    printf("ARPACK\t%s\n", GCG_ARPACK_VERSION);
    printf("zlib\t%s\n", gcg_zlib_version());
    printf("libisal\t%s\n", gcg_isal_version() ? gcg_isal_version() : "no (gzip is unpacked with zlib)");
    printf("libzip\t%s\n", gcg_zip_version());
}
