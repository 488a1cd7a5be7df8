/* steno: vocabularies. SPDX-License-Identifier: MIT
 *
 * Look-up is open addressing at half load. A probe never visits more than MAX_PROBE slots. Real vocabularies stay far below; a vocabulary
 * made to collide is refused instead of taking quadratic time.
 *
 * Ids selected by a pattern are whisper.cpp's --suppress-regex. An id is selected if its whole text matches, so "[0-9]+" selects numbers
 * and not every word with a digit in it. A limit on the steps stops a pattern that backtracks without end. */
#include "text/vocab.h"
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>
#include "base/hash.h"

enum { MAX_PROBE = 1024 };

int vocab_init(struct vocab *v, struct arena *a, int32_t n, int32_t n_text, steno_error *e)
{
    memset(v, 0, sizeof *v);
    if (n < 1 || n_text < 0 || n_text > n) return err_set(e, STENO_EARG, "a vocabulary of %d tokens, %d of them text", n, n_text);
    v->bytes = arena_array(a, (size_t)n, sizeof *v->bytes);
    v->len = arena_array(a, (size_t)n, sizeof *v->len);
    if (!v->bytes || !v->len) return err_nomem(e, (size_t)n * (sizeof *v->bytes + sizeof *v->len), "the vocabulary");
    v->n = n;
    v->n_text = n_text;
    return STENO_OK;
}

void vocab_set(struct vocab *v, int32_t id, const uint8_t *s, uint32_t n)
{
    if (id < 0 || id >= v->n) return;
    v->bytes[id] = s;
    v->len[id] = n;
}

/* The slot of the bytes, or the free slot for them; NULL after too many probes. */
static uint32_t *slot_of(const struct vocab *v, const uint8_t *s, size_t n)
{
    uint32_t i = hash_bytes(s, n);
    for (int probe = 0; probe < MAX_PROBE; probe++, i++) {
        uint32_t *slot = &v->hash[i & v->hash_mask];
        if (!*slot || (v->len[*slot - 1] == n && !memcmp(v->bytes[*slot - 1], s, n))) return slot;
    }
    return NULL;
}

int vocab_index(struct vocab *v, struct arena *a, steno_error *e)
{
    uint32_t n = 16;
    while (n < 2 * (uint64_t)v->n_text) n *= 2;
    v->hash = arena_array(a, n, sizeof *v->hash);
    if (!v->hash) return err_nomem(e, n * sizeof *v->hash, "the vocabulary's look-up");
    v->hash_mask = n - 1;
    for (int32_t id = 0; id < v->n_text; id++) {
        if (!v->len[id]) continue;
        uint32_t *slot = slot_of(v, v->bytes[id], v->len[id]);
        if (!slot) return err_set(e, STENO_EFORMAT, "vocabulary string %d collides with %d others: not a real vocabulary", id, MAX_PROBE);
        if (!*slot) *slot = (uint32_t)id + 1;
    }
    return STENO_OK;
}

int32_t vocab_find(const struct vocab *v, const uint8_t *s, size_t n)
{
    const uint32_t *slot = v->hash && n ? slot_of(v, s, n) : NULL;
    return slot && *slot ? (int32_t)(*slot - 1) : -1;
}

void vocab_append(const struct vocab *v, int32_t id, struct buf *out)
{
    if (id >= 0 && id < v->n && v->len[id]) buf_add(out, v->bytes[id], v->len[id]);
}

/* ---- ids selected by a pattern ----------------------------------------------------------------------------------------------- */

enum { STEPS_MAX = 20000, HEAP_MAX_KIB = 4096 };
enum { BRACKETS_MAX = 32 }; /* nesting depth: pcre2 compiles brackets with that number of nested calls */

/* The state of a compiled pattern. */
struct id_match {
    const char *pattern;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

/* The masks to set. */
struct id_masks { uint32_t *one, *two; };

static int match_one(const struct id_match *m, const uint8_t *text, size_t n, int32_t id, const struct id_masks *set, steno_error *e)
{
    if (!n || utf8_valid(text, n) != n) return STENO_OK;
    const int rc = pcre2_match(m->code, text, n, 0, PCRE2_NO_UTF_CHECK, m->data, m->limits);
    if (rc == PCRE2_ERROR_NOMATCH) return STENO_OK;
    if (rc == PCRE2_ERROR_NOMEMORY) return err_nomem(e, n, "suppress_regex");
    if (rc < 0)
        return err_set(e, STENO_EARG, "suppress_regex: '%s' takes too long to match a token of %zu bytes (pcre2 error %d)", m->pattern, n,
                       rc);
    set->one[id >> 5] |= 1u << (id & 31);
    set->two[id >> 5] |= 1u << (id & 31);
    return STENO_OK;
}

static int match_all(const struct id_match *m, const struct vocab *v, int32_t n, const struct id_names *names, const struct id_masks *set,
                     steno_error *e)
{
    char name[ID_NAME_SIZE];
    int rc = STENO_OK;
    for (int32_t i = 0; i < n && !rc; i++) rc = match_one(m, v->bytes[i], v->len[i], i, set, e);
    for (int32_t i = names ? names->first : 0; names && i < names->end && !rc; i++)
        rc = match_one(m, (const uint8_t *)name, (size_t)names->write(names->of, i, name), i, set, e);
    return rc;
}

/* @return NULL: code and at give the reason; PCRE2_ERROR_HEAP_FAILED: out of memory */
static pcre2_code *pattern_compile(const char *pattern, int *code, size_t *at)
{
    const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED | PCRE2_ENDANCHORED;
    pcre2_compile_context *cc = pcre2_compile_context_create(NULL);
    *code = PCRE2_ERROR_HEAP_FAILED;
    if (!cc) return NULL;
    pcre2_set_parens_nest_limit(cc, BRACKETS_MAX);
    pcre2_code *re = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, code, at, cc);
    pcre2_compile_context_free(cc);
    return re;
}

int regex_ids(const struct vocab *v, int32_t n, const struct id_names *names, const char *pattern, uint32_t *mask, uint32_t *mask2,
              steno_error *e)
{
    int code;
    size_t at = 0;
    pcre2_code *re = pattern_compile(pattern, &code, &at);
    if (!re && code == PCRE2_ERROR_HEAP_FAILED) return err_nomem(e, 0, "suppress_regex");
    if (!re) {
        PCRE2_UCHAR reason[160] = "";
        (void)pcre2_get_error_message(code, reason, sizeof reason);
        return err_set(e, STENO_EARG, "suppress_regex: '%s' at character %zu: %s", pattern, at + 1, (const char *)reason);
    }
    const struct id_match m = { pattern, re, pcre2_match_data_create_from_pattern(re, NULL), pcre2_match_context_create(NULL) };
    int rc = STENO_ENOMEM;
    if (m.data && m.limits) {
        pcre2_set_match_limit(m.limits, STEPS_MAX);
        pcre2_set_heap_limit(m.limits, HEAP_MAX_KIB);
        rc = match_all(&m, v, n, names, &(struct id_masks){ mask, mask2 }, e);
    } else {
        rc = err_nomem(e, 0, "suppress_regex");
    }
    pcre2_match_context_free(m.limits);
    pcre2_match_data_free(m.data);
    pcre2_code_free(re);
    return rc;
}
