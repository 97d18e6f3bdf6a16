/* image_elf_symbols.c - the tables that the system's loader walks to find a symbol by its name.
 *
 * Symbols, the hash tables over them, and the versions that they want and offer. The loader follows all of them without
 * checking that they end: chains of a hash table, lists of lists of versions. Here each walk is bounded by the file's
 * size, and a walk that would lead outside the file is refused.
 */
#include "image_elf.h"

/* The dynamic table says where symbols are but not how many; the section at the same address gives their count. */
static bool elf_count_symbols(elf_t *elf)
{
    uint64_t address = 0, entry_bytes = 0;
    if (!elf_find_tag(elf, TAG_SYMBOLS, &address) || !elf_find_tag(elf, TAG_SYMBOL_ENTRY, &entry_bytes) ||
        entry_bytes != sizeof(elf_symbol_t))
        return image_refuse(elf->image, "damaged: its dynamic table names no symbols");
    for (uint32_t i = 1; i < elf->header.section_count; i++) {
        elf_section_t section = elf_section(elf, i);
        if (section.type != SECTION_DYNAMIC_SYMBOLS || section.address != address)
            continue;
        elf->symbol_count = section.bytes / sizeof(elf_symbol_t);
        if (elf->symbol_count == 0 || !elf_locate(elf, address, section.bytes, 0, &elf->symbols))
            break;
        return true;
    }
    return image_refuse(elf->image, "damaged: its symbols are not where its dynamic table says");
}

static bool elf_check_names(const elf_t *elf)
{
    for (uint64_t i = 0; i < elf->symbol_count; i++) {
        if (elf_symbol(elf, i).name >= elf->string_bytes)
            return image_refuse(elf->image, "damaged: symbol %" PRIu64 " has a name that is not there", i);
    }
    return true;
}

static uint32_t word_at(const elf_t *elf, uint64_t table, uint64_t index)
{
    uint32_t word;
    image_copy(elf->image, table + index * sizeof word, &word, sizeof word);
    return word;
}

/* GNU's hash table: four words of header, a Bloom filter, buckets with the first symbol of a chain or 0, and one hash
 * for each symbol from `first` on, whose lowest bit ends a chain. Where the last symbol ends a chain, every walk ends
 * in the table. A library that exports nothing has buckets, but no hashes. */
static bool elf_gnu_hash_is_sound(const elf_t *elf, uint64_t address)
{
    uint64_t table = 0;
    bool used = false;
    if (!elf_locate(elf, address, 16, 0, &table))
        return false;
    uint64_t count = word_at(elf, table, 0), first = word_at(elf, table, 1), bloom = word_at(elf, table, 2);
    uint64_t buckets = 16 + bloom * 8, hashes = buckets + count * 4;
    if (count == 0 || !is_power_of_two(bloom) || word_at(elf, table, 3) > 63 ||
        !elf_locate(elf, address, hashes, 0, &table))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t symbol = word_at(elf, table + buckets, i);
        if (symbol != 0 && (symbol < first || symbol >= elf->symbol_count))
            return false;
        used = used || symbol != 0;
    }
    if (!used)
        return true;
    uint64_t hashed = elf->symbol_count - first;
    return elf_locate(elf, address, hashes + hashed * 4, 0, &table) &&
           (word_at(elf, table + hashes, hashed - 1) & 1) != 0;
}

/* The older hash table: buckets and chains of symbol numbers, 0 ends a chain. Each symbol is in one chain at most, so
 * more steps than symbols mean that a chain runs in a circle. */
static bool elf_old_hash_is_sound(const elf_t *elf, uint64_t address)
{
    uint64_t table = 0, steps = 0;
    if (!elf_locate(elf, address, 8, 0, &table))
        return false;
    uint64_t buckets = word_at(elf, table, 0), chains = word_at(elf, table, 1);
    if (buckets == 0 || chains != elf->symbol_count ||
        !elf_locate(elf, address, 8 + (buckets + chains) * 4, 0, &table))
        return false;
    for (uint64_t i = 0; i < buckets; i++) {
        for (uint32_t symbol = word_at(elf, table + 8, i); symbol != 0; steps++) {
            if (symbol >= chains || steps > chains)
                return false;
            symbol = word_at(elf, table + 8 + buckets * 4, symbol);
        }
    }
    return true;
}

static bool elf_check_hash(const elf_t *elf)
{
    uint64_t gnu = 0, old = 0;
    bool has_gnu = elf_find_tag(elf, TAG_GNU_HASH, &gnu), has_old = elf_find_tag(elf, TAG_HASH, &old);
    if ((!has_gnu && !has_old) || (has_gnu && !elf_gnu_hash_is_sound(elf, gnu)) ||
        (has_old && !elf_old_hash_is_sound(elf, old)))
        return image_refuse(elf->image, "damaged: the hash table of its symbols makes no sense");
    return true;
}

/* Does the library name another one as needed? The loader looks for the library that a version is wanted of among those
 * it has loaded for this one, and stops the process where it finds none. */
static bool elf_wants_library(const elf_t *elf, uint32_t name)
{
    const char *texts = (const char *)elf->image->bytes + elf->strings;
    for (uint64_t i = 0; name < elf->string_bytes; i++) {
        elf_dynamic_t dynamic = elf_dynamic(elf, i);
        if (dynamic.tag == TAG_NULL)
            return false;
        if (dynamic.tag == TAG_NEEDED && strcmp(texts + dynamic.value, texts + name) == 0)
            return true;
    }
    return false;
}

/* The state of a walk through the lists of versions: the highest number seen, and how many more steps the file has room
 * for. */
typedef struct walk_t {
    uint32_t highest;
    uint64_t left;
} walk_t;

static void see_version(walk_t *walk, uint32_t index)
{
    if (walk->highest < (index & 0x7fff))
        walk->highest = index & 0x7fff;
}

static bool elf_need_items_are_sound(const elf_t *elf, uint64_t address, walk_t *walk)
{
    elf_need_item_t item;
    do {
        if (!elf_read(elf, address, &item, sizeof item) || item.name >= elf->string_bytes ||
            walk->left-- == 0)
            return false;
        see_version(walk, item.index);
        address += item.next;
    } while (item.next != 0);
    return true;
}

static bool elf_needs_are_sound(const elf_t *elf, uint64_t address, walk_t *walk)
{
    elf_need_t need;
    do {
        if (!elf_read(elf, address, &need, sizeof need) || need.version != 1 ||
            !elf_wants_library(elf, need.library) ||
            !elf_need_items_are_sound(elf, address + need.items, walk))
            return false;
        address += need.next;
    } while (need.next != 0);
    return true;
}

static bool elf_offers_are_sound(const elf_t *elf, uint64_t address, walk_t *walk)
{
    elf_offer_t offer;
    uint32_t name = 0;
    do {
        if (!elf_read(elf, address, &offer, sizeof offer) || offer.version != 1 || walk->left-- == 0 ||
            !elf_read(elf, address + offer.items, &name, sizeof name) || name >= elf->string_bytes)
            return false;
        see_version(walk, offer.index);
        address += offer.next;
    } while (offer.next != 0);
    return true;
}

/* Check that each symbol's number of a version is one that the lists named: the loader keeps no more of them. */
static bool elf_check_versions(const elf_t *elf)
{
    walk_t walk = {0, elf->image->size / sizeof(elf_need_item_t)};
    uint64_t address = 0, versions = 0;
    if ((elf_find_tag(elf, TAG_NEEDS, &address) && !elf_needs_are_sound(elf, address, &walk)) ||
        (elf_find_tag(elf, TAG_OFFERS, &address) && !elf_offers_are_sound(elf, address, &walk)))
        return image_refuse(elf->image, "damaged: its lists of versions make no sense");
    if (walk.highest == 0)
        return true;
    if (!elf_find_tag(elf, TAG_VERSIONS, &address) ||
        !elf_locate(elf, address, elf->symbol_count * 2, 0, &versions))
        return image_refuse(elf->image, "damaged: the versions of its symbols are not there");
    for (uint64_t i = 0; i < elf->symbol_count; i++) {
        uint16_t version;
        image_copy(elf->image, versions + i * 2, &version, sizeof version);
        if ((version & 0x7fff) > walk.highest)
            return image_refuse(elf->image, "damaged: symbol %" PRIu64 " has a version that is not there", i);
    }
    return true;
}

bool elf_check_symbols(elf_t *elf)
{
    return elf_count_symbols(elf) && elf_check_names(elf) && elf_check_hash(elf) && elf_check_versions(elf);
}
