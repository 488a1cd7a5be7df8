/* steno: segments and words of a clip from pieces with times. SPDX-License-Identifier: MIT */
#include "task/clips/clip_pieces.h"
#include <math.h>
#include <string.h>
#include "text/words.h"

struct pieces_job {
    const steno_model *m;
    steno_session *s;
    const struct clip_window *w;
    const struct clip_pieces *p;
    struct buf *scratch;
};

/* The last row of a clip, and a token's duration, may end after the clip. */
static double time_of(const struct pieces_job *j, int32_t row)
{
    const double at = (double)j->w->at / FBANK_RATE + (double)row * j->p->row_ms / 1000, end = (double)j->w->end / FBANK_RATE;
    return at < end ? at : end;
}

/* Does piece i begin a word? */
static int begins(const struct pieces_job *j, int32_t i)
{
    const struct steno_model *m = j->m;
    const int32_t id = j->p->ids[i];
    return m->vocab.len[id] && m->vocab.bytes[id][0] == ' ' && !m->family->pieces->is_mark(m, id);
}

/* The text of pieces [from, to), without spaces around it. */
static int text_of(const struct pieces_job *j, int32_t from, int32_t to, const char **text, size_t *n)
{
    const struct steno_model *m = j->s->model;
    struct buf bytes = { 0 };
    buf_clear(j->scratch);
    m->family->pieces->text(m, j->p->ids + from, to - from, &bytes);
    utf8_append_string(j->scratch, (const uint8_t *)bytes.p, bytes.len);
    const int failed = bytes.err || j->scratch->err;
    buf_free(&bytes);
    *text = j->scratch->p ? j->scratch->p : "";
    *n = j->scratch->len;
    text_strip(text, n);
    return failed ? err_nomem(&j->s->error, j->scratch->len, "text") : STENO_OK;
}

static int word_add(const struct pieces_job *j, struct segment *g, int32_t from, int32_t to)
{
    struct result *r = &j->s->result;
    struct word w = { .start = time_of(j, j->p->rows[from].begin), .end = time_of(j, j->p->rows[to - 1].end), .text = r->text.len,
                      .n_tokens = to - from };
    const char *text;
    size_t n;
    const int rc = text_of(j, from, to, &text, &n);
    if (rc || !n) return rc;
    for (int32_t i = from; i < to; i++) w.probability += (double)j->p->tokens[i].p / (to - from);
    if (g->n_words) buf_str(&r->text, " ");
    buf_add(&r->text, text, n);
    buf_add(&r->text, "", 1);
    buf_add(&r->words, &w, sizeof w);
    g->n_words++;
    return STENO_OK;
}

static int words_add(const struct pieces_job *j, struct segment *g, int32_t from, int32_t to)
{
    int rc = STENO_OK;
    g->first_word = j->s->result.words.len / sizeof(struct word);
    for (int32_t i = from, end; i < to && !rc; i = end) {
        for (end = i + 1; end < to && !begins(j, end);) end++;
        rc = word_add(j, g, i, end);
    }
    if (g->n_words) g->word_source = j->p->source;
    return rc;
}

/* Pieces [from, to) as a segment. Pieces without text make none. */
static int segment_add(const struct pieces_job *j, int32_t from, int32_t to)
{
    struct segment g = clip_segment_of(j->s, j->w);
    struct clip_found f = { .ids = j->p->ids + from, .tokens = j->p->tokens + from, .n = to - from };
    int rc = text_of(j, from, to, &f.text, &f.n_text);
    if (rc || !f.n_text) return rc;
    g.tags.language = j->p->language;
    f.whole = f.text;
    f.n_whole = f.n_text;
    for (int32_t i = from; i < to; i++) f.sum_logprob += (double)j->p->tokens[i].logprob;
    g.start = time_of(j, j->p->rows[from].begin);
    g.end = time_of(j, j->p->rows[to - 1].end);
    g.t0_ms = (int64_t)nearbyint(g.start * 1000);
    g.t1_ms = (int64_t)nearbyint(g.end * 1000);
    rc = clip_segment_add(j->s, &g, &f);
    if (!rc && clips_of(j->s)->request.p.word_timestamps) rc = words_add(j, &g, from, to);
    return rc ? rc : clip_segment_report(j->s, &g);
}

static int ends_sentence(const struct pieces_job *j, int32_t i)
{
    const struct vocab *v = &j->m->vocab;
    const int32_t id = j->p->ids[i];
    return v->len[id] && memchr(".?!", v->bytes[id][v->len[id] - 1], 3);
}

/* May a segment begin with piece i? A mark that a space was put before belongs to the text before it. */
static int may_begin(const struct pieces_job *j, int32_t i)
{
    const struct steno_model *m = j->m;
    const int is_space = m->vocab.len[j->p->ids[i]] == 1;
    return begins(j, i) && ends_sentence(j, i - 1) && !(is_space && i + 1 < j->p->n && m->family->pieces->is_mark(m, j->p->ids[i + 1]));
}

int32_t clip_pieces_whole(const steno_session *s, const struct clip_pieces *p, int sentences)
{
    const steno_model *m = s->model;
    const struct pieces_job j = { .m = m, .p = p };
    int32_t whole = 0;
    for (int32_t i = 1; i < p->n; i++) {
        const int is_space = m->vocab.len[p->ids[i]] == 1; /* a mark after it belongs to the word before it */
        const int is_alone = is_space && (i + 1 == p->n || m->family->pieces->is_mark(m, p->ids[i + 1]));
        if (!is_alone && (sentences ? may_begin(&j, i) : begins(&j, i))) whole = i;
    }
    return whole;
}

static int segments_add(const struct pieces_job *j)
{
    int rc = STENO_OK;
    for (int32_t from = 0, to; from < j->p->n && !rc; from = to) {
        for (to = from + 1; to < j->p->n && !may_begin(j, to);) to++;
        rc = segment_add(j, from, to);
    }
    return rc;
}

/* ---- pieces where there is no speech ---- */

void clip_piece_judge(const steno_session *s, const struct clip_window *w, struct piece_rows *rows, int32_t i, int32_t id, int32_t row)
{
    const int is_mark = i > 0 && s->model->family->pieces->is_mark(s->model, id);
    rows[i].mute = is_mark ? rows[i - 1].mute : clip_is_mute(s, w, row);
}

static int is_mute(const struct pieces_job *j, int32_t i) { return j->p->rows[i].mute > 0; }

/* End of what is kept of the word [from, to). */
static int32_t kept_to(const struct pieces_job *j, int32_t from, int32_t to)
{
    while (to > from && is_mute(j, to - 1)) to--;
    return to;
}

/* Pieces [from, to) are left out as one text. */
static int leave_out_text(const struct pieces_job *j, int32_t from, int32_t to)
{
    struct clip_found f = { .n = to - from };
    const int rc = text_of(j, from, to, &f.text, &f.n_text);
    for (int32_t i = from; i < to; i++) f.sum_logprob += (double)j->p->tokens[i].logprob;
    return rc ? rc : clip_left_out(j->s, j->w, &f, time_of(j, j->p->rows[from].begin), time_of(j, j->p->rows[to - 1].end));
}

enum { FAR_MS = 2000 };

/* The same, but a longer distance begins another text: there may be speech between them. */
static int leave_out(const struct pieces_job *j, int32_t from, int32_t to)
{
    const struct piece_rows *rows = j->p->rows;
    int rc = STENO_OK;
    for (int32_t end; from < to && !rc; from = end) {
        for (end = from + 1; end < to && (rows[end].begin - rows[end - 1].end) * j->p->row_ms <= FAR_MS;) end++;
        rc = leave_out_text(j, from, end);
    }
    return rc;
}

/* The pieces that are kept, as arrays of their own. */
struct kept_pieces { struct buf ids, tokens, rows; };

static void keep(struct kept_pieces *k, const struct clip_pieces *p, int32_t from, int32_t to)
{
    const size_t n = (size_t)(to - from);
    buf_add(&k->ids, p->ids + from, n * sizeof *p->ids);
    buf_add(&k->tokens, p->tokens + from, n * sizeof *p->tokens);
    buf_add(&k->rows, p->rows + from, n * sizeof *p->rows);
}

/* Divides the pieces, word by word. */
static int divide(const struct pieces_job *j, struct kept_pieces *k)
{
    int32_t out = 0; /* pieces from here on are left out */
    int rc = STENO_OK;
    for (int32_t from = 0, to; from < j->p->n && !rc; from = to) {
        for (to = from + 1; to < j->p->n && !begins(j, to);) to++;
        const int32_t end = kept_to(j, from, to);
        if (end == from) continue;
        rc = leave_out(j, out, from);
        keep(k, j->p, from, end);
        out = end;
    }
    if (!rc) rc = leave_out(j, out, j->p->n);
    return k->ids.err || k->tokens.err || k->rows.err ? err_nomem(&j->s->error, k->tokens.len, "the tokens of a clip") : rc;
}

static void kept_as(struct clip_pieces *p, const struct kept_pieces *k)
{
    p->ids = (const int32_t *)(const void *)k->ids.p;
    p->tokens = (const struct sampled_token *)(const void *)k->tokens.p;
    p->rows = (const struct piece_rows *)(const void *)k->rows.p;
    p->n = (int32_t)(k->ids.len / sizeof *p->ids);
}

static void kept_free(struct kept_pieces *k)
{
    buf_free(&k->ids);
    buf_free(&k->tokens);
    buf_free(&k->rows);
}

int clip_pieces_add(steno_session *s, const struct clip_window *w, const struct clip_pieces *p, struct buf *scratch)
{
    struct clip_pieces rest = *p;
    const struct pieces_job j = { s->model, s, w, p, scratch }, kept = { s->model, s, w, &rest, scratch };
    struct kept_pieces k = { .ids.len = 0 };
    int32_t n = 0;
    while (n < p->n && !is_mute(&j, n)) n++;
    if (n == p->n) return segments_add(&j);
    int rc = divide(&j, &k);
    kept_as(&rest, &k);
    if (!rc) rc = segments_add(&kept);
    kept_free(&k);
    return rc;
}
