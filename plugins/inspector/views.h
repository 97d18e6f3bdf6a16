/* views.h - pieces of answers that several methods share: worlds, types, entities as the page shows them.
 *
 * Not here: reading parameters.
 */
#ifndef INSPECTOR_VIEWS_H
#define INSPECTOR_VIEWS_H

#include "ask.h"
#include "gather.h"

/* [{"name","step","time","dt","entities"...}, ...]: every world with its clock and figures. */
void views_worlds(const inspector_t *in, writer_t *w);

/* {"first","now","last",...}: the steps that the host remembers; null where it remembers nothing. */
void views_history(const inspector_t *in, writer_t *w);

/* [{"type","doc","plugin","fields":[{"name","type","unit",...}]}, ...]; units as `world` calls them, or as the fields
 * declare them where it is NULL. */
void views_types(const inspector_t *in, writer_t *w, bp_world_o *world);

/* A number that is another one when plugins have come, gone, or been reloaded with other types, and when one has
 * crashed: a client that has read the types reads them again then. */
uint64_t views_revision(const inspector_t *in);

/* [{"name","type","component","count"}, ...]: the components that entities of a world have. */
void views_components(const inspector_t *in, writer_t *w, bp_world_o *world);

/* {"entity","id","name"}: the content of a row of a list; "gone" where the entity is dead. Leaves the object open. */
void views_row(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity);

/* An entity with all its components and their values. */
void views_entity(const inspector_t *in, writer_t *w, bp_world_o *world, bp_entity_t entity);

/* The value of a property of one entity, or of a part of it; null where the entity lacks the property. */
void views_value(const inspector_t *in, writer_t *w, bp_world_o *world, const gather_t *gather, bp_entity_t entity);

#endif
