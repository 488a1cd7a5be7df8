/* steno: Whisper's special tokens and non-speech set. SPDX-License-Identifier: MIT
 *
 * Special ids are at the end of the vocabulary: end-of-text, start of transcript, the languages, six control tokens and 1501 timestamps in
 * steps of 20 ms. Only the number of languages differs. */
#include "model/whisper_tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "text/language.h"

enum {
    N_TIMESTAMPS = 1501,
    N_BEFORE = 2, N_CONTROL = 6, /* special tokens before the languages; between languages and timestamps */
    TOKEN_SPACE = 220            /* " " in both of Whisper's vocabularies */
};

int whisper_tokens_init(struct token_roles *t, int32_t n_vocab, steno_error *e)
{
    const int32_t n_languages = n_vocab > WHISPER_VOCAB_ENGLISH ? n_vocab - WHISPER_VOCAB_ENGLISH + 98 : 0;
    const int32_t n_slots = n_languages ? n_languages : 99;
    memset(t, 0, sizeof *t);
    if (n_languages > N_LANGUAGES)
        return err_set(e, STENO_EFORMAT, "n_vocab %d means %d languages, want at most %d (n_vocab %d)", n_vocab, n_languages, N_LANGUAGES,
                       WHISPER_VOCAB_ENGLISH + 2);
    if (n_vocab <= N_BEFORE + n_slots + N_CONTROL + N_TIMESTAMPS)
        return err_set(e, STENO_EFORMAT, "n_vocab %d leaves no room for text: %d ids are special", n_vocab,
                       N_BEFORE + n_slots + N_CONTROL + N_TIMESTAMPS);
    t->n_vocab = n_vocab;
    t->n_languages = n_languages;
    t->timestamp_begin = n_vocab - N_TIMESTAMPS;
    t->no_timestamps = t->timestamp_begin - 1;
    t->no_speech = t->timestamp_begin - 2;
    t->previous = t->timestamp_begin - 3;
    t->turn = t->timestamp_begin - 4;
    t->transcribe = t->timestamp_begin - 5;
    t->translate = t->timestamp_begin - 6;
    t->first_language = t->translate - n_slots;
    t->sot = t->first_language - 1;
    t->eot = t->n_text = t->first_language - 2;
    t->blank = n_vocab >= WHISPER_VOCAB_ENGLISH ? TOKEN_SPACE : -1;
    return STENO_OK;
}

const char *whisper_token_text(const struct token_roles *t, int32_t id, struct arena *a, uint32_t *n)
{
    static const char *const control[N_CONTROL] = { "translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps" };
    char text[32];
    *n = 0;
    if (id < t->eot || id >= t->n_vocab) return NULL;
    if (id >= t->timestamp_begin) {
        const int hundredths = 2 * (id - t->timestamp_begin);
        *n = (uint32_t)snprintf(text, sizeof text, "<|%d.%02d|>", hundredths / 100, hundredths % 100);
    } else {
        const char *name = id == t->eot ? "endoftext" : id == t->sot ? "startoftranscript" : id < t->translate
            ? language_code(id - t->first_language) : control[id - t->translate];
        *n = (uint32_t)snprintf(text, sizeof text, "<|%s|>", name);
    }
    return arena_strdup(a, text, *n);
}

/* Adds the first id of `space` + `text` to set, if it is the only id or `any` is set. A vocabulary without these bytes adds nothing. */
static int add_first(const struct bpe *b, const char *space, const char *text, int any, struct buf *set, struct buf *work, steno_error *e)
{
    char s[16];
    const int n = snprintf(s, sizeof s, "%s%s", space, text);
    buf_clear(work);
    const int rc = bpe_encode(b, s, (size_t)n, work, e);
    if (!rc && (any || work->len == sizeof(int32_t))) buf_add(set, work->p, sizeof(int32_t));
    return rc == STENO_EARG ? STENO_OK : rc;
}

static int id_compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

int whisper_non_speech(const struct bpe *b, struct buf *ids, steno_error *e)
{
    static const char *const symbol[] = {
        "\"", "#", "(", ")", "*", "+", "/", ":", ";", "<", "=", ">", "@", "[", "\\", "]", "^", "_", "`", "{", "|", "}", "~",
        "「", "」", "『", "』", "<<", ">>", "<<<", ">>>", "--", "---", "-(", "-[", "('", "(\"", "((", "))", "(((", ")))", "[[", "]]",
        "{{", "}}", "♪♪", "♪♪♪",
    };
    /* often several tokens: then their common first byte is added */
    static const char *const music[] = { "♩", "♪", "♫", "♬", "♭", "♮", "♯" };
    struct buf set = { 0 }, work = { 0 };
    int rc = add_first(b, " ", "-", 1, &set, &work, e);
    if (!rc) rc = add_first(b, " ", "'", 1, &set, &work, e);
    for (size_t i = 0; i < sizeof symbol / sizeof *symbol && !rc; i++) {
        rc = add_first(b, "", symbol[i], 0, &set, &work, e);
        if (!rc) rc = add_first(b, " ", symbol[i], 0, &set, &work, e);
    }
    for (size_t i = 0; i < sizeof music / sizeof *music && !rc; i++) {
        rc = add_first(b, "", music[i], 1, &set, &work, e);
        if (!rc) rc = add_first(b, " ", music[i], 1, &set, &work, e);
    }
    if (!rc && set.err) rc = err_nomem(e, set.len, "the non-speech tokens");
    if (!rc && set.len) {
        const size_t n = set.len / sizeof(int32_t);
        qsort(set.p, n, sizeof(int32_t), id_compare);
        for (size_t i = 0; i < n; i++) {
            const char *id = set.p + i * sizeof(int32_t);
            if (!i || memcmp(id, id - sizeof(int32_t), sizeof(int32_t))) buf_add(ids, id, sizeof(int32_t));
        }
        if (ids->err) rc = err_nomem(e, ids->len, "the non-speech tokens");
    }
    buf_free(&set);
    buf_free(&work);
    return rc;
}
