/* steno: clips from voice activity, and the options for it. SPDX-License-Identifier: MIT
 *
 * Turns the options into the rules of speech.h and opens the voice-activity model. */
#ifndef STENO_TOOLS_VAD_OPTS_H
#define STENO_TOOLS_VAD_OPTS_H
#include "models/engine.h"
#include "speech.h"

enum vad_kind { VAD_OFF, VAD_SILERO, VAD_FSMN }; /* in the order of the values of --vad */

struct vad_opts {
    int kind; /* enum vad_kind */
    int none; /* --no-vad */
    const char *model;
    double threshold, neg_threshold, max_speech_s, merge_s;
    int64_t min_speech_ms, min_silence_ms, pad_ms;
    int rules, join;
    double overlap_s;
};

/* Thresholds that begin and end a span. */
#define VAD_THRESHOLD_ROW(T) \
    { .name = "vad-threshold", .kind = ARG_NUM, .none = 1, .at = offsetof(T, vad.threshold), .value = "D|none", .dflt = ARG_OF_PARAM, \
      .help = "a frame is speech if P(speech) - P(silence) is at least D (Silero: if P(speech) is); none: the model's own (0.5)" }

#define VAD_SILENCE_ROW(T) \
    { .name = "vad-min-silence-ms", .kind = ARG_MS, .at = offsetof(T, vad.min_silence_ms), .value = "MS", .dflt = ARG_OF_PARAM, \
      .help = "silence that ends a span, in ms; -1: 2000 at first, shorter in long spans (Silero: 100)" }

/* The group "Voice activity". */
#define VAD_ROWS(T) \
    ARG_HEADING("Voice activity"), \
    { .name = "vad", .kind = ARG_WORD, .at = offsetof(T, vad.kind), .value = "off|silero|fsmn", .dflt = "off", \
      .help = "skip silence (voice activity detection). Automatic with FunASR's recognisers if a model is found" }, \
    { .name = "no-vad", .kind = ARG_FLAG, .at = offsetof(T, vad.none), .help = "same as --vad off" }, \
    { .name = "vad-model", .kind = ARG_TEXT, .at = offsetof(T, vad.model), .value = "PATH", \
      .help = "voice-activity model: FunASR's FSMN-VAD folder or Silero VAD; without it one beside the model, or in the caches" }, \
    VAD_THRESHOLD_ROW(T), \
    { .name = "vad-neg-threshold", .kind = ARG_NUM, .none = 1, .at = offsetof(T, vad.neg_threshold), .value = "P|none", \
      .dflt = ARG_OF_PARAM, .help = "Silero: a silence begins with a frame below P; none: the threshold less 0.15" }, \
    { .name = "vad-min-speech-ms", .kind = ARG_MS, .at = offsetof(T, vad.min_speech_ms), .value = "MS", .dflt = "250", .hi = 1e9, \
      .help = "drop spans shorter than this, in ms; FunASR's recognisers with FSMN-VAD: 0 unless given" }, \
    VAD_SILENCE_ROW(T), \
    { .name = "vad-speech-pad-ms", .kind = ARG_MS, .at = offsetof(T, vad.pad_ms), .value = "MS", .dflt = "30", .hi = 1e6, \
      .help = "added to both ends of a span, in ms; not for FunASR's recognisers with FSMN-VAD" }, \
    { .name = "vad-rules", .kind = ARG_WORD, .at = offsetof(T, vad.rules), .value = "own|whisper-cpp", .dflt = ARG_OF_PARAM, \
      .help = "Silero: spans of its own get_speech_timestamps, or of whisper.cpp" }, \
    { .name = "vad-join", .kind = ARG_FLAG, .at = offsetof(T, vad.join), \
      .help = "join speech, transcribe it and map times back, as whisper.cpp does; not for FunASR's recognisers" }, \
    { .name = "vad-samples-overlap", .kind = ARG_S, .at = offsetof(T, vad.overlap_s), .value = "S", .dflt = "0.1", .hi = 10, \
      .help = "with --vad-join: seconds of audio included after each span" }, \
    { .name = "vad-max-speech-s", .kind = ARG_S, .none = 1, .at = offsetof(T, vad.max_speech_s), \
      .value = "S|none", .dflt = ARG_OF_PARAM, \
      .help = "split spans longer than this, in seconds; none: the model's own (60; Silero: not split)" }, \
    { .name = "vad-merge-s", .kind = ARG_S, .none = 1, .at = offsetof(T, vad.merge_s), .value = "S|none", .dflt = ARG_OF_PARAM, \
      .help = "FunASR's recognisers: merge spans and pauses into stretches of up to S seconds, as its merge_vad does" }

struct vad {
    const struct vad_opts *o;
    steno_model *model;      /* NULL: --vad off */
    steno_session *session;  /* finds the clips; NULL: the library finds them during transcription */
    steno_vad_params params;
    int is_silero;           /* its spans include margins and have a minimum length */
};

/* Can the model transcribe with a voice-activity model as its parameter (steno_transcribe_params.vad_model)? */
int vad_is_within(const steno_model *m);

/* Open the model, if the options ask for one, on the team of `e`. may_find: a model may also be used without being requested.
 * @return EXIT_OK, or the exit code to end with, after a message */
int vad_open(struct vad *v, const struct vad_opts *o, const struct engine *e, const struct engine_opts *eo, int may_find);
void vad_close(struct vad *v);

/* The job's rules for clips. Audio before begin_ms is skipped, as is audio more than duration_ms later; 0: no limit. */
void vad_rules(struct speech_rules *r, const struct vad *v, int64_t begin_ms, int64_t duration_ms);
#endif
