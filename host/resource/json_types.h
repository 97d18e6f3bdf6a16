/* json_types.h - the component types that a scene may name: those of all plugins that are loaded.
 *
 * Types are numbered in the order in which a scene is spawned: by spawn order, then by name. So the same scene gives the
 * same blob whatever order the plugins were loaded in.
 *
 * What it does not do: it reads no JSON.
 */
#ifndef HOST_RESOURCE_JSON_TYPES_H
#define HOST_RESOURCE_JSON_TYPES_H

#include "../base/text.h"
#include "../plugin/registry.h"

typedef struct json_type_t {
    const component_t *component;
    bp_name_t hash;
    bool opaque; /* its manager compiles its descriptions itself */
} json_type_t;

typedef struct json_types_t {
    memory_t *memory;
    json_type_t *items;
    uint32_t count;
    uint32_t room;
    uint32_t *slots;   /* open addressing by hash; number + 1, 0 is free */
    uint32_t capacity; /* a power of two */
} json_types_t;

/* Every component type of the registry that some plugin fills. [main] */
bp_result_t json_types_init(json_types_t *types, memory_t *memory, const registry_t *registry, error_text_t *error);
void json_types_free(json_types_t *types);

/* The number of a type, BP_NONE where no plugin brings it. [any] */
uint32_t json_types_find(const json_types_t *types, const char *name);

/* "; did you mean 'point_mass'? (there are ...)": what may follow the sentence about an unknown type. [any] */
const char *json_types_hint(const json_types_t *types, const char *wanted, text_t *hint);

/* The number of a field, BP_NONE where the type has none of that name. [any] */
uint32_t json_types_field(const component_t *component, const char *name);

/* The same for an unknown property: "; did you mean 'mass'? (it has ...)". [any] */
const char *json_types_field_hint(const component_t *component, const char *wanted, text_t *hint);

#endif
