/* makeup.h - the parts of a host at a moment, written down so that the host can be given them again: the version of
 * each plugin with its file and its options, and of each world the systems, in their order.
 *
 * A file of a plugin may be overwritten any time, and its copy goes with its version. So a makeup has a copy of its own
 * of each version, which all makeups share that have this version (an image). A version that is at work says by number
 * which image it is of (plugin_t.image).
 *
 * Only what reloads and the bringing in and dropping of systems change can be brought about. Worlds, their components
 * and the list of plugins are as they are (history/history.h begins anew where they change).
 *
 * As bytes a makeup has the files themselves, so that another process can be given the same parts
 * (history/recording.h).
 *
 * Not here: the moments at which a host had which makeup (history/eras.h); rows and states (history/restore.h).
 */
#ifndef HOST_ENGINE_MAKEUP_H
#define HOST_ENGINE_MAKEUP_H

#include "../history/eras.h"

/* The functions of makers_t (history/eras.h), for a host. [main] */
makers_t makeup_makers(bp_host_o *host);

/* Write down the makeup of `of`, which is `host` or a clone of it; the makeup belongs to `host`. And give a host the
 * parts of a makeup, as makers_t says. [main], between steps */
bp_result_t makeup_look(bp_host_o *host, const bp_host_o *of, const makeup_t *like, makeup_t **out);
bp_result_t makeup_become(bp_host_o *host, const makeup_t *makeup);

/* Let go of a makeup; NULL is allowed. */
void makeup_free(bp_host_o *host, makeup_t *makeup);

/* Let go of one use of an image; NULL is allowed. */
void makeup_drop_image(bp_host_o *host, image_t *image);

/* As bytes: makers_t.write and makers_t.read, of a host. */
bp_result_t makeup_write(void *host, const makeup_t *makeup, const makeup_t *before, bytes_t *bytes);
bp_result_t makeup_read(void *host, reader_t *reader, const makeup_t *before, makeup_t **out);

#endif
