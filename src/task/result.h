/* steno: what a request found out. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_RESULT_H
#define STENO_TASK_RESULT_H
#include "base/buf.h"
#include "model/family.h"

/* A finished segment; text, tokens and words are places in growing buffers, made pointers when they are read. */
struct segment {
    int64_t seek_frames, t0_ms, t1_ms;
    double start, end;     /* the same in seconds, unrounded; NAN: not known */
    size_t text, first_token, first_word;
    int32_t n_tokens, n_words, attempt, speaker_turn;
    uint32_t flags, pad;   /* pads are 0: segments, times and words are written down as they lie (resume.h) */
    double temperature, avg_logprob, compression_ratio, no_speech_prob;
    struct ctc_tags tags;
    const char *word_source; /* where times of its words are from; NULL: it has none */
};

/* Times of a token in the file, ms; -1: not known. dtw: where the alignment of words has it begin. */
struct token_time {
    int64_t t0, t1, dtw;
    float vlen, pad; /* vlen: voice length: units of the text */
};

/* A word of a segment. */
struct word {
    double start, end, probability; /* seconds in the file */
    size_t text;                    /* place in result.text */
    int32_t n_tokens, pad;
    size_t spoken;                  /* 1 + place there of the text before marks were put into it; 0: none were */
};

/* A text up to a mark of punctuation, and the times of its words. */
struct marked_sentence {
    size_t text, first_time; /* places in result.text, and in pairs of result.sentence_times */
    int64_t t0_ms, t1_ms;
    int64_t first_word;      /* of all of them; -1: its words are cut otherwise */
    int32_t n_words;
};

/* One of the texts that a search has found for a window. */
struct hypothesis {
    int64_t at_ms;
    double avg_logprob, score;
    size_t text, first_token; /* places in result.hypothesis_text, and among its tokens */
    int32_t n_tokens, place;
};

/* What a window's text would have been. */
struct left_out {
    double avg_logprob, no_speech_prob;
    int64_t t0_ms, t1_ms;
    size_t text;              /* place in result.left_out_text */
    uint32_t flags;
    uint16_t whole, language; /* a window that was taken for silence; 1 + number of the language that it seems to be in, 0: not known */
};

enum { MAX_LANGUAGES = 100 };

/* Results of one request; the only memory that grows with the audio. */
struct result {
    struct buf segments;   /* struct segment */
    struct buf tokens;     /* struct sampled_token */
    struct buf ids;        /* int32_t, the same tokens */
    struct buf times;      /* struct token_time, the same tokens; empty where none were asked for */
    struct buf words;      /* struct word */
    struct buf text;       /* segments' and words' texts, each ended by a NUL */
    struct buf bytes;      /* all text tokens' bytes */
    struct buf whole;      /* bytes as UTF-8 */
    struct buf hypotheses; /* struct hypothesis */
    struct buf hypothesis_ids;      /* int32_t, the tokens of all of them */
    struct buf hypothesis_logprobs; /* float, of the same */
    struct buf hypothesis_text;     /* of each, ended by a NUL: marks are put into the other texts alone */
    struct buf left_out;      /* struct left_out: text that the guards did not let in */
    struct buf left_out_text; /* of each, ended by a NUL */
    struct buf spans;      /* steno_span */
    struct buf marks;      /* steno_mark */
    struct buf sentences;  /* struct marked_sentence */
    struct buf sentence_times; /* int64_t: beginning and end of each word of a sentence */
    int64_t duration_ms;
    const char *language;
    int is_bare;           /* its text has no marks, and is written as a model for punctuation writes text (marks_put) */
    float language_prob[MAX_LANGUAGES];
    int n_language_probs;  /* 0: no language was detected */
    struct buf features;   /* float [n_ctx, n_state]: the encoder's output for the last window, where asked for */
};

void result_clear(struct result *r);
void result_free(struct result *r);
int result_status(const struct result *r); /* STENO_OK, or STENO_ENOMEM when a buffer could not grow */

/* Put what `more` holds behind what r holds. */
void result_append(struct result *r, const struct result *more);

/* One more hypothesis: h says when, its place and its score; its text is added by whoever makes it of the ids, n bytes. */
void result_hypothesis_tokens(struct result *r, struct hypothesis *h, const struct sampled_token *tokens, int32_t n);
void result_hypothesis(struct result *r, struct hypothesis *h, const char *text, size_t n);

/* One more text is left out, n bytes. */
void result_left_out(struct result *r, struct left_out *l, const char *text, size_t n);

/* One more span, which p->on_span is told of; spans.err: there was no room. */
void result_span(struct result *r, const struct vad_span *v, const steno_vad_params *p);

/* The request is over: the whole text is made. *status: of the request, and of this where that was STENO_OK */
void result_finish(struct result *r, int *status, steno_error *e);

/* Segment i as callers see it. STENO_EARG: there is none, or out's size is not set */
int result_segment(const struct result *r, int i, steno_segment *out);
static inline int result_segments(const struct result *r)
{
    return (int)(r->segments.len / sizeof(struct segment));
}
/* Tell the caller of the last segment; on_segment may be NULL. */
void result_tell(const struct result *r, void (*on_segment)(void *user, const steno_segment *segment), void *user);
#endif
