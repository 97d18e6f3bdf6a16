/* bubbles_objects.c - the game as the slides have it first: objects.
 *
 * Every entity is an object with a name and a list of components; every object, list and component is an
 * allocation of its own. A component has a table of virtual functions and knows its object. Code that needs another
 * component of an object walks the list and casts, and a cast walks from the component's class up to the one
 * wanted. (A dynamic_cast of C++ does the same with more work; the cast here is cheaper.) Components do their
 * work one at a time: an object moves, then avoids, then is drawn, before the next object's turn comes.
 */
#include "bubbles.h"

#include "worlds.h"

#include <stdlib.h>
#include <string.h>

/* --- classes -------------------------------------------------------------------------------------------- */

typedef struct object_t object_t;
typedef struct component_t component_t;

typedef struct class_t {
    const struct class_t *base;
    void (*start)(component_t *c, objects_t *game);
    void (*step)(component_t *c, const objects_t *game, float dt);
} class_t;

struct component_t {
    const class_t *class;
    object_t *object;
};

struct object_t {
    char name[32]; /* as large as a std::string, whose short texts need no allocation either */
    component_t **components;
    size_t count, capacity;
};

typedef struct list_t {
    component_t **items;
    size_t count, capacity;
} list_t;

struct objects_t {
    object_t **objects;
    size_t count;
    list_t avoided;
};

typedef struct position_t {
    component_t base;
    float x, y;
} position_t;

typedef struct look_t {
    component_t base;
    float red, green, blue;
    int32_t index;
    float scale;
} look_t;

typedef struct bounds_t {
    component_t base;
    game_bounds_t at;
} bounds_t;

typedef struct move_t {
    component_t base;
    float vx, vy;
    const bounds_t *bounds;
} move_t;

typedef struct avoided_t {
    component_t base;
    float distance;
} avoided_t;

typedef struct avoid_t {
    component_t base;
} avoid_t;

static void do_nothing_at_start(component_t *c, objects_t *game)
{
    (void)c, (void)game;
}

static void do_nothing(component_t *c, const objects_t *game, float dt)
{
    (void)c, (void)game, (void)dt;
}

static void start_move(component_t *c, objects_t *game);
static void step_move(component_t *c, const objects_t *game, float dt);
static void start_avoid(component_t *c, objects_t *game);
static void step_avoid(component_t *c, const objects_t *game, float dt);

static const class_t class_component = {NULL, do_nothing_at_start, do_nothing};
static const class_t class_position = {&class_component, do_nothing_at_start, do_nothing};
static const class_t class_look = {&class_component, do_nothing_at_start, do_nothing};
static const class_t class_bounds = {&class_component, do_nothing_at_start, do_nothing};
static const class_t class_move = {&class_component, start_move, step_move};
static const class_t class_avoided = {&class_component, do_nothing_at_start, do_nothing};
static const class_t class_avoid = {&class_component, start_avoid, step_avoid};

static void *cast(component_t *c, const class_t *wanted)
{
    for (const class_t *class = c->class; class != NULL; class = class->base) {
        if (class == wanted)
            return c;
    }
    return NULL;
}

static void *component_of(const object_t *object, const class_t *wanted)
{
    for (size_t i = 0; i < object->count; i++) {
        void *found = cast(object->components[i], wanted);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static void append(component_t ***items, size_t *count, size_t *capacity, component_t *c)
{
    if (*count == *capacity) {
        *capacity = *capacity == 0 ? 1 : *capacity * 2;
        *items = realloc(*items, *capacity * sizeof **items);
        if (*items == NULL) {
            fprintf(stderr, "bench: no memory for a list\n");
            exit(1);
        }
    }
    (*items)[(*count)++] = c;
}

/* --- components ----------------------------------------------------------------------------------------- */

static void start_move(component_t *c, objects_t *game)
{
    for (size_t i = game->count; i > 0; i--) { /* the bounds come last here */
        const bounds_t *bounds = component_of(game->objects[i - 1], &class_bounds);
        if (bounds != NULL) {
            ((move_t *)(void *)c)->bounds = bounds;
            return;
        }
    }
}

static void step_move(component_t *c, const objects_t *game, float dt)
{
    move_t *way = (move_t *)(void *)c;
    position_t *at = component_of(c->object, &class_position);
    const game_bounds_t *bounds = &way->bounds->at;
    (void)game;
    at->x += way->vx * dt;
    at->y += way->vy * dt;
    if (at->x < bounds->low_x) {
        way->vx = -way->vx;
        at->x = bounds->low_x;
    }
    if (at->x > bounds->high_x) {
        way->vx = -way->vx;
        at->x = bounds->high_x;
    }
    if (at->y < bounds->low_y) {
        way->vy = -way->vy;
        at->y = bounds->low_y;
    }
    if (at->y > bounds->high_y) {
        way->vy = -way->vy;
        at->y = bounds->high_y;
    }
}

static void start_avoid(component_t *c, objects_t *game)
{
    (void)c;
    if (game->avoided.count > 0)
        return;
    for (size_t i = 0; i < game->count; i++) {
        component_t *found = component_of(game->objects[i], &class_avoided);
        if (found != NULL)
            append(&game->avoided.items, &game->avoided.count, &game->avoided.capacity, found);
    }
}

static float distance2(const position_t *a, const position_t *b)
{
    float dx = a->x - b->x, dy = a->y - b->y;
    return dx * dx + dy * dy;
}

static void turn_back(const object_t *object, float dt)
{
    move_t *way = component_of(object, &class_move);
    way->vx = -way->vx;
    way->vy = -way->vy;
    position_t *at = component_of(object, &class_position);
    at->x += way->vx * dt * 1.1f;
    at->y += way->vy * dt * 1.1f;
}

static void take_colour(const object_t *object, const object_t *from)
{
    const look_t *theirs = component_of(from, &class_look);
    look_t *mine = component_of(object, &class_look);
    mine->red = theirs->red;
    mine->green = theirs->green;
    mine->blue = theirs->blue;
}

static void step_avoid(component_t *c, const objects_t *game, float dt)
{
    const position_t *mine = component_of(c->object, &class_position);
    for (size_t i = 0; i < game->avoided.count; i++) {
        const avoided_t *avoided = (const avoided_t *)(void *)game->avoided.items[i];
        const position_t *theirs = component_of(avoided->base.object, &class_position);
        if (distance2(mine, theirs) < avoided->distance * avoided->distance) {
            turn_back(c->object, dt);
            take_colour(c->object, avoided->base.object);
        }
    }
}

/* --- the game ------------------------------------------------------------------------------------------- */

static void *allocate(size_t size)
{
    void *block = calloc(1, size);
    if (block == NULL) {
        fprintf(stderr, "bench: no memory for an object\n");
        exit(1);
    }
    return block;
}

static object_t *new_object(objects_t *game, const char *name)
{
    object_t *object = allocate(sizeof *object);
    strcpy(object->name, name);
    game->objects[game->count++] = object;
    return object;
}

static void *new_component(object_t *object, const class_t *class, size_t size)
{
    component_t *c = allocate(size);
    c->class = class;
    c->object = object;
    append(&object->components, &object->count, &object->capacity, c);
    return c;
}

static void add_sprite(objects_t *game, const game_entity_t *e)
{
    object_t *object = new_object(game, e->distance > 0 ? "toavoid" : "object");
    position_t *at = new_component(object, &class_position, sizeof *at);
    at->x = e->x;
    at->y = e->y;
    look_t *look = new_component(object, &class_look, sizeof *look);
    look->red = e->colour.x;
    look->green = e->colour.y;
    look->blue = e->colour.z;
    look->index = e->index;
    look->scale = e->scale;
    move_t *way = new_component(object, &class_move, sizeof *way);
    way->vx = e->vx;
    way->vy = e->vy;
    if (e->distance > 0)
        ((avoided_t *)new_component(object, &class_avoided, sizeof(avoided_t)))->distance = e->distance;
    else
        new_component(object, &class_avoid, sizeof(avoid_t));
}

objects_t *objects_create(const game_entity_t *entities, uint32_t count, game_bounds_t bounds)
{
    objects_t *game = allocate(sizeof *game);
    game->objects = worlds_memory((size_t)count + 1, sizeof *game->objects);
    for (uint32_t i = 0; i < count; i++)
        add_sprite(game, &entities[i]);
    bounds_t *all = new_component(new_object(game, "bounds"), &class_bounds, sizeof *all);
    all->at = bounds;
    for (size_t i = 0; i < game->count; i++) {
        object_t *object = game->objects[i];
        for (size_t k = 0; k < object->count; k++)
            object->components[k]->class->start(object->components[k], game);
    }
    return game;
}

void objects_destroy(objects_t *game)
{
    for (size_t i = 0; i < game->count; i++) {
        object_t *object = game->objects[i];
        for (size_t k = 0; k < object->count; k++)
            free(object->components[k]);
        free(object->components);
        free(object);
    }
    free(game->avoided.items);
    free(game->objects);
    free(game);
}

uint32_t objects_step(objects_t *game, float dt, bp_sprite_t *frame)
{
    uint32_t count = 0;
    for (size_t i = 0; i < game->count; i++) {
        const object_t *object = game->objects[i];
        for (size_t k = 0; k < object->count; k++)
            object->components[k]->class->step(object->components[k], game, dt);
        const position_t *at = component_of(object, &class_position);
        const look_t *look = component_of(object, &class_look);
        if (at == NULL || look == NULL)
            continue;
        bp_sprite_t *sprite = &frame[count++];
        sprite->x = at->x * GAME_ZOOM;
        sprite->y = at->y * GAME_ZOOM;
        sprite->scale = look->scale * GAME_ZOOM;
        sprite->red = look->red;
        sprite->green = look->green;
        sprite->blue = look->blue;
        sprite->index = (float)look->index;
    }
    return count;
}
