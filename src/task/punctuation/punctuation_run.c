/* steno: runs the punctuation network over the words of a text, and writes the text with its marks. SPDX-License-Identifier: MIT
 *
 * The text is written as FunASR 1.4 writes it, funasr/models/ct_transformer/model.py and ct_transformer_streaming/model.py, reproduced
 * exactly: only ASCII words have spaces between them. A sentence that begins with an ASCII word gets a space and a capital letter. */
#include "task/punctuation/punctuation_run.h"
#include "model/parts.h"
#include <string.h>
#include "base/os.h"
#include "base/utf8.h"
#include "text/words.h"

/* ---- word segmentation, for models trained on Chinese words ------------------------------------------------------------------- */

/* Bytes [at, end) of the input, without spaces. */
struct piece { size_t at, end; };

struct cutter {
    struct buf *out;
    const struct jieba *d;
    const char *text;
    punctuation_word *word;
    void *user;
    struct buf pieces, ends; /* struct piece to be segmented together; uint32_t ends of the words in them */
};

/* Finds the next piece from *end on. @return 0: there is none */
static int next_piece(const char *text, size_t n, struct piece *p, size_t *end)
{
    size_t at, next = *end;
    if (!mixed_word_next(text, n, &p->at, end)) return 0;
    for (next = *end; mixed_word_next(text, n, &at, &next) && at == *end; *end = next) {}
    p->end = *end;
    return 1;
}

static int is_latin(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '\'')) return 0;
    return 1;
}

/* Reports the words. end[n]: their ends after `base` in the session's text, which holds the pieces in order. */
static void words_report(struct cutter *c, size_t base, const uint32_t *end, size_t n)
{
    const struct piece *p = (const struct piece *)(const void *)c->pieces.p;
    size_t at = p->at;
    for (size_t i = 0, from = 0; i < n; from = end[i++]) {
        if (at == p->end) at = (++p)->at;
        const size_t begin = at;
        size_t left = end[i] - from;
        while (left > p->end - at) {
            left -= p->end - at;
            at = (++p)->at;
        }
        at += left;
        c->word(c->user, base + from, end[i] - from, begin, at);
    }
}

/* Segments the pieces collected so far. */
static void pieces_cut(struct cutter *c)
{
    struct buf *text = c->out;
    const struct piece *p = (const struct piece *)(const void *)c->pieces.p;
    const size_t n = c->pieces.len / sizeof *p, base = text->len;
    for (size_t i = 0; i < n; i++) buf_add(text, c->text + p[i].at, p[i].end - p[i].at);
    buf_clear(&c->ends);
    if (n && !text->err && jieba_cut(c->d, text->p + base, text->len - base, &c->ends)) text->err = 1;
    if (n && !text->err) words_report(c, base, (const uint32_t *)(const void *)c->ends.p, c->ends.len / sizeof(uint32_t));
    buf_clear(&c->pieces);
}

/* Appends the words of text[n] to `out`, without spaces, and calls `word` for each. A run of Latin letters without spaces is a word.
 * Dictionary d segments all other text; joins: 1 if words may continue across spaces. As FunASR's split_words. Errors are set in
 * out->err. */
static void punctuation_cut(struct buf *out, const struct jieba *d, const char *text, size_t n, int joins, punctuation_word *word,
                            void *user)
{
    struct cutter c = { .out = out, .d = d, .text = text, .word = word, .user = user };
    struct piece p;
    for (size_t end = 0; next_piece(text, n, &p, &end);) {
        const int latin = is_latin(text + p.at, p.end - p.at);
        if (latin || !joins) pieces_cut(&c);
        if (latin) {
            buf_add(out, text + p.at, p.end - p.at);
            if (!out->err) word(user, out->len - (p.end - p.at), p.end - p.at, p.at, p.end);
        } else {
            buf_add(&c.pieces, &p, sizeof p);
        }
        out->err |= c.pieces.err;
    }
    pieces_cut(&c);
    buf_free(&c.pieces);
    buf_free(&c.ends);
}

/* ---- the network -------------------------------------------------------------------------------------------------------------- */

/* Drops settled words and moves the others to the beginning. */
static void keep_rest(struct punctuation_session *q)
{
    struct marked_word *w = marked_words(q);
    const size_t n = marked_count(q), left = n - q->settled, from = left ? w[q->settled].at : q->text.len;
    for (size_t i = 0; i < left; i++) {
        w[i] = w[q->settled + i];
        w[i].at -= from;
    }
    q->words.len = left * sizeof *w;
    if (from && q->text.p) memmove(q->text.p, q->text.p + from, q->text.len - from + 1);
    q->text.len -= from;
    q->n_before = left;
    q->before = q->text.len;
    q->settled = 0;
}

void punctuation_begin(steno_session *s, const steno_punctuate_params *p)
{
    struct punctuation_session *q = punctuation_of(s);
    q->block_words = p->block_words;
    if (p->go_on && !q->words.err && !q->text.err) {
        keep_rest(q);
        return;
    }
    buf_clear(&q->text);
    buf_clear(&q->words);
    q->n_before = q->before = q->settled = 0;
}

/* Bytes [at, at + n) of the session's text are a word. Its position in the input is [from, to). */
static void add_word(void *user, size_t at, size_t n, size_t from, size_t to)
{
    steno_session *s = user;
    struct punctuation_session *q = punctuation_of(s);
    if (q->text.err) return;
    const int32_t id = vocab_find(&s->model->vocab, (const uint8_t *)q->text.p + at, n);
    const struct marked_word w = { .at = at, .n = (uint32_t)n, .from = from, .to = to, .mark = punctuation_model_of(s)->none,
                                   .id = id < 0 ? punctuation_model_of(s)->unknown : id };
    buf_add(&q->words, &w, sizeof w);
}

/* Adds the words of a text; each non-ASCII character is a word. */
static void add_characters(steno_session *s, const char *text, size_t n)
{
    struct punctuation_session *q = punctuation_of(s);
    const size_t base = q->text.len;
    buf_add(&q->text, text, n);
    for (size_t at, end = 0; mixed_word_next(text, n, &at, &end);) add_word(s, base + at, end - at, at, end);
}

int punctuation_add(steno_session *s, const char *text, size_t n, int joins)
{
    struct punctuation_session *q = punctuation_of(s);
    const struct jieba *d = punctuation_model_of(s)->words;
    const size_t good = utf8_valid((const uint8_t *)text, n);
    if (good < n) return err_set(&s->error, STENO_EARG, "the text is not UTF-8: byte %zu", good);
    if (d) punctuation_cut(&q->text, d, text, n, joins, add_word, s);
    else add_characters(s, text, n);
    return q->text.err || q->words.err ? err_nomem(&s->error, q->words.len, "the words of a text") : STENO_OK;
}

/* ---- the network --------------------------------------------------------------------------------------------------------------- */

/* Attention across a pause: words after it see the word before it, and are seen by it. Earlier words see up to the pause. */
static void table_fill(steno_session *s, const struct marked_word *w, uint32_t n)
{
    struct run *r = &s->batch->run;
    const uint32_t pause = (uint32_t)punctuation_of(s)->n_before;
    r->n_rows = 0;
    for (uint32_t i = 0; i < n; i++) run_add(r, w[i].id, (int32_t)i, 0, 0);
    run_prepare(r);
    for (uint32_t i = 0; i < n; i++) r->cross_len[i] = (int32_t)(pause && pause < n && i + 1 < pause ? pause : n);
}

static int32_t best_of(const float *x, int32_t n)
{
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

static int block_run(steno_session *s, struct marked_word *w, uint32_t n)
{
    const struct plan *plan = &s->model->plan[PLAN_ENCODER];
    struct exec *x = s->batch->exec;
    struct run_time spent = { 0 };
    table_fill(s, w, n);
    const int rc = exec_phases(x, plan, &(struct phases){ .end = 1, .n_rows = n, .run = &s->batch->run }, session_time(s, PLAN_ENCODER),
                               &spent);
    s->timings.encode_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_encodes++;
    s->timings.n_windows++;
    s->timings.n_wakes++;
    size_t ld;
    const float *out = rc ? NULL : exec_output(x, plan, plan->output, 0, n, &ld);
    if (!out) return session_ran(s, x, rc ? rc : STENO_ENOMEM);
    for (uint32_t i = 0; i < n; i++) w[i].mark = best_of(out + i * ld, punctuation_model_of(s)->n);
    return STENO_OK;
}

/* If this many words have no end of a sentence and no comma, all but the newest words are settled. Each block runs together with the
 * unsettled words before it, so without a limit a text without an end would take quadratic time, as in FunASR. */
enum { UNSETTLED_MAX = 500 };

int punctuation_decide(steno_session *s)
{
    const struct punctuation_session *q = punctuation_of(s);
    const struct punctuation_model *m = punctuation_model_of(s);
    const size_t n = marked_count(q), block = (size_t)q->block_words, rows = s->model->plan[PLAN_ENCODER].max_rows;
    const size_t most = rows < UNSETTLED_MAX + block ? rows : UNSETTLED_MAX + block;
    struct marked_word *w = marked_words(q);
    for (size_t from = 0, end = 0, settled; end < n; from += settled) {
        const size_t begun = end;
        end = n - end < block ? n : end + block;
        w[from].begins = 1;
        if (end - from > most) w[from = begun].begins = 1;
        if (session_should_stop(s)) return err_set(&s->error, STENO_ECANCELED, "canceled");
        const int rc = block_run(s, w + from, (uint32_t)(end - from));
        if (rc) return rc;
        settled = end == n ? n - from : marks_settled(w + from, end - from, m->kind, m->end);
    }
    return STENO_OK;
}

int64_t punctuation_bench(steno_session *s, const char *phase, int n)
{
    enum { MOST = 512 };
    struct marked_word w[MOST];
    const int most = (int)s->model->plan[PLAN_ENCODER].max_rows;
    if (strcmp(phase, "mark") != 0) return err_set(&s->error, STENO_EARG, "unknown phase '%s'; known is mark", phase);
    if (n > most || n > MOST) return err_set(&s->error, STENO_EARG, "%d words; a run has at most %d", n, most < MOST ? most : MOST);
    for (int i = 0; i < n; i++) w[i] = (struct marked_word){ .id = (int32_t)((uint32_t)i * 7919u % (uint32_t)s->model->n_vocab) };
    const size_t before = punctuation_of(s)->n_before;
    punctuation_of(s)->n_before = 0;
    const int64_t t0 = os_now_ns();
    const int rc = block_run(s, w, (uint32_t)n);
    punctuation_of(s)->n_before = before;
    return rc ? rc : (os_now_ns() - t0) / 1000;
}

const char *punctuation_text(const struct punctuation_model *m, int32_t mark, char first_of_word)
{
    static const struct { const char *wide, *narrow; } half[] = { { "，", "," }, { "。", "." }, { "？", "?" }, { "、", "," } };
    for (size_t i = 0; (unsigned char)first_of_word < 0x80 && i < sizeof half / sizeof *half; i++)
        if (!strcmp(m->mark[mark], half[i].wide)) return half[i].narrow;
    return m->mark[mark];
}

/* ---- the text with its marks -------------------------------------------------------------------------------------------------- */

#define COMMA "，"
#define STOP "。"
#define ASKS "？"
#define PAUSE "、" /* enumeration comma */

static int is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

/* As Python's str.capitalize(). */
static void put_capital(struct buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char lower = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] | 32) : s[i];
        const char c = !i && lower >= 'a' && lower <= 'z' ? (char)(lower & ~32) : lower;
        buf_add(out, &c, 1);
    }
}

static int ends_with(const struct buf *b, const char *s)
{
    const size_t n = strlen(s);
    return b->len >= n && !memcmp(b->p + b->len - n, s, n);
}

static void end_cut(struct buf *b, size_t n)
{
    b->len -= n;
    b->p[b->len] = 0;
}

/* Ends the text with a full stop or question mark. @return 1: the text was changed */
static int end_sentence(struct buf *out)
{
    if (ends_with(out, STOP) || ends_with(out, ASKS) || ends_with(out, ".") || ends_with(out, "?")) return 0;
    const int is_wide = !is_ascii(out->p[out->len - 1]);
    if (ends_with(out, COMMA) || ends_with(out, PAUSE)) end_cut(out, strlen(COMMA));
    else if (ends_with(out, ",")) end_cut(out, 1);
    buf_str(out, is_wide ? STOP : ".");
    return 1;
}

void punctuation_write_some(struct buf *out, const struct punctuation_session *q, const struct punctuation_model *m, size_t from, size_t to)
{
    const struct marked_word *w = marked_words(q);
    for (size_t i = from; i < to; i++) {
        const char *s = q->text.p + w[i].at, *mark = m->mark[w[i].mark];
        if (is_ascii(*s)) {
            const int begins = w[i].begins;
            if (begins || is_ascii(q->text.p[w[i - 1].at])) buf_str(out, " ");
            if (begins || m->kind[w[i - 1].mark] == MARK_END) put_capital(out, s, w[i].n);
            else buf_add(out, s, w[i].n);
        } else {
            buf_add(out, s, w[i].n);
        }
        buf_str(out, strcmp(mark, PAUSE) ? punctuation_text(m, w[i].mark, *s) : mark);
    }
}

void punctuation_write(struct buf *out, struct punctuation_session *q, const struct punctuation_model *m)
{
    struct marked_word *w = marked_words(q);
    const size_t n = marked_count(q), begin = out->len;
    punctuation_write_some(out, q, m, 0, n);
    if (out->err || out->len == begin) return;
    if (end_sentence(out)) w[n - 1].mark = m->end;
}

/* Length of the mark at the end of the text, or 0. */
static size_t mark_len_at_end(const struct buf *out, size_t begin, const struct punctuation_model *m)
{
    for (int32_t i = 0; i < m->n; i++) {
        const size_t n = strlen(m->mark[i]);
        if (n && out->len - begin >= n && ends_with(out, m->mark[i])) return n;
    }
    return out->len > begin && ends_with(out, "_"); /* the list of marks contains "_" */
}

void punctuation_write_more(struct buf *out, struct punctuation_session *q, const struct punctuation_model *m)
{
    struct marked_word *w = marked_words(q);
    const size_t n = marked_count(q), begin = out->len;
    for (size_t i = 0; i < n; i++) {
        const char *s = q->text.p + w[i].at;
        if (i >= q->n_before) {
            if (i && is_ascii(*s) && is_ascii(q->text.p[w[i - 1].at])) buf_str(out, " ");
            buf_add(out, s, w[i].n);
        }
        if (i + 1 >= q->n_before) buf_str(out, m->mark[w[i].mark]);
    }
    q->settled = marks_last_end(w, n, m->kind);
    if (out->err || !n) return;
    const size_t last = mark_len_at_end(out, begin, m);
    if (!last) return;
    end_cut(out, last);
    w[n - 1].mark = m->none;
}
