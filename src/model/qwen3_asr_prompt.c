/* steno: Qwen3-ASR: its prompt. SPDX-License-Identifier: MIT
 *
 * ChatML with the context as system message, which is there even if it is empty. A forced language begins the answer (qwen-asr 0.0.6,
 * inference/qwen3_asr.py). */
#include <string.h>
#include "base/buf.h"
#include "model/qwen3_asr.h"
#include "text/tokenizer.h"

static const char audio_start[] = "<|audio_start|>", audio_end[] = "<|audio_end|>", audio_pad[] = "<|audio_pad|>", tag[] = "<asr_text>";

int qwen3_asr_find_id(int32_t *id, const steno_model *m, const char *text, steno_error *e)
{
    struct buf ids = { 0 };
    const int rc = tokenizer_encode(m->lm.tokenizer, text, strlen(text), TOKENIZE_SPECIAL, &ids, e);
    *id = -1;
    if (!rc && ids.len == sizeof *id) memcpy(id, ids.p, sizeof *id);
    buf_free(&ids);
    return rc;
}

int qwen3_asr_check_tokens(const steno_model *m, const struct qwen3_asr_shape *s, const char *name, steno_error *e)
{
    static const char *const of_asr[] = { "<|im_start|>", "<|im_end|>", tag, audio_start, audio_end, audio_pad, NULL };
    const char *const *token = s->classes ? of_asr + 3 : of_asr; /* the aligner's prompt has no template */
    int32_t id = -1;
    for (size_t i = 0; token[i] && m->lm.tokenizer; i++) {
        const int rc = qwen3_asr_find_id(&id, m, token[i], e);
        if (rc) return rc;
        if (id < 0) return err_set(e, STENO_EFORMAT, "%s: its tokenizer has no token %s", name, token[i]);
    }
    if (m->lm.tokenizer && id != s->audio_token)
        return err_set(e, STENO_EFORMAT, "%s: audio_token_id is %d, but %s is token %d", name, (int)s->audio_token, audio_pad, (int)id);
    return STENO_OK;
}

/* Adds the context: free text, then hot words, one per line, as "a, b". */
static void add_context(struct buf *p, const struct audio_lm_options *q)
{
    if (q->context) buf_str(p, q->context);
    if (q->hotwords) audio_lm_add_words(p, q->hotwords, q->context && *q->context ? "\n" : "");
}

/* Special tokens are recognised only in the template, never in the user's text. */
static int encode_before(const steno_model *m, const struct audio_lm_options *q, struct buf *ids, steno_error *e)
{
    static const char first[] = "<|im_start|>system\n";
    struct buf text = { 0 };
    struct token_part part[3];
    buf_str(&text, first);
    part[0] = (struct token_part){ text.len, 1 };
    add_context(&text, q);
    part[1] = (struct token_part){ text.len, 0 };
    buf_fmt(&text, "<|im_end|>\n<|im_start|>user\n%s", audio_start);
    part[2] = (struct token_part){ text.len, 1 };
    const int rc = text.err ? err_nomem(e, text.len, "a prompt") : tokenizer_encode_parts(m->lm.tokenizer, text.p, part, 3, 0, ids, e);
    buf_free(&text);
    return rc;
}

/* The answer begins with the language, and then with the prefix, which is text of the user. */
static int encode_behind(const steno_model *m, const char *language, const char *prefix, struct buf *ids, steno_error *e)
{
    struct buf text = { 0 };
    struct token_part part[2];
    buf_fmt(&text, "%s<|im_end|>\n<|im_start|>assistant\n", audio_end);
    if (language) buf_fmt(&text, "language %s%s", language, tag);
    part[0] = (struct token_part){ text.len, 1 };
    if (prefix) buf_str(&text, prefix);
    part[1] = (struct token_part){ text.len, 0 };
    const int rc = text.err ? err_nomem(e, text.len, "a prompt") : tokenizer_encode_parts(m->lm.tokenizer, text.p, part, 2, 0, ids, e);
    buf_free(&text);
    return rc;
}

static int prompt(const steno_model *m, const struct audio_lm_options *q, struct buf *before, struct buf *behind, steno_error *e)
{
    const char *language = q->language ? qwen3_asr_language(q->language) : NULL;
    if (!m->lm.tokenizer)
        return err_set(e, STENO_ENOVOCAB, "the model has no tokenizer: there is no tokenizer.json, and no vocab.json with merges.txt");
    if (q->language && !language_is_auto(q->language) && !language)
        return qwen3_asr_refuse_language(q->language, e);
    if (q->prefix && *q->prefix && !language)
        return err_set(e, STENO_EARG, "a prefix needs the language of the audio, which the model writes before its text: give it");
    const int rc = encode_before(m, q, before, e);
    return rc ? rc : encode_behind(m, language, q->prefix, behind, e);
}

static int32_t rows(int32_t n)
{
    return n;
}

const struct audio_lm qwen3_asr_lm = { .prompt = prompt, .rows = rows, .text = qwen3_asr_text, .has_context = 1 };
