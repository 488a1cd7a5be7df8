/* steno: decoding options of transcribe and translate. SPDX-License-Identifier: MIT
 *
 * They are the command-line form of the library's steno_transcribe_params. Ids, patterns and grammars are checked by the library. */
#ifndef STENO_TOOLS_DECODE_OPTS_H
#define STENO_TOOLS_DECODE_OPTS_H
#include "cli/args.h"
#include "path_guard.h"
#include <stddef.h>
#include <steno/steno.h>
#include <stdint.h>

struct decode_opts {
    const char *clip_timestamps, *fallback_temperatures, *initial_prompt, *prompt_tokens, *prefix, *hotwords;
    const char *suppress_tokens, *suppress_regex, *grammar, *grammar_rule, *prepend_punctuations, *append_punctuations;
    int condition, suppress_non_speech; /* -1: not given; decode_opts_check sets them */
    int greedy, drafted, bare;  /* drafted: a draft model is used; bare: options not given have the library's defaults */
    int itn, keep_tags, rich_text, ban_unknown_emotion;
    int decoding, carry, without_timestamps, suppress_blank, guards, word_timestamps, token_timestamps, tinydiarize;
    int language_per_segment;
    const char *chunk_size;
    int64_t encoder_look_back, decoder_look_back, lookahead;
    int64_t draft_max, max_context, audio_ctx, detection_segments, n_best, sample_length, no_repeat_ngram, seed;
    int64_t beam_size, best_of; /* -1: not given; decode_opts_settle sets them */
    double detection_threshold, chunk_s, max_initial_timestamp, hotwords_boost, repetition_penalty, grammar_penalty;
    double hallucination_silence, word_threshold;
    double temperature, temperature_increment, prompt_reset, patience, length_penalty;
    double no_speech_threshold, logprob_threshold, compression_ratio_threshold, entropy_threshold;
    struct path_guard *path_guard; /* registers files that options name */
};

#define DECODE_OPTS_UNSET { .condition = -1, .suppress_non_speech = -1, .beam_size = -1, .best_of = -1 }

/* The default search width of openai-whisper, faster-whisper and whisper-cli: five beams, best of five samples. */
#define DECODE_WIDTH "5"

/* For streaming models that read chunk by chunk; the last three arguments are fields of T. */
#define DECODE_CHUNK_ROWS(T, size, encoder, decoder) \
    { .name = "chunk-size", .kind = ARG_TEXT, .at = offsetof(T, size), .value = "B,C,A", .dflt = ARG_OF_PARAM, \
      .help = "chunks of C rows of 60 ms, read with B rows before and A rows after them (streaming Paraformer)" }, \
    { .name = "encoder-chunk-look-back", .kind = ARG_INT, .at = offsetof(T, encoder), .value = "N", \
      .dflt = ARG_OF_PARAM, .help = "number of earlier chunks that the encoder reads; -1: all, up to 61 s (streaming Paraformer)" }, \
    { .name = "decoder-chunk-look-back", .kind = ARG_INT, .at = offsetof(T, decoder), .value = "N", \
      .dflt = ARG_OF_PARAM, .help = "number of earlier chunks that the decoder reads (streaming Paraformer)" }

/* Text that guides the model. */
#define DECODE_PROMPT_ROW(T) \
    { .name = "initial-prompt", .kind = ARG_TEXT, .none = 1, .at = offsetof(T, decode.initial_prompt), .value = "TEXT", \
      .help = "text put before the first window" }

#define DECODE_HOTWORD_ROWS(T) \
    { .name = "hotwords", .kind = ARG_TEXT, .at = offsetof(T, decode.hotwords), .value = "WORDS|@FILE", \
      .help = "words or phrases to favour, separated by commas; in a file one per line" }, \
    { .name = "hotwords-boost", .kind = ARG_NUM, .at = offsetof(T, decode.hotwords_boost), .value = "X", .dflt = ARG_OF_PARAM, \
      .help = "strength of --hotwords, 0 to 100: odds times e^X (not for SeACo and Contextual Paraformer)" }

#define DECODE_GUARDS_ROW(T) \
    { .name = "guards", .kind = ARG_WORD, .at = offsetof(T, decode.guards), .value = "off|flag|retry", .dflt = ARG_OF_PARAM, \
      .help = "flag: leave out text of silence and steady sound (Whisper: also doubtful text of music), and mark repetition, " \
              "silence and low confidence in JSON; retry: also decode such windows again; off: as the reference does" }

/* More rows of the group "Input". */
#define DECODE_INPUT_ROWS(T) \
    { .name = "language-detection-segments", .kind = ARG_INT, .at = offsetof(T, decode.detection_segments), \
      .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "maximum number of 30 s windows that the language is detected from, until one is certain" }, \
    { .name = "language-detection-threshold", .kind = ARG_NUM, .at = offsetof(T, decode.detection_threshold), \
      .value = "P", .dflt = ARG_OF_PARAM, .help = "probability at which a language is certain" }, \
    { .name = "language-per-segment", .kind = ARG_PAIR, .at = offsetof(T, decode.language_per_segment), .dflt = ARG_OF_PARAM, \
      .help = "detect the language of each window of 30 s, and decode the window in it" }, \
    { .name = "clip-timestamps", .kind = ARG_TEXT, .at = offsetof(T, decode.clip_timestamps), .value = "S,S,...", \
      .help = "transcribe only these clips: start, end, start, end, ... in seconds; an odd last one goes to the end" }, \
    { .name = "chunk-length", .kind = ARG_S, .none = 1, .at = offsetof(T, decode.chunk_s), .value = "S|none", .dflt = ARG_OF_PARAM, \
      .help = "cut at quiet places into independent clips of at most S seconds, 1 to 30" }, \
    { .name = "audio-ctx", .kind = ARG_INT, .at = offsetof(T, decode.audio_ctx), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "length of a window in steps of 20 ms; 0: the model's (1500); shorter windows are faster and less accurate" }, \
    DECODE_CHUNK_ROWS(T, decode.chunk_size, decode.encoder_look_back, decode.decoder_look_back), \
    { .name = "lookahead", .kind = ARG_INT, .at = offsetof(T, decode.lookahead), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "rows of 80 ms read after a row before it is decoded; -1: the largest number the model permits (streaming FastConformer)" }

/* The groups "Text", "Words", "Tokens" and "Decoding". */
#define DECODE_ROWS(T) \
    ARG_HEADING("Text"), \
    DECODE_PROMPT_ROW(T), \
    { .name = "carry-initial-prompt", .kind = ARG_PAIR, .at = offsetof(T, decode.carry), .dflt = ARG_OF_PARAM, \
      .help = "put the initial prompt before every window" }, \
    { .name = "prompt-tokens", .kind = ARG_TEXT, .none = 1, .at = offsetof(T, decode.prompt_tokens), .value = "IDS", \
      .help = "token ids of the initial prompt, separated by commas, in place of its text" }, \
    { .name = "prefix", .kind = ARG_TEXT, .at = offsetof(T, decode.prefix), .value = "TEXT", \
      .help = "first words of every window's text (Whisper; Qwen3-ASR with -l)" }, \
    DECODE_HOTWORD_ROWS(T), \
    { .name = "repetition-penalty", .kind = ARG_NUM, .at = offsetof(T, decode.repetition_penalty), .value = "X", .dflt = ARG_OF_PARAM, \
      .help = "above 1, make tokens that a window already has less likely (Whisper, Fun-ASR-Nano, Qwen3-ASR)" }, \
    { .name = "no-repeat-ngram-size", .kind = ARG_INT, .at = offsetof(T, decode.no_repeat_ngram), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "no N tokens in a row occur twice in a window; 0: they may" }, \
    { .name = "condition-on-previous-text", .kind = ARG_PAIR, .at = offsetof(T, decode.condition), \
      .help = "prompt each window with the text of earlier ones (default: on; off with --vad and --chunk-length)" }, \
    { .name = "max-context", .kind = ARG_INT, .at = offsetof(T, decode.max_context), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "maximum number of tokens of earlier text before a window; -1: what fits" }, \
    { .name = "without-timestamps", .kind = ARG_PAIR, .at = offsetof(T, decode.without_timestamps), .dflt = ARG_OF_PARAM, \
      .help = "text only, one segment per window" }, \
    { .name = "max-initial-timestamp", .kind = ARG_S, .none = 1, .at = offsetof(T, decode.max_initial_timestamp), \
      .value = "S|none", .dflt = ARG_OF_PARAM, .help = "latest start of the first segment, in seconds" }, \
    { .name = "itn", .kind = ARG_PAIR, .at = offsetof(T, decode.itn), .dflt = ARG_OF_PARAM, \
      .help = "write digits and punctuation instead of words (SenseVoice; Fun-ASR-Nano: on unless turned off)" }, \
    { .name = "keep-tags", .kind = ARG_PAIR, .at = offsetof(T, decode.keep_tags), .dflt = ARG_OF_PARAM, \
      .help = "keep tags of language, emotion, event and spelling in the text (SenseVoice)" }, \
    { .name = "rich-text", .kind = ARG_PAIR, .at = offsetof(T, decode.rich_text), .dflt = ARG_OF_PARAM, \
      .help = "write emotions and events as signs, as FunASR's post-processing does (SenseVoice)" }, \
    { .name = "ban-unknown-emotion", .kind = ARG_PAIR, .at = offsetof(T, decode.ban_unknown_emotion), .dflt = ARG_OF_PARAM, \
      .help = "never choose the tag for an unknown emotion (SenseVoice)" }, \
    ARG_HEADING("Words"), \
    { .name = "word-timestamps", .kind = ARG_PAIR, .at = offsetof(T, decode.word_timestamps), .dflt = ARG_OF_PARAM, \
      .help = "times of words, in JSON and for the layout of subtitles; segments then begin and end with their words" }, \
    { .name = "prepend-punctuations", .kind = ARG_TEXT, .none = 1, .at = offsetof(T, decode.prepend_punctuations), .value = "TEXT", \
      .help = "characters that belong to the word after them (default: opening quotes and brackets)" }, \
    { .name = "append-punctuations", .kind = ARG_TEXT, .none = 1, .at = offsetof(T, decode.append_punctuations), .value = "TEXT", \
      .help = "characters that belong to the word before them (default: closing quotes and brackets, and stops)" }, \
    { .name = "hallucination-silence-threshold", .kind = ARG_S, .none = 1, .at = offsetof(T, decode.hallucination_silence), \
      .value = "S|none", .dflt = ARG_OF_PARAM, .help = "leave out words that look invented beside a silence of S seconds or more" }, \
    { .name = "token-timestamps", .kind = ARG_PAIR, .at = offsetof(T, decode.token_timestamps), .dflt = ARG_OF_PARAM, \
      .help = "write estimated times of tokens in json, verbose_json and jsonl" }, \
    { .name = "word-threshold", .kind = ARG_NUM, .at = offsetof(T, decode.word_threshold), .value = "P", .dflt = ARG_OF_PARAM, \
      .help = "minimum probability of a timestamp for --token-timestamps" }, \
    { .name = "tinydiarize", .kind = ARG_PAIR, .at = offsetof(T, decode.tinydiarize), .dflt = ARG_OF_PARAM, \
      .help = "mark changes of speaker (models trained for it)" }, \
    ARG_HEADING("Tokens"), \
    { .name = "suppress-tokens", .kind = ARG_TEXT, .none = 1, .at = offsetof(T, decode.suppress_tokens), \
      .value = "IDS", .dflt = ARG_OF_PARAM, \
      .help = "token ids that are never chosen, separated by commas; -1: the non-speech set; \"\": none" }, \
    { .name = "suppress-non-speech", .kind = ARG_PAIR, .at = offsetof(T, decode.suppress_non_speech), \
      .help = "suppress the non-speech set, or not, whatever --suppress-tokens lists" }, \
    { .name = "suppress-blank", .kind = ARG_PAIR, .at = offsetof(T, decode.suppress_blank), .dflt = ARG_OF_PARAM, \
      .help = "no space and no end of text at the first position" }, \
    { .name = "suppress-regex", .kind = ARG_TEXT, .at = offsetof(T, decode.suppress_regex), .value = "PATTERN", \
      .help = "never choose tokens whose whole text matches PATTERN; with --decoding whisper.cpp " \
              "also special tokens by name, such as [_TT_50]" }, \
    { .name = "grammar", .kind = ARG_TEXT, .at = offsetof(T, decode.grammar), .value = "FILE|TEXT", \
      .help = "GBNF grammar that the text of each window follows; a TEXT has ::= in it" }, \
    { .name = "grammar-rule", .kind = ARG_TEXT, .at = offsetof(T, decode.grammar_rule), .value = "NAME", \
      .help = "start rule of the grammar (default: root)" }, \
    { .name = "grammar-penalty", .kind = ARG_NUM, .none = 1, .at = offsetof(T, decode.grammar_penalty), \
      .value = "X|none", .dflt = ARG_OF_PARAM, \
      .help = "subtracted from the logits of tokens outside the grammar; none: they are never chosen" }, \
    ARG_HEADING("Decoding"), \
    { .name = "beam-size", .kind = ARG_INT, .at = offsetof(T, decode.beam_size), .value = "N", .hi = 32, \
      .help = "number of beams at temperature 0, up to 32; 0: greedy search (default: " DECODE_WIDTH " with Whisper; 0 with " \
              "--draft, and with other models)" }, \
    { .name = "patience", .kind = ARG_NUM, .none = 1, .at = offsetof(T, decode.patience), .value = "X|none", .dflt = ARG_OF_PARAM, \
      .help = "the beam search ends with N * X finished sequences, N of --beam-size; none: N" }, \
    { .name = "best-of", .kind = ARG_INT, .at = offsetof(T, decode.best_of), .value = "N", .hi = 32, \
      .help = "number of sequences sampled at temperatures above 0, up to 32; the best is used (default: " DECODE_WIDTH " with " \
              "Whisper)" }, \
    { .name = "greedy", .kind = ARG_FLAG, .at = offsetof(T, decode.greedy), \
      .help = "same as --beam-size 0 --best-of 0: the fastest way to decode; beams make fewer mistakes" }, \
    { .name = "n-best", .kind = ARG_INT, .at = offsetof(T, decode.n_best), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "number of hypotheses of each window in json, verbose_json and jsonl, as \"n_best\"; at most what --beam-size or " \
              "--best-of finds" }, \
    { .name = "length-penalty", .kind = ARG_NUM, .none = 1, .at = offsetof(T, decode.length_penalty), \
      .value = "A|none", .dflt = ARG_OF_PARAM, .help = "sequences rank by log-probability / ((5 + length) / 6)^A; none: / length" }, \
    { .name = "temperature", .kind = ARG_NUM, .at = offsetof(T, decode.temperature), .value = "T", .dflt = ARG_OF_PARAM, \
      .help = "sampling temperature; 0: the most probable token" }, \
    { .name = "temperature-increment-on-fallback", .kind = ARG_NUM, .none = 1, .at = offsetof(T, decode.temperature_increment), \
      .value = "T|none", .dflt = ARG_OF_PARAM, \
      .help = "a window that fails is decoded again at a temperature higher by T, up to 1; 0: once only" }, \
    { .name = "fallback-temperatures", .kind = ARG_TEXT, .at = offsetof(T, decode.fallback_temperatures), .value = "T,T,...", \
      .help = "the temperatures at which a window that fails is decoded again, each above the one before" }, \
    { .name = "prompt-reset-on-temperature", .kind = ARG_NUM, .none = 1, .at = offsetof(T, decode.prompt_reset), \
      .value = "T|none", .dflt = ARG_OF_PARAM, .help = "forget earlier text after a window whose text has a temperature above T" }, \
    { .name = "compression-ratio-threshold", .kind = ARG_NUM, .none = 1, .at = offsetof(T, decode.compression_ratio_threshold), \
      .value = "R|none", .dflt = ARG_OF_PARAM, .help = "a window fails if its text compresses by more than R (too repetitive)" }, \
    { .name = "entropy-threshold", .kind = ARG_NUM, .none = 1, .at = offsetof(T, decode.entropy_threshold), \
      .value = "H|none", .dflt = ARG_OF_PARAM, \
      .help = "a window fails if its last 32 tokens have less entropy than H (too repetitive)" }, \
    { .name = "decoding", .kind = ARG_WORD, .at = offsetof(T, decode.decoding), .value = "openai|whisper.cpp", .dflt = ARG_OF_PARAM, \
      .help = "decoding rules of windows: of openai-whisper, or of whisper.cpp" }, \
    { .name = "draft-max", .kind = ARG_INT, .at = offsetof(T, decode.draft_max), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "maximum number of draft tokens per run, 1 to 15, of --draft, or with Qwen3-ASR and Fun-ASR-Nano of earlier text " \
              "(0: none); -1: as many as pay" }, \
    DECODE_GUARDS_ROW(T), \
    { .name = "seed", .kind = ARG_INT, .at = offsetof(T, decode.seed), .value = "N", .dflt = "0", .hi = 9e18, \
      .help = "seed of sampling; the same seed gives the same text" }, \
    { .name = "sample-length", .kind = ARG_INT, .at = offsetof(T, decode.sample_length), .value = "N", .dflt = ARG_OF_PARAM, \
      .help = "maximum number of tokens per window; 0: half the text context (Fun-ASR-Nano: 512)" }, \
    { .name = "no-speech-threshold", .kind = ARG_NUM, .none = 1, .at = offsetof(T, decode.no_speech_threshold), \
      .value = "P|none", .dflt = ARG_OF_PARAM, \
      .help = "a window with a higher no-speech probability is silence, unless it passes --logprob-threshold" }, \
    { .name = "logprob-threshold", .kind = ARG_NUM, .none = 1, .at = offsetof(T, decode.logprob_threshold), \
      .value = "L|none", .dflt = ARG_OF_PARAM, .help = "a window fails if its mean log-probability is lower" }

/* Parsed values of options. Text that is not malloc'd points into argv. */
struct decode_data {
    int32_t *prompt_ids; /* [n_prompt_ids] */
    double *clips;       /* [n_clips] seconds */
    double *ladder;      /* [n_ladder] temperatures */
    int32_t n_prompt_ids, n_clips, n_ladder;
    char *grammar_file;   /* text of the file, malloc'd */
    const char *grammar;  /* grammar_file, or the text of the option */
    char *hotwords;       /* one a line, malloc'd */
    char *suppress;       /* list of ids for the library, malloc'd */
};

/* Check the options and read lists and files, before a model is opened. Sets --condition-on-previous-text and --suppress-non-speech.
 *
 * @param has_vad  1: voice activity will choose the clips
 * @return EXIT_OK, EXIT_USAGE or EXIT_MEMORY, after a message */
int decode_opts_check(struct decode_data *d, struct decode_opts *o, int has_vad);

/* Copy the options into *p, which must hold its defaults; *d and *o must outlive it. @return EXIT_OK or EXIT_MEMORY, after a message */
int decode_opts_fill(steno_transcribe_params *p, struct decode_data *d, const struct decode_opts *o, const steno_model *m);

/* Set --beam-size and --best-of if they were not given: with Whisper to the other programs' default, else to greedy search. */
void decode_opts_settle(struct decode_opts *o, const steno_model *m);

/* Refuses --draft-max if nothing drafts for the model. */
int decode_opts_check_drafts(const struct decode_opts *o, const struct args_given *given, const steno_model *m);

/* The number of sequences per window that decode together; before decode_opts_settle the maximum possible. */
int decode_opts_lanes(const struct decode_opts *o);

/* A hash of the texts that options name as files, so that runs with other texts differ. */
uint64_t decode_data_hash(const struct decode_data *d);
void decode_data_free(struct decode_data *d);

/* ---- weights in hot-word files of other programs ----------------------------------------------------------------------------- */

enum hotword_weights {
    HOTWORDS_PLAIN,    /* no weights */
    HOTWORDS_NUMBERED, /* no weights, but two lines or more, and half of all, end with a number that stays */
    HOTWORDS_WEIGHTED, /* weights were removed from the text */
    HOTWORDS_REFUSED   /* a weight is 0 or less, or has no word */
};
/* Read a text with one word per line, without surrounding blanks and empty lines, and remove weights in place. Two forms are known.
 * "WORD :2.0" (sherpa-onnx) may occur on any line. "WORD 20" (FunASR) counts only if every line ends with a whole number; otherwise the
 * number is part of the word ("iPhone 15"). A number before a colon is part of the word, too ("iPhone 15 :2").
 * @param line  receives the number of the refused line, from 1 */
enum hotword_weights hotword_weights_cut(char *text, int *line);
#endif
