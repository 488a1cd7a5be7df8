/* steno-serve: items of a realtime transcription. SPDX-License-Identifier: MIT */
#include "live.h"
#include "live_words.h"
#include "realtime_state.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOGPROB_LEAST = -100 }; /* JSON has no infinity */
#define PREFIX "conversation.item.input_audio_transcription."

static void no_memory(struct realtime *rt) { out_event(rt, "", NULL); }

/* ---- the list ---------------------------------------------------------------------------------------------------------------- */

struct realtime_item *item_open(struct realtime *rt, int64_t begin_ms)
{
    struct realtime_item *it = calloc(1, sizeof *it), **end = &rt->items;
    if (!it) {
        no_memory(rt);
        return NULL;
    }
    snprintf(it->id, sizeof it->id, "item_%s_%d", rt->seed, ++rt->n_items);
    it->begin_ms = it->end_ms = begin_ms;
    it->begins_turn = 1;
    while (*end) end = &(*end)->next;
    return *end = it;
}

struct realtime_item *item_writing(struct realtime *rt) { return rt->items ? rt->items : item_open(rt, rt->commit_ms); }

struct realtime_item *item_filling(struct realtime *rt)
{
    struct realtime_item *it = rt->items;
    while (it && it->next) it = it->next;
    return it && !it->is_committed ? it : NULL;
}

void item_drop(struct realtime *rt, struct realtime_item *it)
{
    for (struct realtime_item **at = &rt->items; *at; at = &(*at)->next) {
        if (*at != it) continue;
        *at = it->next;
        json_decref(it->words);
        json_decref(it->logprobs);
        free(it->text);
        free(it);
        return;
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------------------ */

static void send_item(struct realtime *rt, const struct realtime_item *it, const char *type, const char *transcript)
{
    json_t *content = json_pack("{s:s,s:s?}", "type", "input_audio", "transcript", transcript);
    json_t *item = content ? json_pack("{s:s,s:s,s:s,s:s,s:s,s:[o]}", "id", it->id, "object", "realtime.item", "type", "message",
                                       "role", "user", "status", "completed", "content", content) : NULL;
    out_event(rt, type, item ? json_pack("{s:s?,s:o}", "previous_item_id", it->previous[0] ? it->previous : NULL, "item", item) : NULL);
}

void item_commit(struct realtime *rt, struct realtime_item *it, int64_t end_ms)
{
    if (it->is_committed) return;
    it->is_committed = 1;
    it->end_ms = end_ms < it->begin_ms ? it->begin_ms : end_ms;
    if (it->is_turn) out_event(rt, "input_audio_buffer.speech_stopped", json_pack("{s:s,s:I}", "item_id", it->id, "audio_end_ms",
                                                                                (json_int_t)it->end_ms));
    memcpy(it->previous, rt->last_id, sizeof it->previous);
    memcpy(rt->last_id, it->id, sizeof rt->last_id);
    out_event(rt, "input_audio_buffer.committed", json_pack("{s:s?,s:s}", "previous_item_id", it->previous[0] ? it->previous : NULL,
                                                            "item_id", it->id));
    send_item(rt, it, rt->p.is_beta ? "conversation.item.created" : "conversation.item.added", NULL);
    if (rt->commit_ms < it->end_ms) rt->commit_ms = it->end_ms;
    rt->n_committed++;
}

static void send_completed(struct realtime *rt, const struct realtime_item *it)
{
    const json_int_t seconds = (it->end_ms - it->begin_ms + 999) / 1000;
    const char *text = it->text ? it->text : "";
    json_t *fields = json_pack("{s:s,s:i,s:s,s:{s:s,s:I}}", "item_id", it->id, "content_index", 0, "transcript", text, "usage", "type",
                               "duration", "seconds", seconds);
    if (fields && it->language[0] && json_object_set_new(fields, "languages", json_pack("[{s:s}]", "code", it->language))) {
        json_decref(fields);
        fields = NULL;
    }
    if (fields && it->words) json_object_set(fields, "words", it->words);
    if (fields && it->logprobs) json_object_set(fields, "logprobs", it->logprobs);
    out_event(rt, PREFIX "completed", fields);
    if (!rt->p.is_beta) send_item(rt, it, "conversation.item.done", text);
    rt->n_failures = 0;
}

static void send_failed(struct realtime *rt, const struct realtime_item *it)
{
    out_event(rt, PREFIX "failed", json_pack("{s:s,s:i,s:{s:s,s:s,s:s,s:n}}", "item_id", it->id, "content_index", 0, "error", "type",
                                             "server_error", "code", "transcription_failed", "message", it->lost, "param"));
}

void item_complete(struct realtime *rt)
{
    if (rt->items->lost[0]) send_failed(rt, rt->items);
    else send_completed(rt, rt->items);
    item_drop(rt, rt->items);
}

void item_lose(struct realtime_item *it, const char *why)
{
    snprintf(it->lost, sizeof it->lost, "%s", *why ? why : "the transcription failed");
    for (char *p = it->lost; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p > '~') *p = '?'; /* it may be cut within a character */
}

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

/* Is there a space between these texts? Scripts without spaces have none. */
static int has_space_between(const char *before, const char *text)
{
    struct words w = { 0 };
    const char *last = strrchr(before, ' ');
    int is = 1;
    if (!live_words_add(&w, last ? last : before, -1, -1) && !live_words_add_text(&w, text, -1, -1) && w.n > 1) is = w.w[1].text[0] == ' ';
    live_words_free(&w);
    return is;
}

/* Words [from, n) of the event as they continue the item's text, malloc'd; NULL: out of memory. */
static char *continued(const struct realtime_item *it, const struct word *words, size_t n_words, const char *text)
{
    size_t n = strlen(text) + 2;
    for (size_t i = 0; i < n_words; i++) n += strlen(words[i].text);
    char *out = malloc(n), *end = out;
    if (!out) return NULL;
    if (!n_words) text += strspn(text, " ");
    else text = words[0].text;
    const int is_new = it->begins_turn || !n_words; /* its spaces are not those of the text so far */
    if (!it->n || is_new) text += strspn(text, " ");
    if (it->n && is_new && *text && has_space_between(it->text, text)) *end++ = ' ';
    end = stpcpy(end, text);
    for (size_t i = 1; i < n_words; i++) end = stpcpy(end, words[i].text);
    while (end > out && end[-1] == ' ') end--;
    *end = '\0';
    return out;
}

/* @return 0, or -1: out of memory */
static int text_append(struct realtime_item *it, const char *text)
{
    const size_t n = strlen(text);
    if (it->n + n + 1 > it->cap) {
        const size_t cap = (it->n + n + 1) * 2;
        char *more = realloc(it->text, cap);
        if (!more) return -1;
        it->text = more;
        it->cap = cap;
    }
    if (it->begins_turn) it->turn_from = it->n + (it->n && *text == ' ');
    it->begins_turn = 0;
    memcpy(it->text + it->n, text, n + 1);
    it->n += n;
    return 0;
}

static json_t *seconds(int64_t base_ms, int64_t ms) { return ms < 0 ? json_null() : json_real((double)(base_ms + ms) / 1000); }

static json_t *words_json(int64_t base_ms, const struct word *words, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n && list; i++) {
        const char *text = words[i].text + strspn(words[i].text, " ");
        json_t *one = json_pack("{s:s}", "word", text);
        int rc = json_object_set_new(one, "start", seconds(base_ms, words[i].t0_ms));
        if (!rc) rc = json_object_set_new(one, "end", seconds(base_ms, words[i].t1_ms));
        if (!json_array_append_new(list, one) && !rc) continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}

static json_t *logprob_json(const char *text, size_t n, double probability)
{
    json_t *bytes = json_array();
    for (size_t i = 0; i < n && bytes; i++)
        if (json_array_append_new(bytes, json_integer((unsigned char)text[i]))) json_decref(bytes), bytes = NULL;
    const double p = log(probability);
    return json_pack("{s:o,s:f,s:o}", "token", json_stringn(text, n), "logprob", p > LOGPROB_LEAST ? p : LOGPROB_LEAST, "bytes", bytes);
}

/* Of the words of a delta, as they stand in its text. Words whose probability is not known have no entry. */
static json_t *logprobs_json(const char *text, const struct word *words, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n && list && *text; i++) {
        const char *word = words[i].text + (i ? 0 : strspn(words[i].text, " "));
        size_t length = strlen(word) + (i || *text != ' ' ? 0 : 1);
        if (length > strlen(text)) length = strlen(text);
        if (isfinite(words[i].probability) && json_array_append_new(list, logprob_json(text, length, words[i].probability)))
            json_decref(list), list = NULL;
        text += length;
    }
    return list;
}

/* Adds a list to a delta, and to those of its item. @return the delta; NULL: out of memory */
static json_t *list_add(json_t *fields, const char *key, json_t *list, json_t **all)
{
    if (list && !*all) *all = json_array();
    if (list && *all) json_array_extend(*all, list);
    if (!json_object_set_new(fields, key, list)) return fields;
    json_decref(fields);
    return NULL;
}

static void delta(struct realtime *rt, struct realtime_item *it, const char *text, const struct word *words, size_t n_words)
{
    json_t *fields = json_pack("{s:s,s:i,s:s}", "item_id", it->id, "content_index", 0, "delta", text);
    if (rt->config.include & REALTIME_WORDS) fields = list_add(fields, "words", words_json(rt->base_ms, words, n_words), &it->words);
    if (rt->config.include & REALTIME_LOGPROBS) fields = list_add(fields, "logprobs", logprobs_json(text, words, n_words), &it->logprobs);
    if (text_append(it, text)) no_memory(rt);
    else out_event(rt, PREFIX "delta", fields);
}

/* What an endpoint has after the final words of its turn. */
static const char *rest_of(const struct realtime_item *it, const char *text)
{
    const char *turn = it->begins_turn || !it->text ? "" : it->text + it->turn_from;
    const size_t n = strlen(turn);
    return strncmp(turn, text, n) ? "" : text + n;
}

void item_words(struct realtime *rt, struct realtime_item *it, const struct live_event *e)
{
    const int is_end = e->kind == LIVE_ENDPOINT;
    const size_t n_words = is_end ? 0 : e->n_words;
    const char *text = is_end ? rest_of(it, e->text) : e->text;
    if (is_end && e->language) snprintf(it->language, sizeof it->language, "%s", e->language);
    if (*text) {
        char *more = is_end && !it->begins_turn ? strdup(text) : continued(it, e->words, n_words, text);
        if (!more) no_memory(rt);
        else if (*more) delta(rt, it, more, e->words, n_words);
        free(more);
    }
    if (is_end) it->begins_turn = 1;
}

void item_partial(struct realtime *rt, struct realtime_item *it, const struct live_event *e)
{
    out_event(rt, "steno.partial", json_pack("{s:s,s:s,s:f,s:f}", "item_id", it->id, "text", e->text, "start",
                                             (double)(rt->base_ms + (e->t0_ms < 0 ? 0 : e->t0_ms)) / 1000, "end",
                                             (double)(rt->base_ms + (e->t1_ms < 0 ? e->decoded_ms : e->t1_ms)) / 1000));
}
