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

/* Three digits, or four. */
static void scale(double value, const char *const units[], uint32_t count, double factor, char text[24])
{
    uint32_t i = 0;
    while (i + 1 < count && value >= 10000) {
        value /= factor;
        i++;
    }
    snprintf(text, 24, value < 1 ? "%.3f %s" : value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value,
             units[i]);
}

void table_value(figure_unit_t unit, double value, char text[24])
{
    static const char *const times[] = {"ns", "us", "ms", "s"}, *const bytes[] = {"B", "kB", "MB", "GB"};
    if (unit == UNIT_NS)
        scale(value, times, 4, 1000, text);
    else if (unit == UNIT_BYTES)
        scale(value, bytes, 4, 1000, text);
    else
        snprintf(text, 24, "%.3g%s", value, unit == UNIT_PERCENT ? " %" : " steps");
}

static void describe_bound(const result_t *result, char text[24])
{
    if (result->bound.kind == BOUND_RATIO)
        snprintf(text, 24, "%g x", result->bound.limit);
    else if (result->bound.kind == BOUND_VALUE)
        table_value(result->unit, result->bound.limit, text);
    else if (result->most_held > 0)
        table_value(UNIT_BYTES, result->most_held, text);
    else
        snprintf(text, 24, "-");
}

void table_row(FILE *out, const result_t *result)
{
    char size[16], each[24], floor[24] = "-", ratio[16] = "-", bound[24];
    table_size(result->size, size);
    table_value(result->unit, result->value, each);
    if (result->ratio > 0) {
        table_value(result->unit, result->floor, floor);
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
