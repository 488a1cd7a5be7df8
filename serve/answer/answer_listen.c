/* steno-serve: a transcript of a file as Deepgram's API gives it. SPDX-License-Identifier: MIT
 *
 * Utterances are made of words, or of segments if the model has no times of words. */
#include "answer_listen.h"
#include "live_words.h"
#include "utf8.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word, or a segment. */
struct unit { const char *text; int64_t t0_ms, t1_ms; double probability; };

static int n_units(const struct transcript *t)
{
    return t->word_times && t->n ? t->first_word[t->n - 1] + t->segs[t->n - 1].n_words : t->n;
}

static struct unit unit_at(const struct transcript *t, int i)
{
    if (t->word_times) {
        const steno_word *w = &t->words[i];
        return (struct unit){ w->text, w->t0_ms, w->t1_ms, w->probability };
    }
    const steno_segment *s = &t->segs[i];
    return (struct unit){ s->text, s->t0_ms, s->t1_ms, exp(s->avg_logprob) };
}

/* ---- members ----------------------------------------------------------------------------------------------------------------- */

/* Without white space at its ends. */
static json_t *text_of(const char *text)
{
    size_t n;
    const char *s = utf8_strip(text, &n);
    json_t *o = json_stringn(s, n);
    return o ? o : json_string("\xef\xbf\xbd"); /* bytes that are not UTF-8 */
}

static json_t *seconds(int64_t ms)
{
    return ms < 0 ? json_null() : json_real((double)ms / 1000);
}

static json_t *probability(double p)
{
    return isfinite(p) ? json_real(p) : json_null();
}

/* Mean over units [from, to). */
static json_t *confidence(const struct transcript *t, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++) sum += unit_at(t, i).probability;
    return probability(to > from ? sum / (to - from) : 0);
}

json_t *listen_word(const char *key, const char *text, json_t *start, json_t *end, double p)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "word", text_of(*key ? key : text), "start", start, "end", end, "confidence",
                     probability(p), "punctuated_word", text_of(text));
}

static json_t *word_of(const struct unit *u)
{
    struct words one = { 0 };
    if (live_words_add(&one, u->text, u->t0_ms, u->t1_ms)) return NULL;
    json_t *word = listen_word(one.w[0].key, u->text, seconds(u->t0_ms), seconds(u->t1_ms), u->probability);
    live_words_free(&one);
    return word;
}

/* Words [from, to). Segments are no words. */
static json_t *words_of(const struct transcript *t, int from, int to)
{
    json_t *list = json_array();
    for (int i = from; list && t->word_times && i < to; i++) {
        const struct unit u = unit_at(t, i);
        if (json_array_append_new(list, word_of(&u))) json_decref(list), list = NULL;
    }
    return list;
}

/* ---- utterances -------------------------------------------------------------------------------------------------------------- */

static json_t *joined(const struct transcript *t, int from, int to)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    for (int i = from; i < to; i++) sink_text(&f, unit_at(t, i).text);
    sink_char(&f, '\0');
    json_t *o = f.failed ? NULL : text_of(m.p);
    free(m.p);
    return o;
}

static json_t *utterance(const struct transcript *t, const struct listen_reply *r, int from, int to, int number)
{
    char id[96];
    snprintf(id, sizeof id, "%s-%d", r->id, number);
    return json_pack("{s:o, s:o, s:o, s:i, s:o, s:o, s:s}", "start", seconds(unit_at(t, from).t0_ms), "end",
                     seconds(unit_at(t, to - 1).t1_ms), "confidence", confidence(t, from, to), "channel", 0, "transcript",
                     joined(t, from, to), "words", words_of(t, from, to), "id", id);
}

/* A pause between units i - 1 and i that ends an utterance. */
static int splits(const struct transcript *t, int i, double most_s)
{
    const int64_t end_ms = unit_at(t, i - 1).t1_ms, begin_ms = unit_at(t, i).t0_ms;
    return end_ms >= 0 && begin_ms >= 0 && (double)(begin_ms - end_ms) / 1000 > most_s;
}

static json_t *utterances(const struct transcript *t, const struct listen_reply *r)
{
    json_t *list = json_array();
    const int n = n_units(t);
    int from = 0;
    for (int i = 1; list && i <= n; i++) {
        if (i < n && !splits(t, i, r->utt_split_s)) continue;
        if (json_array_append_new(list, utterance(t, r, from, i, (int)json_array_size(list)))) json_decref(list), list = NULL;
        from = i;
    }
    return list;
}

/* ---- the object -------------------------------------------------------------------------------------------------------------- */

static json_t *channel(const struct transcript *t, const struct listen_reply *r)
{
    const int n = n_units(t);
    json_t *c = json_pack("{s:[{s:o, s:o, s:o}]}", "alternatives", "transcript", text_of(t->text), "confidence", confidence(t, 0, n),
                          "words", words_of(t, 0, n));
    if (!c || !r->has_language || !t->language) return c;
    if (json_object_set_new(c, "detected_language", json_string(t->language)) ||
        json_object_set_new(c, "language_confidence", t->language_prob > 0 ? json_real(t->language_prob) : json_null()))
        json_decref(c), c = NULL;
    return c;
}

static json_t *metadata(const struct transcript *t, const struct listen_reply *r)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:i, s:[s], s:{s:{s:s, s:s, s:s}}}", "transaction_key", "deprecated", "request_id", r->id,
                     "sha256", "", "created", r->created, "duration", (double)t->duration_ms / 1000, "channels", 1, "models", r->model,
                     "model_info", r->model, "name", r->model, "version", "steno", "arch", r->family);
}

char *answer_listen(const struct transcript *t, const struct listen_reply *r, size_t *n)
{
    json_t *results = json_pack("{s:[o]}", "channels", channel(t, r));
    int bad = !results || (r->has_utterances && json_object_set_new(results, "utterances", utterances(t, r)));
    json_t *o = json_pack("{s:o, s:o}", "metadata", metadata(t, r), "results", results);
    char *text = o && !bad ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
    json_decref(o);
    *n = text ? strlen(text) : 0;
    return text;
}
