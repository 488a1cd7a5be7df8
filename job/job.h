/* steno: from audio files to transcripts. SPDX-License-Identifier: MIT
 *
 * The internal library steno-job, which the program, servers and bindings share. For each input, its mix, one channel, or every channel is
 * transcribed, of one track or of all tracks. A failed input does not stop the others. Inputs are processed one at a time, or in parallel
 * (run.c). Nothing here prints, ends the process, reads the environment or handles signals: callbacks inform the caller, which passes
 * each transcript to writers (writers.h). */
#ifndef STENO_JOB_H
#define STENO_JOB_H
#include "decoded.h"
#include "diarize.h"
#include "findings.h"
#include "parts.h"
#include "speech.h"
#include <steno/media.h>
#include "transcript.h"

enum { JOB_MIX = STENO_MEDIA_MIX, JOB_SPLIT = -2 }; /* special channel numbers */
enum { JOB_ANY_TRACK = 0, JOB_ALL_TRACKS = -1 };    /* special track numbers */
enum job_reading { JOB_READS_SPEAKERS, JOB_READS_SPEECH, JOB_READS_TEXT, JOB_READS_WORDS }; /* why audio is read */

struct job;

/* A file of a run, and parameters of its own. */
enum { JOB_SAME_CHANNEL = -3, JOB_SAME_RANGE = -1 };
struct job_file {
    const char *path;       /* valid until its input is done, as the texts below */
    int index;              /* its number, at least 0 */
    int channel;            /* JOB_SAME_CHANNEL: that of the job */
    const char *language, *initial_prompt; /* NULL: those of job.params */
    int64_t begin_ms, duration_ms;         /* the range of its audio; begin_ms JOB_SAME_RANGE: that of the job; duration 0: to the end */
};
struct job_file job_file_of(const char *path, int index); /* without own parameters */

/* A current input; a batch has several. Callbacks may read it. */
struct job_input {
    struct job *job;
    steno_session *session;
    int slot;                 /* index among the current inputs, from 0 */
    int index;                /* number of the file, -1: none */
    const char *file;
    struct job_file own;      /* the file, with its own parameters */
    steno_media *media;       /* NULL if not open */
    int n_tracks, track;      /* track: from 1; JOB_ANY_TRACK: the most suitable one */
    int n_channels, channel;  /* of the track; channel: from 0, JOB_MIX: the mix */
    int is_split;             /* each of its channels is transcribed, one after the other */
    int most_channels;        /* maximum of its tracks so far */
    int is_silent;            /* voice activity detection found no speech: nothing is decoded */
    int is_refused;           /* the file lacks the requested channels */
    int has_text;             /* at least one of its texts is not empty */
    int is_ok;                /* set at its end: all its results were delivered */
    int64_t audio_ms;         /* length of the audio, when it has been read */
    unsigned lost;            /* audio that could not be decoded, bits as in transcript.lost */
    int64_t n_clips;          /* number of clips from voice activity detection */
    struct diarize diarize;

    double *clips;            /* [2 * n_clips] */
    struct join join;         /* with job.speech.join */
    struct parts parts;       /* with job.parts above 1 and speech in the audio: the part that is being transcribed */
    steno_transcribe_params params;
    steno_source src;         /* its audio; counts and reports what is read */
    steno_source media_src;   /* as the reader provides it */
    struct decoded decoded;   /* with job.store: the audio that media_src reads */
    int64_t n_read;           /* samples since its beginning */
    int64_t n_skipped;        /* the first of these were not decoded, because they lie far before the transcribed range; they are replaced
                               * by silence */
    enum job_reading reading;
    struct notes notes;       /* notes from before there is a result */
    struct level level, measured; /* of this pass over the audio, and of the longest earlier pass */
    const steno_session *failing; /* session that has the error; NULL: the source has it */
    struct input_words {
        steno_align_item item;
        steno_transcribe_params params;
        steno_source src;
        steno_error error;
        int done;                 /* the aligner has been called */
        steno_media_state sound;  /* of its audio, before that is read again; size 0: it was not */
    } words;                      /* of its text, by job.aligner */
    int stop;                 /* as job.stop */
};

/* The end of a channel of an input's track, or of an input that could not be opened. */
struct job_end {
    int status;
    const char *reason; /* if it failed; "": use steno_status_text */
    int of_model;       /* the model's session has failed, not the source */
    unsigned lost;      /* missing audio found so far, bits as in transcript.lost */
};

/* Callbacks of a run, on its thread; each may be NULL. If one returns an int other than 0, the run ends and job.stop keeps the value. */
struct job_events {
    void *user;
    int (*stop)(void *user);          /* called often: return non-zero to end the run without an error */
    int (*expired)(void *user, const struct job_input *in); /* called often: return non-zero to end this input with STENO_ECANCELED */
    void (*busy)(void *user, int on); /* 1: at least one input is being processed; 0: none is */
    void (*begin)(void *user, const struct job_input *in); /* a channel begins */
    /* objects that a cancellation must reach now; may be NULL */
    void (*watch)(void *user, const struct job_input *in, steno_session *s, steno_media *m);
    /* progress of reading for in->reading, before there is text */
    void (*reading)(void *user, const struct job_input *in, int64_t read_ms, int64_t total_ms, int at_end);
    /* samples read; `at`: index of the first */
    void (*samples)(void *user, const struct job_input *in, const float *pcm, int64_t at, int64_t n);
    void (*progress)(void *user, const struct job_input *in, int64_t done_ms, int64_t total_ms);
    int (*segment)(void *user, const struct job_input *in, const steno_segment *seg);
    void (*attempt)(void *user, const struct job_input *in, const steno_attempt *a);
    /* params.on_rows must be set to any function to request it */
    void (*rows)(void *user, const struct job_input *in, const steno_rows *r);
    /* Returns saved data of an earlier run to resume from, [*n] bytes that stay valid until the input is done, or NULL; then receives new
     * data to save after it (steno_transcribe_params.resume). Only for models that support it */
    const void *(*resume)(void *user, const struct job_input *in, size_t *n);
    void (*point)(void *user, const struct job_input *in, const void *data, size_t n);
    void (*let_go)(void *user, const struct job_input *in); /* the channel that began is over, whatever its result */
    int (*end)(void *user, const struct job_input *in, const struct job_end *e); /* its result; not called when the run ends */
    int (*output)(void *user, const struct job_input *in, struct transcript *t); /* a transcript; the callee sets layout and source */
    /* no transcript can be copied from the session */
    int (*output_failed)(void *user, const struct job_input *in, int status, const char *reason);
    int (*done)(void *user, const struct job_input *in); /* all its tracks and channels are over, or it failed */
};

struct job {
    /* set by the caller */
    const steno_model *model;
    steno_transcribe_params params; /* for every input; the job sets its callbacks */
    struct speech_rules speech;     /* session NULL: no voice activity detection */
    steno_session *aligner;     /* session of a forced aligner, which finds the times of words; NULL: none */
    steno_session *punctuation; /* session of a punctuation model; NULL: no punctuation */
    steno_media_params media;
    int track;               /* number from 1, or JOB_ANY_TRACK, JOB_ALL_TRACKS */
    int channel;             /* number from 0, or JOB_MIX, JOB_SPLIT */
    int diarize;             /* 1: finds the speaker of each segment from the two channels; the mix is transcribed */
    int uncut;               /* 1: with diarize, segments are not split where the speaker changes */
    int32_t max_len;         /* maximum characters of a segment; longer ones are split; 0: no limit */
    int by_words;            /* split only at spaces */
    int parts;               /* above 1: the audio, or the joined speech, is divided into this number of equal parts (parts.h). Each part is
                              * transcribed separately and has its own transcript, with times from its own beginning */
    struct job_events events;
    struct decoded_store *store; /* the audio of each channel is decoded once, into it. It limits the length of an audio, and reading stops
                                  * when `stop` asks for it. NULL: audio is decoded each time it is read */

    /* results of the job */
    int stop;                /* value of the callback that ended the run, or 0 */
    int n_done;              /* files that are over, whatever their result */
    int n_ok, n_refused;     /* of these */
    int n_lost;              /* files with audio that could not be decoded */
    int n_empty;             /* of n_ok: with an empty text */
    int64_t audio_ms;        /* transcribed audio; channels and tracks that are transcribed separately count separately */
    steno_timings timings;   /* of all inputs together; size 0: nothing began */
};

/* Transcribes the files one at a time in a session of the model. */
void job_run(struct job *j, steno_session *s, char **files, int n);

/* Transcribes several files in parallel, in a batch of bp->max_windows. on_done and user of *bp are overwritten. @return STENO_OK, or a
 * status with the reason in *e if nothing began */
int job_run_batch(struct job *j, steno_team *team, steno_batch_params *bp, char **files, int n, steno_error *e);

/* The same, for any number of files, which are fetched one by one when a slot is free. After JOB_NEXT_LATER, `next` is called again when an
 * input is done; it returns that only while at least one input is being processed. */
enum job_next { JOB_NEXT_NONE, JOB_NEXT_FILE, JOB_NEXT_LATER };
struct job_files {
    enum job_next (*next)(void *user, struct job_file *f);
    void *user;
};
int job_run_files(struct job *j, steno_team *team, steno_batch_params *bp, const struct job_files *files, int n_slots, steno_error *e);
int job_slots(const steno_batch_params *bp, int n); /* maximum number of files processed, and sessions open, at a time */

/* Checks the parameters without decoding audio, and leaves an empty result. @return a status */
int job_try(const struct job *j, steno_session *s);
#endif
