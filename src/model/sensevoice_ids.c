/* steno: SenseVoice's queries, tags and text. SPDX-License-Identifier: MIT
 *
 * Ids are SentencePiece pieces and tags <|WORD|>, which describe the audio. Reference: FunASR 1.4, funasr/models/sense_voice/model.py. */
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

/* The query row for a language; -1: there is none. */
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
        const char *code = language_code(language_find(q->language)); /* NULL: a language that only this model has, or "nospeech" */
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

/* Only the first tag of a kind counts. */
static void take_tag(const uint8_t *s, uint32_t n, struct ctc_tags *to)
{
    const char **const place[] = { &to->language, &to->emotion, &to->event, &to->itn };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        const char **at = place[tags[i].kind];
        if (!*at && strlen(tags[i].word) == n - 4 && !memcmp(tags[i].word, s + 2, n - 4)) *at = tags[i].word;
    }
}

/* ---- text ---------------------------------------------------------------------------------------------------------------------- */

/* Pieces for the start and end of a sentence are not text. */
static int is_control(const uint8_t *s, uint32_t n)
{
    return (n == 3 && !memcmp(s, "<s>", 3)) || (n == 4 && !memcmp(s, "</s>", 4));
}

/* Appends the pieces and collects the tags. */
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

/* The reference tokenizes the text again, and aligns this id where a piece is a single space. In the published vocabulary it is the id of a
 * single space. */
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
