/* descriptor.c - the magic, the sizes, the versions, the name and the lists of a descriptor.
 *
 * In this order, since each is only to be believed when those before it hold.
 */
#include "descriptor.h"

#include "../base/names.h"

#include <stddef.h>

/* Bytes of a descriptor of ABI 1.0: what is appended later may be missing. */
#define DESC_1_0 (offsetof(bp_plugin_desc_t, unload) + sizeof(void *))

static bp_result_t judge_abi(error_text_t *error, const bp_plugin_desc_t *desc)
{
    if (desc->magic != BP_PLUGIN_MAGIC)
        return error_set(error, BP_ERROR_ABI, "its '" BP_PLUGIN_SYMBOL "' is no plugin descriptor (wrong magic); begin it with BP_PLUGIN_HEAD");
    if (desc->pointer_size != sizeof(void *))
        return error_set(error, BP_ERROR_ABI, "it was built for pointers of %u bytes; this host has %zu", desc->pointer_size,
                         sizeof(void *));
    if (desc->abi_major != BP_ABI_MAJOR || desc->abi_minor > BP_ABI_MINOR)
        return error_set(error, BP_ERROR_ABI, "it was built for ABI %u.%u, which is too %s; this host has %u.%u: rebuild it with these headers",
                         desc->abi_major, desc->abi_minor, desc->abi_major < BP_ABI_MAJOR ? "old" : "new", BP_ABI_MAJOR,
                         BP_ABI_MINOR);
    if (desc->struct_size < DESC_1_0)
        return error_set(error, BP_ERROR_ABI, "its descriptor has %u bytes; ABI 1.0 has %u", desc->struct_size, (unsigned)DESC_1_0);
    return BP_OK;
}

bp_result_t descriptor_judge(error_text_t *error, const bp_plugin_desc_t *desc)
{
    bp_result_t result = judge_abi(error, desc);
    if (result != BP_OK)
        return result;
    if (desc->name == NULL || !names_is_word(desc->name))
        return error_set(error, BP_ERROR_ARGUMENT, "it has no proper name; a name is 1 to 63 letters, digits or underscores");
    if (desc->flags != 0)
        return error_set(error, BP_ERROR_ABI, "it has unknown flags 0x%llx", (unsigned long long)desc->flags);
    if ((desc->components.count > 0 && desc->components.items == NULL) ||
        (desc->systems.count > 0 && desc->systems.items == NULL) || (desc->options.count > 0 && desc->options.items == NULL))
        return error_set(error, BP_ERROR_ABI, "a list of its descriptor has a count but no items; use BP_LIST");
    return BP_OK;
}
