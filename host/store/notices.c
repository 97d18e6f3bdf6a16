/* notices.c - signatures, the list of moves, and telling that list.
 *
 * As long as no hop begins where another ends, no entity can be in the list twice, and moves are only appended: a batch
 * that gets a component costs a copy. From then on the list finds an entity's entry as a sparse set does: `places`
 * gives an entry's number by entity index, and the entry says whether it is about that entity. So nothing has to be
 * cleared when the list is emptied, and an index that gets a new entity meanwhile gets a second entry.
 *
 * Entries that follow each other with the same hop are told together: a batch that moved as one is handed on where it
 * lies; small groups are gathered for each subscription.
 */
#include "notices.h"

notices_t *notices_create(world_t *world)
{
    notices_t *n = memory_new(&world->memory, sizeof *n);
    if (n == NULL)
        return NULL;
    n->world = world;
    memory_init_child(&n->memory, "notices", &world->memory);
    return n;
}

void notices_free(notices_t *n)
{
    if (n == NULL)
        return;
    memory_t *world_memory = &n->world->memory;
    memory_free(&n->memory, n->subscriptions, n->subscription_capacity * sizeof *n->subscriptions);
    memory_free(&n->memory, n->signatures, (size_t)n->signature_capacity * n->words * sizeof *n->signatures);
    memory_free(&n->memory, n->entities, (size_t)n->entity_capacity * sizeof *n->entities);
    memory_free(&n->memory, n->hops, (size_t)n->hop_capacity * sizeof *n->hops);
    memory_free(world_memory, n, sizeof *n);
}

/* --- subscriptions and signatures --------------------------------------------------------------------------------- */

uint32_t notices_subscribe(notices_t *n, const query_t *query)
{
    for (uint32_t w = 0; w < n->subscription_count; w++) {
        if (n->subscriptions[w].query == query)
            return w;
    }
    if (!memory_reserve(&n->memory, &n->subscriptions, &n->subscription_capacity, n->subscription_count + 1u,
                        sizeof *n->subscriptions))
        return BP_NONE;
    subscription_t *subscription = &n->subscriptions[n->subscription_count];
    subscription->query = query;
    subscription->term_count = query->term_count;
    subscription->batched = 0;
    memcpy(subscription->terms, query->terms, sizeof subscription->terms);
    return n->subscription_count++;
}

/* A row of bits behind the last signature, all 0. NULL when out of memory. */
static uint64_t *blank_signature(notices_t *n)
{
    if (n->words == 0)
        n->words = (n->subscription_count + 63) / 64;
    size_t size = n->words * sizeof *n->signatures;
    if (!memory_reserve(&n->memory, &n->signatures, &n->signature_capacity, n->signature_count + 1u, size))
        return NULL;
    uint64_t *bits = n->signatures + (size_t)n->signature_count * n->words;
    memset(bits, 0, size);
    return bits;
}

uint32_t notices_signature(notices_t *n, uint32_t prototype)
{
    uint64_t *bits = blank_signature(n);
    if (bits != NULL && n->signature_count == 0) {
        n->signature_count = 1;
        bits = blank_signature(n);
    }
    if (bits == NULL)
        return BP_NONE;
    for (uint32_t w = 0; w < n->subscription_count; w++) {
        const subscription_t *subscription = &n->subscriptions[w];
        if (query_matches(&n->world->prototypes, subscription->terms, subscription->term_count, prototype))
            bits[w / 64] |= UINT64_C(1) << w % 64;
    }
    for (uint32_t s = 0; s < n->signature_count; s++) {
        if (memcmp(n->signatures + (size_t)s * n->words, bits, n->words * sizeof *bits) == 0)
            return s;
    }
    return n->signature_count++;
}

/* --- writing down ------------------------------------------------------------------------------------------------- */

/* Drop the entries of entities that are back at the signature that they had before. */
static void compact(notices_t *n)
{
    uint32_t kept = 0;
    if (!n->indexed)
        return;
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->hops[i].from == n->hops[i].to)
            continue;
        n->entities[kept] = n->entities[i];
        n->hops[kept] = n->hops[i];
        *notices_place(n, n->entities[kept]) = kept;
        kept++;
    }
    n->count = kept;
}

bool notices_reserve(notices_t *n, uint32_t more)
{
    uint64_t needed = (uint64_t)n->count + n->world->occupied + more;
    if (needed > n->entity_capacity) {
        compact(n);
        needed = (uint64_t)n->count + n->world->occupied + more;
    }
    /* The hops are reserved first, so their capacity is never the smaller one: `entity_capacity` is the one to compare
     * with. */
    return memory_reserve(&n->memory, &n->hops, &n->hop_capacity, needed, sizeof *n->hops) &&
           memory_reserve(&n->memory, &n->entities, &n->entity_capacity, needed, sizeof *n->entities) &&
           (n->has_places || (n->has_places = records_reserve_places(n->world)));
}

/* The hops shrink last, so that their capacity is never the smaller one. */
void notices_give_back(notices_t *n)
{
    uint64_t enough = (uint64_t)n->count + 2 * (uint64_t)n->world->occupied + NOTICES_KEPT / 2;
    n->calm = n->entity_capacity > 2 * enough ? n->calm + 1 : 0;
    if (n->calm < NOTICES_CALM)
        return;
    n->calm = 0;
    bp_entity_t *entities = memory_resize(&n->memory, n->entities, (size_t)n->entity_capacity * sizeof *entities,
                                          (size_t)enough * sizeof *entities);
    if (entities == NULL)
        return;
    n->entities = entities;
    n->entity_capacity = (uint32_t)enough;
    hop_t *hops = memory_resize(&n->memory, n->hops, (size_t)n->hop_capacity * sizeof *hops,
                                (size_t)enough * sizeof *hops);
    if (hops == NULL)
        return;
    n->hops = hops;
    n->hop_capacity = (uint32_t)enough;
}

/* The kind of a hop, or BP_NONE where an entity that makes this hop may have made another one before, or may make
 * another one afterwards, or where there are NOTICES_KINDS kinds already. */
static uint32_t kind_of(notices_t *n, hop_t hop)
{
    for (uint32_t i = 0; i < n->kind_count; i++) {
        if (n->kinds[i].from == hop.from && n->kinds[i].to == hop.to)
            return i;
    }
    for (uint32_t i = 0; i < n->kind_count; i++) {
        if (n->kinds[i].to == hop.from || n->kinds[i].from == hop.to)
            return BP_NONE;
    }
    if (n->kind_count == NOTICES_KINDS)
        return BP_NONE;
    n->kinds[n->kind_count] = hop;
    return n->kind_count++;
}

static void append(notices_t *n, uint32_t kind, const bp_entity_t *entities, uint32_t count)
{
    if (n->stretch_count == 0 || n->hops[n->stretch_count - 1].to != kind)
        n->hops[n->stretch_count++] = (hop_t){n->count, kind};
    memcpy(n->entities + n->count, entities, count * sizeof *entities);
    n->count += count;
}

void notices_write_places(notices_t *n)
{
    for (uint32_t i = 0; n->indexed && i < n->count; i++)
        *notices_place(n, n->entities[i]) = i;
}

/* Give each entry a hop of its own, from now on until the list is emptied. The number of a stretch is never larger than
 * the number of its first entry, so in a walk from the last stretch down no stretch is overwritten before it has been
 * read. */
static void index_entries(notices_t *n)
{
    uint32_t end = n->count;
    for (uint32_t s = n->stretch_count; s > 0; s--) {
        hop_t stretch = n->hops[s - 1], hop = n->kinds[stretch.to];
        for (uint32_t i = stretch.from; i < end; i++)
            n->hops[i] = hop;
        end = stretch.from;
    }
    n->indexed = true;
    notices_write_places(n);
}

void notices_moved(notices_t *n, uint32_t from, uint32_t to, const bp_entity_t *entities, uint32_t count)
{
    if (!n->indexed) {
        uint32_t kind = kind_of(n, (hop_t){from, to});
        if (kind != BP_NONE) {
            append(n, kind, entities, count);
            return;
        }
        index_entries(n);
    }
    uint32_t used = n->count;
    bp_entity_t *entries = n->entities;
    hop_t *hops = n->hops;
    if (used == 0)
        entries[0] = (bp_entity_t){0}; /* entry 0 is looked at below before any entry is written */
    for (uint32_t i = 0; i < count; i++) {
        bp_entity_t e = entities[i];
        uint32_t *at = notices_place(n, e), there = *at;
        /* A place left over from an earlier list has an unpredictable value, so there is no branch on it: where it is
         * beyond the list, entry 0, which is about another entity, is compared instead. */
        uint32_t place = there < used ? there : 0;
        if (entries[place].id == e.id) {
            hops[place].to = to;
            continue;
        }
        *at = used;
        entries[used] = e;
        hops[used++] = (hop_t){from, to};
    }
    n->count = used;
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

typedef struct telling_t {
    notices_t *notices;
    notices_tell tell;
    void *context;
    bool added;
} telling_t;

static void tell_batch(const telling_t *t, uint32_t w)
{
    subscription_t *subscription = &t->notices->subscriptions[w];
    if (subscription->batched > 0)
        t->tell(t->context, w, t->added, subscription->batch, subscription->batched);
    subscription->batched = 0;
}

static void tell_group(const telling_t *t, uint32_t w, const bp_entity_t *entities, uint32_t count)
{
    subscription_t *subscription = &t->notices->subscriptions[w];
    if (count >= NOTICES_DIRECT || subscription->batched + count > NOTICES_BATCH)
        tell_batch(t, w);
    if (count >= NOTICES_DIRECT) {
        t->tell(t->context, w, t->added, entities, count);
        return;
    }
    memcpy(subscription->batch + subscription->batched, entities, count * sizeof *entities);
    subscription->batched += count;
}

static void tell_hop(const telling_t *t, hop_t hop, const bp_entity_t *entities, uint32_t count)
{
    const notices_t *n = t->notices;
    const uint64_t *from = n->signatures + (size_t)hop.from * n->words, *to = n->signatures + (size_t)hop.to * n->words;
    for (uint32_t word = 0; word < n->words; word++) {
        uint64_t changed = t->added ? to[word] & ~from[word] : from[word] & ~to[word];
        for (; changed != 0; changed &= changed - 1)
            tell_group(t, word * 64 + lowest_bit(changed), entities, count);
    }
}

static void tell_stretches(const telling_t *t)
{
    const notices_t *n = t->notices;
    for (uint32_t s = 0; s < n->stretch_count; s++) {
        uint32_t first = n->hops[s].from, end = s + 1 < n->stretch_count ? n->hops[s + 1].from : n->count;
        tell_hop(t, n->kinds[n->hops[s].to], n->entities + first, end - first);
    }
}

static void tell_entries(const telling_t *t)
{
    const notices_t *n = t->notices;
    const hop_t *hops = n->hops;
    for (uint32_t first = 0, end; first < n->count; first = end) {
        hop_t hop = hops[first];
        end = first + 1;
        while (end < n->count && hops[end].from == hop.from && hops[end].to == hop.to)
            end++;
        if (hop.from != hop.to)
            tell_hop(t, hop, n->entities + first, end - first);
    }
}

static void tell_all(const telling_t *t)
{
    if (t->notices->indexed)
        tell_entries(t);
    else
        tell_stretches(t);
    for (uint32_t w = 0; w < t->notices->subscription_count; w++)
        tell_batch(t, w);
}

void notices_look(notices_t *n, notices_tell tell, void *context)
{
    telling_t t = {.notices = n, .tell = tell, .context = context};
    tell_all(&t);
    t.added = true;
    tell_all(&t);
}

bool notices_will_add(notices_t *n, uint32_t subscription, bp_entity_t e)
{
    if (n->count == 0)
        return false;
    if (!n->indexed)
        index_entries(n);
    uint32_t there = *notices_place(n, e);
    return there < n->count && n->entities[there].id == e.id && notices_has(n, n->hops[there].to, subscription) &&
           !notices_has(n, n->hops[there].from, subscription);
}

uint32_t notices_deliver(notices_t *n, notices_tell tell, void *context)
{
    uint32_t count = n->count;
    notices_look(n, tell, context);
    n->count = n->kind_count = n->stretch_count = 0;
    n->indexed = false;
    return count;
}
