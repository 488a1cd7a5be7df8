/* steno: the table of parameters. SPDX-License-Identifier: MIT
 *
 * A row for every field of the parameter structs: where it is, what it takes, its default, and which models serve it. Defaults, checks,
 * refusals and what callers are told about parameters all come from these rows; what a parameter needs or excludes stands in
 * param_rules.c. A caller that has names of its own for them (the options of a program) gets messages with those. */
#ifndef STENO_TASK_PARAMS_H
#define STENO_TASK_PARAMS_H
#include "task/session.h"

#define TEMPERATURE_MIN 1e-6 /* below it logits grow beyond numbers, and what is drawn is the most probable text anyway */
#define VERIFY_MARGIN 0.1 /* of logits: choices that came out otherwise were ahead by less than 0.065 (doc/performance.md) */
#define VERIFY_EVERY 1e9 /* every window, even where nothing else could have been chosen */
#define INCREMENT_MIN 0.01 /* of temperature: at most 101 attempts and their number fits the streams of random numbers */

/* Whom a row is for. */
enum {
    BY_MANY = 1,    /* token by token, several languages */
    BY_ENGLISH = 2, /* token by token, English only */
    BY_TAGS = 4,    /* CTC with tags */
    BY_VAD = 8,
    BY_ALIGN = 16,  /* steno_align, which many of BY_MANY and BY_ENGLISH have nothing to say to */
    BY_CIF = 32,    /* by integrate-and-fire */
    BY_TEXT = 64,   /* language models, which hear nothing */
    BY_MARKS = 128, /* punctuation */
    BY_HOT = 256,  /* such a one that was trained with hot words */
    BY_STREAM = 512, /* by integrate-and-fire, chunk by chunk of a stream */
    BY_EMBED = 1024, /* texts as vectors */
    BY_AUDIO_LM = 2048, /* by a language model that hears */
    BY_AUDIO_WORDS = 4096, /* such a one with a CTC head beside it */
    BY_VOTES = 8192, /* of BY_VAD, those whose frames vote, and by whose schedule silences end a span */
    BY_THRESHOLDS = 16384, /* of BY_VAD, those whose spans two thresholds find */
    BY_AR = BY_MANY | BY_ENGLISH,
    BY_CLIPS = BY_TAGS | BY_CIF | BY_AUDIO_LM,
    BY_TIMED = BY_AR | BY_TAGS | BY_CIF | BY_STREAM, /* who know when words are said */
    BY_SPEECH = BY_TIMED | BY_AUDIO_LM,
    BY_FBANK = BY_TAGS | BY_CIF | BY_STREAM | BY_VOTES,
    BY_WORDS = BY_TIMED | BY_MARKS, /* with a vocabulary that may lie elsewhere */
    BY_ALL = BY_SPEECH | BY_MARKS | BY_VAD | BY_VOTES | BY_TEXT | BY_EMBED
};

/* What bounds a number beside its row. */
enum param_limit { LIMIT_NONE, LIMIT_TEXT_CTX, LIMIT_AUDIO_CTX, LIMIT_PROBABILITY /* not below 0, of a model with thresholds */ };

struct param {
    const char *name;
    size_t at, count_at;    /* offsets; count_at: of a list's length */
    enum steno_param_kind kind;
    double min, max, value; /* value: the default */
    double none;            /* this value, too, is taken, and means none */
    int has_none;
    const char *text;       /* default of a text */
    unsigned by;
    enum param_limit limit;
};

/* A call whose parameters are judged. */
struct judge {
    const steno_model *m;   /* NULL: any model */
    enum steno_call call;
    const void *p;          /* complete */
    const steno_param_names *names;
    steno_error *e;
};

const struct param *param_rows(enum steno_call call, int *n);
const struct param *param_find(enum steno_call call, const char *name); /* NULL: no such field */
void params_default(enum steno_call call, void *p); /* all but the size */

/* Is it asked for: other than its default, or said to be asked for. */
int param_asked(const struct judge *j, const struct param *r);
int param_said(const struct judge *j, const char *name); /* the latter */
double param_number(const struct param *r, const void *p); /* of a field that is a number */

/* Refuse: in the reason {field} becomes the caller's name for it, {field=} "field is VALUE". @return STENO_EARG */
int param_refuse(const struct judge *j, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Rows of a chunk with those beside it, and rows that are looked back on, at most. */
enum { PARAM_CHUNK_ROWS = 240, PARAM_PAST_ROWS = 1024 };
/* "0,10,5". 1: it is three such numbers, of rows before, in and behind a chunk, 0: it is not */
int param_chunk_size(const char *text, int32_t chunk[3]);

/* What parameters need and exclude (param_rules.c). @return STENO_OK, or STENO_EARG after param_refuse */
int param_rules_check(const struct judge *j);

/* Does every parameter that is asked for fit the model, its range and the others? STENO_EARG: the reason in *e. */
int params_judge(const struct judge *j);
int params_check(steno_session *s, enum steno_call call, const void *p);

int param_served(const struct param *r, const steno_model *m, enum steno_call call); /* does the model serve it? m NULL: does any? */
const char *param_why_not(const struct param *r, const steno_model *m, enum steno_call call);
double param_min(const struct param *r, const steno_model *m); /* the ends of its range */
double param_max(const struct param *r, const steno_model *m);

/* Parameters as this version knows them: own[n] holds the defaults, over which come as many words of 8 bytes as theirs (NULL: none) says
 * it has. Structs begin with their size and have no padding at the end. @return STENO_EARG where it has fewer than `min`, the first
 * version's */
int params_take(void *own, const void *theirs, size_t n, size_t min);
/* The defaults own[n] into a caller's struct of `size` bytes: what it has of them, zeros past what this version knows. */
void params_give(void *theirs, uint32_t size, const void *own, size_t n);
#endif
