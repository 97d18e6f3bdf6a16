/* plugin_list.c - the contents of each plugin: options, components with their properties, systems with the components
 * that they touch.
 *
 * Everything comes from the public tables (bp_look.h), as any plugin gets it; the two forms, for people and JSON, have
 * the same contents.
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

/* The fields of a component type, or the options of a plugin: one of the two is named, the other NULL. */
typedef struct fields_t {
    const program_t *program;
    const char *type, *plugin;
    uint32_t at;
} fields_t;

static bool next_field(fields_t *fields, bp_field_t *field)
{
    const program_t *program = fields->program;
    if (fields->plugin == NULL)
        return describe_field(program, fields->type, fields->at++, field);
    bp_look_option_t option = {.struct_size = sizeof option};
    if (!program->look->option(program->host, fields->plugin, &fields->at, &option))
        return false;
    *field = option.field;
    return true;
}

static int print_fields(fields_t fields, const char *heading, bool styled)
{
    static const char *const headings[] = {"Type", "Default", "Unit", "Range", "About"};
    table_t table;
    bp_field_t field;
    if (!next_field(&fields, &field))
        return STATUS_FINE;
    table_begin(&table, 6);
    table_cell(&table, heading);
    for (uint32_t i = 0; i < 5; i++)
        table_cell(&table, headings[i]);
    do
        add_field(&table, &field);
    while (next_field(&fields, &field));
    return print_table(&table, "    ", styled);
}

/* A term of a system, and its number. */
typedef struct named_term_t {
    const program_t *program;
    const char *system;
    uint32_t number;
    bp_look_term_t term;
} named_term_t;

static bool next_asked(const named_term_t *term, uint32_t *cursor, bp_term_field_t *field)
{
    const program_t *program = term->program;
    return program->look->asked(program->host, term->system, term->number, cursor, field, sizeof *field) != 0;
}

/* The next term; begin with one whose `number` is BP_NONE. The number is also the cursor. */
static bool next_term(named_term_t *term)
{
    const program_t *program = term->program;
    uint32_t cursor = ++term->number;
    term->term.struct_size = sizeof term->term;
    return program->look->term(program->host, term->system, &cursor, &term->term) != 0;
}

/* "; reads mass, position"; nothing where the term has none such. */
static void print_asked(const named_term_t *term, uint32_t access, const char *verb)
{
    bp_term_field_t field;
    uint32_t found = 0;
    for (uint32_t cursor = 0; next_asked(term, &cursor, &field);) {
        if ((field.access & BP_WRITE) != (access & BP_WRITE))
            continue;
        printf("%s%s%s", found++ > 0 ? ", " : verb, field.name,
               field.flags & BP_TERM_FIELD_OPTIONAL ? " (where it has that)" : "");
    }
}

static void print_term(const named_term_t *named)
{
    const bp_look_term_t *term = &named->term;
    const char *how = term->flags & BP_TERM_EXCLUDE    ? "without"
                      : term->flags & BP_TERM_OPTIONAL ? "with or without"
                                                       : "with";
    printf("    %s %s%s", how, (term->flags & BP_TERM_WORLD) != 0 ? "the world's " : "", term->component);
    if (term->instance[0] != '\0')
        printf(" named %s", term->instance);
    if (term->world[0] != '\0')
        printf(" in world %s%s", term->world[0] == '.' ? "NAME" : "", term->world);
    print_asked(named, BP_READ, "; reads ");
    print_asked(named, BP_WRITE, "; writes ");
    putchar('\n');
}

static void print_system(const program_t *program, const bp_look_system_t *system, bool styled)
{
    static const char *const flags[] = {"parallel", NULL};
    print_flagged("system", system->name, flags, system->flags, styled);
    print_doc("    ", system->doc);
    for (named_term_t term = {.program = program, .system = system->name, .number = BP_NONE}; next_term(&term);)
        print_term(&term);
    if (system->before[0] != '\0')
        printf("    comes before %s\n", system->before);
    if (system->after[0] != '\0')
        printf("    comes after %s\n", system->after);
}

static int print_component(const program_t *program, const bp_look_type_t *type, bool styled)
{
    static const char *const flags[] = {"own storage", "collected at once", "parallel", "one an entity",
                                        "of the world", NULL};
    uint32_t known = type->flags & (BP_COMPONENT_AT_ONCE | BP_COMPONENT_PARALLEL | BP_COMPONENT_SINGLE);
    known |= (type->traits & BP_LOOK_STORAGE) != 0 ? 1u : 0u;
    known |= (type->flags & BP_COMPONENT_WORLD) != 0 ? 1u << 4 : 0u;
    print_flagged("component", type->name, flags, known, styled);
    print_doc("    ", type->doc);
    return print_fields((fields_t){.program = program, .type = type->name}, "Property", styled);
}

/* The next component type, or system, of the plugin of that name. */
static bool next_type(const program_t *program, const char *plugin, uint32_t *cursor, bp_look_type_t *type)
{
    type->struct_size = sizeof *type;
    bool more;
    do
        more = program->look->type(program->host, cursor, type) != 0;
    while (more && strcmp(type->plugin, plugin) != 0);
    return more;
}

static bool next_system(const program_t *program, const char *plugin, uint32_t *cursor, bp_look_system_t *system)
{
    system->struct_size = sizeof *system;
    bool more;
    do
        more = program->look->system(program->host, cursor, system) != 0;
    while (more && strcmp(system->plugin, plugin) != 0);
    return more;
}

int plugin_list_print_one(const program_t *program, const bp_look_plugin_t *plugin, bool styled)
{
    bp_look_type_t type;
    bp_look_system_t system;
    int status = STATUS_FINE;
    printf("%s%s%s %s  ", terminal_heading(styled), plugin->name, terminal_plain(styled), plugin->version);
    terminal_print(stdout, plugin->path[0] != '\0' ? plugin->path : "(linked in)");
    putchar('\n');
    print_doc("  ", plugin->doc);
    if (plugin->crash != NULL) {
        fputs("  set aside: ", stdout);
        terminal_print(stdout, plugin->crash);
        putchar('\n');
    }
    if (plugin->option_count > 0) {
        printf("\n  %soptions%s, under [plugin %s]\n", terminal_heading(styled), terminal_plain(styled),
               plugin->name);
        status = print_fields((fields_t){.program = program, .plugin = plugin->name}, "Option", styled);
    }
    for (uint32_t cursor = 0; status == STATUS_FINE && next_type(program, plugin->name, &cursor, &type);)
        status = print_component(program, &type, styled);
    for (uint32_t cursor = 0; status == STATUS_FINE && next_system(program, plugin->name, &cursor, &system);)
        print_system(program, &system, styled);
    return status;
}

int plugin_list_print(const program_t *program, bool styled)
{
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    int status = STATUS_FINE;
    const char *between = "";
    for (uint32_t cursor = 0;
         status == STATUS_FINE && program->look->plugin(program->host, &cursor, &plugin); between = "\n") {
        fputs(between, stdout);
        status = plugin_list_print_one(program, &plugin, styled);
    }
    return status;
}

/* How many components and systems a plugin brings. */
static void count_brought(const program_t *program, const char *plugin, uint32_t *types, uint32_t *systems)
{
    bp_look_type_t type;
    bp_look_system_t system;
    *types = *systems = 0;
    for (uint32_t cursor = 0; next_type(program, plugin, &cursor, &type);)
        ++*types;
    for (uint32_t cursor = 0; next_system(program, plugin, &cursor, &system);)
        ++*systems;
}

int plugin_list_print_short(const program_t *program, bool styled)
{
    static const char *const headings[] = {"Plugin", "Version", "Components", "Systems", "About"};
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    table_t table;
    table_begin(&table, 5);
    for (uint32_t i = 0; i < 5; i++)
        table_cell(&table, headings[i]);
    for (uint32_t cursor = 0; program->look->plugin(program->host, &cursor, &plugin);) {
        uint32_t types, systems;
        count_brought(program, plugin.name, &types, &systems);
        table_cell(&table, plugin.name);
        table_cell(&table, plugin.version);
        table_cellf(&table, "%" PRIu32, types);
        table_cellf(&table, "%" PRIu32, systems);
        table_cell(&table, plugin.crash != NULL ? "set aside: it has crashed" : plugin.doc);
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
    bad |= json_object_set_new(object, "min", json_output_number(field->type, field->min));
    bad |= json_object_set_new(object, "max", json_output_number(field->type, field->max));
    bad |= json_object_set_new(object, "values", values_json(field));
    bad |= json_object_set_new(object, "bits", json_boolean(field->flags & BP_FIELD_BITS));
    bad |= json_object_set_new(object, "unit", json_output_text(field->unit));
    bad |= json_object_set_new(object, "doc", json_output_text(field->doc));
    bad |= json_object_set_new(object, "read_only", json_boolean(field->flags & BP_FIELD_READ_ONLY));
    bad |= json_object_set_new(object, "required", json_boolean(field->flags & BP_FIELD_REQUIRED));
    return json_output_checked(object, bad);
}

static json_t *fields_json(fields_t fields)
{
    json_t *list = json_array();
    bp_field_t field;
    int bad = 0;
    while (next_field(&fields, &field))
        bad |= json_array_append_new(list, field_json(&field));
    return json_output_checked(list, bad);
}

/* A text that was declared, or null. */
static json_t *said(const char *text)
{
    return json_output_text(text[0] == '\0' ? NULL : text);
}

static json_t *component_json(const program_t *program, const bp_look_type_t *type)
{
    json_t *object = json_object();
    uint32_t flags = type->flags;
    int bad = 0;
    bad |= json_object_set_new(object, "name", json_output_text(type->name));
    bad |= json_object_set_new(object, "doc", said(type->doc));
    bad |= json_object_set_new(object, "version", json_output_count(type->version));
    bad |= json_object_set_new(object, "own_storage", json_boolean(type->traits & BP_LOOK_STORAGE));
    bad |= json_object_set_new(object, "at_once", json_boolean(flags & BP_COMPONENT_AT_ONCE));
    bad |= json_object_set_new(object, "parallel", json_boolean(flags & BP_COMPONENT_PARALLEL));
    bad |= json_object_set_new(object, "single", json_boolean(flags & BP_COMPONENT_SINGLE));
    bad |= json_object_set_new(object, "world", json_boolean(flags & BP_COMPONENT_WORLD));
    bad |= json_object_set_new(object, "simulates", json_boolean(type->traits & BP_LOOK_SIMULATES));
    bad |= json_object_set_new(object, "properties",
                               fields_json((fields_t){.program = program, .type = type->name}));
    return json_output_checked(object, bad);
}

static json_t *asked_json(const named_term_t *term)
{
    json_t *list = json_array();
    bp_term_field_t field;
    int bad = 0;
    for (uint32_t cursor = 0; next_asked(term, &cursor, &field);) {
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

static json_t *term_json(const named_term_t *term)
{
    json_t *object = json_object();
    uint32_t flags = term->term.flags;
    int bad = 0;
    bad |= json_object_set_new(object, "component", json_output_text(term->term.component));
    bad |= json_object_set_new(object, "instance", said(term->term.instance));
    bad |= json_object_set_new(object, "fields", asked_json(term));
    bad |= json_object_set_new(object, "optional", json_boolean(flags & BP_TERM_OPTIONAL));
    bad |= json_object_set_new(object, "exclude", json_boolean(flags & BP_TERM_EXCLUDE));
    bad |= json_object_set_new(object, "world", json_boolean(flags & BP_TERM_WORLD));
    bad |= json_object_set_new(object, "beside", said(term->term.world));
    return json_output_checked(object, bad);
}

static json_t *system_json(const program_t *program, const bp_look_system_t *system)
{
    json_t *object = json_object(), *terms = json_array();
    int bad = 0;
    for (named_term_t term = {.program = program, .system = system->name, .number = BP_NONE}; next_term(&term);)
        bad |= json_array_append_new(terms, term_json(&term));
    bad |= json_object_set_new(object, "name", json_output_text(system->name));
    bad |= json_object_set_new(object, "doc", said(system->doc));
    bad |= json_object_set_new(object, "parallel", json_boolean(system->flags & BP_SYSTEM_PARALLEL));
    bad |= json_object_set_new(object, "terms", terms);
    bad |= json_object_set_new(object, "before", json_output_words(system->before));
    bad |= json_object_set_new(object, "after", json_output_words(system->after));
    return json_output_checked(object, bad);
}

static json_t *plugin_json(const program_t *program, const bp_look_plugin_t *plugin)
{
    json_t *object = json_object(), *components = json_array(), *systems = json_array();
    bp_look_type_t type;
    bp_look_system_t system;
    int bad = 0;
    for (uint32_t cursor = 0; next_type(program, plugin->name, &cursor, &type);)
        bad |= json_array_append_new(components, component_json(program, &type));
    for (uint32_t cursor = 0; next_system(program, plugin->name, &cursor, &system);)
        bad |= json_array_append_new(systems, system_json(program, &system));
    bad |= json_object_set_new(object, "name", json_output_text(plugin->name));
    bad |= json_object_set_new(object, "version", said(plugin->version));
    bad |= json_object_set_new(object, "doc", said(plugin->doc));
    bad |= json_object_set_new(object, "file", said(plugin->path));
    bad |= json_object_set_new(object, "crash", json_output_text(plugin->crash));
    bad |= json_object_set_new(object, "abi_major", json_output_count(plugin->abi_major));
    bad |= json_object_set_new(object, "abi_minor", json_output_count(plugin->abi_minor));
    bad |= json_object_set_new(object, "options",
                               fields_json((fields_t){.program = program, .plugin = plugin->name}));
    bad |= json_object_set_new(object, "components", components);
    bad |= json_object_set_new(object, "systems", systems);
    return json_output_checked(object, bad);
}

json_t *plugin_list_json(const program_t *program)
{
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    json_t *list = json_array();
    int bad = 0;
    for (uint32_t cursor = 0; program->look->plugin(program->host, &cursor, &plugin);)
        bad |= json_array_append_new(list, plugin_json(program, &plugin));
    return json_output_checked(list, bad);
}

/* --- describe ---------------------------------------------------------------------------------------------------- */

bool describe_field(const program_t *program, const char *type, uint32_t index, bp_field_t *field)
{
    return program->api->property->describe(program->host, type, index, field, sizeof *field) == BP_OK;
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
    const char *number = word + name + 1;
    value->number = word[name] == '=' ? strtoll(number, NULL, numbers_base(number)) : value->number + 1;
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
