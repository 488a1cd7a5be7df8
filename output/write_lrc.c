/* steno: lyrics with a time tag per line, in whisper.cpp's layout. SPDX-License-Identifier: MIT
 *
 * Only the whisper-cli dialect writes its first line, which names the program. A segment without text has no line. Minutes continue beyond
 * an hour; hundredths are truncated, not rounded. */
#include "utf8.h"
#include "write.h"
#include <inttypes.h>
#include <string.h>

/* Writes "(speaker 0) text", whether the text begins with a space or not. */
static void put_text(struct sink *f, const struct transcript *t, int i)
{
    const char *text = t->segs[i].text;
    write_speaker(f, write_speaker_of(t, i));
    if (t->speakers && text[0] == ' ') text++;
    text_put(f, TEXT_LRC, text, strlen(text));
}

void write_lrc(struct sink *f, const struct transcript *t)
{
    for (int i = 0; i < t->n; i++) {
        size_t n;
        utf8_strip(t->segs[i].text, &n);
        if (!n) continue;
        const int64_t ms = t->segs[i].t0_ms > 0 ? t->segs[i].t0_ms : 0;
        sink_format(f, "[%02" PRId64 ":%02d.%02d]", ms / 60000, (int)(ms / 1000 % 60), (int)(ms % 1000 / 10));
        put_text(f, t, i);
        sink_char(f, '\n');
    }
}
