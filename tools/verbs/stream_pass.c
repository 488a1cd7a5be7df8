/* steno: passes of the verb stream. SPDX-License-Identifier: MIT */
#include "verbs/stream_pass.h"
#include "cli/message.h"

static void pass_done(void *user, steno_session *s, int status)
{
    (void)s;
    ((struct stream_passes *)user)->status = status;
}

int stream_passes_open(struct stream_passes *p, struct engine *e, int lanes)
{
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    bp.max_windows = 1;
    bp.max_lanes = lanes;
    bp.draft_model = e->draft;
    bp.user = p;
    bp.on_done = pass_done;
    const int code = engine_batch(e, &bp);
    *p = (struct stream_passes){ e->batch, STENO_OK };
    return code == EXIT_OK ? engine_open_session(e, lanes) : code;
}

int stream_pass(struct stream_passes *p, steno_session *s, const steno_source *src, const steno_transcribe_params *t, int is_last)
{
    steno_request_params rp;
    steno_request_params_init(&rp);
    rp.priority = is_last ? STENO_PRIORITY_END_OF_TURN : STENO_PRIORITY_LIVE;
    rp.transcribe = t;
    int rc = steno_batch_submit(p->batch, s, src, &rp);
    if (rc == STENO_OK) rc = steno_batch_run(p->batch);
    return rc == STENO_OK ? p->status : rc;
}
