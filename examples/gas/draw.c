/* draw.c - a picture of the gas: seen along z, each particle a dot in the colour of its rank.
 *
 * Every rank draws the path of its own particles; the first rank puts the paths together and writes the file.
 */
#include "gas.h"

#include <bp_peers.h>
#include <bp_query.h>

#include <stdio.h>
#include <string.h>

enum { DOT = 32, COLOURS = 8, PIXELS = 800 };

static const char *const colours[COLOURS] = {"#3465a4", "#cc4c02", "#4e9a06", "#75507b",
                                             "#c4a000", "#06989a", "#a40000", "#555753"};

/* Text that grows. */
typedef struct path_t {
    bp_system_t *system;
    char *text;
    size_t length, room;
    bool failed;
} path_t;

static void add_dot(path_t *path, bp_dvec3_t at, double scale)
{
    if (path->length + DOT > path->room && !path->failed) {
        size_t room = path->room * 2 + 4096;
        char *text = path->system->api->memory->resize(path->system->plugin, path->text, path->room, room);
        path->failed = text == NULL;
        path->text = path->failed ? path->text : text;
        path->room = path->failed ? path->room : room;
    }
    if (!path->failed)
        path->length += (size_t)snprintf(path->text + path->length, DOT, "M%.1f %.1fh0", at.x * scale, at.y * scale);
}

static void draw_own(path_t *path, double scale)
{
    static const bp_term_field_t asked[] = {{.name = "position", .type = BP_DVEC3, .column = 1}};
    static const bp_term_t terms[] = {{.component = "particle", .fields = BP_LIST(asked)}};
    const bp_term_list_t list = BP_LIST(terms);
    bp_system_t *s = path->system;
    const bp_query_api *queries = (const bp_query_api *)s->api->registry->find(s->host, BP_QUERY_API, 1);
    bp_query_o *query;
    const bp_match_t *match;
    if (queries->make(s->world, s->plugin, &list, 0, &query) != BP_OK)
        return;
    if (queries->begin(query, 0) == BP_OK)
        while ((match = queries->next(query)) != NULL) {
            const bp_dvec3_t *position = BP_TERM_COLUMN(match, const bp_dvec3_t, 0, 0);
            for (uint32_t row = 0; row < match->count; row++)
                if (match->entities[row].id != 0)
                    add_dot(path, position[row], scale);
        }
    queries->end(query);
}

typedef struct file_t {
    FILE *out;
    double dot; /* width of a particle's dot */
} file_t;

static void BP_CALL write_rank(void *data, uint32_t rank, const void *bytes, size_t size)
{
    const file_t *file = data;
    if (file->out == NULL || size == 0)
        return;
    fprintf(file->out, "<path stroke=\"%s\" stroke-width=\"%.2f\" stroke-linecap=\"round\" d=\"",
            colours[rank % COLOURS], file->dot);
    fwrite(bytes, 1, size, file->out);
    fputs("\"/>\n", file->out);
}

static void write_file(bp_system_t *s, const path_t *path, double scale)
{
    const bp_value_t *option = s->plugin->options;
    const bp_peers_api *peers = (const bp_peers_api *)s->api->registry->find(s->host, BP_PEERS_API, 1);
    bool several = peers != NULL && peers->count(s->host) > 1, fine = true;
    bool writes = !several || peers->rank(s->host) == 0;
    char name[1024];
    writes = writes && s->api->file->output(s->world, option[GAS_SVG].string, name, sizeof name, NULL, 0) == BP_OK;
    file_t file = {writes ? fopen(name, "wb") : NULL, 0.7 * option[GAS_RADIUS].f64 * scale};
    double width = option[GAS_BOX].dvec3.x * scale, height = option[GAS_BOX].dvec3.y * scale;
    if (file.out != NULL)
        fprintf(file.out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.1f %.1f\" width=\"%.0f\">\n"
                "<rect width=\"%.1f\" height=\"%.1f\" fill=\"#ffffff\" stroke=\"#888a85\"/>\n",
                width, height, width, width, height);
    if (several)
        fine = peers->exchange(s->host, path->text, path->length, write_rank, &file) == BP_OK;
    else
        write_rank(&file, 0, path->text, path->length);
    if (file.out != NULL) {
        fputs("</svg>\n", file.out);
        fine = ferror(file.out) == 0 && fine;
        fine = fclose(file.out) == 0 && fine;
    }
    if (writes && (file.out == NULL || !fine))
        s->api->error->log(s->plugin, BP_LOG_ERROR, "the picture cannot be written whole");
}

void gas_draw(bp_system_t *s)
{
    const bp_value_t *option = s->plugin->options;
    path_t path = {.system = s};
    if (option[GAS_SVG].string[0] == '\0')
        return;
    double longest = option[GAS_BOX].dvec3.x > option[GAS_BOX].dvec3.y ? option[GAS_BOX].dvec3.x
                                                                       : option[GAS_BOX].dvec3.y;
    double scale = longest > 0 ? (double)PIXELS / longest : 1;
    draw_own(&path, scale);
    path.length = path.failed ? 0 : path.length;
    write_file(s, &path, scale);
    s->api->memory->resize(s->plugin, path.text, path.room, 0);
}
