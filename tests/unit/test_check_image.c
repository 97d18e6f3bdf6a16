/* test_check_image.c - what is found in the bytes of a library, symbol by symbol: variables that can be written,
 * run-time libraries that are linked in, functions that are used, marks of its parts.
 *
 * The library is one of the plugins with other tables at its end: its section table, with sections of the test's own,
 * the symbols that a linker leaves for debuggers, and their names. The table that the system's loader reads stays where
 * it is; there one symbol without a definition, which each compiler on Linux leaves, gets other names.
 */
#include "support.h"

#include "../suites.h"

#include <base/base.h>
#include <plugin/check.h>
#include <plugin/elf.h>
#include <string.h>

#if defined(__linux__) && __SIZEOF_POINTER__ == 8 && !defined(BACKPLANE_SANITIZED)

enum { OBJECT = 1, FUNCTION = 2, SOURCE = 4, THREAD = 6, GLOBAL = 1 << 4, UNIQUE = 10 << 4 };
enum { NOWHERE, DATA, CONSTANT, RELOCATED, OF_THREADS, STACK_NOTE, BEYOND, OWN_SECTIONS };
enum { MOST_SECTIONS = 128, MOST_SYMBOLS = 64 };
static const char spare_name[] = "_ITM_deregisterTMCloneTable";

static unsigned char file[1 << 20];
static size_t file_size;
static elf_header_t header;
static elf_section_t sections[MOST_SECTIONS];
static elf_symbol_t symbols[MOST_SYMBOLS];
static uint32_t symbol_count, own_sections[OWN_SECTIONS];
static char texts[1 << 14], found[1 << 14];
static size_t texts_used;

static void note(void *data, int32_t level, const char *text)
{
    size_t length = strlen(found);
    (void)data;
    snprintf(found + length, sizeof found - length, "%d %s\n", (int)level, text);
}

static uint32_t add_text(const char *text)
{
    size_t at = texts_used;
    ck_assert_uint_lt(at + strlen(text) + 1, sizeof texts);
    memcpy(texts + at, text, strlen(text) + 1);
    texts_used += strlen(text) + 1;
    return (uint32_t)at;
}

static uint64_t append(const void *bytes, size_t size)
{
    size_t at = (file_size + 7) / 8 * 8;
    ck_assert_uint_lt(at + size, sizeof file);
    memcpy(file + at, bytes, size);
    file_size = at + size;
    return at;
}

static elf_section_t *section_of(uint32_t type)
{
    for (uint32_t i = 0; i < header.section_count; i++) {
        if (sections[i].type == type)
            return &sections[i];
    }
    ck_abort_msg("the plugin has no section of type %u", type);
    return NULL;
}

static uint32_t add_section(const char *name, uint64_t flags)
{
    ck_assert_uint_lt(header.section_count, MOST_SECTIONS);
    sections[header.section_count] =
        (elf_section_t){.name = add_text(name), .type = 1, .flags = flags, .offset = sizeof header, .alignment = 1};
    return header.section_count++;
}

/* The plugin as it is, and sections of the test's own behind its own. All names are in one table. */
static void begin(void)
{
    FILE *plugin = fopen(TEST_PLUGIN_DIR "/point_mass" TEST_SO, "rb");
    ck_assert_ptr_nonnull(plugin);
    file_size = fread(file, 1, sizeof file, plugin);
    fclose(plugin);
    memcpy(&header, file, sizeof header);
    ck_assert_uint_lt(header.section_count + OWN_SECTIONS, MOST_SECTIONS);
    memcpy(sections, file + header.sections, header.section_count * sizeof sections[0]);
    texts_used = (size_t)sections[header.names].bytes;
    ck_assert_uint_lt(texts_used, sizeof texts / 2);
    memcpy(texts, file + sections[header.names].offset, texts_used);
    own_sections[NOWHERE] = 0;
    own_sections[DATA] = add_section(".data.probe", 1);
    own_sections[CONSTANT] = add_section(".rodata.probe", 0);
    own_sections[RELOCATED] = add_section(".data.rel.ro.probe", 1);
    own_sections[OF_THREADS] = add_section(".tbss.probe", 1);
    own_sections[STACK_NOTE] = add_section(".note.other", 0);
    own_sections[BEYOND] = header.section_count;
    symbol_count = 0;
}

static void add(const char *name, uint32_t info, uint32_t where, uint64_t bytes)
{
    ck_assert_uint_lt(symbol_count, MOST_SYMBOLS);
    symbols[symbol_count++] = (elf_symbol_t){.name = add_text(name), .info = (unsigned char)info,
                                             .section = (uint16_t)own_sections[where], .bytes = bytes};
}

/* Write the tables behind the file and have it checked. Returns how many errors were counted. */
static uint32_t look(void)
{
    check_sink_t sink = {.find = note};
    elf_section_t *table = section_of(2);
    table->offset = append(symbols, symbol_count * sizeof symbols[0]);
    table->bytes = symbol_count * sizeof symbols[0];
    table->link = header.names;
    sections[header.names].bytes = texts_used;
    sections[header.names].offset = append(texts, texts_used);
    header.sections = append(sections, header.section_count * sizeof sections[0]);
    memcpy(file, &header, sizeof header);
    found[0] = '\0';
    ck_assert_msg(check_image(file, file_size, &sink), "%s", found);
    return sink.errors;
}

#define WRITTEN(name, bytes) \
    "3 '" name "' can be written (" #bytes " bytes in .data.probe): make it const, or keep it in memory that the " \
    "host gives\n"
#define OF_EACH(name) \
    "3 '" name "' is a variable of each thread (.tbss.probe): keep it in memory that the host gives\n"

static void expect(const char *wanted)
{
    EXPECT(strcmp(found, wanted) == 0, "found:\n%sinstead of:\n%s", found, wanted);
}

/* Of one function, which is that of the compiler where it chooses code by the processor, nothing is said. */
static void one_constructor(void)
{
    section_of(14)->bytes = 8;
}

/* Those of the toolchain, whose names are known, and what is called nearly so. */
static void add_toolchains(void)
{
    static const char *const names[] = {"__dso_handle", "completed.0", "DW.ref.x",
                                        "__asan_x", "__odr_asan_x", "__gcov_x"};
    static const char *const others[] = {"__dso_handles", "completed_", "DW.refs", "__asax", "__odr_asax", "__gcox"};
    for (uint32_t i = 0; i < COUNT(names); i++)
        add(names[i], OBJECT, DATA, 4);
    for (uint32_t i = 0; i < COUNT(others); i++)
        add(others[i], OBJECT, DATA, 4);
}

#define TOOLCHAINS_OTHERS                                                                                    \
    WRITTEN("__dso_handles", 4) WRITTEN("completed_", 4) WRITTEN("DW.refs", 4) WRITTEN("__asax", 4)          \
    WRITTEN("__odr_asax", 4) WRITTEN("__gcox", 4)

static void add_variables(void)
{
    add("own.c", SOURCE, NOWHERE, 0);
    add("counter", OBJECT, DATA, 1);
    add("empty", OBJECT, DATA, 0);
    add("fixed", OBJECT, CONSTANT, 4);
    add("table", OBJECT, RELOCATED, 8);
    add("each", THREAD, OF_THREADS, 4);
    add("each_empty", THREAD, OF_THREADS, 0);
    add("function", FUNCTION, DATA, 4);
    add("other_kind", 3, DATA, 4);
    add("lost", OBJECT, BEYOND, 4);
    add("shared", GLOBAL | OBJECT, DATA, 16);
}

#define VARIABLES WRITTEN("counter", 1) OF_EACH("each") WRITTEN("shared", 16)

START_TEST(variables_that_can_be_written_are_found_and_others_not)
{
    begin();
    one_constructor();
    add_variables();
    add_toolchains();
    ck_assert_uint_eq(look(), 9);
    expect(VARIABLES TOOLCHAINS_OTHERS);
}
END_TEST

/* Variables of C++'s library are known by their names, and local ones by their source too; so are Rust's by theirs. */
static void add_run_times(void)
{
    add("_ZStx", OBJECT, DATA, 4);
    add("_ZStfixed", OBJECT, CONSTANT, 4);
    add("_ZSteach", THREAD, CONSTANT, 4);
    add("object_mutex", OBJECT, DATA, 4);
    add("object_mutexes", OBJECT, DATA, 4);
    add("locale.cc", SOURCE, NOWHERE, 0);
    add("of_source", OBJECT, DATA, 4);
    add("of_source_fixed", OBJECT, CONSTANT, 4);
    add("of_source_each", THREAD, OF_THREADS, 4);
    add("of_nobody", GLOBAL | OBJECT, DATA, 4);
    add("own.c", SOURCE, NOWHERE, 0);
    add("_ZN4corex", OBJECT, DATA, 4);
    add("_ZN4corefixed", OBJECT, CONSTANT, 4);
    add("_ZN4coreeach", THREAD, OF_THREADS, 4);
    add("_RNvNtCs1234_5alloc3raw", OBJECT, DATA, 4);
    add("_RNvNtCs1234_4mine3raw", OBJECT, DATA, 4);
    add("_RNvNtCs1234", OBJECT, DATA, 4);
    add("_SNvNtCs1234_5alloc3raw", OBJECT, DATA, 4);
}

#define NO_RUN_TIMES \
    WRITTEN("_RNvNtCs1234_4mine3raw", 4) WRITTEN("_RNvNtCs1234", 4) WRITTEN("_SNvNtCs1234_5alloc3raw", 4)
#define CXX_BY_SOURCE WRITTEN("of_source", 4) OF_EACH("of_source_each")
#define RUST_VARIABLES WRITTEN("_ZN4corex", 4) OF_EACH("_ZN4coreeach") WRITTEN("_RNvNtCs1234_5alloc3raw", 4)

START_TEST(variables_of_a_run_time_library_are_counted_where_that_library_is_linked_in)
{
    static const struct { const char *name; uint32_t info, where; const char *found; } cases[] = {
        {"none", FUNCTION, DATA, WRITTEN("object_mutexes", 4) CXX_BY_SOURCE WRITTEN("of_nobody", 4) RUST_VARIABLES
         NO_RUN_TIMES},
        {"__cxa_allocate_exception", FUNCTION, NOWHERE, WRITTEN("object_mutexes", 4) CXX_BY_SOURCE
         WRITTEN("of_nobody", 4) RUST_VARIABLES NO_RUN_TIMES},
        {"__cxa_allocate_exception", 3, DATA, WRITTEN("object_mutexes", 4) CXX_BY_SOURCE
         WRITTEN("of_nobody", 4) RUST_VARIABLES NO_RUN_TIMES},
        {"__cxa_allocate_exception", FUNCTION, DATA, WRITTEN("object_mutexes", 4) WRITTEN("of_nobody", 4) RUST_VARIABLES
         NO_RUN_TIMES "2 C++'s run-time library is linked in (5 variables of it): without -static-libstdc++ it is left "
         "out\n"},
        {"_ZN3std2ioE", FUNCTION, DATA, WRITTEN("object_mutexes", 4) CXX_BY_SOURCE WRITTEN("of_nobody", 4) NO_RUN_TIMES
         "2 Rust's standard library is linked in (3 variables of it): what they hold is not carried over a reload, and "
         "values of threads keep the file in memory; #![no_std] leaves it out\n"},
        {"_ZN3std2ioE", FUNCTION, NOWHERE, WRITTEN("object_mutexes", 4) CXX_BY_SOURCE WRITTEN("of_nobody", 4)
         RUST_VARIABLES NO_RUN_TIMES},
        {"_ZN4core2ioE", FUNCTION, DATA, WRITTEN("object_mutexes", 4) CXX_BY_SOURCE WRITTEN("of_nobody", 4)
         RUST_VARIABLES NO_RUN_TIMES},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        begin();
        one_constructor();
        add_run_times();
        add(cases[i].name, cases[i].info, cases[i].where, 4);
        look();
        expect(cases[i].found);
    }
}
END_TEST

/* A library of which nothing but functions is there is not worth a word. */
START_TEST(a_run_time_library_without_variables_is_not_told)
{
    begin();
    one_constructor();
    add("__cxa_allocate_exception", FUNCTION, DATA, 4);
    add("_ZN3std2ioE", FUNCTION, DATA, 4);
    ck_assert_uint_eq(look(), 0);
    expect("");
}
END_TEST

START_TEST(a_stripped_library_is_told)
{
    begin();
    one_constructor();
    elf_section_t *table = section_of(2);
    table->type = 1;
    header.sections = append(sections, header.section_count * sizeof sections[0]);
    sections[header.names].offset = append(texts, texts_used);
    sections[header.names].bytes = texts_used;
    header.sections = append(sections, header.section_count * sizeof sections[0]);
    memcpy(file, &header, sizeof header);
    found[0] = '\0';
    ck_assert(check_image(file, file_size, &(check_sink_t){.find = note}));
    expect("2 it is stripped: whether it has variables of its own cannot be seen\n");
}
END_TEST

/* Give the symbol that is there to spare another name, or make another symbol of it. */
static void rename_spare(const char *name, uint32_t info, uint32_t where)
{
    const elf_section_t *table = section_of(SECTION_DYNAMIC_SYMBOLS), *names = &sections[table->link];
    for (uint64_t at = table->offset; at < table->offset + table->bytes; at += sizeof(elf_symbol_t)) {
        elf_symbol_t symbol;
        memcpy(&symbol, file + at, sizeof symbol);
        char *text = (char *)file + names->offset + symbol.name;
        if (strcmp(text, spare_name) != 0)
            continue;
        ck_assert_uint_lt(strlen(name), sizeof spare_name);
        memcpy(text, name, strlen(name) + 1);
        symbol.info = (unsigned char)info;
        symbol.section = (uint16_t)own_sections[where];
        memcpy(file + at, &symbol, sizeof symbol);
        return;
    }
    ck_abort_msg("no symbol '%s'", spare_name);
}

#define OF_RUST "_ZN3std2ioE"
#define OF_CXX "__cxa_allocate_exception"
#define IS_UNIQUE(name) \
    "3 '" name "' is unique in the process, which keeps the library in memory for ever: compile with -fno-gnu-unique\n"
#define EXPORTS(name) "1 it exports '" name "', which the host never asks for: compile with -fvisibility=hidden\n"

START_TEST(what_the_systems_loader_reads_of_symbols_is_judged_by_name_and_binding)
{
    static const struct { const char *library, *name; uint32_t info, where; const char *found; } cases[] = {
        {"none", "fork", GLOBAL, NOWHERE, "2 it uses 'fork': a process that it starts outlives a reload\n"},
        {"none", "forks", GLOBAL, NOWHERE, ""},
        {"none", "atexit", GLOBAL, NOWHERE,
         "3 it uses 'atexit': what it registers would be called after it has gone\n"},
        {"none", "malloc", GLOBAL, NOWHERE, "1 it uses 'malloc': memory from the C library is in no account; "
         "bp_memory_api's is\n"},
        {"none", "__cxa_thread_atexit", GLOBAL, NOWHERE,
         "3 it uses '__cxa_thread_atexit': thread-local objects with destructors keep it in memory for ever\n"},
        {OF_RUST, "__cxa_thread_atexit", GLOBAL, NOWHERE, ""},
        {OF_RUST, "__cxa_thread_atexit_impl", GLOBAL, NOWHERE, ""},
        {OF_RUST, "fork", GLOBAL, NOWHERE, "2 it uses 'fork': a process that it starts outlives a reload\n"},
        {"none", "fork", GLOBAL, DATA, EXPORTS("fork")},
        {"none", "x", GLOBAL, DATA, EXPORTS("x")},
        {"none", "_x", GLOBAL, DATA, ""},
        {"none", "x", 0, DATA, ""},
        {"none", "", GLOBAL, DATA, ""},
        {"none", "rust_eh_personality", GLOBAL, DATA, ""},
        {"none", "_only", UNIQUE, DATA, IS_UNIQUE("_only")},
        {"none", "_ZStonly", UNIQUE, DATA, IS_UNIQUE("_ZStonly")},
        {OF_CXX, "_ZStonly", UNIQUE, DATA, "2 C++'s run-time library is linked in (0 variables of it): it keeps the "
         "file in memory after a reload; without -static-libstdc++ it is left out\n"},
        {OF_CXX, "_ZStonly", GLOBAL, DATA, ""},
        {OF_CXX, "_only", UNIQUE, DATA, IS_UNIQUE("_only")},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        begin();
        one_constructor();
        add(cases[i].library, FUNCTION, DATA, 4);
        rename_spare(cases[i].name, cases[i].info, cases[i].where);
        look();
        expect(cases[i].found);
    }
}
END_TEST

START_TEST(functions_that_run_at_opening_are_counted_but_for_that_of_the_compiler)
{
#define RUN(count) \
    "2 " count " functions of it run when the file is opened, before it is judged (constructors): let `load` do that\n"
    static const struct { uint64_t bytes; const char *found; } cases[] = {
        {0, ""}, {8, ""}, {16, RUN("1")}, {24, RUN("2")}};
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        begin();
        section_of(14)->bytes = cases[i].bytes;
        look();
        expect(cases[i].found);
    }
}
END_TEST

/* By a section of an object file that was linked in, or by the segment that the system reads. */
START_TEST(a_stack_that_code_can_run_on_is_found)
{
    static const char by_segment[] = "2 it wants a stack that code can run on: link with -z noexecstack\n";
    for (uint32_t flags = 0; flags < 8; flags++) {
        begin();
        one_constructor();
        sections[own_sections[STACK_NOTE]].flags = flags;
        look();
        expect("");
        sections[own_sections[STACK_NOTE]].name = add_text(".note.GNU-stack");
        look();
        expect((flags & 4) != 0 ? "2 it wants a stack that code can run on\n" : "");
        sections[own_sections[STACK_NOTE]].flags = 0;
        for (uint32_t i = 0; i < header.segment_count; i++) {
            elf_segment_t segment;
            memcpy(&segment, file + header.segments + i * sizeof segment, sizeof segment);
            segment.flags = segment.type == SEGMENT_STACK ? flags : segment.flags;
            memcpy(file + header.segments + i * sizeof segment, &segment, sizeof segment);
        }
        const uint32_t behind[] = {SEGMENT_STACK, CAN_RUN}; /* where the table has ended */
        memcpy(file + header.segments + header.segment_count * sizeof(elf_segment_t), behind, sizeof behind);
        look();
        expect((flags & CAN_RUN) != 0 ? by_segment : "");
    }
}
END_TEST

/* The first entry of the table counts too; what is found comes in the order of the file's tables. */
START_TEST(marks_of_the_linker_come_before_those_of_the_parts)
{
    begin();
    one_constructor();
    const uint64_t mark = TAG_TEXT_RELOCATIONS;
    memcpy(file + section_of(6)->offset, &mark, sizeof mark);
    sections[own_sections[STACK_NOTE]].name = add_text(".note.GNU-stack");
    sections[own_sections[STACK_NOTE]].flags = 4;
    add("counter", OBJECT, DATA, 4);
    look();
    expect(WRITTEN("counter", 4)
           "3 its code is changed at opening (text relocations): compile with -fPIC\n"
           "2 it wants a stack that code can run on\n");
}
END_TEST

START_TEST(a_finding_has_at_most_511_bytes)
{
    char name[601] = "";
    begin();
    one_constructor();
    memset(name, 'x', sizeof name - 1);
    add(name, OBJECT, DATA, 4);
    look();
    ck_assert_uint_eq(strlen(found), strlen("3 ") + 511 + strlen("\n"));
}
END_TEST

#endif

Suite *check_image_suite(void)
{
    Suite *suite = suite_create("check_image");
    TCase *all = tcase_create("check_image");
#if defined(__linux__) && __SIZEOF_POINTER__ == 8 && !defined(BACKPLANE_SANITIZED)
    tcase_add_test(all, variables_that_can_be_written_are_found_and_others_not);
    tcase_add_test(all, variables_of_a_run_time_library_are_counted_where_that_library_is_linked_in);
    tcase_add_test(all, a_run_time_library_without_variables_is_not_told);
    tcase_add_test(all, a_stripped_library_is_told);
    tcase_add_test(all, what_the_systems_loader_reads_of_symbols_is_judged_by_name_and_binding);
    tcase_add_test(all, functions_that_run_at_opening_are_counted_but_for_that_of_the_compiler);
    tcase_add_test(all, a_stack_that_code_can_run_on_is_found);
    tcase_add_test(all, marks_of_the_linker_come_before_those_of_the_parts);
    tcase_add_test(all, a_finding_has_at_most_511_bytes);
#endif
    suite_add_tcase(suite, all);
    return suite;
}
