/* handover.h - a list that any thread fills and one thread empties whole: requests reach the thread that steps the
 * worlds through one such list, and answers come back through another.
 *
 *     loop thread:  handover_put(&asked, &request->item);      main thread:  item = handover_take(&asked);
 *
 * One atomic pointer, no lock: so a copy of the process that is made in the middle of a put (a trial of hot reload)
 * holds a list that is whole, and neither thread ever waits for the other.
 *
 * Not here: waking threads; the caller does.
 */
#ifndef INSPECTOR_HANDOVER_H
#define INSPECTOR_HANDOVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The first member of every item that is handed over. */
typedef struct handover_item_t {
    struct handover_item_t *next;
} handover_item_t;

typedef struct handover_t {
    _Atomic(handover_item_t *) newest;
} handover_t;

/* Add an item; from this call on the item is the taker's. Returns whether the list was empty. [any] */
static inline bool handover_put(handover_t *list, handover_item_t *item)
{
    handover_item_t *before = atomic_load_explicit(&list->newest, memory_order_relaxed);
    do
        item->next = before;
    while (!atomic_compare_exchange_weak_explicit(&list->newest, &before, item, memory_order_acq_rel,
                                                  memory_order_relaxed));
    return before == NULL;
}

/* Everything, oldest first; NULL where there is nothing. */
static inline handover_item_t *handover_take(handover_t *list)
{
    handover_item_t *item = atomic_exchange_explicit(&list->newest, NULL, memory_order_acq_rel), *oldest = NULL;
    while (item != NULL) {
        handover_item_t *next = item->next;
        item->next = oldest;
        oldest = item;
        item = next;
    }
    return oldest;
}

static inline bool handover_empty(handover_t *list)
{
    return atomic_load_explicit(&list->newest, memory_order_acquire) == NULL;
}

#endif
