/* referrers.c - pairs of a target and an entity that refers to it, found by the target.
 *
 * Rows that were written are walked by the query, and each of their references is put down as a pair, unless there is
 * such a pair. Pairs are not taken out when a reference changes or its entity dies, since stamps do not tell the former
 * value: an answer is checked pair by pair against the world, and pairs that no longer hold are passed over. When most
 * pairs are old, all are forgotten and the rows walked anew; so there are never many more than references.
 *
 * Invariants
 *   - every reference in a row that was not written after `since` has a pair;
 *   - a pair is in the chain of its target's bucket and in that of its own, once.
 */
#include "referrers.h"

#include "../base/error.h"

#include <stdlib.h>

enum { LEAST_PAIRS = 64, OLD_SHARE = 2 /* pairs may be so many times as many as at the last walk of all */ };

typedef struct pair_t {
    bp_entity_t target, referrer;
    uint32_t next_of_target, next; /* pairs in the same buckets: number + 1 */
} pair_t;

struct bp_refer_o {
    bp_query_o *query;
    bp_world_o *world;
    memory_t *memory;
    char *component;
    bp_name_t field;         /* hashed */
    char *field_text;
    pair_t *pairs;
    uint32_t count, capacity;
    uint32_t *by_target, *by_pair; /* buckets: number + 1 of the first pair; 0: none */
    uint32_t buckets;        /* a power of two; 0: none yet */
    uint32_t fresh;          /* pairs after the last walk of all */
    uint64_t since;          /* 0: walk all */
    bp_entity_t *found;      /* the last answer */
    uint32_t found_capacity;
};

/* --- pairs -------------------------------------------------------------------------------------------------------- */

static uint32_t bucket_of(const bp_refer_o *r, uint64_t number)
{
    return (uint32_t)((number * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (r->buckets - 1);
}

static uint64_t pair_number(bp_entity_t target, bp_entity_t referrer)
{
    return target.id * UINT64_C(0xD6E8FEB86659FD93) + referrer.id;
}

static void chain(bp_refer_o *r, uint32_t number)
{
    pair_t *pair = &r->pairs[number];
    uint32_t *target = &r->by_target[bucket_of(r, pair->target.id)];
    uint32_t *whole = &r->by_pair[bucket_of(r, pair_number(pair->target, pair->referrer))];
    pair->next_of_target = *target;
    pair->next = *whole;
    *target = *whole = number + 1;
}

static void drop_buckets(bp_refer_o *r)
{
    memory_free(r->memory, r->by_target, r->buckets * sizeof *r->by_target);
    memory_free(r->memory, r->by_pair, r->buckets * sizeof *r->by_pair);
    r->by_target = r->by_pair = NULL;
    r->buckets = 0;
}

/* Room for one more pair; false when out of memory: then all is as before. */
static bool reserve(bp_refer_o *r)
{
    if (!memory_reserve(r->memory, &r->pairs, &r->capacity, r->count + (uint64_t)1, sizeof *r->pairs))
        return false;
    if (r->count < r->buckets)
        return true;
    uint32_t buckets = r->buckets == 0 ? LEAST_PAIRS : r->buckets * 2;
    uint32_t *by_target = memory_new(r->memory, buckets * sizeof *by_target);
    uint32_t *by_pair = by_target == NULL ? NULL : memory_new(r->memory, buckets * sizeof *by_pair);
    if (by_pair == NULL) {
        memory_free(r->memory, by_target, by_target == NULL ? 0 : buckets * sizeof *by_target);
        return false;
    }
    drop_buckets(r);
    r->by_target = by_target;
    r->by_pair = by_pair;
    r->buckets = buckets;
    for (uint32_t i = 0; i < r->count; i++)
        chain(r, i);
    return true;
}

static bool has_pair(const bp_refer_o *r, bp_entity_t target, bp_entity_t referrer)
{
    uint32_t at = r->buckets == 0 ? 0 : r->by_pair[bucket_of(r, pair_number(target, referrer))];
    while (at != 0 && (r->pairs[at - 1].target.id != target.id || r->pairs[at - 1].referrer.id != referrer.id))
        at = r->pairs[at - 1].next;
    return at != 0;
}

static bool put_pair(bp_refer_o *r, bp_entity_t target, bp_entity_t referrer)
{
    if (has_pair(r, target, referrer))
        return true;
    if (!reserve(r))
        return false;
    r->pairs[r->count] = (pair_t){.target = target, .referrer = referrer};
    chain(r, r->count++);
    return true;
}

static void forget_pairs(bp_refer_o *r)
{
    drop_buckets(r);
    r->count = 0;
    r->since = 0;
}

/* --- following ---------------------------------------------------------------------------------------------------- */

/* A walk that ends for want of memory is made again: pairs that are there already do no harm. */
static bp_result_t walk(bp_refer_o *r)
{
    uint64_t now = world_look(&r->world->rows);
    bp_result_t result = queries_begin(r->query, r->since);
    const bp_match_t *match;
    while (result == BP_OK && (match = queries_next(r->query)) != NULL) {
        const bp_entity_t *targets = BP_TERM_COLUMN(match, const bp_entity_t, 0, 0);
        for (uint32_t i = 0; i < match->count && result == BP_OK; i++) {
            bool refers = match->entities[i].id != 0 && targets[i].id != 0;
            if (refers && !put_pair(r, targets[i], match->entities[i]))
                result = error_memory(&r->world->rows.base->error, "following references");
        }
    }
    if (result == BP_OK && r->since == 0)
        r->fresh = r->count;
    if (result == BP_OK)
        r->since = now;
    return result;
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

/* Does a component of this entity, of the index's type, refer to it? */
static bool refers(const world_t *world, uint32_t manager, uint32_t field, bp_entity_t referrer, bp_entity_t target)
{
    const prototypes_t *p = &world->prototypes;
    const record_t *record = world_record(world, referrer);
    for (uint32_t at = record == NULL ? 0 : record->prototype; at != 0; at = p->items[at].base) {
        const bp_entity_t *cell;
        if (p->keys[p->items[at].key].manager != manager)
            continue;
        cell = run_cell(world_run(world, record->prototype), p->items[p->items[at].base].columns + field, record->row);
        if (cell->id == target.id)
            return true;
    }
    return false;
}

static int by_index(const void *a, const void *b)
{
    bp_entity_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return bp_entity_index(x) < bp_entity_index(y) ? -1 : bp_entity_index(x) > bp_entity_index(y);
}

static bp_result_t answer(bp_refer_o *r, bp_entity_t target, uint32_t *count)
{
    const world_t *world = &r->world->rows;
    uint32_t manager = world_component(&r->world->rows, r->component), found = 0;
    uint32_t field = component_find_field(world->managers[manager]->component, r->field, r->field_text);
    for (uint32_t at = r->buckets == 0 ? 0 : r->by_target[bucket_of(r, target.id)]; at != 0;
         at = r->pairs[at - 1].next_of_target) {
        const pair_t *pair = &r->pairs[at - 1];
        if (pair->target.id != target.id || !refers(world, manager, field, pair->referrer, target))
            continue;
        if (!memory_reserve(r->memory, &r->found, &r->found_capacity, found + (uint64_t)1, sizeof *r->found))
            return error_memory(&world->base->error, "answering which entities refer");
        r->found[found++] = pair->referrer;
    }
    if (found > 1)
        qsort(r->found, found, sizeof *r->found, by_index);
    *count = found;
    return BP_OK;
}

bp_result_t referrers_ask(bp_refer_o *r, bp_entity_t target, const bp_entity_t **referrers, uint32_t *count)
{
    *referrers = NULL;
    *count = 0;
    if (r->count > LEAST_PAIRS && r->count / OLD_SHARE > r->fresh)
        forget_pairs(r);
    bp_result_t result = walk(r);
    if (result == BP_OK && target.id != 0)
        result = answer(r, target, count);
    *referrers = *count > 0 ? r->found : NULL;
    return result;
}

/* --- begin and end ------------------------------------------------------------------------------------------------ */

static void free_index(void *data)
{
    bp_refer_o *r = data;
    drop_buckets(r);
    memory_free(r->memory, r->pairs, r->capacity * sizeof *r->pairs);
    memory_free(r->memory, r->found, r->found_capacity * sizeof *r->found);
    memory_free_text(r->memory, r->component);
    memory_free_text(r->memory, r->field_text);
    memory_free(r->memory, r, sizeof *r);
}

bp_result_t referrers_make(bp_world_o *world, const plugin_t *owner, const char *component, const char *field,
                           bp_refer_o **index)
{
    const bp_term_field_t asked[] = {{.name = field, .type = BP_ENTITY, .access = BP_READ}};
    const bp_term_t terms[] = {{.component = component, .fields = BP_LIST(asked)}};
    const bp_term_list_t list = BP_LIST(terms);
    memory_t *memory = &world->schedule->memory;
    *index = NULL;
    bp_refer_o *r = memory_new(memory, sizeof *r);
    if (r == NULL)
        return error_memory(&world->rows.base->error, "making an index of references");
    *r = (bp_refer_o){.world = world, .memory = memory};
    bp_result_t result = queries_make(world, owner, &list, BP_QUERY_CHANGES, &r->query);
    if (result != BP_OK) {
        free_index(r);
        return result;
    }
    r->field = names_hash(field);
    r->component = memory_copy_text(memory, component);
    r->field_text = memory_copy_text(memory, field);
    queries_attach(r->query, r, free_index);
    if (r->component == NULL || r->field_text == NULL) {
        queries_end(r->query);
        return error_memory(&world->rows.base->error, "making an index of references");
    }
    *index = r;
    return BP_OK;
}

void referrers_end(bp_refer_o *index)
{
    if (index != NULL)
        queries_end(index->query);
}
