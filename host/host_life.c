/* host_life.c - a host's beginning and end.
 *
 * The parts of a host are made in the order in which they need each other and ended in the opposite one: schedules
 * before worlds, worlds before plugins, plugins before the registry, everything before the base whose accounts must
 * then stand at zero.
 */
#include "host.h"

#include "base/audit.h"
#include "plugin/loader.h"

/* A host's entities carry a tag, so that another host can tell that they are not its own. */
static uint32_t draw_tag(const bp_host_o *host)
{
    uint64_t state = (uint64_t)(uintptr_t)host;
    return 1 + bp_random_below(&state, ENTITY_MAX_TAG);
}

static void init_base(bp_host_o *host, const bp_host_desc_t *desc)
{
    base_t *base = &host->base;
    memory_init(&base->memory, "host", &desc->allocator);
#if defined(BACKPLANE_AUDIT)
    audit_begin(&base->memory);
#endif
    base->log = desc->log;
    base->random = desc->seed;
    names_init(&base->names, &base->memory);
    strings_init(&base->strings, &base->memory);
    uint32_t tag = desc->tag >= 1 && desc->tag <= ENTITY_MAX_TAG ? desc->tag : draw_tag(host);
    base->values = (value_context_t){.names = &base->names, .entity_base = tag << ENTITY_COUNTER_BITS};
}

bp_result_t host_set_threads(bp_host_o *host, uint32_t threads)
{
    if (threads > JOBS_MAX_THREADS)
        return error_set(&host->base.error, BP_ERROR_LIMIT, "%u threads; at most %d are allowed", threads, JOBS_MAX_THREADS);
    if (!host->own_jobs || threads <= 1 || host->crew.jobs.threads == threads)
        return BP_OK;
    jobs_t *pool;
    bp_result_t result = jobs_create(&host->base, threads, &pool);
    if (result != BP_OK)
        return result;
    if (host->pool != NULL)
        jobs_free(host->pool);
    host->pool = pool;
    host->crew.jobs = jobs_table(pool);
    return BP_OK;
}

static void *default_resize(const bp_allocator_i *allocator, void *old, size_t old_size, size_t new_size)
{
    memory_t once;
    memory_init(&once, "once", allocator);
    return old == NULL ? memory_resize_cleared(&once, NULL, 0, new_size) : memory_resize(&once, old, old_size, new_size);
}

bp_host_o *bp_host_create(const bp_host_desc_t *desc)
{
    bp_host_desc_t known = {0};
    if (desc != NULL)
        memcpy(&known, desc, desc->struct_size != 0 && desc->struct_size < sizeof known ? desc->struct_size : sizeof known);
    bp_host_o *host = default_resize(&known.allocator, NULL, 0, sizeof *host);
    if (host == NULL)
        return NULL;
    init_base(host, &known);
    registry_init(&host->registry, &host->base);
    entities_init(&host->entities, &host->base);
    destruction_init(&host->destruction, &host->base, &host->entities);
    scenes_init(&host->scenes, &host->base, host);
    host->api = host_tables();
    loader_init(&host->loader, &host->base, &host->registry, &host->api, host, known.static_plugins, known.static_plugin_count);
    host->loader.copies = (known.flags & BP_HOST_COPY_PLUGINS) != 0;
    reload_init(&host->reload, &host->base, &host->registry, &host->loader, &host->destruction, &host->layouts);
    hot_init(&host->hot, &host->reload);
    host->own_jobs = known.jobs.run == NULL;
    host->crew.jobs = known.jobs;
    if (host->own_jobs)
        host->crew.jobs.threads = 1;
    if (host_set_live(host, &known) != BP_OK || host_set_threads(host, known.threads) != BP_OK) {
        bp_host_destroy(host);
        return NULL;
    }
    return host;
}

void bp_host_destroy(bp_host_o *host)
{
    if (host == NULL)
        return;
    hot_free(&host->hot);
    reload_free(&host->reload);
    while (host->destruction.world_count > 0)
        bp_world_destroy(host->destruction.worlds[host->destruction.world_count - 1]);
    while (host->loader.count > 0)
        loader_unload(&host->loader, host->loader.plugins[host->loader.count - 1]);
    if (host->pool != NULL)
        jobs_free(host->pool);
    if (host->crew.trace != NULL)
        trace_free(host->crew.trace, &host->base);
    guard_destroy(host->loader.guard);
    loader_free(&host->loader);
    scenes_free(&host->scenes);
    destruction_free(&host->destruction);
    entities_free(&host->entities);
    registry_free(&host->registry);
    strings_free(&host->base.strings);
    names_free(&host->base.names);
    if (memory_bytes(&host->base.memory) > 0)
        log_write(&host->base.log, BP_LOG_WARNING, "host", "%zu bytes were not given back", memory_bytes(&host->base.memory));
#if defined(BACKPLANE_AUDIT)
    audit_end(&host->base.memory);
#endif
    bp_allocator_i allocator = host->base.memory.allocator;
    default_resize(&allocator, host, sizeof *host, 0);
}
