/* near.h - the file that somebody has meant who names one that is not there.
 *
 * Not here: words that are no files (nearest_t).
 */
#ifndef HOST_PLUGIN_NEAR_H
#define HOST_PLUGIN_NEAR_H

#include "../base/error.h"

/* "; did you mean './corrupt'?" for the path of a plugin's file that is not there, with or without its ending: the file
 * of its folder whose name is nearest. "" where none is near. The text lies in `hint`. */
const char *near_file(const char *path, text_t *hint);

#endif
