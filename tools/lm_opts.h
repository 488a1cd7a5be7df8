/* steno: options of the verbs that have a language model say something. SPDX-License-Identifier: MIT
 *
 * Named as llama.cpp names them. Ranges, defaults and what excludes what are the library's. */
#ifndef STENO_TOOLS_LM_OPTS_H
#define STENO_TOOLS_LM_OPTS_H
#include "args.h"
#include "engine.h"

struct lm_opts {
    int64_t max_tokens, top_k, repeat_last_n, seed, draft_max;
    double temperature, top_p, min_p, repeat_penalty, frequency_penalty, presence_penalty;
    const char *samplers, *stop, *grammar, *grammar_file, *json_schema, *json_schema_file;
    int ignore_eos;
    const char *system, *prompt_template;
    int think;
};

#define LM_AT(T, field) offsetof(T, lm.field)

#define LM_PROMPT_ROWS(T) \
    { .name = "system", .kind = ARG_TEXT, .at = LM_AT(T, system), .value = "TEXT", \
      .help = "what the model is told before everything else" }, \
    { .name = "prompt-template", .kind = ARG_TEXT, .at = LM_AT(T, prompt_template), .value = "TEXT", \
      .help = "how turns are written, where the model does not say so in a way that is known: chatml, llama2, llama3, gemma, or a text " \
              "with {prompt}, and {system} if there is one, that the answer follows; \\n is a new line" }, \
    { .name = "think", .kind = ARG_PAIR, .at = LM_AT(T, think), .dflt = "on", \
      .help = "let a model that thinks before it answers do so" }

#define LM_SAMPLING_ROWS(T) \
    ARG_HEADING("Choosing"), \
    { .name = "temperature", .kind = ARG_NUM, .at = LM_AT(T, temperature), .value = "T", .dflt = ARG_OF_PARAM, \
      .help = "0: the most probable token each time; above: tokens are drawn" }, \
    { .name = "top-k", .kind = ARG_INT, .at = LM_AT(T, top_k), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "draw from the N most probable tokens; 0: from all" }, \
    { .name = "top-p", .kind = ARG_NUM, .at = LM_AT(T, top_p), .value = "P", .dflt = ARG_OF_PARAM, \
      .help = "draw from the most probable tokens that make up P together; 1: from all" }, \
    { .name = "min-p", .kind = ARG_NUM, .at = LM_AT(T, min_p), .value = "P", .dflt = ARG_OF_PARAM, \
      .help = "draw from tokens at least P times as probable as the most probable one; 0: from all" }, \
    { .name = "repeat-penalty", .kind = ARG_NUM, .at = LM_AT(T, repeat_penalty), .value = "X", .dflt = ARG_OF_PARAM, \
      .help = "make tokens that were there less probable; 1: not" }, \
    { .name = "repeat-last-n", .kind = ARG_INT, .at = LM_AT(T, repeat_last_n), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "tokens that penalties look back on, those of the prompt included; -1: all" }, \
    { .name = "frequency-penalty", .kind = ARG_NUM, .at = LM_AT(T, frequency_penalty), .value = "X", .dflt = ARG_OF_PARAM, \
      .help = "taken off a token's logit for each time it was there" }, \
    { .name = "presence-penalty", .kind = ARG_NUM, .at = LM_AT(T, presence_penalty), .value = "X", .dflt = ARG_OF_PARAM, \
      .help = "taken off once" }, \
    { .name = "samplers", .kind = ARG_TEXT, .at = LM_AT(T, samplers), .value = "LIST", .dflt = ARG_OF_PARAM, \
      .help = "the order of these, and which of them count; temperature first is how others than llama.cpp do it" }, \
    { .name = "seed", .kind = ARG_INT, .at = LM_AT(T, seed), .value = "N", .dflt = "0", .lo = -1, .hi = 9e18, \
      .help = "of what is drawn; the same seed gives the same text, -1: another one each time" }, \
    { .name = "grammar", .kind = ARG_TEXT, .at = LM_AT(T, grammar), .value = "GBNF", .help = "rules that the text holds to" }, \
    { .name = "grammar-file", .kind = ARG_TEXT, .at = LM_AT(T, grammar_file), .value = "FILE", .help = "the same in a file" }, \
    { .name = "json-schema", .kind = ARG_TEXT, .at = LM_AT(T, json_schema), .value = "SCHEMA", \
      .help = "the text is JSON that holds to this JSON schema; {} is any JSON" }, \
    { .name = "json-schema-file", .kind = ARG_TEXT, .at = LM_AT(T, json_schema_file), .value = "FILE", .help = "the same in a file" }, \
    ARG_HEADING("Where it ends"), \
    { .name = "max-tokens", .letter = 'n', .kind = ARG_INT, .at = LM_AT(T, max_tokens), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "after N tokens; 0: where the context is full" }, \
    { .name = "stop", .kind = ARG_TEXT, .at = LM_AT(T, stop), .value = "TEXT", \
      .help = "before this text; several are separated by |, and \\n, \\t, \\| and \\\\ are what they are in C" }, \
    { .name = "ignore-eos", .kind = ARG_FLAG, .at = LM_AT(T, ignore_eos), \
      .help = "nowhere else: the model's own end of text is not chosen" }, \
    { .name = "ctx-size", .letter = 'c', .kind = ARG_INT, .at = offsetof(T, engine.ctx_size), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "tokens there is room for, prompt and answer together; 0: 4096, or what the model was trained for" }, \
    { .name = "kv-type", .kind = ARG_WORD, .at = offsetof(T, engine.kv_type), .value = "auto|f32|f16|q8_0", .dflt = ARG_OF_PARAM, \
      .help = "how what was read is kept; q8_0 takes half the memory of f16, which is auto beside other arithmetic than f32" }, \
    ARG_HEADING("Speed"), \
    { .name = "draft-max", .kind = ARG_INT, .at = LM_AT(T, draft_max), .value = "N", .dflt = "-1", .lo = -1, .hi = 15, \
      .help = "guess up to N tokens ahead from what the text repeats, or N by --draft, and check them in one run; the text stays the " \
              "same; -1: with --draft as many as should pay, else none" }

/* The parameters, and what they point at. */
struct lm_params {
    steno_generate_params p;
    char *text;                 /* of a file */
    char *stops;                /* texts of stop, one behind the other */
    const char *stop[16];
};
/* @return EXIT_OK, or the exit code to end with, after a message. Afterwards lm_params_close, in any case */
int lm_params_open(struct lm_params *out, const struct lm_opts *o, const struct args_given *given, const steno_model *m);
void lm_params_close(struct lm_params *p);

/* Ids of a conversation as the options want it written, the assistant's turn begun; raw: of the first message's text alone. In malloc'd
 * memory. @return their number, or -1 after a message, with *code the exit code */
int lm_prompt(int32_t **ids, const steno_model *m, const struct lm_opts *o, const steno_message *msg, int n, int raw, int *code);

/* Are the model's turns known, if it has a template of them? @return EXIT_OK, or EXIT_MODEL after a message */
int lm_check_turns(const steno_model *m, const struct lm_opts *o);

/* The same of one text of a user, with the options' system text, where the model knows turns and raw is not asked for. @return EXIT_OK, or
 * the exit code after a message */
int lm_make_prompt(int32_t **ids, int *n, const steno_model *m, const struct lm_opts *o, int raw, const char *text);

#define LM_MODEL_ROW(T) \
    ARG_HEADING("Model"), \
    { .name = "model", .letter = 'm', .kind = ARG_TEXT, .at = offsetof(T, engine.model), .value = "PATH|NAME", \
      .help = "a language model (Llama, Qwen, Gemma), a GGUF file or a folder, or its name in the caches; without it STENO_MODEL" }

/* Before anything is opened: a language model is named. @return EXIT_OK, or EXIT_USAGE after a message */
int lm_check_named(const struct engine_opts *o, const char *verb);

/* Is it a language model? @return EXIT_OK, or EXIT_USAGE after a message */
int lm_check_model(const steno_model *m);

/* Text that was typed. @return EXIT_OK, or EXIT_USAGE after a message: it is no UTF-8 */
int lm_check_text(const char *what, const char *text);

/* A failure of steno_generate, told with the names of options. @return the exit code */
int lm_failed(const steno_session *s, const struct args_given *given, int rc);
/* "stop", "length" or "canceled" */
const char *lm_finish(const steno_session *s);
#endif
