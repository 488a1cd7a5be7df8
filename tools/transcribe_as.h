/* steno: transcribing as another program does. SPDX-License-Identifier: MIT
 *
 * A dialect gives our options, and here what our options cannot say: what is seen of a segment when it comes, and how a transcript is
 * written. All members may be 0 or NULL: it is as ours then. */
#ifndef STENO_TOOLS_TRANSCRIBE_AS_H
#define STENO_TOOLS_TRANSCRIBE_AS_H
#include "job.h"
#include "ledger.h"

struct transcribe_as {
    unsigned given; /* the dialect's bits */
    void *user;
    void (*write)(struct sink *f, const struct transcript *t, unsigned given); /* in place of a format, on standard output */
    /* On standard output, when a segment comes; `who` speaks in it, NULL: nobody asked. */
    void (*segment)(void *user, const steno_session *s, const steno_segment *seg, const int32_t *who);
    /* With `output`: before work begins; enters the names of its files, and what is read. @return EXIT_OK, or the code to end with */
    int (*plan)(void *user, struct ledger *l);
    int (*opened)(void *user, const steno_model *m); /* once the model is loaded. @return EXIT_OK, or the code to end with */
    void (*begin)(void *user, const struct job_input *in); /* before its first segment */
    void (*samples)(void *user, const struct job_input *in, const float *pcm, int64_t at, int64_t n); /* as of struct job_events */
    /* The transcript of an input, in place of all that we write. @return EXIT_OK, or an exit code that ends the run, after a message */
    int (*output)(void *user, const struct job_input *in, struct transcript *t);
    void (*before_writing)(void *user, struct transcript *t); /* what is to be changed in it; without `output` */
    int parts;         /* above 1: a sound is cut into this number of parts (struct job); `output` gets the transcript of each */
    char uncut;        /* 1: with --diarize, segments are left as they are where another speaker goes on */
    char language_only; /* 1: the language is found, and nothing is decoded */
    char as_file_asks; /* 1: tags in texts where the model has any, numbers spelled as its file asks for, no other model found for it */
};

/* As cmd_transcribe. @return the exit code */
int transcribe_as(int argc, char **argv, const struct transcribe_as *as);
#endif
