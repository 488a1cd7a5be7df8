/* steno: output of transcribe and translate. SPDX-License-Identifier: MIT
 *
 * The job (job.h) prints nothing. This code turns its events into text, files, messages, progress and the exit code. */
#ifndef STENO_TOOLS_TRANSCRIBE_H
#define STENO_TOOLS_TRANSCRIBE_H
#include "cli/console.h"
#include "cli/progress.h"
#include "input/resume.h"
#include "job.h"
#include "models/engine.h"
#include "options/decode_opts.h"
#include "options/post_opts.h"
#include "options/punctuation_opts.h"
#include "options/subtitle_opts.h"
#include "options/vad_opts.h"
#include "verbs/dump.h"
#include "verbs/results.h"

struct transcribe_opts {
    struct engine_opts engine;
    struct decode_opts decode;
    struct subtitle_opts subtitles;
    struct vad_opts vad;
    struct marks_opts marks;
    struct post_opts post;
    const char *language, *channels, *audio_track, *out_dir, *out_template, *dump;
    int strict, resume, recursive;
    int64_t url_limit; /* maximum size of an http(s) input in MB, 0: default */
    int task, track, channel, diarize; /* track, channel: values of `audio_track` and `channels` */
    int token_logprobs, progress, print_timings, print_colors, print_confidence, print_special, color;
    unsigned formats;
    int64_t offset_ms, duration_ms, offset_n, batch_size;
    double verify_margin;
    const struct transcribe_as *as; /* another program's command line; NULL: steno's own */
};

/* Output state of a running input. */
struct shown {
    struct progress progress;
    int64_t begun_us;        /* start of the input, a time of progress_now_us */
    struct sink_memory text; /* in a batch: text for standard output, written through */
    struct sink sink;
};

/* Texts of inputs that finished before earlier inputs; they are printed in input order. */
struct held {
    char **text;  /* [n] NULL: none; if `text` is NULL, texts are printed at once */
    size_t *size; /* [n] */
    char *done;   /* [n] */
    int n, reported;  /* number of inputs, and of those that are printed */
};

struct transcription {
    const struct transcribe_opts *o;
    struct engine engine;
    struct job job;
    struct decode_data data; /* memory that its parameters point to */
    struct vad vad;
    struct marks marks;
    struct post post;
    struct results *results;
    struct write_layout layout;
    struct console console;
    int64_t url_most;         /* maximum size of an http(s) input in bytes */
    int style_out, style_err; /* whether escape sequences may be written to it */
    int streams_meet;         /* standard output and standard error are the same file or terminal */
    void (*options)(struct sink *f, const void *o); /* writes o as a JSON object, for jsonl */
    struct progress_bar *bar; /* of the whole run */
    struct shown *shown;      /* one for each running input */
    struct held held;
    struct dump dump;
    struct resume resume;
    const int *place;         /* [n] position of each remaining input among all inputs of the run */
    int n_before;             /* inputs that an earlier run finished and this run skips */
};

/* Transcribe the files in sequence, or with --batch-size several at a time. Engine, parameters, results and console must be ready.
 * @return the exit code */
int transcription_run(struct transcription *t, char **files, int n);
int transcription_run_batch(struct transcription *t, char **files, int n);

/* Print what precedes the first result on standard output. @return the exit code */
int transcription_begin(const struct transcription *t);
/* Print the sums of a finished job with several inputs. @return the exit code */
int transcription_end(const struct transcription *t, int n_inputs);
enum { SUMS_TEXT_SZ = 256 };
void transcription_sums_text(char text[SUMS_TEXT_SZ], const struct transcript_sums *s); /* a line without line end */

/* Fill t->job.params. The library checks them before the model is opened (m NULL) and again with the model. @return an exit code */
int transcription_params(struct transcription *t, const steno_model *m);
/* Fill the rest of t->job; engine, voice activity and punctuation are open. */
void transcription_job(struct transcription *t);
/* For which recognisers a punctuation model is searched. */
enum marks_find transcription_marks(const struct transcribe_opts *o);

/* Connect the job's events to the output. @return the exit code after n files */
void transcription_watch(struct transcription *t);
int transcription_code(const struct transcription *t, int n);
#endif
