/* steno: transcription on behalf of another program's command line. SPDX-License-Identifier: MIT
 *
 * A dialect translates its options to steno's. This struct holds what options cannot express: how a segment is printed on arrival, and
 * how a transcript is written. All members may be 0 or NULL, which selects steno's own behaviour. */
#ifndef STENO_TOOLS_TRANSCRIBE_AS_H
#define STENO_TOOLS_TRANSCRIBE_AS_H
#include "job.h"
#include "path_guard.h"

struct transcribe_as {
    unsigned given; /* the dialect's bits */
    const char *program, *own; /* as in struct args_given */
    void *user;
    void (*write)(struct sink *f, const struct transcript *t, unsigned given); /* replaces a format on standard output */
    /* Print a segment on standard output when it arrives. `who` is its speaker, NULL if speakers are off. */
    void (*segment)(void *user, const steno_session *s, const steno_segment *seg, const int32_t *who);
    /* Used with `output`, before work begins: register the names of its output files and inputs. @return EXIT_OK, or the code to end
     * with */
    int (*plan)(void *user, struct path_guard *l);
    int (*opened)(void *user, const steno_model *m); /* called after the model is loaded. @return EXIT_OK, or the code to end with */
    void (*begin)(void *user, const struct job_input *in); /* called before an input's first segment */
    void (*attempt)(void *user, const struct job_input *in, const steno_attempt *a); /* called after each decoding of a window */
    void (*samples)(void *user, const struct job_input *in, const float *pcm, int64_t at, int64_t n); /* as in struct job_events */
    /* Write the transcript of an input, instead of all of steno's output. @return EXIT_OK, or an exit code that ends the run, after a
     * message */
    int (*output)(void *user, const struct job_input *in, struct transcript *t);
    void (*before_writing)(void *user, struct transcript *t); /* changes the transcript before it is written; not used with `output` */
    int parts;         /* above 1: cut a sound into this number of parts (struct job); `output` is called for each part */
    char uncut;        /* 1: with --diarize, do not cut segments where the speaker changes */
    char notes;        /* 1: print notes on results, although -q is given */
    char language_only; /* 1: detect the language only, decode nothing */
    char as_file_asks; /* 1: keep tags in texts if the model has any, spell numbers as its file asks for, use no second model */
};

/* As cmd_transcribe. @return the exit code */
int transcribe_as(int argc, char **argv, const struct transcribe_as *as);
#endif
