/* command_console.c - `backplane console`: lines in, answers out.
 *
 * A command that fails does not end the console. From a pipe, though, nobody may be reading what stderr says,
 * so the exit status remembers it; at a prompt the user has seen it, and typing errors are no failure.
 * Answers are flushed line by line, for programs that talk to the console through two pipes.
 */
#include "console_commands.h"
#include "console_complete.h"
#include "messages.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>

/* Do lines until there are no more, or nobody takes the answers any longer. */
static bool do_lines(console_t *console, lines_t *lines)
{
    bool fine = true;
    while (!console->over) {
        char *line;
        line_end_t end = lines_next(lines, &line);
        if (end == LINES_OVER)
            break;
        console->line++;
        if (end == LINE_READ)
            fine &= console_do(console, line);
        else if (end == LINE_TOO_LONG)
            fine = console_refuse(console, "the line is longer than %d bytes", LINE_BYTES_MAX);
        else
            return console_refuse(console, "the commands cannot be read");
        if (fflush(stdout) != 0)
            break; /* main finds out and says so */
    }
    return fine;
}

static int talk(program_t *program)
{
    console_t console = {.program = program, .styled = terminal_styled()};
    line_completer_t completer = {&console, console_complete};
    lines_t *lines = lines_open(&completer);
    if (lines == NULL) {
        complain("out of memory while starting");
        return STATUS_FAILED;
    }
    console.interactive = lines_interactive(lines);
    if (console.interactive)
        puts("help lists the commands, quit ends the console");
    bool fine = do_lines(&console, lines);
    lines_close(lines);
    free(console.spawns);
    return fine || console.interactive ? STATUS_FINE : STATUS_FAILED;
}

int command_console(const arguments_t *arguments)
{
    program_t program;
    int status = program_open(&program, arguments->ini);
    if (status != STATUS_FINE)
        return status;
    return program_close(&program, talk(&program));
}
