/* steno: Qwen3-ForcedAligner as data. SPDX-License-Identifier: MIT
 *
 * The networks of Qwen3-ASR with another head: the class at each mark behind a word is its start or its end. References: qwen-asr 0.0.6
 * (inference/qwen3_forced_aligner.py) and transformers 5.24 (Qwen3ASRForTokenClassification). */
#include <string.h>
#include "model/lm.h"
#include "model/parts.h"
#include "model/qwen3_asr.h"

enum {
    CLIP_S = 300,      /* longest audio that it was trained on */
    CTX_MOST = 8192,   /* positions: such an audio, and 10 words a second */
    CLASS_MS = 80,     /* of transformers' files, which have no setting for it */
    CLASSES_MAX = 65536
};

static const char mark[] = "<timestamp>";

static int match(const struct weights *w)
{
    return !strcmp(meta_text(&w->meta, "model_type", ""), "qwen3_asr") && qwen3_asr_is_aligner(w);
}

static const char *language_at(int i)
{
    static const char *const code[] = { "zh", "en", "yue", "fr", "de", "it", "ja", "ko", "pt", "ru", "es" };
    return code[i];
}

enum { N_KNOWN = 11 };

static int language_of(const steno_model *m, const char *name)
{
    const char *code = language_code(language_find(name));
    (void)m;
    for (int i = 0; code && i < N_KNOWN; i++)
        if (!strcmp(code, language_at(i))) return i;
    return -1;
}

/* ---- settings */

/* The number of classes: a setting of the original files, or the rows of the head in those of transformers. */
static int read_classes(struct qwen3_asr_shape *s, struct weights *w, steno_error *e)
{
    const struct tensor *head = weights_find(w, "lm_head.weight");
    if (!head) return err_set(e, STENO_EFORMAT, "%s: the head of the aligner, lm_head.weight or score.weight, is missing", w->name);
    const int is_original = strstr(meta_text(&w->meta, "architectures.0", ""), "Generation") != NULL;
    const int rc = meta_int(&w->meta, w->name, "classify_num", 2, CLASSES_MAX, !is_original, &s->classes, e);
    if (rc) return rc;
    if (!s->classes && (head->n_dims != 2 || head->dim[0] < 2 || head->dim[0] > CLASSES_MAX))
        return err_set(e, STENO_EFORMAT, "%s: score.weight has %llu rows, want 2 to %d classes", w->name, (unsigned long long)head->dim[0],
                       CLASSES_MAX);
    if (!s->classes) s->classes = (int32_t)head->dim[0];
    return STENO_OK;
}

static int read_settings(struct qwen3_asr_shape *s, struct weights *w, steno_error *e)
{
    int rc = read_classes(s, w, e);
    s->class_ms = CLASS_MS;
    if (!rc) rc = meta_int(&w->meta, w->name, "timestamp_segment_time", 1, 10000, 1, &s->class_ms, e);
    if (!rc) rc = meta_int(&w->meta, w->name, "timestamp_token_id", 0, INT32_MAX, 0, &s->mark_token, e);
    if (rc) return rc;
    const int64_t spans_s = (int64_t)s->classes * s->class_ms / 1000;
    s->clip_s = spans_s < 1 ? 1 : spans_s < CLIP_S ? (int32_t)spans_s : CLIP_S;
    s->segment_s = s->run_s = s->clip_s;
    s->ctx_most = CTX_MOST;
    return STENO_OK;
}

/* ---- the model */

static int describe_part(steno_model *m, const struct qwen3_asr_shape *s, const char *name, steno_error *e)
{
    struct aligner_model *own = m->part = arena_array(&m->arena, 1, sizeof *own);
    if (!own) return err_nomem(e, sizeof *own, "a model");
    *own = (struct aligner_model){ s->classes, s->class_ms, -1, -1, -1, language_at, N_KNOWN };
    if (!m->lm.tokenizer) return STENO_OK;
    int rc = qwen3_asr_find_id(&own->begin, m, "<|audio_start|>", e);
    if (!rc) rc = qwen3_asr_find_id(&own->end, m, "<|audio_end|>", e);
    if (!rc) rc = qwen3_asr_find_id(&own->mark, m, mark, e);
    if (rc) return rc;
    if (own->mark < 0) return err_set(e, STENO_EFORMAT, "%s: its tokenizer has no token %s", name, mark);
    if (own->mark != s->mark_token)
        return err_set(e, STENO_EFORMAT, "%s: timestamp_token_id is %d, but %s is token %d", name, (int)s->mark_token, mark,
                       (int)own->mark);
    return STENO_OK;
}

static int describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct qwen3_asr_shape s;
    int rc = qwen3_asr_respell(w, e);
    if (!rc) rc = qwen3_asr_read_shape(&s, w, e);
    if (!rc) rc = read_settings(&s, w, e);
    if (rc) return rc;
    m->name = s.d_out == 1024 ? "0.6b" : "qwen3-forced-aligner";
    rc = qwen3_asr_describe(m, &s, w, e);
    for (int i = 0; i < m->n_states; i++) m->state[i].pooled = 1; /* all lanes share the blocks of one full context */
    return rc ? rc : describe_part(m, &s, w->name, e);
}

const struct family family_qwen3_aligner = {
    .name = "qwen3-forced-aligner",
    .front_end = FRONT_FBANK_CLIPS,
    .task = "aligner",
    .low_precision = LOW_PRECISION_ROWS | LOW_PRECISION_STEPS,
    .settings = SETTINGS_GENERATION | SETTINGS_FEATURES,
    .match = match,
    .describe = describe,
    .language = language_of,
    .ids_to_bytes = lm_ids_to_bytes,
};
