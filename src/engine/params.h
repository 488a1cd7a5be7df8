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

/* Models that a row applies to. */
enum {
    BY_MANY = 1,    /* token by token, several languages */
    BY_ENGLISH = 2, /* token by token, English only */
    BY_TAGS = 4,    /* CTC with tags */
    BY_VAD = 8,
    BY_ALIGN = 16,  /* steno_align, to which many rows of BY_MANY and BY_ENGLISH do not apply */
    BY_CIF = 32,    /* integrate-and-fire */
    BY_TEXT = 64,   /* language models without audio */
    BY_MARKS = 128, /* punctuation */
    BY_HOT = 256,  /* integrate-and-fire models trained with hot words */
    BY_STREAM = 512, /* integrate-and-fire, chunk by chunk of a stream */
    BY_EMBED = 1024, /* text embeddings */
    BY_AUDIO_LM = 2048, /* audio language models */
    BY_AUDIO_WORDS = 4096, /* audio language models with a CTC head */
    BY_VOTES = 8192, /* VAD models of BY_VAD whose frames vote, with a schedule of silences that end a span */
    BY_THRESHOLDS = 16384, /* VAD models of BY_VAD with two thresholds */
    BY_AR = BY_MANY | BY_ENGLISH,
    BY_CLIPS = BY_TAGS | BY_CIF | BY_AUDIO_LM,
    BY_TIMED = BY_AR | BY_TAGS | BY_CIF | BY_STREAM, /* models with word times */
    BY_SPEECH = BY_TIMED | BY_AUDIO_LM,
    BY_FBANK = BY_TAGS | BY_CIF | BY_STREAM | BY_VOTES,
    BY_WORDS = BY_TIMED | BY_MARKS, /* models with a vocabulary that may be in another file */
    BY_ALL = BY_SPEECH | BY_MARKS | BY_VAD | BY_VOTES | BY_TEXT | BY_EMBED
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
    unsigned by;
    enum param_limit limit;
};

/* A call whose parameters are checked. */
struct judge {
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
int param_asked(const struct judge *j, const struct param *r);
int param_said(const struct judge *j, const char *name); /* explicitly requested */
double param_number(const struct param *r, const void *p); /* value of a numeric field */

/* Refuses a parameter. In the reason, {field} becomes the caller's name for it, and {field=} becomes "field is VALUE". @return
 * STENO_EARG */
int param_refuse(const struct judge *j, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Most rows of a chunk including those around it, and most look-back rows. */
enum { PARAM_CHUNK_ROWS = 240, PARAM_PAST_ROWS = 1024 };
/* Parses "0,10,5": rows before, in and after a chunk. @return 1: valid, 0: not */
int param_chunk_size(const char *text, int32_t chunk[3]);


/* Does every requested parameter fit the model, its range and the other parameters? STENO_EARG: the reason is in *e. */
int params_judge(const struct judge *j);
int params_check(steno_session *s, enum steno_call call, const void *p);

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
