/* new_rust.c - the source of a new plugin in Rust: a component with declared fields.
 *
 * The source needs no crate and not Rust's standard library, which keeps state of its own (docs/languages.md); the
 * contract is included from bp.rs, which lies beside the headers.
 */
#include "new.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
    "/* @file@ - a component: say here what a @name@ is.\n"
    " *\n"
    " * Its fields are declared below: the world keeps them, an array for each, and from the declaration come "
    "properties by name,\n"
    " * defaults, help, saves, the console, and what becomes of the values when this file changes while a world runs.\n"
    " */\n"
    "#![no_std]\n"
    "#![allow(dead_code)]\n"
    "\n"
    "/// The contract, as it lies beside the headers for C.\n"
    "mod bp {\n"
    "    include!(concat!(env!(\"BACKPLANE_HEADERS\"), \"/bp.rs\"));\n"
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
    "static FIELDS: [bp::Field; @count@] = [\n"
    "@declarations@"
    "];\n"
    "\n";

static const char loop[] =
    "/// A step: all rows of one run.\n"
    "unsafe extern \"C\" fn simulate(run: *const bp::Run, count: u32) {\n"
    "    let run = &*run;\n"
    "@length@"
    "    for value in bp::column::<@type@>(run, @number@, count) {\n"
    "        @work@ // for a beginning: it grows with the time\n"
    "    }\n"
    "}\n"
    "\n";

static const char tail[] =
    "static COMPONENTS: [bp::Component; 1] = [bp::Component {\n"
    "    doc: text(b\"one line for people: what a @name@ is\\0\"),\n"
    "    fields: bp::List::of(&FIELDS),\n"
    "@verbs@"
    "    ..bp::Component::NONE\n"
    "}];\n"
    "\n"
    "static DESC: bp::Desc =\n"
    "    bp::Desc { version: text(b\"0.1\\0\"), components: bp::List::of(&COMPONENTS), ..bp::Desc::NONE };\n"
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

static void add_declaration(const new_plugin_t *plugin, uint32_t number, new_text_t *text)
{
    const new_field_t *field = &plugin->fields[number];
    char doc[NEW_NAME_MAX + 40];
    new_text_add(text, "    bp::Field {\n        name: ");
    add_text(text, field->name);
    new_text_addf(text, ",\n        kind: bp::%s,\n        access: bp::%s,\n        column: %u,\n",
                  field->type->constant + strlen("BP_"), number == plugin->worked ? "WRITE" : "READ", number + 1);
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

void new_source_rust(const new_plugin_t *plugin, new_text_t *text)
{
    new_text_t declarations = {.chars = NULL};
    char file[NEW_NAME_MAX + 8], count[16], number[16], length[96] = "", work[96] = "";
    bool works = plugin->worked < plugin->field_count;
    const new_type_t *type = works ? plugin->fields[plugin->worked].type : NULL;
    for (uint32_t i = 0; i < plugin->field_count; i++)
        add_declaration(plugin, i, &declarations);
    if (works && type->whole && type->parts > 0)
        snprintf(work, sizeof work, "*value = value.wrapping_add(1);");
    else if (works)
        snprintf(work, sizeof work, "%s += dt;", type->parts > 1 ? "value[0]" : "*value");
    if (works && !type->whole)
        snprintf(length, sizeof length, "    let dt = (*run.step).dt%s;\n",
                 strstr(type->in_rust, "f64") != NULL ? "" : " as f32");
    snprintf(file, sizeof file, "%s.rs", plugin->name);
    snprintf(count, sizeof count, "%u", plugin->field_count);
    snprintf(number, sizeof number, "%u", plugin->worked);
    const char *const words[] = {
        "file", file, "count", count, "number", number, "declarations", declarations.failed ? "" : declarations.chars,
        "type", works ? type->in_rust : "", "length", length, "work", work,
        "verbs", works ? "    simulate: Some(simulate),\n" : "", NULL,
    };
    new_text_fill(text, head, plugin, words);
    if (works)
        new_text_fill(text, loop, plugin, words);
    new_text_fill(text, tail, plugin, words);
    text->failed = text->failed || declarations.failed;
    new_text_free(&declarations);
}
