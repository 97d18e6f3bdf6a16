/* prototypes.h - the entity index: which combinations of components exist in a world.
 *
 * A prototype is {base prototype, key}: the combination of its base and one more component. A key stands for one
 * component type under one instance name. Chains are kept in canonical order, keys ascending from the empty prototype,
 * so the same components are always the same prototype, in whatever order they came. Prototypes are small dense
 * integers; 0 has no components. Prototypes are never removed: each costs 24 bytes, beside the run that holds the rows
 * of its entities.
 *
 * The columns of a prototype are those of its base followed by those of its key. So a component's columns begin where
 * its base's end, and adding a component to an entity inserts columns at one place: rows move between prototypes by
 * copying what lies before that place and what lies behind it.
 *
 * Not here: entities and their rows (store.h).
 */
#ifndef HOST_STORE_PROTOTYPES_H
#define HOST_STORE_PROTOTYPES_H

#include "../base/base.h"

struct run_t;

enum {
    PROTOTYPES_MAX_KEYS = 255,      /* components of one entity */
    PROTOTYPES_MAX_COLUMNS = 65535, /* their fields, the entity's own column among them */
    PROTOTYPES_MOST = 1 << 30,      /* keys, and prototypes, of a world */
    KEY_SINGLE = 1u << 0,           /* no second component of this manager in the same entity */
    KEY_AT_ONCE = 1u << 1,          /* rows of the dead are collected at once */
    KEY_OWN_STORAGE = 1u << 2,
    KEY_TELL = 1u << 3,             /* own storage with a manager that is told of a death at once */
    KEY_GONE = 1u << 4,             /* its manager has left the world */
    KEY_HOOKED = 1u << 5,           /* its component is told of rows that come and go (hooks.h) */
    KEY_WORLD = 1u << 6,            /* the world itself has its component, and no other entity (world_t.own) */
    KEY_UNUSUAL = KEY_OWN_STORAGE | KEY_GONE | KEY_HOOKED | KEY_WORLD, /* not for the short ways for one entity */
    PROTOTYPES_RECENT = 8,
    PROTOTYPES_TRANSITIONS = 16,    /* places of the cache of transitions in the beginning, and in the end where ... */
    PROTOTYPES_MOST_TRANSITIONS = 262144, /* ... there are no more prototypes than half as many; powers of two */
    PROTOTYPES_COLUMNS = 512,       /* words of the cache of columns, at least ... */
    PROTOTYPES_MOST_COLUMNS = 65536 /* ... and at most; both are powers of two */
};

/* A component type under an instance name. */
typedef struct component_key_t {
    bp_name_t name;
    uint32_t manager;
    uint16_t columns;
    uint16_t flags; /* KEY_... */
} component_key_t;

typedef struct prototype_t {
    uint32_t base;
    uint32_t key;      /* greater than every key of the base */
    uint32_t next;     /* of the chain of its bucket; 0: last */
    uint16_t columns;  /* all told, with the entity's own column: at least 1 */
    uint8_t key_count;
    uint8_t flags;     /* KEY_... of all its keys */
    struct run_t *run; /* NULL until an entity has this prototype */
} prototype_t;

/* A transition between two prototypes with components, by a key that is not KEY_UNUSUAL, is linked to the runs of these
 * once both are there: one entity then takes the short way (store_one.c). */
typedef struct transition_t {
    uint64_t edge;   /* prototypes_edge, and EDGE_UNLINKED; 0: there is none here */
    struct run_t *from_run, *to_run; /* linked: the runs of the prototypes. One from the empty prototype has to_run */
    uint32_t to;
    uint16_t column; /* where the key's columns begin */
    uint16_t width;  /* how many they are */
} transition_t;

typedef struct prototypes_t {
    memory_t *memory;
    base_t *base;
    component_key_t *keys;
    prototype_t *items;
    uint32_t *buckets;         /* first prototype of each hash of {base, key} */
    transition_t *transitions; /* a cache of additions and removals, each in one of two places (prototypes_pair) */
    transition_t *recent[2][PROTOTYPES_RECENT]; /* of removals and additions, by key: the place of one found lately */
    uint32_t key_count, key_capacity;
    uint32_t *key_buckets;       /* open addressing: key number + 1, 0 free; at most half full */
    uint32_t key_bucket_count;
    uint32_t count, capacity;  /* count is at least 1: prototype 0 */
    uint32_t bucket_count;     /* a power of two, as are the next two */
    uint32_t transition_count;
    uint32_t pushed_out;       /* transitions in use that others have pushed out since the cache has its size */
    uint32_t column_count;     /* words of ... */
    _Atomic uint64_t *columns; /* a direct-mapped cache of where a key's columns begin: prototype, key, column in one
                                  word */
} prototypes_t;

/* False when out of memory. */
bool prototypes_init(prototypes_t *prototypes, memory_t *memory, base_t *base);
void prototypes_free(prototypes_t *prototypes);

/* The prototype {base, key}, `key` being greater than all of the base, made where it is new; BP_NONE when out of
 * memory, and for a new one in verbs that change nothing (BASE_ASKED). [main] */
uint32_t prototypes_child(prototypes_t *prototypes, uint32_t base, uint32_t key);

/* The key of a manager under a name, made where it is new. Errors: memory; state, of a new one in verbs that change
 * nothing. [main] */
bp_result_t prototypes_key(prototypes_t *prototypes, component_key_t key, uint32_t *out);

/* The same, where they are there; else BP_NONE. */
uint32_t prototypes_known_child(const prototypes_t *prototypes, uint32_t base, uint32_t key);
uint32_t prototypes_known_key(const prototypes_t *prototypes, bp_name_t name, uint32_t manager);

/* The prototype with one more, or one fewer, component; `column` is where the component's columns begin in the larger
 * of the two. Errors: EXISTS where the instance name is taken or the type is single and there; NOT_FOUND where the
 * component is not there; limit; memory; state, as above. [main] */
bp_result_t prototypes_with(prototypes_t *prototypes, uint32_t from, uint32_t key, uint32_t *to, uint32_t *column);
bp_result_t prototypes_without(prototypes_t *prototypes, uint32_t from, uint32_t key, uint32_t *to, uint32_t *column);

/* Bits of transition_t.edge beside the prototype in its upper half, whose numbers stay below PROTOTYPES_MOST. */
#define EDGE_REMOVAL (UINT64_C(1) << 62)
#define EDGE_UNLINKED (UINT64_C(1) << 63)

static inline uint32_t prototypes_hash(uint32_t a, uint32_t b)
{
    uint64_t h = ((uint64_t)a << 32 | b) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(h >> 32);
}

/* What tells a transition from all others: it begins at a prototype, and adds a key or takes it away. Never 0, and of
 * no transition for BP_NONE. */
static inline uint64_t prototypes_edge(uint32_t from, uint32_t key, bool adding)
{
    return (uint64_t)from << 32 | (uint32_t)(key + 1) | (adding ? 0 : EDGE_REMOVAL);
}

/* Where in the cache a transition is, if it is there: in one of the two places from here on, which share a line of the
 * processor's cache. The factor is odd, so transitions by one key lie apart. */
static inline transition_t *prototypes_pair(const prototypes_t *prototypes, uint32_t from, uint32_t key)
{
    return &prototypes->transitions[(from * 0x9E3779B1u + key * 2) & (prototypes->transition_count - 2)];
}

/* The cached transition from a prototype by a key, or NULL where it is not cached: then prototypes_with or
 * prototypes_without finds it, or says why there is none. [main] */
static inline transition_t *prototypes_cached(const prototypes_t *prototypes, uint32_t from, uint32_t key, bool adding)
{
    transition_t *t = prototypes_pair(prototypes, from, key);
    uint64_t edge = prototypes_edge(from, key, adding);
    if ((t->edge & ~EDGE_UNLINKED) == edge)
        return t;
    t++;
    return (t->edge & ~EDGE_UNLINKED) == edge ? t : NULL;
}

/* The cached transition where it is linked, else NULL. No key that is not in use has one. A change is often the same as
 * the one before; its place is then known before the entity's prototype is, which the processor makes use of. [main] */
static inline const transition_t *prototypes_linked(prototypes_t *prototypes, uint32_t from, uint32_t key, bool adding)
{
    transition_t **recent = &prototypes->recent[adding][key % PROTOTYPES_RECENT], *t = *recent;
    uint64_t edge = prototypes_edge(from, key, adding);
    if (t->edge == edge)
        return t;
    t = prototypes_pair(prototypes, from, key);
    if (t->edge != edge && (++t)->edge != edge)
        return NULL;
    *recent = t;
    return t;
}

/* To be called before entities change one by one: the cache of transitions grows where too many that were in use have
 * been pushed out. False when out of memory: nothing has changed. [main] */
bool prototypes_widen(prototypes_t *prototypes);

/* Link the cached transition where it may be, after the runs have been made. [main] */
void prototypes_link(prototypes_t *prototypes, uint32_t from, uint32_t key, bool adding);

/* Pass KEY_GONE on from keys to the prototypes that have them, and forget transitions. [main] */
void prototypes_mark_gone(prototypes_t *prototypes);

/* Keys have other columns or flags: bring all prototypes in step. Cannot fail. [main] */
void prototypes_recount(prototypes_t *prototypes);

/* As prototypes_column, by walking the chain; the answer is put where prototypes_column will see it. */
uint32_t prototypes_find_column(const prototypes_t *prototypes, uint32_t prototype, uint32_t key);

static inline _Atomic uint64_t *prototypes_column_word(const prototypes_t *prototypes, uint32_t prototype, uint32_t key)
{
    return &prototypes->columns[prototypes_hash(prototype, key) & (prototypes->column_count - 1)];
}

/* Where the columns of `key` begin in a prototype; 0 where the prototype lacks the key. [job] */
static inline uint32_t prototypes_column(const prototypes_t *prototypes, uint32_t prototype, uint32_t key)
{
    uint64_t word = atomic_load_explicit(prototypes_column_word(prototypes, prototype, key), memory_order_relaxed);
    if (word >> 16 == ((uint64_t)prototype << 16 | key) && key <= UINT16_MAX)
        return (uint32_t)word & UINT16_MAX;
    return prototypes_find_column(prototypes, prototype, key);
}

/* The key of the component with an instance name in a prototype, and where its columns begin; BP_NONE where there is
 * none. [job] */
uint32_t prototypes_find_name(const prototypes_t *prototypes, uint32_t prototype, bp_name_t name, uint32_t *column);

#endif
