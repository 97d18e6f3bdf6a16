/* forces.c - short-range forces in a grid of cells, summed in an order of their own.
 *
 * Two bodies nearer to each other than `radius` push each other away: f = stiffness * (1 - distance / radius). The
 * cells of a grid are at least that wide, which leaves 27 cells to look into for each body.
 *
 * A sum of numbers depends on their order, and the order of rows on the bodies that came and went. So the neighbours
 * that act on a body are put in the order of the bodies' numbers before the forces are added up: whatever rows, cells
 * and machines the neighbours lie in, the sum is the same to the last bit.
 */
#include "gas.h"

#include <math.h>
#include <stdlib.h>

typedef struct grid_t {
    double width;  /* of a cell */
    uint32_t counts[3];
} grid_t;

/* Cells along an axis, at least one. */
static uint32_t cells_along(double extent, double width)
{
    double cells = floor(extent / width);
    return cells < 1 ? 1 : cells > 1024 ? 1024 : (uint32_t)cells;
}

/* A grid as fine as the radius allows, with no more cells than the number of bodies asks for. */
static grid_t grid_of(bp_dvec3_t box, double radius, uint32_t bodies)
{
    grid_t grid = {.width = radius};
    for (;; grid.width *= 1.5) {
        grid.counts[0] = cells_along(box.x, grid.width);
        grid.counts[1] = cells_along(box.y, grid.width);
        grid.counts[2] = cells_along(box.z, grid.width);
        double cells = (double)grid.counts[0] * grid.counts[1] * grid.counts[2];
        if (cells <= 4.0 * bodies + 64.0)
            return grid;
    }
}

static uint32_t place(double at, double extent, uint32_t cells)
{
    double cell = extent > 0 ? floor(at / extent * cells) : 0;
    return cell >= 0 ? (cell < cells ? (uint32_t)cell : cells - 1) : 0;
}

static void place_body(const grid_t *grid, bp_dvec3_t box, bp_dvec3_t at, uint32_t cell[3])
{
    cell[0] = place(at.x, box.x, grid->counts[0]);
    cell[1] = place(at.y, box.y, grid->counts[1]);
    cell[2] = place(at.z, box.z, grid->counts[2]);
}

static uint32_t number_of_cell(const grid_t *grid, uint32_t x, uint32_t y, uint32_t z)
{
    return (z * grid->counts[1] + y) * grid->counts[0] + x;
}

/* Sort the bodies into cells by counting. */
static void sort_into_cells(gas_t *gas, const grid_t *grid, bp_dvec3_t box)
{
    for (uint32_t c = 0; c <= gas->cells; c++)
        gas->first[c] = 0;
    for (uint32_t i = 0; i < gas->count; i++) {
        uint32_t cell[3];
        place_body(grid, box, gas->bodies[i].position, cell);
        gas->cell_of[i] = number_of_cell(grid, cell[0], cell[1], cell[2]);
        gas->first[gas->cell_of[i]]++;
    }
    uint32_t sum = 0;
    for (uint32_t c = 0; c <= gas->cells; c++) {
        uint32_t here = gas->first[c];
        gas->first[c] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < gas->count; i++)
        gas->order[gas->first[gas->cell_of[i]]++] = i;
    for (uint32_t c = gas->cells; c > 0; c--)
        gas->first[c] = gas->first[c - 1];
    gas->first[0] = 0;
}

static double square(double x)
{
    return x * x;
}

static double distance2(bp_dvec3_t a, bp_dvec3_t b)
{
    return square(a.x - b.x) + square(a.y - b.y) + square(a.z - b.z);
}

/* Append the bodies of a cell that are near to `near`. */
static uint32_t gather_cell(gas_t *gas, uint32_t body, uint32_t cell, double radius2, uint32_t found)
{
    for (uint32_t k = gas->first[cell]; k < gas->first[cell + 1]; k++) {
        const gas_body_t *other = &gas->bodies[gas->order[k]];
        if (gas->order[k] != body && distance2(gas->bodies[body].position, other->position) < radius2)
            gas->near[found++] = *other;
    }
    return found;
}

static uint32_t gather_near(gas_t *gas, const grid_t *grid, bp_dvec3_t box, uint32_t body, double radius2)
{
    uint32_t cell[3], found = 0;
    place_body(grid, box, gas->bodies[body].position, cell);
    for (uint32_t z = cell[2] - (cell[2] > 0); z <= cell[2] + 1 && z < grid->counts[2]; z++)
        for (uint32_t y = cell[1] - (cell[1] > 0); y <= cell[1] + 1 && y < grid->counts[1]; y++)
            for (uint32_t x = cell[0] - (cell[0] > 0); x <= cell[0] + 1 && x < grid->counts[0]; x++)
                found = gather_cell(gas, body, number_of_cell(grid, x, y, z), radius2, found);
    return found;
}

static int compare(const void *a, const void *b)
{
    uint64_t first = ((const gas_body_t *)a)->number, second = ((const gas_body_t *)b)->number;
    return first < second ? -1 : first > second;
}

/* Sort the near bodies by number; by insertion, since as a rule they are few. */
static void sort_by_number(gas_body_t *near, uint32_t count)
{
    if (count > 64) {
        qsort(near, count, sizeof *near, compare);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        gas_body_t body = near[i];
        uint32_t k = i;
        for (; k > 0 && near[k - 1].number > body.number; k--)
            near[k] = near[k - 1];
        near[k] = body;
    }
}

static bp_dvec3_t sum_of(const gas_body_t *body, const gas_body_t *near, uint32_t count, double radius,
                         double stiffness)
{
    bp_dvec3_t sum = {0, 0, 0};
    for (uint32_t k = 0; k < count; k++) {
        double distance = sqrt(distance2(body->position, near[k].position));
        double factor = distance > 0 ? stiffness * (1 - distance / radius) / distance : 0;
        sum.x += (body->position.x - near[k].position.x) * factor;
        sum.y += (body->position.y - near[k].position.y) * factor;
        sum.z += (body->position.z - near[k].position.z) * factor;
    }
    return sum;
}

bool gas_forces(bp_system_t *s, gas_t *gas, bp_dvec3_t *forces)
{
    const bp_value_t *option = s->plugin->options;
    bp_dvec3_t box = option[GAS_BOX].dvec3;
    double radius = option[GAS_RADIUS].f64;
    grid_t grid = grid_of(box, radius, gas->count);
    gas->cells = grid.counts[0] * grid.counts[1] * grid.counts[2];
    if (gas->cells + 1 > gas->cell_room) {
        uint32_t *first = s->api->memory->resize(s->plugin, gas->first, gas->cell_room * sizeof *first,
                                                 (gas->cells + 1) * sizeof *first);
        if (first == NULL)
            return false;
        gas->first = first;
        gas->cell_room = gas->cells + 1;
    }
    sort_into_cells(gas, &grid, box);
    for (uint32_t i = 0; i < gas->own; i++) {
        uint32_t near = gather_near(gas, &grid, box, i, radius * radius);
        sort_by_number(gas->near, near);
        forces[i] = sum_of(&gas->bodies[i], gas->near, near, radius, option[GAS_STIFFNESS].f64);
    }
    return true;
}
