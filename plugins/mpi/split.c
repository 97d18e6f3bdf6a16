/* split.c - the systems of a world that is split over all ranks (docs/machines.md).
 *
 * At the beginning of each step every rank looks where its entities are. An entity that has left this rank's part is
 * sent to the rank that it belongs to now: created there, destroyed here, by commands that are made before any other
 * unit runs. Copies of entities near another part are sent to that rank, and written into the world NAME.halo beside
 * the world that is split, so that no loop has to tell copies from its own.
 *
 * The first step finds all entities on all ranks, since all ranks did the same ini: each rank keeps its own. From then
 * on the number of all entities, and the sum of the hashes of their identities, are the same in each step: where they
 * are not, unless some were made or destroyed by other units, the job ends.
 *
 * Entities without the position are every rank's own, and never sent.
 */
#include "split.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MIGRANT = 0, COPY = 1, SAMPLES = 65536 };

/* The head of the bytes that are sent of one kind: behind it come the kind's text, then its columns (columns.c). */
typedef struct split_block {
    uint32_t what, count;
    uint64_t text_bytes; /* filled up */
} split_block;

static size_t filled(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* --- beginning and end -------------------------------------------------------------------------------------------- */

static void *resize(split_t *split, void *old, size_t old_size, size_t new_size)
{
    return split->system->api->memory->resize(split->system->plugin, old, old_size, new_size);
}

static void free_split(split_t *split)
{
    for (uint32_t i = 0; i < split->kind_count; i++) {
        split_kind *kind = &split->kinds[i];
        resize(split, kind->columns, kind->column_count * sizeof *kind->columns, 0);
        resize(split, kind->text, strlen(kind->text) + 1, 0);
        resize(split, kind->copies, kind->copy_room * sizeof *kind->copies, 0);
    }
    for (uint32_t r = 0; r < split->ranks && split->out != NULL; r++)
        resize(split, split->out[r].at, split->out[r].room, 0);
    resize(split, split->kinds, split->kind_count * sizeof *split->kinds, 0);
    resize(split, split->nodes, split->ranks * sizeof *split->nodes, 0);
    resize(split, split->parts, split->ranks * sizeof *split->parts, 0);
    resize(split, split->out, split->ranks * sizeof *split->out, 0);
    resize(split, split->in.at, split->in.room, 0);
    resize(split, split->values.at, split->values.room, 0);
    resize(split, split, sizeof *split, 0);
}

static bp_result_t check_position(bp_system_t *s)
{
    const char *position = s->plugin->options[SPLIT_POSITION].string, *dot = strchr(position, '.');
    if (dot != NULL && dot > position && dot[1] != '\0')
        return BP_OK;
    return s->api->error->set(s->host, BP_ERROR_ARGUMENT,
                              "place = split: say which property is the place, [plugin mpi] position = "
                              "COMPONENT.PROPERTY, a vector of two or three numbers");
}

static bp_result_t start(bp_system_t *s)
{
    char name[96];
    bp_result_t result = check_position(s);
    if (result != BP_OK)
        return result;
    split_t *split = s->api->memory->resize(s->plugin, NULL, 0, sizeof *split);
    if (split == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "mpi: out of memory for splitting a world");
    snprintf(name, sizeof name, "%s.halo", s->api->world->name(s->world));
    *split = (split_t){.system = s, .rank = mpi_peers.rank(s->host), .ranks = mpi_peers.count(s->host)};
    split->halo = s->api->world->find(s->host, name);
    split->look = (const bp_look_api *)s->api->registry->find(s->host, BP_LOOK_API, 1);
    split->nodes = resize(split, NULL, 0, split->ranks * sizeof *split->nodes);
    split->parts = resize(split, NULL, 0, split->ranks * sizeof *split->parts);
    split->out = resize(split, NULL, 0, split->ranks * sizeof *split->out);
    if (split->out != NULL)
        memset(split->out, 0, split->ranks * sizeof *split->out);
    bool room = split->nodes != NULL && split->parts != NULL && split->out != NULL;
    if (!room || split->halo == NULL) {
        free_split(split);
        return room ? s->api->error->set(s->host, BP_ERROR_NOT_FOUND,
                                         "the system split is for worlds with place = split: those have a world for "
                                         "copies beside them")
                    : s->api->error->set(s->host, BP_ERROR_MEMORY, "mpi: out of memory for splitting a world");
    }
    split->world = s->world;
    split->next = ((split_worlds *)s->plugin->state)->first;
    ((split_worlds *)s->plugin->state)->first = split;
    s->state = split;
    return BP_OK;
}

/* The split that the other system of the same world works on. */
static split_t *find_split(const bp_system_t *s)
{
    split_t *split = ((const split_worlds *)s->plugin->state)->first;
    while (split != NULL && split->world != s->world)
        split = split->next;
    return split;
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
    for (uint32_t cursor = 0; split->look->prototype(split->system->world, &cursor, &found);) {
        split_kind *kind = found.row_count == 0 ? NULL : split_kind_of(split, found.prototype);
        if (kind != NULL)
            each(split, kind, found.entities, found.row_count, data);
    }
}

typedef struct counting {
    uint64_t entities, hash;
} counting;

static void count_kind(split_t *split, split_kind *kind, const bp_entity_t *entities, uint32_t rows, void *data)
{
    counting *counted = data;
    const uint64_t *identities = split_identities(split, kind);
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t state = identities == NULL || entities[i].id == 0 ? 0 : identities[i];
        counted->entities += entities[i].id != 0;
        counted->hash += entities[i].id != 0 ? bp_random_next(&state) : 0;
    }
}

typedef struct sampling {
    cut_point *points;
    uint64_t count, room, stride, met;
} sampling;

static void sample_kind(split_t *split, split_kind *kind, const bp_entity_t *entities, uint32_t rows, void *data)
{
    sampling *sample = data;
    const char *places = split_places(split, kind);
    for (uint32_t i = 0; i < rows; i++)
        if (entities[i].id != 0 && sample->met++ % sample->stride == 0 && sample->count < sample->room)
            sample->points[sample->count++] = split_place(kind, places, i);
}

/* Cut space by the places of entities: of all ranks, or at first of rank 0, which has all of them. */
static void cut(split_t *split, uint64_t own, uint64_t all)
{
    bool takes_part = split->begun || split->rank == 0;
    uint64_t total = split->begun ? all : own;
    sampling sample = {.stride = total / SAMPLES + 1};
    sample.room = takes_part ? own / sample.stride + 1 : 0;
    sample.points = resize(split, NULL, 0, (sample.room + 1) * sizeof *sample.points);
    if (sample.points == NULL)
        split_fail(split, "out of memory for cutting the world");
    if (takes_part)
        walk(split, sample_kind, &sample);
    uint64_t count;
    cut_point *points = split_gather(split, sample.points, sample.count, &count);
    cut_space(points, count, split->ranks, split->nodes, split->parts);
    resize(split, points, (size_t)count * sizeof *points + 1, 0);
    resize(split, sample.points, (sample.room + 1) * sizeof *sample.points, 0);
    split->begun = true;
    split->cuts++;
}

/* Is the rank with the most entities further above the mean than allowed? All ranks find the same. */
static bool is_uneven(split_t *split, uint64_t own, uint64_t all)
{
    const bp_value_t *option = split->system->plugin->options;
    uint64_t most = own;
    if (option[SPLIT_EVERY].u32 == 0 || split->steps % option[SPLIT_EVERY].u32 != 0)
        return false;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return (double)most * split->ranks > (1 + option[SPLIT_UNEVEN].f64) * (double)all;
}

/* --- packing ------------------------------------------------------------------------------------------------------ */

typedef struct packing {
    const bp_step_t *step;
    bool first;           /* all ranks have all entities: those of other ranks need not be sent, only destroyed here */
    uint32_t *rows;       /* of one kind, for one rank */
    uint32_t *seen;       /* rows of the kind that may concern another rank, ... */
    cut_point *places;    /* ... their places, ... */
    uint32_t *owners;     /* ... and the ranks that these belong to */
    bp_entity_t *leaving;
    uint32_t room;
} packing;

static void pack_rows(split_t *split, const split_kind *kind, uint32_t to, uint32_t what, const uint32_t *rows,
                      uint32_t count)
{
    size_t text = strlen(kind->text) + 1, before = split->out[to].size;
    split_block block = {what, count, filled(text)};
    split_bytes *out = &split->out[to];
    if (count == 0)
        return;
    memcpy(split_append(split, out, sizeof block), &block, sizeof block);
    char *at = split_append(split, out, filled(text));
    memset(at, 0, filled(text));
    memcpy(at, kind->text, text);
    for (uint32_t c = 0; c < kind->column_count; c++) {
        const split_column *column = &kind->columns[c];
        const char *cells =
            split->look->column(split->system->world, kind->prototype, column->key, column->field);
        split_pack_column(split, out, column, cells, rows, count);
    }
    split->moved += out->size - before;
    split->migrated += what == MIGRANT ? out->size - before : 0;
}

static void reserve_rows(split_t *split, packing *p, uint32_t rows)
{
    if (rows <= p->room)
        return;
    p->rows = resize(split, p->rows, p->room * sizeof *p->rows, rows * sizeof *p->rows);
    p->leaving = resize(split, p->leaving, p->room * sizeof *p->leaving, rows * sizeof *p->leaving);
    p->seen = resize(split, p->seen, p->room * sizeof *p->seen, rows * sizeof *p->seen);
    p->places = resize(split, p->places, p->room * sizeof *p->places, rows * sizeof *p->places);
    p->owners = resize(split, p->owners, p->room * sizeof *p->owners, rows * sizeof *p->owners);
    p->room = rows;
    if (p->rows == NULL || p->leaving == NULL || p->seen == NULL || p->places == NULL || p->owners == NULL)
        split_fail(split, "out of memory for what is sent to other ranks");
}

static void destroy_leaving(split_t *split, packing *p, uint32_t count)
{
    if (count > 0 &&
        split->system->api->command->destroy(p->step->commands, p->leaving, count) != BP_OK)
        split_fail(split, "what has left for another rank cannot be destroyed");
}

/* Of `count` rows that were seen: pack the entities that belong to rank `to`, and copies of those near its part. */
static void pack_for(split_t *split, split_kind *kind, const bp_entity_t *entities, uint32_t count, packing *p,
                     uint32_t to)
{
    double halo = split->system->plugin->options[SPLIT_HALO].f64;
    uint32_t leaving = 0, near = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (p->owners[i] == to && to != split->rank) {
            p->leaving[leaving] = entities[p->seen[i]];
            p->rows[leaving++] = p->seen[i];
        }
    }
    destroy_leaving(split, p, leaving);
    if (!p->first) {
        pack_rows(split, kind, to, MIGRANT, p->rows, leaving);
        split->left += leaving;
    }
    for (uint32_t i = 0; i < count && halo > 0; i++) {
        bool told = !p->first || to == split->rank; /* at first every rank has all entities and makes its own copies */
        if (told && p->owners[i] != to && cut_distance2(&split->parts[to], &p->places[i]) <= halo * halo)
            p->rows[near++] = p->seen[i];
    }
    pack_rows(split, kind, to, COPY, p->rows, near);
}

static void pack_kind(split_t *split, split_kind *kind, const bp_entity_t *entities, uint32_t rows, void *data)
{
    packing *p = data;
    uint32_t count = 0;
    double halo = split->system->plugin->options[SPLIT_HALO].f64;
    const char *places = split_places(split, kind);
    reserve_rows(split, p, rows);
    for (uint32_t i = 0; i < rows; i++) {
        cut_point place = split_place(kind, places, i);
        if (entities[i].id == 0 || (!p->first && cut_is_deep(&split->parts[split->rank], &place, halo)))
            continue;
        p->seen[count] = i;
        p->places[count] = place;
        p->owners[count++] = cut_rank(split->nodes, split->ranks, &place);
    }
    for (uint32_t to = 0; to < split->ranks; to++)
        pack_for(split, kind, entities, count, p, to);
}

/* --- unpacking ---------------------------------------------------------------------------------------------------- */

static void settle_migrants(split_t *split, const split_kind *kind, uint32_t count, const char *values,
                            bp_commands_o *commands)
{
    const bp_command_api *command = split->system->api->command;
    bp_entity_t *coming = resize(split, NULL, 0, count * sizeof *coming);
    bool fine = coming != NULL && command->create(commands, kind->prototype, coming, count) == BP_OK;
    for (uint32_t c = 0; c < kind->column_count && fine; c++) {
        const split_column *column = &kind->columns[c];
        const void *cells = split_unpack_column(split, column, values, count);
        fine = command->set(commands, &column->own, coming, count, cells, column->size) == BP_OK;
        values = split_skip_column(values);
    }
    if (!fine)
        split_fail(split, "what has come from another rank cannot be created");
    resize(split, coming, count * sizeof *coming, 0);
    split->came += count;
}

/* Have as many entities in the world of copies as there are copies. */
static void fit_copies(split_t *split, split_kind *kind)
{
    const bp_world_api *world = split->system->api->world;
    uint32_t had = kind->copy_count, wanted = kind->coming;
    if (wanted > kind->copy_room) {
        uint32_t room = wanted + wanted / 4 + 16;
        kind->copies = resize(split, kind->copies, kind->copy_room * sizeof *kind->copies,
                              room * sizeof *kind->copies);
        if (kind->copies == NULL)
            split_fail(split, "out of memory for copies of other ranks' entities");
        kind->copy_room = room;
    }
    if (wanted > had && world->create(split->halo, kind->halo_prototype, kind->copies + had, wanted - had) != BP_OK)
        split_fail(split, split->system->api->error->last(split->system->host));
    if (wanted < had) {
        uint32_t keys[256], count = world->keys_of(split->halo, kind->copies[wanted], keys, 256);
        for (uint32_t i = 0; i < count; i++)
            world->remove(split->halo, keys[i], kind->copies + wanted, had - wanted);
        split->system->api->entity->destroy(split->system->host, kind->copies + wanted, had - wanted);
    }
    kind->copy_count = wanted;
}

static void settle_copies(split_t *split, split_kind *kind, uint32_t count, const char *values)
{
    for (uint32_t c = 0; c < kind->column_count; c++) {
        split_column *column = &kind->columns[c];
        const void *cells = split_unpack_column(split, column, values, count);
        if (split->system->api->property->set(split->halo, &column->halo, kind->copies + kind->placed, count, cells,
                                              column->size) != BP_OK)
            split_fail(split, split->system->api->error->last(split->system->host));
        values = split_skip_column(values);
    }
    kind->placed += count;
}

/* Go over the bytes that have come: count copies (`counting_only`), or bring everything in. */
static void unpack(split_t *split, bp_commands_o *commands, bool counting_only)
{
    for (size_t at = 0; at + sizeof(split_block) <= split->in.size;) {
        split_block block;
        memcpy(&block, split->in.at + at, sizeof block);
        at += sizeof block;
        split_kind *kind = split_kind_named(split, split->in.at + at);
        at += block.text_bytes;
        if (counting_only)
            kind->coming += block.what == COPY ? block.count : 0;
        else if (block.what == COPY)
            settle_copies(split, kind, block.count, split->in.at + at);
        else
            settle_migrants(split, kind, block.count, split->in.at + at, commands);
        for (uint32_t c = 0; c < kind->column_count; c++)
            at = (size_t)(split_skip_column(split->in.at + at) - split->in.at);
    }
}

static void exchange(split_t *split, const bp_step_t *step, bool first)
{
    packing p = {.step = step, .first = first};
    double began = MPI_Wtime();
    for (uint32_t r = 0; r < split->ranks; r++)
        split->out[r].size = 0;
    walk(split, pack_kind, &p);
    resize(split, p.rows, p.room * sizeof *p.rows, 0);
    resize(split, p.leaving, p.room * sizeof *p.leaving, 0);
    resize(split, p.seen, p.room * sizeof *p.seen, 0);
    resize(split, p.places, p.room * sizeof *p.places, 0);
    resize(split, p.owners, p.room * sizeof *p.owners, 0);
    double packed = MPI_Wtime();
    split_send(split);
    double sent = MPI_Wtime();
    for (uint32_t i = 0; i < split->kind_count; i++)
        split->kinds[i].coming = split->kinds[i].placed = 0;
    unpack(split, step->commands, true);
    split->copies = 0;
    for (uint32_t i = 0; i < split->kind_count; i++) {
        fit_copies(split, &split->kinds[i]);
        split->copies += split->kinds[i].coming;
    }
    unpack(split, step->commands, false);
    split->moved += split->in.size;
    split->talking += sent - packed;
    split->packing += packed - began + MPI_Wtime() - sent;
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

static void run_split(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    split_t *split = s->state;
    counting counted = {0};
    (void)matches, (void)count;
    split->system = s; /* a new version of the plugin has another system */
    if (split->ranks > 1 && !mpi_talks())
        return; /* a copy of the process, in which some plugin is tried */
    if (split->ranks > 1)
        fail_where_crashed(split);
    bool first = !split->begun;
    walk(split, count_kind, &counted);
    split_worlds *worlds = s->plugin->state;
    uint64_t own = counted.entities, sums[3] = {counted.entities, counted.hash, worlds->waiting};
    if (split->ranks > 1)
        split_sum(split, sums, 3);
    worlds->agreed = sums[2] == split->ranks;
    if (first && sums[0] != own * split->ranks)
        split_fail(split, "the ranks begin with different numbers of entities in a world that is to be split");
    split->all = first ? own : sums[0];
    split->hash = first ? counted.hash : sums[1];
    if (split->ranks > 1 && (first || is_uneven(split, own, split->all)))
        cut(split, own, split->all);
    else if (first)
        cut_space(NULL, 0, 1, split->nodes, split->parts);
    split->begun = true;
    if (split->ranks > 1)
        exchange(split, step, first);
    split->steps++;
}

/* The second system runs when entities that came are there and entities that left are gone: check that no entity is
 * lost or there twice. */
static void run_settled(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    split_t *split = find_split(s);
    counting counted = {0};
    (void)step, (void)matches, (void)count;
    if (split == NULL || !s->plugin->options[SPLIT_AUDIT].boolean || (split->ranks > 1 && !mpi_talks()))
        return;
    walk(split, count_kind, &counted);
    uint64_t sums[2] = {counted.entities, counted.hash};
    if (split->ranks > 1)
        split_sum(split, sums, 2);
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
    s->api->report->value(out, name, text);
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
    tell(s, out, "bytes packed and unpacked", split->moved);
    tell_seconds(s, out, "seconds of packing and unpacking", split->packing);
    tell_seconds(s, out, "seconds of sending and waiting", split->talking);
}

static const bp_system_report_i reporting = {report};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)}};

const bp_system_i split_systems[2] = {
    {
        .name = "split",
        .doc = "entities go to the rank that has their place, and copies of others' near by come here",
        .start = start,
        .stop = stop,
        .run_all = run_split,
        .state_form = BP_STATE_FORM(split_t, 2),
        .extensions = BP_LIST(extensions),
    },
    {
        .name = "split_settled",
        .doc = "those that have come are there before any other unit runs",
        .flags = BP_SYSTEM_COMMANDS_FIRST,
        .after = "split",
        .run_all = run_settled,
    },
};
