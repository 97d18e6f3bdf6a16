/* image_elf.c - what must hold in an ELF library before dlopen may map it.
 *
 * The section table stands behind everything else in the file. The system's loader has no use for the table, but it
 * shows that a file is whole: a file cut short has lost the table, a file that ends in zeros has null sections. A
 * library without a section table is therefore refused. Then the parts are checked that the loader follows without
 * checking: segments, then the dynamic table and the symbols.
 *
 * Counts are bounded by the file's size before anything loops over them. The records' layouts are those of the System V
 * ABI (chapters 4 and 5) and of GNU's extensions.
 */
#include "image_elf.h"

#include "../os/os.h"
#include "image.h"

#include <stdio.h>

/* --- dynamic ----------------------------------------------------------------------------------------------------- */

/* The dynamic table of an ELF library, and what the loader does by it.
 */

/* Check that the table has an end, tells of whole tables, and names texts that exist. After the segments. */
static bool elf_check_dynamic(elf_t *elf);

/* Check that the words written and the functions called at loading lie in the image. After elf_check_symbols. */
static bool elf_check_loading(const elf_t *elf);

/* --- read -------------------------------------------------------------------------------------------------------- */

/* Finding sections, segments, tags and symbols of an ELF library that is being judged.
 *
 * Addresses are found through the segments, as the system's loader does, and never through the sections, which it does
 * not read.
 */

elf_section_t elf_section(const elf_t *elf, uint32_t index)
{
    elf_section_t section;
    image_copy(elf->image, elf->header.sections + index * sizeof section, &section, sizeof section);
    return section;
}

elf_segment_t elf_segment(const elf_t *elf, uint32_t index)
{
    elf_segment_t segment;
    image_copy(elf->image, elf->header.segments + index * sizeof segment, &segment, sizeof segment);
    return segment;
}

bool elf_is_text_table(const elf_t *elf, uint64_t offset, uint64_t bytes)
{
    return bytes > 0 && elf->image->bytes[offset] == '\0' && elf->image->bytes[offset + bytes - 1] == '\0';
}

bool elf_locate(const elf_t *elf, uint64_t address, uint64_t bytes, uint32_t flags, uint64_t *offset)
{
    for (uint32_t i = 0; i < elf->header.segment_count; i++) {
        elf_segment_t segment = elf_segment(elf, i);
        if (segment.type != SEGMENT_LOAD || (segment.flags & flags) != flags || address < segment.address)
            continue;
        uint64_t room = offset != NULL ? segment.file_bytes : segment.memory_bytes;
        if (!image_fits(address - segment.address, bytes, room))
            continue;
        if (offset != NULL)
            *offset = segment.offset + (address - segment.address);
        return true;
    }
    return false;
}

bool elf_read(const elf_t *elf, uint64_t address, void *out, size_t bytes)
{
    uint64_t offset = 0;
    if (!elf_locate(elf, address, bytes, 0, &offset))
        return false;
    image_copy(elf->image, offset, out, bytes);
    return true;
}

elf_dynamic_t elf_dynamic(const elf_t *elf, uint64_t index)
{
    elf_dynamic_t dynamic;
    image_copy(elf->image, elf->dynamic.offset + index * sizeof dynamic, &dynamic, sizeof dynamic);
    return dynamic;
}

bool elf_find_tag(const elf_t *elf, uint64_t tag, uint64_t *value)
{
    bool found = false;
    for (uint64_t i = 0;; i++) {
        elf_dynamic_t dynamic = elf_dynamic(elf, i);
        if (dynamic.tag == TAG_NULL)
            return found;
        if (dynamic.tag == tag) {
            *value = dynamic.value;
            found = true;
        }
    }
}

bool elf_has_tag(const elf_t *elf, uint64_t tag)
{
    uint64_t value;
    return elf_find_tag(elf, tag, &value);
}

elf_symbol_t elf_symbol(const elf_t *elf, uint64_t index)
{
    elf_symbol_t symbol;
    image_copy(elf->image, elf->symbols + index * sizeof symbol, &symbol, sizeof symbol);
    return symbol;
}

/* --- dynamic ----------------------------------------------------------------------------------------------------- */

/* The table of what the system's loader is to do, its texts, relocations, and calls at loading. */

static bool elf_check_end(const elf_t *elf)
{
    uint64_t count = elf->dynamic.file_bytes / sizeof(elf_dynamic_t), end = 0;
    while (end < count && elf_dynamic(elf, end).tag != TAG_NULL)
        end++;
    if (end == count)
        return image_refuse(elf->image, "damaged: its dynamic table has no end");
    uint64_t flags = 0;
    if (elf_find_tag(elf, TAG_FLAGS_1, &flags) && (flags & FLAG_1_PROGRAM) != 0)
        return image_refuse(elf->image, "a program, not a shared library; link it with -shared");
    return true;
}

/* Check that the address of a table and its length are both there: a loader reads one of them without testing for the
 * other. */
static bool elf_check_pairs(const elf_t *elf)
{
    static const uint64_t pairs[][2] = {
        {TAG_RELA, TAG_RELA_BYTES},       {TAG_RELA, TAG_RELA_ENTRY},       {TAG_PLT, TAG_PLT_BYTES},
        {TAG_PLT, TAG_PLT_KIND},          {TAG_INIT_ARRAY, TAG_INIT_BYTES}, {TAG_FINI_ARRAY, TAG_FINI_BYTES},
        {TAG_NEEDS, TAG_NEED_COUNT},      {TAG_OFFERS, TAG_OFFER_COUNT},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (elf_has_tag(elf, pairs[i][0]) != elf_has_tag(elf, pairs[i][1]))
            return image_refuse(elf->image, "damaged: its dynamic table tells of half a table");
    }
    return true;
}

static bool elf_check_strings(elf_t *elf)
{
    uint64_t address = 0;
    if (!elf_find_tag(elf, TAG_STRINGS, &address) ||
        !elf_find_tag(elf, TAG_STRING_BYTES, &elf->string_bytes) ||
        !elf_locate(elf, address, elf->string_bytes, 0, &elf->strings) ||
        !elf_is_text_table(elf, elf->strings, elf->string_bytes))
        return image_refuse(elf->image, "damaged: its dynamic table names no table of texts");
    for (uint64_t i = 0;; i++) {
        elf_dynamic_t dynamic = elf_dynamic(elf, i);
        if (dynamic.tag == TAG_NULL)
            return true;
        bool text = dynamic.tag == TAG_NEEDED || dynamic.tag == TAG_SONAME || dynamic.tag == TAG_RPATH ||
                    dynamic.tag == TAG_RUNPATH;
        if (text && dynamic.value >= elf->string_bytes)
            return image_refuse(elf->image, "damaged: its dynamic table names a text that is not there");
    }
}

static bool elf_check_dynamic(elf_t *elf)
{
    return elf_check_end(elf) && elf_check_pairs(elf) && elf_check_strings(elf);
}

/* The work of a loader for a relocation of a type: how many bytes the loader writes (0: none), and whether it calls the
 * function at the addend to learn their value. `late`: the type may stand in the table of relocations that may wait for
 * the first call; loaders know no other types there. */
typedef struct relocation_kind_t {
    uint32_t type, bytes;
    bool calls, late;
} relocation_kind_t;

/* The type of relocations that add where the library lies. A loader takes for such the first relocations of the table,
 * as many as the dynamic table says, and ends the process where one of those is of another type. */
#if defined(__x86_64__)
enum { RELATIVE = 8 };
#elif defined(__aarch64__)
enum { RELATIVE = 1027 };
#endif

/* The types of relocations that shared libraries have, after the supplements of the System V ABI for each processor. A
 * loader ends the process, or the load, where it meets another type. Types that copy out of a library are for programs,
 * and are not listed. */
static const relocation_kind_t relocation_kinds[] = {
#if defined(__x86_64__)
    {0, 0, false, true},   /* NONE */
    {1, 8, false, false},  /* 64 */
    {6, 8, false, false},  /* GLOB_DAT */
    {7, 8, false, true},   /* JUMP_SLOT */
    {RELATIVE, 8, false, false},
    {16, 8, false, false}, /* DTPMOD64 */
    {17, 8, false, false}, /* DTPOFF64 */
    {18, 8, false, false}, /* TPOFF64 */
    {36, 16, false, true}, /* TLSDESC */
    {37, 8, true, true},   /* IRELATIVE */
#elif defined(__aarch64__)
    {0, 0, false, true},      /* NONE */
    {257, 8, false, false},   /* ABS64 */
    {1025, 8, false, false},  /* GLOB_DAT */
    {1026, 8, false, true},   /* JUMP_SLOT */
    {RELATIVE, 8, false, false},
    {1028, 8, false, false},  /* TLS_DTPMOD */
    {1029, 8, false, false},  /* TLS_DTPREL */
    {1030, 8, false, false},  /* TLS_TPREL */
    {1031, 16, false, true},  /* TLSDESC */
    {1032, 8, true, true},    /* IRELATIVE */
#else
    {UINT32_MAX, 8, false, true}, /* any type: the list for this processor is not known here */
#endif
};

static const relocation_kind_t *relocation_kind(uint32_t type)
{
    for (size_t i = 0; i < sizeof relocation_kinds / sizeof relocation_kinds[0]; i++) {
        if (relocation_kinds[i].type == type || relocation_kinds[i].type == UINT32_MAX)
            return &relocation_kinds[i];
    }
    return NULL;
}

/* A relocation writes to a word or two, may ask for one symbol, and may call one function. */
static bool elf_check_relocation(const elf_t *elf, const elf_relocation_t *relocation, uint64_t number, bool late,
                                 uint32_t flags)
{
    const relocation_kind_t *kind = relocation_kind((uint32_t)relocation->info);
    if (kind == NULL || (late && !kind->late))
        return image_refuse(elf->image,
                            "damaged: relocation %" PRIu64 " is of a kind that libraries of this machine lack", number);
    if (kind->bytes > 0 && !elf_locate(elf, relocation->address, kind->bytes, flags, NULL))
        return image_refuse(elf->image, "damaged: relocation %" PRIu64 " writes outside its data", number);
    if (relocation->info >> 32 >= elf->symbol_count)
        return image_refuse(elf->image, "damaged: relocation %" PRIu64 " asks for a symbol that is not there", number);
    if (kind->calls && !elf_locate(elf, relocation->addend, 1, CAN_RUN, NULL))
        return image_refuse(elf->image, "damaged: relocation %" PRIu64 " calls what is not in its code", number);
    return true;
}

/* Is relocation `number` of a table of the type that its place in the table tells? */
static bool elf_check_place(const elf_t *elf, const elf_relocation_t *relocation, uint64_t number, bool late)
{
#if defined(__x86_64__) || defined(__aarch64__)
    uint64_t relative = 0;
    if (!late && elf_find_tag(elf, TAG_RELATIVE_COUNT, &relative) && number < relative &&
        (uint32_t)relocation->info != RELATIVE)
        return image_refuse(elf->image,
                            "damaged: relocation %" PRIu64 " is of another kind than its dynamic table says", number);
#else
    (void)elf, (void)relocation, (void)number, (void)late;
#endif
    return true;
}

static bool elf_check_relocations(const elf_t *elf, uint64_t table, uint64_t bytes, bool late)
{
    uint64_t offset = 0, flags = 0;
    bool text = elf_has_tag(elf, TAG_TEXT_RELOCATIONS) ||
                (elf_find_tag(elf, TAG_FLAGS, &flags) && (flags & FLAG_TEXT_RELOCATIONS) != 0);
    if (bytes % sizeof(elf_relocation_t) != 0 || !elf_locate(elf, table, bytes, 0, &offset))
        return image_refuse(elf->image, "damaged: its relocations are not where its dynamic table says");
    for (uint64_t i = 0; i < bytes / sizeof(elf_relocation_t); i++) {
        elf_relocation_t relocation;
        image_copy(elf->image, offset + i * sizeof relocation, &relocation, sizeof relocation);
        if (!elf_check_relocation(elf, &relocation, i, late, text ? 0 : CAN_WRITE) ||
            !elf_check_place(elf, &relocation, i, late))
            return false;
    }
    return true;
}

static bool elf_check_relocation_tables(const elf_t *elf)
{
    uint64_t table = 0, bytes = 0, entry_bytes = sizeof(elf_relocation_t), kind = TAG_RELA;
    elf_find_tag(elf, TAG_RELA_ENTRY, &entry_bytes);
    elf_find_tag(elf, TAG_PLT_KIND, &kind);
    if (entry_bytes != sizeof(elf_relocation_t) || kind != TAG_RELA)
        return image_refuse(elf->image, "damaged: its relocations are of a kind that 64-bit libraries lack");
    elf_find_tag(elf, TAG_RELA_BYTES, &bytes); /* a table has both tags or neither: elf_check_pairs */
    if (elf_find_tag(elf, TAG_RELA, &table) && !elf_check_relocations(elf, table, bytes, false))
        return false;
    elf_find_tag(elf, TAG_PLT_BYTES, &bytes);
    return !elf_find_tag(elf, TAG_PLT, &table) || elf_check_relocations(elf, table, bytes, true);
}

static bool elf_check_calls(const elf_t *elf)
{
    static const uint64_t functions[] = {TAG_INIT, TAG_FINI};
    static const uint64_t arrays[][2] = {{TAG_INIT_ARRAY, TAG_INIT_BYTES}, {TAG_FINI_ARRAY, TAG_FINI_BYTES}};
    for (size_t i = 0; i < 2; i++) {
        uint64_t address = 0, bytes = 0;
        if (elf_find_tag(elf, functions[i], &address) && !elf_locate(elf, address, 1, CAN_RUN, NULL))
            return image_refuse(elf->image,
                                "damaged: a function that is called at loading is not in its code");
        elf_find_tag(elf, arrays[i][1], &bytes);
        if (elf_find_tag(elf, arrays[i][0], &address) &&
            (bytes % 8 != 0 || !elf_locate(elf, address, bytes, 0, NULL)))
            return image_refuse(elf->image,
                                "damaged: a list of functions that are called at loading is not there");
    }
    return true;
}

static bool elf_check_loading(const elf_t *elf)
{
    return elf_check_relocation_tables(elf) && elf_check_calls(elf);
}

/* --- the whole file ----------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
enum { ELF_MACHINE = 62 };
#elif defined(__aarch64__)
enum { ELF_MACHINE = 183 };
#elif defined(__riscv)
enum { ELF_MACHINE = 243 };
#elif defined(__powerpc64__)
enum { ELF_MACHINE = 21 };
#elif defined(__s390x__)
enum { ELF_MACHINE = 22 };
#elif defined(__loongarch64)
enum { ELF_MACHINE = 258 };
#else
enum { ELF_MACHINE = 0 }; /* any will do */
#endif

static const char *machine_name(uint32_t machine)
{
    switch (machine) {
    case 3: return "x86 (32-bit)";
    case 21: return "ppc64";
    case 22: return "s390x";
    case 40: return "ARM (32-bit)";
    case 62: return "x86_64";
    case 183: return "aarch64";
    case 243: return "riscv64";
    case 258: return "loongarch64";
    default: return "an unknown machine";
    }
}

static bool elf_check_ident(const image_t *image)
{
    if (image->size < 4 || memcmp(image->bytes, "\177ELF", 4) != 0)
        return image_refuse_kind(image);
    if (image->size < sizeof(elf_header_t))
        return image_refuse_cut(image, "its header", 0, sizeof(elf_header_t));
    const uint16_t probe = 1;
    unsigned char little = 0, word = image->bytes[4], order = image->bytes[5];
    memcpy(&little, &probe, 1);
    if (word == 1)
        return image_refuse(image, "a 32-bit library; this host needs 64-bit ones");
    if (word != 2 || image->bytes[6] != 1 || (order != 1 && order != 2))
        return image_refuse(image, "damaged: the first bytes of its header make no sense");
    if (order != 2u - little)
        return image_refuse(image, "built for a machine of the other byte order than this host's");
    return true;
}

static bool elf_check_header(const elf_t *elf)
{
    const elf_header_t *header = &elf->header;
    if (ELF_MACHINE != 0 && header->machine != ELF_MACHINE)
        return image_refuse_machine(elf->image, machine_name(header->machine), machine_name(ELF_MACHINE));
    if (header->type == 1)
        return image_refuse(elf->image, "an object file that is not linked yet; link it with -shared");
    if (header->type == 2)
        return image_refuse(elf->image, "a program, not a shared library; link it with -shared");
    if (header->type != 3)
        return image_refuse(elf->image,
                            "not a shared library: a file of ELF type %u", (unsigned)header->type);
    if (header->sections == 0 || header->section_count == 0)
        return image_refuse(elf->image, "its section table has been removed, so there is no telling whether "
                                        "the file is whole; link it again, and strip it with plain strip");
    if (header->version != 1 || header->segment_count == 0 || header->segment_count == 0xffff ||
        header->segment_bytes != sizeof(elf_segment_t) || header->section_bytes != sizeof(elf_section_t))
        return image_refuse(elf->image, "damaged: its header makes no sense");
    uint64_t bytes = header->segment_count * sizeof(elf_segment_t);
    if (!image_fits(header->segments, bytes, elf->image->size))
        return image_refuse_cut(elf->image, "its segment table", header->segments, bytes);
    bytes = header->section_count * sizeof(elf_section_t);
    if (!image_fits(header->sections, bytes, elf->image->size))
        return image_refuse_cut(elf->image, "its section table", header->sections, bytes);
    return true;
}

static bool elf_check_section(const elf_t *elf, uint32_t index, uint64_t name_bytes)
{
    elf_section_t section = elf_section(elf, index);
    char what[32];
    snprintf(what, sizeof what, "section %" PRIu32, index);
    if (section.type == SECTION_NULL)
        return image_refuse(elf->image,
                            "damaged: %s is null, as in a file that was not written to its end", what);
    if (section.type != SECTION_NO_BITS && !image_fits(section.offset, section.bytes, elf->image->size))
        return image_refuse_cut(elf->image, what, section.offset, section.bytes);
    if (section.name >= name_bytes || section.link >= elf->header.section_count)
        return image_refuse(elf->image, "damaged: %s refers to what is not there", what);
    /* The standard allows 0 too, but linkers write 1. A short tail of zeros in the file shows by this 0 alone. */
    if (!is_power_of_two(section.alignment))
        return image_refuse(elf->image, "damaged: %s has an alignment that is no power of two", what);
    return true;
}

static bool elf_check_sections(const elf_t *elf)
{
    const elf_section_t null = {0};
    elf_section_t first = elf_section(elf, 0);
    if (memcmp(&first, &null, sizeof null) != 0 || elf->header.names >= elf->header.section_count)
        return image_refuse(elf->image, "damaged: its section table makes no sense");
    elf_section_t names = elf_section(elf, elf->header.names);
    for (uint32_t i = 1; i < elf->header.section_count; i++) {
        if (!elf_check_section(elf, i, names.bytes))
            return false;
    }
    if (names.type != SECTION_STRINGS || !elf_is_text_table(elf, names.offset, names.bytes))
        return image_refuse(elf->image, "damaged: the names of its sections are no texts");
    return true;
}

/* Check a segment to load. A loader maps such segments one behind the other, each page of memory from the page of the
 * file that goes with it. */
static bool elf_check_load(const elf_t *elf, const elf_segment_t *segment, const char *what,
                           uint64_t *reached)
{
    if (segment->memory_bytes < segment->file_bytes ||
        !image_fits(segment->address, segment->memory_bytes, INT64_MAX))
        return image_refuse(elf->image, "damaged: %s is larger in the file than in memory", what);
    if (segment->address < *reached)
        return image_refuse(elf->image, "damaged: %s overlaps the one before it in memory", what);
    if (!is_power_of_two(segment->alignment) ||
        ((segment->address - segment->offset) & (segment->alignment - 1)) != 0)
        return image_refuse(elf->image, "damaged: %s is not aligned as it says", what);
    *reached = segment->address + segment->memory_bytes;
    return true;
}

static bool elf_check_segments(elf_t *elf)
{
    uint64_t reached = 0;
    uint32_t loads = 0, dynamics = 0;
    for (uint32_t i = 0; i < elf->header.segment_count; i++) {
        elf_segment_t segment = elf_segment(elf, i);
        char what[32];
        snprintf(what, sizeof what, "segment %" PRIu32, i);
        if (!image_fits(segment.offset, segment.file_bytes, elf->image->size))
            return image_refuse_cut(elf->image, what, segment.offset, segment.file_bytes);
        if (segment.type == SEGMENT_LOAD) {
            loads++;
            if (!elf_check_load(elf, &segment, what, &reached))
                return false;
        }
        if (segment.type == SEGMENT_DYNAMIC) {
            dynamics++;
            elf->dynamic = segment;
        }
    }
    if (loads == 0 || dynamics != 1)
        return image_refuse(elf->image, "not a shared library that can be loaded: it has no segment to load, "
                                        "or not one dynamic table");
    return true;
}

/* A loader makes whole pages read-only, up to the last one that the segment to be protected fills. Do all of these
 * pages belong to one loaded segment, so that memory behind it, which is not this library's, stays writable? */
static bool elf_protects_its_own(const elf_t *elf, const elf_segment_t *protected)
{
    uint64_t page = os_page_size(), end = protected->address + protected->memory_bytes;
    for (uint32_t i = 0; i < elf->header.segment_count; i++) {
        elf_segment_t segment = elf_segment(elf, i);
        uint64_t room = segment.memory_bytes + page - 1;
        if (segment.type == SEGMENT_LOAD && protected->address >= segment.address &&
            protected->address - segment.address < segment.memory_bytes && end >= protected->address &&
            end / page <= (segment.address + room) / page)
            return true;
    }
    return false;
}

/* Check the other segments (notes, thread-local data, what is to be protected): a loader reads them where they are
 * mapped. */
static bool elf_check_mapped(const elf_t *elf)
{
    for (uint32_t i = 0; i < elf->header.segment_count; i++) {
        elf_segment_t segment = elf_segment(elf, i);
        uint64_t offset = 0;
        bool empty = segment.memory_bytes == 0 && segment.type != SEGMENT_DYNAMIC;
        if (segment.type == SEGMENT_LOAD || segment.type == SEGMENT_STACK || empty)
            continue;
        bool data = segment.type == SEGMENT_PROTECTED || segment.file_bytes == 0;
        if (!elf_locate(elf, segment.address, segment.file_bytes, 0, data ? NULL : &offset) ||
            (!data && offset != segment.offset) ||
            (segment.type == SEGMENT_PROTECTED && !elf_protects_its_own(elf, &segment)))
            return image_refuse(elf->image,
                                "damaged: segment %" PRIu32 " lies in no segment that is loaded", i);
    }
    return true;
}

static bool elf_exports(const elf_t *elf, const elf_symbol_t *symbol)
{
    unsigned binding = symbol->info >> 4, type = symbol->info & 15u, visibility = symbol->other & 3u;
    bool global = binding == 1 || binding == 2 || binding == 10;
    bool seen = visibility == 0 || visibility == 3;
    bool defined = symbol->section != 0 && symbol->section < elf->header.section_count;
    return global && seen && type <= 2 && defined &&
           image_text_is(elf->image, elf->strings + symbol->name, elf->image->symbol);
}

static bool elf_check_export(const elf_t *elf)
{
    for (uint64_t i = 1; i < elf->symbol_count; i++) {
        elf_symbol_t symbol = elf_symbol(elf, i);
        if (!elf_exports(elf, &symbol))
            continue;
        if (elf_locate(elf, symbol.address, symbol.bytes > 0 ? symbol.bytes : 1, 0, NULL))
            return true;
        return image_refuse(elf->image, "damaged: its symbol %s is not in its memory", elf->image->symbol);
    }
    return image_refuse_symbol(elf->image);
}

bool image_check_elf(const void *bytes, size_t size, const char *symbol, char *why, size_t why_size)
{
    const image_t image = image_begin(bytes, size, symbol, why, why_size);
    elf_t elf = {.image = &image};
    if (!elf_check_ident(&image))
        return false;
    image_copy(&image, 0, &elf.header, sizeof elf.header);
    return elf_check_header(&elf) && elf_check_sections(&elf) && elf_check_segments(&elf) && elf_check_mapped(&elf) &&
           elf_check_dynamic(&elf) && elf_check_symbols(&elf) && elf_check_loading(&elf) && elf_check_export(&elf);
}
