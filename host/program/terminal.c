/* terminal.c - bold headings where they can be had, and texts that cannot command the terminal.
 *
 * Escape sequences go to stdout only when it is a terminal, TERM does not say that it is a dumb one, and
 * NO_COLOR is not set (no-color.org: any value but the empty one). On Windows a console takes them only
 * when it has been switched over; Windows Terminal, which says so in WT_SESSION, always does.
 */
#include "terminal.h"

#include "../base/os.h"

#include <stdlib.h>
#include <string.h>

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

static bool terminal_knows_sequences(void)
{
#ifdef _WIN32
    return is_set("WT_SESSION");
#else
    const char *kind = getenv("TERM");
    return kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
#endif
}

bool terminal_styled(void)
{
    return os_is_terminal(1) && !is_set("NO_COLOR") && terminal_knows_sequences();
}

const char *terminal_heading(bool styled)
{
    return styled ? "\033[1m" : "";
}

const char *terminal_plain(bool styled)
{
    return styled ? "\033[0m" : "";
}

/* Write the shown form of the next byte of `*text` (of the next two, for the control characters that UTF-8
 * writes as C2 80 to C2 9F) to `room`, step past it and return its length. Other bytes of UTF-8 letters
 * pass. */
static size_t show_next(const char **text, char room[5])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char byte = (unsigned char)*(*text)++;
    unsigned char next = (unsigned char)**text;
    bool two = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (!two && byte >= 0x20 && byte != 0x7f) {
        room[0] = (char)byte;
        return 1;
    }
    room[0] = '\\';
    if (byte == '\n' || byte == '\t') {
        room[1] = byte == '\n' ? 'n' : 't';
        return 2;
    }
    if (two) {
        byte = next;
        ++*text;
    }
    room[1] = 'x';
    room[2] = digits[byte >> 4];
    room[3] = digits[byte & 15];
    return 4;
}

size_t terminal_shown_length(const char *text)
{
    char room[5];
    size_t length = 0;
    while (*text != '\0')
        length += show_next(&text, room);
    return length;
}

void terminal_show(const char *text, char *shown)
{
    while (*text != '\0') {
        char room[5];
        size_t length = show_next(&text, room);
        memcpy(shown, room, length);
        shown += length;
    }
    *shown = '\0';
}

void terminal_print(FILE *out, const char *text)
{
    while (*text != '\0') {
        char room[5];
        size_t length = show_next(&text, room);
        fwrite(room, 1, length, out);
    }
}
