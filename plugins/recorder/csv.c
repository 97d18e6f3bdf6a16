/* csv.c - one row for each sample, one column for each part of each source.
 *
 *     time (d),main/earth.body.position.x (au),main/earth.body.position.y (au),...
 *     0.25,-0.1771,0.8874,...
 *
 * Rows go to the file as they come, so memory does not grow with the run. The columns of the file are settled
 * with the first row; a source without a value leaves its cells empty. f32 is written with nine digits and
 * f64 with seventeen, which give the same number back when read.
 *
 * The file lives in the plugin's state and outlives the system's: a reload of the plugin goes on writing it, with the
 * columns that its header has, even where the new version would write other columns for the sources.
 */
#include "recorder.h"

#include <helpers/bp_file.h>
#include <helpers/bp_real.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bp_result_t refuse(const recorder_state *r, bp_result_t code, const char *message)
{
    return r->system->api->error->set(r->system->host, code, message);
}

/* Take the file over from the version of the plugin that is at work in this world. */
static bp_result_t take_over(recorder_state *r, recorder_csv *csv)
{
    char message[RECORDER_MESSAGE];
    if (csv->file != NULL && csv->sources != r->count) {
        snprintf(message, sizeof message,
                 "'%.300s' is being written with %u properties, and this version finds %u in its options",
                 recorder_text(r, RECORDER_CSV), (unsigned)csv->sources, (unsigned)r->count);
        return refuse(r, BP_ERROR_STATE, message);
    }
    if (csv->file != NULL && csv->rows > 0)
        recorder_settle_as(r, csv->types);
    csv->systems++;
    return BP_OK;
}

static void forget_types(const recorder_state *r, recorder_csv *csv)
{
    if (csv->types != NULL)
        recorder_resize(r, csv->types, csv->sources * sizeof *csv->types, 0);
    csv->types = NULL;
    csv->sources = 0;
}

bp_result_t recorder_csv_open(recorder_state *r)
{
    char message[RECORDER_MESSAGE];
    recorder_csv *csv = recorder_csv_of(r);
    const char *target = recorder_text(r, RECORDER_CSV);
    if (target[0] == 0 || csv->file != NULL)
        return BP_OK;
    csv->types = recorder_resize(r, NULL, 0, r->count * sizeof *csv->types);
    if (csv->types == NULL)
        return refuse(r, BP_ERROR_MEMORY, "out of memory");
    csv->sources = r->count;
    csv->file = recorder_open(target, message);
    if (csv->file != NULL)
        return BP_OK;
    forget_types(r, csv);
    return refuse(r, BP_ERROR_IO, message);
}

bp_result_t recorder_csv_start(recorder_state *r)
{
    recorder_csv *csv = recorder_csv_of(r);
    if (csv->systems > 0)
        return take_over(r, csv);
    bp_result_t result = r->writes ? recorder_csv_open(r) : BP_OK;
    if (result != BP_OK)
        return result;
    csv->world = r->system->world;
    csv->rows = 0;
    csv->systems = 1;
    return BP_OK;
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
    int quoted = strpbrk(text, ",\"\r\n") != NULL;
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
    recorder_csv *csv = recorder_csv_of(r);
    char named[64];
    const char *unit = recorder_time_unit(r, named, sizeof named);
    snprintf(title, sizeof title, unit[0] != 0 ? "time (%.32s)" : "time", unit);
    write_title(csv->file, title);
    for (uint32_t i = 0; i < r->count; i++) {
        write_source_titles(csv->file, &r->sources[i]);
        csv->types[i] = r->sources[i].type;
    }
    fputc('\n', csv->file);
}

/* Digits that give the same number back: 9 for a float, 17 for a double; integers up to 2^53 need 16. */
static int digits_of(uint32_t type)
{
    switch (type) {
    case BP_F64: case BP_I64: case BP_U64: case BP_DVEC2: case BP_DVEC3: case BP_DVEC4: return 17;
    case BP_I32: case BP_U32: return 10;
    default: return 9;
    }
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
    recorder_csv *csv = recorder_csv_of(r);
    FILE *file = csv->file;
    if (file == NULL)
        return;
    if (csv->rows == 0)
        write_header(r);
    fputs(recorder_number(number, sizeof number, r->time, 15), file);
    for (uint32_t i = 0; i < r->count; i++)
        write_cells(file, &r->sources[i]);
    fputc('\n', file);
    csv->rows++;
    if (!ferror(file))
        return;
    const char *target = recorder_text(r, RECORDER_CSV);
    snprintf(message, RECORDER_MESSAGE, "cannot write row %llu of '%.300s.part': is the disk full?",
             (unsigned long long)csv->rows, target);
    recorder_complain(r, message);
    recorder_discard(file, target);
    csv->file = NULL;
}

void recorder_csv_stop(recorder_state *r)
{
    char message[RECORDER_MESSAGE];
    recorder_csv *csv = recorder_csv_of(r);
    if (--csv->systems > 0)
        return; /* another version of the plugin goes on with the file */
    if (csv->file != NULL && csv->rows == 0)
        recorder_discard(csv->file, recorder_text(r, RECORDER_CSV));
    else if (csv->file != NULL && !recorder_keep(r, csv->file, recorder_text(r, RECORDER_CSV), message))
        recorder_complain(r, message);
    csv->file = NULL;
    csv->world = NULL;
    forget_types(r, csv);
}

/* --- going back ----------------------------------------------------------------------------------------- */

/* Copy the header and the rows of up to `time`; returns the number of rows, or -1 where copying failed. A row that is
 * longer than the buffer comes in pieces, of which the first has the time. */
static long long copy_rows(FILE *from, FILE *to, double time)
{
    char piece[4096];
    long long rows = -1;
    bool begins = true;
    while (fgets(piece, sizeof piece, from) != NULL) {
        if (begins && rows >= 0 && bp_real_read(piece, NULL) > time)
            break;
        if (fputs(piece, to) < 0)
            return -1;
        rows += begins;
        begins = strchr(piece, '\n') != NULL;
    }
    return ferror(from) || fflush(to) != 0 ? -1 : rows;
}

void recorder_csv_rewind(recorder_state *r, double time)
{
    char part[1024], shorter[1040], message[RECORDER_MESSAGE];
    recorder_csv *csv = recorder_csv_of(r);
    const char *target = recorder_text(r, RECORDER_CSV);
    if (csv->file == NULL || csv->rows == 0 || fflush(csv->file) != 0)
        return;
    snprintf(part, sizeof part, "%s.part", target);
    snprintf(shorter, sizeof shorter, "%s.back", part);
    FILE *from = bp_file_open(part, "rb"), *to = bp_file_open(shorter, "w+b");
    long long rows = from == NULL || to == NULL ? -1 : copy_rows(from, to, time);
    if (from != NULL)
        fclose(from);
    if (to != NULL)
        fclose(to);
    if (rows >= 0) {
        fclose(csv->file);
        bp_file_remove(part);
        /* without rows the next one begins with the header again */
        csv->file = bp_file_rename(shorter, part) == 0 ? bp_file_open(part, rows > 0 ? "ab" : "wb") : NULL;
        csv->rows = (uint64_t)rows;
    }
    if (rows >= 0 && csv->file != NULL)
        return;
    bp_file_remove(shorter);
    snprintf(message, sizeof message, "'%.300s' keeps the rows of a future that was left: it cannot be shortened",
        part);
    recorder_complain(r, message);
}
