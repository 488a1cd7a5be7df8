/* steno: options that ask for audio past the end. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_PAST_END_H
#define STENO_TOOLS_PAST_END_H
#include <stdint.h>

/* Report which parts of --offset-ms and --clip-timestamps (clips[n], seconds) are past the end of the file's audio. */
void past_end_tell(const char *file, int64_t audio_ms, int64_t offset_ms, const double *clips, int32_t n);
#endif
