/* bp_columns.h - values of new instances by the manager's own `set`: for a `create` that has no quicker way to take
 *columns.
 *
 *     ... make `count` instances with default values, and fill `slots` ...
 *     result = bp_columns_set(m, set, fields, FIELD_COUNT, columns, slots, count);
 *     if (result != BP_OK)
 *         ... end them again ...
 *
 * What this header does not do: it is no part of the boundary between host and plugin. The header is compiled into
 * the plugin, and a later version may change it.
 */
#ifndef BP_HELPERS_COLUMNS_H
#define BP_HELPERS_COLUMNS_H

#include "../bp_component.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of one packed value of a type; 0: it is no type. [any] */
static inline uint32_t bp_columns_size(uint32_t type)
{
    static const uint8_t sizes[BP_TYPE_COUNT] = {0,  1, 4, 4, 8, 4, 8, 8, 12, 16, 16, 64,
                                                 16, 8, 8, 8, 1, 1, 2, 2, 8,  16, 24, 32};
    return type < BP_TYPE_COUNT ? sizes[type] : 0;
}

/* Set every field that has values in `columns` (NULL: none has), which is what `create` was handed: of an array all its
 * values. Returns the result of the first `set` that is refused; what was set before stays set. [main] */
static inline bp_result_t bp_columns_set(bp_manager_t *m,
                                         bp_result_t(BP_CALL *set)(bp_manager_t *m, uint32_t field,
                                                                   const uint32_t *slots, uint32_t count,
                                                                   const void *values, size_t stride),
                                         const bp_field_t *fields, uint32_t field_count, const void *const *columns,
                                         const uint32_t *slots, uint32_t count)
{
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; columns != NULL && f < field_count && result == BP_OK; f++) {
        if (columns[f] != NULL)
            result = set(m, f, slots, count, columns[f],
                         (size_t)bp_columns_size(fields[f].type) * (fields[f].count > 1 ? fields[f].count : 1));
    }
    return result;
}

#ifdef __cplusplus
}
#endif
#endif
