/* steno-live: live transcription. SPDX-License-Identifier: MIT
 *
 * The caller pushes samples in pieces of any size and receives text as events. Voice activity detection opens and closes turns; without it
 * all audio is one turn. After every step_ms of audio the recogniser decodes the turn so far. Words on which two such passes agree are
 * final: local agreement (Machacek et al. 2023, whisper_streaming). Final words never change. Streaming Paraformer decodes chunk by chunk
 * instead, and its words are final at once. Nothing here prints, waits, reads the environment or starts a thread. */
#ifndef STENO_LIVE_PUBLIC_H
#define STENO_LIVE_PUBLIC_H
#include <steno/steno.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct steno_live steno_live;

enum steno_live_kind {
    STENO_LIVE_PARTIAL, /**< text after the final words, which may change; replaces the previous partial */
    STENO_LIVE_FINAL,   /**< words that have become final */
    STENO_LIVE_ENDPOINT /**< end of a turn, with all its words */
};

/** What the last pass of a turn encodes. */
enum steno_live_last {
    STENO_LIVE_LAST_WINDOW, /**< the whole window, as in files */
    STENO_LIVE_LAST_TURN    /**< the turn and audio_padding_ms, as an update; nothing if the last update has decoded the turn to its end. If
                             *   its text is doubtful (empty, repetitive, improbable), the whole window, too */
};

typedef struct steno_live_event {
    uint32_t size;
    int32_t kind;         /**< enum steno_live_kind */
    int32_t turn;         /**< number of the turn, from 1 */
    int32_t spaces;       /**< between the final words of the turn so far and `text`; 0 for an endpoint */
    int64_t t0_ms, t1_ms; /**< start and end of the text in the audio; -1: not known */
    int64_t decoded_ms;   /**< end of the audio that was decoded for it */
    int64_t pushed_ms;    /**< end of the audio pushed so far */
    const char *text;     /**< UTF-8, without spaces at its ends; valid until the callback returns */
    const char *language; /**< language code of an endpoint; NULL: not known, or no endpoint; valid until the callback returns */
} steno_live_event;

/** Parameters, filled by steno_live_params_init. */
typedef struct steno_live_params {
    uint32_t size;                      /**< set by steno_live_params_init */
    int32_t step_ms;                    /**< audio between two passes, 200 to 10000; default 1000. Not for streaming Paraformer */
    int32_t max_turn_ms;                /**< maximum length of a turn, 2000 to 30000; default 30000. Not for streaming Paraformer */
    const steno_model *vad;             /**< FSMN-VAD or Silero VAD; NULL: one turn */
    const steno_vad_params *find;       /**< its parameters; NULL: defaults. Callbacks are not called */
    const steno_transcribe_params *text; /**< language, prompt, hot words and so on; NULL: the defaults. Of its callbacks only
                                         *   should_abort is called; word_timestamps is ignored. Its strings must stay valid until
                                         *   steno_live_close */
    void (*on_event)(void *user, const steno_live_event *e); /**< called within steno_live_push and steno_live_end; must be set */
    void *user;
    int32_t audio_padding_ms;           /**< Whisper: silence that an update encodes after the turn, 500 to 30000; default 3000. Turn and
                                         *   silence are rounded up to whole seconds. 0: the whole window, which takes up to six times as
                                         *   long. Ignored for other models, and if `text` sets audio_ctx or
                                         *   chunk_ms. While a language is detected, an update encodes the whole window, too */
    int32_t last_pass;                  /**< Whisper: enum steno_live_last; default STENO_LIVE_LAST_WINDOW */
} steno_live_params;

STENO_API void steno_live_params_init(steno_live_params *p);

/** Begin a live transcription.
 *
 * @param out      receives the object; NULL on failure
 * @param model    the recogniser
 * @param session  of that model; used exclusively until steno_live_close. NULL for streaming Paraformer, which opens its own
 * @param team     threads for voice activity detection and streaming Paraformer; NULL: the calling thread
 * @param e        receives the reason of a failure; may be NULL
 * @return STENO_OK; STENO_EARG (a parameter is out of range or not for this model), STENO_ENOMEM */
STENO_API int steno_live_open(steno_live **out, const steno_model *model, steno_session *session, steno_team *team,
                              const steno_live_params *p, steno_error *e);

/** Push more audio.
 *
 * @param pcm      [n] samples at 16 kHz, mono, -1 to 1
 * @param late_ms  how late the call is: age of the last of the samples, or length of the audio that waits behind them. From 200 ms on,
 *                 or step_ms if that is less, updates wait for newer audio, so that a slow machine makes fewer of them. 0: all are made
 * @return STENO_OK, STENO_EARG, STENO_ENOMEM, or what steno_transcribe returns; after a failure only steno_live_close is useful */
STENO_API int steno_live_push(steno_live *l, const float *pcm, int64_t n, int64_t late_ms, steno_error *e);

/** End the audio and close the open turn. @return as steno_live_push */
STENO_API int steno_live_end(steno_live *l, steno_error *e);

STENO_API void steno_live_close(steno_live *l); /**< NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
