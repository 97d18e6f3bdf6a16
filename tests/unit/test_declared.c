/* test_declared.c - what a plugin declares, copied: the copies say the same to the last text when nothing of the
 * plugin's can be read any more, and counts that lead out of its image are refused.
 *
 * A declaration with one of everything is laid out in pages of its own, which are barred once it has been copied; its
 * lists of components, systems, tasks and loaders are the host's already, as for the host. `tell` writes down all that
 * a declaration leads to.
 */
#define _DEFAULT_SOURCE 1

#include "../suites.h"
#include "support.h"

#include "plugin/declared.h"
#include "plugin/plugin.h"
#include "plugin/registry.h"
#include "plugin/terms.h"

#include <bp_loader.h>
#include <bp_task.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#include <sys/mman.h>
#endif

enum { PAGES_BYTES = 1 << 16, TEXT_ROOM = 1 << 14, LARGEST = 64 << 10 };

/* --- a declaration ------------------------------------------------------------------------------------------------ */

static struct {
    char *start;
    size_t used;
    uint32_t texts;
} pages;

static void *lay(const void *bytes, size_t size)
{
    void *place = pages.start + pages.used;
    pages.used += (size + 15) / 16 * 16;
    ck_assert_uint_le(pages.used, PAGES_BYTES);
    return memcpy(place, bytes, size);
}

/* Another text each time. */
static const char *text(void)
{
    char words[16];
    int length = snprintf(words, sizeof words, "text_%u", pages.texts++);
    return lay(words, (size_t)length + 1);
}

static bp_field_t field(void)
{
    return (bp_field_t){.name = text(), .type = BP_F32, .initial = text(), .min = text(), .max = text(), .unit = text(),
                        .doc = text(), .former_name = text(), .values = text(), .count = pages.texts};
}

static bp_extension_list_t extensions(void)
{
    const bp_deaths_i deaths = {.which = pages.texts, .component = text(), .field = text()};
    const bp_extension_t items[] = {
        {.name = text(), .flags = pages.texts, .size = 24, .verbs = lay("twenty-four bytes of it", 24)},
        {.name = lay("bp_deaths", 10), .size = sizeof deaths, .verbs = lay(&deaths, sizeof deaths)},
        {.name = text()}};
    return (bp_extension_list_t){lay(items, sizeof items), COUNT(items), sizeof *items};
}

/* The items of the host's own lists. */
static struct {
    bp_component_i components[2];
    bp_system_i systems[2];
    bp_task_t tasks[2];
    bp_loader_t loaders[2];
} own;

static bp_component_i component(void)
{
    const bp_field_t fields[] = {field(), field()};
    const bp_storage_i storage = {.struct_size = sizeof storage, .padding = pages.texts};
    return (bp_component_i){.name = text(), .doc = text(), .reads = text(), .writes = text(),
                            .fields = {lay(fields, sizeof fields), 2, sizeof *fields},
                            .storage = lay(&storage, sizeof storage), .extensions = extensions()};
}

static bp_system_i system_with_terms(void)
{
    const bp_term_field_t asked[] = {{.name = text(), .column = pages.texts}, {.name = text(), .type = BP_I32}};
    const bp_term_t terms[] = {
        {.component = text(), .instance = text(), .world = text(), .flags = pages.texts,
         .fields = {lay(asked, sizeof asked), 2, sizeof *asked}},
        {.component = text()}};
    return (bp_system_i){.name = text(), .doc = text(), .before = text(), .after = text(), .reads = text(),
                         .writes = text(), .terms = {lay(terms, sizeof terms), 2, sizeof *terms},
                         .extensions = extensions()};
}

static bp_plugin_desc_t declare(void)
{
    pages.used = pages.texts = 0;
    for (uint32_t i = 0; i < 2; i++) {
        own.components[i] = component();
        own.systems[i] = system_with_terms();
        own.tasks[i] = (bp_task_t){.name = text()};
        own.loaders[i] = (bp_loader_t){.ending = text()};
    }
    const bp_field_t options[] = {field(), field()};
    const bp_table_t tables[] = {
        {.name = text(), .version = pages.texts, .size = 16, .entries = lay("sixteen bytes...", 16), .returns = text()},
        {.name = text()}};
    return (bp_plugin_desc_t){.components = BP_LIST(own.components), .systems = BP_LIST(own.systems),
                              .tasks = BP_LIST(own.tasks), .loaders = BP_LIST(own.loaders),
                              .options = {lay(options, sizeof options), 2, sizeof *options},
                              .tables = {lay(tables, sizeof tables), 2, sizeof *tables}, .extensions = extensions()};
}

/* --- all of it as text -------------------------------------------------------------------------------------------- */

static char told[2][TEXT_ROOM];

static char *say(char *at, const char *words)
{
    return at + sprintf(at, "%s ", words == NULL ? "-" : words);
}

static char *say_number(char *at, uint32_t number)
{
    return at + sprintf(at, "%u ", number);
}

static char *say_fields(char *at, const bp_field_list_t *list)
{
    at = say_number(say_number(at, list->count), list->item_size);
    for (uint32_t i = 0; i < list->count; i++) {
        const bp_field_t *f = &list->items[i];
        const char *const texts[] = {f->name, f->initial, f->min, f->max, f->unit, f->doc, f->former_name, f->values};
        for (size_t t = 0; t < COUNT(texts); t++)
            at = say(at, texts[t]);
        at = say_number(say_number(at, f->type), f->count);
    }
    return at;
}

static char *say_extensions(char *at, const bp_extension_list_t *list)
{
    at = say_number(say_number(at, list->count), list->item_size);
    for (uint32_t i = 0; i < list->count; i++) {
        const bp_extension_t *e = &list->items[i];
        at = say_number(say_number(say(at, e->name), e->flags), e->size);
        if (strcmp(e->name, "bp_deaths") == 0) {
            const bp_deaths_i *deaths = e->verbs;
            at = say_number(say(say(at, deaths->component), deaths->field), deaths->which);
        } else {
            at = say(at, e->verbs);
        }
    }
    return at;
}

static char *say_terms(char *at, const bp_term_list_t *list)
{
    at = say_number(say_number(at, list->count), list->item_size);
    for (uint32_t i = 0; i < list->count; i++) {
        const bp_term_t *t = &list->items[i];
        at = say_number(say(say(say(at, t->component), t->instance), t->world), t->flags);
        at = say_number(say_number(at, t->fields.count), t->fields.item_size);
        for (uint32_t f = 0; f < t->fields.count; f++)
            at = say_number(say_number(say(at, t->fields.items[f].name), t->fields.items[f].column),
                            t->fields.items[f].type);
    }
    return at;
}

static void tell(const bp_plugin_desc_t *desc, char *at)
{
    for (uint32_t i = 0; i < desc->components.count; i++) {
        const bp_component_i *c = &desc->components.items[i];
        at = say_number(say(say(say(say(at, c->name), c->doc), c->reads), c->writes), c->storage->padding);
        at = say_extensions(say_fields(at, &c->fields), &c->extensions);
    }
    for (uint32_t i = 0; i < desc->systems.count; i++) {
        const bp_system_i *s = &desc->systems.items[i];
        at = say(say(say(say(say(say(at, s->name), s->doc), s->before), s->after), s->reads), s->writes);
        at = say_extensions(say_terms(at, &s->terms), &s->extensions);
    }
    for (uint32_t i = 0; i < desc->tasks.count; i++)
        at = say(say(at, desc->tasks.items[i].name), desc->loaders.items[i].ending);
    at = say_fields(at, &desc->options);
    for (uint32_t i = 0; i < desc->tables.count; i++) {
        const bp_table_t *t = &desc->tables.items[i];
        at = say_number(say_number(say(say(at, t->name), t->returns), t->version), t->size);
        at += sprintf(at, "%.16s ", t->entries == NULL ? "-" : (const char *)t->entries);
    }
    say_extensions(at, &desc->extensions);
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static bp_result_t resize_result; /* BP_OK: there is memory */

static void *resize(void *context, void *old, size_t old_size, size_t new_size)
{
    (void)context, (void)old_size;
    if (new_size != 0)
        return resize_result == BP_OK ? realloc(old, new_size) : NULL;
    free(old);
    return NULL;
}

static memory_t memory;
static error_text_t error;

static void open_pages(void)
{
#if defined(_WIN32)
    pages.start = malloc(PAGES_BYTES);
    ck_assert_ptr_nonnull(pages.start);
#else
    pages.start = mmap(NULL, PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(pages.start != MAP_FAILED);
#endif
    resize_result = BP_OK;
    memory_init(&memory, "declared", &(bp_allocator_i){.resize = resize});
}

static void bar_pages(void)
{
#if defined(_WIN32)
    memset(pages.start, '?', PAGES_BYTES);
#else
    ck_assert_int_eq(munmap(pages.start, PAGES_BYTES), 0);
#endif
}

START_TEST(copies_say_the_same_when_nothing_of_the_plugin_can_be_read_any_more)
{
    declared_t declared;
    open_pages();
    bp_plugin_desc_t desc = declare();
    tell(&desc, told[0]);
    ck_assert_ptr_nonnull(strstr(told[0], "text_90"));
    EXPECT(declared_copy(&error, &memory, &desc, &declared) == BP_OK, "%s", error.text);
    bar_pages();
    tell(&desc, told[1]);
    EXPECT(strcmp(told[0], told[1]) == 0, "declared\n%s\nand copied\n%s", told[0], told[1]);
    declared_free(&memory, &declared);
    ck_assert(declared.block == NULL && declared.size == 0);
}
END_TEST

START_TEST(without_memory_nothing_is_copied_and_nothing_has_changed)
{
    declared_t declared;
    open_pages();
    bp_plugin_desc_t desc = declare();
    tell(&desc, told[0]);
    resize_result = BP_ERROR_MEMORY;
    ck_assert_int_eq(declared_copy(&error, &memory, &desc, &declared), BP_ERROR_MEMORY);
    tell(&desc, told[1]);
    ck_assert_str_eq(told[0], told[1]);
    declared_free(&memory, &declared);
    bar_pages();
}
END_TEST

/* Items of newer headers are longer, those of older ones shorter: what both know is copied. */
START_TEST(items_of_other_sizes_are_copied_as_far_as_they_are_known)
{
    typedef struct longer_t {
        bp_field_t field;
        const char *later;
    } longer_t;
    declared_t declared;
    open_pages();
    const longer_t longer[] = {{field(), (const char *)1}, {field(), (const char *)1}};
    bp_plugin_desc_t desc = {.options = {lay(longer, sizeof longer), 2, sizeof *longer}};
    ck_assert_int_eq(declared_copy(&error, &memory, &desc, &declared), BP_OK);
    ck_assert_uint_eq(desc.options.item_size, sizeof(bp_field_t));
    ck_assert_str_eq(desc.options.items[1].name, longer[1].field.name);
    ck_assert_str_eq(desc.options.items[1].doc, longer[1].field.doc);
    declared_free(&memory, &declared);
    desc.options = (bp_field_list_t){lay(longer, sizeof longer), 1, sizeof *longer};
    ck_assert_int_eq(declared_copy(&error, &memory, &desc, &declared), BP_OK);
    ck_assert_uint_eq(desc.options.item_size, sizeof(bp_field_t)); /* a list of one too */
    ck_assert_uint_eq(desc.options.count, 1);
    declared_free(&memory, &declared);
    enum { SHORT = offsetof(bp_field_t, initial) };
    char shorter[2 * SHORT];
    memcpy(shorter, &longer[0].field, SHORT);
    memcpy(shorter + SHORT, &longer[1].field, SHORT);
    desc.options = (bp_field_list_t){lay(shorter, sizeof shorter), 2, SHORT};
    ck_assert_int_eq(declared_copy(&error, &memory, &desc, &declared), BP_OK);
    ck_assert_str_eq(desc.options.items[1].name, longer[1].field.name);
    ck_assert(desc.options.items[1].initial == NULL && desc.options.items[1].doc == NULL);
    declared_free(&memory, &declared);
    bar_pages();
}
END_TEST

#if !defined(_WIN32)
/* An address of a text where nothing lies is told, wherever it stands. */
START_TEST(texts_that_cannot_be_read_are_refused)
{
    const char *nowhere = (const char *)16;
    declared_t declared;
    const char *const *const texts[] = {
        &own.components[1].name, &own.components[1].doc, &own.components[1].reads, &own.components[1].writes,
        &own.systems[1].name,    &own.systems[1].doc,    &own.systems[1].before,   &own.systems[1].after,
        &own.systems[1].reads,   &own.systems[1].writes, &own.tasks[1].name,       &own.loaders[1].ending};
    open_pages();
    for (size_t i = 0; i < COUNT(texts) + 3; i++) {
        bp_plugin_desc_t desc = declare();
        if (i < COUNT(texts))
            *(const char **)(uintptr_t)texts[i] = nowhere;
        else if (i == COUNT(texts))
            ((bp_term_t *)(uintptr_t)own.systems[0].terms.items)->world = nowhere;
        else if (i == COUNT(texts) + 1)
            ((bp_term_field_t *)(uintptr_t)own.systems[0].terms.items[0].fields.items)[1].name = nowhere;
        else
            ((bp_table_t *)(uintptr_t)desc.tables.items)[0].returns = nowhere;
        EXPECT(declared_copy(&error, &memory, &desc, &declared) == BP_ERROR_ABI, "text %u is read", (uint32_t)i);
        EXPECT(strstr(error.text, "a text lies at 0x10") != NULL, "%s", error.text);
        ck_assert(declared.block == NULL);
    }
    bar_pages();
}
END_TEST
#endif

/* --- counts ------------------------------------------------------------------------------------------------------- */

enum { IMAGE_BYTES = 4096 };

static char image[2 * IMAGE_BYTES];

typedef struct list_t {
    const void *items;
    uint32_t count, item_size;
} list_t;

/* Judge one list of the declaration, which is empty but for that. */
static bp_result_t judge(uint32_t which, list_t l)
{
    bp_component_i components[] = {{.name = "thing"}};
    bp_system_i systems[] = {{.name = "doer"}};
    bp_plugin_desc_t desc = {.version = NULL};
    plugin_t plugin = {.image_begin = image, .image_end = image + IMAGE_BYTES};
    switch (which) {
    case 0: desc.components = (bp_component_list_t){l.items, l.count, l.item_size}; break;
    case 1: desc.systems = (bp_system_list_t){l.items, l.count, l.item_size}; break;
    case 2: desc.options = (bp_field_list_t){l.items, l.count, l.item_size}; break;
    case 3: desc.tables = (bp_table_list_t){l.items, l.count, l.item_size}; break;
    case 4: desc.tasks = (bp_task_list_t){l.items, l.count, l.item_size}; break;
    case 5: desc.loaders = (bp_loader_list_t){l.items, l.count, l.item_size}; break;
    case 6: desc.extensions = (bp_extension_list_t){l.items, l.count, l.item_size}; break;
    case 7: components[0].fields = (bp_field_list_t){l.items, l.count, l.item_size}; break;
    case 8: components[0].extensions = (bp_extension_list_t){l.items, l.count, l.item_size}; break;
    case 9: systems[0].terms = (bp_term_list_t){l.items, l.count, l.item_size}; break;
    default: systems[0].extensions = (bp_extension_list_t){l.items, l.count, l.item_size}; break;
    }
    if (which < 7)
        return declared_judge_lists(&error, &plugin, &desc);
    desc.components = (bp_component_list_t)BP_LIST(components);
    desc.systems = (bp_system_list_t)BP_LIST(systems);
    return declared_judge_items(&error, &plugin, &desc);
}

static const char *const lists[] = {"components", "systems", "options",    "tables", "tasks",     "loaders",
                                    "extensions", "fields",  "extensions", "terms",  "extensions"};

/* Begin at a place of the image, or, at 0, elsewhere. */
static const struct {
    uint32_t at, count, item_size;
    const char *says; /* NULL: it is taken */
} counts[] = {
    {1, 0, UINT32_MAX, NULL},
    {0, 200, 4096, NULL},
    {0, 2, 4097, "more than the 4096 bytes that an item can have; use BP_LIST"},
    {0, 200, UINT32_MAX, "more than the 4096 bytes that an item can have; use BP_LIST"},
    {IMAGE_BYTES - 64, 1, 64, NULL},
    {IMAGE_BYTES - 64, 2, 32, NULL},
    {IMAGE_BYTES - 64, 1, 65, "more than its library has"},
    {IMAGE_BYTES - 64, 2, 33, "more than its library has"},
    {IMAGE_BYTES - 1, 1, 1, NULL},
    {IMAGE_BYTES - 1, 2, 1, "more than its library has"},
    {IMAGE_BYTES - 1, 255, UINT32_MAX, "more than its library has"},
    {IMAGE_BYTES, 2, 64, NULL}, /* behind it */
};

START_TEST(counts_are_bounded_by_the_image_in_which_a_list_begins)
{
    for (size_t i = 0; i < COUNT(counts); i++) {
        const char *items = counts[i].at == 0 ? (const char *)&own : image + counts[i].at;
        bp_result_t result = judge((uint32_t)_i, (list_t){items, counts[i].count, counts[i].item_size});
        EXPECT(result == (counts[i].says == NULL ? BP_OK : BP_ERROR_LIMIT), "%s, row %u: %s", lists[_i], (uint32_t)i,
               result == BP_OK ? "taken" : error.text);
        if (result == BP_OK)
            continue;
        char begins[128];
        snprintf(begins, sizeof begins, "%sits list of %s says %u items of %u bytes, which is more than ",
                 _i < 7   ? ""
                 : _i < 9 ? "component 'thing': "
                          : "system 'doer': ",
                 lists[_i], counts[i].count, counts[i].item_size);
        EXPECT(strstr(error.text, counts[i].says) != NULL && strncmp(error.text, begins, strlen(begins)) == 0, "%s",
               error.text);
    }
}
END_TEST

/* It may be one of several that are wrong: a name that is not there is none, and no bad address. */
START_TEST(a_list_of_something_without_a_name_is_refused_as_one_of_a_thing_not_known)
{
    bp_component_i components[] = {{.extensions = {(const bp_extension_t *)(const void *)&own, 4097, 8}}};
    bp_system_i systems[] = {{.extensions = {(const bp_extension_t *)(const void *)&own, 4097, 8}}};
    const bp_plugin_desc_t of_components = {.components = BP_LIST(components)};
    const bp_plugin_desc_t of_systems = {.systems = BP_LIST(systems)};
    plugin_t plugin = {.image_begin = image, .image_end = image + IMAGE_BYTES};
    ck_assert_int_eq(declared_judge_items(&error, &plugin, &of_components), BP_ERROR_LIMIT);
    EXPECT(strncmp(error.text, "component '?': its list of extensions ", 38) == 0, "%s", error.text);
    ck_assert_int_eq(declared_judge_items(&error, &plugin, &of_systems), BP_ERROR_LIMIT);
    EXPECT(strncmp(error.text, "system '?': its list of extensions ", 35) == 0, "%s", error.text);
}
END_TEST

START_TEST(lists_have_four_thousand_and_ninety_six_items_at_most)
{
    for (uint32_t which = 0; which < COUNT(lists); which++) {
        ck_assert_int_eq(judge(which, (list_t){&own, 4096, 8}), BP_OK);
        if (strcmp(lists[which], "fields") != 0) /* which the registry counts */
            EXPECT(judge(which, (list_t){&own, 4097, 4096}) == BP_ERROR_LIMIT, "%s", lists[which]);
        EXPECT(strstr(error.text, "the 4096 items that it can bring of a kind; divide it") != NULL, "%s", error.text);
    }
}
END_TEST

Suite *declared_suite(void)
{
    Suite *suite = suite_create("declared");
    TCase *tests = tcase_create("declared");
    tcase_add_test(tests, copies_say_the_same_when_nothing_of_the_plugin_can_be_read_any_more);
    tcase_add_test(tests, without_memory_nothing_is_copied_and_nothing_has_changed);
    tcase_add_test(tests, items_of_other_sizes_are_copied_as_far_as_they_are_known);
#if !defined(_WIN32)
    tcase_add_test(tests, texts_that_cannot_be_read_are_refused);
#endif
    tcase_add_loop_test(tests, counts_are_bounded_by_the_image_in_which_a_list_begins, 0, COUNT(lists));
    tcase_add_test(tests, a_list_of_something_without_a_name_is_refused_as_one_of_a_thing_not_known);
    tcase_add_test(tests, lists_have_four_thousand_and_ninety_six_items_at_most);
    suite_add_tcase(suite, tests);
    return suite;
}
