/* reload_kinds.c - one component with six fields, whose declaration the environment says: BENCH_KIND is the number of a
 * kind of change (bench/cases_reload_stop.c), BENCH_SIDE 0 the version before it and 1 the one after it. So every kind
 * is measured with the same file. BENCH_MOVES: the component's loop writes all columns in each step.
 *
 * Declarations are read before code runs, so a function that runs when the library is opened fills them in.
 */
#include <bp_plugin.h>

#include <stdlib.h>

enum { FIELDS = 6 };

typedef struct side_t {
    uint32_t type, count;
    const char *initial, *min, *values;
    uint32_t flags;
    const char *names; /* letters; NULL: a to f */
} side_t;

static const side_t kinds[][2] = {
    {{BP_F64, 0, "1", NULL, NULL, 0, NULL}, {BP_F32, 0, "1", "0", NULL, 0, NULL}},
    {{BP_F32, 0, "1", NULL, NULL, 0, NULL}, {BP_F64, 0, "1", NULL, NULL, 0, NULL}},
    {{BP_I64, 0, "1", NULL, NULL, 0, NULL}, {BP_I32, 0, "1", NULL, NULL, 0, NULL}},
    {{BP_I32, 0, "1", NULL, NULL, 0, NULL}, {BP_F64, 0, "1", NULL, NULL, 0, NULL}},
    {{BP_F64, 0, "1", NULL, NULL, 0, NULL}, {BP_I32, 0, "1", "0", NULL, 0, NULL}},
    {{BP_I64, 0, "1", NULL, NULL, 0, NULL}, {BP_F32, 0, "1", NULL, NULL, 0, NULL}},
    {{BP_U8, 0, "1", NULL, NULL, 0, NULL}, {BP_I16, 0, "1", NULL, NULL, 0, NULL}},
    {{BP_VEC3, 0, "1 2 3", NULL, NULL, 0, NULL}, {BP_VEC4, 0, NULL, NULL, NULL, 0, NULL}},
    {{BP_VEC4, 0, "1 2 3 4", NULL, NULL, 0, NULL}, {BP_VEC3, 0, NULL, NULL, NULL, 0, NULL}},
    {{BP_DVEC3, 0, "1 2 3", NULL, NULL, 0, NULL}, {BP_VEC3, 0, NULL, NULL, NULL, 0, NULL}},
    {{BP_U8, 0, "walking", NULL, "idle walking", 0, NULL},
     {BP_U8, 0, "walking", NULL, "running walking idle", 0, NULL}},
    {{BP_F64, 2, "1", NULL, NULL, 0, NULL}, {BP_F32, 2, "1", NULL, NULL, 0, NULL}},
    {{BP_F32, 2, "1", NULL, NULL, 0, NULL}, {BP_F32, 4, "1", NULL, NULL, 0, NULL}},
    {{BP_F32, 0, "1", NULL, NULL, 0, NULL}, {BP_F32, 0, "1", "0", NULL, 0, NULL}},
    {{BP_F32, 0, "1", NULL, NULL, 0, NULL}, {BP_F32, 0, "1", NULL, NULL, 0, NULL}},
    {{BP_STRING, 0, "walker", NULL, NULL, 0, NULL}, {BP_STRING, 2, "walker", NULL, NULL, 0, NULL}},
    {{BP_F32, 0, NULL, NULL, NULL, BP_FIELD_LIST, NULL}, {BP_F64, 0, NULL, NULL, NULL, BP_FIELD_LIST, NULL}},
    {{BP_F32, 0, NULL, NULL, NULL, BP_FIELD_LIST, NULL}, {BP_STRING, 0, "walker", NULL, NULL, 0, "ghijkl"}},
};

static char names[FIELDS][2] = {"a", "b", "c", "d", "e", "f"};

static bp_field_t fields[FIELDS] = {
    {.name = names[0], .type = BP_F32}, {.name = names[1], .type = BP_F32}, {.name = names[2], .type = BP_F32},
    {.name = names[3], .type = BP_F32}, {.name = names[4], .type = BP_F32}, {.name = names[5], .type = BP_F32},
};

static void simulate(const bp_run_t *run, uint32_t count)
{
    (void)run, (void)count;
}

static bp_component_i components[] = {{.name = "reload_kinds", .fields = BP_LIST(fields)}};

__attribute__((constructor)) static void fill_in(void)
{
    const char *kind = getenv("BENCH_KIND"), *side = getenv("BENCH_SIDE");
    const side_t *s = &kinds[kind == NULL ? 0 : atoi(kind)][side == NULL ? 0 : atoi(side)];
    for (int i = 0; i < FIELDS; i++) {
        fields[i].type = s->type;
        fields[i].count = s->count;
        fields[i].initial = s->initial;
        fields[i].min = s->min;
        fields[i].values = s->values;
        fields[i].flags = s->flags;
        if (s->names != NULL)
            names[i][0] = s->names[i];
    }
    if (getenv("BENCH_MOVES") != NULL)
        components[0].simulate = simulate;
}

BP_PLUGIN(reload_kinds) = {
    .version = "1", .components = BP_LIST(components)};
