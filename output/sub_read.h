/* steno: reads subtitle files. SPDX-License-Identifier: MIT
 *
 * SubRip, WebVTT, Advanced SubStation Alpha (also inside a wts script), SubViewer (sbv) and lyrics (lrc) from any source. Any bytes are
 * accepted: all cues that can be found are returned, with the faults of each. Text is plain: tags are removed, entities and escapes are
 * replaced, lines are separated by newlines. All verbs that read subtitles use this reader. */
#ifndef STENO_OUT_SUB_READ_H
#define STENO_OUT_SUB_READ_H
#include <stddef.h>
#include <stdint.h>

enum sub_form { SUB_SRT, SUB_VTT, SUB_ASS, SUB_SBV, SUB_LRC, N_SUB_FORMS, SUB_NONE = -1 };

struct sub_cue {
    int64_t line;         /* line of its times in the file, from 1 */
    int64_t text_line;    /* line where its text begins */
    int64_t number;       /* srt: the number before the times; -1: none */
    int64_t t0_ms, t1_ms; /* -1: not readable */
    size_t text, n;       /* its text within the file's text, with a NUL */
};

/* A line that does not belong to a cue. */
struct sub_stray {
    int64_t line;
    size_t cue;  /* number of cues before it */
    enum { SUB_NO_TIMES, SUB_NO_HEAD, SUB_NO_UTF8, SUB_NO_BLANK } what;
};

struct sub_file {
    enum sub_form form;
    struct sub_cue *cue;     /* [n] in file order */
    struct sub_stray *stray; /* [n_strays] */
    size_t n, n_strays, cap, strays_cap;
    char *text;              /* [text_n] valid UTF-8: invalid bytes are question marks */
    size_t text_n;
};

/* Form by the extension of the name, case-insensitive; by the first lines. SUB_NONE: none of these. */
enum sub_form sub_form_named(const char *name);
enum sub_form sub_form_seen(const char *bytes, size_t n);

/* By name, then by content; else SUB_SRT. */
enum sub_form sub_form_of(const char *name, const char *bytes, size_t n);

/* The name of a format of subtitles or documents that is not read, by the first bytes, of any encoding; NULL: none is seen. */
const char *sub_unread_form(const char *bytes, size_t n);

/* @return 0, or -1 if memory runs out; call sub_free in any case */
int sub_read(struct sub_file *f, enum sub_form form, const char *bytes, size_t n);
void sub_free(struct sub_file *f);

/* ---- text without mark-up ---------------------------------------------------------------------------------------------------- */

/* Appends text to f->text, which must have room. Invalid UTF-8 becomes a question mark. */
void sub_text_put(struct sub_file *f, const char *s, size_t n);

/* Appends a line of the file without its tags, and with entities and escapes replaced. It never becomes longer. */
void sub_text_line(struct sub_file *f, const char *s, size_t n);
#endif
