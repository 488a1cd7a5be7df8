/* steno: requirements and conflicts of options of transcribe and translate that the library does not check. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_OPT_RULES_H
#define STENO_TOOLS_OPT_RULES_H
#include "verbs/transcribe.h"
#include <stdint.h>

struct opt_scene {
    const struct transcribe_opts *o;
    unsigned formats; /* includes formats that options add */
};

/* @return EXIT_OK or EXIT_USAGE, after a message */
int opt_rules_check(const struct args_given *g, const struct opt_scene *s);

/* ---- audio past the end ------------------------------------------------------------------------------------------------------ */

/* Report which parts of --offset-ms and --clip-timestamps (clips[n], seconds) are past the end of the file's audio. */
void past_end_report(const char *file, int64_t audio_ms, int64_t offset_ms, const double *clips, int32_t n);
#endif
