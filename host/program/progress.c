/* progress.c - the progress bar.
 *
 * Drawn with a carriage return and blanks only, no escape sequences: it looks the same on every terminal,
 * and NO_COLOR does not concern it. The line ends one column before the edge, where some terminals would
 * begin a new line. The terminal's width is asked for at each drawing, so that the bar follows a window
 * that is resized.
 */
#include "progress.h"

#include "../base/os.h"

#include <inttypes.h>
#include <stdio.h>

enum { BAR_MAX = 40, LINE_MAX_BYTES = 256 };

static const uint64_t second = UINT64_C(1000000000);
static const uint64_t pause_between = UINT64_C(100000000);

void progress_begin(progress_t *progress, uint64_t total, bool wanted)
{
    *progress = (progress_t){.total = total, .shown = wanted && total > 0 && os_is_terminal(2)};
    if (progress->shown)
        progress->started = progress->drawn = os_clock_ns();
}

/* "  1 h 02 min left" */
static void remaining_text(const progress_t *progress, uint64_t done, uint64_t now, char *text, size_t size)
{
    double elapsed = (double)(now - progress->started);
    double left = elapsed / (double)done * (double)(progress->total - done) / (double)second;
    uint64_t seconds = left < 1e9 ? (uint64_t)(left + 0.5) : (uint64_t)1e9;
    if (seconds < 60)
        snprintf(text, size, "%" PRIu64 " s left", seconds);
    else if (seconds < 3600)
        snprintf(text, size, "%" PRIu64 " min %02" PRIu64 " s left", seconds / 60, seconds % 60);
    else
        snprintf(text, size, "%" PRIu64 " h %02" PRIu64 " min left", seconds / 3600, seconds / 60 % 60);
}

static int bar_text(const progress_t *progress, uint64_t done, char *text)
{
    double part = (double)done / (double)progress->total;
    int filled = (int)(part * BAR_MAX);
    int length = 0;
    text[length++] = '[';
    for (int i = 0; i < BAR_MAX; i++)
        text[length++] = i < filled ? '#' : '.';
    text[length++] = ']';
    return length + snprintf(text + length, 8, " %3d%%", (int)(part * 100));
}

static void draw(progress_t *progress, uint64_t done, uint64_t now)
{
    char left[64];
    char line[LINE_MAX_BYTES];
    remaining_text(progress, done, now, left, sizeof left);
    int length = bar_text(progress, done, line);
    length += snprintf(line + length, sizeof line - (size_t)length, "  step %" PRIu64 " of %" PRIu64 "  %s",
                       done, progress->total, left);
    int columns = os_terminal_columns(2);
    if (columns > 1 && length > columns - 1)
        length = columns - 1;
    int before = atomic_exchange(&progress->width, length);
    fprintf(stderr, "\r%.*s%*s", length, line, before > length ? before - length : 0, "");
    fflush(stderr);
}

void progress_show(progress_t *progress, uint64_t done)
{
    if (!progress->shown || done == 0)
        return;
    uint64_t now = os_clock_ns();
    if (now - progress->drawn < pause_between)
        return;
    progress->drawn = now;
    draw(progress, done, now);
}

void progress_erase(progress_t *progress)
{
    int width = atomic_exchange(&progress->width, 0);
    if (width == 0)
        return;
    fprintf(stderr, "\r%*s\r", width, "");
    fflush(stderr);
}
