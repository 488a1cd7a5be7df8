/* steno-serve: what a client asked for: the fields of a form as parameters of a transcription. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ASK_H
#define STENO_SERVE_ASK_H
#include "form.h"
#include "job.h"

enum ask_format { ASK_JSON, ASK_TEXT, ASK_SRT, ASK_VERBOSE_JSON, ASK_VTT, ASK_DIARIZED_JSON, ASK_TSV };
#define ASK_FORMATS "json|text|srt|verbose_json|vtt|diarized_json" /* of response_format */

enum { ASK_SEGMENTS = 1, ASK_WORDS = 2 }; /* timestamp_granularities */

struct ask {
    int task;            /* STENO_TRANSCRIBE or STENO_TRANSLATE */
    enum ask_format format;
    unsigned granularities;
    int logprobs;        /* include[]=logprobs */
    int stream;
    int use_vad;         /* 1: chunking_strategy or vad_filter; -1: not given, as the server's default */
    double vad_threshold, vad_padding_ms, vad_silence_ms; /* of chunking_strategy; -1: not given */
    int priority;        /* 0 low, 1 normal, 2 high: field `priority` */
    char language[16];   /* code; "": detect */
    char ignored[512];   /* unknown fields, for the header steno-ignored; "": none */
    /* memory of the job's parameters, freed by ask_free */
    char *prompt, *hotwords;
    double *clips;
};

/* Reads the fields that need no model: format, granularities, stream, ... @return API_OK or a code, in *e */
int ask_read(struct ask *a, struct form *f, int task, int is_strict, struct api_error *e);

/* Changes the job, which holds the server's defaults, by the fields that need the model. Fields that the model does not have are errors
 * with their name. Call after ask_read, once. @return API_OK or a code, in *e */
int ask_fill(struct ask *a, struct form *f, struct job *job, const steno_model *m, struct api_error *e);
void ask_free(struct ask *a);

/* Code of a language as a client writes it ("en-US", "zh_CN", "German", "nb"), for the model. @return NULL, with the nearest in near[64]
 * ("": none) */
const char *ask_language(const steno_model *m, const char *text, char near[64]);
#endif
