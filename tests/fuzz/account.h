/* account.h - an allocator for fuzzers: the bytes that are held, an allocation that fails, and a bound on all bytes. */
#ifndef TESTS_FUZZ_ACCOUNT_H
#define TESTS_FUZZ_ACCOUNT_H

#include <stddef.h>
#include <stdlib.h>

typedef struct account_t {
    size_t bytes;
    int allowed; /* allocations until one fails; negative: none fails */
    size_t most; /* bytes that may be held at a time; 0: any number */
} account_t;

static inline void expect(int truth)
{
    if (!truth)
        abort();
}

static inline void *account_resize(void *context, void *old, size_t old_size, size_t new_size)
{
    account_t *account = context;
    expect((old == NULL) == (old_size == 0));
    if (new_size != 0 && account->allowed == 0)
        return NULL;
    if (account->most != 0 && new_size > old_size && new_size - old_size > account->most - account->bytes)
        return NULL;
    account->allowed -= new_size != 0 && account->allowed > 0;
    account->bytes += new_size - old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

#endif
