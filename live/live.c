/* steno: live transcription. SPDX-License-Identifier: MIT */
#include "live.h"
#include "chunks.h"
#include "live_pass.h"
#include "live_sound.h"
#include "live_words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 16000, PER_MS = RATE / 1000, CUT_MS = 15000, PROMPT_MAX = 400, HELD_MS = 2000, QUIET_MS = 2000,
       LANGUAGE_MS = 2000 /* with words, before the language is decided */, REST_MS = 10000 /* most between passes over noise */,
       LATE_MS = 200 /* from here on an update waits for newer audio */,
       PASSES_FREE = 2 /* of a turn, before passes continue the text of the last one */ };

struct live {
    struct live_params p;
    struct kept sound;
    struct finder finder;
    struct chunks chunks;
    int64_t late_ms;
    int64_t from;   /* audio before this sample belongs to no new turn */
    int64_t first_ms; /* of a turn to its first update */
    /* The current turn. */
    int turn, open, passes;
    int is_doubtful; /* text of the last pass */
    int64_t begin;  /* its first sample */
    int64_t cut;    /* first sample that the recogniser decodes */
    int64_t pass_end;  /* end of the last pass */
    int64_t update; /* sample at which the next pass is due */
    int64_t sure;   /* final words without a time lie before this sample */
    int64_t close;  /* the sample after its last one, -1: not known yet */
    struct agreement words;
    size_t first;   /* index of its first word among the final words */
    double loudest; /* power of the audio in which the last pass found no words, -1: it found words */
    char *shown;    /* the current partial; NULL: none */
    char *prompt;
    char *prefix;   /* what the text of the next pass begins with; NULL: nothing */
    char language[LIVE_LANGUAGE]; /* of the turn, "": not decided yet */
    char spoken[LIVE_LANGUAGE];   /* of the turn that was decided last, "": none */
    steno_error *e;
    int rc;
};

void live_step_set(struct live *l, int64_t step_ms) { l->p.step_ms = step_ms; }

int64_t live_disagreements(const struct live *l) { return l->words.disagreements; }

static int fail(struct live *l, int rc, const char *why)
{
    if (!l->rc) l->rc = rc;
    if (l->e && rc && !l->e->text[0]) {
        l->e->status = rc;
        snprintf(l->e->text, sizeof l->e->text, "%s", why);
    }
    return rc;
}

static int no_memory(struct live *l) { return fail(l, STENO_ENOMEM, "out of memory for words"); }

static void report_text(struct live *l, enum live_kind kind, const struct words *w, size_t from, const char *text)
{
    const int has = from < w->n;
    const struct words *known = &l->words.known;
    struct live_event e = { .kind = kind, .turn = l->turn, .t0_ms = has ? w->w[from].t0_ms : -1, .t1_ms = has ? w->w[w->n - 1].t1_ms : -1,
                            .decoded_ms = l->pass_end / PER_MS, .now_ms = kept_end(&l->sound) / PER_MS, .text = text,
                            .words = has ? w->w + from : NULL, .n_words = has ? w->n - from : 0 };
    if (kind != LIVE_ENDPOINT) e.spaces = live_words_gap(known, l->first, w == known ? from : known->n, w, from);
    if (kind == LIVE_ENDPOINT) {
        e.t0_ms = l->begin / PER_MS;
        e.t1_ms = l->close / PER_MS;
        e.language = steno_language(l->p.chunks ? l->chunks.session : l->p.session);
    }
    l->p.report(l->p.user, &e);
}

/* Reports words from `from` on. */
static void report(struct live *l, enum live_kind kind, const struct words *w, size_t from)
{
    char *text = live_words_text(w, from, w->n);
    if (text) report_text(l, kind, w, from, text);
    else no_memory(l);
    free(text);
    free(l->shown);
    l->shown = NULL;
}

/* Reports the words that may change as a partial, unless it equals the last one. */
static void report_recent(struct live *l)
{
    const struct words *w = &l->words.recent;
    char *text = live_words_text(w, 0, w->n);
    if (!text) {
        no_memory(l);
        return;
    }
    if (strcmp(text, l->shown ? l->shown : "") != 0) report_text(l, LIVE_PARTIAL, w, 0, text);
    free(l->shown);
    l->shown = text;
}

static void report_turn(struct live *l, enum live_turn what, int64_t at)
{
    if (l->p.turn) l->p.turn(l->p.user, what, l->turn, at / PER_MS);
}

/* ---- passes */

/* As in qwen-asr's streaming, a pass continues the text of the one before. */
static int prefix_decide(struct live *l)
{
    free(l->prefix);
    l->prefix = NULL;
    if (!l->p.prefixed || ++l->passes < PASSES_FREE) return STENO_OK;
    const struct live_prefixing of = { l->p.prefixed, l->p.session, l->p.text.language };
    return live_words_prefix(&l->prefix, l->language, &of) ? no_memory(l) : STENO_OK;
}

/* Language detection encodes the audio again, so the language of a turn is decided once, when it has words. Updates that are too short for
 * that are decoded in the language of the turn before. */
static void language_decide(struct live *l, int64_t end, const struct words *w)
{
    const char *given = l->p.text.language;
    const int is_asked = (!given || strchr(given, ',')) && l->p.has_prompt && !l->language[0];
    if (!is_asked || !w->n || end - l->begin < LANGUAGE_MS * PER_MS) return;
    snprintf(l->language, sizeof l->language, "%s", steno_language(l->p.session));
    memcpy(l->spoken, l->language, sizeof l->spoken);
}

/* Did the last pass find no words, and is the new audio no louder? Then another pass would find none either. */
static int is_as_quiet(const struct live *l, int64_t end)
{
    enum { MARGIN = 125 /* % of a power: 1 dB */ };
    return l->loudest >= 0 && kept_loudest(&l->sound, l->pass_end > l->cut ? l->pass_end : l->cut, end) <= l->loudest * MARGIN / 100;
}

static int pass_run(struct live *l, int64_t end, const steno_transcribe_params *p, int is_last)
{
    struct kept_part part = { kept_from(&l->sound, l->cut), end - l->cut, 0 };
    const steno_source src = kept_source(&part);
    const int rc = l->p.transcribe ? l->p.transcribe(l->p.user, l->p.session, &src, p, is_last) :
                                     steno_transcribe_source(l->p.session, &src, p);
    return rc ? fail(l, rc, steno_last_error(l->p.session)) : STENO_OK;
}

/* The last pass of a turn. A doubtful text of the short one is decoded in the whole window, with temperature fallback. */
static int last_run(struct live *l, int64_t end, const steno_transcribe_params *p)
{
    steno_transcribe_params q = *p;
    pass_shorten(&q, end - l->cut, l->p.audio_padding_ms, l->p.audio_ctx);
    if (l->p.last_pass == LIVE_LAST_WINDOW || q.audio_ctx == p->audio_ctx) return pass_run(l, end, p, 1);
    pass_fill_once(&q);
    const int rc = pass_run(l, end, &q, 1);
    return rc || !pass_is_doubtful(l->p.session) ? rc : pass_run(l, end, p, 1);
}

/* Decodes the turn up to sample `end`. */
static int range_decode(struct live *l, int64_t end, int is_last, struct words *to)
{
    steno_transcribe_params p = l->p.text;
    const int is_brief = pass_is_brief(end - l->cut);
    if (end <= l->cut) return STENO_OK;
    if (l->prompt && l->p.has_prompt) p.initial_prompt = l->prompt;
    if ((!is_last || is_brief || is_as_quiet(l, end)) && l->p.has_prompt) pass_fill_once(&p);
    if (l->p.sample_len) pass_limit(&p, end - l->cut, l->p.sample_len);
    if (l->language[0] && (l->prefix || !l->p.prefixed)) p.language = l->language;
    else if (!is_last && l->spoken[0] && end - l->begin < LANGUAGE_MS * PER_MS) p.language = l->spoken;
    p.prefix = l->prefix;
    if (!is_last) pass_shorten(&p, end - l->cut, l->p.audio_padding_ms, l->p.audio_ctx);
    const int rc = is_last ? last_run(l, end, &p) : pass_run(l, end, &p, 0);
    if (rc) return rc;
    l->loudest = steno_segment_count(l->p.session) ? -1 : kept_loudest(&l->sound, l->cut, end);
    l->is_doubtful = pass_is_doubtful(l->p.session);
    if (pass_words(to, l->p.session, l->cut / PER_MS, is_last && !is_brief)) return no_memory(l);
    language_decide(l, end, to);
    return prefix_decide(l);
}

/* Cuts off audio that is not needed any more: its final words become the prompt. */
static void turn_cut(struct live *l, int64_t now)
{
    if (now - l->cut < CUT_MS * PER_MS) return;
    const int64_t end = agreement_cut(&l->words, l->cut / PER_MS) * PER_MS;
    if (end < 0) return;
    free(l->prompt);
    l->prompt = live_words_tail(&l->words.known, l->words.cut, PROMPT_MAX);
    if (l->prompt) l->cut = end < now ? end : now;
    else no_memory(l);
}

static void report_final(struct live *l, size_t first)
{
    if (l->words.known.n <= first) return;
    report(l, LIVE_FINAL, &l->words.known, first);
    if (l->words.known.w[l->words.known.n - 1].t1_ms < 0) l->sure = l->pass_end;
}

/* Runs one pass, and reports the words that become final. */
static void turn_decode(struct live *l, int64_t end, int is_last)
{
    struct words w = { 0 };
    size_t first;
    const int rc = range_decode(l, end, is_last, &w);
    l->pass_end = end;
    if (!rc && agreement_add(&l->words, &w, is_last, &first)) no_memory(l);
    else if (!rc) report_final(l, first);
    live_words_free(&w);
}

/* Did the last update decode the turn up to its end, as a last pass would? Its audio continues into the pause after the turn. */
static int is_decoded(const struct live *l, int64_t end)
{
    const struct words *w = &l->words.recent;
    if (l->p.last_pass == LIVE_LAST_WINDOW || !l->p.audio_ctx || !pass_is_greedy(&l->p.text)) return 0;
    return l->pass_end > l->begin && l->pass_end >= end && !l->is_doubtful && (!w->n || w->w[w->n - 1].t1_ms <= end / PER_MS + LATE_MS);
}

/* The words of the last update become final. */
static void turn_keep(struct live *l)
{
    size_t first;
    if (agreement_end(&l->words, &first)) no_memory(l);
    else report_final(l, first);
}

static void turn_update(struct live *l, int64_t now)
{
    if (now - l->pass_end < REST_MS * PER_MS && is_as_quiet(l, now)) return;
    turn_decode(l, now, 0);
    if (l->rc) return;
    report_recent(l);
    turn_cut(l, now);
}

/* ---- turns */

static void turn_open(struct live *l, int64_t at)
{
    l->open = 1;
    l->turn++;
    l->begin = l->cut = l->sure = at;
    l->update = at + l->first_ms * PER_MS;
    l->close = -1;
    l->first = 0;
    l->loudest = -1;
    l->pass_end = at;
    l->language[0] = '\0';
    agreement_clear(&l->words);
    free(l->shown);
    free(l->prompt);
    free(l->prefix);
    l->shown = l->prompt = l->prefix = NULL;
    l->passes = 0;
    report_turn(l, LIVE_TURN_OPENS, at);
    if (!l->p.chunks) return;
    const int rc = chunks_begin(&l->chunks, at);
    if (rc) fail(l, rc, steno_last_error(l->chunks.session));
}

/* Ends the turn without an endpoint. */
static void turn_drop(struct live *l, int64_t at)
{
    l->open = 0;
    report_turn(l, LIVE_TURN_DROPPED, at);
    const int rc = l->p.chunks ? chunks_drop(&l->chunks) : STENO_OK;
    if (rc) fail(l, rc, steno_last_error(l->chunks.session));
}

/* A turn without duration is dropped, and its number is used again. */
static int turn_is_none(struct live *l, int64_t at)
{
    if (at - l->begin >= PER_MS) return 0;
    turn_drop(l, at);
    l->turn--;
    return 1;
}

/* The last pass completes the text. */
static void turn_close(struct live *l, int64_t at, enum live_turn what)
{
    if (turn_is_none(l, at)) return;
    l->close = at;
    report_turn(l, what, at);
    if (is_decoded(l, at)) turn_keep(l);
    else turn_decode(l, at, 1);
    if (!l->rc) report(l, LIVE_ENDPOINT, &l->words.known, l->first);
    l->open = 0;
}

/* Where to end a turn that must end by `end`: the quietest place after all final words. */
static int64_t turn_quietest(const struct live *l, int64_t end)
{
    const int64_t half = l->p.turn_most_ms / 2, known = agreement_end_ms(&l->words) * PER_MS;
    int64_t from = end - (half < QUIET_MS ? half : QUIET_MS) * PER_MS;
    if (from < known) from = known;
    if (from < l->sure) from = l->sure;
    return kept_quietest(&l->sound, from > l->cut ? from : l->cut, end);
}

/* Ends the turn after its last final word. The rest belongs to the next turn. It is decoded together with the words before it, so that no
 * word is cut or repeated. */
static void turn_carry(struct live *l, int64_t at)
{
    const int64_t close = l->close;
    l->close = at;
    report_turn(l, LIVE_TURN_BREAKS, at);
    report(l, LIVE_ENDPOINT, &l->words.known, l->first);
    agreement_forget(&l->words);
    l->first = l->words.known.n;
    l->turn++;
    l->begin = l->sure = at;
    l->close = close;
    l->language[0] = '\0';
    report_turn(l, LIVE_TURN_OPENS, at);
}

/* Continues the turn as another one, which decodes the audio after the break again. */
static void turn_break(struct live *l, int64_t end)
{
    const int64_t close = l->close, known = agreement_end_ms(&l->words) * PER_MS;
    if (known >= end - l->p.turn_most_ms / 2 * PER_MS) {
        turn_carry(l, known < end ? known : end);
        return;
    }
    const int64_t at = turn_quietest(l, end);
    turn_close(l, at, LIVE_TURN_BREAKS);
    turn_open(l, at);
    while (l->update <= end) l->update += l->p.step_ms * PER_MS;
    l->close = close;
}

/* The same for models that decode chunk by chunk: their words are final. */
static void chunks_go(struct live *l, int64_t now)
{
    const size_t first = l->words.known.n;
    const int is_over = l->close >= 0 && l->close <= now;
    if (is_over && turn_is_none(l, l->close)) return;
    const int rc = chunks_decode(&l->chunks, is_over ? l->close : now, is_over, &l->words.known);
    if (rc) fail(l, rc, rc == STENO_ENOMEM ? "out of memory for words" : steno_last_error(l->chunks.session));
    if (l->rc) return;
    l->pass_end = is_over ? l->close : l->chunks.given;
    if (is_over) report_turn(l, LIVE_TURN_CLOSES, l->close);
    if (l->words.known.n > first) report(l, LIVE_FINAL, &l->words.known, first);
    if (!is_over) return;
    report(l, LIVE_ENDPOINT, &l->words.known, 0);
    l->open = 0;
}

/* Handles turns; voice activity detection has processed the audio up to sample `now`. */
static void turns_go(struct live *l, int64_t now)
{
    if (l->p.chunks && l->open && !l->rc) chunks_go(l, now);
    if (l->p.chunks) return;
    while (l->open && !l->rc) {
        const int64_t most = l->begin + l->p.turn_most_ms * PER_MS;
        const int64_t end = l->close >= 0 && l->close < most ? l->close : most;
        if (l->update < end && l->update <= now) {
            const int64_t at = l->update;
            const int is_late = l->late_ms >= (l->p.step_ms < LATE_MS ? l->p.step_ms : LATE_MS);
            l->update = is_late ? now + 1 : at + l->p.step_ms * PER_MS;
            if (!is_late) turn_update(l, at);
        } else if (end > now) return;
        else if (l->close == end) turn_close(l, end, LIVE_TURN_CLOSES);
        else turn_break(l, end);
    }
}

/* ---- audio */

static int finder_poll(struct live *l, int is_over)
{
    const int64_t now = kept_end(&l->sound);
    const int rc = finder_look(&l->finder, is_over);
    if (rc) return fail(l, rc, rc == STENO_ENOMEM ? "out of memory for voice activity" : steno_last_error(l->finder.session));
    for (size_t i = 0; i < l->finder.n_edges && !l->rc; i++) {
        const struct edge *g = &l->finder.edge[i];
        const int64_t least = l->sound.at > l->from ? l->sound.at : l->from;
        if (g->t0_ms >= 0 && !l->open) turn_open(l, g->t0_ms * PER_MS > least ? g->t0_ms * PER_MS : least);
        if (g->t1_ms < 0 || !l->open) continue;
        l->close = g->t1_ms * PER_MS < now ? g->t1_ms * PER_MS : now;
        turns_go(l, now);
    }
    return l->rc;
}

void live_params_of(struct live_params *p, const steno_model *m)
{
    p->chunks = live_decodes_chunks(m) ? m : NULL;
    p->has_words = steno_serves(m, STENO_CALL_TRANSCRIBE, "word_timestamps");
    p->has_prompt = steno_serves(m, STENO_CALL_TRANSCRIBE, "condition_on_previous_text");
    steno_model_info info = { .size = sizeof info };
    if (steno_serves(m, STENO_CALL_TRANSCRIBE, "audio_ctx") && !steno_model_info_get(m, &info)) {
        p->audio_ctx = info.n_audio_ctx;
        p->sample_len = info.n_text_ctx / 2;
    }
    p->prefixed = !p->has_prompt && steno_serves(m, STENO_CALL_TRANSCRIBE, "prefix") ? m : NULL;
}

int live_open(struct live **out, const struct live_params *p, steno_error *e)
{
    struct live *l = calloc(1, sizeof *l);
    *out = NULL;
    if (!l) return STENO_ENOMEM;
    l->p = *p;
    l->first_ms = p->step_ms;
    l->p.text.word_timestamps = p->has_words;
    int rc = p->vad ? finder_open(&l->finder, &l->sound, p->vad, p->team, p->find, e) : STENO_OK;
    if (!rc && p->chunks) rc = chunks_open(&l->chunks, &l->sound, p, e);
    if (rc) live_close(l);
    else *out = l;
    return rc;
}

void live_close(struct live *l)
{
    if (!l) return;
    finder_close(&l->finder);
    chunks_close(&l->chunks);
    agreement_free(&l->words);
    kept_free(&l->sound);
    free(l->shown);
    free(l->prompt);
    free(l->prefix);
    free(l);
}

/* Drops audio that no turn needs. */
static void sound_drop(struct live *l)
{
    int64_t from = l->open ? (l->p.chunks ? l->chunks.given : l->cut) : kept_end(&l->sound) - HELD_MS * PER_MS;
    if (l->p.vad && from > l->finder.given) from = l->finder.given;
    kept_drop(&l->sound, from);
}

/* Processes the audio pushed so far. */
static void look(struct live *l)
{
    if (!l->p.vad && !l->open) turn_open(l, l->from);
    if (finder_poll(l, 0)) return;
    turns_go(l, kept_end(&l->sound));
    sound_drop(l);
}

enum { STEP = 512 }; /* samples: audio is processed in steps of this size, however it is pushed */

int live_push(struct live *l, const float *pcm, int64_t n, int64_t late_ms, steno_error *e)
{
    l->e = e;
    l->late_ms = late_ms;
    while (n > 0 && !l->rc) {
        const int64_t room = STEP - kept_end(&l->sound) % STEP, some = n < room ? n : room;
        if (kept_add(&l->sound, pcm, some)) return fail(l, STENO_ENOMEM, "out of memory for sound");
        if (some == room) look(l);
        pcm += some;
        n -= some;
    }
    return l->rc;
}

/* Closes the open turn with all audio so far. */
static int turns_end(struct live *l)
{
    const int64_t now = kept_end(&l->sound);
    if (!l->p.vad && !l->open && now - l->from >= PER_MS) turn_open(l, l->from);
    const int rc = finder_poll(l, 1);
    l->from = now;
    if (rc || !l->open) return rc;
    if (l->close < 0 || l->close > now) l->close = now;
    turns_go(l, now);
    return l->rc;
}

/* What follows is found as if the audio began here. */
static int finder_restart(struct live *l)
{
    const int rc = l->rc ? l->rc : finder_begin(&l->finder, l->from);
    return rc ? fail(l, rc, steno_last_error(l->finder.session)) : STENO_OK;
}

int live_end(struct live *l, steno_error *e)
{
    l->e = e;
    return l->rc ? l->rc : turns_end(l);
}

int live_commit(struct live *l, steno_error *e)
{
    l->e = e;
    return l->rc || turns_end(l) ? l->rc : finder_restart(l);
}

int live_clear(struct live *l, int64_t n, steno_error *e)
{
    l->e = e;
    if (l->rc) return l->rc;
    l->from = kept_end(&l->sound) + n;
    if (l->open) turn_drop(l, l->from);
    kept_clear(&l->sound, l->from);
    return finder_restart(l);
}
