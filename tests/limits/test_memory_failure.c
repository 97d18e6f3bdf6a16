/* test_memory_failure.c - every allocation fails once: the call is refused, and works when it is made again.
 *
 * A scenario is a list of calls. It runs once undisturbed, then once for each of its allocations, which is
 * refused: in one mode that one alone, in the other all after it too, until a call fails. A call that
 * fails must say so, leave all that a user can see as it was, and succeed when it is repeated; at the end all
 * must be as in the undisturbed run, and after the host's end all memory back and the log empty. What may not
 * fail (deaths and collection) is held to its result by the same comparison.
 */
#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/support.h"
#include "../unit/zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 256, MOST_REQUESTS = 4000, PLUGINS = ZOO_PLUGINS + 1 };
enum { ONE, ALL_FROM_THERE, MODES };
#if defined(BACKPLANE_SANITIZED) /* behind the first ones, every third request fails, other ones in each mode */
enum { FIRST = 30, APART = 3 };
#else
enum { FIRST = 0, APART = 1 };
#endif

/* --- a plugin that takes memory wherever it may --------------------------------------------------------- */

enum { HOARD_ROOM = 48, HEIRS = 16 };

/* What dies with whom, and who is destroyed from inside a step: set by the scenarios. */
static bp_entity_t heirs[HEIRS];
static uint32_t heir_count, next_heir;
static bp_entity_t victims[HEIRS];
static uint32_t victim_count;

typedef struct hoard_table_t {
    uint32_t struct_size, version;
    uint64_t (*answer)(void);
} hoard_table_t;

static uint64_t answer(void)
{
    return 42;
}

static bp_result_t hoard_load(bp_plugin_t *plugin)
{
    static const hoard_table_t entries = {.answer = answer};
    static const bp_table_t table = BP_TABLE("hoard_table", 1, entries, "c");
    plugin->state = plugin->api->memory->resize(plugin, NULL, 0, HOARD_ROOM);
    if (plugin->state == NULL)
        return plugin->api->error->set(plugin->host, BP_ERROR_MEMORY, "hoard: out of memory");
    bp_result_t result = plugin->api->registry->offer(plugin, &table, sizeof table);
    if (result != BP_OK)
        plugin->api->memory->resize(plugin, plugin->state, HOARD_ROOM, 0);
    return result;
}

static void hoard_unload(bp_plugin_t *plugin)
{
    plugin->api->memory->resize(plugin, plugin->state, HOARD_ROOM, 0);
}

static bp_result_t tally_start(bp_system_t *s)
{
    s->state = s->api->memory->resize(s->plugin, NULL, 0, HOARD_ROOM);
    return s->state != NULL ? BP_OK : s->api->error->set(s->host, BP_ERROR_MEMORY, "tally: out of memory");
}

static void tally_stop(bp_system_t *s)
{
    s->api->memory->resize(s->plugin, s->state, HOARD_ROOM, 0);
}

static void tally_run(const bp_match_t *match, uint32_t count)
{
    float *mass = BP_TERM_COLUMN(match, float, 0, 0);
    for (uint32_t i = 0; i < count; i++)
        mass[i] += match->columns[1] == NULL ? 1.0f : 0.5f;
}

/* Destroys the scenario's victims; a refusal leaves them alive, and the next step asks again. */
static void cull_run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)step;
    for (uint32_t m = 0; m < count; m++) {
        float *mass = BP_TERM_COLUMN(&matches[m], float, 0, 0);
        for (uint32_t i = 0; i < matches[m].count; i++)
            mass[i] += 0.25f;
    }
    if (victim_count > 0 && s->api->entity->destroy(s->host, victims, victim_count) == victim_count)
        victim_count = 0;
}

static void remnant_told(bp_manager_t *m, const bp_death_t *batch)
{
    EXPECT(m->api->entity->alive(m->host, batch->entities, batch->count, NULL) == 0, "told of the living");
    if (next_heir < heir_count)
        m->api->entity->destroy(m->host, &heirs[next_heir++], 1);
}

static const bp_field_t hoard_options[] = {
    {.name = "greeting", .type = BP_STRING, .initial = "hello"},
    {.name = "file", .type = BP_STRING, .flags = BP_FIELD_PATH},
    {.name = "rounds", .type = BP_U32, .initial = "3", .max = "9", .doc = "how many", .unit = "1"},
};
static const bp_field_t remnant_fields[] = {
    {.name = "word", .type = BP_STRING, .initial = "relic", .doc = "of old"},
    {.name = "age", .type = BP_F32, .former_name = "years", .unit = "a"},
};
static const bp_deaths_i remnant_deaths = {.died = remnant_told};
static const bp_extension_t remnant_extensions[] = {{BP_EXTENSION("bp_deaths", remnant_deaths)}};
static const bp_component_i hoard_components[] = {
    {.name = "remnant",
     .doc = "knows of deaths",
     .fields = BP_LIST(remnant_fields),
     .extensions = BP_LIST(remnant_extensions)},
};
static const bp_term_field_t body_mass[] = {{.name = "mass", .type = BP_F32, .access = BP_WRITE}};
static const bp_term_t tally_terms[] = {
    {.component = "body", .fields = BP_LIST(body_mass)},
    {.component = "label", .flags = BP_TERM_OPTIONAL},
};
static const bp_term_t cull_terms[] = {
    {.component = "body", .instance = "body", .fields = BP_LIST(body_mass)},
    {.component = "flag", .flags = BP_TERM_EXCLUDE},
};
static const bp_system_i hoard_systems[] = {
    {.name = "tally",
     .doc = "counts",
     .terms = BP_LIST(tally_terms),
     .after = "body",
     .start = tally_start,
     .stop = tally_stop,
     .run = tally_run},
    {.name = "cull", .terms = BP_LIST(cull_terms), .before = "tally body", .run_all = cull_run_all},
};
static const bp_plugin_head_t hoard = BP_PLUGIN_HEAD("hoard", (&(const bp_plugin_desc_t){.version = "2",
    .doc = "takes memory",
    .components = BP_LIST(hoard_components),
    .systems = BP_LIST(hoard_systems),
    .options = BP_LIST(hoard_options),
    .load = hoard_load,
    .unload = hoard_unload,
}));

static const bp_option_t hoard_given[] = {
    {.name = "greeting", .value = "good morning"},
    {.name = "file", .value = "a/b.txt", .base = "folder/some.ini", .origin = "some.ini:4"},
    {.name = "rounds", .value = "5"},
};

/* --- one attempt at a scenario -------------------------------------------------------------------------- */

typedef struct attempt_t {
    rig_t rig;
    bp_host_o *host;
    const bp_world_api *api;
    int mode;
    uint32_t nth;               /* the request to refuse, counted from `first`; 0: none */
    uint64_t first;             /* the heap's requests when the scenario began */
    bool armed;
    bool could_step;               /* the present call may put units in their order, whatever becomes of it */
    const char *file;           /* the present call's sentence must begin with it, unless NULL */
    uint32_t call;              /* number of the present call */
    uint64_t ends[MOST_CALLS];  /* requests made when each call of the undisturbed run was done */
    char *before;               /* the host before the present call, where that call may fail */
    uint64_t refused_before;
    uint32_t failed;            /* calls of all attempts */
} attempt_t;

static attempt_t at;

/* Calls may do without some of the memory that they ask for: what it would make faster takes longer then. */
static bool spares;

static void arm(void)
{
    heap_t *heap = &at.rig.heap;
    at.first = heap->requests;
    at.call = 0;
    at.armed = at.nth > 0;
    if (!at.armed)
        return;
    heap->refuse_first = at.first + at.nth;
    heap->refuse_last = at.mode == ONE ? heap->refuse_first : UINT64_MAX;
}

static void disarm(void)
{
    at.armed = false;
    at.rig.heap.refuse_first = 0;
}

/* Leave out the order of the units: the first step after a change settles it, and need not take that back. */
static void cut_units(char *text)
{
    static const char words[] = "; units";
    for (char *list = strstr(text, words); list != NULL; list = strstr(list, words))
        memmove(list, list + strcspn(list, "\n"), strlen(list + strcspn(list, "\n")) + 1);
}

static char *describe(void)
{
    uint64_t requests = at.rig.heap.requests, first = at.rig.heap.refuse_first, last = at.rig.heap.refuse_last;
    at.rig.heap.refuse_first = at.rig.heap.refuse_last = 0;
    free(describe_host(at.host)); /* resolves properties, which makes room in the world for finding them again */
    uint64_t settled = at.rig.heap.requests;
    char *text = describe_host(at.host);
    ck_assert_uint_eq(at.rig.heap.requests, settled);
    at.rig.heap.requests = requests; /* calls are counted without what describing took */
    at.rig.heap.refuse_first = first;
    at.rig.heap.refuse_last = last;
    if (at.could_step)
        cut_units(text);
    return text;
}

static void ready(void)
{
    EXPECT(at.call < MOST_CALLS, "a scenario with too many calls");
    at.before = at.armed && at.nth <= at.ends[at.call] && at.host != NULL ? describe() : NULL;
    at.refused_before = at.rig.heap.refused;
    if (at.host != NULL)
        at.rig.api->error->set(at.host, BP_OK, "nothing was said");
}

static bool says_where(const char *sentence)
{
    size_t length = at.file == NULL ? 0 : strlen(at.file);
    return length == 0 || (strncmp(sentence, at.file, length) == 0 && sentence[length] == ':');
}

/* Was the call refused? Then it said why, and changed nothing. */
static bool was_refused(bp_result_t result, const char *what)
{
    if (result == BP_OK)
        EXPECT(spares || at.rig.heap.refused == at.refused_before, "%s at request %u works without memory", what,
               at.nth);
    if (result == BP_OK)
        return false;
    const char *sentence = bp_host_error(at.host);
    EXPECT(at.rig.heap.refused > at.refused_before, "%s fails for no reason: %s", what, sentence);
    EXPECT(strstr(sentence, "out of memory") != NULL, "%s at request %u says: %s", what, at.nth, sentence);
    EXPECT(says_where(sentence), "%s at request %u does not say where: %s", what, at.nth, sentence);
    EXPECT(result == BP_ERROR_MEMORY, "%s at request %u: %d, %s", what, at.nth, result, sentence);
    disarm();
    check_host(at.host);
    EXPECT(at.before != NULL, "%s was not expected to take memory", what);
    expect_same(at.before, describe(), what);
    at.before = NULL;
    at.failed++;
    return true;
}

static void done(void)
{
    free(at.before);
    at.before = NULL;
    if (at.nth == 0)
        at.ends[at.call] = at.rig.heap.requests - at.first;
    at.call++;
}

/* A call that may be refused memory; then it is made once more. */
#define TRY(call)                          \
    do {                                   \
        ready();                           \
        bp_result_t tried_ = (call);       \
        if (was_refused(tried_, #call))    \
            WORKS(at.host, call);          \
        done();                            \
    } while (0)

#define TRY_STEP(call)      \
    do {                    \
        at.could_step = true;  \
        TRY(call);          \
        at.could_step = false; \
    } while (0)

/* The same for a call that answers with a pointer. */
#define TRY_NEW(pointer, call)                                              \
    do {                                                                    \
        ready();                                                            \
        (pointer) = (call);                                                 \
        if (was_refused((pointer) != NULL ? BP_OK : BP_ERROR_MEMORY, #call)) \
            (pointer) = (call);                                             \
        EXPECT((pointer) != NULL, "%s: %s", #call, bp_host_error(at.host)); \
        done();                                                             \
    } while (0)

/* A call that does what it does, memory or not. */
#define MUST(call)                                                                                     \
    do {                                                                                               \
        ready();                                                                                       \
        EXPECT(call, "%s at request %u: %s", #call, at.nth, bp_host_error(at.host)); \
        done();                                                                                        \
    } while (0)

/* Take the characters `of` out wherever they follow `before`. */
static void cut_out(char *text, const char *before, const char *of)
{
    for (char *found = strstr(text, before); found != NULL; found = strstr(found, before)) {
        found += strlen(before);
        size_t length = strspn(found, of);
        memmove(found, found + length, strlen(found + length) + 1);
    }
}

/* What a run came to, without what a failed attempt may use up: ids of entities, serials of the stocks. */
static char *outcome(void)
{
    char *text = describe();
    cut_out(text, "main/", "0123456789abcdef");
    cut_out(text, "other/", "0123456789abcdef");
    cut_out(text, "second/", "0123456789abcdef");
    cut_out(text, "entity ", "0123456789abcdef");
    cut_out(text, "serial=", "0123456789");
    return text;
}

static void open_host(void)
{
    static const bp_plugin_head_t *plugins[PLUGINS];
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &hoard;
    rig_init(&at.rig);
    at.rig.desc.static_plugins = plugins;
    at.rig.desc.static_plugin_count = PLUGINS;
    rig_open(&at.rig);
    at.host = at.rig.host;
    at.api = at.rig.api->world;
    heir_count = next_heir = victim_count = 0;
}

/* Run a scenario once; returns what it came to, and whether memory was refused. */
static bool attempt(void (*prepare)(void), void (*scenario)(void), char **result)
{
    open_host();
    if (prepare != NULL)
        prepare();
    arm();
    scenario();
    disarm();
    check_host(at.host);
    bool refused = at.rig.heap.refused > 0;
    *result = outcome();
    rig_close(&at.rig);
    at.host = NULL;
    return refused;
}

static char *copy(const char *text)
{
    char *made = malloc(strlen(text) + 1);
    ck_assert_ptr_nonnull(made);
    return strcpy(made, text);
}

/* Run it until it gets through; at least `least` of its calls must have failed on the way. */
static void fail_everywhere(int mode, void (*prepare)(void), void (*scenario)(void), uint32_t least)
{
    char *undisturbed, *result;
    memset(&at, 0, sizeof at);
    at.mode = mode;
    attempt(prepare, scenario, &undisturbed);
    for (at.nth = 1; attempt(prepare, scenario, &result);
         at.nth += at.nth < FIRST + (uint32_t)mode ? 1 : APART) {
        EXPECT(at.nth < MOST_REQUESTS, "a scenario that never gets through");
        expect_same(copy(undisturbed), result, "the outcome");
    }
    expect_same(undisturbed, result, "the last outcome");
    EXPECT(at.failed >= least, "only %u calls failed in %u attempts", at.failed, at.nth);
}

static void fail_sparing(int mode, void (*prepare)(void), void (*scenario)(void), uint32_t least)
{
    spares = true;
    fail_everywhere(mode, prepare, scenario, least);
    spares = false;
}

/* --- hosts ---------------------------------------------------------------------------------------------- */

START_TEST(a_host_that_cannot_be_made_leaves_nothing)
{
    const uint32_t threads[] = {0, 1, 3};
    for (uint32_t t = 0; t < COUNT(threads); t++) {
        uint32_t nth = 1;
        for (;; nth++) {
            EXPECT(nth < MOST_REQUESTS, "a host that never comes");
            rig_t rig;
            rig_init(&rig);
            rig.desc.threads = threads[t];
            rig.heap.refuse_first = nth;
            rig.heap.refuse_last = _i == ONE ? nth : UINT64_MAX;
            bp_host_o *host = bp_host_create(&rig.desc);
            uint64_t refused = rig.heap.refused;
            EXPECT((host == NULL) == (refused > 0), "allocation %u, %u threads", nth, threads[t]);
            bp_host_destroy(host);
            ck_assert_uint_eq(rig.heap.bytes, 0);
            ck_assert_uint_eq(rig.log.count, 0);
            if (refused == 0)
                break;
        }
        ck_assert_uint_ge(nth, threads[t] > 1 ? 3 : 1);
    }
}
END_TEST

/* --- plugins -------------------------------------------------------------------------------------------- */

static void load_all(void)
{
    TRY(bp_host_load_plugin(at.host, "hoard", hoard_given, COUNT(hoard_given)));
    TRY(bp_host_load_plugin(at.host, "zoo", NULL, 0));
    TRY(bp_host_load_plugin(at.host, "stocks", NULL, 0));
}

static void loading(void)
{
    load_all();
    const hoard_table_t *table = at.rig.api->registry->find(at.host, "hoard_table", 1);
    ck_assert_ptr_nonnull(table);
    TRY(bp_host_unload_plugin(at.host, "zoo"));
    TRY(bp_host_unload_plugin(at.host, "hoard"));
    ck_assert_uint_eq(table->answer(), 0);
    TRY(bp_host_load_plugin(at.host, "zoo", NULL, 0));
    TRY(bp_host_load_plugin(at.host, "hoard", NULL, 0));
    ck_assert_uint_eq(table->answer(), 42);
}

START_TEST(a_plugin_that_cannot_be_loaded_leaves_nothing)
{
    fail_everywhere(_i, NULL, loading, 40);
}
END_TEST

static void load_undisturbed(void)
{
    WORKS(at.host, bp_host_load_plugin(at.host, "zoo", NULL, 0));
    WORKS(at.host, bp_host_load_plugin(at.host, "stocks", NULL, 0));
    WORKS(at.host, bp_host_load_plugin(at.host, "hoard", NULL, 0));
}

/* --- worlds --------------------------------------------------------------------------------------------- */

static bp_world_o *world, *other;

static void worlds(void)
{
    TRY_NEW(world, bp_world_create(at.host, &(bp_world_desc_t){.name = "main", .step_rate = 50}));
    TRY(bp_world_use_component(world, "body"));
    TRY(bp_world_use_component(world, "label"));
    TRY(bp_world_use_system(world, "tally"));
    TRY(bp_world_use_component(world, "pool"));
    TRY(bp_world_use_component(world, "told"));
    TRY(bp_world_use_component(world, "remnant"));
    TRY(bp_world_use_component(world, "flag"));
    TRY(bp_world_use_system(world, "cull"));
    TRY_NEW(other, bp_world_create(at.host, &(bp_world_desc_t){.name = "other"}));
    TRY(bp_world_use_component(other, "mute"));
    TRY_STEP(bp_world_step(world));
    TRY_STEP(bp_world_step(other));
    bp_world_destroy(other);
    TRY_NEW(other, bp_world_create(at.host, &(bp_world_desc_t){.name = "other"}));
    TRY(bp_world_use_component(other, "once"));
    TRY_STEP(bp_world_step(other));
}

START_TEST(a_world_comes_whole_or_not_at_all)
{
    fail_everywhere(_i, load_undisturbed, worlds, 20);
}
END_TEST

/* The dead are collected at random; a world that could not be made must not change the dice of the next. */
static void seeded_worlds(void)
{
    static bp_entity_t e[64];
    uint32_t key, prototype;
    TRY_NEW(world, bp_world_create(at.host, &(bp_world_desc_t){.name = "main"}));
    TRY_NEW(other, bp_world_create(at.host, &(bp_world_desc_t){.name = "other"}));
    TRY(bp_world_use_component(other, "mark"));
    disarm();
    WORKS(at.host, at.api->key(other, at.api->component(other, "mark"), 0, &key));
    WORKS(at.host, at.api->prototype(other, &key, 1, &prototype));
    WORKS(at.host, at.api->create(other, prototype, e, COUNT(e)));
    for (uint32_t i = 0; i < COUNT(e); i += 9)
        at.rig.api->entity->destroy(at.host, &e[i], 1);
    WORKS(at.host, bp_world_step(other));
}

/* The rows of `mark` in their order: the indices of their entities. */
static uint64_t order_of_marks(void)
{
    uint64_t order = 1;
    uint32_t cursor = 0;
    bp_run_t run;
    while (next_run(other, at.api->component(other, "mark"), &cursor, &run) != 0) {
        for (uint32_t i = 0; i < run.count; i++)
            order = order * 1099511628211u + (uint32_t)run.entities[i].id; /* the index; 0 for a hole */
    }
    return order;
}

START_TEST(a_world_that_could_not_be_made_does_not_change_what_is_collected)
{
    uint64_t undisturbed = 0;
    bool refused = true;
    memset(&at, 0, sizeof at);
    at.mode = _i;
    for (at.nth = 0; refused; at.nth++) {
        EXPECT(at.nth < MOST_REQUESTS, "worlds that never come");
        open_host();
        load_undisturbed();
        arm();
        seeded_worlds();
        refused = at.nth == 0 || at.rig.heap.refused > 0;
        if (at.nth == 0)
            undisturbed = order_of_marks();
        EXPECT(order_of_marks() == undisturbed, "request %u: other rows were collected", at.nth);
        rig_close(&at.rig);
        at.host = NULL;
    }
    ck_assert_uint_ge(at.failed, 5);
}
END_TEST

/* --- entities ------------------------------------------------------------------------------------------- */

enum { BODY, LABEL, FX, FOG, ONCE_, POOL, TOLD, REMNANT, KEYS };
static uint32_t keys[KEYS];

static void make_world(void)
{
    load_undisturbed();
    world = rig_world(&at.rig, "main");
    WORKS(at.host, bp_world_use_component(world, "remnant"));
}

static void make_keys(void)
{
    static const char *const types[] = {"body", "label", "fx", "fx", "once", "pool", "told", "remnant"};
    BP_STATIC_ASSERT(COUNT(types) == KEYS, "a type for each key");
    bp_name_t fog;
    TRY(at.rig.api->name->intern(at.host, "fog", &fog));
    for (uint32_t k = 0; k < KEYS; k++)
        TRY(at.api->key(world, at.api->component(world, types[k]), k == FOG ? fog : 0, &keys[k]));
}

static void make_world_and_keys(void)
{
    make_world();
    make_keys();
}

static uint32_t try_prototype(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t list[] = {keys[a], keys[b], keys[c]}, prototype = BP_NONE;
    TRY(at.api->prototype(world, list, 3, &prototype));
    return prototype;
}

static void try_create(uint32_t prototype, bp_entity_t *entities, uint32_t count)
{
    TRY(at.api->create(world, prototype, entities, count));
}

static void naming(void)
{
    make_keys();
    uint32_t first = try_prototype(BODY, LABEL, POOL), again = try_prototype(POOL, BODY, LABEL);
    ck_assert_uint_eq(first, again);
    uint32_t far = try_prototype(FX, FOG, TOLD);
    ck_assert_uint_ne(first, far);
    char text[16];
    for (uint32_t i = 0; i < 40; i++) { /* enough to make the table grow */
        bp_name_t name;
        snprintf(text, sizeof text, "name_%u", i);
        TRY(at.rig.api->name->intern(at.host, text, &name));
        ck_assert_str_eq(at.rig.api->name->text(at.host, name), text);
    }
}

START_TEST(names_keys_and_prototypes_come_or_do_not)
{
    fail_everywhere(_i, make_world, naming, 15);
}
END_TEST

enum { FEW = 5, SOME = 40 };

static void creating(void)
{
    static bp_entity_t e[300];
    TRY(at.rig.api->entity->create(at.host, e, FEW));
    try_create(try_prototype(BODY, LABEL, FX), e, SOME);
    try_create(try_prototype(POOL, TOLD, LABEL), e, SOME);
    uint32_t prototype = try_prototype(BODY, POOL, REMNANT);
    for (uint32_t i = 0; i < FEW + FEW; i++)
        TRY(at.api->create(world, prototype, &e[i], 1));
    TRY(at.rig.api->entity->create(at.host, e, 300)); /* beyond what the first creation made room for */
    try_create(try_prototype(TOLD, FOG, ONCE_), e, FEW);
    ck_assert_uint_eq(at.rig.api->entity->count(at.host), FEW + SOME + SOME + FEW + FEW + 300 + FEW);
}

START_TEST(entities_are_created_all_or_none)
{
    fail_sparing(_i, make_world_and_keys, creating, 20);
}
END_TEST

static void changing(void)
{
    static bp_entity_t e[SOME];
    try_create(try_prototype(BODY, LABEL, FX), e, SOME);
    TRY(at.api->add(world, keys[FOG], &e[3], 1));
    TRY(at.api->add(world, keys[POOL], e, SOME / 2));
    TRY(at.api->add(world, keys[TOLD], e, SOME));
    TRY(at.api->add(world, keys[REMNANT], &e[7], 1));
    TRY(at.api->remove(world, keys[LABEL], e, SOME));
    TRY(at.api->remove(world, keys[POOL], &e[3], 7));
    TRY(at.api->add(world, keys[LABEL], &e[3], 1));
    TRY(at.api->remove(world, keys[TOLD], e, SOME));
    TRY(at.api->remove(world, keys[FOG], &e[3], 1));
    bp_entity_t bare[FEW];
    TRY(at.rig.api->entity->create(at.host, bare, FEW));
    TRY(at.api->add(world, keys[TOLD], bare, FEW));
    TRY(at.api->add(world, keys[ONCE_], &bare[1], 1));
    TRY(at.api->remove(world, keys[TOLD], bare, FEW));
}

START_TEST(components_are_added_and_removed_for_all_or_none)
{
    fail_sparing(_i, make_world_and_keys, changing, 30);
}
END_TEST

/* --- values --------------------------------------------------------------------------------------------- */

static bp_entity_t people[SOME];

static void make_people(void)
{
    make_world_and_keys();
    uint32_t list[] = {keys[LABEL], keys[BODY], keys[TOLD]}, prototype;
    WORKS(at.host, at.api->prototype(world, list, COUNT(list), &prototype));
    WORKS(at.host, at.api->create(world, prototype, people, SOME));
}

static void try_texts(const char *component, const char *field, uint32_t count)
{
    static char texts[SOME][32];
    const char *values[SOME];
    bp_property_t property;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "%.4s %u of %u", component, i, count);
        values[i] = texts[i];
    }
    TRY(at.rig.api->property->resolve(world, people[0], component, field, &property));
    TRY(at.rig.api->property->set(world, &property, people, count, values, sizeof values[0]));
}

static void writing(void)
{
    const bp_property_api *property = at.rig.api->property;
    const char *name = "somebody";
    bp_name_t kind = 0;
    float mass = 3;
    TRY(property->set_named(world, people[1], "label", "text", BP_STRING, &name));
    try_texts("label", "text", SOME);
    try_texts("told", "text", FEW);
    try_texts("label", "text", FEW);
    TRY(property->set_named(world, people[2], "body", "mass", BP_F32, &mass));
    TRY(at.rig.api->name->intern(at.host, "a kind", &kind));
    TRY(property->set_named(world, people[3], "label", "kind", BP_NAME, &kind));
    bp_path_t path;
    char id[64], text[128], value[64];
    at.rig.api->entity->format(at.host, people[4], id, sizeof id);
    snprintf(text, sizeof text, "main/%s.label.text", id);
    TRY(property->parse_path(at.host, text, &path));
    TRY(property->set_text(&path, "by text"));
    TRY(property->get_text(&path, value, sizeof value));
    ck_assert_ptr_nonnull(strstr(value, "by text"));
    bp_run_t run;
    uint32_t cursor = 0;
    ck_assert_uint_eq(next_run(world, at.api->component(world, "label"), &cursor, &run), 1);
    TRY(at.rig.api->name->assign(at.host, &BP_COLUMN(&run, const char *, LABEL_TEXT)[0], "assigned"));
}

/* The entities that had a component stay when it goes. Nothing was prepared, as where more have come since. */
static void stripping(void)
{
    uint8_t has[SOME];
    uint32_t manager = world->rows.prototypes.keys[keys[BODY]].manager;
    TRY(store_strip(&world->rows, manager));
    ck_assert_uint_eq(at.api->has(world, keys[BODY], people, SOME, has), 0);
    ck_assert_uint_eq(at.api->has(world, keys[TOLD], people, SOME, has), SOME);
}

START_TEST(a_component_goes_from_all_entities_or_from_none)
{
    fail_everywhere(_i, make_people, stripping, 1);
}
END_TEST

START_TEST(values_are_set_for_all_or_none)
{
    fail_everywhere(_i, make_people, writing, 10);
}
END_TEST

/* --- steps ---------------------------------------------------------------------------------------------- */

static void make_systems(void)
{
    make_people();
    WORKS(at.host, bp_world_use_system(world, "tally"));
    WORKS(at.host, bp_world_use_system(world, "cull"));
}

static void stepping(void)
{
    bp_step_t clock = {.struct_size = sizeof clock};
    TRY_STEP(bp_world_step(world));
    TRY_STEP(bp_world_step(world));
    bp_entity_t e[FEW];
    try_create(try_prototype(BODY, FX, ONCE_), e, FEW);
    try_create(try_prototype(BODY, LABEL, REMNANT), e, FEW);
    TRY_STEP(bp_world_step(world));
    for (uint32_t i = 0; i < FEW; i++)
        TRY(at.api->add(world, keys[i % 2 == 0 ? FOG : POOL], &e[i], 1));
    TRY_STEP(bp_world_step(world));
    TRY_STEP(bp_world_step(world));
    at.api->clock(world, &clock);
    ck_assert_uint_eq(clock.number, 5);
}

START_TEST(a_step_is_done_whole_or_not_begun)
{
    fail_sparing(_i, make_systems, stepping, 15);
}
END_TEST

/* From inside a step a refused destruction leaves all entities alive; the system asks again in the next. */
static void stepping_to_death(void)
{
    memcpy(victims, people + 4, FEW * sizeof *victims);
    victim_count = FEW;
    TRY_STEP(bp_world_step(world));
    if (victim_count > 0)
        ck_assert_uint_eq(at.rig.api->entity->alive(at.host, people, SOME, NULL), SOME);
    disarm();
    if (victim_count > 0)
        WORKS(at.host, bp_world_step(world));
    ck_assert_uint_eq(victim_count, 0);
    ck_assert_uint_eq(at.rig.api->entity->alive(at.host, people, SOME, NULL), SOME - FEW);
    ck_assert_uint_eq(at.rig.api->entity->alive(at.host, people + 4, FEW, NULL), 0);
}

START_TEST(destroying_inside_a_step_is_refused_whole)
{
    bool refused = true;
    memset(&at, 0, sizeof at);
    at.mode = _i;
    at.ends[0] = MOST_REQUESTS;
    spares = true;
    for (at.nth = 1; refused; at.nth++) {
        EXPECT(at.nth < MOST_REQUESTS, "a step that never gets through");
        open_host();
        make_systems();
        arm();
        stepping_to_death();
        refused = at.rig.heap.refused > 0;
        check_host(at.host);
        rig_close(&at.rig);
        at.host = NULL;
    }
    ck_assert_uint_ge(at.nth, 4);
    spares = false;
}
END_TEST

/* --- death ---------------------------------------------------------------------------------------------- */

static uint32_t told_of;
static char owner;

static void count_dead(void *data, const bp_entity_t *entities, uint32_t count)
{
    bp_host_o *host = data;
    ck_assert_uint_eq(bp_host_api(host)->entity->alive(host, entities, count, NULL), 0);
    told_of += count;
    if (next_heir < heir_count)
        bp_host_api(host)->entity->destroy(host, &heirs[next_heir++], 1);
}

static void dying(void)
{
    const bp_entity_api *entity = at.rig.api->entity;
    told_of = 0;
    for (uint32_t i = 0; i < FEW; i++)
        TRY(bp_host_on_destroyed(at.host, &owner, count_dead, at.host));
    memcpy(heirs, people + 20, HEIRS * sizeof *heirs);
    heir_count = HEIRS;
    MUST(entity->destroy(at.host, people, FEW) == FEW);
    MUST(entity->destroy(at.host, &people[FEW], 1) == 1);
    ck_assert_uint_eq(entity->alive(at.host, people, SOME, NULL), SOME - FEW - 1 - HEIRS);
    ck_assert_uint_eq(told_of, FEW * (FEW + 1 + HEIRS));
    bp_host_drop_owner(at.host, &owner);
    MUST(entity->destroy(at.host, people, FEW + 3) == 2);
    for (uint32_t i = 0; i < 30; i++)
        TRY_STEP(bp_world_step(world));
    bp_world_stats_t stats;
    bp_world_stats(world, &stats);
    ck_assert_uint_eq(stats.entities, SOME - FEW - 3 - HEIRS);
    ck_assert_uint_le(stats.holes, SOME / 4);
}

START_TEST(the_dead_are_buried_and_announced_without_memory)
{
    fail_everywhere(_i, make_people, dying, 2);
}
END_TEST

/* --- plugins that go, with what they brought ------------------------------------------------------------ */

static void make_two_worlds(void)
{
    make_systems();
    other = rig_world(&at.rig, "other");
    WORKS(at.host, bp_world_use_component(other, "remnant"));
    WORKS(at.host, bp_world_use_system(other, "tally"));
    uint32_t key = key_of(other, "remnant", "");
    WORKS(at.host, at.api->add(other, key, people, SOME));
    WORKS(at.host, at.api->add(other, key_of(other, "body", ""), people, FEW));
    WORKS(at.host, at.api->add(world, keys[REMNANT], people + 4, FEW));
    WORKS(at.host, bp_host_step(at.host));
}

/* The worlds are told that they want none of it again: what comes back by itself is tried elsewhere. */
static void unloading(void)
{
    TRY(bp_host_unload_plugin(at.host, "hoard"));
    TRY_STEP(bp_world_step(world));
    TRY(bp_host_unload_plugin(at.host, "stocks"));
    TRY_STEP(bp_world_step(world));
    TRY(bp_world_drop_component(world, "remnant"));
    TRY(bp_world_drop_system(world, "cull"));
    TRY(bp_world_drop_system(world, "tally"));
    TRY(bp_world_drop_component(other, "remnant"));
    TRY(bp_world_drop_system(other, "tally"));
    TRY(bp_host_load_plugin(at.host, "hoard", NULL, 0));
    TRY(bp_world_use_component(world, "remnant"));
    TRY(bp_host_unload_plugin(at.host, "zoo"));
}

START_TEST(a_plugin_goes_from_all_worlds_or_from_none)
{
    fail_everywhere(_i, make_two_worlds, unloading, 10);
}
END_TEST

/* --- ini files ------------------------------------------------------------------------------------------ */

static const char *ini_path;

static void setting_up(void)
{
    at.file = ini_path;
    TRY(bp_host_setup(at.host, ini_path));
    at.file = NULL;
    ck_assert_uint_eq(bp_host_configured_steps(at.host), 7);
    world = at.api->find(at.host, "main");
    ck_assert_ptr_nonnull(world);
    TRY_STEP(bp_world_step(world));
}

START_TEST(an_ini_is_done_whole_or_not_at_all)
{
    static char kept[1024];
    scratch_file("memory_failure.json",
        "{\"prototypes\": {\"one\": {\"components\": {\"body\": {\"mass\": 2}, \"fog\": {\"type\": \"fx\"}}}},\n"
        " \"entities\": [{\"name\": \"a\", \"extends\": \"one\", \"count\": 3},\n"
        "  {\"name\": \"b\", \"components\": {\"label\": {\"text\": \"of a scene\"}, \"told\": {}}}]}");
    snprintf(kept, sizeof kept, "%s", scratch_file("memory_failure.ini",
        "[host]\nplugins = zoo stocks\n    hoard\nsteps = 7\nseed = 3\nthreads = 2\n"
        "[plugin hoard]\ngreeting = hey there\nfile = some/file\n"
        "[world main]\nstep_rate = 4\ncomponents = body label told fx flag\nsystems = tally\n"
        "scenes = memory_failure.json\n"
        "[world second]\ncomponents = pool remnant\n"
        "[spawn main one]\ncount = 6\ncomponents = body, label told\n"
        "label.text = first and last\nbody.mass = 4\ntold.text = told\n"
        "[spawn main two]\ncomponents = fog:fx\nfog.strength = 0.25\n"
        "[spawn second three]\ncount = 3\ncomponents = pool remnant\n"));
    ini_path = kept;
    fail_sparing(_i, NULL, setting_up, 100);
}
END_TEST

/* Two inis that differ in everything that can come, go and change; of plugins that are linked in, options cannot. */
static const char few[] =
    "[host]\nplugins = zoo stocks\nsteps = 7\n"
    "[world main]\nstep_rate = 4\ncomponents = body label flag\n"
    "[world second]\ncomponents = pool told\n"
    "[spawn main one]\ncount = 6\ncomponents = body label flag\nlabel.text = first\nbody.mass = 4\n"
    "[spawn second three]\ncount = 3\ncomponents = pool told\ntold.text = two\n";
static const char other_few[] =
    "[host]\nplugins = zoo stocks hoard\nsteps = 8\nthreads = 2\n"
    "[plugin hoard]\ngreeting = hey there\n"
    "[world main]\nstep_rate = 5\nunits = kg=t\ncomponents = body fx remnant told\nsystems = cull tally\n"
    "scenes = memory_failure_again.json\n"
    "[world third]\ncomponents = pool remnant\n"
    "[spawn main one]\ncount = 6\ncomponents = body\nbody.mass = 4\n"
    "[spawn main two]\ncomponents = fog:fx body remnant\nfog.strength = 0.25\n"
    "[spawn third two]\nentities = main two\ncomponents = pool remnant\n"
    "[spawn third three]\ncount = 3\ncomponents = pool remnant\n";

static void set_up_few(void)
{
    static char kept[1024];
    scratch_file("memory_failure_again.json", "{\"entities\": [{\"name\": \"b\", \"components\": {\"told\": {}}}]}");
    snprintf(kept, sizeof kept, "%s", scratch_file("memory_failure_again.ini", few));
    ini_path = kept;
    WORKS(at.host, bp_host_setup(at.host, ini_path));
    world = at.api->find(at.host, "main");
    WORKS(at.host, bp_world_step(world));
}

static void setting_up_again(void)
{
    scratch_file("memory_failure_again.ini", other_few);
    at.file = ini_path;
    TRY(bp_host_setup_again(at.host, ini_path, NULL));
    at.file = NULL;
    ck_assert_uint_eq(bp_host_configured_steps(at.host), 8);
    TRY_STEP(bp_world_step(world));
    scratch_file("memory_failure_again.ini", few);
    at.file = ini_path;
    TRY(bp_host_setup_again(at.host, ini_path, NULL));
    at.file = NULL;
    TRY_STEP(bp_world_step(world));
}

START_TEST(what_has_changed_in_an_ini_is_done_whole_or_not_at_all)
{
    fail_sparing(_i, set_up_few, setting_up_again, 100);
}
END_TEST

/* --- worlds of one file --------------------------------------------------------------------------------- */

static char both_path[1024];

static void make_shared_worlds(void)
{
    make_two_worlds();
    bp_entity_t e = entity_with(world, "body");
    WORKS(at.host, at.api->add(other, key_of(other, "label", ""), &e, 1));
    snprintf(both_path, sizeof both_path, "%s", scratch_file("memory_failure_both.bpe", "nothing yet"));
    WORKS(at.host, bp_host_save_worlds(at.host, NULL, 0, both_path));
}

static void saving_and_restoring_worlds(void)
{
    TRY(bp_host_save_worlds(at.host, NULL, 0, both_path));
    TRY(bp_host_restore_worlds(at.host, NULL, 0, both_path, 0));
    TRY_STEP(bp_world_step(world));
    bp_world_o *worlds[] = {other, world};
    TRY(bp_host_restore_worlds(at.host, worlds, 2, both_path, 0));
}

START_TEST(worlds_of_one_file_come_back_all_or_none)
{
    fail_sparing(_i, make_shared_worlds, saving_and_restoring_worlds, 50);
}
END_TEST

/* --- threads -------------------------------------------------------------------------------------------- */

START_TEST(steps_on_several_threads_fail_like_steps_on_one)
{
    enum { ROWS = 40000 };
    bp_entity_t *e = malloc(ROWS * sizeof *e);
    ck_assert_ptr_nonnull(e);
    bool refused = true;
    uint32_t nth = 1;
    for (; refused; nth++) {
        EXPECT(nth < MOST_REQUESTS, "a step that never gets through");
        rig_t rig;
        rig_init(&rig);
        rig.desc.threads = 3;
        rig_open(&rig);
        WORKS(rig.host, bp_host_load_plugin(rig.host, "zoo", NULL, 0));
        bp_world_o *w = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
        ck_assert_ptr_nonnull(w);
        WORKS(rig.host, bp_world_use_component(w, "body"));
        WORKS(rig.host, rig.api->world->create(w, prototype_of(w, "body", NULL, NULL, NULL), e, ROWS));
        rig.heap.refuse_first = rig.heap.requests + nth;
        rig.heap.refuse_last = _i == ONE ? rig.heap.refuse_first : UINT64_MAX;
        bp_result_t result = bp_world_step(w);
        refused = rig.heap.refused > 0;
        ck_assert_int_eq(result, refused ? BP_ERROR_MEMORY : BP_OK);
        rig.heap.refuse_first = 0;
        if (refused)
            WORKS(rig.host, bp_world_step(w));
        bp_vec3_t position;
        WORKS(rig.host, rig.api->property->get_named(w, e[ROWS - 1], "body", "position", BP_VEC3, &position));
        ck_assert_float_eq(position.z, 1.0f / 60.0f); /* one step's way, not two */
        rig_close(&rig);
    }
    ck_assert_uint_ge(nth, 3);
    free(e);
}
END_TEST

Suite *memory_failure_suite(void)
{
    Suite *suite = suite_create("memory_failure");
    TCase *tests = tcase_create("every allocation fails once");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, a_host_that_cannot_be_made_leaves_nothing, 0, MODES);
    tcase_add_loop_test(tests, a_plugin_that_cannot_be_loaded_leaves_nothing, 0, MODES);
    tcase_add_loop_test(tests, a_world_comes_whole_or_not_at_all, 0, MODES);
    tcase_add_loop_test(tests, a_world_that_could_not_be_made_does_not_change_what_is_collected, 0, MODES);
    tcase_add_loop_test(tests, names_keys_and_prototypes_come_or_do_not, 0, MODES);
    tcase_add_loop_test(tests, entities_are_created_all_or_none, 0, MODES);
    tcase_add_loop_test(tests, components_are_added_and_removed_for_all_or_none, 0, MODES);
    tcase_add_loop_test(tests, a_component_goes_from_all_entities_or_from_none, 0, MODES);
    tcase_add_loop_test(tests, values_are_set_for_all_or_none, 0, MODES);
    tcase_add_loop_test(tests, a_step_is_done_whole_or_not_begun, 0, MODES);
    tcase_add_loop_test(tests, destroying_inside_a_step_is_refused_whole, 0, MODES);
    tcase_add_loop_test(tests, the_dead_are_buried_and_announced_without_memory, 0, MODES);
    tcase_add_loop_test(tests, a_plugin_goes_from_all_worlds_or_from_none, 0, MODES);
    tcase_add_loop_test(tests, an_ini_is_done_whole_or_not_at_all, 0, MODES);
    tcase_add_loop_test(tests, worlds_of_one_file_come_back_all_or_none, 0, MODES);
    tcase_add_loop_test(tests, what_has_changed_in_an_ini_is_done_whole_or_not_at_all, 0, MODES);
    tcase_add_loop_test(tests, steps_on_several_threads_fail_like_steps_on_one, 0, MODES);
    suite_add_tcase(suite, tests);
    return suite;
}
