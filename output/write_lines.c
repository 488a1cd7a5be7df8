/* steno: a line per segment or token: plain text, separated values, lyrics, scores. SPDX-License-Identifier: MIT
 *
 * If speakers were requested, they have a column in separated values. */
#include "utf8.h"
#include "write.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- txt --------------------------------------------------------------------------------------------------------------------- */

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

/* ---- tsv --------------------------------------------------------------------------------------------------------------------- */

/* Times in milliseconds. */

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

/* ---- csv --------------------------------------------------------------------------------------------------------------------- */

/* whisper.cpp's layout, times in milliseconds. */

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

/* ---- lrc --------------------------------------------------------------------------------------------------------------------- */

/* A time tag per line, in whisper.cpp's layout. Only the whisper-cli dialect writes its first line, which names the program. A segment
 * without text has no line. Minutes continue beyond an hour; hundredths are truncated, not rounded. */

/* Writes "(speaker 0) text", whether the text begins with a space or not. */
static void put_lyric(struct sink *f, const struct transcript *t, int i)
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
        put_lyric(f, t, i);
        sink_char(f, '\n');
    }
}

/* ---- score ------------------------------------------------------------------------------------------------------------------- */

/* One line per token: its text, a tab, its probability. Timestamps are written as <|1.23|>. A token that ends inside a character is U+FFFD.
 * Control characters are written as \xNN, so a token is always one line. */

enum { TEXT_SZ = 1024, PRINTED_SZ = 4 * TEXT_SZ };

void write_score(struct sink *f, const struct transcript *t)
{
    char text[TEXT_SZ], printed[PRINTED_SZ];
    for (int i = 0; i < t->n; i++) {
        for (int32_t k = 0; t->tokens && k < t->segs[i].n_tokens; k++) {
            const steno_token *tok = &t->tokens[t->first_token[i] + k];
            text[0] = '\0';
            if (t->first_timestamp >= 0 && tok->id >= t->first_timestamp)
                snprintf(text, sizeof text, "<|%.2f|>", (tok->id - t->first_timestamp) * 0.02);
            else if (t->model) steno_detokenize(t->model, &tok->id, 1, text, sizeof text);
            utf8_printable(printed, sizeof printed, text);
            sink_format(f, "%s\t%g\n", printed, (double)tok->p);
        }
    }
}
