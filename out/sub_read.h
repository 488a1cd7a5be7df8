/* steno: subtitle files, read back. SPDX-License-Identifier: MIT
 *
 * SubRip, WebVTT, Advanced SubStation Alpha (in a script of wts, too), SubViewer (sbv) and lyrics (lrc) from anywhere: whatever the bytes
 * are, cues come out as far as there are any, with what is wrong with each. Text is plain: tags are taken out, entities and escapes are
 * what they stand for, lines are separated by newlines. This is the one reader of subtitles: every verb that reads them comes here. */
#ifndef STENO_OUT_SUB_READ_H
#define STENO_OUT_SUB_READ_H
#include <stddef.h>
#include <stdint.h>

enum sub_form { SUB_SRT, SUB_VTT, SUB_ASS, SUB_SBV, SUB_LRC, N_SUB_FORMS, SUB_NONE = -1 };

struct sub_cue {
    int64_t line;         /* of the file, from 1, where its times stand */
    int64_t text_line;    /* where its text begins */
    int64_t number;       /* srt: what stands before the times; -1: no number */
    int64_t t0_ms, t1_ms; /* -1: cannot be read */
    size_t text, n;       /* its text in the file's, ended by a NUL */
};

/* What is wrong with a line where cues are looked for. */
struct sub_stray {
    int64_t line;
    size_t cue;  /* cues before it */
    enum { SUB_NO_TIMES, SUB_NO_HEAD, SUB_NO_UTF8, SUB_NO_BLANK } what;
};

struct sub_file {
    enum sub_form form;
    struct sub_cue *cue;     /* [n] in the order of the file */
    struct sub_stray *stray; /* [n_strays] */
    size_t n, n_strays, cap, strays_cap;
    char *text;              /* [text_n] valid UTF-8: what was not is a question mark */
    size_t text_n;
};

/* By the ending of the name, in any case of letters; by the first lines. SUB_NONE: it is none of these. */
enum sub_form sub_form_named(const char *name);
enum sub_form sub_form_seen(const char *bytes, size_t n);

/* The one or the other; else SUB_SRT. */
enum sub_form sub_form_of(const char *name, const char *bytes, size_t n);

/* @return 0, or -1 in want of memory; sub_free in any case */
int sub_read(struct sub_file *f, enum sub_form form, const char *bytes, size_t n);
void sub_free(struct sub_file *f);
#endif
