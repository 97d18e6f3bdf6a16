/* report.c - the report of a change: one block for people, and the same as data.
 *
 * All of the report but the time is put together while the change is prepared, since a commit cannot fail; the first
 * line is written into room left for it.
 */
#include "../base/error.h"
#include "change.h"

#include <stdarg.h>
#include <time.h>

enum { HEAD = 512, FIRST_TEXT = 2048 };

/* --- the block ---------------------------------------------------------------------------------------------------- */

static bool add(reload_change_t *change, const char *format, ...) PRINTF_LIKE(2, 3);

static bool make_room(reload_change_t *change, size_t length)
{
    if (change->text_length + length + 1 <= change->text_size)
        return true;
    size_t size = change->text_size * 2 + length + FIRST_TEXT;
    char *text = memory_resize(&change->reload->memory, change->text, change->text_size, size);
    if (text == NULL)
        return false;
    change->text = text;
    change->text_size = size;
    return true;
}

static bool add(reload_change_t *change, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    int written = vsnprintf(NULL, 0, format, values);
    size_t length = written < 0 ? 0 : (size_t)written;
    bool good = make_room(change, length);
    if (good) {
        vsnprintf(change->text + change->text_length, length + 1, format, again);
        change->text_length += length;
    }
    va_end(again);
    va_end(values);
    return good;
}

/* --- the list of fields ------------------------------------------------------------------------------------------- */

static bool list(reload_change_t *change, bp_reload_field_t field)
{
    if (!memory_reserve(&change->reload->memory, &change->fields, &change->field_capacity, change->field_count + 1u,
                        sizeof *change->fields))
        return false;
    change->fields[change->field_count++] = field;
    return true;
}

static uint32_t what_became(const convert_source_t *source)
{
    if (source->old == BP_NONE)
        return BP_RELOAD_ADDED;
    return source->kind != CONVERT_SAME ? BP_RELOAD_CONVERTED : source->renamed ? BP_RELOAD_RENAMED : BP_RELOAD_KEPT;
}

static uint32_t count_of(const field_t *field)
{
    return field_is_list(field) ? 0 : field->elements > 0 ? field->elements : 1;
}

/* A field that was a property and is none any more: it has been dropped, or is a hidden one now. */
static bool list_gone(reload_change_t *change, const component_change_t *c, uint32_t number)
{
    const field_t *old = &c->slot->fields[number], *now = NULL;
    uint32_t lost = 0;
    for (uint32_t s = 0; s < c->source_count; s++) {
        if (c->sources[s].old != number)
            continue;
        if (s < c->kept->field_count)
            return true;
        now = &c->kept->fields[s];
        lost = c->sources[s].dropped;
    }
    return list(change, (bp_reload_field_t){.component = c->slot->name,
                                            .field = c->slot->bound[number]->name,
                                            .former = "",
                                            .initial = "",
                                            .what = now == NULL ? BP_RELOAD_DROPPED : BP_RELOAD_HIDDEN,
                                            .old_type = old->type,
                                            .new_type = now == NULL ? BP_TYPE_NONE : now->type,
                                            .old_count = count_of(old),
                                            .new_count = now == NULL ? 1 : count_of(now),
                                            .lost = lost});
}

static bool list_fields(reload_change_t *change, const component_change_t *c)
{
    bool good = true;
    for (uint32_t i = 0; i < c->kept->field_count && good; i++) { /* hidden fields are not reported */
        const field_t *field = c->same ? &c->slot->fields[i] : &c->kept->fields[i]; /* the list that stays */
        uint32_t from = c->sources[i].old;
        const field_t *old = from == BP_NONE ? NULL : &c->slot->fields[from];
        good = list(change, (bp_reload_field_t){
                                .component = c->slot->name,
                                .field = c->kept->bound[i]->name,
                                .former = c->sources[i].renamed ? field->former_name : "",
                                .initial = field->initial_text,
                                .what = what_became(&c->sources[i]),
                                .old_type = old == NULL ? BP_TYPE_NONE : old->type,
                                .new_type = field->type,
                                .old_count = old == NULL ? 1 : count_of(old),
                                .new_count = count_of(field),
                                .lost = from == BP_NONE ? 0 : c->sources[i].dropped,
                            });
    }
    for (uint32_t i = 0; i < c->slot->field_count && good; i++)
        good = list_gone(change, c, i);
    return good;
}

static bool write_field(reload_change_t *change, const bp_reload_field_t *f)
{
    char old_text[64], new_text[64], lost[64] = "";
    const char *old = field_shape(f->old_type, f->old_count, f->old_count == 0, old_text, sizeof old_text);
    const char *new = field_shape(f->new_type, f->new_count, f->new_count == 0, new_text, sizeof new_text);
    if (f->lost > 0)
        snprintf(lost, sizeof lost, "; the last %u of each are dropped", f->lost);
    switch (f->what) {
    case BP_RELOAD_ADDED:
        return add(change, "    added      %s (%s), %s%s\n", f->field, new,
                   f->initial[0] != '\0' ? "with default " : "with its type's default", f->initial);
    case BP_RELOAD_DROPPED:
        return add(change, "    dropped    %s (%s)\n", f->field, old);
    case BP_RELOAD_HIDDEN:
        return add(change, "    hidden     %s (%s); its values stay%s\n", f->field, new, lost);
    case BP_RELOAD_RENAMED:
        return add(change, "    renamed    %s, which was %s\n", f->field, f->former);
    case BP_RELOAD_CONVERTED:
        return add(change, "    converted  %s, from %s to %s%s%s%s\n", f->field, old, new,
                   f->former[0] != '\0' ? "; it was called " : "", f->former, lost);
    default:
        return true;
    }
}

static bool write_kept(reload_change_t *change, uint32_t first)
{
    bool any = false, good = true;
    for (uint32_t i = first; i < change->field_count && good; i++) {
        if (change->fields[i].what != BP_RELOAD_KEPT)
            continue;
        good = add(change, "%s%s", any ? ", " : "    kept       ", change->fields[i].field);
        any = true;
    }
    return good && (!any || add(change, "\n"));
}

static bool write_loss(reload_change_t *change, const carry_loss_t *loss)
{
    char text[480];
    bool good = list(change, (bp_reload_field_t){.component = loss->component->slot->name,
                                                 .field = loss->field == NULL ? "" : loss->field,
                                                 .former = "",
                                                 .initial = "",
                                                 .what = BP_RELOAD_LOST,
                                                 .old_type = loss->type,
                                                 .new_type = loss->type,
                                                 .old_count = 1,
                                                 .new_count = 1,
                                                 .lost = loss->count});
    return good && add(change, "    lost       %s, in world %s\n", loss_describe(loss, text, sizeof text), loss->world);
}

/* Were any values of instances in storage of their own carried over? */
static bool carries_values(const component_change_t *c)
{
    bool sets = !c->kept->own_storage || c->kept->storage.set != NULL;
    for (uint32_t i = 0; i < c->source_count && sets; i++) {
        if (c->sources[i].old != BP_NONE &&
            (!c->kept->own_storage || (c->kept->fields[i].flags & BP_FIELD_READ_ONLY) == 0))
            return true;
    }
    return false;
}

static const char *how(const component_change_t *c)
{
    if (c->reads_saved)
        return "; saved by the old code and loaded by the new";
    if (c->adopts && c->slot->storage.gc != NULL && c->kept->storage.gc == NULL)
        return "; its state went over as it is, and the new code has no `gc`: instances of dead entities that the old "
               "one had not collected stay; another number in `state_form` keeps them out";
    if (c->adopts)
        return "; its state went over as it is";
    if ((c->slot->own_storage || c->kept->own_storage) && c->rows > 0 && !carries_values(c))
        return "; made anew with their defaults, since there are neither properties that can be set, nor `save` and "
               "`load`, nor a "
               "`state_form` to carry them over by";
    if (c->slot->own_storage || c->kept->own_storage)
        return "; carried over by properties";
    return c->restarts ? "; the manager's state began anew" : "";
}

static bool write_component(reload_change_t *change, const component_change_t *c)
{
    uint32_t first = change->field_count;
    const char *same = ": fields as they were";
    for (uint32_t i = 0; i < change->loss_count; i++) {
        if (change->losses[i].component == c)
            same = ": the same fields";
    }
    if (c->is_new)
        return add(change, "  component %s is new: worlds may bring it in\n", c->slot->name);
    if (c->kept->owner == NULL)
        return add(change, "  component %s has gone\n", c->slot->name);
    bool good = list_fields(change, c) && add(change, "  component %s, %u instances%s%s\n", c->slot->name, c->rows,
                                              c->same ? same : "", how(c));
    uint32_t end = change->field_count;
    good = good && (c->same || write_kept(change, first));
    for (uint32_t i = first; i < end && good && !c->same; i++)
        good = write_field(change, &change->fields[i]);
    for (uint32_t i = 0; i < change->loss_count && good; i++) {
        if (change->losses[i].component == c)
            good = write_loss(change, &change->losses[i]);
    }
    return good;
}

static bool write_systems(reload_change_t *change, const registry_set_t *set)
{
    bool good = true;
    for (uint32_t i = 0; i < set->system_count && good; i++) {
        const system_t *slot = set->systems[i].slot, *kept = &set->systems[i].kept;
        bool stays = same_form(slot->table.state_form, kept->table.state_form);
        const char *state = stays                       ? ": its state went over as it is"
                            : slot->table.start != NULL ? ": its state began anew"
                                                        : "";
        if (slot->owner == NULL)
            good = add(change, "  system %s is new: worlds may bring it in\n", slot->name);
        else if (kept->owner == NULL)
            good = add(change, "  system %s has gone\n", slot->name);
        else
            good = add(change, "  system %s%s\n", slot->name, state);
    }
    return good;
}

bp_result_t report_prepare(reload_change_t *change)
{
    memory_t *memory = &change->reload->memory;
    change->text = memory_new(memory, FIRST_TEXT);
    if (change->text == NULL)
        return error_memory(change_error(change), "reporting a reload");
    change->text_size = FIRST_TEXT;
    change->text_length = HEAD;
    bool good = true;
    for (uint32_t v = 0; v < change->version_count && good; v++) {
        const version_t *version = &change->versions[v];
        good = change->version_count == 1 || add(change, "  plugin %s: %s -> %s\n", version->plugin->name,
                                                 version->plugin->version, version->kept.version);
        for (uint32_t i = 0; i < change->component_count && good; i++) {
            component_change_t *c = &change->components[i];
            good = c->version != version || write_component(change, c);
        }
        good = good && write_systems(change, &version->set);
    }
    change->report.rows = 0;
    for (uint32_t i = 0; i < change->component_count; i++)
        change->report.rows += change->components[i].rows;
    change->report.worlds = change->world_count;
    return good ? BP_OK : error_memory(change_error(change), "reporting a reload");
}

void report_free(reload_change_t *change)
{
    memory_t *memory = &change->reload->memory;
    memory_free(memory, change->text, change->text_size);
    memory_free(memory, change->fields, change->field_capacity * sizeof *change->fields);
    change->text = NULL;
    change->fields = NULL;
    change->text_size = change->text_length = 0;
    change->field_count = change->field_capacity = 0;
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

/* Remember the last report for tools. A text that is too long is cut at the end of a line. */
static void remember(reload_t *reload)
{
    reload_told_t *told = &reload->past.told[reload->past.count++ % RELOAD_PAST];
    told->result = reload->last.result;
    told->pause = reload->last.pause;
    told->when = (int64_t)time(NULL);
    if (snprintf(told->text, sizeof told->text, "%s", reload->last.text) < (int)sizeof told->text)
        return;
    char *end = told->text + sizeof told->text - sizeof "\n...";
    while (end > told->text && *end != '\n')
        end--;
    memcpy(end, "\n...", sizeof "\n...");
}

static void publish(reload_t *reload)
{
    remember(reload);
    log_write(&reload->base->log, BP_LOG_INFO, "host", "%s",
              reload->last.text); /* as information: where a refusal needs a warning, the caller logs it */
    for (uint32_t i = 0; i < reload->callback_count; i++)
        reload->callbacks[i].callback(reload->callbacks[i].data, &reload->last);
}

void report_forget(reload_t *reload)
{
    reload->last = (bp_reload_report_t){.text = ""};
    memory_free(&reload->memory, reload->last_text, reload->last_size);
    memory_free(&reload->memory, reload->last_fields, reload->last_field_capacity * sizeof *reload->last_fields);
    memory_free(&reload->memory, reload->callbacks, reload->callback_capacity * sizeof *reload->callbacks);
}

/* The names of the plugins and of their versions, for the head. */
static void name_versions(const reload_change_t *change, text_t *names)
{
    names->length = 0;
    names->chars[0] = '\0';
    for (uint32_t i = 0; i < change->version_count && names->length < HEAD / 2; i++)
        text_append(names, "%s%s", i > 0 ? " " : "", change->versions[i].plugin->name);
    if (change->version_count == 1)
        text_append(names, " %s -> %s", change->versions[0].former, change->versions[0].plugin->version);
}

/* Hand the block and the list over to the host, as those of the last change. */
static void take(reload_t *reload, reload_change_t *change)
{
    memory_free(&reload->memory, reload->last_text, reload->last_size);
    memory_free(&reload->memory, reload->last_fields, reload->last_field_capacity * sizeof *reload->last_fields);
    reload->last_text = change->text;
    reload->last_size = change->text_size;
    reload->last_fields = change->fields;
    reload->last_field_capacity = change->field_capacity;
    reload->last = change->report;
    reload->last.struct_size = sizeof reload->last;
    reload->last.result = BP_OK;
    reload->last.text = reload->last_text;
    reload->last.pause = change->nanoseconds;
    reload->last.fields = reload->last_fields;
    reload->last.field_count = change->field_count;
    reload->last.field_size = sizeof *reload->last.fields;
    change->text = NULL;
    change->fields = NULL;
    change->text_size = 0;
    change->field_capacity = change->field_count = 0;
}

void report_finish(reload_change_t *change)
{
    reload_t *reload = change->reload;
    text_t names;
    char head[HEAD];
    name_versions(change, &names);
    int length = snprintf(head, sizeof head, "reloaded %.300s: pause %.2f ms, %llu rows in %u worlds%s\n", names.chars,
                          (double)change->nanoseconds / 1e6, (unsigned long long)change->report.rows,
                          change->report.worlds, change->hides ? ", on probation" : "");
    size_t used = length < 0 ? 0 : (size_t)length < sizeof head ? (size_t)length : sizeof head - 1;
    memcpy(change->text, head, used);
    memmove(change->text + used, change->text + HEAD, change->text_length - HEAD + 1);
    size_t end = used + change->text_length - HEAD;
    if (end > 0 && change->text[end - 1] == '\n')
        change->text[end - 1] = '\0';
    take(reload, change);
    publish(reload);
}

void reload_tell_refusal(reload_t *reload, const char *const *names, uint32_t count, uint64_t nanoseconds,
                         bp_result_t result)
{
    int used = snprintf(reload->refusal, sizeof reload->refusal, "not reloaded:");
    for (uint32_t i = 0; i < count && used > 0 && used < 300; i++)
        used += snprintf(reload->refusal + used, sizeof reload->refusal - (size_t)used, " %.63s", names[i]);
    snprintf(reload->refusal + used, sizeof reload->refusal - (size_t)used,
             " (pause %.2f ms); nothing has changed\n  %s", (double)nanoseconds / 1e6, reload->base->error.text);
    reload->last = (bp_reload_report_t){
        .struct_size = sizeof reload->last, .result = result, .text = reload->refusal, .pause = nanoseconds};
    publish(reload);
}

void report_rollback(reload_change_t *change)
{
    reload_t *reload = change->reload;
    int used = snprintf(reload->refusal, sizeof reload->refusal, "taken back:");
    for (uint32_t i = 0; i < change->version_count && used > 0 && used < 1000; i++)
        used += snprintf(reload->refusal + used, sizeof reload->refusal - (size_t)used,
                         " %.63s (%.100s is at work again, instead of %.100s)", change->versions[i].plugin->name,
                         change->versions[i].plugin->version, change->versions[i].kept.version);
    reload->last =
        (bp_reload_report_t){.struct_size = sizeof reload->last, .result = BP_ERROR_FAILED, .text = reload->refusal};
    publish(reload);
}

bp_result_t reload_add_callback(reload_t *reload, bp_reloaded_callback callback, void *data)
{
    if (callback == NULL)
        return error_set(&reload->base->error, BP_ERROR_ARGUMENT, "a callback is a function");
    if (!memory_reserve(&reload->memory, &reload->callbacks, &reload->callback_capacity, reload->callback_count + 1u,
                        sizeof *reload->callbacks))
        return error_memory(&reload->base->error, "registering a callback");
    reload->callbacks[reload->callback_count++] = (reload_callback_t){callback, data};
    return BP_OK;
}
