/* test_linked.c - our own plugins linked in: they declare what their files declare, and the same worlds give the same
 * bits.
 */
#include "../suites.h"
#include "plugin_stage.h"

#include <components/debug_name.h>
#include <components/mesh.h>

extern const bp_plugin_head_t bp_plugin_camera, bp_plugin_debug_name, bp_plugin_gravity, bp_plugin_mesh,
    bp_plugin_orbit, bp_plugin_point_mass, bp_plugin_recorder, bp_plugin_render_data, bp_plugin_transform;

static const bp_plugin_head_t *const linked[] = {
    &bp_plugin_camera,
    &bp_plugin_debug_name, &bp_plugin_gravity,  &bp_plugin_mesh,        &bp_plugin_orbit,
    &bp_plugin_point_mass, &bp_plugin_recorder, &bp_plugin_render_data, &bp_plugin_transform,
};
enum { LINKED = sizeof linked / sizeof linked[0] };

/* --- linked in ---------------------------------------------------------------------------------------------------- */

/* Write `text` with every `old` in it replaced. */
static void write_replaced(FILE *file, const char *text, const char *old, const char *with)
{
    for (const char *found; (found = strstr(text, old)) != NULL; text = found + strlen(old))
        fprintf(file, "%.*s%s", (int)(found - text), text, with);
    fputs(text, file);
}

/* A copy of a file of the tree in the scratch folder. */
static void copy_to_scratch(const char *from, const char *to)
{
    char *text = read_file(from);
    FILE *file = fopen(to, "wb");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    free(text);
}

/* What a run leaves that is shorter than its ini says. */
static const char shared_csv[] = TEST_SCRATCH_DIR "/shared.partial.csv",
                  linked_csv[] = TEST_SCRATCH_DIR "/linked.partial.csv";

/* The solar system that ships, for a while, with all bodies' values as the outcome. */
static size_t run_solar_system(bool static_plugins, bp_vec3_t *values, size_t room)
{
    static const char ini[] = TEST_SCRATCH_DIR "/linked.ini";
    static const char plugin_path[] = "[host]\nplugin_path = ../plugins\n";
    copy_to_scratch(TEST_SOURCE_DIR "/config/solar_system.json", TEST_SCRATCH_DIR "/solar_system.json");
    char *text = read_file(TEST_SOURCE_DIR "/config/solar_system.ini"),
         *host_section = strstr(text, "[host]\n");
    ck_assert_ptr_nonnull(host_section);
    FILE *file = fopen(ini, "wb");
    ck_assert_ptr_nonnull(file);
    fputs(static_plugins ? "[host]\n" : plugin_path, file);
    write_replaced(file, host_section + 7, "build/solar_system",
                   static_plugins ? TEST_SCRATCH_DIR "/linked" : TEST_SCRATCH_DIR "/shared");
    ck_assert_int_eq(fclose(file), 0);
    free(text);
    begin_with(linked, static_plugins ? LINKED : 0);
    OK(bp_host_setup(host, ini));
    world = api->world->at(host, 0);
    steps(2000);
    size_t count = 0;
    for (uint32_t i = 0; i < api->entity->bound(host) && count + 3 <= room; i++) {
        bp_entity_t e = api->entity->at(host, i);
        values[count++] = vector_of(e, "body", "position");
        values[count++] = vector_of(e, "body", "velocity");
        values[count++] = vector_of(e, "body", "acceleration");
    }
    const char *path;
    ck_assert_ptr_nonnull(bp_host_plugin(host, 0, &path));
    ck_assert_int_eq(path[0] == '\0', static_plugins);
    end();
    return count;
}

START_TEST(the_solar_system_is_the_same_bit_for_bit_with_plugins_linked_in)
{
    enum { ROOM = 60 };
    static bp_vec3_t shared[ROOM], in[ROOM];
    size_t count = run_solar_system(false, shared, ROOM);
    ck_assert_uint_eq(count, 30);
    ck_assert_uint_eq(run_solar_system(true, in, ROOM), count);
    ck_assert_double_gt(length_of(shared[3]), 0);
    ck_assert_mem_eq(shared, in, count * sizeof shared[0]);
    char *a = read_file(shared_csv), *b = read_file(linked_csv);
    ck_assert_uint_gt(strlen(a), 1000);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
}
END_TEST

static bool same_text(const char *a, const char *b)
{
    return strcmp(a == NULL ? "" : a, b == NULL ? "" : b) == 0;
}

START_TEST(a_plugin_linked_in_declares_what_its_file_declares)
{
    const bp_plugin_head_t *head = linked[_i], *loaded;
    begin_with(NULL, 0);
    load(head->name, (const bp_option_t[]){{"properties", "x", NULL, NULL}},
         strcmp(head->name, "recorder") == 0);
    loaded = bp_host_plugin(host, 0, NULL);
    ck_assert(same_text(head->name, loaded->name) && same_text(head->desc->version, loaded->desc->version) &&
              same_text(head->desc->doc, loaded->desc->doc));
    ck_assert_uint_eq(head->desc->options.count, loaded->desc->options.count);
    ck_assert_uint_eq(head->desc->systems.count, loaded->desc->systems.count);
    ck_assert_uint_eq(head->desc->components.count, loaded->desc->components.count);
    for (uint32_t i = 0; i < head->desc->components.count; i++) {
        const bp_component_i *a = &head->desc->components.items[i], *b = &loaded->desc->components.items[i];
        ck_assert(same_text(a->name == NULL ? head->name : a->name, b->name) && a->flags == b->flags &&
                  a->fields.count == b->fields.count);
        for (uint32_t k = 0; k < a->fields.count; k++) {
            const bp_field_t *f = &a->fields.items[k], *g = &b->fields.items[k];
            ck_assert(same_text(f->name, g->name) && f->type == g->type && same_text(f->initial, g->initial));
        }
    }
    end();
}
END_TEST

/* --- copies ------------------------------------------------------------------------------------------------------- */

static void expect_copy(const void *declared, const void *handed)
{
    ck_assert(declared == NULL || (handed != NULL && handed != declared));
}

static void expect_text(const char *declared, const char *handed)
{
    expect_copy(declared, handed);
    ck_assert(same_text(declared, handed));
}

static void expect_fields(const bp_field_list_t *declared, const bp_field_list_t *handed)
{
    ck_assert_uint_eq(declared->count, handed->count);
    expect_copy(declared->items, handed->items);
    for (uint32_t i = 0; i < declared->count; i++) {
        const bp_field_t *a = &declared->items[i], *b = &handed->items[i];
        const char *const as[] = {a->name, a->initial, a->min, a->max, a->unit, a->doc, a->former_name, a->values};
        const char *const bs[] = {b->name, b->initial, b->min, b->max, b->unit, b->doc, b->former_name, b->values};
        for (uint32_t k = 0; k < sizeof as / sizeof *as; k++)
            expect_text(as[k], bs[k]);
    }
}

static void expect_extensions(const bp_extension_list_t *declared, const bp_extension_list_t *handed)
{
    ck_assert_uint_eq(declared->count, handed->count);
    expect_copy(declared->items, handed->items);
    for (uint32_t i = 0; i < declared->count; i++) {
        expect_text(declared->items[i].name, handed->items[i].name);
        expect_copy(declared->items[i].verbs, handed->items[i].verbs);
    }
}

static void expect_terms(const bp_term_list_t *declared, const bp_term_list_t *handed)
{
    ck_assert_uint_eq(declared->count, handed->count);
    expect_copy(declared->items, handed->items);
    for (uint32_t i = 0; i < declared->count; i++) {
        const bp_term_t *a = &declared->items[i], *b = &handed->items[i];
        expect_text(a->component, b->component);
        expect_text(a->instance, b->instance);
        expect_text(a->world, b->world);
        ck_assert_uint_eq(a->fields.count, b->fields.count);
        expect_copy(a->fields.items, b->fields.items);
        for (uint32_t k = 0; k < a->fields.count; k++)
            expect_text(a->fields.items[k].name, b->fields.items[k].name);
    }
}

static void expect_tables(const bp_table_list_t *declared, const bp_table_list_t *handed)
{
    ck_assert_uint_eq(declared->count, handed->count);
    expect_copy(declared->items, handed->items);
    for (uint32_t i = 0; i < declared->count; i++) {
        expect_text(declared->items[i].name, handed->items[i].name);
        expect_text(declared->items[i].returns, handed->items[i].returns);
        expect_copy(declared->items[i].entries, handed->items[i].entries);
    }
}

/* What bp_host_plugin hands out lies nowhere in the plugin, whose image may go. */
START_TEST(heads_that_are_handed_out_are_copies_down_to_each_text)
{
    const bp_plugin_desc_t *d = linked[_i]->desc;
    begin_with(linked, LINKED);
    OK(bp_host_load_plugin(host, linked[_i]->name, (const bp_option_t[]){{"properties", "x", NULL, NULL}},
                           strcmp(linked[_i]->name, "recorder") == 0));
    const bp_plugin_head_t *handed = bp_host_plugin(host, 0, NULL);
    const bp_plugin_desc_t *h = handed->desc;
    expect_copy(linked[_i], handed);
    expect_copy(d, h);
    expect_text(linked[_i]->name, handed->name);
    expect_text(d->version, h->version);
    expect_text(d->doc, h->doc);
    expect_fields(&d->options, &h->options);
    expect_tables(&d->tables, &h->tables);
    expect_extensions(&d->extensions, &h->extensions);
    for (uint32_t i = 0; i < d->components.count; i++) {
        const bp_component_i *a = &d->components.items[i], *b = &h->components.items[i];
        expect_copy(a, b);
        expect_copy(a->storage, b->storage);
        expect_text(a->doc, b->doc);
        expect_text(a->reads, b->reads);
        expect_text(a->writes, b->writes);
        expect_fields(&a->fields, &b->fields);
        expect_extensions(&a->extensions, &b->extensions);
    }
    for (uint32_t i = 0; i < d->systems.count; i++) {
        const bp_system_i *a = &d->systems.items[i], *b = &h->systems.items[i];
        const char *const as[] = {a->doc, a->before, a->after, a->reads, a->writes};
        const char *const bs[] = {b->doc, b->before, b->after, b->reads, b->writes};
        for (uint32_t k = 0; k < sizeof as / sizeof *as; k++)
            expect_text(as[k], bs[k]);
        expect_copy(a, b);
        expect_terms(&a->terms, &b->terms);
        expect_extensions(&a->extensions, &b->extensions);
    }
    end();
}
END_TEST

/* Components with storage of their own, linked in: create, set, move, read. */
START_TEST(managers_linked_in_keep_their_instances)
{
    enum { COUNT = 400 };
    static bp_entity_t e[COUNT];
    const bp_option_t folder = {"folder", TEST_SOURCE_DIR "/config/meshes", NULL, NULL};
    const char *text;
    char wanted[16];
    uint32_t prototype, triangles;
    begin_with(linked, LINKED);
    new_world(0);
    OK(bp_host_load_plugin(host, "debug_name", NULL, 0));
    OK(bp_host_load_plugin(host, "mesh", &folder, 1));
    OK(bp_host_load_plugin(host, "transform", NULL, 0));
    OK(bp_host_load_plugin(host, "render_data", NULL, 0));
    OK(bp_world_use_component(world, "debug_name"));
    OK(bp_world_use_component(world, "mesh"));
    OK(bp_world_use_component(world, "transform"));
    OK(bp_world_use_component(world, "render_data"));
    uint32_t keys[] = {key_of("debug_name"), key_of("mesh"), key_of("transform"), key_of("render_data")};
    OK(api->world->prototype(world, keys, 4, &prototype));
    OK(api->world->create(world, prototype, e, COUNT));
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(wanted, sizeof wanted, "n%u", i);
        set_text(e[i], "debug_name", "name", wanted);
        set_text(e[i], "mesh", "resource", i % 2 == 0 ? "cube.obj" : "icosahedron.obj");
        set(e[i], "transform", "position", BP_VEC3, &(bp_vec3_t){(float)i, 0, 0});
    }
    for (uint32_t i = 0; i < COUNT; i += 3)
        api->entity->destroy(host, &e[i], 1);
    steps(200);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 3 == 0)
            continue;
        snprintf(wanted, sizeof wanted, "n%u", i);
        get(e[i], "debug_name", "name", BP_STRING, &text);
        get(e[i], "mesh", "triangle_count", BP_U32, &triangles);
        ck_assert_str_eq(text, wanted);
        ck_assert_uint_eq(triangles, i % 2 == 0 ? 12 : 20);
        ck_assert_float_eq(vector_of(e[i], "transform", "position").x, (float)i);
    }
    end();
}
END_TEST

Suite *linked_suite(void)
{
    Suite *suite = suite_create("linked");
    TCase *in = tcase_create("linked in");
    tcase_add_test(in, the_solar_system_is_the_same_bit_for_bit_with_plugins_linked_in);
    tcase_add_loop_test(in, a_plugin_linked_in_declares_what_its_file_declares, 0, LINKED);
    tcase_add_test(in, managers_linked_in_keep_their_instances);
    tcase_set_timeout(in, 30);
    tcase_add_loop_test(in, heads_that_are_handed_out_are_copies_down_to_each_text, 0, LINKED);
    suite_add_tcase(suite, in);
    return suite;
}
