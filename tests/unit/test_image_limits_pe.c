/* test_image_limits_pe.c - how far each number of a library for Windows may go before the judge refuses the library.
 *
 * The library is put together by hand and judged on every system. What its numbers lead to stands at the end of what it
 * lies in, where it can: one more leads outside.
 */
#include "support.h"

#include "../suites.h"

#include <bp_plugin.h>
#include <plugin/image.h>
#include <string.h>

#if defined(__aarch64__)
enum { MACHINE = 0xaa64 };
#else
enum { MACHINE = 0x8664 };
#endif

/* The file: headers, a section of code and one of data, which is larger in memory than in the file, the linker's
 * symbols and a certificate. Tables stand at the ends of what they lie in, where they can. */
enum {
    HEADER = 0x40, OPTIONAL = HEADER + 24, TABLES = OPTIONAL + 112, SECTIONS = OPTIONAL + 240, CODE = 0x200,
    DATA = 0x400, DATA_END = 0x600, MOVED = 0x2000 - DATA, MEMORY_END = 0x2300,
    UNWIND = DATA + 0x10, THREAD_DATA = DATA + 0x30, EXPORTS = DATA + 0x60, ITEMS = EXPORTS + 40, NAMES = ITEMS + 8,
    NUMBERS = NAMES + 8, LIBRARY_NAME = NUMBERS + 8, OTHER_NAME = LIBRARY_NAME + 16, SYMBOL_NAME = OTHER_NAME + 8,
    RELOCATIONS = DATA + 0x100, RELOCATIONS_END = RELOCATIONS + 24, IMPORTS = DATA + 0x140, LOOK_UP = IMPORTS + 40,
    FUNCTION_NAME = LOOK_UP + 24, FILLED = DATA_END - 36, IMPORTED_NAME = DATA_END - 12,
    SYMBOLS = DATA_END, SYMBOL_TEXTS = SYMBOLS + 18, CERTIFICATE = SYMBOL_TEXTS + 8, SIZE = CERTIFICATE + 8
};

static unsigned char library[SIZE];

static void put(size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        library[at + i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(size_t at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)library[at + i] << (8 * i);
    return value;
}

static void put_section(size_t index, uint32_t address, uint32_t memory, uint32_t offset, uint32_t flags)
{
    size_t at = SECTIONS + index * 40;
    put(at + 8, memory, 4);
    put(at + 12, address, 4);
    put(at + 16, 0x200, 4);
    put(at + 20, offset, 4);
    put(at + 36, flags, 4);
}

static void put_table(size_t index, size_t offset, size_t bytes)
{
    put(TABLES + index * 8, offset + MOVED, 4);
    put(TABLES + index * 8 + 4, bytes, 4);
}

static void put_headers(void)
{
    static const uint32_t numbers[][3] = {
        {60, HEADER, 4}, {HEADER + 4, MACHINE, 2}, {HEADER + 6, 2, 2}, {HEADER + 12, SYMBOLS, 4}, {HEADER + 16, 1, 4},
        {HEADER + 20, 240, 2}, {HEADER + 22, 0x2002, 2}, {OPTIONAL, 0x20b, 2}, {OPTIONAL + 16, 0x11ff, 4},
        {OPTIONAL + 32, 0x1000, 4}, {OPTIONAL + 36, 0x200, 4}, {OPTIONAL + 56, MEMORY_END, 4},
        {OPTIONAL + 60, 0x200, 4}, {OPTIONAL + 108, 16, 4}, {SYMBOL_TEXTS, 8, 4}};
    memcpy(library, "MZ", 2);
    memcpy(library + HEADER, "PE", 2);
    for (size_t i = 0; i < COUNT(numbers); i++)
        put(numbers[i][0], numbers[i][1], numbers[i][2]);
    put_section(0, 0x1000, 0x200, CODE, 0x60000020);
    put_section(1, 0x2000, MEMORY_END - 0x2000, DATA, 0xc0000040);
    put(TABLES + 32, CERTIFICATE, 4); /* by its place in the file */
    put(TABLES + 36, 8, 4);
}

/* Two exports; the second one is the symbol. */
static void put_exports(void)
{
    static const uint32_t numbers[][2] = {{20, 2}, {24, 2}, {28, ITEMS + MOVED}, {32, NAMES + MOVED},
                                          {36, NUMBERS + MOVED}};
    put_table(0, EXPORTS, SYMBOL_NAME + 10 - EXPORTS);
    for (size_t i = 0; i < COUNT(numbers); i++)
        put(EXPORTS + numbers[i][0], numbers[i][1], 4);
    put(ITEMS, MEMORY_END - 1, 4); /* of the symbol, by its number */
    put(ITEMS + 4, 0x1000, 4);
    put(NAMES, OTHER_NAME + MOVED, 4);
    put(NAMES + 4, SYMBOL_NAME + MOVED, 4);
    put(NUMBERS, 1, 2);
    put(NUMBERS + 2, 0, 2);
    memcpy(library + OTHER_NAME, "another", 7);
    memcpy(library + SYMBOL_NAME, BP_PLUGIN_SYMBOL, sizeof BP_PLUGIN_SYMBOL);
}

/* One library, of which a function is wanted by name and one by number. */
static void put_imports(void)
{
    put_table(1, IMPORTS, 40);
    put(IMPORTS, LOOK_UP + MOVED, 4);
    put(IMPORTS + 12, IMPORTED_NAME + MOVED, 4);
    put(IMPORTS + 16, FILLED + MOVED, 4);
    for (int i = 0; i < 2; i++) {
        size_t at = i == 0 ? LOOK_UP : FILLED;
        put(at, FUNCTION_NAME + MOVED, 8);
        put(at + 8, UINT64_C(1) << 63 | 7, 8);
    }
    memcpy(library + FUNCTION_NAME + 2, "f", 1);
    memcpy(library + IMPORTED_NAME, "another.dll", 11);
}

static void make_library(void)
{
    memset(library, 0, sizeof library);
    put_headers();
    put_exports();
    put_imports();
    put_table(3, UNWIND, 24);
    put(UNWIND, 0x1000, 4);
    put(UNWIND + 4, 0x1010, 4);
    put(UNWIND + 12, 0x1010, 4);
    put(UNWIND + 16, 0x1020, 4);
    put_table(9, THREAD_DATA, 40);
    put_table(5, RELOCATIONS, RELOCATIONS_END - RELOCATIONS);
    put(RELOCATIONS, 0x2000, 4); /* a page's, two words; another one's, the second of which does nothing */
    put(RELOCATIONS + 4, 12, 4);
    put(RELOCATIONS + 8, 0xa000, 2);
    put(RELOCATIONS + 10, 0xa2f8, 2);
    put(RELOCATIONS + 12, 0x1000, 4);
    put(RELOCATIONS + 16, 12, 4);
    put(RELOCATIONS + 20, 0xa0f8, 2);
}

static bool judge(char *why, size_t size)
{
    return image_check_pe(library, sizeof library, BP_PLUGIN_SYMBOL, why, size);
}

/* What a refusal says. */
enum {
    ANYTHING, KIND, NO_LIBRARY, MACHINE_UNKNOWN, PROGRAM, HEADER_WRONG, SIZES, HEADER_CUT, SECTION_CUT, BEGINS,
    NO_PLACE, SYMBOLS_CUT, NO_TEXTS, CERTIFICATE_CUT, NO_IMPORTS, IMPORTS_WRONG, RELOCATIONS_WRONG, NO_UNWIND,
    UNWIND_WRONG, NO_THREAD_DATA, ENTRY, NO_EXPORT, EXPORTS_WRONG, NAMELESS, EXPORT_ASTRAY, SENTENCES
};
static const char *const sentences[SENTENCES] = {
    [KIND] = "not a shared library: it begins with",
    [NO_LIBRARY] = "a program for MS-DOS, or damaged",
    [MACHINE_UNKNOWN] = "built for an unknown machine",
    [PROGRAM] = "a program, not a shared library",
    [HEADER_WRONG] = "its header makes no sense",
    [SIZES] = "the sizes in its header make no sense",
    [HEADER_CUT] = "cut short: its header",
    [SECTION_CUT] = "cut short: section",
    [BEGINS] = "does not begin where it can",
    [NO_PLACE] = "has no place of its own in memory",
    [SYMBOLS_CUT] = "cut short: its symbol table",
    [NO_TEXTS] = "the texts of its symbol table are missing",
    [CERTIFICATE_CUT] = "cut short: its certificate",
    [NO_IMPORTS] = "its table of imports is not there",
    [IMPORTS_WRONG] = "its table of imports makes no sense",
    [RELOCATIONS_WRONG] = "its relocations make no sense",
    [NO_UNWIND] = "its table for unwinding is not there",
    [UNWIND_WRONG] = "its table for unwinding makes no sense",
    [NO_THREAD_DATA] = "its data for threads is not there",
    [ENTRY] = "the function that is called at loading is not in its code",
    [NO_EXPORT] = "does not export the symbol",
    [EXPORTS_WRONG] = "its table of exports makes no sense",
    [NAMELESS] = "has no name, or no place",
    [EXPORT_ASTRAY] = "is not in its memory",
};

/* A number of the library, where it stands, how many bytes it has; the least that is good and what is said of one less;
 * the greatest and what is said of one more. */
typedef struct limit_t {
    const char *what;
    size_t place, bytes;
    uint64_t least;
    uint32_t below;
    uint64_t greatest;
    uint32_t above;
} limit_t;

/* clang-format off */
static const limit_t limits[] = {
    {"MZ", 0, 2, 0x5a4d, KIND, 0x5a4d, KIND},
    {"place of the header", 60, 4, 0x40, NO_LIBRARY, 0x40, NO_LIBRARY},
    {"header: letters", HEADER, 4, 0x4550, NO_LIBRARY, 0x4550, NO_LIBRARY},
    {"header: machine", HEADER + 4, 2, MACHINE, MACHINE_UNKNOWN, MACHINE, MACHINE_UNKNOWN},
    {"header: sections", HEADER + 6, 2, 0x2, NO_IMPORTS, 0x2, NO_PLACE},
    {"header: symbols", HEADER + 12, 4, 0x600, SYMBOLS_CUT, 0x600, NO_TEXTS},
    {"header: symbol count", HEADER + 16, 4, 0x1, NO_TEXTS, 0x1, SYMBOLS_CUT},
    {"header: optional bytes", HEADER + 20, 2, 0xf0, SIZES, 0xf0, BEGINS},
    {"header: flags", HEADER + 22, 2, 0x2002, PROGRAM, 0x2003, PROGRAM},
    {"optional: kind", OPTIONAL, 2, 0x20b, HEADER_WRONG, 0x20b, HEADER_WRONG},
    {"optional: entry", OPTIONAL + 16, 4, 0x1000, ENTRY, 0x11ff, ENTRY},
    {"optional: alignment in memory", OPTIONAL + 32, 4, 0x1000, SIZES, 0x1000, SIZES},
    {"optional: alignment in the file", OPTIONAL + 36, 4, 0x200, SIZES, 0x200, SIZES},
    {"optional: bytes in memory", OPTIONAL + 56, 4, 0x2300, NO_PLACE, UINT64_MAX, ANYTHING},
    {"optional: bytes of headers", OPTIONAL + 60, 4, 0x198, SIZES, 0x622, HEADER_CUT},
    {"optional: tables", OPTIONAL + 108, 4, 0x1, NO_EXPORT, 0x10, SIZES},
    {"table of exports: address", TABLES, 4, 0x2060, EXPORTS_WRONG, 0x2060, EXPORTS_WRONG},
    {"table of exports: bytes", TABLES + 4, 4, 0x1, NO_EXPORT, 0x29f, EXPORT_ASTRAY},
    {"table of imports: address", TABLES + 8, 4, 0x2140, IMPORTS_WRONG, 0x2140, IMPORTS_WRONG},
    {"table of imports: bytes", TABLES + 12, 4, 0, ANYTHING, UINT64_MAX, ANYTHING},
#if defined(__x86_64__)
    {"table for unwinding: address", TABLES + 24, 4, 0x2010, UNWIND_WRONG, 0x2010, UNWIND_WRONG},
    {"table for unwinding: bytes", TABLES + 28, 4, 0x18, NO_UNWIND, 0x18, NO_UNWIND},
#endif
    {"certificate: place", TABLES + 32, 4, 0, ANYTHING, 0x61a, CERTIFICATE_CUT},
    {"certificate: bytes", TABLES + 36, 4, 0, ANYTHING, 0x8, CERTIFICATE_CUT},
    {"relocations: address", TABLES + 40, 4, 0x2100, RELOCATIONS_WRONG, 0x2100, RELOCATIONS_WRONG},
    {"relocations: bytes", TABLES + 44, 4, 0x18, RELOCATIONS_WRONG, 0x18, RELOCATIONS_WRONG},
    {"data for threads: address", TABLES + 72, 4, 0x2000, NO_THREAD_DATA, 0x21d8, NO_THREAD_DATA},
    {"data for threads: bytes", TABLES + 76, 4, 0, ANYTHING, UINT64_MAX, ANYTHING},
    {"code: bytes in memory", SECTIONS + 8, 4, 0, ANYTHING, 0x1000, NO_PLACE},
    {"code: address", SECTIONS + 12, 4, 0x1000, NO_PLACE, 0x1000, NO_PLACE},
    {"code: bytes in the file", SECTIONS + 16, 4, 0x200, ENTRY, 0x422, SECTION_CUT},
    {"code: place", SECTIONS + 20, 4, 0x200, BEGINS, 0x200, BEGINS},
    {"code: flags", SECTIONS + 36, 4, 0x60000000, ENTRY, UINT64_MAX, ANYTHING},
    {"data: bytes in memory", SECTIONS + 48, 4, 0, ANYTHING, 0x300, NO_PLACE},
    {"data: address", SECTIONS + 52, 4, 0x2000, NO_PLACE, 0x2000, NO_PLACE},
    {"data: bytes in the file", SECTIONS + 56, 4, 0x200, IMPORTS_WRONG, 0x222, SECTION_CUT},
    {"data: place", SECTIONS + 60, 4, 0x400, BEGINS, 0x400, BEGINS},
#if defined(__x86_64__)
    {"unwinding 0: first", UNWIND, 4, 0, ANYTHING, 0x1010, UNWIND_WRONG},
    {"unwinding 0: end", UNWIND + 4, 4, 0x1000, UNWIND_WRONG, 0x1010, UNWIND_WRONG},
    {"unwinding 1: first", UNWIND + 12, 4, 0x1010, UNWIND_WRONG, 0x1020, UNWIND_WRONG},
    {"unwinding 1: end", UNWIND + 16, 4, 0x1010, UNWIND_WRONG, 0x2300, UNWIND_WRONG},
#endif
    {"exports: items", EXPORTS + 20, 4, 0x2, NAMELESS, 0x5e, EXPORTS_WRONG},
    {"exports: names", EXPORTS + 24, 4, 0x2, NO_EXPORT, 0x5c, EXPORTS_WRONG},
    {"exports: place of items", EXPORTS + 28, 4, 0x2088, EXPORT_ASTRAY, 0x2089, EXPORT_ASTRAY},
    {"exports: place of names", EXPORTS + 32, 4, 0x2090, NAMELESS, 0x2090, NAMELESS},
    {"exports: place of numbers", EXPORTS + 36, 4, 0x2098, NAMELESS, 0x20ac, NAMELESS},
    {"export 0: item", ITEMS, 4, 0x20c2, EXPORT_ASTRAY, 0x22ff, EXPORT_ASTRAY},
    {"export 1: item", ITEMS + 4, 4, 0, ANYTHING, UINT64_MAX, ANYTHING},
    {"export 0: name", NAMES, 4, 0x2000, NAMELESS, 0x21ff, NAMELESS},
    {"export 1: name", NAMES + 4, 4, 0x20b8, NO_EXPORT, 0x20b8, NO_EXPORT},
    {"export 0: number", NUMBERS, 2, 0, ANYTHING, 0x1, NAMELESS},
    {"export 1: number", NUMBERS + 2, 2, 0, ANYTHING, 0x1, NAMELESS},
    {"imports: wanted", IMPORTS, 4, 0x2168, IMPORTS_WRONG, 0x2168, IMPORTS_WRONG},
    {"imports: name", IMPORTS + 12, 4, 0x21f4, IMPORTS_WRONG, 0x21fe, IMPORTS_WRONG},
    {"imports: filled", IMPORTS + 16, 4, 0x21dc, IMPORTS_WRONG, 0x21dc, IMPORTS_WRONG},
    {"wanted 0", LOOK_UP, 8, 0x2180, IMPORTS_WRONG, 0x2180, IMPORTS_WRONG},
    {"wanted 1", LOOK_UP + 8, 8, UINT64_C(0x8000000000000000), IMPORTS_WRONG, UINT64_MAX, ANYTHING},
    {"filled 0", FILLED, 8, 0x2180, IMPORTS_WRONG, 0x2180, IMPORTS_WRONG},
    {"filled 1", FILLED + 8, 8, UINT64_C(0x8000000000000000), IMPORTS_WRONG, UINT64_MAX, ANYTHING},
    {"filled, end", FILLED + 16, 8, 0, ANYTHING, 0x0, IMPORTS_WRONG},
    {"relocations 0: page", RELOCATIONS, 4, 0, ANYTHING, 0x2000, RELOCATIONS_WRONG},
    {"relocations 0: bytes", RELOCATIONS + 4, 4, 0xc, RELOCATIONS_WRONG, 0xc, RELOCATIONS_WRONG},
    {"relocations 0: word 0", RELOCATIONS + 8, 2, 0xa000, RELOCATIONS_WRONG, 0xa2f8, RELOCATIONS_WRONG},
    {"relocations 0: word 1", RELOCATIONS + 10, 2, 0xa000, RELOCATIONS_WRONG, 0xa2f8, RELOCATIONS_WRONG},
    {"relocations 1: page", RELOCATIONS + 12, 4, 0, ANYTHING, 0x2200, RELOCATIONS_WRONG},
    {"relocations 1: bytes", RELOCATIONS + 16, 4, 0xc, RELOCATIONS_WRONG, 0xc, RELOCATIONS_WRONG},
    {"relocations 1: word 0", RELOCATIONS + 20, 2, 0xa000, RELOCATIONS_WRONG, 0xafff, RELOCATIONS_WRONG},
    {"relocations 1: word 1", RELOCATIONS + 22, 2, 0, ANYTHING, 0xfff, RELOCATIONS_WRONG},
    {"symbol texts: bytes", SYMBOL_TEXTS, 4, 0x4, NO_TEXTS, 0x10, SYMBOLS_CUT},
};
/* clang-format on */

static void is_judged(const char *what, uint64_t value, const char *words)
{
    char why[256];
    bool good = judge(why, sizeof why);
    EXPECT(good == (words == NULL) && (good || strstr(why, words) != NULL), "%s is %llu: %s instead of %s", what,
           (unsigned long long)value, good ? "good" : why, words == NULL ? "good" : words);
}

static void expect(const limit_t *limit, uint64_t value, const char *words)
{
    uint64_t was = get(limit->place, limit->bytes);
    put(limit->place, value, limit->bytes);
    is_judged(limit->what, value, words);
    put(limit->place, was, limit->bytes);
}

START_TEST(each_number_of_a_pe_library_is_good_up_to_its_limits_and_no_further)
{
    make_library();
    is_judged("nothing", 0, NULL);
    for (size_t i = 0; i < COUNT(limits); i++) {
        const limit_t *limit = &limits[i];
        if (limit->below != ANYTHING || limit->least == 0)
            expect(limit, limit->least, NULL);
        if (limit->below != ANYTHING)
            expect(limit, limit->least - 1, sentences[limit->below]);
        if (limit->above != ANYTHING) {
            expect(limit, limit->greatest, NULL);
            expect(limit, limit->greatest + 1, sentences[limit->above]);
        }
    }
}
END_TEST

START_TEST(a_pe_library_need_not_have_everything)
{
    static const struct { const char *what; size_t place, bytes; const char *words; } missing[] = {
        {"symbols", HEADER + 12, 4, NULL},
        {"entry", OPTIONAL + 16, 4, NULL},
        {"exports", TABLES, 4, "does not export the symbol"},
        {"imports", TABLES + 8, 4, NULL},
        {"unwinding", TABLES + 24, 4, NULL},
        {"certificate", TABLES + 32, 4, NULL},
        {"relocations", TABLES + 40, 4, NULL},
        {"data for threads", TABLES + 72, 4, NULL},
        {"names of exports", EXPORTS + 24, 4, "does not export the symbol"},
        {"the exported item", ITEMS, 4, "is not in its memory"},
        {"the imported library", IMPORTS + 12, 4, "its table of imports is not there"},
        {"what is wanted", IMPORTS, 4, NULL},
        {"what is filled", IMPORTS + 16, 4, "its table of imports makes no sense"},
        {"the first of what is wanted", LOOK_UP, 8, "its table of imports makes no sense"},
        {"the first of what is filled", FILLED, 8, "its table of imports makes no sense"},
        {"the name of what is wanted", FUNCTION_NAME + 2, 1, "its table of imports makes no sense"},
        {"the first word of a page", RELOCATIONS + 20, 2, "its relocations make no sense"},
        {"the last word of a page", RELOCATIONS + 10, 2, NULL},
    };
    for (size_t i = 0; i < COUNT(missing); i++) {
        make_library();
        put(missing[i].place, 0, missing[i].bytes);
        is_judged(missing[i].what, 0, missing[i].words);
    }
}
END_TEST

START_TEST(a_file_that_ends_behind_its_stub_says_where_the_header_should_end)
{
    char why[256];
    make_library();
    put(60, 0x1000, 4);
    ck_assert(!image_check_pe(library, 64, BP_PLUGIN_SYMBOL, why, sizeof why));
    EXPECT(strstr(why, "its header ends at byte 4120 of a file of 64") != NULL, "%s", why);
    ck_assert(!image_check_pe(library, 63, BP_PLUGIN_SYMBOL, why, sizeof why));
    EXPECT(strstr(why, "its header ends at byte 88 of a file of 63") != NULL, "%s", why);
}
END_TEST

START_TEST(what_a_pe_library_counts_on_has_an_end)
{
    make_library();
    put(DATA_END - 1, 'x', 1); /* the name of the imported library, behind which the section ends */
    is_judged("a text without an end", 'x', "its table of imports makes no sense");
    make_library();
    put(FILLED + 16, UINT64_C(1) << 63, 8);
    put(IMPORTED_NAME, UINT64_C(1) << 63 | 1, 8);
    put(IMPORTS + 12, LIBRARY_NAME + MOVED, 4);
    memcpy(library + LIBRARY_NAME, "another", 8);
    is_judged("a list without an end", 0, "its table of imports makes no sense");
    make_library();
    put(OPTIONAL + 64, 1, 4);
    is_judged("the checksum", 1, "its checksum is 00000001 where");
}
END_TEST

/* Names may lie in the upper half of 32 bits where their two bytes of hint begin below it. */
START_TEST(the_address_of_an_imported_name_has_31_bits)
{
    make_library();
    put(HEADER + 6, 3, 2);
    put(OPTIONAL + 56, 0x80001000, 4);
    put_section(2, 0x80000000, 0x1000, DATA, 0x40000040);
    memcpy(library + DATA, "\0ff", 4);
    put(LOOK_UP, 0x7fffffff, 8);
    is_judged("wanted 0", 0x7fffffff, NULL);
    put(LOOK_UP, 0x80000000, 8);
    is_judged("wanted 0", 0x80000000, sentences[IMPORTS_WRONG]);
}
END_TEST

Suite *image_limits_pe_suite(void)
{
    Suite *suite = suite_create("image_limits_pe");
    TCase *tests = tcase_create("PE");
    tcase_add_test(tests, each_number_of_a_pe_library_is_good_up_to_its_limits_and_no_further);
    tcase_add_test(tests, a_pe_library_need_not_have_everything);
    tcase_add_test(tests, a_file_that_ends_behind_its_stub_says_where_the_header_should_end);
    tcase_add_test(tests, what_a_pe_library_counts_on_has_an_end);
    tcase_add_test(tests, the_address_of_an_imported_name_has_31_bits);
    suite_add_tcase(suite, tests);
    return suite;
}
