/* steno: a transcript in whisper.cpp's form. SPDX-License-Identifier: MIT */
#include "compat/whisper_cli_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text of tokens and speakers --------------------------------------------------------------------------------------------- */

const char *whisper_cli_token(char out[WCLI_TOKEN_SZ], const steno_model *m, int32_t id)
{
    static const struct { enum steno_special which; const char *name; } named[] = {
        { STENO_TOKEN_END, "EOT" },       { STENO_TOKEN_START, "SOT" },        { STENO_TOKEN_TRANSLATE, "TRANSLATE" },
        { STENO_TOKEN_TRANSCRIBE, "TRANSCRIBE" }, { STENO_TOKEN_START_LM, "SOLM" }, { STENO_TOKEN_PREVIOUS, "PREV" },
        { STENO_TOKEN_NO_SPEECH, "NOSP" }, { STENO_TOKEN_NO_TIMESTAMPS, "NOT" }, { STENO_TOKEN_TIMESTAMP, "BEG" },
    };
    const int32_t end = steno_token_id(m, STENO_TOKEN_END), time = steno_token_id(m, STENO_TOKEN_TIMESTAMP);
    const int32_t language = id - steno_token_id(m, STENO_TOKEN_LANGUAGE);
    out[0] = '\0';
    if (end < 0 || id < end) {
        const int64_t n = steno_token_bytes(m, id, out, WCLI_TOKEN_SZ - 1);
        out[n > 0 && n < WCLI_TOKEN_SZ ? n : 0] = '\0';
        return out;
    }
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (steno_token_id(m, named[i].which) == id) snprintf(out, WCLI_TOKEN_SZ, "[_%s_]", named[i].name);
    if (!out[0] && time >= 0 && id > time) snprintf(out, WCLI_TOKEN_SZ, "[_TT_%" PRId32 "]", id - time);
    else if (!out[0] && language >= 0 && steno_model_language(m, language))
        snprintf(out, WCLI_TOKEN_SZ, "[_LANG_%s]", steno_model_language(m, language));
    else if (!out[0]) snprintf(out, WCLI_TOKEN_SZ, "[_extra_token_%" PRId32 "]", id);
    return out;
}

const char *whisper_cli_speaker(const int32_t *who)
{
    static const char *const name[] = { "(speaker ?)", "(speaker 0)", "(speaker 1)" };
    return who ? name[*who == 0 ? 1 : *who == 1 ? 2 : 0] : "";
}

char whisper_cli_speaker_letter(const struct transcript *t, int i)
{
    return whisper_cli_speaker(&t->speakers[i])[9];
}

/* ---- a view ------------------------------------------------------------------------------------------------------------------ */

enum { STEP_MS = 20 }; /* of timestamps */

/* State while a view is made: each segment of the transcript becomes one or more segments of the view. */
struct maker {
    struct whisper_cli_view *v;
    const struct transcript *from;
    const struct whisper_cli_rules *rules;
    struct whisper_cli_token *tok; /* [n] of the current segment */
    int n;
    int32_t end, first_timestamp;
    struct whisper_cli_clock clock;
    int n_segs, n_tokens;
    size_t n_text;
    int n_ended;           /* windows whose ends were put */
    int64_t window_ms;     /* start of the last segment's window */
    int32_t window_tokens; /* of the segments of that window */
};

static const char *text_of(char text[WCLI_TOKEN_SZ], const struct maker *k, int i)
{
    return whisper_cli_token(text, k->from->model, k->tok[i].of.id);
}

/* Does a segment begin with a timestamp other than 0.00? */
static int begins_with_time(const struct maker *k, int i)
{
    const steno_segment *seg = &k->from->segs[i];
    return seg->n_tokens > 0 && seg->tokens[0] > k->first_timestamp;
}

/* A text without an end timestamp is followed by the end-of-text token, which whisper.cpp lists. The transcript does not contain this
 * token. Its probability counts in the average, unless the text was cut at its limit. @return 1 if there is such a token */
static int ends_with_eot(const struct maker *k, int i, steno_token *eot)
{
    const steno_segment *seg = &k->from->segs[i];
    const steno_token *tok = k->from->tokens + k->from->first_token[i];
    double sum = 0;
    for (int32_t j = 0; j < seg->n_tokens; j++) {
        if (tok[j].id > k->first_timestamp) return 0;
        sum += (double)tok[j].logprob;
    }
    const double others = seg->avg_logprob * seg->n_tokens;
    if (sum < 0 && fabs(others - sum) <= -1e-9 * sum) return 0;
    const double logprob = fmin(others + seg->avg_logprob - sum, 0);
    *eot = (steno_token){ .size = sizeof *eot, .id = k->end, .p = (float)exp(logprob), .logprob = (float)logprob,
                          .t0_ms = -1, .t1_ms = -1, .t_dtw_ms = -1 };
    return 1;
}

static void take_token(struct maker *k, const steno_token *of)
{
    char text[WCLI_TOKEN_SZ];
    struct whisper_cli_token *tok = &k->tok[k->n];
    *tok = (struct whisper_cli_token){ .of = *of, .t0 = -1, .t1 = -1, .is_text = of->id < k->end };
    tok->vlen = whisper_cli_voice_length(text_of(text, k, k->n++));
}

/* Copy tokens [first, n) of segment i with their times. */
static void take_tokens(struct maker *k, int i, int32_t first, int32_t n, int64_t t1_ms)
{
    const struct transcript *t = k->from;
    steno_token eot;
    k->n = 0;
    for (int32_t j = first; j < n; j++) take_token(k, &t->tokens[t->first_token[i] + j]);
    if (ends_with_eot(k, i, &eot)) take_token(k, &eot);
    if (k->rules->sound)
        whisper_cli_times(k->tok, k->n, t->segs[i].t0_ms / 10, t1_ms / 10, &k->clock, k->first_timestamp, k->rules->threshold,
                          k->rules->sound);
}

/* The number of characters that begin in a text. */
static int32_t count_of(const char *text)
{
    int32_t n = 0;
    for (; *text; text++) n += (*text & 0xc0) != 0x80;
    return n;
}

/* The end of the piece that begins with token `from`; never inside a character. */
static int piece_end(const struct maker *k, int from)
{
    char text[WCLI_TOKEN_SZ];
    int32_t length = 0;
    for (int i = from; i < k->n; i++) {
        if (!k->tok[i].is_text) continue;
        text_of(text, k, i);
        const int32_t n = count_of(text);
        const int may = i > from && (text[0] & 0xc0) != 0x80 && (!k->rules->by_words || text[0] == ' ');
        if (k->rules->max_len && length + n > k->rules->max_len && may) return i;
        length += n;
    }
    return k->n;
}

static void add_text(struct maker *k, const char *text)
{
    const size_t n = strlen(text);
    memcpy(k->v->text + k->n_text, text, n);
    k->n_text += n;
}

/* Write tokens [from, to) of segment `seg` as one segment of the view, with `before` in front of its text. */
static void put_piece(struct maker *k, int seg, int from, int to, const char *before)
{
    struct whisper_cli_view *v = k->v;
    char text[WCLI_TOKEN_SZ];
    const int cuts = k->rules->max_len != 0, special = !cuts && k->rules->special;
    steno_segment *s = &v->segs[k->n_segs];
    *s = k->from->segs[seg];
    s->id = k->n_segs;
    s->tokens = v->ids + k->n_tokens;
    s->n_tokens = to - from;
    if (from) s->t0_ms = k->tok[from].t0 * 10;
    if (to < k->n) s->t1_ms = k->tok[to].t0 * 10;
    if (to < k->n) s->speaker_turn = 0;
    if (cuts || special) s->text = v->text + k->n_text;
    v->first_token[k->n_segs] = k->n_tokens;
    if (v->t.speakers) v->speakers[k->n_segs] = k->from->speakers[seg];
    if (special) add_text(k, before);
    for (int i = from; i < to; i++) {
        steno_token *tok = &v->tokens[k->n_tokens];
        *tok = k->tok[i].of;
        tok->t0_ms = k->tok[i].t0 < 0 ? -1 : k->tok[i].t0 * 10;
        tok->t1_ms = k->tok[i].t1 < 0 ? -1 : k->tok[i].t1 * 10;
        v->ids[k->n_tokens++] = tok->id;
        if (special || (cuts && k->tok[i].is_text)) add_text(k, text_of(text, k, i));
    }
    k->n_text++; /* the NUL is already written */
    k->n_segs++;
}

/* Set the times of a segment that is a timestamp only. */
static void place_time(const struct maker *k, steno_segment *s, int64_t ms)
{
    s->t0_ms = s->t1_ms = ms;
    if (k->rules->join) join_segment(k->rules->join, s);
}

static void put_segment(struct maker *k, int i)
{
    char before[WCLI_TOKEN_SZ] = "";
    const struct transcript *t = k->from;
    const int timed = begins_with_time(k, i), first = !i || t->segs[i - 1].seek_frames != t->segs[i].seek_frames;
    if (timed && k->rules->special && first) { /* a segment of its own, without length */
        take_tokens(k, i, 0, 1, t->segs[i].t0_ms);
        put_piece(k, i, 0, 1, "");
        place_time(k, &k->v->segs[k->n_segs - 1], t->segs[i].seek_frames * 10 + (t->segs[i].tokens[0] - k->first_timestamp) * STEP_MS);
    } else if (timed) {
        whisper_cli_token(before, t->model, t->segs[i].tokens[0]);
    }
    take_tokens(k, i, timed, t->segs[i].n_tokens, t->segs[i].t1_ms);
    for (int from = 0, to; from < k->n || !from; from = to) {
        to = piece_end(k, from);
        put_piece(k, i, from, to, from ? "" : before);
        if (!k->n) break;
    }
}

/* With special tokens, put the last timestamp of a window if its segments do not contain it: a segment without tokens. */
static void put_end(struct maker *k, const struct whisper_cli_end *end)
{
    struct whisper_cli_view *v = k->v;
    char text[WCLI_TOKEN_SZ];
    const int32_t n = k->window_ms == end->at_ms ? k->window_tokens : 0;
    if (!k->rules->special || n != end->n_tokens - 1) return;
    steno_segment *s = &v->segs[k->n_segs];
    *s = (steno_segment){ .size = sizeof *s, .id = k->n_segs, .seek_frames = end->at_ms / 10,
                          .tokens = v->ids + k->n_tokens, .text = v->text + k->n_text };
    place_time(k, s, end->next_ms);
    v->first_token[k->n_segs++] = k->n_tokens;
    if (!k->rules->max_len)
        add_text(k, whisper_cli_token(text, k->from->model, k->first_timestamp + (int32_t)((end->next_ms - end->at_ms) / STEP_MS)));
    k->n_text++;
}

/* Put the ends of the windows that begin before `until_ms`. */
static void put_ends(struct maker *k, int64_t until_ms)
{
    for (; k->n_ended < k->rules->n_ends && k->rules->ends[k->n_ended].at_ms < until_ms; k->n_ended++)
        put_end(k, &k->rules->ends[k->n_ended]);
}

static void count_tokens(struct maker *k, const steno_segment *s)
{
    if (k->window_ms != s->seek_frames * 10) k->window_tokens = 0;
    k->window_ms = s->seek_frames * 10;
    k->window_tokens += s->n_tokens;
}

/* Is any token of segment i shown? With special tokens, an end of text alone is shown, too. */
static int is_shown(const struct maker *k, int i)
{
    steno_token eot;
    return k->from->segs[i].text[0] || (k->rules->special && !k->rules->max_len && !k->from->segs[i].n_tokens && ends_with_eot(k, i, &eot));
}

/* Allocate memory for the maximum number of segments: one per token, plus an end of text. */
static int view_begin(struct maker *k, size_t *most)
{
    const struct transcript *t = k->from;
    char text[WCLI_TOKEN_SZ];
    size_t n = (size_t)k->rules->n_ends, bytes = n * WCLI_TOKEN_SZ;
    *most = 0;
    for (int i = 0; i < t->n; i++) {
        n += (size_t)t->segs[i].n_tokens + 3;
        if ((size_t)t->segs[i].n_tokens > *most) *most = (size_t)t->segs[i].n_tokens;
        for (int32_t j = 0; j < t->segs[i].n_tokens; j++)
            bytes += strlen(whisper_cli_token(text, t->model, t->segs[i].tokens[j])) + 1;
        bytes += 2 + 2 * WCLI_TOKEN_SZ;
    }
    struct whisper_cli_view *v = k->v;
    v->segs = calloc(n + 1, sizeof *v->segs);
    v->tokens = calloc(n + 1, sizeof *v->tokens);
    v->ids = calloc(n + 1, sizeof *v->ids);
    v->first_token = calloc(n + 1, sizeof *v->first_token);
    v->speakers = calloc(n + 1, sizeof *v->speakers);
    v->text = calloc(bytes + 1, 1);
    k->tok = calloc(*most + 2, sizeof *k->tok);
    return v->segs && v->tokens && v->ids && v->first_token && v->speakers && v->text && k->tok ? 0 : -1;
}

int whisper_cli_view(struct whisper_cli_view *v, const struct transcript *t, const struct whisper_cli_rules *rules)
{
    struct maker k = { .v = v, .from = t, .rules = rules, .end = steno_token_id(t->model, STENO_TOKEN_END),
                       .first_timestamp = t->first_timestamp, .window_ms = -1 };
    size_t most;
    *v = (struct whisper_cli_view){ .t = *t };
    const int bad = view_begin(&k, &most);
    for (int i = 0; i < t->n && !bad; i++) {
        put_ends(&k, t->segs[i].seek_frames * 10);
        if (is_shown(&k, i)) put_segment(&k, i);
        count_tokens(&k, &t->segs[i]);
    }
    if (!bad) put_ends(&k, INT64_MAX);
    v->t.segs = v->segs;
    v->t.n = k.n_segs;
    v->t.tokens = v->tokens;
    v->t.first_token = v->first_token;
    if (t->speakers) v->t.speakers = v->speakers;
    free(k.tok);
    return bad;
}

void whisper_cli_view_free(struct whisper_cli_view *v)
{
    free(v->segs);
    free(v->tokens);
    free(v->ids);
    free(v->first_token);
    free(v->speakers);
    free(v->text);
}

/* ---- parts of a sound, joined ------------------------------------------------------------------------------------------------ */

enum { SAMPLES = 160 /* samples in a hundredth of a second */ };

int64_t whisper_cli_part_ms(int64_t samples, int64_t offset_ms)
{
    return 10 * (samples / SAMPLES + offset_ms / 10);
}

/* Allocate memory for the contents of n views. */
static int parts_room(struct whisper_cli_view *to, const struct whisper_cli_view *from, int n)
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
static void parts_append(struct whisper_cli_view *to, const struct whisper_cli_view *from, size_t *tokens, size_t *bytes)
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
static int parts_join(struct whisper_cli_view *to, const struct whisper_cli_view *from, int n)
{
    size_t tokens = 0, bytes = 0;
    const struct transcript *t = &from[0].t;
    *to = (struct whisper_cli_view){ .t = { .language = t->language, .first_timestamp = t->first_timestamp, .model = t->model,
                                            .speakers = t->speakers } };
    if (parts_room(to, from, n)) return -1;
    for (int i = 0; i < n; i++) parts_append(to, &from[i], &tokens, &bytes);
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
    const int bad = parts_join(&part[p->n], v, 1);
    for (int i = 0; i < part[p->n].t.n; i++) {
        part[p->n].segs[i].t0_ms += start_ms;
        part[p->n].segs[i].t1_ms += start_ms;
    }
    p->n++;
    return bad;
}

int whisper_cli_parts_view(struct whisper_cli_view *v, const struct whisper_cli_parts *p)
{
    if (parts_join(v, p->part, p->n)) return -1;
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
