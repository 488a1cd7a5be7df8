/* steno: output of the verb stream. SPDX-License-Identifier: MIT */
#include "verbs/stream_text.h"
#include "live_words.h"
#include "cli/message.h"
#include "writers.h"
#include "text_rules.h"
#include <stdlib.h>
#include <string.h>

static void time_put(struct sink *s, const char *name, int64_t ms)
{
    if (ms < 0) sink_format(s, ",\"%s\":null", name);
    else sink_format(s, ",\"%s\":%lld.%03d", name, (long long)(ms / 1000), (int)(ms % 1000));
}

static void text_field(struct sink *s, const char *name, const char *text)
{
    sink_format(s, ",\"%s\":\"", name);
    text_put(s, TEXT_JSON, text, strlen(text));
    sink_char(s, '"');
}

static void put_jsonl(struct stream_text *t, struct sink *s, const struct live_event *e)
{
    static const char *const kind[] = { "partial", "final", "endpoint" };
    sink_format(s, "{\"type\":\"%s\",\"turn\":%d", kind[e->kind], e->turn);
    time_put(s, "start", e->t0_ms);
    time_put(s, "end", e->t1_ms);
    text_field(s, "text", e->text);
    time_put(s, "heard", e->heard_ms);
    if (e->language && e->language[0]) text_field(s, "language", e->language);
    if (e->t1_ms < 0) sink_text(s, ",\"latency_ms\":null}\n");
    else sink_format(s, ",\"latency_ms\":%lld}\n", (long long)stream_sound_latency_ms(t->sound, e->t1_ms, e->now_ms));
}

/* Words are printed one after another, with their own spaces. */
static void put_txt(struct stream_text *t, struct sink *s, const struct live_event *e)
{
    for (size_t i = 0; e->kind == LIVE_FINAL && i < e->n_words; i++) {
        const char *word = e->words[i].text;
        if (!t->in_line) word += strspn(word, " ");
        text_put(s, TEXT_LINE, word, strlen(word));
        t->in_line |= *word != '\0';
    }
    if (e->kind != LIVE_ENDPOINT || !t->in_line) return;
    sink_char(s, '\n');
    t->in_line = 0;
}

/* ---- cues */

/* A word without a time is placed between its neighbours. */
static void words_time(steno_word *to, const struct live_event *e)
{
    int64_t at = e->t0_ms;
    for (size_t i = 0; i < e->n_words; i++) {
        const struct word *w = &e->words[i];
        to[i] = (steno_word){ .size = sizeof *to, .text = w->text, .t0_ms = w->t0_ms < at ? at : w->t0_ms, .t1_ms = w->t1_ms };
        if (to[i].t1_ms >= to[i].t0_ms) at = to[i].t1_ms;
    }
    at = e->t1_ms;
    for (size_t i = e->n_words; i-- > 0;) {
        if (to[i].t1_ms < to[i].t0_ms || to[i].t1_ms > at) to[i].t1_ms = at > to[i].t0_ms ? at : to[i].t0_ms;
        at = to[i].t0_ms;
    }
}

static int count_of(const char *text, const char *what)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p += strlen(what)) n++;
    return n;
}

static void put_turn(struct stream_text *t, struct sink *s, const struct live_event *e, const steno_word *words)
{
    const steno_segment seg = { .size = sizeof seg, .text = e->text, .t0_ms = e->t0_ms, .t1_ms = e->t1_ms, .n_words = (int32_t)e->n_words };
    const int32_t first = 0;
    struct write_layout layout = { .cues = CUE_CHOICE_UNSET };
    layout.cues.on = 1;
    const struct transcript all = { .segs = &seg, .n = 1, .text = e->text, .language = e->language ? e->language : "",
                                    .first_timestamp = -1, .index_offset = t->n_cues, .word_times = 1, .duration_ms = e->t1_ms,
                                    .words = words, .first_word = &first, .layout = &layout };
    struct sink_memory m = { 0 };
    struct sink to = sink_to_memory(&m);
    const int is_vtt = t->form == STREAM_VTT;
    writers[is_vtt ? WRITER_VTT : WRITER_SRT].write(&to, &all);
    const size_t head = is_vtt ? strlen("WEBVTT\n\n") : 0; /* it precedes the first turn */
    s->failed |= to.failed;
    if (!to.failed && m.n > head) {
        sink_bytes(s, m.p + head, m.n - head);
        t->n_cues += count_of(m.p + head, " --> ");
    }
    free(m.p);
}

static void put_cues(struct stream_text *t, struct sink *s, const struct live_event *e)
{
    if (e->kind != LIVE_ENDPOINT || !e->n_words) return;
    steno_word *words = calloc(e->n_words, sizeof *words);
    if (words) {
        words_time(words, e);
        put_turn(t, s, e, words);
    }
    s->failed |= !words;
    free(words);
}

/* ---- events */

/* The output is complete or absent. */
static void print_all(struct stream_text *t, const struct sink *s, const struct sink_memory *m)
{
    if (s->failed) {
        message("out of memory for a line");
        t->code = EXIT_MEMORY;
        return;
    }
    fwrite(m->p ? m->p : "", 1, m->n, stdout);
    t->code = message_flush();
}

void stream_text_begin(struct stream_text *t)
{
    if (t->form != STREAM_VTT) return;
    fputs("WEBVTT\n\n", stdout);
    t->code = message_flush();
}

void stream_text_event(void *user, const struct live_event *e)
{
    struct stream_text *t = user;
    struct sink_memory m = { 0 };
    struct sink s = sink_to_memory(&m);
    if (t->code != EXIT_OK) return;
    t->has_text |= e->text[0] != '\0';
    if (t->form == STREAM_JSONL) put_jsonl(t, &s, e);
    else if (t->form == STREAM_TXT) put_txt(t, &s, e);
    else put_cues(t, &s, e);
    print_all(t, &s, &m);
    free(m.p);
}
