/* test_crash_matrix.c - what becomes of the host for each way in which a new version may end (the faults) in each of
 * its verbs, and while its library is opened and closed (the phases); with a trial, and under the guard alone.
 *
 * The plugin is tests/fixtures/crasher.h. Each cell is a process of its own, which brings the version in, uses every
 * verb of it, brings in another one and unloads it, and then says how that went:
 *
 *   r  refused: the host is as it was before, to the last value, and the old version goes on
 *   b  came in, and the version before came back on probation; the host goes on with that
 *   s  came in, and was set aside; the host goes on without it
 *   t  told in the log, and nothing is lost: the version was on its way out
 *   .  nothing went wrong, and nothing was told
 *   -  there is no such cell: nothing of the host can be called from there
 *   E  the host has ended
 *
 * What has gone wrong in another way (a trace of what was refused, a host that does not step any more, one that
 * hangs, words on its standard error that no fault has asked for) fails the test by itself.
 *
 * tests/reload/crash_matrix.txt has the outcome of each cell, docs/hot_reload.md what follows from it for people. Two
 * faults in every phase and every fault in two phases are tried each time; CRASH_MATRIX=write (`make crash-matrix`)
 * tries all and writes both files anew.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "reload_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALL_LIMIT_MS = 500, DEADLINE_MS = 60000, HANGS_AFTER_S = 120, PROBATION = 20 };

#define CELLS_FILE "tests/reload/crash_matrix.txt"
#define PAGE_FILE "docs/hot_reload.md"
#define PAGE_BEGIN "<!-- crash matrix: written by make crash-matrix -->\n"
#define PAGE_END "<!-- end of the crash matrix -->\n"

typedef struct fault_t {
    const char *how;   /* to the plugin */
    const char *title; /* in the page */
    bool often;        /* tried in every phase each time; else in two */
} fault_t;

static const fault_t faults[] = {
    {"null", "null pointer", true},         {"wild", "wild pointer", false},
    {"zero", "division by zero", false},    {"stack", "stack runs out", false},
    {"illegal", "illegal instruction", false}, {"abort", "`abort`", false},
    {"raise", "`raise(SIGSEGV)`", false},   {"call", "call of null", false},
    {"jump", "jump to nowhere", false},     {"library", "crash in the C library", false},
    {"trap", "`SIGTRAP`", false},           {"forbidden", "`SIGSYS`", false},
    {"pipe", "`SIGPIPE`", false},           {"thread", "`pthread_exit`", false},
    {"twice", "block freed twice", false},  {"loop", "loop without end", false},
    {"sleep", "sleeps for ever", false},    {"exit", "`exit`", true},
    {"xcpu", "`SIGXCPU`", false},           {"kill", "`SIGKILL`", false},
    {"blocked", "crash with its signal blocked", false}, {"host", "crash in the host's code", false},
};

typedef struct phase_t {
    const char *where, *title;
    bool often; /* tried with every fault each time; else with two */
} phase_t;

static const phase_t phases[] = {
    {"constructor", "constructor", false},     {"load", "`load`", true},
    {"plain_start", "component's `start`", false}, {"system_start", "system's `start`", false},
    {"create", "`create`", false},             {"get", "`get`", false},
    {"set", "`set`", false},                   {"destroy", "`destroy`", false},
    {"rows_added", "`rows_added`", false},     {"rows_set", "`rows_set`", false},
    {"rows_removed", "`rows_removed`", false}, {"count", "`count`", false},
    {"save", "`save`", false},
    {"load_saved", "`load` of what was saved", false}, {"simulate", "`simulate`", true},
    {"second_step", "`simulate` in a later step", false}, {"run_all", "`run_all`", false},
    {"added", "`entities_added`", false},      {"removed", "`entities_removed`", false},
    {"died", "`died`", false},                 {"report", "`report`", false},
    {"plain_stop", "component's `stop`", false}, {"own_stop", "`stop` of own storage", false},
    {"unload", "`unload`", false},             {"destructor", "destructor", false},
};

enum { FAULTS = COUNT(faults), PHASES = COUNT(phases) };

/* --- one cell, in its own process --------------------------------------------------------------------------------- */

static const char *const names[] = {"crasher"};
static log_text_t log_text;
static bp_host_o *host;
static bp_world_o *world;
static bp_entity_t plain[8], listed[8], own[8];

/* What went wrong otherwise ends the cell with this. */
static void wrong(const char *what)
{
    printf("!%s\n%s\n%s\n", what, bp_host_error(host), log_text.text);
    fflush(stdout);
    _exit(0);
}

static void must(bp_result_t result, const char *what)
{
    if (result != BP_OK)
        wrong(what);
}

static void steps(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        must(bp_host_step(host), "the host does not step any more");
}

static void make(const char *type, bp_entity_t *entities, uint32_t count)
{
    const bp_api_t *api = bp_host_api(host);
    uint32_t key = key_of(world, type, "");
    must(api->entity->create(host, entities, count), "entities cannot be created");
    api->world->add(world, key, entities, count); /* a crash of `create` is a refusal */
}

static void open_host(uint32_t flags, bool late)
{
    unsetenv("CRASHER_WHERE");
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text),
                                            .tag = 1,
                                            .flags = BP_HOST_CRASH_GUARD | BP_HOST_COPY_PLUGINS | flags,
                                            .call_limit = late ? CALL_LIMIT_MS : 0,
                                            .trial_deadline = DEADLINE_MS,
                                            .probation = PROBATION});
    must(bp_host_load_plugin(host, put_plugin("crasher", "matrix"), NULL, 0), "loading");
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    must(bp_world_use_component(world, "crash_plain"), "crash_plain");
    must(bp_world_use_component(world, "crash_told"), "crash_told");
    must(bp_world_use_component(world, "crash_own"), "crash_own");
    must(bp_world_use_system(world, "crash_system"), "crash_system");
    make("crash_plain", plain, 4);
    make("crash_told", listed, 4);
    make("crash_own", own, 4);
    steps(3);
}

static float x_of(bp_entity_t entity)
{
    float x = -1;
    bp_host_api(host)->property->get_named(world, entity, "crash_plain", "x", BP_F32, &x);
    return x;
}

static bool is_told(const char *part)
{
    return strstr(log_text.text, part) != NULL;
}

static void ignore_value(void *context, const char *world_name, const char *unit, const char *name, const char *value)
{
    (void)context, (void)world_name, (void)unit, (void)name, (void)value;
}

/* Every verb of the version at work is called, unless it is set aside meanwhile. */
static void use_every_verb(void)
{
    const bp_api_t *api = bp_host_api(host);
    uint32_t plain_key = key_of(world, "crash_plain", "");
    float x = 3;
    bp_host_report(host, &(bp_report_sink_i){.value = ignore_value});
    steps(2);
    if (api->property->get_named(world, own[0], "crash_own", "x", BP_F32, &x) == BP_OK)
        api->property->set_named(world, own[0], "crash_own", "x", BP_F32, &x);
    steps(1);
    api->property->set_named(world, listed[0], "crash_told", "x", BP_F32, &x);
    steps(1);
    make("crash_told", listed + 4, 4);
    steps(1);
    make("crash_own", own + 4, 4);
    make("crash_plain", plain + 4, 4);
    steps(1);
    world_count(&world->rows, world_component(&world->rows, "crash_own"));
    steps(1);
    api->world->remove(world, plain_key, plain + 4, 2);
    steps(1);
    api->entity->destroy(host, listed + 4, 4);
    steps(1);
    api->entity->destroy(host, plain + 6, 2);
    api->entity->destroy(host, own + 4, 4);
    steps(1);
}

static char judge(void)
{
    if (is_told("the version before is back"))
        return 'b';
    if (is_told("is set aside"))
        return 's';
    return is_told(" crashed ") || is_told(" has changed in ") ? 't' : '.';
}

static void expect_at_work(float each)
{
    float x = x_of(plain[0]);
    steps(2);
    if (x_of(plain[0]) != x + 2 * each)
        wrong("the version at work does not work");
    check_host(host);
}

/* The version before is back, or the plugin is set aside. */
static bool has_come_to_an_end(void)
{
    char outcome = judge();
    if (outcome == 'b')
        expect_at_work(1);
    else if (outcome == 's')
        steps(2);
    return outcome == 'b' || outcome == 's';
}

static char go_through(const fault_t *fault, const phase_t *phase, bool trial)
{
    /* Only where a call is late for certain: on a machine with much to do any other might be. */
    bool late = strcmp(fault->how, "loop") == 0 || strcmp(fault->how, "sleep") == 0;
    open_host(trial ? BP_HOST_TRIAL : 0, late);
    char *before = describe_host(host);
    setenv("CRASHER_WHERE", phase->where, 1);
    setenv("CRASHER_HOW", fault->how, 1);
    put_plugin("crasher_next", "matrix");
    bp_result_t result = bp_host_reload(host, names, 1, NULL);
    if (result != BP_OK) {
        char *after = describe_host(host);
        if (strcmp(before, after) != 0)
            wrong("it was refused, and has left a trace");
        expect_at_work(1);
        return 'r';
    }
    use_every_verb();
    if (has_come_to_an_end())
        return judge();
    put_plugin("crasher_next", "matrix");
    result = bp_host_reload(host, names, 1, NULL); /* by `save` and `load`, from this version to itself */
    steps(1);
    if (has_come_to_an_end())
        return judge();
    if (result != BP_OK) {
        expect_at_work(100);
        return 'r';
    }
    steps(PROBATION);
    put_plugin("crasher", "matrix");
    must(bp_host_reload(host, names, 1, NULL), "the first version does not come in again");
    steps(PROBATION);
    expect_at_work(1);
    bp_host_destroy(host);
    return judge();
}

/* --- all cells ---------------------------------------------------------------------------------------------------- */

/* What the process has written to its standard error must have been asked for: a block freed twice is told there by the
 * C library. Words of another kind come from a fault that is none of the plugin's. */
static void expect_words_asked_for(FILE *words, const fault_t *fault, const phase_t *phase, bool trial)
{
    char line[256];
    rewind(words);
    while (fgets(line, sizeof line, words) != NULL)
        EXPECT(strcmp(fault->how, "twice") == 0 && strncmp(line, "free(): double free", 19) == 0,
               "%s in %s, %s trial, wrote to its standard error: %s", fault->how, phase->where,
               trial ? "with a" : "without a", line);
    fclose(words);
}

/* The outcome of a cell's process, which writes it to the pipe. */
static char try_cell(const fault_t *fault, const phase_t *phase, bool trial)
{
    char said[4096];
    int ends[2], status;
    size_t length = 0;
    if (strcmp(fault->how, "host") == 0 && strstr(phase->where, "structor") != NULL)
        return '-';
    FILE *words = tmpfile();
    ck_assert_ptr_nonnull(words);
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(ends[0]);
        dup2(ends[1], 1);
        dup2(fileno(words), 2);
        alarm(HANGS_AFTER_S);
        char outcome = go_through(fault, phase, trial);
        if (write(ends[1], &outcome, 1) != 1)
            _exit(1);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; length < sizeof said - 1 && (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    EXPECT(!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM, "%s in %s, %s trial: the host hangs", fault->how,
           phase->where, trial ? "with a" : "without a");
    EXPECT(said[0] != '!', "%s in %s, %s trial: %s", fault->how, phase->where, trial ? "with a" : "without a",
           said + 1);
    expect_words_asked_for(words, fault, phase, trial);
    return length == 1 ? said[0] : 'E';
}

/* --- the tables --------------------------------------------------------------------------------------------------- */

typedef char cells_t[2][PHASES][FAULTS + 1]; /* with a trial, without; outcomes as letters */

static const char *const roads[] = {"with a trial", "without"};

static void write_cells(FILE *file, cells_t cells)
{
    fprintf(file, "# What test_crash_matrix.c has found: one letter for each of");
    for (uint32_t f = 0; f < FAULTS; f++)
        fprintf(file, " %s", faults[f].how);
    fprintf(file, "\n");
    for (uint32_t t = 0; t < 2; t++) {
        fprintf(file, "\n%s\n", roads[t]);
        for (uint32_t p = 0; p < PHASES; p++)
            fprintf(file, "%-14s%s\n", phases[p].where, cells[t][p]);
    }
}

/* Which phases of a fault come to an outcome, for people. */
static void write_phases(FILE *file, cells_t cells, uint32_t trial, uint32_t fault, char outcome)
{
    bool everywhere = true;
    for (uint32_t p = 0; p < PHASES; p++)
        everywhere = everywhere && (cells[trial][p][fault] == outcome || cells[trial][p][fault] == '-');
    fprintf(file, everywhere ? " | everywhere" : " |");
    for (uint32_t p = 0, n = 0; p < PHASES && !everywhere; p++) {
        if (cells[trial][p][fault] == outcome)
            fprintf(file, "%s%s", n++ > 0 ? ", " : " ", phases[p].title);
    }
}

static bool is_like(cells_t cells, uint32_t trial, uint32_t fault, uint32_t other)
{
    bool same = true;
    for (uint32_t p = 0; p < PHASES; p++) {
        char a = cells[trial][p][fault], b = cells[trial][p][other];
        same = same && (a == b || a == '-' || b == '-');
    }
    return same;
}

/* Faults that come to the same in every phase share a line. */
static void write_page(FILE *file, cells_t cells)
{
    static const char outcomes[] = "rbtE";
    for (uint32_t t = 0; t < 2; t++) {
        bool done[FAULTS] = {false};
        fprintf(file, "%s\n\n", t == 0 ? "With a trial:" : "\nUnder the guard alone:");
        fprintf(file, "| what it does | refused | comes in; the version before is back | told | the host ends |\n"
                      "| --- | --- | --- | --- | --- |\n");
        for (uint32_t f = 0; f < FAULTS; f++) {
            uint32_t n = 0;
            for (uint32_t g = f; g < FAULTS && !done[f]; g++) {
                if (!is_like(cells, t, f, g))
                    continue;
                fprintf(file, "%s%s", n++ > 0 ? ", " : "| ", faults[g].title);
                done[g] = g != f;
            }
            for (uint32_t o = 0; o < sizeof outcomes - 1 && !done[f]; o++)
                write_phases(file, cells, t, f, outcomes[o]);
            fprintf(file, "%s", done[f] ? "" : " |\n");
        }
    }
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    EXPECT(file != NULL, "%s is not there: the test runs in the root of the tree", path);
    char *text = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

static void write_text(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    EXPECT(file != NULL, "%s cannot be written", path);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static char *text_of(void (*write_it)(FILE *file, cells_t cells), cells_t cells)
{
    size_t size;
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    write_it(file, cells);
    return take_text(file, &size);
}

static void read_cells(cells_t cells)
{
    char *text = read_text(CELLS_FILE);
    for (uint32_t t = 0; t < 2; t++) {
        char line[64];
        snprintf(line, sizeof line, "\n%s\n", roads[t]);
        const char *at = strstr(text, line);
        EXPECT(at != NULL, "%s has no part '%s'", CELLS_FILE, roads[t]);
        at += strlen(line);
        for (uint32_t p = 0; p < PHASES; p++, at = strchr(at, '\n') + 1) {
            EXPECT(sscanf(at, "%63s %63s", line, cells[t][p]) == 2 && strcmp(line, phases[p].where) == 0 &&
                       strlen(cells[t][p]) == FAULTS,
                   "%s: %s: no line of %s with %u letters", CELLS_FILE, roads[t], phases[p].where, (unsigned)FAULTS);
        }
    }
    free(text);
}

/* Where the table stands in the page, which must be freed. */
static char *find_table(char **begin, char **end)
{
    char *page = read_text(PAGE_FILE);
    *begin = strstr(page, PAGE_BEGIN);
    *end = strstr(page, PAGE_END);
    EXPECT(*begin != NULL && *end != NULL, "%s has no place for the table", PAGE_FILE);
    *begin += strlen(PAGE_BEGIN);
    return page;
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

static void write_all(void)
{
    static cells_t cells;
    char *begin, *end;
    for (uint32_t i = 0; i < 2 * PHASES * FAULTS; i++) {
        uint32_t trial = i / (PHASES * FAULTS), p = i / FAULTS % PHASES, f = i % FAULTS;
        cells[trial][p][f] = try_cell(&faults[f], &phases[p], trial == 0);
    }
    char *text = text_of(write_cells, cells);
    write_text(CELLS_FILE, text, strlen(text));
    free(text);
    char *table = text_of(write_page, cells), *page = find_table(&begin, &end), *whole = malloc(1 << 21);
    ck_assert_ptr_nonnull(whole);
    int length = snprintf(whole, 1 << 21, "%.*s%s%s", (int)(begin - page), page, table, end);
    write_text(PAGE_FILE, whole, (size_t)length);
    free(whole);
    free(page);
    free(table);
}

START_TEST(each_cell_comes_to_what_the_table_says)
{
    cells_t cells;
    const char *asked = getenv("CRASH_MATRIX");
    if (_i == 0 && asked != NULL && strcmp(asked, "write") == 0)
        write_all();
    read_cells(cells);
    for (uint32_t i = 0; i < PHASES * FAULTS; i++) {
        const phase_t *phase = &phases[i / FAULTS];
        const fault_t *fault = &faults[i % FAULTS];
        if (!phase->often && !fault->often)
            continue;
        char found = try_cell(fault, phase, _i == 0), told = cells[_i][i / FAULTS][i % FAULTS];
        EXPECT(found == told, "%s in %s, %s: the outcome is '%c', and '%c' in " CELLS_FILE, fault->how, phase->where,
               roads[_i], found, told);
    }
}
END_TEST

START_TEST(the_page_says_what_the_table_says)
{
    cells_t cells;
    char *begin, *end;
    read_cells(cells);
    char *page = find_table(&begin, &end), *table = text_of(write_page, cells);
    *end = '\0';
    EXPECT(strcmp(begin, table) == 0, "in %s stands\n%s\nand it should be\n%s", PAGE_FILE, begin, table);
    free(page);
    free(table);
}
END_TEST

/* With a trial nothing but a refusal comes of a fault; under the guard alone the host ends by what the page lists. */
START_TEST(no_cell_is_worse_than_is_promised)
{
    cells_t cells;
    read_cells(cells);
    for (uint32_t i = 0; i < PHASES * FAULTS; i++) {
        const char *how = faults[i % FAULTS].how;
        bool ends = strcmp(how, "exit") == 0 || strcmp(how, "xcpu") == 0 || strcmp(how, "kill") == 0 ||
                    strcmp(how, "blocked") == 0 || strcmp(how, "host") == 0;
        EXPECT(strchr("r-", cells[0][i / FAULTS][i % FAULTS]) != NULL, "%s in %s on trial", how,
               phases[i / FAULTS].where);
        EXPECT(strchr(ends ? "rtE-" : "rbt", cells[1][i / FAULTS][i % FAULTS]) != NULL, "%s in %s without a trial", how,
               phases[i / FAULTS].where);
    }
}
END_TEST

Suite *crash_matrix_suite(void)
{
    Suite *suite = suite_create("crash_matrix");
    TCase *matrix = tcase_create("matrix");
    tcase_set_timeout(matrix, 1800);
    tcase_add_loop_test(matrix, each_cell_comes_to_what_the_table_says, 0, 2);
    tcase_add_test(matrix, the_page_says_what_the_table_says);
    tcase_add_test(matrix, no_cell_is_worse_than_is_promised);
    suite_add_tcase(suite, matrix);
    return suite;
}
