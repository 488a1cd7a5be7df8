/* steno: the speed gain of draft tokens: if an answer repeats its prompt, and with a draft model. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BENCH_DRAFT_H
#define STENO_TOOLS_BENCH_DRAFT_H
#include "models/engine.h"

enum bench_format { BENCH_TABLE, BENCH_JSON, BENCH_TSV };

struct bench_text_opts { const char *prompt, *answer, *tokenizer; };

#define BENCH_TEXT_ROWS(T) \
    ARG_HEADING("Draft tokens"), \
    { .name = "draft", .kind = ARG_TEXT, .at = offsetof(T, draft), .value = "NAME", \
      .help = "instead of phases: gain of a draft model of that shape, by acceptance rate" }, \
    { .name = "prompt", .kind = ARG_TEXT, .at = offsetof(T, text.prompt), .value = "FILE", \
      .help = "instead of phases: gain of draft tokens for a language model that writes the text of --answer after this one" }, \
    { .name = "answer", .kind = ARG_TEXT, .at = offsetof(T, text.answer), .value = "FILE", \
      .help = "text that is written, whatever the model would choose: a corrected transcript" }, \
    { .name = "tokenizer", .kind = ARG_TEXT, .at = offsetof(T, text.tokenizer), .value = "MODEL", \
      .help = "model that tokenizes both texts; without it -m (a --shape has no tokenizer)" }

int bench_text_check(const struct bench_text_opts *o);
/* Make the engine's model produce one file after another file, with and without draft tokens in alternation. name: name of the shape,
 * NULL: the model has a name.
 * @return as main */
int bench_text(const struct engine *e, const struct bench_text_opts *o, const char *name, int runs, enum bench_format format);

struct bench_shapes { const char *model, *draft, *type; };

/* Time runs of several rows of the engine's model, and steps of a model with the draft's shape. Prints a table. @return as main */
int bench_draft(const struct engine *e, const steno_model_params *p, const struct bench_shapes *s, int runs, enum bench_format format);
#endif
