/* ranks.c - one recording of a world that several ranks share (docs/machines.md).
 *
 * An entity is on one rank, and may go to another. So in each sample every rank reads the values that it has, all
 * exchange them, and rank 0 writes the files. Where the options name other files on each rank, which `{rank}` in their
 * names does, every rank writes its own, with what it has itself.
 *
 * Which of the two it is the ranks find out at the first sample, which all of them take in the same step. Until then
 * only rank 0 has its files open.
 */
#include "recorder.h"

#include <bp_peers.h>

#include <string.h>

/* What a rank has of a source. */
typedef struct reading {
    uint32_t type, has_at, has_from, padding;
    double at[RECORDER_PARTS], from[RECORDER_PARTS];
} reading;

typedef struct readings {
    reading *all;
    uint32_t count;
} readings;

static const bp_peers_api *peers_of(const recorder_state *r)
{
    return (const bp_peers_api *)r->system->api->registry->find(r->system->host, BP_PEERS_API, 1);
}

void recorder_begin_ranks(recorder_state *r)
{
    const bp_peers_api *peers = peers_of(r);
    const bp_world_api *world = r->system->api->world;
    char copies[128];
    r->shared = 0;
    r->writes = 1;
    if (peers == NULL || peers->count(r->system->host) < 2)
        return;
    /* A world that is shared has a world of copies beside it, from its beginning. */
    snprintf(copies, sizeof copies, "%s.halo", world->name(r->system->world));
    r->shared = world->find(r->system->host, copies) != NULL;
    r->writes = !r->shared || peers->rank(r->system->host) == 0;
}

static uint64_t mix(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    while (*text++ != 0);
    return hash;
}

typedef struct names {
    uint64_t first;
    uint32_t differ;
} names;

static void BP_CALL take_name(void *data, uint32_t rank, const void *bytes, size_t size)
{
    names *n = data;
    uint64_t name = 0;
    if (size == sizeof name)
        memcpy(&name, bytes, sizeof name);
    if (rank == 0)
        n->first = name;
    n->differ |= name != n->first;
}

bp_result_t recorder_meet(recorder_state *r)
{
    const bp_peers_api *peers = peers_of(r);
    uint64_t mine = mix(mix(UINT64_C(14695981039346656037), recorder_text(r, RECORDER_CSV)),
                        recorder_text(r, RECORDER_SVG));
    names found = {0, 0};
    if (!r->shared || r->met || peers == NULL)
        return BP_OK;
    if (peers->exchange(r->system->host, &mine, sizeof mine, take_name, &found) != BP_OK)
        return BP_OK; /* this is a copy that is tried: it records what it has */
    r->met = 1;
    if (found.differ == 0)
        return BP_OK;
    r->shared = 0;
    r->apart = 1;
    if (r->writes)
        return BP_OK;
    r->writes = 1;
    return recorder_open_files(r);
}

static void BP_CALL take_reading(void *data, uint32_t rank, const void *bytes, size_t size)
{
    readings *known = data;
    const reading *theirs = bytes;
    (void)rank;
    if (size != known->count * sizeof *theirs)
        return;
    for (uint32_t i = 0; i < known->count; i++) {
        reading *mine = &known->all[i];
        if (mine->type == BP_TYPE_NONE)
            mine->type = theirs[i].type;
        if (theirs[i].has_at && theirs[i].type == mine->type) {
            mine->has_at = 1;
            memcpy(mine->at, theirs[i].at, sizeof mine->at);
        }
        if (theirs[i].has_from && theirs[i].type == mine->type) {
            mine->has_from = 1;
            memcpy(mine->from, theirs[i].from, sizeof mine->from);
        }
    }
}

static void read_mine(recorder_state *r, recorder_source *s, reading *mine)
{
    uint32_t type = s->type, from = s->type;
    *mine = (reading){.type = s->type};
    mine->has_at = (uint32_t)recorder_read_path(r, s->path, &type, mine->at);
    if (s->reference != NULL)
        mine->has_from = (uint32_t)recorder_read_path(r, s->reference, &from, mine->from);
    mine->type = mine->has_at ? type : mine->has_from ? from : s->type;
    if (mine->has_at && mine->has_from && type != from)
        mine->has_from = 0;
}

static void take_over(recorder_source *s, const reading *known)
{
    s->valid = known->has_at && (s->reference == NULL || known->has_from);
    s->type = s->type == BP_TYPE_NONE ? known->type : s->type;
    s->seen += s->valid;
    for (uint32_t i = 0; i < RECORDER_PARTS && s->valid; i++)
        s->values[i] = known->at[i] - (s->reference != NULL ? known->from[i] : 0.0);
}

int recorder_read_shared(recorder_state *r)
{
    const bp_peers_api *peers = peers_of(r);
    size_t size = r->room * sizeof(reading);
    reading *mine = recorder_resize(r, NULL, 0, 2 * size);
    int fine = mine != NULL && peers != NULL;
    if (mine == NULL) /* the other ranks wait: end them too, with a sentence */
        recorder_complain(r, "out of memory for what other ranks have");
    for (uint32_t i = 0; i < r->room && fine; i++) {
        read_mine(r, &r->sources[i], &mine[i]);
        mine[r->room + i] = (reading){.type = r->sources[i].type};
    }
    readings known = {fine ? mine + r->room : NULL, r->room};
    if (mine == NULL && peers != NULL)
        peers->leave(r->system->host, 1);
    fine = fine && peers->exchange(r->system->host, mine, size, take_reading, &known) == BP_OK;
    for (uint32_t i = 0; i < r->room && fine; i++)
        take_over(&r->sources[i], &known.all[i]);
    if (mine != NULL)
        recorder_resize(r, mine, 2 * size, 0);
    return fine;
}
