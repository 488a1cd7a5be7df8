/* steno: what there is to note about a result. SPDX-License-Identifier: MIT
 *
 * From its sound, the session that made it and what was asked for. out/notes.h has the kinds. */
#ifndef STENO_JOB_FINDINGS_H
#define STENO_JOB_FINDINGS_H
#include "level.h"
#include "notes.h"
#include "steno_media.h"

/* Whether all of the sound was there, and where the clock of its file moved it. */
void findings_media(struct notes *n, const steno_media *m);
void findings_state(struct notes *n, steno_media_state s);

/* Samples at full scale. */
void findings_level(struct notes *n, const struct level *l);

/* Nothing was said; `l`: how loud the sound is. */
void findings_no_speech(struct notes *n, const struct level *l);

/* Segments that may be none, a language that is a guess, a prompt that is longer than what fits. */
void findings_text(struct notes *n, const steno_model *m, const steno_session *s, const steno_transcribe_params *p);

void findings_segments(struct notes *n, int n_segments, int repeated, int silent); /* repeat themselves; lie in what is no speech */
void findings_prompt(struct notes *n, int count, int32_t most);                    /* tokens that it has, and that fit */

/* The length of the sound that seems to be in another language than the text. */
void findings_other_language(struct notes *n, const char *language, const char *other, int64_t ms);
/* The language was found with a probability of less than a half. */
void findings_language(struct notes *n, const char *language, double probability);

/* Which channel is read in place of a mix that is silent because channels cancel each other; from 0, or STENO_MEDIA_MIX: the mix is good.
 * Goes back to the beginning. @return a status, as steno_media_select */
int findings_channel(struct notes *n, steno_media *m, int *channel);

/* ---- of texts that are read ---- */

/* Lines of a text that got punctuation. */
struct marks_count { int64_t lines, empty, unchanged, marked; /* marked: had punctuation before */ };
void findings_marks_line(struct marks_count *c, const char *before, const char *after);
void findings_marks(struct notes *n, const struct marks_count *c);

/* An answer of n_made tokens behind a prompt of n_prompt, in a context of n_ctx. */
void findings_answer(struct notes *n, const char *text, enum steno_finish why, int n_prompt, int n_made, int n_ctx);

/* Texts of which only the beginning was read, texts without tokens, and files in which nothing was found. */
void findings_vectors(struct notes *n, int64_t cut, int64_t empty);
void findings_hits(struct notes *n, int64_t hits);
#endif
