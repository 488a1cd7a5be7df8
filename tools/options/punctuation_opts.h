/* steno: punctuation, and its options. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MARKS_OPTS_H
#define STENO_TOOLS_MARKS_OPTS_H
#include "models/engine.h"

struct punctuation_opts {
    const char *model, *jieba_dict;
    int none;
};

#define PUNCTUATION_JIEBA_ROW(T, field) \
    { .name = "jieba-dict", .kind = ARG_TEXT, .at = offsetof(T, field), .value = "FILE", \
      .help = "dictionary with which FunASR's large ct-punc splits Chinese into words (dict.txt of Python's jieba); without it " \
              "the installed one" }

/* The group "Punctuation". */
#define PUNCTUATION_ROWS(T) \
    ARG_HEADING("Punctuation"), \
    { .name = "punctuation", .kind = ARG_TEXT, .at = offsetof(T, punctuation.model), .value = "PATH|NAME", \
      .help = "model that punctuates the text, such as FunASR's ct-punc; without it one beside the model or in the caches, if the " \
              "text has no punctuation (Paraformer, SenseVoice without --itn, --keep-tags and --rich-text)" }, \
    { .name = "no-punctuation", .kind = ARG_FLAG, .at = offsetof(T, punctuation.none), .help = "leave the text as the model writes it" }, \
    PUNCTUATION_JIEBA_ROW(T, punctuation.jieba_dict)

struct punctuation {
    steno_model *model; /* may be NULL */
    steno_session *session;
};

/* Recognisers for which a punctuation model may be searched: none; those whose text never has punctuation; also those that write
 * punctuation on request (steno_model_info.bare_text). */
enum punctuation_find { PUNCTUATION_FOR_NONE, PUNCTUATION_FOR_ITN, PUNCTUATION_FOR_SPOKEN };

/* Options for the engine of a punctuation model: `o`, with jieba's dictionary as given or found. *found: freed by the caller.
 * @return EXIT_OK or EXIT_MEMORY */
int punctuation_engine(struct engine_opts *to, const struct engine_opts *o, const char *jieba_dict, char **found);
/* Report a missing dictionary if the model needs one. @return EXIT_OK; EXIT_USAGE if a dictionary was given that this model does not use */
int punctuation_check(const steno_model *m, const char *path, const char *jieba_dict, int quiet);

/* Open the model, if one is needed, on the team of `e`. @return EXIT_OK, or the exit code to end with, after a message */
int punctuation_open(struct punctuation *k, const struct punctuation_opts *o, const struct engine *e, const struct engine_opts *eo,
                     enum punctuation_find may);
void punctuation_close(struct punctuation *k);
#endif
