/* inventory.c - the things that an entity carries, as lists: kinds, weights, and how long each thing lasts. Things wear
 * out, and the things left are weighed.
 */
#include <bp_plugin.h>

#include <stdbool.h>

struct inventory { bp_list_t *kinds, *weights, *left; float *load; };

static const bp_field_t fields[] = {
    {BP_LIST_OF(struct inventory, kinds, BP_U8), .values = "torch rope potion coin", .doc = "what is carried"},
    {BP_LIST_OF(struct inventory, weights, BP_F32), .min = "0", .unit = "kg", .doc = "of each thing"},
    {BP_LIST_OF(struct inventory, left, BP_F32), .min = "0", .unit = "s", .doc = "until it is used up; 0: it lasts"},
    {BP_FIELD_OF(struct inventory, load), .flags = BP_FIELD_READ_ONLY, .unit = "kg", .doc = "of all things together"},
};

static void drop(const struct inventory *c, uint32_t row, uint32_t thing)
{
    bp_list_remove(&c->kinds[row], thing, sizeof(uint8_t));
    bp_list_remove(&c->weights[row], thing, sizeof(float));
    bp_list_remove(&c->left[row], thing, sizeof(float));
}

/* The number of things: the three lists are set one by one, so one of them may be longer, and only entries that all
 * three have count. */
static uint32_t things(const struct inventory *c, uint32_t row)
{
    uint32_t count = c->kinds[row].count;
    count = c->weights[row].count < count ? c->weights[row].count : count;
    return c->left[row].count < count ? c->left[row].count : count;
}

static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct inventory, c, run->columns);
    float dt = (float)run->step->dt;
    for (uint32_t row = 0; row < count; row++) {
        c.load[row] = 0;
        for (uint32_t i = things(&c, row); i > 0; i--) {
            float *left = (float *)c.left[row].items + i - 1;
            float weight = ((const float *)c.weights[row].items)[i - 1];
            bool lasts = !(*left > 0);
            *left = lasts ? 0 : *left - dt;
            if (lasts || *left > 0)
                c.load[row] += weight;
            else
                drop(&c, row, i - 1);
        }
    }
}

static const bp_component_i components[] = {
    {.doc = "the things that an entity carries", .fields = BP_LIST(fields), .simulate = simulate},
};

BP_PLUGIN(inventory) = {.version = "1.0", .components = BP_LIST(components)};
