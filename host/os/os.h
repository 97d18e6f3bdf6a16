/* os.h - the functions that need the operating system: pages, shared libraries, time, threads, terminals, programs.
 * Files are behind files.h.
 *
 * Each section below is implemented twice, in os_posix.c and os_win32.c; the build compiles one of them. Outside of os/
 * only the *_posix.c and *_win32.c of plugin/guard.h, reload/folder.h and reload/process.h include system headers.
 *
 * Not here: sockets, watching of files.
 */
#ifndef HOST_OS_OS_H
#define HOST_OS_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --- os_pages: large blocks straight from the system, cleared, page-aligned ------------------------------- */

size_t os_page_size(void);

/* `bytes` of cleared memory, or NULL. Physical memory comes at first touch. [any] */
void *os_pages_alloc(size_t bytes);

/* Grow or shrink a block from os_pages_alloc; new bytes are cleared. The pages are moved, not copied, where the
 * system can. NULL when it cannot be had: the old block is then untouched. [any] */
void *os_pages_resize(void *old, size_t old_bytes, size_t new_bytes);
void os_pages_free(void *block, size_t bytes);

/* Ask for huge pages behind a range. A hint. [any] */
void os_pages_huge(void *start, size_t bytes);

/* Copy bytes that will not be read soon: past the caches where the processor can, so that the caches keep their
 * contents, and the memory copied to is not read first. Faster than memcpy where `size` is more than the caches hold.
 * [any] */
void os_copy_away(void *to, const void *from, size_t size);

/* Shall a copy of this process (reload/process.h) have this block, from now on? At first copies have each block.
 * Where a copy does not have it, nothing lies at these addresses there: reading them crashes, and neither the copying
 * nor this process's next write to the block costs anything. false where the system cannot leave a block out: then the
 * block is copied. [any] */
bool os_pages_inherit(void *block, size_t bytes, bool inherited);

enum { OS_PAGES_CLOSED, OS_PAGES_READ, OS_PAGES_WRITE };

/* From now on whole pages of a block from os_pages_alloc may be touched in this way: not at all, read, or read and
 * written. false where the system refuses. [any], and from a handler of a signal */
bool os_pages_let(void *start, size_t bytes, int use);

/* Can these bytes of this process be read? For addresses that plugins have written, to check them before they are
 * followed. True where the system cannot tell. Another thread may take the bytes away meanwhile. [any] */
bool os_can_read(const void *begin, size_t bytes);

/* --- os_function: functions made at run time --------------------------------------------------------------- */

/* A function that returns function(data), whatever arguments it is called with; call it through a pointer to any type
 * of function that returns an integer or a pointer. NULL where the system lets no code be made, or the processor is not
 * known. os_function_free takes NULL too. [any] */
void *os_function_make(uint64_t (*function)(void *data), void *data);
void os_function_free(void *made);

/* --- os_memory: how much there is ------------------------------------------------------------------------- */

/* Bytes that this process could still write to before the system, or the group that it runs in, has none left;
 * UINT64_MAX where the system does not tell. [any] */
uint64_t os_memory_available(void);

/* --- os_library: shared libraries ------------------------------------------------------------------------ */

/* ".so" or ".dll". */
extern const char os_library_suffix[];

/* Open a library with its symbols private to it and all bound at once. `path` is a file's path, never a bare name,
 * which the system would search for. NULL on failure, with the system's sentence in `error`. [main] */
void *os_library_open(const char *path, char *error, size_t size);
void *os_library_symbol(void *library, const char *name);
void os_library_close(void *library);

/* Where the image of an open library lies: from *begin up to *end. false where the system does not tell. [main] */
bool os_library_image(void *library, const void **begin, const void **end);

/* Take out of an open library the functions that the system would call when it closes the library: it then calls none,
 * and `functions` has them in the order in which they are to be called. Precondition: the library was opened once, by
 * this process only. Returns how many; 0 where there are none, more than `capacity`, or the system does not tell.
 * [main] */
uint32_t os_library_take_ends(void *library, void (**functions)(void), uint32_t capacity);

/* --- os_time ------------------------------------------------------------------------------------------- */

/* Nanoseconds of a clock that never goes back. [any] */
uint64_t os_clock_ns(void);

/* Let this thread sleep; a signal may wake it early. [any] */
void os_sleep_ns(uint64_t nanoseconds);

/* --- os_thread: threads and locks ------------------------------------------------------------------------ */

typedef struct os_thread_t { void *handle; } os_thread_t;
typedef struct os_lock_t os_lock_t; /* a mutex with one condition */

/* Run entry(data) on a new thread. false where none can be had. */
bool os_thread_start(os_thread_t *thread, void (*entry)(void *data), void *data);
void os_thread_join(os_thread_t thread);
uint32_t os_processor_count(void);

/* A number that tells this thread from all others that run. [any] */
uint64_t os_thread_number(void);

/* A number that tells this process from all others that run; a copy of it, made by fork, has another. [any] */
uint64_t os_process_number(void);

enum { OS_SHORT_TURNS = 64 };

/* One turn of waiting for another thread without sleeping: the first turns are short, later ones give the processor
 * away. [any] */
void os_relax(uint32_t turn);

os_lock_t *os_lock_create(void); /* NULL when out of memory */
void os_lock_destroy(os_lock_t *lock);
void os_lock(os_lock_t *lock);
void os_unlock(os_lock_t *lock);
void os_lock_wait(os_lock_t *lock);      /* held: let go, sleep until woken, hold again; may wake for nothing */
void os_lock_wake_all(os_lock_t *lock);

/* --- os_wake: a sleep that others end -------------------------------------------------------------------------- */

/* A thing for a thread to sleep on, and for others to wake it by. */
typedef struct os_wake_t os_wake_t;

enum { OS_WAKE_MOST = 16 }; /* handles in one sleep */

os_wake_t *os_wake_create(void); /* NULL where there is no memory, or no handle left */
void os_wake_destroy(os_wake_t *wake); /* NULL is allowed */

/* End the present sleep on `wake`; where no thread sleeps, let the next sleep return at once. [any] */
void os_wake_signal(os_wake_t *wake);

/* Sleep until os_wake_signal is called, one of `handles` can be read without waiting, or so many nanoseconds have
 * passed (UINT64_MAX: without end); a signal of the system may end it early. A handle is a file descriptor; on Windows
 * an object that can be waited for; those behind the first OS_WAKE_MOST are not looked at. Returns a bit for each
 * handle that can be read. By one thread at a time. */
uint32_t os_wake_sleep(os_wake_t *wake, uint64_t nanoseconds, const intptr_t *handles, uint32_t count);

/* --- os_terminal ------------------------------------------------------------------------------------------- */

/* Is the stream (0 input, 1 output, 2 errors) a terminal? How many columns has it, 80 where unknown? */
bool os_is_terminal(int stream);
int os_terminal_columns(int stream);

/* From now on writing beyond the system's limit of a file's size fails, as on a full disk, and does not end the
 * process; unless the program has a handler for that signal. */
void os_survive_file_limit(void);

/* Standard files that the process was started without are taken: no file that is opened later gets their numbers, and
 * what is meant for them. Reading and writing them fails as before. To be called before any file is opened. */
void os_keep_standard_numbers(void);

/* Write everything that goes to stdout to a file from now on. Returns the number that os_output_lead_back needs to end
 * that; -1 where it cannot be done. */
int os_output_lead(FILE *file);
void os_output_lead_back(int saved);

/* Can the standard input be read without waiting? Its end counts as readable. And the input's handle, for
 * os_wake_sleep; -1 where the input cannot be waited for. */
bool os_input_ready(void);
intptr_t os_input_handle(void);

/* --- os_program: other programs ------------------------------------------------------------------------------ */

/* The end of a program's file name: "" or ".exe". */
extern const char os_program_suffix[];

/* Run the program at `path` and wait for its end; `arguments` begin with its name and end with NULL. Input and
 * output are this program's. False where it cannot be started; else *status is what it returned, or, where a signal
 * ended it, the negative number of that. [main] */
bool os_program_run(const char *path, const char *const *arguments, int *status);

/* The beginning of what a program prints, as a text; found like a command of the shell, with nothing to read and its
 * errors thrown away. False where it cannot be started, or fails. [any] */
bool os_program_read(const char *name, const char *const *arguments, char *text, size_t size);

#endif
