/* png.c - pixels to a PNG file, by libpng.
 *
 * The picture is written to PATH.part, which takes the place of PATH when it is whole, so that a reader sees the old
 * picture or the new one, also after a power cut. libpng's simplified interface reports errors as text and jumps
 * nowhere.
 */
#include "picture.h"

#include <helpers/bp_file.h>
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 1024 }; /* bytes of a path with its ending */

static bool part_of(const char *path, char part[LONGEST], char message[PICTURE_MESSAGE])
{
    int length = snprintf(part, LONGEST, "%s.part", path);
    if (length > 0 && length < LONGEST)
        return true;
    snprintf(message, PICTURE_MESSAGE, "the path '%.100s...' is too long", path);
    return false;
}

static bool explain(const char *what, const char *path, const char *why, char message[PICTURE_MESSAGE])
{
    snprintf(message, PICTURE_MESSAGE, "cannot %s '%.300s': %.120s", what, path, why);
    return false;
}

static const char *reason(void)
{
    return errno != 0 ? strerror(errno) : "the file cannot take it";
}

bool picture_try(const char *path, char message[PICTURE_MESSAGE])
{
    char part[LONGEST];
    if (!part_of(path, part, message))
        return false;
    errno = 0;
    FILE *file = bp_file_open(part, "wb");
    if (file == NULL)
        return explain("write", part, reason(), message);
    fclose(file);
    bp_file_remove(part);
    return true;
}

static bool write_part(const char *part, const uint8_t *pixels, uint32_t width, uint32_t height,
                       char message[PICTURE_MESSAGE])
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};
    errno = 0;
    FILE *file = bp_file_open(part, "wb");
    if (file == NULL)
        return explain("write", part, reason(), message);
    int good = png_image_write_to_stdio(&image, file, 0, pixels, 0, NULL);
    if (fclose(file) == 0 && good)
        return true;
    return explain("write", part, good ? reason() : image.message, message);
}

bool picture_write(const bp_system_t *s, const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
                   char message[PICTURE_MESSAGE])
{
    char part[LONGEST];
    if (!part_of(path, part, message))
        return false;
    bool good = write_part(part, pixels, width, height, message);
    if (!good)
        bp_file_remove(part);
    if (!good || s->api->file->keep(s->host, part, path) == BP_OK)
        return good;
    snprintf(message, PICTURE_MESSAGE, "%.500s", s->api->error->last(s->host));
    return false;
}
