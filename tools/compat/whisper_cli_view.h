/* steno: a transcript in whisper.cpp's form. SPDX-License-Identifier: MIT
 *
 * The segments are the same. Their tokens differ in three ways: the start timestamp of a segment is not listed, except 0.00; the end
 * token of a text without times is listed; and times are estimated as in whisper.cpp (whisper_cli_times.h). With special tokens in
 * texts, the start timestamp is a segment of its own, or the first word of a later segment, and a timestamp after the last segment of a
 * window is one more segment. Segments above the maximum length are cut before a token, at that token's start time. */
#ifndef STENO_TOOLS_WHISPER_CLI_VIEW_H
#define STENO_TOOLS_WHISPER_CLI_VIEW_H
#include "compat/whisper_cli_times.h"
#include "job.h"
#include "transcript.h"

/* ---- text of tokens and speakers --------------------------------------------------------------------------------------------- */

/* Name of a token: its text, or a name in brackets. @return out */
enum { WCLI_TOKEN_SZ = TOKEN_TEXT_SZ };
const char *whisper_cli_token(char out[WCLI_TOKEN_SZ], const steno_model *m, int32_t id);

/* The speaker. @return "" if speakers are off */
const char *whisper_cli_speaker(const int32_t *who); /* "(speaker 0)" */
char whisper_cli_speaker_letter(const struct transcript *t, int seg); /* '0'; call only if speakers are on */

/* ---- a view ------------------------------------------------------------------------------------------------------------------ */

/* Where the tokens of a window end. */
struct whisper_cli_end {
    int64_t at_ms, next_ms; /* its start, and the start of the next window by its last timestamp, which is that timestamp */
    int32_t n_tokens;
};

struct whisper_cli_rules {
    const struct whisper_cli_sound *sound; /* levels must be computed; NULL: tokens have no times */
    double threshold;
    int32_t max_len;   /* maximum characters of a segment; 0: no limit */
    int special;       /* 1: special tokens are part of texts, unless segments are cut */
    int by_words;      /* 1: cut only before tokens that begin with a space */
    const struct whisper_cli_end *ends; /* [n_ends] windows that have timestamps, in order */
    int n_ends;
    const struct join *join; /* not NULL: timestamps are times of the joined speech */
};

struct whisper_cli_view {
    struct transcript t;
    steno_segment *segs;
    steno_token *tokens;
    int32_t *ids, *first_token, *speakers;
    char *text;
};

/* @return 0, or -1 if out of memory; free the view in both cases. Uncut texts still belong to `t` */
int whisper_cli_view(struct whisper_cli_view *v, const struct transcript *t, const struct whisper_cli_rules *rules);
void whisper_cli_view_free(struct whisper_cli_view *v);

/* ---- parts of a sound, joined ------------------------------------------------------------------------------------------------ */

/* As whisper_full_parallel for -p. Each part has segments whose times count from its start; they are shifted by that start. A segment
 * never begins before the previous one ends; if the previous one ends late, a segment may end before it begins. Token times are not
 * shifted, as in whisper.cpp. */
struct whisper_cli_parts {
    struct whisper_cli_view *part; /* [n] */
    int n;
    char language[16];             /* language of the first part */
};

/* Add a copy of the next part. @return 0, or -1 if out of memory */
int whisper_cli_parts_add(struct whisper_cli_parts *p, const struct whisper_cli_view *v, int64_t start_ms);
/* Join all added parts. @return 0, or -1 if out of memory; call whisper_cli_view_free in both cases */
int whisper_cli_parts_view(struct whisper_cli_view *v, const struct whisper_cli_parts *p);
void whisper_cli_parts_free(struct whisper_cli_parts *p); /* {0} is allowed */

/* The time shift of a part that begins `samples` after the offset, in ms, a multiple of 10. */
int64_t whisper_cli_part_ms(int64_t samples, int64_t offset_ms);
#endif
