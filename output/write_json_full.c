/* steno: all data of segments and their tokens, under whisper.cpp's names ("--output-json-full"). SPDX-License-Identifier: MIT
 *
 * Differences from whisper.cpp: tokens are those of the text, and their concatenated texts are the segment's text. A token that ends inside
 * a character has the whole character, and the tokens that complete it are empty. A time that is not known is null. */
#include "transcript.h"
#include "utf8.h"
#include "write.h"
#include <inttypes.h>
#include <stdlib.h>

static void put_clock(struct sink *f, int64_t ms)
{
    if (ms < 0) {
        sink_text(f, "null");
        return;
    }
    sink_char(f, '"');
    write_time(f, ms, 1, ',');
    sink_char(f, '"');
}

static void put_ms(struct sink *f, int64_t ms)
{
    if (ms < 0) sink_text(f, "null");
    else sink_format(f, "%" PRId64, ms);
}

/* Writes start and end, formatted and in milliseconds. */
static void put_times(struct sink *f, int64_t t0_ms, int64_t t1_ms)
{
    sink_text(f, "\"timestamps\": {\"from\": ");
    put_clock(f, t0_ms);
    sink_text(f, ", \"to\": ");
    put_clock(f, t1_ms);
    sink_text(f, "}, \"offsets\": {\"from\": ");
    put_ms(f, t0_ms);
    sink_text(f, ", \"to\": ");
    put_ms(f, t1_ms);
    sink_char(f, '}');
}

/* t_dtw is in hundredths, as in whisper.cpp. */
static void put_token(struct sink *f, const char *text, int32_t id, const steno_token *tok)
{
    sink_text(f, "{\"text\": ");
    utf8_json(f, text);
    sink_text(f, ", ");
    put_times(f, tok ? tok->t0_ms : -1, tok ? tok->t1_ms : -1);
    sink_format(f, ", \"id\": %" PRId32 ", \"p\": ", id);
    if (tok) write_json_number(f, (double)tok->p);
    else sink_text(f, "null");
    sink_text(f, ", \"t_dtw\": ");
    put_ms(f, tok && tok->t_dtw_ms >= 0 ? tok->t_dtw_ms / 10 : -1);
    sink_char(f, '}');
}

static void put_tokens(struct sink *f, const struct transcript *t, int i)
{
    const steno_segment *s = &t->segs[i];
    const int32_t end = t->model ? steno_token_id(t->model, STENO_TOKEN_END) : t->first_timestamp;
    char text[TOKEN_TEXT_SZ] = "";
    int empty = 0; /* number of following tokens whose text is already written */
    const char *sep = "";
    for (int32_t k = 0; k < s->n_tokens; k++) {
        if (end >= 0 && s->tokens[k] >= end) continue;
        if (empty > 0) text[0] = '\0', empty--;
        else if (t->model) empty = token_text(text, t->model, end, s->tokens + k, s->n_tokens - k) - 1;
        sink_text(f, sep);
        put_token(f, text, s->tokens[k], t->tokens ? &t->tokens[t->first_token[i] + k] : NULL);
        sep = ", ";
    }
}

static void put_model(struct sink *f, const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(m, &i);
    sink_text(f, "\"model\": {\"type\": ");
    utf8_json(f, i.name);
    sink_format(f, ", \"multilingual\": %s, \"vocab\": %d, \"audio\": {\"ctx\": %d, \"state\": %d, \"head\": %d, \"layer\": %d}",
                i.is_multilingual ? "true" : "false", i.n_vocab, i.n_audio_ctx, i.n_audio_state, i.n_audio_head, i.n_audio_layer);
    sink_format(f, ", \"text\": {\"ctx\": %d, \"state\": %d, \"head\": %d, \"layer\": %d}, \"mels\": %d, \"ftype\": ", i.n_text_ctx,
                i.n_text_state, i.n_text_head, i.n_text_layer, i.n_mels);
    utf8_json(f, i.weight_type);
    sink_text(f, "}, ");
}

/* Writes the measures of the text, which whisper.cpp does not have. */
static void put_numbers(struct sink *f, const steno_segment *s)
{
    const struct { const char *key; double value; } number[] = {
        { "temperature", s->temperature }, { "avg_logprob", s->avg_logprob }, { "compression_ratio", s->compression_ratio },
        { "no_speech_prob", s->no_speech_prob },
    };
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        sink_format(f, ", \"%s\": ", number[i].key);
        write_json_number(f, number[i].value);
    }
}

void write_json_full(struct sink *f, const struct transcript *t)
{
    sink_char(f, '{');
    if (t->model) put_model(f, t->model);
    sink_text(f, "\"result\": {\"language\": ");
    utf8_json(f, t->language);
    write_json_language_prob(f, t);
    sink_text(f, "}, \"transcription\": [");
    for (int i = 0; i < t->n; i++) {
        sink_text(f, i ? ", {" : "{");
        put_times(f, t->segs[i].t0_ms, t->segs[i].t1_ms);
        sink_text(f, ", \"text\": ");
        utf8_json(f, t->segs[i].text);
        sink_text(f, ", \"tokens\": [");
        put_tokens(f, t, i);
        sink_char(f, ']');
        put_numbers(f, &t->segs[i]);
        if (t->speakers) sink_text(f, ", \"speaker\": \"");
        write_speaker_column(f, t, i, '"');
        if (t->segs[i].speaker_turn) sink_text(f, ", \"speaker_turn_next\": true");
        sink_char(f, '}');
    }
    sink_char(f, ']');
    write_json_notes(f, t->notes, 0);
    sink_char(f, '}');
}
