/* plugin.c - whether a plugin is called, and which version's account its memory is in.
 *
 * Any thread may read `aside` while another one writes the sentence of a crash: the sentence is complete before `aside`
 * is set.
 */
#include "plugin.h"

#include "../os/os.h"

memory_t *plugin_account(plugin_t *plugin)
{
    return atomic_load(&plugin->account);
}

/* `allocating` is raised before `changing` is read, and plugin_begin_changing sets `changing` before it reads
 * `allocating`. So either this thread sees that the plugin's version is being changed, or the thread that changes it
 * waits for this call. */
void *plugin_resize(plugin_t *plugin, void *old, size_t old_size, size_t new_size)
{
    atomic_fetch_add(&plugin->allocating, 1);
    uint64_t changing = atomic_load(&plugin->changing);
    memory_t *account = &plugin->bystanders;
    if (changing == 0 || changing == os_thread_number())
        account = atomic_load(&plugin->account);
    else
        atomic_store(&plugin->mixed, true);
    void *block = memory_resize(account, old, old_size, new_size);
    atomic_fetch_sub(&plugin->allocating, 1);
    return block;
}

void plugin_begin_changing(plugin_t *plugin)
{
    enum { PATIENCE = 100000000 };
    uint64_t begin = os_clock_ns();
    atomic_store(&plugin->changing, os_thread_number());
    for (uint32_t turn = 0; atomic_load(&plugin->allocating) > 0 && os_clock_ns() - begin < PATIENCE; turn++)
        os_relax(turn);
}

bool plugin_is_aside(const plugin_t *plugin)
{
    return atomic_load_explicit(&plugin->aside, memory_order_acquire) == PLUGIN_ASIDE;
}

const char *plugin_crash(const plugin_t *plugin)
{
    return plugin->crash;
}

void plugin_trust(plugin_t *plugin)
{
    plugin->attended = false;
    atomic_store(&plugin->aside, PLUGIN_SOUND);
}

void plugin_set_aside(plugin_t *plugin)
{
    plugin->attended = true;
    atomic_store(&plugin->aside, PLUGIN_ASIDE);
}
