/* steno: words of a stream, output as soon as they are final. SPDX-License-Identifier: MIT
 *
 * A word's pieces may lie in several chunks, and consecutive letters become one word. A word that is open at the end of a chunk waits for
 * the next chunk. So the concatenated texts of all segments are the text of the whole. */
#include <math.h>
#include <string.h>
#include "task/cif/stream_session.h"

enum { FRAME_MS = FBANK_HOP * 1000 / FBANK_RATE };
static double const before_fire = 1.5, longest = 12; /* in frames, as in search/cif_times.c */

/* Frame of the stream at which token i fired. */
static double fired_at(const struct stream_session *v, int32_t i)
{
    return (double)(v->placed - v->n_rows) + v->token[i].first + v->token[i].n - 2; /* frame 0 is the remainder of the last chunk */
}

/* Start of token i in frames. After the last token, the end of the chunk's counted frames. */
static double begins_at(const struct stream_session *v, int32_t i)
{
    if (i == v->n_tokens && v->is_last) return (double)v->placed;
    const double at = i < v->n_tokens ? fired_at(v, i) : (double)(v->placed - v->n_rows + v->chunk[0] + v->chunk[1]);
    return fmax(at - before_fire, 0);
}

/* Appends the text tokens of the run to the waiting ones. */
static void take_tokens(steno_session *s, struct stream_session *v)
{
    const struct cif_model *m = stream_model_of(s->model);
    const double frame_s = fbank_bank_of(s->model)->lfr_n * FRAME_MS / 1000.0;
    for (int32_t i = 0; i < v->n_tokens; i++) {
        const struct best *b = &s->batch->run.argmax.best[v->first + (uint32_t)i];
        const double from = begins_at(v, i), to = begins_at(v, i + 1);
        if (b->id < 0 || b->id == m->blank || b->id == m->bos || b->id == m->eos) continue;
        v->sampled[v->n] = (struct sampled_token){ .id = b->id, .ts_id = -1, .logprob = b->logprob, .p = expf(b->logprob) };
        v->span[v->n][0] = from * frame_s;
        v->span[v->n][1] = fmin(to, from + longest) * frame_s;
        v->ids[v->n++] = b->id;
    }
}

/* Keeps `told` tokens from `from` on, which have been output, and the tokens from `open` on. */
static void drop_tokens(struct stream_session *v, int32_t from, int32_t told, int32_t open)
{
    const int32_t waiting = v->n - open;
    memmove(v->ids, v->ids + from, (size_t)told * sizeof *v->ids);
    memmove(v->sampled, v->sampled + from, (size_t)told * sizeof *v->sampled);
    memmove(v->span, v->span + from, (size_t)told * sizeof *v->span);
    memmove(v->ids + told, v->ids + open, (size_t)waiting * sizeof *v->ids);
    memmove(v->sampled + told, v->sampled + open, (size_t)waiting * sizeof *v->sampled);
    memmove(v->span + told, v->span + open, (size_t)waiting * sizeof *v->span);
    v->n_told = told;
    v->n = told + waiting;
}

/* Outputs words [from, to) as a segment with the tokens up to `open`. */
static int segment_tell(steno_session *s, const struct clip_window *w, size_t from, size_t to, int32_t open)
{
    struct stream_session *v = stream_of(s);
    const struct cif_timed t = { (const double(*)[2])v->span, (double)v->clips.request.from / FBANK_RATE, v->sampled };
    struct clip_found f = { .ids = v->ids + v->n_told, .tokens = v->sampled + v->n_told, .n = open - v->n_told, .before = "" };
    struct segment g = clip_segment_of(s, w);
    if (cif_words_text(&v->words, from, to)) return err_nomem(&s->error, (size_t)f.n, "text");
    if (from && cif_word(&v->words)[from - 1].space) f.before = " ";
    f.text = f.whole = v->words.text.p;
    f.n_text = f.n_whole = v->words.text.len;
    for (int32_t i = 0; i < f.n; i++) f.sum_logprob += f.tokens[i].logprob;
    const int rc = clip_segment_add(s, &g, &f);
    if (rc) return rc;
    cif_words_place(&v->words, from, to, &t, &g);
    if (v->clips.request.p.word_timestamps) cif_words_add(s, &v->words, from, to, &t, &g);
    return clip_segment_tell(s, &g);
}

int stream_settle(steno_session *s, const struct clip_window *w)
{
    struct stream_session *v = stream_of(s);
    int32_t open;
    take_tokens(s, v);
    if (cif_words_make(&v->words, s->model, v->ids, v->n, &open)) return err_nomem(&s->error, (size_t)v->n, "text");
    if (v->is_last || v->n - v->n_told > OPEN_MAX) open = v->n;
    const struct token_word *word = cif_word(&v->words);
    size_t from = 0;
    while (from < cif_words_n(&v->words) && word[from].first < v->n_told) from++; /* several if another word lies within its pieces */
    size_t to = from;
    while (to < cif_words_n(&v->words) && word[to].first < open) to++;
    if (to == from) return STENO_OK;
    const int rc = segment_tell(s, w, from, to, open);
    if (!rc) drop_tokens(v, word[to - 1].first, word[to - 1].n, open);
    return rc;
}
