/* steno: splits segments into shorter ones. SPDX-License-Identifier: MIT
 *
 * A segment is a list of places where it may be split. Each place has the number of bytes and code points before it, and its time, if
 * known. Pieces are taken from the start, each as long as allowed. Words and tokens are located in the text by their own text; if they
 * differ from it, the text is not split. The rule is whisper.cpp's max_len, which counts in the same way but lets a word of several tokens
 * exceed the limit. */
#include "reshape.h"
#include "transcript.h"
#include "utf8.h"
#include "write.h"
#include <stdlib.h>
#include <string.h>

struct place {
    size_t at;     /* bytes of the segment's text before it */
    size_t length; /* code points before it */
    int64_t t_ms;  /* -1: not known */
    int word;      /* a word begins here, as far as known */
    int turn;      /* and it is of another speaker */
};

struct piece {
    steno_segment seg;
    size_t text; /* offset of its text in the new store's text */
    int32_t first_word, first_token, speaker;
};

struct reshaper {
    const struct transcript *t;
    const struct reshape_rules *rules;
    int32_t end;           /* first id that is not text, -1: none */
    struct place *place;   /* [n_places] of the current segment; room for all its tokens or words, and one more */
    size_t n_places;
    size_t *token_at;      /* offset of each token in the text; room as above */
    struct piece *piece;   /* [n] of all segments so far */
    size_t n, cap;
    char *text;            /* [text_n] of all pieces so far, each with a NUL */
    size_t text_n, text_cap;
};

/* ---- places ------------------------------------------------------------------------------------------------------------------ */

/* Does text that begins like this begin a word? True after a space, and everywhere in scripts without spaces (ideographs, kana). */
static int begins_word(const char *text)
{
    enum { FIRST_IDEOGRAPH = 0x2e80 };
    size_t used;
    return text[0] == ' ' || utf8_decode(text, strlen(text), &used) >= FIRST_IDEOGRAPH;
}

/* Adds a place at byte `at`, after the last place. Place 0 is ignored, because there is nothing to split. */
static void place_add(struct reshaper *r, const char *text, size_t at, int64_t t_ms, int word)
{
    const struct place last = r->n_places ? r->place[r->n_places - 1] : (struct place){ 0 };
    if (at > last.at)
        r->place[r->n_places++] = (struct place){ .at = at, .length = last.length + utf8_length(text + last.at, at - last.at), .t_ms = t_ms,
                                                  .word = word };
}

/* May a piece begin with this text? */
static int may_begin(const struct reshaper *r, const char *text)
{
    return !r->rules->by_words || text[0] == ' ';
}

/* Finds the places where the speaker changes. If the speaker between two words is not known, the current one continues. */
static void find_turns(struct reshaper *r, const steno_segment *seg)
{
    int64_t t0 = seg->t0_ms;
    struct place *begin = NULL; /* start of the stretch; NULL: start of the segment */
    int now = WRITE_SPEAKER_UNKNOWN;
    for (size_t k = 0; r->rules->speaker && k <= r->n_places; k++) {
        struct place *next = k < r->n_places ? &r->place[k] : NULL;
        if (next && (!next->word || next->t_ms < 0)) continue;
        const int64_t t1 = next ? next->t_ms : seg->t1_ms;
        const int who = t0 >= 0 && t1 > t0 ? r->rules->speaker(r->rules->user, t0, t1) : WRITE_SPEAKER_UNKNOWN;
        if (begin) begin->turn = who >= 0 && now >= 0 && who != now;
        if (who >= 0) now = who;
        begin = next;
        t0 = t1;
    }
}

/* Adds the places before words. @return 1, or 0 if words and text differ */
static int places_of_words(struct reshaper *r, int i)
{
    const steno_segment *seg = &r->t->segs[i];
    const size_t len = strlen(seg->text);
    size_t at = 0;
    r->n_places = 0;
    for (int32_t k = 0; k < seg->n_words; k++) {
        const steno_word *w = &r->t->words[r->t->first_word[i] + k];
        const size_t n = strlen(w->text);
        if (n > len - at || memcmp(seg->text + at, w->text, n) != 0) return 0;
        if (may_begin(r, w->text)) place_add(r, seg->text, at, w->t0_ms, 1);
        at += n;
    }
    return at == len;
}

/* Finds the offsets of a segment's tokens in its text, and adds places before them if `add` is set. It stops at a token that is not in the
 * text. @return 0, or -1 if memory runs out */
static int find_tokens(struct reshaper *r, int i, int add)
{
    const steno_segment *seg = &r->t->segs[i];
    const size_t len = strlen(seg->text);
    char text[TOKEN_TEXT_SZ];
    size_t at = 0;
    int whole = 1;
    if (add) r->n_places = 0;
    for (int32_t k = 0; k < seg->n_tokens;) {
        r->token_at[k] = at;
        if (!whole || (r->end >= 0 && seg->tokens[k] >= r->end)) {
            k++;
            continue;
        }
        const int joined = token_text(text, r->t->model, r->end, seg->tokens + k, seg->n_tokens - k);
        if (joined == STENO_ENOMEM) return -1;
        const size_t n = strlen(text);
        whole = joined > 0 && n <= len - at && memcmp(seg->text + at, text, n) == 0;
        if (whole && add && may_begin(r, text))
            place_add(r, seg->text, at, r->t->tokens ? r->t->tokens[r->t->first_token[i] + k].t0_ms : -1, begins_word(text));
        for (int j = 1; j < joined; j++) r->token_at[k + j] = at;
        if (whole) at += n;
        k += joined > 0 ? joined : 1;
    }
    return 0;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------------------ */

/* Makes room for another item of `sz` bytes, or for a text of `sz` bytes. @return 0, or -1 if memory runs out */
static int grow(void **p, size_t *cap, size_t n, size_t sz)
{
    if (n <= *cap) return 0;
    const size_t want = n > 2 * *cap ? n : 2 * *cap;
    void *q = realloc(*p, want * sz);
    if (!q) return -1;
    *p = q;
    *cap = want;
    return 0;
}

static int piece_push(struct reshaper *r, const struct piece *p, const char *text, size_t n)
{
    void *pieces = r->piece, *texts = r->text;
    int bad = grow(&pieces, &r->cap, r->n + 1, sizeof *r->piece);
    r->piece = pieces;
    if (!bad) bad = grow(&texts, &r->text_cap, r->text_n + n + 1, 1);
    r->text = texts;
    if (bad) return -1;
    r->piece[r->n] = *p;
    r->piece[r->n++].text = r->text_n;
    memcpy(r->text + r->text_n, text, n);
    r->text[r->text_n + n] = '\0';
    r->text_n += n + 1;
    return 0;
}

/* Time of place k, for a piece that begins at `from`. */
static int64_t time_of(const struct reshaper *r, const steno_segment *seg, size_t k, struct place from, size_t total)
{
    struct place next = { .length = total, .t_ms = seg->t1_ms };
    if (from.t_ms < 0 || seg->t1_ms < 0) return r->place[k].t_ms;
    for (size_t i = r->n_places; i-- > k;)
        if (r->place[i].t_ms >= 0) next = r->place[i];
    int64_t t = next.t_ms;
    if (next.length > r->place[k].length)
        t = from.t_ms + (int64_t)((double)(next.t_ms - from.t_ms) * (double)(r->place[k].length - from.length) /
                                  (double)(next.length - from.length));
    if (t > seg->t1_ms) t = seg->t1_ms;
    return t < from.t_ms ? from.t_ms : t;
}

/* The first word of segment i, starting with `first`, that does not begin before byte `at`. *done: bytes of the words before it. */
static int32_t words_before(const struct transcript *t, int i, int32_t first, size_t *done, size_t at)
{
    int32_t k = first;
    for (; k < t->segs[i].n_words && *done < at; k++) *done += strlen(t->words[t->first_word[i] + k].text);
    return k;
}

/* End of a piece that begins at `from`, among the places from k on: the next change of speaker, or before it the last place within the
 * length, else the first place. @return n_places: the end of the segment */
static size_t choose(const struct reshaper *r, size_t k, struct place from, size_t total)
{
    const size_t most = r->rules->max_len ? from.length + (size_t)r->rules->max_len : SIZE_MAX;
    while (k < r->n_places && !r->place[k].turn && (k + 1 < r->n_places ? r->place[k + 1].length : total) <= most) k++;
    return k;
}

/* Splits segment i at its places. */
static int cut_segment(struct reshaper *r, int i)
{
    const struct transcript *t = r->t;
    const steno_segment *seg = &t->segs[i];
    const size_t len = strlen(seg->text);
    const struct place whole = { .at = len, .length = utf8_length(seg->text, len), .t_ms = seg->t1_ms };
    struct piece p = { .seg = *seg, .first_word = t->first_word ? t->first_word[i] : 0,
                       .first_token = t->first_token ? t->first_token[i] : 0,
                       .speaker = t->speakers ? t->speakers[i] : WRITE_SPEAKER_UNKNOWN };
    const int32_t of_all = p.speaker;
    struct place from = { .t_ms = seg->t0_ms }, to;
    int32_t word = 0, token = 0;
    size_t word_at = 0;
    double end;
    write_seconds(seg, t->first_timestamp, &p.seg.start, &end);
    for (size_t k = 0; k <= r->n_places; k++) {
        k = choose(r, k, from, whole.length);
        const int last = k == r->n_places;
        to = last ? whole : r->place[k];
        if (!last) to.t_ms = time_of(r, seg, k, from, whole.length);
        const int32_t words_to = last ? seg->n_words : words_before(t, i, word, &word_at, to.at);
        int32_t tokens_to = token;
        while (tokens_to < seg->n_tokens && (last || r->token_at[tokens_to] < to.at)) tokens_to++;
        p.seg.id = (int32_t)r->n;
        p.seg.n_words = words_to - word;
        p.seg.n_tokens = tokens_to - token;
        p.seg.t0_ms = from.t_ms;
        p.seg.t1_ms = to.t_ms;
        p.seg.end = last ? end : (double)to.t_ms / 1000.0;
        p.seg.speaker_turn = last && seg->speaker_turn;
        p.speaker = of_all;
        if (r->rules->speaker && (k < r->n_places || from.at)) { /* whole segments keep the caller's speaker */
            const int who = from.t_ms >= 0 && to.t_ms >= 0 ? r->rules->speaker(r->rules->user, from.t_ms, to.t_ms) : WRITE_SPEAKER_UNKNOWN;
            if (who >= 0) p.speaker = who;
        }
        if (piece_push(r, &p, seg->text + from.at, to.at - from.at)) return -1;
        p.first_word += p.seg.n_words;
        p.first_token += p.seg.n_tokens;
        p.seg.tokens = seg->tokens ? seg->tokens + tokens_to : NULL;
        p.seg.start = p.seg.end;
        word = words_to;
        token = tokens_to;
        from = to;
    }
    return 0;
}

/* ---- the new transcript ------------------------------------------------------------------------------------------------------ */

static int begin(struct reshaper *r)
{
    size_t most = 0;
    for (int i = 0; i < r->t->n; i++) {
        const steno_segment *seg = &r->t->segs[i];
        if ((size_t)seg->n_tokens > most) most = (size_t)seg->n_tokens;
        if ((size_t)seg->n_words > most) most = (size_t)seg->n_words;
    }
    r->place = calloc(most + 1, sizeof *r->place);
    r->token_at = calloc(most + 1, sizeof *r->token_at);
    r->end = r->t->model ? steno_token_id(r->t->model, STENO_TOKEN_END) : -1;
    return r->place && r->token_at ? 0 : -1;
}

/* Stores the pieces in t and its store. */
static int finish(struct reshaper *r, struct transcript *t, struct transcript_store *store)
{
    struct transcript_store fresh = { .segs = calloc(r->n + 1, sizeof *fresh.segs) };
    fresh.first_word = calloc(r->n + 1, sizeof *fresh.first_word);
    fresh.first_token = calloc(r->n + 1, sizeof *fresh.first_token);
    fresh.speakers = calloc(r->n + 1, sizeof *fresh.speakers);
    if (!fresh.segs || !fresh.first_word || !fresh.first_token || !fresh.speakers) {
        transcript_free(&fresh);
        return -1;
    }
    for (size_t i = 0; i < r->n; i++) {
        fresh.segs[i] = r->piece[i].seg;
        fresh.segs[i].text = r->text + r->piece[i].text;
        fresh.first_word[i] = r->piece[i].first_word;
        fresh.first_token[i] = r->piece[i].first_token;
        fresh.speakers[i] = r->piece[i].speaker;
    }
    t->segs = fresh.segs;
    t->n = (int)r->n;
    if (t->first_word) t->first_word = fresh.first_word;
    if (t->first_token) t->first_token = fresh.first_token;
    if (t->speakers) t->speakers = fresh.speakers;
    fresh.words = store->words;
    fresh.tokens = store->tokens;
    fresh.text = r->text;
    r->text = NULL;
    store->words = NULL;
    store->tokens = NULL;
    transcript_free(store);
    *store = fresh;
    return 0;
}

int reshape(struct transcript *t, struct transcript_store *store, const struct reshape_rules *rules)
{
    struct reshaper r = { .t = t, .rules = rules };
    int bad = begin(&r);
    for (int i = 0; i < t->n && !bad; i++) {
        const int in_words = t->word_times && t->segs[i].n_words && places_of_words(&r, i);
        bad = find_tokens(&r, i, !in_words);
        if (!bad) find_turns(&r, &t->segs[i]);
        if (!bad) bad = cut_segment(&r, i);
    }
    if (!bad) bad = finish(&r, t, store);
    free(r.place);
    free(r.token_at);
    free(r.piece);
    free(r.text);
    return bad;
}
