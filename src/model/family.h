/* steno: what a family of models is. SPDX-License-Identifier: MIT
 *
 * A family is a row of data in front of the machinery: which files are its own, how a file becomes plans, how prompts and rules are
 * made, how chosen tokens become segments. A new family is one file, one line in the registry and one golden test; nothing outside
 * src/model names one. */
#ifndef STENO_MODEL_FAMILY_H
#define STENO_MODEL_FAMILY_H
#include "audio/mel.h"
#include "load/weights.h"
#include "plan/build.h"
#include "search/rules.h"
#include "text/bpe.h"
#include "text/whisper_tokens.h"

enum { MODEL_PLANS = 2, PLAN_ENCODER = 0, PLAN_DECODER = 1, STATE_SELF = 0, STATE_CROSS = 1, MODEL_STATES = 2 };
enum { PHASE_ENCODE = 0, PHASE_CROSS = 1, ENCODER_PHASES = 2 }; /* of the encoder plan */

struct steno_model {
    struct arena arena;
    const struct family *family;
    struct kern kern;
    struct weight_store store;
    struct plan plan[MODEL_PLANS];
    struct state_desc state[MODEL_STATES];
    enum kv_type kv_type;
    enum dtype matrix_type;
    const char *name;              /* of the shape */
    int64_t parameters, load_us;
    steno_team *loading;           /* while opening only */
    const char *vocab_path;        /* while opening only: where a vocabulary may be found */

    int32_t n_vocab, text_ctx, audio_ctx;
    struct whisper_dims dims;
    struct mel_bank mel;
    struct vocab vocab;
    struct bpe *bpe;
    struct whisper_tokens tokens;
    struct buf non_speech;         /* int32_t ids */
};

/* What a caller asks of a decoding, in the family's terms. */
struct speech_request {
    int32_t translate, without_timestamps, suppress_blank;
    double max_initial_timestamp;
    const char *suppress_tokens;
    int32_t lang;                  /* index of the language, -1: not known yet */
};

/* A stretch of a window's tokens that became a segment. Times in positions of 20 ms from the window's start. */
struct piece { int32_t first, n; int32_t t0, t1; };

struct speech {
    /* Ids before the first chosen one, without previous text: at most PROMPT_HEAD of them. @return their number */
    int (*head)(const steno_model *m, const struct speech_request *q, int32_t *ids, int *sot);
    /* Fill masks and rules; STENO_EARG for a suppress list that cannot be read. */
    int (*rules)(const steno_model *m, const struct speech_request *q, struct rule_masks *masks, struct pick_rules *rules,
                 steno_error *e);
    /* Cut tokens[n] of a window of `frames` frames (10 ms) into pieces. *advance: frames to move on. @return number of pieces */
    int (*spell)(const steno_model *m, const int32_t *tokens, int32_t n, int32_t frames, struct piece *pieces, int32_t *advance);
    /* Index of a language, -1: unknown. English-only models know none. */
    int (*language)(const steno_model *m, const char *name);
};

enum { PROMPT_HEAD = 8 };

struct family {
    const char *name;
    int (*match)(const struct weights *w);
    int (*describe)(steno_model *m, struct weights *w, steno_error *e);
    const struct speech *speech;
};

extern const struct family family_whisper;
const struct family *family_find(const struct weights *w); /* NULL: none knows this file */

/* A named shape's dimensions for random models; STENO_EARG lists the names. */
int family_shape(const char *name, struct whisper_dims *d, steno_error *e);
#endif
