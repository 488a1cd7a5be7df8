/* steno: audio that was asked for and that there is not. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_PAST_END_H
#define STENO_TOOLS_PAST_END_H
#include <stdint.h>

/* Say what of --offset-ms and --clip-timestamps (clips[n], seconds) lies past the end of a file's audio, where anything does. */
void past_end_tell(const char *file, int64_t audio_ms, int64_t offset_ms, const double *clips, int32_t n);
#endif
