/* scan.c - rows of prototypes, block by block, and their columns for a condition (scan.h). */
#include "scan.h"

#include "look.h"
#include "values.h"

/* --- binding ---------------------------------------------------------------------------------------------------- */

/* Find the column of one field in the prototype that the scan has come to. `found` counts the components of the
 * prototype that are called as the field's is; where there are several, all of them are looked at, by gathering. */
static void bind_field(const inspector_t *in, bp_world_o *world, uint32_t prototype, scan_t *scan, uint32_t f,
                       const gather_t *field, const look_part_t *part, uint32_t found)
{
    static const char present;
    bp_field_t declared;
    scan->fields[f].missing = false;
    scan->fields[f].column = field->property[0] == '\0' ? &present : NULL; /* a presence has no values to be read */
    if (found > 1 || field->property[0] == '\0')
        return;
    uint32_t number = look_field_named(in, part->type, field->property, &declared);
    if (number != BP_NONE && declared.type == field->type && declared.count <= 1 && !(declared.flags & BP_FIELD_LIST))
        scan->fields[f].column = in->look->column(world, prototype, part->key, number);
}

static void bind_prototype(const inspector_t *in, bp_world_o *world, const bp_look_prototype_t *prototype,
                           const condition_t *condition, const gather_t *fields, scan_t *scan)
{
    uint32_t keys[LOOK_PARTS_MAX], found[CONDITION_FIELDS_MAX] = {0};
    uint32_t count = in->look->keys(world, prototype->prototype, keys, LOOK_PARTS_MAX);
    look_part_t part;
    for (uint32_t f = 0; f < condition->field_count; f++) {
        scan->fields[f].missing = count <= LOOK_PARTS_MAX; /* else not all keys are seen here */
        scan->fields[f].column = NULL;
    }
    for (uint32_t i = 0; i < count && i < LOOK_PARTS_MAX; i++) {
        if (!look_part(in, world, keys[i], &part))
            continue;
        for (uint32_t f = 0; f < condition->field_count; f++)
            if (look_is_called(&part, fields[f].component))
                bind_field(in, world, prototype->prototype, scan, f, &fields[f], &part, ++found[f]);
    }
}

/* --- going on --------------------------------------------------------------------------------------------------- */

/* See whether rows have moved since the scan was last gone on with. */
static void look_for_moves(const inspector_t *in, bp_world_o *world, scan_t *scan)
{
    bp_look_world_t told = {.struct_size = sizeof told};
    for (uint32_t cursor = 0; in->look->world(in->host, &cursor, &told);)
        if (told.world == world)
            break;
    scan->moved = scan->moved || (scan->begun && scan->structure != told.structure);
    scan->begun = true;
    scan->structure = told.structure;
}

bool scan_next(const inspector_t *in, bp_world_o *world, scan_t *scan, const condition_t *condition,
               const gather_t *fields, scan_block_t *block)
{
    bp_look_prototype_t prototype = {.struct_size = sizeof prototype};
    uint32_t certain = condition == NULL ? BP_NONE : condition_certain(condition), cursor;
    look_for_moves(in, world, scan);
    while (cursor = scan->prototype, in->look->prototype(world, &cursor, &prototype)) {
        if (condition != NULL && (!scan->bound || scan->binding != prototype.prototype))
            bind_prototype(in, world, &prototype, condition, fields, scan);
        scan->bound = true;
        scan->binding = prototype.prototype;
        bool none = certain != BP_NONE && scan->fields[certain].missing;
        if (scan->row < prototype.row_count && !none) {
            uint32_t rest = prototype.row_count - scan->row;
            block->scan = scan;
            block->entities = prototype.entities + scan->row;
            block->first = scan->row;
            block->count = rest < CONDITION_ROWS ? rest : CONDITION_ROWS;
            scan->row += block->count;
            return true;
        }
        scan->prototype = cursor;
        scan->row = 0;
    }
    return false;
}

/* --- testing ---------------------------------------------------------------------------------------------------- */

/* Bytes that gathering a field's values for a block takes: the values, and for each whether there is one. */
static size_t room_of(const scan_block_t *block, uint32_t f)
{
    bool lies = block != NULL && (block->scan->fields[f].missing || block->scan->fields[f].column != NULL);
    return lies ? 0 : (size_t)CONDITION_ROWS * (sizeof(bp_value_t) + 1);
}

bool scan_test(const inspector_t *in, bp_world_o *world, const condition_t *condition, const gather_t *fields,
               const condition_words_t *words, const scan_block_t *block, const bp_entity_t *entities, uint32_t count,
               uint8_t *mask)
{
    condition_column_t columns[CONDITION_FIELDS_MAX] = {{0}};
    size_t room = 0;
    for (uint32_t f = 0; f < condition->field_count; f++)
        room += room_of(block, f);
    char *memory = room == 0 ? NULL : allocator_resize(&in->allocator, NULL, 0, room), *at = memory;
    if (room > 0 && memory == NULL)
        return false;
    for (uint32_t f = 0; f < condition->field_count; f++) {
        uint32_t size = shape_size(fields[f].type);
        columns[f] = (condition_column_t){NULL, size, fields[f].type, NULL};
        if (room_of(block, f) > 0) {
            uint8_t *has = (uint8_t *)at + (size_t)CONDITION_ROWS * sizeof(bp_value_t);
            uint32_t found = gather_values(in, world, &fields[f], entities, count, at, has);
            columns[f].values = found == 0 ? NULL : at;
            columns[f].has = found == count ? NULL : has;
            at += room_of(block, f);
        } else if (!block->scan->fields[f].missing) {
            columns[f].values = block->scan->fields[f].column + (size_t)block->first * size;
        }
    }
    condition_test(condition, columns, words, count, mask);
    allocator_free(&in->allocator, memory, room);
    return true;
}
