/* steno: options of transcribe and translate that say what is decoded, and how. SPDX-License-Identifier: MIT
 *
 * They are the library's steno_transcribe_params in words; what the library judges (ids, patterns, grammars) is left to it. */
#ifndef STENO_TOOLS_DECODE_OPTS_H
#define STENO_TOOLS_DECODE_OPTS_H
#include "args.h"
#include "ledger.h"
#include <steno/steno.h>
#include <stddef.h>
#include <stdint.h>

struct decode_opts {
    const char *clip_timestamps, *initial_prompt, *prompt_tokens, *prefix, *hotwords;
    const char *suppress_tokens, *suppress_regex, *grammar, *grammar_rule, *prepend_punctuations, *append_punctuations;
    int condition, suppress_non_speech; /* -1: not given, until decode_opts_check */
    int carry, without_timestamps, suppress_blank, guards, itn, word_timestamps, token_timestamps, tinydiarize;
    int64_t max_context, audio_ctx, detection_segments, beam_size, best_of, sample_length, seed;
    double detection_threshold, chunk_s, max_initial_timestamp, grammar_penalty, hallucination_silence, word_threshold;
    double temperature, temperature_increment, patience, length_penalty;
    double no_speech_threshold, logprob_threshold, compression_ratio_threshold, entropy_threshold;
    struct ledger *ledger; /* files that options name are entered there */
};

#define DECODE_OPTS_UNSET { .condition = -1, .suppress_non_speech = -1 }

/* Further rows of the group "Input". */
#define DECODE_INPUT_ROWS(T) \
    { "language-detection-segments", 0, ARG_INT, 0, offsetof(T, decode.detection_segments), "N", ARG_FIELD, \
      "stretches of 30 s that the language is detected from, until one is sure" }, \
    { "language-detection-threshold", 0, ARG_NUM, 0, offsetof(T, decode.detection_threshold), "P", ARG_FIELD, \
      "probability that makes a language sure" }, \
    { "clip-timestamps", 0, ARG_TEXT, 0, offsetof(T, decode.clip_timestamps), "S,S,...", NULL, 0, 0, \
      "only these stretches: start, end, start, end, ... in seconds; without the last end to the end" }, \
    { "chunk-length", 0, ARG_NUM, 1, offsetof(T, decode.chunk_s), "S|none", ARG_FIELD, \
      "cut at quiet places into clips of at most S seconds, which do not depend on each other" }, \
    { "audio-ctx", 0, ARG_INT, 0, offsetof(T, decode.audio_ctx), "N", ARG_FIELD, \
      "length of a window in steps of 20 ms; 0: the model's (1500); shorter ones are faster and worse" }

/* The groups "Text", "Words", "Tokens" and "Decoding". */
#define DECODE_ROWS(T) \
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Text" }, \
    { "initial-prompt", 0, ARG_TEXT, 1, offsetof(T, decode.initial_prompt), "TEXT", NULL, 0, 0, "text put before the first window" }, \
    { "carry-initial-prompt", 0, ARG_PAIR, 0, offsetof(T, decode.carry), NULL, ARG_FIELD, "it stands before every window" }, \
    { "prompt-tokens", 0, ARG_TEXT, 1, offsetof(T, decode.prompt_tokens), "IDS", NULL, 0, 0, \
      "ids in place of the text of --initial-prompt, separated by commas" }, \
    { "prefix", 0, ARG_TEXT, 0, offsetof(T, decode.prefix), "TEXT", NULL, 0, 0, "first words of every window's text" }, \
    { "hotwords", 0, ARG_TEXT, 0, offsetof(T, decode.hotwords), "WORDS|@FILE", NULL, 0, 0, \
      "words or phrases to favour, separated by commas; in a file one a line" }, \
    { "condition-on-previous-text", 0, ARG_PAIR, 0, offsetof(T, decode.condition), NULL, NULL, 0, 0, \
      "earlier windows are the prompt of the next (default: on; off with --vad and --chunk-length)" }, \
    { "max-context", 0, ARG_INT, 0, offsetof(T, decode.max_context), "N", ARG_FIELD, \
      "most tokens of earlier text before a window; -1: what fits" }, \
    { "without-timestamps", 0, ARG_PAIR, 0, offsetof(T, decode.without_timestamps), NULL, ARG_FIELD, \
      "text only, one segment per window" }, \
    { "max-initial-timestamp", 0, ARG_NUM, 1, offsetof(T, decode.max_initial_timestamp), "S|none", ARG_FIELD, \
      "latest start of the first segment" }, \
    { "itn", 0, ARG_PAIR, 0, offsetof(T, decode.itn), NULL, ARG_FIELD, "digits and punctuation instead of words (SenseVoice)" }, \
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Words" }, \
    { "word-timestamps", 0, ARG_PAIR, 0, offsetof(T, decode.word_timestamps), NULL, ARG_FIELD, \
      "times of words, in JSON and to lay out subtitles by; segments begin and end with their words then" }, \
    { "prepend-punctuations", 0, ARG_TEXT, 1, offsetof(T, decode.prepend_punctuations), "TEXT", NULL, 0, 0, \
      "characters that belong to the word after them (default: opening quotes and brackets)" }, \
    { "append-punctuations", 0, ARG_TEXT, 1, offsetof(T, decode.append_punctuations), "TEXT", NULL, 0, 0, \
      "characters that belong to the word before them (default: closing ones and stops)" }, \
    { "hallucination-silence-threshold", 0, ARG_NUM, 1, offsetof(T, decode.hallucination_silence), "S|none", ARG_FIELD, \
      "words that look invented beside silence as long are left out" }, \
    { "token-timestamps", 0, ARG_PAIR, 0, offsetof(T, decode.token_timestamps), NULL, ARG_FIELD, \
      "times of tokens in the kinds of json, estimated from probable timestamps and lengths of texts" }, \
    { "word-threshold", 0, ARG_NUM, 0, offsetof(T, decode.word_threshold), "P", ARG_FIELD, \
      "share above which such a timestamp counts" }, \
    { "tinydiarize", 0, ARG_PAIR, 0, offsetof(T, decode.tinydiarize), NULL, ARG_FIELD, \
      "mark where the speaker changes (models trained for it)" }, \
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Tokens" }, \
    { "suppress-tokens", 0, ARG_TEXT, 1, offsetof(T, decode.suppress_tokens), "IDS", ARG_FIELD, \
      "ids separated by commas; -1: the non-speech set; \"\": none" }, \
    { "suppress-non-speech", 0, ARG_PAIR, 0, offsetof(T, decode.suppress_non_speech), NULL, NULL, 0, 0, \
      "the non-speech set, whatever that list says" }, \
    { "suppress-blank", 0, ARG_PAIR, 0, offsetof(T, decode.suppress_blank), NULL, ARG_FIELD, \
      "no space and no end at the first position" }, \
    { "suppress-regex", 0, ARG_TEXT, 0, offsetof(T, decode.suppress_regex), "PATTERN", NULL, 0, 0, \
      "tokens whose whole text matches it are never chosen" }, \
    { "grammar", 0, ARG_TEXT, 0, offsetof(T, decode.grammar), "FILE|TEXT", NULL, 0, 0, \
      "the text of each window is a sentence of this grammar (GBNF); TEXT is what has ::= in it" }, \
    { "grammar-rule", 0, ARG_TEXT, 0, offsetof(T, decode.grammar_rule), "NAME", NULL, 0, 0, "its start (default: root)" }, \
    { "grammar-penalty", 0, ARG_NUM, 1, offsetof(T, decode.grammar_penalty), "X|none", ARG_FIELD, \
      "what other tokens lose from their logits, as a wish; none: they are never chosen" }, \
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Decoding" }, \
    { "beam-size", 0, ARG_INT, 0, offsetof(T, decode.beam_size), "N", ARG_FIELD, \
      "width of the beam search at temperature 0; 0: the most probable token each time" }, \
    { "patience", 0, ARG_NUM, 1, offsetof(T, decode.patience), "X|none", ARG_FIELD, \
      "it ends with N * X finished sequences; none: N" }, \
    { "best-of", 0, ARG_INT, 0, offsetof(T, decode.best_of), "N", ARG_FIELD, "draws at temperatures above 0, the best counts; 0: one" }, \
    { "length-penalty", 0, ARG_NUM, 1, offsetof(T, decode.length_penalty), "A|none", ARG_FIELD, \
      "sequences rank by log-probability / ((5 + length) / 6)^A; none: / length" }, \
    { "temperature", 0, ARG_NUM, 0, offsetof(T, decode.temperature), "T", ARG_FIELD, \
      "0: the most probable token; above: sampling" }, \
    { "temperature-increment-on-fallback", 0, ARG_NUM, 1, offsetof(T, decode.temperature_increment), "T|none", ARG_FIELD, \
      "a window that fails is decoded again so much hotter, up to 1; 0: once" }, \
    { "compression-ratio-threshold", 0, ARG_NUM, 1, offsetof(T, decode.compression_ratio_threshold), "R|none", ARG_FIELD, \
      "above it a window's text is too repetitive" }, \
    { "entropy-threshold", 0, ARG_NUM, 1, offsetof(T, decode.entropy_threshold), "H|none", ARG_FIELD, \
      "below it the last 32 tokens of a window are too repetitive" }, \
    { "guards", 0, ARG_WORD, 0, offsetof(T, decode.guards), "off|flag|retry", ARG_FIELD, \
      "flag: repetition, silence and low confidence are marked in JSON; retry: decode such windows again, write nothing where there is " \
      "no sound; off: the reference to the letter" }, \
    { "seed", 0, ARG_INT, 0, offsetof(T, decode.seed), "N", "0", 0, 9e18, "of sampling" }, \
    { "sample-length", 0, ARG_INT, 0, offsetof(T, decode.sample_length), "N", ARG_FIELD, \
      "most tokens per window; 0: half the text context" }, \
    { "no-speech-threshold", 0, ARG_NUM, 1, offsetof(T, decode.no_speech_threshold), "P|none", ARG_FIELD, \
      "a window above it that is not above the next one is silence" }, \
    { "logprob-threshold", 0, ARG_NUM, 1, offsetof(T, decode.logprob_threshold), "L|none", ARG_FIELD, \
      "below it a window's mean log-probability is too low" }

/* What such options stand for, where that is more than a number. Text that is not malloc'd points into argv. */
struct decode_data {
    int32_t *prompt_ids; /* [n_prompt_ids] */
    double *clips;       /* [n_clips] seconds */
    int32_t n_prompt_ids, n_clips;
    char *grammar_file;   /* its text, malloc'd */
    const char *grammar;  /* that, or the text of the option */
    char *hotwords;       /* one a line, malloc'd */
    char *suppress;       /* the list of ids that is passed on, malloc'd */
};

/* Judge the options and read lists and files, before a model is opened; --condition-on-previous-text and --suppress-non-speech are settled.
 *
 * @param has_vad  whether voice activity will choose the clips
 * @return EXIT_OK, EXIT_USAGE or EXIT_MEMORY, after a message */
int decode_opts_check(struct decode_data *d, struct decode_opts *o, int has_vad);

/* Put them into *p, which has its defaults; *d and *o must outlive it. @return EXIT_OK or EXIT_MEMORY, after a message */
int decode_opts_fill(steno_transcribe_params *p, struct decode_data *d, const struct decode_opts *o, const steno_model *m);

/* Sequences of a window that will decode together. */
int decode_opts_lanes(const struct decode_opts *o);

void decode_data_free(struct decode_data *d);
#endif
