/* steno: tab-separated values, times in milliseconds. SPDX-License-Identifier: MIT
 *
 * Where somebody asked who speaks there is a column for it. */
#include "u8.h"
#include "write.h"
#include <inttypes.h>

void write_tsv(FILE *f, const struct transcript *t)
{
    fputs(t->speakers ? "start\tend\tspeaker\ttext\n" : "start\tend\ttext\n", f);
    for (int i = 0; i < t->n; i++) {
        const steno_segment *s = &t->segs[i];
        size_t n;
        const char *text = u8_strip(s->text, &n);
        fprintf(f, "%" PRId64 "\t%" PRId64 "\t", s->t0_ms, s->t1_ms);
        write_speaker_column(f, t, i, '\t');
        for (size_t k = 0; k < n; k++) fputc(text[k] == '\t' ? ' ' : text[k], f);
        fputc('\n', f);
    }
}
