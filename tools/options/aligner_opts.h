/* steno: word times by a forced aligner, and its option. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_ALIGNER_OPTS_H
#define STENO_TOOLS_ALIGNER_OPTS_H
#include "models/engine.h"

struct aligner_opts { const char *model; };

#define ALIGNER_ROW(T) \
    { .name = "align-model", .kind = ARG_TEXT, .at = offsetof(T, aligner.model), .value = "PATH|NAME", \
      .help = "forced aligner that finds the times of words instead of the recogniser, such as Qwen3-ForcedAligner; includes " \
              "--word-timestamps" }

struct aligner {
    steno_model *model; /* may be NULL */
    steno_session *session;
};

/* Open the model, if there is one, on the team of `e`. language: of the audio, "auto": any. @return EXIT_OK, or the exit code to end with,
 * after a message */
int aligner_open(struct aligner *k, const struct aligner_opts *o, const char *language, const struct engine *e,
                 const struct engine_opts *eo);
void aligner_close(struct aligner *k);
#endif
