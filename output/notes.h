/* steno: notes on a result. SPDX-License-Identifier: MIT
 *
 * A note states why a result is empty or doubtful, or what was done to its audio. It has a kind, which programs read, and one line of text,
 * which names no file. A result has at most one note of each kind. */
#ifndef STENO_OUT_NOTES_H
#define STENO_OUT_NOTES_H
#include "sink.h"

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
void notes_add(struct notes *n, enum note_kind kind, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

const char *note_name(enum note_kind kind);
int note_is_of_sound(enum note_kind kind);

/* Writes `, "notes": [{"kind": ..., "text": ...}]`. If there are no notes, or n is NULL, it writes nothing, or an empty list with
 * `always`. */
void write_json_notes(struct sink *f, const struct notes *n, int always);
#endif
