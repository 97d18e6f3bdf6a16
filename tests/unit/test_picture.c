/* test_picture.c - what the plugin picture paints: which pixel a sprite lights, and how balls lie over
 * points.
 *
 * The painting alone is linked in here, since it needs no library; the file that comes of it is the subject
 * of tests/scripts/picture.sh.
 */
#include "../suites.h"

#include "../../plugins/picture/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 40, HEIGHT = 20 };

static uint8_t pixels[WIDTH * HEIGHT * 3];
static float light[WIDTH * HEIGHT * 4];

/* Ten pixels for a unit; black behind. */
static const picture_look plain = {
    .width = WIDTH, .height = HEIGHT, .view = {2, 1}, .points = 4, .exposure = 100};

static void paint(const picture_look *look, const bp_sprite_t *sprites, uint32_t count)
{
    memset(pixels, 0x55, sizeof pixels);
    picture_paint(look, sprites, count, light, pixels);
}

static uint32_t pixel(uint32_t column, uint32_t row)
{
    const uint8_t *p = pixels + 3 * (row * WIDTH + column);
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

/* How many pixels are not black. */
static uint32_t lit(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        count += pixel(i % WIDTH, i / WIDTH) != 0;
    return count;
}

START_TEST(nothing_leaves_the_background)
{
    picture_look look = plain;
    look.background = (bp_colour_t){1, 0.5f, 0, 1};
    paint(&look, NULL, 0);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        ck_assert_uint_eq(pixel(i % WIDTH, i / WIDTH), 0xff8000);
}
END_TEST

START_TEST(a_point_lights_the_pixel_that_it_is_in_the_middle_of)
{
    /* The middles of column 25 from the left and row 2 from the top. */
    const bp_sprite_t sprite = {.x = 0.55f, .y = 0.75f, .scale = 0.1f, .red = 1, .blue = 0.5f};
    paint(&plain, &sprite, 1);
    ck_assert_uint_eq(pixel(25, 2), 0xff0080);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        uint32_t far = (i % WIDTH < 24 || i % WIDTH > 26) || i / WIDTH < 1 || i / WIDTH > 3;
        ck_assert(!far || pixel(i % WIDTH, i / WIDTH) == 0);
    }
}
END_TEST

START_TEST(softness_spreads_light_and_loses_none)
{
    const bp_sprite_t sprite = {.x = 0.05f, .y = 0.05f, .scale = 0.1f, .red = 1, .green = 1, .blue = 1};
    picture_look look = plain;
    float sum = 0;
    look.softness = 3;
    paint(&look, &sprite, 1);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        sum += light[4 * i];
    ck_assert(fabsf(sum - 1) < 1e-5f);
    ck_assert_uint_eq(lit(), 49);
}
END_TEST

START_TEST(a_ball_lies_over_points_and_has_its_size)
{
    const bp_sprite_t sprites[] = {{.x = -1, .scale = 1.2f, .green = 1},
                                   {.x = -0.95f, .y = 0.05f, .scale = 0.1f, .red = 1, .green = 1, .blue = 1}};
    paint(&plain, sprites, 2);
    uint32_t middle = pixel(10, 10);
    ck_assert((middle & 0xff00) != 0 && (middle & 0xff00ff) == 0);
    ck_assert(lit() > 100 && lit() < 145); /* a disc of radius 6 has 113 */
    ck_assert_uint_eq(pixel(10 + 7, 10), 0);
    ck_assert_uint_ne(pixel(10 + 5, 10), 0);
}
END_TEST

START_TEST(what_is_not_seen_or_no_number_paints_nothing)
{
    const bp_sprite_t sprites[] = {
        {.x = 3, .scale = 0.1f, .red = 1},      {.y = -3, .scale = 0.1f, .red = 1},
        {.x = NAN, .scale = 0.1f, .red = 1},    {.y = INFINITY, .scale = 0.1f, .red = 1},
        {.x = 1e30f, .scale = 2, .red = 1},     {.x = NAN, .scale = 2, .red = 1},
        {.x = -INFINITY, .scale = 2, .red = 1}, {.y = NAN, .scale = 2, .red = 1}};
    paint(&plain, sprites, sizeof sprites / sizeof *sprites);
    ck_assert_uint_eq(lit(), 0);
}
END_TEST

Suite *picture_suite(void)
{
    Suite *suite = suite_create("picture");
    TCase *tcase = tcase_create("paint");
    tcase_add_test(tcase, nothing_leaves_the_background);
    tcase_add_test(tcase, a_point_lights_the_pixel_that_it_is_in_the_middle_of);
    tcase_add_test(tcase, softness_spreads_light_and_loses_none);
    tcase_add_test(tcase, a_ball_lies_over_points_and_has_its_size);
    tcase_add_test(tcase, what_is_not_seen_or_no_number_paints_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}
