/* parents.c - links as plugins and users make and read them: by the property `parent`, and by the table.
 *
 * Where entities name the parents, slots may move, so a large batch of links packs families first and settles the
 * linked instances in their new places. Links by the table move no slot: the caller holds slots.
 */
#include "transforms.h"

enum { BLOCK = 256, FEW = 64, MANY_SHARE = 8 };

/* Compute the matrices that links have changed. Where a large part was linked, families are packed before. */
static void settle_linked(bp_manager_t *m, const uint32_t *slots, uint32_t count, bool may_move)
{
    transforms_t *t = transforms_of(m);
    if (!t->linked)
        return;
    if (!may_move || count < FEW || count < t->children / MANY_SHARE || t->packed) {
        transforms_settle(t, slots, count);
        return;
    }
    uint8_t *mark = BP_SLOTS(uint8_t, &t->slots, MARK);
    for (uint32_t i = 0; i < count; i++)
        mark[slots[i]] = CHANGED;
    if (transforms_pack(m) == BP_OK) { /* marks move along */
        transforms_settle_marked(t, 0, t->slots.count - 1);
        return;
    }
    transforms_settle(t, slots, count);
}

static bp_result_t refuse_parent(bp_manager_t *m, bp_entity_t entity)
{
    char sentence[160], text[40];
    bool alive = m->api->entity->alive(m->host, &entity, 1, NULL) == 1;
    m->api->entity->format(m->host, entity, text, sizeof text);
    if (alive)
        snprintf(sentence, sizeof sentence,
                 "%s cannot be a parent: it has no transform in world '%.40s'; add one first", text,
                 m->api->world->name(m->world));
    else
        snprintf(sentence, sizeof sentence, "%s cannot be a parent: there is no such entity (any more)", text);
    return bp_slots_refuse(m, alive ? BP_ERROR_NOT_FOUND : BP_ERROR_DEAD, sentence);
}

/* The slots of parents given as entities, from values that lie `stride` apart. */
static bp_result_t find_parents(bp_manager_t *m, const void *values, size_t stride, uint32_t count,
                                uint32_t *parents)
{
    const transforms_t *t = m->state;
    bp_entity_t entities[BLOCK];
    for (uint32_t done = 0; done < count; done += BLOCK) {
        uint32_t n = count - done < BLOCK ? count - done : BLOCK;
        for (uint32_t i = 0; i < n; i++)
            memcpy(&entities[i], (const char *)values + (done + i) * stride, sizeof entities[i]);
        bp_slots_find(m, &t->slots, entities, n, parents + done);
        for (uint32_t i = 0; i < n; i++) {
            if (parents[done + i] == BP_NONE && entities[i].id != 0)
                return refuse_parent(m, entities[i]);
        }
    }
    return BP_OK;
}

bp_result_t transforms_set_parents(bp_manager_t *m, const uint32_t *slots, uint32_t count, const void *values,
                               size_t stride)
{
    uint32_t few[FEW], *parents = few;
    size_t size = count * sizeof *parents;
    if (count > FEW)
        parents = m->api->memory->resize(m->plugin, NULL, 0, size);
    if (parents == NULL)
        return bp_slots_refuse(m, BP_ERROR_MEMORY, "out of memory for linking");
    bp_result_t result = find_parents(m, values, stride, count, parents);
    if (result == BP_OK)
        result = transforms_link(m, slots, parents, count, 0);
    if (parents != few)
        m->api->memory->resize(m->plugin, parents, size, 0);
    if (result == BP_OK)
        settle_linked(m, slots, count, true);
    return result;
}

bp_entity_t transforms_parent(const transforms_t *t, uint32_t slot)
{
    uint32_t parent = t->linked ? links_of(t, PARENT)[slot] : BP_NONE;
    return parent == BP_NONE ? (bp_entity_t){0} : BP_SLOTS(const bp_entity_t, &t->slots, BP_SLOTS_ENTITY)[parent];
}

bp_result_t transforms_link_all(bp_manager_t *m, const uint32_t *slots, const uint32_t *parents, uint32_t count,
                                  uint32_t flags)
{
    bp_result_t result = transforms_link(m, slots, parents, count, flags);
    if (result == BP_OK && (flags & BP_TRANSFORM_KEEP_WORLD) == 0)
        settle_linked(m, slots, count, false);
    return result;
}

bp_result_t transforms_unlink_all(bp_manager_t *m, const uint32_t *slots, uint32_t count, uint32_t flags)
{
    uint32_t none[BLOCK];
    memset(none, 0xff, sizeof none);
    bp_result_t result = BP_OK;
    for (uint32_t done = 0; done < count && result == BP_OK; done += BLOCK)
        result = transforms_link_all(m, slots + done, none, count - done < BLOCK ? count - done : BLOCK, flags);
    return result;
}

static uint32_t link_or_none(const transforms_t *t, uint32_t column, uint32_t slot)
{
    return t->linked ? links_of(t, column)[slot] : BP_NONE;
}

/* The sibling before this one, BP_NONE for the first child. (Inside the plugin the first child's previous is the last
 * one.) */
static uint32_t previous_of(const transforms_t *t, uint32_t slot)
{
    uint32_t parent = link_or_none(t, PARENT, slot);
    return parent == BP_NONE || links_of(t, FIRST_CHILD)[parent] == slot ? BP_NONE : links_of(t, PREVIOUS)[slot];
}

void transforms_relatives(bp_manager_t *m, const uint32_t *slots, uint32_t count, uint32_t *parents,
                      uint32_t *first_children, uint32_t *next_siblings, uint32_t *previous_siblings)
{
    const transforms_t *t = m->state;
    for (uint32_t i = 0; i < count; i++) {
        if (parents != NULL)
            parents[i] = link_or_none(t, PARENT, slots[i]);
        if (first_children != NULL)
            first_children[i] = link_or_none(t, FIRST_CHILD, slots[i]);
        if (next_siblings != NULL)
            next_siblings[i] = link_or_none(t, NEXT, slots[i]);
        if (previous_siblings != NULL)
            previous_siblings[i] = previous_of(t, slots[i]);
    }
}

uint32_t transforms_subtree(bp_manager_t *m, uint32_t slot, uint32_t *slots, uint32_t capacity)
{
    const transforms_t *t = m->state;
    uint32_t found = 0;
    for (uint32_t at = slot; at != BP_NONE; at = t->linked ? transforms_next(t, slot, at) : BP_NONE) {
        if (found < capacity)
            slots[found] = at;
        found++;
    }
    return found;
}
