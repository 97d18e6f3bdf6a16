/* fuzz_scene.c - libFuzzer target of the scene compiler: any bytes as JSON.
 *
 * The input's block ends where the input ends. What compiles must be a blob that the check accepts, be the same when it
 * is compiled again in memory that was filled otherwise, and spawn; what does not must say where. Then once more with
 * an allocation that fails: an error, or the same blob. After each input all memory is back but for what the host has
 * interned. The allocator gives no more than MOST_BYTES, so that a count of four thousand million is an error here. A
 * host serves many inputs, since making one costs more than most of them.
 *
 * Half of the mutations keep the form: values are left out, doubled, put in the place of others, or the text is cut.
 * Others mostly make what is no JSON, and the compiler behind the reader sees little of them.
 *
 * seeds: tests/fuzz/corpus/fuzz_scene
 * canary: host/scene/json.c s/if (in->end - at < 4)/if (in->end < at)/
 * canary: host/scene/compile_values.c s/if (size != count)/if (size > count)/
 */
#include <backplane.h>

#include <scene/blob.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { MOST_BYTES = 64 << 20, INPUTS_A_HOST = 256 };

static void expect(int truth)
{
    if (!truth)
        abort();
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

typedef struct account_t {
    size_t bytes;
    int64_t allowed; /* allocations until one fails; negative: none fails */
    int pattern;     /* new memory is filled with it */
} account_t;

static void *resize(void *context, void *old, size_t old_size, size_t new_size)
{
    account_t *account = context;
    expect((old == NULL) <= (old_size == 0));
    if (new_size != 0 && (account->allowed == 0 ||
                          account->bytes - old_size > MOST_BYTES - (new_size < MOST_BYTES ? new_size : MOST_BYTES)))
        return NULL;
    account->allowed -= new_size != 0 && account->allowed > 0;
    account->bytes += new_size - old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    char *block = realloc(old, new_size);
    if (block != NULL && new_size > old_size)
        memset(block + old_size, account->pattern, new_size - old_size);
    return block;
}

/* --- components --------------------------------------------------------------------------------------------------- */

static const bp_field_t all_fields[] = {
    {.name = "b", .type = BP_BOOL},
    {.name = "i", .type = BP_I32, .min = "-9", .max = "9"},
    {.name = "u", .type = BP_U32, .initial = "7"},
    {.name = "l", .type = BP_I64},
    {.name = "f", .type = BP_F32, .min = "0"},
    {.name = "d", .type = BP_F64},
    {.name = "v2", .type = BP_VEC2},
    {.name = "v3", .type = BP_VEC3, .initial = "0 0 1"},
    {.name = "v4", .type = BP_VEC4},
    {.name = "q", .type = BP_QUAT},
    {.name = "m", .type = BP_MAT4},
    {.name = "c", .type = BP_COLOUR},
    {.name = "s", .type = BP_STRING, .initial = "text"},
    {.name = "e", .type = BP_ENTITY},
    {.name = "n", .type = BP_NAME},
    {.name = "i8", .type = BP_I8, .min = "-9"},
    {.name = "u8", .type = BP_U8},
    {.name = "i16", .type = BP_I16},
    {.name = "u16", .type = BP_U16, .initial = "7"},
    {.name = "u64", .type = BP_U64, .initial = "18446744073709551615"},
    {.name = "d2", .type = BP_DVEC2},
    {.name = "d3", .type = BP_DVEC3, .initial = "0 0 0.1"},
    {.name = "d4", .type = BP_DVEC4},
    {.name = "r", .type = BP_F32, .flags = BP_FIELD_READ_ONLY},
};
static const bp_field_t pose_fields[] = {{.name = "parent", .type = BP_ENTITY, .flags = BP_FIELD_PARENT}};
static const bp_field_t tag_fields[] = {{.name = "name", .type = BP_STRING, .flags = BP_FIELD_LABEL}};
static const bp_component_i components[] = {
    {.name = "all", .fields = BP_LIST(all_fields)},
    {.name = "pose", .flags = BP_COMPONENT_SINGLE, .fields = BP_LIST(pose_fields)},
    {.name = "tag", .fields = BP_LIST(tag_fields)},
    {.name = "none"},
};
static const bp_plugin_head_t plugin =
    BP_PLUGIN_HEAD("plugin", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(components)}));
static const bp_plugin_head_t *const plugins[] = {&plugin};

static void silent(void *context, int32_t level, const char *source, const char *text)
{
    (void)context, (void)level, (void)source, (void)text;
}

static bp_host_o *open_host(account_t *account)
{
    bp_host_desc_t desc = {.struct_size = sizeof desc,
                           .tag = 1,
                           .allocator = &(bp_allocator_i){.context = account, .resize = resize},
                           .log = &(bp_log_i){.write = silent},
                           .static_plugins = plugins,
                           .static_plugin_count = 1};
    bp_host_o *host = bp_host_create(&desc);
    expect(host != NULL && bp_host_load_plugin(host, "plugin", NULL, 0) == BP_OK);
    return host;
}

/* --- one input ---------------------------------------------------------------------------------------------------- */

static void check_blob(const bp_scene_o *scene)
{
    blob_t blob;
    memory_t memory;
    error_text_t error = {.calls = NULL};
    size_t size;
    const void *bytes = bp_scene_bytes(scene, &size);
    memory_init(&memory, "check", &(bp_allocator_i){.resize = NULL});
    expect(blob_open(&blob, &memory, bytes, size, "blob", &error) == BP_OK);
}

static void check_same(const bp_scene_o *a, const bp_scene_o *b)
{
    size_t size, other_size;
    const void *bytes = bp_scene_bytes(a, &size), *others = bp_scene_bytes(b, &other_size);
    expect(size == other_size && memcmp(bytes, others, size) == 0);
}

/* Spawning may fail, for want of memory or because a manager refuses; then the world has no entities. */
static void spawn(bp_host_o *host, bp_scene_o *scene)
{
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "world"});
    bp_spawn_t spawned;
    expect(world != NULL);
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
        expect(bp_world_use_component(world, components[i].name) == BP_OK);
    if (bp_scene_entity_count(scene) < 100000 && bp_scene_spawn(scene, world, 0, NULL, &spawned) == BP_OK)
        expect(bp_host_despawn(host, spawned) == bp_scene_entity_count(scene));
    expect(bp_host_api(host)->entity->count(host) == 0);
    bp_world_destroy(world);
}

/* Compile with an allocation that fails, or none, in memory filled with `pattern`. */
static bp_result_t compile(bp_host_o *host, account_t *account, const uint8_t *data, size_t size, int64_t allowed,
                           int pattern, bp_scene_o **scene)
{
    *scene = NULL;
    account->allowed = allowed;
    account->pattern = pattern;
    bp_result_t result = bp_scene_compile_text(host, "f", (const char *)data, size, scene);
    account->allowed = -1;
    expect((result == BP_OK) == (*scene != NULL));
    return result;
}

static void try(bp_host_o *host, account_t *account, const uint8_t *data, size_t size)
{
    bp_scene_o *scene, *again = NULL, *starved;
    size_t before = account->bytes;
    bp_result_t result = compile(host, account, data, size, -1, 0xa5, &scene);
    if (scene != NULL) {
        check_blob(scene);
        if (compile(host, account, data, size, -1, 0x5a, &again) == BP_OK) /* what a spawn needs may be all there is */
            check_same(scene, again);
        spawn(host, scene);
    } else {
        expect(strncmp(bp_host_error(host), "f:", 2) == 0 && account->bytes == before);
    }
    bp_result_t refused = compile(host, account, data, size, (int64_t)(size % 29), 0xa5, &starved);
    expect(refused == BP_ERROR_MEMORY || refused == result || result == BP_ERROR_MEMORY);
    if (starved != NULL && scene != NULL)
        check_same(scene, starved);
    bp_scene_close(scene);
    bp_scene_close(again);
    bp_scene_close(starved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static account_t account = {0, -1, 0};
    static bp_host_o *host;
    static uint32_t inputs;
    if (host == NULL)
        host = open_host(&account);
    try(host, &account, data, size);
    if (++inputs % INPUTS_A_HOST == 0) {
        bp_host_destroy(host);
        host = NULL;
        expect(account.bytes == 0);
    }
    return 0;
}

/* --- mutations that keep the form --------------------------------------------------------------------------------- */

typedef struct span_t {
    size_t at, size;
} span_t;

static size_t string_end(const uint8_t *data, size_t size, size_t at)
{
    for (at++; at < size && data[at] != '"'; at++)
        at += data[at] == '\\';
    return at < size ? at + 1 : size;
}

/* A value: the first that begins at or behind a random place, with all that is in it. */
static span_t random_span(const uint8_t *data, size_t size, uint64_t *random)
{
    size_t at = bp_random_below(random, (uint32_t)size), end, depth = 0;
    while (at < size && strchr("{[\"-0123456789tfn", data[at] == 0 ? ' ' : data[at]) == NULL)
        at++;
    for (end = at; end < size;) {
        uint8_t c = data[end];
        if (c == ',' || c == ':' || c == '}' || c == ']') {
            if (depth == 0)
                break;
            depth -= c == '}' || c == ']';
        }
        depth += c == '{' || c == '[';
        end = c == '"' ? string_end(data, size, end) : end + 1;
        if (depth == 0 && (c == '"' || c == '}' || c == ']'))
            break;
    }
    return (span_t){at, end - at};
}

/* Put `count` bytes in the place of a span. */
static size_t replace(uint8_t *data, size_t size, size_t max_size, span_t span, const uint8_t *bytes, size_t count)
{
    if (size - span.size + count > max_size)
        return size;
    memmove(data + span.at + count, data + span.at + span.size, size - span.at - span.size);
    if (count > 0)
        memcpy(data + span.at, bytes, count);
    return size - span.size + count;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    static uint8_t copy[4096];
    uint64_t random = seed;
    if (size < 8 || bp_random_below(&random, 2) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    span_t from = random_span(data, size, &random), to = random_span(data, size, &random);
    size_t count = from.size < sizeof copy ? from.size : 0;
    memcpy(copy, data + from.at, count);
    switch (bp_random_below(&random, 4)) {
    case 0: return 1 + bp_random_below(&random, (uint32_t)size);
    case 1: /* leave it out, with the comma behind it */
        from.size += from.at + from.size < size && data[from.at + from.size] == ',';
        return replace(data, size, max_size, from, NULL, 0);
    case 2: /* twice */
        copy[count++] = ',';
        return replace(data, size, max_size, (span_t){from.at, 0}, copy, count);
    default: return replace(data, size, max_size, to, copy, count);
    }
}
