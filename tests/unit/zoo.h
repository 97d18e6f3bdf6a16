/* zoo.h - plugins for the tests of the host, linked in: a component of every kind there is.
 *
 *   zoo      body (simulates, parallel), label (strings, limits), fx (several an entity), flag (no fields),
 *            mark (one field), once (collected at once, single), sample (a field of every type), bag (arrays and lists)
 *   stocks   pool (own storage, collects its dead itself), told (own storage, told of each death),
 *            mute (own storage, nothing can be set)
 *
 * The own-storage components check what the contract promises them: whom they are created for, slots in
 * descending order, none out of bounds. Their instances can be read here, so that tests can compare them
 * with the records of the world.
 *
 * What it does not do: nothing here is an example of good style for plugins; see plugins/ for that.
 */
#ifndef TESTS_UNIT_ZOO_H
#define TESTS_UNIT_ZOO_H

#include <bp_plugin.h>

enum { ZOO_PLUGINS = 2 };
extern const bp_plugin_head_t *const zoo_plugins[ZOO_PLUGINS];
extern const char *const zoo_components[]; /* ends with NULL */

enum { BODY_MASS, BODY_POSITION, BODY_VELOCITY, BODY_ACCELERATION };
enum { LABEL_TEXT, LABEL_RANK, LABEL_HOME, LABEL_KIND };
enum { FX_ENABLED, FX_COLOUR, FX_STRENGTH };
enum { ONCE_COUNT, ONCE_NOTE, ONCE_HOUR, ONCE_PLACE };
enum {
    BAG_SLOTS,
    BAG_MARKS,
    BAG_WORDS,
    BAG_KINDS,
    BAG_TARGETS,
    BAG_HITS,
    BAG_TAGS,
    BAG_FRIENDS,
    BAG_PATH,
    BAG_MOODS,
    BAG_NAMES
};
enum { STOCK_NUMBER, STOCK_TEXT, STOCK_SERIAL };

/* What an own-storage component keeps for each instance. */
typedef struct stock_item_t {
    bp_entity_t entity;
    bp_name_t instance;
    int64_t number;
    uint32_t serial;
    char *text; /* NULL: "" */
} stock_item_t;

/* The state of the managers of pool, told and mute. */
typedef struct stock_t {
    stock_item_t *items;
    uint32_t count, capacity;
    uint32_t created, ended;       /* instances, ever */
    uint32_t destroy_calls, steps;
    uint32_t refuse_creates;       /* so many creations fail from now on */
    uint32_t convoy, convoy_prototype; /* the next creation makes so many entities of its own first */
    uint32_t meddles;              /* creations try to change the very entities that are being created */
    uint32_t next_serial;
    uint32_t saw_components; /* entities that already had the component when asked from inside `create` */
} stock_t;

#endif
