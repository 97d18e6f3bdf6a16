/* surroundings_win32.c - on Windows: how numbers are rounded, and the locale; threads and children.
 *
 * There are no signals that could be blocked, and handles are not counted: the system opens and keeps some of its own
 * at any time.
 */
#include "surroundings.h"

#include "arithmetic.h"

#include <windows.h>

#include <tlhelp32.h>

#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCALE_ROOM = 1024 }; /* a locale whose categories differ is named by all of them */

struct os_surroundings_t {
    bool all;
    fenv_t numbers;
    uint32_t control;          /* of numbers, without the flags */
    char locale[LOCALE_ROOM];
};

os_surroundings_t *os_surroundings_take(bool all)
{
    os_surroundings_t *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->all = all;
    fegetenv(&s->numbers);
    s->control = arithmetic_control() & ~ARITHMETIC_FLAGS;
    if (all)
        snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    return s;
}

bool os_surroundings_put_back(os_surroundings_t *before, char *text, size_t size)
{
    if (before == NULL)
        return false;
    int rounding = fegetround();
    bool treats = (arithmetic_control() & ~ARITHMETIC_FLAGS) != before->control;
    fesetenv(&before->numbers);
    arithmetic_set_control((arithmetic_control() & ARITHMETIC_FLAGS) | before->control);
    bool rounds = fegetround() != rounding || treats;
    bool speaks = before->all && strcmp(before->locale, setlocale(LC_ALL, NULL)) != 0;
    if (speaks)
        setlocale(LC_ALL, before->locale);
    snprintf(text, size, "%s%s%s", rounds ? "the way numbers are rounded" : "", rounds && speaks ? ", " : "",
             speaks ? "the locale" : "");
    free(before);
    return rounds || speaks;
}

os_holdings_t os_holdings_count(void)
{
    os_holdings_t count = {0};
    THREADENTRY32 thread = {.dwSize = sizeof thread};
    PROCESSENTRY32W process = {.dwSize = sizeof process};
    DWORD self = GetCurrentProcessId();
    HANDLE list = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD | TH32CS_SNAPPROCESS, 0);
    if (list == INVALID_HANDLE_VALUE)
        return count;
    for (BOOL more = Thread32First(list, &thread); more; more = Thread32Next(list, &thread))
        count.threads += thread.th32OwnerProcessID == self;
    for (BOOL more = Process32FirstW(list, &process); more; more = Process32NextW(list, &process))
        count.children += process.th32ParentProcessID == self && process.th32ProcessID != self;
    CloseHandle(list);
    return count;
}

/* Threads alone are told from each other here. */
uint32_t os_holdings_list(os_holding_t *list, uint32_t capacity)
{
    uint32_t count = 0;
    THREADENTRY32 thread = {.dwSize = sizeof thread};
    DWORD self = GetCurrentProcessId();
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    if (all == INVALID_HANDLE_VALUE)
        return 0;
    for (BOOL more = Thread32First(all, &thread); more; more = Thread32Next(all, &thread)) {
        if (thread.th32OwnerProcessID != self)
            continue;
        if (count < capacity)
            list[count] = (os_holding_t){.kind = OS_HOLDS_THREAD, .number = (uint32_t)thread.th32ThreadID};
        count++;
    }
    CloseHandle(all);
    return count;
}

void os_holding_know(os_holding_t *holding)
{
    holding->identity = 1;
}

bool os_holding_is_there(const os_holding_t *holding)
{
    os_holding_t list[512];
    uint32_t count = os_holdings_list(list, 512);
    bool found = false;
    for (uint32_t i = 0; i < count && i < 512; i++)
        found = found || (holding->kind == OS_HOLDS_THREAD && list[i].number == holding->number);
    return found;
}
