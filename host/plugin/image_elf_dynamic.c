/* image_elf_dynamic.c - the table of what the system's loader is to do, its texts, relocations, and calls at loading. */
#include "image_elf_dynamic.h"

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

/* The address of a table and what tells its length: a loader follows either without asking for the other. */
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

bool elf_check_dynamic(elf_t *elf)
{
    return elf_check_end(elf) && elf_check_pairs(elf) && elf_check_strings(elf);
}

/* A relocation writes to one word, and may ask for one symbol. */
static bool elf_check_relocations(const elf_t *elf, uint64_t table, uint64_t bytes)
{
    uint64_t offset = 0, flags = 0;
    bool text = elf_has_tag(elf, TAG_TEXT_RELOCATIONS) ||
                (elf_find_tag(elf, TAG_FLAGS, &flags) && (flags & FLAG_TEXT_RELOCATIONS) != 0);
    if (bytes % sizeof(elf_relocation_t) != 0 || !elf_locate(elf, table, bytes, 0, &offset))
        return image_refuse(elf->image, "damaged: its relocations are not where its dynamic table says");
    for (uint64_t i = 0; i < bytes / sizeof(elf_relocation_t); i++) {
        elf_relocation_t relocation;
        image_copy(elf->image, offset + i * sizeof relocation, &relocation, sizeof relocation);
        if ((relocation.info & 0xffffffff) != 0 &&
            !elf_locate(elf, relocation.address, 8, text ? 0 : CAN_WRITE, NULL))
            return image_refuse(elf->image, "damaged: relocation %" PRIu64 " writes outside its data", i);
        if (relocation.info >> 32 >= elf->symbol_count)
            return image_refuse(elf->image,
                                "damaged: relocation %" PRIu64 " asks for a symbol that is not there", i);
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
    if (elf_find_tag(elf, TAG_RELA, &table) && elf_find_tag(elf, TAG_RELA_BYTES, &bytes) &&
        !elf_check_relocations(elf, table, bytes))
        return false;
    return !elf_find_tag(elf, TAG_PLT, &table) || !elf_find_tag(elf, TAG_PLT_BYTES, &bytes) ||
           elf_check_relocations(elf, table, bytes);
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
        if (elf_find_tag(elf, arrays[i][0], &address) && elf_find_tag(elf, arrays[i][1], &bytes) &&
            (bytes % 8 != 0 || !elf_locate(elf, address, bytes, 0, NULL)))
            return image_refuse(elf->image,
                                "damaged: a list of functions that are called at loading is not there");
    }
    return true;
}

bool elf_check_loading(const elf_t *elf)
{
    return elf_check_relocation_tables(elf) && elf_check_calls(elf);
}
