/* notices.h - the entities that have begun to match the terms of a subscription, and those that no longer do.
 *
 * A subscription is a set of terms. Whether an entity is in a subscription's set depends on its prototype alone, so
 * each run carries a signature (run_t.signature): the number of a row of bits, one for each subscription that its
 * prototype matches. A move between runs of equal signatures changes no subscription's set and costs a comparison.
 * Other moves are written down: each entity once, with the signature that the entity had at the last delivery and the
 * signature that it has now. So the additions and removals that are told are exact, whatever happened in between.
 *
 * Room: there is always room for one entry of every entity that has components, taken when the entity gets its first
 * component; so a death or a move needs no more room.
 *
 * A world in which nothing is subscribed has no notices_t, and its runs have the signature 0.
 *
 * Not here: calls of systems (the caller of notices_deliver hands down a function for them).
 */
#ifndef HOST_STORE_NOTICES_H
#define HOST_STORE_NOTICES_H

#include "query.h"

enum {
    NOTICES_BATCH = 512,
    NOTICES_DIRECT = 64,
    NOTICES_KINDS = 8,
    NOTICES_KEPT = 8192, /* entries for which there is room in any case */
    NOTICES_CALM = 100   /* steps for which there may be far more room than for all entities */
};

/* Entities that have come to match subscription number `subscription`, or have ceased to. */
typedef void (*notices_tell)(void *context, uint32_t subscription, bool added, const bp_entity_t *entities,
                             uint32_t count);

typedef struct subscription_t {
    const query_t *query;    /* the query with the terms of the subscription; compared by address only, and only while
                                units subscribe: it may have gone since */
    query_term_t terms[TERMS_MAX];
    uint32_t term_count;
    uint32_t batched;
    bp_entity_t batch[NOTICES_BATCH]; /* small groups are told together */
} subscription_t;

/* The two signatures of a move; or, while entries are not indexed, a stretch: the number of its first entry, and the
 * number of the stretch's kind (notices_t.kinds). */
typedef struct hop_t { uint32_t from, to; } hop_t;

typedef struct notices_t {
    memory_t memory;
    world_t *world;
    subscription_t *subscriptions;
    uint32_t subscription_count, subscription_capacity;
    uint32_t words;        /* of a signature, 64 subscriptions in each */
    uint64_t *signatures;  /* the first matches no subscription */
    uint32_t signature_count, signature_capacity;
    bp_entity_t *entities; /* the entity of each entry */
    hop_t *hops;           /* while indexed the hop of each entry, else the stretches of entries */
    uint32_t stretch_count;
    uint32_t count, entity_capacity, hop_capacity;
    hop_t kinds[NOTICES_KINDS]; /* the different hops in the list, as long as no hop begins where another one ends */
    uint32_t kind_count;
    bool indexed;          /* each entry has its own hop, since an entity may move a second time; places are in use */
    bool has_places;       /* the pages of records have room for the number of the entry that may be about an entity */
    uint32_t calm;         /* calls of notices_tend since there has been far more room than is needed */
} notices_t;

/* Make a notices_t without subscriptions, which the world does not use yet. NULL when out of memory. */
notices_t *notices_create(world_t *world);
void notices_free(notices_t *notices);

/* Subscribe a query's terms; the number of the subscription, or BP_NONE when out of memory. All subscriptions come
   before the first signature. */
uint32_t notices_subscribe(notices_t *notices, const query_t *query);

/* The signature of a prototype, made where it is new; BP_NONE when out of memory. */
uint32_t notices_signature(notices_t *notices, uint32_t prototype);

static inline bool notices_has(const notices_t *notices, uint32_t signature, uint32_t subscription)
{
    return (notices->signatures[(size_t)signature * notices->words + subscription / 64] >> (subscription % 64) & 1) !=
           0;
}

/* Make room for `more` entities that get their first components. False when out of memory. [main] */
bool notices_reserve(notices_t *notices, uint32_t more);

/* Is there room for one more entity without asking for memory? */
static inline bool notices_has_room(const notices_t *notices, uint32_t occupied)
{
    return notices->has_places && (uint64_t)notices->count + occupied < notices->entity_capacity;
}

/* The number of the entry that may be about an entity. */
static inline uint32_t *notices_place(const notices_t *n, bp_entity_t e)
{
    const record_t *page = n->world->pages[bp_entity_index(e) / ENTITIES_PAGE - n->world->first_page];
    return &records_page(page)->places[bp_entity_index(e) % ENTITIES_PAGE];
}

/* Entities have moved from one signature to another. [main] */
void notices_moved(notices_t *notices, uint32_t from, uint32_t to, const bp_entity_t *entities, uint32_t count);

/* Tell all that has been written down, removals first, and keep it written down. [main] */
void notices_look(notices_t *notices, notices_tell tell, void *context);

/* Write the number of each entry into the place of its entity again, after others have used the places. [main] */
void notices_write_places(notices_t *notices);

/* Has it been written down that the entity matches the subscription now, and did not at the last delivery? [main] */
bool notices_will_add(notices_t *notices, uint32_t subscription, bp_entity_t e);

/* After each delivery: give room back of which there has been far too much for a while. [main] */
void notices_give_back(notices_t *notices);
static inline void notices_tend(notices_t *notices)
{
    if (notices->entity_capacity > NOTICES_KEPT)
        notices_give_back(notices);
}

/* Tell all that has been written down, removals first, and begin anew. Nothing may move meanwhile. Returns how many
 * entries there were. [main] */
uint32_t notices_deliver(notices_t *notices, notices_tell tell, void *context);

#endif
