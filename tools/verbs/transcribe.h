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
#include "options/aligner_opts.h"
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
    struct aligner_opts aligner;
    struct punctuation_opts punctuation;
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

/* Rows of verbs that transcribe. */
#define TRANSCRIBE_LANGUAGE_ROW(T) \
    { .name = "language", .letter = 'l', .kind = ARG_TEXT, .at = offsetof(T, language), .value = "auto|CODE", .dflt = "auto", \
      .help = "language spoken: a code (en, zh, ...) or an English name; auto: detected from the first 30 s" }

#define TRANSCRIBE_DIARIZE_ROWS(T) \
    { .name = "diarize", .kind = ARG_FLAG, .at = offsetof(T, diarize), \
      .help = "assign each segment to speaker 0 or 1, the louder of channels 0 and 1; split segments where the speaker changes" }, \
    { .name = "url-limit", .kind = ARG_INT, .at = offsetof(T, url_limit), .value = "MB", .dflt = "4096", .lo = 1, .hi = 1000000, \
      .help = "maximum size of an http(s) input, in MB" }

#define TRANSCRIBE_VERIFY_ROWS(T) \
    { .name = "verify", .kind = ARG_FLAG, .at = offsetof(T, engine.verify), \
      .help = "decide near-ties of fast arithmetic in f32, so that the text is that of --compute f32; needs a second copy of the " \
              "weights" }, \
    { .name = "verify-margin", .kind = ARG_NUM, .at = offsetof(T, verify_margin), .value = "X", .dflt = ARG_OF_PARAM, \
      .help = "treat two tokens as tied if their logits differ by less than X" }

#define TRANSCRIBE_LOGPROBS_ROW(T) \
    { .name = "token-logprobs", .kind = ARG_FLAG, .at = offsetof(T, token_logprobs), \
      .help = "write the log-probability of each token in json, verbose_json and jsonl" }

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
    struct aligner aligner;
    struct punctuation punctuation;
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
/* Set `channel` and `track` from --channels and --audio-track. @return an exit code, after a message */
int transcription_channels(struct transcribe_opts *o);
int transcription_track(struct transcribe_opts *o);
/* Fill the rest of t->job; engine, voice activity, aligner and punctuation are open. */
void transcription_job(struct transcription *t);
/* For which recognisers a punctuation model is searched. */
enum punctuation_find transcription_punctuation(const struct transcribe_opts *o);

/* Connect the job's events to the output. @return the exit code after n files */
void transcription_watch(struct transcription *t);
int transcription_code(const struct transcription *t, int n);

/* Events of a job that a signal ends in order. */
void transcription_on_busy(void *user, int on);
void transcription_on_watch(void *user, const struct job_input *in, steno_session *s, steno_media *m);
#endif
