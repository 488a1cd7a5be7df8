/* steno: what a family of models is. SPDX-License-Identifier: MIT
 *
 * A family is a row of data in front of the machinery: which files are its own, how a file becomes plans, how prompts and rules are
 * made, how chosen tokens become segments. A new family is one file, one line in the registry and one golden test; nothing outside
 * src/model names one. */
#ifndef STENO_MODEL_FAMILY_H
#define STENO_MODEL_FAMILY_H
#include <stdatomic.h>
#include "audio/fbank.h"
#include "audio/mel.h"
#include "load/gguf_write.h"
#include "load/imatrix.h"
#include "load/random_file.h"
#include "load/weights.h"
#include "model/token_roles.h"
#include "model/type_mix.h"
#include "plan/build.h"
#include "plan/exec.h"
#include "search/mark_blocks.h"
#include "search/rules.h"
#include "search/hysteresis.h"
#include "text/bpe.h"
#include "text/chat.h"
#include "text/language.h"
#include "text/jieba.h"
#include "text/seg_dict.h"

enum { MODEL_PLANS = 3, PLAN_ENCODER = 0, PLAN_DECODER = 1, PLAN_ALIGN = 2, STATE_SELF = 0, STATE_CROSS = 1, MODEL_STATES = 3 };
enum { STATE_WINDOWS = 1 }; /* of language models: what layers that look back a window hold of a text */
enum { STATE_MEMORY = 0, STATE_PAST = 1, STATE_CROSS_PAST = 2 }; /* of a stream: filters' last inputs; keys and values looked back on */
enum { PHASE_ENCODE = 0, PHASE_CROSS = 1, ENCODER_PHASES = 2 }; /* of an encoder whose decoder attends to it */
enum { PLAN_WORDS = 1, PLAN_HOT = 2 };                              /* of hot words: their vectors; tokens that attend to those */
enum { PHASE_LAYERS = 0 };                                          /* of a language model; its head follows */
/* A decoder that aligns; an encoder's own head; rows that a language model reads; the best ids of all rows. */
enum { PHASE_ALIGN = 0, PHASE_LM_HEAD = 1, PHASE_ADAPT = 1, PHASE_BEST = 2 };

/* What a network hears. */
enum front_end {
    FRONT_NONE,         /* tokens only */
    FRONT_LOG_MEL,      /* windows of log-mel */
    FRONT_FBANK_CLIPS,  /* filter banks of clips, each by itself */
    FRONT_FBANK_STREAM, /* filter banks of a stream */
    FRONT_SAMPLES       /* the samples themselves */
};

struct task; /* how outputs become results (task/task.h) */
struct tokenizer; /* text/tokenizer.h */

/* What is told of a network; 0: it has none. */
struct model_widths { int32_t n_mels, audio_state, audio_heads, audio_layers, text_state, text_heads, text_layers; };

/* What matters only while a model is opened. */
struct model_open {
    steno_team *team;              /* that packs weights */
    const char *vocab_path;        /* where a vocabulary may be found */
    const char *align_heads;       /* as asked for, NULL: nobody asks */
    int unfused;                   /* plans without fusions, for comparisons */
    int no_cmvn;                   /* features stay as they are */
    int32_t text_ctx;              /* positions of a language model's sessions, 0: as usual */
    const char *llm;               /* where the language model of a model in two files is, NULL: nobody says */
    int gelu_tanh;                 /* the activation by tanh, as whisper.cpp has it */
    const char *jieba_dict;        /* where jieba's dictionary is, NULL: nobody says */
};

struct steno_model {
    struct arena arena;
    struct model_life *life;       /* NULL while opening */
    const struct family *family;
    const struct task *task;       /* the one that the family names */
    struct kern kern;
    struct cpu_executor cpu;
    struct executor *executor;     /* what its plans are replayed on: cpu, if nobody says otherwise */
    struct weight_store store;
    struct plan plan[MODEL_PLANS];
    struct state_desc state[MODEL_STATES];
    int n_plans, n_states;         /* in use */
    enum kv_type kv_type[MODEL_STATES]; /* of their keys and values */
    enum dtype matrix_type;
    const char *matrix_name; /* as the file calls it */
    enum packed_type narrow;       /* what matrices of many rows are packed as: PK_BF16_PAIR, PK_I16_PAIR, PK_I8_QUAD; 0: as stored */
    int blocks;                    /* matrices that few rows meet may be packed by blocks of int8, and logits come in two stages */
    int decoder_int8;              /* the decoder's are so packed */
    const char *name;              /* of the shape */
    const char *format;            /* of the file */
    int64_t parameters, load_us;
    steno_model *exact;            /* the same network in f32, for verifying; shares the store, and has no vocabulary. NULL: none */
    int is_exact;                  /* it is such a one */
    const steno_model *shares;     /* another one, that lives as long: matrices of both that are the same are there once, in its store */
    const struct model_open *opening; /* NULL: it is open */
    int jieba;                     /* as steno_model_info has it */
    int index_only;                /* weights were not read: the model can be described, not used */

    const char *align_heads;       /* "3,1 4,2": heads that word times are read from; NULL: none */

    int32_t n_vocab, text_ctx, audio_ctx;
    int32_t text_ctx_most;         /* of a language model: what it was trained for; 0: text_ctx is what it is */
    int32_t segment_ctx;           /* of a network of clips: most rows of one, where speech was found; by itself it cuts at audio_ctx */
    struct model_widths widths;
    void *front;                   /* what its front end needs: struct mel_bank, fbank_bank; NULL: nothing */
    void *part;                    /* what its task needs: struct ctc_model, cif_model, marks_model, vad_model, audio_lm_ctc; NULL: none */
    struct vocab vocab;
    struct bpe *bpe;
    struct tokenizer *tokenizer;   /* of a language model; NULL: it is none */
    struct chat_form chat;         /* how a conversation is written */
    uint16_t rows_norm;            /* of a language model: binding of its plan, the norm of rows behind PHASE_LAYERS */
    int32_t pooling;               /* enum steno_pooling: how rows of a text become one, where nobody says */
    struct token_roles tokens;
    struct buf non_speech;         /* int32_t ids */
    struct buf opened;             /* paths of the files it was read from, a NUL behind each */
};

static inline const struct mel_bank *mel_bank_of(const steno_model *m) { return m->front; }   /* FRONT_LOG_MEL */
static inline const struct fbank_bank *fbank_bank_of(const steno_model *m) { return m->front; } /* FRONT_FBANK_... */

/* Of a model with a CTC head; the vocabulary's bytes are text, with spaces in it. */
struct ctc_model {
    const float *query;            /* [., width of a row] rows that may stand before the audio's */
    int32_t blank;
    int32_t itn;                   /* 1: its file asks for digits and punctuation */
};

/* Who use a model: its owner, and what was opened on it. It goes with the last of them. */
struct model_life {
    atomic_int users;
    steno_model *model;
};

/* What a caller asks of a decoding, in the family's terms. */
struct speech_options {
    int32_t translate, without_timestamps, suppress_blank;
    double max_initial_timestamp;
    const char *suppress_tokens;
    int32_t lang;                  /* index of the language, -1: not known yet */
    int32_t turns;                 /* the token that tells of another speaker may be chosen */
    int32_t decoding;              /* enum steno_decoding */
};

/* A stretch of a window's tokens that became a segment. Times in positions of 20 ms from the window's start. */
struct token_segment { int32_t first, n; int32_t t0, t1; };

struct speech {
    /* Ids before the first chosen one, without previous text: at most PROMPT_PREFIX_MAX of them. @return their number */
    int (*prompt_prefix)(const steno_model *m, const struct speech_options *q, int32_t *ids, int *sot);
    /* Fill masks and rules; STENO_EARG for a suppress list that cannot be read. */
    int (*rules)(const steno_model *m, const struct speech_options *q, struct rule_masks *masks, struct logit_rules *rules,
                 steno_error *e);
    /* Cut tokens[n] of a window of `frames` frames (10 ms) into segments, by q's rules. *advance: frames to move on. *single_end: it ends
     * with one timestamp alone, so all of it was used. @return number of segments */
    int (*tokens_to_segments)(const steno_model *m, const struct speech_options *q, const int32_t *tokens, int32_t n, int32_t frames,
                              struct token_segment *segments, int32_t *advance, int *single_end);
};

/* What a CTC transcription asks for, and what its tags say: static texts, NULL where they say nothing. */
struct ctc_options { const char *language; int itn, ban_unknown_emotion; };
struct ctc_tags { const char *language, *emotion, *event, *itn; };

struct ctc {
    /* Numbers of the query rows before the audio: at most PROMPT_PREFIX_MAX. @return their number, or STENO_EARG */
    int (*query_rows)(const steno_model *m, const struct ctc_options *q, int32_t *rows, steno_error *e);
    /* Id that q bars from being chosen, -1: none. */
    int32_t (*barred)(const steno_model *m, const struct ctc_options *q);
    /* Append the text of ids[n] (repeats and blanks dropped already) to text. What its tags say goes to *tags; they are text only where
     * with_tags is 1. */
    void (*ids_to_text)(const steno_model *m, const int32_t *ids, int32_t n, int with_tags, struct buf *text, struct ctc_tags *tags);
    /* What a search for times looks for where an id was chosen: that id, another one that stands for it, or -1: it is not spoken. */
    int32_t (*spoken)(const steno_model *m, int32_t id);
    /* Append such a text with its tags, raw[n], to text as people read it: emotions and events as signs, the others left out. */
    void (*rich_text)(const char *raw, size_t n, struct buf *text);
};

/* How a model by integrate-and-fire heeds hot words, and what it shows of itself for that. */
enum cif_hot {
    CIF_HOT_NONE,
    CIF_HOT_BESIDE, /* by a decoder beside its own, heeded where it has one to say. Phases of PLAN_HOT: CIF_ATTEND, CIF_HEAD, CIF_SCORE */
    CIF_HOT_WITHIN  /* its own decoder attends to them, and to one for none. Phases: CIF_OWN_ROWS, CIF_ATTEND_HEARD, CIF_HEARD_HEAD */
};
enum { CIF_OWN = 2, CIF_HEARD = 3 };                                   /* side outputs of tokens, for PLAN_HOT */
enum { CIF_QUERIES = 0, CIF_KEYS = 1 };                                /* side outputs of PLAN_HOT: of an attention over words */
enum { CIF_ATTEND = 0, CIF_HEAD = 1, CIF_SCORE = 2 };
enum { CIF_OWN_ROWS = 0, CIF_ATTEND_HEARD = 1, CIF_HEARD_HEAD = 2 };

/* Of a model whose tokens are found by continuous integrate-and-fire (search/cif.h), all of a clip at once, or chunk by chunk of a
 * stream. */
struct cif_model {
    struct cif_weight { float smooth, noise; } weight; /* of frames: how large, and what is taken off */
    float tail;                    /* weight of a frame of zeros behind the last */
    int32_t fine;                  /* rows for each frame whose weights tell times, from a phase behind the head; 0: there are none such */
    struct cif_weight fine_weight; /* of those */
    int32_t blank, bos, eos;       /* ids that are no text */
    float scale;                   /* stream: of rows, before the sines of their positions are added */
    const void *text;              /* the family's own */
    enum cif_hot hot;
    int32_t hot_heads, no_hotword; /* heads of the attention over words; the id that says that none is spoken */
    int32_t hot_most;              /* more words than these are scored first */
    const struct seg_dict *dict;   /* that words are cut by, NULL: there is none */
    int32_t unknown;               /* id of what the vocabulary lacks */
};

/* Of a model that says which mark stands behind each word of a text; its vocabulary's entries are words. */
struct marks_model {
    const char **mark;             /* [n] by the head's outputs; "": none */
    uint8_t *kind;                 /* [n] enum mark_kind */
    int32_t n, end, none;          /* end: of a sentence, the one that a text is ended with; none: the first that is no text */
    int32_t unknown;               /* id of a word that is not in the vocabulary */
    int as_it_comes;               /* text is marked as it comes: the words behind a place are not waited for */
    const struct jieba *words;     /* that Chinese is cut by; NULL: each character is a word */
};

/* Of a model that finds speech. Output 0 is the probability of silence, or the logit of speech where its family goes by thresholds. */
struct vad_model {
    int frame;                     /* samples of one */
    struct vad_params votes;       /* its own rules, where it goes by votes */
};
static inline const struct vad_model *vad_model_of(const struct steno_model *m) { return m->part; }

/* A word, and the tokens that it is made of: others may lie among them. */
struct token_word {
    size_t text, n_text;           /* bytes [text, text + n_text) */
    int32_t first, n;
    int32_t from, to;              /* tokens with whose times it begins and ends */
    int32_t space;                 /* one stands behind it, where another word follows */
};

struct cif {
    /* Make words of ids[n], in place of what the buffers held: their bytes, and struct token_word in order. *open, where it is not NULL:
     * the first id of a word that ids behind them may still change, n: there is none. STENO_OK, STENO_ENOMEM */
    int (*words)(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes, struct buf *words, int32_t *open);
    /* Append the ids of a hot word or a phrase; none where it is white space alone. Likewise */
    int (*word_ids)(const steno_model *m, const char *phrase, size_t n, struct buf *ids);
};

/* What a transcription by a language model that hears asks for. hotwords: a line each; NULL: none; language NULL: whichever is spoken. */
struct audio_lm_options { const char *language, *hotwords; int itn; };
enum { AUDIO_LM_ENCODED = 0 }; /* side output: rows before they are adapted */

/* Of a language model that hears: PLAN_ENCODER makes rows of a clip (PHASE_ENCODE, PHASE_ADAPT), which stand for it among the ids of a
 * prompt; PLAN_DECODER goes on behind them. */
struct audio_lm {
    /* Append the ids (int32_t) that stand before the rows, and those behind them. STENO_EARG */
    int (*prompt)(const steno_model *m, const struct audio_lm_options *q, struct buf *before, struct buf *behind, steno_error *e);
    int32_t (*rows)(int32_t n); /* of n rows of a clip, those that stand for it: the first ones */
    void (*text)(const char *s, size_t n, struct buf *text); /* append what was written, s[n], as people read it */
};

/* A CTC head of it, which says when its text was said: PLAN_ALIGN reads the encoder's rows (PHASE_ENCODE), then PHASE_LM_HEAD, PHASE_BEST.
 * Its ids are the vocabulary's, whose byte pairs are the model's bpe. Of a model without one the part is NULL. */
struct audio_lm_ctc { struct vocab vocab; int32_t n_ids, blank; };

enum { PROMPT_PREFIX_MAX = 8 };

/* Whether its text comes without punctuation. */
enum family_bare { BARE_NEVER, BARE_ALWAYS, BARE_SPOKEN /* unless digits and punctuation are asked for */ };

enum family_narrow {
    NARROW_ROWS = 1, /* those of many rows: bf16, int16, int8 */
    NARROW_STEPS = 2 /* those of few rows, and keys and values that every step reads: int8 by blocks */
};

/* What a file is made of a model as. */
struct convert_order {
    const struct type_mix *mix;       /* NULL: numbers as they are stored, of forms other than GGUF */
    const char *vocab, *llm;          /* as in struct model_open */
    const struct imatrix *importance; /* NULL: all columns count alike */
    int rounds_again;                 /* numbers that are rounded to blocks already may be rounded to others */
    int is_pure;                      /* one type for all, not a mixture */
};

/* A form of files, other than GGUF, that models of a family are written in. */
struct model_form {
    const char *name;              /* "bin" */
    int (*write)(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e);
    int is_folder;                 /* of several files */
};

struct family {
    const char *name;
    enum front_end front_end;
    const char *task;              /* the task that makes results of its outputs: a name of lib/tasks.c */
    unsigned narrow;               /* enum family_narrow: which of its products may have fewer bits */
    enum family_bare bare_text;
    int (*match)(const struct weights *w);
    int (*describe)(steno_model *m, struct weights *w, steno_error *e);
    const struct speech *speech;   /* of models that decode token by token */
    const struct ctc *ctc;         /* of models with a CTC head */
    const struct cif *cif;         /* of models whose tokens are found by integrate-and-fire */
    const struct audio_lm *audio_lm; /* of language models that hear */
    const struct hysteresis_params *thresholds; /* of models that find speech: by these; NULL: by votes */
    /* Index of a language among those that stand in token order, -1: unknown. NULL: it has none such. */
    int (*language)(const steno_model *m, const char *name);
    /* Append the bytes of the text of ids[n], all below n_vocab. NULL: ids are no text. */
    void (*ids_to_bytes)(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes);
    /* Write a model as a GGUF file. NULL: it is not written. */
    int (*to_gguf)(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e);
    const struct model_form *forms; /* others, the last of which has no name. NULL: there are none */
    int has_mixes;                 /* its GGUF file may be of any type_mix, else of the plain ones */
    /* The file of a model of its usual size with random weights, for measuring: as family_random_file. NULL: there is none. */
    int (*random_file)(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e);
    const char *const *spare;      /* tensors that may stay unused, as weights_check_used takes them; NULL: there are none */
};

/* Of a window of audio, where the model takes such. */
static inline int32_t model_window_ms(const steno_model *m)
{
    const int32_t row_ms = m->family->front_end == FRONT_FBANK_CLIPS ? fbank_bank_of(m)->lfr_n * 10 : 20;
    return m->audio_ctx * row_ms;
}

extern const struct family family_whisper, family_sensevoice, family_paraformer, family_paraformer_online, family_fsmn_vad,
    family_silero, family_ct_transformer, family_nano, family_llama, family_qwen3, family_gemma, family_gemma3, family_bert;
/* What people call the form of its conversations: steno_model_info.chat */
const char *model_chat_name(const steno_model *m);

/* Those who use a model hold it; it goes when the last one has let go of it, its owner included (model.c). */
int model_life_begin(steno_model *m, steno_error *e);
void model_hold(const steno_model *m);
void model_release(const steno_model *m);
void model_free(steno_model *m); /* one that has not begun */

/* m->pooling: what the file says, or `usual`; and how long texts may be. */
int model_read_pooling(steno_model *m, const struct weights *w, int32_t usual, steno_error *e);
/* What the matrices of an encoder, or of whatever else has many rows at once, may be packed as. */
struct precision model_rows_precision(const steno_model *m);

const struct family *family_find(const struct weights *w); /* NULL: none knows this file */
/* STENO_EUNSUPPORTED that says what the file holds instead, by its settings or its tensors. */
int family_refuse(struct weights *w, steno_error *e);

/* STENO_EUNSUPPORTED: it is not written in this form. */
int family_refuse_form(const struct family *f, const char *form, const char *name, steno_error *e);

/* The file of a model of a named shape with random weights; memory from the arena, which must outlive *f, as must *r. STENO_EARG lists
 * the names, or says why the type does not fit. */
int family_random_file(struct random_file *r, struct file *f, struct arena *a, const char *shape, enum dtype type, uint64_t seed,
                       steno_error *e);
#endif
