/* cases_query.c - a query that is kept: the time from beginning the query to its first rows, and to walk all of it.
 *
 * Entities are dealt over 75 prototypes, all of which have the component that the query asks for.
 */
#include "cases.h"

#include "worlds.h"

#include <bp_query.h>
#include <stdlib.h>

enum { PROTOTYPES = 75, KINDS = 8 };

typedef struct query_bench_t {
    bench_world_t w;
    const bp_query_api *queries;
    bp_query_o *query;
    bp_entity_t *entities;
    uint64_t rows;
} query_bench_t;

static const bp_term_field_t fields[] = {{.name = "value", .type = BP_F32}};
static const bp_term_t terms[] = {{.component = "c0", .fields = BP_LIST(fields)}};

static void *setup(uint32_t size)
{
    query_bench_t *s = worlds_memory(1, sizeof *s);
    const bp_term_list_t list = BP_LIST(terms);
    uint32_t keys[KINDS], made = 0;
    worlds_create(&s->w, KINDS);
    s->entities = worlds_memory(size, sizeof *s->entities);
    for (uint32_t k = 0; k < KINDS; k++)
        keys[k] = worlds_key(&s->w, (const char *const[]){"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"}[k]);
    for (uint32_t p = 0; p < PROTOTYPES; p++) {
        uint32_t own[KINDS] = {keys[0]}, count = 1, prototype, each = (size - made) / (PROTOTYPES - p);
        for (uint32_t k = 1; k < KINDS; k++) {
            if (((p + 1) >> (k - 1) & 1) != 0)
                own[count++] = keys[k];
        }
        worlds_must(s->w.host, s->w.api->world->prototype(s->w.world, own, count, &prototype), "a prototype");
        worlds_must(s->w.host, s->w.api->world->create(s->w.world, prototype, s->entities + made, each), "entities");
        made += each;
    }
    s->queries = s->w.api->registry->find(s->w.host, BP_QUERY_API, 1);
    worlds_must(s->w.host, s->queries->make(s->w.world, NULL, &list, 0, &s->query), "a query");
    return s;
}

static void teardown(void *state)
{
    query_bench_t *s = state;
    s->queries->end(s->query);
    free(s->entities);
    worlds_destroy(&s->w);
    free(s);
}

static void first_rows(void *state)
{
    query_bench_t *s = state;
    worlds_must(s->w.host, s->queries->begin(s->query, 0), "a walk");
    s->rows += s->queries->next(s->query)->count;
}

static void all_rows(void *state)
{
    query_bench_t *s = state;
    const bp_match_t *match;
    worlds_must(s->w.host, s->queries->begin(s->query, 0), "a walk");
    while ((match = s->queries->next(s->query)) != NULL)
        s->rows += match->count;
}

static const uint32_t sizes[] = {100000, 0};

const group_t group_query = {
    .name = "query_75_prototypes",
    .sizes = sizes,
    .setup = setup,
    .teardown = teardown,
    .sides = {{.name = "first_rows", .run = first_rows, .bound = AT_MOST(1000)},
              {.name = "all_rows", .run = all_rows}},
    .whole = true,
};
