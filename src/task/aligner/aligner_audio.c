/* steno: a forced aligner: the audio of clips. SPDX-License-Identifier: MIT
 *
 * Clips are ranges of a source, usually in order. The audio of one clip is kept, since a part of it may belong to the next one, too. */
#include <string.h>
#include "task/aligner/aligner_session.h"

enum { PIECE = 4096 /* samples read at a time */ };

void aligner_audio_begin(steno_session *s, const steno_source *src)
{
    struct aligner_session *a = aligner_of(s);
    fbank_stream_begin(&a->stream, src, 0, 0);
    buf_clear(&a->pcm);
    a->at = 0;
    a->keep = INT64_MAX;
}

static int64_t n_held(const struct aligner_session *a)
{
    return (int64_t)(a->pcm.len / sizeof(float));
}

static int go_back(steno_session *s)
{
    struct aligner_session *a = aligner_of(s);
    const steno_source *src = a->stream.src;
    if (!src->rewind || src->rewind(src->user) < 0)
        return err_set(&s->error, STENO_ESOURCE, "the audio source cannot go back to its start, which an alignment needs");
    aligner_audio_begin(s, src);
    return STENO_OK;
}

/* Drops the samples before `from` and before those that are kept. */
static void drop(struct aligner_session *a, int64_t from)
{
    int64_t n = (from < a->keep ? from : a->keep) - a->at;
    if (n > n_held(a)) n = n_held(a);
    if (n <= 0) return;
    a->at += n;
    a->pcm.len -= (size_t)n * sizeof(float);
    memmove(a->pcm.p, a->pcm.p + (size_t)n * sizeof(float), a->pcm.len);
}

/* Reads the next samples. @return their number, 0 at the end, or a status */
static int64_t read_piece(steno_session *s, int64_t n)
{
    struct aligner_session *a = aligner_of(s);
    float piece[PIECE];
    const int64_t got = fbank_stream_samples(&a->stream, piece, n < PIECE ? n : PIECE, &s->error);
    if (got > 0) buf_add(&a->pcm, piece, (size_t)got * sizeof *piece);
    return a->pcm.err ? err_nomem(&s->error, a->pcm.len, "the audio of a clip") : got;
}

int aligner_audio_get(steno_session *s, int64_t from, int64_t to, const float **pcm, int64_t *n)
{
    struct aligner_session *a = aligner_of(s);
    int64_t got = from < a->at ? go_back(s) : 1;
    if (got < 0) return (int)got;
    for (got = 1; got > 0 && a->at + n_held(a) < to;) {
        drop(a, from);
        got = read_piece(s, to - a->at - n_held(a));
    }
    if (got < 0) return (int)got;
    drop(a, from);
    const int64_t have = a->at + n_held(a) - from;
    *n = have < 0 ? 0 : have < to - from ? have : to - from;
    *pcm = *n ? (const float *)(const void *)a->pcm.p + (from - a->at) : NULL;
    return STENO_OK;
}

int aligner_audio_end(steno_session *s)
{
    struct aligner_session *a = aligner_of(s);
    int64_t got;
    do {
        drop(a, INT64_MAX);
        got = read_piece(s, PIECE);
        if (session_should_stop(s)) return err_set(&s->error, STENO_ECANCELED, "canceled");
    } while (got > 0);
    return (int)got;
}
