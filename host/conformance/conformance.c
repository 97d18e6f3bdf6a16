/* conformance.c - the rig: a host with the plugin under test, watched from outside.
 *
 * The memory puts the size of each block before it: a plugin that gives back another size than it took breaks every
 * allocator that relies on that size, and no other check would notice. Blocks of a check live in the rig, since a
 * complaint leaves the check by longjmp.
 *
 * After a check the host is destroyed, and then every byte must have been given back and the log must have no line
 * about a leak: so every check is one for leaks too.
 */
#include "conformance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const bp_plugin_head_t bp_plugin_companion; /* companion.c */

/* --- memory and log -------------------------------------------------------------------------------- */

static void lock(conformance_memory_t *memory)
{
    while (atomic_flag_test_and_set(&memory->locked)) {
    }
}

static void unlink_block(const conformance_block_t *block)
{
    block->prev->next = block->next;
    block->next->prev = block->prev;
}

static void link_block(conformance_memory_t *memory, conformance_block_t *block)
{
    block->prev = &memory->all;
    block->next = memory->all.next;
    block->prev->next = block->next->prev = block;
}

static void *resize_block(conformance_memory_t *memory, conformance_block_t *block, size_t new_size)
{
    size_t had = block == NULL ? 0 : block->size;
    if (new_size > 0 && ++memory->calls == memory->fail_at)
        return NULL;
    if (block != NULL)
        unlink_block(block);
    if (new_size == 0) {
        memory->bytes -= had;
        free(block);
        return NULL;
    }
    conformance_block_t *made = realloc(block, sizeof *made + new_size);
    if (made == NULL && block != NULL)
        link_block(memory, block);
    if (made == NULL)
        return NULL;
    link_block(memory, made);
    memory->bytes += new_size - had;
    made->size = new_size;
    return made + 1;
}

static void *resize_rig(void *context, void *old, size_t old_size, size_t new_size)
{
    conformance_memory_t *memory = context;
    conformance_block_t *block = old == NULL ? NULL : (conformance_block_t *)old - 1;
    lock(memory);
    memory->wrong_size = memory->wrong_size || (block != NULL && block->size != old_size);
    void *result = resize_block(memory, block, new_size);
    atomic_flag_clear(&memory->locked);
    return result;
}

/* Free the blocks that were never given back, after the complaint about them has been made. */
static void free_rest(conformance_memory_t *memory)
{
    while (memory->all.next != &memory->all) {
        conformance_block_t *block = memory->all.next;
        unlink_block(block);
        free(block);
    }
}

static void write_log(void *context, int32_t level, const char *source, const char *text)
{
    conformance_t *c = context;
    if (level >= BP_LOG_WARNING && strstr(text, "not given back") != NULL && c->leak[0] == '\0')
        snprintf(c->leak, sizeof c->leak, "%s: %s", source, text);
}

void conformance_complain(conformance_t *c, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(c->complaint, sizeof c->complaint, format, values);
    va_end(values);
    if (c->complaint[0] == '\0')
        snprintf(c->complaint, sizeof c->complaint, "a complaint without words");
    longjmp(c->out, 1);
}

void conformance_forget_error(conformance_t *c)
{
    c->api->error->set(c->host, BP_OK, "");
}

void conformance_expect_sentence(conformance_t *c, bp_result_t result, const char *what)
{
    EXPECT(c, result == BP_OK || bp_host_error(c->host)[0] != '\0', "%s fails with %d and without a sentence", what,
           result);
}

void *conformance_new(conformance_t *c, size_t size)
{
    void *block = calloc(1, size > 0 ? size : 1);
    void **blocks = realloc(c->blocks, (c->block_count + 1) * sizeof *blocks);
    if (blocks != NULL)
        c->blocks = blocks;
    if (block == NULL || blocks == NULL) {
        free(block);
        conformance_complain(c, "the check itself is out of memory");
    }
    c->blocks[c->block_count++] = block;
    return block;
}

/* --- plugins --------------------------------------------------------------------------------------- */

/* The character that parts the words of a text: the line end, where the text has any, so that words may have blanks in
 * them; else the blank. */
static char between(const char *text)
{
    return strchr(text, '\n') != NULL ? '\n' : ' ';
}

/* Cut the next word off *text; NULL at its end. */
static char *next_word(char **text, char part)
{
    while (**text == part)
        (*text)++;
    char *word = *text;
    while (**text != '\0' && **text != part)
        (*text)++;
    if (word == *text)
        return NULL;
    if (**text == part)
        *(*text)++ = '\0';
    return word;
}

static bool is_loaded(bp_host_o *host, const char *name)
{
    const bp_plugin_head_t *desc;
    for (uint32_t i = 0; (desc = bp_host_plugin(host, i, NULL)) != NULL; i++) {
        if (strcmp(desc->name, name) == 0)
            return true;
    }
    return false;
}

static bp_result_t load_needs(bp_host_o *host, const conformance_subject_t *subject)
{
    char needs[sizeof subject->needs], *at = needs, *word;
    bp_result_t result = BP_OK;
    snprintf(needs, sizeof needs, "%s", subject->needs);
    while (result == BP_OK && (word = next_word(&at, between(subject->needs))) != NULL)
        result = bp_host_load_plugin(host, word, NULL, 0);
    return result;
}

static bp_result_t load_subject(bp_host_o *host, const conformance_subject_t *subject)
{
    char words[sizeof subject->options], *at = words, *word;
    bp_option_t options[CONFORMANCE_OPTIONS];
    uint32_t count = 0;
    snprintf(words, sizeof words, "%s", subject->options);
    while (count < CONFORMANCE_OPTIONS && (word = next_word(&at, between(subject->options))) != NULL) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        options[count++] =
            (bp_option_t){.name = word, .value = value == NULL ? "" : value, .origin = "options"};
    }
    return bp_host_load_plugin(host, subject->plugin, options, count);
}

/* The descriptor of the plugin that was loaded last. */
static const bp_plugin_head_t *last_plugin(bp_host_o *host)
{
    const bp_plugin_head_t *desc, *last = NULL;
    for (uint32_t i = 0; (desc = bp_host_plugin(host, i, NULL)) != NULL; i++)
        last = desc;
    return last;
}

/* Entry `index` of a list, read with the size of an entry that the plugin was built with; members beyond that size are
 * zero. */
static bp_component_i component_at(const bp_component_list_t *list, uint32_t index)
{
    bp_component_i known;
    memset(&known, 0, sizeof known);
    memcpy(&known, (const char *)list->items + (size_t)index * list->item_size,
           list->item_size < sizeof known ? list->item_size : sizeof known);
    return known;
}

uint32_t conformance_subjects(const conformance_subject_t *like, conformance_subject_t *subjects,
                              uint32_t capacity, char *complaint)
{
    static const bp_plugin_head_t *const linked[] = {&bp_plugin_companion}; /* the host looks at it later, too */
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
    uint32_t count = UINT32_MAX;
    complaint[0] = '\0';
    if (host != NULL && load_needs(host, like) == BP_OK && load_subject(host, like) == BP_OK) {
        const bp_component_list_t *list = &last_plugin(host)->desc->components;
        for (count = 0; count < list->count; count++) {
            if (count >= capacity)
                continue;
            subjects[count] = *like;
            snprintf(subjects[count].component, sizeof subjects[count].component, "%s",
                     component_at(list, count).name);
            subjects[count].of_world = (component_at(list, count).flags & BP_COMPONENT_WORLD) != 0;
        }
    } else {
        snprintf(complaint, CONFORMANCE_TEXT, "%s",
                 host == NULL ? "no host can be had" : bp_host_error(host));
    }
    bp_host_destroy(host);
    return count;
}

/* --- the rig --------------------------------------------------------------------------------------- */

static const char companion_file[] = "companion"; /* linked in */

/* The companion is never the component under test. */
static const char *companion(const conformance_t *c)
{
    return strcmp(c->subject->component, "companion") == 0 ? "companion_at_once" : "companion";
}

bp_world_o *conformance_world(conformance_t *c, const char *name)
{
    bp_world_o *world = bp_world_create(c->host, &(bp_world_desc_t){.name = name});
    EXPECT(c, world != NULL, "world '%s': %s", name, bp_host_error(c->host));
    EXPECT_OK(c, bp_world_use_component(world, companion(c)));
    EXPECT_OK(c, bp_world_use_component(world, c->subject->component));
    return world;
}

uint32_t conformance_key(conformance_t *c, bp_world_o *world, const char *name)
{
    uint32_t key;
    bp_name_t interned;
    EXPECT_OK(c, c->api->name->intern(c->host, name, &interned));
    EXPECT_OK(c, c->api->world->key(world, c->api->world->component(world, c->subject->component), interned,
                                    &key));
    return key;
}

static void learn_fields(conformance_t *c, const bp_field_list_t *list)
{
    EXPECT(c, list->count <= CONFORMANCE_FIELDS, "%u fields", list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        bp_field_t declared = {0};
        memcpy(&declared, (const char *)list->items + (size_t)i * list->item_size,
               list->item_size < sizeof declared ? list->item_size : sizeof declared);
        if ((declared.flags & BP_FIELD_HIDDEN) != 0)
            continue; /* no property */
        bool whole = declared.count > 1 || (declared.flags & BP_FIELD_LIST) != 0;
        conformance_property_t *p =
            whole ? &c->wholes[c->whole_count++] : &c->properties[c->property_count++];
        memset(p, 0, sizeof *p);
        p->declared = declared;
        p->index = i;
        conformance_learn_limits(p);
        if (whole) {
            p->room = conformance_new(c, conformance_room(p) * sizeof *p->room);
            p->items = conformance_new(c, conformance_room(p) * conformance_size(declared.type));
        }
    }
}

static void learn_extensions(conformance_t *c, const bp_extension_list_t *list)
{
    c->saving = (bp_save_i){0};
    for (uint32_t i = 0; i < list->count; i++) {
        const bp_extension_t *extension =
            (const bp_extension_t *)(const void *)((const char *)list->items + i * list->item_size);
        if (strcmp(extension->name, "bp_save") == 0)
            memcpy(&c->saving, extension->verbs, sizeof c->saving);
    }
}

/* Read the fields from the plugin's own list, not from the host's copy of it. */
static void learn(conformance_t *c)
{
    const bp_component_list_t *list = &last_plugin(c->host)->desc->components;
    for (uint32_t i = 0; i < list->count; i++) {
        bp_component_i known = component_at(list, i);
        if (strcmp(known.name, c->subject->component) != 0)
            continue;
        bp_component_i *table = conformance_new(c, sizeof *table);
        *table = known;
        c->table = table;
        c->single = (table->flags & BP_COMPONENT_SINGLE) != 0;
        c->storage = table->storage;
        c->own_storage = table->storage != NULL;
        c->of_world = (table->flags & BP_COMPONENT_WORLD) != 0;
        learn_extensions(c, &table->extensions);
        learn_fields(c, &table->fields);
    }
    EXPECT(c, c->table != NULL, "plugin '%s' brings no component '%s'", c->subject->plugin,
           c->subject->component);
}

void conformance_learn_again(conformance_t *c)
{
    c->property_count = c->whole_count = 0;
    c->table = NULL;
    learn(c);
}

void conformance_load_again(conformance_t *c)
{
    EXPECT_OK(c, load_subject(c->host, c->subject));
    conformance_learn_again(c);
}

static void make_friends(conformance_t *c)
{
    EXPECT_OK(c, c->api->entity->create(c->host, c->friends, CONFORMANCE_FRIENDS));
    for (uint32_t i = 0; i < CONFORMANCE_LABELS; i++) {
        char label[16];
        snprintf(label, sizeof label, "label_%u", i);
        EXPECT_OK(c, c->api->name->intern(c->host, label, &c->labels[i]));
    }
}

static void open_rig(conformance_t *c)
{
    static const bp_plugin_head_t *const linked[] = {&bp_plugin_companion}; /* the host looks at it later, too */
    c->host = bp_host_create(&(bp_host_desc_t){
        .flags = c->subject->next[0] != '\0' ? BP_HOST_COPY_PLUGINS : 0u, /* its file is written over */
        .static_plugins = linked,
        .static_plugin_count = 1,
        .threads = c->threads,
        .seed = 1,
        .tag = 2, /* check_refusals makes a host with another */
        .allocator = &(bp_allocator_i){.context = &c->memory, .resize = resize_rig},
        .log = &(bp_log_i){.context = c, .write = write_log},
    });
    EXPECT(c, c->host != NULL, "no host can be had");
    c->api = bp_host_api(c->host);
    bool own = strcmp(c->subject->plugin, companion_file) == 0;
    if (!own)
        EXPECT_OK(c, bp_host_load_plugin(c->host, companion_file, NULL, 0));
    EXPECT_OK(c, load_needs(c->host, c->subject));
    EXPECT_OK(c, load_subject(c->host, c->subject));
    EXPECT(c, is_loaded(c->host, "companion"), "the companion is missing");
    learn(c);
    make_friends(c);
    c->world = conformance_world(c, "main");
    c->component = c->api->world->component(c->world, c->subject->component);
    c->key = conformance_key(c, c->world, "");
    EXPECT_OK(c, c->api->world->key(c->world, c->api->world->component(c->world, companion(c)), 0,
                                    &c->companion_key));
}

static void close_rig(conformance_t *c)
{
    c->memory.fail_at = 0;
    bp_host_destroy(c->host);
    if (c->complaint[0] != '\0')
        return;
    if (c->memory.wrong_size) /* the host's sums are wrong too then */
        snprintf(c->complaint, sizeof c->complaint,
                 "memory was given back with another size than it was taken with");
    else if (c->leak[0] != '\0')
        snprintf(c->complaint, sizeof c->complaint, "leak: %.480s", c->leak);
    else if (c->memory.bytes != 0)
        snprintf(c->complaint, sizeof c->complaint, "%zu bytes were not given back", c->memory.bytes);
}

/* Run one check in one rig. Returns its digest. */
static uint64_t run_once(const conformance_subject_t *subject, const conformance_check_t *check,
                         uint32_t threads, char *complaint)
{
    conformance_t *c = calloc(1, sizeof *c);
    snprintf(complaint, CONFORMANCE_TEXT, "the check itself is out of memory");
    if (c == NULL)
        return 0;
    c->subject = subject;
    c->threads = threads;
    c->memory.all.prev = c->memory.all.next = &c->memory.all;
    if (setjmp(c->out) == 0) {
        open_rig(c);
        if (check->asks_worlds == c->of_world)
            check->run(c);
    }
    close_rig(c);
    free_rest(&c->memory);
    uint64_t digest = c->digest;
    snprintf(complaint, CONFORMANCE_TEXT, "%s", c->complaint);
    for (uint32_t i = 0; i < c->block_count; i++)
        free(c->blocks[i]);
    free(c->blocks);
    free(c);
    return digest;
}

bool conformance_run(const conformance_subject_t *subject, const conformance_check_t *check, char *complaint)
{
    uint64_t digest = run_once(subject, check, 0, complaint);
    if (complaint[0] != '\0' || check->threads == 0)
        return complaint[0] == '\0';
    uint64_t again = run_once(subject, check, check->threads, complaint);
    if (complaint[0] == '\0' && again != digest)
        snprintf(complaint, CONFORMANCE_TEXT, "on %u threads the values differ from those on one",
                 check->threads);
    return complaint[0] == '\0';
}

/* --- for checks ------------------------------------------------------------------------------------ */

static bp_entity_t *create_of(conformance_t *c, const uint32_t *keys, uint32_t key_count, uint32_t count)
{
    uint32_t prototype;
    bp_entity_t *entities = conformance_new(c, count * sizeof *entities);
    EXPECT_OK(c, c->api->world->prototype(c->world, keys, key_count, &prototype));
    EXPECT_OK(c, c->api->world->create(c->world, prototype, entities, count));
    return entities;
}

bp_entity_t *conformance_create(conformance_t *c, uint32_t count)
{
    return create_of(c, &c->key, 1, count);
}

bp_entity_t *conformance_create_both(conformance_t *c, uint32_t count)
{
    return create_of(c, (const uint32_t[]){c->key, c->companion_key}, 2, count);
}

uint32_t conformance_count(conformance_t *c, bp_world_o *world)
{
    return c->api->world->count(world, c->api->world->component(world, c->subject->component));
}

void conformance_tag(conformance_t *c, bp_world_o *world, bp_entity_t e, uint32_t tag)
{
    char note[16];
    const char *text = note;
    snprintf(note, sizeof note, "%u", tag);
    EXPECT_OK(c, c->api->property->set_named(world, e, companion(c), "tag", BP_U32, &tag));
    EXPECT_OK(c, c->api->property->set_named(world, e, companion(c), "note", BP_STRING, &text));
}

void conformance_expect_tag(conformance_t *c, bp_world_o *world, bp_entity_t e, uint32_t tag,
                            const char *when)
{
    char note[16];
    uint32_t found;
    const char *text;
    snprintf(note, sizeof note, "%u", tag);
    EXPECT_OK(c, c->api->property->get_named(world, e, companion(c), "tag", BP_U32, &found));
    EXPECT_OK(c, c->api->property->get_named(world, e, companion(c), "note", BP_STRING, &text));
    EXPECT(c, found == tag && strcmp(text, note) == 0,
           "%s: the companion of an entity has tag %u and note '%s' instead of %u", when, found, text, tag);
}
