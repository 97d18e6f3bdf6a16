/* table.c - results for people: one row as soon as it is known, a count of verdicts at the end. */
#include "bench.h"

#include <string.h>

void table_size(uint32_t size, char text[16])
{
    if (size >= 1000000 && size % 10000 == 0)
        snprintf(text, 16, "%gM", size / 1e6);
    else if (size >= 1000 && size % 1000 == 0)
        snprintf(text, 16, "%uk", size / 1000);
    else
        snprintf(text, 16, "%u", size);
}

void table_begin(FILE *out)
{
    fprintf(out, "%-46s %7s %11s %11s %7s %10s  %s\n", "name", "size", "each", "floor", "ratio", "bound",
            "verdict");
}

static void describe_bound(const result_t *result, char text[24])
{
    static const char *const units[] = {"", "x", "ns", "B"};
    if (result_is_bound(result))
        snprintf(text, 24, "%g %s", result->bound.limit, units[result->bound.kind]);
    else
        snprintf(text, 24, "-");
}

void table_row(FILE *out, const result_t *result)
{
    char size[16], each[24], floor[24] = "-", ratio[16] = "-", bound[24];
    table_size(result->size, size);
    if (result->counter != NULL)
        snprintf(each, sizeof each, "%.1f B", result->bytes);
    else
        snprintf(each, sizeof each, "%.2f ns", result->real_ns);
    if (result->ratio > 0) {
        snprintf(floor, sizeof floor, "%.2f ns", result->floor_ns);
        snprintf(ratio, sizeof ratio, "%.2f", result->ratio);
    }
    describe_bound(result, bound);
    const char *verdict = !result_is_bound(result) ? "" : result_is_kept(result) ? "ok" : "over";
    fprintf(out, "%-46s %7s %11s %11s %7s %10s", result->name, size, each, floor, ratio, bound);
    if (result->held > 0)
        fprintf(out, "  holds %.2f MB", result->held / 1e6);
    fprintf(out, "%s%s\n", verdict[0] != '\0' ? "  " : "", verdict);
    fflush(out);
}

void table_end(FILE *out, const results_t *results)
{
    uint32_t kept = 0, over = 0;
    for (uint32_t i = 0; i < results->count; i++) {
        if (!result_is_bound(&results->items[i]))
            continue;
        if (result_is_kept(&results->items[i]))
            kept++;
        else
            over++;
    }
    fprintf(out, "%u figures, %u of %u bounds kept\n", results->count, kept, kept + over);
}
