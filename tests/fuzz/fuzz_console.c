/* fuzz_console.c - libFuzzer target of the console and of the API behind it: an input is a script of calls and lines.
 *
 * Each byte begins a step of the script: a call, the same as a line of the console, or any line that the input spells.
 * A naive model (what lives, what it has, two values each) says what calls and lines that the target writes itself must
 * come to. After a line that the input spells the model is read anew from the host, and any failure must have been
 * told. The host remembers its past, so lines go back in it. The allocator gives no more than MOST_BYTES. Lines whose
 * command touches files or takes any number of steps are left out.
 *
 * seeds: tests/fuzz/corpus/fuzz_console
 * canary: host/program/console_edit.c s/while (done < count/while (done + 1 < count/
 */
#include <backplane.h>

#include "../../host/program/console.h"
#include "account.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 16 << 20, KNOWN = 12, LINE_ROOM = 512, PAST_BYTES = 1 << 20, STEPS = 400 };
enum { A, B, T, COMPONENTS };

static const bp_field_t a_fields[] = {{.name = "i", .type = BP_I32}};
static const bp_field_t b_fields[] = {{.name = "s", .type = BP_STRING, .initial = "x"}, {.name = "v", .type = BP_VEC3}};
static const bp_component_i components[] = {
    {.name = "a", .fields = BP_LIST(a_fields)}, {.name = "b", .fields = BP_LIST(b_fields)}, {.name = "t"}};
static const bp_plugin_head_t plugin =
    BP_PLUGIN_HEAD("plugin", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(components)}));
static const bp_plugin_head_t *const plugins[] = {&plugin};

/* --- memory, log -------------------------------------------------------------------------------------------------- */

static account_t account;

static void silent(void *context, int32_t level, const char *source, const char *text)
{
    (void)context, (void)level, (void)source, (void)text;
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

typedef struct known_t {
    bp_entity_t entity;
    bool alive, has[COMPONENTS];
    int32_t i;
    char s[16];
} known_t;

static struct {
    program_t program;
    console_t console;
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;
    uint32_t keys[COMPONENTS], count, living; /* of known entities; of all */
    known_t known[KNOWN];
    bool went; /* a line may have gone back: what is remembered of the future comes again with the steps */
    char complaint[2048];
} at;

static void begin(void)
{
    account = (account_t){.allowed = -1, .most = MOST_BYTES};
    at.host = bp_host_create(&(bp_host_desc_t){.struct_size = sizeof(bp_host_desc_t),
                                               .tag = 1,
                                               .allocator = &(bp_allocator_i){.context = &account,
                                                                              .resize = account_resize},
                                               .log = &(bp_log_i){.write = silent},
                                               .static_plugins = plugins,
                                               .static_plugin_count = 1});
    expect(at.host != NULL && bp_host_load_plugin(at.host, "plugin", NULL, 0) == BP_OK);
    at.api = bp_host_api(at.host);
    at.world = bp_world_create(at.host, &(bp_world_desc_t){.name = "w", .step_rate = 10});
    for (uint32_t c = 0; c < COMPONENTS; c++) {
        expect(bp_world_use_component(at.world, components[c].name) == BP_OK);
        expect(at.api->world->key(at.world, at.api->world->component(at.world, components[c].name), 0, &at.keys[c]) ==
               BP_OK);
    }
    expect(bp_host_remember(at.host, PAST_BYTES) == BP_OK);
    at.count = at.living = 0;
    at.went = false;
    at.program = (program_t){.host = at.host, .api = at.api, .ini = "f", .ranks = 1,
                             .look = at.api->registry->find(at.host, BP_LOOK_API, 1)};
    at.console = (console_t){.program = &at.program};
}

static void end(void)
{
    for (uint32_t i = 0; i < at.console.watch_count; i++)
        free(at.console.watched[i]);
    free(at.console.spawns);
    free(at.console.tried);
    bp_host_destroy(at.host);
    expect(account.bytes == 0);
}

/* Is all as the model says? */
static void compare(void)
{
    expect(at.api->entity->count(at.host) == at.living);
    for (uint32_t n = 0; n < at.count; n++) {
        const known_t *k = &at.known[n];
        expect(at.api->entity->alive(at.host, &k->entity, 1, NULL) == k->alive);
        for (uint32_t c = 0; c < COMPONENTS; c++)
            expect(at.api->world->has(at.world, at.keys[c], &k->entity, 1, NULL) == (k->alive && k->has[c]));
        int32_t i = 0;
        const char *s = "";
        bp_result_t got = at.api->property->get_named(at.world, k->entity, "a", "i", BP_I32, &i);
        expect((got == BP_OK) == (k->alive && k->has[A]) && (got != BP_OK || i == k->i));
        got = at.api->property->get_named(at.world, k->entity, "b", "s", BP_STRING, &s);
        expect((got == BP_OK) == (k->alive && k->has[B]) && (got != BP_OK || strcmp(s, k->s) == 0));
    }
}

/* Take what the host says for the model; what lives in it must agree with itself. */
static void learn(void)
{
    uint32_t living = 0;
    for (uint32_t i = 0; i < at.api->entity->bound(at.host); i++)
        living += at.api->entity->at(at.host, i).id != 0;
    expect(living == at.api->entity->count(at.host));
    at.living = living;
    at.world = at.api->world->find(at.host, "w");
    expect(at.world != NULL);
    for (uint32_t n = 0; n < at.count; n++) {
        known_t *k = &at.known[n];
        const char *s = "";
        k->alive = at.api->entity->alive(at.host, &k->entity, 1, NULL) == 1;
        for (uint32_t c = 0; c < COMPONENTS; c++)
            k->has[c] = at.api->world->has(at.world, at.keys[c], &k->entity, 1, NULL) == 1;
        at.api->property->get_named(at.world, k->entity, "a", "i", BP_I32, &k->i);
        at.api->property->get_named(at.world, k->entity, "b", "s", BP_STRING, &s);
        snprintf(k->s, sizeof k->s, "%s", s);
    }
}

/* A new component's values. */
static void set_initial(known_t *k, uint32_t component)
{
    k->has[component] = true;
    if (component == A)
        k->i = 0;
    if (component == B)
        snprintf(k->s, sizeof k->s, "x");
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* What is refused is told. */
static bool run_line(char *line)
{
    at.complaint[0] = '\0';
    output_hold(at.complaint, sizeof at.complaint);
    bool good = console_do(&at.console, line);
    output_hold(NULL, 0);
    expect(good || at.complaint[0] != '\0');
    return good;
}

static bool may_run(const char *line)
{
    static const char *const words[] = {
        "help", "plugins", "worlds", "entities", "get", "set", "create", "add", "remove", "find", "watch", "unwatch",
        "destroy", "tree", "history", "back", "forward", "goto", "branch", "branches", "when", "bisect", "mark",
        "stats", "report", "despawn"};
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncmp(words[i], line, length) == 0)
            return true;
    return false;
}

static bool line_of(const known_t *k, const char *format, const char *rest)
{
    char id[64], line[LINE_ROOM];
    at.api->entity->format(at.host, k->entity, id, sizeof id);
    snprintf(line, sizeof line, format, id, rest);
    return run_line(line);
}

/* --- the script --------------------------------------------------------------------------------------------------- */

typedef struct script_t {
    const uint8_t *at, *end;
} script_t;

static uint32_t next(script_t *s, uint32_t below)
{
    return s->at < s->end ? *s->at++ % below : 0;
}

static void create(uint32_t mask)
{
    uint32_t keys[COMPONENTS], count = 0, prototype;
    if (at.count == KNOWN)
        return;
    known_t *k = &at.known[at.count++];
    *k = (known_t){.alive = true};
    at.living++;
    for (uint32_t c = 0; c < COMPONENTS; c++) {
        if ((mask >> c & 1) != 0) {
            keys[count++] = at.keys[c];
            set_initial(k, c);
        }
    }
    expect(at.api->world->prototype(at.world, keys, count, &prototype) == BP_OK &&
           at.api->world->create(at.world, prototype, &k->entity, 1) == BP_OK);
    for (uint32_t n = 0; n < at.count - 1; n++) /* one of a future that was left lives again, under its handle */
        if (at.known[n].entity.id == k->entity.id)
            at.known[n] = (known_t){.alive = false};
}

static void change_component(known_t *k, uint32_t c, bool add, bool by_line)
{
    bool good = k->alive && k->has[c] != add;
    bool did = by_line ? line_of(k, add ? "add w/%s %s" : "remove w/%s.%s", components[c].name)
               : add   ? at.api->world->add(at.world, at.keys[c], &k->entity, 1) == BP_OK
                       : at.api->world->remove(at.world, at.keys[c], &k->entity, 1) == BP_OK;
    expect(did == good);
    if (did && add)
        set_initial(k, c);
    else if (did)
        k->has[c] = false;
}

static void set_number(known_t *k, int32_t number, bool by_line)
{
    char rest[32];
    snprintf(rest, sizeof rest, "a.i %d", (int)number);
    bool did = by_line ? line_of(k, "set w/%s.%s", rest)
                       : at.api->property->set_named(at.world, k->entity, "a", "i", BP_I32, &number) == BP_OK;
    expect(did == (k->alive && k->has[A]));
    k->i = did ? number : k->i;
}

static void set_text(known_t *k, char letter, bool by_line)
{
    char rest[32], text[] = {'"', letter, letter, ' ', '"', '\0'};
    snprintf(rest, sizeof rest, "b.s %s", text);
    text[sizeof text - 2] = '\0';
    const char *value = text + 1;
    bool did = by_line ? line_of(k, "set w/%s.%s", rest)
                       : at.api->property->set_named(at.world, k->entity, "b", "s", BP_STRING, &value) == BP_OK;
    expect(did == (k->alive && k->has[B]));
    if (did)
        snprintf(k->s, sizeof k->s, "%s", value);
}

static void destroy(known_t *k, bool by_line)
{
    bool did = by_line ? line_of(k, "destroy w/%s%s", "") : at.api->entity->destroy(at.host, &k->entity, 1) == 1;
    expect(did == k->alive);
    at.living -= did;
    k->alive = false;
}

/* All up to the next line end. */
static void spelt_line(script_t *s)
{
    char line[LINE_ROOM];
    size_t length = 0;
    for (; s->at < s->end && *s->at != '\n'; s->at++)
        if (*s->at != '\0' && length < sizeof line - 1)
            line[length++] = (char)*s->at;
    s->at += s->at < s->end;
    line[length] = '\0';
    if (may_run(line)) {
        run_line(line);
        learn();
        at.went = true;
    }
}

static void do_next(script_t *s)
{
    uint32_t what = next(s, 16);
    known_t *k = at.count > 0 ? &at.known[next(s, at.count)] : NULL;
    if (what == 0 || k == NULL) {
        create(next(s, 1u << COMPONENTS));
        return;
    }
    switch (what) {
    case 1: case 2: destroy(k, what == 1); break;
    case 3: case 4: change_component(k, next(s, COMPONENTS), true, what == 3); break;
    case 5: case 6: change_component(k, next(s, COMPONENTS), false, what == 5); break;
    case 7: case 8: set_number(k, (int32_t)next(s, 256) - 128, what == 7); break;
    case 9: case 10: set_text(k, (char)('a' + next(s, 26)), what == 9); break;
    case 11:
        expect(bp_host_step(at.host) == BP_OK);
        if (at.went)
            learn();
        break;
    default: spelt_line(s); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool quiet;
    script_t script = {data, data + size};
    if (!quiet)
        expect(freopen("/dev/null", "w", stdout) != NULL);
    quiet = true;
    begin();
    for (uint32_t i = 0; i < STEPS && script.at < script.end; i++) {
        do_next(&script);
        compare();
    }
    end();
    return 0;
}
