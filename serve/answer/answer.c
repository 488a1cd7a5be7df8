/* steno-serve: transcripts as bodies of responses. SPDX-License-Identifier: MIT
 *
 * JSON is written by libsteno-output's functions, so a value has the same bytes here and in the program's files. */
#include "answer.h"
#include "answer_tokens.h"
#include "utf8.h"
#include "write.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void answer_usage_take(struct answer_usage *u, const struct transcript *t, int64_t prompt_tokens)
{
    enum { MS_PER_TOKEN = 20 }; /* the encoder has 50 positions a second */
    const int64_t ms = t->duration_ms > 0 ? t->duration_ms : 0;
    *u = (struct answer_usage){ .audio_ms = ms, .audio_tokens = (ms + MS_PER_TOKEN - 1) / MS_PER_TOKEN, .prompt_tokens = prompt_tokens };
    for (int i = 0; i < t->n; i++) u->text_tokens += t->segs[i].n_tokens;
}

/* ---- members ----------------------------------------------------------------------------------------------------------------- */

/* The language of the text: that of a translation is English. */
static struct transcript in_its_language(const struct transcript *t)
{
    struct transcript own = *t;
    if (t->task == STENO_TRANSLATE) {
        own.language = "en";
        own.language_prob = 0;
    }
    return own;
}

static void put_languages(struct sink *f, const struct transcript *t)
{
    if (!t->language || !steno_language_name(t->language)) return;
    sink_text(f, ", \"languages\": [{\"code\": ");
    utf8_json(f, t->language);
    sink_text(f, "}]");
}

/* Of segments from `from` on. */
static void put_logprobs(struct sink *f, const struct transcript *t, int from)
{
    int n = 0;
    sink_text(f, ", \"logprobs\": [");
    for (int i = from; i < t->n && t->tokens; i++)
        for (int32_t k = 0; k < t->segs[i].n_tokens; k++) put_logprob(f, t->model, &t->tokens[t->first_token[i] + k], &n);
    sink_char(f, ']');
}

static void put_duration(struct sink *f, const struct answer_usage *u)
{
    sink_format(f, ", \"usage\": {\"type\": \"duration\", \"seconds\": %" PRId64 "}", (u->audio_ms + 999) / 1000);
}

static void put_tokens(struct sink *f, const struct answer_usage *u)
{
    const int64_t in = u->audio_tokens + u->prompt_tokens;
    sink_format(f, ", \"usage\": {\"type\": \"tokens\", \"input_tokens\": %" PRId64 ", \"input_token_details\": {\"text_tokens\": %" PRId64
                   ", \"audio_tokens\": %" PRId64 "}, \"output_tokens\": %" PRId64 ", \"total_tokens\": %" PRId64 "}",
                in, u->prompt_tokens, u->audio_tokens, u->text_tokens, in + u->text_tokens);
}

/* What the short objects have besides their text. */
static void put_rest(struct sink *f, const struct transcript *t, const struct ask *a)
{
    put_languages(f, t);
    if (a->logprobs) put_logprobs(f, t, 0);
    write_json_post(f, t);
    write_json_lost(f, t, 0);
    write_json_notes(f, t->notes, 0);
}

/* ---- whole bodies ------------------------------------------------------------------------------------------------------------ */

static void put_json(struct sink *f, const struct transcript *t, const struct ask *a)
{
    sink_text(f, "\"text\": ");
    write_json_stripped(f, t->text);
    put_rest(f, t, a);
}

/* Without a choice there are segments; words only if they are asked for. */
static void put_verbose(struct sink *f, const struct transcript *t, const struct ask *a)
{
    const unsigned words = a->granularities & ASK_WORDS ? WRITE_API_WORDS : 0;
    struct transcript own = *t;
    if (!words) own.word_times = 0;
    write_json_api(f, &own, words | (!words || a->granularities & ASK_SEGMENTS ? WRITE_API_SEGMENTS : 0));
}

static void put_speaker(struct sink *f, const struct transcript *t, int seg)
{
    const int32_t *speaker = write_speaker_of(t, seg);
    sink_text(f, ", \"speaker\": ");
    if (!speaker || *speaker < 0) sink_text(f, "null");
    else if (*speaker < 26) sink_format(f, "\"%c\"", 'A' + (int)*speaker);
    else sink_format(f, "\"%" PRId32 "\"", *speaker + 1);
}

static void put_turn(struct sink *f, const struct transcript *t, int seg)
{
    const steno_segment *s = &t->segs[seg];
    double start, end;
    write_seconds(s, t->first_timestamp, &start, &end);
    sink_format(f, "{\"type\": \"transcript.text.segment\", \"id\": \"seg_%d\", \"start\": ", seg);
    if (s->t0_ms < 0) sink_text(f, "null");
    else write_json_number(f, start);
    sink_text(f, ", \"end\": ");
    if (s->t1_ms < 0) sink_text(f, "null");
    else write_json_number(f, end);
    sink_text(f, ", \"text\": ");
    write_json_stripped(f, s->text);
    put_speaker(f, t, seg);
    sink_char(f, '}');
}

static void put_diarized(struct sink *f, const struct transcript *t, const struct ask *a)
{
    sink_format(f, "\"task\": \"%s\", \"duration\": ", t->task == STENO_TRANSLATE ? "translate" : "transcribe");
    write_json_number(f, (double)t->duration_ms / 1000.0);
    sink_text(f, ", \"text\": ");
    write_json_stripped(f, t->text);
    sink_text(f, ", \"segments\": [");
    for (int i = 0; i < t->n; i++) {
        if (i) sink_text(f, ", ");
        put_turn(f, t, i);
    }
    sink_char(f, ']');
    put_rest(f, t, a);
}

/* A writer's file, or an object of the API. */
static const struct format {
    const char *type;
    void (*file)(struct sink *f, const struct transcript *t);
    void (*object)(struct sink *f, const struct transcript *t, const struct ask *a);
} formats[] = {
    [ASK_JSON] = { "application/json", NULL, put_json },
    [ASK_TEXT] = { "text/plain; charset=utf-8", write_txt, NULL },
    [ASK_SRT] = { "application/x-subrip", write_srt, NULL },
    [ASK_VERBOSE_JSON] = { "application/json", NULL, put_verbose },
    [ASK_VTT] = { "text/vtt; charset=utf-8", write_vtt, NULL },
    [ASK_DIARIZED_JSON] = { "application/json", NULL, put_diarized },
    [ASK_TSV] = { "text/tab-separated-values; charset=utf-8", write_tsv, NULL },
};

const char *answer_type(enum ask_format f)
{
    return formats[f].type;
}

char *answer_body(const struct transcript *t, const struct ask *a, const struct answer_usage *u, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    const struct format *k = &formats[a->format];
    const struct transcript own = in_its_language(t);
    if (k->file) k->file(&f, t);
    else {
        sink_char(&f, '{');
        k->object(&f, &own, a);
        put_duration(&f, u);
        sink_char(&f, '}');
    }
    return body_taken(&f, &m, n);
}

char *answer_language(const struct transcript *t, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    const char *name = t->language ? steno_language_name(t->language) : NULL;
    sink_text(&f, "{\"detected_language\": ");
    utf8_json(&f, name ? name : "unknown");
    sink_text(&f, ", \"language_code\": ");
    utf8_json(&f, t->language ? t->language : "unknown");
    sink_text(&f, ", \"confidence\": ");
    write_json_number(&f, t->language_prob);
    sink_char(&f, '}');
    return body_taken(&f, &m, n);
}

/* ---- events ------------------------------------------------------------------------------------------------------------------ */

const char *answer_news(struct answer_stream *st, const char *text, size_t *n)
{
    size_t all;
    const char *s = utf8_strip(text, &all);
    const size_t from = st->sent < all ? st->sent : all;
    st->sent = from + (*n = all - from);
    return s + from;
}

static void begin_delta(struct sink *f, const char *text, size_t n)
{
    sink_text(f, "data: {\"type\": \"transcript.text.delta\", \"delta\": ");
    utf8_json_part(f, text, n);
}

/* In verbose_json a delta has the times of its segment, so that a client shows progress. */
static void put_place(struct sink *f, const steno_segment *seg)
{
    static const char *const key[] = { "start", "end" };
    const int64_t ms[] = { seg->t0_ms, seg->t1_ms };
    for (int i = 0; i < 2; i++)
        if (ms[i] >= 0) sink_format(f, ", \"%s\": %" PRId64 ".%03d", key[i], ms[i] / 1000, (int)(ms[i] % 1000));
}

char *answer_delta(struct answer_stream *st, const steno_session *s, const steno_segment *seg, const steno_model *m, const struct ask *a,
                   size_t *n)
{
    struct sink_memory to = { 0 };
    struct sink f = sink_to_memory(&to);
    size_t len = 0;
    const char *text = st->holds || a->format == ASK_DIARIZED_JSON ? NULL : answer_news(st, steno_text(s), &len);
    if (len) {
        int listed = 0;
        begin_delta(&f, text, len);
        if (a->logprobs) sink_text(&f, ", \"logprobs\": [");
        for (int i = st->n; a->logprobs && i <= seg->id; i++) {
            steno_segment g = { .size = sizeof g };
            steno_segment_get(s, i, &g);
            for (int32_t k = 0; k < g.n_tokens; k++) {
                steno_token tok = { .size = sizeof tok };
                if (!steno_token_get(s, i, k, &tok)) put_logprob(&f, m, &tok, &listed);
            }
        }
        if (a->logprobs) sink_char(&f, ']');
        if (a->format == ASK_VERBOSE_JSON) put_place(&f, seg);
        sink_text(&f, "}\n\n");
        st->n = seg->id + 1;
    }
    return body_taken(&f, &to, n);
}

/* Before the end: what no delta has sent. */
static void put_left(struct sink *f, struct answer_stream *st, const struct transcript *t, const struct ask *a)
{
    size_t n;
    if (a->format == ASK_DIARIZED_JSON) {
        for (int i = 0; i < t->n; i++) {
            sink_text(f, "data: ");
            put_turn(f, t, i);
            sink_text(f, "\n\n");
        }
        return;
    }
    const char *text = answer_news(st, t->text, &n);
    if (!n) return;
    begin_delta(f, text, n);
    if (a->logprobs) put_logprobs(f, t, st->n);
    sink_text(f, "}\n\n");
}

char *answer_done(struct answer_stream *st, const struct transcript *t, const struct ask *a, const struct answer_usage *u, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    const struct transcript own = in_its_language(t);
    put_left(&f, st, &own, a);
    sink_text(&f, "data: {\"type\": \"transcript.text.done\", ");
    if (a->format == ASK_VERBOSE_JSON) put_verbose(&f, &own, a);
    else put_json(&f, &own, a);
    put_tokens(&f, u);
    sink_text(&f, "}\n\n");
    return body_taken(&f, &m, n);
}

char *answer_stream_error(const struct api_error *e, size_t *n)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    char *object = api_error_json(e, n);
    if (!object) return NULL;
    sink_text(&f, "data: ");
    sink_bytes(&f, object, *n);
    sink_text(&f, "\n\n");
    free(object);
    return body_taken(&f, &m, n);
}
