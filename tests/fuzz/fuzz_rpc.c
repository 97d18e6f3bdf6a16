/* fuzz_rpc.c - libFuzzer target of what the inspector reads: bodies of JSON-RPC, conditions, and headers at the door.
 *
 * The first byte says which. A body that was read is answered call by call, and each answer must be JSON; with an
 * allocator that fails nothing may be left behind. A condition that was read is tested on rows of every type. What the
 * door lets in must name this server.
 *
 * seeds: tests/fuzz/corpus/fuzz_rpc
 * canary: plugins/inspector/condition.c s/if (length >= size)/if (length > size + 64)/
 * canary: plugins/inspector/rpc.c s/json_array_size(body->tree) : 1;/json_array_size(body->tree) + 1 : 1;/
 * canary: plugins/inspector/door.c s/return listed(door->origins, .*;/return DOOR_LISTED;/
 */
#include "../../plugins/inspector/condition.h"
#include "../../plugins/inspector/door.h"
#include "../../plugins/inspector/rpc.h"
#include "../../plugins/inspector/shapes.h"

#include "account.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- bodies */

static void expect_json(writer_t *w)
{
    if (!w->failed) {
        json_t *read = json_loadb(w->bytes, w->length, 0, NULL);
        expect(read != NULL && json_is_object(read) && json_object_get(read, "id") != NULL);
        json_decref(read);
    }
    writer_release(w);
}

static void answer(const rpc_body_t *body, const allocator_t *allocator)
{
    expect(body->code != 0 || body->count == (body->batch ? json_array_size(body->tree) : 1));
    for (uint32_t i = 0; i < body->count; i++) {
        const rpc_call_t *call = &body->calls[i];
        writer_t w = {.allocator = allocator};
        expect((call->method == NULL) == (call->code != 0));
        if (call->code != 0) {
            rpc_error(&w, call, call->code, call->why);
        } else {
            rpc_begin(&w, call);
            writer_text(&w, call->method);
            rpc_end(&w);
        }
        expect_json(&w);
    }
    if (body->code != 0) {
        writer_t w = {.allocator = allocator};
        expect(body->count == 0 && body->why[0] != '\0');
        rpc_error(&w, NULL, body->code, body->why);
        expect_json(&w);
    }
}

static void fuzz_body(const uint8_t *data, size_t size, int allowed)
{
    account_t account = {.allowed = allowed};
    const allocator_t allocator = {&account, account_resize};
    rpc_body_t body;
    if (rpc_read(&body, &allocator, (const char *)data, size))
        answer(&body, &allocator);
    else
        expect(allowed >= 0);
    rpc_release(&body);
    expect(account.bytes == 0);
}

/* --- conditions */

static bool no_entity(void *context, bp_entity_t entity, const char *text)
{
    (void)context, (void)entity;
    return text[0] == '#';
}

static const char *no_name(void *context, bp_name_t name)
{
    (void)context, (void)name;
    return "name";
}

static void fuzz_condition(const char *text)
{
    static condition_t c;
    static const char *const words[4] = {"", "a", "earth", "moon"};
    condition_column_t columns[CONDITION_FIELDS_MAX];
    char sentence[CONDITION_SENTENCE_MAX], *values = calloc(CONDITION_ROWS, sizeof(bp_value_t));
    uint8_t mask[CONDITION_ROWS], has[CONDITION_ROWS];
    const condition_words_t hands = {NULL, no_entity, no_name};
    expect(values != NULL);
    if (condition_read(&c, text, sentence)) {
        memset(has, 1, sizeof has);
        has[1] = 0;
        for (uint32_t i = 0; i < c.field_count; i++) {
            uint32_t type = 1 + (uint32_t)(strlen(c.fields[i].component) + i) % (BP_TYPE_COUNT - 1);
            columns[i] = (condition_column_t){type == BP_STRING ? (const void *)words : values, shape_size(type), type,
                                              i % 2 == 0 ? NULL : has};
            if (c.fields[i].part_name[0] != '\0')
                c.fields[i].part = shape_part(type, c.fields[i].part_name);
        }
        condition_test(&c, columns, &hands, 4, mask);
        for (uint32_t i = 0; i < 4; i++)
            expect(mask[i] <= 1);
        expect(condition_certain(&c) == BP_NONE || condition_certain(&c) < c.field_count);
    } else {
        expect(sentence[0] != '\0');
    }
    free(values);
}

/* --- the door */

static void fuzz_door(char *text)
{
    static const door_t door = {
        .address = "127.0.0.1", .hosts = "h.example", .origins = "http://o.example", .token = "secret", .port = 80};
    char *origin = strchr(text, '\n');
    if (origin != NULL)
        *origin++ = '\0';
    if (door_host(&door, text))
        expect(text[0] == 'l' || text[0] == 'L' || text[0] == '1' || text[0] == '[' || text[0] == 'h' ||
               text[0] == 'H');
    int from = door_origin(&door, origin, text);
    if (from == DOOR_LISTED)
        expect(strlen(origin) == strlen(door.origins));
    if (from == DOOR_OWN && origin != NULL)
        expect(strlen(origin) == strlen(text) + 7);
    if (door_token(&door, text))
        expect(strlen(text) == 13);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size);
    expect(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 4) {
    case 0: fuzz_body(data + 1, size - 1, -1); break;
    case 1: fuzz_body(data + 1, size - 1, (int)(size % 7)); break;
    case 2: fuzz_condition(text); break;
    default: fuzz_door(text);
    }
    free(text);
    return 0;
}
