/* Runs one fuzz target over files: the ordinary test run goes through the kept corpus with it, without
 * libFuzzer.
 *
 *   replay_<target> FILE... */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    long length = ftell(f);
    uint8_t *bytes = malloc((size_t)length + 1); /* exact, so that a sanitizer sees one byte too far */
    rewind(f);
    if (!bytes || fread(bytes, 1, (size_t)length, f) != (size_t)length) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    fclose(f);
    bytes = realloc(bytes, length ? (size_t)length : 1);
    LLVMFuzzerTestOneInput(bytes, (size_t)length);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int k = 1; k < argc; k++) failed |= replay(argv[k]);
    printf("%d inputs\n", argc - 1);
    return failed;
}
