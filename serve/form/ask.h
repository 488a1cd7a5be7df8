/* steno-serve: what a client asked for: the fields of a form as parameters of a transcription. SPDX-License-Identifier: MIT
 *
 * Names of fields are those of OpenAI's API, else the library's (doc/serve.md). A field that has no effect is an error. */
#ifndef STENO_SERVE_ASK_H
#define STENO_SERVE_ASK_H
#include "form.h"
#include "job.h"

enum ask_format { ASK_JSON, ASK_TEXT, ASK_SRT, ASK_VERBOSE_JSON, ASK_VTT, ASK_DIARIZED_JSON, ASK_TSV };
#define ASK_FORMATS "json|text|srt|verbose_json|vtt|diarized_json" /* of response_format */
#define ASK_ALL_FORMATS ASK_FORMATS "|tsv"
#define ASK_TASKS "transcribe|translate"
#define ASK_PRIORITIES "low|normal|high"
#define ASK_GRANULARITIES "segment|word"

enum { ASK_SEGMENTS = 1, ASK_WORDS = 2 }; /* timestamp_granularities */

struct ask {
    int task;            /* STENO_TRANSCRIBE or STENO_TRANSLATE */
    enum ask_format format;
    unsigned granularities; /* of verbose_json; ASK_SEGMENTS if none was given */
    int logprobs;        /* include[]=logprobs */
    int stream;
    int vad_default;     /* 1: the server's defaults apply voice activity detection; set by the caller before ask_fill */
    const steno_model *vad; /* the detector of requests that ask for one, if the defaults have none; NULL: none. As vad_default */
    int use_vad;         /* 1: chunking_strategy or vad_filter; -1: vad_filter=false; 0: as the server's default. After ask_fill 1 or 0:
                          * whether spans are found before the model runs (work.use_vad) */
    int is_auto;         /* chunking_strategy "auto": without a model of voice activity detection it has no effect */
    double vad_threshold, vad_padding_ms, vad_silence_ms; /* of chunking_strategy; -1: not given */
    int priority;        /* -1 low, 0 normal, 1 high (work.priority) */
    int detects;         /* 1: only the language is wanted, and nothing is decoded */
    int route;           /* enum ask_route (ask_other.h) */
    void (*error_as)(int route, struct api_error *e); /* gives errors the names that the route's clients use; may be NULL */
    char language[16];   /* code; "": detect. Set by ask_fill */
    char languages[512]; /* several codes: detect among them */
    char ignored[512];   /* unknown fields, for the header steno-ignored; "": none */
    /* memory of the job's parameters, freed by ask_free */
    char *hotwords;
    double *clips, *ladder;
    char suppress[16];
};

/* Reads the fields that need no model: format, granularities, stream, ...
 * @param task  of the route
 * @return API_OK or a code, in *e */
int ask_read(struct ask *a, struct form *f, int task, int is_strict, struct api_error *e);

/* Changes the job, which holds the server's defaults, by the fields that need the model. Fields that the model does not have are errors
 * with their name. Call after ask_read, once. Ask and form must stay where they are while the job runs: its parameters point into them.
 * The server has voice activity detection if job->params.vad_model is set, or job->speech.params.size, and with it ask.vad for a model that
 * takes the detector as a parameter. @return API_OK or a code, in *e */
int ask_fill(struct ask *a, struct form *f, struct job *job, const steno_model *m, struct api_error *e);
void ask_free(struct ask *a);

/* Code of a language as a client writes it ("en-US", "zh_CN", "German", "nb"), for the model. @return NULL, with the nearest in near[64]
 * ("": none) */
const char *ask_language(const steno_model *m, const char *text, char near[64]);
#endif
