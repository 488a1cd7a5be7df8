/* steno: a transcript as writers use it, with its notes and the texts of its tokens. SPDX-License-Identifier: MIT
 *
 * A transcript is copied from a session. A note states why a result is empty or doubtful, or what was done to its audio. It has a kind,
 * which programs read, and one line of text, which names no file. A result has at most one note of each kind. */
#ifndef STENO_OUT_TRANSCRIPT_H
#define STENO_OUT_TRANSCRIPT_H
#include "cue_rules.h"
#include "font.h"
#include "sink.h"
#include <steno/steno.h>

/* ---- notes ------------------------------------------------------------------------------------------------------------------- */

/* Names in JSON. The first ones describe the audio, and are the same for all results of it. */
#define NOTE_KINDS(X) \
    X(CUT_SHORT, "cut-short") X(DAMAGED, "damaged") X(SOUND_LATE, "sound-late") X(SOUND_EARLY, "sound-early") X(GAPS, "gaps") \
    X(OVERLAP, "overlap") X(CLOCK_JUMP, "clock-jump") X(CHANNELS_CANCEL, "channels-cancel") X(CLIPPED, "clipped") \
    X(NO_SPEECH, "no-speech") X(PROMPT_CUT, "prompt-cut") X(HEADS_UNSURE, "heads-unsure") X(LANGUAGE_UNSURE, "language-unsure") \
    X(LANGUAGE_OTHER, "language-other") X(DOUBTFUL, "doubtful") \
    X(NO_TEXT, "no-text") X(NO_MARKS, "no-marks") X(MARKED_BEFORE, "marked-before") X(CONTEXT_FULL, "context-full") X(LIMIT, "limit") \
    X(NO_ANSWER, "no-answer") X(INPUT_CUT, "input-cut") X(EMPTY_LINE, "empty-line") X(NO_RESULT, "no-result")

#define NOTE_ENUM(kind, name) NOTE_##kind,
enum note_kind { NOTE_KINDS(NOTE_ENUM) NOTE_N_KINDS };
#undef NOTE_ENUM

enum { NOTE_TEXT_SZ = 200 };

struct note {
    enum note_kind kind;
    char text[NOTE_TEXT_SZ];
};

struct notes {
    struct note note[NOTE_N_KINDS];
    int n;
};

/* Adds a note, unless there is one of its kind. */
void notes_add(struct notes *n, enum note_kind kind, const char *fmt, ...) SINK_FORMAT(3, 4);

const char *note_name(enum note_kind kind);
int note_is_of_sound(enum note_kind kind);

/* Writes `, "notes": [{"kind": ..., "text": ...}]`. If there are no notes, or n is NULL, it writes nothing, or an empty list with
 * `always`. */
void write_json_notes(struct sink *f, const struct notes *n, int always);

/* ---- texts of tokens --------------------------------------------------------------------------------------------------------- */

enum { TOKEN_TEXT_SZ = 512 };

/* Text of the first of ids[n], n > 0, or of as many ids as are needed to complete a character. Ids from `end` on (-1: none) are not text.
 * @return the number of tokens used, 1 if their bytes are not a character; or a negative status of steno_detokenize, with an empty text */
int token_text(char text[TOKEN_TEXT_SZ], const steno_model *m, int32_t end, const int32_t *ids, int n);

/* ---- the transcript ---------------------------------------------------------------------------------------------------------- */

enum { WRITE_TIME_UNKNOWN = -1 };

/* Additional data for jsonl. */
struct transcript_source {
    const char *input;  /* as the user named it */
    const char *sha256; /* of the input file in hex; NULL: not known (a pipe) */
    const char *model;  /* path; NULL: not known */
    const char *error;  /* why there is no transcript; NULL: there is one */
    int64_t spent_us;   /* time from its start to now, or WRITE_TIME_UNKNOWN */
    void (*options)(struct sink *f, const void *opts); /* writes an object; may be NULL */
    const void *opts;
    void (*more)(struct sink *f, const void *user);    /* writes members after schema_version: ", KEY: VALUE"; may be NULL */
    const void *user;
};

/* Totals of a job. */
struct transcript_sums {
    int n_inputs;     /* of the job */
    int n_ok;         /* with results, including empty ones */
    int n_empty;      /* with an empty text */
    int n_failed;
    int n_before;     /* finished by an earlier run (--resume) and skipped by this one */
    int64_t audio_ms; /* of transcribed audio; channels and tracks that are transcribed separately count separately */
    int64_t spent_us; /* from the first input to the end */
};

/* Layout of subtitles; 0 means no limit. */
struct write_layout {
    int32_t max_line_width;     /* code points of a line */
    int32_t max_line_count;     /* lines of a cue; with a width, cues continue across segments */
    int32_t max_words_per_line; /* words of a cue */
    int32_t highlight_words;    /* 1: srt and vtt underline each word while it is spoken */
    char font[FONT_NAME_SZ];    /* ass and wts: font name, "" is sans-serif */
    const char *font_file;      /* path of that font; NULL: installed */
    struct cue_choice cues;     /* on: cues follow these rules, and the limits above are ignored */
    const char *speaker_names;  /* "Ann,Bob": names of speakers 0, 1, ... in srt, vtt and ass; may be NULL */
    int32_t speaker_colors;     /* 1: vtt and ass give each speaker a colour */
    int32_t vtt_regions;        /* 1: vtt gives each speaker a region of the screen */
};

enum { WRITE_SPEAKER_UNKNOWN = -1 };

struct transcript {
    const steno_segment *segs; /* [n] */
    int n;
    const char *text;     /* of the whole file */
    const char *language; /* code */
    double language_prob; /* probability of a detected language; 0: not known */
    int32_t first_timestamp; /* id of the token for 0.00 s, -1: the model has no timestamps */
    int32_t index_offset;    /* added to the numbers of subtitles */
    int32_t task;            /* enum steno_task */
    int32_t word_times;      /* 1: subtitles are made of words, and JSON lists them */
    int32_t token_times;     /* 1: JSON has the times of tokens */
    int32_t token_logprobs;  /* 1: JSON has their log-probabilities */
    int64_t duration_ms;     /* of the audio */
    uint32_t lost;           /* bit set of audio that could not be decoded, in the order of write_json_lost's words */
    const steno_word *words;    /* of all segments, in order */
    const int32_t *first_word;  /* [n] index of each segment's first word; it has segs[i].n_words */
    const steno_sentence *sentences; /* [n_sentences] of a text with punctuation and word times */
    int n_sentences;
    int32_t punctuated;         /* 1: a punctuation model has written the text */
    const steno_token *tokens;  /* of all segments, in order; score only */
    const int32_t *first_token; /* [n] index of each segment's first token; it has segs[i].n_tokens */
    const steno_hypothesis *hypotheses; /* [n_hypotheses] of all windows in order, if requested */
    int n_hypotheses;
    const steno_left_out *left_out; /* [n_left_out] texts that the guards rejected */
    int n_left_out;
    const int32_t *speakers;    /* [n] 0, 1, ... or WRITE_SPEAKER_UNKNOWN; NULL: not requested */
    const steno_model *model;   /* texts of tokens; score only */
    const struct write_layout *layout; /* may be NULL: no limits */
    const struct transcript_source *source; /* jsonl, and the input's name for wts */
    int32_t empty_cues;         /* 1: srt, vtt and ass have cues without text, as in the reference */
    const struct notes *notes;  /* may be NULL */
    const char *post;           /* text made from the transcript, which replaces it in txt and is added to JSON; may be NULL */
};

/* Memory of a struct transcript. */
struct transcript_store {
    steno_segment *segs;
    steno_word *words;
    steno_token *tokens;
    steno_sentence *sentences;
    steno_hypothesis *hypotheses;
    steno_left_out *left_out;
    int32_t *first_word, *first_token, *speakers;
    char *text; /* of segments that were split */
};

/* Fills t->{segs, n, words, first_word, sentences, n_sentences, tokens, first_token, hypotheses, n_hypotheses, left_out, n_left_out, text,
 * language, language_prob, duration_ms} from the session, which keeps the texts and ids. t->word_times is cleared if there is text but no
 * word.
 *
 * @return 0, or -1 if memory runs out; call transcript_free on the store in any case */
int transcript_take(struct transcript *t, struct transcript_store *store, const steno_session *s);
void transcript_free(struct transcript_store *store); /* {0} is allowed */
#endif
