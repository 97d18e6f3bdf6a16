/* prototypes.c - chains in canonical order, found by hashing {base, key}.
 *
 * Invariants: a key is greater than all keys of its base; {base, key} is in the table once. So a set of keys has one
 * chain: its keys in ascending order from the empty prototype. Adding a key in the middle walks down to the place and
 * builds the rest up again, which makes the prototypes between where they are missing; the result is remembered in a
 * cache, so in steady state a transition costs one probe. The cache grows as transitions that entities have taken are
 * pushed out of it, so that its size follows those in use rather than the number of prototypes.
 *
 * Where the columns of a key begin in a prototype is asked for with every look-up of an entity that has other
 * components than the one before. Walking the chain costs a mispredicted branch at its end, so the results are kept in
 * a small direct-mapped cache. An entry is one word, since jobs read it too: so a reader sees a whole entry or
 * none.
 *
 * A prototype that was made before a failure may stay: it stands for a combination that no entity has yet.
 */
#include "prototypes.h"

/* How large the cache of transitions may become for so many buckets. Where there are very many prototypes, there are
 * fewer places for each, to save memory. */
static uint32_t most_transitions(uint32_t buckets)
{
    uint32_t most = buckets < PROTOTYPES_MOST_TRANSITIONS / 16 ? 16 * buckets : PROTOTYPES_MOST_TRANSITIONS;
    return most > 2 * buckets ? most : 2 * buckets;
}

static uint32_t columns_for(uint32_t buckets)
{
    uint32_t wanted = buckets < PROTOTYPES_MOST_COLUMNS / 4 ? 4 * buckets : PROTOTYPES_MOST_COLUMNS;
    return wanted > PROTOTYPES_COLUMNS ? wanted : PROTOTYPES_COLUMNS;
}

/* What a transition's edge was made of (prototypes_edge). */
static uint32_t edge_from(uint64_t edge)
{
    return (uint32_t)((edge & ~(EDGE_REMOVAL | EDGE_UNLINKED)) >> 32);
}

static uint32_t edge_key(uint64_t edge)
{
    return (uint32_t)edge - 1;
}

/* Twice as many buckets. The cache of columns grows along, and begins empty. */
static bool grow(prototypes_t *p)
{
    uint32_t old = p->bucket_count, count = old == 0 ? 8 : old * 2, column_count = columns_for(count);
    uint32_t *buckets = memory_new(p->memory, count * sizeof *buckets);
    _Atomic uint64_t *columns = column_count == p->column_count
                                    ? p->columns
                                    : memory_new(p->memory, column_count * sizeof *columns);
    if (buckets == NULL || columns == NULL) {
        memory_free(p->memory, buckets, count * sizeof *buckets);
        memory_free(p->memory, columns == p->columns ? NULL : columns, column_count * sizeof *columns);
        return false;
    }
    for (uint32_t i = 1; i < p->count; i++) {
        uint32_t *bucket = &buckets[prototypes_hash(p->items[i].base, p->items[i].key) & (count - 1)];
        p->items[i].next = *bucket;
        *bucket = i;
    }
    memory_free(p->memory, p->buckets, old * sizeof *p->buckets);
    if (columns != p->columns)
        memory_free(p->memory, p->columns, p->column_count * sizeof *p->columns);
    p->buckets = buckets;
    p->columns = columns;
    p->bucket_count = count;
    p->column_count = column_count;
    return true;
}

/* Give the cache of transitions another size, a power of two that is not smaller. The transitions that it has stay: of
 * the two in a pair each comes to a pair in which no transition of another pair can be. */
static bool resize_transitions(prototypes_t *p, uint32_t count)
{
    transition_t *old = p->transitions, *transitions = memory_new(p->memory, count * sizeof *transitions);
    if (transitions == NULL)
        return false;
    uint32_t old_count = p->transition_count;
    p->transitions = transitions;
    p->transition_count = count;
    p->pushed_out = 0;
    for (uint32_t i = 0; i < PROTOTYPES_RECENT; i++)
        p->recent[0][i] = p->recent[1][i] = transitions;
    for (uint32_t i = 0; i < old_count; i++) {
        transition_t *t = prototypes_pair(p, edge_from(old[i].edge), edge_key(old[i].edge));
        if (old[i].edge != 0)
            t[t->edge != 0] = old[i];
    }
    memory_free(p->memory, old, old_count * sizeof *old);
    return true;
}

bool prototypes_widen(prototypes_t *p)
{
    if (p->pushed_out <= p->transition_count / 2 || p->transition_count >= most_transitions(p->bucket_count))
        return true;
    return resize_transitions(p, p->transition_count * 2);
}

bool prototypes_init(prototypes_t *p, memory_t *memory, base_t *base)
{
    memset(p, 0, sizeof *p);
    p->memory = memory;
    p->base = base;
    if (memory_reserve(memory, &p->items, &p->capacity, 4, sizeof *p->items) && grow(p) &&
        resize_transitions(p, PROTOTYPES_TRANSITIONS)) {
        p->items[0] = (prototype_t){.columns = 1};
        p->count = 1;
        return true;
    }
    prototypes_free(p);
    return false;
}

void prototypes_free(prototypes_t *p)
{
    memory_free(p->memory, p->keys, p->key_capacity * sizeof *p->keys);
    memory_free(p->memory, p->key_buckets, p->key_bucket_count * sizeof *p->key_buckets);
    memory_free(p->memory, p->items, (size_t)p->capacity * sizeof *p->items);
    memory_free(p->memory, p->buckets, p->bucket_count * sizeof *p->buckets);
    memory_free(p->memory, p->transitions, p->transition_count * sizeof *p->transitions);
    memory_free(p->memory, p->columns, p->column_count * sizeof *p->columns);
    memset(p, 0, sizeof *p);
}

/* The bucket in which a key is, or in which a new key belongs. */
static uint32_t *key_bucket(const prototypes_t *p, bp_name_t name, uint32_t manager)
{
    uint32_t mask = p->key_bucket_count - 1, i = prototypes_hash((uint32_t)name, manager) & mask;
    while (p->key_buckets[i] != 0) {
        const component_key_t *k = &p->keys[p->key_buckets[i] - 1];
        if (k->name == name && k->manager == manager)
            break;
        i = (i + 1) & mask;
    }
    return &p->key_buckets[i];
}

static bool grow_key_buckets(prototypes_t *p)
{
    uint32_t old = p->key_bucket_count, count = old == 0 ? 16 : old * 2;
    uint32_t *buckets = memory_new(p->memory, count * sizeof *buckets);
    if (buckets == NULL)
        return false;
    memory_free(p->memory, p->key_buckets, old * sizeof *p->key_buckets);
    p->key_buckets = buckets;
    p->key_bucket_count = count;
    for (uint32_t i = 0; i < p->key_count; i++)
        *key_bucket(p, p->keys[i].name, p->keys[i].manager) = i + 1;
    return true;
}

/* Keys and prototypes are part of what a host goes back to and of what is written down of it, so none comes about in
 * verbs that change nothing. */
static bool is_asked(const prototypes_t *p)
{
    return (p->base->attention & BASE_ASKED) != 0;
}

NOT_INLINED static bp_result_t refuse(const prototypes_t *p, const char *what)
{
    if (!is_asked(p))
        return error_memory(&p->base->error, what);
    return error_set(&p->base->error, BP_ERROR_STATE,
                     "keys and prototypes that are not there yet cannot be made while a component with storage of its "
                     "own gives or takes values or counts, or a state is written down or read; make them earlier: in a "
                     "step, or in `start` of a system");
}

bp_result_t prototypes_key(prototypes_t *p, component_key_t key, uint32_t *out)
{
    bool room = p->key_count * 2 < p->key_bucket_count || grow_key_buckets(p);
    if (!room || p->key_count >= PROTOTYPES_MOST ||
        !memory_reserve(p->memory, &p->keys, &p->key_capacity, p->key_count + 1u, sizeof *p->keys))
        return error_memory(&p->base->error, "making a component key");
    uint32_t *bucket = key_bucket(p, key.name, key.manager);
    if (*bucket == 0 && is_asked(p))
        return refuse(p, "");
    if (*bucket == 0) {
        p->keys[p->key_count] = key;
        *bucket = ++p->key_count;
    }
    *out = *bucket - 1;
    return BP_OK;
}

uint32_t prototypes_known_key(const prototypes_t *p, bp_name_t name, uint32_t manager)
{
    return p->key_bucket_count == 0 ? BP_NONE : *key_bucket(p, name, manager) - 1; /* an empty bucket has 0 */
}

uint32_t prototypes_known_child(const prototypes_t *p, uint32_t base, uint32_t key)
{
    for (uint32_t i = p->buckets[prototypes_hash(base, key) & (p->bucket_count - 1)]; i != 0; i = p->items[i].next) {
        if (p->items[i].base == base && p->items[i].key == key)
            return i;
    }
    return BP_NONE;
}

uint32_t prototypes_child(prototypes_t *p, uint32_t base, uint32_t key)
{
    uint32_t known = prototypes_known_child(p, base, key);
    if (known != BP_NONE)
        return known;
    if (is_asked(p) || (p->count >= p->bucket_count && !grow(p)))
        return BP_NONE;
    if (p->count >= PROTOTYPES_MOST ||
        !memory_reserve(p->memory, &p->items, &p->capacity, p->count + 1u, sizeof *p->items))
        return BP_NONE;
    const prototype_t *b = &p->items[base];
    uint32_t *bucket = &p->buckets[prototypes_hash(base, key) & (p->bucket_count - 1)];
    p->items[p->count] = (prototype_t){
        .base = base,
        .key = key,
        .next = *bucket,
        .columns = (uint16_t)(b->columns + p->keys[key].columns),
        .key_count = (uint8_t)(b->key_count + 1),
        .flags = (uint8_t)(b->flags | p->keys[key].flags),
    };
    *bucket = p->count;
    return p->count++;
}

/* Build the chain up again over `base` with the keys `above`, topmost first. */
static uint32_t rebuild(prototypes_t *p, uint32_t base, const uint32_t *above, uint32_t count)
{
    while (count > 0 && base != BP_NONE)
        base = prototypes_child(p, base, above[--count]);
    return base;
}

/* The one found last is in the first place of its pair, unless it was in the second one before. */
static void keep_transition(prototypes_t *p, uint32_t from, uint32_t key, bool adding, uint32_t to, uint32_t column)
{
    transition_t *t = prototypes_cached(p, from, key, adding);
    if (t == NULL) {
        t = prototypes_pair(p, from, key);
        p->pushed_out += t[1].to_run != NULL;
        t[1] = t[0];
    }
    *t = (transition_t){
        .edge = prototypes_edge(from, key, adding) | EDGE_UNLINKED,
        .to = to,
        .column = (uint16_t)column,
        .width = p->keys[key].columns,
    };
}

void prototypes_link(prototypes_t *p, uint32_t from, uint32_t key, bool adding)
{
    transition_t *t = prototypes_cached(p, from, key, adding);
    if (t == NULL || (t->edge & EDGE_UNLINKED) == 0 || (p->keys[key].flags & KEY_UNUSUAL) != 0)
        return;
    t->from_run = p->items[from].run;
    t->to_run = p->items[t->to].run;
    if (t->from_run != NULL && t->to_run != NULL)
        t->edge &= ~EDGE_UNLINKED;
}

static void forget_transitions(prototypes_t *p)
{
    memset(p->transitions, 0, p->transition_count * sizeof *p->transitions);
}

static bool known(const prototypes_t *p, uint32_t from, uint32_t key, bool adding, uint32_t *to, uint32_t *column)
{
    const transition_t *t = prototypes_cached(p, from, key, adding);
    if (t == NULL)
        return false;
    *to = t->to;
    *column = t->column;
    return true;
}

static bp_result_t check_addition(const prototypes_t *p, uint32_t from, uint32_t key)
{
    const component_key_t *added = &p->keys[key];
    const prototype_t *start = &p->items[from];
    if (from != 0 && ((start->flags ^ added->flags) & KEY_WORLD) != 0)
        return error_set(&p->base->error, BP_ERROR_ARGUMENT, "component '%s' belongs to %s",
                         names_text(&p->base->names, added->name),
                         (added->flags & KEY_WORLD) != 0 ? "the world, and no entity has it"
                                                         : "entities, and the world itself does not have it");
    for (uint32_t i = from; i != 0; i = p->items[i].base) {
        const component_key_t *k = &p->keys[p->items[i].key];
        if (k->name == added->name)
            return error_set(&p->base->error, BP_ERROR_EXISTS, "the entity already has a component named '%s'",
                             names_text(&p->base->names, added->name));
        if (k->manager == added->manager && (added->flags & KEY_SINGLE) != 0)
            return error_set(&p->base->error, BP_ERROR_EXISTS,
                             "the entity already has this component, as '%s', and may have only one",
                             names_text(&p->base->names, k->name));
    }
    if (start->key_count >= PROTOTYPES_MAX_KEYS || start->columns + added->columns > PROTOTYPES_MAX_COLUMNS)
        return error_set(&p->base->error, BP_ERROR_LIMIT, "an entity has at most %d components and %d fields",
                         PROTOTYPES_MAX_KEYS, PROTOTYPES_MAX_COLUMNS);
    return BP_OK;
}

bp_result_t prototypes_with(prototypes_t *p, uint32_t from, uint32_t key, uint32_t *to, uint32_t *column)
{
    if (known(p, from, key, true, to, column))
        return BP_OK;
    bp_result_t result = check_addition(p, from, key);
    if (result != BP_OK)
        return result;
    uint32_t above[PROTOTYPES_MAX_KEYS + 1], count = 0, base = from;
    for (; base != 0 && p->items[base].key > key; base = p->items[base].base)
        above[count++] = p->items[base].key;
    *column = p->items[base].columns;
    above[count++] = key;
    *to = rebuild(p, base, above, count);
    if (*to == BP_NONE)
        return refuse(p, "making a prototype");
    keep_transition(p, from, key, true, *to, *column);
    return BP_OK;
}

bp_result_t prototypes_without(prototypes_t *p, uint32_t from, uint32_t key, uint32_t *to, uint32_t *column)
{
    if (known(p, from, key, false, to, column))
        return BP_OK;
    uint32_t above[PROTOTYPES_MAX_KEYS], count = 0, base = from;
    for (; base != 0 && p->items[base].key > key; base = p->items[base].base)
        above[count++] = p->items[base].key;
    if (base == 0 || p->items[base].key != key)
        return error_set(&p->base->error, BP_ERROR_NOT_FOUND, "the entity has no component '%s'",
                         names_text(&p->base->names, p->keys[key].name));
    base = p->items[base].base;
    *column = p->items[base].columns;
    *to = rebuild(p, base, above, count);
    if (*to == BP_NONE)
        return refuse(p, "making a prototype");
    keep_transition(p, from, key, false, *to, *column);
    return BP_OK;
}

void prototypes_mark_gone(prototypes_t *p)
{
    /* A base is always older than what is built on it, so one pass upwards does. */
    for (uint32_t i = 1; i < p->count; i++)
        p->items[i].flags |= (uint8_t)((p->keys[p->items[i].key].flags | p->items[p->items[i].base].flags) & KEY_GONE);
    forget_transitions(p);
}

void prototypes_recount(prototypes_t *p)
{
    for (uint32_t i = 1; i < p->count; i++) {
        const prototype_t *base = &p->items[p->items[i].base];
        const component_key_t *key = &p->keys[p->items[i].key];
        p->items[i].columns = (uint16_t)(base->columns + key->columns);
        p->items[i].flags = (uint8_t)(base->flags | key->flags);
    }
    /* Empty the caches that say where columns begin. */
    forget_transitions(p);
    for (uint32_t i = 0; i < p->column_count; i++)
        atomic_store_explicit(&p->columns[i], 0, memory_order_relaxed);
}

uint32_t prototypes_find_column(const prototypes_t *p, uint32_t prototype, uint32_t key)
{
    const prototype_t *i = &p->items[prototype];
    while (i->key_count > 0 && i->key > key)
        i = &p->items[i->base];
    uint32_t column = i->key_count > 0 && i->key == key ? p->items[i->base].columns : 0;
    if (key <= UINT16_MAX)
        atomic_store_explicit(prototypes_column_word(p, prototype, key), (uint64_t)prototype << 32 | key << 16 | column,
                              memory_order_relaxed);
    return column;
}

uint32_t prototypes_find_name(const prototypes_t *p, uint32_t prototype, bp_name_t name, uint32_t *column)
{
    for (uint32_t i = prototype; i != 0; i = p->items[i].base) {
        uint32_t key = p->items[i].key;
        if (p->keys[key].name == name) {
            *column = p->items[p->items[i].base].columns;
            return key;
        }
    }
    return BP_NONE;
}
