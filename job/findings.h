/* steno: finds reasons for notes on a result. SPDX-License-Identifier: MIT
 *
 * The reasons come from the audio, the session that made the result, and the request. transcript.h has the kinds of notes. */
#ifndef STENO_JOB_FINDINGS_H
#define STENO_JOB_FINDINGS_H
#include "transcript.h"
#include <steno/media.h>
#include <steno/steno.h>

/* ---- loudness of audio ------------------------------------------------------------------------------------------------------- */

struct level {
    int64_t n, n_full; /* number of samples, and of those at full scale */
    double squares, peak;
};

void level_add(struct level *l, const float *pcm, int64_t n);
double level_db(const struct level *l);      /* mean, in dBFS; LEVEL_NONE for silence */
double level_peak_db(const struct level *l); /* of the loudest sample */
#define LEVEL_NONE (-120.0)

/* A source that is measured while it is read; rewinding starts again. */
struct level_source {
    struct level level;
    steno_source from;
};
steno_source level_source(struct level_source *l, const steno_source *from);

/* ---- reasons for notes ------------------------------------------------------------------------------------------------------- */

/* Missing audio, and audio that the clock of its file moved. */
void findings_media(struct notes *n, const steno_media *m);
void findings_state(struct notes *n, steno_media_state s);

/* Samples at full scale. */
void findings_level(struct notes *n, const struct level *l);

/* No speech was found; `l`: loudness of the audio; mixed: number of channels whose mix it is, or 1: they are known not to cancel out. */
void findings_no_speech(struct notes *n, const struct level *l, int mixed);

/* Nothing was read: all of what is transcribed lies past the end of the audio, which lasts audio_ms. */
void findings_past_end(struct notes *n, int64_t audio_ms);

/* Segments that may not be speech, an uncertain language, a prompt that is too long. */
void findings_text(struct notes *n, const steno_model *m, const steno_session *s, const steno_transcribe_params *p);

/* repeated: number of segments that repeat themselves; silent: number that lie where there is no speech */
void findings_segments(struct notes *n, int n_segments, int repeated, int silent);
void findings_prompt(struct notes *n, int count, int32_t most);                    /* tokens of the prompt, and tokens that fit */

/* Word times from a model that may be large-v1 or large-v2. */
void findings_heads(struct notes *n, const steno_model_info *info);

/* Length of the audio that seems to be in another language than the text. */
void findings_other_language(struct notes *n, const char *language, const char *other, int64_t ms);
/* The probability of the detected language was less than a half. */
void findings_language(struct notes *n, const char *language, double probability);

/* Chooses a channel if the mix is silent because channels cancel out: an index from 0, or STENO_MEDIA_MIX if the mix is good. Rewinds to
 * the beginning. @return a status, as steno_media_select */
int findings_channel(struct notes *n, steno_media *m, int *channel);

/* ---- text commands ---- */

/* Number of lines of a punctuated text. */
struct marks_count { int64_t lines, empty, unchanged, marked; /* marked: had punctuation before */ };
void findings_punctuation_line(struct marks_count *c, const char *before, const char *after);
void findings_punctuation(struct notes *n, const struct marks_count *c);

/* An answer of n_made tokens after a prompt of n_prompt, in a context of n_ctx. */
void findings_answer(struct notes *n, const char *text, enum steno_finish why, int n_prompt, int n_made, int n_ctx);

/* Texts that were truncated, texts without tokens, and files without results. */
void findings_vectors(struct notes *n, int64_t cut, int64_t empty);
void findings_hits(struct notes *n, int64_t hits);
#endif
