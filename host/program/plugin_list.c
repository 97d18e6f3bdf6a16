/* plugin_list.c - what each plugin brings: options, components with their properties, systems with the components that
 * they touch.
 *
 * Everything comes from the descriptors, which the host has checked when it loaded the plugins; the two forms, for
 * people and JSON, tell the same.
 */
#include "plugin_list.h"

#include "json_output.h"
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- for people ----------------------------------------------------------------------------------------- */

static const char *or_nothing(const char *text)
{
    return text != NULL ? text : "";
}

static int print_table(table_t *table, const char *indent, bool styled)
{
    bool fine = table_print(table, stdout, indent, styled);
    table_end(table);
    if (fine)
        return STATUS_FINE;
    complain("out of memory while printing a table");
    return STATUS_FAILED;
}

static void print_flagged(const char *kind, const char *name, const char *const *flags, uint32_t bits,
                          bool styled)
{
    const char *separator = " (";
    printf("\n  %s%s %s%s", terminal_heading(styled), kind, name, terminal_plain(styled));
    for (uint32_t i = 0; flags[i] != NULL; i++) {
        if (bits & (1u << i)) {
            printf("%s%s", separator, flags[i]);
            separator = ", ";
        }
    }
    fputs(separator[0] == ',' ? ")\n" : "\n", stdout);
}

static void print_doc(const char *indent, const char *doc)
{
    if (doc == NULL || doc[0] == '\0')
        return;
    fputs(indent, stdout);
    terminal_print(stdout, doc);
    putchar('\n');
}

static void add_field(table_t *table, const bp_field_t *field)
{
    char range[512], shape[64];
    described_value_t room;
    table_cell(table, field->name);
    bool required = (field->flags & BP_FIELD_REQUIRED) != 0;
    table_cellf(table, "%s%s%s", describe_shape(field, shape, sizeof shape),
                field->flags & BP_FIELD_READ_ONLY ? ", read only" : "", required ? ", required" : "");
    table_cell(table, required ? "" : describe_initial(field, &room));
    table_cell(table, or_nothing(field->unit));
    table_cell(table, describe_range(field, range, sizeof range));
    table_cell(table, or_nothing(field->doc));
}

static int print_fields(const bp_field_list_t *fields, const char *heading, bool styled)
{
    static const char *const headings[] = {"Type", "Default", "Unit", "Range", "About"};
    table_t table;
    uint32_t count = describe_count(fields);
    if (count == 0)
        return STATUS_FINE;
    table_begin(&table, 6);
    table_cell(&table, heading);
    for (uint32_t i = 0; i < 5; i++)
        table_cell(&table, headings[i]);
    for (uint32_t i = 0; i < count; i++) {
        bp_field_t field = describe_field(fields, i);
        add_field(&table, &field);
    }
    return print_table(&table, "    ", styled);
}

/* "; reads mass, position"; nothing where the term has none such. */
static void print_asked(const bp_term_t *term, uint32_t access, const char *verb)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < term->fields.count; i++) {
        bp_term_field_t field = describe_asked(&term->fields, i);
        if ((field.access & BP_WRITE) != (access & BP_WRITE))
            continue;
        printf("%s%s%s", found++ > 0 ? ", " : verb, field.name,
               field.flags & BP_TERM_FIELD_OPTIONAL ? " (where it has that)" : "");
    }
}

static void print_term(const bp_term_t *term)
{
    const char *how = term->flags & BP_TERM_EXCLUDE    ? "without"
                      : term->flags & BP_TERM_OPTIONAL ? "with or without"
                                                       : "with";
    printf("    %s %s%s", how, (term->flags & BP_TERM_WORLD) != 0 ? "the world's " : "", term->component);
    if (term->instance != NULL)
        printf(" named %s", term->instance);
    print_asked(term, BP_READ, "; reads ");
    print_asked(term, BP_WRITE, "; writes ");
    putchar('\n');
}

static void print_system(const bp_system_i *system, bool styled)
{
    static const char *const flags[] = {"parallel", NULL};
    print_flagged("system", system->name, flags, system->flags, styled);
    print_doc("    ", system->doc);
    for (uint32_t i = 0; i < system->terms.count; i++) {
        bp_term_t term = describe_term(&system->terms, i);
        print_term(&term);
    }
    if (system->before != NULL && system->before[0] != '\0')
        printf("    comes before %s\n", system->before);
    if (system->after != NULL && system->after[0] != '\0')
        printf("    comes after %s\n", system->after);
}

static int print_component(const bp_component_i *component, bool styled)
{
    static const char *const flags[] = {"own storage", "collected at once", "parallel", "one an entity",
                                        "of the world", NULL};
    uint32_t known = component->flags & (BP_COMPONENT_AT_ONCE | BP_COMPONENT_PARALLEL | BP_COMPONENT_SINGLE);
    known |= component->storage != NULL ? 1u : 0u;
    known |= (component->flags & BP_COMPONENT_WORLD) != 0 ? 1u << 4 : 0u;
    print_flagged("component", component->name, flags, known, styled);
    print_doc("    ", component->doc);
    return print_fields(&component->fields, "Property", styled);
}

int plugin_list_print_one(const bp_plugin_head_t *head, const char *path, const char *crash, bool styled)
{
    int status = STATUS_FINE;
    printf("%s%s%s %s  ", terminal_heading(styled), head->name, terminal_plain(styled),
           or_nothing(head->desc->version));
    terminal_print(stdout, path[0] != '\0' ? path : "(linked in)");
    putchar('\n');
    print_doc("  ", head->desc->doc);
    if (crash != NULL) {
        fputs("  set aside: ", stdout);
        terminal_print(stdout, crash);
        putchar('\n');
    }
    if (head->desc->options.count > 0) {
        printf("\n  %soptions%s, under [plugin %s]\n", terminal_heading(styled), terminal_plain(styled),
               head->name);
        status = print_fields(&head->desc->options, "Option", styled);
    }
    for (uint32_t i = 0; i < head->desc->components.count && status == STATUS_FINE; i++) {
        bp_component_i component = describe_component(&head->desc->components, i);
        status = print_component(&component, styled);
    }
    for (uint32_t i = 0; i < head->desc->systems.count && status == STATUS_FINE; i++) {
        bp_system_i system = describe_system(&head->desc->systems, i);
        print_system(&system, styled);
    }
    return status;
}

int plugin_list_print(const program_t *program, bool styled)
{
    const char *path;
    const bp_plugin_head_t *head;
    int status = STATUS_FINE;
    for (uint32_t i = 0; (head = bp_host_plugin(program->host, i, &path)) != NULL; i++) {
        fputs(i > 0 ? "\n" : "", stdout);
        status = plugin_list_print_one(head, path, bp_host_plugin_crash(program->host, i), styled);
        if (status != STATUS_FINE)
            break;
    }
    return status;
}

int plugin_list_print_short(const program_t *program, bool styled)
{
    static const char *const headings[] = {"Plugin", "Version", "Components", "Systems", "About"};
    table_t table;
    const char *path;
    const bp_plugin_head_t *head;
    table_begin(&table, 5);
    for (uint32_t i = 0; i < 5; i++)
        table_cell(&table, headings[i]);
    for (uint32_t i = 0; (head = bp_host_plugin(program->host, i, &path)) != NULL; i++) {
        table_cell(&table, head->name);
        table_cell(&table, or_nothing(head->desc->version));
        table_cellf(&table, "%" PRIu32, head->desc->components.count);
        table_cellf(&table, "%" PRIu32, head->desc->systems.count);
        table_cell(&table, bp_host_plugin_crash(program->host, i) != NULL ? "set aside: it has crashed"
                                                                          : or_nothing(head->desc->doc));
    }
    return print_table(&table, "", styled);
}

/* --- as JSON -------------------------------------------------------------------------------------------- */

static json_t *values_json(const bp_field_t *field)
{
    described_value_t value = {.number = -1};
    int bad = 0;
    if (field->values == NULL)
        return json_null();
    json_t *object = json_object();
    for (const char *values = field->values; bad == 0 && describe_value(&values, &value);)
        bad = json_object_set_new(object, value.name, json_integer(value.number));
    return json_output_checked(object, bad);
}

/* The default of a field as JSON: of an array or a list the values of its text; where an array's text is a single
 * value, that value for each element. */
static json_t *default_json(const bp_field_t *field)
{
    described_value_t room;
    const char *initial = describe_initial(field, &room);
    if (describe_is_single(field))
        return json_output_value(field->type, initial);
    if (initial[0] == '[')
        return json_output_values(field->type, initial);
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < field->count && bad == 0; i++)
        bad = json_array_append_new(list, json_output_value(field->type, initial));
    return json_output_checked(list, bad);
}

static json_t *field_json(const bp_field_t *field)
{
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "name", json_output_text(field->name));
    bad |= json_object_set_new(object, "type", json_output_text(describe_type(field->type)));
    bad |= json_object_set_new(object, "list", json_boolean(field->flags & BP_FIELD_LIST));
    bad |= json_object_set_new(object, "count", json_output_count(field->count > 1 ? field->count : 1));
    bad |= json_object_set_new(object, "default", default_json(field));
    bad |= json_object_set_new(object, "min", json_output_cell(field->min));
    bad |= json_object_set_new(object, "max", json_output_cell(field->max));
    bad |= json_object_set_new(object, "values", values_json(field));
    bad |= json_object_set_new(object, "bits", json_boolean(field->flags & BP_FIELD_BITS));
    bad |= json_object_set_new(object, "unit", json_output_text(field->unit));
    bad |= json_object_set_new(object, "doc", json_output_text(field->doc));
    bad |= json_object_set_new(object, "read_only", json_boolean(field->flags & BP_FIELD_READ_ONLY));
    bad |= json_object_set_new(object, "required", json_boolean(field->flags & BP_FIELD_REQUIRED));
    return json_output_checked(object, bad);
}

static json_t *fields_json(const bp_field_list_t *fields)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < describe_count(fields); i++) {
        bp_field_t field = describe_field(fields, i);
        bad |= json_array_append_new(list, field_json(&field));
    }
    return json_output_checked(list, bad);
}

static json_t *component_json(const bp_component_i *component)
{
    json_t *object = json_object();
    uint32_t flags = component->flags;
    int bad = 0;
    bad |= json_object_set_new(object, "name", json_output_text(component->name));
    bad |= json_object_set_new(object, "doc", json_output_text(component->doc));
    bad |= json_object_set_new(object, "version", json_output_count(component->version));
    bad |= json_object_set_new(object, "own_storage", json_boolean(component->storage != NULL));
    bad |= json_object_set_new(object, "at_once", json_boolean(flags & BP_COMPONENT_AT_ONCE));
    bad |= json_object_set_new(object, "parallel", json_boolean(flags & BP_COMPONENT_PARALLEL));
    bad |= json_object_set_new(object, "single", json_boolean(flags & BP_COMPONENT_SINGLE));
    bad |= json_object_set_new(object, "world", json_boolean(flags & BP_COMPONENT_WORLD));
    bad |= json_object_set_new(object, "simulates", json_boolean(component->simulate != NULL));
    bad |= json_object_set_new(object, "properties", fields_json(&component->fields));
    return json_output_checked(object, bad);
}

static json_t *asked_json(const bp_term_field_list_t *fields)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < fields->count; i++) {
        bp_term_field_t field = describe_asked(fields, i);
        json_t *object = json_object();
        bad |= json_object_set_new(object, "name", json_output_text(field.name));
        bad |= json_object_set_new(object, "type", json_output_text(describe_type(field.type)));
        bad |= json_object_set_new(object, "list", json_boolean(field.flags & BP_FIELD_LIST));
        bad |= json_object_set_new(object, "count", json_output_count(field.count > 1 ? field.count : 1));
        bad |= json_object_set_new(object, "write", json_boolean(field.access & BP_WRITE));
        bad |= json_object_set_new(object, "optional", json_boolean(field.flags & BP_TERM_FIELD_OPTIONAL));
        bad |= json_array_append_new(list, object);
    }
    return json_output_checked(list, bad);
}

static json_t *term_json(const bp_term_t *term)
{
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "component", json_output_text(term->component));
    bad |= json_object_set_new(object, "instance", json_output_text(term->instance));
    bad |= json_object_set_new(object, "fields", asked_json(&term->fields));
    bad |= json_object_set_new(object, "optional", json_boolean(term->flags & BP_TERM_OPTIONAL));
    bad |= json_object_set_new(object, "exclude", json_boolean(term->flags & BP_TERM_EXCLUDE));
    bad |= json_object_set_new(object, "world", json_boolean(term->flags & BP_TERM_WORLD));
    return json_output_checked(object, bad);
}

static json_t *terms_json(const bp_term_list_t *terms)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < terms->count; i++) {
        bp_term_t term = describe_term(terms, i);
        bad |= json_array_append_new(list, term_json(&term));
    }
    return json_output_checked(list, bad);
}

static json_t *system_json(const bp_system_i *system)
{
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "name", json_output_text(system->name));
    bad |= json_object_set_new(object, "doc", json_output_text(system->doc));
    bad |= json_object_set_new(object, "parallel", json_boolean(system->flags & BP_SYSTEM_PARALLEL));
    bad |= json_object_set_new(object, "terms", terms_json(&system->terms));
    bad |= json_object_set_new(object, "before", json_output_words(system->before));
    bad |= json_object_set_new(object, "after", json_output_words(system->after));
    return json_output_checked(object, bad);
}

static json_t *components_json(const bp_component_list_t *components)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < components->count; i++) {
        bp_component_i component = describe_component(components, i);
        bad |= json_array_append_new(list, component_json(&component));
    }
    return json_output_checked(list, bad);
}

static json_t *systems_json(const bp_system_list_t *systems)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t i = 0; i < systems->count; i++) {
        bp_system_i system = describe_system(systems, i);
        bad |= json_array_append_new(list, system_json(&system));
    }
    return json_output_checked(list, bad);
}

static json_t *plugin_json(const bp_plugin_head_t *head, const char *path, const char *crash)
{
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "name", json_output_text(head->name));
    bad |= json_object_set_new(object, "version", json_output_text(head->desc->version));
    bad |= json_object_set_new(object, "doc", json_output_text(head->desc->doc));
    bad |= json_object_set_new(object, "file", json_output_text(path[0] != '\0' ? path : NULL));
    bad |= json_object_set_new(object, "crash", json_output_text(crash));
    bad |= json_object_set_new(object, "abi_major", json_output_count(head->abi_major));
    bad |= json_object_set_new(object, "abi_minor", json_output_count(head->abi_minor));
    bad |= json_object_set_new(object, "options", fields_json(&head->desc->options));
    bad |= json_object_set_new(object, "components", components_json(&head->desc->components));
    bad |= json_object_set_new(object, "systems", systems_json(&head->desc->systems));
    return json_output_checked(object, bad);
}

json_t *plugin_list_json(const program_t *program)
{
    json_t *list = json_array();
    int bad = 0;
    const char *path;
    const bp_plugin_head_t *head;
    for (uint32_t i = 0; (head = bp_host_plugin(program->host, i, &path)) != NULL; i++)
        bad |= json_array_append_new(list, plugin_json(head, path, bp_host_plugin_crash(program->host, i)));
    return json_output_checked(list, bad);
}

/* --- describe ---------------------------------------------------------------------------------------------------- */

/* Declarations read at their own size, and the words for them.
 *
 * Each list carries the size that an item had when its plugin was built. Copying min(size, known) into a
 * cleared item gives one form for all, as bp_field.h asks of its readers.
 */

static void copy_item(void *item, size_t known, const void *items, uint32_t item_size, uint32_t index)
{
    const char *source = (const char *)items + (size_t)item_size * index;
    memset(item, 0, known);
    memcpy(item, source, item_size < known ? item_size : known);
}

bp_component_i describe_component(const bp_component_list_t *list, uint32_t index)
{
    bp_component_i component;
    copy_item(&component, sizeof component, list->items, list->item_size, index);
    return component;
}

bp_system_i describe_system(const bp_system_list_t *list, uint32_t index)
{
    bp_system_i system;
    copy_item(&system, sizeof system, list->items, list->item_size, index);
    return system;
}

bp_term_t describe_term(const bp_term_list_t *list, uint32_t index)
{
    bp_term_t term;
    copy_item(&term, sizeof term, list->items, list->item_size, index);
    return term;
}

bp_term_field_t describe_asked(const bp_term_field_list_t *list, uint32_t index)
{
    bp_term_field_t field;
    copy_item(&field, sizeof field, list->items, list->item_size, index);
    return field;
}

bp_field_t describe_field(const bp_field_list_t *list, uint32_t index)
{
    bp_field_t field;
    copy_item(&field, sizeof field, list->items, list->item_size, index);
    return field;
}

uint32_t describe_count(const bp_field_list_t *list)
{
    uint32_t count = list->count;
    while (count > 0 && (describe_field(list, count - 1).flags & BP_FIELD_HIDDEN) != 0)
        count--;
    return count;
}

const char *describe_type(uint32_t type)
{
    static const char *const names[BP_TYPE_COUNT] = {
        [BP_TYPE_NONE] = "?", [BP_BOOL] = "bool",     [BP_I32] = "i32",       [BP_U32] = "u32",
        [BP_I64] = "i64",     [BP_F32] = "f32",       [BP_F64] = "f64",       [BP_VEC2] = "vec2",
        [BP_VEC3] = "vec3",   [BP_VEC4] = "vec4",     [BP_QUAT] = "quat",     [BP_MAT4] = "mat4",
        [BP_COLOUR] = "colour", [BP_STRING] = "string", [BP_ENTITY] = "entity", [BP_NAME] = "name",
        [BP_I8] = "i8",       [BP_U8] = "u8",         [BP_I16] = "i16",       [BP_U16] = "u16",
        [BP_U64] = "u64",     [BP_DVEC2] = "dvec2",   [BP_DVEC3] = "dvec3",   [BP_DVEC4] = "dvec4",
    };
    return type < BP_TYPE_COUNT ? names[type] : "?";
}

const char *describe_shape(const bp_field_t *field, char *text, size_t size)
{
    const char *type = describe_type(field->type);
    if ((field->flags & BP_FIELD_LIST) != 0)
        snprintf(text, size, "list of %s", type);
    else if (field->count > 1)
        snprintf(text, size, "array of %" PRIu32 " %s", field->count, type);
    else
        snprintf(text, size, "%s", type);
    return text;
}

bool describe_value(const char **values, described_value_t *value)
{
    static const char between[] = " \t\r\n,";
    if (*values == NULL)
        return false;
    const char *word = *values + strspn(*values, between);
    size_t length = strcspn(word, between), name = strcspn(word, " \t\r\n,=");
    if (name >= sizeof value->name)
        name = sizeof value->name - 1;
    memcpy(value->name, word, name);
    value->name[name] = '\0';
    value->number = word[name] == '=' ? strtoll(word + name + 1, NULL, 0) : value->number + 1;
    *values = word + length;
    return length > 0;
}

/* The default where the type says none: the name of the value 0, or "0" where no value has that number. */
static const char *initial_name(const bp_field_t *field, described_value_t *value)
{
    *value = (described_value_t){.number = -1};
    for (const char *values = field->values; (field->flags & BP_FIELD_BITS) == 0 && describe_value(&values, value);) {
        if (value->number == 0)
            return value->name;
    }
    return "0";
}

const char *describe_initial(const bp_field_t *field, described_value_t *room)
{
    if (field->initial != NULL)
        return field->initial;
    if ((field->flags & BP_FIELD_LIST) != 0)
        return "[]";
    if (field->values != NULL)
        return initial_name(field, room);
    switch (field->type) {
    case BP_BOOL: return "false";
    case BP_VEC2: case BP_DVEC2: return "0 0";
    case BP_VEC3: case BP_DVEC3: return "0 0 0";
    case BP_VEC4: case BP_DVEC4: case BP_COLOUR: return "0 0 0 0";
    case BP_QUAT: return "0 0 0 1";
    case BP_MAT4: return "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1";
    case BP_STRING: case BP_ENTITY: case BP_NAME: return "";
    default: return "0";
    }
}

const char *describe_range(const bp_field_t *field, char *text, size_t size)
{
    text[0] = '\0';
    if (field->min != NULL && field->max != NULL)
        snprintf(text, size, "%s to %s", field->min, field->max);
    else if (field->min != NULL)
        snprintf(text, size, "at least %s", field->min);
    else if (field->max != NULL)
        snprintf(text, size, "at most %s", field->max);
    else if (field->values != NULL)
        snprintf(text, size, "%s%s", (field->flags & BP_FIELD_BITS) != 0 ? "any of " : "", field->values);
    return text;
}
