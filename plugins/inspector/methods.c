/* methods.c - the lists of methods put together (methods.h). */
#include "methods.h"

#include "near.h"

static const method_t *const lists[] = {
    brp_methods, brp_resources, brp_watches, backplane_methods, backplane_watches,
    backplane_host_methods, unit_methods, change_methods, discover_methods};

const method_t *methods_at(uint32_t index)
{
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (const method_t *method = lists[l]; method->name != NULL; method++)
            if (index-- == 0)
                return method;
    return NULL;
}

const method_t *methods_find(const char *name)
{
    const method_t *method;
    for (uint32_t i = 0; (method = methods_at(i)) != NULL; i++)
        if (strcmp(method->name, name) == 0)
            return method;
    return NULL;
}

const char *methods_near(const char *name)
{
    const method_t *method;
    near_t near = {.wanted = name};
    for (uint32_t i = 0; (method = methods_at(i)) != NULL; i++)
        near_consider(&near, method->name);
    return near.best;
}
