/* conformance.h - the duties of every component manager, as checks that can be run over any plugin.
 *
 * A check gets a rig: a host of its own with the plugin under test, a companion beside it, a memory that counts and can
 * be made to fail, and a log that is watched. The check tries what the contract (plugin_api/) promises and complains in
 * a sentence. Checks know no plugin, and learn from the plugin's own declaration which components there are, and which
 * properties, of which types and in what range.
 *
 * The checks are plain functions, so that a test can also demand that a bad plugin is complained about.
 *
 * Not here: promises of single plugins (tests/unit), systems.
 */
#ifndef HOST_CONFORMANCE_CONFORMANCE_H
#define HOST_CONFORMANCE_CONFORMANCE_H

#include <backplane.h>

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    CONFORMANCE_TEXT = 512,     /* bytes of a complaint */
    CONFORMANCE_FIELDS = 255,
    CONFORMANCE_OPTIONS = 16,   /* how many options a subject may give, at most */
    CONFORMANCE_FRIENDS = 8,    /* entities that values of type entity refer to */
    CONFORMANCE_LABELS = 16,    /* names that values of type name take */
    CONFORMANCE_CALLS = 5000    /* allocations of one call, at most, that are made to fail one after another */
};

/* One component of one plugin, and how to load it. */
typedef struct conformance_subject_t {
    char needs[1024];    /* paths of plugins that the subject needs, with blanks or line ends between them */
    char plugin[1024]; /* path of the plugin */
    char options[512];   /* "name=value name=value", likewise */
    char component[64];
    bool of_world;       /* found out: the component belongs to worlds */
    char next[1024];     /* the path of a newer version, which is to take over from `plugin`; "": `plugin` itself */
} conformance_subject_t;

/* Before each block of a rig's memory. */
typedef struct conformance_block_t {
    struct conformance_block_t *prev, *next;
    size_t size;
    size_t padding;
} conformance_block_t;

/* The memory of a rig: counts, remembers the size of every block, fails on demand. */
typedef struct conformance_memory_t {
    atomic_flag locked;      /* memory may be asked for from job threads */
    bool wrong_size;         /* a block was given back with another size than it was taken with */
    size_t bytes;
    uint64_t calls;
    uint64_t fail_at;        /* the call that fails, counted from 1; 0: none */
    conformance_block_t all; /* the ring of blocks */
} conformance_memory_t;

/* A property as declared. */
typedef struct conformance_property_t {
    bp_field_t declared;
    double min, max;      /* infinite where there is none */
    uint64_t least, most; /* of an integer: its limits, exactly, as ranks (conformance_values.c) */
    uint32_t index;
    bool refuses; /* the plugin has refused a value of the property in this rig */
    struct conformance_value_t *room; /* of an array or a list: for its values, conformance_room of them */
    void *items;                      /* likewise, packed */
} conformance_property_t;

/* A value, and room for the text that it may point to. */
typedef struct conformance_value_t {
    bp_value_t value;
    char text[256];
} conformance_value_t;

typedef struct conformance_t {
    const conformance_subject_t *subject;
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;      /* "main", with the component under test and the companion */
    uint32_t component;     /* the number of the component under test in it */
    uint32_t key;           /* the component under test under its own name */
    uint32_t companion_key; /* the companion under its own name */
    const bp_component_i *table;
    const bp_storage_i *storage; /* NULL: declared */
    bp_save_i saving;            /* NULL where the component has none */
    bool single, own_storage, of_world;
    conformance_property_t properties[CONFORMANCE_FIELDS];
    uint32_t property_count;
    conformance_property_t wholes[CONFORMANCE_FIELDS]; /* arrays and lists, which are not among `properties` */
    uint32_t whole_count;
    bp_entity_t friends[CONFORMANCE_FRIENDS];
    bp_name_t labels[CONFORMANCE_LABELS];
    conformance_memory_t memory;
    uint32_t threads;       /* of the host; 0: one */
    uint64_t digest;        /* of the values that a check has read, where the check is run twice */
    char leak[CONFORMANCE_TEXT]; /* the first line of the log about a leak */
    void **blocks;          /* of conformance_new */
    uint32_t block_count;
    char complaint[CONFORMANCE_TEXT];
    jmp_buf out;
} conformance_t;

typedef struct conformance_check_t {
    const char *name;
    void (*run)(conformance_t *c);
    uint32_t threads; /* above 0: run the check again on so many threads; the digests must be the same */
    uint32_t level;   /* 2 the contract, 3 random operations, 4 reloads, 5 failing memory and threads */
    bool asks_worlds;   /* asks components that belong to worlds, and them alone */
    const char *advice; /* how to mend the cause of a complaint */
} conformance_check_t;

extern const conformance_check_t conformance_checks[];
extern const uint32_t conformance_check_count;

/* Run one check in a rig of its own. False: `complaint` (CONFORMANCE_TEXT bytes) says what is wrong. */
bool conformance_run(const conformance_subject_t *subject, const conformance_check_t *check, char *complaint);

/* The subjects that one plugin makes: one for each component. `like` gives needs, plugin and options. Returns how many
 * there are, at most `capacity` of them written; UINT32_MAX where the plugin cannot be loaded, with a `complaint`. */
uint32_t conformance_subjects(const conformance_subject_t *like, conformance_subject_t *subjects,
                              uint32_t capacity, char *complaint);

/* --- for checks ------------------------------------------------------------------------------------ */

/* End the check with a complaint. */
_Noreturn void conformance_complain(conformance_t *c, const char *format, ...);

#define EXPECT(c, condition, ...)                   \
    do {                                            \
        if (!(condition))                           \
            conformance_complain((c), __VA_ARGS__); \
    } while (0)

/* A call that must succeed. */
#define EXPECT_OK(c, call)                                                                           \
    do {                                                                                             \
        bp_result_t result_ = (call);                                                                \
        if (result_ != BP_OK)                                                                        \
            conformance_complain((c), "%s: error %d: %s", #call, result_, bp_host_error((c)->host)); \
    } while (0)

/* A call that must be refused with `code` and a sentence. */
#define EXPECT_REFUSED(c, code, call)                                                                      \
    do {                                                                                                   \
        conformance_forget_error(c);                                                                       \
        bp_result_t result_ = (call);                                                                      \
        if (result_ != (code))                                                                             \
            conformance_complain((c), "%s: result %d instead of %d: %s", #call, result_, (int)(code),      \
                                 bp_host_error((c)->host));                                                \
        if (bp_host_error((c)->host)[0] == '\0')                                                           \
            conformance_complain((c), "%s: error %d without a sentence", #call, result_);                  \
    } while (0)

/* Empty the text of the host's last error, so that an old error is not taken for a new one. */
void conformance_forget_error(conformance_t *c);

/* Complain where `what` has failed and has left no sentence since the last error was forgotten. */
void conformance_expect_sentence(conformance_t *c, bp_result_t result, const char *what);

/* Cleared memory that lives as long as the rig. */
void *conformance_new(conformance_t *c, size_t size);

/* Let the n-th allocation from now on fail; and end that. True where the allocation has been asked for. */
void conformance_starve(conformance_t *c, uint64_t n);
bool conformance_feed(conformance_t *c, uint64_t n);

/* Load the plugin under test once more after its unloading, and read its declaration again. */
void conformance_load_again(conformance_t *c);

/* Read the declaration of the plugin under test again, after another version has been loaded. */
void conformance_learn_again(conformance_t *c);

/* Bring the component under test and the companion into a further world. */
bp_world_o *conformance_world(conformance_t *c, const char *name);

/* The key of the component under test as `name` ("" for its own) in a world. */
uint32_t conformance_key(conformance_t *c, bp_world_o *world, const char *name);

/* `count` new entities with the component under its own name; with the companion as well. */
bp_entity_t *conformance_create(conformance_t *c, uint32_t count);
bp_entity_t *conformance_create_both(conformance_t *c, uint32_t count);

/* Write a number to an entity's companion; complain unless it is there. */
void conformance_tag(conformance_t *c, bp_world_o *world, bp_entity_t e, uint32_t tag);
void conformance_expect_tag(conformance_t *c, bp_world_o *world, bp_entity_t e, uint32_t tag,
                            const char *when);

/* Number of instances. */
uint32_t conformance_count(conformance_t *c, bp_world_o *world);

/* --- values (conformance_values.c) ----------------------------------------------------------------- */

/* The declared default of a property. False where its text cannot be understood here (an entity other than
 * none). */
bool conformance_default(conformance_t *c, const conformance_property_t *p, conformance_value_t *value);

/* Of one value of an array. */
void conformance_default_item(conformance_t *c, const conformance_property_t *p, uint32_t number,
                              conformance_value_t *value);

/* A value in range that depends on nothing but property and seed. Seed 0 gives the default. */
void conformance_value(conformance_t *c, const conformance_property_t *p, uint64_t seed,
                       conformance_value_t *value);

/* Bits of an integer type, negative where it is signed; 0 for other types. */
int conformance_bits(uint32_t type);

/* Read the limits that the property declares: numbers, and of an integer what no double may hold. */
void conformance_learn_limits(conformance_property_t *p);

/* The integer just below the least or above the greatest that is allowed; false where the type has none. */
bool conformance_beyond(const conformance_property_t *p, bool above, bp_value_t *value);

/* Are two values the same: bit for bit, texts by their characters, rotations up to their length? */
bool conformance_same(uint32_t type, const void *a, const void *b);

/* A text form for complaints. Returns `text`, CONFORMANCE_TEXT bytes. */
const char *conformance_show(uint32_t type, const void *value, char *text);

/* The bytes of a value of a type. */
size_t conformance_size(uint32_t type);

bool conformance_is_writable(const conformance_property_t *p);

/* Resolve a property of the component under the name `instance` ("" for its own), of the entity. */
bp_property_t conformance_resolve(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                                  const conformance_property_t *p);

/* Complain unless the property has this value. `when` goes into the sentence. */
void conformance_expect_value(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                              const conformance_property_t *p, const bp_value_t *expected, const char *when);

/* Set all writable properties, arrays and lists to the values of a seed; they stay as they are where the plugin refuses
 * the value. */
void conformance_dress(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                       uint64_t seed);

/* Complain unless all properties have the values that conformance_dress gives a new instance; where values of a
 * property have been refused, its default will do as well. */
void conformance_expect_dressed(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                                uint64_t seed, const char *when);

/* Set a property to a value; true where the plugin takes the value, false where it refuses. */
bool conformance_set(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                     conformance_property_t *p, const bp_value_t *value);

/* --- the checks, by file --------------------------------------------------------------------------- */

/* conformance_life.c */
void check_declaration(conformance_t *c);
void check_creates_by_count(conformance_t *c);
void check_adds_and_removes(conformance_t *c);
void check_batches_are_all_or_nothing(conformance_t *c);
void check_names_of_instances(conformance_t *c);
void check_death(conformance_t *c);
void check_collection(conformance_t *c);
void check_worlds_are_independent(conformance_t *c);
void check_stops_with_living_instances(conformance_t *c);
void check_unloads_with_living_instances(conformance_t *c);
void check_save_and_load(conformance_t *c);
void check_creates_with_values(conformance_t *c);
void check_threads_agree(conformance_t *c);

/* conformance_properties.c */
void check_defaults(conformance_t *c);
void check_round_trip(conformance_t *c);
void check_round_trip_in_batches(conformance_t *c);
void check_round_trip_as_text(conformance_t *c);
void check_read_only(conformance_t *c);
void check_range(conformance_t *c);
void check_refusals(conformance_t *c);

/* conformance_reload.c */
void check_reload(conformance_t *c);

/* A reload over itself or over an older version, in steps: what was declared before; the reload; comparing an entity
 * that was dressed before. NULL where the plugin has no file. */
typedef struct conformance_reload_t conformance_reload_t;
conformance_reload_t *conformance_reload_begin(conformance_t *c);
void conformance_reload_make(conformance_t *c, conformance_reload_t *reload);
void conformance_reload_expect(conformance_t *c, const conformance_reload_t *reload, bp_entity_t e, uint64_t seed);

/* conformance_memory.c */
void check_out_of_memory(conformance_t *c);

/* conformance_own.c */
void check_belongs_to_worlds(conformance_t *c);
void check_worlds_are_saved_with_it(conformance_t *c);
void check_worlds_are_reloaded_with_it(conformance_t *c);

/* conformance_lists.c */
void check_wholes(conformance_t *c);

/* The values of an array or a list at the most, and one more. */
uint32_t conformance_room(const conformance_property_t *p);

/* Write the values of a seed, packed, which depend on nothing but property and seed. Seed 0 gives the default. */
void conformance_whole(conformance_t *c, const conformance_property_t *p, uint64_t seed, void *items);

/* Set them all; true where the plugin takes them. And complain unless they are there. */
bool conformance_set_whole(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                           conformance_property_t *p, uint64_t seed);
void conformance_expect_whole(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                              const conformance_property_t *p, uint64_t seed, const char *when);

/* conformance_churn.c */
void check_churn(conformance_t *c);
void check_churn_with_steps(conformance_t *c);

#endif
