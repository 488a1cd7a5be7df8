/* steno: a transcript as writers see it, and how it is taken out of a session. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_TRANSCRIPT_H
#define STENO_OUT_TRANSCRIPT_H
#include "notes.h"
#include "cue_rules.h"
#include "font.h"
#include "sink.h"
#include <steno/steno.h>

enum { WRITE_TIME_UNKNOWN = -1 };

/* What jsonl says beside the transcript. */
struct transcript_source {
    const char *input;  /* as it was named */
    const char *sha256; /* of the input file in hex, NULL: not known (a pipe) */
    const char *model;  /* path, NULL: not known */
    const char *error;  /* why there is no transcript, NULL: there is one */
    int64_t spent_us;   /* on it, from its beginning to now, or WRITE_TIME_UNKNOWN */
    void (*options)(struct sink *f, const void *opts); /* writes an object; NULL: none is known */
    const void *opts;
};

/* What a job over inputs has come to. */
struct transcript_sums {
    int n_inputs;     /* of the job */
    int n_ok;         /* that have results, those with an empty text among them */
    int n_empty;      /* of which the text is empty */
    int n_failed;
    int n_before;     /* that an earlier run finished (--resume), and this run left out */
    int64_t audio_ms; /* that was transcribed; of a channel or a track that was transcribed apart each */
    int64_t spent_us; /* from the first input to the end */
};

/* How subtitles are laid out; a limit of 0 is none. */
struct write_layout {
    int32_t max_line_width;     /* code points of a line */
    int32_t max_line_count;     /* lines of a cue; with a width, cues run on from segment to segment */
    int32_t max_words_per_line; /* words of a cue */
    int32_t highlight_words;    /* 1: srt and vtt underline each word while it is said */
    char font[FONT_NAME_SZ];    /* ass and wts: by name, "" is sans-serif */
    const char *font_file;      /* where that font is; NULL: installed */
    struct cue_choice cues;     /* on: cues by these rules; then the limits above do not count */
    const char *speaker_names;  /* "Ann,Bob": of speakers 0, 1, ... in srt, vtt and ass; NULL: they have none */
    int32_t speaker_colors;     /* 1: vtt and ass give each speaker a colour */
    int32_t vtt_regions;        /* 1: vtt gives each speaker a part of the screen */
};

enum { WRITE_SPEAKER_UNKNOWN = -1 };

struct transcript {
    const steno_segment *segs; /* [n] */
    int n;
    const char *text;     /* of the whole file */
    const char *language; /* code */
    double language_prob; /* its probability where it was detected; 0: not known */
    int32_t first_timestamp; /* id of the token that means 0.00 s, -1: the model has no such tokens */
    int32_t index_offset;    /* added to the numbers of subtitles */
    int32_t task;            /* enum steno_task */
    int32_t word_times;      /* 1: subtitles are made of words, and JSON lists them */
    int32_t token_times;     /* 1: JSON has the times of tokens */
    int32_t token_logprobs;  /* 1: and their log-probabilities */
    int64_t duration_ms;     /* of the audio */
    uint32_t lost;           /* bits of what could not be heard of it, in the order of write_json_lost's words */
    const steno_word *words;    /* of all segments, in order */
    const int32_t *first_word;  /* [n] where those of a segment begin; it has segs[i].n_words */
    const steno_sentence *sentences; /* [n_sentences] of a text with punctuation whose words have times */
    int n_sentences;
    int32_t punctuated;         /* 1: a model for punctuation has written the text */
    const steno_token *tokens;  /* of all segments, in order; score only */
    const int32_t *first_token; /* [n] where those of a segment begin; it has segs[i].n_tokens */
    const steno_hypothesis *hypotheses; /* [n_hypotheses] of all windows in order; where they were asked for */
    int n_hypotheses;
    const steno_left_out *left_out; /* [n_left_out] texts that the guards have left out */
    int n_left_out;
    const int32_t *speakers;    /* [n] 0, 1, ... or WRITE_SPEAKER_UNKNOWN; NULL: nobody asked */
    const steno_model *model;   /* what tokens say; score only */
    const struct write_layout *layout; /* NULL: no limits */
    const struct transcript_source *source; /* jsonl, and the input's name for wts */
    int32_t empty_cues;         /* 1: srt, vtt and ass have cues without text, as the reference has them */
    const struct notes *notes;  /* NULL: none */
    const char *post;           /* what somebody made of the text, which txt has in its place, JSON beside it; NULL: nobody did */
};

/* What a struct transcript points at. */
struct transcript_store {
    steno_segment *segs;
    steno_word *words;
    steno_token *tokens;
    steno_sentence *sentences;
    steno_hypothesis *hypotheses;
    steno_left_out *left_out;
    int32_t *first_word, *first_token, *speakers;
    char *text; /* of segments that were cut */
};

/* Fill t->{segs, n, words, first_word, sentences, n_sentences, tokens, first_token, hypotheses, n_hypotheses, left_out, n_left_out, text,
 * language, language_prob, duration_ms} with what the session holds; texts and ids go on belonging to it. t->word_times is switched off
 * where there is text but no word has come.
 *
 * @return 0, or -1 in want of memory; transcript_free the store in any case */
int transcript_take(struct transcript *t, struct transcript_store *store, const steno_session *s);
void transcript_free(struct transcript_store *store); /* {0} is allowed */
#endif
