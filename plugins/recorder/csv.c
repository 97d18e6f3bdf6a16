/* csv.c - one row for each sample, one column for each part of each source.
 *
 *     time (d),main/earth.body.position.x (au),main/earth.body.position.y (au),...
 *     0.25,-0.1771,0.8874,...
 *
 * Rows go to the file as they come, so memory does not grow with the run. Which columns there are is settled
 * with the first row; a source without a value leaves its cells empty. f32 is written with nine digits and
 * f64 with seventeen, which give the same number back when read.
 */
#include "recorder.h"

#include <string.h>

bp_result_t recorder_csv_start(recorder_state *r)
{
    char message[RECORDER_MESSAGE];
    const char *target = recorder_text(r, RECORDER_CSV);
    if (target[0] == 0)
        return BP_OK;
    r->csv.file = recorder_open(target, message);
    return r->csv.file != NULL ? BP_OK : r->system->api->error->set(r->system->host, BP_ERROR_IO, message);
}

uint32_t recorder_csv_columns(const recorder_state *r)
{
    uint32_t columns = 1;
    for (uint32_t i = 0; i < r->count; i++)
        columns += r->sources[i].parts;
    return columns;
}

/* A cell of the header; quoted where its text would be taken for more than one. */
static void write_title(FILE *file, const char *text)
{
    int quoted = strpbrk(text, ",\"\n") != NULL;
    if (quoted)
        fputc('"', file);
    for (; *text != 0; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    if (quoted)
        fputc('"', file);
}

static void write_source_titles(FILE *file, const recorder_source *s)
{
    char title[1024];
    for (uint32_t part = 0; part < s->parts; part++) {
        const char *name = recorder_part(s->type, part);
        snprintf(title, sizeof title, "%s%s%s%s%s%s%s%s", s->path, s->reference != NULL ? "@" : "",
                 s->reference != NULL ? s->reference : "", name[0] != 0 ? "." : "", name,
                 s->unit[0] != 0 ? " (" : "", s->unit, s->unit[0] != 0 ? ")" : "");
        fputc(',', file);
        write_title(file, title);
    }
}

static void write_header(recorder_state *r)
{
    char title[64];
    const char *unit = recorder_text(r, RECORDER_TIME_UNIT);
    snprintf(title, sizeof title, unit[0] != 0 ? "time (%.32s)" : "time", unit);
    write_title(r->csv.file, title);
    for (uint32_t i = 0; i < r->count; i++)
        write_source_titles(r->csv.file, &r->sources[i]);
    fputc('\n', r->csv.file);
}

/* Digits that give the same number back: 9 for a float, 17 for a double; integers up to 2^53 need 16. */
static int digits_of(uint32_t type)
{
    return type == BP_F64 || type == BP_I64 ? 17 : type == BP_I32 || type == BP_U32 ? 10 : 9;
}

static void write_cells(FILE *file, const recorder_source *s)
{
    char number[48];
    for (uint32_t part = 0; part < s->parts; part++) {
        fputc(',', file);
        if (s->valid)
            fputs(recorder_number(number, sizeof number, s->values[part], digits_of(s->type)), file);
    }
}

void recorder_csv_row(recorder_state *r)
{
    char number[48], message[RECORDER_MESSAGE];
    FILE *file = r->csv.file;
    if (file == NULL)
        return;
    if (r->csv.rows == 0)
        write_header(r);
    fputs(recorder_number(number, sizeof number, r->time, 15), file);
    for (uint32_t i = 0; i < r->count; i++)
        write_cells(file, &r->sources[i]);
    fputc('\n', file);
    r->csv.rows++;
    if (!ferror(file))
        return;
    const char *target = recorder_text(r, RECORDER_CSV);
    snprintf(message, RECORDER_MESSAGE, "cannot write row %llu of '%.300s.part': is the disk full?",
             (unsigned long long)r->csv.rows, target);
    recorder_complain(r, message);
    recorder_discard(file, target);
    r->csv.file = NULL;
}

void recorder_csv_stop(recorder_state *r)
{
    char message[RECORDER_MESSAGE];
    if (r->csv.file == NULL)
        return;
    if (r->csv.rows == 0)
        recorder_discard(r->csv.file, recorder_text(r, RECORDER_CSV));
    else if (!recorder_keep(r->csv.file, recorder_text(r, RECORDER_CSV), message))
        recorder_complain(r, message);
    r->csv.file = NULL;
}
