/* steno: the reference's JSON object on one line, without a newline at its end. SPDX-License-Identifier: MIT */
#include "num.h"
#include "u8.h"
#include "write.h"
#include <inttypes.h>

static void member(FILE *f, const char *key, double value)
{
    char num[NUM_SZ];
    fprintf(f, ", \"%s\": %s", key, num_repr(num, value));
}

static void write_segment(FILE *f, const steno_segment *s, int32_t first_timestamp)
{
    double start, end;
    write_seconds(s, first_timestamp, &start, &end);
    fprintf(f, "{\"id\": %d, \"seek\": %" PRId64, s->id, s->seek_frames);
    member(f, "start", start);
    member(f, "end", end);
    fputs(", \"text\": ", f);
    u8_json(f, s->text);
    fputs(", \"tokens\": [", f);
    for (int i = 0; i < s->n_tokens; i++) fprintf(f, "%s%d", i ? ", " : "", s->tokens[i]);
    fputc(']', f);
    member(f, "temperature", s->temperature);
    member(f, "avg_logprob", s->avg_logprob);
    member(f, "compression_ratio", s->compression_ratio);
    member(f, "no_speech_prob", s->no_speech_prob);
    if (s->n_tokens == 0 && !s->text[0]) fputs(", \"words\": []", f); /* the reference empties such segments, and marks them so */
    fputc('}', f);
}

void write_json(FILE *f, const struct transcript *t)
{
    fputs("{\"text\": ", f);
    u8_json(f, t->text);
    fputs(", \"segments\": [", f);
    for (int i = 0; i < t->n; i++) {
        if (i) fputs(", ", f);
        write_segment(f, &t->segs[i], t->first_timestamp);
    }
    fputs("], \"language\": ", f);
    u8_json(f, t->language);
    fputc('}', f);
}
