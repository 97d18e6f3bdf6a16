/* split.c - the systems of a world that is split over all ranks (docs/machines.md).
 *
 * In each step, when components have simulated, every rank looks where its entities are. An entity that has left this
 * rank's part is sent to the rank that it belongs to now (migrants.c), made there and taken out of the world here by
 * commands that are carried out before any other system runs. Of entities near another part that rank has copies
 * (copies.c), in the world NAME.halo beside the world that is split, so that no loop has to tell copies from its own.
 *
 * The first step finds all entities on all ranks, since all ranks did the same ini: each rank keeps its own. From then
 * on the number of all entities, and the sum of the hashes of their identities, are the same in each step: where they
 * are not, unless some were made or destroyed by other units, the job ends.
 *
 * Entities without the position are kept by every rank, and never sent.
 */
#include "split.h"

#include <helpers/bp_real.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 65536, SWEEP = 100 /* steps, where nothing else is said */ };

/* --- beginning and end -------------------------------------------------------------------------------------------- */

static void free_bytes(split_t *split, split_bytes *bytes)
{
    split_resize(split, bytes->at, bytes->room, 0);
}

/* What there is for each rank lies in one block: nodes, parts, figures, out, in_at. */
static size_t room_size(const split_t *split, uint32_t ranks)
{
    return ranks * (sizeof *split->nodes + sizeof *split->parts + sizeof *split->figures + sizeof *split->out) +
           (ranks + 1) * sizeof *split->in_at;
}

static void free_room(split_t *split)
{
    for (uint32_t r = 0; r < split->ranks; r++)
        free_bytes(split, &split->out[r]);
    split_resize(split, split->nodes, room_size(split, split->ranks), 0);
}

static bool make_room(split_t *split, uint32_t ranks)
{
    size_t size = room_size(split, ranks);
    void *block = split->system->api->memory->resize(split->system->plugin, NULL, 0, size);
    if (block == NULL)
        return false;
    memset(block, 0, size); /* padding too: nodes are saved as they lie */
    split->ranks = ranks;
    split->nodes = block;
    split->parts = (cut_part *)(void *)(split->nodes + ranks);
    split->figures = (split_figures *)(void *)(split->parts + ranks);
    split->out = (split_bytes *)(void *)(split->figures + ranks);
    split->in_at = (size_t *)(void *)(split->out + ranks);
    split->compared = 0;
    return true;
}

void split_change_ranks(split_t *split, uint32_t ranks)
{
    free_room(split);
    if (!make_room(split, ranks))
        split_fail(split, "out of memory for the ranks of a split world");
}

static void resize_rows(split_t *split, uint32_t room)
{
    split_rows *r = &split->rows;
    r->rows = split_resize(split, r->rows, r->room * sizeof *r->rows, room * sizeof *r->rows);
    r->leaving = split_resize(split, r->leaving, r->room * sizeof *r->leaving, room * sizeof *r->leaving);
    r->seen = split_resize(split, r->seen, r->room * sizeof *r->seen, room * sizeof *r->seen);
    r->places = split_resize(split, r->places, r->room * sizeof *r->places, room * sizeof *r->places);
    r->owners = split_resize(split, r->owners, r->room * sizeof *r->owners, room * sizeof *r->owners);
    r->room = room;
}

static void free_split(split_t *split)
{
    resize_rows(split, 0);
    split_free_kinds(split);
    durable_free(&split->durable);
    free_room(split);
    split_resize(split, split->arrivals, split->arrival_room * sizeof *split->arrivals, 0);
    split_resize(split, split->dead, split->dead_room * sizeof *split->dead, 0);
    split_bytes *const all[] = {&split->in,    &split->cells, &split->values, &split->items,  &split->buried,
                                &split->slots, &split->fresh, &split->kept,   &split->arrived};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free_bytes(split, all[i]);
    split_resize(split, split, sizeof *split, 0);
}

/* Is each word a COMPONENT.PROPERTY? */
static bool are_paths(const char *text)
{
    for (size_t length; *(text += strspn(text, " ")) != '\0'; text += length) {
        const char *dot = strchr(text, '.');
        length = strcspn(text, " ");
        if (dot == NULL || dot == text || dot + 1 >= text + length)
            return false;
    }
    return true;
}

static bp_result_t check_options(bp_system_t *s)
{
    const bp_value_t *options = s->plugin->options;
    const char *position = options[SPLIT_POSITION].string;
    if (position[0] == '\0' || strchr(position, ' ') != NULL || !are_paths(position))
        return s->api->error->set(s->host, BP_ERROR_ARGUMENT,
                                  "place = split: say which property is the place, [plugin mpi] position = "
                                  "COMPONENT.PROPERTY, a vector of two or three numbers");
    if (strchr(options[SPLIT_IDENTITY].string, ' ') != NULL || !are_paths(options[SPLIT_IDENTITY].string))
        return s->api->error->set(s->host, BP_ERROR_ARGUMENT,
                                  "[plugin mpi] identity: one COMPONENT.PROPERTY, of type u64");
    if (!are_paths(options[SPLIT_COPIED].string))
        return s->api->error->set(s->host, BP_ERROR_ARGUMENT,
                                  "[plugin mpi] copied: COMPONENT.PROPERTY ..., with blanks between them");
    return BP_OK;
}

static bp_result_t start(bp_system_t *s)
{
    char name[96];
    bp_result_t result = check_options(s);
    if (result != BP_OK)
        return result;
    split_t *split = s->api->memory->resize(s->plugin, NULL, 0, sizeof *split);
    if (split == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "mpi: out of memory for splitting a world");
    snprintf(name, sizeof name, "%s.halo", s->api->world->name(s->world));
    *split = (split_t){.system = s, .world = s->world, .rank = mpi_peers.rank(s->host)};
    split->halo = s->api->world->find(s->host, name);
    split->look = (const bp_look_api *)s->api->registry->find(s->host, BP_LOOK_API, 1);
    split->outside = (const bp_outside_api *)s->api->registry->find(s->host, BP_OUTSIDE_API, 1);
    split->durable.plugin = s->plugin;
    bool room = make_room(split, mpi_peers.count(s->host));
    if (!room || split->halo == NULL) {
        if (room)
            free_room(split);
        split_resize(split, split, sizeof *split, 0);
        return room ? s->api->error->set(s->host, BP_ERROR_NOT_FOUND,
                                         "the system split is for worlds with place = split: those have a world for "
                                         "copies beside them")
                    : s->api->error->set(s->host, BP_ERROR_MEMORY, "mpi: out of memory for splitting a world");
    }
    split->next = ((split_worlds *)s->plugin->state)->first;
    ((split_worlds *)s->plugin->state)->first = split;
    s->state = split;
    return BP_OK;
}

static void stop(bp_system_t *s)
{
    split_t **at = &((split_worlds *)s->plugin->state)->first;
    while (*at != s->state)
        at = &(*at)->next;
    *at = (*at)->next;
    free_split(s->state);
    s->state = NULL;
}

/* --- cutting ------------------------------------------------------------------------------------------------------ */

/* Called by `walk` for every kind that has a place, with its entities on this rank. */
typedef void (*split_each)(split_t *split, split_kind *kind, const bp_entity_t *entities, uint32_t rows, void *data);

static void walk(split_t *split, split_each each, void *data)
{
    bp_look_prototype_t found = {.struct_size = sizeof found};
    for (uint32_t cursor = 0; split->look->prototype(split->world, &cursor, &found);) {
        split_kind *kind = found.row_count == 0 ? NULL : split_kind_of(split, found.prototype);
        if (kind != NULL)
            each(split, kind, found.entities, found.row_count, data);
    }
}

typedef struct counting {
    bool hashing; /* the hashes of identities are summed too */
    uint64_t entities, hash;
} counting;

static void count_kind(split_t *split, split_kind *kind, const bp_entity_t *entities, uint32_t rows, void *data)
{
    counting *counted = data;
    const uint64_t *identities = split_identities(split, kind);
    for (uint32_t i = 0; i < rows; i++) {
        bool counts = entities[i].id != 0 && counted->hashing;
        uint64_t state = !counts ? 0
                         : identities != NULL ? identities[i]
                                              : durable_of(&split->durable, entities[i], split->rank);
        counted->entities += entities[i].id != 0;
        counted->hash += counts ? bp_random_next(&state) : 0;
    }
}

typedef struct sampling {
    cut_point *points;
    uint64_t count, room, stride, met;
} sampling;

/* One entity of every `stride`, and not by their order alone: every second row may be of the same sort. Multiples of
 * the golden ratio's part of 2^32 are spread evenly, whatever row they begin with (Knuth, The Art of Computer
 * Programming, 6.4). */
static bool is_sampled(sampling *sample)
{
    uint32_t at = (uint32_t)(sample->met++ * UINT64_C(2654435769));
    return sample->stride == 1 || at < UINT32_MAX / sample->stride;
}

static void sample_kind(split_t *split, split_kind *kind, const bp_entity_t *entities, uint32_t rows, void *data)
{
    sampling *sample = data;
    const char *places = split_places(split, kind);
    for (uint32_t i = 0; i < rows; i++)
        if (entities[i].id != 0 && sample->count < sample->room && is_sampled(sample))
            sample->points[sample->count++] = split_place(kind, places, i);
}

/* Cut space by the places of entities: of all ranks, or at first of rank 0, which has all of them. */
static void cut(split_t *split, uint64_t own, uint64_t all)
{
    double began = split_seconds();
    bool takes_part = split->begun || split->rank == 0;
    uint64_t total = split->begun ? all : own;
    sampling sample = {.stride = total / SAMPLES + 1};
    sample.room = takes_part ? own / sample.stride + 16 : 0;
    sample.points = split_resize(split, NULL, 0, (sample.room + 1) * sizeof *sample.points);
    if (takes_part)
        walk(split, sample_kind, &sample);
    uint64_t count;
    cut_point *points = split_gather(split, sample.points, sample.count, &count);
    cut_space(points, count, split->ranks, split->nodes, split->parts);
    split_resize(split, points, (size_t)count * sizeof *points + 1, 0);
    split_resize(split, sample.points, (sample.room + 1) * sizeof *sample.points, 0);
    split->begun = true;
    split->cuts++;
    split->cutting += split_seconds() - began;
}

/* Is the rank with the most entities further above the mean than allowed? All ranks find the same. They compare after
 * the first step too, so that figures are there soon. */
static bool is_uneven(split_t *split, uint64_t own, uint64_t all)
{
    const bp_value_t *option = split->system->plugin->options;
    uint32_t every = option[SPLIT_EVERY].u32;
    uint64_t most = 0;
    if (split->steps != 1 && (every == 0 || split->steps % every != 0))
        return false;
    split_compare(split, &(split_figures){own, split->copies, split->sent});
    for (uint32_t r = 0; r < split->ranks; r++)
        most = split->figures[r].entities > most ? split->figures[r].entities : most;
    return every != 0 && split->steps % every == 0 &&
           (double)most * split->ranks > (1 + option[SPLIT_UNEVEN].f64) * (double)all;
}

/* --- packing ------------------------------------------------------------------------------------------------------ */

typedef struct packing {
    const bp_step_t *step;
    bool first;             /* all ranks have all entities: those of other ranks need no sending, only an end here */
    unsigned char *walked;  /* by kind: this rank has entities of it */
    uint32_t most;          /* rows of a kind that may concern other ranks, of the kind that has most */
} packing;

/* The room is kept from step to step, unless it is far more than what was needed. */
static void keep_room(split_t *split, uint32_t most)
{
    if (split->rows.room / 4 > most + SAMPLES / 64)
        resize_rows(split, 0);
}

/* Of `count` rows that were seen: pack the entities that belong to rank `to`, and tell of those near its part. In the
 * first step all ranks have all entities: what belongs to others need not be sent. */
static void pack_for(split_t *split, uint32_t number, const bp_entity_t *entities, uint32_t count, packing *p,
                     uint32_t to)
{
    double halo = split->system->plugin->options[SPLIT_HALO].f64;
    split_kind *kind = &split->kinds[number];
    const split_rows *r = &split->rows;
    uint32_t leaving = 0, near = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (r->owners[i] == to && to != split->rank) {
            r->leaving[leaving] = entities[r->seen[i]];
            r->rows[leaving++] = r->seen[i];
        }
    }
    if (!p->first)
        split_pack_migrants(split, kind, entities, r->rows, leaving, to);
    for (uint32_t i = 0; i < count && halo > 0 && kind->copied; i++) {
        bool told = !p->first || r->owners[i] == split->rank;
        if (told && r->owners[i] != to && cut_distance2(&split->parts[to], &r->places[i]) <= halo * halo)
            r->rows[near++] = r->seen[i];
    }
    split_pack_copies(split, number, entities, r->rows, near, to);
    split_leave(split, p->step->commands, kind, r->leaving, leaving);
}

static void pack_kind(split_t *split, split_kind *kind, const bp_entity_t *entities, uint32_t rows, void *data)
{
    packing *p = data;
    uint32_t count = 0, number = (uint32_t)(kind - split->kinds);
    double halo = split->system->plugin->options[SPLIT_HALO].f64;
    const char *places = split_places(split, kind);
    split_rows *r = &split->rows;
    for (uint32_t i = 0; i < rows; i++) {
        cut_point place = split_place(kind, places, i);
        if (entities[i].id == 0 || (!p->first && cut_is_deep(&split->parts[split->rank], &place, halo)))
            continue;
        if (count == r->room)
            resize_rows(split, count + count / 2 + 256);
        r->seen[count] = i;
        r->places[count] = place;
        r->owners[count++] = cut_rank(split->nodes, split->ranks, &place);
    }
    p->most = count > p->most ? count : p->most;
    for (uint32_t to = 0; to < split->ranks; to++)
        pack_for(split, number, entities, count, p, to);
    p->walked[number] = 1;
}

/* Kinds of which this rank has no entity any more: others may still have copies. */
static void pack_empty_kinds(split_t *split, const packing *p, uint32_t known)
{
    for (uint32_t i = 0; i < split->kind_count; i++)
        for (uint32_t to = 0; to < split->ranks && (i >= known || p->walked[i] == 0); to++)
            split_pack_copies(split, i, NULL, NULL, 0, to);
}

static void pass_over(split_t *split, split_kind *kind, const bp_entity_t *entities, uint32_t rows, void *data)
{
    (void)split, (void)kind, (void)entities, (void)rows, (void)data;
}

static void exchange(split_t *split, const bp_step_t *step, bool first)
{
    packing p = {.step = step, .first = first};
    double began = split_seconds();
    for (uint32_t r = 0; r < split->ranks; r++)
        split->out[r].size = 0;
    split_pack_deaths(split);
    walk(split, pass_over, NULL); /* from here on all kinds are known */
    uint32_t known = split->kind_count;
    p.walked = split_resize(split, NULL, 0, known + 1);
    memset(p.walked, 0, known + 1);
    walk(split, pack_kind, &p);
    pack_empty_kinds(split, &p, known);
    split_resize(split, p.walked, known + 1, 0);
    keep_room(split, p.most);
    double packed = split_seconds();
    split_send(split);
    double sent = split_seconds();
    split_receive_migrants(split, step->commands);
    split->talking += sent - packed;
    split->packing += packed - began + split_seconds() - sent;
}

/* The entities that arrived are made by now: set their values, settle copies and references. */
static void settle(split_t *split)
{
    uint32_t every = split->system->plugin->options[SPLIT_EVERY].u32;
    double began = split_seconds();
    split_settle_migrants(split);
    split_settle_copies(split);
    if (split->refers && (split->steps - 1) % (every == 0 ? SWEEP : every) == 0)
        split_sweep(split);
    split->moved += split->in.size;
    split->packing += split_seconds() - began;
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

/* Where a plugin has crashed a host sets it aside and goes on with the others; but a world of which other ranks have
 * parts cannot go on, so the job ends. */
static void fail_where_crashed(split_t *split)
{
    bp_look_plugin_t plugin = {.struct_size = sizeof plugin};
    char text[700];
    for (uint32_t cursor = 0; split->look->plugin(split->system->host, &cursor, &plugin);) {
        if (plugin.crash == NULL)
            continue;
        snprintf(text, sizeof text, "plugin '%s' has crashed here, so the split world ends on all ranks", plugin.name);
        split_fail(split, text);
    }
}

/* Has the world an entity of any kind? */
static bool has_entities(const split_t *split)
{
    bp_look_prototype_t found = {.struct_size = sizeof found};
    for (uint32_t cursor = 0; split->look->prototype(split->world, &cursor, &found);)
        if (found.row_count > 0)
            return true;
    return false;
}

/* Every rank has the same entities at first. A position that none of them has may be one of entities to come, or be
 * misspelt. */
static void begin(split_t *split, uint64_t own, const uint64_t *sums)
{
    if (sums[0] == 0 && has_entities(split)) {
        char text[400];
        snprintf(text, sizeof text,
                 "no entity of world '%s' has '%.200s' ([plugin mpi] position), so each rank has all of them",
                 split->system->api->world->name(split->world),
                 split->system->plugin->options[SPLIT_POSITION].string);
        split->system->api->error->log(split->system->plugin, BP_LOG_WARNING, text);
    }
    if (sums[0] != own * split->ranks)
        split_fail(split, "the ranks begin with different numbers of entities in a world that is to be split");
    if (!durable_begin(&split->durable, split->system->plugin, split->system->host))
        split_fail(split, "out of memory for the numbers of entities");
}

static void run_split(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    split_t *split = s->state;
    split_worlds *worlds = s->plugin->state;
    (void)matches, (void)count;
    split->system = s; /* a new version of the plugin has another system */
    split_take_kept(split);
    if (split->ranks > 1 && mpi_talks(s->host))
        fail_where_crashed(split);
    if (split->ranks > 1 && split_kinds_are_old(split))
        split_forget_kinds(split);
    bool first = !split->begun;
    counting counted = {.hashing = !first && s->plugin->options[SPLIT_AUDIT].boolean};
    walk(split, count_kind, &counted);
    uint64_t own = counted.entities, sums[4] = {counted.entities, counted.hash, worlds->waiting, split->refers};
    split->alone = split->ranks > 1 && !split_sum(split, sums, 4);
    if (split->alone)
        return;
    worlds->agreed = sums[2] == split->ranks;
    split->refers = sums[3] > 0;
    if (first)
        begin(split, own, split->ranks > 1 ? sums : &own);
    split->all = first ? own : sums[0];
    split->hash = sums[1];
    if (split->ranks > 1 && (first || split->uneven || is_uneven(split, own, split->all)))
        cut(split, own, split->all);
    else if (first)
        cut_space(NULL, 0, 1, split->nodes, split->parts);
    split->begun = true;
    split->uneven = false;
    split->hashed = !first;
    split->steps++;
    if (split->ranks > 1)
        exchange(split, step, first);
}

/* The second system runs when entities that came are there and entities that left are gone: set their values, and check
 * that no entity is lost or there twice. */
static void run_settled(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    split_t *split = split_of(s->plugin, s->world); /* that of the other system of the same world */
    (void)step, (void)matches, (void)count;
    if (split == NULL || split->alone || !split->begun)
        return;
    if (split->ranks > 1)
        settle(split);
    if (!s->plugin->options[SPLIT_AUDIT].boolean)
        return;
    counting counted = {.hashing = split->hashed};
    walk(split, count_kind, &counted);
    uint64_t sums[2] = {counted.entities, counted.hash};
    if (split->ranks > 1 && !split_sum(split, sums, 2))
        return;
    if (sums[0] != split->all || sums[1] != split->hash)
        split_fail(split, "an entity of a split world is lost or there twice");
}

/* --- report ------------------------------------------------------------------------------------------------------- */

static void tell(bp_system_t *s, bp_report_o *out, const char *name, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    s->api->report->value(out, name, text);
}

static void tell_seconds(bp_system_t *s, bp_report_o *out, const char *name, double seconds)
{
    char text[32];
    snprintf(text, sizeof text, "%.6f", seconds);
    s->api->report->value(out, name, bp_real_dot(text));
}

static void report(bp_system_t *s, bp_report_o *out)
{
    split_t *split = s->state;
    split->system = s;
    tell(s, out, "entities of all ranks", split->all);
    tell(s, out, "times that space was cut", split->cuts);
    tell(s, out, "came from others", split->came);
    tell(s, out, "left for others", split->left);
    tell(s, out, "copies of others'", split->copies);
    tell(s, out, "bytes sent", split->sent);
    tell(s, out, "of those, of entities that left", split->migrated);
    tell(s, out, "of those, of values of copies that changed", split->changed);
    tell(s, out, "bytes packed and unpacked", split->moved);
    tell(s, out, "bytes of bookkeeping", durable_bytes(&split->durable));
    tell_seconds(s, out, "seconds of packing and unpacking", split->packing);
    tell_seconds(s, out, "seconds of sending and waiting", split->talking);
    tell_seconds(s, out, "seconds of cutting space", split->cutting);
    tell_seconds(s, out, "seconds of copying columns of what moved", split->copying);
}

static const bp_system_report_i reporting = {report};
static const bp_system_deaths_i deaths = {.died = split_died, .which = BP_DEATHS_ALL};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)},
                                            {BP_EXTENSION("bp_save", split_saving)},
                                            {BP_EXTENSION("bp_deaths", deaths)}};

const bp_system_i split_systems[2] = {
    {
        .name = "split",
        .doc = "entities go to the rank that has their place, and copies of others' near by come here",
        .flags = BP_SYSTEM_COMMANDS_FIRST, /* what components have ended is not sent any more */
        .start = start,
        .stop = stop,
        .run_all = run_split,
        .state_form = BP_STATE_FORM(split_t, 4),
        .keeps = BP_KEEP_SAVED,
        .extensions = BP_LIST(extensions),
    },
    {
        .name = "split_settled",
        .doc = "those that have come are there before any other system runs",
        .flags = BP_SYSTEM_COMMANDS_FIRST,
        .after = "split",
        .run_all = run_settled,
    },
};
