/* asked.c - which fields of copies are asked for, and so sent.
 *
 * Systems of the split world say by terms with BP_TERM_BESIDE what they read of the copies beside it (bp_system.h).
 * Copies have those fields, and the ones that the option `copied` names. Where neither names a field copies have all
 * fields of their entities, since then they are read by queries and properties, which this plugin does not know.
 *
 * The answer is made of declarations alone, which are the same on all ranks.
 */
#include "split.h"

#include <stdio.h>
#include <string.h>

/* A walk over the terms that ask for copies: begins as {0}. */
typedef struct asking {
    uint32_t units, terms;
    bp_look_unit_t unit;
    bp_look_term_t term;   /* the present one, ... */
    uint32_t number;       /* ... its number in its system */
} asking;

static bool names_copies(const split_t *split, const char *world)
{
    const bp_world_api *worlds = split->system->api->world;
    const char *copies = worlds->name(split->halo); /* the world's name, and .halo */
    return strcmp(world[0] == '.' ? copies + strlen(worlds->name(split->world)) : copies, world) == 0;
}

static bool next_term(const split_t *split, asking *a)
{
    a->unit.struct_size = sizeof a->unit;
    a->term.struct_size = sizeof a->term;
    for (;;) {
        a->number = a->terms;
        if (a->units > 0 && (a->unit.flags & BP_LOOK_SYSTEM) != 0 &&
            split->look->term(split->system->host, a->unit.name, &a->terms, &a->term) != 0) {
            if ((a->term.flags & BP_TERM_BESIDE) != 0 && names_copies(split, a->term.world))
                return true;
            continue;
        }
        a->terms = 0;
        if (split->look->unit(split->world, &a->units, &a->unit) == 0)
            return false;
    }
}

static bool asks_for(const split_t *split, const asking *a, const bp_field_t *field)
{
    bp_term_field_t asked;
    for (uint32_t cursor = 0; split->look->asked(split->system->host, a->unit.name, a->number, &cursor, &asked,
                                                 (uint32_t)sizeof asked) != 0;) {
        if (strcmp(asked.name, field->name) == 0 ||
            (field->former_name != NULL && strcmp(asked.name, field->former_name) == 0))
            return true;
    }
    return false;
}

static bool is_of(const asking *a, const char *name, const char *type)
{
    return strcmp(a->term.component, type) == 0 &&
           (a->term.instance[0] == '\0' || strcmp(a->term.instance, name) == 0);
}

/* Does the option `copied` name the field, or, without `field`, any field of the component? */
static bool is_named(const split_t *split, const char *name, const char *field)
{
    const char *at = split->system->plugin->options[SPLIT_COPIED].string;
    size_t name_length = strlen(name), field_length = field == NULL ? 0 : strlen(field);
    while (*(at += strspn(at, " ")) != '\0') {
        size_t length = strcspn(at, " ");
        if (length > name_length && strncmp(at, name, name_length) == 0 && at[name_length] == '.' &&
            (field == NULL || (length == name_length + 1 + field_length &&
                               strncmp(at + name_length + 1, field, field_length) == 0)))
            return true;
        at += length;
    }
    return false;
}

/* Is there neither an option nor a term that names fields of copies? */
static bool no_term_asks(const split_t *split)
{
    const char *option = split->system->plugin->options[SPLIT_COPIED].string;
    asking a = {0};
    return option[strspn(option, " ")] == '\0' && !next_term(split, &a);
}

bool split_asks_for(const split_t *split, const char *name, const char *type, const bp_field_t *field)
{
    if (no_term_asks(split) || is_named(split, name, field->name))
        return true;
    for (asking a = {0}; next_term(split, &a);) {
        if (is_of(&a, name, type) && asks_for(split, &a, field))
            return true;
    }
    return false;
}

bool split_asks_for_component(const split_t *split, const char *name, const char *type)
{
    if (no_term_asks(split) || is_named(split, name, NULL))
        return true;
    for (asking a = {0}; next_term(split, &a);) {
        if (is_of(&a, name, type) && (a.term.flags & BP_TERM_EXCLUDE) == 0)
            return true;
    }
    return false;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    while (*text++ != '\0');
    return hash;
}

/* A sum over terms, since the order of units is settled by the first step. */
uint64_t split_asked_hash(const split_t *split)
{
    uint64_t sum = 0;
    bp_term_field_t asked;
    for (asking a = {0}; next_term(split, &a);) {
        uint64_t hash = mix_text(mix_text(UINT64_C(14695981039346656037), a.term.component), a.term.instance);
        for (uint32_t cursor = 0; split->look->asked(split->system->host, a.unit.name, a.number, &cursor, &asked,
                                                     (uint32_t)sizeof asked) != 0;)
            hash = mix_text(hash, asked.name);
        sum += hash;
    }
    return sum;
}
