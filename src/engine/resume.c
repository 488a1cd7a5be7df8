/* steno: requests that resume where others ended. SPDX-License-Identifier: MIT */
#include "engine/resume.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include "base/hash.h"

enum { MAGIC = 0x31505253 /* "SRP1" */, TEXTS = 5 /* of a segment */, TEXT_MAX = 64, TIME_MAX_S = 1000000000 };

/* Header of each record. */
struct record_head {
    uint32_t magic, sum; /* CRC-32 of the bytes after these two fields */
    uint64_t size;       /* of the record, including this header */
    uint64_t model;
    uint32_t n_results, n_state;
};

enum part { SEGMENTS /* the others follow */ };
static const size_t elem_sz[RESUME_BUFS] = {
    sizeof(struct segment), sizeof(struct sampled_token), sizeof(int32_t), sizeof(struct token_time), sizeof(struct word), 1, 1,
    sizeof(struct hypothesis), sizeof(int32_t), sizeof(float), 1, sizeof(struct left_out), 1,
};

/* Padding bytes would be uninitialised. */
_Static_assert(sizeof(struct segment) == 3 * 8 + 2 * 8 + 3 * sizeof(size_t) + 6 * 4 + 4 * 8 + TEXTS * sizeof(char *), "no holes");
_Static_assert(sizeof(struct sampled_token) == 2 * 4 + 4 * 4 && sizeof(struct token_time) == 3 * 8 + 2 * 4, "no holes");
_Static_assert(sizeof(struct left_out) == 4 * 8 + sizeof(size_t) + 2 * 4, "no holes");
_Static_assert(sizeof(struct word) == 3 * 8 + 2 * sizeof(size_t) + 2 * 4, "no holes");

static struct buf *part_of(struct result *r, int i)
{
    struct buf *const part[RESUME_BUFS] = { &r->segments, &r->tokens, &r->ids, &r->times, &r->words, &r->text, &r->bytes,
                                            &r->hypotheses, &r->hypothesis_ids, &r->hypothesis_logprobs,
                                            &r->hypothesis_text, &r->left_out, &r->left_out_text };
    return part[i];
}

static struct result *result_of(steno_session *s, int i)
{
    return i ? &s->translation : &s->result;
}

static const char **text_at(struct segment *g, int i)
{
    const char **const text[TEXTS] = { &g->tags.language, &g->tags.emotion, &g->tags.event, &g->tags.itn, &g->word_source };
    return text[i];
}

/* Identifies the model and version of a record. A record of another model or version is refused. */
static uint64_t model_hash(const steno_model *m)
{
    char text[256];
    const int n = snprintf(text, sizeof text, "%s %s %s %d %d %d %d %lld %d %d", STENO_VERSION, m->family->name, m->name ? m->name : "",
                           (int)m->n_vocab, (int)m->widths.audio_state, (int)m->text_ctx, (int)m->matrix_type, (long long)m->parameters,
                           (int)m->low_precision, m->kern.level);
    return hash_bytes_64(text, (size_t)n);
}

/* ---- records --------------------------------------------------------------------------------------------------------------------- */

static void put_segments(struct buf *out, const char *from, size_t n)
{
    for (size_t at = 0; at < n; at += sizeof(struct segment)) {
        struct segment g;
        const char *text[TEXTS];
        memcpy(&g, from + at, sizeof g);
        for (int i = 0; i < TEXTS; i++) {
            text[i] = *text_at(&g, i);
            *text_at(&g, i) = NULL;
        }
        buf_add(out, &g, sizeof g);
        for (int i = 0; i < TEXTS; i++) {
            const uint32_t len = text[i] ? (uint32_t)strlen(text[i]) + 1 : 0; /* including the NUL */
            buf_add(out, &len, sizeof len);
            if (len) buf_add(out, text[i], len);
        }
    }
}

static void put_result(struct buf *out, struct result *r, size_t recorded[RESUME_BUFS])
{
    for (int i = 0; i < RESUME_BUFS; i++) {
        const struct buf *b = part_of(r, i);
        const uint64_t place[2] = { recorded[i], b->len - recorded[i] };
        buf_add(out, place, sizeof place);
        if (!place[1]) continue;
        if (i == SEGMENTS) put_segments(out, b->p + recorded[i], b->len - recorded[i]);
        else buf_add(out, b->p + recorded[i], b->len - recorded[i]);
        recorded[i] = b->len;
    }
}

int resume_record(struct resume *r, steno_session *s, const steno_transcribe_params *p, int n_results, const void *state, size_t n_state)
{
    struct record_head h = { .magic = MAGIC, .model = 0, .n_results = (uint32_t)n_results, .n_state = (uint32_t)n_state };
    struct buf record = { 0 };
    if (!p->on_resume_point) return STENO_OK;
    h.model = model_hash(s->model);
    buf_add(&record, &h, sizeof h);
    buf_add(&record, state, n_state);
    for (int i = 0; i < n_results; i++) put_result(&record, result_of(s, i), r->recorded[i]);
    if (record.err) {
        buf_free(&record);
        return err_nomem(&s->error, n_state, "what a request could go on from");
    }
    h.size = record.len;
    memcpy(record.p, &h, sizeof h);
    h.sum = (uint32_t)crc32_z(0, (const uint8_t *)record.p + 8, record.len - 8);
    memcpy(record.p, &h, sizeof h);
    p->on_resume_point(p->user, record.p, record.len);
    buf_free(&record);
    return STENO_OK;
}

/* ---- reading records ----------------------------------------------------------------------------------------------------------- */

struct reader { const char *p; size_t left; int bad; };

static const char *take(struct reader *r, size_t n)
{
    if (r->bad || n > r->left) {
        r->bad = 1;
        return NULL;
    }
    const char *p = r->p;
    r->p += n;
    r->left -= n;
    return p;
}

static void take_segments(struct reader *r, struct buf *to, uint64_t n)
{
    for (uint64_t i = 0; i < n / sizeof(struct segment) && !r->bad; i++) {
        struct segment g;
        const char *from = take(r, sizeof g);
        if (!from) return;
        memcpy(&g, from, sizeof g);
        for (int t = 0; t < TEXTS && !r->bad; t++) {
            uint32_t len = 0;
            const char *at = take(r, sizeof len);
            if (at) memcpy(&len, at, sizeof len);
            const char *text = at && len ? take(r, len) : NULL;
            if (len && (!text || len > TEXT_MAX || text[len - 1] || strlen(text) + 1 != len)) r->bad = 1;
            *text_at(&g, t) = text;
        }
        if (!r->bad) buf_add(to, &g, sizeof g);
    }
}

static void take_result(struct reader *r, struct result *to)
{
    for (int i = 0; i < RESUME_BUFS && !r->bad; i++) {
        uint64_t place[2];
        struct buf *b = part_of(to, i);
        const char *from = take(r, sizeof place);
        if (!from) return;
        memcpy(place, from, sizeof place);
        if (place[0] != b->len || place[1] % elem_sz[i] || (i != SEGMENTS && place[1] > r->left)) r->bad = 1;
        if (r->bad || !place[1]) continue;
        if (i == SEGMENTS) take_segments(r, b, place[1]);
        else buf_add(b, take(r, (size_t)place[1]), (size_t)place[1]);
    }
}

/* Times must fit milliseconds and text. */
static int is_time(double seconds)
{
    return fabs(seconds) < TIME_MAX_S;
}

static int is_time_ms(int64_t ms)
{
    return ms > -(int64_t)TIME_MAX_S * 1000 && ms < (int64_t)TIME_MAX_S * 1000;
}

/* Checks the times of all words, tokens, segments and hypotheses. */
static int are_times_sound(const struct result *r)
{
    const struct segment *g = (const struct segment *)(const void *)r->segments.p;
    const struct word *w = (const struct word *)(const void *)r->words.p;
    const struct token_time *t = (const struct token_time *)(const void *)r->times.p;
    const struct hypothesis *h = (const struct hypothesis *)(const void *)r->hypotheses.p;
    int good = 1;
    for (size_t i = 0; i < r->words.len / sizeof *w; i++) good &= isnan(w[i].start) || (is_time(w[i].start) && is_time(w[i].end));
    for (size_t i = 0; i < r->times.len / sizeof *t; i++) good &= is_time_ms(t[i].t0) && is_time_ms(t[i].t1) && is_time_ms(t[i].dtw);
    for (size_t i = 0; i < r->hypotheses.len / sizeof *h; i++) good &= is_time_ms(h[i].at_ms);
    for (size_t i = 0; i < r->segments.len / sizeof *g; i++) {
        good &= is_time_ms(g[i].t0_ms) && is_time_ms(g[i].t1_ms) && is_time_ms(g[i].seek_frames);
        good &= (isnan(g[i].start) || is_time(g[i].start)) && (isnan(g[i].end) || is_time(g[i].end));
    }
    return good;
}

static int are_hypotheses_sound(const struct result *r, const steno_model *m)
{
    const size_t n_ids = r->hypothesis_ids.len / sizeof(int32_t);
    const struct hypothesis *h = (const struct hypothesis *)(const void *)r->hypotheses.p;
    const int32_t *id = (const int32_t *)(const void *)r->hypothesis_ids.p;
    if (r->hypothesis_text.len && r->hypothesis_text.p[r->hypothesis_text.len - 1]) return 0;
    if (r->hypothesis_logprobs.len / sizeof(float) != n_ids) return 0;
    for (size_t i = 0; i < n_ids; i++)
        if (id[i] < 0 || id[i] >= m->n_vocab) return 0;
    for (size_t i = 0; i < r->hypotheses.len / sizeof *h; i++) {
        if (h[i].text >= r->hypothesis_text.len || h[i].n_tokens < 0 || h[i].first_token > n_ids) return 0;
        if ((size_t)h[i].n_tokens > n_ids - h[i].first_token) return 0;
    }
    return 1;
}

static int are_left_out_sound(const struct result *r)
{
    const struct left_out *l = (const struct left_out *)(const void *)r->left_out.p;
    if (r->left_out_text.len && r->left_out_text.p[r->left_out_text.len - 1]) return 0;
    for (size_t i = 0; i < r->left_out.len / sizeof *l; i++)
        if (l[i].text >= r->left_out_text.len || !is_time_ms(l[i].t0_ms) || !is_time_ms(l[i].t1_ms)) return 0;
    return 1;
}

/* Checks that all offsets lie inside their buffers. */
static int is_sound(struct result *r, const steno_model *m)
{
    const size_t n_ids = r->ids.len / sizeof(int32_t), n_words = r->words.len / sizeof(struct word);
    const struct segment *g = (const struct segment *)(const void *)r->segments.p;
    const struct word *w = (const struct word *)(const void *)r->words.p;
    const int32_t *id = (const int32_t *)(const void *)r->ids.p;
    if (r->text.len && r->text.p[r->text.len - 1]) return 0;
    if (r->tokens.len / sizeof(struct sampled_token) != n_ids) return 0;
    if (r->times.len && r->times.len / sizeof(struct token_time) != n_ids) return 0;
    for (size_t i = 0; i < n_ids; i++)
        if (id[i] < 0 || id[i] >= m->n_vocab) return 0;
    for (size_t i = 0; i < n_words; i++)
        if (w[i].text >= r->text.len || (w[i].spoken && w[i].spoken > r->text.len) || w[i].n_tokens < 0) return 0;
    for (size_t i = 0; i < r->segments.len / sizeof *g; i++) {
        if (g[i].text >= r->text.len || g[i].n_tokens < 0 || g[i].n_words < 0) return 0;
        if (g[i].first_token > n_ids || (size_t)g[i].n_tokens > n_ids - g[i].first_token) return 0;
        if (g[i].n_words && (g[i].first_word > n_words || (size_t)g[i].n_words > n_words - g[i].first_word)) return 0;
    }
    return are_hypotheses_sound(r, m) && are_left_out_sound(r) && are_times_sound(r);
}

/* Reads one record. @return 0: it is damaged, or of another model */
static int take_record(struct resume *r, struct reader *in, steno_session *s, int n_results)
{
    struct record_head h;
    const char *from = in->p, *head = take(in, sizeof h);
    if (!head) return 0;
    memcpy(&h, head, sizeof h);
    if (h.magic != MAGIC || h.size < sizeof h || h.size - sizeof h > in->left || h.n_results != (uint32_t)n_results) return 0;
    if (h.sum != (uint32_t)crc32_z(0, (const uint8_t *)from + 8, (size_t)h.size - 8) || h.model != model_hash(s->model)) return 0;
    struct reader record = { in->p, (size_t)h.size - sizeof h, 0 };
    r->n_state = h.n_state;
    r->state = take(&record, h.n_state);
    for (int i = 0; i < n_results; i++) take_result(&record, result_of(s, i));
    take(in, (size_t)h.size - sizeof h);
    return !record.bad && !record.left;
}

int resume_take(struct resume *r, steno_session *s, const steno_transcribe_params *p, int n_results)
{
    struct reader in = { p->resume, p->n_resume > 0 ? (size_t)p->n_resume : 0, 0 };
    int n = 0, good = 1;
    *r = (struct resume){ .state = NULL };
    for (; in.left && good; n++) good = take_record(r, &in, s, n_results);
    for (int i = 0; i < n_results && good && n; i++) good = is_sound(result_of(s, i), s->model);
    for (int i = 0; i < n_results && good; i++)
        if (result_status(result_of(s, i))) return err_nomem(&s->error, (size_t)p->n_resume, "what a request goes on from");
    if (!good) {
        result_clear(&s->result);
        result_clear(&s->translation);
        return err_set(&s->error, STENO_EARG, "resume is not what on_resume_point gave of this model in this version (record %d)", n);
    }
    for (int i = 0; i < n_results; i++)
        for (int b = 0; b < RESUME_BUFS; b++) r->recorded[i][b] = part_of(result_of(s, i), b)->len;
    return STENO_OK;
}
