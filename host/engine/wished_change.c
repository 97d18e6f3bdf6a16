/* wished_change.c - a change that a plugin has wished: copied, tried on a clone, made in the host.
 *
 * A change of several parts is made in the host only where it can be made on a clone. Where memory then fails between
 * two values, the host is brought back to the moment before the first of them.
 */
#include "host.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PARTS = 1024 };

/* --- what is kept ------------------------------------------------------------------------------------------------- */

static void free_texts(memory_t *memory, char **texts, uint32_t count)
{
    for (uint32_t i = 0; texts != NULL && i < count; i++)
        memory_free_text(memory, texts[i]);
    memory_free(memory, texts, texts == NULL ? 0 : count * sizeof *texts);
}

static void free_differences(wished_change_t *w, memory_t *memory)
{
    for (uint32_t i = 0; i < w->difference_count; i++) {
        memory_free_text(memory, w->differences[i].world);
        memory_free_text(memory, w->differences[i].component);
        memory_free_text(memory, w->differences[i].field);
        memory_free_text(memory, w->differences[i].text);
    }
    memory_free(memory, w->differences, w->difference_capacity * sizeof *w->differences);
    w->differences = NULL;
    w->difference_count = w->difference_capacity = 0;
    w->incomplete = false;
}

void wished_change_free(wished_change_t *w, memory_t *memory)
{
    free_differences(w, memory);
    free_texts(memory, w->plugins, w->plugin_count);
    free_texts(memory, w->values, 2 * w->value_count);
    *w = (wished_change_t){.state = BP_CHANGE_NONE};
}

static bool copy_change(wished_change_t *w, memory_t *memory, const bp_change_t *change)
{
    *w = (wished_change_t){.state = BP_CHANGE_WAITS, .steps = change->steps};
    if (change->plugin_count > 0)
        w->plugins = memory_new(memory, change->plugin_count * sizeof *w->plugins);
    if (change->value_count > 0)
        w->values = memory_new(memory, 2 * change->value_count * sizeof *w->values);
    w->plugin_count = w->plugins == NULL ? 0 : change->plugin_count;
    w->value_count = w->values == NULL ? 0 : change->value_count;
    bool whole = w->plugin_count == change->plugin_count && w->value_count == change->value_count;
    for (uint32_t i = 0; i < w->plugin_count && whole; i++)
        whole = (w->plugins[i] = memory_copy_text(memory, change->plugins[i])) != NULL;
    for (uint32_t i = 0; i < w->value_count && whole; i++) {
        w->values[2 * i] = memory_copy_text(memory, change->values[i].path);
        w->values[2 * i + 1] = memory_copy_text(memory, change->values[i].value);
        whole = w->values[2 * i] != NULL && w->values[2 * i + 1] != NULL;
    }
    return whole;
}

static bp_result_t check_change(bp_host_o *host, const bp_change_t *change)
{
    error_text_t *error = &host->base.error;
    if (change->struct_size < sizeof *change)
        return error_set(error, BP_ERROR_ARGUMENT, "a change of %u bytes; it has %zu", change->struct_size,
                         sizeof *change);
    if (change->plugin_count > MOST_PARTS || change->value_count > MOST_PARTS)
        return error_set(error, BP_ERROR_ARGUMENT, "a change has at most %d plugins and %d values", MOST_PARTS,
                         MOST_PARTS);
    return change->plugin_count + change->value_count > 0
               ? BP_OK
               : error_set(error, BP_ERROR_ARGUMENT, "a change without plugins and values");
}

static bp_result_t keep_change(bp_host_o *host, const bp_change_t *change, bool makes)
{
    wished_change_t next;
    bp_result_t result = check_change(host, change);
    if (result != BP_OK)
        return result;
    if (!copy_change(&next, &host->base.memory, change)) {
        wished_change_free(&next, &host->base.memory);
        return error_memory(&host->base.error, "keeping a change");
    }
    wished_change_t *kept = host->wished.under_way ? &host->wished_next : &host->wished;
    wished_change_free(kept, &host->base.memory);
    *kept = next;
    kept->makes = makes;
    return BP_OK;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

bp_result_t wished_change_try(bp_host_o *host, const bp_change_t *change)
{
    return keep_change(host, change, false);
}

bp_result_t wished_change_make(bp_host_o *host, const bp_change_t *change)
{
    if (change != NULL)
        return keep_change(host, change, true);
    if (host->wished.plugin_count + host->wished.value_count == 0)
        return error_set(&host->base.error, BP_ERROR_STATE, "no change has been tried that could be made");
    if (host->wished_next.state == BP_CHANGE_WAITS) {
        host->wished_next.makes = true;
        return BP_OK;
    }
    if (host->wished.under_way) {
        host->wished.once_more = true;
        return BP_OK;
    }
    host->wished.state = BP_CHANGE_WAITS;
    host->wished.makes = true;
    return BP_OK;
}

void wished_change_read(bp_host_o *host, bp_changed_t *changed)
{
    const wished_change_t *w = &host->wished;
    uint32_t size = changed->struct_size;
    bp_changed_t now = {.struct_size = size,
                        .state = w->state,
                        .result = w->result,
                        .differences = w->difference_count,
                        .text = w->text,
                        .steps = w->steps,
                        .without = w->without,
                        .with = w->with};
    memcpy(changed, &now, size < sizeof now ? size : sizeof now);
}

uint32_t wished_change_difference(bp_host_o *host, uint32_t index, bp_difference_t *difference)
{
    const wished_change_t *w = &host->wished;
    uint32_t size = difference->struct_size;
    if (index >= w->difference_count)
        return 0;
    const wished_difference_t *d = &w->differences[index];
    bp_difference_t now = {.struct_size = size,
                           .world = d->world,
                           .component = d->component,
                           .field = d->field,
                           .text = d->text,
                           .entity = d->entity,
                           .count = d->count,
                           .largest = d->largest};
    memcpy(difference, &now, size < sizeof now ? size : sizeof now);
    return 1;
}

/* --- differences -------------------------------------------------------------------------------------------------- */

static void add_difference(void *context, const char *world, const char *component, const char *field,
                           const char *text, wished_difference_t numbers)
{
    bp_host_o *host = context;
    wished_change_t *w = &host->wished;
    memory_t *memory = &host->base.memory;
    if (w->incomplete || !memory_reserve(memory, &w->differences, &w->difference_capacity, w->difference_count + 1u,
                                         sizeof *w->differences)) {
        w->incomplete = true;
        return;
    }
    wished_difference_t *d = &w->differences[w->difference_count++];
    *d = numbers;
    d->world = memory_copy_text(memory, world);
    d->component = memory_copy_text(memory, component);
    d->field = memory_copy_text(memory, field);
    d->text = memory_copy_text(memory, text);
    w->incomplete = d->world == NULL || d->component == NULL || d->field == NULL || d->text == NULL;
}

static void add_structure(void *context, const char *world, bp_entity_t entity, const char *text)
{
    add_difference(context, world, "", "", text, (wished_difference_t){.entity = entity});
}

static void add_field(void *context, const bp_diff_field_t *field)
{
    add_difference(context, field->world, field->component, field->field, "",
                   (wished_difference_t){.count = field->count, .largest = field->largest});
}

/* --- carrying out ------------------------------------------------------------------------------------------------- */

static bp_result_t set_values(bp_host_o *host, const wished_change_t *w)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < w->value_count && result == BP_OK; i++) {
        bp_path_t path;
        result = host->api.property->parse_path(host, w->values[2 * i], &path);
        if (result == BP_OK)
            result = host->api.property->set_text(&path, w->values[2 * i + 1]);
    }
    return result;
}

static bp_result_t reload_all(const wished_change_t *w, bp_host_o *host, bp_reload_report_t *report)
{
    return bp_host_reload(host, (const char *const *)(uintptr_t)w->plugins, w->plugin_count, report);
}

static bp_result_t change_clone(void *context, bp_host_o *clone)
{
    const wished_change_t *w = &((const bp_host_o *)context)->wished;
    bp_result_t result = w->plugin_count > 0 ? reload_all(w, clone, NULL) : BP_OK;
    return result == BP_OK ? set_values(clone, w) : result;
}

static bp_result_t try_it(bp_host_o *host, uint64_t steps, bool tells)
{
    enum { SHOWN = 20 };
    wished_change_t *w = &host->wished;
    const bp_diff_i differences = {.struct_size = sizeof differences,
                                   .most = SHOWN,
                                   .context = host,
                                   .structure = add_structure,
                                   .field = add_field};
    const bp_host_try_i what = {.struct_size = sizeof what,
                                .steps = steps,
                                .context = host,
                                .change = change_clone,
                                .differences = tells ? &differences : NULL};
    bp_host_tried_t tried = {.struct_size = sizeof tried};
    free_differences(w, &host->base.memory);
    bp_result_t result = bp_host_try(host, &what, &tried);
    w->without = tried.without;
    w->with = tried.with;
    if (result == BP_OK && w->incomplete)
        result = error_memory(&host->base.error, "listing differences");
    if (result != BP_OK)
        free_differences(w, &host->base.memory);
    return result;
}

/* Set values, all or none. */
static bp_result_t set_all(bp_host_o *host)
{
    bp_snapshot_o *before;
    error_text_t *error = &host->base.error;
    char told[sizeof error->text];
    bp_result_t result = bp_host_snapshot(host, &before);
    if (result != BP_OK)
        return result;
    result = set_values(host, &host->wished);
    if (result != BP_OK) {
        memcpy(told, error->text, sizeof told);
        if (bp_host_bring_back(host, before) == BP_OK)
            memcpy(error->text, told, sizeof told);
        else
            error_prefix(error, result, "some values have been set, and cannot be set back: ");
    }
    bp_snapshot_free(before);
    return result;
}

static bp_result_t make_it(bp_host_o *host, bp_reload_report_t *report)
{
    const wished_change_t *w = &host->wished;
    bool several = w->value_count + (w->plugin_count > 0) > 1;
    bp_result_t result = several ? try_it(host, 0, false) : BP_OK;
    if (result == BP_OK && w->plugin_count > 0)
        result = reload_all(w, host, report);
    if (result != BP_OK)
        return result;
    return w->value_count > 1 ? set_all(host) : set_values(host, w);
}

void wished_change_carry_out(bp_host_o *host)
{
    wished_change_t *w = &host->wished;
    bp_reload_report_t report = {.struct_size = sizeof report, .text = ""};
    if (w->state != BP_CHANGE_WAITS || w->under_way)
        return;
    w->under_way = true;
    w->result = w->makes ? make_it(host, &report) : try_it(host, w->steps, true);
    snprintf(w->text, sizeof w->text, "%s",
             w->result != BP_OK ? host->base.error.text : w->makes && report.text != NULL ? report.text : "");
    w->state = w->makes ? BP_CHANGE_MADE : BP_CHANGE_TRIED;
    w->under_way = false;
    if (host->wished_next.state == BP_CHANGE_WAITS) {
        wished_change_free(w, &host->base.memory);
        *w = host->wished_next;
        host->wished_next = (wished_change_t){.state = BP_CHANGE_NONE};
    } else if (w->once_more) {
        w->state = BP_CHANGE_WAITS;
        w->makes = true;
    }
    w->once_more = false;
}
