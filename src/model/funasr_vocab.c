/* steno: vocabularies of FunASR's recognisers. SPDX-License-Identifier: MIT */
#include "model/funasr_vocab.h"
#include "load/vocab_file.h"

int funasr_find_vocab(const steno_model *m, struct weights *w, steno_error *e)
{
    const char *path = w->vocab ? NULL : m->opening->vocab_path;
    const int rc = w->vocab ? STENO_OK : weights_read_vocab(w, path, e);
    if (rc || w->n_vocab_entries == (uint32_t)m->n_vocab) return rc;
    return err_set(e, STENO_EFORMAT, "%s: the vocabulary has %u entries, the head %d", path ? path : w->name, (unsigned)w->n_vocab_entries,
                   (int)m->n_vocab);
}

int funasr_read_vocab(steno_model *m, const struct weights *w, uint32_t (*text)(char *s, uint32_t n), steno_error *e)
{
    int rc = vocab_init(&m->vocab, &m->arena, m->n_vocab, m->n_vocab, e);
    for (uint32_t i = 0; i < w->n_vocab_entries && !rc; i++) {
        char *copy = arena_strdup(&m->arena, (const char *)w->vocab[i].s, w->vocab[i].n);
        if (!copy) return err_nomem(e, w->vocab[i].n, "vocabulary");
        vocab_set(&m->vocab, (int32_t)i, (const uint8_t *)copy, text ? text(copy, w->vocab[i].n) : w->vocab[i].n);
    }
    return rc ? rc : vocab_index(&m->vocab, &m->arena, e);
}
