/* steno: what transcribe and translate do with their inputs. SPDX-License-Identifier: MIT
 *
 * Of each input its mix, one channel, or every channel; one that fails is told in a line and the others go on. Inputs are taken one after
 * the other, or, with --batch-size, several at a time (job_batch.c). */
#ifndef STENO_TOOLS_JOB_H
#define STENO_TOOLS_JOB_H
#include "console.h"
#include "decode_opts.h"
#include "diarize.h"
#include "engine.h"
#include "progress.h"
#include "results.h"
#include "subtitle_opts.h"
#include "steno_media.h"
#include "vad_opts.h"

enum { CHANNELS_SPLIT = -1, CHANNELS_MIX = 0 }; /* else one more than its number */

struct transcribe_opts {
    struct engine_opts engine;
    struct decode_opts decode;
    struct subtitle_opts subtitles;
    struct vad_opts vad;
    const char *language, *channels, *out_dir, *out_template;
    int strict;
    int task, channel, diarize; /* channel: what `channels` says */
    int progress, print_timings, print_colors, print_confidence, print_special, color;
    unsigned formats;
    int64_t offset_ms, duration_ms, offset_n, batch_size;
    double verify_margin;
};

/* An input in hand; with --batch-size there are several that share all but the lower half. */
struct job {
    const struct transcribe_opts *o;
    struct engine engine;
    steno_transcribe_params params;
    struct decode_data data; /* what params points at */
    steno_model_info info;
    struct results *results;
    struct write_layout layout;
    struct console console;
    int style_out, style_err; /* whether escape sequences may go there */
    int streams_meet;         /* standard output and standard error are one file or terminal */
    void (*options)(struct sink *f, const void *o); /* writes o as an object, for jsonl */

    struct vad vad;
    struct diarize diarize;
    struct progress progress;
    struct progress_bar *bar; /* of the whole run */
    const char *file;
    steno_media *media;
    steno_source src;        /* its audio, which moves the progress while it is heard */
    steno_source media_src;  /* as the reader gives it */
    int64_t heard;           /* samples since its beginning */
    const char *listening;   /* what it is heard for */
    int n_channels, channel; /* channel: of it, from 1 as the reader counts, people from 0; 0: they are mixed */
    char mark[48];           /* of the result in hand, for its names */
    struct sink *out;        /* where results go that are not files, NULL: standard output */
    const steno_session *failing; /* whose error counts, NULL: the source's */
    int is_silent;           /* voice activity found none: nothing is decoded */
    int is_refused;          /* the file is not what an option asks for */
    unsigned lost;           /* what could not be heard of it, see sound_lost */
    int n_lost;              /* files so far of which something could not be heard */
    int stop_code;           /* exit code that ends the whole run, or EXIT_OK */
    steno_timings timings;   /* of all inputs together, when they are done */
};

/* One channel after the other of one file: open, then begin, transcribe j->src and end for each, as long as there is another. */
int job_open(struct job *j, const char *file);  /* @return 1, or 0 when it failed and was told */
int job_begin(struct job *j);                   /* @return a status: what was heard before the model hears it */
int job_end(struct job *j, int status);         /* @return 1 when the output was produced, 0 when it failed and was told */
int job_another(struct job *j);                 /* @return 1 and go to the next channel, or 0 */
void job_close(struct job *j);
void job_watch(struct job *j);                  /* callbacks of its parameters are about j from here on */

/* Transcribe the files. The job's engine, parameters, results and console are ready. @return the exit code */
int job_run(struct job *j, char **files, int n);
int job_run_batch(struct job *j, char **files, int n);
int job_code(const struct job *j, int n, int n_ok, int n_refused); /* the exit code after n files */

/* Decode no audio at all: judges the parameters, and leaves an empty result. @return a status */
int job_decode_nothing(struct job *j);
/* Parameters and audio for that. */
steno_transcribe_params job_params_of_nothing(const struct job *j);
steno_source job_no_audio(void);
#endif
