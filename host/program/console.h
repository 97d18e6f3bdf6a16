/* console.h - the console: its state, complaints and words, and the commands that console*.c bring.
 *
 * Not here: reading lines (console_lines.h).
 */
#ifndef HOST_PROGRAM_CONSOLE_H
#define HOST_PROGRAM_CONSOLE_H

#include "console_lines.h"
#include "output.h"
#include "program.h"

#include <stdbool.h>
#include <stdint.h>

enum { CONSOLE_WATCHED = 16 };

/* The result of the reload that a line waits for. */
typedef struct console_news_t {
    bool told;
    bp_result_t result;
    char *text; /* NULL where memory is lacking */
} console_news_t;

typedef struct console_t {
    program_t *program;
    uint64_t line;    /* number of the present line, from 1 */
    bool interactive;
    bool in_clone;        /* the console of a clone, in which a line is tried */
    bool styled;
    bool over;        /* quit was asked for */
    bool broken;      /* the other ranks cannot be reached */
    live_t *live;     /* the run that goes on between lines; NULL: none */
    console_news_t *news; /* of the reload that a line waits for; NULL: none does */
    bool hears;       /* reloads are told to this console */
    bp_spawn_t *spawns; /* what `spawn` brought, number 1 first; {0}: despawned */
    uint32_t spawn_count, spawn_room;
    char *tried;      /* the line that was tried last; NULL: none */
    char *watched[CONSOLE_WATCHED]; /* paths, in the order in which they were given */
    uint32_t watch_count;
} console_t;

/* --- complaints, and words that are cut off a line (console_words.c) ---------------------------------------------- */

/* Complain about the present line, with the line's number where the input is no terminal. Returns false. */
bool console_refuse(const console_t *console, const char *format, ...) PRINTS_LIKE(2, 3);

/* Complain as console_refuse does, for two frequent reasons: a quote that is not closed, and memory. */
bool console_refuse_unclosed(const console_t *console);
bool console_refuse_memory(const console_t *console);

/* The words of a line of the console.
 *
 * Words are separated by blanks. A word that begins with a double quote ends at the next one; in between,
 * \" and \\ stand for the quote and the backslash.
 *
 * Not here: variables, patterns, nesting.
 */

typedef enum words_end_t { WORDS_FOUND, WORDS_OVER, WORDS_UNCLOSED } words_end_t;

/* Cut the next word off *rest, in place, and move *rest behind the word. WORDS_UNCLOSED where the word's quote is not
 * closed, or something sticks to the closing quote. */
words_end_t console_words_next(char **rest, char **word);

/* All that is left as one value: the text of a quoted word where the rest is one, else everything up to the last
 * non-blank. */
words_end_t console_words_value(char *rest, char **value);

/* Cut up to `most` words off the rest; missing ones are NULL. Further words are refused. */
bool console_take_words(const console_t *console, char *rest, char **words, uint32_t most);

/* Check that nothing is left of the line, for commands that take no words. False, with a complaint, where something
 * is. */
bool console_takes_nothing(const console_t *console, char *rest);

/* --- commands ---------------------------------------------------------------------------------------------------- */

/* Doing a line, and the names of all commands.
 */

/* Do one line, which is cut into words in place. false where it failed, which has been complained about. */
bool console_do(console_t *console, char *line);

/* Does the line begin with a command that can be tried (console_try)? Complains where not. */
bool console_may_try(const console_t *console, const char *line);

/* Does the line begin with a command that changes something in the host? */
bool console_changes(const char *line);

/* The name of the `index`-th command, NULL past the last. */
const char *console_command_name(uint32_t index);

/* How it is written, and what it does: a line, and lines that begin with two blanks. NULL past the last. */
const char *console_command_usage(uint32_t index, const char **about);

/* --- several ranks ------------------------------------------------------------------------------------------------ */

/* One console for several ranks (console_ranks.c): on rank 0, do a line on all ranks, and tell them of the end; on the
 * others, do lines until the end. False where a line failed, which has been complained about. */
bool console_ranks_do(console_t *console, const char *line);
void console_ranks_end(console_t *console);
bool console_ranks_follow(console_t *console);

/* Can all ranks do what this rank can, or cannot? Asked by all of them at the same place of the same command. */
bool console_all_can(console_t *console, bool mine);

/* --- look -------------------------------------------------------------------------------------------------------- */

/* Commands that list what there is: plugins, worlds, entities, figures, trees (console_look.c).
 *
 * Each takes the rest of its line, and returns false where it failed, which has been complained about.
 */

bool console_plugins(console_t *console, char *rest);
bool console_worlds(console_t *console, char *rest);
bool console_entities(console_t *console, char *rest);
bool console_stats(console_t *console, char *rest);
bool console_report(console_t *console, char *rest);
bool console_tree(console_t *console, char *rest);

/* --- edit -------------------------------------------------------------------------------------------------------- */

/* Commands that make and take away: entities, their components, scenes, the entities of whole worlds
 * (console_edit.c).
 *
 * Each takes the rest of its line, and returns false where it failed, which has been complained about; then nothing has
 * changed.
 */

bool console_create(console_t *console, char *rest);
bool console_add(console_t *console, char *rest);
bool console_remove(console_t *console, char *rest);
bool console_spawn(console_t *console, char *rest);
bool console_despawn(console_t *console, char *rest);
bool console_save(console_t *console, char *rest);
bool console_load(console_t *console, char *rest);
bool console_destroy(console_t *console, char *rest);

/* Does `load` bring a plugin with this rest of its line? Its first word is a path then, as no world is called. */
bool console_names_plugin(const char *rest);

/* --- loading ----------------------------------------------------------------------------------------------------- */

/* Commands about plugins, and about what they bring (console_loading.c); as those of console_edit.c. */

bool console_load_plugin(console_t *console, char *rest);
bool console_unload_plugin(console_t *console, char *rest);
bool console_reload(console_t *console, char *rest);
bool console_use(console_t *console, char *rest);
bool console_drop(console_t *console, char *rest);

/* --- find, watch, when -------------------------------------------------------------------------------------------- */

/* Commands that look for values (console_find.c). */

bool console_find(console_t *console, char *rest);
bool console_when(console_t *console, char *rest);
bool console_bisect(console_t *console, char *rest);

bool console_watch(console_t *console, char *rest);
bool console_unwatch(console_t *console, char *rest);

/* How many of `steps` steps are taken between two printings of the watched paths: all of them where no path is
 * watched. */
uint64_t console_watch_stride(const console_t *console, uint64_t steps);
void console_show_watched(const console_t *console);

/* --- history ----------------------------------------------------------------------------------------------------- */

/* Commands that go back and forth in what the host remembers (console_history.c). */

bp_history_t console_read_history(const console_t *console);

/* Does the host remember anything? Complains where not. */
bool console_remembers(const console_t *console);

bool console_history(console_t *console, char *rest);
bool console_back(console_t *console, char *rest);
bool console_forward(console_t *console, char *rest);
bool console_goto(console_t *console, char *rest);
bool console_branch(console_t *console, char *rest);
bool console_branches(console_t *console, char *rest);
bool console_mark(console_t *console, char *rest);
bool console_try(console_t *console, char *rest);
bool console_keep(console_t *console, char *rest);

/* Drafts: run plugins' present files beside the host, from `back` on ("30" or "10s") where that is given, else for so
 * many steps; drop the draft; print its state after steps, where there is one. */
bool console_draft(console_t *console, const char *const *names, uint32_t count, const char *back, uint64_t steps);
bool console_drop_draft(console_t *console);
void console_follow_draft(console_t *console);

/* --- values ------------------------------------------------------------------------------------------------------ */

/* Commands that print and set values.
 *
 * Each takes the rest of its line, and returns false where it failed, which has been complained about.
 */

bool console_get(console_t *console, char *rest);
bool console_set(console_t *console, char *rest);

/* --- complete ---------------------------------------------------------------------------------------------------- */

/* The words that TAB offers at the prompt.
 */

/* Completions for a line_completer_t whose context is the console: commands, worlds, plugins and paths. */
void console_complete(void *context, const char *line, const char *word, completions_t *completions);

#endif
