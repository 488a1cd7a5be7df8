/* steno: clips chosen by voice activity, and the options that say how. SPDX-License-Identifier: MIT
 *
 * A second model with a session of its own hears the audio first; what it takes for speech becomes the clips that are transcribed. */
#ifndef STENO_TOOLS_VAD_OPTS_H
#define STENO_TOOLS_VAD_OPTS_H
#include "engine.h"

enum vad_kind { VAD_OFF, VAD_SILERO, VAD_FSMN }; /* in the order of the words of --vad */

struct vad_opts {
    int kind; /* enum vad_kind */
    const char *model;
    double threshold, max_speech_s;
    int64_t min_speech_ms, min_silence_ms, pad_ms;
};

/* The group "Voice activity". */
#define VAD_ROWS(T) \
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Voice activity" }, \
    { "vad", 0, ARG_WORD, 0, offsetof(T, vad.kind), "off|silero|fsmn", "off", 0, 0, \
      "transcribe only where somebody speaks; silero is not in this version" }, \
    { "vad-model", 0, ARG_TEXT, 0, offsetof(T, vad.model), "PATH", NULL, 0, 0, "its model, such as FunASR's FSMN-VAD folder" }, \
    { "vad-threshold", 0, ARG_NUM, 1, offsetof(T, vad.threshold), "D|none", ARG_FIELD, \
      "a frame is speech when P(speech) - P(silence) is at least D; none: the model's own" }, \
    { "vad-min-speech-ms", 0, ARG_INT, 0, offsetof(T, vad.min_speech_ms), "MS", "250", 0, 1e9, "shorter spans are dropped" }, \
    { "vad-min-silence-ms", 0, ARG_INT, 0, offsetof(T, vad.min_silence_ms), "MS", ARG_FIELD, \
      "silence that ends a span; -1: long at first, shorter the longer nobody pauses" }, \
    { "vad-speech-pad-ms", 0, ARG_INT, 0, offsetof(T, vad.pad_ms), "MS", "30", 0, 1e6, "added to both ends of a span" }, \
    { "vad-max-speech-s", 0, ARG_NUM, 1, offsetof(T, vad.max_speech_s), "S|none", ARG_FIELD, \
      "longer spans are cut; none: the model's own (60)" }

/* @return EXIT_OK or EXIT_USAGE, after a message */
int vad_opts_check(const struct vad_opts *o);

struct vad {
    const struct vad_opts *o;
    steno_model *model; /* NULL: --vad off */
    steno_session *session;
    double *clips; /* [2 * n_clips] seconds: start, end, ... */
    int64_t n_clips;
};

/* Open the model, if there is to be one, on the team of `e`. @return EXIT_OK, or the exit code to end with, after a message */
int vad_open(struct vad *v, const struct vad_opts *o, const struct engine *e, const struct engine_opts *eo);
void vad_close(struct vad *v);

/* Hear a source to its end and choose the clips, none of which is longer than a window. The source is left at its end.
 *
 * @param begin_ms     what lies before is left out
 * @param duration_ms  and what lies so much later; 0: nothing
 * @param window_ms    length of a window
 * @return a status; the reason is that of the source or of v->session */
int vad_listen(struct vad *v, const steno_source *src, int64_t begin_ms, int64_t duration_ms, int64_t window_ms,
               int (*should_abort)(void *user), void *user);
#endif
