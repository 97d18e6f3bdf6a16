/* test_image.c - which libraries are let through to the system's loader.
 *
 * A plugin of this build is the good library; the others are made from its bytes: cut at every length,
 * ended with zeros at every length, patched, and mutated at random. Nothing is ever loaded here. PE
 * libraries are put together by hand (make_pe), so that they are judged on every platform.
 *
 * Bytes lie in blocks that end where they end, so that AddressSanitizer sees a byte read too far.
 */
#include "support.h"

#include <os/os.h>
#include <bp_plugin.h>
#include <check.h>
#include <plugin/elf.h>
#include <plugin/image.h>
#include <plugin/pe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *image_suite(void);

typedef bool (*check_fn)(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size);

static unsigned char *library;
static size_t library_size;
static char why[256];

/* --- bytes -------------------------------------------------------------------------------------------- */

static void read_library(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s%s", TEST_PLUGIN_DIR, name, os_library_suffix);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s must have been built", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    library_size = (size_t)ftell(file);
    rewind(file);
    library = malloc(library_size);
    ck_assert_ptr_nonnull(library);
    ck_assert_uint_eq(fread(library, 1, library_size, file), library_size);
    fclose(file);
}

static void read_plugin(void)
{
    read_library("point_mass");
}

static void free_library(void)
{
    free(library);
    library = NULL;
}

static bool judge_by(check_fn check, const void *bytes, size_t size)
{
    bool whole = check(bytes, size, BP_PLUGIN_SYMBOL, why, sizeof why);
    ck_assert_msg(whole == (why[0] == '\0'), "a sentence comes with a refusal and only then, not '%s'", why);
    return whole;
}

/* Refused, with these words in the sentence. */
static void refused_by(check_fn check, const void *bytes, size_t size, const char *words)
{
    ck_assert_msg(!judge_by(check, bytes, size), "accepted, where '%s' was expected", words);
    ck_assert_msg(strstr(why, words) != NULL, "refused as '%s', not as '%s'", why, words);
}

static void put(unsigned char *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* --- what holds for every format ---------------------------------------------------------------------- */

static void no_cut_is_accepted(check_fn check)
{
    for (size_t size = 0; size < library_size; size++)
        ck_assert_msg(!judge_by(check, library, size), "accepted, cut at %zu of %zu", size, library_size);
    for (size_t size = 0; size < library_size; size += size < 1024 ? 1 : 61) {
        unsigned char *cut = malloc(size + (size == 0));
        ck_assert_ptr_nonnull(cut);
        memcpy(cut, library, size);
        ck_assert(!judge_by(check, cut, size));
        free(cut);
    }
}

/* The zeros grow from the end; the library is another one as soon as they have met a byte that was none. */
static void no_tail_of_zeros_is_accepted(check_fn check)
{
    bool changed = false;
    for (size_t start = library_size; start-- > 0;) {
        changed = changed || library[start] != 0;
        library[start] = 0;
        if (changed)
            ck_assert_msg(!judge_by(check, library, library_size), "accepted, zeros from %zu of %zu", start,
                          library_size);
    }
    ck_assert(changed);
}

static uint64_t random_value(uint64_t *random)
{
    static const uint64_t edges[] = {0, 1, 7, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, UINT64_MAX};
    uint64_t choice = bp_random_next(random);
    if (choice % 4 == 0)
        return edges[(choice >> 8) % (sizeof edges / sizeof edges[0])];
    return choice % 4 == 1 ? choice >> 56 : choice % 4 == 2 ? choice >> 40 : choice;
}

/* Half of the changes meet the first 4 KiB, where the tables are. */
static void no_mutation_crashes(check_fn check, uint64_t seed, int rounds)
{
    unsigned char *mutant = malloc(library_size);
    ck_assert_ptr_nonnull(mutant);
    int refused = 0;
    for (int i = 0; i < rounds; i++) {
        memcpy(mutant, library, library_size);
        uint32_t changes = 1 + bp_random_below(&seed, 8);
        for (uint32_t j = 0; j < changes; j++) {
            size_t bytes = (size_t)1 << bp_random_below(&seed, 4), room = library_size - bytes;
            if (bp_random_below(&seed, 2) == 0 && room > 4096)
                room = 4096;
            put(mutant + bp_random_below(&seed, (uint32_t)room), random_value(&seed), bytes);
        }
        refused += !judge_by(check, mutant, library_size);
    }
    free(mutant);
    ck_assert_int_gt(refused, rounds / 10);
}

START_TEST(other_files_are_refused)
{
    static const check_fn checks[] = {image_check, image_check_elf, image_check_pe};
    unsigned char garbage[4096];
    uint64_t random = 7;
    for (size_t i = 0; i < sizeof garbage; i += 8)
        put(garbage + i, bp_random_next(&random), 8);
    for (size_t i = 0; i < 3; i++) {
        refused_by(checks[i], NULL, 0, "empty");
        refused_by(checks[i], "#!/bin/sh\necho no\n", 18, "it begins with \"#!/bin/s\"");
        refused_by(checks[i], "\001\"\\", 3, "it begins with \"\\x01\\x22\\x5c\"");
        for (size_t size = 1; size < sizeof garbage; size += 13)
            refused_by(checks[i], garbage + sizeof garbage - size, size, "not a shared library: it begins");
    }
    refused_by(image_check_pe, "\177ELF", 4, "libraries for Linux");
    refused_by(image_check_elf, "\317\372\355\376", 4, "libraries for macOS");
    refused_by(image_check_elf, "MZ", 2, "libraries for Windows");
    refused_by(image_check_elf, "MZ\220\0\003\0\0\0", 8, "libraries for Windows");
    refused_by(image_check_pe, "\177ELF\002\001\001", 8, "libraries for Linux");
    refused_by(image_check_elf, "\317\372\355\376\f\0\0", 8, "libraries for macOS");
    refused_by(image_check_pe, "\317\372\355\376\f\0\0", 8, "libraries for macOS");
}
END_TEST

START_TEST(a_sentence_is_cut_to_its_room)
{
    char small[8] = "xxxxxxx";
    ck_assert(!image_check("text", 4, BP_PLUGIN_SYMBOL, small, sizeof small));
    ck_assert_str_eq(small, "not a s");
    ck_assert(!image_check("text", 4, BP_PLUGIN_SYMBOL, NULL, 0));
}
END_TEST

/* --- a plugin of this build --------------------------------------------------------------------------- */

START_TEST(a_whole_plugin_is_accepted)
{
    ck_assert_msg(judge_by(image_check, library, library_size), "refused: %s", why);
}
END_TEST

START_TEST(a_plugin_at_an_odd_address_is_accepted)
{
    unsigned char *shifted = malloc(library_size + 1);
    ck_assert_ptr_nonnull(shifted);
    memcpy(shifted + 1, library, library_size);
    ck_assert_msg(judge_by(image_check, shifted + 1, library_size), "refused: %s", why);
    free(shifted);
}
END_TEST

START_TEST(a_plugin_cut_at_any_length_is_refused)
{
    no_cut_is_accepted(image_check);
}
END_TEST

START_TEST(a_plugin_that_ends_in_zeros_is_refused)
{
    no_tail_of_zeros_is_accepted(image_check);
}
END_TEST

START_TEST(an_absent_symbol_is_named)
{
    ck_assert(!image_check(library, library_size, "bp_plugim", why, sizeof why));
    ck_assert_str_eq(why, "does not export the symbol bp_plugim");
    ck_assert(!image_check(library, library_size, "bp_plugin_", why, sizeof why));
    ck_assert(!image_check(library, library_size, "bp_plugi", why, sizeof why));
}
END_TEST

START_TEST(a_mutated_plugin_never_crashes_the_judge)
{
    no_mutation_crashes(image_check, 2024, 20000);
}
END_TEST

/* --- ELF ---------------------------------------------------------------------------------------------- */

#if !defined(_WIN32) && !defined(__APPLE__)
static void patched_is_refused(size_t at, uint64_t value, size_t bytes, const char *words)
{
    uint64_t kept = get(library + at, bytes);
    put(library + at, value, bytes);
    refused_by(image_check_elf, library, library_size, words);
    put(library + at, kept, bytes);
}

/* The place of the first segment of a type: 1 is loaded, 2 the dynamic table. */
static size_t segment_of(uint64_t type)
{
    size_t at = (size_t)get(library + 32, 8), count = (size_t)get(library + 56, 2);
    while (count > 0 && get(library + at, 4) != type) {
        at += 56;
        count--;
    }
    ck_assert_msg(count > 0, "a plugin has a segment of type %d", (int)type);
    return at;
}

/* The place of the entry of a tag, 0 where there is none. */
static size_t dynamic_entry(uint64_t tag)
{
    size_t at = (size_t)get(library + segment_of(2) + 8, 8);
    while (get(library + at, 8) != 0 && get(library + at, 8) != tag)
        at += 16;
    return get(library + at, 8) == tag ? at : 0;
}

/* Where the table of a tag stands in the file, 0 where there is none. The tables asked for are loaded, and
 * what is loaded stands together in the list of segments. */
static size_t dynamic_place(uint64_t tag)
{
    size_t entry = dynamic_entry(tag), at = segment_of(1);
    uint64_t address = entry == 0 ? 0 : get(library + entry + 8, 8);
    while (entry != 0 && address - get(library + at + 16, 8) >= get(library + at + 32, 8))
        at += 56;
    return entry == 0 ? 0 : (size_t)(address - get(library + at + 16, 8) + get(library + at + 8, 8));
}

static size_t symbol_count(void)
{
    size_t at = (size_t)get(library + 40, 8);
    while (get(library + at + 4, 4) != 11)
        at += 64;
    return (size_t)get(library + at + 32, 8) / 24;
}

START_TEST(the_kind_and_machine_of_an_elf_file_are_told)
{
    patched_is_refused(4, 1, 1, "a 32-bit library; this host needs 64-bit ones");
    patched_is_refused(5, library[5] ^ 3u, 1, "other byte order");
    static const struct { uint16_t number; const char *words; } machines[] = {
        {3, "built for x86 (32-bit), this host is "}, {21, "built for ppc64, this host is "},
        {22, "built for s390x, this host is "},       {40, "built for ARM (32-bit), this host is "},
        {62, "built for x86_64, this host is "},      {183, "built for aarch64, this host is "},
        {243, "built for riscv64, this host is "},    {258, "built for loongarch64, this host is "},
        {4711, "built for an unknown machine, this host is "},
    };
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        if (machines[i].number != get(library + 18, 2))
            patched_is_refused(18, machines[i].number, 2, machines[i].words);
    }
    patched_is_refused(16, 1, 2, "an object file that is not linked yet");
    patched_is_refused(16, 2, 2, "a program, not a shared library");
    patched_is_refused(16, 4, 2, "ELF type 4");
    patched_is_refused(40, 0, 8, "its section table has been removed");
    patched_is_refused(60, 0, 2, "its section table has been removed");
}
END_TEST

/* The place of the first entry of the section table of a type; 0 where there is none. */
static size_t section_of(uint64_t type)
{
    size_t at = (size_t)get(library + 40, 8), count = (size_t)get(library + 60, 2);
    for (size_t i = 0; i < count; i++) {
        if (get(library + at + i * 64 + 4, 4) == type)
            return at + i * 64;
    }
    return 0;
}

/* Each function of the file is found by the place of its last byte in the image, which begins at the address `base`.
 * Returns how many functions there are; their names may be given to several of one address. */
static uint32_t find_functions(size_t table, uint64_t base)
{
    size_t symbols = (size_t)get(library + table + 24, 8), count = (size_t)get(library + table + 32, 8) / 24;
    size_t texts = (size_t)get(library + get(library + 40, 8) + get(library + table + 40, 4) * 64 + 24, 8);
    uint32_t found = 0;
    for (size_t at = symbols; at < symbols + count * 24; at += 24) {
        uint64_t bytes = get(library + at + 16, 8), into = 0;
        char name[128] = "";
        if ((library[at + 4] & 0xf) != 2 || get(library + at + 6, 2) == 0 || bytes == 0)
            continue;
        ck_assert(elf_function_at(library, library_size, get(library + at + 8, 8) - base + bytes - 1, name,
                                  sizeof name, &into));
        ck_assert_str_eq(name, (const char *)library + texts + get(library + at, 4));
        ck_assert_uint_eq(into, bytes - 1);
        found++;
    }
    return found;
}

/* A table that ends before its first function has none: what lies behind the table is no symbol. */
static void expect_last_symbol(size_t table)
{
    size_t first = (size_t)get(library + table + 24, 8), at = first;
    uint64_t bytes = get(library + table + 32, 8), into;
    char name[128];
    while ((library[at + 4] & 0xf) != 2 || get(library + at + 6, 2) == 0 || get(library + at + 16, 8) == 0)
        at += 24;
    put(library + table + 32, at - first, 8);
    ck_assert(!elf_function_at(library, library_size, get(library + at + 8, 8), name, sizeof name, &into));
    put(library + table + 32, at - first + 24, 8);
    ck_assert(elf_function_at(library, library_size, get(library + at + 8, 8), name, sizeof name, &into));
    put(library + table + 32, bytes, 8);
}

/* Change what the file says of all that is loaded, and of all symbols of a table, to addresses that are `base` higher.
 * Segments of other kinds stay where they are, as that of the stack, which lies at address 0. */
static void link_at(size_t table, uint64_t base)
{
    enum { LOADED = 1 };
    size_t symbols = (size_t)get(library + table + 24, 8), count = (size_t)get(library + table + 32, 8) / 24;
    size_t segments = (size_t)get(library + 32, 8), segment_count = (size_t)get(library + 56, 2);
    for (size_t at = segments; at < segments + segment_count * 56; at += 56) {
        if (get(library + at, 4) == LOADED)
            put(library + at + 16, get(library + at + 16, 8) + base, 8);
    }
    for (size_t at = symbols; at < symbols + count * 24; at += 24)
        put(library + at + 8, get(library + at + 8, 8) + base, 8);
}

/* Exchange the first two loaded segments in the file's table of segments. */
static void exchange_segments(void)
{
    enum { LOADED = 1, SEGMENT = 56 };
    unsigned char kept[SEGMENT];
    size_t first = (size_t)get(library + 32, 8), second;
    while (get(library + first, 4) != LOADED)
        first += SEGMENT;
    for (second = first + SEGMENT; get(library + second, 4) != LOADED;)
        second += SEGMENT;
    memcpy(kept, library + first, SEGMENT);
    memcpy(library + first, library + second, SEGMENT);
    memcpy(library + second, kept, SEGMENT);
}

/* A stripped file has the symbols that it exports; here its table of all symbols is made that table. gravity has
 * several functions whichever compiler made it; point_mass has one where its loop is not compiled for several
 * processors. */
START_TEST(functions_of_an_elf_library_are_found_by_their_addresses_stripped_or_not)
{
    enum { ALL_SYMBOLS = 2, EXPORTED = 11, NOTES = 7 };
    char name[128];
    uint64_t into;
    free_library();
    read_library("gravity");
    size_t all = section_of(ALL_SYMBOLS), exported = section_of(EXPORTED);
    ck_assert(all != 0 && exported != 0);
    uint32_t count = find_functions(all, 0);
    ck_assert_uint_gt(count, 1);
    ck_assert(!elf_function_at(library, library_size, library_size * 16, name, sizeof name, &into));
    expect_last_symbol(all);
    put(library + exported + 4, NOTES, 4);
    put(library + all + 4, EXPORTED, 4);
    ck_assert_uint_eq(find_functions(all, 0), count);
    put(library + all + 4, NOTES, 4);
    for (uint64_t offset = 0; offset < library_size; offset += 16)
        ck_assert(!elf_function_at(library, library_size, offset, name, sizeof name, &into));
    for (size_t size = 0; size < 64; size++)
        ck_assert(!elf_function_at(library, size, 0, name, sizeof name, &into));
}
END_TEST

/* The image begins where the lowest of the loaded segments does, in whatever order the file has them. */
START_TEST(functions_of_an_elf_library_that_is_linked_at_an_address_are_found)
{
    enum { ALL_SYMBOLS = 2, BASE = 0x4000000 };
    free_library();
    read_library("gravity");
    size_t all = section_of(ALL_SYMBOLS);
    uint32_t count = find_functions(all, 0);
    link_at(all, BASE);
    ck_assert_uint_eq(find_functions(all, BASE), count);
    exchange_segments();
    ck_assert_uint_eq(find_functions(all, BASE), count);
}
END_TEST

START_TEST(a_position_independent_program_is_refused)
{
    size_t entry = dynamic_entry(0x6ffffff9); /* the count of relative relocations; a hint that may be missing */
    ck_assert_uint_ne(entry, 0);
    put(library + entry, 0x6ffffffb, 8);
    put(library + entry + 8, 0x08000000, 8);
    refused_by(image_check_elf, library, library_size, "a program, not a shared library");
}
END_TEST

START_TEST(a_cut_says_where_the_file_should_end)
{
    char expected[128];
    snprintf(expected, sizeof expected, "cut short: its section table ends at byte %zu of a file of %zu",
             (size_t)get(library + 40, 8) + 64 * (size_t)get(library + 60, 2), library_size / 2);
    refused_by(image_check_elf, library, library_size / 2, expected);
    refused_by(image_check_elf, library, 63, "cut short: its header ends at byte 64 of a file of 63");
}
END_TEST

START_TEST(a_null_section_is_refused)
{
    size_t sections = (size_t)get(library + 40, 8), count = (size_t)get(library + 60, 2);
    for (size_t i = 1; i < count; i++)
        patched_is_refused(sections + i * 64 + 4, 0, 4, "is null");
}
END_TEST

START_TEST(a_section_or_segment_beyond_the_end_is_refused)
{
    size_t sections = (size_t)get(library + 40, 8), segments = (size_t)get(library + 32, 8);
    size_t loaded = segment_of(1);
    patched_is_refused(sections + 64 + 32, library_size, 8, "cut short: section 1 ends at byte");
    patched_is_refused(sections + 64 + 24, UINT64_MAX, 8, "section 1 ends beyond");
    patched_is_refused(segments + 32, library_size + 1, 8, "cut short: segment 0 ends at byte");
    patched_is_refused(segments + 8, UINT64_MAX - 4095, 8, "segment 0 ends");
    size_t protected = segment_of(0x6474e552); /* beyond the plugin lies memory of others */
    patched_is_refused(protected + 40, get(library + protected + 40, 8) + 0x10000, 8, "lies in no segment that is");
    patched_is_refused(protected + 40, UINT64_MAX, 8, "lies in no segment that is loaded");
    patched_is_refused(loaded + 40, 1, 8, "is larger in the file than in memory");
    patched_is_refused(loaded + 48, 3, 8, "is not aligned as it says");
    patched_is_refused(loaded + 16, UINT64_MAX, 8, "damaged");
    ck_assert_uint_eq(get(library + loaded + 56, 4), 1); /* what is loaded stands together */
    patched_is_refused(loaded + 40, UINT64_C(1) << 40, 8, "overlaps the one before it in memory");
}
END_TEST

/* What the loader follows without looking: tables, lengths, functions. A tag that a plugin does not have
 * is passed over; which ones it has depends on the linker. */
START_TEST(a_dynamic_table_that_points_astray_is_refused)
{
    static const uint64_t tags[] = {1,  2,  4,  5,  6,  7,  8,  9,          10,         11,        12,
                                    13, 20, 23, 25, 26, 27, 28, 0x6ffffef5, 0x6ffffff0, 0x6ffffffe};
    int met = 0;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        size_t entry = dynamic_entry(tags[i]);
        if (entry == 0)
            continue;
        met++;
        patched_is_refused(entry + 8, UINT64_MAX - 7, 8, "damaged");
        patched_is_refused(entry + 8, library_size * 16, 8, "damaged");
    }
    ck_assert_int_ge(met, 10);
    size_t begin = (size_t)get(library + segment_of(2) + 8, 8), other = dynamic_entry(0x6ffffff9);
    uint64_t kept[2] = {get(library + begin, 8), get(library + begin + 8, 8)};
    if (other != 0 && other != begin) { /* a text that is named by the first entry, in the place of a hint */
        put(library + other, kept[0], 8);
        put(library + other + 8, kept[1], 8);
        put(library + begin, 14, 8);
        put(library + begin + 8, 0, 8);
        ck_assert(judge_by(image_check_elf, library, library_size));
        patched_is_refused(begin + 8, library_size * 16, 8, "names a text that is not there");
        put(library + other, 0x6ffffff9, 8);
        put(library + other + 8, 0, 8);
        put(library + begin, kept[0], 8);
        put(library + begin + 8, kept[1], 8);
    }
    size_t hash = dynamic_entry(0x6ffffef5), old_hash = dynamic_entry(4);
    if (hash != 0 && old_hash != 0)
        put(library + old_hash, 0x6fffaaab, 8); /* an unknown tag */
    patched_is_refused(hash != 0 ? hash : old_hash, 0x6fffaaaa, 8, "hash table");
    patched_is_refused(segment_of(2) + 32, 16, 8, "its dynamic table has no end");
}
END_TEST

START_TEST(tables_that_the_loader_would_follow_too_far_are_refused)
{
    size_t hash = dynamic_place(0x6ffffef5), relocations = dynamic_place(7), symbols = dynamic_place(6);
    ck_assert_uint_ne(relocations, 0);
    patched_is_refused(relocations, library_size * 16, 8, "relocation 0 writes outside its data");
    patched_is_refused(relocations + 12, UINT32_MAX, 4, "relocation 0 asks for a symbol that is not there");
#if defined(__x86_64__) || defined(__aarch64__)
    patched_is_refused(relocations + 8, 9, 4, "relocation 0 is of a kind that libraries of this machine lack");
    patched_is_refused(relocations + 8, 5000, 4, "relocation 0 is of a kind");
#endif
#if defined(__x86_64__)
    patched_is_refused(relocations + 8, 5, 4, "relocation 0 is of a kind"); /* it would copy out of another library */
    uint64_t kind = get(library + relocations + 8, 4);
    put(library + relocations + 8, 37, 4);
    patched_is_refused(relocations + 16, library_size * 16, 8, "relocation 0 calls what is not in its code");
    put(library + relocations + 8, kind, 4);
    size_t count = dynamic_entry(0x6ffffff9);
    ck_assert_uint_ne(count, 0); /* the loader ends the process where what it counts is of another kind */
    patched_is_refused(count + 8, 100000, 8, "is of another kind than its dynamic table says");
    size_t late = dynamic_place(23);
    if (late != 0)
        patched_is_refused(late + 8, 8, 4, "relocation 0 is of a kind"); /* good in the other table only */
#endif
    patched_is_refused(symbols + 24, UINT32_MAX, 4, "symbol 1 has a name that is not there");
    if (hash != 0) {
        size_t buckets = (size_t)get(library + hash, 4), bloom = (size_t)get(library + hash + 8, 4);
        size_t hashes = hash + 16 + 8 * bloom + 4 * buckets;
        size_t last = hashes + 4 * (symbol_count() - (size_t)get(library + hash + 4, 4) - 1);
        patched_is_refused(last, get(library + last, 4) & ~UINT64_C(1), 4, "hash table");
        patched_is_refused(hash, 0, 4, "hash table");
        patched_is_refused(hash + 8, 3, 4, "hash table");
        patched_is_refused(hash + 12, 64, 4, "hash table");
    }
}
END_TEST

/* A plugin that calls the C library wants versions of its symbols, where that library has versions. */
START_TEST(versions_of_symbols_that_are_not_there_are_refused)
{
    free_library();
    read_library("mesh");
    ck_assert_msg(judge_by(image_check_elf, library, library_size), "refused: %s", why);
    size_t versions = dynamic_place(0x6ffffff0), needs = dynamic_place(0x6ffffffe);
    if (versions == 0 || needs == 0)
        return;
    patched_is_refused(versions + 2, 0x7fff, 2, "symbol 1 has a version that is not there");
    patched_is_refused(needs, 2, 2, "lists of versions");
    patched_is_refused(needs + 4, 0, 4, "lists of versions"); /* of a library that it does not ask for */
    patched_is_refused(needs + 8, UINT32_MAX, 4, "lists of versions");
    patched_is_refused(needs + 12, UINT32_MAX, 4, "lists of versions");
    patched_is_refused(needs + 16 + 8, UINT32_MAX, 4, "lists of versions"); /* the first version's name */
    patched_is_refused(dynamic_entry(0x6ffffff0), 0x6fffaaaa, 8, "the versions of its symbols are not there");
}
END_TEST
#endif

/* --- PE ----------------------------------------------------------------------------------------------- */

#if defined(__aarch64__)
enum { PE_MACHINE = 0xaa64, PE_OTHER_MACHINE = 0x8664 };
#define PE_OTHER "built for x86_64, this host is aarch64"
#else
enum { PE_MACHINE = 0x8664, PE_OTHER_MACHINE = 0xaa64 };
#define PE_OTHER "built for aarch64, this host is x86_64"
#endif

/* Places in the file of make_pe. Code and data are each one section, at 0x1000 and 0x2000 in memory. */
enum {
    PE_HEADER = 0x40, PE_OPTIONAL = PE_HEADER + 24, PE_CHECKSUM = PE_OPTIONAL + 64,
    PE_TABLES = PE_OPTIONAL + 112, PE_SECTIONS = PE_OPTIONAL + 240, PE_CODE = 0x200, PE_DATA = 0x400,
    PE_SIZE = 0x600, PE_ADDRESS = 0x2000 - PE_DATA
};
/* The object stands in front of its section, the tables fill its end: what reads past one is out of the
 * file. */
enum {
    PE_OBJECT = PE_DATA, PE_EXPORTS = PE_SIZE - 0xf0, PE_IMPORTS = PE_SIZE - 0x90, PE_LOOKUP = PE_SIZE - 0x68,
    PE_FILLED = PE_SIZE - 0x58, PE_TEXTS = PE_SIZE - 0x48, PE_RELOCATIONS = PE_SIZE - 16
};

static void put_section(int index, const char *name, uint32_t address, uint32_t offset, uint32_t flags)
{
    unsigned char *at = library + PE_SECTIONS + index * 40;
    memcpy(at, name, strlen(name));
    put(at + 8, 0x200, 4);
    put(at + 12, address, 4);
    put(at + 16, 0x200, 4);
    put(at + 20, offset, 4);
    put(at + 36, flags, 4);
}

static void put_table(int index, size_t offset, size_t bytes)
{
    put(library + PE_TABLES + index * 8, offset + PE_ADDRESS, 4);
    put(library + PE_TABLES + index * 8 + 4, bytes, 4);
}

static void put_headers(void)
{
    memcpy(library, "MZ", 2);
    put(library + 60, PE_HEADER, 4);
    memcpy(library + PE_HEADER, "PE", 2);
    put(library + PE_HEADER + 4, PE_MACHINE, 2);
    put(library + PE_HEADER + 6, 2, 2);          /* sections */
    put(library + PE_HEADER + 20, 240, 2);       /* bytes of the optional header */
    put(library + PE_HEADER + 22, 0x2022, 2);    /* linked, large addresses, a library */
    put(library + PE_OPTIONAL, 0x20b, 2);        /* PE32+ */
    put(library + PE_OPTIONAL + 16, 0x1000, 4);  /* entry */
    put(library + PE_OPTIONAL + 24, 0x180000000, 8);
    put(library + PE_OPTIONAL + 32, 0x1000, 4);  /* alignment of sections in memory, and in the file */
    put(library + PE_OPTIONAL + 36, 0x200, 4);
    put(library + PE_OPTIONAL + 40, 6, 2);       /* versions of the system and the subsystem */
    put(library + PE_OPTIONAL + 48, 6, 2);
    put(library + PE_OPTIONAL + 56, 0x3000, 4);  /* bytes in memory, and of the headers */
    put(library + PE_OPTIONAL + 60, 0x200, 4);
    put(library + PE_OPTIONAL + 68, 3, 2);       /* subsystem: console */
    put(library + PE_OPTIONAL + 70, 0x0160, 2);  /* may be moved, data is not run */
    put(library + PE_OPTIONAL + 72, 0x100000, 8);
    put(library + PE_OPTIONAL + 108, 16, 4);     /* tables */
    put_section(0, ".text", 0x1000, PE_CODE, 0x60000020);
    put_section(1, ".data", 0x2000, PE_DATA, 0xc0000040);
}

static void put_exports(void)
{
    unsigned char *at = library + PE_EXPORTS;
    put_table(0, PE_EXPORTS, 0x60);
    put(at + 12, PE_EXPORTS + 0x40 + PE_ADDRESS, 4); /* the library's name */
    put(at + 16, 1, 4);
    put(at + 20, 1, 4); /* items, names */
    put(at + 24, 1, 4);
    put(at + 28, PE_EXPORTS + 0x28 + PE_ADDRESS, 4);
    put(at + 32, PE_EXPORTS + 0x2c + PE_ADDRESS, 4);
    put(at + 36, PE_EXPORTS + 0x30 + PE_ADDRESS, 4);
    put(at + 0x28, PE_OBJECT + PE_ADDRESS, 4);
    put(at + 0x2c, PE_EXPORTS + 0x50 + PE_ADDRESS, 4);
    memcpy(at + 0x40, "hand.dll", 8);
    memcpy(at + 0x50, "bp_plugin", 9);
}

static void put_imports(void)
{
    put_table(1, PE_IMPORTS, 40);
    put(library + PE_IMPORTS, PE_LOOKUP + PE_ADDRESS, 4);
    put(library + PE_IMPORTS + 12, PE_TEXTS + PE_ADDRESS, 4);
    put(library + PE_IMPORTS + 16, PE_FILLED + PE_ADDRESS, 4);
    put(library + PE_LOOKUP, PE_TEXTS + 0x10 + PE_ADDRESS, 8);
    put(library + PE_FILLED, PE_TEXTS + 0x10 + PE_ADDRESS, 8);
    memcpy(library + PE_TEXTS, "KERNEL32.dll", 12);
    memcpy(library + PE_TEXTS + 0x12, "GetTickCount", 12);
}

/* A library of two sections that exports one object, imports one function and has three words to relocate. */
static void make_pe(void)
{
    library_size = PE_SIZE;
    library = calloc(1, library_size);
    ck_assert_ptr_nonnull(library);
    put_headers();
    memcpy(library + PE_CODE, "\270\001\0\0\0\303", 6); /* mov eax, 1; ret */
    put_exports();
    put_imports();
    put(library + PE_OBJECT, UINT64_C(0x180002008), 8);
    put(library + PE_OBJECT + 8, UINT64_C(0x180002010), 8);
    put(library + PE_OBJECT + 16, UINT64_C(0x180002000), 8);
    put_table(5, PE_RELOCATIONS, 16);
    put(library + PE_RELOCATIONS, 0x2000, 4);
    put(library + PE_RELOCATIONS + 4, 16, 4);
    put(library + PE_RELOCATIONS + 8, 0xa000, 2);
    put(library + PE_RELOCATIONS + 10, 0xa008, 2);
    put(library + PE_RELOCATIONS + 12, 0xa010, 2);
}

static void put_checksum(void)
{
    uint64_t sum = 0;
    put(library + PE_CHECKSUM, 0, 4);
    for (size_t i = 0; i < library_size; i += 2)
        sum += get(library + i, 2);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    put(library + PE_CHECKSUM, sum + library_size, 4);
}

static void pe_patched_is_refused(size_t at, uint64_t value, size_t bytes, const char *words)
{
    uint64_t kept = get(library + at, bytes);
    put(library + at, value, bytes);
    refused_by(image_check_pe, library, library_size, words);
    put(library + at, kept, bytes);
}

/* --- functions of a library for Windows ------------------------------------------------------------------------- */

enum {
    PE_SYMBOLS = PE_SIZE, PE_SYMBOL = 18, PE_SYMBOL_TEXTS = PE_SYMBOLS + 4 * PE_SYMBOL,
    PE_WHOLE = PE_SYMBOL_TEXTS + 40
};

static void put_symbol(int index, const char *name, uint32_t value, uint32_t section, uint32_t type, uint32_t more)
{
    unsigned char *at = library + PE_SYMBOLS + index * PE_SYMBOL;
    if (name[0] != '\0')
        memcpy(at, name, strlen(name));
    else
        put(at + 4, 4, 4); /* the first of the texts */
    put(at + 8, value, 4);
    put(at + 12, section, 2);
    put(at + 14, type, 2);
    put(at + 17, more, 1);
}

/* Two functions, the first with eight letters and a record behind it; a variable between them. */
static void add_symbols(void)
{
    library = realloc(library, PE_WHOLE);
    ck_assert_ptr_nonnull(library);
    memset(library + PE_SIZE, 0, PE_WHOLE - PE_SIZE);
    library_size = PE_WHOLE;
    put(library + PE_HEADER + 12, PE_SYMBOLS, 4);
    put(library + PE_HEADER + 16, 4, 4);
    put_symbol(0, "simulate", 0x10, 1, 0x20, 1);
    put_symbol(2, "a_table", 0x20, 1, 0, 0);
    put_symbol(3, "", 0x40, 1, 0x20, 0);
    put(library + PE_SYMBOL_TEXTS, 40, 4);
    memcpy(library + PE_SYMBOL_TEXTS + 4, "a_function_of_a_long_name", 25);
}

static void expect_function(uint64_t offset, const char *name, uint64_t into)
{
    char found[128] = "";
    uint64_t bytes = 0;
    bool there = pe_function_at(library, library_size, offset, found, sizeof found, &bytes);
    EXPECT(there == (name != NULL), "0x%x: %s", (unsigned)offset, there ? found : "no function");
    EXPECT(name == NULL || (strcmp(found, name) == 0 && bytes == into), "0x%x: '%s' + %u", (unsigned)offset, found,
           (unsigned)bytes);
}

START_TEST(functions_of_a_pe_library_are_found_by_their_addresses)
{
    add_symbols();
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    expect_function(0x100f, NULL, 0);
    expect_function(0x1010, "simulate", 0);
    expect_function(0x103f, "simulate", 0x2f);
    expect_function(0x1042, "a_function_of_a_long_name", 2);
    expect_function(0x1200, NULL, 0); /* behind the section */
    expect_function(0x2000, NULL, 0);
    ck_assert_uint_eq(pe_linked_at(library, library_size), 0x180000000);
    put(library + PE_HEADER + 16, 0xffffffff, 4); /* more symbols than there is room for */
    expect_function(0x1010, NULL, 0);
    library[0] = 'E';
    expect_function(0x1010, NULL, 0);
    ck_assert_uint_eq(pe_linked_at(library, library_size), 0);
}
END_TEST

/* Whatever a file holds, what is read of it lies in it. */
START_TEST(functions_of_a_damaged_pe_library_are_looked_for_within_it)
{
    enum { ROUNDS = 20000 };
    uint64_t seed = 7, into;
    char name[16];
    add_symbols();
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = i % 4 == 0 ? bp_random_below(&seed, PE_WHOLE) : PE_WHOLE;
        unsigned char *mutant = malloc(size + (size == 0));
        ck_assert_ptr_nonnull(mutant);
        memcpy(mutant, library, size);
        for (uint32_t n = bp_random_below(&seed, 6); n > 0 && size > 8; n--) {
            bool behind = size == PE_WHOLE && bp_random_below(&seed, 2) == 0;
            size_t at = behind ? PE_SYMBOLS + bp_random_below(&seed, PE_WHOLE - PE_SYMBOLS - 8)
                               : bp_random_below(&seed, (uint32_t)(size < 0x200 ? size : 0x200) - 8);
            put(mutant + at, random_value(&seed), (size_t)1 << bp_random_below(&seed, 4));
        }
        if (pe_function_at(mutant, size, bp_random_below(&seed, 0x3000), name, sizeof name, &into))
            ck_assert_uint_lt(strlen(name), sizeof name);
        pe_linked_at(mutant, size);
        free(mutant);
    }
}
END_TEST

START_TEST(a_whole_pe_library_is_accepted)
{
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    ck_assert(!image_check_pe(library, library_size, "bp_plugi", why, sizeof why));
    ck_assert_str_eq(why, "does not export the symbol bp_plugi");
    put_table(0, 0, 0);
    put(library + PE_TABLES, 0, 4);
    refused_by(image_check_pe, library, library_size, "does not export the symbol bp_plugin");
}
END_TEST

START_TEST(a_pe_library_cut_at_any_length_is_refused)
{
    no_cut_is_accepted(image_check_pe);
    refused_by(image_check_pe, library, PE_DATA + 100,
               "cut short: section 2 ends at byte 1536 of a file of 1124");
}
END_TEST

START_TEST(a_pe_library_that_ends_in_zeros_is_refused)
{
    no_tail_of_zeros_is_accepted(image_check_pe);
}
END_TEST

START_TEST(any_changed_bit_breaks_a_pe_checksum)
{
    put_checksum();
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    for (size_t i = 0; i < library_size * 8; i++) {
        library[i / 8] ^= (unsigned char)(1u << i % 8);
        ck_assert_msg(!judge_by(image_check_pe, library, library_size), "accepted with bit %zu changed", i);
        library[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    pe_patched_is_refused(PE_CODE + 100, 1, 1, "damaged: its checksum is ");
}
END_TEST

START_TEST(the_kind_and_machine_of_a_pe_file_are_told)
{
    pe_patched_is_refused(PE_HEADER + 4, PE_OTHER_MACHINE, 2, PE_OTHER);
    pe_patched_is_refused(PE_HEADER + 4, 0x14c, 2, "built for x86 (32-bit), this host is ");
    pe_patched_is_refused(PE_HEADER + 4, 0x1c4, 2, "built for ARM (32-bit), this host is ");
    pe_patched_is_refused(PE_HEADER + 4, 0x5064, 2, "built for an unknown machine, this host is ");
    uint64_t kept = get(library + PE_HEADER, 8);
    put(library + PE_HEADER + 2, 0x4550, 4); /* the same bytes further on, which is no place for a header */
    pe_patched_is_refused(60, PE_HEADER + 2, 4, "a program for MS-DOS, or damaged");
    put(library + PE_HEADER, kept, 8);
    pe_patched_is_refused(PE_OPTIONAL, 0x10b, 2, "a 32-bit library; this host needs 64-bit ones");
    pe_patched_is_refused(PE_HEADER + 22, 0x0022, 2, "a program, not a shared library");
    pe_patched_is_refused(PE_HEADER, 0, 4, "a program for MS-DOS, or damaged");
}
END_TEST

START_TEST(pe_tables_that_point_astray_are_refused)
{
    static const size_t addresses[] = {
        PE_TABLES,       PE_TABLES + 8,     PE_TABLES + 40,    PE_EXPORTS + 28, PE_EXPORTS + 32,
        PE_EXPORTS + 36, PE_EXPORTS + 0x28, PE_EXPORTS + 0x2c, PE_IMPORTS,      PE_IMPORTS + 12,
        PE_IMPORTS + 16, PE_LOOKUP,         PE_FILLED,         PE_RELOCATIONS,  PE_OPTIONAL + 16,
    };
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        pe_patched_is_refused(addresses[i], 0x7ffffff0, 4, "damaged");
        pe_patched_is_refused(addresses[i], UINT32_MAX - 1, 4, "damaged");
    }
    pe_patched_is_refused(PE_EXPORTS + 24, UINT32_MAX, 4, "damaged: its table of exports");
    pe_patched_is_refused(PE_RELOCATIONS + 4, 0, 4, "damaged: its relocations");
    pe_patched_is_refused(PE_SECTIONS + 40 + 12, 0x1000, 4, "damaged: section 2");
    pe_patched_is_refused(PE_SECTIONS + 40 + 20, 0x800, 4, "cut short: section 2");
    pe_patched_is_refused(PE_OPTIONAL + 60, 0x800, 4, "cut short: its header ends at byte 2048");
}
END_TEST

/* Each number is one beyond, or below, what the header may say. */
START_TEST(pe_headers_keep_their_limits)
{
    pe_patched_is_refused(PE_OPTIONAL + 36, 256, 4, "the sizes in its header make no sense");
    pe_patched_is_refused(PE_OPTIONAL + 60, PE_SECTIONS + 79, 4, "the sizes in its header make no sense");
    pe_patched_is_refused(PE_OPTIONAL + 56, 0x1ff, 4, "the sizes in its header make no sense");
    pe_patched_is_refused(PE_OPTIONAL + 32, 0x100, 4, "the sizes in its header make no sense");
    pe_patched_is_refused(PE_HEADER + 22, 0x2020, 2, "a program, not a shared library");
    memmove(library + PE_SECTIONS + 8, library + PE_SECTIONS, 80); /* room for a table more */
    memset(library + PE_SECTIONS, 0, 8);
    put(library + PE_HEADER + 20, 248, 2);
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    pe_patched_is_refused(PE_OPTIONAL + 108, 17, 4, "the sizes in its header make no sense");
}
END_TEST

/* A signature lies behind the sections, and its table holds a place in the file, no address. */
START_TEST(a_signed_pe_library_is_whole_up_to_its_certificate)
{
    put(library + PE_TABLES + 32, PE_SIZE - 8, 4);
    put(library + PE_TABLES + 36, 8, 4);
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    pe_patched_is_refused(PE_TABLES + 36, 9, 4, "cut short: its certificate ends at byte 1537 of a file of 1536");
    pe_patched_is_refused(PE_TABLES + 32, PE_SIZE, 4, "cut short: its certificate");
}
END_TEST

#if defined(__x86_64__)
START_TEST(a_pe_table_for_unwinding_is_in_order)
{
    size_t at = PE_DATA + 0x40;
    put_table(3, at, 24);
    refused_by(image_check_pe, library, library_size, "damaged: its table for unwinding");
    put(library + at, 0x1000, 4);
    put(library + at + 4, 0x1003, 4);
    put(library + at + 12, 0x1003, 4);
    put(library + at + 16, 0x1006, 4);
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    pe_patched_is_refused(at + 4, 0x1004, 4, "damaged: its table for unwinding");
    pe_patched_is_refused(at + 16, 0x1001, 4, "damaged: its table for unwinding");
    pe_patched_is_refused(at + 16, 0x3001, 4, "damaged: its table for unwinding");
    memset(library + at + 12, 0, 8);
    refused_by(image_check_pe, library, library_size, "damaged: its table for unwinding");
}
END_TEST
#endif

/* The last byte of a file with an odd number of them counts as a word. */
START_TEST(a_pe_file_of_an_odd_size_has_a_checksum_too)
{
    unsigned char *longer = realloc(library, PE_SIZE + 2);
    ck_assert_ptr_nonnull(longer);
    library = longer;
    put(library + PE_SIZE, 0x5a, 2); /* the second byte is not of the file, and 0 */
    library_size = PE_SIZE + 2;
    put_checksum();
    put(library + PE_CHECKSUM, get(library + PE_CHECKSUM, 4) - 1, 4);
    library_size = PE_SIZE + 1;
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    pe_patched_is_refused(PE_SIZE, 0x5b, 1, "damaged: its checksum is ");
}
END_TEST

/* Zeros may be the end of a file that was not written, unless a checksum says that they belong there. */
START_TEST(an_empty_pe_table_of_imports_needs_a_checksum)
{
    memset(library + PE_IMPORTS, 0, 40);
    refused_by(image_check_pe, library, library_size, "damaged: its table of imports is not there");
    put_checksum();
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
}
END_TEST

/* All lists of imports are one; the judge walks no more entries than there is room for in a file. */
START_TEST(pe_lists_of_imports_are_walked_for_as_long_as_the_file_has_room_for)
{
    enum { LIST = PE_CODE + 0x20, ENTRIES = 40, TABLE = PE_DATA + 0x20 };
    for (size_t i = 0; i < ENTRIES; i++)
        put(library + LIST + i * 8, UINT64_C(1) << 63 | i, 8);
    for (size_t i = 0; i < 3; i++) {
        put(library + TABLE + i * 20, LIST - PE_CODE + 0x1000, 4);
        put(library + TABLE + i * 20 + 12, PE_TEXTS + PE_ADDRESS, 4);
        put(library + TABLE + i * 20 + 16, LIST - PE_CODE + 0x1000, 4);
    }
    put_table(1, TABLE, 80);
    put(library + TABLE + 2 * 20, 0, 4);
    put(library + TABLE + 2 * 20 + 16, PE_LOOKUP + PE_ADDRESS, 4);
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    put(library + TABLE + 2 * 20 + 16, LIST - PE_CODE + 0x1000, 4);
    refused_by(image_check_pe, library, library_size, "table of imports makes no sense");
}
END_TEST

START_TEST(pe_data_for_threads_and_exported_symbols_lie_where_they_can)
{
    put_table(9, PE_DATA + 0x40, 40);
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    put_table(9, PE_SIZE - 39, 40);
    refused_by(image_check_pe, library, library_size, "damaged: its data for threads is not there");
    put_table(9, 0, 0);
    put(library + PE_TABLES + 72, 0, 4);
    put(library + PE_EXPORTS + 0x28, PE_EXPORTS + 0x60 + PE_ADDRESS, 4); /* right behind the table of exports */
    ck_assert_msg(judge_by(image_check_pe, library, library_size), "refused: %s", why);
    /* In that table it would be a text: the function of another library. */
    pe_patched_is_refused(PE_EXPORTS + 0x28, PE_EXPORTS + 0x5f + PE_ADDRESS, 4, "is not in its memory");
    pe_patched_is_refused(PE_EXPORTS + 0x28, 0x3000, 4, "is not in its memory");
    pe_patched_is_refused(PE_EXPORTS + 0x28, 0, 4, "is not in its memory");
    put_table(5, PE_RELOCATIONS, 10); /* what fills up a block stands behind what it fills up */
    put(library + PE_RELOCATIONS + 4, 10, 4);
    put(library + PE_RELOCATIONS + 8, 0, 2);
    refused_by(image_check_pe, library, library_size, "damaged: its relocations make no sense");
}
END_TEST

/* Each of these would be followed past the end of the file. */
START_TEST(pe_tables_without_an_end_are_refused)
{
    put(library + PE_RELOCATIONS + 4, 8, 4); /* an empty block, then one of 16 bytes in the 8 that are left */
    put(library + PE_RELOCATIONS + 8, 0x2000, 4);
    put(library + PE_RELOCATIONS + 12, 16, 4);
    refused_by(image_check_pe, library, library_size, "damaged: its relocations");

    memset(library + PE_TABLES + 40, 0, 8); /* no relocations: their place is free for what follows */
    put(library + PE_EXPORTS + 24, 2, 4);
    pe_patched_is_refused(PE_EXPORTS + 36, PE_SIZE - 2 + PE_ADDRESS, 4, "damaged: its table of exports");
    pe_patched_is_refused(PE_EXPORTS + 32, PE_SIZE - 4 + PE_ADDRESS, 4, "damaged: its table of exports");
    put(library + PE_EXPORTS + 24, 1, 4);

    memcpy(library + PE_SIZE - 8, library + PE_LOOKUP, 8);
    pe_patched_is_refused(PE_IMPORTS, PE_SIZE - 8 + PE_ADDRESS, 4, "table of imports makes no sense");
    memset(library + PE_SIZE - 8, 'x', 8);
    pe_patched_is_refused(PE_IMPORTS + 12, PE_SIZE - 8 + PE_ADDRESS, 4, "table of imports makes no sense");
    memcpy(library + PE_SIZE - 20, library + PE_IMPORTS, 20);
    put_table(1, PE_SIZE - 20, 40);
    refused_by(image_check_pe, library, library_size, "damaged: its table of imports has no end");
}
END_TEST

START_TEST(a_mutated_pe_library_never_crashes_the_judge)
{
    no_mutation_crashes(image_check_pe, 2025, 20000);
}
END_TEST

static TCase *test_case(const char *name, void (*set_up)(void))
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, set_up, free_library);
    tcase_set_timeout(tests, 120);
    return tests;
}

Suite *image_suite(void)
{
    Suite *suite = suite_create("image");
    TCase *tests = tcase_create("other files");
    tcase_add_test(tests, other_files_are_refused);
    tcase_add_test(tests, a_sentence_is_cut_to_its_room);
    suite_add_tcase(suite, tests);

    tests = test_case("a plugin", read_plugin);
    tcase_add_test(tests, a_whole_plugin_is_accepted);
    tcase_add_test(tests, a_plugin_at_an_odd_address_is_accepted);
    tcase_add_test(tests, a_plugin_cut_at_any_length_is_refused);
    tcase_add_test(tests, a_plugin_that_ends_in_zeros_is_refused);
    tcase_add_test(tests, an_absent_symbol_is_named);
    tcase_add_test(tests, a_mutated_plugin_never_crashes_the_judge);
#if !defined(_WIN32) && !defined(__APPLE__)
    tcase_add_test(tests, the_kind_and_machine_of_an_elf_file_are_told);
    tcase_add_test(tests, functions_of_an_elf_library_are_found_by_their_addresses_stripped_or_not);
    tcase_add_test(tests, functions_of_an_elf_library_that_is_linked_at_an_address_are_found);
    tcase_add_test(tests, a_position_independent_program_is_refused);
    tcase_add_test(tests, a_cut_says_where_the_file_should_end);
    tcase_add_test(tests, a_null_section_is_refused);
    tcase_add_test(tests, a_section_or_segment_beyond_the_end_is_refused);
    tcase_add_test(tests, a_dynamic_table_that_points_astray_is_refused);
    tcase_add_test(tests, tables_that_the_loader_would_follow_too_far_are_refused);
    tcase_add_test(tests, versions_of_symbols_that_are_not_there_are_refused);
#endif
    suite_add_tcase(suite, tests);

    tests = test_case("PE", make_pe);
    tcase_add_test(tests, a_whole_pe_library_is_accepted);
    tcase_add_test(tests, functions_of_a_pe_library_are_found_by_their_addresses);
    tcase_add_test(tests, functions_of_a_damaged_pe_library_are_looked_for_within_it);
    tcase_add_test(tests, a_pe_library_cut_at_any_length_is_refused);
    tcase_add_test(tests, a_pe_library_that_ends_in_zeros_is_refused);
    tcase_add_test(tests, any_changed_bit_breaks_a_pe_checksum);
    tcase_add_test(tests, the_kind_and_machine_of_a_pe_file_are_told);
    tcase_add_test(tests, pe_tables_that_point_astray_are_refused);
    tcase_add_test(tests, pe_headers_keep_their_limits);
    tcase_add_test(tests, a_signed_pe_library_is_whole_up_to_its_certificate);
#if defined(__x86_64__)
    tcase_add_test(tests, a_pe_table_for_unwinding_is_in_order);
#endif
    tcase_add_test(tests, a_pe_file_of_an_odd_size_has_a_checksum_too);
    tcase_add_test(tests, an_empty_pe_table_of_imports_needs_a_checksum);
    tcase_add_test(tests, pe_lists_of_imports_are_walked_for_as_long_as_the_file_has_room_for);
    tcase_add_test(tests, pe_data_for_threads_and_exported_symbols_lie_where_they_can);
    tcase_add_test(tests, pe_tables_without_an_end_are_refused);
    tcase_add_test(tests, a_mutated_pe_library_never_crashes_the_judge);
    suite_add_tcase(suite, tests);
    return suite;
}
