/* storm_den.c - tests/fixtures/den.c once more, as plain values: how each version keeps its instances, which way they
 * go to the next one, and what becomes of their values on it and back.
 */
#include "storm_model.h"

#include <helpers/bp_slots.h>
#include <string.h>

static const struct { const char *name; uint32_t type; } declared[DEN_EXTRA] = {
    {"number", 0}, {"weight", BP_F64}, {"words", BP_STRING}, {"friend", BP_ENTITY}};
static const uint32_t extras[] = {BP_F64, BP_I32, BP_F32, BP_I64};
static const uint32_t number_types[] = {BP_I32, BP_I64, BP_F64};

/* --- the file ----------------------------------------------------------------------------------------------------- */

static void put_field(const den_t *den, uint32_t i, uint32_t which)
{
    char mark[DEN_TEXT], name[DEN_TEXT], initial[DEN_TEXT] = "";
    if (which == DEN_EXTRA)
        snprintf(name, sizeof name, "extra_%u", den->extra);
    else
        snprintf(name, sizeof name, "%s", declared[which].name);
    if (which == DEN_NUMBER)
        snprintf(initial, sizeof initial, "%d", den->initial);
    else if (which == DEN_WEIGHT || which == DEN_WORDS)
        snprintf(initial, sizeof initial, "%s", which == DEN_WORDS ? "den" : "2");
    snprintf(mark, sizeof mark, "@den name %u@", i);
    storm_fixture_text(mark, name);
    snprintf(mark, sizeof mark, "@den init %u@", i);
    storm_fixture_text(mark, initial);
    storm_fixture_number(DEN_TYPE + i, which == DEN_EXTRA    ? extras[den->extra]
                                       : which == DEN_NUMBER ? den->number_type
                                                             : declared[which].type);
}

static uint64_t form_of(const den_t *den)
{
    size_t size = den->lies == DEN_SLOTS ? sizeof(bp_slots_t) : sizeof(den_block_t);
    return den->form == 0 ? 0 : (uint64_t)den->form << 32 | size;
}

void storm_den_put(void)
{
    const den_t *den = &storm.now.den;
    den_data_t data = {.mark = DEN_MARK, .grows = den->grows, .initial = den->initial, .lies = den->lies,
                       .number_type = den->number_type, .extra = den->extra, .extra_type = extras[den->extra],
                       .turns = den->turns, .refuses = den->refuses, .collects = den->collects};
    storm_fixture_open("den");
    for (uint32_t i = 0; i < DEN_FIELDS; i++) {
        data.which[i] = (i * (1 + den->order % 4) + den->order / 4) % DEN_FIELDS;
        put_field(den, i, data.which[i]);
    }
    storm_fixture_put(DEN_MARK, strlen(DEN_MARK), &data, sizeof data);
    for (uint32_t i = 0; i < 2; i++) {
        storm_fixture_wide(DEN_FORM + i, form_of(den));
        storm_fixture_number(DEN_KEEPS + i, den->keeps);
        storm_fixture_number(DEN_SAVES + i, den->saves ? 1 : 0);
    }
    bool own = den->lies != DEN_COLUMNS;
    storm_fixture_text("@den told@", own && !den->collects ? "den" : "den_told");
    storm_fixture_text("@den collected@", own && den->collects ? "den" : "den_collected");
    storm_fixture_text("@den declared@", own ? "den_declared" : "den");
    storm_fixture_close("den");
}

void storm_den_open(void)
{
    storm.now.den = (den_t){.grows = 1, .initial = 3, .lies = DEN_BLOCK, .number_type = BP_I32, .form = 1,
                            .keeps = BP_KEEP_PLAIN};
    storm_den_put();
}

/* --- versions ----------------------------------------------------------------------------------------------------- */

enum { BY_FIELDS, BY_STATE, BY_SAVING, BY_PROPERTIES };

/* The way in which instances go over. */
static uint32_t way(const den_t *old, const den_t *next)
{
    if (old->lies == DEN_COLUMNS && next->lies == DEN_COLUMNS)
        return BY_FIELDS;
    if (old->lies == DEN_COLUMNS || next->lies == DEN_COLUMNS)
        return BY_PROPERTIES;
    if (old->form != 0 && form_of(old) == form_of(next))
        return BY_STATE;
    return old->saves && next->saves ? BY_SAVING : BY_PROPERTIES;
}

static bool has_instances(void)
{
    for (uint32_t e = 0; e < ENTITIES; e++) {
        EACH_WORLD(w) {
            if (storm.now.places[e][w].has[DEN] || storm.now.places[e][w].has[LAIR])
                return true;
        }
    }
    return false;
}

/* A state goes over only where the next version finds in it what it looks for. Each version says how its state is kept,
 * so that there is always a past. */
static void choose_storage(den_t *den)
{
    den->lies = storm_below(5) % 4;
    den->collects = storm_below(2) == 0 && den->lies != DEN_COLUMNS;
    den->saves = storm_below(3) > 0 || den->lies == DEN_SLOTS;
    den->keeps = den->saves && (den->lies == DEN_SLOTS || storm_below(2) == 0) ? BP_KEEP_SAVED : BP_KEEP_PLAIN;
    den->turns = den->keeps == BP_KEEP_PLAIN && storm_below(2) == 0;
    den->form = 1 + den->lies * 32 + (den->collects ? 16u : 0u) + storm_below(2) * 8 + den->extra;
    if (den->keeps == BP_KEEP_SAVED && storm_below(3) == 0)
        den->form = 0;
}

static den_t choose_next(void)
{
    den_t den = storm.now.den;
    den.grows = 1 + (int32_t)storm_below(5);
    den.initial = (int32_t)storm_below(10);
    if (storm_below(2) == 0)
        den.order = storm_below(20);
    if (storm_below(3) == 0)
        den.number_type = number_types[storm_below(COUNT(number_types))];
    if (storm_below(3) > 0) {
        den.extra = storm_below(COUNT(extras));
        choose_storage(&den);
    }
    uint32_t by = way(&storm.now.den, &den), refuses = storm_below(12);
    den.refuses = DEN_NOTHING;
    if (refuses == 0 && den.lies != DEN_COLUMNS && by != BY_STATE)
        den.refuses = DEN_START;
    else if (refuses <= 2 && by == BY_SAVING)
        den.refuses = DEN_LOAD;
    else if (refuses <= 2 && by == BY_PROPERTIES && den.lies != DEN_COLUMNS && has_instances())
        den.refuses = DEN_CREATE;
    return den;
}

bool storm_den_like(const den_t *a, const den_t *b)
{
    return a->lies == b->lies && a->order == b->order && a->number_type == b->number_type && a->extra == b->extra &&
           a->form == b->form && a->keeps == b->keeps && a->saves == b->saves && a->collects == b->collects;
}

void storm_den_begin(den_values_t *values)
{
    *values = (den_values_t){.number = storm.now.den.initial, .weight = 2, .text = "den"};
}

static den_t coming; /* in the reload that is under way */

/* In steps that are taken meanwhile the last instance may die, and none is created anew then. */
static bool may_come(void)
{
    return coming.refuses == DEN_NOTHING || (coming.refuses == DEN_CREATE && !has_instances());
}

void storm_den_reload(void)
{
    den_t old = storm.now.den, next = choose_next();
    coming = next;
    storm.now.den = next;
    storm_den_put();
    storm.now.den = old;
    if (!storm_reload("den", may_come)) {
        storm_den_put();
        return;
    }
    storm_begin_probation(OF_DEN);
    storm.now.den = next;
    for (uint32_t e = 0; e < ENTITIES && next.extra != old.extra; e++) {
        EACH_WORLD(w)
            storm.now.places[e][w].den[0].extra = storm.now.places[e][w].den[1].extra = 0;
    }
}

/* What is kept by fields stays as the later version has left it; all else is as it was at the commit, and what has come
 * since begins anew. */
static void take_back(den_values_t *now, const den_values_t *old, bool since, const den_t *next)
{
    const den_t *former = &storm.now.den;
    den_values_t begun;
    uint32_t by = way(former, next);
    storm_den_begin(&begun);
    const den_values_t *then = since ? &begun : old;
    if (by == BY_STATE)
        return;
    if (by != BY_FIELDS) {
        *now = *then;
        return;
    }
    if (former->number_type != next->number_type)
        now->number = then->number;
    if (former->extra != next->extra)
        now->extra = then->extra;
}

void storm_den_back(void)
{
    const den_t next = storm.now.den;
    storm.now.den = storm.before.den;
    for (uint32_t e = 0; e < ENTITIES; e++) {
        EACH_WORLD(w) {
            place_t *place = &storm.now.places[e][w];
            for (uint32_t i = 0; i < 2; i++)
                take_back(&place->den[i], &storm.before.places[e][w].den[i], place->since[DEN + i], &next);
        }
    }
    storm_den_put();
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

void storm_den_step(uint32_t w)
{
    for (uint32_t e = 0; e < ENTITIES; e++) {
        storm.now.places[e][w].den[0].number += storm.now.den.grows;
        storm.now.places[e][w].den[1].number += storm.now.den.grows;
    }
}

void storm_den_dig(uint32_t e, uint32_t w, int32_t power)
{
    storm.now.places[e][w].den[1].weight += power;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static double as_double(uint32_t type, const bp_value_t *value)
{
    switch (type) {
    case BP_I32: return value->i32;
    case BP_I64: return (double)value->i64;
    case BP_F32: return (double)value->f32;
    default: return value->f64;
    }
}

static bp_value_t as_value(uint32_t type, int32_t number)
{
    bp_value_t value;
    memset(&value, 0, sizeof value);
    switch (type) {
    case BP_I32: value.i32 = number; break;
    case BP_I64: value.i64 = number; break;
    case BP_F32: value.f32 = (float)number; break;
    default: value.f64 = number; break;
    }
    return value;
}

static void name_of_extra(char name[DEN_TEXT])
{
    snprintf(name, DEN_TEXT, "extra_%u", storm.now.den.extra);
}

static bp_result_t set(uint32_t e, uint32_t w, uint32_t kind, const char *name, uint32_t type, const void *value)
{
    return storm.api->property->set_named(storm.worlds[w], storm.now.entities[e], storm_name_of(kind), name, type,
                                          value);
}

static void write_number(uint32_t e, uint32_t w, uint32_t kind, const char *name, uint32_t type, double *known)
{
    int32_t number = (int32_t)storm_below(2001) - 1000;
    bp_value_t value = as_value(type, number);
    DOES(set(e, w, kind, name, type, &value));
    *known = number;
}

void storm_den_write(uint32_t e, uint32_t w, uint32_t kind)
{
    den_values_t *known = &storm.now.places[e][w].den[kind - DEN];
    char name[DEN_TEXT];
    const char *text = known->text;
    name_of_extra(name);
    switch (storm_below(5)) {
    case 0: write_number(e, w, kind, "number", storm.now.den.number_type, &known->number); break;
    case 1: write_number(e, w, kind, "weight", BP_F64, &known->weight); break;
    case 2: write_number(e, w, kind, name, extras[storm.now.den.extra], &known->extra); break;
    case 3:
        known->friend = storm.now.entities[e];
        DOES(set(e, w, kind, "friend", BP_ENTITY, &known->friend));
        break;
    default:
        snprintf(known->text, sizeof known->text, "words %u", storm_below(1000));
        DOES(set(e, w, kind, "words", BP_STRING, &text));
        SAYS(storm.now.den.lies == DEN_COLUMNS ||
                 set(e, w, kind, "words", BP_STRING, &(const char *){"!"}) == BP_ERROR_ARGUMENT,
             "a text is not refused");
        break;
    }
}

static double number_now(uint32_t e, uint32_t w, uint32_t kind, const char *name, uint32_t type)
{
    bp_value_t value;
    DOES(storm.api->property->get_named(storm.worlds[w], storm.now.entities[e], storm_name_of(kind), name, type,
                                        &value));
    return as_double(type, &value);
}

void storm_den_compare(uint32_t e, uint32_t w, uint32_t kind)
{
    const den_values_t *known = &storm.now.places[e][w].den[kind - DEN];
    char name[DEN_TEXT];
    const char *text;
    bp_entity_t friend;
    name_of_extra(name);
    double number = number_now(e, w, kind, "number", storm.now.den.number_type);
    double weight = number_now(e, w, kind, "weight", BP_F64);
    double extra = number_now(e, w, kind, name, extras[storm.now.den.extra]);
    DOES(storm.api->property->get_named(storm.worlds[w], storm.now.entities[e], storm_name_of(kind), "words",
                                        BP_STRING, &text));
    SAYS(number == known->number && weight == known->weight && extra == known->extra && strcmp(text, known->text) == 0,
         "%s of entity %u in world %u is %g, %g, %g, '%s' and not %g, %g, %g, '%s'", storm_name_of(kind), e, w, number,
         weight, extra, text, known->number, known->weight, known->extra, known->text);
    storm_mix(&number, sizeof number);
    storm_mix(&weight, sizeof weight);
    storm_mix(&extra, sizeof extra);
    storm_mix(text, strlen(text));
    DOES(storm.api->property->get_named(storm.worlds[w], storm.now.entities[e], storm_name_of(kind), "friend",
                                        BP_ENTITY, &friend));
    SAYS(friend.id == known->friend.id, "the friend of entity %u in world %u is another", e, w);
}
