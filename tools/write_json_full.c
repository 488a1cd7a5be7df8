/* steno: all that is known of segments and their tokens, by whisper.cpp's names ("--output-json-full"). SPDX-License-Identifier: MIT
 *
 * What differs from whisper.cpp's: tokens are those of the text, and their texts one after the other are the segment's: a token that ends
 * inside a character has the whole character, and those that complete it are empty. A time that is not known is null. */
#include "token_text.h"
#include "u8.h"
#include "write.h"
#include <inttypes.h>
#include <stdlib.h>

static void put_clock(FILE *f, int64_t ms)
{
    if (ms < 0) {
        fputs("null", f);
        return;
    }
    fputc('"', f);
    write_time(f, ms, 1, ',');
    fputc('"', f);
}

static void put_ms(FILE *f, int64_t ms)
{
    if (ms < 0) fputs("null", f);
    else fprintf(f, "%" PRId64, ms);
}

/* Start and end, as people write them and in milliseconds. */
static void put_times(FILE *f, int64_t t0_ms, int64_t t1_ms)
{
    fputs("\"timestamps\": {\"from\": ", f);
    put_clock(f, t0_ms);
    fputs(", \"to\": ", f);
    put_clock(f, t1_ms);
    fputs("}, \"offsets\": {\"from\": ", f);
    put_ms(f, t0_ms);
    fputs(", \"to\": ", f);
    put_ms(f, t1_ms);
    fputc('}', f);
}

/* t_dtw counts hundredths, as whisper.cpp's does. */
static void put_token(FILE *f, const char *text, int32_t id, const steno_token *tok)
{
    fputs("{\"text\": ", f);
    u8_json(f, text);
    fputs(", ", f);
    put_times(f, tok ? tok->t0_ms : -1, tok ? tok->t1_ms : -1);
    fprintf(f, ", \"id\": %" PRId32 ", \"p\": ", id);
    if (tok) write_json_number(f, (double)tok->p);
    else fputs("null", f);
    fputs(", \"t_dtw\": ", f);
    put_ms(f, tok && tok->t_dtw_ms >= 0 ? tok->t_dtw_ms / 10 : -1);
    fputc('}', f);
}

static void put_tokens(FILE *f, const struct transcript *t, int i)
{
    const steno_segment *s = &t->segs[i];
    const int32_t end = t->model ? steno_token_id(t->model, STENO_TOKEN_END) : t->first_timestamp;
    char text[TOKEN_TEXT_SZ] = "";
    int empty = 0; /* tokens to come whose text stands before them */
    const char *sep = "";
    for (int32_t k = 0; k < s->n_tokens; k++) {
        if (end >= 0 && s->tokens[k] >= end) continue;
        if (empty > 0) text[0] = '\0', empty--;
        else if (t->model) empty = token_text(text, t->model, end, s->tokens + k, s->n_tokens - k) - 1;
        fputs(sep, f);
        put_token(f, text, s->tokens[k], t->tokens ? &t->tokens[t->first_token[i] + k] : NULL);
        sep = ", ";
    }
}

static void put_model(FILE *f, const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(m, &i);
    fputs("\"model\": {\"type\": ", f);
    u8_json(f, i.name);
    fprintf(f, ", \"multilingual\": %s, \"vocab\": %d, \"audio\": {\"ctx\": %d, \"state\": %d, \"head\": %d, \"layer\": %d}",
            i.is_multilingual ? "true" : "false", i.n_vocab, i.n_audio_ctx, i.n_audio_state, i.n_audio_head, i.n_audio_layer);
    fprintf(f, ", \"text\": {\"ctx\": %d, \"state\": %d, \"head\": %d, \"layer\": %d}, \"mels\": %d, \"ftype\": ", i.n_text_ctx,
            i.n_text_state, i.n_text_head, i.n_text_layer, i.n_mels);
    u8_json(f, i.weight_type);
    fputs("}, ", f);
}

void write_json_full(FILE *f, const struct transcript *t)
{
    fputc('{', f);
    if (t->model) put_model(f, t->model);
    fputs("\"result\": {\"language\": ", f);
    u8_json(f, t->language);
    fputs("}, \"transcription\": [", f);
    for (int i = 0; i < t->n; i++) {
        fputs(i ? ", {" : "{", f);
        put_times(f, t->segs[i].t0_ms, t->segs[i].t1_ms);
        fputs(", \"text\": ", f);
        u8_json(f, t->segs[i].text);
        fputs(", \"tokens\": [", f);
        put_tokens(f, t, i);
        fputc(']', f);
        if (t->speakers) fputs(", \"speaker\": \"", f);
        write_speaker_column(f, t, i, '"');
        if (t->segs[i].speaker_turn) fputs(", \"speaker_turn_next\": true", f);
        fputc('}', f);
    }
    fputs("]}", f);
}
