/* steno: what the models of one task have. SPDX-License-Identifier: MIT
 *
 * The plans, states, phases and side outputs of each task, and the data that m->part points to. */
#ifndef STENO_MODEL_PARTS_H
#define STENO_MODEL_PARTS_H
#include "model/family.h"
#include "search/mark_blocks.h"
#include "search/transducer.h"
#include "text/jieba.h"
#include "text/seg_dict.h"

/* ---- token by token -------------------------------------------------------------------------------------------------------- */

enum { STATE_CROSS = 1 };
enum { PHASE_CROSS = 1, ENCODER_PHASES = 2 }; /* of an encoder, after PHASE_ENCODE: keys and values of cross-attention */
enum { PHASE_ALIGN = 0 };                     /* of PLAN_ALIGN; PHASE_LM_HEAD follows */

/* ---- rows with a head ------------------------------------------------------------------------------------------------------ */

enum { PHASE_LM_HEAD = 1, PHASE_BEST = 2 }; /* the head, after PHASE_ENCODE or PHASE_ALIGN; the best ids of all rows */

/* A model with a CTC head. The vocabulary's bytes are text, including spaces. */
struct ctc_model {
    const float *query;            /* [., width of a row] rows that can precede the rows of the audio */
    int32_t blank;
    int32_t itn;                   /* 1: the file's default is digits and punctuation */
};

/* ---- integrate-and-fire ---------------------------------------------------------------------------------------------------- */

enum { PLAN_WORDS = 1, PLAN_HOT = 2 }; /* of hot words: their vectors; tokens that attend to these */
/* Of a stream: last inputs of filters; keys and values of earlier chunks. */
enum { STATE_MEMORY = 0, STATE_PAST = 1, STATE_CROSS_PAST = 2 };

/* How an integrate-and-fire model uses hot words. */
enum cif_hot {
    CIF_HOT_NONE,
    CIF_HOT_BESIDE, /* by a second decoder, used where it outputs a hot word. Phases of PLAN_HOT: CIF_ATTEND, CIF_HEAD, CIF_SCORE */
    CIF_HOT_WITHIN  /* its own decoder attends to them, and to a no-word entry. Phases: CIF_OWN_ROWS, CIF_ATTEND_BOTH, CIF_ATTENDED_HEAD */
};
enum { CIF_OWN = 2, CIF_ATTENDED = 3 };                                   /* side outputs of the token rows, for PLAN_HOT */
enum { CIF_QUERIES = 0, CIF_KEYS = 1 };                                /* side outputs of PLAN_HOT: of the attention over words */
enum { CIF_ATTEND = 0, CIF_HEAD = 1, CIF_SCORE = 2 };
enum { CIF_OWN_ROWS = 0, CIF_ATTEND_BOTH = 1, CIF_ATTENDED_HEAD = 2 };

/* A model that finds tokens by continuous integrate-and-fire (search/cif.h): for a whole clip, or chunk by chunk for a stream. */
struct cif_model {
    struct cif_weight { float smooth, noise; } weight; /* of frames: factor and subtracted noise */
    float tail;                    /* weight of the zero frame after the last frame */
    int32_t fine;                  /* rows per frame with weights for times, from a phase after the head; 0: times come from frames */
    struct cif_weight fine_weight; /* of these rows */
    int32_t blank, bos, eos;       /* ids that are not text */
    float scale;                   /* stream: factor of the rows before positions are added */
    const void *text;              /* the family's own data */
    enum cif_hot hot;
    int32_t hot_heads, no_hotword; /* heads of the attention over words; id for "no hot word" */
    int32_t hot_most;              /* if there are more words, they are scored first */
    const struct seg_dict *dict;   /* dictionary that splits words into tokens; may be NULL */
    int32_t unknown;               /* id of anything outside the vocabulary */
};

/* A word and its tokens. Tokens of other words may lie between them. */
struct token_word {
    size_t text, n_text;           /* bytes [text, text + n_text) */
    int32_t first, n;
    int32_t from, to;              /* tokens that give its start and end time */
    int32_t space;                 /* a space follows if another word does */
};

/* ---- transducers ----------------------------------------------------------------------------------------------------------- */

enum { STATE_PREDICTION = 0 };                          /* of the prediction network: outputs and cells of its layers */
/* Of a stream: the last row of its input, the last inputs of filters, keys and values of earlier chunks. */
enum { STATE_IMAGE = 1, STATE_FILTERS = 2, STATE_KEYS = 3 };
enum { TRANSDUCER_PREDICT = 0, TRANSDUCER_JOIN = 1 };   /* phases of PLAN_DECODER: a token; rows of its input */
enum { TRANSDUCER_JOINED = 0, TRANSDUCER_LOGITS = 0 };  /* side outputs of the encoder; of PLAN_DECODER: ids, then durations */
enum {
    TRANSDUCER_LANES = 16,    /* clips that are decoded at a time */
    TRANSDUCER_ROWS = 64,     /* their rows that are joined at a time */
    TRANSDUCER_AHEAD = 8      /* rows of one clip, at most */
};

/* A model that finds tokens row by row (search/transducer.h). Its start symbol is the blank. */
struct transducer_model {
    int32_t blank, max_symbols, width;       /* width: of the joint network */
    int32_t n_durations;                     /* 0: RNN-T */
    int32_t duration[TRANSDUCER_DURATIONS];
    struct transducer_stream *stream;        /* NULL: the model decodes clips */
};

enum { STREAM_LOOKAHEADS = 16, STREAM_ROWS = 64, STREAM_ROWS_LAST = STREAM_ROWS + 2 }; /* most rows of a run, and of the last one */

/* A model of streams. A chunk has `lookahead` + 1 rows. */
struct transducer_stream {
    int32_t behind;                          /* rows of earlier chunks that a row sees */
    int32_t lookahead[STREAM_LOOKAHEADS], n_lookaheads; /* permitted ones, ascending */
    int32_t usual;                           /* the model's default */
    /* Languages that can be prompted for, in the file's order. automatic: the prompt without a language */
    struct stream_prompt { const char *language; int32_t id; } *prompt;
    int32_t n_prompts, automatic;
    const char **tag;                        /* [n_vocab] languages that pieces stand for; NULL: such models have none */
};

/* ---- punctuation ----------------------------------------------------------------------------------------------------------- */

/* A model that chooses the mark after each word of a text. Its vocabulary consists of words. */
struct punctuation_model {
    const char **mark;             /* [n] one per output of the head; "": no mark */
    uint8_t *kind;                 /* [n] enum mark_kind */
    int32_t n, end, none;          /* end: mark that ends a text; none: first entry without text */
    int32_t unknown;               /* id of a word outside the vocabulary */
    int as_it_comes;               /* streaming: later words are not waited for */
    const struct jieba *words;     /* dictionary that segments Chinese; NULL: each character is a word */
};

/* ---- voice activity -------------------------------------------------------------------------------------------------------- */

/* A voice-activity model. Output 0 is the probability of silence, or the logit of speech if the family uses thresholds. */
struct vad_model {
    int frame;                     /* samples per frame */
    struct vad_params votes;       /* the model's own rules, if it uses votes */
};
static inline const struct vad_model *vad_model_of(const struct steno_model *m) { return m->part; }

/* ---- language models ------------------------------------------------------------------------------------------------------- */

enum { STATE_WINDOWS = 1 }; /* after STATE_SELF: keys and values of sliding-window layers */
enum { PHASE_LAYERS = 0 };  /* its head follows */

/* ---- audio language models ------------------------------------------------------------------------------------------------- */

enum { PHASE_ADAPT = 1 };      /* of an encoder, after PHASE_ENCODE: rows adapted for the language model */
enum { AUDIO_LM_ENCODED = 0 }; /* side output: rows before the adaptor */

/* CTC head of an audio language model, for word times. PLAN_ALIGN reads the encoder's rows (PHASE_ENCODE), then PHASE_LM_HEAD, PHASE_BEST.
 * Its ids are those of the vocabulary; m->bpe has its byte pairs. The part is NULL if the model has no such head. */
struct audio_lm_ctc { struct vocab vocab; int32_t n_ids, blank; };

/* ---- forced aligners ------------------------------------------------------------------------------------------------------- */

/* A language model over rows of audio and a known text, with classes of times instead of tokens. Its prompt consists of `begin`, the rows,
 * `end`, and for each word its ids and two marks. The head's class at a mark is the start or the end of the word. */
struct aligner_model {
    int32_t classes, class_ms;      /* of the head, and the duration of one */
    int32_t begin, end, mark;       /* ids; -1: the files have no tokenizer */
    const char *(*language)(int i); /* codes of its languages */
    int n_languages;
};

#endif
