/* steno: options that ask for audio past the end. SPDX-License-Identifier: MIT
 *
 * As in the reference, audio past the end gives no text, and a clip that reaches past the end is cut there. A message reports both. */
#include "verbs/past_end.h"
#include "cli/message.h"

enum { GRID_MS = 10 /* clips are aligned to frames */ };

void past_end_tell(const char *file, int64_t audio_ms, int64_t offset_ms, const double *clips, int32_t n)
{
    const double end = (double)audio_ms / 1000;
    int32_t behind = 0, cut = 0;
    if (offset_ms > 0 && offset_ms >= audio_ms)
        message("%s: --offset-ms %lld is past the end of the audio, which is %lld ms long: there is no text", file, (long long)offset_ms,
                (long long)audio_ms);
    for (int32_t i = 0; i < n; i += 2) {
        if (clips[i] > 0 && clips[i] >= end) behind++;
        else if (i + 1 < n && clips[i + 1] * 1000 >= (double)(audio_ms + GRID_MS)) cut++;
    }
    const int32_t all = (n + 1) / 2;
    if (behind)
        message("%s: %d of %d clip%s of --clip-timestamps begin%s past the end of the audio, at %g s: there is no text", file, (int)behind,
                (int)all, all == 1 ? "" : "s", behind == 1 ? "s" : "", end);
    if (cut)
        message("%s: %d of %d clip%s of --clip-timestamps reach%s past the end of the audio: cut at %g s", file, (int)cut, (int)all,
                all == 1 ? "" : "s", cut == 1 ? "es" : "", end);
}
