/* cases_declare.c - what it takes a host that runs to get a plugin with many component types: a script, or a file that
 * a plugin opens.
 *
 * The size is the number of types; each has ten fields with a default, limits, a unit and a sentence, as declarations
 * of people have them. Measured is the whole: the plugin judged and copied, its types registered (`load`), and all of
 * them brought into a world (`use`). There is no floor: the bound is a time.
 */
#include "cases.h"

#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_TYPES = 100, FIELDS = 10, NAME = 16, MOST_TIMES = 32 };

static char names[MOST_TYPES][NAME], field_names[FIELDS][NAME];
static bp_field_t fields[FIELDS];
static bp_component_i components[MOST_TYPES];
static bp_plugin_desc_t desc = {.version = "1", .components = {components, 0, sizeof *components}};
static const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("many", &desc);
static const bp_plugin_head_t *const plugins[] = {&plugin};

static void declare(uint32_t types)
{
    for (uint32_t f = 0; f < FIELDS; f++) {
        snprintf(field_names[f], NAME, "field_%u", f);
        fields[f] = (bp_field_t){.name = field_names[f], .type = f % 2 == 0 ? BP_F32 : BP_VEC3,
                                 .initial = f % 2 == 0 ? "1" : "0 0 1", .min = "-100", .max = "100", .unit = "m",
                                 .doc = "what people should know of it"};
    }
    for (uint32_t t = 0; t < types; t++) {
        snprintf(names[t], NAME, "type_%u", t);
        components[t] = (bp_component_i){.name = names[t], .doc = "one of many", .fields = BP_LIST(fields)};
    }
    desc.components.count = types;
}

static void run(results_t *results, uint32_t size, uint32_t times)
{
    double load[MOST_TIMES], use[MOST_TIMES];
    uint32_t count = times < MOST_TIMES ? times : MOST_TIMES;
    declare(size);
    for (uint32_t i = 0; i < count; i++) {
        bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = plugins, .static_plugin_count = 1});
        bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
        worlds_must(host, bp_world_step(world), "a step");
        uint64_t began = measure_now();
        worlds_must(host, bp_host_load_plugin(host, "many", NULL, 0), "loading");
        uint64_t loaded = measure_now();
        for (uint32_t t = 0; t < size; t++)
            worlds_must(host, bp_world_use_component(world, names[t]), "using");
        worlds_must(host, bp_world_step(world), "a step");
        use[i] = (double)(measure_now() - loaded);
        load[i] = (double)(loaded - began);
        bp_host_destroy(host);
    }
    measure_put(results, "declare", "load", size, UNIT_NS, load, NULL, count, (bound_t)AT_MOST(5000000));
    measure_put(results, "declare", "use", size, UNIT_NS, use, NULL, count, (bound_t){.kind = BOUND_NONE});
}

static const uint32_t sizes[] = {MOST_TYPES, 0};

const course_t course_declare = {"declare", sizes, run};
