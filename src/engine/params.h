/* steno: the table of parameters. SPDX-License-Identifier: MIT
 *
 * It has a row for every field of the parameter structs: its offset, its type and range, its default, and the models that support it.
 * Defaults, checks, refusals and the descriptions for callers all use these rows. params.c has what a parameter needs or excludes. A
 * caller with its own names for parameters (program options) gets messages with those names. */
#ifndef STENO_ENGINE_PARAMS_H
#define STENO_ENGINE_PARAMS_H
#include "engine/session.h"

#define TEMPERATURE_MIN 1e-6 /* below it logits overflow, and the sampled text is the most probable one anyway */
#define VERIFY_MARGIN 0.1 /* in logits: choices that changed had a lead of less than 0.065 (doc/performance.md) */
#define VERIFY_EVERY 1e9 /* verifies every window, even if no choice was close */
#define INCREMENT_MIN 0.01 /* limits the number of attempts to 101, which fits the random number streams */

/* Kinds of models. A model can be of several (task.h: serves); a row of the table applies to all models of any of its kinds. */
enum {
    MODELS_MULTILINGUAL = 1 << 0, /* token by token, several languages */
    MODELS_ENGLISH = 1 << 1, /* token by token, English only */
    MODELS_CTC = 1 << 2,     /* a CTC head, with tags */
    MODELS_VAD = 1 << 3,     /* voice activity */
    MODELS_ALIGNED = 1 << 4, /* those of steno_align, to which many rows of MODELS_AR do not apply */
    MODELS_CIF = 1 << 5,     /* integrate-and-fire */
    MODELS_LM = 1 << 6,      /* language models without audio */
    MODELS_PUNCTUATION = 1 << 7,
    MODELS_CIF_HOTWORDS = 1 << 8,    /* integrate-and-fire, trained with hot words */
    MODELS_CIF_STREAM = 1 << 9,      /* integrate-and-fire, chunk by chunk of a stream */
    MODELS_EMBED = 1 << 10,          /* text embeddings */
    MODELS_AUDIO_LM = 1 << 11,       /* audio language models */
    MODELS_AUDIO_LM_CTC = 1 << 12,   /* audio language models with a CTC head */
    MODELS_VAD_VOTES = 1 << 13,      /* voice activity: frames vote, and a schedule of silences ends a span */
    MODELS_VAD_THRESHOLDS = 1 << 14, /* voice activity, with two thresholds */
    MODELS_PIECES = 1 << 15,         /* clips become pieces with times, without tags: CTC heads and transducers */
    MODELS_AUDIO_LM_ITN = 1 << 16,     /* audio language models that write numbers in two ways */
    MODELS_AUDIO_LM_CONTEXT = 1 << 17, /* audio language models with a free text in their prompt */
    MODELS_PIECES_STREAM = 1 << 18,  /* the same for the chunks of a stream */
    MODELS_PROMPTED = 1 << 19,       /* a prompt gives the language */
    MODELS_ALIGNER = 1 << 20,        /* forced aligners */
    MODELS_AR = MODELS_MULTILINGUAL | MODELS_ENGLISH, /* encoder-decoder models */
    MODELS_CLIPS = MODELS_CTC | MODELS_CIF | MODELS_PIECES | MODELS_AUDIO_LM, /* models that decode clip by clip */
    MODELS_STREAMS = MODELS_CIF_STREAM | MODELS_PIECES_STREAM, /* models that decode chunk by chunk */
    MODELS_WORD_TIMES = MODELS_AR | MODELS_CTC | MODELS_CIF | MODELS_STREAMS | MODELS_PIECES,
    MODELS_RESUMED = MODELS_AR | MODELS_CLIPS, /* models whose transcriptions can be resumed */
    MODELS_SPEECH = MODELS_WORD_TIMES | MODELS_AUDIO_LM, /* models that transcribe */
    MODELS_FBANK = MODELS_CTC | MODELS_CIF | MODELS_CIF_STREAM | MODELS_VAD_VOTES, /* filter banks that are shifted and scaled */
    /* models whose vocabulary may be in another file */
    MODELS_VOCAB = MODELS_AR | MODELS_CTC | MODELS_CIF | MODELS_CIF_STREAM | MODELS_PUNCTUATION,
    MODELS_CONTEXT = MODELS_LM | MODELS_AUDIO_LM | MODELS_ALIGNER | MODELS_PIECES, /* a context, or a longest clip, of a chosen size */
    MODELS_GENERATE = MODELS_AR | MODELS_LM, /* models that continue a text */
    MODELS_BEAMS = MODELS_AR | MODELS_CTC | MODELS_PIECES, /* models with a beam search */
    MODELS_BOOSTED = MODELS_BEAMS | MODELS_PIECES_STREAM, /* models whose choices hot words boost */
    MODELS_HOTWORDS = MODELS_BOOSTED | MODELS_CIF_HOTWORDS | MODELS_AUDIO_LM,
    MODELS_ALL = MODELS_SPEECH | MODELS_PUNCTUATION | MODELS_VAD | MODELS_VAD_VOTES | MODELS_LM | MODELS_EMBED | MODELS_ALIGNER
};

/* Additional bound of a number. */
enum param_limit { LIMIT_NONE, LIMIT_TEXT_CTX, LIMIT_AUDIO_CTX, LIMIT_PROBABILITY /* at least 0, for a model with thresholds */ };

struct param {
    const char *name;
    size_t at, count_at;    /* offsets; count_at: of the length of a list */
    enum steno_param_kind kind;
    double min, max, value; /* value: the default */
    double none;            /* another valid value, which means none */
    int has_none;
    const char *text;       /* default of a text */
    unsigned models;        /* MODELS_...: models that support it */
    const char *audio_lm_why; /* why an audio language model does not, if its other parameters have another reason; else NULL */
    enum param_limit limit;
};

/* A call whose parameters are checked. */
struct param_check {
    const steno_model *m;   /* NULL: any model */
    enum steno_call call;
    const void *p;          /* with all fields set */
    const steno_param_names *names;
    steno_error *e;
};

const struct param *param_rows(enum steno_call call, int *n);
const struct param *param_find(enum steno_call call, const char *name); /* NULL: no such field */
void params_default(enum steno_call call, void *p); /* all except the size */

/* Is it requested: different from its default, or explicitly requested. */
int param_asked(const struct param_check *j, const struct param *r);
int param_is_explicit(const struct param_check *j, const char *name); /* explicitly requested */
double param_number(const struct param *r, const void *p); /* value of a numeric field */

/* Refuses a parameter. In the reason, {field} becomes the caller's name for it, and {field=} becomes "field is VALUE". @return
 * STENO_EARG */
int param_refuse(const struct param_check *j, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Most rows of a chunk including those around it, and most look-back rows. */
enum { TOP_LOGPROBS_MAX = 20 }; /* ids at a place of a generated text */
enum { PARAM_CHUNK_ROWS = 240, PARAM_PAST_ROWS = 1024 };
/* Parses "0,10,5": rows before, in and after a chunk. @return 1: valid, 0: not */
int param_chunk_size(const char *text, int32_t chunk[3]);


/* Does every requested parameter fit the model, its range and the other parameters? STENO_EARG: the reason is in *e. */
int param_check_all(const struct param_check *j);
int params_check(steno_session *s, enum steno_call call, const void *p);

/* MODELS_... of a model for a call; m NULL: of any model. */
unsigned param_kinds(const steno_model *m, enum steno_call call);
/* does the model support it? m NULL: does any model? */
int param_served(const struct param *r, const steno_model *m, enum steno_call call);
const char *param_why_not(const struct param *r, const steno_model *m, enum steno_call call);
double param_min(const struct param *r, const steno_model *m); /* ends of its range */
double param_max(const struct param *r, const steno_model *m);

/* Copies a caller's struct over the defaults in own[n]: as many words of 8 bytes as its size field has. theirs may be NULL. Structs begin
 * with their size and have no padding at the end. @return STENO_EARG if it is smaller than `min`, the size of the first version */
int params_take(void *own, const void *theirs, size_t n, size_t min);
/* Copies the defaults own[n] to a caller's struct of `size` bytes. Bytes after those that this version has become 0. */
void params_give(void *theirs, uint32_t size, const void *own, size_t n);
#endif
