/* compile_inner.h - a scene between its JSON and its blob: what the files compile*.c share.
 *
 * The stages, each a file:
 *   compile_entities.c  templates (`prototypes` in the JSON), each with all that it inherits
 *   compile_values.c  descriptions of components laid over inherited ones: a draft of an entity
 *   compile_entities.c    entities, their counts and children, as nodes; their drafts become rows of groups
 *   compile_groups.c    groups of entities with the same components, and the columns of their values
 *   compile_names.c       names of entities, and references to them
 *   compile_blob.c        the groups as a blob
 *   compile_worlds.c a scene of several worlds: a blob for each, and which entities of them are the same
 *
 * A node is an object in the scene, whatever its `count`: a million entities that are alike are one node. Its entities
 * are numbered by its own count and those of the nodes it is a child of, outermost first, as the digits of one number.
 *
 * Texts are borrowed from the JSON until the blob is written.
 *
 * Not here: worlds.
 */
#ifndef HOST_SCENE_COMPILE_INNER_H
#define HOST_SCENE_COMPILE_INNER_H

#include "../base/error.h"
#include "../plugin/registry.h"
#include "compile.h"
#include "json.h"

/* --- types ------------------------------------------------------------------------------------------------------- */

/* The component types that a scene may name: those of all plugins that are loaded.
 *
 * Types are numbered in the order in which a scene is spawned: by spawn order, then by name. So the same scene gives
 * the same blob whatever order the plugins were loaded in.
 *
 * Not here: reading JSON.
 */

typedef struct json_type_t {
    const component_t *component;
    bp_name_t hash;
} json_type_t;

typedef struct json_types_t {
    memory_t *memory;
    json_type_t *items;
    uint32_t count;
    uint32_t room;
    uint32_t *buckets;   /* open addressing by hash; number + 1, 0 is free */
    uint32_t capacity; /* a power of two */
} json_types_t;

/* All component types of the registry that a plugin fills. [main] */
bp_result_t json_types_init(json_types_t *types, memory_t *memory, const registry_t *registry, error_text_t *error);
void json_types_free(json_types_t *types);

/* The number of a type, BP_NONE where no plugin brings it. [any] */
uint32_t json_types_find(const json_types_t *types, const char *name);

/* "; did you mean 'point_mass'? (there are ...)": a hint to put behind the sentence about an unknown type. [any] */
const char *json_types_hint(const json_types_t *types, const char *wanted, text_t *hint);

/* The number of a field, BP_NONE where the type has none of that name. [any] */
uint32_t json_types_field(const component_t *component, const char *name);

/* The number of the field that had this name in an earlier version of the plugin; BP_NONE where none was. */
uint32_t json_types_former(const component_t *component, const char *name);

/* The hint for an unknown property: "; did you mean 'mass'? (it has ...)". [any] */
const char *json_types_field_hint(const component_t *component, const char *wanted, text_t *hint);

enum {
    SCENE_MAX_PARTS = 255,      /* components of an entity */
    SCENE_MAX_NAME = 255,       /* bytes of an entity's or a template's name */
    SCENE_MAX_DIMENSIONS = 16   /* counts within counts */
};
#define SCENE_MAX_ENTITIES (UINT32_MAX - 1)

/* --- names to numbers --------------------------------------------------------------------------------------------- */

typedef struct scene_name_t {
    bp_name_t hash;
    const char *text;
    uint32_t number;
} scene_name_t;

typedef struct scene_names_t {
    scene_name_t *buckets; /* open addressing; text NULL is free */
    uint32_t capacity, count;
} scene_names_t;

/* --- drafts: the components of one entity, or of a template ------------------------------------------------------- */

enum {
    CELL_UNSET,   /* the scene says nothing: the default, the parent, or the label */
    CELL_DEFAULT, /* the scene says null */
    CELL_VALUE,
    CELL_LIST     /* a value for each instance of a count */
};

typedef struct scene_cell_t {
    uint32_t kind;
    uint32_t template; /* in which the value stands; BP_NONE: in the entity itself */
    const tree_item_t *list;
    bp_value_t value;     /* of strings, names and entities: the text; of arrays and lists u32: the number of the bundle
                             + 1 */
} scene_cell_t;

typedef struct scene_part_t {
    uint32_t type;
    uint32_t cells; /* where its cells begin in the draft: one for each field */
    bp_name_t hash;
    const char *name;
} scene_part_t;

typedef struct scene_draft_t {
    scene_part_t *parts;
    scene_cell_t *cells;
    uint32_t part_count, part_capacity;
    uint32_t cell_count, cell_capacity;
    bool changed; /* the draft has other parts than it began with */
} scene_draft_t;

typedef struct scene_template_t {
    const char *name;
    const tree_item_t *object;
    scene_draft_t draft;
    uint32_t extends;
    uint32_t state; /* of resolving */
    uint32_t group; /* of entities that have just its components; BP_NONE: not known yet */
} scene_template_t;

/* --- groups: entities with the same components, their values in columns ------------------------------------------- */

typedef struct scene_column_t {
    const field_t *field;
    uint32_t size;        /* of a cell: pointers for strings and names, numbers for entities and for bundles */
    uint32_t rows;
    bool varied;          /* else all cells are `first` */
    bool said;            /* some row has a value that the scene gives: not left to the default */
    uint32_t capacity;
    char *cells;
    bp_value_t first;
} scene_column_t;

typedef struct scene_group_t {
    scene_part_t *parts; /* sorted; cells is the number of the part's first column */
    scene_column_t *columns;
    uint32_t part_count, column_count;
    uint32_t rows;
    uint32_t first; /* entity, once all are known */
    uint64_t hash;
} scene_group_t;

/* --- nodes -------------------------------------------------------------------------------------------------------- */

typedef struct scene_node_t {
    const tree_item_t *object;
    const char *name; /* NULL: none */
    uint32_t parent;  /* node, or BP_NONE */
    uint32_t place;   /* in the list it stands in */
    uint32_t count;
    uint32_t total;   /* entities: its count times its parent's total */
    uint32_t counted; /* the innermost node with a count above 1, from this node outwards; BP_NONE: there is none */
    uint32_t dimensions; /* how many such nodes there are */
    uint32_t group, row; /* of its first entity; group is BP_NONE where the entities are not in the world in work */
    bool world;       /* what belongs to the world itself: `object` is its components */
    uint32_t in;     /* the world in which it stands; 0 in a scene that names none */
    uint32_t of;     /* the node of another world that has the same entities; BP_NONE: they are its own */
    uint32_t here;   /* the node of the world in work that has the same entities; BP_NONE: none */
    uint32_t latest; /* the last world, + 1, in which these entities have been met */
    uint32_t first;  /* of its entities, among those of all worlds */
} scene_node_t;

/* Entities that some column refers to, by text; found when all names are known. */
typedef struct scene_ref_t {
    uint32_t node, column; /* of the node's group */
    uint32_t template;    /* where the text stands; BP_NONE: in the entity */
    const char *text;      /* NULL: the list's; of a parent, neither */
    const tree_item_t *list;
    bool bundles;          /* the column holds numbers of bundles of texts */
} scene_ref_t;

/* The values of one array or list (compile_lists.c). */
typedef struct scene_bundle_t {
    const field_t *field;
    uint64_t first;  /* in scene_t.bundle_bytes: texts as pointers, entities as numbers + 1 once they are known, others
                        as they are */
    uint64_t hash;
    uint32_t count;
    bool resolved;   /* entities that are numbers */
} scene_bundle_t;

/* Labels made from a name and the numbers of its instances. */
typedef struct scene_labels_t {
    char *texts;
    size_t size;
} scene_labels_t;

typedef struct scene_t {
    base_t *base;
    const char *remarked; /* the field that was last found by its former name */
    memory_t memory;
    error_text_t *error;
    json_text_t text;
    json_types_t types;
    const tree_item_t *worlds; /* NULL: the scene names none */
    /* From here on: of the world in work (compile_worlds.c begins each with zeros). */
    scene_template_t *templates;
    scene_names_t template_names, entity_names;
    scene_node_t *nodes;
    scene_group_t *groups;
    uint32_t *group_buckets; /* open addressing by hash; number + 1 */
    scene_ref_t *refs;
    scene_labels_t *labels;
    scene_bundle_t *bundles;
    char *bundle_bytes;
    uint64_t bundle_bytes_used;
    uint32_t *bundle_buckets; /* open addressing by hash; number + 1 */
    scene_draft_t draft;   /* of the entity in work */
    uint32_t template_count, template_capacity;
    uint32_t node_count, node_capacity;
    uint32_t group_count, group_capacity, group_bucket_count;
    uint32_t ref_count, ref_capacity;
    uint32_t label_count, label_capacity;
    uint32_t bundle_count, bundle_capacity, bundle_bucket_count;
    uint32_t bundle_words; /* room in bundle_bytes, by eight */
    uint64_t entity_count;     /* in the world in work */
    uint64_t all_count;        /* in all worlds */
    uint32_t world;            /* in work */
    uint32_t attached;         /* the group of entities that others refer to and that have no components here */
    bool has_parents, has_set_parents; /* by children; by a property */
} scene_t;

/* --- places and failures (compile_fail.c) ------------------------------------------------------------------------- */

/* A place in the scene, for messages: a node or a template, a member of it, and within components, which and what. */
typedef struct scene_place_t {
    uint32_t node, template; /* BP_NONE: not that; both: the scene itself */
    const char *member;       /* "components", "count" ...; NULL: the whole */
    const char *component, *property;
    size_t element;           /* of a list; SIZE_MAX: not in one */
} scene_place_t;

static inline scene_place_t scene_place_node(uint32_t node, const char *member)
{
    return (scene_place_t){node, BP_NONE, member, NULL, NULL, SIZE_MAX};
}

static inline scene_place_t scene_place_template(uint32_t template, const char *member)
{
    return (scene_place_t){BP_NONE, template, member, NULL, NULL, SIZE_MAX};
}

/* The name that the scene gives a world by its number; "" where it gives none. */
const char *scene_world_name(const scene_t *scene, uint32_t world);

/* Set the error to place and sentence, return `code`; or put the place before a sentence that is there. */
bp_result_t scene_fail(scene_t *scene, bp_result_t code, const scene_place_t *place, const char *format, ...)
    PRINTF_LIKE(4, 5);
bp_result_t scene_fail_at(scene_t *scene, bp_result_t code, const scene_place_t *place);
bp_result_t scene_no_memory(scene_t *scene);

/* Free what was made of the world in work (compile_worlds.c). */
void scene_free_world(scene_t *scene);

/* Could `count` items of `size` bytes fit into memory? A short text with counts may stand for billions of entities. */
bool scene_could_hold(const scene_t *scene, uint64_t count, uint64_t size);

/* Is a member's key one that scenes ignore: "$schema", "// a remark"? */
static inline bool scene_ignores(const char *key)
{
    return key[0] == '$' || (key[0] == '/' && key[1] == '/');
}

/* Does the text of a reference stand for no entity? */
static inline bool scene_names_no_entity(const char *text)
{
    return text[0] == '\0' || strcmp(text, "none") == 0;
}

/* Are all members of `object` among `known` (ended by NULL) or ignored? */
bp_result_t scene_check_members(scene_t *scene, const scene_place_t *place, const tree_item_t *object,
                                const char *const *known, const char *what);

/* A name: the string at `member`, not empty and not too long; NULL where the object has none. */
bp_result_t scene_read_name(scene_t *scene, const scene_place_t *place, const tree_item_t *object, const char *member,
                            const char **name);

/* --- the stages --------------------------------------------------------------------------------------------------- */

/* compile_names.c */
scene_name_t *scene_names_find(const scene_names_t *names, const char *text);
/* precondition: `text` is not in the table yet */
bp_result_t scene_names_add(scene_t *scene, scene_names_t *names, const char *text, uint32_t number);
bp_result_t scene_check_names(scene_t *scene);
/* the nodes with counts that number its entities */
uint32_t scene_dimensions(const scene_t *scene, uint32_t node, uint32_t *counted);
/* "name[2]", `stride` bytes apart */
bp_result_t scene_labels(scene_t *scene, uint32_t node, const char **texts, size_t *stride);
bp_result_t scene_resolve_refs(scene_t *scene);
bp_result_t scene_number_of(scene_t *scene, const scene_ref_t *ref, uint32_t row, uint32_t item, const char *text,
                            uint32_t *number, bool *alike);

/* compile_lists.c */
/* of the bundle, + 1 */
bp_result_t scene_read_bundle(scene_t *scene, const field_t *field, const tree_item_t *json, uint32_t *number);
bool scene_is_list_of_bundles(const field_t *field, const tree_item_t *json); /* one for each instance? */
const void *scene_bundle_items(const scene_t *scene, uint32_t number, uint32_t *count);
bp_result_t scene_resolve_bundles(scene_t *scene, const scene_ref_t *ref, uint32_t *cells); /* of the node's rows */
void scene_bundles_free(scene_t *scene);

/* compile_entities.c */
bp_result_t scene_read_templates(scene_t *scene);
/* "extends" */
bp_result_t scene_find_template(scene_t *scene, const scene_place_t *place, const tree_item_t *object,
                                uint32_t *template);

/* compile_values.c */
void scene_draft_free(scene_t *scene, scene_draft_t *draft);
bp_result_t scene_draft_copy(scene_t *scene, scene_draft_t *draft, const scene_draft_t *from);
bp_result_t scene_draft_describe(scene_t *scene, scene_draft_t *draft, const scene_place_t *place,
                                 const tree_item_t *components, bool lists);
void scene_draft_sort(scene_draft_t *draft);

/* compile_groups.c */
/* the last; not in the table */
bp_result_t scene_make_group(scene_t *scene, const scene_draft_t *draft, uint64_t hash);
bp_result_t scene_find_group(scene_t *scene, const scene_place_t *place, const scene_draft_t *sorted, uint32_t *group);
bp_result_t scene_column_append(scene_t *scene, scene_column_t *column, const void *cell, uint32_t rows);
/* varied, with room; NULL: no memory */
char *scene_column_spread(scene_t *scene, scene_column_t *column, uint32_t more);
void scene_cell_bytes(const scene_t *scene, const field_t *field, const scene_cell_t *cell, bp_value_t *bytes);
void scene_groups_free(scene_t *scene);

/* compile_entities.c */
bp_result_t scene_read_entities(scene_t *scene);
/* "world": the components of the world itself */
bp_result_t scene_read_world(scene_t *scene, const scene_place_t *place, const tree_item_t *components, uint32_t in);
/* those of a list, and all below them */
bp_result_t scene_read_list(scene_t *scene, const scene_place_t *place, const tree_item_t *list, uint32_t world);

/* compile_worlds.c */
bp_result_t scene_read_worlds(scene_t *scene);
bp_result_t scene_read_of(scene_t *scene, uint32_t node); /* "entity" */
/* count, total and counts of such a node */
bp_result_t scene_count_of(scene_t *scene, uint32_t node);
/* the node that has these entities in the world in work; where there is none they come along without components */
uint32_t scene_here(scene_t *scene, uint32_t node);
/* a group without components, the last one; and dropping it where it has got no entity */
bp_result_t scene_make_attached(scene_t *scene);
void scene_drop_attached(scene_t *scene);

/* all worlds, by `compile`, which makes the blob of one */
typedef bp_result_t (*scene_compile_world_t)(scene_t *scene, memory_t *memory, void **bytes, size_t *size);
bp_result_t scene_compile_worlds(scene_t *scene, memory_t *memory, scene_compile_world_t compile, void **bytes,
                                 size_t *size);

/* compile_blob.c */
/* the block is from `memory` */
bp_result_t scene_write_blob(scene_t *scene, memory_t *memory, void **bytes, size_t *size);

/* --- value ------------------------------------------------------------------------------------------------------- */

/* One value of JSON as a value of a declared field.
 *
 * Every type is taken in JSON's own form (numbers, true and false, lists of numbers, strings), and as the text that the
 * console and the ini use, in a string: "0 0 1", "#ff8000", "true".
 *
 * Values of type entity stay texts here, since only the scene knows the names; strings and names stay texts too, which
 * the writer of the blob collects.
 *
 * Not here: resolving references (compile_names.c).
 */

/* Read `json` as a value of `field`: its type and its range. For strings, names and entities value->string is the text
 * inside `json`. On failure the error says what would be right, but not where. [main] */
bp_result_t json_value_read(const value_context_t *context, const field_t *field, const tree_item_t *json,
                            bp_value_t *value, error_text_t *error);

/* Is `json` a list with one value for each of several entities, rather than one value? True of every list for a type
 * that is no list itself; else of lists that do not begin with a number. [any] */
bool json_value_is_list(uint32_t type, const tree_item_t *json);

/* The kind of a value for messages: "a number", "a string". [any] */
const char *json_value_kind(const tree_item_t *json);

#endif
