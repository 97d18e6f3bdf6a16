/* replay.c - runs a fuzz target without libFuzzer: files as they are, and each of them damaged in many ways, always the
 *same.
 *
 *     replay COUNT FILE ...
 *
 * For machines without clang's runtime. It learns nothing from what it runs, so it finds little that needs two changes
 * at once; it keeps what was once found from coming back, under whatever sanitizer it is built with.
 */
#include <bp_types.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) __attribute__((weak));

static uint64_t state;

static size_t below(size_t bound)
{
    return bp_random_below(&state, bound > UINT32_MAX ? UINT32_MAX : (uint32_t)bound);
}

/* One change; `size` is not 0, and one byte more has room. */
static size_t change(uint8_t *data, size_t size)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, '"', '\\', '{', '[', ',', '-', '9', '\n'};
    size_t at = below(size), other = below(size), length = below(size - (at > other ? at : other)) % 16 + 1;
    switch (below(6)) {
    case 0: data[at] ^= (uint8_t)(1u << below(8)); return size;
    case 1: data[at] = odd[below(sizeof odd)]; return size;
    case 2: return at > 0 ? at : size;
    case 3: memmove(data + at, data + other, length); return size;
    case 4: memmove(data + at, data + at + 1, size - at - 1); return size - 1;
    default:
        memmove(data + at + 1, data + at, size - at);
        data[at] = odd[below(sizeof odd)];
        return size + 1;
    }
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    for (size_t i = below(4) + 1; i > 0 && size > 0 && size < max_size; i--)
        size = change(data, size);
    return size;
}

/* Run a block of just that size, so that a sanitizer sees a byte read too far. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *block = malloc(size > 0 ? size : 1);
    if (block == NULL)
        exit(2);
    memcpy(block, data, size);
    LLVMFuzzerTestOneInput(block, size);
    free(block);
}

static void run_file(const char *path, int count)
{
    static uint8_t whole[1 << 20], data[sizeof whole];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    size_t size = fread(whole, 1, sizeof whole - 64, file);
    fclose(file);
    run(whole, size);
    state = size;
    for (int i = 0; i < count && size > 0; i++) {
        memcpy(data, whole, size);
        size_t made = LLVMFuzzerCustomMutator != NULL
                          ? LLVMFuzzerCustomMutator(data, size, sizeof data, (unsigned)i + 1)
                          : LLVMFuzzerMutate(data, size, sizeof data);
        run(data, made);
    }
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[1]) : 0;
    if (count <= 0) {
        fprintf(stderr, "usage: %s COUNT FILE ...\n", argv[0]);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        run_file(argv[i], count);
    printf("%s: %d files, as they are and each damaged %d times\n", argv[0], argc - 2, count);
    return 0;
}
