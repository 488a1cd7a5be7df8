/* steno: runs the punctuation network over the words of a text. SPDX-License-Identifier: MIT */
#include "task/punctuation/punctuation_run.h"
#include <string.h>
#include "base/os.h"
#include "task/punctuation/punctuation_cut.h"
#include "text/mixed_words.h"

/* Drops settled words and moves the others to the beginning. */
static void keep_rest(struct marks_session *q)
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

void marks_begin(steno_session *s, const steno_punctuate_params *p)
{
    struct marks_session *q = marks_of(s);
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
    struct marks_session *q = marks_of(s);
    if (q->text.err) return;
    const int32_t id = vocab_find(&s->model->vocab, (const uint8_t *)q->text.p + at, n);
    const struct marked_word w = { .at = at, .n = (uint32_t)n, .from = from, .to = to, .mark = marks_model_of(s)->none,
                                   .id = id < 0 ? marks_model_of(s)->unknown : id };
    buf_add(&q->words, &w, sizeof w);
}

/* Adds the words of a text; each non-ASCII character is a word. */
static void add_characters(steno_session *s, const char *text, size_t n)
{
    struct marks_session *q = marks_of(s);
    const size_t base = q->text.len;
    buf_add(&q->text, text, n);
    for (size_t at, end = 0; mixed_word_next(text, n, &at, &end);) add_word(s, base + at, end - at, at, end);
}

int marks_add(steno_session *s, const char *text, size_t n, int joins)
{
    struct marks_session *q = marks_of(s);
    const struct jieba *d = marks_model_of(s)->words;
    const size_t good = utf8_valid((const uint8_t *)text, n);
    if (good < n) return err_set(&s->error, STENO_EARG, "the text is not UTF-8: byte %zu", good);
    if (d) marks_cut(&q->text, d, text, n, joins, add_word, s);
    else add_characters(s, text, n);
    return q->text.err || q->words.err ? err_nomem(&s->error, q->words.len, "the words of a text") : STENO_OK;
}

/* ---- the network --------------------------------------------------------------------------------------------------------------- */

/* Attention across a pause: words after it see the word before it, and are seen by it. Earlier words see up to the pause. */
static void table_fill(steno_session *s, const struct marked_word *w, uint32_t n)
{
    struct run *r = &s->batch->run;
    const uint32_t pause = (uint32_t)marks_of(s)->n_before;
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
    for (uint32_t i = 0; i < n; i++) w[i].mark = best_of(out + i * ld, marks_model_of(s)->n);
    return STENO_OK;
}

/* If this many words have no end of a sentence and no comma, all but the newest words are settled. Each block runs together with the
 * unsettled words before it, so without a limit a text without an end would take quadratic time, as in FunASR. */
enum { UNSETTLED_MOST = 500 };

int marks_decide(steno_session *s)
{
    const struct marks_session *q = marks_of(s);
    const struct marks_model *m = marks_model_of(s);
    const size_t n = marked_count(q), block = (size_t)q->block_words, rows = s->model->plan[PLAN_ENCODER].max_rows;
    const size_t most = rows < UNSETTLED_MOST + block ? rows : UNSETTLED_MOST + block;
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

int64_t marks_bench(steno_session *s, const char *phase, int n)
{
    enum { MOST = 512 };
    struct marked_word w[MOST];
    const int most = (int)s->model->plan[PLAN_ENCODER].max_rows;
    if (strcmp(phase, "mark") != 0) return err_set(&s->error, STENO_EARG, "unknown phase '%s'; known is mark", phase);
    if (n > most || n > MOST) return err_set(&s->error, STENO_EARG, "%d words; a run has at most %d", n, most < MOST ? most : MOST);
    for (int i = 0; i < n; i++) w[i] = (struct marked_word){ .id = (int32_t)((uint32_t)i * 7919u % (uint32_t)s->model->n_vocab) };
    const size_t before = marks_of(s)->n_before;
    marks_of(s)->n_before = 0;
    const int64_t t0 = os_now_ns();
    const int rc = block_run(s, w, (uint32_t)n);
    marks_of(s)->n_before = before;
    return rc ? rc : (os_now_ns() - t0) / 1000;
}

const char *marks_text(const struct marks_model *m, int32_t mark, char first_of_word)
{
    static const struct { const char *wide, *narrow; } half[] = { { "，", "," }, { "。", "." }, { "？", "?" }, { "、", "," } };
    for (size_t i = 0; (unsigned char)first_of_word < 0x80 && i < sizeof half / sizeof *half; i++)
        if (!strcmp(m->mark[mark], half[i].wide)) return half[i].narrow;
    return m->mark[mark];
}
