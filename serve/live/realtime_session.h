/* steno-serve: the session object of OpenAI's realtime transcription, as data. SPDX-License-Identifier: MIT
 *
 * session.update merges recursively: absent keys keep their values, null restores a default or switches a part off, and one wrong part
 * changes nothing. Both shapes are read: audio.input.{format, transcription, noise_reduction, turn_detection}, and the flat keys of the
 * beta: input_audio_format, input_audio_transcription, input_audio_noise_reduction, turn_detection. Functions of their arguments.
 *
 * OpenAI's models gpt-realtime-whisper and gpt-live-transcribe have no turn detection, and their clients commit. So with these names the
 * default of turn_detection is null. */
#ifndef STENO_SERVE_REALTIME_SESSION_H
#define STENO_SERVE_REALTIME_SESSION_H
#include <jansson.h>
#include <stdint.h>

enum { REALTIME_PROMPT_MAX = 16384, REALTIME_KEYWORDS_MAX = 100, REALTIME_KEYWORD_MAX = 100 };

/* A mistake of the client. */
struct realtime_error {
    const char *code;   /* NULL: none */
    char param[96];     /* "": null */
    char message[384];  /* ASCII */
    int ends;           /* 1: the connection can never be served */
};

/* Sets the error, unless one is set. @return -1 */
int realtime_fail(struct realtime_error *e, const char *code, const char *param, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

enum { REALTIME_LANGUAGES = 12 }; /* maximum that detection chooses among */

struct realtime_session {
    json_t *input;    /* format, transcription, noise_reduction, turn_detection */
    json_t *include;  /* list or null */
    char *hotwords;   /* keywords, one a line; NULL: none */
    char languages[REALTIME_LANGUAGES * 36]; /* several, separated by commas; "": none or one */
    char model[256];  /* the default */
    int has_turns;    /* an update has set turn_detection */
};

enum realtime_format { REALTIME_PCM, REALTIME_ULAW, REALTIME_ALAW };
enum { REALTIME_PARTIAL = 1, REALTIME_WORDS = 2, REALTIME_LOGPROBS = 4 }; /* include */

/* The effective session; its texts are valid until the next update. */
struct realtime_config {
    enum realtime_format format;
    int rate;
    const char *model;
    const char *language, *prompt, *hotwords; /* NULL: none */
    int uses_vad;
    double threshold;            /* -1: default */
    int padding_ms, silence_ms;  /* -1: default */
    int step_ms;                 /* of `delay`; 0: the server's */
    unsigned include;
};

/* @return 0, or -1: out of memory */
int realtime_session_init(struct realtime_session *s, const char *model);
void realtime_session_free(struct realtime_session *s);
int realtime_session_copy(struct realtime_session *to, const struct realtime_session *from); /* @return as realtime_session_init */

/* Merges the value of `session` in an update. @return 0, or -1 with *e: nothing has changed */
int realtime_session_update(struct realtime_session *s, const json_t *patch, struct realtime_error *e);

/* The client ends the turns. @return as realtime_session_init */
int realtime_session_no_turns(struct realtime_session *s);

const char *realtime_format_type(const char *flat);   /* type of a format that the beta names by a word; NULL: there is none */
unsigned realtime_include_bit(const char *word);      /* 0: none of them, or NULL */
void realtime_session_config(const struct realtime_session *s, struct realtime_config *c);

/* The whole session as clients receive it, flat or not; NULL: out of memory. id and expires_at (Unix time) 0 are left out. */
json_t *realtime_session_json(const struct realtime_session *s, int is_flat, const char *id, int64_t expires_at);
#endif
