/* steno-serve: messages of Deepgram's streaming API. SPDX-License-Identifier: MIT
 *
 * Final words are sent when they become final. Those that come after the end of the speech are kept until the endpoint, because clients
 * take the text of a result with speech_final for the last one of the utterance. */
#include "listen.h"
#include "answer_listen.h"
#include "live_words.h"
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listen {
    struct listen_config config;
    void (*send)(void *user, const char *text, size_t n);
    void *user;
    char id[80], model[LISTEN_TEXT_SZ], family[16], created[40];
    pthread_mutex_t lock;
    int64_t pushed_ms, done_ms;  /* the end of the audio, and of the final results */
    int64_t last_word_ms;        /* the end of the last final word; -1: none since the last UtteranceEnd */
    int is_speech, is_ending;    /* between the begin and the end of speech; between its end and the endpoint */
    int is_flushing;             /* the audio before a Finalize is being completed, and no result for it was sent */
    int is_finalized;            /* the next result is that one */
    json_t *kept;                /* final words that are kept, NULL: none */
    char *kept_text;
    int64_t kept_from_ms, kept_to_ms;
};

/* ---- messages ------------------------------------------------------------------------------------------------------------------ */

static void put(struct listen *l, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
    if (text) l->send(l->user, text, strlen(text));
    free(text);
    json_decref(message);
}

static json_t *seconds(int64_t ms)
{
    return json_real((double)(ms < 0 ? 0 : ms) / 1000);
}

/* Mean over the words that have one. */
static json_t *confidence(const json_t *words)
{
    double sum = 0;
    int count = 0;
    size_t i;
    json_t *one;
    json_array_foreach(words, i, one) {
        const json_t *p = json_object_get(one, "confidence");
        if (json_is_real(p)) sum += json_real_value(p), count++;
    }
    return count ? json_real(sum / count) : json_array_size(words) ? json_null() : json_real(0);
}

static void put_results(struct listen *l, const char *text, json_t *words, int64_t from_ms, int64_t to_ms, int is_final, int is_end)
{
    const int from_finalize = l->is_finalized;
    if (from_finalize) l->is_flushing = 0;
    if (to_ms < from_ms) to_ms = from_ms;
    put(l, json_pack("{s:s, s:[i,i], s:o, s:o, s:b, s:b, s:b, s:{s:[{s:s, s:o, s:o}]}, s:{s:s, s:{s:s, s:s, s:s}, s:s}}", "type", "Results",
                     "channel_index", 0, 1, "duration", seconds(to_ms - from_ms), "start", seconds(from_ms), "is_final", is_final,
                     "speech_final", is_end, "from_finalize", from_finalize, "channel", "alternatives", "transcript", text, "confidence",
                     confidence(words), "words", words, "metadata", "request_id", l->id, "model_info", "name", l->model, "version", "steno",
                     "arch", l->family, "model_uuid", l->id));
}

static void words_add(json_t *to, const struct live_event *e, int64_t from_ms, int64_t to_ms)
{
    for (const struct word *w = e->words; w < e->words + e->n_words; w++)
        json_array_append_new(to, listen_word(w->key ? w->key : "", w->text, seconds(w->t0_ms < 0 ? from_ms : w->t0_ms),
                                              seconds(w->t1_ms < 0 ? to_ms : w->t1_ms), w->probability));
}

/* ---- results ------------------------------------------------------------------------------------------------------------------- */

/* Sends the final words that are kept. @return 1: there were some */
static int put_kept(struct listen *l, int is_end)
{
    if (!l->kept) return 0;
    put_results(l, l->kept_text, l->kept, l->kept_from_ms, l->kept_to_ms, 1, is_end);
    free(l->kept_text);
    l->kept = NULL;
    l->kept_text = NULL;
    return 1;
}

static void keep_final(struct listen *l, const struct live_event *e, json_t *words, int64_t from_ms, int64_t to_ms)
{
    char *text = strdup(e->text);
    if (!text) {
        put_results(l, e->text, words, from_ms, to_ms, 1, 0);
        return;
    }
    l->kept = words;
    l->kept_text = text;
    l->kept_from_ms = from_ms;
    l->kept_to_ms = to_ms;
}

static void final_words(struct listen *l, const struct live_event *e, int64_t from_ms, int64_t to_ms)
{
    json_t *words = json_array();
    if (!words) return;
    words_add(words, e, from_ms, to_ms);
    put_kept(l, 0);
    if (l->is_ending) keep_final(l, e, words, from_ms, to_ms);
    else put_results(l, e->text, words, from_ms, to_ms, 1, 0);
    l->done_ms = to_ms;
    l->last_word_ms = to_ms;
}

static void check_utterance_end(struct listen *l)
{
    const int64_t end_ms = l->last_word_ms;
    if (!l->config.utterance_end_ms || end_ms < 0 || l->is_speech || l->is_ending) return;
    if (l->pushed_ms < end_ms + l->config.utterance_end_ms) return;
    l->last_word_ms = -1;
    put(l, json_pack("{s:s, s:[i,i], s:o}", "type", "UtteranceEnd", "channel", 0, 1, "last_word_end", seconds(end_ms)));
}

void listen_event(struct listen *l, const struct live_event *e)
{
    pthread_mutex_lock(&l->lock);
    const int64_t from_ms = e->t0_ms >= 0 ? e->t0_ms : l->done_ms, to_ms = e->t1_ms >= 0 ? e->t1_ms : e->decoded_ms;
    if (e->kind == LIVE_FINAL && e->text[0]) final_words(l, e, from_ms, to_ms);
    if (e->kind == LIVE_PARTIAL && e->text[0] && l->config.interim) {
        json_t *words = json_array();
        put_kept(l, 0);
        if (words) words_add(words, e, from_ms, to_ms);
        put_results(l, e->text, words, from_ms, to_ms, 0, 0);
    }
    if (e->kind == LIVE_ENDPOINT) {
        const int is_end = l->config.endpointing;
        l->is_speech = l->is_ending = 0;
        l->is_finalized = l->is_flushing;
        if (!put_kept(l, is_end) && (is_end || l->is_finalized)) put_results(l, "", json_array(), l->done_ms, to_ms, 1, is_end);
        l->is_finalized = 0;
        check_utterance_end(l);
    }
    pthread_mutex_unlock(&l->lock);
}

void listen_speech(struct listen *l, int begins, int64_t at_ms)
{
    pthread_mutex_lock(&l->lock);
    l->is_speech = begins;
    l->is_ending = !begins;
    if (begins && at_ms > l->done_ms) l->done_ms = at_ms;
    if (begins && l->config.vad_events)
        put(l, json_pack("{s:s, s:[i,i], s:o}", "type", "SpeechStarted", "channel", 0, 1, "timestamp", seconds(at_ms)));
    pthread_mutex_unlock(&l->lock);
}

void listen_pushed(struct listen *l, int64_t ms)
{
    pthread_mutex_lock(&l->lock);
    l->pushed_ms = ms;
    check_utterance_end(l);
    pthread_mutex_unlock(&l->lock);
}

void listen_flushing(struct listen *l)
{
    pthread_mutex_lock(&l->lock);
    l->is_flushing = 1;
    pthread_mutex_unlock(&l->lock);
}

/* A Finalize is always answered. */
void listen_flushed(struct listen *l)
{
    pthread_mutex_lock(&l->lock);
    put_kept(l, 0);
    l->is_ending = 0;
    l->is_finalized = l->is_flushing;
    if (l->is_flushing) put_results(l, "", json_array(), l->done_ms, l->done_ms, 1, 0);
    l->is_finalized = 0;
    pthread_mutex_unlock(&l->lock);
}

/* ---- the client's messages ----------------------------------------------------------------------------------------------------- */

static void put_error(struct listen *l, const char *variant, const char *description)
{
    put(l, json_pack("{s:s, s:s, s:s}", "type", "Error", "variant", variant, "description", description));
}

enum listen_message listen_text(struct listen *l, const char *text, size_t n)
{
    enum listen_message m = LISTEN_NOTHING;
    json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const char *type = json_string_value(json_object_get(o, "type"));
    pthread_mutex_lock(&l->lock);
    if (!type) put_error(l, "SchemaError", "A text message must be a JSON object with a type.");
    else if (strcmp(type, "Finalize") == 0) m = LISTEN_FINALIZE;
    else if (strcmp(type, "CloseStream") == 0) m = LISTEN_CLOSE;
    else if (strcmp(type, "KeepAlive") != 0)
        put_error(l, "SchemaError", "The type of a message must be KeepAlive, Finalize or CloseStream.");
    pthread_mutex_unlock(&l->lock);
    json_decref(o);
    return m;
}

void listen_ended(struct listen *l, const char *why)
{
    pthread_mutex_lock(&l->lock);
    put_kept(l, 0);
    if (why) put_error(l, "InternalError", why);
    put(l, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:i, s:[s]}", "type", "Metadata", "transaction_key", "deprecated", "request_id", l->id,
                     "sha256", "", "created", l->created, "duration", seconds(l->pushed_ms), "channels", l->config.channels, "models",
                     l->model));
    pthread_mutex_unlock(&l->lock);
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------- */

struct listen *listen_open(const struct listen_params *p)
{
    struct listen *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->config = *p->config;
    l->send = p->send;
    l->user = p->user;
    l->last_word_ms = -1;
    snprintf(l->id, sizeof l->id, "%s", p->request_id);
    snprintf(l->model, sizeof l->model, "%s", p->model);
    snprintf(l->family, sizeof l->family, "%s", p->family);
    snprintf(l->created, sizeof l->created, "%s", p->created);
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void listen_close(struct listen *l)
{
    if (!l) return;
    json_decref(l->kept);
    free(l->kept_text);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
