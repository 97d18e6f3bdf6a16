/* obj_text.h - an OBJ file as lines, tokens and numbers: inner to obj.c.
 *
 * Lines are views into a window of the input, never copied and not closed by a zero; a file is read through a window of
 * one line's limit, so memory is that of the mesh and not of the file. Everything that can go wrong goes through
 * mesh_text_refuse, which writes the sentence and returns false; each function hands that false up.
 *
 * Not here: keywords (obj.c).
 */
#ifndef MESH_OBJ_TEXT_H
#define MESH_OBJ_TEXT_H

#include "obj.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { MESH_TEXT_WINDOW = MESH_OBJ_LINE_MAX + 1, MESH_TEXT_SHOWN = 40 };

typedef struct view_t {
    const char *begin, *end;
} view_t;

typedef struct mesh_text_t {
    const char *name;
    char *sentence;
    bp_result_t code;
    uint64_t limit;          /* in bytes */
    FILE *file;              /* NULL: all is in the window */
    char *buffer;            /* the window of a file, of MESH_TEXT_WINDOW bytes */
    const char *window;
    size_t begin, end;       /* of what is unread in the window */
    uint64_t bytes;          /* taken from the input so far */
    uint64_t line;           /* number of the present line, the first of those that are continued */
    uint64_t next_line;      /* 1 at first */
} mesh_text_t;

/* Write the sentence, "name:line: ..." or, for line 0, "name: ...", and the code. Returns false. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
bool mesh_text_refuse(mesh_text_t *t, bp_result_t code, uint64_t line, const char *format, ...);

/* Refuse a file of more bytes than the limit. */
bool mesh_text_refuse_bytes(mesh_text_t *t);

/* Refuse a token of the present line: "'token' complaint". */
bool mesh_text_refuse_token(mesh_text_t *t, view_t token, const char *complaint);

/* The next line, continued ones in one, without its end. *found is false at the end of the input. */
bool mesh_text_next_line(mesh_text_t *t, view_t *line, bool *found);

/* Take the next token off the line. False at the line's end, or where a comment begins. */
bool mesh_text_take_token(view_t *line, view_t *token);

bool mesh_text_is(view_t token, const char *word);

/* A token for messages: bytes that are no printable ASCII are shown as '?', long ones cut. */
const char *mesh_text_show(view_t token, char text[MESH_TEXT_SHOWN + 4]);

/* Take off a sign, and digits as a whole number, saturating far beyond all limits. */
bool mesh_text_take_minus(const char **p, const char *end);
int64_t mesh_text_take_digits(const char **p, const char *end);

static inline bool mesh_text_is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

/* A token as a finite number that fits a float. */
bool mesh_text_read_number(mesh_text_t *t, view_t token, float *number);

#endif
