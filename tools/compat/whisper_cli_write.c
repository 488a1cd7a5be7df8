/* steno: the output files of whisper.cpp's whisper-cli. SPDX-License-Identifier: MIT */
#include "compat/whisper_cli_write.h"
#include "write_cues.h"
#include <inttypes.h>
#include <string.h>

static const int32_t *speaker_of(const struct transcript *t, int i)
{
    return t->speakers ? &t->speakers[i] : NULL;
}

static void put_text(struct sink *f, enum text_form form, const char *text)
{
    text_put(f, form, text, strlen(text));
}

static void put_times(struct sink *f, const steno_segment *s, char sep)
{
    write_time(f, s->t0_ms, 1, sep);
    sink_text(f, " --> ");
    write_time(f, s->t1_ms, 1, sep);
    sink_char(f, '\n');
}

static void put_txt(struct sink *f, const struct whisper_cli_result *r)
{
    for (int i = 0; i < r->t->n; i++) {
        const char *text = r->t->segs[i].text;
        sink_text(f, whisper_cli_speaker(speaker_of(r->t, i)));
        put_text(f, TEXT_LINE, r->t->speakers ? text : text + strspn(text, " \t"));
        sink_char(f, '\n');
    }
}

static void put_vtt(struct sink *f, const struct whisper_cli_result *r)
{
    sink_text(f, "WEBVTT\n\n");
    for (int i = 0; i < r->t->n; i++) {
        put_times(f, &r->t->segs[i], '.');
        if (r->t->speakers) sink_format(f, "<v Speaker%c>", whisper_cli_speaker_letter(r->t, i));
        write_cue_text(f, TEXT_VTT, r->t->segs[i].text);
        sink_text(f, "\n\n");
    }
}

static void put_srt(struct sink *f, const struct whisper_cli_result *r)
{
    for (int i = 0; i < r->t->n; i++) {
        sink_format(f, "%" PRId32 "\n", i + 1 + r->offset_n);
        put_times(f, &r->t->segs[i], ',');
        sink_text(f, whisper_cli_speaker(speaker_of(r->t, i)));
        write_cue_text(f, TEXT_SRT, r->t->segs[i].text);
        sink_text(f, "\n\n");
    }
}

static void put_csv(struct sink *f, const struct whisper_cli_result *r)
{
    sink_format(f, "start,end,%stext\n", r->t->speakers ? "speaker," : "");
    for (int i = 0; i < r->t->n; i++) {
        sink_format(f, "%" PRId64 ",%" PRId64 ",", r->t->segs[i].t0_ms, r->t->segs[i].t1_ms);
        if (r->t->speakers) sink_format(f, "%c,", whisper_cli_speaker_letter(r->t, i));
        sink_char(f, '"');
        put_text(f, TEXT_CSV, r->t->segs[i].text);
        sink_text(f, "\"\n");
    }
}

static void put_lrc(struct sink *f, const struct whisper_cli_result *r)
{
    sink_text(f, "[by:whisper.cpp]\n");
    for (int i = 0; i < r->t->n; i++) {
        const int64_t ms = r->t->segs[i].t0_ms;
        sink_format(f, "[%02" PRId64 ":%02d.%02d]", ms / 60000, (int)(ms / 1000 % 60), (int)(ms % 1000 / 10));
        sink_text(f, whisper_cli_speaker(speaker_of(r->t, i)));
        put_text(f, TEXT_LRC, r->t->segs[i].text);
        sink_char(f, '\n');
    }
}

static void put_score(struct sink *f, const struct whisper_cli_result *r)
{
    char text[WCLI_TOKEN_SZ];
    const struct transcript *t = r->t;
    for (int i = 0; i < t->n; i++)
        for (int32_t k = 0; k < t->segs[i].n_tokens; k++) {
            const steno_token *tok = &t->tokens[t->first_token[i] + k];
            put_text(f, TEXT_TOKEN, whisper_cli_token(text, t->model, tok->id));
            sink_format(f, "\t%g\n", (double)tok->p);
        }
}

const struct whisper_cli_writer whisper_cli_writers[] = {
    { WCLI_TXT, ".txt", put_txt },    { WCLI_VTT, ".vtt", put_vtt },           { WCLI_SRT, ".srt", put_srt },
    { WCLI_WTS, ".wts", whisper_cli_wts }, { WCLI_CSV, ".csv", put_csv },     { WCLI_JSON, ".json", whisper_cli_json },
    { WCLI_LRC, ".lrc", put_lrc },    { WCLI_SCORE, ".score.txt", put_score }, { 0, NULL, NULL },
};
