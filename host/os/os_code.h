/* os_code.h - the machine code of a function that calls another one with an argument of its own. For os_*.c alone.
 *
 * The code leaves the arguments that it is called with where they are, but for the first: its register gets `data`.
 * Right for any type of function where the caller removes the arguments from the stack, as on all platforms here.
 *
 * Not here: making pages executable.
 */
#ifndef HOST_OS_OS_CODE_H
#define HOST_OS_OS_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CODE_ROOM = 32 };

/* Write to `at` the code that goes on as function(data). Returns its size, 0 where the processor is not known here. */
static inline size_t code_write(unsigned char at[CODE_ROOM], uint64_t (*function)(void *data), void *data)
{
#if defined(__x86_64__)
#if defined(_WIN32)
    static const unsigned char code[] = {
        0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0, /* mov rcx, data */
#else
    static const unsigned char code[] = {
        0x48, 0xbf, 0, 0, 0, 0, 0, 0, 0, 0, /* mov rdi, data */
#endif
        0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, /* mov rax, function */
        0xff, 0xe0,                         /* jmp rax */
    };
    memcpy(at, code, sizeof code);
    memcpy(at + 2, &data, sizeof data);
    memcpy(at + 12, &function, sizeof function);
    return sizeof code;
#elif defined(__aarch64__)
    static const uint32_t code[] = {
        0xd503245f, /* bti c */
        0x58000060, /* ldr x0, data: 12 bytes further */
        0x58000090, /* ldr x16, function: 16 bytes further */
        0xd61f0200, /* br x16 */
    };
    memcpy(at, code, sizeof code);
    memcpy(at + sizeof code, &data, sizeof data);
    memcpy(at + sizeof code + sizeof data, &function, sizeof function);
    return CODE_ROOM;
#else
    (void)at, (void)function, (void)data;
    return 0;
#endif
}

#endif
