/* steno: common code of the verbs embed and search. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_EMBED_OPTS_H
#define STENO_TOOLS_EMBED_OPTS_H
#include "models/engine.h"

enum { EMBED_TOGETHER = 64 /* maximum number of texts of a call */ };

struct embed_opts { int pooling, normalize, truncate; };

#define EMBED_MODEL_ROW(T) \
    ARG_HEADING("Model"), \
    { .name = "model", .letter = 'm', .kind = ARG_TEXT, .at = offsetof(T, engine.model), .value = "PATH|NAME", \
      .help = "embedding model: BERT (such as sentence-transformers) or a language model, a GGUF file or a Hugging Face folder" }

#define EMBED_POOLING_ROW(T) \
    { .name = "pooling", .kind = ARG_WORD, .at = offsetof(T, embed.pooling), .value = "model|mean|cls|last", .dflt = ARG_OF_PARAM, \
      .help = "how the rows of a text become one vector; model: as in the model's files, else mean for BERT, last for language " \
              "models" }

/* Open the model and a session. @return EXIT_OK, or the exit code to end with, after a message */
int embed_open(struct engine *e, const struct engine_opts *o, const char *verb);
void embed_params(steno_embed_params *p, const struct embed_opts *o);
/* Embed texts; read the vectors with steno_embedding_get. *bad: index of a refused text, -1 if the run failed for another reason.
 * @return EXIT_OK, or an exit code, EXIT_SOME for a refused text. The reason is not printed yet: see embed_reason */
int embed_run(const struct engine *e, const char *const *texts, int n, const steno_embed_params *p, int *bad);
const char *embed_reason(const struct engine *e); /* the reason without the number of the text */
#endif
