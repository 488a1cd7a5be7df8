/* steno: ids selected by a pattern. SPDX-License-Identifier: MIT
 *
 * whisper.cpp's --suppress-regex. An id is selected if its whole text matches, so "[0-9]+" selects numbers and not every word with a digit
 * in it. A limit on the steps stops a pattern that backtracks without end. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex_ids.h"
#include <pcre2.h>

enum { STEPS_MAX = 20000, HEAP_MAX_KIB = 4096 };
enum { BRACKETS_MAX = 32 }; /* nesting depth: pcre2 compiles brackets with that number of nested calls */

/* The state of a compiled pattern. */
struct match {
    const char *pattern;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

/* The masks to set. */
struct masks { uint32_t *one, *two; };

static int match_one(const struct match *m, const uint8_t *text, size_t n, int32_t id, const struct masks *set, steno_error *e)
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

static int match_all(const struct match *m, const struct vocab *v, int32_t n, const struct id_names *names, const struct masks *set,
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
static pcre2_code *compile(const char *pattern, int *code, size_t *at)
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
    pcre2_code *re = compile(pattern, &code, &at);
    if (!re && code == PCRE2_ERROR_HEAP_FAILED) return err_nomem(e, 0, "suppress_regex");
    if (!re) {
        PCRE2_UCHAR reason[160] = "";
        (void)pcre2_get_error_message(code, reason, sizeof reason);
        return err_set(e, STENO_EARG, "suppress_regex: '%s' at character %zu: %s", pattern, at + 1, (const char *)reason);
    }
    const struct match m = { pattern, re, pcre2_match_data_create_from_pattern(re, NULL), pcre2_match_context_create(NULL) };
    int rc = STENO_ENOMEM;
    if (m.data && m.limits) {
        pcre2_set_match_limit(m.limits, STEPS_MAX);
        pcre2_set_heap_limit(m.limits, HEAP_MAX_KIB);
        rc = match_all(&m, v, n, names, &(struct masks){ mask, mask2 }, e);
    } else {
        rc = err_nomem(e, 0, "suppress_regex");
    }
    pcre2_match_context_free(m.limits);
    pcre2_match_data_free(m.data);
    pcre2_code_free(re);
    return rc;
}
