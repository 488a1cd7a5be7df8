/* steno: passes of the verb stream. SPDX-License-Identifier: MIT
 *
 * A pass over a turn is a request of a live class, in a batch of one window. So Whisper drafts an update from the text of the one before,
 * as in the server, and the text is the same to the bit. */
#ifndef STENO_TOOLS_STREAM_PASS_H
#define STENO_TOOLS_STREAM_PASS_H
#include "models/engine.h"

struct stream_passes {
    steno_batch *batch; /* that of the engine */
    int status;         /* of the pass that ended last */
};

/* Open the batch and the session of `e`, which must have none. `p` must stay where it is. @return EXIT_OK, or the exit code to end with,
 * after a message */
int stream_passes_open(struct stream_passes *p, struct engine *e, int lanes);
/* As live_params.transcribe; the result is in the session. @return a status */
int stream_pass(struct stream_passes *p, steno_session *s, const steno_source *src, const steno_transcribe_params *t, int is_last);
#endif
