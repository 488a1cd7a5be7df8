/* steno: a transcript as writers use it, with its notes and the texts of its tokens. SPDX-License-Identifier: MIT */
#include "transcript.h"
#include "utf8.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- notes ------------------------------------------------------------------------------------------------------------------- */

void notes_add(struct notes *n, enum note_kind kind, const char *fmt, ...)
{
    va_list ap;
    for (int i = 0; i < n->n; i++)
        if (n->note[i].kind == kind) return;
    struct note *note = &n->note[n->n++];
    note->kind = kind;
    va_start(ap, fmt);
    vsnprintf(note->text, sizeof note->text, fmt, ap);
    va_end(ap);
}

const char *note_name(enum note_kind kind)
{
    static const char *const names[] = {
#define NOTE_NAME(k, name) [NOTE_##k] = name,
        NOTE_KINDS(NOTE_NAME)
#undef NOTE_NAME
    };
    return names[kind];
}

int note_is_of_sound(enum note_kind kind)
{
    return kind <= NOTE_CLIPPED;
}

void write_json_notes(struct sink *f, const struct notes *n, int always)
{
    const int count = n ? n->n : 0;
    if (!count && !always) return;
    sink_text(f, ", \"notes\": [");
    for (int i = 0; i < count; i++) {
        sink_format(f, "%s{\"kind\": \"%s\", \"text\": ", i ? ", " : "", note_name(n->note[i].kind));
        utf8_json(f, n->note[i].text);
        sink_char(f, '}');
    }
    sink_char(f, ']');
}

/* ---- texts of tokens --------------------------------------------------------------------------------------------------------- */

/* A token may end inside a character. Its bytes alone are then not valid UTF-8. */

/* A character has at most four bytes, and a token at least one. */
enum { MAX_JOINED = 4 };

/* Text of ids[n]. @return 1, 0 if it ends inside a character, or a negative status */
static int spell(char text[TOKEN_TEXT_SZ], const steno_model *m, const int32_t *ids, int n)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const int64_t len = steno_detokenize(m, ids, n, text, TOKEN_TEXT_SZ);
    if (len < 0) {
        text[0] = '\0';
        return (int)len;
    }
    const size_t k = strlen(text);
    return k < 3 || memcmp(text + k - 3, replacement, 3) != 0;
}

int token_text(char text[TOKEN_TEXT_SZ], const steno_model *m, int32_t end, const int32_t *ids, int n)
{
    for (int k = 1; k <= n && k <= MAX_JOINED && (k == 1 || end < 0 || ids[k - 1] < end); k++) {
        const int rc = spell(text, m, ids, k);
        if (rc) return rc < 0 ? rc : k;
    }
    const int rc = spell(text, m, ids, 1);
    return rc < 0 ? rc : 1;
}

/* ---- the transcript ---------------------------------------------------------------------------------------------------------- */

/* Finds the first word and token of each segment. *blank: 1 if no segment has text. */
static int take_segments(struct transcript_store *store, const steno_session *s, int n, size_t *n_words, size_t *n_tokens, int *blank)
{
    store->segs = calloc((size_t)n + 1, sizeof *store->segs);
    store->first_word = calloc((size_t)n + 1, sizeof *store->first_word);
    store->first_token = calloc((size_t)n + 1, sizeof *store->first_token);
    if (!store->segs || !store->first_word || !store->first_token) return -1;
    *n_words = *n_tokens = 0;
    *blank = 1;
    for (int i = 0; i < n; i++) {
        steno_segment *seg = &store->segs[i];
        size_t len;
        seg->size = sizeof *seg;
        steno_segment_get(s, i, seg);
        store->first_word[i] = (int32_t)*n_words;
        store->first_token[i] = (int32_t)*n_tokens;
        *n_words += (size_t)seg->n_words;
        *n_tokens += (size_t)seg->n_tokens;
        utf8_strip(seg->text, &len);
        if (len) *blank = 0;
    }
    return 0;
}

/* @return 0, or -1 if memory runs out */
static int take_hypotheses(struct transcript *t, struct transcript_store *store, const steno_session *s)
{
    t->n_hypotheses = steno_hypothesis_count(s);
    store->hypotheses = calloc((size_t)t->n_hypotheses + 1, sizeof *store->hypotheses);
    for (int i = 0; i < t->n_hypotheses && store->hypotheses; i++) {
        store->hypotheses[i].size = sizeof *store->hypotheses;
        steno_hypothesis_get(s, i, &store->hypotheses[i]);
    }
    t->hypotheses = store->hypotheses;
    return store->hypotheses ? 0 : -1;
}

/* @return 0, or -1 if memory runs out */
static int take_left_out(struct transcript *t, struct transcript_store *store, const steno_session *s)
{
    t->n_left_out = steno_left_out_count(s);
    store->left_out = calloc((size_t)t->n_left_out + 1, sizeof *store->left_out);
    for (int i = 0; i < t->n_left_out && store->left_out; i++) {
        store->left_out[i].size = sizeof *store->left_out;
        steno_left_out_get(s, i, &store->left_out[i]);
    }
    t->left_out = store->left_out;
    return store->left_out ? 0 : -1;
}

/* @return 0 if the language was given */
static double probability_of(const steno_model *m, const steno_session *s)
{
    const char *code;
    for (int i = 0; m && (code = steno_model_language(m, i)); i++)
        if (strcmp(code, steno_language(s)) == 0) return fmax((double)steno_language_prob(s, i), 0);
    return 0;
}

int transcript_take(struct transcript *t, struct transcript_store *store, const steno_session *s)
{
    const int n = steno_segment_count(s);
    size_t n_words, n_tokens;
    int blank;
    if (take_segments(store, s, n, &n_words, &n_tokens, &blank)) return -1;
    store->words = calloc(n_words + 1, sizeof *store->words);
    store->tokens = calloc(n_tokens + 1, sizeof *store->tokens);
    t->n_sentences = steno_sentence_count(s);
    store->sentences = calloc((size_t)t->n_sentences + 1, sizeof *store->sentences);
    if (!store->words || !store->tokens || !store->sentences || take_hypotheses(t, store, s)) return -1;
    if (take_left_out(t, store, s)) return -1;
    for (int i = 0; i < t->n_sentences; i++) {
        store->sentences[i].size = sizeof *store->sentences;
        steno_sentence_get(s, i, &store->sentences[i]);
    }
    t->sentences = store->sentences;
    for (int i = 0; i < n; i++) {
        for (int32_t k = 0; k < store->segs[i].n_words; k++) {
            steno_word *w = &store->words[store->first_word[i] + k];
            w->size = sizeof *w;
            steno_word_get(s, i, k, w);
        }
        for (int32_t k = 0; k < store->segs[i].n_tokens; k++) {
            steno_token *tok = &store->tokens[store->first_token[i] + k];
            tok->size = sizeof *tok;
            steno_token_get(s, i, k, tok);
        }
    }
    t->segs = store->segs;
    t->n = n;
    t->words = store->words;
    t->first_word = store->first_word;
    t->tokens = store->tokens;
    t->first_token = store->first_token;
    t->word_times = t->word_times && (n_words > 0 || blank);
    t->text = steno_text(s);
    t->language = steno_language(s);
    t->language_prob = probability_of(t->model, s);
    t->duration_ms = steno_duration_ms(s);
    return 0;
}

void transcript_free(struct transcript_store *store)
{
    free(store->segs);
    free(store->words);
    free(store->tokens);
    free(store->sentences);
    free(store->hypotheses);
    free(store->left_out);
    free(store->first_word);
    free(store->first_token);
    free(store->speakers);
    free(store->text);
    memset(store, 0, sizeof *store);
}
