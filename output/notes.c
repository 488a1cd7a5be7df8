/* steno: notes on a result. SPDX-License-Identifier: MIT */
#include "notes.h"
#include "utf8.h"
#include <stdarg.h>
#include <stdio.h>

void notes_add(struct notes *n, enum note_kind kind, const char *fmt, ...)
{
    va_list ap;
    for (int i = 0; i < n->n; i++)
        if (n->note[i].kind == kind) return;
    struct note *note = &n->note[n->n++];
    note->kind = kind;
    va_start(ap, fmt);
    vsnprintf(note->text, sizeof note->text, fmt, ap);
    va_end(ap);
}

const char *note_name(enum note_kind kind)
{
    static const char *const names[] = {
#define NOTE_NAME(k, name) [NOTE_##k] = name,
        NOTE_KINDS(NOTE_NAME)
#undef NOTE_NAME
    };
    return names[kind];
}

int note_is_of_sound(enum note_kind kind)
{
    return kind <= NOTE_CLIPPED;
}

void write_json_notes(struct sink *f, const struct notes *n, int always)
{
    const int count = n ? n->n : 0;
    if (!count && !always) return;
    sink_text(f, ", \"notes\": [");
    for (int i = 0; i < count; i++) {
        sink_format(f, "%s{\"kind\": \"%s\", \"text\": ", i ? ", " : "", note_name(n->note[i].kind));
        utf8_json(f, n->note[i].text);
        sink_char(f, '}');
    }
    sink_char(f, ']');
}
