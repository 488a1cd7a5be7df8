/* steno: what transcribe and translate show and write of their job. SPDX-License-Identifier: MIT
 *
 * The job itself (job.h) says nothing: here its events become text, files, messages, progress and the exit code. */
#ifndef STENO_TOOLS_TRANSCRIBE_H
#define STENO_TOOLS_TRANSCRIBE_H
#include "console.h"
#include "decode_opts.h"
#include "dump.h"
#include "engine.h"
#include "job.h"
#include "marks_opts.h"
#include "post_opts.h"
#include "progress.h"
#include "results.h"
#include "resume.h"
#include "subtitle_opts.h"
#include "vad_opts.h"

struct transcribe_opts {
    struct engine_opts engine;
    struct decode_opts decode;
    struct subtitle_opts subtitles;
    struct vad_opts vad;
    struct marks_opts marks;
    struct post_opts post;
    const char *language, *channels, *audio_track, *out_dir, *out_template, *dump;
    int strict, resume, recursive;
    int64_t url_limit; /* MB of an input that is an address, 0: as usual */
    int task, track, channel, diarize; /* track, channel: what `audio_track` and `channels` say */
    int token_logprobs, progress, print_timings, print_colors, print_confidence, print_special, color;
    unsigned formats;
    int64_t offset_ms, duration_ms, offset_n, batch_size;
    double verify_margin;
    const struct transcribe_as *as; /* of another program's command line; NULL: ours */
};

/* What is shown of an input in hand. */
struct shown {
    struct progress progress;
    int64_t begun_us;        /* when it was */
    struct sink_memory text; /* of a batch, what goes to standard output, by way of */
    struct sink sink;
};

/* Texts of inputs that are done before others whose text comes first. */
struct held {
    char **text;  /* [n] NULL: none; itself NULL: text goes out at once */
    size_t *size; /* [n] */
    char *done;   /* [n] */
    int n, told;  /* inputs, and those whose text is out */
};

struct transcription {
    const struct transcribe_opts *o;
    struct engine engine;
    struct job job;
    struct decode_data data; /* what its parameters point at */
    struct vad vad;
    struct marks marks;
    struct post post;
    struct results *results;
    struct write_layout layout;
    struct console console;
    int64_t url_most;         /* bytes of an input that is an address */
    int style_out, style_err; /* whether escape sequences may go there */
    int streams_meet;         /* standard output and standard error are one file or terminal */
    void (*options)(struct sink *f, const void *o); /* writes o as an object, for jsonl */
    struct progress_bar *bar; /* of the whole run */
    struct shown *shown;      /* one for each input in hand */
    struct held held;
    struct dump dump;
    struct resume resume;
    const int *place;         /* [n] of the inputs that are left: which of the run's they are */
    int n_before;             /* inputs that an earlier run finished, and this run leaves out */
};

/* Transcribe the files, one after the other or, with --batch-size, several at a time. Engine, parameters, results and console are ready.
 * @return the exit code */
int transcription_run(struct transcription *t, char **files, int n);
int transcription_run_batch(struct transcription *t, char **files, int n);

/* What stands on standard output before the first result. @return the exit code */
int transcription_begin(const struct transcription *t);
/* The sums of a job over several inputs, which has come to its end. @return the exit code */
int transcription_end(const struct transcription *t, int n_inputs);
enum { SUMS_TEXT_SZ = 256 };
void transcription_sums_text(char text[SUMS_TEXT_SZ], const struct transcript_sums *s); /* a line without its end */

/* Events of the job become what is seen; the exit code after n files. */
void transcription_watch(struct transcription *t);
int transcription_code(const struct transcription *t, int n);
#endif
