/* steno: fuzzing of the query of /v1/stream. SPDX-License-Identifier: MIT
 *
 * Each line is name=value. Values that are accepted are within their ranges, and an error has a message. */
#include "stream.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int is_in(double x, double lo, double hi) { return x >= lo && x <= hi; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1), *rest = text, *line;
    struct stream_query q;
    if (!text) return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    stream_query_begin(&q);
    while ((line = strsep(&rest, "\n"))) {
        const char *name = strsep(&line, "=");
        stream_query_add(&q, name, line);
    }
    const struct live_session_params *p = &q.live;
    if (q.e.code != API_OK && !q.e.message[0]) abort();
    if (!is_in(p->rate, 8000, 192000) || !is_in(p->channels, 1, 8) || !is_in(p->encoding, AUDIO_S16LE, AUDIO_U8)) abort();
    if (!is_in(p->silence_ms, -1, 60000) || !(p->threshold == -1 || is_in(p->threshold, 0, 1)) || !is_in(p->uses_vad, 0, 1)) abort();
    if (p->step_ms && !is_in(p->step_ms, 200, 10000)) abort();
    if (p->max_turn_ms && !is_in(p->max_turn_ms, 2000, 30000)) abort();
    free(text);
    return 0;
}
