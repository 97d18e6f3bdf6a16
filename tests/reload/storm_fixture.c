/* storm_fixture.c - a fixture's file, changed at its marks and put in a plugin's place: one version of the plugin after
 * another, without a compiler.
 */
#define _GNU_SOURCE 1

#include "storm_model.h"

#include <stdlib.h>
#include <string.h>

/* The fixture while it is written. */
static char *bytes_of;
static size_t size_of;

void storm_fixture_open(const char *fixture)
{
    bytes_of = fixture_bytes(fixture, &size_of);
    forget_checksum(bytes_of, size_of);
}

void storm_fixture_put(const void *mark, size_t length, const void *bytes, size_t size)
{
    char *at = memmem(bytes_of, size_of, mark, length);
    SAYS(at != NULL, "a mark is not in a fixture");
    memcpy(at, bytes, size);
}

void storm_fixture_number(uint32_t mark, uint32_t number)
{
    storm_fixture_put(&mark, sizeof mark, &number, sizeof number);
}

void storm_fixture_wide(uint64_t mark, uint64_t number)
{
    storm_fixture_put(&mark, sizeof mark, &number, sizeof number);
}

void storm_fixture_text(const char *mark, const char *text)
{
    char bytes[STORM_MARKED] = {0};
    snprintf(bytes, sizeof bytes, "%s", text);
    storm_fixture_put(mark, strlen(mark), bytes, sizeof bytes);
}

void storm_fixture_close(const char *as)
{
    put_bytes(bytes_of, size_of, as);
    free(bytes_of);
    bytes_of = NULL;
}
