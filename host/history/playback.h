/* playback.h - a recording computed again, and compared with its keyframes.
 *
 * Playing begins at a keyframe, takes the steps that were taken and makes the calls that came. A keyframe on the way is
 * brought back where its state cannot be computed; any other can be compared with the computed state.
 *
 * Precondition: the host has the same worlds, components and plugins as the recorded one. Where the recorded host was
 * reloaded, the file has the versions of its plugins, and the host is given the makeup of the recorded one at each
 * keyframe that is brought back.
 *
 * Not here: setting up that host (engine/).
 */
#ifndef HOST_HISTORY_PLAYBACK_H
#define HOST_HISTORY_PLAYBACK_H

#include "history.h"

#include <backplane.h>

/* Bring the host to moment `to` of a recording: from its first keyframe with BP_PLAY_ALL, from where the host is
 * with BP_PLAY_HERE, else from the last keyframe before. At a moment in the middle the calls from outside at that
 * moment have not been made; at the last moment they have. `eras` are those of the recording (recorded_eras).
 * Errors: NOT_FOUND for a moment that is not in the file; FAILED where BP_PLAY_CHECK finds a difference; those of
 * restoring, of steps and of calls: the host is then somewhere between the two moments. [main], between steps */
bp_result_t playback_to(history_t *history, const recorded_t *recorded, const eras_t *eras, uint64_t to,
                        const bp_playback_i *playback);

#endif
