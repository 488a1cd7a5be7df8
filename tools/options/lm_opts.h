/* steno: options of the verbs that generate text with a language model. SPDX-License-Identifier: MIT
 *
 * Options have llama.cpp's names. Ranges, defaults and conflicts are the library's. */
#ifndef STENO_TOOLS_LM_OPTS_H
#define STENO_TOOLS_LM_OPTS_H
#include "cli/args.h"
#include "models/engine.h"

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
    { .name = "system", .kind = ARG_TEXT, .at = LM_AT(T, system), .value = "TEXT", .help = "system message" }, \
    { .name = "prompt-template", .kind = ARG_TEXT, .at = LM_AT(T, prompt_template), .value = "TEXT", \
      .help = "chat format for a model without a recognised one: chatml, llama2, llama3, gemma, or a text with {prompt}, and " \
              "{system} if there is one; \\n is a newline" }, \
    { .name = "think", .kind = ARG_PAIR, .at = LM_AT(T, think), .dflt = "on", \
      .help = "let a reasoning model think before it answers" }

#define LM_SAMPLING_ROWS(T) \
    ARG_HEADING("Sampling"), \
    { .name = "temperature", .kind = ARG_NUM, .at = LM_AT(T, temperature), .value = "T", .dflt = ARG_OF_PARAM, \
      .help = "sampling temperature; 0: the most probable token" }, \
    { .name = "top-k", .kind = ARG_INT, .at = LM_AT(T, top_k), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "sample from the N most probable tokens; 0: from all" }, \
    { .name = "top-p", .kind = ARG_NUM, .at = LM_AT(T, top_p), .value = "P", .dflt = ARG_OF_PARAM, \
      .help = "sample from the most probable tokens that sum up to P; 1: from all" }, \
    { .name = "min-p", .kind = ARG_NUM, .at = LM_AT(T, min_p), .value = "P", .dflt = ARG_OF_PARAM, \
      .help = "sample from tokens at least P times as probable as the most probable one; 0: from all" }, \
    { .name = "repeat-penalty", .kind = ARG_NUM, .at = LM_AT(T, repeat_penalty), .value = "X", .dflt = ARG_OF_PARAM, \
      .help = "divide logits of earlier tokens by X; 1: off" }, \
    { .name = "repeat-last-n", .kind = ARG_INT, .at = LM_AT(T, repeat_last_n), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "number of last tokens that penalties apply to, including the prompt; -1: all" }, \
    { .name = "frequency-penalty", .kind = ARG_NUM, .at = LM_AT(T, frequency_penalty), .value = "X", .dflt = ARG_OF_PARAM, \
      .help = "subtracted from a token's logit for each earlier occurrence" }, \
    { .name = "presence-penalty", .kind = ARG_NUM, .at = LM_AT(T, presence_penalty), .value = "X", .dflt = ARG_OF_PARAM, \
      .help = "subtracted once if the token occurred" }, \
    { .name = "samplers", .kind = ARG_TEXT, .at = LM_AT(T, samplers), .value = "LIST", .dflt = ARG_OF_PARAM, \
      .help = "filters in their order; omitted ones are off" }, \
    { .name = "seed", .kind = ARG_INT, .at = LM_AT(T, seed), .value = "N", .dflt = "0", .lo = -1, .hi = 9e18, \
      .help = "seed of sampling; the same seed gives the same text; -1: a new seed each time" }, \
    { .name = "grammar", .kind = ARG_TEXT, .at = LM_AT(T, grammar), .value = "GBNF", .help = "GBNF grammar that the text follows" }, \
    { .name = "grammar-file", .kind = ARG_TEXT, .at = LM_AT(T, grammar_file), .value = "FILE", .help = "the same in a file" }, \
    { .name = "json-schema", .kind = ARG_TEXT, .at = LM_AT(T, json_schema), .value = "SCHEMA", \
      .help = "the text is JSON that satisfies this JSON schema; {} is any JSON" }, \
    { .name = "json-schema-file", .kind = ARG_TEXT, .at = LM_AT(T, json_schema_file), .value = "FILE", .help = "the same in a file" }, \
    ARG_HEADING("Length"), \
    { .name = "max-tokens", .letter = 'n', .kind = ARG_INT, .at = LM_AT(T, max_tokens), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "maximum number of new tokens; 0: until the context is full" }, \
    { .name = "stop", .kind = ARG_TEXT, .at = LM_AT(T, stop), .value = "TEXT", \
      .help = "end before this text; separate several by |; \\n, \\t, \\| and \\\\ are escapes as in C" }, \
    { .name = "ignore-eos", .kind = ARG_FLAG, .at = LM_AT(T, ignore_eos), \
      .help = "never choose the model's end of text" }, \
    { .name = "ctx-size", .letter = 'c', .kind = ARG_INT, .at = offsetof(T, engine.ctx_size), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "size of the context in tokens, prompt and answer together; 0: 4096, or the trained length if that is less" }, \
    { .name = "kv-type", .kind = ARG_WORD, .at = offsetof(T, engine.kv_type), .value = "auto|f32|f16|q8_0", .dflt = ARG_OF_PARAM, \
      .help = "type of keys and values; q8_0 takes half the memory of f16; auto: f16, or f32 with --compute f32" }, \
    ARG_HEADING("Speed"), \
    { .name = "draft-max", .kind = ARG_INT, .at = LM_AT(T, draft_max), .value = "N", .dflt = "-1", .lo = -1, .hi = 15, \
      .help = "maximum number of draft tokens per run, 0 to 15, from repetitions in the text or from --draft; the text does not " \
              "change; -1: automatic with --draft, else none" }

/* The parameters and the memory they point to. */
struct lm_params {
    steno_generate_params p;
    char *text;                 /* text of a file */
    char *stops;                /* stop texts, one after another */
    const char *stop[16];
};
/* @return EXIT_OK, or the exit code to end with, after a message. Call lm_params_close in both cases */
int lm_params_open(struct lm_params *out, const struct lm_opts *o, const struct args_given *given, const steno_model *m);
void lm_params_close(struct lm_params *p);

/* Tokenize a conversation in the form that the options select, with the assistant's turn begun; raw: only the first message's text. The
 * ids are malloc'd. @return their number, or -1 after a message, with the exit code in *code */
int lm_prompt(int32_t **ids, const steno_model *m, const struct lm_opts *o, const steno_message *msg, int n, int raw, int *code);

/* If the model has a chat template, is its format known? @return EXIT_OK, or EXIT_MODEL after a message */
int lm_check_turns(const steno_model *m, const struct lm_opts *o);

/* Tokenize one user text, with the options' system text if the model has a chat template and raw is not set. @return EXIT_OK, or the
 * exit code after a message */
int lm_make_prompt(int32_t **ids, int *n, const steno_model *m, const struct lm_opts *o, int raw, const char *text);

#define LM_MODEL_ROW(T) \
    ARG_HEADING("Model"), \
    { .name = "model", .letter = 'm', .kind = ARG_TEXT, .at = offsetof(T, engine.model), .value = "PATH|NAME", \
      .help = "language model (Llama, Qwen, Gemma): a GGUF file or a folder, or its name in the caches; without it STENO_MODEL" }

/* Check that a language model is named, before anything is opened. @return EXIT_OK, or EXIT_USAGE after a message */
int lm_check_named(const struct engine_opts *o, const char *verb);

/* Check that it is a language model. @return EXIT_OK, or EXIT_USAGE after a message */
int lm_check_model(const steno_model *m);

/* Check that typed text is UTF-8. @return EXIT_OK, or EXIT_USAGE after a message */
int lm_check_text(const char *what, const char *text);

/* Report a failure of steno_generate with the names of options. @return the exit code */
int lm_failed(const steno_session *s, const struct args_given *given, int rc);
/* "stop", "length" or "canceled" */
const char *lm_finish(const steno_session *s);
#endif
