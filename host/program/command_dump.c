/* command_dump.c - `backplane dump`: a scene blob as text, or as the JSON that it could have been compiled from.
 *
 * No plugin is loaded: a blob says by itself what its fields are called and of which type they are.
 */
#include "messages.h"
#include "program.h"

#include <stdio.h>

static void print(void *context, const char *text, size_t length)
{
    fwrite(text, 1, length, context);
}

int command_dump(const arguments_t *arguments)
{
    bp_host_o *host = bp_host_create(NULL);
    if (host == NULL) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    bp_scene_o *scene;
    bp_result_t result = bp_scene_open(host, arguments->ini, &scene);
    if (result == BP_OK)
        bp_scene_dump(scene, arguments->json ? BP_DUMP_JSON : 0, &(bp_text_sink_i){stdout, print});
    else
        complain("%s", bp_host_error(host));
    bp_host_destroy(host);
    return result == BP_OK ? STATUS_FINE : STATUS_BAD_INPUT;
}
