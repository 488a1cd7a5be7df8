/* steno: tab-separated values, times in milliseconds. SPDX-License-Identifier: MIT
 *
 * If speakers were requested, they have a column. */
#include "write.h"
#include <inttypes.h>

void write_tsv(struct sink *f, const struct transcript *t)
{
    sink_text(f, t->speakers ? "start\tend\tspeaker\ttext\n" : "start\tend\ttext\n");
    for (int i = 0; i < t->n; i++) {
        const steno_segment *s = &t->segs[i];
        sink_format(f, "%" PRId64 "\t%" PRId64 "\t", s->t0_ms, s->t1_ms);
        write_speaker_column(f, t, i, '\t');
        write_stripped(f, TEXT_TSV, s->text);
        sink_char(f, '\n');
    }
}
