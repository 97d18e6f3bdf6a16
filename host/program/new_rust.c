/* new_rust.c - the source of a new plugin in Rust.
 *
 * The source needs no crate and not Rust's standard library, which keeps state of its own (docs/languages.md); the
 * contract is included from bp.rs, which lies beside the headers, and slots from helpers/bp_slots.rs.
 *
 * Each of the three kinds has a template. The parts that depend on the fields are made here and put into it.
 */
#include "new.h"

#include <stdio.h>
#include <string.h>

/* Behind the head of each file. */
static const char crate[] =
    "#![no_std]\n"
    "#![allow(dead_code, non_snake_case)]\n"
    "\n"
    "/// The contract, as it lies beside the headers for C.\n"
    "mod bp {\n"
    "    include!(concat!(env!(\"BACKPLANE_HEADERS\"), \"/bp.rs\"));\n"
    "@helpers@"
    "}\n"
    "use bp::text;\n"
    "\n"
    "extern \"C\" {\n"
    "    fn abort() -> !;\n"
    "}\n"
    "\n"
    "/// A panic is a crash of the plugin, which the host's guard ends.\n"
    "#[panic_handler]\n"
    "fn panic(_: &core::panic::PanicInfo) -> ! {\n"
    "    unsafe { abort() }\n"
    "}\n"
    "\n"
    "/// Never called, because nothing unwinds. Rust's core, which comes compiled, asks for a function of this "
    "name.\n"
    "#[no_mangle]\n"
    "extern \"C\" fn rust_eh_personality() {}\n"
    "\n";

static const char exported[] =
    "\n"
    "#[no_mangle]\n"
    "#[allow(non_upper_case_globals)]\n"
    "pub static bp_plugin: bp::Head = bp::Head::of(b\"@name@\\0\", &DESC);\n";

/* A text as the contract wants it, from bytes that end with a zero. */
static void add_text(new_text_t *text, const char *value)
{
    new_text_add(text, "text(b\"");
    for (; *value != '\0'; value++) {
        unsigned char c = (unsigned char)*value;
        if (c == '"' || c == '\\')
            new_text_addf(text, "\\%c", c);
        else if (c < ' ' || c > '~')
            new_text_addf(text, "\\x%02x", c);
        else
            new_text_addf(text, "%c", c);
    }
    new_text_add(text, "\\0\")");
}

/* A declaration: of a field with a column, of a property, or of an option. */
static void add_declaration(const new_plugin_t *plugin, uint32_t number, new_text_t *text)
{
    const new_field_t *field = &plugin->fields[number];
    char doc[NEW_NAME_MAX + 40];
    new_text_add(text, "    bp::Field {\n        name: ");
    add_text(text, field->name);
    new_text_addf(text, ",\n        kind: bp::%s,\n", field->type->constant + strlen("BP_"));
    if (plugin->kind == NEW_COMPONENT)
        new_text_addf(text, "        access: bp::%s,\n        column: %u,\n",
                      number == plugin->worked ? "WRITE" : "READ", number + 1);
    if (field->list)
        new_text_add(text, "        flags: bp::FIELD_LIST,\n");
    if (field->count > 0)
        new_text_addf(text, "        count: %u,\n", field->count);
    if (field->initial != NULL) {
        new_text_add(text, "        initial: ");
        add_text(text, field->initial);
        new_text_add(text, ",\n");
    }
    snprintf(doc, sizeof doc, "what people should know of %s", field->name);
    new_text_add(text, "        doc: ");
    add_text(text, doc);
    new_text_add(text, ",\n        ..bp::Field::NONE\n    },\n");
}


/* The statement that changes one value in a step: `place` is what comes before the value, or before its first part. */
static void work_of(const new_field_t *field, const char *place, char *work, size_t size)
{
    const char *part = field->type->parts > 1 ? "[0]" : "";
    if (field->type->whole)
        snprintf(work, size, "%s = (%s).wrapping_add(1);", place, place);
    else
        snprintf(work, size, "%s%s += dt;", place, part);
}

static void length_of(const new_field_t *field, char *length, size_t size)
{
    length[0] = '\0';
    if (!field->type->whole)
        snprintf(length, size, "    let dt = (*run.step).dt%s;\n",
                 strstr(field->type->in_rust, "f64") != NULL ? "" : " as f32");
}

/* --- a component ------------------------------------------------------------------------------------------------- */

static const char component_head[] =
    "/* @file@ - a component: say here what a @name@ is.\n"
    " *\n"
    " * Its fields are declared below: the world keeps them, an array for each, and from the declaration come "
    "properties by name,\n"
    " * defaults, help, saves, the console, and what becomes of the values when this file changes while a world runs.\n"
    " */\n";

static const char component_fields[] =
    "static FIELDS: [bp::Field; @count@] = [\n"
    "@declarations@"
    "];\n"
    "\n";

static const char component_loop[] =
    "/// A step: all rows of one run.\n"
    "unsafe extern \"C\" fn simulate(run: *const bp::Run, count: u32) {\n"
    "    let run = &*run;\n"
    "@length@"
    "    for value in bp::column::<@type@>(run, @number@, count) {\n"
    "        @work@ // for a beginning: it grows with the time\n"
    "    }\n"
    "}\n"
    "\n";

static const char component_tail[] =
    "static COMPONENTS: [bp::Component; 1] = [bp::Component {\n"
    "    doc: text(b\"one line for people: what a @name@ is\\0\"),\n"
    "    fields: bp::List::of(&FIELDS),\n"
    "@verbs@"
    "    ..bp::Component::NONE\n"
    "}];\n"
    "\n"
    "static DESC: bp::Desc =\n"
    "    bp::Desc { version: text(b\"0.1\\0\"), components: bp::List::of(&COMPONENTS), ..bp::Desc::NONE };\n";

static void component(const new_plugin_t *plugin, new_text_t *text, const char *const *common)
{
    char number[16], length[96] = "", work[96] = "";
    bool works = plugin->worked < plugin->field_count;
    const new_field_t *field = works ? &plugin->fields[plugin->worked] : NULL;
    if (works) {
        work_of(field, field->type->parts == 1 ? "*value" : "value", work, sizeof work);
        length_of(field, length, sizeof length);
    }
    snprintf(number, sizeof number, "%u", plugin->worked);
    const char *const words[] = {
        "number", number, "type", works ? field->type->in_rust : "", "length", length, "work", work,
        "verbs", works ? "    simulate: Some(simulate),\n" : "", NULL,
    };
    new_text_fill(text, component_head, plugin, common);
    new_text_fill(text, crate, plugin, common);
    new_text_fill(text, component_fields, plugin, common);
    if (works)
        new_text_fill(text, component_loop, plugin, words);
    new_text_fill(text, component_tail, plugin, words);
}

/* --- a system ---------------------------------------------------------------------------------------------------- */

static const char system_head[] =
    "/* @file@ - a system: say here what @name@ does.\n"
    " *\n"
    " * @name@ works on a component of another plugin, point_mass, and asks for the fields that it needs by name and "
    "type; the host\n"
    " * looks for these fields when the plugin is loaded, and again when either plugin is reloaded. What else the "
    "component holds does\n"
    " * not matter.\n"
    " */\n";

static const char system_form[] =
    "/* What the ini may give under [plugin @name@], in the order of OPTIONS. */\n"
    "@numbers@"
    "\n"
    "static OPTIONS: [bp::Field; @count@] = [\n"
    "@declarations@"
    "];\n"
    "\n"
    "/* Of the other component: the fields that are asked for. */\n"
    "static MOVING: [bp::TermField; 1] =\n"
    "    [bp::TermField { name: text(b\"velocity\\0\"), kind: bp::VEC3, access: bp::WRITE, ..bp::TermField::NONE }];\n"
    "\n"
    "static TERMS: [bp::Term; 1] =\n"
    "    [bp::Term { component: text(b\"point_mass\\0\"), fields: bp::List::of(&MOVING), ..bp::Term::NONE }];\n"
    "\n"
    "/// A step: all rows of one run of entities that have the component. For a beginning: whatever moves slows down.\n"
    "unsafe extern \"C\" fn run(matched: *const bp::Match, count: u32) {\n"
    "    let matched = &*matched;\n"
    "@drag@"
    "    let kept = 1.0 - drag * (*matched.step).dt as f32;\n"
    "    for velocity in bp::term_column::<[f32; 3]>(matched, 0, 0, count) {\n"
    "        for part in velocity {\n"
    "            *part *= kept;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n"
    "/* `before`: in each step it comes before point_mass moves the bodies. */\n"
    "static SYSTEMS: [bp::System; 1] = [bp::System {\n"
    "    doc: text(b\"one line for people: what @name@ does\\0\"),\n"
    "    terms: bp::List::of(&TERMS),\n"
    "    before: text(b\"point_mass\\0\"),\n"
    "    run: Some(run),\n"
    "    ..bp::System::NONE\n"
    "}];\n"
    "\n"
    "static DESC: bp::Desc = bp::Desc {\n"
    "    version: text(b\"0.1\\0\"),\n"
    "    systems: bp::List::of(&SYSTEMS),\n"
    "    options: bp::List::of(&OPTIONS),\n"
    "    ..bp::Desc::NONE\n"
    "};\n";

/* OPTION_HOW_MUCH */
static void add_option_number(new_text_t *text, const char *name)
{
    new_text_add(text, "OPTION_");
    for (; *name != '\0'; name++)
        new_text_addf(text, "%c", *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
}

static void system_of(const new_plugin_t *plugin, new_text_t *text, const char *const *common)
{
    new_text_t numbers = {.chars = NULL}, drag = {.chars = NULL};
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        const new_field_t *field = &plugin->fields[i];
        new_text_add(&numbers, "const ");
        add_option_number(&numbers, field->name);
        new_text_addf(&numbers, ": usize = %u;\n", i);
        if (drag.length > 0 || field->type->parts != 1 || field->type->whole)
            continue;
        new_text_add(&drag, "    let drag = (*(*(*matched.system).plugin).options.add(");
        add_option_number(&drag, field->name);
        new_text_addf(&drag, ")).%s%s;\n", field->type->member,
                      strcmp(field->type->member, "f64") == 0 ? " as f32" : "");
    }
    if (drag.length == 0)
        new_text_add(&drag, "    let drag = 0.5;\n");
    const char *const words[] = {"file", common[1], "count", common[3], "declarations", common[5],
                                 "numbers", numbers.failed ? "" : numbers.chars, "drag", drag.failed ? "" : drag.chars,
                                 NULL};
    new_text_fill(text, system_head, plugin, common);
    new_text_fill(text, crate, plugin, common);
    new_text_fill(text, system_form, plugin, words);
    text->failed = text->failed || numbers.failed || drag.failed;
    new_text_free(&numbers);
    new_text_free(&drag);
}

/* --- storage of its own ------------------------------------------------------------------------------------------ */

static const char own_head[] =
    "/* @file@ - a component that keeps its instances itself: say here what a @name@ is.\n"
    " *\n"
    " * Instances lie in slots, numbered from 0 without gaps; helpers/bp_slots.rs keeps them. The world remembers the "
    "slot of each\n"
    " * entity and asks by it. All that an instance holds can be read and set as properties, so the host carries "
    "the instances over when\n"
    " * this file changes while a world runs, and saves them; what no property can set would be lost then, unless "
    "the component has\n"
    " * the extension \"bp_save\" (bp_component.h).\n"
    " */\n";

static const char own_form[] =
    "use core::ffi::c_void;\n"
    "use core::mem::{offset_of, size_of};\n"
    "\n"
    "/// What one instance holds.\n"
    "#[repr(C)]\n"
    "#[derive(Clone, Copy)]\n"
    "struct Item {\n"
    "@columns@"
    "}\n"
    "\n"
    "const FRESH: Item = Item { @fresh@ };\n"
    "\n"
    "/* Its properties, and where each lies in an instance. */\n"
    "static FIELDS: [bp::Field; @count@] = [\n"
    "@declarations@"
    "];\n"
    "\n"
    "struct Place {\n"
    "    offset: usize,\n"
    "    size: usize,\n"
    "}\n"
    "\n"
    "static PLACES: [Place; @count@] = [\n"
    "@places@"
    "];\n"
    "\n"
    "type Slots = bp::Slots<Item>;\n"
    "\n"
    "unsafe extern \"C\" fn start(m: *mut bp::Manager) -> i32 {\n"
    "    Slots::start(m)\n"
    "}\n"
    "\n"
    "unsafe extern \"C\" fn stop(m: *mut bp::Manager) {\n"
    "    Slots::stop(m)\n"
    "}\n"
    "\n"
    "unsafe fn copy(from: *const c_void, to: *mut c_void, size: usize) {\n"
    "    core::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, size);\n"
    "}\n"
    "\n"
    "/// Where a field of an instance lies.\n"
    "unsafe fn value_of(m: *mut bp::Manager, slot: u32, place: &Place) -> *mut c_void {\n"
    "    let item: *mut Item = &mut Slots::of(m).items()[slot as usize].item;\n"
    "    (item as *mut u8).add(place.offset) as *mut c_void\n"
    "}\n"
    "\n"
    "/// New instances: a value for each field that has a column, what FRESH says for the others.\n"
    "unsafe extern \"C\" fn create(\n"
    "    m: *mut bp::Manager, name: u64, entities: *const u64, count: u32, columns: *const *const c_void, slots: *mut "
    "u32,\n"
    ") -> i32 {\n"
    "    let result = Slots::of(m).create(m, name, entities, count, slots, FRESH);\n"
    "    if result != bp::OK || columns.is_null() {\n"
    "        return result;\n"
    "    }\n"
    "    for (field, place) in PLACES.iter().enumerate() {\n"
    "        let column = *columns.add(field);\n"
    "        for i in 0..if column.is_null() { 0 } else { count as usize } {\n"
    "            let value = (column as *const u8).add(i * place.size) as *const c_void;\n"
    "            copy(value, value_of(m, *slots.add(i), place), place.size);\n"
    "        }\n"
    "    }\n"
    "    bp::OK\n"
    "}\n"
    "\n"
    "unsafe extern \"C\" fn destroy(m: *mut bp::Manager, slots: *const u32, count: u32) {\n"
    "    Slots::of(m).destroy(m, slots, count)\n"
    "}\n"
    "\n"
    "unsafe extern \"C\" fn count_instances(m: *mut bp::Manager) -> u32 {\n"
    "    Slots::of(m).count()\n"
    "}\n"
    "\n"
    "unsafe extern \"C\" fn get(\n"
    "    m: *mut bp::Manager, field: u32, slots: *const u32, count: u32, values: *mut c_void, stride: usize,\n"
    ") -> i32 {\n"
    "    let place = &PLACES[field as usize];\n"
    "    for i in 0..count as usize {\n"
    "        let value = (values as *mut u8).add(i * stride) as *mut c_void;\n"
    "        copy(value_of(m, *slots.add(i), place), value, place.size);\n"
    "    }\n"
    "    bp::OK\n"
    "}\n"
    "\n"
    "unsafe extern \"C\" fn set(\n"
    "    m: *mut bp::Manager, field: u32, slots: *const u32, count: u32, values: *const c_void, stride: usize,\n"
    ") -> i32 {\n"
    "    let place = &PLACES[field as usize];\n"
    "    for i in 0..count as usize {\n"
    "        let value = (values as *const u8).add(i * stride) as *const c_void;\n"
    "        copy(value, value_of(m, *slots.add(i), place), place.size);\n"
    "    }\n"
    "    bp::OK\n"
    "}\n"
    "\n";

static const char own_step[] =
    "/// A step: called once, with no rows. For a beginning: one field grows with the time.\n"
    "unsafe extern \"C\" fn simulate(run: *const bp::Run, _count: u32) {\n"
    "    let run = &*run;\n"
    "    let m = run.manager;\n"
    "@length@"
    "    for instance in Slots::of(m).items() {\n"
    "        @work@\n"
    "    }\n"
    "    if (*m).watched != 0 {\n"
    "        // stamps are kept: all have changed\n"
    "        ((*(*(*m).api).world).instances_changed_range)(m, 0, Slots::of(m).count());\n"
    "    }\n"
    "}\n"
    "\n";

static const char own_tail[] =
    "static STORAGE: bp::Storage = bp::Storage {\n"
    "    create: Some(create),\n"
    "    destroy: Some(destroy),\n"
    "    get: Some(get),\n"
    "    set: Some(set),\n"
    "    count: Some(count_instances),\n"
    "    ..bp::Storage::NONE\n"
    "};\n"
    "\n"
    "static COMPONENTS: [bp::Component; 1] = [bp::Component {\n"
    "    doc: text(b\"one line for people: what a @name@ is\\0\"),\n"
    "    fields: bp::List::of(&FIELDS),\n"
    "    start: Some(start),\n"
    "    stop: Some(stop),\n"
    "@verbs@"
    "    storage: &STORAGE,\n"
    "    ..bp::Component::NONE\n"
    "}];\n"
    "\n"
    "static DESC: bp::Desc =\n"
    "    bp::Desc { version: text(b\"0.1\\0\"), components: bp::List::of(&COMPONENTS), ..bp::Desc::NONE };\n";

/* A number as Rust has it: no plus, a digit before the point, and a point in what is no integer. */
static void add_number(new_text_t *text, const char *number, size_t length, bool whole)
{
    if (length > 0 && (*number == '+' || *number == '-')) {
        new_text_add(text, *number == '-' ? "-" : "");
        number++;
        length--;
    }
    bool bare = true;
    for (size_t i = 0; i < length; i++)
        bare = bare && number[i] >= '0' && number[i] <= '9';
    new_text_addf(text, "%s%.*s%s", length > 0 && *number == '.' ? "0" : "", (int)length, number,
                  bare && !whole ? ".0" : "");
}

/* The default of a field as a value of Rust. Vectors have as many numbers as parts; what is not said is 0. */
static void add_fresh(new_text_t *text, const new_field_t *field)
{
    const char *value = field->initial == NULL ? "" : field->initial;
    bool turn = strcmp(field->type->name, "quat") == 0, truth = strcmp(field->type->name, "bool") == 0;
    uint32_t parts = turn ? 4 : field->type->parts;
    bool yes = strcmp(value, "true") == 0 || strcmp(value, "on") == 0 || strcmp(value, "yes") == 0 || strcmp(value,
                                                                                          "1") == 0;
    if (turn)
        value = "0 0 0 1";
    new_text_addf(text, "%s: %s", field->name, parts > 1 ? "[" : "");
    for (uint32_t i = 0; i < parts; i++) {
        value += strspn(value, " \t,");
        size_t length = strcspn(value, " \t,");
        new_text_add(text, i > 0 ? ", " : "");
        add_number(text, length > 0 ? value : "0", length > 0 ? length : 1, field->type->whole);
        value += length;
    }
    if (parts == 0)
        new_text_add(text, truth && yes ? "1" : "0");
    new_text_add(text, parts > 1 ? "]" : "");
}

static void own_storage(const new_plugin_t *plugin, new_text_t *text, const char *const *common)
{
    new_text_t columns = {.chars = NULL}, places = {.chars = NULL}, fresh = {.chars = NULL};
    char length[96] = "", work[2 * NEW_NAME_MAX + 80] = "", place[NEW_NAME_MAX + 24];
    bool works = plugin->worked < plugin->field_count;
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        const new_field_t *field = &plugin->fields[i];
        new_text_addf(&columns, "    %s: %s,\n", field->name, field->type->in_rust);
        new_text_addf(&places, "    Place { offset: offset_of!(Item, %s), size: size_of::<%s>() },\n", field->name,
                      field->type->in_rust);
        new_text_add(&fresh, i > 0 ? ", " : "");
        add_fresh(&fresh, field);
    }
    if (works) {
        snprintf(place, sizeof place, "instance.item.%s", plugin->fields[plugin->worked].name);
        work_of(&plugin->fields[plugin->worked], place, work, sizeof work);
        length_of(&plugin->fields[plugin->worked], length, sizeof length);
    }
    const char *const words[] = {
        "count", common[3], "declarations", common[5], "columns", columns.failed ? "" : columns.chars,
        "places", places.failed ? "" : places.chars, "fresh", fresh.failed ? "" : fresh.chars,
        "length", length, "work", work, "verbs", works ? "    simulate: Some(simulate),\n" : "", NULL,
    };
    new_text_fill(text, own_head, plugin, common);
    new_text_fill(text, crate, plugin, common);
    new_text_fill(text, own_form, plugin, words);
    if (works)
        new_text_fill(text, own_step, plugin, words);
    new_text_fill(text, own_tail, plugin, words);
    text->failed = text->failed || columns.failed || places.failed || fresh.failed;
    new_text_free(&columns);
    new_text_free(&places);
    new_text_free(&fresh);
}

void new_source_rust(const new_plugin_t *plugin, new_text_t *text)
{
    static const char helpers[] = "    include!(concat!(env!(\"BACKPLANE_HEADERS\"), \"/helpers/bp_slots.rs\"));\n";
    new_text_t declarations = {.chars = NULL};
    char file[NEW_NAME_MAX + 8], count[16];
    for (uint32_t i = 0; i < plugin->field_count; i++)
        add_declaration(plugin, i, &declarations);
    snprintf(file, sizeof file, "%s.rs", plugin->name);
    snprintf(count, sizeof count, "%u", plugin->field_count);
    const char *const common[] = {
        "file", file, "count", count, "declarations", declarations.failed ? "" : declarations.chars,
        "helpers", plugin->kind == NEW_OWN_STORAGE ? helpers : "", NULL,
    };
    if (plugin->kind == NEW_SYSTEM)
        system_of(plugin, text, common);
    else if (plugin->kind == NEW_OWN_STORAGE)
        own_storage(plugin, text, common);
    else
        component(plugin, text, common);
    new_text_fill(text, exported, plugin, common);
    text->failed = text->failed || declarations.failed;
    new_text_free(&declarations);
}
