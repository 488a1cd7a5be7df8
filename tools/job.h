/* steno: what transcribe and translate do with their inputs. SPDX-License-Identifier: MIT
 *
 * Inputs are taken one after the other, and of each its mix, one channel, or every channel; one that fails is told in a line and the
 * others go on. */
#ifndef STENO_TOOLS_JOB_H
#define STENO_TOOLS_JOB_H
#include "console.h"
#include "decode_opts.h"
#include "diarize.h"
#include "engine.h"
#include "progress.h"
#include "results.h"
#include "subtitle_opts.h"
#include "vad_opts.h"

enum { CHANNELS_SPLIT = -1, CHANNELS_MIX = 0 }; /* else a number */

struct transcribe_opts {
    struct engine_opts engine;
    struct decode_opts decode;
    struct subtitle_opts subtitles;
    struct vad_opts vad;
    const char *language, *channels, *out_dir, *out_template;
    int task, channel, diarize; /* channel: what `channels` says */
    int progress, print_timings, print_colors, print_confidence, print_special, color;
    unsigned formats;
    int64_t offset_ms, duration_ms, offset_n;
};

struct job {
    const struct transcribe_opts *o;
    struct engine engine;
    steno_transcribe_params params;
    struct decode_data data; /* what params points at */
    struct vad vad;
    struct diarize diarize;
    steno_model_info info;
    struct progress progress;
    struct results results;
    struct write_layout layout;
    struct console console;
    int style_out, style_err; /* whether escape sequences may go there */
    const char *file;
    int channel;    /* of it, from 1; 0: they are mixed */
    char mark[48];  /* of the result in hand, for its names */
    int is_silent;  /* voice activity found none: nothing was decoded */
    int n_refused;  /* files that are not what an option asks for */
    void (*options)(FILE *f, const void *o); /* writes o as an object, for jsonl */
    int stop_code;  /* exit code that ends the whole run, or EXIT_OK */
};

/* Transcribe the files. The job's engine, parameters, results and console are ready. @return the exit code */
int job_run(struct job *j, char **files, int n);

/* Decode no audio at all: judges the parameters, and leaves an empty result. @return a status */
int job_decode_nothing(struct job *j);
#endif
