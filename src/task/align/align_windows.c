/* steno: forced alignment of a known text: window by window along the audio. SPDX-License-Identifier: MIT */
#include <math.h>
#include "task/align/align_text.h"
#include "task/window/window.h"
#include "task/words/words.h"

enum {
    MAX_IDS = 200,      /* ids aligned per window: more than half a minute of fast speech */
    SOAK_WORDS = 4,     /* words aligned behind the last word that counts */
    EDGE_FRAMES = 100,  /* a word that ends closer to the window's end may be cut off; at most a quarter of a window */
    LEAD_FRAMES = 20,   /* audio before an unsettled word that the next window includes; at most an eighth of a window */
    TAIL_FRAMES = 50,   /* audio after the last sound */
    WORD_FRAMES = 4,    /* fastest speech: frames per word */
    WINDOW_MIN = 100,   /* a shorter rest of the audio is not searched for the rest of the text, if full windows are longer */
    MAX_AGAIN = 2,      /* settled words that are aligned again before the next words count as absent */
    MAX_LINES = 3,      /* following lines that are tried next */
};

/* ---- one window ---- */

struct aligner {
    steno_session *s;
    struct mel_stream *mel;
    struct known_text *t;
    const struct words_options *q;
    int32_t head[PROMPT_PREFIX_MAX];
    int32_t n_head, max;  /* max: ids that fit into a window's prompt */
    int32_t edge, lead;   /* EDGE_FRAMES and LEAD_FRAMES, scaled to the model's window */
    int64_t at, to;       /* frames: start of the window, end of the audio; only aligner_seek changes `at` */
    int32_t frames;       /* in the window */
    int32_t begin, end;   /* frames of the window: where sound begins and ends in it */
    int32_t next;         /* the first unsettled word */
    int misses;           /* consecutive windows in which no word was found */
    struct words words;
    struct buf ids, prob, known, sure, level;
};

static int out_of_memory(struct aligner *w)
{
    return err_nomem(&w->s->error, w->ids.len + w->prob.len + w->known.len + w->sure.len, "an alignment");
}

/* Moves the window to frame `at` of the file, always forward, so that every window makes progress. */
static void aligner_seek(struct aligner *w, int64_t at)
{
    w->at = at > w->at ? at : w->at + 1;
}

/* Number of words from `first` on that fit into `max` ids. */
static int32_t words_within(const struct aligner *w, int32_t first, int32_t max)
{
    const struct known_word *c = known_words_of(w->t);
    const int32_t n = known_word_count(w->t);
    int32_t k = first;
    while (k < n && c[k].first + c[k].n - c[first].first <= max) k++;
    return k - first;
}

/* Aligns words [first, first + n). *h describes the result and is valid until the next run. */
static int words_align(struct aligner *w, int32_t first, int32_t n, struct word_attention *h)
{
    steno_session *s = w->s;
    const struct token_roles *t = &s->model->tokens;
    const struct known_word *c = known_words_of(w->t) + first;
    const int32_t n_ids = c[n - 1].first + c[n - 1].n - c[0].first, before = w->n_head + 1, all = before + n_ids + 1;
    const float zero = 0;
    buf_clear(&w->ids);
    buf_clear(&w->prob);
    buf_add(&w->ids, w->head, (size_t)w->n_head * sizeof *w->head);
    buf_add(&w->ids, &t->no_timestamps, sizeof t->no_timestamps);
    buf_add(&w->ids, (const int32_t *)(const void *)w->t->ids.p + c[0].first, (size_t)n_ids * sizeof(int32_t));
    buf_add(&w->ids, &t->eot, sizeof t->eot);
    for (int32_t i = 0; i < all; i++) buf_add(&w->prob, &zero, sizeof zero);
    if (w->ids.err || w->prob.err) return out_of_memory(w);
    const int32_t *ids = (const int32_t *)(const void *)w->ids.p;
    float *prob = (float *)(void *)w->prob.p;
    struct alignment out = { .prob = prob };
    const int rc = align_run(s, &(struct align_place){ s->batch, 0, w->end / 2 }, ids, all, &out);
    if (!rc)
        *h = (struct word_attention){ ids + before, n_ids, prob + before, out.matrix + (size_t)w->n_head * out.ld, out.ld, w->end / 2 };
    return rc;
}

/* Finds which words from `first` on are in this window: [*from, *to), counted from w->next. */
static int words_estimate(struct aligner *w, int32_t first, int32_t *from, int32_t *to)
{
    struct word_attention h;
    const int32_t n = words_within(w, first, w->max);
    const struct known_word *c = known_words_of(w->t) + first;
    const int rc = words_align(w, first, n, &h);
    if (rc) return rc;
    buf_clear(&w->sure);
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        const float *p = h.prob + (c[i].spoken - c[0].first);
        for (int32_t k = 0; k < c[i].n_spoken; k++) sum += (double)p[k];
        sum /= c[i].n_spoken;
        buf_add(&w->sure, &sum, sizeof sum);
    }
    if (w->sure.err) return out_of_memory(w);
    spoken_range((const double *)(const void *)w->sure.p, n, first > w->next ? HEARD_SKIPPING : HEARD_ENOUGH, from, to);
    *from += first - w->next;
    *to += first - w->next;
    return STENO_OK;
}

/* As words_estimate for the next words. If none of them is found, it tries again with up to MAX_AGAIN settled words in front, because their
 * ends may still be in the window. If windows have passed without a result, or no word is settled yet, it tries the following lines. *from
 * < 0: the result includes settled words. */
static int lines_estimate(struct aligner *w, int32_t *from, int32_t *to)
{
    const struct known_word *c = known_words_of(w->t);
    const int32_t n = known_word_count(w->t);
    int32_t first = w->next;
    int rc = words_estimate(w, first, from, to);
    for (int again = 1; again <= MAX_AGAIN && first - again >= 0 && !rc && *from == *to; again++) {
        rc = words_estimate(w, first - again, from, to);
        if (*to <= 0) *from = *to = 0;
    }
    for (int line = 0; (w->misses || !w->next) && line < MAX_LINES && !rc && *from == *to; line++) {
        while (first + 1 < n && c[first + 1].line == c[first].line) first++;
        first++;
        if (first >= n || !words_within(w, first, w->max)) break;
        rc = words_estimate(w, first, from, to);
    }
    return rc;
}

/* Copies the words [first, first + n) with the times of w->words.timing[found] to w->known. A word that is split differently than in the
 * whole text has no time. This happens if the text contains broken UTF-8. */
static void words_read(struct aligner *w, int32_t first, int32_t n, size_t found)
{
    const struct split *split = &w->words.split;
    const struct timing *t = (const struct timing *)(const void *)w->words.timing.p;
    const double offset = (double)w->at / 100;
    buf_clear(&w->known);
    size_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        struct known_word c = known_words_of(w->t)[first + i];
        while (at < found && !split_at(split, at)->len) at++;
        const int same = at < found && split_at(split, at)->n == c.n;
        c.start = same ? round_cents(offset + t[at].start) : NAN;
        c.end = same ? round_cents(offset + t[at].end) : NAN;
        c.probability = same ? t[at].probability : NAN;
        buf_add(&w->known, &c, sizeof c);
        at = same ? at + 1 : found;
    }
}

/* Finds the times of the words [first, first + n), in seconds in the file, and stores them in w->known. */
static int words_clock(struct aligner *w, int32_t first, int32_t n)
{
    struct word_attention h;
    struct words *x = &w->words;
    const struct vocab *v = &w->s->model->vocab;
    double median;
    size_t found;
    int rc = words_align(w, first, n, &h);
    if (rc) return rc;
    rc = words_find(x, v, w->s->model->tokens.n_text, w->q->language, &h, &found);
    if (!rc) rc = timing_trim((struct timing *)(void *)x->timing.p, &x->split, found, &median);
    if (rc) return out_of_memory(w);
    split_merge(&x->split, found, w->q->prepend ? w->q->prepend : WORDS_PREPEND, w->q->append ? w->q->append : WORDS_APPEND);
    words_read(w, first, n, found);
    return w->known.err ? out_of_memory(w) : STENO_OK;
}

/* Settles words [first, first + n) at the times in w->known. Windows overlap, so no word starts before the end of the word before it. */
static void words_settle(struct aligner *w, int32_t first, int32_t n)
{
    struct known_word *to = known_words_of(w->t);
    const struct known_word *c = (const struct known_word *)(const void *)w->known.p;
    double end = -INFINITY;
    for (int32_t i = first; i-- > 0 && end < 0;)
        if (!isnan(to[i].end)) end = to[i].end;
    for (int32_t i = first; i < first + n; i++) {
        if (!(to[i].probability >= c[i - first].probability)) to[i] = c[i - first]; /* keep the alignment with the higher probability */
        if (to[i].start < end) to[i].start = end;
        if (to[i].end < to[i].start) to[i].end = to[i].start;
        end = to[i].end;
    }
    w->next = first + n;
    w->misses = 0;
}

/* Frame of the window in [from, to] around which a tenth of a second is quietest. */
static int64_t pause_between(const struct aligner *w, int64_t from, int64_t to)
{
    enum { SIDE = 5 };
    const double *level = (const double *)(const void *)w->level.p;
    int64_t best = from > 0 ? from : 0;
    double min = INFINITY;
    for (int64_t t = from > SIDE ? from : SIDE; t <= to && t + SIDE < w->frames; t++) {
        double sum = 0;
        for (int64_t i = t - SIDE; i <= t + SIDE; i++) sum += level[i];
        if (sum < min) min = sum, best = t;
    }
    return best;
}

/* Frame of the file between a settled word and the next one. next may be NULL if no next word was aligned. Word ends tend to come out
 * early. */
static int64_t frame_between(const struct aligner *w, const struct known_word *settled, const struct known_word *next)
{
    enum { EARLIER = 10,
           LATER = 40 };
    const int64_t end = (int64_t)nearbyint(settled->end * 100) - w->at, start = next ? (int64_t)nearbyint(next->start * 100) - w->at : end;
    return w->at + pause_between(w, end - EARLIER, (start > end + LATER - EARLIER ? start : end + LATER - EARLIER) + EARLIER);
}

/* Start of the next window when no word was found: the next sound after a pause. The distance grows with the number of misses. */
static int64_t frame_onward(const struct aligner *w, int64_t last)
{
    enum { MIN_FRAMES = 100,
           MAX_FRAMES = 1000,
           PAUSE = 30 };
    const double *level = (const double *)(const void *)w->level.p;
    const int64_t min = w->misses < 3 ? MIN_FRAMES << w->misses : MAX_FRAMES, max = w->at + MAX_FRAMES < last ? w->at + MAX_FRAMES : last;
    const double loud = sound_level(level, w->frames, (double *)(void *)w->level.p + w->frames);
    int64_t quiet = 0;
    for (int64_t t = 0; t < w->frames && w->at + t < max; t++) {
        if (level[t] > loud && quiet >= PAUSE && t >= min) return w->at + t - w->lead;
        quiet = level[t] > loud ? 0 : quiet + 1;
    }
    return max;
}

/* Number of the words w->known[n] that are probable without the words that were in front of them in the first search. */
static int32_t words_confirm(struct aligner *w, int32_t n, int32_t all, int skipped)
{
    const struct known_word *c = (const struct known_word *)(const void *)w->known.p;
    int32_t from, to;
    buf_clear(&w->sure);
    for (int32_t i = 0; i < all; i++) buf_add(&w->sure, &c[i].probability, sizeof c[i].probability);
    if (w->sure.err) return -1;
    spoken_range((const double *)(const void *)w->sure.p, n, skipped ? HEARD_SKIPPING : HEARD_ENOUGH, &from, &to);
    return from ? 0 : to;
}

/* Settles the words that were found in this window, and moves the window on. */
static int window_align(struct aligner *w)
{
    const int64_t end = w->at + w->frames, onward = end >= w->to ? end : end - w->edge;
    int32_t from, to, settled = 0;
    int rc = lines_estimate(w, &from, &to);
    if (rc) return rc;
    const int32_t first = w->next + from, room = words_within(w, first, w->max);
    const int32_t all = to - from + SOAK_WORDS < room ? to - from + SOAK_WORDS : room;
    struct known_word *c = NULL;
    if (to > from) {
        rc = words_clock(w, first, all);
        if (rc) return rc;
        c = (struct known_word *)(void *)w->known.p;
        to = words_confirm(w, to - from, all, from > 0);
        if (to < 0) return out_of_memory(w);
        settled = settled_count(c, to, all, (double)onward / 100);
    }
    const int32_t more = first + settled - w->next;
    if (settled && more > 0) {
        const int64_t min = w->at + more * WORD_FRAMES, next = frame_between(w, &c[settled - 1], settled < all ? &c[settled] : NULL);
        words_settle(w, first, settled);
        aligner_seek(w, next > min ? next : min);
    } else {
        aligner_seek(w, frame_onward(w, onward));
        w->misses++;
    }
    return STENO_OK;
}

static void aligner_free(struct aligner *w)
{
    words_free(&w->words);
    buf_free(&w->ids);
    buf_free(&w->prob);
    buf_free(&w->known);
    buf_free(&w->sure);
    buf_free(&w->level);
}

/* Computes the level of each frame of the window from its log-mel. */
static int levels_measure(struct aligner *w, const float *mel)
{
    const int n_mels = w->mel->n_mels;
    buf_clear(&w->level);
    for (int32_t i = 0; i < 2 * w->frames; i++) { /* twice the size: the second half is scratch for sorting */
        const float *x = mel + (size_t)(i % w->frames) * (size_t)n_mels;
        double sum = 0;
        for (int k = 0; k < n_mels && i < w->frames; k++) sum += (double)x[k];
        const double level = sum / n_mels * 4; /* scaled log-mel is a quarter of log10 power */
        buf_add(&w->level, &level, sizeof level);
    }
    return w->level.err ? out_of_memory(w) : STENO_OK;
}

static int mel_read(struct aligner *w)
{
    const int64_t left = w->to - w->at;
    w->frames = left < w->mel->window ? (int32_t)left : w->mel->window;
    int rc = mel_stream_window(w->mel, w->at, w->frames, 0, window_mel(w->s), &w->s->error);
    if (!rc) rc = levels_measure(w, window_mel(w->s));
    if (rc) return rc;
    double *level = (double *)(void *)w->level.p;
    sound_find(&w->begin, &w->end, level, w->frames, level + w->frames);
    w->end = w->end + TAIL_FRAMES < w->frames ? w->end + TAIL_FRAMES : w->frames;
    return STENO_OK;
}

/* Reads the window at w->at, or moves it to where sound begins. *silent: 1 if there is no sound. */
static int window_read(struct aligner *w, int *silent)
{
    int rc = mel_read(w);
    if (rc) return rc;
    *silent = w->begin == w->frames;
    if (*silent || w->begin > 2 * w->lead) {
        aligner_seek(w, w->at + w->begin - w->lead);
        if (*silent) return STENO_OK;
        rc = mel_read(w);
    }
    w->s->timings.n_windows++;
    return rc ? rc : window_encode(w->s, 0, w->s->model->audio_ctx);
}

static void progress(const struct aligner *w, int64_t from)
{
    const steno_transcribe_params *p = w->s->params;
    if (p && p->on_progress) p->on_progress(p->user, (w->at - from) * 10, (w->to - from) * 10);
}

int text_align(steno_session *s, struct mel_stream *mel, struct known_text *t, const struct words_options *q,
               const struct speech_options *speech, int64_t from, int64_t to)
{
    const int32_t full = mel->window, min = full < WINDOW_MIN ? full : WINDOW_MIN;
    struct aligner w = { .s = s, .mel = mel, .t = t, .q = q, .at = from, .to = to, .edge = full / 4 < EDGE_FRAMES ? full / 4 : EDGE_FRAMES,
                      .lead = full / 8 < LEAD_FRAMES ? full / 8 : LEAD_FRAMES };
    int sot, rc = STENO_OK;
    const int32_t n = known_word_count(t);
    w.n_head = s->model->family->speech->prompt_prefix(s->model, speech, w.head, &sot);
    const int32_t room = s->model->text_ctx - w.n_head - 2;
    w.max = room < MAX_IDS ? room : MAX_IDS;
    while (!rc && w.next < n && w.to - w.at >= min) {
        if (!words_within(&w, w.next, w.max)) { /* a single word exceeds the limit of ids */
            w.next++;
            continue;
        }
        int silent;
        progress(&w, from);
        rc = window_read(&w, &silent);
        if (!rc && !silent) rc = window_align(&w);
    }
    w.at = to;
    if (!rc) progress(&w, from);
    aligner_free(&w);
    return rc;
}
