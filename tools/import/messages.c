/* messages.c - complaints on stderr, one line each. */
#include "import.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_MAX = 2048 };

bool complain(const char *format, ...)
{
    char text[MESSAGE_MAX];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?'; /* names come from files, and must not command a terminal */
    fflush(stdout);
    fprintf(stderr, "backplane: %s\n", text);
    return false;
}

bool complain_memory(void)
{
    return complain("out of memory");
}
