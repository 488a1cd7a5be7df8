/* steno: plain text, a line per segment. SPDX-License-Identifier: MIT */
#include "write.h"

void write_txt(struct sink *f, const struct transcript *t)
{
    if (t->post) {
        write_stripped(f, TEXT_LINES, t->post);
        sink_char(f, '\n');
        return;
    }
    for (int i = 0; i < t->n; i++) {
        write_speaker(f, write_speaker_of(t, i));
        write_stripped(f, TEXT_LINE, t->segs[i].text);
        if (t->segs[i].speaker_turn) sink_text(f, WRITE_SPEAKER_TURN);
        sink_char(f, '\n');
    }
}
