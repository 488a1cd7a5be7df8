/* steno: Parakeet's models of streams: what their files say. SPDX-License-Identifier: MIT
 *
 * A causal FastConformer with attention by chunks (Noroozi et al. 2024), and a prompt for the language behind it. References: NeMo 3.0,
 * cache-aware streaming; transformers 5.24, models/nemotron_asr_streaming and nemotron3_5_asr. */
#include <stdio.h>
#include <string.h>
#include "model/parakeet.h"

static const char *const types[] = { "nemotron_asr_streaming", "nemotron3_5_asr" };

int parakeet_stream_match(const struct weights *w)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(meta_text(&w->meta, "model_type", ""), types[i])) return 1;
    return parakeet_nemo_is_stream(w) || parakeet_gguf_is_stream(w);
}

/* ---- look-ahead */

static int add_lookahead(struct transducer_stream *t, const struct weights *w, int32_t rows, steno_error *e)
{
    int32_t at = t->n_lookaheads;
    for (int32_t i = 0; i < t->n_lookaheads; i++)
        if (t->lookahead[i] == rows) return STENO_OK;
    if (t->behind % (rows + 1))
        return err_set(e, STENO_EUNSUPPORTED, "%s: a look-ahead of %d rows: %d rows of earlier chunks are not whole chunks of %d", w->name,
                       (int)rows, (int)t->behind, (int)rows + 1);
    if (at == STREAM_LOOKAHEADS)
        return err_set(e, STENO_EUNSUPPORTED, "%s: more than %d choices of look-ahead", w->name, STREAM_LOOKAHEADS);
    for (; at && t->lookahead[at - 1] > rows; at--) t->lookahead[at] = t->lookahead[at - 1];
    t->lookahead[at] = rows;
    t->n_lookaheads++;
    return STENO_OK;
}

/* The list of a file, in one of two places. */
static int read_lookaheads(struct transducer_stream *t, const struct weights *w, steno_error *e)
{
    static const char *const list[] = { "processor.supported_num_lookahead_tokens", "encoder_config.supported_num_lookahead_tokens" };
    int rc = meta_int(&w->meta, w->name, "encoder_config.default_num_lookahead_tokens", 0, STREAM_ROWS - 1, 0, &t->usual, e);
    if (!rc) rc = add_lookahead(t, w, t->usual, e);
    for (int k = 0; k < 2 && !rc; k++)
        for (int i = 0; !rc; i++) {
            char key[80];
            int32_t rows = 0;
            snprintf(key, sizeof key, "%s.%d", list[k], i);
            if (!meta_find(&w->meta, key)) break;
            rc = meta_int(&w->meta, w->name, key, 0, STREAM_ROWS - 1, 0, &rows, e);
            if (!rc) rc = add_lookahead(t, w, rows, e);
        }
    return rc;
}

/* ---- prompts */

/* The language of a key of a dictionary; NULL: it is another key. */
static const char *prompted(const char *key)
{
    static const char *const place[] = { "processor.prompt_dictionary.", "model_defaults.prompt_dictionary." };
    for (int i = 0; i < 2; i++)
        if (!strncmp(key, place[i], strlen(place[i]))) return key + strlen(place[i]);
    return NULL;
}

static int read_dictionary(struct transducer_stream *t, struct arena *a, const struct weights *w, int32_t prompts, steno_error *e)
{
    int rc = STENO_OK;
    t->prompt = arena_array(a, w->meta.n + 1, sizeof *t->prompt);
    if (!t->prompt) return err_nomem(e, w->meta.n * sizeof *t->prompt, "prompts");
    for (uint32_t i = 0; i < w->meta.n && !rc; i++) {
        const char *key = w->meta.entry[i].key, *language = prompted(key);
        int32_t id = 0;
        if (!language) continue;
        rc = meta_int(&w->meta, w->name, key, 0, prompts - 1, 0, &id, e);
        if (!strcmp(language, "auto")) {
            t->automatic = id;
            continue;
        }
        const char *copy = arena_strdup(a, language, strlen(language));
        if (!copy) return err_nomem(e, strlen(language), "prompts");
        t->prompt[t->n_prompts++] = (struct stream_prompt){ copy, id };
    }
    return rc;
}

static int read_prompts(struct parakeet_shape *s, struct transducer_stream *t, struct arena *a, struct weights *w, steno_error *e)
{
    const struct tensor *first = weights_find(w, "prompt_kernel.0.weight");
    if (!first) return STENO_OK;
    int rc = meta_int(&w->meta, w->name, "num_prompts", 1, 4096, 0, &s->prompts, e);
    if (rc) return rc;
    if (first->n_dims != 2 || first->dim[0] < 1 || first->dim[0] > 65536 || first->dim[1] != (uint64_t)s->d + (uint64_t)s->prompts)
        return err_set(e, STENO_EFORMAT, "%s: prompt_kernel.0.weight does not fit a width of %d and %d prompts", w->name, (int)s->d,
                       (int)s->prompts);
    s->prompt_width = (int32_t)first->dim[0];
    rc = meta_int(&w->meta, w->name, "default_prompt_id", 0, s->prompts - 1, 1, &t->automatic, e);
    return rc ? rc : read_dictionary(t, a, w, s->prompts, e);
}

int parakeet_stream_read_shape(struct parakeet_shape *s, struct transducer_stream *t, struct arena *a, struct weights *w, steno_error *e)
{
    int32_t window = 0;
    s->is_causal = 1;
    s->has_layer_norm = !weights_find(w, "encoder.layers.0.conv.batch_norm.running_var");
    int rc = meta_int(&w->meta, w->name, "encoder_config.sliding_window", 1, 4096, 0, &window, e);
    if (rc) return rc;
    if (s->n_durations) return err_set(e, STENO_EUNSUPPORTED, "%s: a model of streams with durations", w->name);
    if (s->taps < 3) return err_set(e, STENO_EFORMAT, "%s: a filter of %d taps, want 3 or more", w->name, (int)s->taps);
    s->behind = t->behind = window - 1;
    rc = read_lookaheads(t, w, e);
    if (!rc) s->ahead = t->lookahead[t->n_lookaheads - 1];
    return rc ? rc : read_prompts(s, t, a, w, e);
}

/* ---- tags */

static int is_lower(uint8_t c) { return c >= 'a' && c <= 'z'; }
static int is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }

/* "<en-US>", perhaps after a space. Returns the length of "en-US", or 0. *at: its place */
static size_t tag_of(const uint8_t *s, size_t n, size_t *at)
{
    size_t i = n && s[0] == ' ', lower = 0, upper = 0;
    if (i == n || s[i++] != '<') return 0;
    *at = i;
    for (; i < n && is_lower(s[i]); i++) lower++;
    if (i == n || s[i++] != '-') return 0;
    for (; i < n && is_upper(s[i]); i++) upper++;
    return i + 1 == n && s[i] == '>' && lower >= 2 && lower <= 3 && upper >= 2 && upper <= 4 ? lower + 1 + upper : 0;
}

int parakeet_stream_read_tags(struct transducer_stream *t, steno_model *m, steno_error *e)
{
    if (!t->prompt) return STENO_OK;
    t->tag = arena_array(&m->arena, (size_t)m->n_vocab, sizeof *t->tag);
    if (!t->tag) return err_nomem(e, (size_t)m->n_vocab * sizeof *t->tag, "tags");
    for (int32_t i = 0; i < m->n_vocab; i++) {
        size_t at;
        const size_t n = tag_of(m->vocab.bytes[i], m->vocab.len[i], &at);
        t->tag[i] = n ? arena_strdup(&m->arena, (const char *)m->vocab.bytes[i] + at, n) : NULL;
        if (n && !t->tag[i]) return err_nomem(e, n, "tags");
        if (n) m->vocab.len[i] = 0;
    }
    return STENO_OK;
}

/* ---- states */

void parakeet_stream_states(steno_model *m, const struct parakeet_shape *s)
{
    const uint32_t d = (uint32_t)s->d, layers = (uint32_t)s->layers, behind = (uint32_t)s->behind;
    m->n_states = STATE_KEYS + 1;
    m->state[STATE_IMAGE] = (struct state_desc){ .name = "the last frames", .kind = STATE_SHIFT, .layers = 1, .heads = 1, .positions = 1,
                                                 .d_head = (uint32_t)(s->n_mels * PARAKEET_STACK + 1) };
    m->state[STATE_FILTERS] = (struct state_desc){ .name = "the last inputs of filters", .kind = STATE_SHIFT, .layers = layers, .heads = 1,
                                                   .positions = (uint32_t)s->taps - 1, .d_head = d };
    m->state[STATE_KEYS] = (struct state_desc){ .name = "keys of earlier chunks", .kind = STATE_SHIFT, .layers = layers, .heads = 2,
                                                .positions = behind + STREAM_ROWS_LAST, .d_head = d, .window = behind };
}
