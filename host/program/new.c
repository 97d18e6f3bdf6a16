/* new.c - `backplane new`: a folder with a plugin in it that builds, runs, reloads and passes `check` as it stands.
 *
 * The folder must not exist, so no file is overwritten. Where one of its files cannot be written, those before it are
 * removed.
 */
#include "new.h"

#include "../os/files.h"
#include "../os/os.h"
#include "output.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "new NAME [--component | --system | --own-storage] [--lang c|c++|rust] [--fields "
                            "\"hp:f32=100,max:f32\"]";

enum { FILES_MAX = 8 };

/* --- arguments --------------------------------------------------------------------------------------------------- */

static bool refuse(void)
{
    complain("usage: backplane %s", usage);
    return false;
}

typedef struct wishes_t {
    const char *name, *fields, *language;
    const char *kind; /* the option that gave it */
} wishes_t;

/* The value of an option: behind '=', or the next text. */
static bool take_value(const char *option, int count, char **texts, int *at, const char **value)
{
    const char *equals = strchr(texts[*at], '=');
    if (*value != NULL) {
        complain("%s is given twice", option);
        return refuse();
    }
    if (equals == NULL && *at + 1 >= count) {
        complain("%s needs a value behind it", option);
        return refuse();
    }
    *value = equals != NULL ? equals + 1 : texts[++*at];
    return true;
}

static bool refuse_option(const char *text)
{
    static const char *const known[] = {"--component", "--system", "--own-storage", "--lang", "--fields", "--help"};
    char word[64], hint[96];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "="), text);
    guess_t guess = {.wanted = word};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        guess_consider(&guess, known[i]);
    complain("new knows no option '%s'%s", word, guess_hint(&guess, hint, sizeof hint));
    return refuse();
}

static bool is_option(const char *text, const char *option)
{
    size_t length = strlen(option);
    return strncmp(text, option, length) == 0 && (text[length] == '\0' || text[length] == '=');
}

static bool read_text(wishes_t *wishes, int count, char **texts, int *at)
{
    const char *text = texts[*at];
    if (is_option(text, "--fields"))
        return take_value("--fields", count, texts, at, &wishes->fields);
    if (is_option(text, "--lang"))
        return take_value("--lang", count, texts, at, &wishes->language);
    if (strcmp(text, "--component") == 0 || strcmp(text, "--system") == 0 || strcmp(text, "--own-storage") == 0) {
        if (wishes->kind != NULL)
            complain("%s and %s: a plugin begins as one of them", wishes->kind, text);
        bool first = wishes->kind == NULL;
        wishes->kind = text;
        return first || refuse();
    }
    if (text[0] == '-')
        return refuse_option(text);
    if (wishes->name != NULL) {
        complain("one name is enough; here are '%s' and '%s'", wishes->name, text);
        return refuse();
    }
    wishes->name = text;
    return true;
}

static bool read_language(const char *text, new_language_t *language)
{
    *language = NEW_C;
    if (text == NULL || strcmp(text, "c") == 0)
        return true;
    *language = NEW_RUST;
    if (strcmp(text, "rust") == 0 || strcmp(text, "rs") == 0)
        return true;
    *language = NEW_CXX;
    if (strcmp(text, "c++") == 0 || strcmp(text, "cpp") == 0 || strcmp(text, "cxx") == 0)
        return true;
    complain("--lang takes c, c++ or rust, not '%s'", text);
    return refuse();
}

/* The first field that is one number, or a vector of them: the field that the generated source changes in its step. */
static uint32_t field_to_work_on(const new_plugin_t *plugin)
{
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        const new_field_t *field = &plugin->fields[i];
        if (!field->list && field->count == 0 && field->type->parts > 0)
            return i;
    }
    return plugin->field_count;
}

/* Is it the name of a plugin that the new one's ini loads as well? */
static bool is_beside(const new_plugin_t *plugin, const char *name)
{
    bool beside = strcmp(name, "debug_name") == 0 || (plugin->kind == NEW_SYSTEM && strcmp(name, "point_mass") == 0);
    if (beside)
        complain("'%s' is a plugin that the new one is tried with: choose another name", name);
    return beside;
}

static bool read_wishes(new_plugin_t *plugin, int count, char **texts)
{
    wishes_t wishes = {.name = NULL};
    for (int at = 0; at < count; at++) {
        if (!read_text(&wishes, count, texts, &at))
            return false;
    }
    if (wishes.name == NULL) {
        complain("new needs a name for the plugin");
        return refuse();
    }
    if (!read_language(wishes.language, &plugin->language))
        return false;
    bool system = wishes.kind != NULL && strcmp(wishes.kind, "--system") == 0;
    plugin->kind = system ? NEW_SYSTEM : wishes.kind != NULL && strcmp(wishes.kind, "--own-storage") == 0
        ? NEW_OWN_STORAGE : NEW_COMPONENT;
    if (!new_name_fits(plugin, wishes.name, "plugin") || is_beside(plugin, wishes.name))
        return false;
    snprintf(plugin->name, sizeof plugin->name, "%s", wishes.name);
    const char *fields = wishes.fields != NULL ? wishes.fields : system ? "drag:f32=0.5" : "age:f32";
    bool fine = new_fields_read(plugin, fields);
    plugin->worked = field_to_work_on(plugin);
    return fine;
}

/* --- the folder -------------------------------------------------------------------------------------------------- */

typedef struct folder_t {
    const char *path;
    char files[FILES_MAX][NEW_NAME_MAX + 16];
    uint32_t count;
} folder_t;

static void see_anything(void *data, const char *name)
{
    (void)name;
    *(bool *)data = true;
}

static bool make_folder(const char *path)
{
    bool any = false;
    if (os_folder_list(path, see_anything, &any) && !any)
        return true;
    if (any) {
        complain("there is a folder %s already, and something in it; nothing was written", path);
        return false;
    }
    FILE *file = os_file_open(path, "rb");
    if (file != NULL) {
        fclose(file);
        complain("there is a file %s already; nothing was written", path);
        return false;
    }
    if (os_folder_create(path))
        return true;
    complain("the folder %s cannot be made here", path);
    return false;
}

static bool write_text(folder_t *folder, const char *name, new_text_t *text)
{
    char path[2 * NEW_NAME_MAX + 32], why[256];
    bool fine = !text->failed;
    if (!fine)
        complain("out of memory");
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    if (fine) /* what fails late may have put the file into its place */
        snprintf(folder->files[folder->count++], sizeof folder->files[0], "%s", name);
    if (fine && !os_file_replace(path, text->chars, text->length, why, sizeof why)) {
        complain("%s cannot be written: %s", path, why);
        fine = false;
    }
    new_text_free(text);
    return fine;
}

static bool write_files(const new_plugin_t *plugin, folder_t *folder)
{
    char source[NEW_NAME_MAX + 8], ini[NEW_NAME_MAX + 8];
    new_text_t text = {.chars = NULL};
    snprintf(source, sizeof source, "%s.%s", plugin->name, new_source_ending(plugin));
    snprintf(ini, sizeof ini, "%s.ini", plugin->name);
    (plugin->language == NEW_RUST ? new_source_rust : new_source_c)(plugin, &text);
    bool fine = write_text(folder, source, &text);
    const struct { const char *name; void (*make)(const new_plugin_t *plugin, new_text_t *text); } others[] = {
        {"Makefile", new_makefile}, {ini, new_ini}, {"test.sh", new_test}, {"README.md", new_readme},
    };
    for (size_t i = 0; fine && i < sizeof others / sizeof others[0]; i++) {
        others[i].make(plugin, &text);
        fine = write_text(folder, others[i].name, &text);
    }
    return fine;
}

static void take_back(const folder_t *folder)
{
    char path[2 * NEW_NAME_MAX + 32];
    for (uint32_t i = 0; i < folder->count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder->path, folder->files[i]);
        os_file_remove(path);
    }
    os_file_remove(folder->path);
}

static int make(new_plugin_t *plugin)
{
    folder_t folder = {.path = plugin->name};
    char place[NEW_PATH - 64];
    if (!os_program_folder(place, sizeof place)) {
        complain("the system does not tell where this program lies, and the Makefile has to know");
        return STATUS_FAILED;
    }
    snprintf(plugin->program, sizeof plugin->program, "%s/backplane%s", place, os_program_suffix);
    if (!make_folder(folder.path))
        return STATUS_FAILED;
    if (!write_files(plugin, &folder)) {
        take_back(&folder);
        return STATUS_FAILED;
    }
    printf("%s/:", plugin->name);
    for (uint32_t i = 0; i < folder.count; i++)
        printf(" %s", folder.files[i]);
    printf("\n  make -C %s test     builds it, has it checked, and runs its test\n"
           "  make -C %s dev      runs it; save %s/%s, and the running world goes on with that\n",
           plugin->name, plugin->name, plugin->name, folder.files[0]);
    return STATUS_FINE;
}

int command_new(int count, char **texts)
{
    new_plugin_t *plugin = calloc(1, sizeof *plugin);
    if (plugin == NULL) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    int status = read_wishes(plugin, count, texts) ? make(plugin) : STATUS_BAD_INPUT;
    new_fields_free(plugin);
    free(plugin);
    return status;
}

/* --- headers ----------------------------------------------------------------------------------------------------- */

int command_headers(void)
{
    char folder[NEW_PATH];
    if (bp_host_headers(folder, sizeof folder) == BP_OK) {
        puts(folder);
        return STATUS_FINE;
    }
    complain("the headers for plugins are not where they belong, in ../include/backplane beside the folder of this "
             "program");
    return STATUS_FAILED;
}
