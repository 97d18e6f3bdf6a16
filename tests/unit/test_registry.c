/* test_registry.c - what the registry keeps of what plugins declare: every word of it, and no address of the plugin's;
 * nothing new where memory is lacking; names alone where the plugin has gone; and which field a former name leads to.
 *
 * Declarations lie in a place of their own, which is overwritten as soon as they have been registered. The registry is
 * that of a host whose memory is watched; plugins are names alone. `tell` writes down all that the registry has.
 */
#include "../suites.h"
#include "support.h"

#include "engine/host.h"
#include "plugin/registry.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_BYTES = 1 << 14, TEXT_ROOM = 1 << 15, MOST_REQUESTS = 1000 };

static rig_t rig;
static registry_t *registry;
static char name_of_one[] = "one", name_of_two[] = "two";
static plugin_t one = {.name = name_of_one}, two = {.name = name_of_two};

/* --- declarations ------------------------------------------------------------------------------------------------- */

static _Alignas(16) char place[PLACE_BYTES];
static size_t place_used;

static void *lay(const void *bytes, size_t size)
{
    void *at = place + place_used;
    place_used += (size + 15) / 16 * 16;
    ck_assert_uint_le(place_used, sizeof place);
    return memcpy(at, bytes, size);
}

static const char *lay_text(const char *text)
{
    return lay(text, strlen(text) + 1);
}

/* `count` words that stand for functions: `first` and those behind it. They are never called. */
static const void *lay_verbs(uintptr_t first, size_t count)
{
    uintptr_t verbs[16];
    for (size_t i = 0; i < count; i++)
        verbs[i] = first + i;
    return lay(verbs, count * sizeof verbs[0]);
}

static void overwrite_declarations(void)
{
    memset(place, 0x5a, sizeof place);
    place_used = 0;
}

static bp_extension_t extension(const char *name, const void *verbs, size_t size)
{
    return (bp_extension_t){.name = lay_text(name), .size = (uint32_t)size, .verbs = verbs};
}

typedef void (*any_verb_t)(void);

static any_verb_t verb(uintptr_t number)
{
    any_verb_t function;
    memcpy(&function, &number, sizeof function);
    return function;
}

/* A component with one of everything that a component with rows can have. */
static bp_component_i whole_component(void)
{
    const bp_field_t fields[] = {
        {.name = lay_text("hp"), .type = BP_F32, .initial = lay_text("100"), .min = lay_text("1"),
         .max = lay_text("250"), .unit = lay_text("points"), .doc = lay_text("health"),
         .former_name = lay_text("health"), .access = BP_WRITE, .column = 1},
        {.name = lay_text("label"), .type = BP_STRING, .initial = lay_text("nobody")},
        {.name = lay_text("words"), .type = BP_STRING, .count = 2, .initial = lay_text("[\"a\", \"b\"]")},
        {.name = lay_text("to"), .type = BP_ENTITY},
        {.name = lay_text("kept"), .type = BP_I32, .flags = BP_FIELD_HIDDEN},
        {.name = lay_text("anew"), .type = BP_I32, .flags = BP_FIELD_HIDDEN | BP_FIELD_DERIVED}};
    bp_deaths_i deaths = {.which = BP_DEATHS_REFERRED, .field = lay_text("to")};
    any_verb_t died = verb(0x41);
    memcpy(&deaths.died, &died, sizeof died);
    const bp_extension_t extensions[] = {
        extension("bp_save", lay_verbs(0x11, 2), 2 * sizeof(void *)),
        extension("bp_report", lay_verbs(0x21, 1), sizeof(void *)),
        extension("bp_rows", lay_verbs(0x31, 3), 3 * sizeof(void *)),
        extension("bp_deaths", lay(&deaths, sizeof deaths), sizeof deaths),
        extension("bp_spawn_order", lay(&(bp_spawn_order_i){-7}, sizeof(bp_spawn_order_i)), sizeof(bp_spawn_order_i))};
    bp_component_i made = {.name = lay_text("thing"), .doc = lay_text("what it is"), .version = 3,
                           .flags = BP_COMPONENT_PARALLEL,
                           .fields = {lay(fields, sizeof fields), COUNT(fields), sizeof fields[0]},
                           .reads = lay_text("other"), .writes = lay_text("another"), .state_form = 0x500000008,
                           .keeps = BP_KEEP_UNSAID, .user = &rig,
                           .extensions = {lay(extensions, sizeof extensions), COUNT(extensions), sizeof extensions[0]}};
    any_verb_t verbs[] = {verb(0x51), verb(0x52), verb(0x53)};
    memcpy(&made.start, &verbs[0], sizeof verbs[0]);
    memcpy(&made.stop, &verbs[1], sizeof verbs[1]);
    memcpy(&made.simulate, &verbs[2], sizeof verbs[2]);
    return made;
}

/* One with storage of its own. */
static bp_component_i own_component(void)
{
    const bp_field_t fields[] = {{.name = lay_text("size"), .type = BP_F64, .initial = lay_text("2")}};
    uintptr_t storage[sizeof(bp_storage_i) / sizeof(uintptr_t)];
    for (size_t i = 0; i < COUNT(storage); i++)
        storage[i] = 0x60 + i;
    const uint32_t size = sizeof(bp_storage_i);
    memcpy(storage, &size, sizeof size);
    return (bp_component_i){.name = lay_text("owned"), .fields = {lay(fields, sizeof fields), 1, sizeof fields[0]},
                            .storage = lay(storage, sizeof storage)};
}

static bp_system_i whole_system(void)
{
    const bp_term_field_t asked[] = {{.name = lay_text("hp"), .type = BP_F32, .access = BP_WRITE},
                                     {.name = lay_text("none"), .type = BP_U8, .flags = BP_TERM_FIELD_OPTIONAL}};
    const bp_term_t terms[] = {
        {.component = lay_text("thing"), .instance = lay_text("first"),
         .fields = {lay(asked, sizeof asked), COUNT(asked), sizeof asked[0]}},
        {.component = lay_text("owned"), .flags = BP_TERM_OPTIONAL},
        {.component = lay_text("thing"), .world = lay_text("beside"), .flags = BP_TERM_BESIDE}};
    bp_system_deaths_i deaths = {.which = BP_DEATHS_WITH, .component = lay_text("thing")};
    any_verb_t died = verb(0x41);
    memcpy(&deaths.died, &died, sizeof died);
    const bp_extension_t extensions[] = {
        extension("bp_save", lay_verbs(0x11, 2), 2 * sizeof(void *)),
        extension("bp_report", lay_verbs(0x21, 1), sizeof(void *)),
        extension("bp_rewind", lay_verbs(0x31, 1), sizeof(void *)),
        extension("bp_deaths", lay(&deaths, sizeof deaths), sizeof deaths)};
    bp_system_i made = {.name = lay_text("mover"), .doc = lay_text("what it does"), .flags = BP_SYSTEM_OUTPUT,
                        .terms = {lay(terms, sizeof terms), COUNT(terms), sizeof terms[0]},
                        .before = lay_text("late"), .after = lay_text("early"), .reads = lay_text("other"),
                        .writes = lay_text("another"), .state_form = 0x700000010, .keeps = BP_KEEP_SAVED, .user = &rig,
                        .extensions = {lay(extensions, sizeof extensions), COUNT(extensions), sizeof extensions[0]}};
    any_verb_t verbs[] = {verb(0x51), verb(0x52), verb(0x53), verb(0x54), verb(0x55)};
    memcpy(&made.start, &verbs[0], sizeof verbs[0]);
    memcpy(&made.stop, &verbs[1], sizeof verbs[1]);
    memcpy(&made.run, &verbs[2], sizeof verbs[2]);
    memcpy(&made.entities_added, &verbs[3], sizeof verbs[3]);
    memcpy(&made.entities_removed, &verbs[4], sizeof verbs[4]);
    return made;
}

static bp_component_i small_component(const char *name, const char *field, const char *former)
{
    const bp_field_t fields[] = {{.name = lay_text(field), .type = BP_F32, .former_name = lay_text(former),
                                  .max = lay_text("9")}};
    return (bp_component_i){.name = lay_text(name), .fields = {lay(fields, sizeof fields), 1, sizeof fields[0]}};
}

static bp_system_i small_system(const char *name)
{
    bp_system_i made = {.name = lay_text(name)};
    any_verb_t run_all = verb(0x71);
    memcpy(&made.run_all, &run_all, sizeof run_all);
    return made;
}

/* A table with `entries` entries that say "rcpn" in turn. */
static bp_table_t table_of(uint32_t version, uint32_t entries)
{
    char returns[160] = "";
    uintptr_t table[160] = {0};
    for (uint32_t i = 0; i < entries; i++) {
        table[1 + i] = 0x1000 * version + i;
        returns[i] = "rcpn"[i % 4];
    }
    size_t size = 8 + entries * sizeof(void *);
    return (bp_table_t){.name = lay_text("tools"), .version = version, .size = (uint32_t)size,
                        .entries = lay(table, size), .returns = lay_text(returns)};
}

static bp_result_t add_component(plugin_t *owner, bp_component_i declared)
{
    bp_result_t result = registry_add_component(registry, owner, &declared);
    overwrite_declarations();
    return result;
}

static bp_result_t add_system(plugin_t *owner, bp_system_i declared)
{
    bp_result_t result = registry_add_system(registry, owner, &declared);
    overwrite_declarations();
    return result;
}

static bp_result_t offer(plugin_t *owner, bp_table_t table)
{
    bp_result_t result = registry_offer(registry, owner, &table, sizeof table);
    overwrite_declarations();
    return result;
}

/* --- all of it as text -------------------------------------------------------------------------------------------- */

typedef struct page_t {
    char text[TEXT_ROOM];
    size_t used;
} page_t;

static void say(page_t *page, const char *format, ...) PRINTF_LIKE(2, 3);

static void say(page_t *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    page->used += (size_t)vsnprintf(page->text + page->used, TEXT_ROOM - page->used, format, arguments);
    va_end(arguments);
    ck_assert_uint_lt(page->used, TEXT_ROOM);
}

/* Words that are not 0, with their numbers. */
static void say_words(page_t *page, const char *what, const void *bytes, size_t size)
{
    uintptr_t word;
    bool any = false;
    for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
        memcpy(&word, (const char *)bytes + at, sizeof word);
        if (word == 0)
            continue;
        say(page, "%s%s %zu:%zx", any ? "" : "  ", any ? "" : what, at / sizeof word, (size_t)word);
        any = true;
    }
    if (any)
        say(page, "\n");
}

static void expect_no_address(const char *what, const void *bytes, size_t size)
{
    uintptr_t word, begin = (uintptr_t)place, end = begin + sizeof place;
    for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
        memcpy(&word, (const char *)bytes + at, sizeof word);
        EXPECT(word < begin || word >= end, "word %zu of %s leads to the plugin's declaration", at / sizeof word, what);
    }
}

static const char *or_none(const char *text)
{
    return text == NULL ? "none" : text;
}

static void say_component(page_t *page, const component_t *c)
{
    const bp_component_i *t = &c->table;
    say(page, "component %s of %s: doc '%s' reads '%s' writes '%s'\n", c->name,
        c->owner == NULL ? "nobody" : c->owner->name, or_none(c->doc), or_none(c->reads), or_none(c->writes));
    EXPECT((t->name == c->name || c->owner == NULL) && t->doc == c->doc && t->reads == c->reads &&
           t->writes == c->writes, "texts of %s", c->name);
    EXPECT(t->fields.items == NULL && t->fields.count == 0 && t->extensions.items == NULL &&
           t->extensions.count == 0 && t->storage == NULL, "lists of %s", c->name);
    say_words(page, "numbers", &(uint64_t[]){t->version, t->flags, t->state_form, t->keeps}, 32);
    say_words(page, "verbs", &t->start, 3 * sizeof(void *));
    say_words(page, "storage", &c->storage, sizeof c->storage);
    say_words(page, "save", &c->saving, sizeof c->saving);
    say_words(page, "report", &c->reporting, sizeof c->reporting);
    say_words(page, "rows", &c->rows, sizeof c->rows);
    say_words(page, "deaths", &c->deaths, sizeof c->deaths);
    if (c->asked_deaths.which != 0)
        say(page, "  asks %u %s %s\n", c->asked_deaths.which, or_none(c->asked_deaths.component),
            or_none(c->asked_deaths.field));
    say(page, "  order %d%s%s\n", c->spawn_order, c->own_storage ? ", own storage" : "",
        t->user == &rig ? ", the user's" : "");
    for (uint32_t i = 0; i < component_columns(c); i++) {
        const field_t *f = &c->fields[i];
        say(page, "  %s %s was '%s' is '%s' unit '%s' doc '%s'\n", i < c->field_count ? "field" : "hidden", f->name,
            f->former_name, f->initial_text, f->unit, f->doc);
        if (f->type == BP_STRING && f->initial_cell == NULL)
            say(page, "    %s\n", f->initial.string);
        for (uint32_t e = 0; f->type == BP_STRING && f->initial_cell != NULL && e < f->elements; e++)
            say(page, "    %s\n", ((const char **)(void *)f->initial_cell)[e]);
        EXPECT(i >= c->field_count || c->bound[i]->hash == f->hash, "the record of %s", f->name);
    }
    for (uint32_t i = 0; i < c->known_count; i++) {
        const known_field_t *k = c->known[i];
        const char *to = k->renamed == NULL ? "" : k->renamed->name;
        if (k->field == NULL)
            say(page, "  record %s -> %s\n", k->name, to);
        else
            say(page, "  record %s is field %u from %g to %g -> %s\n", k->name, k->index, (double)k->min_f32,
                (double)k->max_f32, to);
        EXPECT(k->field == NULL || k->field == &c->fields[k->index], "the record of %s", k->name);
    }
    expect_no_address(c->name, c, sizeof *c);
    if (c->fields != NULL)
        expect_no_address("its fields", c->fields, component_columns(c) * sizeof *c->fields);
}

static void say_system(page_t *page, const system_t *s)
{
    const bp_system_i *t = &s->table;
    say(page, "system %s of %s: doc '%s' before '%s' after '%s' reads '%s' writes '%s'\n", s->name,
        s->owner == NULL ? "nobody" : s->owner->name, or_none(s->doc), or_none(s->before), or_none(s->after),
        or_none(s->reads), or_none(s->writes));
    EXPECT((t->name == s->name || s->owner == NULL) && t->doc == s->doc && t->before == s->before &&
           t->after == s->after && t->reads == s->reads && t->writes == s->writes, "texts of %s", s->name);
    EXPECT(t->terms.items == NULL && t->terms.count == 0 && t->extensions.items == NULL && t->extensions.count == 0,
           "lists of %s", s->name);
    say_words(page, "numbers", &(uint64_t[]){t->flags, t->state_form, t->keeps, t->user == &rig}, 32);
    say_words(page, "verbs", &t->start, 6 * sizeof(void *));
    say_words(page, "report", &s->reporting, sizeof s->reporting);
    say_words(page, "save", &s->saving, sizeof s->saving);
    say_words(page, "rewind", &s->rewinding, sizeof s->rewinding);
    say_words(page, "deaths", &s->deaths, sizeof s->deaths);
    if (s->asked_deaths.which != 0)
        say(page, "  asks %u %s %s\n", s->asked_deaths.which, or_none(s->asked_deaths.component),
            or_none(s->asked_deaths.field));
    for (uint32_t i = 0; i < s->term_count; i++) {
        const term_t *term = &s->terms[i];
        say(page, "  term %s '%s' %s flags %u world '%s'\n", term->component, term->instance_text,
            term->instance == 0 ? "any" : "named", term->flags, term->world);
        for (uint32_t f = 0; f < term->field_count; f++)
            say(page, "    %s type %u access %u elements %u%s%s\n", term->fields[f].name, term->fields[f].type,
                term->fields[f].access, term->fields[f].elements, term->fields[f].list ? " list" : "",
                term->fields[f].optional ? " optional" : "");
    }
    expect_no_address(s->name, s, sizeof *s);
    if (s->terms != NULL)
        expect_no_address("its terms", s->terms, s->term_count * sizeof *s->terms);
}

/* Entries at work are the functions given; those of a silent table stand in their place, and leave a sentence where
 * they return a result. */
static void say_table(page_t *page, const table_slot_t *slot)
{
    uint32_t at_work = 0, silent = 0;
    uintptr_t first = 0, entry;
    for (uint32_t i = 0; 8 + (i + 1) * sizeof entry <= slot->size; i++) {
        memcpy(&entry, (const char *)slot->table + 8 + i * sizeof entry, sizeof entry);
        if (entry == 0)
            continue;
        ck_assert_ptr_nonnull(slot->returns);
        if (entry < 0x100000) {
            first = at_work == 0 ? entry : first;
            EXPECT(entry == first + i, "entry %u of %s", i, slot->name);
            at_work++;
            continue;
        }
        EXPECT(slot->refuse == NULL || i >= strlen(slot->returns) ||
               (entry == (uintptr_t)slot->refuse) == (slot->returns[i] == 'r'),
               "what entry %u of %s answers", i, slot->name);
        silent++;
    }
    say(page, "table %s of %s: room %zu size %u version %u promised %u, %zu letters, %u at work from %zx, %u silent\n",
        slot->name, slot->owner == NULL ? "nobody" : slot->owner->name, slot->size, slot->table[0], slot->table[1],
        slot->promised, slot->returns == NULL ? 0 : strlen(slot->returns), at_work, (size_t)first, silent);
    expect_no_address(slot->name, slot, sizeof *slot);
}

static page_t pages[2];

/* Write all slots down, or those alone that a plugin fills. */
static const char *tell(uint32_t which, bool empty_ones)
{
    page_t *page = &pages[which];
    page->used = 0;
    page->text[0] = '\0';
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (empty_ones || registry->components[i]->owner != NULL)
            say_component(page, registry->components[i]);
    }
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (empty_ones || registry->systems[i]->owner != NULL)
            say_system(page, registry->systems[i]);
    }
    for (uint32_t i = 0; i < registry->table_count; i++) {
        if (empty_ones || registry->tables[i]->owner != NULL)
            say_table(page, registry->tables[i]);
    }
    return page->text;
}

static void expect_text(const char *is, const char *wanted)
{
    EXPECT(strcmp(is, wanted) == 0, "the registry has:\n%sinstead of:\n%s", is, wanted);
}

#define DONE(call) EXPECT((call) == BP_OK, "%s: %s", #call, bp_host_error(rig.host))

static void begin(void)
{
    rig_init(&rig);
    rig.log.text[0] = '\0';
    rig_open_with(&rig, NULL, 0);
    registry = &rig.host->registry;
    overwrite_declarations();
}

static void end(void)
{
    registry_sweep(registry, &one);
    registry_sweep(registry, &two);
    rig_close(&rig);
}

/* --- what is kept ------------------------------------------------------------------------------------------------- */

#define THING_WITHOUT_RECORDS(owner) \
    "component thing of " owner ": doc 'what it is' reads 'other' writes 'another'\n" \
    "  numbers 0:3 1:4 2:500000008\n" \
    "  verbs 0:51 1:52 2:53\n" \
    "  save 0:11 1:12\n" \
    "  report 0:21\n" \
    "  rows 0:31 1:32 2:33\n" \
    "  deaths 0:41 1:2\n" \
    "  asks 2 thing to\n" \
    "  order -7, the user's\n" \
    "  field hp was 'health' is '100' unit 'points' doc 'health'\n" \
    "  field label was '' is 'nobody' unit '' doc ''\n" \
    "    nobody\n" \
    "  field words was '' is '[\"a\", \"b\"]' unit '' doc ''\n" \
    "    a\n" \
    "    b\n" \
    "  field to was '' is '' unit '' doc ''\n" \
    "  hidden kept was '' is '' unit '' doc ''\n" \
    "  hidden anew was '' is '' unit '' doc ''\n"
#define RECORDS_OF_THING(of_hp) \
    "  record hp is field 0 from 1 to 250 -> " of_hp "\n" \
    "  record label is field 1 from -inf to inf -> \n" \
    "  record words is field 2 from -inf to inf -> \n" \
    "  record to is field 3 from -inf to inf -> \n"
#define THING(owner) THING_WITHOUT_RECORDS(owner) RECORDS_OF_THING("")
#define OWNED(owner) \
    "component owned of " owner ": doc '' reads '' writes ''\n" \
    "  storage 0:38 1:61 2:62 3:63 4:64 5:65 6:66\n" \
    "  order 0, own storage\n" \
    "  field size was '' is '2' unit '' doc ''\n" \
    "  record size is field 0 from -inf to inf -> \n"
#define MOVER(owner) \
    "system mover of " owner ": doc 'what it does' before 'late' after 'early' reads 'other' writes 'another'\n" \
    "  numbers 0:8 1:700000010 2:4 3:1\n" \
    "  verbs 0:51 1:52 2:53 4:54 5:55\n" \
    "  report 0:21\n" \
    "  save 0:11 1:12\n" \
    "  rewind 0:31\n" \
    "  deaths 0:41 1:1\n" \
    "  asks 1 thing \n" \
    "  term thing 'first' named flags 0 world ''\n" \
    "    hp type 5 access 2 elements 0\n" \
    "    none type 17 access 1 elements 0 optional\n" \
    "  term owned '' any flags 2 world ''\n" \
    "  term thing '' any flags 16 world 'beside'\n"
#define TOOLS(owner, promised) \
    "table tools of " owner ": room 512 size 48 version 2 promised " promised ", 5 letters, 5 at work from 2000, 0 " \
    "silent\n"
#define GONE_SYSTEM(name) \
    "system " name " of nobody: doc 'none' before 'none' after 'none' reads 'none' writes 'none'\n"
#define ALL(owner) THING(owner) OWNED(owner) MOVER(owner) TOOLS(owner, "0")

static void add_all(plugin_t *owner)
{
    DONE(add_component(owner, whole_component()));
    DONE(add_component(owner, own_component()));
    DONE(add_system(owner, whole_system()));
    DONE(offer(owner, table_of(2, 5)));
}

START_TEST(what_is_declared_is_kept_word_for_word_and_leads_nowhere_else)
{
    add_all(&one);
    expect_text(tell(0, true), ALL("one"));
}
END_TEST

START_TEST(of_a_plugin_that_has_gone_there_are_names_and_a_table_that_refuses)
{
    add_all(&one);
    registry_sweep(registry, &two);
    expect_text(tell(0, true), ALL("one"));
    DONE(add_system(&one, small_system("second")));
    registry_sweep(registry, &one);
    expect_text(tell(0, true),
                "component thing of nobody: doc 'none' reads 'none' writes 'none'\n"
                "  order 0\n"
                "  record hp -> \n  record label -> \n  record words -> \n  record to -> \n"
                "component owned of nobody: doc 'none' reads 'none' writes 'none'\n"
                "  order 0\n"
                "  record size -> \n"
                GONE_SYSTEM("mover") GONE_SYSTEM("second")
                "table tools of nobody: room 512 size 48 version 0 promised 0, 5 letters, 0 at work from 0, 5 "
                "silent\n");
    add_all(&two);
    expect_text(tell(0, false), ALL("two"));
}
END_TEST

/* --- without memory ----------------------------------------------------------------------------------------------- */

static bp_result_t bring_thing(void)
{
    return add_component(&one, whole_component());
}

static bp_result_t bring_owned(void)
{
    return add_component(&one, own_component());
}

static bp_result_t bring_mover(void)
{
    return add_system(&one, whole_system());
}

static bp_result_t bring_tools(void)
{
    return offer(&one, table_of(2, 5));
}

/* A system that asks for a field that `thing` does not have. */
static bp_result_t bring_wrong(void)
{
    const bp_term_field_t asked[] = {{.name = lay_text("nothing"), .type = BP_F32}};
    const bp_term_t terms[] = {
        {.component = lay_text("thing"), .fields = {lay(asked, sizeof asked), 1, sizeof asked[0]}}};
    bp_system_i made = whole_system();
    made.terms = (bp_term_list_t){lay(terms, sizeof terms), 1, sizeof terms[0]};
    return add_system(&one, made);
}

/* Storage of its own has no columns, so no field of it can be asked for; the component itself can. */
START_TEST(a_system_can_ask_for_no_field_of_storage_of_its_own)
{
    static const char says[] = "system 'mover': it asks for field 'size' of component 'owned', which has storage of "
                               "its own and so no columns; ask for no fields of it, and go by slots";
    DONE(bring_owned());
    for (uint32_t count = 0; count <= 2; count++) {
        const bp_term_field_t asked[] = {{.name = lay_text("size"), .type = BP_F64},
                                         {.name = lay_text("x"), .type = BP_F64}};
        const bp_term_t terms[] = {
            {.component = lay_text("owned"), .fields = {lay(asked, sizeof asked), count, sizeof asked[0]}}};
        bp_system_i made = small_system("mover");
        made.terms = (bp_term_list_t){lay(terms, sizeof terms), 1, sizeof terms[0]};
        ck_assert_int_eq(add_system(&two, made), count == 0 ? BP_OK : BP_ERROR_TYPE);
        EXPECT(count == 0 || strcmp(bp_host_error(rig.host), says) == 0, "%s", bp_host_error(rig.host));
        registry_sweep(registry, &two);
    }
}
END_TEST

/* A component that is there by now has to have what a system asks of it. */
START_TEST(a_system_that_asks_for_a_missing_field_keeps_nothing)
{
    DONE(bring_thing());
    DONE(bring_mover());
    DONE(bring_owned());
    registry_sweep(registry, &one);
    DONE(add_component(&two, whole_component()));
    tell(0, true);
    size_t bytes = rig.heap.bytes;
    ck_assert_int_eq(bring_wrong(), BP_ERROR_NOT_FOUND);
    ck_assert_str_eq(bp_host_error(rig.host),
                     "system 'mover': it asks for field 'nothing' of component 'thing', which has no such field");
    expect_text(tell(1, true), pages[0].text);
    ck_assert_uint_eq(rig.heap.bytes, bytes);
}
END_TEST

/* Make the call with each of its requests refused in turn. What the refusals say goes to `said`, each sentence once in
 * a row. `there`: slots and records of these names are there already, so that nothing at all may be kept. */
static void starve(bp_result_t (*call)(void), bool there, page_t *said)
{
    char last[256] = "";
    for (uint64_t n = 1; n < MOST_REQUESTS; n++) {
        size_t bytes = rig.heap.bytes;
        tell(0, there);
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        bp_result_t result = call();
        bool asked = rig.heap.requests >= rig.heap.refuse_first;
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        if (!asked) {
            DONE(result);
            return;
        }
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        if (strcmp(last, bp_host_error(rig.host)) != 0)
            say(said, "%s\n", bp_host_error(rig.host));
        snprintf(last, sizeof last, "%s", bp_host_error(rig.host));
        expect_text(tell(1, there), pages[0].text);
        EXPECT(!there || rig.heap.bytes == bytes, "request %d: %zu bytes are kept", (int)n, rig.heap.bytes - bytes);
    }
    ck_abort_msg("it asks for memory without an end");
}

START_TEST(what_is_refused_for_lack_of_memory_keeps_nothing_and_works_afterwards)
{
    static page_t said;
    add_all(&one);
    registry_sweep(registry, &one);
    starve(bring_thing, true, &said);
    starve(bring_owned, true, &said);
    starve(bring_mover, true, &said);
    starve(bring_tools, true, &said);
    expect_text(tell(0, true), ALL("one"));
    expect_text(said.text,
                "component 'thing': out of memory while copying which deaths it asks for\n"
                "component 'thing': out of memory while copying declared fields\n"
                "component 'thing': out of memory while copying a field's declaration\n"
                "component 'thing': out of memory while copying declared fields\n"
                "component 'thing': out of memory while copying a field's declaration\n"
                "component 'thing': field 'words': out of memory while reading values\n"
                "component 'thing': field 'words': out of memory while reading a default\n"
                "component 'thing': out of memory while copying declared fields\n"
                "component 'thing': out of memory while copying a field's declaration\n"
                "component 'thing': out of memory while registering a component\n"
                "component 'owned': out of memory while copying declared fields\n"
                "component 'owned': out of memory while copying a field's declaration\n"
                "component 'owned': out of memory while registering a component\n"
                "system 'mover': out of memory while copying which deaths it asks for\n"
                "system 'mover': out of memory while copying terms\n"
                "system 'mover': term 'thing': out of memory while copying terms\n"
                "system 'mover': out of memory while copying terms\n"
                "system 'mover': out of memory while registering a system\n"
                "out of memory while offering a table\n");
}
END_TEST

START_TEST(what_is_new_and_refused_for_lack_of_memory_is_not_there)
{
    static page_t said;
    starve(bring_thing, false, &said);
    starve(bring_owned, false, &said);
    starve(bring_mover, false, &said);
    starve(bring_tools, false, &said);
    expect_text(tell(0, true), ALL("one"));
    expect_text(said.text,
                "component 'thing': out of memory while registering a component\n"
                "component 'thing': out of memory while copying which deaths it asks for\n"
                "component 'thing': out of memory while copying a field's declaration\n"
                "component 'thing': out of memory while copying declared fields\n"
                "component 'thing': field 'words': out of memory while reading values\n"
                "component 'thing': field 'words': out of memory while reading a default\n"
                "component 'thing': out of memory while copying declared fields\n"
                "component 'thing': out of memory while copying a field's declaration\n"
                "component 'thing': out of memory while registering a component\n"
                "component 'owned': out of memory while registering a component\n"
                "component 'owned': out of memory while copying declared fields\n"
                "component 'owned': out of memory while registering a component\n"
                "system 'mover': out of memory while registering a system\n"
                "system 'mover': out of memory while copying which deaths it asks for\n"
                "system 'mover': out of memory while interning a name\n"
                "system 'mover': out of memory while copying terms\n"
                "system 'mover': term 'thing': out of memory while copying terms\n"
                "system 'mover': out of memory while copying terms\n"
                "system 'mover': out of memory while registering a system\n"
                "out of memory while offering a table\n");
}
END_TEST

/* --- sets --------------------------------------------------------------------------------------------------------- */

/* The next version of the plugin: a component with another field, which continues one of those before; one component
 * and one system that were not there; a table that its slot has no room for. The component `owned` does not come. */
static bp_result_t add_next(plugin_t *owner)
{
    bp_result_t result = add_component(owner, small_component("thing", "points", "hp"));
    if (result == BP_OK)
        result = add_component(owner, small_component("fresh", "x", ""));
    if (result == BP_OK)
        result = add_system(owner, small_system("mover"));
    if (result == BP_OK)
        result = add_system(owner, small_system("newcomer"));
    return result == BP_OK ? offer(owner, table_of(3, 100)) : result;
}

static registry_set_t set;

/* Prepare the set of the next version; false where memory is lacking. */
static bool prepare(void)
{
    if (!registry_set_init(registry, &set, &one))
        return false;
    registry_set_enter(&set);
    bp_result_t result = add_next(&one);
    registry_set_leave(&set);
    if (result == BP_OK)
        return true;
    ck_assert_int_eq(result, BP_ERROR_MEMORY);
    registry_set_free(registry, &set);
    return false;
}

#define OTHER "component other of two: doc '' reads '' writes ''\n  order 0\n  field y was '' is '' unit '' doc ''\n" \
    "  record y is field 0 from -inf to 9 -> \n"
#define GONE(name, records) "component " name " of nobody: doc 'none' reads 'none' writes 'none'\n  order 0\n" records
#define SMALL_SYSTEM(name) "system " name " of one: doc '' before '' after '' reads '' writes ''\n  verbs 3:71\n"
#define MORE_TOOLS(promised) \
    "table tools of nobody: room 1024 size 808 version 0 promised " promised ", 100 letters, 0 at work from 0, 100 " \
    "silent\n"
/* The first version with the slots that the next one has brought, what the records of both names lead to, and what the
 * next one promises. */
#define FIRST_VERSION(of_hp, of_points, promised)                                                                    \
    THING_WITHOUT_RECORDS("one") RECORDS_OF_THING(of_hp) "  record points -> " of_points "\n" OWNED("one") OTHER     \
    GONE("fresh", "  record x -> \n") MOVER("one") GONE_SYSTEM("newcomer") TOOLS("one", promised) MORE_TOOLS(promised)
#define NEXT_VERSION(of_points, promised)                                                                            \
    "component thing of one: doc '' reads '' writes ''\n  order 0\n  field points was 'hp' is '' unit '' doc ''\n"   \
    "  record hp -> points\n  record label -> \n  record words -> \n  record to -> \n"                               \
    "  record points is field 0 from -inf to 9 -> " of_points "\n" GONE("owned", "  record size -> \n") OTHER        \
    "component fresh of one: doc '' reads '' writes ''\n  order 0\n  field x was '' is '' unit '' doc ''\n"          \
    "  record x is field 0 from -inf to 9 -> \n" SMALL_SYSTEM("mover") SMALL_SYSTEM("newcomer")                      \
    "table tools of one: room 512 size 512 version 3 promised " promised ", 100 letters, 63 at work from 3000, 0 "   \
    "silent\n"                                                                                                       \
    "table tools of one: room 1024 size 808 version 3 promised " promised ", 100 letters, 100 at work from 3000, 0 " \
    "silent\n"

START_TEST(a_set_changes_places_with_the_slots_and_back)
{
    add_all(&one);
    DONE(add_component(&two, small_component("other", "y", "")));
    ck_assert(prepare());
    expect_text(tell(0, true), FIRST_VERSION("", "", "3"));
    ck_assert_ptr_null(registry_set_of(registry, &one));
    registry_exchange(&set);
    expect_text(tell(0, true), NEXT_VERSION("", "3"));
    registry_exchange(&set);
    expect_text(tell(0, true), FIRST_VERSION("points", "", "3"));
    registry_set_withdraw(&set);
    expect_text(tell(0, true), FIRST_VERSION("points", "hp", "3"));
    registry_set_free(registry, &set);
    expect_text(tell(0, true), FIRST_VERSION("points", "hp", "0"));
    ck_assert(prepare());
    registry_exchange(&set);
    expect_text(tell(0, true), NEXT_VERSION("hp", "3"));
    registry_exchange(&set);
    expect_text(tell(0, true), FIRST_VERSION("points", "hp", "3"));
    registry_exchange(&set);
    registry_set_keep_promises(&set);
    expect_text(tell(0, true), NEXT_VERSION("hp", "0"));
    registry_set_free(registry, &set);
    expect_text(tell(0, true), NEXT_VERSION("hp", "0"));
}
END_TEST

/* At first the slots and records of new names are made, which stay; then nothing at all may be kept. */
START_TEST(a_set_that_lacks_memory_leaves_the_slots_as_they_were)
{
    add_all(&one);
    DONE(add_component(&two, small_component("other", "y", "")));
    for (uint32_t there = 0; there < 2; there++) {
        uint64_t n = 1;
        for (bool refused = true; refused; n++) {
            size_t bytes = rig.heap.bytes;
            tell(0, there != 0);
            rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
            bool prepared = prepare();
            refused = rig.heap.requests >= rig.heap.refuse_first;
            rig.heap.refuse_first = rig.heap.refuse_last = 0;
            ck_assert_int_eq(prepared, !refused);
            if (prepared)
                registry_set_free(registry, &set);
            EXPECT(there == 0 || rig.heap.bytes == bytes, "request %d: %zu bytes are kept", (int)n,
                   rig.heap.bytes - bytes);
            if (there != 0)
                expect_text(tell(1, true), pages[0].text);
        }
        ck_assert_uint_gt(n, 20);
    }
    expect_text(tell(0, true), FIRST_VERSION("", "", "0"));
}
END_TEST

/* A plugin that has nothing yet; each of what it brings has no room in the set. */
START_TEST(a_set_of_a_plugin_without_anything_lacks_memory)
{
    DONE(add_component(&two, small_component("thing", "points", "")));
    registry_sweep(registry, &two);
    for (uint64_t n = 1, refused = 1; refused != 0; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        bool prepared = prepare();
        refused = rig.heap.requests >= rig.heap.refuse_first;
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        ck_assert_int_eq(prepared, refused == 0);
        if (prepared)
            registry_set_free(registry, &set);
        expect_text(tell(0, false), "");
    }
}
END_TEST

/* What a version does not bring is gone with the exchange: a table says what it said, and refuses. */
START_TEST(a_set_in_which_nothing_is_registered_empties_the_slots)
{
    add_all(&one);
    ck_assert(registry_set_init(registry, &set, &one));
    registry_exchange(&set);
    expect_text(tell(0, true),
                GONE("thing", "  record hp -> \n  record label -> \n  record words -> \n  record to -> \n")
                GONE("owned", "  record size -> \n") GONE_SYSTEM("mover")
                "table tools of nobody: room 512 size 48 version 0 promised 0, 5 letters, 0 at work from 0, 5 "
                "silent\n");
    registry_exchange(&set);
    expect_text(tell(0, true), ALL("one"));
    registry_set_free(registry, &set);
    expect_text(tell(0, true), ALL("one"));
}
END_TEST

/* Each slot is in the set once, whether the version brings it again or not. */
START_TEST(a_version_that_brings_the_same_takes_each_slot_once)
{
    add_all(&one);
    DONE(add_system(&one, small_system("second")));
    tell(0, true);
    ck_assert(registry_set_init(registry, &set, &one));
    registry_set_enter(&set);
    add_all(&one);
    DONE(add_system(&one, small_system("second")));
    registry_set_leave(&set);
    ck_assert_uint_eq(set.component_count, 2);
    ck_assert_uint_eq(set.system_count, 2);
    ck_assert_uint_eq(set.table_count, 1);
    registry_exchange(&set);
    registry_set_keep_promises(&set);
    expect_text(tell(1, true), pages[0].text);
    registry_set_free(registry, &set);
    ck_assert(registry_set_init(registry, &set, &one));
    registry_exchange(&set);
    expect_text(tell(1, false), "");
    registry_set_free(registry, &set);
}
END_TEST

START_TEST(fields_of_each_component_are_withdrawn)
{
    DONE(add_component(&one, small_component("first", "a", "")));
    DONE(add_component(&one, small_component("last", "c", "")));
    ck_assert(registry_set_init(registry, &set, &one));
    registry_set_enter(&set);
    DONE(add_component(&one, small_component("first", "b", "a")));
    DONE(add_component(&one, small_component("last", "d", "c")));
    registry_set_leave(&set);
    registry_exchange(&set);
    registry_exchange(&set);
    registry_set_withdraw(&set);
    registry_set_free(registry, &set);
    for (uint32_t i = 0; i < 2; i++) {
        const known_field_t *to = registry_follow(registry->components[i]->known[1]);
        ck_assert_ptr_nonnull(to);
        ck_assert_str_eq(to->name, i == 0 ? "a" : "c");
    }
}
END_TEST

START_TEST(a_version_brings_each_name_once)
{
    add_all(&one);
    DONE(add_component(&two, small_component("other", "y", "")));
    ck_assert(prepare());
    registry_set_enter(&set);
    ck_assert_int_eq(add_component(&one, small_component("thing", "x", "")), BP_ERROR_EXISTS);
    ck_assert_str_eq(bp_host_error(rig.host), "component 'thing': the plugin brings two components of that name");
    ck_assert_int_eq(add_system(&one, small_system("mover")), BP_ERROR_EXISTS);
    ck_assert_str_eq(bp_host_error(rig.host), "system 'mover': the plugin brings two systems of that name");
    registry_set_leave(&set);
    registry_exchange(&set);
    expect_text(tell(0, true), NEXT_VERSION("", "3"));
    registry_set_free(registry, &set);
}
END_TEST

/* Of several plugins that change together each has its own set. */
START_TEST(sets_are_found_by_their_plugins_until_they_are_left)
{
    static registry_set_t other;
    for (uint32_t first = 0; first < 2; first++) {
        ck_assert(registry_set_init(registry, &set, &one) && registry_set_init(registry, &other, &two));
        registry_set_enter(&set);
        registry_set_enter(&other);
        ck_assert_ptr_eq(registry_set_of(registry, &one), &set);
        ck_assert_ptr_eq(registry_set_of(registry, &two), &other);
        registry_set_leave(first == 0 ? &set : &other);
        ck_assert_ptr_eq(registry_set_of(registry, &one), first == 0 ? NULL : &set);
        ck_assert_ptr_eq(registry_set_of(registry, &two), first == 0 ? &other : NULL);
        registry_set_leave(first == 0 ? &other : &set);
        ck_assert_ptr_null(registry->entered);
        registry_set_free(registry, &set);
        registry_set_free(registry, &other);
    }
}
END_TEST

/* A plugin may go on where a table of it is refused for lack of memory: then no slot of that name promises anything. */
START_TEST(a_table_that_lacks_memory_is_promised_by_none_of_its_slots)
{
    DONE(offer(&one, table_of(1, 5)));
    DONE(offer(&one, table_of(1, 100)));
    bp_table_t tools = table_of(1, 1);
    tools.name = lay_text("hammer");
    DONE(offer(&one, tools));
    ck_assert(registry_set_init(registry, &set, &one));
    registry_set_enter(&set);
    tools = table_of(2, 1);
    tools.name = lay_text("hammer");
    DONE(offer(&one, tools));
    uint64_t refused = 1, n = 1;
    for (; refused != 0; n++) {
        rig.heap.refuse_first = rig.heap.refuse_last = rig.heap.requests + n;
        bp_result_t result = offer(&one, table_of(3, 140));
        refused = rig.heap.requests >= rig.heap.refuse_first;
        rig.heap.refuse_first = rig.heap.refuse_last = 0;
        ck_assert_int_eq(result, refused != 0 ? BP_ERROR_MEMORY : BP_OK);
        for (uint32_t i = 0; i < registry->table_count; i++) {
            bool hammer = strcmp(registry->tables[i]->name, "hammer") == 0;
            EXPECT(registry->tables[i]->promised == (hammer ? 2 : refused != 0 ? 0 : 3), "slot %u promises %u", i,
                   registry->tables[i]->promised);
        }
        for (uint32_t i = 0; i < set.table_count; i++) {
            bool hammer = strcmp(set.tables[i].slot->name, "hammer") == 0;
            EXPECT((set.tables[i].kept.owner != NULL) == (hammer || refused == 0), "what slot %u gets", i);
        }
    }
    ck_assert_uint_gt(n, 5);
    uint32_t count = set.table_count;
    DONE(offer(&one, table_of(4, 140))); /* once more: what the set has of each slot is replaced */
    ck_assert_uint_eq(set.table_count, count);
    registry_set_leave(&set);
    registry_set_free(registry, &set);
}
END_TEST

/* The nearest name is that of what a plugin brings at present. */
START_TEST(who_asks_for_what_is_not_there_is_told_the_nearest_name)
{
    add_all(&two);
    DONE(add_system(&one, small_system("move")));
    DONE(add_component(&one, small_component("thin", "x", "")));
    ck_assert_ptr_eq(registry_system(registry, "mover"), registry->systems[0]);
    ck_assert_ptr_null(registry_system(registry, "movr"));
    ck_assert_str_eq(bp_host_error(rig.host), "no loaded plugin brings a system 'movr'; did you mean 'mover'?");
    ck_assert_ptr_null(registry_component(registry, "thng"));
    ck_assert_str_eq(bp_host_error(rig.host), "no loaded plugin brings a component 'thng'; did you mean 'thing'?");
    registry_sweep(registry, &two);
    ck_assert_ptr_null(registry_system(registry, "mover"));
    ck_assert_str_eq(bp_host_error(rig.host), "no loaded plugin brings a system 'mover'; did you mean 'move'?");
    ck_assert_ptr_null(registry_component(registry, "thing"));
    ck_assert_str_eq(bp_host_error(rig.host), "no loaded plugin brings a component 'thing'; did you mean 'thin'?");
    registry_sweep(registry, &one);
    ck_assert_ptr_null(registry_system(registry, "mover"));
    ck_assert_str_eq(bp_host_error(rig.host), "no loaded plugin brings a system 'mover'");
    ck_assert_ptr_null(registry_component(registry, "thing"));
    ck_assert_str_eq(bp_host_error(rig.host), "no loaded plugin brings a component 'thing'");
}
END_TEST

/* Where both lists of fields say the same the columns that hold their addresses go on with them. */
START_TEST(fields_that_are_the_same_stay_with_the_slot)
{
    DONE(bring_thing());
    component_t *slot = registry->components[0];
    const field_t *fields = slot->fields;
    known_field_t **bound = slot->bound;
    ck_assert(registry_set_init(registry, &set, &one));
    registry_set_enter(&set);
    bp_component_i changed = whole_component();
    changed.doc = lay_text("what it is now");
    DONE(add_component(&one, changed));
    registry_set_leave(&set);
    set.components[0].same_fields = true;
    registry_exchange(&set);
    ck_assert_ptr_eq(slot->fields, fields);
    ck_assert_ptr_eq(slot->bound, bound);
    ck_assert_str_eq(slot->doc, "what it is now");
    registry_exchange(&set);
    ck_assert_ptr_eq(slot->fields, fields);
    ck_assert_ptr_eq(slot->bound, bound);
    registry_set_withdraw(&set);
    registry_set_free(registry, &set);
    expect_text(tell(0, true), THING("one"));
}
END_TEST

/* --- tables by version -------------------------------------------------------------------------------------------- */

START_TEST(a_table_is_found_by_its_name_from_its_version_on)
{
    ck_assert_ptr_null(registry_table(registry, "tools", 0));
    DONE(offer(&one, table_of(2, 5)));
    const void *first = registry->tables[0]->table;
    ck_assert_ptr_eq(registry_table(registry, "tools", 0), first);
    ck_assert_ptr_eq(registry_table(registry, "tools", 2), first);
    ck_assert_ptr_null(registry_table(registry, "tools", 3));
    ck_assert_ptr_null(registry_table(registry, "tool", 1));
    ck_assert_ptr_eq(registry_table_owner(registry, "tools"), &one);
    ck_assert_ptr_null(registry_table_owner(registry, "tool"));
    ck_assert_int_eq(offer(&two, table_of(3, 5)), BP_ERROR_EXISTS);
    ck_assert_str_eq(bp_host_error(rig.host), "plugin 'one' already offers a table 'tools'");
    ck_assert(prepare());
    const void *second = registry->tables[1]->table;
    ck_assert_ptr_eq(registry_table(registry, "tools", 2), second);
    ck_assert_ptr_eq(registry_table(registry, "tools", 3), second);
    ck_assert_ptr_null(registry_table(registry, "tools", 4));
    registry_set_free(registry, &set);
    ck_assert_ptr_eq(registry_table(registry, "tools", 2), first);
    ck_assert_ptr_null(registry_table(registry, "tools", 3));
    registry_sweep(registry, &one);
    ck_assert_ptr_null(registry_table(registry, "tools", 0));
    ck_assert_ptr_null(registry_table_owner(registry, "tools"));
    DONE(offer(&two, table_of(1, 63)));
    ck_assert_ptr_eq(registry_table(registry, "tools", 1), second);
    expect_text(tell(0, false),
                "table tools of two: room 512 size 512 version 1 promised 0, 63 letters, 63 at work from 1000, 0 "
                "silent\n"
                "table tools of two: room 1024 size 512 version 1 promised 0, 63 letters, 63 at work from 1000, 37 "
                "silent\n");
    registry_silence_tables(registry, &two);
    ck_assert_ptr_null(registry_table(registry, "tools", 0));
}
END_TEST

/* Of a longer table that was there before no function stays behind the end. */
START_TEST(a_table_that_shrinks_leaves_nothing_at_work_behind_its_end)
{
    DONE(offer(&one, table_of(1, 63)));
    DONE(offer(&one, table_of(2, 5)));
    expect_text(tell(0, true),
                "table tools of one: room 512 size 48 version 2 promised 0, 5 letters, 5 at work from 2000, 58 "
                "silent\n");
}
END_TEST

/* Where there are several slots the letters are copied for each. */
START_TEST(a_table_of_several_slots_is_offered_whole_or_not)
{
    static page_t said;
    DONE(offer(&one, table_of(1, 5)));
    DONE(offer(&one, table_of(1, 100)));
    DONE(offer(&one, table_of(1, 140)));
    starve(bring_tools, true, &said);
    expect_text(said.text, "out of memory while offering a table\n");
    static const char each[] = "table tools of one: room %u size 48 version 2 promised 0, 5 letters, 5 at work from "
                               "2000, %u silent\n";
    char wanted[512] = "";
    static const uint32_t rooms[][2] = {{512, 58}, {1024, 122}, {2048, 135}};
    for (uint32_t i = 0; i < COUNT(rooms); i++)
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), each, rooms[i][0], rooms[i][1]);
    expect_text(tell(0, true), wanted);
}
END_TEST

#if defined(__linux__)
#define CODE_ALONE " r-xp 00000000 00:00 0 "

/* The function that stands for the entries of a table is code made for its slot. */
START_TEST(the_code_made_for_tables_goes_with_the_registry)
{
    uint32_t before = count_maps(CODE_ALONE);
    for (uint32_t entries = 1; entries < 200; entries = 2 * entries + 63)
        DONE(offer(&one, table_of(1, entries < 150 ? entries : 150)));
    ck_assert_uint_ge(registry->table_count, 2);
    end();
    begin();
    ck_assert_uint_le(count_maps(CODE_ALONE), before);
}
END_TEST
#endif

/* What needs more room than there is gets twice as much, or as much as it needs. */
START_TEST(a_table_that_grows_gets_room_to_grow_further)
{
    static const struct { uint32_t entries; size_t room; uint32_t slots; } steps[] = {
        {0, 512, 1}, {63, 512, 1}, {64, 1024, 2}, {127, 1024, 2}, {128, 2048, 3}};
    for (uint32_t i = 0; i < COUNT(steps); i++) {
        DONE(offer(&one, table_of(1, steps[i].entries)));
        ck_assert_uint_eq(registry->table_count, steps[i].slots);
        ck_assert_uint_eq(registry->tables[registry->table_count - 1]->size, steps[i].room);
    }
    enum { MOST = 8191 };
    static uintptr_t large[MOST + 2];
    static char returns[MOST + 2];
    memset(returns, 'c', MOST);
    bp_table_t table = {"tools", 1, (MOST + 1) * sizeof large[0], large, returns};
    DONE(registry_offer(registry, &one, &table, sizeof table));
    ck_assert_uint_eq(registry->tables[3]->size, 65536);
    returns[MOST] = 'c';
    table.size += (uint32_t)sizeof large[0];
    ck_assert_int_eq(registry_offer(registry, &one, &table, sizeof table), BP_ERROR_ABI);
    ck_assert_str_eq(bp_host_error(rig.host),
                     "table 'tools' says it has 65544 bytes; use BP_TABLE (at most 65536 bytes are allowed)");
}
END_TEST

/* --- names of fields that were ------------------------------------------------------------------------------------ */

/* A list of fields in short: "b<a c" declares b, which was called a, and c. */
static bp_component_i component_of(const char *list)
{
    bp_field_t fields[8];
    uint32_t count = 0;
    for (const char *at = list; *at != '\0'; at += *at == ' ') {
        char name[2] = {*at++, '\0'}, former[2] = "";
        if (*at == '<') {
            former[0] = at[1];
            at += 2;
        }
        fields[count++] = (bp_field_t){.name = lay_text(name), .type = BP_F32, .former_name = lay_text(former)};
    }
    return (bp_component_i){.name = lay_text("thing"), .fields = {lay(fields, sizeof fields), count, sizeof fields[0]}};
}

/* Where each name leads that there ever was, in the order in which they came: "a:b b:b c:-". */
static void expect_followed(const char *wanted, const char *what)
{
    char text[128] = "";
    const component_t *slot = registry->components[0];
    for (uint32_t i = 0; i < slot->known_count; i++) {
        const known_field_t *to = registry_follow(slot->known[i]);
        EXPECT(to == NULL || to->field != NULL, "a record without a field");
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%s", i > 0 ? " " : "", slot->known[i]->name,
                 to == NULL ? "-" : to->name);
    }
    EXPECT(strcmp(text, wanted) == 0, "%s: %s instead of %s", what, text, wanted);
}

/* Versions that come when the one before has been unloaded. */
START_TEST(a_former_name_leads_to_the_field_of_the_version_that_is_loaded)
{
    static const struct { const char *versions[5]; const char *followed; } cases[] = {
        {{"a"}, "a:a"},
        {{"a", "b"}, "a:- b:b"},
        {{"a", "b<a"}, "a:b b:b"},
        {{"a", "b<a", "c<b"}, "a:c b:c c:c"},
        {{"a", "b<a", "c<a"}, "a:c b:- c:c"},
        {{"a", "b<a", "a"}, "a:a b:-"},
        {{"a", "b<a", "a<b"}, "a:a b:a"},
        {{"a", "b<a", "a", "b"}, "a:- b:b"},
        {{"a", "x", "b<a"}, "a:b x:- b:b"},
        {{"a b", "b a"}, "a:a b:b"},
        {{"a b", "b<a"}, "a:b b:b"},
        {{"a b", "a<b b<a"}, "a:a b:b"},
        {{"a b c", "x<c y<a"}, "a:y b:- c:x x:x y:y"},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        char what[64] = "";
        for (uint32_t v = 0; v < COUNT(cases[i].versions) && cases[i].versions[v] != NULL; v++) {
            registry_sweep(registry, &one);
            DONE(add_component(&one, component_of(cases[i].versions[v])));
            snprintf(what + strlen(what), sizeof what - strlen(what), "; %s", cases[i].versions[v]);
        }
        expect_followed(cases[i].followed, what);
        end();
        begin();
    }
}
END_TEST

/* Versions that change places: a field goes on under another name only where the version before has none of that name,
 * and the later one none of the former name. */
START_TEST(a_former_name_leads_to_the_field_that_has_its_values)
{
    static const struct { const char *before, *after, *followed, *back; } cases[] = {
        {"a", "b<a", "a:b b:b", "a:a b:a"},
        {"a", "b", "a:- b:b", "a:a b:-"},
        {"a b", "b<a", "a:- b:b", "a:a b:b"},
        {"a", "a b<a", "a:a b:b", "a:a b:-"},
        {"a b", "c<b d<a", "a:d b:c c:c d:d", "a:a b:b c:b d:a"},
        {"a b", "c", "a:- b:- c:c", "a:a b:b c:-"},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        DONE(add_component(&one, component_of(cases[i].before)));
        ck_assert(registry_set_init(registry, &set, &one));
        registry_set_enter(&set);
        DONE(add_component(&one, component_of(cases[i].after)));
        registry_set_leave(&set);
        registry_exchange(&set);
        expect_followed(cases[i].followed, cases[i].after);
        registry_exchange(&set);
        registry_set_withdraw(&set);
        expect_followed(cases[i].back, cases[i].before);
        registry_exchange(&set);
        expect_followed(cases[i].followed, cases[i].after);
        registry_set_free(registry, &set);
        end();
        begin();
    }
}
END_TEST

/* Prepare a version that has these fields. */
static void prepare_fields(const char *list)
{
    ck_assert(registry_set_init(registry, &set, &one));
    registry_set_enter(&set);
    DONE(add_component(&one, component_of(list)));
    registry_set_leave(&set);
}

/* Where a name has come back meanwhile, what it led to before it did counts no more. */
START_TEST(a_name_that_comes_back_leads_nowhere_when_it_goes_once_more)
{
    static const char *const versions[] = {"b<a", "a", "b"};
    DONE(add_component(&one, component_of("a")));
    for (uint32_t i = 0; i < COUNT(versions); i++) {
        prepare_fields(versions[i]);
        registry_exchange(&set);
        registry_set_free(registry, &set);
    }
    expect_followed("a:- b:b", "a, b<a, a, b");
}
END_TEST

START_TEST(a_name_of_a_withdrawn_version_leads_to_what_the_last_such_version_said)
{
    static const char *const versions[] = {"b<a", "b"}, *const followed[] = {"a:a b:a", "a:a b:-"};
    DONE(add_component(&one, component_of("a")));
    for (uint32_t i = 0; i < COUNT(versions); i++) {
        prepare_fields(versions[i]);
        registry_exchange(&set);
        registry_exchange(&set);
        registry_set_withdraw(&set);
        registry_set_free(registry, &set);
        expect_followed(followed[i], versions[i]);
    }
}
END_TEST

/* A reload that was withdrawn leaves both names leading to each other; when the plugin has gone neither leads on. */
START_TEST(names_that_lead_to_each_other_lead_nowhere_once_both_have_gone)
{
    DONE(add_component(&one, component_of("a")));
    ck_assert(registry_set_init(registry, &set, &one));
    registry_set_enter(&set);
    DONE(add_component(&one, component_of("b<a")));
    registry_set_leave(&set);
    registry_exchange(&set);
    registry_exchange(&set);
    registry_set_withdraw(&set);
    registry_set_free(registry, &set);
    expect_followed("a:a b:a", "withdrawn");
    registry_sweep(registry, &one);
    expect_followed("a:- b:-", "gone");
}
END_TEST

Suite *registry_suite(void)
{
    Suite *suite = suite_create("registry");
    TCase *kept = add_case(suite, "kept", begin, end, 60);
    tcase_add_test(kept, what_is_declared_is_kept_word_for_word_and_leads_nowhere_else);
    tcase_add_test(kept, of_a_plugin_that_has_gone_there_are_names_and_a_table_that_refuses);
    tcase_add_test(kept, a_system_can_ask_for_no_field_of_storage_of_its_own);
    tcase_add_test(kept, a_system_that_asks_for_a_missing_field_keeps_nothing);
    tcase_add_test(kept, what_is_refused_for_lack_of_memory_keeps_nothing_and_works_afterwards);
    tcase_add_test(kept, what_is_new_and_refused_for_lack_of_memory_is_not_there);
    TCase *sets = add_case(suite, "sets", begin, end, 60);
    tcase_add_test(sets, a_set_changes_places_with_the_slots_and_back);
    tcase_add_test(sets, a_set_that_lacks_memory_leaves_the_slots_as_they_were);
    tcase_add_test(sets, a_set_of_a_plugin_without_anything_lacks_memory);
    tcase_add_test(sets, a_set_in_which_nothing_is_registered_empties_the_slots);
    tcase_add_test(sets, a_version_that_brings_the_same_takes_each_slot_once);
    tcase_add_test(sets, fields_of_each_component_are_withdrawn);
    tcase_add_test(sets, a_version_brings_each_name_once);
    tcase_add_test(sets, sets_are_found_by_their_plugins_until_they_are_left);
    tcase_add_test(sets, a_table_that_lacks_memory_is_promised_by_none_of_its_slots);
    tcase_add_test(sets, who_asks_for_what_is_not_there_is_told_the_nearest_name);
    tcase_add_test(sets, fields_that_are_the_same_stay_with_the_slot);
    tcase_add_test(sets, a_table_is_found_by_its_name_from_its_version_on);
    tcase_add_test(sets, a_table_that_shrinks_leaves_nothing_at_work_behind_its_end);
    tcase_add_test(sets, a_table_of_several_slots_is_offered_whole_or_not);
#if defined(__linux__)
    tcase_add_test(sets, the_code_made_for_tables_goes_with_the_registry);
#endif
    tcase_add_test(sets, a_table_that_grows_gets_room_to_grow_further);
    tcase_add_test(sets, a_former_name_leads_to_the_field_of_the_version_that_is_loaded);
    tcase_add_test(sets, a_former_name_leads_to_the_field_that_has_its_values);
    tcase_add_test(sets, a_name_that_comes_back_leads_nowhere_when_it_goes_once_more);
    tcase_add_test(sets, a_name_of_a_withdrawn_version_leads_to_what_the_last_such_version_said);
    tcase_add_test(sets, names_that_lead_to_each_other_lead_nowhere_once_both_have_gone);
    return suite;
}
