/* steno: from sound files to transcripts. SPDX-License-Identifier: MIT
 *
 * The internal library steno-job, which the program, a server and bindings share. Of each input its mix, one channel, or every channel is
 * transcribed, of one track or of all; one that fails does not keep the others. Inputs are taken one after the other, or several at a time
 * (batch.c). Nothing here prints, ends the process, reads the environment or holds signals: whoever runs a job is told by callbacks, and
 * gives each transcript to writers (writers.h). */
#ifndef STENO_JOB_H
#define STENO_JOB_H
#include "diarize.h"
#include "findings.h"
#include "parts.h"
#include "speech.h"
#include "steno_media.h"
#include "transcript.h"

enum { JOB_MIX = STENO_MEDIA_MIX, JOB_SPLIT = -2 }; /* in place of a channel's number */
enum { JOB_ANY_TRACK = 0, JOB_ALL_TRACKS = -1 };    /* in place of a track's */
enum job_hearing { JOB_HEARS_SPEAKERS, JOB_HEARS_SPEECH, JOB_HEARS_TEXT }; /* what audio is heard for */

struct job;

/* An input in hand; of a batch there are several. Others read it in callbacks. */
struct job_input {
    struct job *job;
    steno_session *session;
    int slot;                 /* which of those in hand, from 0 */
    int index;                /* number of the file, -1: none */
    const char *file;
    steno_media *media;       /* NULL: it is not open */
    int n_tracks, track;      /* track: which sound of it, from 1; JOB_ANY_TRACK: the one that fits best */
    int n_channels, channel;  /* of the track; channel: from 0, JOB_MIX: they are mixed */
    int most_channels;        /* of its tracks so far */
    int is_silent;            /* voice activity found none: nothing is decoded */
    int is_refused;           /* the file has not the channels that are asked for */
    int has_text;             /* a text of it is not empty */
    int is_ok;                /* all of its results were given; when it is done */
    int64_t audio_ms;         /* how much of it there is, when it was heard */
    unsigned lost;            /* what could not be heard of it, bits as in transcript.lost */
    int64_t n_clips;          /* that voice activity chose */
    struct diarize diarize;

    double *clips;            /* [2 * n_clips] */
    struct join join;         /* with job.speech.join */
    struct parts parts;       /* with job.parts above 1, and speech in the sound: which part of it is being transcribed */
    steno_transcribe_params params;
    steno_source src;         /* its audio, which tells how much was heard */
    steno_source media_src;   /* as the reader gives it */
    int64_t heard;            /* samples since its beginning */
    int64_t unheard;          /* of which the first were not decoded, as they lie far before what is transcribed; silence stands for them */
    enum job_hearing hearing;
    struct notes notes;       /* what is to be noted before there is a result */
    struct level level, measured; /* of this pass over the sound, and of the longest one before */
    const steno_session *failing; /* whose error counts, NULL: the source's */
    int stop;                 /* as job.stop */
};

/* How a channel of an input's track ended, or the input, where it could not be opened. */
struct job_end {
    int status;
    const char *reason; /* where it failed; "": steno_status_text says it */
    int of_model;       /* the model's session has failed, not the source */
    unsigned lost;      /* what is found missing now, bits as in transcript.lost */
};

/* What is told of a run, on its thread; any may be NULL. Where an int is returned, anything but 0 ends the run and is kept in job.stop. */
struct job_events {
    void *user;
    int (*stop)(void *user);          /* asked often: whether the run is to end, quietly */
    void (*busy)(void *user, int on); /* inputs are in hand from here on, or none is */
    void (*begin)(void *user, const struct job_input *in); /* a channel of it */
    void (*watch)(void *user, const struct job_input *in, steno_session *s, steno_media *m); /* what a cancel has to reach now, or NULL */
    void (*hear)(void *user, const struct job_input *in, int64_t heard_ms, int64_t total_ms, int at_end); /* for in->hearing; before text */
    void (*samples)(void *user, const struct job_input *in, const float *pcm, int64_t at, int64_t n); /* heard; the at-th is the first */
    void (*progress)(void *user, const struct job_input *in, int64_t done_ms, int64_t total_ms);
    int (*segment)(void *user, const struct job_input *in, const steno_segment *seg);
    void (*attempt)(void *user, const struct job_input *in, const steno_attempt *a);
    void (*rows)(void *user, const struct job_input *in, const steno_rows *r); /* params.on_rows has to be set, to anything: who asks */
    /* What of it was kept before, to go on behind, [*n] bytes that stay until it is done, or NULL; and what there is to be kept behind that
     * (steno_transcribe_params.resume). Of models that serve it */
    const void *(*resume)(void *user, const struct job_input *in, size_t *n);
    void (*point)(void *user, const struct job_input *in, const void *data, size_t n);
    void (*let_go)(void *user, const struct job_input *in); /* what began is over, however it ended */
    int (*end)(void *user, const struct job_input *in, const struct job_end *e); /* how; not told when the run ends */
    int (*output)(void *user, const struct job_input *in, struct transcript *t); /* a transcript; layout and source are yours to fill */
    int (*output_failed)(void *user, const struct job_input *in, int status, const char *reason); /* it cannot be had of the session */
    int (*done)(void *user, const struct job_input *in); /* all its tracks and channels, or it failed */
};

struct job {
    /* yours to fill */
    const steno_model *model;
    steno_transcribe_params params; /* of every input; callbacks are the job's */
    struct speech_rules speech;     /* session NULL: no voice activity */
    steno_session *punctuation; /* of a model that puts marks into texts; NULL: they stay as they are */
    steno_media_params media;
    int track;               /* its number, from 1, or JOB_ANY_TRACK, JOB_ALL_TRACKS */
    int channel;             /* its number, from 0, or JOB_MIX, JOB_SPLIT */
    int diarize;             /* 1: who speaks in each segment, by the two channels; the mix is transcribed */
    int uncut;               /* 1: with diarize, segments are left as they are where another speaker goes on */
    int32_t max_len;         /* segments are cut into pieces of so many characters; 0: they are left */
    int by_words;            /* cut so only where a space is */
    int parts;               /* above 1: the sound, or the joined speech, is cut into this number of equal parts (parts.h). Each is
                              * transcribed by itself and has a transcript, whose times count from its own beginning */
    struct job_events tell;

    /* what became of it */
    int stop;                /* what a callback ended the run with, or 0 */
    int n_done;              /* files that are over, however they ended */
    int n_ok, n_refused;     /* of these */
    int n_lost;              /* of which something could not be heard */
    int n_empty;             /* of n_ok: their text is empty */
    int64_t audio_ms;        /* that was transcribed; of each channel and track that was transcribed apart */
    steno_timings timings;   /* of all inputs together; size 0: nothing was begun */
};

/* Transcribe the files one after the other in a session of the model. */
void job_run(struct job *j, steno_session *s, char **files, int n);

/* Several at a time, in a batch of bp->max_windows. on_done and user of *bp are set.
 * @return STENO_OK, or a status with the reason in *e: nothing was begun */
int job_run_batch(struct job *j, steno_team *team, steno_batch_params *bp, char **files, int n, steno_error *e);
int job_slots(const steno_batch_params *bp, int n); /* how many files will be in hand, and sessions open, at most */

/* Decode no audio at all: judges the parameters, and leaves an empty result. @return a status */
int job_try(const struct job *j, steno_session *s);
#endif
