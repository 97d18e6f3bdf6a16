/* program.c - the host behind every command.
 *
 * The log goes through here rather than to the library's own default, for two reasons: a line must not be
 * written into the middle of a progress bar, and the exit status has to know that an error was logged.
 * Log lines may come from job threads. They come only while a step runs, when the main thread draws
 * nothing; so taking the bar away needs no lock: whoever exchanges its width for 0 does it.
 */
#include "program.h"

#include "messages.h"

#include <stdio.h>
#include <string.h>

/* Line by line: a block keeps its form. What a compiler prints stands as it is, for editors that look for file and line. */
static void print_lines(int32_t level, const char *source, const char *text)
{
    bool first = true;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), text);
        if (!first || strcmp(source, "build") == 0)
            remark("%s", line);
        else
            complain("%s%s: %s", level == BP_LOG_WARNING ? "warning: " : "", source, line);
        text += length + (text[length] == '\n');
        first = false;
    }
}

static void write_log(void *context, int32_t level, const char *source, const char *text)
{
    program_t *program = context;
    if (level < (program->talking ? BP_LOG_INFO : BP_LOG_WARNING))
        return;
    if (level >= BP_LOG_ERROR)
        atomic_fetch_add(&program->errors, 1u);
    progress_erase(&program->progress);
    print_lines(level, source, text);
}

int program_create(program_t *program, const char *ini)
{
    *program = (program_t){.ini = ini};
    bp_host_desc_t desc = {.struct_size = sizeof desc, .log = {program, write_log}, .flags = BP_HOST_COPY_PLUGINS};
    program->host = bp_host_create(&desc);
    if (program->host == NULL) {
        complain("out of memory while starting");
        return STATUS_FAILED;
    }
    program->api = bp_host_api(program->host);
    return STATUS_FINE;
}

int program_open(program_t *program, const char *ini)
{
    int status = program_create(program, ini);
    if (status != STATUS_FINE)
        return status;
    bp_result_t result = bp_host_setup(program->host, ini);
    if (result == BP_OK)
        return STATUS_FINE;
    complain("%s", bp_host_error(program->host));
    bp_host_destroy(program->host);
    return result == BP_ERROR_MEMORY ? STATUS_FAILED : STATUS_BAD_INPUT;
}

int program_close(program_t *program, int status)
{
    bp_host_destroy(program->host);
    program->host = NULL;
    return status == STATUS_FINE && atomic_load(&program->errors) > 0 ? STATUS_FAILED : status;
}

int program_step(program_t *program, uint64_t count, bool bar)
{
    bp_result_t result = BP_OK;
    progress_begin(&program->progress, count, bar);
    for (uint64_t done = 0; done < count && result == BP_OK; done++) {
        progress_show(&program->progress, done);
        bp_host_poll(program->host);
        result = bp_host_step(program->host);
    }
    progress_erase(&program->progress);
    if (result == BP_OK)
        return STATUS_FINE;
    complain("%s", bp_host_error(program->host));
    return STATUS_FAILED;
}
