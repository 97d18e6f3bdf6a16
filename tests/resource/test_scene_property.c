/* test_scene_property.c - random scenes, compiled and spawned, against what they say taken word by word.
 *
 * A scene is drawn at random as layers (prototypes, entities) of what is said about each property, written as JSON,
 * compiled and spawned. The expectation is worked out anew for each single entity, by walking its layers: no groups, no
 * columns, no counts. Entities are told apart by their labels, which also says that these are right.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "../suites.h"
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 5, PROTOTYPES = 5, MOST_NODES = 60, MOST_LABEL = 64, SEEDS = 120 };
enum { NOTHING, NULLED, VALUE, LIST, PARENT, ENTITY };

typedef struct slot_t {
    const char *name, *type;
} slot_t;

static const slot_t slots[SLOTS] = {{"body", "body"},
                                    {"glow", "fx"},
                                    {"haze", "fx"},
                                    {"label", "label"},
                                    {"mark", "mark"}};

typedef struct property_t {
    uint32_t slot;
    const char *name;
    uint32_t type;
} property_t;

static const property_t properties[] = {
    {0, "mass", BP_F32},     {0, "position", BP_VEC3}, {1, "enabled", BP_BOOL}, {1, "colour", BP_COLOUR},
    {1, "strength", BP_F64}, {2, "enabled", BP_BOOL},  {2, "strength", BP_F64}, {3, "text", BP_STRING},
    {3, "rank", BP_I32},     {3, "kind", BP_NAME},     {3, "home", BP_ENTITY},  {4, "value", BP_U32},
};

enum { PROPERTIES = sizeof properties / sizeof properties[0] };

/* What one prototype or entity says of one property. */
typedef struct word_t {
    uint32_t kind;
    uint32_t values[3];
    uint32_t node;     /* ENTITY */
    uint32_t digits[3];
} word_t;

typedef struct layer_t {
    uint32_t said[SLOTS]; /* NOTHING, NULLED or VALUE: the component is there */
    word_t words[PROPERTIES];
} layer_t;

typedef struct node_t {
    int32_t parent;    /* -1: none */
    uint32_t count;    /* 0: not said */
    int32_t prototype; /* -1: none */
    layer_t own;
} node_t;

typedef struct scene_t {
    uint64_t random;
    layer_t prototypes[PROTOTYPES];
    int32_t extends[PROTOTYPES];
    node_t nodes[MOST_NODES];
    uint32_t node_count;
} scene_t;

static stage_t stage;
static bp_world_o *world;
static scene_t scene;

static uint32_t below(uint32_t bound)
{
    return bp_random_below(&scene.random, bound);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* The n-th value of a type as the console writes it; and in JSON. */
static void value_text(uint32_t type, uint32_t n, char *text, size_t size)
{
    switch (type) {
    case BP_F32: snprintf(text, size, "%g", n * 0.25); break;
    case BP_VEC3: snprintf(text, size, "%g %g %g", n * 1.0, n * 0.5, n > 0 ? n * -1.0 : 0.0); break;
    case BP_BOOL: snprintf(text, size, "%s", n % 2 == 0 ? "true" : "false"); break;
    case BP_COLOUR: snprintf(text, size, "%g 0.5 0.25 1", n % 5 * 0.25); break;
    case BP_F64: snprintf(text, size, "%g", n % 5 * 0.25); break;
    case BP_STRING: snprintf(text, size, "text %u", n); break;
    case BP_NAME: snprintf(text, size, "name_%u", n); break;
    case BP_I32: snprintf(text, size, "%d", (int)(n % 21) - 10); break;
    default: snprintf(text, size, "%u", n); break;
    }
}

static void write_value(FILE *file, uint32_t type, uint32_t n)
{
    char text[64];
    value_text(type, n, text, sizeof text);
    bool list = type == BP_VEC3 || type == BP_COLOUR, quoted = type == BP_STRING || type == BP_NAME || below(4) == 0;
    if (list && !quoted) {
        for (char *c = text; *c != '\0'; c++)
            *c = *c == ' ' ? ',' : *c;
    }
    fprintf(file, quoted ? "\"%s\"" : list ? "[%s]" : "%s", text);
}

/* --- drawing a scene ---------------------------------------------------------------------------------------------- */

/* The nodes whose counts number the entities of a node, outermost first. */
static uint32_t counted(uint32_t node, uint32_t *chain)
{
    uint32_t backwards[8], count = 0;
    for (int32_t at = (int32_t)node; at >= 0; at = scene.nodes[at].parent) {
        if (scene.nodes[at].count > 1)
            backwards[count++] = (uint32_t)at;
    }
    for (uint32_t i = 0; i < count; i++)
        chain[i] = backwards[count - 1 - i];
    return count;
}

static void draw_word(word_t *word, const property_t *property, uint32_t count, int32_t parent)
{
    *word = (word_t){.kind = below(3) == 0 ? NOTHING : below(6) == 0 ? NULLED : VALUE};
    for (uint32_t i = 0; i < 3; i++)
        word->values[i] = below(50);
    if (word->kind == VALUE && count > 0 && below(2) == 0)
        word->kind = LIST;
    if (property->type != BP_ENTITY || word->kind < VALUE)
        return;
    uint32_t chain[8];
    word->kind = parent >= 0 && below(2) == 0 ? PARENT : scene.node_count > 0 ? ENTITY : NOTHING;
    word->node = word->kind == ENTITY ? below(scene.node_count) : 0;
    for (uint32_t i = 0, n = word->kind == ENTITY ? counted(word->node, chain) : 0; i < n; i++)
        word->digits[i] = below(scene.nodes[chain[i]].count);
}

/* What is inherited decides what may be removed. */
static void draw_layer(layer_t *layer, const bool *inherited, uint32_t count, int32_t parent)
{
    memset(layer, 0, sizeof *layer);
    for (uint32_t s = 0; s < SLOTS; s++)
        layer->said[s] = below(2) == 0 ? NOTHING : inherited[s] && below(4) == 0 ? NULLED : VALUE;
    for (uint32_t p = 0; p < PROPERTIES; p++) {
        if (layer->said[properties[p].slot] == VALUE)
            draw_word(&layer->words[p], &properties[p], count, parent);
    }
}

static void find_inherited(int32_t prototype, bool *inherited)
{
    if (prototype < 0)
        return;
    find_inherited(scene.extends[prototype], inherited);
    for (uint32_t s = 0; s < SLOTS; s++) {
        uint32_t said = scene.prototypes[prototype].said[s];
        inherited[s] = said == VALUE || (inherited[s] && said != NULLED);
    }
}

static void draw_prototypes(void)
{
    for (int32_t i = 0; i < PROTOTYPES; i++) {
        bool inherited[SLOTS] = {false};
        scene.extends[i] = (int32_t)below((uint32_t)i + 1) - 1;
        find_inherited(scene.extends[i], inherited);
        draw_layer(&scene.prototypes[i], inherited, 0, -1);
    }
}

static void draw_nodes(int32_t parent, uint32_t depth)
{
    for (uint32_t n = below(depth == 0 ? 6 : 4); n > 0 && scene.node_count < MOST_NODES; n--) {
        bool inherited[SLOTS] = {false};
        node_t *node = &scene.nodes[scene.node_count];
        *node = (node_t){.parent = parent,
                         .count = below(2) == 0 ? 0 : 1 + below(3),
                         .prototype = (int32_t)below(PROTOTYPES + 2) - 2};
        node->prototype = node->prototype < 0 ? -1 : node->prototype;
        find_inherited(node->prototype, inherited);
        draw_layer(&node->own, inherited, node->count, parent);
        scene.node_count++;
        if (depth < 2)
            draw_nodes((int32_t)(node - scene.nodes), depth + 1);
    }
}

/* --- as JSON ------------------------------------------------------------------------------------------------------ */

static void label_of(uint32_t node, const uint32_t *digits, char *text)
{
    uint32_t chain[8], count = counted(node, chain);
    int used = snprintf(text, MOST_LABEL, "e%u", node);
    for (uint32_t i = 0; i < count; i++)
        used += snprintf(text + used, MOST_LABEL - (size_t)used, "[%u]", digits[i]);
}

static void write_word(FILE *file, const word_t *word, uint32_t type, uint32_t count, int32_t parent)
{
    char label[MOST_LABEL];
    switch (word->kind) {
    case NULLED: fprintf(file, "null"); break;
    case VALUE: write_value(file, type, word->values[0]); break;
    case PARENT: fprintf(file, "\"e%d\"", parent); break;
    case ENTITY:
        label_of(word->node, word->digits, label);
        fprintf(file, "\"%s\"", label);
        break;
    default:
        fprintf(file, "[");
        for (uint32_t i = 0; i < count; i++) {
            fprintf(file, "%s", i > 0 ? "," : "");
            if (word->values[i] % 7 == 0)
                fprintf(file, "null");
            else
                write_value(file, type == BP_VEC3 || type == BP_COLOUR ? type : type, word->values[i]);
        }
        fprintf(file, "]");
    }
}

static void write_layer(FILE *file, const layer_t *layer, uint32_t count, int32_t parent, bool entity)
{
    bool first = true;
    fprintf(file, "\"components\": {");
    if (entity)
        fprintf(file, "\"tag\": {}, \"pose\": {}");
    first = !entity;
    for (uint32_t s = 0; s < SLOTS; s++) {
        if (layer->said[s] == NOTHING)
            continue;
        fprintf(file, "%s\"%s\": %s", first ? "" : ", ", slots[s].name, layer->said[s] == NULLED ? "null" : "{");
        first = false;
        if (layer->said[s] == NULLED)
            continue;
        fprintf(file, "\"type\": \"%s\"", slots[s].type);
        for (uint32_t p = 0; p < PROPERTIES; p++) {
            if (properties[p].slot != s || layer->words[p].kind == NOTHING)
                continue;
            fprintf(file, ", \"%s\": ", properties[p].name);
            write_word(file, &layer->words[p], properties[p].type, count, parent);
        }
        fprintf(file, "}");
    }
    fprintf(file, "}");
}

static void write_nodes(FILE *file, int32_t parent)
{
    bool first = true;
    for (uint32_t i = 0; i < scene.node_count; i++) {
        const node_t *node = &scene.nodes[i];
        if (node->parent != parent)
            continue;
        fprintf(file, "%s{\"name\": \"e%u\", ", first ? "" : ",\n", i);
        first = false;
        if (node->count > 0)
            fprintf(file, "\"count\": %u, ", node->count);
        if (node->prototype >= 0)
            fprintf(file, "\"extends\": \"p%d\", ", node->prototype);
        write_layer(file, &node->own, node->count, parent, true);
        fprintf(file, ", \"children\": [");
        write_nodes(file, (int32_t)i);
        fprintf(file, "]}");
    }
}

static char *write_scene(size_t *size)
{
    FILE *file = tmpfile();
    fprintf(file, "{\"entities\": [");
    write_nodes(file, -1);
    fprintf(file, "], \"prototypes\": {");
    for (int32_t i = PROTOTYPES - 1; i >= 0; i--) {
        fprintf(file, "\"p%d\": {", i);
        if (scene.extends[i] >= 0)
            fprintf(file, "\"extends\": \"p%d\", ", scene.extends[i]);
        write_layer(file, &scene.prototypes[i], 0, -1, false);
        fprintf(file, "}%s", i > 0 ? ",\n" : "");
    }
    fprintf(file, "}}\n");
    return take_text(file, size);
}

/* --- word by word ------------------------------------------------------------------------------------------------- */

/* What the layers of an entity come to for one property: the last word, NULL where the component is not there. */
static const word_t *last_word(uint32_t node, uint32_t property, const layer_t **layers, uint32_t count)
{
    static const word_t nothing = {.kind = NOTHING};
    const word_t *word = NULL;
    (void)node;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t said = layers[i]->said[properties[property].slot];
        if (said == NULLED)
            word = NULL;
        if (said == VALUE && (word == NULL || layers[i]->words[property].kind != NOTHING))
            word = layers[i]->words[property].kind == NOTHING ? &nothing : &layers[i]->words[property];
    }
    return word;
}

static uint32_t list_layers(const node_t *node, const layer_t **layers)
{
    const layer_t *backwards[PROTOTYPES];
    uint32_t count = 0;
    for (int32_t at = node->prototype; at >= 0; at = scene.extends[at])
        backwards[count++] = &scene.prototypes[at];
    for (uint32_t i = 0; i < count; i++)
        layers[i] = backwards[count - 1 - i];
    layers[count] = &node->own;
    return count + 1;
}

typedef struct named_t {
    char label[MOST_LABEL];
    bp_entity_t entity;
} named_t;

static int compare_named(const void *a, const void *b)
{
    return strcmp(((const named_t *)a)->label, ((const named_t *)b)->label);
}

static bp_entity_t find_entity(const named_t *named, uint32_t count, uint32_t node, const uint32_t *digits)
{
    named_t wanted;
    label_of(node, digits, wanted.label);
    const named_t *found = bsearch(&wanted, named, count, sizeof *named, compare_named);
    EXPECT(found != NULL, "nobody is called %s", wanted.label);
    return found->entity;
}

static void read_text(bp_entity_t entity, const char *component, const char *property, char *text, size_t size)
{
    bp_path_t path = {.world = world, .entity = entity};
    WORKS(stage.host, stage.rig.api->property->resolve(world, entity, component, property, &path.property));
    WORKS(stage.host, stage.rig.api->property->get_text(&path, text, size));
}

static bp_entity_t read_entity(bp_entity_t entity, const char *component, const char *property)
{
    bp_entity_t value;
    WORKS(stage.host, stage.rig.api->property->get_named(world, entity, component, property, BP_ENTITY, &value));
    return value;
}

static bp_entity_t defaults[SLOTS]; /* entities with components as they were created */

static void check_text(const word_t *word, uint32_t p, bp_entity_t entity, const char *label, uint32_t instance)
{
    char text[128], expected[128];
    const char *name = slots[properties[p].slot].name;
    read_text(entity, name, properties[p].name, text, sizeof text);
    uint32_t n = word->kind == LIST ? word->values[instance] : word->values[0];
    if (word->kind < VALUE || (word->kind == LIST && n % 7 == 0))
        read_text(defaults[properties[p].slot], name, properties[p].name, expected, sizeof expected);
    else
        value_text(properties[p].type, n, expected, sizeof expected);
    EXPECT(strcmp(text, expected) == 0, "%s.%s.%s is '%s', not '%s'", label, name, properties[p].name, text, expected);
}

/* `digits` number the entity among those of its node. */
static void check_entity(const named_t *named, uint32_t count, uint32_t node, const uint32_t *digits)
{
    const layer_t *layers[PROTOTYPES + 1];
    char label[MOST_LABEL];
    uint32_t layer_count = list_layers(&scene.nodes[node], layers), chain[8], dimensions = counted(node, chain);
    uint32_t instance = scene.nodes[node].count > 1 ? digits[dimensions - 1] : 0;
    bp_entity_t entity = find_entity(named, count, node, digits), parent = {0};
    label_of(node, digits, label);
    if (scene.nodes[node].parent >= 0)
        /* numbers are read as far as they go */
        parent = find_entity(named, count, (uint32_t)scene.nodes[node].parent, digits);
    EXPECT(read_entity(entity, "pose", "parent").id == parent.id, "%s has another parent", label);
    for (uint32_t p = 0; p < PROPERTIES; p++) {
        const word_t *word = last_word(node, p, layers, layer_count);
        bp_property_t resolved;
        bp_result_t there = stage.rig.api->property->resolve(world, entity, slots[properties[p].slot].name,
                                                             properties[p].name, &resolved);
        EXPECT((there == BP_OK) == (word != NULL), "%s has %s%s", label, word != NULL ? "no " : "a ",
               slots[properties[p].slot].name);
        if (word == NULL)
            continue;
        if (properties[p].type != BP_ENTITY) {
            check_text(word, p, entity, label, instance);
            continue;
        }
        bp_entity_t home = {0};
        if (word->kind == PARENT)
            home = parent;
        else if (word->kind == ENTITY)
            home = find_entity(named, count, word->node, word->digits);
        EXPECT(read_entity(entity, "label", "home").id == home.id, "%s has another home", label);
    }
}

static uint32_t check_node(const named_t *named, uint32_t count, uint32_t node)
{
    uint32_t chain[8], dimensions = counted(node, chain), digits[8] = {0}, checked = 0, d = 0;
    do {
        check_entity(named, count, node, digits);
        checked++;
        for (d = dimensions; d > 0 && ++digits[d - 1] == scene.nodes[chain[d - 1]].count; d--)
            digits[d - 1] = 0;
    } while (d > 0);
    return checked;
}

/* --- the test ----------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    static const char *const types[] = {"body", "fx", "label", "mark", "pose", "tag"};
    static const char *const default_types[SLOTS] = {"body", "fx", "fx", "label", "mark"};
    stage_open(&stage);
    world = bp_world_create(stage.host, &(bp_world_desc_t){.name = "main"});
    for (uint32_t i = 0; i < COUNT(types); i++)
        WORKS(stage.host, bp_world_use_component(world, types[i]));
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t prototype, key = key_of(world, default_types[i], slots[i].name);
        WORKS(stage.host, stage.rig.api->world->prototype(world, &key, 1, &prototype));
        WORKS(stage.host, stage.rig.api->world->create(world, prototype, &defaults[i], 1));
    }
}

static void end(void)
{
    stage_close(&stage);
}

static void check_scene(bp_scene_o *compiled)
{
    uint32_t count = bp_scene_entity_count(compiled), checked = 0;
    bp_entity_t *entities = calloc(count + 1, sizeof *entities);
    named_t *named = calloc(count + 1, sizeof *named);
    WORKS(stage.host, bp_scene_spawn(compiled, world, 0, entities, NULL));
    for (uint32_t i = 0; i < count; i++) {
        named[i].entity = entities[i];
        read_text(entities[i], "tag", "name", named[i].label, sizeof named[i].label);
    }
    qsort(named, count, sizeof *named, compare_named);
    for (uint32_t i = 0; i < scene.node_count; i++)
        checked += check_node(named, count, i);
    EXPECT(checked == count, "%u entities instead of %u", count, checked);
    ck_assert_uint_eq(stage.rig.api->entity->destroy(stage.host, entities, count), count);
    free(named);
    free(entities);
}

START_TEST(random_scenes_are_what_they_say)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bp_scene_o *compiled;
        size_t size;
        memset(&scene, 0, sizeof scene);
        scene.random = seed;
        draw_prototypes();
        draw_nodes(-1, 0);
        char *json = write_scene(&size);
        WORKS(stage.host, bp_scene_compile_text(stage.host, "random", json, size, &compiled));
        check_scene(compiled);
        bp_scene_close(compiled);
        free(json);
    }
}
END_TEST

Suite *scene_property_suite(void)
{
    Suite *suite = suite_create("scene_property");
    TCase *tcase = tcase_create("property");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, random_scenes_are_what_they_say);
    suite_add_tcase(suite, tcase);
    return suite;
}
