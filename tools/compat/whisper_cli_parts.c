/* steno: joins the parts of a sound as whisper.cpp does. SPDX-License-Identifier: MIT */
#include "compat/whisper_cli_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 160 /* samples in a hundredth of a second */ };

int64_t whisper_cli_part_ms(int64_t samples, int64_t offset_ms)
{
    return 10 * (samples / SAMPLES + offset_ms / 10);
}

/* Allocate memory for the contents of n views. */
static int make_room(struct whisper_cli_view *to, const struct whisper_cli_view *from, int n)
{
    size_t segs = 0, tokens = 0, bytes = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < from[i].t.n; k++) {
            tokens += (size_t)from[i].t.segs[k].n_tokens;
            bytes += strlen(from[i].t.segs[k].text) + 1;
        }
        segs += (size_t)from[i].t.n;
    }
    to->segs = calloc(segs + 1, sizeof *to->segs);
    to->tokens = calloc(tokens + 1, sizeof *to->tokens);
    to->ids = calloc(tokens + 1, sizeof *to->ids);
    to->first_token = calloc(segs + 1, sizeof *to->first_token);
    to->speakers = calloc(segs + 1, sizeof *to->speakers);
    to->text = calloc(bytes + 1, 1);
    return to->segs && to->tokens && to->ids && to->first_token && to->speakers && to->text ? 0 : -1;
}

/* `to` already holds the first to->t.n segments, with the given number of tokens and bytes of text. */
static void append(struct whisper_cli_view *to, const struct whisper_cli_view *from, size_t *tokens, size_t *bytes)
{
    for (int k = 0; k < from->t.n; k++) {
        steno_segment *s = &to->segs[to->t.n];
        const size_t n = strlen(from->t.segs[k].text) + 1, n_tokens = (size_t)from->t.segs[k].n_tokens;
        *s = from->t.segs[k];
        s->id = to->t.n;
        s->text = memcpy(to->text + *bytes, from->t.segs[k].text, n);
        memcpy(to->tokens + *tokens, from->t.tokens + from->t.first_token[k], n_tokens * sizeof *to->tokens);
        for (size_t i = 0; i < n_tokens; i++) to->ids[*tokens + i] = to->tokens[*tokens + i].id;
        s->tokens = to->ids + *tokens;
        to->first_token[to->t.n] = (int32_t)*tokens;
        to->t.n++;
        *tokens += n_tokens;
        *bytes += n;
    }
}

/* Join n views, at least one. The result owns all its memory except the language. */
static int gather(struct whisper_cli_view *to, const struct whisper_cli_view *from, int n)
{
    size_t tokens = 0, bytes = 0;
    const struct transcript *t = &from[0].t;
    *to = (struct whisper_cli_view){ .t = { .language = t->language, .first_timestamp = t->first_timestamp, .model = t->model,
                                            .speakers = t->speakers } };
    if (make_room(to, from, n)) return -1;
    for (int i = 0; i < n; i++) append(to, &from[i], &tokens, &bytes);
    to->t.segs = to->segs;
    to->t.tokens = to->tokens;
    to->t.first_token = to->first_token;
    if (to->t.speakers) to->t.speakers = to->speakers;
    return 0;
}

int whisper_cli_parts_add(struct whisper_cli_parts *p, const struct whisper_cli_view *v, int64_t start_ms)
{
    struct whisper_cli_view *part = realloc(p->part, ((size_t)p->n + 1) * sizeof *part);
    if (!part) return -1;
    p->part = part;
    if (!p->n) snprintf(p->language, sizeof p->language, "%s", v->t.language);
    const int bad = gather(&part[p->n], v, 1);
    for (int i = 0; i < part[p->n].t.n; i++) {
        part[p->n].segs[i].t0_ms += start_ms;
        part[p->n].segs[i].t1_ms += start_ms;
    }
    p->n++;
    return bad;
}

int whisper_cli_parts_view(struct whisper_cli_view *v, const struct whisper_cli_parts *p)
{
    if (gather(v, p->part, p->n)) return -1;
    v->t.language = p->language;
    for (int i = p->part[0].t.n > 0 ? p->part[0].t.n : 1; i < v->t.n; i++)
        if (v->segs[i].t0_ms < v->segs[i - 1].t1_ms) v->segs[i].t0_ms = v->segs[i - 1].t1_ms;
    return 0;
}

void whisper_cli_parts_free(struct whisper_cli_parts *p)
{
    for (int i = 0; i < p->n; i++) whisper_cli_view_free(&p->part[i]);
    free(p->part);
    *p = (struct whisper_cli_parts){ 0 };
}
