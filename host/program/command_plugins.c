/* command_plugins.c - `backplane plugins`: what an ini loads.
 *
 * The ini is done as `run` would do it, worlds and entities included, and not only its list of plugins:
 * options are checked by the plugins themselves, and whoever asks what is loaded wants to hear of a bad ini
 * now.
 */
#include "json_output.h"
#include "messages.h"
#include "plugin_list.h"
#include "program.h"
#include "terminal.h"

static int print_as_json(const program_t *program)
{
    json_t *root = json_object();
    int bad = 0;
    bad |= json_object_set_new(root, "backplane", json_output_text(BACKPLANE_VERSION));
    bad |= json_object_set_new(root, "ini", json_output_text(program->ini));
    bad |= json_object_set_new(root, "plugins", plugin_list_json(program));
    return json_output_print(json_output_checked(root, bad));
}

int command_plugins(const arguments_t *arguments)
{
    program_t program;
    int status = program_open(&program, arguments->ini);
    if (status != STATUS_FINE)
        return status;
    status = arguments->json ? print_as_json(&program) : plugin_list_print(&program, terminal_styled());
    return program_close(&program, status);
}
