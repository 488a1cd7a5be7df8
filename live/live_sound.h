/* steno: the audio of a live transcript: what is kept of it, and where there is speech. SPDX-License-Identifier: MIT */
#ifndef STENO_LIVE_LIVE_SOUND_H
#define STENO_LIVE_LIVE_SOUND_H
#include <steno/steno.h>

/* ---- audio, kept as long as it is needed ------------------------------------------------------------------------------------- */

struct kept { float *pcm; int64_t at, n, cap; }; /* pcm: [n], starting with sample `at` of the whole audio */

int kept_add(struct kept *k, const float *pcm, int64_t n); /* @return STENO_OK, STENO_ENOMEM */
int64_t kept_end(const struct kept *k);                    /* the sample after the last one */
const float *kept_from(const struct kept *k, int64_t at);  /* at: within the kept audio */
void kept_drop(struct kept *k, int64_t before);            /* earlier samples may be dropped */
void kept_clear(struct kept *k, int64_t at);               /* drops all; the next sample is `at` */
int64_t kept_quietest(const struct kept *k, int64_t from, int64_t end); /* within [from, end]; `end` if all of it is silent */
double kept_loudest(const struct kept *k, int64_t from, int64_t end);   /* power of its loudest 20 ms, with low frequencies weakened */
void kept_free(struct kept *k);

struct kept_part { const float *pcm; int64_t n, at; }; /* pcm: [n]; at: samples that have been read */
steno_source kept_source(struct kept_part *p);         /* reads it, from its start again after a rewind */

/* ---- voice activity detection ------------------------------------------------------------------------------------------------ */

struct edge { int64_t t0_ms, t1_ms; }; /* start or end of speech; the other time is -1 */

struct finder {
    const struct kept *sound;
    steno_batch *batch; /* NULL without voice activity detection */
    steno_session *session;
    steno_vad_params params;
    int64_t begin;      /* first sample that it has read since its last start */
    int64_t given;      /* the sample after the last one that it has read */
    int is_over;        /* no more audio follows */
    struct edge *edge;  /* edges found in the last call of finder_look */
    size_t n_edges, cap;
    int rc;
};

/* Opens it in place: *f must not move. p may be NULL. @return a status, with the reason in *e */
int finder_open(struct finder *f, const struct kept *sound, const steno_model *vad, steno_team *team, const steno_vad_params *p,
                steno_error *e);
void finder_close(struct finder *f);
int finder_begin(struct finder *f, int64_t at); /* starts anew at sample `at`, as if the audio began there. @return a status */
int finder_look(struct finder *f, int is_over); /* processes new audio. @return STENO_OK, STENO_ENOMEM, or another status */
#endif
