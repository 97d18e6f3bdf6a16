/* conformance_reload.c - a plugin that is reloaded over itself, or over an older version, brings over its instances and
 * their values.
 *
 * Entities get values, then the new file is loaded in place of the old one in the running host. Afterwards there are as
 * many instances as before, and each property that both versions have, under its name or its former one and of the same
 * type, has the value that it had. Values between steps are compared, so that the work of the plugin's loop does not
 * matter; afterwards the world takes some steps with the new code.
 */
#include "conformance.h"

#include "../os/files.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 40, STEPS = 3 };

/* The declaration of the former version. */
typedef struct conformance_reload_t {
    conformance_property_t properties[CONFORMANCE_FIELDS];
    uint32_t count;
    conformance_property_t wholes[CONFORMANCE_FIELDS];
    uint32_t whole_count;
    const char *plugin;
} before_t;

static const conformance_property_t *former(const conformance_property_t *before, uint32_t count,
                                            const conformance_property_t *next)
{
    const char *names[2] = {next->declared.name, next->declared.former_name};
    for (uint32_t n = 0; n < 2; n++) {
        for (uint32_t i = 0; i < count && names[n] != NULL; i++) {
            if (strcmp(before[i].declared.name, names[n]) == 0)
                return &before[i];
        }
    }
    return NULL;
}

/* Copy a name, since names are texts in an image that is unloaded. */
static const char *kept_text(conformance_t *c, const char *text)
{
    if (text == NULL)
        return NULL;
    size_t size = strlen(text) + 1;
    return memcpy(conformance_new(c, size), text, size);
}

static void keep_properties(conformance_t *c, conformance_property_t *kept, const conformance_property_t *properties,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bp_field_t *declared = &kept[i].declared;
        kept[i] = properties[i];
        declared->name = kept_text(c, declared->name);
        declared->values = kept_text(c, declared->values);
        declared->initial = kept_text(c, declared->initial);
    }
}

static before_t *remember(conformance_t *c)
{
    before_t *before = conformance_new(c, sizeof *before);
    before->count = c->property_count;
    before->whole_count = c->whole_count;
    keep_properties(c, before->properties, c->properties, c->property_count);
    keep_properties(c, before->wholes, c->wholes, c->whole_count);
    return before;
}

static bool is_comparable(const conformance_property_t *old, const conformance_property_t *next)
{
    bool named = next->declared.values != NULL || (old != NULL && old->declared.values != NULL);
    return old != NULL && old->declared.type == next->declared.type && !named && !old->refuses &&
           conformance_is_writable(old) && conformance_is_writable(next);
}

static void expect_kept(conformance_t *c, const before_t *before, bp_entity_t e, uint64_t seed)
{
    conformance_value_t wanted;
    for (uint32_t i = 0; i < c->property_count; i++) {
        const conformance_property_t *old = former(before->properties, before->count, &c->properties[i]);
        if (!is_comparable(old, &c->properties[i]))
            continue;
        conformance_value(c, old, seed, &wanted);
        conformance_expect_value(c, c->world, e, "", &c->properties[i], &wanted.value, "after the reload");
    }
    for (uint32_t i = 0; i < c->whole_count; i++) {
        const conformance_property_t *old = former(before->wholes, before->whole_count, &c->wholes[i]);
        if (!is_comparable(old, &c->wholes[i]) || old->declared.count != c->wholes[i].declared.count ||
            ((old->declared.flags ^ c->wholes[i].declared.flags) & BP_FIELD_LIST) != 0)
            continue;
        conformance_property_t kept = *old; /* its values, under the name that it has now */
        kept.declared.name = c->wholes[i].declared.name;
        conformance_expect_whole(c, c->world, e, "", &kept, seed, "after the reload");
    }
}

static void copy_file(conformance_t *c, const char *from, const char *to)
{
    char bytes[4096], aside[1100];
    size_t got;
    snprintf(aside, sizeof aside, "%s.new", to);
    FILE *in = os_file_open(from, "rb"), *out = in == NULL ? NULL : os_file_open(aside, "wb");
    bool good = out != NULL;
    while (good && (got = fread(bytes, 1, sizeof bytes, in)) > 0)
        good = fwrite(bytes, 1, got, out) == got;
    if (in != NULL)
        fclose(in);
    good = out != NULL && fclose(out) == 0 && good;
    os_file_remove(to);
    EXPECT(c, good && rename(aside, to) == 0, "the file of the new version, %s, cannot be copied to %s", from, to);
}

static const char *name_of_last(conformance_t *c)
{
    const bp_plugin_head_t *head, *last = NULL;
    for (uint32_t i = 0; (head = bp_host_plugin(c->host, i, NULL)) != NULL; i++)
        last = head;
    return kept_text(c, last->name);
}

before_t *conformance_reload_begin(conformance_t *c)
{
    if (strcmp(c->subject->plugin, "companion") == 0)
        return NULL; /* the plugin is linked in, so there is no file to load */
    before_t *before = remember(c);
    before->plugin = name_of_last(c);
    return before;
}

void conformance_reload_make(conformance_t *c, before_t *before)
{
    uint32_t count = conformance_count(c, c->world);
    for (uint32_t i = 0; i < c->property_count; i++)
        before->properties[i].refuses = c->properties[i].refuses;
    for (uint32_t i = 0; i < c->whole_count; i++)
        before->wholes[i].refuses = c->wholes[i].refuses;
    if (c->subject->next[0] != '\0')
        copy_file(c, c->subject->next, c->subject->plugin);
    bp_result_t result = bp_host_reload(c->host, &before->plugin, 1, NULL);
    EXPECT(c, result == BP_OK, "it is refused: %s", bp_host_error(c->host));
    conformance_learn_again(c);
    EXPECT(c, conformance_count(c, c->world) == count, "%u instances after the reload, and %u before",
           conformance_count(c, c->world), count);
}

void conformance_reload_expect(conformance_t *c, const before_t *before, bp_entity_t e, uint64_t seed)
{
    expect_kept(c, before, e, seed);
}

void check_reload(conformance_t *c)
{
    before_t *before = conformance_reload_begin(c);
    if (before == NULL)
        return;
    bp_entity_t *e = conformance_create_both(c, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        conformance_dress(c, c->world, e[i], "", i + 1);
        conformance_tag(c, c->world, e[i], i);
    }
    conformance_reload_make(c, before);
    for (uint32_t i = 0; i < COUNT; i++) {
        expect_kept(c, before, e[i], i + 1);
        conformance_expect_tag(c, c->world, e[i], i, "after the reload");
    }
    for (uint32_t i = 0; i < STEPS; i++)
        EXPECT_OK(c, bp_world_step(c->world));
}
