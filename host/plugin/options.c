/* options.c - options declared as fields, read from text, and kept as given. */
#include "../base/error.h"
#include "../base/file.h"
#include "loader.h"
#include "slots.h"

static void free_declared(memory_t *memory, plugin_t *plugin)
{
    uint32_t count = plugin->handed.option_count;
    for (uint32_t i = 0; i < count && plugin->options != NULL; i++)
        field_free(&plugin->options[i], memory);
    for (uint32_t i = 0; i < count && plugin->option_texts != NULL; i++)
        memory_free_text(memory, plugin->option_texts[i]);
    memory_free(memory, plugin->options, count * sizeof *plugin->options);
    memory_free(memory, plugin->option_values, count * sizeof *plugin->option_values);
    memory_free(memory, plugin->option_texts, count * sizeof *plugin->option_texts);
}

static bp_result_t declare_options(base_t *base, memory_t *memory, plugin_t *plugin)
{
    const bp_field_list_t *list = &plugin->desc.options;
    error_text_t *error = &base->error;
    if (list->count == 0)
        return BP_OK;
    if (list->count > REGISTRY_MAX_FIELDS || list->item_size < offsetof(bp_field_t, initial))
        return error_set(error, BP_ERROR_ABI, "its list of options says %u items of %u bytes; use BP_LIST", list->count,
                         list->item_size);
    plugin->handed.option_count = list->count;
    plugin->options = memory_new(memory, list->count * sizeof *plugin->options);
    plugin->option_values = memory_new(memory, list->count * sizeof *plugin->option_values);
    plugin->option_texts = memory_new(memory, list->count * sizeof *plugin->option_texts);
    if (plugin->options == NULL || plugin->option_values == NULL || plugin->option_texts == NULL)
        return error_memory(error, "reading its options");
    plugin->handed.options = plugin->option_values;
    for (uint32_t i = 0; i < list->count; i++) {
        const char *item = (const char *)list->items + (size_t)i * list->item_size;
        bp_result_t result = field_init(&plugin->options[i], memory, &base->values,
                                        (const bp_field_t *)(const void *)item, list->item_size, error);
        if (result == BP_OK && !field_is_single(&plugin->options[i]))
            result = error_set(error, BP_ERROR_TYPE, "option '%s' is an array or a list; an option has one value",
                               plugin->options[i].name);
        for (uint32_t j = 0; j < i && result == BP_OK; j++) {
            if (plugin->options[j].hash == plugin->options[i].hash)
                result = error_set(error, BP_ERROR_EXISTS, "two options are called '%s'", plugin->options[i].name);
        }
        if (result != BP_OK)
            return error_prefix(error, result, "its option list: ");
        plugin->option_values[i] = plugin->options[i].initial;
    }
    return BP_OK;
}

static bp_result_t unknown_option(base_t *base, const plugin_t *plugin, const bp_option_t *option)
{
    nearest_t nearest = {.wanted = option->name};
    text_t hint, known = {.length = 0};
    known.chars[0] = '\0';
    for (uint32_t i = 0; i < plugin->handed.option_count; i++) {
        nearest_consider(&nearest, plugin->options[i].name);
        text_append(&known, "%s%s", i > 0 ? ", " : "", plugin->options[i].name);
    }
    return error_set(&base->error, BP_ERROR_NOT_FOUND, "plugin '%s' has no option '%s'%s (it has %s)", plugin->name,
                     option->name, nearest_hint(&nearest, &hint), known.length > 0 ? known.chars : "none");
}

static bp_result_t set_option(base_t *base, memory_t *memory, plugin_t *plugin, const bp_option_t *option,
                              uint32_t index)
{
    const field_t *field = &plugin->options[index];
    error_text_t *error = &base->error;
    bp_value_t value;
    bp_result_t result = field_parse(field, &base->values, option->value, &value, error);
    if (result == BP_OK)
        result = field_check(field, &value, error);
    if (result != BP_OK)
        return error_prefix(error, result, "option '%s' of plugin '%s': ", field->name, plugin->name);
    if (field->type == BP_STRING) {
        char path[FILE_PATH_MAX];
        bool is_path = (field->flags & BP_FIELD_PATH) != 0 && option->value[0] != '\0' && option->base != NULL;
        if (is_path && !file_path_beside(option->base, option->value, path, sizeof path))
            return error_set(error, BP_ERROR_LIMIT, "option '%s' of plugin '%s': the path is too long", field->name,
                             plugin->name);
        char *text = memory_copy_text(memory, is_path ? path : option->value);
        if (text == NULL)
            return error_memory(error, "reading options");
        memory_free_text(memory, plugin->option_texts[index]);
        plugin->option_texts[index] = text;
        value.string = text;
    }
    plugin->option_values[index] = value;
    return BP_OK;
}

static bp_result_t find_and_set(base_t *base, memory_t *memory, plugin_t *plugin, const bp_option_t *option,
                                bool *located)
{
    uint32_t i = 0;
    while (i < plugin->handed.option_count && strcmp(plugin->options[i].name, option->name) != 0)
        i++;
    bp_result_t result = i < plugin->handed.option_count ? set_option(base, memory, plugin, option, i)
                                                         : unknown_option(base, plugin, option);
    if (result == BP_OK || option->origin == NULL)
        return result;
    *located = true;
    return error_prefix(&base->error, result, "%s: ", option->origin);
}

static void free_given(memory_t *memory, plugin_t *plugin)
{
    for (uint32_t i = 0; i < plugin->given_count; i++) {
        const bp_option_t *o = &plugin->given[i];
        const char *const texts[] = {o->name, o->value, o->origin, o->base};
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
            memory_free_text(memory, (char *)(uintptr_t)texts[t]);
    }
    memory_free(memory, plugin->given, plugin->given_count * sizeof *plugin->given);
    plugin->given = NULL;
    plugin->given_count = 0;
}

static bool copy_text(memory_t *memory, const char *text, const char **copy)
{
    *copy = text == NULL ? NULL : memory_copy_text(memory, text);
    return text == NULL || *copy != NULL;
}

static bool keep_given(memory_t *memory, plugin_t *plugin, const bp_option_t *options, uint32_t count)
{
    if (count == 0)
        return true;
    plugin->given = memory_new(memory, count * sizeof *plugin->given);
    if (plugin->given == NULL)
        return false;
    plugin->given_count = count;
    for (uint32_t i = 0; i < count; i++) {
        bp_option_t *o = &plugin->given[i];
        if (!copy_text(memory, options[i].name, &o->name) || !copy_text(memory, options[i].value, &o->value) ||
            !copy_text(memory, options[i].origin, &o->origin) || !copy_text(memory, options[i].base, &o->base))
            return false;
    }
    return true;
}

bp_result_t options_read(base_t *base, memory_t *memory, plugin_t *plugin, const bp_option_t *options, uint32_t count,
                         bool *located)
{
    bp_result_t result = keep_given(memory, plugin, options, count) ? declare_options(base, memory, plugin)
                                                                   : error_memory(&base->error, "reading its options");
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = find_and_set(base, memory, plugin, &options[i], located);
    for (uint32_t i = 0; i < plugin->handed.option_count && result == BP_OK; i++) {
        bool given = (plugin->options[i].flags & BP_FIELD_REQUIRED) == 0;
        for (uint32_t j = 0; j < count && !given; j++)
            given = strcmp(options[j].name, plugin->options[i].name) == 0;
        if (!given)
            result =
                error_set(&base->error, BP_ERROR_ARGUMENT, "option '%s' (%s) must be given: %s",
                          plugin->options[i].name, value_type_name(plugin->options[i].type), plugin->options[i].doc);
    }
    return result;
}

void options_free(memory_t *memory, plugin_t *plugin)
{
    free_declared(memory, plugin);
    free_given(memory, plugin);
}
