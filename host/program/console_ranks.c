/* console_ranks.c - one console for several ranks.
 *
 * Rank 0 reads lines. Each line goes to all ranks, which do it at the same time, between the same two steps; what they
 * print is gathered and printed by rank 0: once where all say the same, else rank by rank. A line fails where it fails
 * on all ranks: `set main/anna.body.mass 2` is done on the rank that has anna, and fails on the others, which have no
 * entity of that name.
 *
 * Some lines are not for all ranks. Commands that make entities are done on rank 0 alone, since each rank would make
 * them once more; the next step of a split world deals them out. A handle, #index:generation, means an entity of one
 * rank, so a line with one has to name the rank: `rank 2 get main/#5:1.body`. Commands that only a single process can
 * do are refused.
 *
 * While rank 0 waits for a line all ranks wait, and no rank polls its host, since a new file of a plugin is taken in by
 * all ranks together: they poll once after each line.
 */
#include "console.h"

#include "../os/os.h"
#include "output.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPLAINTS = 4096, ON_ALL = -1 };

/* --- which ranks do a line ---------------------------------------------------------------------------------------- */

typedef enum whose_t { OF_ALL, OF_RANK_0, OF_NO_RANK } whose_t;

static const struct {
    const char *command;
    whose_t whose;
    const char *why;
    bool (*other)(const char *rest); /* with which rest of its line the command does what is for all ranks; or NULL */
} special[] = {
    {"spawn", OF_RANK_0, "", NULL},
    {"create", OF_RANK_0, "", NULL},
    {"load", OF_NO_RANK, "each rank has a part of the world only; begin with the scene in the ini",
     console_names_plugin},
    {"save", OF_NO_RANK, "each rank has a part of the world only; --record writes all of it", NULL},
    {"when", OF_NO_RANK, "each rank has a past of its own; play what one has recorded: backplane replay", NULL},
    {"bisect", OF_NO_RANK, "each rank has a past of its own; play what one has recorded: backplane replay", NULL},
    {"try", OF_NO_RANK, "a clone cannot talk to the other ranks", NULL},
    {"keep", OF_NO_RANK, "a clone cannot talk to the other ranks", NULL},
};

static bool begins_with(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && (line[length] == '\0' || isspace((unsigned char)line[length]));
}

/* `rank N COMMAND`: the line becomes the command. ON_ALL where it does not begin so. */
static int named_rank(char **line)
{
    char *at = *line + strspn(*line, " \t"), *end;
    if (!begins_with(at, "rank"))
        return ON_ALL;
    unsigned long rank = strtoul(at + strlen("rank"), &end, 10);
    *line = end;
    return rank < INT32_MAX ? (int)rank : INT32_MAX;
}

/* Those of all ranks alone; the others may be of one. */
static bool is_common(const char *line)
{
    static const char *const common[] = {"step", "reload", "back", "forward", "goto", "branch", "report", "quit"};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (begins_with(line, common[i]))
            return true;
    return false;
}

/* Does the line name an entity as #index:generation? A colour, #ff8000, is none. */
static bool has_handle(const char *line)
{
    for (const char *at = line; (at = strchr(at, '#')) != NULL; at++) {
        size_t digits = strspn(at + 1, "0123456789");
        if (digits > 0 && at[1 + digits] == ':')
            return true;
    }
    return false;
}

/* Write the reason why the line cannot be done to `why`, or "", and the rank that does it to `rank`. The result is the
 * same on all ranks. */
static void judge(const console_t *console, const char *line, int *rank, char why[256])
{
    uint32_t ranks = console->program->ranks;
    const char *at = line + strspn(line, " \t");
    why[0] = '\0';
    if (*rank != ON_ALL && (uint32_t)*rank >= ranks)
        snprintf(why, 256, "there is no rank %d; there are 0 to %" PRIu32, *rank, ranks - 1);
    else if (*rank != ON_ALL && is_common(at))
        snprintf(why, 256, "'%.40s' is done by all ranks or by none", at);
    for (size_t i = 0; i < sizeof special / sizeof special[0] && why[0] == '\0'; i++) {
        if (!begins_with(at, special[i].command) ||
            (special[i].other != NULL && special[i].other(at + strlen(special[i].command))))
            continue;
        if (special[i].whose == OF_NO_RANK)
            snprintf(why, 256, "%s: not on several ranks: %s", special[i].command, special[i].why);
        *rank = *rank == ON_ALL ? 0 : *rank;
    }
    if (why[0] == '\0' && *rank == ON_ALL && *at != '#' && has_handle(at))
        snprintf(why, 256, "a handle means another entity on each rank; say whose: rank 0 %.120s", at);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

/* What one rank has to say of a line: how it went, then two texts, each with its closing zero. */
typedef struct answer_t {
    char *bytes;
    size_t size;
} answer_t;

enum { DONE = 'd', FAILED = 'f', PASSED_OVER = 'p' };

typedef struct answers_t {
    answer_t *all;
    uint32_t count;
    bool failed; /* to be gathered */
} answers_t;

static void BP_CALL take_answer(void *data, uint32_t rank, const void *bytes, size_t size)
{
    answers_t *answers = data;
    answer_t *answer = &answers->all[rank];
    answer->bytes = malloc(size + 2);
    answer->size = size;
    answers->failed = answers->failed || answer->bytes == NULL;
    if (answer->bytes == NULL)
        return;
    if (size > 0)
        memcpy(answer->bytes, bytes, size);
    answer->bytes[size] = answer->bytes[size + 1] = '\0';
}

static const char *text_of(const answer_t *answer)
{
    return answer->size > 0 ? answer->bytes + 1 : "";
}

static const char *complaint_of(const answer_t *answer)
{
    return text_of(answer) + (answer->size > 0 ? strlen(text_of(answer)) + 1 : 0);
}

static const char *whose(uint32_t rank)
{
    static char text[32];
    snprintf(text, sizeof text, "rank %" PRIu32 ": ", rank);
    return text;
}

/* Print what the ranks that count say: those that have done the line, or all where none has. */
static bool print_answers(const answers_t *answers)
{
    const answer_t *first = NULL;
    bool done = false, same = true;
    for (uint32_t r = 0; r < answers->count; r++)
        done = done || answers->all[r].bytes[0] == DONE;
    for (uint32_t r = 0; r < answers->count; r++) {
        const answer_t *a = &answers->all[r];
        if (a->bytes[0] != (done ? DONE : FAILED))
            continue;
        same = same && (first == NULL || (strcmp(text_of(a), text_of(first)) == 0 &&
                                          strcmp(complaint_of(a), complaint_of(first)) == 0));
        first = first == NULL ? a : first;
    }
    for (uint32_t r = 0; r < answers->count; r++) {
        const answer_t *a = &answers->all[r];
        if (a->bytes[0] != (done ? DONE : FAILED) || (same && a != first))
            continue;
        if (!same && text_of(a)[0] != '\0')
            printf("rank %" PRIu32 ":\n", r);
        fputs(text_of(a), stdout);
        fflush(stdout);
        if (complaint_of(a)[0] != '\0')
            fprintf(stderr, "%s%s", same ? "" : whose(r), complaint_of(a));
    }
    return done || first == NULL;
}

/* --- a line ------------------------------------------------------------------------------------------------------- */

/* All that was written to the file. NULL when out of memory. */
static char *read_back(FILE *file, size_t *size)
{
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    *size = end > 0 ? (size_t)end : 0;
    char *text = malloc(*size + 1);
    rewind(file);
    if (text != NULL)
        *size = fread(text, 1, *size, file);
    return text;
}

/* Do the line here, with what it prints led to a file. Returns the answer's bytes, NULL when out of memory. */
static char *do_here(console_t *console, char *line, bool mine, size_t *size)
{
    static char complaints[COMPLAINTS];
    FILE *file = mine ? tmpfile() : NULL;
    int saved = file != NULL ? os_output_lead(file) : -1;
    char how = PASSED_OVER, *text = NULL;
    size_t length = 0;
    complaints[0] = '\0';
    output_hold(complaints, sizeof complaints);
    if (mine)
        how = console_do(console, line) ? DONE : FAILED;
    output_hold(NULL, 0);
    if (saved >= 0)
        os_output_lead_back(saved);
    if (file != NULL) {
        text = read_back(file, &length);
        fclose(file);
    }
    size_t behind = strlen(complaints) + 1;
    char *answer = malloc(1 + length + 1 + behind);
    if (answer != NULL) {
        answer[0] = how;
        if (text != NULL)
            memcpy(answer + 1, text, length);
        answer[1 + length] = '\0';
        memcpy(answer + 2 + length, complaints, behind);
        *size = 2 + length + behind;
    }
    free(text);
    return answer;
}

static bool gather(console_t *console, const char *mine, size_t size)
{
    const program_t *program = console->program;
    answers_t answers = {.count = program->ranks};
    answers.all = calloc(program->ranks, sizeof *answers.all);
    bool fine = answers.all != NULL && mine != NULL &&
                bp_host_exchange(program->host, mine, size, take_answer, &answers) == BP_OK && !answers.failed;
    if (!fine) {
        console->over = console->broken = true; /* the other ranks wait for this one, and end with it */
        complain("what the ranks answer cannot be gathered");
    } else if (program->rank == 0) {
        fine = print_answers(&answers);
    } else {
        for (uint32_t r = 0; r < answers.count; r++)
            fine = fine && answers.all[r].bytes[0] != FAILED;
    }
    for (uint32_t r = 0; r < answers.count && answers.all != NULL; r++)
        free(answers.all[r].bytes);
    free(answers.all);
    return fine;
}

/* A change in the past begins another future on the rank that makes it, so all ranks begin one. */
static void branch_off(const console_t *console)
{
    bp_history_t history = console_read_history(console);
    if (history.budget > 0 && history.now < history.last)
        (void)bp_host_branch_off(console->program->host);
}

static bool do_line(console_t *console, char *line)
{
    int rank = named_rank(&line);
    size_t size = 0;
    char why[256];
    judge(console, line, &rank, why);
    if (why[0] != '\0') /* told once */
        return console->program->rank == 0 ? console_refuse(console, "%s", why) : false;
    if (console_changes(line))
        branch_off(console);
    bool mine = rank == ON_ALL || (uint32_t)rank == console->program->rank;
    char *answer = do_here(console, line, mine, &size);
    bool fine = gather(console, answer, size);
    free(answer);
    if (!console->over && bp_host_poll(console->program->host) != BP_OK)
        return console_refuse(console, "%s", bp_host_error(console->program->host));
    return fine;
}

/* --- from rank 0 to all ------------------------------------------------------------------------------------------- */

typedef struct heard_t {
    char *line; /* NULL: the console is over */
} heard_t;

static void BP_CALL hear(void *data, uint32_t rank, const void *bytes, size_t size)
{
    heard_t *heard = data;
    if (rank != 0 || size == 0)
        return;
    heard->line = malloc(size + 1);
    if (heard->line == NULL)
        return;
    memcpy(heard->line, bytes, size);
    heard->line[size] = '\0';
}

bool console_ranks_do(console_t *console, const char *line)
{
    heard_t heard = {NULL};
    bool fine = bp_host_exchange(console->program->host, line, strlen(line) + 1, hear, &heard) == BP_OK &&
                heard.line != NULL;
    if (!fine) {
        console->over = console->broken = true;
        return console_refuse(console, "the other ranks cannot be told of the line");
    }
    fine = do_line(console, heard.line);
    free(heard.line);
    return fine;
}

void console_ranks_end(console_t *console)
{
    heard_t heard = {NULL};
    if (!console->over)
        (void)bp_host_exchange(console->program->host, NULL, 0, hear, &heard);
}

bool console_ranks_follow(console_t *console)
{
    while (!console->over) {
        heard_t heard = {NULL};
        console->line++;
        if (bp_host_exchange(console->program->host, NULL, 0, hear, &heard) != BP_OK)
            return console_refuse(console, "rank 0 is not heard any more");
        if (heard.line == NULL)
            break;
        (void)do_line(console, heard.line); /* rank 0 prints the result */
        free(heard.line);
    }
    return !console->broken;
}

/* --- agreeing ----------------------------------------------------------------------------------------------------- */

static void BP_CALL count_those(void *data, uint32_t rank, const void *bytes, size_t size)
{
    (void)rank;
    if (size == 1)
        *(uint32_t *)data += *(const unsigned char *)bytes;
}

bool console_all_can(console_t *console, bool mine)
{
    const program_t *program = console->program;
    unsigned char can = mine;
    uint32_t count = 0;
    if (program->ranks == 1)
        return mine;
    return bp_host_exchange(program->host, &can, 1, count_those, &count) == BP_OK && count == program->ranks;
}
