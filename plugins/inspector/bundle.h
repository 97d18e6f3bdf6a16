/* bundle.h - the page: files that tools/bundle.sh has made of plugins/inspector/page and compiled in, compressed by
 * gzip.
 *
 * Not here: reading files at run time; so no path of a request can lead out of the bundle.
 */
#ifndef INSPECTOR_BUNDLE_H
#define INSPECTOR_BUNDLE_H

#include <stddef.h>

typedef struct bundle_file_t {
    const char *path;  /* "/app.js" */
    const char *type;  /* its Content-Type */
    const char *tag;   /* its ETag, with the quotes: a hash of the file's bytes */
    const unsigned char *bytes;
    size_t size;
} bundle_file_t;

extern const bundle_file_t inspector_bundle[];
extern const size_t inspector_bundle_count;

#endif
