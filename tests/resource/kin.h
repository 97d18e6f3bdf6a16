/* kin.h - components with storage of their own that use all that a scene offers such a manager.
 *
 *   kin     refers to entities: `parent` (says who the parent is), `friend`; has `label`; spawn order -5
 *   vault   has a secret that creation tells; nothing of it can be set
 *   tag     declared, with a parent and a reading that only it writes
 *
 * What it does not do: it is no example of good style; every verb checks what the contract promises.
 */
#ifndef TESTS_RESOURCE_KIN_H
#define TESTS_RESOURCE_KIN_H

#include <bp_plugin.h>

extern const bp_plugin_head_t kin_plugin;

enum { KIN_PARENT, KIN_FRIEND, KIN_LABEL, KIN_WEIGHT, KIN_DEPTH };

typedef struct kin_item_t {
    bp_entity_t entity, parent, friend;
    bp_name_t instance;
    char label[32];
    float weight;
    uint32_t secret; /* of a vault */
} kin_item_t;

typedef struct kin_t {
    kin_item_t items[4096];
    uint32_t count;
    uint32_t create_calls, with_calls, set_calls; /* with_calls: those of create that had columns */
    uint32_t refuse_after; /* calls of create or set that still succeed; BP_NONE: all */
    uint32_t at_create;    /* instances of the other type when the first of this one came */
} kin_t;

#endif
