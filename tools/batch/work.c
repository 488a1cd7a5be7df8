/* steno: an input of a batch, from its line to its result. SPDX-License-Identifier: MIT */
#include "batch/work.h"
#include "cli/progress.h"
#include "input/sound.h"
#include "write.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct batch_work *batch_work_new(const char *line)
{
    struct batch_work *w = calloc(1, sizeof *w);
    if (w) w->line = strdup(line);
    if (w && w->line) return w;
    free(w);
    return NULL;
}

void batch_work_free(struct batch_work *w)
{
    if (!w) return;
    manifest_item_free(&w->item);
    free(w->line);
    free(w);
}

void batch_timeout_text(char out[BATCH_REASON_SZ], double timeout_s)
{
    snprintf(out, BATCH_REASON_SZ, "it took longer than %g s (--timeout)", timeout_s);
}

char *batch_work_line(size_t *n, const struct batch_work *w, const struct batch_outcome *how, struct transcript *t,
                      const struct transcript_source *source)
{
    struct sink_memory memory = { 0 };
    struct sink f = sink_to_memory(&memory);
    struct transcript nothing = { .text = "", .language = "unknown", .duration_ms = -1 };
    struct batch_result result = { .id = w->item.id, .other = w->item.other, .class = how->class, .attempt = w->attempt,
                                   .audio = how->reason ? (struct batch_audio){ .channel = -1 } : how->audio,
                                   .audio_ms = how->reason ? -1 : manifest_item_ms(&w->item, t->duration_ms),
                                   .spent_us = w->begun_us ? progress_now_us() - w->begun_us : 0 };
    struct transcript_source own = *source;
    own.input = sound_shown(w->item.path);
    own.error = how->reason;
    own.spent_us = WRITE_TIME_UNKNOWN; /* a result's own members do not depend on the machine; "run" has the time */
    own.more = batch_result_write;
    own.user = &result;
    if (!t) t = &nothing;
    t->source = &own;
    write_jsonl(&f, t);
    t->source = NULL;
    *n = memory.n;
    if (!f.failed) return memory.p;
    free(memory.p);
    return NULL;
}
