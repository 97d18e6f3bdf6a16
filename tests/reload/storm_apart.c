/* storm_apart.c - hosts beside the host: clones, tries, drafts and recordings that are played; and steps that are taken
 * several times from one beginning.
 *
 * What happens in another host is not in the model. The model says of it only that this host stays as it is, which is
 * compared after the event, and that the same steps come to the same there and here.
 */
#include "storm_model.h"

#include <string.h>

enum { POLLS = 20000, WITHIN = 400 };
enum { CHANGE_NOTHING, CHANGE_RELOAD, CHANGE_DEATH, CHANGE_ERROR, CHANGES };

typedef struct change_t {
    uint32_t what;
    bp_entity_t entity;
} change_t;

static struct {
    bool recording;
    bool doubtful;            /* something has failed since it began; perhaps a write to its file */
    bool failed;              /* something, at any time: a version of a plugin has perhaps not been copied */
    bool recounted;           /* since then a state was another one than its version says (is_recounted) */
    bool renewed;             /* since then the host is made of other parts, and so is what is cloned from it */
    bool draft_is_now;        /* the draft is from now on, without plugins */
    change_t change;          /* of the draft */
} apart;

void storm_apart_open(void)
{
    memset(&apart, 0, sizeof apart);
}

void storm_apart_failed(void)
{
    apart.doubtful = apart.failed = true;
}

void storm_apart_renewed(void)
{
    apart.renewed = true;
}

static uint64_t hash_of(bp_host_o *host)
{
    bp_snapshot_o *snapshot;
    SAYS(bp_host_snapshot(host, &snapshot) == BP_OK, "a snapshot for the hash: %s", bp_host_error(host));
    uint64_t hash = bp_snapshot_hash(snapshot, NULL);
    bp_snapshot_free(snapshot);
    return hash;
}

/* May the state of a census be another one than `start` makes, and systems are told of? Then it does not hold what its
 * version says of it, and is another one in another host (world_state_t). */
static bool is_recounted(void)
{
    bool recounted = false;
    EACH_WORLD(w)
        recounted = recounted || storm.now.own[w].recounted || storm.now.own[w].unknown;
    return recounted;
}

void storm_apart_look(void)
{
    apart.recounted = apart.recounted || is_recounted();
}

/* --- differences -------------------------------------------------------------------------------------------------- */

static void count_structure(void *context, const char *world, bp_entity_t entity, const char *what)
{
    (void)world, (void)entity, (void)what;
    (*(uint32_t *)context)++;
}

static void count_field(void *context, const bp_diff_field_t *field)
{
    (void)field;
    (*(uint32_t *)context)++;
}

static bp_diff_i counting(uint32_t *count)
{
    *count = 0;
    return (bp_diff_i){
        .struct_size = sizeof(bp_diff_i), .context = count, .structure = count_structure, .field = count_field};
}

/* --- clones ------------------------------------------------------------------------------------------------------- */

/* NULL: memory or a call has failed, or there is a plugin that does not say what it keeps. */
static bp_host_o *make_clone(void)
{
    bp_host_o *clone = NULL;
    storm_break(WITHIN);
    bp_result_t result = bp_host_clone(storm.host, &clone);
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed || storm.how->crashes, "clone: %s", bp_host_error(storm.host));
    SAYS(result != BP_OK || !storm.how->crashes, "a host of a plugin that does not say what it keeps is cloned");
    return result == BP_OK ? clone : NULL;
}

/* A clone is as the host is, and its steps come to the same as the host's, which are not those of a past. */
void storm_clone(void)
{
    bp_host_o *clone = make_clone();
    if (clone == NULL)
        return;
    storm.counts->clones++;
    SAYS(is_recounted() || hash_of(clone) == hash_of(storm.host), "a clone is not as its host is");
    bool alike = !storm_past_is_behind() && !is_recounted();
    for (uint32_t n = storm_below(4); n > 0 && alike; n--) {
        storm_share_work();
        DOES(bp_host_step(storm.host));
        SAYS(bp_host_step(clone) == BP_OK, "a step of a clone: %s", bp_host_error(clone));
        uint64_t hash = hash_of(storm.host);
        SAYS(hash_of(clone) == hash, "a step of a clone comes to something else");
        storm_stepped(WORLDS);
        storm_compare();
        alike = hash_of(storm.host) == hash; /* nothing has been written to children that were born */
    }
    bp_host_destroy(clone);
}

/* --- tries -------------------------------------------------------------------------------------------------------- */

static bp_result_t change(void *context, bp_host_o *clone)
{
    static const char *const name = "keeper";
    const change_t *c = context;
    switch (c->what) {
    case CHANGE_RELOAD: return bp_host_reload(clone, &name, 1, NULL);
    case CHANGE_DEATH:
        return bp_host_api(clone)->entity->destroy(clone, &c->entity, 1) == 1 ? BP_OK : BP_ERROR_NOT_FOUND;
    case CHANGE_ERROR: return BP_ERROR_FAILED;
    default: return BP_OK;
    }
}

/* `keeper` has the same file all the time, so a reload of it changes nothing that can be seen. */
static change_t draw_change(void)
{
    uint32_t entity = storm_some_entity();
    change_t c = {.what = storm_below(CHANGES)};
    if (entity == ENTITIES && c.what == CHANGE_DEATH)
        c.what = CHANGE_NOTHING;
    c.entity = entity == ENTITIES ? (bp_entity_t){0} : storm.now.entities[entity];
    return c;
}

void storm_try(void)
{
    change_t c = draw_change();
    uint32_t differences;
    bp_diff_i sink = counting(&differences);
    bp_host_try_i what = {.struct_size = sizeof what, .steps = storm_below(3), .context = &c, .change = change,
                          .differences = &sink};
    storm_break(WITHIN);
    bp_result_t result = bp_host_try(storm.host, &what, NULL);
    bool failed = storm_mend();
    if (storm.how->crashes) {
        SAYS(result != BP_OK, "a change is tried though a plugin does not say what it keeps");
        return;
    }
    SAYS(result == BP_OK || failed || c.what == CHANGE_ERROR, "try %u: %s", c.what, bp_host_error(storm.host));
    SAYS(result != BP_OK || c.what != CHANGE_ERROR, "a try whose change fails has gone through");
    if (result != BP_OK || failed || is_recounted())
        return;
    storm.counts->tries++;
    bool differ = c.what == CHANGE_DEATH && what.steps == 0; /* who dies may have been about to die in a step */
    SAYS(differences == 0 || c.what == CHANGE_DEATH, "try %u: %u differences", c.what, differences);
    SAYS(differences > 0 || !differ, "a death in a clone is no difference");
}

/* --- steps taken several times ------------------------------------------------------------------------------------ */

void storm_step_twice(void)
{
    if (storm.how->crashes || storm_past_is_behind() || is_recounted())
        return;
    storm_break(WITHIN);
    bp_result_t result = bp_host_step_twice(storm.host, 0, NULL);
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed, "a step taken twice: %s", bp_host_error(storm.host));
    /* BP_ERROR_FAILED: memory lacked in one of the steps, or behind them. */
    if (result != BP_OK && result != BP_ERROR_FAILED)
        return;
    storm.counts->twice++;
    for (uint32_t w = 0; w < WORLDS && failed && storm.now.gale.keeps == BP_KEEP_ANEW; w++)
        storm.now.own[w].recounted = true; /* as where a snapshot is brought back: `start` may have failed */
    storm_stepped(WORLDS);
}

/* --- drafts ------------------------------------------------------------------------------------------------------- */

static void begin_draft(void)
{
    static const char *const keeper = "keeper";
    bp_history_t h = {.struct_size = sizeof h};
    bp_host_history(storm.host, &h);
    apart.change = draw_change();
    bp_draft_i draft = {.struct_size = sizeof draft, .steps = storm_below(2) * storm_below(10),
                        .context = &apart.change, .change = change, .plugins = &keeper,
                        .plugin_count = storm_below(3) == 0};
    if (storm_past_reaches_back() && storm_below(2) == 0)
        draft.back = storm_below((uint32_t)(h.now - h.first) + 1);
    storm_break(WITHIN);
    bp_result_t result = bp_host_draft(storm.host, &draft);
    bool failed = storm_mend();
    storm_past_settled(failed);
    if (failed)
        storm_past_doubt();
    SAYS(result == BP_OK || failed || storm.how->crashes || (draft.back > 0 && apart.failed), "draft: %s",
         bp_host_error(storm.host));
    apart.draft_is_now = draft.back == 0 && draft.plugin_count == 0;
}

/* The place of an entity that lives, or ENTITIES. */
static uint32_t place_of(bp_entity_t entity)
{
    for (uint32_t e = 0; e < ENTITIES; e++) {
        if (storm.now.alive[e] && storm.now.entities[e].id == entity.id)
            return e;
    }
    return ENTITIES;
}

/* What is kept of a draft from now on is its change. */
static void keep_draft(const bp_drafted_t *drafted)
{
    uint32_t dies = place_of(apart.change.entity), what = apart.change.what;
    storm_break(WITHIN);
    bp_result_t result = bp_host_draft_keep(storm.host);
    bool failed = storm_mend();
    bool possible = drafted->state != BP_DRAFT_FAILED && (what != CHANGE_DEATH || dies < ENTITIES);
    SAYS(result == BP_OK || !possible || failed, "keep a draft: %s", bp_host_error(storm.host));
    SAYS(result != BP_OK || possible, "a draft that cannot be kept is kept");
    if (result == BP_OK && what == CHANGE_DEATH)
        storm_die(dies);
    if (result == BP_OK && what == CHANGE_RELOAD)
        storm_begin_probation(OF_KEEPER);
    bp_host_draft_drop(storm.host);
}

/* A draft that is level, or has ended, is kept or dropped. */
static void end_draft(const bp_drafted_t *drafted)
{
    uint32_t differences;
    bp_diff_i sink = counting(&differences);
    if (drafted->state == BP_DRAFT_BESIDE) {
        storm_break(WITHIN);
        bp_result_t result = bp_host_draft_differences(storm.host, &sink);
        bool failed = storm_mend();
        SAYS(result == BP_OK || failed || result == BP_ERROR_STATE, "differences of a draft: %s",
             bp_host_error(storm.host));
    }
    storm.counts->drafts++;
    if (apart.draft_is_now && storm_below(2) == 0)
        keep_draft(drafted);
    else
        bp_host_draft_drop(storm.host);
}

bool storm_drafts(void)
{
    bp_drafted_t drafted = {.struct_size = sizeof drafted};
    bp_host_draft_read(storm.host, &drafted);
    return drafted.state != BP_DRAFT_NONE;
}

void storm_draft(void)
{
    bp_drafted_t drafted = {.struct_size = sizeof drafted};
    bp_host_draft_read(storm.host, &drafted);
    if (drafted.state == BP_DRAFT_NONE) {
        begin_draft();
        return;
    }
    storm_break(WITHIN);
    for (uint32_t n = 0; n == 0 || (drafted.state < BP_DRAFT_BESIDE && drafted.state != BP_DRAFT_NONE); n++) {
        bp_result_t result = bp_host_wait(storm.host, 1000000);
        SAYS(n < POLLS, "a draft does not become level");
        SAYS(result == BP_OK || storm.broken, "poll: %s", bp_host_error(storm.host));
        bp_host_draft_read(storm.host, &drafted);
    }
    storm_mend();
    end_draft(&drafted);
}

/* --- recordings --------------------------------------------------------------------------------------------------- */

static void begin_recording(const char *path)
{
    bp_host_record_every(storm.host, storm_below(2) * 10000);
    storm_break(WITHIN);
    bp_result_t result = bp_host_record(storm.host, path, "storm");
    bool failed = storm_mend();
    if (failed)
        storm_past_doubt();
    SAYS(result == BP_OK || failed || storm.how->crashes, "record: %s", bp_host_error(storm.host));
    apart.recording = result == BP_OK;
    apart.doubtful = failed; /* a plugin's file has perhaps not been copied */
    apart.renewed = false;
    apart.recounted = is_recounted();
}

/* What has been recorded, computed again in a clone, is what was written down. */
static void play(const char *path)
{
    bp_recording_o *recording;
    bp_recording_t info = {.struct_size = sizeof info};
    bp_playback_i options = {.struct_size = sizeof options, .flags = BP_PLAY_CHECK | BP_PLAY_ALL};
    bp_host_o *clone = make_clone();
    if (clone == NULL)
        return;
    SAYS(bp_recording_open(clone, path, &recording) == BP_OK, "open a recording: %s", bp_host_error(clone));
    bp_recording_info(recording, &info);
    SAYS(info.lost == 0, "%llu bytes of a recording are lost", (unsigned long long)info.lost);
    bp_result_t result = bp_recording_play(recording, info.last, &options);
    SAYS(result == BP_OK, "a recording: %s", bp_host_error(clone));
    bp_recording_close(recording);
    bp_host_destroy(clone);
    storm.counts->played++;
}

static void end_recording(const char *path)
{
    storm_break(WITHIN);
    bp_result_t result = bp_host_record_end(storm.host);
    bool failed = storm_mend();
    apart.recording = false;
    SAYS(result == BP_OK || failed || apart.doubtful, "end a recording: %s", bp_host_error(storm.host));
    if (result == BP_OK && !failed && !apart.doubtful && !apart.renewed && !apart.recounted)
        play(path);
}

/* A recording of all that happens until the next event of this kind, or a short one. */
void storm_record(void)
{
    char path[700];
    snprintf(path, sizeof path, "%s", storm_path("storm.rec"));
    if (apart.recording) {
        end_recording(path);
        return;
    }
    begin_recording(path);
    if (!apart.recording || storm_below(2) == 0)
        return;
    for (uint32_t n = 1 + storm_below(6); n > 0; n--) {
        storm_write_value();
        storm_past_look(); /* in the past another future begins with it */
        storm_step_of(WORLDS);
        storm_compare();
    }
    end_recording(path);
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

/* Units run one after another while they are looked at, and come to the same. */
void storm_audit(void)
{
    DOES(bp_host_audit(storm.host, storm_below(2) == 0 ? BP_AUDIT_WRITES : 0));
}
