/* check.c - searching a plugin's file for code and variables that would prevent or disturb a reload.
 *
 * Looked for are: variables of the plugin's own that can be written (also one a thread), since they are lost at a
 * reload and shared by hosts; unique symbols, "do not delete", and destructors of thread-local objects, since they keep
 * the old image mapped for ever; functions that are called at opening, since they run before the descriptor is judged;
 * and imported functions that show what the plugin may leave behind: threads, handlers, other processes.
 *
 * Symbols that the toolchain puts into every library are known by name and passed over, as in tools/check_statics.sh.
 */
#include "check.h"

#include "elf.h"
#include "image.h"

#include <bp_plugin.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TYPE_SYMBOLS = 2, TYPE_INIT_ARRAY = 14, KIND_OBJECT = 1, KIND_FUNCTION = 2, KIND_FILE = 4, KIND_THREAD = 6 };
enum { BIND_UNIQUE = 10, BIND_LOCAL = 0 };
enum { SECTION_WRITES = 1, FLAG_1_STAYS = 8, SEGMENT_RUNS = 1 };

void check_tell(check_sink_t *sink, int32_t level, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sink->errors += level >= BP_LOG_ERROR;
    sink->find(sink->data, level, text);
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strcmp(*names, name) == 0)
            return true;
    }
    return false;
}

/* --- variables of the plugin's own -------------------------------------------------------------------------------- */

static bool is_toolchains(const char *name)
{
    static const char *const known[] = {"__dso_handle",    "__cpu_model", "__cpu_features",
                                        "__cpu_features2", "__TMC_END__", NULL};
    /* DW.ref. begins the variables in which the compiler keeps the addresses of functions that catch exceptions. */
    return strncmp(name, "completed.", 10) == 0 || strncmp(name, "DW.ref.", 7) == 0 || is_one_of(name, known) ||
           strncmp(name, "__asan", 6) == 0 || strncmp(name, "__odr_asan", 10) == 0 || strncmp(name, "__gcov", 6) == 0;
}

static bool begins_with_one_of(const char *name, const char *const *beginnings)
{
    for (; *beginnings != NULL; beginnings++) {
        if (strncmp(name, *beginnings, strlen(*beginnings)) == 0)
            return true;
    }
    return false;
}

/* --- run-time libraries ------------------------------------------------------------------------------------------- */

/* The symbols of a run-time library that is linked into the plugin. Its variables hold only data of this image, which
 * goes with it, so one warning covers all of them. */
typedef struct run_time_t {
    uint32_t cxx, rust; /* variables */
    uint32_t unique;    /* symbols of C++'s that are unique in the process */
    bool cxx_is_in;     /* functions of C++'s library are defined in the file */
    bool rust_is_in;
} run_time_t;

/* Is the symbol of the run-time library of C++? Its local variables are known by their source file, since others may be
 * called the same; `file` is "" for symbols that are not local. */
static bool is_of_cxx(const char *name, const char *file)
{
    static const char *const beginnings[] = {
        "_ZSt", "_ZNSt", "_ZNKSt", "_ZNSs", "_ZNKSs", "_ZNSb", "_ZZSt", "_ZZNSt", "_ZGVNSt", "_ZGVZSt", "_ZGVZNSt",
        "_ZN9__gnu_cxx", "_ZZN9__gnu_cxx", "_ZN10__cxxabiv1", "_ZN14__gnu_internal",
        "_ZN12_GLOBAL__N_114emergency_pool", "_ZN12_GLOBAL__N_113__new_handlerE", "once_regsizes.", "marker.", NULL};
    static const char *const whole[] = {
        "dwarf_reg_size_table", "object_mutex", "unseen_objects", "seen_objects", "any_objects_registered",
        "registered_frames", "in_shutdown", "frame_hdr_cache", "frame_hdr_cache_head", NULL};
    static const char *const files[] = { /* up to the ending, which is .cc, .c or .o */
        "locale.", "locale_init.", "locale-inst.", "localename.", "globals_io.", "ios_init.", "codecvt.",
        "lt1-codecvt.", "system_error.", "future.", "eh_alloc.", "eh_globals.", "new_handler.", "memory_resource.",
        "debug.", "shared_ptr.", "compatibility.", "tzdb.", "messages_members.", "c++locale.",
        "ctype_configure_char.", "atomic.", "random.", "cow-stdexcept.", "cxx11-shim_facets.", "cow-shim_facets.",
        "ios_failure.", "cxx11-ios_failure.", "unwind-dw2-fde-dip.", "unwind-dw2.", NULL};
    return begins_with_one_of(name, beginnings) || is_one_of(name, whole) || begins_with_one_of(file, files);
}

/* Is the symbol of Rust's standard library, or of a crate in it? In names by the newer scheme ("_R") the crate stands
 * behind its number: Cs1234_3std. */
static bool is_of_rust(const char *name)
{
    static const char *const beginnings[] = {"_ZN3std", "_ZN4core", "_ZN5alloc", "_ZN15std_detect", "__rust",
                                             "_rust_extern_with_linkage_", NULL};
    static const char *const crates[] = {"3std", "4core", "5alloc", "10std_detect", "15std_detect", "6memchr",
                                         "5gimli", "9addr2line", "6object", "9hashbrown", "14rustc_demangle",
                                         "17compiler_builtins", "11miniz_oxide", "12panic_unwind", "11panic_abort",
                                         NULL};
    const char *crate = strncmp(name, "_R", 2) == 0 ? strstr(name, "Cs") : NULL;
    crate = crate == NULL ? NULL : strchr(crate, '_');
    return begins_with_one_of(name, beginnings) || (crate != NULL && begins_with_one_of(crate + 1, crates));
}

static void tell_run_time(const run_time_t *run_time, check_sink_t *sink)
{
    if (run_time->cxx_is_in && run_time->cxx + run_time->unique > 0)
        check_tell(sink, BP_LOG_WARNING,
                   "C++'s run-time library is linked in (%u variables of it): %swithout -static-libstdc++ it is left "
                   "out",
                   run_time->cxx, run_time->unique > 0 ? "it keeps the file in memory after a reload; " : "");
    if (run_time->rust_is_in && run_time->rust > 0)
        check_tell(sink, BP_LOG_WARNING,
                   "Rust's standard library is linked in (%u variables of it): what they hold is not carried over a "
                   "reload, and values of threads keep the file in memory; #![no_std] leaves it out",
                   run_time->rust);
}

static void check_object(const elf_view_t *view, const elf_symbol_t *symbol, const char *name, const char *file,
                         run_time_t *run_time, check_sink_t *sink)
{
    elf_section_t section;
    const char *where;
    uint32_t kind = symbol->info & 0xfu;
    if ((kind != KIND_OBJECT && kind != KIND_THREAD) || symbol->bytes == 0 || is_toolchains(name) ||
        !elf_view_section(view, symbol->section, &section, &where))
        return;
    bool writes = (section.flags & SECTION_WRITES) != 0 && strncmp(where, ".data.rel.ro", 12) != 0;
    bool cxx = run_time->cxx_is_in && is_of_cxx(name, file), rust = run_time->rust_is_in && is_of_rust(name);
    if (cxx || rust || is_of_cxx(name, "")) {
        run_time->cxx += cxx && (writes || kind == KIND_THREAD);
        run_time->rust += rust && (writes || kind == KIND_THREAD);
        return;
    }
    if (kind == KIND_THREAD)
        check_tell(sink, BP_LOG_ERROR, "'%s' is a variable of each thread (%s): keep it in memory that the host gives",
                   name, where);
    else if (writes)
        check_tell(sink, BP_LOG_ERROR,
                   "'%s' can be written (%llu bytes in %s): make it const, or keep it in memory that the host gives",
                   name, (unsigned long long)symbol->bytes, where);
}

/* Which run-time libraries are in the file: functions of them are defined there. */
static void find_run_time(const elf_view_t *view, const elf_section_t *table, run_time_t *run_time)
{
    elf_symbol_t symbol;
    const char *name;
    for (uint64_t i = 0; elf_view_symbol(view, table, i, &symbol, &name); i++) {
        bool defined = symbol.section != 0 && (symbol.info & 0xfu) == KIND_FUNCTION;
        run_time->cxx_is_in |= defined && strcmp(name, "__cxa_allocate_exception") == 0;
        run_time->rust_is_in |= defined && is_of_rust(name) && strstr(name, "3std") != NULL;
    }
}

static void check_symbols(const elf_view_t *view, run_time_t *run_time, check_sink_t *sink)
{
    elf_section_t table;
    elf_symbol_t symbol;
    const char *name, *file = "";
    if (!elf_view_find(view, TYPE_SYMBOLS, &table)) {
        check_tell(sink, BP_LOG_WARNING, "it is stripped: whether it has variables of its own cannot be seen");
        return;
    }
    find_run_time(view, &table, run_time);
    for (uint64_t i = 0; elf_view_symbol(view, &table, i, &symbol, &name); i++) {
        if ((symbol.info & 0xfu) == KIND_FILE)
            file = name;
        check_object(view, &symbol, name, symbol.info >> 4 == BIND_LOCAL ? file : "", run_time, sink);
    }
}

/* --- symbols that keep the plugin in memory
 * ------------------------------------------------------------------------------ */

typedef struct import_t {
    const char *name;
    int32_t level;
    const char *why;
} import_t;

static const import_t imports[] = {
    {"fork", BP_LOG_WARNING, "a process that it starts outlives a reload"},
    {"system", BP_LOG_WARNING, "a process that it starts holds up the step"},
    {"pthread_create", BP_LOG_WARNING, "a thread must have ended when `unload` returns"},
    {"thrd_create", BP_LOG_WARNING, "a thread must have ended when `unload` returns"},
    {"pthread_key_create", BP_LOG_WARNING, "a key's destructor must not outlive `unload`"},
    {"signal", BP_LOG_WARNING, "a signal handler must not outlive `unload`"},
    {"__sysv_signal", BP_LOG_WARNING, "a signal handler must not outlive `unload`"},
    {"sigaction", BP_LOG_WARNING, "a signal handler must not outlive `unload`"},
    {"atexit", BP_LOG_ERROR, "what it registers would be called after it has gone"},
    {"exit", BP_LOG_WARNING, "it ends the whole program, and no guard can help it"},
    {"_exit", BP_LOG_WARNING, "it ends the whole program, and no guard can help it"},
    {"quick_exit", BP_LOG_WARNING, "it ends the whole program, and no guard can help it"},
    {"dlopen", BP_LOG_WARNING, "what it opens it must close in `unload`"},
    {"longjmp", BP_LOG_WARNING, "a jump must not leave the verb that it began in"},
    {"__cxa_thread_atexit_impl", BP_LOG_ERROR, "thread-local objects with destructors keep it in memory for ever"},
    {"__cxa_thread_atexit", BP_LOG_ERROR, "thread-local objects with destructors keep it in memory for ever"},
    {"malloc", BP_LOG_INFO, "memory from the C library is in no account; bp_memory_api's is"},
};

static void check_import(const char *name, const run_time_t *run_time, check_sink_t *sink)
{
    /* Rust's library can register destructors of threads, whether the plugin has any or not. */
    if (run_time->rust_is_in && strncmp(name, "__cxa_thread_atexit", 19) == 0)
        return;
    for (size_t i = 0; i < sizeof imports / sizeof imports[0]; i++) {
        if (strcmp(name, imports[i].name) == 0)
            check_tell(sink, imports[i].level, "it uses '%s': %s", name, imports[i].why);
    }
}

static void check_dynamic_symbols(const elf_view_t *view, run_time_t *run_time, check_sink_t *sink)
{
    elf_section_t table;
    elf_symbol_t symbol;
    const char *name;
    if (!elf_view_find(view, SECTION_DYNAMIC_SYMBOLS, &table))
        return;
    for (uint64_t i = 0; elf_view_symbol(view, &table, i, &symbol, &name); i++) {
        uint32_t binding = symbol.info >> 4;
        bool library = run_time->cxx_is_in && is_of_cxx(name, "");
        run_time->unique += binding == BIND_UNIQUE && library;
        if (binding == BIND_UNIQUE && !library)
            check_tell(sink, BP_LOG_ERROR,
                       "'%s' is unique in the process, which keeps the library in memory for ever: compile with "
                       "-fno-gnu-unique",
                       name);
        if (symbol.section == 0)
            check_import(name, run_time, sink);
        else if (binding != BIND_LOCAL && name[0] != '\0' && name[0] != '_' && strcmp(name, BP_PLUGIN_SYMBOL) != 0 &&
                 strcmp(name, "rust_eh_personality") != 0) /* Rust without its library needs one, and exports it */
            check_tell(sink, BP_LOG_INFO, "it exports '%s', which the host never asks for: "
                       "compile with -fvisibility=hidden",
                       name);
    }
}

static void check_dynamic(const elf_view_t *view, check_sink_t *sink)
{
    elf_dynamic_t entry;
    for (uint64_t i = 0; elf_view_dynamic(view, i, &entry) && entry.tag != TAG_NULL; i++) {
        bool text =
            entry.tag == TAG_TEXT_RELOCATIONS || (entry.tag == TAG_FLAGS && (entry.value & FLAG_TEXT_RELOCATIONS) != 0);
        if (text)
            check_tell(sink, BP_LOG_ERROR, "its code is changed at opening (text relocations): compile with -fPIC");
        if (entry.tag == TAG_FLAGS_1 && (entry.value & FLAG_1_STAYS) != 0)
            check_tell(sink, BP_LOG_ERROR, "it is linked to stay in memory for ever: leave out -z nodelete");
    }
}

/* Precondition: the file has been judged (image_check), so all its sections and segments are there. */
static void check_parts(const elf_view_t *view, check_sink_t *sink)
{
    elf_section_t section;
    const char *name;
    for (uint32_t i = 0; elf_view_section(view, i, &section, &name); i++) {
        if (section.type == TYPE_INIT_ARRAY && section.bytes > sizeof(uint64_t))
            check_tell(sink, BP_LOG_WARNING,
                       "%llu functions of it run when the file is opened, before it is judged (constructors): let "
                       "`load` do that",
                       (unsigned long long)(section.bytes / sizeof(uint64_t) - 1));
        if (strcmp(name, ".note.GNU-stack") == 0 && (section.flags & 4) != 0)
            check_tell(sink, BP_LOG_WARNING, "it wants a stack that code can run on");
    }
    for (uint32_t i = 0; i < view->header.segment_count; i++) {
        elf_segment_t segment;
        memcpy(&segment, view->bytes + view->header.segments + i * sizeof segment, sizeof segment);
        if (segment.type == SEGMENT_STACK && (segment.flags & SEGMENT_RUNS) != 0)
            check_tell(sink, BP_LOG_WARNING, "it wants a stack that code can run on: link with -z noexecstack");
    }
}

bool check_image(const void *bytes, size_t size, check_sink_t *sink)
{
    char why[256];
    elf_view_t view;
    if (!image_check(bytes, size, BP_PLUGIN_SYMBOL, why, sizeof why)) {
        check_tell(sink, BP_LOG_ERROR, "%s", why);
        return false;
    }
    if (!elf_view(bytes, size, &view))
        return true;
    run_time_t run_time = {0};
    check_symbols(&view, &run_time, sink);
    check_dynamic_symbols(&view, &run_time, sink);
    tell_run_time(&run_time, sink);
    check_dynamic(&view, sink);
    check_parts(&view, sink);
    return true;
}
