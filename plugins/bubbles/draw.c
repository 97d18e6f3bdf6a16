/* draw.c - the system bubbles_draw: columns to the frame's sprites.
 *
 * The system writes 28 bytes for each sprite, and these writes set its speed. Compilers do not turn seven columns into
 * records of seven floats by themselves, so four sprites at a time are laid out by hand: their 28 floats are seven
 * vectors, each put together from the columns by two shuffles. The code uses the vectors of GCC and Clang (not of one
 * processor), with the plain loop for other compilers, and for the sprites left over.
 *
 * Large frames are written past the caches where the processor has such stores: a frame is read by the renderer, not by
 * the next step, so the caches are left to the columns. Such stores need addresses divisible by 16: four sprites are
 * 112 bytes, so after at most three single sprites all addresses are.
 */
#include "bubbles.h"

#include <stdatomic.h>
#include <string.h>

enum { PAST_CACHES_FROM = 4 * 1024 * 1024 }; /* bytes of a frame */

/* The columns of a range of rows. */
typedef struct columns_t {
    const float *x, *y, *scale;
    const bp_vec3_t *colour;
    const int32_t *index;
    float zoom;
} columns_t;

static void draw_plainly(const columns_t *c, bp_sprite_t *sprites, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++)
        sprites[i] = (bp_sprite_t){.x = c->x[i] * c->zoom,
                                   .y = c->y[i] * c->zoom,
                                   .scale = c->scale[i] * c->zoom,
                                   .red = c->colour[i].x,
                                   .green = c->colour[i].y,
                                   .blue = c->colour[i].z,
                                   .index = (float)c->index[i]};
}

#if defined(__has_builtin) && defined(__GNUC__)
#if __has_builtin(__builtin_shufflevector) && __has_builtin(__builtin_convertvector)
#define FOUR_AT_A_TIME
#endif
#endif

#ifdef FOUR_AT_A_TIME

typedef float four_t __attribute__((vector_size(16)));
typedef int32_t four_integers_t __attribute__((vector_size(16)));

#define SHUFFLE __builtin_shufflevector

static inline four_t load(const float *from)
{
    four_t v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline four_t load_integers(const int32_t *from)
{
    four_integers_t v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, four_t);
}

/* `to` is divisible by 16 where past_caches is set. */
static inline void store(float *to, four_t v, uint32_t past_caches)
{
#if defined(__clang__)
    if (past_caches) {
        __builtin_nontemporal_store(v, (four_t *)(void *)to);
        return;
    }
#elif defined(__SSE2__)
    if (past_caches) {
        __builtin_ia32_movntps(to, v);
        return;
    }
#endif
    (void)past_caches;
    memcpy(to, &v, sizeof v);
}

/* Makes stores past the caches visible before all later stores: stores past the caches keep no order of their own. The
 * fence is the processor's own where it has one, since ThreadSanitizer refuses the fences of the language. */
static inline void order_stores(void)
{
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#else
    atomic_thread_fence(memory_order_release);
#endif
}

/* Four sprites from row `i` on: the vectors are x y s r | g b i x | y s r g | b i x y | s r g b | i x y s
 * | r g b i, and the sprites' numbers in them 0000 | 0001 | 1111 | 1122 | 2222 | 2333 | 3333. */
static inline void draw_four(const columns_t *c, uint32_t i, float *to, uint32_t past_caches)
{
    four_t x = load(c->x + i) * c->zoom, y = load(c->y + i) * c->zoom, s = load(c->scale + i) * c->zoom;
    four_t n = load_integers(c->index + i);
    const float *colours = &c->colour[i].x;
    four_t rgbr = load(colours), gbrg = load(colours + 4), brgb = load(colours + 8);
    four_t x0y0x1y1 = SHUFFLE(x, y, 0, 4, 1, 5), x2y2x3y3 = SHUFFLE(x, y, 2, 6, 3, 7);
    four_t n0x1n2x3 = SHUFFLE(n, x, 0, 5, 2, 7), y1s1y3s3 = SHUFFLE(y, s, 1, 5, 3, 7);
    four_t s0r0 = SHUFFLE(s, rgbr, 0, 4, 1, 5), s2r2 = SHUFFLE(s, gbrg, 2, 6, 2, 6);
    four_t b1n1 = SHUFFLE(gbrg, n, 1, 5, 1, 5);
    store(to, SHUFFLE(x0y0x1y1, s0r0, 0, 1, 4, 5), past_caches);
    store(to + 4, SHUFFLE(rgbr, n0x1n2x3, 1, 2, 4, 5), past_caches);
    store(to + 8, SHUFFLE(y1s1y3s3, SHUFFLE(rgbr, gbrg, 3, 4, 3, 4), 0, 1, 4, 5), past_caches);
    store(to + 12, SHUFFLE(b1n1, x2y2x3y3, 0, 1, 4, 5), past_caches);
    store(to + 16, SHUFFLE(s2r2, SHUFFLE(gbrg, brgb, 3, 4, 3, 4), 0, 1, 4, 5), past_caches);
    store(to + 20, SHUFFLE(n0x1n2x3, y1s1y3s3, 2, 3, 6, 7), past_caches);
    store(to + 24, SHUFFLE(brgb, n, 1, 2, 3, 7), past_caches);
}

static uint32_t draw_fours(const columns_t *c, bp_sprite_t *sprites, uint32_t first, uint32_t last,
                           uint32_t past_caches)
{
    uint32_t i = first;
    if (past_caches) {
        for (; i + 4 <= last; i += 4)
            draw_four(c, i, &sprites[i].x, 1);
        order_stores();
    } else {
        for (; i + 4 <= last; i += 4)
            draw_four(c, i, &sprites[i].x, 0);
    }
    return i;
}

static void draw(const columns_t *c, bp_sprite_t *sprites, uint32_t count, uint32_t past_caches)
{
    uint32_t first = 0;
    while (first < count && (uintptr_t)(sprites + first) % 16 != 0)
        first++;
    draw_plainly(c, sprites, 0, first);
    draw_plainly(c, sprites, draw_fours(c, sprites, first, count, past_caches), count);
}

#else

static void draw(const columns_t *c, bp_sprite_t *sprites, uint32_t count, uint32_t past_caches)
{
    (void)past_caches;
    draw_plainly(c, sprites, 0, count);
}

#endif

void bubbles_draw_run(const bp_match_t *match, uint32_t count)
{
    enum { POSITION, SPRITE };
    const bp_manager_t *m = match->system->state;
    const bubbles_frame_t *frame = m->state;
    bp_sprite_t *sprites = bubbles_frame_at(frame, match->entities);
    BP_COLUMNS(struct plane_read, position, match->columns[POSITION]);
    BP_COLUMNS(struct sprite_read, sprite, match->columns[SPRITE]);
    columns_t columns = {.x = position.x,
                         .y = position.y,
                         .scale = sprite.scale,
                         .colour = sprite.colour,
                         .index = sprite.index,
                         .zoom = match->system->plugin->options[OPTION_ZOOM].f32};
    if (sprites != NULL)
        draw(&columns, sprites, count, frame->count * sizeof *sprites >= PAST_CACHES_FROM);
}
