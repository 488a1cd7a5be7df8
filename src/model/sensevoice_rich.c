/* steno: SenseVoice's text for display. SPDX-License-Identifier: MIT
 *
 * Reproduces FunASR's rich_transcription_postprocess exactly (funasr/utils/postprocess_utils.py). The text is cut at language tags, and all
 * tags are removed from each piece. The emotion that a piece names most often becomes a symbol at its end; each event becomes one at its
 * beginning. A piece that begins with the event of the piece before it loses the symbol. If two consecutive pieces end with the same
 * emotion, the first one loses its symbol. */
#include <stdio.h>
#include <string.h>
#include "model/sensevoice.h"

#define PAIR "<|nospeech|><|Event_UNK|>"
#define QUESTION "\xe2\x9d\x93"

enum { PLAIN, EMOTION, EVENT };

/* In the order in which they are removed, counted and inserted. */
static const struct { const char *tag; int kind; const char *sign; } tags[] = {
    { PAIR, PLAIN, "" },
    { "<|zh|>", PLAIN, "" },
    { "<|en|>", PLAIN, "" },
    { "<|yue|>", PLAIN, "" },
    { "<|ja|>", PLAIN, "" },
    { "<|ko|>", PLAIN, "" },
    { "<|nospeech|>", PLAIN, "" },
    { "<|HAPPY|>", EMOTION, "\xf0\x9f\x98\x8a" },
    { "<|SAD|>", EMOTION, "\xf0\x9f\x98\x94" },
    { "<|ANGRY|>", EMOTION, "\xf0\x9f\x98\xa1" },
    { "<|NEUTRAL|>", EMOTION, "" },
    { "<|BGM|>", EVENT, "\xf0\x9f\x8e\xbc" },
    { "<|Speech|>", EVENT, "" },
    { "<|Applause|>", EVENT, "\xf0\x9f\x91\x8f" },
    { "<|Laughter|>", EVENT, "\xf0\x9f\x98\x80" },
    { "<|FEARFUL|>", EMOTION, "\xf0\x9f\x98\xb0" },
    { "<|DISGUSTED|>", EMOTION, "\xf0\x9f\xa4\xa2" },
    { "<|SURPRISED|>", EMOTION, "\xf0\x9f\x98\xae" },
    { "<|Cry|>", EVENT, "\xf0\x9f\x98\xad" },
    { "<|EMO_UNKNOWN|>", PLAIN, "" },
    { "<|Sneeze|>", EVENT, "\xf0\x9f\xa4\xa7" },
    { "<|Breath|>", EVENT, "" },
    { "<|Cough|>", EVENT, "\xf0\x9f\xa4\xa7" },
    { "<|Sing|>", PLAIN, "" },
    { "<|Speech_Noise|>", PLAIN, "" },
    { "<|withitn|>", PLAIN, "" },
    { "<|woitn|>", PLAIN, "" },
    { "<|GBG|>", PLAIN, "" },
    { "<|Event_UNK|>", PLAIN, "" },
};

enum { N_TAGS = sizeof tags / sizeof *tags, SIGN = 4 /* bytes of every symbol except the question mark */ };

static const char mask[] = "\xf0\x9f\x98\xb7"; /* another symbol for a cough, which the reference recognises and never writes */

/* Is there a symbol of this kind at s? */
static int is_sign(const char *s, size_t n, int kind)
{
    if (n < SIGN) return 0;
    if (kind == EVENT && !memcmp(s, mask, SIGN)) return 1;
    for (int i = 0; i < N_TAGS; i++)
        if (tags[i].kind == kind && *tags[i].sign && !memcmp(s, tags[i].sign, SIGN)) return 1;
    return 0;
}

/* Replaces every `what`, from the left, by `to`, which is not longer. @return their number */
static int replace(struct buf *b, const char *what, const char *to)
{
    const size_t n = strlen(what), n_to = strlen(to);
    size_t out = 0;
    int count = 0;
    for (size_t i = 0; i < b->len;) {
        if (b->len - i < n || memcmp(b->p + i, what, n) != 0) {
            b->p[out++] = b->p[i++];
            continue;
        }
        memcpy(b->p + out, to, n_to);
        out += n_to;
        i += n;
        count++;
    }
    if (count) b->p[b->len = out] = '\0';
    return count;
}

/* Removes one space on each side of a symbol. */
static void close_up(struct buf *b, const char *sign)
{
    char before[SIGN + 2], behind[SIGN + 2];
    snprintf(before, sizeof before, " %s", sign);
    snprintf(behind, sizeof behind, "%s ", sign);
    replace(b, before, sign);
    replace(b, behind, sign);
}

static int is_first_with_sign(int i)
{
    for (int k = 0; k < i; k++)
        if (!strcmp(tags[k].sign, tags[i].sign)) return 0;
    return *tags[i].sign != '\0';
}

/* Appends a piece without its tags to `made`. */
static void piece_format(struct buf *piece, struct buf *made)
{
    int count[N_TAGS], emotion = -1, most = 0;
    for (int i = 0; i < N_TAGS; i++) {
        count[i] = replace(piece, tags[i].tag, "");
        if (!strcmp(tags[i].tag, "<|NEUTRAL|>")) most = count[i]; /* the default until another emotion is named more often */
    }
    for (int i = 0; i < N_TAGS; i++) {
        if (tags[i].kind != EMOTION || count[i] <= most) continue;
        most = count[i];
        emotion = i;
    }
    buf_clear(made);
    for (int i = N_TAGS - 1; i >= 0; i--)
        if (tags[i].kind == EVENT && count[i]) buf_str(made, tags[i].sign);
    buf_add(made, piece->p ? piece->p : "", piece->len);
    if (emotion >= 0) buf_str(made, tags[emotion].sign);
    if (made->err || !made->p) return;
    for (int i = 0; i < N_TAGS; i++)
        if (is_first_with_sign(i)) close_up(made, tags[i].sign);
    close_up(made, mask);
}

/* State carried from piece to piece. */
struct joined_text {
    struct buf *text;
    size_t from;      /* start of the joined text in `text` */
    char event[SIGN]; /* event at the start of the last piece, zeros: none */
    int n;            /* number of pieces so far */
};

static void piece_join(struct joined_text *j, struct buf *made)
{
    const char *s = made->p ? made->p : "";
    size_t n = made->len;
    text_strip(&s, &n);
    if (!j->n++) {
        buf_add(j->text, s, n); /* after a space, so that no event is recognised */
        return;
    }
    if (n && is_sign(s, n, EVENT) && !memcmp(s, j->event, SIGN)) s += SIGN, n -= SIGN;
    if (!n) return;
    memset(j->event, 0, SIGN);
    if (is_sign(s, n, EVENT)) memcpy(j->event, s, SIGN);
    struct buf *t = j->text;
    const char *last = n >= SIGN ? s + n - SIGN : "";
    if (!t->err && n >= SIGN && is_sign(last, SIGN, EMOTION) && t->len - j->from >= SIGN && !memcmp(t->p + t->len - SIGN, last, SIGN))
        t->len -= SIGN;
    text_strip(&s, &n);
    buf_add(t, s, n);
}

/* Length of a language tag at s; 0: there is none. */
static size_t language_at(const char *s, size_t n)
{
    static const char *const at[] = { "<|zh|>", "<|en|>", "<|yue|>", "<|ja|>", "<|ko|>", "<|nospeech|>", "<|lang|>" };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        if (n >= strlen(at[i]) && !memcmp(s, at[i], strlen(at[i]))) return strlen(at[i]);
    return 0;
}

void sensevoice_rich_text(const char *raw, size_t n, struct buf *text)
{
    struct buf piece = { 0 }, made = { 0 };
    struct joined_text j = { .text = text, .from = text->len };
    for (size_t i = 0;;) {
        const size_t left = n - i, cut = language_at(raw + i, left), pair = strlen(PAIR);
        if (left >= pair && !memcmp(raw + i, PAIR, pair)) {
            buf_str(&piece, QUESTION);
            i += pair;
        } else if (left && !cut) {
            buf_add(&piece, raw + i++, 1);
        } else {
            piece_format(&piece, &made);
            piece_join(&j, &made);
            if (piece.err || made.err) text->err = 1;
            buf_clear(&piece);
            if (!left) break;
            i += cut;
        }
    }
    buf_free(&piece);
    buf_free(&made);
    if (text->err || !text->p) return;
    struct buf whole = { .p = text->p + j.from, .len = text->len - j.from }; /* a view of part of text */
    replace(&whole, "The.", " ");
    const char *s = whole.p;
    size_t len = whole.len;
    text_strip(&s, &len);
    memmove(whole.p, s, len);
    text->len = j.from + len;
    text->p[text->len] = '\0';
}
