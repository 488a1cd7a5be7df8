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

static int match_all(const struct match *m, const struct vocab *v, int32_t n, uint32_t *mask, uint32_t *mask2, steno_error *e)
{
    for (int32_t i = 0; i < n; i++) {
        if (!v->len[i] || utf8_valid(v->bytes[i], v->len[i]) != v->len[i]) continue;
        const int rc = pcre2_match(m->code, v->bytes[i], v->len[i], 0, PCRE2_NO_UTF_CHECK, m->data, m->limits);
        if (rc == PCRE2_ERROR_NOMATCH) continue;
        if (rc == PCRE2_ERROR_NOMEMORY) return err_nomem(e, v->len[i], "suppress_regex");
        if (rc < 0)
            return err_set(e, STENO_EARG, "suppress_regex: '%s' takes too long to match a token of %u bytes (pcre2 error %d)", m->pattern,
                           (unsigned)v->len[i], rc);
        mask[i >> 5] |= 1u << (i & 31);
        mask2[i >> 5] |= 1u << (i & 31);
    }
    return STENO_OK;
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

int regex_ids(const struct vocab *v, int32_t n, const char *pattern, uint32_t *mask, uint32_t *mask2, steno_error *e)
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
        rc = match_all(&m, v, n, mask, mask2, e);
    } else {
        rc = err_nomem(e, 0, "suppress_regex");
    }
    pcre2_match_context_free(m.limits);
    pcre2_match_data_free(m.data);
    pcre2_code_free(re);
    return rc;
}
