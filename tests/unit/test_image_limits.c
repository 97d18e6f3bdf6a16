/* test_image_limits.c - how far each number of an ELF library may go before the judge refuses the library.
 *
 * The library is put together by hand, so every place in it is known. What its numbers lead to stands at the end of
 * what is loaded, where it can: one more leads outside.
 */
#include "support.h"

#include "../suites.h"

#include <bp_plugin.h>
#include <plugin/elf.h>
#include <plugin/image.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)

/* The file. Code and tables are loaded at their offsets, data MOVED behind its own, and 0x100 bytes more of it than the
 * file has. */
enum {
    SEGMENTS = 64, STRINGS = 0x200, SYMBOLS = 0x240, GNU_HASH = 0x290, OLD_HASH = 0x2c0, VERSIONS = 0x2e0,
    NEEDS = 0x2f0, OFFERS = 0x310, RELOCATIONS = 0x330, LATE = 0x380, CODE_END = 0x400, DYNAMIC = 0x400, LISTS = 0x7f0,
    DATA_END = 0x800, SECTIONS = 0x840, NAMES = 0x800, SIZE = SECTIONS + 4 * 64, MOVED = 0x1000,
    MEMORY_END = DATA_END + MOVED + 0x100
};
enum { FILE_NAME = 1, OTHER_NAME = 8, SYMBOL_NAME = 16, STRING_BYTES = 40 };

static unsigned char library[SIZE];
static size_t tags_used;

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

static void put_segment(size_t index, uint32_t type, uint32_t flags, uint64_t offset, uint64_t address, uint64_t bytes,
                        uint64_t memory)
{
    elf_segment_t segment = {type, flags, offset, address, address, bytes, memory, 1};
    memcpy(library + SEGMENTS + index * sizeof segment, &segment, sizeof segment);
}

static void put_section(size_t index, elf_section_t section)
{
    memcpy(library + SECTIONS + index * sizeof section, &section, sizeof section);
}

static void put_tag(uint64_t tag, uint64_t value)
{
    elf_dynamic_t entry = {tag, value};
    memcpy(library + DYNAMIC + tags_used++ * sizeof entry, &entry, sizeof entry);
}

/* Where the value of a tag stands. */
static size_t tag_place(uint64_t tag)
{
    for (size_t i = 0; i < tags_used; i++) {
        if (get(DYNAMIC + i * 16, 8) == tag)
            return DYNAMIC + i * 16 + 8;
    }
    ck_abort_msg("the library has no tag %u", (unsigned)tag);
    return 0;
}

static void put_header(void)
{
    elf_header_t header = {.ident = {0x7f, 'E', 'L', 'F', 2, 1, 1}, .type = 3, .machine = 62, .version = 1,
                           .segments = SEGMENTS, .sections = SECTIONS, .header_bytes = 64, .segment_bytes = 56,
                           .segment_count = 6, .section_bytes = 64, .section_count = 4, .names = 3};
    memcpy(library, &header, sizeof header);
    put_segment(0, SEGMENT_LOAD, 4 | CAN_RUN, 0, 0, CODE_END, CODE_END);
    put_segment(1, SEGMENT_LOAD, 4 | CAN_WRITE, DYNAMIC, DYNAMIC + MOVED, DATA_END - DYNAMIC,
                MEMORY_END - DYNAMIC - MOVED);
    put(SEGMENTS + 56 + 48, 0x1000, 8);
    put_segment(2, SEGMENT_DYNAMIC, 6, DYNAMIC, DYNAMIC + MOVED, 0, 0);
    put_segment(3, SEGMENT_PROTECTED, 4, DYNAMIC, DYNAMIC + MOVED, 0x40, 0x40);
    put_segment(4, 4 /* a note */, 4, CODE_END - 16, CODE_END - 16, 16, 16);
    put_segment(5, SEGMENT_STACK, 6, 0, 0, 0, 0);
    put_section(1, (elf_section_t){.name = 1, .type = SECTION_DYNAMIC_SYMBOLS, .address = SYMBOLS, .offset = SYMBOLS,
                                   .bytes = 72, .alignment = 8});
    put_section(2, (elf_section_t){.name = 2, .type = SECTION_NO_BITS, .address = DATA_END + MOVED, .offset = DATA_END,
                                   .bytes = 0x100, .alignment = 1});
    put_section(3, (elf_section_t){.name = 3, .type = SECTION_STRINGS, .offset = NAMES, .bytes = 4, .alignment = 1});
    memcpy(library + NAMES, "\0a\0", 4);
}

/* Three symbols: none, the one that is exported, one that is wanted of another library. */
static void put_symbols(void)
{
    memcpy(library + STRINGS + FILE_NAME, "own.so", 7);
    memcpy(library + STRINGS + OTHER_NAME, "lib.so", 7);
    memcpy(library + STRINGS + SYMBOL_NAME, BP_PLUGIN_SYMBOL, sizeof BP_PLUGIN_SYMBOL);
    elf_symbol_t symbols[3] = {{0},
                               {SYMBOL_NAME, 1 << 4 | 1, 0, 2, MEMORY_END - 16, 16},
                               {SYMBOL_NAME + 3, 1 << 4 | 2, 0, 0, 0, 0}};
    memcpy(library + SYMBOLS, symbols, sizeof symbols);
    const uint32_t gnu[9] = {1, 1, 1, 6, 0, 0, 1, 2, 3}, old[6] = {1, 3, 1, 0, 2, 0};
    memcpy(library + GNU_HASH, gnu, sizeof gnu);
    memcpy(library + OLD_HASH, old, sizeof old);
    const uint16_t versions[3] = {0, 2, 3};
    memcpy(library + VERSIONS, versions, sizeof versions);
    elf_need_t need = {1, 1, OTHER_NAME, 16, 0};
    elf_need_item_t item = {0, 0, 3, OTHER_NAME, 0};
    elf_offer_t offer = {1, 0, 2, 1, 0, 20, 0};
    memcpy(library + NEEDS, &need, sizeof need);
    memcpy(library + NEEDS + 16, &item, sizeof item);
    memcpy(library + OFFERS, &offer, sizeof offer);
    put(OFFERS + 20, FILE_NAME, 4);
}

/* Behind each table lies what is no relocation. */
static void put_relocations(void)
{
    elf_relocation_t two[2] = {{LISTS + MOVED, 8, 0}, {MEMORY_END - 8, UINT64_C(2) << 32 | 6, 0}};
    elf_relocation_t late = {MEMORY_END - 8, 37, CODE_END - 1};
    memset(library + RELOCATIONS, 0xff, LATE + 2 * sizeof late - RELOCATIONS);
    memcpy(library + RELOCATIONS, two, sizeof two);
    memcpy(library + LATE, &late, sizeof late);
}

static void make_library(void)
{
    static const uint64_t tags[][2] = {
        {TAG_NEEDED, OTHER_NAME}, {TAG_SONAME, FILE_NAME}, {TAG_STRINGS, STRINGS}, {TAG_STRING_BYTES, STRING_BYTES},
        {TAG_SYMBOLS, SYMBOLS}, {TAG_SYMBOL_ENTRY, 24}, {TAG_GNU_HASH, GNU_HASH}, {TAG_HASH, OLD_HASH},
        {TAG_RELA, RELOCATIONS}, {TAG_RELA_BYTES, 48}, {TAG_RELA_ENTRY, 24}, {TAG_RELATIVE_COUNT, 1}, {TAG_PLT, LATE},
        {TAG_PLT_BYTES, 24}, {TAG_PLT_KIND, TAG_RELA}, {TAG_INIT, CODE_END - 1}, {TAG_FINI, CODE_END - 1},
        {TAG_INIT_ARRAY, MEMORY_END - 8}, {TAG_INIT_BYTES, 8}, {TAG_FINI_ARRAY, MEMORY_END - 16}, {TAG_FINI_BYTES, 16},
        {TAG_VERSIONS, VERSIONS}, {TAG_NEEDS, NEEDS}, {TAG_NEED_COUNT, 1}, {TAG_OFFERS, OFFERS}, {TAG_OFFER_COUNT, 1},
        {TAG_RUNPATH, FILE_NAME}, {TAG_FLAGS, 8}, {TAG_FLAGS_1, 1}, {TAG_NULL, 0}};
    memset(library, 0, sizeof library);
    tags_used = 0;
    put_header();
    put_symbols();
    put_relocations();
    for (size_t i = 0; i < COUNT(tags); i++)
        put_tag(tags[i][0], tags[i][1]);
    put(SEGMENTS + 2 * 56 + 32, tags_used * 16, 8);
    put(SEGMENTS + 2 * 56 + 40, tags_used * 16, 8);
}

static bool judge(char *why, size_t size)
{
    return image_check_elf(library, sizeof library, BP_PLUGIN_SYMBOL, why, size);
}

/* What a refusal says. */
enum {
    ANYTHING, PROGRAM, KIND, MACHINE, HEADER, CUT, SECTION_TABLE, SECTION_NAMES, NO_LOAD, NULL_SECTION, REFERS,
    NO_POWER, UNLOADED, LARGER, OVERLAPS, UNALIGNED, NO_END, NO_SYMBOLS, SYMBOLS_ASTRAY, NO_TEXTS, NO_TEXT, HASH,
    NAME, VERSION, LISTS_OF_VERSIONS, RELOCATIONS_ASTRAY, RELOCATIONS_KIND, TYPE, OTHER_TYPE, WRITES, ASKS, CALLS,
    FUNCTION, FUNCTIONS, NO_EXPORT, EXPORT, SENTENCES
};
static const char *const sentences[SENTENCES] = {
    [PROGRAM] = "a program, not a shared library",
    [KIND] = "not a shared library: a file of ELF type 4",
    [MACHINE] = "built for an unknown machine",
    [HEADER] = "its header makes no sense",
    [CUT] = "cut short",
    [SECTION_TABLE] = "its section table makes no sense",
    [SECTION_NAMES] = "the names of its sections are no texts",
    [NO_LOAD] = "no segment to load, or not one dynamic table",
    [NULL_SECTION] = "is null, as in a file",
    [REFERS] = "refers to what is not there",
    [NO_POWER] = "has an alignment that is no power of two",
    [UNLOADED] = "lies in no segment that is loaded",
    [LARGER] = "is larger in the file than in memory",
    [OVERLAPS] = "overlaps the one before it in memory",
    [UNALIGNED] = "is not aligned as it says",
    [NO_END] = "its dynamic table has no end",
    [NO_SYMBOLS] = "its dynamic table names no symbols",
    [SYMBOLS_ASTRAY] = "its symbols are not where its dynamic table says",
    [NO_TEXTS] = "its dynamic table names no table of texts",
    [NO_TEXT] = "its dynamic table names a text that is not there",
    [HASH] = "the hash table of its symbols makes no sense",
    [NAME] = "has a name that is not there",
    [VERSION] = "has a version that is not there",
    [LISTS_OF_VERSIONS] = "its lists of versions make no sense",
    [RELOCATIONS_ASTRAY] = "its relocations are not where its dynamic table says",
    [RELOCATIONS_KIND] = "its relocations are of a kind that 64-bit",
    [TYPE] = "is of a kind that libraries of this machine lack",
    [OTHER_TYPE] = "is of another kind than its dynamic table says",
    [WRITES] = "writes outside its data",
    [ASKS] = "asks for a symbol that is not there",
    [CALLS] = "calls what is not in its code",
    [FUNCTION] = "a function that is called at loading is not in its code",
    [FUNCTIONS] = "a list of functions that are called at loading is not there",
    [NO_EXPORT] = "does not export the symbol",
    [EXPORT] = "is not in its memory",
};

#define SEGMENT(i) (SEGMENTS + 56 * (i))
#define SECTION(i) (SECTIONS + 64 * (i))
#define TAG(i) (DYNAMIC + 16 * (i) + 8)

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
    {"header: type", 16, 2, 3, PROGRAM, 3, KIND},
    {"header: machine", 18, 2, 62, MACHINE, 62, MACHINE},
    {"header: version", 20, 4, 1, HEADER, 1, HEADER},
    {"header: segments", 32, 8, 64, CUT, 64, CUT},
    {"header: sections", 40, 8, SECTIONS, CUT, SECTIONS, CUT},
    {"header: segment_bytes", 54, 2, 56, HEADER, 56, HEADER},
    {"header: segment_count", 56, 2, 3, NO_LOAD, UINT64_MAX, ANYTHING},
    {"header: section_bytes", 58, 2, 64, HEADER, 64, HEADER},
    {"header: section_count", 60, 2, 4, SECTION_TABLE, 4, CUT},
    {"header: names", 62, 2, 3, SECTION_NAMES, 3, SECTION_TABLE},
    {"segment code: type", SEGMENT(0) + 0, 4, 1, UNLOADED, 1, NO_LOAD},
    {"segment code: flags", SEGMENT(0) + 4, 4, 5, CALLS, 5, CALLS},
    {"segment code: offset", SEGMENT(0) + 8, 8, 0, ANYTHING, 0, UNLOADED},
    {"segment code: address", SEGMENT(0) + 16, 8, 0, ANYTHING, 0, UNLOADED},
    {"segment code: file_bytes", SEGMENT(0) + 32, 8, CODE_END, UNLOADED, CODE_END, LARGER},
    {"segment code: memory_bytes", SEGMENT(0) + 40, 8, CODE_END, LARGER, DYNAMIC + MOVED, OVERLAPS},
    {"segment code: alignment", SEGMENT(0) + 48, 8, 1, UNALIGNED, 2, UNALIGNED},
    {"segment data: type", SEGMENT(1) + 0, 4, 1, UNLOADED, 1, NO_LOAD},
    {"segment data: flags", SEGMENT(1) + 4, 4, 6, WRITES, 7, WRITES},
    {"segment data: offset", SEGMENT(1) + 8, 8, CODE_END, UNALIGNED, CODE_END, UNALIGNED},
    {"segment data: address", SEGMENT(1) + 16, 8, DYNAMIC + MOVED, UNALIGNED, DYNAMIC + MOVED, UNALIGNED},
    {"segment data: file_bytes", SEGMENT(1) + 32, 8, 480, UNLOADED, 0x500, LARGER},
    {"segment data: memory_bytes", SEGMENT(1) + 40, 8, 0x500, WRITES, UINT64_MAX, ANYTHING},
    {"segment data: alignment", SEGMENT(1) + 48, 8, 0x1000, UNALIGNED, 0x1000, UNALIGNED},
    {"segment dynamic: type", SEGMENT(2) + 0, 4, 2, OVERLAPS, 2, NO_LOAD},
    {"segment dynamic: offset", SEGMENT(2) + 8, 8, CODE_END, UNLOADED, CODE_END, UNLOADED},
    {"segment dynamic: address", SEGMENT(2) + 16, 8, DYNAMIC + MOVED, UNLOADED, DYNAMIC + MOVED, UNLOADED},
    {"segment dynamic: file_bytes", SEGMENT(2) + 32, 8, 480, NO_END, CODE_END, UNLOADED},
    {"segment protected: offset", SEGMENT(3) + 8, 8, 0, ANYTHING, 0x900, CUT},
    {"segment protected: address", SEGMENT(3) + 16, 8, DYNAMIC + MOVED, UNLOADED, 0x18c0, UNLOADED},
    {"segment protected: file_bytes", SEGMENT(3) + 32, 8, 0, ANYTHING, 0x500, UNLOADED},
    {"segment protected: memory_bytes", SEGMENT(3) + 40, 8, 0, ANYTHING, 0x1bff, UNLOADED},
    {"segment note: type", SEGMENT(4) + 0, 4, 3, NO_LOAD, UINT64_MAX, ANYTHING},
    {"segment note: offset", SEGMENT(4) + 8, 8, CODE_END - 16, UNLOADED, CODE_END - 16, UNLOADED},
    {"segment note: address", SEGMENT(4) + 16, 8, CODE_END - 16, UNLOADED, CODE_END - 16, UNLOADED},
    {"segment note: file_bytes", SEGMENT(4) + 32, 8, 0, ANYTHING, 16, UNLOADED},
    {"section 1: name", SECTION(1) + 0, 4, 0, ANYTHING, 3, REFERS},
    {"section 1: type", SECTION(1) + 4, 4, 11, SYMBOLS_ASTRAY, 11, SYMBOLS_ASTRAY},
    {"section 1: address", SECTION(1) + 16, 8, SYMBOLS, SYMBOLS_ASTRAY, SYMBOLS, SYMBOLS_ASTRAY},
    {"section 1: offset", SECTION(1) + 24, 8, 0, ANYTHING, 0x8f8, CUT},
    {"section 1: bytes", SECTION(1) + 32, 8, 72, HASH, 95, HASH},
    {"section 1: link", SECTION(1) + 40, 4, 0, ANYTHING, 3, REFERS},
    {"section 1: alignment", SECTION(1) + 48, 8, 8, NO_POWER, 8, NO_POWER},
    {"section 2: name", SECTION(2) + 0, 4, 0, ANYTHING, 3, REFERS},
    {"section 2: type", SECTION(2) + 4, 4, 1, NULL_SECTION, UINT64_MAX, ANYTHING},
    {"section 2: link", SECTION(2) + 40, 4, 0, ANYTHING, 3, REFERS},
    {"section 2: alignment", SECTION(2) + 48, 8, 1, NO_POWER, 2, NO_POWER},
    {"section 3: name", SECTION(3) + 0, 4, 0, ANYTHING, 3, REFERS},
    {"section 3: type", SECTION(3) + 4, 4, 3, SECTION_NAMES, 3, SECTION_NAMES},
    {"section 3: offset", SECTION(3) + 24, 8, 0x7ff, SECTION_NAMES, 0x800, SECTION_NAMES},
    {"section 3: bytes", SECTION(3) + 32, 8, 4, REFERS, 128, SECTION_NAMES},
    {"section 3: link", SECTION(3) + 40, 4, 0, ANYTHING, 3, REFERS},
    {"section 3: alignment", SECTION(3) + 48, 8, 1, NO_POWER, 2, NO_POWER},
    {"tag NEEDED", TAG(0), 8, 8, LISTS_OF_VERSIONS, 8, LISTS_OF_VERSIONS},
    {"tag SONAME", TAG(1), 8, 0, ANYTHING, STRING_BYTES - 1, NO_TEXT},
    {"tag STRINGS", TAG(2), 8, STRINGS, NO_EXPORT, STRINGS, NO_TEXTS},
    {"tag STRING_BYTES", TAG(3), 8, 26, NO_TEXTS, 88, NO_TEXTS},
    {"tag SYMBOLS", TAG(4), 8, SYMBOLS, SYMBOLS_ASTRAY, SYMBOLS, SYMBOLS_ASTRAY},
    {"tag SYMBOL_ENTRY", TAG(5), 8, 24, NO_SYMBOLS, 24, NO_SYMBOLS},
    {"tag GNU_HASH", TAG(6), 8, GNU_HASH, HASH, GNU_HASH, HASH},
    {"tag HASH", TAG(7), 8, OLD_HASH, HASH, OLD_HASH, HASH},
    {"tag RELA", TAG(8), 8, RELOCATIONS, TYPE, RELOCATIONS, OTHER_TYPE},
    {"tag RELA_BYTES", TAG(9), 8, 48, RELOCATIONS_ASTRAY, 48, RELOCATIONS_ASTRAY},
    {"tag RELA_ENTRY", TAG(10), 8, 24, RELOCATIONS_KIND, 24, RELOCATIONS_KIND},
    {"tag RELATIVE_COUNT", TAG(11), 8, 0, ANYTHING, 1, OTHER_TYPE},
    {"tag PLT", TAG(12), 8, LATE, TYPE, LATE, ASKS},
    {"tag PLT_BYTES", TAG(13), 8, 24, RELOCATIONS_ASTRAY, 24, RELOCATIONS_ASTRAY},
    {"tag PLT_KIND", TAG(14), 8, 7, RELOCATIONS_KIND, 7, RELOCATIONS_KIND},
    {"tag INIT", TAG(15), 8, 0, ANYTHING, CODE_END - 1, FUNCTION},
    {"tag FINI", TAG(16), 8, 0, ANYTHING, CODE_END - 1, FUNCTION},
    {"tag INIT_ARRAY", TAG(17), 8, DYNAMIC + MOVED, FUNCTIONS, MEMORY_END - 8, FUNCTIONS},
    {"tag INIT_BYTES", TAG(18), 8, 8, FUNCTIONS, 8, FUNCTIONS},
    {"tag FINI_ARRAY", TAG(19), 8, DYNAMIC + MOVED, FUNCTIONS, MEMORY_END - 16, FUNCTIONS},
    {"tag FINI_BYTES", TAG(20), 8, 16, FUNCTIONS, 16, FUNCTIONS},
    {"tag VERSIONS", TAG(21), 8, VERSIONS, VERSION, VERSIONS, VERSION},
    {"tag NEEDS", TAG(22), 8, NEEDS, LISTS_OF_VERSIONS, NEEDS, LISTS_OF_VERSIONS},
    {"tag OFFERS", TAG(24), 8, OFFERS, LISTS_OF_VERSIONS, OFFERS, LISTS_OF_VERSIONS},
    {"tag RUNPATH", TAG(26), 8, 0, ANYTHING, STRING_BYTES - 1, NO_TEXT},
    {"symbol 0: name", SYMBOLS + 0, 4, 0, ANYTHING, STRING_BYTES - 1, NAME},
    {"symbol 1: name", SYMBOLS + 24, 4, 16, NO_EXPORT, 16, NO_EXPORT},
    {"symbol 1: info", SYMBOLS + 28, 1, 16, NO_EXPORT, 18, NO_EXPORT},
    {"symbol 1: other", SYMBOLS + 29, 1, 0, ANYTHING, 0, NO_EXPORT},
    {"symbol 1: section", SYMBOLS + 30, 2, 1, NO_EXPORT, 3, NO_EXPORT},
    {"symbol 1: address", SYMBOLS + 32, 8, DYNAMIC + MOVED, EXPORT, MEMORY_END - 16, EXPORT},
    {"symbol 1: bytes", SYMBOLS + 40, 8, 0, ANYTHING, 16, EXPORT},
    {"symbol 2: name", SYMBOLS + 48, 4, 0, ANYTHING, STRING_BYTES - 1, NAME},
    {"GNU hash table, word 0", GNU_HASH + 0, 4, 1, HASH, 1, HASH},
    {"GNU hash table, word 1", GNU_HASH + 4, 4, 1, HASH, 1, HASH},
    {"GNU hash table, word 2", GNU_HASH + 8, 4, 1, HASH, 1, HASH},
    {"GNU hash table, word 3", GNU_HASH + 12, 4, 0, ANYTHING, 63, HASH},
    {"GNU hash table, word 6", GNU_HASH + 24, 4, 0, ANYTHING, 2, HASH},
    {"GNU hash table, word 8", GNU_HASH + 32, 4, 3, HASH, 3, HASH},
    {"old hash table, word 0", OLD_HASH + 0, 4, 1, HASH, 3, HASH},
    {"old hash table, word 1", OLD_HASH + 4, 4, 3, HASH, 3, HASH},
    {"old hash table, word 2", OLD_HASH + 8, 4, 0, ANYTHING, 2, HASH},
    {"old hash table, word 4", OLD_HASH + 16, 4, 2, HASH, 2, HASH},
    {"old hash table, word 5", OLD_HASH + 20, 4, 0, ANYTHING, 0, HASH},
    {"version of symbol 0", VERSIONS + 0, 2, 0, ANYTHING, 3, VERSION},
    {"version of symbol 1", VERSIONS + 2, 2, 0, ANYTHING, 3, VERSION},
    {"version of symbol 2", VERSIONS + 4, 2, 0, ANYTHING, 3, VERSION},
    {"need: version", NEEDS + 0, 2, 1, LISTS_OF_VERSIONS, 1, LISTS_OF_VERSIONS},
    {"need: library", NEEDS + 4, 4, 8, LISTS_OF_VERSIONS, 8, LISTS_OF_VERSIONS},
    {"need: items", NEEDS + 8, 4, 16, LISTS_OF_VERSIONS, 16, LISTS_OF_VERSIONS},
    {"need: next", NEEDS + 12, 4, 0, ANYTHING, 0, LISTS_OF_VERSIONS},
    {"need, item: index", NEEDS + 22, 2, 3, VERSION, UINT64_MAX, ANYTHING},
    {"need, item: name", NEEDS + 24, 4, 0, ANYTHING, STRING_BYTES - 1, LISTS_OF_VERSIONS},
    {"need, item: next", NEEDS + 28, 4, 0, ANYTHING, 0, LISTS_OF_VERSIONS},
    {"offer: version", OFFERS + 0, 2, 1, LISTS_OF_VERSIONS, 1, LISTS_OF_VERSIONS},
    {"offer: items", OFFERS + 12, 4, 20, LISTS_OF_VERSIONS, 28, LISTS_OF_VERSIONS},
    {"offer: next", OFFERS + 16, 4, 0, ANYTHING, 0, LISTS_OF_VERSIONS},
    {"offer: text", OFFERS + 20, 4, 0, ANYTHING, STRING_BYTES - 1, LISTS_OF_VERSIONS},
    {"relocation 0: address", RELOCATIONS + 0, 8, DYNAMIC + MOVED, WRITES, MEMORY_END - 8, WRITES},
    {"relocation 0: type", RELOCATIONS + 8, 4, 8, OTHER_TYPE, 8, TYPE},
    {"relocation 0: symbol", RELOCATIONS + 12, 4, 0, ANYTHING, 2, ASKS},
    {"relocation 1: address", RELOCATIONS + 24, 8, DYNAMIC + MOVED, WRITES, MEMORY_END - 8, WRITES},
    {"relocation 1: type", RELOCATIONS + 32, 4, 6, TYPE, 8, TYPE},
    {"relocation 1: symbol", RELOCATIONS + 36, 4, 0, ANYTHING, 2, ASKS},
    {"late relocation: address", LATE + 0, 8, DYNAMIC + MOVED, WRITES, MEMORY_END - 8, WRITES},
    {"late relocation: type", LATE + 8, 4, 37, WRITES, 37, TYPE},
    {"late relocation: symbol", LATE + 12, 4, 0, ANYTHING, 2, ASKS},
    {"late relocation: addend", LATE + 16, 8, 0, ANYTHING, CODE_END - 1, CALLS},
};
/* clang-format on */

static void expect(const limit_t *limit, uint64_t value, const char *words)
{
    char why[256];
    uint64_t was = get(limit->place, limit->bytes);
    put(limit->place, value, limit->bytes);
    bool good = judge(why, sizeof why);
    put(limit->place, was, limit->bytes);
    EXPECT(good == (words == NULL) && (good || strstr(why, words) != NULL), "%s is %llu: %s instead of %s", limit->what,
           (unsigned long long)value, good ? "good" : why, words == NULL ? "good" : words);
}

START_TEST(each_number_is_good_up_to_its_limits_and_no_further)
{
    char why[256];
    make_library();
    ck_assert_msg(judge(why, sizeof why), "%s", why);
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

static void is_judged(const char *words)
{
    char why[256];
    bool good = judge(why, sizeof why);
    EXPECT(good == (words == NULL) && (good || strstr(why, words) != NULL), "%s instead of %s", good ? "good" : why,
           words == NULL ? "good" : words);
}

START_TEST(a_table_in_the_dynamic_table_has_a_place_and_a_length)
{
    static const uint64_t halves[] = {TAG_RELA, TAG_RELA_BYTES, TAG_RELA_ENTRY, TAG_PLT, TAG_PLT_BYTES, TAG_PLT_KIND,
                                      TAG_INIT_ARRAY, TAG_INIT_BYTES, TAG_FINI_ARRAY, TAG_FINI_BYTES, TAG_NEEDS,
                                      TAG_NEED_COUNT, TAG_OFFERS, TAG_OFFER_COUNT};
    make_library();
    for (size_t i = 0; i < COUNT(halves); i++) {
        size_t place = tag_place(halves[i]) - 8;
        put(place, 0x6fffaaaa, 8);
        is_judged("tells of half a table");
        put(place, halves[i], 8);
    }
}
END_TEST

/* Two tags say so, one of them as a flag. */
START_TEST(code_is_relocated_only_where_the_library_says_so)
{
    make_library();
    put(RELOCATIONS, CODE_END - 8, 8);
    is_judged("writes outside its data");
    put(tag_place(TAG_FLAGS), FLAG_TEXT_RELOCATIONS | 8, 8);
    is_judged(NULL);
    put(RELOCATIONS, CODE_END - 7, 8);
    is_judged("writes outside its data");
    put(RELOCATIONS, CODE_END - 8, 8);
    put(tag_place(TAG_FLAGS) - 8, TAG_TEXT_RELOCATIONS, 8);
    is_judged(NULL);
    put(tag_place(TAG_FLAGS_1), FLAG_1_PROGRAM | 1, 8);
    is_judged("a program, not a shared library");
}
END_TEST

/* Global, weak and unique symbols that others see. */
START_TEST(a_symbol_is_exported_by_its_binding_and_visibility)
{
    for (uint64_t binding = 0; binding < 16; binding++) {
        for (uint64_t visibility = 0; visibility < 4; visibility++) {
            make_library();
            put(SYMBOLS + 24 + 4, binding << 4 | 1, 1);
            put(SYMBOLS + 24 + 5, visibility, 1);
            bool exported = (binding == 1 || binding == 2 || binding == 10) && (visibility == 0 || visibility == 3);
            is_judged(exported ? NULL : "does not export the symbol");
        }
    }
}
END_TEST

/* The first symbol's chain leads to the second one's, whose chain leads back; or through all of them to the end. */
START_TEST(chains_of_symbols_end)
{
    make_library();
    put(OLD_HASH + 20, 1, 4);
    is_judged("hash table");
    make_library();
    put(OLD_HASH + 8, 2, 4);
    put(OLD_HASH + 16, 0, 4);
    put(OLD_HASH + 20, 1, 4);
    is_judged(NULL);
    put(GNU_HASH + 24, 0, 4); /* nothing is exported by the other table: it has no hashes */
    put(GNU_HASH + 32, 2, 4);
    is_judged(NULL);
}
END_TEST

/* --- several numbers changed together ----------------------------------------------------------------------------- */

typedef struct patch_t {
    size_t place;
    uint64_t value;
    size_t bytes;
} patch_t;

enum { PATCHES = 10 };
#define UNKNOWN 0x6fffaaaa
#define NAMELESS(i) {DYNAMIC + 16 * (i), UNKNOWN, 8} /* tag number i is none that loaders know */
#define NO_BITS_LEFT (CODE_END - 28) /* a hash table of GNU's has its header and its bucket there, and no hashes */

/* clang-format off */
static const struct { const char *what; patch_t patches[PATCHES]; const char *words; } changes[] = {
    {"a table of segments behind the end", {{32, SIZE + 1, 8}}, "cut short: its segment table"},
    {"no byte of texts", {{TAG(3), 0, 8}}, "names no table of texts"},
    {"a former kind of path", {{DYNAMIC + 16 * 26, 15 /* DT_RPATH */, 8}}, NULL},
    {"a former kind of path, astray", {{DYNAMIC + 16 * 26, 15, 8}, {TAG(26), STRING_BYTES, 8}},
     "names a text that is not"},
    {"no segment to load", {{SEGMENT(0), 4, 4}, {SEGMENT(1), 4, 4}}, "no segment to load, or not one dynamic table"},
    {"two dynamic tables", {{SEGMENT(4), 2, 4}}, "no segment to load, or not one dynamic table"},
    {"protected pages before the data, and in it", {{SEGMENT(3) + 16, 0, 8}, {SEGMENT(3) + 32, 0, 8},
     {SEGMENT(3) + 40, 0x10000, 8}}, "segment 3 lies in no segment that is loaded"},
    {"a dynamic table of no byte in memory", {{SEGMENT(2) + 40, 0, 8}}, NULL},
    {"the same elsewhere", {{SEGMENT(2) + 40, 0, 8}, {SEGMENT(2) + 16, 8, 8}}, "segment 2 lies in no segment"},
    {"no symbols", {{SECTION(1) + 32, 23, 8}}, "its symbols are not where its dynamic table says"},
    {"no relocations", {NAMELESS(8), NAMELESS(9), NAMELESS(10)}, NULL},
    {"no late relocations", {NAMELESS(12), NAMELESS(13), NAMELESS(14)}, NULL},
    {"no functions at loading", {NAMELESS(15), NAMELESS(16), NAMELESS(17), NAMELESS(18), NAMELESS(19), NAMELESS(20)},
     NULL},
    {"half a list of functions", {{TAG(18), 12, 8}}, "a list of functions that are called at loading is not there"},
    {"one hash table", {NAMELESS(6)}, NULL},
    {"the other hash table", {NAMELESS(7)}, NULL},
    {"no hash table", {NAMELESS(6), NAMELESS(7)}, "the hash table of its symbols makes no sense"},
    {"no bytes of a hash table", {{TAG(6), CODE_END - 12, 8}}, "the hash table of its symbols makes no sense"},
    {"no hashes", {{TAG(6), NO_BITS_LEFT, 8}, {NO_BITS_LEFT, 1, 4}, {NO_BITS_LEFT + 4, 1, 4}, {NO_BITS_LEFT + 8, 1, 4},
     {NO_BITS_LEFT + 24, 1, 4}}, "the hash table of its symbols makes no sense"},
    {"no hashes, and no use for any", {{TAG(6), NO_BITS_LEFT, 8}, {NO_BITS_LEFT, 1, 4}, {NO_BITS_LEFT + 4, 1, 4},
     {NO_BITS_LEFT + 8, 1, 4}, {NO_BITS_LEFT + 24, 0, 4}}, NULL},
    {"half a header of the old hash table", {{TAG(7), CODE_END - 4, 8}},
     "the hash table of its symbols makes no sense"},
    {"no buckets behind the header", {{TAG(7), CODE_END - 8, 8}, {CODE_END - 8, 1, 4}, {CODE_END - 4, 3, 4}},
     "the hash table of its symbols makes no sense"},
    {"no versions of others", {NAMELESS(22), NAMELESS(23), {VERSIONS + 4, 2, 2}}, NULL},
    {"no versions of its own", {NAMELESS(24), NAMELESS(25)}, NULL},
    {"no versions", {NAMELESS(21), NAMELESS(22), NAMELESS(23), NAMELESS(24), NAMELESS(25)}, NULL},
    {"a list of others' versions that ends too soon", {{TAG(22), CODE_END - 4, 8}},
     "its lists of versions make no sense"},
    {"a list of its own that ends too soon", {{TAG(24), CODE_END - 4, 8}}, "its lists of versions make no sense"},
    {"a version of its own without a name", {{OFFERS + 12, UINT32_MAX, 4}}, "its lists of versions make no sense"},
};
/* clang-format on */

START_TEST(tables_that_are_not_there_are_missed_only_where_they_are_needed)
{
    char why[256];
    for (size_t i = 0; i < COUNT(changes); i++) {
        make_library();
        for (size_t p = 0; p < PATCHES && changes[i].patches[p].bytes > 0; p++)
            put(changes[i].patches[p].place, changes[i].patches[p].value, changes[i].patches[p].bytes);
        bool good = judge(why, sizeof why), wanted = changes[i].words == NULL;
        EXPECT(good == wanted && (good || strstr(why, changes[i].words) != NULL), "%s: %s", changes[i].what,
               good ? "good" : why);
    }
}
END_TEST

/* `needs` lists of versions that are one list of `items`, and `offers` versions of its own. */
static void put_versions(uint32_t needs, uint32_t items, uint32_t offers)
{
    enum { LIST = DYNAMIC + 0x1e0, ITEMS = LIST + 0xa0, OWN = ITEMS + 0x70 };
    make_library();
    put(tag_place(TAG_NEEDS), LIST + MOVED, 8);
    put(tag_place(TAG_OFFERS), OWN + MOVED, 8);
    put(VERSIONS + 4, 2, 2);
    for (uint32_t i = 0; i < needs; i++) {
        elf_need_t need = {1, 1, OTHER_NAME, ITEMS - LIST - i * 16, i + 1 < needs ? 16 : 0};
        memcpy(library + LIST + i * 16, &need, sizeof need);
    }
    for (uint32_t i = 0; i < items + 3; i++) /* each item begins a word behind the one before it */
        put(ITEMS + i * 4, i + 1 < items + 3 ? 4 : 0, 4);
    for (uint32_t i = 0; i < offers; i++) {
        elf_offer_t offer = {1, 0, 2, 1, 0, 20 * (offers - i), i + 1 < offers ? 20 : 0};
        memcpy(library + OWN + i * 20, &offer, sizeof offer);
    }
    put(OWN + 20 * offers, FILE_NAME, 4);
}

/* No file has room for more versions than it has bytes, whatever its lists say that lead through the same bytes again
   and again. */
START_TEST(lists_of_versions_are_walked_for_as_long_as_the_file_has_room_for)
{
    enum { ROOM = SIZE / 16 };
    put_versions(7, ROOM / 7, ROOM % 7);
    is_judged(NULL);
    put_versions(7, ROOM / 7, ROOM % 7 + 1);
    is_judged("its lists of versions make no sense");
    put_versions(8, ROOM / 7, 1);
    is_judged("its lists of versions make no sense");
}
END_TEST

#endif

Suite *image_limits_suite(void)
{
    Suite *suite = suite_create("image_limits");
    TCase *tests = tcase_create("ELF");
#if defined(__x86_64__) && defined(__linux__)
    tcase_add_test(tests, each_number_is_good_up_to_its_limits_and_no_further);
    tcase_add_test(tests, a_table_in_the_dynamic_table_has_a_place_and_a_length);
    tcase_add_test(tests, code_is_relocated_only_where_the_library_says_so);
    tcase_add_test(tests, a_symbol_is_exported_by_its_binding_and_visibility);
    tcase_add_test(tests, chains_of_symbols_end);
    tcase_add_test(tests, tables_that_are_not_there_are_missed_only_where_they_are_needed);
    tcase_add_test(tests, lists_of_versions_are_walked_for_as_long_as_the_file_has_room_for);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}
