/* debug_name.h - the table of the plugin debug_name: names of entities for people.
 *
 *     const bp_debug_name_api *names = api->registry->find(host, BP_DEBUG_NAME_API, 1);
 *
 * What it does not do: names need not be unique, and nothing in the engine depends on them.
 */
#ifndef BP_COMPONENTS_DEBUG_NAME_H
#define BP_COMPONENTS_DEBUG_NAME_H

#include "../bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_DEBUG_NAME_API "debug_name"

/* Its one property, in the order of declaration. */
enum { BP_DEBUG_NAME_NAME = 0 };

/* What its entries return, for the `returns` of bp_table_t. */
#define BP_DEBUG_NAME_RETURNS "cp"

typedef struct bp_debug_name_api {
    uint32_t struct_size;
    uint32_t version;

    /* Entities of the manager's world with the debug name `text`, in order of index. Returns how many there are, which
     * may exceed `capacity`; at most `capacity` are written. [main] */
    uint32_t (BP_CALL *find)(bp_manager_t *m, const char *text, bp_entity_t *entities, uint32_t capacity);

    /* The debug name of an entity, NULL where it has none. Good until the manager is called again. [main] */
    const char *(BP_CALL *name)(bp_manager_t *m, bp_entity_t entity);
} bp_debug_name_api;

#ifdef __cplusplus
}
#endif
#endif
