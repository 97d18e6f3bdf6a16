/* query.c - matching one new run at a time.
 *
 * The terms are settled one after another; a term with several candidates in the prototype branches, so a run can give
 * several matches. All of a run's matches are added or, where memory fails, none, and the run counts as unseen.
 */
#include "query.h"

void query_init(query_t *query, memory_t *memory)
{
    memset(query, 0, sizeof *query);
    query->memory = memory;
}

void query_free(query_t *query)
{
    memory_free(query->memory, query->runs, query->run_capacity * sizeof *query->runs);
    memory_free(query->memory, query->cells, query->cell_capacity * sizeof *query->cells);
    query_init(query, query->memory);
}

static bool add_match(query_t *query, run_t *run, const query_cell_t *cells)
{
    uint64_t cell_count = (uint64_t)(query->count + 1) * query->term_count;
    if (!memory_reserve(query->memory, &query->runs, &query->run_capacity, query->count + 1u, sizeof *query->runs) ||
        !memory_reserve(query->memory, &query->cells, &query->cell_capacity, cell_count, sizeof *query->cells))
        return false;
    memcpy(query->cells + (size_t)query->count * query->term_count, cells, query->term_count * sizeof *cells);
    query->runs[query->count++] = run;
    return true;
}

static bool fits(const prototypes_t *p, const query_term_t *term, uint32_t at)
{
    const component_key_t *key = &p->keys[p->items[at].key];
    return key->manager == term->manager && (term->instance == 0 || key->name == term->instance);
}

static bool match_term(query_t *query, const prototypes_t *p, run_t *run, uint32_t t, query_cell_t *cells)
{
    if (t == query->term_count)
        return add_match(query, run, cells);
    const query_term_t *term = &query->terms[t];
    bool found = false;
    cells[t] = (query_cell_t){0, BP_NONE};
    if ((term->flags & BP_TERM_WORLD) != 0 && (run->flags & KEY_WORLD) == 0)
        return match_term(query, p, run, t + 1, cells);
    for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
        if (!fits(p, term, at))
            continue;
        if ((term->flags & BP_TERM_EXCLUDE) != 0)
            return true;
        found = true;
        cells[t] = (query_cell_t){p->items[p->items[at].base].columns, p->items[at].key};
        if (!match_term(query, p, run, t + 1, cells))
            return false;
    }
    if (found || (term->flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE)) == 0)
        return true;
    return match_term(query, p, run, t + 1, cells);
}

bool query_look_at_new(query_t *query, world_t *world)
{
    query_cell_t cells[TERMS_MAX];
    for (; query->looked_at < world->run_count; query->looked_at++) {
        uint32_t before = query->count;
        bool of_world = (world->runs[query->looked_at]->flags & KEY_WORLD) != 0;
        if (of_world != query_is_of_world(query->terms, query->term_count))
            continue;
        if (!match_term(query, &world->prototypes, world->runs[query->looked_at], 0, cells)) {
            query->count = before;
            return false;
        }
    }
    return true;
}

/* --- terms ------------------------------------------------------------------------------------------------------ */

static bool comes_first(const query_term_t *a, const query_term_t *b)
{
    if (a->manager != b->manager)
        return a->manager < b->manager;
    return a->instance != b->instance ? a->instance < b->instance : a->flags < b->flags;
}

void query_order(query_term_t *terms, uint32_t count, uint8_t *place)
{
    uint8_t from[TERMS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        query_term_t term = terms[i];
        uint32_t at = i;
        for (; at > 0 && comes_first(&term, &terms[at - 1]); at--) {
            terms[at] = terms[at - 1];
            from[at] = from[at - 1];
        }
        terms[at] = term;
        from[at] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < count; i++)
        place[from[i]] = (uint8_t)i;
}

bool query_has_terms(const query_t *query, const query_term_t *terms, uint32_t count)
{
    if (query->term_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const query_term_t *a = &query->terms[i], *b = &terms[i];
        if (a->manager != b->manager || a->instance != b->instance || a->flags != b->flags)
            return false;
    }
    return true;
}

bool query_is_of_world(const query_term_t *terms, uint32_t count)
{
    uint32_t of_world = 0;
    while (of_world < count && (terms[of_world].flags & BP_TERM_WORLD) != 0)
        of_world++;
    return of_world == count && count > 0;
}

bool query_matches(const prototypes_t *prototypes, const query_term_t *terms, uint32_t count, uint32_t prototype)
{
    bool of_world = (prototypes->items[prototype].flags & KEY_WORLD) != 0;
    if (of_world != query_is_of_world(terms, count))
        return false;
    for (uint32_t t = 0; t < count; t++) {
        bool there = false;
        if ((terms[t].flags & BP_TERM_WORLD) != 0 && !of_world)
            continue;
        for (uint32_t at = prototype; at != 0 && !there; at = prototypes->items[at].base)
            there = fits(prototypes, &terms[t], at);
        if (there ? (terms[t].flags & BP_TERM_EXCLUDE) != 0
                  : (terms[t].flags & (BP_TERM_OPTIONAL | BP_TERM_EXCLUDE)) == 0)
            return false;
    }
    return true;
}
