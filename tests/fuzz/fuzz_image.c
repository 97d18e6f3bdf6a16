/* fuzz_image.c - libFuzzer target of the judge of shared libraries: both formats, any bytes.
 *
 * The inputs' blocks end where the input ends, so a sanitizer sees a byte read too far. Beyond that, a
 * refusal must come with a sentence and an acceptance without. A mutated PE file would nearly always fail
 * at its checksum, so it is judged a second time without one.
 *
 * Half of the mutations write a number where one stands: another number of the file, the sum of two
 * neighbours (an address and a length: an end) or the file's size, less a little. Blind mutations hardly
 * ever make a table that ends just behind the end of something.
 *
 * seeds: SHARED
 * canary: host/plugin/image_elf.c s/ || elf->header.names >= elf->header.section_count//
 * canary: host/plugin/image_elf_symbols.c s/0; name < elf->string_bytes; i++/0;; i++/
 */
#include <bp_types.h>
#include <plugin/image.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

typedef bool (*check_fn)(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size);

static void judge(check_fn check, const uint8_t *data, size_t size)
{
    char why[256];
    memset(why, 'x', sizeof why);
    bool whole = check(data, size, "bp_plugin", why, sizeof why);
    if (memchr(why, '\0', sizeof why) == NULL || (why[0] == '\0') != whole)
        abort();
}

static void judge_without_checksum(const uint8_t *data, size_t size)
{
    uint64_t at = 0;
    if (size >= 64)
        at = ((uint64_t)data[60] | (uint64_t)data[61] << 8 | (uint64_t)data[62] << 16) + 24 + 64;
    uint8_t *copy = size >= 64 && at + 4 <= size ? malloc(size) : NULL;
    if (copy == NULL)
        return;
    memcpy(copy, data, size);
    memset(copy + at, 0, 4);
    judge(image_check_pe, copy, size);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    judge(image_check_elf, data, size);
    judge(image_check_pe, data, size);
    judge_without_checksum(data, size);
    return 0;
}

/* A place of `width` bytes, mostly near the file's ends, where the tables are. */
static size_t random_place(uint64_t *random, size_t size, size_t width)
{
    uint32_t places = (uint32_t)(size / width), near = places < 256 ? places : 256;
    switch (bp_random_below(random, 3)) {
    case 0: return width * bp_random_below(random, near);
    case 1: return width * (places - 1 - bp_random_below(random, near));
    default: return width * bp_random_below(random, places);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    uint64_t random = seed, number = size, neighbour = 0;
    size_t width = bp_random_below(&random, 2) == 0 ? 4 : 8;
    if (size < 64 || bp_random_below(&random, 2) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    uint32_t choice = bp_random_below(&random, 5);
    size_t from = random_place(&random, size, width), to = random_place(&random, size, width);
    if (choice > 0) {
        number = 0;
        memcpy(&number, data + from, width);
    }
    if (choice > 2 && from + 2 * width <= size) {
        memcpy(&neighbour, data + from + width, width);
        number += neighbour;
    }
    number -= bp_random_below(&random, 64);
    memcpy(data + to, &number, width);
    return size;
}
