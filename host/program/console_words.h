/* console_words.h - the words of a line of the console.
 *
 * Words are separated by blanks. A word that begins with a double quote ends at the next one; in between,
 * \" and \\ stand for the quote and the backslash.
 *
 * What it does not do: no variables, no patterns, no nesting.
 */
#ifndef HOST_PROGRAM_CONSOLE_WORDS_H
#define HOST_PROGRAM_CONSOLE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum words_end_t { WORDS_FOUND, WORDS_OVER, WORDS_UNCLOSED } words_end_t;

/* Cut the next word off *rest, in place, and move *rest behind it. WORDS_UNCLOSED where its quote is not
 * closed, or something sticks to the closing one. */
words_end_t console_words_next(char **rest, char **word);

/* All that is left as one value: the text of a quoted word where it is one, else everything up to the last
 * non-blank. */
words_end_t console_words_value(char *rest, char **value);

#endif
