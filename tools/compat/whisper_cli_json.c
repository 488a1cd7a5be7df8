/* steno: the JSON of whisper.cpp's whisper-cli. SPDX-License-Identifier: MIT
 *
 * One member per line, indented by tabs. In texts only quotes, backslashes and control characters are escaped. "systeminfo" holds
 * steno's processor level. A token that ends inside a character is written with the complete character, and the tokens that complete it
 * are not listed. */
#include "compat/whisper_cli_write.h"
#include "write.h"
#include <inttypes.h>
#include <string.h>
#include <strings.h>

struct json {
    struct sink *f;
    int indent;
};

static void put_indent(struct json *j)
{
    for (int i = 0; i < j->indent; i++) sink_char(j->f, '\t');
}

static void open_(struct json *j, const char *name, char bracket)
{
    put_indent(j);
    if (name) sink_format(j->f, "\"%s\": ", name);
    sink_format(j->f, "%c\n", bracket);
    j->indent++;
}

static void close_(struct json *j, char bracket, int last)
{
    j->indent--;
    put_indent(j);
    sink_format(j->f, "%c%s\n", bracket, last ? "" : ",");
}

static void put_string(struct json *j, const char *name, const char *value, int last)
{
    put_indent(j);
    sink_format(j->f, "\"%s\": \"", name);
    text_put(j->f, TEXT_JSON, value, strlen(value));
    sink_text(j->f, last ? "\"\n" : "\",\n");
}

static void put_integer(struct json *j, const char *name, int64_t value, int last)
{
    put_indent(j);
    sink_format(j->f, "\"%s\": %" PRId64 "%s\n", name, value, last ? "" : ",");
}

static void put_real(struct json *j, const char *name, double value, int last)
{
    put_indent(j);
    sink_format(j->f, "\"%s\": %g%s\n", name, value, last ? "" : ",");
}

static void put_truth(struct json *j, const char *name, int value, int last)
{
    put_indent(j);
    sink_format(j->f, "\"%s\": %s%s\n", name, value ? "true" : "false", last ? "" : ",");
}

static void put_time(struct json *j, const char *name, int64_t ms, int last)
{
    put_indent(j);
    sink_format(j->f, "\"%s\": \"", name);
    write_time(j->f, ms, 1, ',');
    sink_text(j->f, last ? "\"\n" : "\",\n");
}

static void put_json_times(struct json *j, int64_t t0_ms, int64_t t1_ms)
{
    open_(j, "timestamps", '{');
    put_time(j, "from", t0_ms, 0);
    put_time(j, "to", t1_ms, 1);
    close_(j, '}', 0);
    open_(j, "offsets", '{');
    put_integer(j, "from", t0_ms, 0);
    put_integer(j, "to", t1_ms, 1);
    close_(j, '}', 0);
}

static void put_shape(struct json *j, const char *name, const int32_t shape[4])
{
    open_(j, name, '{');
    put_integer(j, "ctx", shape[0], 0);
    put_integer(j, "state", shape[1], 0);
    put_integer(j, "head", shape[2], 0);
    put_integer(j, "layer", shape[3], 1);
    close_(j, '}', 0);
}

/* Numbers of the types in the ggml file format. */
static int type_of(const char *name)
{
    static const struct { const char *name; int number; } types[] = {
        { "f32", 0 },  { "f16", 1 },  { "q4_0", 2 }, { "q4_1", 3 },  { "q8_0", 7 },  { "q5_0", 8 },  { "q5_1", 9 },
        { "q2_K", 10 }, { "q3_K", 11 }, { "q4_K", 12 }, { "q5_K", 13 }, { "q6_K", 14 },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(types[i].name, name) == 0) return types[i].number;
    return 1;
}

/* The size follows from the number of encoder layers. */
static const char *size_of(int layers)
{
    static const struct { int layers; const char *name; } sizes[] = { { 4, "tiny" }, { 6, "base" }, { 12, "small" }, { 24, "medium" },
                                                                      { 32, "large" } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].layers == layers) return sizes[i].name;
    return "unknown";
}

static void put_head(struct json *j, const struct whisper_cli_result *r)
{
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(r->t->model, &i);
    const int32_t audio[4] = { i.n_audio_ctx, i.n_audio_state, i.n_audio_head, i.n_audio_layer };
    const int32_t text[4] = { i.n_text_ctx, i.n_text_state, i.n_text_head, i.n_text_layer };
    put_string(j, "systeminfo", i.cpu_level, 0);
    open_(j, "model", '{');
    put_string(j, "type", size_of(i.n_audio_layer), 0);
    put_truth(j, "multilingual", i.is_multilingual, 0);
    put_integer(j, "vocab", i.n_vocab, 0);
    put_shape(j, "audio", audio);
    put_shape(j, "text", text);
    put_integer(j, "mels", i.n_mels, 0);
    put_integer(j, "ftype", type_of(i.weight_type), 1);
    close_(j, '}', 0);
    open_(j, "params", '{');
    put_string(j, "model", r->model, 0);
    put_string(j, "language", r->language, 0);
    put_truth(j, "translate", (r->given & WCLI_TRANSLATE) != 0, 1);
    close_(j, '}', 0);
    open_(j, "result", '{');
    put_string(j, "language", r->t->language, 1);
    close_(j, '}', 0);
}

/* Write one token, or several that form one character: number, probability and start are those of the first, the end is that of the
 * last. */
static void put_token(struct json *j, const steno_token *tok, int n, const char *text, int last)
{
    int64_t t1 = tok->t1_ms;
    for (int i = 1; i < n; i++)
        if (tok[i].t1_ms >= 0) t1 = tok[i].t1_ms;
    open_(j, NULL, '{');
    put_string(j, "text", text, 0);
    if (tok->t0_ms >= 0 && t1 >= 0) put_json_times(j, tok->t0_ms, t1);
    put_integer(j, "id", tok->id, 0);
    put_real(j, "p", (double)tok->p, 0);
    put_integer(j, "t_dtw", tok->t_dtw_ms >= 0 ? tok->t_dtw_ms / 10 : -1, 1);
    close_(j, '}', last);
}

static void put_tokens(struct json *j, const struct transcript *t, int i, int last)
{
    const steno_segment *s = &t->segs[i];
    const int32_t end = steno_token_id(t->model, STENO_TOKEN_END);
    char text[WCLI_TOKEN_SZ];
    open_(j, "tokens", '[');
    for (int32_t k = 0, n; k < s->n_tokens; k += n) {
        n = 1;
        if (s->tokens[k] >= end) whisper_cli_token(text, t->model, s->tokens[k]);
        else n = token_text(text, t->model, end, s->tokens + k, s->n_tokens - k);
        if (n < 1) n = 1;
        put_token(j, &t->tokens[t->first_token[i] + k], n, text, k + n >= s->n_tokens);
    }
    close_(j, ']', last);
}

static void put_segment(struct json *j, const struct whisper_cli_result *r, int i)
{
    const struct transcript *t = r->t;
    const int more = t->speakers || r->given & WCLI_TURNS;
    open_(j, NULL, '{');
    put_json_times(j, t->segs[i].t0_ms, t->segs[i].t1_ms);
    put_string(j, "text", t->segs[i].text, !more && !(r->given & WCLI_FULL));
    if (r->given & WCLI_FULL) put_tokens(j, t, i, !more);
    const char speaker[2] = { t->speakers ? whisper_cli_speaker_letter(t, i) : '\0', '\0' };
    if (t->speakers) put_string(j, "speaker", speaker, 1);
    if (r->given & WCLI_TURNS) put_truth(j, "speaker_turn_next", t->segs[i].speaker_turn, 1);
    close_(j, '}', i + 1 == t->n);
}

void whisper_cli_json(struct sink *f, const struct whisper_cli_result *r)
{
    struct json j = { .f = f };
    open_(&j, NULL, '{');
    put_head(&j, r);
    open_(&j, "transcription", '[');
    for (int i = 0; i < r->t->n; i++) put_segment(&j, r, i);
    close_(&j, ']', 1);
    close_(&j, '}', 1);
}
