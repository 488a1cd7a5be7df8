/* steno: what a family of models is. SPDX-License-Identifier: MIT
 *
 * A family is a row of data: how to recognise its files, build plans, make prompts and rules, and turn chosen tokens into segments. A new
 * family is one file, one line in the registry and one golden test. Nothing outside src/model names a family. */
#ifndef STENO_MODEL_FAMILY_H
#define STENO_MODEL_FAMILY_H
#include <stdatomic.h>
#include "audio/fbank.h"
#include "audio/mel.h"
#include "load/weights.h"
#include "model/token_roles.h"
#include "plan/build.h"
#include "plan/exec.h"
#include "search/hysteresis.h"
#include "search/rules.h"
#include "text/bpe.h"
#include "text/chat.h"
#include "text/language.h"
#include "text/vocab.h"

/* Plans, states and phases that models share. Those of one task are in model/parts.h. */
enum { MODEL_PLANS = 3, PLAN_ENCODER = 0, PLAN_DECODER = 1, PLAN_ALIGN = 2 };
enum { MODEL_STATES = 4, STATE_SELF = 0 };
enum { PHASE_ENCODE = 0 }; /* of an encoder */

/* Input of a network. */
enum front_end {
    FRONT_NONE,         /* tokens only */
    FRONT_LOG_MEL,      /* windows of log-mel */
    FRONT_FBANK_CLIPS,  /* filter banks of independent clips */
    FRONT_FBANK_STREAM, /* filter banks of a stream */
    FRONT_SAMPLES       /* raw samples */
};

struct task; /* turns outputs into results (engine/task.h) */
struct tokenizer; /* text/tokenizer.h */

/* Sizes reported for a network; 0: it has none. */
struct model_widths { int32_t n_mels, audio_state, audio_heads, audio_layers, text_state, text_heads, text_layers; };

/* Options that matter only while a model is opened. */
struct model_open {
    steno_team *team;              /* packs the weights */
    const char *vocab_path;        /* path or folder of a vocabulary */
    const char *align_heads;       /* as requested; may be NULL */
    int unfused;                   /* build plans without fusions, for comparison */
    int no_cmvn;                   /* do not normalise features */
    int32_t text_ctx;              /* positions of a language model's sessions, 0: default */
    const char *llm;               /* path of the language model of a two-file model; may be NULL */
    int gelu_tanh;                 /* approximate GELU by tanh, as whisper.cpp does */
    const char *jieba_dict;        /* path of jieba's dictionary; may be NULL */
};

/* What models of texts have: language models, those of audio too, and text embeddings. */
struct language_model {
    struct tokenizer *tokenizer;   /* NULL: the files have none */
    struct chat_form chat;         /* template of conversations */
    int32_t ctx_most;              /* trained context; 0: text_ctx */
    int32_t pooling;               /* enum steno_pooling: default pooling of a text's rows */
    uint16_t rows_norm;            /* binding of the norm after PHASE_LAYERS in its plan */
    const char *const *ends;       /* texts of tokens that end a text, in addition to those of the files; ends with NULL; may be NULL */
};

struct steno_model {
    struct arena arena;
    struct model_life *life;       /* NULL while opening */
    const struct family *family;
    const struct task *task;       /* the family's task */
    struct kern kern;
    struct cpu_executor cpu;
    struct executor *executor;     /* runs its plans; default: the CPU */
    struct weight_store store;
    struct plan plan[MODEL_PLANS];
    struct state_desc state[MODEL_STATES];
    int n_plans, n_states;         /* in use */
    enum kv_type kv_type[MODEL_STATES]; /* of the keys and values of each state */
    enum dtype matrix_type;
    const char *matrix_name; /* name of the matrix type in the file */
    enum packed_type low_precision; /* packed type of matrices with many rows: PK_BF16_PAIR, PK_I16_PAIR, PK_I8_QUAD; 0: as stored */
    int blocks;                    /* matrices used with few rows may be packed as int8 blocks, and logits are computed in two stages */
    int decoder_int8;              /* the decoder's matrices are packed that way */
    const char *name;              /* name of the shape */
    const char *format;            /* file format */
    int64_t parameters, load_us;
    steno_model *exact;            /* the same network in f32, for verification; shares the store and has no vocabulary. May be NULL */
    int is_exact;                  /* this is such a model */
    const steno_model *shares;     /* a model that lives at least as long: equal matrices are stored once, in its store */
    const struct model_open *opening; /* NULL after opening */
    int jieba;                     /* as in steno_model_info */
    int index_only;                /* weights were not read: the model can be described, but not used */

    const char *align_heads;       /* "3,1 4,2": heads used for word times; may be NULL */
    int align_unsure;              /* struct align_heads */

    int32_t n_vocab, text_ctx, audio_ctx;
    int32_t window_rows;           /* of a clip network: rows attend to those of their window of this many rows; 0: to their whole clip */
    int32_t segment_ctx;           /* of a clip network: most rows of a clip that VAD found; without VAD, clips have at most audio_ctx
                                    * rows */
    struct model_widths widths;
    struct model_sight { int is_local; int32_t before, after; } sight; /* rows of the encoder that a row attends to; -1: all */
    char durations[36];            /* as in steno_model_info */
    char decoder_types[16];        /* the same */
    void *front;                   /* front end: struct mel_bank, fbank_bank; may be NULL */
    void *part;                    /* the task's data (model/parts.h); may be NULL */
    struct vocab vocab;
    struct bpe *bpe;
    struct language_model lm;
    struct token_roles tokens;
    struct buf non_speech;         /* int32_t ids */
    struct buf opened;             /* paths of the files it was read from, each with a NUL */
};

static inline const struct mel_bank *mel_bank_of(const steno_model *m) { return m->front; }   /* FRONT_LOG_MEL */
static inline const struct fbank_bank *fbank_bank_of(const steno_model *m) { return m->front; } /* FRONT_FBANK_... */

/* Reference count of a model: its owner, and every object that was opened on it. The last one frees it. */
struct model_life {
    atomic_int users;
    steno_model *model;
};

/* Options of a decoding, in the family's terms. */
struct speech_options {
    int32_t translate, without_timestamps, suppress_blank;
    double max_initial_timestamp;
    const char *suppress_tokens;
    int32_t lang;                  /* index of the language, -1: not known yet */
    int32_t turns;                 /* the speaker-turn token may be chosen */
    int32_t decoding;              /* enum steno_decoding */
};

/* A range of a window's tokens that became a segment. Times are positions of 20 ms from the window's start. */
struct token_segment { int32_t first, n; int32_t t0, t1; };

struct speech {
    /* Writes the ids before the first chosen one, without previous text, at most PROMPT_PREFIX_MAX. @return their number */
    int (*prompt_prefix)(const steno_model *m, const struct speech_options *q, int32_t *ids, int *sot);
    /* Fills masks and rules. STENO_EARG: the suppress list is invalid. */
    int (*rules)(const steno_model *m, const struct speech_options *q, struct rule_masks *masks, struct logit_rules *rules,
                 steno_error *e);
    /* Splits tokens[n] of a window of `frames` frames (10 ms) into segments, by q's rules. *advance: frames to move on. *single_end: the
     * window ends with a single timestamp, so all of it was used. @return number of segments */
    int (*tokens_to_segments)(const steno_model *m, const struct speech_options *q, const int32_t *tokens, int32_t n, int32_t frames,
                              struct token_segment *segments, int32_t *advance, int *single_end);
    /* Writes the name that whisper.cpp gives to a special id of these token roles, as in struct id_names: "[_TT_54]", "[_LANG_en]". */
    int (*special_name)(const void *roles, int32_t id, char name[ID_NAME_SIZE]);
};

/* Options of a CTC transcription. The texts of tags are static; NULL: the tag is not present. */
struct ctc_options { const char *language; int itn, ban_unknown_emotion; };
struct ctc_tags { const char *language, *emotion, *event, *itn; };

struct ctc {
    /* Writes the indices of the query rows before the audio, at most PROMPT_PREFIX_MAX. @return their number, or STENO_EARG */
    int (*query_rows)(const steno_model *m, const struct ctc_options *q, int32_t *rows, steno_error *e);
    /* Id that q bars, or -1. */
    int32_t (*masked)(const steno_model *m, const struct ctc_options *q);
    /* Appends the text of ids[n], without repeats and blanks. Tags are stored in *tags, and are part of the text only if with_tags is 1. */
    void (*ids_to_text)(const steno_model *m, const int32_t *ids, int32_t n, int with_tags, struct buf *text, struct ctc_tags *tags);
    /* Label of a chosen id for word alignment: the id itself, another id in its place, or -1 if it is not spoken. */
    int32_t (*spoken)(const steno_model *m, int32_t id);
    /* Appends text raw[n] with tags in its form for display: emotions and events become symbols, other tags are removed. */
    void (*rich_text)(const char *raw, size_t n, struct buf *text);
};

/* Vocabularies of SentencePiece whose tokens have times of their own. */
struct pieces {
    void (*text)(const steno_model *m, const int32_t *ids, int32_t n, struct buf *text); /* appends it, with the spaces before words */
    int (*is_mark)(const steno_model *m, int32_t id); /* one punctuation character */
};

struct cif {
    /* Builds the words of ids[n] and replaces the content of the buffers: bytes, and struct token_word in order. open may be NULL; *open:
     * the first id of a word that later ids may change, n: none. STENO_OK, STENO_ENOMEM */
    int (*words)(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes, struct buf *words, int32_t *open);
    /* Appends the ids of a hot word or phrase. White space alone gives none. STENO_OK, STENO_ENOMEM */
    int (*word_ids)(const steno_model *m, const char *phrase, size_t n, struct buf *ids);
};

/* Options of a transcription by an audio language model. hotwords: one per line, may be NULL. language may be NULL: any language. context:
 * free text, may be NULL. */
struct audio_lm_options { const char *language, *hotwords; int itn; const char *context, *prefix; };

/* An audio language model. PLAN_ENCODER computes rows of a clip (PHASE_ENCODE, PHASE_ADAPT), which become part of a prompt. PLAN_DECODER
 * continues the prompt. */
struct audio_lm {
    /* Appends the ids (int32_t) before the rows, and those after them. STENO_EARG */
    int (*prompt)(const steno_model *m, const struct audio_lm_options *q, struct buf *before, struct buf *behind, steno_error *e);
    int32_t (*rows)(int32_t n); /* number of rows used of a clip's n rows: the first ones */
    /* Appends generated text s[n] in its form for display, and the name of its language if the model gives one; forced: the language of the
     * request, may be NULL. */
    void (*text)(const char *s, size_t n, const char *forced, struct buf *text, struct buf *language);
    int has_itn, has_context; /* it has these options */
};

/* Appends hot words, which are one per line, as "a, b" after `before`. Returns their number; nothing is appended for none. */
int audio_lm_add_words(struct buf *p, const char *words, const char *before);

enum { PROMPT_PREFIX_MAX = 8 };

/* Does the text lack punctuation? */
enum family_bare { BARE_NEVER, BARE_ALWAYS, BARE_SPOKEN /* unless digits and punctuation are requested */ };

enum family_low_precision {
    LOW_PRECISION_ROWS = 1, /* matrices with many rows: bf16, int16, int8 */
    LOW_PRECISION_STEPS = 2 /* matrices with few rows, and keys and values that every step reads: int8 blocks */
};

struct family {
    const char *name;
    enum front_end front_end;
    const char *task;              /* task for its outputs: a name of lib/model.c */
    unsigned low_precision;        /* enum family_low_precision: products that may use fewer bits */
    enum family_bare bare_text;
    unsigned settings;             /* enum settings_files: those it needs beside SETTINGS_NETWORK; no other is read */
    int (*match)(const struct weights *w);
    int (*describe)(steno_model *m, struct weights *w, steno_error *e);
    /* Sets *f to the family of a head of this file (enum steno_decoder_type). STENO_EARG: the file does not have it. May be NULL */
    int (*decoder)(const struct family **f, struct weights *w, int32_t decoder_type, steno_error *e);
    const struct speech *speech;   /* models that decode token by token */
    const struct ctc *ctc;         /* models with a CTC head */
    const struct pieces *pieces;   /* models whose tokens are pieces with times; else NULL */
    const struct cif *cif;         /* integrate-and-fire models */
    const struct audio_lm *audio_lm; /* audio language models */
    const struct hysteresis_params *thresholds; /* voice-activity models that use thresholds; NULL: votes */
    /* Index of a language in token order, -1: unknown. NULL: the model has no language tokens. */
    int (*language)(const steno_model *m, const char *name);
    /* Appends the bytes of the text of ids[n], all less than n_vocab. NULL: ids are not text. */
    void (*ids_to_bytes)(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes);
    const char *const *spare;      /* tensors that may stay unused, as in weights_check_used; may be NULL */
};

/* Length of a window of audio, for models with windows. */
static inline int32_t model_window_ms(const steno_model *m)
{
    if (m->family->front_end != FRONT_FBANK_CLIPS) return m->audio_ctx * 20;
    return (int32_t)(fbank_samples_of_rows(fbank_bank_of(m), m->audio_ctx) / (FBANK_RATE / 1000));
}

extern const struct family family_whisper, family_sensevoice, family_paraformer, family_paraformer_online, family_fsmn_vad,
    family_silero, family_ct_transformer, family_nano, family_qwen3_asr, family_qwen3_aligner, family_parakeet_ctc, family_llama,
    family_qwen3, family_gemma, family_gemma3, family_bert;
/* Name of the model's chat template: steno_model_info.chat */
const char *model_chat_name(const steno_model *m);

/* Reference counting: the model is freed when the last user, including its owner, has released it (model.c). */
int model_life_begin(steno_model *m, steno_error *e);
void model_hold(const steno_model *m);
void model_release(const steno_model *m);
void model_free(steno_model *m); /* for a model without model_life_begin */

/* Sets m->lm.pooling from the file, or to `usual`, and reads the maximum length of texts. */
int model_read_pooling(steno_model *m, const struct weights *w, int32_t usual, steno_error *e);
/* Packed types for matrices of an encoder, or of any part with many rows at once. */
struct precision model_rows_precision(const steno_model *m);

const struct family *family_find(const struct weights *w); /* NULL: no family recognises this file */
/* Read the settings that this family needs beside those of SETTINGS_NETWORK. f may be NULL: none */
int family_read_settings(const struct family *f, struct weights *w, steno_error *e);
/* STENO_EUNSUPPORTED; the message names the content of the file, from its settings or tensors. */
int family_refuse(struct weights *w, steno_error *e);

#endif
