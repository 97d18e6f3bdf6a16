/* os_win32.c - pages, memory, libraries, time, threads, the terminal, programs and texts on Windows.
 *
 * Pages: VirtualAlloc. A block of pages is one reservation, wholly committed at first. A block shrinks by giving back
 * its last pages (the reservation stays, addresses are free) and grows into a new block by copying, because nothing
 * here moves pages. The bytes from a block's end to the end of its last page are cleared when the block grows: they may
 * hold values from before the block shrank.
 */
#define _WIN32_WINNT 0x0602 /* Windows 8: the safe search flags of LoadLibraryEx */

#include "os.h"
#include "os_code.h"

#include "os_win32.h"

#include <windows.h>

#include <io.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t os_page_size(void)
{
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return system.dwPageSize;
}

/* 0 where `bytes` is 0 or too large to be rounded up. */
static size_t whole_pages(size_t bytes)
{
    size_t page = os_page_size();
    return bytes > SIZE_MAX - page ? 0 : (bytes + page - 1) / page * page;
}

void *os_pages_alloc(size_t bytes)
{
    size_t whole = whole_pages(bytes);
    return whole == 0 ? NULL : VirtualAlloc(NULL, whole, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static void *copy_pages(void *old, size_t old_bytes, size_t new_bytes)
{
    void *block = os_pages_alloc(new_bytes);
    if (block == NULL)
        return NULL;
    memcpy(block, old, old_bytes);
    os_pages_free(old, old_bytes);
    return block;
}

void *os_pages_resize(void *old, size_t old_bytes, size_t new_bytes)
{
    size_t old_whole = whole_pages(old_bytes), new_whole = whole_pages(new_bytes);
    if (new_whole == 0)
        return NULL;
    if (new_whole > old_whole)
        return copy_pages(old, old_bytes, new_bytes);
    if (new_whole < old_whole) /* only a saving: where it fails, the pages stay until the block is freed */
        (void)VirtualFree((char *)old + new_whole, old_whole - new_whole, MEM_DECOMMIT);
    if (new_bytes > old_bytes)
        memset((char *)old + old_bytes, 0, new_bytes - old_bytes);
    return old;
}

void os_pages_free(void *block, size_t bytes)
{
    (void)bytes;
    if (block != NULL)
        VirtualFree(block, 0, MEM_RELEASE);
}

/* Large pages need a privilege that users do not have. */
void os_pages_huge(void *start, size_t bytes)
{
    (void)start, (void)bytes;
}

bool os_pages_inherit(void *block, size_t bytes, bool inherited)
{
    (void)block, (void)bytes, (void)inherited;
    return false; /* no process is ever copied here */
}

bool os_pages_let(void *start, size_t bytes, int use)
{
    DWORD before;
    DWORD let = use == OS_PAGES_CLOSED ? PAGE_NOACCESS : use == OS_PAGES_READ ? PAGE_READONLY : PAGE_READWRITE;
    return VirtualProtect(start, bytes, let, &before) != 0;
}

bool os_can_read(const void *begin, size_t bytes)
{
    enum { CLOSED = PAGE_NOACCESS | PAGE_GUARD };
    uintptr_t at = (uintptr_t)begin, end = at + bytes;
    if (end < at)
        return false;
    while (at < end) {
        MEMORY_BASIC_INFORMATION about;
        if (VirtualQuery((const void *)at, &about, sizeof about) == 0 || about.State != MEM_COMMIT ||
            (about.Protect & CLOSED) != 0)
            return false;
        at = (uintptr_t)about.BaseAddress + about.RegionSize;
    }
    return true;
}

/* --- functions made at run time ----------------------------------------------------------------------------------- */

/* A page each, written first and then made executable, so that none is ever both. */

void *os_function_make(uint64_t (*function)(void *data), void *data)
{
    unsigned char code[CODE_ROOM];
    DWORD before;
    size_t size = code_write(code, function, data), page = os_page_size();
    void *made = size == 0 ? NULL : os_pages_alloc(page);
    if (made == NULL)
        return NULL;
    memcpy(made, code, size);
    if (VirtualProtect(made, page, PAGE_EXECUTE_READ, &before) &&
        FlushInstructionCache(GetCurrentProcess(), made, size))
        return made;
    os_pages_free(made, page);
    return NULL;
}

void os_function_free(void *made)
{
    os_pages_free(made, os_page_size());
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

/* How much memory can still be had: the bytes that the system would still commit to this process. */

uint64_t os_memory_available(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? (uint64_t)status.ullAvailPageFile : UINT64_MAX;
}

/* --- library ----------------------------------------------------------------------------------------------------- */

/* Shared libraries on Windows: LoadLibrary. */

const char os_library_suffix[] = ".dll";

/* Only a full path is safe from being searched for. A dot at its end keeps the system from adding ".dll"
 * to a name without an ending. */
static bool full_path(const char *path, wchar_t *full)
{
    wchar_t wide[PATH_ROOM];
    if (!win32_path(path, wide, PATH_ROOM))
        return false;
    DWORD length = GetFullPathNameW(wide, PATH_ROOM - 1, full, NULL);
    if (length == 0 || length >= PATH_ROOM - 1)
        return false;
    const wchar_t *name = wcsrchr(full, L'\\');
    if (wcschr(name != NULL ? name : full, L'.') == NULL)
        wcscpy(full + length, L".");
    return true;
}

void *os_library_open(const char *path, char *error, size_t size)
{
    wchar_t full[PATH_ROOM];
    if (!full_path(path, full)) {
        snprintf(error, size, "'%.200s' is not a path that the system understands", path);
        return NULL;
    }
    /* A library that cannot be loaded is an error here, not a box on the screen. */
    DWORD mode = 0;
    SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &mode);
    HMODULE library =
        LoadLibraryExW(full, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    DWORD code = GetLastError();
    SetThreadErrorMode(mode, NULL);
    if (library == NULL)
        win32_describe(code, error, size);
    return (void *)library;
}

void *os_library_symbol(void *library, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress((HMODULE)library, name);
}

void os_library_close(void *library)
{
    if (library != NULL)
        FreeLibrary((HMODULE)library);
}

uint32_t os_library_take_ends(void *library, void (**functions)(void), uint32_t capacity)
{
    (void)library, (void)functions, (void)capacity;
    return 0; /* one function is for the beginning and the end, and the system alone knows what to call it with */
}

/* A module's handle is where its image begins; how long it is stands in its headers. */
bool os_library_image(void *library, const void **begin, const void **end)
{
    const char *base = library;
    const IMAGE_DOS_HEADER *dos = (const IMAGE_DOS_HEADER *)(const void *)base;
    const IMAGE_NT_HEADERS64 *headers = (const IMAGE_NT_HEADERS64 *)(const void *)(base + dos->e_lfanew);
    *begin = base;
    *end = base + headers->OptionalHeader.SizeOfImage;
    return true;
}

/* --- time -------------------------------------------------------------------------------------------------------- */

/* Time on Windows: the performance counter. */

enum { BILLION = 1000000000, MILLION = 1000000 };

/* Whole seconds and the rest apart: ticks times a billion would overflow within hours. */
uint64_t os_clock_ns(void)
{
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    uint64_t now = (uint64_t)ticks.QuadPart, second = (uint64_t)frequency.QuadPart;
    return now / second * BILLION + now % second * BILLION / second;
}

void os_sleep_ns(uint64_t nanoseconds)
{
    Sleep((DWORD)((nanoseconds + 999999) / 1000000));
}

/* --- thread ------------------------------------------------------------------------------------------------------ */

/* Threads and locks on Windows: SRW locks.
 *
 * A new thread takes its entry and data from the starter's stack, and the starter waits until it has: so
 * starting a thread allocates nothing here. Only a lock does, since its header keeps it opaque.
 */

typedef struct start_t {
    void (*entry)(void *data);
    void *data;
    HANDLE taken; /* an event: once it is set, this record may be gone */
} start_t;

static unsigned __stdcall thread_main(void *argument)
{
    start_t *start = argument;
    void (*entry)(void *data) = start->entry;
    void *data = start->data;
    SetEvent(start->taken);
    entry(data);
    return 0;
}

bool os_thread_start(os_thread_t *thread, void (*entry)(void *data), void *data)
{
    start_t start = {.entry = entry, .data = data, .taken = CreateEventW(NULL, TRUE, FALSE, NULL)};
    if (start.taken == NULL)
        return false;
    uintptr_t handle = _beginthreadex(NULL, 0, thread_main, &start, 0, NULL);
    if (handle != 0) {
        thread->handle = (void *)handle;
        WaitForSingleObject(start.taken, INFINITE);
    }
    CloseHandle(start.taken);
    return handle != 0;
}

void os_thread_join(os_thread_t thread)
{
    WaitForSingleObject(thread.handle, INFINITE);
    CloseHandle(thread.handle);
}

uint64_t os_thread_number(void)
{
    return GetCurrentThreadId();
}

uint64_t os_process_number(void)
{
    return GetCurrentProcessId();
}

void os_relax(uint32_t turn)
{
    if (turn >= OS_SHORT_TURNS)
        SwitchToThread();
    else
        YieldProcessor();
}

/* The processors this process may run on. The mask is 0 where it runs on more than 64. */
uint32_t os_processor_count(void)
{
    SYSTEM_INFO system;
    DWORD_PTR allowed = 0, all;
    if (GetProcessAffinityMask(GetCurrentProcess(), &allowed, &all) && allowed != 0)
        return (uint32_t)__builtin_popcountll(allowed);
    GetSystemInfo(&system);
    return system.dwNumberOfProcessors;
}

struct os_lock_t {
    SRWLOCK mutex;
    CONDITION_VARIABLE woken;
};

os_lock_t *os_lock_create(void)
{
    os_lock_t *lock = malloc(sizeof *lock);
    if (lock == NULL)
        return NULL;
    InitializeSRWLock(&lock->mutex);
    InitializeConditionVariable(&lock->woken);
    return lock;
}

void os_lock_destroy(os_lock_t *lock)
{
    free(lock);
}

void os_lock(os_lock_t *lock)
{
    AcquireSRWLockExclusive(&lock->mutex);
}

void os_unlock(os_lock_t *lock)
{
    ReleaseSRWLockExclusive(&lock->mutex);
}

void os_lock_wait(os_lock_t *lock)
{
    SleepConditionVariableSRW(&lock->woken, &lock->mutex, INFINITE, 0);
}

void os_lock_wake_all(os_lock_t *lock)
{
    WakeAllConditionVariable(&lock->woken);
}

/* --- wake -------------------------------------------------------------------------------------------------------- */

/* An event that resets itself; handles are whatever Windows can wait for. */

struct os_wake_t {
    HANDLE event;
};

os_wake_t *os_wake_create(void)
{
    os_wake_t *wake = malloc(sizeof *wake);
    if (wake == NULL)
        return NULL;
    wake->event = CreateEventW(NULL, FALSE, FALSE, NULL);
    if (wake->event != NULL)
        return wake;
    free(wake);
    return NULL;
}

void os_wake_destroy(os_wake_t *wake)
{
    if (wake == NULL)
        return;
    CloseHandle(wake->event);
    free(wake);
}

void os_wake_signal(os_wake_t *wake)
{
    SetEvent(wake->event);
}

uint32_t os_wake_sleep(os_wake_t *wake, uint64_t nanoseconds, const intptr_t *handles, uint32_t count)
{
    enum { A_MILLISECOND = 1000000 };
    HANDLE waited[1 + OS_WAKE_MOST] = {wake->event};
    uint64_t milliseconds = nanoseconds / A_MILLISECOND + (nanoseconds % A_MILLISECOND > 0);
    uint32_t readable = 0;
    count = count < OS_WAKE_MOST ? count : OS_WAKE_MOST;
    for (uint32_t i = 0; i < count; i++)
        waited[1 + i] = (HANDLE)handles[i];
    DWORD time = nanoseconds == UINT64_MAX ? INFINITE : milliseconds < INFINITE ? (DWORD)milliseconds : INFINITE - 1;
    DWORD ended = WaitForMultipleObjects(1 + count, waited, FALSE, time);
    /* Waiting may have reset the object that ended it. What cannot be waited for does not let others be waited for. */
    for (uint32_t i = 0; i < count; i++) {
        bool took = ended == WAIT_OBJECT_0 + 1 + i || ended == WAIT_ABANDONED_0 + 1 + i;
        readable |= (uint32_t)(took || WaitForSingleObject(waited[1 + i], 0) != WAIT_TIMEOUT) << i;
    }
    return readable;
}

/* --- terminal ---------------------------------------------------------------------------------------------------- */

/* The console of Windows. */

enum { COLUMNS_UNKNOWN = 80 };

static HANDLE standard_handle(int stream)
{
    static const DWORD handles[] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    return stream >= 0 && stream < 3 ? GetStdHandle(handles[stream]) : INVALID_HANDLE_VALUE;
}

/* Is a stream a terminal? Not by _isatty, which takes the null device for a terminal. */
bool os_is_terminal(int stream)
{
    DWORD mode;
    return GetConsoleMode(standard_handle(stream), &mode) != 0;
}

int os_terminal_columns(int stream)
{
    CONSOLE_SCREEN_BUFFER_INFO screen;
    if (!GetConsoleScreenBufferInfo(standard_handle(stream), &screen))
        return COLUMNS_UNKNOWN;
    int columns = screen.srWindow.Right - screen.srWindow.Left + 1;
    return columns > 0 ? columns : COLUMNS_UNKNOWN;
}

void os_keep_standard_numbers(void)
{
    /* a process without a console is started without standard files, and without handles that others could get */
}

void os_survive_file_limit(void)
{
    /* there is no such limit */
}

int os_output_lead(FILE *file)
{
    fflush(stdout);
    int saved = _dup(1);
    if (saved >= 0 && _dup2(_fileno(file), 1) != 0) {
        _close(saved);
        return -1;
    }
    return saved;
}

void os_output_lead_back(int saved)
{
    fflush(stdout);
    _dup2(saved, 1);
    _close(saved);
}

/* A console says that it can be read where a key has been let go of, too; a pipe has to be asked. */
bool os_input_ready(void)
{
    DWORD bytes = 0;
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    if (GetFileType(input) == FILE_TYPE_PIPE)
        return !PeekNamedPipe(input, NULL, 0, NULL, &bytes, NULL) || bytes > 0;
    return WaitForSingleObject(input, 0) != WAIT_TIMEOUT;
}

intptr_t os_input_handle(void)
{
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    return GetFileType(input) == FILE_TYPE_CHAR ? (intptr_t)input : -1;
}

/* --- program ----------------------------------------------------------------------------------------------------- */

/* Running other programs on Windows: CreateProcess.
 *
 * Windows hands a program one line of text, which the program's C library cuts into arguments again, so this file
 * quotes the arguments.
 */

const char os_program_suffix[] = ".exe";

/* The command line of another program; the system takes no longer one. */
enum { LINE_ROOM = 32767 };
typedef struct line_t {
    size_t length; /* LINE_ROOM: the line was too long */
    wchar_t text[LINE_ROOM + 1];
} line_t;

static void put(line_t *line, wchar_t c, size_t times)
{
    for (; times > 0 && line->length < LINE_ROOM; times--)
        line->text[line->length++] = c;
    line->text[line->length] = L'\0';
}

/* Append an argument as the C library of the other program will cut it out again: in quotes, with a backslash before
 * each quote, and twice the backslashes that stand before a quote or at the end. */
static bool put_argument(line_t *line, const char *argument)
{
    wchar_t wide[PATH_ROOM];
    size_t slashes = 0;
    if (!win32_wide(argument, wide, PATH_ROOM))
        return false;
    put(line, L' ', line->length > 0);
    put(line, L'"', 1);
    for (const wchar_t *c = wide; *c != L'\0'; c++) {
        if (*c == L'"')
            put(line, L'\\', slashes + 1);
        slashes = *c == L'\\' ? slashes + 1 : 0;
        put(line, *c, 1);
    }
    put(line, L'\\', slashes);
    put(line, L'"', 1);
    return line->length < LINE_ROOM;
}

static bool run_line(const char *path, wchar_t *line, int *status)
{
    STARTUPINFOW how = {.cb = sizeof how};
    PROCESS_INFORMATION child;
    wchar_t wide[PATH_ROOM];
    DWORD code;
    if (!win32_path(path, wide, PATH_ROOM))
        return false;
    UINT mode = SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX); /* a crash there opens no window */
    bool started = CreateProcessW(wide, line, NULL, NULL, TRUE, 0, NULL, NULL, &how, &child);
    SetErrorMode(mode);
    if (!started)
        return false;
    bool ended =
        WaitForSingleObject(child.hProcess, INFINITE) == WAIT_OBJECT_0 && GetExitCodeProcess(child.hProcess, &code);
    CloseHandle(child.hThread);
    CloseHandle(child.hProcess);
    if (!ended)
        return false;
    /* The code of an exception has its highest bit set, so it is negative; of a negative number other systems keep the
     * last byte. */
    *status = (int)(code >= OS_NEGATIVE ? code & 0xFF : code);
    return true;
}

bool os_program_run(const char *path, const char *const *arguments, int *status)
{
    line_t *line = malloc(sizeof *line);
    if (line == NULL)
        return false;
    line->length = 0;
    bool fine = true;
    for (; fine && *arguments != NULL; arguments++)
        fine = put_argument(line, *arguments);
    fine = fine && run_line(path, line->text, status);
    free(line);
    return fine;
}

/* Read all that comes out of a pipe: `text` takes the beginning, the rest is thrown away. */
static void read_pipe(HANDLE pipe, char *text, size_t size)
{
    char rest[512];
    size_t length = 0;
    DWORD count = 0;
    do {
        bool room = length + 1 < size;
        DWORD most = room && size - 1 - length < sizeof rest ? (DWORD)(size - 1 - length) : (DWORD)sizeof rest;
        if (!ReadFile(pipe, rest, most, &count, NULL))
            count = 0;
        if (room)
            memcpy(text + length, rest, count);
        length += room ? count : 0;
    } while (count > 0);
    text[length] = '\0';
}

bool win32_start(wchar_t *line, const wchar_t *folder, DWORD flags, HANDLE in, HANDLE out, HANDLE errors,
                 PROCESS_INFORMATION *child)
{
    _Alignas(16) char room[256]; /* for a list of one thing, which takes 48 bytes */
    LPPROC_THREAD_ATTRIBUTE_LIST list = (LPPROC_THREAD_ATTRIBUTE_LIST)(void *)room;
    SIZE_T size = sizeof room;
    HANDLE handles[3], all[] = {in, out, errors};
    DWORD count = 0;
    for (size_t i = 0; i < 3; i++) { /* the system refuses a handle that is listed twice */
        if (all[i] != NULL && all[i] != INVALID_HANDLE_VALUE && (i == 0 || all[i] != all[i - 1]) &&
            (i < 2 || all[i] != all[0]))
            handles[count++] = all[i];
    }
    if (!InitializeProcThreadAttributeList(list, 1, 0, &size))
        return false;
    STARTUPINFOEXW how = {.StartupInfo = {.cb = sizeof how,
                                          .dwFlags = STARTF_USESTDHANDLES,
                                          .hStdInput = in,
                                          .hStdOutput = out,
                                          .hStdError = errors},
                          .lpAttributeList = list};
    bool started = UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles,
                                             count * sizeof handles[0], NULL, NULL) &&
                   CreateProcessW(NULL, line, NULL, NULL, TRUE, flags | EXTENDED_STARTUPINFO_PRESENT, NULL, folder,
                                  &how.StartupInfo, child);
    DeleteProcThreadAttributeList(list);
    return started;
}

/* Start the program of a line with its output going to `pipe` and its errors nowhere. */
static bool start_line(wchar_t *line, HANDLE pipe, PROCESS_INFORMATION *child)
{
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE nothing = CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited,
                                 OPEN_EXISTING, 0, NULL);
    bool started = win32_start(line, NULL, CREATE_NO_WINDOW, nothing, pipe, nothing, child);
    if (nothing != INVALID_HANDLE_VALUE)
        CloseHandle(nothing);
    return started;
}

static bool read_line(wchar_t *line, char *text, size_t size)
{
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE ours, theirs;
    PROCESS_INFORMATION child;
    DWORD code = 1;
    if (!CreatePipe(&ours, &theirs, &inherited, 0))
        return false;
    SetHandleInformation(ours, HANDLE_FLAG_INHERIT, 0);
    bool started = start_line(line, theirs, &child);
    CloseHandle(theirs);
    if (started) {
        read_pipe(ours, text, size);
        WaitForSingleObject(child.hProcess, INFINITE);
        GetExitCodeProcess(child.hProcess, &code);
        CloseHandle(child.hThread);
        CloseHandle(child.hProcess);
    }
    CloseHandle(ours);
    return started && code == 0;
}

bool os_program_read(const char *name, const char *const *arguments, char *text, size_t size)
{
    line_t *line = malloc(sizeof *line);
    text[0] = '\0';
    if (line == NULL)
        return false;
    line->length = 0;
    bool fine = put_argument(line, name);
    for (arguments++; fine && *arguments != NULL; arguments++)
        fine = put_argument(line, *arguments);
    fine = fine && read_line(line->text, text, size);
    free(line);
    return fine;
}

/* --- text -------------------------------------------------------------------------------------------------------- */

/* Texts to and from Windows. */

bool win32_wide(const char *text, wchar_t *wide, int room)
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, room) > 0 ||
           MultiByteToWideChar(CP_ACP, 0, text, -1, wide, room) > 0;
}

/* The limit counts the whole path, from the drive on; a folder's has to leave room for a short name in it. A path that
 * begins with two backslashes and a '?' is taken as it is, whatever its length: so it must be whole, too. */
bool win32_lengthen(wchar_t *wide, int room)
{
    enum { LONG = 240 };
    wchar_t whole[PATH_ROOM];
    bool device = wcsncmp(wide, L"\\\\?\\", 4) == 0 || wcsncmp(wide, L"\\\\.\\", 4) == 0;
    DWORD length = device || wide[0] == L'\0' ? 0 : GetFullPathNameW(wide, PATH_ROOM, whole, NULL);
    if (length < LONG)
        return true;
    bool share = whole[0] == L'\\' && whole[1] == L'\\';
    const wchar_t *rest = share ? whole + 2 : whole;
    if (length >= PATH_ROOM || (int)length + 9 > room)
        return false;
    wcscpy(wide, share ? L"\\\\?\\UNC\\" : L"\\\\?\\");
    wcscat(wide, rest);
    return true;
}

bool win32_path(const char *path, wchar_t *wide, int room)
{
    return win32_wide(path, wide, room) && win32_lengthen(wide, room);
}

bool win32_text(const wchar_t *wide, char *text, size_t size)
{
    int room = size < INT32_MAX ? (int)size : INT32_MAX;
    return room > 0 && WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, room, NULL, NULL) > 0;
}

void win32_describe(unsigned long code, char *error, size_t size)
{
    wchar_t wide[256];
    char text[3 * 256];
    DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    DWORD length = FormatMessageW(flags, NULL, code, 0, wide, 256, NULL);
    while (length > 0 && wide[length - 1] <= L' ')
        wide[--length] = L'\0';
    if (length > 0 && win32_text(wide, text, sizeof text))
        snprintf(error, size, "%s (error %lu)", text, code);
    else
        snprintf(error, size, "error %lu", code);
}
