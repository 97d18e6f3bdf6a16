/* test_picture.c - what the plugin picture paints: which pixel a sprite lights, and how balls lie over
 * points.
 *
 * The painting alone is linked in here, since it needs no library; the file that comes of it is the subject
 * of tests/scripts/picture.sh.
 */
#include "../suites.h"

#include "../../plugins/picture/picture.h"

#include "base/strings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 40, HEIGHT = 20 };

static uint8_t pixels[WIDTH * HEIGHT * 3];
static float light[WIDTH * HEIGHT * 4];

/* Ten pixels for a unit; black behind. */
static const picture_look plain = {
    .width = WIDTH, .height = HEIGHT, .view = {2, 1}, .points = 4, .exposure = 100, .whites = 1, .zoom = 1,
    .title = ""};
static picture_counts counts;

static void paint(const picture_look *look, const bp_sprite_t *sprites, uint32_t count)
{
    memset(pixels, 0x55, sizeof pixels);
    picture_area area = picture_inside(look);
    picture_paint(look, &area, sprites, count, light, &(picture_canvas){pixels, WIDTH, HEIGHT}, &counts);
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

/* The light of a picture is shared among its points. */
START_TEST(a_point_is_as_bright_as_many_in_its_place)
{
    bp_sprite_t sprites[3];
    picture_look look = plain;
    look.exposure = 0.001f;
    for (uint32_t i = 0; i < 3; i++)
        sprites[i] = (bp_sprite_t){.x = 0.55f, .y = 0.75f, .scale = 0.1f, .red = 1, .green = 1, .blue = 1};
    paint(&look, sprites, 1);
    uint32_t one = pixel(25, 2);
    ck_assert(one != 0 && one != 0xffffff);
    paint(&look, sprites, 3);
    ck_assert_uint_eq(pixel(25, 2), one);
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
    ck_assert_uint_eq(counts.points, 1);
    ck_assert_uint_eq(counts.balls, 1);
    ck_assert(counts.shown == 1 && counts.colours[0].r == 0 && counts.colours[0].g == 1);
}
END_TEST

/* Also of balls that lie outside; the legend has room for the colours of the first. */
START_TEST(balls_are_counted_and_the_first_of_them_lend_the_legend_their_colours)
{
    enum { SHOWN = sizeof counts.colours / sizeof counts.colours[0], BALLS = SHOWN + 2 };
    bp_sprite_t balls[BALLS];
    for (uint32_t i = 0; i < BALLS; i++)
        balls[i] = (bp_sprite_t){.x = i % 2 == 0 ? 0 : 50, .scale = 1.2f, .blue = (float)i / BALLS};
    for (uint32_t count = 0; count <= BALLS; count++) {
        paint(&plain, balls, count);
        ck_assert_uint_eq(counts.balls, count);
        ck_assert_uint_eq(counts.points, 0);
        ck_assert_uint_eq(counts.shown, count < SHOWN ? count : SHOWN);
        for (uint32_t i = 0; i < counts.shown; i++)
            ck_assert(counts.colours[i].b == balls[i].blue && counts.colours[i].a == 1);
    }
}
END_TEST

START_TEST(what_is_not_seen_or_no_number_paints_nothing)
{
    const bp_sprite_t sprites[] = {
        {.x = 3, .scale = 0.1f, .red = 1},      {.y = -3, .scale = 0.1f, .red = 1},
        {.x = NAN, .scale = 0.1f, .red = 1},    {.y = INFINITY, .scale = 0.1f, .red = 1},
        {.x = 1e30f, .scale = 2, .red = 1},     {.x = NAN, .scale = 2, .red = 1},
        {.x = -INFINITY, .scale = 2, .red = 1}, {.y = NAN, .scale = 2, .red = 1},
        {.scale = NAN, .red = 1},               {.scale = 0.1f, .red = NAN},
        {.scale = 2, .blue = INFINITY},         {.scale = 0.1f, .green = INFINITY}};
    picture_look look = plain;
    paint(&look, sprites, sizeof sprites / sizeof *sprites);
    ck_assert_uint_eq(lit(), 0);
    look.background = (bp_colour_t){1, 0.5f, 0, 1};
    look.softness = 2;
    paint(&look, sprites, sizeof sprites / sizeof *sprites);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        ck_assert_uint_eq(pixel(i % WIDTH, i / WIDTH), 0xff8000);
}
END_TEST

START_TEST(points_without_a_colour_give_as_little_light_as_is_wanted_and_colours_lose_their_grey)
{
    const bp_sprite_t white = {.x = 0.55f, .y = 0.75f, .scale = 0.1f, .red = 1, .green = 1, .blue = 1};
    const bp_sprite_t pale = {.x = 0.55f, .y = 0.75f, .scale = 0.1f, .red = 1, .green = 0.5f, .blue = 0.5f};
    picture_look look = plain;
    look.whites = 0.25f;
    paint(&look, &white, 1);
    ck_assert(fabsf(light[4 * (2 * WIDTH + 25) + 3] - 0.25f) < 1e-3f);
    paint(&look, &pale, 1);
    ck_assert(fabsf(light[4 * (2 * WIDTH + 25) + 3] - 1) < 1e-3f);
    ck_assert_uint_eq(pixel(25, 2), 0xff8080);
    look.vivid = 1;
    paint(&look, &pale, 1);
    ck_assert_uint_eq(pixel(25, 2), 0xff0000);
    ck_assert_uint_eq(counts.points, 1);
    ck_assert_uint_eq(counts.balls, 0);
}
END_TEST

/* --- letters and labels ------------------------------------------------------------------------------------------- */

enum { PAGE = 400 };
static uint8_t page[PAGE * PAGE * 3];
static const picture_canvas canvas = {page, PAGE, PAGE};

/* The ink of a text, 40 pixels high with its baseline at 100, 200; and that nothing lies outside left to right, top to
 * bottom. */
static uint64_t ink(const char *text, int32_t left, int32_t top, int32_t right, int32_t bottom)
{
    uint64_t sum = 0;
    memset(page, 0, sizeof page);
    picture_text(&canvas, text, 100, 200, 40, 1, (bp_colour_t){1, 1, 1, 1});
    for (int32_t i = 0; i < PAGE * PAGE; i++) {
        int32_t x = i % PAGE, y = i / PAGE;
        sum += page[3 * i];
        if (page[3 * i] != 0 && !(x >= left && x < right && y >= top && y < bottom))
            ck_abort_msg("'%s' at %d, %d", text, x, y);
    }
    return sum;
}

START_TEST(each_letter_is_drawn_and_no_two_are_alike)
{
    static const char letters[] =
        "!\"#%&'()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz";
    uint64_t sums[sizeof letters];
    for (size_t i = 0; i < sizeof letters - 1; i++) {
        const char text[2] = {letters[i], '\0'};
        float wide = picture_text_width(text, 40);
        ck_assert_uint_gt(ink(text, 94, 150, 100 + (int32_t)wide + 10, 218), 2000);
        sums[i] = hash_bytes(page, sizeof page);
        for (size_t k = 0; k < i; k++)
            ck_assert_msg(sums[k] != sums[i], "%c looks like %c", letters[i], letters[k]);
    }
    /* What is no letter is a box, once for each character. */
    ck_assert(picture_text_width("\xc3\xa9", 40) == picture_text_width("\x01", 40));
    ck_assert_uint_gt(ink("\xc3\xa9", 94, 150, 140, 218), 2000);
    ck_assert_uint_eq(ink(" ", 0, 0, 0, 0), 0);
    ck_assert(picture_text_width("", 40) == 0);
}
END_TEST

START_TEST(a_text_may_leave_the_picture_on_all_sides)
{
    static const float places[][2] = {{-50, 200}, {380, 200}, {100, 5}, {100, 420}, {-1e5f, 0}, {0, 1e5f}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        picture_text(&canvas, "picture", places[i][0], places[i][1], 40, 1, (bp_colour_t){1, 1, 1, 1});
}
END_TEST

START_TEST(labels_stand_around_the_frame_and_not_in_it)
{
    picture_look look = plain;
    const picture_counts few = {.points = 1234567, .balls = 3, .shown = 2, .colours = {{1, 0, 0, 1}, {0, 1, 0, 1}}};
    look.width = look.height = PAGE;
    look.title = "Title";
    look.points_are = "points";
    look.balls_are = "balls";
    ck_assert(picture_is_labelled(&look));
    picture_area area = picture_inside(&look);
    memset(page, 0, sizeof page);
    picture_label(&canvas, &look, &area, &few, "step 3");
    uint32_t lit_parts = 0;
    for (uint32_t i = 0; i < PAGE * PAGE; i++) {
        uint32_t x = i % PAGE, y = i / PAGE;
        bool inside = x >= area.left && x < area.left + area.width && y >= area.top && y < area.top + area.height;
        if (inside && page[3 * i + 2] != 0)
            ck_abort_msg("something is at %u, %u", x, y);
        uint32_t part = y < area.top - 4                 ? 1u  /* the title */
                        : y > PAGE - 24                  ? 8u  /* the legend */
                        : y > area.top + area.height + 4 ? 4u  /* the scale below */
                        : x < area.left - 4              ? 2u  /* and that on the left */
                                                         : 0;
        lit_parts |= page[3 * i + 2] != 0 ? part : 0;
    }
    ck_assert_uint_eq(lit_parts, 15);
    look.width = PAGE / 4; /* no room */
    area = picture_inside(&look);
    ck_assert_uint_eq(area.width, PAGE / 4);
    ck_assert(!picture_is_labelled(&look));
}
END_TEST

Suite *picture_suite(void)
{
    Suite *suite = suite_create("picture");
    TCase *tcase = tcase_create("paint");
    tcase_add_test(tcase, nothing_leaves_the_background);
    tcase_add_test(tcase, a_point_lights_the_pixel_that_it_is_in_the_middle_of);
    tcase_add_test(tcase, a_point_is_as_bright_as_many_in_its_place);
    tcase_add_test(tcase, softness_spreads_light_and_loses_none);
    tcase_add_test(tcase, a_ball_lies_over_points_and_has_its_size);
    tcase_add_test(tcase, balls_are_counted_and_the_first_of_them_lend_the_legend_their_colours);
    tcase_add_test(tcase, what_is_not_seen_or_no_number_paints_nothing);
    tcase_add_test(tcase, points_without_a_colour_give_as_little_light_as_is_wanted_and_colours_lose_their_grey);
    tcase_add_test(tcase, each_letter_is_drawn_and_no_two_are_alike);
    tcase_add_test(tcase, a_text_may_leave_the_picture_on_all_sides);
    tcase_add_test(tcase, labels_stand_around_the_frame_and_not_in_it);
    suite_add_tcase(suite, tcase);
    return suite;
}
