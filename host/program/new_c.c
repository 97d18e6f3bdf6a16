/* new_c.c - the source of a new plugin in C, and in C++, where the source is the same text: the contract's headers are
 * written for both.
 *
 * Each of the three kinds has a template. The parts that depend on the fields - the columns, their declarations, the
 * statement of the step - are made here and put into it.
 */
#include "new.h"

#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text as it stands in C, with its quotes. */
static void add_quoted(new_text_t *text, const char *value)
{
    new_text_add(text, "\"");
    for (; *value != '\0'; value++) {
        const char *escape = *value == '"' || *value == '\\' ? "\\" : "";
        new_text_addf(text, "%s%c", escape, *value);
    }
    new_text_add(text, "\"");
}

/* The rest of a declaration, behind its name, type and shape. */
static void add_remarks(new_text_t *text, const new_field_t *field)
{
    if (field->initial != NULL) {
        new_text_add(text, ", .initial = ");
        add_quoted(text, field->initial);
    }
    new_text_addf(text, ", .doc = \"what people should know of %s\"},\n", field->name);
}

static const char *column_type(const new_field_t *field)
{
    return field->list ? "bp_list_t" : strcmp(field->type->name, "bool") == 0 ? "bool" : field->type->in_c;
}

static void add_columns(const new_plugin_t *plugin, new_text_t *text)
{
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        const new_field_t *field = &plugin->fields[i];
        bool text_column = strcmp(column_type(field), "const char *") == 0;
        const char *read_only = i == plugin->worked || text_column ? "" : "const ";
        new_text_addf(text, "    %s%s%s*%s;\n", read_only, column_type(field), text_column ? "const " : " ",
                      field->name);
    }
}

static void add_declarations(const new_plugin_t *plugin, new_text_t *text)
{
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        const new_field_t *field = &plugin->fields[i];
        if (field->list)
            new_text_addf(text, "    {BP_LIST_OF(struct %s, %s, %s)", plugin->name, field->name, field->type->constant);
        else if (field->count > 0 && strcmp(field->type->name, "name") == 0)
            new_text_addf(text, "    {BP_FIELD_AS(struct %s, %s, BP_NAME), .count = %u", plugin->name, field->name,
                          field->count);
        else if (field->count > 0)
            new_text_addf(text, "    {BP_ARRAY_OF(struct %s, %s, %u)", plugin->name, field->name, field->count);
        else if (strcmp(field->type->name, "name") == 0)
            new_text_addf(text, "    {BP_FIELD_AS(struct %s, %s, BP_NAME)", plugin->name, field->name);
        else
            new_text_addf(text, "    {BP_FIELD_OF(struct %s, %s)", plugin->name, field->name);
        add_remarks(text, field);
    }
}

/* Add the statement that changes one value in a step: the field's name stands between the texts `before` and
 * `behind`. */
static void add_work(const new_plugin_t *plugin, new_text_t *text, const char *before, const char *behind)
{
    const new_field_t *field = &plugin->fields[plugin->worked];
    const char *part = field->type->parts > 1 ? ".x" : "";
    new_text_addf(text, "%s%s%s%s%s;", before, field->name, behind, part, field->type->whole ? "++" : " += dt");
}

static void add_step_length(const new_plugin_t *plugin, new_text_t *text, const char *step)
{
    const new_type_t *type = plugin->fields[plugin->worked].type;
    bool twice = strcmp(type->name, "f64") == 0 || type->name[0] == 'd';
    if (!type->whole && twice)
        new_text_addf(text, "    double dt = %s->dt;\n", step);
    else if (!type->whole)
        new_text_addf(text, "    float dt = (float)%s->dt;\n", step);
}

/* --- a component ------------------------------------------------------------------------------------------------- */

static const char component_head[] =
    "/* @file@ - a component: say here what a @name@ is.\n"
    " *\n"
    " * Its fields are declared below: the world keeps them, an array for each, and from the declaration come "
    "properties by name,\n"
    " * defaults, help, saves, the console, and what becomes of the values when this file changes while a world runs.\n"
    " */\n"
    "#include <bp_plugin.h>\n"
    "@includes@"
    "\n"
    "/* The arrays: a pointer for each field, to const where the loop only reads. */\n"
    "struct @name@ {\n"
    "@columns@"
    "};\n"
    "\n"
    "static const bp_field_t fields[] = {\n"
    "@declarations@"
    "};\n"
    "\n";

static const char component_loop[] =
    "/* A step: all rows of one run. `dt` is the length of the step in the world's unit of time. */\n"
    "static void simulate(const bp_run_t *run, uint32_t count)\n"
    "{\n"
    "    BP_COLUMNS(struct @name@, c, run->columns);\n"
    "@length@"
    "    for (uint32_t i = 0; i < count; i++)\n"
    "        @work@ /* for a beginning: it grows with the time */\n"
    "}\n"
    "\n";

static const char component_tail[] =
    "static const bp_component_i components[] = {\n"
    "    {.doc = \"one line for people: what a @name@ is\", .fields = BP_LIST(fields)@verbs@},\n"
    "};\n"
    "\n"
    "BP_PLUGIN(@name@) = {.version = \"0.1\", .components = BP_LIST(components)};\n";

static bool has_type(const new_plugin_t *plugin, const char *type)
{
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        if (!plugin->fields[i].list && strcmp(plugin->fields[i].type->name, type) == 0)
            return true;
    }
    return false;
}

static void component(const new_plugin_t *plugin, new_text_t *text, const char *file)
{
    new_text_t columns = {.chars = NULL}, declarations = {.chars = NULL}, length = {.chars = NULL}, work = {.chars =
                                                                                          NULL};
    bool works = plugin->worked < plugin->field_count;
    add_columns(plugin, &columns);
    add_declarations(plugin, &declarations);
    if (works) {
        add_step_length(plugin, &length, "run->step");
        add_work(plugin, &work, "c.", "[i]");
    }
    const char *const words[] = {
        "file", file, "includes", has_type(plugin, "bool") && plugin->language == NEW_C ? "\n#include <stdbool.h>\n"
            : "",
        "columns", columns.failed ? "" : columns.chars, "declarations", declarations.failed ? "" : declarations.chars,
        "length", length.chars == NULL ? "" : length.chars, "work", work.chars == NULL ? "" : work.chars,
        "verbs", works ? ", .simulate = simulate" : "", NULL,
    };
    new_text_fill(text, component_head, plugin, words);
    if (works)
        new_text_fill(text, component_loop, plugin, words);
    new_text_fill(text, component_tail, plugin, words);
    text->failed = text->failed || columns.failed || declarations.failed || length.failed || work.failed;
    new_text_free(&columns);
    new_text_free(&declarations);
    new_text_free(&length);
    new_text_free(&work);
}

/* --- a system ---------------------------------------------------------------------------------------------------- */

static const char system_form[] =
    "/* @file@ - a system: say here what @name@ does.\n"
    " *\n"
    " * The system works on a component of another plugin, point_mass, and asks for the fields that it needs by "
    "name and type; the\n"
    " * host looks for these fields when the plugin is loaded, and again when either plugin is reloaded. What else the "
    "component\n"
    " * holds does not matter.\n"
    " */\n"
    "#include <bp_plugin.h>\n"
    "\n"
    "/* What the ini may give under [plugin @name@]. */\n"
    "enum {@numbers@};\n"
    "\n"
    "static const bp_field_t options[] = {\n"
    "@declarations@"
    "};\n"
    "\n"
    "/* The arrays of the other component: a pointer for each field that is asked for, to const where the loop only "
    "reads. */\n"
    "struct moving { bp_vec3_t *velocity; };\n"
    "\n"
    "static const bp_term_field_t moving[] = {{BP_FIELD_OF(struct moving, velocity)}};\n"
    "static const bp_term_t terms[] = {{.component = \"point_mass\", .fields = BP_LIST(moving)}};\n"
    "\n"
    "/* A step: all rows of one run of entities that have the component. For a beginning: whatever moves slows "
    "down. */\n"
    "static void run(const bp_match_t *match, uint32_t count)\n"
    "{\n"
    "    BP_COLUMNS(struct moving, m, match->columns[0]);\n"
    "@drag@"
    "    float kept = 1 - drag * (float)match->step->dt;\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        m.velocity[i].x *= kept;\n"
    "        m.velocity[i].y *= kept;\n"
    "        m.velocity[i].z *= kept;\n"
    "    }\n"
    "}\n"
    "\n"
    "/* `before`: in each step it comes before point_mass moves the bodies. */\n"
    "static const bp_system_i systems[] = {\n"
    "    {.doc = \"one line for people: what @name@ does\", .terms = BP_LIST(terms), .before = \"point_mass\", .run "
    "= run},\n"
    "};\n"
    "\n"
    "BP_PLUGIN(@name@) = {.version = \"0.1\", .systems = BP_LIST(systems), .options = BP_LIST(options)};\n";

static void add_option_number(new_text_t *text, const char *name, bool first)
{
    new_text_add(text, first ? "OPTION_" : ", OPTION_");
    for (; *name != '\0'; name++)
        new_text_addf(text, "%c", *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
}

static void system_of(const new_plugin_t *plugin, new_text_t *text, const char *file)
{
    new_text_t numbers = {.chars = NULL}, declarations = {.chars = NULL}, drag = {.chars = NULL};
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        const new_field_t *field = &plugin->fields[i];
        add_option_number(&numbers, field->name, i == 0);
        new_text_add(&declarations, "    {.name = ");
        add_quoted(&declarations, field->name);
        new_text_addf(&declarations, ", .type = %s", field->type->constant);
        add_remarks(&declarations, field);
        if (drag.length == 0 && field->type->parts == 1 && !field->type->whole) {
            new_text_add(&drag, "    float drag = (float)match->system->plugin->options[");
            add_option_number(&drag, field->name, true);
            new_text_addf(&drag, "].%s;\n", field->type->member);
        }
    }
    if (drag.length == 0)
        new_text_add(&drag, "    float drag = 0.5f;\n");
    const char *const words[] = {"file", file, "numbers", numbers.failed ? "" : numbers.chars,
                                 "declarations", declarations.failed ? "" : declarations.chars, "drag", drag.failed
                                     ? "" : drag.chars, NULL};
    new_text_fill(text, system_form, plugin, words);
    text->failed = text->failed || numbers.failed || declarations.failed || drag.failed;
    new_text_free(&numbers);
    new_text_free(&declarations);
    new_text_free(&drag);
}

/* --- storage of its own ------------------------------------------------------------------------------------------ */

static const char own_head[] =
    "/* @file@ - a component that keeps its instances itself: say here what a @name@ is.\n"
    " *\n"
    " * Instances lie in slots, numbered from 0 without gaps; helpers/bp_slots.h keeps the arrays. The world "
    "remembers the slot of each\n"
    " * entity and asks by it. All that an instance holds can be read and set as properties, so the host carries "
    "the instances over when\n"
    " * this file changes while a world runs, and saves them; what no property can set would be lost then, unless "
    "the component has\n"
    " * the extension \"bp_save\" (bp_component.h).\n"
    " */\n"
    "#include <bp_plugin.h>\n"
    "#include <helpers/bp_slots.h>\n"
    "\n"
    "/* What one instance holds. */\n"
    "struct @name@ {\n"
    "@columns@"
    "};\n"
    "\n"
    "static const struct @name@ fresh = {@fresh@};\n"
    "\n"
    "/* Its properties, and where each lies in an instance. */\n"
    "static const bp_field_t fields[] = {\n"
    "@declarations@"
    "};\n"
    "\n"
    "static const struct { size_t offset, size; } places[] = {\n"
    "@places@"
    "};\n"
    "\n"
    "enum { FIELDS = sizeof places / sizeof places[0], INSTANCES = BP_SLOTS_FIRST };\n"
    "\n"
    "static struct @name@ *instances_of(bp_manager_t *m)\n"
    "{\n"
    "    return BP_SLOTS(struct @name@, (bp_slots_t *)m->state, INSTANCES);\n"
    "}\n"
    "\n"
    "static bp_result_t start(bp_manager_t *m)\n"
    "{\n"
    "    static const uint32_t sizes[] = {sizeof(struct @name@)};\n"
    "    bp_slots_t *slots = (bp_slots_t *)m->api->memory->resize(m->plugin, NULL, 0, sizeof *slots);\n"
    "    if (slots == NULL)\n"
    "        return bp_slots_refuse(m, BP_ERROR_MEMORY, \"out of memory at its start\");\n"
    "    bp_slots_init(slots, sizes, 1);\n"
    "    m->state = slots;\n"
    "    return BP_OK;\n"
    "}\n"
    "\n"
    "static void stop(bp_manager_t *m)\n"
    "{\n"
    "    bp_slots_free(m, (bp_slots_t *)m->state);\n"
    "    m->api->memory->resize(m->plugin, m->state, sizeof(bp_slots_t), 0);\n"
    "    m->state = NULL;\n"
    "}\n"
    "\n";

static const char own_life[] =
    "/* New instances: a value for each field that has a column, what `fresh` says for the others. */\n"
    "static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,\n"
    "                          const void *const *columns, uint32_t *slots)\n"
    "{\n"
    "    bp_slots_t *all = (bp_slots_t *)m->state;\n"
    "    bp_result_t result = bp_slots_reserve(m, all, instance, count);\n"
    "    if (result != BP_OK)\n"
    "        return result;\n"
    "    uint32_t first = bp_slots_append(all, instance, entities, count, slots);\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        char *item = (char *)(instances_of(m) + first + i);\n"
    "        memcpy(item, &fresh, sizeof fresh);\n"
    "        for (uint32_t f = 0; columns != NULL && f < FIELDS; f++) {\n"
    "            if (columns[f] != NULL)\n"
    "                memcpy(item + places[f].offset, (const char *)columns[f] + i * places[f].size, places[f].size);\n"
    "        }\n"
    "    }\n"
    "    return BP_OK;\n"
    "}\n"
    "\n"
    "static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)\n"
    "{\n"
    "    bp_slots_destroy(m, (bp_slots_t *)m->state, slots, count, NULL);\n"
    "}\n"
    "\n"
    "static uint32_t collect(bp_manager_t *m, uint64_t *random)\n"
    "{\n"
    "    return bp_slots_collect(m, (bp_slots_t *)m->state, random, NULL);\n"
    "}\n"
    "\n"
    "static uint32_t count_instances(bp_manager_t *m)\n"
    "{\n"
    "    return ((const bp_slots_t *)m->state)->count;\n"
    "}\n"
    "\n"
    "static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values, "
    "size_t stride)\n"
    "{\n"
    "    for (uint32_t i = 0; i < count; i++)\n"
    "        memcpy((char *)values + i * stride, (const char *)(instances_of(m) + slots[i]) + places[field].offset, "
    "places[field].size);\n"
    "    return BP_OK;\n"
    "}\n"
    "\n"
    "static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, const void "
    "*values, size_t stride)\n"
    "{\n"
    "    for (uint32_t i = 0; i < count; i++)\n"
    "        memcpy((char *)(instances_of(m) + slots[i]) + places[field].offset, (const char *)values + i * stride, "
    "places[field].size);\n"
    "    return BP_OK;\n"
    "}\n"
    "\n";

static const char own_step[] =
    "/* A step: called once, with no rows. For a beginning: one field grows with the time. */\n"
    "static void simulate(const bp_run_t *run, uint32_t count)\n"
    "{\n"
    "    struct @name@ *instances = instances_of(run->manager);\n"
    "@length@"
    "    (void)count;\n"
    "    for (uint32_t i = 0; i < count_instances(run->manager); i++)\n"
    "        @work@\n"
    "    if (run->manager->watched != 0) /* stamps are kept: all have changed */\n"
    "        run->manager->api->world->instances_changed_range(run->manager, 0, count_instances(run->manager));\n"
    "}\n"
    "\n";

static const char own_tail[] =
    "static const bp_storage_i storage = {\n"
    "    .struct_size = sizeof(bp_storage_i),\n"
    "    .create = create,\n"
    "    .destroy = destroy,\n"
    "    .get = get,\n"
    "    .set = set,\n"
    "    .count = count_instances,\n"
    "    .gc = collect,\n"
    "};\n"
    "\n"
    "static const bp_component_i components[] = {{\n"
    "    .doc = \"one line for people: what a @name@ is\",\n"
    "    .fields = BP_LIST(fields),\n"
    "    .start = start,\n"
    "    .stop = stop,\n"
    "@verbs@"
    "    .storage = &storage,\n"
    "}};\n"
    "\n"
    "BP_PLUGIN(@name@) = {.version = \"0.1\", .components = BP_LIST(components)};\n";

/* A number as C has it: zeros in front would make it octal. */
static void add_number(new_text_t *text, const char *number, size_t length)
{
    size_t sign = length > 0 && (*number == '+' || *number == '-');
    new_text_addf(text, "%.*s", (int)sign, number);
    number += sign;
    length -= sign;
    for (; length > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9'; length--)
        number++;
    new_text_addf(text, "%.*s", (int)length, number);
}

/* The default of a field as a value of C: its numbers, with commas between them. */
static void add_fresh(new_text_t *text, const new_field_t *field)
{
    const char *value = field->initial == NULL ? "" : field->initial;
    bool braces = field->type->parts > 1 || strcmp(field->type->name, "quat") == 0 || strcmp(field->type->name,
                                                                                          "entity") == 0;
    if (strcmp(field->type->name, "bool") == 0)
        value = strcmp(value, "true") == 0 || strcmp(value, "on") == 0 || strcmp(value, "yes") == 0 || strcmp(value,
                                                                                          "1") == 0 ? "1" : "0";
    else if (strcmp(field->type->name, "quat") == 0)
        value = "0 0 0 1";
    new_text_add(text, braces ? "{" : "");
    for (bool any = false; *value != '\0';) {
        size_t length = strcspn(value, " \t,");
        new_text_add(text, any && length > 0 ? ", " : "");
        add_number(text, value, length);
        any = any || length > 0;
        value += length;
        value += strspn(value, " \t,");
    }
    if (field->initial == NULL && !braces && field->type->parts == 1)
        new_text_add(text, "0");
    else if (field->initial == NULL && braces && strcmp(field->type->name, "quat") != 0)
        new_text_add(text, "0");
    new_text_add(text, braces ? "}" : "");
}

static void own_storage(const new_plugin_t *plugin, new_text_t *text, const char *file)
{
    new_text_t columns = {.chars = NULL}, declarations = {.chars = NULL}, places = {.chars = NULL}, fresh = {.chars =
                                                                                          NULL},
               length = {.chars = NULL}, work = {.chars = NULL};
    bool works = plugin->worked < plugin->field_count;
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        const new_field_t *field = &plugin->fields[i];
        new_text_addf(&columns, "    %s %s;\n", field->type->in_c, field->name);
        new_text_addf(&declarations, "    {.name = \"%s\", .type = %s", field->name, field->type->constant);
        add_remarks(&declarations, field);
        new_text_addf(&places, "    {offsetof(struct %s, %s), sizeof(%s)},\n", plugin->name, field->name,
                      field->type->in_c);
        new_text_add(&fresh, i > 0 ? ", " : "");
        add_fresh(&fresh, field);
    }
    if (works) {
        add_step_length(plugin, &length, "run->step");
        add_work(plugin, &work, "instances[i].", "");
    }
    const char *const words[] = {
        "file", file, "columns", columns.failed ? "" : columns.chars, "declarations", declarations.failed ? ""
            : declarations.chars,
        "places", places.failed ? "" : places.chars, "fresh", fresh.failed ? "" : fresh.chars,
        "length", length.chars == NULL ? "" : length.chars, "work", work.chars == NULL ? "" : work.chars,
        "verbs", works ? "    .simulate = simulate,\n" : "", NULL,
    };
    new_text_fill(text, own_head, plugin, words);
    new_text_fill(text, own_life, plugin, words);
    if (works)
        new_text_fill(text, own_step, plugin, words);
    new_text_fill(text, own_tail, plugin, words);
    text->failed = text->failed || columns.failed || declarations.failed || places.failed || fresh.failed ||
        length.failed || work.failed;
    new_text_free(&columns);
    new_text_free(&declarations);
    new_text_free(&places);
    new_text_free(&fresh);
    new_text_free(&length);
    new_text_free(&work);
}

void new_source_c(const new_plugin_t *plugin, new_text_t *text)
{
    char file[NEW_NAME_MAX + 8];
    snprintf(file, sizeof file, "%s.%s", plugin->name, new_source_ending(plugin));
    if (plugin->kind == NEW_SYSTEM)
        system_of(plugin, text, file);
    else if (plugin->kind == NEW_OWN_STORAGE)
        own_storage(plugin, text, file);
    else
        component(plugin, text, file);
}
