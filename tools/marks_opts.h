/* steno: punctuation, and the options that say with which model. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MARKS_OPTS_H
#define STENO_TOOLS_MARKS_OPTS_H
#include "engine.h"

struct marks_opts {
    const char *model, *jieba_dict;
    int none;
};

#define MARKS_JIEBA_ROW(T, field) \
    { .name = "jieba-dict", .kind = ARG_TEXT, .at = offsetof(T, field), .value = "FILE", \
      .help = "dictionary with which FunASR's large ct-punc splits Chinese into words (dict.txt of Python's jieba); without it " \
              "the installed one" }

/* The group "Punctuation". */
#define MARKS_ROWS(T) \
    ARG_HEADING("Punctuation"), \
    { .name = "punctuation", .kind = ARG_TEXT, .at = offsetof(T, marks.model), .value = "PATH|NAME", \
      .help = "model that punctuates the text, such as FunASR's ct-punc; without it one beside the model or in the caches, if the " \
              "text has no punctuation (Paraformer, SenseVoice without --itn, --keep-tags and --rich-text)" }, \
    { .name = "no-punctuation", .kind = ARG_FLAG, .at = offsetof(T, marks.none), .help = "leave the text as the model writes it" }, \
    MARKS_JIEBA_ROW(T, marks.jieba_dict)

struct marks {
    steno_model *model; /* NULL: there is none */
    steno_session *session;
};

/* For which recognisers a model may be looked for: none; those whose text never has marks; those, too, that write them when they are asked
 * (steno_model_info.bare_text). */
enum marks_find { MARKS_FOR_NONE, MARKS_FOR_BARE, MARKS_FOR_SPOKEN };

/* What an engine of punctuation is opened with: o, and where jieba's dictionary is, as given or found. *found: to be freed behind it.
 * @return EXIT_OK or EXIT_MEMORY */
int marks_engine(struct engine_opts *to, const struct engine_opts *o, const char *jieba_dict, char **found);
/* Say so, where a model misses the dictionary. @return EXIT_OK; EXIT_USAGE: it was given, but is not for this model */
int marks_check(const steno_model *m, const char *path, const char *jieba_dict, int quiet);

/* Open the model, if there is to be one, on the team of `e`. @return EXIT_OK, or the exit code to end with, after a message */
int marks_open(struct marks *k, const struct marks_opts *o, const struct engine *e, const struct engine_opts *eo, enum marks_find may);
void marks_close(struct marks *k);
#endif
