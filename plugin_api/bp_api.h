/* bp_api.h - what the host offers: tables of functions, reached from every verb's first argument.
 *
 *     bp_entity_t e;
 *     m->api->entity->create(m->host, &e, 1);
 *
 * A table begins with struct_size, the size that the host knows; entries are only ever appended, so a plugin
 * built with newer headers asks BP_HAS(table, entry) before it calls an entry that may be missing. Tables stay
 * where they are for as long as the host lives.
 *
 * Every verb takes a batch: arrays with a count; the single call is the batch of one. Unless an entry says
 * otherwise it is all or nothing: on an error nothing has changed, and bp_error_api.last tells why.
 * Memory that a caller passes stays the caller's; texts that are returned are the host's and good until the next
 * call of the same table.
 *
 * Structural changes (create, destroy, add, remove) move rows: they end the life of every bp_run_t and
 * bp_match_t of that world. From `simulate`, `run` and `run_all`, whose loops hold such columns, creating with
 * components, adding and removing in the world that steps are refused (BP_ERROR_STATE), and destroying is put off
 * to the end of the step. bp_command_api records all of these for later. A verb that may run beside others
 * (`simulate` of a concurrent or parallel component, `run` of such a system) calls [job] and [any] entries only. The
 * sentence of an entry that fails there can be read within that call alone (bp_error_api.last). After the step the last
 * sentence of each call that failed can be had (bp_error_api.of_call); the last one in the order of the step is also
 * the host's.
 *
 * What this header does not do: it declares nothing for embedders, who create hosts and worlds (backplane.h).
 */
#ifndef BP_API_H
#define BP_API_H

#include "bp_component.h"
#include "bp_inline.h"
#include "bp_system.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does `table` have `entry`, in this host? */
#define BP_HAS(table, type, entry) \
    ((table)->struct_size >= offsetof(type, entry) + sizeof((table)->entry) && (table)->entry != NULL)

/* Memory, accounted to the plugin: what is left when it is unloaded is reported as a leak. [any] */
typedef struct bp_memory_api {
    uint32_t struct_size;
    uint32_t padding;

    /* One function for all: allocate (old NULL, old_size 0), resize, free (new_size 0; returns NULL). Sizes in
     * bytes; the caller remembers them. Aligned to 16. New bytes are not cleared. NULL when out of memory: the
     * old block is then untouched. */
    void *(BP_CALL *resize)(const struct bp_plugin_t *plugin, void *old, size_t old_size, size_t new_size);
} bp_memory_api;

enum { BP_LOG_DEBUG = 0, BP_LOG_INFO = 1, BP_LOG_WARNING = 2, BP_LOG_ERROR = 3 };

/* What a call of a verb that ran beside others has left as its last sentence. */
typedef struct bp_call_failure_t {
    uint32_t struct_size; /* the caller's, filled in before */
    uint32_t range;       /* which of the step's calls of that unit (bp_run_t.range, bp_match_t.range) */
    uint32_t failed;      /* how many calls of the step have failed in all */
    uint32_t padding;
    const char *world;    /* the world's name; texts are the host's, good until the next step */
    const char *unit;     /* the component or system whose verb was called */
    const char *text;     /* the sentence */
} bp_call_failure_t;

/* Sentences for people. */
typedef struct bp_error_api {
    uint32_t struct_size;
    uint32_t padding;

    /* Leave the sentence that explains a failure, and return `code`: return api->error->set(host,
     * BP_ERROR_IO, text). What, where, and what would be right. [job] */
    bp_result_t (BP_CALL *set)(bp_host_o *host, bp_result_t code, const char *text);

    /* The sentence of the last failure, never NULL; good until the next failure. In a verb that may run beside
     * others: of the last failure in this call, "" where it has had none. [job] */
    const char *(BP_CALL *last)(bp_host_o *host);

    /* A line to the host's log. [any] */
    void (BP_CALL *log)(const struct bp_plugin_t *plugin, int32_t level, const char *text);

    /* Failures of the calls that ran side by side in the step that was taken last, one for each call that failed, in
     * the order of the step, the same on any number of threads. `index` counts from 0; 1 where there is one, and then
     * failure->struct_size bytes are written. The first 8 are kept; failure->failed says how many there were. [main] */
    uint32_t (BP_CALL *of_call)(bp_host_o *host, uint32_t index, bp_call_failure_t *failure);
} bp_error_api;

/* Names and strings. */
typedef struct bp_name_api {
    uint32_t struct_size;
    uint32_t padding;

    /* The name of `text`, without interning it: for comparing. [any] */
    bp_name_t (BP_CALL *hash)(const char *text);

    /* Intern `text`, at most 255 bytes: from now on `text` of the name gives it back. "" is 0. [main] */
    bp_result_t (BP_CALL *intern)(bp_host_o *host, const char *text, bp_name_t *name);

    /* The text of an interned name, "" of 0, "?" of a name that was never interned. Good as long as the host. [main] */
    const char *(BP_CALL *text)(bp_host_o *host, bp_name_t name);

    /* Put `text` into a cell of a BP_STRING column: the host keeps a counted copy and releases what the cell
     * held. Other ways to write such a cell are wrong. [main] */
    bp_result_t (BP_CALL *assign)(bp_host_o *host, const char **cell, const char *text);
} bp_name_api;

/* Asks whether an entity is alive without a call: fill this once with bp_living_of, hand it to bp_is_alive. Good as
 * long as the host. A handle of a fixed size; a host that cannot be asked in this way leaves `where.known` 0, and
 * bp_is_alive calls it each time. */
typedef struct bp_living_t {
    bp_inline_lives_t where;
    const struct bp_entity_api *api;
    bp_host_o *host;
} bp_living_t;

/* Entities. */
typedef struct bp_entity_api {
    uint32_t struct_size;
    uint32_t padding;

    /* Create `count` entities without components. [main] */
    bp_result_t (BP_CALL *create)(bp_host_o *host, bp_entity_t *entities, uint32_t count);

    /* Destroy entities and with them their components in all worlds. The dead, the unknown and second mentions
     * are passed over. Returns how many died. Destruction callbacks run before this returns, but not inside
     * each other: what a callback destroys dies at once and is announced after the present batch.
     * From `simulate`, `run` and `run_all` the whole call is put off to the end of the step, when no loop holds
     * columns any more; it then returns how many of them lived, and 0 when out of memory. [main] */
    uint32_t (BP_CALL *destroy)(bp_host_o *host, const bp_entity_t *entities, uint32_t count);

    /* alive[i] = 1 where entities[i] is alive in this host, 0 where it is dead, {0}, or another host's.
     * Returns how many are. `alive` may be NULL. [job] */
    uint32_t (BP_CALL *alive)(bp_host_o *host, const bp_entity_t *entities, uint32_t count, uint8_t *alive);

    /* Number of living entities, but for those that bear what belongs to worlds (bp_world_api.own). [job] */
    uint32_t (BP_CALL *count)(bp_host_o *host);

    /* The living entity at `index`, or {0}, as where bp_world_api.own is. Indices run from 0 to `bound` - 1; the bound
     * may fall after a step, when those at its end have died. [job] */
    bp_entity_t (BP_CALL *at)(bp_host_o *host, uint32_t index);
    uint32_t (BP_CALL *bound)(bp_host_o *host);

    /* "#index:generation", the text form that the console reads, generations counted from 1. Writes at most
     * `size` bytes with the closing zero. [any] */
    void (BP_CALL *format)(bp_host_o *host, bp_entity_t entity, char *text, size_t size);

    /* Writes where the host keeps which entities are alive (bp_inline.h). bp_living_of calls this. [job] */
    void (BP_CALL *living)(bp_host_o *host, bp_inline_lives_t *where);
} bp_entity_api;

/* The handle for bp_is_alive, good in this host for as long as the host is there. [job] */
static inline bp_living_t bp_living_of(const bp_entity_api *api, bp_host_o *host)
{
    bp_living_t living = {{0, 0, NULL, NULL, NULL}, api, host};
    if (BP_HAS(api, bp_entity_api, living))
        api->living(host, &living.where);
    return living;
}

/* 1 where the entity lives, 0 where it is dead, {0}, or another host's: as bp_entity_api.alive for one, in a handful of
 * instructions. For many at once `alive` takes a batch. [job] */
static inline uint32_t bp_is_alive(const bp_living_t *living, bp_entity_t entity)
{
    if (living->where.known == BP_INLINE_LAYOUT)
        return bp_inline_lives(&living->where, entity);
    return living->api->alive(living->host, &entity, 1, NULL);
}

/* A reference to one field of one entity, resolved once and then checked by one comparison: the rows of a run
 * carry a version that changes whenever a row may have moved. Make it with bp_world_api.ref, read it with
 * bp_ref_get. Declared fields only. Good as long as the world. A handle of a fixed size; a host that cannot be asked in
 * this way leaves `version` NULL, and bp_ref_get calls it each time. */
typedef struct bp_ref_t {
    void *value;             /* where the field lies, while *version == expected */
    const uint32_t *version;
    uint32_t expected;
    uint32_t field;          /* key << 8 | field */
    bp_entity_t entity;
} bp_ref_t;

/* Worlds: what lives in them and where. */
typedef struct bp_world_api {
    uint32_t struct_size;
    uint32_t padding;

    /* The world of that name, or NULL. The `index`-th world, NULL past the last. Its name. [main] */
    bp_world_o *(BP_CALL *find)(bp_host_o *host, const char *name);
    bp_world_o *(BP_CALL *at)(bp_host_o *host, uint32_t index);
    const char *(BP_CALL *name)(bp_world_o *world);

    /* Steps done, step length and time of the world, as the next step will see them. Writes step->struct_size bytes,
     * which the caller has set to its sizeof. [main] */
    void (BP_CALL *clock)(bp_world_o *world, bp_step_t *step);

    /* The number in this world of the manager of a component type, BP_NONE where the world lacks it; and the
     * manager itself, which the tables of other plugins take. [main] */
    uint32_t (BP_CALL *component)(bp_world_o *world, const char *type);
    bp_manager_t *(BP_CALL *manager)(bp_world_o *world, uint32_t component);

    /* The key of "this component type under this instance name", made once and good as long as the world. Keys
     * are what all verbs below take. name 0 stands for the type's own name. BP_ERROR_STATE for a key that is not there
     * yet, in verbs that change nothing (`get`, `set`, `count`, `save` and `load` of a state). [main] */
    bp_result_t (BP_CALL *key)(bp_world_o *world, uint32_t component, bp_name_t name, uint32_t *key);

    /* What a key stands for. BP_ERROR_NOT_FOUND where there is no such key. [main] */
    bp_result_t (BP_CALL *key_info)(bp_world_o *world, uint32_t key, uint32_t *component, bp_name_t *name);

    /* The prototype of entities that have exactly the components `keys` (any order, no key twice, no instance
     * name twice): good as long as the world. Prototype 0 has none. BP_ERROR_STATE as for `key`. [main] */
    bp_result_t (BP_CALL *prototype)(bp_world_o *world, const uint32_t *keys, uint32_t count, uint32_t *prototype);

    /* Create `count` entities with the components of `prototype`, in bulk, fields at their defaults. [main] */
    bp_result_t (BP_CALL *create)(bp_world_o *world, uint32_t prototype, bp_entity_t *entities, uint32_t count);

    /* Add a component to living entities, fields at their defaults. BP_ERROR_EXISTS where an entity has a
     * component of that name already, or any at all of a type that is single; BP_ERROR_DEAD. [main] */
    bp_result_t (BP_CALL *add)(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count);

    /* Take a component away. BP_ERROR_NOT_FOUND where an entity lacks it. [main] */
    bp_result_t (BP_CALL *remove)(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count);

    /* has[i] = 1 where entities[i] has the component. Returns how many do. `has` may be NULL. [job] */
    uint32_t (BP_CALL *has)(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count, uint8_t *has);

    /* The slots of own-storage components, BP_NONE where an entity lacks it. Returns how many have it. [job] */
    uint32_t (BP_CALL *slots)(bp_world_o *world, uint32_t key, const bp_entity_t *entities, uint32_t count,
                              uint32_t *slots);

    /* The keys of an entity's components in canonical order. Returns their number, which may exceed
     * `capacity`; at most `capacity` are written. 0 for the dead. [main] */
    uint32_t (BP_CALL *keys_of)(bp_world_o *world, bp_entity_t entity, uint32_t *keys, uint32_t capacity);

    /* Number of instances of a component type; of one with storage of its own, those of the dead that it has not
     * collected yet are among them. [main] */
    uint32_t (BP_CALL *count)(bp_world_o *world, uint32_t component);

    /* A manager with its own storage tells that instances now lie elsewhere: the component `names[i]` of
     * entities[i] is in slots[i]. Entities that have died are passed over. [main] */
    void (BP_CALL *instances_moved)(bp_manager_t *m, const bp_entity_t *entities, const bp_name_t *names,
                                    const uint32_t *slots, uint32_t count);

    /* A manager with its own storage tells that values of instances have changed. To be called while m->watched is not
     * 0: then bp_changes.h reports these slots as changed. Instances that are made, ended, moved and set need not be
     * told: the host records those itself. Slots one by one, or `count` of them from `first` on. [job] from the
     * manager's own verbs */
    void (BP_CALL *instances_changed)(bp_manager_t *m, const uint32_t *slots, uint32_t count);
    void (BP_CALL *instances_changed_range)(bp_manager_t *m, uint32_t first, uint32_t count);

    /* Resolve a reference to declared field `field`, anew or for the first time (then set *ref to {0}, entity
     * to the entity and field to key << 8 | field). Returns the field's address, for reading, or NULL where the entity
     * is dead or lacks the component. [main] */
    const void *(BP_CALL *ref)(bp_world_o *world, bp_ref_t *ref);

    /* Bring a component's manager, or a system, of a loaded plugin into a world. The world keeps the name: where the
     * component or system goes, by a reload or with its plugin, it is brought in again as soon as a plugin brings one
     * of that name. BP_ERROR_EXISTS where it is there, unless it has come in again since it was asked for last;
     * BP_ERROR_NOT_FOUND where no plugin brings it. Between steps, and not from a verb of what is being brought in or
     * dropped (BP_ERROR_STATE). [main] */
    bp_result_t (BP_CALL *use_component)(bp_world_o *world, const char *type);
    bp_result_t (BP_CALL *use_system)(bp_world_o *world, const char *name);

    /* Take a component's manager, with all its instances, or a system out of a world. The world forgets the name too,
     * also where no plugin brings it at present. BP_ERROR_STATE also where a unit of the world needs what is to go: the
     * sentence says which; BP_ERROR_NOT_FOUND where the world has neither the component or system nor kept its name.
     * [main] */
    bp_result_t (BP_CALL *drop_component)(bp_world_o *world, const char *type);
    bp_result_t (BP_CALL *drop_system)(bp_world_o *world, const char *name);

    /* The field's address for writing it now, which counts as written with this call (bp_changes.h): ask again for each
     * time that it is written. Otherwise as `ref`; NULL also while a reload is prepared. [main] */
    void *(BP_CALL *ref_write)(bp_world_o *world, bp_ref_t *ref);

    /* The entity that has the components of the world itself (BP_COMPONENT_WORLD): resolve properties, references and
     * queries with it. This entity lives as long as the world has such a component; it cannot be destroyed, gets and
     * loses components by use_component and drop_component alone, and is not counted nor listed among the entities. {0}
     * where the world has none. [job] while nothing changes structure */
    bp_entity_t (BP_CALL *own)(bp_world_o *world);

    /* The next entity that has components in this world: the first one with an index of at least `*index`, or {0}
     * where there is none. `*index` becomes the index behind it: begin with 0, and call again until {0} comes.
     * Entities come in the order of their indices; that of `own` does not come. A whole pass takes time for each
     * entity that this world has, or has had lately, and none for those of other worlds. [job] while nothing changes
     * structure */
    bp_entity_t (BP_CALL *next)(bp_world_o *world, uint32_t *index);
} bp_world_api;

/* The address of the field that `ref` refers to, for reading, or NULL where it has gone. One load and one comparison
 * while no row of its run has moved; to write it, bp_world_api.ref_write. [job] while nothing changes structure */
static inline const void *bp_ref_get(const bp_world_api *api, bp_world_o *world, bp_ref_t *ref)
{
    if (ref->version != NULL && *ref->version == ref->expected)
        return ref->value;
    return api->ref(world, ref);
}

/* A property, resolved: which component and which field, and where they were last found. Made by
 * bp_property_api.resolve. A handle of a fixed size, which no later minor changes: its first members are for reading,
 * the rest is the host's. Copy it for use from another thread. */
typedef struct bp_property_t {
    uint32_t key;
    uint32_t field;
    uint32_t type;     /* BP_BOOL ... BP_DVEC4: what get and set expect */
    uint32_t flags;    /* BP_FIELD_... ; higher bits are the host's */
    uint32_t size;     /* bytes that get writes and set reads: of a value, of a whole array, of a bp_list_t */
    uint32_t count;    /* of a whole: values that a cell has, 0 for a list (BP_FIELD_LIST in flags), which has any
                          number */
    uint32_t element;  /* of one element: its number; BP_NONE: the whole */
    uint32_t padding;
    union {
        uint64_t words[4];
        bp_inline_found_t found; /* bp_inline.h */
    } host;
} bp_property_t;

/* The address of a declared property of one entity where it can be found without asking: the property has been got or
 * set before, and the entity has the same components as the one it was got from. NULL otherwise, and always where the
 * host keeps its rows in another way than these headers know (bp_inline.h): then `get` or `set` finds it, or says why
 * not. For reading; writing through it would pass by ranges and read-only. A handful of instructions, no call. [job]
 * while nothing changes structure */
static inline const void *bp_property_cell(const bp_world_o *world, const bp_property_t *property, bp_entity_t entity)
{
    return bp_inline_cell(world, &property->host.found, property->size, entity);
}

/* A path of the form world/entity.component.property, resolved; or put together from its three parts, with the rest
 * zero. A handle of a fixed size. */
typedef struct bp_path_t {
    bp_world_o *world;
    bp_entity_t entity;
    bp_property_t property;
    void *reserved[6]; /* NULL */
} bp_path_t;

BP_STATIC_ASSERT(sizeof(bp_property_t) == 64, "a resolved property is a handle of 64 bytes");
BP_STATIC_ASSERT(sizeof(bp_path_t) == 128, "a resolved path is a handle of 128 bytes");
BP_STATIC_ASSERT(sizeof(bp_ref_t) == 32, "a reference is a handle of 32 bytes");

/* Properties by name, by key and by column. Values are as bp_types.h says for their type. */
typedef struct bp_property_api {
    uint32_t struct_size;
    uint32_t padding;

    /* Resolve `property` of the component named `component` (its instance name). `entity` may be {0}: then
     * the name must mean one component type in the whole world. "items[3]" is one value of an array or a list, and its
     * value is of the field's type; without a number an array is all its values, packed, and a list a bp_list_t. On
     * failure the error says what exists. [main] */
    bp_result_t (BP_CALL *resolve)(bp_world_o *world, bp_entity_t entity, const char *component, const char *property,
                                   bp_property_t *resolved);

    /* Values of `count` entities; values[i] lies at (char *)values + i * stride. A string that is read is
     * good until the next structural change or set. BP_ERROR_DEAD, BP_ERROR_NOT_FOUND where an entity lacks
     * it: values before that one may have been written. `property` caches: one thread at a time. [job] */
    bp_result_t (BP_CALL *get)(bp_world_o *world, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                               void *values, size_t stride);

    /* Likewise; all or nothing: every entity and every value is checked first (range, read only). [main] */
    bp_result_t (BP_CALL *set)(bp_world_o *world, bp_property_t *property, const bp_entity_t *entities, uint32_t count,
                               const void *values, size_t stride);

    /* By two names, in one call. `type` must be the property's own (BP_ERROR_TYPE). [main] */
    bp_result_t (BP_CALL *get_named)(bp_world_o *world, bp_entity_t entity, const char *component, const char *property,
                                     uint32_t type, void *value);
    bp_result_t (BP_CALL *set_named)(bp_world_o *world, bp_entity_t entity, const char *component, const char *property,
                                     uint32_t type, const void *value);

    /* As text: "1.5", "0 0 1", "true", "#0:1"; set_text also takes the debug name of an entity of the path's world.
     * Writes at most `size` bytes with the closing zero. [main] */
    bp_result_t (BP_CALL *get_text)(const bp_path_t *path, char *text, size_t size);
    bp_result_t (BP_CALL *set_text)(const bp_path_t *path, const char *text);

    /* Resolve "world/entity.component.property"; the entity by its debug name or as #index:generation. [main] */
    bp_result_t (BP_CALL *parse_path)(bp_host_o *host, const char *text, bp_path_t *path);

    /* The declaration of field `index` of a component type. Writes `field_size` bytes, the sizeof of the caller's
     * bp_field_t; members that this host does not know are zero. Texts are the host's, good until the component's
     * plugin is reloaded or unloaded. BP_ERROR_NOT_FOUND past the last. [main] */
    bp_result_t (BP_CALL *describe)(bp_host_o *host, const char *component_type, uint32_t index, bp_field_t *field,
                                    uint32_t field_size);

    /* A value that `get` has written, as get_text would have written it then; of texts and lists as long as what `get`
     * has written is good. BP_ERROR_NOT_FOUND where the component has left the world, BP_ERROR_TYPE where the property
     * has another type since. [main] */
    bp_result_t (BP_CALL *format)(bp_world_o *world, const bp_property_t *property, const void *value, char *text,
                                  size_t size);
} bp_property_api;

/* Changes of structure from inside a step, recorded now and made later: at the end of the step, or before a unit
 * that asks for it (BP_SYSTEM_COMMANDS_FIRST). Commands are made in the order of the step: unit by unit, within a
 * unit match by match and range by range, within a call in the order of recording. So the result is the same on any
 * number of threads.
 *
 * `commands` is step->commands of the verb that is running. Commands apply to the state at that time: entities that
 * have died by then, that have the component already (add) or lack it (remove, set), and second mentions are passed
 * over. A command that fails when it is made (memory, a value out of range, a manager that refuses) changes nothing, a
 * line of the log says why, and the others are made.
 *
 * All entries: BP_ERROR_STATE where `commands` is NULL, BP_ERROR_MEMORY where it cannot be recorded; nothing of
 * that call is recorded then, and all else is. */
typedef struct bp_command_api {
    uint32_t struct_size;
    uint32_t padding;

    /* Create entities as bp_world_api.create does; prototype 0: without components. `entities` are filled with
     * placeholders: never alive, different from all others of this step, good for commands of this step in the same
     * world, by this and later units, also as values of BP_ENTITY properties; bp_command_api.created tells later which
     * entities they became. [job] */
    bp_result_t (BP_CALL *create)(bp_commands_o *commands, uint32_t prototype, bp_entity_t *entities, uint32_t count);

    /* As bp_entity_api.destroy. [job] */
    bp_result_t (BP_CALL *destroy)(bp_commands_o *commands, const bp_entity_t *entities, uint32_t count);

    /* As bp_world_api.add and remove. [job] */
    bp_result_t (BP_CALL *add)(bp_commands_o *commands, uint32_t key, const bp_entity_t *entities, uint32_t count);
    bp_result_t (BP_CALL *remove)(bp_commands_o *commands, uint32_t key, const bp_entity_t *entities, uint32_t count);

    /* As bp_property_api.set; values are copied, texts too. `property` has been resolved before. [job] */
    bp_result_t (BP_CALL *set)(bp_commands_o *commands, const bp_property_t *property, const bp_entity_t *entities,
                               uint32_t count, const void *values, size_t stride);

    /* The entities that the placeholders became, of commands that the world made last: entities[i] is {0} where
     * creation failed, where placeholders[i] is none, or where commands have been made or the world has been restored
     * since. Returns how many were found. [job] */
    uint32_t(BP_CALL *created)(bp_world_o *world, const bp_entity_t *placeholders, uint32_t count,
                               bp_entity_t *entities);
} bp_command_api;

/* A table that a plugin offers to others (plugin_api/components/): a struct that begins with two uint32_t, struct_size
 * and version, which the host fills in, followed by function pointers only. Entries are only ever appended, and the
 * version grows with them.
 *
 * `returns` says what each entry returns, a letter an entry, so that the host can put entries in their place that
 * answer for a plugin that has gone:
 *
 *     r  a bp_result_t          BP_ERROR_STATE, and a sentence that names the table
 *     c  a number               0
 *     p  a pointer              NULL
 *     n  nothing */
typedef struct bp_table_t {
    const char *name BP_OR_ZERO;    /* a word; those that begin with "bp_" are the host's own */
    uint32_t version BP_OR_ZERO;    /* 1 or more */
    uint32_t size BP_OR_ZERO;       /* bytes of the struct; at most 64 KiB */
    const void *entries BP_OR_ZERO; /* the struct; the host copies it */
    const char *returns BP_OR_ZERO;
} bp_table_t;

typedef struct bp_table_list_t {
    const bp_table_t *items;
    uint32_t count;
    uint32_t item_size;
} bp_table_list_t;

/* One item of a list of tables: BP_TABLE(BP_MESH_API, 2, table, BP_MESH_RETURNS). */
#define BP_TABLE(table_name, table_version, table, table_returns) \
    {(table_name), (table_version), (uint32_t)sizeof(table), &(table), (table_returns)}

/* Tables by name. `find` returns a slot, which holds a copy of the table; the slot's address is good as long as the
 * host. Where the plugin goes, struct_size stays, version reads 0 and the entries answer as bp_table_t says; where the
 * plugin comes again, they work again. Where a later version of the plugin offers more entries than the slot has room
 * for, the slot goes on with those that it has room for, and `find` gives another one that has all. */
typedef struct bp_registry_api {
    uint32_t struct_size;
    uint32_t padding;

    /* Offer a table beside those of the descriptor; table_size is the sizeof of the caller's bp_table_t. BP_ERROR_STATE
     * in verbs that change nothing. [main] */
    bp_result_t (BP_CALL *offer)(const struct bp_plugin_t *plugin, const bp_table_t *table, uint32_t table_size);

    /* The slot of a table with at least `version`, NULL where no plugin offers it. Keep the slot's address and call
     * through it; do not copy the entries, which change with the plugin. [main] */
    const void *(BP_CALL *find)(bp_host_o *host, const char *name, uint32_t version);
} bp_registry_api;

/* Tables and remarks that a component or a system contributes to the report of a run. [main] */
typedef struct bp_report_api {
    uint32_t struct_size;
    uint32_t padding;

    /* Begin a table; `headers` are `columns` texts, of at most 32. */
    void (BP_CALL *table)(bp_report_o *report, const char *title, const char *const *headers, uint32_t columns);

    /* A row of the table begun last, as many cells as it has columns. Texts are copied. */
    void (BP_CALL *row)(bp_report_o *report, const char *const *cells);

    /* A named value outside tables: "energy drift", "2.1e-7". */
    void (BP_CALL *value)(bp_report_o *report, const char *name, const char *text);
} bp_report_api;

/* A scene in binary form: what a .bpe file holds. Checked when it is opened, then good for any number of spawns into
 * any world of its host. */
typedef struct bp_scene_o bp_scene_o;

/* The entities of one spawn. {0} is none. Good until it is despawned or released; after that it means no spawn, and the
 * number is not given to another one. */
typedef struct bp_spawn_t { uint64_t id; } bp_spawn_t;

enum {
    /* Components whose type the world does not have, or that cannot be in one entity together with those before them,
     * are left out with a warning in the log, instead of refusing the scene. */
    BP_SCENE_SKIP = 1u << 0
};

/* Scenes, since 1.1. Not from inside `simulate`, `run`, `run_all` or a destruction callback (BP_ERROR_STATE). */
typedef struct bp_scene_api {
    uint32_t struct_size;
    uint32_t padding;

    /* Open a scene's file. The file is mapped: while the scene is open, replace it by renaming, never in place.
     * [main] */
    bp_result_t (BP_CALL *open)(bp_host_o *host, const char *path, bp_scene_o **scene);

    /* Close it. What it spawned stays. NULL is allowed. [main] */
    void (BP_CALL *close)(bp_scene_o *scene);

    /* Number of entities that one spawn makes. [main] */
    uint32_t (BP_CALL *entity_count)(const bp_scene_o *scene);

    /* Spawn into a world. `entities` has room for all of them, in the scene's order, or is NULL; `spawn` is for
     * despawn later, or NULL. All or nothing. [main] */
    bp_result_t(BP_CALL *spawn)(bp_scene_o *scene, bp_world_o *world, uint32_t flags, bp_entity_t *entities,
                                bp_spawn_t *spawn);

    /* Destroy those of a spawn that still live. Returns how many died; 0 for a spawn that is none. [main] */
    uint32_t (BP_CALL *despawn)(bp_host_o *host, bp_spawn_t spawn);

    /* The entities of a spawn, dead ones too, in the scene's order. Returns their number, which may exceed `capacity`.
     * [main] */
    uint32_t (BP_CALL *spawned)(bp_host_o *host, bp_spawn_t spawn, bp_entity_t *entities, uint32_t capacity);

    /* Let the list of a spawn go; its entities stay. [main] */
    void (BP_CALL *release)(bp_host_o *host, bp_spawn_t spawn);
} bp_scene_api;

/* Writing files so that a reader finds either the old file or the new one, each whole. */
typedef struct bp_file_api {
    uint32_t struct_size;
    uint32_t padding;

    /* Put `part`, a file that the caller has written and closed, in the place of `path` in the same folder. Its bytes
     * are brought to the disk before it gets the name, and the name after it: when the process is killed or the power
     * goes, the file at `path` is the old one or the new one. Takes as long as the disk. On failure `part` is removed,
     * and the sentence begins with `path`. [main] */
    bp_result_t (BP_CALL *keep)(bp_host_o *host, const char *part, const char *path);

    /* Which file to write at the end of a run. After a run that has taken all steps of its ini (`[host] steps`), or
     * where the ini gives no number of steps, that is `path`, and `remark` is empty. A shorter run, ten steps at the
     * console, must not replace the output of a whole run: then the file is one beside `path`, "orbits.partial.svg" for
     * "orbits.svg", and `remark` says what was run, "10 of 970104 steps". Writes `file` with at most file_size bytes,
     * and `remark`, which may be NULL, with remark_size. BP_ERROR_LIMIT where `file` is too small. [main] */
    bp_result_t (BP_CALL *output)(bp_world_o *world, const char *path, char *file, size_t file_size, char *remark,
                                  size_t remark_size);
} bp_file_api;

/* All of them. */
typedef struct bp_api_t {
    uint32_t struct_size;
    uint32_t abi_major;
    uint32_t abi_minor;
    uint32_t padding;
    const bp_memory_api *memory;
    const bp_error_api *error;
    const bp_name_api *name;
    const bp_entity_api *entity;
    const bp_world_api *world;
    const bp_property_api *property;
    const bp_registry_api *registry;
    const bp_report_api *report;
    /* since 1.1 */
    const bp_command_api *command;
    const bp_scene_api *scene;
    /* since 2.0 */
    const bp_file_api *file;
} bp_api_t;

#ifdef __cplusplus
}
#endif
#endif
