/* lies.h - recordings with changed bytes whose checksums are right: what a faulty or hostile program would write. A
 * checksum finds what a disk has done to a file, and not these.
 *
 * What it does not do: it makes no recording. A changed byte may leave a recording that can be played.
 */
#ifndef TESTS_HISTORY_LIES_H
#define TESTS_HISTORY_LIES_H

#include <check.h>
#include <stdint.h>

typedef struct lies_told_t {
    uint32_t refused, played;
    uint64_t end; /* the hash of the host where the file itself has been played */
} lies_told_t;

/* Change bytes of the chunks of a recording of a host of recall.h, `count` times, and play each such file for at most
 * `steps` steps in one host: it is refused with a sentence or played, and the host is whole and plays the file itself,
 * to the same end, now and then. */
lies_told_t lies_tell(const char *path, uint32_t count, uint64_t steps);

/* Add the tests with snapshots of which a few numbers lie (test_snapshot_lies.c). */
void lies_add_snapshots(Suite *suite);

#endif
