/* steno: the formats of results, and a session's result in any of them for other programs. SPDX-License-Identifier: MIT */
#include <steno/output.h>
#include "writers.h"
#include "write.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- the formats ------------------------------------------------------------------------------------------------------------- */

const struct writer writers[] = {
    { "txt", "txt", write_txt, 1, NULL, NULL },
    { "srt", "srt", write_srt, 1, NULL, NULL },
    { "vtt", "vtt", write_vtt, 1, NULL, NULL },
    { "tsv", "tsv", write_tsv, 1, NULL, NULL },
    { "json", "json", write_json, 0, NULL, NULL },
    { "verbose_json", "verbose_json", write_verbose_json, 0, NULL, NULL },
    { "jsonl", "jsonl", write_jsonl, 1, write_jsonl_job, write_jsonl_sums },
    { "csv", "csv", write_csv, 1, NULL, NULL },
    { "lrc", "lrc", write_lrc, 1, NULL, NULL },
    { "wts", "wts", write_wts, 1, NULL, NULL },
    { "ass", "ass", write_ass, 1, NULL, NULL },
    { "score", "score.txt", write_score, 1, NULL, NULL },
    { "json_full", "json_full", write_json_full, 0, NULL, NULL },
    { "funasr", "funasr.json", write_funasr, 0, NULL, NULL },
    { NULL, NULL, NULL, 0, NULL, NULL },
};

/* ---- a session's result in any format, for other programs -------------------------------------------------------------------- */

static int fail(steno_error *e, int status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (e) {
        e->status = status;
        vsnprintf(e->text, sizeof e->text, fmt, ap);
    }
    va_end(ap);
    return status;
}

void steno_output_params_init(steno_output_params *p)
{
    *p = (steno_output_params){ .size = sizeof *p };
}

const char *steno_output_format(int number)
{
    return number >= 0 && number < N_WRITERS ? writers[number].name : NULL;
}

static const struct writer *writer_named(const char *name)
{
    for (const struct writer *w = writers; w->name; w++)
        if (strcmp(w->name, name) == 0) return w;
    return NULL;
}

/* Index of a name in a list separated by bars, -1: unknown. */
static int style_named(const char *name)
{
    static const char *const names = CUE_STYLE_NAMES;
    const size_t n = strlen(name);
    int number = 0;
    for (const char *at = names;; number++) {
        const size_t len = strcspn(at, "|");
        if (len == n && memcmp(at, name, n) == 0) return number;
        if (!at[len]) return -1;
        at += len + 1;
    }
}

static const char *limit_below_zero(const steno_output_params *p)
{
    return p->max_len < 0 ? "max_len" : p->max_line_width < 0 ? "max_line_width" : p->max_line_count < 0 ? "max_line_count" :
           p->max_words_per_line < 0 ? "max_words_per_line" : NULL;
}

/* Checks the limits: each one has an effect, or is refused. @return a status */
static int layout_of(struct write_layout *l, const steno_output_params *p, steno_error *e)
{
    const char *negative = limit_below_zero(p);
    if (negative) return fail(e, STENO_EARG, "steno_output_write: %s is below 0", negative);
    if (p->split_on_word && !p->max_len) return fail(e, STENO_EARG, "steno_output_write: split_on_word needs max_len");
    if (p->max_len && !p->word_times && !p->model) return fail(e, STENO_EARG, "steno_output_write: max_len needs model or word_times");
    if (p->max_line_count && !p->max_line_width) return fail(e, STENO_EARG, "steno_output_write: max_line_count needs max_line_width");
    if (!p->word_times && (p->style || p->max_line_width || p->max_words_per_line || p->highlight_words))
        return fail(e, STENO_EARG, "steno_output_write: %s needs word_times", p->style ? "style" : p->max_line_width ? "max_line_width" :
                    p->max_words_per_line ? "max_words_per_line" : "highlight_words");
    if (p->max_words_per_line && (p->style || p->max_line_width))
        return fail(e, STENO_EARG, "steno_output_write: max_words_per_line excludes %s", p->style ? "style" : "max_line_width");
    const int style = p->style ? style_named(p->style) : CUE_STYLE_PLAIN;
    if (style < 0) return fail(e, STENO_EARG, "steno_output_write: no style is called \"%s\"; there are %s", p->style, CUE_STYLE_NAMES);
    *l = (struct write_layout){ .max_line_width = p->max_line_width, .max_line_count = p->max_line_count,
                                .max_words_per_line = p->max_words_per_line, .highlight_words = p->highlight_words != 0,
                                .cues = CUE_CHOICE_UNSET };
    if (!p->style) return STENO_OK;
    l->cues.on = 1;
    l->cues.style = style;
    if (p->max_line_width) l->cues.line_width = p->max_line_width;
    if (p->max_line_count) l->cues.lines = p->max_line_count;
    const char *fault = cue_choice_fault(&l->cues);
    return fault ? fail(e, STENO_EARG, "steno_output_write: %s", fault) : STENO_OK;
}

/* @return a status */
static int transcript_of(struct transcript *t, struct transcript_store *store, const steno_session *s, const steno_output_params *p)
{
    const struct reshape_rules rules = { .max_len = p->max_len, .by_words = p->split_on_word };
    *t = (struct transcript){ .text = "", .language = "unknown", .duration_ms = -1, .task = p->task, .word_times = p->word_times,
                              .token_times = p->token_times, .model = p->model,
                              .first_timestamp = p->model ? steno_token_id(p->model, STENO_TOKEN_TIMESTAMP) : -1 };
    if (transcript_take(t, store, s)) return STENO_ENOMEM;
    return rules.max_len && reshape(t, store, &rules) ? STENO_ENOMEM : STENO_OK;
}

int steno_output_write(const steno_session *s, const char *format, const steno_output_params *p,
                       int (*put)(void *user, const char *bytes, size_t n), void *user, steno_error *e)
{
    steno_output_params own;
    struct write_layout layout;
    struct transcript_store store = { 0 };
    struct transcript t;
    steno_output_params_init(&own);
    if (!s || !format || !put) return fail(e, STENO_EARG, "steno_output_write: %s is NULL", !s ? "s" : !format ? "format" : "put");
    if (p && p->size != sizeof *p) return fail(e, STENO_EARG, "steno_output_write: want steno_output_params_init first");
    if (p) own = *p;
    const struct writer *w = writer_named(format);
    if (!w) return fail(e, STENO_EARG, "steno_output_write: no format is called \"%s\"; there are %s", format, WRITER_NAMES);
    if (layout_of(&layout, &own, e) != STENO_OK) return STENO_EARG;
    struct sink sink = { .write = put, .user = user };
    int rc = transcript_of(&t, &store, s, &own);
    if (rc == STENO_OK) {
        const struct transcript_source source = { .input = own.input ? own.input : "-", .spent_us = WRITE_TIME_UNKNOWN };
        t.layout = &layout;
        t.source = &source;
        w->write(&sink, &t);
    }
    transcript_free(&store);
    if (rc != STENO_OK) return fail(e, rc, "steno_output_write: out of memory for the result");
    return sink.failed ? fail(e, STENO_EIO, "steno_output_write: not all of the %s was taken", format) : STENO_OK;
}

int steno_output_text(char **text, size_t *n, const steno_session *s, const char *format, const steno_output_params *p, steno_error *e)
{
    struct sink_memory m = { 0 };
    if (!text) return fail(e, STENO_EARG, "steno_output_text: text is NULL");
    *text = NULL;
    if (n) *n = 0;
    const struct sink to = sink_to_memory(&m);
    int rc = steno_output_write(s, format, p, to.write, to.user, e);
    if (rc == STENO_OK && !m.p) m.p = calloc(1, 1); /* nothing was written */
    if (rc != STENO_OK || !m.p) {
        free(m.p);
        return rc == STENO_EIO || rc == STENO_OK ? fail(e, STENO_ENOMEM, "steno_output_text: out of memory for the %s", format) : rc;
    }
    *text = m.p;
    if (n) *n = m.n;
    return STENO_OK;
}
