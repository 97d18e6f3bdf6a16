/* numbers.h - what a number of one host's world is in the same world of another host, which began as its clone.
 *
 * Components, keys and prototypes are numbered as they come about. Where the two hosts have gone different ways since,
 * the same number may mean different things, and calls that were made in one of them name others in the other.
 *
 * Not here: the calls (journal.h).
 */
#ifndef HOST_HISTORY_NUMBERS_H
#define HOST_HISTORY_NUMBERS_H

#include "../store/world.h"

/* The number in the world `in` of what has this number in the world `of`: of the component of the same type, of the key
 * of the same type and name, and of the prototype of the same keys. BP_NONE where `in` has none. Nothing is made. */
uint32_t numbers_component(const world_t *of, const world_t *in, uint32_t component);
uint32_t numbers_key(const world_t *of, const world_t *in, uint32_t key);
uint32_t numbers_prototype(const world_t *of, const world_t *in, uint32_t prototype);

/* The same number of a key, which is made where `in` lacks it and has the component. Returns BP_NONE, with an error of
 * `in`, where it has not, or memory lacks. numbers_bring_keys makes all keys that `of` has, in their order, so far as
 * that is possible. [main], between steps */
uint32_t numbers_need_key(const world_t *of, world_t *in, uint32_t key);
void numbers_bring_keys(const world_t *of, world_t *in);

#endif
