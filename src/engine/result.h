/* steno: results of a request. SPDX-License-Identifier: MIT */
#ifndef STENO_ENGINE_RESULT_H
#define STENO_ENGINE_RESULT_H
#include "base/buf.h"
#include "model/family.h"

/* A finished segment. Text, tokens and words are offsets in growing buffers; readers get pointers. */
struct segment {
    int64_t seek_frames, t0_ms, t1_ms;
    double start, end;     /* the same in seconds, unrounded; NAN: not known */
    size_t text, first_token, first_word;
    int32_t n_tokens, n_words, attempt, speaker_turn;
    uint32_t flags, pad;   /* pads are 0: segments, times and words are written to records as they are in memory (resume.h) */
    double temperature, avg_logprob, compression_ratio, no_speech_prob;
    struct ctc_tags tags;
    const char *word_source; /* source of its word times; NULL: none */
};

/* Times of a token in the file, ms; -1: not known. dtw: its start by the word alignment. */
struct token_time {
    int64_t t0, t1, dtw;
    float vlen, pad; /* vlen: spoken length in units (words/token_times.h) */
};

/* A word of a segment. */
struct word {
    double start, end, probability; /* seconds in the file */
    size_t text;                    /* offset in result.text */
    int32_t n_tokens, pad;
    size_t spoken;                  /* 1 + offset of the text without punctuation marks; 0: no marks were added */
};

/* The text up to a punctuation mark, with the times of its words. */
struct marked_sentence {
    size_t text, first_time; /* offsets in result.text, and in pairs of result.sentence_times */
    int64_t t0_ms, t1_ms;
    int64_t first_word;      /* index among all words; -1: its words are split differently */
    int32_t n_words;
};

/* One of the n best texts of a window. */
struct hypothesis {
    int64_t at_ms;
    double avg_logprob, score;
    size_t text, first_token; /* offsets in result.hypothesis_text, and among its tokens */
    int32_t n_tokens, place;
};

/* Text of a window that is left out of the transcript. */
struct left_out {
    double avg_logprob, no_speech_prob;
    int64_t t0_ms, t1_ms;
    size_t text;              /* offset in result.left_out_text */
    uint32_t flags;
    uint16_t whole, language; /* whole: the window counts as silence; 1 + index of its likely language, 0: not known */
};

enum { MAX_LANGUAGES = 100 };

/* Results of one request; the only memory that grows with the audio. */
struct result {
    struct buf segments;   /* struct segment */
    struct buf tokens;     /* struct sampled_token */
    struct buf ids;        /* int32_t, the same tokens */
    struct buf times;      /* struct token_time of the same tokens; empty unless requested */
    struct buf words;      /* struct word */
    struct buf text;       /* texts of segments and words, each with a NUL */
    struct buf bytes;      /* bytes of all text tokens */
    struct buf whole;      /* bytes as UTF-8 */
    size_t n_converted;    /* number of bytes that are in it */
    struct buf hypotheses; /* struct hypothesis */
    struct buf hypothesis_ids;      /* int32_t, tokens of all hypotheses */
    struct buf hypothesis_logprobs; /* float, of the same tokens */
    struct buf hypothesis_text;     /* text of each, with a NUL; punctuation is added to the other texts only */
    struct buf left_out;      /* struct left_out: text that the guards rejected */
    struct buf left_out_text; /* text of each, with a NUL */
    struct buf spans;      /* steno_span */
    struct buf marks;      /* steno_mark */
    struct buf sentences;  /* struct marked_sentence */
    struct buf sentence_times; /* int64_t: start and end of each word of a sentence */
    int64_t duration_ms;
    const char *language;
    int is_remade;         /* 1: its task makes the whole text anew at the end, so there is none before */
    int is_bare;           /* its text has no punctuation, and gets the form of the punctuation model's text (punctuation_put) */
    float language_prob[MAX_LANGUAGES];
    int n_language_probs;  /* 0: no language detection */
    struct buf features;   /* float [n_ctx, n_state]: encoder output of the last window, if requested */
};

void result_clear(struct result *r);
void result_free(struct result *r);
int result_status(const struct result *r); /* STENO_OK, or STENO_ENOMEM if a buffer could not grow */

/* Appends the results in `more` to r. */
void result_append(struct result *r, const struct result *more);

/* Adds a hypothesis: h has its time, rank and score. The caller makes the text of the ids, n bytes. */
void result_hypothesis_tokens(struct result *r, struct hypothesis *h, const struct sampled_token *tokens, int32_t n);
void result_hypothesis(struct result *r, struct hypothesis *h, const char *text, size_t n);

/* Adds a text that is left out, n bytes. */
void result_left_out(struct result *r, struct left_out *l, const char *text, size_t n);

/* Adds a span and passes it to p->on_span. spans.err: no memory. */
void result_span(struct result *r, const struct vad_span *v, const steno_vad_params *p);

/* Ends the request: builds the whole text. *status: of the request; set to an error of this function if it was STENO_OK */
void result_finish(struct result *r, int *status, steno_error *e);

/* Segment i in its public form. STENO_EARG: there is none, or out's size is not set */
int result_segment(const struct result *r, int i, steno_segment *out);
static inline int result_segments(const struct result *r)
{
    return (int)(r->segments.len / sizeof(struct segment));
}
/* Adds the whole characters of the bytes so far to the whole text; what is added does not change. */
void result_convert(struct result *r);
/* Passes the last segment to on_segment, which may be NULL. */
void result_report(struct result *r, void (*on_segment)(void *user, const steno_segment *segment), void *user);
#endif
