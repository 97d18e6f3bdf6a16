/* command_check.c - `backplane check`: a plugin's file looked into and tried. */
#include "messages.h"
#include "program.h"

#include <stdio.h>
#include <string.h>

enum { OPTIONS_MAX = 64 };

static void print_finding(void *data, int32_t level, const char *text)
{
    uint32_t *errors = data;
    const char *kind = level >= BP_LOG_ERROR ? "error: " : level == BP_LOG_WARNING ? "warning: " : "";
    printf("  %s%s\n", kind, text);
    *errors += level >= BP_LOG_ERROR;
}

static bool read_option(char *text, bp_option_t *option)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        complain("'%s' is no option; write NAME=VALUE", text);
        return false;
    }
    *equals = '\0';
    *option = (bp_option_t){.name = text, .value = equals + 1};
    return true;
}

int command_check(int count, char **texts)
{
    bp_option_t options[OPTIONS_MAX];
    uint32_t errors = 0;
    if (count < 1 || count - 1 > OPTIONS_MAX) {
        complain("check needs the file of a plugin; usage: backplane check PLUGIN.so [NAME=VALUE ...]");
        return STATUS_BAD_INPUT;
    }
    for (int i = 1; i < count; i++) {
        if (!read_option(texts[i], &options[i - 1]))
            return STATUS_BAD_INPUT;
    }
    printf("%s\n", texts[0]);
    bp_check_plugin(texts[0], options, (uint32_t)(count - 1), print_finding, &errors);
    if (errors == 0)
        puts("  nothing of it troubles a reload");
    return errors == 0 ? STATUS_FINE : STATUS_FAILED;
}
