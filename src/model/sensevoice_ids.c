/* steno: what SenseVoice is asked, and what its ids say. SPDX-License-Identifier: MIT
 *
 * Ids are pieces of SentencePiece and tags <|WORD|>, which say something about the audio. Reference: FunASR 1.4,
 * funasr/models/sense_voice/model.py. */
#include <string.h>
#include "model/sensevoice.h"

/* ---- queries ------------------------------------------------------------------------------------------------------------------- */

static const struct { const char *code; int32_t row; } known_language[] = {
    { "zh", 3 }, { "en", 4 }, { "yue", 7 }, { "ja", 11 }, { "ko", 12 }, { "nospeech", 13 },
};

enum { N_KNOWN = sizeof known_language / sizeof *known_language, N_SPOKEN = N_KNOWN - 1 };

static const char *sensevoice_language(int i)
{
    return known_language[i].code;
}

/* The query that asks for a language; -1: there is none. */
static int32_t language_row(const char *code)
{
    for (int i = 0; i < N_KNOWN; i++)
        if (!strcmp(code, known_language[i].code)) return known_language[i].row;
    return -1;
}

static int sensevoice_query_rows(const steno_model *m, const struct ctc_options *q, int32_t *rows, steno_error *e)
{
    (void)m;
    int row = 0;
    if (!language_is_auto(q->language)) {
        const char *code = language_code(language_find(q->language)); /* NULL: one of no other model, or "nospeech" */
        row = language_row(code ? code : q->language);
    }
    if (row < 0) return language_refuse(e, q->language, sensevoice_language, N_SPOKEN);
    const int32_t ask[SENSEVOICE_QUERY_ROWS] = { row, 1, 2, q->itn ? 14 : 15 };
    memcpy(rows, ask, sizeof ask);
    return SENSEVOICE_QUERY_ROWS;
}

static int32_t sensevoice_barred(const steno_model *m, const struct ctc_options *q)
{
    static const char unknown[] = "<|EMO_UNKNOWN|>";
    return q->ban_unknown_emotion ? vocab_find(&m->vocab, (const uint8_t *)unknown, sizeof unknown - 1) : -1;
}

/* ---- tags ---------------------------------------------------------------------------------------------------------------------- */

enum { TAG_LANGUAGE, TAG_EMOTION, TAG_EVENT, TAG_ITN };

static const struct { const char *word; int kind; } tags[] = {
    { "zh", TAG_LANGUAGE },         { "en", TAG_LANGUAGE },       { "yue", TAG_LANGUAGE },     { "ja", TAG_LANGUAGE },
    { "ko", TAG_LANGUAGE },         { "nospeech", TAG_LANGUAGE }, { "HAPPY", TAG_EMOTION },    { "SAD", TAG_EMOTION },
    { "ANGRY", TAG_EMOTION },       { "NEUTRAL", TAG_EMOTION },   { "FEARFUL", TAG_EMOTION },  { "DISGUSTED", TAG_EMOTION },
    { "SURPRISED", TAG_EMOTION },   { "EMO_UNKNOWN", TAG_EMOTION }, { "BGM", TAG_EVENT },      { "Speech", TAG_EVENT },
    { "Applause", TAG_EVENT },      { "Laughter", TAG_EVENT },    { "Cry", TAG_EVENT },        { "Sneeze", TAG_EVENT },
    { "Breath", TAG_EVENT },        { "Cough", TAG_EVENT },       { "Sing", TAG_EVENT },       { "Speech_Noise", TAG_EVENT },
    { "GBG", TAG_EVENT },           { "Event_UNK", TAG_EVENT },   { "woitn", TAG_ITN },        { "withitn", TAG_ITN },
};

static int is_tag(const uint8_t *s, uint32_t n)
{
    return n >= 5 && !memcmp(s, "<|", 2) && !memcmp(s + n - 2, "|>", 2);
}

/* The first one of a kind counts. */
static void take_tag(const uint8_t *s, uint32_t n, struct ctc_tags *to)
{
    const char **const place[] = { &to->language, &to->emotion, &to->event, &to->itn };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        const char **at = place[tags[i].kind];
        if (!*at && strlen(tags[i].word) == n - 4 && !memcmp(tags[i].word, s + 2, n - 4)) *at = tags[i].word;
    }
}

/* ---- text ---------------------------------------------------------------------------------------------------------------------- */

/* Pieces that begin and end sentences, and are no text. */
static int is_control(const uint8_t *s, uint32_t n)
{
    return (n == 3 && !memcmp(s, "<s>", 3)) || (n == 4 && !memcmp(s, "</s>", 4));
}

/* Pieces side by side. */
static void sensevoice_ids_to_text(const steno_model *m, const int32_t *ids, int32_t n, int with_tags, struct buf *text,
                                   struct ctc_tags *told)
{
    *told = (struct ctc_tags){ 0 };
    for (int32_t i = 0; i < n; i++) {
        const uint8_t *s = m->vocab.bytes[ids[i]];
        const uint32_t len = m->vocab.len[ids[i]];
        if (is_tag(s, len)) {
            take_tag(s, len, told);
            if (!with_tags) continue;
        }
        if (len && !is_control(s, len)) buf_add(text, s, len);
    }
}

/* The reference makes pieces of the text once more, and looks for this id where one is a space alone: in the published vocabulary, what a
 * space alone is. */
static int32_t sensevoice_spoken(const steno_model *m, int32_t id)
{
    enum { SPACE_ALONE = 124 };
    const uint8_t *s = m->vocab.bytes[id];
    const uint32_t len = m->vocab.len[id];
    if (!len || is_tag(s, len) || is_control(s, len)) return -1;
    return len == 1 && s[0] == ' ' && m->n_vocab > SPACE_ALONE ? SPACE_ALONE : id;
}

void sensevoice_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes)
{
    struct ctc_tags told;
    sensevoice_ids_to_text(m, ids, n, 0, bytes, &told);
}

const struct ctc sensevoice_ctc = {
    .query_rows = sensevoice_query_rows,
    .barred = sensevoice_barred,
    .ids_to_text = sensevoice_ids_to_text,
    .spoken = sensevoice_spoken,
    .rich_text = sensevoice_rich_text,
};
