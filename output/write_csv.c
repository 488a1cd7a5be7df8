/* steno: comma-separated values in whisper.cpp's layout, times in milliseconds. SPDX-License-Identifier: MIT
 *
 * If speakers were requested, they have a column. */
#include "write.h"
#include <inttypes.h>
#include <string.h>

void write_csv(struct sink *f, const struct transcript *t)
{
    sink_text(f, t->speakers ? "start,end,speaker,text\n" : "start,end,text\n");
    for (int i = 0; i < t->n; i++) {
        const steno_segment *s = &t->segs[i];
        sink_format(f, "%" PRId64 ",%" PRId64 ",", s->t0_ms, s->t1_ms);
        write_speaker_column(f, t, i, ',');
        sink_char(f, '"');
        text_put(f, TEXT_CSV, s->text, strlen(s->text));
        sink_text(f, "\"\n");
    }
}
