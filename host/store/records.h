/* records.h - where each entity is in a world: records by entity index, in pages.
 *
 * A page has the records of ENTITIES_PAGE indices and exists in a world where one of these entities has, or has had,
 * components there, until it is given back. So an entity costs nothing in a world that it is not in. A record is found
 * by one load more than in one long array: the world's directory has the address of each page from its first page on,
 * and for a page that the world has not, the address of a page of cleared records.
 *
 * All pages of the same indices, in whatever world, are linked with each other in the host's list of pages
 * (entities.h): a death finds the worlds that the entity is in by this list.
 *
 * Pages come from slabs of several, which grow with the world, so that those of a large one lie in huge pages of the
 * system's. Where most of the records that there is room for are free, steps give back the pages without the record
 * of an entity, and move the others out of slabs that are mostly empty, a few pages in each step (records_give_back).
 */
#ifndef HOST_STORE_RECORDS_H
#define HOST_STORE_RECORDS_H

#include "entities.h"

struct world_t;

/* Where an entity is in a world: prototype and row. Generation 0: no entity's. From the plan of a batch to its moves
 * (store_change.c) the records of its entities are marked in the highest bit of `prototype`, so that a second mention
 * of an entity is noticed; between calls no record is marked. A look-up by a resolved property finds no cell while the
 * record is marked. */
typedef bp_record_t record_t;
#define RECORD_MARK 0x80000000u

enum { RECORDS_KEPT = 4 /* pages that a world keeps, however many of its entities die */ };

typedef struct record_page_t {
    struct record_page_t *next; /* of another world */
    struct world_t *world;
    uint32_t *places;           /* by index, of notices.h; NULL: there are no subscriptions in this world */
    record_t records[ENTITIES_PAGE];
} record_page_t;

typedef struct record_slab_t {
    record_page_t *pages;
    uint32_t *left;      /* numbers of pages that were in use; these are cleared when they are taken again. Not in the
                            pages: a copy of the process that gives pages back would copy them for it */
    uint32_t count;
    uint32_t used;       /* pages from the first on that have been in use */
    uint32_t living;     /* ... and so many of them are in use now; */
    uint32_t left_count; /* ... the others are in `left` */
} record_slab_t;

/* Cleared records, never written to: they stand for pages that a world does not have. */
extern const record_t unused_records[ENTITIES_PAGE];

/* Make sure that the pages number `first` to first + count - 1 exist in a world. False when out of memory: some of the
 * pages may exist then. [main] */
bool records_reserve(struct world_t *world, uint32_t first, uint32_t count);

/* Make room for the places of notices in all pages of the world, and from now on in each new page. [main] */
bool records_reserve_places(struct world_t *world);

/* Are there so few records in use that it is worth looking for pages to give back? */
static inline bool records_are_few(uint32_t pages_held, uint32_t occupied)
{
    return pages_held > RECORDS_KEPT && occupied / (ENTITIES_PAGE / 2) < pages_held;
}

/* Look at some pages, the next ones with each call: give back those without a record, and move others out of a
 * slab that is mostly empty. Returns whether a page has gone or moved. [main] */
bool records_give_back(struct world_t *world);

/* Give the page at `at` of the directory back with all that is in its records. [main] */
void records_drop_page(struct world_t *world, uint32_t at);

/* Has the entity, which has components in this world, components in another one as well? */
bool records_elsewhere(const struct world_t *world, bp_entity_t entity);

/* Clear all records of the world: no entity has components there any more. */
void records_clear(struct world_t *world);

void records_free(struct world_t *world);

/* The page that records lie in. */
static inline record_page_t *records_page(const record_t *records)
{
    return (record_page_t *)(void *)((char *)(uintptr_t)records - offsetof(record_page_t, records));
}

#endif
